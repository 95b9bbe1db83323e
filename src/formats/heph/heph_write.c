/* The Heph writer (specification: "Metadata Packet", "Event Packet"): spans are stored unchanged,
 * other events as the nearest span (heph_losses.c).
 *
 * Unchanged events of a Heph trace are copied byte for byte; with the metadata between them the
 * output equals the input. All other events are encoded. The process id becomes the stream and the
 * thread id the substream, as the Heph reader maps them. Counters start at 0 in each stream and
 * have no holes. The epoch comes first, and times are relative to it. */
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "formats/heph/heph.h"
#include "formats/heph/heph_writer.h"

/* time in ns between the epoch and the first event, because events of other formats may be out of
 * order */
#define EPOCH_MARGIN INT64_C(3600000000000)

/* first stream for processes of which the pid cannot be a stream number */
#define FIRST_SPARE_STREAM 0x80000000u

/* Stream and substream to which the events of a thread are written. */
struct thread_address {
    uint32_t stream;
    uint64_t substream, pid;
    bool is_spare;
    ttr_thread thread;
};

ttr_status heph_writer_create(struct ttr_writer *out, ttr_error *error)
{
    struct heph_writer *writer = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    pair_map_init(&writer->streams, alloc);
    pair_map_init(&writer->owners, alloc);
    pair_map_init(&writer->spare, alloc);
    pair_map_init(&writer->written_thread_names, alloc);
    pair_map_init(&writer->written_process_names, alloc);
    heph_pairs_init(&writer->pairs, alloc);
    buffer_init(&writer->path, alloc);
    const char *epoch = output_option(out, "epoch");
    if (epoch && !number_parse_u64(epoch, strlen(epoch), &writer->epoch))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "epoch=%s: expected nanoseconds since 1970, such as epoch=1610113734118010000",
                    epoch);
    return TTR_OK;
}

void heph_writer_free(struct ttr_writer *out)
{
    struct heph_writer *writer = out->ctx;
    pair_map_free(&writer->streams);
    pair_map_free(&writer->owners);
    pair_map_free(&writer->spare);
    pair_map_free(&writer->written_thread_names);
    pair_map_free(&writer->written_process_names);
    heph_pairs_free(&writer->pairs);
    buffer_free(&writer->path);
    alloc_free(&out->t->counted, writer->counters, writer->counters_capacity,
               sizeof *writer->counters);
}

/* Returns a pointer to the next counter of a stream. The pointer is valid until the next call. */
static uint32_t *get_stream_counter(struct ttr_writer *out, uint32_t stream)
{
    struct heph_writer *writer = out->ctx;
    const uint32_t *index = pair_map_get(&writer->streams, stream, 0);
    if (index)
        return &writer->counters[*index];
    void *counters = writer->counters;
    bool has_room = alloc_reserve(&out->t->counted, &counters, &writer->counters_capacity,
                                  writer->counters_n + 1, sizeof *writer->counters);
    writer->counters = counters;
    if (!has_room || !pair_map_put(&writer->streams, stream, 0, (uint32_t)writer->counters_n)) {
        writer->is_out_of_memory = true;
        return NULL;
    }
    writer->counters[writer->counters_n] = 0;
    return &writer->counters[writer->counters_n++];
}

/* Returns true if the pid can be the number of a stream: it has at most 32 bits, and no process of
 * another source uses the number. */
static bool claim_stream_of_pid(struct heph_writer *writer, uint64_t pid, uint16_t source)
{
    if (pid > UINT32_MAX)
        return false;
    const uint32_t *owner = pair_map_get(&writer->owners, pid, 0);
    if (owner)
        return *owner == source;
    writer->is_out_of_memory |= !pair_map_put(&writer->owners, pid, 0, source);
    return true;
}

static uint32_t assign_spare_stream(struct heph_writer *writer, uint64_t pid, uint16_t source)
{
    const uint32_t *known = pair_map_get(&writer->spare, pid, source);
    if (known)
        return *known;
    uint32_t stream = FIRST_SPARE_STREAM + writer->spare_streams++;
    while (pair_map_get(&writer->owners, stream, 0))
        stream = FIRST_SPARE_STREAM + writer->spare_streams++;
    writer->is_out_of_memory |= !pair_map_put(&writer->owners, stream, 0, UINT16_MAX) ||
                                !pair_map_put(&writer->spare, pid, source, stream);
    return stream;
}

