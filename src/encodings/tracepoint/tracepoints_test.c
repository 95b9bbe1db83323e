/* Tests of tracepoints: fields of every shape in hand-written formats, both byte orders, damaged
 * records, and the formats of a real kernel if the corpus is present (TTR_CORPUS). */
#include "encodings/tracepoint/tracepoints.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/corpus.h"
#include "encodings/json/field_json.h"
#include "support/support.h"
#include "support/zip.h"

#define HEAD                                                                       \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define KIND(id, fields) "name: it\nID: " #id "\nformat:\n" HEAD fields "\nprint fmt: \"\"\n"
#define FIELD(declaration, offset, size, sign) \
    "\tfield:" declaration ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

static ttr_text make_text(const char *p)
{
    return (ttr_text){p, strlen(p)};
}

static struct tracepoint_raw raw_of_payload(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static bool extra_field_of(const void *ctx, const ttr_event *event, uint32_t i, ttr_field *field)
{
    (void)event;
    if (i > 0 || !ctx)
        return false;
    field->name = make_text("period");
    field->group = TTR_GROUP_COMMON;
    field->value = (ttr_value){.type = TTR_TYPE_UINT, .v.u = *(const uint64_t *)ctx};
    return true;
}

static const struct tracepoint_container container = {.raw = raw_of_payload,
                                                      .extra = extra_field_of};

struct scene {
    ttr *t;
    struct tracepoints *all;
    struct buffer shown;
    const char *why;
    ttr_event event;
    ttr_error error;
};

static void begin_scene_as(struct scene *scene, bool is_big_endian, uint8_t long_bytes,
                           const void *ctx)
{
    *scene = (struct scene){.t = ttr_new(NULL)};
    uint16_t source = context_add_source(scene->t, "here", "test");
    scene->all = tracepoints_new(&(struct tracepoints_spec){.t = scene->t,
                                                            .container = &container,
                                                            .ctx = ctx,
                                                            .source = source,
                                                            .is_big_endian = is_big_endian,
                                                            .long_bytes = long_bytes});
    assert_non_null(scene->all);
    buffer_init(&scene->shown, alloc_default());
}

static void begin_scene(struct scene *scene, const char *format)
{
    begin_scene_as(scene, false, 8, NULL);
    assert_int_equal(
        tracepoints_add(scene->all, make_text("sys"), make_text(format), &scene->error), TTR_OK);
}

static void end_scene(struct scene *scene)
{
    buffer_free(&scene->shown);
    tracepoints_free(scene->all);
    ttr_free(scene->t);
}

/* Decodes a record given in hexadecimal and returns its fields as JSON. */
static const char *record_as_json(struct scene *scene, const char *hex)
{
    static uint8_t bytes[1024];
    size_t n = support_hex(bytes, sizeof bytes, hex);
    uint32_t id = 0;
    int32_t pid = 0;
    struct field_json json;
    scene->event.payload = bytes;
    scene->event.payload_size = (uint32_t)n;
    scene->event.flags = 0;
    const struct tracepoint_raw raw = {bytes, n};
    (void)tracepoint_read_common(scene->all, raw, &id, &pid);
    assert_true(tracepoint_decode(scene->all, tracepoints_find(scene->all, id), raw, &scene->event,
                                  &scene->why));
    buffer_clear(&scene->shown);
    field_json_init(&json, scene->t, &scene->shown);
    field_json_begin(&json);
    field_json_append_fields(&json, &scene->event);
    buffer_add_byte(&scene->shown, 0);
    field_json_free(&json);
    return (const char *)scene->shown.bytes;
}

#define HEX_HEAD "0500 00 00 2a000000 "

static void number_has_declared_size_and_sign(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene,
                KIND(5, FIELD("u8 a", 8, 1, 0) FIELD("s16 b", 9, 2, 1)
                            FIELD("const volatile int c", 11, 4, 1)
                                FIELD("unsigned long d", 15, 8, 0) FIELD("bool e", 23, 1, 0)
                                    FIELD("void * f", 24, 8, 0) FIELD("enum some g", 32, 4, 0)
                                        FIELD("xfs_ino_t h", 36, 8, 0) FIELD("bool i", 44, 1, 0)));
    assert_string_equal(
        record_as_json(
            &scene, HEX_HEAD
            "ff feff ffffffff ffffffffffffffff 01 8877665544332211 07000000 0100000000000000 02"),
        "\"a\":255,\"b\":-2,\"c\":-1,\"d\":18446744073709551615,\"e\":true,\"f\":"
        "1234605616436508552,\"g\":7,\"h\":1,\"i\":2");
    assert_null(scene.why);
    assert_string_equal(ttr_text_get(scene.t, scene.event.name).p, "it");
    assert_string_equal(ttr_text_get(scene.t, scene.event.provider).p, "sys");
    assert_int_equal(scene.event.kind, TTR_KIND_INSTANT);
    end_scene(&scene);
}

