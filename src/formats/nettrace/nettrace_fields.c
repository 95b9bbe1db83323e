/* Field iterator of nettrace events.
 *
 * Fields of an event, in this order:
 *
 *   labels      label list entries that are fields (V6), as context
 *   payload     by the layout that fits its size; GUIDs, decimals and dates become text, arrays of
 *               characters become one text
 *   undecoded   bytes after the last known field, or the complete payload
 *   frames      the stack of a sample */
#include "base/number.h"
#include "base/utf.h"
#include "formats/nettrace/nettrace.h"

enum field_stage {
    STAGE_UNBEGUN,
    STAGE_PAYLOAD,
    STAGE_LABELS,
    STAGE_LOCATED,
    STAGE_AFTER_PAYLOAD,
    STAGE_FRAMES,
    STAGE_ELEMENTS,
    STAGE_OVER
};

/* State of the iterator, stored in ttr_fields. */
struct nettrace_field_iter {
    struct layout_iter payload;
    /* next frame, label, or array element to return */
    const uint8_t *at;
    /* number of frames or elements that remain; bytes of labels that remain */
    uint32_t left;
    uint16_t stage;
    uint16_t
        code; /* type code of the elements; while labels are emitted: the stage that follows them */
};
_Static_assert(sizeof(struct nettrace_field_iter) <= sizeof(((ttr_fields *)0)->state), "walk fits");

static struct bits make_payload_bits(const ttr_event *event)
{
    return bits_init(event->payload, 0, (uint64_t)event->payload_size * 8);
}

static void start_payload_iteration(ttr_fields *fields)
{
    const struct nettrace_type *type = fields->ctx;
    struct nettrace_field_iter *iter = (struct nettrace_field_iter *)fields->state;
    const struct layout *layout = nettrace_get_event_layout(type, fields->event);
    iter->stage = layout ? STAGE_PAYLOAD : STAGE_AFTER_PAYLOAD;
    struct bits bits = make_payload_bits(fields->event);
    if (layout)
        layout_iter_begin(&iter->payload, layout, &bits, &type->reader->scratch);
    else
        iter->payload.run.bits = bits;
    if (NETTRACE_UNLIKELY(fields->event->part) &&
        nettrace_find_label_list(type->reader, fields->event->part, &iter->at, &iter->left)) {
        iter->code = iter->stage;
        iter->stage = STAGE_LABELS;
    }
}

/* Starts the iterator. Most work is left to the first call of nettrace_fields_next(), because
 * nettrace_fill_field_cache() does not need it for events without labels. */
static void nettrace_fields_begin(ttr_fields *fields)
{
    const struct nettrace_type *type = fields->ctx;
    struct nettrace_field_iter *iter = (struct nettrace_field_iter *)fields->state;
    iter->stage = STAGE_UNBEGUN;
    if (NETTRACE_UNLIKELY(!type->layouts->is_plain || fields->event->part))
        start_payload_iteration(fields);
}

/* Converts all elements of an array of 16-bit characters to one text field. */
static void join_characters(struct nettrace_field_iter *iter, struct arena *scratch,
                            ttr_field *field)
{
    ttr_field character;
    const struct type *signature;
    uint64_t left =
        (iter->payload.run.bits.end - iter->payload.run.bits.at) /
        16; /* the payload limits the allocation, in case the declared count is damaged */
    uint32_t n = field->value.count, room = n < left ? n : (uint32_t)left, got = 0;
    uint8_t *units = arena_alloc(scratch, 2 * (size_t)room + 1);
    while (got < room && layout_iter_next(&iter->payload, &character, &signature)) {
        if (units)
            store_u16le(units + 2 * (size_t)got, (uint16_t)character.value.v.u);
        got++;
    }
    char *to = units ? arena_alloc(scratch, 3 * (size_t)got + 1) : NULL;
    size_t bytes = to ? utf8_from_utf16le(to, units, got) : 0;
    field->value = (ttr_value){.type = TTR_TYPE_TEXT, .text = {to ? to : "", bytes}};
}

static unsigned get_type_code_size(unsigned code)
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

/* Reads the value to which a location field refers: u32 = bytes << 16 | offset. If the offset is
 * outside of the payload, returns the four bytes of the field itself. */
