/* Which binary an address belongs to when, where the answer stands in the event, and how often it
 * is asked for. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include <tracetta/write.h>

#include "support/memory_reader.h"

#define EVENTS 64
#define LINE 400

/* Events of a made trace, and what came of them: one line each. */
struct scene {
    ttr *t;
    ttr_builder *builder;
    ttr_event event[EVENTS];
    size_t n;
    char line[EVENTS][LINE];
    unsigned asked;
};

static void begin(struct scene *scene, const struct alloc *alloc)
{
    *scene = (struct scene){.t = ttr_new(alloc ? &(ttr_options){.size = sizeof(ttr_options),
                                                                .resize = alloc->resize,
                                                                .ctx = alloc->ctx}
                                               : NULL)};
    scene->builder = scene->t ? ttr_builder_new(scene->t) : NULL;
}

static void end(struct scene *scene)
{
    for (size_t i = 0; i < scene->n; i++)
        free((void *)(uintptr_t)scene->event[i].payload);
    ttr_builder_free(scene->builder);
    ttr_free(scene->t);
}

static void put_context(struct scene *scene, int pid, uint64_t ip)
{
    ttr_field vpid = {.name = {"vpid", 4},
                      .group = TTR_GROUP_COMMON,
                      .value = {.type = TTR_TYPE_INT, .v.s = pid, .bits = 32}};
    ttr_field address = {.name = {"ip", 2},
                         .group = TTR_GROUP_COMMON,
                         .value = {.type = TTR_TYPE_UINT, .v.u = ip, .bits = 64, .base = 16}};
    ttr_add_field(scene->builder, &vpid);
    ttr_add_field(scene->builder, &address);
}

static void start(struct scene *scene, const char *name)
{
    ttr_event_begin(scene->builder, TTR_KIND_INSTANT, (int64_t)scene->n, NULL, name);
}

/* Ends the event, and keeps it. */
static void keep(struct scene *scene)
{
    ttr_batch batch;
    assert_true(scene->n < EVENTS);
    assert_int_equal(ttr_event_build(scene->builder, &batch, NULL), TTR_OK);
    ttr_event *event = &scene->event[scene->n++];
    *event = *ttr_batch_at(&batch, 0);
    uint8_t *payload = malloc(event->payload_size + 1u);
    assert_non_null(payload);
    memcpy(payload, event->payload, event->payload_size);
    event->payload = payload;
    event->offset = scene->n;
}

static void at(struct scene *scene, int pid, uint64_t ip)
{
    start(scene, "p:here");
    put_context(scene, pid, ip);
    ttr_add_uint(scene->builder, "n", 1);
    keep(scene);
}

static void load(struct scene *scene, const char *name, int pid, uint64_t base, const char *path)
{
    start(scene, name);
    put_context(scene, pid, 1);
    ttr_add_uint(scene->builder, "baddr", base);
    ttr_add_uint(scene->builder, "memsz", 0x1000);
    ttr_add_text(scene->builder, "path", path);
    if (strstr(name, "bin_info"))
        ttr_add_uint(scene->builder, "is_pic", base != 0x400000);
    keep(scene);
}

static void tell(struct scene *scene, const char *name, int pid, uint64_t base)
{
    start(scene, name);
    put_context(scene, pid, 1);
    ttr_add_uint(scene->builder, "baddr", base);
    keep(scene);
}

