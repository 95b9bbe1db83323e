/* Parses the fragments of CTF 2 metadata. Order: the preamble first and once, the trace class
 * before data stream classes, an event record class after its data stream class, and every
 * definition before its uses.
 *
 * A fragment is checked completely before it is added to the description. So after an error, the
 * description contains exactly the fragments before it, and a reader can still use damaged
 * metadata. */
#include "base/status.h"
#include "formats/ctf/metadata/json/ctf2_parser.h"

#define RECORD_SEPARATOR 0x1e
/* maximum nesting of JSON; one level of field classes has at most three levels of JSON */
#define JSON_DEPTH 256u
/* maximum bytes of the JSON tree of one fragment; a megabyte of text needs about 40 MiB */
#define JSON_MEMORY ((size_t)256 << 20)
/* maximum number of clock classes; low, because clocks are found by linear search */
#define CLOCKS_MAX 4096u
#define STREAMS_MAX 4096u

#define COMMON \
    (CTF2_SET(TYPE) | CTF2_SET(ATTRIBUTES) | CTF2_SET(EXTENSIONS) | CTF2_SET(USER_ATTRIBUTES))
#define IDENTITY (CTF2_SET(NAMESPACE) | CTF2_SET(NAME) | CTF2_SET(UID))

static ttr_status get_identity(struct ctf2_parser *parser, const struct ctf2_object *object,
                               ttr_text *ns, ttr_text *name, ttr_text *uid)
{
    ttr_status status = ctf2_get_text(parser, object->at[CTF2_NAMESPACE], ns);
    if (status == TTR_OK)
        status = ctf2_get_text(parser, object->at[CTF2_NAME], name);
    return status == TTR_OK ? ctf2_get_text(parser, object->at[CTF2_UID], uid) : status;
}

/* --- Fragment "preamble" --- */

/* Fails if the metadata declare extensions. An extension may change the meaning of anything, and
 * none is supported. */
