/* Random types over random bits. A second, slow decoder checks the results: it interprets the types
 * directly, reads bit by bit, and finds lengths and selectors by name. */
#include "support/layout_test.h"

/* --- The slow decoder --- */

#define VALUES 4096

/* Appends to a text of limited size. */
static void add(char *to, size_t room, const char *format, ...)
{
    va_list list;
    size_t n = strlen(to);
    va_start(list, format);
    (void)vsnprintf(to + n, room - n, format, list);
    va_end(list);
}

struct slow {
    const uint8_t *bytes;
    uint64_t at, end;
    int order; /* byte order of the bits just read: 1 little, 2 big, 0 none */
    enum layout_status why;
    char path[256]; /* path of the current member, "p.a.b" */
    struct {
        char path[256];
        uint64_t value;
    } known[VALUES]; /* numbers read so far; the last one of a path counts */
    size_t known_n;
    struct text *to;
};

static bool slow_stop(struct slow *slow, enum layout_status why)
{
    slow->why = why;
    return false;
}

static bool slow_align(struct slow *slow, uint64_t bits)
{
    uint64_t to = slow->at + (bits - slow->at % bits) % bits;
    if (to > slow->end)
        return slow_stop(slow, LAYOUT_TRUNCATED);
    slow->at = to;
    return true;
}

static bool slow_bits(struct slow *slow, const struct type *type, uint64_t *value)
{
    if (!slow_align(slow, UINT64_C(1) << type->align))
        return false;
    if (type->unit && slow->at % type->unit + type->bits > type->unit &&
        !slow_align(slow, type->unit))
        return false;
    int order = type->is_big_endian ? 2 : 1;
    if (slow->at % 8 && slow->order && slow->order != order)
        return slow_stop(slow, LAYOUT_MISALIGNED);
    if (type->bits > slow->end - slow->at)
        return slow_stop(slow, LAYOUT_TRUNCATED);
    slow->order = order;
    uint64_t x = 0;
    for (uint64_t i = 0; i < type->bits; i++) {
        uint64_t place = slow->at + i, bit;
        if (type->is_big_endian)
            bit = slow->bytes[place / 8] >> (7 - place % 8) & 1;
        else
            bit = slow->bytes[place / 8] >> place % 8 & 1;
        bool is_high_first = type->is_big_endian != type->is_reversed;
        x |= bit << (is_high_first ? type->bits - 1 - i : i);
    }
    slow->at += type->bits;
    if (type->kind == TYPE_INT && type->bits < 64 && x >> (type->bits - 1) & 1)
        x |= UINT64_MAX << type->bits;
    *value = x;
    return true;
}

static void slow_know(struct slow *slow, uint64_t value)
{
    if (slow->known_n == VALUES)
        fail_msg("too many values for the slow reader");
    memcpy(slow->known[slow->known_n].path, slow->path, sizeof slow->path);
    slow->known[slow->known_n++].value = value;
}

static bool slow_find(struct slow *slow, const struct type_reference *reference, uint64_t *value)
{
    char path[256] = "p";
    for (uint32_t i = 0; i < reference->names_n; i++)
        add(path, sizeof path, ".%.*s", (int)reference->names[i].n, reference->names[i].p);
    for (size_t i = slow->known_n; i-- > 0;)
        if (strcmp(slow->known[i].path, path) == 0) {
            *value = slow->known[i].value;
            return true;
        }
    return slow_stop(slow, LAYOUT_NUMBER_ABSENT);
}

struct slow_name {
    const char *name;
    unsigned depth;
};

static void slow_give(struct slow *slow, struct slow_name at, ttr_value value)
{
    put(slow->to, "%s", slow->to->n ? " " : "");
    for (unsigned i = 0; i < at.depth; i++)
        put(slow->to, ".");
    put(slow->to, "%s%s", at.name, at.name[0] ? "=" : "");
    put_value(slow->to, &value);
}

static bool slow_value(struct slow *slow, const struct type *type, struct slow_name at);

