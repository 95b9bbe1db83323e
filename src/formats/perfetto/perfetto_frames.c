/* Stack samples, and call stacks of other events.
 *
 *   StackSample   task, CPU, call stack, weight; also for a switch or wake-up with a stack
 *   TrackEvent    refers to the call stack of a slice or instant
 *   callstack     frames, outermost first
 *   frame         function name, mapping, offset in the file of the mapping
 *   mapping       path, build id, addresses
 *
 * Names and mappings come from the symbols of the context (model/symbols.h) and from its
 * symbolizer. The address of a caller is the return address, which may be in the next function; so
 * callers are looked up one byte before it. A frame outside of all mappings refers to a mapping
 * without addresses that has the name of its module, or "[unknown]", because viewers group frames
 * by mapping.
 *
 * Interning has two levels: an address of a process is looked up once while the context has the
 * same symbols, and equal frames share an iid. An address in memory that was reused for other code
 * is looked up each time. Left out: lines of source code. */
#include "base/hash.h"
#include "base/number.h"
#include "formats/perfetto/perfetto.h"

/* Result of symbolization for the address of a frame. */
struct frame {
    ttr_id function; /* text id of the function's name; 0 if unknown */
    ttr_id module;   /* text id of the module's name; used if the frame has no mapping */
    const struct symbol_range *mapping;
    /* offset in bytes in the mapped file; the address if the frame has no mapping */
    uint64_t offset;
};

/* --- Mappings and modules --- */

static const struct symbol_module *get_mapping_module(const struct perfetto *p,
                                                      const struct symbol_range *mapping)
{
    return mapping->module ? &p->out->t->symbols.module[mapping->module - 1] : NULL;
}

/* Returns the path of a module's file. If the module has no file, returns its display name
 * ("[kernel.kallsyms]"). */
static ttr_id get_module_path(const struct perfetto *p, const struct symbol_module *module)
{
    ttr_text path = ttr_text_get(p->out->t, module->path);
    return module->name && (path.n == 0 || path.p[0] != '/') ? module->name : module->path;
}

static uint32_t write_mapping(struct perfetto *p, const struct symbol_range *mapping, ttr_id path,
                              ttr_id build_id)
{
    uint32_t build_iid = build_id ? perfetto_intern(p, build_id, IN_BUILD_IDS) : 0;
    uint32_t path_iid = perfetto_intern(p, path ? path : p->unknown_text, IN_MAPPING_PATHS);
    uint32_t iid = perfetto_assign_iid(p);
    size_t mark = protobuf_begin_message(&p->interned, INTERNED_MAPPINGS);
    protobuf_write_u64(&p->interned, MAPPING_IID, iid);
    if (build_iid)
        protobuf_write_u64(&p->interned, MAPPING_BUILD_ID, build_iid);
    if (mapping) {
        protobuf_write_u64(&p->interned, MAPPING_START, mapping->start);
        protobuf_write_u64(&p->interned, MAPPING_END, mapping->start + mapping->size);
    }
    protobuf_write_u64(&p->interned, MAPPING_PATHS, path_iid);
    if (mapping)
        protobuf_write_u64(&p->interned, MAPPING_EXACT_OFFSET, mapping->offset);
    protobuf_end_message(&p->interned, mark);
    return iid;
}

static uint32_t intern_mapping(struct perfetto *p, const struct frame *frame)
{
    const struct symbol_range *mapping = frame->mapping;
    uint64_t first = mapping ? hash_pair(mapping->start, mapping->process) : 0;
    uint64_t second = mapping ? hash_pair((uint64_t)mapping->from, mapping->module) : frame->module;
    const uint32_t *known = pair_map_get(&p->mappings, first, second);
    if (known)
        return *known;
    const struct symbol_module *module = mapping ? get_mapping_module(p, mapping) : NULL;
    uint32_t iid = module ? write_mapping(p, mapping, get_module_path(p, module),
                                          symbols_get_module_build_id(&p->out->t->symbols, module))
                          : write_mapping(p, mapping, frame->module, 0);
    p->to->failed |= !pair_map_put(&p->mappings, first, second, iid);
    return iid;
}

/* --- Frames and call stacks --- */

static struct frame resolve_frame(struct perfetto *p, ttr_id thread, uint64_t address, int64_t time)
{
    ttr *t = p->out->t;
    ttr_symbol symbol;
    (void)ttr_symbol_get(t, thread, address, time, &symbol);
    struct frame frame = {.function = symbol.name,
                          .module = symbol.module,
                          .mapping = symbols_find_mapping(t, thread, address, time),
                          .offset = address};
    if (!frame.function)
        frame.function = symbols_locate(t, t->locate, t->locate_ctx, thread, address, time);
    if (frame.mapping)
        frame.offset = address - frame.mapping->start + frame.mapping->offset;
    return frame;
}

/* Returns the name to display for a frame of an unknown function: "libc.so.6+0x2a1", or the
 * address. Returns 0 if memory runs out. */
