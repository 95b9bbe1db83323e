/* Detection of Heph traces and of the layout of their events. Files from before early 2021 have no
 * substream field, but the same magic numbers and version. Without the field headers are 34 bytes
 * long, with it 42. A trace has the old layout if all of its first events fill their size exactly
 * in the old layout, and some do not in the new one.
 */
#include <string.h>

#include "formats/heph/heph.h"

#define PROBE_EVENTS 16u

static const struct heph_layout layout_now = {
    .header = HEPH_EVENT_HEADER, .substream = 16, .start = 24, .end = 32, .description_length = 40};
static const struct heph_layout layout_old = {.header = HEPH_EVENT_HEADER_OLD,
                                              .substream = 0,
                                              .start = 16,
                                              .end = 24,
                                              .description_length = 32};

struct probe {
    unsigned events, good;
};

/* Counts how many of the first events have exactly their declared size in this layout. */
static struct probe probe_layout(const struct window *window, const struct heph_layout *layout,
                                 uint64_t max_packet)
{
    struct probe probe = {0, 0};
    struct cursor c = cursor_init(window->bytes, window->n, 0);
    while (probe.events < PROBE_EVENTS && cursor_left(&c) >= HEPH_FRAME_SIZE) {
        const uint8_t *packet = c.p;
        uint32_t size = heph_load_packet_size(packet);
        if (!heph_is_valid_frame(packet, &layout_old, max_packet) || !cursor_skip(&c, size))
            break;
        if (load_u32be(packet) != HEPH_MAGIC_EVENT)
            continue;
        probe.events++;
        probe.good += size >= layout->header && heph_is_valid_packet(packet, size, layout);
    }
    return probe;
}

const struct heph_layout *heph_find_layout(const char *name, const struct window *window,
                                           uint64_t max_packet)
{
    if (strcmp(name, "0.1") == 0)
        return &layout_now;
    if (strcmp(name, "pre-substream") == 0)
        return &layout_old;
    if (strcmp(name, "auto") != 0)
        return NULL;
    struct probe now = probe_layout(window, &layout_now, max_packet),
                 old = probe_layout(window, &layout_old, max_packet);
    bool is_old = old.events > 0 && old.good == old.events && now.good < now.events;
    return is_old ? &layout_old : &layout_now;
}

uint64_t heph_find_probe_end(const struct window *window, uint64_t max_packet, size_t *used)
{
    unsigned events = 0;
    bool is_ambiguous = true;
    struct cursor c = cursor_init(window->bytes, window->n, window->offset);
    while (is_ambiguous && events < PROBE_EVENTS && cursor_left(&c) >= HEPH_FRAME_SIZE) {
        const uint8_t *packet = c.p;
        const uint32_t size = heph_load_packet_size(packet);
        *used = (size_t)(c.offset - window->offset);
        if (!heph_is_valid_frame(packet, &layout_old, max_packet))
            return 0;
        if (!cursor_skip(&c, size))
            return c.offset + size;
        if (load_u32be(packet) != HEPH_MAGIC_EVENT)
            continue;
        events++;
        is_ambiguous = size >= HEPH_EVENT_HEADER &&
                       heph_is_valid_packet(packet, size, &layout_now) &&
                       heph_is_valid_packet(packet, size, &layout_old);
    }
    *used = (size_t)(c.offset - window->offset);
    return is_ambiguous && events < PROBE_EVENTS ? c.offset + HEPH_FRAME_SIZE : 0;
}

/* Returns how many bits of the packet at `p` were verified; 0 if the packet is invalid. If only
 * the start of the packet is available, verifies only its frame. */
static unsigned count_verified_bits(const uint8_t *p, size_t n)
{
    const struct heph_layout *layout = &layout_old;
    if (n < HEPH_FRAME_SIZE)
        return n >= 4 && (load_u32be(p) == HEPH_MAGIC_EVENT || load_u32be(p) == HEPH_MAGIC_METADATA)
                   ? 32
                   : 0;
    if (!heph_is_valid_frame(p, layout, UINT32_MAX))
        return 0;
    uint32_t size = heph_load_packet_size(p);
    if (size > n)
        return 36;
    bool is_exact = heph_is_valid_packet(p, size, &layout_old) ||
                    (size >= HEPH_EVENT_HEADER && heph_is_valid_packet(p, size, &layout_now));
    return is_exact ? 64 : 40;
}

unsigned heph_bid(const struct peek *peek)
{
    unsigned bid = count_verified_bits(peek->bytes, peek->n);
    if (bid)
        return bid;
    /* If the first packet is damaged, a later valid packet is enough if another one follows it. */
    for (size_t at = 1; at + HEPH_FRAME_SIZE <= peek->n; at++) {
        const uint8_t *p = peek->bytes + at;
        if ((p[0] != HEPH_MAGIC_EVENT >> 24 && p[0] != HEPH_MAGIC_METADATA >> 24) ||
            count_verified_bits(p, peek->n - at) != 64)
            continue;
        size_t next = at + heph_load_packet_size(p);
        if (count_verified_bits(peek->bytes + next, peek->n - next) >= 32)
            return 24;
    }
    return 0;
}
