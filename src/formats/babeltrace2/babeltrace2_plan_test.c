/* Plans print the same as field-by-field output: random events of many layouts, printed both ways.
 */
#include "support/layout_test.h"
#include "support/writing.h"

#define PLANNED_EVENTS 20u /* events after which a class has a plan */
#define EVENTS 12u         /* compared events of a class; below the threshold for a plan */
#define BYTES 160u

struct events {
    ttr_event event[EVENTS];
};

/* A schema of events with a payload of the given layout, from byte `body_mask` on. */
struct printed {
    struct layout_schema ctx;
    struct event_class event_class;
    ttr_id schema;
};

static void add_schema(struct table *table, ttr *t, const struct type *type,
                       struct printed *printed)
{
    struct layout_spec spec = {.t = t, .arena = &table->arena, .root[ROOT_PAYLOAD] = type};
    const struct layout *layout = layout_compile(&spec, &table->error);
    assert_non_null(layout);
    printed->ctx = (struct layout_schema){.layout = layout,
                                          .scratch = &table->scratch,
                                          .is_in_payload = layout_is_byte_aligned(layout),
                                          .body_mask = 0xff};
    printed->event_class = (struct event_class){.has_clock = true, .root[ROOT_PAYLOAD] = type};
    printed->schema =
        context_add_schema(t, &(struct schema){.ops = &layout_field_ops,
                                               .ctx = &printed->ctx,
                                               .start = layout_get_iter_program(layout),
                                               .start_with = layout_get_iter_flags(&printed->ctx),
                                               .event_class = &printed->event_class});
    assert_true(printed->ctx.is_in_payload && printed->schema);
}

static void write_event(struct writing *w, const struct printed *printed, ttr_event event)
{
    event.schema = printed->schema;
    event.name = ttr_text_add(w->t, "n", 1);
    assert_int_equal(ttr_write(w->writer, &(ttr_batch){.event = &event, .n = 1}, &w->error),
                     TTR_OK);
}

/* Prints the events after `before` repetitions of the first one. */
static void print_events(struct writing *w, const char *type_text, const struct events *events,
                         unsigned before)
{
    struct table table;
    struct printed printed;
    table_open(&table);
    writing_open(w, "babeltrace2", 0, (const char *const[]){"time=seconds", "delta=no", NULL});
    add_schema(&table, w->t, type_of_text(&table.arena, type_text), &printed);
    for (unsigned i = 0; i < before; i++)
        write_event(w, &printed, events->event[0]);
    for (unsigned i = 0; i < EVENTS; i++)
        write_event(w, &printed, events->event[i]);
    writing_finish(w);
    table_close(&table);
}

static const char *skip_lines(const char *text, unsigned n)
{
    for (; n > 0; n--)
        text = strchr(text, '\n') + 1;
    return text;
}

static void compare_plan_with_fields(const char *type_text, const struct events *events)
{
    struct writing by_fields, by_plan;
    print_events(&by_fields, type_text, events, 0);
    print_events(&by_plan, type_text, events, PLANNED_EVENTS);
    const char *text = skip_lines(by_plan.text, PLANNED_EVENTS);
    if (strcmp(text, by_fields.text) != 0)
        fail_msg("%s:\n%s\n%s", type_text, text, by_fields.text);
    writing_close(&by_fields);
    writing_close(&by_plan);
}

/* Returns a random byte; frequent ones are digits of lengths and characters that need escapes. */
static uint8_t random_byte(uint64_t *seed)
{
    static const uint8_t usual[] = {0,   0,   1,   2,    3,    7,    'a', 'b',  'c', 'd',
                                    'x', 'y', ' ', 0xc3, 0xa4, 0xff, '"', '\\', '?', 0x7f};
    const uint64_t x = support_random(seed);
    return x % 4 == 0   ? (uint8_t)(x >> 8)
           : x % 4 == 1 ? usual[(x >> 8) % sizeof usual]
                        : (uint8_t)('a' + (x >> 8) % 26);
}

