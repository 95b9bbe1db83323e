/* Fields of EventHeader events as arguments of FXT events. */
#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/provider.h>

#include "provider/rings_fields.h"
#include "support/support.h"

static uint8_t written[TTR_EVENT_MAX];
static size_t written_n;

static int add_point(void *user_data, const ttr_tracepoint_request *wish, uint32_t *index)
{
    (void)user_data;
    *index = 0;
    __atomic_fetch_or(wish->enabled, 1u << wish->bit, __ATOMIC_RELAXED);
    return 0;
}

static int keep_event(void *user_data, uint32_t index, uint8_t *event, size_t n)
{
    (void)user_data;
    (void)index;
    memcpy(written, event, n);
    written_n = n;
    return 0;
}

/* A provider that keeps its last event, and a composer. */
struct scene {
    ttr_provider *provider;
    ttr_backend *backend;
    ttr_composer *composer;
    ttr_tracepoint *point;
};

static struct scene open_scene(void)
{
    const ttr_backend_functions functions = {sizeof functions, add_point, NULL, keep_event};
    struct scene scene = {.provider = ttr_provider_new("Test", "", NULL),
                          .backend = ttr_backend_new(&functions, NULL, NULL),
                          .composer = ttr_composer_new()};
    assert_int_equal(ttr_provider_open(scene.provider, scene.backend, NULL), TTR_OK);
    scene.point = ttr_provider_point(scene.provider, 4, 1, NULL);
    assert_non_null(scene.point);
    ttr_compose_begin(scene.composer, "Event;attribute=1");
    return scene;
}

static void close_scene(struct scene *scene)
{
    ttr_composer_free(scene->composer);
    ttr_provider_free(scene->provider);
    ttr_backend_free(scene->backend);
}

static void add_value(const struct scene *scene, const char *name, uint8_t encoding, uint8_t format,
                      const void *value, size_t n)
{
    const ttr_field_shape shape = {name, encoding, format, 0};
    ttr_compose_value(scene->composer, &shape, value, n);
}

static struct rings_args *read_args(const struct scene *scene)
{
    static struct rings_args args;
    static char names[RINGS_NAMES_MAX];
    struct rings_event event;
    assert_int_equal(ttr_compose_write(scene->composer, scene->point), TTR_OK);
    assert_true(rings_parse_event(written, written_n, &event));
    assert_int_equal(event.level, 4);
    args = (struct rings_args){.names = names};
    rings_args_append_fields(&args, &event);
    return &args;
}

static void assert_number(const struct rings_args *args, size_t i, const char *name, uint32_t type,
                          uint64_t bits)
{
    assert_true(i < args->n);
    assert_string_equal(args->name[i], name);
    assert_int_equal(args->value[i].type, type);
    assert_int_equal(args->value[i].bits, bits);
}

static void assert_text(const struct rings_args *args, size_t i, const char *name, const char *text)
{
    assert_true(i < args->n);
    assert_string_equal(args->name[i], name);
    assert_int_equal(args->value[i].type, TTR_TRACE_VALUE_TEXT);
    assert_int_equal(args->value[i].text_n, strlen(text));
    assert_memory_equal(args->value[i].text, text, strlen(text));
}

static void numbers_keep_sign_and_size(void **state)
{
    (void)state;
    struct scene scene = open_scene();
    const int8_t small = -3;
    const uint64_t large = UINT64_MAX;
    const int64_t time = -1;
    const uint16_t port = htons(80);
    const uint8_t truth = 7;
    const double real = 1.5;
    double read;
    add_value(&scene, "small;unit=g", TTR_EH_VALUE8, TTR_EH_AS_INT, &small, 0);
    add_value(&scene, "large", TTR_EH_VALUE64, TTR_EH_AS_HEX, &large, 0);
    add_value(&scene, "time", TTR_EH_VALUE64, TTR_EH_AS_TIME, &time, 0);
    add_value(&scene, "port", TTR_EH_VALUE16, TTR_EH_AS_PORT, &port, 0);
    add_value(&scene, "truth", TTR_EH_VALUE8, TTR_EH_AS_BOOL, &truth, 0);
    add_value(&scene, "real", TTR_EH_VALUE64, TTR_EH_AS_FLOAT, &real, 0);
    const struct rings_args *args = read_args(&scene);
    assert_int_equal(args->n, 6);
    assert_number(args, 0, "small", TTR_TRACE_VALUE_I32, (uint64_t)-3);
    assert_number(args, 1, "large", TTR_TRACE_VALUE_U64, UINT64_MAX);
    assert_number(args, 2, "time", TTR_TRACE_VALUE_I64, UINT64_MAX);
    assert_number(args, 3, "port", TTR_TRACE_VALUE_U32, 80);
    assert_number(args, 4, "truth", TTR_TRACE_VALUE_BOOL, 1);
    assert_int_equal(args->value[5].type, TTR_TRACE_VALUE_F64);
    memcpy(&read, &args->value[5].bits, sizeof read);
    assert_true(read == 1.5);
    close_scene(&scene);
}

