/* Field operations of tracepoint schemas. They decode fields directly from the record: first those
 * that the container adds, then the tracepoint's own fields in the order of its format. Common
 * fields (common_type ...) form the group HEADER and are returned on request only. Fields beyond
 * the end of a short record are omitted; a DATA_LOC or REL_LOC that points outside the record
 * yields null. */
#include "encodings/tracepoint/tracepoint_print.h"

struct tracepoint_field_iter {
    struct tracepoint_raw raw;
    /* array of display hints, one per field; NULL if it has none */
    const struct tracepoint_display *look;
    /* display hint of the field that was returned last */
    const struct tracepoint_display *last;
    const uint8_t *at; /* address of the next array element */
    uint32_t left;     /* number of array elements that are still to be returned */
    /* next: index of the next field; end: index after the last one */
    uint32_t next, end;
    /* number of the next field that the container adds; UINT32_MAX after the last */
    uint32_t extra;
    uint8_t element; /* bytes of an array element */
    uint8_t shape;   /* type of the array elements (enum tracepoint_shape) */
    uint8_t group;
    bool is_big_endian;
};
_Static_assert(sizeof(struct tracepoint_field_iter) <= sizeof(((ttr_fields *)0)->state),
               "walk fits");

static void begin_record_fields(ttr_fields *fields)
{
    const struct tracepoint *tp = fields->ctx;
    const struct tracepoints_spec *spec = &tp->all->spec;
    struct tracepoint_field_iter *iter = (struct tracepoint_field_iter *)fields->state;
    *iter = (struct tracepoint_field_iter){.raw = spec->container->raw(spec->ctx, fields->event),
                                           .next = tp->common_n,
                                           .end = tp->fields_n,
                                           .extra = spec->container->extra ? 0 : UINT32_MAX,
                                           .group = TTR_GROUP_PAYLOAD,
                                           .is_big_endian = spec->is_big_endian,
                                           .look = tp->lazy ? tp->lazy->look : NULL};
}

static void begin_record_group(ttr_fields *fields, ttr_group group)
{
    const struct tracepoint *tp = fields->ctx;
    struct tracepoint_field_iter *iter = (struct tracepoint_field_iter *)fields->state;
    begin_record_fields(fields);
    iter->extra = UINT32_MAX;
    iter->next = 0;
    iter->end = group == TTR_GROUP_HEADER ? tp->common_n : 0;
    iter->group = TTR_GROUP_HEADER;
}

static void set_integer_value(ttr_value *value, uint8_t shape, uint64_t x, uint32_t bytes)
{
    value->bits = (uint8_t)(bytes < 8 ? 8 * bytes : 0);
    value->type = TTR_TYPE_UINT;
    value->v.u = x;
    if (shape == TRACEPOINT_INT) {
        value->type = TTR_TYPE_INT;
        value->v.s = tracepoint_sign_extend(x, bytes);
    } else if (shape == TRACEPOINT_POINTER) {
        value->hint = TTR_DISPLAY_POINTER;
    } else if (shape == TRACEPOINT_BOOL && x <= 1) {
        value->type = TTR_TYPE_BOOL;
        value->bits = 0;
    }
}

static void set_bytes_value(ttr_value *value, uint8_t shape, const uint8_t *p, size_t n)
{
    const uint8_t *zero = shape == TRACEPOINT_TEXT && n ? memchr(p, 0, n) : NULL;
    value->type = shape == TRACEPOINT_TEXT ? TTR_TYPE_TEXT : TTR_TYPE_BYTES;
    value->text = (ttr_text){(const char *)p, zero ? (size_t)(zero - p) : n};
}

static void start_array_field(struct tracepoint_field_iter *iter,
                              const struct tracepoint_field *from, ttr_value *value,
                              const uint8_t *p, size_t n)
{
    iter->at = p;
    iter->left = (uint32_t)(n / from->element);
    iter->element = from->element;
    iter->shape = from->is_pointer  ? TRACEPOINT_POINTER
                  : from->is_signed ? TRACEPOINT_INT
                                    : TRACEPOINT_UINT;
    value->type = TTR_TYPE_ARRAY;
    value->count = iter->left;
}

static void decode_field(struct tracepoint_field_iter *iter, const struct tracepoint_field *from,
                         const struct tracepoint_display *look, ttr_field *field)
{
    const uint8_t *p;
    size_t n;
    field_clear(field);
    field->name = from->name;
    field->name_id = from->name_id;
    field->group = iter->group;
    if (from->shape <= TRACEPOINT_POINTER && from->size <= iter->raw.n &&
        from->offset <= iter->raw.n - from->size) {
        set_integer_value(
            &field->value, from->shape,
            tracepoint_load_integer(iter->raw.p + from->offset, from->size, iter->is_big_endian),
            from->size);
        if (look && (look->table || look->base))
            tracepoint_set_base_and_labels(look, &field->value);
        iter->last = look;
        return;
    }
    if (!tracepoint_locate_bytes(from, iter->is_big_endian, iter->raw, &p, &n))
        field->value.type = TTR_TYPE_NULL;
    else if (from->shape == TRACEPOINT_ARRAY)
        start_array_field(iter, from, &field->value, p, n);
    else
        set_bytes_value(&field->value, from->shape, p, n);
}

