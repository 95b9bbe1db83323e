/* A layout under construction: what the passes over the types share.
 *
 * Passes: references are gathered, then their targets are found and slots given out
 * (layout_references.c); then the programs are made, one after another, by the same walk over the
 * types (layout_emit.c).  Where in the tree a pass stands is told by compiler_enter and
 * compiler_leave, so that a reference is recognised by its names. */
#ifndef TRACETTA_LAYOUT_LAYOUT_COMPILE_H
#define TRACETTA_LAYOUT_LAYOUT_COMPILE_H

#include "base/status.h"
#include "layout/layout_program.h"

#define COMPILE_STEPS 65536u /* of a program */
#define COMPILE_VISITS \
    1000000u /* of types: a description is a graph, and the tree it means may be far larger */
#define COMPILE_REFERENCES 1024u
#define COMPILE_BITS (UINT64_C(1) << 60)

/* A reference, and what is known of its target. */
struct use {
    struct type_reference from;
    uint32_t matched;     /* how many of its names are those of the place where the pass is */
    uint32_t first, last; /* visits between which its slot is in use */
    uint32_t array;       /* the innermost array its target stands in, 0 = none */
    uint8_t slot;
    bool has_target, is_import, may_lack;
    bool is_signed, is_bool, is_wide, is_no_number; /* of any of its targets */
};

/* Where a field would stand: its position is `residue` modulo 1 << known. */
struct place {
    uint32_t residue;
    uint8_t known;
    uint8_t order; /* enum order of the bits just before; ORDER_ANY: not known */
};

/* Labels and the table made of them. */
struct label_table {
    const struct type_labels *labels;
    const void *table;
    bool is_flags;
};

enum program { PROGRAM_MEASURE, PROGRAM_WALK, PROGRAM_EVERYTHING };

struct compiler {
    const struct layout_spec *spec;
    ttr_error *error;
    struct layout *layout;
    struct use *uses;
    size_t uses_n, uses_capacity;
    /* where the pass is */
    enum type_root root;
    uint32_t level;   /* names on the way from the root */
    uint32_t nesting; /* types on the way */
    uint32_t visits;  /* so far, of all passes */
    const struct type_member *names[TYPE_DEPTH_MAX + 2];
    /* references */
    bool is_finding;     /* targets, not references */
    uint32_t index;      /* visits of this pass */
    uint32_t conditions; /* optionals and options around */
    uint32_t loops;      /* arrays around; their indices */
    uint32_t arrays[TYPE_DEPTH_MAX + 2];
    /* programs */
    enum program program;
    struct op *ops;
    size_t ops_n, ops_capacity;
    size_t label; /* something jumps to this step */
    struct place place;
    uint64_t pending; /* bits not yet passed over by a step */
    uint32_t inside;  /* arrays around */
    uint32_t hidden;  /* members with a role around, which this program passes over */
    bool has_hidden;  /* some member was passed over */
    const struct type_member *member; /* whose values are described */
    ttr_field field;                  /* name, depth and group for them */
    struct label_table *tables;
    size_t tables_n, tables_capacity;
};

/* Refuses with the place in the description before the text: "payload.data: ...".  Always false. */
bool compiler_refuse(struct compiler *c, const char *format, ...) TTR_PRINTF(2, 3);

/* Steps down to a member and back; false when names nest too deep. */
TTR_MUST bool compiler_enter(struct compiler *c, const struct type_member *member);
void compiler_leave(struct compiler *c);

/* Begins a root; counts a visit to a type, false when there are too many or they nest too deep. */
void compiler_begin(struct compiler *c, enum type_root root);
TTR_MUST bool compiler_visit(struct compiler *c, const struct type *type);

/* The reference whose target stands where the pass is, or NULL. */
struct use *compiler_target(struct compiler *c);

/* True where some reference leads to what is inside the place where the pass is. */
bool compiler_leads_inside(const struct compiler *c);

/* The use of a type's reference; never NULL once references were gathered. */
struct use *compiler_use(struct compiler *c, const struct type_reference *reference);

/* Gathers references, finds their targets, gives out slots. */
TTR_MUST bool compile_references(struct compiler *c);

/* Makes c->ops for the roots. */
TTR_MUST bool compile_program(struct compiler *c, enum program program);

/* Size of a type whose values all have the same size, when it begins at a place; false when it has
 * no such size (or c failed). */
struct fold {
    uint64_t bits;
    uint64_t
        spins; /* elements inside that take no bits; no more than LAYOUT_EMPTY_ELEMENTS_MAX + 1 */
};
TTR_MUST bool compile_fold(struct compiler *c, const struct type *type, struct place *place,
                           struct fold *fold);

/* The same for the elements of an array of which the first begins at a place, aligned to the
 * element's alignment: every `stride` bits one of `bits`.  The place then has the byte order that
 * the last of them leaves. */
struct fold_element {
    uint64_t bits, stride;
    uint64_t spins; /* for each element */
};
TTR_MUST bool compile_fold_element(struct compiler *c, const struct type *element,
                                   struct place *place, struct fold_element *fold);

/* Places. */
void place_pass(struct place *place, uint64_t bits);
struct place place_join(struct place a, struct place b);

static inline bool place_is_at_byte(const struct place *place)
{
    return place->known >= 3 && place->residue % 8 == 0;
}

/* Integers and their like, of `bits` bits. */
static inline bool type_is_number(const struct type *type)
{
    return (type->kind >= TYPE_BITS && type->kind <= TYPE_FLOAT) || type->kind == TYPE_NULL;
}

static inline enum order type_order(const struct type *type)
{
    return type->is_big_endian ? ORDER_BE : ORDER_LE;
}

#endif
