/* Layouts: types compiled into programs that decode records.
 *
 * One layout covers a list of roots that are stored one after another, for example the header, the
 * contexts and the payload of an event. It has two programs. `layout_find_record_end` finds the end
 * of a record and is all that reading at full speed needs. The field iterator (`layout_field_ops`)
 * decodes the fields one by one, on request. Fixed-size parts are folded into one addition.
 *
 * Slots hold the numbers that later lengths and selectors refer to. A program has LAYOUT_SLOTS_MAX
 * of them. A number from a root that another layout reads (a packet context, for an event field) is
 * an import: the caller stores it into its slot before each record (layout_imports,
 * layout_evaluate_reference).
 *
 * Ownership: a layout lives in the caller's arena; the types must outlive it. Thread rule:
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
    65536u                     /* elements without bits per record; more are treated as damage */
#define LAYOUT_LABELS_MAX 256u /* labels counted per value; further ones are ignored */
/* labels of a type that are searched for further matches and for flags */
#define LAYOUT_LABELS_SEARCHED_MAX 1024u

struct layout;
struct op;
struct fast_program;

/* Input of layout_compile. A root of NULL is absent. */
struct layout_spec {
    ttr *t; /* the context that interns field names */
    struct arena *arena;
    /* roots to decode, in stored order; NULL = absent or read by another layout */
    const struct type *root[ROOT_COUNT];
    /* roots that other layouts read before and that references may name; NULL = none */
    const struct type *outer[ROOT_COUNT];
    /* also iterate over members that have a role (lengths, times); otherwise they are skipped */
    bool shows_hidden;
    uint64_t shown_roles; /* if !shows_hidden: roles (bit 1 << role) to iterate over nevertheless */
};

/* Compiles a layout into spec->arena. Returns NULL on failure; `error` then names the field and the
 * reason (missing target, nesting, more than 2^60 bits). */
struct layout *layout_compile(const struct layout_spec *spec, ttr_error *error);

/* Result of decoding a record. */
enum layout_status {
    LAYOUT_OK = 0,
    LAYOUT_TRUNCATED, /* the record extends past `bits.end` */
    LAYOUT_NO_OPTION, /* no option of a variant has the selector's value */
    /* a length is out of range (2^60 bits, 2^32 elements, LAYOUT_EMPTY_ELEMENTS_MAX elements
     * without bits), or a length or selector has more than 64 bits */
    LAYOUT_OUT_OF_RANGE,
    /* a field starts inside a byte, although it is byte-wise or the byte's other bits have the
     * opposite byte order */
    LAYOUT_MISALIGNED,
    /* a length or selector is inside an optional or option that this record lacks */
    LAYOUT_NUMBER_ABSENT
};

/* Decoder state within one record. */
struct layout_cursor {
    /* base: start of the packet (or a multiple of 4,096 bytes after it); in: start of the record
     * and end of the content; out: end of the record, or the offset of a failure */
    struct bits bits;
    uint64_t
        /* numbers for lengths and selectors; the last one is for inline lengths */
        slots[LAYOUT_SLOTS_MAX + 1];
    uint64_t value;                   /* out, on failure: the offending length or selector */
    const struct type_member *member; /* out, on failure: the member that failed, or NULL */
    /* out, of layout_find_record_end: a counted text ends inside a character; never reset */
    bool has_cut_text;
    uint32_t absent; /* internal: bit set of the slots that hold no number yet */
    uint32_t spins;  /* internal: elements without bits so far */
    uint8_t order;   /* internal: byte order of the bits just read, if known only at run time */
};

/* Finds the end of a record: on success run->bits.at is the offset after it. Keeps imports;
 * overwrites the other slots. */
enum layout_status layout_find_record_end(const struct layout *layout, struct layout_cursor *run);

/* Returns the size in bits that every record has. Returns 0 if sizes differ or the alignment
 * exceeds a byte. */
uint64_t layout_fixed_record_bits(const struct layout *layout);

/* Returns true if nothing in the records is aligned to more than 8 bits. The base may then be any
 * byte at or before the record's start. */
bool layout_is_byte_aligned(const struct layout *layout);

/* Position of a member that only fixed-size fields precede. The member is given by root and stored
 * name and is not nested. `bit` counts from the record's start. Returns false if a size varies or
 * the layout's alignment exceeds 8 bits. */