static void big_endian_32_bit_record_is_read(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene_as(&scene, true, 4, NULL);
    const char *format = KIND(5, FIELD("unsigned long a", 8, 4, 0) FIELD("long b[2]", 12, 8, 1)
                                     FIELD("__data_loc char[] c", 20, 4, 1));
    assert_int_equal(tracepoints_add(scene.all, make_text("sys"), make_text(format), NULL), TTR_OK);
    assert_string_equal(
        record_as_json(&scene, "0005 00 00 0000002a 01020304 00000001 ffffffff 00030018 686900"),
        "\"a\":16909060,\"b\":[1,-1],\"c\":\"hi\"");
    end_scene(&scene);
}

static void array_length_follows_size_not_brackets(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene,
                KIND(5, FIELD("char e[]", 8, 4, 1) FIELD("u32 f[99]", 12, 8, 0)
                            FIELD("unsigned char g[6]", 20, 6, 0) FIELD("struct mytype h", 26, 3, 1)
                                FIELD("u32 odd[2]", 29, 7, 0)));
    assert_string_equal(
        record_as_json(&scene,
                       HEX_HEAD "61620063 01000000 02000000 000102030405 aabbcc 01020304050607"),
        "\"e\":\"ab\",\"f\":[1,2],\"g\":\"0x000102030405\",\"h\":\"0xaabbcc\",\"odd\":"
        "\"0x01020304050607\"");
    end_scene(&scene);
}

static void data_loc_and_rel_loc_fields_are_located(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, KIND(5, FIELD("__data_loc char[] a", 8, 4, 1)
                                    FIELD("__rel_loc u16 b[8759200]", 12, 4, 1)
                                        FIELD("__data_loc u8[] c", 16, 4, 0)
                                            FIELD("__data_loc char[] d", 20, 2, 1)
                                                FIELD("__rel_loc char[] e", 22, 2, 1)));
    assert_string_equal(
        record_as_json(&scene, HEX_HEAD
                       "1800 0300 0b00 0400 1f00 0200 2100 0c00 616200 0100feff 0708 787900 7a"),
        "\"a\":\"ab\",\"b\":[1,65534],\"c\":\"0x0708\",\"d\":\"xy\",\"e\":\"z\"");
    end_scene(&scene);
}

static void zero_size_field_is_rest_of_record(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, "name: print\nID: 5\nformat:\n" HEAD
                        "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
                        "\tfield special:char buf[];\toffset:16;\tsize:0;\tsigned:1;\n\nprint fmt: "
                        "\"%ps: %s\", (void *)REC->ip, REC->buf\n");
    assert_string_equal(record_as_json(&scene, HEX_HEAD "0100000000000000 68656c6c6f0a0000"),
                        "\"ip\":1,\"buf\":\"hello\\n\"");
    assert_string_equal(record_as_json(&scene, HEX_HEAD "0100000000000000"),
                        "\"ip\":1,\"buf\":\"\"");
    end_scene(&scene);
}

static void type_attributes_are_ignored_and_spelling_kept(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, KIND(5, FIELD("char name[4] __attribute__((aligned(4)))", 8, 4, 1)
                                    FIELD("const char *const * p", 12, 8, 0)));
    (void)record_as_json(&scene, HEX_HEAD "61620000 0000000000000000");
    assert_string_equal(scene.shown.bytes, "\"name\":\"ab\",\"p\":0");
    end_scene(&scene);
}

static void container_fields_come_first(void **state)
{
    const uint64_t period = 77;
    struct scene scene;
    (void)state;
    begin_scene_as(&scene, false, 8, &period);
    assert_int_equal(tracepoints_add(scene.all, make_text("sys"),
                                     make_text(KIND(5, FIELD("u8 a", 8, 1, 0))), NULL),
                     TTR_OK);
    assert_string_equal(record_as_json(&scene, HEX_HEAD "09"), "\"period\":77,\"a\":9");
    end_scene(&scene);
}

