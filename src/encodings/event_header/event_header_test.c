/* The decoder of EventHeader beside what the golden vectors say (formats/interceptor): through
 * tracepoints, without plans, and what writers ask. */
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
    struct event_headers *all;
    struct event_header_kind *kind;
    struct buffer shown;
    ttr_event event;
    const char *why;
};

static ttr_text text(const char *p)
{
    return (ttr_text){p, strlen(p)};
}

static struct event_header_raw raw_of(const void *own, const ttr_event *event)
{
    (void)own;
    return (struct event_header_raw){event->payload, event->payload_size};
}

static void begin(struct scene *scene, const char *tracepoint)
{
    *scene = (struct scene){.t = ttr_new(NULL)};
    scene->all = event_headers_new(&(struct event_headers_spec){.t = scene->t, .raw = raw_of});
    assert_non_null(scene->all);
    scene->kind = event_headers_kind(scene->all, text(tracepoint), 0, NULL);
    assert_non_null(scene->kind);
    buffer_init(&scene->shown, alloc_default());
}

static void end(struct scene *scene)
{
    buffer_free(&scene->shown);
    event_headers_free(scene->all);
    ttr_free(scene->t);
}

static void take(struct scene *scene, const uint8_t *bytes, size_t n)
{
    scene->event = (ttr_event){.payload = bytes, .payload_size = (uint32_t)n};
    assert_true(event_header_take(scene->kind, (struct event_header_raw){bytes, n}, &scene->event,
                                  &scene->why));
}

static const char *show(struct scene *scene)
{
    struct field_json json;
    buffer_clear(&scene->shown);
    field_json_init(&json, scene->t, &scene->shown);
    field_json_begin(&json);
    field_json_fields(&json, &scene->event);
    buffer_add_byte(&scene->shown, 0);
    field_json_free(&json);
    return (const char *)scene->shown.bytes;
}

/* An event whose metadata are those of `hex` behind a name of their own; gives its bytes. */
static size_t make(uint8_t *to, unsigned number, const char *metadata, const char *payload)
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

static void metadata_beyond_the_limit_give_the_same_fields_in_bounded_memory(void **state)
{
    struct scene scene;
    uint8_t bytes[1024];
    unsigned number = 0;
    size_t shapes_n = sizeof shapes / sizeof *shapes;
    const char *why[sizeof shapes / sizeof *shapes];
    (void)state;
    begin(&scene, "P_L5K1");
    for (; number < shapes_n; number++) {
        take(&scene, bytes, make(bytes, number, shapes[number].metadata, shapes[number].payload));
        assert_string_equal(show(&scene), shapes[number].shown);
        why[number] = scene.why;
    }
    for (; number < EVENT_HEADER_PLANS; number++)
        take(&scene, bytes, make(bytes, number, "6100 02", "00"));
    uint64_t memory = scene.t->memory;
    for (unsigned i = 0; i < 1000 * shapes_n; i++) {
        size_t shape = i % shapes_n;
        event_headers_batch(scene.all);
        take(&scene, bytes,
             make(bytes, number + (unsigned)shape, shapes[shape].metadata, shapes[shape].payload));
        assert_string_equal(show(&scene), shapes[shape].shown);
        assert_true((scene.why != NULL) == (why[shape] != NULL));
    }
    assert_true(scene.t->memory < memory + 65536); /* names of some more events */
    end(&scene);
}

static bool is_same_field(const ttr_field *a, const ttr_field *b)
{
    return a->name_id == b->name_id && a->depth == b->depth && a->value.type == b->value.type &&
           a->value.v.u == b->value.v.u && a->value.count == b->value.count &&
           a->value.text.n == b->value.text.n && a->value.hint == b->value.hint &&
           (a->value.text.n == 0 || memcmp(a->value.text.p, b->value.text.p, a->value.text.n) == 0);
}

static void expect_same_together(const struct scene *scene, ttr_field_buffer *buffer)
{
    ttr_fields one;
    ttr_field field;
    const ttr_field *together;
    ttr_fields_begin(scene->t, &scene->event, &one);
    for (uint32_t n = ttr_event_fields(buffer, &scene->event, &together); n > 0;
         n = ttr_more_fields(buffer, &together))
        for (uint32_t i = 0; i < n; i++) {
            assert_true(ttr_fields_next(&one, &field));
            assert_true(is_same_field(&field, &together[i]));
        }
    assert_false(ttr_fields_next(&one, &field));
}

