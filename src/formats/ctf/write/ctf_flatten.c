/* Flattening: converts an event to a list of items that types can be made for, and hashes their
 * shape.
 *
 * Items are in pre-order: a struct or array is followed by its members or elements. Example for the
 * event { n = 2, a = [ {x=1}, {x=2} ], s = "hi" }:
 *
 * |  index  0          1              2           3       4           5       6
 * |  item   UINT n=2   ARRAY a, 2     STRUCT, 1   UINT x  STRUCT, 1   UINT x  TEXT s
 * |                    length = item 0            (elements of a)
 *
 * Order of the list: common context | attributes (conventions), specific context | payload.
 *
 * Order of calls (ctf_items_collect): add_field_items walks the event's fields and brings each
 * value into a canonical form; move_contexts_to_payload moves contexts into the payload if the
 * target has none; hash_scope_shapes computes one hash per region.
 *
 * A shape is the hash of everything that a type depends on: names, types, widths, bases, nesting,
 * labels. The number of elements is left out if all elements have one shape. Invariant: equal items
 * have equal shapes. Two different shapes with the same hash would share a class; the encoder then
 * writes wrong values, but stays in bounds.
 *
 * Depths of the field iterator are not trusted: nesting follows the counts of structs and arrays.
 * Cost: linear in the items, except for shapes of empty arrays, of which the first LIKES types are
 * searched in the event. Left out: levels below CTF_ITEMS_DEPTH; counted as CTF_LOST_DEPTH. */
#include "formats/ctf/write/ctf_write.h"

#include "base/hash.h"
#include "layout/layout.h"

/* maximum number of element types per event for which a non-empty array is searched
 * (find_nonempty_array_of_type) */
#define LIKES 16u
#define SHAPE_EMPTY UINT64_C(0x9f3c5a7d01)

/* Hashes of the element types of empty arrays. They are taken from non-empty arrays of the same
 * event with the same declared element type. */
struct known_shapes {
    struct {
        const char *type; /* element type, cast by union kept_type */
        /* index of the first element of a non-empty array with that element type; 0 if there is
         * none */
        size_t at;
        uint64_t shape;
    } like[LIKES];
    size_t n;
};

/* State of the conversion of one event. */
struct flattening {
    struct ctf_items *items;
    struct known_shapes *known_shapes;
    /* only compute hashes: do not mark arrays as mixed, do not count losses */
    bool is_trial;
    const struct ctf_items_config *what;
    uint64_t offset;
    /* transcoding: iterator with the declared field types; NULL if the CTF conventions apply */
    const ttr_fields *walk;
    /* iterator with the labels of enumerations; NULL if there are no labels */
    const ttr_fields *labels;
};

#define NUMBERS_KEPT 16u

/* The last NUMBERS_KEPT unsigned members of a struct, of which each may be the length of a later
 * array or byte string. */
struct open_numbers {
    /* ring buffer of item indexes: the i-th number of the struct is at i % NUMBERS_KEPT */
    size_t item[NUMBERS_KEPT];
    uint32_t n;
};

/* Stack of the structs and arrays that are not complete yet. */
struct open_items {
    struct open_numbers
        /* unsigned members by nesting depth; index 0 is for members outside of any struct */
        numbers[CTF_ITEMS_DEPTH + 1];
    size_t item[CTF_ITEMS_DEPTH];
    uint32_t left[CTF_ITEMS_DEPTH];
    unsigned n;
    /* number of fields that remain to be skipped because they are nested too deep, including their
     * members */
    uint64_t skip;
};

/* Progress in the item list, which consists of three scopes in this order: common context, specific
 * context, payload. A scope ends at the first field of a later scope. */
struct scopes {
    /* the scope has ended, so its end is known: common_n, context_n */
    bool has_common, has_context;
};

/* --- Values of fields --- */

static void count_item_loss(const struct flattening *f, enum ctf_loss loss)
{
    output_count_loss(f->what->out, loss, f->offset);
}

/* Returns true if the type is an 8-bit enumeration by which the CTF conventions store booleans,
 * nulls and constants. */
static bool is_convention_enumeration(const struct type *type)
{
    const struct type_labels *labels = type->labels;
    return type->bits == 8 && (labels->n < 2 || (labels->label[0].name.n == 5 &&
                                                 memcmp(labels->label[0].name.p, "false", 5) == 0));
}

