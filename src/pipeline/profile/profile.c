/* Profiles from stack samples: a tree of addresses while reading; names are resolved at the end
 * (profile_names.c).
 *
 * Most samples have a stack that was seen before: its node is found by a 64-bit hash of all
 * addresses. Stacks with equal hashes are not distinguished.  With a million distinct stacks the
 * probability of a collision is below 10^-7. */
#include "pipeline/profile/profile.h"

#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/status.h"
#include "model/context.h"
#include "model/reader.h"
#include "pipeline/glob.h"
#include "pipeline/read_loop.h"

#define SAMPLER "Microsoft-DotNETCore-SampleProfiler"

#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define UNIVERSAL "Universal.Events"
static const char *const allocation_names[] = {"GCAllocationTick", "GCSampledObjectAllocationHigh",
                                               "GCSampledObjectAllocationLow"};

/* Values of the field "Type" in .NET samples, and the names that dotnet-trace shows for them. */
enum { TYPE_EXTERNAL = 1, TYPE_MANAGED = 2 };
static const char *const state_names[] = {
    [TYPE_EXTERNAL] = "UNMANAGED_CODE_TIME", [TYPE_MANAGED] = "CPU_TIME"};

static uint64_t get_field_number(const ttr *t, const ttr_event *event, const char *name)
{
    ttr_field field;
    return ttr_field_find(t, event, name, &field) && field.value.type == TTR_TYPE_UINT
               ? field.value.v.u
               : 0;
}

/* --- Samples --- */

/* Addresses of a stack, from the innermost frame to the outermost. */
struct stack {
    const uint64_t *address; /* addresses in memory of the reader, or in profile->address */
    uint32_t n;
};

/* Reads the addresses of an event's stack. Returns false if memory runs out. */
static bool get_addresses(struct ttr_profile *profile, const ttr_event *event, struct stack *stack)
{
    size_t before = profile->address_room;
    stack->address = ttr_event_stack(profile->t, event, &stack->n);
    if (stack->address)
        return true;
    stack->n = ttr_event_frames(profile->t, event, profile->address, (uint32_t)before);
    if (stack->n > before) {
        if (!alloc_reserve(profile->alloc, (void **)&profile->address, &profile->address_room,
                           stack->n, sizeof *profile->address))
            return false;
        (void)ttr_event_frames(profile->t, event, profile->address, stack->n);
    }
    stack->address = profile->address;
    return true;
}

/* Adds a stack to the tree, outermost call first, then the thread's state. Returns the node of the
 * innermost frame. */
static uint32_t add_stack(struct ttr_profile *profile, const struct profile_place *like,
                          const struct stack *stack, uint32_t lane)
{
    uint32_t node = PROFILE_NONE;
    for (size_t i = stack->n; i-- > 0;) {
        struct profile_place place = *like;
        place.address = stack->address[i];
        place.name = 0;
        uint32_t at = profile_find_or_add_place(profile, &place);
        node =
            at == PROFILE_NONE ? PROFILE_NONE : profile_find_or_add_call(profile, node, at, lane);
        if (node == PROFILE_NONE)
            return PROFILE_NONE;
    }
    if (stack->n && !like->name)
        return node;
    struct profile_place last = {.name = like->name, .kind = PLACE_STATE};
    if (!last.name)
        last.name = ttr_text_add(profile->t, "(no stack)", 10);
    uint32_t at = profile_find_or_add_place(profile, &last);
    return at == PROFILE_NONE ? PROFILE_NONE : profile_find_or_add_call(profile, node, at, lane);
}

/* Returns the tree node of a stack. Stacks seen before are found by their hash. Returns
 * PROFILE_NONE if memory is exhausted. */
static uint32_t find_stack(struct ttr_profile *profile, const struct profile_place *like,
                           const struct stack *stack, uint32_t lane)
{
    /* 0 is an unknown process */
    uint32_t process = like->thread ? profile->t->threads[like->thread].process + 1 : 0;
    uint32_t owner = profile->flags & TTR_PROFILE_MERGED ? process : lane;
    uint64_t key = hash_bytes(stack->address, stack->n * sizeof *stack->address);
    key = hash_pair(hash_pair(key, (uint64_t)owner << 32 | like->name),
                    (uint64_t)profile->t->symbols.reused << 2 | like->kind);
    key += key == 0;
    const uint32_t *known = key_map_get(&profile->stack_of, key);
    if (known)
        return *known;
    uint32_t node = add_stack(profile, like, stack, lane);
    return node != PROFILE_NONE && key_map_put(&profile->stack_of, key, node) ? node : PROFILE_NONE;
}

