/* How fields are taken one by one, to be items: for ctf_flatten.c, which does, and
 * ctf_flatten_again.c, which has it done once more. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_FLATTEN_FORM_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_FLATTEN_FORM_H

#include "formats/ctf/write/ctf_write.h"

#define LIKES 16u /* types of elements in an event that are looked for in other arrays */

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
    bool is_again; /* so are fields */
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
    size_t values[CTF_ITEMS_DEPTH]; /* how many bytes of these there were before */
    unsigned n;
    uint64_t skip; /* fields to be left out, with what is in them */
};

/* The regions of the items as groups of fields come: each ends where the first field of a later one
 * stands. */
struct regions {
    bool has_common, has_context; /* were ended */
};

/* Fields being taken. */
struct taking {
    struct forming form;
    struct open_items open;
    struct regions regions;
    ttr_fields walk;
};

void ctf_items_begin_taking(struct taking *taking, const struct forming *f, const ttr_event *event);

/* Takes the next field, with elements behind it that can be taken at once; false behind the last.
 */
bool ctf_items_take_next(struct taking *taking);

#endif