static bool slow_number(struct slow *slow, const struct type *type, struct slow_name at)
{
    ttr_value value = {.text = {"", 0}};
    if (!slow_bits(slow, type, &value.v.u))
        return false;
    slow_know(slow, value.v.u);
    value.type = type->kind == TYPE_INT    ? TTR_TYPE_INT
                 : type->kind == TYPE_BOOL ? TTR_TYPE_BOOL
                                           : TTR_TYPE_UINT;
    if (type->kind == TYPE_FLOAT) {
        uint32_t single = (uint32_t)value.v.u;
        float f;
        memcpy(&f, &single, 4);
        value.type = TTR_TYPE_FLOAT;
        value.v.f = type->bits == 32 ? (double)f : double_of_bits(value.v.u);
    }
    if (type->labels) {
        value.hint = TTR_DISPLAY_ENUM;
        for (uint32_t i = 0; i < type->labels->n; i++)
            for (uint32_t k = 0; k < type->labels->label[i].ranges_n; k++) {
                const struct type_range *range = &type->labels->label[i].ranges[k];
                bool is_in =
                    type->labels->is_signed
                        ? (int64_t)range->low <= value.v.s && value.v.s <= (int64_t)range->high
                        : range->low <= value.v.u && value.v.u <= range->high;
                if (is_in && value.count++ == 0)
                    value.text = type->labels->label[i].name;
            }
    }
    slow_give(slow, at, value);
    return true;
}

static bool slow_leb(struct slow *slow, const struct type *type, struct slow_name at)
{
    uint64_t x = 0;
    if (!slow_align(slow, 8))
        return false;
    for (unsigned shift = 0;; shift += 7) {
        if (slow->end - slow->at < 8)
            return slow_stop(slow, LAYOUT_TRUNCATED);
        uint8_t byte = slow->bytes[slow->at / 8];
        slow->at += 8;
        if (shift < 64)
            x |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (type->kind == TYPE_VAR_INT && byte & 0x40 && shift + 7 < 64)
            x |= UINT64_MAX << (shift + 7);
        break;
    }
    slow_know(slow, x);
    slow_give(slow, at,
              (ttr_value){.v = {.u = x},
                          .type = type->kind == TYPE_VAR_INT ? TTR_TYPE_INT : TTR_TYPE_UINT});
    return true;
}

static bool slow_string(struct slow *slow, struct slow_name at)
{
    if (!slow_align(slow, 8))
        return false;
    uint64_t begin = slow->at / 8, n = 0;
    while (begin + n < slow->end / 8 && slow->bytes[begin + n])
        n++;
    if (begin + n >= slow->end / 8)
        return slow_stop(slow, LAYOUT_TRUNCATED);
    slow->at += 8 * (n + 1);
    slow_give(slow, at,
              (ttr_value){.text = {(const char *)slow->bytes + begin, n}, .type = TTR_TYPE_TEXT});
    return true;
}

static bool slow_bytes(struct slow *slow, const struct type *type, struct slow_name at)
{
    uint64_t count = type->count;
    if (!slow_align(slow, 8) ||
        (type->reference.names_n && !slow_find(slow, &type->reference, &count)))
        return false;
    if (count > (slow->end - slow->at) / 8)
        return slow_stop(slow, count > UINT32_MAX ? LAYOUT_OUT_OF_RANGE : LAYOUT_TRUNCATED);
    const char *p = (const char *)slow->bytes + slow->at / 8;
    slow->at += count * 8;
    if (type->kind == TYPE_TEXT)
        slow_give(slow, at, (ttr_value){.text = {p, strnlen(p, count)}, .type = TTR_TYPE_TEXT});
    else
        slow_give(slow, at, (ttr_value){.text = {p, count}, .type = TTR_TYPE_BYTES});
    return true;
}

