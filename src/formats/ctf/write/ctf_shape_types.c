/* Types from shapes: builds the struct type of a root (payload, context ...) from the items of the
 * first event that has the shape.
 *
 * Algorithm: recursive descent over the items in pre-order; `types->at` is the current item.
 * Members are collected on a stack (`types->member`), and a struct is closed by copying its part of
 * the stack to the arena. Scalars and roots are cached by hash (`by_key`), so all classes share
 * them.
 *
 * Order of calls: ctf_types_get_root -> add_member_of_value per member -> make_type_of_next_item |
 * make_variable_length_type -> make_struct_type (structs), make_element_type (arrays),
 * make_scalar_type. Names: ctf_type_names.c.
 *
 * How each language expresses a value:
 * |                 CTF 1.8                      CTF 2                  RFC v1.1
 * |  array          u32 NAME_length, sequence    the same               sequence, inline length
 * |  bytes          the same, of hexadecimal u8  u32 NAME_length, blob  as array
 * |  boolean, null  enumeration of u8            boolean; enumeration   enumeration of u8
 * |  float          floating_point               floating-point         integer, float = true
 *
 * An array inside an array has no place for its length, unless that is inline. A struct is put
 * around both:
 * |  [[1,2],[3]]     sequence of struct { u32 elements_length; sequence elements; }
 *
 * Invariants: member names are unique in their struct; a length precedes what it counts; types
 * never change after their root is returned. Cost: once per shape, not per event. Left out:
 * variants and optional fields; each combination that occurs is a shape of its own. */
#include "formats/ctf/write/ctf_type_names.h"

#include "base/hash.h"
#include "base/number.h"

#define LENGTH_BITS 32u
/* an enumeration with at least this many labels gets a name, so that TSDL declares it only once */
#define LABELS_NAMED 64u
/* With the CTF conventions: width in bits of the length of an array of hexadecimal u8. It differs
 * from LENGTH_BITS, the width of the length of a byte string, so that readers can distinguish the
 * two. */
#define LENGTH_BITS_ODD 64u

static bool is_rfc_target(const struct ctf_types *types)
{
    return types->description->version == CTF_RFC_1_1;
}

void ctf_types_init(struct ctf_types *types, ttr *t, struct ctf_description *description)
{
    *types = (struct ctf_types){.t = t, .description = description};
    key_map_init(&types->by_key, &t->counted);
    pair_map_init(&types->times, &t->counted);
    buffer_init(&types->name, &t->counted);
}

void ctf_types_free(struct ctf_types *types)
{
    if (!types->t)
        return;
    const struct alloc *alloc = &types->t->counted;
    key_map_free(&types->by_key);
    pair_map_free(&types->times);
    buffer_free(&types->name);
    alloc_free(alloc, types->type, types->capacity, sizeof *types->type);
    alloc_free(alloc, types->called, types->called_capacity, sizeof *types->called);
    alloc_free(alloc, types->member, types->members_capacity, sizeof *types->member);
}

/* --- Building blocks of types --- */

static void *alloc_zeroed(struct ctf_types *types, size_t size)
{
    void *block = arena_alloc(&types->description->arena, size);
    types->failed |= !block;
    if (block)
        memset(block, 0, size);
    return block;
}

/* Returns a zeroed type with byte alignment. If memory runs out, returns NULL and sets
 * types->failed. */
static struct type *alloc_type(struct ctf_types *types, enum type_kind kind)
{
    struct type *type = alloc_zeroed(types, sizeof *type);
    if (!type)
        return NULL;
    type->kind = (uint8_t)kind;
    type->is_big_endian = types->description->is_big_endian;
    type->align = 3;
    type->media_type = type->name = (ttr_text){"", 0};
    return type;
}

/* Returns log2 of a number's alignment in bits: 3 (one byte) in a packed trace. In natural
 * alignment, numbers of 16, 32 and 64 bits are aligned to their size; CTF_ALIGN_NATURAL_32 limits
 * this to 32 bits. */
static uint8_t get_number_alignment(const struct ctf_types *types, unsigned bits)
{
    bool is_whole = bits == 16 || bits == 32 || bits == 64;
    unsigned word = types->description->alignment == CTF_ALIGN_NATURAL_32 ? 32 : 64;
    return types->is_natural && is_whole ? (uint8_t)__builtin_ctz(bits < word ? bits : word) : 3;
}

