/* Counters of a live process: rows of name and value, printed as a table that is updated in place,
 * as CSV or as JSON.
 *
 * Ownership: the caller owns a table; the table owns its texts. */
#ifndef TRACETTA_CLI_COMMANDS_COUNTER_TABLE_H
#define TRACETTA_CLI_COMMANDS_COUNTER_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tracetta/event.h>

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
    const char *wanted; /* the list of --counters; NULL = all */
    const char *what;   /* the process, for the title */
    enum counter_show show;
    FILE *to;
    bool is_own_file, is_live; /* is_live: output to a terminal, updated in place */
    int reason;                /* errno of the first output that failed, or 0 */
    struct counter_row *rows;
    size_t rows_n, rows_capacity;
    uint64_t seconds;   /* seconds between two values */
    uint64_t rows_seen; /* values so far */
    int64_t shown_at;   /* time of the newest */
    bool is_fresh;      /* values arrived since the table was drawn */
    struct json json;
};

/* Opens the output. Returns OUTCOME_FINE, or the outcome after reporting an error. */
int counter_table_init(struct counter_table *table, struct call *call, const char *wanted,
                       const char *what, uint64_t seconds);

void counter_table_begin(struct counter_table *table);

/* Adds the values of an event, if it has a counter. */
void counter_table_add(struct counter_table *table, const ttr *t, const ttr_event *event);

/* Prints the values since the last call. */
void counter_table_flush(struct counter_table *table);

/* Shows what is left and ends the output. */
void counter_table_end(struct counter_table *table);

/* Length of the first item of "A,B[x,y]": up to a comma that is in no brackets. */
size_t counter_item_length(const char *list);

/* Closes the output and frees the table. Returns the outcome of writing, after reporting an error.
 */
int counter_table_free(struct counter_table *table);

#endif
