/* A reader over events in an array, for tests of what wraps readers.  Every batch is a copy of its
 * own that dies at the next read, so that a sanitizer sees whoever keeps a borrowed pointer. */
#ifndef TRACETTA_TESTS_SUPPORT_MEMORY_READER_H
#define TRACETTA_TESTS_SUPPORT_MEMORY_READER_H

#include <tracetta/read.h>

struct memory_events {
    const ttr_event *event; /* borrowed until close */
    size_t n;
    ttr_order order;
    uint32_t batch_max; /* 0: 256; batches are of this size */
    bool lends;    /* events lie where the merge says, and its inputs are told apart; no picks */
    uint64_t seed; /* not 0: batches of random sizes up to batch_max, some with a pick */
    ttr_status ending; /* what comes after the last event; TTR_OK: TTR_END */
};

/* Never fails: its own memory is not that of the context, so that failing allocations are those of
 * the code under test. */
ttr_reader *memory_reader(ttr *t, const struct memory_events *events);

/* Builds one packed event; `fields` fields "a", "b", ... whose values are event->offset + 0, 1, ...
 * The payload belongs to memory_events_free. */
void memory_event_fields(ttr *t, ttr_event *event, unsigned fields);

/* Frees the payloads made by memory_event_fields. */
void memory_events_free(ttr_event *events, size_t n);

/* Reads to the end and copies up to `room` events (without their payloads, which are gone); fails
 * the test on errors and on batches that break a promise (n = 0, order). */
size_t memory_read_all(ttr_reader *reader, ttr_event *to, size_t room);

/* Fills an array with events of all kinds that wrappers care about, with fields, on a few threads
 * and names, at times from 0 to `span` in no order; offset is the place in the array plus `base`.
 */
void memory_random_events(ttr *t, ttr_event *events, size_t n, uint64_t seed, int64_t span);

/* Runs a scenario over n random events with the 1st, 2nd, ... allocation of its context failing
 * until it gets through.  It says whether it did, and gives everything back in both cases. */
void memory_fail_each(bool (*scenario)(ttr *t, const ttr_event *events, size_t n), size_t n);

/* The end of such a scenario: reads to the end and closes the reader.  NULL is one that could not
 * be made, as `error` tells; nothing but memory may fail. */
bool memory_reads_through(ttr_reader *reader, ttr_error *error);

/* Whether the event has fields a, b, ... made by memory_event_fields(event, fields) at that offset,
 * and no more. */
bool memory_has_fields(ttr *t, const ttr_event *event, unsigned fields);

/* How many readers are not closed yet. */
unsigned memory_readers_open(void);

#endif
