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

struct walk {
    struct event_header_walk payload;
    struct event_header_parts parts;
    const struct event_header_own *own;
    ttr_text name;    /* name that contains the attributes being returned */
    size_t attribute; /* offset of the next attribute in `name` */
    uint32_t index;   /* index of the next field within the current stage */
    uint8_t stage, depth;
    bool is_item;                     /* the field returned last is stored in the payload */
    bool has_context, has_attributes; /* false if the stage would be empty, so that it is skipped */
};
_Static_assert(sizeof(struct walk) <= sizeof(((ttr_fields *)0)->state), "walk fits");

static void name_field(ttr_field *field, const char *name, uint8_t type)
{
    field_clear(field);
    field->name = (ttr_text){name, strlen(name)};
    field->value.type = type;
}

static void begin_parts(ttr_fields *fields)
{
    struct walk *walk = (struct walk *)fields->state;
    const struct event_header_own *own = fields->own;
    const struct event_headers_spec *spec = &own->kind->all->spec;
    struct event_header_raw raw = spec->raw(spec->own, fields->event);
    walk->own = own;
    walk->is_item = false;
    walk->index = 0;
    walk->depth = 0;
    if (!event_header_parse(raw, own->kind->skip, &walk->parts))
        walk->parts.why = "too short";
    if (walk->parts.why) {
        walk->parts.metadata = NULL;
        walk->parts.metadata_n = 0;
    }
}

/* Returns the next non-empty stage after `stage` that precedes the payload, or STAGE_PAYLOAD. */
static uint8_t stage_behind(const struct walk *walk, enum stage stage)
{
    if (stage < STAGE_CONTEXT && walk->has_context)
        return STAGE_CONTEXT;
    return walk->has_attributes ? STAGE_ATTRIBUTES : STAGE_PAYLOAD;
}

static void begin(ttr_fields *fields)
{
    struct walk *walk = (struct walk *)fields->state;
    begin_parts(fields);
    const struct event_header_own *own = walk->own;
    const struct event_header_plan *plan = walk->parts.metadata ? own->plan : NULL;
    event_header_walk_begin(&walk->payload, plan, &walk->parts);
    walk->has_context =
        walk->parts.id || walk->parts.version || walk->parts.level == 0 || walk->parts.level > 5;
    walk->has_attributes =
        plan ? plan->has_attributes
             : walk->parts.metadata && memchr(walk->parts.metadata, ';', walk->parts.metadata_n);
    walk->stage = own->kind->all->spec.extra ? STAGE_EXTRA : stage_behind(walk, STAGE_EXTRA);
}

/* --- Attributes of the event and of fields --- */

/* Starts iterating over the attributes in `name` and returns their number. */
static uint32_t begin_attributes(struct walk *walk, ttr_text name)
{
    ttr_text key, value;
    uint32_t n = 0;
    size_t at = event_header_proper(name).n + 1;
    walk->name = name;
    walk->attribute = at;
    while (event_header_attribute(name, &at, &key, &value))
        n++;
    return n;
}

static bool give_attribute(struct walk *walk, ttr_field *field)
{
    ttr_text key, value;
    if (!event_header_attribute(walk->name, &walk->attribute, &key, &value))
        return false;
    name_field(field, "", TTR_TYPE_TEXT);
    field->name = key;
    field->value.text = event_header_unescape(value, &walk->own->kind->all->scratch);
    return true;
}

/* Starts the struct "attributes" of the event's name. Returns false if it has no attributes. */
static bool begin_event_attributes(struct walk *walk, ttr_field *field)
{
    ttr_text name = {"", 0};
    struct event_header_metadata metadata = {walk->parts.metadata, walk->parts.metadata_n,
                                             walk->parts.is_big_endian};
    if (walk->parts.metadata)
        (void)event_header_event_name(&metadata, &name);
    uint32_t n = begin_attributes(walk, name);
    if (n == 0)
        return false;
    name_field(field, "attributes", TTR_TYPE_STRUCT);
    field->value.count = n;
    walk->depth = 1;
    return true;
}

/* --- Context fields that come from the header --- */

/* Returns the next of id, version and level that is worth showing; the others are skipped. */
static bool give_context(struct walk *walk, ttr_field *field)
{
    const struct event_header_parts *parts = &walk->parts;
    bool has_id = parts->id || parts->version;
    while (walk->index < 3) {
        uint32_t i = walk->index++;
        if (i < 2 ? !has_id : parts->level > 0 && parts->level <= 5)
            continue;
        name_field(field, i == 0 ? "id" : i == 1 ? "version" : "level", TTR_TYPE_UINT);
        field->value.bits = i == 0 ? 16 : 8;
        field->value.v.u = i == 0 ? parts->id : i == 1 ? parts->version : parts->level;
        field->group = TTR_GROUP_CONTEXT;
        return true;
    }
    return false;
}

