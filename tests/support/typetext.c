/* Types from text: see typetext.h. */
#include "support/typetext.h"

#include <ctype.h>
#include <stdlib.h>

#include "support/support.h"

struct parser {
    struct arena *arena;
    const char *p, *text;
};

static struct type *parse_type(struct parser *parser);

static void *take(struct parser *parser, size_t n)
{
    void *p = arena_alloc(parser->arena, n ? n : 1);
    if (!p)
        fail_msg("no memory for a type");
    memset(p, 0, n);
    return p;
}

static bool accept(struct parser *parser, char c)
{
    if (*parser->p != c)
        return false;
    parser->p++;
    return true;
}

static void expect(struct parser *parser, char c)
{
    if (!accept(parser, c))
        fail_msg("'%c' wanted at %d of \"%s\"", c, (int)(parser->p - parser->text), parser->text);
}

static uint64_t number(struct parser *parser)
{
    char *end;
    uint64_t x =
        *parser->p == '-' ? (uint64_t)strtoll(parser->p, &end, 0) : strtoull(parser->p, &end, 0);
    if (end == parser->p)
        fail_msg("number wanted at %d of \"%s\"", (int)(parser->p - parser->text), parser->text);
    parser->p = end;
    return x;
}

static ttr_text word(struct parser *parser)
{
    const char *begin = parser->p;
    while (isalnum((unsigned char)*parser->p) || *parser->p == '_')
        parser->p++;
    size_t n = (size_t)(parser->p - begin);
    return (ttr_text){arena_copy(parser->arena, begin, n), n};
}

static struct type_reference reference(struct parser *parser)
{
    static const char roots[] = "KkhcsP";
    ttr_text names[40];
    ttr_text root = word(parser);
    const char *found = root.n == 1 ? strchr(roots, *root.p == 'p' ? 'P' : *root.p) : NULL;
    struct type_reference to = {.root = found ? (enum type_root)(found - roots) : ROOT_COUNT};
    while (accept(parser, '.'))
        names[to.names_n++] = word(parser);
    ttr_text *copy = take(parser, to.names_n * sizeof *copy);
    memcpy(copy, names, to.names_n * sizeof *copy);
    to.names = copy;
    return to;
}

/* "1,3..5" */
static uint32_t ranges(struct parser *parser, const struct type_range **to)
{
    struct type_range list[64];
    uint32_t n = 0;
    do {
        list[n].low = list[n].high = number(parser);
        if (parser->p[0] == '.' && parser->p[1] == '.') {
            parser->p += 2;
            list[n].high = number(parser);
        }
        n++;
    } while (parser->p[0] == ',' && (isdigit((unsigned char)parser->p[1]) || parser->p[1] == '-') &&
             accept(parser, ','));
    struct type_range *copy = take(parser, n * sizeof *copy);
    memcpy(copy, list, n * sizeof *copy);
    *to = copy;
    return n;
}

static const struct type_labels *labels(struct parser *parser, bool is_signed)
{
    struct type_label list[64];
    struct type_labels *to = take(parser, sizeof *to);
    do {
        struct type_label *label = &list[to->n++];
        label->name = word(parser);
        expect(parser, '=');
        label->ranges_n = ranges(parser, &label->ranges);
    } while (accept(parser, ','));
    expect(parser, ';');
    struct type_label *copy = take(parser, to->n * sizeof *copy);
    memcpy(copy, list, to->n * sizeof *copy);
    to->label = copy;
    to->is_signed = is_signed;
    return to;
}

static uint8_t log2_of(uint64_t x)
{
    uint8_t n = 0;
    while (UINT64_C(1) << n < x)
        n++;
    return n;
}

static void attributes(struct parser *parser, struct type *type)
{
    for (;;) {
        if (accept(parser, '>'))
            type->is_big_endian = true;
        else if (accept(parser, '~'))
            type->is_reversed = true;
        else if (accept(parser, '@'))
            type->align = log2_of(number(parser));
        else if (accept(parser, '/'))
            type->unit = (uint32_t)number(parser);
        else if (accept(parser, '^'))
            type->role = (uint16_t)number(parser);
        else if (accept(parser, '#'))
            type->base = (uint8_t)number(parser);
        else if (accept(parser, '='))
            type->labels = labels(parser, type->kind == TYPE_INT || type->kind == TYPE_VAR_INT);
        else
            return;
    }
}

/* How a type counts in the alignment of what it is in. */
static uint8_t weight(const struct type *type)
{
    uint8_t unit = type->unit ? log2_of(type->unit) : 0;
    if (type->kind == TYPE_OPTIONAL || type->kind == TYPE_VARIANT)
        return 0;
    return unit > type->align ? unit : type->align;
}

static struct type *members(struct parser *parser)
{
    struct type_member list[512];
    struct type *type = take(parser, sizeof *type);
    type->kind = TYPE_STRUCT;
    while (*parser->p && *parser->p != '}') {
        if (accept(parser, ' '))
            continue;
        struct type_member *member = &list[type->members_n++];
        memset(member, 0, sizeof *member);
        member->name = member->shown = word(parser);
        if (member->name.n && *member->name.p == '_')
            member->shown = (ttr_text){member->name.p + 1, member->name.n - 1};
        expect(parser, ':');
        member->type = parse_type(parser);
        type->align = weight(member->type) > type->align ? weight(member->type) : type->align;
    }
    struct type_member *copy = take(parser, type->members_n * sizeof *copy);
    memcpy(copy, list, type->members_n * sizeof *copy);
    type->members = copy;
    return type;
}

