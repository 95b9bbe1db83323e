/* Fields.  A value that was chosen by an optional or a variant stands in braces of its own, as do
 * structs; what has to be closed behind a value is kept by level. Left out: nesting below 64 levels
 * is flattened. */
#include <string.h>

#include "formats/babeltrace2/babeltrace2_walk.h"
#include "model/event_copy.h"
#include "model/type.h"

#define ELEMENTS_MAX 32u /* of one call of add_elements */

static void close_choices(struct walk *walk, unsigned choices)
{
    if (!room_for(walk, 2 * (size_t)choices))
        return;
    while (choices-- > 0)
        walk->at = put_text(walk->at, " }");
}

static void close_level(struct walk *walk)
{
    const struct level *level = &walk->level[walk->depth--];
    if (room_for(walk, 2))
        walk->at = put_text(walk->at, level->is_array ? " ]" : " }");
    close_choices(walk, level->choices);
}

static void open_level(struct walk *walk, bool is_array, uint8_t choices)
{
    *walk->at++ = is_array ? '[' : '{';
    walk->level[++walk->depth] = (struct level){.is_array = is_array, .choices = choices};
}

/* ", NAME = " as it was made for this name before; copied whole, of which only its length counts.
 */
static char *put_known_name(struct walk *walk, const ttr_field *field, char *at)
{
    struct babeltrace2_name *known = &walk->cache->name[field->name_id % BABELTRACE2_NAMES];
    if (known->id != field->name_id) {
        known->id = field->name_id;
        known->n = (uint8_t)(put_text(put_piece(put_text(known->text, ", "), field->name), " = ") -
                             known->text);
    }
    memcpy(at, known->text, sizeof known->text);
    return at + known->n;
}

char *babeltrace2_put_index(struct babeltrace2_cache *cache, uint64_t index, char *at)
{
    if (index >= BABELTRACE2_INDEXES)
        return put_text(put_u64(put_text(at, ", ["), index), "] = ");
    struct babeltrace2_index *known = &cache->index[index];
    if (known->n == 0)
        known->n = (uint8_t)(put_text(put_u64(put_text(known->text, index ? ", [" : " ["), index),
                                      "] = ") -
                             known->text);
    memcpy(at, known->text, sizeof known->text);
    return at + known->n;
}

/* The comma and the name of a field; then there is room for VALUE_ROOM. */
static bool add_name(struct walk *walk, const ttr_field *field)
{
    struct level *level = &walk->level[walk->depth];
    uint64_t index = level->printed++;
    if (!room_for(walk, field->name.n + 2 * (size_t)VALUE_ROOM))
        return false;
    char *at = walk->at;
    bool is_named = walk->with_names && !level->is_array;
    if (is_named && index && field->name_id && !walk->with_color &&
        field->name.n <= BABELTRACE2_NAME_MAX) {
        walk->at = put_known_name(walk, field, at);
        return true;
    }
    if (walk->with_names && level->is_array) {
        walk->at = put_index(walk->cache, index, at);
        return true;
    }
    at = put_text(at, index ? ", " : " ");
    if (is_named) {
        at = put_text(at, walk->with_color ? COLOR_FIELD : "");
        at = put_piece(at, field->name);
        at = put_text(at, walk->with_color ? COLOR_OFF " = " : " = ");
    }
    walk->at = at;
    return true;
}

/* What stands before a value: braces of fields before it, its name, its own braces.  False where no
 * value follows. */
static bool begin_field(struct walk *walk, const ttr_field *field, unsigned choices)
{
    while (walk->depth > field->depth)
        close_level(walk);
    if (!add_name(walk, field))
        return false;
    if (choices && !room_for(walk, 2 * (size_t)choices + VALUE_ROOM))
        return false;
    for (unsigned i = 0; i < choices; i++)
        walk->at = put_text(walk->at, "{ ");
    bool is_open = field->value.type == TTR_TYPE_STRUCT || field->value.type == TTR_TYPE_ARRAY;
    if (!is_open || walk->depth >= DEPTH_MAX)
        return true;
    open_level(walk, field->value.type == TTR_TYPE_ARRAY, (uint8_t)choices);
    return false;
}

static unsigned choices_of(const ttr_field *field)
{
    bool is_absent = field->value.hint == TTR_HINT_ABSENT;
    return field->choices - (is_absent && field->choices > 0 ? 1u : 0u);
}

static const struct part {
    ttr_group group;
    enum type_root root;
    const char *scope;
} order[] = {
    {TTR_GROUP_PACKET, ROOT_PACKET_CONTEXT, "stream.packet.context"},
    {TTR_GROUP_COMMON, ROOT_COMMON_CONTEXT, "stream.event.context"},
    {TTR_GROUP_CONTEXT, ROOT_SPECIFIC_CONTEXT, "event.context"},
    {TTR_GROUP_PAYLOAD, ROOT_PAYLOAD, "event.fields"},
};

