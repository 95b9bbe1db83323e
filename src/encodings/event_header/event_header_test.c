/* Tests of the EventHeader decoder beyond the golden vectors in formats/interceptor: tracepoint
 * containers, full plan cache, field iteration, allocation failures. */
#include "encodings/event_header/event_header.h"

#include <stdio.h>

#include "base/endian.h"
#include "encodings/json/field_json.h"
#include "encodings/tracepoint/tracepoints.h"
#include "support/support.h"

#define FORMAT                                                                                   \
    "name: Prov_L5K1Ggroup.1f\nID: 5\nformat:\n"                                                 \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:unsigned char " \
    "common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                             \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\tfield:int "   \
    "common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                                             \
    "\tfield:u8 eventheader_flags;\toffset:8;\tsize:1;\tsigned:0;\n\tfield:u8 "                  \
    "version;\toffset:9;\tsize:1;\tsigned:0;\n"                                                  \
    "\tfield:u16 id;\toffset:10;\tsize:2;\tsigned:0;\n\tfield:u16 "                              \
    "tag;\toffset:12;\tsize:2;\tsigned:0;\n"                                                     \
    "\tfield:u8 opcode;\toffset:14;\tsize:1;\tsigned:0;\n\tfield:u8 "                            \
    "level;\toffset:15;\tsize:1;\tsigned:0;\n\nprint fmt: \"\"\n"

struct scene {
    ttr *t;
    struct event_header_decoder *all;
    struct event_header_tracepoint *kind;
    struct buffer shown;
    ttr_event event;
    const char *why;
};

static ttr_text make_text(const char *p)
{
    return (ttr_text){p, strlen(p)};
}

static struct event_header_raw raw_of_payload(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct event_header_raw){event->payload, event->payload_size};
}

static void begin_scene(struct scene *scene, const char *tracepoint)
{
    *scene = (struct scene){.t = ttr_new(NULL)};
    scene->all = event_header_decoder_new(
        &(struct event_header_decoder_spec){.t = scene->t, .raw = raw_of_payload});
    assert_non_null(scene->all);
    scene->kind = event_header_add_tracepoint(scene->all, make_text(tracepoint), 0, NULL);
    assert_non_null(scene->kind);
    buffer_init(&scene->shown, alloc_default());
}

static void end_scene(struct scene *scene)
{
    buffer_free(&scene->shown);
    event_header_decoder_free(scene->all);
    ttr_free(scene->t);
}

static void decode_event(struct scene *scene, const uint8_t *bytes, size_t n)
{
    scene->event = (ttr_event){.payload = bytes, .payload_size = (uint32_t)n};
    assert_true(event_header_decode(scene->kind, (struct event_header_raw){bytes, n}, &scene->event,
                                    &scene->why));
}

static const char *fields_as_json(struct scene *scene)
{
    struct field_json json;
    buffer_clear(&scene->shown);
    field_json_init(&json, scene->t, &scene->shown);
    field_json_begin(&json);
    field_json_append_fields(&json, &scene->event);
    buffer_add_byte(&scene->shown, 0);
    field_json_free(&json);
    return (const char *)scene->shown.bytes;
}

/* Builds event `number` from metadata and payload in hexadecimal; the number makes its name, and
 * thus its plan, unique. Returns the size in bytes. */
static size_t make_event(uint8_t *to, unsigned number, const char *metadata, const char *payload)
{
    uint8_t name[16], fields[512];
    int name_n = snprintf((char *)name, sizeof name, "E%u", number) + 1;
    size_t fields_n = support_hex(fields, sizeof fields, metadata), payload_n;
    const uint8_t head[EVENT_HEADER_BYTES] = {7, 0, 0, 0, 0, 0, 0, 5};
    memcpy(to, head, sizeof head);
    store_u16le(to + 8, (uint16_t)((size_t)name_n + fields_n));
    store_u16le(to + 10, EVENT_HEADER_METADATA);
    memcpy(to + 12, name, (size_t)name_n);
    memcpy(to + 12 + name_n, fields, fields_n);
    payload_n = support_hex(to + 12 + (size_t)name_n + fields_n, 512, payload);
    return 12 + (size_t)name_n + fields_n + payload_n;
}

