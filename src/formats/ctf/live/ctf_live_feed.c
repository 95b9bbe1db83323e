/* From the client to the lanes: parses metadata into descriptions and decodes packets into events
 * (see ctf_live.h). */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/description/ctf_attributes.h"
#include "formats/ctf/live/ctf_live.h"

/* ms; longest time between two checks that counts as silence of a lane */
#define NOTICED_MS 200u
#define BATCHES_TOGETHER 8192u /* approximate limit of events at hand in all lanes */
#define SOURCES_KEPT 64u       /* source ids reserved for other inputs */

void live_note(struct live_reader *live, ttr_severity severity, const char *code,
               const char *format, ...)
{
    va_list values;
    va_start(values, format);
    notes_add(&live->notes, severity, &(ttr_region){.code = code}, format, values);
    va_end(values);
}

static bool is_strict(const struct live_reader *live)
{
    return live->options.flags & TTR_READ_STRICT;
}

/* Reports whether the client will bring no more data. */
static bool has_client_ended(const struct live_reader *live)
{
    return live->client.phase == LIVE_OVER || live->client.phase == LIVE_FAILED;
}

/* --- Traces --- */

static void forward_metadata_note(void *own, ttr_severity severity, uint64_t offset,
                                  const char *code, const char *text)
{
    (void)offset;
    live_note(own, severity, code, "%s", text);
}

static struct live_source *find_source_of_trace(struct live_reader *live, struct live_trace *trace)
{
    if (trace->own)
        return trace->own;
    ttr *t = live->base.t;
    struct live_source *source = alloc_zero(&t->counted, 1, sizeof *source);
    struct ctf_trace *ctf = source ? ctf_trace_new(t, NULL, NULL) : NULL;
    if (!ctf) {
        alloc_free(&t->counted, source, 1, sizeof *source);
        return NULL;
    }
    *source = (struct live_source){.trace = trace, .ctf = ctf};
    live_metadata_init(&source->metadata, &t->counted);
    ctf->class->description.note = forward_metadata_note;
    ctf->class->description.note_own = live;
    return trace->own = source;
}

void live_drop_source(struct live_reader *live, struct live_trace *trace)
{
    struct live_source *source = trace->own;
    if (!source)
        return;
    trace->own = NULL;
    live_metadata_free(&source->metadata);
    ctf_trace_release(source->ctf);
    alloc_free(&live->base.t->counted, source, 1, sizeof *source);
}

/* Handles invalid metadata. Before the first packet the trace is lost; later only the declarations
 * of that part are. */
static ttr_status reject_live_metadata(struct live_reader *live, struct live_source *source,
                                       const ttr_error *reason, ttr_error *error)
{
    if (reason->status == TTR_E_NOMEM || is_strict(live)) {
        *error = *reason;
        return reason->status;
    }
    live_note(live, source->is_ready ? TTR_NOTE_ODD : TTR_NOTE_DAMAGE, "live.metadata", "%s",
              reason->text);
    source->is_lost = !source->is_ready;
    return TTR_OK;
}

/* Makes a trace ready for decoding packets after all its metadata was received. */
static ttr_status make_source_ready(struct live_reader *live, struct live_source *source,
                                    ttr_error *error)
{
    const struct live_trace *trace = source->trace;
    ttr_error own = {0};
    if (source->metadata.has_text && (!trace->wants_metadata || has_client_ended(live))) {
        ttr_status status = ctf_trace_ready(source->ctf, &own);
        source->is_ready = status == TTR_OK;
        if (status == TTR_OK)
            ctf_find_quirks(source->ctf);
        return status == TTR_OK ? TTR_OK : reject_live_metadata(live, source, &own, error);
    }
    if (!source->metadata.has_text && (trace->is_closed || has_client_ended(live))) {
        source->is_lost = true;
        if (trace->streams)
            live_note(live, TTR_NOTE_DAMAGE, "live.no-metadata",
                      "the relay daemon has no metadata of a trace, whose events cannot be read");
    }
    return TTR_OK;
}