static bool slow_array(struct slow *slow, const struct type *type, struct slow_name at)
{
    uint64_t count = type->count;
    if (type->has_inline_length) {
        if (!slow_align(slow, UINT64_C(1) << type->minimum_align) ||
            !slow_bits(slow, type->length_type, &count))
            return false;
    } else if (!slow_align(slow, UINT64_C(1) << type->align) ||
               (type->kind == TYPE_SEQUENCE && !slow_find(slow, &type->reference, &count))) {
        return false;
    }
    if (count > UINT32_MAX)
        return slow_stop(slow, LAYOUT_OUT_OF_RANGE);
    slow_give(slow, at, (ttr_value){.type = TTR_TYPE_ARRAY, .count = (uint32_t)count});
    for (uint64_t i = 0; i < count; i++)
        if (!slow_value(slow, type->element, (struct slow_name){"", at.depth + 1}))
            return false;
    return true;
}

static bool slow_in(const struct type_range *ranges, uint32_t n, bool is_signed, uint64_t x)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_signed
                ? (int64_t)x >= (int64_t)ranges[i].low && (int64_t)x <= (int64_t)ranges[i].high
                : x >= ranges[i].low && x <= ranges[i].high)
            return true;
    return false;
}

static bool slow_choice(struct slow *slow, const struct type *type, struct slow_name at)
{
    uint64_t selector;
    if (!slow_find(slow, &type->reference, &selector))
        return false;
    if (type->kind == TYPE_OPTIONAL) {
        bool is_there = type->ranges_n ? slow_in(type->ranges, type->ranges_n,
                                                 type->is_selector_signed, selector)
                                       : selector != 0;
        if (is_there)
            return slow_value(slow, type->element, at);
        slow_give(slow, at, (ttr_value){.hint = TTR_DISPLAY_ABSENT});
        return true;
    }
    for (uint32_t i = 0; i < type->members_n; i++)
        if (slow_in(type->members[i].ranges, type->members[i].ranges_n, type->is_selector_signed,
                    selector))
            return slow_value(slow, type->members[i].type, at);
    return slow_stop(slow, LAYOUT_NO_OPTION);
}

static bool slow_members(struct slow *slow, const struct type *type, unsigned depth)
{
    if (!slow_align(slow, UINT64_C(1) << type->align))
        return false;
    size_t length = strlen(slow->path);
    for (uint32_t i = 0; i < type->members_n; i++) {
        add(slow->path, sizeof slow->path, ".%s", type->members[i].name.p);
        if (!slow_value(slow, type->members[i].type,
                        (struct slow_name){type->members[i].shown.p, depth}))
            return false;
        slow->path[length] = 0;
    }
    return true;
}

static bool slow_value(struct slow *slow, const struct type *type, struct slow_name at)
{
    switch (type->kind) {
    case TYPE_VAR_UINT:
    case TYPE_VAR_INT:
        return slow_leb(slow, type, at);
    case TYPE_STRING:
        return slow_string(slow, at);
    case TYPE_TEXT:
    case TYPE_BLOB:
        return slow_bytes(slow, type, at);
    case TYPE_STRUCT:
        if (!slow_align(slow, UINT64_C(1) << type->align))
            return false;
        slow_give(slow, at, (ttr_value){.type = TTR_TYPE_STRUCT, .count = type->members_n});
        return slow_members(slow, type, at.depth + 1);
    case TYPE_ARRAY:
    case TYPE_SEQUENCE:
        return slow_array(slow, type, at);
    case TYPE_OPTIONAL:
    case TYPE_VARIANT:
        return slow_choice(slow, type, at);
    default:
        return slow_number(slow, type, at);
    }
}

/* --- Random types --- */

struct maker {
    uint64_t seed;
    char text[4096];
    char path[256];
    char numbers[64][256]; /* paths of the unsigned numbers so far */
    unsigned numbers_n, names, orders;
};

static uint64_t any(struct maker *maker, uint64_t n)
{
    return support_random(&maker->seed) % n;
}

#define ADD(...) add(maker->text, sizeof maker->text, __VA_ARGS__)

static void make_type(struct maker *maker, unsigned depth, const char *name);

