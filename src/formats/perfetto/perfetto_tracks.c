/* Chooses the track of an event, and writes the descriptors of tracks.
 *
 *   process   one track each. A pid below 2^31 is kept unless another process has it; other
 *             processes get a number from FIRST_PID on.
 *   thread    one track each, with a tid chosen likewise. If the number differs from the real tid,
 *             the name contains the real one.
 *   counter   one track per (process, name, id, field), child of the process
 *   async     see perfetto_async.c
 *   global    one track each for events without a thread, for objects, and for lost events
 *
 * The descriptor of a process contains the provider of its first event. Another track contains a
 * provider only if it differs from that of the process, and an event only if it differs from that
 * of its track. A thread is described again when its name changes, because readers use the last
 * descriptor. There may be very many counters, so they are looked up by a 64-bit hash of
 * their keys (key_map.h). Left out: kernel and user parts of a process, unit and scale of
 * counters, and the order of tracks. */
#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "formats/perfetto/perfetto.h"

#define FIRST_PID 1000000000
/* value of thread_state.name before a descriptor is written; no text has this id */
#define NAME_NOT_WRITTEN UINT32_MAX

static void add_description(struct perfetto *p, ttr_id provider)
{
    struct buffer whole;
    ttr_text text = ttr_text_get(p->out->t, provider);
    if (!provider)
        return;
    buffer_init(&whole, &p->out->t->counted);
    buffer_add_text(&whole, "provider ");
    buffer_add(&whole, text.p, text.n);
    p->to->failed |= whole.failed;
    if (!whole.failed)
        perfetto_append_text(p, p->to, TRACK_DESCRIPTION,
                             (ttr_text){(const char *)whole.bytes, whole.n});
    buffer_free(&whole);
}

void perfetto_add_name(struct perfetto *p, uint32_t field, ttr_id name,
                       const struct renumbered *number)
{
    struct buffer whole;
    char text[48];
    ttr_text plain = ttr_text_get(p->out->t, name);
    if (number->real == number->written) {
        if (plain.n)
            perfetto_append_text(p, p->to, field, plain);
        return;
    }
    buffer_init(&whole, &p->out->t->counted);
    buffer_add(&whole, plain.p, plain.n);
    buffer_add(&whole, " ", plain.n != 0);
    buffer_add(&whole, text,
               (size_t)snprintf(text, sizeof text, "(%s %" PRIu64 ")", number->what, number->real));
    p->to->failed |= whole.failed;
    if (!whole.failed)
        perfetto_append_text(p, p->to, field, (ttr_text){(const char *)whole.bytes, whole.n});
    buffer_free(&whole);
}

/* --- Tracks of processes --- */

/* Returns a number that only `owner` has in `used`: `real` if possible, else an unused one. */
static int32_t assign_number(struct perfetto *p, struct pair_map *used, uint64_t real,
                             uint32_t owner)
{
    bool is_usable = real <= INT32_MAX && !pair_map_get(used, real, 0);
    while (!is_usable) {
        real = (uint64_t)p->next_pid++;
        is_usable = !pair_map_get(used, real, 0) || p->next_pid == INT32_MAX;
    }
    if (!pair_map_put(used, real, 0, owner))
        p->to->failed = true;
    return (int32_t)real;
}

static struct process_state *assign_process_pid(struct perfetto *p, uint32_t index)
{
    struct process_state *state = perfetto_get_table_item(p, &p->processes, index, sizeof *state);
    if (!state || state->is_known)
        return state;
    uint64_t pid = p->out->t->processes[index].pid;
    state->is_known = true;
    state->pid = assign_number(p, &p->pids, pid, index);
    if ((uint64_t)state->pid != pid)
        perfetto_count_loss(p, LOSS_THREAD_ID);
    return state;
}

static void write_process_descriptor(struct perfetto *p, const struct process_state *state,
                                     uint32_t index)
{
    struct renumbered number = {"pid", p->out->t->processes[index].pid, (uint64_t)state->pid};
    size_t packet = perfetto_begin_descriptor(p);
    size_t track = protobuf_begin_message(p->to, PACKET_TRACK_DESCRIPTOR);
    protobuf_write_u64(p->to, TRACK_UUID, state->uuid);
    size_t process = protobuf_begin_message(p->to, TRACK_PROCESS);
    protobuf_write_i64(p->to, PROCESS_PID, state->pid);
    perfetto_add_name(p, PROCESS_NAME, state->name, &number);
    protobuf_end_message(p->to, process);
    add_description(p, state->provider);
    protobuf_end_message(p->to, track);
    perfetto_end_descriptor(p, packet);
}

