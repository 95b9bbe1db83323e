/* The Heph reader (specification: "Trace Format"). Consecutive valid packets are read into a batch.
 * All other packets are handled between batches, when the window may move.
 *
 * Lost events are known only at the end of the trace, because packets are in the order of the ends
 * of their events. Then one gap event per stream is emitted, and notes on late and duplicate
 * events. */
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "formats/heph/heph.h"
#include "formats/heph/heph_attributes.h"

/* Number of bytes at the start of a file that are examined to find its layout and epoch. */
#define OPEN_BYTES 65536u

/* Loads the bytes that determine the layout and the epoch. For a pipe, these are the packets up to
 * the first event, because the next packet may arrive late. */
static ttr_status load_first_packets(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    uint64_t need = reader->is_pipe ? HEPH_FRAME_SIZE : OPEN_BYTES;
    ttr_status status;
    do {
        status = heph_load_packet(in, need, error);
        reader->probe_bytes = in->window.n;
        if (status != TTR_OK || !reader->is_pipe)
            return status;
        const bool is_at_end = in->window.n < need;
        struct window start = in->window;
        start.n = start.n < OPEN_BYTES ? start.n : OPEN_BYTES;
        need = heph_find_probe_end(&start, reader->max_packet, &reader->probe_bytes);
        if (is_at_end)
            return TTR_OK;
    } while (need > in->window.n && need <= OPEN_BYTES);
    return TTR_OK;
}

static ttr_status read_options(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    const char *epoch = input_get_option(in, "epoch"), *layout = input_get_option(in, "layout");
    reader->is_epoch_given = reader->has_epoch = epoch != NULL;
    if (epoch && !number_parse_u64(epoch, strlen(epoch), &reader->epoch))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "epoch=%s: expected nanoseconds since 1970, such as epoch=1610113734118010000",
                    epoch);
    struct window probe = in->window;
    probe.n = reader->probe_bytes;
    reader->layout = heph_find_layout(layout ? layout : "auto", &probe, reader->max_packet);
    if (!reader->layout)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "layout=%s: expected auto, 0.1 or pre-substream", layout);
    if (!reader->layout->substream && !layout)
        input_add_diagnostic(
            in, TTR_SEVERITY_REMARK, 0, "heph.old-layout",
            "the events have no substream: read by the layout of before March 2021 "
            "(layout=0.1 reads them by today's)");
    return TTR_OK;
}

ttr_status heph_open(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    ttr *t = in->base.t;
    heph_counters_init(&reader->counters, &t->counted);
    in->version = "0.1.0";
    reader->max_packet = in->max_record < UINT32_MAX ? in->max_record : UINT32_MAX;
    if (in->max_record == UINT32_MAX)
        reader->max_packet = HEPH_PACKET_MAX_DEFAULT;
    reader->schema = context_add_schema(
        t, &(struct schema){.ops = &heph_field_ops, .ctx = in, .format = &format_heph});
    reader->nested = context_add_schema(
        t, &(struct schema){.ops = &heph_nested_ops, .ctx = in, .format = &format_heph});
    if (!reader->schema || !reader->nested)
        return fail_memory(error);
    reader->is_pipe = !source_is_seekable(in->source) && source_disk_size(in->source) == 0;
    ttr_status status = load_first_packets(in, error);
    if (status == TTR_OK)
        status = read_options(in, error);
    return status == TTR_OK ? heph_find_epoch(in, error) : status;
}

void heph_close(struct input *in)
{
    struct heph_reader *reader = in->ctx;
    context_drop_schema(in->base.t, reader->schema);
    context_drop_schema(in->base.t, reader->nested);
    heph_counters_free(&reader->counters);
}

/* Reads valid event packets until the batch is full, or the next packet is incomplete, invalid or
 * not an event. */
