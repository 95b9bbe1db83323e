/* A library for places_app.c, built in several variants: PLACES_PROVIDER is the name of its
 * provider, SHIFT moves its code. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "places_provider.h"

#if SHIFT
int library_shift(int value);

int library_shift(int value)
{
    int sum = 0;
    for (int i = 0; i < value; i++)
        sum += i ^ value;
    return sum;
}
#endif

__attribute__((noinline)) static void inner(int count)
{
    int twice = count * 2;
    lttng_ust_tracepoint(PLACES_PROVIDER, here, twice);
}

void library_call(int count);

void library_call(int count)
{
    lttng_ust_tracepoint(PLACES_PROVIDER, here, count);
    inner(count);
}
