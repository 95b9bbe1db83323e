/* Random fields and names with extreme shapes, from a seed. Shared by the tests of writers that
 * write event classes. */
#ifndef TRACETTA_TESTS_ODD_FIELDS_H
#define TRACETTA_TESTS_ODD_FIELDS_H

#include <tracetta/build.h>

enum {
    ODD_BUDGET = 400,
    ODD_EVENTS = 6000
}; /* fields per event, and events of the largest trial */

struct odd {
    ttr_builder *b;
    uint64_t seed;
    unsigned budget; /* fields that the event may still have */
    bool is_short;   /* long texts are left out */
};

/* Returns a random number below n. */
uint64_t odd_below(uint64_t *seed, uint64_t n);

/* Returns a random name, which may be empty, quoted or not ASCII. Static. */
ttr_text odd_name(uint64_t *seed);

/* Adds n fields with names from a large set, so that nearly every event has its own class. */
void odd_put_shape(struct odd *odd, uint64_t n);

/* Adds a field of a random type, with its elements or members. */
void odd_put(struct odd *odd, ttr_text name, unsigned depth, unsigned group);

/* Events to be written as one version of a format and read again. */
struct odd_trial {
    const char *version;
    uint64_t seed;
    int64_t from; /* time of the first event, in ns */
    unsigned events;
    /* is_shapeless: every event has its own class; has_no_past: the format has no times shortly
     * before 1970 */
    bool is_shapeless, has_no_past;
};

/* Runs two test cases: odd events of many seeds are preserved at times before 1970, now, and at the
 * limits of 64 bits; and so are many event classes. */
void odd_try(const char *version, bool has_no_past, bool (*run)(const struct odd_trial *trial));

#endif
