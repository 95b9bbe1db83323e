/* Printer of RFC v1.1 metadata. Parsing its text results in the same description.
 *
 * Named types come first, nested types before the types that contain them. All declare their
 * alignment, so that the layout does not depend on the architecture. Rejected, with the position,
 * because the RFC cannot express the encoding: variants, optionals, booleans, flags, numbers of
 * variable size, text and bytes with a length in another field, contexts of single events as
 * separate structs, packet contexts, and headers other than its two. Purely descriptive data become
 * extensions or are dropped. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/metadata/rfc11/rfc11_types.h"

struct printer {
    const struct ctf_description *description;
    struct buffer *to;
    struct arena arena; /* memory of the keys and entries of `named` */
    /* maps each name to the type that the text declares with that name */
    struct rfc11_names named;
    struct pair_map
        /* maps each visited type to 1 if the text declares it by name, else to 0 */
        visited;
    ttr_error *error;
    ttr_status status;
    /* stream class that is being printed, for messages */
    const struct ctf_stream_class *stream;
    const struct ctf_event_class *event;
};

static bool print_format(struct printer *p, const char *format, ...) TTR_PRINTF(2, 3);
static bool print_format(struct printer *p, const char *format, ...)
{
    char text[160];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    buffer_add(p->to, text, n < 0 ? 0 : (size_t)n);
    return true;
}

/* Sets the error that RFC v1.1 cannot express a field. Always returns false. */
static bool fail_inexpressible(struct printer *p, ttr_text field, const char *what)
{
    char place[200] = "";
    int n = 0;
    if (p->stream && p->stream->name.n)
        n = snprintf(place, sizeof place, ", in section %.*s",
                     (int)(p->stream->name.n < 40 ? p->stream->name.n : 40), p->stream->name.p);
    if (p->event)
        n += snprintf(place + n, sizeof place - (size_t)n, ", event %.*s",
                      (int)(p->event->name.n < 40 ? p->event->name.n : 40), p->event->name.p);
    if (field.n)
        (void)snprintf(place + n, sizeof place - (size_t)n, ", field %.*s",
                       (int)(field.n < 40 ? field.n : 40), field.p);
    p->status = fail(p->error, TTR_E_UNSUPPORTED, NO_OFFSET, "RFC v1.1 has no %s%s", what, place);
    return false;
}

static bool fail_printer_out_of_memory(struct printer *p)
{
    p->status = fail_memory(p->error);
    return false;
}

static bool is_identifier(ttr_text name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return name.n > 0;
}

static void print_string_literal(struct printer *p, ttr_text text)
{
    buffer_add_byte(p->to, '"');
    for (size_t i = 0; i < text.n; i++) {
        uint8_t c = (uint8_t)text.p[i];
        if (c < ' ' || c == 0x7f)
            (void)print_format(p, "\\%03o", c);
        else if (c == '"' || c == '\\')
            (void)print_format(p, "\\%c", c);
        else
            buffer_add_byte(p->to, c);
    }
    buffer_add_byte(p->to, '"');
}

/* Prints a name as a word if possible, else as a string. */
static void print_name_or_string(struct printer *p, ttr_text name)
{
    if (is_identifier(name))
        buffer_add(p->to, name.p, name.n);
    else
        print_string_literal(p, name);
}

static void print_indent(struct printer *p, unsigned indent)
{
    for (unsigned i = 0; i < indent; i++)
        buffer_add_text(p->to, "    ");
}

/* --- Printing of types --- */

static const char *inexpressible_kind_reason(uint8_t kind)
{
    static const char *const texts[TYPE_KIND_COUNT] = {
        [TYPE_NONE] = "type for nothing",
        [TYPE_BITS] = "bits that are no number",
        [TYPE_BOOL] = "booleans",
        [TYPE_FLAGS] = "flags",
        [TYPE_VAR_UINT] = "numbers of variable size",
        [TYPE_VAR_INT] = "numbers of variable size",
        [TYPE_TEXT] = "text of a length given beforehand",
        [TYPE_BLOB] = "bytes without structure",
        [TYPE_OPTIONAL] = "optional fields",
        [TYPE_VARIANT] = "variants",
    };
    return kind < TYPE_KIND_COUNT ? texts[kind] : texts[TYPE_NONE];
}

