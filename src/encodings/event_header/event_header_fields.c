/* Field operations of EventHeader schemas. Fields are decoded lazily, when a caller iterates over
 * an event, in this order:
 *
 *   container     fields that the container adds to every event (spec.extra)
 *   context       id and version if the event has an id; level if it is not one of the five
 *                 standard levels; attributes of the event's name as struct "attributes"
 *   payload       decoded by plan or metadata
 *   "undecoded"   bytes that no field covers: after the last field, after damage, or the entire
 *                 payload if the event has no metadata
 *
 * The group HEADER, on request, contains the raw header, the parts of the tracepoint's name, and
 * the attributes and tags of all declared fields. */
#include <string.h>

#include "encodings/event_header/event_header_parts.h"

enum stage {
    STAGE_EXTRA,
    STAGE_CONTEXT,
    STAGE_ATTRIBUTES,
    STAGE_PAYLOAD,
    STAGE_OVER,
    STAGE_HEADER,
    STAGE_FIELDS,
    STAGE_FIELD
};

struct event_header_field_iter {
    struct event_header_iter payload;
    struct event_header_parts parts;
    const struct event_header_schema_data *ctx;
    /* name of the event or field, which contains the attributes to return */
    ttr_text name;
    size_t attribute; /* offset of the next attribute in `name` */
    uint32_t index;   /* index of the next field in the current stage */
    uint8_t stage, depth;
    bool is_item; /* true if the field that was returned last is in the payload */
    /* the event has such fields; otherwise the stage is skipped */
    bool has_context, has_attributes;
};
_Static_assert(sizeof(struct event_header_field_iter) <= sizeof(((ttr_fields *)0)->state),
               "walk fits");

static void init_field(ttr_field *field, const char *name, uint8_t type)
{
    field_clear(field);
    field->name = (ttr_text){name, strlen(name)};
    field->value.type = type;
}

static void parse_event(ttr_fields *fields)
{
    struct event_header_field_iter *iter = (struct event_header_field_iter *)fields->state;
    const struct event_header_schema_data *ctx = fields->ctx;
    const struct event_header_decoder_spec *spec = &ctx->kind->all->spec;
    struct event_header_raw raw = spec->raw(spec->ctx, fields->event);
    iter->ctx = ctx;
    iter->is_item = false;
    iter->index = 0;
    iter->depth = 0;
    if (!event_header_parse_header(raw, ctx->kind->skip, &iter->parts))
        iter->parts.why = "too short";
    if (iter->parts.why) {
        iter->parts.metadata = NULL;
        iter->parts.metadata_n = 0;
    }
}

/* Returns the first stage after `stage` that has fields. STAGE_PAYLOAD is never skipped. */
static uint8_t find_next_nonempty_stage(const struct event_header_field_iter *iter,
                                        enum stage stage)
{
    if (stage < STAGE_CONTEXT && iter->has_context)
        return STAGE_CONTEXT;
    return iter->has_attributes ? STAGE_ATTRIBUTES : STAGE_PAYLOAD;
}

static void begin_fields(ttr_fields *fields)
{
    struct event_header_field_iter *iter = (struct event_header_field_iter *)fields->state;
    parse_event(fields);
    const struct event_header_schema_data *ctx = iter->ctx;
    const struct event_header_plan *plan = iter->parts.metadata ? ctx->plan : NULL;
    event_header_iter_begin(&iter->payload, plan, &iter->parts);
    iter->has_context =
        iter->parts.id || iter->parts.version || iter->parts.level == 0 || iter->parts.level > 5;
    iter->has_attributes =
        plan ? plan->has_attributes
             : iter->parts.metadata && memchr(iter->parts.metadata, ';', iter->parts.metadata_n);
    iter->stage =
        ctx->kind->all->spec.extra ? STAGE_EXTRA : find_next_nonempty_stage(iter, STAGE_EXTRA);
}

/* --- Attributes in the names of events and fields --- */

/* Starts an iteration over the attributes in `name`. Returns their number. */
static uint32_t start_attributes(struct event_header_field_iter *iter, ttr_text name)
{
    ttr_text key, value;
    uint32_t n = 0;
    size_t at = event_header_strip_attributes(name).n + 1;
    iter->name = name;
    iter->attribute = at;
    while (event_header_next_attribute(name, &at, &key, &value))
        n++;
    return n;
}

