/* Tests of .NET events in tracepoints. The bytes follow "Tracepoint Format V1" in ipc-protocol.md
 * of dotnet/diagnostics. */
#include "encodings/dotnet/clr_user_events.h"

#include <stdio.h>

#include "base/endian.h"
#include "encodings/json/field_json.h"
#include "encodings/tracepoint/tracepoints.h"
#include "support/support.h"

#define FORMAT(name, id)                                                                         \
    "name: " name "\nID: " #id "\nformat:\n"                                                     \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:unsigned char " \
    "common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                             \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\tfield:int "   \
    "common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                                             \
    "\tfield:u8 version;\toffset:8;\tsize:1;\tsigned:0;\n\tfield:u16 "                           \
    "event_id;\toffset:9;\tsize:2;\tsigned:0;\n"                                                 \
    "\tfield:__rel_loc u8 extension[8759200];\toffset:11;\tsize:4;\tsigned:0;\n"                 \
    "\tfield:__rel_loc u8 payload[8759200];\toffset:15;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n"

/* u32 id 7, "Hi", keywords 0x11, version 0, level 4; fields: i32 "a", string "s", GUID "g";
 * optional part: opcode 1. */
#define METADATA                                                                           \
    "07000000 480069000000 1100000000000000 00000000 04000000 03000000 09000000 61000000 " \
    "12000000 73000000 11000000 67000000 01000000 01 01"
#define PAYLOAD "ffffffff 7800 e900 0000 0403020106050807 090a0b0c0d0e0f10"
#define ACTIVITY "02 0102030405060708090a0b0c0d0e0f10 03 f1f2f3f4f5f6f7f8f9fafbfcfdfefff0"
#define FIELDS "\"a\":-1,\"s\":\"x\xc3\xa9\",\"g\":\"01020304-0506-0708-090a-0b0c0d0e0f10\""

struct scene {
    ttr *t;
    struct tracepoints *all;
    struct buffer shown;
    ttr_event event;
    const char *why;
    uint16_t source;
    uint8_t bytes[1024];
};

static struct tracepoint_raw raw_of_payload(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static const struct tracepoint_container container = {.raw = raw_of_payload};

static ttr_text make_text(const char *p)
{
    return (ttr_text){p, strlen(p)};
}

static void begin_scene(struct scene *scene)
{
    ttr_error error;
    *scene = (struct scene){.t = ttr_new(NULL)};
    scene->source = context_add_source(scene->t, "here", "test");
    scene->all = tracepoints_new(&(struct tracepoints_spec){
        .t = scene->t, .container = &container, .source = scene->source, .long_bytes = 8});
    assert_int_equal(tracepoints_add(scene->all, make_text("user_events"),
                                     make_text(FORMAT("MyApp", 5)), &error),
                     TTR_OK);
    assert_int_equal(
        tracepoints_add(scene->all, make_text("user_events"),
                        make_text(FORMAT("OC_DotNet_Microsoft_Windows_DotNETRuntime_12_C", 6)),
                        &error),
        TTR_OK);
    buffer_init(&scene->shown, alloc_default());
}

static void end_scene(struct scene *scene)
{
    buffer_free(&scene->shown);
    tracepoints_free(scene->all);
    ttr_free(scene->t);
}

/* Decodes an event of a tracepoint and process and returns its fields as JSON. */
static const char *decode_as_json(struct scene *scene, uint16_t tracepoint, uint64_t pid,
                                  uint16_t id, const char *extension, const char *payload)
{
    uint8_t *at = scene->bytes + 19;
    struct field_json json;
    memset(scene->bytes, 0, sizeof scene->bytes);
    store_u16le(scene->bytes, tracepoint);
    scene->bytes[8] = 1;
    store_u16le(scene->bytes + 9, id);
    size_t extension_n = support_hex(at, 500, extension),
           payload_n = support_hex(at + extension_n, 400, payload);
    store_u32le(scene->bytes + 11, (uint32_t)(extension_n << 16 | 4));
    store_u32le(scene->bytes + 15, (uint32_t)(payload_n << 16 | extension_n));
    size_t n = (19 + extension_n + payload_n + 7) & ~(size_t)7;
    scene->event = (ttr_event){.payload = scene->bytes,
                               .payload_size = (uint32_t)n,
                               .thread = context_thread(scene->t, scene->source, pid, pid)};
    tracepoints_begin_batch(scene->all);
    assert_true(tracepoint_decode(scene->all, tracepoints_find(scene->all, tracepoint),
                                  (struct tracepoint_raw){scene->bytes, n}, &scene->event,
                                  &scene->why));
    buffer_clear(&scene->shown);
    field_json_init(&json, scene->t, &scene->shown);
    field_json_begin(&json);
    field_json_append_fields(&json, &scene->event);
    buffer_add_byte(&scene->shown, 0);
    field_json_free(&json);
    return (const char *)scene->shown.bytes;
}

static void metadata_apply_to_later_events_of_process(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene);
    char extension[400];
    (void)snprintf(extension, sizeof extension, "01 3c000000 %s %s", METADATA, ACTIVITY);
    assert_string_equal(decode_as_json(&scene, 5, 1, 7, extension, PAYLOAD), FIELDS);
    assert_null(scene.why);
    assert_string_equal(ttr_text_get(scene.t, scene.event.name).p, "Hi");
    assert_string_equal(ttr_text_get(scene.t, scene.event.provider).p, "MyApp");
    assert_int_equal(scene.event.keyword, 0x11);
    assert_int_equal(scene.event.level, TTR_LEVEL_INFO);
    assert_int_equal(scene.event.opcode, 1);
    assert_int_equal(scene.event.kind, TTR_KIND_ASYNC_BEGIN);
    assert_int_equal(scene.event.activity[15], 0x10);
    assert_int_equal(scene.event.related[0], 0xf1);
    assert_ptr_equal(tracepoint_get_from_event(scene.t, &scene.event),
                     tracepoints_find(scene.all, 5));
    assert_string_equal(decode_as_json(&scene, 5, 1, 7, "01 00000000", PAYLOAD), FIELDS);
    assert_string_equal(decode_as_json(&scene, 5, 2, 7, "", PAYLOAD " aa"),
                        FIELDS ",\"undecoded\":\"0xaa\"");
    end_scene(&scene);
}

