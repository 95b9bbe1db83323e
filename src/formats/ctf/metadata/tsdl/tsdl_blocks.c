/* Blocks of TSDL: trace, env, clock, stream, event (CTF 1.8.3 sections 7.4 and 8). callsite blocks
 * are skipped.
 *
 * A block may precede the blocks that it refers to, so they are processed in dependency order: byte
 * order and clocks (any type may need them), type declarations, trace, environment, streams,
 * events. Defaults (section 7.4): a stream without id is stream 0; an event without stream_id
 * belongs to the only stream, which is created if there is none; an event without id is the only
 * one of its stream. */
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

/* Returns a new scope for the names that a block declares. */
static struct tsdl_scope open_block_scope(struct tsdl_resolver *resolver)
{
    return (struct tsdl_scope){++resolver->state->scopes_n, resolver->scope};
}

/* Returns the type assigned to an attribute, written as `:= type` or `= type_name`. */
static const struct tsdl_type *get_assigned_type(struct tsdl_resolver *resolver,
                                                 const struct tsdl_statement *attribute)
{
    const struct tsdl_specifier *specifier = attribute->specifier;
    struct tsdl_specifier named = {.class = TSDL_CLASS_NAMED};
    if (attribute->kind == TSDL_ASSIGN) {
        const struct tsdl_value *value = attribute->value;
        if (value->kind != TSDL_VALUE_PATH) {
            (void)tsdl_fail(resolver->reading, value->at, "'%.*s' requires a type",
                            (int)attribute->name.n, attribute->name.p);
            return NULL;
        }
        named.at = value->at;
        named.name = value->text;
        specifier = &named;
    }
    const struct tsdl_type *type = tsdl_resolve_specifier(resolver, specifier);
    if (!type || type->type.kind == TYPE_STRUCT)
        return type;
    (void)tsdl_fail(resolver->reading, specifier->at, "'%.*s' is a structure",
                    (int)attribute->name.n, attribute->name.p);
    return NULL;
}

/* Processes a statement of a block if it is a declaration. Returns false if it is an attribute.
 * Sets `*is_fine` to false if the declaration is invalid. */
static bool process_block_declaration(struct tsdl_resolver *resolver,
                                      const struct tsdl_statement *statement, bool *is_fine)
{
    if (statement->kind == TSDL_ASSIGN || statement->kind == TSDL_ASSIGN_TYPE)
        return false;
    *is_fine = tsdl_resolve_declaration(resolver, statement);
    return true;
}

/* A type that a block assigns to an attribute such as event.header. Stored until the end of the
 * block, because they must be built in decoding order. */
struct assigned_type {
    const struct tsdl_type *type;
    size_t at;
};

static bool instantiate_assigned_roots(struct tsdl_resolver *resolver,
                                       const struct assigned_type *assigned,
                                       struct tsdl_root_position place, const struct type **root)
{
    place.at = assigned->at;
    return !assigned->type || tsdl_instantiate_root(resolver, &place, assigned->type, root);
}

static bool assign_root_type(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                             struct assigned_type *assigned)
{
    *assigned = (struct assigned_type){get_assigned_type(resolver, attribute), attribute->at};
    return assigned->type != NULL;
}

static const char *const trace_attributes[] = {"major",      "minor",         "uuid",
                                               "byte_order", "packet.header", NULL};
enum { TRACE_MAJOR, TRACE_MINOR, TRACE_UUID, TRACE_BYTE_ORDER, TRACE_PACKET_HEADER };