static void common_fields_form_header_group(void **state)
{
    struct scene scene;
    ttr_fields fields;
    ttr_field field;
    char names[200] = "";
    (void)state;
    begin_scene(&scene, KIND(5, FIELD("u8 a", 8, 1, 0)));
    (void)record_as_json(&scene, HEX_HEAD "09");
    ttr_fields_begin_group(scene.t, &scene.event, TTR_GROUP_HEADER, &fields);
    while (ttr_fields_next(&fields, &field)) {
        assert_int_equal(field.group, TTR_GROUP_HEADER);
        size_t n = strlen(names);
        (void)snprintf(names + n, sizeof names - n, "%.*s=%llu ", (int)field.name.n, field.name.p,
                       (unsigned long long)field.value.v.u);
    }
    assert_string_equal(names,
                        "common_type=5 common_flags=0 common_preempt_count=0 common_pid=42 ");
    ttr_fields_begin_group(scene.t, &scene.event, TTR_GROUP_PACKET, &fields);
    assert_false(ttr_fields_next(&fields, &field));
    end_scene(&scene);
}

static void short_record_yields_complete_fields(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, KIND(5, FIELD("u8 a", 8, 1, 0) FIELD("u64 b", 9, 8, 0)));
    assert_string_equal(record_as_json(&scene, HEX_HEAD "09 01020304"), "\"a\":9");
    assert_true(scene.event.flags & TTR_EVENT_PARTIAL);
    assert_string_equal(scene.why, "record is shorter than its format");
    end_scene(&scene);
    begin_scene(&scene, KIND(5, FIELD("__data_loc char[] a", 8, 4, 1) FIELD("u8 b", 12, 1, 1)));
    assert_string_equal(record_as_json(&scene, HEX_HEAD "0d00 ffff 07"), "\"a\":null,\"b\":7");
    assert_true(scene.event.flags & TTR_EVENT_PARTIAL);
    end_scene(&scene);
}

static void unknown_tracepoint_yields_raw_bytes(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, KIND(6, FIELD("u8 a", 8, 1, 0)));
    assert_string_equal(record_as_json(&scene, HEX_HEAD "09"),
                        "\"undecoded\":\"0x050000002a00000009\"");
    assert_non_null(scene.why);
    end_scene(&scene);
}

static void malformed_format_affects_only_its_tracepoint(void **state)
{
    static const struct {
        const char *format, *why;
    } cases[] = {
        {"name: it\nID: 5\nformat:\n\tfield:int;\toffset:0\n",
         "line 4 of its format: field has no offset or size"},
        {"name: it\nID: 5\nformat:\n\tfield:int a;\tsize:4;\n",
         "line 4 of its format: field has no offset or size"},
        {"name: it\nID: 5\nformat:\n\tfield:;\toffset:0;\tsize:4;\n",
         "line 4 of its format: field has no name"},
        {"name: it\nID: 5\nformat:\n\tfield int a\n",
         "line 4 of its format: field: expected \":\" and \";\""},
        {"name: it\nID: 5\nformat:\n\tfield:int a;\toffset:99999;\tsize:4;\n",
         "line 4 of its format: field extends beyond 64 KiB"},
        {"name: it\nID: 5\nformat:\n\tfield:__data_loc char[] a;\toffset:8;\tsize:8;\n",
         "line 4 of its format: __data_loc or __rel_loc has neither 2 nor 4 bytes"},
        {"name: it\nID: x\nformat:\n",
         "line 2 of its format: \"ID:\" is not a number below 65,536"},
        {"name: it\nformat:\n", "line 2 of its format: \"format:\" before \"name:\" and \"ID:\""},
        {"name: it\nID: 5\n", "line 2 of its format: text ends before \"format:\""},
        {"", "line 0 of its format: text ends before \"format:\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene scene;
        begin_scene(&scene, KIND(6, FIELD("u8 a", 8, 1, 0)));
        assert_int_equal(
            tracepoints_add(scene.all, make_text("sys"), make_text(cases[i].format), &scene.error),
            TTR_E_MALFORMED);
        if (!strstr(scene.error.text, cases[i].why))
            fail_msg("\"%s\" is not in \"%s\"", cases[i].why, scene.error.text);
        assert_string_equal(record_as_json(&scene, HEX_HEAD "09"),
                            "\"undecoded\":\"0x050000002a00000009\"");
        assert_string_equal(record_as_json(&scene, "0600 00 00 2a000000 09"), "\"a\":9");
        end_scene(&scene);
    }
}

static void format_with_known_id_replaces_tracepoint(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, KIND(5, FIELD("u8 a", 8, 1, 0)));
    assert_int_equal(tracepoints_add(scene.all, make_text("sys"),
                                     make_text(KIND(5, FIELD("u8 b", 8, 1, 0))), NULL),
                     TTR_OK);
    assert_string_equal(record_as_json(&scene, HEX_HEAD "09"), "\"b\":9");
    assert_null(tracepoints_find(scene.all, 4711));
    assert_ptr_equal(tracepoint_get_from_event(scene.t, &scene.event),
                     tracepoints_find(scene.all, 5));
    assert_int_equal(tracepoint_get_name(tracepoints_find(scene.all, 5)).n, 2);
    assert_int_equal(tracepoint_get_system(tracepoints_find(scene.all, 5)).n, 3);
    assert_null(tracepoint_get_from_event(scene.t, &(ttr_event){.schema = SCHEMA_EVENT_COPY}));
    end_scene(&scene);
}

