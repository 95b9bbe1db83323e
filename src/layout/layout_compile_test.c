/* Tests of the layout compiler: refused declarations, fixed sizes, imports, failures at run time.
 */
#include <stdio.h>

#include "support/layout_test.h"

static void invalid_declaration_fails_with_field_and_reason(void **state)
{
    (void)state;
    static const struct {
        const char *type, *wanted;
    } cases[] = {
        {"a:{d:T(p.n)} n:u8", "payload.a.d: its length is payload.n, which is not before it"},
        {"d:T(p.d)", "payload.d: its length is payload.d, which is not before it"},
        {"d:T(p.x.y)", "payload.d: its length is payload.x.y, which is not before it"},
        {"d:T(c.n)",
         "payload.d: its length is common context.n, but the record has no common context"},
        {"n:i8 d:[p.n]u8",
         "payload.d: its length is payload.n, which is signed; it must be unsigned"},
        {"n:I d:B(p.n)",
         "payload.d: its length is payload.n, which is signed; it must be unsigned"},
        {"n:u72 d:[p.n]u8", "payload.d: its length is payload.n, which has more than 64 bits"},
        {"n:t8 d:[p.n]u8", "payload.d: its length is payload.n, which is true or false; it must be "
                           "an unsigned number"},
        {"n:s d:[p.n]u8", "payload.d: its length is payload.n, which is not a number"},
        {"n:f32 d:[p.n]u8", "payload.d: its length is payload.n, which is not a number"},
        {"n:{x:u8} d:[p.n]u8", "payload.d: its length is payload.n, which is not a number"},
        {"n:s o:?p.n:u8", "payload.o: its selector is payload.n, which is not a number"},
        {"f:u8 v:|p.f(a=0:u8,b=1:s) d:T(p.v)",
         "payload.d: its length is payload.v, which is not a number"},
        {"x:u8 a:u4 b:u4>",
         "payload.b: it starts inside a byte that also has bits of the opposite byte order"},
        {"a:u0", "payload.a: a number of 0 bits"},
        {"a:[:i8]u8",
         "payload.a: the length of a sequence must be an unsigned number of at most 64 bits"},
        {"a:[:u65]u8",
         "payload.a: the length of a sequence must be an unsigned number of at most 64 bits"},
        {"a:u8@65536", "payload: an alignment of 2^16 bits exceeds the maximum of 2^15"},
        {"a:T1152921504606846976 b:u8", "payload.a: it is larger than 2^60 bits"},
        {"a:[4294967295][4294967295]u8 b:[4294967295][4294967295]u8", ""},
        {"a:[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]s",
         "payload.a: arrays nest deeper than 16 levels"},
    };
    struct table table;
    table_open(&table);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct layout_spec spec = {.root[ROOT_PAYLOAD] = type_of_text(&table.arena, cases[i].type)};
        bool is_good = table_compile(&table, &spec);
        if (is_good != (cases[i].wanted[0] == 0))
            fail_msg("%s: %s", cases[i].type, is_good ? "was taken" : table.error.text);
        if (!is_good)
            assert_string_equal(table.error.text, cases[i].wanted);
        assert_int_equal(is_good ? TTR_OK : table.error.status, is_good ? TTR_OK : TTR_E_MALFORMED);
    }
    table_close(&table);
}

static void exponential_declaration_exceeds_limit(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    /* A struct of two structs of two structs ...: 33 types, 2^32 fields. */
    static struct type types[34];
    static struct type_member members[34][2];
    types[0] = (struct type){.kind = TYPE_UINT, .bits = 8, .align = 3};
    for (int i = 1; i < 34; i++) {
        members[i][0] = (struct type_member){.name = {"a", 1}, .type = &types[i - 1]};
        members[i][1] = (struct type_member){.name = {"b", 1}, .type = &types[i - 1]};
        types[i] =
            (struct type){.kind = TYPE_STRUCT, .align = 3, .members = members[i], .members_n = 2};
    }
    struct layout_spec wide = {.root[ROOT_PAYLOAD] = &types[30]},
                       deep = {.root[ROOT_PAYLOAD] = &types[33]};
    assert_false(table_compile(&table, &wide));
    assert_non_null(strstr(table.error.text, "too many fields"));
    members[33][1] = members[33][0];
    for (int i = 2; i < 34; i++)
        types[i].members_n = 1;
    assert_false(table_compile(&table, &deep));
    assert_non_null(strstr(table.error.text, "nest deeper than 32 levels"));
    /* 2^17 fields can be visited, but exceed the steps of a program. */
    for (int i = 2; i < 34; i++)
        types[i].members_n = 2;
    struct layout_spec long_one = {.root[ROOT_PAYLOAD] = &types[17], .shows_hidden = true};
    assert_false(table_compile(&table, &long_one));
    assert_non_null(strstr(table.error.text, "more than 65536 fields"));
    table_close(&table);
}

