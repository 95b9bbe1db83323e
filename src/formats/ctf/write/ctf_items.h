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
#include "formats/ctf/dialect/ctf_dialect.h"
#include "model/output.h"

#define CTF_ITEMS_DEPTH                                                       \
    12u /* levels of nested structs and arrays that are written; deeper: lost \
         */

/* --- ctf_flatten.c --- */

/* Values of ttr_field hints that only the writer's items use, beside those of ttr_display. */
enum ctf_item_hint {
    /* UINT of 8 bits with the same value in all events of the class; its label is `text` */
    CTF_ITEM_CONSTANT = 0x80,
    /* ARRAY, BYTES: a fixed number of elements; TEXT: always v.u bytes, padded with zeros */
    CTF_ITEM_FIXED,
    CTF_ITEM_MIXED,    /* ARRAY whose elements differ in type */
    CTF_ITEM_LABELLED, /* number with labels: text.p is a struct type_labels */
    CTF_ITEM_FLAGS     /* like CTF_ITEM_LABELLED, with labels of single bits */
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
    size_t common_n; /* items [0, common_n) are the common context */
    /* items [common_n, context_n) are attributes and the specific context; the payload follows */
    size_t context_n;
    size_t attributes_n;
    /* index of the first payload item among the items of the same part of the event */
    size_t payload_at;
    uint64_t common_shape, context_shape, payload_shape;
    uint64_t offset; /* file offset of the event, in bytes */
    /* v1.1: number of leading payload members that came from the event's context */
    uint32_t context_members;
    /* texts of the event's number and version, used as labels */
    char number[NUMBER_MAX], version[NUMBER_MAX];
    const struct alloc *alloc;
    bool failed; /* memory ran out while items were added */
};

/* Options of ctf_items_collect. */
struct ctf_items_config {
    struct ttr_writer *out;
    enum ctf_version version;
    bool is_dialect; /* the target uses our dialect: attributes are written as fields */
    bool has_cpu;    /* the packet records the CPU, so events do not */
    /* collect the fields of the event's packet, all as payload, instead of the event's own */
    bool is_packet;
    bool has_no_common; /* contexts are written as the first payload fields */
    /* drop payload_size of the common context: v1.1 writes the size before the event */
    bool drops_size;
};

/* Converts an event to items and computes the hashes of their shapes. Counts losses; sets `failed`
 * if memory runs out. */
void ctf_items_collect(struct ctf_items *items, const struct ctf_items_config *what,
                       const ttr_event *event);

/* Adds the attributes of an event, and adds their number to attributes_n. */
void ctf_items_add_attributes(struct ctf_items *items, const struct ctf_items_config *what,
                              const ttr_event *event);

/* Builds a list by hand: ctf_items_clear empties it, the `add` functions append an attribute each,
 * and ctf_items_complete computes the shapes. */
void ctf_items_clear(struct ctf_items *items);
void ctf_items_add_constant(struct ctf_items *items, enum ctf_attribute attribute, uint64_t value,
                            ttr_text label);
void ctf_items_add_thread(struct ctf_items *items, const ttr_thread *thread,
                          enum ctf_attribute pid);
void ctf_items_add_text(struct ctf_items *items, const char *name, ttr_text text);
/* Adds the event name as the last attribute, for events whose class has no name. */
void ctf_items_add_name(struct ctf_items *items, ttr_text name, bool is_rfc);
void ctf_items_complete(struct ctf_items *items, const struct ctf_items_config *what,
                        uint64_t offset);

void ctf_items_init(struct ctf_items *items, const struct alloc *alloc);
void ctf_items_free(struct ctf_items *items);

/* Appends a zeroed item. Returns NULL, and sets `failed`, if memory runs out. */
ttr_field *ctf_items_add(struct ctf_items *items);

/* Returns the number of items that item `at` spans: itself and everything nested in it. */
size_t ctf_items_span(const struct ctf_items *items, size_t at);

/* Fills `element` with an example element, number or text, for an empty array. Returns false if its
 * type is unknown. */
bool ctf_items_example_element(const ttr_value *array, ttr_value *element);

/* --- ctf_flatten_list.c --- */

/* An event rewritten as a list of (name, value) entries that all have the same shape. Used once an
 * event has had too many shapes: lists need few classes, whatever the fields. */
struct ctf_field_list {
    struct ctf_items items;
    struct buffer text; /* escaped names */
    ttr_id name[CTF_LISTED_MEMBERS + 1];
};

/* Rewrites `from` as a list; the last attribute of `from` is the event name. `level`: log level of
 * the event if no item has it; 0 = none. The caller zeroes `listing` except for its allocators.
 * Returns false if memory runs out. */
TTR_MUST bool ctf_field_list_build(struct ctf_field_list *listing, ttr *t,
                                   const struct ctf_items *from, uint8_t level, bool is_rfc);
void ctf_field_list_free(struct ctf_field_list *listing);

#endif