static bool next_attribute(struct event_header_field_iter *iter, ttr_field *field)
{
    ttr_text key, value;
    if (!event_header_next_attribute(iter->name, &iter->attribute, &key, &value))
        return false;
    init_field(field, "", TTR_TYPE_TEXT);
    field->name = key;
    field->value.text = event_header_unescape_value(value, &iter->ctx->kind->all->scratch);
    return true;
}

/* Starts the struct "attributes" with the attributes of the event name. Returns false if the name
 * has no attributes. */
static bool start_event_attributes(struct event_header_field_iter *iter, ttr_field *field)
{
    ttr_text name = {"", 0};
    struct event_header_metadata metadata = {iter->parts.metadata, iter->parts.metadata_n,
                                             iter->parts.is_big_endian};
    if (iter->parts.metadata)
        (void)event_header_read_event_name(&metadata, &name);
    uint32_t n = start_attributes(iter, name);
    if (n == 0)
        return false;
    init_field(field, "attributes", TTR_TYPE_STRUCT);
    field->value.count = n;
    iter->depth = 1;
    return true;
}

/* --- Context fields, from the event header --- */

/* Returns the next context field: id, version or level. Skips those with the default value. */
static bool next_context_field(struct event_header_field_iter *iter, ttr_field *field)
{
    const struct event_header_parts *parts = &iter->parts;
    bool has_id = parts->id || parts->version;
    while (iter->index < 3) {
        uint32_t i = iter->index++;
        if (i < 2 ? !has_id : parts->level > 0 && parts->level <= 5)
            continue;
        init_field(field, i == 0 ? "id" : i == 1 ? "version" : "level", TTR_TYPE_UINT);
        field->value.bits = i == 0 ? 16 : 8;
        field->value.v.u = i == 0 ? parts->id : i == 1 ? parts->version : parts->level;
        field->group = TTR_GROUP_CONTEXT;
        return true;
    }
    return false;
}

/* Returns the next field that precedes the payload. Returns false if only payload fields are
 * left. */
static bool next_leading_field(const ttr_fields *fields, struct event_header_field_iter *iter,
                               ttr_field *field)
{
    const struct event_header_decoder_spec *spec = &iter->ctx->kind->all->spec;
    if (iter->stage == STAGE_EXTRA) {
        field_clear(field);
        if (spec->extra(spec->ctx, fields->event, iter->index++, field))
            return true;
        iter->stage = find_next_nonempty_stage(iter, STAGE_EXTRA);
        iter->index = 0;
    }
    if (iter->stage == STAGE_CONTEXT) {
        if (next_context_field(iter, field))
            return true;
        iter->stage = find_next_nonempty_stage(iter, STAGE_CONTEXT);
    }
    if (iter->stage == STAGE_ATTRIBUTES) {
        bool is_given =
            iter->depth ? next_attribute(iter, field) : start_event_attributes(iter, field);
        field->group = TTR_GROUP_CONTEXT;
        field->depth = field->value.type == TTR_TYPE_STRUCT ? 0 : 1;
        if (is_given)
            return true;
        iter->stage = STAGE_PAYLOAD;
    }
    return false;
}

/* --- Payload fields and undecoded bytes --- */

size_t event_header_count_padding(const struct event_header_decoder *all, const struct cursor *rest)
{
    size_t n = cursor_left(rest), zeros = 0;
    while (zeros < n && rest->p[zeros] == 0)
        zeros++;
    return n <= all->spec.padding || (n < 8 && zeros == n) ? n : 0;
}

static bool return_undecoded_bytes(struct event_header_field_iter *iter, ttr_field *field)
{
    const struct cursor *rest = &iter->payload.data;
    iter->stage = STAGE_OVER;
    iter->is_item = false;
    if (cursor_left(rest) == 0 || (event_header_count_padding(iter->ctx->kind->all, rest) &&
                                   !iter->payload.why && !iter->parts.why))
        return false;
    init_field(field, "undecoded", TTR_TYPE_BYTES);
    field->value.hint = TTR_DISPLAY_RAW;
    field->value.text = (ttr_text){(const char *)rest->p, cursor_left(rest)};
    return true;
}