static struct thread_address choose_stream_for_event(struct ttr_writer *out, const ttr_event *event)
{
    struct heph_writer *writer = out->ctx;
    struct thread_address address = {.stream = 0};
    ttr_track track;
    if (!ttr_thread_get(out->t, event->thread, &address.thread) && event->kind == TTR_KIND_GAP &&
        ttr_track_get(out->t, event->track, &track))
        address.thread.pid = track.number;
    address.pid = address.thread.pid;
    address.substream = address.thread.tid;
    address.is_spare = !claim_stream_of_pid(writer, address.pid, event->source);
    address.stream = address.is_spare ? assign_spare_stream(writer, address.pid, event->source)
                                      : (uint32_t)address.pid;
    return address;
}

static void append_epoch_packet(struct ttr_writer *out, uint64_t epoch)
{
    heph_append_u32(&out->buffer, HEPH_MAGIC_METADATA);
    heph_append_u32(&out->buffer, HEPH_EPOCH_PACKET);
    heph_append_u16(&out->buffer, 5);
    buffer_add(&out->buffer, "epoch", 5);
    heph_append_u64(&out->buffer, epoch);
}

static bool is_event_from_heph(const ttr *t, const ttr_event *event)
{
    ttr_source source;
    return ttr_source_get(t, event->source, &source) && source.format &&
           strcmp(source.format, "heph") == 0;
}

/* Chooses the epoch when the first event is written: the epoch of the copied trace, or
 * EPOCH_MARGIN before an event with Unix time. */
static void choose_epoch(struct ttr_writer *out, const ttr_event *event)
{
    struct heph_writer *writer = out->ctx;
    bool is_anchored = event->time > EPOCH_MARGIN && context_has_unix_time(out->t, event);
    if (writer->has_epoch)
        return;
    writer->has_epoch = true;
    if (!output_option(out, "epoch") && is_event_from_heph(out->t, event) &&
        !(event->flags & (TTR_EVENT_CLAMPED | TTR_EVENT_NO_TIME)) && event->time >= 0 &&
        event->ticks <= (uint64_t)event->time)
        writer->epoch = (uint64_t)event->time - event->ticks;
    else if (!output_option(out, "epoch") && is_anchored)
        writer->epoch = (uint64_t)(event->time - EPOCH_MARGIN);
    if (writer->epoch)
        append_epoch_packet(out, writer->epoch);
}

/* Returns a time relative to the epoch, in ns. If the time is before the epoch, counts a loss and
 * returns 0. */
static uint64_t convert_to_epoch(struct ttr_writer *out, int64_t time, uint64_t offset)
{
    const struct heph_writer *writer = out->ctx;
    if (time >= 0 && (uint64_t)time >= writer->epoch)
        return (uint64_t)time - writer->epoch;
    output_count_loss(out, HEPH_LOST_TIME, offset);
    return 0;
}

/* A packet that the writer has begun. */
struct packet {
    /* event from which the packet's name, thread and time are */
    const ttr_event *event;
    struct thread_address address;
    uint64_t duration;
    ttr_text description;
    size_t at;         /* offset of the packet in out->buffer, in bytes */
    size_t attributes; /* offset of the packet's attributes in out->buffer */
};

static struct heph_encoder prepare_encoder(struct ttr_writer *out, const ttr_event *event)
{
    struct heph_writer *writer = out->ctx;
    return (struct heph_encoder){
        .out = out, .to = &out->buffer, .path = &writer->path, .offset = event->offset};
}

/* Returns the counter for a packet: the next one of its stream. A damaged packet of the copied
 * trace keeps its own. */
static uint32_t take_next_packet_counter(struct ttr_writer *out, const struct packet *packet)
{
    const struct heph_writer *writer = out->ctx;
    uint32_t *counter = get_stream_counter(out, packet->address.stream);
    if (counter && writer->is_copying_source && writer->copied == packet->event->source)
        *counter = packet->event->sequence;
    return counter ? (*counter)++ : 0;
}

