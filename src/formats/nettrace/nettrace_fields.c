/* Fields of events: what the layout of their type gives, then what it does not know.
 *
 *   labels     those of its list that are fields (V6), as context
 *   payload    by the reading of the type that fits its size; GUIDs, decimals and dates as text,
 * arrays of characters as one text undecoded  bytes behind the last field that is known, or all of
 * them frames     the stack of a sample */
#include "base/number.h"
#include "base/utf.h"
#include "formats/nettrace/nettrace.h"

enum stage {
    STAGE_UNBEGUN,
    STAGE_PAYLOAD,
    STAGE_LABELS,
    STAGE_PLACE,
    STAGE_BEHIND,
    STAGE_FRAMES,
    STAGE_ELEMENTS,
    STAGE_OVER
};

/* The walk of the payload, and what comes behind it. */
struct walk {
    struct layout_walk payload;
    const uint8_t *at; /* the next frame, element of another place, or label */
    uint32_t left;     /* of them; of labels bytes */
    uint16_t stage;
    uint16_t code; /* of elements; of labels the stage behind them */
};
_Static_assert(sizeof(struct walk) <= sizeof(((ttr_fields *)0)->state), "walk fits");

static struct bits payload_of(const ttr_event *event)
{
    return bits_over(event->payload, 0, (uint64_t)event->payload_size * 8);
}

static void begin_walk(ttr_fields *fields)
{
    const struct nettrace_type *type = fields->own;
    struct walk *walk = (struct walk *)fields->state;
    const struct layout *layout = nettrace_reading_of(type, fields->event);
    walk->stage = layout ? STAGE_PAYLOAD : STAGE_BEHIND;
    struct bits bits = payload_of(fields->event);
    if (layout)
        layout_walk_begin(&walk->payload, layout, &bits, &type->reader->scratch);
    else
        walk->payload.run.bits = bits;
    if (NETTRACE_UNLIKELY(fields->event->part) &&
        nettrace_labels_of(type->reader, fields->event->part, &walk->at, &walk->left)) {
        walk->code = walk->stage;
        walk->stage = STAGE_LABELS;
    }
}

/* The fields of most events are held: their walk does not begin before it is known to be needed. */
static void begin(ttr_fields *fields)
{
    const struct nettrace_type *type = fields->own;
    struct walk *walk = (struct walk *)fields->state;
    walk->stage = STAGE_UNBEGUN;
    if (NETTRACE_UNLIKELY(!type->readings->is_plain || fields->event->part))
        begin_walk(fields);
}

/* Takes all elements of an array of characters as one text. */
static void join(struct walk *walk, struct arena *scratch, ttr_field *field)
{
    ttr_field character;
    const struct type *shape;
    uint64_t left = (walk->payload.run.bits.end - walk->payload.run.bits.at) /
                    16; /* a count may promise more than there is */
    uint32_t n = field->value.count, room = n < left ? n : (uint32_t)left, got = 0;
    uint8_t *units = arena_take(scratch, 2 * (size_t)room + 1);
    while (got < room && layout_walk_next(&walk->payload, &character, &shape)) {
        if (units)
            store_u16le(units + 2 * (size_t)got, (uint16_t)character.value.v.u);
        got++;
    }
    char *to = units ? arena_take(scratch, 3 * (size_t)got + 1) : NULL;
    size_t bytes = to ? utf8_from_utf16le(to, units, got) : 0;
    field->value = (ttr_value){.type = TTR_TYPE_TEXT, .text = {to ? to : "", bytes}};
}

static unsigned bytes_of_code(unsigned code)
{
    static const uint8_t bytes[] = {
        [NETTRACE_BOOLEAN] = 4,  [NETTRACE_CHAR] = 2,      [NETTRACE_I8] = 1,
        [NETTRACE_U8] = 1,       [NETTRACE_I16] = 2,       [NETTRACE_U16] = 2,
        [NETTRACE_I32] = 4,      [NETTRACE_U32] = 4,       [NETTRACE_I64] = 8,
        [NETTRACE_U64] = 8,      [NETTRACE_F32] = 4,       [NETTRACE_F64] = 8,
        [NETTRACE_DECIMAL] = 16, [NETTRACE_DATE_TIME] = 8, [NETTRACE_GUID] = 16,
        [NETTRACE_CHAR8] = 1,    [NETTRACE_BOOLEAN8] = 1};
    return code < sizeof bytes && bytes[code] ? bytes[code] : 1;
}

