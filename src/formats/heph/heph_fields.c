/* Attributes of an event, decoded on demand (specification: "Event Packet", attributes).
 *
 * An array is an ARRAY field followed by its elements. In an event with damaged content, the
 * attributes before the damage are returned as usual, and the rest of the packet as one field
 * "undecoded". Nested arrays have a schema of their own (heph_attributes.h). */
#include <string.h>

#include "formats/heph/heph.h"
#include "formats/heph/heph_attributes.h"

/* State of the field iterator, stored in fields->state. */
struct field_iter {
    struct cursor at;
    struct heph_nesting nesting;
    /* number of remaining elements of the open array, at each level */
    uint32_t left[HEPH_LEVELS_MAX];
    uint8_t depth;  /* number of levels that are open */
    uint8_t levels; /* number of nesting levels of the open array */
    uint8_t type;   /* element type of the open array */
    uint8_t array;  /* number of arrays returned so far, at most 255 */
    /* true if the content is damaged, so that each attribute is checked before it is returned */
    bool is_careful;
};
_Static_assert(sizeof(struct field_iter) <= sizeof(((ttr_fields *)0)->state), "walk fits");

static struct field_iter begin_fields(const ttr_event *event)
{
    struct field_iter iter = {.is_careful = (event->flags & TTR_EVENT_PARTIAL) != 0};
    iter.at = cursor_init(event->payload, event->payload_size, 0);
    (void)cursor_skip(&iter.at, event->body);
    return iter;
}

static void flat_fields_begin(ttr_fields *fields)
{
    struct field_iter iter = begin_fields(fields->event);
    memcpy(fields->state, &iter, sizeof iter);
}

static void nested_fields_begin(ttr_fields *fields)
{
    struct field_iter iter = begin_fields(fields->event);
    if (!heph_find_array_nesting(iter.at, &iter.nesting))
        iter.nesting.levels = 0;
    memcpy(fields->state, &iter, sizeof iter);
}

/* Reads a scalar value. Returns false if the value is truncated or its type is unknown. */
static bool read_scalar(struct cursor *c, uint8_t type, ttr_value *value)
{
    switch (type) {
    case HEPH_TYPE_UINT:
        value->type = TTR_TYPE_UINT;
        value->v.u = cursor_u64be(c);
        break;
    case HEPH_TYPE_INT:
        value->type = TTR_TYPE_INT;
        value->v.s = (int64_t)cursor_u64be(c);
        break;
    case HEPH_TYPE_FLOAT:
        value->type = TTR_TYPE_FLOAT;
        value->v.f = double_of_bits(cursor_u64be(c));
        break;
    case HEPH_TYPE_TEXT:
        value->type = TTR_TYPE_TEXT;
        value->text.n = cursor_u16be(c);
        value->text.p = (const char *)cursor_read_bytes(c, value->text.n);
        break;
    default:
        return false;
    }
    return !c->failed;
}

/* Returns the next element of the open array. In a nested array, the element may be an array,
 * too. */
static bool read_next_element(struct field_iter *iter, ttr_field *field)
{
    unsigned level = iter->depth - 1u;
    iter->left[level]--;
    field->depth = iter->depth;
    if (iter->depth == iter->levels)
        return read_scalar(&iter->at, iter->type, &field->value);
    field->value.type = TTR_TYPE_ARRAY;
    field->value.count = iter->left[iter->depth++] = cursor_u16be(&iter->at);
    return !iter->at.failed;
}

static bool open_array(struct field_iter *iter, uint8_t type, ttr_field *field)
{
    iter->type = type & (uint8_t)~HEPH_TYPE_ARRAY;
    iter->levels = (uint8_t)heph_get_array_levels(&iter->nesting, iter->array);
    if (iter->array < UINT8_MAX)
        iter->array++;
    iter->depth = 1;
    iter->left[0] = cursor_u16be(&iter->at);
    field->value.type = TTR_TYPE_ARRAY;
    field->value.count = iter->left[0];
    return !iter->at.failed && iter->type >= HEPH_TYPE_UINT && iter->type <= HEPH_TYPE_TEXT;
}

static bool is_at_end(struct cursor c)
{
    return heph_skip_attribute(&c);
}

static bool read_undecoded_rest(struct field_iter *iter, ttr_field *field)
{
    size_t n = cursor_left(&iter->at);
    field->name = (ttr_text){"undecoded", 9};
    field->value.type = TTR_TYPE_BYTES;
    field->value.hint = TTR_DISPLAY_RAW;
    field->value.text = (ttr_text){(const char *)cursor_read_bytes(&iter->at, n), n};
    return true;
}

static bool read_next_field(ttr_fields *fields, ttr_field *field)
{
    struct field_iter *iter = (struct field_iter *)fields->state;
    *field = (ttr_field){.depth = 0};
    while (iter->depth && iter->left[iter->depth - 1] == 0)
        iter->depth--;
    if (iter->depth)
        return read_next_element(iter, field);
    if (iter->at.failed || cursor_left(&iter->at) == 0)
        return false;
    if (iter->is_careful && !is_at_end(iter->at))
        return read_undecoded_rest(iter, field);
    field->name.n = cursor_u16be(&iter->at);
    field->name.p = (const char *)cursor_read_bytes(&iter->at, field->name.n);
    uint8_t type = cursor_u8(&iter->at);
    if (iter->at.failed)
        return false;
    return type & HEPH_TYPE_ARRAY ? open_array(iter, type, field)
                                  : read_scalar(&iter->at, type, &field->value);
}

/* Implements field_ops.read: reads up to `room` fields. Sets fields->ops to NULL at the end, so
 * that the iterator is not called again. */
static uint32_t read_fields(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    uint32_t n = 0;
    while (n < room && read_next_field(fields, &field[n]))
        n++;
    fields->ops = n < room ? NULL : fields->ops;
    return n;
}

const struct field_ops heph_field_ops = {
    .begin = flat_fields_begin, .next = read_next_field, .decode_batch = read_fields};
const struct field_ops heph_nested_ops = {
    .begin = nested_fields_begin, .next = read_next_field, .decode_batch = read_fields};
