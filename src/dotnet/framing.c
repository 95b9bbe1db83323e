/* State machine of the block scanner; framing.h describes it. */
#include "dotnet/framing.h"

#include <string.h>

#include "base/endian.h"

/* payload size of the object "Trace", the only one without a stored size */
#define TRACE_BYTES 48u
#define TAG_END 1u
#define TAG_OBJECT 4u /* tag of an object in netperf; in nettrace it is 5 */
#define TAG_CLOSE 6u
/* size of the fields before an object's name: object tag, type tag, null tag, two versions, length
 * of the name */
#define TYPE_BYTES 15u
#define MAGIC_BYTES 8u
/* nettrace 6, after the magic: [0..3] 0 | [4..7] version | [8..11] minor version */
#define HEAD6_BYTES 12u
#define VERSION6 6u

static const char serialization[] = "!FastSerialization.1";

#define SERIALIZATION_BYTES (sizeof serialization - 1)

static void expect_framing_field(struct framing *framing, enum framing_state state, uint32_t n)
{
    framing->state = state;
    framing->field_n = n;
    framing->part_n = 0;
}

void framing_init(struct framing *framing)
{
    *framing = (struct framing){0};
    expect_framing_field(framing, FRAMING_MAGIC, MAGIC_BYTES);
}

/* "Nettrace" starts nettrace 4 and 6. netperf starts with the length of the string
 * "!FastSerialization.1". */
static void parse_magic(struct framing *framing)
{
    if (memcmp(framing->part, "Nettrace", MAGIC_BYTES) == 0)
        expect_framing_field(framing, FRAMING_HEAD, HEAD6_BYTES);
    else if (load_u32le(framing->part) == SERIALIZATION_BYTES &&
             memcmp(framing->part + 4, serialization, 4) == 0)
        expect_framing_field(framing, FRAMING_HEAD, (uint32_t)SERIALIZATION_BYTES - 4);
    else {
        framing->is_foreign = true;
        expect_framing_field(framing, FRAMING_UNKNOWN, 0);
    }
}

/* Returns true if the collected bytes end with the serialization string. In netperf, the magic
 * includes the first 4 characters of it. */
static bool has_serialization(const struct framing *framing)
{
    const uint32_t n =
        framing->field_n < SERIALIZATION_BYTES ? framing->field_n : (uint32_t)SERIALIZATION_BYTES;
    return memcmp(framing->part + framing->field_n - n, serialization + SERIALIZATION_BYTES - n,
                  n) == 0;
}

static void parse_file_head(struct framing *framing)
{
    bool is_first = framing->field_n == HEAD6_BYTES;
    if (is_first && load_u32le(framing->part) == 0 && load_u32le(framing->part + 4) == VERSION6) {
        framing->complete_end = framing->at;
        expect_framing_field(framing, FRAMING_BLOCK, 4);
    } else if (is_first && load_u32le(framing->part) == SERIALIZATION_BYTES) {
        /* In nettrace 4 the 12 bytes are the start of a longer header. They stay in `part`, and the
         * rest is collected. */
        framing->field_n = (uint32_t)SERIALIZATION_BYTES + 4;
    } else if (!is_first && has_serialization(framing)) {
        framing->complete_end = framing->at;
        expect_framing_field(framing, FRAMING_TAG, 1);
    } else {
        expect_framing_field(framing, FRAMING_UNKNOWN, 0);
    }
}

static void parse_type_name(struct framing *framing)
{
    static const char trace[] = "Trace";
    bool is_trace =
        framing->field_n == sizeof trace && memcmp(framing->part, trace, sizeof trace - 1) == 0;
    if (framing->part[framing->field_n - 1] != TAG_CLOSE) {
        expect_framing_field(framing, FRAMING_UNKNOWN, 0);
    } else if (is_trace) {
        framing->skip = TRACE_BYTES;
        expect_framing_field(framing, FRAMING_CLOSE, 1);
    } else {
        expect_framing_field(framing, FRAMING_SIZE, 4);
    }
}

static void parse_type(struct framing *framing)
{
    uint32_t name_n = load_u32le(framing->part + 11);
    bool is_object = framing->part[1] == framing->part[0] && framing->part[2] == TAG_END;
    bool is_fine = is_object && name_n > 0 && name_n < FRAMING_FIELD_MAX;
    expect_framing_field(framing, is_fine ? FRAMING_NAME : FRAMING_UNKNOWN,
                         is_fine ? name_n + 1 : 0);
}

static void parse_block_head(struct framing *framing)
{
    uint32_t head = load_u32le(framing->part);
    bool is_end = head >> 24 == 0;
    framing->complete_end = is_end ? framing->at : framing->at - 4;
    framing->skip = head & 0xffffff;
    expect_framing_field(framing, is_end ? FRAMING_OVER : FRAMING_BLOCK, 4);
}

static void parse_tag(struct framing *framing)
{
    uint8_t tag = framing->part[0];
    if (tag == TAG_END) {
        framing->complete_end = framing->at;
        expect_framing_field(framing, FRAMING_OVER, 0);
    } else {
        /* part_n is not reset: the collected byte is the first of the type field. */
        bool is_object = tag == TAG_OBJECT || tag == TAG_OBJECT + 1;
        framing->state = is_object ? FRAMING_TYPE : FRAMING_UNKNOWN;
        framing->field_n = is_object ? TYPE_BYTES : 0;
    }
}

/* Interprets the field that is complete in `part`, and selects the next state. */
static void parse_field(struct framing *framing)
{
    switch (framing->state) {
    case FRAMING_MAGIC:
        parse_magic(framing);
        break;
    case FRAMING_HEAD:
        parse_file_head(framing);
        break;
    case FRAMING_TAG:
        parse_tag(framing);
        break;
    case FRAMING_TYPE:
        parse_type(framing);
        break;
    case FRAMING_NAME:
        parse_type_name(framing);
        break;
    case FRAMING_SIZE: /* payloads are aligned to 4 bytes, counted from the start of the stream */
        framing->skip = load_u32le(framing->part) + ((4 - framing->at % 4) & 3);
        expect_framing_field(framing, FRAMING_CLOSE, 1);
        break;
    case FRAMING_CLOSE:
        if (framing->part[0] == TAG_CLOSE)
            framing->complete_end = framing->at;
        expect_framing_field(framing, framing->part[0] == TAG_CLOSE ? FRAMING_TAG : FRAMING_UNKNOWN,
                             1);
        break;
    default:
        parse_block_head(framing);
        break;
    }
}

void framing_scan(struct framing *framing, const uint8_t *bytes, size_t n)
{
    uint64_t end = framing->at + n;
    const uint8_t *p = bytes;
    while (framing->at < end && framing->state != FRAMING_UNKNOWN &&
           framing->state != FRAMING_OVER) {
        uint64_t left = end - framing->at, step = framing->skip < left ? framing->skip : left;
        if (step == 0) {
            step = framing->field_n - framing->part_n;
            step = step < left ? step : left;
            memcpy(framing->part + framing->part_n, p, (size_t)step);
            framing->part_n += (uint32_t)step;
        } else {
            framing->skip -= step;
        }
        p += step;
        framing->at += step;
        if (framing->skip == 0 && framing->part_n == framing->field_n)
            parse_field(framing);
    }
    framing->at = end;
}
