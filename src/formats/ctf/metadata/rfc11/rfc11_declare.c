/* Type declarations of RFC v1.1: `type NAME { parent = P; attribute = value; }` and similar forms,
 * parsed into sets of attributes (section 4).
 *
 * The order of attributes does not matter: after the last one, attributes that are missing are
 * inherited from the parent. Names are declared before their uses. Built-in types are uintN_t and
 * intN_t for N = 1 to 64, uint (uint32_t), and the abstract integer, gcc_bitfield, enum, struct,
 * array, sequence and string. */
#include <string.h>

#include "base/hash.h"
#include "base/key_map.h"
#include "formats/ctf/metadata/rfc11/rfc11_types.h"

#define LABELS_FIRST 8u

/* --- Built-in types --- */

static const struct {
    const char *name;
    enum rfc11_kind kind;
    bool lacks_map, lacks_unit;
} roots[] = {
    {"integer", RFC11_INTEGER, false, false},    {"gcc_bitfield", RFC11_INTEGER, false, true},
    {"enum", RFC11_INTEGER, true, false},        {"struct", RFC11_STRUCT, false, false},
    {"array", RFC11_ARRAY, false, false},        {"sequence", RFC11_SEQUENCE, false, false},
    {"string", RFC11_STRING_KIND, false, false},
};

static bool equals_text(ttr_text name, const char *text)
{
    return name.n == strlen(text) && memcmp(name.p, text, name.n) == 0;
}

bool rfc11_is_root_name(ttr_text name)
{
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (equals_text(name, roots[i].name))
            return true;
    return false;
}

/* Parses the name of a built-in integer. Returns N of uintN_t or intN_t, 1 to 64; 0 for other
 * names. */
static uint32_t parse_integer_name(ttr_text name, bool *is_signed)
{
    uint32_t bits = 0;
    if (equals_text(name, "uint")) {
        *is_signed = false;
        return 32;
    }
    *is_signed = name.n > 0 && name.p[0] == 'i';
    size_t at = *is_signed ? 3 : 4, digits = name.n > at + 2 ? name.n - at - 2 : 0;
    if (digits < 1 || digits > 2 || memcmp(name.p, *is_signed ? "int" : "uint", at) != 0 ||
        memcmp(name.p + name.n - 2, "_t", 2) != 0 || name.p[at] == '0')
        return 0;
    for (; digits > 0; digits--, at++) {
        if (name.p[at] < '0' || name.p[at] > '9')
            return 0;
        bits = bits * 10 + (uint32_t)(name.p[at] - '0');
    }
    return bits <= 64 ? bits : 0;
}

/* Initialises the declaration of a built-in type. Returns false if `name` is not built-in. */
static bool init_built_in_type(ttr_text name, struct rfc11_declaration *d)
{
    *d = (struct rfc11_declaration){.name = name, .is_built_in = true};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (equals_text(name, roots[i].name)) {
            d->kind = roots[i].kind;
            d->is_abstract = true;
            d->lacks_map = roots[i].lacks_map;
            d->lacks_unit = roots[i].lacks_unit;
            return true;
        }
    d->size = parse_integer_name(name, &d->is_signed);
    d->kind = RFC11_INTEGER;
    d->declared = 1u << ATTRIBUTE_SIZE | 1u << ATTRIBUTE_SIGNED;
    return d->size != 0;
}

/* Returns the declaration of a type name. Returns NULL if it is not declared, or if memory runs out
 * (see lexer.status). A built-in type is declared when it is first used; after that, the metadata
 * cannot redeclare it. */
static struct rfc11_declaration *find_type(struct rfc11_parser *parser, ttr_text name)
{
    struct arena *arena = &parser->description->arena;
    struct rfc11_declaration *d = rfc11_names_find(&parser->state->types, name), found;
    if (d || !init_built_in_type(name, &found))
        return d;
    found.name.p = arena_copy(arena, name.p, name.n);
    d = arena_alloc(arena, sizeof *d);
    if (!d || !found.name.p) {
        (void)rfc11_fail_memory(&parser->lexer);
        return NULL;
    }
    *d = found;
    if (rfc11_names_add(&parser->state->types, arena, d->name, d))
        return d;
    (void)rfc11_fail_memory(&parser->lexer);
    return NULL;
}

/* --- Values of type attributes --- */