/* With plans, without, one by one and together: whatever stands in the payload. */
static void random_payloads_give_the_same_fields_in_each_way(void **state)
{
    struct scene planned, loose;
    uint8_t bytes[1024];
    uint64_t random = 1;
    (void)state;
    begin(&planned, "P_L5K1");
    begin(&loose, "P_L5K1");
    ttr_field_buffer *buffer = ttr_field_buffer_new(planned.t);
    for (unsigned number = 1000; number < 1000 + EVENT_HEADER_PLANS; number++)
        take(&loose, bytes, make(bytes, number, "6100 02", "05"));
    for (unsigned i = 0; i < 5500; i++) {
        unsigned number = i % (unsigned)(sizeof shapes / sizeof *shapes);
        size_t n = make(bytes, number, shapes[number].metadata, ""),
               payload_n = support_random(&random) % 24;
        for (size_t k = 0; k < payload_n; k++)
            bytes[n + k] = (uint8_t)(support_random(&random) % 5 ? support_random(&random) % 3
                                                                 : support_random(&random));
        take(&planned, bytes, n + payload_n);
        take(&loose, bytes, n + payload_n);
        assert_string_equal(show(&planned), show(&loose));
        assert_true((planned.why == NULL) == (loose.why == NULL));
        expect_same_together(&planned, buffer);
        event_headers_batch(planned.all);
        event_headers_batch(loose.all);
    }
    ttr_field_buffer_free(buffer);
    end(&planned);
    end(&loose);
}

static void structs_without_bytes_are_given_up(void **state)
{
    struct scene scene;
    uint8_t bytes[1024];
    (void)state;
    begin(&scene, "P_L5K1");
    take(&scene, bytes, make(bytes, 0, "7300 a17f ffff 7400 a17f ffff", "01"));
    assert_string_equal(scene.why, "more structs than anybody writes");
    assert_true(scene.event.flags & TTR_EVENT_PARTIAL);
    assert_true(strlen(show(&scene)) < 20000);
    end(&scene);
}

/* Fields of the header as "name=value". */
static void show_header(struct scene *scene)
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

static void the_header_says_all_of_it_with_tags_and_attributes_of_fields(void **state)
{
    struct scene scene;
    uint8_t bytes[1024];
    (void)state;
    begin(&scene, "Prov_L5K1fGgroup.1f");
    size_t n = make(bytes, 1, "6100 02 663b6b3d763b3b7700 8281efbe 6200 02", "01 02 03");
    store_u16le(bytes + 2, 1000);
    store_u16le(bytes + 4, 0x1234);
    bytes[1] = 9;
    bytes[6] = 2;
    take(&scene, bytes, n);
    show_header(&scene);
    assert_string_equal(
        (const char *)scene.shown.bytes,
        "0 flags=7\n0 version=9\n0 id=1000\n0 tag=4660\n0 opcode=2\n0 level=5\n0 keyword=31\n"
        "0 tracepoint=Prov_L5K1fGgroup.1f\n0 options=Ggroup\n0 group=group\n0 shape=1f\n0 f=2\n1 "
        "tag=48879\n1 k=v;w\n");
    assert_string_equal(show(&scene), "\"id\":1000,\"version\":9,\"a\":1,\"f\":2,\"b\":3");
    end(&scene);
}

/* Puts an activity in front of the metadata of an event that make() made. */
static size_t make_activity(uint8_t *to, uint8_t opcode, unsigned number)
{
    static const uint8_t extension[20] = {16, 0, 2, 0x80, 1,  2,  3,  4,  5,  6,
                                          7,  8, 9, 10,   11, 12, 13, 14, 15, 16};
    uint8_t made[256];
    size_t n = make(made, number, "", "");
    memcpy(to, made, EVENT_HEADER_BYTES);
    memcpy(to + EVENT_HEADER_BYTES, extension, sizeof extension);
    memcpy(to + EVENT_HEADER_BYTES + sizeof extension, made + EVENT_HEADER_BYTES,
           n - EVENT_HEADER_BYTES);
    to[6] = opcode;
    return n + sizeof extension;
}