#define PARTS (sizeof order / sizeof *order)

static void close_part(struct parts *parts)
{
    struct walk *walk = &parts->walk;
    while (parts->is_open && walk->depth > 0)
        close_level(walk);
    if (parts->is_open && room_for(walk, 2))
        walk->at = put_text(walk->at, " }");
    parts->is_open = false;
}

static void open_part(struct parts *parts, const struct part *part)
{
    struct walk *walk = &parts->walk;
    close_part(parts);
    walk->with_names =
        part->group == TTR_GROUP_PAYLOAD ? parts->names->payload : parts->names->context;
    walk->depth = 0;
    walk->level[0] = (struct level){0};
    if (!room_for(walk, VALUE_ROOM))
        return;
    walk->at = put_text(walk->at, parts->has_part ? ", " : "");
    if (parts->names->scope) {
        color(walk, COLOR_SCOPE);
        walk->at = put_text(walk->at, part->scope);
        color(walk, COLOR_OFF);
        walk->at = put_text(walk->at, " = ");
    }
    *walk->at++ = '{';
    parts->has_part = parts->is_open = true;
}

/* Whether a part without fields is printed.  A packet context of nothing but sizes and times, which
 * are not shown, is not. */
static bool is_there(const struct event_class *event_class, const struct part *part)
{
    const struct type *root = event_class ? event_class->root[part->root] : NULL;
    return root && (part->group != TTR_GROUP_PACKET || root->members_n == 0);
}

/* Opens all parts up to (and with) the one of a group; those that the class has though they are
 * empty are there too. */
static void open_up_to(struct parts *parts, ttr_group group)
{
    while (parts->next < PARTS) {
        const struct part *part = &order[parts->next++];
        bool is_it = part->group == group;
        if (is_it || is_there(parts->event_class, part))
            open_part(parts, part);
        if (is_it)
            return;
    }
}

/* --- What comes again --- */

/* What stands for a field before the first one of an event, where the packet's part was printed or
 * not; for those that are not known; and for the end. */
enum { BEFORE_ALL = 0, STEPS_TOLD = 0xfff0, BEHIND_PACKET, UNKNOWN, LINE_END };

static inline uint64_t key_of(ttr_id schema, uint32_t step, uint32_t before)
{
    return (uint64_t)schema << 32 | step << 16 | before;
}

static inline struct babeltrace2_step *place_of(const struct walk *walk, uint64_t key)
{
    return &walk->cache->step[((key >> 32) * 37 + (key >> 16 & 0xffff)) % BABELTRACE2_STEPS];
}

/* What the way to print a value depends on. */
static inline uint32_t look_of(const ttr_value *value)
{
    return (uint32_t)value->type | (uint32_t)value->hint << 8 | (uint32_t)value->bits << 16 |
           (uint32_t)value->base << 24;
}

/* Keeps what was written from a place of the buffer on. */
static void keep_step(const struct walk *walk, uint64_t key, struct babeltrace2_step step,
                      size_t from)
{
    size_t n = walk->at ? (size_t)(walk->at - (const char *)walk->to->bytes) - from : SIZE_MAX;
    if (n > BABELTRACE2_STEP_MAX)
        return;
    step.key = key;
    step.n = (uint8_t)n;
    memcpy(step.text, walk->to->bytes + from, n);
    *place_of(walk, key) = step;
}

/* A field that was met before, behind the same one; false where it was not. */
static inline bool add_known(struct parts *parts, const ttr_field *field, uint64_t key)
{
    struct walk *walk = &parts->walk;
    const struct babeltrace2_step *known = place_of(walk, key);
    const ttr_value *value = &field->value;
    if (known->key != key || known->look != look_of(value) ||
        !room_for(walk, BABELTRACE2_STEP_MAX + VALUE_ROOM))
        return false;
    memcpy(walk->at, known->text, BABELTRACE2_STEP_MAX);
    walk->at += known->n;
    walk->depth = known->depth;
    if (known->next) {
        parts->next = known->next;
        parts->is_open = parts->has_part = true;
        walk->with_names = order[known->next - 1].group == TTR_GROUP_PAYLOAD
                               ? parts->names->payload
                               : parts->names->context;
        walk->level[0] = (struct level){0};
    }
    walk->level[walk->depth].printed++;
    switch (known->kind) {
    case VALUE_UNSIGNED:
        walk->at = put_unsigned(walk->at, value->v.u);
        break;
    case VALUE_SIGNED:
        walk->at = put_signed(walk->at, value->v.u);
        break;
    case VALUE_TEXT:
        babeltrace2_add_quoted(walk, value->text);
        break;
    case VALUE_STRUCT:
        walk->level[++walk->depth] = (struct level){.is_array = false};
        break;
    case VALUE_ARRAY:
        walk->level[++walk->depth] = (struct level){.is_array = true};
        break;
    default:
        babeltrace2_add_value(walk, value);
    }
    return true;
}

