/* Analysis of a complete trace: summary, order, statistics per event name, and the span forest.
 *
 * Each function reads its reader to the end; the caller closes it.  The caller frees the result.
 * `progress` may be NULL (ttr_progress in tracetta.h).  Other conventions as in tracetta.h. */
#ifndef TRACETTA_ANALYSE_H
#define TRACETTA_ANALYSE_H

#include "tracetta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Summary --- */

typedef struct ttr_summary {
    uint64_t events; /* without definitions, gaps, and ends that ttr_interpret added */
    uint64_t kinds[TTR_KIND_COUNT];
    bool has_times;           /* begin_ns and end_ns are valid */
    int64_t begin_ns, end_ns; /* ns; the earliest start and the latest end */
    /* events earlier than their predecessor; compared within their stream if streams are read one
     * by one */
    uint64_t backward;
    uint32_t threads, processes; /* with at least one event */
    uint32_t names, providers;
} ttr_summary;

/* Counts all events.  Returns TTR_AGAIN if `progress` stopped it. */
TTR_API TTR_MUST ttr_status ttr_summarize(ttr *t, ttr_reader *in, ttr_summary *summary,
                                          ttr_progress progress, void *user_data, ttr_error *error);

/* --- Order --- */

/* The minimum time of each later block of events.  If an input can be opened twice, the first pass
 * builds this index; ttr_sort_indexed then holds back only events that later ones precede, instead
 * of all events. */
typedef struct ttr_order_index ttr_order_index;

/* Builds the index; if reading fails, it ends there.  Returns NULL if memory is exhausted or
 * `progress` stopped it (TTR_AGAIN).  The index belongs to `t` and may outlive `in` and its
 * context, but not `t`. */
TTR_API ttr_order_index *ttr_order_index_find(ttr *t, ttr_reader *in, ttr_progress progress,
                                              void *user_data, ttr_error *error);

/* Returns true if an event is earlier than its predecessor, or of an earlier source at the same
 * time.  If false, ttr_sort would change nothing. */
TTR_API bool ttr_order_index_has_disorder(const ttr_order_index *disorder);
TTR_API void ttr_order_index_free(ttr_order_index *disorder);

/* Sorts as ttr_sort does.  `in` must return the events that `index` was built from; `index` is
 * borrowed until ttr_close.  An event is returned as soon as no later event precedes it.  Memory is
 * bounded; longer disorder goes to the temporary file.  TTR_E_IO if the input has changed since. */
TTR_API ttr_reader *ttr_sort_indexed(ttr_reader *in, const ttr_order_index *known,
                                     ttr_error *error);

/* --- Statistics --- */

typedef struct ttr_stat ttr_stat;

typedef struct ttr_stat_row {
    ttr_id provider, category, name;
    uint8_t kind; /* TTR_KIND_SPAN also for begin and end, and for async spans */
    uint64_t count;
    uint64_t bytes; /* of their records */
    int64_t first_ns, last_ns;
    double rate; /* events per second of the trace */
    /* ns; only if `kind` is TTR_KIND_SPAN */
    uint64_t total, self, min, max, p50, p90, p99;
    uint64_t unfinished; /* begins without an end */
} ttr_stat_row;

/* Computes a row per provider, name and kind, sorted by total time, then count, then name.
 * Quantiles are exact to 1 %.  If `progress` stops it (error->status TTR_AGAIN) or reading fails
 * (`error`), the rows so far are returned; of a trace without spans these may cover only its first
 * streams.  Returns NULL only if memory is exhausted. */
TTR_API ttr_stat *ttr_stat_new(ttr *t, ttr_reader *in, ttr_progress progress, void *user_data,
                               ttr_error *error);
TTR_API size_t ttr_stat_rows(const ttr_stat *stat, const ttr_stat_row **rows);

/* Return the number of ends without a begin, and of events earlier than the window in which pairing
 * reorders the events of a thread. */
TTR_API uint64_t ttr_stat_unmatched(const ttr_stat *stat);
TTR_API uint64_t ttr_stat_disordered(const ttr_stat *stat);
TTR_API void ttr_stat_free(ttr_stat *stat);

/* --- Span forest --- */

typedef struct ttr_tree ttr_tree;

#define TTR_TREE_NONE UINT32_MAX

typedef struct ttr_tree_span {
    int64_t begin_ns;
    uint64_t duration, self; /* ns; self = duration minus the time covered by children */
    uint64_t offset;         /* byte offset of its record in `source` */
    ttr_id name, category, provider, thread;
    uint32_t parent, first_child,
        next; /* indices of spans, TTR_TREE_NONE = none; siblings are ordered by start */
    uint32_t depth;
    uint16_t source;
    uint8_t flags;   /* TTR_EVENT_* */
    ttr_id activity; /* a string: the id of an activity, "//1/2/"; 0 = none */
} ttr_tree_span;

/* Nests the spans of each thread by containment.  Activities (start and stop events with an id)
 * nest by their ids, on any thread; other async spans are omitted, since they belong to no thread.
 * Memory: 72 bytes per span, twice that during the construction.  If `progress` stops it
 * (error->status TTR_AGAIN) or reading fails (`error`), the spans so far are returned.  Returns
 * NULL only if memory is exhausted. */
TTR_API ttr_tree *ttr_tree_new(ttr *t, ttr_reader *in, ttr_progress progress, void *user_data,
                               ttr_error *error);

/* Return the number of spans or root lists, and the array of them, borrowed until ttr_tree_free.
 * *roots has the first root of each thread, further roots follow by `next`; activities are the last
 * list. */
TTR_API uint32_t ttr_tree_spans(const ttr_tree *tree, const ttr_tree_span **spans);
TTR_API uint32_t ttr_tree_roots(const ttr_tree *tree, const uint32_t **roots);

/* Returns the number of spans that start inside another span of their thread but end after it. */
TTR_API uint64_t ttr_tree_overlaps(const ttr_tree *tree);
TTR_API void ttr_tree_free(ttr_tree *tree);

#ifdef __cplusplus
}
#endif
#endif
