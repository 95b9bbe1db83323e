/* Declared types (CTF 1.8.3 sections 4.2 and 7.3): names in scopes, structures, variants, arrays,
 * sequences, GNU/C bitfields. This is the first step of the resolver (tsdl_types.h).
 *
 * Scopes nest lexically: file, block, structure. A name is looked up from the innermost scope
 * outwards. Declarations precede their uses (section 7.3.1).
 *
 * References to lengths and tags may be relative, and a type may be used elsewhere than in the
 * structure that declares it. So references are resolved in two steps:
 *   1. set_reference searches the structures that are being declared around the reference,
 *      innermost first. The first that has the field becomes the owner of the reference, and
 *      remains so if the type gets another name later (section 4.2.2, example_variant).
 *   2. Without an owner, tsdl_instantiate.c searches the structures in which the type is used,
 *      like Babeltrace does. A reference outside of any structure is an error here.
 *
 * Invariants: a type is immutable once declared; changes of named types are made on a copy
 * (copy_named_type). `fields` and `depth` of each type are known, so size limits are checked before
 * anything is expanded.
 *
 * Cost: O(1) per declaration and lookup. Left out: const, which is parsed but has no meaning. */
#include <string.h>

#include "base/hash.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#define INDEX_FROM 8u /* structures with at least this many members get a hash index */

/* Returns the key of a type in the symbol table: "struct NAME" and the like, or the type name,
 * with its stars. */
static bool build_type_key(struct tsdl_resolver *resolver, const struct tsdl_specifier *specifier,
                           uint32_t pointers, ttr_text *key)
{
    static const char *const prefixes[] = {
        [TSDL_CLASS_NAMED] = "",         [TSDL_CLASS_INTEGER] = "",
        [TSDL_CLASS_FLOAT] = "",         [TSDL_CLASS_STRING] = "",
        [TSDL_CLASS_STRUCT] = "struct ", [TSDL_CLASS_VARIANT] = "variant ",
        [TSDL_CLASS_ENUM] = "enum "};
    size_t prefix_n = strlen(prefixes[specifier->class]), n = prefix_n + specifier->name.n;
    *key = specifier->name;
    if (prefix_n == 0 && !pointers)
        return true;
    char *to = tsdl_tree_alloc(resolver->reading, n + 1 + pointers);
    if (!to)
        return false;
    memcpy(to, prefixes[specifier->class], prefix_n);
    memcpy(to + prefix_n, specifier->name.p, specifier->name.n);
    to[n] = ' ';
    memset(to + n + 1, '*', pointers);
    *key = (ttr_text){to, pointers ? n + 1 + pointers : n};
    return true;
}

static const struct tsdl_type *find_type(const struct tsdl_resolver *resolver, ttr_text key)
{
    const struct tsdl_type *type = NULL;
    for (const struct tsdl_scope *scope = resolver->scope; scope && !type; scope = scope->outer)
        type = tsdl_names_find(&resolver->state->types, scope->id, key);
    return type;
}

/* Removes the word "const", wherever it occurs, from a type name. */
static bool remove_const_words(struct tsdl_resolver *resolver, ttr_text *key)
{
    static const char word[] = "const ";
    char *to = tsdl_tree_alloc(resolver->reading, key->n + 1);
    size_t n = 0;
    if (!to)
        return false;
    for (size_t i = 0; i < key->n;) {
        if (key->n - i >= sizeof word - 1 && memcmp(key->p + i, word, sizeof word - 1) == 0 &&
            (i == 0 || key->p[i - 1] == ' '))
            i += sizeof word - 1;
        else
            to[n++] = key->p[i++];
    }
    *key = (ttr_text){to, n};
    return true;
}

/* Finds a type by its name and number of stars, from the innermost scope outwards. Fails if no
 * scope declares it. */