static bool parse_body(struct rfc11_parser *parser, struct rfc11_declaration *d);

/* Parses the use of a type: its name, or `type { ... }` for a type without a name. */
static struct rfc11_declaration *parse_type_use(struct rfc11_parser *parser)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    bool is_abstract = rfc11_is_word(lexer, "abstract_type");
    if (!is_abstract && !rfc11_is_word(lexer, "type")) {
        if (lexer->token.kind != RFC11_WORD) {
            (void)rfc11_fail_expected(lexer, "a type: a name, or type { ... }");
            return NULL;
        }
        struct rfc11_token name = lexer->token;
        struct rfc11_declaration *d = find_type(parser, name.text);
        if (!d && lexer->status == TTR_OK)
            (void)rfc11_fail_at(lexer, name.at, "no type of this name was declared up to here");
        return d && rfc11_next_token(lexer) ? d : NULL;
    }
    struct rfc11_declaration *d = arena_alloc(lexer->arena, sizeof *d);
    if (!d) {
        (void)rfc11_fail_memory(lexer);
        return NULL;
    }
    *d = (struct rfc11_declaration){.is_abstract = is_abstract};
    return rfc11_next_token(lexer) && parse_body(parser, d) ? d : NULL;
}

struct rfc11_type *rfc11_parse_type(struct rfc11_parser *parser)
{
    size_t at = parser->lexer.token.at;
    struct rfc11_declaration *d = parse_type_use(parser);
    return d ? rfc11_make_type(parser, d, at) : NULL;
}

/* Parses a number of bits, which must be a power of two from `least` to `most`. */
static bool parse_power_of_two(struct rfc11_parser *parser, uint32_t least, uint32_t most,
                               uint32_t *bits)
{
    struct rfc11_token number;
    if (!rfc11_parse_number(&parser->lexer, &number, "a number of bits"))
        return false;
    if (number.is_negative || number.value < least || number.value > most ||
        (number.value & (number.value - 1)) != 0)
        return rfc11_fail_at(&parser->lexer, number.at,
                             "expected a power of two from %u to %u, in bits", least, most);
    *bits = (uint32_t)number.value;
    return true;
}

static bool parse_parent(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    d->parent = parse_type_use(parser);
    return d->parent != NULL;
}

static bool parse_align(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    return parse_power_of_two(parser, 1, 1u << TYPE_ALIGN_MAX, &d->align);
}

static bool parse_unit_size(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    return parse_power_of_two(parser, 8, 64, &d->unit_size);
}

static bool parse_byte_order(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    bool is_native = rfc11_is_word(lexer, "native");
    bool is_big = rfc11_is_word(lexer, "be") || rfc11_is_word(lexer, "network");
    if (!is_native && !is_big && !rfc11_is_word(lexer, "le"))
        return rfc11_fail_expected(lexer, "native, network, be or le");
    d->is_big_endian = is_native ? parser->description->is_big_endian : is_big;
    return rfc11_next_token(lexer);
}

static bool parse_size(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    struct rfc11_token number;
    if (!rfc11_parse_number(&parser->lexer, &number, "a number of bits"))
        return false;
    if (number.is_negative || number.value < 1 || number.value > 64)
        return rfc11_fail_at(&parser->lexer, number.at, "expected a size from 1 to 64 bits");
    d->size = (uint32_t)number.value;
    return true;
}

static bool parse_signed(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    return rfc11_parse_bool(parser, &d->is_signed);
}

static bool parse_float(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    return rfc11_parse_bool(parser, &d->is_float);
}

static bool parse_length_field(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    return rfc11_parse_name(&parser->lexer, &d->length_field,
                            "the name of a field before the sequence");
}

static bool parse_base(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    struct rfc11_token number;
    if (!rfc11_parse_number(&parser->lexer, &number, "a base"))
        return false;
    if (number.is_negative ||
        (number.value != 2 && number.value != 8 && number.value != 10 && number.value != 16))
        return rfc11_fail_at(&parser->lexer, number.at, "expected the base 2, 8, 10 or 16");
    d->base = (uint8_t)number.value;
    return true;
}