static struct type *make_number(struct ctf_types *types, enum type_kind kind, unsigned bits,
                                unsigned base)
{
    struct type *type = alloc_type(types, kind);
    if (!type)
        return NULL;
    bool is_integer = kind == TYPE_UINT || kind == TYPE_INT;
    type->bits = bits;
    type->base = (uint8_t)(is_integer && !base ? 10 : is_integer ? base : 0);
    type->align = get_number_alignment(types, bits);
    return type;
}

static const struct type *find_cached_type(const struct ctf_types *types, uint64_t key)
{
    const uint32_t *index = key_map_get(&types->by_key, key);
    return index ? types->type[*index] : NULL;
}

static const struct type *cache_type(struct ctf_types *types, uint64_t key, const struct type *type)
{
    const struct alloc *alloc = &types->t->counted;
    if (!type || types->n >= UINT32_MAX ||
        !alloc_reserve(alloc, (void **)&types->type, &types->capacity, types->n + 1,
                       sizeof *types->type) ||
        !key_map_put(&types->by_key, key, (uint32_t)types->n)) {
        types->failed = true;
        return type;
    }
    types->type[types->n++] = type;
    return type;
}

/* Returns the cache key of a scalar type. */
static uint64_t hash_type_key(enum type_kind kind, unsigned a, unsigned b)
{
    return hash_pair(UINT64_C(0x74797065) << 32 | kind, (uint64_t)a << 32 | b);
}

/* Gives a number type a name such as uint64_t, uint8_hex_t or float32_t, so that TSDL declares it
 * only once. */
static void name_number_type(struct ctf_types *types, struct type *type)
{
    static const char *const names[TYPE_KIND_COUNT] = {
        [TYPE_UINT] = "uint", [TYPE_INT] = "int", [TYPE_FLOAT] = "float", [TYPE_BOOL] = "bool"};
    char digits[NUMBER_MAX];
    buffer_clear(&types->name);
    buffer_add_text(&types->name, names[type->kind]);
    buffer_add(&types->name, digits, number_format_u64(digits, type->bits));
    buffer_add_text(&types->name, type->base == 16  ? "_hex_t"
                                  : type->base == 8 ? "_oct_t"
                                  : type->base == 2 ? "_bin_t"
                                                    : "_t");
    types->failed |= types->name.failed;
    type->name = ctf_type_copy_text(types, types->name.bytes, types->name.n);
}

const struct type *ctf_types_get_number(struct ctf_types *types, uint8_t kind, unsigned bits,
                                        unsigned base)
{
    uint64_t key = hash_type_key(kind, bits, base ? base : 10);
    const struct type *known = find_cached_type(types, key);
    struct type *type = known ? NULL : make_number(types, kind, bits, base);
    if (type)
        name_number_type(types, type);
    return known ? known : cache_type(types, key, type);
}

struct type *ctf_types_new_role_type(struct ctf_types *types, unsigned bits, uint16_t role)
{
    struct type *type = make_number(types, TYPE_UINT, bits, 10);
    if (type)
        type->role = role;
    return type;
}

static const struct type *get_string_type(struct ctf_types *types)
{
    uint64_t key = hash_type_key(TYPE_STRING, 8, 0);
    const struct type *known = find_cached_type(types, key);
    if (known)
        return known;
    struct type *type = alloc_type(types, TYPE_STRING);
    if (type) {
        type->bits = 8;
        type->name = (ttr_text){"text_t", 6};
    }
    return cache_type(types, key, type);
}

static uint8_t find_members_alignment(const struct type_member *members, uint32_t n)
{
    uint8_t align = 0;
    for (uint32_t i = 0; i < n; i++)
        align = members[i].type && members[i].type->align > align ? members[i].type->align : align;
    return align;
}

struct type *ctf_types_new_struct(struct ctf_types *types, const struct type_member *members,
                                  uint32_t n)
{
    struct type *type = alloc_type(types, TYPE_STRUCT);
    struct type_member *ctx = alloc_zeroed(types, n * sizeof *ctx + 1);
    if (!type || !ctx)
        return NULL;
    if (n)
        memcpy(ctx, members, n * sizeof *ctx);
    type->members = ctx;
    type->members_n = n;
    type->align = find_members_alignment(members, n);
    return type;
}

