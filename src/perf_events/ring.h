/* Reader of a perf ring buffer: a control page and a power of two of data bytes, shared with the
 * kernel by mmap.
 *
 * |  page 0: struct perf_event_mmap_page | data: size bytes, offsets taken modulo size
 * |
 * |  forward:    |....tail=======head....|  kernel appends at data_head, we advance data_tail
 * |  backward:   |....head===============|  kernel prepends at data_head, offsets count down from 0
 *
 * A record is [0..3] type | [4..5] misc | [6..7] size | payload. A record, even its header, may
 * wrap around the end of the data.
 *
 * Forward mode: the kernel stops before data_tail. Records that do not fit are counted and reported
 * by a later LOST record. Single producer, single consumer: data_head is loaded with ACQUIRE before
 * the records are read, and data_tail is stored with RELEASE after they were passed on, so the
 * kernel cannot overwrite bytes in use.
 *
 * Backward mode (snapshot): the map is read-only, so the kernel ignores data_tail and overwrites
 * the oldest records. The ring must be paused while it is read. Records are found from data_head
 * on, newest first, up to the first incomplete one; they are passed on in reverse, oldest first.
 * ring->at remembers data_head, so the next snapshot ends there.
 *
 * Order of calls: ring_open, ring_read_records repeatedly, ring_close. Cost: one pass over headers;
 * payloads are not copied by this module, except LOST and MMAP2 records. Failure: a record with an
 * impossible size ends the batch and is counted in `broken`; the rest of the batch is skipped,
 * since no later record boundary is known. Left out: AUX areas. Thread rule: one reader per ring;
 * the kernel may write concurrently. Source: "struct perf_event_mmap_page" in linux/perf_event.h.
 */
#ifndef TRACETTA_PERF_EVENTS_RING_H
#define TRACETTA_PERF_EVENTS_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "base/alloc.h"

struct ring {
    struct perf_event_mmap_page *page; /* control page, NULL if not open */
    const uint8_t *data;
    uint64_t size; /* size of `data` in bytes, a power of two */
    uint64_t at;   /* forward: offset of the next unread byte; backward: value of data_head at the
                    * last read */
    size_t mapped; /* size in bytes of the mapping: control page and data */
    int fd;        /* descriptor of the event that owns the ring, borrowed */
    bool is_backward;
};

/* Callback that receives record bytes: complete records, or the two parts of a record that
 * wraps. */
typedef void (*ring_receive_fn)(void *ctx, const void *bytes, size_t n);

/* Statistics of the records that were read, and a callback for MMAP2 records. */
struct ring_stats {
    uint64_t records, samples, lost; /* `lost`: sum over LOST and LOST_SAMPLES records */
    uint64_t broken; /* records with an impossible size; the rest of their batch was skipped */
    ring_receive_fn mapped; /* called with each complete MMAP2 record; may be NULL */
    void *ctx;
};

/* Maps the ring of an event into memory. Returns false with errno, EPERM if the mlock limit is
 * exceeded. */
bool ring_open(struct ring *ring, int fd, size_t bytes, bool is_backward);
void ring_close(struct ring *ring);

/* Passes all available records to `receive`, oldest first, and returns their size in bytes. A
 * backward ring must be paused, and needs memory: if it runs out, nothing is passed, and the
 * records stay available. */
uint64_t ring_read_records(struct ring *ring, const struct alloc *alloc, struct ring_stats *stats,
                           ring_receive_fn receive, void *ctx);

#endif
