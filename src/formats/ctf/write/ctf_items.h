/* Items: an event as a flat list of attributes and fields, the form in which it is encoded.
 *
 *   ctf_items.c          the list, and attributes at its start
 *   ctf_flatten.c        fields of an event to items; hashes of their shapes
 *   ctf_flatten_list.c   items to a list of entries, if there are too many shapes
 *
 * Ownership: the caller owns the list and reuses it for every event.  Texts are borrowed from the
 * event and valid as long as it is. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_ITEMS_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_ITEMS_H

#include "base/buffer.h"
#include "base/number.h"
#include "formats/ctf/description/ctf_description.h"
#include "formats/ctf/conventions/ctf_conventions.h"
#include "model/output.h"

/* structs and arrays that are nested deeper lose their members */
#define CTF_ITEMS_DEPTH 12u

/* --- Fields of events (ctf_flatten.c) --- */

/* Values of ttr_field.hint that only items have, in addition to those of ttr_display. */
enum ctf_item_hint {
    /* UINT of 8 bits that has the same value in all events of its class; its label is value.text */
    CTF_ITEM_CONSTANT = 0x80,
    /* ARRAY, BYTES: all events of the class have the same number of elements; TEXT: stored in
     * value.v.u bytes, padded with zeros */
    CTF_ITEM_FIXED,
    CTF_ITEM_MIXED, /* ARRAY with elements of different types; written as a struct */
    /* number with labels; value.text.p points to their struct type_labels */
    CTF_ITEM_LABELLED,
    /* bit flags; value.text.p points to a struct type_labels with names of bits */
    CTF_ITEM_FLAGS
};

/* An event as a list of items, in the order in which they are encoded.  A struct or array is
 * followed by its members or elements.
 *
 * field[i].name_id is the member name if the item is in a struct.  Special uses of value members:
 * | ARRAY, BYTES   value.v.u      1 + index of the length's item in the same struct; 0 = none
 * |                value.text_id  name of that length
 * | ARRAY          value.text.p   the source's element type
 * |                value.text.n   of an empty array: index of the first element of another
 * |                               array of that type; 0 = none */
struct ctf_items {
    ttr_field *field;
    size_t n, capacity;
    size_t common_n; /* items [0, common_n) belong to the common context */
    /* items [common_n, context_n) are attributes and the specific context; items [context_n, n) are
     * the payload */
    size_t context_n;
    size_t attributes_n;
    /* index of the first payload field; v1.1 has attributes in [context_n, payload_at) */
    size_t payload_at;
    uint64_t common_shape, context_shape, payload_shape;
    uint64_t offset; /* file offset of the event in bytes */
    /* v1.1: number of fields at the start of the payload that were moved there from the contexts */
    uint32_t context_members;
    /* event id and version as decimal text, to which labels of constant items point */
    char number[NUMBER_MAX], version[NUMBER_MAX];
    const struct alloc *alloc;
    bool failed; /* true if memory ran out, so items are missing */
};

/* Options of ctf_items_collect. */
struct ctf_items_config {
    struct ttr_writer *out;
    enum ctf_version version;
    /* follow the CTF conventions: store event attributes as fields */
    bool has_conventions;
    bool has_cpu; /* true if the packet context has the CPU, so events do not need it */
    /* collect the fields of the event's packet context, not those of the event */
    bool is_packet;
    /* true if the target has no common context, so its fields become the first fields of the
     * payload */
    bool has_no_common;
    /* drop payload_size from the common context, because the v1.1 packet writer stores the event
     * size itself */
    bool drops_size;
};

/* Converts an event to items and computes their shape hashes. Counts losses; sets `failed` if
 * memory runs out. */
void ctf_items_collect(struct ctf_items *items, const struct ctf_items_config *what,
                       const ttr_event *event);

/* Appends an item for each attribute that the event has, and sets attributes_n to the number of
 * items. */
void ctf_items_add_attributes(struct ctf_items *items, const struct ctf_items_config *what,
                              const ttr_event *event);

/* Functions to build a list without an event. ctf_items_clear: empties the list; each `add`
 * function: appends one attribute or text; ctf_items_complete: computes the shape hashes. */
void ctf_items_clear(struct ctf_items *items);
void ctf_items_add_constant(struct ctf_items *items, enum ctf_attribute attribute, uint64_t value,
                            ttr_text label);
void ctf_items_add_thread(struct ctf_items *items, const ttr_thread *thread,
                          enum ctf_attribute pid);
void ctf_items_add_text(struct ctf_items *items, const char *name, ttr_text text);
/* Inserts the event name after the last attribute, if the name of the event class is not that of
 * the event. */
void ctf_items_add_name(struct ctf_items *items, ttr_text name, bool is_rfc);
void ctf_items_complete(struct ctf_items *items, const struct ctf_items_config *what,
                        uint64_t offset);

void ctf_items_init(struct ctf_items *items, const struct alloc *alloc);
void ctf_items_free(struct ctf_items *items);

/* Appends a zeroed item. If memory runs out, returns NULL and sets `failed`. */
ttr_field *ctf_items_add(struct ctf_items *items);

/* Returns the number of items in the subtree that starts at index `at`: that item and everything
 * nested in it. */
size_t ctf_items_count_nested(const struct ctf_items *items, size_t at);

/* Sets `element` to an element that an empty array could have, by the element type that the source
 * declares. Returns false if that type is unknown, or is not a number or string that all versions
 * can express. */
bool ctf_items_make_empty_array_element(const ttr_value *array, ttr_value *element);

/* --- Events as lists (ctf_flatten_list.c) --- */

/* An event as an array of (name, value) entries of one struct type. Events with any fields can
 * have this class, so it is used if a stream has too many classes. */
struct ctf_field_list {
    struct ctf_items items;
    struct buffer text; /* escaped names of the entries */
    ttr_id name[CTF_LISTED_MEMBERS + 1];
};

/* Converts `from` to an array of entries. The last attribute of `from` must be the event name.
 * `level`: log level of the event; 0 = none, or already an attribute. The caller zeroes `listing`
 * except for its allocators. Returns false if memory runs out. */
TTR_MUST bool ctf_field_list_build(struct ctf_field_list *listing, ttr *t,
                                   const struct ctf_items *from, uint8_t level, bool is_rfc);
void ctf_field_list_free(struct ctf_field_list *listing);

#endif