/* Sets the hint of a number to CTF_ITEM_LABELLED or CTF_ITEM_FLAGS if the source declares its
 * labels and the target can express all of them. Otherwise removes the hint and counts a loss. */
static void normalize_labels(const struct flattening *f, ttr_value *value)
{
    bool is_flags = value->hint == TTR_DISPLAY_FLAGS,
         is_sayable = !is_flags || f->what->version == CTF_2;
    const struct type *type = f->labels ? fields_declared_type(f->labels) : NULL;
    /* v1.1 metadata list every value of a label, so the ranges of labels must be small */
    if (type && type->labels && f->what->version == CTF_RFC_1_1)
        is_sayable = is_sayable && rfc11_can_list_labels(type->labels);
    bool has_labels =
        type && type->labels && is_sayable &&
        (!f->what->has_conventions || (type->labels->n > 0 && !is_convention_enumeration(type)));
    if (!has_labels && value->count > 0)
        count_item_loss(f, CTF_LOST_LABEL);
    value->hint = TTR_DISPLAY_NONE;
    value->count = 0;
    if (!has_labels)
        return;
    value->hint = is_flags ? CTF_ITEM_FLAGS : CTF_ITEM_LABELLED;
    value->text = (ttr_text){(const char *)type->labels, 0};
}

static void normalize_number(const struct flattening *f, ttr_value *value)
{
    ttr_thread thread;
    if (value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS)
        normalize_labels(f, value);
    unsigned bits = value->bits == 0 || value->bits > 64 ? 64 : value->bits;
    if (value->hint == TTR_DISPLAY_THREAD) {
        if (value->v.u <= UINT32_MAX &&
            ttr_thread_get(f->what->out->t, (ttr_id)value->v.u, &thread))
            value->v.u = thread.tid;
        bits = 64;
        value->hint = TTR_DISPLAY_NONE;
        count_item_loss(f, CTF_LOST_HINT);
    }
    bool fits = bits == 64 || (value->type == TTR_TYPE_INT
                                   ? value->v.s >> (bits - 1) == 0 || value->v.s >> (bits - 1) == -1
                                   : value->v.u >> bits == 0);
    value->bits = (uint8_t)(fits ? bits : 64);
    if (value->hint == TTR_DISPLAY_POINTER)
        value->base = 16;
    if (value->hint == TTR_DISPLAY_KOID)
        value->base = 0;
    else if (value->hint < CTF_ITEM_CONSTANT)
        value->hint = TTR_DISPLAY_NONE;
    if (value->base != 2 && value->base != 8 && value->base != 16)
        value->base = 0;
}

static void normalize_text(const struct flattening *f, ttr_value *value)
{
    bool has_nul =
        value->type == TTR_TYPE_TEXT && value->text.n && memchr(value->text.p, 0, value->text.n);
    if (!f->what->has_conventions && value->type == TTR_TYPE_BYTES && f->what->version != CTF_2)
        count_item_loss(f, CTF_LOST_TYPE);
    if (!f->what->has_conventions && value->hint == TTR_DISPLAY_DECIMAL) {
        value->hint = TTR_DISPLAY_NONE;
        count_item_loss(f, CTF_LOST_WIDE);
    }
    if (value->hint != TTR_DISPLAY_NONE &&
        (value->type == TTR_TYPE_BYTES || value->hint != TTR_DISPLAY_DECIMAL || has_nul)) {
        value->hint = TTR_DISPLAY_NONE;
        count_item_loss(f, CTF_LOST_HINT);
    }
    if (!has_nul)
        return;
    value->type = TTR_TYPE_BYTES;
    value->text_id = 0;
    count_item_loss(f, CTF_LOST_NUL);
}

static void normalize_float(const struct flattening *f, ttr_value *value)
{
    double x = value->v.f;
    const struct type *type = f->walk ? fields_declared_type(f->walk) : NULL;
    value->hint = 0;
    if (type && type->kind == TYPE_FLOAT && type->bits > 64)
        count_item_loss(f, CTF_LOST_FLOAT);
    bool is_narrow = value->bits == 16 || value->bits == 32;
    value->bits = is_narrow && ((double)(float)x == x || x != x) ? 32 : 64;
}

