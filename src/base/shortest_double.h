/* Finds the shortest decimal that parses to a given double. Integer arithmetic only: no printf, no
 * locale. */
#ifndef TRACETTA_BASE_SHORTEST_DOUBLE_H
#define TRACETTA_BASE_SHORTEST_DOUBLE_H

#include <stdint.h>

struct decimal {
    uint64_t digits; /* at most 17 digits, the last one not 0 */
    int exponent;    /* value = digits * 10^exponent */
};

/* Returns the shortest decimal of a finite double above 0; of several, the one nearest to x. */
struct decimal shortest_decimal(double x);

#endif