static const struct tsdl_type *find_named_type(struct tsdl_resolver *resolver,
                                               const struct tsdl_specifier *specifier,
                                               uint32_t pointers)
{
    ttr_text key, plain;
    if (specifier->name.n == 0) {
        (void)tsdl_fail(resolver->reading, specifier->at, "a pointer is to a type with a name");
        return NULL;
    }
    if (!build_type_key(resolver, specifier, pointers, &key))
        return NULL;
    const struct tsdl_type *type = find_type(resolver, key);
    if (type)
        return type;
    plain = key;
    if (memchr(key.p, ' ', key.n) && !remove_const_words(resolver, &plain))
        return NULL;
    type = find_type(resolver, plain);
    if (!type)
        (void)tsdl_fail(resolver->reading, specifier->at, "no type is called '%.*s' here",
                        key.n < 80 ? (int)key.n : 80, key.p);
    return type;
}

/* Returns a type to which a name may be added: the type itself, or a copy if several declarations
 * share it. */
static const struct tsdl_type *copy_if_shared(struct tsdl_resolver *resolver,
                                              const struct tsdl_type *type)
{
    struct tsdl_type *ctx = type->is_shared ? tsdl_new_type(resolver, TYPE_NONE) : NULL;
    if (!ctx)
        return type->is_shared ? NULL : type;
    *ctx = *type;
    ctx->origin = ctx;
    ctx->is_shared = false;
    return ctx;
}

/* Adds a name for a type in the current scope. */
static bool declare_type(struct tsdl_resolver *resolver, size_t at, ttr_text key,
                         const struct tsdl_type *type)
{
    struct tsdl_state *state = resolver->state;
    ttr_text name;
    if (tsdl_names_find(&state->types, resolver->scope->id, key))
        return tsdl_fail(resolver->reading, at, "the type '%.*s' is declared twice in one scope",
                         key.n < 80 ? (int)key.n : 80, key.p);
    if (!tsdl_copy_text(resolver, key, &name) || !(type = copy_if_shared(resolver, type)))
        return false;
    if (!type->type.name.n)
        tsdl_get_model_type(&type->type)->type.name = name;
    return tsdl_names_add(&state->types, &resolver->description->arena, resolver->scope->id, name,
                          type) ||
           tsdl_fail_memory(resolver->reading);
}

/* Copies properties of an inner type to the type that contains it: whether it has references, the
 * clocks it is mapped to, and its number of fields. */
static bool inherit_properties(struct tsdl_resolver *resolver, size_t at, struct tsdl_type *outer,
                               const struct tsdl_type *inner)
{
    if (inner->depth + 1u > outer->depth)
        outer->depth = (uint8_t)(inner->depth + 1u);
    if (outer->depth > TYPE_DEPTH_MAX + 1)
        return tsdl_fail(resolver->reading, at, "more than %u levels of types inside one another",
                         TYPE_DEPTH_MAX);
    if (__builtin_add_overflow(outer->fields, inner->fields, &outer->fields))
        outer->fields = UINT32_MAX;
    outer->has_references |= inner->has_references;
    const struct ctf_clock *clocks[] = {inner->clock, inner->other_clock};
    for (size_t i = 0; i < 2; i++) {
        if (!outer->clock)
            outer->clock = clocks[i];
        else if (clocks[i] && clocks[i] != outer->clock)
            outer->other_clock = clocks[i];
    }
    return true;
}

static bool begins_with(ttr_text text, const char *prefix)
{
    size_t n = strlen(prefix);
    return text.n >= n && memcmp(text.p, prefix, n) == 0;
}

/* Stores the reference to the length or tag of a type, and searches the enclosing structures for
 * the referenced field. */
