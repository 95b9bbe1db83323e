/* Writes one event of each kind as Perfetto packets.
 *
 *   instant, log, blob    a slice of duration 0 on the track of the thread
 *   begin, end, span      slices; a span is a begin and an end
 *   async                 slices on the track of the id; steps are instants on it
 *   flow                  ties the enclosing slices together
 *   counter               a value on a track per field
 *   object                names a process or thread, describes modules and mappings for frames;
 *                         others are instants on track "objects"
 *   gap                   an instant on track "lost events"
 *   switch, wake, sample  see perfetto_sched.c, perfetto_frames.c
 *
 * Left out: previous_packet_dropped for gaps. It means that packets of this sequence are missing,
 * and readers would then reject packets until the interned state is cleared. */
#include "base/hash.h"
#include "formats/perfetto/perfetto.h"
#include "model/activity.h"

/* maximum number of bytes of a blob that are written (as hexadecimal digits) */
#define BLOB_BYTES_MAX 4096

/* --- Members of a track event --- */

static void add_iid(struct perfetto *p, unsigned field, uint32_t iid)
{
    uint8_t *at = buffer_room(p->to, 1 + PROTOBUF_VARINT_MAX);
    if (!at)
        return;
    *at++ = (uint8_t)(field << 3);
    p->to->n = (size_t)(protobuf_write_varint(at, iid) - p->to->bytes);
}

/* Appends each category in a comma-separated list as a category of the event. */
static void add_category_list(struct perfetto *p, ttr_text list)
{
    while (list.n) {
        const char *comma = memchr(list.p, ',', list.n);
        size_t n = comma ? (size_t)(comma - list.p) : list.n;
        ttr_id part = ttr_text_add(p->out->t, list.p, n);
        p->to->failed |= n && !part;
        if (part)
            add_iid(p, EVENT_CATEGORY_IIDS, perfetto_intern(p, part, IN_CATEGORIES));
        n += comma != NULL;
        list.p += n;
        list.n -= n;
    }
}

static void add_category(struct perfetto *p, ttr_id id)
{
    const struct string_use *use = id ? perfetto_get_string_properties(p, id) : NULL;
    if (!use)
        return;
    if (use->has_comma)
        add_category_list(p, ttr_text_get(p->out->t, id));
    else
        add_iid(p, EVENT_CATEGORY_IIDS, perfetto_intern(p, id, IN_CATEGORIES));
}

static void add_name(struct perfetto *p, ttr_id id, const char *otherwise)
{
    if (id)
        add_iid(p, EVENT_NAME_IID, perfetto_intern(p, id, IN_NAMES));
    else if (otherwise)
        protobuf_write_string(p->to, EVENT_NAME, otherwise);
}

static void add_callstack(struct perfetto *p, const ttr_event *event)
{
    uint32_t iid = perfetto_intern_event_stack(p, event);
    if (iid)
        protobuf_write_u64(p->to, EVENT_CALLSTACK_IID, iid);
}

static void add_remaining_fields(struct perfetto *p, const ttr_event *event,
                                 const struct slice_track *slice_track)
{
    add_callstack(p, event);
    perfetto_append_fields(p, event, NULL, SIZE_MAX);
    perfetto_add_event_attributes(p, event, slice_track);
}

static struct open_event begin_named_event(struct perfetto *p, const ttr_event *event,
                                           unsigned type, const char *otherwise)
{
    const struct slice_track *slice_track = perfetto_get_slice_track(p, event);
    struct open_event open =
        perfetto_begin_event(p, event->time, type, slice_track ? slice_track->uuid : 0);
    add_category(p, event->category);
    add_name(p, event->name, otherwise);
    return open;
}

/* --- Begins, ends and spans --- */

static void write_track_event(struct perfetto *p, const ttr_event *event, unsigned type,
                              const char *otherwise)
{
    struct slice_track *slice_track = perfetto_get_slice_track(p, event);
    if (!slice_track)
        return;
    slice_track->open_n += type == TYPE_BEGIN;
    struct open_event open = perfetto_begin_event(p, event->time, type, slice_track->uuid);
    add_category(p, event->category);
    add_name(p, event->name, otherwise);
    add_remaining_fields(p, event, slice_track);
    perfetto_end_event(p, open);
}

