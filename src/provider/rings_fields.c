/* Fields of an EventHeader event as arguments of a trace point (layout: event_header_format.h).
 *
 * An argument of FXT is a number, a boolean or a text.  Numbers keep their sign and size class (32
 * or 64 bits); UUIDs, addresses and bytes become texts, as do characters.  An array becomes one
 * JSON text: a site has a fixed number of at most 15 arguments, and the length of most arrays
 * differs between events.  The conversion reads declarations and payload side by side.  Both come
 * from macros of this process or from a composer, so damage is not expected; it ends the fields
 * without reading beyond the event. */
#include "provider/rings_fields.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf.h"
#include "encodings/event_header/event_header_format.h"

#define ARRAY_TEXT_MAX 512u /* bytes of the text of an array; longer ones end with "..." */
#define ELEMENT_MAX 160u
#define OMITTED "fields_omitted"
#define NO_ROOM "..." /* instead of a text for which RINGS_TEXT_MAX is too small */

/* Bytes that are not read yet. After a read beyond the end, everything reads as 0. */
struct reading {
    const uint8_t *at, *end;
};

/* Reads n bytes. Returns NULL, and ends the reading, if there are fewer. */
static const uint8_t *read_bytes(struct reading *reading, size_t n)
{
    const uint8_t *bytes = reading->at;
    if (n > (size_t)(reading->end - reading->at)) {
        reading->at = reading->end;
        return NULL;
    }
    reading->at += n;
    return bytes;
}

static uint16_t read_u16(struct reading *reading)
{
    uint16_t value = 0;
    const uint8_t *bytes = read_bytes(reading, sizeof value);
    if (bytes)
        memcpy(&value, bytes, sizeof value);
    return value;
}

/* --- The parts of an event --- */

bool rings_parse_event(const uint8_t *event, size_t n, struct rings_event *parts)
{
    struct reading reading = {event, event + n};
    const uint8_t *header = read_bytes(&reading, EVENT_HEADER_BYTES);
    if (!header)
        return false;
    *parts = (struct rings_event){.opcode = header[6], .level = header[7]};
    unsigned kind = header[0] & EVENT_HEADER_EXTENSION ? EVENT_HEADER_CHAIN : 0;
    while (kind & EVENT_HEADER_CHAIN) {
        if (reading.end - reading.at < (ptrdiff_t)EVENT_HEADER_EXTENSION_BYTES)
            return false;
        const uint16_t size = read_u16(&reading);
        kind = read_u16(&reading);
        const uint8_t *data = read_bytes(&reading, size);
        if (!data)
            return false;
        if ((kind & EVENT_HEADER_KIND) == EVENT_HEADER_METADATA) {
            parts->metadata = data;
            parts->metadata_end = data + size;
        } else if ((kind & EVENT_HEADER_KIND) == EVENT_HEADER_ACTIVITY && size >= 16) {
            parts->activity = data;
        }
    }
    parts->payload = reading.at;
    parts->payload_end = reading.end;
    return true;
}

/* --- Declarations --- */

struct declaration {
    const char *name;
    size_t name_n;    /* length of the name without attributes */
    uint8_t encoding; /* encoding without its flags */
    uint8_t format;   /* display format; for a struct, the number of members */
    uint16_t count;   /* number of elements of an array of fixed length */
    bool is_fixed, is_counted;
};

static bool is_array(const struct declaration *field)
{
    return field->is_fixed || field->is_counted;
}

/* Reads a text with its NUL. Returns false if it has none. */
static bool read_name(struct reading *metadata, const char **name, size_t *n)
{
    *name = (const char *)metadata->at;
    *n = strnlen(*name, (size_t)(metadata->end - metadata->at));
    if (!read_bytes(metadata, *n + 1))
        return false;
    const char *attributes = memchr(*name, ';', *n);
    *n = attributes ? (size_t)(attributes - *name) : *n;
    return true;
}

