/* Field operations of tracepoint schemas. They decode fields directly from the record: first those
 * that the container adds, then the tracepoint's own fields in the order of its format. Common
 * fields (common_type ...) form the group HEADER and are returned on request only. Fields beyond
 * the end of a short record are omitted; a DATA_LOC or REL_LOC that points outside the record
 * yields null. */
#include "encodings/tracepoint/tracepoint_print.h"

struct walk {
    struct tracepoint_raw raw;
    const struct tracepoint_look *look; /* display hints, one per field; NULL = none */
    const struct tracepoint_look *last; /* display hint of the field returned last */
    const uint8_t *at;                  /* next array element to return */
    uint32_t left;                      /* number of elements left */
    uint32_t next, end;                 /* range of fields left to return */
    /* index of the container's next field; UINT32_MAX after the last one */
    uint32_t extra;
    uint8_t element; /* size of an array element in bytes */
    uint8_t shape;   /* enum tracepoint_shape of the elements */
    uint8_t group;
    bool is_big_endian;
};
_Static_assert(sizeof(struct walk) <= sizeof(((ttr_fields *)0)->state), "walk fits");

static void begin(ttr_fields *fields)
{
    const struct tracepoint *tp = fields->own;
    const struct tracepoints_spec *spec = &tp->all->spec;
    struct walk *walk = (struct walk *)fields->state;
    *walk = (struct walk){.raw = spec->container->raw(spec->own, fields->event),
                          .next = tp->common_n,
                          .end = tp->fields_n,
                          .extra = spec->container->extra ? 0 : UINT32_MAX,
                          .group = TTR_GROUP_PAYLOAD,
                          .is_big_endian = spec->is_big_endian,
                          .look = tp->lazy ? tp->lazy->look : NULL};
}

static void begin_group(ttr_fields *fields, ttr_group group)
{
    const struct tracepoint *tp = fields->own;
    struct walk *walk = (struct walk *)fields->state;
    begin(fields);
    walk->extra = UINT32_MAX;
    walk->next = 0;
    walk->end = group == TTR_GROUP_HEADER ? tp->common_n : 0;
    walk->group = TTR_GROUP_HEADER;
}

static void give_number(ttr_value *value, uint8_t shape, uint64_t x, uint32_t bytes)
{
    value->bits = (uint8_t)(bytes < 8 ? 8 * bytes : 0);
    value->type = TTR_TYPE_UINT;
    value->v.u = x;
    if (shape == TRACEPOINT_INT) {
        value->type = TTR_TYPE_INT;
        value->v.s = tracepoint_sign(x, bytes);
    } else if (shape == TRACEPOINT_POINTER) {
        value->hint = TTR_HINT_POINTER;
    } else if (shape == TRACEPOINT_BOOL && x <= 1) {
        value->type = TTR_TYPE_BOOL;
        value->bits = 0;
    }
}

static void give_bytes(ttr_value *value, uint8_t shape, const uint8_t *p, size_t n)
{
    const uint8_t *zero = shape == TRACEPOINT_TEXT && n ? memchr(p, 0, n) : NULL;
    value->type = shape == TRACEPOINT_TEXT ? TTR_TYPE_TEXT : TTR_TYPE_BYTES;
    value->text = (ttr_text){(const char *)p, zero ? (size_t)(zero - p) : n};
}

static void give_array(struct walk *walk, const struct tracepoint_field *from, ttr_value *value,
                       const uint8_t *p, size_t n)
{
    walk->at = p;
    walk->left = (uint32_t)(n / from->element);
    walk->element = from->element;
    walk->shape = from->is_pointer  ? TRACEPOINT_POINTER
                  : from->is_signed ? TRACEPOINT_INT
                                    : TRACEPOINT_UINT;
    value->type = TTR_TYPE_ARRAY;
    value->count = walk->left;
}

