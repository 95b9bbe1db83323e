/* Writes a description as text, with every property that a reader or printer may use. */
#include "support/describe.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "support/support.h"

static void put(struct buffer *to, const char *format, ...)
{
    char text[4096];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    assert_true(n >= 0 && (size_t)n < sizeof text);
    buffer_add(to, text, (size_t)n);
}

static void put_quoted(struct buffer *to, ttr_text text)
{
    put(to, "\"");
    for (size_t i = 0; i < text.n; i++) {
        unsigned char byte = (unsigned char)text.p[i];
        if (byte < 0x20 || byte > 0x7e || byte == '"' || byte == '\\')
            put(to, "\\x%02x", byte);
        else
            buffer_add_byte(to, byte);
    }
    put(to, "\"");
}

/* Appends a keyword and a text; appends nothing if the text is empty. */
static void put_named(struct buffer *to, const char *what, ttr_text text)
{
    if (text.n == 0)
        return;
    put(to, " %s ", what);
    put_quoted(to, text);
}

/* Appends a plain identifier as it is, any other name quoted. */
static void put_name(struct buffer *to, ttr_text name)
{
    bool is_plain = name.n > 0;
    for (size_t i = 0; i < name.n; i++)
        is_plain &= name.p[i] > ' ' && name.p[i] < 0x7f && !strchr("\"\\.,:()[]{}", name.p[i]);
    if (is_plain)
        buffer_add(to, name.p, name.n);
    else
        put_quoted(to, name);
}

static void put_ranges(struct buffer *to, const struct type_range *ranges, uint32_t n,
                       bool is_signed)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_signed)
            put(to, " %" PRId64 "..%" PRId64, (int64_t)ranges[i].low, (int64_t)ranges[i].high);
        else
            put(to, " %" PRIu64 "..%" PRIu64, ranges[i].low, ranges[i].high);
}

static void put_reference(struct buffer *to, const struct type_reference *reference)
{
    static const char *const roots[ROOT_COUNT] = {"packet-header",    "packet-context",
                                                  "event-header",     "common-context",
                                                  "specific-context", "payload"};
    put(to, "%s", roots[reference->root]);
    for (uint32_t i = 0; i < reference->names_n; i++) {
        put(to, ".");
        put_name(to, reference->names[i]);
    }
}

/* Appends "[16]" or "[payload.length]". */
static void put_length(struct buffer *to, const struct type *type)
{
    put(to, "[");
    if (type->has_inline_length) {
        put(to, "inline ");
        describe_type(to, type->length_type);
    } else if (type->reference.names_n) {
        put_reference(to, &type->reference);
    } else {
        put(to, "%" PRIu64, type->count);
    }
    put(to, "]");
}

static void put_members(struct buffer *to, const struct type *type)
{
    put(to, "(");
    for (uint32_t i = 0; i < type->members_n; i++) {
        const struct type_member *member = &type->members[i];
        put(to, i ? ", " : "");
        put_name(to, member->name);
        if (member->shown.n != member->name.n) {
            put(to, " as ");
            put_name(to, member->shown);
        }
        put_ranges(to, member->ranges, member->ranges_n, type->is_selector_signed);
        put(to, ": ");
        describe_type(to, member->type);
    }
    put(to, ")");
}

/* Appends the part before the alignment; for compound types, this is the last part. */
static void put_kind(struct buffer *to, const struct type *type)
{
    static const char *const names[TYPE_KIND_COUNT] = {
        "none",   "bits", "bool", "u",      "i",     "flags",    "f",        "vu",     "vi",
        "string", "text", "blob", "struct", "array", "sequence", "optional", "variant"};
    put(to, "%s", names[type->kind]);
    if (type->kind >= TYPE_BITS && type->kind <= TYPE_FLOAT)
        put(to, "%u %s%s", type->bits, type->is_big_endian ? "be" : "le",
            type->is_reversed ? " reversed" : "");
    if (type->kind == TYPE_TEXT || type->kind == TYPE_BLOB || type->kind == TYPE_ARRAY ||
        type->kind == TYPE_SEQUENCE)
        put_length(to, type);
    if (type->kind == TYPE_OPTIONAL || type->kind == TYPE_VARIANT) {
        put(to, "[");
        put_reference(to, &type->reference);
        put_ranges(to, type->ranges, type->ranges_n, type->is_selector_signed);
        put(to, "]");
    }
}

static void put_labels(struct buffer *to, const struct type_labels *labels)
{
    put(to, " {");
    for (uint32_t i = 0; i < labels->n; i++) {
        put(to, i ? ", " : "");
        put_quoted(to, labels->label[i].name);
        put_ranges(to, labels->label[i].ranges, labels->label[i].ranges_n, labels->is_signed);
    }
    put(to, "}");
}

static void put_details(struct buffer *to, const struct type *type)
{
    static const char *const encodings[] = {"",          " ascii",    " none",    " utf-16le",
                                            " utf-16be", " utf-32le", " utf-32be"};
    put(to, "%s", encodings[type->encoding]);
    if (type->align)
        put(to, " @%u", 1u << type->align);
    if (type->minimum_align)
        put(to, " min %u", 1u << type->minimum_align);
    if (type->base)
        put(to, " base %u", type->base);
    if (type->unit)
        put(to, " unit %u", type->unit);
    if (type->hint)
        put(to, " hint %u", type->hint);
    if (type->role)
        put(to, " role %u", type->role);
    if (type->clock)
        put_named(to, "clock", ((const struct ctf_clock *)type->clock)->id);
    put_named(to, "media", type->media_type);
    if (type->labels)
        put_labels(to, type->labels);
}