static void references_up_to_limit_compile(void **state)
{
    (void)state;
    enum {
        GROUP = 200
    }; /* split into structs, because the test syntax allows 512 members per struct */
    static char text[1025 * 32];
    for (int n = 1024; n <= 1025; n++) {
        struct table table;
        size_t at = 0;
        table_open(&table);
        for (int i = 0; i < n; i++) {
            const bool is_first = i % GROUP == 0, is_last = i % GROUP == GROUP - 1 || i == n - 1;
            if (is_first)
                at += (size_t)snprintf(text + at, sizeof text - at, "g%d:{", i / GROUP);
            at += (size_t)snprintf(text + at, sizeof text - at, "n%d:u8 d%d:T(p.g%d.n%d)%s ", i, i,
                                   i / GROUP, i, is_last ? "}" : "");
        }
        struct layout_spec spec = {.root[ROOT_PAYLOAD] = type_of_text(&table.arena, text)};
        const bool is_fine = table_compile(&table, &spec);
        assert_int_equal(is_fine, n == 1024);
        if (!is_fine)
            assert_non_null(strstr(table.error.text, "more than 1024 lengths and selectors"));
        table_close(&table);
    }
}

static void slot_after_last_use_is_reused(void **state)
{
    (void)state;
    struct table table;
    char text[4000] = "", more[4000] = "";
    table_open(&table);
    for (int i = 0; i < 40; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "n%d:u8 d%d:T(p.n%d) ", i,
                       i, i);
    table_payload(&table, text);
    for (int i = 0; i < 25; i++)
        (void)snprintf(more + strlen(more), sizeof more - strlen(more), "n%d:u8 ", i);
    for (int i = 0; i < 25; i++)
        (void)snprintf(more + strlen(more), sizeof more - strlen(more), "d%d:T(p.n%d) ", i, i);
    struct layout_spec spec = {.root[ROOT_PAYLOAD] = type_of_text(&table.arena, more)};
    assert_false(table_compile(&table, &spec));
    assert_non_null(strstr(table.error.text, "more than 24 lengths and selectors"));
    /* A number used inside a loop keeps its slot to the end of the loop. */
    table_payload(&table, "n:u8 m:u8 a:[p.m]{x:T(p.n) k:u8 y:T(p.a.k)}");
    table_expect(&table, 0, "01 02 61 02 6263 64 03 656667", 88,
                 "n=1 m=2 a=[2] .{3} ..x='a' ..k=2 ..y='bc' .{3} ..x='d' ..k=3 ..y='efg'");
    table_close(&table);
}

/* --- Imports --- */

static void numbers_of_outer_roots_become_imports(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    const struct type *context =
        type_of_text(&table.arena, "a:[2]{n:u8} f:t8 o:?k.f:{m:u16} i:i8 cpu:u8^1");
    struct layout_spec outer = {.root[ROOT_PACKET_CONTEXT] = context};
    assert_true(table_compile(&table, &outer));
    const struct layout *packet = table.layout;
    struct layout_spec spec = {.root[ROOT_PAYLOAD] =
                                   type_of_text(&table.arena, "d:T(k.a.n) e:B(k.o.m) f:T(k.cpu)"),
                               .outer[ROOT_PACKET_CONTEXT] = context};
    assert_true(table_compile(&table, &spec));
    uint32_t n;
    const struct layout_import *imports = layout_imports(table.layout, &n);
    assert_int_equal(n, 3);
    static const uint8_t bytes[] = {7, 2, 1, 3, 0, 0xff, 1, 'x', 'y', 1, 2, 3, 'z'},
                         without[] = {7, 2, 0, 0xff, 1};
    struct layout_cursor run = {.bits = bits_init(bytes, 0, 56)};
    struct layout_cursor event = {.bits = bits_init(bytes, 56, 104)};
    for (uint32_t i = 0; i < n; i++)
        assert_true(layout_evaluate_reference(packet, &run, &imports[i].from,
                                              &event.slots[imports[i].slot]));
    struct text text;
    assert_int_equal(table_dump(&table, &event, &text), LAYOUT_OK);
    assert_string_equal(text.p, "d='xy' e=<010203> f='z'");
    /* Without the optional, one import has no value. */
    struct layout_cursor shorter = {.bits = bits_init(without, 0, 40)};
    uint64_t value = 0;
    struct type_reference m = reference_of_text(&table.arena, "k.o.m"),
                          i = reference_of_text(&table.arena, "k.i");
    assert_false(layout_evaluate_reference(packet, &shorter, &m, &value));
    assert_true(layout_evaluate_reference(packet, &shorter, &i, &value));
    assert_true(value == UINT64_MAX);
    struct type_reference wrong = reference_of_text(&table.arena, "k.a"),
                          other = reference_of_text(&table.arena, "p.i");
    assert_false(layout_evaluate_reference(packet, &shorter, &wrong, &value) ||
                 layout_evaluate_reference(packet, &shorter, &other, &value));
    table_close(&table);
}

