/* Types in TSDL: structures with their members, numbers, enumerations, texts, variants. */
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/key_map.h"
#include "base/status.h"
#include "formats/ctf/metadata/tsdl/tsdl_print.h"

/* maximum number of printed types; each use of a structure is printed in full, so nested types
 * could multiply */
#define TYPES_MAX (1u << 23)
/* an enumeration with at least this many labels becomes a named type if it is used more than
 * once */
#define LABELS_LONG 64u

static bool print_specifier(struct tsdl_printer *p, const struct type *type);

/* Prints the attributes size, align and signed, and all others that differ from their defaults. */
static void print_integer_type(struct tsdl_printer *p, const struct type *type)
{
    bool is_bitfield = type->unit != 0;
    tsdl_print_format(p, "integer { size = %u; align = %u; signed = %s;",
                      is_bitfield ? type->unit : type->bits,
                      1u << (is_bitfield ? type->minimum_align : type->align),
                      type->kind == TYPE_INT ? "true" : "false");
    if (type->is_big_endian != p->description->is_big_endian)
        tsdl_print_format(p, " byte_order = %s;", type->is_big_endian ? "be" : "le");
    if (type->base)
        tsdl_print_format(p, " base = %u;", type->base);
    const struct ctf_clock *clock = type->clock;
    if (!clock && type->role == CTF_ROLE_TIME && p->stream)
        clock = p->stream->clock;
    if (clock) {
        ttr_text name = tsdl_clock_name(p, clock);
        tsdl_print_format(p, " map = clock.%.*s.value;", (int)name.n, name.p);
    }
    tsdl_print_format(p, " }");
}

/* Returns true if a type may be declared once and used by name: it has many labels, and its
 * meaning does not depend on its position. */
static bool can_be_named_type(const struct tsdl_printer *p, const struct type *type)
{
    return p->stream && type->labels && type->labels->n >= LABELS_LONG &&
           type->kind != TYPE_FLAGS && !type->unit && !type->clock && !type->role;
}

static bool collect_alias(struct tsdl_printer *p, const struct type *type)
{
    const uint32_t *known = pair_map_get(&p->labelled, (uintptr_t)type, 0);
    if (known && *known > 1)
        return true;
    if (!pair_map_put(&p->labelled, (uintptr_t)type, 0, known ? ++p->aliases_n + 1 : 1))
        return tsdl_print_fail_memory(p);
    struct tsdl_alias *alias = known ? arena_alloc(&p->arena, sizeof *alias) : NULL;
    if (!known)
        return true;
    if (!alias)
        return tsdl_print_fail_memory(p);
    *alias = (struct tsdl_alias){.type = type};
    *p->aliases_end = alias;
    p->aliases_end = &alias->next;
    return true;
}

static bool print_enumeration(struct tsdl_printer *p, const struct type *type,
                              const struct tsdl_need *need)
{
    tsdl_print_format(p, "enum : ");
    print_integer_type(p, type);
    return tsdl_print_labels(p, type, need);
}

static bool print_number_type(struct tsdl_printer *p, const struct type *type)
{
    const struct tsdl_need *need = tsdl_find_required_enumeration(p);
    if (type->is_reversed)
        return tsdl_print_fail_unsupported(p, "numbers with reversed bits");
    if (!need && can_be_named_type(p, type)) {
        if (p->gathers)
            return collect_alias(p, type);
        const uint32_t *known = pair_map_get(&p->labelled, (uintptr_t)type, 0);
        if (known && *known > 1) {
            tsdl_print_format(p, "long_labels_%" PRIu32 "_t", *known - 1);
            return true;
        }
    }
    if (need || (type->labels && type->kind != TYPE_FLAGS))
        return print_enumeration(p, type, need);
    print_integer_type(p, type);
    return true;
}

bool tsdl_print_aliases(struct tsdl_printer *p)
{
    uint32_t n = 0;
    for (const struct tsdl_alias *alias = p->aliases; alias; alias = alias->next) {
        tsdl_print_format(p, "\ntypealias ");
        if (!print_enumeration(p, alias->type, NULL))
            return false;
        tsdl_print_format(p, " := long_labels_%" PRIu32 "_t;\n", ++n);
    }
    return true;
}

