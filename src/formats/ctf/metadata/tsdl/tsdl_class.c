/* Types without members (CTF 1.8.3 sections 4.1 and 4.2.5): integer, floating_point, string, and
 * enumerations. Also accepted, although the specification forbids it: numbers of more than 64
 * bits, and floating point formats that are not of IEEE 754; their bits are kept. */
#include <string.h>

#include "base/hash.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#define INTEGER_BITS_MAX 65536u
#define INDEX_FROM 8u /* enumerations with at least this many labels get a hash index */

#define IS(text, word) ((text).n == sizeof(word) - 1 && memcmp((text).p, (word), (text).n) == 0)

struct tsdl_type *tsdl_new_type(struct tsdl_resolver *resolver, enum type_kind kind)
{
    struct tsdl_type *type = tsdl_alloc(resolver, sizeof *type);
    if (!type)
        return NULL;
    type->type.kind = (uint8_t)kind;
    type->origin = type;
    type->fields = 1;
    return type;
}

/* Returns the word that is assigned to an attribute; empty if the value is a number or string. */
static ttr_text get_attribute_word(const struct tsdl_statement *attribute)
{
    if (attribute->kind != TSDL_ASSIGN || attribute->value->kind != TSDL_VALUE_PATH)
        return (ttr_text){"", 0};
    return attribute->value->text;
}

static bool get_base(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                     uint8_t *base)
{
    static const struct {
        char word[12];
        uint8_t base;
    } words[] = {{"decimal", 10}, {"dec", 10},         {"d", 10},    {"i", 10},
                 {"u", 10},       {"hexadecimal", 16}, {"hex", 16},  {"x", 16},
                 {"X", 16},       {"p", 16},           {"octal", 8}, {"oct", 8},
                 {"o", 8},        {"binary", 2},       {"bin", 2},   {"b", 2}};
    const struct tsdl_value *value = attribute->kind == TSDL_ASSIGN ? attribute->value : NULL;
    *base = 0;
    if (value && value->kind == TSDL_VALUE_NUMBER && !value->is_negative)
        *base =
            value->number == 2 || value->number == 8 || value->number == 10 || value->number == 16
                ? (uint8_t)value->number
                : 0;
    for (size_t i = 0; value && value->kind == TSDL_VALUE_PATH && i < sizeof words / sizeof *words;
         i++)
        if (value->text.n == strlen(words[i].word) &&
            memcmp(value->text.p, words[i].word, value->text.n) == 0)
            *base = words[i].base;
    return *base || tsdl_fail(resolver->reading, value ? value->at : attribute->at,
                              "a base is 2, 8, 10 or 16 (binary, octal, decimal or hexadecimal)");
}

static bool get_encoding(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                         uint8_t *encoding)
{
    ttr_text word = get_attribute_word(attribute);
    if (IS(word, "none"))
        *encoding = ENCODING_NONE;
    else if (IS(word, "UTF8") || IS(word, "utf8"))
        *encoding = ENCODING_UTF8;
    else if (IS(word, "ASCII") || IS(word, "ascii"))
        *encoding = ENCODING_ASCII;
    else
        return tsdl_fail(resolver->reading, attribute->at, "an encoding is none, UTF8 or ASCII");
    return true;
}

/* Parses the value `clock.NAME.value` of the attribute `map`: the integer contains the time of
 * that clock. */
static bool get_mapped_clock(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                             const struct ctf_clock **clock)
{
    ttr_text path = get_attribute_word(attribute);
    if (path.n < 13 || memcmp(path.p, "clock.", 6) != 0 ||
        memcmp(path.p + path.n - 6, ".value", 6) != 0) {
        tsdl_add_diagnostic(resolver, TTR_SEVERITY_ODD, attribute->at, "ctf.unknown-map",
                            "a number is mapped to clock.NAME.value; this map is ignored");
        return true;
    }
    ttr_text name = {path.p + 6, path.n - 12};
    *clock = tsdl_names_find(&resolver->state->clocks, 0, name);
    return *clock || tsdl_fail(resolver->reading, attribute->value->at,
                               "there is no clock called '%.*s'", (int)name.n, name.p);
}

static bool get_size(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                     uint32_t *bits)
{
    uint64_t size;
    if (!tsdl_get_unsigned(resolver, attribute, &size))
        return false;
    if (size == 0 || size > INTEGER_BITS_MAX)
        return tsdl_fail(resolver->reading, attribute->value->at, "an integer has 1 to %u bits",
                         INTEGER_BITS_MAX);
    *bits = (uint32_t)size;
    return true;
}

