/* Writes an event as an array of (name, type, value) entries, so that events with any fields have
 * the same event class. Used if a stream has too many classes, or readers would reject the class
 * of the event. The members of an entry are the CTF_LISTED_* values of ctf_conventions.h. The
 * event name is not in the list. */
#include "formats/ctf/write/ctf_write.h"

#include "base/bit_cursor.h"
#include "base/hash.h"
#include "base/number.h"

#define SHAPE_NAME UINT64_C(0x6c69737431)
#define SHAPE_LIST UINT64_C(0x6c69737432)
/* bytes that escaping may add to a name, in addition to those for escaped characters */
#define MARKS 8u
/* index in ctf_field_list.name: name of the array of entries */
#define MEMBER_FIELDS CTF_LISTED_MEMBERS

static const struct type_range ranges[] = {
    {0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4},
    {5, 5}, {6, 6}, {7, 7}, {8, 8}, {CTF_LISTED_ATTRIBUTE, CTF_LISTED_ATTRIBUTE}};
static const struct type_label type_label[TTR_TYPE_COUNT] = {
    {{"null", 4}, &ranges[TTR_TYPE_NULL], 1},     {{"bool", 4}, &ranges[TTR_TYPE_BOOL], 1},
    {{"uint", 4}, &ranges[TTR_TYPE_UINT], 1},     {{"int", 3}, &ranges[TTR_TYPE_INT], 1},
    {{"float", 5}, &ranges[TTR_TYPE_FLOAT], 1},   {{"text", 4}, &ranges[TTR_TYPE_TEXT], 1},
    {{"bytes", 5}, &ranges[TTR_TYPE_BYTES], 1},   {{"array", 5}, &ranges[TTR_TYPE_ARRAY], 1},
    {{"struct", 6}, &ranges[TTR_TYPE_STRUCT], 1},
};
static const struct type_label part_label[] = {
    {{"payload", 7}, &ranges[TTR_GROUP_PAYLOAD], 1},
    {{"context", 7}, &ranges[TTR_GROUP_CONTEXT], 1},
    {{"attribute", 9}, &ranges[9], 1},
};
static const struct type_labels type_labels = {.label = type_label, .n = TTR_TYPE_COUNT},
                                part_labels = {.label = part_label, .n = 3};

void ctf_field_list_free(struct ctf_field_list *listing)
{
    if (!listing->items.alloc)
        return;
    ctf_items_free(&listing->items);
    buffer_free(&listing->text);
}

/* --- Entries of a list --- */

/* Stack of the structs and arrays that contain the current item. left: number of members that
 * follow; count: number of members; is_mixed: array with elements of different types; n: depth of
 * the stack. */
struct nesting {
    uint32_t left[CTF_ITEMS_DEPTH + 1];
    uint32_t count[CTF_ITEMS_DEPTH + 1];
    bool is_mixed[CTF_ITEMS_DEPTH + 1];
    uint32_t n;
};

static void add_entry_member(struct ctf_field_list *listing, unsigned member, ttr_value value)
{
    ttr_field *field = ctf_items_add(&listing->items);
    if (field)
        *field = (ttr_field){.name = {"", 0}, .name_id = listing->name[member], .value = value};
}

static void add_number_member(struct ctf_field_list *listing, unsigned member, uint64_t number,
                              unsigned bits)
{
    add_entry_member(
        listing, member,
        (ttr_value){.type = TTR_TYPE_UINT, .bits = (uint8_t)bits, .v.u = number, .text = {"", 0}});
}

static void add_labelled_member(struct ctf_field_list *listing, unsigned member, uint64_t number,
                                const struct type_labels *labels)
{
    add_entry_member(listing, member,
                     (ttr_value){.type = TTR_TYPE_UINT,
                                 .bits = 8,
                                 .hint = CTF_ITEM_LABELLED,
                                 .v.u = number,
                                 .text = {(const char *)labels, 0}});
}

/* Appends the escaped text to listing->text and returns it. The buffer does not move, because
 * reserve_list has reserved the space; so earlier names stay valid. */
static ttr_text append_escaped_name(struct ctf_field_list *listing, ttr_text text)
{
    size_t begin = listing->text.n;
    ctf_name_escape(&listing->text, text, false, true, 1);
    return (ttr_text){(const char *)listing->text.bytes + begin, listing->text.n - begin};
}

