/* Iterator over ring buffer pages. Byte layout and algorithm: ring_buffer.h. */
#include "encodings/tracepoint/ring_buffer.h"

#include "base/endian.h"

#define COMMIT_BYTES_MASK 0x07ffffffu
/* bit 31 of `commit`, which may have 32 or 64 bits: events were lost before the page */
#define MISSED 0x80000000u
#define MISSED_IS_STORED 0x40000000u
#define DELTA_BITS 27u
#define DELTA_MASK ((1u << DELTA_BITS) - 1)
/* bits of an absolute time; its upper bits are those of the previous time */
#define STAMP_BITS 59u
#define STAMP_MASK ((UINT64_C(1) << STAMP_BITS) - 1)

enum { TYPE_LONG = 0, TYPE_PADDING = 29, TYPE_EXTEND = 30, TYPE_STAMP = 31 };

static inline uint32_t load_page_u32(const uint8_t *p, bool is_big_endian)
{
    return is_big_endian ? load_u32be(p) : load_u32le(p);
}

static inline uint64_t load_page_u64(const uint8_t *p, bool is_big_endian)
{
    return is_big_endian ? load_u64be(p) : load_u64le(p);
}

/* Returns true if any of the bytes is not zero. */
static bool has_content(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] == 0)
        i++;
    return i < n;
}

bool ring_buffer_begin_page(const struct ring_buffer_layout *layout, const uint8_t *bytes, size_t n,
                            bool is_cut, struct ring_buffer_page *page)
{
    bool big = layout->is_big_endian;
    *page = (struct ring_buffer_page){.is_big_endian = big};
    if (n < layout->data || layout->data < 8u + layout->commit_bytes)
        return false;
    uint64_t whole =
        layout->commit_bytes == 4 ? load_page_u32(bytes + 8, big) : load_page_u64(bytes + 8, big);
    uint32_t commit = (uint32_t)whole, size = commit & COMMIT_BYTES_MASK;
    size_t room = n - layout->data;
    uint32_t upper =
        /* if MISSED is set, the upper half of a 64-bit `commit` is all ones, because kernels add
         * MISSED as a negative 32-bit integer */
        (uint32_t)(whole >> 32);
    bool is_odd = (commit & ~(COMMIT_BYTES_MASK | MISSED | MISSED_IS_STORED)) != 0 ||
                  (upper != 0 && (upper != UINT32_MAX || !(commit & MISSED)));
    /* The kernel clears the bytes after the last event. So a page of size 0 that has other bytes
     * has lost its header. */
    if ((size > room && !is_cut) || is_odd ||
        (whole == 0 && has_content(bytes + layout->data, room)))
        return false;
    page->cut = size < room ? 0 : size - room;
    size = size < room ? size : (uint32_t)room;
    page->time = load_page_u64(bytes, big);
    page->p = bytes + layout->data;
    page->end = page->p + size;
    page->sure = page->p;
    page->sure_time = page->time;
    page->is_lossy = (commit & MISSED) != 0;
    if (page->is_lossy && (commit & MISSED_IS_STORED) && room - size >= layout->commit_bytes)
        page->lost = layout->commit_bytes == 4 ? load_page_u32(page->end, big)
                                               : load_page_u64(page->end, big);
    return true;
}

/* Adds the upper bits of the previous time to an absolute time of 59 bits. If the result is
 * earlier than the previous time, adds one to the upper bits. */
static uint64_t complete_event_time(uint64_t stamp, uint64_t before)
{
    uint64_t upper = before & ~STAMP_MASK;
    uint64_t time = upper | (stamp & STAMP_MASK);
    if (upper && time < before)
        time += UINT64_C(1) << STAMP_BITS;
    return time;
}

