/* Events of all kinds from the bytes of a fuzz input, for targets that need no format. */
#ifndef TRACETTA_TESTS_FUZZ_EVENT_INPUT_H
#define TRACETTA_TESTS_FUZZ_EVENT_INPUT_H

#include "fuzz/fuzz.h"
#include "support/memory_reader.h"

#define EVENTS_MAX 300u

/* The bytes of an input that are not consumed; after their end come zeros. */
struct fuzz_bytes {
    const uint8_t *p, *end;
};

static inline uint8_t fuzz_u8(struct fuzz_bytes *from)
{
    return from->p < from->end ? *from->p++ : 0;
}

/* Returns a number of any size, often one at a limit. */
static inline uint64_t fuzz_u64(struct fuzz_bytes *from)
{
    static const uint64_t limits[] = {0,          1,
                                      INT64_MAX,  (uint64_t)INT64_MAX + 1,
                                      UINT64_MAX, UINT64_MAX - 1,
                                      UINT32_MAX, (uint64_t)INT64_MAX - 1};
    const uint8_t how = fuzz_u8(from);
    uint64_t x = how >> 3;
    if ((how & 7) == 7)
        return limits[how >> 3 & 7];
    for (unsigned i = 0; i < (how & 7u); i++)
        x = x << 8 | fuzz_u8(from);
    return x;
}

struct fuzz_events {
    ttr_event event[EVENTS_MAX];
    size_t n;
};

/* Builds events from the input, on a few threads (also an unknown one) and with a few names. */
void fuzz_events_make(struct fuzz_events *events, ttr *t, struct fuzz_bytes *from);
void fuzz_events_free(struct fuzz_events *events);

/* Returns a new reader of the events. */
static inline ttr_reader *fuzz_events_read(ttr *t, const struct fuzz_events *events)
{
    return memory_reader(t, &(struct memory_events){.event = events->event, .n = events->n});
}

#endif