static void make_members(struct maker *maker, unsigned depth, unsigned n)
{
    size_t length = strlen(maker->path);
    for (unsigned i = 0; i < n; i++) {
        char name[16] = "";
        add(name, sizeof name, "%s%u", any(maker, 8) ? "m" : "_m", maker->names++);
        ADD("%s%s:", i ? " " : "", name);
        add(maker->path, sizeof maker->path, ".%s", name);
        make_type(maker, depth, maker->path);
        maker->path[length] = 0;
    }
}

static void make_number(struct maker *maker, bool is_small)
{
    static const unsigned usual[] = {8, 16, 32, 64, 1, 3, 4, 5};
    bool is_float = !is_small && any(maker, 8) == 0, is_signed = !is_small && any(maker, 3) == 0;
    uint64_t bits = is_float        ? UINT64_C(32) << any(maker, 2)
                    : is_small      ? 1 + any(maker, 4)
                    : any(maker, 2) ? usual[any(maker, 8)]
                                    : 1 + any(maker, 64);
    ADD("%c%u", is_float ? 'f' : is_signed ? 'i' : 'u', (unsigned)bits);
    bool is_big = maker->orders == 2 ? any(maker, 2) : maker->orders;
    ADD("%s%s", is_big ? ">" : "", any(maker, 12) ? "" : "~");
    if (any(maker, 4) == 0)
        ADD("@%u", 1u << any(maker, 8));
    else if (any(maker, 8) == 0 && bits <= 32 && !is_float)
        ADD("/%u", any(maker, 2) ? 32u : 40u);
    if (!is_float && any(maker, 8) == 0)
        ADD(is_signed       ? "=A=-3..2,B=0,C=4..100;"
            : any(maker, 2) ? "=A=1..3,B=5;"
                            : "=A=0..3,B=2..9;");
    if (!is_signed && !is_float && bits <= 4 && maker->numbers_n < 64)
        memcpy(maker->numbers[maker->numbers_n++], maker->path, sizeof maker->path);
}

static void make_array(struct maker *maker, unsigned depth)
{
    if (any(maker, 4) == 0)
        ADD("[:u%u%s]", 1 + (unsigned)any(maker, 4), maker->orders == 1 ? ">" : "");
    else if (maker->numbers_n && any(maker, 3))
        ADD("[%s]", maker->numbers[any(maker, maker->numbers_n)]);
    else
        ADD("[%u]", (unsigned)any(maker, 6));
    make_type(maker, depth + 1, maker->path);
}

static void make_choice(struct maker *maker, unsigned depth)
{
    const char *selector = maker->numbers[any(maker, maker->numbers_n)];
    if (any(maker, 2)) {
        ADD("?%s%s", selector, any(maker, 2) ? ":" : "(0,2..5):");
        make_type(maker, depth + 1, maker->path);
        return;
    }
    ADD("|%s(a=0..3:", selector);
    make_type(maker, depth + 1, maker->path);
    ADD(",b=4..%u,15:", (unsigned)(7 + any(maker, 8)));
    make_type(maker, depth + 1, maker->path);
    ADD(")");
}

static void make_type(struct maker *maker, unsigned depth, const char *name)
{
    uint64_t kind = any(maker, depth > 3 ? 16 : 24);
    (void)name;
    if (kind < 5 || (kind >= 21 && maker->numbers_n == 0)) {
        make_number(maker, true);
    } else if (kind < 11) {
        make_number(maker, false);
    } else if (kind < 13) {
        ADD("s");
    } else if (kind == 13) {
        ADD("%c", any(maker, 2) ? 'U' : 'I');
    } else if (kind < 16) {
        bool is_counted = maker->numbers_n && any(maker, 2);
        ADD("%c", any(maker, 2) ? 'T' : 'B');
        if (is_counted)
            ADD("(%s)", maker->numbers[any(maker, maker->numbers_n)]);
        else
            ADD("%u", (unsigned)any(maker, 20));
    } else if (kind < 18) {
        ADD("{");
        make_members(maker, depth + 1, (unsigned)any(maker, 4));
        ADD("}");
        if (any(maker, 8) == 0)
            ADD("@%u", 1u << any(maker, 8));
    } else if (kind < 21) {
        make_array(maker, depth);
    } else {
        make_choice(maker, depth);
    }
}