/* Returns the string id of the thread's state in a sample. Returns 0 if the sample has none or
 * TTR_PROFILE_STATES is not set. */
static ttr_id get_thread_state_name(const struct ttr_profile *profile, const ttr_event *event)
{
    bool is_tick = event->provider == profile->runtime;
    uint64_t type = !(profile->flags & TTR_PROFILE_STATES) ? 0
                    : is_tick                              ? TYPE_MANAGED
                              : get_field_number(profile->t, event, "Type");
    return type == TYPE_EXTERNAL || type == TYPE_MANAGED ? profile->states[type] : 0;
}

/* Adds the time since the previous sample of a thread to the node of that sample. */
static void add_weight_of_previous_sample(struct ttr_profile *profile, size_t at, int64_t time)
{
    struct profile_state *state = &profile->state[at];
    ttr_profile_thread *lane = &profile->lane[at];
    if (state->leaf == PROFILE_NONE || time <= state->time)
        return;
    uint64_t weight = (uint64_t)time - (uint64_t)state->time;
    profile->met[state->leaf].self = saturate_add_u64(profile->met[state->leaf].self, weight);
    lane->weight = saturate_add_u64(lane->weight, weight);
}

static bool add_event_weight(struct ttr_profile *profile, const ttr_event *event, size_t at,
                             uint32_t node)
{
    ttr_profile_thread *lane = &profile->lane[at];
    struct profile_state *state = &profile->state[at];
    profile->met[node].count++;
    lane->count++;
    lane->first_ns = event->time < lane->first_ns ? event->time : lane->first_ns;
    lane->last_ns = event->time > lane->last_ns ? event->time : lane->last_ns;
    if (profile->unit == TTR_PROFILE_NS) {
        add_weight_of_previous_sample(profile, at, event->time);
    } else {
        uint64_t period = get_field_number(
            profile->t, event, event->provider == profile->universal ? "Value" : "period");
        const uint64_t weight = period ? period : 1;
        profile->met[node].self = saturate_add_u64(profile->met[node].self, weight);
        lane->weight = saturate_add_u64(lane->weight, weight);
    }
    state->time =
        state->leaf == PROFILE_NONE || event->time > state->time ? event->time : state->time;
    state->leaf = node;
    return profile_timeline_append(profile, at, event->time, node);
}

/* Returns true for a sample outside of managed code, if only those inside are wanted. */
static bool is_unwanted_state(const struct ttr_profile *profile, const ttr_event *event)
{
    return (profile->flags & TTR_PROFILE_MANAGED) && event->provider == profile->sampler &&
           get_field_number(profile->t, event, "Type") != TYPE_MANAGED;
}

/* Ends the time in managed code of the thread's previous sample. */
static bool leave_managed_code(struct ttr_profile *profile, const ttr_event *event)
{
    const uint32_t *at = pair_map_get(&profile->lane_of, event->thread, 0);
    profile->unit = TTR_PROFILE_NS;
    profile->has_samples = true;
    if (!at)
        return true;
    add_weight_of_previous_sample(profile, *at, event->time);
    profile->state[*at].leaf = PROFILE_NONE;
    return profile_timeline_append(profile, *at, event->time, PROFILE_NONE);
}

static bool add_sample_event(struct ttr_profile *profile, const ttr_event *event)
{
    struct stack stack;
    size_t lane =
        profile_get_lane(profile, event->thread < profile->t->threads_n ? event->thread : 0);
    bool is_managed = event->provider == profile->sampler || event->provider == profile->runtime;
    if (lane == SIZE_MAX || !get_addresses(profile, event, &stack))
        return false;
    if (!profile->has_samples)
        profile->unit = is_managed ? TTR_PROFILE_NS : TTR_PROFILE_COUNT;
    profile->has_samples = true;
    struct profile_place like = {.first_ns = event->time,
                                 .thread = profile->lane[lane].thread,
                                 .kind = is_managed ? PLACE_MANAGED : PLACE_ADDRESS,
                                 .name = is_managed ? get_thread_state_name(profile, event) : 0};
    uint32_t node = find_stack(profile, &like, &stack, (uint32_t)lane);
    return node != PROFILE_NONE && add_event_weight(profile, event, lane, node);
}

