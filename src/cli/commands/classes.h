/* Event classes that a trace describes: their number of events and their declared fields. */
#ifndef TRACETTA_CLI_COMMANDS_CLASSES_H
#define TRACETTA_CLI_COMMANDS_CLASSES_H

#include "cli/commands/command.h"
#include "cli/input/trace_iter.h"
#include "cli/ui/json.h"

/* Number of event classes of a trace, and number of those with events. */
struct class_numbers {
    size_t all, used;
};

/* Prints the event classes of a trace, ordered by number of events, each line indented by `indent`
 * blanks. Classes without events are last and need --verbose. Prints nothing if the format declares
 * no classes. */
void print_event_classes(const struct call *call, ttr_reader *reader, const struct trace *trace,
                         int indent);

/* Prints all event classes of a trace with their declared fields. */
void print_class_fields(const struct call *call, ttr_reader *reader, const struct trace *trace,
                        int indent);

/* Prints the member "classes": [...] of a trace; with the declared fields if `has_fields`. */
void write_classes_json(struct json *json, ttr_reader *reader, const struct trace *trace,
                        bool has_fields);

#endif
