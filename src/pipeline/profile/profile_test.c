/* Profiles: weights, recursion, late names, spans, timelines, and failing allocations. */
#include "support/support.h"

#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/profile.h>
#include <tracetta/tracetta.h>

#include "support/memory_reader.h"
#include "model/context.h"
#include "pipeline/profile/profile.h"

#define ROOM 64

/* A context, its samples, and their profile. */
struct world {
    ttr *t;
    uint16_t source;
    ttr_event event[ROOM];
    ttr_builder *builder;
    size_t n;
    ttr_profile *profile;
};

static void begin(struct world *world)
{
    *world = (struct world){.t = ttr_new(NULL)};
    world->source = context_add_source(world->t, "x", "y");
    world->builder = ttr_builder_new(world->t);
    assert_non_null(world->builder);
}

static void end(struct world *world)
{
    ttr_profile_free(world->profile);
    for (size_t i = 0; i < world->n; i++)
        test_free((void *)(uintptr_t)world->event[i].payload);
    ttr_builder_free(world->builder);
    ttr_free(world->t);
}

/* Keeps the event that the builder has started; its payload is copied. */
static void keep(struct world *world)
{
    ttr_batch batch;
    assert_int_equal(ttr_event_build(world->builder, &batch, NULL), TTR_OK);
    const ttr_event *made = ttr_batch_at(&batch, 0);
    uint8_t *payload = test_malloc(made->payload_size + 1);
    memcpy(payload, made->payload, made->payload_size);
    world->event[world->n] = *made;
    world->event[world->n++].payload = payload;
}

/* Adds a sample of thread `tid` of process 1.  `frames` "abc" are the addresses 'a', 'b', 'c',
 * innermost last; optionally by the sampler of .NET. */
static void sample(struct world *world, uint64_t tid, int64_t time, const char *frames,
                   unsigned type)
{
    size_t n = strlen(frames);
    ttr_event_begin(world->builder, TTR_KIND_SAMPLE, time, NULL, NULL);
    ttr_event_set_thread(world->builder, 1, tid);
    if (type) {
        ttr_event_set_provider(world->builder, "Microsoft-DotNETCore-SampleProfiler");
        ttr_add_uint(world->builder, "Type", type);
    }
    ttr_add_field(world->builder,
                  &(ttr_field){.name = {"frames", 6},
                               .value = {.type = TTR_TYPE_ARRAY, .count = (uint32_t)n}});
    for (size_t i = n; i-- > 0;)
        ttr_add_field(world->builder,
                      &(ttr_field){.depth = 1,
                                   .name = {"", 0},
                                   .value = {.type = TTR_TYPE_UINT, .v.u = (uint8_t)frames[i]}});
    keep(world);
}

/* Names a function at the address of its letter, from a time on. */
static void name(struct world *world, uint64_t address, uint64_t size, const char *text,
                 int64_t from)
{
    ttr_id thread = context_thread(world->t, 0, 1, 1);
    struct symbol_range range = {
        .start = address,
        .size = size,
        .from = from,
        .process = world->t->threads[thread].process,
        .name = ttr_text_add(world->t, text, strlen(text)),
        .module = symbols_add_module(&world->t->symbols, world->t->threads[thread].process, 1)};
    symbols_set_module_name(&world->t->symbols, range.module, ttr_text_add(world->t, "M", 1));
    assert_true(symbols_add(&world->t->symbols, SYMBOL_FUNCTION, &range));
}

/* The stack of every event with `stack` != 0: its number, called by 'a'. */
static uint32_t test_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                            uint32_t room)
{
    const uint64_t stack[] = {event->stack, 'a'};
    (void)ctx;
    for (uint32_t i = 0; i < 2 && i < room; i++)
        addresses[i] = stack[i];
    return 2;
}

static void begin_no_fields(ttr_fields *fields)
{
    (void)fields;
}

static bool next_no_field(ttr_fields *fields, ttr_field *field)
{
    (void)fields;
    (void)field;
    return false;
}