/* Makes an 8-bit enumeration: names[i] is the label of `value` + i. If memory runs out, returns
 * NULL and sets types->failed. */
static const struct type *make_enumeration(struct ctf_types *types, const ttr_text *names,
                                           uint32_t n, uint64_t value)
{
    struct type *type = make_number(types, TYPE_UINT, 8, 10);
    struct type_labels *labels = alloc_zeroed(types, sizeof *labels);
    struct type_label *label = alloc_zeroed(types, n * sizeof *label);
    struct type_range *range = alloc_zeroed(types, n * sizeof *range);
    if (!type || !labels || !label || !range)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        range[i] = (struct type_range){value + i, value + i};
        label[i] = (struct type_label){names[i], &range[i], 1};
    }
    *labels = (struct type_labels){.label = label, .n = n};
    type->labels = labels;
    return type;
}

static const struct type *get_constant_type(struct ctf_types *types, const ttr_value *value)
{
    buffer_clear(&types->name);
    ctf_label_escape(&types->name, value->text);
    ttr_text label = ctf_type_copy_text(types, types->name.bytes, types->name.n);
    return make_enumeration(types, &label, 1, value->v.u);
}

/* Returns the 8-bit enumeration with the labels `names` that replaces a boolean or null, types that
 * the target version lacks. The first call for `kind` and `variant` makes it. */
static const struct type *get_enumeration_for_missing_type(struct ctf_types *types,
                                                           enum type_kind kind, unsigned variant,
                                                           const ttr_text *names, uint32_t n)
{
    uint64_t key = hash_type_key(TYPE_NONE, kind, variant);
    const struct type *known = find_cached_type(types, key);
    return known ? known : cache_type(types, key, make_enumeration(types, names, n, 0));
}

static const struct type *get_boolean_type(struct ctf_types *types)
{
    static const ttr_text names[] = {{"false", 5}, {"true", 4}};
    return types->description->version == CTF_2
               ? ctf_types_get_number(types, TYPE_BOOL, 8, 0)
               : get_enumeration_for_missing_type(types, TYPE_BOOL, 0, names, 2);
}

static const struct type *get_null_type(struct ctf_types *types, bool is_absent)
{
    static const ttr_text names[] = {{"null", 4}, {"absent", 6}};
    return get_enumeration_for_missing_type(types, TYPE_OPTIONAL, is_absent, &names[is_absent], 1);
}

/* Copies labels to the arena of this description. If memory runs out, returns NULL and sets
 * types->failed. */
static const struct type_labels *copy_type_labels(struct ctf_types *types,
                                                  const struct type_labels *from)
{
    struct type_labels *labels = alloc_zeroed(types, sizeof *labels);
    struct type_label *label = alloc_zeroed(types, from->n * sizeof *label + 1);
    if (!labels || !label)
        return NULL;
    for (uint32_t i = 0; i < from->n; i++) {
        struct type_range *ranges =
            alloc_zeroed(types, from->label[i].ranges_n * sizeof *ranges + 1);
        if (!ranges)
            return NULL;
        memcpy(ranges, from->label[i].ranges, from->label[i].ranges_n * sizeof *ranges);
        label[i] = (struct type_label){
            ctf_type_copy_text(types, from->label[i].name.p, from->label[i].name.n), ranges,
            from->label[i].ranges_n};
    }
    *labels = (struct type_labels){
        .label = label, .n = from->n, .is_signed = from->is_signed, .entries = from->entries};
    return labels;
}

/* Gives an enumeration a name such as labels_1_t, so that TSDL declares it only once. */
static void name_enumeration_type(struct ctf_types *types, struct type *type)
{
    char digits[NUMBER_MAX];
    buffer_clear(&types->name);
    buffer_add_text(&types->name, "labels_");
    buffer_add(&types->name, digits, number_format_u64(digits, ++types->labels_n));
    buffer_add_text(&types->name, "_t");
    types->failed |= types->name.failed;
    type->name = ctf_type_copy_text(types, types->name.bytes, types->name.n);
}

