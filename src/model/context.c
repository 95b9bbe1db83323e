/* The context: tables of all objects that events refer to by id. Append-only, so an id is valid as
 * long as the context. Left out: locking (one context, one thread) and removal. Memory grows with
 * the number of distinct names, threads and inputs, not with the number of events. */
#include "model/context.h"

#include <string.h>

#include "io/descriptor_pool.h"
#include "model/event_copy.h"
#include "model/type.h"

/* Allocates with the caller's allocator and counts the bytes. Returns NULL if memory runs out or
 * the context's memory limit would be exceeded. */
static void *counted_resize(void *ctx, void *old, size_t old_size, size_t new_size)
{
    ttr *t = ctx;
    if (new_size > old_size && new_size - old_size > t->max_memory - t->memory)
        return NULL;
    void *block = t->alloc.resize(t->alloc.ctx, old, old_size, new_size);
    if (block || new_size == 0)
        t->memory = t->memory - old_size + new_size;
    return block;
}

static bool reserve_items(ttr *t, void **items, size_t *capacity, size_t need, size_t size)
{
    return alloc_reserve(&t->counted, items, capacity, need, size);
}

/* Adds entry 0 to every table. It means "none", so that a zeroed event refers to nothing. */
static bool add_none_entries(ttr *t)
{
    if (!reserve_items(t, (void **)&t->threads, &t->threads_capacity, 1, sizeof *t->threads) ||
        !reserve_items(t, (void **)&t->tracks, &t->tracks_capacity, 1, sizeof *t->tracks) ||
        !reserve_items(t, (void **)&t->schemas, &t->schemas_capacity, 2, sizeof *t->schemas))
        return false;
    t->threads[0] = (struct thread){0};
    t->tracks[0] = (ttr_track){0};
    t->schemas[0] = (struct schema){0};
    t->schemas[SCHEMA_EVENT_COPY] = (struct schema){.ops = &event_copy_field_ops, .ctx = t};
    t->threads_n = t->tracks_n = 1;
    t->schemas_n = 2;
    return context_add_source(t, "", "") == 0;
}

ttr *ttr_new(const ttr_options *options)
{
    struct alloc alloc = *alloc_default();
    if (options && options->size < sizeof *options)
        return NULL;
    if (options && options->resize)
        alloc = (struct alloc){.resize = options->resize, .ctx = options->user_data};
    ttr *t = alloc_zero(&alloc, 1, sizeof *t);
    if (!t)
        return NULL;
    t->alloc = alloc;
    t->counted = (struct alloc){.resize = counted_resize, .ctx = t};
    symbols_init(&t->symbols, &t->counted);
    t->max_temporary = options ? options->max_temporary : 0;
    t->max_memory = options && options->max_memory ? options->max_memory : (uint64_t)1 << 30;
    t->descriptor_pool = descriptor_pool_new(&t->counted);
    if (!t->descriptor_pool || !intern_init(&t->strings, &t->counted) || !add_none_entries(t)) {
        ttr_free(t);
        return NULL;
    }
    return t;
}

void ttr_free(ttr *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->sources_n; i++) {
        pair_map_free(&t->sources[i].processes);
        pair_map_free(&t->sources[i].threads);
        pair_map_free(&t->sources[i].threads_by_tid);
        pair_map_free(&t->sources[i].names_by_tid);
        alloc_free(&t->counted, t->sources[i].attributes, t->sources[i].attributes_capacity,
                   sizeof(ttr_attribute));
    }
    alloc_free(&t->counted, t->sources, t->sources_capacity, sizeof *t->sources);
    alloc_free(&t->counted, t->schemas, t->schemas_capacity, sizeof *t->schemas);
    alloc_free(&t->counted, t->tracks, t->tracks_capacity, sizeof *t->tracks);
    alloc_free(&t->counted, t->threads, t->threads_capacity, sizeof *t->threads);
    alloc_free(&t->counted, t->processes, t->processes_capacity, sizeof *t->processes);
    symbols_free(&t->symbols);
    intern_free(&t->strings);
    descriptor_pool_unref(t->descriptor_pool);
    struct alloc alloc = t->alloc;
    alloc_free(&alloc, t, 1, sizeof *t);
}