static void begin_packet(struct ttr_writer *out, struct packet *packet)
{
    const struct heph_writer *writer = out->ctx;
    const ttr_event *event = packet->event;
    struct heph_encoder encoder = prepare_encoder(out, event);
    packet->address = choose_stream_for_event(out, event);
    if (!packet->address.thread.pid_known || !packet->address.thread.tid_known)
        output_count_loss(out, HEPH_LOST_THREAD, event->offset);
    uint64_t start = convert_to_epoch(out, event->time, event->offset), end;
    if (__builtin_add_overflow(start, packet->duration, &end)) {
        end = UINT64_MAX;
        output_count_loss(out, HEPH_LOST_TIME, event->offset);
    }
    uint32_t counter = take_next_packet_counter(out, packet);
    packet->at = out->buffer.n;
    heph_append_u32(&out->buffer, HEPH_MAGIC_EVENT);
    heph_append_u32(&out->buffer, 0);
    heph_append_u32(&out->buffer, packet->address.stream);
    heph_append_u32(&out->buffer, counter);
    if (!writer->is_old)
        heph_append_u64(&out->buffer, packet->address.substream);
    else if (packet->address.substream)
        output_count_loss(out, HEPH_LOST_THREAD, event->offset);
    heph_append_u64(&out->buffer, start);
    heph_append_u64(&out->buffer, end);
    heph_append_text(&encoder, packet->description);
    packet->attributes = out->buffer.n;
}

/* Appends a name as an attribute, unless `written` contains the same name for the thread. Returns
 * false if memory runs out. */
static bool append_changed_name(const struct heph_encoder *encoder, const char *attribute,
                                struct pair_map *written, ttr_id thread, ttr_id name)
{
    struct heph_writer *writer = encoder->out->ctx;
    const uint32_t *last = pair_map_get(written, thread, 0);
    if (!name || (last && *last == name))
        return false;
    writer->is_out_of_memory |= !pair_map_put(written, thread, 0, name);
    heph_append_string(encoder, attribute, ttr_text_get(encoder->out->t, name));
    return true;
}

/* Appends the names of thread and process if they are new or changed. Omits names of threads from
 * a Heph trace, because readers derive them from stream numbers. */
static void append_changed_names(const struct heph_encoder *encoder, const struct packet *packet)
{
    struct heph_writer *writer = encoder->out->ctx;
    const ttr_thread *thread = &packet->address.thread;
    ttr_id id = packet->event->thread;
    if ((!thread->thread_name && !thread->process_name) ||
        is_event_from_heph(encoder->out->t, packet->event))
        return;
    bool is_process = append_changed_name(encoder, "process", &writer->written_process_names, id,
                                          thread->process_name);
    bool is_thread = append_changed_name(encoder, "thread", &writer->written_thread_names, id,
                                         thread->thread_name);
    if (is_process || is_thread)
        output_count_loss(encoder->out, HEPH_LOST_NAME, encoder->offset);
}

/* Appends members of ttr_event as attributes if a Heph packet has no field for them. */
static void append_attributes(const struct heph_encoder *encoder, const ttr_event *event)
{
    struct ttr_writer *out = encoder->out;
    if (event->category) {
        heph_append_string(encoder, "category", ttr_text_get(out->t, event->category));
        output_count_loss(out, HEPH_LOST_CATEGORY, event->offset);
    }
    if (event->provider) {
        heph_append_string(encoder, "provider", ttr_text_get(out->t, event->provider));
        output_count_loss(out, HEPH_LOST_PROVIDER, event->offset);
    }
    if (event->flags & TTR_EVENT_HAS_CPU) {
        heph_append_uint(encoder, "cpu", event->cpu);
        output_count_loss(out, HEPH_LOST_CPU, event->offset);
    }
    if (event->level) {
        heph_append_uint(encoder, "level", event->level);
        output_count_loss(out, HEPH_LOST_LEVEL, event->offset);
    }
    if (event->activity)
        heph_append_bytes(encoder, "activity", (ttr_text){(const char *)event->activity, 16});
    if (event->related)
        heph_append_bytes(encoder, "related", (ttr_text){(const char *)event->related, 16});
    if (event->keyword)
        heph_append_uint(encoder, "keyword", event->keyword);
    if (event->opcode)
        heph_append_uint(encoder, "opcode", event->opcode);
    uint32_t number, version;
    const bool has_number = ttr_event_number(out->t, event, &number, &version);
    if (has_number)
        heph_append_uint(encoder, "event_id", number);
    if (has_number && version)
        heph_append_uint(encoder, "event_version", version);
    if (event->activity || event->related || event->keyword || event->opcode || has_number)
        output_count_loss(out, HEPH_LOST_ACTIVITY, event->offset);
    if (event->flags & TTR_EVENT_PARTIAL)
        output_count_loss(out, HEPH_LOST_CONTENT, event->offset);
    if (event->flags & (TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED))
        output_count_loss(out, HEPH_LOST_MARK, event->offset);
}

