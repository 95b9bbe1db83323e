/* The queue of a merge: a binary heap of inputs by the rank of their next event, ties by number.
 *
 * Cost: log2(inputs) comparisons per event at most; one if the same input stays on top.
 * Thread rule: one thread at a time. */
#ifndef TRACETTA_PIPELINE_ORDER_INPUT_QUEUE_H
#define TRACETTA_PIPELINE_ORDER_INPUT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct input_queue_entry {
    uint64_t rank; /* of the next event */
    uint64_t input;
};

struct input_queue {
    const struct alloc *alloc;
    struct input_queue_entry *heap;
    size_t n, capacity;
};

/* Begins an empty queue of up to `capacity` inputs. Returns false when memory is out
 * (input_queue_free is fine then, too). */
TTR_MUST bool input_queue_init(struct input_queue *queue, const struct alloc *alloc,
                               size_t capacity);
void input_queue_free(struct input_queue *queue);

/* Adds an input whose next event has this rank. */
void input_queue_add(struct input_queue *queue, size_t input, uint64_t rank);

/* Removes the top input, which has no more events. */
void input_queue_drop_top(struct input_queue *queue);

/* Sets the rank of the top input's next event, and finds the new top. */
void input_queue_move_top(struct input_queue *queue, uint64_t rank);

/* The input with the earliest event; only if there is one. */
static inline size_t input_queue_top(const struct input_queue *queue)
{
    return (size_t)queue->heap[0].input;
}

/* The top input stays on top while its next event has a lower rank than this. */
static inline uint64_t input_queue_limit(const struct input_queue *queue)
{
    const struct input_queue_entry *heap = queue->heap;
    if (queue->n < 2)
        return UINT64_MAX;
    return queue->n == 2 || heap[1].rank < heap[2].rank ? heap[1].rank : heap[2].rank;
}

#endif
