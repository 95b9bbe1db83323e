/* Objects with checked properties, scalars with limits, and errors that show the position in the
 * text and the path in the fragment. Unknown properties get a diagnostic and are skipped, since
 * later revisions of the specification may add some. */
#include <stdarg.h>
#include <stdio.h>

#include "base/status.h"
#include "formats/ctf/metadata/json/ctf2_parser.h"

#define PATH_SHOWN 100
#define WORDS_SHOWN 120

static const struct {
    const char *name;
    size_t n;
} property_names[CTF2_PROPERTY_COUNT] = {
#define X(name, text) {text, sizeof text - 1},
    CTF2_PROPERTIES(X)
#undef X
};

static int compare_names(const char *a, size_t a_n, const char *b, size_t b_n)
{
    int order = memcmp(a, b, a_n < b_n ? a_n : b_n);
    return order ? order : (a_n > b_n) - (a_n < b_n);
}

/* Returns the property of that name by binary search; CTF2_PROPERTY_COUNT if it is unknown. */
static unsigned find_property(const char *name, size_t n)
{
    unsigned low = 0, high = CTF2_PROPERTY_COUNT;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        int order = compare_names(name, n, property_names[middle].name, property_names[middle].n);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return CTF2_PROPERTY_COUNT;
}

ttr_status ctf2_fail_text(struct ctf2_parser *parser, ttr_status status, uint64_t offset,
                          const char *format, ...)
{
    char what[320];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(what, sizeof what, format, values);
    va_end(values);
    if (ctf_fail_at_text(parser->text, (size_t)offset, parser->error, "%s", what) != TTR_OK &&
        parser->error)
        parser->error->status = status;
    return status;
}

static ttr_status fail_at_json_value(struct ctf2_parser *parser, ttr_status status,
                                     const struct json_value *at, const char *format,
                                     va_list values)
{
    char what[200], path[PATH_SHOWN];
    const struct json_value *place = parser->alias_use ? parser->alias_use : at;
    (void)vsnprintf(what, sizeof what, format, values);
    size_t n = json_path(place, path, sizeof path);
    bool is_cut = n > 3 && memcmp(path, "...", 3) == 0;
    return ctf2_fail_text(parser, status, place->token.offset, "%s%s%s: %s%s", parser->fragment,
                          n && !is_cut ? "." : "", path, what,
                          parser->alias_use ? " (in the alias)" : "");
}

ttr_status ctf2_fail(struct ctf2_parser *parser, const struct json_value *at, const char *format,
                     ...)
{
    va_list values;
    va_start(values, format);
    ttr_status status = fail_at_json_value(parser, TTR_E_MALFORMED, at, format, values);
    va_end(values);
    return status;
}

ttr_status ctf2_fail_with_status(struct ctf2_parser *parser, ttr_status status,
                                 const struct json_value *at, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    status = fail_at_json_value(parser, status, at, format, values);
    va_end(values);
    return status;
}

void ctf2_add_diagnostic(struct ctf2_parser *parser, ttr_severity severity,
                         const struct json_value *at, const char *code, const char *format, ...)
{
    struct ctf_description *description = parser->description;
    char text[200];
    va_list values;
    if (!description->note)
        return;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    size_t offset = parser->alias_use ? parser->alias_use->token.offset : at->token.offset;
    description->note(description->note_ctx, severity,
                      ctf_compute_text_offset(parser->text, offset), code, text);
}

void ctf2_report_rc7_syntax(struct ctf2_parser *parser, const struct json_value *at,
                            const char *what)
{
    parser->description->is_rc7 = true;
    ctf2_add_diagnostic(parser, TTR_SEVERITY_REMARK, at, "ctf.rc7",
                        "%s is of the release candidate 7 of CTF 2, not of CTF 2 itself", what);
}

void *ctf2_alloc(struct ctf2_parser *parser, size_t count, size_t size)
{
    size_t bytes;
    void *block = __builtin_mul_overflow(count, size, &bytes)
                      ? NULL
                      : arena_alloc(&parser->description->arena, bytes);
    if (block)
        memset(block, 0, bytes);
    else
        (void)fail_memory(parser->error);
    return block;
}

/* Stores one member of an object under its property. Fails if the object has the property twice. */
static ttr_status store_property(struct ctf2_parser *parser, const struct json_value *member,
                                 const struct ctf2_property_set *properties,
                                 struct ctf2_object *object)
{
    unsigned property = find_property(member->key, member->key_n);
    if (property == CTF2_PROPERTY_COUNT || !(properties->may >> property & 1)) {
        ctf2_add_diagnostic(parser, TTR_SEVERITY_REMARK, member, "ctf.unknown-property",
                            "the property \"%.60s\" of %s means nothing", member->key,
                            properties->what);
        return TTR_OK;
    }
    if (object->at[property])
        return ctf2_fail(parser, member, "%s has this property twice", properties->what);
    object->at[property] = member;
    return TTR_OK;
}

/* Reports extensions that the preamble does not declare; they have no effect. */
static ttr_status check_extensions(struct ctf2_parser *parser, const struct json_value *json)
{
    ttr_status status = ctf2_expect_kind(parser, json, JSON_OBJECT);
    for (const struct json_value *ns = json->first; ns && status == TTR_OK; ns = ns->next) {
        status = ctf2_expect_kind(parser, ns, JSON_OBJECT);
        if (status == TTR_OK && ns->first && parser->state->has_preamble)
            ctf2_add_diagnostic(
                parser, TTR_SEVERITY_REMARK, ns->first, "ctf.undeclared-extension",
                "the preamble does not declare the extension \"%.60s\" of \"%.60s\"",
                ns->first->key, ns->key);
    }
    return status;
}

