/* Scheduling as GenericKernelTaskStateEvent, the stable interface for kernels other than Linux, and
 * stack samples as StackSample.
 *
 *   switch   the outgoing thread gets its new state, then the incoming thread runs on the CPU
 *   wake     the thread becomes runnable
 *   sample   a call stack of interned frames; a frame is an address in a mapping of a module
 *
 * These packets contain only tids, so a thread is added to the kernel process tree at its first
 * scheduling event. Left out: symbols, CPU frequency, and counters of a sample. */
#include "base/hash.h"
#include "formats/perfetto/perfetto.h"

/* Limit of stored mappings. A frame in a later mapping is written without mapping. */
#define MAPPINGS_MAX 16384

/* --- Scheduling events --- */

struct task {
    ttr_id thread;
    unsigned state;
    int32_t priority; /* 0 if not recorded */
};

static void add_comm(struct perfetto *p, uint32_t field, const struct thread_state *state,
                     const ttr_thread *thread)
{
    perfetto_add_name(p, field, thread->thread_name,
                      &(struct renumbered){"tid", thread->tid, state->tid});
}

/* Adds a thread to the kernel process tree, or renames it there if its name has changed. */
static void add_to_process_tree(struct perfetto *p, struct thread_state *state,
                                const ttr_thread *thread)
{
    const struct process_state *process =
        thread->pid_known ? perfetto_describe_process(p, state->process) : NULL;
    bool is_idle = !thread->pid_known && state->tid == 0;
    if ((!process && !is_idle) || (state->is_in_tree && state->tree_name == thread->thread_name))
        return;
    state->is_in_tree = true;
    state->tree_name = thread->thread_name;
    size_t packet = perfetto_begin_packet(p);
    size_t tree = protobuf_begin_message(p->to, PACKET_PROCESS_TREE);
    size_t entry = protobuf_begin_message(p->to, TREE_THREADS);
    protobuf_write_u64(p->to, TREE_TID, state->tid);
    protobuf_write_i64(p->to, TREE_PID, process ? process->pid : 0);
    add_comm(p, TREE_NAME, state, thread);
    if (is_idle)
        protobuf_write_bool(p->to, TREE_IS_IDLE, true);
    protobuf_end_message(p->to, entry);
    protobuf_end_message(p->to, tree);
    perfetto_end_packet(p, packet);
}

static void write_task_state(struct perfetto *p, const ttr_event *event, const struct task *task)
{
    ttr_thread thread;
    struct thread_state *state = ttr_thread_get(p->out->t, task->thread, &thread)
                                     ? perfetto_assign_thread_ids(p, task->thread)
                                     : NULL;
    if (!state)
        return;
    add_to_process_tree(p, state, &thread);
    size_t packet = perfetto_begin_packet_at(p, event->time);
    size_t body = protobuf_begin_message(p->to, PACKET_TASK_STATE);
    protobuf_write_u64(p->to, TASK_CPU, event->cpu);
    add_comm(p, TASK_NAME, state, &thread);
    protobuf_write_u64(p->to, TASK_TID, state->tid);
    protobuf_write_u64(p->to, TASK_STATE, task->state);
    if (task->priority)
        protobuf_write_i64(p->to, TASK_PRIORITY, task->priority);
    protobuf_end_message(p->to, body);
    perfetto_end_packet(p, packet);
}

static unsigned thread_state_of(struct perfetto *p, unsigned tag)
{
    static const uint8_t states[] = {
        [TTR_THREAD_NEW] = STATE_RUNNABLE,      [TTR_THREAD_RUNNING] = STATE_RUNNABLE,
        [TTR_THREAD_SUSPENDED] = STATE_STOPPED, [TTR_THREAD_BLOCKED] = STATE_SLEEPING,
        [TTR_THREAD_DYING] = STATE_WAITING,     [TTR_THREAD_DEAD] = STATE_DESTROYED,
    };
    /* These states are approximated: readers may not know "created", and expect only "destroyed"
     * after "dead". */
    if (tag == TTR_THREAD_NEW || tag == TTR_THREAD_DYING || tag >= sizeof states)
        perfetto_count_loss(p, LOSS_SCHED_STATE);
    return tag < sizeof states ? states[tag] : STATE_WAITING;
}

