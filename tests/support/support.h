/* Helpers of all test programs: cmocka with its headers, an allocator that can fail and counts what
 * is not freed, bytes from hexadecimal, and reproducible random numbers. */
#ifndef TRACETTA_TESTS_SUPPORT_SUPPORT_H
#define TRACETTA_TESTS_SUPPORT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

/* cmocka defines a macro `fail`, which is also a function in base/status.h. */
#undef fail
#undef fail_msg
#define fail_msg(...)                       \
    do {                                    \
        print_error("ERROR: " __VA_ARGS__); \
        print_error("\n");                  \
        _fail(__FILE__, __LINE__);          \
    } while (0)

/* An allocator with a programmable failure. Pass `&heap.alloc` to the code under test. */
struct support_heap {
    struct alloc alloc;
    size_t requests; /* requests for memory so far */
    size_t fail_at;  /* this request (from 1) and all later ones fail; 0 = none */
    size_t blocks;   /* blocks not freed */
    /* bytes not freed, by the sizes callers pass; not 0 if a free has another size than its
     * allocation */
    size_t bytes;
    size_t peak; /* the most bytes held at once */
};

void support_heap_init(struct support_heap *heap, size_t fail_at);

/* Fails the test unless everything was freed. */
void support_heap_check(const struct support_heap *heap);

/* Runs a scenario with the 1st, 2nd, ... request failing until it succeeds, and checks for leaks
 * each time. The scenario returns true on success; it must free everything in both cases. */
void support_fail_each(bool (*scenario)(const struct alloc *alloc));

/* Parses "0a ff" (blanks are optional) into `to`, which has `size` bytes; returns the number of
 * bytes. "=0a0b" is one number, in the byte order of this machine. */
size_t support_hex(uint8_t *to, size_t size, const char *hex);

/* Fails the test unless the bytes are equal to those of the hexadecimal text. */
void support_assert_hex(const void *bytes, size_t n, const char *hex);

/* Fails the test unless the bytes are equal to the C string; prints both. */
void support_assert_text(const void *bytes, size_t n, const char *text);

/* Returns the next word of a reproducible random sequence; `*state` is its state, initially the
 * seed. */
uint64_t support_random(uint64_t *state);

/* Number of rounds of a random test: `at_night` in ./check --nightly, `by_day` in any other run. */
unsigned support_rounds(unsigned by_day, unsigned at_night);

/* Step of a loop over all places at which something may fail, at place `at`: 1 in ./check --nightly
 * and below `dense`, `step` beyond that in any other run. */
size_t support_stride(size_t at, size_t dense, size_t step);

/* A random word of random length, so that small, large and all-ones words are frequent. */
uint64_t support_random_word(uint64_t *state);

#endif
