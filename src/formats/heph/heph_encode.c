/* Encodes the fields of an event as Heph attributes. Numbers, strings and arrays with elements of
 * one type are stored unchanged. Structs, booleans, nulls, bytes and mixed arrays are converted to
 * the most similar type, and counted as losses. */
#include "formats/heph/heph_encode.h"

#include "base/number.h"
#include "base/utf.h"

/* maximum nesting of structs and arrays in fields; deeper fields are dropped */
#define FIELD_DEPTH_MAX 32u

void heph_append_u16(struct buffer *to, uint16_t x)
{
    uint8_t *at = buffer_room(to, 2);
    if (at) {
        at[0] = (uint8_t)(x >> 8);
        at[1] = (uint8_t)x;
        buffer_commit(to, 2);
    }
}

void heph_append_u32(struct buffer *to, uint32_t x)
{
    heph_append_u16(to, (uint16_t)(x >> 16));
    heph_append_u16(to, (uint16_t)x);
}

void heph_append_u64(struct buffer *to, uint64_t x)
{
    heph_append_u32(to, (uint32_t)(x >> 32));
    heph_append_u32(to, (uint32_t)x);
}

void heph_append_text(const struct heph_encoder *encoder, ttr_text text)
{
    size_t n = text.n;
    if (n > HEPH_TEXT_MAX) {
        n = utf8_truncated_length(text.p, n, HEPH_TEXT_MAX);
        output_count_loss(encoder->out, HEPH_LOST_TEXT, encoder->offset);
    }
    heph_append_u16(encoder->to, (uint16_t)n);
    buffer_add(encoder->to, text.p, n);
}

static void append_attribute_head(const struct heph_encoder *encoder, const char *name,
                                  uint8_t type)
{
    heph_append_text(encoder, (ttr_text){name, strlen(name)});
    buffer_add_byte(encoder->to, type);
}

void heph_append_uint(const struct heph_encoder *encoder, const char *name, uint64_t value)
{
    append_attribute_head(encoder, name, HEPH_TYPE_UINT);
    heph_append_u64(encoder->to, value);
}

void heph_append_string(const struct heph_encoder *encoder, const char *name, ttr_text value)
{
    append_attribute_head(encoder, name, HEPH_TYPE_TEXT);
    heph_append_text(encoder, value);
}

/* Appends bytes as text: "0x" and two hexadecimal digits for each byte. Truncates the text to the
 * maximum length of a Heph string. */
static void append_hex_text(const struct heph_encoder *encoder, ttr_text bytes)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = bytes.n;
    if (n > (HEPH_TEXT_MAX - 2) / 2) {
        n = (HEPH_TEXT_MAX - 2) / 2;
        output_count_loss(encoder->out, HEPH_LOST_TEXT, encoder->offset);
    }
    heph_append_u16(encoder->to, (uint16_t)(2 + 2 * n));
    buffer_add_text(encoder->to, "0x");
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = (uint8_t)bytes.p[i];
        buffer_add_byte(encoder->to, (uint8_t)digits[byte >> 4]);
        buffer_add_byte(encoder->to, (uint8_t)digits[byte & 15]);
    }
}

void heph_append_bytes(const struct heph_encoder *encoder, const char *name, ttr_text bytes)
{
    append_attribute_head(encoder, name, HEPH_TYPE_TEXT);
    append_hex_text(encoder, bytes);
}

/* Returns the Heph type in which a value is stored; 0 for arrays and structs, which are not one
 * value. */
static uint8_t get_stored_type(const ttr_value *value)
{
    static const uint8_t types[TTR_TYPE_COUNT] = {
        [TTR_TYPE_NULL] = HEPH_TYPE_TEXT,   [TTR_TYPE_BOOL] = HEPH_TYPE_UINT,
        [TTR_TYPE_UINT] = HEPH_TYPE_UINT,   [TTR_TYPE_INT] = HEPH_TYPE_INT,
        [TTR_TYPE_FLOAT] = HEPH_TYPE_FLOAT, [TTR_TYPE_TEXT] = HEPH_TYPE_TEXT,
        [TTR_TYPE_BYTES] = HEPH_TYPE_TEXT,
    };
    return value->type < TTR_TYPE_COUNT ? types[value->type] : 0;
}

static void count_value_losses(const struct heph_encoder *encoder, const ttr_value *value)
{
    if (value->type == TTR_TYPE_NULL)
        output_count_loss(encoder->out, HEPH_LOST_NULL, encoder->offset);
    if (value->type == TTR_TYPE_BOOL)
        output_count_loss(encoder->out, HEPH_LOST_BOOL, encoder->offset);
    bool is_labelled = value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS;
    if (value->type == TTR_TYPE_BYTES)
        output_count_loss(encoder->out, HEPH_LOST_BYTES, encoder->offset);
    else if (is_labelled && value->count > 0)
        output_count_loss(encoder->out, HEPH_LOST_LABEL, encoder->offset);
    else if (value->hint != TTR_DISPLAY_NONE && !is_labelled && value->type != TTR_TYPE_NULL)
        output_count_loss(encoder->out, HEPH_LOST_HINT, encoder->offset);
}