/* Returns the name of an item's entry: the name of the field, or the index of the element if it is
 * in a mixed array. */
static ttr_text get_entry_name(struct ctf_field_list *listing, const ttr *t, const ttr_field *field,
                               const struct nesting *nesting)
{
    uint32_t top = nesting->n ? nesting->n - 1 : 0;
    size_t begin = listing->text.n;
    if (nesting->n && nesting->is_mixed[top]) {
        uint8_t *digits = buffer_room(&listing->text, NUMBER_MAX);
        size_t n =
            digits ? number_format_u64((char *)digits, nesting->count[top] - nesting->left[top] - 1)
                   : 0;
        buffer_commit(&listing->text, n);
        return (ttr_text){(const char *)listing->text.bytes + begin, n};
    }
    ttr_text name = field->name_id ? ttr_text_get(t, field->name_id) : (ttr_text){"", 0};
    return name.n ? append_escaped_name(listing, name) : name;
}

/* Returns the number that an entry stores: the value, the number of members of a struct or array,
 * or 0 for texts, byte strings and null. */
static uint64_t get_entry_number(const ttr_value *value)
{
    bool is_group = value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_STRUCT;
    bool is_text = value->type == TTR_TYPE_TEXT || value->type == TTR_TYPE_BYTES;
    return is_group ? value->count : is_text || value->type == TTR_TYPE_NULL ? 0 : value->v.u;
}

static uint8_t get_entry_hint(const ttr_value *value)
{
    bool is_number = value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT;
    if (is_number && value->base == 16)
        return TTR_DISPLAY_POINTER;
    return value->hint <= TTR_DISPLAY_ABSENT ? value->hint : TTR_DISPLAY_NONE;
}

static void add_entry(struct ctf_field_list *listing, const ttr_field *field, ttr_text name,
                      unsigned part, uint32_t depth)
{
    const ttr_value *value = &field->value;
    const ttr_text none = {"", 0};
    bool is_mixed = value->type == TTR_TYPE_ARRAY && value->hint == CTF_ITEM_MIXED,
         is_constant = value->hint == CTF_ITEM_CONSTANT;
    bool is_text = value->type == TTR_TYPE_TEXT, is_bytes = value->type == TTR_TYPE_BYTES;
    ttr_field *structure = ctf_items_add(&listing->items);
    if (!structure)
        return;
    structure->value =
        (ttr_value){.type = TTR_TYPE_STRUCT, .count = CTF_LISTED_MEMBERS, .text = none};
    add_entry_member(listing, CTF_LISTED_NAME, (ttr_value){.type = TTR_TYPE_TEXT, .text = name});
    add_labelled_member(listing, CTF_LISTED_PART, part, &part_labels);
    add_labelled_member(listing, CTF_LISTED_TYPE,
                        is_mixed      ? TTR_TYPE_STRUCT
                        : is_constant ? TTR_TYPE_TEXT
                                      : value->type,
                        &type_labels);
    add_number_member(listing, CTF_LISTED_DEPTH, depth, 8);
    add_number_member(listing, CTF_LISTED_BITS, value->bits, 8);
    add_number_member(listing, CTF_LISTED_BASE, value->base == 16 ? 0 : value->base, 8);
    add_number_member(listing, CTF_LISTED_HINT, get_entry_hint(value), 8);
    add_number_member(listing, CTF_LISTED_VALUE, get_entry_number(value), 64);
    add_entry_member(listing, CTF_LISTED_TEXT,
                     (ttr_value){.type = TTR_TYPE_TEXT,
                                 .text = is_constant ? append_escaped_name(listing, value->text)
                                         : is_text   ? value->text
                                                     : none});
    add_entry_member(listing, CTF_LISTED_DATA,
                     (ttr_value){.type = TTR_TYPE_BYTES, .text = is_bytes ? value->text : none});
}

/* --- Building of lists --- */

static void add_level_entry(struct ctf_field_list *listing, uint8_t level)
{
    const char *name = ctf_attribute_names[CTF_ATTRIBUTE_LEVEL];
    const ttr_field field = {.value = {.type = TTR_TYPE_UINT, .bits = 8, .v.u = level}};
    add_entry(listing, &field, (ttr_text){name, strlen(name)}, CTF_LISTED_ATTRIBUTE, 0);
}

