/* The shortest decimal that reads back as a given double, by integer arithmetic alone (no printf,
 * no locale). */
#ifndef TRACETTA_BASE_SHORTEST_H
#define TRACETTA_BASE_SHORTEST_H

#include <stdint.h>

struct decimal {
    uint64_t digits; /* no zeros at the end; at most 17 digits */
    int exponent;    /* value = digits * 10^exponent */
};

/* Of a finite double above 0.  Of several shortest decimals it is the one nearest to x. */
struct decimal shortest_decimal(double x);

#endif
