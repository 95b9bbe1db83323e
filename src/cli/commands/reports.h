/* The reports of "tracetta report", and the read loop of those that need events. */
#ifndef TRACETTA_CLI_COMMANDS_REPORTS_H
#define TRACETTA_CLI_COMMANDS_REPORTS_H

#include <tracetta/event.h>

#include "cli/input/input_list.h"
#include "cli/ui/json.h"

/* A report that is computed from events. */
struct event_report {
    struct call *call;
    struct inputs inputs;
    struct json json; /* the JSON object that `show` writes to if --json is given */
    bool has_match;   /* true if an event matched the filters */
    void *ctx;
    /* Adds an event to the report. Returns false if memory is exhausted. */
    bool (*add)(struct event_report *event_report, const ttr_event *event);
    /* Prints the report; with --json the members of the open object. */
    void (*show)(struct event_report *event_report);
    const char *schema; /* name and version of the JSON, such as "tracetta.gc/1" */
};

/* Reads all events of the inputs and prints the report. Returns the outcome. */
int run_event_report(struct event_report *event_report);

/* Returns the number of rows to print, at most n. */
size_t get_report_row_limit(const struct event_report *event_report, size_t n);

/* Returns true if an event has this name. */
bool is_event_named(const struct event_report *event_report, const ttr_event *event,
                    const char *name);

/* Returns the number in a field of an event, or 0 if the event lacks the field. */
uint64_t get_event_number(const struct event_report *event_report, const ttr_event *event,
                          const char *name);

/* Returns a text field of an event, or the label of a number, as a string id. Returns 0 if the
 * event has none. */
ttr_id get_event_text(const struct event_report *event_report, const ttr_event *event,
                      const char *name);

int report_gc(struct call *call);
int report_exceptions(struct call *call);
int report_counters(struct call *call);
int report_threads(struct call *call);

#endif
