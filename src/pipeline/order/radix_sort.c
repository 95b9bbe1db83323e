/* Least-significant-digit radix sort of the bits in which the keys differ; insertion sort for few
 * keys. All passes together cost less than the mispredicted branches of a comparison sort (one per
 * comparison). */
#include "pipeline/order/radix_sort.h"

#include <stdbool.h>
#include <string.h>

#define FEW 32
#define DIGIT_BITS_MAX 11u

/* Bits of a key that one pass sorts by: `bits` bits from `shift` on of (rank - least), or of
 * `minor`. */
struct digit {
    uint64_t least;
    unsigned shift, bits;
    bool is_minor;
};

static bool key_is_before(const struct order_key *a, const struct order_key *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->minor < b->minor;
}

static void insertion_sort(struct order_key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct order_key key = keys[i];
        size_t at = i;
        for (; at > 0 && key_is_before(&key, &keys[at - 1]); at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static inline uint32_t digit_of_key(const struct digit *digit, const struct order_key *key)
{
    uint64_t value = digit->is_minor ? key->minor : key->rank - digit->least;
    return (uint32_t)(value >> digit->shift) & ((1u << digit->bits) - 1);
}

static void distribute_by_digit(const struct digit *digit, const struct order_key *from,
                                struct order_key *to, size_t n)
{
    uint32_t place[1u << DIGIT_BITS_MAX];
    memset(place, 0, sizeof place[0] << digit->bits);
    for (size_t i = 0; i < n; i++)
        place[digit_of_key(digit, &from[i])]++;
    uint32_t at = 0;
    for (uint32_t value = 0; value < 1u << digit->bits; value++) {
        uint32_t count = place[value];
        place[value] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++)
        to[place[digit_of_key(digit, &from[i])]++] = from[i];
}

/* Source and target array of one pass. */
struct pair {
    struct order_key *from, *to;
};

/* Sorts by the lowest `end` bits, one digit per pass. Returns the array with the result. */
static struct order_key *run_sort_passes(struct digit *digit, unsigned end, struct pair at,
                                         size_t n)
{
    for (digit->shift = 0; digit->shift < end; digit->shift += digit->bits) {
        distribute_by_digit(digit, at.from, at.to, n);
        at = (struct pair){at.to, at.from};
    }
    return at.from;
}

static unsigned count_bits(uint64_t range)
{
    return range ? 64u - (unsigned)__builtin_clzll(range) : 0;
}

void radix_sort_keys(struct order_key *keys, struct order_key *spare, size_t n)
{
    uint64_t least = UINT64_MAX, most = 0;
    uint32_t minor_bits = 0;
    bool is_sorted = true;
    for (size_t i = 0; i < n; i++) {
        least = keys[i].rank < least ? keys[i].rank : least;
        most = keys[i].rank > most ? keys[i].rank : most;
        minor_bits |= keys[i].minor ^ keys[0].minor;
        is_sorted &= i == 0 || !key_is_before(&keys[i], &keys[i - 1]);
    }
    if (is_sorted)
        return;
    if (n <= FEW) {
        insertion_sort(keys, n);
        return;
    }
    struct digit digit = {.least = least, .bits = n >= 4096 ? DIGIT_BITS_MAX : 8, .is_minor = true};
    struct order_key *now =
        run_sort_passes(&digit, count_bits(minor_bits), (struct pair){keys, spare}, n);
    digit.is_minor = false;
    now = run_sort_passes(&digit, count_bits(most - least),
                          (struct pair){now, now == keys ? spare : keys}, n);
    if (now != keys)
        memcpy(keys, now, n * sizeof *keys);
}
