/* The layout compiler: types are compiled into the programs of layout_program.h.
 *
 * Order of passes (layout_compile in layout.c):
 *
 *   1. gather     references of lengths, selectors      layout_references.c
 *   2. resolve    find each target, check its type      layout_references.c
 *   3. allocate   slots by first fit over lifetimes     layout_references.c
 *   4. emit       PROGRAM_MEASURE: the end of a record   layout_emit*.c
 *   5. emit       PROGRAM_WALK: the visible fields       layout_emit*.c
 *   6. emit       PROGRAM_EVERYTHING: also hidden ones   layout_emit*.c
 *   7. fast       a fast program beside program 5        layout_decode_fast.c
 *
 * Algorithm: each pass is a recursive descent over the types in stored order. Slots are registers:
 * linear-scan allocation (Poletto, Sarkar 1999) over the visits between a number and its last use.
 * Fixed-size fields are folded (constant folding) into the `advance` of the next step.
 *
 * Alignment: the compiler does not know absolute positions, only positions modulo powers of two
 * (struct place). A field of 8 n bits moves the residue; a field of variable size leaves only the
 * bits known that its granularity guarantees; two paths that meet keep the common low bits:
 *
 *   known = 5, residue = 16 :  ...x10000   position = 16 modulo 32
 *   + 24 bits               :  ...x01000   position =  8 modulo 32
 *   joined with 0 modulo 16 :  ....?000    position =  0 modulo  8
 *
 * If the residue is known, padding is folded too and numbers load as whole bytes; otherwise an
 * ALIGN step or a bit-wise load is emitted.
 *
 * Invariants: a reference's target precedes its use in stored order. A slot that may lack its
 * number is never shared, because its `absent` bit must survive. Steps of both programs visit the
 * same bits.
 *
 * Cost: linear in the visited types; COMPILE_VISITS limits them, since a small description can
 * denote a huge tree.
 *
 * Left out: references forward; recursive types; more than LAYOUT_SLOTS_MAX numbers alive at once.
 */
#ifndef TRACETTA_LAYOUT_LAYOUT_COMPILE_H
#define TRACETTA_LAYOUT_LAYOUT_COMPILE_H

#include "base/status.h"
#include "layout/layout_program.h"

#define COMPILE_STEPS 65536u /* steps per program */
/* visits to types; the description is a graph whose tree may be far larger */
#define COMPILE_VISITS 1000000u
#define COMPILE_REFERENCES 1024u
#define COMPILE_BITS (UINT64_C(1) << 60)

/* A reference, and the findings on its target. */
struct use {
    struct type_reference from;
    /* how many of its names match the path from the root to the current member */
    uint32_t matched;
    uint32_t first, last; /* visits between which its slot is in use */
    /* innermost array around its target, as the visit that entered it; 0 = none */
    uint32_t array;
    uint8_t slot;
    bool has_target, is_import, may_lack;
    bool is_signed, is_bool, is_wide, is_no_number; /* true if any of its targets is so */
};

/* Compile-time knowledge of a position: it is `residue` modulo 1 << known. Bits. */
struct position {
    uint32_t residue;
    uint8_t known;
    uint8_t order; /* enum order of the bits just before; ORDER_ANY: unknown */
};

/* A set of labels and the table compiled from it. */
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
    /* Current position of the pass in the types. */
    enum type_root root;
    uint32_t level;   /* names on the path from the root */
    uint32_t nesting; /* types on the path from the root */
    uint32_t visits;  /* visits of all passes so far */
    const struct type_member *names[TYPE_DEPTH_MAX + 2];
    /* State of the reference passes. */
    bool is_finding;     /* pass 2 resolves targets; pass 1 gathers references */
    uint32_t index;      /* visits in this pass */
    uint32_t conditions; /* enclosing optionals and options */
    uint32_t loops;      /* enclosing arrays; `arrays` holds the visits that entered them */
    uint32_t arrays[TYPE_DEPTH_MAX + 2];
    /* State of program generation. */
    enum program program;
    struct op *ops;
    size_t ops_n, ops_capacity;
    size_t label; /* index of a step that is a jump target */
    struct position position;
    uint64_t pending;                 /* bits that no step has skipped yet */
    uint32_t inside;                  /* enclosing arrays */
    uint32_t hidden;                  /* enclosing members that this program hides */
    bool has_hidden;                  /* at least one member was hidden */
    const struct type_member *member; /* the member that is compiled */
    ttr_field field;                  /* prepared name, depth and group of its fields */
    struct label_table *tables;
    size_t tables_n, tables_capacity;
};

/* Fails with a message prefixed by the path of the current member: "payload.data: ...". Always
 * returns false. */
bool compiler_refuse(struct compiler *c, const char *format, ...) TTR_PRINTF(2, 3);

/* Enters a member and leaves it again, updating the path. compiler_enter fails if names nest too
 * deeply. */
TTR_MUST bool compiler_enter(struct compiler *c, const struct type_member *member);
void compiler_leave(struct compiler *c);

/* compiler_enter_root starts a root. compiler_visit counts a visit to a type and fails if there are
 * too many, or if they nest too deeply. */
void compiler_enter_root(struct compiler *c, enum type_root root);
TTR_MUST bool compiler_visit(struct compiler *c, const struct type *type);

/* Returns the reference whose target is the current member, or NULL. */
struct use *compiler_find_target(struct compiler *c);

/* Returns true if a reference names something inside the current member. */
bool compiler_has_target_inside(const struct compiler *c);

/* Returns the entry for a type's reference. Not NULL once references were gathered. */
struct use *compiler_find_use(struct compiler *c, const struct type_reference *reference);

/* Runs passes 1 to 3: gathers references, resolves targets, allocates slots. */
TTR_MUST bool compile_references(struct compiler *c);

/* Generates c->ops for all roots. */
TTR_MUST bool compile_program(struct compiler *c, enum program program);

/* Computes the size of a type whose values all have the same size if they start at `place`, and
 * advances `place`. Returns false if sizes vary or compilation failed. */
struct fold {
    uint64_t bits;
    uint64_t spins; /* elements inside that have no bits; at most LAYOUT_EMPTY_ELEMENTS_MAX + 1 */
};
TTR_MUST bool compile_fold(struct compiler *c, const struct type *type, struct position *position,
                           struct fold *fold);

/* Does the same for the elements of an array: one of `bits` bits every `stride` bits. `place`:
 * start of the first element, aligned for it; on return only its byte order is updated, to that
 * after the last element. */
struct fold_element {
    uint64_t bits, stride;
    uint64_t spins; /* per element */
};
TTR_MUST bool compile_fold_element(struct compiler *c, const struct type *element,
                                   struct position *position, struct fold_element *fold);

/* Adds bits to a position; returns the common knowledge about two positions. */
void position_advance(struct position *position, uint64_t bits);
struct position position_join(struct position a, struct position b);

static inline bool position_is_byte_aligned(const struct position *position)
{
    return position->known >= 3 && position->residue % 8 == 0;
}

/* Returns true for integers, floats and nulls of `bits` bits. */
static inline bool type_is_number(const struct type *type)
{
    return (type->kind >= TYPE_BITS && type->kind <= TYPE_FLOAT) || type->kind == TYPE_NULL;
}

static inline enum order type_order(const struct type *type)
{
    return type->is_big_endian ? ORDER_BE : ORDER_LE;
}

#endif
