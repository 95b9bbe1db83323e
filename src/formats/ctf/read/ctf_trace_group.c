/* For the writer: groups of output folders with one UUID, such as the chunks of a rotated session,
 * which readers treat as one trace.
 *
 * Babeltrace reads all folders of a group with the metadata of one of them. So ids of stream
 * classes and event classes must have the same meaning in each folder, and each folder must in the
 * end declare the classes of all. Left out: v1.1, because its readers use the metadata of each
 * folder. */
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "formats/ctf/write/ctf_write.h"

/* Kinds of keys in ids_in_use. KEY_LIKENESS: maps the hash of a class to its id; KEY_USED_ID: maps
 * each used id to 1. */
enum group_key_space { KEY_LIKENESS = 1, KEY_USED_ID };

static uint64_t make_group_key(enum group_key_space space, uint64_t scope, uint64_t what)
{
    return hash_pair(hash_pair(what, scope), space);
}

static struct ctf_trace_group *find_trace_group(const struct ctf_writer *w, const uint8_t uuid[16])
{
    for (size_t i = 0; i < w->groups_n; i++)
        if (memcmp(w->groups[i]->uuid, uuid, sizeof w->groups[i]->uuid) == 0)
            return w->groups[i];
    return NULL;
}

static struct ctf_trace_group *add_trace_group(struct ctf_writer *w, const struct alloc *alloc,
                                               const uint8_t uuid[16])
{
    if (!alloc_reserve(alloc, (void **)&w->groups, &w->groups_capacity, w->groups_n + 1,
                       sizeof *w->groups))
        return NULL;
    struct ctf_trace_group *new = alloc_zero(alloc, 1, sizeof *new);
    if (!new)
        return NULL;
    key_map_init(&new->ids_in_use, alloc);
    memcpy(new->uuid, uuid, sizeof new->uuid);
    w->groups[w->groups_n++] = new;
    return new;
}

bool ctf_trace_group_add(struct ctf_writer *w, const struct alloc *alloc,
                         struct ctf_trace_out *trace)
{
    if (!trace->description.has_uuid || trace->description.version == CTF_RFC_1_1)
        return true;
    struct ctf_trace_group *known = find_trace_group(w, trace->description.uuid);
    trace->joined = known ? known : add_trace_group(w, alloc, trace->description.uuid);
    if (trace->joined)
        trace->joined->traces_n++;
    return trace->joined != NULL;
}

bool ctf_trace_group_find_id(const struct ctf_trace_out *trace, uint64_t scope, uint64_t likeness,
                             uint64_t *id)
{
    const uint32_t *known =
        trace->joined
            ? key_map_get(&trace->joined->ids_in_use, make_group_key(KEY_LIKENESS, scope, likeness))
            : NULL;
    if (known)
        *id = *known;
    return known != NULL;
}

bool ctf_trace_group_uses_id(const struct ctf_trace_out *trace, uint64_t scope, uint64_t id)
{
    return trace->joined &&
           key_map_get(&trace->joined->ids_in_use, make_group_key(KEY_USED_ID, scope, id));
}

bool ctf_trace_group_set_id(const struct ctf_trace_out *trace, uint64_t scope, uint64_t likeness,
                            uint64_t id)
{
    return !trace->joined || id > UINT32_MAX ||
           (key_map_put(&trace->joined->ids_in_use, make_group_key(KEY_LIKENESS, scope, likeness),
                        (uint32_t)id) &&
            key_map_put(&trace->joined->ids_in_use, make_group_key(KEY_USED_ID, scope, id), 1));
}

/* --- Completion of the metadata --- */

/* Returns the clock of `description` that has the same name as `clock`. If there is none, adds a
 * copy, because types must not refer to an undeclared clock. */
static const struct ctf_clock *find_or_add_clock(struct ctf_description *description,
                                                 const struct ctf_clock *clock)
{
    for (size_t i = 0; i < description->clocks_n; i++) {
        const ttr_text id = description->clocks[i]->id;
        if (id.n == clock->id.n && memcmp(id.p, clock->id.p, id.n) == 0)
            return description->clocks[i];
    }
    struct ctf_clock *added = ctf_add_clock(description);
    if (added)
        *added = *clock;
    return added;
}

static struct ctf_stream_class *copy_stream_class(struct ctf_description *to,
                                                  const struct ctf_stream_class *like)
{
    const struct ctf_clock *clock = like->clock ? find_or_add_clock(to, like->clock) : NULL;
    struct ctf_stream_class *stream = clock || !like->clock ? ctf_add_stream(to) : NULL;
    if (!stream)
        return NULL;
    stream->id = like->id;
    stream->name = like->name;
    stream->ns = like->ns;
    stream->uid = like->uid;
    stream->attributes = like->attributes;
    stream->packet_context = like->packet_context;
    stream->event_header = like->event_header;
    stream->event_context = like->event_context;
    stream->clock = clock;
    return stream;
}

/* Adds the stream and event classes of `from` that `to` lacks. The field types are shared, not
 * copied. Returns false if memory runs out. */
static bool add_missing_classes(struct ctf_description *to, const struct ctf_description *from)
{
    for (size_t i = 0; i < from->streams_n; i++) {
        const struct ctf_stream_class *source = from->streams[i];
        struct ctf_stream_class *stream = ctf_find_stream(to, source->id);
        if (!stream)
            stream = copy_stream_class(to, source);
        for (size_t k = 0; stream && k < source->events_n; k++) {
            if (ctf_find_event(stream, source->events[k]->id))
                continue;
            struct ctf_event_class *event = ctf_add_event(to, stream, source->events[k]->id);
            if (!event)
                return false;
            *event = *source->events[k];
            event->stream = stream;
        }
        if (!stream)
            return false;
    }
    return true;
}

static bool complete_group_metadata(const struct ctf_writer *w, const struct ctf_trace_group *one,
                                    const struct alloc *alloc)
{
    struct ctf_description all;
    bool is_fine = true;
    ctf_description_init(&all, alloc);
    for (size_t i = 0; i < w->traces_n && is_fine; i++)
        if (w->traces[i]->joined == one)
            is_fine = add_missing_classes(&all, &w->traces[i]->description);
    for (size_t i = 0; i < w->traces_n && is_fine; i++)
        if (w->traces[i]->joined == one)
            is_fine = add_missing_classes(&w->traces[i]->description, &all);
    ctf_description_free(&all);
    return is_fine;
}

bool ctf_trace_groups_complete(const struct ctf_writer *w, const struct alloc *alloc)
{
    bool is_fine = true;
    for (size_t i = 0; i < w->groups_n && is_fine; i++)
        is_fine = w->groups[i]->traces_n < 2 || complete_group_metadata(w, w->groups[i], alloc);
    return is_fine;
}

void ctf_trace_groups_free(struct ctf_writer *w, const struct alloc *alloc)
{
    for (size_t i = 0; i < w->groups_n; i++) {
        key_map_free(&w->groups[i]->ids_in_use);
        alloc_free(alloc, w->groups[i], 1, sizeof *w->groups[i]);
    }
    alloc_free(alloc, w->groups, w->groups_capacity, sizeof *w->groups);
}
