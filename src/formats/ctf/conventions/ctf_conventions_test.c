/* Round trip of events through the CTF conventions, in each metadata language: bodies are encoded
 * with the writer's types, the types are replaced like in a reader, and a layout decodes the
 * fields. Names and labels contain every byte. */
#include "formats/ctf/write/ctf_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "layout/layout.h"
#include "support/support.h"

/* --- Names --- */

static void check_name(const char *bytes, size_t n, bool is_identifier, unsigned times)
{
    struct buffer escaped, plain;
    buffer_init(&escaped, alloc_default());
    buffer_init(&plain, alloc_default());
    ctf_name_escape(&escaped, (ttr_text){bytes, n}, is_identifier, times > 1, times);
    for (size_t i = 0; i < escaped.n && is_identifier; i++)
        assert_non_null(memchr("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
                               escaped.bytes[i], 63));
    assert_true(escaped.n > 0);
    ctf_name_unescape(&plain, (ttr_text){(const char *)escaped.bytes, escaped.n});
    if (plain.n != n || (n && memcmp(plain.bytes, bytes, n) != 0))
        fail_msg("\"%.*s\" (%zu) became \"%.*s\" and is \"%.*s\"", (int)n, bytes, n, (int)escaped.n,
                 (const char *)escaped.bytes, (int)plain.n,
                 plain.n ? (const char *)plain.bytes : "");
    buffer_free(&escaped);
    buffer_free(&plain);
}

static void any_name_survives_escaping(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        "_",
                                        "_x",
                                        "_x_",
                                        "__x_",
                                        "a_x41",
                                        "_xn2",
                                        "x_xn2",
                                        "koid",
                                        "vpid",
                                        "number",
                                        "elements",
                                        "name",
                                        "minus inf",
                                        ("gr\xc3\xb6\xc3\x9f"
                                         "e"),
                                        "\xff\xfe",
                                        "_x5fx",
                                        "a_xzz",
                                        "_x4",
                                        "a.b",
                                        "9"};
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned times = 1; times < 13; times += 11) {
            check_name(names[i], strlen(names[i]), true, times);
            check_name(names[i], strlen(names[i]), false, times);
        }
    for (unsigned i = 0; i < 20000; i++) {
        char bytes[8];
        uint64_t x = support_random(&seed);
        size_t n = x & 7;
        for (size_t k = 0; k < n; k++)
            bytes[k] = x >> 60 & 1 ? (char)(x >> (8 * k)) : "_xn_520a"[x >> (8 * k + 3) & 7];
        check_name(bytes, n, i & 1, 1 + (i & 2));
    }
}

static void only_necessary_bytes_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *name, *identifier, *text;
        unsigned times;
    } rows[] = {
        {"bytes", "bytes", "bytes", 1},
        {"minus inf", "minus_x20inf", "minus inf", 1},
        {"", "_x_", "_x_", 1},
        {"a", "a_xn2", "a_xn2", 2},
        {"vpid", "_x76pid", "_x76pid", 1},
        {"\xc3\xa4\xff", "_xc3_xa4_xff", "\xc3\xa4_xff", 1},
        {"_xa", "_x5fxa", "_x5fxa", 1},
        {"0", "0", "0", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer to;
        buffer_init(&to, alloc_default());
        ctf_name_escape(&to, (ttr_text){rows[i].name, strlen(rows[i].name)}, true, true,
                        rows[i].times);
        support_assert_text(to.bytes, to.n, rows[i].identifier);
        buffer_clear(&to);
        ctf_name_escape(&to, (ttr_text){rows[i].name, strlen(rows[i].name)}, false, true,
                        rows[i].times);
        support_assert_text(to.bytes, to.n, rows[i].text);
        buffer_free(&to);
    }
}

static void attribute_names_outside_contexts_are_not_escaped(void **state)
{
    (void)state;
    struct buffer to;
    buffer_init(&to, alloc_default());
    ctf_name_escape(&to, (ttr_text){"name", 4}, true, false, 1);
    ctf_name_escape(&to, (ttr_text){"koid", 4}, true, false, 1);
    support_assert_text(to.bytes, to.n, "name_x6boid");
    buffer_free(&to);
}

static void levels_survive_round_trip(void **state)
{
    (void)state;
    for (unsigned level = 1; level <= TTR_LEVEL_FATAL; level++)
        assert_int_equal(ctf_convert_log_level(ctf_log_levels[level]), level);
    assert_int_equal(ctf_convert_log_level(-1), 0);
    assert_int_equal(ctf_convert_log_level(5), 0);
}