static bool print_floating_point(struct tsdl_printer *p, const struct type *type)
{
    unsigned exponent = type->bits == 16 ? 5 : type->bits == 32 ? 8 : type->bits == 64 ? 11 : 15;
    if (type->is_reversed)
        return tsdl_print_fail_unsupported(p, "numbers with reversed bits");
    if (type->bits != 16 && type->bits != 32 && type->bits != 64 && type->bits != 128)
        return tsdl_print_fail_unsupported(p, "floating point numbers of more than 128 bits");
    tsdl_print_format(p, "floating_point { exp_dig = %u; mant_dig = %u; align = %u;", exponent,
                      type->bits - exponent, 1u << type->align);
    if (type->is_big_endian != p->description->is_big_endian)
        tsdl_print_format(p, " byte_order = %s;", type->is_big_endian ? "be" : "le");
    tsdl_print_format(p, " }");
    return true;
}

static bool print_string_class(struct tsdl_printer *p, const struct type *type)
{
    static const char *const encodings[] = {"", " { encoding = ASCII; }", " { encoding = none; }"};
    if (type->encoding > ENCODING_NONE)
        return tsdl_print_fail_unsupported(p, "text in UTF-16 or UTF-32");
    if (type->kind == TYPE_STRING)
        tsdl_print_format(p, "string%s", encodings[type->encoding]);
    else
        tsdl_print_format(p, "integer { size = 8; align = 8; signed = false; encoding = %s; }",
                          type->encoding == ENCODING_UTF8 ? "UTF8" : "ASCII");
    return true;
}

/* Prints one dimension of an array: [16] or [path]. */
static bool print_dimension(struct tsdl_printer *p, const struct type *type)
{
    bool is_variable = type->kind == TYPE_SEQUENCE || type->reference.names_n;
    if (!is_variable) {
        tsdl_print_format(p, "[%" PRIu64 "]", type->count);
        return true;
    }
    if (type->has_inline_length)
        return tsdl_print_fail_unsupported(p,
                                           "sequences with the length right before their elements");
    tsdl_print_format(p, "[");
    if (!tsdl_print_reference(p, &type->reference))
        return false;
    tsdl_print_format(p, "]");
    return true;
}

/* Prints all dimensions of an array, such as [2][len], outermost first. */
static bool print_dimensions(struct tsdl_printer *p, const struct type *type)
{
    for (; type && tsdl_has_length(type); type = type->element)
        if (!print_dimension(p, type))
            return false;
    return true;
}

/* Returns the type of the elements inside all dimensions. Fails if a dimension is not aligned like
 * its elements. */
static const struct type *get_checked_element(struct tsdl_printer *p, const struct type *type)
{
    for (; tsdl_is_list(type); type = type->element) {
        bool is_transparent =
            type->element->kind == TYPE_VARIANT || type->element->kind == TYPE_OPTIONAL;
        if (type->align > type->element->align && !is_transparent) {
            (void)tsdl_print_fail_unsupported(p, "arrays aligned beyond their elements");
            return NULL;
        }
    }
    return type;
}

/* Prints the declaration of a member, such as `integer { ... } name[2][len];`. */
static bool print_declaration(struct tsdl_printer *p, const struct type *type, ttr_text word)
{
    const struct type *element = get_checked_element(p, type);
    if (!element)
        return false;
    tsdl_print_line_break(p);
    p->arrays += tsdl_is_list(type);
    bool is_fine = print_specifier(p, element);
    p->arrays -= tsdl_is_list(type);
    tsdl_print_format(p, " ");
    tsdl_print_text(p, word);
    if (!is_fine || !print_dimensions(p, type))
        return false;
    if (element->unit)
        tsdl_print_format(p, " : %u", element->bits);
    tsdl_print_format(p, ";");
    return true;
}

/* Adds an identifier to `words`. Returns false if readers would confuse it with an earlier one:
 * Babeltrace drops one leading underscore and rejects duplicates. Names that were read from TSDL
 * are always accepted. */