static void roots_decode_in_stored_order_with_their_group(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    struct layout_spec spec = {
        .root[ROOT_COMMON_CONTEXT] = type_of_text(&table.arena, "n:u8"),
        .root[ROOT_SPECIFIC_CONTEXT] = type_of_text(&table.arena, "x:u32@32"),
        .root[ROOT_PAYLOAD] = type_of_text(&table.arena, "d:[c.n]u8 y:u16@16")};
    assert_true(table_compile(&table, &spec));
    static const uint8_t bytes[] = {2, 0, 0, 0, 5, 0, 0, 0, 7, 8, 9, 0};
    struct layout_cursor run = {.bits = bits_init(bytes, 0, 96)};
    struct text text;
    assert_int_equal(table_dump(&table, &run, &text), LAYOUT_OK);
    assert_string_equal(text.p, "n=2 x=5 d=[2] .7 .8 y=9");
    struct layout_iter iter;
    ttr_field field;
    const struct type *type;
    static const uint8_t groups[] = {TTR_GROUP_COMMON,  TTR_GROUP_CONTEXT, TTR_GROUP_PAYLOAD,
                                     TTR_GROUP_PAYLOAD, TTR_GROUP_PAYLOAD, TTR_GROUP_PAYLOAD};
    layout_iter_begin(&iter, table.layout, &run.bits, NULL);
    for (size_t i = 0; i < 6; i++) {
        assert_true(layout_iter_next(&iter, &field, &type));
        assert_int_equal(field.group, groups[i]);
    }
    table_close(&table);
}

/* --- Sizes and positions known at compile time --- */

static uint64_t fixed_bits(struct table *table, const char *text)
{
    table_payload(table, text);
    return layout_fixed_record_bits(table->layout);
}

static void fixed_size_record_has_known_size_and_member_offsets(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    assert_int_equal(fixed_bits(&table, "a:u8 b:u32 c:[4]{x:u8 y:u16} d:T16"), 264);
    assert_int_equal(fixed_bits(&table, "a:u5 b:u27"), 32);
    assert_int_equal(fixed_bits(&table, "a:u8 b:u32@32"), 0);
    assert_int_equal(fixed_bits(&table, "a:u8 s:s"), 0);
    assert_int_equal(fixed_bits(&table, "n:u8 a:[p.n]u8"), 0);
    struct layout_spec spec = {
        .root[ROOT_COMMON_CONTEXT] = type_of_text(&table.arena, "tid:u32 name:T16"),
        .root[ROOT_PAYLOAD] = type_of_text(&table.arena, "a:u3 b:u8 s:s c:u8")};
    assert_true(table_compile(&table, &spec));
    struct layout_member_position spot;
    assert_true(
        layout_locate_member(table.layout, ROOT_COMMON_CONTEXT, (ttr_text){"name", 4}, &spot));
    assert_true(spot.bit == 32 && spot.type->kind == TYPE_TEXT);
    assert_true(layout_locate_member(table.layout, ROOT_PAYLOAD, (ttr_text){"b", 1}, &spot));
    assert_true(spot.bit == 168 && spot.type->bits == 8);
    assert_true(layout_locate_member(table.layout, ROOT_PAYLOAD, (ttr_text){"s", 1}, &spot));
    assert_int_equal(spot.bit, 176);
    assert_false(layout_locate_member(table.layout, ROOT_PAYLOAD, (ttr_text){"c", 1}, &spot));
    assert_false(layout_locate_member(table.layout, ROOT_PAYLOAD, (ttr_text){"tid", 3}, &spot));
    assert_false(
        layout_locate_member(table.layout, ROOT_SPECIFIC_CONTEXT, (ttr_text){"tid", 3}, &spot));
    table_payload(&table, "a:u8 b:u32@32");
    assert_false(layout_locate_member(table.layout, ROOT_PAYLOAD, (ttr_text){"a", 1}, &spot));
    table_close(&table);
}