static void read_consecutive_events(struct input *in)
{
    struct heph_reader *reader = in->ctx;
    struct cursor c = cursor_init(in->window.bytes, in->window.n, in->window.offset);
    if (!cursor_skip(&c, reader->offset - c.offset))
        return;
    uint32_t header = reader->layout->header;
    while (in->n < in->batch && cursor_left(&c) >= header) {
        uint32_t size = load_u32be(c.p + 4);
        if (load_u32be(c.p) != HEPH_MAGIC_EVENT || size < header || size > cursor_left(&c) ||
            size > reader->max_packet)
            break;
        if (!heph_is_valid_event(c.p, size, header) ||
            !heph_add_event(in, c.p, size, reader->schema))
            break;
        (void)cursor_skip(&c, size);
    }
    reader->offset = c.offset;
}

static ttr_status read_metadata(struct input *in, const uint8_t *packet, uint32_t size,
                                ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    uint64_t epoch;
    struct cursor c = cursor_init(packet, size, reader->offset);
    (void)cursor_skip(&c, HEPH_FRAME_SIZE);
    struct cursor option = cursor_slice(&c, cursor_u16be(&c));
    size_t n = cursor_left(&option);
    uint32_t name = intern_add(&in->base.t->strings, option.p, n);
    if (name == UINT32_MAX)
        return fail_memory(error);
    bool is_known;
    ttr_status status =
        heph_use_receiver_option(in, (ttr_text){(const char *)option.p, n}, c, &is_known, error);
    if (status != TTR_OK)
        return status;
    if (heph_parse_epoch(packet, size, &epoch))
        status = heph_use_epoch_of_packet(in, epoch, error); /* this may move bytes in memory */
    else if (n == 5 && memcmp(option.p, "epoch", 5) == 0)
        input_add_diagnostic(in, TTR_SEVERITY_ODD, reader->offset, "heph.bad-epoch",
                             "the epoch has %zu bytes, expected 8; it is not used",
                             cursor_left(&c));
    else if (!is_known)
        input_add_diagnostic(
            in, TTR_SEVERITY_REMARK, reader->offset, "heph.unknown-option",
            "the option \"%.*s\" is none of format 0.1.0; its %zu bytes are passed over",
            (int)(n < 64 ? n : 64), (const char *)option.p, cursor_left(&c));
    if (status != TTR_OK || reader->is_restart)
        return status;
    heph_emit_definition(in, in->window.bytes, size, name);
    reader->offset += size;
    return TTR_OK;
}

/* Reads a complete packet that is an event with nested arrays, or is not a valid event. */
static ttr_status read_unusual_packet(struct input *in, const uint8_t *packet, uint32_t size,
                                      ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    bool is_exact = heph_is_valid_packet(packet, size, reader->layout);
    if (load_u32be(packet) == HEPH_MAGIC_METADATA)
        return is_exact ? read_metadata(in, packet, size, error) : heph_recover_packet(in, error);
    if (is_exact)
        /* read_consecutive_events stopped because the packet was incomplete in memory */
        return TTR_OK;
    if (!heph_is_valid_nested_packet(packet, size, reader->layout))
        return heph_recover_packet(in, error);
    input_add_diagnostic(
        in, TTR_SEVERITY_ODD, reader->offset, "heph.nested-array",
        "an array of arrays, which the format does not have; read with a count for each row");
    if (!heph_add_event(in, packet, size, reader->nested))
        return fail_memory(error);
    reader->offset += size;
    return TTR_OK;
}

struct counted {
    uint64_t lost, strays, late, duplicates, restarts;
    bool is_used;
};

static struct counted count_lost_and_late_events(const struct heph_counters *counters)
{
    struct counted sum = {.is_used = counters->any != 0};
    for (size_t i = 0; i < counters->n; i++) {
        const struct heph_stream *stream = &counters->streams[i];
        uint64_t strays;
        sum.lost += heph_count_lost_events(stream, &strays);
        sum.strays += strays;
        sum.late += stream->late;
        sum.restarts += stream->restarts;
        /* The counters of a second writer start at 0, so duplicates after a restart are not an
         * error. */
        sum.duplicates += stream->restarts ? 0 : stream->duplicates;
    }
    return sum;
}

