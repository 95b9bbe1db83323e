/* Output of TSDL text, errors for what TSDL cannot express, and identifiers of fields and clocks.
 */
#include "formats/ctf/metadata/tsdl/tsdl_print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

bool tsdl_print_fail_unsupported(struct tsdl_printer *p, const char *what)
{
    char place[240] = "";
    size_t n = 0;
    if (p->stream)
        n += (size_t)snprintf(place, sizeof place, ", in stream %" PRIu64, p->stream->id);
    if (p->event)
        n += (size_t)snprintf(place + n, sizeof place - n, ", event %" PRIu64 " (%.*s)",
                              p->event->id, p->event->name.n < 40 ? (int)p->event->name.n : 40,
                              p->event->name.p ? p->event->name.p : "");
    for (uint32_t i = 0; i < p->names_n && n < 160; i++)
        n += (size_t)snprintf(place + n, sizeof place - n, "%s%.*s", i ? "." : ", field ",
                              p->names[i].n < 30 ? (int)p->names[i].n : 30, p->names[i].p);
    p->status = fail(p->error, TTR_E_UNSUPPORTED, NO_OFFSET, "CTF 1.8 has no %s%s", what, place);
    return false;
}

bool tsdl_print_fail_memory(struct tsdl_printer *p)
{
    p->status = fail_memory(p->error);
    return false;
}

void tsdl_print_format(struct tsdl_printer *p, const char *format, ...)
{
    char text[200];
    va_list values;
    if (p->gathers)
        return;
    va_start(values, format);
    int n = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    buffer_add(p->to, text, n < 0 ? 0 : (size_t)n);
}

void tsdl_print_text(struct tsdl_printer *p, ttr_text text)
{
    if (!p->gathers)
        buffer_add(p->to, text.p, text.n);
}

void tsdl_print_line_break(struct tsdl_printer *p)
{
    tsdl_print_format(p, "\n");
    for (unsigned i = 0; i < p->indent; i++)
        tsdl_print_format(p, "\t");
}

void tsdl_print_string(struct tsdl_printer *p, ttr_text text)
{
    tsdl_print_format(p, "\"");
    for (size_t i = 0; i < text.n; i++) {
        uint8_t c = (uint8_t)text.p[i];
        if (c < ' ' || c == 0x7f)
            tsdl_print_format(p, "\\%03o", c);
        else if (c == '"' || c == '\\')
            tsdl_print_format(p, "\\%c", c);
        else
            tsdl_print_text(p, (ttr_text){text.p + i, 1});
    }
    tsdl_print_format(p, "\"");
}

bool tsdl_is_identifier(ttr_text name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i], lower = (char)(c | 0x20);
        bool is_letter = (lower >= 'a' && lower <= 'z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return name.n > 0 && !tsdl_find_keyword(name);
}