static void members_with_role_are_hidden_by_default(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    static const char type[] =
        "id:u8^3 v:|p.id(a=0..9:{t:u16^5},b=10:{t:u16^5 x:u8}) n:u8^2 l:[2]u8^5 d:T(p.n)";
    table_payload(&table, type);
    table_expect(&table, 0, "01 0302 02 0506 6162", 64, "v={0} d='ab'");
    table_expect(&table, 0, "0a 0302 07 02 0506 6162", 72, "v={1} .x=7 d='ab'");
    /* A struct with only hidden members is hidden, too. */
    table_payload(&table, "id:u8^3 v:|p.id(a=0..9:{t:u16^5},b=10:{t:u8^5}) n:u8");
    table_expect(&table, 0, "01 0302 07", 32, "n=7");
    table_expect(&table, 0, "0a 03 07", 24, "n=7");
    struct layout_spec spec = {.root[ROOT_PAYLOAD] = type_of_text(&table.arena, type),
                               .shown_roles = 1 << 2};
    assert_true(table_compile(&table, &spec));
    table_expect(&table, 0, "01 0302 02 0506 6162", 64, "v={0} n=2 d='ab'");
    uint64_t value;
    static const uint8_t bytes[] = {1, 3, 2, 2, 5, 6, 'a', 'b'};
    struct layout_cursor run = {.bits = bits_init(bytes, 0, 64)};
    struct type_reference t = reference_of_text(&table.arena, "p.v.t");
    assert_true(layout_evaluate_reference(table.layout, &run, &t, &value) && value == 0x203);
    spec.shows_hidden = true;
    assert_true(table_compile(&table, &spec));
    table_expect(&table, 0, "01 0302 02 0506 6162", 64, "id=1 v={1} .t=515 n=2 l=[2] .5 .6 d='ab'");
    table_close(&table);
}

/* --- Invalid records --- */

static void byte_order_change_inside_byte_fails(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    table_payload(&table, "n:u8 a:[p.n]u4 b:u4>");
    table_expect(&table, 0, "02 21 30", UINT64_MAX, "n=2 a=[2] .1 .2 b=3");
    table_expect(&table, 0, "01 01 30", UINT64_MAX, "n=1 a=[1] .1 misplaced");
    table_payload(&table, "x:u8 a:u4> b:[3]u3");
    table_expect(&table, 0, "02 21 30", UINT64_MAX, "x=2 a=2 b=[3] misplaced");
    table_payload(&table, "f:u8 o:?p.f:u4> b:u4");
    table_expect(&table, 0, "00 03", UINT64_MAX, "f=0 o=absent b=3");
    table_expect(&table, 0, "01 03", UINT64_MAX, "f=1 o=0 misplaced");
    table_payload(&table, "f:u8 v:|p.f(a=0:u3,b=1:u5,c=2:u3>) b:u3");
    table_expect(&table, 0, "00 15", UINT64_MAX, "f=0 v=5 b=2");
    table_expect(&table, 0, "01 55", UINT64_MAX, "f=1 v=21 b=2");
    table_expect(&table, 0, "02 55", UINT64_MAX, "f=2 v=2 misplaced");
    table_close(&table);
}

