/* Tests for the composer: event bytes from the EventHeader specification, and refused calls. */
#include <tracetta/provider.h>

#include "support/support.h"

/* First header byte: 64-bit pointers, extension present, and byte order of this machine. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FLAGS "07"
#else
#define FLAGS "05"
#endif

struct recorded {
    uint8_t event[TTR_EVENT_MAX];
    size_t n;
    uint32_t written;
};

static int recorder_add(void *user_data, const ttr_tracepoint_request *wish, uint32_t *index)
{
    assert_non_null(user_data);
    *index = 1;
    (void)__atomic_fetch_or(wish->enabled, 1u << wish->bit, __ATOMIC_RELAXED);
    return 0;
}

static int recorder_write(void *user_data, uint32_t index, uint8_t *event, size_t n)
{
    struct recorded *recorded = user_data;
    assert_int_equal(index, 1);
    memcpy(recorded->event, event, n);
    recorded->n = n;
    recorded->written++;
    return 0;
}

/* A run-time provider with one tracepoint, a recording backend and a composer. */
struct scene {
    struct recorded recorded;
    ttr_backend *backend;
    ttr_provider *provider;
    ttr_tracepoint *point;
    ttr_composer *composer;
};

static void scene_init(struct scene *scene)
{
    static const ttr_backend_functions functions = {sizeof functions, recorder_add, NULL,
                                                    recorder_write};
    memset(scene, 0, sizeof *scene);
    scene->backend = ttr_backend_new(&functions, &scene->recorded, NULL);
    scene->provider = ttr_provider_new("Test_Dynamic", "", NULL);
    assert_int_equal(ttr_provider_open(scene->provider, scene->backend, NULL), TTR_OK);
    scene->point = ttr_provider_point(scene->provider, 3, 0x10, NULL);
    scene->composer = ttr_composer_new();
    assert_non_null(scene->point);
    assert_non_null(scene->composer);
}

static void scene_free(struct scene *scene)
{
    ttr_composer_free(scene->composer);
    ttr_composer_free(NULL);
    ttr_provider_free(scene->provider);
    ttr_provider_free(NULL);
    ttr_backend_free(scene->backend);
    ttr_backend_free(NULL);
}

static void compose_value(struct scene *scene, const char *name, uint8_t encoding, uint8_t format,
                          const void *bytes, size_t n)
{
    ttr_field_shape shape = {name, encoding, format, 0};
    ttr_compose_value(scene->composer, &shape, bytes, n);
}

static ttr_status write_composed(struct scene *scene)
{
    return ttr_compose_write(scene->composer, scene->point);
}

static void composed_event_matches_the_specification(void **state)
{
    (void)state;
    struct scene scene;
    static const uint8_t id[16] = {1}, related[16] = {2};
    const uint32_t number = 0x01020304;
    scene_init(&scene);
    ttr_compose_begin(scene.composer, "ev");
    ttr_compose_tag(scene.composer, 0x102);
    ttr_compose_id(scene.composer, 0x304, 5);
    ttr_compose_opcode(scene.composer, 1);
    ttr_compose_activity(scene.composer, id, related);
    compose_value(&scene, "n", TTR_EH_VALUE32, TTR_EH_AS_HEX, &number, 4);
    assert_int_equal(write_composed(&scene), TTR_OK);
    support_assert_hex(scene.recorded.event, scene.recorded.n,
                       FLAGS " 05 =0304 =0102 01 03  =0020 =8002 01000000000000000000000000000000 "
                             "02000000000000000000000000000000"
                             "  =0007 =0001 657600 6e00 84 03  =01020304");
    ttr_compose_activity(scene.composer, id, NULL);
    assert_int_equal(write_composed(&scene), TTR_OK);
    support_assert_hex(scene.recorded.event + 8, 20,
                       "=0010 =8002 01000000000000000000000000000000");
    ttr_compose_begin(scene.composer, "plain");
    assert_int_equal(write_composed(&scene), TTR_OK);
    support_assert_hex(scene.recorded.event, scene.recorded.n,
                       FLAGS " 00 0000 0000 00 03  =0006 =0001 706c61696e00");
    scene_free(&scene);
}

static void text_length_follows_encoding(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    ttr_compose_begin(scene.composer, "t");
    compose_value(&scene, "a", TTR_EH_ZSTRING8, 0, "ab\0cd", 5);
    compose_value(&scene, "b", TTR_EH_STRING8, TTR_EH_AS_LATIN1, "ab\0cd", 5);
    compose_value(&scene, "c", TTR_EH_STRING8, 0, "xyz", SIZE_MAX);
    compose_value(&scene, "d", TTR_EH_ZSTRING16, 0, u"pq", SIZE_MAX);
    compose_value(&scene, "e", TTR_EH_STRING32, 0, U"r", 1);
    compose_value(&scene, "f", TTR_EH_ZSTRING32, 0, NULL, 7);
    compose_value(&scene, "g", TTR_EH_BINARY, 0, NULL, 7);
    assert_int_equal(write_composed(&scene), TTR_OK);
    support_assert_hex(scene.recorded.event + 12, scene.recorded.n - 12,
                       "7400 6100 07 6200 8a 0a 6300 0a 6400 08 6500 0c 6600 09 6700 0d"
                       " 616200  =0005 6162006364  =0003 78797a  =0070 =0071 0000  =0001 =00000072 "
                       " 00000000  0000");
    scene_free(&scene);
}

