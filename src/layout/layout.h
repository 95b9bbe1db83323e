/* Layouts: types compiled into programs that decode records.
 *
 * One layout covers a list of roots that are stored one after another, for example the header, the
 * contexts and the payload of an event. It has two programs. `layout_find_record_end` finds the end
 * of a record; indexing and copying need nothing else. The field iterator (`layout_field_ops`)
 * decodes the fields one by one, on request. Adjacent fields of fixed size are skipped by one
 * addition.
 *
 * Slots hold the numbers that later lengths and selectors refer to. A program has LAYOUT_SLOTS_MAX
 * of them. A number may belong to a root that another layout decodes: a field of an event can have
 * its length in the packet context. Such a number is an import. The caller stores it into its slot
 * before each record (layout_imports, layout_evaluate_reference).
 *
 * Ownership: a layout is allocated in the caller's arena; the types must outlive it. Thread rule:
 * immutable once compiled. */
#ifndef TRACETTA_LAYOUT_LAYOUT_H
#define TRACETTA_LAYOUT_LAYOUT_H

#include "base/arena.h"
#include "base/bit_cursor.h"
#include "model/context.h"
#include "model/type.h"

#define LAYOUT_SLOTS_MAX 24u
#define LAYOUT_DEPTH_MAX 16u /* nesting depth of arrays and sequences */
#define LAYOUT_EMPTY_ELEMENTS_MAX \
    65536u                     /* array elements of size 0 per record; more are treated as damage */
#define LAYOUT_LABELS_MAX 256u /* labels reported per value; further ones are ignored */
/* labels searched for further matches, or for names of flag bits, per value */
#define LAYOUT_LABELS_SEARCHED_MAX 1024u

struct layout;
struct op;
struct fast_program;

/* Input of layout_compile. A root of NULL is absent. */
struct layout_spec {
    ttr *t; /* the context that interns field names */
    struct arena *arena;
    /* roots to decode, in stored order; NULL = not in the record, or decoded by another layout */
    const struct type *root[ROOT_COUNT];
    /* roots decoded by other layouts that references may name; NULL = none */
    const struct type *outer[ROOT_COUNT];
    /* the field iterator also returns members with a role (lengths, timestamps); false = it skips
     * them */
    bool shows_hidden;
    /* if !shows_hidden: members with a role that are returned nevertheless, bit 1 << role each */
    uint64_t shown_roles;
};

/* Compiles a layout into spec->arena. Returns NULL on failure; `error` then names the field and the
 * reason (missing target, nesting, more than 2^60 bits). */
struct layout *layout_compile(const struct layout_spec *spec, ttr_error *error);

/* Result of decoding a record. */
enum layout_status {
    LAYOUT_OK = 0,
    LAYOUT_TRUNCATED, /* the record extends past `bits.end` */
    LAYOUT_NO_OPTION, /* no option of a variant has the selector's value */
    /* a length or selector is out of range: more than 64 bits, 2^60 bits of data, 2^32 elements, or
     * LAYOUT_EMPTY_ELEMENTS_MAX elements of size 0 */
    LAYOUT_OUT_OF_RANGE,
    /* a field starts inside a byte, although it must start at a byte boundary or the other bits of
     * that byte have the opposite byte order */
    LAYOUT_MISALIGNED,
    /* the length or selector that a field refers to is inside an optional, or an option of a
     * variant, that this record lacks */
    LAYOUT_NUMBER_ABSENT
};

/* Decoder state within one record. */
struct layout_cursor {
    /* base: start of the packet, or a multiple of 4,096 bytes after it. at: on entry the start of
     * the record; on return its end, or the bit offset of the failure. end: end of the content */
    struct bits bits;
    uint64_t
        /* slots; the additional last one holds the length that is stored directly before its data
         */
        slots[LAYOUT_SLOTS_MAX + 1];
    uint64_t value; /* out, on failure: the offending length or selector */
    /* out, on failure: the type member that could not be decoded, or NULL */
    const struct type_member *member;
    /* out, set by layout_find_record_end, never cleared: a UTF-16 or UTF-32 text ends inside a
     * character */
    bool has_cut_text;
    uint32_t absent; /* internal: bit i is set while slot i holds no number */
    uint32_t spins;  /* internal: array elements of size 0 so far */
    /* internal: byte order of the bits before `bits.at`, if only known at run time */
    uint8_t order;
};

/* Finds the end of a record. On success run->bits.at is the offset after the record. Slots of
 * `layout_imports` keep their numbers; all others are overwritten. */
enum layout_status layout_find_record_end(const struct layout *layout, struct layout_cursor *run);

/* Returns the size of a record in bits if it is the same for all records. Returns 0 if sizes
 * differ, or if records are aligned to more than 8 bits. */
uint64_t layout_fixed_record_bits(const struct layout *layout);

/* Returns true if nothing in the records is aligned to more than 8 bits. bits.base may then be any
 * byte address at or before the record's start. */
bool layout_is_byte_aligned(const struct layout *layout);

/* Returns the position of a top-level member of a root, found by its stored name; `bit` is the bit
 * offset from the record's start. Returns false if a field before it varies in size, or if the
 * layout is aligned to more than 8 bits. */
