/* Decides whether a complete span can be on the track of its thread.
 *
 * Perfetto has no complete spans: a span is a begin and an end. Readers sort all packets by time,
 * keep the file order of equal times, and let an end close the innermost open slice of its track.
 * So a span reads back unchanged only if it nests with the other spans of the track, and if the
 * outer one of two spans with equal start is written first.  perfetto_nest.c describes the
 * algorithm.
 *
 * Memory per track: at most NEST_USUAL spans if they arrive in the order of their starts, else at
 * most NEST_MAX. Older spans are remembered only as a time range. */
#ifndef TRACETTA_FORMATS_PERFETTO_NEST_H
#define TRACETTA_FORMATS_PERFETTO_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

#define NEST_MAX 4096
#define NEST_USUAL 512

struct perfetto_nest_span {
    int64_t begin, end;
    /* latest end, in ns, of the inner spans that were removed from the list */
    int64_t inner_end;
    int32_t parent; /* index of the enclosing span; -1 if there is none */
};

/* Spans on one track. A zero-initialized struct contains no span. */
struct perfetto_nest {
    /* sorted by start; an outer span precedes an inner one */
    struct perfetto_nest_span *spans;
    size_t n, capacity;
    bool has_forgotten;
    /* true if at least one span started before the span that was added before it */
    bool reaches_back;
    int64_t forgotten_begin, forgotten_end;
};

enum nest_result { NEST_FITS, NEST_CLASHES, NEST_NO_MEMORY };

/* Adds a span, unless it overlaps an earlier span without nesting. */
enum nest_result perfetto_add_nested_span(struct perfetto_nest *nest, const struct alloc *alloc,
                                          int64_t begin, int64_t end);

/* Returns true if a span that was added, and is still known, contains `time`. The end of a span
 * does not belong to it. */
bool perfetto_is_inside_span(const struct perfetto_nest *nest, int64_t time);

void perfetto_nest_free(struct perfetto_nest *nest, const struct alloc *alloc);

#endif
