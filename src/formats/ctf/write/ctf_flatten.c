/* Taking events apart.  Fields are put in an order and a form that types can be made for: what a
 * walk gives, counted by the counts that structs and arrays claim (the depths may lie), with
 * attributes before them.
 *
 * The shape is all that a type depends on: names, types, widths, bases, what is in what; of arrays
 * whose elements are all alike not the number of these.  Two shapes with one hash would be written
 * as one; the encoder then writes nonsense but harms nobody. */
#include "formats/ctf/write/ctf_write.h"

#include "base/hash.h"
#include "layout/layout.h"

#define LIKES 16u /* types of elements in an event that are looked for in other arrays */
#define SHAPE_EMPTY UINT64_C(0x9f3c5a7d01)

/* What elements of empty arrays would be like, where others in the event that are of the same type
 * have some. */
struct likes {
    struct {
        const char *type; /* of the elements, as kept in values */
        size_t at;        /* the first element of another array; 0 = there is none */
        uint64_t shape;
    } like[LIKES];
    size_t n;
};

/* What is needed while fields are put in form. */
struct forming {
    struct ctf_items *items;
    struct likes *likes;
    bool is_trial; /* shapes are asked for once more: nothing is counted */
    const struct ctf_items_for *what;
    uint64_t offset;
    const ttr_fields *walk;   /* where types of fields come from, in traces that are described as
                                 their source is; NULL = nowhere */
    const ttr_fields *labels; /* where labels come from; NULL = nowhere */
};

#define NUMBERS_KEPT 16u

/* The numbers that came last in a struct: one of them may be the length of what follows. */
struct open_numbers {
    size_t item[NUMBERS_KEPT]; /* the i-th at i % NUMBERS_KEPT */
    uint32_t n;
};

/* Structs and arrays that are still being filled. */
struct open_items {
    struct open_numbers
        numbers[CTF_ITEMS_DEPTH + 1]; /* of the root, of the struct opened first, ... */
    size_t item[CTF_ITEMS_DEPTH];
    uint32_t left[CTF_ITEMS_DEPTH];
    unsigned n;
    uint64_t skip; /* fields to be left out, with what is in them */
};

/* The regions of the items as groups of fields come: each ends where the first field of a later one
 * stands. */
struct regions {
    bool has_common, has_context; /* were ended */
};

/* --- Values --- */

static void lost(const struct forming *f, enum ctf_loss loss)
{
    output_lost(f->what->out, loss, f->offset);
}

/* In the dialect some enumerations of 8 bits stand for something else. */
static bool is_stand_in(const struct type *type)
{
    const struct type_labels *labels = type->labels;
    return type->bits == 8 && (labels->n < 2 || (labels->label[0].name.n == 5 &&
                                                 memcmp(labels->label[0].name.p, "false", 5) == 0));
}

/* Labels stay, where the source says what they are. */
static void form_labels(const struct forming *f, ttr_value *value)
{
    bool is_flags = value->hint == TTR_HINT_FLAGS,
         is_sayable = !is_flags || f->what->version == CTF_2;
    const struct type *type = f->labels ? field_type(f->labels) : NULL;
    if (type && type->labels && f->what->version == CTF_RFC_1_1) /* which lists values one by one */
        is_sayable = is_sayable && rfc11_lists_labels(type->labels);
    bool has_labels = type && type->labels && is_sayable &&
                      (!f->what->is_dialect || (type->labels->n > 0 && !is_stand_in(type)));
    if (!has_labels && value->count > 0)
        lost(f, CTF_LOST_LABEL);
    value->hint = TTR_HINT_NONE;
    value->count = 0;
    if (!has_labels)
        return;
    value->hint = is_flags ? CTF_ITEM_FLAGS : CTF_ITEM_LABELLED;
    value->text = (ttr_text){(const char *)type->labels, 0};
}

