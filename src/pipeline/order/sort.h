/* Sorting several readers together; ttr_sort and ttr_merge call it. */
#ifndef TRACETTA_PIPELINE_ORDER_SORT_H
#define TRACETTA_PIPELINE_ORDER_SORT_H

#include <tracetta/analyse.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/alloc.h"

struct sort_limits {
    /* limits of a run while it is in memory: number of events, and bytes of their fields */
    size_t run_events, run_bytes;
    /* number of runs that are merged at once, and size in bytes of the read buffer of each */
    size_t fan_in, read_bytes;
};

/* Collecting uses 32,768 events of 160 bytes and 3.5 MiB of fields, merging 4 MiB. With growing
 * buffers that is less than 16 MiB for any input, and a quarter of it for 1,024 inputs or more. */
extern const struct sort_limits sort_limits_default;

/* Returns a reader of the events of all readers, sorted by (time, index in the list, source,
 * position).  It owns the readers, even if the call fails, and copies the list. */
ttr_reader *sort_readers(ttr *t, ttr_reader *const *in, size_t n, const struct sort_limits *limits,
                         ttr_error *error);

/* Sorts one reader. `known` is an order index of it (see ttr_sort_indexed); NULL = none. */
ttr_reader *sort_with_index(ttr_reader *in, const ttr_order_index *known,
                            const struct sort_limits *limits, ttr_error *error);

/* Returns the size in bytes of the temporary file of a reader of sort_readers; for tests. */
uint64_t count_temporary_bytes(const ttr_reader *reader);

/* Closes all readers of a list. */
void close_readers(ttr_reader *const *in, size_t n);

/* Orders a list of readers for reports: readers of one trace become adjacent, at the position of
 * the first. Returns `in` itself if it is already ordered, NULL if memory is exhausted.
 * group_readers_by_trace_free accepts each of these results. */
ttr_reader **group_readers_by_trace(const struct alloc *alloc, ttr_reader **in, size_t n);
void group_readers_by_trace_free(const struct alloc *alloc, ttr_reader **grouped,
                                 ttr_reader *const *in, size_t n);

/* Returns the number of reports of all readers together; 0 = unknown. */
uint32_t count_reader_reports(ttr_reader *const *in, size_t n);

/* Fills in report number `index` of a list of readers, each of which may have several. Returns
 * false after the last report. */
bool get_reader_report(ttr_reader *const *in, size_t n, size_t index, ttr_report *report);

/* Returns the input that report number `index` describes, or NULL. */
struct input *get_reader_input(ttr_reader *const *in, size_t n, size_t index);

#endif
