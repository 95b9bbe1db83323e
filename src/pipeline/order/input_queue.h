/* Priority queue of a merge: a binary min-heap of inputs, ordered by the rank of their next event,
 * then by number.  The rank of an event is its time as an unsigned number (order_time).
 *
 *     input_queue_init, input_queue_add per input, then in a loop:
 *     input_queue_top, consume events below input_queue_next_rank, input_queue_move_top or
 * _drop_top
 *
 * Invariant: heap[i] is not after heap[2 i + 1] and heap[2 i + 2].  Cost: at most 2 log2(inputs)
 * comparisons per event, two if the same input stays at the top.  Use it on one thread at a time.
 */
#ifndef TRACETTA_PIPELINE_ORDER_INPUT_QUEUE_H
#define TRACETTA_PIPELINE_ORDER_INPUT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct input_queue_entry {
    uint64_t rank;  /* order_time() of the input's next event */
    uint64_t input; /* index of the input in the merge */
};

struct input_queue {
    const struct alloc *alloc;
    struct input_queue_entry *heap;
    size_t n, capacity;
};

/* Initializes an empty queue for at most `capacity` inputs.  Returns false if memory is exhausted;
 * input_queue_free may be called then. */
TTR_MUST bool input_queue_init(struct input_queue *queue, const struct alloc *alloc,
                               size_t capacity);
void input_queue_free(struct input_queue *queue);

/* Adds an input with the rank of its next event. */
void input_queue_add(struct input_queue *queue, size_t input, uint64_t rank);

/* Removes the top input, which has ended. */
void input_queue_drop_top(struct input_queue *queue);

/* Changes the rank of the top input and restores the heap. */
void input_queue_move_top(struct input_queue *queue, uint64_t rank);

/* Returns the input with the earliest next event.  The queue must not be empty. */
static inline size_t input_queue_top(const struct input_queue *queue)
{
    return (size_t)queue->heap[0].input;
}

/* Returns the lowest rank of the other inputs' next events; UINT64_MAX if there is one input.
 * Events of the top input with a lower rank precede the events of all other inputs. */
static inline uint64_t input_queue_next_rank(const struct input_queue *queue)
{
    const struct input_queue_entry *heap = queue->heap;
    if (queue->n < 2)
        return UINT64_MAX;
    return queue->n == 2 || heap[1].rank < heap[2].rank ? heap[1].rank : heap[2].rank;
}

#endif
