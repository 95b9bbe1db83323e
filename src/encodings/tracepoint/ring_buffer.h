/* Pages of the kernel's ring buffer, as trace.dat holds them and as trace_pipe_raw gives them.
 *
 *   u64 time | commit (the kernel's `long`) | events          commit: bits 0..26 bytes of events
 * behind the head bit 31: events were lost before this page (then those above are set, too, where
 *                                                             commit has 64), bit 30: how many
 * stands behind the events event   u32: type 5 bits, time delta 27 bits (big-endian machines have
 * the type in the upper bits) 1 .. 28      data of type x 4 bytes 0            u32 n: n - 4 bytes
 * of data, up to a multiple of 4 29 padding   u32 n: n bytes are passed over; with delta 0: the
 * rest of the page is 30 time      u32: 27 more bits of delta above 31 stamp     u32: delta and
 * these are the time itself, 59 bits of it
 *
 * Borrowed: a walk owns nothing. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_RING_BUFFER_H
#define TRACETTA_ENCODINGS_TRACEPOINT_RING_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_buffer_layout {
    bool is_big_endian;
    uint8_t commit_bytes; /* 4 or 8 */
    uint32_t data;        /* where events begin in a page */
};

/* Where a walk over a page is. */
struct ring_buffer_page {
    const uint8_t *p, *end; /* of events that are left */
    uint64_t time;          /* of the event before */
    uint64_t lost; /* events that are missing before the page, where is_lossy; 0 = unknown */
    bool is_lossy, is_big_endian;
    const uint8_t *sure; /* behind the last event that was surely one (ring_buffer_sure), else the
                            first one's place */
    uint64_t sure_time;  /* of that */
};

struct ring_buffer_event {
    const uint8_t *p; /* its data: NULL, none */
    size_t n;         /* bytes, with padding up to a multiple of 4 */
    uint64_t time;
};

enum ring_buffer_step { RING_BUFFER_EVENT, RING_BUFFER_END, RING_BUFFER_DAMAGED };

/* Begins a walk over the `n` bytes of a page, which may be cut off (is_cut: it has what is there of
 * its events); false when its head cannot be: the page then has no events. */
bool ring_buffer_begin(const struct ring_buffer_layout *layout, const uint8_t *bytes, size_t n,
                       bool is_cut, struct ring_buffer_page *page);

/* The event just given is surely one. */
static inline void ring_buffer_sure(struct ring_buffer_page *page)
{
    page->sure = page->p;
    page->sure_time = page->time;
}

#define RING_BUFFER_RESYNC_MAX 65536u /* bytes of a page in which events are searched */

/* Behind damage: moves to where, behind the last sure event, most events that `is_event` believes
 * lead exactly to the end of the page; false where nothing does.  Of what stands in between only
 * the first one's delta is added to the time: mostly it is one event. */
bool ring_buffer_resync(struct ring_buffer_page *page,
                        bool (*is_event)(const void *own, const uint8_t *p, size_t n),
                        const void *own);

/* The next event.  DAMAGED: it reaches over the end of what was committed; page->p stands at it. */
enum ring_buffer_step ring_buffer_next(struct ring_buffer_page *page,
                                       struct ring_buffer_event *event);

#endif