static bool read_declaration(struct reading *metadata, struct declaration *field)
{
    *field = (struct declaration){0};
    if (!read_name(metadata, &field->name, &field->name_n))
        return false;
    const uint8_t *encoding = read_bytes(metadata, 1);
    if (!encoding)
        return false;
    field->encoding = *encoding & EVENT_HEADER_ENCODING;
    field->is_fixed = *encoding & EVENT_HEADER_FIXED_ARRAY;
    field->is_counted = *encoding & EVENT_HEADER_COUNTED_ARRAY;
    const uint8_t *format = *encoding & EVENT_HEADER_HAS_FORMAT ? read_bytes(metadata, 1) : NULL;
    field->format = format ? *format & EVENT_HEADER_FORMAT : 0;
    if (format && *format & EVENT_HEADER_HAS_TAG)
        (void)read_u16(metadata);
    field->count = field->is_fixed ? read_u16(metadata) : 0;
    return field->encoding >= EVENT_HEADER_STRUCT && field->encoding < EVENT_HEADER_ENCODINGS;
}

/* --- Values --- */

/* A value as stored: n bytes, for strings n units of `unit` bytes. */
struct stored {
    const uint8_t *bytes;
    size_t n;
    unsigned unit;
};

/* Reads a string that ends at a zero unit. */
static struct stored read_zstring(struct reading *payload, unsigned unit)
{
    static const uint8_t zeros[4];
    struct stored value = {payload->at, 0, unit};
    const uint8_t *units;
    while ((units = read_bytes(payload, unit)) && memcmp(units, zeros, unit) != 0)
        value.n++;
    return value;
}

static struct stored read_stored(struct reading *payload, unsigned encoding)
{
    struct stored value = {NULL, 0, 1};
    if (encoding <= EVENT_HEADER_VALUE128)
        value.n = (size_t)1 << (encoding - EVENT_HEADER_VALUE8);
    else if (encoding <= EVENT_HEADER_ZSTRING32)
        return read_zstring(payload, 1u << (encoding - EVENT_HEADER_ZSTRING8));
    else if (encoding <= EVENT_HEADER_STRING32)
        value.unit = 1u << (encoding - EVENT_HEADER_STRING8);
    if (encoding > EVENT_HEADER_ZSTRING32)
        value.n = read_u16(payload);
    value.bytes = read_bytes(payload, value.n * value.unit);
    if (!value.bytes)
        value.n = 0;
    return value;
}

/* Returns memory for a text of n bytes, or NULL. */
static char *reserve_text(struct rings_args *args, size_t n)
{
    if (n > sizeof args->text - args->text_n)
        return NULL;
    args->text_n += n;
    return args->text + args->text_n - n;
}

static struct ttr_trace_value make_text(const char *text, size_t n)
{
    return (struct ttr_trace_value){
        .text = text, .text_n = (uint32_t)n, .type = TTR_TRACE_VALUE_TEXT};
}

static struct ttr_trace_value format_bytes(struct rings_args *args, const uint8_t *bytes, size_t n,
                                           bool is_uuid)
{
    const size_t shown = n < TTR_TRACE_TEXT_MAX / 2 ? n : TTR_TRACE_TEXT_MAX / 2;
    char *text = reserve_text(args, 2 * shown + (is_uuid ? 5 : 1));
    size_t at = 0;
    if (!text)
        return make_text(NO_ROOM, strlen(NO_ROOM));
    for (size_t i = 0; i < shown; i++) {
        if (is_uuid && (i == 4 || i == 6 || i == 8 || i == 10))
            text[at++] = '-';
        at += (size_t)snprintf(text + at, 3, "%02x", bytes[i]);
    }
    return make_text(text, at);
}

static struct ttr_trace_value format_address(struct rings_args *args, const uint8_t *bytes,
                                             size_t n)
{
    char *text = reserve_text(args, INET6_ADDRSTRLEN);
    if (!text || !bytes || !inet_ntop(n == 4 ? AF_INET : AF_INET6, bytes, text, INET6_ADDRSTRLEN))
        return make_text("", 0);
    return make_text(text, strlen(text));
}