static void event_number_is_distinct_per_process(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene);
    (void)decode_as_json(
        &scene, 5, 1, 7,
        "01 25000000 07000000 41000000 0000000000000000 00000000 05000000 01000000 09000000 "
        "61000000 00",
        "01000000");
    assert_string_equal(ttr_text_get(scene.t, scene.event.name).p, "A");
    (void)decode_as_json(
        &scene, 5, 2, 7,
        "01 25000000 07000000 42000000 0000000000000000 00000000 05000000 01000000 0a000000 "
        "62000000 00",
        "ffffffff");
    assert_string_equal(decode_as_json(&scene, 5, 1, 7, "", "ffffffff"), "\"a\":-1");
    assert_string_equal(decode_as_json(&scene, 5, 2, 7, "", "ffffffff"), "\"b\":4294967295");
    end_scene(&scene);
}

static void runtime_event_recognized_by_tracepoint_name(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene);
    /* GCEnd_V1 has the fields Count, Depth and ClrInstanceID. */
    assert_string_equal(decode_as_json(&scene, 6, 1, 2, "01 00000000", "05000000 01000000 0900"),
                        "\"Count\":5,\"Depth\":1,\"ClrInstanceID\":9");
    assert_string_equal(ttr_text_get(scene.t, scene.event.provider).p,
                        "Microsoft-Windows-DotNETRuntime");
    assert_string_equal(decode_as_json(&scene, 5, 1, 2, "", "05000000"),
                        "\"undecoded\":\"0x05000000\"");
    assert_string_equal(ttr_text_get(scene.t, scene.event.name).p, "MyApp/2");
    end_scene(&scene);
}

static void damaged_record_reports_reason_and_keeps_rest(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene);
    assert_string_equal(decode_as_json(&scene, 5, 1, 2, "09", "05"), "\"undecoded\":\"0x05\"");
    assert_string_equal(scene.why, "extension is unknown or truncated");
    assert_true(scene.event.flags & TTR_EVENT_PARTIAL);
    (void)decode_as_json(&scene, 5, 1, 2, "01 ffff0000 00", "05");
    assert_non_null(scene.why);
    (void)decode_as_json(&scene, 5, 1, 3, "01 05000000 0000000041", "05");
    assert_string_equal(scene.why, "metadata are truncated");
    end_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_apply_to_later_events_of_process),
        cmocka_unit_test(event_number_is_distinct_per_process),
        cmocka_unit_test(runtime_event_recognized_by_tracepoint_name),
        cmocka_unit_test(damaged_record_reports_reason_and_keeps_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