static bool add_distinct_word(struct tsdl_printer *p, struct key_map *words, ttr_text word)
{
    bool is_known = p->description->version == CTF_1_8,
         drops = !is_known && word.n && word.p[0] == '_';
    uint64_t written = hash_bytes(word.p, word.n),
             shown = drops ? hash_bytes(word.p + 1, word.n - 1) : written;
    if (key_map_get(words, shown) || key_map_get(words, written))
        return tsdl_print_fail_unsupported(
            p, "two fields of one struct with names that are equal after other characters "
               "are replaced by underscores, or that differ in a leading underscore");
    return key_map_put(words, shown, 1) || tsdl_print_fail_memory(p);
}

/* Returns true if readers show all members of a type under different names. Checks each type
 * once. */
static bool are_words_distinct(struct tsdl_printer *p, const struct type *outer)
{
    const struct tsdl_spot spot = {outer, p->root, p->frames_n == 1, p->arrays > 0};
    bool is_struct = outer->kind == TYPE_STRUCT,
         is_fine = p->names_n < PRINT_DEPTH ||
                   tsdl_print_fail_unsupported(p, "types that deep inside one another");
    struct key_map words;
    key_map_init(&words, p->description->alloc);
    for (uint32_t i = 0; is_fine && p->gathers && i < outer->members_n; i++) {
        const struct type_member *member = &outer->members[i];
        ttr_text word;
        p->names[p->names_n++] = member->name;
        is_fine = (is_struct ? tsdl_choose_root_word(p, &spot, member, &word)
                             : tsdl_choose_member_word(p, outer, member, &word)) &&
                  add_distinct_word(p, &words, word);
        p->names_n--;
    }
    key_map_free(&words);
    return is_fine;
}

static bool print_member(struct tsdl_printer *p, const struct type_member *member)
{
    ttr_text word;
    const struct tsdl_spot spot = {p->frames[p->frames_n - 1].type, p->root, p->frames_n == 1,
                                   p->arrays > 0};
    if (p->names_n == PRINT_DEPTH)
        return tsdl_print_fail_unsupported(p, "types that deep inside one another");
    p->names[p->names_n++] = member->name;
    if (!tsdl_choose_root_word(p, &spot, member, &word) ||
        !print_declaration(p, member->type, word))
        return false;
    p->names_n--;
    return true;
}

/* Prints the members of a structure or variant and the closing brace. */
static bool print_members_and_brace(struct tsdl_printer *p, const struct type *type,
                                    bool (*put_one)(struct tsdl_printer *p,
                                                    const struct type_member *member))
{
    struct tsdl_print_frame *frame = &p->frames[p->frames_n++];
    *frame = (struct tsdl_print_frame){.type = type, .names_n = p->names_n, .arrays = p->arrays};
    p->indent++;
    if (!are_words_distinct(p, type) ||
        (type->kind == TYPE_STRUCT && !tsdl_index_members(p, frame)))
        return false;
    for (uint32_t i = 0; i < type->members_n; i++) {
        frame->member = i;
        if (!put_one(p, &type->members[i]))
            return false;
    }
    p->indent--;
    p->frames_n--;
    tsdl_print_line_break(p);
    tsdl_print_format(p, "}");
    return true;
}

static bool print_member_list(struct tsdl_printer *p, const struct type *type)
{
    if (p->frames_n == PRINT_DEPTH)
        return tsdl_print_fail_unsupported(p, "types that deep inside one another");
    return print_members_and_brace(p, type, print_member);
}

/* Returns the alignment of a structure that follows from its members (4.2.1, 4.2.2). */
static uint8_t get_members_align(const struct type *type)
{
    uint8_t align = 0;
    for (uint32_t i = 0; i < type->members_n; i++) {
        const struct type *member = type->members[i].type, *inner = member;
        while (tsdl_is_list(inner))
            inner = inner->element;
        uint8_t mine = inner->unit ? inner->minimum_align : member->align;
        if (inner->kind != TYPE_VARIANT && inner->kind != TYPE_OPTIONAL && mine > align)
            align = mine;
    }
    return align;
}