static bool resolve_trace_attribute(struct tsdl_resolver *resolver,
                                    const struct tsdl_statement *attribute, unsigned which,
                                    struct assigned_type *header)
{
    struct ctf_description *description = resolver->description;
    uint64_t number;
    switch (which) {
    case TRACE_MAJOR:
    case TRACE_MINOR:
        if (!tsdl_get_unsigned(resolver, attribute, &number))
            return false;
        if (number != (which == TRACE_MAJOR ? 1 : 8))
            return tsdl_fail(
                resolver->reading, attribute->value->at,
                "the trace declares %s = %llu, but only CTF 1.8 (major = 1, minor = 8) is known in "
                "this language",
                which == TRACE_MAJOR ? "major" : "minor", (unsigned long long)number);
        return true;
    case TRACE_UUID:
        description->has_uuid = true;
        return tsdl_get_uuid(resolver, attribute, description->uuid);
    case TRACE_PACKET_HEADER:
        return assign_root_type(resolver, attribute, header);
    default: /* the byte order was processed by resolve_byte_order */
        return true;
    }
}

static bool resolve_trace(struct tsdl_resolver *resolver, const struct tsdl_statement *block)
{
    struct tsdl_scope scope = open_block_scope(resolver);
    struct assigned_type header = {0};
    uint32_t seen = 0;
    unsigned which;
    bool is_fine = true;
    resolver->scope = &scope;
    for (const struct tsdl_statement *statement = block->body; is_fine && statement;
         statement = statement->next)
        if (!process_block_declaration(resolver, statement, &is_fine))
            is_fine = tsdl_get_attribute(resolver, statement, trace_attributes, &seen, &which) &&
                      (!trace_attributes[which] ||
                       resolve_trace_attribute(resolver, statement, which, &header));
    resolver->scope = scope.outer;
    if (!is_fine)
        return false;
    if (~seen & (1u << TRACE_MAJOR | 1u << TRACE_MINOR))
        return tsdl_fail(resolver->reading, block->at,
                         "a trace must declare its version: major = 1; minor = 8;");
    resolver->description->minor = 8;
    return instantiate_assigned_roots(resolver, &header,
                                      (struct tsdl_root_position){.root = ROOT_PACKET_HEADER},
                                      &resolver->description->packet_header);
}

static const struct tsdl_statement *find_attribute(const struct tsdl_statement *block,
                                                   const char *name)
{
    const struct tsdl_statement *statement = block->body;
    while (statement && (statement->kind != TSDL_ASSIGN || statement->name.n != strlen(name) ||
                         memcmp(statement->name.p, name, statement->name.n) != 0))
        statement = statement->next;
    return statement;
}

/* Sets the byte order of the trace. Must be called before all other blocks are processed, since
 * every type may depend on it. */
static bool resolve_byte_order(struct tsdl_resolver *resolver, const struct tsdl_statement *first)
{
    struct ctf_description *description = resolver->description;
    for (const struct tsdl_statement *block = first; block; block = block->next) {
        if (block->kind != TSDL_BLOCK || block->keyword != TSDL_TRACE)
            continue;
        if (resolver->state->has_trace)
            return tsdl_fail(resolver->reading, block->at, "a second trace block");
        resolver->state->has_trace = true;
        const struct tsdl_statement *attribute = find_attribute(block, "byte_order");
        bool is_packed_big_endian = description->is_big_endian;
        if (!attribute)
            return tsdl_fail(resolver->reading, block->at,
                             "a trace must declare its byte order: byte_order = le; or be");
        if (!tsdl_get_byte_order(resolver, attribute, false, &description->is_big_endian))
            return false;
        if (description->has_byte_order && description->is_big_endian != is_packed_big_endian)
            tsdl_add_diagnostic(resolver, TTR_SEVERITY_ODD, attribute->value->at,
                                "ctf.metadata-byte-order",
                                "the trace is %s-endian, the packets of its metadata are not",
                                description->is_big_endian ? "big" : "little");
        description->has_byte_order = true;
    }
    return resolver->state->has_trace ||
           tsdl_fail(resolver->reading, 0,
                     "no trace block: trace { major = 1; minor = 8; byte_order = le; };");
}

static const char *const clock_attributes[] = {"name",      "uuid",     "description", "freq",
                                               "frequency", "offset_s", "offset",      "precision",
                                               "absolute",  NULL};
