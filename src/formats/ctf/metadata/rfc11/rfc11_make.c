/* Makes types from declarations. The first use of a concrete type checks once that it declares all
 * required attributes. */
#include <string.h>

#include "formats/ctf/metadata/rfc11/rfc11_types.h"
#include "layout/layout.h"

/* Attributes that a concrete type of each kind must declare, so that its binary representation is
 * known (4.1.1). */
static const struct {
    enum rfc11_kind kind;
    uint8_t attribute;
    const char *text;
} needed[] = {
    {RFC11_INTEGER, ATTRIBUTE_SIZE, "size = bits"},
    {RFC11_STRUCT, ATTRIBUTE_FIELDS, "fields = { { type, name }, ... }"},
    {RFC11_ARRAY, ATTRIBUTE_LENGTH, "length = value"},
    {RFC11_ARRAY, ATTRIBUTE_ELEM_TYPE, "elem_type = type"},
    {RFC11_SEQUENCE, ATTRIBUTE_LENGTH_TYPE, "length_type = type"},
    {RFC11_SEQUENCE, ATTRIBUTE_ELEM_TYPE, "elem_type = type"},
};

static bool has_attribute(const struct rfc11_declaration *d, enum rfc11_attribute attribute)
{
    return d->declared & (1u << attribute);
}

static bool check_required_attributes(struct rfc11_parser *parser,
                                      const struct rfc11_declaration *d, size_t at)
{
    if (d->kind == RFC11_KIND_NONE)
        return rfc11_fail_at(
            &parser->lexer, at,
            "the type has no parent: expected parent = integer, gcc_bitfield, enum, struct, array, "
            "sequence, string, or a type declared before");
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].kind == d->kind && !has_attribute(d, needed[i].attribute))
            return rfc11_fail_at(&parser->lexer, at, "the type is not concrete: %s is missing",
                                 needed[i].text);
    if (d->lacks_map && !has_attribute(d, ATTRIBUTE_MAP))
        return rfc11_fail_at(&parser->lexer, at,
                             "the enumeration has no map = { { value, string }, ... }");
    if (d->lacks_unit && !has_attribute(d, ATTRIBUTE_UNIT_SIZE))
        return rfc11_fail_at(&parser->lexer, at, "the bitfield has no unit_size = bits");
    return true;
}

/* Fails if the value of a label does not fit in the integer of the enum. */
static bool check_labels(struct rfc11_parser *parser, const struct rfc11_declaration *d)
{
    uint64_t above = d->is_signed    ? UINT64_C(1) << (d->size - 1)
                     : d->size == 64 ? 0
                                     /* a 64-bit integer has no limit: above is 0 */
                                     : UINT64_C(1) << d->size;
    if (above && d->most >= above)
        return rfc11_fail_at(&parser->lexer, d->most_at, "the value is larger than %u %s bits hold",
                             d->size, d->is_signed ? "signed" : "unsigned");
    if (d->least && !d->is_signed)
        return rfc11_fail_at(&parser->lexer, d->least_at,
                             "the value is negative, the enumeration is not signed");
    if (d->least && 0 - d->least > above)
        return rfc11_fail_at(&parser->lexer, d->least_at,
                             "the value is less than %u signed bits hold", d->size);
    return true;
}

static struct rfc11_type *fail_out_of_memory(struct rfc11_parser *parser)
{
    (void)rfc11_fail_memory(&parser->lexer);
    return NULL;
}

static struct rfc11_type *make_integer(struct rfc11_parser *parser,
                                       const struct rfc11_declaration *d, size_t at)
{
    bool is_bitfield = has_attribute(d, ATTRIBUTE_UNIT_SIZE);
    if (is_bitfield && d->size > d->unit_size) {
        (void)rfc11_fail_at(&parser->lexer, at,
                            "a bitfield of %u bits does not fit in its unit of %u", d->size,
                            d->unit_size);
        return NULL;
    }
    if (d->labels && !check_labels(parser, d))
        return NULL;
    if (d->is_float &&
        ((d->size != 32 && d->size != 64) || d->is_signed || d->labels || is_bitfield)) {
        (void)rfc11_fail_at(
            &parser->lexer, at,
            "float = true is for unsigned integers of 32 and 64 bits without labels");
        return NULL;
    }
    struct rfc11_type *made = rfc11_add_type(parser->description,
                                             d->is_float    ? TYPE_FLOAT
                                             : d->is_signed ? TYPE_INT
                                                            : TYPE_UINT,
                                             RULE_BASIC);
    if (!made)
        return fail_out_of_memory(parser);
    made->natural = is_bitfield ? 1 : d->size;
    made->type.bits = d->size;
    made->type.base = d->is_float ? 0 : d->base;
    made->type.unit = is_bitfield ? d->unit_size : 0;
    made->type.is_big_endian = has_attribute(d, ATTRIBUTE_BYTE_ORDER)
                                   ? d->is_big_endian
                                   : parser->description->is_big_endian;
    if (has_attribute(d, ATTRIBUTE_MAP)) {
        struct type_labels *labels = arena_alloc(&parser->description->arena, sizeof *labels);
        if (!labels)
            return fail_out_of_memory(parser);
        *labels = (struct type_labels){
            .label = d->labels, .n = d->labels_n, .is_signed = d->is_signed, .entries = d->entries};
        type_labels_cache_counts(labels);
        made->type.labels = labels;
        made->type.hint = TTR_DISPLAY_ENUM;
    }
    return made;
}

/* Returns the rfc11_type that contains a type of the description. */
static const struct rfc11_type *get_rfc11_type(const struct type *type)
{
    return (const struct rfc11_type *)type;
}

/* Adds the nesting depth and field count of an inner type to those of the type that contains it.
 * Fails if a limit is exceeded. */