static ttr_status feed_source(struct live_reader *live, struct live_source *source,
                              ttr_error *error)
{
    struct live_trace *trace = source->trace;
    ttr_error own = {0};
    char name[512];
    /* Incomplete metadata may be invalid, and packets are decoded only when all metadata is
     * available. */
    bool is_all = !trace->wants_metadata || has_client_ended(live);
    if (!source->is_lost && is_all && trace->metadata.n > source->metadata.unpacked) {
        (void)snprintf(name, sizeof name, "%s, metadata", live->path);
        if (live_metadata_read(&source->metadata, source->ctf, trace->metadata.bytes,
                               trace->metadata.n, name, &own) != TTR_OK) {
            source->metadata.unpacked = trace->metadata.n;
            if (reject_live_metadata(live, source, &own, error) != TTR_OK)
                return error->status;
        }
    }
    if (trace->has_changed) {
        live_note(live, TTR_NOTE_ODD, "live.metadata-changed",
                  "the metadata is another one than before the connection was lost; what was known "
                  "is kept");
        trace->has_changed = false;
    }
    if (!source->is_ready && !source->is_lost)
        return make_source_ready(live, source, error);
    return TTR_OK;
}

/* Frees traces that have ended, and requests missing metadata again. */
static ttr_status feed_sources(struct live_reader *live, ttr_error *error)
{
    struct live_client *client = &live->client;
    for (size_t i = 0; i < client->traces_n; i++) {
        struct live_trace *trace = client->traces[i];
        if (trace->is_done && trace->streams == 0)
            continue;
        trace->is_done = false;
        struct live_source *source = find_source_of_trace(live, trace);
        if (!source)
            return fail_memory(error);
        ttr_status status = feed_source(live, source, error);
        if (status != TTR_OK)
            return status;
        if (trace->is_closed && trace->streams == 0) {
            live_drop_source(live, trace);
            trace->is_done = true;
        } else if (!source->metadata.has_text && !trace->wants_metadata && trace->streams) {
            trace->wants_metadata = true;
            trace->ask_at = client->now + client->poll_ms;
        }
    }
    return TTR_OK;
}

/* --- Lanes --- */

static bool is_lane_ordered(const struct live_lane *a, const struct live_lane *b)
{
    uint64_t trace_a = a->source->trace->id, trace_b = b->source->trace->id;
    if (trace_a != trace_b)
        return trace_a < trace_b;
    if (a->class_id != b->class_id)
        return a->class_id < b->class_id;
    return a->number != b->number ? a->number < b->number : a->stream->id < b->stream->id;
}

/* Moves lane i to its place in the order of lanes. */
static void sort_lane_into_place(struct live_reader *live, size_t i)
{
    struct live_lane **lanes = live->lanes, *lane = lanes[i];
    for (; i > 0 && is_lane_ordered(lane, lanes[i - 1]); i--)
        lanes[i] = lanes[i - 1];
    for (; i + 1 < live->lanes_n && is_lane_ordered(lanes[i + 1], lane); i++)
        lanes[i] = lanes[i + 1];
    lanes[i] = lane;
}

static size_t index_of_lane(const struct live_reader *live, const struct live_lane *lane)
{
    size_t i = 0;
    while (live->lanes[i] != lane)
        i++;
    return i;
}

static ttr_status open_lane(struct live_reader *live, struct live_stream *stream, ttr_error *error)
{
    const struct alloc *alloc = &live->base.t->counted;
    if (!alloc_reserve(alloc, (void **)&live->lanes, &live->lanes_capacity, live->lanes_n + 1,
                       sizeof *live->lanes) ||
        !alloc_reserve(alloc, (void **)&live->heap, &live->heap_capacity, live->lanes_n + 1,
                       sizeof *live->heap))
        return fail_memory(error);
    struct live_lane *lane = alloc_zero(alloc, 1, sizeof *lane);
    if (!lane)
        return fail_memory(error);
    *lane = (struct live_lane){.stream = stream,
                               .source = stream->trace->own,
                               .class_id = UINT64_MAX,
                               .number = stream->id,
                               .seen_ms = live->client.now};
    stream->own = lane;
    live->lanes[live->lanes_n++] = lane;
    sort_lane_into_place(live, live->lanes_n - 1);
    return TTR_OK;
}

/* Releases the first waiting packet. */
static void drop_waiting_packet(struct live_reader *live, struct live_lane *lane)
{
    struct live_waiting *first = &lane->waiting[lane->waiting_first];
    live->waiting_bytes -= first->bytes.n;
    buffer_free(&first->bytes);
    lane->waiting_first = (lane->waiting_first + 1) % lane->waiting_capacity;
    lane->waiting_n--;
}