static bool parse_encoding(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    bool is_ascii = rfc11_is_word(lexer, "ASCII") || rfc11_is_word(lexer, "ascii");
    if (!is_ascii && !rfc11_is_word(lexer, "UTF8") && !rfc11_is_word(lexer, "utf8"))
        return rfc11_fail_expected(lexer, "UTF8 or ASCII");
    d->encoding = is_ascii ? ENCODING_ASCII : ENCODING_UTF8;
    return rfc11_next_token(lexer);
}

static bool parse_length(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    struct rfc11_token number;
    if (!rfc11_parse_number(&parser->lexer, &number, "a number of elements"))
        return false;
    d->length = number.value;
    return !number.is_negative ||
           rfc11_fail_at(&parser->lexer, number.at, "an array cannot have fewer than no elements");
}

static bool parse_element(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    d->element = rfc11_parse_type(parser);
    return d->element != NULL;
}

static bool parse_length_type(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    size_t at = parser->lexer.token.at;
    d->length_type = rfc11_parse_type(parser);
    if (!d->length_type)
        return false;
    return d->length_type->type.kind == TYPE_UINT ||
           rfc11_fail_at(&parser->lexer, at, "the length of a sequence is an unsigned integer");
}

/* --- Lists: { { a, b }, { c, d } }. As in the RFC's examples, [ may replace {, and commas may be
 * missing, or follow the last item --- */

static bool parse_list_start(struct rfc11_parser *parser)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    return rfc11_is_mark(lexer, '{') || rfc11_is_mark(lexer, '[')
               ? rfc11_next_token(lexer)
               : rfc11_fail_expected(lexer, "'{'");
}

static bool is_at_list_end(const struct rfc11_parser *parser)
{
    return rfc11_is_mark(&parser->lexer, '}') || rfc11_is_mark(&parser->lexer, ']');
}

static bool skip_comma(struct rfc11_parser *parser)
{
    return !rfc11_is_mark(&parser->lexer, ',') || rfc11_next_token(&parser->lexer);
}

/* Parses the closing bracket or brace of an item or list. */
static bool parse_list_end(struct rfc11_parser *parser)
{
    return is_at_list_end(parser) ? rfc11_next_token(&parser->lexer)
                                  : rfc11_fail_expected(&parser->lexer, "'}'");
}

/* Reserves memory for one more item of a list, which doubles in the arena if it is full. Returns
 * NULL if memory runs out. */
static void *reserve_list_item(struct rfc11_parser *parser, void *list, uint32_t n, size_t size)
{
    if (n >= LABELS_FIRST ? (n & (n - 1)) != 0 : n != 0)
        return list;
    uint32_t capacity = n ? 2 * n : LABELS_FIRST;
    void *grown =
        n < UINT32_MAX / 2 ? arena_alloc(&parser->description->arena, capacity * size) : NULL;
    if (grown && n)
        memcpy(grown, list, n * size);
    if (!grown)
        (void)rfc11_fail_memory(&parser->lexer);
    return grown;
}

/* Reserves memory for one more range of a label. Almost all labels have only one range. */
static struct type_range *reserve_range(struct rfc11_parser *parser, struct type_range *ranges,
                                        uint32_t n)
{
    if (n & (n - 1))
        return ranges;
    struct type_range *grown = n < UINT32_MAX / 2 ? arena_alloc(&parser->description->arena,
                                                                (n ? 2 * n : 1) * sizeof *grown)
                                                  : NULL;
    if (grown && n)
        memcpy(grown, ranges, n * sizeof *grown);
    return grown;
}

/* Adds a value to a label, extending its last range if the value follows it. Does not extend a
 * range past INT64_MAX or UINT64_MAX, because the sign of the enum's numbers is not known yet. */
static bool add_label_value(struct rfc11_parser *parser, struct type_label *label, uint64_t value)
{
    struct type_range *ranges = (struct type_range *)(uintptr_t)label->ranges,
                      *last = label->ranges_n ? &ranges[label->ranges_n - 1] : NULL;
    if (last && value == last->high)
        return true;
    if (last && value == last->high + 1 && last->high != UINT64_MAX && last->high != INT64_MAX) {
        last->high = value;
        return true;
    }
    ranges = reserve_range(parser, ranges, label->ranges_n);
    if (!ranges)
        return rfc11_fail_memory(&parser->lexer);
    ranges[label->ranges_n++] = (struct type_range){.low = value, .high = value};
    label->ranges = ranges;
    return true;
}

