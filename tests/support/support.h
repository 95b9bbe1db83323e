/* What every test program may use: cmocka with its own headers, an allocator that fails when told
 * to and counts what is left, bytes from hex, and random numbers that are the same in every run. */
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

/* cmocka calls a macro of its own `fail`, which is the name of ours in base/status.h. */
#undef fail
#undef fail_msg
#define fail_msg(...)                       \
    do {                                    \
        print_error("ERROR: " __VA_ARGS__); \
        print_error("\n");                  \
        _fail(__FILE__, __LINE__);          \
    } while (0)

/* An allocator to be told which request fails.  Give `&heap.alloc` to the code under test. */
struct support_heap {
    struct alloc alloc;
    size_t requests; /* requests for memory so far */
    size_t fail_at;  /* this request (from 1) and all after it fail; 0: none */
    size_t blocks;   /* blocks not freed */
    size_t bytes;    /* bytes not freed, by the sizes callers claim: not 0 when a free names another
                        size than its allocation */
    size_t peak;     /* the most bytes held at once */
};

void support_heap_init(struct support_heap *heap, size_t fail_at);

/* Fails the test unless everything was given back. */
void support_heap_check(const struct support_heap *heap);

/* Runs a scenario with the 1st, 2nd, ... request failing until it gets through, and checks for
 * leaks each time.  The scenario says whether it got through; it must clean up in both cases. */
void support_fail_each(bool (*scenario)(const struct alloc *alloc));

/* Bytes from "0a ff" (blanks are fine) into `to`, which holds `size`; gives their count.  "=0a0b"
 * is one number, in the byte order of this machine. */
size_t support_hex(uint8_t *to, size_t size, const char *hex);

/* Fails the test unless the bytes are those of the hex text. */
void support_assert_hex(const void *bytes, size_t n, const char *hex);

/* Fails the test unless the bytes are those of the C string; shows both. */
void support_assert_text(const void *bytes, size_t n, const char *text);

/* The next of a reproducible sequence of random words; `*state` is the seed. */
uint64_t support_random(uint64_t *state);

/* Number of rounds of a random test: `at_night` in ./check --nightly, `by_day` in any other run. */
unsigned support_rounds(unsigned by_day, unsigned at_night);

/* Step of a loop over all places at which something may fail, at place `at`: 1 in ./check --nightly
 * and below `dense`, `step` beyond that in any other run. */
size_t support_stride(size_t at, size_t dense, size_t step);

/* A random word of random length, so that small, large and all-ones words are frequent. */
uint64_t support_random_word(uint64_t *state);

#endif