static void elements_without_bits_exceed_limit(void **state)
{
    (void)state;
    static const struct {
        const char *type, *hex;
        enum layout_status end;
    } cases[] = {
        {"a:[65537]{}", "00", LAYOUT_OUT_OF_RANGE},
        {"n:u32 a:[p.n]{}", "01000100", LAYOUT_OUT_OF_RANGE},
        {"n:u32 a:[p.n]{}", "ffffffff", LAYOUT_OUT_OF_RANGE},
        {"n:u32 m:u8 a:[p.n][p.m]{}", "0080000001", LAYOUT_OK},
        {"n:u32 m:u8 a:[p.n][p.m]{}", "0180000001", LAYOUT_OUT_OF_RANGE},
        {"a:[256][256]{}", "00", LAYOUT_OUT_OF_RANGE},
        {"n:u16 a:[:u32]{o:?p.n:u8}", "000001000100", LAYOUT_OUT_OF_RANGE},
        {"n:u64 a:[p.n]u8", "0000000001000000", LAYOUT_OUT_OF_RANGE},
        {"n:u64 a:[p.n]u8", "ffffffff00000000", LAYOUT_TRUNCATED},
        {"n:u64 a:[p.n]s", "ffffffffffffffff", LAYOUT_OUT_OF_RANGE},
        {"n:u64 a:T(p.n)", "ffffffffffffffff", LAYOUT_OUT_OF_RANGE},
        {"n:U a:T(p.n)", "ffffffffffffffffffff01", LAYOUT_OUT_OF_RANGE},
        {"a:[4294967296]u8", "00", LAYOUT_OUT_OF_RANGE},
        {"a:[4294967295][4294967295][4294967295]u8", "00", LAYOUT_TRUNCATED},
    };
    struct table table;
    struct text text;
    table_open(&table);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[64];
        struct layout_cursor run = {
            .bits =
                bits_init(bytes, 0, 8 * (uint64_t)support_hex(bytes, sizeof bytes, cases[i].hex))};
        table_payload(&table, cases[i].type);
        enum layout_status end = table_dump(&table, &run, &text);
        if (end != cases[i].end)
            fail_msg("%s: %s", cases[i].type, end_text(end));
    }
    table_close(&table);
}

static void failed_record_reports_member_and_number(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    table_payload(&table, "f:u8 v:|p.f(a=0:u8,b=1:s) d:s");
    static const uint8_t bytes[] = {7, 0, 1};
    struct layout_cursor run = {.bits = bits_init(bytes, 0, 24)};
    assert_int_equal(layout_find_record_end(table.layout, &run), LAYOUT_NO_OPTION);
    assert_int_equal(run.value, 7);
    support_assert_text(run.member->name.p, run.member->name.n, "v");
    run = (struct layout_cursor){.bits = bits_init(bytes + 1, 0, 16)};
    assert_int_equal(layout_find_record_end(table.layout, &run), LAYOUT_TRUNCATED);
    support_assert_text(run.member->name.p, run.member->name.n, "d");
    table_close(&table);
}

/* --- Events --- */

static void place(const struct layout_schema *schema, const ttr_event *event,
                  struct layout_cursor *run)
{
    (void)schema;
    run->bits = bits_init(event->payload, 0, event->payload_size * UINT64_C(8));
}

static void event_fields_have_labels_and_names(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    table_payload(&table, "_a:u8=A=1..5,B=3,C=3..6; f:g8=X=0,Y=1..2; b:u8");
    struct layout_schema schema = {.layout = table.layout, .place = place};
    const struct schema known = {.ops = &layout_field_ops, .ctx = &schema};
    static const uint8_t bytes[] = {3, 5, 7};
    ttr_event event = {
        .payload = bytes, .payload_size = 3, .schema = context_add_schema(table.t, &known)};
    ttr_fields fields;
    ttr_field field;
    ttr_text label;
    ttr_fields_begin(table.t, &event, &fields);
    assert_true(ttr_fields_next(&fields, &field));
    support_assert_text(field.name.p, field.name.n, "a");
    assert_int_equal(field.name_id, ttr_text_find(table.t, "a", 1));
    assert_int_equal(field.value.count, 3);
    support_assert_text(field.value.text.p, field.value.text.n, "A");
    assert_true(ttr_fields_label(&fields, &field.value, 1, &label));
    support_assert_text(label.p, label.n, "B");
    assert_true(ttr_fields_label(&fields, &field.value, 2, &label));
    support_assert_text(label.p, label.n, "C");
    assert_false(ttr_fields_label(&fields, &field.value, 3, &label));
    assert_true(ttr_fields_next(&fields, &field));
    assert_true(ttr_fields_label(&fields, &field.value, 1, &label));
    support_assert_text(label.p, label.n, "Y");
    assert_true(ttr_fields_next(&fields, &field));
    assert_false(ttr_fields_label(&fields, &field.value, 0, &label));
    assert_false(ttr_fields_next(&fields, &field));
    assert_false(ttr_fields_next(&fields, &field));
    assert_true(ttr_field_find(table.t, &event, "b", &field) && field.value.v.u == 7);
    schema.layout = NULL;
    ttr_fields_begin(table.t, &event, &fields);
    assert_false(ttr_fields_next(&fields, &field));
    table_close(&table);
}

