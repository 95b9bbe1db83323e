/* Field-by-field printing, for events without a plan (babeltrace2_plan.c).
 *
 * The values of optional fields and variants are printed in additional braces; each level counts
 * the braces to close. The text between two values repeats in all events of a schema, so it is
 * cached as a separator. Left out: levels of nesting above 64 are printed flat. */
#include <string.h>

#include "formats/babeltrace2/babeltrace2_output.h"
#include "model/event_copy.h"
#include "model/type.h"

/* maximum number of elements that one call of add_elements() prints */
#define ELEMENTS_MAX 32u

static void close_braces(struct bt2_output *output, unsigned choices)
{
    if (!reserve_room(output, 2 * (size_t)choices))
        return;
    while (choices-- > 0)
        output->at = emit_constant(output->at, " }");
}

static void close_level(struct bt2_output *output)
{
    const struct bt2_level *level = &output->level[output->depth--];
    if (reserve_room(output, 2))
        output->at = emit_constant(output->at, level->is_array ? " ]" : " }");
    close_braces(output, level->choices);
}

static void open_level(struct bt2_output *output, bool is_array, uint8_t choices)
{
    *output->at++ = is_array ? '[' : '{';
    output->level[++output->depth] = (struct bt2_level){.is_array = is_array, .choices = choices};
}

/* Appends the cached text ", NAME = ". Copies the entire array, but advances only by the length of
 * the text. */
static char *emit_cached_name(struct bt2_output *output, const ttr_field *field, char *at)
{
    struct babeltrace2_name *known = &output->cache->name[field->name_id % BABELTRACE2_NAMES];
    if (known->id != field->name_id) {
        known->id = field->name_id;
        known->n = (uint8_t)(emit_constant(
                                 emit_piece(emit_constant(known->text, ", "), field->name), " = ") -
                             known->text);
    }
    memcpy(at, known->text, sizeof known->text);
    return at + known->n;
}

char *babeltrace2_emit_index(struct babeltrace2_cache *cache, uint64_t index, char *at)
{
    if (index >= BABELTRACE2_INDEXES)
        return emit_constant(emit_u64(emit_constant(at, ", ["), index), "] = ");
    struct babeltrace2_index *known = &cache->index[index];
    if (known->n == 0)
        known->n = (uint8_t)(emit_constant(
                                 emit_u64(emit_constant(known->text, index ? ", [" : " ["), index),
                                 "] = ") -
                             known->text);
    memcpy(at, known->text, sizeof known->text);
    return at + known->n;
}

/* Appends the name of a field. If `hides_escapes` is set, replaces ESC characters by "\\x1b". */
static char *emit_field_name(char *at, ttr_text name, bool hides_escapes)
{
    if (!hides_escapes)
        return emit_piece(at, name);
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == 0x1b)
            at = emit_constant(at, "\\x1b");
        else
            *at++ = name.p[i];
    }
    return at;
}

/* Appends a comma and the name of a field. Then reserves VALUE_ROOM bytes for the value. */
static bool add_field_name(struct bt2_output *output, const ttr_field *field)
{
    struct bt2_level *level = &output->level[output->depth];
    uint64_t index = level->printed++;
    const bool hides_escapes = output->cache->hides_escapes;
    if (!reserve_room(output, (hides_escapes ? 4 : 1) * field->name.n + 2 * (size_t)VALUE_ROOM))
        return false;
    char *at = output->at;
    bool is_named = output->with_names && !level->is_array;
    if (is_named && index && field->name_id && !output->with_color &&
        field->name.n <= BABELTRACE2_NAME_MAX) {
        output->at = emit_cached_name(output, field, at);
        return true;
    }
    if (output->with_names && level->is_array) {
        output->at = emit_index(output->cache, index, at);
        return true;
    }
    at = emit_constant(at, index ? ", " : " ");
    if (is_named) {
        at = emit_constant(at, output->with_color ? COLOR_FIELD : "");
        at = emit_field_name(at, field->name, hides_escapes);
        at = emit_constant(at, output->with_color ? COLOR_OFF " = " : " = ");
    }
    output->at = at;
    return true;
}