static void texts_become_utf8(void **state)
{
    (void)state;
    struct scene scene = open_scene();
    const uint16_t wide[] = {0x20ac, 'x', 0};
    const uint8_t address[4] = {192, 168, 0, 1}, uuid[16] = {0x12, 0x34, 0xff};
    add_value(&scene, "plain", TTR_EH_ZSTRING8, 0, "plum", SIZE_MAX);
    add_value(&scene, "latin", TTR_EH_STRING8, TTR_EH_AS_LATIN1, "\xe9", 1);
    add_value(&scene, "wide", TTR_EH_ZSTRING16, 0, wide, SIZE_MAX);
    add_value(&scene, "letter", TTR_EH_VALUE8, TTR_EH_AS_UTF, "q", 0);
    add_value(&scene, "ip", TTR_EH_VALUE32, TTR_EH_AS_IP, address, 0);
    add_value(&scene, "uuid", TTR_EH_VALUE128, TTR_EH_AS_UUID, uuid, 0);
    add_value(&scene, "bytes", TTR_EH_BINARY, 0, "\x01\xab", 2);
    const struct rings_args *args = read_args(&scene);
    assert_int_equal(args->n, 7);
    assert_text(args, 0, "plain", "plum");
    assert_text(args, 1, "latin", "\xc3\xa9");
    assert_text(args, 2, "wide", "\xe2\x82\xacx");
    assert_text(args, 3, "letter", "q");
    assert_text(args, 4, "ip", "192.168.0.1");
    assert_text(args, 5, "uuid", "1234ff00-0000-0000-0000-000000000000");
    assert_text(args, 6, "bytes", "01ab");
    close_scene(&scene);
}

static void structs_are_dotted_and_arrays_are_texts(void **state)
{
    (void)state;
    struct scene scene = open_scene();
    const uint32_t numbers[3] = {1, 2, 3}, value = 9;
    const ttr_field_shape outer = {"outer", TTR_EH_STRUCT, 0, 0},
                          inner = {"inner", TTR_EH_STRUCT, 0, 0},
                          list = {"list", TTR_EH_VALUE32, 0, 0};
    ttr_compose_struct(scene.composer, &outer, 2);
    add_value(&scene, "a", TTR_EH_VALUE32, 0, &value, 0);
    ttr_compose_struct(scene.composer, &inner, 1);
    add_value(&scene, "b", TTR_EH_VALUE32, 0, &value, 0);
    ttr_compose_array(scene.composer, &list, numbers, 3, true);
    ttr_compose_array(scene.composer, &list, numbers, 0, false);
    const struct rings_args *args = read_args(&scene);
    assert_int_equal(args->n, 4);
    assert_number(args, 0, "outer.a", TTR_TRACE_VALUE_U32, 9);
    assert_number(args, 1, "outer.inner.b", TTR_TRACE_VALUE_U32, 9);
    assert_text(args, 2, "list", "[1, 2, 3]");
    assert_text(args, 3, "list", "[]");
    close_scene(&scene);
}

static void array_of_structs_is_one_text(void **state)
{
    (void)state;
    struct scene scene = open_scene();
    const ttr_field_shape list = {"list", TTR_EH_STRUCT | TTR_EH_ARRAY, 2, 0},
                          a = {"a", TTR_EH_VALUE8, 0, 0}, b = {"b", TTR_EH_ZSTRING8, 0, 0};
    const uint16_t count = 2;
    const uint8_t elements[] = {7, 'x', 0, 8, 'y', 0};
    const uint32_t value = 9;
    ttr_compose_metadata(scene.composer, &list, 0);
    ttr_compose_metadata(scene.composer, &a, 0);
    ttr_compose_metadata(scene.composer, &b, 0);
    ttr_compose_payload(scene.composer, &count, sizeof count);
    ttr_compose_payload(scene.composer, elements, sizeof elements);
    add_value(&scene, "after", TTR_EH_VALUE32, 0, &value, 0);
    const struct rings_args *args = read_args(&scene);
    assert_int_equal(args->n, 2);
    assert_text(args, 0, "list", "[{\"a\": 7, \"b\": \"x\"}, {\"a\": 8, \"b\": \"y\"}]");
    assert_number(args, 1, "after", TTR_TRACE_VALUE_U32, 9);
    close_scene(&scene);
}