static const struct type *make_labelled_number_type(struct ctf_types *types, const ttr_value *value)
{
    union {
        const char *text;
        const struct type_labels *labels;
    } from = {.text = value->text.p};
    enum type_kind kind = value->hint == CTF_ITEM_FLAGS ? TYPE_FLAGS
                          : value->type == TTR_TYPE_INT ? TYPE_INT
                                                        : TYPE_UINT;
    uint64_t key =
        hash_pair(hash_type_key(kind, value->bits, value->base), type_labels_hash(from.labels));
    const struct type *known = find_cached_type(types, key);
    struct type *type = known ? NULL : make_number(types, kind, value->bits, value->base);
    if (type) {
        type->labels = copy_type_labels(types, from.labels);
        if (from.labels->n >= LABELS_NAMED)
            name_enumeration_type(types, type);
    }
    return known ? known : cache_type(types, key, type);
}

/* Adds a member to the current struct; the caller sets its name and type. Returns the member's
 * index on the stack; SIZE_MAX if memory runs out. */
static size_t push_member(struct ctf_types *types)
{
    const struct alloc *alloc = &types->t->counted;
    if (!alloc_reserve(alloc, (void **)&types->member, &types->members_capacity,
                       types->members_n + 1, sizeof *types->member)) {
        types->failed = true;
        return SIZE_MAX;
    }
    types->member[types->members_n] = (struct type_member){.name = {"", 0}, .shown = {"", 0}};
    return types->members_n++;
}

/* --- Types of values --- */

static const struct type *make_type_of_next_item(struct ctf_types *types);

static bool has_variable_length(const ttr_value *value)
{
    return value->type == TTR_TYPE_BYTES
               ? value->hint != CTF_ITEM_FIXED
               : value->type == TTR_TYPE_ARRAY && value->hint != CTF_ITEM_MIXED &&
                     value->hint != CTF_ITEM_FIXED;
}

static const ttr_value *get_current_value(const struct ctf_types *types)
{
    return &types->items->field[types->at].value;
}

/* Sets the reference of the type to its length: the member named `length` of the current struct. */
static void set_length_reference(struct ctf_types *types, struct type *type, ttr_text length)
{
    ttr_text *names = alloc_zeroed(types, (types->path_n + 1) * sizeof *names);
    if (!names)
        return;
    for (uint32_t i = 0; i < types->path_n; i++)
        names[i] = types->path[i];
    names[types->path_n] = length;
    type->reference =
        (struct type_reference){.names = names, .names_n = types->path_n + 1, .root = types->root};
}

static const struct type *make_struct_with_length(struct ctf_types *types);
static const struct type *make_variable_length_type(struct ctf_types *types, ttr_text name,
                                                    ttr_text length);

static const struct type *make_scalar_type(struct ctf_types *types, const ttr_value *value);

/* Returns the element type of an array that is not mixed, from its first element. If the array is
 * empty: the element type that the source declares; that of another array of the event; or u8. */
static const struct type *make_element_type(struct ctf_types *types, const ttr_value *array,
                                            ttr_text name)
{
    ttr_value likeness;
    uint32_t count = array->count;
    const size_t following = types->at;
    if (count == 0 && ctf_items_make_empty_array_element(array, &likeness))
        return make_scalar_type(types, &likeness);
    if (count == 0 && array->text.n == 0)
        return ctf_types_get_number(types, TYPE_UINT, 8, 10);
    if (count == 0)
        types->at = array->text.n;
    types->path[types->path_n++] = name;
    const struct type *type;
    if (!has_variable_length(get_current_value(types)))
        type = make_type_of_next_item(types);
    else
        type = is_rfc_target(types)
                   ? make_variable_length_type(types, (ttr_text){"", 0}, (ttr_text){"", 0})
                   : make_struct_with_length(types);
    types->path_n--;
    for (uint32_t i = 1; i < count && types->at < types->items->n; i++)
        types->at += ctf_items_count_nested(types->items, types->at);
    types->at = count ? types->at : following;
    return type;
}

/* Returns true if the current value is an array of hexadecimal u8. Readers of CTF 1.8 would return
 * it as a byte string. */