/* Returns true for allocation events of the .NET runtime. Only one of many allocations is recorded,
 * so dotnet-trace counts these events as samples. */
static bool is_allocation(const struct ttr_profile *profile, const ttr_event *event)
{
    const ttr_id *names = profile->allocations;
    return profile->has_samples && profile->unit == TTR_PROFILE_NS &&
           (event->name == names[0] || event->name == names[1] || event->name == names[2]);
}

/* --- Stacks of chosen events --- */

/* Returns the weight of an event: the field that the caller chose, 0 if it is not a number above 0.
 */
static uint64_t get_chosen_weight(const struct ttr_profile *profile, const ttr_event *event)
{
    ttr_field field;
    if (!profile->weight_field)
        return 1;
    if (!ttr_field_find(profile->t, event, profile->weight_field, &field))
        return 0;
    const ttr_value *value = &field.value;
    if (value->type == TTR_TYPE_FLOAT)
        return value->v.f >= 1 && value->v.f < 0x1p63 ? (uint64_t)value->v.f : 0;
    if (value->type == TTR_TYPE_INT && value->v.s < 0)
        return 0;
    return value->type == TTR_TYPE_INT || value->type == TTR_TYPE_UINT ? value->v.u : 0;
}

/* Ends the wait of a thread that is switched in. */
static void end_off_cpu_time(struct ttr_profile *profile, const ttr_event *event)
{
    const uint32_t *known = pair_map_get(&profile->lane_of, event->thread, 0);
    if (!known || !event->thread)
        return;
    add_weight_of_previous_sample(profile, *known, event->time);
    profile->state[*known].leaf = PROFILE_NONE;
}

/* Adds the stack of a chosen event. `thread`: the thread that the stack is of. */
static bool add_chosen_stack(struct ttr_profile *profile, const ttr_event *event, ttr_id thread,
                             bool is_off_cpu)
{
    struct stack stack;
    if (!get_addresses(profile, event, &stack))
        return false;
    if (stack.n == 0)
        return true;
    size_t at = profile_get_lane(profile, thread);
    if (at == SIZE_MAX)
        return false;
    const struct profile_place like = {.first_ns = event->time,
                                       .thread = thread,
                                       .kind = event->provider == profile->runtime ? PLACE_MANAGED
                                                                                   : PLACE_ADDRESS};
    uint32_t node = find_stack(profile, &like, &stack, (uint32_t)at);
    if (node == PROFILE_NONE)
        return false;
    profile->has_samples = true;
    ttr_profile_thread *lane = &profile->lane[at];
    struct profile_state *state = &profile->state[at];
    const uint64_t weight = is_off_cpu ? 0 : get_chosen_weight(profile, event);
    profile->met[node].count++;
    profile->met[node].self = saturate_add_u64(profile->met[node].self, weight);
    lane->count++;
    lane->weight = saturate_add_u64(lane->weight, weight);
    lane->first_ns = event->time < lane->first_ns ? event->time : lane->first_ns;
    lane->last_ns = event->time > lane->last_ns ? event->time : lane->last_ns;
    state->leaf = is_off_cpu ? node : PROFILE_NONE;
    state->time = event->time;
    return profile_timeline_append(profile, at, event->time, node);
}

static bool add_chosen_event(struct ttr_profile *profile, const ttr_event *event)
{
    ttr *t = profile->t;
    const bool is_switch = event->kind == TTR_KIND_SWITCH;
    const ttr_text name =
        is_switch && !event->name ? (ttr_text){"switch", 6} : ttr_text_get(t, event->name);
    if (!glob_matches(profile->of, name))
        return true;
    const bool is_off_cpu = is_switch && !profile->weight_field;
    ttr_id thread = is_switch && event->link < t->threads_n ? (ttr_id)event->link : event->thread;
    if (is_off_cpu) {
        profile->unit = TTR_PROFILE_NS;
        end_off_cpu_time(profile, event);
    }
    return add_chosen_stack(profile, event, thread < t->threads_n ? thread : 0, is_off_cpu);
}

