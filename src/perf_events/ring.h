/* A ring that the kernel fills with records: one page of counters, then a power of two of bytes.
 *
 * Forward: the kernel writes at data_head and stops where it would reach data_tail; what does not
 * fit is counted and told by a LOST record. Backward (overwrite): the kernel writes each record
 * before the one before it and never stops; what is there is read while it pauses, from data_head
 * on, the newest first.  See "perf_event_mmap_page" in linux/perf_event.h. Thread rule: one reader
 * a ring; the kernel writes meanwhile, which the acquire and release here are for. */
#ifndef TRACETTA_PERF_EVENTS_RING_H
#define TRACETTA_PERF_EVENTS_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "base/alloc.h"

struct ring {
    struct perf_event_mmap_page *page; /* NULL = not open */
    const uint8_t *data;
    uint64_t size; /* of data, a power of two */
    uint64_t at; /* forward: what is taken; backward: where the kernel was when it was read last */
    size_t mapped; /* bytes */
    int fd;        /* of the event that owns the ring; borrowed */
    bool is_backward;
};

/* Takes bytes of whole records, or of parts of one that follow each other. */
typedef void (*ring_give)(void *own, const void *bytes, size_t n);

/* What was seen of records that passed. */
struct ring_sums {
    uint64_t records, samples, lost; /* lost: as LOST records tell */
    uint64_t broken;  /* records whose size cannot be; what was behind them is skipped */
    ring_give mapped; /* takes each whole MMAP2 record; NULL = nobody */
    void *own;
};

/* Maps the ring of an event; false with errno. */
bool ring_open(struct ring *ring, int fd, size_t bytes, bool is_backward);
void ring_close(struct ring *ring);

/* Gives all records that are there by now, oldest first, and how many bytes these are.  A backward
 * ring must be paused.  Memory that is out makes a backward ring give nothing. */
uint64_t ring_take(struct ring *ring, const struct alloc *alloc, struct ring_sums *sums,
                   ring_give give, void *own);

#endif