static const struct {
    const char *metadata, *payload, *shown;
} shapes[] = {
    {"6100 02", "2a", "\"a\":42"},
    {"6100 a303 0200 6200 08", "0100 0200 4100 0000", "\"a\":[1,2],\"b\":\"A\""},
    {"7300 8102 6100 02 7400 8101 6200 03 6300 02", "01 0200 03",
     "\"s\":{\"a\":1,\"t\":{\"b\":2}},\"c\":3"},
    {"7300 c102 6100 02 7400 c101 6200 03 6300 02", "0200 01 0200 0700 0800 02 0000 03",
     "\"s\":[{\"a\":1,\"t\":[{\"b\":7},{\"b\":8}]},{\"a\":2,\"t\":[]}],\"c\":3"},
    {"7300 c102 6100 02 7400 8101 6200 03 6300 02", "0000 09", "\"s\":[],\"c\":9"},
    {"7300 a17f 0300", "", "\"s\":[{},{},{}]"},
    {"7300 817f 6100 02", "05", "\"s\":{\"a\":5}"},
    {"6100 02 7300 8100", "05 06", "\"a\":5,\"undecoded\":\"0x06\""},
    {"7300 a102 0200 6100 02 7800 00", "05 06", "\"s\":[{\"a\":5}],\"undecoded\":\"0x06\""},
    {"6100 07", "4142", "\"a\":\"AB\""},
    {"6100 0a", "0500 41", "\"undecoded\":\"0x050041\""},
};

static void metadata_beyond_limit_same_fields_bounded_memory(void **state)
{
    struct scene scene;
    uint8_t bytes[1024];
    unsigned number = 0;
    size_t shapes_n = sizeof shapes / sizeof *shapes;
    const char *why[sizeof shapes / sizeof *shapes];
    (void)state;
    begin_scene(&scene, "P_L5K1");
    for (; number < shapes_n; number++) {
        decode_event(&scene, bytes,
                     make_event(bytes, number, shapes[number].metadata, shapes[number].payload));
        assert_string_equal(fields_as_json(&scene), shapes[number].shown);
        why[number] = scene.why;
    }
    for (; number < EVENT_HEADER_PLANS_MAX; number++)
        decode_event(&scene, bytes, make_event(bytes, number, "6100 02", "00"));
    uint64_t memory = scene.t->memory;
    for (unsigned i = 0; i < 1000 * shapes_n; i++) {
        size_t shape = i % shapes_n;
        event_header_begin_batch(scene.all);
        decode_event(&scene, bytes,
                     make_event(bytes, number + (unsigned)shape, shapes[shape].metadata,
                                shapes[shape].payload));
        assert_string_equal(fields_as_json(&scene), shapes[shape].shown);
        assert_true((scene.why != NULL) == (why[shape] != NULL));
    }
    /* only the names of the additional events are stored, no more plans */
    assert_true(scene.t->memory < memory + 65536);
    end_scene(&scene);
}

static bool is_same_field(const ttr_field *a, const ttr_field *b)
{
    return a->name_id == b->name_id && a->depth == b->depth && a->value.type == b->value.type &&
           a->value.v.u == b->value.v.u && a->value.count == b->value.count &&
           a->value.text.n == b->value.text.n && a->value.hint == b->value.hint &&
           (a->value.text.n == 0 || memcmp(a->value.text.p, b->value.text.p, a->value.text.n) == 0);
}

static void expect_block_equals_single_reads(const struct scene *scene, ttr_field_buffer *buffer)
{
    ttr_fields one;
    ttr_field field;
    const ttr_field *together;
    ttr_fields_begin(scene->t, &scene->event, &one);
    for (uint32_t n = ttr_event_fields(buffer, &scene->event, &together); n > 0;
         n = ttr_event_fields_next(buffer, &together))
        for (uint32_t i = 0; i < n; i++) {
            assert_true(ttr_fields_next(&one, &field));
            assert_true(is_same_field(&field, &together[i]));
        }
    assert_false(ttr_fields_next(&one, &field));
}

/* Fields must be equal with and without a plan, and whether read one by one or in blocks. */
static void random_payload_same_fields_in_every_mode(void **state)
{
    struct scene planned, unplanned;
    uint8_t bytes[1024];
    uint64_t random = 1;
    (void)state;
    begin_scene(&planned, "P_L5K1");
    begin_scene(&unplanned, "P_L5K1");
    ttr_field_buffer *buffer = ttr_field_buffer_new(planned.t);
    for (unsigned number = 1000; number < 1000 + EVENT_HEADER_PLANS_MAX; number++)
        decode_event(&unplanned, bytes, make_event(bytes, number, "6100 02", "05"));
    for (unsigned i = 0; i < 5500; i++) {
        unsigned number = i % (unsigned)(sizeof shapes / sizeof *shapes);
        size_t n = make_event(bytes, number, shapes[number].metadata, ""),
               payload_n = support_random(&random) % 24;
        for (size_t k = 0; k < payload_n; k++)
            bytes[n + k] = (uint8_t)(support_random(&random) % 5 ? support_random(&random) % 3
                                                                 : support_random(&random));
        decode_event(&planned, bytes, n + payload_n);
        decode_event(&unplanned, bytes, n + payload_n);
        assert_string_equal(fields_as_json(&planned), fields_as_json(&unplanned));
        assert_true((planned.why == NULL) == (unplanned.why == NULL));
        expect_block_equals_single_reads(&planned, buffer);
        event_header_begin_batch(planned.all);
        event_header_begin_batch(unplanned.all);
    }
    ttr_field_buffer_free(buffer);
    end_scene(&planned);
    end_scene(&unplanned);
}