void describe_type(struct buffer *to, const struct type *type)
{
    if (type->name.n) {
        put_quoted(to, type->name);
        put(to, " = ");
    }
    put_kind(to, type);
    if (type->kind == TYPE_STRUCT || type->kind == TYPE_VARIANT)
        put_members(to, type);
    put_details(to, type);
    if (type->element) {
        put(to, " ");
        describe_type(to, type->element);
    }
}

static void put_root(struct buffer *to, const char *indent, const char *name,
                     const struct type *type)
{
    if (!type)
        return;
    put(to, "%s%s ", indent, name);
    describe_type(to, type);
    put(to, "\n");
}

static void put_attributes(struct buffer *to, ttr_text attributes)
{
    if (attributes.n)
        put(to, " attributes %.*s", (int)attributes.n, attributes.p);
}

static void put_uuid(struct buffer *to, const uint8_t *uuid)
{
    put(to, " uuid ");
    for (int i = 0; i < 16; i++)
        put(to, "%02x", uuid[i]);
}

static void put_clock(struct buffer *to, const struct ctf_clock *clock)
{
    put(to, "clock ");
    put_quoted(to, clock->id);
    put_named(to, "name", clock->name);
    put_named(to, "ns", clock->ns);
    put_named(to, "uid", clock->uid);
    put_named(to, "description", clock->description);
    put(to, " %" PRIu64 " Hz + %" PRId64 " s %" PRId64 " cycles", clock->frequency, clock->offset_s,
        clock->offset_cycles);
    if (clock->has_precision)
        put(to, " precision %" PRIu64, clock->precision);
    if (clock->has_accuracy)
        put(to, " accuracy %" PRIu64, clock->accuracy);
    if (clock->has_uuid)
        put_uuid(to, clock->uuid);
    put(to, "%s%s", clock->is_absolute ? " absolute" : "", clock->is_unix ? " unix" : "");
    put_named(to, "origin-name", clock->origin_name);
    put_named(to, "origin-ns", clock->origin_ns);
    put_named(to, "origin-uid", clock->origin_uid);
    put(to, "\n");
}

static void put_event(struct buffer *to, const struct ctf_event_class *event)
{
    put(to, "  event %" PRIu64, event->id);
    put_named(to, "name", event->name);
    put_named(to, "ns", event->ns);
    put_named(to, "uid", event->uid);
    put_named(to, "emf", event->emf_uri);
    if (event->has_log_level)
        put(to, " level %" PRId64, event->log_level);
    put_attributes(to, event->attributes);
    put(to, "\n");
    put_root(to, "    ", "specific-context", event->context);
    put_root(to, "    ", "payload", event->payload);
}

static void put_stream(struct buffer *to, const struct ctf_stream_class *stream)
{
    put(to, "stream %" PRIu64, stream->id);
    put_named(to, "name", stream->name);
    put_named(to, "ns", stream->ns);
    put_named(to, "uid", stream->uid);
    if (stream->clock)
        put_named(to, "clock", stream->clock->id);
    if (stream->rfc_header)
        put(to, " rfc-header %u%s", stream->rfc_header, stream->rfc_has_event_size ? " sized" : "");
    put_attributes(to, stream->attributes);
    put(to, "\n");
    put_root(to, "  ", "packet-context", stream->packet_context);
    put_root(to, "  ", "event-header", stream->event_header);
    put_root(to, "  ", "common-context", stream->event_context);
    for (size_t i = 0; i < stream->events_n; i++)
        put_event(to, stream->events[i]);
}

void describe_ctf(struct buffer *to, const struct ctf_description *description)
{
    put(to, "version %d", (int)description->version);
    if (description->has_byte_order)
        put(to, " %s", description->is_big_endian ? "be" : "le");
    if (description->has_uuid)
        put_uuid(to, description->uuid);
    put_named(to, "name", description->name);
    put_named(to, "ns", description->ns);
    put_named(to, "uid", description->uid);
    put_attributes(to, description->attributes);
    put(to, "\n");
    put_root(to, "", "packet-header", description->packet_header);
    for (size_t i = 0; i < description->environment_n; i++) {
        const struct ctf_environment *entry = &description->environment[i];
        put(to, "env ");
        put_quoted(to, entry->name);
        if (entry->is_number)
            put(to, " = %" PRId64 "\n", entry->number);
        else
            put_named(to, "=", entry->text), put(to, "\n");
    }
    for (size_t i = 0; i < description->clocks_n; i++)
        put_clock(to, description->clocks[i]);
    for (size_t i = 0; i < description->streams_n; i++)
        put_stream(to, description->streams[i]);
}

static void forget_names(const struct type *type)
{
    if (!type)
        return;
    ((struct type *)(uintptr_t)type)->name = (ttr_text){"", 0};
    for (uint32_t i = 0; i < type->members_n; i++)
        forget_names(type->members[i].type);
    forget_names(type->element);
}

void describe_forget_names(struct ctf_description *description)
{
    forget_names(description->packet_header);
    for (size_t i = 0; i < description->streams_n; i++) {
        const struct ctf_stream_class *stream = description->streams[i];
        forget_names(stream->packet_context);
        forget_names(stream->event_header);
        forget_names(stream->event_context);
        for (size_t k = 0; k < stream->events_n; k++) {
            forget_names(stream->events[k]->context);
            forget_names(stream->events[k]->payload);
        }
    }
}