/* Returns why RFC v1.1 cannot express a type, without looking at the types inside it; NULL if it
 * can. */
static const char *find_inexpressible_reason(const struct type *type)
{
    const char *kind = inexpressible_kind_reason(type->kind);
    if (kind)
        return kind;
    if (type->is_reversed)
        return "reversed bits";
    if (type->role)
        return "fields with a role";
    bool is_number = type->kind == TYPE_UINT || type->kind == TYPE_INT;
    if (type->kind == TYPE_FLOAT && type->bits != 32 && type->bits != 64)
        return "floating-point numbers of other sizes than 32 and 64 bits";
    if (is_number && type->bits > 64)
        return "integers of more than 64 bits";
    if (type->kind == TYPE_SEQUENCE && !type->has_inline_length)
        return "sequences with their length in another field";
    if (type->kind == TYPE_STRING && (type->bits != 8 || type->encoding > ENCODING_ASCII))
        return "strings of another encoding than UTF-8 and ASCII";
    return NULL;
}

static bool print_type_use(struct printer *p, const struct type *type, unsigned indent,
                           ttr_text field);

bool rfc11_can_list_labels(const struct type_labels *labels)
{
    const uint64_t values = type_labels_value_count(labels);
    return values <= RFC11_LABELS_MIN || values / RFC11_LABELS_EACH <= labels->entries;
}

static bool print_map(struct printer *p, const struct type *type, ttr_text field)
{
    if (!rfc11_can_list_labels(type->labels))
        return fail_inexpressible(p, field, "ranges of so many values in enumerations");
    (void)print_format(p, " map = {");
    for (uint32_t i = 0; i < type->labels->n; i++) {
        const struct type_label *label = &type->labels->label[i];
        for (uint32_t k = 0; k < label->ranges_n; k++) {
            uint64_t more = label->ranges[k].high - label->ranges[k].low;
            for (uint64_t x = 0; x <= more; x++) {
                uint64_t value = label->ranges[k].low + x;
                (void)(type->kind == TYPE_INT ? print_format(p, " { %" PRId64 ", ", (int64_t)value)
                                              : print_format(p, " { %" PRIu64 ", ", value));
                print_name_or_string(p, label->name);
                (void)print_format(p, " },");
            }
        }
    }
    return print_format(p, " };");
}

static bool print_integer_type(struct printer *p, const struct type *type, ttr_text field)
{
    (void)print_format(p, "parent = %s; size = %u; signed = %s; align = %u;",
                       type->labels ? "enum"
                       : type->unit ? "gcc_bitfield"
                                    : "integer",
                       type->bits, type->kind == TYPE_INT ? "true" : "false", 1u << type->align);
    if (type->unit)
        (void)print_format(p, " unit_size = %u;", type->unit);
    if (type->is_big_endian != p->description->is_big_endian)
        (void)print_format(p, " byte_order = %s;", type->is_big_endian ? "be" : "le");
    if (type->base)
        (void)print_format(p, " base = %u;", type->base);
    if (type->kind == TYPE_FLOAT)
        return print_format(p, " float = true;");
    return !type->labels || print_map(p, type, field);
}

static void print_declared_align(struct printer *p, const struct type *type)
{
    if (type->minimum_align)
        (void)print_format(p, " align = %u;", 1u << type->minimum_align);
}

static bool print_struct_type(struct printer *p, const struct type *type, unsigned indent)
{
    (void)print_format(p, "parent = struct;");
    print_declared_align(p, type);
    (void)print_format(p, " fields = {\n");
    for (uint32_t i = 0; i < type->members_n; i++) {
        print_indent(p, indent + 1);
        (void)print_format(p, "{ ");
        if (!print_type_use(p, type->members[i].type, indent + 1, type->members[i].name))
            return false;
        (void)print_format(p, ", ");
        print_name_or_string(p, type->members[i].name);
        (void)print_format(p, " },\n");
    }
    print_indent(p, indent);
    return print_format(p, "};");
}