static void read_located_value(struct nettrace_field_iter *iter, struct arena *scratch,
                               const ttr_event *event, unsigned role, ttr_field *field)
{
    unsigned code = role >> NETTRACE_ROLE_CODE_SHIFT,
             kind = role & ((1u << NETTRACE_ROLE_CODE_SHIFT) - 1);
    const uint8_t *here = (const uint8_t *)field->value.text.p;
    uint32_t word = load_u32le(here);
    uint64_t n = word >> 16,
             at = (word & 0xffff) +
                  (kind == NETTRACE_ROLE_RELATIVE ? (uint64_t)(here - event->payload) + 4 : 0);
    field->value.hint = TTR_DISPLAY_RAW;
    if (at > event->payload_size || n > event->payload_size - at)
        return;
    const uint8_t *p = event->payload + at;
    char *to = code == NETTRACE_CHAR ? arena_alloc(scratch, 3 * (n / 2) + 1) : NULL;
    if (code == NETTRACE_CHAR8)
        field->value = (ttr_value){.type = TTR_TYPE_TEXT, .text = {(const char *)p, (size_t)n}};
    else if (code == NETTRACE_CHAR)
        field->value =
            (ttr_value){.type = TTR_TYPE_TEXT,
                        .text = {to ? to : "", to ? utf8_from_utf16le(to, p, (size_t)n / 2) : 0}};
    if (code == NETTRACE_CHAR8 || code == NETTRACE_CHAR)
        return;
    iter->at = p;
    iter->left = (uint32_t)(n / get_type_code_size(code));
    iter->code = (uint16_t)code;
    iter->stage = STAGE_LOCATED;
    field->value = (ttr_value){.type = TTR_TYPE_ARRAY, .count = iter->left};
}

/* Converts a GUID, decimal or date to text. If memory runs out, does not change the value. */
static void convert_to_text(struct arena *scratch, unsigned role, ttr_field *field)
{
    char *to = arena_alloc(scratch, NUMBER_MAX);
    size_t n = to ? clr_format_value(to, role, &field->value) : 0;
    if (n)
        field->value = (ttr_value){.type = TTR_TYPE_TEXT,
                                   .text = {to, n},
                                   .hint = role == NETTRACE_ROLE_DECIMAL ? TTR_DISPLAY_DECIMAL
                                                                         : TTR_DISPLAY_NONE};
}

/* Returns the next element of an array to which a location field refers. */
static void emit_located_element(struct nettrace_field_iter *iter, struct arena *scratch,
                                 ttr_field *field)
{
    const struct type *plain = clr_get_type_of_code(iter->code);
    unsigned bytes = get_type_code_size(iter->code);
    const uint8_t *p = iter->at;
    uint64_t x = bytes == 1   ? *p
                 : bytes == 2 ? load_u16le(p)
                 : bytes == 4 ? load_u32le(p)
                              : load_u64le(p);
    bool is_signed = plain && plain->kind == TYPE_INT,
         is_float = plain && plain->kind == TYPE_FLOAT;
    float single;
    uint32_t low = (uint32_t)x;
    memcpy(&single, &low, sizeof single);
    iter->at += bytes;
    iter->left--;
    field_clear(field);
    field->depth = 1;
    field->value.type = is_signed ? TTR_TYPE_INT : is_float ? TTR_TYPE_FLOAT : TTR_TYPE_UINT;
    field->value.bits = (uint8_t)(bytes < 8 ? 8 * bytes : 0);
    field->value.v.u = is_signed && bytes < 8 ? (uint64_t)bits_sign_extend(x, 8 * bytes) : x;
    if (is_float)
        field->value.v.f = bytes == 4 ? (double)single : double_of_bits(x);
    if (!plain || plain->kind == TYPE_BOOL)
        field->value = (ttr_value){.type = TTR_TYPE_BOOL, .v.u = x != 0};
    if (bytes == 16)
        field->value = (ttr_value){.type = TTR_TYPE_BYTES, .text = {(const char *)p, 16}};
    if (plain && plain->role)
        convert_to_text(scratch, plain->role, field);
}

/* Converts a value by the role of its type (GUID, decimal, date, location, characters). If memory
 * is out, does not change it. */
