/* What reading a damaged trace gave, by content: for the damage campaigns (damage.c,
 * damage_folder.c).  Plain data, one thread. */
#ifndef TRACETTA_TESTS_CAMPAIGNS_OUTCOME_H
#define TRACETTA_TESTS_CAMPAIGNS_OUTCOME_H

#include <tracetta/event.h>

#define OUTCOME_SECONDS_MAX 2.0
#define OUTCOME_MEMORY_BASE ((size_t)48 << 20)
#define OUTCOME_MEMORY_PER_BYTE 64u

/* What reading one input gave. */
struct outcome {
    uint64_t *hashes; /* of its events, kept from input to input */
    size_t n, capacity;
    ttr_status status;
    uint64_t damage_regions;
    uint64_t damage_end; /* the farthest byte that is told of */
    size_t peak;
    double seconds;
    char text[sizeof((ttr_error *)0)->text];
};

/* All that an event says, but for its absolute time: one damaged epoch shifts all of them. */
uint64_t outcome_hash(const ttr *t, const ttr_event *event);

void outcome_add(struct outcome *outcome, uint64_t hash);

/* Sorts the hashes, for the two below. */
void outcome_sort(struct outcome *outcome);

/* How many of the intact events (sorted) are among the read ones. */
size_t outcome_exact(const uint64_t *intact, size_t n, const struct outcome *outcome);

bool outcome_same(const struct outcome *a, const struct outcome *b);

/* Says what is wrong as a comment; gives false. */
bool outcome_complain(const char *what, const struct outcome *outcome);

/* Whether an input of `bytes` bytes took no more time and memory than it may; complains. */
bool outcome_is_bounded(const struct outcome *outcome, size_t bytes);

/* Seconds of the processor so far. */
double outcome_seconds(void);

/* From now on, a crash or hang is told with what is being done (outcome_begin). */
void outcome_catch(void);

/* Says what is being done now, and that it may take no more than twenty seconds. */
void outcome_begin(const char *what, ...) __attribute__((format(printf, 1, 2)));

#endif
