/* Expected lines are the output of babeltrace2 2.0 for the same fields. */
#include <math.h>
#include <stdio.h>

#include "model/context.h"
#include "model/type.h"
#include "support/support.h"
#include "support/writing.h"

static void open_with(struct writing *w, const char *const *options)
{
    writing_open(w, "babeltrace2", 0, options);
}

/* Fields of a scripted event: a schema that emits the given arrays. */
struct script {
    const ttr_field *packet, *field; /* arrays; the last element has no name */
};

static void script_begin(ttr_fields *fields)
{
    const struct script *script = fields->ctx;
    fields->state[0] = (uint64_t)(uintptr_t)script->field;
}

static void script_begin_group(ttr_fields *fields, ttr_group group)
{
    const struct script *script = fields->ctx;
    fields->state[0] =
        (uint64_t)(uintptr_t)(group == TTR_GROUP_PACKET ? script->packet : script->field + 1000);
}

static bool script_next(ttr_fields *fields, ttr_field *field)
{
    const ttr_field *at = (const ttr_field *)(uintptr_t)fields->state[0];
    if (!at || !at->name.p)
        return false;
    *field = *at;
    fields->state[0] = (uint64_t)(uintptr_t)(at + 1);
    return true;
}

static bool script_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                         ttr_text *label)
{
    (void)fields;
    *label = i == 0 ? value->text : (ttr_text){"more", 4};
    return true;
}

static const struct field_ops script_ops = {.begin = script_begin,
                                            .next = script_next,
                                            .begin_group = script_begin_group,
                                            .label = script_label};

static void write_script(struct writing *w, const struct script *script,
                         const struct event_class *event_class)
{
    ttr_event event = {
        .time = 1500000000, .name = ttr_text_add(w->t, "n", 1), .kind = TTR_KIND_INSTANT};
    event.schema = context_add_schema(
        w->t, &(struct schema){.ops = &script_ops, .ctx = script, .event_class = event_class});
    ttr_error error;
    assert_int_equal(ttr_write(w->writer, &(ttr_batch){.event = &event, .n = 1}, &error), TTR_OK);
}

#define NUMBER(field_name, fields_declared_type, x, field_base, field_bits) \
    {                                                                       \
        .name = {field_name, 1}, .value = {                                 \
            .type = fields_declared_type,                                   \
            .v.u = (uint64_t)(x),                                           \
            .base = field_base,                                             \
            .bits = field_bits                                              \
        }                                                                   \
    }

static void event_prints_line_with_fields_in_braces(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, (const char *const[]){"gmt=yes", NULL});
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 1650535872123456789, NULL, "ub:simple");
    ttr_add_int(w.builder, "i", -5);
    ttr_add_text(w.builder, "s", "it's \"q\" \\ ? \a\b\x1b\f\n\r\t\v\x01\x7f \xc3\xa4");
    ttr_add_bool(w.builder, "yes", true);
    ttr_add_null(w.builder, "none");
    ttr_add_bytes(w.builder, "raw", "\x00\xff", 2);
    writing_end(&w);
    writing_event(&w, TTR_KIND_INSTANT, 1650535872123458023, "empty");
    writing_event(&w, TTR_KIND_INSTANT, 1650535873000000000, "");
    writing_expect(&w, "[10:11:12.123456789] (+?.?\?\?\?\?\?\?\?\?) ub:simple: { i = -5, s = "
                       "\"it\\'s \\\"q\\\" \\\\ \\? \\a\\b\\e\\f\\n\\r\\t\\v\\x01\\x7f \xc3\xa4\", "
                       "yes = true, none = <none>, raw = { 00 ff } }\n"
                       "[10:11:12.123458023] (+0.000001234) empty: \n"
                       "[10:11:13.000000000] (+0.876541977) <unknown>: \n");
}

static void integer_prints_in_its_base(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, (const char *const[]){"time=seconds", "delta=no", NULL});
    static const ttr_field fields[] = {
        NUMBER("a", TTR_TYPE_UINT, 0xbeef, 16, 16),
        NUMBER("b", TTR_TYPE_INT, -2, 16, 5), /* prints the value rounded up to 8 bits */
        NUMBER("c", TTR_TYPE_INT, -1, 16, 64),
        NUMBER("d", TTR_TYPE_UINT, 8, 8, 32),
        NUMBER("e", TTR_TYPE_INT, -1, 8, 4), /* prints the value rounded up to 6 bits */
        NUMBER("f", TTR_TYPE_UINT, 5, 2, 4),
        NUMBER("g", TTR_TYPE_UINT, UINT64_MAX, 8, 64),
        NUMBER("h", TTR_TYPE_UINT, 0, 8, 8),
        NUMBER("i", TTR_TYPE_UINT, UINT64_MAX, 10, 64),
        {.depth = 0},
    };
    write_script(&w, &(struct script){.field = fields}, NULL);
    writing_expect(&w, "[1.500000000] n: { a = 0xBEEF, b = 0xFE, c = 0xFFFFFFFFFFFFFFFF, d = 010, "
                       "e = 077, f = 0b0101, "
                       "g = 01777777777777777777777, h = 00, i = 18446744073709551615 }\n");
}

