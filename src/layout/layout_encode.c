/* Encoder: recursive descent over the types. Types are not compiled: collecting an event's fields
 * costs more than this recursion. */
#include "layout/layout_encode.h"

#include <assert.h>

#include "base/bit_cursor.h"

static void encode_value(struct field_encoder *encode, const struct type *type);

static bool encode_is_length(const struct type_member *member, const struct type_member *next_field)
{
    const struct type_reference *reference = &next_field->type->reference;
    bool is_counted = next_field->type->kind == TYPE_SEQUENCE ||
                      next_field->type->kind == TYPE_TEXT || next_field->type->kind == TYPE_BLOB;
    return is_counted && reference->names_n &&
           reference->names[reference->names_n - 1].p == member->name.p;
}

static void encode_bits(struct bit_writer *put, const struct type *type, uint64_t value)
{
    uint64_t stored = type->is_reversed ? bits_reverse(value, type->bits) : value;
    bit_writer_align(put, type->align);
    if (type->is_big_endian)
        bit_writer_add_be(put, stored, type->bits);
    else
        bit_writer_add_le(put, stored, type->bits);
}

/* Writes a LEB128 number: seven bits per byte, least significant first, in as few bytes as
 * possible. */
static void encode_leb128(struct bit_writer *put, uint64_t value, bool is_signed)
{
    bit_writer_align(put, 3);
    for (;;) {
        uint64_t low = value & 0x7f;
        value = is_signed ? (uint64_t)((int64_t)value >> 7) : value >> 7;
        bool is_last = is_signed ? value == (low & 0x40 ? UINT64_MAX : 0) : value == 0;
        bit_writer_add_le(put, is_last ? low : low | 0x80, 8);
        if (is_last)
            return;
    }
}

static void encode_number(struct bit_writer *put, const struct type *type, uint64_t value)
{
    if (type->kind == TYPE_VAR_UINT || type->kind == TYPE_VAR_INT)
        encode_leb128(put, value, type->kind == TYPE_VAR_INT);
    else
        encode_bits(put, type, value);
}

static void encode_float(struct bit_writer *put, const struct type *type, double value)
{
    assert(type->bits == 32 || type->bits == 64);
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    encode_bits(put, type, type->bits == 32 ? bits : bits_of_double(value));
}

/* Writes a text or bytes. If the size is fixed, truncates or pads with zeros. */
static void encode_text(struct bit_writer *put, const struct type *type, ttr_text text)
{
    bool is_fixed = type->kind != TYPE_STRING && type->reference.names_n == 0;
    size_t n = is_fixed && text.n > type->count ? (size_t)type->count : text.n;
    bit_writer_align(put, 3);
    bit_writer_add_bytes(put, text.p, n);
    if (is_fixed)
        bit_writer_add_zeros(put, (type->count - n) * 8);
    if (type->kind == TYPE_STRING)
        bit_writer_add_zeros(put, 8);
}

static void encode_scalar(struct bit_writer *put, const struct type *type, const ttr_value *value)
{
    switch (type->kind) {
    case TYPE_FLOAT:
        encode_float(put, type, value->v.f);
        break;
    case TYPE_STRING:
    case TYPE_TEXT:
    case TYPE_BLOB:
        encode_text(put, type, value->text);
        break;
    default:
        encode_number(put, type, value->v.u);
    }
}

static const ttr_field nothing = {.name = {"", 0}};

/* Returns the next field without consuming it. After the last field, returns a field without a
 * value, so that a type with too many members does no harm. */
static const ttr_field *next_field(const struct field_encoder *encode)
{
    return encode->at < encode->n ? &encode->field[encode->at] : &nothing;
}

/* Returns the next field and consumes it. */
static const ttr_field *consume_field(struct field_encoder *encode)
{
    return encode->at < encode->n ? &encode->field[encode->at++] : &nothing;
}

/* Returns the number of elements or bytes of the next value. */
static uint64_t next_length(const struct field_encoder *encode)
{
    const ttr_value *value = &next_field(encode)->value;
    return value->type == TTR_TYPE_ARRAY ? value->count : value->text.n;
}

/* Writes a fixed-size array as zeros. Needed if no fields are left because the packet's fields are
 * unknown. */
static void encode_missing_elements(struct field_encoder *encode, const struct type *type)
{
    bit_writer_align(&encode->put, type->align);
    for (uint64_t i = 0; i < type->count; i++)
        encode_value(encode, type->element);
}

/* Writes the elements of an array, or bytes as 8-bit numbers. */
static void encode_elements(struct field_encoder *encode, const struct type *type)
{
    if (encode->at == encode->n && type->kind == TYPE_ARRAY && !type->has_inline_length) {
        encode_missing_elements(encode, type);
        return;
    }
    const uint64_t length = next_length(encode);
    const ttr_value value = consume_field(encode)->value;
    const struct type *element = type->element;
    bit_writer_align(&encode->put, type->has_inline_length ? type->minimum_align
                                                           /* The alignment of the elements applies
                                                            * even if the array is empty. */
                                                           : type->align);
    if (type->has_inline_length)
        encode_number(&encode->put, type->length_type, length);
    if (value.type != TTR_TYPE_ARRAY) {
        bit_writer_align(&encode->put, 3);
        bit_writer_add_bytes(&encode->put, value.text.p, value.text.n);
        return;
    }
    for (uint32_t i = 0; i < value.count && encode->at < encode->n; i++)
        encode_value(encode, element);
}

void encode_members(struct field_encoder *encode, const struct type *type)
{
    bit_writer_align(&encode->put, type->align);
    for (uint32_t i = 0; i < type->members_n; i++) {
        const struct type_member *member = &type->members[i];
        if (i + 1 < type->members_n && encode_is_length(member, member + 1))
            encode_number(&encode->put, member->type, next_length(encode));
        else
            encode_value(encode, member->type);
    }
}

/* Returns true if the writer added this struct around a scalar, or around a length and its data.
 * The event then has no field for the struct. */
static bool is_wrapper(const struct type *type, const ttr_value *value)
{
    bool is_pair = type->members_n == 2 && encode_is_length(&type->members[0], &type->members[1]);
    return value->type != TTR_TYPE_STRUCT && (value->type != TTR_TYPE_ARRAY || is_pair);
}

static void encode_value(struct field_encoder *encode, const struct type *type)
{
    const ttr_value *value = &next_field(encode)->value;
    if (type->kind == TYPE_STRUCT) {
        if (!is_wrapper(type, value))
            (void)consume_field(encode);
        encode_members(encode, type);
    } else if (type->kind == TYPE_SEQUENCE || type->kind == TYPE_ARRAY) {
        encode_elements(encode, type);
    } else {
        encode_scalar(&encode->put, type, &consume_field(encode)->value);
    }
}
