/* Loads and stores of integers in a given byte order, at any alignment. Each memcpy compiles to one
 * load or store; pointer casts would violate alignment and aliasing rules. */
#ifndef TRACETTA_BASE_ENDIAN_H
#define TRACETTA_BASE_ENDIAN_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ENDIAN_LE(bits, x) (x)
#define ENDIAN_BE(bits, x) __builtin_bswap##bits(x)
#else
#define ENDIAN_LE(bits, x) __builtin_bswap##bits(x)
#define ENDIAN_BE(bits, x) (x)
#endif

#define ENDIAN_DEFINE(bits)                                         \
    static inline uint##bits##_t load_u##bits##le(const void *p)    \
    {                                                               \
        uint##bits##_t x;                                           \
        memcpy(&x, p, sizeof x);                                    \
        return ENDIAN_LE(bits, x);                                  \
    }                                                               \
    static inline uint##bits##_t load_u##bits##be(const void *p)    \
    {                                                               \
        uint##bits##_t x;                                           \
        memcpy(&x, p, sizeof x);                                    \
        return ENDIAN_BE(bits, x);                                  \
    }                                                               \
    static inline void store_u##bits##le(void *p, uint##bits##_t x) \
    {                                                               \
        x = ENDIAN_LE(bits, x);                                     \
        memcpy(p, &x, sizeof x);                                    \
    }                                                               \
    static inline void store_u##bits##be(void *p, uint##bits##_t x) \
    {                                                               \
        x = ENDIAN_BE(bits, x);                                     \
        memcpy(p, &x, sizeof x);                                    \
    }

ENDIAN_DEFINE(16)
ENDIAN_DEFINE(32)
ENDIAN_DEFINE(64)
#undef ENDIAN_DEFINE

static inline double double_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t bits_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