static void empty_struct_array_stops_at_limit(void **state)
{
    struct scene scene;
    uint8_t bytes[1024];
    (void)state;
    begin_scene(&scene, "P_L5K1");
    decode_event(&scene, bytes, make_event(bytes, 0, "7300 a17f ffff 7400 a17f ffff", "01"));
    assert_string_equal(scene.why, "more than 4096 structs without data");
    assert_true(scene.event.flags & TTR_EVENT_PARTIAL);
    assert_true(strlen(fields_as_json(&scene)) < 20000);
    end_scene(&scene);
}

/* Appends the fields of group HEADER as "name=value". */
static void print_header_group(struct scene *scene)
{
    ttr_fields fields;
    ttr_field field;
    char line[128];
    buffer_clear(&scene->shown);
    ttr_fields_begin_group(scene->t, &scene->event, TTR_GROUP_HEADER, &fields);
    while (ttr_fields_next(&fields, &field)) {
        assert_int_equal(field.group, TTR_GROUP_HEADER);
        int n = field.value.type == TTR_TYPE_TEXT
                    ? snprintf(line, sizeof line, "%u %.*s=%.*s\n", field.depth, (int)field.name.n,
                               field.name.p, (int)field.value.text.n, field.value.text.p)
                    : snprintf(line, sizeof line, "%u %.*s=%llu\n", field.depth, (int)field.name.n,
                               field.name.p,
                               (unsigned long long)(field.value.type == TTR_TYPE_STRUCT
                                                        ? field.value.count
                                                        : field.value.v.u));
        buffer_add(&scene->shown, line, (size_t)n);
    }
    buffer_add_byte(&scene->shown, 0);
}

static void header_group_contains_tags_and_attributes(void **state)
{
    struct scene scene;
    uint8_t bytes[1024];
    (void)state;
    begin_scene(&scene, "Prov_L5K1fGgroup.1f");
    size_t n = make_event(bytes, 1, "6100 02 663b6b3d763b3b7700 8281efbe 6200 02", "01 02 03");
    store_u16le(bytes + 2, 1000);
    store_u16le(bytes + 4, 0x1234);
    bytes[1] = 9;
    bytes[6] = 2;
    decode_event(&scene, bytes, n);
    print_header_group(&scene);
    assert_string_equal(
        (const char *)scene.shown.bytes,
        "0 flags=7\n0 version=9\n0 id=1000\n0 tag=4660\n0 opcode=2\n0 level=5\n0 keyword=31\n"
        "0 tracepoint=Prov_L5K1fGgroup.1f\n0 options=Ggroup\n0 group=group\n0 shape=1f\n0 f=2\n1 "
        "tag=48879\n1 k=v;w\n");
    assert_string_equal(fields_as_json(&scene),
                        "\"id\":1000,\"version\":9,\"a\":1,\"f\":2,\"b\":3");
    end_scene(&scene);
}

/* Inserts an activity extension before the metadata of an event built by make_event(). Returns the
 * new size. */
static size_t insert_activity(uint8_t *to, uint8_t opcode, unsigned number)
{
    static const uint8_t extension[20] = {16, 0, 2, 0x80, 1,  2,  3,  4,  5,  6,
                                          7,  8, 9, 10,   11, 12, 13, 14, 15, 16};
    uint8_t made[256];
    size_t n = make_event(made, number, "", "");
    memcpy(to, made, EVENT_HEADER_BYTES);
    memcpy(to + EVENT_HEADER_BYTES, extension, sizeof extension);
    memcpy(to + EVENT_HEADER_BYTES + sizeof extension, made + EVENT_HEADER_BYTES,
           n - EVENT_HEADER_BYTES);
    to[6] = opcode;
    return n + sizeof extension;
}