static bool read_priority_field(const ttr_field *field, const char *name, int32_t *priority)
{
    if (field->name.n != strlen(name) || memcmp(field->name.p, name, field->name.n) != 0)
        return false;
    if ((field->value.type != TTR_TYPE_UINT && field->value.type != TTR_TYPE_INT) ||
        field->value.v.u > INT32_MAX)
        return false;
    *priority = (int32_t)field->value.v.u;
    return true;
}

/* Counts losses for the attributes and fields that scheduling and sample packets cannot store. */
static void count_lost_parts(struct perfetto *p, const ttr_event *event, enum perfetto_loss loss,
                             unsigned fields)
{
    unsigned n = fields + perfetto_count_lost_attributes(p, event) + (event->name != 0) +
                 (event->category != 0) + (event->provider != 0);
    for (unsigned i = 0; i < n; i++)
        perfetto_count_loss(p, loss);
}

static bool has_usable_cpu(const ttr_event *event)
{
    return (event->flags & TTR_EVENT_HAS_CPU) && event->cpu <= INT32_MAX;
}

bool perfetto_write_switch(struct perfetto *p, const ttr_event *event)
{
    struct task out = {.thread = event->link <= UINT32_MAX ? (ttr_id)event->link : 0};
    struct task in = {.thread = event->thread, .state = STATE_RUNNING};
    ttr_fields fields;
    ttr_field field;
    unsigned others = 0;
    if (!has_usable_cpu(event))
        return false;
    ttr_fields_begin(p->out->t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        others += field.depth == 0 &&
                  !read_priority_field(&field, "outgoing_priority", &out.priority) &&
                  !read_priority_field(&field, "incoming_priority", &in.priority);
    count_lost_parts(p, event, LOSS_SCHED_ATTRIBUTE, others);
    if (out.thread) {
        out.state = thread_state_of(p, event->tag);
        write_task_state(p, event, &out);
    }
    write_task_state(p, event, &in);
    return true;
}

static unsigned count_fields(const struct perfetto *p, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    unsigned n = 0;
    ttr_fields_begin(p->out->t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        n += field.depth == 0;
    return n;
}

bool perfetto_write_wake(struct perfetto *p, const ttr_event *event)
{
    if (!has_usable_cpu(event))
        return false;
    count_lost_parts(p, event, LOSS_SCHED_ATTRIBUTE, count_fields(p, event));
    write_task_state(p, event, &(struct task){.thread = event->thread, .state = STATE_RUNNABLE});
    return true;
}

/* --- Modules and mappings --- */

static uint32_t event_process_index(const struct perfetto *p, const ttr_event *event)
{
    const ttr *t = p->out->t;
    return event->thread && event->thread < t->threads_n ? t->threads[event->thread].process
                                                         : UINT32_MAX;
}

static uint64_t read_number_field(const struct perfetto *p, const ttr_event *event,
                                  const char *name)
{
    ttr_field field;
    bool is_there =
        ttr_field_find(p->out->t, event, name, &field) && field.value.type == TTR_TYPE_UINT;
    return is_there ? field.value.v.u : 0;
}

void perfetto_store_module(struct perfetto *p, const ttr_event *event)
{
    ttr_field field;
    uint64_t process = event_process_index(p, event);
    ttr_id build_id = 0;
    if (p->modules_n >= MAPPINGS_MAX)
        return;
    if (ttr_field_find(p->out->t, event, "build_id", &field) &&
        field.value.type == TTR_TYPE_BYTES && field.value.text.n) {
        build_id = ttr_text_add(p->out->t, field.value.text.p, field.value.text.n);
        p->to->failed |= build_id == 0;
    }
    struct module_state *module = perfetto_table_item(p, &p->modules, p->modules_n, sizeof *module);
    if (!module || !pair_map_put(&p->module_index, process, event->link, (uint32_t)p->modules_n)) {
        p->to->failed = true;
        return;
    }
    p->modules_n++;
    *module = (struct module_state){.name = event->name, .build_id = build_id};
}

void perfetto_store_mapping(struct perfetto *p, const ttr_event *event)
{
    uint32_t process = event_process_index(p, event);
    if (p->mappings_n >= MAPPINGS_MAX)
        return;
    struct mapping_state *mapping =
        perfetto_table_item(p, &p->mappings, p->mappings_n, sizeof *mapping);
    if (!mapping)
        return;
    *mapping = (struct mapping_state){.process = process,
                                      .start = read_number_field(p, event, "start"),
                                      .size = read_number_field(p, event, "size")};
    mapping->offset = read_number_field(p, event, "address_in_module");
    const uint32_t *known = pair_map_get(&p->module_index, process, event->link);
    if (known) {
        const struct module_state *module = (const struct module_state *)p->modules.items + *known;
        mapping->path = module->name;
        mapping->build_id = module->build_id;
    }
    p->mappings_n++;
    p->mapping_round++;
}

/* Returns the latest mapping that contains an address; NULL if there is none. */
static struct mapping_state *find_mapping(struct perfetto *p, uint32_t process, uint64_t address)
{
    struct mapping_state *mappings = p->mappings.items;
    for (size_t i = p->mappings_n; i-- > 0;)
        if (mappings[i].process == process && address - mappings[i].start < mappings[i].size)
            return &mappings[i];
    return NULL;
}

static uint32_t intern_mapping(struct perfetto *p, struct mapping_state *mapping)
{
    if (mapping->iid)
        return mapping->iid;
    uint32_t build_id = mapping->build_id ? perfetto_intern(p, mapping->build_id, IN_BUILD_IDS) : 0;
    uint32_t path = mapping->path ? perfetto_intern(p, mapping->path, IN_MAPPING_PATHS) : 0;
    mapping->iid = perfetto_new_iid(p);
    size_t mark = protobuf_begin_message(&p->interned, INTERNED_MAPPINGS);
    protobuf_write_u64(&p->interned, MAPPING_IID, mapping->iid);
    if (build_id)
        protobuf_write_u64(&p->interned, MAPPING_BUILD_ID, build_id);
    protobuf_write_u64(&p->interned, MAPPING_START, mapping->start);
    protobuf_write_u64(&p->interned, MAPPING_END, mapping->start + mapping->size);
    if (path)
        protobuf_write_u64(&p->interned, MAPPING_PATHS, path);
    protobuf_write_u64(&p->interned, MAPPING_EXACT_OFFSET, mapping->offset);
    protobuf_end_message(&p->interned, mark);
    return mapping->iid;
}

/* Returns the iid of an empty mapping. It is used for frames outside of all mappings; their
 * addresses are absolute. */
static uint32_t intern_empty_mapping(struct perfetto *p)
{
    if (p->empty_mapping)
        return p->empty_mapping;
    p->empty_mapping = perfetto_new_iid(p);
    size_t mark = protobuf_begin_message(&p->interned, INTERNED_MAPPINGS);
    protobuf_write_u64(&p->interned, MAPPING_IID, p->empty_mapping);
    protobuf_end_message(&p->interned, mark);
    return p->empty_mapping;
}

/* --- Stack samples --- */

static uint32_t intern_frame(struct perfetto *p, uint32_t process, uint64_t address)
{
    uint64_t scope = (uint64_t)process << 32 | p->mapping_round;
    const uint32_t *known = pair_map_get(&p->frames, address, scope);
    if (known)
        return *known;
    struct mapping_state *mapping = find_mapping(p, process, address);
    uint32_t in = mapping ? intern_mapping(p, mapping) : intern_empty_mapping(p);
    uint64_t relative = mapping ? address - mapping->start + mapping->offset : address;
    uint32_t iid = perfetto_new_iid(p);
    size_t mark = protobuf_begin_message(&p->interned, INTERNED_FRAMES);
    protobuf_write_u64(&p->interned, FRAME_IID, iid);
    protobuf_write_u64(&p->interned, FRAME_MAPPING, in);
    protobuf_write_u64(&p->interned, FRAME_RELATIVE_PC, relative);
    protobuf_end_message(&p->interned, mark);
    p->to->failed |= !pair_map_put(&p->frames, address, scope, iid);
    return iid;
}

/* Interns the call stack in p->seen, which has the addresses from the innermost frame outwards.
 * Returns its iid. */
static uint32_t intern_callstack(struct perfetto *p, uint32_t process)
{
    uint64_t scope = (uint64_t)process << 32 | p->mapping_round, second = p->seen_n;
    for (size_t i = 0; i < p->seen_n; i++)
        second = hash_pair(second, p->seen[i]);
    uint64_t first = hash_pair(scope, hash_bytes(p->seen, p->seen_n * sizeof *p->seen));
    const uint32_t *known = pair_map_get(&p->callstacks, first, second);
    p->flags |= SEQUENCE_NEEDED;
    if (known)
        return *known;
    for (size_t i = 0; i < p->seen_n; i++)
        p->seen[i] = intern_frame(p, process, p->seen[i]);
    uint32_t iid = perfetto_new_iid(p);
    size_t mark = protobuf_begin_message(&p->interned, INTERNED_CALLSTACKS);
    protobuf_write_u64(&p->interned, CALLSTACK_IID, iid);
    for (size_t i = p->seen_n; i-- > 0;)
        protobuf_write_u64(&p->interned, CALLSTACK_FRAMES, p->seen[i]);
    protobuf_end_message(&p->interned, mark);
    p->to->failed |= !pair_map_put(&p->callstacks, first, second, iid);
    return iid;
}

static void add_address(struct perfetto *p, uint64_t address)
{
    if (!alloc_reserve(&p->out->t->counted, (void **)&p->seen, &p->seen_capacity, p->seen_n + 1,
                       sizeof *p->seen))
        p->to->failed = true;
    else
        p->seen[p->seen_n++] = address;
}

/* Stores the elements of the field "frames" in p->seen. Returns the number of other fields. */
static unsigned collect_frames(struct perfetto *p, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    unsigned others = 0;
    bool is_inside = false, is_found = false;
    p->seen_n = 0;
    ttr_fields_begin(p->out->t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.depth == 0) {
            is_inside = !is_found && field.value.type == TTR_TYPE_ARRAY && field.name.n == 6 &&
                        memcmp(field.name.p, "frames", 6) == 0;
            is_found |= is_inside;
            others += !is_inside;
        } else if (is_inside && field.depth == 1 && field.value.type == TTR_TYPE_UINT) {
            add_address(p, field.value.v.u);
        }
    }
    return others;
}

static void add_task(struct perfetto *p, const ttr_event *event,
                     const struct process_state *process, uint64_t tid)
{
    if (event->thread) {
        size_t task = protobuf_begin_message(p->to, SAMPLE_TASK);
        if (process)
            protobuf_write_i64(p->to, SAMPLE_PID, process->pid);
        if (tid)
            protobuf_write_u64(p->to, SAMPLE_TID, tid);
        protobuf_end_message(p->to, task);
    }
    if (event->flags & TTR_EVENT_HAS_CPU) {
        size_t execution = protobuf_begin_message(p->to, SAMPLE_EXECUTION);
        protobuf_write_u64(p->to, SAMPLE_CPU, event->cpu);
        protobuf_end_message(p->to, execution);
    }
}

bool perfetto_write_sample(struct perfetto *p, const ttr_event *event)
{
    const struct thread_state *thread = NULL;
    const struct process_state *process = NULL;
    unsigned others = collect_frames(p, event);
    if (p->seen_n == 0)
        return false;
    count_lost_parts(p, event, LOSS_SAMPLE_ATTRIBUTE, others);
    if (event->thread)
        thread = perfetto_describe_thread(p, event->thread);
    if (thread)
        process = perfetto_describe_process(p, thread->process);
    size_t packet = perfetto_begin_packet_at(p, event->time);
    size_t sample = protobuf_begin_message(p->to, PACKET_STACK_SAMPLE);
    add_task(p, event, process, thread ? thread->tid : 0);
    protobuf_write_u64(p->to, SAMPLE_CALLSTACK_IID,
                       intern_callstack(p, event_process_index(p, event)));
    protobuf_end_message(p->to, sample);
    perfetto_end_packet(p, packet);
    p->seen_n = 0;
    return true;
}

/* --- Initialisation and release --- */

void perfetto_init_kernel(struct perfetto *p)
{
    const struct alloc *alloc = &p->out->t->counted;
    pair_map_init(&p->module_index, alloc);
    pair_map_init(&p->frames, alloc);
    pair_map_init(&p->callstacks, alloc);
}

void perfetto_free_kernel(struct perfetto *p)
{
    const struct alloc *alloc = &p->out->t->counted;
    pair_map_free(&p->module_index);
    pair_map_free(&p->frames);
    pair_map_free(&p->callstacks);
    alloc_free(alloc, p->mappings.items, p->mappings.n, sizeof(struct mapping_state));
    alloc_free(alloc, p->modules.items, p->modules.n, sizeof(struct module_state));
}