/* --- Both decoders on the same bits --- */

#define BYTES 160u

struct both {
    struct table table;
    struct slow slow;
    struct maker maker;
    struct text fast, wanted;
    unsigned fine, refused, other, cache;
    ttr_field_buffer *buffer;
};

static void cut_everywhere(struct both *both, const uint8_t *bytes, uint64_t at, uint64_t end)
{
    for (uint64_t cut = at; cut < end; cut++) {
        size_t n = (size_t)(cut + 7) / 8;
        uint8_t *copy = malloc(n ? n : 1);
        memcpy(copy, bytes, n);
        struct layout_cursor run = {.bits = bits_init(copy, at, cut)};
        if (table_dump(&both->table, &run, &both->fast) != LAYOUT_TRUNCATED)
            fail_msg("%s at %u cut at %u of %u: %s", both->maker.text, (unsigned)at, (unsigned)cut,
                     (unsigned)end, both->fast.p);
        free(copy);
    }
}

static void compare(struct both *both, const struct type *payload, const uint8_t *bytes,
                    uint64_t at)
{
    struct slow *slow = &both->slow;
    *slow =
        (struct slow){.bytes = bytes, .at = at, .end = BYTES * 8, .path = "p", .to = &both->wanted};
    both->wanted.n = 0;
    both->wanted.p[0] = 0;
    (void)slow_members(slow, payload, 0);
    struct layout_cursor run = {.bits = bits_init(bytes, at, BYTES * 8)};
    enum layout_status end = table_dump(&both->table, &run, &both->fast);
    put(&both->wanted, "%s%s", both->wanted.n && slow->why ? " " : "", end_text(slow->why));
    if (end != slow->why)
        fail_msg("%s at %u\n  got    %s\n  wanted %s", both->maker.text, (unsigned)at, both->fast.p,
                 both->wanted.p);
    if (end != LAYOUT_OK) {
        both->other++;
        return;
    }
    both->fine++;
    assert_int_equal(layout_find_record_end(both->table.layout, &run), LAYOUT_OK);
    if (strcmp(both->fast.p, both->wanted.p) != 0 || run.bits.at != slow->at)
        fail_msg("%s at %u\n  got    %s\n  wanted %s\n  end %u wanted %u", both->maker.text,
                 (unsigned)at, both->fast.p, both->wanted.p, (unsigned)run.bits.at,
                 (unsigned)slow->at);
    if (both->fine % 8 == 0 && both->wanted.n < 1000)
        cut_everywhere(both, bytes, at, run.bits.at);
}

/* --- Fields of events, cached and one by one --- */

static bool is_same_field(const ttr_field *a, const ttr_field *b)
{
    const bool is_alike = a->name.p == b->name.p && a->name.n == b->name.n &&
                          a->name_id == b->name_id && a->depth == b->depth &&
                          a->group == b->group && a->choices == b->choices &&
                          a->value.v.u == b->value.v.u && a->value.count == b->value.count &&
                          a->value.text_id == b->value.text_id && a->value.type == b->value.type &&
                          a->value.hint == b->value.hint && a->value.bits == b->value.bits &&
                          a->value.base == b->value.base && a->value.step == b->value.step &&
                          a->value.text.n == b->value.text.n;
    return is_alike &&
           (a->value.text.n == 0 || memcmp(a->value.text.p, b->value.text.p, a->value.text.n) == 0);
}

static void same_labels(struct both *both, const ttr_fields *fields, const ttr_field *field)
{
    ttr_text wanted, label;
    for (uint32_t i = 0; i <= field->value.count && i < 8; i++) {
        const bool has_label = ttr_fields_label(fields, &field->value, i, &wanted);
        assert_int_equal(ttr_event_label(both->buffer, &field->value, i, &label), has_label);
        assert_true(!has_label || (label.n == wanted.n && memcmp(label.p, wanted.p, label.n) == 0));
    }
}

