/* What counters say: rows of name and value, shown as a table that renews itself, as CSV or as
 * JSON.
 *
 * Ownership: a table is the caller's; its texts are its own. */
#ifndef TRACETTA_CLI_COMMANDS_COUNTER_TABLE_H
#define TRACETTA_CLI_COMMANDS_COUNTER_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tracetta/tracetta.h>

#include "cli/ui/json.h"

struct call;

enum counter_show { COUNTER_TABLE, COUNTER_CSV, COUNTER_JSON };

/* One counter. */
struct counter_row {
    char *provider, *key, *label, *tags; /* key: as the program names it; label: "CPU Usage (%)" */
    const char *type;                    /* "Metric" or "Rate" */
    double value;
};

struct counter_table {
    struct call *call;
    const char *wanted; /* of --counters, NULL = all that are asked for */
    const char *what;   /* the process */
    enum counter_show show;
    FILE *to;
    bool is_own_file, is_live; /* is_live: a terminal, which is drawn anew */
    int reason;                /* errno of the first output that failed, or 0 */
    struct counter_row *rows;
    size_t rows_n, rows_capacity;
    uint64_t seconds;   /* between two values */
    uint64_t rows_seen; /* values so far */
    int64_t shown_at;   /* time of the newest */
    bool is_fresh;      /* something came since the last showing */
    struct json json;
};

/* Opens the output.  OUTCOME_FINE, or after telling what is wrong. */
int counter_table_init(struct counter_table *table, struct call *call, const char *wanted,
                       const char *what, uint64_t seconds);

void counter_table_begin(struct counter_table *table);

/* Takes what an event says, where it is one of a counter. */
void counter_table_take(struct counter_table *table, const ttr *t, const ttr_event *event);

/* Shows what came since the last time. */
void counter_table_flush(struct counter_table *table);

/* Shows what is left and ends the output. */
void counter_table_end(struct counter_table *table);

/* Length of the first item of "A,B[x,y]": up to a comma that is in no brackets. */
size_t counter_item_length(const char *list);

/* Closes the output and lets all go; gives the outcome of writing, a failure of which is told. */
int counter_table_free(struct counter_table *table);

#endif
