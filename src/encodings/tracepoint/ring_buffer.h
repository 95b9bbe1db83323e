/* Iterator over pages of the kernel's ring buffer, as trace.dat and trace_pipe_raw contain them.
 *
 *   page    [0..7] time stamp | commit, 4 or 8 bytes (`long` of the kernel) | events
 *   commit  bits 0..26: bytes of events
 *           bit 30: the number of lost events is stored after the events
 *           bit 31: events were lost before this page; a 64-bit commit is then sign-extended
 *   event   u32: type in bits 0..4, time delta in bits 5..31; big-endian machines store the type in
 *           the upper 5 bits. Content by type:
 *     1..28 data        type * 4 bytes
 *     0     data        u32 n, then n - 4 bytes, padded to a multiple of 4
 *     29    padding     as type 0, but to be skipped; with delta 0 the rest of the page is padding
 *     30    extend      u32: bits 27 and up of the time delta
 *     31    time stamp  u32: with the delta an absolute time of 59 bits
 *
 * Order of calls: ring_buffer_begin_page once per page, ring_buffer_next_event until
 * RING_BUFFER_END. A caller that finds an event to be valid calls ring_buffer_confirm_event; after
 * RING_BUFFER_DAMAGED it may call ring_buffer_resync, which searches for the next valid event.
 *
 * Invariants: all reads stay within the committed bytes. Deltas are unsigned. Absolute times carry
 * 59 bits; the upper bits are those of the previous time.
 *
 * Cost: constant per event. Resynchronization uses dynamic programming from the end of the page:
 * for each 4-byte word the length of the longest chain of plausible events that ends exactly at the
 * end of the page. It is linear in the page size and limited to RING_BUFFER_RESYNC_MAX bytes.
 *
 * Left out: the meaning of the data (tracepoints.h).
 *
 * Ownership: an iterator borrows the page and owns nothing. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_RING_BUFFER_H
#define TRACETTA_ENCODINGS_TRACEPOINT_RING_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_buffer_layout {
    bool is_big_endian;
    uint8_t commit_bytes; /* size of `commit` in bytes, 4 or 8 */
    uint32_t data;        /* byte offset of the first event in a page */
};

/* State of the iteration over one page. */
struct ring_buffer_page {
    const uint8_t *p, *end; /* p: next event; end: end of the events in the page */
    uint64_t time;          /* time of the last event, in units of the trace clock */
    /* number of events that were lost before the page, 0 if unknown; valid if is_lossy */
    uint64_t lost;
    bool is_lossy, is_big_endian;
    /* end of the last event that ring_buffer_confirm_event() confirmed; before that, start of the
     * first event */
    const uint8_t *sure;
    uint64_t sure_time; /* time at `sure` */
    size_t cut;         /* number of committed bytes after the end of a truncated page */
    size_t missing;     /* number of missing bytes that were passed to ring_buffer_shorten_page() */
};

struct ring_buffer_event {
    const uint8_t *p; /* data of the event; NULL if it has none */
    size_t n;         /* data size in bytes, including padding to a multiple of 4 */
    uint64_t time;
};

enum ring_buffer_step { RING_BUFFER_EVENT, RING_BUFFER_END, RING_BUFFER_DAMAGED };

/* Starts the iteration over a page of `n` bytes. is_cut: the end of the page is missing, so only
 * complete events are returned. Returns false if the page header is invalid. */
bool ring_buffer_begin_page(const struct ring_buffer_layout *layout, const uint8_t *bytes, size_t n,
                            bool is_cut, struct ring_buffer_page *page);

/* Confirms that the last returned event is valid, so that resynchronization starts after it. */
static inline void ring_buffer_confirm_event(struct ring_buffer_page *page)
{
    page->sure = page->p;
    page->sure_time = page->time;
}

/* Moves the end of the page's events, because `n` bytes after the last confirmed event are missing
 * from the page. The events after the gap are aligned to the new end. */
static inline void ring_buffer_shorten_page(struct ring_buffer_page *page, size_t n)
{
    const size_t left = (size_t)(page->end - page->sure), by = n > page->cut ? n - page->cut : 0;
    page->missing = n;
    page->end -= by < left ? by : left;
}

/* bytes; larger pages are not resynchronized */
#define RING_BUFFER_RESYNC_MAX 65536u

/* Resynchronizes after damage: finds the longest chain of events that `is_event` accepts, from the
 * last confirmed event on, that ends exactly at the end of the page. Moves to its start; returns
 * false if none exists. Of the skipped bytes, adds only the first time delta, since usually
 * one event is damaged. */
bool ring_buffer_resync(struct ring_buffer_page *page,
                        bool (*is_event)(const void *ctx, const uint8_t *p, size_t n),
                        const void *ctx);

/* Reads the next event. If it extends past the end of the page's events, returns
 * RING_BUFFER_DAMAGED, with page->p at the event. */
enum ring_buffer_step ring_buffer_next_event(struct ring_buffer_page *page,
                                             struct ring_buffer_event *event);

#endif