static void same_fields(struct both *both, const ttr_event *event, unsigned of_schema)
{
    ttr_fields fields;
    ttr_field wanted;
    const ttr_field *field;
    unsigned of_event = 0;
    ttr_fields_begin(both->table.t, event, &fields);
    for (uint32_t n = ttr_event_fields(both->buffer, event, &field); n > 0;
         n = ttr_event_fields_next(both->buffer, &field)) {
        for (uint32_t i = 0; i < n; i++, of_event++)
            if (!ttr_fields_next(&fields, &wanted) || !is_same_field(&field[i], &wanted))
                fail_msg("%s: held field %u of event %u is another", both->maker.text, of_event,
                         of_schema);
        same_labels(both, &fields, &field[n - 1]);
    }
    assert_false(ttr_fields_next(&fields, &wanted));
    assert_int_equal(ttr_event_fields_next(both->buffer, &field), 0);
}

static void place_all(const struct layout_schema *schema, const ttr_event *event,
                      struct layout_cursor *run)
{
    (void)schema;
    run->bits = bits_init(event->payload, event->body, event->payload_size * UINT64_C(8));
}

/* Decodes complete and truncated records twice, so that the cache of one record is reused for
 * records of other sizes. */
static void hold_records(struct both *both, uint8_t *const *bytes, unsigned n)
{
    struct table *table = &both->table;
    const bool is_at_any_byte = layout_is_byte_aligned(table->layout);
    struct layout_schema ctx = {.layout = table->layout,
                                .scratch = &table->scratch,
                                .place = place_all,
                                .is_in_payload = is_at_any_byte,
                                .body_mask = 0xff};
    const struct schema known = {.ops = &layout_field_ops,
                                 .ctx = &ctx,
                                 .start = layout_get_iter_program(table->layout),
                                 .start_with = layout_get_iter_flags(&ctx)};
    const ttr_id schema = context_add_schema(table->t, &known);
    for (unsigned i = 0; i < 8 * n; i++) {
        const uint32_t cut = any(&both->maker, 4) ? 0 : (uint32_t)any(&both->maker, BYTES),
                       body = 8u * (unsigned)any(&both->maker, 5);
        struct layout_cursor run = {.bits = bits_init(bytes[i % n], body, BYTES * 8)};
        const bool is_fine =
            body / 8 <= BYTES - cut && layout_find_record_end(table->layout, &run) == LAYOUT_OK;
        const uint32_t size = is_fine ? (uint32_t)(run.bits.at + 7) / 8 : BYTES - cut;
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, bytes[i % n], size);
        const ttr_event event = {.payload = copy,
                                 .payload_size = size,
                                 .body = body,
                                 .schema = schema,
                                 .flags = is_fine ? 0 : TTR_EVENT_PARTIAL};
        same_fields(both, &event, i);
        arena_reset(&table->scratch);
        free(copy);
    }
    both->cache += is_at_any_byte;
}

#define RECORDS 6u

static void make_records(struct maker *maker, uint8_t **bytes)
{
    for (unsigned i = 0; i < RECORDS; i++) {
        bytes[i] = malloc(BYTES);
        for (unsigned k = 0; k < BYTES; k++)
            bytes[i][k] = any(maker, 3) ? (uint8_t)any(maker, 256) : (uint8_t)any(maker, 4);
    }
}

static void free_records(uint8_t **bytes)
{
    for (unsigned i = 0; i < RECORDS; i++)
        free(bytes[i]);
}

static void hold_records_of(struct both *both)
{
    struct layout_spec spec = {.root[ROOT_PAYLOAD] =
                                   type_of_text(&both->table.arena, both->maker.text)};
    uint8_t *bytes[RECORDS];
    both->table.text = both->maker.text;
    if (!table_compile(&both->table, &spec))
        fail_msg("%s: %s", both->maker.text, both->table.error.text);
    make_records(&both->maker, bytes);
    for (unsigned i = 0; i < RECORDS; i++)
        for (unsigned k = 0; k < BYTES / 4; k++)
            bytes[i][k] = (uint8_t)(bytes[i][k] % (i % 2 ? 4 : 8));
    hold_records(both, bytes, RECORDS);
    free_records(bytes);
}

