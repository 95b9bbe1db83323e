/* Encoding of fields: the values of an event's fields become a payload, their names and types a
 * signature (nettrace_writer.h).
 *
 * Integers get the next larger width. Bytes become arrays of integers. Arrays of unequal elements
 * become objects with the fields "0", "1", ... V4 has no arrays, so they become text. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/utf.h"
#include "formats/nettrace/nettrace_writer.h"
#include "model/activity.h"

#define DEPTH_MAX 20u
#define PAYLOAD_MAX ((size_t)8 << 20)
#define NAME_MAX_BYTES 4096u

/* Field iterator that has already read the current field. */
struct field_source {
    struct ttr_writer *out;
    struct nettrace_writer *w;
    uint64_t offset;
    ttr_fields fields;
    ttr_field field;
    bool has_field;
};

static void next_field(struct field_source *fields_left)
{
    fields_left->has_field = ttr_fields_next(&fields_left->fields, &fields_left->field);
}

static void count_field_loss(const struct field_source *fields_left, enum nettrace_loss loss)
{
    output_count_loss(fields_left->out, loss, fields_left->offset);
}

/* --- Encoding of text --- */

struct nettrace_text_flaws nettrace_append_z16(struct buffer *to, ttr_text text)
{
    enum { REPLACEMENT = 0xfffd, SUPPLEMENT = 0x10000 };
    struct nettrace_text_flaws flaws = {false, false};
    const uint8_t *p = (const uint8_t *)text.p, *end = p + text.n;
    uint8_t *at = buffer_room(to, 2 * text.n + 2), *begin = at;
    if (!at)
        return flaws;
    while (p < end) {
        uint32_t x;
        const size_t n = utf8_decode(p, (size_t)(end - p), &x);
        if (*p == 0 || n == 0)
            x = REPLACEMENT;
        flaws.has_zeros |= *p == 0;
        flaws.is_broken |= n == 0;
        p += n ? n : 1;
        if (x >= SUPPLEMENT) {
            store_u16le(at, (uint16_t)(0xd800 + ((x - SUPPLEMENT) >> 10)));
            at += 2;
            x = 0xdc00 + ((x - SUPPLEMENT) & 0x3ff);
        }
        store_u16le(at, (uint16_t)x);
        at += 2;
    }
    store_u16le(at, 0);
    buffer_commit(to, (size_t)(at + 2 - begin));
    return flaws;
}

static void append_payload_text(const struct field_source *fields_left, ttr_text text)
{
    struct nettrace_text_flaws flaws = nettrace_append_z16(&fields_left->w->payload, text);
    if (flaws.is_broken)
        count_field_loss(fields_left, NETTRACE_LOST_TEXT);
    if (flaws.has_zeros)
        count_field_loss(fields_left, NETTRACE_LOST_NUL);
}

static void append_hex(struct buffer *to, ttr_text bytes)
{
    static const char digits[] = "0123456789abcdef";
    buffer_add_text(to, "0x");
    for (size_t i = 0; i < bytes.n; i++) {
        buffer_add_byte(to, (uint8_t)digits[(uint8_t)bytes.p[i] >> 4]);
        buffer_add_byte(to, (uint8_t)digits[(uint8_t)bytes.p[i] & 15]);
    }
}

/* Appends an array element as text, for V4. */
static void append_value_text(struct buffer *to, const ttr_value *value)
{
    char number[NUMBER_MAX];
    switch (value->type) {
    case TTR_TYPE_BOOL:
        buffer_add_text(to, value->v.u ? "true" : "false");
        break;
    case TTR_TYPE_UINT:
        buffer_add(to, number, number_format_u64(number, value->v.u));
        break;
    case TTR_TYPE_INT:
        buffer_add(to, number, number_format_i64(number, value->v.s));
        break;
    case TTR_TYPE_FLOAT:
        buffer_add(to, number, number_format_double(number, value->v.f));
        break;
    case TTR_TYPE_TEXT:
        buffer_add(to, value->text.p, value->text.n);
        break;
    case TTR_TYPE_BYTES:
        append_hex(to, value->text);
        break;
    default:
        buffer_add_text(to, "null");
    }
}