static bool set_reference(struct tsdl_resolver *resolver, struct tsdl_type *user,
                          const struct tsdl_value *value)
{
    const char *what = user->type.kind == TYPE_VARIANT ? "tag" : "length";
    if (value->kind != TSDL_VALUE_PATH)
        return tsdl_fail(resolver->reading, value->at, "a %s is %sthe name of a field", what,
                         *what == 'l' ? "a number or " : "");
    if (value->keyword)
        return tsdl_fail(resolver->reading, value->at,
                         "a keyword cannot be a field name: expected the %s", what);
    user->reference =
        (struct tsdl_reference){.reading = resolver->state->readings_n, .at = value->at};
    user->has_references = true;
    if (!tsdl_copy_text(resolver, value->text, &user->reference.path))
        return false;
    if (begins_with(value->text, "trace.") || begins_with(value->text, "stream.") ||
        begins_with(value->text, "event."))
        return true;
    if (begins_with(value->text, "env."))
        return tsdl_fail(resolver->reading, value->at,
                         "no %s is taken from the environment: expected a field", what);
    if (!resolver->open)
        return tsdl_fail(resolver->reading, value->at, "there is no field '%.*s' here: expected %s",
                         (int)value->text.n, value->text.p,
                         *what == 'l' ? "a number" : "a path such as event.fields.tag");
    for (const struct tsdl_open *open = resolver->open; open; open = open->outer) {
        const struct tsdl_type *target = tsdl_resolve_path(open->type, value->text, NULL, NULL);
        if (!target)
            continue;
        user->reference.owner = open->type;
        return tsdl_check_target(resolver, target, user, value->at);
    }
    return true;
}

/* Returns true if an array of this type is shown as text. */
static bool is_character_type(const struct tsdl_type *element)
{
    const struct type *type = &element->type;
    return (type->kind == TYPE_UINT || type->kind == TYPE_INT) && !type->labels &&
           type->bits == 8 && type->align == 3 && !type->unit &&
           (element->encoding == ENCODING_UTF8 || element->encoding == ENCODING_ASCII);
}

/* Makes an array or sequence of `element`. */
static const struct tsdl_type *make_array(struct tsdl_resolver *resolver,
                                          const struct tsdl_type *element,
                                          const struct tsdl_value *length)
{
    bool is_fixed = length->kind == TSDL_VALUE_NUMBER, is_text = is_character_type(element);
    if (is_fixed && length->is_negative && length->number) {
        (void)tsdl_fail(resolver->reading, length->at, "an array has no negative length");
        return NULL;
    }
    struct tsdl_type *type = tsdl_new_type(resolver, is_text    ? TYPE_TEXT
                                                     : is_fixed ? TYPE_ARRAY
                                                                : TYPE_SEQUENCE);
    if (!type || !inherit_properties(resolver, length->at, type, element))
        return NULL;
    type->type.align = element->type.align;
    if (is_text) {
        type->type.encoding = element->encoding;
        type->type.bits = 8;
    } else {
        type->type.element = &element->type;
    }
    if (is_fixed)
        type->type.count = length->number;
    return is_fixed || set_reference(resolver, type, length) ? type : NULL;
}

/* Makes the type of a declarator with dimensions: `T name[2][len]` is an array of 2 sequences. */
static const struct tsdl_type *make_arrays(struct tsdl_resolver *resolver,
                                           const struct tsdl_type *type,
                                           const struct tsdl_dimension *dimension)
{
    const struct tsdl_dimension *outer_first[TYPE_DEPTH_MAX];
    size_t n = 0;
    for (; dimension; dimension = dimension->next) {
        if (n == TYPE_DEPTH_MAX) {
            (void)tsdl_fail(resolver->reading, dimension->length->at,
                            "more than %u levels of types inside one another", TYPE_DEPTH_MAX);
            return NULL;
        }
        outer_first[n++] = dimension;
    }
    while (n > 0 && type)
        type = make_array(resolver, type, outer_first[--n]->length);
    return type;
}

/* Makes the type of a bitfield `T name : 5`. As in GNU C, its bits do not cross a boundary of an
 * integer of T's size. */
static const struct tsdl_type *make_bitfield(struct tsdl_resolver *resolver,
                                             const struct tsdl_type *unit,
                                             const struct tsdl_value *bits)
{
    const struct type *type = &unit->type;
    if ((type->kind != TYPE_UINT && type->kind != TYPE_INT) || type->bits > 64) {
        (void)tsdl_fail(resolver->reading, bits->at,
                        "a bitfield is of an integer of at most 64 bits");
        return NULL;
    }
    if (bits->kind != TSDL_VALUE_NUMBER || bits->is_negative || bits->number == 0 ||
        bits->number > type->bits) {
        (void)tsdl_fail(resolver->reading, bits->at, "this bitfield has 1 to %u bits", type->bits);
        return NULL;
    }
    struct tsdl_type *field = tsdl_new_type(resolver, (enum type_kind)type->kind);
    if (!field)
        return NULL;
    *field = *unit;
    field->origin = field;
    field->is_shared = false;
    field->type.unit = type->bits;
    field->type.bits = (uint32_t)bits->number;
    field->type.minimum_align = type->align;
    field->type.align = 0;
    return field;
}