/* Appends everything that is between the previous value and the value of `field`. Returns false if
 * `field` has no value to print. */
static bool begin_field(struct bt2_output *output, const ttr_field *field, unsigned choices)
{
    while (output->depth > field->depth)
        close_level(output);
    if (!add_field_name(output, field))
        return false;
    if (choices && !reserve_room(output, 2 * (size_t)choices + VALUE_ROOM))
        return false;
    for (unsigned i = 0; i < choices; i++)
        output->at = emit_constant(output->at, "{ ");
    bool is_open = field->value.type == TTR_TYPE_STRUCT || field->value.type == TTR_TYPE_ARRAY;
    if (!is_open || output->depth >= DEPTH_MAX)
        return true;
    open_level(output, field->value.type == TTR_TYPE_ARRAY, (uint8_t)choices);
    return false;
}

static unsigned get_closing_braces(const ttr_field *field)
{
    bool is_absent = field->value.hint == TTR_DISPLAY_ABSENT;
    return field->choices - (is_absent && field->choices > 0 ? 1u : 0u);
}

static const struct part {
    ttr_group group;
    enum type_root root;
    const char *scope;
} part_order[] = {
    {TTR_GROUP_PACKET, ROOT_PACKET_CONTEXT, "stream.packet.context"},
    {TTR_GROUP_COMMON, ROOT_COMMON_CONTEXT, "stream.event.context"},
    {TTR_GROUP_CONTEXT, ROOT_SPECIFIC_CONTEXT, "event.context"},
    {TTR_GROUP_PAYLOAD, ROOT_PAYLOAD, "event.fields"},
};

#define PARTS (sizeof part_order / sizeof *part_order)

static void close_part(struct bt2_parts *parts)
{
    struct bt2_output *output = &parts->output;
    while (parts->is_open && output->depth > 0)
        close_level(output);
    if (parts->is_open && reserve_room(output, 2))
        output->at = emit_constant(output->at, " }");
    parts->is_open = false;
}

static void open_part(struct bt2_parts *parts, const struct part *part)
{
    struct bt2_output *output = &parts->output;
    close_part(parts);
    output->with_names =
        part->group == TTR_GROUP_PAYLOAD ? parts->names->payload : parts->names->context;
    output->depth = 0;
    output->level[0] = (struct bt2_level){0};
    if (!reserve_room(output, VALUE_ROOM))
        return;
    output->at = emit_constant(output->at, parts->has_part ? ", " : "");
    if (parts->names->scope) {
        emit_color(output, COLOR_SCOPE);
        output->at = emit_constant(output->at, part->scope);
        emit_color(output, COLOR_OFF);
        output->at = emit_constant(output->at, " = ");
    }
    *output->at++ = '{';
    parts->has_part = parts->is_open = true;
}

/* Returns true if a part of an event (such as the packet context) without fields is printed as "{
 * }". babeltrace2 omits a packet context of only sizes and times, since it does not print those. */
static bool is_empty_part_printed(const struct event_class *event_class, const struct part *part)
{
    const struct type *root = event_class ? event_class->root[part->root] : NULL;
    return root && (part->group != TTR_GROUP_PACKET || root->members_n == 0);
}

/* Opens the braces of the part that contains a group of fields. Prints "{ }" for each earlier part
 * of the class that has no fields. */
static void open_group_part(struct bt2_parts *parts, ttr_group group)
{
    while (parts->next < PARTS) {
        const struct part *part = &part_order[parts->next++];
        bool is_it = part->group == group;
        if (is_it || is_empty_part_printed(parts->event_class, part))
            open_part(parts, part);
        if (is_it)
            return;
    }
}

/* --- Cache of separators --- */

/* Numbers in cache keys for positions that are not fields: start of an event, start of an event
 * after its packet context, unknown field, end of the line. Except for LINE_START, they are
 * greater than the number of any cached field. */
enum { LINE_START = 0, FIELD_NUMBERS_MAX = 0xfff0, AFTER_PACKET, UNKNOWN, LINE_END };

