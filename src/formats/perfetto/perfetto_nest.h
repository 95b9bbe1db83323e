/* Decides whether a whole span can go on the track of its thread.
 *
 * Perfetto has no whole spans: a span is a begin and an end, all packets are sorted by time
 * (packets of one time stay in the order of the file), and an end closes the innermost open slice
 * of its track.  So a span comes out as it was only if it nests with the others of the track, and
 * among spans that begin together the outer one is written first.  A nest remembers the spans of a
 * track as far as that takes and refuses a span that would come out wrong or might.
 * Memory: NEST_MOST spans at most, NEST_USUAL while spans come in the order of their begins, as
 * they mostly do; the oldest are forgotten, and spans that reach back over them are judged by their
 * range. */
#ifndef TRACETTA_FORMATS_PERFETTO_NEST_H
#define TRACETTA_FORMATS_PERFETTO_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

#define NEST_MOST 4096
#define NEST_USUAL 512

struct perfetto_nest_span {
    int64_t begin, end;
    int64_t inner_end; /* spans inside that are no longer listed end no later than this */
    int32_t parent;    /* index, -1 = none */
};

/* Zeroed is empty. */
struct perfetto_nest {
    struct perfetto_nest_span *spans; /* by begin; inner ones behind outer ones */
    size_t n, capacity;
    bool has_forgotten;
    bool reaches_back; /* a span came that begins before an earlier one */
    int64_t forgotten_begin, forgotten_end;
};

enum nest_answer { NEST_FITS, NEST_CLASHES, NEST_NO_MEMORY };

/* Takes a span into the nest unless it clashes with what was taken before. */
enum nest_answer perfetto_nest_take(struct perfetto_nest *nest, const struct alloc *alloc,
                                    int64_t begin, int64_t end);

void perfetto_nest_free(struct perfetto_nest *nest, const struct alloc *alloc);

#endif
