/* Lookup in the table of the .NET runtime's events, and the compiler of its field notation into
 * types. The table is a constant of this library, so its notation is not validated. */
#include "encodings/dotnet/clr_events.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 32u

static const struct type u16 = {.kind = TYPE_UINT, .bits = 16, .align = 3};

/* Parse position in the notation of an event's fields (clr_events.h). */
struct notation_parser {
    const struct clr_type_options *making;
    const char *at;
    /* names of the structs that contain the field, from the payload on, and of the field;
     * references between fields are such paths */
    const ttr_text *path;
    uint32_t path_n;
    bool is_out_of_memory;
};

static bool equals_word(ttr_text word, const char *text)
{
    return strlen(text) == word.n && memcmp(text, word.p, word.n) == 0;
}

const struct clr_event *clr_find_event(ttr_text provider, uint32_t id, uint32_t version)
{
    size_t which = 0;
    while (which < clr_providers_n && !equals_word(provider, clr_providers[which].name))
        which++;
    if (which == clr_providers_n)
        return NULL;
    const struct clr_event *found = NULL;
    for (const struct clr_event *event = clr_providers[which].events;
         event->name && event->id <= id; event++)
        if (event->id == id && (!found || event->version <= version))
            found = event;
    return found;
}

static void *allocate_in_arena(struct notation_parser *parser, size_t size)
{
    void *block = arena_alloc(parser->making->arena, size);
    parser->is_out_of_memory |= !block;
    return block;
}

static ttr_text parse_word(struct notation_parser *parser, const char *ends)
{
    size_t n = strcspn(parser->at, ends);
    ttr_text word = {parser->at, n};
    parser->at += n;
    return word;
}

static struct type parse_simple_type(const struct clr_type_options *making, ttr_text code)
{
    static const struct {
        char code[4];
        struct type type;
    } plain[] = {
        {"u1", {.kind = TYPE_UINT, .bits = 8}},
        {"u2", {.kind = TYPE_UINT, .bits = 16}},
        {"u4", {.kind = TYPE_UINT, .bits = 32}},
        {"u8", {.kind = TYPE_UINT, .bits = 64}},
        {"i4", {.kind = TYPE_INT, .bits = 32}},
        {"i8", {.kind = TYPE_INT, .bits = 64}},
        {"d", {.kind = TYPE_FLOAT, .bits = 64}},
        {"b", {.kind = TYPE_BOOL, .bits = 32}},
        {"v", {.kind = TYPE_VAR_UINT}},
        {"a", {.kind = TYPE_STRING, .bits = 8}},
        {"z", {.kind = TYPE_STRING, .bits = 16, .encoding = ENCODING_UTF16LE}},
        {"p", {.kind = TYPE_UINT, .hint = TTR_DISPLAY_POINTER}},
        {"g", {.kind = TYPE_BLOB, .count = 16}},
        {"x", {.kind = TYPE_UINT, .bits = 32}},
        {"t", {.kind = TYPE_TEXT, .bits = 8, .has_inline_length = true}},
    };
    struct type type = {.kind = TYPE_NULL};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (equals_word(code, plain[i].code))
            type = plain[i].type;
    type.align = 3;
    if (equals_word(code, "p"))
        type.bits = 8 * making->pointer_bytes;
    if (equals_word(code, "g"))
        type.role = making->guid_role;
    if (equals_word(code, "t"))
        type.length_type = &u16;
    return type;
}

static const struct type_labels *make_type_labels(struct notation_parser *parser,
                                                  const struct clr_map *map)
{
    uint32_t room = 1, n = 0;
    for (const char *p = map->labels; *p; p++)
        room += *p == ' ';
    struct type_labels *labels = allocate_in_arena(parser, sizeof *labels);
    struct type_label *label = allocate_in_arena(parser, room * sizeof *label);
    struct type_range *range = allocate_in_arena(parser, room * sizeof *range);
    if (!labels || !label || !range)
        return NULL;
    const char *at = map->labels;
    for (uint32_t i = 0; i < room; i++) {
        size_t length = strcspn(at, " ");
        range[n] = (struct type_range){i, i};
        label[n] = (struct type_label){.name = {at, length}, .ranges = &range[n], .ranges_n = 1};
        n += *at != '-';
        at += length + (at[length] == ' ');
    }
    *labels = (struct type_labels){.label = label, .n = n};
    type_labels_cache_counts(labels);
    return labels;
}

/* Parses an optional "=Map" after a type code and adds the labels of that map to the type. */
static void parse_map(struct notation_parser *parser, struct type *type)
{
    if (*parser->at != '=')
        return;
    parser->at++;
    ttr_text name = parse_word(parser, " }");
    for (size_t i = 0; i < clr_maps_n; i++) {
        if (!equals_word(name, clr_maps[i].name))
            continue;
        type->labels = make_type_labels(parser, &clr_maps[i]);
        type->kind = clr_maps[i].is_flags ? TYPE_FLAGS : type->kind;
    }
}