static const struct tsdl_type *resolve_declarator(struct tsdl_resolver *resolver,
                                                  const struct tsdl_specifier *specifier,
                                                  const struct tsdl_type *base,
                                                  const struct tsdl_declarator *declarator)
{
    if (declarator->pointers)
        base = find_named_type(resolver, specifier, declarator->pointers);
    if (base && declarator->bits)
        base = make_bitfield(resolver, base, declarator->bits);
    return base ? make_arrays(resolver, base, declarator->dimension) : NULL;
}

/* Resolves the type before a declarator. If the declarator has stars, they are part of the type
 * name. */
static bool resolve_base_type(struct tsdl_resolver *resolver,
                              const struct tsdl_specifier *specifier,
                              const struct tsdl_declarator *declarators,
                              const struct tsdl_type **base)
{
    bool is_needed = specifier->has_body;
    *base = NULL;
    for (const struct tsdl_declarator *declarator = declarators; declarator;
         declarator = declarator->next)
        is_needed |= !declarator->pointers;
    if (!is_needed)
        return true;
    *base = tsdl_resolve_specifier(resolver, specifier);
    return *base != NULL;
}

/* Allocates the members of a structure or variant; the body determines their number. */
static bool alloc_members(struct tsdl_resolver *resolver, const struct tsdl_specifier *specifier,
                          struct tsdl_type *type)
{
    size_t n = 0, index_n = 1;
    for (const struct tsdl_statement *statement = specifier->body; statement;
         statement = statement->next)
        if (statement->kind == TSDL_FIELDS)
            for (const struct tsdl_declarator *declarator = statement->declarator; declarator;
                 declarator = declarator->next)
                n++;
    if (n == 0)
        return true;
    if (n > TSDL_FIELDS_MAX)
        return tsdl_fail(resolver->reading, specifier->at, "more than %u fields", TSDL_FIELDS_MAX);
    if (!(type->type.members = tsdl_alloc(resolver, n * sizeof *type->type.members)))
        return false;
    if (n < INDEX_FROM)
        return true;
    while (index_n < 2 * n)
        index_n *= 2;
    type->index_n = (uint32_t)index_n;
    return (type->index = tsdl_alloc(resolver, index_n * sizeof *type->index)) != NULL;
}

/* Returns the element type after all array dimensions. */
static const struct type *get_innermost_element(const struct type *type)
{
    while (type->element)
        type = type->element;
    return type;
}

static bool add_declared_member(struct tsdl_resolver *resolver, struct tsdl_type *outer,
                                const struct tsdl_declarator *declarator,
                                const struct tsdl_type *type)
{
    struct type_member *members = (struct type_member *)(uintptr_t)outer->type.members;
    const struct type *inner = get_innermost_element(&type->type);
    if (tsdl_find_member(outer, declarator->name) >= 0)
        return tsdl_fail(resolver->reading, declarator->at, "a second field called '%.*s'",
                         (int)declarator->name.n, declarator->name.p);
    if (inner->kind == TYPE_VARIANT && !tsdl_get_model_type(inner)->reference.path.n)
        return tsdl_fail(resolver->reading, declarator->at,
                         "this variant needs a tag: variant <tag> { ... } or variant name <tag>");
    struct type_member *member = &members[outer->type.members_n];
    if (!tsdl_copy_text(resolver, declarator->name, &member->name))
        return false;
    member->type = &type->type;
    outer->type.members_n++;
    if (outer->index_n) {
        uint32_t mask = outer->index_n - 1,
                 i = (uint32_t)hash_bytes(member->name.p, member->name.n) & mask;
        while (outer->index[i])
            i = (i + 1) & mask;
        outer->index[i] = outer->type.members_n;
    }
    uint8_t align = inner->unit ? inner->minimum_align : type->type.align;
    if (outer->type.kind == TYPE_STRUCT && inner->kind != TYPE_VARIANT && align > outer->type.align)
        outer->type.align = align;
    return inherit_properties(resolver, declarator->at, outer, type);
}