static bool get_alignment(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                          uint8_t *align)
{
    if (attribute->kind != TSDL_ASSIGN)
        return tsdl_fail(resolver->reading, attribute->at,
                         "an alignment is a power of two, in bits");
    return tsdl_get_align(resolver, attribute->value, align);
}

static const char *const class_attributes[] = {"size",     "align", "signed",  "byte_order", "base",
                                               "encoding", "map",   "exp_dig", "mant_dig",   NULL};
enum {
    CLASS_SIZE,
    CLASS_ALIGN,
    CLASS_SIGNED,
    CLASS_BYTE_ORDER,
    CLASS_BASE,
    CLASS_ENCODING,
    CLASS_MAP,
    CLASS_EXP_DIG,
    CLASS_MANT_DIG
};

/* Values of the attributes of an integer, floating_point or string. */
struct class_values {
    uint32_t seen, bits;
    bool is_signed, is_big_endian;
    uint8_t align, base, encoding;
    uint64_t exp_dig, mant_dig;
    const struct ctf_clock *clock;
};

/* bit sets of the attributes that each class accepts */
#define INTEGER_HAS                                                                       \
    (1u << CLASS_SIZE | 1u << CLASS_ALIGN | 1u << CLASS_SIGNED | 1u << CLASS_BYTE_ORDER | \
     1u << CLASS_BASE | 1u << CLASS_ENCODING | 1u << CLASS_MAP)
#define FLOAT_HAS \
    (1u << CLASS_ALIGN | 1u << CLASS_BYTE_ORDER | 1u << CLASS_EXP_DIG | 1u << CLASS_MANT_DIG)
#define STRING_HAS (1u << CLASS_ENCODING)

static bool get_class_value(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                            unsigned which, struct class_values *values)
{
    switch (which) {
    case CLASS_SIZE:
        return get_size(resolver, attribute, &values->bits);
    case CLASS_ALIGN:
        return get_alignment(resolver, attribute, &values->align);
    case CLASS_SIGNED:
        return tsdl_get_bool(resolver, attribute, &values->is_signed);
    case CLASS_BYTE_ORDER:
        return tsdl_get_byte_order(resolver, attribute, true, &values->is_big_endian);
    case CLASS_BASE:
        return get_base(resolver, attribute, &values->base);
    case CLASS_ENCODING:
        return get_encoding(resolver, attribute, &values->encoding);
    case CLASS_MAP:
        return get_mapped_clock(resolver, attribute, &values->clock);
    case CLASS_EXP_DIG:
        return tsdl_get_unsigned(resolver, attribute, &values->exp_dig);
    default:
        return tsdl_get_unsigned(resolver, attribute, &values->mant_dig);
    }
}

static bool get_class_values(struct tsdl_resolver *resolver, const struct tsdl_specifier *specifier,
                             uint32_t has, struct class_values *values)
{
    unsigned which;
    values->is_big_endian = resolver->description->is_big_endian;
    for (const struct tsdl_statement *attribute = specifier->body; attribute;
         attribute = attribute->next) {
        if (attribute->kind != TSDL_ASSIGN && attribute->kind != TSDL_ASSIGN_TYPE)
            return tsdl_fail(resolver->reading, attribute->at,
                             "no types are declared here: expected an attribute");
        if (!tsdl_get_attribute(resolver, attribute, class_attributes, &values->seen, &which))
            return false;
        if (class_attributes[which] && !(has >> which & 1))
            tsdl_add_diagnostic(resolver, TTR_SEVERITY_ODD, attribute->at, "ctf.unknown-attribute",
                                "the attribute '%s' has no meaning here", class_attributes[which]);
        else if (class_attributes[which] && !get_class_value(resolver, attribute, which, values))
            return false;
    }
    return true;
}