static inline uint64_t make_separator_key(ttr_id schema, uint32_t step, uint32_t before)
{
    return (uint64_t)schema << 32 | step << 16 | before;
}

static inline struct babeltrace2_separator *get_separator_slot(const struct bt2_output *output,
                                                               uint64_t key)
{
    return &output->cache
                ->separator[((key >> 32) * 37 + (key >> 16 & 0xffff)) % BABELTRACE2_SEPARATORS];
}

/* Returns a number that combines the properties of a value on which its text depends. */
static inline uint32_t get_print_style(const ttr_value *value)
{
    return (uint32_t)value->type | (uint32_t)value->hint << 8 | (uint32_t)value->bits << 16 |
           (uint32_t)value->base << 24;
}

/* Stores the text from buffer offset `from` to the end of the buffer in the cache, as the
 * separator for `key`. */
static void cache_separator(const struct bt2_output *output, uint64_t key,
                            struct babeltrace2_separator separator, size_t from)
{
    size_t n =
        output->at ? (size_t)(output->at - (const char *)output->to->bytes) - from : SIZE_MAX;
    if (n > BABELTRACE2_SEPARATOR_MAX)
        return;
    separator.key = key;
    separator.n = (uint8_t)n;
    memcpy(separator.text, output->to->bytes + from, n);
    *get_separator_slot(output, key) = separator;
}

/* Appends a field by means of its cached separator. Returns false if the cache does not contain
 * the separator. */
static inline bool add_cached_field(struct bt2_parts *parts, const ttr_field *field, uint64_t key)
{
    struct bt2_output *output = &parts->output;
    const struct babeltrace2_separator *known = get_separator_slot(output, key);
    const ttr_value *value = &field->value;
    if (known->key != key || known->print_style != get_print_style(value) ||
        !reserve_room(output, BABELTRACE2_SEPARATOR_MAX + VALUE_ROOM))
        return false;
    memcpy(output->at, known->text, BABELTRACE2_SEPARATOR_MAX);
    output->at += known->n;
    output->depth = known->depth;
    if (known->next) {
        parts->next = known->next;
        parts->is_open = parts->has_part = true;
        output->with_names = part_order[known->next - 1].group == TTR_GROUP_PAYLOAD
                                 ? parts->names->payload
                                 : parts->names->context;
        output->level[0] = (struct bt2_level){0};
    }
    output->level[output->depth].printed++;
    switch (known->kind) {
    case VALUE_UNSIGNED:
        output->at = emit_unsigned(output->at, value->v.u);
        break;
    case VALUE_SIGNED:
        output->at = emit_signed(output->at, value->v.u);
        break;
    case VALUE_TEXT:
        babeltrace2_add_quoted(output, value->text);
        break;
    case VALUE_STRUCT:
        output->level[++output->depth] = (struct bt2_level){.is_array = false};
        break;
    case VALUE_ARRAY:
        output->level[++output->depth] = (struct bt2_level){.is_array = true};
        break;
    default:
        babeltrace2_add_value(output, value);
    }
    return true;
}

/* Appends array elements that are plain integers. Returns how many of the `n` fields it has
 * appended. */
static uint32_t add_elements(struct bt2_output *output, const ttr_field *field, uint32_t n)
{
    const uint32_t print_style = get_print_style(&field->value), step = field->value.step;
    struct bt2_level *level = &output->level[output->depth];
    const uint8_t kind = get_value_kind(&field->value);
    uint32_t i = 0;
    if ((kind != VALUE_UNSIGNED && kind != VALUE_SIGNED) || output->depth != field->depth ||
        field->choices || !output->with_names || output->with_color ||
        !reserve_room(output, (size_t)ELEMENTS_MAX * VALUE_ROOM))
        return 0;
    char *at = output->at;
    uint64_t index = level->printed;
    n = n < ELEMENTS_MAX ? n : ELEMENTS_MAX;
    for (; i < n && field[i].value.step == step && get_print_style(&field[i].value) == print_style;
         i++, index++) {
        at = emit_index(output->cache, index, at);
        at = kind == VALUE_SIGNED ? emit_signed(at, field[i].value.v.u)
                                  : emit_unsigned(at, field[i].value.v.u);
    }
    output->at = at;
    level->printed = index;
    return i;
}

