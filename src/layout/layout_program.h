/* Internals of layouts: the steps of programs, their tables, and the loads of numbers.
 *
 * A program is an array of steps. A step first skips `advance` bits, the total size of the
 * fixed-size fields before it, and then acts by its code. All steps of the record-size program are
 * silent: they return no field. The iterator's program also has steps that return a field; such a
 * step (struct op) holds the template of the field, in which only the value is missing.
 *
 * Steps for fixed-size fields do not move the read position. Their `advance` is the offset of the
 * value from the read position, and `amount` is the number of bits that must exist from there.
 *
 *   step:     move A | field 1     | field 2     | move B
 *   bits:     ------>|<-advance 1->[value 1]
 *                    |<--------- advance 2 --------->[value 2]
 *                    |<----- advance of B, past both values ------>|
 *
 * Only the layout*.c files of this folder include this header. */
#ifndef TRACETTA_LAYOUT_LAYOUT_PROGRAM_H
#define TRACETTA_LAYOUT_LAYOUT_PROGRAM_H

#include "base/find_zero.h"
#include "layout/layout_record_parts.h"

enum step_code {
    /* Silent steps: return no field, move the read position, occur in both programs. */
    STEP_END,   /* end of the record */
    STEP_SKIP,  /* only skips `advance` bits */
    STEP_ALIGN, /* align to a multiple of amount + 1 bits */
    /* before a gcc bitfield of `width` bits: if the field would cross a boundary, skips to the next
     * unit of `amount` bits */
    STEP_UNIT,
    /* fails if the next bits share a byte with bits in another order than `order` */
    STEP_CHECK_ORDER,
    STEP_SET_ORDER, /* sets the byte order of the bits just read to `order` */
    STEP_SAVE,      /* stores the number just read, which ends at the read position, into `slot` */
    STEP_STRING8,
    STEP_STRING16,
    STEP_STRING32, /* skips a text of 4-byte characters and its terminating zero */
    /* skips fixed-size elements at a distance of `amount` bits; their number is `count`, or in
     * `slot`; the last element is `width` bits shorter */
    STEP_SKIP_ELEMENTS,
    STEP_COUNTED, /* STEP_SAVE and STEP_SKIP_ELEMENTS in one step */
    STEP_LEB,     /* skips a LEB128 number */
    STEP_LEB_SAVE,
    STEP_REQUIRE_NUMBER, /* fails if the slot holds no number */
    /* sets has_cut_text if the text length in `slot` is not a multiple of `amount`, the character
     * size in bytes */
    STEP_CHECK_UNITS,
    /* adds `amount` elements of size 0 for each of the `count` (or `slot`) array elements; fails
     * above LAYOUT_EMPTY_ELEMENTS_MAX */
    STEP_COUNT_EMPTY,
    /* starts a loop over `count` (or `slot`) elements; jumps to `jump` if the number is 0 */
    STEP_LOOP,
    STEP_LOOP_NEXT, /* jumps back to `jump` if elements are left */
    /* continues if the selector in `slot` matches `table`, otherwise jumps to `jump` */
    STEP_IF,
    STEP_CHOOSE, /* jumps to the option of the selector in `slot`, as looked up in `table` */
    STEP_JUMP,

    /* Fixed-size fields: these steps read the value `advance` bits after the read position and
     * leave it. */
    FIELD_NUMBER, /* + enum load */
    FIELD_F32LE = FIELD_NUMBER + LOAD_COUNT,
    FIELD_F32BE,
    FIELD_FLOAT, /* a float other than a 4- or 8-byte one at a byte boundary */
    FIELD_BOOL,
    FIELD_ENUM,
    FIELD_FLAGS,
    FIELD_WIDE, /* an integer of more than 64 bits */
    FIELD_TEXT,
    FIELD_TEXT_WIDE,
    FIELD_BLOB,  /* `count` bytes */
    FIELD_READY, /* struct or null: the template is the complete field */
    FIELD_ARRAY, /* an array before a loop over its elements; only the template's element count is
                  * set */
    FIELD_LEB,   /* a LEB128 number, which the following STEP_LEB skips */

