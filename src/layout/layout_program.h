/* What a layout is made of inside: steps, the tables they use, and how numbers are loaded.
 *
 * A program is an array of steps.  First, a step passes over `advance` bits (fields of fixed size
 * before it, folded into one addition), then it does what its code says.  The measuring program has
 * steps only; in the walk each step comes with the field it gives, prepared but for the value.
 * Steps that give fixed fields do not move: their `advance` is the place of the value from where
 * the last moving step stopped, and `amount` the bits that must be there from the same place. Only
 * this folder's layout*.c include this. */
#ifndef TRACETTA_LAYOUT_LAYOUT_PROGRAM_H
#define TRACETTA_LAYOUT_LAYOUT_PROGRAM_H

#include "base/find_zero.h"
#include "layout/layout_record_parts.h"

enum step_code {
    /* Silent steps, in both programs; all of them move. */
    STEP_END,   /* of the record */
    STEP_SKIP,  /* no more than the advance */
    STEP_ALIGN, /* to a multiple of amount + 1 */
    STEP_UNIT, /* a gcc bitfield of `width` comes: to the next unit of `amount` where it would cross
                  one */
    STEP_ORDER, /* what comes is stored in `order`: inside a byte of another it may not begin */
    STEP_MIXED, /* what was just read was stored in `order` */
    STEP_SAVE,  /* the number right before goes into `slot` */
    STEP_STRING8,
    STEP_STRING16,
    STEP_STRING32, /* pass over the text and its zero */
    STEP_TAKE,    /* elements of fixed size: `count` or as many as `slot` says, every `amount` bits,
                     `width` less behind the last */
    STEP_COUNTED, /* SAVE and TAKE in one */
    STEP_LEB,     /* pass over a LEB128 number */
    STEP_LEB_SAVE,
    STEP_REQUIRE, /* slot must hold something */
    STEP_WHOLE,   /* a text of as many bytes as slot says should be one of whole characters of
                     `amount` bytes */
    STEP_SPINS,   /* that many elements (times `amount`) took no bits */
    STEP_LOOP,    /* `count` or as many as `slot` says; to `jump` when none */
    STEP_AGAIN,   /* the next element at `jump`, or on */
    STEP_IF,      /* on where the selector is right, else to `jump` */
    STEP_CHOOSE,  /* to the option of the selector */
    STEP_JUMP,

    /* Fixed fields: do not move. */
    GIVE_NUMBER, /* + enum load */
    GIVE_F32LE = GIVE_NUMBER + LOAD_COUNT,
    GIVE_F32BE,
    GIVE_FLOAT, /* any other */
    GIVE_BOOL,
    GIVE_ENUM,
    GIVE_FLAGS,
    GIVE_WIDE, /* an integer of more than 64 bits */
    GIVE_TEXT,
    GIVE_TEXT_WIDE,
    GIVE_BLOB,     /* `count` bytes */
    GIVE_AS_IT_IS, /* the field is ready: structures, nulls */
    GIVE_ARRAY,    /* ready but for its count; a loop follows */
    GIVE_LEB,      /* a LEB follows, which passes over it */

    /* Others: move. */
    GIVE_STRING8,
    GIVE_STRING_WIDE, /* the latter in characters of `width` bytes */
    GIVE_TEXT_TAKEN,
    GIVE_TEXT_WIDE_TAKEN,
    GIVE_BLOB_TAKEN, /* as many bytes as `slot` says */
    GIVE_ELEMENTS,   /* an array of numbers that the next two steps give */
    GIVE_ELEMENT, /* + enum load, or as behind GIVE_NUMBER; the second one, whose `jump` is 1, gives
                     all but the first */
    GIVE_ELEMENT_F32LE = GIVE_ELEMENT + LOAD_COUNT,
    GIVE_ELEMENT_F32BE,
    GIVE_NOTHING /* the walk is over */
};

/* Byte order inside of bytes. */
enum order {
    ORDER_ANY,
    ORDER_LE,
    ORDER_BE,
    ORDER_BYTES, /* only at whole bytes */
    ORDER_START  /* while compiling: nothing was read yet */
};

#define STEP_FIXED 1u     /* count, not a slot */
#define STEP_SIGNED 2u    /* LOAD_BITS */
#define STEP_REVERSED 4u  /* LOAD_BITS */
#define STEP_BIG 8u       /* LOAD_BITS */
#define STEP_MAY_LACK 16u /* SAVE: the slot holds something from now on */
#define STEP_LOADS                                                                                \
    32u /* GIVE_..._TAKEN, GIVE_ELEMENTS: first the number of `load` `jump` bits before goes into \
           the slot */