void live_end_lane(struct live_reader *live, struct live_lane *lane)
{
    size_t i = index_of_lane(live, lane);
    if (lane->in) {
        live->events += lane->in->events_total;
        live->lost += lane->in->lost;
        live->lost_packets += lane->in->lost_packets;
        live->gaps += lane->in->gaps;
        live->packets += lane->in->packets;
        live->bytes += lane->fed;
        notes_join(&live->notes, &lane->in->notes);
        ttr_close(&lane->in->base);
    }
    while (lane->waiting_n)
        drop_waiting_packet(live, lane);
    alloc_free(&live->base.t->counted, lane->waiting, lane->waiting_capacity,
               sizeof *lane->waiting);
    lane->stream->own = NULL;
    lane->stream->is_done = true;
    live->lanes_n--;
    memmove(live->lanes + i, live->lanes + i + 1, (live->lanes_n - i) * sizeof *live->lanes);
    alloc_free(&live->base.t->counted, lane, 1, sizeof *lane);
}

/* --- Packets --- */

/* Converts a tick of a stream class to the common time line, including the user's time offset.
 * Returns false if the class is unknown. */
static bool tick_to_time(const struct live_reader *live, const struct live_lane *lane,
                         uint64_t class_id, uint64_t ticks, int64_t *time)
{
    struct ctf_trace *ctf = lane->source->ctf;
    const struct ctf_stream_class *class = ctf_find_stream(&ctf->class->description, class_id);
    const struct ctf_kind *kind = class ? ctf_kind_of(ctf, class, NULL) : NULL;
    bool is_clamped = false;
    if (!kind)
        return false;
    *time = clockmath_add(ctf_time(&kind->timeline, ticks, &is_clamped), live->options.time_offset,
                          &is_clamped);
    return true;
}

static void raise_lane_horizon(struct live_lane *lane, int64_t time)
{
    if (lane->has_horizon && lane->horizon >= time)
        return;
    lane->has_horizon = true;
    lane->horizon = time;
    lane->quiet_ms = 0;
}

/* Adds a path that represents the trace in reports, to its first input only. */
static bool add_trace_path(const struct live_lane *lane, const char *path)
{
    const struct input *in = lane->in;
    ttr_value folder = {.type = TTR_TYPE_TEXT, .text = {path, (size_t)(strrchr(path, '/') - path)}};
    return in->id != lane->source->ctf->thread_source ||
           context_add_attribute(in->base.t, in->id, "trace.path", &folder);
}

/* Opens the input of a lane when its first packet arrives. */
static ttr_status open_lane_input(struct live_reader *live, struct live_lane *lane,
                                  const struct ctf_frame *frame, ttr_error *error)
{
    char path[1024];
    ttr *t = live->base.t;
    struct live_stream *stream = lane->stream;
    const struct ctf_kind *kind = frame->code ? NULL : frame->kind;
    struct ctf_lane about = {.kind = kind,
                             .number = frame->number,
                             .has_number = frame->has_number,
                             .is_in_order = true};
    (void)snprintf(path, sizeof path, "%s/%s", live->path, stream->name);
    struct source *source = source_open_given(&t->counted, path, error);
    lane->in = source ? input_new(t, source, &format_ctf, path, &live->options, error) : NULL;
    if (!lane->in)
        return error->status;
    struct ctf_reader *reader = lane->in->own;
    ctf_trace_join(lane->source->ctf, lane->in, stream->name, stream->id);
    reader->is_in_order = true;
    reader->is_entered_late = live->client.options.seek == LIVE_SEEK_NOW ||
                              (frame->packet.has_sequence && frame->packet.sequence > 0);
    reader_crowd(&lane->in->base, BATCHES_TOGETHER / (uint32_t)live->lanes_n);
    reader_range(&lane->in->base, live->from, live->to);
    lane->number = frame->has_number ? frame->number : stream->id;
    lane->class_id = kind ? kind->class->id : stream->class_id;
    sort_lane_into_place(live, index_of_lane(live, lane));
    bool is_fine = ctf_add_attributes(lane->in, lane->source->ctf, &about, lane->number) &&
                   add_trace_path(lane, path);
    return is_fine ? TTR_OK : fail_memory(error);
}

