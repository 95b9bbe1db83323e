/* Attributes of an event, decoded on demand (specification: "Event Packet", attributes).
 *
 * An array is an ARRAY field followed by its elements. In an event with damaged content, the
 * attributes before the damage are returned as usual, and the rest of the packet as one field
 * "undecoded". Nested arrays have a schema of their own (heph_attributes.h). */
#include <string.h>

#include "formats/heph/heph.h"
#include "formats/heph/heph_attributes.h"

/* State of the field iterator, stored in fields->state. */
struct walk {
    struct cursor at;
    struct heph_nesting nesting;
    uint32_t left[HEPH_LEVELS_MAX]; /* number of elements that remain in the open array, by level */
    uint8_t depth;                  /* number of open levels */
    uint8_t levels;                 /* number of nesting levels of the open array */
    uint8_t type;                   /* element type of the open array */
    uint8_t array;                  /* number of arrays returned so far, at most 255 */
    /* true if the content is damaged: each attribute is checked before it is returned */
    bool is_careful;
};
_Static_assert(sizeof(struct walk) <= sizeof(((ttr_fields *)0)->state), "walk fits");

static struct walk begin_fields(const ttr_event *event)
{
    struct walk walk = {.is_careful = (event->flags & TTR_EVENT_PARTIAL) != 0};
    walk.at = cursor_init(event->payload, event->payload_size, 0);
    (void)cursor_skip(&walk.at, event->body);
    return walk;
}

static void flat_fields_begin(ttr_fields *fields)
{
    struct walk walk = begin_fields(fields->event);
    memcpy(fields->state, &walk, sizeof walk);
}

static void nested_fields_begin(ttr_fields *fields)
{
    struct walk walk = begin_fields(fields->event);
    if (!heph_find_array_nesting(walk.at, &walk.nesting))
        walk.nesting.levels = 0;
    memcpy(fields->state, &walk, sizeof walk);
}

/* Reads a scalar value. Returns false if it is truncated or its type is unknown. */
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

/* Returns the next element of the open array. In nested arrays the element may itself be an array.
 */
static bool read_next_element(struct walk *walk, ttr_field *field)
{
    unsigned level = walk->depth - 1u;
    walk->left[level]--;
    field->depth = walk->depth;
    if (walk->depth == walk->levels)
        return read_scalar(&walk->at, walk->type, &field->value);
    field->value.type = TTR_TYPE_ARRAY;
    field->value.count = walk->left[walk->depth++] = cursor_u16be(&walk->at);
    return !walk->at.failed;
}

static bool open_array(struct walk *walk, uint8_t type, ttr_field *field)
{
    walk->type = type & (uint8_t)~HEPH_TYPE_ARRAY;
    walk->levels = (uint8_t)heph_array_levels(&walk->nesting, walk->array);
    if (walk->array < UINT8_MAX)
        walk->array++;
    walk->depth = 1;
    walk->left[0] = cursor_u16be(&walk->at);
    field->value.type = TTR_TYPE_ARRAY;
    field->value.count = walk->left[0];
    return !walk->at.failed && walk->type >= HEPH_TYPE_UINT && walk->type <= HEPH_TYPE_TEXT;
}

static bool is_at_end(struct cursor c)
{
    return heph_skip_attribute(&c);
}

static bool read_undecoded_rest(struct walk *walk, ttr_field *field)
{
    size_t n = cursor_left(&walk->at);
    field->name = (ttr_text){"undecoded", 9};
    field->value.type = TTR_TYPE_BYTES;
    field->value.hint = TTR_DISPLAY_RAW;
    field->value.text = (ttr_text){(const char *)cursor_read_bytes(&walk->at, n), n};
    return true;
}

static bool next_field(ttr_fields *fields, ttr_field *field)
{
    struct walk *walk = (struct walk *)fields->state;
    *field = (ttr_field){.depth = 0};
    while (walk->depth && walk->left[walk->depth - 1] == 0)
        walk->depth--;
    if (walk->depth)
        return read_next_element(walk, field);
    if (walk->at.failed || cursor_left(&walk->at) == 0)
        return false;
    if (walk->is_careful && !is_at_end(walk->at))
        return read_undecoded_rest(walk, field);
    field->name.n = cursor_u16be(&walk->at);
    field->name.p = (const char *)cursor_read_bytes(&walk->at, field->name.n);
    uint8_t type = cursor_u8(&walk->at);
    if (walk->at.failed)
        return false;
    return type & HEPH_TYPE_ARRAY ? open_array(walk, type, field)
                                  : read_scalar(&walk->at, type, &field->value);
}

/* Implements field_ops.read: reads up to `room` fields. Sets fields->ops to NULL at the end, so
 * that the iterator is not called again. */
static uint32_t read_fields(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    uint32_t n = 0;
    while (n < room && next_field(fields, &field[n]))
        n++;
    fields->ops = n < room ? NULL : fields->ops;
    return n;
}

const struct field_ops heph_field_ops = {
    .begin = flat_fields_begin, .next = next_field, .decode_batch = read_fields};
const struct field_ops heph_nested_ops = {
    .begin = nested_fields_begin, .next = next_field, .decode_batch = read_fields};