static const struct field_ops stack_ops = {
    .begin = begin_no_fields, .next = next_no_field, .frames = test_frames};

/* Adds an event of any kind with a stack. */
static ttr_event *add_with_stack(struct world *world, ttr_kind kind, int64_t time, const char *name,
                                 uint32_t stack)
{
    static const ttr_event none;
    ttr_event *event = &world->event[world->n++];
    *event = none;
    event->kind = (uint8_t)kind;
    event->time = time;
    event->name = ttr_text_add(world->t, name, strlen(name));
    event->thread = context_thread(world->t, world->source, 1, 1);
    event->stack = stack;
    event->schema = context_add_schema(world->t, &(struct schema){.ops = &stack_ops});
    assert_int_not_equal(event->schema, 0);
    return event;
}

static void profile_of(struct world *world, uint32_t flags, const char *of, const char *weight)
{
    ttr_error error = {0};
    ttr_reader *reader = memory_reader(
        world->t, &(struct memory_events){.event = world->event, .n = world->n, .batch_max = 3});
    world->profile = ttr_profile_new(
        world->t, reader,
        &(ttr_profile_options){
            .size = sizeof(ttr_profile_options), .flags = flags, .of = of, .weight = weight},
        &error);
    if (!world->profile || error.status != TTR_OK)
        fail_msg("%s", error.text);
    ttr_close(reader);
}

static void profile(struct world *world, uint32_t flags)
{
    profile_of(world, flags, NULL, NULL);
}

/* Writes the names on the path to a node. */
static size_t put_path(const ttr_profile *made, uint32_t at, char *to, size_t room)
{
    const ttr_profile_node *node;
    const ttr_profile_frame *frame;
    (void)ttr_profile_nodes(made, &node);
    (void)ttr_profile_frames(made, &frame);
    size_t n = node[at].parent == TTR_PROFILE_NONE ? 0 : put_path(made, node[at].parent, to, room);
    return n + (size_t)snprintf(to + n, room - n, "%s%s", n ? ";" : "",
                                ttr_text_get(made->t, frame[node[at].frame].name).p);
}

/* Compares all nodes that have a weight, one per line: "M!a;M!b 3". */
static void expect(const struct world *world, const char *wanted)
{
    char text[2048] = "";
    size_t n = 0;
    const ttr_profile_node *node;
    uint32_t nodes = ttr_profile_nodes(world->profile, &node);
    for (uint32_t i = 0; i < nodes; i++) {
        assert_true(node[i].parent == TTR_PROFILE_NONE || node[i].parent < i);
        if (node[i].self == 0)
            continue;
        n += put_path(world->profile, i, text + n, sizeof text - n);
        n += (size_t)snprintf(text + n, sizeof text - n, " %llu\n",
                              (unsigned long long)node[i].self);
    }
    assert_string_equal(text, wanted);
}

static void samples_count_by_their_stack(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    sample(&world, 1, 10, "ab", 0);
    sample(&world, 1, 20, "ac", 0);
    sample(&world, 2, 30, "ab", 0);
    sample(&world, 1, 40, "ab", 0);
    profile(&world, TTR_PROFILE_MERGED);
    assert_int_equal(ttr_profile_get_unit(world.profile), TTR_PROFILE_COUNT);
    assert_int_equal(ttr_profile_count(world.profile), 4);
    expect(&world, "0x61;0x62 3\n0x61;0x63 1\n");
    end(&world);
}

static void threads_are_apart_unless_merged(void **state)
{
    (void)state;
    struct world world;
    const ttr_profile_thread *lane;
    begin(&world);
    sample(&world, 1, 10, "ab", 0);
    sample(&world, 2, 30, "ab", 0);
    profile(&world, 0);
    assert_int_equal(ttr_profile_threads(world.profile, &lane), 2);
    expect(&world, "0x61;0x62 1\n0x61;0x62 1\n");
    assert_int_equal(lane[1].first_ns, 30);
    assert_int_not_equal(lane[0].first_root, lane[1].first_root);
    end(&world);
}