static void empty_part_of_class_prints_empty_braces(void **state)
{
    static const ttr_field packet[] = {{.name = {"cpu_id", 6},
                                        .group = TTR_GROUP_PACKET,
                                        .value = {.type = TTR_TYPE_UINT, .v.u = 3}},
                                       {.depth = 0}};
    static const ttr_field fields[] = {
        {.name = {"vpid", 4}, .group = TTR_GROUP_COMMON, .value = {.type = TTR_TYPE_INT, .v.s = 9}},
        {.name = {"a", 1}, .value = {.type = TTR_TYPE_UINT, .v.u = 1}},
        {.depth = 0},
    };
    static const struct type something = {.kind = TYPE_STRUCT};
    static const struct event_class all = {
        .has_clock = true, .root = {NULL, &something, NULL, &something, &something, &something}};
    static const struct event_class some = {.root = {NULL, NULL, NULL, NULL, NULL, &something}};
    struct writing w;
    (void)state;
    open_with(&w, (const char *const[]){"time=seconds", "delta=no", NULL});
    struct script script = {packet, fields}, empty = {packet, fields + 2};
    assert_true(context_add_attribute(w.t, 0, "hostname",
                                      &(ttr_value){.type = TTR_TYPE_TEXT, .text = {"box", 3}}));
    assert_true(
        context_add_attribute(w.t, 0, "vpid", &(ttr_value){.type = TTR_TYPE_INT, .v.s = 77}));
    write_script(&w, &script, &all);
    write_script(&w, &empty, &all);
    write_script(&w, &empty, &some);
    writing_expect(&w, "[1.500000000] box:(77) n: { cpu_id = 3 }, { vpid = 9 }, { }, { a = 1 }\n"
                       "[1.500000000] box:(77) n: { cpu_id = 3 }, { }, { }, { }\n"
                       "box:(77) n: { }\n");
}

static void labels_and_variants_print_in_own_braces(void **state)
{
    static const ttr_field fields[] = {
        {.name = {"e", 1},
         .value = {.type = TTR_TYPE_UINT,
                   .hint = TTR_DISPLAY_ENUM,
                   .count = 1,
                   .text = {"ONE", 3},
                   .v.u = 1}},
        {.name = {"m", 1},
         .value = {.type = TTR_TYPE_INT,
                   .hint = TTR_DISPLAY_ENUM,
                   .count = 2,
                   .text = {"TWO", 3},
                   .v.s = -2}},
        {.name = {"u", 1},
         .value =
             {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_ENUM, .v.u = 7, .base = 16, .bits = 8}},
        {.name = {"v", 1}, .choices = 1, .value = {.type = TTR_TYPE_INT, .v.s = -10}},
        {.name = {"w", 1}, .choices = 2, .value = {.type = TTR_TYPE_STRUCT, .count = 1}},
        {.name = {"x", 1}, .depth = 1, .value = {.type = TTR_TYPE_BOOL}},
        {.name = {"o", 1},
         .choices = 1,
         .value = {.type = TTR_TYPE_NULL, .hint = TTR_DISPLAY_ABSENT}},
        {.name = {"f", 1},
         .value = {.type = TTR_TYPE_UINT,
                   .hint = TTR_DISPLAY_FLAGS,
                   .count = 2,
                   .text = {"less", 4},
                   .v.u = 0xa2}},
        {.name = {"g", 1},
         .value = {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_FLAGS, .v.u = 0x40}},
        {.name = {"h", 1},
         .value = {.type = TTR_TYPE_UINT,
                   .hint = TTR_DISPLAY_FLAGS,
                   .count = 2,
                   .text = {"zero", 4},
                   .v.u = 3}},
        {.name = {"b", 1}, .value = {.type = TTR_TYPE_BYTES, .text = {"Yo", 2}}},
        {.name = {"n", 1},
         .value = {.type = TTR_TYPE_TEXT,
                   .hint = TTR_DISPLAY_DECIMAL,
                   .text = {"18446744073709551616", 20}}},
        {.depth = 0},
    };
    struct writing w;
    (void)state;
    open_with(&w, (const char *const[]){"time=seconds", "delta=no", NULL});
    write_script(&w, &(struct script){.field = fields}, NULL);
    writing_expect(
        &w,
        "[1.500000000] n: { e = ( \"ONE\" : container = 1 ), m = ( { \"TWO\", \"more\" } : "
        "container = -2 ), "
        "u = ( <unknown> : container = 0x7 ), v = { -10 }, w = { { { x = false } } }, o = <none>, "
        "f = 0xA2 { \"less\", \"more\" }, g = 0x40, h = 0x3 { \"more\", \"zero\" }, b = { 59 6f }, "
        "n = 18446744073709551616 }\n");
}