    /* Variable-size fields: these steps move the read position. */
    FIELD_STRING8,
    FIELD_STRING_WIDE, /* text in characters of `width` bytes, up to a zero */
    FIELD_TEXT_COUNTED,
    FIELD_TEXT_WIDE_COUNTED,
    FIELD_BLOB_COUNTED, /* text or bytes; `slot` has their length */
    FIELD_ELEMENTS,     /* an array of numbers; the next two steps return its elements */
    /* + enum load, or the F32 codes in the order of FIELD_NUMBER. Always two steps: the first (jump
     * 0) returns the first element, the second (jump 1) returns the others one by one. */
    FIELD_ELEMENT,
    FIELD_ELEMENT_F32LE = FIELD_ELEMENT + LOAD_COUNT,
    FIELD_ELEMENT_F32BE,
    FIELD_END /* end of the record; no more fields */
};

/* Order of bits within a byte. */
enum order {
    ORDER_ANY,
    ORDER_LE,
    ORDER_BE,
    ORDER_BYTES, /* the field consists of complete bytes, so any bit order is possible */
    ORDER_START  /* compiler only: nothing was read yet */
};

#define STEP_FIXED 1u    /* flag: the element count is `count`, not the number in `slot` */
#define STEP_SIGNED 2u   /* flag for LOAD_BITS: sign-extend the number */
#define STEP_REVERSED 4u /* flag for LOAD_BITS: reverse the order of the bits */
#define STEP_BIG 8u      /* flag for LOAD_BITS: big-endian */
/* flag for STEP_SAVE: a record may lack the number; the step clears the slot's bit in `absent` */
#define STEP_MAY_BE_ABSENT 16u
/* flag for FIELD_..._COUNTED and FIELD_ELEMENTS: the step first loads the length into the slot; the
 * length is `jump` bits before the data */
#define STEP_LOADS 32u
/* slot of a length that is stored directly before its data */
#define STEP_INLINE_SLOT LAYOUT_SLOTS_MAX

struct step {
    uint64_t advance;
    uint64_t amount, count;
    /* struct lookup of labels, options or selector values; for FLAGS an array of masks */
    const void *table;
    uint32_t jump;
    uint32_t width;
    uint8_t code; /* enum step_code */
    uint8_t load; /* enum load */
    uint8_t slot, flags;
    uint8_t order; /* enum order */
    /* location of the member: its enum type_root, and the number of names on the path from the
     * root */
    uint8_t root, level;
    /* for steps that skip or return elements: log2 of the alignment in bits of the first element;
     * not applied to an empty array */
    uint8_t align;
    const struct type *type;
    const struct type_member *member;
};

/* A step of the field iterator's program, with the template of the field that the step returns. */
struct op {
    ttr_field field;
    struct step step;
};

/* Table from ranges of values to indices: sorted entries that do not overlap, for binary search. */
struct lookup_entry {
    uint64_t low,
        /* range of values; for signed numbers the sign bit is inverted, so that unsigned comparison
         * orders them */
        high;
    uint32_t index; /* index of a label, or of the step to continue at */
};

struct lookup {
    uint64_t turn;
    uint32_t n;
    bool has_overlaps; /* some values have several labels; for those the table has the lowest index
                        * */
    struct lookup_entry entry[];
};

#define LOOKUP_NONE UINT32_MAX

/* Returns the index of the entry that contains a value, or LOOKUP_NONE. Uses conditional moves
 * instead of branches, which would be mispredicted. */
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

/* Step codes of the fast program (layout_decode_fast.c). Each step of the iterator's program has
 * one fast step. */
enum fast_code {
    FAST_END,
    FAST_OTHER, /* not supported by the fast path: the field iterator continues at this step */
    /* Fixed-size fields: these steps do not move the byte pointer `p`. */
    FAST_NUMBER, /* + enum load below LOAD_BITS */
    FAST_F32LE = FAST_NUMBER + LOAD_COUNT,
    FAST_F32BE,
    FAST_READY,
    FAST_ENUM,
    FAST_TEXT,
    FAST_TEXT16,
    FAST_BLOB,
    FAST_FIXED,
    /* Variable-size fields: these steps move the byte pointer `p`. */
    FAST_STRING,
    FAST_LAST_STRING, /* a text that only fixed-size fields follow */
    FAST_STRING_WIDE,
    FAST_TEXT_COUNTED,
    FAST_ELEMENTS
};