static void tell_id(struct scene *scene, const char *name, int pid, uint64_t base)
{
    start(scene, name);
    put_context(scene, pid, 1);
    ttr_add_uint(scene->builder, "baddr", base);
    ttr_add_field(scene->builder, &(ttr_field){.name = {"build_id", 8},
                                               .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    for (unsigned i = 0; i < 2; i++)
        ttr_add_field(scene->builder,
                      &(ttr_field){.name = {"", 0},
                                   .depth = 1,
                                   .value = {.type = TTR_TYPE_UINT, .v.u = 0xa0 + i, .bits = 8}});
    keep(scene);
}

static void tell_link(struct scene *scene, int pid, uint64_t base)
{
    start(scene, "lttng_ust_statedump:debug_link");
    put_context(scene, pid, 1);
    ttr_add_uint(scene->builder, "baddr", base);
    ttr_add_uint(scene->builder, "crc", 7);
    ttr_add_text(scene->builder, "filename", "x.debug");
    keep(scene);
}

/* Says all it was told of the binary. */
static void locate(void *ctx, const ttr_binary *binary, uint64_t address, ttr_location *place)
{
    static char text[3][100];
    struct scene *scene = ctx;
    scene->asked++;
    place->binary = (ttr_text){text[0], (size_t)snprintf(text[0], 100, "%s%c%llx", binary->path.p,
                                                         binary->is_pic ? '+' : '@',
                                                         (unsigned long long)address)};
    if (binary->build_id.n == 2)
        place->function = (ttr_text){text[1], (size_t)snprintf(text[1], 100, "%02x%02x",
                                                               (uint8_t)binary->build_id.p[0],
                                                               (uint8_t)binary->build_id.p[1])};
    if (binary->debug_link.n)
        place->source =
            (ttr_text){text[2], (size_t)snprintf(text[2], 100, "%s:%u", binary->debug_link.p,
                                                 binary->debug_link_crc)};
}

/* "name: field=value field={ ... }" */
static void describe(const ttr *t, const ttr_event *event, char *line)
{
    ttr_fields fields;
    ttr_field field;
    int n = snprintf(line, LINE, "%s:", ttr_text_get(t, event->name).p);
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field) && n < LINE - 100) {
        n += snprintf(line + n, (size_t)(LINE - n), " %.*s%.*s", (int)field.depth, ">>>>",
                      (int)field.name.n, field.name.p);
        if (field.value.type == TTR_TYPE_UINT)
            n += snprintf(line + n, (size_t)(LINE - n), "=%llx",
                          (unsigned long long)field.value.v.u);
        else if (field.value.type == TTR_TYPE_TEXT)
            n += snprintf(line + n, (size_t)(LINE - n), "=%.*s", (int)field.value.text.n,
                          field.value.text.p);
    }
}

/* Reads the scene through the stage, sorted behind it where that is wanted. */
static ttr_status run(struct scene *scene, bool like_babeltrace2, bool is_sorted)
{
    const ttr_debug_options options = {.size = sizeof options,
                                       .locate = locate,
                                       .ctx = scene,
                                       .like_babeltrace2 = like_babeltrace2};
    const struct memory_events events = {.event = scene->event,
                                         .n = scene->n,
                                         .batch_max = 5,
                                         .order = is_sorted ? TTR_ORDER_NONE : TTR_ORDER_TIME};
    ttr_reader *reader = ttr_debug_info(memory_reader(scene->t, &events), &options, NULL);
    ttr_batch batch;
    ttr_status status = TTR_E_NOMEM;
    size_t n = 0;
    if (is_sorted)
        reader = ttr_sort(reader, NULL);
    while (reader && (status = ttr_read(reader, &batch, NULL)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            describe(scene->t, ttr_batch_at(&batch, i), scene->line[n++]);
    ttr_close(reader);
    return status;
}

/* The line of the i-th event of the program itself. */
static const char *here(const struct scene *scene, size_t i)
{
    for (size_t k = 0; k < scene->n; k++)
        if (strncmp(scene->line[k], "p:here:", 7) == 0 && i-- == 0)
            return strstr(scene->line[k], ">bin=");
    return NULL;
}

static void it_stands_behind_the_common_context_and_before_all_else(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, NULL);
    load(&scene, "lttng_ust_statedump:bin_info", 7, 0x7000, "/lib/a.so");
    start(&scene, "p:here");
    put_context(&scene, 7, 0x7123);
    ttr_add_field(scene.builder, &(ttr_field){.name = {"own", 3},
                                              .group = TTR_GROUP_CONTEXT,
                                              .value = {.type = TTR_TYPE_UINT, .v.u = 2}});
    ttr_add_uint(scene.builder, "n", 1);
    keep(&scene);
    start(&scene, "p:bare");
    put_context(&scene, 7, 0x7124);
    keep(&scene);
    for (unsigned is_sorted = 0; is_sorted < 2; is_sorted++) {
        assert_int_equal(run(&scene, false, is_sorted), TTR_END);
        assert_string_equal(
            scene.line[1],
            "p:here: vpid ip=7123 debug_info >bin=/lib/a.so+123 >func= >src= own=2 n=1");
        assert_string_equal(scene.line[2],
                            "p:bare: vpid ip=7124 debug_info >bin=/lib/a.so+124 >func= >src=");
    }
    end(&scene);
}

static void events_without_the_contexts_stay_as_they_are(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, NULL);
    start(&scene, "p:none");
    ttr_add_uint(scene.builder, "n", 1);
    keep(&scene);
    start(&scene, "p:payload"); /* an ip that is no context */
    ttr_add_uint(scene.builder, "ip", 0x7001);
    keep(&scene);
    start(&scene, "p:half");
    ttr_add_field(scene.builder, &(ttr_field){.name = {"ip", 2},
                                              .group = TTR_GROUP_COMMON,
                                              .value = {.type = TTR_TYPE_UINT, .v.u = 1}});
    keep(&scene);
    start(&scene, "p:wide"); /* no pid has 64 bits */
    ttr_add_field(scene.builder, &(ttr_field){.name = {"ip", 2},
                                              .group = TTR_GROUP_COMMON,
                                              .value = {.type = TTR_TYPE_UINT, .v.u = 1}});
    ttr_add_field(scene.builder,
                  &(ttr_field){.name = {"vpid", 4},
                               .group = TTR_GROUP_COMMON,
                               .value = {.type = TTR_TYPE_INT, .v.s = 1, .bits = 64}});
    keep(&scene);
    start(&scene, "p:had"); /* has it already */
    put_context(&scene, 7, 1);
    ttr_add_field(scene.builder, &(ttr_field){.name = {"debug_info", 10},
                                              .group = TTR_GROUP_COMMON,
                                              .value = {.type = TTR_TYPE_UINT, .v.u = 3}});
    keep(&scene);
    assert_int_equal(run(&scene, false, false), TTR_END);
    assert_string_equal(scene.line[0], "p:none: n=1");
    assert_string_equal(scene.line[1], "p:payload: ip=7001");
    assert_string_equal(scene.line[2], "p:half: ip=1");
    assert_string_equal(scene.line[3], "p:wide: ip=1 vpid");
    assert_string_equal(scene.line[4], "p:had: vpid ip=1 debug_info=3");
    assert_int_equal(scene.asked, 0);
    end(&scene);
}

