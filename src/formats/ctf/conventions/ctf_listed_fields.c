/* Reads events of the class "tracetta:listed" (ctf_conventions.h). Each entry of their list, a
 * struct of ten members, becomes one field.
 *
 * The entries are decoded by the layout of the class, which handles byte order and alignment.
 * Values of an entry are checked and limited before they are returned. The iterator needs only the
 * state of the layout iterator, because each entry describes one field completely. */
#include "formats/ctf/conventions/ctf_conventions.h"
#include "layout/layout.h"

/* maximum of the declared nesting depth of a field; larger depths are reduced to it */
#define DEPTH_MAX 64u

/* Returns an upper bound of the number of entries after the current one. */
static uint64_t count_entries_left(const ttr_fields *fields)
{
    const struct layout_iter *walk = (const struct layout_iter *)fields->state;
    return walk->loops.depth == 1 && walk->loops.left[0] ? walk->loops.left[0] - 1 : 0;
}

/* Returns the unescaped name, valid as long as the batch. Returns the escaped name if memory is
 * out. */
static ttr_text unescape_batch_name(const ttr_fields *fields, ttr_text escaped)
{
    const struct layout_schema *schema = fields->ctx;
    struct buffer plain;
    if (!ctf_has_escapes(escaped))
        return escaped;
    buffer_init(&plain, schema->scratch->alloc);
    ctf_name_unescape(&plain, escaped);
    const char *ctx = plain.failed ? NULL : arena_copy(schema->scratch, plain.bytes, plain.n);
    ttr_text name = ctx ? (ttr_text){ctx, plain.n} : escaped;
    buffer_free(&plain);
    return name;
}

/* Replaces values that are not valid in a field: unknown types, hints and bases, more than 64 bits,
 * and more members than entries that are left. */
static void sanitize_listed_value(ttr_value *value, uint64_t left, bool is_attribute)
{
    bool is_text = value->type == TTR_TYPE_TEXT || value->type == TTR_TYPE_BYTES;
    bool is_group = value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_STRUCT;
    if (value->type >= TTR_TYPE_COUNT)
        value->type = TTR_TYPE_NULL;
    if (value->hint == TTR_DISPLAY_THREAD || value->hint == TTR_DISPLAY_ENUM ||
        value->hint == TTR_DISPLAY_FLAGS || value->hint > TTR_DISPLAY_ABSENT)
        value->hint = TTR_DISPLAY_NONE;
    if (value->bits > 64)
        value->bits = 0;
    if (value->base != 2 && value->base != 8 && value->base != 16)
        value->base = 0;
    if (is_group)
        value->count = (uint32_t)(value->v.u < left   ? value->v.u
                                  : left < UINT32_MAX ? left
                                                      : UINT32_MAX);
    if ((is_group || is_text || value->type == TTR_TYPE_NULL) && !is_attribute)
        value->v.u = 0;
    if (value->type == TTR_TYPE_BOOL)
        value->v.u = value->v.u != 0;
}

/* Copies member `member` of an entry (CTF_LISTED_*) into the field. */
static void set_field_from_entry_member(const ttr_fields *fields, uint32_t member,
                                        const ttr_value *stored, ttr_field *field)
{
    switch (member) {
    case CTF_LISTED_NAME:
        field->name = unescape_batch_name(fields, stored->text);
        break;
    case CTF_LISTED_PART:
        field->group = (uint8_t)stored->v.u;
        break;
    case CTF_LISTED_TYPE:
        field->value.type = (uint8_t)stored->v.u;
        break;
    case CTF_LISTED_DEPTH:
        field->depth = (uint16_t)(stored->v.u < DEPTH_MAX ? stored->v.u : DEPTH_MAX);
        break;
    case CTF_LISTED_BITS:
        field->value.bits = (uint8_t)stored->v.u;
        break;
    case CTF_LISTED_BASE:
        field->value.base = (uint8_t)stored->v.u;
        break;
    case CTF_LISTED_HINT:
        field->value.hint = (uint8_t)stored->v.u;
        break;
    case CTF_LISTED_VALUE:
        field->value.v.u = stored->v.u;
        break;
    case CTF_LISTED_TEXT:
        if (field->value.type == TTR_TYPE_TEXT)
            field->value.text = stored->text;
        break;
    default:
        if (field->value.type == TTR_TYPE_BYTES)
            field->value.text = stored->text;
    }
}

