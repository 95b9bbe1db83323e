/* Walking over attributes without looking at their values: the hot part of reading, so it is
 * inline.
 *
 * The original writer compiles arrays of arrays though the format has none: the type byte is that
 * of a flat array, each row has its own count.  Such a packet does not add up when read flat, but
 * does when one or more of its arrays are read with two or three levels: heph_find_nesting tries.
 */
#ifndef TRACETTA_FORMATS_HEPH_ATTRIBUTES_H
#define TRACETTA_FORMATS_HEPH_ATTRIBUTES_H

#include "base/cursor.h"
#include "formats/heph/heph_format.h"

#define HEPH_LEVELS_MAX 3u   /* arrays in arrays in arrays */
#define HEPH_NESTING_MAX 32u /* arrays of one event that may be nested; later ones are flat */

/* How many levels each of the first arrays of an event has, less one: two bits an array, the first
 * lowest. */
struct heph_nesting {
    uint64_t levels;
    uint64_t work; /* values the search may still look at */
};

static inline unsigned heph_nesting_levels(const struct heph_nesting *nesting, unsigned array)
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

/* Skips a value of a type; false where it is not whole or the type is none. */
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

/* Skips one attribute. */
static inline bool heph_skip_attribute(struct cursor *c)
{
    return cursor_skip(c, cursor_u16be(c)) && heph_skip_value(c, cursor_u8(c));
}

/* Skips all attributes; true where they fill the cursor exactly. */
static inline bool heph_skip_attributes(struct cursor *c)
{
    while (cursor_left(c))
        if (!heph_skip_attribute(c))
            return false;
    return true;
}

/* True where description and attributes of an event packet fill its size exactly; the size is at
 * least that of the header, whose last two bytes are the description's length. */
static inline bool heph_event_is_exact(const uint8_t *packet, uint32_t size, uint32_t header)
{
    struct cursor c = cursor_over(packet + header, size - header, 0);
    return cursor_skip(&c, load_u16be(packet + header - 2)) && heph_skip_attributes(&c);
}

/* Finds a reading with nested arrays that fills the cursor exactly. */
bool heph_find_nesting(struct cursor c, struct heph_nesting *nesting);

#endif