static void decode_element(struct tracepoint_field_iter *iter, ttr_field *field)
{
    field_clear(field);
    field->depth = 1;
    field->group = iter->group;
    set_integer_value(&field->value, iter->shape,
                      tracepoint_load_integer(iter->at, iter->element, iter->is_big_endian),
                      iter->element);
    iter->at += iter->element;
    iter->left--;
}

/* Returns the complete record as the field "undecoded". Used if the tracepoint is unknown or its
 * format file malformed. */
static bool return_undecoded_record(struct tracepoint_field_iter *iter, ttr_field *field)
{
    iter->end = 0;
    if (iter->raw.n == 0)
        return false;
    field_clear(field);
    field->name = (ttr_text){"undecoded", 9};
    field->value.type = TTR_TYPE_BYTES;
    field->value.hint = TTR_DISPLAY_RAW;
    field->value.text = (ttr_text){(const char *)iter->raw.p, iter->raw.n};
    return true;
}

/* Returns true if the record contains the part of a field with a fixed position. */
static bool is_field_in_record(const struct tracepoint_field_iter *iter,
                               const struct tracepoint_field *field)
{
    return field->offset <= iter->raw.n && field->size <= iter->raw.n - field->offset;
}

static bool next_record_field(ttr_fields *fields, ttr_field *field)
{
    const struct tracepoint *tp = fields->ctx;
    struct tracepoint_field_iter *iter = (struct tracepoint_field_iter *)fields->state;
    if (iter->extra != UINT32_MAX) {
        const struct tracepoints_spec *spec = &tp->all->spec;
        field_clear(field);
        if (spec->container->extra(spec->ctx, fields->event, iter->extra++, field))
            return true;
        iter->extra = UINT32_MAX;
    }
    if (iter->left > 0) {
        decode_element(iter, field);
        return true;
    }
    if (iter->next < iter->end && is_field_in_record(iter, &tp->field[iter->next])) {
        decode_field(iter, &tp->field[iter->next], iter->look ? &iter->look[iter->next] : NULL,
                     field);
        iter->next++;
        return true;
    }
    bool is_bare = tp->is_broken && iter->group == TTR_GROUP_PAYLOAD && iter->next == tp->common_n;
    iter->next = UINT32_MAX;
    return is_bare && return_undecoded_record(iter, field);
}

static uint32_t read_record_fields(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    uint32_t n = 0;
    while (n < room && next_record_field(fields, &field[n])) {
        const ttr_value *value = &field[n++].value;
        if (value->count > 1 &&
            (value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS))
            break;
    }
    return n;
}

static bool find_value_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                             ttr_text *text)
{
    const struct tracepoint_field_iter *iter = (const struct tracepoint_field_iter *)fields->state;
    /* the value itself has its first label; `last` may belong to another field already */
    if (i == 0) {
        *text = value->text;
        return value->count > 0;
    }
    return iter->last && iter->last->table && tracepoint_get_label(iter->last, value, i, text);
}

static uint32_t copy_record_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                                   uint32_t room)
{
    const struct tracepoint *tp = ctx;
    const struct tracepoints_spec *spec = &tp->all->spec;
    return spec->container->frames ? spec->container->frames(spec->ctx, event, addresses, room) : 0;
}

static bool locate_record_field(const void *ctx, ttr_group group, ttr_text name,
                                struct field_position *position)
{
    const struct tracepoint *tp = ctx;
    if (group != TTR_GROUP_PAYLOAD || tp->is_broken)
        return false;
    for (uint32_t i = tp->common_n; i < tp->fields_n; i++) {
        const struct tracepoint_field *field = &tp->field[i];
        if (field->name.n != name.n || memcmp(field->name.p, name.p, name.n) != 0)
            continue;
        const bool is_text = field->shape == TRACEPOINT_TEXT && field->place == TRACEPOINT_HERE;
        const bool is_number =
            field->shape <= TRACEPOINT_POINTER &&
            (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8);
        *position = (struct field_position){.offset = field->offset,
                                            .bytes = field->size,
                                            .is_text = is_text,
                                            .is_signed = field->shape == TRACEPOINT_INT,
                                            .is_big_endian = tp->all->spec.is_big_endian};
        return is_text || is_number;
    }
    return false;
}

static const uint8_t *get_record_bytes(const void *ctx, const ttr_event *event, size_t *n)
{
    const struct tracepoint *tp = ctx;
    const struct tracepoint_raw raw = tp->all->spec.container->raw(tp->all->spec.ctx, event);
    *n = raw.n;
    return raw.p;
}

const struct field_ops tracepoint_field_ops = {.begin = begin_record_fields,
                                               .next = next_record_field,
                                               .decode_batch = read_record_fields,
                                               .begin_group = begin_record_group,
                                               .label = find_value_label,
                                               .frames = copy_record_frames,
                                               .locate = locate_record_field,
                                               .record = get_record_bytes};