/* Converts a value to a type, width and hint that the target can express. Counts a loss if its
 * type or meaning changes. */
static void normalize_value(const struct flattening *f, ttr_value *value)
{
    switch (value->type) {
    case TTR_TYPE_BOOL:
        value->v.u = value->v.u != 0;
        value->hint = 0;
        if (!f->what->has_conventions && f->what->version != CTF_2)
            count_item_loss(f, CTF_LOST_TYPE);
        break;
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        normalize_number(f, value);
        break;
    case TTR_TYPE_FLOAT:
        normalize_float(f, value);
        break;
    case TTR_TYPE_TEXT:
    case TTR_TYPE_BYTES:
        normalize_text(f, value);
        break;
    case TTR_TYPE_ARRAY:
    case TTR_TYPE_STRUCT:
        value->hint = 0;
        break;
    default:
        value->type = TTR_TYPE_NULL;
        value->v.u = 0;
        value->hint = value->hint == TTR_DISPLAY_ABSENT ? TTR_DISPLAY_ABSENT : 0;
    }
    if (value->type != TTR_TYPE_UINT && value->type != TTR_TYPE_INT)
        value->base = 0;
}

/* --- Fields --- */

static bool matches_length_name(ttr_text name, ttr_text shown)
{
    size_t skip = name.n > shown.n && name.n && name.p[0] == '_';
    return name.n - skip == shown.n &&
           (shown.n == 0 || memcmp(name.p + skip, shown.p, shown.n) == 0);
}

#define UNNAMED UINT32_MAX /* text id of a length member with an empty name */

/* Sets *name to the name of the member with the length of values of `type`. Returns false if no
 * member is their length. */
static bool find_length_name(const struct type *type, ttr_text *name)
{
    if (type && type->reference.names_n)
        *name = type->reference.names[type->reference.names_n - 1];
    else
        *name = type ? type->length_member : (ttr_text){"", 0};
    return name->n || (type && type->reference.names_n);
}

/* Searches for the earlier member of the same struct with the length of an array or byte string:
 * name and value must match. Sets v.u to 1 + its index; to 0 if there is none. */
static void link_length_item(const struct flattening *f, const struct open_items *open,
                             ttr_value *value)
{
    const struct open_numbers *numbers = &open->numbers[open->n];
    bool is_counted = value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_BYTES;
    const struct type *type = is_counted && f->walk ? fields_declared_type(f->walk) : NULL;
    ttr_text name;
    bool has_length = find_length_name(type, &name);
    uint64_t length = value->type == TTR_TYPE_ARRAY ? value->count : value->text.n;
    if (!is_counted)
        return;
    value->text_id = 0;
    value->v.u = 0;
    for (uint32_t i = numbers->n; has_length && i > 0 && i + NUMBERS_KEPT > numbers->n; i--) {
        const ttr_field *field = &f->items->field[numbers->item[(i - 1) % NUMBERS_KEPT]];
        if (field->value.v.u != length || !matches_length_name(name, field->name))
            continue;
        value->text_id = field->name_id ? field->name_id : UNNAMED;
        value->v.u = numbers->item[(i - 1) % NUMBERS_KEPT] + UINT64_C(1);
        return;
    }
}

/* Converts a type pointer to a text pointer and back, because value.text is the only pointer of an
 * item. */
union kept_type {
    const char *text;
    const struct type *type;
};

/* Returns the declared element type of the iterator's current array, in the form of a text for
 * value.text; its pointer is NULL if the source declares none. */
static ttr_text store_element_type(const struct flattening *f)
{
    const struct type *type = f->walk ? fields_declared_type(f->walk) : NULL;
    return (ttr_text){(union kept_type){.type = type ? type->element : NULL}.text, 0};
}

/* Sets the hint CTF_ITEM_FIXED of an array, byte string or text with a fixed size in the source,
 * so that it has the same fixed size in the target. */
