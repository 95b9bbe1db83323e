/* Questions about a whole trace: statistics per event name, the span forest, damage and repair.
 *
 * Each function reads its reader to the end (the caller closes it).  Results belong to the caller
 * until freed. */
#ifndef TRACETTA_ANALYSE_H
#define TRACETTA_ANALYSE_H

#include "read.h"
#include "write.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Progress: see ttr_progress in event.h; ended early by it, a call gives what it has (TTR_AGAIN).
 */

/* --- Summary --- */

typedef struct ttr_summary {
    uint64_t events; /* without definitions and gaps */
    uint64_t kinds[TTR_KIND_COUNT];
    bool has_times;           /* some event says when it was: */
    int64_t begin_ns, end_ns; /* first begin and last end; 0 when there are none */
    uint64_t backward; /* events earlier than the one before them; in their stream where streams are
                          read one after another */
    uint32_t threads, processes; /* that have events */
    uint32_t names, providers;
} ttr_summary;

/* Reads to the end and counts. */
TTR_API TTR_MUST ttr_status ttr_summarize(ttr *t, ttr_reader *in, ttr_summary *summary,
                                          ttr_progress progress, void *ctx, ttr_error *error);

/* --- Order --- */

/* Where a reader is out of order, which who can open the same twice may find out first: then
 * sorting stores only what has to wait. */
typedef struct ttr_order_index ttr_order_index;

/* Reads to the end.  A failure of the input is where it ends.  NULL where memory is out or progress
 * ended it (TTR_AGAIN).  The result, which is t's, may outlive the reader and its context, not t.
 */
TTR_API ttr_order_index *ttr_order_index_find(ttr *t, ttr_reader *in, ttr_progress progress,
                                              void *ctx, ttr_error *error);

/* Whether some event is earlier than the one before it, or of an earlier source at the same time:
 * else ttr_sort would change nothing. */
TTR_API bool ttr_order_index_has_disorder(const ttr_order_index *disorder);
TTR_API void ttr_order_index_free(ttr_order_index *disorder);

/* The same as ttr_sort, of a reader that gives what the other one gave whose disorder is known,
 * which is borrowed until the close.  Events are given as soon as none behind them is earlier;
 * memory is bounded, and what is out of order over more events than it holds goes to the temporary
 * file.  TTR_E_IO where the input became another one. */
TTR_API ttr_reader *ttr_sort_indexed(ttr_reader *in, const ttr_order_index *known,
                                     ttr_error *error);

/* --- Statistics --- */

typedef struct ttr_stat ttr_stat;

typedef struct ttr_stat_row {
    ttr_id provider, category, name;
    uint8_t kind; /* spans of every make count as TTR_KIND_SPAN */
    uint64_t count;
    uint64_t bytes; /* of their records */
    int64_t first_ns, last_ns;
    double rate; /* events per second over the whole trace */
    /* spans only: ns */
    uint64_t total, self, min, max, p50, p90, p99;
    uint64_t unfinished; /* begins without end */
} ttr_stat_row;

/* Reads to the end; rows are sorted by total time, then count, then name.  Quantiles are within 1
 * %.  Ended early by `progress` it gives the rows so far (of a trace without spans these may be of
 * its first streams, and of no others), and error->status is TTR_AGAIN; where reading fails
 * half-way it gives them too, and `error` says why.  NULL only when memory is out. */
TTR_API ttr_stat *ttr_stat_new(ttr *t, ttr_reader *in, ttr_progress progress, void *ctx,
                               ttr_error *error);
TTR_API size_t ttr_stat_rows(const ttr_stat *stat, const ttr_stat_row **rows);

/* Ends without a begin, and events of one thread that went back in time further than the reorder
 * window. */
TTR_API uint64_t ttr_stat_unmatched(const ttr_stat *stat);
TTR_API uint64_t ttr_stat_disordered(const ttr_stat *stat);
TTR_API void ttr_stat_free(ttr_stat *stat);

/* --- Span forest --- */

typedef struct ttr_tree ttr_tree;

#define TTR_TREE_NONE UINT32_MAX

typedef struct ttr_tree_span {
    int64_t begin_ns;
    uint64_t duration, self; /* ns; self = duration without what its children cover */
    uint64_t offset;         /* of its record, in source */
    ttr_id name, category, provider, thread;
    uint32_t parent, first_child,
        next; /* indices into the spans, TTR_TREE_NONE = none; siblings by begin */
    uint32_t depth;
    uint16_t source;
    uint8_t flags;   /* of the event */
    ttr_id activity; /* the id of an activity as text ("//1/2/"), 0 = it is none or has none */
} ttr_tree_span;

/* Reads to the end and nests spans by containment per thread.  Activities (start and stop events
 * with an id) nest by their ids, wherever they run; other async spans are left out: they belong to
 * no thread.  Memory grows with the spans: 72 bytes each, while it is built twice that.  Ended
 * early by `progress` it gives the spans so far, and error->status is TTR_AGAIN; where reading
 * fails half-way it gives them too, and `error` says why.  NULL only when memory is out. */
TTR_API ttr_tree *ttr_tree_new(ttr *t, ttr_reader *in, ttr_progress progress, void *ctx,
                               ttr_error *error);

/* The spans; roots are chained by `next` per thread, the first root of each thread listed by
 * ttr_tree_roots; activities are a chain of their own, the last. */
TTR_API uint32_t ttr_tree_spans(const ttr_tree *tree, const ttr_tree_span **spans);
TTR_API uint32_t ttr_tree_roots(const ttr_tree *tree, const uint32_t **roots);

/* Spans that begin inside of the innermost span running on their thread but end after it: neither
 * contains the other. */
TTR_API uint64_t ttr_tree_overlaps(const ttr_tree *tree);
TTR_API void ttr_tree_free(ttr_tree *tree);

/* --- Copy and repair --- */

/* Copies everything from a reader to a writer (neither is ended). */
TTR_API TTR_MUST ttr_status ttr_copy(ttr_reader *in, ttr_writer *out, ttr_progress progress,
                                     void *ctx, ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
