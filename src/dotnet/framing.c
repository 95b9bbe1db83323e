/* Walks over a stream by the sizes in it; see the header. */
#include "dotnet/framing.h"

#include <string.h>

#include "base/endian.h"

#define TRACE_BYTES 48u /* payload of the object "Trace", which has no size */
#define TAG_END 1u
#define TAG_OBJECT 4u /* of netperf; 5 of nettrace */
#define TAG_CLOSE 6u
#define TYPE_BYTES                                                                              \
    15u /* of an object: its tag, that of its type, a null tag, two versions, the length of the \
           name */
#define MAGIC_BYTES 8u
#define HEAD6_BYTES 12u /* of nettrace 6, behind its magic: 0, version, minor version */
#define VERSION6 6u

static const char serialization[] = "!FastSerialization.1";

#define SERIALIZATION_BYTES (sizeof serialization - 1)

static void want(struct framing *framing, enum framing_place place, uint32_t n)
{
    framing->place = place;
    framing->want = n;
    framing->part_n = 0;
}

void framing_init(struct framing *framing)
{
    *framing = (struct framing){0};
    want(framing, FRAMING_MAGIC, MAGIC_BYTES);
}

/* "Nettrace" has either head behind it; netperf begins with the length of the second. */
static void read_magic(struct framing *framing)
{
    if (memcmp(framing->part, "Nettrace", MAGIC_BYTES) == 0)
        want(framing, FRAMING_HEAD, HEAD6_BYTES);
    else if (load_u32le(framing->part) == SERIALIZATION_BYTES &&
             memcmp(framing->part + 4, serialization, 4) == 0)
        want(framing, FRAMING_HEAD, (uint32_t)SERIALIZATION_BYTES - 4);
    else
        want(framing, FRAMING_UNKNOWN, 0);
}

/* Whether the text of the head is right; of netperf its begin was looked at already. */
static bool has_serialization(const struct framing *framing)
{
    const uint32_t n =
        framing->want < SERIALIZATION_BYTES ? framing->want : (uint32_t)SERIALIZATION_BYTES;
    return memcmp(framing->part + framing->want - n, serialization + SERIALIZATION_BYTES - n, n) ==
           0;
}

static void read_head(struct framing *framing)
{
    bool is_first = framing->want == HEAD6_BYTES;
    if (is_first && load_u32le(framing->part) == 0 && load_u32le(framing->part + 4) == VERSION6) {
        framing->whole = framing->at;
        want(framing, FRAMING_BLOCK, 4);
    } else if (is_first && load_u32le(framing->part) == SERIALIZATION_BYTES) {
        /* The bytes that are here already are its begin. */
        framing->want = (uint32_t)SERIALIZATION_BYTES + 4;
    } else if (!is_first && has_serialization(framing)) {
        framing->whole = framing->at;
        want(framing, FRAMING_TAG, 1);
    } else {
        want(framing, FRAMING_UNKNOWN, 0);
    }
}

static void read_name(struct framing *framing)
{
    static const char trace[] = "Trace";
    bool is_trace =
        framing->want == sizeof trace && memcmp(framing->part, trace, sizeof trace - 1) == 0;
    if (framing->part[framing->want - 1] != TAG_CLOSE) {
        want(framing, FRAMING_UNKNOWN, 0);
    } else if (is_trace) {
        framing->skip = TRACE_BYTES;
        want(framing, FRAMING_CLOSE, 1);
    } else {
        want(framing, FRAMING_SIZE, 4);
    }
}

static void read_type(struct framing *framing)
{
    uint32_t name_n = load_u32le(framing->part + 11);
    bool is_object = framing->part[1] == framing->part[0] && framing->part[2] == TAG_END;
    bool is_fine = is_object && name_n > 0 && name_n < FRAMING_PART;
    want(framing, is_fine ? FRAMING_NAME : FRAMING_UNKNOWN, is_fine ? name_n + 1 : 0);
}

static void read_block(struct framing *framing)
{
    uint32_t head = load_u32le(framing->part);
    bool is_end = head >> 24 == 0;
    framing->whole = is_end ? framing->at : framing->at - 4;
    framing->skip = head & 0xffffff;
    want(framing, is_end ? FRAMING_OVER : FRAMING_BLOCK, 4);
}

static void read_tag(struct framing *framing)
{
    uint8_t tag = framing->part[0];
    if (tag == TAG_END) {
        framing->whole = framing->at;
        want(framing, FRAMING_OVER, 0);
    } else {
        /* The tag stays: that of the type is the same. */
        bool is_object = tag == TAG_OBJECT || tag == TAG_OBJECT + 1;
        framing->place = is_object ? FRAMING_TYPE : FRAMING_UNKNOWN;
        framing->want = is_object ? TYPE_BYTES : 0;
    }
}

/* A part is complete: what comes next? */
static void read_part(struct framing *framing)
{
    switch (framing->place) {
    case FRAMING_MAGIC:
        read_magic(framing);
        break;
    case FRAMING_HEAD:
        read_head(framing);
        break;
    case FRAMING_TAG:
        read_tag(framing);
        break;
    case FRAMING_TYPE:
        read_type(framing);
        break;
    case FRAMING_NAME:
        read_name(framing);
        break;
    case FRAMING_SIZE: /* the payload begins at a multiple of 4 */
        framing->skip = load_u32le(framing->part) + ((4 - framing->at % 4) & 3);
        want(framing, FRAMING_CLOSE, 1);
        break;
    case FRAMING_CLOSE:
        if (framing->part[0] == TAG_CLOSE)
            framing->whole = framing->at;
        want(framing, framing->part[0] == TAG_CLOSE ? FRAMING_TAG : FRAMING_UNKNOWN, 1);
        break;
    default:
        read_block(framing);
        break;
    }
}

void framing_pass(struct framing *framing, const uint8_t *bytes, size_t n)
{
    uint64_t end = framing->at + n;
    const uint8_t *p = bytes;
    while (framing->at < end && framing->place != FRAMING_UNKNOWN &&
           framing->place != FRAMING_OVER) {
        uint64_t left = end - framing->at, step = framing->skip < left ? framing->skip : left;
        if (step == 0) {
            step = framing->want - framing->part_n;
            step = step < left ? step : left;
            memcpy(framing->part + framing->part_n, p, (size_t)step);
            framing->part_n += (uint32_t)step;
        } else {
            framing->skip -= step;
        }
        p += step;
        framing->at += step;
        if (framing->skip == 0 && framing->part_n == framing->want)
            read_part(framing);
    }
    framing->at = end;
}
