/* info: one input that was read to its end, for text and JSON output. */
#ifndef TRACETTA_CLI_COMMANDS_INFO_H
#define TRACETTA_CLI_COMMANDS_INFO_H

#include "cli/input/input_list.h"
#include "cli/commands/report.h"
#include "cli/input/trace_iter.h"

struct subject {
    const struct call *call;
    const char *path;
    struct inputs inputs;
    ttr_summary summary;
    struct findings findings;
    struct trace first;
    size_t traces;
};

/* Returns true for an attribute that the library adds ("trace.name"), false for one from the
 * trace's environment. */
bool is_written_by_tracetta(ttr_text name);

/* Returns the sessions of a live source one by one, false after the last. *source starts at 1, *i
 * at 0; the function advances both. */
bool read_next_session(const struct subject *subject, uint16_t *source, size_t *i,
                       ttr_text *session);

/* Prints an input as a JSON object. The outermost object also has the name of the schema. */
void write_info_json(struct json *json, const struct subject *subject);

#endif