static void mark_fixed_size(const struct flattening *f, ttr_value *value)
{
    const struct type *type = f->walk ? fields_declared_type(f->walk) : NULL;
    bool is_array = value->type == TTR_TYPE_ARRAY, is_bytes = value->type == TTR_TYPE_BYTES;
    if (!type || type->reference.names_n || type->has_inline_length)
        return;
    bool is_text = value->type == TTR_TYPE_TEXT && type->kind == TYPE_TEXT &&
                   value->text.n <= type->count && value->hint == TTR_DISPLAY_NONE;
    if ((is_array && type->kind == TYPE_ARRAY) ||
        (is_bytes && (type->kind == TYPE_ARRAY || type->kind == TYPE_BLOB)))
        value->hint = CTF_ITEM_FIXED;
    if (!is_text || f->what->version == CTF_RFC_1_1)
        return;
    value->hint = CTF_ITEM_FIXED;
    value->v.u = type->count;
}

/* Subtracts `by`, the number of members that were not added, from the count of a struct or array.
 * Removes the link of an array to its length member, which has the old count. */
static void subtract_missing_members(ttr_value *value, uint64_t by)
{
    value->count -= (uint32_t)by;
    if (value->type != TTR_TYPE_ARRAY || by == 0)
        return;
    value->text_id = 0;
    value->v.u = 0;
}

static bool is_array_element(const struct ctf_items *items, const struct open_items *open)
{
    return open->n && items->field[open->item[open->n - 1]].value.type == TTR_TYPE_ARRAY;
}

static void pop_complete_containers(struct open_items *open)
{
    while (open->n && open->left[open->n - 1] == 0)
        open->n--;
}

/* Appends the current field of the iterator to the list. Skips absent fields, which the target
 * cannot express, and fields that are nested too deep. */
static void add_field_item(const struct flattening *f, struct open_items *open,
                           const ttr_field *given)
{
    struct ctf_items *items = f->items;
    bool is_group = given->value.type == TTR_TYPE_ARRAY || given->value.type == TTR_TYPE_STRUCT;
    if (open->skip) {
        open->skip += (is_group ? given->value.count : 0) - UINT64_C(1);
        return;
    }
    pop_complete_containers(open);
    if (open->n)
        open->left[open->n - 1]--;
    if (given->value.hint == TTR_DISPLAY_ABSENT && f->walk) {
        count_item_loss(f, CTF_LOST_ABSENT);
        if (open->n)
            subtract_missing_members(&items->field[open->item[open->n - 1]].value, 1);
        return;
    }
    if (given->choices && f->walk)
        count_item_loss(f, CTF_LOST_VARIANT);
    ttr_field *field = ctf_items_add(items);
    if (!field)
        return;
    *field = *given;
    items->n--;
    if (!f->what->has_conventions && field->value.type != TTR_TYPE_TEXT)
        link_length_item(f, open, &field->value);
    items->n++;
    field->name_id = given->name_id || given->name.n == 0
                         ? given->name_id
                         : ttr_text_add(f->what->out->t, given->name.p, given->name.n);
    items->failed |= given->name.n && !field->name_id;
    struct open_numbers *numbers = &open->numbers[open->n];
    if (f->walk && text_has_bytes_after_end(f->walk, &field->value))
        count_item_loss(f, CTF_LOST_AFTER_NUL);
    normalize_value(f, &field->value);
    if (field->value.type == TTR_TYPE_UINT && !is_array_element(items, open))
        numbers->item[numbers->n++ % NUMBERS_KEPT] = items->n - 1;
    if (is_group && open->n == CTF_ITEMS_DEPTH && given->value.count) {
        open->skip = given->value.count;
        subtract_missing_members(&field->value, field->value.count);
        count_item_loss(f, CTF_LOST_DEPTH);
        return;
    }
    mark_fixed_size(f, &field->value);
    if (field->value.type == TTR_TYPE_ARRAY)
        field->value.text = store_element_type(f);
    if (is_group && given->value.count) {
        open->item[open->n] = items->n - 1;
        open->left[open->n++] = given->value.count;
        open->numbers[open->n].n = 0;
    }
}

/* Ends all scopes that precede the scope of `group` (TTR_GROUP_*). Returns true if a scope was
 * ended. */
static bool end_scopes_until(struct ctf_items *items, struct scopes *scopes, uint8_t group)
{
    bool had_common = scopes->has_common, had_context = scopes->has_context;
    if (!scopes->has_common && group != TTR_GROUP_COMMON) {
        items->common_n = items->n;
        scopes->has_common = true;
    }
    if (!scopes->has_context && group != TTR_GROUP_COMMON && group != TTR_GROUP_CONTEXT) {
        items->context_n = items->n;
        scopes->has_context = true;
    }
    return had_common != scopes->has_common || had_context != scopes->has_context;
}