void ttr_progress_set(ttr *t, ttr_progress progress, void *ctx)
{
    t->progress = progress;
    t->progress_ctx = ctx;
}

void context_share_descriptor_pool(ttr *t, const ttr *with)
{
    descriptor_pool_unref(t->descriptor_pool);
    t->descriptor_pool = descriptor_pool_ref(with->descriptor_pool);
}

void context_publish_offer(ttr *t, struct offer *offer)
{
    struct offer **chain = &t->offers[offer->key % OFFER_CHAINS];
    offer->next = *chain;
    *chain = offer;
}

void context_withdraw_offer(ttr *t, const struct offer *offer)
{
    struct offer **link = &t->offers[offer->key % OFFER_CHAINS];
    while (*link != offer)
        link = &(*link)->next;
    *link = offer->next;
}

struct offer *context_find_offer(const ttr *t, const void *of, uint64_t key)
{
    struct offer *offer = t->offers[key % OFFER_CHAINS];
    while (offer && (offer->of != of || offer->key != key))
        offer = offer->next;
    return offer;
}

uint16_t context_add_source(ttr *t, const char *path, const char *format)
{
    if (t->sources_n >= UINT16_MAX || !reserve_items(t, (void **)&t->sources, &t->sources_capacity,
                                                     t->sources_n + 1, sizeof *t->sources))
        return UINT16_MAX;
    uint32_t path_id = intern_add(&t->strings, path, strlen(path));
    if (path_id == UINT32_MAX)
        return UINT16_MAX;
    struct source_entry *entry = &t->sources[t->sources_n];
    *entry = (struct source_entry){
        .path = path_id, .trace_path = path_id, .format = format, .rank = (uint32_t)t->sources_n};
    t->traces_n += t->sources_n > 0; /* source 0 is the program itself, which is not a trace */
    pair_map_init(&entry->processes, &t->counted);
    pair_map_init(&entry->threads, &t->counted);
    pair_map_init(&entry->threads_by_tid, &t->counted);
    pair_map_init(&entry->names_by_tid, &t->counted);
    return (uint16_t)t->sources_n++;
}

static uint32_t process_index(ttr *t, uint16_t source, uint64_t pid)
{
    struct pair_map *map = &t->sources[source].processes;
    const uint32_t *known = pair_map_get(map, pid, 0);
    if (known)
        return *known;
    if (t->processes_n >= UINT32_MAX ||
        !reserve_items(t, (void **)&t->processes, &t->processes_capacity, t->processes_n + 1,
                       sizeof *t->processes) ||
        !pair_map_put(map, pid, 0, (uint32_t)t->processes_n))
        return UINT32_MAX;
    t->processes[t->processes_n] = (struct process){.pid = pid, .source = source};
    return (uint32_t)t->processes_n++;
}

static ttr_id add_thread(ttr *t, const struct thread *thread)
{
    if (t->threads_n >= UINT32_MAX || !reserve_items(t, (void **)&t->threads, &t->threads_capacity,
                                                     t->threads_n + 1, sizeof *t->threads))
        return 0;
    t->threads[t->threads_n] = *thread;
    return (ttr_id)t->threads_n++;
}

/* Sets the process of a thread that is only known by its tid, and returns its thread id. Returns 0
 * without such a thread. */
static ttr_id adopt_thread_by_tid(ttr *t, uint16_t source, uint64_t tid, uint32_t process)
{
    const uint32_t *id = pair_map_get(&t->sources[source].threads_by_tid, tid, 0);
    if (!id || t->threads[*id].pid_known)
        return 0;
    t->threads[*id].process = process;
    t->threads[*id].pid_known = true;
    return *id;
}