/* Writes an end, which closes the innermost open slice. The end gets no name, since it would then
 * close only a slice with that name. */
static void write_slice_end(struct perfetto *p, const ttr_event *event)
{
    struct slice_track *slice_track = perfetto_get_slice_track(p, event);
    if (!slice_track)
        return;
    if (slice_track->open_n == 0) {
        perfetto_count_loss(p, LOSS_SPAN_END);
        return;
    }
    slice_track->open_n--;
    struct open_event open = perfetto_begin_event(p, event->time, TYPE_END, slice_track->uuid);
    add_remaining_fields(p, event, slice_track);
    perfetto_end_event(p, open);
}

static int64_t get_end_time(const ttr_event *event)
{
    int64_t room = INT64_MAX - (event->time > 0 ? event->time : 0);
    return event->duration > (uint64_t)room ? event->time + room
                                            : event->time + (int64_t)event->duration;
}

static void write_span(struct perfetto *p, const ttr_event *event)
{
    struct slice_track *slice_track = perfetto_get_slice_track(p, event);
    if (!slice_track)
        return;
    int64_t end = get_end_time(event);
    uint64_t uuid = perfetto_choose_span_track(p, slice_track, event->time, end);
    struct open_event open = perfetto_begin_event(p, event->time, TYPE_BEGIN, uuid);
    add_category(p, event->category);
    add_name(p, event->name, NULL);
    add_remaining_fields(p, event, slice_track);
    perfetto_end_event(p, open);
    perfetto_end_event(p, perfetto_begin_event(p, end, TYPE_END, uuid));
}

/* --- Async spans and flows --- */

static void write_async(struct perfetto *p, const ttr_event *event)
{
    static const uint8_t types[] = {TYPE_BEGIN, TYPE_INSTANT, TYPE_END};
    unsigned part = event->kind - TTR_KIND_ASYNC_BEGIN;
    struct async_track *track = perfetto_get_async_track(p, event, 1 - (int)part);
    if (!track && part == 2)
        perfetto_count_loss(p, LOSS_SPAN_END);
    if (!track)
        return;
    bool is_end = part == 2, is_new_thread = track->thread != event->thread;
    struct slice_track slice_track = {.provider = track->provider, .has_provider = true};
    ttr_thread thread;
    track->thread = event->thread;
    struct open_event open = perfetto_begin_event(p, event->time, types[part], track->uuid);
    if (!is_end) {
        add_category(p, event->category);
        add_name(p, activity_span_name(p->out->t, event), NULL);
    }
    add_callstack(p, event);
    perfetto_append_fields(p, event, NULL, SIZE_MAX);
    if (!is_end)
        perfetto_add_u64(p, KEY_ID, event->link);
    /* the track belongs to the process, so write the tid as an annotation */
    if (is_new_thread && ttr_thread_get(p->out->t, event->thread, &thread) && thread.tid_known)
        perfetto_add_u64(p, KEY_TID, thread.tid);
    perfetto_add_event_attributes(p, event, &slice_track);
    perfetto_end_event(p, open);
}

