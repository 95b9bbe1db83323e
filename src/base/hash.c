/* A hash of byte strings in the style of wyhash: words are combined by a 64 x 64 -> 128 bit
 * multiplication with xored halves. Strings of up to 16 bytes (nearly all names) need two
 * loads, which overlap in the middle, and two multiplications: no loop and no read beyond the end.
 * Left out: a seed, and any guarantee that hashes stay the same between versions. */
#include "base/hash.h"

#include <string.h>

#include "base/endian.h"

/* Odd words with half of their bits set, from the digits of the golden ratio, sqrt(2), sqrt(3) and
 * sqrt(5). */
#define HASH_A 0x9e3779b97f4a7c15u
#define HASH_B 0x6a09e667f3bcc909u
#define HASH_C 0xbb67ae8584caa73bu
#define HASH_D 0x3c6ef372fe94f82bu

/* Folds 32 bytes into two accumulators. The two multiplications are independent and run in
 * parallel. */
static inline void fold_block(uint64_t *one, uint64_t *two, const uint8_t *p)
{
    *one = hash_fold(load_u64le(p) ^ HASH_B, load_u64le(p + 8) ^ *one);
    *two = hash_fold(load_u64le(p + 16) ^ HASH_C, load_u64le(p + 24) ^ *two);
}

/* Folds the last 1 to 32 bytes of a string of n > 16 bytes. The 16 bytes before p must be readable.
 */
static uint64_t fold_last_bytes(uint64_t one, uint64_t two, const uint8_t *p, size_t left,
                                uint64_t n)
{
    if (left > 16)
        one = hash_fold(load_u64le(p) ^ HASH_B, load_u64le(p + 8) ^ one);
    /* The last 16 bytes; some may have been folded before. */
    const uint8_t *end = p + left;
    two = hash_fold(load_u64le(end - 16) ^ HASH_C, load_u64le(end - 8) ^ two);
    return hash_fold(one ^ HASH_D, two ^ HASH_A ^ n);
}

static uint64_t hash_long(const uint8_t *p, size_t n)
{
    uint64_t one = HASH_A, two = HASH_D;
    size_t left = n;
    for (; left > 32; left -= 32, p += 32)
        fold_block(&one, &two, p);
    return fold_last_bytes(one, two, p, left, n);
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint64_t a = 0, b = 0;
    if (n > 16)
        return hash_long(p, n);
    if (n >= 8) {
        a = load_u64le(p);
        b = load_u64le(p + n - 8);
    } else if (n >= 4) {
        a = load_u32le(p);
        b = load_u32le(p + n - 4);
    } else if (n > 0) {
        /* Strings of one to three bytes: the first, middle and last byte include all of them. */
        a = (uint64_t)p[0] << 16 | (uint64_t)p[n >> 1] << 8 | p[n - 1];
    }
    return hash_fold(HASH_D ^ n, hash_fold(a ^ HASH_A, b ^ HASH_B));
}
