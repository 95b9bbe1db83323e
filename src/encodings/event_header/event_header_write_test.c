/* Tests of the EventHeader encoder: events are encoded, then read back by the decoder. */
#include "encodings/event_header/event_header_write.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/json/field_json.h"
#include "support/support.h"

struct scene {
    ttr *t;
    ttr_builder *builder;
    struct event_header_decoder *all;
    struct event_header_writer put;
    struct buffer bytes, shown;
    ttr_event back;
};

static struct event_header_raw raw_of_payload(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct event_header_raw){event->payload, event->payload_size};
}

static void begin_scene(struct scene *scene, bool is_big_endian)
{
    *scene = (struct scene){.t = ttr_new(NULL)};
    scene->builder = ttr_builder_new(scene->t);
    scene->all = event_header_decoder_new(
        &(struct event_header_decoder_spec){.t = scene->t, .raw = raw_of_payload});
    event_header_writer_init(&scene->put, scene->t, alloc_default());
    scene->put.is_big_endian = is_big_endian;
    buffer_init(&scene->bytes, alloc_default());
    buffer_init(&scene->shown, alloc_default());
    ttr_event_begin(scene->builder, TTR_KIND_INSTANT, 5, "cat", "Name");
    ttr_event_set_provider(scene->builder, "Some_Provider_1");
}

static void end_scene(struct scene *scene)
{
    event_header_writer_free(&scene->put);
    buffer_free(&scene->bytes);
    buffer_free(&scene->shown);
    event_header_decoder_free(scene->all);
    ttr_builder_free(scene->builder);
    ttr_free(scene->t);
}

static const char *fields_as_json(struct scene *scene, const ttr_event *event)
{
    struct field_json json;
    buffer_clear(&scene->shown);
    field_json_init(&json, scene->t, &scene->shown);
    field_json_begin(&json);
    field_json_append_fields(&json, event);
    buffer_add_byte(&scene->shown, 0);
    field_json_free(&json);
    return (const char *)scene->shown.bytes;
}

/* Decodes the encoded bytes as an event of tracepoint `name` and returns its fields as JSON. */
static const char *read_back(struct scene *scene, const char *name)
{
    const char *why;
    struct event_header_tracepoint *kind =
        event_header_add_tracepoint(scene->all, (ttr_text){name, strlen(name)}, 0, NULL);
    scene->back =
        (ttr_event){.payload = scene->bytes.bytes, .payload_size = (uint32_t)scene->bytes.n};
    assert_true(event_header_decode(
        kind, (struct event_header_raw){scene->bytes.bytes, scene->bytes.n}, &scene->back, &why));
    assert_null(why);
    return fields_as_json(scene, &scene->back);
}

/* Encodes the event under construction, decodes it, and returns its fields as JSON. */
static const char *encode_and_read_back(struct scene *scene)
{
    char name[EVENT_HEADER_NAME_MAX];
    ttr_batch batch;
    assert_int_equal(ttr_event_build(scene->builder, &batch, NULL), TTR_OK);
    const ttr_event *event = ttr_batch_at(&batch, 0);
    size_t n = event_header_write_tracepoint_name(&scene->put, event, name);
    assert_int_equal(n, strlen(name));
    buffer_clear(&scene->bytes);
    event_header_write_event(&scene->put, event, NULL, &scene->bytes);
    assert_false(scene->bytes.failed);
    return read_back(scene, name);
}

static void add_field(struct scene *scene, uint16_t depth, const char *name, ttr_value value)
{
    ttr_add_field(scene->builder,
                  &(ttr_field){.name = {name, strlen(name)}, .depth = depth, .value = value});
}

#define UINT(x, b)                                     \
    (ttr_value)                                        \
    {                                                  \
        .type = TTR_TYPE_UINT, .v.u = (x), .bits = (b) \
    }
#define INT(x, b)                                     \
    (ttr_value)                                       \
    {                                                 \
        .type = TTR_TYPE_INT, .v.s = (x), .bits = (b) \
    }
