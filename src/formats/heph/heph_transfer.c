/* Packets of Heph over a network: size, content and times of one packet. Only the layout of format
 * 0.1.0 is accepted, because a single packet does not show its layout. */
#include "formats/heph/heph.h"

#include <string.h>

static const struct heph_layout *get_heph_layout(void)
{
    const struct window no_window = {0};
    return heph_find_layout("0.1", &no_window, 0);
}

static uint64_t get_packet_size(const uint8_t *frame, uint64_t max)
{
    return heph_is_valid_frame(frame, get_heph_layout(), max) ? heph_load_packet_size(frame) : 0;
}

/* Sets the ports if the packet has the option with them. */
static void parse_ports(const uint8_t *packet, uint32_t size, struct packet_facts *facts)
{
    const uint32_t name_n = sizeof HEPH_OPTION_PORTS - 1, at = HEPH_FRAME_SIZE + 2 + name_n;
    if (size <= at || load_u16be(packet + HEPH_FRAME_SIZE) != name_n ||
        memcmp(packet + HEPH_FRAME_SIZE + 2, HEPH_OPTION_PORTS, name_n) != 0)
        return;
    facts->ports = packet + at;
    facts->ports_n = (size - at) / 2;
}

static bool parse_packet_facts(const uint8_t *packet, size_t n, struct packet_facts *facts)
{
    const struct heph_layout *layout = get_heph_layout();
    const uint32_t size = (uint32_t)n;
    *facts = (struct packet_facts){.is_counted = load_u32be(packet) == HEPH_MAGIC_EVENT};
    facts->events = facts->is_counted;
    if (!facts->is_counted) {
        facts->has_epoch = facts->is_head = heph_parse_epoch(packet, size, &facts->epoch_ns);
        parse_ports(packet, size, facts);
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

/* Appends the start of a metadata packet: the name of an option, and `n` bytes for its value.
 * Returns the address of the value; NULL if memory runs out. */
static uint8_t *append_option(struct buffer *to, const char *name, size_t n)
{
    const size_t name_n = strlen(name), size = HEPH_FRAME_SIZE + 2 + name_n + n;
    uint8_t *at = size <= UINT32_MAX ? buffer_room(to, size) : NULL;
    if (!at)
        return NULL;
    store_u32be(at, HEPH_MAGIC_METADATA);
    store_u32be(at + 4, (uint32_t)size);
    store_u16be(at + HEPH_FRAME_SIZE, (uint16_t)name_n);
    memcpy(at + HEPH_FRAME_SIZE + 2, name, name_n);
    buffer_commit(to, size);
    return at + size - n;
}

static void write_counters(struct buffer *to, const struct packet_counter *counters, size_t n)
{
    uint8_t *at = append_option(to, HEPH_OPTION_COUNTERS, 8 * n);
    for (size_t i = 0; at && i < n; i++) {
        store_u32be(at + 8 * i, counters[i].stream);
        store_u32be(at + 8 * i + 4, counters[i].counter);
    }
}

static void write_losses(struct buffer *to, const struct packet_losses *losses)
{
    uint8_t *at = append_option(to, HEPH_OPTION_LOSSES, 24);
    if (!at)
        return;
    store_u64be(at, losses->kernel_drops);
    store_u64be(at + 8, losses->dropped_packets);
    store_u64be(at + 16, losses->dropped_events);
}

static void write_ports(struct buffer *to, const uint16_t *ports, size_t n)
{
    uint8_t *at = append_option(to, HEPH_OPTION_PORTS, 2 * n);
    for (size_t i = 0; at && i < n; i++)
        store_u16be(at + 2 * i, ports[i]);
}

/* Epoch packet for merged traces: time 0 is the start of 1970. */
static const uint8_t merged_head[HEPH_EPOCH_PACKET] = {0x75, 0xD1, 0x1D, 0x4D, 0,   0,   0,  23,
                                                       0,    5,    'e',  'p',  'o', 'c', 'h'};

const struct format_transfer heph_transfer = {
    .frame_size = HEPH_FRAME_SIZE,
    .allows_datagrams = true,
    .get_size = get_packet_size,
    .parse = parse_packet_facts,
    .rebase = shift_packet_time,
    .write_counters = write_counters,
    .write_losses = write_losses,
    .write_ports = write_ports,
    .merged_head = merged_head,
    .merged_head_n = sizeof merged_head,
};