static void runtime_sample_weighs_time_to_next_of_its_thread(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    name(&world, 'a', 1, "a", 0);
    name(&world, 'b', 1, "b", SYMBOLS_TIME_UNKNOWN);
    sample(&world, 1, 100, "a", 2);
    sample(&world, 2, 105, "b", 2);
    sample(&world, 1, 110, "ab", 2);
    sample(&world, 1, 113, "az", 2);
    sample(&world, 2, 155, "b", 2);
    sample(&world, 1, 120, "a", 2);
    profile(&world, 0);
    assert_int_equal(ttr_profile_get_unit(world.profile), TTR_PROFILE_NS);
    assert_int_equal(ttr_profile_weight(world.profile), 70);
    expect(&world, "M!a 10\nM!b 50\nM!a;M!b 3\nM!a;?!? 7\n");
    end(&world);
}

/* Adds an event of the runtime with a stack. */
static void tick(struct world *world, uint64_t tid, int64_t time, const char *frames,
                 const char *name_of_event)
{
    sample(world, tid, time, frames, 2);
    ttr_event *event = &world->event[world->n - 1];
    event->name = ttr_text_add(world->t, name_of_event, strlen(name_of_event));
    event->provider = ttr_text_add(world->t, "Microsoft-Windows-DotNETRuntime", 31);
    event->kind = TTR_KIND_INSTANT;
}

static void runtime_allocations_count_as_samples(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    tick(&world, 1, 5, "ax", "GCAllocationTick"); /* before the first sample */
    sample(&world, 1, 10, "ab", 1);
    tick(&world, 1, 14, "ac", "GCAllocationTick");
    tick(&world, 1, 15, "ad", "GCOther");
    sample(&world, 1, 20, "ab", 1);
    tick(&world, 1, 27, "ac", "GCSampledObjectAllocationLow");
    profile(&world, 0);
    expect(&world, "?!?;?!? 11\n(no stack) 6\n");
    end(&world);
}

static void thread_state_is_a_frame_on_request(void **state)
{
    (void)state;
    struct world world;
    const ttr_profile_frame *frame;
    begin(&world);
    name(&world, 'a', 1, "a", 0);
    sample(&world, 1, 1, "a", 1);
    sample(&world, 1, 4, "a", 2);
    sample(&world, 1, 9, "a", 2);
    profile(&world, TTR_PROFILE_STATES);
    expect(&world, "M!a;UNMANAGED_CODE_TIME 3\nM!a;CPU_TIME 5\n");
    assert_int_equal(ttr_profile_frames(world.profile, &frame), 3);
    assert_int_equal(frame[0].self, 0);
    assert_int_equal(frame[0].total, 8);
    end(&world);
}

static void addresses_of_one_function_are_one_frame(void **state)
{
    (void)state;
    struct world world;
    const ttr_profile_frame *frame;
    begin(&world);
    name(&world, 'a', 3, "f", SYMBOLS_TIME_UNKNOWN);
    sample(&world, 1, 1, "ad", 0);
    sample(&world, 1, 2, "bd", 0);
    sample(&world, 1, 3, "cb", 0);
    profile(&world, 0);
    expect(&world, "M!f;0x64 2\nM!f;M!f 1\n");
    assert_int_equal(ttr_profile_frames(world.profile, &frame), 2);
    /* A recursive function counts once. */
    assert_int_equal(frame[0].total, 3);
    assert_int_equal(frame[0].self, 1);
    end(&world);
}

static void address_reused_has_the_name_of_its_time(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    name(&world, 'a', 1, "old", 0);
    name(&world, 'a', 1, "new", 50);
    sample(&world, 1, 10, "a", 0);
    profile(&world, 0);
    expect(&world, "M!old 1\n");
    ttr_profile_free(world.profile);
    world.event[0].time = 60;
    profile(&world, 0);
    expect(&world, "M!new 1\n");
    end(&world);
}