static void activity_start_and_stop_become_span(void **state)
{
    struct scene scene;
    uint8_t bytes[512];
    (void)state;
    begin_scene(&scene, "P_L5K1");
    decode_event(&scene, bytes, insert_activity(bytes, EVENT_HEADER_START, 1));
    uint64_t link = scene.event.link;
    assert_int_equal(scene.event.kind, TTR_KIND_ASYNC_BEGIN);
    decode_event(&scene, bytes, insert_activity(bytes, 0, 2));
    assert_int_equal(scene.event.kind, TTR_KIND_INSTANT);
    decode_event(&scene, bytes, insert_activity(bytes, EVENT_HEADER_STOP, 3));
    assert_int_equal(scene.event.kind, TTR_KIND_ASYNC_END);
    assert_true(link != 0 && scene.event.link == link);
    size_t n = make_event(bytes, 4, "", "");
    bytes[6] = EVENT_HEADER_START;
    decode_event(&scene, bytes, n);
    /* an opcode without an activity id starts no span */
    assert_int_equal(scene.event.kind, TTR_KIND_INSTANT);
    end_scene(&scene);
}

static struct tracepoint_raw raw_record_of(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static bool period_field_of(const void *ctx, const ttr_event *event, uint32_t i, ttr_field *field)
{
    (void)ctx, (void)event;
    field->name = make_text("period");
    field->group = TTR_GROUP_COMMON;
    field->value = (ttr_value){.type = TTR_TYPE_UINT, .v.u = 7};
    return i == 0;
}

static void tracepoint_with_header_uses_event_header_decoder(void **state)
{
    static const struct tracepoint_container container = {.raw = raw_record_of,
                                                          .extra = period_field_of};
    struct scene scene = {.t = ttr_new(NULL)};
    uint8_t bytes[1024] = {5, 0, 0, 0, 42, 0, 0, 0};
    ttr_error error;
    (void)state;
    struct tracepoints *all = tracepoints_new(
        &(struct tracepoints_spec){.t = scene.t, .container = &container, .long_bytes = 8});
    assert_non_null(all);
    assert_int_equal(tracepoints_add(all, make_text("user_events"), make_text(FORMAT), &error),
                     TTR_OK);
    size_t n = 8 + make_event(bytes + 8, 1, "6100 02", "01 000000");
    scene.event = (ttr_event){.payload = bytes, .payload_size = (uint32_t)n};
    buffer_init(&scene.shown, alloc_default());
    tracepoints_begin_batch(all);
    assert_true(tracepoint_decode(all, tracepoints_find(all, 5), (struct tracepoint_raw){bytes, n},
                                  &scene.event, &scene.why));
    assert_null(scene.why);
    assert_string_equal(ttr_text_get(scene.t, scene.event.provider).p, "Prov");
    assert_string_equal(ttr_text_get(scene.t, scene.event.name).p, "E1");
    assert_int_equal(scene.event.level, TTR_LEVEL_DEBUG);
    assert_string_equal(fields_as_json(&scene), "\"period\":7,\"a\":1");
    assert_ptr_equal(tracepoint_get_from_event(scene.t, &scene.event), tracepoints_find(all, 5));
    buffer_free(&scene.shown);
    tracepoints_free(all);
    ttr_free(scene.t);
}

static bool decode_with_allocator(const struct alloc *alloc)
{
    uint8_t bytes[1024];
    const ttr_options options = {
        .size = sizeof options, .resize = alloc->resize, .user_data = alloc->ctx};
    const char *why;
    size_t n = make_event(bytes, 1, "7300 8101 6100 02", "01");
    ttr_event event = {.payload = bytes, .payload_size = (uint32_t)n};
    ttr *t = ttr_new(&options);
    struct event_header_decoder *all =
        t ? event_header_decoder_new(
                &(struct event_header_decoder_spec){.t = t, .raw = raw_of_payload})
          : NULL;
    struct event_header_tracepoint *kind =
        all ? event_header_add_tracepoint(all, make_text("P_L5K1"), 0, NULL) : NULL;
    bool is_fine =
        kind && event_header_decode(kind, (struct event_header_raw){bytes, n}, &event, &why);
    event_header_decoder_free(all);
    ttr_free(t);
    return is_fine;
}

static void allocation_failure_is_reported(void **state)
{
    (void)state;
    support_fail_each(decode_with_allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_beyond_limit_same_fields_bounded_memory),
        cmocka_unit_test(random_payload_same_fields_in_every_mode),
        cmocka_unit_test(empty_struct_array_stops_at_limit),
        cmocka_unit_test(header_group_contains_tags_and_attributes),
        cmocka_unit_test(activity_start_and_stop_become_span),
        cmocka_unit_test(tracepoint_with_header_uses_event_header_decoder),
        cmocka_unit_test(allocation_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