/* --- Events --- */

static void put(struct buffer *to, const char *format, ...) TTR_PRINTF(2, 3);
static void put(struct buffer *to, const char *format, ...)
{
    char text[128];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    buffer_add(to, text, (size_t)n);
}

/* Prints bytes outside of ASCII in hexadecimal, so that a difference is readable. */
static void put_bytes(struct buffer *to, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++)
        put(to, p[i] > ' ' && p[i] < 0x7f ? "%c" : "<%02x>", p[i]);
}

static void put_thread(const ttr *t, ttr_id id, struct buffer *to)
{
    ttr_thread thread;
    if (ttr_thread_get(t, id, &thread))
        put(to, " %" PRIu64 "%s/%" PRIu64 "%s", thread.pid, thread.pid_known ? "" : "?", thread.tid,
            thread.tid_known ? "" : "?");
    else
        put(to, " -");
}

static void put_value(const ttr_value *value, struct buffer *to)
{
    unsigned bits =
        value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT || value->type == TTR_TYPE_FLOAT
            ? value->bits ? value->bits : 64
            : 0;
    put(to, "%s%u^%u=", ttr_type_text(value->type), bits, value->hint);
    if (value->type == TTR_TYPE_TEXT || value->type == TTR_TYPE_BYTES)
        put_bytes(to, value->text.p, value->text.n);
    else if (value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_STRUCT)
        put(to, "%u", value->count);
    else if (value->type != TTR_TYPE_NULL)
        put(to, "%" PRIx64, value->type == TTR_TYPE_BOOL ? value->v.u != 0 : value->v.u);
    put(to, ";");
}

/* Prints all properties of an event except its time. */
static void dump(const ttr *t, const ttr_event *e, struct buffer *to)
{
    ttr_fields fields;
    ttr_field field;
    ttr_text name = ttr_text_get(t, e->name), category = ttr_text_get(t, e->category),
             provider = ttr_text_get(t, e->provider);
    put(to, "%s \"%.*s\" \"%.*s\" \"%.*s\"", ttr_kind_text(e->kind), (int)name.n, name.p,
        (int)category.n, category.p, (int)provider.n, provider.p);
    put_thread(t, e->thread, to);
    if (e->kind == TTR_KIND_SWITCH)
        put_thread(t, (ttr_id)e->link, to);
    put(to, " %" PRIu64 " %" PRIu64 " %u %u %u %u %" PRIx64 " %u %u", e->duration,
        e->kind == TTR_KIND_SWITCH ? 0 : e->link, e->tag, e->level, e->opcode,
        e->flags & ~TTR_EVENT_RAW, e->keyword, e->sequence,
        e->flags & TTR_EVENT_HAS_CPU ? e->cpu : 0);
    if (e->activity)
        put_bytes(to, e->activity, 16);
    if (e->related)
        put_bytes(to, e->related, 16);
    ttr_fields_begin(t, e, &fields);
    while (ttr_fields_next(&fields, &field)) {
        put(to, "\n%*s", field.depth, "");
        put_bytes(to, field.name.p, field.name.n);
        put(to, ":");
        put_value(&field.value, to);
    }
}

struct attributes {
    ttr *t;
    ttr_builder *builder;
    struct ttr_writer out;
    ttr_loss ledger[CTF_LOSSES];
    struct ctf_options options;
    struct ctf_trace_out trace;
    struct ctf_stream_class_out *kind;
    struct ctf_items items;
    bool is_listed; /* events list their fields */
    struct ctf_field_list listing;
    struct buffer name;
    struct arena scratch;
    struct layout_schema schema;
    struct bits body;
};

static void begin(struct attributes *s, enum ctf_version version, bool is_big, bool is_natural)
{
    memset(s, 0, sizeof *s);
    s->t = ttr_new(NULL);
    s->builder = ttr_builder_new(s->t);
    s->out = (struct ttr_writer){.t = s->t, .ledger = s->ledger};
    s->options = (struct ctf_options){
        .is_big_endian = is_big, .rfc_header = 2, .rfc_is_natural = is_natural};
    ctf_items_init(&s->items, &s->t->counted);
    ctf_items_init(&s->listing.items, &s->t->counted);
    buffer_init(&s->listing.text, &s->t->counted);
    buffer_init(&s->name, &s->t->counted);
    arena_init(&s->scratch, &s->t->counted);
    assert_true(ctf_trace_out_init(&s->trace, s->t, &s->options, version, &(ttr_event){.time = 0}));
    s->kind = ctf_trace_out_add_stream_class(
        &s->trace, &(struct ctf_stream_class_spec){.name = {"events", 6},
                                                   .has_clock = true,
                                                   .has_time = true,
                                                   .has_sequence = true,
                                                   .has_discarded = true,
                                                   .clock = s->trace.clock});
    assert_non_null(s->kind);
}