#define STEP_INLINE_SLOT LAYOUT_SLOTS_MAX /* lengths right before what they count */

struct step {
    uint64_t advance;
    uint64_t amount, count;
    const void *table; /* struct lookup of labels, of options, of the values of a selector; masks of
                          flags */
    uint32_t jump;
    uint32_t width;
    uint8_t code; /* enum step_code */
    uint8_t load; /* enum load */
    uint8_t slot, flags;
    uint8_t order;       /* enum order */
    uint8_t root, level; /* where its member stands: enum type_root, names on the way */
    uint8_t align; /* TAKE and its like: log2 of what the first element is aligned to, where there
                      is one */
    const struct type *type;
    const struct type_member *member;
};

/* A step of the walk. */
struct op {
    ttr_field field;
    struct step step;
};

/* Values to something: entries in ascending order that do not overlap, searched by halves. */
struct lookup_entry {
    uint64_t low,
        high;       /* the sign bit turned where signed, so that they compare as unsigned numbers */
    uint32_t index; /* of the label, or the step to go on at */
};

struct lookup {
    uint64_t turn;
    uint32_t n;
    bool has_overlaps; /* some values have several indices; the entries tell the least */
    struct lookup_entry entry[];
};

#define LOOKUP_NONE UINT32_MAX

/* The index that holds the value, or LOOKUP_NONE. */
static inline uint32_t lookup_find(const struct lookup *lookup, uint64_t value)
{
    uint64_t x = value ^ lookup->turn;
    uint32_t from = 0, n = lookup->n;
    while (n > 1) {
        uint32_t half = n / 2;
        from += lookup->entry[from + half].low <= x ? half : 0;
        n -= half;
    }
    bool is_in = n && x >= lookup->entry[from].low && x <= lookup->entry[from].high;
    return is_in ? lookup->entry[from].index : LOOKUP_NONE;
}

/* The straight way through a record in a payload (layout_decode_fast.c): steps beside those of the
 * walk. */
enum straight_code {
    STRAIGHT_END,
    STRAIGHT_OTHER, /* the walk goes on alone */
    /* Fixed fields: do not move. */
    STRAIGHT_NUMBER, /* + enum load below LOAD_BITS */
    STRAIGHT_F32LE = STRAIGHT_NUMBER + LOAD_COUNT,
    STRAIGHT_F32BE,
    STRAIGHT_AS_IT_IS,
    STRAIGHT_ENUM,
    STRAIGHT_TEXT,
    STRAIGHT_TEXT16,
    STRAIGHT_BLOB,
    STRAIGHT_STILL,
    /* Others: move. */
    STRAIGHT_STRING,
    STRAIGHT_LAST_STRING, /* the latter with nothing but fixed fields behind it */
    STRAIGHT_STRING_WIDE,
    STRAIGHT_TEXT_TAKEN,
    STRAIGHT_ELEMENTS
};

#define STRAIGHT_BYTES (UINT32_C(1) << 30)
#define STRAIGHT_FIELDS 60000u

struct straight_step;
struct holding;

/* Gives the fields of a step and of those behind it into held fields: p is where the last moving
 * step stopped. */
typedef uint32_t hold_step(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                           struct holding *holding);

struct straight_step {
    hold_step *hold;
    const struct op *op;
    uint8_t code;       /* enum straight_code */
    uint8_t load, slot; /* of the number that counts */
    uint8_t back;       /* bytes from there to where its number stands */
    uint32_t at;        /* bytes from where the last moving step stopped */
    uint32_t reach;  /* moving steps: bytes that must be there behind it, up to where the next one
                        begins */
    uint16_t fields; /* how many steps behind it give one each */
};

struct straight {
    const struct op *ops;
    uint32_t reach, fields;      /* the same from the begin of the record on */
    struct straight_step step[]; /* [0] is none, as that of the walk */
};

struct layout {
    const struct step *measure;
    const struct op *walk;           /* [0] is no step: walks begin behind it */
    const struct straight *straight; /* NULL where it is not at any byte */
    const struct op *everything;     /* the walk that also gives what is hidden */
    uint64_t start_mask;             /* a record begins at a multiple of this + 1 */
    uint32_t absent;                 /* slots that hold nothing until they are filled */
    uint64_t fixed_bits;
    bool is_at_any_byte; /* the walk */
    const struct layout_import *imports;
    uint32_t imports_n;
    const struct type *root[ROOT_COUNT];
};

/* The number of a step, read bit by bit; its bits are known to be there. */
uint64_t step_load_bits(const struct step *step, const uint8_t *base, uint64_t at, uint64_t end);