/* Ends a packet: appends names, and stores the packet's size. If the size exceeds the default
 * limit of readers, drops the attributes. */
static void end_packet(struct ttr_writer *out, const struct packet *packet)
{
    struct heph_encoder encoder = prepare_encoder(out, packet->event);
    if (packet->address.is_spare) {
        heph_append_uint(&encoder, "pid", packet->address.pid);
        output_count_loss(out, HEPH_LOST_PID, encoder.offset);
    }
    append_changed_names(&encoder, packet);
    if (out->buffer.n - packet->at > HEPH_PACKET_MAX_DEFAULT) {
        out->buffer.n = packet->attributes;
        output_count_loss(out, HEPH_LOST_PACKET, encoder.offset);
    }
    if (!out->buffer.failed)
        store_u32be(out->buffer.bytes + packet->at + 4, (uint32_t)(out->buffer.n - packet->at));
    output_count_event(out, packet->event);
}

/* How an event that is not a span is stored: the loss that is counted, and additional
 * attributes. */
struct kind_rule {
    uint8_t loss;
    /* name of the attribute that stores event->tag; NULL if the tag is not stored */
    const char *tag;
};

static const struct kind_rule kind_rules[TTR_KIND_COUNT] = {
    [TTR_KIND_NONE] = {HEPH_LOST_INSTANT, NULL},
    [TTR_KIND_INSTANT] = {HEPH_LOST_INSTANT, NULL},
    [TTR_KIND_BEGIN] = {HEPH_LOST_UNMATCHED, NULL},
    [TTR_KIND_END] = {HEPH_LOST_UNMATCHED, NULL},
    [TTR_KIND_COUNTER] = {HEPH_LOST_COUNTER, NULL},
    [TTR_KIND_ASYNC_BEGIN] = {HEPH_LOST_UNMATCHED, NULL},
    [TTR_KIND_ASYNC_STEP] = {HEPH_LOST_STEP, NULL},
    [TTR_KIND_ASYNC_END] = {HEPH_LOST_UNMATCHED, NULL},
    [TTR_KIND_FLOW_BEGIN] = {HEPH_LOST_FLOW, NULL},
    [TTR_KIND_FLOW_STEP] = {HEPH_LOST_FLOW, NULL},
    [TTR_KIND_FLOW_END] = {HEPH_LOST_FLOW, NULL},
    [TTR_KIND_SWITCH] = {HEPH_LOST_SWITCH, "state"},
    [TTR_KIND_WAKE] = {HEPH_LOST_WAKE, NULL},
    [TTR_KIND_SAMPLE] = {HEPH_LOST_SAMPLE, NULL},
    [TTR_KIND_LOG] = {HEPH_LOST_LOG, NULL},
    [TTR_KIND_BLOB] = {HEPH_LOST_BLOB, "type"},
    [TTR_KIND_OBJECT] = {HEPH_LOST_OBJECT, "object"},
    [TTR_KIND_GAP] = {HEPH_LOST_GAP, NULL},
};

static void append_link_attribute(const struct heph_encoder *encoder, const ttr_event *event)
{
    ttr_thread outgoing;
    if (event->kind == TTR_KIND_GAP) {
        heph_append_uint(encoder, "lost", event->link);
    } else if (event->kind != TTR_KIND_SWITCH && event->kind != TTR_KIND_WAKE) {
        heph_append_uint(encoder, "id", event->link);
    } else if (ttr_thread_get(encoder->out->t, (ttr_id)event->link, &outgoing)) {
        bool is_switch = event->kind == TTR_KIND_SWITCH;
        heph_append_uint(encoder, is_switch ? "outgoing_pid" : "waker_pid", outgoing.pid);
        heph_append_uint(encoder, is_switch ? "outgoing_tid" : "waker_tid", outgoing.tid);
    }
}