/* Returns the label of that name, which is added if it is new. Returns NULL if memory runs out. */
static struct type_label *find_or_add_label(struct rfc11_parser *parser,
                                            struct rfc11_declaration *d, struct key_map *seen,
                                            ttr_text name)
{
    const uint64_t key = hash_bytes(name.p, name.n);
    const uint32_t *index = key_map_get(seen, key);
    if (index && d->labels[*index].name.n == name.n &&
        memcmp(d->labels[*index].name.p, name.p, name.n) == 0)
        return &d->labels[*index];
    struct type_label *labels = reserve_list_item(parser, d->labels, d->labels_n, sizeof *labels);
    if (!labels)
        return NULL;
    d->labels = labels;
    d->labels[d->labels_n] = (struct type_label){.name = name};
    if (!index && !key_map_put(seen, key, d->labels_n)) {
        (void)rfc11_fail_memory(&parser->lexer);
        return NULL;
    }
    return &d->labels[d->labels_n++];
}

static bool add_label(struct rfc11_parser *parser, struct rfc11_declaration *d,
                      struct key_map *seen, const struct rfc11_token *number, ttr_text name)
{
    struct type_label *label = find_or_add_label(parser, d, seen, name);
    uint64_t value = number->is_negative ? 0 - number->value : number->value;
    if (!label || !add_label_value(parser, label, value))
        return false;
    if (number->is_negative && (int64_t)value < (int64_t)d->least) {
        d->least = value;
        d->least_at = number->at;
    } else if (!number->is_negative && value >= d->most) {
        d->most = value;
        d->most_at = number->at;
    }
    return true;
}

/* Parses the entries of an enum's map. A label that occurs several times has several values. */
static bool parse_map_entries(struct rfc11_parser *parser, struct rfc11_declaration *d,
                              struct key_map *seen)
{
    struct rfc11_token number;
    ttr_text name;
    if (!parse_list_start(parser))
        return false;
    for (; !is_at_list_end(parser); d->entries++)
        if (!parse_list_start(parser) || !rfc11_parse_number(&parser->lexer, &number, "a value") ||
            !rfc11_expect_mark(&parser->lexer, ',') ||
            !rfc11_parse_name(&parser->lexer, &name, "a string") ||
            !add_label(parser, d, seen, &number, name) || !skip_comma(parser) ||
            !parse_list_end(parser) || !skip_comma(parser))
            return false;
    return parse_list_end(parser);
}

static bool parse_map(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    struct key_map seen;
    key_map_init(&seen, parser->description->alloc);
    bool is_good = parse_map_entries(parser, d, &seen);
    key_map_free(&seen);
    return is_good;
}

static bool add_member(struct rfc11_parser *parser, struct rfc11_declaration *d,
                       const struct rfc11_type *type, ttr_text name)
{
    struct type_member *members =
        reserve_list_item(parser, d->members, d->members_n, sizeof *members);
    if (!members)
        return false;
    d->members = members;
    d->members[d->members_n++] =
        (struct type_member){.name = name, .shown = name, .type = &type->type};
    return true;
}

/* Checks that field names are unique in their structure (4.2.1). */
static bool check_member_name(struct rfc11_parser *parser, const struct rfc11_declaration *d,
                              struct key_map *seen, size_t at)
{
    const struct type_member *last = &d->members[d->members_n - 1];
    uint64_t key = hash_bytes(last->name.p, last->name.n);
    const uint32_t *index = key_map_get(seen, key);
    if (index) {
        const ttr_text *other = &d->members[*index].name;
        if (other->n == last->name.n && memcmp(other->p, last->name.p, other->n) == 0)
            return rfc11_fail_at(&parser->lexer, at,
                                 "the structure has a field of this name already");
    }
    return key_map_put(seen, key, d->members_n - 1) || rfc11_fail_memory(&parser->lexer);
}

static bool parse_members(struct rfc11_parser *parser, struct rfc11_declaration *d,
                          struct key_map *seen)
{
    if (!parse_list_start(parser))
        return false;
    while (!is_at_list_end(parser)) {
        ttr_text name;
        const struct rfc11_type *type = parse_list_start(parser) ? rfc11_parse_type(parser) : NULL;
        if (!type || !rfc11_expect_mark(&parser->lexer, ','))
            return false;
        size_t at = parser->lexer.token.at;
        if (!rfc11_parse_name(&parser->lexer, &name, "the name of the field") ||
            !add_member(parser, d, type, name) || !check_member_name(parser, d, seen, at) ||
            !skip_comma(parser) || !parse_list_end(parser) || !skip_comma(parser))
            return false;
    }
    return parse_list_end(parser);
}

