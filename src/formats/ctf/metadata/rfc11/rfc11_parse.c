/* Parses the metadata of RFC v1.1: the blocks trace, section and event (section 7), and the syntax
 * common to all blocks. Types are parsed by rfc11_declare.c.
 *
 *   metadata  = { ("type" | "abstract_type") NAME body | "trace" block | "env" block |
 *                 "section" block | "event" block }
 *   block     = "{" { ["."] NAME ("=" value ";" | block) } "}" [";"]
 *
 * src/formats/ctf/rfc-v1.1.md has the complete grammar. Unknown attributes and blocks are skipped
 * with a diagnostic. The complete RFC is supported. Floats, which it calls "unneeded" (4.1.7), are
 * an extension. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/metadata/rfc11/rfc11_types.h"

static bool name_equals(const struct rfc11_token *name, const char *text)
{
    return name->text.n == strlen(text) && memcmp(name->text.p, text, name->text.n) == 0;
}

/* Callback of parse_block() for each attribute or inner block of `{ ... }`; `to` is the struct that
 * it fills in. */
typedef bool (*block_parser)(struct rfc11_parser *parser, const struct rfc11_token *name,
                             bool is_block, void *to);

#define STATED_MAX 16u /* maximum number of attributes that any block has */

/* Fails if a block declares a known attribute twice, since the two values would contradict each
 * other. */
static bool check_declared_once(struct rfc11_parser *parser, const struct rfc11_token *name,
                                ttr_text stated[STATED_MAX], size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        if (stated[i].n == name->text.n && memcmp(stated[i].p, name->text.p, name->text.n) == 0)
            return rfc11_fail_at(&parser->lexer, name->at, "the block states this twice");
    if (*n < STATED_MAX)
        stated[(*n)++] = name->text;
    return true;
}

static bool parse_block(struct rfc11_parser *parser, block_parser parse, void *to)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    struct rfc11_token name;
    ttr_text stated[STATED_MAX];
    size_t stated_n = 0;
    bool is_block = false;
    if (!rfc11_expect_mark(lexer, '{'))
        return false;
    while (!rfc11_is_mark(lexer, '}')) {
        const uint64_t repeatable = parser->repeatable;
        if (!rfc11_begin_attribute(parser, &name, &is_block) || !parse(parser, &name, is_block, to))
            return false;
        if (parser->repeatable == repeatable &&
            !check_declared_once(parser, &name, stated, &stated_n))
            return false;
    }
    return rfc11_next_token(lexer) && rfc11_end_attribute(parser, true);
}

/* --- Block "trace" --- */

struct trace_block {
    struct rfc11_token major, minor;
    enum ctf_alignment alignment;
    bool has_alignment;
    /* has_origin: the text declares clock_absolute; is_absolute: its value */
    bool has_origin, is_absolute;
};

static bool parse_unsigned_number(struct rfc11_parser *parser, uint64_t least, uint64_t most,
                                  uint64_t *value)
{
    struct rfc11_token number;
    if (!rfc11_parse_number(&parser->lexer, &number, "a number"))
        return false;
    if (number.is_negative || number.value < least || number.value > most)
        return rfc11_fail_at(&parser->lexer, number.at, "expected a number from %llu to %llu",
                             (unsigned long long)least, (unsigned long long)most);
    *value = number.value;
    return true;
}

static bool parse_signed_number(struct rfc11_parser *parser, int64_t *value)
{
    struct rfc11_token number;
    if (!rfc11_parse_number(&parser->lexer, &number, "a number"))
        return false;
    if (!number.is_negative && number.value > INT64_MAX)
        return rfc11_fail_at(&parser->lexer, number.at,
                             "the number does not fit in 64 signed bits");
    *value = (int64_t)(number.is_negative ? 0 - number.value : number.value);
    return true;
}

static bool parse_alignment(struct rfc11_parser *parser, struct trace_block *trace)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    trace->has_alignment = true;
    trace->alignment = rfc11_is_word(lexer, "packed") ? CTF_ALIGN_PACKED : CTF_ALIGN_NATURAL_64;
    if (trace->alignment != CTF_ALIGN_PACKED && !rfc11_is_word(lexer, "natural"))
        return rfc11_fail_expected(lexer, "packed or natural");
    return rfc11_next_token(lexer);
}