static bool make_integer(struct tsdl_resolver *resolver, const struct tsdl_specifier *specifier,
                         struct tsdl_type *type)
{
    struct class_values values = {.encoding = ENCODING_NONE};
    if (!get_class_values(resolver, specifier, INTEGER_HAS, &values))
        return false;
    if (values.bits == 0)
        return tsdl_fail(resolver->reading, specifier->at,
                         "an integer needs a size: integer { size = 32; }");
    type->type.kind = values.is_signed ? TYPE_INT : TYPE_UINT;
    type->type.bits = values.bits;
    type->type.align = values.seen >> CLASS_ALIGN & 1 ? values.align : values.bits % 8 ? 0 : 3;
    type->type.is_big_endian = values.is_big_endian;
    type->type.base = values.base;
    type->encoding = values.encoding;
    if (values.clock && (values.is_signed || values.bits > 64)) {
        tsdl_add_diagnostic(
            resolver, TTR_SEVERITY_ODD, specifier->at, "ctf.wrong-map",
            "a clock's value is an unsigned number of at most 64 bits; this map is ignored");
    } else if (values.clock) {
        type->type.clock = type->clock = values.clock;
        type->type.role = CTF_ROLE_TIME;
    }
    return true;
}

static bool make_float(struct tsdl_resolver *resolver, const struct tsdl_specifier *specifier,
                       struct tsdl_type *type)
{
    struct class_values values = {0};
    if (!get_class_values(resolver, specifier, FLOAT_HAS, &values))
        return false;
    uint64_t exponent = values.exp_dig, mantissa = values.mant_dig;
    if (exponent == 0 || mantissa == 0 || exponent > 1024 || mantissa > 1024)
        return tsdl_fail(resolver->reading, specifier->at,
                         "floating_point needs exp_dig and mant_dig, such as 11 and 53");
    bool is_known = (exponent == 5 && mantissa == 11) || (exponent == 8 && mantissa == 24) ||
                    (exponent == 11 && mantissa == 53) || (exponent == 15 && mantissa == 113);
    if (!is_known)
        tsdl_add_diagnostic(
            resolver, TTR_SEVERITY_ODD, specifier->at, "ctf.unknown-float",
            "no floating point format has exp_dig %u and mant_dig %u: given as bits",
            (unsigned)exponent, (unsigned)mantissa);
    if (is_known && mantissa > 53)
        tsdl_add_diagnostic(
            resolver, TTR_SEVERITY_REMARK, specifier->at, "ctf.wide-float",
            "floating point numbers of 128 bits are given as the nearest ones of 64");
    type->type.kind = is_known ? TYPE_FLOAT : TYPE_BITS;
    type->type.bits = (uint32_t)(exponent + mantissa);
    type->type.align = values.seen >> CLASS_ALIGN & 1 ? values.align : type->type.bits % 8 ? 0 : 3;
    type->type.is_big_endian = values.is_big_endian;
    return true;
}

static bool make_string(struct tsdl_resolver *resolver, const struct tsdl_specifier *specifier,
                        struct tsdl_type *type)
{
    struct class_values values = {.encoding = ENCODING_UTF8};
    if (!get_class_values(resolver, specifier, STRING_HAS, &values))
        return false;
    type->type.kind = TYPE_STRING;
    type->type.bits = 8;
    type->type.align = 3;
    type->type.encoding = values.encoding;
    return true;
}

/* Returns an existing type that is equal byte by byte; if there is none, adds a copy of `like`.
 * Returns NULL if memory runs out (resolver->reading has the error). */
static const struct tsdl_type *find_or_add_equal_type(struct tsdl_resolver *resolver,
                                                      const struct tsdl_type *like)
{
    struct tsdl_names *classes = &resolver->state->classes;
    const struct tsdl_type *known =
        tsdl_names_find(classes, 0, (ttr_text){(const char *)like, sizeof *like});
    if (known)
        return known;
    struct tsdl_type *pair =
        /* one allocation for the type and the key, which is a copy of its bytes */
        tsdl_alloc(resolver, 2 * sizeof *pair);
    if (!pair)
        return NULL;
    memcpy(&pair[0], like, sizeof *like);
    memcpy(&pair[1], like, sizeof *like);
    pair[0].origin = &pair[0];
    if (tsdl_names_add(classes, &resolver->description->arena, 0,
                       (ttr_text){(const char *)&pair[1], sizeof *like}, &pair[0]))
        return &pair[0];
    (void)tsdl_fail_memory(resolver->reading);
    return NULL;
}

const struct tsdl_type *tsdl_resolve_class(struct tsdl_resolver *resolver,
                                           const struct tsdl_specifier *specifier)
{
    struct tsdl_type type;
    memset(&type, 0, sizeof type);
    type.fields = 1;
    type.is_shared = true;
    bool is_fine = specifier->class == TSDL_CLASS_INTEGER ? make_integer(resolver, specifier, &type)
                   : specifier->class == TSDL_CLASS_FLOAT ? make_float(resolver, specifier, &type)
                                                          : make_string(resolver, specifier, &type);
    return is_fine ? find_or_add_equal_type(resolver, &type) : NULL;
}