static bool parse_fields(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    struct key_map seen;
    key_map_init(&seen, parser->description->alloc);
    bool is_good = parse_members(parser, d, &seen);
    key_map_free(&seen);
    return is_good;
}

struct rfc11_type *rfc11_parse_fields(struct rfc11_parser *parser)
{
    struct rfc11_declaration d = {.kind = RFC11_STRUCT, .declared = 1u << ATTRIBUTE_FIELDS};
    size_t at = parser->lexer.token.at;
    return parse_fields(parser, &d) ? rfc11_make_type(parser, &d, at) : NULL;
}

/* --- Bodies: lists of attributes in braces --- */

static const struct {
    const char *name;
    bool (*parse)(struct rfc11_parser *parser, struct rfc11_declaration *d);
    unsigned kinds;       /* bit set of the kinds of types that have the attribute */
    bool ends_with_brace; /* true if the value may end with a brace, after which ';' is optional */
} attributes[ATTRIBUTE_COUNT] = {
    [ATTRIBUTE_PARENT] = {"parent", parse_parent, ~0u, true},
    [ATTRIBUTE_ALIGN] = {"align", parse_align, ~0u, false},
    [ATTRIBUTE_BYTE_ORDER] = {"byte_order", parse_byte_order, RFC11_INTEGER, false},
    [ATTRIBUTE_SIZE] = {"size", parse_size, RFC11_INTEGER, false},
    [ATTRIBUTE_SIGNED] = {"signed", parse_signed, RFC11_INTEGER, false},
    [ATTRIBUTE_BASE] = {"base", parse_base, RFC11_INTEGER, false},
    [ATTRIBUTE_UNIT_SIZE] = {"unit_size", parse_unit_size, RFC11_INTEGER, false},
    [ATTRIBUTE_MAP] = {"map", parse_map, RFC11_INTEGER, true},
    [ATTRIBUTE_FIELDS] = {"fields", parse_fields, RFC11_STRUCT, true},
    [ATTRIBUTE_LENGTH] = {"length", parse_length, RFC11_ARRAY, false},
    [ATTRIBUTE_ELEM_TYPE] = {"elem_type", parse_element, RFC11_ARRAY | RFC11_SEQUENCE, true},
    [ATTRIBUTE_LENGTH_TYPE] = {"length_type", parse_length_type, RFC11_SEQUENCE, true},
    [ATTRIBUTE_ENCODING] = {"encoding", parse_encoding, RFC11_STRING_KIND, false},
    [ATTRIBUTE_FLOAT] = {"float", parse_float, RFC11_INTEGER, false},
    [ATTRIBUTE_LENGTH_FIELD] = {"length_field", parse_length_field, RFC11_SEQUENCE, false},
};

/* Returns the number of the attribute with that name; ATTRIBUTE_COUNT if there is none. */
static unsigned find_attribute(ttr_text name)
{
    unsigned i = 0;
    while (i < ATTRIBUTE_COUNT && !equals_text(name, attributes[i].name))
        i++;
    return i;
}

static bool parse_attribute(struct rfc11_parser *parser, struct rfc11_declaration *d,
                            size_t *places)
{
    struct rfc11_token name;
    bool is_block;
    if (!rfc11_begin_attribute(parser, &name, &is_block))
        return false;
    unsigned i = is_block ? ATTRIBUTE_COUNT : find_attribute(name.text);
    if (i == ATTRIBUTE_COUNT)
        return rfc11_skip_unknown(parser, &name, "a type");
    if (d->declared & (1u << i))
        return rfc11_fail_at(&parser->lexer, name.at, "the type states this attribute twice");
    d->declared |= 1u << i;
    places[i] = name.at;
    return attributes[i].parse(parser, d) &&
           rfc11_end_attribute(parser, attributes[i].ends_with_brace);
}

