/* Prints fields as text, and escapes strings. A comma is written before each field, unless the
 * previous byte is a blank or '[': then the field is the first. Nesting below 64 levels is printed
 * as flat. */
#include "formats/text/text_fields.h"

#include "base/find_zero.h"
#include "base/utf.h"
#include "encodings/json/emit.h"
#include "formats/text/text_color.h"

#define DEPTH_MAX 64
/* maximum number of bytes before a field name: separators and colours */
#define BEFORE_NAME 32u

struct field_printer {
    const ttr *t;
    struct buffer *to;
    struct text_cache *texts;
    const ttr_field_buffer *fields;
    unsigned depth;
    bool with_color, is_open;
    uint8_t group; /* TTR_GROUP_* number of the previous field */
    bool is_array[DEPTH_MAX + 1];
};

static void add_hex_byte(struct buffer *to, uint8_t byte)
{
    const char text[4] = {'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    buffer_add(to, text, sizeof text);
}

/* Returns how many bytes at the start of `p` need no escaping. */
static size_t count_plain_bytes(const uint8_t *p, size_t n)
{
    size_t at = 0;
    while (at < n) {
        uint8_t byte = p[at];
        if (byte == '"' || byte == '\\')
            break;
        size_t length = byte >= 0x20 && byte < 0x7f           ? 1
                        : utf8_control_length(p + at, n - at) ? 0
                                                              : utf8_char_length(p + at, n - at);
        if (length == 0)
            break;
        at += length;
    }
    return at;
}

static void add_special_byte(struct buffer *to, uint8_t byte)
{
    static const char letters[256] = {
        ['\n'] = 'n', ['\t'] = 't', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};
    if (letters[byte])
        buffer_add(to, (const char[2]){'\\', letters[byte]}, 2);
    else
        add_hex_byte(to, byte);
}

size_t text_append_escaped(struct buffer *to, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    while (n > 0) {
        size_t run = count_plain_bytes(p, n);
        buffer_add(to, p, run);
        p += run;
        n -= run;
        if (n == 0)
            break;
        bool is_wide_control = n >= 2 && utf8_char_length(p, n) == 2;
        add_special_byte(to, p[0]);
        if (is_wide_control)
            add_special_byte(to, p[1]);
        p += 1 + is_wide_control;
        n -= 1 + (size_t)is_wide_control;
    }
    return 0;
}

/* Returns a bit mask of those bytes, of the 16 at `p`, that may need escaping. */
#ifdef __SSE2__
static inline uint32_t find_special_bytes(const uint8_t *p)
{
    typedef int8_t sixteen __attribute__((vector_size(16)));
    sixteen x;
    memcpy(&x, p, sizeof x);
    return (uint32_t)_mm_movemask_epi8(
        (__m128i)((x < 0x20) | (x == 0x7f) | (x == '\\') |
                  (x == '"'))); /* bytes from 0x80 on are negative as int8_t */
}
#else
static inline uint32_t find_special_bytes(const uint8_t *p)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < 16; i++)
        bits |= (uint32_t)(p[i] < 0x20 || p[i] >= 0x7f || p[i] == '\\' || p[i] == '"') << i;
    return bits;
}
#endif

/* Copies fewer than 16 bytes to `at` and fills up with blanks to 16 bytes, for which `at` must
 * have room. Returns the mask of find_special_bytes for them. */
static inline uint32_t copy_last_bytes(char *at, const uint8_t *p, size_t n)
{
    uint8_t rest[16];
    memset(rest, ' ', sizeof rest);
    memcpy(rest, p, n);
    memcpy(at, rest, sizeof rest);
    return find_special_bytes(rest);
}

/* Appends a text in quotes. Copies 16 bytes at a time and escapes only special bytes. */
static void add_quoted_text(struct buffer *to, ttr_text text)
{
    const uint8_t *p = (const uint8_t *)text.p;
    char *const begin = (char *)buffer_room(to, text.n + 2 + 16), *at = begin;
    uint32_t specials = 0;
    size_t n = text.n;
    if (!begin)
        return;
    *at++ = '"';
    for (; n >= 16 && !specials; n -= 16, p += 16, at += 16) {
        memcpy(at, p, 16);
        specials = find_special_bytes(p);
    }
    if (!specials)
        specials = copy_last_bytes(at, p, n);
    if (__builtin_expect(!specials, 1)) {
        at[n] = '"';
        buffer_commit(to, text.n + 2);
        return;
    }
    buffer_commit(to, 1);
    (void)text_append_escaped(to, text.p, text.n);
    buffer_add_byte(to, '"');
}