/* Appends all elements of an array or struct as text. */
static void append_children_text(struct field_source *fields_left, struct buffer *to)
{
    /* inside: number of arrays and structs that contain the last element */
    uint16_t depth = fields_left->field.depth, inside = depth;
    bool is_first = true;
    buffer_add_byte(to, '[');
    next_field(fields_left);
    while (fields_left->has_field && fields_left->field.depth > depth) {
        const ttr_field *field = &fields_left->field;
        for (; inside >= field->depth; inside--)
            buffer_add_byte(to, ']');
        if (!is_first)
            buffer_add_text(to, ", ");
        is_first = false;
        if (field->name.n) {
            buffer_add(to, field->name.p, field->name.n);
            buffer_add_byte(to, '=');
        }
        if (field->value.type == TTR_TYPE_ARRAY || field->value.type == TTR_TYPE_STRUCT) {
            buffer_add_byte(to, '[');
            inside = field->depth;
            is_first = true;
        } else {
            append_value_text(to, &field->value);
        }
        next_field(fields_left);
    }
    for (; inside > depth; inside--)
        buffer_add_byte(to, ']');
    buffer_add_byte(to, ']');
}

/* --- Integers, floats and booleans --- */

/* Returns true if an integer fits in its declared width. */
static bool fits_declared_width(const ttr_value *value)
{
    unsigned above = value->bits < 64 ? value->bits : 0;
    uint64_t sign = value->type == TTR_TYPE_INT && value->v.s < 0 ? UINT64_MAX : 0;
    return above == 0 || (value->v.u ^ sign) >> (above - (value->type == TTR_TYPE_INT)) == 0;
}

static uint8_t choose_integer_type_code(const ttr_value *value, const uint8_t codes[4])
{
    unsigned bits =
        value->hint == TTR_DISPLAY_THREAD || value->bits == 0 || !fits_declared_width(value)
            ? 64
            : value->bits;
    return codes[bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3];
}

/* Returns true if a number keeps its value when it is converted to a 32-bit float. */
static bool fits_float32(double x)
{
    return isnan(x) || isinf(x) ||
           (fabs(x) <= FLT_MAX && bits_of_double((double)(float)x) == bits_of_double(x));
}

/* Returns the type code of a scalar or text; 0 for arrays, structs and bytes. */
static uint8_t choose_scalar_type_code(const ttr_value *value)
{
    static const uint8_t unsigned_codes[] = {NETTRACE_U8, NETTRACE_U16, NETTRACE_U32, NETTRACE_U64};
    static const uint8_t signed_codes[] = {NETTRACE_I8, NETTRACE_I16, NETTRACE_I32, NETTRACE_I64};
    switch (value->type) {
    case TTR_TYPE_BOOL:
        return NETTRACE_BOOLEAN;
    case TTR_TYPE_UINT:
        return choose_integer_type_code(value, unsigned_codes);
    case TTR_TYPE_INT:
        return choose_integer_type_code(value, signed_codes);
    case TTR_TYPE_FLOAT:
        return value->bits && value->bits <= 32 && fits_float32(value->v.f) ? NETTRACE_F32
                                                                            : NETTRACE_F64;
    case TTR_TYPE_ARRAY:
    case TTR_TYPE_STRUCT:
    case TTR_TYPE_BYTES:
        return 0;
    default:
        return NETTRACE_STRING;
    }
}

