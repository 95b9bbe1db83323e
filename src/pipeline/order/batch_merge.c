/* Windowed merge of many inputs; batch_merge.h describes the algorithm. */
#include "pipeline/order/batch_merge.h"

#include <string.h>

#include "model/input.h"
#include "pipeline/order/radix_sort.h"

#define EACH_WANTED 32u  /* target number of events per input and window */
#define WANTED_MIN 4096u /* bounds of the target number of events per window */
#define WANTED_MAX 32768u
#define WINDOW_PARTS                                                                          \
    4u                            /* a single read of an input may fill 1 / WINDOW_PARTS of a \
                                   * window */
#define EACH_ROOM INPUT_BATCH_MIN /* number of events for which each input has reserved space */
#define LINE 64u                  /* bytes of a cache line */
#define SPAN_FIRST 1024u          /* length of the first window in ns */
#define INDEX_BITS 20u            /* low bits of a sort key that hold the index of the event */
#define INDEX_MASK ((UINT64_C(1) << INDEX_BITS) - 1)
/* number of ranks for which a sort key has bits above the index */
#define RANKS ((UINT64_MAX >> INDEX_BITS) - 1)
#define SPAN_MAX (RANKS / 4)
#define DIGIT_BITS_MAX 11u

struct batch_input {
    uint64_t bound; /* lower bound of the ranks of the events not yet read */
    uint64_t last;  /* rank of the last event read */
    uint32_t at, n; /* index of the first event in `events` that was read and not returned, and
                     * number of such events */
    bool has_ended;
};

static uint32_t choose_window_event_count(size_t n)
{
    if (n >= WANTED_MAX / EACH_WANTED)
        return WANTED_MAX;
    uint32_t wanted = (uint32_t)n * EACH_WANTED;
    return wanted < WANTED_MIN ? WANTED_MIN : wanted;
}

static size_t get_event_capacity(size_t n)
{
    return n * EACH_ROOM + 2 * (size_t)choose_window_event_count(n);
}

bool batch_merge_is_possible(ttr_reader *const *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!reader_can_read_until(in[i]))
            return false;
    return n >= BATCH_MERGE_INPUTS_MIN && get_event_capacity(n) <= INDEX_MASK;
}

bool batch_merge_init(struct batch_merge *merge, const struct alloc *alloc, ttr_reader *const *in,
                      size_t n, uint32_t room)
{
    const size_t capacity = get_event_capacity(n);
    *merge = (struct batch_merge){.alloc = alloc,
                                  .in = in,
                                  .n = n,
                                  .capacity = capacity,
                                  .room = room,
                                  .span = SPAN_FIRST,
                                  .ending = TTR_END,
                                  .reading = n};
    merge->events = alloc_large(alloc, capacity, sizeof *merge->events);
    merge->ranks = alloc_resize(alloc, NULL, 0, capacity, sizeof *merge->ranks);
    merge->input = alloc_zero(alloc, n, sizeof *merge->input);
    merge->placed = alloc_zero(alloc, n, sizeof *merge->placed);
    merge->keys = alloc_resize(alloc, NULL, 0, capacity, sizeof *merge->keys);
    merge->spare = alloc_resize(alloc, NULL, 0, capacity, sizeof *merge->spare);
    merge->pick = alloc_zero(alloc, room, sizeof *merge->pick);
    return merge->events && merge->ranks && merge->input && merge->placed && merge->keys &&
           merge->spare && merge->pick;
}

void batch_merge_free(struct batch_merge *merge)
{
    const struct alloc *alloc = merge->alloc;
    alloc_free(alloc, merge->events, merge->capacity, sizeof *merge->events);
    alloc_free(alloc, merge->ranks, merge->capacity, sizeof *merge->ranks);
    alloc_free(alloc, merge->input, merge->n, sizeof *merge->input);
    alloc_free(alloc, merge->placed, merge->n, sizeof *merge->placed);
    alloc_free(alloc, merge->keys, merge->capacity, sizeof *merge->keys);
    alloc_free(alloc, merge->spare, merge->capacity, sizeof *merge->spare);
    alloc_free(alloc, merge->pick, merge->room, sizeof *merge->pick);
}

/* --- Start of a window --- */

/* Subtracts from the shared surplus the events of an input that exceed its reserved space. */
static void subtract_from_surplus(struct batch_merge *merge, const struct batch_input *input)
{
    merge->surplus -= input->n > EACH_ROOM ? input->n - EACH_ROOM : 0;
}