struct layout_member_position {
    uint64_t bit;
    const struct type *type;
};
bool layout_locate_member(const struct layout *layout, enum type_root root, ttr_text name,
                          struct layout_member_position *spot);

/* A number of another root that must be in run->slots[slot] before decoding starts. */
struct layout_import {
    struct type_reference from;
    uint32_t slot;
};
const struct layout_import *layout_imports(const struct layout *layout, uint32_t *n);

/* Evaluates a reference in the record of `layout` that starts at run->bits; the layout's imports
 * must be in run->slots. Returns false if the record lacks the number. */
bool layout_evaluate_reference(const struct layout *layout, const struct layout_cursor *run,
                               const struct type_reference *reference, uint64_t *value);

/* Stack of the active loops: the elements left in each, and the bit offset at which the current
 * element started. */
struct layout_loops {
    uint64_t left[LAYOUT_DEPTH_MAX], began[LAYOUT_DEPTH_MAX];
    uint32_t depth;
};

/* Iterator over the fields of a record, for callers that need types and roles: packet headers,
 * packet contexts, event headers. */
struct layout_iter {
    union {
        const struct op *op; /* the step that returned the last field */
        /* while `unbegun`: the fast program for a record in its payload */
        const struct fast_program *fast_program;
    };
    /* not 0: only `fast_program` is set, iteration has not started; see layout_iter_start_flags */
    uint64_t unbegun;
    const struct op *program;
    struct layout_cursor run;
    /* memory for converted text and wide integers; NULL: such values are returned as bytes */
    struct arena *scratch;
    struct layout_loops loops;
    enum layout_status end; /* how the iteration ended */
};

/* Starts an iteration. If the layout has imports, the caller then stores them into walk->run.slots.
 */
void layout_iter_begin(struct layout_iter *walk, const struct layout *layout,
                       const struct bits *bits, struct arena *scratch);

/* Returns the next field with its type (role, labels, clock). Returns false at the end; walk->end
 * is the reason. */
bool layout_iter_next(struct layout_iter *walk, ttr_field *field, const struct type **type);

/* Returns the size in bytes of the LEB128 number that was just returned. */
unsigned layout_iter_leb128_size(const struct layout_iter *walk);

/* Like field_ops.hold, for a record that fills its event's payload. Returns 0 and does not touch
 * fields->ops if the record does not end with the payload, or if the fast path cannot decode all of
 * it. The state of `fields` starts with a layout_iter. */
uint32_t layout_decode_complete(const struct layout *layout, struct arena *scratch,
                                ttr_fields *fields, struct field_cache *held);

/* Returns the program with which a ttr_fields iteration starts, for `start` of struct schema. */
const void *layout_iter_start(const struct layout *layout);

struct layout_schema;

/* Returns the matching `start_with` of struct schema: LAYOUT_IN_PAYLOAD if the record is in the
 * payload, with body_mask in the bits above it. */
uint64_t layout_iter_start_flags(const struct layout_schema *schema);
#define LAYOUT_TO_LOCATE UINT64_C(1)
#define LAYOUT_IN_PAYLOAD UINT64_C(2)
#define LAYOUT_MASK_SHIFT 2u

/* The part of a schema that an iteration by ttr_fields needs. The object at schema->ctx starts with
 * it. */
struct layout_schema {
    const struct layout *layout;
    struct arena *scratch;
    /* The record starts `body & body_mask` bits into the event's payload, ends with it (up to
     * padding of a byte), and has no imports, so `place` is not called. The layout has no alignment
     * above 8 bits. */
    bool is_in_payload;
    uint32_t body_mask;
    /* Locates an event's record: its start (after the event header), the end of the packet's
     * content, and the imported slots. */
    void (*place)(const struct layout_schema *schema, const ttr_event *event,
                  struct layout_cursor *run);
    /* Does the same for the packet or header fields of the event and returns their layout, or NULL
     * if there are none. May be NULL. */
    const struct layout *(*locate_group)(const struct layout_schema *schema, const ttr_event *event,
                                         ttr_group group, struct layout_cursor *run);
    /* Returns the number of the event's packet, from 1; 0 if unknown. May be NULL. */
    uint64_t (*packet)(const struct layout_schema *schema, const ttr_event *event);
};

extern const struct field_ops layout_field_ops;

#endif
