/* The events read from a damaged trace, by content, for the damage campaigns (damage.c,
 * damage_folder.c). Plain data, one thread. */
#ifndef TRACETTA_TESTS_CAMPAIGNS_OUTCOME_H
#define TRACETTA_TESTS_CAMPAIGNS_OUTCOME_H

#include <tracetta/event.h>

#define OUTCOME_SECONDS_MAX 2.0
#define OUTCOME_MEMORY_BASE ((size_t)48 << 20)
#define OUTCOME_MEMORY_PER_BYTE 64u

/* The result of reading one input. */
struct outcome {
    uint64_t *hashes; /* hashes of the events; the allocation is reused for the next input */
    size_t n, capacity;
    ttr_status status;
    uint64_t damage_regions;
    uint64_t damage_end; /* the end of the last reported damage, in bytes */
    size_t peak;
    double seconds;
    char text[sizeof((ttr_error *)0)->text];
};

/* Hashes all attributes and fields of an event except its absolute time: one damaged epoch shifts
 * all absolute times. */
uint64_t outcome_hash(const ttr *t, const ttr_event *event);

void outcome_add(struct outcome *outcome, uint64_t hash);

/* Sorts the hashes, as outcome_exact requires. */
void outcome_sort(struct outcome *outcome);

/* Returns how many of the intact events (sorted) are among the events read. */
size_t outcome_exact(const uint64_t *intact, size_t n, const struct outcome *outcome);

bool outcome_same(const struct outcome *a, const struct outcome *b);

/* Prints the error as a TAP comment. Returns false. */
bool outcome_complain(const char *what, const struct outcome *outcome);

/* Returns true if an input of `bytes` bytes stayed within its limits of time and memory; else
 * prints a comment. */
bool outcome_is_bounded(const struct outcome *outcome, size_t bytes);

/* Returns the processor time so far, in seconds. */
double outcome_seconds(void);

/* Installs signal handlers that print the current trial (outcome_begin) on a crash or time-out. */
void outcome_catch(void);

/* Sets the description of the current trial, and its limit of twenty seconds. */
void outcome_begin(const char *what, ...) __attribute__((format(printf, 1, 2)));

#endif