/* Starts the iterator over the event's fields; if is_packet, over the fields of its packet. */
static void start_field_iterator(struct flattening *f, const ttr_event *event, ttr_fields *walk)
{
    const ttr *t = f->what->out->t;
    if (f->what->is_packet)
        ttr_fields_begin_group(t, event, TTR_GROUP_PACKET, walk);
    else
        ttr_fields_begin(t, event, walk);
    f->walk = !f->what->has_conventions ? walk : NULL;
    f->labels = walk;
}

/* Returns true if the iterator is at a packet field that ctf_packet_writer.c computes and writes
 * itself, by its role. The CPU is copied like other fields; v1.1 stores it in the file name. */
static bool is_written_by_packet_writer(const struct flattening *f)
{
    const struct type *type = f->what->is_packet && f->walk ? fields_declared_type(f->walk) : NULL;
    return type && type->role && (type->role != CTF_ROLE_CPU || f->what->version == CTF_RFC_1_1);
}

/* Returns true if the field is the event size in the common context, payload_size, which writers
 * of v1.1 add if the option event-size is set. */
static bool is_payload_size(const struct flattening *f, const ttr_field *field)
{
    static const char name[] = "payload_size";
    const ttr_text text = ttr_text_get(f->what->out->t, field->name_id);
    return field->group == TTR_GROUP_COMMON && field->depth == 0 && text.n == sizeof name - 1 &&
           memcmp(text.p, name, text.n) == 0;
}

static void add_field_items(struct flattening *f, const ttr_event *event)
{
    struct ctf_items *items = f->items;
    struct scopes scopes = {.has_common = f->what->has_conventions || f->what->is_packet,
                            .has_context = f->what->is_packet};
    struct open_items open;
    ttr_fields walk;
    ttr_field field;
    open.n = 0;
    open.skip = 0;
    open.numbers[0].n = 0;
    start_field_iterator(f, event, &walk);
    while (ttr_fields_next(&walk, &field)) {
        if (is_written_by_packet_writer(f) || (f->what->drops_size && is_payload_size(f, &field)))
            continue;
        if (open.skip == 0)
            pop_complete_containers(&open);
        if (open.skip == 0 && open.n == 0 && end_scopes_until(items, &scopes, field.group))
            open.numbers[0].n = 0;
        if (field.depth == 0 && field.group == TTR_GROUP_CONTEXT && scopes.has_context &&
            !f->what->is_packet)
            count_item_loss(f, CTF_LOST_CONTEXT);
        add_field_item(f, &open, &field);
    }
    pop_complete_containers(&open);
    (void)end_scopes_until(items, &scopes, TTR_GROUP_PAYLOAD);
    /* if the iterator ended early, the incomplete structs and arrays have fewer members than
     * counted */
    for (unsigned i = 0; i < open.n; i++)
        subtract_missing_members(&items->field[open.item[i]].value, open.left[i]);
    f->walk = f->labels = NULL;
}

/* v1.1 has no specific context: moves its fields to the start of the payload; also those of the
 * common context if has_no_common is set. Sets context_members to the number of moved fields. */
static void move_contexts_to_payload(const struct flattening *f)
{
    struct ctf_items *items = f->items;
    size_t common = f->what->has_no_common ? 0 : items->common_n;
    items->payload_at = items->context_n;
    if (f->what->version != CTF_RFC_1_1 || f->what->is_packet)
        return;
    if (items->common_n > common)
        count_item_loss(f, CTF_LOST_CONTEXT);
    bool has_context = items->context_n > items->attributes_n;
    for (size_t i = common; i < items->context_n && has_context;
         i += ctf_items_count_nested(items, i))
        items->context_members++;
    items->common_n = items->context_n = common;
}

/* --- Hashes of shapes --- */

/* Returns a hash of the names and ranges of labels. Their address cannot identify them, because
 * their memory is used again after a reader is closed. */
static uint64_t hash_labels(const ttr_value *value)
{
    union {
        const char *text;
        const struct type_labels *labels;
    } of = {.text = value->text.p};
    return type_labels_hash(of.labels);
}