#define TEXT(x)                                             \
    (ttr_value)                                             \
    {                                                       \
        .type = TTR_TYPE_TEXT, .text = { x, sizeof(x) - 1 } \
    }
#define ARRAY(n)                             \
    (ttr_value)                              \
    {                                        \
        .type = TTR_TYPE_ARRAY, .count = (n) \
    }
#define STRUCT(n)                             \
    (ttr_value)                               \
    {                                         \
        .type = TTR_TYPE_STRUCT, .count = (n) \
    }

static void add_fields_of_every_type(struct scene *scene)
{
    static const unsigned widths[] = {8, 16, 32, 0, 7, 24, 48};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        uint64_t most = widths[i] ? (UINT64_C(1) << widths[i]) - 1 : UINT64_MAX;
        add_field(scene, 0, "u", UINT(most, (uint8_t)widths[i]));
        add_field(scene, 0, "i", INT(-(int64_t)(most / 2) - 1, (uint8_t)widths[i]));
    }
    add_field(scene, 0, "f", (ttr_value){.type = TTR_TYPE_FLOAT, .v.f = 1.5, .bits = 32});
    add_field(scene, 0, "d", (ttr_value){.type = TTR_TYPE_FLOAT, .v.f = DBL_MIN});
    add_field(scene, 0, "t", (ttr_value){.type = TTR_TYPE_BOOL, .v.u = 1});
    add_field(scene, 0, "n", (ttr_value){.type = TTR_TYPE_NULL});
    add_field(scene, 0, "s", TEXT("h\xc3\xa9"));
    add_field(scene, 0, "b", (ttr_value){.type = TTR_TYPE_BYTES, .text = {"\0\xff", 2}});
    add_field(scene, 0, "e", ARRAY(0));
    add_field(scene, 0, "a", ARRAY(2));
    add_field(scene, 1, "", TEXT("x"));
    add_field(scene, 1, "", TEXT(""));
    add_field(scene, 0, "o", STRUCT(2));
    add_field(scene, 1, "p", INT(-1, 8));
    add_field(scene, 1, "q", STRUCT(1));
    add_field(scene, 2, "r", UINT(1, 16));
    add_field(scene, 0, "l", ARRAY(2));
    for (unsigned i = 0; i < 2; i++) {
        add_field(scene, 1, "", STRUCT(2));
        add_field(scene, 2, "x", UINT(i, 32));
        add_field(scene, 2, "y", ARRAY(i));
        if (i)
            add_field(scene, 3, "", UINT(9, 8));
    }
}

#define ALL                                                                                       \
    "\"u\":255,\"i\":-128,\"u#2\":65535,\"i#2\":-32768,\"u#3\":4294967295,\"i#3\":-2147483648,"   \
    "\"u#4\":18446744073709551615,"                                                               \
    "\"i#4\":-9223372036854775808,\"u#5\":127,\"i#5\":-64,\"u#6\":16777215,\"i#6\":-8388608,\"u#" \
    "7\":281474976710655,"                                                                        \
    "\"i#7\":-140737488355328,\"f\":1.5,\"d\":2.2250738585072014e-308,\"t\":true,\"n\":null,"     \
    "\"s\":\"h\xc3\xa9\",\"b\":\"0x00ff\","                                                       \
    "\"e\":[],\"a\":[\"x\",\"\"],\"o\":{\"p\":-1,\"q\":{\"r\":1}},\"l\":[{\"x\":0,\"y\":[]},{"    \
    "\"x\":1,\"y\":[9]}]"

static void every_field_type_round_trips_in_both_byte_orders(void **state)
{
    (void)state;
    for (unsigned is_big = 0; is_big < 2; is_big++) {
        struct scene scene;
        begin_scene(&scene, is_big);
        add_fields_of_every_type(&scene);
        ttr_event_attributes(scene.builder)->keyword = 0x1f;
        ttr_event_attributes(scene.builder)->level = TTR_LEVEL_WARNING;
        assert_string_equal(encode_and_read_back(&scene), ALL);
        assert_int_equal(scene.put.losses_total, 0);
        assert_string_equal(ttr_text_get(scene.t, scene.back.name).p, "Name");
        assert_string_equal(ttr_text_get(scene.t, scene.back.provider).p, "Some_Provider_1");
        assert_int_equal(scene.back.level, TTR_LEVEL_WARNING);
        assert_int_equal(scene.back.keyword, 0x1f);
        end_scene(&scene);
    }
}

