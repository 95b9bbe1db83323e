/* Records as lists of parts: what the straight way (layout_decode_fast.c) goes through, for writers
 * that make text of a record without values in between.
 *
 * A part that stands still lies `at` bytes behind where the last moving one stopped, or behind the
 * record's begin, and is known to be there.  One that moves begins there; behind it, `reach` bytes
 * must be there up to the next one that moves.  Where they are not, or a part is otherwise not as
 * it should be, the record is to be walked (ttr_fields), which knows what is left of it. Ownership:
 * parts point into the layout; they are good while their schema has them (layout_parts_are). Thread
 * rule: immutable. */
#ifndef TRACETTA_LAYOUT_LAYOUT_RECORD_PARTS_H
#define TRACETTA_LAYOUT_LAYOUT_RECORD_PARTS_H

#include "base/endian.h"
#include "layout/layout.h"

/* How a number is read.  Those of whole bytes lie at a byte; the others are read bit by bit. */
enum load {
    LOAD_U8,
    LOAD_U16LE,
    LOAD_U32LE,
    LOAD_U64LE,
    LOAD_U16BE,
    LOAD_U32BE,
    LOAD_U64BE,
    LOAD_S8,
    LOAD_S16LE,
    LOAD_S32LE,
    LOAD_S16BE,
    LOAD_S32BE,
    LOAD_BITS,
    LOAD_COUNT
};

enum layout_part_kind {
    LAYOUT_PART_END, /* of the record */
    /* Stand still. */
    LAYOUT_PART_READY,  /* the field needs no value: structures, nulls */
    LAYOUT_PART_NUMBER, /* read by `load` */
    LAYOUT_PART_SINGLE, /* a float of four bytes, read by `load` */
    LAYOUT_PART_ENUM,  /* a number with names, read by `load`; layout_decode_part knows the names */
    LAYOUT_PART_TEXT,  /* of `count` bytes, or up to its first zero */
    LAYOUT_PART_STILL, /* all else: layout_decode_part */
    /* Move. */
    LAYOUT_PART_STRING,       /* up to a zero */
    LAYOUT_PART_LAST_STRING,  /* the same with only fixed parts behind it: up to `reach` + 1 bytes
                                 before the record's end, where its zero is */
    LAYOUT_PART_COUNTED_TEXT, /* of `count` bytes at most, or up to its first zero */
    LAYOUT_PART_ELEMENTS      /* `count` numbers, every `stride` bytes, read by `element_load` */
};

struct layout_part {
    uint8_t kind; /* enum layout_part_kind */
    uint8_t load; /* enum load; of parts that count: of the number that is the count, LOAD_COUNT
                     where `count` is it */
    uint8_t back; /* that number lies so many bytes before the part */
    uint8_t element_load;     /* enum load */
    bool has_single_elements; /* floats of four bytes */
    uint32_t at, reach;
    uint32_t stride, gap; /* `gap`: bytes of the last stride that are not there */
    uint64_t count;
    const ttr_field *field;   /* ready but for its value */
    const ttr_field *element; /* the same of the elements */
    const struct op *op;
};

/* The parts of a schema's records and how many bytes must be there up to the first one that moves;
 * gives how many parts, the last being END.  0: the records cannot be taken so, or have more than
 * `room` parts. */
uint32_t layout_list_parts(const struct schema *schema, struct layout_part *part, uint32_t room,
                           uint32_t *reach);

/* A record in its event's payload. */
struct layout_record {
    const uint8_t *base, *begin, *end; /* bytes from `base` on may be looked at */
    struct arena *scratch;
};

/* The record of an event of a schema that has parts; false where it does not begin at a byte of the
 * payload. */
static inline bool layout_locate_record(const struct schema *schema, const ttr_event *event,
                                        struct layout_record *record)
{
    const uint64_t body = event->body & (schema->start_with >> LAYOUT_MASK_SHIFT);
    record->base = event->payload;
    record->begin = event->payload + (body >> 3);
    record->end = event->payload + event->payload_size;
    record->scratch = ((const struct layout_schema *)schema->ctx)->scratch;
    return body % 8 == 0 && body >> 3 <= event->payload_size;
}

/* The value of a number, or of a part that stands still and has no other kind, at a place of the
 * record. */
void layout_decode_part(const struct layout_part *part, const struct layout_record *record,
                        const uint8_t *at, ttr_value *value);

/* A number of whole bytes at a byte. */
static inline uint64_t load_whole_number(enum load load, const uint8_t *p)
{
    switch (load) {
    case LOAD_U8:
        return *p;
    case LOAD_U16LE:
        return load_u16le(p);
    case LOAD_U32LE:
        return load_u32le(p);
    case LOAD_U64LE:
        return load_u64le(p);
    case LOAD_U16BE:
        return load_u16be(p);
    case LOAD_U32BE:
        return load_u32be(p);
    case LOAD_U64BE:
        return load_u64be(p);
    case LOAD_S8:
        return (uint64_t)(int8_t)*p;
    case LOAD_S16LE:
        return (uint64_t)(int16_t)load_u16le(p);
    case LOAD_S32LE:
        return (uint64_t)(int32_t)load_u32le(p);
    case LOAD_S16BE:
        return (uint64_t)(int16_t)load_u16be(p);
    case LOAD_S32BE:
        return (uint64_t)(int32_t)load_u32be(p);
    default:
        return 0;
    }
}

static inline double load_float32(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

#endif
