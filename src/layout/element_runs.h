/* Lists of fields in which elements of an array that are alike stand together: an array of a
 * million numbers is three entries and a million numbers.
 *
 * A list is what a walk gives, a struct or array before what is in it.  Behind the first element of
 * an array one entry may stand for any number of further elements, which differ from the first in
 * nothing but their values and in how many elements arrays inside them have.  The values lie in a
 * buffer, or where the event has them, those of one such entry behind one another in the order of
 * the fields: UINT, INT    1, 2, 4 or 8 bytes, as many as the first element's `bits` ask for,
 * little-endian BOOL         1 FLOAT        4 or 8, the same TEXT, BYTES  where they lie, a pointer
 * | length 4 ARRAY        count 4 | its elements STRUCT, NULL nothing An array inside has, in the
 * first element, a first element of its own, whose like all others are; it has none where all such
 * arrays are empty. In memory only.  Ownership: lists and buffers are the caller's. */
#ifndef TRACETTA_LAYOUT_ELEMENT_RUNS_H
#define TRACETTA_LAYOUT_ELEMENT_RUNS_H

#include "base/buffer.h"
#include "model/context.h"

#define ALIKE_DEPTH                                                              \
    16u /* arrays of such elements inside one another; who makes lists has fewer \
         */
/* As the type of a value: `count` elements stand here, like the one `text.n` entries before; their
 * values are at text.p, or where that is NULL at v.u in the buffer; where the hint is
 * ALIKE_IN_PIECES they are nowhere, for they would take too much: the walk asks for them. */
#define ALIKE_MORE 0xffu
#define ALIKE_IN_PIECES 1u

static inline bool alike_is_more(const ttr_field *field)
{
    return field->value.type == ALIKE_MORE;
}

/* How many elements an entry of an array stands for. */
static inline uint32_t alike_stands_for(const ttr_field *field)
{
    return alike_is_more(field) ? field->value.count : 1;
}

/* How many of the n entries one is, with those in it. */
size_t alike_inside(const ttr_field *field, size_t n, size_t at);

/* Whether a value that is of the same type and width finds room among those of a first element. */
bool alike_fits(const ttr_value *first, const ttr_value *value);

/* Appends a value; the buffer's failed flag tells of memory. */
void alike_put(struct buffer *values, const ttr_value *first, const ttr_value *value);

/* The bytes of a number of one type and width; 0: it is no number. */
unsigned alike_width(const ttr_value *first);

/* The number that `width` bytes are, as v.u has it. */
uint64_t alike_number(const ttr_value *first, const uint8_t *bytes, unsigned width);

/* Elements being walked that stand together. */
struct alike_frame {
    size_t begin, end; /* of the first one */
    size_t back;       /* where the walk goes on */
    uint32_t left;     /* with the one under way */
};

/* Gives values of the entry of that index, those behind the ones given before, of whole elements
 * and of one at least: they are there until the next call. False where that cannot be: the walk
 * then ends. */
struct alike_source {
    bool (*give)(void *own, size_t entry, const uint8_t **values, size_t *n);
    void *own;
};

/* A walk over all fields of a list, one by one. */
struct alike_walk {
    const ttr_field *field;
    size_t n, at;
    const uint8_t *values;
    const uint8_t *value;              /* the next one */
    const uint8_t *end;                /* of the values given; NULL = all are there */
    const struct alike_source *source; /* of values in pieces */
    uint32_t depth;
    bool has_one; /* `one` is the next field */
    ttr_field one;
    struct alike_frame frame[ALIKE_DEPTH];
};

static inline void alike_begin(struct alike_walk *walk, const ttr_field *field, size_t n,
                               const struct buffer *values)
{
    walk->field = field;
    walk->n = n;
    walk->at = 0;
    walk->values = values ? values->bytes : NULL;
    walk->value = walk->end = NULL;
    walk->source = NULL;
    walk->depth = 0;
    walk->has_one = false;
}

/* The slow ways of the two below. */
const ttr_field *alike_peek_inside(struct alike_walk *walk);
const ttr_field *alike_next_inside(struct alike_walk *walk);

static inline bool alike_is_plain(const struct alike_walk *walk)
{
    return !walk->depth && walk->at < walk->n && !alike_is_more(&walk->field[walk->at]);
}

/* The next field, without a step; NULL at the end.  It is there until the next step. */
static inline const ttr_field *alike_peek(struct alike_walk *walk)
{
    return alike_is_plain(walk) ? &walk->field[walk->at] : alike_peek_inside(walk);
}

/* The next field; NULL at the end.  It is there until the next call. */
static inline const ttr_field *alike_next(struct alike_walk *walk)
{
    return alike_is_plain(walk) ? &walk->field[walk->at++] : alike_next_inside(walk);
}

/* Whether all fields were given. */
bool alike_is_over(struct alike_walk *walk);

/* Elements that are numbers. */
struct alike_run {
    const ttr_value *first;
    const uint8_t *bytes; /* n * width of them */
    uint32_t n;
    unsigned width;
};

/* Steps over up to `most` > 0 elements that stand together where the walk is; false where none do,
 * or where they are no numbers. */
bool alike_take_run(struct alike_walk *walk, uint32_t most, struct alike_run *run);

#endif