static ttr_id make_name_from_offset(struct perfetto *p, const struct frame *frame)
{
    char number[NUMBER_MAX];
    struct buffer text;
    ttr_text module = ttr_text_get(p->out->t, frame->module);
    buffer_init(&text, &p->out->t->counted);
    buffer_add(&text, module.p, module.n);
    buffer_add(&text, "+", module.n != 0);
    buffer_add(&text, number, number_format_hex(number, frame->offset));
    ttr_id id = text.failed ? 0 : ttr_text_add(p->out->t, text.bytes, text.n);
    buffer_free(&text);
    return id;
}

static uint32_t intern_resolved(struct perfetto *p, const struct frame *frame)
{
    uint32_t mapping = intern_mapping(p, frame);
    ttr_id name = frame->function ? frame->function : make_name_from_offset(p, frame);
    p->to->failed |= name == 0;
    const uint64_t second = (uint64_t)mapping << 32 | name;
    const uint32_t *known = pair_map_get(&p->resolved_frames, frame->offset, second);
    if (known)
        return *known;
    uint32_t function = perfetto_intern(p, name, IN_FUNCTIONS);
    uint32_t iid = perfetto_assign_iid(p);
    size_t mark = protobuf_begin_message(&p->interned, INTERNED_FRAMES);
    protobuf_write_u64(&p->interned, FRAME_IID, iid);
    protobuf_write_u64(&p->interned, FRAME_FUNCTION, function);
    protobuf_write_u64(&p->interned, FRAME_MAPPING, mapping);
    protobuf_write_u64(&p->interned, FRAME_RELATIVE_PC, frame->offset);
    protobuf_end_message(&p->interned, mark);
    p->to->failed |= !pair_map_put(&p->resolved_frames, frame->offset, second, iid);
    return iid;
}

static uint32_t intern_frame(struct perfetto *p, ttr_id thread, uint64_t address, int64_t time)
{
    const uint64_t scope = perfetto_get_process_index(p, thread);
    const uint32_t *known = pair_map_get(&p->frames, address, scope);
    if (known)
        return *known;
    struct frame frame = resolve_frame(p, thread, address, time);
    uint32_t iid = intern_resolved(p, &frame);
    if (symbols_change_with_time(p->out->t, thread, address))
        p->is_stack_timed = true;
    else
        p->to->failed |= !pair_map_put(&p->frames, address, scope, iid);
    return iid;
}

/* Clears the cache of symbolized addresses if the context has received new symbols. */
static void clear_frames_after_new_symbols(struct perfetto *p)
{
    const struct symbols *symbols = &p->out->t->symbols;
    uint32_t n = (uint32_t)(symbols->table[SYMBOL_FUNCTION].n + symbols->table[SYMBOL_MAPPING].n);
    if (n == p->symbols_n)
        return;
    p->symbols_n = n;
    pair_map_free(&p->frames);
    pair_map_free(&p->stacks);
    pair_map_init(&p->frames, &p->out->t->counted);
    pair_map_init(&p->stacks, &p->out->t->counted);
}

static uint32_t write_callstack(struct perfetto *p)
{
    uint32_t iid = perfetto_assign_iid(p);
    size_t mark = protobuf_begin_message(&p->interned, INTERNED_CALLSTACKS);
    protobuf_write_u64(&p->interned, CALLSTACK_IID, iid);
    for (size_t i = p->stack_n; i-- > 0;)
        protobuf_write_u64(&p->interned, CALLSTACK_FRAMES, p->stack[i]);
    protobuf_end_message(&p->interned, mark);
    return iid;
}

/* Overwrites the addresses in p->stack by iids of frames. Returns the iid of their call stack. */
static uint32_t intern_frames(struct perfetto *p, ttr_id thread, int64_t time)
{
    for (size_t i = 0; i < p->stack_n; i++) {
        const uint64_t address = p->stack[i];
        p->stack[i] = intern_frame(p, thread, i > 0 && address > 0 ? address - 1 : address, time);
    }
    uint64_t first = hash_bytes(p->stack, p->stack_n * sizeof *p->stack), second = p->stack_n;
    for (size_t i = 0; i < p->stack_n; i++)
        second = hash_pair(second, p->stack[i]);
    const uint32_t *known = pair_map_get(&p->callstacks, first, second);
    if (known)
        return *known;
    uint32_t iid = write_callstack(p);
    p->to->failed |= !pair_map_put(&p->callstacks, first, second, iid);
    return iid;
}

/* Interns the call stack in p->stack and returns its iid. Overwrites p->stack, which contains
 * addresses, innermost first. */
static uint32_t intern_callstack(struct perfetto *p, ttr_id thread, int64_t time)
{
    uint64_t first = hash_bytes(p->stack, p->stack_n * sizeof *p->stack);
    uint64_t second = hash_pair(perfetto_get_process_index(p, thread), p->stack_n);
    for (size_t i = 0; i < p->stack_n; i++)
        second = hash_pair(second, p->stack[i]);
    clear_frames_after_new_symbols(p);
    p->flags |= SEQUENCE_NEEDED;
    const uint32_t *known = pair_map_get(&p->stacks, first, second);
    if (known)
        return *known;
    p->is_stack_timed = false;
    uint32_t iid = intern_frames(p, thread, time);
    if (!p->is_stack_timed)
        p->to->failed |= !pair_map_put(&p->stacks, first, second, iid);
    return iid;
}

