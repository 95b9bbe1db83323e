/* Names of streams and substreams, derived from descriptions of the Heph runtime.
 *
 * The format has no such names, but its one known writer numbers them by rule. Stream 0 is the
 * coordinator and all thread-safe actors. Streams 1 to N are the N worker threads. Streams above N,
 * or from 10000 on, are the threads of synchronous actors. A substream is the id of an actor, and
 * an event that records its execution contains its name. Traces without a description of the
 * runtime get no names. */
#include <stdio.h>
#include <string.h>

#include "formats/heph/heph.h"

/* lowest stream number of synchronous actors in runtime versions up to 0.4.0 */
#define OLD_SYNC_ACTORS_MIN 10000u

struct known_text {
    const char *text;
    enum heph_description_kind meaning;
};

static const struct known_text known[] = {
    {"Building runtime", HEPH_BUILDING},
    {"Running thread-local process", HEPH_RUN},
    {"Running thread-safe process", HEPH_RUN},
    {"Initialised the worker thread", HEPH_RUNTIME},
    {"Initialising the worker thread", HEPH_RUNTIME},
    {"Initialising the coordinator thread", HEPH_RUNTIME},
    {"Spawning worker threads", HEPH_RUNTIME},
    {"Polling for OS events", HEPH_RUNTIME},
    {"Handling OS events", HEPH_RUNTIME},
    {"Scheduling processes", HEPH_RUNTIME},
    {"Scheduling thread-local processes", HEPH_RUNTIME},
    {"Relaying process signals", HEPH_RUNTIME},
    {"Processing communication message", HEPH_RUNTIME},
    {"setting up synchronous actor", HEPH_RUNTIME},
    {"running synchronous actor", HEPH_RUNTIME},
};

enum heph_description_kind heph_classify_name(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].text) == n && memcmp(known[i].text, p, n) == 0)
            return known[i].meaning;
    return HEPH_ANY;
}

static bool set_stream_name(struct input *in, uint32_t stream)
{
    const struct heph_reader *reader = in->ctx;
    char text[32] = "coordinator";
    unsigned long long number = stream;
    if (stream >= OLD_SYNC_ACTORS_MIN)
        (void)snprintf(text, sizeof text, "sync actor %llu", number - OLD_SYNC_ACTORS_MIN);
    else if (reader->workers && stream > reader->workers)
        (void)snprintf(text, sizeof text, "sync actor %llu", number - reader->workers - 1);
    else if (stream)
        (void)snprintf(text, sizeof text, "worker %llu", number);
    uint32_t id = intern_add(&in->base.t->strings, text, strlen(text));
    return id != UINT32_MAX && context_name_process(in->base.t, in->id, stream, id);
}

static bool set_all_stream_names(struct input *in)
{
    const struct heph_reader *reader = in->ctx;
    for (size_t i = 0; i < reader->counters.n; i++)
        if (!set_stream_name(in, reader->counters.streams[i].id))
            return false;
    return true;
}

bool heph_set_stream_name(struct input *in, uint32_t stream)
{
    const struct heph_reader *reader = in->ctx;
    return !reader->is_runtime || set_stream_name(in, stream);
}

/* Sets the number of worker threads from a "Building runtime" event. Streams with higher numbers
 * are other threads. */
static bool set_worker_count(struct input *in, const ttr_event *event)
{
    struct heph_reader *reader = in->ctx;
    ttr_field field;
    if (!ttr_field_find(in->base.t, event, "worker_threads", &field) ||
        field.value.type != TTR_TYPE_UINT)
        return true;
    reader->workers = field.value.v.u;
    return set_all_stream_names(in);
}

/* Names the substream of an actor from an event that records the actor's execution: the number of
 * the substream is the actor's id. */
static bool set_actor_name(struct input *in, const ttr_event *event)
{
    ttr *t = in->base.t;
    ttr_field id, name;
    if (!ttr_field_find(t, event, "id", &id) || id.value.type != TTR_TYPE_UINT ||
        id.value.v.u == 0 || !ttr_field_find(t, event, "name", &name) ||
        name.value.type != TTR_TYPE_TEXT)
        return true;
    uint32_t text = intern_add(&t->strings, name.value.text.p, name.value.text.n);
    return text != UINT32_MAX && context_name_tid(t, in->id, id.value.v.u, text);
}

bool heph_set_names_from_event(struct input *in, const ttr_event *event,
                               enum heph_description_kind meaning)
{
    struct heph_reader *reader = in->ctx;
    if (!reader->is_runtime) {
        reader->is_runtime = true;
        if (!set_all_stream_names(in))
            return false;
    }
    if (meaning == HEPH_BUILDING)
        return set_worker_count(in, event);
    /* Newer runtimes write no substreams, so the id of an actor does not identify a substream. */
    return meaning != HEPH_RUN || !reader->has_substreams || set_actor_name(in, event);
}