static bool print_list_type(struct printer *p, const struct type *type, unsigned indent,
                            ttr_text field)
{
    bool is_array = type->kind == TYPE_ARRAY;
    (void)print_format(p, "parent = %s;", is_array ? "array" : "sequence");
    print_declared_align(p, type);
    if (is_array) {
        (void)print_format(p, " length = %" PRIu64 ";", type->count);
    } else {
        (void)print_format(p, " length_type = ");
        if (!print_type_use(p, type->length_type, indent, field))
            return false;
        (void)print_format(p, ";");
        if (type->length_member.n) {
            (void)print_format(p, " length_field = ");
            print_name_or_string(p, type->length_member);
            (void)print_format(p, ";");
        }
    }
    (void)print_format(p, " elem_type = ");
    return print_type_use(p, type->element, indent, field) && print_format(p, ";");
}

/* Prints the attributes between the braces of a type. */
static bool print_type_body(struct printer *p, const struct type *type, unsigned indent,
                            ttr_text field)
{
    const char *why = find_inexpressible_reason(type);
    if (why)
        return fail_inexpressible(p, field, why);
    switch (type->kind) {
    case TYPE_STRUCT:
        return print_struct_type(p, type, indent);
    case TYPE_ARRAY:
    case TYPE_SEQUENCE:
        return print_list_type(p, type, indent, field);
    case TYPE_STRING:
        (void)print_format(p, "parent = string;");
        print_declared_align(p, type);
        return print_format(p, " encoding = %s;",
                            type->encoding == ENCODING_ASCII ? "ASCII" : "UTF8");
    default:
        return print_integer_type(p, type, field);
    }
}

/* Prints a type where it is used: by its name if the text declares it, else in full. */
static bool print_type_use(struct printer *p, const struct type *type, unsigned indent,
                           ttr_text field)
{
    const uint32_t *is_named = pair_map_get(&p->visited, (uintptr_t)type, 0);
    if (is_named && *is_named) {
        buffer_add(p->to, type->name.p, type->name.n);
        return true;
    }
    return print_format(p, "type { ") && print_type_body(p, type, indent, field) &&
           print_format(p, " }");
}

/* Declares a type by its name, unless the text already uses that name for another type. */
static bool declare_type(struct printer *p, const struct type *type, ttr_text field)
{
    bool has_name = is_identifier(type->name) && !rfc11_is_root_name(type->name) &&
                    !rfc11_names_find(&p->named, type->name);
    if (!pair_map_put(&p->visited, (uintptr_t)type, 0, has_name))
        return fail_printer_out_of_memory(p);
    if (!has_name)
        return true;
    /* only the name matters: any pointer but NULL may be stored */
    if (!rfc11_names_add(&p->named, &p->arena, type->name, p))
        return fail_printer_out_of_memory(p);
    (void)print_format(p, "type ");
    print_name_or_string(p, type->name);
    (void)print_format(p, " { ");
    return print_type_body(p, type, 0, field) && print_format(p, " }\n");
}

/* Prints the declarations of all named types inside a type, innermost first. */
static bool declare_nested_types(struct printer *p, const struct type *type, unsigned depth,
                                 ttr_text field)
{
    if (!type || pair_map_get(&p->visited, (uintptr_t)type, 0))
        return true;
    if (depth > TYPE_DEPTH_MAX)
        return fail_inexpressible(p, field, "room for types so deep inside one another");
    if (find_inexpressible_reason(type))
        return fail_inexpressible(p, field, find_inexpressible_reason(type));
    for (uint32_t i = 0; i < type->members_n; i++)
        if (!declare_nested_types(p, type->members[i].type, depth + 1, type->members[i].name))
            return false;
    return declare_nested_types(p, type->length_type, depth + 1, field) &&
           declare_nested_types(p, type->element, depth + 1, field) && declare_type(p, type, field);
}

/* --- Printing of blocks --- */

static const ttr_text no_field = {"", 0};