/* Returns the next field that precedes the payload, and advances the stage when one is exhausted.
 */
static bool next_before(const ttr_fields *fields, struct walk *walk, ttr_field *field)
{
    const struct event_headers_spec *spec = &walk->own->kind->all->spec;
    if (walk->stage == STAGE_EXTRA) {
        field_clear(field);
        if (spec->extra(spec->own, fields->event, walk->index++, field))
            return true;
        walk->stage = stage_behind(walk, STAGE_EXTRA);
        walk->index = 0;
    }
    if (walk->stage == STAGE_CONTEXT) {
        if (give_context(walk, field))
            return true;
        walk->stage = stage_behind(walk, STAGE_CONTEXT);
    }
    if (walk->stage == STAGE_ATTRIBUTES) {
        bool is_given =
            walk->depth ? give_attribute(walk, field) : begin_event_attributes(walk, field);
        field->group = TTR_GROUP_CONTEXT;
        field->depth = field->value.type == TTR_TYPE_STRUCT ? 0 : 1;
        if (is_given)
            return true;
        walk->stage = STAGE_PAYLOAD;
    }
    return false;
}

/* --- Payload fields and undecoded bytes --- */

size_t event_header_padding(const struct event_headers *all, const struct cursor *rest)
{
    size_t n = cursor_left(rest), zeros = 0;
    while (zeros < n && rest->p[zeros] == 0)
        zeros++;
    return n <= all->spec.padding || (n < 8 && zeros == n) ? n : 0;
}

static bool give_undecoded(struct walk *walk, ttr_field *field)
{
    const struct cursor *rest = &walk->payload.data;
    walk->stage = STAGE_OVER;
    walk->is_item = false;
    if (cursor_left(rest) == 0 || (event_header_padding(walk->own->kind->all, rest) &&
                                   !walk->payload.why && !walk->parts.why))
        return false;
    name_field(field, "undecoded", TTR_TYPE_BYTES);
    field->value.hint = TTR_HINT_RAW;
    field->value.text = (ttr_text){(const char *)rest->p, cursor_left(rest)};
    return true;
}

static inline bool give_payload(struct walk *walk, ttr_field *field)
{
    struct event_header_walk *payload = &walk->payload;
    enum event_header_place place = event_header_walk_next(payload);
    if (place == PLACE_END)
        return give_undecoded(walk, field);
    field_clear(field);
    walk->is_item = true;
    field->depth = payload->depth;
    if (!payload->is_element) {
        field->name = payload->step->name;
        field->name_id = payload->step->name_id;
    }
    if (place == PLACE_VALUE) {
        event_header_value(payload, &walk->own->kind->all->scratch, &field->value);
        return true;
    }
    field->value.type = place == PLACE_ARRAY ? TTR_TYPE_ARRAY : TTR_TYPE_STRUCT;
    field->value.count = payload->count;
    return true;
}

/* --- Group HEADER --- */

struct header_number {
    const char *name;
    uint64_t value;
    uint8_t bits, base;
};

static bool give_header_text(struct walk *walk, ttr_field *field)
{
    const struct event_header_name *name = &walk->own->kind->name;
    const ttr_text texts[] = {
        ttr_text_get(walk->own->kind->all->spec.t, walk->own->kind->tracepoint), name->options,
        name->group, name->shape};
    static const char *const names[] = {"tracepoint", "options", "group", "shape"};
    while (walk->index < 11) {
        uint32_t i = walk->index++ - 7;
        name_field(field, names[i], TTR_TYPE_TEXT);
        field->value.text = texts[i];
        if (texts[i].n)
            return true;
    }
    return false;
}

static bool give_header(struct walk *walk, ttr_field *field)
{
    const struct event_header_parts *parts = &walk->parts;
    const struct header_number numbers[] = {{"flags", parts->flags, 8, 16},
                                            {"version", parts->version, 8, 0},
                                            {"id", parts->id, 16, 0},
                                            {"tag", parts->tag, 16, 16},
                                            {"opcode", parts->opcode, 8, 0},
                                            {"level", parts->level, 8, 0},
                                            {"keyword", walk->own->kind->name.keyword, 0, 16}};
    if (walk->index >= 7)
        return give_header_text(walk, field);
    const struct header_number *number = &numbers[walk->index++];
    name_field(field, number->name, TTR_TYPE_UINT);
    field->value.v.u = number->value;
    field->value.bits = number->bits;
    field->value.base = number->base;
    return true;
}

/* Starts a struct for the next declared field that has a tag or attributes. Returns false after the
 * last one. */