/* Moves events that the last window kept to the front of the array. */
static void move_kept_events_to_front(struct batch_merge *merge)
{
    size_t kept = 0;
    merge->used = 0;
    merge->surplus = merge->capacity - merge->n * EACH_ROOM;
    for (size_t i = 0; i < merge->placed_n; i++) {
        struct batch_input *input = &merge->input[merge->placed[i]];
        if (input->n == 0)
            continue;
        memmove(merge->events + merge->used, merge->events + input->at,
                input->n * sizeof *merge->events);
        memmove(merge->ranks + merge->used, merge->ranks + input->at,
                input->n * sizeof *merge->ranks);
        input->at = (uint32_t)merge->used;
        merge->used += input->n;
        subtract_from_surplus(merge, input);
        merge->placed[kept++] = merge->placed[i];
    }
    merge->placed_n = kept;
}

/* Sets the range of ranks of the window. Inputs with kept events are not read, so the window ends
 * before their next unread event. */
static void begin_window(struct batch_merge *merge)
{
    uint64_t begin = UINT64_MAX, most = UINT64_MAX;
    bool is_over = true;
    for (size_t i = 0; i < merge->n; i++) {
        const struct batch_input *input = &merge->input[i];
        const uint64_t first = input->n ? merge->ranks[input->at] : input->bound;
        if (input->has_ended && input->n == 0)
            continue;
        is_over = false;
        begin = first < begin ? first : begin;
        if (!input->has_ended && input->n)
            most = input->bound < most ? input->bound : most;
    }
    merge->is_over = is_over;
    merge->begin = begin;
    merge->until = begin > UINT64_MAX - merge->span ? UINT64_MAX : begin + merge->span;
    merge->is_cut = most < merge->until;
    if (merge->is_cut)
        /* a window contains at least rank `begin` */
        merge->until = most > begin ? most : begin + 1;
    merge->is_shortened = false;
    merge->reading = 0;
    move_kept_events_to_front(merge);
}

/* --- Reading --- */

/* Returns the number of events that one read of an input may return. The limit leaves space for
 * other inputs during a burst. */
static uint32_t get_read_limit(const struct batch_merge *merge)
{
    const uint32_t most = choose_window_event_count(merge->n) / WINDOW_PARTS;
    return (uint32_t)(EACH_ROOM + (merge->surplus < most ? merge->surplus : most));
}

/* Sets the lower bound of an input's unread events. If some of them may be inside the window,
 * shortens the window to that bound, so that later inputs are not read beyond it. */
static void update_input_bound(struct batch_merge *merge, struct batch_input *input,
                               const struct reader_partial_read *some)
{
    const uint64_t next = order_time(some->next);
    input->bound = some->is_stopped && next > input->last ? next : input->last;
    if (some->is_stopped || input->has_ended || input->bound < merge->begin ||
        input->bound >= merge->until - 1)
        return;
    merge->until = input->bound + 1;
    merge->is_shortened = true;
}

/* Computes the ranks of the events that an input returned; `last` is the rank of its previous
 * event. Returns the last rank. */
static uint64_t rank_events(const struct reader_partial_read *some, uint64_t *ranks, uint64_t last)
{
    for (uint32_t i = 0; i < some->n; i++) {
        const uint64_t ctx = order_time(some->events[i].time);
        last = ctx > last ? ctx : last;
        ranks[i] = last;
    }
    return last;
}

/* Reads an input up to the end of the window. */
static ttr_status read_input(struct batch_merge *merge, size_t i)
{
    struct batch_input *input = &merge->input[i];
    struct reader_partial_read some = {.until = (int64_t)order_time((int64_t)merge->until),
                                       .events = merge->events + merge->used,
                                       .room = get_read_limit(merge)};
    ttr_error ctx;
    ttr_status status = reader_read_until(merge->in[i], &some, &ctx);
    if (status == TTR_AGAIN)
        return TTR_AGAIN;
    input->has_ended = status != TTR_OK;
    if (input->has_ended && status != TTR_END && merge->ending == TTR_END) {
        merge->ending = status;
        merge->ending_error = ctx;
    }
    input->at = (uint32_t)merge->used;
    input->n = some.n;
    merge->used += some.n;
    subtract_from_surplus(merge, input);
    if (some.n)
        merge->placed[merge->placed_n++] = (uint32_t)i;
    input->last = rank_events(&some, merge->ranks + input->at,
                              input->last > merge->begin ? input->last : merge->begin);
    update_input_bound(merge, input, &some);
    return TTR_OK;
}