static inline bool next_payload_field(struct event_header_field_iter *iter, ttr_field *field)
{
    struct event_header_iter *payload = &iter->payload;
    enum event_header_iter_result place = event_header_iter_next(payload);
    if (place == EVENT_HEADER_ITER_END)
        return return_undecoded_bytes(iter, field);
    field_clear(field);
    iter->is_item = true;
    field->depth = payload->depth;
    if (!payload->is_element) {
        field->name = payload->step->name;
        field->name_id = payload->step->name_id;
    }
    if (place == EVENT_HEADER_ITER_VALUE) {
        event_header_convert_value(payload, &iter->ctx->kind->all->scratch, &field->value);
        return true;
    }
    field->value.type = place == EVENT_HEADER_ITER_ARRAY ? TTR_TYPE_ARRAY : TTR_TYPE_STRUCT;
    field->value.count = payload->count;
    return true;
}

/* --- Fields of the group HEADER --- */

struct header_number {
    const char *name;
    uint64_t value;
    uint8_t bits, base;
};

static bool next_header_text(struct event_header_field_iter *iter, ttr_field *field)
{
    const struct event_header_name *name = &iter->ctx->kind->name;
    const ttr_text texts[] = {
        ttr_text_get(iter->ctx->kind->all->spec.t, iter->ctx->kind->tracepoint), name->options,
        name->group, name->shape};
    static const char *const names[] = {"tracepoint", "options", "group", "shape"};
    while (iter->index < 11) {
        uint32_t i = iter->index++ - 7;
        init_field(field, names[i], TTR_TYPE_TEXT);
        field->value.text = texts[i];
        if (texts[i].n)
            return true;
    }
    return false;
}

static bool next_header_field(struct event_header_field_iter *iter, ttr_field *field)
{
    const struct event_header_parts *parts = &iter->parts;
    const struct header_number numbers[] = {{"flags", parts->flags, 8, 16},
                                            {"version", parts->version, 8, 0},
                                            {"id", parts->id, 16, 0},
                                            {"tag", parts->tag, 16, 16},
                                            {"opcode", parts->opcode, 8, 0},
                                            {"level", parts->level, 8, 0},
                                            {"keyword", iter->ctx->kind->name.keyword, 0, 16}};
    if (iter->index >= 7)
        return next_header_text(iter, field);
    const struct header_number *number = &numbers[iter->index++];
    init_field(field, number->name, TTR_TYPE_UINT);
    field->value.v.u = number->value;
    field->value.bits = number->bits;
    field->value.base = number->base;
    return true;
}

/* Starts a struct with the tag and attributes of the next payload field that declares any. Returns
 * false if no more do. */
static bool start_struct_with_declarations(struct event_header_field_iter *iter, ttr_field *field)
{
    struct event_header_metadata metadata = {iter->parts.metadata, iter->parts.metadata_n,
                                             iter->parts.is_big_endian};
    struct event_header_step step;
    while (iter->parts.metadata && iter->index < metadata.n &&
           !event_header_parse_field(&metadata, iter->index, &step)) {
        const char *whole = (const char *)metadata.p + iter->index;
        uint32_t n = start_attributes(iter, (ttr_text){whole, strlen(whole)});
        iter->index = step.next;
        iter->payload.direct_step = step;
        if (n == 0 && step.tag == 0)
            continue;
        init_field(field, "", TTR_TYPE_STRUCT);
        field->name = step.name;
        field->value.count = n + (step.tag != 0);
        return true;
    }
    return false;
}

/* Returns the next member of the struct that start_struct_with_declarations() started: first the
 * tag, then the attributes. */
static bool next_tag_or_attribute(struct event_header_field_iter *iter, ttr_field *field)
{
    uint16_t tag = iter->payload.direct_step.tag;
    iter->payload.direct_step.tag = 0;
    if (tag == 0)
        return next_attribute(iter, field);
    init_field(field, "tag", TTR_TYPE_UINT);
    field->value.v.u = tag;
    field->value.bits = field->value.base = 16;
    return true;
}