static bool texts_are_equal(ttr_text a, ttr_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Returns an identifier that readers show as the name `shown`: the name itself, or with a leading
 * underscore, which readers drop. Replaces invalid characters by underscores. */
static bool escape_identifier(struct tsdl_printer *p, ttr_text shown, ttr_text *word)
{
    *word = shown;
    if (tsdl_is_identifier(shown) && shown.p[0] != '_')
        return true;
    char *to = arena_alloc(&p->arena, shown.n + 1);
    if (!to)
        return tsdl_print_fail_memory(p);
    to[0] = '_';
    for (size_t i = 0; i < shown.n; i++)
        to[i + 1] = tsdl_is_word_character(shown.p[i]) ? shown.p[i] : '_';
    *word = (ttr_text){to, shown.n + 1};
    ttr_text bare = {to + 1, shown.n};
    if (tsdl_is_identifier(bare) && bare.p[0] != '_')
        *word = bare;
    return true;
}

/* Derives the identifier of an option without a name from its index. */
static bool name_option_by_index(struct tsdl_printer *p, unsigned place, ttr_text *word)
{
    char made[24];
    int n = snprintf(made, sizeof made, "option_%u", place);
    char *kept = arena_copy(&p->arena, made, (size_t)n);
    *word = (ttr_text){kept, (size_t)n};
    return kept || tsdl_print_fail_memory(p);
}

bool tsdl_choose_member_word(struct tsdl_printer *p, const struct type *outer,
                             const struct type_member *member, ttr_text *word)
{
    ttr_text name = member->name, shown = member->shown;
    bool is_escaped = name.n == shown.n + 1 && name.p[0] == '_' &&
                      texts_are_equal((ttr_text){name.p + 1, shown.n}, shown);
    bool is_bare = texts_are_equal(name, shown) && name.n && name.p[0] != '_';
    /* a name that was read from TSDL is a valid identifier */
    bool is_known = p->description->version == CTF_1_8;
    *word = name;
    const ttr_text *label =
        outer->kind == TYPE_VARIANT
            ? tsdl_names_find(&p->options, 0, (ttr_text){(const char *)&member, sizeof member})
            : NULL;
    if (label) {
        *word = *label;
        return true;
    }
    if (!is_known && name.n == 0 && outer->kind == TYPE_VARIANT)
        return name_option_by_index(p, (unsigned)(member - outer->members), word);
    return (is_known || ((is_escaped || is_bare) && tsdl_is_identifier(name)))
               ? true
               : escape_identifier(p, shown, word);
}

ttr_text tsdl_clock_name(const struct tsdl_printer *p, const struct ctf_clock *clock)
{
    const ttr_text *name =
        tsdl_names_find(&p->clocks, 0, (ttr_text){(const char *)&clock, sizeof clock});
    return name ? *name : clock->id;
}

/* Returns true if a field of this type can have the role that its name implies. */
static bool can_have_role(const struct type *type, enum ctf_role role)
{
    return role == CTF_ROLE_UUID ? tsdl_has_length(type)
                                 : type->kind == TYPE_UINT && type->bits <= 64;
}

/* Returns true if readers show another member under this name. */
static bool is_shown_name_used(const struct type *outer, const struct type_member *member,
                               ttr_text name)
{
    for (uint32_t i = 0; i < outer->members_n; i++) {
        const struct type_member *other = &outer->members[i];
        if (other != member && other->shown.n == name.n &&
            memcmp(other->shown.p, name.p, name.n) == 0)
            return true;
    }
    return false;
}

bool tsdl_choose_root_word(struct tsdl_printer *p, const struct tsdl_spot *spot,
                           const struct type_member *member, ttr_text *word)
{
    const struct type *type = member->type;
    enum ctf_role means =
        spot->is_in_array ? CTF_ROLE_NONE : tsdl_find_role(spot->root, spot->is_top, member);
    enum ctf_role role =
        spot->root <= ROOT_EVENT_HEADER ? (enum ctf_role)type->role : CTF_ROLE_NONE;
    bool is_mapped = role == CTF_ROLE_TIME && (type->clock || (p->stream && p->stream->clock));
    if (means == CTF_ROLE_CPU || (means && !can_have_role(type, means)))
        means = CTF_ROLE_NONE;
    if (means == role || ((is_mapped || role == CTF_ROLE_CPU) && means == CTF_ROLE_NONE))
        return tsdl_choose_member_word(p, spot->outer, member, word);
    const char *name = tsdl_get_role_name(spot->root, role);
    if (!role)
        return tsdl_print_fail_unsupported(
            p, "such field: its name would imply a role that it does not have");
    if (!name || spot->is_in_array || (spot->root != ROOT_EVENT_HEADER && !spot->is_top))
        return tsdl_print_fail_unsupported(p, "way to mark the role of this field");
    *word = (ttr_text){name, strlen(name)};
    return !is_shown_name_used(spot->outer, member, *word) ||
           tsdl_print_fail_unsupported(
               p, "way to mark the role of this field: another field has the name that implies it");
}