/* Copies the stack of an event to p->stack. Returns false if the event has no stack. */
static bool collect_stack(struct perfetto *p, const ttr_event *event)
{
    size_t before = p->stack_capacity;
    uint32_t n = ttr_event_frames(p->out->t, event, p->stack, (uint32_t)before);
    p->stack_n = n;
    if (n <= before)
        return n > 0;
    if (!alloc_reserve(&p->out->t->counted, (void **)&p->stack, &p->stack_capacity, n,
                       sizeof *p->stack)) {
        p->to->failed = true;
        return false;
    }
    return ttr_event_frames(p->out->t, event, p->stack, n) > 0;
}

uint32_t perfetto_intern_event_stack(struct perfetto *p, const ttr_event *event)
{
    return event->stack && collect_stack(p, event) ? intern_callstack(p, event->thread, event->time)
                                                   : 0;
}

/* --- Stack samples --- */

/* Values that are written as a StackSample packet. */
struct sample {
    ttr_id thread;
    uint64_t weight; /* weight of the sample; 0 if the trace does not contain it */
    ttr_id unit;     /* unit of the weight, which is the name of the event; 0 if unknown */
};

static void add_task(struct perfetto *p, const ttr_event *event, ttr_id id)
{
    const struct thread_state *thread = id ? perfetto_assign_thread_ids(p, id) : NULL;
    const struct process_state *process =
        thread ? perfetto_describe_process(p, thread->process) : NULL;
    if (process) {
        size_t task = protobuf_begin_message(p->to, SAMPLE_TASK);
        protobuf_write_i64(p->to, SAMPLE_PID, process->pid);
        protobuf_write_u64(p->to, SAMPLE_TID,
                           p->out->t->threads[id].tid_known ? thread->tid : (uint64_t)process->pid);
        protobuf_end_message(p->to, task);
    }
    if (event->flags & TTR_EVENT_HAS_CPU) {
        size_t execution = protobuf_begin_message(p->to, SAMPLE_EXECUTION);
        protobuf_write_u64(p->to, SAMPLE_CPU, event->cpu);
        protobuf_end_message(p->to, execution);
    }
}

static void write_sample(struct perfetto *p, const ttr_event *event, const struct sample *sample)
{
    if (sample->thread)
        (void)perfetto_describe_thread(p, sample->thread);
    size_t packet = perfetto_begin_packet_at(p, event->time);
    size_t body = protobuf_begin_message(p->to, PACKET_STACK_SAMPLE);
    add_task(p, event, sample->thread);
    protobuf_write_u64(p->to, SAMPLE_CALLSTACK_IID,
                       intern_callstack(p, sample->thread, event->time));
    if (sample->weight && sample->unit) {
        size_t counter = protobuf_begin_message(p->to, SAMPLE_COUNTER);
        perfetto_append_text(p, p->to, SAMPLE_COUNTER_NAME, ttr_text_get(p->out->t, sample->unit));
        protobuf_end_message(p->to, counter);
        protobuf_write_u64(p->to, SAMPLE_WEIGHT, sample->weight);
    }
    protobuf_end_message(p->to, body);
    perfetto_end_packet(p, packet);
}

/* Reads the weight of a sample from its fields. Returns the number of all other fields, which are
 * lost. */
static unsigned read_sample_fields(struct perfetto *p, const ttr_event *event,
                                   struct sample *sample)
{
    ttr_fields fields;
    ttr_field field;
    unsigned others = 0;
    ttr_fields_begin(p->out->t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        bool is_frames = field.name.n == 6 && memcmp(field.name.p, "frames", 6) == 0;
        bool is_period = field.name.n == 6 && memcmp(field.name.p, "period", 6) == 0 &&
                         field.value.type == TTR_TYPE_UINT;
        if (field.depth == 0 && is_period)
            sample->weight = field.value.v.u;
        others += field.depth == 0 && !is_frames && !is_period;
    }
    return others;
}

bool perfetto_write_sample(struct perfetto *p, const ttr_event *event)
{
    struct sample sample = {.thread = event->thread, .unit = event->name};
    if (!collect_stack(p, event))
        return false;
    perfetto_count_lost_parts(p, event, LOSS_SAMPLE_ATTRIBUTE,
                              read_sample_fields(p, event, &sample));
    write_sample(p, event, &sample);
    return true;
}

void perfetto_write_event_stack(struct perfetto *p, const ttr_event *event, ttr_id thread)
{
    if (event->stack && collect_stack(p, event))
        write_sample(p, event, &(struct sample){.thread = thread});
}

/* --- Initialisation and release --- */

bool perfetto_init_frames(struct perfetto *p)
{
    p->unknown_text = ttr_text_add(p->out->t, "[unknown]", 9);
    return p->unknown_text != 0;
}

void perfetto_free_frames(struct perfetto *p)
{
    alloc_free(&p->out->t->counted, p->stack, p->stack_capacity, sizeof *p->stack);
}
