/* Tracks of async events, and numbers of flows.
 *
 *   async  one track per open span; a track is reused by the next span of the same process and name
 *          that starts after its end.  Viewers merge tracks of one name.
 *   flow   a number per flow, from its begin to its end
 *
 * A begin and its end have the same process, category and id, but may differ in name: the track has
 * the name of the begin. Activities (model/activity.h) are matched by their task instead of the
 * process, since they may move to another process. If no span of the process is open, an end closes
 * a span of another process with the same category and id. src/pipeline/spans/open_spans.h pairs
 * spans by the same rules, so counts equal those of "stat". A begin with the key of an open span
 * nests in it.
 *
 * Memory grows with the number of spans and flows that are open at the same time. */
#include "base/hash.h"
#include "formats/perfetto/perfetto.h"
#include "model/activity.h"

/* --- Tracks of async spans --- */

static void write_descriptor(struct perfetto *p, const struct async_track *track,
                             const struct process_state *process)
{
    size_t packet = perfetto_begin_descriptor(p);
    size_t descriptor = protobuf_begin_message(p->to, PACKET_TRACK_DESCRIPTOR);
    protobuf_write_u64(p->to, TRACK_UUID, track->uuid);
    perfetto_append_text(p, p->to, TRACK_NAME, ttr_text_get(p->out->t, track->name));
    if (process)
        protobuf_write_u64(p->to, TRACK_PARENT, process->uuid);
    perfetto_add_provider(p, process, track->provider);
    protobuf_end_message(p->to, descriptor);
    perfetto_end_descriptor(p, packet);
}

/* Returns an unused track with the same process and name that has no later event than this one;
 * otherwise a new track. Returns 0 if memory runs out. */
static uint32_t find_free_track(struct perfetto *p, const ttr_event *event, ttr_id name)
{
    const uint32_t process = perfetto_get_process_index(p, event->thread);
    uint32_t *first = pair_map_get(&p->async_free, process, name);
    if (first && *first && p->asyncs[*first].end <= event->time) {
        uint32_t index = *first;
        *first = p->asyncs[index].next;
        p->asyncs[index].thread = 0;
        return index;
    }
    if (!alloc_reserve(&p->out->t->counted, (void **)&p->asyncs, &p->asyncs_capacity,
                       p->asyncs_n + 2, sizeof *p->asyncs)) {
        p->to->failed = true;
        return 0;
    }
    struct async_track *track = &p->asyncs[++p->asyncs_n];
    *track = (struct async_track){.uuid = p->next_uuid++,
                                  .process = process,
                                  .name = name,
                                  .provider = event->provider,
                                  .end = INT64_MIN};
    write_descriptor(p, track, perfetto_find_event_process(p, event));
    return (uint32_t)p->asyncs_n;
}

/* Marks a track as unused, so that another span with the same process and name can use it. */
static void release_track(struct perfetto *p, uint32_t index)
{
    struct async_track *track = &p->asyncs[index];
    const uint32_t *first = pair_map_get(&p->async_free, track->process, track->name);
    (void)pair_map_remove(&p->async_index, track->scope, track->link);
    const uint32_t *same = pair_map_get(&p->async_by_id, track->id_scope, track->link);
    if (same && *same == index)
        (void)pair_map_remove(&p->async_by_id, track->id_scope, track->link);
    track->next = first ? *first : 0;
    p->to->failed |= !pair_map_put(&p->async_free, track->process, track->name, index);
}

/* --- Keys of open spans --- */

/* Keys under which the open track of a span is stored. */
struct async_key {
    /* hash of category and process; for activities, of category and task */
    uint64_t scope;
    uint64_t id_scope; /* category id; finds spans that another process began */
    uint64_t link;
};

static struct async_key make_async_key(const struct perfetto *p, const ttr_event *event,
                                       ttr_id name)
{
    bool is_activity = activity_is_start_or_stop(event) && event->activity;
    uint64_t owner = is_activity ? (uint64_t)name | (uint64_t)1 << 63
                                 : perfetto_get_process_index(p, event->thread);
    return (struct async_key){.scope = hash_pair(owner, event->category),
                              .id_scope = event->category,
                              .link = event->link};
}

static uint32_t find_open_track(struct perfetto *p, const struct async_key *key, bool is_end)
{
    const uint32_t *known = pair_map_get(&p->async_index, key->scope, key->link);
    if (!known && is_end)
        known = pair_map_get(&p->async_by_id, key->id_scope, key->link);
    return known ? *known : 0;
}

struct async_track *perfetto_get_async_track(struct perfetto *p, const ttr_event *event, int change)
{
    const ttr_id name = activity_span_name(p->out->t, event);
    const struct async_key key = make_async_key(p, event, name);
    uint32_t index = find_open_track(p, &key, change < 0);
    if (!index && change < 0)
        return NULL;
    if (!index)
        index = find_free_track(p, event, name);
    if (!index)
        return NULL;
    struct async_track *track = &p->asyncs[index];
    track->end = event->time > track->end ? event->time : track->end;
    if (track->depth == 0) {
        track->scope = key.scope;
        track->id_scope = key.id_scope;
        track->link = key.link;
    }
    if (change > 0 && track->depth++ == 0)
        p->to->failed |= !pair_map_put(&p->async_index, key.scope, key.link, index) ||
                         !pair_map_put(&p->async_by_id, key.id_scope, key.link, index);
    else if (change < 0)
        track->depth--;
    if (track->depth == 0)
        release_track(p, index);
    return track;
}

/* --- Numbers of flows --- */

uint32_t perfetto_get_flow_number(struct perfetto *p, const ttr_event *event)
{
    /* In the source, a flow id is unique only within a trace, a category and a name. */
    const ttr *t = p->out->t;
    const ttr_id trace =
        event->source < t->sources_n ? t->sources[event->source].trace_path : event->source;
    uint64_t scope = hash_pair((uint64_t)event->category << 32 | event->name, trace);
    const uint32_t *known = pair_map_get(&p->flows, scope, event->link);
    uint32_t number = known ? *known : 0;
    if (event->kind == TTR_KIND_FLOW_BEGIN) {
        number = ++p->next_flow;
        p->to->failed |= !pair_map_put(&p->flows, scope, event->link, number);
    } else if (event->kind == TTR_KIND_FLOW_END && known) {
        (void)pair_map_remove(&p->flows, scope, event->link);
    }
    return number;
}

/* --- Initialisation and release --- */

void perfetto_init_async(struct perfetto *p)
{
    const struct alloc *alloc = &p->out->t->counted;
    pair_map_init(&p->async_index, alloc);
    pair_map_init(&p->async_by_id, alloc);
    pair_map_init(&p->async_free, alloc);
    pair_map_init(&p->flows, alloc);
}

void perfetto_free_async(struct perfetto *p)
{
    pair_map_free(&p->async_index);
    pair_map_free(&p->async_by_id);
    pair_map_free(&p->async_free);
    pair_map_free(&p->flows);
    alloc_free(&p->out->t->counted, p->asyncs, p->asyncs_capacity, sizeof *p->asyncs);
}
