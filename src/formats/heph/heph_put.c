/* Encodes the fields of any event as attributes.  Numbers, strings and arrays of one type are
 * stored unchanged. Structs, booleans, null, bytes and mixed arrays are converted to the nearest
 * type, and counted as losses. */
#include "formats/heph/heph_put.h"

#include "base/number.h"
#include "base/utf.h"

/* Maximum nesting of structs and arrays; deeper fields are dropped. */
#define DEPTH_MAX 32u

void heph_put_u16(struct buffer *to, uint16_t x)
{
    uint8_t *at = buffer_room(to, 2);
    if (at) {
        at[0] = (uint8_t)(x >> 8);
        at[1] = (uint8_t)x;
        buffer_filled(to, 2);
    }
}

void heph_put_u32(struct buffer *to, uint32_t x)
{
    heph_put_u16(to, (uint16_t)(x >> 16));
    heph_put_u16(to, (uint16_t)x);
}

void heph_put_u64(struct buffer *to, uint64_t x)
{
    heph_put_u32(to, (uint32_t)(x >> 32));
    heph_put_u32(to, (uint32_t)x);
}

void heph_put_text(const struct heph_put *put, ttr_text text)
{
    size_t n = text.n;
    if (n > HEPH_TEXT_MAX) {
        n = utf8_cut(text.p, n, HEPH_TEXT_MAX);
        output_lost(put->out, HEPH_LOST_TEXT, put->offset);
    }
    heph_put_u16(put->to, (uint16_t)n);
    buffer_add(put->to, text.p, n);
}

static void put_head(const struct heph_put *put, const char *name, uint8_t type)
{
    heph_put_text(put, (ttr_text){name, strlen(name)});
    buffer_add_byte(put->to, type);
}

void heph_put_uint(const struct heph_put *put, const char *name, uint64_t value)
{
    put_head(put, name, HEPH_TYPE_UINT);
    heph_put_u64(put->to, value);
}

void heph_put_string(const struct heph_put *put, const char *name, ttr_text value)
{
    put_head(put, name, HEPH_TYPE_TEXT);
    heph_put_text(put, value);
}

/* Appends bytes as a string: 0x and two digits per byte, truncated to the maximum length. */
static void put_hex(const struct heph_put *put, ttr_text bytes)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = bytes.n;
    if (n > (HEPH_TEXT_MAX - 2) / 2) {
        n = (HEPH_TEXT_MAX - 2) / 2;
        output_lost(put->out, HEPH_LOST_TEXT, put->offset);
    }
    heph_put_u16(put->to, (uint16_t)(2 + 2 * n));
    buffer_add_text(put->to, "0x");
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = (uint8_t)bytes.p[i];
        buffer_add_byte(put->to, (uint8_t)digits[byte >> 4]);
        buffer_add_byte(put->to, (uint8_t)digits[byte & 15]);
    }
}

void heph_put_bytes(const struct heph_put *put, const char *name, ttr_text bytes)
{
    put_head(put, name, HEPH_TYPE_TEXT);
    put_hex(put, bytes);
}

/* Returns the Heph type of a value; 0 for arrays and structs. */
static uint8_t stored_type(const ttr_value *value)
{
    static const uint8_t types[TTR_TYPE_COUNT] = {
        [TTR_TYPE_NULL] = HEPH_TYPE_TEXT,   [TTR_TYPE_BOOL] = HEPH_TYPE_UINT,
        [TTR_TYPE_UINT] = HEPH_TYPE_UINT,   [TTR_TYPE_INT] = HEPH_TYPE_INT,
        [TTR_TYPE_FLOAT] = HEPH_TYPE_FLOAT, [TTR_TYPE_TEXT] = HEPH_TYPE_TEXT,
        [TTR_TYPE_BYTES] = HEPH_TYPE_TEXT,
    };
    return value->type < TTR_TYPE_COUNT ? types[value->type] : 0;
}

static void count_changes(const struct heph_put *put, const ttr_value *value)
{
    if (value->type == TTR_TYPE_NULL)
        output_lost(put->out, HEPH_LOST_NULL, put->offset);
    if (value->type == TTR_TYPE_BOOL)
        output_lost(put->out, HEPH_LOST_BOOL, put->offset);
    bool is_labelled = value->hint == TTR_HINT_ENUM || value->hint == TTR_HINT_FLAGS;
    if (value->type == TTR_TYPE_BYTES)
        output_lost(put->out, HEPH_LOST_BYTES, put->offset);
    else if (is_labelled && value->count > 0)
        output_lost(put->out, HEPH_LOST_LABEL, put->offset);
    else if (value->hint != TTR_HINT_NONE && !is_labelled && value->type != TTR_TYPE_NULL)
        output_lost(put->out, HEPH_LOST_HINT, put->offset);
}

