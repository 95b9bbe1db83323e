/* Encoder: converts an event of any format to a nettrace header and payload.
 *
 * If the only source is a nettrace trace, its ticks are kept; else ticks are nanoseconds. Payloads
 * of nettrace sources are copied if possible; others are encoded by nettrace_signature.c. */
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "base/wide.h"
#include "encodings/json/timeline.h"
#include "formats/nettrace/nettrace_writer.h"
#include "model/activity.h"

#define NS_PER_SECOND INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define YEAR_2250_NS INT64_C(8835984000000000000)

enum { LABEL_ACTIVITY = 1, LABEL_RELATED = 2, LABEL_LAST = 0x80 };

void nettrace_encode_init(struct nettrace_writer *w, const struct alloc *alloc)
{
    nettrace_block_writer_init(&w->blocks, alloc);
    key_map_init(&w->classes, alloc);
    key_map_init(&w->rows, alloc);
    pair_map_init(&w->ids, alloc);
    pair_map_init(&w->thread_of, alloc);
    pair_map_init(&w->of_track, alloc);
    nettrace_samples_init(&w->samples, alloc);
    buffer_init(&w->signature, alloc);
    buffer_init(&w->payload, alloc);
    buffer_init(&w->scratch, alloc);
}

void nettrace_encode_free(struct nettrace_writer *w, const struct alloc *alloc)
{
    nettrace_block_writer_free(&w->blocks);
    key_map_free(&w->classes);
    key_map_free(&w->rows);
    pair_map_free(&w->ids);
    pair_map_free(&w->thread_of);
    pair_map_free(&w->of_track);
    nettrace_samples_free(&w->samples);
    buffer_free(&w->signature);
    buffer_free(&w->payload);
    buffer_free(&w->scratch);
    alloc_free(alloc, w->threads, w->threads_capacity, sizeof *w->threads);
    alloc_free(alloc, w->by_id, w->by_id_n, sizeof *w->by_id);
    alloc_free(alloc, w->blocks.declared, w->blocks.declared_capacity, sizeof *w->blocks.declared);
    alloc_free(alloc, w->source_classes, w->source_classes_n, sizeof *w->source_classes);
    alloc_free(alloc, w->frames, w->frames_capacity, sizeof *w->frames);
}

/* --- Start of the trace: clock and process --- */

/* Returns an attribute of a source as a number, by its name, `name` or `other`; 0 if the source
 * has neither. */
