/* A reader of events in an array, for tests of wrapping readers. Every batch is a copy that is
 * freed by the next read, so that a sanitizer detects use of a pointer that is no longer valid. */
#ifndef TRACETTA_TESTS_SUPPORT_MEMORY_READER_H
#define TRACETTA_TESTS_SUPPORT_MEMORY_READER_H

#include <tracetta/report.h>
#include <tracetta/tracetta.h>

struct memory_events {
    const ttr_event *event; /* borrowed until close */
    size_t n;
    ttr_order order;
    uint32_t batch_max; /* events per batch; 0 = 256 */
    /* the merge provides the event buffer and distinguishes its inputs; without picks */
    bool lends;
    uint64_t seed;     /* not 0 = batches of random sizes up to batch_max, some with a pick */
    ttr_status ending; /* status after the last event; TTR_OK = TTR_END */
};

/* Never fails: it does not allocate from the context, so that only allocations of the code under
 * test fail. */
ttr_reader *memory_reader(ttr *t, const struct memory_events *events);

/* Builds one packed event with `fields` fields "a", "b", ... of the values event->offset + 0, 1,
 * ... memory_events_free frees the payload. */
void memory_event_fields(ttr *t, ttr_event *event, unsigned fields);

/* Frees the payloads made by memory_event_fields. */
void memory_events_free(ttr_event *events, size_t n);

/* Reads to the end and copies up to `room` events (without their payloads, which are freed). Fails
 * the test on errors and on invalid batches (n = 0, wrong order). */
size_t memory_read_all(ttr_reader *reader, ttr_event *to, size_t room);

/* Fills an array with events of all kinds that wrappers distinguish, with fields, on a few threads
 * and names, at unsorted times from 0 to `span`. The offset of each is its index plus `base`. */
void memory_random_events(ttr *t, ttr_event *events, size_t n, uint64_t seed, int64_t span);

/* Runs a scenario over n random events with the 1st, 2nd, ... allocation of its context failing
 * until it succeeds. The scenario returns true on success, and frees everything in both cases. */
void memory_fail_each(bool (*scenario)(ttr *t, const ttr_event *events, size_t n), size_t n);

/* Ends such a scenario: reads to the end and closes the reader. NULL is a reader that could not be
 * made, with its `error`. Fails the test on any error except lack of memory. */
bool memory_reads_through(ttr_reader *reader, ttr_error *error);

/* Returns true if the event has exactly the fields made by memory_event_fields(event, fields) at
 * that offset. */
bool memory_has_fields(ttr *t, const ttr_event *event, unsigned fields);

/* Returns the number of readers that are not closed. */
unsigned memory_readers_open(void);

#endif