static bool give_declared(struct walk *walk, ttr_field *field)
{
    struct event_header_metadata metadata = {walk->parts.metadata, walk->parts.metadata_n,
                                             walk->parts.is_big_endian};
    struct event_header_step step;
    while (walk->parts.metadata && walk->index < metadata.n &&
           !event_header_step_make(&metadata, walk->index, &step)) {
        const char *whole = (const char *)metadata.p + walk->index;
        uint32_t n = begin_attributes(walk, (ttr_text){whole, strlen(whole)});
        walk->index = step.next;
        walk->payload.loose = step;
        if (n == 0 && step.tag == 0)
            continue;
        name_field(field, "", TTR_TYPE_STRUCT);
        field->name = step.name;
        field->value.count = n + (step.tag != 0);
        return true;
    }
    return false;
}

/* Returns a member of the struct that give_declared started: first the tag, then the attributes. */
static bool give_declaration(struct walk *walk, ttr_field *field)
{
    uint16_t tag = walk->payload.loose.tag;
    walk->payload.loose.tag = 0;
    if (tag == 0)
        return give_attribute(walk, field);
    name_field(field, "tag", TTR_TYPE_UINT);
    field->value.v.u = tag;
    field->value.bits = field->value.base = 16;
    return true;
}

static bool next_header(struct walk *walk, ttr_field *field)
{
    if (walk->stage == STAGE_HEADER) {
        if (give_header(walk, field))
            return true;
        struct event_header_metadata metadata = {walk->parts.metadata, walk->parts.metadata_n,
                                                 walk->parts.is_big_endian};
        ttr_text name;
        walk->index = walk->parts.metadata ? event_header_event_name(&metadata, &name) : UINT32_MAX;
        walk->stage = STAGE_FIELDS;
    }
    if (walk->stage == STAGE_FIELD) {
        if (give_declaration(walk, field)) {
            field->depth = 1;
            return true;
        }
        walk->stage = STAGE_FIELDS;
    }
    walk->stage = give_declared(walk, field) ? STAGE_FIELD : STAGE_OVER;
    return walk->stage == STAGE_FIELD;
}

static void begin_group(ttr_fields *fields, ttr_group group)
{
    struct walk *walk = (struct walk *)fields->state;
    begin_parts(fields);
    walk->stage = group == TTR_GROUP_HEADER ? STAGE_HEADER : STAGE_OVER;
}

/* --- Operations of the schema --- */

static bool next(ttr_fields *fields, ttr_field *field)
{
    struct walk *walk = (struct walk *)fields->state;
    if (walk->stage < STAGE_PAYLOAD && next_before(fields, walk, field))
        return true;
    if (walk->stage == STAGE_PAYLOAD)
        return give_payload(walk, field);
    if (walk->stage < STAGE_HEADER || !next_header(walk, field))
        return false;
    field->group = TTR_GROUP_HEADER;
    return true;
}

static uint32_t take(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    struct walk *walk = (struct walk *)fields->state;
    uint32_t n = 0;
    for (;;) {
        if (walk->stage == STAGE_PAYLOAD)
            n += event_header_take_values(&walk->payload, &walk->own->kind->all->scratch, field + n,
                                          room - n);
        if (n == room || !next(fields, &field[n]))
            return n;
        n++;
    }
}

static uint32_t frames(const void *own, const ttr_event *event, uint64_t *addresses, uint32_t room)
{
    const struct event_headers_spec *spec =
        &((const struct event_header_own *)own)->kind->all->spec;
    return spec->frames ? spec->frames(spec->own, event, addresses, room) : 0;
}

const struct field_ops event_header_field_ops = {
    .begin = begin, .next = next, .take = take, .begin_group = begin_group, .frames = frames};

bool event_header_item(const ttr_fields *fields, struct event_header_item *item)
{
    if (fields->ops != &event_header_field_ops)
        return false;
    const struct walk *walk = (const struct walk *)fields->state;
    *item = (struct event_header_item){.name = {"", 0}};
    if (!walk->is_item)
        return true;
    const struct event_header_step *step = walk->payload.step;
    const char *name = (const char *)walk->parts.metadata + step->at;
    item->name = walk->payload.is_element ? (ttr_text){"", 0} : (ttr_text){name, strlen(name)};
    item->p = walk->payload.value;
    item->n = walk->payload.value_n;
    item->tag = step->tag;
    item->encoding = step->encoding;
    item->format = step->format;
    item->is_big_endian = walk->parts.is_big_endian;
    item->is_element = walk->payload.is_element;
    return true;
}

bool event_header_head(const ttr *t, const ttr_event *event, struct event_header_head *head)
{
    const struct schema *schema = context_schema(t, event->schema);
    const struct event_header_own *own = schema->own;
    struct event_header_parts parts;
    if (schema->ops != &event_header_field_ops || !own)
        return false;
    const struct event_headers_spec *spec = &own->kind->all->spec;
    if (!event_header_parse(spec->raw(spec->own, event), own->kind->skip, &parts))
        return false;
    *head = (struct event_header_head){.id = parts.id,
                                       .tag = parts.tag,
                                       .flags = parts.flags,
                                       .version = parts.version,
                                       .opcode = parts.opcode,
                                       .level = parts.level};
    return true;
}