static bool print_struct(struct tsdl_printer *p, const struct type *type)
{
    uint8_t align = get_members_align(type);
    if (type->align < align)
        return tsdl_print_fail_unsupported(p, "structures aligned less than their members");
    tsdl_print_format(p, "struct {");
    if (!print_member_list(p, type))
        return false;
    if (type->align > align)
        tsdl_print_format(p, " align(%u)", 1u << type->align);
    else if (type->minimum_align)
        tsdl_print_format(p, " align(%u)", 1u << type->minimum_align);
    return true;
}

/* Prints an option of a variant like a member. Unlike a member's, its name is not part of
 * references. */
static bool print_option(struct tsdl_printer *p, const struct type_member *option)
{
    ttr_text word;
    const struct type *outer = p->frames[p->frames_n - 1].type;
    return tsdl_choose_member_word(p, outer, option, &word) &&
           print_declaration(p, option->type, word);
}

static bool print_variant_start(struct tsdl_printer *p, const struct type *type)
{
    if (p->gathers && !tsdl_require_enumeration(p, type))
        return false;
    tsdl_print_format(p, "variant <");
    size_t before = p->to->n;
    if (!tsdl_print_reference(p, &type->reference))
        return false;
    /* Babeltrace's grammar allows only one word here, not a path; a path that was read from TSDL
     * is printed anyway */
    bool is_path = p->to->n > before && memchr(p->to->bytes + before, '.', p->to->n - before);
    if (is_path && p->description->version != CTF_1_8)
        return tsdl_print_fail_unsupported(
            p, "selectors that readers find elsewhere than in the structures around");
    tsdl_print_format(p, "> {");
    return p->frames_n < PRINT_DEPTH ||
           tsdl_print_fail_unsupported(p, "types that deep inside one another");
}

static bool print_variant(struct tsdl_printer *p, const struct type *type)
{
    return print_variant_start(p, type) && print_members_and_brace(p, type, print_option);
}

static bool print_optional_variant(struct tsdl_printer *p, const struct type *type)
{
    const struct type_member present = {
        .name = {"present", 7}, .shown = {"present", 7}, .type = type->element};
    if (!print_variant_start(p, type))
        return false;
    p->indent++;
    tsdl_print_line_break(p);
    tsdl_print_format(p, "struct { } absent;");
    bool is_fine = print_option(p, &present);
    p->indent--;
    tsdl_print_line_break(p);
    tsdl_print_format(p, "}");
    return is_fine;
}

/* Prints the type that precedes the name in a declaration. The dimensions of arrays are printed
 * after the name. */
static bool print_specifier(struct tsdl_printer *p, const struct type *type)
{
    if (++p->types_n > TYPES_MAX) {
        p->status =
            fail(p->error, TTR_E_LIMIT, NO_OFFSET, "more than %u types to write out", TYPES_MAX);
        return false;
    }
    switch ((enum type_kind)type->kind) {
    case TYPE_UINT:
    case TYPE_INT:
    case TYPE_BITS:
    case TYPE_BOOL:
    case TYPE_FLAGS:
        return print_number_type(p, type);
    case TYPE_FLOAT:
        return print_floating_point(p, type);
    case TYPE_STRING:
    case TYPE_TEXT:
        return print_string_class(p, type);
    case TYPE_BLOB:
        tsdl_print_format(p, "integer { size = 8; align = 8; signed = false; base = 16; }");
        return true;
    case TYPE_STRUCT:
        return print_struct(p, type);
    case TYPE_VARIANT:
        return print_variant(p, type);
    case TYPE_OPTIONAL:
        return print_optional_variant(p, type);
    default:
        return tsdl_print_fail_unsupported(p, "numbers of variable size");
    }
}

bool tsdl_print_root(struct tsdl_printer *p, const char *name, enum type_root root,
                     const struct type *type)
{
    if (!type)
        return true;
    p->root = root;
    p->frames_n = p->names_n = p->arrays = 0;
    tsdl_print_line_break(p);
    tsdl_print_format(p, "%s := ", name);
    if (!print_specifier(p, type))
        return false;
    tsdl_print_format(p, ";");
    return true;
}