static inline bool is_first_field_of_part(const struct bt2_parts *parts, const ttr_field *field)
{
    return parts->next == 0 || part_order[parts->next - 1].group != field->group;
}

bool babeltrace2_begin_field(struct bt2_parts *parts, const ttr_field *field)
{
    if (is_first_field_of_part(parts, field))
        open_group_part(parts, field->group);
    return begin_field(&parts->output, field, get_closing_braces(field));
}

/* Appends a field of any type. Stores its separator in the cache if other events can have the same
 * one. */
static void add_field(struct bt2_parts *parts, const ttr_field *field, uint64_t key)
{
    struct bt2_output *output = &parts->output;
    size_t from = get_output_offset(output);
    const bool opens = is_first_field_of_part(parts, field);
    const unsigned choices = get_closing_braces(field);
    const bool has_value = babeltrace2_begin_field(parts, field);
    unsigned depth = output->depth - (has_value || output->depth == 0 ? 0 : 1);
    uint8_t kind = has_value && get_value_kind(&field->value) >= VALUE_STRUCT
                       ? VALUE_OTHER
                       : get_value_kind(&field->value);
    if (key && !choices && !output->level[depth].is_array)
        cache_separator(
            output, key,
            (struct babeltrace2_separator){.print_style = get_print_style(&field->value),
                                           .kind = kind,
                                           .depth = (uint8_t)depth,
                                           .next = (uint8_t)(opens ? parts->next : 0)},
            from);
    if (!has_value)
        return;
    babeltrace2_add_value(output, &field->value);
    if (choices)
        close_braces(output, choices);
}

/* Prints `n` fields. `before` is the number of the previous field, or UNKNOWN. Returns the number
 * of the last field. Does not use the cache for schema 0. */
static uint32_t print_fields(struct bt2_parts *parts, const ttr_field *field, uint32_t n,
                             ttr_id schema, uint32_t before)
{
    struct bt2_output *output = &parts->output;
    for (uint32_t i = 0, elements; i < n; i += elements) {
        const uint32_t step =
            field[i].value.step - 1 < FIELD_NUMBERS_MAX ? field[i].value.step : UNKNOWN;
        const uint64_t key = schema && step != UNKNOWN && before != UNKNOWN
                                 ? make_separator_key(schema, step, before)
                                 : 0;
        before = step;
        elements = step != UNKNOWN && output->depth > 0 && output->level[output->depth].is_array
                       ? add_elements(output, &field[i], n - i)
                       : 0;
        if (elements)
            continue;
        elements = 1;
        if (!key || !add_cached_field(parts, &field[i], key))
            add_field(parts, &field[i], key);
    }
    return before;
}

/* Prints all fields of an event. Returns the number of the last field. */
static uint32_t print_event_fields(struct bt2_parts *parts, const ttr_event *event, uint32_t before)
{
    struct bt2_output *output = &parts->output;
    ttr_field_buffer *fields = output->cache->fields;
    const ttr_id schema = output->with_color ? 0 : event->schema;
    const ttr_field *field;
    output->fields = field_buffer_iter(fields);
    for (uint32_t n = ttr_event_fields(fields, event, &field); n > 0;
         n = ttr_event_fields_next(fields, &field))
        before = print_fields(parts, field, n, schema, before);
    return before;
}

/* Prints the CPU of an event as packet context {cpu_id}. This is needed if sorting has separated
 * the event from its packet, and its class declares cpu_id in the packet context. */
