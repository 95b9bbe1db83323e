/* Packets of Heph over a network: size, content and times of one packet. Only the layout of format
 * 0.1.0 is accepted, because a single packet does not show its layout. */
#include "formats/heph/heph.h"

static const struct heph_layout *get_heph_layout(void)
{
    return heph_find_layout("0.1", NULL, 0);
}

static uint64_t get_packet_size(const uint8_t *frame, uint64_t max)
{
    return heph_is_valid_frame(frame, get_heph_layout(), max) ? heph_packet_size(frame) : 0;
}

static bool parse_packet_facts(const uint8_t *packet, size_t n, struct packet_facts *facts)
{
    const struct heph_layout *layout = get_heph_layout();
    const uint32_t size = (uint32_t)n;
    *facts = (struct packet_facts){.is_counted = load_u32be(packet) == HEPH_MAGIC_EVENT};
    facts->events = facts->is_counted;
    if (!facts->is_counted) {
        facts->has_epoch = facts->is_head = heph_parse_epoch(packet, size, &facts->epoch_ns);
        return heph_is_valid_packet(packet, size, layout);
    }
    facts->stream = load_u32be(packet + 8);
    facts->counter = load_u32be(packet + 12);
    facts->time_ns = load_u64be(packet + layout->end);
    return heph_is_valid_packet(packet, size, layout) ||
           heph_is_valid_nested_packet(packet, size, layout);
}

static uint64_t add_clamped(uint64_t time_ns, uint64_t delta_ns)
{
    return time_ns > UINT64_MAX - delta_ns ? UINT64_MAX : time_ns + delta_ns;
}

static void shift_packet_time(uint8_t *packet, uint32_t stream, uint64_t delta_ns)
{
    const struct heph_layout *layout = get_heph_layout();
    if (load_u32be(packet) != HEPH_MAGIC_EVENT)
        return;
    store_u32be(packet + 8, stream);
    store_u64be(packet + layout->start, add_clamped(load_u64be(packet + layout->start), delta_ns));
    store_u64be(packet + layout->end, add_clamped(load_u64be(packet + layout->end), delta_ns));
}

/* An epoch packet with time 0 at 1970. */
static const uint8_t merged_head[HEPH_EPOCH_PACKET] = {0x75, 0xD1, 0x1D, 0x4D, 0,   0,   0,  23,
                                                       0,    5,    'e',  'p',  'o', 'c', 'h'};

const struct format_transfer heph_transfer = {
    .frame_size = HEPH_FRAME_SIZE,
    .allows_datagrams = true,
    .get_size = get_packet_size,
    .parse = parse_packet_facts,
    .rebase = shift_packet_time,
    .merged_head = merged_head,
    .merged_head_n = sizeof merged_head,
};