static void sample_without_frames_is_counted(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    sample(&world, 1, 10, "", 0);
    profile(&world, 0);
    expect(&world, "(no stack) 1\n");
    end(&world);
}

/* Adds two spans "b" inside of "a", then an "a" alone. */
static void add_spans(struct world *world)
{
    static const struct {
        int64_t begin, end;
        const char *name;
    } spans[] = {{0, 100, "a"}, {10, 20, "b"}, {30, 45, "b"}, {200, 203, "a"}};
    for (size_t i = 0; i < 4; i++) {
        ttr_event_begin(world->builder, TTR_KIND_SPAN, spans[i].begin, NULL, spans[i].name);
        ttr_event_set_thread(world->builder, 1, 1);
        ttr_event_attributes(world->builder)->duration = (uint64_t)(spans[i].end - spans[i].begin);
        keep(world);
    }
}

static void spans_are_a_profile_of_their_own_time(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    add_spans(&world);
    profile(&world, 0);
    assert_true(ttr_profile_is_of_spans(world.profile));
    expect(&world, "a 78\na;b 25\n");
    assert_int_equal(ttr_profile_weight(world.profile), 103);
    end(&world);
}

static void spans_count_only_where_there_are_no_samples(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    add_spans(&world);
    sample(&world, 1, 300, "a", 0);
    profile(&world, 0);
    assert_false(ttr_profile_is_of_spans(world.profile));
    expect(&world, "0x61 1\n");
    ttr_profile_free(world.profile);
    profile(&world, TTR_PROFILE_SPANS);
    expect(&world, "a 78\na;b 25\n");
    ttr_profile_free(world.profile);
    world.n--;
    profile(&world, TTR_PROFILE_SAMPLES);
    assert_int_equal(ttr_profile_count(world.profile), 0);
    world.n++;
    end(&world);
}

static void timeline_has_each_change(void **state)
{
    (void)state;
    static const struct {
        int64_t time;
        const char *path;
    } wanted[] = {{0, "a"},  {10, "a;b"}, {20, "a"},  {30, "a;b"},
                  {45, "a"}, {100, ""},   {200, "a"}, {203, ""}};
    struct world world;
    struct profile_timeline line;
    size_t n = 0;
    begin(&world);
    add_spans(&world);
    profile(&world, TTR_PROFILE_TIMELINE);
    for (profile_timeline_begin(&line, world.profile, 0); profile_timeline_next(&line); n++) {
        char path[64] = "";
        assert_true(n < 8);
        if (line.node != TTR_PROFILE_NONE)
            (void)put_path(world.profile, line.node, path, sizeof path);
        assert_int_equal(line.time, wanted[n].time);
        assert_string_equal(path, wanted[n].path);
    }
    assert_int_equal(n, 8);
    end(&world);
}

static void modules_that_the_trace_maps_name_addresses(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    ttr_event_begin(world.builder, TTR_KIND_OBJECT, 0, NULL, "libx.so");
    ttr_event_set_thread(world.builder, 1, 1);
    ttr_event_attributes(world.builder)->link = 7;
    ttr_event_attributes(world.builder)->tag = TTR_OBJECT_MODULE;
    keep(&world);
    ttr_event_begin(world.builder, TTR_KIND_OBJECT, 0, NULL, NULL);
    ttr_event_set_thread(world.builder, 1, 1);
    ttr_event_attributes(world.builder)->link = 7;
    ttr_event_attributes(world.builder)->tag = TTR_OBJECT_MAPPING;
    ttr_add_uint(world.builder, "start", 'a');
    ttr_add_uint(world.builder, "size", 2);
    ttr_add_uint(world.builder, "address_in_module", 0x1000);
    keep(&world);
    sample(&world, 1, 5, "bz", 0);
    profile(&world, 0);
    expect(&world, "libx.so!0x1001;0x7a 1\n");
    end(&world);
}