/* Upper bounds of the number of entries and of text bytes that a list needs. */
struct list_size {
    size_t entries, text;
};

/* Returns an upper bound of the list's size. Escaping turns one byte into at most four; elements of
 * mixed arrays need the digits of their index. */
static struct list_size measure_list(const ttr *t, const struct ctf_items *from)
{
    struct list_size size = {.entries = 0};
    bool has_mixed = false;
    for (size.entries = 0; size.entries < from->n; size.entries++) {
        const ttr_field *field = &from->field[size.entries];
        const bool is_constant = field->value.hint == CTF_ITEM_CONSTANT;
        size.text +=
            4 * (ttr_text_get(t, field->name_id).n + (is_constant ? field->value.text.n : 0)) +
            (field->name_id || is_constant ? MARKS : 0);
        has_mixed |= field->value.hint == CTF_ITEM_MIXED;
    }
    size.text += has_mixed ? size.entries * NUMBER_MAX : NUMBER_MAX;
    return size;
}

/* Reserves memory for all texts of the list in one buffer, which must not move, since entries
 * point into it. Returns false if memory runs out. */
static bool reserve_list(struct ctf_field_list *listing, ttr *t, const struct list_size *size)
{
    struct ctf_items *items = &listing->items;
    for (size_t i = 0; i <= CTF_LISTED_MEMBERS; i++) {
        const char *name = i == MEMBER_FIELDS ? "fields" : ctf_listed_names[i];
        listing->name[i] =
            listing->name[i] ? listing->name[i] : ttr_text_add(t, name, strlen(name));
        items->failed |= !listing->name[i];
    }
    buffer_clear(&listing->text);
    return buffer_room(&listing->text, size->text) && !items->failed;
}

static void add_entries(struct ctf_field_list *listing, const ttr *t, const struct ctf_items *from)
{
    struct nesting nesting = {.n = 0};
    for (size_t i = 0; i < from->n; i++) {
        const ttr_field *field = &from->field[i];
        const ttr_value *value = &field->value;
        bool is_group = value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_STRUCT,
             is_attribute = i < from->attributes_n;
        if (i + 1 == from->attributes_n)
            /* the last attribute is the event name, which is written as a field next to the list */
            continue;
        while (nesting.n && nesting.left[nesting.n - 1] == 0)
            nesting.n--;
        if (nesting.n)
            nesting.left[nesting.n - 1]--;
        ttr_text name = is_attribute ? field->name : get_entry_name(listing, t, field, &nesting);
        add_entry(listing, field, name,
                  is_attribute           ? CTF_LISTED_ATTRIBUTE
                  : i < from->payload_at ? TTR_GROUP_CONTEXT
                                         : TTR_GROUP_PAYLOAD,
                  nesting.n);
        if (!is_group || value->count == 0 || nesting.n > CTF_ITEMS_DEPTH)
            continue;
        nesting.is_mixed[nesting.n] = value->hint == CTF_ITEM_MIXED;
        nesting.left[nesting.n] = nesting.count[nesting.n] = value->count;
        nesting.n++;
    }
}

bool ctf_field_list_build(struct ctf_field_list *listing, ttr *t, const struct ctf_items *from,
                          uint8_t level, bool is_rfc)
{
    struct ctf_items *items = &listing->items;
    const struct list_size size = measure_list(t, from);
    ctf_items_clear(items);
    ttr_field *named = reserve_list(listing, t, &size) ? ctf_items_add(items) : NULL;
    if (!named)
        return false;
    *named = from->field[from->attributes_n - 1];
    items->attributes_n = 1;
    items->context_n = is_rfc ? 0 : 1;
    items->offset = from->offset;
    uint32_t entries = (uint32_t)size.entries - 1 + (level > 0);
    add_entry_member(listing, MEMBER_FIELDS,
                     (ttr_value){.type = TTR_TYPE_ARRAY, .count = entries, .text = {NULL, 0}});
    if (level)
        add_level_entry(listing, level);
    add_entries(listing, t, from);
    items->context_shape = SHAPE_NAME;
    items->payload_shape = hash_pair(SHAPE_LIST, entries > 0);
    return !listing->text.failed && !items->failed;
}