struct layout_member_position {
    uint64_t bit;
    const struct type *type;
};
bool layout_locate_member(const struct layout *layout, enum type_root root, ttr_text name,
                          struct layout_member_position *spot);

/* A number that this layout refers to but another layout decodes. The caller stores it in
 * run->slots[slot] before it decodes a record. */
struct layout_import {
    struct type_reference from;
    uint32_t slot;
};
const struct layout_import *layout_imports(const struct layout *layout, uint32_t *n);

/* Reads the number that a reference names from the record at run->bits and stores it in `value`.
 * The numbers of `layout_imports` must be in run->slots. Returns false if the record lacks the
 * number. */
bool layout_evaluate_reference(const struct layout *layout, const struct layout_cursor *run,
                               const struct type_reference *reference, uint64_t *value);

/* Stack of the active loops: the elements left in each, and the bit offset at which the current
 * element started. */
struct layout_loops {
    uint64_t left[LAYOUT_DEPTH_MAX], began[LAYOUT_DEPTH_MAX];
    uint32_t depth;
};

/* Iterator over the fields of a record, for callers that also need the types and roles of fields:
 * packet headers, packet contexts, event headers. */
struct layout_iter {
    union {
        const struct op *op; /* the program step that returned the last field */
        /* the fast program for the record; valid while `unbegun` != 0 */
        const struct fast_program *fast_program;
    };
    /* flags of layout_get_iter_flags while the iteration has not started (then only
     * `fast_program` is valid), else 0 */
    uint64_t unbegun;
    const struct op *program;
    struct layout_cursor run;
    /* memory for converted texts and for integers of more than 64 bits; NULL = such values are
     * returned as bytes */
    struct arena *scratch;
    struct layout_loops loops;
    enum layout_status end; /* reason of the end, valid once layout_iter_next has returned false */
};

/* Starts an iteration. The caller stores the numbers of `layout_imports`, if any, in
 * iter->run.slots before the first layout_iter_next. */
void layout_iter_begin(struct layout_iter *iter, const struct layout *layout,
                       const struct bits *bits, struct arena *scratch);

/* Returns the next field and its type (role, labels, clock). Returns false after the last field or
 * on failure; iter->end is the reason. */
bool layout_iter_next(struct layout_iter *iter, ttr_field *field, const struct type **type);

/* Writes up to `room` > 0 fields and returns their number, 0 at the end, and the type of the last
 * one. Returns fewer only at the end, or after a field that has several labels or a type with a
 * role. */
uint32_t layout_iter_read(struct layout_iter *iter, ttr_field *field, uint32_t room,
                          const struct type **type);

/* Returns the encoded size in bytes of the LEB128 number that layout_iter_next returned last. */
unsigned layout_iter_leb128_size(const struct layout_iter *iter);

/* Decodes all fields of a record into the field cache and returns their number. `fields->state`
 * starts with a layout_iter. Returns 0 and leaves fields->ops unchanged if the record does not end
 * where the event's payload ends, or if the fast program cannot decode all fields. */
uint32_t layout_decode_complete(const struct layout *layout, struct arena *scratch,
                                ttr_fields *fields, struct field_cache *cache);

/* Returns the program that an iteration by ttr_fields starts with, for schema.start. */
const void *layout_get_iter_program(const struct layout *layout);

struct layout_schema;

/* Returns the flags for schema.start_with: LAYOUT_IN_PAYLOAD if the record is in the event's
 * payload, and body_mask in the bits above that flag. */
uint64_t layout_get_iter_flags(const struct layout_schema *schema);
#define LAYOUT_TO_LOCATE UINT64_C(1)
#define LAYOUT_IN_PAYLOAD UINT64_C(2)
#define LAYOUT_MASK_SHIFT 2u

/* Decoding data of a schema for layout_field_ops. The object at schema->ctx starts with this
 * struct. */
struct layout_schema {
    const struct layout *layout;
    struct arena *scratch;
    /* true: the record starts `body & body_mask` bits after the payload's start and ends with the
     * payload, except for padding to a byte. Such a record needs no `place` call: it has no numbers
     * of other layouts and no alignment above 8 bits. */
    bool is_in_payload;
    uint32_t body_mask;
    /* Locates the record of an event: sets run->bits (start after the event header, end of the
     * packet's content) and the imported slots. */
    void (*place)(const struct layout_schema *schema, const ttr_event *event,
                  struct layout_cursor *run);
    /* Locates the fields of the event's packet or event header (`group`), sets `run` to them and
     * returns their layout. Returns NULL if there are no such fields. May be NULL. */
    const struct layout *(*locate_group)(const struct layout_schema *schema, const ttr_event *event,
                                         ttr_group group, struct layout_cursor *run);
    /* Returns the number of the event's packet, from 1; 0 if unknown. May be NULL. */
    uint64_t (*packet)(const struct layout_schema *schema, const ttr_event *event);
};

extern const struct field_ops layout_field_ops;

/* Implement field_ops.locate and field_ops.record. `ctx` is a struct layout_schema. */
bool layout_find_position(const void *ctx, ttr_group group, ttr_text name,
                          struct field_position *position);
const uint8_t *layout_record_bytes(const void *ctx, const ttr_event *event, size_t *n);

#endif