#define SWITCH                                                                      \
    "name: sched_switch\nID: 5\nformat:\n" HEAD FIELD("char prev_comm[4]", 8, 4, 0) \
        FIELD("pid_t prev_pid", 12, 4, 1) FIELD("int prev_prio", 16, 4, 1)          \
            FIELD("long prev_state", 20, 8, 1) FIELD("char next_comm[4]", 28, 4, 0) \
                FIELD("pid_t next_pid", 32, 4, 1) "\nprint fmt: \"\"\n"

/* Their meaning is interpreted by a stage (src/meaning), not by the reader. */
static void sched_switch_stays_an_instant(void **state)
{
    struct scene scene;
    ttr_thread thread;
    (void)state;
    begin_scene_as(&scene, false, 8, NULL);
    assert_int_equal(tracepoints_add(scene.all, make_text("sched"), make_text(SWITCH), NULL),
                     TTR_OK);
    assert_true(tracepoints_add_comms(scene.all, make_text("42 the old one\nx y\n7\n")));
    const ttr_id old = context_thread_by_tid(scene.t, 1, 42);
    scene.event = (ttr_event){.thread = old, .cpu = 3, .flags = TTR_EVENT_HAS_CPU, .source = 1};
    const char *hex = HEX_HEAD "61620000 2a000000 78000000 0100000000000000 63640000 2b000000";
    assert_non_null(strstr(record_as_json(&scene, hex),
                           "\"prev_comm\":\"ab\",\"prev_pid\":42,\"prev_prio\":120,"));
    assert_int_equal(scene.event.kind, TTR_KIND_INSTANT);
    assert_int_equal(scene.event.thread, old);
    assert_true(ttr_thread_get(scene.t, old, &thread));
    assert_string_equal(ttr_text_get(scene.t, thread.thread_name).p, "the old one");
    end_scene(&scene);
}

static void print_format_provides_labels_and_bases(void **state)
{
    static const char format[] = "name: it\nID: 5\nformat:\n" HEAD FIELD("u8 a", 8, 1, 0)
        FIELD("int b", 9, 4, 1) FIELD("u16 c", 13, 2, 0)
            FIELD("u32 d", 15, 4,
                  0) "\nprint fmt: \"%s %s %x %s %o\", __print_symbolic(REC->a, { 1, \"one\" }, { "
                     "2, \"two\" }, { 2, \"deux\" }), "
                     "__print_symbolic((int)REC->b, { -5, \"EIO\" }), REC->c, __print_flags(REC->d "
                     "& 0xff, \"|\", { 1, \"R\" }, { 2, \"W\" }, { 3, \"RW\" }), REC->c\n";
    struct scene scene;
    const ttr_field *field;
    ttr_text label;
    (void)state;
    begin_scene(&scene, format);
    assert_string_equal(record_as_json(&scene, HEX_HEAD "02 fbffffff 2a00 03000000"),
                        "\"a\":{\"value\":2,\"label\":\"two\",\"labels\":[\"two\",\"deux\"]},\"b\":"
                        "{\"value\":-5,\"label\":\"EIO\"},\"c\":42,"
                        "\"d\":{\"value\":3,\"labels\":[\"R\",\"W\",\"RW\"]}");
    assert_string_equal(
        record_as_json(&scene, HEX_HEAD "09 00000000 2a00 04000000"),
        "\"a\":{\"value\":9},\"b\":{\"value\":0},\"c\":42,\"d\":{\"value\":4,\"labels\":[]}");
    (void)record_as_json(&scene, HEX_HEAD "02 fbffffff 2a00 01000000");
    ttr_field_buffer *buffer = ttr_field_buffer_new(scene.t);
    /* a field with several labels ends the block */
    assert_int_equal(ttr_event_fields(buffer, &scene.event, &field), 1);
    assert_true(ttr_event_label(buffer, &field[0].value, 1, &label));
    assert_memory_equal(label.p, "deux", 4);
    assert_false(ttr_event_label(buffer, &field[0].value, 2, &label));
    assert_int_equal(ttr_event_fields_next(buffer, &field), 3);
    /* label 0 remains valid whatever fields were read since */
    assert_true(ttr_event_label(buffer, &field[0].value, 0, &label));
    assert_memory_equal(label.p, "EIO", 3);
    assert_int_equal(field[0].value.hint, TTR_DISPLAY_ENUM);
    assert_int_equal(field[1].value.base, 16);
    assert_int_equal(field[2].value.hint, TTR_DISPLAY_FLAGS);
    assert_int_equal(field[2].value.count, 1);
    ttr_field_buffer_free(buffer);
    end_scene(&scene);
}

