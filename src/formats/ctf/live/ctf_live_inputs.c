/* Moves data from the client to the inputs: parses metadata, appends packets to inputs, and
 * decodes their events (see ctf_live.h). */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/description/ctf_attributes.h"
#include "formats/ctf/live/ctf_live.h"

/* ms; if two checks of a stream are further apart, only this time counts as silence */
#define NOTICED_MS 200u
/* events; each input decodes a share of this, so that all inputs together hold about as many */
#define BATCHES_TOGETHER 8192u
#define SOURCES_KEPT 64u /* source ids that stay free for other readers */

void live_add_diagnostic(struct live_reader *live, ttr_severity severity, const char *code,
                         const char *format, ...)
{
    va_list values;
    va_start(values, format);
    diagnostics_add(&live->notes, severity, &(ttr_region){.code = code}, format, values);
    va_end(values);
}

static bool has_strict_flag(const struct live_reader *live)
{
    return live->options.flags & TTR_READ_STRICT;
}

/* Returns true if the client will receive no more data. */
static bool has_client_ended(const struct live_reader *live)
{
    return live->client.phase == LIVE_OVER || live->client.phase == LIVE_FAILED;
}

/* --- Traces --- */

static void report_metadata_diagnostic(void *ctx, ttr_severity severity, uint64_t offset,
                                       const char *code, const char *text)
{
    (void)offset;
    live_add_diagnostic(ctx, severity, code, "%s", text);
}

static struct live_source *get_source_of_trace(struct live_reader *live, struct live_trace *trace)
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
    ctf->class->description.note = report_metadata_diagnostic;
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

/* Handles invalid metadata. Fails in strict mode or if memory runs out. Otherwise reports a
 * diagnostic, and marks the trace as lost if it was not ready before. */
static ttr_status reject_live_metadata(struct live_reader *live, struct live_source *source,
                                       const ttr_error *reason, ttr_error *error)
{
    if (reason->status == TTR_E_NOMEM || has_strict_flag(live)) {
        *error = *reason;
        return reason->status;
    }
    live_add_diagnostic(live, source->is_ready ? TTR_SEVERITY_ODD : TTR_SEVERITY_DAMAGE,
                        "live.metadata", "%s", reason->text);
    source->is_lost = !source->is_ready;
    return TTR_OK;
}

/* Compiles a trace once all its metadata were received, so that its packets can be decoded. Marks
 * it as lost if no metadata will come. */
static ttr_status compile_live_trace(struct live_reader *live, struct live_source *source,
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
            live_add_diagnostic(
                live, TTR_SEVERITY_DAMAGE, "live.no-metadata",
                "the relay daemon has no metadata of a trace; its events cannot be read");
    }
    return TTR_OK;
}

static ttr_status parse_new_trace_metadata(struct live_reader *live, struct live_source *source,
                                           ttr_error *error)
{
    struct live_trace *trace = source->trace;
    ttr_error ctx = {0};
    char name[512];
    /* parse only complete metadata, because a part of them may be invalid */
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
        live_add_diagnostic(
            live, TTR_SEVERITY_ODD, "live.metadata-changed",
            "the metadata is another one than before the connection was lost; what was known "
            "is kept");
        trace->has_changed = false;
    }
    if (!source->is_ready && !source->is_lost)
        return compile_live_trace(live, source, error);
    return TTR_OK;
}

/* Parses new metadata of all traces. Frees traces that have ended, and requests missing metadata
 * again. */