static void end(struct attributes *s)
{
    ctf_items_free(&s->items);
    ctf_field_list_free(&s->listing);
    buffer_free(&s->name);
    arena_free(&s->scratch);
    ctf_trace_out_free(&s->trace, &s->t->counted);
    ttr_builder_free(s->builder);
    ttr_free(s->t);
}

static void place(const struct layout_schema *schema, const ttr_event *event,
                  struct layout_cursor *run)
{
    (void)schema;
    run->bits = bits_init(event->payload, 0, (uint64_t)event->payload_size * 8);
}

/* Returns the items that represent the event, and the key of their class. */
static const struct ctf_items *collect(struct attributes *s, const ttr_event *event,
                                       struct ctf_class_key *key)
{
    enum ctf_version version = s->trace.description.version;
    const struct ctf_items_config what = {
        .out = &s->out, .version = version, .has_conventions = true};
    bool has_level = event->level && event->level <= TTR_LEVEL_FATAL;
    ctf_items_collect(&s->items, &what, event);
    *key = (struct ctf_class_key){.name = ttr_text_get(s->t, event->name),
                                  .is_unnamed = !event->name,
                                  .identity = event->name + ((uint64_t)event->level << 32),
                                  .has_log_level = has_level,
                                  .log_level = has_level ? ctf_log_levels[event->level] : 0};
    if (!s->is_listed)
        return &s->items;
    buffer_clear(&s->name);
    ctf_label_escape(&s->name, key->name);
    ctf_items_add_name(&s->items, (ttr_text){(const char *)s->name.bytes, s->name.n},
                       version == CTF_RFC_1_1);
    assert_true(ctf_field_list_build(&s->listing, s->t, &s->items, has_level ? event->level : 0,
                                     version == CTF_RFC_1_1));
    *key = (struct ctf_class_key){.name = {"listed", 6}, .is_unnamed = true};
    return &s->listing.items;
}

static void assert_same_dump(enum ctf_version version, const struct buffer *expected,
                             const struct buffer *found)
{
    if (expected->n != found->n || memcmp(expected->bytes, found->bytes, found->n) != 0) {
        (void)fprintf(stderr, "expected\n%.*s\nfound\n%.*s\n", (int)expected->n,
                      (const char *)expected->bytes, (int)found->n, (const char *)found->bytes);
        fail_msg("CTF %d", version);
    }
}

/* Encodes the builder's event, decodes it and compares. Returns the counted losses. */
static void check_event(struct attributes *s, struct buffer *expected)
{
    /* long function: encodes, decodes and compares in one sequence */
    struct buffer body, found;
    ttr_batch batch;
    ttr_error error;
    struct ctf_conventions_attributes attributes;
    assert_int_equal(ttr_event_build(s->builder, &batch, NULL), TTR_OK);
    const ttr_event *event = batch.event;
    enum ctf_version version = s->trace.description.version;
    struct ctf_class_key key;
    const struct ctf_items *items = collect(s, event, &key);
    const struct ctf_event_class *class = ctf_get_event_class(&s->trace, s->kind, items, &key);
    assert_non_null(class);
    buffer_init(&body, &s->t->counted);
    struct field_encoder encode;
    encode.put = bit_writer_init(&body);
    encode_begin(&encode, items->field, items->n);
    if (class->context)
        encode_members(&encode, class->context);
    encode_members(&encode, class->payload);
    assert_int_equal(encode.at, encode.n);
    buffer_add_zeros(&body, 8);

    /* Processes the class like a reader. It is the writer's own class, so the next such event makes
     * a new one. */
    struct ctf_event_class *mine = s->kind->class->events[s->kind->class->events_n - 1];
    assert_ptr_equal(mine, class);
    assert_int_equal(ctf_conventions_prepare(&s->trace.description, &error), TTR_OK);
    struct layout_spec spec = {
        .t = s->t,
        .arena = &s->trace.description.arena,
        .root = {[ROOT_SPECIFIC_CONTEXT] = mine->context, [ROOT_PAYLOAD] = mine->payload}};
    const struct layout *layout = layout_compile(&spec, &error);
    if (!layout)
        fail_msg("%s", error.text);
    assert_int_equal(
        ctf_conventions_find_attributes(&s->trace.description, s->t, mine, &attributes, &error),
        TTR_OK);
    s->schema = (struct layout_schema){.layout = layout, .scratch = &s->scratch, .place = place};
    assert_int_equal(attributes.is_listed, s->is_listed);
    ttr_event read = {.payload = body.bytes,
                      .payload_size = (uint32_t)encode.put.at / 8,
                      .kind = attributes.kind,
                      .level = attributes.level,
                      .name = attributes.name,
                      .category = attributes.category,
                      .provider = attributes.provider};
    read.schema = context_add_schema(
        s->t, &(struct schema){.ops = s->is_listed ? &ctf_listed_field_ops : &layout_field_ops,
                               .ctx = &s->schema});
    const struct bits bits = bits_init(body.bytes, 0, encode.put.at);
    assert_true(ctf_conventions_set_attributes(&attributes, s->t, 0, &bits, &read));
    assert_true(!s->is_listed || ctf_listed_set_attributes(s->t, 0, &read));
    struct layout_cursor run = {.bits = bits_init(body.bytes, 0, encode.put.at)};
    assert_int_equal(layout_find_record_end(layout, &run), LAYOUT_OK);
    assert_int_equal(run.bits.at, encode.put.at);
    buffer_init(&found, &s->t->counted);
    dump(s->t, &read, &found);
    assert_same_dump(version, expected, &found);
    buffer_free(&body);
    buffer_free(&found);
}