static void kernel_symbols_and_printk_formats_are_parsed(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene_as(&scene, false, 8, NULL);
    assert_true(tracepoints_add_kallsyms(
        scene.all,
        make_text("ffffffff81000100 T two\nffffffff81000000 t one [mod]\n0 A none\nnonsense\n")));
    assert_true(tracepoints_add_printk(
        scene.all,
        make_text("0xffffffff82000000 : \"a %d\"\n0xffffffff82000010 : plain\nnonsense\n")));
    end_scene(&scene);
}

/* --- Allocation failures --- */

static bool add_with(const struct alloc *alloc)
{
    bool is_fine = false;
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = alloc->resize, .user_data = alloc->ctx});
    uint16_t source = t ? context_add_source(t, "here", "test") : UINT16_MAX;
    struct tracepoints *all =
        source == UINT16_MAX
            ? NULL
            : tracepoints_new(&(struct tracepoints_spec){
                  .t = t, .container = &container, .source = source, .long_bytes = 8});
    if (all)
        is_fine = tracepoints_add(all, make_text("sched"), make_text(SWITCH), NULL) == TTR_OK &&
                  tracepoints_add_kallsyms(all, make_text("1 t one\n2 t two\n")) &&
                  tracepoints_add_comms(all, make_text("1 one\n"));
    tracepoints_free(all);
    ttr_free(t);
    return is_fine;
}

static void allocation_failure_is_reported(void **state)
{
    (void)state;
    support_fail_each(add_with);
}

/* --- Formats of a real kernel --- */

struct seen {
    struct scene *scene;
    unsigned n;
};

static bool decode_real_format(void *ctx, const char *name, const char *bytes, size_t n)
{
    struct seen *seen = ctx;
    const char *blank = strchr(name, ' ');
    assert_non_null(blank);
    if (tracepoints_add(seen->scene->all, (ttr_text){name, (size_t)(blank - name)},
                        (ttr_text){bytes, n}, &seen->scene->error) != TTR_OK)
        fail_msg("%s: %s", name, seen->scene->error.text);
    seen->n++;
    return true;
}

static void real_kernel_formats_all_parse(void **state)
{
    char path[1024];
    struct scene scene;
    struct seen seen = {.scene = &scene};
    (void)state;
    if (!corpus_find("eventheader", "linuxtracepoints-net/formats0.zip", path, sizeof path))
        return;
    begin_scene_as(&scene, false, 8, NULL);
    assert_int_equal(zip_each(path, decode_real_format, &seen), 2751);
    assert_int_equal(seen.n, 2751);
    end_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_has_declared_size_and_sign),
        cmocka_unit_test(big_endian_32_bit_record_is_read),
        cmocka_unit_test(array_length_follows_size_not_brackets),
        cmocka_unit_test(data_loc_and_rel_loc_fields_are_located),
        cmocka_unit_test(zero_size_field_is_rest_of_record),
        cmocka_unit_test(type_attributes_are_ignored_and_spelling_kept),
        cmocka_unit_test(container_fields_come_first),
        cmocka_unit_test(common_fields_form_header_group),
        cmocka_unit_test(short_record_yields_complete_fields),
        cmocka_unit_test(unknown_tracepoint_yields_raw_bytes),
        cmocka_unit_test(malformed_format_affects_only_its_tracepoint),
        cmocka_unit_test(format_with_known_id_replaces_tracepoint),
        cmocka_unit_test(sched_switch_stays_an_instant),
        cmocka_unit_test(print_format_provides_labels_and_bases),
        cmocka_unit_test(kernel_symbols_and_printk_formats_are_parsed),
        cmocka_unit_test(allocation_failure_is_reported),
        cmocka_unit_test(real_kernel_formats_all_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