static bool next_header_group_field(struct event_header_field_iter *iter, ttr_field *field)
{
    if (iter->stage == STAGE_HEADER) {
        if (next_header_field(iter, field))
            return true;
        struct event_header_metadata metadata = {iter->parts.metadata, iter->parts.metadata_n,
                                                 iter->parts.is_big_endian};
        ttr_text name;
        iter->index =
            iter->parts.metadata ? event_header_read_event_name(&metadata, &name) : UINT32_MAX;
        iter->stage = STAGE_FIELDS;
    }
    if (iter->stage == STAGE_FIELD) {
        if (next_tag_or_attribute(iter, field)) {
            field->depth = 1;
            return true;
        }
        iter->stage = STAGE_FIELDS;
    }
    iter->stage = start_struct_with_declarations(iter, field) ? STAGE_FIELD : STAGE_OVER;
    return iter->stage == STAGE_FIELD;
}

static void begin_field_group(ttr_fields *fields, ttr_group group)
{
    struct event_header_field_iter *iter = (struct event_header_field_iter *)fields->state;
    parse_event(fields);
    iter->stage = group == TTR_GROUP_HEADER ? STAGE_HEADER : STAGE_OVER;
}

/* --- Field operations of the schema --- */

static bool next_event_field(ttr_fields *fields, ttr_field *field)
{
    struct event_header_field_iter *iter = (struct event_header_field_iter *)fields->state;
    if (iter->stage < STAGE_PAYLOAD && next_leading_field(fields, iter, field))
        return true;
    if (iter->stage == STAGE_PAYLOAD)
        return next_payload_field(iter, field);
    if (iter->stage < STAGE_HEADER || !next_header_group_field(iter, field))
        return false;
    field->group = TTR_GROUP_HEADER;
    return true;
}

static uint32_t read_fields(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    struct event_header_field_iter *iter = (struct event_header_field_iter *)fields->state;
    uint32_t n = 0;
    for (;;) {
        if (iter->stage == STAGE_PAYLOAD)
            n += event_header_decode_values(&iter->payload, &iter->ctx->kind->all->scratch,
                                            field + n, room - n);
        if (n == room || !next_event_field(fields, &field[n]))
            return n;
        n++;
    }
}

static uint32_t copy_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                            uint32_t room)
{
    const struct event_header_decoder_spec *spec =
        &((const struct event_header_schema_data *)ctx)->kind->all->spec;
    return spec->frames ? spec->frames(spec->ctx, event, addresses, room) : 0;
}

const struct field_ops event_header_field_ops = {.begin = begin_fields,
                                                 .next = next_event_field,
                                                 .decode_batch = read_fields,
                                                 .begin_group = begin_field_group,
                                                 .frames = copy_frames};

bool event_header_describe_stored_field(const ttr_fields *fields,
                                        struct event_header_describe_stored_field *item)
{
    if (fields->ops != &event_header_field_ops)
        return false;
    const struct event_header_field_iter *iter =
        (const struct event_header_field_iter *)fields->state;
    *item = (struct event_header_describe_stored_field){.name = {"", 0}};
    if (!iter->is_item)
        return true;
    const struct event_header_step *step = iter->payload.step;
    const char *name = (const char *)iter->parts.metadata + step->at;
    item->name = iter->payload.is_element ? (ttr_text){"", 0} : (ttr_text){name, strlen(name)};
    item->p = iter->payload.value;
    item->n = iter->payload.value_n;
    item->tag = step->tag;
    item->encoding = step->encoding;
    item->format = step->format;
    item->is_big_endian = iter->parts.is_big_endian;
    item->is_element = iter->payload.is_element;
    return true;
}

bool event_header_get_stored_header(const ttr *t, const ttr_event *event,
                                    struct event_header_get_stored_header *head)
{
    const struct schema *schema = context_schema(t, event->schema);
    const struct event_header_schema_data *ctx = schema->ctx;
    struct event_header_parts parts;
    if (schema->ops != &event_header_field_ops || !ctx)
        return false;
    const struct event_header_decoder_spec *spec = &ctx->kind->all->spec;
    if (!event_header_parse_header(spec->raw(spec->ctx, event), ctx->kind->skip, &parts))
        return false;
    *head = (struct event_header_get_stored_header){.id = parts.id,
                                                    .tag = parts.tag,
                                                    .flags = parts.flags,
                                                    .version = parts.version,
                                                    .opcode = parts.opcode,
                                                    .level = parts.level};
    return true;
}