static bool is_hex_byte_array(const struct ctf_types *types)
{
    const ttr_value *value = get_current_value(types);
    if (value->type != TTR_TYPE_ARRAY || value->count == 0 || types->at + 1 >= types->items->n)
        return false;
    const ttr_value *first = &types->items->field[types->at + 1].value;
    return first->type == TTR_TYPE_UINT && first->bits == 8 && first->base == 16;
}

static const struct type *get_length_type(struct ctf_types *types)
{
    unsigned bits =
        types->has_conventions && is_hex_byte_array(types) ? LENGTH_BITS_ODD : LENGTH_BITS;
    return ctf_types_get_number(types, TYPE_UINT, bits, 10);
}

/* Returns the name in the output of the earlier member with the length of the current value; `p`
 * is NULL if there is none. */
static ttr_text find_length_name(const struct ctf_types *types)
{
    const ttr_value *value = get_current_value(types);
    return !types->has_conventions && value->text_id && value->v.u && value->v.u <= types->at
               ? types->called[value->v.u - 1]
               : (ttr_text){NULL, 0};
}

/* Makes the type of an array or byte string of variable length. `length`: name of the member with
 * the length; ignored in v1.1, which stores the length before the elements. */
static const struct type *make_variable_length_type(struct ctf_types *types, ttr_text name,
                                                    ttr_text length)
{
    bool is_bytes = get_current_value(types)->type == TTR_TYPE_BYTES,
         is_blob = is_bytes && types->description->version == CTF_2;
    struct type *type = alloc_type(types, is_blob ? TYPE_BLOB : TYPE_SEQUENCE);
    if (!type)
        return NULL;
    if (is_rfc_target(types)) {
        type->has_inline_length = true;
        type->length_type = get_length_type(types);
        ttr_text ctx = find_length_name(types);
        type->length_member = ctx.p ? ctx : (ttr_text){"", 0};
    } else {
        set_length_reference(types, type, length);
    }
    const ttr_value *value = &types->items->field[types->at++].value;
    if (!is_bytes)
        type->element = make_element_type(types, value, name);
    else if (!is_blob)
        type->element = ctf_types_get_number(types, TYPE_UINT, 8, 16);
    if (type->element)
        /* CTF 1.8 requires that an empty array is aligned like its elements */
        type->align = type->element->align;
    if (type->length_type && type->length_type->align > type->align)
        type->align = type->length_type->align;
    return type;
}

/* Removes all members from index `begin` on from the stack, and returns a struct type of them. */
static struct type *pop_members_as_struct(struct ctf_types *types, size_t begin)
{
    struct type *type = NULL;
    if (!types->failed)
        type = ctf_types_new_struct(types, types->member ? types->member + begin : NULL,
                                    (uint32_t)(types->members_n - begin));
    types->members_n = begin;
    return type;
}

/* Adds a member for the length of the current value. Its name is NAME_length; if that is in use,
 * NAME_length_2, and so on. Returns the name. */
static ttr_text add_length_member(struct ctf_types *types, uint64_t structure, ttr_text name)
{
    char text[64 + NUMBER_MAX] = "";
    size_t n = name.n > 64 - 8 ? 0 : name.n;
    if (n)
        memcpy(text, name.p, n);
    memcpy(text + n, "_length", 7);
    n += 7;
    for (uint64_t number = 2, following = n; !types->has_conventions && !types->failed; number++) {
        if (!ctf_type_is_name_collision(
                types, structure, ctf_type_prefixed_name(types, (ttr_text){text, n}, 1), true))
            break;
        text[following] = '_';
        n = following + 1 + number_format_u64(text + following + 1, number);
    }
    ttr_id id = ttr_text_add(types->t, text, n);
    size_t at = push_member(types);
    unsigned times =
        ctf_type_choose_member_number(types, structure, (ttr_text){text, n}, id, false);
    types->failed |= !id;
    if (at == SIZE_MAX)
        return (ttr_text){"", 0};
    ctf_type_set_member_name(types, &types->member[at], (ttr_text){text, n}, times, false);
    types->member[at].type = get_length_type(types);
    return types->member[at].name;
}

/* Stores the name of the current item in the output. If it is an unsigned number, copies the name,
 * because references to a length compare the address of its name. */