static uint32_t find_number_attribute(const ttr *t, uint16_t source, const char *name,
                                      const char *other)
{
    ttr_attribute attribute;
    uint64_t number = 0;
    for (size_t i = 0; ttr_source_attribute(t, source, i, &attribute); i++) {
        bool is_it = (attribute.name.n == strlen(name) &&
                      memcmp(attribute.name.p, name, attribute.name.n) == 0) ||
                     (attribute.name.n == strlen(other) &&
                      memcmp(attribute.name.p, other, attribute.name.n) == 0);
        if (is_it && attribute.value.type == TTR_TYPE_UINT)
            number = attribute.value.v.u;
        else if (is_it && attribute.value.type == TTR_TYPE_TEXT)
            (void)number_parse_u64(attribute.value.text.p, attribute.value.text.n, &number);
    }
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* Sets the unit of output ticks to nanoseconds. Tick 0 is 1970 if the first event has a Unix time;
 * else a time before it, so that ticks are not negative. */
static void set_nanosecond_clock(const ttr *t, struct nettrace_writer *w, const ttr_event *event)
{
    bool is_dated =
        context_has_unix_time(t, event) && event->time > 0 && event->time < YEAR_2250_NS;
    w->trace_info.frequency = (uint64_t)NS_PER_SECOND;
    w->trace_info.sync_ms = is_dated ? event->time / NS_PER_MS : 0;
    w->base_ticks = event->time < 0 ? (uint64_t)0 - (uint64_t)event->time : 0;
    w->trace_info.sync_ticks = (uint64_t)(w->trace_info.sync_ms * NS_PER_MS) + w->base_ticks;
}

static void use_source_clock(struct ttr_writer *out, const ttr_event *event,
                             const struct nettrace_reader *reader)
{
    struct nettrace_writer *w = out->ctx;
    const struct input *in = reader->in;
    w->trace_info.processors =
        find_number_attribute(out->t, event->source, "processors", "HardwareThreadCount");
    w->trace_info.sampling_ns = find_number_attribute(out->t, event->source, "sampling_interval_ns",
                                                      "ExpectedCPUSamplingRate");
    w->trace_info.pointer_bytes = reader->pointer_bytes;
    w->trace_info.pid = reader->pid;
    w->trace_info.has_pid = reader->pid != 0;
    if (in->time_offset || in->clocks_n == 0 || reader->sync_ns < 0 || reader->sync_ns % NS_PER_MS)
        return;
    w->has_source_clock = true;
    w->clock_source = event->source;
    w->trace_info.frequency = in->clocks[0].frequency;
    w->trace_info.sync_ms = reader->sync_ns / NS_PER_MS;
    w->trace_info.sync_ticks = reader->sync_ticks;
}

/* Writes the file head and the Trace object. Clock and process are those of the first event. */
static void write_trace_start(struct ttr_writer *out, const ttr_event *event)
{
    /* number of sources if there is one input: source 0 is for events that the program itself
     * makes */
    enum { ONLY_ONE = 2 };
    struct nettrace_writer *w = out->ctx;
    const struct nettrace_reader *reader = event ? nettrace_get_source_reader(out, event) : NULL;
    const ttr_event none = {.time = 0};
    ttr_thread thread;
    w->mode = NETTRACE_ENCODES;
    if (!w->version)
        w->version = reader && reader->version < NETTRACE_V6 ? 5 : NETTRACE_V6;
    w->trace_info.pointer_bytes = 8;
    set_nanosecond_clock(out->t, w, event ? event : &none);
    if (event && ttr_thread_get(out->t, event->thread, &thread) && thread.pid_known) {
        w->trace_info.pid = thread.pid;
        w->trace_info.has_pid = true;
    }
    if (reader && out->t->sources_n == ONLY_ONE)
        use_source_clock(out, event, reader);
    nettrace_append_file_head(out, w->version);
    nettrace_append_trace(out,
                          w->version < 5    ? w->version
                          : w->version == 5 ? 4
                                            : w->version,
                          &w->trace_info);
}

/* --- Conversion of times to ticks --- */

/* Converts a time in ns to ticks of the source's clock. */
static uint64_t convert_time_to_ticks(const struct nettrace_writer *w, int64_t time)
{
    int128 since = (int128)time - (int128)w->trace_info.sync_ms * NS_PER_MS;
    return w->trace_info.sync_ticks +
           (uint64_t)(int64_t)(since * (int128)w->trace_info.frequency / NS_PER_SECOND);
}

static uint64_t get_event_ticks(struct ttr_writer *out, const ttr_event *event)
{
    struct nettrace_writer *w = out->ctx;
    bool has_ticks = event->source == w->clock_source && !(event->flags & TTR_EVENT_NO_TIME);
    uint64_t ticks = !w->has_source_clock ? (uint64_t)event->time + w->base_ticks
                     : has_ticks          ? event->ticks
                                          : convert_time_to_ticks(w, event->time);
    bool is_early = w->has_source_clock ? ticks < w->last_ticks
                                        : event->time < (int64_t)(w->last_ticks - w->base_ticks);
    if (is_early) {
        output_count_loss(out, NETTRACE_LOST_ORDER, event->offset);
        ticks = w->last_ticks;
    }
    if (event->source && ticks != event->ticks && !(event->flags & TTR_EVENT_NO_TIME))
        output_count_loss(out, NETTRACE_LOST_TICKS, event->offset);
    w->last_ticks = ticks;
    return ticks;
}

/* --- Thread of an event --- */

/* Writes a sequence point if the event's thread was renamed. Counts thread names that cannot be
 * stored. */
static ttr_status write_point_if_renamed(struct ttr_writer *out, const ttr_event *event,
                                         ttr_error *error)
{
    const struct nettrace_writer *w = out->ctx;
    size_t thread = nettrace_get_output_thread_index(out, event->thread);
    if (thread == SIZE_MAX || !nettrace_count_lost_names(out, event->thread, thread, event->offset))
        return fail_memory(error);
    return nettrace_is_v6(w) && nettrace_thread_is_renamed(out, thread)
               ? nettrace_write_sequence_point(out, error)
               : TTR_OK;
}

/* --- Stack and labels of an event --- */

/* Returns the number in the output of a nettrace event's stack; its addresses are copied
 * unchanged. */
static uint32_t intern_source_stack(struct nettrace_writer *w, const struct nettrace_reader *reader,
                                    const ttr_event *event)
{
    uint32_t n;
    const uint8_t *stack = nettrace_get_stored_frames(reader, event, &n);
    uint32_t number = stack ? nettrace_intern_bytes(&w->blocks.stacks, stack,
                                                    (size_t)n * reader->pointer_bytes, true)
                            : 0;
    w->is_out_of_memory |= stack && !number;
    return number;
}

static uint32_t intern_event_stack(struct ttr_writer *out, const ttr_event *event)
{
    struct nettrace_writer *w = out->ctx;
    const struct nettrace_reader *reader = nettrace_get_source_reader(out, event);
    bool is_lost = false;
    if (reader && reader->pointer_bytes == w->trace_info.pointer_bytes)
        return event->stack ? intern_source_stack(w, reader, event) : 0;
    uint32_t n = event->stack || event->kind == TTR_KIND_SAMPLE
                     ? ttr_event_frames(out->t, event, w->frames, (uint32_t)w->frames_capacity)
                     : 0;
    if (n == 0)
        return 0;
    if (n > w->frames_capacity) {
        if (!alloc_reserve(&out->t->counted, (void **)&w->frames, &w->frames_capacity, n,
                           sizeof *w->frames)) {
            w->is_out_of_memory = true;
            return 0;
        }
        n = ttr_event_frames(out->t, event, w->frames, n);
    }
    buffer_clear(&w->scratch);
    for (uint32_t i = 0; i < n; i++) {
        is_lost |= w->trace_info.pointer_bytes == 4 && w->frames[i] > UINT32_MAX;
        if (w->trace_info.pointer_bytes == 4)
            nettrace_append_u32(&w->scratch, (uint32_t)w->frames[i]);
        else
            nettrace_append_u64(&w->scratch, w->frames[i]);
    }
    if (is_lost)
        output_count_loss(out, NETTRACE_LOST_POINTER, event->offset);
    uint32_t number = w->scratch.failed ? 0
                                        : nettrace_intern_bytes(&w->blocks.stacks, w->scratch.bytes,
                                                                w->scratch.n, true);
    w->is_out_of_memory |= !number;
    return number;
}

/* V6: returns the number in the output of an event's label list; 0 if the event has no labels. */
static uint32_t intern_event_labels(struct ttr_writer *out, const ttr_event *event,
                                    bool is_source_class)
{
    struct nettrace_writer *w = out->ctx;
    const struct nettrace_reader *reader =
        is_source_class ? nettrace_get_source_reader(out, event) : NULL;
    uint8_t list[34], *to = list;
    const uint8_t *p = list;
    uint32_t n;
    if (!reader || !event->part || !nettrace_find_label_list(reader, event->part, &p, &n)) {
        if (event->activity) {
            *to++ = LABEL_ACTIVITY | (event->related ? 0 : LABEL_LAST);
            memcpy(to, event->activity, 16);
            to += 16;
        }
        if (event->related) {
            *to++ = LABEL_RELATED | LABEL_LAST;
            memcpy(to, event->related, 16);
            to += 16;
        }
        p = list;
        n = (uint32_t)(to - list);
    }
    uint32_t number = n ? nettrace_intern_bytes(&w->blocks.labels, p, n, false) : 0;
    w->is_out_of_memory |= n && !number;
    return number;
}

/* --- Content of an event --- */

static void count_event_losses(struct ttr_writer *out, const ttr_event *event, uint32_t sequence,
                               bool is_described)
{
    const struct nettrace_writer *w = out->ctx;
    uint64_t offset = event->offset;
    ttr_thread thread = {0};
    bool has_thread = ttr_thread_get(out->t, event->thread, &thread);
    if (!has_thread || !thread.tid_known || !thread.pid_known)
        output_count_loss(out, NETTRACE_LOST_THREAD, offset);
    else if (!nettrace_is_v6(w) && thread.pid != w->trace_info.pid)
        output_count_loss(out, NETTRACE_LOST_PID, offset);
    if (event->sequence && event->sequence != sequence)
        output_count_loss(out, NETTRACE_LOST_SEQUENCE, offset);
    if (event->flags & (TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED))
        output_count_loss(out, NETTRACE_LOST_MARK, offset);
    if (event->flags & TTR_EVENT_BACKWARD)
        output_count_loss(out, NETTRACE_LOST_BACKWARD, offset);
    if (event->flags & TTR_EVENT_PARTIAL)
        output_count_loss(out, NETTRACE_LOST_PARTIAL, offset);
    if (context_schema(out->t, event->schema)->has_texts)
        output_count_loss(out, NETTRACE_LOST_TEXTS, offset);
    if (is_described)
        return;
    uint32_t number, version;
    if (ttr_event_number(out->t, event, &number, &version))
        output_count_loss(out, NETTRACE_LOST_NUMBER, offset);
    uint8_t opcode = nettrace_get_output_opcode(w, event),
            by_name = activity_opcode_of_name(ttr_text_get(out->t, event->name));
    /* opcode that readers of the output will derive */
    opcode = opcode ? opcode : by_name;
    if (event->opcode && opcode != event->opcode)
        output_count_loss(out, NETTRACE_LOST_OPCODE, offset);
    if (!event->opcode && opcode && opcode == by_name &&
        (event->kind < TTR_KIND_ASYNC_BEGIN || event->kind > TTR_KIND_ASYNC_END))
        output_count_loss(out, NETTRACE_LOST_START_NAME, offset);
    if (!event->name)
        output_count_loss(out, NETTRACE_LOST_NAME, offset);
    if (!event->provider)
        output_count_loss(out, NETTRACE_LOST_PROVIDER, offset);
}

/* Encodes the content of an event: sets the payload and returns the metadata number; 0 if memory
 * is out. */
static uint32_t encode_content(struct ttr_writer *out, const ttr_event *event,
                               const uint8_t **payload, uint32_t *payload_n, bool *is_source_class)
{
    struct nettrace_writer *w = out->ctx;
    uint32_t number = nettrace_get_source_class(out, event);
    *is_source_class = number != 0;
    if (number) {
        *payload = event->payload;
        *payload_n = event->payload_size;
        count_event_losses(out, event, w->sequence, true);
        return number;
    }
    number = event->kind == TTR_KIND_SAMPLE ? nettrace_get_sample_class(out, event) : 0;
    count_event_losses(out, event, w->sequence, number != 0);
    if (!number) {
        buffer_clear(&w->signature);
        buffer_clear(&w->payload);
        nettrace_encode_fields(out, event);
        number = nettrace_get_signature_class(out, event);
    }
    *payload = w->payload.bytes;
    *payload_n = (uint32_t)w->payload.n;
    return w->payload.failed ? 0 : number;
}

/* Encodes a gap by increasing the sequence number of its thread, which the next event or sequence
 * point stores. */
static ttr_status encode_gap(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    const uint32_t *known = event->track ? pair_map_get(&w->of_track, event->track, 0) : NULL;
    ttr_source source;
    ttr_track track;
    bool is_capture = ttr_source_get(out->t, event->source, &source) && source.format &&
                      strcmp(source.format, "nettrace") == 0 &&
                      ttr_track_get(out->t, event->track, &track);
    if (event->link == 0) {
        output_count_loss(out, NETTRACE_LOST_GAP_UNKNOWN, event->offset);
        return TTR_OK;
    }
    size_t index = known ? *known
                   : is_capture
                       ? nettrace_get_thread_index_of_tid(w, w->trace_info.pid, track.number)
                       : nettrace_get_output_thread_index(out, event->thread);
    if (index == SIZE_MAX)
        return fail_memory(error);
    struct nettrace_output_thread *thread = &w->threads[index];
    (void)nettrace_declare_thread(out, index);
    uint32_t room = (uint32_t)INT32_MAX - thread->missing;
    output_count_loss(out, event->link > room ? NETTRACE_LOST_GAP_UNKNOWN : NETTRACE_LOST_GAP,
                      event->offset);
    uint32_t n = event->link < room ? (uint32_t)event->link : room;
    /* readers ignore lost events before the first event of a thread; a sequence point makes the
     * thread known to them */
    if (!nettrace_is_v6(w) && thread->sequence == 0) {
        thread->sequence = 1;
        ttr_status status = nettrace_write_sequence_point(out, error);
        if (status != TTR_OK)
            return status;
    }
    thread->sequence += n;
    thread->missing += n;
    return TTR_OK;
}

ttr_status nettrace_encode_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    const uint8_t *payload = NULL;
    bool is_source_class = false;
    if (w->mode != NETTRACE_ENCODES)
        write_trace_start(out, event);
    if (event->kind == TTR_KIND_GAP)
        return encode_gap(out, event, error);
    ttr_status status = write_point_if_renamed(out, event, error);
    if (status != TTR_OK)
        return status;
    struct nettrace_header header = {.ticks = get_event_ticks(out, event),
                                     .flags = NETTRACE_IS_SORTED};
    const bool is_code_sample =
        !nettrace_get_source_reader(out, event) && nettrace_is_code_sample(out, event);
    if ((is_code_sample && !nettrace_declare_sample_code(out, event, header.ticks)) ||
        !nettrace_set_header_threads(out, event, &header))
        return fail_memory(error);
    w->sequence = header.sequence;
    if (is_code_sample) {
        header.metadata = nettrace_encode_code_sample(out, event);
        payload = w->payload.bytes;
        header.payload_size = (uint32_t)w->payload.n;
        count_event_losses(out, event, w->sequence, true);
    } else {
        header.metadata =
            encode_content(out, event, &payload, &header.payload_size, &is_source_class);
    }
    header.stack = intern_event_stack(out, event);
    if (nettrace_is_v6(w)) {
        header.labels = intern_event_labels(out, event, is_source_class);
    } else {
        header.activity = event->activity;
        header.related = event->related;
    }
    if (!header.metadata || w->is_out_of_memory)
        return fail_memory(error);
    nettrace_append_event(w, &header, payload);
    output_count_event(out, event);
    status = nettrace_write_full_blocks(out, error);
    return w->is_out_of_memory && status == TTR_OK ? fail_memory(error) : status;
}

/* Counts the loss of thread names that became known after the thread's last event. Returns false
 * if memory runs out. */
static bool count_late_names(struct ttr_writer *out)
{
    const struct nettrace_writer *w = out->ctx;
    bool is_good = true;
    for (ttr_id id = 1; id < w->by_id_n && is_good; id++)
        is_good =
            !w->by_id[id].index || nettrace_count_lost_names(out, id, w->by_id[id].index - 1, 0);
    return is_good;
}

ttr_status nettrace_encode_finish(struct ttr_writer *out, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    if (w->mode != NETTRACE_ENCODES)
        write_trace_start(out, NULL);
    if (!count_late_names(out))
        return fail_memory(error);
    ttr_status status = w->threads_n ? nettrace_write_sequence_point(out, error) : TTR_OK;
    if (status != TTR_OK)
        return status;
    nettrace_append_end_mark(out, w->version);
    return w->is_out_of_memory || out->buffer.failed ? fail_memory(error) : TTR_OK;
}