static bool add_nested_counts(struct rfc11_parser *parser, struct rfc11_type *made,
                              const struct rfc11_type *inside, size_t at)
{
    if (inside->depth >= TYPE_DEPTH_MAX)
        return rfc11_fail_at(&parser->lexer, at, "types are more than %u levels inside one another",
                             TYPE_DEPTH_MAX);
    if (inside->fields > RFC11_FIELDS_MAX - made->fields)
        return rfc11_fail_at(&parser->lexer, at, "the type has more than %u fields in all",
                             RFC11_FIELDS_MAX);
    made->fields += inside->fields;
    if (made->depth <= inside->depth)
        made->depth = (uint8_t)(inside->depth + 1);
    return true;
}

static struct rfc11_type *make_struct(struct rfc11_parser *parser,
                                      const struct rfc11_declaration *d, size_t at)
{
    struct rfc11_type *made = rfc11_add_type(parser->description, TYPE_STRUCT, RULE_COMPOUND);
    if (!made)
        return fail_out_of_memory(parser);
    made->type.members = d->members;
    made->type.members_n = d->members_n;
    made->is_empty = true;
    for (uint32_t i = 0; i < d->members_n; i++) {
        const struct rfc11_type *inside = get_rfc11_type(d->members[i].type);
        if (!add_nested_counts(parser, made, inside, at))
            return NULL;
        made->is_empty = made->is_empty && inside->is_empty;
    }
    return made;
}

const struct rfc11_type *rfc11_mark_context_members(struct rfc11_parser *parser,
                                                    const struct rfc11_type *type,
                                                    uint32_t context_n)
{
    struct rfc11_type *made = rfc11_add_type(parser->description, TYPE_STRUCT, RULE_COMPOUND);
    if (!made)
        return fail_out_of_memory(parser);
    made->type.members = type->type.members;
    made->type.members_n = type->type.members_n;
    made->type.minimum_align = type->type.minimum_align;
    made->type.name = type->type.name;
    made->type.context_n = context_n;
    made->depth = type->depth;
    made->fields = type->fields;
    made->is_empty = type->is_empty;
    return made;
}

static struct rfc11_type *make_array_or_sequence(struct rfc11_parser *parser,
                                                 const struct rfc11_declaration *d, size_t at)
{
    bool is_array = d->kind == RFC11_ARRAY;
    struct rfc11_type *made =
        rfc11_add_type(parser->description, is_array ? TYPE_ARRAY : TYPE_SEQUENCE, RULE_COMPOUND);
    if (!made)
        return fail_out_of_memory(parser);
    if (is_array && d->element->is_empty && d->length > LAYOUT_EMPTY_ELEMENTS_MAX) {
        (void)rfc11_fail_at(&parser->lexer, at, "more than %u elements of size zero",
                            LAYOUT_EMPTY_ELEMENTS_MAX);
        return NULL;
    }
    if (!add_nested_counts(parser, made, d->element, at))
        return NULL;
    made->type.element = &d->element->type;
    made->is_empty = is_array && (d->length == 0 || d->element->is_empty);
    if (is_array) {
        made->type.count = d->length;
    } else {
        made->type.has_inline_length = true;
        made->type.length_type = &d->length_type->type;
        made->type.length_member = d->length_field;
    }
    return made;
}

static struct rfc11_type *make_string(struct rfc11_parser *parser,
                                      const struct rfc11_declaration *d)
{
    struct rfc11_type *made = rfc11_add_type(parser->description, TYPE_STRING, RULE_FIXED);
    if (!made)
        return fail_out_of_memory(parser);
    made->type.bits = 8;
    made->type.align = 3;
    made->type.encoding = d->encoding;
    return made;
}

/* Sets the alignment that a declaration states: the alignment of basic types, a minimum for all
 * others. */
static bool set_declared_align(struct rfc11_parser *parser, struct rfc11_type *made,
                               const struct rfc11_declaration *d, size_t at)
{
    if (!has_attribute(d, ATTRIBUTE_ALIGN))
        return true;
    if (d->kind == RFC11_STRING_KIND && d->align < 8)
        return rfc11_fail_at(&parser->lexer, at,
                             "a string begins at a byte: expected align = 8 or more");
    bool is_basic = made->rule == RULE_BASIC;
    made->type.minimum_align = is_basic ? 0 : rfc11_get_log2(d->align);
    if (made->rule != RULE_COMPOUND)
        made->type.align = rfc11_get_log2(d->align);
    made->rule = is_basic ? RULE_FIXED : made->rule;
    return true;
}

struct rfc11_type *rfc11_make_type(struct rfc11_parser *parser, struct rfc11_declaration *d,
                                   size_t at)
{
    if (d->made)
        return d->made;
    if (d->is_abstract && !(d->is_built_in && d->kind == RFC11_STRING_KIND)) {
        (void)rfc11_fail_at(
            &parser->lexer, at,
            "an abstract type has no place in the trace: derive a concrete one from "
            "it with type { parent = ...; }");
        return NULL;
    }
    if (!check_required_attributes(parser, d, at))
        return NULL;
    struct rfc11_type *made = d->kind == RFC11_INTEGER  ? make_integer(parser, d, at)
                              : d->kind == RFC11_STRUCT ? make_struct(parser, d, at)
                              : d->kind == RFC11_STRING_KIND
                                  ? make_string(parser, d)
                                  : make_array_or_sequence(parser, d, at);
    if (!made || !set_declared_align(parser, made, d, at))
        return NULL;
    /* the built-in type `string` is abstract, and the type made from it has no name */
    made->type.name = d->is_abstract ? (ttr_text){"", 0} : d->name;
    d->made = made;
    return made;
}
