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

/* A counter and its most recent value. */
struct counter_row {
    char *provider, *key, *label, *tags; /* key: name used by the program; label: "CPU Usage (%)" */
    const char *type;                    /* "Metric" or "Rate" */
    double value;
};

struct counter_table {
    struct call *call;
    const char *wanted; /* list of --counters; NULL = all counters are shown */
    const char *what;   /* name of the process, for the heading */
    enum counter_show show;
    FILE *to;
    /* is_own_file: the table opened its output and closes it; is_live: the output is a terminal, on
     * which the table is updated in place */
    bool is_own_file, is_live;
    int reason; /* errno of the first failed write; 0 = none */
    struct counter_row *rows;
    size_t rows_n, rows_capacity;
    uint64_t seconds;   /* interval in seconds between two values of a counter */
    uint64_t rows_seen; /* number of values received so far */
    int64_t shown_at;   /* time in ns of the newest value */
    bool is_fresh;      /* a value has arrived since the table was printed */
    struct json json;
};

/* Opens the output. Returns OUTCOME_FINE, or the outcome after reporting an error. */
int counter_table_init(struct counter_table *table, struct call *call, const char *wanted,
                       const char *what, uint64_t seconds);

void counter_table_write_head(struct counter_table *table);

/* Adds the values of an event, if it has a counter. */
void counter_table_add(struct counter_table *table, const ttr *t, const ttr_event *event);

/* Prints the values that have arrived since the last call. */
void counter_table_flush(struct counter_table *table);

/* Prints the remaining values and ends the output. */
void counter_table_end(struct counter_table *table);

/* Returns the length of the first item of a list such as "A,B[x,y]": the bytes before the first
 * comma outside of brackets. */
size_t counter_item_length(const char *list);

/* Closes the output and frees the table. Returns the outcome of writing, after reporting an error.
 */
int counter_table_free(struct counter_table *table);

#endif
