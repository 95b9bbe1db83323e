/* Sorting several readers at once, with limits to set: what ttr_sort and ttr_merge stand on. */
#ifndef TRACETTA_PIPELINE_ORDER_SORT_H
#define TRACETTA_PIPELINE_ORDER_SORT_H

#include <tracetta/analyse.h>
#include <tracetta/read.h>

#include "base/alloc.h"

struct sort_limits {
    size_t run_events,
        run_bytes; /* events, and bytes of their fields, held in memory before they go to disk */
    size_t fan_in, read_bytes; /* runs merged at once, and the buffer of each */
};

/* 32,768 events (160 bytes each) and 3.5 MiB of fields while collecting; 4 MiB while merging: with
 * what doubling buffers waste less than 16 MiB in all, for any size of input.  A quarter of it
 * where there are a thousand inputs or more. */
extern const struct sort_limits sort_limits_default;

/* Orders the events of all readers by (time, place in the list, source, position).  The readers are
 * taken over, also on failure; the list itself is copied. */
ttr_reader *sort_readers(ttr *t, ttr_reader *const *in, size_t n, const struct sort_limits *limits,
                         ttr_error *error);

/* The same of one reader whose disorder is known (see ttr_sort_indexed); NULL = it is not. */
ttr_reader *sort_known(ttr_reader *in, const ttr_order_index *known,
                       const struct sort_limits *limits, ttr_error *error);

/* Closes readers of a list. */
void close_readers(ttr_reader *const *in, size_t n);

/* A list of readers for their reports: those of one trace are neighbours, where the first of them
 * stands.  `in` itself where they are neighbours; NULL when memory is out.  group_free takes any of
 * them. */
ttr_reader **group_readers(const struct alloc *alloc, ttr_reader **in, size_t n);
void group_free(const struct alloc *alloc, ttr_reader **grouped, ttr_reader *const *in, size_t n);

/* How many reports readers of a list have together; 0 = one does not know. */
uint32_t reports_of_readers(ttr_reader *const *in, size_t n);

/* Finds the index-th report of a list of readers, each of which may have several. */
bool report_of_readers(ttr_reader *const *in, size_t n, size_t index, ttr_report *report);

/* The input that this report is of; NULL past the end. */
struct input *input_of_readers(ttr_reader *const *in, size_t n, size_t index);

#endif
