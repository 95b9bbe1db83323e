/* Mutations that imitate faults of disks, transports and writers. */
#include "campaigns/mutate.h"

#include <string.h>

#include "support/support.h"

#define CUT_MAX 1000u
#define BLOCK_MAX 4096u

const char *mutate_name(enum mutation mutation)
{
    static const char *const names[MUTATIONS] = {
        "flip-1",    "flip-10", "flip-100", "set-byte", "zero-512", "zero-4k", "cut",
        "duplicate", "swap",    "truncate", "splice",   "size",     "plant"};
    return names[mutation];
}

size_t mutate_room(const struct mutate_input *input)
{
    return input->n + (input->other_n > BLOCK_MAX ? input->other_n : BLOCK_MAX);
}

/* Returns a random number below n, or 0 if n is 0. */
static size_t below(uint64_t *state, size_t n)
{
    return n ? (size_t)(support_random(state) % n) : 0;
}

static void flip(uint8_t *to, size_t n, unsigned count, uint64_t *state)
{
    while (count-- && n) {
        size_t bit = below(state, n * 8);
        to[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void zero(uint8_t *to, size_t n, size_t count, uint64_t *state)
{
    count = count < n ? count : n;
    memset(to + below(state, n - count + 1), 0, count);
}

static size_t cut(uint8_t *to, size_t n, uint64_t *state)
{
    size_t count = 1 + below(state, CUT_MAX);
    count = count < n ? count : n;
    size_t at = below(state, n - count + 1);
    memmove(to + at, to + at + count, n - at - count);
    return n - count;
}

static size_t duplicate(uint8_t *to, size_t n, uint64_t *state)
{
    size_t count = 1 + below(state, n < BLOCK_MAX ? n : BLOCK_MAX);
    count = count < n ? count : n;
    size_t at = below(state, n - count + 1);
    memmove(to + at + count, to + at, n - at);
    return n + count;
}

static void swap(uint8_t *to, size_t n, uint64_t *state)
{
    uint8_t block[BLOCK_MAX];
    size_t count = n / 2 < BLOCK_MAX ? n / 2 : BLOCK_MAX;
    count = count ? 1 + below(state, count) : 0;
    size_t first = below(state, n / 2 - count + 1),
           second = n / 2 + below(state, n - n / 2 - count + 1);
    memcpy(block, to + first, count);
    memcpy(to + first, to + second, count);
    memcpy(to + second, block, count);
}

/* Joins the start of this file and the end of another. */
static size_t splice(const struct mutate_input *input, uint8_t *to, uint64_t *state)
{
    size_t head = below(state, input->n + 1), skip = below(state, input->other_n + 1);
    memcpy(to + head, input->other + skip, input->other_n - skip);
    return head + input->other_n - skip;
}

static uint64_t load(const uint8_t *p, const struct mutate_format *format)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < format->size_bytes; i++)
        x = x << 8 | p[format->is_big_endian ? i : format->size_bytes - 1 - i];
    return x;
}

static void store(uint8_t *p, const struct mutate_format *format, uint64_t x)
{
    for (unsigned i = 0; i < format->size_bytes; i++, x >>= 8)
        p[format->is_big_endian ? format->size_bytes - 1 - i : i] = (uint8_t)x;
}

/* Changes the size of a record by one, or to zero, the maximum or a random number. */
static void change_size(const struct mutate_input *input, uint8_t *to, uint64_t *state)
{
    const struct mutate_format *format = input->format;
    size_t at = input->records_n
                    ? (size_t)input->records[below(state, input->records_n)] + format->size_at
                    : 0;
    if (at + format->size_bytes > input->n)
        return;
    uint64_t mask = format->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << format->bits) - 1;
    uint64_t word = load(to + at, format), size = word >> format->shift & mask;
    const uint64_t sizes[] = {size + 1, size - 1, 0, mask, support_random(state)};
    uint64_t changed = sizes[below(state, sizeof sizes / sizeof *sizes)] & mask;
    store(to + at, format, (word & ~(mask << format->shift)) | changed << format->shift);
}

static void plant(const struct mutate_input *input, uint8_t *to, uint64_t *state)
{
    size_t n = input->format->magic_n;
    if (n <= input->n)
        memcpy(to + below(state, input->n - n + 1), input->format->magic, n);
}

size_t mutate(const struct mutate_input *input, enum mutation mutation, uint64_t *state,
              uint8_t *to)
{
    size_t n = input->n;
    memcpy(to, input->bytes, n);
    switch (mutation) {
    case MUTATE_FLIP_1:
        flip(to, n, 1, state);
        break;
    case MUTATE_FLIP_10:
        flip(to, n, 10, state);
        break;
    case MUTATE_FLIP_100:
        flip(to, n, 100, state);
        break;
    case MUTATE_SET_BYTE:
        to[below(state, n)] = (uint8_t)support_random(state);
        break;
    case MUTATE_ZERO_512:
        zero(to, n, 512, state);
        break;
    case MUTATE_ZERO_4K:
        zero(to, n, 4096, state);
        break;
    case MUTATE_CUT:
        return cut(to, n, state);
    case MUTATE_DUPLICATE:
        return duplicate(to, n, state);
    case MUTATE_SWAP:
        swap(to, n, state);
        break;
    case MUTATE_TRUNCATE:
        return below(state, n);
    case MUTATE_SPLICE:
        return splice(input, to, state);
    case MUTATE_SIZE:
        change_size(input, to, state);
        break;
    case MUTATE_PLANT:
        plant(input, to, state);
        break;
    default:
        break;
    }
    return n;
}