static ttr_status parse_new_metadata_of_traces(struct live_reader *live, ttr_error *error)
{
    struct live_client *client = &live->client;
    for (size_t i = 0; i < client->traces_n; i++) {
        struct live_trace *trace = client->traces[i];
        if (trace->is_done && trace->streams == 0)
            continue;
        trace->is_done = false;
        struct live_source *source = get_source_of_trace(live, trace);
        if (!source)
            return fail_memory(error);
        ttr_status status = parse_new_trace_metadata(live, source, error);
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

/* --- Order of inputs --- */

static bool is_input_before(const struct live_input *a, const struct live_input *b)
{
    uint64_t trace_a = a->source->trace->id, trace_b = b->source->trace->id;
    if (trace_a != trace_b)
        return trace_a < trace_b;
    if (a->class_id != b->class_id)
        return a->class_id < b->class_id;
    return a->number != b->number ? a->number < b->number : a->stream->id < b->stream->id;
}

/* Moves input i to its position in the sorted array live->inputs. */
static void move_input_to_sorted_position(struct live_reader *live, size_t i)
{
    struct live_input **inputs = live->inputs, *input = inputs[i];
    for (; i > 0 && is_input_before(input, inputs[i - 1]); i--)
        inputs[i] = inputs[i - 1];
    for (; i + 1 < live->inputs_n && is_input_before(inputs[i + 1], input); i++)
        inputs[i] = inputs[i + 1];
    inputs[i] = input;
}

static size_t find_input_index(const struct live_reader *live, const struct live_input *input)
{
    size_t i = 0;
    while (live->inputs[i] != input)
        i++;
    return i;
}

static ttr_status add_live_input(struct live_reader *live, struct live_stream *stream,
                                 ttr_error *error)
{
    const struct alloc *alloc = &live->base.t->counted;
    if (!alloc_reserve(alloc, (void **)&live->inputs, &live->inputs_capacity, live->inputs_n + 1,
                       sizeof *live->inputs) ||
        !alloc_reserve(alloc, (void **)&live->heap, &live->heap_capacity, live->inputs_n + 1,
                       sizeof *live->heap))
        return fail_memory(error);
    struct live_input *input = alloc_zero(alloc, 1, sizeof *input);
    if (!input)
        return fail_memory(error);
    *input = (struct live_input){.stream = stream,
                                 .source = stream->trace->ctx,
                                 .class_id = UINT64_MAX,
                                 .number = stream->id,
                                 .seen_ms = live->client.now};
    stream->ctx = input;
    live->inputs[live->inputs_n++] = input;
    move_input_to_sorted_position(live, live->inputs_n - 1);
    return TTR_OK;
}

/* Frees the first queued packet of an input. */
static void drop_first_packet(struct live_reader *live, struct live_input *input)
{
    struct live_queued_packet *first = &input->queued[input->queued_first];
    live->queued_bytes -= first->bytes.n;
    buffer_free(&first->bytes);
    input->queued_first = (input->queued_first + 1) % input->queued_capacity;
    input->queued_n--;
}

void live_close_input(struct live_reader *live, struct live_input *input)
{
    size_t i = find_input_index(live, input);
    if (input->in) {
        live->events += input->in->events_total;
        live->lost += input->in->lost;
        live->lost_packets += input->in->lost_packets;
        live->gaps += input->in->gaps;
        live->packets += input->in->packets;
        live->bytes += input->fed;
        diagnostics_merge(&live->notes, &input->in->notes);
        ttr_close(&input->in->base);
    }
    while (input->queued_n)
        drop_first_packet(live, input);
    alloc_free(&live->base.t->counted, input->queued, input->queued_capacity,
               sizeof *input->queued);
    input->stream->ctx = NULL;
    input->stream->is_done = true;
    live->inputs_n--;
    memmove(live->inputs + i, live->inputs + i + 1, (live->inputs_n - i) * sizeof *live->inputs);
    alloc_free(&live->base.t->counted, input, 1, sizeof *input);
}

/* --- Packets of an input --- */

/* Converts a tick of a stream class to nanoseconds, including the option time-offset. Returns false
 * if the class is unknown. */
static bool convert_tick_to_time(const struct live_reader *live, const struct live_input *input,
                                 uint64_t class_id, uint64_t ticks, int64_t *time)
{
    struct ctf_trace *ctf = input->source->ctf;
    const struct ctf_stream_class *class = ctf_find_stream(&ctf->class->description, class_id);
    const struct ctf_stream_decoder *kind = class ? ctf_get_stream_decoder(ctf, class, NULL) : NULL;
    bool is_clamped = false;
    if (!kind)
        return false;
    *time = add_saturated(ctf_ticks_to_ns(&kind->timeline, ticks, &is_clamped),
                          live->options.time_offset, &is_clamped);
    return true;
}

static void raise_input_horizon(struct live_input *input, int64_t time)
{
    if (input->has_horizon && input->horizon >= time)
        return;
    input->has_horizon = true;
    input->horizon = time;
    input->quiet_ms = 0;
}

/* Adds the attribute trace.path, the directory part of `path`, to the first input of a trace.
 * Returns false if memory runs out. */
static bool add_trace_path(const struct live_input *input, const char *path)
{
    const struct input *in = input->in;
    ttr_value folder = {.type = TTR_TYPE_TEXT, .text = {path, (size_t)(strrchr(path, '/') - path)}};
    return in->id != input->source->ctf->thread_source ||
           context_add_attribute(in->base.t, in->id, "trace.path", &folder);
}

/* Opens the reader input of a stream when its first packet has arrived. `frame` is the parsed
 * header of that packet. */
static ttr_status open_packet_input(struct live_reader *live, struct live_input *input,
                                    const struct ctf_frame *frame, ttr_error *error)
{
    char path[1024];
    ttr *t = live->base.t;
    struct live_stream *stream = input->stream;
    const struct ctf_stream_decoder *kind = frame->code ? NULL : frame->kind;
    struct ctf_packet_queue about = {.kind = kind,
                                     .number = frame->number,
                                     .has_number = frame->has_number,
                                     .is_in_order = true};
    (void)snprintf(path, sizeof path, "%s/%s", live->path, stream->name);
    struct source *source = source_open_appendable(&t->counted, path, error);
    input->in = source ? input_new(t, source, &format_ctf, path, &live->options, error) : NULL;
    if (!input->in)
        return error->status;
    struct ctf_reader *reader = input->in->ctx;
    ctf_trace_add_input(input->source->ctf, input->in, stream->name, stream->id);
    reader->is_in_order = true;
    reader->is_entered_late = live->client.options.seek == LIVE_SEEK_NOW ||
                              (frame->packet.has_sequence && frame->packet.sequence > 0);
    reader_set_batch_size(&input->in->base, BATCHES_TOGETHER / (uint32_t)live->inputs_n);
    reader_set_range(&input->in->base, live->from, live->to);
    input->number = frame->has_number ? frame->number : stream->id;
    input->class_id = kind ? kind->class->id : stream->class_id;
    move_input_to_sorted_position(live, find_input_index(live, input));
    bool is_fine =
        ctf_add_stream_attributes(input->in, input->source->ctf, &about, input->number) &&
        add_trace_path(input, path);
    return is_fine ? TTR_OK : fail_memory(error);
}

/* Doubles the capacity of the packet ring buffer. The first packet is then at index 0. Returns
 * false if memory runs out. */
static bool grow_packet_ring(struct live_reader *live, struct live_input *input)
{
    const struct alloc *alloc = &live->base.t->counted;
    size_t capacity = input->queued_capacity ? input->queued_capacity * 2 : 2;
    struct live_queued_packet *larger = alloc_zero(alloc, capacity, sizeof *larger);
    if (!larger)
        return false;
    for (size_t i = 0; i < input->queued_n; i++)
        larger[i] = input->queued[(input->queued_first + i) % input->queued_capacity];
    alloc_free(alloc, input->queued, input->queued_capacity, sizeof *input->queued);
    input->queued = larger;
    input->queued_first = 0;
    input->queued_capacity = capacity;
    return true;
}

/* Moves a complete packet from the client to the input's queue, unless the queues are full
 * (LIVE_AHEAD_BYTES). */
static ttr_status queue_received_packet(struct live_reader *live, struct live_input *input,
                                        ttr_error *error)
{
    struct live_stream *stream = input->stream;
    if (!stream->is_whole ||
        (input->queued_n && live->queued_bytes + stream->packet.n > LIVE_AHEAD_BYTES))
        return TTR_OK;
    if (input->queued_n == input->queued_capacity && !grow_packet_ring(live, input))
        return fail_memory(error);
    struct live_queued_packet *last =
        &input->queued[(input->queued_first + input->queued_n++) % input->queued_capacity];
    *last = (struct live_queued_packet){stream->packet, stream->index};
    live->queued_bytes += last->bytes.n;
    buffer_init(&stream->packet, &live->base.t->counted);
    live_client_release_packet(stream);
    return TTR_OK;
}

/* Drops the first queued packet, which cannot be decoded, and reports it as damage. Fails in strict
 * mode. */
static ttr_status reject_live_packet(struct live_reader *live, struct live_input *input,
                                     const char *why, ttr_error *error)
{
    uint64_t n = input->queued[input->queued_first].bytes.n;
    drop_first_packet(live, input);
    if (has_strict_flag(live))
        return fail(error, TTR_E_MALFORMED, input->fed, "%s: a packet of %s: %s", live->path,
                    input->stream->name, why);
    live_add_diagnostic(live, TTR_SEVERITY_DAMAGE, "live.bad-packet",
                        "a packet of %s, %llu bytes, was passed over: %s", input->stream->name,
                        (unsigned long long)n, why);
    return TTR_OK;
}

/* Returns the reason why a packet cannot be appended to its input; NULL if it can. The input
 * reports damage inside the packet. */
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

static ttr_status append_first_packet(struct live_reader *live, struct live_input *input,
                                      ttr_error *error)
{
    const struct live_queued_packet *first = &input->queued[input->queued_first];
    const struct buffer *packet = &first->bytes;
    struct bits bits = bits_init(packet->bytes, 0, packet->n * 8);
    struct ctf_frame frame;
    int64_t time;
    ttr_error ctx = {0};
    memset(&frame, 0, sizeof frame);
    enum ctf_framing framing =
        ctf_parse_header_and_context(input->source->ctf, NULL, &bits, &frame, &ctx);
    if (ctx.status == TTR_E_NOMEM)
        return fail_memory(error);
    const char *fault = find_packet_fault(&frame, framing, packet->n);
    if (!input->in && live->base.t->sources_n + SOURCES_KEPT > UINT16_MAX)
        fault = "there were more streams than can be distinguished";
    if (fault)
        return reject_live_packet(live, input, fault, error);
    if (framing != CTF_FRAME_OK)
        frame = (struct ctf_frame){.code = "live"};
    if (!input->in && open_packet_input(live, input, &frame, error) != TTR_OK)
        return error->status;
    if (!source_append(input->in->source, packet->bytes, packet->n))
        return fail_memory(error);
    struct ctf_reader *reader = input->in->ctx;
    reader->next = input->fed;
    input->in->window.at_end = false;
    input->in->pending = input->in->base.stuck = TTR_OK;
    input->fed += packet->n;
    input->quiet_ms = 0;
    input->was_idle = false;
    if (framing == CTF_FRAME_OK &&
        convert_tick_to_time(live, input, frame.kind->class->id,
                             frame.packet.has_end ? frame.packet.end : first->index.end, &time))
        raise_input_horizon(input, time);
    drop_first_packet(live, input);
    return TTR_OK;
}

/* --- Batches of events --- */

/* Decodes the next batch of events of the input. The batch is empty if all appended packets are
 * decoded. */
static ttr_status read_input_batch(struct live_input *input, ttr_error *error)
{
    input->at = 0;
    input->batch = (ttr_batch){.n = 0};
    if (!input->in || input->in->base.stuck == TTR_END)
        return TTR_OK;
    ttr_status status = ttr_read(&input->in->base, &input->batch, error);
    return status == TTR_END ? TTR_OK : status;
}

/* Sets the batch to one gap event, which reports that a stream ended without notice, so packets
 * may be missing. */
static void append_gap_event(struct live_reader *live, struct live_input *input)
{
    input->gap = (ttr_event){.kind = TTR_KIND_GAP,
                             .tag = TTR_GAP_PACKETS,
                             .source = input->in ? input->in->id : live->id,
                             .time = input->has_horizon                  ? input->horizon
                                     : live->returned_until == INT64_MIN ? 0
                                                                         : live->returned_until};
    input->batch = (ttr_batch){.event = &input->gap, .n = 1};
    input->at = 0;
    live->gaps++;
    live_add_diagnostic(live, TTR_SEVERITY_ODD, "live.stream-gone",
                        "%s is no longer there; what it had more is not known",
                        input->stream->name);
}

/* Updates how long an input without events has been silent, and the time before which it has no
 * more events. Silence is counted from an answer "no data" to the next request, because the
 * duration of an answer depends on the daemon only. */
static void update_idle_input(struct live_reader *live, struct live_input *input)
{
    const struct live_stream *stream = input->stream;
    uint64_t now = live->client.now, passed = now - input->seen_ms;
    int64_t time;
    bool is_new = stream->has_beacon && (stream->beacon > input->beacon || !input->has_horizon);
    if (is_new && input->source->is_ready &&
        convert_tick_to_time(live, input, stream->class_id, stream->beacon, &time)) {
        input->beacon = stream->beacon;
        raise_input_horizon(input, time);
    }
    bool is_idle = live->client.phase == LIVE_RUNNING && !stream->is_asked;
    if (input->was_idle)
        input->quiet_ms += passed < NOTICED_MS ? passed : NOTICED_MS;
    input->was_idle = is_idle;
    input->seen_ms = now;
}

/* Closes an input after its stream has ended and all its events were returned. For a stream that
 * ended without notice, returns a gap event first. Returns false if the stream continues. */
static bool close_ended_input(struct live_reader *live, struct live_input *input)
{
    const struct live_stream *stream = input->stream;
    if (!stream->is_over || stream->is_whole || input->queued_n)
        return false;
    if (stream->is_gone && !input->is_ending) {
        input->is_ending = true;
        append_gap_event(live, input);
        return true;
    }
    live_close_input(live, input);
    return true;
}

static ttr_status fill_input_batch(struct live_reader *live, struct live_input *input,
                                   ttr_error *error)
{
    const struct live_source *source = input->source;
    for (;;) {
        ttr_status status = input->is_ending ? TTR_OK : read_input_batch(input, error);
        if (status != TTR_OK || (input->batch.n && !input->is_ending))
            return status;
        if (input->queued_n == 0)
            break;
        if (source->is_lost)
            status = reject_live_packet(live, input, "there is no metadata to read it by", error);
        else if (source->is_ready && (!source->trace->wants_metadata || has_client_ended(live)))
            status = append_first_packet(live, input, error);
        else
            break;
        if (status != TTR_OK)
            return status;
    }
    if (!close_ended_input(live, input))
        update_idle_input(live, input);
    return TTR_OK;
}

ttr_status live_update_inputs(struct live_reader *live, ttr_error *error)
{
    struct live_client *client = &live->client;
    ttr_status status = parse_new_metadata_of_traces(live, error);
    for (size_t i = 0; status == TTR_OK && i < client->streams_n; i++)
        if (!client->streams[i]->ctx && !client->streams[i]->is_done)
            status = add_live_input(live, client->streams[i], error);
    for (size_t i = 0; status == TTR_OK && i < live->inputs_n; i++)
        status = queue_received_packet(live, live->inputs[i], error);
    for (size_t i = live->inputs_n; status == TTR_OK && i-- > 0;)
        if (live->inputs[i]->at == live->inputs[i]->batch.n)
            status = fill_input_batch(live, live->inputs[i], error);
    return status;
}