static void add_bytes(struct buffer *to, ttr_text bytes)
{
    buffer_add(to, "0x", 2);
    for (size_t i = 0; i < bytes.n; i++) {
        uint8_t byte = (uint8_t)bytes.p[i];
        buffer_add(
            to, (const char[2]){"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]}, 2);
    }
}

/* Appends a number in the base that the trace declares, such as 0x1f, 017 or 0b101. Negative
 * numbers appear in two's complement. */
static void add_number_in_base(struct buffer *to, const ttr_value *value, unsigned base)
{
    unsigned bits = value->bits ? value->bits : 64, shift = base == 16 ? 4 : base == 8 ? 3 : 1;
    uint64_t x = value->v.u & UINT64_MAX >> (64 - bits);
    char text[64 + 2], *at = text + sizeof text;
    do
        *--at = "0123456789abcdef"[x & ((1u << shift) - 1)];
    while (x >>= shift);
    buffer_add_text(to, base == 16 ? "0x" : base == 8 ? "0" : "0b");
    buffer_add(to, at, (size_t)(text + sizeof text - at));
}

static size_t emit_decimal(const ttr *t, char *at, const ttr_value *value)
{
    ttr_thread thread;
    if (value->type == TTR_TYPE_INT)
        return number_format_i64(at, value->v.s);
    if (value->type == TTR_TYPE_FLOAT)
        return number_format_double(at, value->v.f);
    if (value->hint == TTR_DISPLAY_POINTER)
        return number_format_hex(at, value->v.u);
    if (value->hint == TTR_DISPLAY_THREAD && ttr_thread_get(t, (ttr_id)value->v.u, &thread))
        return number_format_u64(at, thread.tid);
    return number_format_u64(at, value->v.u);
}

static void add_number(struct field_printer *field_printer, const ttr_value *value)
{
    /* Flags without a declared base are printed in hexadecimal. */
    unsigned base = value->base == 0 && value->hint == TTR_DISPLAY_FLAGS ? 16 : value->base;
    if ((base == 16 || base == 8 || base == 2) && value->type != TTR_TYPE_FLOAT &&
        value->bits <= 64) {
        add_number_in_base(field_printer->to, value, base);
        return;
    }
    char *at = (char *)buffer_room(field_printer->to, NUMBER_MAX);
    if (at)
        buffer_commit(field_printer->to, emit_decimal(field_printer->t, at, value));
}

/* Appends the labels of a value, which precede its number: RED (1), READ|WRITE (0x3). Returns
 * false if the value has no labels. */
static bool add_labels(struct field_printer *field_printer, const ttr_value *value)
{
    bool is_labelled = value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS;
    for (uint32_t i = 0; is_labelled && i < value->count; i++) {
        ttr_text label;
        if (!ttr_event_label(field_printer->fields, value, i, &label))
            break;
        buffer_add_text(field_printer->to, i ? "|" : "");
        (void)text_append_escaped(field_printer->to, label.p, label.n);
    }
    return is_labelled && value->count > 0;
}

static void open_level(struct field_printer *field_printer, bool is_array)
{
    if (field_printer->depth == DEPTH_MAX) {
        buffer_add_text(field_printer->to, "...");
        return;
    }
    buffer_add_text(field_printer->to, is_array ? "[" : "{ ");
    field_printer->is_array[++field_printer->depth] = is_array;
}

static void close_level(struct field_printer *field_printer)
{
    struct buffer *to = field_printer->to;
    if (field_printer->is_array[field_printer->depth--])
        buffer_add_byte(to, ']');
    else
        buffer_add_text(to, to->n && to->bytes[to->n - 1] == ' ' ? "}" : " }");
}

static void add_value(struct field_printer *field_printer, const ttr_value *value)
{
    struct buffer *to = field_printer->to;
    bool is_labelled = false;
    switch (value->type) {
    case TTR_TYPE_NULL:
        buffer_add_text(to, value->hint == TTR_DISPLAY_ABSENT ? "absent" : "null");
        return;
    case TTR_TYPE_BOOL:
        buffer_add_text(to, value->v.u ? "true" : "false");
        return;
    case TTR_TYPE_BYTES:
        add_bytes(to, value->text);
        return;
    case TTR_TYPE_ARRAY:
        open_level(field_printer, true);
        return;
    case TTR_TYPE_STRUCT:
        open_level(field_printer, false);
        return;
    case TTR_TYPE_TEXT:
        if (value->hint == TTR_DISPLAY_DECIMAL && number_is_integer(value->text.p, value->text.n))
            buffer_add(to, value->text.p, value->text.n);
        else
            add_quoted_text(to, value->text);
        return;
    default:
        is_labelled = add_labels(field_printer, value);
        buffer_add_text(to, is_labelled ? " (" : "");
        add_number(field_printer, value);
        buffer_add_text(to, is_labelled ? ")" : "");
    }
}

/* Writes the separator before a field: a comma, or braces between two groups of fields. Returns
 * the end of the written text. */
static inline char *emit_separator(char *at, const struct field_printer *field_printer,
                                   const ttr_field *field)
{
    const char last = field_printer->to->n ? at[-1] : ' ';
    if (!field_printer->is_open)
        return emit_constant(at, " { ");
    if (field->depth == 0 && field->group != field_printer->group)
        return emit_constant(at, " } { ");
    return last != ' ' && last != '[' ? emit_constant(at, ", ") : at;
}

/* Appends a field name without a text id. The cache of escaped names cannot contain it. */
static void add_uncached_name(struct field_printer *field_printer, ttr_text name)
{
    struct buffer *to = field_printer->to;
    if (field_printer->with_color)
        buffer_add_text(to, COLOR_FIELD);
    (void)text_append_escaped(to, name.p, name.n);
    if (field_printer->with_color)
        buffer_add_text(to, COLOR_OFF);
    buffer_add(to, " = ", 3);
}

static void add_field(struct field_printer *field_printer, const ttr_field *field)
{
    struct buffer *to = field_printer->to;
    while (field_printer->depth > field->depth)
        close_level(field_printer);
    const bool is_named = !field_printer->is_array[field_printer->depth],
               is_known = is_named && field->name_id;
    const ttr_text name =
        is_known ? text_cache_get(field_printer->texts, field_printer->t, field->name_id)->text
                 : (ttr_text){"", 0};
    const ttr_value *value = &field->value;
    char *const begin =
                    (char *)buffer_room(to, BEFORE_NAME + name.n + TEXT_CACHE_PADDING + NUMBER_MAX),
                *at = begin;
    if (!begin)
        return;
    at = emit_separator(at, field_printer, field);
    if (is_known) {
        at = field_printer->with_color ? emit_constant(at, COLOR_FIELD) : at;
        at = emit_cached_piece(at, name);
        at = field_printer->with_color ? emit_constant(at, COLOR_OFF) : at;
        at = emit_constant(at, " = ");
    }
    field_printer->is_open = true;
    field_printer->group = field->group;
    const bool is_plain = (value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT) &&
                          value->hint == TTR_DISPLAY_NONE &&
                          (value->base == 0 || value->base == 10) && (is_known || !is_named);
    if (is_plain)
        at = value->type == TTR_TYPE_INT ? emit_i64(at, value->v.s) : emit_u64(at, value->v.u);
    buffer_commit(to, (size_t)(at - begin));
    if (is_plain)
        return;
    if (is_named && !is_known)
        add_uncached_name(field_printer, field->name);
    add_value(field_printer, value);
}

void text_add_fields(struct ttr_writer *out, struct text_cache *texts, ttr_field_buffer *fields,
                     const ttr_event *event, bool with_color)
{
    struct buffer *to = &out->buffer;
    struct field_printer field_printer = {
        .t = out->t, .to = to, .texts = texts, .fields = fields, .with_color = with_color};
    const ttr_field *field;
    for (uint32_t n = ttr_event_fields(fields, event, &field); n > 0;
         n = ttr_event_fields_next(fields, &field))
        for (uint32_t i = 0; i < n; i++)
            add_field(&field_printer, &field[i]);
    while (field_printer.depth > 0)
        close_level(&field_printer);
    if (field_printer.is_open)
        buffer_add(to, " }", 2);
}
