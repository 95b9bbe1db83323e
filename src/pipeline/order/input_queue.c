/* A calendar of inputs; see the header. */
#include "pipeline/order/input_queue.h"

enum {
    FEW = 4,          /* inputs for which a heap alone is cheaper */
    SHIFT_FIRST = 10, /* slices of a microsecond at first */
    SHIFT_MAX = 53,   /* all slices together: half of all ranks */
    SHIFT_STEP = 4    /* grow by no more at once: a pause says little about what follows */
};

bool calendar_init(struct calendar *calendar, const struct alloc *alloc, size_t n)
{
    *calendar =
        (struct calendar){.alloc = alloc, .n = n, .shift = SHIFT_FIRST, .far = CALENDAR_NONE};
    calendar->end = n <= FEW ? UINT64_MAX : 0;
    calendar->heap = alloc_zero(alloc, n, sizeof *calendar->heap);
    calendar->waiting = alloc_zero(alloc, n, sizeof *calendar->waiting);
    for (size_t i = 0; i < CALENDAR_SLICES; i++)
        calendar->first[i] = CALENDAR_NONE;
    return calendar->heap && calendar->waiting;
}

void calendar_free(struct calendar *calendar)
{
    alloc_free(calendar->alloc, calendar->heap, calendar->n, sizeof *calendar->heap);
    alloc_free(calendar->alloc, calendar->waiting, calendar->n, sizeof *calendar->waiting);
}

/* Lets a head rise from a hole to its place. */
static void rise(struct calendar_head *heap, size_t hole, struct calendar_head head)
{
    while (hole > 0 && calendar_is_before(&head, &heap[(hole - 1) / 2])) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = head;
}

/* Fills the hole at the top: the earlier child moves up, level by level, and the head rises from
 * the bottom, where it mostly stays. */
static void fill_top(struct calendar_head *heap, size_t n, struct calendar_head head)
{
    size_t hole = 0;
    for (size_t child = 1; child + 1 < n; child = 2 * hole + 1) {
        child += calendar_is_before(&heap[child + 1], &heap[child]);
        heap[hole] = heap[child];
        hole = child;
    }
    if (2 * hole + 1 < n) {
        heap[hole] = heap[2 * hole + 1];
        hole = 2 * hole + 1;
    }
    rise(heap, hole, head);
}

void calendar_sink_top(struct calendar *calendar, uint64_t rank)
{
    struct calendar_head *heap = calendar->heap, head = {rank, heap[0].input};
    size_t n = calendar->heap_n;
    if (calendar_is_before(&head, &heap[1]) && (n < 3 || calendar_is_before(&head, &heap[2]))) {
        heap[0] = head;
    } else if (n == 2) {
        heap[0] = heap[1];
        heap[1] = head;
    } else {
        fill_top(heap, n, head);
    }
}

/* Lets an input wait: its rank is behind the slice under way. */
static void wait(struct calendar *calendar, uint32_t input, uint64_t rank)
{
    uint64_t slice = (rank - calendar->base) >> calendar->shift;
    uint32_t *list = slice < CALENDAR_SLICES ? &calendar->first[slice] : &calendar->far;
    calendar->waiting[input] = (struct calendar_waiting){rank, *list};
    *list = input;
    if (slice < CALENDAR_SLICES)
        calendar->filled[slice / 64] |= UINT64_C(1) << slice % 64;
}

/* Takes the list of a slice out. */
static inline uint32_t take_list(struct calendar *calendar, uint32_t slice)
{
    uint32_t first = calendar->first[slice];
    calendar->first[slice] = CALENDAR_NONE;
    calendar->filled[slice / 64] &= ~(UINT64_C(1) << slice % 64);
    return first;
}

/* How many events all slices together should have, so that cutting them is worth it. */
static uint64_t moves_wanted(const struct calendar *calendar)
{
    return calendar->n > CALENDAR_SLICES ? calendar->n : CALENDAR_SLICES;
}

/* Longer slices where few events came, shorter ones where many did. */
static void adapt(struct calendar *calendar)
{
    uint64_t want = moves_wanted(calendar), slices = (uint64_t)calendar->slice + 1;
    uint64_t moves = calendar->moves * CALENDAR_SLICES / slices;
    for (; calendar->shift > 0 && moves > 2 * want; moves /= 2)
        calendar->shift--;
    for (unsigned step = 0; step < SHIFT_STEP && calendar->shift < SHIFT_MAX && 2 * moves < want;
         step++, moves *= 2)
        calendar->shift++;
}

