/* Helpers of layout tests: types in one line each, and the fields of a record as text, by iterator
 * and by size calculation. */
#ifndef TRACETTA_TESTS_SUPPORT_LAYOUT_TEST_H
#define TRACETTA_TESTS_SUPPORT_LAYOUT_TEST_H

#include "support/support.h"
#include "support/typetext.h"

#include <stdio.h>
#include <stdlib.h>

#include <tracetta/event.h>

#include "layout/layout_shape.h"

/* A context with an arena, and a layout compiled in it. */
struct table {
    ttr *t;
    struct arena arena, scratch;
    ttr_error error;
    const struct layout *layout;
    const char *text; /* of the type, for messages; may be NULL */
};

static inline void table_open(struct table *table)
{
    table->t = ttr_new(NULL);
    arena_init(&table->arena, &table->t->counted);
    arena_init(&table->scratch, &table->t->counted);
    table->layout = NULL;
    table->text = NULL;
}

static inline void table_close(struct table *table)
{
    arena_free(&table->arena);
    arena_free(&table->scratch);
    ttr_free(table->t);
}

static inline bool table_compile(struct table *table, const struct layout_spec *wanted)
{
    struct layout_spec spec = *wanted;
    spec.t = table->t;
    spec.arena = &table->arena;
    table->layout = layout_compile(&spec, &table->error);
    return table->layout != NULL;
}

/* Compiles a layout with a payload type given as text (support/typetext.h). */
static inline void table_payload(struct table *table, const char *text)
{
    struct layout_spec spec = {.root[ROOT_PAYLOAD] = type_of_text(&table->arena, text)};
    table->text = text;
    if (!table_compile(table, &spec))
        fail_msg("%s: %s", text, table->error.text);
}

/* A text buffer of fixed size; more text is cut. */
struct text {
    char p[100000];
    size_t n;
};

/* Appends characters. Formatting would take most of the time of tests with many fields. */
static inline void put_bytes(struct text *to, const char *p, size_t n)
{
    const size_t room = sizeof to->p - 1 - to->n;
    n = n < room ? n : room;
    if (n)
        memcpy(to->p + to->n, p, n);
    to->n += n;
    to->p[to->n] = 0;
}