static uint64_t losses(const struct attributes *s)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < CTF_LOSSES; i++)
        sum += s->ledger[i].count;
    return sum;
}

/* Arrays with contiguous elements in the record. */
static void put_alike(ttr_builder *b)
{
    static const ttr_value numbers[] = {{.type = TTR_TYPE_INT, .bits = 32, .v.s = -1000},
                                        {.type = TTR_TYPE_UINT, .bits = 8, .v.u = 200},
                                        {.type = TTR_TYPE_UINT, .bits = 12, .v.u = 3000},
                                        {.type = TTR_TYPE_BOOL, .v.u = 1}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        ttr_add_field(
            b, &(ttr_field){.name = {"many", 4}, .value = {.type = TTR_TYPE_ARRAY, .count = 40}});
        for (uint64_t i = 0; i < 40; i++) {
            ttr_field field = {.depth = 1, .value = numbers[k]};
            field.value.v.u = numbers[k].type == TTR_TYPE_BOOL ? i % 3 == 0 : numbers[k].v.u + i;
            ttr_add_field(b, &field);
        }
    }
    for (unsigned bits = 32; bits <= 64; bits += 32) {
        ttr_add_field(
            b, &(ttr_field){.name = {"floats", 6}, .value = {.type = TTR_TYPE_ARRAY, .count = 9}});
        for (uint64_t i = 0; i < 9; i++)
            ttr_add_field(b, &(ttr_field){.depth = 1,
                                          .value = {.type = TTR_TYPE_FLOAT,
                                                    .v.f = (double)i / 4,
                                                    .bits = (uint8_t)bits}});
    }
    ttr_add_field(
        b, &(ttr_field){.name = {"alike", 5}, .value = {.type = TTR_TYPE_ARRAY, .count = 5}});
    for (uint64_t i = 0; i < 5; i++) {
        ttr_add_field(b, &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_STRUCT, .count = 4}});
        ttr_add_field(b, &(ttr_field){.depth = 2,
                                      .name = {"a", 1},
                                      .value = {.type = TTR_TYPE_UINT, .v.u = i, .bits = 8}});
        ttr_add_field(
            b, &(ttr_field){.depth = 2,
                            .name = {"b", 1},
                            .value = {.type = TTR_TYPE_TEXT, .text = {"text", (size_t)i % 4}}});
        ttr_add_field(
            b, &(ttr_field){.depth = 2,
                            .name = {"c", 1},
                            .value = {.type = TTR_TYPE_ARRAY, .count = 1 + (uint32_t)i % 3}});
        for (uint64_t k = 0; k <= i % 3; k++)
            ttr_add_field(
                b, &(ttr_field){.depth = 3,
                                .value = {.type = TTR_TYPE_UINT, .v.u = 300 + k, .bits = 16}});
        ttr_add_field(
            b, &(ttr_field){.depth = 2,
                            .name = {"d", 1},
                            .value = {.type = TTR_TYPE_BYTES, .text = {"bytes", (size_t)i}}});
    }
}