#define FAST_BYTES (UINT32_C(1) << 30)
#define FAST_FIELDS 60000u

struct fast_step;
struct fast_decoder;

/* Decodes the field of a step and calls the next step, which decodes the rest of the record. `p`:
 * the byte at which the last variable-size field ended; `to`: the cached field to write. Returns
 * the number of fields in the cache. */
typedef uint32_t fast_step_fn(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                              struct fast_decoder *fast_decoder);

struct fast_step {
    fast_step_fn *decode;
    const struct op *op;
    uint8_t code; /* enum fast_code */
    /* enum load of the element count, and the slot that the count is stored to */
    uint8_t load, slot;
    uint8_t back; /* distance in bytes from the element count to the data */
    uint32_t at;  /* offset of the value in bytes from `p` */
    /* for a variable-size step: bytes that must exist after its field, up to the next variable-size
     * field */
    uint32_t reach;
    uint16_t fields; /* number of steps after this one, each of which returns one field */
};

struct fast_program {
    const struct op *ops;
    /* number of bytes before the first variable-size field, all of which must exist; number of
     * fields */
    uint32_t reach, fields;
    /* [0] is unused, so that steps have the indices of the iterator's program */
    struct fast_step step[];
};

struct layout {
    const struct step *size_program;
    /* program of the field iterator; [0] is a no-op, so an iteration starts at [1] */
    const struct op *iter;
    const struct fast_program *fast_program; /* NULL if a field is aligned to more than 8 bits */
    /* program of the field iterator that also returns hidden members */
    const struct op *full_program;
    uint64_t start_mask; /* alignment of a record in bits, minus 1 */
    /* bit i is set: slot i holds no number when decoding of a record starts */
    uint32_t absent;
    uint64_t fixed_bits;
    /* no step of `iter` aligns to more than 8 bits, so a record may start at any byte */
    bool is_at_any_byte;
    const struct layout_import *imports;
    uint32_t imports_n;
    const struct type *root[ROOT_COUNT];
};

/* Loads a number bit by bit. The caller has checked that its bits exist. */
uint64_t step_load_bits(const struct step *step, const uint8_t *base, uint64_t at, uint64_t end);

/* Loads a number at a bit offset. The caller has checked that its bits exist. */
static inline uint64_t step_load(const struct step *step, const uint8_t *base, uint64_t at,
                                 uint64_t end)
{
    return step->load == LOAD_BITS ? step_load_bits(step, base, at, end)
                                   : load_whole_number((enum load)step->load, base + (at >> 3));
}

/* Returns the number of elements of a step: its `count`, or the number in its slot. */
static inline uint64_t step_count(const struct step *step, const struct layout_cursor *run)
{
    return step->flags & STEP_FIXED ? step->count : run->slots[step->slot];
}

/* Runs a silent step other than STEP_END, after the caller has skipped its `advance`. Returns the
 * index of the step to continue at, 0 for the next one. Returns STEP_STOPS on failure; `end` is
 * then the reason. */
#define STEP_STOPS UINT32_MAX
uint32_t layout_run_silent_step(const struct step *step, struct layout_cursor *run,
                                struct layout_loops *loops, enum layout_status *end);

/* Returns the size in bytes of a LEB128 number, or 0 if it does not end before `end`. */
size_t layout_count_leb_bytes(const uint8_t *p, const uint8_t *end);

/* Decodes a LEB128 number of n bytes. Returns false if the value has more than 64 bits. */
bool layout_decode_leb(const uint8_t *p, size_t n, bool is_signed, uint64_t *value);

/* Location of a value that needs more work than a load. The caller copies the field's template
 * before it decodes the value. */
struct value_source {
    const struct step *step;
    const uint8_t *base;
    /* bit offsets from `base`: first bit of the value, and end of the readable bits */
    uint64_t at, end;
    struct arena *scratch; /* memory for converted values; may be NULL */
};
void layout_get_enum_value(const struct value_source *source, ttr_value *value);
void layout_get_leb_value(const struct value_source *source, size_t n, ttr_value *value);

/* Decodes a fixed-size value by its step code: float, bool, flags, integer of more than 64 bits,
 * text of wide characters, or bytes. */
void layout_get_fixed_value(const struct value_source *source, ttr_value *value);

