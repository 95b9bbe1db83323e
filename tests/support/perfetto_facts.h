/* What a reader of a Perfetto trace finds, decoded from the bytes by the public schema. It shares
 * no code with the writer. */
#ifndef TRACETTA_TESTS_SUPPORT_PERFETTO_FACTS_H
#define TRACETTA_TESTS_SUPPORT_PERFETTO_FACTS_H

#include <stddef.h>
#include <stdint.h>

struct perfetto_facts {
    uint64_t packets, begins, ends, open, samples, stacks, runs;
    uint64_t unmatched_ends;    /* ends of tracks on which nothing is open */
    uint64_t unknown_tracks;    /* events on tracks that no earlier packet describes */
    uint64_t unknown_ids;       /* uses of interned entries that no earlier packet has */
    uint64_t nameless_frames;   /* interned frames without a function */
    uint64_t pathless_mappings; /* interned mappings without a path */
    uint64_t repeated_runs;     /* threads that start to run while they run */
    uint64_t occupied_cpus;     /* threads that start to run on a CPU on which another one runs */
};

/* Decodes a trace as Perfetto does: packets in order of time, equal times in order of the file.
 * Fails the test on bytes that are not valid protobuf. */
void perfetto_facts_read(const void *bytes, size_t n, struct perfetto_facts *facts);

#endif