/* Arrays of structures with arrays, and arrays of arrays. */
static void put_lists(ttr_builder *b)
{
    ttr_add_field(b,
                  &(ttr_field){.name = {"list", 4}, .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    for (uint64_t i = 0; i < 2; i++) {
        ttr_add_field(b, &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_STRUCT, .count = 2}});
        ttr_add_field(b, &(ttr_field){.depth = 2,
                                      .name = {"elements", 8},
                                      .value = {.type = TTR_TYPE_ARRAY, .count = 2 - (uint32_t)i}});
        for (uint64_t k = i; k < 2; k++)
            ttr_add_field(
                b, &(ttr_field){.depth = 3,
                                .value = {.type = TTR_TYPE_BYTES, .text = {"xyz", (size_t)k}}});
        ttr_add_field(b, &(ttr_field){.depth = 2,
                                      .name = {"koid", 4},
                                      .value = {.type = TTR_TYPE_UINT, .v.u = i, .bits = 8}});
    }
    ttr_add_field(b,
                  &(ttr_field){.name = {"nest", 4}, .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    for (uint64_t i = 0; i < 2; i++) {
        ttr_add_field(b, &(ttr_field){.depth = 1,
                                      .value = {.type = TTR_TYPE_ARRAY, .count = 1 + (uint32_t)i}});
        for (uint64_t k = 0; k <= i; k++)
            ttr_add_field(b, &(ttr_field){.depth = 2,
                                          .value = {.type = TTR_TYPE_UINT, .v.u = k, .bits = 16}});
    }
}

static void put_everything(ttr_builder *b)
{
    /* long function: one field of each type */
    static const uint8_t id[16] = {1, 2, 3, 255}, other[16] = {9};
    ttr_event_begin(b, TTR_KIND_SPAN, 5, "a,b", "na\xffme _x");
    ttr_event_set_provider(b, "prov:1");
    ttr_event_set_thread(b, 7, UINT64_C(1) << 63);
    ttr_event *e = ttr_event_attributes(b);
    e->duration = UINT64_C(1) << 40;
    e->link = 12;
    e->tag = 65535;
    e->level = 3;
    e->opcode = 4;
    e->keyword = UINT64_MAX;
    e->sequence = 77;
    e->cpu = 130000;
    e->flags = TTR_EVENT_HAS_CPU | TTR_EVENT_PARTIAL | TTR_EVENT_NO_TIME;
    e->activity = id;
    e->related = other;
    ttr_add_null(b, "null");
    ttr_add_field(b, &(ttr_field){.name = {"gone", 4}, .value = {.hint = TTR_DISPLAY_ABSENT}});
    ttr_add_bool(b, "bool", true);
    ttr_add_uint(b, "uint", UINT64_MAX);
    ttr_add_int(b, "int", INT64_MIN);
    ttr_add_text(b, "text", "b\xff\n");
    ttr_add_bytes(b, "bytes", "\x00\xff", 2);
    ttr_add_bytes(b, "", "", 0);
    ttr_add_uint(b, "vpid", 1);
    ttr_add_uint(b, "uint", 2);
    ttr_add_uint(b, "bytes_length", 3);
    ttr_add_field(b, &(ttr_field){.name = {"p", 1},
                                  .value = {.type = TTR_TYPE_UINT,
                                            .hint = TTR_DISPLAY_POINTER,
                                            .v.u = 0x1234,
                                            .bits = 32}});
    ttr_add_field(
        b, &(ttr_field){
               .name = {"k", 1},
               .value = {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_KOID, .v.u = 99, .bits = 64}});
    ttr_add_field(b, &(ttr_field){.name = {"n", 1},
                                  .value = {.type = TTR_TYPE_TEXT,
                                            .hint = TTR_DISPLAY_DECIMAL,
                                            .text = {"-170141183460469231731", 22}}});
    ttr_add_field(b, &(ttr_field){.name = {"five", 4},
                                  .value = {.type = TTR_TYPE_INT, .v.s = -16, .bits = 5}});
    put_lists(b);
    put_alike(b);
    ttr_add_field(b, &(ttr_field){.name = {"none", 4}, .value = {.type = TTR_TYPE_ARRAY}});
    ttr_add_field(b, &(ttr_field){.name = {"empty", 5}, .value = {.type = TTR_TYPE_STRUCT}});
    ttr_add_field(b,
                  &(ttr_field){.name = {"one", 3}, .value = {.type = TTR_TYPE_STRUCT, .count = 1}});
    ttr_add_field(b, &(ttr_field){.depth = 1,
                                  .name = {"number", 6},
                                  .value = {.type = TTR_TYPE_TEXT, .text = {"5", 1}}});
    ttr_add_field(b,
                  &(ttr_field){.name = {"hex", 3}, .value = {.type = TTR_TYPE_ARRAY, .count = 1}});
    ttr_add_field(
        b,
        &(ttr_field){
            .depth = 1,
            .value = {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_POINTER, .v.u = 200, .bits = 8}});
}

static void check_everything(enum ctf_version version, bool is_big, bool is_natural, bool is_listed)
{
    struct attributes s;
    struct buffer expected;
    ttr_batch batch;
    begin(&s, version, is_big, is_natural);
    s.is_listed = is_listed;
    buffer_init(&expected, alloc_default());
    put_everything(s.builder);
    assert_int_equal(ttr_event_build(s.builder, &batch, NULL), TTR_OK);
    dump(s.t, batch.event, &expected);
    put_everything(s.builder);
    check_event(&s, &expected);
    assert_int_equal(losses(&s), 0);
    buffer_free(&expected);
    end(&s);
}

static void check_versions(bool is_listed)
{
    for (int is_big = 0; is_big < 2; is_big++) {
        check_everything(CTF_1_8, is_big, false, is_listed);
        check_everything(CTF_2, is_big, false, is_listed);
        check_everything(CTF_RFC_1_1, is_big, false, is_listed);
        check_everything(CTF_RFC_1_1, is_big, true, is_listed);
    }
}

/* An empty list must not look like one that was truncated. */
static void event_without_fields_lists_zero_fields(void **state)
{
    static const enum ctf_version versions[] = {CTF_1_8, CTF_2, CTF_RFC_1_1};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct attributes s;
        struct buffer expected;
        ttr_batch batch;
        struct ctf_class_key key;
        begin(&s, versions[i], false, false);
        s.is_listed = true;
        buffer_init(&expected, alloc_default());
        ttr_event_begin(s.builder, TTR_KIND_INSTANT, 0, NULL, "x");
        assert_int_equal(ttr_event_build(s.builder, &batch, NULL), TTR_OK);
        dump(s.t, batch.event, &expected);
        const struct ctf_items *items = collect(&s, batch.event, &key);
        const ttr_value *list = &items->field[items->n - 1].value;
        assert_int_equal(list->type, TTR_TYPE_ARRAY);
        assert_int_equal(list->count, 0);
        assert_null(list->text.p);
        ttr_event_begin(s.builder, TTR_KIND_INSTANT, 0, NULL, "x");
        check_event(&s, &expected);
        buffer_free(&expected);
        end(&s);
    }
}

static void full_event_survives_round_trip(void **state)
{
    (void)state;
    check_versions(false);
}

static void listed_fields_survive_round_trip(void **state)
{
    (void)state;
    check_versions(true);
}

/* Arrays of empty elements: no reader could check their number; and in CTF 1.8 sequences in a
 * context. */
static void inexpressible_events_are_refused(void **state)
{
    (void)state;
    static const enum ctf_version versions[] = {CTF_1_8, CTF_2, CTF_RFC_1_1};
    for (size_t i = 0; i < 6; i++) {
        struct attributes s;
        struct ctf_class_key key;
        ttr_batch batch;
        bool is_context = i >= 3, is_refused = !is_context || versions[i % 3] == CTF_1_8;
        begin(&s, versions[i % 3], false, false);
        ttr_event_begin(s.builder, TTR_KIND_INSTANT, 0, "", "x");
        ttr_add_field(s.builder,
                      &(ttr_field){.name = {"a", 1},
                                   .group = is_context ? TTR_GROUP_CONTEXT : TTR_GROUP_PAYLOAD,
                                   .value = {.type = TTR_TYPE_ARRAY, .count = 1}});
        ttr_add_field(
            s.builder,
            &(ttr_field){.depth = 1,
                         .group = is_context ? TTR_GROUP_CONTEXT : TTR_GROUP_PAYLOAD,
                         .value = {.type = is_context ? TTR_TYPE_UINT : TTR_TYPE_STRUCT}});
        assert_int_equal(ttr_event_build(s.builder, &batch, NULL), TTR_OK);
        const struct ctf_items *items = collect(&s, batch.event, &key);
        assert_int_equal(ctf_get_event_class(&s.trace, s.kind, items, &key) == NULL, is_refused);
        assert_int_equal(ctf_is_event_class_refused(s.kind, items, &key), is_refused);
        assert_int_equal(s.kind->class->events_n, !is_refused);
        assert_null(is_refused ? ctf_get_event_class(&s.trace, s.kind, items, &key) : NULL);
        end(&s);
    }
}

static void floats_keep_their_bits(void **state)
{
    (void)state;
    static const enum ctf_version versions[] = {CTF_1_8, CTF_2, CTF_RFC_1_1};
    for (size_t i = 0; i < 3; i++) {
        struct attributes s;
        struct buffer expected;
        begin(&s, versions[i], false, false);
        buffer_init(&expected, alloc_default());
        ttr_event_begin(s.builder, TTR_KIND_INSTANT, 0, "", "");
        ttr_add_float(s.builder, "f", -0.1);
        ttr_add_field(s.builder,
                      &(ttr_field){.name = {"g", 1},
                                   .value = {.type = TTR_TYPE_FLOAT, .v.f = 1.5, .bits = 32}});
        ttr_add_field(s.builder,
                      &(ttr_field){.name = {"h", 1},
                                   .value = {.type = TTR_TYPE_FLOAT, .v.f = 0.1, .bits = 32}});
        put(&expected, "instant \"\" \"\" \"\" - 0 0 0 0 0 0 0 0 0");
        put(&expected, "\nf:float64^0=bfb999999999999a;\ng:float32^0=3ff8000000000000;\nh:float64^"
                       "0=3fb999999999999a;");
        check_event(&s, &expected);
        buffer_free(&expected);
        end(&s);
    }
}

static void changed_values_are_counted_as_losses(void **state)
{
    (void)state;
    struct attributes s;
    struct buffer expected;
    begin(&s, CTF_1_8, false, false);
    buffer_init(&expected, alloc_default());
    ttr_event_begin(s.builder, (ttr_kind)77, 0, "", "x");
    ttr_add_field(s.builder, &(ttr_field){.name = {"nul", 3},
                                          .value = {.type = TTR_TYPE_TEXT, .text = {"a\0b", 3}}});
    ttr_add_field(
        s.builder,
        &(ttr_field){.name = {"raw", 3},
                     .value = {.type = TTR_TYPE_BYTES, .hint = TTR_DISPLAY_RAW, .text = {"r", 1}}});
    ttr_add_field(s.builder, &(ttr_field){.name = {"mixed", 5},
                                          .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    ttr_add_field(s.builder, &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = 1}});
    ttr_add_field(s.builder,
                  &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_TEXT, .text = {"t", 1}}});
    for (unsigned i = 0; i < 14; i++)
        ttr_add_field(s.builder,
                      &(ttr_field){.depth = (uint16_t)i,
                                   .name = {"d", 1},
                                   .value = {.type = TTR_TYPE_STRUCT, .count = i < 13 ? 2 : 1}});
    for (unsigned i = 14; i > 0; i--)
        ttr_add_field(s.builder, &(ttr_field){.depth = (uint16_t)i,
                                              .name = {"u", 1},
                                              .value = {.type = TTR_TYPE_UINT, .v.u = i}});
    put(&expected, "none \"x\" \"\" \"\" - 0 0 0 0 0 0 0 0 "
                   "0\nnul:bytes0^0=a<00>b;\nraw:bytes0^0=r;\nmixed:struct0^0=2;\n 0:uint64^0=1;\n "
                   "1:text0^0=t;");
    for (unsigned i = 0; i < 12; i++)
        put(&expected, "\n%*sd:struct0^0=2;", (int)i, "");
    put(&expected, "\n%*sd:struct0^0=0;", 12, "");
    /* The struct that is too deep contains two numbers in another struct, and one more: three
     * fields are dropped with it. */
    for (unsigned i = 12; i > 0; i--)
        put(&expected, "\n%*su:uint64^0=%x;", (int)i, "", i);
    check_event(&s, &expected);
    assert_int_equal(s.ledger[CTF_LOST_KIND].count, 1);
    assert_int_equal(s.ledger[CTF_LOST_NUL].count, 1);
    assert_int_equal(s.ledger[CTF_LOST_HINT].count, 1);
    assert_int_equal(s.ledger[CTF_LOST_MIXED].count, 1);
    assert_int_equal(s.ledger[CTF_LOST_DEPTH].count, 1);
    assert_int_equal(losses(&s), 5);
    buffer_free(&expected);
    end(&s);
}

