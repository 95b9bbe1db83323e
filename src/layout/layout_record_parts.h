/* Record parts: the fields of a record as a list that writers can format as text without creating
 * values. Converted from the layout's fast program (layout_decode_fast.c).
 *
 * A fixed-size part is `at` bytes after the end of the last variable-size part, or after the
 * record's start; its bytes are known to exist. A variable-size part starts there, and `reach`
 * bytes must exist after it, up to the next variable-size part. If these bytes are missing, or a
 * part is otherwise invalid, the caller uses ttr_fields, which returns the readable fields.
 *
 * Ownership: parts point into the layout and are valid as long as their schema. Thread rule:
 * immutable. */
#ifndef TRACETTA_LAYOUT_LAYOUT_RECORD_PARTS_H
#define TRACETTA_LAYOUT_LAYOUT_RECORD_PARTS_H

#include "base/endian.h"
#include "layout/layout.h"

/* How a number is loaded. All but LOAD_BITS load whole bytes at a byte boundary. */
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
    /* Fixed-size parts. */
    LAYOUT_PART_READY,  /* a field without a value to load: struct or null */
    LAYOUT_PART_NUMBER, /* a number that `load` loads */
    LAYOUT_PART_SINGLE, /* a 4-byte float that `load` loads */
    /* a number with labels that `load` loads; layout_decode_part looks up the label */
    LAYOUT_PART_ENUM,
    LAYOUT_PART_TEXT,  /* a text of `count` bytes, or up to its first zero */
    LAYOUT_PART_STILL, /* any other fixed-size field, for layout_decode_part */
    /* Variable-size parts. */
    LAYOUT_PART_STRING, /* a text up to its terminating zero */
    /* a text that only fixed-size parts follow; its zero is `reach` + 1 bytes before the record's
     * end */
    LAYOUT_PART_LAST_STRING,
    LAYOUT_PART_COUNTED_TEXT, /* a text with a stored size in bytes, or up to its first zero */
    /* an array of numbers, one every `stride` bytes, each loaded by `element_load`; `load` loads
     * the element count, unless the count is fixed */
    LAYOUT_PART_ELEMENTS
};

struct layout_part {
    uint8_t kind; /* enum layout_part_kind */
    /* enum load of the number, of the text size or of the element count; LOAD_COUNT: the element
     * count is fixed (`count`) */
    uint8_t load;
    uint8_t back;             /* bytes from the stored size or count to the data */
    uint8_t element_load;     /* enum load of each element */
    bool has_single_elements; /* the elements are 4-byte floats */
    uint32_t at, reach;
    /* distance of the elements in bytes; number of bytes by which the last element is shorter */
    uint32_t stride, gap;
    uint64_t count;
    const ttr_field *field;   /* template of the field, complete except for the value */
    const ttr_field *element; /* template of the elements' fields */
    const struct op *op;
};

/* Lists the parts of a schema's records; the last is LAYOUT_PART_END. Sets `reach` to the number of
 * bytes that must exist before the first variable-size part. Returns the number of parts, or 0 if
 * the fast program cannot decode the records or there are more than `room` parts. */
uint32_t layout_list_parts(const struct schema *schema, struct layout_part *part, uint32_t room,
                           uint32_t *reach);

/* Location of a record in the payload of its event. */
struct layout_record {
    /* first readable byte, start of the record, end of the payload */
    const uint8_t *base, *begin, *end;
    struct arena *scratch;
};

/* Locates the record of an event with a schema of parts. Returns false if it does not start at a
 * byte boundary in the payload. */
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

/* Decodes the value of a fixed-size part at address `at`. */
void layout_decode_part(const struct layout_part *part, const struct layout_record *record,
                        const uint8_t *at, ttr_value *value);

/* Loads a number of whole bytes; `load` is not LOAD_BITS. */
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