/* --- Reading --- */

static ttr_status add_batch_events(void *ctx, const ttr_batch *batch, ttr_error *error)
{
    struct ttr_profile *profile = ctx;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        bool is_fine = true;
        if (event->kind == TTR_KIND_OBJECT)
            is_fine = symbols_add_object(profile->t, event);
        else if (profile->of)
            is_fine = add_chosen_event(profile, event);
        else if (event->kind == TTR_KIND_SAMPLE && is_unwanted_state(profile, event))
            is_fine = leave_managed_code(profile, event);
        else if (event->kind == TTR_KIND_SAMPLE ||
                 (event->provider == profile->runtime && is_allocation(profile, event)))
            is_fine = add_sample_event(profile, event);
        if (!is_fine)
            return fail_memory(error);
    }
    return TTR_OK;
}

/* --- Profiles of spans, for traces without samples --- */

/* Reader between the input and the span forest: ends at the first sample, because a trace with
 * samples needs no spans. */
struct tap {
    ttr_reader base;
    ttr_reader *in;
    struct ttr_profile *profile;
};

static ttr_status tap_read_batch(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct tap *tap = (struct tap *)base;
    ttr_status status = ttr_read(tap->in, batch, error);
    if (status == TTR_OK && !(tap->profile->flags & TTR_PROFILE_SPANS))
        status = add_batch_events(tap->profile, batch, error);
    /* A batch must not be empty; the forest built from it is discarded. */
    if (status == TTR_OK && tap->profile->has_samples)
        batch->n = 1;
    return status;
}

static void close_tap(ttr_reader *base)
{
    (void)base;
}

static const struct reader_ops tap_ops = {.next = tap_read_batch, .close = close_tap};

static ttr_status read_samples_or_spans(struct ttr_profile *profile, ttr_reader *in,
                                        const ttr_profile_options *options, ttr_error *error)
{
    struct tap tap = {.base = {.t = profile->t, .ops = &tap_ops, .order = in->order},
                      .in = in,
                      .profile = profile};
    ttr_error ctx = {0};
    ttr_tree *tree =
        ttr_tree_new(profile->t, &tap.base, options->progress, options->user_data, &ctx);
    if (ctx.status != TTR_OK && error)
        *error = ctx;
    if (!tree)
        return TTR_E_NOMEM;
    bool is_fine = profile->has_samples || profile_add_forest(profile, tree);
    ttr_tree_free(tree);
    return is_fine ? ctx.status : fail_memory(error);
}

/* --- Public functions --- */

static bool begin_profile(struct ttr_profile *profile)
{
    ttr *t = profile->t;
    pair_map_init(&profile->lane_of, profile->alloc);
    pair_map_init(&profile->place_of, profile->alloc);
    pair_map_init(&profile->met_of, profile->alloc);
    key_map_init(&profile->stack_of, profile->alloc);
    profile->sampler = ttr_text_add(t, SAMPLER, strlen(SAMPLER));
    profile->runtime = ttr_text_add(t, RUNTIME, strlen(RUNTIME));
    profile->universal = ttr_text_add(t, UNIVERSAL, strlen(UNIVERSAL));
    bool is_fine = profile->sampler && profile->runtime && profile->universal;
    for (size_t i = 0; i < sizeof allocation_names / sizeof *allocation_names; i++) {
        profile->allocations[i] = ttr_text_add(t, allocation_names[i], strlen(allocation_names[i]));
        is_fine = is_fine && profile->allocations[i];
    }
    for (size_t i = TYPE_EXTERNAL; i <= TYPE_MANAGED; i++)
        profile->states[i] = ttr_text_add(t, state_names[i], strlen(state_names[i]));
    return is_fine && profile->states[TYPE_EXTERNAL] && profile->states[TYPE_MANAGED];
}