/* Escapes of RFC 8259, section 7; it has no numbers for infinity and NaN. */
static void text_of_an_array_is_json(void **state)
{
    (void)state;
    struct scene scene = open_scene();
    const double reals[3] = {0.5, INFINITY, NAN};
    const ttr_field_shape list = {"list", TTR_EH_ZSTRING8 | TTR_EH_ARRAY, 0, 0},
                          numbers = {"numbers", TTR_EH_VALUE64, TTR_EH_AS_FLOAT, 0};
    const uint16_t count = 3;
    const char elements[] = "a\"b\\c\0\n\0\xc3\xa9";
    ttr_compose_metadata(scene.composer, &list, 0);
    ttr_compose_payload(scene.composer, &count, sizeof count);
    ttr_compose_payload(scene.composer, elements, sizeof elements);
    ttr_compose_array(scene.composer, &numbers, reals, 3, false);
    const struct rings_args *args = read_args(&scene);
    assert_text(args, 0, "list", "[\"a\\\"b\\\\c\", \"\\u000a\", \"\xc3\xa9\"]");
    assert_text(args, 1, "numbers", "[0.5, null, null]");
    close_scene(&scene);
}

static void fields_above_the_limit_are_counted(void **state)
{
    (void)state;
    struct scene scene = open_scene();
    const uint32_t value = 1;
    for (unsigned i = 0; i < TTR_TRACE_ARGS_MAX; i++)
        add_value(&scene, "n", TTR_EH_VALUE32, 0, &value, 0);
    assert_int_equal(read_args(&scene)->omitted, 0);
    add_value(&scene, "n", TTR_EH_VALUE32, 0, &value, 0);
    const struct rings_args *args = read_args(&scene);
    assert_int_equal(args->n, TTR_TRACE_ARGS_MAX);
    assert_number(args, TTR_TRACE_ARGS_MAX - 1, "fields_omitted", TTR_TRACE_VALUE_U32, 2);
    close_scene(&scene);
}

/* A cut event has the same number and types of arguments, and no byte after it is read. */
static void event_that_is_cut_anywhere_is_read_within_its_bounds(void **state)
{
    (void)state;
    struct scene scene = open_scene();
    const uint32_t numbers[3] = {1, 2, 3};
    const ttr_field_shape list = {"list", TTR_EH_VALUE32, 0, 0};
    add_value(&scene, "plain", TTR_EH_STRING8, 0, "plum", 4);
    ttr_compose_array(scene.composer, &list, numbers, 3, false);
    add_value(&scene, "wide", TTR_EH_VALUE128, TTR_EH_AS_UUID, "0123456789abcdef", 0);
    (void)read_args(&scene);
    for (size_t n = 0; n < written_n; n++) {
        struct rings_event event;
        struct rings_args args = {.n = 0};
        uint8_t *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, written, n);
        if (rings_parse_event(copy, n, &event)) {
            rings_args_append_fields(&args, &event);
            assert_int_equal(args.n, 3);
            assert_int_equal(args.value[2].type, TTR_TRACE_VALUE_TEXT);
        }
        free(copy);
    }
    close_scene(&scene);
}

static void rings_without_their_library_are_unsupported(void **state)
{
    (void)state;
    ttr_error error;
    ttr_backend *backend = ttr_backend_rings(&error);
    if (!backend) {
        assert_int_equal(error.status, TTR_E_UNSUPPORTED);
        assert_non_null(strstr(error.text, "libtracetta-trace"));
    }
    ttr_backend_free(backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_sign_and_size),
        cmocka_unit_test(texts_become_utf8),
        cmocka_unit_test(structs_are_dotted_and_arrays_are_texts),
        cmocka_unit_test(array_of_structs_is_one_text),
        cmocka_unit_test(text_of_an_array_is_json),
        cmocka_unit_test(fields_above_the_limit_are_counted),
        cmocka_unit_test(rings_without_their_library_are_unsupported),
        cmocka_unit_test(event_that_is_cut_anywhere_is_read_within_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
