/* One input of info, read to its end, as its text and its JSON see it. */
#ifndef TRACETTA_CLI_COMMANDS_INFO_H
#define TRACETTA_CLI_COMMANDS_INFO_H

#include "cli/input/input_list.h"
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

/* Whether an attribute of a source is one of ours ("trace.name"), not the environment's. */
bool info_is_own(ttr_text name);

/* What a live trace says of a session that it is, or lists; false past the last one.  *source
 * begins at 1, *i at 0. */
bool info_next_session(const struct subject *subject, uint16_t *source, size_t *i,
                       ttr_text *session);

/* Prints it as an object; with its schema where it is the outermost. */
void info_json(struct json *json, const struct subject *subject);

#endif
