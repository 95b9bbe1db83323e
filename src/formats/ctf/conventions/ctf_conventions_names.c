/* Tables of attribute names and log levels of the CTF conventions, and the escaping of names into
 * identifiers and back. */
#include <string.h>

#include "base/number.h"
#include "base/utf.h"
#include "formats/ctf/conventions/ctf_conventions.h"

const char *const ctf_attribute_names[CTF_ATTRIBUTE_COUNT] = {
    [CTF_ATTRIBUTE_KIND] = "kind",
    [CTF_ATTRIBUTE_CATEGORY] = "category",
    [CTF_ATTRIBUTE_PROVIDER] = "provider",
    [CTF_ATTRIBUTE_EVENT_ID] = "event_id",
    [CTF_ATTRIBUTE_EVENT_VERSION] = "event_version",
    [CTF_ATTRIBUTE_PID] = "vpid",
    [CTF_ATTRIBUTE_TID] = "vtid",
    [CTF_ATTRIBUTE_CPU] = "cpu_id",
    [CTF_ATTRIBUTE_DURATION] = "duration",
    [CTF_ATTRIBUTE_LINK] = "link",
    [CTF_ATTRIBUTE_OTHER_PID] = "outgoing_vpid",
    [CTF_ATTRIBUTE_OTHER_TID] = "outgoing_vtid",
    [CTF_ATTRIBUTE_TAG] = "tag",
    [CTF_ATTRIBUTE_FLAGS] = "flags",
    [CTF_ATTRIBUTE_LEVEL] = "level",
    [CTF_ATTRIBUTE_OPCODE] = "opcode",
    [CTF_ATTRIBUTE_KEYWORD] = "keyword",
    [CTF_ATTRIBUTE_SEQUENCE] = "sequence",
    [CTF_ATTRIBUTE_ACTIVITY] = "activity",
    [CTF_ATTRIBUTE_RELATED] = "related",
    [CTF_ATTRIBUTE_NAME] = "name",
};

const char *const ctf_listed_names[CTF_LISTED_MEMBERS] = {
    [CTF_LISTED_NAME] = "name",   [CTF_LISTED_PART] = "part",   [CTF_LISTED_TYPE] = "type",
    [CTF_LISTED_DEPTH] = "depth", [CTF_LISTED_BITS] = "bits",   [CTF_LISTED_BASE] = "base",
    [CTF_LISTED_HINT] = "hint",   [CTF_LISTED_VALUE] = "value", [CTF_LISTED_TEXT] = "text",
    [CTF_LISTED_DATA] = "data",
};

/* LTTng's log levels: 2 critical, 3 error, 4 warning, 6 info, 13 debug line, 14 debug. */
const uint8_t ctf_log_levels[7] = {
    [TTR_LEVEL_TRACE] = 13,  [TTR_LEVEL_DEBUG] = 14, [TTR_LEVEL_INFO] = 6,
    [TTR_LEVEL_WARNING] = 4, [TTR_LEVEL_ERROR] = 3,  [TTR_LEVEL_FATAL] = 2,
};

unsigned ctf_convert_log_level(int64_t log_level)
{
    for (unsigned level = 1; level < sizeof ctf_log_levels; level++)
        if (log_level == ctf_log_levels[level])
            return level;
    return TTR_LEVEL_NONE;
}

/* Returns true if a field name has a meaning in the CTF conventions: an attribute name in contexts,
 * a wrapper name ("koid", "number", "elements") in every struct. */
static bool is_reserved_name(ttr_text name, bool is_in_context)
{
    static const char *const wrappers[] = {"koid", "number", "elements"};
    for (size_t i = 0; is_in_context && i < CTF_ATTRIBUTE_COUNT; i++)
        if (name.n == strlen(ctf_attribute_names[i]) &&
            memcmp(name.p, ctf_attribute_names[i], name.n) == 0)
            return true;
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (name.n == strlen(wrappers[i]) && memcmp(name.p, wrappers[i], name.n) == 0)
            return true;
    return false;
}

static void append_escaped_byte(struct buffer *to, uint8_t byte)
{
    static const char digits[] = "0123456789abcdef";
    const char escape_name[] = {'_', 'x', digits[byte >> 4], digits[byte & 15]};
    buffer_add(to, escape_name, sizeof escape_name);
}

static bool is_word_character(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void escape_name(struct buffer *to, ttr_text text, bool is_identifier, bool hides_first)
{
    const uint8_t *p = (const uint8_t *)(text.n ? text.p : ""), *end = p + text.n;
    for (const uint8_t *at = p; at < end;) {
        size_t n = is_word_character(*at)      ? 1
                   : is_identifier || *at == 0 ? 0
                                               : utf8_char_length(at, (size_t)(end - at));
        bool is_escape = *at == '_' && at + 1 < end && at[1] == 'x';
        if (n == 0 || is_escape || (hides_first && at == p))
            append_escaped_byte(to, *at);
        else
            buffer_add(to, at, n);
        at += n ? n : 1;
    }
}

void ctf_name_escape(struct buffer *to, ttr_text name, bool is_identifier, bool is_in_context,
                     unsigned times)
{
    char digits[NUMBER_MAX];
    if (name.n == 0)
        buffer_add_text(to, "_x_");
    escape_name(to, name, is_identifier, is_reserved_name(name, is_in_context));
    if (times < 2)
        return;
    buffer_add_text(to, "_xn");
    buffer_add(to, digits, number_format_u64(digits, times));
}

void ctf_label_escape(struct buffer *to, ttr_text text)
{
    size_t n = strlen(CTF_CONVENTIONS_UNNAMED);
    escape_name(to, text, false, text.n >= n && memcmp(text.p, CTF_CONVENTIONS_UNNAMED, n) == 0);
}

bool ctf_has_escapes(ttr_text text)
{
    for (size_t i = 0; i + 2 < text.n; i++)
        if (text.p[i] == '_' && text.p[i + 1] == 'x')
            return true;
    return false;
}

static int hex_digit_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns true if the text from p to `end` is a suffix "_xnNUMBER". */
static bool is_occurrence_suffix(const char *p, const char *end)
{
    if (end - p < 4 || p[2] != 'n')
        return false;
    for (p += 3; p < end; p++)
        if (*p < '0' || *p > '9')
            return false;
    return true;
}

void ctf_name_unescape(struct buffer *to, ttr_text escaped)
{
    const char *p = escaped.n ? escaped.p : "", *end = p + escaped.n;
    while (p < end) {
        bool is_escape = *p == '_' && end - p >= 3 && p[1] == 'x';
        int high = is_escape && end - p >= 4 ? hex_digit_value(p[2]) : -1,
            low = high >= 0 ? hex_digit_value(p[3]) : -1;
        if (low >= 0) {
            buffer_add_byte(to, (uint8_t)(high << 4 | low));
            p += 4;
        } else if (is_escape && (is_occurrence_suffix(p, end) || (p[2] == '_' && p == escaped.p))) {
            p = p[2] == '_' ? p + 3 : end;
        } else {
            buffer_add_byte(to, (uint8_t)*p++);
        }
    }
}

bool ctf_uses_conventions(const struct ctf_description *description)
{
    const struct ctf_environment *tracer = ctf_find_environment(description, "tracer_name");
    const struct ctf_environment *version =
        ctf_find_environment(description, "tracetta_conventions");
    return tracer && !tracer->is_number && tracer->text.n == strlen(CTF_CONVENTIONS_TRACER) &&
           memcmp(tracer->text.p, CTF_CONVENTIONS_TRACER, tracer->text.n) == 0 && version &&
           version->is_number && version->number == CTF_CONVENTIONS_VERSION;
}