/* Prints elements of an array that are plain numbers, and returns how many. */
static uint32_t add_elements(struct walk *walk, const ttr_field *field, uint32_t n)
{
    const uint32_t look = look_of(&field->value), step = field->value.step;
    struct level *level = &walk->level[walk->depth];
    const uint8_t kind = kind_of(&field->value);
    uint32_t i = 0;
    if ((kind != VALUE_UNSIGNED && kind != VALUE_SIGNED) || walk->depth != field->depth ||
        field->choices || !walk->with_names || walk->with_color ||
        !room_for(walk, (size_t)ELEMENTS_MAX * VALUE_ROOM))
        return 0;
    char *at = walk->at;
    uint64_t index = level->printed;
    n = n < ELEMENTS_MAX ? n : ELEMENTS_MAX;
    for (; i < n && field[i].value.step == step && look_of(&field[i].value) == look; i++, index++) {
        at = put_index(walk->cache, index, at);
        at = kind == VALUE_SIGNED ? put_signed(at, field[i].value.v.u)
                                  : put_unsigned(at, field[i].value.v.u);
    }
    walk->at = at;
    level->printed = index;
    return i;
}

static inline bool opens_part(const struct parts *parts, const ttr_field *field)
{
    return parts->next == 0 || order[parts->next - 1].group != field->group;
}

bool babeltrace2_begin_field(struct parts *parts, const ttr_field *field)
{
    if (opens_part(parts, field))
        open_up_to(parts, field->group);
    return begin_field(&parts->walk, field, choices_of(field));
}

/* Any field; what stands before its value is kept where it may come again. */
static void add_field(struct parts *parts, const ttr_field *field, uint64_t key)
{
    struct walk *walk = &parts->walk;
    size_t from = place_in(walk);
    const bool opens = opens_part(parts, field);
    const unsigned choices = choices_of(field);
    const bool has_value = babeltrace2_begin_field(parts, field);
    unsigned depth = walk->depth - (has_value || walk->depth == 0 ? 0 : 1);
    uint8_t kind =
        has_value && kind_of(&field->value) >= VALUE_STRUCT ? VALUE_OTHER : kind_of(&field->value);
    if (key && !choices && !walk->level[depth].is_array)
        keep_step(walk, key,
                  (struct babeltrace2_step){.look = look_of(&field->value),
                                            .kind = kind,
                                            .depth = (uint8_t)depth,
                                            .next = (uint8_t)(opens ? parts->next : 0)},
                  from);
    if (!has_value)
        return;
    babeltrace2_add_value(walk, &field->value);
    if (choices)
        close_choices(walk, choices);
}

/* Prints n fields after the step `before` (UNKNOWN: not known), and returns the step of the last.
 * Nothing is kept for schema 0. */
static uint32_t add_fields(struct parts *parts, const ttr_field *field, uint32_t n, ttr_id schema,
                           uint32_t before)
{
    struct walk *walk = &parts->walk;
    for (uint32_t i = 0, elements; i < n; i += elements) {
        const uint32_t step = field[i].value.step - 1 < STEPS_TOLD ? field[i].value.step : UNKNOWN;
        const uint64_t key =
            schema && step != UNKNOWN && before != UNKNOWN ? key_of(schema, step, before) : 0;
        before = step;
        elements = step != UNKNOWN && walk->depth > 0 && walk->level[walk->depth].is_array
                       ? add_elements(walk, &field[i], n - i)
                       : 0;
        if (elements)
            continue;
        elements = 1;
        if (!key || !add_known(parts, &field[i], key))
            add_field(parts, &field[i], key);
    }
    return before;
}

/* Prints the fields of an event, and returns the step of the last. */
static uint32_t add_event_fields(struct parts *parts, const ttr_event *event, uint32_t before)
{
    struct walk *walk = &parts->walk;
    ttr_field_buffer *fields = walk->cache->fields;
    const ttr_id schema = walk->with_color ? 0 : event->schema;
    const ttr_field *field;
    walk->fields = field_buffer_walk(fields);
    for (uint32_t n = ttr_event_fields(fields, event, &field); n > 0;
         n = ttr_more_fields(fields, &field))
        before = add_fields(parts, field, n, schema, before);
    return before;
}