static uint64_t hash_scalar_shape(const ttr_value *value)
{
    uint64_t ctx = (uint64_t)value->type << 24 | (uint64_t)value->hint << 16 |
                   (uint64_t)value->bits << 8 | value->base;
    if (value->type == TTR_TYPE_BYTES)
        ctx |= (uint64_t)value->text_id << 32;
    if (value->hint == CTF_ITEM_LABELLED || value->hint == CTF_ITEM_FLAGS)
        return hash_pair(ctx, hash_labels(value));
    if (value->hint == CTF_ITEM_CONSTANT)
        return hash_pair(hash_pair(ctx, value->v.u), hash_bytes(value->text.p, value->text.n));
    uint64_t room = value->type == TTR_TYPE_TEXT ? value->v.u : value->text.n;
    return hash_pair(ctx, value->hint == CTF_ITEM_FIXED ? room : 0);
}

static uint64_t hash_value_shape(const struct flattening *f, size_t *at);

/* Adds the labels of an enumeration to `element`, a number from which the element type is made.
 * Returns false if a version of CTF cannot express the labels. */
static bool copy_element_labels(const struct type *type, ttr_value *element)
{
    if ((type->hint != TTR_DISPLAY_ENUM && type->hint != TTR_DISPLAY_NONE) ||
        type->labels->n == 0 || is_convention_enumeration(type) ||
        !rfc11_can_list_labels(type->labels))
        return false;
    element->hint = CTF_ITEM_LABELLED;
    element->text = (ttr_text){(const char *)type->labels, 0};
    return true;
}

bool ctf_items_make_empty_array_element(const ttr_value *array, ttr_value *element)
{
    const struct type *type = (union kept_type){.text = array->text.p}.type;
    bool is_wide = !type || type->bits > 64;
    *element = (ttr_value){.text = {"", 0}};
    if (!type)
        return false;
    switch (type->kind) {
    case TYPE_UINT:
    case TYPE_INT:
        element->type = type->kind == TYPE_INT ? TTR_TYPE_INT : TTR_TYPE_UINT;
        element->base = type->base == 10 ? 0 : type->base;
        break;
    case TYPE_FLOAT:
        element->type = TTR_TYPE_FLOAT;
        break;
    case TYPE_STRING:
        element->type = TTR_TYPE_TEXT;
        return true;
    default:
        return false;
    }
    element->bits = (uint8_t)type->bits;
    if (type->labels)
        return !is_wide && type->kind != TYPE_FLOAT && copy_element_labels(type, element);
    return !is_wide && type->hint == 0 &&
           (type->kind != TYPE_FLOAT || type->bits == 32 || type->bits == 64);
}

/* Returns the index of the first element of any non-empty array with this element type; 0 if there
 * is none. */
static size_t find_nonempty_array_of_type(const struct ctf_items *items, const char *type)
{
    for (size_t i = 0; i < items->n; i++) {
        const ttr_value *value = &items->field[i].value;
        if (value->type == TTR_TYPE_ARRAY && value->count && value->text.p == type)
            return i + 1;
    }
    return 0;
}

/* Returns the shape hash of the elements of an empty array, from a non-empty array with the same
 * element type. The recursion ends because a type cannot contain itself. */
static uint64_t hash_empty_array_shape(const struct flattening *f, ttr_value *array)
{
    struct known_shapes *known_shapes = f->known_shapes;
    size_t i = 0;
    while (i < known_shapes->n && known_shapes->like[i].type != array->text.p)
        i++;
    if (i == LIKES || !array->text.p)
        return SHAPE_EMPTY;
    if (i == known_shapes->n) {
        struct flattening trial = *f;
        size_t at = find_nonempty_array_of_type(f->items, array->text.p), following = at;
        trial.is_trial = true;
        known_shapes->like[known_shapes->n].type = array->text.p;
        known_shapes->like[known_shapes->n].at = at;
        known_shapes->like[known_shapes->n++].shape = SHAPE_EMPTY;
        uint64_t shape = at ? hash_value_shape(&trial, &following) : SHAPE_EMPTY;
        known_shapes->like[i].shape = shape;
    }
    array->text.n = known_shapes->like[i].at;
    return known_shapes->like[i].shape;
}