static void append_kind_attributes(const struct heph_encoder *encoder, const ttr_event *event)
{
    const struct kind_rule *rule = &kind_rules[event->kind < TTR_KIND_COUNT ? event->kind : 0];
    const char *kind = ttr_kind_text(event->kind);
    heph_append_string(encoder, "kind", (ttr_text){kind, strlen(kind)});
    if (event->link)
        append_link_attribute(encoder, event);
    if (rule->tag)
        heph_append_uint(encoder, rule->tag, event->tag);
    output_count_loss(encoder->out, rule->loss, event->offset);
    if (event->link && (event->kind == TTR_KIND_INSTANT || event->kind == TTR_KIND_NONE))
        output_count_loss(encoder->out, HEPH_LOST_ID, event->offset);
}

/* Returns true if the reader restores this kind, which it finds in the first attribute
 * (heph_restore.c). */
static bool is_kind_restored(unsigned kind)
{
    const uint32_t kinds = 1u << TTR_KIND_INSTANT | 1u << TTR_KIND_SAMPLE | 1u << TTR_KIND_OBJECT |
                           1u << TTR_KIND_SWITCH | 1u << TTR_KIND_WAKE;
    return kind < TTR_KIND_COUNT && (kinds >> kind & 1);
}

/* Writes an event as one packet. An event that is not a span gets duration 0. */
static void write_single_packet(struct ttr_writer *out, const ttr_event *event)
{
    struct heph_encoder encoder = prepare_encoder(out, event);
    bool is_span = event->kind == TTR_KIND_SPAN;
    struct packet packet = {.event = event,
                            .duration = is_span ? event->duration : 0,
                            .description = ttr_text_get(out->t, event->name)};
    if (event->kind == TTR_KIND_GAP && event->name == 0)
        packet.description = (ttr_text){"gap", 3};
    begin_packet(out, &packet);
    const bool is_restored = is_kind_restored(event->kind);
    if (is_restored) {
        append_kind_attributes(&encoder, event);
        append_attributes(&encoder, event);
    }
    heph_append_fields(&encoder, event);
    if (event->flags & TTR_EVENT_BACKWARD)
        output_count_loss(out, HEPH_LOST_BACKWARD, event->offset);
    if (!is_restored && !is_span)
        append_kind_attributes(&encoder, event);
    else if (is_span && event->link) {
        heph_append_uint(&encoder, "id", event->link);
        output_count_loss(out, HEPH_LOST_ID, event->offset);
    }
    if (!is_restored)
        append_attributes(&encoder, event);
    end_packet(out, &packet);
}

/* Adds the number of lost events to the counters, so that readers detect the gap. */
static void write_gap(struct ttr_writer *out, const ttr_event *event)
{
    struct thread_address address = choose_stream_for_event(out, event);
    const struct heph_writer *writer = out->ctx;
    bool shows = event->link <= INT32_MAX && pair_map_get(&writer->streams, address.stream, 0);
    uint32_t *counter = get_stream_counter(out, address.stream);
    if (counter && event->link <= INT32_MAX)
        *counter += (uint32_t)event->link;
    if (!shows && event->link)
        output_count_losses(out, HEPH_LOST_MISSING, event->link, event->offset);
    write_single_packet(out, event);
}

/* Keeps a begin event, with its attributes already encoded, until its end arrives. */
static void write_span_begin(struct ttr_writer *out, const ttr_event *event)
{
    struct heph_writer *writer = out->ctx;
    struct heph_encoder encoder = prepare_encoder(out, event);
    struct heph_begin *begin = heph_pairs_add_begin(&writer->pairs, event);
    if (!begin) {
        writer->is_out_of_memory = true;
        return;
    }
    encoder.to = &begin->attributes;
    heph_append_fields(&encoder, event);
    append_attributes(&encoder, event);
    writer->is_out_of_memory |= begin->attributes.failed;
}

/* Returns true if the end has other values than its begin. They are lost, because a span stores
 * each value only once. */