static void an_activity_that_starts_and_stops_is_a_span(void **state)
{
    struct scene scene;
    uint8_t bytes[512];
    (void)state;
    begin(&scene, "P_L5K1");
    take(&scene, bytes, make_activity(bytes, EVENT_HEADER_START, 1));
    uint64_t link = scene.event.link;
    assert_int_equal(scene.event.kind, TTR_KIND_ASYNC_BEGIN);
    take(&scene, bytes, make_activity(bytes, 0, 2));
    assert_int_equal(scene.event.kind, TTR_KIND_INSTANT);
    take(&scene, bytes, make_activity(bytes, EVENT_HEADER_STOP, 3));
    assert_int_equal(scene.event.kind, TTR_KIND_ASYNC_END);
    assert_true(link != 0 && scene.event.link == link);
    size_t n = make(bytes, 4, "", "");
    bytes[6] = EVENT_HEADER_START;
    take(&scene, bytes, n);
    assert_int_equal(scene.event.kind, TTR_KIND_INSTANT); /* of no activity */
    end(&scene);
}

static struct tracepoint_raw stored(const void *own, const ttr_event *event)
{
    (void)own;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static bool period_of(const void *own, const ttr_event *event, uint32_t i, ttr_field *field)
{
    (void)own, (void)event;
    field->name = text("period");
    field->group = TTR_GROUP_COMMON;
    field->value = (ttr_value){.type = TTR_TYPE_UINT, .v.u = 7};
    return i == 0;
}

static void tracepoints_with_the_header_give_events_of_their_own(void **state)
{
    static const struct tracepoint_container container = {.raw = stored, .extra = period_of};
    struct scene scene = {.t = ttr_new(NULL)};
    uint8_t bytes[1024] = {5, 0, 0, 0, 42, 0, 0, 0};
    ttr_error error;
    (void)state;
    struct tracepoints *all = tracepoints_new(
        &(struct tracepoints_spec){.t = scene.t, .container = &container, .long_bytes = 8});
    assert_non_null(all);
    assert_int_equal(tracepoints_add(all, text("user_events"), text(FORMAT), &error), TTR_OK);
    size_t n = 8 + make(bytes + 8, 1, "6100 02", "01 000000");
    scene.event = (ttr_event){.payload = bytes, .payload_size = (uint32_t)n};
    buffer_init(&scene.shown, alloc_default());
    tracepoints_batch(all);
    assert_true(tracepoint_take(all, tracepoints_find(all, 5), (struct tracepoint_raw){bytes, n},
                                &scene.event, &scene.why));
    assert_null(scene.why);
    assert_string_equal(ttr_text_get(scene.t, scene.event.provider).p, "Prov");
    assert_string_equal(ttr_text_get(scene.t, scene.event.name).p, "E1");
    assert_int_equal(scene.event.level, TTR_LEVEL_DEBUG);
    assert_string_equal(show(&scene), "\"period\":7,\"a\":1");
    assert_ptr_equal(tracepoint_of(scene.t, &scene.event), tracepoints_find(all, 5));
    buffer_free(&scene.shown);
    tracepoints_free(all);
    ttr_free(scene.t);
}

static bool take_one(const struct alloc *alloc)
{
    uint8_t bytes[1024];
    const ttr_options options = {
        .size = sizeof options, .resize = alloc->resize, .own = alloc->own};
    const char *why;
    size_t n = make(bytes, 1, "7300 8101 6100 02", "01");
    ttr_event event = {.payload = bytes, .payload_size = (uint32_t)n};
    ttr *t = ttr_new(&options);
    struct event_headers *all =
        t ? event_headers_new(&(struct event_headers_spec){.t = t, .raw = raw_of}) : NULL;
    struct event_header_kind *kind = all ? event_headers_kind(all, text("P_L5K1"), 0, NULL) : NULL;
    bool is_fine =
        kind && event_header_take(kind, (struct event_header_raw){bytes, n}, &event, &why);
    event_headers_free(all);
    ttr_free(t);
    return is_fine;
}

static void each_failing_allocation_is_told(void **state)
{
    (void)state;
    support_fail_each(take_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_beyond_the_limit_give_the_same_fields_in_bounded_memory),
        cmocka_unit_test(random_payloads_give_the_same_fields_in_each_way),
        cmocka_unit_test(structs_without_bytes_are_given_up),
        cmocka_unit_test(the_header_says_all_of_it_with_tags_and_attributes_of_fields),
        cmocka_unit_test(an_activity_that_starts_and_stops_is_a_span),
        cmocka_unit_test(tracepoints_with_the_header_give_events_of_their_own),
        cmocka_unit_test(each_failing_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
