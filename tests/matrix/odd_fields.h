/* Fields and names as odd as they come, from a seed: shared by the tests of writers that describe their fields. */
#ifndef TRACETTA_TESTS_ODD_FIELDS_H
#define TRACETTA_TESTS_ODD_FIELDS_H

#include <tracetta/tracetta.h>

enum { ODD_BUDGET = 400 }; /* a fair number of fields of one event */

struct odd {
    ttr_builder *b;
    uint64_t seed;
    unsigned budget; /* fields that the event may still have */
    bool is_short;   /* no long texts */
};

/* A number below n. */
uint64_t odd_below(uint64_t *seed, uint64_t n);

/* A name that somebody may give. */
ttr_text odd_name(uint64_t *seed);

/* Puts a field of any type, with what is inside of it. */
void odd_put(struct odd *odd, ttr_text name, unsigned depth, unsigned group);

#endif