static void an_address_belongs_to_what_was_loaded_at_its_time(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, NULL);
    at(&scene, 7, 0x7010);
    load(&scene, "lttng_ust_lib:load", 7, 0x7000, "/a.so");
    load(&scene, "lttng_ust_dl:dlopen", 7, 0x7000, "/a.so");
    at(&scene, 7, 0x7010);
    at(&scene, 7, 0x8000); /* right behind it */
    tell(&scene, "lttng_ust_lib:unload", 7, 0x7000);
    at(&scene, 7, 0x7010);
    load(&scene, "lttng_ust_lib:load", 7, 0x7000, "/b.so");
    at(&scene, 7, 0x7010);
    at(&scene, 8, 0x7010); /* another process */
    assert_int_equal(run(&scene, false, false), TTR_END);
    assert_string_equal(here(&scene, 0), ">bin= >func= >src= n=1");
    assert_string_equal(here(&scene, 1), ">bin=/a.so+10 >func= >src= n=1");
    assert_string_equal(here(&scene, 2), ">bin= >func= >src= n=1");
    assert_string_equal(here(&scene, 3), ">bin= >func= >src= n=1");
    assert_string_equal(here(&scene, 4), ">bin=/b.so+10 >func= >src= n=1");
    assert_string_equal(here(&scene, 5), ">bin= >func= >src= n=1");
    end(&scene);
}

static void what_was_closed_lies_there_until_something_else_does(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, NULL);
    load(&scene, "lttng_ust_dl:dlopen", 7, 0x7000, "/a.so");
    tell(&scene, "lttng_ust_dl:dlclose", 7, 0x7000);
    at(&scene, 7, 0x7010); /* somebody else had it open too */
    load(&scene, "lttng_ust_dl:dlopen", 7, 0x6800, "/b.so");
    at(&scene, 7, 0x7010);
    assert_int_equal(run(&scene, false, false), TTR_END);
    assert_string_equal(here(&scene, 0), ">bin=/a.so+10 >func= >src= n=1");
    assert_string_equal(here(&scene, 1), ">bin=/b.so+810 >func= >src= n=1");
    end(&scene);
}

static void a_state_dump_says_all_that_is_there(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, NULL);
    load(&scene, "lttng_ust_statedump:bin_info", 7, 0x400000, "/bin/a");
    load(&scene, "lttng_ust_statedump:bin_info", 8, 0x7000, "/bin/c");
    at(&scene, 7, 0x400010);
    tell(&scene, "lttng_ust_statedump:start", 7, 0);
    at(&scene, 7, 0x400010);
    load(&scene, "lttng_ust_statedump:bin_info", 7, 0x400000, "/bin/b");
    at(&scene, 7, 0x400010);
    at(&scene, 8, 0x7010);
    assert_int_equal(run(&scene, false, false), TTR_END);
    assert_string_equal(here(&scene, 0), ">bin=/bin/a@400010 >func= >src= n=1");
    assert_string_equal(here(&scene, 1), ">bin= >func= >src= n=1");
    assert_string_equal(here(&scene, 2), ">bin=/bin/b@400010 >func= >src= n=1");
    assert_string_equal(here(&scene, 3), ">bin=/bin/c+10 >func= >src= n=1");
    end(&scene);
}

