/* Printer of RFC v1.1 metadata: equal descriptions after parsing, and what the RFC cannot express.
 */
#include <stdio.h>

#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "support/support.h"

static void parse(struct ctf_description *description, const char *metadata, size_t n)
{
    ttr_error error;
    struct ctf_text text = {.p = metadata, .n = n, .file = "metadata"};
    if (rfc11_parse(description, &text, &error) != TTR_OK)
        fail_msg("%s", error.text);
}

static void parse_and_print(bool is_big_endian, const char *metadata, struct buffer *to)
{
    struct ctf_description description;
    ttr_error error;
    ctf_description_init(&description, alloc_default());
    description.is_big_endian = is_big_endian;
    parse(&description, metadata, strlen(metadata));
    buffer_init(to, alloc_default());
    if (rfc11_print(&description, to, &error) != TTR_OK)
        fail_msg("%s", error.text);
    buffer_add_byte(to, 0);
    ctf_description_free(&description);
}

static const char source[] =
    "trace { major = 1; minor = 1; alignment = natural; word_size = 32; clock_freq = 1000; "
    "clock_offset_s = 5; }\n"
    "env { host = \"a \\\"b\\\"\"; low = -5; word = bare; }\n"
    "type big { parent = uint16_t; byte_order = be; base = 16; }\n"
    "type color { parent = enum; size = 8; signed = true; map = { { -1, none }, { 0, \"light "
    "\\\"red\\\"\" } }; }\n"
    "type pair { parent = struct; align = 64; fields = { { big, a }, { color, \"the color\" } }; "
    "}\n"
    "section { name = one; event { header_type = type1; context { event_size = true; } } }\n"
    "section { name = \"t.wo\"; event { header_type = type2; context { context_type = pair; } } }\n"
    "event { name = first; id = 3; section = one; fields = type { parent = struct; fields = { { "
    "pair, p },\n"
    "  { type { parent = array; length = 2; elem_type = big; }, l }, { uint64_t, u }, { string, s "
    "},\n"
    "  { type { parent = sequence; length_type = uint8_t; elem_type = type { parent = string; "
    "encoding = ASCII; }; }, q },\n"
    "  { type { parent = gcc_bitfield; size = 3; unit_size = 32; }, b } }; }; }\n"
    "event { name = \"se:cond\"; id = 4; section = one; }\n"
    "event { name = third; id = 0; section = \"t.wo\"; fields = pair; }\n";

static const char printed[] =
    "/* Common Trace Format, RFC v1.1 */\n"
    "trace {\n    major = 1;\n    minor = 1;\n    alignment = natural;\n    word_size = 32;\n    "
    "clock_freq = 1000;\n"
    "    clock_offset_s = 5;\n    clock_offset = 0;\n}\n"
    "env {\n    host = \"a \\\"b\\\"\";\n    low = -5;\n    word = \"bare\";\n}\n"
    "section {\n    name = one;\n    event {\n        header_type = type1;\n        context {\n    "
    "        event_size = true;\n        }\n    }\n}\n"
    "type big { parent = integer; size = 16; signed = false; align = 16; byte_order = be; base = "
    "16; }\n"
    "type color { parent = enum; size = 8; signed = true; align = 8; map = { { -1, none }, { 0, "
    "\"light \\\"red\\\"\" }, }; }\n"
    "type pair { parent = struct; align = 64; fields = {\n    { big, a },\n    { color, \"the "
    "color\" },\n}; }\n"
    "type uint64_t { parent = integer; size = 64; signed = false; align = 32; }\n"
    "type uint8_t { parent = integer; size = 8; signed = false; align = 8; }\n"
    "event {\n    name = first;\n    id = 3;\n    section = one;\n    fields = type { parent = "
    "struct; fields = {\n"
    "        { pair, p },\n"
    "        { type { parent = array; length = 2; elem_type = big; }, l },\n"
    "        { uint64_t, u },\n"
    "        { type { parent = string; encoding = UTF8; }, s },\n"
    "        { type { parent = sequence; length_type = uint8_t; elem_type = type { parent = "
    "string; encoding = ASCII; }; }, q },\n"
    "        { type { parent = gcc_bitfield; size = 3; signed = false; align = 1; unit_size = 32; "
    "}, b },\n"
    "    }; };\n}\n"
    "event {\n    name = \"se:cond\";\n    id = 4;\n    section = one;\n}\n"
    "section {\n    name = \"t.wo\";\n    event {\n        header_type = type2;\n        context "
    "{\n            event_size = false;\n"
    "            context_type = pair;\n        }\n    }\n}\n"
    "event {\n    name = third;\n    id = 0;\n    section = \"t.wo\";\n    fields = pair;\n}\n";

