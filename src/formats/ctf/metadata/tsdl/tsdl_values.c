/* Values of attributes: numbers, texts, UUIDs, booleans, byte orders. Errors show the value's
 * position. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#define IS(text, word) ((text).n == sizeof(word) - 1 && memcmp((text).p, (word), (text).n) == 0)

void *tsdl_alloc(struct tsdl_resolver *resolver, size_t size)
{
    struct tsdl_reading *reading = resolver->reading;
    struct arena *arena = &resolver->description->arena;
    void *block = NULL;
    if (arena->total > resolver->memory_max)
        reading->status = fail(reading->error, TTR_E_LIMIT, NO_OFFSET,
                               "%s: the description needs too much memory (%zu bytes)",
                               reading->text->file, arena->total);
    else if (!(block = arena_alloc(arena, size)))
        (void)tsdl_fail_memory(reading);
    else
        memset(block, 0, size);
    return block;
}

bool tsdl_copy_text(struct tsdl_resolver *resolver, ttr_text from, ttr_text *to)
{
    char *copy = tsdl_alloc(resolver, from.n + 1);
    if (!copy)
        return false;
    memcpy(copy, from.p, from.n);
    *to = (ttr_text){copy, from.n};
    return true;
}

static void add_diagnostic_at_offset(struct tsdl_resolver *resolver, ttr_severity severity,
                                     size_t at, const char *code, const char *what)
{
    const struct ctf_description *description = resolver->description;
    const struct ctf_text *text = resolver->reading->text;
    char whole[300];
    if (!description->note)
        return;
    if (at < resolver->line_at) {
        resolver->line_at = 0;
        resolver->line = 1;
    }
    for (; resolver->line_at < at && resolver->line_at < text->n; resolver->line_at++)
        resolver->line += text->p[resolver->line_at] == '\n';
    (void)snprintf(whole, sizeof whole, "%s:%u: %s", text->file, resolver->line, what);
    description->note(description->note_ctx, severity, ctf_compute_text_offset(text, at), code,
                      whole);
}

void tsdl_add_diagnostic(struct tsdl_resolver *resolver, ttr_severity severity, size_t at,
                         const char *code, const char *format, ...)
{
    char what[200];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(what, sizeof what, format, values);
    va_end(values);
    resolver->state->diagnostics_n++;
    add_diagnostic_at_offset(resolver, severity, at, code, what);
}

/* Sets an error about the value of an attribute. Returns false. */
static bool fail_attribute_value(struct tsdl_resolver *resolver,
                                 const struct tsdl_statement *attribute, const char *expected)
{
    size_t at = attribute->kind == TSDL_ASSIGN ? attribute->value->at : attribute->at;
    return tsdl_fail(resolver->reading, at, "'%.*s' requires %s", (int)attribute->name.n,
                     attribute->name.p, expected);
}

static const struct tsdl_value *get_attribute_value(const struct tsdl_statement *attribute,
                                                    enum tsdl_value_kind kind)
{
    return attribute->kind == TSDL_ASSIGN && attribute->value->kind == kind ? attribute->value
                                                                            : NULL;
}

bool tsdl_get_unsigned(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                       uint64_t *number)
{
    const struct tsdl_value *value = get_attribute_value(attribute, TSDL_VALUE_NUMBER);
    if (!value || (value->is_negative && value->number))
        return fail_attribute_value(resolver, attribute, "a number that is not negative");
    *number = value->number;
    return true;
}

bool tsdl_get_signed(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                     int64_t *number)
{
    const struct tsdl_value *value = get_attribute_value(attribute, TSDL_VALUE_NUMBER);
    if (!value || value->number > (uint64_t)INT64_MAX + value->is_negative)
        return fail_attribute_value(resolver, attribute, "a number of at most 63 bits and a sign");
    *number = (int64_t)(value->is_negative ? 0 - value->number : value->number);
    return true;
}

bool tsdl_get_bool(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                   bool *claim)
{
    const struct tsdl_value *number = get_attribute_value(attribute, TSDL_VALUE_NUMBER),
                            *word = get_attribute_value(attribute, TSDL_VALUE_PATH);
    bool is_true = number ? number->number == 1 && !number->is_negative
                          : word && (IS(word->text, "true") || IS(word->text, "TRUE"));
    bool is_false =
        number ? number->number == 0 : word && (IS(word->text, "false") || IS(word->text, "FALSE"));
    if (!is_true && !is_false)
        return fail_attribute_value(resolver, attribute, "true or false");
    *claim = is_true;
    return true;
}