/* Doubles the capacity of the ring buffer and moves the first packet to its start. */
static bool grow_packet_ring(struct live_reader *live, struct live_lane *lane)
{
    const struct alloc *alloc = &live->base.t->counted;
    size_t capacity = lane->waiting_capacity ? lane->waiting_capacity * 2 : 2;
    struct live_waiting *larger = alloc_zero(alloc, capacity, sizeof *larger);
    if (!larger)
        return false;
    for (size_t i = 0; i < lane->waiting_n; i++)
        larger[i] = lane->waiting[(lane->waiting_first + i) % lane->waiting_capacity];
    alloc_free(alloc, lane->waiting, lane->waiting_capacity, sizeof *lane->waiting);
    lane->waiting = larger;
    lane->waiting_first = 0;
    lane->waiting_capacity = capacity;
    return true;
}

/* Moves a complete packet from the client to the lane's queue if there is room. */
static ttr_status queue_received_packet(struct live_reader *live, struct live_lane *lane,
                                        ttr_error *error)
{
    struct live_stream *stream = lane->stream;
    if (!stream->is_whole ||
        (lane->waiting_n && live->waiting_bytes + stream->packet.n > LIVE_AHEAD_BYTES))
        return TTR_OK;
    if (lane->waiting_n == lane->waiting_capacity && !grow_packet_ring(live, lane))
        return fail_memory(error);
    struct live_waiting *last =
        &lane->waiting[(lane->waiting_first + lane->waiting_n++) % lane->waiting_capacity];
    *last = (struct live_waiting){stream->packet, stream->index};
    live->waiting_bytes += last->bytes.n;
    buffer_init(&stream->packet, &live->base.t->counted);
    live_client_took(stream);
    return TTR_OK;
}

/* Reports and drops a packet that cannot be decoded. */
static ttr_status reject_live_packet(struct live_reader *live, struct live_lane *lane,
                                     const char *why, ttr_error *error)
{
    uint64_t n = lane->waiting[lane->waiting_first].bytes.n;
    drop_waiting_packet(live, lane);
    if (is_strict(live))
        return fail(error, TTR_E_MALFORMED, lane->fed, "%s: a packet of %s: %s", live->path,
                    lane->stream->name, why);
    live_note(live, TTR_NOTE_DAMAGE, "live.bad-packet",
              "a packet of %s, %llu bytes, was skipped: %s", lane->stream->name,
              (unsigned long long)n, why);
    return TTR_OK;
}

/* Returns why a packet cannot be decoded; NULL if it can. Damage inside the packet is reported by
 * the input. */
static const char *find_packet_fault(const struct ctf_frame *frame, enum ctf_framing framing,
                                     uint64_t n)
{
    bool has_size = framing == CTF_FRAMED || framing == CTF_FRAME_FOREIGN;
    if (framing == CTF_FRAME_FAILED)
        return "its description cannot be used";
    if (has_size && frame->packet.size != UINT64_MAX && frame->packet.size != n * 8)
        return "its size differs from the size that the relay daemon reported";
    return NULL;
}

static ttr_status feed_next_packet(struct live_reader *live, struct live_lane *lane,
                                   ttr_error *error)
{
    const struct live_waiting *first = &lane->waiting[lane->waiting_first];
    const struct buffer *packet = &first->bytes;
    struct bits bits = bits_over(packet->bytes, 0, packet->n * 8);
    struct ctf_frame frame;
    int64_t time;
    ttr_error own = {0};
    memset(&frame, 0, sizeof frame);
    enum ctf_framing framing = ctf_frame_packet(lane->source->ctf, NULL, &bits, &frame, &own);
    if (own.status == TTR_E_NOMEM)
        return fail_memory(error);
    const char *fault = find_packet_fault(&frame, framing, packet->n);
    if (!lane->in && live->base.t->sources_n + SOURCES_KEPT > UINT16_MAX)
        fault = "there are too many streams";
    if (fault)
        return reject_live_packet(live, lane, fault, error);
    if (framing != CTF_FRAMED)
        frame = (struct ctf_frame){.code = "live"};
    if (!lane->in && open_lane_input(live, lane, &frame, error) != TTR_OK)
        return error->status;
    if (!source_give(lane->in->source, packet->bytes, packet->n))
        return fail_memory(error);
    struct ctf_reader *reader = lane->in->own;
    reader->next = lane->fed;
    lane->in->window.at_end = false;
    lane->in->pending = lane->in->base.stuck = TTR_OK;
    lane->fed += packet->n;
    lane->quiet_ms = 0;
    lane->was_idle = false;
    if (framing == CTF_FRAMED &&
        tick_to_time(live, lane, frame.kind->class->id,
                     frame.packet.has_end ? frame.packet.end : first->index.end, &time))
        raise_lane_horizon(lane, time);
    drop_waiting_packet(live, lane);
    return TTR_OK;
}