static void printed_description_is_complete(void **state)
{
    (void)state;
    struct buffer text, again;
    parse_and_print(false, source, &text);
    assert_string_equal((const char *)text.bytes, printed);
    parse_and_print(false, (const char *)text.bytes, &again);
    assert_string_equal((const char *)again.bytes, printed);
    buffer_free(&text);
    buffer_free(&again);
}

static void offset_without_epoch_prints_clock_absolute(void **state)
{
    struct buffer text, again;
    (void)state;
    parse_and_print(false,
                    "trace { major = 1; minor = 1; clock_absolute = false; clock_offset = 3; "
                    "clock_offset_s = -5; }"
                    "section { name = s; event { header_type = type2; } }",
                    &text);
    assert_non_null(
        strstr((const char *)text.bytes,
               "    clock_offset_s = -5;\n    clock_offset = 3;\n    clock_absolute = false;\n"));
    parse_and_print(false, (const char *)text.bytes, &again);
    assert_string_equal((const char *)again.bytes, (const char *)text.bytes);
    buffer_free(&text);
    buffer_free(&again);
}

static void discarded_at_end_is_printed(void **state)
{
    struct buffer text, again;
    (void)state;
    parse_and_print(false,
                    "trace { major = 1; minor = 1; discarded_at_end = false; } section { name = s; "
                    "event { header_type = type2; } }",
                    &text);
    assert_null(strstr((const char *)text.bytes, "discarded_at_end"));
    buffer_free(&text);
    parse_and_print(false,
                    "trace { major = 1; minor = 1; discarded_at_end = true; } section { name = s; "
                    "event { header_type = type2; } }",
                    &text);
    assert_non_null(strstr((const char *)text.bytes, "    discarded_at_end = true;\n"));
    parse_and_print(false, (const char *)text.bytes, &again);
    assert_string_equal((const char *)again.bytes, (const char *)text.bytes);
    buffer_free(&text);
    buffer_free(&again);
}

static void foreign_byte_order_is_printed(void **state)
{
    (void)state;
    struct buffer text;
    parse_and_print(true, source, &text);
    assert_non_null(
        strstr((const char *)text.bytes,
               "type big { parent = integer; size = 16; signed = false; align = 16; base = 16; }"));
    buffer_free(&text);
    parse_and_print(
        true,
        "trace { major = 1; minor = 1; } section { name = a; event { header_type = type1; } }"
        "event { fields = { { type { parent = uint8_t; byte_order = le; }, x } }; }",
        &text);
    assert_non_null(strstr((const char *)text.bytes, "byte_order = le;"));
    assert_non_null(strstr((const char *)text.bytes, "alignment = packed;"));
    buffer_free(&text);
}