static void append_cpu_as_packet_context(struct bt2_parts *parts, const ttr_event *event)
{
    static const ttr_text name = {"cpu_id", 6};
    const struct type_member *member =
        type_find_member(parts->event_class->root[ROOT_PACKET_CONTEXT], name);
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

static void print_packet_fields(struct bt2_parts *parts, ttr_fields *fields)
{
    ttr_field field;
    parts->output.fields = fields;
    while (ttr_fields_next(fields, &field))
        add_field(parts, &field, 0);
}

/* Appends the packet context. Its text is the same for all events of a packet, so it is cached
 * until the input has an event of another packet. */
static void append_packet_context(struct bt2_parts *parts, const ttr *t, const ttr_event *event)
{
    ttr_fields fields;
    struct bt2_output *output = &parts->output;
    const uint64_t number = get_packet_number(context_schema(t, event->schema), event);
    struct babeltrace2_packet *kept = &output->cache->packet[event->source % BABELTRACE2_PACKETS];
    if (find_cached_packet(output->cache, event, number) &&
        reserve_room(output, sizeof kept->text)) {
        memcpy(output->at, kept->text, sizeof kept->text);
        output->at += kept->n;
        parts->has_part = kept->n > 0;
        parts->next = parts->has_part ? 1 : 0;
        return;
    }
    bt2_end_append(output);
    bt2_begin_append(output, 0);
    size_t begin = output->to->n;
    ttr_fields_begin_group(t, event, TTR_GROUP_PACKET, &fields);
    if (context_schema(t, event->schema)->ops == &event_copy_field_ops &&
        !context_schema(t, event->schema)->has_packet)
        append_cpu_as_packet_context(parts, event);
    else
        print_packet_fields(parts, &fields);
    close_part(parts);
    bt2_end_append(output);
    size_t n = output->to->n - begin;
    kept->number = 0;
    if (n <= sizeof kept->text && !output->to->failed) {
        if (n)
            memcpy(kept->text, output->to->bytes + begin, n);
        kept->number = number;
        kept->source = event->source;
        kept->n = (uint32_t)n;
    }
    bt2_begin_append(output, 0);
}

void babeltrace2_close_parts(struct bt2_parts *parts)
{
    open_group_part(parts,
                    /* this prints all remaining parts, since no part has this group */
                    TTR_GROUP_HEADER);
    close_part(parts);
    if (reserve_room(&parts->output, 1))
        *parts->output.at++ = '\n';
}

/* Appends the end of the line, which the cache contains like a separator. */
static void add_line_end(struct bt2_parts *parts, ttr_id schema, uint32_t before)
{
    struct bt2_output *output = &parts->output;
    uint64_t key =
        before == UNKNOWN || output->with_color ? 0 : make_separator_key(schema, LINE_END, before);
    const struct babeltrace2_separator *known = get_separator_slot(output, key);
    if (key && known->key == key && reserve_room(output, BABELTRACE2_SEPARATOR_MAX)) {
        memcpy(output->at, known->text, BABELTRACE2_SEPARATOR_MAX);
        output->at += known->n;
        return;
    }
    size_t from = get_output_offset(output);
    babeltrace2_close_parts(parts);
    if (key)
        cache_separator(output, key, (struct babeltrace2_separator){.n = 0}, from);
}

void babeltrace2_add_parts(struct ttr_writer *out, const ttr_event *event,
                           struct babeltrace2_class *of_class, struct babeltrace2_cache *cache,
                           babeltrace2_count_event_fn count_event)
{
    const ttr *t = out->t;
    struct bt2_parts parts;
    const struct schema *schema = context_schema(t, event->schema);
    parts.output.to = &out->buffer;
    parts.output.cache = cache;
    parts.output.with_color = cache->with_color;
    parts.output.depth = 0;
    parts.names = &cache->names;
    parts.event_class = schema->event_class;
    parts.has_part = parts.is_open = false;
    parts.next = 0;
    bt2_begin_append(&parts.output, 0);
    if (parts.event_class && parts.event_class->root[ROOT_PACKET_CONTEXT])
        append_packet_context(&parts, t, event);
    if (of_class)
        count_event(&parts, schema, of_class);
    add_line_end(&parts, event->schema,
                 print_event_fields(&parts, event, parts.has_part ? AFTER_PACKET : LINE_START));
    bt2_end_append(&parts.output);
}