/* A value that is elsewhere in the payload: u32 = bytes << 16 | place. */
static void show_place(struct walk *walk, struct arena *scratch, const ttr_event *event,
                       unsigned role, ttr_field *field)
{
    unsigned code = role >> NETTRACE_ROLE_CODE_SHIFT,
             kind = role & ((1u << NETTRACE_ROLE_CODE_SHIFT) - 1);
    const uint8_t *here = (const uint8_t *)field->value.text.p;
    uint32_t word = load_u32le(here);
    uint64_t n = word >> 16,
             at = (word & 0xffff) +
                  (kind == NETTRACE_ROLE_RELATIVE ? (uint64_t)(here - event->payload) + 4 : 0);
    field->value.hint = TTR_HINT_RAW;
    if (at > event->payload_size || n > event->payload_size - at)
        return;
    const uint8_t *p = event->payload + at;
    char *to = code == NETTRACE_CHAR ? arena_take(scratch, 3 * (n / 2) + 1) : NULL;
    if (code == NETTRACE_CHAR8)
        field->value = (ttr_value){.type = TTR_TYPE_TEXT, .text = {(const char *)p, (size_t)n}};
    else if (code == NETTRACE_CHAR)
        field->value =
            (ttr_value){.type = TTR_TYPE_TEXT,
                        .text = {to ? to : "", to ? utf8_from_utf16le(to, p, (size_t)n / 2) : 0}};
    if (code == NETTRACE_CHAR8 || code == NETTRACE_CHAR)
        return;
    walk->at = p;
    walk->left = (uint32_t)(n / bytes_of_code(code));
    walk->code = (uint16_t)code;
    walk->stage = STAGE_PLACE;
    field->value = (ttr_value){.type = TTR_TYPE_ARRAY, .count = walk->left};
}

/* Shows GUIDs, decimals and dates as text; without memory they stay as they are. */
static void show_text(struct arena *scratch, unsigned role, ttr_field *field)
{
    char *to = arena_take(scratch, NUMBER_MAX);
    size_t n = to ? clr_put_shown(to, role, &field->value) : 0;
    if (n)
        field->value =
            (ttr_value){.type = TTR_TYPE_TEXT,
                        .text = {to, n},
                        .hint = role == NETTRACE_ROLE_DECIMAL ? TTR_HINT_NUMBER : TTR_HINT_NONE};
}

/* An element of another place. */
static void give_element(struct walk *walk, struct arena *scratch, ttr_field *field)
{
    const struct type *plain = clr_plain_type(walk->code);
    unsigned bytes = bytes_of_code(walk->code);
    const uint8_t *p = walk->at;
    uint64_t x = bytes == 1   ? *p
                 : bytes == 2 ? load_u16le(p)
                 : bytes == 4 ? load_u32le(p)
                              : load_u64le(p);
    bool is_signed = plain && plain->kind == TYPE_INT,
         is_float = plain && plain->kind == TYPE_FLOAT;
    float single;
    uint32_t low = (uint32_t)x;
    memcpy(&single, &low, sizeof single);
    walk->at += bytes;
    walk->left--;
    field_clear(field);
    field->depth = 1;
    field->value.type = is_signed ? TTR_TYPE_INT : is_float ? TTR_TYPE_FLOAT : TTR_TYPE_UINT;
    field->value.bits = (uint8_t)(bytes < 8 ? 8 * bytes : 0);
    field->value.v.u = is_signed && bytes < 8 ? (uint64_t)bits_sign(x, 8 * bytes) : x;
    if (is_float)
        field->value.v.f = bytes == 4 ? (double)single : double_of_bits(x);
    if (!plain || plain->kind == TYPE_BOOL)
        field->value = (ttr_value){.type = TTR_TYPE_BOOL, .v.u = x != 0};
    if (bytes == 16)
        field->value = (ttr_value){.type = TTR_TYPE_BYTES, .text = {(const char *)p, 16}};
    if (plain && plain->role)
        show_text(scratch, plain->role, field);
}

/* Shows a value as what it means; without memory it stays as it is. */
static void show(struct walk *walk, const struct nettrace_type *type, const ttr_event *event,
                 unsigned role, ttr_field *field)
{
    uint64_t x = field->value.v.u;
    if (role == NETTRACE_ROLE_TEXT16)
        join(walk, &type->reader->scratch, field);
    if (role == NETTRACE_ROLE_ZIGZAG && field->value.type == TTR_TYPE_UINT)
        field->value =
            (ttr_value){.type = TTR_TYPE_INT, .v.s = (int64_t)(x >> 1) ^ -(int64_t)(x & 1)};
    if (role >> NETTRACE_ROLE_CODE_SHIFT)
        show_place(walk, &type->reader->scratch, event, role, field);
    if (role < NETTRACE_ROLE_TEXT16)
        show_text(&type->reader->scratch, role, field);
}

static void name_field(ttr_field *field, const char *name, uint8_t type)
{
    field_clear(field);
    field->name = (ttr_text){name, strlen(name)};
    field->value.type = type;
}

/* Bytes of the payload that no field holds. */
static bool give_undecoded(struct walk *walk, const struct nettrace_type *type,
                           const ttr_event *event, ttr_field *field)
{
    uint64_t at = walk->payload.run.bits.at >> 3;
    if (at >= event->payload_size || type->has_places)
        return false;
    name_field(field, "undecoded", TTR_TYPE_BYTES);
    field->value.hint = TTR_HINT_RAW;
    field->value.text =
        (ttr_text){(const char *)event->payload + at, (size_t)(event->payload_size - at)};
    return true;
}