/* Allocates payloads of exactly their size, so that sanitizers find reads past their end. */
static void make_events(struct events *events, uint64_t *seed)
{
    for (unsigned i = 0; i < EVENTS; i++) {
        const uint32_t size = (uint32_t)(support_random(seed) % BYTES),
                       body = (uint32_t)(support_random(seed) % 20);
        uint8_t *payload = malloc(size + 1);
        for (uint32_t k = 0; k < size; k++)
            payload[k] = random_byte(seed);
        events->event[i] = (ttr_event){.time = i,
                                       .kind = TTR_KIND_INSTANT,
                                       .payload = realloc(payload, size ? size : 1),
                                       .payload_size = size,
                                       .body = body < size ? body * 8 : 0};
    }
}

static void free_events(struct events *events)
{
    for (unsigned i = 0; i < EVENTS; i++)
        free((void *)(uintptr_t)events->event[i].payload);
}

/* Members of random payload types, in the notation of support/layout_test.h; %u is the member
 * index. */
/* clang-format off */
static const char *const type_members[] = {
    "a%u:u8", "a%u:i8", "a%u:u16", "a%u:i16>", "a%u:u32", "a%u:i32", "a%u:i32>", "a%u:u32>",
    "a%u:u64", "a%u:i64", "a%u:u64>", "a%u:i64>", "a%u:u16#16", "a%u:i64#16", "a%u:i8#8",
    "a%u:u32>#2", "a%u:f32", "a%u:f64", "a%u:f32>", "a%u:f64>", "a%u:t8", "a%u:B3", "a%u:T1",
    "a%u:T5", "a%u:T16", "a%u:T17", "a%u:T33", "a%u:s", "a%u:S16", "a%u:W6", "a%u:[3]u8",
    "a%u:[2]i8", "a%u:[2]i64>", "a%u:[2]f32>", "a%u:[2]f64", "a%u:[2]u16#16", "a%u:[0]u8",
    "a%u:[110]u8", "a%u:{}", "a%u:u8=A=0..3,B=2..9,C=97;", "a%u:i16=A=-9..3;",
    "a%u:{x:u8 y:s z:{v:u8}}", "n%u:u8 a%u:[p.n%u]u8", "n%u:u8 a%u:[p.n%u]i32>",
    "n%u:u16 m%u:u8 a%u:T(p.n%u)", "n%u:u8 a%u:T(p.n%u)", "a%u:[:u8]u8", "a%u:T(:u16)",
};
/* clang-format on */

/* Builds the text of a payload type of one to five random members. */
static void build_random_type(uint64_t *seed, char *text, size_t size)
{
    const unsigned n = 1 + (unsigned)(support_random(seed) % 5);
    for (unsigned k = 0; k < n; k++) {
        const char *member =
            type_members[support_random(seed) % (sizeof type_members / sizeof *type_members)];
        for (const char *at = member; *at; at++) {
            const size_t used = strlen(text);
            if (at[0] == '%')
                (void)snprintf(text + used, size - used, "%u", k), at++;
            else
                (void)snprintf(text + used, size - used, "%c", *at);
        }
        strncat(text, " ", 2);
    }
}

static void plan_output_equals_field_output(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        struct events events;
        char text[1024] = "";
        build_random_type(&seed, text, sizeof text);
        make_events(&events, &seed);
        compare_plan_with_fields(text, &events);
        free_events(&events);
    }
}

static void class_with_many_labels_prints_by_fields(void **state)
{
    static const uint8_t bytes[] = {2, 9, 200};
    struct events events;
    (void)state;
    for (unsigned i = 0; i < EVENTS; i++)
        events.event[i] = (ttr_event){
            .kind = TTR_KIND_INSTANT, .payload = bytes + (i + 1) % 3, .payload_size = 1};
    compare_plan_with_fields("a:u8=A=0..3,B=2..9;", &events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_output_equals_field_output),
        cmocka_unit_test(class_with_many_labels_prints_by_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
