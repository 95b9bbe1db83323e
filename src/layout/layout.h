/* Layouts: types compiled into programs that run over records (design: "compile field classes to a
 * flat plan").
 *
 * One layout serves one list of roots that stand one behind another, such as all of an event behind
 * its header.  It has two programs: `layout_find_record_end` finds the end of a record and is what
 * reading at speed costs; the field walk (layout_field_ops) gives the fields one by one when
 * somebody asks. Fixed parts are folded: a record of fixed size costs one addition.
 *
 * Values that later lengths and selectors need are kept in slots: a program may have
 * LAYOUT_SLOTS_MAX of them alive.  A value of a root that is not in this layout (the packet's
 * context for an event's field) is an import: whoever runs the layout puts it into its slot before
 * (layout_imports, layout_evaluate_reference). Ownership: a layout lives in the arena given; the
 * types must outlive it. Thread rule: immutable once compiled. */
#ifndef TRACETTA_LAYOUT_LAYOUT_H
#define TRACETTA_LAYOUT_LAYOUT_H

#include "base/arena.h"
#include "base/bit_cursor.h"
#include "model/context.h"
#include "model/type.h"

#define LAYOUT_SLOTS_MAX 24u
#define LAYOUT_DEPTH_MAX 16u /* arrays and sequences inside one another */
#define LAYOUT_EMPTY_ELEMENTS_MAX \
    65536u                     /* elements of a record that take no bits: more are nobody's data */
#define LAYOUT_LABELS_MAX 256u /* names of one value that are told; more are not counted */
#define LAYOUT_LABELS_SEARCHED_MAX                                                               \
    1024u /* labels of a type, from the first, among which second names and flags are looked for \
           */

struct layout;
struct op;
struct straight;

/* What is to be compiled.  A root of NULL is absent. */
struct layout_spec {
    ttr *t; /* names are interned here */
    struct arena *arena;
    const struct type *root[ROOT_COUNT];  /* those to run, in order; NULL = absent or outside */
    const struct type *outer[ROOT_COUNT]; /* roots read before by other layouts, which may be
                                             referred to; NULL = none */
    bool shows_hidden; /* also walk members that carry a role (sizes, times); else they are passed
                          over in the walk */
    uint64_t
        shown_roles; /* without shows_hidden: roles (bit 1 << role) that are walked all the same */
};

/* Compiles; NULL with `error` saying which field is wrong and why (a missing target, too deep, a
 * size beyond 64 bits, ...). */
struct layout *layout_compile(const struct layout_spec *spec, ttr_error *error);

/* Why a run ended. */
enum layout_status {
    LAYOUT_OK = 0,
    LAYOUT_TRUNCATED,    /* the record goes on behind `bits.end` */
    LAYOUT_NO_OPTION,    /* a variant's selector chooses no option */
    LAYOUT_OUT_OF_RANGE, /* a length that cannot be (more bits than 2^60, 2^32 elements,
                          * LAYOUT_EMPTY_ELEMENTS_MAX elements without bits), or a number      past
                          * 64 bits where one is needed */
    LAYOUT_MISALIGNED, /* a byte-wise or opposite byte order field begins inside a byte of the other
                         order */
    LAYOUT_NUMBER_ABSENT /* a length or selector lies in an optional or an option that is not there
                          */
};

/* A run over a record. */
struct layout_cursor {
    struct bits bits; /* base: the packet's start (or a multiple of 4,096 bytes behind it); in:
                         where the record begins and where content ends; out: where it stopped */
    uint64_t slots[LAYOUT_SLOTS_MAX +
                   1]; /* what lengths and selectors need; the last is the engine's own */
    uint64_t value;    /* out: the length or selector that was wrong */
    const struct type_member *member; /* out: the member at which it ended badly, or NULL */
    bool has_cut_text; /* out, of layout_find_record_end: a text with a counted length ends inside a
                          character; stays set */
    uint32_t absent;   /* the engine's own: slots that hold nothing yet */
    uint32_t spins;    /* the engine's own: elements met that take no bits */
    uint8_t order;     /* the engine's own: byte order of the bits just read, where that matters */
};

/* Finds the end of a record: run->bits.at behind it when fine.  Imports are kept, other slots are
 * used. */
enum layout_status layout_find_record_end(const struct layout *layout, struct layout_cursor *run);

/* Bits of every record of a layout where that is fixed and its alignment is a byte at most, else 0.
 */
uint64_t layout_fixed_record_bits(const struct layout *layout);