/* Appends a value without its type byte, which the caller has already written. */
static void append_value(const struct heph_encoder *encoder, const ttr_value *value)
{
    ttr_thread thread;
    uint64_t number = value->v.u;
    switch (value->type) {
    case TTR_TYPE_NULL:
        heph_append_text(encoder, (ttr_text){"null", 4});
        break;
    case TTR_TYPE_TEXT:
        heph_append_text(encoder, value->text);
        break;
    case TTR_TYPE_BYTES:
        append_hex_text(encoder, value->text);
        break;
    default:
        if (value->hint == TTR_DISPLAY_THREAD &&
            ttr_thread_get(encoder->out->t, (ttr_id)value->v.u, &thread))
            number = thread.tid;
        heph_append_u64(encoder->to, number);
    }
}

/* Returns true if all elements of the array are scalars of one type, which a Heph array can
 * store. */
static bool is_uniform_array(ttr_fields elements, uint32_t count)
{
    ttr_field field;
    uint8_t type = 0;
    for (uint32_t i = 0; i < count && ttr_fields_next(&elements, &field); i++) {
        uint8_t ctx = get_stored_type(&field.value);
        if (ctx == 0 || (type && ctx != type))
            return false;
        type = ctx;
    }
    return true;
}

/* Appends an array of elements of one type. The type byte precedes the elements, so it is
 * overwritten after the first element was decoded. */
static void append_array(const struct heph_encoder *encoder, ttr_fields *elements, uint32_t count)
{
    ttr_field field;
    size_t head = encoder->to->n;
    uint32_t n = 0;
    buffer_add_byte(encoder->to, HEPH_TYPE_ARRAY | HEPH_TYPE_UINT);
    heph_append_u16(encoder->to, 0);
    if (count > HEPH_TEXT_MAX)
        output_count_loss(encoder->out, HEPH_LOST_ELEMENTS, encoder->offset);
    for (uint32_t i = 0; i < count && ttr_fields_next(elements, &field); i++) {
        count_value_losses(encoder, &field.value);
        if (i == 0 && !encoder->to->failed)
            encoder->to->bytes[head] = (uint8_t)(HEPH_TYPE_ARRAY | get_stored_type(&field.value));
        if (i >= HEPH_TEXT_MAX)
            continue;
        append_value(encoder, &field.value);
        n++;
    }
    if (!encoder->to->failed) {
        encoder->to->bytes[head + 1] = (uint8_t)(n >> 8);
        encoder->to->bytes[head + 2] = (uint8_t)n;
    }
}

/* A struct or mixed array of which members are being appended. Its name is the prefix of their
 * names. */
struct open_container {
    size_t path_n;
    uint32_t index;
    bool is_array;
};

/* Stores the dotted name of a field in encoder->path. The name of an array element is its index. */
static void build_field_path(const struct heph_encoder *encoder, struct open_container *level,
                             ttr_text name)
{
    char digits[NUMBER_MAX];
    encoder->path->n = level->path_n;
    if (level->path_n)
        buffer_add_byte(encoder->path, '.');
    if (level->is_array)
        buffer_add(encoder->path, digits, number_format_u64(digits, level->index++));
    else
        buffer_add(encoder->path, name.p, name.n);
}

/* Appends a field as an attribute. `levels` is the stack of structs and mixed arrays that contain
 * the field. */
static void append_field(const struct heph_encoder *encoder, ttr_fields *fields,
                         const ttr_field *field, struct open_container *levels)
{
    const ttr_value *value = &field->value;
    uint8_t type = get_stored_type(value);
    if (field->depth == 0 &&
        (field->group == TTR_GROUP_COMMON || field->group == TTR_GROUP_CONTEXT))
        output_count_loss(encoder->out, HEPH_LOST_CONTEXT, encoder->offset);
    build_field_path(encoder, &levels[field->depth], field->name);
    ttr_text path = {(const char *)encoder->path->bytes, encoder->path->n};
    if (type) {
        heph_append_text(encoder, path);
        buffer_add_byte(encoder->to, type);
        count_value_losses(encoder, value);
        append_value(encoder, value);
    } else if (value->type == TTR_TYPE_ARRAY && is_uniform_array(*fields, value->count)) {
        heph_append_text(encoder, path);
        append_array(encoder, fields, value->count);
    } else {
        bool is_array = value->type == TTR_TYPE_ARRAY;
        output_count_loss(encoder->out, is_array ? HEPH_LOST_MIXED : HEPH_LOST_STRUCT,
                          encoder->offset);
        if (field->depth + 1u < FIELD_DEPTH_MAX)
            levels[field->depth + 1] =
                (struct open_container){.path_n = encoder->path->n, .is_array = is_array};
    }
}

void heph_append_fields(const struct heph_encoder *encoder, const ttr_event *event)
{
    struct open_container levels[FIELD_DEPTH_MAX] = {{.path_n = 0}};
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(encoder->out->t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.depth >= FIELD_DEPTH_MAX)
            output_count_loss(encoder->out, HEPH_LOST_DEPTH, encoder->offset);
        else
            append_field(encoder, &fields, &field, levels);
    }
    encoder->to->failed |= encoder->path->failed;
}