static void event_attributes_round_trip(void **state)
{
    static const uint8_t activity[16] = {1, 2, 3}, related[16] = {9};
    struct scene scene;
    (void)state;
    begin_scene(&scene, false);
    ttr_event *event = ttr_event_attributes(scene.builder);
    event->opcode = 1;
    event->tag = 0x1234;
    event->activity = activity;
    event->related = related;
    (void)encode_and_read_back(&scene);
    assert_int_equal(scene.back.opcode, 1);
    assert_int_equal(scene.back.tag, 0x1234);
    assert_memory_equal(scene.back.activity, activity, 16);
    assert_memory_equal(scene.back.related, related, 16);
    end_scene(&scene);
}

static void every_level_round_trips(void **state)
{
    (void)state;
    for (unsigned level = TTR_LEVEL_TRACE; level <= TTR_LEVEL_FATAL; level++) {
        struct scene scene;
        begin_scene(&scene, false);
        ttr_event_attributes(scene.builder)->level = (uint8_t)level;
        (void)encode_and_read_back(&scene);
        assert_int_equal(scene.back.level, level);
        end_scene(&scene);
    }
}

static void lossy_values_are_counted_per_kind(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, false);
    ttr_event_set_provider(scene.builder, "My.Pro-vider:1");
    ttr_event_attributes(scene.builder)->kind = TTR_KIND_SPAN;
    ttr_event_attributes(scene.builder)->duration = 7;
    add_field(&scene, 0, "a;b", UINT(1, 8));
    add_field(&scene, 0, "mixed", ARRAY(3));
    add_field(&scene, 1, "", UINT(1, 8));
    add_field(&scene, 1, "", TEXT("x"));
    add_field(&scene, 1, "", ARRAY(1));
    add_field(&scene, 2, "", UINT(2, 8));
    add_field(&scene, 0, "unlike", ARRAY(2));
    add_field(&scene, 1, "", STRUCT(1));
    add_field(&scene, 2, "x", UINT(1, 8));
    add_field(&scene, 1, "", STRUCT(1));
    add_field(&scene, 2, "y", UINT(1, 8));
    add_field(&scene, 0, "none", STRUCT(0));
    assert_string_equal(encode_and_read_back(&scene),
                        "\"a_b\":1,\"mixed\":{\"0\":1,\"1\":\"x\",\"2\":[2]},\"unlike\":{\"0\":{"
                        "\"x\":1},\"1\":{\"y\":1}},\"none\":null,"
                        "\"ttr.kind\":\"span\",\"ttr.duration_ns\":7");
    assert_string_equal(ttr_text_get(scene.t, scene.back.provider).p, "My_Pro_vider_1");
    static const uint64_t expected[EVENT_HEADER_LOSSES] = {
        [EVENT_HEADER_LOSS_PROVIDER] = 1, [EVENT_HEADER_LOSS_LEVEL] = 1,
        [EVENT_HEADER_LOSS_NAME] = 1,     [EVENT_HEADER_LOSS_KIND] = 1,
        [EVENT_HEADER_LOSS_ARRAY] = 2,    [EVENT_HEADER_LOSS_EMPTY] = 1};
    assert_memory_equal(scene.put.losses, expected, sizeof expected);
    end_scene(&scene);
}

static void oversized_field_is_dropped(void **state)
{
    static char large[70000];
    struct scene scene;
    (void)state;
    memset(large, 'x', sizeof large);
    begin_scene(&scene, false);
    add_field(&scene, 0, "before", UINT(1, 8));
    add_field(&scene, 0, "large",
              (ttr_value){.type = TTR_TYPE_TEXT, .text = {large, sizeof large}});
    add_field(&scene, 0, "behind", UINT(2, 8));
    scene.put.most = 8000;
    assert_string_equal(encode_and_read_back(&scene), "\"before\":1,\"behind\":2");
    assert_true(scene.put.losses[EVENT_HEADER_LOSS_CUT] > 0);
    assert_true(scene.bytes.n <= 8000);
    end_scene(&scene);
}

