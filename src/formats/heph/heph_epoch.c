/* The epoch: the Unix time at time 0 of the trace (specification: "Options").
 *
 * An epoch packet may be anywhere and applies to the complete trace, also to earlier events. In
 * practice it comes first, and the reader cannot go back. So the start of a file is examined before
 * the first event is emitted. If it contains no epoch, a second source reads the file to its end.
 * The events of a pipe are emitted without delay: only the packets before the first event are
 * examined, and an epoch found later applies to the events after it.
 *
 * If there are several different epochs and the counters of the streams restart after one, the file
 * contains concatenated traces, each with its own epoch. Otherwise the last epoch found in advance
 * applies. */
#include "base/status.h"
#include "formats/heph/heph.h"

/* RESTART_EVENTS: number of events after an epoch packet in which restarted counters are searched
 * for; RESTART_BYTES: in so many bytes; RESTART_COUNTER: highest first counter that is treated as a
 * restart. */
#define RESTART_EVENTS 64u
#define RESTART_BYTES (1u << 20)
#define RESTART_COUNTER 16u

/* Iterates over complete packets with valid frames. Ends at the first bytes that are not such a
 * packet. */
struct packet_iter {
    struct cursor at;
    const struct heph_layout *layout;
    uint64_t max_packet;
    const uint8_t *packet;
    uint32_t size;
};

static bool packet_iter_next(struct packet_iter *packets)
{
    packets->packet = packets->at.p;
    if (cursor_left(&packets->at) < HEPH_FRAME_SIZE ||
        !heph_is_valid_frame(packets->packet, packets->layout, packets->max_packet))
        return false;
    packets->size = heph_load_packet_size(packets->packet);
    return cursor_skip(&packets->at, packets->size);
}

static bool is_event_packet(const struct packet_iter *packets)
{
    return load_u32be(packets->packet) == HEPH_MAGIC_EVENT;
}

/* Returns true if the counter of the first known stream in the next packets starts again at a low
 * value. Returns false if that stream continues, or if the packets have no event of a known
 * stream. */
static bool do_counters_restart(struct packet_iter packets, const struct heph_counters *counters)
{
    const uint8_t *start = packets.at.p;
    for (unsigned n = 0; n < RESTART_EVENTS && packet_iter_next(&packets) &&
                         packets.at.p - start <= RESTART_BYTES && is_event_packet(&packets);
         n++) {
        uint32_t counter = load_u32be(packets.packet + 12);
        uint32_t index = heph_counters_find_stream(counters, load_u32be(packets.packet + 8));
        if (index != UINT32_MAX)
            return counter <= RESTART_COUNTER &&
                   counter <= heph_get_last_counter(&counters->streams[index]);
    }
    return false;
}

static struct packet_iter packet_iter_init(const struct input *in, const struct window *window)
{
    const struct heph_reader *reader = in->ctx;
    return (struct packet_iter){.at = cursor_init(window->bytes, window->n, window->offset),
                                .layout = reader->layout,
                                .max_packet = reader->max_packet};
}

/* Examines the packets in memory, and sets the epoch to the last epoch packet of the first trace.
 * For a pipe, examines only the packets before the first event: the result must not depend on the
 * speed of the sender. Returns false if memory runs out. */
static bool examine_packets_in_window(struct input *in, struct heph_counters *counters)
{
    struct heph_reader *reader = in->ctx;
    struct packet_iter packets = packet_iter_init(in, &in->window);
    uint64_t epoch;
    bool is_new;
    while (packet_iter_next(&packets) && !(reader->is_pipe && is_event_packet(&packets))) {
        if (is_event_packet(&packets)) {
            uint32_t index =
                heph_counters_add_stream(counters, load_u32be(packets.packet + 8), &is_new);
            if (index == UINT32_MAX ||
                !heph_counters_add(counters, index, load_u32be(packets.packet + 12)))
                return false;
        } else if (heph_parse_epoch(packets.packet, packets.size, &epoch)) {
            if (reader->has_epoch && epoch != reader->epoch &&
                do_counters_restart(packets, counters))
                break;
            reader->has_epoch = true;
            reader->epoch = epoch;
        }
        reader->epochs_until = packets.at.offset;
    }
    return true;
}

