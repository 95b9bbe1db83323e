/* Intervals [ts, end) of rows, shared by span_join and interval_intersect.
 *
 * A duration of -1 ends with the trace, a duration of 0 is an instant, and rows without a time or a
 * duration are left out. */
#ifndef TRACETTA_QUERY_QUERY_INTERVALS_H
#define TRACETTA_QUERY_QUERY_INTERVALS_H

#include "query/query.h"

struct interval {
    int64_t ts, end; /* ns; end == ts for an instant */
};

/* Reads an interval from the columns of a row; returns false if the row has none. */
bool interval_read(sqlite3_stmt *row, int ts, int dur, int64_t trace_end,
                   struct interval *interval);

/* Returns the time after the last event of the trace; INT64_MAX if it is not known. */
int64_t interval_trace_end(const ttr_query *query);

/* Sets *common to the part that two intervals share.  Returns false if they share nothing. */
static inline bool interval_intersects(struct interval a, struct interval b,
                                       struct interval *common)
{
    common->ts = a.ts > b.ts ? a.ts : b.ts;
    common->end = a.end < b.end ? a.end : b.end;
    if (common->ts < common->end)
        return true;
    /* An instant intersects an interval if it is in [ts, end). */
    const bool is_a = a.ts == a.end && b.ts <= a.ts && (a.ts < b.end || a.ts == b.ts);
    const bool is_b = b.ts == b.end && a.ts <= b.ts && (b.ts < a.end || a.ts == b.ts);
    return is_a || is_b;
}

/* Prepares a SELECT of a statement inside a table; at most INTERVALS_DEPTH_MAX are nested, so that
 * views cannot call themselves.  Returns a status of SQLite, with *message for the user. */
#define INTERVALS_DEPTH_MAX 8
int interval_prepare(ttr_query *query, const char *sql, sqlite3_stmt **statement, char **message);

/* Adds span_join and the table of interval_intersect.  Return a status of SQLite. */
int query_add_span_join(ttr_query *query);
int query_add_intervals(ttr_query *query);

#endif