/* Returns true if dropping the leading underscore of a name would make two shown names equal: the
 * names with fewer underscores all exist, down to the one without, which is never changed. */
static bool has_shown_name_clash(const struct tsdl_type *type, ttr_text name)
{
    do {
        name.p++;
        name.n--;
        if (tsdl_find_member(type, name) < 0)
            return false;
    } while (name.n && name.p[0] == '_');
    return true;
}

/* Sets the names under which members are shown: without one leading underscore (4.2.1). */
static void set_shown_names(struct tsdl_type *type)
{
    struct type_member *members = (struct type_member *)(uintptr_t)type->type.members;
    for (uint32_t i = 0; i < type->type.members_n; i++) {
        ttr_text name = members[i].name;
        bool drops = name.n && name.p[0] == '_' && !has_shown_name_clash(type, name);
        members[i].shown = drops ? (ttr_text){name.p + 1, name.n - 1} : name;
    }
}

static bool resolve_fields(struct tsdl_resolver *resolver, struct tsdl_type *type,
                           const struct tsdl_statement *statement)
{
    const struct tsdl_type *base;
    if (!resolve_base_type(resolver, statement->specifier, statement->declarator, &base))
        return false;
    for (const struct tsdl_declarator *declarator = statement->declarator; declarator;
         declarator = declarator->next) {
        const struct tsdl_type *field =
            resolve_declarator(resolver, statement->specifier, base, declarator);
        if (!field || !add_declared_member(resolver, type, declarator, field))
            return false;
    }
    return true;
}

/* Resolves the members of a structure, or the options of a variant, in a new scope. */
static bool resolve_body(struct tsdl_resolver *resolver, const struct tsdl_specifier *specifier,
                         struct tsdl_type *type)
{
    struct tsdl_scope scope = {++resolver->state->scopes_n, resolver->scope};
    struct tsdl_open open = {type, resolver->open};
    bool is_fine = alloc_members(resolver, specifier, type);
    resolver->scope = &scope;
    if (type->type.kind == TYPE_STRUCT)
        resolver->open = &open;
    for (const struct tsdl_statement *statement = specifier->body; is_fine && statement;
         statement = statement->next)
        is_fine = statement->kind == TSDL_FIELDS ? resolve_fields(resolver, type, statement)
                                                 : tsdl_resolve_declaration(resolver, statement);
    resolver->scope = scope.outer;
    resolver->open = open.outer;
    set_shown_names(type);
    return is_fine;
}

static bool align_structure(struct tsdl_resolver *resolver, const struct tsdl_specifier *specifier,
                            struct tsdl_type *type)
{
    uint8_t align;
    if (!specifier->align)
        return true;
    if (!tsdl_get_align(resolver, specifier->align, &align))
        return false;
    type->type.minimum_align = align;
    if (align > type->type.align)
        type->type.align = align;
    return true;
}

/* Copies a named structure or variant, so that an alignment or a tag can be added to the copy. */
static struct tsdl_type *copy_named_type(struct tsdl_resolver *resolver,
                                         const struct tsdl_specifier *specifier)
{
    const struct tsdl_type *from = find_named_type(resolver, specifier, 0);
    struct tsdl_type *type = from ? tsdl_new_type(resolver, TYPE_NONE) : NULL;
    if (type)
        *type = *from;
    return type;
}

static const struct tsdl_type *resolve_struct(struct tsdl_resolver *resolver,
                                              const struct tsdl_specifier *specifier)
{
    if (!specifier->has_body && !specifier->align)
        return find_named_type(resolver, specifier, 0);
    struct tsdl_type *type = specifier->has_body ? tsdl_new_type(resolver, TYPE_STRUCT)
                                                 : copy_named_type(resolver, specifier);
    if (!type || (specifier->has_body && !resolve_body(resolver, specifier, type)))
        return NULL;
    return align_structure(resolver, specifier, type) ? type : NULL;
}

