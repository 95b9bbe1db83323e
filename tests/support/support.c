/* Helpers linked to every test program.  Left out: files and child processes. */
#include "support/support.h"

#include <stdlib.h>

static void *heap_resize(void *ctx, void *old, size_t old_size, size_t new_size)
{
    struct support_heap *heap = ctx;
    if (new_size > 0) {
        heap->requests++;
        if (heap->fail_at && heap->requests >= heap->fail_at)
            return NULL;
    }
    void *block = alloc_default()->resize(NULL, old, old_size, new_size);
    if (new_size > 0 && !block)
        return NULL;
    heap->blocks += (new_size > 0 && !old);
    heap->blocks -= (new_size == 0 && old);
    heap->bytes += new_size - (old ? old_size : 0);
    heap->peak = heap->bytes > heap->peak ? heap->bytes : heap->peak;
    return block;
}

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = memchr(digits, c | 0x20, 16);
    return at ? (int)(at - digits) : -1;
}

void support_heap_init(struct support_heap *heap, size_t fail_at)
{
    *heap = (struct support_heap){.alloc = {heap_resize, heap}, .fail_at = fail_at};
}

void support_heap_check(const struct support_heap *heap)
{
    assert_int_equal(heap->blocks, 0);
    assert_int_equal(heap->bytes, 0);
}

void support_fail_each(bool (*scenario)(const struct alloc *alloc))
{
    bool is_through = false;
    for (size_t n = 1; !is_through; n++) {
        struct support_heap heap;
        support_heap_init(&heap, n);
        is_through = scenario(&heap.alloc);
        support_heap_check(&heap);
        /* A refused request must be reported, and the scenario must have allocated at all. */
        assert_int_equal(is_through, heap.requests < n);
        assert_true(heap.requests > 0);
    }
}

/* Converts a number, highest digits first, to bytes in the order of this machine. Returns their
 * number. */
static size_t hex_number(uint8_t *to, size_t size, const char *hex)
{
    size_t n = strspn(hex, "0123456789abcdef") / 2;
    assert_true(n <= size);
    for (size_t i = 0; i < n; i++) {
        size_t at = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? n - 1 - i : i;
        to[at] = (uint8_t)(hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1]));
    }
    return n;
}

size_t support_hex(uint8_t *to, size_t size, const char *hex)
{
    size_t n = 0;
    for (; *hex; hex++) {
        if (*hex == ' ' || *hex == '\n')
            continue;
        if (*hex == '=') {
            size_t number_n = hex_number(to + n, size - n, hex + 1);
            n += number_n, hex += 2 * number_n;
            continue;
        }
        int high = hex_value(hex[0]), low = hex_value(hex[1]);
        assert_true(high >= 0 && low >= 0 && n < size);
        to[n++] = (uint8_t)(high << 4 | low);
        hex++;
    }
    return n;
}

void support_assert_hex(const void *bytes, size_t n, const char *hex)
{
    uint8_t expected[4096];
    size_t expected_n = support_hex(expected, sizeof expected, hex);
    assert_int_equal(n, expected_n);
    assert_memory_equal(bytes, expected, n);
}

void support_assert_text(const void *bytes, size_t n, const char *text)
{
    if (n != strlen(text) || (n && memcmp(bytes, text, n) != 0))
        fail_msg("got \"%.*s\", expected \"%s\"", (int)n, (const char *)bytes, text);
}

uint64_t support_random(uint64_t *state)
{
    /* splitmix64, Steele, Lea and Flood 2014 */
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

unsigned support_rounds(unsigned by_day, unsigned at_night)
{
    return getenv("TTR_NIGHTLY") ? at_night : by_day;
}

size_t support_stride(size_t at, size_t dense, size_t step)
{
    return at < dense || getenv("TTR_NIGHTLY") ? 1 : step;
}

uint64_t support_random_word(uint64_t *state)
{
    uint64_t shape = support_random(state), word = support_random(state) >> (shape & 63);
    return shape >> 61 ? word : UINT64_MAX >> (shape & 63);
}
