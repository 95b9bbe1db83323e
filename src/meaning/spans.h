/* Spans that are open, as one stack per lane. A lane is a thread or the track of a CPU.
 *
 * An end closes the span with the same group and key, wherever it is in the stack of its lane. The
 * spans above it have lost their ends.
 *
 * Memory: 40 bytes per open span. Slots are reused. */
#ifndef TRACETTA_MEANING_SPANS_H
#define TRACETTA_MEANING_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/event.h>

#include "base/alloc.h"

#define SPANS_MAX 1048576u /* open spans; further begins are refused */
#define SPANS_ANY_KEY UINT64_MAX

struct span {
    uint64_t key;
    ttr_id name, category;
    uint32_t below; /* slot below plus 1; of a free slot the next free one */
    uint16_t group;
    uint8_t family; /* of two classes that record the same spans, the one that began this one */
};

struct span_lane {
    uint32_t top; /* slot plus 1; 0 = no span is open */
};

struct spans {
    const struct alloc *alloc;
    struct span *slot;
    size_t n, capacity;
    uint32_t free; /* first free slot plus 1 */
};

void spans_init(struct spans *spans, const struct alloc *alloc);
void spans_free(struct spans *spans);

/* Opens a span. Returns false if memory runs out or SPANS_MAX are open. */
TTR_MUST bool spans_push(struct spans *spans, struct span_lane *lane, const struct span *span);

/* Returns the number of spans from the top of a lane down to the one with a group and key: 1 if it
 * is the innermost, 0 if it is not open. */
uint32_t spans_depth_of(const struct spans *spans, struct span_lane lane, uint16_t group,
                        uint64_t key);

/* Returns the innermost span; NULL if none is open. */
const struct span *spans_top(const struct spans *spans, struct span_lane lane);

/* Closes the innermost span and returns it. The lane must not be empty. */
struct span spans_pop(struct spans *spans, struct span_lane *lane);

#endif