static void record_written_name(struct ctf_types *types, ttr_text name)
{
    if (types->at >= types->called_capacity &&
        !alloc_reserve(&types->t->counted, (void **)&types->called, &types->called_capacity,
                       types->items->n, sizeof *types->called)) {
        types->failed = true;
        return;
    }
    types->called[types->at] = get_current_value(types)->type == TTR_TYPE_UINT
                                   ? ctf_type_copy_text(types, name.p, name.n)
                                   : name;
}

/* Adds a member for the current value to the current struct. If its length is not an earlier
 * member, adds a length member first. `structure`: number of the struct; `is_fixed`: do not escape
 * the name. */
static void add_member_of_value(struct ctf_types *types, uint64_t structure, ttr_text name,
                                ttr_id id, bool is_fixed)
{
    bool has_length = !is_rfc_target(types) && has_variable_length(get_current_value(types));
    ttr_text length = find_length_name(types);
    if (has_length && !length.p) {
        length = add_length_member(types, structure, name);
        types->lengths++;
    }
    size_t at = push_member(types);
    if (at == SIZE_MAX)
        return;
    ctf_type_set_member_name(types, &types->member[at], name,
                             ctf_type_choose_member_number(types, structure, name, id, is_fixed),
                             is_fixed);
    ttr_text ctx = types->member[at].name, shown = types->member[at].shown;
    types->renamed += !types->has_conventions &&
                      (shown.n != name.n || (name.n && memcmp(shown.p, name.p, name.n) != 0));
    record_written_name(types, ctx);
    if (types->failed)
        return;
    if (has_variable_length(get_current_value(types))) {
        const struct type *type = make_variable_length_type(types, ctx, length);
        types->member[at].type = type;
        return;
    }
    types->path[types->path_n++] = ctx;
    const struct type *type = make_type_of_next_item(types);
    types->path_n--;
    types->member[at].type = type;
}

/* Makes a struct of a length and an array or byte string, for values that are elements of an array.
 */
static const struct type *make_struct_with_length(struct ctf_types *types)
{
    size_t begin = types->members_n;
    add_member_of_value(types, ++types->structs, (ttr_text){"elements", 8}, 0, true);
    return pop_members_as_struct(types, begin);
}

/* Makes a struct with one member of type `inner`. The name of the member states the meaning of the
 * value, such as `koid`. */
static const struct type *make_struct_with_one_member(struct ctf_types *types, const char *name,
                                                      const struct type *inner)
{
    struct type_member member = {.type = inner};
    ctf_type_set_member_name(types, &member, (ttr_text){name, strlen(name)}, 1, true);
    return types->failed ? NULL : ctf_types_new_struct(types, &member, 1);
}

static const struct type *make_struct_type(struct ctf_types *types, bool is_array, uint32_t count)
{
    size_t begin = types->members_n;
    uint64_t structure = ++types->structs;
    /* Names of elements in a mixed array are their indexes, but identifiers must not start with a
     * digit. TSDL has an underscore before every name, so only v1.1 needs one here. */
    char digits[NUMBER_MAX + 1] = "_";
    size_t skip = is_rfc_target(types) ? 0 : 1, end = types->at;
    for (uint32_t i = 0; i < count && !is_array; i++)
        end += ctf_items_count_nested(types->items, end);
    ctf_type_reserve_names(types, structure, types->at, end);
    for (uint32_t i = 0; i < count && !types->failed; i++) {
        const ttr_field *field = &types->items->field[types->at];
        size_t n = 1 + number_format_u64(digits + 1, i);
        ttr_text name =
            is_array ? (ttr_text){digits + skip, n - skip} : ttr_text_get(types->t, field->name_id);
        add_member_of_value(types, structure, name, is_array ? i : field->name_id, is_array);
    }
    return pop_members_as_struct(types, begin);
}

/* Makes the type of a text of fixed size: `n` bytes, padded with zeros. */
static const struct type *make_fixed_text_type(struct ctf_types *types, uint64_t n)
{
    struct type *type = alloc_type(types, TYPE_TEXT);
    if (!type)
        return NULL;
    type->bits = 8;
    type->count = n;
    return type;
}

