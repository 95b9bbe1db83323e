/* Stacks: perf_sample, and stack_profile_callsite, _frame and _mapping with their call trees.
 *
 * Every event with a stack is a sample.  A frame is an address of a process, a callsite a frame
 * below another callsite, so that a stack is one number, its innermost callsite.  Functions are
 * looked up at the end of the trace, when the reader has collected its symbols.
 * Memory: 24 bytes per frame, 16 per callsite, and their hash tables. */
#include <stdlib.h>
#include <string.h>

#include <tracetta/advanced.h>

#include "model/context.h"
#include "model/symbols.h"
#include "store/store.h"

/* columns of stack_profile_frame that need the names of functions */
enum { FRAME_NAME = 1, FRAME_SYMBOLS = 4 };
/* number of events of a name to search for a stack */
#define SEARCHED_MAX 64u
/* lowest address of the Linux kernel, the same in all processes */
#define KERNEL_FIRST ((uint64_t)0xffff800000000000u)

/* Returns a number for the address space of an address: 0 for the kernel, else by pid, or by thread
 * if the pid is unknown. */
static uint64_t get_address_space(const ttr_store *store, ttr_id thread, uint64_t address)
{
    ttr_thread about = {0};
    if (address >= KERNEL_FIRST)
        return 0;
    (void)ttr_thread_get(store->t, thread, &about);
    return about.pid_known ? about.pid << 1 | 1 : (uint64_t)thread << 1;
}

/* Returns the number of a frame; UINT32_MAX if memory is exhausted. */
static uint32_t find_frame(ttr_store *store, const ttr_event *event, uint64_t address)
{
    struct store_samples *samples = &store->samples;
    const uint64_t space = get_address_space(store, event->thread, address);
    const uint32_t *known = pair_map_get(&samples->frame_ids, address, space);
    if (known)
        return *known;
    if (!alloc_reserve(store->alloc, (void **)&samples->frames, &samples->frames_capacity,
                       samples->frames_n + 1, sizeof *samples->frames) ||
        !pair_map_put(&samples->frame_ids, address, space, (uint32_t)samples->frames_n))
        return UINT32_MAX;
    samples->frames[samples->frames_n] =
        (struct raw_frame){.address = address, .ts = event->time, .thread = event->thread};
    return (uint32_t)samples->frames_n++;
}

/* Returns the number + 1 of a callsite; 0 if memory is exhausted. */
static uint32_t find_callsite(ttr_store *store, uint32_t parent, uint32_t frame)
{
    struct store_samples *samples = &store->samples;
    const uint32_t *known = pair_map_get(&samples->callsite_ids, parent, frame);
    if (known)
        return *known + 1;
    if (samples->callsites_n >= UINT32_MAX - 1 ||
        !alloc_reserve(store->alloc, (void **)&samples->callsites, &samples->callsites_capacity,
                       samples->callsites_n + 1, sizeof *samples->callsites) ||
        !pair_map_put(&samples->callsite_ids, parent, frame, (uint32_t)samples->callsites_n))
        return 0;
    samples->callsites[samples->callsites_n] =
        (struct raw_callsite){.parent = parent,
                              .frame = frame,
                              .depth = parent ? samples->callsites[parent - 1].depth + 1 : 0};
    return (uint32_t)++samples->callsites_n;
}

/* Returns true if a text of the context is the name of a field that is a stack. */
static bool has_stack_names(ttr_store *store)
{
    struct store_samples *samples = &store->samples;
    const uint32_t n = ttr_text_count(store->t);
    if (!samples->has_stack_fields && samples->texts_n != n)
        samples->has_stack_fields = ttr_text_find(store->t, "callstack_user", 14) ||
                                    ttr_text_find(store->t, "callstack_kernel", 16);
    samples->texts_n = n;
    return samples->has_stack_fields;
}

/* Returns true if the fields of an event without a stack of its own must be searched for one, which
 * costs as much as a third of the reading. Readers with layouts (CTF) add the names of all fields
 * to the context. For others (FXT, Heph) the first events of each name decide. */
static bool needs_search(ttr_store *store, const ttr_event *event)
{
    struct store_samples *samples = &store->samples;
    if (samples->has_stack_fields || has_stack_names(store))
        return true;
    uint32_t *searched = pair_map_get(&samples->searched, event->schema, event->name);
    if (!searched)
        return pair_map_put(&samples->searched, event->schema, event->name, 1);
    return *searched < SEARCHED_MAX && (*searched)++ < SEARCHED_MAX;
}

