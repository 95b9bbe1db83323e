/* Input queue: the binary heap that input_queue.h declares. */
#include "pipeline/order/input_queue.h"

bool input_queue_init(struct input_queue *queue, const struct alloc *alloc, size_t capacity)
{
    *queue = (struct input_queue){.alloc = alloc, .capacity = capacity};
    queue->heap = alloc_zero(alloc, capacity, sizeof *queue->heap);
    return queue->heap;
}

void input_queue_free(struct input_queue *queue)
{
    alloc_free(queue->alloc, queue->heap, queue->capacity, sizeof *queue->heap);
}

static inline bool entry_is_before(const struct input_queue_entry *a,
                                   const struct input_queue_entry *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->input < b->input);
}

/* Stores an entry: moves the free position `hole` towards the root until the parent precedes the
 * entry. */
static void sift_up(struct input_queue_entry *heap, size_t hole, struct input_queue_entry entry)
{
    while (hole > 0 && entry_is_before(&entry, &heap[(hole - 1) / 2])) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = entry;
}

/* Stores an entry: moves the free position from the root towards the leaves until no child precedes
 * the entry. */
static void sift_down(struct input_queue_entry *heap, size_t n, struct input_queue_entry entry)
{
    size_t hole = 0;
    for (size_t child = 1; child < n; child = 2 * hole + 1) {
        child += child + 1 < n && entry_is_before(&heap[child + 1], &heap[child]);
        if (!entry_is_before(&heap[child], &entry))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = entry;
}

void input_queue_add(struct input_queue *queue, size_t input, uint64_t rank)
{
    sift_up(queue->heap, queue->n++, (struct input_queue_entry){rank, input});
}

void input_queue_move_top(struct input_queue *queue, uint64_t rank)
{
    sift_down(queue->heap, queue->n, (struct input_queue_entry){rank, queue->heap[0].input});
}

void input_queue_drop_top(struct input_queue *queue)
{
    if (--queue->n > 0)
        sift_down(queue->heap, queue->n, queue->heap[queue->n]);
}