static const struct type *make_scalar_type(struct ctf_types *types, const ttr_value *value)
{
    bool is_signed = value->type == TTR_TYPE_INT;
    if (value->type == TTR_TYPE_TEXT && value->hint == CTF_ITEM_FIXED)
        return make_fixed_text_type(types, value->v.u);
    switch (value->type) {
    case TTR_TYPE_BOOL:
        return get_boolean_type(types);
    case TTR_TYPE_FLOAT:
        return ctf_types_get_number(types, TYPE_FLOAT, value->bits, 0);
    case TTR_TYPE_TEXT:
        return value->hint == TTR_DISPLAY_DECIMAL
                   ? make_struct_with_one_member(types, "number", get_string_type(types))
                   : get_string_type(types);
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        break;
    default:
        return get_null_type(types, value->hint == TTR_DISPLAY_ABSENT);
    }
    if (value->hint == CTF_ITEM_CONSTANT)
        return get_constant_type(types, value);
    if (value->hint == CTF_ITEM_LABELLED || value->hint == CTF_ITEM_FLAGS)
        return make_labelled_number_type(types, value);
    const struct type *type =
        ctf_types_get_number(types, is_signed ? TYPE_INT : TYPE_UINT, value->bits, value->base);
    return value->hint == TTR_DISPLAY_KOID ? make_struct_with_one_member(types, "koid", type)
                                           : type;
}

/* Makes the type of a byte string of `n` bytes, for example a UUID. */
static const struct type *make_fixed_bytes_type(struct ctf_types *types, size_t n)
{
    bool is_blob = types->description->version == CTF_2;
    struct type *type = alloc_type(types, is_blob ? TYPE_BLOB : TYPE_ARRAY);
    if (!type)
        return NULL;
    type->count = n;
    if (!is_blob)
        type->element = ctf_types_get_number(types, TYPE_UINT, 8, 16);
    return type;
}

/* Makes the type of an array with a fixed number of elements. Removes the array's name from the
 * end of the path while the element type is made. */
static const struct type *make_fixed_array_type(struct ctf_types *types, const ttr_value *array)
{
    struct type *type = alloc_type(types, TYPE_ARRAY);
    if (!type)
        return NULL;
    type->count = array->count;
    ttr_text name = types->path[--types->path_n];
    type->element = make_element_type(types, array, name);
    types->path[types->path_n++] = name;
    if (type->element)
        /* CTF 1.8 requires that an empty array is aligned like its elements */
        type->align = type->element->align;
    return type;
}

static const struct type *make_type_of_next_item(struct ctf_types *types)
{
    if (types->failed || types->at >= types->items->n) {
        types->failed = true;
        return NULL;
    }
    const ttr_value *value = get_current_value(types);
    if (value->type == TTR_TYPE_ARRAY && value->hint == CTF_ITEM_FIXED) {
        types->at++;
        return make_fixed_array_type(types, value);
    }
    if (value->type == TTR_TYPE_STRUCT || value->type == TTR_TYPE_ARRAY) {
        types->at++;
        return make_struct_type(types, value->type == TTR_TYPE_ARRAY, value->count);
    }
    types->at++;
    return value->type == TTR_TYPE_BYTES ? make_fixed_bytes_type(types, value->text.n)
                                         : make_scalar_type(types, value);
}

const struct type *ctf_types_get_root(struct ctf_types *types, enum type_root root,
                                      const struct ctf_items *items, size_t from, size_t to,
                                      uint64_t shape)
{
    uint64_t key = hash_pair(shape, root);
    const struct type *known = find_cached_type(types, key);
    if (known)
        return known;
    types->items = items;
    types->at = from;
    types->root = root;
    types->path_n = 0;
    uint64_t structure = ++types->structs;
    size_t begin = types->members_n;
    ctf_type_reserve_names(types, structure, from, to);
    while (types->at < to && !types->failed) {
        const ttr_field *field = &items->field[types->at];
        bool is_fixed = !field->name_id && field->name.n;
        add_member_of_value(types, structure,
                            is_fixed ? field->name : ttr_text_get(types->t, field->name_id),
                            field->name_id, is_fixed);
    }
    pair_map_free(&types->times);
    pair_map_init(&types->times, &types->t->counted);
    struct type *type = pop_members_as_struct(types, begin);
    if (type && root == ROOT_PAYLOAD)
        type->context_n = items->context_members;
    return types->failed ? NULL : cache_type(types, key, type);
}