static void convert_value_by_role(struct nettrace_field_iter *iter,
                                  const struct nettrace_type *type, const ttr_event *event,
                                  unsigned role, ttr_field *field)
{
    uint64_t x = field->value.v.u;
    if (role == NETTRACE_ROLE_TEXT16)
        join_characters(iter, &type->reader->scratch, field);
    if (role == NETTRACE_ROLE_ZIGZAG && field->value.type == TTR_TYPE_UINT)
        field->value =
            (ttr_value){.type = TTR_TYPE_INT, .v.s = (int64_t)(x >> 1) ^ -(int64_t)(x & 1)};
    if (role >> NETTRACE_ROLE_CODE_SHIFT)
        read_located_value(iter, &type->reader->scratch, event, role, field);
    if (role < NETTRACE_ROLE_TEXT16)
        convert_to_text(&type->reader->scratch, role, field);
}

static void init_field(ttr_field *field, const char *name, uint8_t type)
{
    field_clear(field);
    field->name = (ttr_text){name, strlen(name)};
    field->value.type = type;
}

/* Returns the payload bytes after the last decoded field. Returns false if there are no more, or
 * location fields may refer to them. */
static bool emit_undecoded_bytes(struct nettrace_field_iter *iter, const struct nettrace_type *type,
                                 const ttr_event *event, ttr_field *field)
{
    uint64_t at = iter->payload.run.bits.at >> 3;
    if (at >= event->payload_size || type->has_locations)
        return false;
    init_field(field, "undecoded", TTR_TYPE_BYTES);
    field->value.hint = TTR_DISPLAY_RAW;
    field->value.text =
        (ttr_text){(const char *)event->payload + at, (size_t)(event->payload_size - at)};
    return true;
}

static bool emit_frames_field(struct nettrace_field_iter *iter, const struct nettrace_type *type,
                              const ttr_event *event, ttr_field *field)
{
    if (event->kind != TTR_KIND_SAMPLE)
        return false;
    iter->at = nettrace_get_stored_frames(type->reader, event, &iter->left);
    init_field(field, "frames", TTR_TYPE_ARRAY);
    field->value.count = iter->left;
    return true;
}

static bool emit_frame(struct nettrace_field_iter *iter, const struct nettrace_type *type,
                       ttr_field *field)
{
    uint32_t bytes = type->reader->pointer_bytes;
    if (iter->left == 0)
        return false;
    iter->left--;
    field_clear(field);
    field->depth = 1;
    field->value.type = TTR_TYPE_UINT;
    field->value.hint = TTR_DISPLAY_POINTER;
    field->value.bits = (uint8_t)(bytes == 8 ? 0 : 32);
    field->value.v.u = nettrace_load_address(iter->at, bytes);
    iter->at += bytes;
    return true;
}

static bool emit_field_after_payload(struct nettrace_field_iter *iter,
                                     const struct nettrace_type *type, const ttr_event *event,
                                     ttr_field *field)
{
    if (iter->stage == STAGE_AFTER_PAYLOAD) {
        iter->stage = STAGE_FRAMES;
        if (emit_undecoded_bytes(iter, type, event, field))
            return true;
    }
    if (iter->stage == STAGE_FRAMES) {
        iter->stage = STAGE_ELEMENTS;
        if (emit_frames_field(iter, type, event, field))
            return true;
        iter->stage = STAGE_OVER;
    }
    return iter->stage == STAGE_ELEMENTS && emit_frame(iter, type, field);
}

/* Returns the next label, or the next element of an array to which a location field refers.
 * Returns false if there are no more. */
static bool emit_label_or_element(struct nettrace_field_iter *iter, struct arena *scratch,
                                  ttr_field *field)
{
    if (iter->stage == STAGE_LABELS) {
        if (nettrace_next_label_field(&iter->at, &iter->left, field))
            return true;
        iter->stage = iter->code;
    }
    if (iter->stage == STAGE_LOCATED) {
        if (iter->left > 0) {
            emit_located_element(iter, scratch, field);
            return true;
        }
        iter->stage = STAGE_PAYLOAD;
    }
    return false;
}

/* If the payload ends inside an array that starts with its length, moves back to the start of the
 * array and returns true. The rest of the payload is then returned as undecoded. */
static bool rewind_failed_array(struct layout_cursor *run)
{
    const struct type *type = run->member ? run->member->type : NULL;
    if (!type || !type->has_inline_length || !type->length_type ||
        run->bits.at < type->length_type->bits)
        return false;
    run->bits.at -= type->length_type->bits;
    return true;
}

/* Selects the stage after the last field that the layout describes. */
static void end_payload(struct nettrace_field_iter *iter)
{
    const bool is_shown = iter->payload.end == LAYOUT_OK || rewind_failed_array(&iter->payload.run);
    iter->stage = is_shown ? STAGE_AFTER_PAYLOAD : STAGE_FRAMES;
}