/* The number of a step at a place where its bits are known to be. */
static inline uint64_t step_load(const struct step *step, const uint8_t *base, uint64_t at,
                                 uint64_t end)
{
    return step->load == LOAD_BITS ? step_load_bits(step, base, at, end)
                                   : load_whole_number((enum load)step->load, base + (at >> 3));
}

/* How many elements a step is about. */
static inline uint64_t step_count(const struct step *step, const struct layout_cursor *run)
{
    return step->flags & STEP_FIXED ? step->count : run->slots[step->slot];
}

/* Runs a silent step other than END whose advance is done.  Gives where to go on: 0 = at the step
 * behind it, STEP_STOPS = nowhere, and then `end` says why. */
#define STEP_STOPS UINT32_MAX
uint32_t layout_silent(const struct step *step, struct layout_cursor *run,
                       struct layout_loops *loops, enum layout_status *end);

/* The length of a LEB128 number in bytes, 0 when it has no end before `end`. */
size_t leb_length(const uint8_t *p, const uint8_t *end);

/* Its value; false when it takes more than 64 bits. */
bool leb_value(const uint8_t *p, size_t n, bool is_signed, uint64_t *value);

/* Gives the value of a field that is neither a plain number nor plain text: the prepared field is
 * there, `at` is where its bits are. */
struct value_place {
    const struct step *step;
    const uint8_t *base;
    uint64_t at, end;      /* bits; all bits of the value lie between them */
    struct arena *scratch; /* may be NULL */
};
void value_enum(const struct value_place *place, ttr_value *value);
void value_leb(const struct value_place *place, size_t n, ttr_value *value);

/* A value that stands still and takes more than a load: any of these, or a blob. */
void value_still(const struct value_place *place, ttr_value *value);

/* Text of wide characters up to their zero: gives how many bytes stand before it, SIZE_MAX where
 * there is none. */
size_t value_wide_string(const struct value_place *place, ttr_value *value);

/* Text of n bytes in 16- or 32-bit characters, up to a zero. */
void value_wide_text(const struct value_place *place, size_t n, ttr_value *value);

/* The length of a zero-terminated text of characters of `unit` bytes, SIZE_MAX when there is no
 * zero before `end`. */
size_t wide_length(const uint8_t *p, const uint8_t *end, unsigned unit);

/* Kept out of the way of what nearly all fields are, which then need no stack. */
#define APART __attribute__((noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Walks that are over stand before the second of these. */
extern const struct op layout_walk_over[2];

/* Makes the straight way beside `n` steps of a walk that is at any byte; NULL when memory is out.
 */
struct straight *straight_of(struct arena *arena, const struct op *ops, size_t n);

/* For layout_field_ops: see field_ops.hold. */
uint32_t layout_fields_hold(ttr_fields *fields, struct field_cache *held);

/* Where an event's record begins in its payload; NULL: it does not lie there, or the walk has
 * begun. */
static inline const uint8_t *straight_begin(const ttr_fields *fields)
{
    const struct layout_iter *walk = (const struct layout_iter *)fields->state;
    const ttr_event *event = fields->event;
    const uint64_t unbegun = walk->unbegun, body = event->body & (unbegun >> LAYOUT_MASK_SHIFT);
    return unbegun & LAYOUT_IN_PAYLOAD && body % 8 == 0 && body >> 3 <= event->payload_size
               ? event->payload + (body >> 3)
               : NULL;
}

/* Copies a field by whole vectors, as compilers do not. */
static inline void step_copy_field(ttr_field *to, const ttr_field *from)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    _Static_assert(sizeof(ttr_field) == 4 * sizeof(lanes), "a field is four vectors");
    const lanes *source = (const lanes *)from;
    lanes *part = (lanes *)to;
    part[0] = source[0], part[1] = source[1], part[2] = source[2], part[3] = source[3];
}

/* How many elements or bytes a step of a straight way gives, p being where what counts them ends;
 * where the walk may need that later, it is kept. */
static inline uint64_t straight_count(const struct op *op, const struct straight_step *step,
                                      const uint8_t *p, struct layout_iter *walk)
{
    if (op->step.flags & STEP_FIXED)
        return op->step.count;
    return walk->run.slots[step->slot] = load_whole_number((enum load)step->load, p - step->back);
}

static inline void step_set_text(ttr_value *value, const uint8_t *base, const uint8_t *p, size_t n)
{
    const uint8_t *zero = find_zero(base, p, p + n);
    value->text = (ttr_text){(const char *)p, zero ? (size_t)(zero - p) : n};
}

#endif
