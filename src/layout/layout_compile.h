/* The layout compiler: types are compiled into the programs of layout_program.h.
 *
 * Order of passes (layout_compile in layout.c):
 *
 *   1. gather     references of lengths, selectors      layout_references.c
 *   2. resolve    find each target, check its type      layout_references.c
 *   3. allocate   slots by first fit over lifetimes     layout_references.c
 *   4. emit       PROGRAM_RECORD_SIZE: the end of a record   layout_emit*.c
 *   5. emit       PROGRAM_VISIBLE_FIELDS: the visible fields       layout_emit*.c
 *   6. emit       PROGRAM_ALL_FIELDS: also hidden ones   layout_emit*.c
 *   7. fast       a fast program beside program 5        layout_decode_fast.c
 *
 * Algorithm: each pass is a recursive descent over the types in stored order. Slots are registers:
 * linear-scan allocation (Poletto, Sarkar 1999) over the visits between a number and its last use.
 * Fixed-size fields are folded (constant folding) into the `advance` of the next step.
 *
 * Alignment: the compiler does not know absolute positions, only positions modulo powers of two
 * (struct position). A field of 8 n bits moves the residue; a field of variable size leaves only
 * the bits known that its granularity guarantees; two paths that meet keep the common low bits:
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
/* upper limit of type visits by all passes: types may share subtypes, so a small description can
 * denote a huge tree */
#define COMPILE_VISITS 1000000u
#define COMPILE_REFERENCES 1024u
#define COMPILE_BITS (UINT64_C(1) << 60)

/* A reference to a length or selector, and the properties of the number that it names. */
struct reference_use {
    struct type_reference from;
    /* number of leading names of `from` that equal the path of the current member */
    uint32_t matched;
    /* first and last visit between which the slot must keep the number, counted as
     * compiler.index */
    uint32_t first, last;
    /* visit number of the innermost array that contains the number; 0 = not in an array */
    uint32_t array;
    uint8_t slot;
    bool has_target, is_import, may_lack;
    /* properties of the numbers with this path; true if at least one of them has it */
    bool is_signed, is_bool, is_wide, is_no_number;
};

/* Compile-time knowledge about a bit position: it is `residue` modulo 1 << known. */
struct position {
    uint32_t residue;
    uint8_t known;
    /* byte order (enum order) of the bits before the position; ORDER_ANY = unknown */
    uint8_t order;
};

/* A set of labels and its lookup table. Fields with equal labels share the table. */
struct label_table {
    const struct type_labels *labels;
    const void *table;
    bool is_flags;
};

enum program { PROGRAM_RECORD_SIZE, PROGRAM_VISIBLE_FIELDS, PROGRAM_ALL_FIELDS };

struct compiler {
    const struct layout_spec *spec;
    ttr_error *error;
    struct layout *layout;
    struct reference_use *uses;
    size_t uses_n, uses_capacity;
    /* --- The member that the current pass visits --- */
    enum type_root root;
    uint32_t level;   /* number of member names from the root to the member */
    uint32_t nesting; /* number of types from the root to the member */
    uint32_t visits;  /* number of types that all passes have visited; at most COMPILE_VISITS */
    const struct type_member *names[TYPE_DEPTH_MAX + 2];
    /* --- State of passes 1 to 3 (layout_references.c) --- */
    /* false: pass 1 gathers references; true: pass 2 finds the numbers that they name */
    bool is_finding;
    uint32_t index;      /* number of types that this pass has visited */
    uint32_t conditions; /* number of optionals and variants around the member */
    /* number of arrays around the member; `arrays` holds their visit numbers */
    uint32_t loops;
    uint32_t arrays[TYPE_DEPTH_MAX + 2];
    /* --- State of passes 4 to 6 (layout_emit*.c) --- */
    enum program program;
    struct op *ops;
    size_t ops_n, ops_capacity;
    size_t label; /* index of the last step that a jump leads to */
    struct position position;
    /* size in bits of the fields that the next step has to skip */
    uint64_t pending;
    uint32_t inside; /* number of arrays around the member */
    /* number of enclosing members that this program does not return */
    uint32_t hidden;
    bool has_hidden;                  /* at least one member is not returned by this program */
    const struct type_member *member; /* the member that is compiled, for error messages */
    /* template of the next fields: name, depth and group are set */
    ttr_field field;
    struct label_table *tables;
    size_t tables_n, tables_capacity;
};

/* Fails with a message prefixed by the path of the current member: "payload.data: ...". Always
 * returns false. */
bool compiler_refuse(struct compiler *c, const char *format, ...) TTR_PRINTF(2, 3);

/* compiler_enter appends a member to the current path; it fails if the path gets too long.
 * compiler_leave removes it again. */
TTR_MUST bool compiler_enter(struct compiler *c, const struct type_member *member);
void compiler_leave(struct compiler *c);

/* compiler_enter_root sets the root and empties the path. compiler_visit counts a visit of a type;
 * it fails if there are too many visits or nesting levels. */
void compiler_enter_root(struct compiler *c, enum type_root root);
TTR_MUST bool compiler_visit(struct compiler *c, const struct type *type);

/* Returns the reference that names the current member, or NULL. */
struct reference_use *compiler_find_target(struct compiler *c);

/* Returns true if a reference names a member of the current struct or root. */
bool compiler_has_target_inside(const struct compiler *c);

/* Returns the list entry of a type's reference. Never NULL after pass 1. */
struct reference_use *compiler_find_reference(struct compiler *c,
                                              const struct type_reference *reference);

/* Runs passes 1 to 3: gathers references, resolves targets, allocates slots. */
TTR_MUST bool compile_references(struct compiler *c);

/* Generates the steps of a program for all roots into c->ops. Fails if there are too many. */
TTR_MUST bool compile_program(struct compiler *c, enum program program);

/* Computes the size of a type that starts at `position`, if it is the same in every record, and
 * advances `position` past it. Returns false if the size varies or compilation failed. */
struct folded_size {
    uint64_t bits;
    uint64_t spins; /* array elements of size 0 in it; at most LAYOUT_EMPTY_ELEMENTS_MAX + 1 */
};
TTR_MUST bool fold_type_size(struct compiler *c, const struct type *type, struct position *position,
                             struct folded_size *folded_size);

/* Computes the size of an array's elements and their distance. `position` is the aligned position
 * of the first element; the function updates only its byte order, to that after the last element.
 * Returns false if the elements vary in size. */
struct folded_element {
    uint64_t bits, stride;
    uint64_t spins; /* array elements of size 0 in each element */
};
TTR_MUST bool fold_element_size(struct compiler *c, const struct type *element,
                                struct position *position, struct folded_element *folded_size);

/* position_advance adds bits to a position. position_join returns what is known at a point that is
 * reached with position a or b. */
void position_advance(struct position *position, uint64_t bits);
struct position position_join(struct position a, struct position b);

static inline bool position_is_byte_aligned(const struct position *position)
{
    return position->known >= 3 && position->residue % 8 == 0;
}

/* Returns true for integers, floats and nulls. */
static inline bool type_is_number(const struct type *type)
{
    return (type->kind >= TYPE_BITS && type->kind <= TYPE_FLOAT) || type->kind == TYPE_NULL;
}

static inline enum order type_get_byte_order(const struct type *type)
{
    return type->is_big_endian ? ORDER_BE : ORDER_LE;
}

#endif
