/* Classes of events as a trace describes them: with how many events each has, and with their
 * declared fields. */
#ifndef TRACETTA_CLI_COMMANDS_CLASSES_H
#define TRACETTA_CLI_COMMANDS_CLASSES_H

#include "cli/commands/command.h"
#include "cli/input/trace_iter.h"

/* How many classes a trace has, and how many of them have events. */
struct class_numbers {
    size_t all, used;
};

/* Prints the classes of a trace by their number of events, those without any last and only when
 * asked for all (--verbose); indented by so many blanks.  Nothing where the format describes none.
 */
void classes_print(const struct call *call, ttr_reader *reader, const struct trace *trace,
                   int indent);

/* Prints all of them with their declared fields. */
void classes_print_fields(const struct call *call, ttr_reader *reader, const struct trace *trace,
                          int indent);

/* "classes": [...] of a trace, with their fields where asked for. */
void classes_json(struct json *json, ttr_reader *reader, const struct trace *trace,
                  bool has_fields);

#endif