static bool finish_profile(struct ttr_profile *profile)
{
    for (size_t i = 0; i < profile->lanes_n; i++)
        if (!profile->is_of_spans &&
            !profile_timeline_append(profile, i, profile->lane[i].last_ns, PROFILE_NONE))
            return false;
    return profile_finish(profile);
}

ttr_profile *ttr_profile_new(ttr *t, ttr_reader *in, const ttr_profile_options *options,
                             ttr_error *error)
{
    static const ttr_profile_options none = {.size = sizeof none};
    options = options ? options : &none;
    struct ttr_profile *profile = alloc_zero(&t->counted, 1, sizeof *profile);
    if (!profile) {
        (void)fail_memory(error);
        return NULL;
    }
    *profile = (struct ttr_profile){.t = t,
                                    .alloc = &t->counted,
                                    .flags = options->flags,
                                    .progress = options->progress,
                                    .progress_ctx = options->user_data,
                                    .of = options->of,
                                    .weight_field = options->weight,
                                    .locate = options->locate,
                                    .locate_own = options->locate_user_data};
    if (profile->flags & TTR_PROFILE_MERGED)
        profile->flags &= ~TTR_PROFILE_TIMELINE;
    ttr_status status = begin_profile(profile) ? TTR_OK : fail_memory(error);
    const struct read_loop read_loop = {.on_batch = add_batch_events,
                                        .ctx = profile,
                                        .progress = options->progress,
                                        .progress_ctx = options->user_data};
    if (status == TTR_OK)
        status = profile->of || profile->flags & TTR_PROFILE_SAMPLES
                     ? read_all_batches(in, &read_loop, error)
                     : read_samples_or_spans(profile, in, options, error);
    /* The samples before a failure are useful. If memory ran out, the profile cannot be
     * completed. */
    if (status != TTR_E_NOMEM && !finish_profile(profile))
        status = fail_memory(error);
    if (status != TTR_E_NOMEM)
        return profile;
    ttr_profile_free(profile);
    return NULL;
}

void ttr_profile_free(ttr_profile *profile)
{
    if (!profile)
        return;
    const struct alloc *alloc = profile->alloc;
    for (size_t i = 0; i < profile->lanes_n; i++)
        buffer_free(&profile->state[i].line);
    alloc_free(alloc, profile->lane, profile->lane_room, sizeof *profile->lane);
    alloc_free(alloc, profile->state, profile->state_room, sizeof *profile->state);
    alloc_free(alloc, profile->place, profile->place_room, sizeof *profile->place);
    alloc_free(alloc, profile->met, profile->met_room, sizeof *profile->met);
    alloc_free(alloc, profile->address, profile->address_room, sizeof *profile->address);
    alloc_free(alloc, profile->frame, profile->frame_room, sizeof *profile->frame);
    alloc_free(alloc, profile->node, profile->node_room, sizeof *profile->node);
    alloc_free(alloc, profile->renumber, profile->renumber_n, sizeof *profile->renumber);
    pair_map_free(&profile->lane_of);
    pair_map_free(&profile->place_of);
    pair_map_free(&profile->met_of);
    key_map_free(&profile->stack_of);
    alloc_free(alloc, profile, 1, sizeof *profile);
}

ttr_profile_unit ttr_profile_get_unit(const ttr_profile *profile)
{
    return profile->unit;
}

bool ttr_profile_is_of_spans(const ttr_profile *profile)
{
    return profile->is_of_spans;
}

uint32_t ttr_profile_frames(const ttr_profile *profile, const ttr_profile_frame **frames)
{
    *frames = profile->frame;
    return (uint32_t)profile->frames_n;
}

uint32_t ttr_profile_nodes(const ttr_profile *profile, const ttr_profile_node **nodes)
{
    *nodes = profile->node;
    return (uint32_t)profile->nodes_n;
}

uint32_t ttr_profile_threads(const ttr_profile *profile, const ttr_profile_thread **lanes)
{
    *lanes = profile->lane;
    return (uint32_t)profile->lanes_n;
}

uint64_t ttr_profile_weight(const ttr_profile *profile)
{
    return profile->weight;
}

uint64_t ttr_profile_count(const ttr_profile *profile)
{
    return profile->count;
}