struct process_state *perfetto_describe_process(struct perfetto *p, uint32_t index)
{
    struct process_state *state = assign_process_pid(p, index);
    if (!state)
        return NULL;
    ttr_id name = p->out->t->processes[index].name;
    if (state->uuid && state->name == name)
        return state;
    state->uuid = state->uuid ? state->uuid : p->next_uuid++;
    state->name = name;
    write_process_descriptor(p, state, index);
    return state;
}

/* Returns the process of an event, after writing its descriptor if needed; NULL if the event has
 * no process. The first event of a process determines the provider of the process. */
const struct process_state *perfetto_find_event_process(struct perfetto *p, const ttr_event *event)
{
    const uint32_t index = perfetto_get_process_index(p, event->thread);
    struct process_state *state = index == UINT32_MAX ? NULL : assign_process_pid(p, index);
    if (!state)
        return NULL;
    if (!state->uuid)
        state->provider = event->provider;
    return perfetto_describe_process(p, index);
}

void perfetto_add_provider(struct perfetto *p, const struct process_state *process, ttr_id provider)
{
    if (!process || process->provider != provider)
        add_description(p, provider);
}

/* --- Tracks of threads --- */

static uint64_t assign_tid(struct perfetto *p, const struct thread *thread, ttr_id id)
{
    const uint64_t tid = (uint64_t)assign_number(p, &p->tids, thread->tid, id);
    if (tid != thread->tid)
        perfetto_count_loss(p, LOSS_THREAD_ID);
    return tid;
}

struct thread_state *perfetto_assign_thread_ids(struct perfetto *p, ttr_id id)
{
    struct thread_state *state = perfetto_get_table_item(p, &p->threads, id, sizeof *state);
    if (!state)
        return NULL;
    const struct thread *thread = &p->out->t->threads[id];
    if (!state->is_known)
        state->tid = thread->tid_known ? assign_tid(p, thread, id) : 0;
    if (state->is_known && state->process != thread->process) {
        /* Give the thread a new track when its pid becomes known, since readers cannot change the
         * process of a track. Open spans must first end on the old track. */
        if (state->slice_track.open_n > 0)
            return state;
        state->slice_track.uuid = 0;
        state->slice_track.nest.n = 0;
        state->is_in_tree = false;
    }
    state->is_known = true;
    state->process = thread->process;
    return state;
}

static void write_thread_descriptor(struct perfetto *p, const struct thread_state *state,
                                    uint64_t tid)
{
    const struct process_state *process = perfetto_describe_process(p, state->process);
    struct renumbered number = {"tid", tid, state->tid};
    if (!process)
        return;
    size_t packet = perfetto_begin_descriptor(p);
    size_t track = protobuf_begin_message(p->to, PACKET_TRACK_DESCRIPTOR);
    protobuf_write_u64(p->to, TRACK_UUID, state->slice_track.uuid);
    size_t thread = protobuf_begin_message(p->to, TRACK_THREAD);
    protobuf_write_i64(p->to, THREAD_PID, process->pid);
    protobuf_write_u64(p->to, THREAD_TID, state->tid);
    perfetto_add_name(p, THREAD_NAME, state->name, &number);
    protobuf_end_message(p->to, thread);
    perfetto_add_provider(p, process, state->slice_track.provider);
    protobuf_end_message(p->to, track);
    perfetto_end_descriptor(p, packet);
}

/* Makes a pseudo thread, which represents a process, use the track of that process. */
static void use_process_track(struct perfetto *p, struct thread_state *state)
{
    const struct process_state *process = perfetto_describe_process(p, state->process);
    state->slice_track.uuid = process ? process->uuid : 0;
    state->slice_track.has_provider = true;
}

struct thread_state *perfetto_describe_thread(struct perfetto *p, ttr_id id)
{
    struct thread_state *state = perfetto_assign_thread_ids(p, id);
    ttr_thread thread;
    if (!state || !ttr_thread_get(p->out->t, id, &thread))
        return NULL;
    state->round = p->round;
    if (!thread.tid_known) {
        use_process_track(p, state);
        return state;
    }
    (void)perfetto_describe_process(p, state->process);
    if (state->slice_track.uuid && state->name == thread.thread_name)
        return state;
    state->slice_track.uuid = state->slice_track.uuid ? state->slice_track.uuid : p->next_uuid++;
    state->name = thread.thread_name;
    write_thread_descriptor(p, state, thread.tid);
    return state;
}

