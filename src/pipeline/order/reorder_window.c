/* Merge of two sorted lists each time the window is full: the sorted rest of the last time, and the
 * new events.  Events that arrive in order cost one comparison and one copy.
 *
 * Events of equal time keep their order of arrival, except complete spans (TTR_KIND_SPAN) with
 * equal ends: the shorter comes first.  Some programs write the outer span first, but nesting needs
 * children before their parent. */
#include "pipeline/order/reorder_window.h"

#include <string.h>

#include "base/saturate.h"

void reorder_init(struct reorder *window, const struct alloc *alloc)
{
    *window = (struct reorder){.alloc = alloc};
}

void reorder_free(struct reorder *window)
{
    alloc_free(window->alloc, window->event, window->event_room, sizeof *window->event);
    alloc_free(window->alloc, window->key, window->key_room, sizeof *window->key);
    alloc_free(window->alloc, window->merged, window->merged_room, sizeof *window->merged);
    alloc_free(window->alloc, window->spare, window->spare_room, sizeof *window->spare);
    alloc_free(window->alloc, window->free, window->free_room, sizeof *window->free);
}

static bool grow_window(struct reorder *window)
{
    const struct alloc *alloc = window->alloc;
    size_t need = window->n + 1;
    return alloc_reserve(alloc, (void **)&window->event, &window->event_room, need,
                         sizeof *window->event) &&
           alloc_reserve(alloc, (void **)&window->merged, &window->merged_room, need,
                         sizeof *window->merged) &&
           alloc_reserve(alloc, (void **)&window->spare, &window->spare_room, need,
                         sizeof *window->spare) &&
           alloc_reserve(alloc, (void **)&window->free, &window->free_room, need,
                         sizeof *window->free) &&
           alloc_reserve(alloc, (void **)&window->key, &window->key_room, need,
                         sizeof *window->key);
}

static int64_t get_span_end(const struct event_ref *event)
{
    if (event->kind != TTR_KIND_SPAN)
        return event->time;
    return saturate_end_ns(event->time, event->duration);
}

bool reorder_add(struct reorder *window, const struct event_ref *event)
{
    if (window->n == window->key_room && !grow_window(window))
        return false;
    size_t place = window->free_n ? window->free[--window->free_n] : window->n;
    window->event[place] = *event;
    window->key[window->n++] =
        (struct order_key){.rank = order_time(get_span_end(event)), .index = (uint32_t)place};
    return true;
}

/* Merges the sorted first part of `key`, kept by the last call, with the sorted new keys after it.
 * Of equal keys, the kept ones come first. */
static void merge_front_and_back(struct reorder *window)
{
    const struct order_key *front = window->key, *front_end = front + window->sorted;
    const struct order_key *back = front_end, *back_end = window->key + window->n;
    struct order_key *to = window->merged;
    while (front < front_end && back < back_end)
        *to++ = back->rank < front->rank ? *back++ : *front++;
    memcpy(to, front, (size_t)(front_end - front) * sizeof *to);
    to += front_end - front;
    /* Keys that were not merged are already at their final position. */
    memcpy(window->key, window->merged, (size_t)(to - window->merged) * sizeof *to);
}

/* Sorts complete spans with equal ends among keys [begin, end): later starts first. Other events
 * keep their positions. */
static void sort_ties(struct reorder *window, size_t begin, size_t end)
{
    struct order_key *spans = window->merged;
    size_t n = 0;
    for (size_t i = begin; i < end; i++) {
        const struct event_ref *event = reorder_get_event(window, i);
        if (event->kind == TTR_KIND_SPAN)
            spans[n++] =
                (struct order_key){.rank = ~order_time(event->time), .index = window->key[i].index};
    }
    radix_sort_keys(spans, window->spare, n);
    for (size_t i = begin, k = 0; i < end; i++)
        if (reorder_get_event(window, i)->kind == TTR_KIND_SPAN)
            window->key[i].index = spans[k++].index;
}

/* Returns true if keys [begin, end), which have equal ends, need sort_ties. */
static bool is_tie_unordered(const struct reorder *window, size_t begin, size_t end)
{
    int64_t last = INT64_MAX;
    for (size_t i = begin; i < end; i++) {
        const struct event_ref *event = reorder_get_event(window, i);
        if (event->kind != TTR_KIND_SPAN)
            continue;
        if (event->time > last)
            return true;
        last = event->time;
    }
    return false;
}

/* Calls sort_ties for each group of equal ends among the first n keys. */
static void sort_all_ties(struct reorder *window, size_t n)
{
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && window->key[end].rank == window->key[begin].rank;)
            end++;
        if (end - begin > 1 && is_tie_unordered(window, begin, end))
            sort_ties(window, begin, end);
    }
}

size_t reorder_count_ready(struct reorder *window, bool is_at_end)
{
    if (window->n == 0)
        return 0;
    radix_sort_keys(window->key + window->sorted, window->spare, window->n - window->sorted);
    if (window->sorted && window->sorted < window->n &&
        window->key[window->sorted].rank < window->key[window->sorted - 1].rank)
        merge_front_and_back(window);
    window->sorted = window->n;
    size_t n = is_at_end ? window->n : window->n / 2;
    /* Spans with the same end stay together for sort_ties. They are kept for the next call if at
     * least half of the events can be returned without them. */
    size_t before_tie = n;
    while (before_tie > n / 2 && before_tie < window->n &&
           window->key[before_tie].rank == window->key[before_tie - 1].rank)
        before_tie--;
    n = before_tie > n / 2 ? before_tie : n;
    sort_all_ties(window, n);
    return n;
}

void reorder_drop_front(struct reorder *window, size_t n)
{
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        window->free[window->free_n++] = window->key[i].index;
    window->n -= n;
    window->sorted -= n;
    memmove(window->key, window->key + n, window->n * sizeof *window->key);
}
