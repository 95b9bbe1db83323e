/* Packing and unpacking of the format described in the header: the packed encoding of Cap'n Proto.
 * Packing works in slices, so that the output buffer grows by what is written instead of by the
 * worst case. */
#include "base/packed_words.h"

#include <string.h>

#define SLICE_SIZE                                                                        \
    ((size_t)4096)          /* input bytes that are packed before room for more output is \
                             * reserved */
#define PACKED_WORD_MAX 10u /* output bytes of one word in the worst case: tag, 8 bytes, count */
#define RUN_MAX 255u
#define HIGH_BITS UINT64_C(0x8080808080808080)

static uint64_t load_word(const uint8_t *bytes, size_t at)
{
    return load_u64le(bytes + at);
}

/* Returns a word with the highest bit of each byte set that is not 0 in `word`. */
static uint64_t nonzero_byte_marks(uint64_t word)
{
    return (((word & ~HIGH_BITS) + ~HIGH_BITS) | word) & HIGH_BITS;
}

/* Writes the non-zero bytes of a word and returns their number. */
static unsigned pack_word(uint64_t word, uint64_t marks, uint8_t *to)
{
    unsigned n = 0;
    for (uint64_t left = marks; left; left &= left - 1)
        to[n++] = (uint8_t)(word >> ((unsigned)__builtin_ctzll(left) - 7));
    return n;
}

static size_t count_zero_words(const uint8_t *bytes, size_t at, size_t end)
{
    size_t n = 0;
    while (n < RUN_MAX && at + 8 * n < end && load_word(bytes, at + 8 * n) == 0)
        n++;
    return n;
}

/* Returns how many consecutive words from `at` on have at most one zero byte, 255 at most. Such
 * words are stored unpacked. */
static size_t count_full_words(const uint8_t *bytes, size_t at, size_t end)
{
    size_t n = 0;
    for (; n < RUN_MAX && at + 8 * n < end; n++) {
        const uint64_t zeros = ~nonzero_byte_marks(load_word(bytes, at + 8 * n)) & HIGH_BITS;
        if (zeros & (zeros - 1)) /* two or more zero bytes: packing saves space */
            break;
    }
    return n;
}

/* Packs n bytes, a multiple of 8, into `to`, which has room for the worst case. Returns the packed
 * size. */
static size_t pack_slice(const uint8_t *bytes, size_t n, uint8_t *to)
{
    uint8_t *out = to;
    for (size_t at = 0; at < n; at += 8) {
        const uint64_t word = load_word(bytes, at), marks = nonzero_byte_marks(word);
        const uint8_t tag = (uint8_t)(((marks >> 7) * UINT64_C(0x0102040810204080)) >>
                                      /* gathers the marks into one bit per byte, in byte order */
                                      56);
        *out = tag;
        out += 1 + pack_word(word, marks, out + 1);
        if (tag != 0 && tag != UINT8_MAX)
            continue;
        const size_t more =
            tag ? count_full_words(bytes, at + 8, n) : count_zero_words(bytes, at + 8, n);
        *out++ = (uint8_t)more;
        if (tag) {
            memcpy(out, bytes + at + 8, 8 * more);
            out += 8 * more;
        }
        at += 8 * more;
    }
    return (size_t)(out - to);
}

void packed_words_append(struct buffer *to, const void *bytes, size_t n)
{
    const uint8_t *from = bytes;
    const size_t whole = n - n % 8;
    for (size_t at = 0, size; at < whole; at += size) {
        size = whole - at < SLICE_SIZE ? whole - at : SLICE_SIZE;
        uint8_t *room = buffer_room(to, size / 8 * PACKED_WORD_MAX);
        if (!room)
            return;
        buffer_commit(to, pack_slice(from + at, size, room));
    }
    uint8_t last[8] = {0}, *room = n % 8 ? buffer_room(to, PACKED_WORD_MAX) : NULL;
    if (!room)
        return;
    memcpy(last, from + whole, n % 8);
    buffer_commit(to, pack_slice(last, sizeof last, room));
}

/* Unpacks the words that follow a tag of 00 or ff: zeros, or bytes stored unpacked. Returns their
 * size in bytes. Returns SIZE_MAX if the input ends early or they exceed `room`. */
static size_t unpack_run(struct cursor *from, bool is_full, uint8_t *to, size_t room)
{
    const uint8_t *count = cursor_read_bytes(from, 1);
    if (!count || *count > room / 8)
        return SIZE_MAX;
    const size_t n = 8 * (size_t)*count;
    const uint8_t *bytes = is_full ? cursor_read_bytes(from, n) : NULL;
    if (is_full && !bytes)
        return SIZE_MAX;
    if (is_full)
        memcpy(to, bytes, n);
    else
        memset(to, 0, n);
    return n;
}

/* Unpacks one word: each bit of the tag is a byte of the input. Returns false if the input ends
 * early. */
static bool unpack_word(struct cursor *from, uint8_t tag, uint8_t *to)
{
    const uint8_t *bytes = from->p;
    const size_t there = cursor_left(from);
    uint64_t word = 0;
    size_t n = 0;
    for (unsigned left = tag; left && n < there; left &= left - 1)
        word |= (uint64_t)bytes[n++] << (8 * (unsigned)__builtin_ctz(left));
    const bool is_whole =
        cursor_skip(from, n) && (n < there || n == (size_t)__builtin_popcount(tag));
    store_u64le(to, word);
    return is_whole;
}

bool packed_words_read(struct cursor *from, uint8_t *to, size_t n)
{
    const size_t size = packed_words_padded_size(n);
    for (size_t at = 0; at < size;) {
        const uint8_t *tag = cursor_read_bytes(from, 1);
        if (!tag || !unpack_word(from, *tag, to + at))
            return false;
        at += 8;
        const bool has_more = *tag == 0 || *tag == UINT8_MAX;
        const size_t more = has_more ? unpack_run(from, *tag != 0, to + at, size - at) : 0;
        if (more == SIZE_MAX)
            return false;
        at += more;
    }
    return true;
}