enum ring_buffer_step ring_buffer_next_event(struct ring_buffer_page *page,
                                             struct ring_buffer_event *event)
{
    for (;;) {
        size_t left = (size_t)(page->end - page->p);
        if (left < 4)
            return left ? RING_BUFFER_DAMAGED : RING_BUFFER_END;
        uint32_t head = load_page_u32(page->p, page->is_big_endian);
        uint32_t type = page->is_big_endian ? head >> DELTA_BITS : head & 31u;
        uint32_t delta = page->is_big_endian ? head & DELTA_MASK : head >> 5;
        if (type == TYPE_PADDING && delta == 0) {
            page->p = page->end;
            return RING_BUFFER_END;
        }
        if (type > 0 && type < TYPE_PADDING) {
            size_t n = (size_t)type * 4;
            if (n > left - 4)
                return RING_BUFFER_DAMAGED;
            page->time += delta;
            *event = (struct ring_buffer_event){page->p + 4, n, page->time};
            page->p += 4 + n;
            return RING_BUFFER_EVENT;
        }
        if (left < 8)
            return RING_BUFFER_DAMAGED;
        uint32_t word = load_page_u32(page->p + 4, page->is_big_endian);
        if (type == TYPE_EXTEND || type == TYPE_STAMP) {
            uint64_t time = (uint64_t)word << DELTA_BITS | delta;
            bool is_sure = page->sure == page->p;
            page->time =
                type == TYPE_EXTEND ? page->time + time : complete_event_time(time, page->time);
            page->p += 8;
            if (is_sure)
                ring_buffer_confirm_event(page);
            continue;
        }
        if (word < 4 || word - 4 > left - 8)
            return RING_BUFFER_DAMAGED;
        size_t n = (word - 4u + 3u) & ~(size_t)3;
        n = n < left - 8 ? n : left - 8;
        page->time += delta;
        *event = (struct ring_buffer_event){page->p + 8, n, page->time};
        page->p += 8 + n;
        if (type == TYPE_LONG)
            return RING_BUFFER_EVENT;
    }
}

/* Returns the size in bytes of the event at `p`, including its header; 0 if it is invalid, or
 * longer than `left` bytes. */
static size_t read_event_size(const uint8_t *p, size_t left, bool is_big_endian)
{
    uint32_t head = load_page_u32(p, is_big_endian),
             type = is_big_endian ? head >> DELTA_BITS : head & 31u;
    uint32_t delta = is_big_endian ? head & DELTA_MASK : head >> 5;
    size_t n = 4 + (size_t)type * 4;
    if (type == TYPE_PADDING && delta == 0)
        return left;
    if (type == TYPE_EXTEND || type == TYPE_STAMP)
        n = 8;
    else if (type == TYPE_LONG || type == TYPE_PADDING)
        n = left < 8 ? 0 : ((size_t)load_page_u32(p + 4, is_big_endian) + 3 + 4) & ~(size_t)3;
    return n >= 8 && n <= left ? n : 0;
}

bool ring_buffer_resync(struct ring_buffer_page *page,
                        bool (*is_event)(const void *ctx, const uint8_t *p, size_t n),
                        const void *ctx)
{
    uint16_t chain[RING_BUFFER_RESYNC_MAX / 4 +
                   /* for each 4-byte word: 1 + number of events in the longest chain from there to
                    * the exact end of the page; 0 if none exists */
                   1];
    const size_t odd = (size_t)(page->end - page->sure) % 4;
    const uint8_t *begin = page->sure + odd;
    const size_t words = (size_t)(page->end - begin) / 4, first = odd ? 0 : 1;
    size_t found = SIZE_MAX;
    if (words < 2 || words > RING_BUFFER_RESYNC_MAX / 4 || (odd && !page->missing))
        return false;
    chain[words] = 1;
    for (size_t i = words; i-- > first;) {
        const uint8_t *p = begin + i * 4;
        uint32_t type = page->is_big_endian ? p[0] >> 3 : p[0] & 31u;
        size_t n = read_event_size(p, (words - i) * 4, page->is_big_endian),
               head = type == TYPE_LONG ? 8 : 4;
        chain[i] = n ? chain[i + n / 4] : 0;
        if (!chain[i] || type >= TYPE_PADDING)
            continue;
        chain[i] = is_event(ctx, p + head, n - head) ? (uint16_t)(chain[i] + 1) : 0;
        found = chain[i] && (found == SIZE_MAX || chain[i] >= chain[found]) ? i : found;
    }
    if (found == SIZE_MAX)
        return false;
    uint32_t head = load_page_u32(page->sure, page->is_big_endian),
             type = page->is_big_endian ? head >> DELTA_BITS : head & 31u;
    page->time = page->sure_time + (type >= TYPE_EXTEND   ? 0
                                    : page->is_big_endian ? head & DELTA_MASK
                                                          : head >> 5);
    page->p = begin + found * 4;
    page->sure = page->p;
    return true;
}