static bool begin_frames(struct walk *walk, const struct nettrace_type *type,
                         const ttr_event *event, ttr_field *field)
{
    if (event->kind != TTR_KIND_SAMPLE)
        return false;
    walk->at = nettrace_frames(type->reader, event, &walk->left);
    name_field(field, "frames", TTR_TYPE_ARRAY);
    field->value.count = walk->left;
    return true;
}

static bool give_frame(struct walk *walk, const struct nettrace_type *type, ttr_field *field)
{
    uint32_t bytes = type->reader->pointer_bytes;
    if (walk->left == 0)
        return false;
    walk->left--;
    field_clear(field);
    field->depth = 1;
    field->value.type = TTR_TYPE_UINT;
    field->value.hint = TTR_HINT_POINTER;
    field->value.bits = (uint8_t)(bytes == 8 ? 0 : 32);
    field->value.v.u = nettrace_address(walk->at, bytes);
    walk->at += bytes;
    return true;
}

static bool next_behind(struct walk *walk, const struct nettrace_type *type, const ttr_event *event,
                        ttr_field *field)
{
    if (walk->stage == STAGE_BEHIND) {
        walk->stage = STAGE_FRAMES;
        if (give_undecoded(walk, type, event, field))
            return true;
    }
    if (walk->stage == STAGE_FRAMES) {
        walk->stage = STAGE_ELEMENTS;
        if (begin_frames(walk, type, event, field))
            return true;
        walk->stage = STAGE_OVER;
    }
    return walk->stage == STAGE_ELEMENTS && give_frame(walk, type, field);
}

/* Labels, and elements of another place, which stand before or among the fields of the payload. */
static bool next_before(struct walk *walk, struct arena *scratch, ttr_field *field)
{
    if (walk->stage == STAGE_LABELS) {
        if (nettrace_label_field(&walk->at, &walk->left, field))
            return true;
        walk->stage = walk->code;
    }
    if (walk->stage == STAGE_PLACE) {
        if (walk->left > 0) {
            give_element(walk, scratch, field);
            return true;
        }
        walk->stage = STAGE_PAYLOAD;
    }
    return false;
}

static bool next(ttr_fields *fields, ttr_field *field)
{
    struct walk *walk = (struct walk *)fields->state;
    const struct nettrace_type *type = fields->own;
    const struct type *shape;
    if (walk->stage == STAGE_UNBEGUN)
        begin_walk(fields);
    if (NETTRACE_UNLIKELY(walk->stage == STAGE_LABELS || walk->stage == STAGE_PLACE) &&
        next_before(walk, &type->reader->scratch, field))
        return true;
    if (walk->stage == STAGE_PAYLOAD) {
        if (NETTRACE_LIKELY(layout_walk_next(&walk->payload, field, &shape))) {
            if (NETTRACE_UNLIKELY(shape && shape->role))
                show(walk, type, fields->event, shape->role, field);
            return true;
        }
        walk->stage = walk->payload.end == LAYOUT_FINE ? STAGE_BEHIND : STAGE_FRAMES;
    }
    return next_behind(walk, type, fields->event, field);
}

/* All fields of an event, if reading 0 of its type fits.  The values of some are replaced by text,
 * after which their fields have to be prepared again. */
static uint32_t hold(ttr_fields *fields, struct held_fields *held)
{
    struct walk *walk = (struct walk *)fields->state;
    const struct nettrace_type *type = fields->own;
    const struct nettrace_readings *readings = type->readings;
    if (NETTRACE_UNLIKELY(walk->stage != STAGE_UNBEGUN))
        return 0;
    const uint32_t n = layout_hold_whole(readings->layout[0], &type->reader->scratch, fields, held);
    for (uint64_t shown = n > 0 ? readings->shown : 0; shown; shown &= shown - 1) {
        const int i = __builtin_ctzll(shown);
        show(walk, type, fields->event, readings->root->members[i].type->role, &held->field[i]);
        held->is_prepared = false;
    }
    return n;
}

static bool label(const ttr_fields *fields, const ttr_value *value, uint32_t i, ttr_text *text)
{
    return layout_field_ops.label(fields, value, i, text);
}

/* Of the fields that the layout gives. */
static const struct type *type(const ttr_fields *fields)
{
    const struct walk *walk = (const struct walk *)fields->state;
    return walk->stage == STAGE_PAYLOAD ? layout_field_ops.type(fields) : NULL;
}

const struct field_ops nettrace_field_ops = {.begin = begin,
                                             .next = next,
                                             .hold = hold,
                                             .label = label,
                                             .frames = nettrace_frames_take,
                                             .type = type,
                                             .stack = nettrace_stack};