/* Labels of an enumeration while it is parsed, with their ranges in the order of the text. The
 * ranges of one label are joined after the last one. */
struct label_list {
    struct type_range *range;
    uint32_t *label; /* index of each range's label */
    uint32_t n;
    ttr_text *name; /* label names by index */
    uint32_t *ranges_n;
    uint32_t labels_n;
    uint32_t *slot; /* hash table of label names; each slot is a label index + 1 */
    uint32_t slots_n;
};

/* Returns the index of a label, which is added if it is new. */
static uint32_t find_or_add_label_index(struct label_list *gathered, ttr_text name)
{
    uint32_t mask = gathered->slots_n - 1, i = (uint32_t)hash_bytes(name.p, name.n) & mask;
    for (; gathered->slot[i]; i = (i + 1) & mask) {
        ttr_text known = gathered->name[gathered->slot[i] - 1];
        if (known.n == name.n && memcmp(known.p, name.p, name.n) == 0)
            return gathered->slot[i] - 1;
    }
    gathered->name[gathered->labels_n] = name;
    gathered->slot[i] = ++gathered->labels_n;
    return gathered->labels_n - 1;
}

/* Converts the value of a label to a number with the sign of the enumeration's integer. Returns
 * false if it does not fit. */
static bool get_label_value(struct tsdl_resolver *resolver, const struct tsdl_value *value,
                            bool is_signed, uint64_t *number)
{
    if (value->kind != TSDL_VALUE_NUMBER)
        return tsdl_fail(resolver->reading, value->at,
                         "a label needs a number, or two with ... between");
    if (!is_signed && value->is_negative && value->number)
        return tsdl_fail(resolver->reading, value->at,
                         "this enumeration is of an unsigned integer, which is never negative");
    if (is_signed && value->number > (uint64_t)INT64_MAX + value->is_negative)
        return tsdl_fail(resolver->reading, value->at,
                         "this number does not fit into a signed integer of 64 bits");
    *number = value->is_negative ? 0 - value->number : value->number;
    return true;
}

/* Returns true if the integer of the enumeration can hold all values of a range. */
static bool fits_container(const struct type *container, struct type_range range)
{
    unsigned bits = container->bits;
    if (bits >= 64)
        return true;
    if (container->kind == TYPE_UINT)
        return range.high >> bits == 0;
    int64_t low = (int64_t)range.low, high = (int64_t)range.high, limit = (int64_t)1 << (bits - 1);
    return low >= -limit && high < limit;
}

/* Computes the range of an enumerator. On input, `*range` is that of the previous enumerator: a
 * label without a value has the number after it. */
static bool get_enumerator_range(struct tsdl_resolver *resolver,
                                 const struct tsdl_enumerator *enumerator,
                                 const struct type *container, struct type_range *range)
{
    bool is_signed = container->kind == TYPE_INT;
    if (enumerator->low) {
        if (!get_label_value(resolver, enumerator->low, is_signed, &range->low))
            return false;
        range->high = range->low;
        if (enumerator->high &&
            !get_label_value(resolver, enumerator->high, is_signed, &range->high))
            return false;
        if (is_signed ? (int64_t)range->low > (int64_t)range->high : range->low > range->high)
            return tsdl_fail(resolver->reading, enumerator->low->at,
                             "this range ends before it begins");
    } else if (range->high == (is_signed ? (uint64_t)INT64_MAX : UINT64_MAX)) {
        return tsdl_fail(resolver->reading, enumerator->at, "no value is left for '%.*s'",
                         (int)enumerator->label.n, enumerator->label.p);
    } else {
        range->low = ++range->high;
    }
    return fits_container(container, *range) ||
           tsdl_fail(resolver->reading, enumerator->at,
                     "the label '%.*s' has values that %u bits cannot hold",
                     enumerator->label.n < 80 ? (int)enumerator->label.n : 80, enumerator->label.p,
                     container->bits);
}