static void form_number(const struct forming *f, ttr_value *value)
{
    ttr_thread thread;
    if (value->hint == TTR_HINT_ENUM || value->hint == TTR_HINT_FLAGS)
        form_labels(f, value);
    unsigned bits = value->bits == 0 || value->bits > 64 ? 64 : value->bits;
    if (value->hint == TTR_HINT_THREAD) {
        if (value->v.u <= UINT32_MAX &&
            ttr_thread_get(f->what->out->t, (ttr_id)value->v.u, &thread))
            value->v.u = thread.tid;
        bits = 64;
        value->hint = TTR_HINT_NONE;
        lost(f, CTF_LOST_HINT);
    }
    bool fits = bits == 64 || (value->type == TTR_TYPE_INT
                                   ? value->v.s >> (bits - 1) == 0 || value->v.s >> (bits - 1) == -1
                                   : value->v.u >> bits == 0);
    value->bits = (uint8_t)(fits ? bits : 64);
    if (value->hint == TTR_HINT_POINTER)
        value->base = 16;
    if (value->hint == TTR_HINT_KOID)
        value->base = 0;
    else if (value->hint < CTF_ITEM_CONSTANT)
        value->hint = TTR_HINT_NONE;
    if (value->base != 2 && value->base != 8 && value->base != 16)
        value->base = 0;
}

static void form_text(const struct forming *f, ttr_value *value)
{
    bool has_nul =
        value->type == TTR_TYPE_TEXT && value->text.n && memchr(value->text.p, 0, value->text.n);
    if (!f->what->is_dialect && value->type == TTR_TYPE_BYTES && f->what->version != CTF_2)
        lost(f, CTF_LOST_TYPE);
    if (!f->what->is_dialect && value->hint == TTR_HINT_NUMBER) {
        value->hint = TTR_HINT_NONE;
        lost(f, CTF_LOST_WIDE);
    }
    if (value->hint != TTR_HINT_NONE &&
        (value->type == TTR_TYPE_BYTES || value->hint != TTR_HINT_NUMBER || has_nul)) {
        value->hint = TTR_HINT_NONE;
        lost(f, CTF_LOST_HINT);
    }
    if (!has_nul)
        return;
    value->type = TTR_TYPE_BYTES;
    value->text_id = 0;
    lost(f, CTF_LOST_NUL);
}

static void form_float(const struct forming *f, ttr_value *value)
{
    double x = value->v.f;
    const struct type *type = f->walk ? field_type(f->walk) : NULL;
    value->hint = 0;
    if (type && type->kind == TYPE_FLOAT && type->bits > 64)
        lost(f, CTF_LOST_FLOAT);
    bool is_narrow = value->bits == 16 || value->bits == 32;
    value->bits = is_narrow && ((double)(float)x == x || x != x) ? 32 : 64;
}

/* Brings a value into the form that types are made for. */
static void form(const struct forming *f, ttr_value *value)
{
    switch (value->type) {
    case TTR_TYPE_BOOL:
        value->v.u = value->v.u != 0;
        value->hint = 0;
        if (!f->what->is_dialect && f->what->version != CTF_2)
            lost(f, CTF_LOST_TYPE);
        break;
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        form_number(f, value);
        break;
    case TTR_TYPE_FLOAT:
        form_float(f, value);
        break;
    case TTR_TYPE_TEXT:
    case TTR_TYPE_BYTES:
        form_text(f, value);
        break;
    case TTR_TYPE_ARRAY:
    case TTR_TYPE_STRUCT:
        value->hint = 0;
        break;
    default:
        value->type = TTR_TYPE_NULL;
        value->v.u = 0;
        value->hint = value->hint == TTR_HINT_ABSENT ? TTR_HINT_ABSENT : 0;
    }
    if (value->type != TTR_TYPE_UINT && value->type != TTR_TYPE_INT)
        value->base = 0;
}

/* --- Fields --- */

static bool ends_with(ttr_text name, ttr_text shown)
{
    size_t skip = name.n > shown.n && name.n && name.p[0] == '_';
    return name.n - skip == shown.n &&
           (shown.n == 0 || memcmp(name.p + skip, shown.p, shown.n) == 0);
}

#define UNNAMED UINT32_MAX /* in place of the name of a length that is called "" */