static struct type *allocate_type(struct notation_parser *parser, struct type type)
{
    struct type *ctx = allocate_in_arena(parser, sizeof *ctx);
    if (ctx)
        *ctx = type;
    return ctx;
}

static struct type *parse_struct_notation(struct notation_parser *parser);

/* Parses the notation after a field name: "*Count" if it is an array, then the type. */
static struct type *parse_type_notation(struct notation_parser *parser, ttr_text name)
{
    ttr_text count = {NULL, 0};
    if (*parser->at == '*') {
        parser->at++;
        count = parse_word(parser, ":{");
    }
    ttr_text path[3] = {{NULL, 0}};
    for (uint32_t i = 0; i < parser->path_n && i < 2; i++)
        path[i] = parser->path[i];
    struct type *element;
    if (*parser->at++ == '{') {
        path[parser->path_n] = name;
        struct notation_parser inner = *parser;
        inner.path = path;
        inner.path_n = parser->path_n + 1;
        element = parse_struct_notation(&inner);
        parser->at = inner.at;
        parser->is_out_of_memory |= inner.is_out_of_memory;
    } else {
        struct type type = parse_simple_type(parser->making, parse_word(parser, " }="));
        parse_map(parser, &type);
        element = allocate_type(parser, type);
    }
    if (!count.n || !element)
        return element;
    struct type list = {.kind = TYPE_SEQUENCE, .align = 3, .element = element};
    if (count.p[0] >= '0' && count.p[0] <= '9') {
        list.kind = TYPE_ARRAY;
        list.count = strtoul(count.p, NULL, 10);
        return allocate_type(parser, list);
    }
    if (equals_word(count, "+")) {
        list.has_inline_length = true;
        list.length_type = &u16;
        return allocate_type(parser, list);
    }
    ttr_text *names = allocate_in_arena(parser, (parser->path_n + 1) * sizeof *names);
    for (uint32_t i = 0; names && i < parser->path_n; i++)
        names[i] = parser->path[i];
    if (names)
        names[parser->path_n] = count;
    list.reference = (struct type_reference){
        .names = names, .names_n = parser->path_n + 1, .root = ROOT_PAYLOAD};
    return names ? allocate_type(parser, list) : NULL;
}

/* Parses fields up to the end of the notation or to a closing brace, which is consumed. */
static struct type *parse_struct_notation(struct notation_parser *parser)
{
    struct type_member member[FIELDS_MAX];
    uint32_t n = 0;
    while (*parser->at && *parser->at != '}' && n < FIELDS_MAX) {
        parser->at += *parser->at == ' ';
        member[n] = (struct type_member){.name = parse_word(parser, ":*{")};
        bool is_padding = strncmp(parser->at, ":x", 2) == 0;
        member[n].type = parse_type_notation(parser, member[n].name);
        if (!member[n].type)
            return NULL;
        n += !is_padding || parser->making->pointer_bytes == 8;
        parser->at += *parser->at == ' ';
    }
    parser->at += *parser->at == '}';
    struct type_member *members = allocate_in_arena(parser, n ? n * sizeof *members : 1);
    if (members && n)
        memcpy(members, member, n * sizeof *members);
    return members ? allocate_type(parser, (struct type){.kind = TYPE_STRUCT,
                                                         .align = 3,
                                                         .members = members,
                                                         .members_n = n})
                   : NULL;
}

struct type *clr_make_event_type(const struct clr_type_options *making,
                                 const struct clr_event *event)
{
    struct notation_parser parser = {.making = making, .at = event->fields};
    struct type *type = parse_struct_notation(&parser);
    return parser.is_out_of_memory ? NULL : type;
}

bool clr_add_event_labels(struct arena *arena, const struct clr_event *event, struct type *type)
{
    const struct clr_type_options making = {.arena = arena, .pointer_bytes = 8};
    if (!strchr(event->fields, '=') || type->members_n == 0)
        return true;
    const struct type *known = clr_make_event_type(&making, event);
    struct type_member *members = arena_alloc(arena, type->members_n * sizeof *members);
    if (!known || !members)
        return false;
    for (uint32_t i = 0; i < type->members_n; i++) {
        members[i] = type->members[i];
        const struct type_member *like = type_find_member(known, members[i].name);
        const struct type *old = members[i].type;
        bool is_number =
            (old->kind == TYPE_UINT || old->kind == TYPE_INT) && !old->labels && !old->role;
        if (!like || !like->type->labels || !is_number || like->type->bits != old->bits)
            continue;
        struct type *with = arena_alloc(arena, sizeof *with);
        if (!with)
            return false;
        *with = *old;
        with->kind = like->type->kind == TYPE_FLAGS ? TYPE_FLAGS : old->kind;
        with->labels = like->type->labels;
        members[i].type = with;
    }
    type->members = members;
    return true;
}