static void what_is_told_later_of_a_binary_counts_from_then_on(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, NULL);
    load(&scene, "lttng_ust_statedump:bin_info", 7, 0x7000, "/a.so");
    at(&scene, 7, 0x7010);
    tell_id(&scene, "lttng_ust_statedump:build_id", 7, 0x7000);
    tell_link(&scene, 7, 0x7000);
    tell_id(&scene, "lttng_ust_statedump:build_id", 7, 0x9000); /* of nothing */
    at(&scene, 7, 0x7010);
    load(&scene, "lttng_ust_lib:load", 7, 0x8000, "/b.so");
    tell_id(&scene, "lttng_ust_lib:build_id", 7, 0x8000);
    at(&scene, 7, 0x8010);
    at(&scene, 7, 0x7020);
    assert_int_equal(run(&scene, false, false), TTR_END);
    assert_string_equal(here(&scene, 0), ">bin=/a.so+10 >func= >src= n=1");
    assert_string_equal(here(&scene, 1), ">bin=/a.so+10 >func=a0a1 >src=x.debug:7 n=1");
    assert_string_equal(here(&scene, 2), ">bin=/b.so+10 >func=a0a1 >src= n=1");
    assert_int_equal(run(&scene, true, false), TTR_END);
    assert_string_equal(here(&scene, 1), ">bin=/a.so+10 >func= >src= n=1");
    assert_string_equal(here(&scene, 2), ">bin=/b.so+10 >func= >src= n=1");
    assert_string_equal(here(&scene, 3), ">bin=/a.so+20 >func=a0a1 >src=x.debug:7 n=1");
    end(&scene);
}

static void an_address_is_asked_for_once(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, NULL);
    for (int pid = 1; pid <= 3; pid++)
        load(&scene, "lttng_ust_statedump:bin_info", pid, 0x7000 * (uint64_t)pid, "/a.so");
    for (size_t i = 0; i < 30; i++)
        at(&scene, 1 + (int)i % 3, 0x7000 * (1 + i % 3) + i % 2);
    assert_int_equal(run(&scene, false, false), TTR_END);
    assert_int_equal(scene.asked, 2);
    end(&scene);
}

static void wrong_options_are_refused(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    const struct memory_events none = {.n = 0};
    (void)state;
    assert_null(ttr_debug_info(memory_reader(t, &none),
                               &(ttr_debug_options){.size = 3, .locate = locate}, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_null(ttr_debug_info(memory_reader(t, &none),
                               &(ttr_debug_options){.size = sizeof(ttr_debug_options)}, &error));
    assert_null(ttr_debug_info(
        NULL, &(ttr_debug_options){.size = sizeof(ttr_debug_options), .locate = locate}, &error));
    assert_int_equal(memory_readers_open(), 0);
    ttr_free(t);
}

/* Events are made with memory that is there; what fails is the stage's. */
static void memory_that_is_out_is_told_and_nothing_leaks(void **state)
{
    struct support_heap heap;
    size_t fail_at = 0;
    bool is_through = false;
    (void)state;
    for (; !is_through; fail_at++) {
        struct scene scene;
        support_heap_init(&heap, 0);
        begin(&scene, &heap.alloc);
        load(&scene, "lttng_ust_statedump:bin_info", 7, 0x7000, "/a.so");
        tell_id(&scene, "lttng_ust_statedump:build_id", 7, 0x7000);
        for (uint64_t i = 0; i < 20; i++)
            at(&scene, 7, 0x7000 + i);
        heap.fail_at = heap.requests + 1 + fail_at;
        ttr_status status = run(&scene, false, false);
        assert_true(status == TTR_END || status == TTR_E_NOMEM);
        is_through = status == TTR_END;
        end(&scene);
        support_heap_check(&heap);
    }
    assert_true(fail_at > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stands_behind_the_common_context_and_before_all_else),
        cmocka_unit_test(events_without_the_contexts_stay_as_they_are),
        cmocka_unit_test(an_address_belongs_to_what_was_loaded_at_its_time),
        cmocka_unit_test(what_was_closed_lies_there_until_something_else_does),
        cmocka_unit_test(a_state_dump_says_all_that_is_there),
        cmocka_unit_test(what_is_told_later_of_a_binary_counts_from_then_on),
        cmocka_unit_test(an_address_is_asked_for_once),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(memory_that_is_out_is_told_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