/* Checks attributes and extensions, which every object may have. */
static ttr_status check_common_properties(struct ctf2_parser *parser,
                                          const struct ctf2_object *object)
{
    ttr_status status = TTR_OK;
    if (object->at[CTF2_ATTRIBUTES])
        status = ctf2_expect_kind(parser, object->at[CTF2_ATTRIBUTES], JSON_OBJECT);
    return status == TTR_OK && object->at[CTF2_EXTENSIONS]
               ? check_extensions(parser, object->at[CTF2_EXTENSIONS])
               : status;
}

ttr_status ctf2_read_object(struct ctf2_parser *parser, const struct json_value *json,
                            const struct ctf2_property_set *properties, struct ctf2_object *object)
{
    *object = (struct ctf2_object){.json = json};
    if (json->token.kind != JSON_OBJECT)
        return ctf2_fail(parser, json, "expected %s (an object), found %s", properties->what,
                         json_kind_text(json->token.kind));
    for (const struct json_value *member = json->first; member; member = member->next) {
        ttr_status status = store_property(parser, member, properties, object);
        if (status != TTR_OK)
            return status;
    }
    for (unsigned i = 0; i < CTF2_PROPERTY_COUNT; i++)
        if ((properties->must >> i & 1) && !object->at[i])
            return ctf2_fail(parser, json, "%s must have the property \"%s\"", properties->what,
                             property_names[i].name);
    return check_common_properties(parser, object);
}

ttr_status ctf2_expect_kind(struct ctf2_parser *parser, const struct json_value *json,
                            unsigned kind)
{
    if (json->token.kind == kind)
        return TTR_OK;
    return ctf2_fail(parser, json, "expected %s, found %s", json_kind_text(kind),
                     json_kind_text(json->token.kind));
}

ttr_status ctf2_get_text(struct ctf2_parser *parser, const struct json_value *json, ttr_text *text)
{
    if (!json)
        return TTR_OK;
    ttr_status status = ctf2_expect_kind(parser, json, JSON_TEXT);
    if (status != TTR_OK)
        return status;
    text->p = arena_copy(&parser->description->arena, json->token.text, json->token.n);
    text->n = json->token.n;
    return text->p ? TTR_OK : fail_memory(parser->error);
}

ttr_status ctf2_get_u64(struct ctf2_parser *parser, const struct json_value *json, uint64_t *x)
{
    if (!json || json_token_u64(&json->token, x))
        return TTR_OK;
    if (json->token.kind != JSON_INTEGER)
        return ctf2_expect_kind(parser, json, JSON_INTEGER);
    return ctf2_fail(parser, json, "expected an integer from 0 to 18446744073709551615");
}

ttr_status ctf2_get_i64(struct ctf2_parser *parser, const struct json_value *json, int64_t *x)
{
    if (!json || json_token_i64(&json->token, x))
        return TTR_OK;
    if (json->token.kind != JSON_INTEGER)
        return ctf2_expect_kind(parser, json, JSON_INTEGER);
    return ctf2_fail(parser, json,
                     "expected an integer from -9223372036854775808 to 9223372036854775807");
}

ttr_status ctf2_get_uuid(struct ctf2_parser *parser, const struct json_value *json, uint8_t *uuid,
                         bool *has_uuid)
{
    if (!json)
        return TTR_OK;
    if (json->token.kind != JSON_ARRAY || json->count != 16)
        return ctf2_fail(parser, json, "expected a UUID (an array of 16 integers)");
    for (const struct json_value *byte = json->first; byte; byte = byte->next) {
        uint64_t x;
        if (!json_token_u64(&byte->token, &x) || x > 255)
            return ctf2_fail(parser, byte, "expected an integer from 0 to 255");
        *uuid++ = (uint8_t)x;
    }
    *has_uuid = true;
    return TTR_OK;
}

ttr_status ctf2_get_align(struct ctf2_parser *parser, const struct json_value *json, uint8_t *log2)
{
    uint64_t x = 1;
    ttr_status status = ctf2_get_u64(parser, json, &x);
    if (status != TTR_OK)
        return status;
    if (x == 0 || (x & (x - 1)))
        return ctf2_fail(parser, json, "expected a power of two");
    unsigned power = (unsigned)__builtin_ctzll(x);
    if (power > TYPE_ALIGN_MAX)
        return ctf2_fail_with_status(parser, TTR_E_LIMIT, json,
                                     "alignments of more than %u bits are not supported",
                                     1u << TYPE_ALIGN_MAX);
    *log2 = (uint8_t)power;
    return TTR_OK;
}

ttr_status ctf2_get_word(struct ctf2_parser *parser, const struct json_value *json,
                         const char *const *words, unsigned *index)
{
    char expected[WORDS_SHOWN];
    size_t n = 0;
    ttr_status status = ctf2_expect_kind(parser, json, JSON_TEXT);
    if (status != TTR_OK)
        return status;
    for (unsigned i = 0; words[i]; i++)
        if (json_text_equals(json, words[i])) {
            *index = i;
            return TTR_OK;
        }
    for (unsigned i = 0; words[i] && n < sizeof expected; i++)
        n += (size_t)snprintf(expected + n, sizeof expected - n, "%s\"%s\"", i ? ", " : "",
                              words[i]);
    return ctf2_fail(parser, json, "expected one of %s", expected);
}