/* --- Filling lanes --- */

/* Reads the next events of the current packet; an empty batch if there are no more. */
static ttr_status read_lane_batch(struct live_lane *lane, ttr_error *error)
{
    lane->at = 0;
    lane->batch = (ttr_batch){.n = 0};
    if (!lane->in || lane->in->base.stuck == TTR_END)
        return TTR_OK;
    ttr_status status = ttr_read(&lane->in->base, &lane->batch, error);
    return status == TTR_END ? TTR_OK : status;
}

/* Appends a gap after the last event of a stream that is gone. */
static void append_gap_event(struct live_reader *live, struct live_lane *lane)
{
    lane->gap = (ttr_event){.kind = TTR_KIND_GAP,
                            .tag = TTR_GAP_PACKETS,
                            .source = lane->in ? lane->in->id : live->id,
                            .time = lane->has_horizon                   ? lane->horizon
                                    : live->returned_until == INT64_MIN ? 0
                                                                        : live->returned_until};
    lane->batch = (ttr_batch){.event = &lane->gap, .n = 1};
    lane->at = 0;
    live->gaps++;
    live_note(live, TTR_NOTE_ODD, "live.stream-gone",
              "%s is gone; its remaining events are unknown", lane->stream->name);
}

/* Updates silence and horizon of a lane without events. Silence counts from an answer "no data" to
 * the next request; the duration of an answer is not the stream's. */
static void update_idle_lane(struct live_reader *live, struct live_lane *lane)
{
    const struct live_stream *stream = lane->stream;
    uint64_t now = live->client.now, passed = now - lane->seen_ms;
    int64_t time;
    bool is_new = stream->has_beacon && (stream->beacon > lane->beacon || !lane->has_horizon);
    if (is_new && lane->source->is_ready &&
        tick_to_time(live, lane, stream->class_id, stream->beacon, &time)) {
        lane->beacon = stream->beacon;
        raise_lane_horizon(lane, time);
    }
    bool is_idle = live->client.phase == LIVE_RUNNING && !stream->is_asked;
    if (lane->was_idle)
        lane->quiet_ms += passed < NOTICED_MS ? passed : NOTICED_MS;
    lane->was_idle = is_idle;
    lane->seen_ms = now;
}

/* Closes a lane after its stream has ended and all its events were returned. */
static bool close_ended_lane(struct live_reader *live, struct live_lane *lane)
{
    const struct live_stream *stream = lane->stream;
    if (!stream->is_over || stream->is_whole || lane->waiting_n)
        return false;
    if (stream->is_gone && !lane->is_ending) {
        lane->is_ending = true;
        append_gap_event(live, lane);
        return true;
    }
    live_end_lane(live, lane);
    return true;
}

static ttr_status fill_lane(struct live_reader *live, struct live_lane *lane, ttr_error *error)
{
    const struct live_source *source = lane->source;
    for (;;) {
        ttr_status status = lane->is_ending ? TTR_OK : read_lane_batch(lane, error);
        if (status != TTR_OK || (lane->batch.n && !lane->is_ending))
            return status;
        if (lane->waiting_n == 0)
            break;
        if (source->is_lost)
            status = reject_live_packet(live, lane, "it has no metadata", error);
        else if (source->is_ready && (!source->trace->wants_metadata || has_client_ended(live)))
            status = feed_next_packet(live, lane, error);
        else
            break;
        if (status != TTR_OK)
            return status;
    }
    if (!close_ended_lane(live, lane))
        update_idle_lane(live, lane);
    return TTR_OK;
}

ttr_status live_feed(struct live_reader *live, ttr_error *error)
{
    struct live_client *client = &live->client;
    ttr_status status = feed_sources(live, error);
    for (size_t i = 0; status == TTR_OK && i < client->streams_n; i++)
        if (!client->streams[i]->own && !client->streams[i]->is_done)
            status = open_lane(live, client->streams[i], error);
    for (size_t i = 0; status == TTR_OK && i < live->lanes_n; i++)
        status = queue_received_packet(live, live->lanes[i], error);
    for (size_t i = live->lanes_n; status == TTR_OK && i-- > 0;)
        if (live->lanes[i]->at == live->lanes[i]->batch.n)
            status = fill_lane(live, live->lanes[i], error);
    return status;
}