static void print_uuid_text(struct printer *p, const char *name, const uint8_t uuid[16])
{
    (void)print_format(p, "    %s = \"", name);
    for (size_t i = 0; i < 16; i++)
        (void)print_format(p, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    (void)print_format(p, "\";\n");
}

static void print_line_start(struct printer *p, const char *name, ttr_text text)
{
    (void)print_format(p, "    %s = ", name);
    print_name_or_string(p, text);
    (void)print_format(p, ";\n");
}

/* Prints the extensions that describe a clock. Clocks without a name are called "clock". */
static void print_clock_extensions(struct printer *p, const struct ctf_clock *clock)
{
    ttr_text name = clock->name.n ? clock->name : clock->id;
    if (name.n && !(name.n == 5 && memcmp(name.p, "clock", 5) == 0))
        print_line_start(p, "clock_name", name);
    if (clock->description.n)
        print_line_start(p, "clock_description", clock->description);
    if (clock->has_uuid)
        print_uuid_text(p, "clock_uuid", clock->uuid);
    if (clock->has_precision)
        (void)print_format(p, "    clock_precision = %" PRIu64 ";\n", clock->precision);
}

static bool print_clock_keys(struct printer *p, const struct ctf_clock *clock)
{
    bool has_own_origin = !clock->is_unix && (clock->offset_s || clock->offset_cycles);
    (void)print_format(p, "    clock_freq = %" PRIu64 ";\n", clock->frequency);
    print_clock_extensions(p, clock);
    if (!clock->is_unix && !has_own_origin)
        return true;
    (void)print_format(p, "    clock_offset_s = %" PRId64 ";\n    clock_offset = %" PRId64 ";\n",
                       clock->offset_s, clock->offset_cycles);
    return !has_own_origin || print_format(p, "    clock_absolute = false;\n");
}

static bool print_trace_block(struct printer *p)
{
    const struct ctf_description *d = p->description;
    const struct ctf_clock *clock = NULL;
    bool is_natural = d->alignment == CTF_ALIGN_NATURAL_64 || d->alignment == CTF_ALIGN_NATURAL_32;
    for (size_t i = 0; i < d->streams_n; i++) {
        if (clock && d->streams[i]->clock && d->streams[i]->clock != clock)
            return fail_inexpressible(p, no_field, "second clock");
        clock = clock ? clock : d->streams[i]->clock;
    }
    if (!clock && d->clocks_n)
        clock = d->clocks[0];
    (void)print_format(p, "trace {\n    major = 1;\n    minor = 1;\n    alignment = %s;\n",
                       is_natural ? "natural" : "packed");
    if (is_natural)
        (void)print_format(p, "    word_size = %u;\n",
                           d->alignment == CTF_ALIGN_NATURAL_32 ? 32 : 64);
    if (d->has_uuid)
        print_uuid_text(p, "uuid", d->uuid);
    if (d->rfc_discarded_at_end)
        (void)print_format(p, "    discarded_at_end = true;\n");
    return (!clock || print_clock_keys(p, clock)) && print_format(p, "}\n");
}

/* Returns true if an event context is exactly the one that event_size = true implies. */
static bool is_implied_size_context(const struct ctf_description *d, const struct type *context)
{
    uint8_t align =
        d->alignment == CTF_ALIGN_NATURAL_64 || d->alignment == CTF_ALIGN_NATURAL_32 ? 4 : 3;
    if (context->members_n != 1 || context->minimum_align ||
        !type_find_member(context, (ttr_text){"payload_size", 12}))
        return false;
    const struct type *size = context->members[0].type;
    return size->kind == TYPE_UINT && size->bits == 16 && size->align == align &&
           size->is_big_endian == d->is_big_endian && !size->labels && !size->unit && !size->base &&
           !size->role;
}

static bool print_context_block(struct printer *p, const struct ctf_stream_class *stream)
{
    bool is_plain = stream->rfc_has_event_size && stream->event_context &&
                    is_implied_size_context(p->description, stream->event_context);
    (void)print_format(p, "        context {\n            event_size = %s;\n",
                       stream->rfc_has_event_size ? "true" : "false");
    if (stream->event_context && !is_plain) {
        (void)print_format(p, "            context_type = ");
        if (!print_type_use(p, stream->event_context, 3, no_field))
            return false;
        (void)print_format(p, ";\n");
    }
    return print_format(p, "        }\n");
}

static bool print_section_block(struct printer *p, size_t index)
{
    const struct ctf_stream_class *stream = p->description->streams[index];
    p->stream = stream;
    p->event = NULL;
    if (!stream->name.n)
        return fail_inexpressible(p, no_field, "sections without a name");
    if (stream->rfc_header != 1 && stream->rfc_header != 2)
        return fail_inexpressible(p, no_field, "event headers other than its two");
    if (stream->packet_context)
        return fail_inexpressible(p, no_field, "packet contexts");
    bool has_inside =
        stream->event_context && !(stream->rfc_has_event_size &&
                                   is_implied_size_context(p->description, stream->event_context));
    if (has_inside && !declare_nested_types(p, stream->event_context, 0, no_field))
        return false;
    (void)print_format(p, "section {\n    name = ");
    print_name_or_string(p, stream->name);
    (void)print_format(p, ";\n");
    if (stream->id != index)
        (void)print_format(p, "    id = %" PRIu64 ";\n", stream->id);
    (void)print_format(p, "    event {\n        header_type = type%u;\n", stream->rfc_header);
    if (stream->rfc_has_no_time)
        (void)print_format(p, "        timestamps = false;\n");
    return print_context_block(p, stream) && print_format(p, "    }\n}\n");
}

static bool print_event_block(struct printer *p, const struct ctf_event_class *event)
{
    p->event = event;
    if (event->context)
        return fail_inexpressible(p, no_field, "contexts of single events");
    if (event->id > UINT32_MAX)
        return fail_inexpressible(p, no_field, "event ids of more than 32 bits");
    if (!declare_nested_types(p, event->payload, 0, no_field))
        return false;
    (void)print_format(p, "event {\n");
    if (event->name.n) {
        (void)print_format(p, "    name = ");
        print_name_or_string(p, event->name);
        (void)print_format(p, ";\n");
    }
    (void)print_format(p, "    id = %" PRIu64 ";\n    section = ", event->id);
    print_name_or_string(p, p->stream->name);
    (void)print_format(p, ";\n");
    if (event->has_log_level)
        (void)print_format(p, "    loglevel = %" PRId64 ";\n", event->log_level);
    if (event->emf_uri.n)
        print_line_start(p, "emf_uri", event->emf_uri);
    if (event->payload && event->payload->context_n)
        (void)print_format(p, "    context_fields = %" PRIu32 ";\n", event->payload->context_n);
    if (event->payload) {
        (void)print_format(p, "    fields = ");
        if (!print_type_use(p, event->payload, 1, no_field))
            return false;
        (void)print_format(p, ";\n");
    }
    return print_format(p, "}\n");
}

/* Prints the environment, without entries that have a name that is not a word of the language. */
static void print_env_block(struct printer *p)
{
    const struct ctf_description *d = p->description;
    if (d->environment_n)
        (void)print_format(p, "env {\n");
    for (size_t i = 0; i < d->environment_n; i++) {
        const struct ctf_environment *entry = &d->environment[i];
        if (!is_identifier(entry->name))
            continue;
        (void)print_format(p, "    ");
        print_name_or_string(p, entry->name);
        (void)print_format(p, " = ");
        if (entry->is_number)
            (void)print_format(p, "%" PRId64, entry->number);
        else
            print_string_literal(p, entry->text);
        (void)print_format(p, ";\n");
    }
    if (d->environment_n)
        (void)print_format(p, "}\n");
}

static bool print_metadata(struct printer *p)
{
    const struct ctf_description *d = p->description;
    if (!print_format(p, "/* Common Trace Format, RFC v1.1 */\n") || !print_trace_block(p))
        return false;
    print_env_block(p);
    for (size_t i = 0; i < d->streams_n; i++) {
        if (!print_section_block(p, i))
            return false;
        for (size_t k = 0; k < d->streams[i]->events_n; k++)
            if (!print_event_block(p, d->streams[i]->events[k]))
                return false;
    }
    return true;
}

ttr_status rfc11_print(const struct ctf_description *description, struct buffer *to,
                       ttr_error *error)
{
    struct printer p = {.description = description, .to = to, .error = error};
    arena_init(&p.arena, to->alloc);
    pair_map_init(&p.visited, to->alloc);
    (void)print_metadata(&p);
    pair_map_free(&p.visited);
    arena_free(&p.arena);
    return p.status == TTR_OK && to->failed ? fail_memory(error) : p.status;
}