static void arrays_structs_and_raw_fields_are_encoded(void **state)
{
    (void)state;
    struct scene scene;
    static const uint16_t list[2] = {1, 2};
    ttr_field_shape array = {"a", TTR_EH_VALUE16, 0, 0}, tagged = {"s", TTR_EH_STRUCT, 0, 0x99};
    ttr_field_shape packed = {"k", TTR_EH_ZSTRING8 | TTR_EH_ARRAY, 0, 0},
                    fixed = {"m", TTR_EH_VALUE8 | TTR_EH_FIXED, TTR_EH_AS_LATIN1, 0};
    scene_init(&scene);
    ttr_compose_begin(scene.composer, "x");
    ttr_compose_struct(scene.composer, &tagged, 2);
    ttr_compose_array(scene.composer, &array, list, 2, true);
    ttr_compose_array(scene.composer, &array, list, 1, false);
    ttr_compose_metadata(scene.composer, &packed, 0);
    ttr_compose_metadata(scene.composer, &fixed, 3);
    ttr_compose_payload(scene.composer, "\1\0z\0abc", 7);
    assert_int_equal(write_composed(&scene), TTR_OK);
    support_assert_hex(scene.recorded.event + 12, scene.recorded.n - 12,
                       "7800 7300 81 82 =0099 6100 23 =0002 6100 43 6b00 47 6d00 a2 0a =0003  "
                       "=0001 =0002  =0001 =0001  0100 7a00 616263");
    scene_free(&scene);
}

static void invalid_call_fails_the_write_until_next_event(void **state)
{
    (void)state;
    struct scene scene;
    ttr_field_shape value8 = {"v", TTR_EH_VALUE8, 0, 0}, none = {"v", 14, 0, 0},
                    text = {"v", TTR_EH_ZSTRING8, 0, 0}, object = {"v", TTR_EH_STRUCT, 0, 0};
    ttr_field_shape both = {"v", TTR_EH_VALUE8 | TTR_EH_FIXED | TTR_EH_ARRAY, 0, 0},
                    format = {"v", TTR_EH_VALUE8, 128, 0}, fixed = {"v", 0x22, 0, 0};
    scene_init(&scene);
    assert_int_equal(write_composed(&scene),
                     TTR_E_MISUSE); /* ttr_compose_begin was not called yet */
    for (int rule = 0; rule < 11; rule++) {
        ttr_compose_begin(scene.composer, rule == 0 ? NULL : "e");
        if (rule == 1)
            ttr_compose_value(scene.composer, &none, "", 1);
        if (rule == 2)
            ttr_compose_value(scene.composer, &value8, NULL, 1);
        if (rule == 3)
            ttr_compose_array(scene.composer, &value8, "", 0, true);
        if (rule == 4)
            ttr_compose_array(scene.composer, &text, "", 1, false);
        if (rule == 5 || rule == 6)
            ttr_compose_struct(scene.composer, &object, rule == 5 ? 0 : 128);
        if (rule == 7 || rule == 8)
            ttr_compose_metadata(scene.composer, rule == 7 ? &both : &object, 1);
        if (rule == 9)
            ttr_compose_metadata(scene.composer, &fixed, 0);
        if (rule == 10)
            ttr_compose_value(scene.composer, &format, "", 1);
        ttr_compose_value(scene.composer, &value8, "x", 1);
        assert_int_equal(write_composed(&scene), TTR_E_MISUSE);
    }
    assert_int_equal(scene.recorded.written, 0);
    ttr_compose_begin(scene.composer, "well");
    assert_int_equal(write_composed(&scene), TTR_OK);
    assert_null(ttr_provider_point(scene.provider, 0, 1, NULL));
    assert_null(ttr_provider_point(scene.provider, 256, 1, NULL));
    scene_free(&scene);
}

static void event_above_limit_is_refused_in_bounded_memory(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t *zeros = test_calloc(1, 100000);
    ttr_provider_counts counts = {.size = sizeof counts};
    scene_init(&scene);
    for (size_t n = TTR_EVENT_MAX - 12 - 2 - 2; n < 90000; n = n < TTR_EVENT_MAX ? n + 1 : n * 3) {
        ttr_compose_begin(
            scene.composer,
            /* 12 bytes header and extension head, 2 name, 2 length, 3 field metadata */
            "e");
        compose_value(&scene, "b", TTR_EH_BINARY, 0, zeros, n - 3);
        assert_int_equal(write_composed(&scene),
                         n - 3 + 2 + 3 + 2 + 12 <= TTR_EVENT_MAX ? TTR_OK : TTR_E_LIMIT);
    }
    ttr_compose_begin(scene.composer, "e");
    for (int i = 0; i < 100000; i++)
        ttr_compose_payload(scene.composer, zeros, 1000);
    assert_int_equal(write_composed(&scene), TTR_E_LIMIT);
    ttr_provider_count(scene.provider, &counts);
    assert_true(counts.too_large > 3);
    assert_int_equal(counts.written, scene.recorded.written);
    test_free(zeros);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composed_event_matches_the_specification),
        cmocka_unit_test(text_length_follows_encoding),
        cmocka_unit_test(arrays_structs_and_raw_fields_are_encoded),
        cmocka_unit_test(invalid_call_fails_the_write_until_next_event),
        cmocka_unit_test(event_above_limit_is_refused_in_bounded_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