/* Events that were sorted are out of their packets; where these say nothing else of their own, the
 * processor is known still. */
static void add_processor(struct parts *parts, const ttr_event *event)
{
    static const ttr_text name = {"cpu_id", 6};
    const struct type_member *member =
        type_member_named(parts->event_class->root[ROOT_PACKET_CONTEXT], name);
    if (!member || member->type->kind != TYPE_UINT || !(event->flags & TTR_EVENT_HAS_CPU))
        return;
    const ttr_field field = {.name = name,
                             .group = TTR_GROUP_PACKET,
                             .value = {.type = TTR_TYPE_UINT,
                                       .bits = (uint8_t)member->type->bits,
                                       .base = member->type->base,
                                       .v.u = event->cpu}};
    add_field(parts, &field, 0);
}

static void add_packet_fields(struct parts *parts, ttr_fields *fields)
{
    ttr_field field;
    parts->walk.fields = fields;
    while (ttr_fields_next(fields, &field))
        add_field(parts, &field, 0);
}

/* The part of the packet is the same for all its events: it is kept until another packet of that
 * input comes. */
static void add_packet_part(struct parts *parts, const ttr *t, const ttr_event *event)
{
    ttr_fields fields;
    struct walk *walk = &parts->walk;
    const uint64_t number = packet_of(context_schema(t, event->schema), event);
    struct babeltrace2_packet *kept = &walk->cache->packet[event->source % BABELTRACE2_PACKETS];
    if (known_packet(walk->cache, event, number) && room_for(walk, sizeof kept->text)) {
        memcpy(walk->at, kept->text, sizeof kept->text);
        walk->at += kept->n;
        parts->has_part = kept->n > 0;
        parts->next = parts->has_part ? 1 : 0;
        return;
    }
    end_room(walk);
    begin_room(walk, 0);
    size_t begin = walk->to->n;
    ttr_fields_begin_group(t, event, TTR_GROUP_PACKET, &fields);
    if (context_schema(t, event->schema)->ops == &packed_field_ops &&
        !context_schema(t, event->schema)->has_packet)
        add_processor(parts, event);
    else
        add_packet_fields(parts, &fields);
    close_part(parts);
    end_room(walk);
    size_t n = walk->to->n - begin;
    kept->number = 0;
    if (n <= sizeof kept->text && !walk->to->failed) {
        if (n)
            memcpy(kept->text, walk->to->bytes + begin, n);
        kept->number = number;
        kept->source = event->source;
        kept->n = (uint32_t)n;
    }
    begin_room(walk, 0);
}

void babeltrace2_end_parts(struct parts *parts)
{
    open_up_to(parts, TTR_GROUP_HEADER); /* no part has it: all that are left */
    close_part(parts);
    if (room_for(&parts->walk, 1))
        *parts->walk.at++ = '\n';
}

/* The end of a line; it may come again, too. */
static void add_end(struct parts *parts, ttr_id schema, uint32_t before)
{
    struct walk *walk = &parts->walk;
    uint64_t key = before == UNKNOWN || walk->with_color ? 0 : key_of(schema, LINE_END, before);
    const struct babeltrace2_step *known = place_of(walk, key);
    if (key && known->key == key && room_for(walk, BABELTRACE2_STEP_MAX)) {
        memcpy(walk->at, known->text, BABELTRACE2_STEP_MAX);
        walk->at += known->n;
        return;
    }
    size_t from = place_in(walk);
    babeltrace2_end_parts(parts);
    if (key)
        keep_step(walk, key, (struct babeltrace2_step){.n = 0}, from);
}

void babeltrace2_add_parts(struct ttr_writer *out, const ttr_event *event,
                           struct babeltrace2_class *of_class, struct babeltrace2_cache *cache,
                           babeltrace2_meet_function meet)
{
    const ttr *t = out->t;
    struct parts parts;
    const struct schema *schema = context_schema(t, event->schema);
    parts.walk.to = &out->buffer;
    parts.walk.cache = cache;
    parts.walk.with_color = cache->with_color;
    parts.walk.depth = 0;
    parts.names = &cache->names;
    parts.event_class = schema->event_class;
    parts.has_part = parts.is_open = false;
    parts.next = 0;
    begin_room(&parts.walk, 0);
    if (parts.event_class && parts.event_class->root[ROOT_PACKET_CONTEXT])
        add_packet_part(&parts, t, event);
    if (of_class)
        meet(&parts, schema, of_class);
    add_end(&parts, event->schema,
            add_event_fields(&parts, event, parts.has_part ? BEHIND_PACKET : BEFORE_ALL));
    end_room(&parts.walk);
}