static void report_lost_packets(struct input *in)
{
    const struct heph_reader *reader = in->ctx;
    struct counted sum = count_lost_and_late_events(&reader->counters);
    if (!sum.is_used && reader->events > 1)
        input_add_diagnostic(in, TTR_SEVERITY_REMARK, NO_OFFSET, "heph.no-counters",
                             "all event counters are 0: losses cannot be seen");
    if (!sum.is_used)
        return;
    if (sum.late)
        input_add_diagnostic(in, TTR_SEVERITY_REMARK, NO_OFFSET, "heph.reordered",
                             "%llu events come after later ones of their stream",
                             (unsigned long long)sum.late);
    if (sum.restarts)
        input_add_diagnostic(
            in, TTR_SEVERITY_REMARK, NO_OFFSET, "heph.second-writer",
            "a stream counts from 0 again while it goes on: it has more than one writer "
            "(%llu restarts)",
            (unsigned long long)sum.restarts);
    if (sum.duplicates)
        input_add_diagnostic(
            in, TTR_SEVERITY_ODD, NO_OFFSET, "heph.duplicate",
            "%llu event counters are there twice: events were copied or counted wrong",
            (unsigned long long)sum.duplicates);
    if (sum.strays)
        input_add_diagnostic(in, TTR_SEVERITY_ODD, NO_OFFSET, "heph.stray-counter",
                             "%llu event counters are far from all others of their stream",
                             (unsigned long long)sum.strays);
}

/* Adds a gap event for each stream that has lost events. */
static void emit_gap_events(struct input *in)
{
    struct heph_reader *reader = in->ctx;
    if (!reader->are_notes_emitted)
        report_lost_packets(in);
    reader->are_notes_emitted = true;
    while (in->n < in->batch && reader->gaps_emitted < reader->counters.n && reader->counters.any) {
        const struct heph_stream *stream = &reader->counters.streams[reader->gaps_emitted++];
        uint64_t strays, lost = heph_count_lost_events(stream, &strays);
        if (lost == 0)
            continue;
        ttr_event *event = input_add_event(in);
        event->kind = TTR_KIND_GAP;
        event->flags = TTR_EVENT_NO_TIME;
        event->time = reader->time;
        event->track = stream->track;
        event->link = lost;
        event->offset = reader->offset;
    }
}

/* Clears the counters, because another trace starts at reader->offset. */
static ttr_status begin_concatenated_trace(struct input *in)
{
    struct heph_reader *reader = in->ctx;
    emit_gap_events(in);
    if (in->n)
        return TTR_OK;
    heph_counters_clear(&reader->counters);
    reader->gaps_emitted = 0;
    reader->events = 0;
    reader->are_notes_emitted = reader->is_restart = false;
    return TTR_OK;
}

/* Continues after read_consecutive_events stopped: at the end of the bytes in memory or of the
 * input, at metadata, or at damage. The batch must be empty. */
static ttr_status continue_after_read_stop(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    if (reader->is_restart)
        return begin_concatenated_trace(in);
    if (reader->offset < reader->zeros_until) {
        heph_skip_zeros(in);
        return TTR_OK;
    }
    if (reader->is_lost)
        return heph_search_packet(in, error);
    ttr_status status = heph_load_packet(in, HEPH_FRAME_SIZE, error);
    if (status != TTR_OK)
        return status;
    if (in->window.n == 0) {
        emit_gap_events(in);
        return in->n ? TTR_OK : TTR_END;
    }
    if (in->window.n < HEPH_FRAME_SIZE ||
        !heph_is_valid_frame(in->window.bytes, reader->layout, reader->max_packet))
        return heph_recover_packet(in, error);
    uint32_t size = heph_load_packet_size(in->window.bytes);
    if (size > in->window.n) {
        status = heph_load_packet(in, size, error);
        if (status != TTR_OK)
            return status;
    }
    return size > in->window.n ? heph_recover_packet(in, error)
                               : read_unusual_packet(in, in->window.bytes, size, error);
}

ttr_status heph_read_batch(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    ttr_status status = TTR_OK;
    while (in->n == 0 && status == TTR_OK) {
        if (!reader->is_lost && !reader->is_restart)
            read_consecutive_events(in);
        if (reader->is_out_of_memory)
            return fail_memory(error);
        if (in->n == 0)
            status = continue_after_read_stop(in, error);
    }
    return status;
}