ttr_id context_thread(ttr *t, uint16_t source, uint64_t pid, uint64_t tid)
{
    struct source_entry *entry = &t->sources[source];
    const uint32_t *known = pair_map_get(&entry->threads, pid, tid);
    if (known)
        return *known;
    uint32_t process = process_index(t, source, pid);
    if (process == UINT32_MAX)
        return 0;
    ttr_id id = adopt_thread_by_tid(t, source, tid, process);
    if (!id)
        id = add_thread(t, &(struct thread){.tid = tid,
                                            .process = process,
                                            .source = source,
                                            .pid_known = true,
                                            .tid_known = true});
    if (!id || !pair_map_put(&entry->threads, pid, tid, id) ||
        !pair_map_put(&entry->threads_by_tid, tid, 0, id))
        return 0;
    return id;
}

ttr_id context_thread_by_tid(ttr *t, uint16_t source, uint64_t tid)
{
    const uint32_t *known = pair_map_get(&t->sources[source].threads_by_tid, tid, 0);
    if (known)
        return *known;
    uint32_t process = process_index(t, source, 0);
    if (process == UINT32_MAX)
        return 0;
    ttr_id id = add_thread(
        t, &(struct thread){.tid = tid, .process = process, .source = source, .tid_known = true});
    return id && pair_map_put(&t->sources[source].threads_by_tid, tid, 0, id) ? id : 0;
}

ttr_id context_add_unnumbered_thread(ttr *t, uint16_t source, uint64_t pid)
{
    uint32_t process = process_index(t, source, pid);
    return process == UINT32_MAX
               ? 0
               : add_thread(
                     t, &(struct thread){.process = process, .source = source, .pid_known = true});
}

ttr_id context_process_thread(ttr *t, uint16_t source, uint64_t pid)
{
    /* The pseudo thread of a process has the key (pid, 1) in the map of processes, which no thread
     * uses. */
    const uint32_t *known = pair_map_get(&t->sources[source].processes, pid, 1);
    if (known)
        return *known;
    ttr_id id = context_add_unnumbered_thread(t, source, pid);
    return id && pair_map_put(&t->sources[source].processes, pid, 1, id) ? id : 0;
}

ttr_id context_add_idle_thread(ttr *t, uint16_t source)
{
    uint32_t process = process_index(t, source, 0);
    if (process == UINT32_MAX)
        return 0;
    return add_thread(
        t, &(struct thread){
               .process = process, .source = source, .pid_known = true, .tid_known = true});
}

void context_release_tid(ttr *t, uint16_t source, ttr_id id)
{
    if (!id || id >= t->threads_n)
        return;
    const struct thread *thread = &t->threads[id];
    struct source_entry *entry = &t->sources[source];
    const uint32_t *last = pair_map_get(&entry->threads_by_tid, thread->tid, 0);
    if (last && *last == id)
        (void)pair_map_remove(&entry->threads_by_tid, thread->tid, 0);
    if (thread->pid_known)
        (void)pair_map_remove(&entry->threads, t->processes[thread->process].pid, thread->tid);
    (void)pair_map_remove(&entry->names_by_tid, thread->tid, 0);
}

void context_set_parent(ttr *t, ttr_id thread, ttr_id parent)
{
    if (!thread || !parent || thread >= t->threads_n || parent >= t->threads_n)
        return;
    const uint32_t process = t->threads[thread].process, from = t->threads[parent].process;
    if (process != from && t->threads[thread].pid_known && t->threads[parent].pid_known &&
        !t->processes[process].parent)
        t->processes[process].parent = from + 1;
}

bool context_name_process(ttr *t, uint16_t source, uint64_t pid, ttr_id name)
{
    uint32_t process = process_index(t, source, pid);
    if (process == UINT32_MAX)
        return false;
    t->name_change_count += t->processes[process].name != name;
    t->processes[process].name = name;
    return true;
}

