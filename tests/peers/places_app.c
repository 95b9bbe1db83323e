/* A program with tracepoints at many code locations, traced by LTTng. usage: places_app ROUNDS
 * [LIBRARY...]. Loads, calls and unloads each library in turn, then all of them again. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#define PLACES_PROVIDER places
#include "places_provider.h"

#include <dlfcn.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) void inlined(int count)
{
    lttng_ust_tracepoint(places, here, count);
}

__attribute__((noinline)) static void without_anything(void)
{
    lttng_ust_tracepoint(places, here, -1);
}

__attribute__((noinline)) static int in_blocks(int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        int square = i * i;
        if (square % 2) {
            int third = square / 3;
            lttng_ust_tracepoint(places, here, third);
            sum += third;
        }
        inlined(square);
        sum += square;
    }
    return sum;
}

__attribute__((noinline, cold)) static void rarely(int count)
{
    lttng_ust_tracepoint(places, here, count);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    int sum = 0;
    for (long i = 0; i < rounds; i++) {
        lttng_ust_tracepoint(places, here, (int)i);
        without_anything();
        sum += in_blocks(4);
        if (sum > 20)
            rarely(sum);
    }
    for (int i = 2; i < 2 * argc - 2; i++) {
        void *library = dlopen(argv[2 + (i - 2) % (argc - 2)], RTLD_NOW | RTLD_LOCAL);
        void (*call)(int) = library ? (void (*)(int))dlsym(library, "library_call") : NULL;
        if (!call)
            return 1;
        call(i);
        (void)dlclose(library);
    }
    return 0;
}