/* The name of the member that says how many elements or bytes there are; false where none does. */
static bool length_name(const struct type *type, ttr_text *name)
{
    if (type && type->reference.names_n)
        *name = type->reference.names[type->reference.names_n - 1];
    else
        *name = type ? type->length_member : (ttr_text){"", 0};
    return name->n || (type && type->reference.names_n);
}

/* An array or bytes whose length is a field of the same struct goes on with that. */
static void find_length(const struct forming *f, const struct open_items *open, ttr_value *value)
{
    const struct open_numbers *numbers = &open->numbers[open->n];
    bool is_counted = value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_BYTES;
    const struct type *type = is_counted && f->walk ? field_type(f->walk) : NULL;
    ttr_text name;
    bool has_length = length_name(type, &name);
    uint64_t length = value->type == TTR_TYPE_ARRAY ? value->count : value->text.n;
    if (!is_counted)
        return;
    value->text_id = 0;
    value->v.u = 0;
    for (uint32_t i = numbers->n; has_length && i > 0 && i + NUMBERS_KEPT > numbers->n; i--) {
        const ttr_field *field = &f->items->field[numbers->item[(i - 1) % NUMBERS_KEPT]];
        if (field->value.v.u != length || !ends_with(name, field->name))
            continue;
        value->text_id = field->name_id ? field->name_id : UNNAMED;
        value->v.u = numbers->item[(i - 1) % NUMBERS_KEPT] + UINT64_C(1);
        return;
    }
}

/* What a source's type is kept as in a value. */
union kept_type {
    const char *text;
    const struct type *type;
};

/* The type of an array's elements, where the source has one. */
static ttr_text element_of(const struct forming *f)
{
    const struct type *type = f->walk ? field_type(f->walk) : NULL;
    return (ttr_text){(union kept_type){.type = type ? type->element : NULL}.text, 0};
}

/* Arrays, bytes and texts that always take as much room stay so. */
static void keep_fixed(const struct forming *f, ttr_value *value)
{
    const struct type *type = f->walk ? field_type(f->walk) : NULL;
    bool is_array = value->type == TTR_TYPE_ARRAY, is_bytes = value->type == TTR_TYPE_BYTES;
    if (!type || type->reference.names_n || type->has_inline_length)
        return;
    bool is_text = value->type == TTR_TYPE_TEXT && type->kind == TYPE_TEXT &&
                   value->text.n <= type->count && value->hint == TTR_HINT_NONE;
    if ((is_array && type->kind == TYPE_ARRAY) ||
        (is_bytes && (type->kind == TYPE_ARRAY || type->kind == TYPE_BLOB)))
        value->hint = CTF_ITEM_FIXED;
    if (!is_text || f->what->version == CTF_RFC_1_1)
        return;
    value->hint = CTF_ITEM_FIXED;
    value->v.u = type->count;
}

/* So many elements or members are left out; the field that says how many elements there were no
 * longer does. */
static void shorten(ttr_value *value, uint64_t by)
{
    value->count -= (uint32_t)by;
    if (value->type != TTR_TYPE_ARRAY || by == 0)
        return;
    value->text_id = 0;
    value->v.u = 0;
}

static bool is_in_array(const struct ctf_items *items, const struct open_items *open)
{
    return open->n && items->field[open->item[open->n - 1]].value.type == TTR_TYPE_ARRAY;
}

static void close_full(struct open_items *open)
{
    while (open->n && open->left[open->n - 1] == 0)
        open->n--;
}

