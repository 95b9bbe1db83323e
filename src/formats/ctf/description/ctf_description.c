/* Storage of a trace description. All objects are allocated in its arena, are found by id, and
 * never move. */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/description/ctf_description.h"

void ctf_description_init(struct ctf_description *description, const struct alloc *alloc)
{
    *description = (struct ctf_description){.alloc = alloc};
    arena_init(&description->arena, alloc);
    pair_map_init(&description->streams_by_id, alloc);
}

void ctf_description_free(struct ctf_description *description)
{
    const struct alloc *alloc = description->alloc;
    if (!alloc)
        return;
    for (size_t i = 0; i < description->streams_n; i++) {
        struct ctf_stream_class *stream = description->streams[i];
        alloc_free(alloc, stream->events, stream->events_capacity, sizeof *stream->events);
        pair_map_free(&stream->events_by_id);
        pair_map_free(stream->layouts);
    }
    alloc_free(alloc, description->streams, description->streams_capacity,
               sizeof *description->streams);
    pair_map_free(&description->streams_by_id);
    alloc_free(alloc, description->clocks, description->clocks_capacity,
               sizeof *description->clocks);
    alloc_free(alloc, description->environment, description->environment_capacity,
               sizeof *description->environment);
    arena_free(&description->arena);
    *description = (struct ctf_description){0};
}

/* Allocates a zeroed block in the arena. Returns NULL if memory runs out. */
static void *alloc_zeroed_object(struct ctf_description *description, size_t size)
{
    void *block = arena_alloc(&description->arena, size);
    if (block)
        memset(block, 0, size);
    return block;
}

struct ctf_clock *ctf_add_clock(struct ctf_description *description)
{
    if (!alloc_reserve(description->alloc, (void **)&description->clocks,
                       &description->clocks_capacity, description->clocks_n + 1,
                       sizeof *description->clocks))
        return NULL;
    struct ctf_clock *clock = alloc_zeroed_object(description, sizeof *clock);
    if (!clock)
        return NULL;
    clock->frequency = 1000000000;
    description->clocks[description->clocks_n++] = clock;
    return clock;
}

/* Adds the existing streams to the index. The next one is added later, because parsers set its id
 * after they have added it. Returns false if memory runs out. */
static bool index_streams(struct ctf_description *description)
{
    for (; description->indexed_n < description->streams_n; description->indexed_n++) {
        const uint64_t id = description->streams[description->indexed_n]->id;
        if (!pair_map_get(&description->streams_by_id, id, 0) &&
            !pair_map_put(&description->streams_by_id, id, 0, (uint32_t)description->indexed_n))
            return false;
    }
    return true;
}

struct ctf_stream_class *ctf_add_stream(struct ctf_description *description)
{
    if (!index_streams(description) ||
        !alloc_reserve(description->alloc, (void **)&description->streams,
                       &description->streams_capacity, description->streams_n + 1,
                       sizeof *description->streams))
        return NULL;
    struct ctf_stream_class *stream = alloc_zeroed_object(description, sizeof *stream);
    struct pair_map *layouts = alloc_zeroed_object(description, sizeof *layouts);
    if (!stream || !layouts)
        return NULL;
    stream->layouts = layouts;
    pair_map_init(&stream->events_by_id, description->alloc);
    pair_map_init(stream->layouts, description->alloc);
    description->streams[description->streams_n++] = stream;
    return stream;
}

struct ctf_event_class *ctf_add_event(struct ctf_description *description,
                                      struct ctf_stream_class *stream, uint64_t id)
{
    if (!alloc_reserve(description->alloc, (void **)&stream->events, &stream->events_capacity,
                       stream->events_n + 1, sizeof *stream->events))
        return NULL;
    struct ctf_event_class *event = alloc_zeroed_object(description, sizeof *event);
    if (!event || !pair_map_put(&stream->events_by_id, id, 0, (uint32_t)stream->events_n))
        return NULL;
    event->id = id;
    event->number = description->events_n++;
    event->stream = stream;
    stream->events[stream->events_n++] = event;
    return event;
}

struct ctf_environment *ctf_add_environment(struct ctf_description *description)
{
    if (!alloc_reserve(description->alloc, (void **)&description->environment,
                       &description->environment_capacity, description->environment_n + 1,
                       sizeof *description->environment))
        return NULL;
    struct ctf_environment *entry = &description->environment[description->environment_n++];
    *entry = (struct ctf_environment){0};
    return entry;
}

struct ctf_stream_class *ctf_find_stream(const struct ctf_description *description, uint64_t id)
{
    const uint32_t *index = pair_map_get(&description->streams_by_id, id, 0);
    if (index)
        return description->streams[*index];
    for (size_t i = description->indexed_n; i < description->streams_n; i++)
        if (description->streams[i]->id == id)
            return description->streams[i];
    return NULL;
}

struct ctf_event_class *ctf_find_event(const struct ctf_stream_class *stream, uint64_t id)
{
    const uint32_t *index = pair_map_get(&stream->events_by_id, id, 0);
    return index ? stream->events[*index] : NULL;
}

const struct ctf_environment *ctf_find_environment(const struct ctf_description *description,
                                                   const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < description->environment_n; i++)
        if (description->environment[i].name.n == n &&
            memcmp(description->environment[i].name.p, name, n) == 0)
            return &description->environment[i];
    return NULL;
}