static bool nettrace_fields_next(ttr_fields *fields, ttr_field *field)
{
    struct nettrace_field_iter *iter = (struct nettrace_field_iter *)fields->state;
    const struct nettrace_type *type = fields->ctx;
    const struct type *signature;
    if (iter->stage == STAGE_UNBEGUN)
        start_payload_iteration(fields);
    if (NETTRACE_UNLIKELY(iter->stage == STAGE_LABELS || iter->stage == STAGE_LOCATED) &&
        emit_label_or_element(iter, &type->reader->scratch, field))
        return true;
    if (iter->stage == STAGE_PAYLOAD) {
        if (NETTRACE_LIKELY(layout_iter_next(&iter->payload, field, &signature))) {
            if (NETTRACE_UNLIKELY(signature && signature->role))
                convert_value_by_role(iter, type, fields->event, signature->role, field);
            return true;
        }
        end_payload(iter);
    }
    return emit_field_after_payload(iter, type, fields->event, field);
}

/* Writes up to `room` fields of the layout and returns their number. Returns fewer only after a
 * field that is converted or has several labels, or at the end of the payload. */
static uint32_t read_payload_fields(struct nettrace_field_iter *iter,
                                    const struct nettrace_type *type, const ttr_event *event,
                                    ttr_field *field, uint32_t room)
{
    const struct type *signature;
    const uint32_t n = layout_iter_read(&iter->payload, field, room, &signature);
    if (n == 0)
        end_payload(iter);
    else if (NETTRACE_UNLIKELY(signature && signature->role))
        convert_value_by_role(iter, type, event, signature->role, &field[n - 1]);
    return n;
}

static uint32_t nettrace_read_fields(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    struct nettrace_field_iter *iter = (struct nettrace_field_iter *)fields->state;
    uint32_t n = 0;
    if (iter->stage == STAGE_UNBEGUN)
        start_payload_iteration(fields);
    while (n < room && !(n > 0 && field_has_labels(&field[n - 1].value))) {
        if (iter->stage == STAGE_PAYLOAD) {
            n += read_payload_fields(iter, fields->ctx, fields->event, &field[n], room - n);
        } else if (nettrace_fields_next(fields, &field[n])) {
            n++;
        } else {
            fields->ops = NULL; /* no field follows */
            break;
        }
    }
    return n;
}

/* Stores all fields of an event in `held` and returns their number. Returns 0 if the payload does
 * not match layout 0. If values must be converted, the caller must call this for each event. */
static uint32_t nettrace_fill_field_cache(ttr_fields *fields, struct field_cache *held)
{
    struct nettrace_field_iter *iter = (struct nettrace_field_iter *)fields->state;
    const struct nettrace_type *type = fields->ctx;
    const struct nettrace_layouts *layouts = type->layouts;
    if (NETTRACE_UNLIKELY(iter->stage != STAGE_UNBEGUN))
        return 0;
    const uint32_t n =
        layout_decode_complete(layouts->layout[0], &type->reader->scratch, fields, held);
    for (uint64_t shown = n > 0 ? layouts->converted : 0; shown; shown &= shown - 1) {
        const int i = __builtin_ctzll(shown);
        convert_value_by_role(iter, type, fields->event, layouts->root->members[i].type->role,
                              &held->field[i]);
        held->is_prepared = false;
    }
    return n;
}

static bool nettrace_fields_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                                  ttr_text *text)
{
    return layout_field_ops.label(fields, value, i, text);
}

/* Returns the type of the field that was returned last; NULL if it is not in the layout. */
static const struct type *nettrace_fields_type(const ttr_fields *fields)
{
    const struct nettrace_field_iter *iter = (const struct nettrace_field_iter *)fields->state;
    return iter->stage == STAGE_PAYLOAD ? layout_field_ops.type(fields) : NULL;
}

const struct field_ops nettrace_field_ops = {.begin = nettrace_fields_begin,
                                             .next = nettrace_fields_next,
                                             .decode_batch = nettrace_read_fields,
                                             .decode_cached = nettrace_fill_field_cache,
                                             .label = nettrace_fields_label,
                                             .frames = nettrace_copy_frames,
                                             .type = nettrace_fields_type,
                                             .stack = nettrace_borrow_frames};