static void one_type(struct both *both, uint64_t seed)
{
    both->maker = (struct maker){.seed = seed, .path = "p"};
    struct maker *maker = &both->maker;
    maker->orders = any(maker, 8) < 4 ? 0 : any(maker, 4) < 3 ? 1 : 2;
    make_members(maker, 0, 1 + (unsigned)any(maker, 6));
    arena_reset(&both->table.arena);
    both->table.text = maker->text;
    struct layout_spec spec = {.root[ROOT_PAYLOAD] = type_of_text(&both->table.arena, maker->text)};
    if (!table_compile(&both->table, &spec)) {
        const char *why = both->table.error.text;
        if (!strstr(why, "inside ") && !strstr(why, "not a number") && !strstr(why, "signed"))
            fail_msg("%s: %s", maker->text, both->table.error.text);
        both->refused++;
        return;
    }
    uint8_t *bytes[RECORDS];
    make_records(maker, bytes);
    for (unsigned i = 0; i < RECORDS; i++) {
        compare(both, spec.root[ROOT_PAYLOAD], bytes[i],
                any(maker, 2) ? 8 * any(maker, 5) : any(maker, 40));
        arena_reset(&both->table.scratch);
    }
    hold_records(both, bytes, RECORDS);
    free_records(bytes);
}

/* Types for which the fast path decodes complete records. */
static void cached_fields_equal_iterated_fields(void **state)
{
    static const char *const types[] = {
        "n:u8 a:[p.n]u8 b:u16",
        "n:u8 a:[p.n]i16 s:s m:u16 c:[p.m]f32 d:u8",
        "a:[3]u32 b:u8=A=1,B=2..3; s:s",
        "b:u8=A=1..2,B=2; c:u16 d:u8=C=3;",
        "n:u8 t:T(p.n) k:u8 q:T(:u16)",
        "s:s t:s u:u64",
        "n:u8 a:[p.n]u8",
        "n:u8 a:[p.n]u8 v:|p.n(a=0..1:u16,b=2..255:{x:s y:u8})",
        ("t:T16 w:T5 b:B3 x:u16> y:i32> z:f32 e:{} i:i8 o:b8 f:f32> d:f64 g:i16 h:u32> j:u64> "
         "k:i16> l:i32 m:i64"),
        "x:u8 c:S16 u:U",
        "a:[:u8]u32> b:[:u8]f32>",
    };
    (void)state;
    struct both *both = calloc(1, sizeof *both);
    table_open(&both->table);
    both->buffer = ttr_field_buffer_new(both->table.t);
    unsigned rounds = support_rounds(20, 60);
    for (uint64_t seed = 1; seed <= rounds; seed++)
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            (void)snprintf(both->maker.text, sizeof both->maker.text, "%s", types[i]);
            both->maker.seed = seed * 0x9e3779b97f4a7c15u;
            hold_records_of(both);
        }
    assert_true(both->cache >= 9 * rounds);
    ttr_field_buffer_free(both->buffer);
    table_close(&both->table);
    free(both);
}

static void random_records_decode_as_by_slow_decoder(void **state)
{
    (void)state;
    struct both *both = calloc(1, sizeof *both);
    table_open(&both->table);
    unsigned types = support_rounds(1500, 6000);
    for (uint64_t seed = 1; seed <= types; seed++) {
        if (seed % 1000 == 1) {
            ttr_field_buffer_free(both->buffer);
            both->buffer = ttr_field_buffer_new(both->table.t);
        }
        one_type(both, seed * 0x9e3779b97f4a7c15u);
    }
    print_message("# %u records read, %u of another end, %u types refused, %u with fields held\n",
                  both->fine, both->other, both->refused, both->cache);
    assert_true(both->fine > types / 6 * 5 && both->other > types / 12);
    assert_true(both->refused > types / 600 && both->cache > types / 12);
    ttr_field_buffer_free(both->buffer);
    table_close(&both->table);
    free(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_fields_equal_iterated_fields),
        cmocka_unit_test(random_records_decode_as_by_slow_decoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