static ttr_status reject_extensions(struct ctf2_parser *parser, const struct json_value *json)
{
    ttr_status status = json ? ctf2_expect_kind(parser, json, JSON_OBJECT) : TTR_OK;
    if (status != TTR_OK || !json)
        return status;
    for (const struct json_value *ns = json->first; ns; ns = ns->next) {
        status = ctf2_expect_kind(parser, ns, JSON_OBJECT);
        if (status == TTR_OK && ns->first)
            status = ctf2_fail_with_status(
                parser, TTR_E_UNSUPPORTED, ns->first,
                "the trace needs the extension \"%.60s\" of \"%.60s\", which is not supported",
                ns->first->key, ns->key);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

static ttr_status read_preamble(struct ctf2_parser *parser, const struct ctf2_object *object)
{
    uint64_t version = 0;
    uint8_t uuid[16];
    bool has_uuid = false;
    if (parser->state->has_preamble)
        return ctf2_fail(parser, object->json, "there is a preamble already");
    ttr_status status = ctf2_get_u64(parser, object->at[CTF2_VERSION], &version);
    if (status == TTR_OK && version != 2)
        return ctf2_fail_with_status(parser, TTR_E_UNSUPPORTED, object->at[CTF2_VERSION],
                                     "version %llu of CTF is not supported, expected 2",
                                     (unsigned long long)version);
    if (status == TTR_OK)
        status = reject_extensions(parser, object->at[CTF2_EXTENSIONS]);
    if (status == TTR_OK)
        status = ctf2_get_uuid(parser, object->at[CTF2_UUID], uuid, &has_uuid);
    if (status != TTR_OK)
        return status;
    if (has_uuid)
        memcpy(parser->description->uuid, uuid, sizeof uuid);
    parser->description->has_uuid = has_uuid;
    parser->state->has_preamble = true;
    return TTR_OK;
}

/* --- Fragment "trace-class" --- */

/* Builds the type of a root, such as a packet header. Fails if its class is not a structure. */
static ttr_status build_root(struct ctf2_build *build, const struct ctf2_object *object,
                             enum ctf2_property property, const struct type **type)
{
    const struct json_value *json = object->at[property];
    if (!json)
        return TTR_OK;
    ttr_status status = ctf2_build_class(build, json, type);
    if (status == TTR_OK && (*type)->kind != TYPE_STRUCT)
        return ctf2_fail(build->parser, json, "expected a structure class");
    return status;
}

/* Reads an environment entry. A number that does not fit in a signed 64-bit integer is kept as
 * text. */
static ttr_status read_environment_entry(struct ctf2_parser *parser, const struct json_value *item,
                                         struct ctf_environment *entry)
{
    entry->text = (ttr_text){"", 0};
    entry->is_number =
        item->token.kind == JSON_INTEGER && json_token_i64(&item->token, &entry->number);
    if (entry->is_number)
        return TTR_OK;
    if (item->token.kind != JSON_INTEGER)
        return ctf2_get_text(parser, item, &entry->text);
    size_t n = (size_t)(item->token.end - item->token.offset);
    entry->text = (ttr_text){arena_copy(&parser->description->arena,
                                        (const char *)parser->text->p + item->token.offset, n),
                             n};
    ctf2_add_diagnostic(
        parser, TTR_SEVERITY_REMARK, item, "ctf.wide-environment",
        "an entry of the environment is a number of more than 63 bits: kept as text");
    return entry->text.p ? TTR_OK : fail_memory(parser->error);
}

static ttr_status add_environment(struct ctf2_parser *parser, const struct json_value *json)
{
    for (const struct json_value *item = json->first; item; item = item->next) {
        struct ctf_environment *entry = ctf_add_environment(parser->description);
        if (!entry)
            return fail_memory(parser->error);
        entry->name = (ttr_text){arena_copy(&parser->description->arena, item->key, item->key_n),
                                 item->key_n};
        ttr_status status = read_environment_entry(parser, item, entry);
        if (status != TTR_OK)
            return status;
        if (!entry->name.p)
            return fail_memory(parser->error);
    }
    return TTR_OK;
}

static ttr_status read_environment(struct ctf2_parser *parser, const struct json_value *json)
{
    const struct json_value *second;
    ttr_status status = json ? ctf2_expect_kind(parser, json, JSON_OBJECT) : TTR_OK;
    if (status != TTR_OK || !json)
        return status;
    if (json_find_duplicate(json, &parser->scratch, &second) != TTR_OK)
        return fail_memory(parser->error);
    if (second)
        return ctf2_fail(parser, second, "this entry comes twice");
    size_t before = parser->description->environment_n;
    status = add_environment(parser, json);
    if (status != TTR_OK)
        parser->description->environment_n = before;
    return status;
}

/* Reads the UUID that the release candidate of CTF 2 declared in the trace class. */
static ttr_status get_rc7_uuid(struct ctf2_parser *parser, const struct json_value *json)
{
    uint8_t uuid[16];
    bool has_uuid = false;
    ttr_status status = ctf2_get_uuid(parser, json, uuid, &has_uuid);
    if (status != TTR_OK || !has_uuid)
        return status;
    ctf2_report_rc7_syntax(parser, json, "the UUID of a trace class");
    if (!parser->description->has_uuid)
        memcpy(parser->description->uuid, uuid, sizeof uuid);
    parser->description->has_uuid = true;
    return TTR_OK;
}

static ttr_status read_trace_class(struct ctf2_parser *parser, const struct ctf2_object *object)
{
    static const struct type *const no_roots[ROOT_COUNT];
    struct ctf_description *description = parser->description;
    struct ctf2_build build = {.parser = parser, .roots = no_roots, .root = ROOT_PACKET_HEADER};
    const struct type *packet_header = NULL;
    ttr_text ns = {"", 0}, name = {"", 0}, uid = {"", 0}, attributes = {"", 0};
    bool had_uuid = description->has_uuid;
    if (parser->state->has_trace_class)
        return ctf2_fail(parser, object->json, "there is a trace class already");
    if (description->streams_n > 0)
        return ctf2_fail(parser, object->json,
                         "the trace class must come before all data stream classes");
    ttr_status status = get_rc7_uuid(parser, object->at[CTF2_UUID]);
    if (status == TTR_OK)
        status = build_root(&build, object, CTF2_PACKET_HEADER_FIELD_CLASS, &packet_header);
    if (status == TTR_OK)
        status = get_identity(parser, object, &ns, &name, &uid);
    if (status == TTR_OK)
        status = ctf2_get_attributes(parser, object, &attributes);
    if (status == TTR_OK)
        status = read_environment(parser, object->at[CTF2_ENVIRONMENT]);
    if (status != TTR_OK) {
        description->has_uuid = had_uuid;
        return status;
    }
    description->packet_header = packet_header;
    description->ns = ns;
    description->name = name;
    description->uid = uid;
    description->attributes = attributes;
    parser->state->has_trace_class = true;
    return TTR_OK;
}

/* --- Fragment "clock-class" --- */

static ttr_status read_origin(struct ctf2_parser *parser, const struct json_value *json,
                              struct ctf_clock *clock)
{
    static const struct ctf2_property_set properties = {"a clock origin", IDENTITY,
                                                        CTF2_SET(NAME) | CTF2_SET(UID)};
    struct ctf2_object object;
    if (!json)
        return TTR_OK;
    if (json->token.kind == JSON_TEXT) {
        clock->is_unix = json_text_equals(json, "unix-epoch");
        return clock->is_unix ? TTR_OK
                              : ctf2_fail(parser, json, "expected \"unix-epoch\" or an object");
    }
    ttr_status status = ctf2_read_object(parser, json, &properties, &object);
    if (status != TTR_OK)
        return status;
    return get_identity(parser, &object, &clock->origin_ns, &clock->origin_name,
                        &clock->origin_uid);
}

static ttr_status read_offset(struct ctf2_parser *parser, const struct json_value *json,
                              struct ctf_clock *clock)
{
    static const struct ctf2_property_set properties = {"a clock offset",
                                                        CTF2_SET(SECONDS) | CTF2_SET(CYCLES), 0};
    struct ctf2_object object;
    uint64_t cycles = 0;
    ttr_status status = json ? ctf2_read_object(parser, json, &properties, &object) : TTR_OK;
    if (status != TTR_OK || !json)
        return status;
    status = ctf2_get_i64(parser, object.at[CTF2_SECONDS], &clock->offset_s);
    if (status == TTR_OK)
        status = ctf2_get_u64(parser, object.at[CTF2_CYCLES], &cycles);
    if (status == TTR_OK && cycles >= clock->frequency)
        return ctf2_fail(parser, object.at[CTF2_CYCLES], "expected fewer cycles than a second has");
    if (status == TTR_OK && cycles > INT64_MAX)
        return ctf2_fail_with_status(parser, TTR_E_LIMIT, object.at[CTF2_CYCLES],
                                     "offsets of 2^63 cycles and more are not supported");
    clock->offset_cycles = (int64_t)cycles;
    return status;
}

static ttr_status read_clock_numbers(struct ctf2_parser *parser, const struct ctf2_object *object,
                                     struct ctf_clock *clock)
{
    clock->frequency = 0;
    ttr_status status = ctf2_get_u64(parser, object->at[CTF2_FREQUENCY], &clock->frequency);
    if (status == TTR_OK && clock->frequency == 0)
        return ctf2_fail(parser, object->at[CTF2_FREQUENCY],
                         "expected a frequency of at least 1 Hz");
    if (status == TTR_OK)
        status = read_offset(parser, object->at[CTF2_OFFSET_FROM_ORIGIN], clock);
    clock->has_precision = object->at[CTF2_PRECISION] != NULL;
    if (status == TTR_OK)
        status = ctf2_get_u64(parser, object->at[CTF2_PRECISION], &clock->precision);
    clock->has_accuracy = object->at[CTF2_ACCURACY] != NULL;
    return status == TTR_OK ? ctf2_get_u64(parser, object->at[CTF2_ACCURACY], &clock->accuracy)
                            : status;
}

static struct ctf_clock *find_clock(const struct ctf_description *description, ttr_text id)
{
    for (size_t i = 0; i < description->clocks_n; i++)
        if (description->clocks[i]->id.n == id.n &&
            memcmp(description->clocks[i]->id.p, id.p, id.n) == 0)
            return description->clocks[i];
    return NULL;
}

/* Reads the id of a clock. In the release candidate, clocks had a name as id and a UUID, but no
 * origin; LTTng's monotonic clocks then counted from the Unix epoch. */
static ttr_status read_clock_id(struct ctf2_parser *parser, const struct ctf2_object *object,
                                struct ctf_clock *clock)
{
    ttr_status status = ctf2_get_uuid(parser, object->at[CTF2_UUID], clock->uuid, &clock->has_uuid);
    if (status != TTR_OK || object->at[CTF2_ID])
        return status == TTR_OK ? ctf2_get_text(parser, object->at[CTF2_ID], &clock->id) : status;
    if (!object->at[CTF2_NAME])
        return ctf2_fail(parser, object->json, "a clock class must have the property \"id\"");
    ctf2_report_rc7_syntax(parser, object->json, "a clock class without \"id\"");
    clock->id = clock->name;
    if (!object->at[CTF2_ORIGIN] && clock->id.n == 9 && memcmp(clock->id.p, "monotonic", 9) == 0)
        clock->is_unix = true;
    return TTR_OK;
}

static bool texts_are_equal(ttr_text a, ttr_text b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* Returns true if two clock classes have equal properties. */
static bool is_same_clock(const struct ctf_clock *a, const struct ctf_clock *b)
{
    return texts_are_equal(a->id, b->id) && texts_are_equal(a->name, b->name) &&
           texts_are_equal(a->ns, b->ns) && texts_are_equal(a->uid, b->uid) &&
           texts_are_equal(a->description, b->description) && a->frequency == b->frequency &&
           a->offset_s == b->offset_s && a->offset_cycles == b->offset_cycles &&
           a->has_precision == b->has_precision && a->precision == b->precision &&
           a->has_accuracy == b->has_accuracy && a->accuracy == b->accuracy &&
           a->has_uuid == b->has_uuid && memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0 &&
           a->is_unix == b->is_unix && a->is_absolute == b->is_absolute &&
           texts_are_equal(a->origin_name, b->origin_name) &&
           texts_are_equal(a->origin_ns, b->origin_ns) &&
           texts_are_equal(a->origin_uid, b->origin_uid);
}

static ttr_status read_clock_class(struct ctf2_parser *parser, const struct ctf2_object *object)
{
    struct ctf_description *description = parser->description;
    struct ctf_clock read = {
        .id = {"", 0}, .name = {"", 0}, .ns = {"", 0}, .uid = {"", 0}, .description = {"", 0}};
    read.origin_name = read.origin_ns = read.origin_uid = (ttr_text){"", 0};
    ttr_status status = get_identity(parser, object, &read.ns, &read.name, &read.uid);
    if (status == TTR_OK)
        status = read_clock_id(parser, object, &read);
    if (status == TTR_OK)
        status = ctf2_get_text(parser, object->at[CTF2_DESCRIPTION], &read.description);
    if (status == TTR_OK)
        status = read_clock_numbers(parser, object, &read);
    if (status == TTR_OK)
        status = read_origin(parser, object->at[CTF2_ORIGIN], &read);
    if (status != TTR_OK)
        return status;
    const struct ctf_clock *same = find_clock(description, read.id);
    if (same && is_same_clock(same, &read)) {
        ctf2_add_diagnostic(parser, TTR_SEVERITY_REMARK, object->json, "ctf.same-clock",
                            "the clock class \"%.60s\" is declared twice, with equal properties",
                            read.id.p);
        return TTR_OK;
    }
    if (same)
        return ctf2_fail(parser, object->json, "there is a clock class \"%.60s\" already",
                         read.id.p);
    if (description->clocks_n >= CLOCKS_MAX)
        return ctf2_fail_with_status(parser, TTR_E_LIMIT, object->json,
                                     "more than %u clock classes", CLOCKS_MAX);
    struct ctf_clock *clock = ctf_add_clock(description);
    if (!clock)
        return fail_memory(parser->error);
    *clock = read;
    return TTR_OK;
}

/* --- Fragment "data-stream-class" --- */

static ttr_status get_default_clock(struct ctf2_parser *parser, const struct ctf2_object *object,
                                    const struct ctf_clock **clock)
{
    const struct json_value *json = object->at[CTF2_DEFAULT_CLOCK_CLASS_ID];
    if (!json && object->at[CTF2_DEFAULT_CLOCK_CLASS_NAME]) {
        json = object->at[CTF2_DEFAULT_CLOCK_CLASS_NAME];
        ctf2_report_rc7_syntax(parser, json, "the property \"default-clock-class-name\"");
    }
    if (!json)
        return TTR_OK;
    ttr_status status = ctf2_expect_kind(parser, json, JSON_TEXT);
    if (status != TTR_OK)
        return status;
    *clock = find_clock(parser->description, (ttr_text){json->token.text, json->token.n});
    return *clock ? TTR_OK
                  : ctf2_fail(parser, json, "no clock class \"%.60s\" is defined before",
                              json->token.text);
}

/* Builds the three structures of a data stream class (packet context, event header, event
 * context), or the two of an event record class (context, payload). */
static ttr_status build_roots(struct ctf2_parser *parser, const struct ctf2_object *object,
                              const struct ctf_clock *clock, const struct type **roots)
{
    static const struct {
        enum type_root root;
        enum ctf2_property property;
    } rows[] = {{ROOT_PACKET_CONTEXT, CTF2_PACKET_CONTEXT_FIELD_CLASS},
                {ROOT_EVENT_HEADER, CTF2_HEADER_FIELD_CLASS},
                {ROOT_COMMON_CONTEXT, CTF2_COMMON_CONTEXT_FIELD_CLASS},
                {ROOT_SPECIFIC_CONTEXT, CTF2_SPECIFIC_CONTEXT_FIELD_CLASS},
                {ROOT_PAYLOAD, CTF2_PAYLOAD_FIELD_CLASS}};
    ttr_status status = TTR_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == TTR_OK; i++) {
        struct ctf2_build build = {
            .parser = parser, .roots = roots, .root = rows[i].root, .clock = clock};
        status = build_root(&build, object, rows[i].property, &roots[rows[i].root]);
    }
    return status;
}

static ttr_status read_stream_class(struct ctf2_parser *parser, const struct ctf2_object *object)
{
    struct ctf_description *description = parser->description;
    struct ctf_stream_class read = {
        .name = {"", 0}, .ns = {"", 0}, .uid = {"", 0}, .attributes = {"", 0}};
    const struct type *roots[ROOT_COUNT] = {[ROOT_PACKET_HEADER] = description->packet_header};
    ttr_status status = ctf2_get_u64(parser, object->at[CTF2_ID], &read.id);
    if (status == TTR_OK && ctf_find_stream(description, read.id))
        return ctf2_fail(parser, object->json, "there is a data stream class %llu already",
                         (unsigned long long)read.id);
    if (status == TTR_OK)
        status = get_identity(parser, object, &read.ns, &read.name, &read.uid);
    if (status == TTR_OK)
        status = get_default_clock(parser, object, &read.clock);
    if (status == TTR_OK)
        status = build_roots(parser, object, read.clock, roots);
    if (status == TTR_OK)
        status = ctf2_get_attributes(parser, object, &read.attributes);
    if (status != TTR_OK)
        return status;
    if (description->streams_n >= STREAMS_MAX)
        return ctf2_fail_with_status(parser, TTR_E_LIMIT, object->json,
                                     "more than %u data stream classes", STREAMS_MAX);
    struct ctf_stream_class *stream = ctf_add_stream(description);
    if (!stream)
        return fail_memory(parser->error);
    stream->id = read.id;
    stream->name = read.name;
    stream->ns = read.ns;
    stream->uid = read.uid;
    stream->clock = read.clock;
    stream->attributes = read.attributes;
    stream->offset = ctf_compute_text_offset(parser->text, object->json->token.offset);
    stream->packet_context = roots[ROOT_PACKET_CONTEXT];
    stream->event_header = roots[ROOT_EVENT_HEADER];
    stream->event_context = roots[ROOT_COMMON_CONTEXT];
    return TTR_OK;
}

/* --- Fragment "event-record-class" --- */

static ttr_status get_stream_class_of_event(struct ctf2_parser *parser,
                                            const struct ctf2_object *object,
                                            struct ctf_stream_class **stream)
{
    const struct json_value *json = object->at[CTF2_DATA_STREAM_CLASS_ID];
    uint64_t id = 0;
    ttr_status status = ctf2_get_u64(parser, json, &id);
    if (status != TTR_OK)
        return status;
    *stream = ctf_find_stream(parser->description, id);
    return *stream
               ? TTR_OK
               : ctf2_fail(parser, json ? json : object->json,
                           "no data stream class %llu is defined before", (unsigned long long)id);
}

static ttr_status read_event(struct ctf2_parser *parser, const struct ctf2_object *object,
                             struct ctf_stream_class *stream, struct ctf_event_class *read)
{
    const struct type *roots[ROOT_COUNT] = {[ROOT_PACKET_HEADER] =
                                                parser->description->packet_header,
                                            [ROOT_PACKET_CONTEXT] = stream->packet_context,
                                            [ROOT_EVENT_HEADER] = stream->event_header,
                                            [ROOT_COMMON_CONTEXT] = stream->event_context};
    ttr_status status = ctf2_get_u64(parser, object->at[CTF2_ID], &read->id);
    if (status == TTR_OK)
        status = get_identity(parser, object, &read->ns, &read->name, &read->uid);
    if (status == TTR_OK)
        status = build_roots(parser, object, stream->clock, roots);
    read->context = roots[ROOT_SPECIFIC_CONTEXT];
    read->payload = roots[ROOT_PAYLOAD];
    return status == TTR_OK ? ctf2_get_event_attributes(parser, object, read) : status;
}

static ttr_status read_event_class(struct ctf2_parser *parser, const struct ctf2_object *object)
{
    struct ctf_stream_class *stream;
    struct ctf_event_class read = {
        .name = {"", 0}, .ns = {"", 0}, .uid = {"", 0}, .emf_uri = {"", 0}, .attributes = {"", 0}};
    ttr_status status = get_stream_class_of_event(parser, object, &stream);
    if (status == TTR_OK)
        status = read_event(parser, object, stream, &read);
    if (status != TTR_OK)
        return status;
    const struct ctf_event_class *first = ctf_find_event(stream, read.id);
    if (first) {
        ctf2_add_diagnostic(
            parser, TTR_SEVERITY_DAMAGE, object->json, "ctf.duplicate-event",
            "a second event record class %llu in data stream class %llu, \"%.*s\": what has "
            "this id is read as the first, \"%.*s\"",
            (unsigned long long)read.id, (unsigned long long)stream->id,
            read.name.n < 40 ? (int)read.name.n : 40, read.name.p,
            first->name.n < 40 ? (int)first->name.n : 40, first->name.p);
        return TTR_OK;
    }
    struct ctf_event_class *event = ctf_add_event(parser->description, stream, read.id);
    if (!event)
        return fail_memory(parser->error);
    read.number = event->number;
    read.stream = stream;
    read.offset = ctf_compute_text_offset(parser->text, object->json->token.offset);
    *event = read;
    return TTR_OK;
}

/* --- Table of all fragments --- */

static const struct fragment_row {
    const char *name;
    struct ctf2_property_set properties;
    ttr_status (*read)(struct ctf2_parser *parser, const struct ctf2_object *object);
} rows[] = {
    {"event-record-class",
     {"an event record class",
      COMMON | IDENTITY | CTF2_SET(ID) | CTF2_SET(DATA_STREAM_CLASS_ID) |
          CTF2_SET(SPECIFIC_CONTEXT_FIELD_CLASS) | CTF2_SET(PAYLOAD_FIELD_CLASS),
      0},
     read_event_class},
    {"field-class-alias",
     {"a field class alias", COMMON | CTF2_SET(NAME) | CTF2_SET(FIELD_CLASS),
      CTF2_SET(NAME) | CTF2_SET(FIELD_CLASS)},
     ctf2_add_alias},
    {"data-stream-class",
     {"a data stream class",
      COMMON | IDENTITY | CTF2_SET(ID) | CTF2_SET(DEFAULT_CLOCK_CLASS_ID) |
          CTF2_SET(DEFAULT_CLOCK_CLASS_NAME) | CTF2_SET(PACKET_CONTEXT_FIELD_CLASS) |
          CTF2_SET(HEADER_FIELD_CLASS) | CTF2_SET(COMMON_CONTEXT_FIELD_CLASS),
      0},
     read_stream_class},
    {"clock-class",
     {"a clock class",
      COMMON | IDENTITY | CTF2_SET(ID) | CTF2_SET(FREQUENCY) | CTF2_SET(ORIGIN) |
          CTF2_SET(OFFSET_FROM_ORIGIN) | CTF2_SET(PRECISION) | CTF2_SET(ACCURACY) |
          CTF2_SET(DESCRIPTION) | CTF2_SET(UUID),
      CTF2_SET(FREQUENCY)},
     read_clock_class},
    {"trace-class",
     {"a trace class",
      COMMON | IDENTITY | CTF2_SET(ENVIRONMENT) | CTF2_SET(PACKET_HEADER_FIELD_CLASS) |
          CTF2_SET(UUID),
      0},
     read_trace_class},
    {"preamble",
     {"a preamble", COMMON | CTF2_SET(VERSION) | CTF2_SET(UUID), CTF2_SET(VERSION)},
     read_preamble},
};

static const struct fragment_row *find_fragment_row(const struct json_value *type)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (json_text_equals(type, rows[i].name))
            return &rows[i];
    return NULL;
}

static ttr_status read_fragment_tree(struct ctf2_parser *parser, const struct json_value *root)
{
    struct ctf2_object object;
    const struct json_value *type = json_find_member(root, "type");
    parser->fragment = "fragment";
    if (root->token.kind != JSON_OBJECT || !type)
        return ctf2_fail(parser, root, "expected an object with the property \"type\"");
    const struct fragment_row *row = find_fragment_row(type);
    if (!row)
        return ctf2_fail(parser, type, "no such fragment: \"%.60s\"", type->token.text);
    parser->fragment = row->name;
    if (!parser->state->has_preamble && row->read != read_preamble)
        return ctf2_fail(parser, root, "expected the preamble first");
    ttr_status status = ctf2_read_object(parser, root, &row->properties, &object);
    return status == TTR_OK ? row->read(parser, &object) : status;
}

/* Emits at most one diagnostic per fragment, for JSON that is invalid but readable. */
static void report_json_oddities(struct ctf2_parser *parser, const struct json_tree *tree)
{
    struct json_value place = *tree->root;
    place.token.offset = tree->commas_offset;
    if (tree->commas)
        ctf2_add_diagnostic(parser, TTR_SEVERITY_ODD, &place, "ctf.comma",
                            "a comma before a closing bracket, which JSON does not allow");
    place.token.offset = tree->replaced_offset;
    if (tree->replaced)
        ctf2_add_diagnostic(parser, TTR_SEVERITY_ODD, &place, "ctf.utf8",
                            "text is not valid UTF-8: invalid bytes are replaced with U+FFFD");
}

/* Reports that the metadata end inside the last fragment, as after a crash of the tracer. Record
 * separators exist to detect this (RFC 7464 section 2.4). Fails if the complete fragments declare
 * no data stream class, since no stream can be read then. */
static void report_cut_fragment(struct ctf2_parser *parser, size_t begin)
{
    struct json_value place = {.token.offset = begin};
    ctf2_add_diagnostic(parser, TTR_SEVERITY_DAMAGE, &place, "ctf.cut-metadata",
                        "the metadata end inside this fragment");
}

static ttr_status read_fragment(struct ctf2_parser *parser, size_t begin, size_t end)
{
    static const struct json_limits limits = {
        .depth = JSON_DEPTH, .allows_trailing_commas = true, .memory = JSON_MEMORY};
    struct json_tree tree;
    ttr_error error;
    arena_reset(&parser->scratch);
    struct cursor cursor = cursor_init(parser->text->p + begin, end - begin, begin);
    ttr_status status = json_tree_read(&tree, &parser->scratch, cursor, &limits, &error);
    if (status == TTR_E_NOMEM)
        return fail_memory(parser->error);
    if (status == TTR_E_TRUNCATED && end == parser->text->n && parser->description->streams_n) {
        report_cut_fragment(parser, begin);
        return TTR_OK;
    }
    if (status != TTR_OK)
        return ctf2_fail_text(parser, status, error.offset, "%s", error.text);
    report_json_oddities(parser, &tree);
    return read_fragment_tree(parser, tree.root);
}

static bool is_all_blank(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!memchr(" \t\r\n", p[i], 4))
            return false;
    return true;
}