static void printed_extensions_parse_to_equal_description(void **state)
{
    static const char *const parts[] = {
        "    uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";\n",
        "    clock_name = c;\n    clock_description = \"Made up\";\n    clock_uuid = "
        "\"11111111-2222-3333-4444-555555555555\";\n    clock_precision = 3;\n",
        "    name = s;\n    id = 9;\n    event {\n        header_type = type2;\n        timestamps "
        "= false;\n",
        "    loglevel = -3;\n    emf_uri = \"http://e\";\n    context_fields = 1;\n",
        "parent = integer; size = 32; signed = false; align = 8; float = true;",
        "length_type = uint8_t; length_field = n; elem_type = uint8_t;",
    };
    struct buffer text, again;
    (void)state;
    parse_and_print(
        false,
        "trace { major = 1; minor = 1; uuid = \"2a6422d06cee11e08c08cb07d7b3a564\"; clock_name = "
        "c; clock_description = \"Made up\";"
        "clock_uuid = \"11111111-2222-3333-4444-555555555555\"; clock_precision = 3; }"
        "section { name = s; id = 9; event { header_type = type2; timestamps = false; } }"
        "event { name = e; loglevel = -3; emf_uri = \"http://e\"; context_fields = 1; fields = {"
        "{ type { parent = integer; size = 32; align = 8; float = true; }, x }, { uint8_t, n },"
        "{ type { parent = sequence; length_type = uint8_t; length_field = n; elem_type = uint8_t; "
        "}, b } }; }",
        &text);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_non_null(strstr((const char *)text.bytes, parts[i]));
    parse_and_print(false, (const char *)text.bytes, &again);
    assert_string_equal((const char *)again.bytes, (const char *)text.bytes);
    buffer_free(&text);
    buffer_free(&again);
}

/* A description with one event of one field, which tests modify. */
struct model {
    struct ctf_description description;
    struct ctf_stream_class *stream;
    struct ctf_event_class *event;
    struct type field, inner, payload;
    struct type_member member;
    struct type_label label;
    struct type_labels labels;
    struct type_range range;
};

static void begin(struct model *m)
{
    *m = (struct model){.field = {.kind = TYPE_UINT, .bits = 8, .align = 3},
                        .inner = {.kind = TYPE_UINT, .bits = 8, .align = 3}};
    ctf_description_init(&m->description, alloc_default());
    m->description.version = CTF_RFC_1_1;
    m->stream = ctf_add_stream(&m->description);
    m->event = ctf_add_event(&m->description, m->stream, 0);
    m->stream->name = (ttr_text){"s", 1};
    m->stream->rfc_header = 2;
    m->event->name = (ttr_text){"e", 1};
    m->event->payload = &m->payload;
    m->member = (struct type_member){.name = {"f", 1}, .shown = {"f", 1}, .type = &m->field};
    m->payload =
        (struct type){.kind = TYPE_STRUCT, .members = &m->member, .members_n = 1, .align = 3};
    m->label = (struct type_label){.name = {"l", 1}, .ranges = &m->range, .ranges_n = 1};
    m->labels = (struct type_labels){.label = &m->label, .n = 1};
}

static void finish(struct model *m, const char *words)
{
    struct buffer to;
    ttr_error error = {.text = ""};
    buffer_init(&to, alloc_default());
    ttr_status status = rfc11_print(&m->description, &to, &error);
    if (words && (status != TTR_E_UNSUPPORTED || !strstr(error.text, words)))
        fail_msg("expected %s: %s", words, error.text);
    if (!words && status != TTR_OK)
        fail_msg("%s", error.text);
    buffer_free(&to);
    ctf_description_free(&m->description);
}