/* Counts all parts of a flow event except its id as lost. */
static void count_flow_losses(struct perfetto *p, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    unsigned n = perfetto_count_lost_attributes(p, event);
    ttr_fields_begin(p->out->t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        n += field.depth == 0;
    for (; n; n--)
        perfetto_count_loss(p, LOSS_FLOW_ATTRIBUTE);
}

/* Writes a flow event as one of the Chrome format, which binds to the slice around it; an end
 * without one to the next slice of its thread.  Other flow ids need an instant of their own. */
static void write_flow(struct perfetto *p, const ttr_event *event)
{
    static const char phases[] = {'s', 't', 'f'};
    const struct slice_track *slice_track = perfetto_get_slice_track(p, event);
    uint32_t number = perfetto_get_flow_number(p, event);
    if (!slice_track)
        return;
    const bool is_in_span = perfetto_has_open_slice(slice_track, event->time);
    const bool is_end = event->kind == TTR_KIND_FLOW_END;
    /* an end that ttr_interpret added precedes its span */
    const bool binds_to_next = is_end && (!is_in_span || event->flags & TTR_EVENT_ADDED);
    if (!number || (!is_in_span && !is_end)) {
        perfetto_count_loss(p, LOSS_FLOW);
        return;
    }
    count_flow_losses(p, event);
    struct open_event open = perfetto_begin_event(p, event->time, 0, slice_track->uuid);
    add_category(p, event->category);
    add_name(p, event->name, "flow");
    size_t legacy = protobuf_begin_message(p->to, EVENT_LEGACY);
    protobuf_write_u64(p->to, LEGACY_PHASE, (uint64_t)phases[event->kind - TTR_KIND_FLOW_BEGIN]);
    protobuf_write_u64(p->to, LEGACY_ID, number);
    if (is_end && !binds_to_next)
        protobuf_write_bool(p->to, LEGACY_BIND_TO_ENCLOSING, true);
    protobuf_end_message(p->to, legacy);
    perfetto_end_event(p, open);
}

/* --- Counter events --- */

static bool is_number_value(const ttr_value *value)
{
    return value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT ||
           value->type == TTR_TYPE_FLOAT || value->type == TTR_TYPE_BOOL;
}

static void write_counter_value(struct perfetto *p, const ttr_event *event, const ttr_field *field)
{
    const ttr_value *value = &field->value;
    const struct counter_track *track = perfetto_get_counter_track(p, event, field);
    if (!track)
        return;
    struct open_event open = perfetto_begin_event(p, event->time, TYPE_COUNTER, track->uuid);
    bool is_big = value->type == TTR_TYPE_UINT && value->v.u > INT64_MAX;
    if (value->type == TTR_TYPE_FLOAT)
        protobuf_write_double(p->to, EVENT_COUNTER_DOUBLE, value->v.f);
    else if (is_big)
        protobuf_write_double(p->to, EVENT_COUNTER_DOUBLE, (double)value->v.u);
    else
        protobuf_write_i64(p->to, EVENT_COUNTER, value->v.s);
    perfetto_end_event(p, open);
    if (is_big || value->type == TTR_TYPE_BOOL)
        perfetto_count_loss(p, LOSS_COUNTER_VALUE);
    unsigned others = (track->provider != event->provider ? 1u : 0) +
                      (track->category != event->category ? 1u : 0) +
                      (track->thread != event->thread ? 1u : 0);
    for (others += perfetto_count_lost_attributes(p, event); others; others--)
        perfetto_count_loss(p, LOSS_COUNTER_ATTRIBUTE);
}

static void write_counter(struct perfetto *p, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    unsigned written = 0, others = 0;
    ttr_fields_begin(p->out->t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        bool is_series = field.depth == 0 && is_number_value(&field.value);
        if (is_series)
            write_counter_value(p, event, &field);
        written += is_series;
        others += field.depth == 0 && !is_series;
    }
    if (written == 0) {
        perfetto_count_loss(p, LOSS_COUNTER_EMPTY);
        write_track_event(p, event, TYPE_INSTANT, "counter");
        return;
    }
    for (; others; others--)
        perfetto_count_loss(p, LOSS_COUNTER_FIELD);
}

/* --- Log messages and blobs --- */

/* Interns a log message and returns its iid. A text that is not an interned string gets a new iid,
 * which is used once. */
static uint32_t intern_log_body(struct perfetto *p, const ttr_value *value)
{
    if (value->text_id)
        return perfetto_intern(p, value->text_id, IN_LOG_BODIES);
    uint32_t iid = perfetto_assign_iid(p);
    size_t mark = protobuf_begin_message(&p->interned, INTERNED_LOG_BODIES);
    protobuf_write_u64(&p->interned, STRING_IID, iid);
    perfetto_append_text(p, &p->interned, STRING_TEXT, value->text);
    protobuf_end_message(&p->interned, mark);
    return iid;
}

static void add_log_message(struct perfetto *p, const ttr_event *event, const ttr_value *value)
{
    static const uint8_t priorities[] = {0,           LOG_VERBOSE, LOG_DEBUG, LOG_INFO,
                                         LOG_WARNING, LOG_ERROR,   LOG_FATAL};
    uint32_t body = intern_log_body(p, value);
    size_t mark = protobuf_begin_message(p->to, EVENT_LOG_MESSAGE);
    protobuf_write_u64(p->to, LOG_BODY_IID, body);
    if (event->level && event->level < sizeof priorities)
        protobuf_write_u64(p->to, LOG_PRIORITY, priorities[event->level]);
    protobuf_end_message(p->to, mark);
}

static void write_log(struct perfetto *p, const ttr_event *event)
{
    ttr_field field;
    bool has_message =
        ttr_field_find(p->out->t, event, "message", &field) && field.value.type == TTR_TYPE_TEXT;
    const struct slice_track *slice_track = perfetto_get_slice_track(p, event);
    if (!slice_track)
        return;
    struct open_event open = begin_named_event(p, event, TYPE_INSTANT, "log");
    if (has_message)
        add_log_message(p, event, &field.value);
    add_callstack(p, event);
    perfetto_append_fields(p, event, has_message ? "message" : NULL, SIZE_MAX);
    perfetto_add_event_attributes(p, event, slice_track);
    perfetto_end_event(p, open);
}

static void write_blob(struct perfetto *p, const ttr_event *event)
{
    const struct slice_track *slice_track = perfetto_get_slice_track(p, event);
    if (!slice_track)
        return;
    struct open_event open = begin_named_event(p, event, TYPE_INSTANT, "blob");
    perfetto_append_fields(p, event, NULL, BLOB_BYTES_MAX);
    perfetto_add_u64(p, KEY_TYPE, event->tag);
    perfetto_add_event_attributes(p, event, slice_track);
    perfetto_end_event(p, open);
}

/* --- Objects and gaps --- */

static void add_object_kind(struct perfetto *p, unsigned kind)
{
    static const char *const words[] = {"other",   "process", "thread",
                                        "pointer", "module",  "mapping"};
    if (kind < sizeof words / sizeof *words)
        perfetto_add_word(p, KEY_KIND, words[kind]);
    else
        perfetto_add_u64(p, KEY_KIND, kind);
}

static void write_global_instant(struct perfetto *p, const ttr_event *event,
                                 struct slice_track *slice_track, const char *name)
{
    struct open_event open = perfetto_begin_event(p, event->time, TYPE_INSTANT, slice_track->uuid);
    add_category(p, event->category);
    add_name(p, event->name, name);
    perfetto_append_fields(p, event, NULL, SIZE_MAX);
    if (event->kind == TTR_KIND_GAP)
        perfetto_add_u64(p, KEY_LOST, event->link);
    else if (event->tag == TTR_OBJECT_POINTER)
        perfetto_add_pointer(p, KEY_ID, event->link);
    else
        perfetto_add_u64(p, KEY_ID, event->link);
    if (event->kind == TTR_KIND_OBJECT)
        add_object_kind(p, event->tag);
    perfetto_add_thread(p, event->thread);
    perfetto_add_event_attributes(p, event, slice_track);
    perfetto_end_event(p, open);
}

static void write_gap(struct perfetto *p, const ttr_event *event)
{
    perfetto_count_loss(p, LOSS_GAP);
    write_global_instant(p, event, perfetto_get_global_track(p, &p->gaps, "lost events"),
                         "lost events");
}

/* Returns true if an object event only repeats what the descriptor of its process or thread
 * contains. */
static bool is_descriptor_repetition(const struct perfetto *p, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    if ((event->tag != TTR_OBJECT_PROCESS && event->tag != TTR_OBJECT_THREAD) || event->thread == 0)
        return false;
    ttr_fields_begin(p->out->t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        if (event->tag != TTR_OBJECT_THREAD || field.name.n != 7 ||
            memcmp(field.name.p, "process", 7) != 0)
            return false;
    return true;
}

static void write_object(struct perfetto *p, const ttr_event *event)
{
    const bool is_name = event->tag == TTR_OBJECT_PROCESS || event->tag == TTR_OBJECT_THREAD;
    const bool has_no_time = (event->flags & TTR_EVENT_NO_TIME) != 0;
    if (is_name && event->thread)
        (void)perfetto_describe_thread(p, event->thread);
    if (event->tag == TTR_OBJECT_MODULE || event->tag == TTR_OBJECT_MAPPING) {
        p->to->failed |= !symbols_add_object(p->out->t, event);
        return;
    }
    if (is_descriptor_repetition(p, event) || (is_name && has_no_time))
        return;
    if (has_no_time) {
        perfetto_count_loss(p, LOSS_NO_TIME);
        return;
    }
    perfetto_count_loss(p, LOSS_OBJECT);
    write_global_instant(p, event, perfetto_get_global_track(p, &p->objects, "objects"), NULL);
}

/* --- Scheduling events without a CPU --- */

static void write_as_instant(struct perfetto *p, const ttr_event *event, enum perfetto_loss loss)
{
    ttr_thread from;
    const struct slice_track *slice_track = perfetto_get_slice_track(p, event);
    if (!slice_track)
        return;
    perfetto_count_loss(p, loss);
    struct open_event open = begin_named_event(p, event, TYPE_INSTANT, ttr_kind_text(event->kind));
    perfetto_append_fields(p, event, NULL, SIZE_MAX);
    if (event->kind == TTR_KIND_SWITCH) {
        const char *word = perfetto_get_thread_state_name(event->tag);
        if (word)
            perfetto_add_word(p, KEY_TYPE, word);
        else
            perfetto_add_u64(p, KEY_TYPE, event->tag);
        if (event->link <= UINT32_MAX && ttr_thread_get(p->out->t, (ttr_id)event->link, &from))
            perfetto_add_u64(p, KEY_FROM, from.tid);
    }
    perfetto_add_event_attributes(p, event, slice_track);
    perfetto_end_event(p, open);
}

/* Writes a switch or wake-up. A stack of the event belongs to the thread that ran until then. */
static void write_scheduling(struct perfetto *p, const ttr_event *event)
{
    bool is_written = event->kind == TTR_KIND_SWITCH ? perfetto_write_switch(p, event)
                                                     : perfetto_write_wake(p, event);
    if (is_written)
        perfetto_write_event_stack(p, event,
                                   event->link < p->out->t->threads_n ? (ttr_id)event->link : 0);
    else
        write_as_instant(p, event, LOSS_SCHED_NO_CPU);
}

/* Returns true if the event is left out because it has no time. Perfetto draws all such events at
 * a time. */
static bool is_lost_without_time(const ttr_event *event)
{
    return (event->flags & TTR_EVENT_NO_TIME) && event->kind != TTR_KIND_OBJECT &&
           event->kind != TTR_KIND_SAMPLE;
}

void perfetto_write_event(struct perfetto *p, const ttr_event *event)
{
    p->offset = event->offset;
    p->has_time = !(event->flags & TTR_EVENT_NO_TIME);
    if (is_lost_without_time(event)) {
        perfetto_count_loss(p, LOSS_NO_TIME);
        return;
    }
    switch (event->kind) {
    case TTR_KIND_INSTANT:
        write_track_event(p, event, TYPE_INSTANT, NULL);
        break;
    case TTR_KIND_BEGIN:
        write_track_event(p, event, TYPE_BEGIN, NULL);
        break;
    case TTR_KIND_END:
        write_slice_end(p, event);
        break;
    case TTR_KIND_SPAN:
        write_span(p, event);
        break;
    case TTR_KIND_COUNTER:
        write_counter(p, event);
        break;
    case TTR_KIND_ASYNC_BEGIN:
    case TTR_KIND_ASYNC_STEP:
    case TTR_KIND_ASYNC_END:
        write_async(p, event);
        break;
    case TTR_KIND_FLOW_BEGIN:
    case TTR_KIND_FLOW_STEP:
    case TTR_KIND_FLOW_END:
        write_flow(p, event);
        break;
    case TTR_KIND_SWITCH:
    case TTR_KIND_WAKE:
        write_scheduling(p, event);
        break;
    case TTR_KIND_SAMPLE:
        if (!perfetto_write_sample(p, event))
            write_as_instant(p, event, LOSS_SAMPLE_EMPTY);
        break;
    case TTR_KIND_LOG:
        write_log(p, event);
        break;
    case TTR_KIND_BLOB:
        write_blob(p, event);
        break;
    case TTR_KIND_OBJECT:
        write_object(p, event);
        break;
    case TTR_KIND_GAP:
        write_gap(p, event);
        break;
    default:
        perfetto_count_loss(p, LOSS_KIND);
        write_track_event(p, event, TYPE_INSTANT, ttr_kind_text(event->kind));
    }
}