static void add_nest_field(struct writing *w, uint16_t depth, const char *name, unsigned type,
                           uint32_t count)
{
    ttr_add_field(w->builder,
                  &(ttr_field){.name = {name, strlen(name)},
                               .depth = depth,
                               .value = {.type = (uint8_t)type, .count = count, .v.u = count}});
}

static void nest_once(struct writing *w)
{
    ttr_event_begin(w->builder, TTR_KIND_INSTANT, 0, NULL, "x");
    add_nest_field(w, 0, "list", TTR_TYPE_ARRAY, 2);
    add_nest_field(w, 1, "", TTR_TYPE_STRUCT, 1);
    add_nest_field(w, 2, "v", TTR_TYPE_UINT, 0);
    add_nest_field(w, 1, "", TTR_TYPE_STRUCT, 0);
    add_nest_field(w, 0, "none", TTR_TYPE_ARRAY, 0);
    add_nest_field(w, 0, "last", TTR_TYPE_UINT, 9);
    writing_end(w);
}

static void nested_arrays_and_structs_print_nested_braces(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, (const char *const[]){"time=seconds", "delta=no", NULL});
    nest_once(&w);
    writing_expect(
        &w, "[0.000000000] x: { list = [ [0] = { v = 0 }, [1] = { } ], none = [ ], last = 9 }\n");
    open_with(&w, (const char *const[]){"time=seconds", "delta=no", "names=none", NULL});
    nest_once(&w);
    writing_expect(&w, "[0.000000000] x: { [ { 0 }, { } ], [ ], 9 }\n");
}

static void names_option_selects_printed_names(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, (const char *const[]){"time=seconds", "names=all", NULL});
    for (int i = 0; i < 2; i++) {
        ttr_event_begin(w.builder, TTR_KIND_INSTANT, i * 5, NULL, "x");
        ttr_add_uint(w.builder, "a", 1);
        writing_end(&w);
    }
    writing_expect(
        &w, "timestamp = 0.000000000, delta = +?.?\?\?\?\?\?\?\?\?, name = x, event.fields = { a = "
            "1 }\n"
            "timestamp = 0.000000005, delta = +0.000000005, name = x, event.fields = { a = 1 }\n");
}

static void time_options_select_time_format(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, (const char *const[]){"time=cycles", NULL});
    for (uint64_t i = 0; i < 2; i++) {
        ttr_event_begin(w.builder, TTR_KIND_INSTANT, 0, NULL, "x");
        ttr_event_attributes(w.builder)->ticks = 7 + 35 * i;
        writing_end(&w);
    }
    writing_expect(&w, "[00000000000000000007] (+?\?\?\?\?\?\?\?\?\?\?\?) x: "
                       "\n[00000000000000000042] (+000000000035) x: \n");
    open_with(&w, (const char *const[]){"gmt=yes", "date=yes", "delta=no", NULL});
    writing_event(&w, TTR_KIND_INSTANT, 1650535872000000001, "x");
    writing_event(&w, TTR_KIND_INSTANT, -1500000000, "y");
    writing_expect(&w, "[2022-04-21 10:11:12.000000001] x: \n[-1.500000000] y: \n");
}

static void time_prints_across_seconds_backwards_and_before_epoch(void **state)
{
    static const int64_t times[] = {1650535872999999998,
                                    1650535872999999999,
                                    1650535873000000000,
                                    1650535873000000007,
                                    1650535872999999999,
                                    1650535874999999998,
                                    -7,
                                    -5,
                                    3,
                                    4};
    struct writing w;
    (void)state;
    open_with(&w, (const char *const[]){"gmt=yes", NULL});
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++)
        writing_event(&w, TTR_KIND_INSTANT, times[i], "x");
    writing_expect(&w, "[10:11:12.999999998] (+?.?\?\?\?\?\?\?\?\?) x: \n"
                       "[10:11:12.999999999] (+0.000000001) x: \n"
                       "[10:11:13.000000000] (+0.000000001) x: \n"
                       "[10:11:13.000000007] (+0.000000007) x: \n"
                       "[10:11:12.999999999] (+18446744073.709551608) x: \n"
                       "[10:11:14.999999998] (+1.999999999) x: \n"
                       "[-0.000000007] (+16796208198.709551611) x: \n"
                       "[-0.000000005] (+0.000000002) x: \n"
                       "[00:00:00.000000003] (+0.000000008) x: \n"
                       "[00:00:00.000000004] (+0.000000001) x: \n");
}

