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
    diagnostics_add(&live->notes, severity, &(ttr_region){.code = code}, format, values);
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

static void forward_metadata_note(void *ctx, ttr_severity severity, uint64_t offset,
                                  const char *code, const char *text)
{
    (void)offset;
    live_note(ctx, severity, code, "%s", text);
}

static struct live_source *find_source_of_trace(struct live_reader *live, struct live_trace *trace)
{
    if (trace->ctx)
        return trace->ctx;
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
    ctf->class->description.note_ctx = live;
    return trace->ctx = source;
}

void live_free_source(struct live_reader *live, struct live_trace *trace)
{
    struct live_source *source = trace->ctx;
    if (!source)
        return;
    trace->ctx = NULL;
    live_metadata_free(&source->metadata);
    ctf_trace_unref(source->ctf);
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
    live_note(live, source->is_ready ? TTR_SEVERITY_ODD : TTR_SEVERITY_DAMAGE, "live.metadata",
              "%s", reason->text);
    source->is_lost = !source->is_ready;
    return TTR_OK;
}

/* Makes a trace ready for decoding packets after all its metadata was received. */
static ttr_status make_source_ready(struct live_reader *live, struct live_source *source,
                                    ttr_error *error)
{
    const struct live_trace *trace = source->trace;
    ttr_error ctx = {0};
    if (source->metadata.has_text && (!trace->wants_metadata || has_client_ended(live))) {
        ttr_status status = ctf_trace_compile(source->ctf, &ctx);
        source->is_ready = status == TTR_OK;
        if (status == TTR_OK)
            ctf_detect_tracer_quirks(source->ctf);
        return status == TTR_OK ? TTR_OK : reject_live_metadata(live, source, &ctx, error);
    }
    if (!source->metadata.has_text && (trace->is_closed || has_client_ended(live))) {
        source->is_lost = true;
        if (trace->streams)
            live_note(live, TTR_SEVERITY_DAMAGE, "live.no-metadata",
                      "the relay daemon has no metadata of a trace, whose events cannot be read");
    }
    return TTR_OK;
}