/* Cuts slices from the earliest input on that waits behind the last one; all others are over. */
static void cut(struct calendar *calendar)
{
    uint32_t input = calendar->far, after;
    uint64_t least = UINT64_MAX;
    calendar->moves_left = 4 * moves_wanted(calendar);
    calendar->moves = 0;
    for (uint32_t i = input; i != CALENDAR_NONE; i = calendar->waiting[i].next)
        least = calendar->waiting[i].rank < least ? calendar->waiting[i].rank : least;
    uint64_t last_base = UINT64_MAX - ((uint64_t)CALENDAR_SLICES << calendar->shift) +
                         1; /* no slice ends behind all ranks */
    calendar->base = least < last_base ? least : last_base;
    calendar->far = CALENDAR_NONE;
    for (; input != CALENDAR_NONE; input = after) {
        after = calendar->waiting[input].next;
        wait(calendar, input, calendar->waiting[input].rank);
    }
}

/* The slice from this one on that has inputs; CALENDAR_SLICES when there is none. */
static uint32_t find_slice(const struct calendar *calendar, uint32_t from)
{
    if (from >= CALENDAR_SLICES)
        return CALENDAR_SLICES;
    uint32_t word = from / 64;
    uint64_t bits = calendar->filled[word] & UINT64_MAX << from % 64;
    while (!bits && ++word < CALENDAR_SLICES / 64)
        bits = calendar->filled[word];
    return bits ? word * 64 + (uint32_t)__builtin_ctzll(bits) : CALENDAR_SLICES;
}

/* The inputs of a slice, at least one, go to the heap, which is empty. */
static inline void enter(struct calendar *calendar, uint32_t slice)
{
    struct calendar_head *heap = calendar->heap;
    const struct calendar_waiting *waiting = calendar->waiting;
    uint32_t input = take_list(calendar, slice);
    calendar->slice = slice;
    calendar->end = calendar->base + (((uint64_t)slice + 1) << calendar->shift) - 1;
    heap[0] = (struct calendar_head){waiting[input].rank, input};
    calendar->heap_n = 1;
    for (input = waiting[input].next; input != CALENDAR_NONE; input = waiting[input].next)
        rise(heap, calendar->heap_n++, (struct calendar_head){waiting[input].rank, input});
}

/* The heap is empty: the next slice that has inputs is under way. */
static void advance(struct calendar *calendar)
{
    uint32_t slice = find_slice(calendar, calendar->slice + 1);
    if (slice < CALENDAR_SLICES) {
        enter(calendar, slice);
    } else if (calendar->far != CALENDAR_NONE) {
        calendar->slice = CALENDAR_SLICES - 1;
        adapt(calendar);
        cut(calendar);
        enter(calendar, find_slice(calendar, 0));
    }
}

void calendar_add(struct calendar *calendar, size_t input, uint64_t rank)
{
    if (calendar->n <= FEW) {
        rise(calendar->heap, calendar->heap_n++, (struct calendar_head){rank, input});
        return;
    }
    calendar->waiting[input] = (struct calendar_waiting){rank, calendar->far};
    calendar->far = (uint32_t)input;
}

void calendar_begin(struct calendar *calendar)
{
    if (calendar->far == CALENDAR_NONE)
        return;
    cut(calendar);
    enter(calendar, find_slice(calendar, 0));
}

void calendar_cut_again(struct calendar *calendar)
{
    calendar->moves_left = UINT64_MAX;
    if (calendar->n <= FEW)
        return;
    adapt(calendar);
    for (uint32_t slice; (slice = find_slice(calendar, 0)) < CALENDAR_SLICES;)
        for (uint32_t input = take_list(calendar, slice), after; input != CALENDAR_NONE;
             input = after) {
            after = calendar->waiting[input].next;
            calendar_add(calendar, input, calendar->waiting[input].rank);
        }
    while (calendar->heap_n > 0) {
        const struct calendar_head *head = &calendar->heap[--calendar->heap_n];
        calendar_add(calendar, (size_t)head->input, head->rank);
    }
    calendar_begin(calendar);
}

void calendar_drop_top(struct calendar *calendar)
{
    struct calendar_head *heap = calendar->heap;
    size_t n = --calendar->heap_n;
    if (n == 0)
        advance(calendar);
    else if (n == 1)
        heap[0] = heap[1];
    else
        fill_top(heap, n, heap[n]);
}

void calendar_defer_top(struct calendar *calendar, uint64_t rank)
{
    wait(calendar, (uint32_t)calendar->heap[0].input, rank);
    calendar_drop_top(calendar);
}