/* Takes one field of a walk. */
static void take_field(const struct forming *f, struct open_items *open, const ttr_field *given)
{
    struct ctf_items *items = f->items;
    bool is_group = given->value.type == TTR_TYPE_ARRAY || given->value.type == TTR_TYPE_STRUCT;
    if (open->skip) {
        open->skip += (is_group ? given->value.count : 0) - UINT64_C(1);
        return;
    }
    close_full(open);
    if (open->n)
        open->left[open->n - 1]--;
    if (given->value.hint == TTR_HINT_ABSENT && f->walk) {
        lost(f, CTF_LOST_ABSENT);
        if (open->n)
            shorten(&items->field[open->item[open->n - 1]].value, 1);
        return;
    }
    if (given->choices && f->walk)
        lost(f, CTF_LOST_VARIANT);
    ttr_field *field = ctf_items_add(items);
    if (!field)
        return;
    *field = *given;
    items->n--;
    if (!f->what->is_dialect && field->value.type != TTR_TYPE_TEXT)
        find_length(f, open, &field->value);
    items->n++;
    field->name_id = given->name_id || given->name.n == 0
                         ? given->name_id
                         : ttr_text_add(f->what->out->t, given->name.p, given->name.n);
    items->failed |= given->name.n && !field->name_id;
    struct open_numbers *numbers = &open->numbers[open->n];
    if (f->walk && text_goes_on(f->walk, &field->value))
        lost(f, CTF_LOST_BEHIND);
    form(f, &field->value);
    if (field->value.type == TTR_TYPE_UINT && !is_in_array(items, open))
        numbers->item[numbers->n++ % NUMBERS_KEPT] = items->n - 1;
    if (is_group && open->n == CTF_ITEMS_DEPTH && given->value.count) {
        open->skip = given->value.count;
        shorten(&field->value, field->value.count);
        lost(f, CTF_LOST_DEPTH);
        return;
    }
    keep_fixed(f, &field->value);
    if (field->value.type == TTR_TYPE_ARRAY)
        field->value.text = element_of(f);
    if (is_group && given->value.count) {
        open->item[open->n] = items->n - 1;
        open->left[open->n++] = given->value.count;
        open->numbers[open->n].n = 0;
    }
}

/* True where another root begins. */
static bool enter_group(struct ctf_items *items, struct regions *regions, uint8_t group)
{
    bool had_common = regions->has_common, had_context = regions->has_context;
    if (!regions->has_common && group != TTR_GROUP_COMMON) {
        items->common_n = items->n;
        regions->has_common = true;
    }
    if (!regions->has_context && group != TTR_GROUP_COMMON && group != TTR_GROUP_CONTEXT) {
        items->context_n = items->n;
        regions->has_context = true;
    }
    return had_common != regions->has_common || had_context != regions->has_context;
}

/* Begins the walk over what is to be taken. */
static void begin_walk(struct forming *f, const ttr_event *event, ttr_fields *walk)
{
    const ttr *t = f->what->out->t;
    if (f->what->is_packet)
        ttr_fields_begin_group(t, event, TTR_GROUP_PACKET, walk);
    else
        ttr_fields_begin(t, event, walk);
    f->walk = !f->what->is_dialect ? walk : NULL;
    f->labels = walk;
}

/* Fields with a role are made anew, but for the cpu, which is like any other, where it does not
 * stand in the name of the file. */
static bool has_role(const struct forming *f)
{
    const struct type *type = f->what->is_packet && f->walk ? field_type(f->walk) : NULL;
    return type && type->role && (type->role != CTF_ROLE_CPU || f->what->version == CTF_RFC_1_1);
}

/* The payload_size that event_size = true of the RFC puts into the common context. */
static bool is_size(const struct forming *f, const ttr_field *field)
{
    static const char name[] = "payload_size";
    const ttr_text text = ttr_text_get(f->what->out->t, field->name_id);
    return field->group == TTR_GROUP_COMMON && field->depth == 0 && text.n == sizeof name - 1 &&
           memcmp(text.p, name, text.n) == 0;
}