static void array(struct parser *parser, struct type *type)
{
    if (accept(parser, ':')) {
        type->kind = TYPE_SEQUENCE;
        type->has_inline_length = true;
        type->length_type = parse_type(parser);
    } else if (isdigit((unsigned char)*parser->p)) {
        type->kind = TYPE_ARRAY;
        type->count = number(parser);
    } else {
        type->kind = TYPE_SEQUENCE;
        type->reference = reference(parser);
    }
    expect(parser, ']');
    type->element = parse_type(parser);
    type->align = weight(type->element);
    if (type->length_type && type->length_type->align > type->align)
        type->align = type->length_type->align;
}

static void optional(struct parser *parser, struct type *type)
{
    type->kind = TYPE_OPTIONAL;
    type->reference = reference(parser);
    if (accept(parser, '(')) {
        type->is_selector_signed = *parser->p == '-';
        type->ranges_n = ranges(parser, &type->ranges);
        expect(parser, ')');
    }
    expect(parser, ':');
    type->element = parse_type(parser);
}

static void variant(struct parser *parser, struct type *type)
{
    struct type_member list[64];
    type->kind = TYPE_VARIANT;
    type->reference = reference(parser);
    expect(parser, '(');
    do {
        struct type_member *member = &list[type->members_n++];
        memset(member, 0, sizeof *member);
        member->name = member->shown = word(parser);
        expect(parser, '=');
        type->is_selector_signed |= *parser->p == '-';
        member->ranges_n = ranges(parser, &member->ranges);
        expect(parser, ':');
        member->type = parse_type(parser);
    } while (accept(parser, ','));
    expect(parser, ')');
    struct type_member *copy = take(parser, type->members_n * sizeof *copy);
    memcpy(copy, list, type->members_n * sizeof *copy);
    type->members = copy;
}

static void bytes(struct parser *parser, struct type *type, char kind)
{
    type->kind = kind == 'B' ? TYPE_BLOB : TYPE_TEXT;
    type->align = 3;
    bool is_counted = accept(parser, '(');
    if (is_counted && accept(parser, ':')) {
        type->has_inline_length = true;
        type->length_type = parse_type(parser);
    } else if (is_counted) {
        type->reference = reference(parser);
    } else {
        type->count = number(parser);
    }
    if (is_counted)
        expect(parser, ')');
    if (kind == 'W')
        type->encoding = accept(parser, '>') ? ENCODING_UTF16BE : ENCODING_UTF16LE;
}

static void string(struct parser *parser, struct type *type, char kind)
{
    type->kind = TYPE_STRING;
    type->align = 3;
    type->bits = 8;
    if (kind == 's')
        return;
    type->bits = (uint32_t)number(parser);
    bool is_big = accept(parser, '>');
    type->encoding = type->bits == 16 ? (is_big ? ENCODING_UTF16BE : ENCODING_UTF16LE)
                     : is_big         ? ENCODING_UTF32BE
                                      : ENCODING_UTF32LE;
}

static void numeric(struct parser *parser, struct type *type, char kind)
{
    static const char kinds[] = "btuigfUIn";
    const char *found = strchr(kinds, kind);
    if (!found)
        fail_msg("no type at %d of \"%s\"", (int)(parser->p - parser->text), parser->text);
    type->kind = kind == 'n' ? TYPE_NULL : (uint8_t)(TYPE_BITS + (found - kinds));
    bool is_variable = type->kind == TYPE_VAR_UINT || type->kind == TYPE_VAR_INT;
    type->bits = is_variable ? 0 : (uint32_t)number(parser);
    type->align = type->bits % 8 ? 0 : 3;
    attributes(parser, type);
}

static struct type *parse_type(struct parser *parser)
{
    char c = *parser->p;
    if (accept(parser, '{')) {
        struct type *type = members(parser);
        expect(parser, '}');
        if (accept(parser, '@')) {
            uint8_t more = log2_of(number(parser));
            type->align = more > type->align ? more : type->align;
        }
        return type;
    }
    struct type *type = take(parser, sizeof *type);
    parser->p += c != 0;
    switch (c) {
    case '[':
        array(parser, type);
        break;
    case '?':
        optional(parser, type);
        break;
    case '|':
        variant(parser, type);
        break;
    case 's':
    case 'S':
        string(parser, type, c);
        break;
    case 'T':
    case 'B':
    case 'W':
        bytes(parser, type, c);
        break;
    default:
        numeric(parser, type, c);
        break;
    }
    return type;
}

const struct type *type_of_text(struct arena *arena, const char *text)
{
    struct parser parser = {arena, text, text};
    const struct type *type = members(&parser);
    if (*parser.p)
        fail_msg("left over at %d of \"%s\"", (int)(parser.p - text), text);
    return type;
}

struct type_reference reference_of_text(struct arena *arena, const char *text)
{
    struct parser parser = {arena, text, text};
    return reference(&parser);
}
