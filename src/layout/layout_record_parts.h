/* Record parts: the fast program of a layout (layout_decode_fast.c) as a list, for writers that
 * format a record as text without creating values.
 *
 * A fixed part is `at` bytes after the end of the last variable part (or after the record's start),
 * and its bytes are known to exist. A variable part starts there; `reach` bytes must exist after
 * it, up to the next variable part. If they do not, or a part is otherwise invalid, the caller
 * iterates over the record by ttr_fields, which returns the readable rest.
 *
 * Ownership: parts point into the layout and are valid as long as their schema. Thread rule:
 * immutable. */
#ifndef TRACETTA_LAYOUT_LAYOUT_RECORD_PARTS_H
#define TRACETTA_LAYOUT_LAYOUT_RECORD_PARTS_H

#include "base/endian.h"
#include "layout/layout.h"

/* How a number is loaded. All but LOAD_BITS are whole bytes at a byte boundary. */
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
    LAYOUT_PART_END, /* end of the record */
    /* Fixed parts. */
    LAYOUT_PART_READY,  /* the field has no value to load: structures, nulls */
    LAYOUT_PART_NUMBER, /* loaded by `load` */
    LAYOUT_PART_SINGLE, /* a 4-byte float, loaded by `load` */
    /* a number with labels, loaded by `load`; layout_decode_part looks up the label */
    LAYOUT_PART_ENUM,
    LAYOUT_PART_TEXT,  /* `count` bytes, or up to the first zero */
    LAYOUT_PART_STILL, /* any other; use layout_decode_part */
    /* Variable parts. */
    LAYOUT_PART_STRING, /* up to a zero */
    /* a string followed by fixed parts only: its zero is `reach` + 1 bytes before the record's end
     */
    LAYOUT_PART_LAST_STRING,
    LAYOUT_PART_COUNTED_TEXT, /* at most as many bytes as its count, or up to the first zero */
    /* numbers every `stride` bytes, loaded by `element_load`; the count is `count` or loaded by
     * `load` */
    LAYOUT_PART_ELEMENTS
};

struct layout_part {
    uint8_t kind; /* enum layout_part_kind */
    /* enum load; in counted parts: load of the count, or LOAD_COUNT if `count` is the count */
    uint8_t load;
    uint8_t back;             /* bytes from the count to the part */
    uint8_t element_load;     /* enum load */
    bool has_single_elements; /* elements are 4-byte floats */
    uint32_t at, reach;
    uint32_t stride, gap; /* `gap`: bytes that the last stride lacks */
    uint64_t count;
    const ttr_field *field;   /* prepared but for its value */
    const ttr_field *element; /* prepared field of the elements */
    const struct op *op;
};

/* Lists the parts of a schema's records; the last is END. `reach`: bytes that must exist up to the
 * first variable part. Returns the number of parts, or 0 if the fast program cannot decode the
 * records or there are more than `room` parts. */
uint32_t layout_list_parts(const struct schema *schema, struct layout_part *part, uint32_t room,
                           uint32_t *reach);

/* A record in its event's payload. */
struct layout_record {
    const uint8_t *base, *begin, *end; /* bytes from `base` on are readable */
    struct arena *scratch;
};

/* Locates the record of an event whose schema has parts. Returns false if it does not start at a
 * byte of the payload. */
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

/* Decodes the value of a number or of a fixed part at address `at`. */
void layout_decode_part(const struct layout_part *part, const struct layout_record *record,
                        const uint8_t *at, ttr_value *value);

/* Loads a number of whole bytes. */
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