static void thread_names_are_written_as_records(void **state)
{
    (void)state;
    struct attributes s;
    ttr_error error;
    struct ctf_conventions_attributes attributes;
    struct buffer body;
    begin(&s, CTF_2, false, false);
    const struct ctf_items_config what = {.out = &s.out, .version = CTF_2, .has_conventions = true};
    ctf_items_clear(&s.items);
    ctf_items_add_constant(&s.items, CTF_ATTRIBUTE_KIND, CTF_KIND_NAMES, (ttr_text){"names", 5});
    ctf_items_add_thread(&s.items,
                         &(ttr_thread){.pid = 5, .tid = 6, .pid_known = true, .tid_known = true},
                         CTF_ATTRIBUTE_PID);
    s.items.context_n = s.items.n;
    ctf_items_add_text(&s.items, "process", (ttr_text){"proc", 4});
    ctf_items_add_text(&s.items, "thread", (ttr_text){"thr", 3});
    ctf_items_complete(&s.items, &what, 0);
    const struct ctf_class_key key = {.name = {"names", 5}, .is_unnamed = true};
    assert_non_null(ctf_get_event_class(&s.trace, s.kind, &s.items, &key));
    struct ctf_event_class *class = s.kind->class->events[0];
    buffer_init(&body, alloc_default());
    struct field_encoder encode;
    encode.put = bit_writer_init(&body);
    encode_begin(&encode, s.items.field, s.items.n);
    encode_members(&encode, class->context);
    encode_members(&encode, class->payload);
    assert_int_equal(ctf_conventions_prepare(&s.trace.description, &error), TTR_OK);
    struct layout_spec spec = {
        .t = s.t,
        .arena = &s.trace.description.arena,
        .root = {[ROOT_SPECIFIC_CONTEXT] = class->context, [ROOT_PAYLOAD] = class->payload}};
    const struct layout *layout = layout_compile(&spec, &error);
    assert_int_equal(
        ctf_conventions_find_attributes(&s.trace.description, s.t, class, &attributes, &error),
        TTR_OK);
    assert_true(attributes.is_names);
    s.schema = (struct layout_schema){.layout = layout, .place = place};
    ttr_event event = {.payload = body.bytes, .payload_size = (uint32_t)body.n};
    event.schema =
        context_add_schema(s.t, &(struct schema){.ops = &layout_field_ops, .ctx = &s.schema});
    const struct bits bits = bits_init(body.bytes, 0, encode.put.at);
    assert_true(ctf_conventions_set_attributes(&attributes, s.t, 0, &bits, &event));
    struct input in = {.base = {.t = s.t}};
    assert_true(ctf_conventions_set_thread_names(&in, &event));
    ttr_thread thread;
    assert_true(ttr_thread_get(s.t, event.thread, &thread));
    assert_string_equal(ttr_text_get(s.t, thread.process_name).p, "proc");
    assert_string_equal(ttr_text_get(s.t, thread.thread_name).p, "thr");
    buffer_free(&body);
    end(&s);
}

