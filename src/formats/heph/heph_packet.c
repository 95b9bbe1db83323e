/* Validation of packets: the frame (magic number and size), and content that fills the size exactly
 * (specification: "Metadata Packet", "Event Packet").
 *
 * The format has no checksum. The strongest evidence for a packet is that the lengths inside add up
 * to its size, so reading, detection and resync all use these functions. */
#include "formats/heph/heph.h"
#include "formats/heph/heph_attributes.h"

#include <string.h>

uint32_t heph_load_packet_size(const uint8_t *p)
{
    return load_u32be(p + 4);
}

bool heph_is_valid_frame(const uint8_t *p, const struct heph_layout *layout, uint64_t max_packet)
{
    uint32_t magic = load_u32be(p), size = heph_load_packet_size(p);
    if (magic == HEPH_MAGIC_EVENT)
        return size >= layout->header && size <= max_packet;
    return magic == HEPH_MAGIC_METADATA && size >= HEPH_METADATA_HEADER && size <= max_packet;
}

/* Returns a cursor over the attributes of an event packet. Sets the cursor's `failed` if the
 * description exceeds the packet. */
static struct cursor get_attributes_cursor(const uint8_t *packet, uint32_t size,
                                           const struct heph_layout *layout)
{
    struct cursor c = cursor_init(packet, size, 0);
    (void)cursor_skip(&c, layout->description_length);
    (void)cursor_skip(&c, cursor_u16be(&c));
    return c;
}

bool heph_is_valid_packet(const uint8_t *packet, uint32_t size, const struct heph_layout *layout)
{
    if (load_u32be(packet) != HEPH_MAGIC_METADATA)
        return size >= layout->header && heph_is_valid_event(packet, size, layout->header);
    struct cursor c = cursor_init(packet, size, 0);
    (void)cursor_skip(&c, HEPH_FRAME_SIZE);
    return cursor_skip(&c, cursor_u16be(&c));
}

bool heph_is_valid_nested_packet(const uint8_t *packet, uint32_t size,
                                 const struct heph_layout *layout)
{
    struct heph_nesting nesting;
    struct cursor c = get_attributes_cursor(packet, size, layout);
    return !c.failed && heph_find_array_nesting(c, &nesting);
}

bool heph_parse_epoch(const uint8_t *packet, uint32_t size, uint64_t *epoch)
{
    struct cursor c = cursor_init(packet, size, 0);
    (void)cursor_skip(&c, HEPH_FRAME_SIZE);
    uint16_t n = cursor_u16be(&c);
    const uint8_t *name = cursor_read_bytes(&c, n);
    if (size != HEPH_EPOCH_PACKET || load_u32be(packet) != HEPH_MAGIC_METADATA || n != 5 || !name ||
        memcmp(name, "epoch", 5) != 0)
        return false;
    *epoch = cursor_u64be(&c);
    return true;
}

/* Packets above LARGE_PACKET bytes are loaded together with the bytes that follow (up to
 * LARGE_WINDOW), since each load copies all bytes that remain in memory. */
#define LARGE_PACKET (UINT64_C(1) << 20)
#define LARGE_WINDOW (UINT64_C(64) << 20)

ttr_status heph_load_packet(struct input *in, uint64_t need, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    if (need > LARGE_PACKET && need < LARGE_WINDOW)
        need = 2 * need < LARGE_WINDOW ? 2 * need : LARGE_WINDOW;
    return input_fill(in, reader->offset, (size_t)need, error);
}