static void take_fields(struct forming *f, const ttr_event *event)
{
    struct ctf_items *items = f->items;
    struct regions regions = {.has_common = f->what->is_dialect || f->what->is_packet,
                              .has_context = f->what->is_packet};
    struct open_items open;
    ttr_fields walk;
    ttr_field field;
    open.n = 0;
    open.skip = 0;
    open.numbers[0].n = 0;
    begin_walk(f, event, &walk);
    while (ttr_fields_next(&walk, &field)) {
        if (has_role(f) || (f->what->drops_size && is_size(f, &field)))
            continue;
        if (open.skip == 0)
            close_full(&open);
        if (open.skip == 0 && open.n == 0 && enter_group(items, &regions, field.group))
            open.numbers[0].n = 0;
        if (field.depth == 0 && field.group == TTR_GROUP_CONTEXT && regions.has_context &&
            !f->what->is_packet)
            lost(f, CTF_LOST_PLACE);
        take_field(f, &open, &field);
    }
    close_full(&open);
    (void)enter_group(items, &regions, TTR_GROUP_PAYLOAD);
    /* A walk that ends early leaves promises behind. */
    for (unsigned i = 0; i < open.n; i++)
        shorten(&items->field[open.item[i]].value, open.left[i]);
    f->walk = f->labels = NULL;
}

/* The RFC has no contexts of single classes: they become the first fields of the payload, which
 * says how many they are.  That of all classes joins them where something else stands in its place.
 */
static void settle_contexts(const struct forming *f)
{
    struct ctf_items *items = f->items;
    size_t common = f->what->has_no_common ? 0 : items->common_n;
    items->payload_at = items->context_n;
    if (f->what->version != CTF_RFC_1_1 || f->what->is_packet)
        return;
    if (items->common_n > common)
        lost(f, CTF_LOST_PLACE);
    bool has_context = items->context_n > items->attributes_n;
    for (size_t i = common; i < items->context_n && has_context; i += ctf_items_inside(items, i))
        items->context_members++;
    items->common_n = items->context_n = common;
}

/* --- Shapes --- */

/* By what they say: readers come and go, and others lie where theirs were. */
static uint64_t labels_key(const ttr_value *value)
{
    union {
        const char *text;
        const struct type_labels *labels;
    } of = {.text = value->text.p};
    return type_labels_key(of.labels);
}

static uint64_t shape_scalar(const ttr_value *value)
{
    uint64_t own = (uint64_t)value->type << 24 | (uint64_t)value->hint << 16 |
                   (uint64_t)value->bits << 8 | value->base;
    if (value->type == TTR_TYPE_BYTES)
        own |= (uint64_t)value->text_id << 32;
    if (value->hint == CTF_ITEM_LABELLED || value->hint == CTF_ITEM_FLAGS)
        return hash_pair(own, labels_key(value));
    if (value->hint == CTF_ITEM_CONSTANT)
        return hash_pair(hash_pair(own, value->v.u), hash_bytes(value->text.p, value->text.n));
    uint64_t room = value->type == TTR_TYPE_TEXT ? value->v.u : value->text.n;
    return hash_pair(own, value->hint == CTF_ITEM_FIXED ? room : 0);
}

static uint64_t shape_value(const struct forming *f, size_t *at);

/* The names of an enumeration that all versions say as what they are. */
static bool like_labels(const struct type *type, ttr_value *element)
{
    if ((type->hint != TTR_HINT_ENUM && type->hint != TTR_HINT_NONE) || type->labels->n == 0 ||
        is_stand_in(type) || !rfc11_lists_labels(type->labels))
        return false;
    element->hint = CTF_ITEM_LABELLED;
    element->text = (ttr_text){(const char *)type->labels, 0};
    return true;
}

bool ctf_items_likeness(const ttr_value *array, ttr_value *element)
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
        return !is_wide && type->kind != TYPE_FLOAT && like_labels(type, element);
    return !is_wide && type->hint == 0 &&
           (type->kind != TYPE_FLOAT || type->bits == 32 || type->bits == 64);
}

/* The first element of an array in the event whose elements are of this type; 0 where there is
 * none. */
static size_t find_like(const struct ctf_items *items, const char *type)
{
    for (size_t i = 0; i < items->n; i++) {
        const ttr_value *value = &items->field[i].value;
        if (value->type == TTR_TYPE_ARRAY && value->count && value->text.p == type)
            return i + 1;
    }
    return 0;
}

/* The shape that elements of an empty array would have, by another one of its type: types do not
 * hold themselves, so this ends. */