static void write_child_descriptor(struct perfetto *p, uint64_t uuid, uint64_t parent,
                                   ttr_text name)
{
    size_t packet = perfetto_begin_descriptor(p);
    size_t track = protobuf_begin_message(p->to, PACKET_TRACK_DESCRIPTOR);
    protobuf_write_u64(p->to, TRACK_UUID, uuid);
    perfetto_append_text(p, p->to, TRACK_NAME, name);
    if (parent)
        protobuf_write_u64(p->to, TRACK_PARENT, parent);
    protobuf_end_message(p->to, track);
    perfetto_end_descriptor(p, packet);
}

struct slice_track *perfetto_get_global_track(struct perfetto *p, struct slice_track *slice_track,
                                              const char *name)
{
    if (!slice_track->uuid) {
        slice_track->uuid = p->next_uuid++;
        write_child_descriptor(p, slice_track->uuid, 0, (ttr_text){name, strlen(name)});
    }
    return slice_track;
}

/* Returns the track for events of a ttr_track without threads: its own track if it has a name
 * ("CPU 3"), else the track of all events without a thread. */
static struct slice_track *get_track_without_thread(struct perfetto *p, ttr_id id)
{
    ttr_track track;
    if (!ttr_track_get(p->out->t, id, &track) || !track.name)
        return perfetto_get_global_track(p, &p->nowhere, "no thread");
    struct slice_track *own = perfetto_get_table_item(p, &p->tracks, id, sizeof *own);
    if (own && !own->uuid) {
        own->uuid = p->next_uuid++;
        write_child_descriptor(p, own->uuid, 0, ttr_text_get(p->out->t, track.name));
    }
    return own;
}

struct slice_track *perfetto_get_slice_track(struct perfetto *p, const ttr_event *event)
{
    if (event->thread == 0 || event->thread >= p->out->t->threads_n)
        return get_track_without_thread(p, event->track);
    struct thread_state *state = NULL;
    if (event->thread < p->threads.n)
        state = (struct thread_state *)p->threads.items + event->thread;
    if (state && state->round == p->round && state->slice_track.has_provider &&
        state->slice_track.uuid)
        return &state->slice_track;
    state = perfetto_assign_thread_ids(p, event->thread);
    if (!state)
        return NULL;
    if (!state->slice_track.has_provider) {
        (void)perfetto_find_event_process(p, event);
        state->slice_track.has_provider = true;
        state->slice_track.provider =
            p->out->t->threads[event->thread].tid_known ? event->provider : 0;
        state->name = NAME_NOT_WRITTEN;
    }
    state = perfetto_describe_thread(p, event->thread);
    return state ? &state->slice_track : NULL;
}

uint64_t perfetto_choose_span_track(struct perfetto *p, struct slice_track *slice_track,
                                    int64_t begin, int64_t end)
{
    enum nest_result answer =
        perfetto_add_nested_span(&slice_track->nest, &p->out->t->counted, begin, end);
    p->to->failed |= answer == NEST_NO_MEMORY;
    if (answer != NEST_CLASHES)
        return slice_track->uuid;
    perfetto_count_loss(p, LOSS_SPAN);
    if (!slice_track->overflow_uuid || begin < slice_track->overflow_end) {
        slice_track->overflow_uuid = p->next_uuid++;
        write_child_descriptor(p, slice_track->overflow_uuid, slice_track->uuid,
                               (ttr_text){"spans that do not nest", 22});
    }
    slice_track->overflow_end = end;
    return slice_track->overflow_uuid;
}

bool perfetto_has_open_slice(const struct slice_track *slice_track, int64_t time)
{
    return slice_track->open_n > 0 || perfetto_is_inside_span(&slice_track->nest, time);
}

/* --- Counters --- */

/* Appends the name of a counter track: "name", "name:field" or "name:field#id", depending on the
 * counter event. */
static void add_counter_name(struct perfetto *p, const ttr_event *event, ttr_text field)
{
    struct buffer whole;
    char id[32];
    ttr_text name = ttr_text_get(p->out->t, event->name);
    buffer_init(&whole, &p->out->t->counted);
    buffer_add(&whole, name.p, name.n);
    buffer_add(&whole, ":", name.n && field.n);
    buffer_add(&whole, field.p, field.n);
    if (event->link)
        buffer_add(&whole, id, (size_t)snprintf(id, sizeof id, "#%" PRIu64, event->link));
    p->to->failed |= whole.failed;
    if (!whole.failed)
        perfetto_append_text(p, p->to, TRACK_NAME, (ttr_text){(const char *)whole.bytes, whole.n});
    buffer_free(&whole);
}