/* Decodes a text of 2- or 4-byte characters up to a zero. Returns its size in bytes without the
 * zero, or SIZE_MAX without a zero. */
size_t layout_get_wide_string(const struct value_source *source, ttr_value *value);

/* Decodes n bytes of 2- or 4-byte characters; the text ends before the first zero. */
void layout_get_wide_text(const struct value_source *source, size_t n, ttr_value *value);

/* Returns the size in bytes of a text before its zero, in characters of `unit` bytes. Returns
 * SIZE_MAX without a zero before `end`. */
size_t layout_count_wide_bytes(const uint8_t *p, const uint8_t *end, unsigned unit);

/* Keeps rare cases out of line, so that the common path needs no stack frame. */
#define OUT_OF_LINE __attribute__((noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Program of an ended iteration: op points at [0], so that the next step is always FIELD_END. */
extern const struct op layout_iter_over[2];

/* Compiles `n` steps of an iterator's program into a fast program. The steps must not align to more
 * than 8 bits. Returns NULL if memory runs out. */
struct fast_program *fast_program_compile(struct arena *arena, const struct op *ops, size_t n);

/* Implements field_ops.decode_cached (decode all fields into the cache) for layout_field_ops. */
uint32_t layout_fields_decode_cached(ttr_fields *fields, struct field_cache *cache);

/* Writes array elements into fields that do not yet have the elements' name and type. The caller
 * has checked that the bytes exist. `op` is one of the two steps for elements. */
void layout_write_elements(const struct op *op, const uint8_t *p, ttr_field *field, uint32_t n);

/* Returns the address of the record in the event's payload. Returns NULL if the record is not in
 * the payload or the iteration has started. */
static inline const uint8_t *fast_record_start(const ttr_fields *fields)
{
    const struct layout_iter *iter = (const struct layout_iter *)fields->state;
    const ttr_event *event = fields->event;
    const uint64_t unbegun = iter->unbegun, body = event->body & (unbegun >> LAYOUT_MASK_SHIFT);
    return unbegun & LAYOUT_IN_PAYLOAD && body % 8 == 0 && body >> 3 <= event->payload_size
               ? event->payload + (body >> 3)
               : NULL;
}

/* Copies a field with four vector moves. Compilers emit slower scalar moves for a struct
 * assignment. */
static inline void step_copy_field(ttr_field *to, const ttr_field *from)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    _Static_assert(sizeof(ttr_field) == 4 * sizeof(lanes), "a field is four vectors");
    const lanes *source = (const lanes *)from;
    lanes *part = (lanes *)to;
    part[0] = source[0], part[1] = source[1], part[2] = source[2], part[3] = source[3];
}

/* Loads the number of elements or bytes of a step from the bytes before p. Also stores the number
 * in its slot, for the field iterator if the fast path ends later. */
static inline uint64_t fast_element_count(const struct op *op, const struct fast_step *step,
                                          const uint8_t *p, struct layout_iter *iter)
{
    if (op->step.flags & STEP_FIXED)
        return op->step.count;
    return iter->run.slots[step->slot] = load_whole_number((enum load)step->load, p - step->back);
}

static inline void step_set_text(ttr_value *value, const uint8_t *base, const uint8_t *p, size_t n)
{
    const uint8_t *zero = find_zero(base, p, p + n);
    value->text = (ttr_text){(const char *)p, zero ? (size_t)(zero - p) : n};
}

/* Resets an iteration to the start of its program. The caller has set run.bits and stored the
 * numbers of layout_imports in run.slots. */
static inline void layout_iter_reset(struct layout_iter *iter, const struct layout *layout,
                                     const struct op *program)
{
    struct bits *bits = &iter->run.bits;
    uint64_t at = (bits->at + layout->start_mask) & ~layout->start_mask;
    iter->unbegun = 0;
    iter->program = program;
    iter->run.absent = layout->absent;
    iter->run.spins = 0;
    iter->run.order = ORDER_ANY;
    iter->loops.depth = 0;
    iter->end = LAYOUT_OK;
    iter->op = program;
    if (UNLIKELY(at > bits->end)) {
        iter->end = LAYOUT_TRUNCATED;
        iter->op = layout_iter_over;
        return;
    }
    bits->at = at;
}

#endif
