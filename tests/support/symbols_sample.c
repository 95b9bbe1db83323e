/* A library for symbols_test: functions that report an address of their own and its line. */
#include "support/symbols_sample.h"

struct sample_place sample_place[SAMPLE_PLACES];

__attribute__((noinline)) static void *caller(void)
{
    return __builtin_return_address(0);
}

static inline __attribute__((always_inline)) void inlined(unsigned i)
{
    sample_place[i].address = caller();
}

__attribute__((noinline)) static int in_block(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int twice = i * 2;
        if (twice > 2) {
            sample_place[SAMPLE_INLINED].line = __LINE__ + 1;
            inlined(SAMPLE_INLINED);
        }
        sum += twice;
    }
    return sum;
}

/* A function with the name that C++ gives to sample::Class::method(int). */
int sample_method(int n) __asm__("_ZN6sample5Class6methodEi");

__attribute__((noinline)) int sample_method(int n)
{
    sample_place[SAMPLE_MANGLED].line = __LINE__ + 1;
    sample_place[SAMPLE_MANGLED].address = caller();
    return n + 1;
}

int sample_fill(int n)
{
    n = sample_method(n) - 1;
    sample_place[SAMPLE_PLAIN].line = __LINE__ + 1;
    sample_place[SAMPLE_PLAIN].address = caller();
    return in_block(n);
}