static bool has_plain_width(unsigned bits)
{
    return bits == 0 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static void count_value_losses(const struct field_source *fields_left, const ttr_value *value)
{
    bool is_labelled = value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS;
    bool is_integer = value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT;
    if (is_labelled && value->count > 0)
        count_field_loss(fields_left, NETTRACE_LOST_LABEL);
    else if ((value->hint != TTR_DISPLAY_NONE && !is_labelled && value->type != TTR_TYPE_NULL) ||
             (value->base && value->base != 10))
        count_field_loss(fields_left, NETTRACE_LOST_HINT);
    if ((is_integer && (!has_plain_width(value->bits) || !fits_declared_width(value))) ||
        (value->type == TTR_TYPE_FLOAT && value->bits & (value->bits - 1u)))
        count_field_loss(fields_left, NETTRACE_LOST_WIDTH);
    if (value->type == TTR_TYPE_NULL)
        count_field_loss(fields_left, NETTRACE_LOST_NULL);
}

static void append_float(struct buffer *to, double x, bool fits_float32)
{
    float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (fits_float32)
        nettrace_append_u32(to, bits);
    else
        nettrace_append_u64(to, bits_of_double(x));
}

static void append_scalar(const struct field_source *fields_left, uint8_t code,
                          const ttr_value *value)
{
    struct buffer *to = &fields_left->w->payload;
    ttr_thread thread;
    uint64_t x = value->v.u;
    if (value->hint == TTR_DISPLAY_THREAD && value->type == TTR_TYPE_UINT &&
        ttr_thread_get(fields_left->out->t, (ttr_id)x, &thread))
        x = thread.tid;
    switch (code) {
    case NETTRACE_BOOLEAN:
        nettrace_append_u32(to, x != 0);
        break;
    case NETTRACE_U8:
    case NETTRACE_I8:
        buffer_add_byte(to, (uint8_t)x);
        break;
    case NETTRACE_U16:
    case NETTRACE_I16:
        nettrace_append_u16(to, (uint16_t)x);
        break;
    case NETTRACE_U32:
    case NETTRACE_I32:
        nettrace_append_u32(to, (uint32_t)x);
        break;
    case NETTRACE_F32:
    case NETTRACE_F64:
        append_float(to, value->v.f, code == NETTRACE_F32);
        break;
    case NETTRACE_STRING:
        append_payload_text(fields_left,
                            value->type == TTR_TYPE_TEXT ? value->text : (ttr_text){"null", 4});
        break;
    default:
        nettrace_append_u64(to, x);
    }
}

/* --- Fields, arrays and structs --- */

static void append_field_name(const struct field_source *fields_left, ttr_text name)
{
    size_t n =
        name.n <= NAME_MAX_BYTES ? name.n : utf8_truncated_length(name.p, name.n, NAME_MAX_BYTES);
    if (n < name.n)
        count_field_loss(fields_left, NETTRACE_LOST_METADATA);
    nettrace_append_u32(&fields_left->w->signature, (uint32_t)n);
    buffer_add(&fields_left->w->signature, name.p, n);
}

static void append_value(struct field_source *fields_left, unsigned depth);

static void append_bytes(struct field_source *fields_left)
{
    struct nettrace_writer *w = fields_left->w;
    ttr_text bytes = fields_left->field.value.text;
    count_field_loss(fields_left, NETTRACE_LOST_BYTES);
    if (fields_left->field.value.hint == TTR_DISPLAY_RAW)
        count_field_loss(fields_left, NETTRACE_LOST_HINT);
    if (w->version == 4) {
        buffer_clear(&w->scratch);
        append_hex(&w->scratch, bytes);
        buffer_add_byte(&w->signature, NETTRACE_STRING);
        append_payload_text(fields_left, (ttr_text){(const char *)w->scratch.bytes, w->scratch.n});
        next_field(fields_left);
        return;
    }
    if (bytes.n > UINT16_MAX)
        count_field_loss(fields_left, NETTRACE_LOST_ELEMENTS);
    bytes.n = bytes.n < UINT16_MAX ? bytes.n : UINT16_MAX;
    buffer_add_byte(&w->signature, NETTRACE_ARRAY);
    buffer_add_byte(&w->signature, NETTRACE_U8);
    nettrace_append_u16(&w->payload, (uint16_t)bytes.n);
    buffer_add(&w->payload, bytes.p, bytes.n);
    next_field(fields_left);
}

/* Appends the members of the struct or array at depth `outer` as fields. The names of array
 * elements are their indexes. */
static void append_members(struct field_source *fields_left, uint16_t outer, bool are_elements,
                           unsigned depth)
{
    struct buffer *signature = &fields_left->w->signature;
    size_t count_at = signature->n;
    char digits[NUMBER_MAX];
    uint32_t n = 0;
    nettrace_append_u32(signature, 0);
    while (fields_left->has_field && fields_left->field.depth > outer) {
        append_field_name(fields_left, are_elements
                                           ? (ttr_text){digits, number_format_u64(digits, n)}
                                           : fields_left->field.name);
        append_value(fields_left, depth);
        n++;
    }
    if (!signature->failed)
        store_u32le(signature->bytes + count_at, n);
}

/* Returns a type code that all elements of an array can have; 0 if they are not scalars, or no
 * such code exists. `walk` is a copy of the field iterator, since the function advances it. */
static uint8_t find_common_element_type(struct field_source *fields_left, uint16_t outer)
{
    uint8_t common = 0;
    for (next_field(fields_left); fields_left->has_field && fields_left->field.depth > outer;
         next_field(fields_left)) {
        uint8_t code = choose_scalar_type_code(&fields_left->field.value);
        bool is_string = code == NETTRACE_STRING;
        if (code == 0 || (common && is_string != (common == NETTRACE_STRING)))
            return 0;
        bool is_float = code == NETTRACE_F32 || code == NETTRACE_F64,
             was_float = common == NETTRACE_F32 || common == NETTRACE_F64;
        /* odd codes are signed integers (5, 7, 9, 11); 3 is boolean */
        bool is_signed = code & 1, was_signed = common & 1;
        if (common &&
            (is_float != was_float || (!is_float && !is_string && is_signed != was_signed) ||
             (code == NETTRACE_BOOLEAN) != (common == NETTRACE_BOOLEAN)))
            return 0;
        common = code > common ? code : common;
    }
    return common ? common : NETTRACE_U8;
}

static void append_scalar_array(struct field_source *fields_left, uint16_t outer, uint8_t code)
{
    struct nettrace_writer *w = fields_left->w;
    size_t count_at = w->payload.n;
    uint32_t n = 0;
    buffer_add_byte(&w->signature, NETTRACE_ARRAY);
    buffer_add_byte(&w->signature, code);
    nettrace_append_u16(&w->payload, 0);
    for (next_field(fields_left); fields_left->has_field && fields_left->field.depth > outer;
         next_field(fields_left), n++) {
        count_value_losses(fields_left, &fields_left->field.value);
        if (n < UINT16_MAX)
            append_scalar(fields_left, code, &fields_left->field.value);
    }
    if (n > UINT16_MAX)
        count_field_loss(fields_left, NETTRACE_LOST_ELEMENTS);
    if (!w->payload.failed)
        store_u16le(w->payload.bytes + count_at, (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX));
}

/* Appends the elements of an array of arrays or structs if all have the same signature. If not,
 * restores signature and payload and returns false. */
static bool append_uniform_array(struct field_source *fields_left, uint16_t outer, unsigned depth)
{
    struct buffer *signature = &fields_left->w->signature, *payload = &fields_left->w->payload;
    size_t signature_at = signature->n, payload_at = payload->n, one = 0;
    uint32_t n = 0;
    bool is_alike = true;
    buffer_add_byte(signature, NETTRACE_ARRAY);
    nettrace_append_u16(payload, 0);
    for (next_field(fields_left);
         is_alike && fields_left->has_field && fields_left->field.depth > outer && n < UINT16_MAX;
         n++) {
        size_t at = signature->n;
        append_value(fields_left, depth);
        one = n == 0 ? signature->n - at : one;
        is_alike = !signature->failed && signature->n - at == one &&
                   memcmp(signature->bytes + signature_at + 1, signature->bytes + at, one) == 0;
        signature->n = signature->failed ? signature->n : signature_at + 1 + one;
    }
    if (is_alike && fields_left->has_field && fields_left->field.depth > outer)
        count_field_loss(fields_left, NETTRACE_LOST_ELEMENTS);
    while (is_alike && fields_left->has_field && fields_left->field.depth > outer)
        next_field(fields_left);
    if (is_alike && !payload->failed)
        store_u16le(payload->bytes + payload_at, (uint16_t)n);
    if (!is_alike) {
        signature->n = signature_at;
        payload->n = payload_at;
    }
    return is_alike;
}

static void append_array(struct field_source *fields_left, unsigned depth)
{
    struct nettrace_writer *w = fields_left->w;
    uint16_t outer = fields_left->field.depth;
    struct field_source ahead = *fields_left;
    uint8_t code = w->version == 4 ? 0 : find_common_element_type(&ahead, outer);
    if (w->version == 4) {
        count_field_loss(fields_left, NETTRACE_LOST_ARRAY);
        buffer_clear(&w->scratch);
        append_children_text(fields_left, &w->scratch);
        buffer_add_byte(&w->signature, NETTRACE_STRING);
        append_payload_text(fields_left, (ttr_text){(const char *)w->scratch.bytes, w->scratch.n});
        return;
    }
    if (code) {
        append_scalar_array(fields_left, outer, code);
        return;
    }
    /* the attempt may fail, so its losses are counted in a copy of the table, which replaces the
     * table on success */
    struct ttr_writer tried = *fields_left->out;
    ttr_loss ledger[NETTRACE_LOSSES];
    memcpy(ledger, fields_left->out->ledger, sizeof ledger);
    ahead = *fields_left;
    tried.ledger = ledger;
    ahead.out = &tried;
    if (append_uniform_array(&ahead, outer, depth)) {
        memcpy(fields_left->out->ledger, ledger, sizeof ledger);
        fields_left->out->losses_total = tried.losses_total;
        ahead.out = fields_left->out;
        *fields_left = ahead;
        return;
    }
    count_field_loss(fields_left, NETTRACE_LOST_MIXED);
    buffer_add_byte(&w->signature, NETTRACE_OBJECT);
    next_field(fields_left);
    append_members(fields_left, outer, true, depth);
}

/* Appends the current value and its type; then reads the next field. */
static void append_value(struct field_source *fields_left, unsigned depth)
{
    struct buffer *signature = &fields_left->w->signature;
    const ttr_value *value = &fields_left->field.value;
    uint16_t outer = fields_left->field.depth;
    uint8_t code = choose_scalar_type_code(value);
    if (code) {
        buffer_add_byte(signature, code);
        count_value_losses(fields_left, value);
        append_scalar(fields_left, code, value);
        next_field(fields_left);
    } else if (value->type == TTR_TYPE_BYTES) {
        append_bytes(fields_left);
    } else if (depth >= DEPTH_MAX) {
        count_field_loss(fields_left, NETTRACE_LOST_DEPTH);
        buffer_add_byte(signature, NETTRACE_OBJECT);
        nettrace_append_u32(signature, 0);
        for (next_field(fields_left); fields_left->has_field && fields_left->field.depth > outer;
             next_field(fields_left))
            continue;
    } else if (value->type == TTR_TYPE_ARRAY) {
        append_array(fields_left, depth + 1);
    } else {
        buffer_add_byte(signature, NETTRACE_OBJECT);
        next_field(fields_left);
        append_members(fields_left, outer, false, depth + 1);
    }
}

/* --- Properties of events that become fields --- */

static void append_number_field(const struct field_source *fields_left, const char *name,
                                uint64_t x)
{
    append_field_name(fields_left, (ttr_text){name, strlen(name)});
    buffer_add_byte(&fields_left->w->signature, NETTRACE_U64);
    nettrace_append_u64(&fields_left->w->payload, x);
}

static void append_text_field(const struct field_source *fields_left, const char *name,
                              ttr_text text)
{
    append_field_name(fields_left, (ttr_text){name, strlen(name)});
    buffer_add_byte(&fields_left->w->signature, NETTRACE_STRING);
    append_payload_text(fields_left, text);
}

/* Returns true if an event is a begin or end, which the opcode states. */
static bool is_begin_or_end(const ttr_event *event)
{
    return event->kind == TTR_KIND_BEGIN || event->kind == TTR_KIND_END ||
           event->kind == TTR_KIND_ASYNC_BEGIN || event->kind == TTR_KIND_ASYNC_END;
}

/* Appends fields for the kind of an event that is not an instant. Returns their number. Activities
 * need none, since readers derive them from opcodes. */
static uint32_t append_kind_fields(const struct field_source *fields_left, const ttr_event *event)
{
    const char *kind = ttr_kind_text(event->kind);
    uint32_t n = 0;
    ttr_thread outgoing;
    if (event->kind == TTR_KIND_INSTANT || activity_is_start_or_stop(event))
        return 0;
    count_field_loss(fields_left, is_begin_or_end(event)           ? NETTRACE_LOST_PAIR
                                  : event->kind == TTR_KIND_SAMPLE ? NETTRACE_LOST_SAMPLE
                                                                   : NETTRACE_LOST_KIND);
    if (!is_begin_or_end(event) || fields_left->w->version == 4) {
        append_text_field(fields_left, "kind", (ttr_text){kind, strlen(kind)});
        n++;
    }
    if (event->kind == TTR_KIND_SPAN) {
        append_number_field(fields_left, "duration", event->duration);
        n++;
    }
    if (event->kind == TTR_KIND_SWITCH &&
        ttr_thread_get(fields_left->out->t, (ttr_id)event->link, &outgoing)) {
        append_number_field(fields_left, "outgoing_pid", outgoing.pid);
        append_number_field(fields_left, "outgoing_tid", outgoing.tid);
        n += 2;
    }
    if (event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_BLOB ||
        event->kind == TTR_KIND_OBJECT) {
        append_number_field(fields_left, "tag", event->tag);
        n++;
    }
    return n;
}

static uint32_t append_property_fields(const struct field_source *fields_left,
                                       const ttr_event *event)
{
    uint32_t n = append_kind_fields(fields_left, event);
    if (event->link && event->kind != TTR_KIND_SWITCH && !activity_is_start_or_stop(event)) {
        if (event->kind == TTR_KIND_INSTANT)
            count_field_loss(fields_left, NETTRACE_LOST_KIND);
        append_number_field(fields_left, "id", event->link);
        n++;
    }
    if (event->category) {
        append_text_field(fields_left, "category",
                          ttr_text_get(fields_left->out->t, event->category));
        count_field_loss(fields_left, NETTRACE_LOST_CATEGORY);
        n++;
    }
    return n;
}

static bool is_frames_field(const ttr_event *event, const ttr_field *field)
{
    return event->kind == TTR_KIND_SAMPLE && field->name.n == 6 &&
           memcmp(field->name.p, "frames", 6) == 0;
}

void nettrace_encode_fields(struct ttr_writer *out, const ttr_event *event)
{
    struct nettrace_writer *w = out->ctx;
    struct field_source fields_left = {.out = out, .w = w, .offset = event->offset};
    size_t count_at = w->signature.n, signature_n = count_at + 4;
    uint32_t n = 0;
    nettrace_append_u32(&w->signature, 0);
    ttr_fields_begin(out->t, event, &fields_left.fields);
    next_field(&fields_left);
    while (fields_left.has_field) {
        if (is_frames_field(event, &fields_left.field)) {
            for (next_field(&fields_left); fields_left.has_field && fields_left.field.depth > 0;
                 next_field(&fields_left))
                continue;
            continue;
        }
        if (fields_left.field.group != TTR_GROUP_PAYLOAD)
            count_field_loss(&fields_left, NETTRACE_LOST_CONTEXT);
        append_field_name(&fields_left, fields_left.field.name);
        append_value(&fields_left, 0);
        n++;
    }
    if (w->payload.n > PAYLOAD_MAX) {
        w->payload.n = 0;
        w->signature.n = signature_n;
        n = 0;
        count_field_loss(&fields_left, NETTRACE_LOST_LARGE);
    }
    n += append_property_fields(&fields_left, event);
    if (!w->signature.failed)
        store_u32le(w->signature.bytes + count_at, n);
}