/* Events have the byte order of the machine. */
enum { IS_BIG_ENDIAN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

static size_t convert_utf16(char *text, const uint8_t *bytes, size_t n)
{
    return IS_BIG_ENDIAN ? utf8_from_utf16be(text, bytes, n) : utf8_from_utf16le(text, bytes, n);
}

/* Converts characters to UTF-8. */
static struct ttr_trace_value convert_text(struct rings_args *args, const struct stored *value,
                                           unsigned format)
{
    const size_t n = value->n < TTR_TRACE_TEXT_MAX ? value->n : TTR_TRACE_TEXT_MAX;
    if (value->unit == 1 && format != EVENT_HEADER_LATIN1)
        return make_text((const char *)value->bytes, n);
    char *text = reserve_text(args, n * (value->unit == 1 ? 2 : value->unit == 2 ? 3 : 4));
    if (!text)
        return make_text(NO_ROOM, strlen(NO_ROOM));
    return make_text(text, value->unit == 1 ? utf8_from_latin1(text, value->bytes, n)
                           : value->unit == 2
                               ? convert_utf16(text, value->bytes, n)
                               : utf8_from_utf32(text, value->bytes, n, IS_BIG_ENDIAN));
}

static bool is_character_format(unsigned format)
{
    return format >= EVENT_HEADER_LATIN1 && format <= EVENT_HEADER_JSON;
}

static struct ttr_trace_value convert_float(const struct stored *value)
{
    double number = 0;
    float small = 0;
    struct ttr_trace_value result = {.type = TTR_TRACE_VALUE_F64};
    if (value->n == sizeof small)
        memcpy(&small, value->bytes, sizeof small);
    if (value->n == sizeof number)
        memcpy(&number, value->bytes, sizeof number);
    number = value->n == sizeof small ? (double)small : number;
    memcpy(&result.bits, &number, sizeof number);
    return result;
}

/* Converts an integer of `size` bytes, of which the payload may have none. */
static struct ttr_trace_value convert_integer(const struct stored *value, size_t size,
                                              unsigned format)
{
    uint64_t bits = 0;
    const size_t n = value->n < sizeof bits ? value->n : sizeof bits;
    if (n)
        memcpy((uint8_t *)&bits + (IS_BIG_ENDIAN ? sizeof bits - n : 0), value->bytes, n);
    if (format == EVENT_HEADER_PORT && size == 2)
        bits = ntohs((uint16_t)bits);
    if (format == EVENT_HEADER_BOOLEAN)
        return (struct ttr_trace_value){.bits = bits != 0, .type = TTR_TRACE_VALUE_BOOL};
    const bool is_signed = format == EVENT_HEADER_SIGNED || format == EVENT_HEADER_ERRNO ||
                           format == EVENT_HEADER_PID || format == EVENT_HEADER_TIME;
    if (is_signed && size < sizeof bits) {
        const unsigned shift = 64 - 8 * (unsigned)size;
        bits = (uint64_t)((int64_t)(bits << shift) >> shift);
    }
    const uint32_t type = size <= 4 ? (is_signed ? TTR_TRACE_VALUE_I32 : TTR_TRACE_VALUE_U32)
                                    : (is_signed ? TTR_TRACE_VALUE_I64 : TTR_TRACE_VALUE_U64);
    return (struct ttr_trace_value){.bits = bits, .type = type};
}

/* Reads a value that is neither a struct nor an array. Its type depends on the declaration alone.
 */
static struct ttr_trace_value read_value(struct rings_args *args, const struct declaration *field,
                                         struct reading *payload)
{
    struct stored value = read_stored(payload, field->encoding);
    const unsigned format = field->format;
    const bool is_address = format == EVENT_HEADER_IP_ADDRESS || format == EVENT_HEADER_IP_OBSOLETE;
    const bool is_number = field->encoding <= EVENT_HEADER_VALUE64;
    const size_t size = is_number ? (size_t)1 << (field->encoding - EVENT_HEADER_VALUE8) : value.n;
    const bool is_sized = size == 4 || size == 16;
    if (is_address && (is_sized || !is_number))
        return format_address(args, value.n == 4 || value.n == 16 ? value.bytes : NULL, value.n);
    if (field->encoding == EVENT_HEADER_VALUE128 || field->encoding == EVENT_HEADER_BINARY ||
        (format == EVENT_HEADER_HEX_BYTES && is_number))
        return format_bytes(args, value.bytes, value.n,
                            format == EVENT_HEADER_UUID && value.n == 16);
    if (!is_number)
        return convert_text(args, &value, format);
    if (is_character_format(format) && size <= 4) {
        value.unit = (unsigned)size;
        value.n = value.n ? 1 : 0;
        return convert_text(args, &value, format);
    }
    if (format == EVENT_HEADER_FLOAT && size >= 4)
        return convert_float(&value);
    return convert_integer(&value, size, format);
}

/* --- Arrays --- */

/* A text that is cut when it is full. */
struct line {
    char *text;
    size_t n, room;
};

static void append_line(struct line *line, const char *text, size_t n)
{
    const size_t left = line->room - line->n, used = n < left ? n : left;
    if (used)
        memcpy(line->text + line->n, text, used);
    line->n += used;
}

/* Appends a text as JSON (RFC 8259, section 7). */
static void append_text(struct line *line, const char *text, size_t n)
{
    char escape[8];
    append_line(line, "\"", 1);
    for (size_t i = 0; i < n; i++) {
        const uint8_t byte = (uint8_t)text[i];
        if (byte == '"' || byte == '\\')
            append_line(line, "\\", 1);
        if (byte < 0x20)
            append_line(line, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", byte));
        else
            append_line(line, text + i, 1);
    }
    append_line(line, "\"", 1);
}

/* Appends a value as JSON, which has no numbers for infinity and NaN. */
static void append_value(struct line *line, const struct ttr_trace_value *value)
{
    char number[ELEMENT_MAX];
    double real;
    int n = 0;
    memcpy(&real, &value->bits, sizeof real);
    if (value->type == TTR_TRACE_VALUE_TEXT) {
        append_text(line, value->text, value->text_n);
    } else if (value->type == TTR_TRACE_VALUE_F64) {
        n = snprintf(number, sizeof number, "%.17g", real);
        if (!isfinite(real))
            n = snprintf(number, sizeof number, "null");
    } else if (value->type == TTR_TRACE_VALUE_BOOL) {
        n = snprintf(number, sizeof number, "%s", value->bits ? "true" : "false");
    } else if (value->type == TTR_TRACE_VALUE_I32 || value->type == TTR_TRACE_VALUE_I64) {
        n = snprintf(number, sizeof number, "%" PRId64, (int64_t)value->bits);
    } else {
        n = snprintf(number, sizeof number, "%" PRIu64, value->bits);
    }
    append_line(line, number, (size_t)n);
}

static void append_field(struct rings_args *args, struct line *line, struct declaration *field,
                         struct reading *metadata, struct reading *payload, unsigned depth);

/* Appends the members of a struct as "{"a": 1, "b": 2}". `metadata` is after its declaration. */
static void append_members(struct rings_args *args, struct line *line, unsigned members,
                           struct reading *metadata, struct reading *payload, unsigned depth)
{
    append_line(line, "{", 1);
    for (unsigned i = 0; i < members; i++) {
        struct declaration field;
        if (!read_declaration(metadata, &field))
            break;
        append_line(line, ", ", i ? 2 : 0);
        append_text(line, field.name, field.name_n);
        append_line(line, ": ", 2);
        append_field(args, line, &field, metadata, payload, depth + 1);
    }
    append_line(line, "}", 1);
}

/* Appends a value, a struct or an array. The text of a value is in the memory of `args` only until
 * it is appended. */
static void append_field(struct rings_args *args, struct line *line, struct declaration *field,
                         struct reading *metadata, struct reading *payload, unsigned depth)
{
    const struct reading members = *metadata;
    const bool has_brackets = is_array(field), is_struct = field->encoding == EVENT_HEADER_STRUCT;
    const size_t count = field->is_counted ? read_u16(payload) : has_brackets ? field->count : 1;
    if (depth > EVENT_HEADER_DEPTH_MAX)
        return;
    append_line(line, "[", has_brackets);
    /* Without elements the declarations of the members are skipped. */
    struct reading nothing = {payload->end, payload->end};
    struct line unused = {NULL, 0, 0};
    if (count == 0 && is_struct)
        append_members(args, &unused, field->format, metadata, &nothing, depth);
    for (size_t i = 0; i < count; i++) {
        append_line(line, ", ", i ? 2 : 0);
        if (is_struct) {
            *metadata = members;
            append_members(args, line, field->format, metadata, payload, depth);
            continue;
        }
        const size_t text_n = args->text_n;
        const struct ttr_trace_value value = read_value(args, field, payload);
        append_value(line, &value);
        args->text_n = text_n;
    }
    append_line(line, "]", has_brackets);
}

static struct ttr_trace_value read_array(struct rings_args *args, struct declaration *field,
                                         struct reading *metadata, struct reading *payload)
{
    char *text = reserve_text(args, ARRAY_TEXT_MAX);
    struct line line = {text, 0, text ? ARRAY_TEXT_MAX : 0};
    append_field(args, &line, field, metadata, payload, 0);
    if (!text)
        return make_text(NO_ROOM, strlen(NO_ROOM));
    if (line.n == line.room) {
        line.n = utf8_truncated_length(text, line.n, line.n - strlen(NO_ROOM));
        append_line(&line, NO_ROOM, strlen(NO_ROOM));
    }
    return make_text(text, line.n);
}

/* --- Arguments --- */

_Static_assert(RINGS_NAMES_MAX >= TTR_TRACE_ARGS_MAX * RINGS_NAME_MAX, "all names fit");

static void copy_name(struct rings_args *args, const char *name)
{
    const size_t n = strnlen(name, RINGS_NAME_MAX - 1);
    char *copy = args->names + args->names_n;
    memcpy(copy, name, n);
    copy[n] = '\0';
    args->names_n += n + 1;
    args->name[args->n] = copy;
}

void rings_args_append(struct rings_args *args, const char *name, struct ttr_trace_value value)
{
    if (args->n >= TTR_TRACE_ARGS_MAX) {
        args->omitted++;
        return;
    }
    if (args->names)
        copy_name(args, name);
    args->value[args->n++] = value;
}

/* Name of the structs that contain a field, with a dot after each. */
struct prefix {
    char text[RINGS_NAME_MAX];
    size_t n;
};

/* Appends `fields` fields, or all that are left. */
static void append_arguments(struct rings_args *args, struct reading *metadata,
                             struct reading *payload, const struct prefix *prefix, unsigned fields,
                             unsigned depth)
{
    struct declaration field;
    for (unsigned i = 0; i < fields && depth <= EVENT_HEADER_DEPTH_MAX; i++) {
        if (metadata->at == metadata->end || !read_declaration(metadata, &field))
            return;
        struct prefix name = *prefix;
        const int n = snprintf(name.text + name.n, sizeof name.text - name.n, "%.*s",
                               (int)field.name_n, field.name);
        name.n += (size_t)n;
        if (name.n + 2 > sizeof name.text)
            name.n = sizeof name.text - 2;
        if (field.encoding == EVENT_HEADER_STRUCT && !is_array(&field)) {
            memcpy(name.text + name.n++, ".", 2);
            append_arguments(args, metadata, payload, &name, field.format, depth + 1);
            continue;
        }
        const struct ttr_trace_value value = is_array(&field)
                                                 ? read_array(args, &field, metadata, payload)
                                                 : read_value(args, &field, payload);
        rings_args_append(args, name.text, value);
    }
}

void rings_args_append_fields(struct rings_args *args, const struct rings_event *event)
{
    struct reading metadata = {event->metadata, event->metadata_end},
                   payload = {event->payload, event->payload_end};
    const struct prefix none = {"", 0};
    const char *name;
    size_t n;
    if (event->metadata && read_name(&metadata, &name, &n))
        append_arguments(args, &metadata, &payload, &none, UINT32_MAX, 0);
    if (args->omitted == 0)
        return;
    /* The last argument makes room for the count. */
    args->n--;
    args->names_n = args->names ? (size_t)(args->name[args->n] - args->names) : 0;
    const uint32_t omitted = args->omitted + 1;
    rings_args_append(args, OMITTED,
                      (struct ttr_trace_value){.bits = omitted, .type = TTR_TRACE_VALUE_U32});
    args->omitted = omitted;
}
