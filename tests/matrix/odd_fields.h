/* Fields and names as odd as they come, from a seed: shared by the tests of writers that describe
 * their fields. */
#ifndef TRACETTA_TESTS_ODD_FIELDS_H
#define TRACETTA_TESTS_ODD_FIELDS_H

#include <tracetta/write.h>

enum {
    ODD_BUDGET = 400,
    ODD_EVENTS = 6000
}; /* a fair number of fields of one event; events of the largest trial */

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

/* Puts n fields with some of many names, so that nearly each event is of another shape. */
void odd_put_shape(struct odd *odd, uint64_t n);

/* Puts a field of any type, with what is inside of it. */
void odd_put(struct odd *odd, ttr_text name, unsigned depth, unsigned group);

/* Many events to be written as one version of a format, and read again. */
struct odd_trial {
    const char *version;
    uint64_t seed;
    int64_t from; /* the time of the first event */
    unsigned events;
    bool is_shapeless, has_no_past; /* all of other shapes; not shortly before 1970 */
};

/* Says, as two cases, whether odd events of many seeds come back, at all times there are: before
 * 1970, now, and at the ends of what 64 bits hold; and whether many shapes of events do. */
void odd_try(const char *version, bool has_no_past, bool (*run)(const struct odd_trial *trial));

#endif