enum {
    CLOCK_NAME,
    CLOCK_UUID,
    CLOCK_DESCRIPTION,
    CLOCK_FREQ,
    CLOCK_FREQUENCY,
    CLOCK_OFFSET_S,
    CLOCK_OFFSET,
    CLOCK_PRECISION,
    CLOCK_ABSOLUTE
};

static bool resolve_clock_attribute(struct tsdl_resolver *resolver,
                                    const struct tsdl_statement *attribute, unsigned which,
                                    struct ctf_clock *clock)
{
    switch (which) {
    case CLOCK_NAME:
        return tsdl_get_text(resolver, attribute, &clock->name);
    case CLOCK_UUID:
        clock->has_uuid = true;
        return tsdl_get_uuid(resolver, attribute, clock->uuid);
    case CLOCK_DESCRIPTION:
        return tsdl_get_text(resolver, attribute, &clock->description);
    case CLOCK_FREQ:
    case CLOCK_FREQUENCY:
        return tsdl_get_unsigned(resolver, attribute, &clock->frequency) &&
               (clock->frequency || tsdl_fail(resolver->reading, attribute->value->at,
                                              "a clock has a frequency above 0"));
    case CLOCK_OFFSET_S:
        return tsdl_get_signed(resolver, attribute, &clock->offset_s);
    case CLOCK_OFFSET:
        return tsdl_get_signed(resolver, attribute, &clock->offset_cycles);
    case CLOCK_PRECISION:
        clock->has_precision = true;
        return tsdl_get_unsigned(resolver, attribute, &clock->precision);
    case CLOCK_ABSOLUTE:
        return tsdl_get_bool(resolver, attribute, &clock->is_absolute);
    default:
        return true;
    }
}

/* Replaces negative offset cycles by a smaller number of seconds if possible, since CTF 2 and old
 * Babeltrace versions reject negative cycles. */
static void normalize_clock_offset(struct ctf_clock *clock)
{
    if (clock->offset_cycles >= 0)
        return;
    uint64_t missing = 0 - (uint64_t)clock->offset_cycles, frequency = clock->frequency;
    uint64_t seconds = missing / frequency + (missing % frequency != 0),
             rest = (frequency - missing % frequency) % frequency;
    int64_t left;
    if (seconds > INT64_MAX || rest > INT64_MAX ||
        __builtin_sub_overflow(clock->offset_s, (int64_t)seconds, &left))
        return;
    clock->offset_s = left;
    clock->offset_cycles = (int64_t)rest;
}