bool store_add_sample(ttr_store *store, const ttr_event *event)
{
    uint64_t addresses[STACK_FRAMES_MAX];
    const bool has_stack = event->stack || event->kind == TTR_KIND_SAMPLE;
    if (!has_stack && !needs_search(store, event))
        return true;
    const uint32_t n = ttr_event_frames(store->t, event, addresses, STACK_FRAMES_MAX);
    uint32_t callsite = 0;
    if (n == 0 && event->kind != TTR_KIND_SAMPLE)
        return true;
    store->samples.has_stack_fields |= !has_stack;
    for (uint32_t i = n < STACK_FRAMES_MAX ? n : STACK_FRAMES_MAX; i > 0; i--) {
        const uint32_t frame = find_frame(store, event, addresses[i - 1]);
        callsite = frame == UINT32_MAX ? 0 : find_callsite(store, callsite, frame);
        if (!callsite)
            return false;
    }
    const int64_t row[] = {(int64_t)store->tables[STORE_PERF_SAMPLE].rows,
                           event->time,
                           store_text_or_null(event->thread),
                           event->flags & TTR_EVENT_HAS_CPU ? (int64_t)event->cpu : TTR_STORE_NULL,
                           callsite ? (int64_t)callsite - 1 : TTR_STORE_NULL,
                           store_text_or_null(event->name),
                           (int64_t)store->events};
    return store_append(store, STORE_PERF_SAMPLE, row);
}

/* --- Tables --- */

/* Returns the row of a module, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t find_mapping(ttr_store *store, struct pair_map *known, ttr_id module)
{
    const uint32_t *found = pair_map_get(known, module, 0);
    const uint32_t mapping = (uint32_t)known->used;
    const int64_t row[] = {mapping, store_text_or_null(module)};
    if (found)
        return *found;
    return pair_map_put(known, module, 0, mapping) && store_append(store, STORE_STACK_MAPPING, row)
               ? mapping
               : UINT32_MAX;
}

/* Finds the function that the trace does not name, if a statement uses it. Returns false if memory
 * is exhausted. */
static bool write_symbol(ttr_store *store, const struct raw_frame *frame, ttr_id *name,
                         int64_t *set)
{
    const struct table *frames = &store->tables[STORE_STACK_FRAME];
    struct table *symbols = &store->tables[STORE_STACK_SYMBOL];
    if (!symbols->is_wanted && !table_wants(frames, FRAME_NAME) &&
        !table_wants(frames, FRAME_SYMBOLS))
        return true;
    const struct symbol_line line =
        symbols_locate_line(store->t, frame->thread, frame->address, frame->ts);
    if (!line.function)
        return true;
    *name = line.function;
    *set = (int64_t)store->samples.symbols_n++;
    const int64_t row[] = {*set,
                           *set,
                           line.function,
                           store_text_or_null(line.file),
                           line.number > 0 ? line.number : TTR_STORE_NULL,
                           0};
    return store_append(store, STORE_STACK_SYMBOL, row);
}

static bool write_frame(ttr_store *store, size_t i, struct pair_map *mappings)
{
    const struct raw_frame *frame = &store->samples.frames[i];
    int64_t set = TTR_STORE_NULL;
    ttr_symbol symbol = {0};
    (void)ttr_symbol_get(store->t, frame->thread, frame->address, frame->ts, &symbol);
    if (!symbol.name && !write_symbol(store, frame, &symbol.name, &set))
        return false;
    const uint32_t mapping = symbol.module ? find_mapping(store, mappings, symbol.module) : 0;
    const bool has_offset = symbol.module && symbol.offset;
    const int64_t row[] = {(int64_t)i, store_text_or_null(symbol.name),
                           symbol.module ? (int64_t)mapping : TTR_STORE_NULL,
                           (int64_t)(has_offset ? symbol.offset : frame->address), set};
    return mapping != UINT32_MAX && store_append(store, STORE_STACK_FRAME, row);
}

bool store_end_samples(ttr_store *store)
{
    struct store_samples *samples = &store->samples;
    struct pair_map mappings; /* modules to their rows */
    bool is_fine = true;
    pair_map_init(&mappings, store->alloc);
    samples->symbols_n = 0;
    for (size_t i = 0; i < samples->callsites_n && is_fine; i++) {
        const struct raw_callsite *callsite = &samples->callsites[i];
        const int64_t row[] = {(int64_t)i, callsite->depth,
                               callsite->parent ? (int64_t)callsite->parent - 1 : TTR_STORE_NULL,
                               callsite->frame};
        is_fine = store_append(store, STORE_STACK_CALLSITE, row);
    }
    for (size_t i = 0; i < samples->frames_n && is_fine; i++)
        is_fine = write_frame(store, i, &mappings);
    pair_map_free(&mappings);
    return is_fine;
}

void store_samples_init(ttr_store *store)
{
    pair_map_init(&store->samples.frame_ids, store->alloc);
    pair_map_init(&store->samples.callsite_ids, store->alloc);
    pair_map_init(&store->samples.searched, store->alloc);
}

void store_samples_free(ttr_store *store)
{
    struct store_samples *samples = &store->samples;
    alloc_free(store->alloc, samples->frames, samples->frames_capacity, sizeof *samples->frames);
    alloc_free(store->alloc, samples->callsites, samples->callsites_capacity,
               sizeof *samples->callsites);
    pair_map_free(&samples->frame_ids);
    pair_map_free(&samples->callsite_ids);
    pair_map_free(&samples->searched);
}