/* Adds a sample of one address, of thread `tid` (0 = unknown), that weighs `period`. */
static void sample_with_period(struct world *world, uint64_t tid, uint64_t period)
{
    ttr_event_begin(world->builder, TTR_KIND_SAMPLE, 0, NULL, NULL);
    if (tid)
        ttr_event_set_thread(world->builder, tid, tid);
    ttr_add_uint(world->builder, "period", period);
    ttr_add_field(world->builder, &(ttr_field){.name = {"frames", 6},
                                               .value = {.type = TTR_TYPE_ARRAY, .count = 1}});
    ttr_add_field(
        world->builder,
        &(ttr_field){.depth = 1, .name = {"", 0}, .value = {.type = TTR_TYPE_UINT, .v.u = 'a'}});
    keep(world);
}

static void sample_without_thread_is_counted(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    sample_with_period(&world, 0, 3);
    profile(&world, 0);
    expect(&world, "0x61 3\n");
    end(&world);
}

static void sample_without_thread_has_no_names_of_others(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    name(&world, 'a', 1, "f", 0);
    sample_with_period(&world, 1, 1);
    sample_with_period(&world, 0, 2);
    profile(&world, TTR_PROFILE_MERGED);
    expect(&world, "M!f 1\n0x61 2\n");
    end(&world);
}

static void sum_of_weights_saturates(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    for (uint64_t tid = 1; tid <= 2; tid++)
        for (unsigned i = 0; i < 2; i++)
            sample_with_period(&world, tid, UINT64_MAX - 1);
    profile(&world, TTR_PROFILE_MERGED);
    assert_true(ttr_profile_weight(world.profile) == UINT64_MAX);
    expect(&world, "0x61 18446744073709551615\n");
    end(&world);
}

static void largest_weight_is_written_in_every_format(void **state)
{
    (void)state;
    struct world world;
    ttr_profile_format format;
    ttr_error error = {0};
    begin(&world);
    sample_with_period(&world, 1, UINT64_MAX);
    profile(&world, TTR_PROFILE_MERGED);
    for (size_t i = 0; ttr_profile_format_get(i, &format); i++)
        if (!(format.flags & TTR_PROFILE_TIMELINE))
            assert_int_equal(
                ttr_profile_write(world.profile, "/dev/null", format.name, "", 0, &error), TTR_OK);
    end(&world);
}

static bool profile_it(ttr *t, const ttr_event *events, size_t n)
{
    ttr_reader *reader = memory_reader(t, &(struct memory_events){.event = events, .n = n});
    ttr_profile *made = ttr_profile_new(
        t, reader,
        &(ttr_profile_options){.size = sizeof(ttr_profile_options), .flags = TTR_PROFILE_TIMELINE},
        NULL);
    ttr_close(reader);
    ttr_profile_free(made);
    return made;
}

static void samples_in_managed_code_are_selected(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    sample(&world, 1, 10, "ab", 2);
    sample(&world, 1, 30, "ac", 1);
    sample(&world, 1, 70, "ab", 2);
    sample(&world, 1, 75, "ab", 2);
    sample(&world, 2, 80, "ab", 1);
    profile(&world, TTR_PROFILE_MANAGED);
    assert_int_equal(ttr_profile_get_unit(world.profile), TTR_PROFILE_NS);
    assert_int_equal(ttr_profile_count(world.profile), 3);
    assert_int_equal(ttr_profile_weight(world.profile), 20 + 5);
    end(&world);
}

