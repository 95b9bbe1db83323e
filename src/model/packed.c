/* Packed fields: made by builders and by sorting, read back like any payload.  In memory only, never in a file of ours, so the
 * host's byte order is fine; still read through the bounded cursor like everything else. */
#include "model/packed.h"

#include <string.h>

#include "base/cursor.h"

#define HEAD 16u

struct packed_head {
    uint8_t type, hint, bits, depth;
    uint32_t name_id, count, text_id;
};

/* The walk keeps a cursor and the strings in fields->state. */
struct packed_walk {
    struct cursor at;
    const struct intern *strings;
};
_Static_assert(sizeof(struct packed_walk) <= sizeof(((ttr_fields *)0)->state), "walk fits");
_Static_assert(sizeof(struct packed_head) == HEAD, "head is 16 bytes");

static bool is_counted_bytes(uint8_t type)
{
    return type == TTR_TYPE_TEXT || type == TTR_TYPE_BYTES;
}

static void packed_begin(ttr_fields *fields)
{
    const ttr_event *event = fields->event;
    struct packed_walk walk = {.strings = fields->own};
    walk.at = cursor_over(event->payload, event->payload_size, 0);
    if (event->body)
        (void)cursor_skip(&walk.at, event->body);
    memcpy(fields->state, &walk, sizeof walk);
}

static bool packed_next(ttr_fields *fields, ttr_field *field)
{
    struct packed_walk *walk = (struct packed_walk *)fields->state;
    const uint8_t *bytes = cursor_take(&walk->at, HEAD);
    if (!bytes)
        return false;
    struct packed_head head;
    memcpy(&head, bytes, sizeof head);
    struct intern_text name = intern_get(walk->strings, head.name_id);
    *field = (ttr_field){.name = {name.p, name.n}, .name_id = head.name_id, .depth = head.depth};
    field->value.type = head.type;
    field->value.hint = head.hint;
    field->value.bits = head.bits;
    field->value.text_id = head.text_id;
    if (is_counted_bytes(head.type)) {
        const uint8_t *text = cursor_take(&walk->at, head.count);
        if (!text || !cursor_skip(&walk->at, (8 - head.count % 8) % 8))
            return false;
        field->value.text = (ttr_text){(const char *)text, head.count};
        return true;
    }
    field->value.count = head.count;
    const uint8_t *scalar = cursor_take(&walk->at, 8);
    if (!scalar)
        return false;
    memcpy(&field->value.v, scalar, 8);
    return true;
}

const struct field_ops packed_field_ops = {.begin = packed_begin, .next = packed_next};

void packed_add(ttr *t, struct buffer *to, const ttr_field *field)
{
    const ttr_value *value = &field->value;
    bool counted = is_counted_bytes(value->type);
    ttr_id name_id = field->name_id;
    if (!name_id && field->name.n) {
        name_id = intern_add(&t->strings, field->name.p, field->name.n);
        to->failed |= name_id == UINT32_MAX;
    }
    to->failed |= counted && value->text.n > UINT32_MAX - 8;
    struct packed_head head = {.type = value->type, .hint = value->hint, .bits = value->bits, .name_id = name_id,
                               .depth = (uint8_t)(field->depth < 255 ? field->depth : 255), .text_id = value->text_id};
    head.count = counted ? (uint32_t)value->text.n : value->count;
    buffer_add(to, &head, sizeof head);
    if (counted) {
        buffer_add(to, value->text.p, value->text.n);
        buffer_add_zeros(to, (8 - value->text.n % 8) % 8);
    } else {
        buffer_add(to, &value->v, 8);
    }
}

size_t packed_copy(ttr *t, struct buffer *to, const ttr_event *event, ttr_event *copy)
{
    size_t at = to->n;
    ttr_fields fields;
    ttr_field field;
    *copy = *event;
    if (event->activity)
        buffer_add(to, event->activity, 16);
    if (event->related)
        buffer_add(to, event->related, 16);
    copy->body = (uint32_t)(to->n - at);
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        packed_add(t, to, &field);
    to->failed |= to->n - at > UINT32_MAX;
    copy->payload = NULL;
    copy->payload_size = (uint32_t)(to->n - at);
    copy->schema = SCHEMA_PACKED;
    copy->flags &= (uint8_t)~TTR_EVENT_RAW;
    return at;
}