static uint64_t shape_like(const struct forming *f, ttr_value *array)
{
    struct likes *likes = f->likes;
    size_t i = 0;
    while (i < likes->n && likes->like[i].type != array->text.p)
        i++;
    if (i == LIKES || !array->text.p)
        return SHAPE_EMPTY;
    if (i == likes->n) {
        struct forming trial = *f;
        size_t at = find_like(f->items, array->text.p), behind = at;
        trial.is_trial = true;
        likes->like[likes->n].type = array->text.p;
        likes->like[likes->n].at = at;
        likes->like[likes->n++].shape = SHAPE_EMPTY;
        uint64_t shape = at ? shape_value(&trial, &behind) : SHAPE_EMPTY;
        likes->like[i].shape = shape;
    }
    array->text.n = likes->like[i].at;
    return likes->like[i].shape;
}

/* Elements that are all alike have one shape, else the array is mixed. */
static uint64_t shape_array(const struct forming *f, ttr_field *array, size_t *at)
{
    ttr_value likeness;
    bool is_empty = array->value.count == 0,
         is_known = is_empty && ctf_items_likeness(&array->value, &likeness);
    uint64_t first = is_known ? shape_scalar(&likeness)
                     : is_empty && array->value.hint != CTF_ITEM_FIXED
                         ? shape_like(f, &array->value)
                         : SHAPE_EMPTY,
             all = TTR_TYPE_ARRAY;
    bool is_mixed = false;
    uint64_t length = array->value.text_id;
    for (uint32_t i = 0; i < array->value.count; i++) {
        uint64_t shape = shape_value(f, at);
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
        lost(f, CTF_LOST_MIXED);
    }
    return hash_pair(CTF_ITEM_MIXED, all);
}

static uint64_t shape_members(const struct forming *f, size_t *at, size_t end, uint32_t count)
{
    const struct ctf_items *items = f->items;
    uint64_t all = TTR_TYPE_STRUCT;
    for (uint32_t i = 0; i < count && *at < end; i++) {
        const ttr_field *field = &items->field[*at];
        uint64_t name = field->name_id ? field->name_id : hash_bytes(field->name.p, field->name.n);
        all = hash_pair(all, name);
        all = hash_pair(all, shape_value(f, at));
    }
    return all;
}

static uint64_t shape_value(const struct forming *f, size_t *at)
{
    ttr_field *field = &f->items->field[(*at)++];
    const ttr_value *value = &field->value;
    if (value->type == TTR_TYPE_ARRAY)
        return shape_array(f, field, at);
    if (value->type == TTR_TYPE_STRUCT)
        return hash_pair(value->count, shape_members(f, at, f->items->n, value->count));
    return shape_scalar(value);
}

/* Shapes of the regions. */
static void finish(const struct forming *all)
{
    struct likes likes;
    struct forming f = *all;
    struct ctf_items *items = f.items;
    size_t at = 0;
    if (items->failed)
        return;
    likes.n = 0;
    f.likes = &likes;
    items->common_shape = shape_members(&f, &at, items->common_n, UINT32_MAX);
    at = items->common_n;
    items->context_shape = shape_members(&f, &at, items->context_n, UINT32_MAX);
    at = items->context_n;
    items->payload_shape =
        hash_pair(shape_members(&f, &at, items->n, UINT32_MAX), items->context_members);
}

void ctf_items_end(struct ctf_items *items, const struct ctf_items_for *what, uint64_t offset)
{
    const struct forming f = {.items = items, .what = what, .offset = offset};
    for (size_t i = items->attributes_n; i < items->n; i++)
        form(&f, &items->field[i].value);
    finish(&f);
}

void ctf_items_collect(struct ctf_items *items, const struct ctf_items_for *what,
                       const ttr_event *event)
{
    struct forming f = {.items = items, .what = what, .offset = event->offset};
    ctf_items_begin(items);
    items->offset = event->offset;
    if (what->is_dialect)
        ctf_items_add_attributes(items, what, event);
    take_fields(&f, event);
    settle_contexts(&f);
    finish(&f);
}
