/* Reads numbers of 1 to 64 bits at any bit position.  If 8 bytes remain from the byte of the first
 * bit, they are loaded at once (plus a ninth if the number extends beyond them).  Near the end,
 * bytes are loaded one by one, so that no byte after the end is read. */
#include "base/bit_cursor.h"

/* Advances by `width` bits and stores the old position.  Returns false and sets `failed` if fewer
 * bits remain or width > 64; a width of 0 returns false without failure. */
static inline bool reserve_bits(struct bits *bits, unsigned width, uint64_t *at)
{
    *at = bits->at;
    if (width - 1 >= 64 || width > bits_left(bits)) {
        bits->failed |= width != 0;
        return false;
    }
    bits->at += width;
    return true;
}

static inline uint64_t low_bits(uint64_t x, unsigned width)
{
    return x & UINT64_MAX >> (64 - width);
}

uint64_t bits_read_le(struct bits *bits, unsigned width)
{
    uint64_t at, x = 0;
    if (!reserve_bits(bits, width, &at))
        return 0;
    const uint8_t *p = bits->base + (at >> 3);
    unsigned shift = at & 7, bytes = (shift + width + 7) / 8;
    if ((bits->end - (at & ~UINT64_C(7))) >= 64)
        x = load_u64le(p);
    else
        for (unsigned i = 0; i < bytes && i < 8; i++)
            x |= (uint64_t)p[i] << 8 * i;
    x >>= shift;
    if (bytes > 8)
        x |= (uint64_t)p[8] << (64 - shift);
    return low_bits(x, width);
}

uint64_t bits_read_be(struct bits *bits, unsigned width)
{
    uint64_t at, x = 0;
    if (!reserve_bits(bits, width, &at))
        return 0;
    const uint8_t *p = bits->base + (at >> 3);
    unsigned shift = at & 7, bytes = (shift + width + 7) / 8;
    if ((bits->end - (at & ~UINT64_C(7))) >= 64)
        x = load_u64be(p);
    else
        for (unsigned i = 0; i < bytes && i < 8; i++)
            x |= (uint64_t)p[i] << (56 - 8 * i);
    x <<= shift;
    if (bytes > 8)
        x |= p[8] >> (8 - shift);
    return x >> (64 - width);
}

uint64_t bits_reverse(uint64_t x, unsigned width)
{
    const uint64_t odd = UINT64_C(0x5555555555555555), pairs = UINT64_C(0x3333333333333333),
                   nibbles = UINT64_C(0x0f0f0f0f0f0f0f0f);
    if (width == 0)
        return 0;
    x = (x & odd) << 1 | (x >> 1 & odd);
    x = (x & pairs) << 2 | (x >> 2 & pairs);
    x = (x & nibbles) << 4 | (x >> 4 & nibbles);
    return __builtin_bswap64(x) >> (64 - width);
}