static ttr_status feed_source(struct live_reader *live, struct live_source *source,
                              ttr_error *error)
{
    struct live_trace *trace = source->trace;
    ttr_error ctx = {0};
    char name[512];
    /* Incomplete metadata may be invalid, and packets are decoded only when all metadata is
     * available. */
    bool is_all = !trace->wants_metadata || has_client_ended(live);
    if (!source->is_lost && is_all && trace->metadata.n > source->metadata.unpacked) {
        (void)snprintf(name, sizeof name, "%s, metadata", live->path);
        if (live_metadata_read(&source->metadata, source->ctf, trace->metadata.bytes,
                               trace->metadata.n, name, &ctx) != TTR_OK) {
            source->metadata.unpacked = trace->metadata.n;
            if (reject_live_metadata(live, source, &ctx, error) != TTR_OK)
                return error->status;
        }
    }
    if (trace->has_changed) {
        live_note(live, TTR_SEVERITY_ODD, "live.metadata-changed",
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
            live_free_source(live, trace);
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
    struct live_lane **file_index = live->file_index, *queue = file_index[i];
    for (; i > 0 && is_lane_ordered(queue, file_index[i - 1]); i--)
        file_index[i] = file_index[i - 1];
    for (; i + 1 < live->lanes_n && is_lane_ordered(file_index[i + 1], queue); i++)
        file_index[i] = file_index[i + 1];
    file_index[i] = queue;
}

static size_t index_of_lane(const struct live_reader *live, const struct live_lane *queue)
{
    size_t i = 0;
    while (live->file_index[i] != queue)
        i++;
    return i;
}

static ttr_status open_lane(struct live_reader *live, struct live_stream *stream, ttr_error *error)
{
    const struct alloc *alloc = &live->base.t->counted;
    if (!alloc_reserve(alloc, (void **)&live->file_index, &live->lanes_capacity, live->lanes_n + 1,
                       sizeof *live->file_index) ||
        !alloc_reserve(alloc, (void **)&live->heap, &live->heap_capacity, live->lanes_n + 1,
                       sizeof *live->heap))
        return fail_memory(error);
    struct live_lane *queue = alloc_zero(alloc, 1, sizeof *queue);
    if (!queue)
        return fail_memory(error);
    *queue = (struct live_lane){.stream = stream,
                                .source = stream->trace->ctx,
                                .class_id = UINT64_MAX,
                                .number = stream->id,
                                .seen_ms = live->client.now};
    stream->ctx = queue;
    live->file_index[live->lanes_n++] = queue;
    sort_lane_into_place(live, live->lanes_n - 1);
    return TTR_OK;
}

/* Releases the first waiting packet. */
static void drop_waiting_packet(struct live_reader *live, struct live_lane *queue)
{
    struct live_waiting *first = &queue->waiting[queue->waiting_first];
    live->waiting_bytes -= first->bytes.n;
    buffer_free(&first->bytes);
    queue->waiting_first = (queue->waiting_first + 1) % queue->waiting_capacity;
    queue->waiting_n--;
}

void live_close_lane(struct live_reader *live, struct live_lane *queue)
{
    size_t i = index_of_lane(live, queue);
    if (queue->in) {
        live->events += queue->in->events_total;
        live->lost += queue->in->lost;
        live->lost_packets += queue->in->lost_packets;
        live->gaps += queue->in->gaps;
        live->packets += queue->in->packets;
        live->bytes += queue->fed;
        diagnostics_merge(&live->notes, &queue->in->notes);
        ttr_close(&queue->in->base);
    }
    while (queue->waiting_n)
        drop_waiting_packet(live, queue);
    alloc_free(&live->base.t->counted, queue->waiting, queue->waiting_capacity,
               sizeof *queue->waiting);
    queue->stream->ctx = NULL;
    queue->stream->is_done = true;
    live->lanes_n--;
    memmove(live->file_index + i, live->file_index + i + 1,
            (live->lanes_n - i) * sizeof *live->file_index);
    alloc_free(&live->base.t->counted, queue, 1, sizeof *queue);
}

/* --- Packets --- */

/* Converts a tick of a stream class to the common time line, including the user's time offset.
 * Returns false if the class is unknown. */
static bool tick_to_time(const struct live_reader *live, const struct live_lane *queue,
                         uint64_t class_id, uint64_t ticks, int64_t *time)
{
    struct ctf_trace *ctf = queue->source->ctf;
    const struct ctf_stream_class *class = ctf_find_stream(&ctf->class->description, class_id);
    const struct ctf_stream_decoder *kind = class ? ctf_get_stream_decoder(ctf, class, NULL) : NULL;
    bool is_clamped = false;
    if (!kind)
        return false;
    *time = add_saturated(ctf_ticks_to_ns(&kind->timeline, ticks, &is_clamped),
                          live->options.time_offset, &is_clamped);
    return true;
}

static void raise_lane_horizon(struct live_lane *queue, int64_t time)
{
    if (queue->has_horizon && queue->horizon >= time)
        return;
    queue->has_horizon = true;
    queue->horizon = time;
    queue->quiet_ms = 0;
}

/* Adds a path that represents the trace in reports, to its first input only. */
static bool add_trace_path(const struct live_lane *queue, const char *path)
{
    const struct input *in = queue->in;
    ttr_value folder = {.type = TTR_TYPE_TEXT, .text = {path, (size_t)(strrchr(path, '/') - path)}};
    return in->id != queue->source->ctf->thread_source ||
           context_add_attribute(in->base.t, in->id, "trace.path", &folder);
}

/* Opens the input of a lane when its first packet arrives. */
static ttr_status open_lane_input(struct live_reader *live, struct live_lane *queue,
                                  const struct ctf_frame *frame, ttr_error *error)
{
    char path[1024];
    ttr *t = live->base.t;
    struct live_stream *stream = queue->stream;
    const struct ctf_stream_decoder *kind = frame->code ? NULL : frame->kind;
    struct ctf_packet_queue about = {.kind = kind,
                                     .number = frame->number,
                                     .has_number = frame->has_number,
                                     .is_in_order = true};
    (void)snprintf(path, sizeof path, "%s/%s", live->path, stream->name);
    struct source *source = source_open_appendable(&t->counted, path, error);
    queue->in = source ? input_new(t, source, &format_ctf, path, &live->options, error) : NULL;
    if (!queue->in)
        return error->status;
    struct ctf_reader *reader = queue->in->ctx;
    ctf_trace_add_input(queue->source->ctf, queue->in, stream->name, stream->id);
    reader->is_in_order = true;
    reader->is_entered_late = live->client.options.seek == LIVE_SEEK_NOW ||
                              (frame->packet.has_sequence && frame->packet.sequence > 0);
    reader_set_batch_size(&queue->in->base, BATCHES_TOGETHER / (uint32_t)live->lanes_n);
    reader_set_range(&queue->in->base, live->from, live->to);
    queue->number = frame->has_number ? frame->number : stream->id;
    queue->class_id = kind ? kind->class->id : stream->class_id;
    sort_lane_into_place(live, index_of_lane(live, queue));
    bool is_fine =
        ctf_add_stream_attributes(queue->in, queue->source->ctf, &about, queue->number) &&
        add_trace_path(queue, path);
    return is_fine ? TTR_OK : fail_memory(error);
}

/* Doubles the capacity of the ring buffer and moves the first packet to its start. */
static bool grow_packet_ring(struct live_reader *live, struct live_lane *queue)
{
    const struct alloc *alloc = &live->base.t->counted;
    size_t capacity = queue->waiting_capacity ? queue->waiting_capacity * 2 : 2;
    struct live_waiting *larger = alloc_zero(alloc, capacity, sizeof *larger);
    if (!larger)
        return false;
    for (size_t i = 0; i < queue->waiting_n; i++)
        larger[i] = queue->waiting[(queue->waiting_first + i) % queue->waiting_capacity];
    alloc_free(alloc, queue->waiting, queue->waiting_capacity, sizeof *queue->waiting);
    queue->waiting = larger;
    queue->waiting_first = 0;
    queue->waiting_capacity = capacity;
    return true;
}

/* Moves a complete packet from the client to the lane's queue if there is room. */
static ttr_status queue_received_packet(struct live_reader *live, struct live_lane *queue,
                                        ttr_error *error)
{
    struct live_stream *stream = queue->stream;
    if (!stream->is_whole ||
        (queue->waiting_n && live->waiting_bytes + stream->packet.n > LIVE_AHEAD_BYTES))
        return TTR_OK;
    if (queue->waiting_n == queue->waiting_capacity && !grow_packet_ring(live, queue))
        return fail_memory(error);
    struct live_waiting *last =
        &queue->waiting[(queue->waiting_first + queue->waiting_n++) % queue->waiting_capacity];
    *last = (struct live_waiting){stream->packet, stream->index};
    live->waiting_bytes += last->bytes.n;
    buffer_init(&stream->packet, &live->base.t->counted);
    live_client_release_packet(stream);
    return TTR_OK;
}

/* Reports and drops a packet that cannot be decoded. */
static ttr_status reject_live_packet(struct live_reader *live, struct live_lane *queue,
                                     const char *why, ttr_error *error)
{
    uint64_t n = queue->waiting[queue->waiting_first].bytes.n;
    drop_waiting_packet(live, queue);
    if (is_strict(live))
        return fail(error, TTR_E_MALFORMED, queue->fed, "%s: a packet of %s: %s", live->path,
                    queue->stream->name, why);
    live_note(live, TTR_SEVERITY_DAMAGE, "live.bad-packet",
              "a packet of %s, %llu bytes, was passed over: %s", queue->stream->name,
              (unsigned long long)n, why);
    return TTR_OK;
}

/* Returns why a packet cannot be decoded; NULL if it can. Damage inside the packet is reported by
 * the input. */
static const char *find_packet_fault(const struct ctf_frame *frame, enum ctf_framing framing,
                                     uint64_t n)
{
    bool has_size = framing == CTF_FRAME_OK || framing == CTF_FRAME_FOREIGN;
    if (framing == CTF_FRAME_FAILED)
        return "its description cannot be used";
    if (has_size && frame->packet.size != UINT64_MAX && frame->packet.size != n * 8)
        return "it says another size than the relay daemon did";
    return NULL;
}

static ttr_status feed_next_packet(struct live_reader *live, struct live_lane *queue,
                                   ttr_error *error)
{
    const struct live_waiting *first = &queue->waiting[queue->waiting_first];
    const struct buffer *packet = &first->bytes;
    struct bits bits = bits_init(packet->bytes, 0, packet->n * 8);
    struct ctf_frame frame;
    int64_t time;
    ttr_error ctx = {0};
    memset(&frame, 0, sizeof frame);
    enum ctf_framing framing = ctf_frame_packet(queue->source->ctf, NULL, &bits, &frame, &ctx);
    if (ctx.status == TTR_E_NOMEM)
        return fail_memory(error);
    const char *fault = find_packet_fault(&frame, framing, packet->n);
    if (!queue->in && live->base.t->sources_n + SOURCES_KEPT > UINT16_MAX)
        fault = "there were more streams than can be told apart";
    if (fault)
        return reject_live_packet(live, queue, fault, error);
    if (framing != CTF_FRAME_OK)
        frame = (struct ctf_frame){.code = "live"};
    if (!queue->in && open_lane_input(live, queue, &frame, error) != TTR_OK)
        return error->status;
    if (!source_append(queue->in->source, packet->bytes, packet->n))
        return fail_memory(error);
    struct ctf_reader *reader = queue->in->ctx;
    reader->next = queue->fed;
    queue->in->window.at_end = false;
    queue->in->pending = queue->in->base.stuck = TTR_OK;
    queue->fed += packet->n;
    queue->quiet_ms = 0;
    queue->was_idle = false;
    if (framing == CTF_FRAME_OK &&
        tick_to_time(live, queue, frame.kind->class->id,
                     frame.packet.has_end ? frame.packet.end : first->index.end, &time))
        raise_lane_horizon(queue, time);
    drop_waiting_packet(live, queue);
    return TTR_OK;
}

/* --- Filling lanes --- */

/* Reads the next events of the current packet; an empty batch if there are no more. */
static ttr_status read_lane_batch(struct live_lane *queue, ttr_error *error)
{
    queue->at = 0;
    queue->batch = (ttr_batch){.n = 0};
    if (!queue->in || queue->in->base.stuck == TTR_END)
        return TTR_OK;
    ttr_status status = ttr_read(&queue->in->base, &queue->batch, error);
    return status == TTR_END ? TTR_OK : status;
}

/* Appends a gap after the last event of a stream that is gone. */
static void append_gap_event(struct live_reader *live, struct live_lane *queue)
{
    queue->gap = (ttr_event){.kind = TTR_KIND_GAP,
                             .tag = TTR_GAP_PACKETS,
                             .source = queue->in ? queue->in->id : live->id,
                             .time = queue->has_horizon                  ? queue->horizon
                                     : live->returned_until == INT64_MIN ? 0
                                                                         : live->returned_until};
    queue->batch = (ttr_batch){.event = &queue->gap, .n = 1};
    queue->at = 0;
    live->gaps++;
    live_note(live, TTR_SEVERITY_ODD, "live.stream-gone",
              "%s is no longer there; what it had more is not known", queue->stream->name);
}

/* Updates silence and horizon of a lane without events. Silence counts from an answer "no data" to
 * the next request; the duration of an answer is not the stream's. */
static void update_idle_lane(struct live_reader *live, struct live_lane *queue)
{
    const struct live_stream *stream = queue->stream;
    uint64_t now = live->client.now, passed = now - queue->seen_ms;
    int64_t time;
    bool is_new = stream->has_beacon && (stream->beacon > queue->beacon || !queue->has_horizon);
    if (is_new && queue->source->is_ready &&
        tick_to_time(live, queue, stream->class_id, stream->beacon, &time)) {
        queue->beacon = stream->beacon;
        raise_lane_horizon(queue, time);
    }
    bool is_idle = live->client.phase == LIVE_RUNNING && !stream->is_asked;
    if (queue->was_idle)
        queue->quiet_ms += passed < NOTICED_MS ? passed : NOTICED_MS;
    queue->was_idle = is_idle;
    queue->seen_ms = now;
}

/* Closes a lane after its stream has ended and all its events were returned. */
static bool close_ended_lane(struct live_reader *live, struct live_lane *queue)
{
    const struct live_stream *stream = queue->stream;
    if (!stream->is_over || stream->is_whole || queue->waiting_n)
        return false;
    if (stream->is_gone && !queue->is_ending) {
        queue->is_ending = true;
        append_gap_event(live, queue);
        return true;
    }
    live_close_lane(live, queue);
    return true;
}

static ttr_status fill_lane(struct live_reader *live, struct live_lane *queue, ttr_error *error)
{
    const struct live_source *source = queue->source;
    for (;;) {
        ttr_status status = queue->is_ending ? TTR_OK : read_lane_batch(queue, error);
        if (status != TTR_OK || (queue->batch.n && !queue->is_ending))
            return status;
        if (queue->waiting_n == 0)
            break;
        if (source->is_lost)
            status = reject_live_packet(live, queue, "there is no metadata to read it by", error);
        else if (source->is_ready && (!source->trace->wants_metadata || has_client_ended(live)))
            status = feed_next_packet(live, queue, error);
        else
            break;
        if (status != TTR_OK)
            return status;
    }
    if (!close_ended_lane(live, queue))
        update_idle_lane(live, queue);
    return TTR_OK;
}

ttr_status live_feed_lanes(struct live_reader *live, ttr_error *error)
{
    struct live_client *client = &live->client;
    ttr_status status = feed_sources(live, error);
    for (size_t i = 0; status == TTR_OK && i < client->streams_n; i++)
        if (!client->streams[i]->ctx && !client->streams[i]->is_done)
            status = open_lane(live, client->streams[i], error);
    for (size_t i = 0; status == TTR_OK && i < live->lanes_n; i++)
        status = queue_received_packet(live, live->file_index[i], error);
    for (size_t i = live->lanes_n; status == TTR_OK && i-- > 0;)
        if (live->file_index[i]->at == live->file_index[i]->batch.n)
            status = fill_lane(live, live->file_index[i], error);
    return status;
}