static void too_deep_struct_is_dropped(void **state)
{
    static const char *const names[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};
    struct scene scene;
    (void)state;
    begin_scene(&scene, false);
    for (uint16_t depth = 0; depth < 10; depth++) {
        add_field(&scene, depth, names[depth], STRUCT(2));
        add_field(&scene, depth + 1, "x", UINT(depth, 8));
    }
    (void)encode_and_read_back(&scene);
    assert_int_equal(scene.put.losses[EVENT_HEADER_LOSS_CUT], 1);
    end_scene(&scene);
}

static void event_header_event_keeps_bytes(void **state)
{
    uint8_t bytes[64];
    struct scene scene;
    char name[EVENT_HEADER_NAME_MAX];
    const char *why;
    (void)state;
    /* Flags 5, version 1, id 2, tag 3: big-endian. The metadata contain an attribute and a tag;
     * padding follows. */
    size_t n = support_hex(bytes, sizeof bytes,
                           "05 01 0002 0003 00 04 000c 0001 453b613d31 00 6600 8281 0007 2a");
    begin_scene(&scene, false);
    const char tracepoint[] = "P_L4K1Gg.3";
    struct event_header_tracepoint *kind = event_header_add_tracepoint(
        scene.all, (ttr_text){tracepoint, sizeof tracepoint - 1}, 0, NULL);
    memset(bytes + n, 0, 7);
    ttr_event event = {.payload = bytes, .payload_size = (uint32_t)n + 7};
    assert_true(event_header_decode(kind, (struct event_header_raw){bytes, n + 7}, &event, &why));
    assert_null(why);
    (void)event_header_write_tracepoint_name(&scene.put, &event, name);
    assert_string_equal(name, "P_L4K1Gg");
    event_header_write_event(&scene.put, &event, NULL, &scene.bytes);
    assert_int_equal(scene.bytes.n, n);
    assert_memory_equal(scene.bytes.bytes, bytes, n);
    buffer_clear(&scene.bytes);
    const struct event_header_ids ids = {.opcode = 2};
    event_header_write_event(&scene.put, &event, &ids, &scene.bytes);
    (void)read_back(&scene, "P_L4K1Gg");
    assert_int_equal(scene.back.opcode, 2);
    end_scene(&scene);
}

/* Encodes the event under construction into scene->bytes without decoding it. */
static void encode_only(struct scene *scene)
{
    char name[EVENT_HEADER_NAME_MAX];
    ttr_batch batch;
    assert_int_equal(ttr_event_build(scene->builder, &batch, NULL), TTR_OK);
    (void)event_header_write_tracepoint_name(&scene->put, batch.event, name);
    buffer_clear(&scene->bytes);
    event_header_write_event(&scene->put, batch.event, NULL, &scene->bytes);
    assert_false(scene->bytes.failed);
}

/* The 16-bit element count limits arrays even if the event has room for more. */
static void array_beyond_65535_elements_is_cut_and_counted(void **state)
{
    struct scene scene;
    (void)state;
    for (unsigned of_structs = 0; of_structs < 2; of_structs++) {
        begin_scene(&scene, false);
        add_field(&scene, 0, "list", ARRAY(70000));
        for (uint32_t i = 0; i < 70000; i++) {
            if (of_structs)
                add_field(&scene, 1, "", STRUCT(1));
            add_field(&scene, (uint16_t)(1 + of_structs), of_structs ? "x" : "", UINT(i & 0xff, 8));
        }
        add_field(&scene, 0, "behind", UINT(7, 64));
        scene.put.most = 1u << 20;
        encode_only(&scene);
        assert_int_equal(scene.put.losses[EVENT_HEADER_LOSS_CUT], 1);
        const uint8_t *end_of = scene.bytes.bytes + scene.bytes.n;
        assert_in_range(scene.bytes.n, 65535 + 8, 65535 + 200);
        assert_memory_equal(end_of - 8, "\x07\0\0\0\0\0\0\0", 8);
        /* the last three of 65,535 elements */
        assert_memory_equal(end_of - 8 - 3, "\xfc\xfd\xfe", 3);
        end_scene(&scene);
    }
}