bool context_name_tid(ttr *t, uint16_t source, uint64_t tid, ttr_id name)
{
    t->name_change_count++;
    return pair_map_put(&t->sources[source].names_by_tid, tid, 0, name);
}

void context_name_thread(ttr *t, ttr_id thread, ttr_id name)
{
    if (!thread || thread >= t->threads_n)
        return;
    t->name_change_count += t->threads[thread].name != name;
    t->threads[thread].name = name;
}

void context_name_process_of_thread(ttr *t, ttr_id thread, ttr_id name)
{
    if (!thread || thread >= t->threads_n)
        return;
    struct process *process = &t->processes[t->threads[thread].process];
    t->name_change_count += process->name != name;
    process->name = name;
}

ttr_id context_add_track(ttr *t, const ttr_track *track)
{
    if (t->tracks_n >= UINT32_MAX || !reserve_items(t, (void **)&t->tracks, &t->tracks_capacity,
                                                    t->tracks_n + 1, sizeof *t->tracks))
        return 0;
    t->tracks[t->tracks_n] = *track;
    return (ttr_id)t->tracks_n++;
}

ttr_id context_add_schema(ttr *t, const struct schema *schema)
{
    if (t->schemas_n >= UINT32_MAX || !reserve_items(t, (void **)&t->schemas, &t->schemas_capacity,
                                                     t->schemas_n + 1, sizeof *t->schemas))
        return 0;
    t->schemas[t->schemas_n] = *schema;
    return (ttr_id)t->schemas_n++;
}

void context_set_event_number(ttr *t, ttr_id id, uint32_t number, uint32_t version)
{
    struct schema *schema = &t->schemas[id];
    schema->has_number = true;
    schema->number = number;
    schema->version = version;
}

/* Removes a schema's functions. Events copied from it stay readable, but lose their event class. */
void context_drop_schema(ttr *t, ttr_id schema)
{
    if (!schema || schema >= t->schemas_n)
        return;
    if (t->schemas[schema].packed) {
        struct schema *packed = &t->schemas[t->schemas[schema].packed];
        packed->event_class = NULL;
        packed->base_schema = 0;
    }
    t->schemas[schema] = (struct schema){0};
}

ttr_id context_copy_schema(ttr *t, ttr_id schema)
{
    const struct schema *from = context_schema(t, schema);
    if (from->ops == &event_copy_field_ops)
        return schema;
    if (!from->event_class && !from->has_number && !from->class_name)
        return SCHEMA_EVENT_COPY;
    if (from->packed)
        return from->packed;
    const struct schema packed = {
        .ops = &event_copy_field_ops,
        .ctx = t,
        .event_class = from->event_class,
        .base_schema = from->base_schema ? from->base_schema : schema,
        .has_number = from->has_number,
        .number = from->number,
        .version = from->version,
        .has_texts = from->has_texts,
        .class_name = from->class_name,
        .has_packet = from->has_packet ||
                      (from->ops && from->ops->begin_group && from->event_class &&
                       type_has_user_value(from->event_class->root[ROOT_PACKET_CONTEXT]))};
    ttr_id id = context_add_schema(t, &packed);
    t->schemas[schema].packed = id;
    return id;
}

bool ttr_event_number(const ttr *t, const ttr_event *event, uint32_t *number, uint32_t *version)
{
    const struct schema *schema = context_schema(t, event->schema);
    *number = schema->number;
    *version = schema->version;
    return schema->has_number;
}

bool ttr_thread_get(const ttr *t, ttr_id id, ttr_thread *out)
{
    if (id == 0 || id >= t->threads_n)
        return false;
    const struct thread *thread = &t->threads[id];
    const struct process *process = &t->processes[thread->process];
    *out = (ttr_thread){.pid = process->pid,
                        .tid = thread->tid,
                        .process_name = process->name,
                        .thread_name = thread->name,
                        .pid_known = thread->pid_known,
                        .tid_known = thread->tid_known};
    if (!out->thread_name && thread->tid_known) {
        const uint32_t *name =
            pair_map_get(&t->sources[thread->source].names_by_tid, thread->tid, 0);
        out->thread_name = name ? *name : 0;
    }
    return true;
}