static void truncated_event_bodies_do_not_crash(void **state)
{
    (void)state;
    const struct ctf_conventions_attributes attributes = {
        .n = 2,
        .bytes = 12,
        .pos = {{.at = 0, .bytes = 8, .attribute = CTF_ATTRIBUTE_DURATION},
                {.at = 8, .bytes = 4, .attribute = CTF_ATTRIBUTE_TID}}};
    ttr *t = ttr_new(NULL);
    static const uint8_t bytes[12] = {1};
    for (size_t n = 0; n <= 12; n++) {
        ttr_event event = {.kind = TTR_KIND_SPAN};
        uint8_t *body = malloc(n + 1);
        assert_non_null(body);
        memcpy(body, bytes, n);
        const struct bits bits = bits_init(body, 0, n * 8);
        assert_true(ctf_conventions_set_attributes(&attributes, t, 0, &bits, &event));
        assert_int_equal(event.duration, n == 12);
        free(body);
    }
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_name_survives_escaping),
        cmocka_unit_test(only_necessary_bytes_are_escaped),
        cmocka_unit_test(attribute_names_outside_contexts_are_not_escaped),
        cmocka_unit_test(levels_survive_round_trip),
        cmocka_unit_test(full_event_survives_round_trip),
        cmocka_unit_test(listed_fields_survive_round_trip),
        cmocka_unit_test(event_without_fields_lists_zero_fields),
        cmocka_unit_test(inexpressible_events_are_refused),
        cmocka_unit_test(floats_keep_their_bits),
        cmocka_unit_test(changed_values_are_counted_as_losses),
        cmocka_unit_test(thread_names_are_written_as_records),
        cmocka_unit_test(truncated_event_bodies_do_not_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