static void give_field(struct walk *walk, const struct tracepoint_field *from,
                       const struct tracepoint_look *look, ttr_field *field)
{
    const uint8_t *p;
    size_t n;
    field_clear(field);
    field->name = from->name;
    field->name_id = from->name_id;
    field->group = walk->group;
    if (from->shape <= TRACEPOINT_POINTER && from->size <= walk->raw.n &&
        from->offset <= walk->raw.n - from->size) {
        give_number(&field->value, from->shape,
                    tracepoint_load(walk->raw.p + from->offset, from->size, walk->is_big_endian),
                    from->size);
        if (look && (look->table || look->base))
            tracepoint_look_at(look, &field->value);
        walk->last = look;
        return;
    }
    if (!tracepoint_bytes(from, walk->is_big_endian, walk->raw, &p, &n))
        field->value.type = TTR_TYPE_NULL;
    else if (from->shape == TRACEPOINT_ARRAY)
        give_array(walk, from, &field->value, p, n);
    else
        give_bytes(&field->value, from->shape, p, n);
}

static void give_element(struct walk *walk, ttr_field *field)
{
    field_clear(field);
    field->depth = 1;
    field->group = walk->group;
    give_number(&field->value, walk->shape,
                tracepoint_load(walk->at, walk->element, walk->is_big_endian), walk->element);
    walk->at += walk->element;
    walk->left--;
}

/* Returns the complete record as the field "undecoded", for tracepoints that are unknown or could
 * not be parsed. */
static bool give_undecoded(struct walk *walk, ttr_field *field)
{
    walk->end = 0;
    if (walk->raw.n == 0)
        return false;
    field_clear(field);
    field->name = (ttr_text){"undecoded", 9};
    field->value.type = TTR_TYPE_BYTES;
    field->value.hint = TTR_HINT_RAW;
    field->value.text = (ttr_text){(const char *)walk->raw.p, walk->raw.n};
    return true;
}

/* Returns true if the fixed part of the field is inside the record. */
static bool is_there(const struct walk *walk, const struct tracepoint_field *field)
{
    return field->offset <= walk->raw.n && field->size <= walk->raw.n - field->offset;
}

static bool next(ttr_fields *fields, ttr_field *field)
{
    const struct tracepoint *tp = fields->own;
    struct walk *walk = (struct walk *)fields->state;
    if (walk->extra != UINT32_MAX) {
        const struct tracepoints_spec *spec = &tp->all->spec;
        field_clear(field);
        if (spec->container->extra(spec->own, fields->event, walk->extra++, field))
            return true;
        walk->extra = UINT32_MAX;
    }
    if (walk->left > 0) {
        give_element(walk, field);
        return true;
    }
    if (walk->next < walk->end && is_there(walk, &tp->field[walk->next])) {
        give_field(walk, &tp->field[walk->next], walk->look ? &walk->look[walk->next] : NULL,
                   field);
        walk->next++;
        return true;
    }
    bool is_bare = tp->is_broken && walk->group == TTR_GROUP_PAYLOAD && walk->next == tp->common_n;
    walk->next = UINT32_MAX;
    return is_bare && give_undecoded(walk, field);
}

static uint32_t take(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    uint32_t n = 0;
    while (n < room && next(fields, &field[n])) {
        const ttr_value *value = &field[n++].value;
        if (value->count > 1 && (value->hint == TTR_HINT_ENUM || value->hint == TTR_HINT_FLAGS))
            break;
    }
    return n;
}

static bool label(const ttr_fields *fields, const ttr_value *value, uint32_t i, ttr_text *text)
{
    const struct walk *walk = (const struct walk *)fields->state;
    if (i == 0) { /* label 0 is in the value itself, since `last` may already be another field */
        *text = value->text;
        return value->count > 0;
    }
    return walk->last && walk->last->table && tracepoint_look_label(walk->last, value, i, text);
}

static uint32_t frames(const void *own, const ttr_event *event, uint64_t *addresses, uint32_t room)
{
    const struct tracepoint *tp = own;
    const struct tracepoints_spec *spec = &tp->all->spec;
    return spec->container->frames ? spec->container->frames(spec->own, event, addresses, room) : 0;
}

const struct field_ops tracepoint_field_ops = {.begin = begin,
                                               .next = next,
                                               .take = take,
                                               .begin_group = begin_group,
                                               .label = label,
                                               .frames = frames};