static bool end_differs_from_begin(const ttr_event *begin, const ttr_event *end)
{
    const uint8_t marks = TTR_EVENT_PARTIAL | TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED;
    bool has_other_text = (end->name && end->name != begin->name) ||
                          (end->category && end->category != begin->category) ||
                          (end->provider && end->provider != begin->provider);
    bool has_other_cpu = (end->flags & TTR_EVENT_HAS_CPU) &&
                         (!(begin->flags & TTR_EVENT_HAS_CPU) || end->cpu != begin->cpu);
    bool has_other_number = (end->level && end->level != begin->level) ||
                            (end->keyword && end->keyword != begin->keyword) ||
                            (end->opcode && end->opcode != begin->opcode) ||
                            (end->link && end->link != begin->link);
    return has_other_text || has_other_cpu || has_other_number || end->activity || end->related ||
           (end->flags & marks);
}

/* Writes a begin and its end as a single span. */
static void write_paired_span(struct ttr_writer *out, const struct heph_begin *begin,
                              const ttr_event *end)
{
    struct heph_encoder encoder = prepare_encoder(out, &begin->event);
    bool is_backward = end->time < begin->event.time,
         is_asynchronous = end->kind == TTR_KIND_ASYNC_END;
    struct packet packet = {.event = &begin->event,
                            .description = ttr_text_get(out->t, begin->event.name)};
    packet.duration = is_backward ? 0 : (uint64_t)end->time - (uint64_t)begin->event.time;
    if (is_backward)
        output_count_loss(out, HEPH_LOST_BACKWARD, end->offset);
    begin_packet(out, &packet);
    buffer_add(&out->buffer, begin->attributes.bytes, begin->attributes.n);
    encoder.offset = end->offset;
    heph_append_fields(&encoder, end);
    if (is_asynchronous) {
        heph_append_string(&encoder, "kind", (ttr_text){"async", 5});
        heph_append_uint(&encoder, "id", begin->event.link);
    } else if (begin->event.link) {
        heph_append_uint(&encoder, "id", begin->event.link);
        output_count_loss(out, HEPH_LOST_ID, begin->event.offset);
    }
    if (end_differs_from_begin(&begin->event, end))
        output_count_loss(out, HEPH_LOST_END, end->offset);
    output_count_loss(out, is_asynchronous ? HEPH_LOST_ASYNC : HEPH_LOST_PAIR, begin->event.offset);
    end_packet(out, &packet);
}

static void write_span_end(struct ttr_writer *out, const ttr_event *event)
{
    struct heph_writer *writer = out->ctx;
    bool is_good = true;
    const struct heph_begin *begin = heph_pairs_remove_begin(&writer->pairs, event, &is_good);
    writer->is_out_of_memory |= !is_good;
    if (begin)
        write_paired_span(out, begin, event);
    else
        write_single_packet(out, event);
}

/* Writes a begin event for which no end has arrived. */
static void write_unfinished_begin(struct ttr_writer *out, const struct heph_begin *begin)
{
    struct heph_encoder encoder = prepare_encoder(out, &begin->event);
    struct packet packet = {.event = &begin->event,
                            .description = ttr_text_get(out->t, begin->event.name)};
    begin_packet(out, &packet);
    buffer_add(&out->buffer, begin->attributes.bytes, begin->attributes.n);
    append_kind_attributes(&encoder, &begin->event);
    end_packet(out, &packet);
}

static void encode_event(struct ttr_writer *out, const ttr_event *event)
{
    const struct heph_writer *writer = out->ctx;
    choose_epoch(out, event);
    switch (event->kind) {
    case TTR_KIND_BEGIN:
    case TTR_KIND_ASYNC_BEGIN:
        if (heph_can_keep_begin(&writer->pairs, event))
            write_span_begin(out, event);
        else
            write_single_packet(out, event);
        break;
    case TTR_KIND_END:
    case TTR_KIND_ASYNC_END:
        write_span_end(out, event);
        break;
    case TTR_KIND_GAP:
        write_gap(out, event);
        break;
    default:
        write_single_packet(out, event);
    }
}

/* Returns true if the event's source is copied in order with its metadata, so that the output
 * equals this trace. The first event of the output decides which source is copied. Events of other
 * sources do not end the copy. */