static ttr_status read_fragments(struct ctf2_parser *parser)
{
    const struct ctf_text *text = parser->text;
    ttr_status status = TTR_OK;
    for (size_t begin = 0, end; begin < text->n && status == TTR_OK; begin = end + 1) {
        const char *separator = memchr(text->p + begin, RECORD_SEPARATOR, text->n - begin);
        end = separator ? (size_t)(separator - text->p) : text->n;
        if (!is_all_blank(text->p + begin, end - begin))
            status = read_fragment(parser, begin, end);
    }
    if (status == TTR_OK && !parser->state->has_preamble)
        return ctf2_fail_text(parser, TTR_E_MALFORMED, text->n,
                              "expected a preamble, found no fragment");
    return status;
}

ttr_status ctf2_parse(struct ctf_description *description, const struct ctf_text *text,
                      ttr_error *error)
{
    struct ctf2_parser parser = {
        .description = description, .state = description->parser, .text = text, .error = error};
    parser.fragment = "fragment";
    if (!parser.state) {
        parser.state = ctf2_alloc(&parser, 1, sizeof *parser.state);
        if (!parser.state)
            return TTR_E_NOMEM;
        description->parser = parser.state;
        description->version = CTF_2;
        description->name = description->ns = description->uid = description->attributes =
            (ttr_text){"", 0};
    }
    arena_init(&parser.scratch, description->alloc);
    ttr_status status = read_fragments(&parser);
    arena_free(&parser.scratch);
    return status;
}
