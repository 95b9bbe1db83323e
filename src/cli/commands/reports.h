/* The reports of "tracetta report": what each is called, and what those that count events have in
 * common. */
#ifndef TRACETTA_CLI_COMMANDS_REPORTS_H
#define TRACETTA_CLI_COMMANDS_REPORTS_H

#include <tracetta/tracetta.h>

#include "cli/input/input_list.h"
#include "cli/ui/json.h"

/* A report over single events. */
struct tally {
    struct call *call;
    struct inputs inputs;
    struct json json; /* open while `show` is called with --json */
    uint64_t matches; /* events that matched the filters */
    void *own;
    /* Takes an event; false when memory is out. */
    bool (*take)(struct tally *tally, const ttr_event *event);
    /* Prints what there is; with --json members of the object that is open. */
    void (*show)(struct tally *tally);
    const char *schema; /* "tracetta.gc/1" */
};

/* Reads all events of the inputs and shows what came of it; gives the outcome. */
int tally_run(struct tally *tally);

/* How many rows of n to print. */
size_t tally_rows(const struct tally *tally, size_t n);

/* Whether an event has this name. */
bool tally_is(const struct tally *tally, const ttr_event *event, const char *name);

/* A number among the fields of an event; 0 where it is not there. */
uint64_t tally_number(const struct tally *tally, const ttr_event *event, const char *name);

/* A text, or the name of a number that has one, kept for good; 0 where it is not there. */
ttr_id tally_text(const struct tally *tally, const ttr_event *event, const char *name);

int report_gc(struct call *call);
int report_exceptions(struct call *call);
int report_counters(struct call *call);
int report_threads(struct call *call);

#endif