static void inexpressible_in_rfc11_is_refused_with_position(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {TYPE_NONE,  TYPE_BITS,     TYPE_BOOL,    TYPE_FLAGS,
                                    TYPE_FLOAT, TYPE_VAR_UINT, TYPE_VAR_INT, TYPE_TEXT,
                                    TYPE_BLOB,  TYPE_OPTIONAL, TYPE_VARIANT, TYPE_KIND_COUNT};
    struct model m;
    for (size_t i = 0; i < sizeof kinds; i++) {
        begin(&m);
        m.field.kind = kinds[i];
        finish(&m, ", in section s, event e, field f");
    }
    begin(&m);
    finish(&m, NULL);
    begin(&m);
    m.field.kind = TYPE_FLOAT;
    finish(&m, "no floating-point numbers of other sizes");
    begin(&m);
    m.field.bits = 65;
    finish(&m, "more than 64 bits");
    begin(&m);
    m.field.is_reversed = true;
    finish(&m, "reversed bits");
    begin(&m);
    m.field.role = CTF_ROLE_TIME;
    finish(&m, "with a role");
    begin(&m);
    m.field = (struct type){.kind = TYPE_SEQUENCE, .element = &m.inner};
    finish(&m, "in another field");
    begin(&m);
    m.field = (struct type){.kind = TYPE_ARRAY, .element = &m.inner};
    m.inner.kind = TYPE_FLOAT;
    finish(&m, "no floating-point numbers of other sizes than 32 and 64 bits, in section s, event "
               "e, field f");
    begin(&m);
    m.field = (struct type){.kind = TYPE_STRING, .bits = 16, .encoding = ENCODING_UTF16LE};
    finish(&m, "encoding");
    begin(&m);
    m.event->context = &m.payload;
    finish(&m, "contexts of single events");
    begin(&m);
    m.event->id = UINT64_C(1) << 32;
    finish(&m, "32 bits");
    begin(&m);
    m.stream->packet_context = &m.payload;
    finish(&m, "packet contexts");
    begin(&m);
    m.stream->rfc_header = 0;
    finish(&m, "event headers");
    begin(&m);
    m.stream->name.n = 0;
    finish(&m, "sections without a name");
    begin(&m);
    m.stream->clock = ctf_add_clock(&m.description);
    ctf_add_stream(&m.description);
    m.description.streams[1]->clock = ctf_add_clock(&m.description);
    finish(&m, "second clock");
}

static void ranges_are_printed_value_by_value(void **state)
{
    (void)state;
    struct model m;
    struct buffer to;
    begin(&m);
    m.field.labels = &m.labels;
    m.range = (struct type_range){.low = 3, .high = 5};
    buffer_init(&to, alloc_default());
    assert_int_equal(rfc11_print(&m.description, &to, NULL), TTR_OK);
    buffer_add_byte(&to, 0);
    assert_non_null(strstr((const char *)to.bytes, "map = { { 3, l }, { 4, l }, { 5, l }, };"));
    buffer_free(&to);
    m.range.high = UINT64_MAX;
    finish(&m, "ranges");
}

static void types_of_equal_name_stay_distinct(void **state)
{
    (void)state;
    struct model m;
    struct buffer to;
    struct type_member members[3];
    begin(&m);
    m.field.name = m.inner.name = (ttr_text){"byte", 4};
    m.inner.bits = 7;
    for (int i = 0; i < 3; i++)
        members[i] =
            (struct type_member){.name = {&"abc"[i], 1}, .type = i == 1 ? &m.inner : &m.field};
    m.payload.members = members;
    m.payload.members_n = 3;
    buffer_init(&to, alloc_default());
    assert_int_equal(rfc11_print(&m.description, &to, NULL), TTR_OK);
    buffer_add_byte(&to, 0);
    assert_non_null(strstr((const char *)to.bytes, "type byte { parent = integer; size = 8;"));
    assert_non_null(strstr((const char *)to.bytes,
                           "{ byte, a },\n        { type { parent = integer; size = 7;"));
    assert_non_null(strstr((const char *)to.bytes, "{ byte, c },"));
    buffer_free(&to);
    finish(&m, NULL);
}

static bool print_all(const struct alloc *alloc)
{
    struct ctf_description description;
    struct buffer to;
    ctf_description_init(&description, alloc_default());
    parse(&description, source, sizeof source - 1);
    buffer_init(&to, alloc);
    ttr_status status = rfc11_print(&description, &to, NULL);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    buffer_free(&to);
    ctf_description_free(&description);
    return status == TTR_OK;
}

static void each_failing_allocation_is_reported_without_leak(void **state)
{
    (void)state;
    support_fail_each(print_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_description_is_complete),
        cmocka_unit_test(offset_without_epoch_prints_clock_absolute),
        cmocka_unit_test(discarded_at_end_is_printed),
        cmocka_unit_test(foreign_byte_order_is_printed),
        cmocka_unit_test(printed_extensions_parse_to_equal_description),
        cmocka_unit_test(inexpressible_in_rfc11_is_refused_with_position),
        cmocka_unit_test(ranges_are_printed_value_by_value),
        cmocka_unit_test(types_of_equal_name_stay_distinct),
        cmocka_unit_test(each_failing_allocation_is_reported_without_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
