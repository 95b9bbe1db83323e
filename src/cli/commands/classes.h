/* Event classes that a trace describes: their number of events and their declared fields. */
#ifndef TRACETTA_CLI_COMMANDS_CLASSES_H
#define TRACETTA_CLI_COMMANDS_CLASSES_H

#include "cli/commands/command.h"
#include "cli/input/trace_iter.h"
#include "cli/ui/json.h"

/* The number of classes of a trace, and of those that have events. */
struct class_numbers {
    size_t all, used;
};

/* Prints the classes of a trace, ordered by their number of events; each line is indented by
 * `indent` blanks. Classes without events come last, and only with --verbose. Prints nothing if the
 * format declares no classes. */
void classes_print(const struct call *call, ttr_reader *reader, const struct trace *trace,
                   int indent);

/* Prints all classes of a trace with their declared fields. */
void classes_print_fields(const struct call *call, ttr_reader *reader, const struct trace *trace,
                          int indent);

/* Prints the member "classes": [...] of a trace, with fields if `with_fields` is set. */
void classes_json(struct json *json, ttr_reader *reader, const struct trace *trace,
                  bool has_fields);

#endif