static bool parse_word_size(struct rfc11_parser *parser)
{
    uint64_t bits = 0;
    size_t at = parser->lexer.token.at;
    if (!parse_unsigned_number(parser, 32, 64, &bits))
        return false;
    parser->state->word_size = (uint32_t)bits;
    return bits == 32 || bits == 64 ||
           rfc11_fail_at(&parser->lexer, at, "expected a word_size of 32 or 64 bits");
}

/* Parses the offset of the clock, an extension of the RFC (decision 11). A clock with an offset
 * counts from 1970, unless clock_absolute is false (decision 53). */
static bool parse_clock_offset(struct rfc11_parser *parser, int64_t *to)
{
    parser->state->clock->is_unix = true;
    return parse_signed_number(parser, to);
}

static int hex_digit_value(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* Parses a UUID. Skips any other value, since tracers may use the attribute for something else. */
static bool parse_uuid_value(struct rfc11_parser *parser, uint8_t uuid[16], bool *has_uuid)
{
    size_t at = parser->lexer.token.at, digits = 0;
    uint8_t taken[16] = {0};
    ttr_text text;
    bool is_one = true;
    if (!rfc11_parse_name(&parser->lexer, &text, "a UUID"))
        return false;
    for (size_t i = 0; i < text.n && is_one; i++) {
        int digit = hex_digit_value(text.p[i]);
        is_one = text.p[i] == '-' || (digit >= 0 && digits < 32);
        if (!is_one || digit < 0)
            continue;
        taken[digits / 2] = (uint8_t)(taken[digits / 2] << 4 | digit);
        digits++;
    }
    *has_uuid = is_one && digits == 32;
    if (*has_uuid)
        memcpy(uuid, taken, sizeof taken);
    else
        rfc11_add_diagnostic(parser, TTR_SEVERITY_ODD, at, "ctf.unknown-attribute",
                             "expected a UUID of 32 hexadecimal digits: this was passed over");
    return true;
}

/* Parses an attribute that describes the clock; all are extensions of the RFC. Returns false if
 * the name is not such an attribute. `*is_good`: the value is valid. */
static bool parse_clock_attribute(struct rfc11_parser *parser, const struct rfc11_token *name,
                                  bool *is_good)
{
    struct ctf_clock *clock = parser->state->clock;
    if (name_equals(name, "clock_freq")) {
        *is_good = parse_unsigned_number(parser, 1, UINT64_MAX, &clock->frequency);
    } else if (name_equals(name, "clock_offset_s")) {
        *is_good = parse_clock_offset(parser, &clock->offset_s);
    } else if (name_equals(name, "clock_offset")) {
        *is_good = parse_clock_offset(parser, &clock->offset_cycles);
    } else if (name_equals(name, "clock_name")) {
        *is_good = rfc11_parse_name(&parser->lexer, &clock->name, "the name of the clock");
        clock->id = clock->name;
    } else if (name_equals(name, "clock_description")) {
        *is_good = rfc11_parse_name(&parser->lexer, &clock->description, "a string");
    } else if (name_equals(name, "clock_uuid")) {
        *is_good = parse_uuid_value(parser, clock->uuid, &clock->has_uuid);
    } else if (name_equals(name, "clock_precision")) {
        clock->has_precision = true;
        *is_good = parse_unsigned_number(parser, 0, UINT64_MAX, &clock->precision);
    } else {
        return false;
    }
    return true;
}

static bool parse_trace_attribute(struct rfc11_parser *parser, const struct rfc11_token *name,
                                  bool is_block, void *to)
{
    struct trace_block *trace = to;
    bool is_good;
    if (is_block)
        return rfc11_skip_unknown(parser, name, "the trace");
    if (name_equals(name, "major"))
        is_good = rfc11_parse_number(&parser->lexer, &trace->major, "a number");
    else if (name_equals(name, "minor"))
        is_good = rfc11_parse_number(&parser->lexer, &trace->minor, "a number");
    else if (name_equals(name, "alignment"))
        is_good = parse_alignment(parser, trace);
    else if (name_equals(name, "word_size"))
        is_good = parse_word_size(parser);
    else if (name_equals(name, "clock_absolute"))
        is_good = trace->has_origin = rfc11_parse_bool(parser, &trace->is_absolute);
    else if (name_equals(name, "discarded_at_end")) /* decision 54 */
        is_good = rfc11_parse_bool(parser, &parser->description->rfc_discarded_at_end);
    else if (name_equals(name, "uuid"))
        is_good =
            parse_uuid_value(parser, parser->description->uuid, &parser->description->has_uuid);
    else if (!parse_clock_attribute(parser, name, &is_good))
        return rfc11_skip_unknown(parser, name, "the trace");
    return is_good && rfc11_end_attribute(parser, false);
}

static bool check_version(struct rfc11_parser *parser, const struct trace_block *trace, size_t at)
{
    if (trace->major.kind != RFC11_NUMBER || trace->minor.kind != RFC11_NUMBER)
        return rfc11_fail_at(&parser->lexer, at,
                             "the trace states no version: expected major = 1; minor = 1;");
    if (trace->major.is_negative || trace->major.value != 1 || trace->minor.is_negative ||
        trace->minor.value > 1) {
        (void)rfc11_fail_at(&parser->lexer, trace->major.at,
                            "this version is not known: expected major = 1; minor = 1;");
        parser->lexer.status = TTR_E_UNSUPPORTED;
        if (parser->lexer.error)
            parser->lexer.error->status = TTR_E_UNSUPPORTED;
        return false;
    }
    if (trace->minor.value == 0)
        rfc11_add_diagnostic(parser, TTR_SEVERITY_ODD, trace->minor.at, "ctf.version",
                             "this is version 1.0; it is read as 1.1");
    parser->description->minor = (uint32_t)trace->minor.value;
    return true;
}

static bool parse_trace(struct rfc11_parser *parser)
{
    struct trace_block trace = {.has_alignment = false};
    struct ctf_description *d = parser->description;
    size_t at = parser->lexer.token.at;
    if (parser->state->has_trace)
        return rfc11_fail_at(&parser->lexer, at, "the trace was described before");
    if (!parse_block(parser, parse_trace_attribute, &trace) || !check_version(parser, &trace, at))
        return false;
    parser->state->has_trace = true;
    if (trace.has_origin)
        parser->state->clock->is_unix = trace.is_absolute;
    if (trace.has_alignment)
        d->alignment = trace.alignment == CTF_ALIGN_PACKED ? CTF_ALIGN_PACKED
                       : parser->state->word_size == 32    ? CTF_ALIGN_NATURAL_32
                                                           : CTF_ALIGN_NATURAL_64;
    parser->states_alignment |= trace.has_alignment;
    return true;
}

/* --- Block "env", an extension: the environment, as in CTF 1.8 --- */

static bool parse_environment_entry(struct rfc11_parser *parser, const struct rfc11_token *name,
                                    bool is_block, void *to)
{
    struct ctf_environment entry = {.text = {"", 0}};
    (void)to;
    parser->repeatable++;
    if (is_block)
        return rfc11_skip_unknown(parser, name, "the environment");
    entry.is_number = parser->lexer.token.kind == RFC11_NUMBER;
    bool is_good = entry.is_number
                       ? parse_signed_number(parser, &entry.number)
                       : rfc11_parse_name(&parser->lexer, &entry.text, "a number or a string");
    const char *ctx =
        is_good ? arena_copy(&parser->description->arena, name->text.p, name->text.n) : NULL;
    struct ctf_environment *place = ctx ? ctf_add_environment(parser->description) : NULL;
    if (is_good && !place)
        return rfc11_fail_memory(&parser->lexer);
    entry.name = (ttr_text){ctx, name->text.n};
    if (place)
        *place = entry;
    return is_good && rfc11_end_attribute(parser, false);
}

static bool parse_environment(struct rfc11_parser *parser)
{
    return parse_block(parser, parse_environment_entry, NULL);
}

/* Parses the use of a struct: the name of a type, or only a list of fields. */
static const struct rfc11_type *parse_struct_use(struct rfc11_parser *parser)
{
    bool is_list = rfc11_is_mark(&parser->lexer, '{') || rfc11_is_mark(&parser->lexer, '[');
    return is_list ? rfc11_parse_fields(parser) : rfc11_parse_type(parser);
}

/* --- Block "section" --- */

struct section_block {
    ttr_text name;
    size_t name_at, context_at;
    bool has_name;
    uint8_t header;
    bool has_event_size;
    const struct rfc11_type *context;
    /* extensions */
    bool has_no_time, has_id;
    uint64_t id;
};

static bool parse_context_attribute(struct rfc11_parser *parser, const struct rfc11_token *name,
                                    bool is_block, void *to)
{
    struct section_block *section = to;
    if (!is_block && name_equals(name, "event_size"))
        return rfc11_parse_bool(parser, &section->has_event_size) &&
               rfc11_end_attribute(parser, false);
    if (is_block || !name_equals(name, "context_type"))
        return rfc11_skip_unknown(parser, name, "an event context");
    section->context_at = parser->lexer.token.at;
    section->context = parse_struct_use(parser);
    if (!section->context)
        return false;
    if (section->context->type.kind != TYPE_STRUCT)
        return rfc11_fail_at(&parser->lexer, section->context_at,
                             "the context of events is a type inheriting from struct");
    return rfc11_end_attribute(parser, true);
}

static bool parse_section_event_attribute(struct rfc11_parser *parser,
                                          const struct rfc11_token *name, bool is_block, void *to)
{
    struct section_block *section = to;
    struct rfc11_lexer *lexer = &parser->lexer;
    bool has_time = true;
    if (is_block && name_equals(name, "context"))
        return parse_block(parser, parse_context_attribute, to);
    if (!is_block && name_equals(name, "timestamps")) {
        bool is_good = rfc11_parse_bool(parser, &has_time);
        section->has_no_time = !has_time;
        return is_good && rfc11_end_attribute(parser, false);
    }
    if (is_block || !name_equals(name, "header_type"))
        return rfc11_skip_unknown(parser, name, "the events of a section");
    section->header = rfc11_is_word(lexer, "type1") ? 1 : 2;
    if (section->header == 2 && !rfc11_is_word(lexer, "type2"))
        return rfc11_fail_expected(lexer, "type1 or type2");
    return rfc11_next_token(lexer) && rfc11_end_attribute(parser, false);
}

static bool parse_section_attribute(struct rfc11_parser *parser, const struct rfc11_token *name,
                                    bool is_block, void *to)
{
    struct section_block *section = to;
    if (is_block && name_equals(name, "event"))
        return parse_block(parser, parse_section_event_attribute, to);
    section->has_id |= !is_block && name_equals(name, "id");
    if (!is_block && name_equals(name, "id"))
        return parse_unsigned_number(parser, 0, UINT64_MAX, &section->id) &&
               rfc11_end_attribute(parser, false);
    if (is_block || !name_equals(name, "name"))
        return rfc11_skip_unknown(parser, name, "a section");
    section->name_at = parser->lexer.token.at;
    section->has_name = true;
    return rfc11_parse_name(&parser->lexer, &section->name, "the name of the section") &&
           rfc11_end_attribute(parser, false);
}

static bool check_section(struct rfc11_parser *parser, const struct section_block *section,
                          size_t at)
{
    if (!section->has_name || section->name.n == 0)
        return rfc11_fail_at(&parser->lexer, at, "the section has no name");
    if (memchr(section->name.p, '/', section->name.n) ||
        memchr(section->name.p, '\0', section->name.n))
        return rfc11_fail_at(&parser->lexer, section->name_at,
                             "the name of a section is that of its files, so '/' cannot be in it");
    if (rfc11_names_find(&parser->state->sections, section->name))
        return rfc11_fail_at(&parser->lexer, section->name_at,
                             "a section of this name was declared before");
    if (!section->header)
        return rfc11_fail_at(&parser->lexer, at,
                             "the section declares no event header: expected event "
                             "{ header_type = type1; } or type2");
    if (!section->has_event_size || !section->context)
        return true;
    const struct type_member *size =
        type_find_member(&section->context->type, (ttr_text){"payload_size", 12});
    return (size && size->type->kind == TYPE_UINT) ||
           rfc11_fail_at(
               &parser->lexer, section->context_at,
               "event_size = true, but this structure has no unsigned field payload_size");
}

static bool parse_section(struct rfc11_parser *parser)
{
    struct section_block section = {.has_name = false};
    struct ctf_description *d = parser->description;
    size_t at = parser->lexer.token.at;
    if (!parse_block(parser, parse_section_attribute, &section) ||
        !check_section(parser, &section, at))
        return false;
    struct ctf_stream_class *stream = ctf_add_stream(d);
    if (!stream)
        return rfc11_fail_memory(&parser->lexer);
    stream->id = section.has_id ? section.id : d->streams_n - 1;
    stream->name = section.name;
    stream->offset = ctf_compute_text_offset(parser->lexer.text, at);
    stream->rfc_header = section.header;
    stream->rfc_has_event_size = section.has_event_size;
    stream->rfc_has_no_time = section.has_no_time;
    stream->event_context = section.context ? &section.context->type : NULL;
    return (rfc11_make_event_header(d, stream) &&
            rfc11_names_add(&parser->state->sections, &d->arena, stream->name, stream)) ||
           rfc11_fail_memory(&parser->lexer);
}

/* --- Block "event" --- */

struct event_block {
    ttr_text name;
    uint64_t id;
    size_t id_at, fields_at;
    bool has_id, has_level;
    struct ctf_stream_class *stream;
    const struct rfc11_type *fields;
    /* extensions */
    int64_t level;
    ttr_text emf_uri;
    uint64_t context_n;
};

static bool parse_section_name(struct rfc11_parser *parser, struct event_block *event)
{
    size_t at = parser->lexer.token.at;
    ttr_text name;
    if (!rfc11_parse_name(&parser->lexer, &name, "the name of a section"))
        return false;
    event->stream = rfc11_names_find(&parser->state->sections, name);
    return event->stream ||
           rfc11_fail_at(&parser->lexer, at, "no section of this name was declared up to here");
}

static bool parse_event_fields(struct rfc11_parser *parser, struct event_block *event)
{
    event->fields_at = parser->lexer.token.at;
    event->fields = parse_struct_use(parser);
    if (!event->fields)
        return false;
    return event->fields->type.kind == TYPE_STRUCT ||
           rfc11_fail_at(&parser->lexer, event->fields_at,
                         "the fields of an event are a type inheriting from struct");
}

static bool parse_event_attribute(struct rfc11_parser *parser, const struct rfc11_token *name,
                                  bool is_block, void *to)
{
    struct event_block *event = to;
    bool is_good;
    if (is_block)
        return rfc11_skip_unknown(parser, name, "an event");
    if (name_equals(name, "name")) {
        is_good = rfc11_parse_name(&parser->lexer, &event->name, "the name of the event");
    } else if (name_equals(name, "id")) {
        event->id_at = parser->lexer.token.at;
        event->has_id = true;
        is_good = parse_unsigned_number(parser, 0, UINT32_MAX, &event->id);
    } else if (name_equals(name, "section")) {
        is_good = parse_section_name(parser, event);
    } else if (name_equals(name, "loglevel")) {
        event->has_level = true;
        is_good = parse_signed_number(parser, &event->level);
    } else if (name_equals(name, "emf_uri")) {
        is_good = rfc11_parse_name(&parser->lexer, &event->emf_uri, "a string");
    } else if (name_equals(name, "context_fields")) {
        is_good = parse_unsigned_number(parser, 0, RFC11_FIELDS_MAX, &event->context_n);
    } else if (name_equals(name, "fields")) {
        return parse_event_fields(parser, event) && rfc11_end_attribute(parser, true);
    } else {
        return rfc11_skip_unknown(parser, name, "an event");
    }
    return is_good && rfc11_end_attribute(parser, false);
}

/* Checks section and id of an event. The section may be omitted if there is only one, and the id
 * if the section has no other event. Fails if another event of the section has this id. */
static bool check_event_identity(struct rfc11_parser *parser, struct event_block *event, size_t at)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    if (!event->stream && parser->description->streams_n == 1)
        event->stream = parser->description->streams[0];
    if (!event->stream)
        return rfc11_fail_at(
            lexer, at, "the event states no section, and there is not exactly one up to here");
    if (event->name.n == 0)
        rfc11_add_diagnostic(parser, TTR_SEVERITY_ODD, at, "ctf.unnamed-event",
                             "an event has no name");
    if (!event->has_id && event->stream->events_n)
        return rfc11_fail_at(lexer, at,
                             "the event states no id, and its section has another event");
    if (ctf_find_event(event->stream, event->id))
        return rfc11_fail_at(lexer, event->has_id ? event->id_at : at,
                             "the section has an event with this id already");
    return true;
}