static void converted_values_without_scratch_become_bytes(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    table_payload(&table, "a:S16 b:u128 c:U");
    static const uint8_t bytes[] = {'h',  0,    0,    0,    1,    2,    3,    4,    5,  6,    7,
                                    8,    9,    10,   11,   12,   13,   14,   15,   16, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    struct bits bits = bits_init(bytes, 0, sizeof bytes * 8);
    struct layout_iter iter;
    ttr_field field;
    const struct type *type;
    layout_iter_begin(&iter, table.layout, &bits, NULL);
    static const size_t sizes[] = {2, 16, 11};
    for (size_t i = 0; i < 3; i++) {
        assert_true(layout_iter_next(&iter, &field, &type));
        assert_int_equal(field.value.type, TTR_TYPE_BYTES);
        assert_int_equal(field.value.text.n, sizes[i]);
    }
    assert_false(layout_iter_next(&iter, &field, &type));
    assert_int_equal(iter.end, LAYOUT_OK);
    table_close(&table);
}

/* --- Memory --- */

static bool compiles_with(const struct alloc *alloc)
{
    ttr_options options = {
        .size = sizeof options, .resize = alloc->resize, .user_data = alloc->ctx};
    struct arena types;
    arena_init(&types, alloc_default());
    const struct type *type =
        type_of_text(&types, "n:u8=A=1,B=2..3; a:[p.n]{k:u8 d:T(p.a.k)} v:|p.n(x=0..3:u8,y=4:s) "
                             "h:u8^1 g:g8=X=1; o:?p.n(3):u16");
    ttr *t = ttr_new(&options);
    bool is_good = false;
    if (t) {
        struct arena arena;
        arena_init(&arena, &t->counted);
        struct layout_spec spec = {.t = t, .arena = &arena, .root[ROOT_PAYLOAD] = type};
        ttr_error error = {.status = TTR_OK};
        is_good = layout_compile(&spec, &error) != NULL;
        assert_int_equal(error.status, is_good ? TTR_OK : TTR_E_NOMEM);
        arena_free(&arena);
        ttr_free(t);
    }
    arena_free(&types);
    return is_good;
}

static void failed_allocation_fails_compilation(void **state)
{
    (void)state;
    support_fail_each(compiles_with);
}

/* A value with several labels must be the last field of a call; a value with one label need not be.
 */
static void single_label_stays_valid_after_later_fields(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    table_payload(&table, "f:g8=X=0,Y=1..2; e:u8=A=5; b:u8");
    struct layout_schema schema = {.layout = table.layout, .place = place};
    const struct schema known = {.ops = &layout_field_ops, .ctx = &schema};
    static const uint8_t bytes[] = {4, 5, 7};
    ttr_event event = {
        .payload = bytes, .payload_size = 3, .schema = context_add_schema(table.t, &known)};
    ttr_field_buffer *buffer = ttr_field_buffer_new(table.t);
    const ttr_field *field;
    ttr_text label;
    assert_int_equal(ttr_event_fields(buffer, &event, &field), 3);
    assert_true(ttr_event_label(buffer, &field[0].value, 0, &label));
    support_assert_text(label.p, label.n, "Y");
    assert_true(ttr_event_label(buffer, &field[1].value, 0, &label));
    support_assert_text(label.p, label.n, "A");
    assert_false(ttr_event_label(buffer, &field[2].value, 0, &label));
    ttr_field_buffer_free(buffer);
    table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_declaration_fails_with_field_and_reason),
        cmocka_unit_test(exponential_declaration_exceeds_limit),
        cmocka_unit_test(references_up_to_limit_compile),
        cmocka_unit_test(slot_after_last_use_is_reused),
        cmocka_unit_test(numbers_of_outer_roots_become_imports),
        cmocka_unit_test(roots_decode_in_stored_order_with_their_group),
        cmocka_unit_test(fixed_size_record_has_known_size_and_member_offsets),
        cmocka_unit_test(members_with_role_are_hidden_by_default),
        cmocka_unit_test(byte_order_change_inside_byte_fails),
        cmocka_unit_test(elements_without_bits_exceed_limit),
        cmocka_unit_test(failed_record_reports_member_and_number),
        cmocka_unit_test(event_fields_have_labels_and_names),
        cmocka_unit_test(single_label_stays_valid_after_later_fields),
        cmocka_unit_test(converted_values_without_scratch_become_bytes),
        cmocka_unit_test(failed_allocation_fails_compilation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