static void expect_floats(const double *x, unsigned n)
{
    struct writing w;
    char expected[4096];
    size_t at = (size_t)snprintf(expected, sizeof expected, "[0.000000000] f: {");
    open_with(&w, (const char *const[]){"time=seconds", "delta=no", NULL});
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 0, NULL, "f");
    for (unsigned i = 0; i < n; i++) {
        ttr_add_float(w.builder, "x", x[i]);
        at +=
            (size_t)snprintf(expected + at, sizeof expected - at, "%s x = %g", i ? "," : "", x[i]);
    }
    writing_end(&w);
    (void)snprintf(expected + at, sizeof expected - at, " }\n");
    writing_expect(&w, expected);
}

static void float_prints_as_printf_g(void **state)
{
    static const double special[] = {0,         -0.0,    1,        -1.5,          0.1,
                                     1.0 / 3,   2.5e-5,  1e-4,     0.00099999951, 999999.4,
                                     999999.5,  1e6,     123456.5, 1e300,         INFINITY,
                                     -INFINITY, NAN,     0.5,      100000,        1e-300,
                                     2097151.5, 0.03125, 99999.95, 9.9999995,     1.000005};
    (void)state;
    expect_floats(special, sizeof special / sizeof *special);
    uint64_t seed = 88172645463325252u;
    for (unsigned round = 0; round < 400; round++) {
        double x[32];
        for (unsigned i = 0; i < 32; i++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            x[i] = (double)(int64_t)seed / (double)(UINT64_C(1) << (seed >> 8) % 64) / 1e6;
            if (i % 4 == 0)
                x[i] = (double)(seed % 2000000) / 20.0;
        }
        expect_floats(x, 32);
    }
}