static void write_counter_descriptor(struct perfetto *p, const struct counter_track *track,
                                     const ttr_event *event, ttr_text field)
{
    const struct process_state *process = perfetto_find_event_process(p, event);
    ttr_text category = ttr_text_get(p->out->t, event->category);
    size_t packet = perfetto_begin_descriptor(p);
    size_t descriptor = protobuf_begin_message(p->to, PACKET_TRACK_DESCRIPTOR);
    protobuf_write_u64(p->to, TRACK_UUID, track->uuid);
    add_counter_name(p, event, field);
    if (process)
        protobuf_write_u64(p->to, TRACK_PARENT, process->uuid);
    size_t counter = protobuf_begin_message(p->to, TRACK_COUNTER);
    if (category.n)
        perfetto_append_text(p, p->to, COUNTER_CATEGORIES, category);
    protobuf_end_message(p->to, counter);
    perfetto_add_provider(p, process, event->provider);
    protobuf_end_message(p->to, descriptor);
    perfetto_end_descriptor(p, packet);
}

struct counter_track *perfetto_get_counter_track(struct perfetto *p, const ttr_event *event,
                                                 const ttr_field *field)
{
    uint64_t field_key = field->name_id
                             ? field->name_id
                             : hash_bytes(field->name.p, field->name.n) | (uint64_t)1 << 63;
    uint64_t key = hash_pair(hash_pair(field_key, event->name),
                             hash_pair(event->link, perfetto_get_process_index(p, event->thread)));
    const uint32_t *known = key_map_get(&p->counter_index, key);
    if (known)
        return &p->counters[*known];
    if (!alloc_reserve(&p->out->t->counted, (void **)&p->counters, &p->counters_capacity,
                       p->counters_n + 1, sizeof *p->counters) ||
        !key_map_put(&p->counter_index, key, (uint32_t)p->counters_n)) {
        p->to->failed = true;
        return NULL;
    }
    struct counter_track *track = &p->counters[p->counters_n++];
    *track = (struct counter_track){.uuid = p->next_uuid++,
                                    .provider = event->provider,
                                    .category = event->category,
                                    .thread = event->thread};
    write_counter_descriptor(p, track, event, field->name);
    return track;
}

/* --- All tracks --- */

void perfetto_init_tracks(struct perfetto *p)
{
    const struct alloc *alloc = &p->out->t->counted;
    pair_map_init(&p->pids, alloc);
    pair_map_init(&p->tids, alloc);
    key_map_init(&p->counter_index, alloc);
    p->next_uuid = 1;
    p->next_pid = FIRST_PID;
}

void perfetto_describe_renamed_tracks(struct perfetto *p)
{
    p->round = UINT64_MAX;
    struct process_state *processes = p->processes.items;
    for (size_t i = 0; i < p->processes.n; i++)
        if (processes[i].uuid)
            (void)perfetto_describe_process(p, (uint32_t)i);
    for (size_t i = 1; i < p->threads.n; i++)
        if (((struct thread_state *)p->threads.items)[i].slice_track.uuid)
            (void)perfetto_describe_thread(p, (ttr_id)i);
}

void perfetto_free_tracks(struct perfetto *p)
{
    const struct alloc *alloc = &p->out->t->counted;
    for (size_t i = 0; i < p->threads.n; i++)
        perfetto_nest_free(&((struct thread_state *)p->threads.items)[i].slice_track.nest, alloc);
    for (size_t i = 0; i < p->tracks.n; i++)
        perfetto_nest_free(&((struct slice_track *)p->tracks.items)[i].nest, alloc);
    perfetto_nest_free(&p->nowhere.nest, alloc);
    alloc_free(alloc, p->tracks.items, p->tracks.n, sizeof(struct slice_track));
    pair_map_free(&p->pids);
    pair_map_free(&p->tids);
    key_map_free(&p->counter_index);
    alloc_free(alloc, p->threads.items, p->threads.n, sizeof(struct thread_state));
    alloc_free(alloc, p->processes.items, p->processes.n, sizeof(struct process_state));
    alloc_free(alloc, p->counters, p->counters_capacity, sizeof *p->counters);
}