static void events_by_name_are_counted_or_weighed(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    (void)add_with_stack(&world, TTR_KIND_INSTANT, 1, "alloc/big", 'b');
    (void)add_with_stack(&world, TTR_KIND_BEGIN, 2, "alloc/small", 'c');
    (void)add_with_stack(&world, TTR_KIND_INSTANT, 3, "free", 'b');
    (void)add_with_stack(&world, TTR_KIND_INSTANT, 4, "alloc/big", 'b');
    (void)add_with_stack(&world, TTR_KIND_INSTANT, 5, "alloc/big", 0);
    sample(&world, 1, 6, "ab", 0);
    profile_of(&world, TTR_PROFILE_MERGED, "alloc/*", NULL);
    assert_int_equal(ttr_profile_get_unit(world.profile), TTR_PROFILE_COUNT);
    assert_int_equal(ttr_profile_count(world.profile), 3);
    expect(&world, "0x61;0x62 2\n0x61;0x63 1\n");
    end(&world);
    begin(&world);
    for (unsigned i = 0; i < 3; i++) {
        ttr_event_begin(world.builder, TTR_KIND_SAMPLE, i, NULL, "alloc");
        ttr_add_int(world.builder, "size", (int64_t)i * 100 - 100);
        ttr_add_field(world.builder, &(ttr_field){.name = {"frames", 6},
                                                  .value = {.type = TTR_TYPE_ARRAY, .count = 1}});
        ttr_add_field(world.builder, &(ttr_field){.depth = 1,
                                                  .name = {"", 0},
                                                  .value = {.type = TTR_TYPE_UINT, .v.u = 'a'}});
        keep(&world);
    }
    profile_of(&world, TTR_PROFILE_MERGED, "alloc", "size");
    assert_int_equal(ttr_profile_count(world.profile), 3);
    expect(&world, "0x61 100\n"); /* not -100 */
    end(&world);
}

static void switches_weigh_the_time_off_the_cpu(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    const ttr_id one = context_thread(world.t, world.source, 1, 1),
                 two = context_thread(world.t, world.source, 1, 2);
    const struct {
        int64_t time;
        ttr_id out, in;
    } switches[] = {{10, one, two}, {25, two, one}, {40, one, two}, {70, two, one}};
    for (size_t i = 0; i < 4; i++) {
        ttr_event *event =
            add_with_stack(&world, TTR_KIND_SWITCH, switches[i].time, "sched_switch", 'b');
        event->link = switches[i].out;
        event->thread = switches[i].in;
    }
    profile_of(&world, 0, "sched_switch", NULL);
    assert_int_equal(ttr_profile_get_unit(world.profile), TTR_PROFILE_NS);
    expect(&world, "0x61;0x62 45\n0x61;0x62 15\n"); /* 10-25 and 40-70; 25-40 */
    end(&world);
}

static void exhausted_memory_is_reported(void **state)
{
    (void)state;
    memory_fail_each(profile_it, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_count_by_their_stack),
        cmocka_unit_test(threads_are_apart_unless_merged),
        cmocka_unit_test(runtime_sample_weighs_time_to_next_of_its_thread),
        cmocka_unit_test(runtime_allocations_count_as_samples),
        cmocka_unit_test(thread_state_is_a_frame_on_request),
        cmocka_unit_test(addresses_of_one_function_are_one_frame),
        cmocka_unit_test(address_reused_has_the_name_of_its_time),
        cmocka_unit_test(sample_without_frames_is_counted),
        cmocka_unit_test(spans_are_a_profile_of_their_own_time),
        cmocka_unit_test(spans_count_only_where_there_are_no_samples),
        cmocka_unit_test(timeline_has_each_change),
        cmocka_unit_test(modules_that_the_trace_maps_name_addresses),
        cmocka_unit_test(sample_without_thread_is_counted),
        cmocka_unit_test(sample_without_thread_has_no_names_of_others),
        cmocka_unit_test(sum_of_weights_saturates),
        cmocka_unit_test(largest_weight_is_written_in_every_format),
        cmocka_unit_test(samples_in_managed_code_are_selected),
        cmocka_unit_test(events_by_name_are_counted_or_weighed),
        cmocka_unit_test(switches_weigh_the_time_off_the_cpu),
        cmocka_unit_test(exhausted_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