static ttr_status read_all_inputs(struct batch_merge *merge)
{
    for (; merge->reading < merge->n; merge->reading++) {
        const struct batch_input *input = &merge->input[merge->reading];
        if (input->n || input->has_ended ||
            (input->bound >= merge->until && merge->until < UINT64_MAX))
            continue;
        ttr_status status = read_input(merge, merge->reading);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

/* --- End of a window --- */

/* End of the events that can be returned: events of lower rank, and those of this rank from inputs
 * up to number `input`. */
struct window_end {
    uint64_t rank;
    size_t input;
};

/* Returns the position before which all events have been read: no unread event precedes it. */
static struct window_end find_window_end(const struct batch_merge *merge)
{
    struct window_end end = {.rank = UINT64_MAX, .input = SIZE_MAX};
    for (size_t i = 0; i < merge->n; i++) {
        const struct batch_input *input = &merge->input[i];
        if (!input->has_ended && input->bound < end.rank)
            end = (struct window_end){.rank = input->bound, .input = i};
    }
    return end;
}

/* Collects the sort keys of the events up to `end`, input by input. A stable sort by rank then
 * orders equal ranks by input. */
static void collect_keys(struct batch_merge *merge)
{
    const struct window_end end = find_window_end(merge);
    const uint64_t begin = merge->begin;
    const uint64_t last = end.rank - begin < RANKS ? end.rank : begin + RANKS;
    uint64_t *key = merge->keys;
    merge->key_most = 0;
    for (size_t i = 0; i < merge->n; i++) {
        struct batch_input *input = &merge->input[i];
        /* exclusive upper bound of ranks relative to `begin` */
        const uint64_t limit = last - begin + (i <= end.input);
        const uint64_t *const ranks = merge->ranks + input->at;
        uint32_t n = 0;
        for (; n < input->n && ranks[n] - begin < limit; n++)
            *key++ = (ranks[n] - begin) << INDEX_BITS | (input->at + n);
        if (n && key[-1] > merge->key_most)
            merge->key_most = key[-1];
        input->at += n;
        input->n -= n;
    }
    merge->keys_n = (size_t)(key - merge->keys);
    merge->returned = 0;
}

/* Sorts by `bits` bits of the keys, from bit `shift` on, at most DIGIT_BITS_MAX. */
static void sort_digit(struct batch_merge *merge, unsigned shift, unsigned bits)
{
    uint64_t *const keys = merge->keys, *const to = merge->spare;
    const size_t n = merge->keys_n;
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint32_t next[1u << DIGIT_BITS_MAX], at = 0;
    memset(next, 0, sizeof next[0] << bits);
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++)
        next[keys[i] >> shift & mask]++;
    for (size_t i = 0; i <= mask; i++) {
        const uint32_t count = next[i];
        next[i] = at;
        at += count;
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++)
        to[next[keys[i] >> shift & mask]++] = keys[i];
    merge->keys = to;
    merge->spare = keys;
}

/* Sorts by rank, the bits above INDEX_BITS: as few digits as possible, of about equal size. */
static void sort_keys(struct batch_merge *merge)
{
    const uint64_t most = merge->key_most >> INDEX_BITS;
    const unsigned used = most ? 64u - (unsigned)__builtin_clzll(most) : 0;
    const unsigned digits = (used + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    for (unsigned i = 0; i < digits; i++)
        sort_digit(merge, INDEX_BITS + i * used / digits,
                   (i + 1) * used / digits - i * used / digits);
}

/* Adapts the length of the next window to the number of events in this one: longer after few,
 * shorter after many. */
static void adapt_window_span(struct batch_merge *merge)
{
    const uint64_t wanted = choose_window_event_count(merge->n), n = merge->keys_n,
                   took = merge->until - merge->begin;
    if (merge->is_shortened && (n < wanted / WINDOW_PARTS || took >= merge->span / WINDOW_PARTS))
        return;
    if (merge->is_shortened)
        merge->span = took;
    else if (2 * n < wanted)
        merge->span = merge->span < SPAN_MAX / 2 ? merge->span * 2 : SPAN_MAX;
    else if (n > wanted + wanted / 4)
        merge->span = merge->span > 3 ? merge->span - merge->span / 4 : 1;
    else if (n < wanted - wanted / 4)
        merge->span += merge->span / 8;
}

static ttr_status next_window(struct batch_merge *merge)
{
    if (merge->reading == merge->n)
        begin_window(merge);
    ttr_status status = read_all_inputs(merge);
    if (status != TTR_OK)
        return status;
    collect_keys(merge);
    if (!merge->is_cut)
        adapt_window_span(merge);
    sort_keys(merge);
    return TTR_OK;
}

ttr_status batch_merge_next(struct batch_merge *merge, ttr_batch *batch)
{
    *batch = (ttr_batch){.event = merge->events, .pick = merge->pick};
    while (!merge->is_over && (merge->reading < merge->n || merge->returned == merge->keys_n)) {
        ttr_status status = next_window(merge);
        if (status != TTR_OK)
            return status;
    }
    const size_t left = merge->is_over ? 0 : merge->keys_n - merge->returned;
    const uint64_t *key = merge->keys + merge->returned;
    batch->n = left < merge->room ? (uint32_t)left : merge->room;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = &merge->events[merge->pick[i] = (uint32_t)(key[i] & INDEX_MASK)];
        __builtin_prefetch(event);
        __builtin_prefetch((const char *)event + LINE);
    }
    for (uint32_t i = 0; i < batch->n; i++)
        __builtin_prefetch(merge->events[merge->pick[i]].payload);
    merge->returned += batch->n;
    return TTR_OK;
}