/* Whether nothing in records of a layout is aligned to more than a byte: they may be walked from
 * any byte at or before their begin. */
bool layout_is_byte_aligned(const struct layout *layout);

/* Where a member (by root and stored name, not nested) lies when nothing of variable size precedes
 * it: bits from the start of the record.  Only where the layout's alignment is at most 8 bits, so
 * that the start does not matter. */
struct layout_member_position {
    uint64_t bit;
    const struct type *type;
};
bool layout_locate_member(const struct layout *layout, enum type_root root, ttr_text name,
                          struct layout_member_position *spot);

/* A value from another root that the layout needs in run->slots[slot] before it runs. */
struct layout_import {
    struct type_reference from;
    uint32_t slot;
};
const struct layout_import *layout_imports(const struct layout *layout, uint32_t *n);

/* Gives the number that a reference means in a record of `layout` that begins at run->bits, the
 * layout's own imports being in run->slots; false when it is not there. */
bool layout_evaluate_reference(const struct layout *layout, const struct layout_cursor *run,
                               const struct type_reference *reference, uint64_t *value);

/* Loops under way: for each, how many elements are left and where this one began. */
struct layout_loops {
    uint64_t left[LAYOUT_DEPTH_MAX], began[LAYOUT_DEPTH_MAX];
    uint32_t depth;
};

/* A walk over the values of a record, for whoever needs roles: packet headers and contexts, event
 * headers. */
struct layout_iter {
    union {
        const struct op *op;             /* the step that gave the last field */
        const struct straight *straight; /* unbegun: the way through a record in its payload */
    };
    uint64_t unbegun; /* not 0: nothing but `straight` is there yet; see layout_iter_start_flags */
    const struct op *program;
    struct layout_cursor run;
    struct arena *scratch; /* for text in other encodings and wide numbers; NULL: such values are
                              given as bytes */
    struct layout_loops loops;
    enum layout_status end; /* how it ended */
};

/* Begins a walk; where the layout has imports, the caller then puts them into walk->run.slots. */
void layout_iter_begin(struct layout_iter *walk, const struct layout *layout,
                       const struct bits *bits, struct arena *scratch);

/* Gives the next field with its type (role, labels, clock); false at the end: walk->end says how.
 */
bool layout_iter_next(struct layout_iter *walk, ttr_field *field, const struct type **type);

/* How many bytes the LEB128 number has that it just gave. */
unsigned layout_iter_leb128_size(const struct layout_iter *walk);

/* As field_ops.hold, for a record that is the whole payload of its event.  Returns 0 and leaves
 * fields->ops as it is if the record does not end with the payload, or the fast path does not reach
 * its end.  The state of `fields` begins with a layout_iter. */
uint32_t layout_decode_complete(const struct layout *layout, struct arena *scratch,
                                ttr_fields *fields, struct field_cache *held);

/* What walks by ttr_fields over records of a layout begin with (struct schema). */
const void *layout_iter_start(const struct layout *layout);

struct layout_schema;

/* The same: LAYOUT_IN_PAYLOAD where the record lies in the payload, with the schema's body_mask
 * above it. */
uint64_t layout_iter_start_flags(const struct layout_schema *schema);
#define LAYOUT_TO_LOCATE UINT64_C(1)
#define LAYOUT_IN_PAYLOAD UINT64_C(2)
#define LAYOUT_MASK_SHIFT 2u

/* What a walk by ttr_fields needs to know of a record; the schema's `ctx` begins with it. */
struct layout_schema {
    const struct layout *layout;
    struct arena *scratch;
    /* The record lies in the event's payload, `body & body_mask` bits behind its begin, ends where
     * that ends (up to a whole byte), and needs nothing from outside: nobody is asked.  The layout
     * is one at any byte. */
    bool is_in_payload;
    uint32_t body_mask;
    /* Gives where the event's record begins (behind the event header), where its packet's content
     * ends, and the outer slots. */
    void (*place)(const struct layout_schema *schema, const ttr_event *event,
                  struct layout_cursor *run);
    /* The same for the fields of the event's packet or header; gives their layout, NULL where there
     * are none.  May be NULL. */
    const struct layout *(*locate_group)(const struct layout_schema *schema, const ttr_event *event,
                                         ttr_group group, struct layout_cursor *run);
    /* The number of the event's packet, from 1; 0: none.  May be NULL. */
    uint64_t (*packet)(const struct layout_schema *schema, const ttr_event *event);
};

extern const struct field_ops layout_field_ops;

#endif