static inline void put(struct text *to, const char *format, ...)
{
    va_list list;
    size_t room = sizeof to->p - to->n;
    if (room == 1)
        return;
    va_start(list, format);
    int n = vsnprintf(to->p + to->n, room, format, list);
    va_end(list);
    to->n += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static inline void put_value(struct text *to, const ttr_value *value)
{
    switch (value->type) {
    case TTR_TYPE_NULL:
        put(to, value->hint == TTR_DISPLAY_ABSENT ? "absent" : "null");
        break;
    case TTR_TYPE_BOOL:
        put(to, value->v.u ? "true" : "false");
        break;
    case TTR_TYPE_UINT:
        put(to, "%llu", (unsigned long long)value->v.u);
        break;
    case TTR_TYPE_INT:
        put(to, "%lld", (long long)value->v.s);
        break;
    case TTR_TYPE_FLOAT:
        put(to, "%.17g", value->v.f);
        break;
    case TTR_TYPE_TEXT:
        put(to, value->hint == TTR_DISPLAY_DECIMAL ? "#%.*s" : "'%.*s'", (int)value->text.n,
            value->text.p);
        break;
    case TTR_TYPE_BYTES:
        put(to, "<");
        for (size_t i = 0; i < value->text.n; i++)
            put(to, "%02x", (uint8_t)value->text.p[i]);
        put(to, ">");
        break;
    case TTR_TYPE_ARRAY:
        put(to, "[%u]", value->count);
        break;
    default:
        put(to, "{%u}", value->count);
        break;
    }
    if (value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS)
        put(to, "(%.*s/%u)", (int)value->text.n, value->text.p, value->count);
}

static inline const char *end_text(enum layout_status end)
{
    static const char *const names[] = {"", "short", "no option", "huge", "misplaced", "absent"};
    return names[end];
}

static inline void put_field(struct text *to, const ttr_field *field)
{
    put_bytes(to, " ", to->n ? 1 : 0);
    for (unsigned i = 0; i < field->depth; i++)
        put_bytes(to, ".", 1);
    put_bytes(to, field->name.p, field->name.n);
    put_bytes(to, "=", field->name.n ? 1 : 0);
    put_value(to, &field->value);
}

#define TAKEN_MAX 31u

/* Checks that the fast path returns the same fields as `by_one`, which printed `wanted`, for an
 * event with these payload bytes. Its field buffer has `room` entries; the iterator returns the
 * other fields. Runs with and without prepared fields. */
static inline void expect_in_payload(struct table *table, const struct layout_cursor *run,
                                     uint32_t room, const struct layout_iter *by_one,
                                     const struct text *wanted)
{
    static struct text taken;
    const uint64_t first = run->bits.at >> 3,
                   end = by_one->end == LAYOUT_OK ? (by_one->run.bits.at + 7) >> 3
                                                  : run->bits.end >> 3,
                   n = end - first;
    uint32_t imports;
    (void)layout_imports(table->layout, &imports);
    if (imports || !layout_is_byte_aligned(table->layout) || run->bits.end % 8 ||
        first > run->bits.end >> 3)
        return;
    const struct layout_schema schema = {
        .layout = table->layout, .scratch = &table->scratch, .is_in_payload = true, .body_mask = 7};
    const ttr_event event = {.payload = run->bits.base + first,
                             .payload_size = (uint32_t)n,
                             .body = (uint32_t)(run->bits.at & 0xffff),
                             .flags = by_one->end == LAYOUT_OK ? 0 : TTR_EVENT_PARTIAL};
    ttr_field field[TAKEN_MAX], next;
    struct field_cache held = {.field = field, .n = room};
    for (unsigned i = 0; i < 2; i++) {
        ttr_fields fields = {.event = &event,
                             .ops = &layout_field_ops,
                             .ctx = &schema,
                             .state = {(uintptr_t)layout_get_iter_program(table->layout),
                                       layout_get_iter_flags(&schema)}};
        const struct layout_iter *walk = (const struct layout_iter *)fields.state;
        taken.n = 0;
        taken.p[0] = 0;
        const uint32_t n_held = layout_field_ops.decode_cached(&fields, &held);
        for (uint32_t k = 0; k < n_held; k++)
            put_field(&taken, &field[k]);
        const bool is_over = !fields.ops;
        while (!is_over && layout_field_ops.next(&fields, &next))
            put_field(&taken, &next);
        const enum layout_status why = is_over ? LAYOUT_OK : walk->end;
        put(&taken, "%s%s", taken.n && why ? " " : "", end_text(why));
        if (strcmp(taken.p, wanted->p) != 0 || why != by_one->end)
            fail_msg("%s\n  one by one %s\n  %u held %s", table->text, wanted->p, room, taken.p);
    }
}

/* Checks that the byte-based shape returns the same size, except for longer texts. */
static inline void expect_bytes(const struct table *table, const struct layout_cursor *run,
                                const struct layout_cursor *measured, enum layout_status end,
                                const struct layout_shape *shape)
{
    const struct layout_byte_shape bytes = layout_shape_to_bytes(shape);
    const uint64_t all = run->bits.end >> 3, first = (run->bits.at >> 3) + bytes.first;
    if (run->bits.at & 7 || bytes.rest == LAYOUT_BYTE_SHAPE_NONE || first > all ||
        all - first < LAYOUT_BYTE_SHAPE_LOOKAHEAD)
        return;
    const uint64_t behind = layout_byte_shape_find_end(&bytes, run->bits.base, first);
    const bool is_whole = behind <= all;
    if (behind == UINT64_MAX && shape->kind == LAYOUT_SHAPE_TEXT &&
        (end != LAYOUT_OK || measured->bits.at / 8 > first + LAYOUT_BYTE_SHAPE_LOOKAHEAD))
        return;
    if (is_whole != (end == LAYOUT_OK) || (is_whole && behind * 8 != measured->bits.at))
        fail_msg("%s: bytes end at %llu, measure at %llu bits", table->text,
                 (unsigned long long)behind, (unsigned long long)measured->bits.at);
}

/* Checks that the shape returns the same record end as the program, or none. */
static inline void expect_shape(const struct table *table, const struct layout_cursor *run,
                                const struct layout_cursor *measured, enum layout_status end)
{
    struct layout_shape shape = layout_get_shape(table->layout);
    uint64_t behind = 0, first = run->bits.at + shape.first;
    bool is_whole =
        !(run->bits.at & 7) && layout_shape_find_end(&shape, &run->bits, run->bits.at, &behind);
    if (is_whole && (end != LAYOUT_OK || behind != measured->bits.at))
        fail_msg("%s: shape ends at %llu, measure at %llu", table->text, (unsigned long long)behind,
                 (unsigned long long)measured->bits.at);
    if (!is_whole && !(run->bits.at & 7) && shape.kind != LAYOUT_SHAPE_NONE && first >= 64 &&
        end == LAYOUT_OK)
        fail_msg("%s: the shape has no end", table->text);
    expect_bytes(table, run, measured, end, &shape);
}

/* Appends a record as text: "a=1 s={2} .x=1 .y=2", with a dot for each level, and the reason if it
 * did not end normally. */
static inline enum layout_status table_dump(struct table *table, const struct layout_cursor *run,
                                            struct text *to)
{
    struct layout_iter walk;
    ttr_field field;
    const struct type *type;
    layout_iter_begin(&walk, table->layout, &run->bits, &table->scratch);
    memcpy(walk.run.slots, run->slots, sizeof walk.run.slots);
    to->n = 0;
    to->p[0] = 0;
    while (layout_iter_next(&walk, &field, &type)) {
        put_field(to, &field);
        if (!type)
            put(to, "?");
    }
    put(to, "%s%s", to->n && walk.end ? " " : "", end_text(walk.end));
    assert_false(layout_iter_next(&walk, &field, &type));
    for (uint32_t room = 1; room <= TAKEN_MAX; room = 2 * room + 1)
        expect_in_payload(table, run, room, &walk, to);
    struct layout_cursor measured = *run;
    enum layout_status end = layout_find_record_end(table->layout, &measured);
    if ((end == LAYOUT_OK) != (walk.end == LAYOUT_OK))
        fail_msg("%s\n  walk ends %s, measure %s: %s", table->text, end_text(walk.end),
                 end_text(end), to->p);
    if (end == LAYOUT_OK && measured.bits.at != walk.run.bits.at)
        fail_msg("walk ends at %llu, measure at %llu: %s", (unsigned long long)walk.run.bits.at,
                 (unsigned long long)measured.bits.at, to->p);
    expect_shape(table, run, &measured, end);
    return walk.end;
}

/* Reads and measures a record that starts at bit `at`, in an allocation of exactly its size, so
 * that a sanitizer detects reads past its end. Fails the test unless text and end are as expected.
 */
static inline void table_expect(struct table *table, uint64_t at, const char *hex, uint64_t end,
                                const char *wanted)
{
    uint8_t bytes[512];
    struct text text;
    size_t n = support_hex(bytes, sizeof bytes, hex);
    uint8_t *copy = malloc(n ? n : 1);
    memcpy(copy, bytes, n);
    struct layout_cursor run = {.bits = bits_init(copy, at, n * 8)};
    (void)table_dump(table, &run, &text);
    if (strcmp(text.p, wanted) != 0)
        fail_msg("\n  got    %s\n  wanted %s", text.p, wanted);
    if (end != UINT64_MAX) {
        assert_int_equal(layout_find_record_end(table->layout, &run), LAYOUT_OK);
        assert_int_equal(run.bits.at, end);
    }
    free(copy);
}

#endif