/* Reads the value as text: a string up to its first zero byte, or a word without quotes. */
bool tsdl_get_text(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                   ttr_text *text)
{
    const struct tsdl_value *value = get_attribute_value(attribute, TSDL_VALUE_STRING);
    if (!value)
        value = get_attribute_value(attribute, TSDL_VALUE_PATH);
    if (!value)
        return fail_attribute_value(resolver, attribute, "a string");
    const char *zero = memchr(value->text.p, 0, value->text.n);
    if (value->is_unescaped) {
        tsdl_add_diagnostic(resolver, TTR_SEVERITY_ODD, value->at, "ctf.unescaped",
                            "quotes or backslashes in '%.*s' are not escaped",
                            (int)attribute->name.n, attribute->name.p);
        resolver->description->has_unescaped = true;
    }
    return tsdl_copy_text(
        resolver, (ttr_text){value->text.p, zero ? (size_t)(zero - value->text.p) : value->text.n},
        text);
}

static int get_hex_digit_value(char c)
{
    char lower = (char)(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool tsdl_parse_uuid(ttr_text text, uint8_t uuid[16])
{
    for (size_t i = 0, n = 0; text.n == 36 && i < 36; i++) {
        const int digit = get_hex_digit_value(text.p[i]);
        const bool is_line = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_line ? text.p[i] != '-' : digit < 0)
            return false;
        if (is_line)
            continue;
        uuid[n / 2] = (uint8_t)(n % 2 ? uuid[n / 2] | digit : digit << 4);
        n++;
    }
    return text.n == 36;
}

bool tsdl_get_uuid(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                   uint8_t uuid[16])
{
    const struct tsdl_value *value = get_attribute_value(attribute, TSDL_VALUE_STRING);
    return (value && tsdl_parse_uuid(value->text, uuid)) ||
           fail_attribute_value(resolver, attribute,
                                "a UUID such as \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\"");
}

bool tsdl_get_align(struct tsdl_resolver *resolver, const struct tsdl_value *value, uint8_t *align)
{
    uint64_t bits = value->number;
    if (value->kind != TSDL_VALUE_NUMBER || value->is_negative || bits == 0 || (bits & (bits - 1)))
        return tsdl_fail(resolver->reading, value->at, "an alignment is a power of two, in bits");
    if (bits > 1u << TYPE_ALIGN_MAX)
        return tsdl_fail(resolver->reading, value->at, "no alignment is larger than %u bits",
                         1u << TYPE_ALIGN_MAX);
    *align = (uint8_t)__builtin_ctzll(bits);
    return true;
}

bool tsdl_get_byte_order(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                         bool allows_native, bool *is_big_endian)
{
    const struct tsdl_value *value = get_attribute_value(attribute, TSDL_VALUE_PATH);
    if (!value)
        value = get_attribute_value(attribute, TSDL_VALUE_STRING);
    ttr_text word = value ? value->text : (ttr_text){"", 0};
    bool is_native = allows_native && IS(word, "native"), is_little = IS(word, "le"),
         is_big = IS(word, "be") || IS(word, "network");
    if (!is_native && !is_little && !is_big)
        return fail_attribute_value(resolver, attribute,
                                    allows_native ? "native, network, be or le" : "be or le");
    *is_big_endian = is_native ? resolver->description->is_big_endian : is_big;
    return true;
}

bool tsdl_get_attribute(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                        const char *const *names, uint32_t *seen, unsigned *which)
{
    unsigned i = 0;
    while (names[i] && (strlen(names[i]) != attribute->name.n ||
                        memcmp(names[i], attribute->name.p, attribute->name.n) != 0))
        i++;
    *which = i;
    if (!names[i]) {
        tsdl_add_diagnostic(resolver, TTR_SEVERITY_ODD, attribute->at, "ctf.unknown-attribute",
                            "the attribute '%.*s' is not known and passed over",
                            (int)attribute->name.n, attribute->name.p);
        return true;
    }
    if (*seen >> i & 1)
        return tsdl_fail(resolver->reading, attribute->at, "'%s' is given twice", names[i]);
    *seen |= 1u << i;
    return true;
}