/* Searches the rest of a file, which it opens again, for the first epoch packet. */
static ttr_status search_epoch_in_rest(struct input *in, struct source *source, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    struct window window;
    uint64_t offset = 0, need = HEPH_FRAME_SIZE;
    ttr_status status;
    while ((status = source_fill(source, offset, need, &window, error)) == TTR_OK &&
           window.n >= HEPH_FRAME_SIZE && !reader->has_epoch) {
        struct packet_iter packets = packet_iter_init(in, &window);
        const uint8_t *before = packets.at.p;
        while (packet_iter_next(&packets))
            if (!is_event_packet(&packets) &&
                heph_parse_epoch(packets.packet, packets.size, &reader->epoch)) {
                reader->has_epoch = true;
                reader->epochs_until = packets.at.offset;
                break;
            }
        offset = packets.at.offset;
        bool is_stuck = packets.at.p == before;
        if (is_stuck &&
            (window.at_end || !heph_is_valid_frame(before, reader->layout, reader->max_packet)))
            break;
        need = is_stuck ? heph_load_packet_size(before) : HEPH_FRAME_SIZE;
    }
    /* the reader reports any other error when it gets to these bytes itself */
    return status == TTR_E_NOMEM ? status : TTR_OK;
}

static ttr_status declare_clock(struct input *in, ttr_error *error)
{
    const struct heph_reader *reader = in->ctx;
    ttr_clock clock = {.name = "heph", .frequency = 1000000000u, .is_anchored = reader->has_epoch};
    clock.anchor_ns = reader->epoch > INT64_MAX ? INT64_MAX : (int64_t)reader->epoch;
    return input_add_clock(in, &clock) == SIZE_MAX ? fail_memory(error) : TTR_OK;
}

ttr_status heph_find_epoch(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    if (reader->is_epoch_given)
        return declare_clock(in, error);
    struct heph_counters counters;
    heph_counters_init(&counters, &in->base.t->counted);
    bool is_good = examine_packets_in_window(in, &counters);
    heph_counters_free(&counters);
    if (!is_good)
        return fail_memory(error);
    if (!reader->has_epoch && !in->window.at_end) {
        struct source *again = source_reopen(in->source);
        ttr_status status = again ? search_epoch_in_rest(in, again, error) : TTR_OK;
        source_close(again);
        if (status != TTR_OK)
            return status;
    }
    return declare_clock(in, error);
}

/* Loads the packets that do_counters_restart examines after the epoch packet at reader->offset: up
 * to the first event of a known stream. A pipe may not have delivered them yet. */
static ttr_status load_next_packets(struct input *in, ttr_error *error)
{
    const struct heph_reader *reader = in->ctx;
    uint64_t at = HEPH_EPOCH_PACKET;
    for (unsigned n = 0; n < RESTART_EVENTS; n++) {
        ttr_status status = heph_load_packet(in, at + HEPH_FRAME_SIZE, error);
        if (status != TTR_OK || in->window.n < at + HEPH_FRAME_SIZE)
            return status;
        const uint8_t *next = in->window.bytes + at;
        if (!heph_is_valid_frame(next, reader->layout, reader->max_packet) ||
            load_u32be(next) != HEPH_MAGIC_EVENT)
            return TTR_OK;
        const uint64_t size = heph_load_packet_size(next);
        if (at + size > HEPH_EPOCH_PACKET + RESTART_BYTES)
            return TTR_OK;
        status = heph_load_packet(in, at + size, error);
        if (status != TTR_OK || in->window.n < at + size ||
            heph_counters_find_stream(&reader->counters, load_u32be(in->window.bytes + at + 8)) !=
                UINT32_MAX)
            return status;
        at += size;
    }
    return TTR_OK;
}

static ttr_status use_epoch_of_loaded_packet(struct input *in, uint64_t epoch, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    reader->epoch = epoch;
    reader->has_epoch = true;
    return declare_clock(in, error);
}

ttr_status heph_use_epoch_of_packet(struct input *in, uint64_t epoch, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    if (reader->is_epoch_given || (reader->has_epoch && epoch == reader->epoch))
        return TTR_OK;
    if (reader->offset < reader->epochs_until) {
        input_add_diagnostic(
            in, TTR_SEVERITY_ODD, reader->offset, "heph.second-epoch",
            "the trace sets more than one epoch; expected one: the last holds for all of it");
        return TTR_OK;
    }
    ttr_status status = reader->has_epoch ? load_next_packets(in, error) : TTR_OK;
    if (status != TTR_OK)
        return status;
    struct packet_iter packets = packet_iter_init(in, &in->window);
    (void)cursor_skip(&packets.at, reader->offset - in->window.offset);
    (void)packet_iter_next(&packets);
    if (reader->has_epoch && do_counters_restart(packets, &reader->counters)) {
        input_add_diagnostic(
            in, TTR_SEVERITY_REMARK, reader->offset, "heph.next-trace",
            "another trace follows in the same input: its streams count from the beginning "
            "and it has an epoch of its own");
        reader->is_restart = true;
    } else {
        input_add_diagnostic(
            in, TTR_SEVERITY_ODD, reader->offset, "heph.late-epoch",
            "an epoch follows events that were read without it; it applies from here on");
    }
    return use_epoch_of_loaded_packet(in, epoch, error);
}
