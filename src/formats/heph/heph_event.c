/* Converts a packet to an event. Called for every event, so descriptions and threads are cached in
 * small direct-mapped tables that are looked up before those of the context. */
#include <string.h>

#include "base/hash.h"
#include "formats/heph/heph.h"

/* Loads the first and last eight bytes of a description, for comparison. Since the header precedes
 * the description, eight bytes before its end can always be loaded; bytes of the header are
 * shifted out. */
static void load_first_and_last_bytes(const uint8_t *p, uint32_t n, uint64_t *first, uint64_t *last)
{
    uint64_t tail = load_u64be(p + n - 8);
    *last = n >= 8 ? tail : n ? tail << (64 - 8 * n) : 0;
    *first = n >= 8 ? load_u64be(p) : n;
}

static bool name_equals(const struct heph_name *name, const struct heph_name *wanted)
{
    return name->n == wanted->n && name->first == wanted->first && name->last == wanted->last &&
           name->p && (wanted->n <= 16 || memcmp(name->p, wanted->p, wanted->n) == 0);
}

/* Returns the cache entry of a description. Adds the description if it is new. Returns NULL if
 * memory runs out. */
static const struct heph_name *intern_description(struct input *in, const uint8_t *p, uint32_t n)
{
    struct heph_reader *reader = in->ctx;
    struct heph_name wanted = {.p = (const char *)p, .n = n};
    load_first_and_last_bytes(p, n, &wanted.first, &wanted.last);
    struct heph_name *slot =
        &reader->names[hash_fold(wanted.first ^ 0x9e3779b97f4a7c15u, wanted.last + n) %
                       HEPH_NAME_SLOTS];
    if (name_equals(slot, &wanted))
        return slot;
    wanted.id = intern_add(&in->base.t->strings, p, n);
    if (wanted.id == UINT32_MAX)
        return NULL;
    wanted.p = intern_get(&in->base.t->strings, wanted.id).p;
    wanted.meaning = (uint8_t)heph_classify_name(p, n);
    *slot = wanted;
    return slot;
}

uint32_t heph_add_stream(struct input *in, uint32_t stream)
{
    struct heph_reader *reader = in->ctx;
    bool is_new = false;
    uint32_t index = heph_counters_add_stream(&reader->counters, stream, &is_new);
    if (index == UINT32_MAX || !is_new)
        return index;
    ttr_id track = context_add_track(in->base.t, &(ttr_track){.number = stream, .source = in->id});
    reader->counters.streams[index].track = track;
    return track && heph_set_stream_name(in, stream) ? index : UINT32_MAX;
}

static bool fill_thread_slot(struct input *in, uint32_t stream, uint64_t substream,
                             struct heph_thread *slot)
{
    struct heph_reader *reader = in->ctx;
    uint32_t index = heph_add_stream(in, stream);
    ttr_id thread = context_thread(in->base.t, in->id, stream, substream);
    if (index == UINT32_MAX || !thread)
        return false;
    reader->has_substreams |= substream != 0;
    *slot = (struct heph_thread){
        .stream = stream, .substream = substream, .index = index, .thread = thread};
    return true;
}

/* Returns the cache entry of a stream and substream. Adds the thread if it is new. Returns NULL if
 * memory runs out. */
static const struct heph_thread *intern_thread(struct input *in, uint32_t stream,
                                               uint64_t substream)
{
    struct heph_reader *reader = in->ctx;
    struct heph_thread *slot = &reader->threads[hash_pair(stream, substream) % HEPH_THREAD_SLOTS];
    if (slot->thread && slot->stream == stream && slot->substream == substream)
        return slot;
    slot->thread = 0;
    return fill_thread_slot(in, stream, substream, slot) ? slot : NULL;
}

/* Sets time and duration of an event from the epoch and the packet's start and end, in ns. Clamps
 * times that overflow, and sets a flag. */
static void set_event_time(const struct heph_reader *reader, ttr_event *event, uint64_t start,
                           uint64_t end)
{
    uint64_t time;
    bool is_over = __builtin_add_overflow(reader->epoch, start, &time) || time > INT64_MAX;
    event->time = is_over ? INT64_MAX : (int64_t)time;
    event->ticks = start;
    event->duration = end >= start ? end - start : 0;
    event->flags |=
        (uint8_t)((is_over ? TTR_EVENT_CLAMPED : 0u) | (end < start ? TTR_EVENT_BACKWARD : 0u));
}

/* Returns true if the first attribute of an event of no length is "kind". */
static inline bool begins_with_kind(const ttr_event *event)
{
    static const uint8_t name[6] = {0, 4, 'k', 'i', 'n', 'd'};
    return event->duration == 0 && event->payload_size - event->body > sizeof name &&
           memcmp(event->payload + event->body, name, sizeof name) == 0;
}

ttr_event *heph_add_event(struct input *in, const uint8_t *packet, uint32_t size, ttr_id schema)
{
    /* The caller has checked that header and description are inside the packet, so these reads are
     * in bounds. */
    struct heph_reader *reader = in->ctx;
    const struct heph_layout *layout = reader->layout;
    uint32_t stream = load_u32be(packet + 8), counter = load_u32be(packet + 12);
    uint32_t description_n = load_u16be(packet + layout->description_length);
    const struct heph_thread *thread =
        intern_thread(in, stream, layout->substream ? load_u64be(packet + layout->substream) : 0);
    const struct heph_name *name =
        thread ? intern_description(in, packet + layout->header, description_n) : NULL;
    if (!name || !heph_counters_add(&reader->counters, thread->index, counter)) {
        reader->is_out_of_memory = true;
        return NULL;
    }
    ttr_event *event = input_add_event(in);
    event->kind = TTR_KIND_SPAN;
    event->flags = TTR_EVENT_RAW;
    event->payload = packet;
    event->payload_size = size;
    event->body = layout->header + description_n;
    event->schema = schema;
    event->name = name->id;
    event->thread = thread->thread;
    event->track = reader->counters.streams[thread->index].track;
    event->sequence = counter;
    event->offset = in->window.offset + (uint64_t)(packet - in->window.bytes);
    set_event_time(reader, event, load_u64be(packet + layout->start),
                   load_u64be(packet + layout->end));
    reader->time = event->time;
    reader->events++;
    if (name->meaning != HEPH_ANY && !heph_set_names_from_event(in, event, name->meaning))
        reader->is_out_of_memory = true;
    if (begins_with_kind(event))
        heph_restore_event_kind(in, event);
    return event;
}

void heph_emit_definition(struct input *in, const uint8_t *bytes, size_t n, ttr_id name)
{
    const struct heph_reader *reader = in->ctx;
    if (!(in->flags & TTR_READ_DEFINITIONS))
        return;
    ttr_event *event = input_add_event(in);
    event->kind = TTR_KIND_DEFINITION;
    event->flags = TTR_EVENT_RAW | TTR_EVENT_NO_TIME;
    event->time = reader->time;
    event->payload = bytes;
    event->payload_size = (uint32_t)n;
    event->body = (uint32_t)n;
    event->schema = reader->schema;
    event->name = name;
    event->offset = reader->offset;
}