/* Adds a list of `n` numbers, structs or texts between the fields "before" and "after". */
static void add_long_list(struct scene *scene, unsigned kind, uint32_t n)
{
    add_field(scene, 0, "before", UINT(1, 8));
    add_field(scene, 0, "list", ARRAY(n));
    for (uint32_t i = 0; i < n; i++) {
        add_field(scene, 1, "",
                  kind == 1   ? STRUCT(2)
                  : kind == 2 ? TEXT("seven..")
                              : UINT(i & 0xff, 8));
        if (kind != 1)
            continue;
        add_field(scene, 2, "x", UINT(i, 32));
        add_field(scene, 2, "y",
                  (ttr_value){.type = TTR_TYPE_UINT,
                              .v.u = i & 1,
                              .bits = 8,
                              .hint = TTR_DISPLAY_ENUM,
                              .count = 1,
                              .text = {"one", 3}});
    }
    add_field(scene, 0, "behind", UINT(7, 8));
}

/* A field that cannot fit is dropped completely, needs memory only for the part that could have
 * fitted, and does not affect the fields after it. */
static void oversized_field_uses_bounded_memory(void **state)
{
    static const uint32_t sizes[] = {70000, 1u << 20};
    struct scene scene;
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        begin_scene(&scene, false);
        add_long_list(&scene, i / 2, sizes[i % 2]);
        assert_string_equal(encode_and_read_back(&scene), "\"before\":1,\"behind\":7");
        assert_int_equal(scene.put.losses[EVENT_HEADER_LOSS_CUT], 1);
        assert_int_equal(scene.put.losses[EVENT_HEADER_LOSS_LABEL],
                         0); /* losses inside a dropped field are not counted */
        assert_in_range(scene.put.capacity, 4096, 2 * 65536);
        end_scene(&scene);
    }
}

/* An array of elements of different types becomes a struct of the first 127 elements, whatever its
 * size. */
static void mixed_array_is_cut_to_127_members(void **state)
{
    static const uint32_t sizes[] = {1000, 200000};
    struct scene scene;
    char *shown[2];
    (void)state;
    for (size_t s = 0; s < 2; s++) {
        begin_scene(&scene, false);
        add_field(&scene, 0, "list", ARRAY(sizes[s]));
        for (uint32_t i = 0; i < sizes[s]; i++)
            add_field(&scene, 1, "", i % 2 ? UINT(i, 32) : TEXT("x"));
        add_field(&scene, 0, "behind", UINT(7, 8));
        shown[s] = strdup(encode_and_read_back(&scene));
        assert_non_null(strstr(shown[s], "\"124\":\"x\",\"125\":125,\"126\":\"x\"},\"behind\":7"));
        assert_int_equal(scene.put.losses[EVENT_HEADER_LOSS_ARRAY], 1);
        assert_true(scene.put.losses[EVENT_HEADER_LOSS_CUT] > 0);
        assert_in_range(scene.put.capacity, 1000, 2 * 65536);
        end_scene(&scene);
    }
    assert_string_equal(shown[0], shown[1]);
    free(shown[0]);
    free(shown[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_type_round_trips_in_both_byte_orders),
        cmocka_unit_test(event_attributes_round_trip),
        cmocka_unit_test(every_level_round_trips),
        cmocka_unit_test(lossy_values_are_counted_per_kind),
        cmocka_unit_test(oversized_field_is_dropped),
        cmocka_unit_test(too_deep_struct_is_dropped),
        cmocka_unit_test(array_beyond_65535_elements_is_cut_and_counted),
        cmocka_unit_test(oversized_field_uses_bounded_memory),
        cmocka_unit_test(mixed_array_is_cut_to_127_members),
        cmocka_unit_test(event_header_event_keeps_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