static bool is_source_copied(struct ttr_writer *out, const ttr_event *event)
{
    struct heph_writer *writer = out->ctx;
    const struct schema *schema = context_schema(out->t, event->schema);
    if (writer->is_copying_source || writer->has_epoch || schema->format != out->format ||
        output_option(out, "epoch"))
        return writer->is_copying_source && writer->copied == event->source;
    const struct input *in = schema->ctx;
    if (!(in->flags & TTR_READ_DEFINITIONS) || in->time_offset)
        return false;
    const struct heph_reader *reader = in->ctx;
    writer->is_copying_source = writer->has_epoch = true;
    writer->is_old = reader->layout->substream == 0;
    writer->copied = event->source;
    writer->epoch = reader->epoch;
    return true;
}

/* Copies a packet of the copied trace. Packets that are encoded later continue with the next
 * counter. */
static void copy_packet(struct ttr_writer *out, const ttr_event *event)
{
    struct heph_writer *writer = out->ctx;
    uint64_t epoch;
    buffer_add(&out->buffer, event->payload, event->payload_size);
    if (event->kind == TTR_KIND_DEFINITION) {
        if (event->payload_size >= HEPH_METADATA_HEADER &&
            heph_parse_epoch(event->payload, event->payload_size, &epoch))
            writer->epoch = epoch;
        return;
    }
    uint32_t stream = load_u32be(event->payload + 8), *counter = get_stream_counter(out, stream);
    (void)claim_stream_of_pid(writer, stream, event->source);
    if (counter)
        *counter = event->sequence + 1;
    out->events++;
}

/* Returns true if the packet can be copied without a change of meaning: same epoch, current
 * layout, same stream. */
static bool can_copy_event(struct ttr_writer *out, const ttr_event *event)
{
    struct heph_writer *writer = out->ctx;
    const struct input *in = context_schema(out->t, event->schema)->ctx;
    const struct heph_reader *reader = in->ctx;
    choose_epoch(out, event);
    return reader->layout->substream && !writer->is_old && !(event->flags & TTR_EVENT_CLAMPED) &&
           (uint64_t)event->time - event->ticks == writer->epoch &&
           claim_stream_of_pid(writer, load_u32be(event->payload + 8), event->source);
}

/* Copies a packet but gives it a new counter, because events of its stream may be missing in the
 * output. */
static void copy_with_new_counter(struct ttr_writer *out, const ttr_event *event)
{
    uint32_t *counter = get_stream_counter(out, load_u32be(event->payload + 8));
    size_t at = out->buffer.n;
    buffer_add(&out->buffer, event->payload, event->payload_size);
    if (counter && !out->buffer.failed)
        store_u32be(out->buffer.bytes + at + 12, (*counter)++);
    out->events++;
}

static void write_event(struct ttr_writer *out, const ttr_event *event)
{
    bool is_raw = output_is_own_raw(out, event), is_copied = is_source_copied(out, event);
    if (is_raw && is_copied)
        copy_packet(out, event);
    else if (event->kind == TTR_KIND_DEFINITION || (event->kind == TTR_KIND_GAP && is_copied))
        /* omit definitions of other sources; gaps of the copied source are visible in its counters
         */
        return;
    else if (is_raw && can_copy_event(out, event))
        copy_with_new_counter(out, event);
    else
        encode_event(out, event);
}

static ttr_status check_memory_limit(const struct ttr_writer *out, ttr_error *error)
{
    const struct heph_writer *writer = out->ctx;
    return writer->is_out_of_memory || out->buffer.failed ? fail_memory(error) : TTR_OK;
}

ttr_status heph_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        write_event(out, ttr_batch_at(batch, i));
        ttr_status status = output_drain(out, error);
        if (status != TTR_OK)
            return status;
    }
    return check_memory_limit(out, error);
}

ttr_status heph_writer_finish(struct ttr_writer *out, ttr_error *error)
{
    struct heph_writer *writer = out->ctx;
    for (size_t i = 0; i < writer->pairs.n; i++) {
        const struct heph_begin *begin = &writer->pairs.begins[i];
        if (begin->is_open)
            write_unfinished_begin(out, begin);
        ttr_status status = output_drain(out, error);
        if (status != TTR_OK)
            return status;
    }
    /* write the epoch even without events, since an empty file is not a trace */
    if (!writer->has_epoch && (output_option(out, "epoch") || ttr_writer_bytes(out) == 0))
        append_epoch_packet(out, writer->epoch);
    return check_memory_limit(out, error);
}
