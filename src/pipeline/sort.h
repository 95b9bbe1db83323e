/* Sorting several readers at once, with limits to set: what ttr_sort and ttr_merge stand on. */
#ifndef TRACETTA_PIPELINE_SORT_H
#define TRACETTA_PIPELINE_SORT_H

#include <tracetta/read.h>

struct sort_limits {
    size_t run_events, run_bytes; /* events, and bytes of their fields, held in memory before they go to disk */
    size_t fan_in, read_bytes;    /* runs merged at once, and the buffer of each */
};

/* 32,768 events (160 bytes each) and 3.5 MiB of fields while collecting; 4 MiB while merging: with what doubling buffers waste
 * less than 16 MiB in all, for any size of input.  A quarter of it where there are a thousand inputs or more. */
extern const struct sort_limits sort_limits_default;

/* Orders the events of all readers by (time, place in the list, source, position).  The readers are taken over, also on
 * failure; the list itself is copied. */
ttr_reader *sort_readers(ttr *t, ttr_reader *const *in, size_t n, const struct sort_limits *limits, ttr_error *error);

/* Closes readers of a list. */
void close_readers(ttr_reader *const *in, size_t n);

/* How many reports readers of a list have together; 0 = one does not know. */
uint32_t reports_of_readers(ttr_reader *const *in, size_t n);

/* Finds the index-th report of a list of readers, each of which may have several. */
bool report_of_readers(ttr_reader *const *in, size_t n, size_t index, ttr_report *report);

/* The input that this report is of; NULL past the end. */
struct input *input_of_readers(ttr_reader *const *in, size_t n, size_t index);

#endif
