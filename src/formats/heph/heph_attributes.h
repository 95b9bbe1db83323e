/* Skips attributes without decoding their values. Inline, because reading spends most of its time
 * here.
 *
 * The format has no arrays of arrays, but the original writer can emit them: the type byte is that
 * of a flat array, and each row has its own count. Such a packet does not fill its size if read as
 * flat arrays, but does if some arrays are read with two or three levels. heph_find_array_nesting
 * searches for such a reading. */
#ifndef TRACETTA_FORMATS_HEPH_ATTRIBUTES_H
#define TRACETTA_FORMATS_HEPH_ATTRIBUTES_H

#include "base/cursor.h"
#include "formats/heph/heph_format.h"

/* maximum number of nesting levels: arrays in arrays in arrays */
#define HEPH_LEVELS_MAX 3u
/* maximum number of arrays in an event that may be nested; further arrays are read as flat */
#define HEPH_NESTING_MAX 32u

/* Nesting of the arrays in an event. `levels` has two bits for each array, beginning in the lowest
 * bits: the number of its levels - 1. */
struct heph_nesting {
    uint64_t levels;
    /* number of values that the search for a nesting may still examine */
    uint64_t work;
};

static inline unsigned heph_get_array_levels(const struct heph_nesting *nesting, unsigned array)
{
    return array < HEPH_NESTING_MAX ? (unsigned)(nesting->levels >> (2 * array) & 3) + 1 : 1;
}

static inline bool heph_skip_strings(struct cursor *c, uint32_t n)
{
    while (n--)
        if (!cursor_skip(c, cursor_u16be(c)) || c->failed)
            return false;
    return true;
}

/* Skips the value of an attribute of this type. Returns false if the type is unknown or the value
 * is truncated. */
static inline bool heph_skip_value(struct cursor *c, uint8_t type)
{
    switch (type) {
    case HEPH_TYPE_UINT:
    case HEPH_TYPE_INT:
    case HEPH_TYPE_FLOAT:
        return cursor_skip(c, 8);
    case HEPH_TYPE_TEXT:
        return cursor_skip(c, cursor_u16be(c)) && !c->failed;
    case HEPH_TYPE_ARRAY | HEPH_TYPE_UINT:
    case HEPH_TYPE_ARRAY | HEPH_TYPE_INT:
    case HEPH_TYPE_ARRAY | HEPH_TYPE_FLOAT:
        return cursor_skip(c, (uint64_t)cursor_u16be(c) * 8) && !c->failed;
    case HEPH_TYPE_ARRAY | HEPH_TYPE_TEXT:
        return heph_skip_strings(c, cursor_u16be(c)) && !c->failed;
    default:
        return false;
    }
}

/* Skips an attribute: name, type and value. Returns false if the type is unknown or the value is
 * truncated. */
static inline bool heph_skip_attribute(struct cursor *c)
{
    return cursor_skip(c, cursor_u16be(c)) && heph_skip_value(c, cursor_u8(c));
}

/* Skips all attributes. Returns true if they end exactly at the end of the cursor. */
static inline bool heph_skip_attributes(struct cursor *c)
{
    while (cursor_left(c))
        if (!heph_skip_attribute(c))
            return false;
    return true;
}

/* Returns true if description and attributes fill an event packet exactly. `size` must be at least
 * `header`, the size of the header, of which the last two bytes are the description's length. */
static inline bool heph_is_valid_event(const uint8_t *packet, uint32_t size, uint32_t header)
{
    struct cursor c = cursor_init(packet + header, size - header, 0);
    return cursor_skip(&c, load_u16be(packet + header - 2)) && heph_skip_attributes(&c);
}

/* Searches for a nesting of the arrays with which the attributes end exactly at the end of the
 * cursor. Returns false if there is none. */
bool heph_find_array_nesting(struct cursor c, struct heph_nesting *nesting);

#endif