static bool parse_event(struct rfc11_parser *parser)
{
    struct event_block block = {.name = {"", 0}};
    size_t at = parser->lexer.token.at;
    if (!parse_block(parser, parse_event_attribute, &block) ||
        !check_event_identity(parser, &block, at))
        return false;
    struct ctf_event_class *event = ctf_add_event(parser->description, block.stream, block.id);
    if (!event)
        return rfc11_fail_memory(&parser->lexer);
    event->name = block.name;
    event->offset = ctf_compute_text_offset(parser->lexer.text, at);
    event->has_log_level = block.has_level;
    event->log_level = block.level;
    event->emf_uri = block.emf_uri;
    if (block.fields && block.context_n)
        block.fields = rfc11_mark_context_members(parser, block.fields, (uint32_t)block.context_n);
    event->payload = block.fields ? &block.fields->type : NULL;
    return parser->lexer.status == TTR_OK;
}

/* --- Sequence of blocks --- */

/* Skips an unknown block up to its closing brace. */
static bool skip_unknown_block(struct rfc11_parser *parser)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    struct rfc11_token name = lexer->token;
    if (name.kind != RFC11_WORD)
        return rfc11_fail_expected(lexer, "trace, section, event, type or abstract_type");
    if (!rfc11_next_token(lexer))
        return false;
    if (lexer->token.kind == RFC11_WORD && !rfc11_next_token(lexer))
        return false;
    if (!rfc11_is_mark(lexer, '{'))
        return rfc11_fail_at(lexer, name.at,
                             "expected trace, section, event, type or abstract_type, found '%.*s'",
                             name.text.n < 40 ? (int)name.text.n : 40, name.text.p);
    return rfc11_skip_unknown(parser, &name, "the metadata");
}