static void invalid_option_is_refused(void **state)
{
    static const char *const wrong[] = {"names=foo", "fields=hostname", "time=iso", "gmt=maybe"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ttr *t = ttr_new(NULL);
        ttr_error error = {0};
        ttr_write_options options = {.size = sizeof options,
                                     .format_options = (const char *const[]){wrong[i], NULL}};
        assert_null(ttr_create(t, "-", "babeltrace2", &options, &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
        ttr_free(t);
    }
}

static void write_failure_is_returned_without_leak(void **state)
{
    (void)state;
    writing_fails_cleanly("babeltrace2");
}

/* Random fields of one class, numbered like those of a compiled layout: optional members, arrays of
 * any length. */
struct made {
    ttr_field field[300];
    unsigned n;
    uint64_t seed;
    bool has_steps; /* fields have step numbers, so that their texts are cached */
};

static ttr_field *add_made_field(struct made *made, uint32_t step, uint16_t depth, const char *name,
                                 ttr_type type)
{
    ttr_field *field = &made->field[made->n++];
    *field = (ttr_field){.name = {name, strlen(name)},
                         .depth = depth,
                         .value = {.type = (uint8_t)type, .step = made->has_steps ? step : 0}};
    if (type == TTR_TYPE_TEXT)
        field->value.text =
            (ttr_text){"a text of \"any\" length", support_random(&made->seed) % 23};
    else
        field->value.v.u = support_random(&made->seed) >> support_random(&made->seed) % 64;
    return field;
}

static void make_random_rows(struct made *made)
{
    (void)add_made_field(made, 8, 0, "rows", TTR_TYPE_ARRAY);
    for (uint64_t i = support_random(&made->seed) % 4; i > 0; i--) {
        (void)add_made_field(made, 9, 1, "", TTR_TYPE_STRUCT);
        (void)add_made_field(made, 10, 2, "a", TTR_TYPE_INT);
        if (support_random(&made->seed) % 2)
            (void)add_made_field(made, 11, 2, "b", TTR_TYPE_TEXT);
    }
    (void)add_made_field(made, 12, 0, "s", TTR_TYPE_STRUCT);
    (void)add_made_field(made, 13, 1, "t", TTR_TYPE_STRUCT);
    (void)add_made_field(made, 14, 2, "u", TTR_TYPE_UINT);
}

static void make_random_fields(struct made *made)
{
    made->n = 0;
    if (support_random(&made->seed) % 2)
        add_made_field(made, 1, 0, "vpid", TTR_TYPE_UINT)->group = TTR_GROUP_COMMON;
    if (support_random(&made->seed) % 2) {
        add_made_field(made, 2, 0, "c", TTR_TYPE_STRUCT)->group = TTR_GROUP_COMMON;
        add_made_field(made, 3, 1, "x", TTR_TYPE_INT)->group = TTR_GROUP_COMMON;
        add_made_field(made, 4, 1, "y", TTR_TYPE_TEXT)->group = TTR_GROUP_COMMON;
    }
    if (support_random(&made->seed) % 8 == 0)
        return;
    (void)add_made_field(made, 5, 0, "n", TTR_TYPE_UINT);
    (void)add_made_field(made, 6, 0, "list", TTR_TYPE_ARRAY);
    for (uint64_t i = support_random(&made->seed) % 130; i > 0; i--)
        (void)add_made_field(made, 7, 1, "", TTR_TYPE_INT);
    if (support_random(&made->seed) % 2)
        make_random_rows(made);
    bool is_there = support_random(&made->seed) % 2;
    ttr_field *chosen =
        add_made_field(made, is_there ? 15 : 16, 0, "v", is_there ? TTR_TYPE_UINT : TTR_TYPE_NULL);
    chosen->choices = 1;
    chosen->value.hint = is_there ? TTR_DISPLAY_NONE : TTR_DISPLAY_ABSENT;
    ttr_field *wide = add_made_field(
        made, 17, 0, "w", support_random(&made->seed) % 2 ? TTR_TYPE_TEXT : TTR_TYPE_UINT);
    wide->value.hint = wide->value.type == TTR_TYPE_TEXT ? TTR_DISPLAY_DECIMAL : TTR_DISPLAY_NONE;
}

static void write_made(struct writing *w, bool has_steps, const char *const *options,
                       uint32_t flags)
{
    static const ttr_field packet[] = {{.name = {"cpu_id", 6},
                                        .group = TTR_GROUP_PACKET,
                                        .value = {.type = TTR_TYPE_UINT, .v.u = 3}},
                                       {.depth = 0}};
    static const struct type something = {.kind = TYPE_STRUCT};
    static const struct event_class class = {
        .has_clock = true, .root = {NULL, &something, NULL, &something, NULL, &something}};
    struct made made = {.seed = 7, .has_steps = has_steps};
    struct script script = {packet, made.field};
    ttr_error error;
    writing_open(w, "babeltrace2", flags, options);
    ttr_event event = {
        .time = 1500000000, .name = ttr_text_add(w->t, "n", 1), .kind = TTR_KIND_INSTANT};
    event.schema = context_add_schema(
        w->t, &(struct schema){.ops = &script_ops, .ctx = &script, .event_class = &class});
    for (unsigned i = 0; i < 400; i++) {
        make_random_fields(&made);
        made.field[made.n] = (ttr_field){.depth = 0};
        script.packet = i % 5 ? packet : packet + 1;
        assert_int_equal(ttr_write(w->writer, &(ttr_batch){.event = &event, .n = 1}, &error),
                         TTR_OK);
    }
    writing_finish(w);
}

static void cached_texts_do_not_change_output(void **state)
{
    static const char *const plain[] = {"time=seconds", NULL},
                             *const nameless[] = {"names=none", NULL},
                             *const all[] = {"names=all", NULL};
    static const char *const *const options[] = {plain, nameless, all};
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct writing told, untold;
        write_made(&told, true, options[i / 2], i % 2 ? TTR_WRITE_COLOR : 0);
        write_made(&untold, false, options[i / 2], i % 2 ? TTR_WRITE_COLOR : 0);
        assert_string_equal(told.text, untold.text);
        writing_close(&told);
        writing_close(&untold);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_prints_line_with_fields_in_braces),
        cmocka_unit_test(integer_prints_in_its_base),
        cmocka_unit_test(empty_part_of_class_prints_empty_braces),
        cmocka_unit_test(labels_and_variants_print_in_own_braces),
        cmocka_unit_test(nested_arrays_and_structs_print_nested_braces),
        cmocka_unit_test(names_option_selects_printed_names),
        cmocka_unit_test(time_options_select_time_format),
        cmocka_unit_test(time_prints_across_seconds_backwards_and_before_epoch),
        cmocka_unit_test(float_prints_as_printf_g),
        cmocka_unit_test(cached_texts_do_not_change_output),
        cmocka_unit_test(invalid_option_is_refused),
        cmocka_unit_test(write_failure_is_returned_without_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