/* Appends a value; its type byte is already written. */
static void put_value(const struct heph_put *put, const ttr_value *value)
{
    ttr_thread thread;
    uint64_t number = value->v.u;
    switch (value->type) {
    case TTR_TYPE_NULL:
        heph_put_text(put, (ttr_text){"null", 4});
        break;
    case TTR_TYPE_TEXT:
        heph_put_text(put, value->text);
        break;
    case TTR_TYPE_BYTES:
        put_hex(put, value->text);
        break;
    default:
        if (value->hint == TTR_HINT_THREAD &&
            ttr_thread_get(put->out->t, (ttr_id)value->v.u, &thread))
            number = thread.tid;
        heph_put_u64(put->to, number);
    }
}

/* Returns whether the array can be a Heph array: its elements are scalars of one type. */
static bool is_plain(ttr_fields elements, uint32_t count)
{
    ttr_field field;
    uint8_t type = 0;
    for (uint32_t i = 0; i < count && ttr_fields_next(&elements, &field); i++) {
        uint8_t own = stored_type(&field.value);
        if (own == 0 || (type && own != type))
            return false;
        type = own;
    }
    return true;
}

/* Appends an array of one type.  The type precedes the elements, so it is overwritten once the
 * first element is known. */
static void put_array(const struct heph_put *put, ttr_fields *elements, uint32_t count)
{
    ttr_field field;
    size_t head = put->to->n;
    uint32_t n = 0;
    buffer_add_byte(put->to, HEPH_TYPE_ARRAY | HEPH_TYPE_UINT);
    heph_put_u16(put->to, 0);
    if (count > HEPH_TEXT_MAX)
        output_lost(put->out, HEPH_LOST_ELEMENTS, put->offset);
    for (uint32_t i = 0; i < count && ttr_fields_next(elements, &field); i++) {
        count_changes(put, &field.value);
        if (i == 0 && !put->to->failed)
            put->to->bytes[head] = (uint8_t)(HEPH_TYPE_ARRAY | stored_type(&field.value));
        if (i >= HEPH_TEXT_MAX)
            continue;
        put_value(put, &field.value);
        n++;
    }
    if (!put->to->failed) {
        put->to->bytes[head + 1] = (uint8_t)(n >> 8);
        put->to->bytes[head + 2] = (uint8_t)n;
    }
}

/* An open struct or mixed array: the prefix of its fields' names. */
struct level {
    size_t path_n;
    uint32_t index;
    bool is_array;
};

/* Sets put->path to the dotted name of a field; elements are numbered from 0. */
static void make_path(const struct heph_put *put, struct level *level, ttr_text name)
{
    char digits[NUMBER_MAX];
    put->path->n = level->path_n;
    if (level->path_n)
        buffer_add_byte(put->path, '.');
    if (level->is_array)
        buffer_add(put->path, digits, number_put_u64(digits, level->index++));
    else
        buffer_add(put->path, name.p, name.n);
}

/* Appends one field; `levels` are the open containers, innermost first. */
static void put_field(const struct heph_put *put, ttr_fields *fields, const ttr_field *field,
                      struct level *levels)
{
    const ttr_value *value = &field->value;
    uint8_t type = stored_type(value);
    if (field->depth == 0 &&
        (field->group == TTR_GROUP_COMMON || field->group == TTR_GROUP_CONTEXT))
        output_lost(put->out, HEPH_LOST_CONTEXT, put->offset);
    make_path(put, &levels[field->depth], field->name);
    ttr_text path = {(const char *)put->path->bytes, put->path->n};
    if (type) {
        heph_put_text(put, path);
        buffer_add_byte(put->to, type);
        count_changes(put, value);
        put_value(put, value);
    } else if (value->type == TTR_TYPE_ARRAY && is_plain(*fields, value->count)) {
        heph_put_text(put, path);
        put_array(put, fields, value->count);
    } else {
        bool is_array = value->type == TTR_TYPE_ARRAY;
        output_lost(put->out, is_array ? HEPH_LOST_MIXED : HEPH_LOST_STRUCT, put->offset);
        if (field->depth + 1u < DEPTH_MAX)
            levels[field->depth + 1] = (struct level){.path_n = put->path->n, .is_array = is_array};
    }
}

void heph_put_fields(const struct heph_put *put, const ttr_event *event)
{
    struct level levels[DEPTH_MAX] = {{.path_n = 0}};
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(put->out->t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.depth >= DEPTH_MAX)
            output_lost(put->out, HEPH_LOST_DEPTH, put->offset);
        else
            put_field(put, &fields, &field, levels);
    }
    put->to->failed |= put->path->failed;
}