/* Copies the value of one attribute from a declaration to another. */
static void copy_attribute(unsigned attribute, const struct rfc11_declaration *from,
                           struct rfc11_declaration *to)
{
    switch ((enum rfc11_attribute)attribute) {
    case ATTRIBUTE_PARENT:
    case ATTRIBUTE_COUNT:
        break;
    case ATTRIBUTE_ALIGN:
        to->align = from->align;
        break;
    case ATTRIBUTE_BYTE_ORDER:
        to->is_big_endian = from->is_big_endian;
        break;
    case ATTRIBUTE_SIZE:
        to->size = from->size;
        break;
    case ATTRIBUTE_SIGNED:
        to->is_signed = from->is_signed;
        break;
    case ATTRIBUTE_BASE:
        to->base = from->base;
        break;
    case ATTRIBUTE_UNIT_SIZE:
        to->unit_size = from->unit_size;
        break;
    case ATTRIBUTE_MAP:
        to->labels = from->labels;
        to->labels_n = from->labels_n;
        to->entries = from->entries;
        to->most = from->most;
        to->least = from->least;
        to->most_at = from->most_at;
        to->least_at = from->least_at;
        break;
    case ATTRIBUTE_FIELDS:
        to->members = from->members;
        to->members_n = from->members_n;
        break;
    case ATTRIBUTE_LENGTH:
        to->length = from->length;
        break;
    case ATTRIBUTE_ELEM_TYPE:
        to->element = from->element;
        break;
    case ATTRIBUTE_LENGTH_TYPE:
        to->length_type = from->length_type;
        break;
    case ATTRIBUTE_ENCODING:
        to->encoding = from->encoding;
        break;
    case ATTRIBUTE_FLOAT:
        to->is_float = from->is_float;
        break;
    case ATTRIBUTE_LENGTH_FIELD:
        to->length_field = from->length_field;
        break;
    }
}

/* Copies the attributes that the child does not declare from its parent (4.1.1). */
static void inherit_attributes(struct rfc11_declaration *d)
{
    const struct rfc11_declaration *parent = d->parent;
    if (!parent)
        return;
    for (unsigned i = 0; i < ATTRIBUTE_COUNT; i++)
        if (parent->declared & ~d->declared & (1u << i))
            copy_attribute(i, parent, d);
    d->declared |= parent->declared;
    d->kind = parent->kind;
    d->lacks_map = parent->lacks_map;
    d->lacks_unit = parent->lacks_unit;
}

/* Parses `{ attribute = value; ... }`. */
static bool parse_body(struct rfc11_parser *parser, struct rfc11_declaration *d)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    size_t places[ATTRIBUTE_COUNT] = {0};
    if (++parser->depth > TYPE_DEPTH_MAX)
        return rfc11_fail_at(lexer, lexer->token.at,
                             "types are more than %u levels inside one another", TYPE_DEPTH_MAX);
    if (!rfc11_expect_mark(lexer, '{'))
        return false;
    while (!rfc11_is_mark(lexer, '}'))
        if (!parse_attribute(parser, d, places))
            return false;
    parser->depth--;
    unsigned ctx = d->declared;
    inherit_attributes(d);
    for (unsigned i = 0; i < ATTRIBUTE_COUNT; i++)
        if ((ctx & (1u << i)) && d->kind && !(attributes[i].kinds & d->kind))
            return rfc11_fail_at(lexer, places[i], "a type of this parent has no attribute %s",
                                 attributes[i].name);
    return rfc11_next_token(lexer);
}

bool rfc11_parse_declaration(struct rfc11_parser *parser, bool is_abstract)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    struct rfc11_declaration *d = arena_alloc(lexer->arena, sizeof *d);
    size_t at = lexer->token.at;
    if (!d)
        return rfc11_fail_memory(lexer);
    *d = (struct rfc11_declaration){.is_abstract = is_abstract};
    if (!rfc11_parse_name(lexer, &d->name, "the name of the type"))
        return false;
    if (rfc11_is_root_name(d->name))
        return rfc11_fail_at(lexer, at, "this type is built in");
    if (rfc11_names_find(&parser->state->types, d->name))
        return rfc11_fail_at(lexer, at, "a type of this name was declared or used before");
    if (!parse_body(parser, d) || (!is_abstract && !rfc11_make_type(parser, d, at)))
        return false;
    return rfc11_names_add(&parser->state->types, lexer->arena, d->name, d) ||
           rfc11_fail_memory(lexer);
}
