/* All that a program may do with a damaged trace after opening it: the consumers of events, for the
 * damage campaigns (damage.c, damage_folder.c). */
#ifndef TRACETTA_TESTS_CAMPAIGNS_CONSUMERS_H
#define TRACETTA_TESTS_CAMPAIGNS_CONSUMERS_H

#include <stddef.h>
#include <stdint.h>

#include <tracetta/advanced.h>

/* A trace in memory: the bytes of one file, or the files of a folder. */
struct consumer_input {
    const char *format;
    const uint8_t *bytes; /* one file; NULL = a folder */
    size_t n;
    const ttr_file *files; /* of a folder */
    size_t files_n;
};

/* Returns the number of consumers: statistics, trees, profiles, meaning, order, and each writer. */
size_t consumers_count(void);

/* Reads a trace, with symbols, into the i-th consumer. Returns the consumer's name if it fails for
 * another reason than that the trace cannot be opened, else NULL. */
const char *consumers_run(size_t i, const struct consumer_input *input);

/* Reads trace number `trial` into all consumers, or into one of them: consumer `trial` modulo their
 * number. Returns the name of one that failed, else NULL. */
const char *consumers_run_trial(unsigned trial, bool are_all, const struct consumer_input *input);

#endif