static const struct tsdl_type *resolve_variant(struct tsdl_resolver *resolver,
                                               const struct tsdl_specifier *specifier)
{
    if (!specifier->has_body && !specifier->tag)
        return find_named_type(resolver, specifier, 0);
    struct tsdl_type *type = specifier->has_body ? tsdl_new_type(resolver, TYPE_VARIANT)
                                                 : copy_named_type(resolver, specifier);
    if (!type || (specifier->has_body && !resolve_body(resolver, specifier, type)))
        return NULL;
    if (type->type.members_n == 0) {
        (void)tsdl_fail(resolver->reading, specifier->at, "a variant has at least one option");
        return NULL;
    }
    return !specifier->tag || set_reference(resolver, type, specifier->tag) ? type : NULL;
}

static const struct tsdl_type *resolve_enum(struct tsdl_resolver *resolver,
                                            const struct tsdl_specifier *specifier)
{
    struct tsdl_specifier plain = {
        .class = TSDL_CLASS_NAMED, .at = specifier->at, .name = {"int", 3}};
    if (!specifier->has_body)
        return find_named_type(resolver, specifier, 0);
    const struct tsdl_type *container =
        tsdl_resolve_specifier(resolver, specifier->container ? specifier->container : &plain);
    return container ? tsdl_resolve_enum(resolver, specifier, container) : NULL;
}

const struct tsdl_type *tsdl_resolve_specifier(struct tsdl_resolver *resolver,
                                               const struct tsdl_specifier *specifier)
{
    const struct tsdl_type *type;
    ttr_text key;
    switch (specifier->class) {
    case TSDL_CLASS_NAMED:
        return find_named_type(resolver, specifier, 0);
    case TSDL_CLASS_STRUCT:
        type = resolve_struct(resolver, specifier);
        break;
    case TSDL_CLASS_VARIANT:
        type = resolve_variant(resolver, specifier);
        break;
    case TSDL_CLASS_ENUM:
        type = resolve_enum(resolver, specifier);
        break;
    default:
        return tsdl_resolve_class(resolver, specifier);
    }
    if (!type || !specifier->has_body || specifier->name.n == 0)
        return type;
    return build_type_key(resolver, specifier, 0, &key) &&
                   declare_type(resolver, specifier->at, key, type)
               ? type
               : NULL;
}

/* Marks a type as an address if its name ends with a star; babeltrace shows addresses in base 16,
 * even if they declare another base. */
static const struct tsdl_type *make_address_type(struct tsdl_resolver *resolver,
                                                 const struct tsdl_type *type)
{
    if ((type->type.kind != TYPE_UINT && type->type.kind != TYPE_INT) || type->type.labels ||
        type->type.base == 16)
        return type;
    struct tsdl_type *address = tsdl_new_type(resolver, (enum type_kind)type->type.kind);
    if (!address)
        return NULL;
    *address = *type;
    address->origin = address;
    address->is_shared = false;
    address->type.base = 16;
    return address;
}

bool tsdl_resolve_declaration(struct tsdl_resolver *resolver,
                              const struct tsdl_statement *statement)
{
    const struct tsdl_type *base, *type;
    if (statement->kind == TSDL_DECLARE)
        return tsdl_resolve_specifier(resolver, statement->specifier) != NULL;
    if (statement->kind == TSDL_FIELDS)
        return tsdl_fail(resolver->reading, statement->declarator->at,
                         "a field must be in a structure or variant; did you mean typedef?");
    if (!resolve_base_type(resolver, statement->specifier, statement->declarator, &base))
        return false;
    for (const struct tsdl_declarator *declarator = statement->declarator; declarator;
         declarator = declarator->next) {
        type = resolve_declarator(resolver, statement->specifier, base, declarator);
        ttr_text name = declarator->name;
        if (statement->kind == TSDL_ALIAS &&
            !build_type_key(resolver, statement->alias, statement->alias_pointers, &name))
            return false;
        if (type && statement->kind == TSDL_ALIAS && statement->alias_pointers)
            type = make_address_type(resolver, type);
        if (!type || !declare_type(resolver, statement->at, name, type))
            return false;
    }
    return true;
}