static bool texts_are_equal(ttr_text a, ttr_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Returns true if two clock blocks declare the same properties. */
static bool is_same_clock(const struct ctf_clock *a, const struct ctf_clock *b)
{
    return texts_are_equal(a->name, b->name) && texts_are_equal(a->description, b->description) &&
           a->frequency == b->frequency && a->offset_s == b->offset_s &&
           a->offset_cycles == b->offset_cycles && a->has_precision == b->has_precision &&
           a->precision == b->precision && a->is_absolute == b->is_absolute &&
           a->has_uuid == b->has_uuid && memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0;
}

static bool resolve_clock(struct tsdl_resolver *resolver, const struct tsdl_statement *block)
{
    struct ctf_description *description = resolver->description;
    uint32_t seen = 0;
    unsigned which;
    struct ctf_clock *clock = ctf_add_clock(description);
    if (!clock)
        return tsdl_fail_memory(resolver->reading);
    for (const struct tsdl_statement *statement = block->body; statement;
         statement = statement->next) {
        if (statement->kind != TSDL_ASSIGN && statement->kind != TSDL_ASSIGN_TYPE)
            return tsdl_fail(resolver->reading, statement->at,
                             "no types are declared here: expected an attribute");
        if (!tsdl_get_attribute(resolver, statement, clock_attributes, &seen, &which) ||
            !resolve_clock_attribute(resolver, statement, which, clock))
            return false;
    }
    if (clock->name.n == 0)
        return tsdl_fail(resolver->reading, block->at, "a clock has a name");
    normalize_clock_offset(clock);
    const struct ctf_clock *before = tsdl_names_find(&resolver->state->clocks, 0, clock->name);
    if (before && !is_same_clock(before, clock))
        return tsdl_fail(resolver->reading, block->at,
                         "a second clock '%.*s', which is not as the first", (int)clock->name.n,
                         clock->name.p);
    /* a second block for a clock is valid if it is identical: babeltrace2 2.0 repeats the clock
     * before each stream */
    if (before) {
        description->clocks_n--;
        return true;
    }
    clock->id = clock->name;
    clock->is_unix = clock->is_absolute || clock->offset_s || clock->offset_cycles;
    return tsdl_names_add(&resolver->state->clocks, &description->arena, 0, clock->name, clock) ||
           tsdl_fail_memory(resolver->reading);
}

/* Returns the text of a number that does not fit in a signed 64-bit integer. Returns false if the
 * value fits, or is not a number. */
static bool get_large_number_as_text(struct tsdl_resolver *resolver,
                                     const struct tsdl_statement *attribute, ttr_text *text)
{
    char digits[NUMBER_MAX + 1] = "-";
    size_t sign = attribute->value->is_negative,
           n = sign + number_format_u64(digits + sign, attribute->value->number);
    tsdl_add_diagnostic(
        resolver, TTR_SEVERITY_REMARK, attribute->at, "ctf.wide-environment",
        "an entry of the environment is a number of more than 63 bits: kept as text");
    *text = (ttr_text){arena_copy(&resolver->description->arena, digits, n), n};
    return text->p || tsdl_fail_memory(resolver->reading);
}

/* Processes an environment entry: a number or a string under any name. */
static bool resolve_environment_entry(struct tsdl_resolver *resolver,
                                      const struct tsdl_statement *attribute)
{
    struct ctf_environment entry = {0};
    if (attribute->kind != TSDL_ASSIGN)
        return tsdl_fail(resolver->reading, attribute->at,
                         "the environment holds numbers and strings");
    const struct tsdl_value *value = attribute->value;
    bool is_number = value->kind == TSDL_VALUE_NUMBER,
         is_wide = is_number && value->number > (uint64_t)INT64_MAX + value->is_negative;
    entry.is_number = is_number && !is_wide;
    if (!tsdl_copy_text(resolver, attribute->name, &entry.name) ||
        !(is_wide     ? get_large_number_as_text(resolver, attribute, &entry.text)
          : is_number ? tsdl_get_signed(resolver, attribute, &entry.number)
                      : tsdl_get_text(resolver, attribute, &entry.text)))
        return false;
    struct ctf_environment *kept = ctf_add_environment(resolver->description);
    if (!kept)
        return tsdl_fail_memory(resolver->reading);
    *kept = entry;
    return true;
}

static bool resolve_environment(struct tsdl_resolver *resolver, const struct tsdl_statement *block)
{
    for (const struct tsdl_statement *statement = block->body; statement;
         statement = statement->next)
        if (!resolve_environment_entry(resolver, statement))
            return false;
    return true;
}

static const char *const stream_attributes[] = {"id", "packet.context", "event.header",
                                                "event.context", NULL};
enum { STREAM_ID, STREAM_PACKET_CONTEXT, STREAM_EVENT_HEADER, STREAM_EVENT_CONTEXT };

static bool instantiate_stream_roots(struct tsdl_resolver *resolver,
                                     struct ctf_stream_class *stream,
                                     const struct assigned_type *assigned)
{
    struct tsdl_root_position place = {.stream = stream};
    place.root = ROOT_PACKET_CONTEXT;
    if (!instantiate_assigned_roots(resolver, &assigned[STREAM_PACKET_CONTEXT], place,
                                    &stream->packet_context))
        return false;
    place.root = ROOT_EVENT_HEADER;
    if (!instantiate_assigned_roots(resolver, &assigned[STREAM_EVENT_HEADER], place,
                                    &stream->event_header))
        return false;
    place.root = ROOT_COMMON_CONTEXT;
    return instantiate_assigned_roots(resolver, &assigned[STREAM_EVENT_CONTEXT], place,
                                      &stream->event_context);
}

/* Finds a stream by the bytes of its id. */
static struct ctf_stream_class *find_stream(const struct tsdl_resolver *resolver, uint64_t id)
{
    const void *found =
        tsdl_names_find(&resolver->state->streams, 0, (ttr_text){(const char *)&id, sizeof id});
    return (struct ctf_stream_class *)(uintptr_t)found;
}

static struct ctf_stream_class *add_stream(struct tsdl_resolver *resolver, uint64_t id)
{
    struct ctf_stream_class *stream = ctf_add_stream(resolver->description);
    if (stream)
        stream->id = id;
    if (stream && tsdl_names_add(&resolver->state->streams, &resolver->description->arena, 0,
                                 (ttr_text){(const char *)&stream->id, sizeof stream->id}, stream))
        return stream;
    (void)tsdl_fail_memory(resolver->reading);
    return NULL;
}

/* Attributes of a stream block, collected before its class is added. */
struct stream_values {
    uint64_t id;
    struct assigned_type assigned[4];
};

static bool resolve_stream_attribute(struct tsdl_resolver *resolver,
                                     const struct tsdl_statement *attribute, unsigned which,
                                     struct stream_values *values)
{
    return which == STREAM_ID ? tsdl_get_unsigned(resolver, attribute, &values->id)
                              : assign_root_type(resolver, attribute, &values->assigned[which]);
}

static bool get_stream_values(struct tsdl_resolver *resolver, const struct tsdl_statement *block,
                              struct stream_values *values)
{
    struct tsdl_scope scope = open_block_scope(resolver);
    uint32_t seen = 0;
    unsigned which;
    bool is_fine = true;
    resolver->scope = &scope;
    for (const struct tsdl_statement *statement = block->body; is_fine && statement;
         statement = statement->next)
        if (!process_block_declaration(resolver, statement, &is_fine))
            is_fine = tsdl_get_attribute(resolver, statement, stream_attributes, &seen, &which) &&
                      (!stream_attributes[which] ||
                       resolve_stream_attribute(resolver, statement, which, values));
    resolver->scope = scope.outer;
    return is_fine;
}

static bool resolve_stream(struct tsdl_resolver *resolver, const struct tsdl_statement *block)
{
    const struct ctf_description *description = resolver->description;
    struct stream_values values = {0};
    if (!get_stream_values(resolver, block, &values))
        return false;
    if (find_stream(resolver, values.id))
        return tsdl_fail(resolver->reading, block->at, "a second stream with id %llu",
                         (unsigned long long)values.id);
    if (description->streams_n == 1 &&
        !tsdl_has_role(description->packet_header, CTF_ROLE_STREAM_CLASS_ID))
        return tsdl_fail(
            resolver->reading, block->at,
            "a second stream, but no stream_id in the packet header to distinguish them");
    struct ctf_stream_class *stream = add_stream(resolver, values.id);
    if (!stream)
        return false;
    stream->offset = ctf_compute_text_offset(resolver->reading->text, block->at);
    return instantiate_stream_roots(resolver, stream, values.assigned);
}

static const char *const event_attributes[] = {"name",          "id",      "stream_id", "loglevel",
                                               "model.emf.uri", "context", "fields",    NULL};
enum {
    EVENT_NAME,
    EVENT_ID,
    EVENT_STREAM_ID,
    EVENT_LOGLEVEL,
    EVENT_EMF_URI,
    EVENT_CONTEXT,
    EVENT_FIELDS
};

/* Attributes of an event block, collected before its class is added. */
struct event_values {
    uint32_t seen;
    uint64_t id, stream_id;
    int64_t log_level;
    ttr_text name, emf_uri;
    struct assigned_type context, fields;
    size_t names_before; /* number of names of types before the event block */
};

/* Sets the context or fields of an event. Events that have the same text share the type, if nothing
 * that only one of them declares can change its meaning, and if it has no diagnostics. */
static bool assign_event_type(struct tsdl_resolver *resolver,
                              const struct tsdl_statement *attribute,
                              const struct event_values *values, struct assigned_type *assigned)
{
    struct tsdl_state *state = resolver->state;
    const struct tsdl_specifier *specifier =
        attribute->kind == TSDL_ASSIGN_TYPE ? attribute->specifier : NULL;
    const bool can_share = specifier && specifier->class == TSDL_CLASS_STRUCT &&
                           specifier->has_body && state->types.used == values->names_before;
    const ttr_text text = {can_share ? resolver->reading->text->p + specifier->at : NULL,
                           can_share ? specifier->end - specifier->at : 0};
    const uint64_t diagnostics_n = state->diagnostics_n;
    assigned->at = attribute->at;
    assigned->type = can_share ? tsdl_names_find(resolver->structures, 0, text) : NULL;
    if (assigned->type)
        return true;
    if (!assign_root_type(resolver, attribute, assigned))
        return false;
    const bool is_shared = can_share && state->types.used == values->names_before &&
                           state->diagnostics_n == diagnostics_n;
    return !is_shared ||
           tsdl_names_add(resolver->structures, resolver->shared, 0, text, assigned->type) ||
           tsdl_fail_memory(resolver->reading);
}

static bool resolve_event_attribute(struct tsdl_resolver *resolver,
                                    const struct tsdl_statement *attribute, unsigned which,
                                    struct event_values *values)
{
    switch (which) {
    case EVENT_NAME:
        return tsdl_get_text(resolver, attribute, &values->name);
    case EVENT_ID:
        return tsdl_get_unsigned(resolver, attribute, &values->id);
    case EVENT_STREAM_ID:
        return tsdl_get_unsigned(resolver, attribute, &values->stream_id);
    case EVENT_LOGLEVEL:
        return tsdl_get_signed(resolver, attribute, &values->log_level);
    case EVENT_EMF_URI:
        return tsdl_get_text(resolver, attribute, &values->emf_uri);
    case EVENT_CONTEXT:
        return assign_event_type(resolver, attribute, values, &values->context);
    case EVENT_FIELDS:
        return assign_event_type(resolver, attribute, values, &values->fields);
    default:
        return true;
    }
}

/* Returns the stream of an event. If the trace has no stream block, adds a stream. */
static struct ctf_stream_class *find_or_add_stream(struct tsdl_resolver *resolver, size_t at,
                                                   const struct event_values *values)
{
    struct ctf_description *description = resolver->description;
    bool has_id = values->seen >> EVENT_STREAM_ID & 1;
    struct ctf_stream_class *stream = has_id ? find_stream(resolver, values->stream_id) : NULL;
    if (description->streams_n == 0) {
        stream = add_stream(resolver, values->stream_id);
    } else if (has_id && !stream) {
        (void)tsdl_fail(resolver->reading, at, "no stream has the id %llu",
                        (unsigned long long)values->stream_id);
    } else if (!has_id && description->streams_n > 1) {
        (void)tsdl_fail(resolver->reading, at,
                        "this event needs a stream_id: there are %zu streams",
                        description->streams_n);
    } else if (!has_id) {
        stream = description->streams[0];
    }
    return stream;
}

/* Drops an event class if another class of the stream has its id; gst-shark writes such metadata.
 * All other events remain readable. A reader must treat events with this id as ambiguous. */
static bool drop_repeated_event(struct tsdl_resolver *resolver, size_t at,
                                const struct event_values *values,
                                const struct ctf_event_class *first)
{
    const ttr_text second = values->name;
    tsdl_add_diagnostic(
        resolver, TTR_SEVERITY_DAMAGE, at, "ctf.duplicate-event",
        "a second event with id %llu in stream %llu, '%.*s': what has this id is read as the "
        "first, '%.*s'",
        (unsigned long long)values->id, (unsigned long long)first->stream->id,
        second.n < 40 ? (int)second.n : 40, second.p, first->name.n < 40 ? (int)first->name.n : 40,
        first->name.p);
    return true;
}

static bool add_event(struct tsdl_resolver *resolver, size_t at, const struct event_values *values)
{
    struct ctf_stream_class *stream = find_or_add_stream(resolver, at, values);
    if (!stream)
        return false;
    if (!(values->seen >> EVENT_ID & 1) && stream->events_n > 0)
        return tsdl_fail(resolver->reading, at,
                         "this event needs an id: stream %llu has other events",
                         (unsigned long long)stream->id);
    if (ctf_find_event(stream, values->id))
        return drop_repeated_event(resolver, at, values, ctf_find_event(stream, values->id));
    if (stream->events_n == 1 && !tsdl_has_role(stream->event_header, CTF_ROLE_EVENT_ID))
        return tsdl_fail(
            resolver->reading, at,
            "a second event in stream %llu, but no id in the event header to distinguish them",
            (unsigned long long)stream->id);
    struct ctf_event_class *event = ctf_add_event(resolver->description, stream, values->id);
    if (!event)
        return tsdl_fail_memory(resolver->reading);
    event->name = values->name;
    event->emf_uri = values->emf_uri;
    event->log_level = values->log_level;
    event->has_log_level = values->seen >> EVENT_LOGLEVEL & 1;
    event->offset = ctf_compute_text_offset(resolver->reading->text, at);
    struct tsdl_root_position place = {
        .root = ROOT_SPECIFIC_CONTEXT, .stream = stream, .event = event};
    if (!instantiate_assigned_roots(resolver, &values->context, place, &event->context))
        return false;
    place.root = ROOT_PAYLOAD;
    return instantiate_assigned_roots(resolver, &values->fields, place, &event->payload);
}

static bool resolve_event_body(struct tsdl_resolver *resolver, size_t at,
                               const struct tsdl_statement *body)
{
    struct tsdl_scope scope = open_block_scope(resolver);
    struct event_values values = {.names_before = resolver->state->types.used};
    unsigned which;
    bool is_fine = true;
    resolver->scope = &scope;
    for (const struct tsdl_statement *statement = body; is_fine && statement;
         statement = statement->next)
        if (!process_block_declaration(resolver, statement, &is_fine))
            is_fine =
                tsdl_get_attribute(resolver, statement, event_attributes, &values.seen, &which) &&
                resolve_event_attribute(resolver, statement, which, &values);
    resolver->scope = scope.outer;
    return is_fine && add_event(resolver, at, &values);
}

static bool resolve_event(struct tsdl_resolver *resolver, const struct tsdl_statement *block)
{
    const struct tsdl_statement *body;
    bool is_fine = tsdl_parse_block(resolver->reading, block, &body) &&
                   resolve_event_body(resolver, block->at, body);
    tsdl_free_block(resolver->reading, block);
    return is_fine;
}

static bool resolve_blocks(struct tsdl_resolver *resolver, const struct tsdl_statement *first,
                           enum tsdl_keyword keyword,
                           bool (*resolve)(struct tsdl_resolver *, const struct tsdl_statement *))
{
    for (const struct tsdl_statement *block = first; block; block = block->next)
        if (block->kind == TSDL_BLOCK && block->keyword == keyword && !resolve(resolver, block))
            return false;
    return true;
}

bool tsdl_resolve_text(struct tsdl_resolver *resolver, const struct tsdl_statement *first)
{
    if (!resolve_byte_order(resolver, first) ||
        !resolve_blocks(resolver, first, TSDL_CLOCK, resolve_clock))
        return false;
    for (const struct tsdl_statement *statement = first; statement; statement = statement->next)
        if (statement->kind != TSDL_BLOCK && !tsdl_resolve_declaration(resolver, statement))
            return false;
    return resolve_blocks(resolver, first, TSDL_TRACE, resolve_trace) &&
           resolve_blocks(resolver, first, TSDL_ENV, resolve_environment) &&
           resolve_blocks(resolver, first, TSDL_STREAM, resolve_stream) &&
           resolve_blocks(resolver, first, TSDL_EVENT, resolve_event);
}