static bool start_label_table(struct tsdl_resolver *resolver,
                              const struct tsdl_specifier *specifier, struct label_list *gathered)
{
    size_t n = 0, slots_n = 4;
    for (const struct tsdl_enumerator *enumerator = specifier->enumerator; enumerator;
         enumerator = enumerator->next)
        n++;
    while (slots_n < 2 * n)
        slots_n *= 2;
    if (slots_n > UINT32_MAX / 2)
        return tsdl_fail(resolver->reading, specifier->at, "too many labels");
    *gathered = (struct label_list){.slots_n = (uint32_t)slots_n};
    return (gathered->range = tsdl_tree_alloc(resolver->reading, n * sizeof *gathered->range)) &&
           (gathered->label = tsdl_tree_alloc(resolver->reading, n * sizeof *gathered->label)) &&
           (gathered->name = tsdl_tree_alloc(resolver->reading, n * sizeof *gathered->name)) &&
           (gathered->ranges_n =
                tsdl_tree_alloc(resolver->reading, n * sizeof *gathered->ranges_n)) &&
           (gathered->slot = tsdl_tree_alloc(resolver->reading, slots_n * sizeof *gathered->slot));
}

/* Builds the table of labels, each with its ranges in the order of the text. */
static const struct type_labels *build_label_table(struct tsdl_resolver *resolver,
                                                   const struct label_list *gathered,
                                                   bool is_signed)
{
    struct type_labels *labels = tsdl_alloc(resolver, sizeof *labels);
    struct type_label *label = tsdl_alloc(resolver, gathered->labels_n * sizeof *label);
    struct type_range *ranges = tsdl_alloc(resolver, gathered->n * sizeof *ranges);
    if (!labels || !label || !ranges)
        return NULL;
    for (uint32_t i = 0; i < gathered->labels_n; i++) {
        if (!tsdl_copy_text(resolver, gathered->name[i], &label[i].name))
            return NULL;
        label[i].ranges = ranges;
        ranges += gathered->ranges_n[i];
    }
    for (uint32_t i = 0; i < gathered->n; i++) {
        struct type_label *mine = &label[gathered->label[i]];
        ((struct type_range *)(uintptr_t)mine->ranges)[mine->ranges_n++] = gathered->range[i];
    }
    *labels = (struct type_labels){.label = label, .n = gathered->labels_n, .is_signed = is_signed};
    type_labels_cache_counts(labels);
    return labels;
}

struct tsdl_type *tsdl_resolve_enum(struct tsdl_resolver *resolver,
                                    const struct tsdl_specifier *specifier,
                                    const struct tsdl_type *container)
{
    size_t at = specifier->container ? specifier->container->at : specifier->at;
    bool is_signed = container->type.kind == TYPE_INT;
    struct label_list gathered = {0};
    if ((container->type.kind != TYPE_UINT && !is_signed) || container->type.labels) {
        (void)tsdl_fail(resolver->reading, at, "an enumeration is of an integer%s",
                        specifier->container ? "" : ", and its default 'int' is none");
        return NULL;
    }
    if (container->type.bits > 64) {
        (void)tsdl_fail(resolver->reading, at, "an enumeration is of at most 64 bits");
        return NULL;
    }
    if (!start_label_table(resolver, specifier, &gathered))
        return NULL;
    struct type_range range = {0};
    for (const struct tsdl_enumerator *enumerator = specifier->enumerator; enumerator;
         enumerator = enumerator->next) {
        /* if the first label has no value, its number is 0 */
        bool is_first_and_bare = gathered.n == 0 && !enumerator->low;
        if (!is_first_and_bare &&
            !get_enumerator_range(resolver, enumerator, &container->type, &range))
            return NULL;
        uint32_t label = find_or_add_label_index(&gathered, enumerator->label);
        gathered.range[gathered.n] = range;
        gathered.label[gathered.n++] = label;
        gathered.ranges_n[label]++;
    }
    struct tsdl_type *type = tsdl_new_type(resolver, (enum type_kind)container->type.kind);
    if (!type)
        return NULL;
    *type = *container;
    type->origin = type;
    type->is_shared = false;
    type->type.labels = build_label_table(resolver, &gathered, is_signed);
    if (gathered.labels_n >= INDEX_FROM) {
        type->index_n = gathered.slots_n;
        if (!(type->index = tsdl_alloc(resolver, gathered.slots_n * sizeof *type->index)))
            return NULL;
        memcpy(type->index, gathered.slot, gathered.slots_n * sizeof *type->index);
    }
    return type->type.labels ? type : NULL;
}