static bool parse_top_level_block(struct rfc11_parser *parser)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    static const struct {
        const char *word;
        bool (*parse)(struct rfc11_parser *parser);
    } blocks[] = {{"trace", parse_trace},
                  {"env", parse_environment},
                  {"section", parse_section},
                  {"event", parse_event}};
    if (rfc11_is_mark(lexer, ';'))
        return rfc11_next_token(lexer);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (rfc11_is_word(lexer, blocks[i].word))
            return rfc11_next_token(lexer) && blocks[i].parse(parser);
    bool is_abstract = rfc11_is_word(lexer, "abstract_type");
    if (is_abstract || rfc11_is_word(lexer, "type"))
        return rfc11_next_token(lexer) && rfc11_parse_declaration(parser, is_abstract) &&
               rfc11_end_attribute(parser, true);
    return skip_unknown_block(parser);
}

ttr_status rfc11_parse(struct ctf_description *description, const struct ctf_text *text,
                       ttr_error *error)
{
    struct rfc11_state *state = rfc11_get_state(description);
    if (!state || (!description->packet_header && !rfc11_make_packet_header(description)))
        return fail_memory(error);
    description->version = CTF_RFC_1_1;
    struct rfc11_parser parser = {.description = description, .state = state};
    parser.lexer = (struct rfc11_lexer){.text = text, .arena = &description->arena, .error = error};
    bool is_good = rfc11_next_token(&parser.lexer);
    while (is_good && parser.lexer.token.kind != RFC11_END)
        is_good = parse_top_level_block(&parser);
    if (is_good && !state->has_trace)
        rfc11_add_diagnostic(
            &parser, TTR_SEVERITY_ODD, 0, "ctf.version",
            "the metadata have no block trace { major = 1; minor = 1; }; they are read as version "
            "1.1");
    if (parser.states_alignment)
        rfc11_set_alignment(
            description,
            description
                ->alignment); /* align the types that were declared before the trace block, too */
    else
        rfc11_align_new_types(description);
    return parser.lexer.status;
}