/* Returns the shape hash of an array. It does not depend on the number of elements if they have
 * equal shapes and the size is not fixed. If their shapes differ, marks the array as mixed and
 * hashes all of them. */
static uint64_t hash_array_shape(const struct flattening *f, ttr_field *array, size_t *at)
{
    ttr_value likeness;
    bool is_empty = array->value.count == 0,
         is_known = is_empty && ctf_items_make_empty_array_element(&array->value, &likeness);
    uint64_t first = is_known ? hash_scalar_shape(&likeness)
                     : is_empty && array->value.hint != CTF_ITEM_FIXED
                         ? hash_empty_array_shape(f, &array->value)
                         : SHAPE_EMPTY,
             all = TTR_TYPE_ARRAY;
    bool is_mixed = false;
    uint64_t length = array->value.text_id;
    for (uint32_t i = 0; i < array->value.count; i++) {
        uint64_t shape = hash_value_shape(f, at);
        first = i ? first : shape;
        for (uint32_t k = 0; shape != first && !is_mixed && k < i; k++)
            all = hash_pair(all, first);
        is_mixed |= shape != first;
        all = is_mixed ? hash_pair(all, shape) : all;
    }
    if (!is_mixed && array->value.hint == CTF_ITEM_FIXED)
        return hash_pair(hash_pair(CTF_ITEM_FIXED, array->value.count), first);
    if (!is_mixed)
        return hash_pair(hash_pair(TTR_TYPE_ARRAY, length), first);
    if (!f->is_trial) {
        array->value.hint = CTF_ITEM_MIXED;
        count_item_loss(f, CTF_LOST_MIXED);
    }
    return hash_pair(CTF_ITEM_MIXED, all);
}

static uint64_t hash_members_shape(const struct flattening *f, size_t *at, size_t end,
                                   uint32_t count)
{
    const struct ctf_items *items = f->items;
    uint64_t all = TTR_TYPE_STRUCT;
    for (uint32_t i = 0; i < count && *at < end; i++) {
        const ttr_field *field = &items->field[*at];
        uint64_t name = field->name_id ? field->name_id : hash_bytes(field->name.p, field->name.n);
        all = hash_pair(all, name);
        all = hash_pair(all, hash_value_shape(f, at));
    }
    return all;
}

static uint64_t hash_value_shape(const struct flattening *f, size_t *at)
{
    ttr_field *field = &f->items->field[(*at)++];
    const ttr_value *value = &field->value;
    if (value->type == TTR_TYPE_ARRAY)
        return hash_array_shape(f, field, at);
    if (value->type == TTR_TYPE_STRUCT)
        return hash_pair(value->count, hash_members_shape(f, at, f->items->n, value->count));
    return hash_scalar_shape(value);
}

/* Computes one shape hash each for common context, specific context and payload. */
static void hash_scope_shapes(const struct flattening *all)
{
    struct known_shapes known_shapes;
    struct flattening f = *all;
    struct ctf_items *items = f.items;
    size_t at = 0;
    if (items->failed)
        return;
    known_shapes.n = 0;
    f.known_shapes = &known_shapes;
    items->common_shape = hash_members_shape(&f, &at, items->common_n, UINT32_MAX);
    at = items->common_n;
    items->context_shape = hash_members_shape(&f, &at, items->context_n, UINT32_MAX);
    at = items->context_n;
    items->payload_shape =
        hash_pair(hash_members_shape(&f, &at, items->n, UINT32_MAX), items->context_members);
}

void ctf_items_complete(struct ctf_items *items, const struct ctf_items_config *what,
                        uint64_t offset)
{
    const struct flattening f = {.items = items, .what = what, .offset = offset};
    for (size_t i = items->attributes_n; i < items->n; i++)
        normalize_value(&f, &items->field[i].value);
    hash_scope_shapes(&f);
}

void ctf_items_collect(struct ctf_items *items, const struct ctf_items_config *what,
                       const ttr_event *event)
{
    struct flattening f = {.items = items, .what = what, .offset = event->offset};
    ctf_items_clear(items);
    items->offset = event->offset;
    if (what->has_conventions)
        ctf_items_add_attributes(items, what, event);
    add_field_items(&f, event);
    move_contexts_to_payload(&f);
    hash_scope_shapes(&f);
}