/* Decodes the next entry into `field`; its group is a ttr_group or CTF_LISTED_ATTRIBUTE. Returns
 * false at the end of the list, or if the list does not have the form of the CTF conventions. */
static bool read_next_entry(ttr_fields *fields, ttr_field *field)
{
    ttr_field item;
    do {
        if (!layout_field_ops.next(fields, &item))
            return false;
    } while (item.value.type != TTR_TYPE_STRUCT || item.depth != 1);
    uint64_t left = count_entries_left(fields);
    uint32_t members = item.value.count;
    field_clear(field);
    field->value.text = (ttr_text){"", 0};
    for (uint32_t i = 0; i < members; i++) {
        if (!layout_field_ops.next(fields, &item) || item.depth != 2)
            return false;
        set_field_from_entry_member(fields, i, &item.value, field);
    }
    sanitize_listed_value(&field->value, left, field->group == CTF_LISTED_ATTRIBUTE);
    return members == CTF_LISTED_MEMBERS;
}

static bool listed_fields_next(ttr_fields *fields, ttr_field *field)
{
    do {
        if (!read_next_entry(fields, field))
            return false;
    } while (field->group != TTR_GROUP_PAYLOAD && field->group != TTR_GROUP_CONTEXT);
    return true;
}

static void listed_fields_begin(ttr_fields *fields)
{
    layout_field_ops.begin(fields);
}

static void listed_fields_begin_group(ttr_fields *fields, ttr_group group)
{
    const struct field_ops *plain = &layout_field_ops;
    plain->begin_group(fields, group);
    fields->ops = plain;
}

static uint64_t listed_fields_packet(const void *ctx, const ttr_event *event)
{
    return layout_field_ops.packet(ctx, event);
}

const struct field_ops ctf_listed_field_ops = {.begin = listed_fields_begin,
                                               .next = listed_fields_next,
                                               .begin_group = listed_fields_begin_group,
                                               .packet = listed_fields_packet};

/* --- Attributes in the list --- */

static enum ctf_attribute find_listed_attribute(ttr_text name)
{
    unsigned i = 0;
    while (i < CTF_ATTRIBUTE_COUNT && (name.n != strlen(ctf_attribute_names[i]) ||
                                       memcmp(name.p, ctf_attribute_names[i], name.n) != 0))
        i++;
    return (enum ctf_attribute)i;
}

/* Returns the 16 bytes of a value; NULL if it has another size. */
static const uint8_t *get_16_bytes(const ttr_value *value)
{
    return value->type == TTR_TYPE_BYTES && value->text.n == 16 ? (const uint8_t *)value->text.p
                                                                : NULL;
}

static void set_listed_attribute(const ttr_field *field, ttr *t,
                                 struct ctf_conventions_threads *threads, ttr_event *event,
                                 bool *failed)
{
    enum ctf_attribute attribute = find_listed_attribute(field->name);
    const ttr_value *value = &field->value;
    switch (attribute) {
    case CTF_ATTRIBUTE_KIND:
        event->kind = (uint8_t)(value->v.u < TTR_KIND_COUNT ? value->v.u : TTR_KIND_NONE);
        break;
    case CTF_ATTRIBUTE_CATEGORY:
        event->category = ctf_intern_unescaped(t, value->text, failed);
        break;
    case CTF_ATTRIBUTE_PROVIDER:
        event->provider = ctf_intern_unescaped(t, value->text, failed);
        break;
    case CTF_ATTRIBUTE_ACTIVITY:
        event->activity = get_16_bytes(value);
        break;
    case CTF_ATTRIBUTE_RELATED:
        event->related = get_16_bytes(value);
        break;
    default:
        ctf_conventions_set_number(attribute, value->v.u, threads, event);
    }
}

bool ctf_listed_set_attributes(ttr *t, uint16_t source, ttr_event *event)
{
    struct ctf_conventions_threads threads = {.has_attribute = {false}};
    ttr_fields fields;
    ttr_field field;
    bool failed = false;
    ttr_fields_begin(t, event, &fields);
    while (read_next_entry(&fields, &field) && field.group == CTF_LISTED_ATTRIBUTE)
        set_listed_attribute(&field, t, &threads, event, &failed);
    return ctf_conventions_set_event_threads(&threads, t, source, event) && !failed;
}