uint32_t ttr_thread_count(const ttr *t)
{
    return (uint32_t)t->threads_n - 1;
}

bool ttr_track_get(const ttr *t, ttr_id id, ttr_track *track)
{
    if (id == 0 || id >= t->tracks_n)
        return false;
    *track = t->tracks[id];
    return true;
}

uint32_t ttr_track_count(const ttr *t)
{
    return (uint32_t)t->tracks_n - 1;
}

bool ttr_source_get(const ttr *t, uint16_t id, ttr_source *source)
{
    if (id >= t->sources_n)
        return false;
    *source = (ttr_source){.path = t->sources[id].path, .format = t->sources[id].format};
    return true;
}

/* Replaces a text by its interned copy, which is valid as long as the context. Returns false if
 * memory runs out. */
static bool intern_in_place(ttr *t, ttr_text *text)
{
    uint32_t id = intern_add(&t->strings, text->p ? text->p : "", text->n);
    if (id == UINT32_MAX)
        return false;
    *text = ttr_text_get(t, id);
    return true;
}

bool context_add_interned_attribute(ttr *t, uint16_t source, const ttr_attribute *attribute)
{
    struct source_entry *entry = &t->sources[source];
    if (!alloc_reserve_small(&t->counted, (void **)&entry->attributes, &entry->attributes_capacity,
                             entry->attributes_n + 1, sizeof *entry->attributes))
        return false;
    entry->attributes[entry->attributes_n++] = *attribute;
    return true;
}

bool context_add_attribute(ttr *t, uint16_t source, const char *name, const ttr_value *value)
{
    ttr_attribute attribute = {.name = {name, strlen(name)}, .value = *value};
    if (!intern_in_place(t, &attribute.name) ||
        (value->type == TTR_TYPE_TEXT && !intern_in_place(t, &attribute.value.text)))
        return false;
    return context_add_interned_attribute(t, source, &attribute);
}

void context_share_attributes(ttr *t, uint16_t source, uint16_t from)
{
    struct source_entry *entry = &t->sources[source];
    if (source == from)
        return;
    t->traces_n -= !entry->shares;
    entry->shares = from;
    entry->trace_path = t->sources[from].trace_path;
}

bool context_name_trace(ttr *t, uint16_t source, const char *path)
{
    uint32_t id = intern_add(&t->strings, path, strlen(path));
    if (id == UINT32_MAX)
        return false;
    t->sources[source].trace_path = id;
    return true;
}

bool ttr_source_attribute(const ttr *t, uint16_t id, size_t i, ttr_attribute *attribute)
{
    if (id >= t->sources_n)
        return false;
    const struct source_entry *entry = &t->sources[id];
    if (i >= entry->attributes_n && entry->shares) {
        i -= entry->attributes_n;
        entry = &t->sources[entry->shares];
    }
    if (i >= entry->attributes_n)
        return false;
    *attribute = entry->attributes[i];
    return true;
}

ttr_text ttr_text_get(const ttr *t, ttr_id id)
{
    struct intern_text text = intern_get(&t->strings, id);
    return (ttr_text){text.p, text.n};
}

ttr_id ttr_text_add(ttr *t, const void *bytes, size_t n)
{
    uint32_t id = intern_add(&t->strings, bytes, n);
    return id == UINT32_MAX ? 0 : id;
}

ttr_id ttr_text_find(const ttr *t, const void *bytes, size_t n)
{
    uint32_t id = intern_find(&t->strings, bytes, n);
    return id == UINT32_MAX ? 0 : id;
}

uint32_t ttr_text_count(const ttr *t)
{
    return t->strings.n;
}
