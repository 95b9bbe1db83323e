/* Comparison of two traces: sections of rows with numbers before and after. */
#ifndef TRACETTA_CLI_COMMANDS_DIFF_H
#define TRACETTA_CLI_COMMANDS_DIFF_H

#include "cli/commands/query_session.h"
#include "cli/ui/json.h"

#define DIFF_COLUMNS_MAX 5u
#define DIFF_SAMPLES_MIN 8u /* durations on each side that a rank test needs */

enum diff_unit { DIFF_COUNT, DIFF_NS, DIFF_VALUE };

/* A kind of rows that diff compares, such as spans by name. */
struct diff_section {
    const char *name; /* name of the section, such as "spans" */
    const char *key;  /* heading of the keys */
    const char *sql;  /* a key, then the columns, ordered by key; "%s" is --key */
    struct diff_column {
        const char *name;
        enum diff_unit unit;
    } columns[DIFF_COLUMNS_MAX];
    size_t columns_n;
    bool has_samples; /* the durations of the rows are compared by a rank test */
};

struct diff_row {
    char *key;
    bool has[2]; /* true if the first, the second trace has the row */
    double values[2][DIFF_COLUMNS_MAX];
    double *samples[2]; /* durations, a random selection if there are many */
    size_t samples_n[2], seen[2];
    double rank; /* square of the standardised rank sum of the samples; negative = not tested */
};

struct diff_table {
    const struct diff_section *section;
    struct diff_row *rows;
    size_t rows_n, capacity;
    size_t sort_column; /* columns_n = key */
};

/* Returns the difference of a column in percent of the value before; infinite if that is 0. */
double diff_percent(const struct diff_row *row, size_t column);

/* Returns the probability that the durations of both sides are of one distribution, as a bound:
 * "<0.001", "<0.01", "<0.05", ">0.05"; "" if it is not tested. */
const char *diff_probability(const struct diff_row *row);

/* Tests whether the durations before and after differ: the rank sum test of Mann and Whitney, with
 * the normal approximation and its correction for ties. Sorts the samples. */
void diff_test_ranks(struct diff_row *row);

/* Print a table in the format of the call: a terminal or Markdown table, or members of JSON. At
 * most --limit rows. */
void print_diff_table(const struct call *call, const struct diff_table *table);
void print_diff_json(const struct call *call, struct json *json, const struct diff_table *table);

#endif
