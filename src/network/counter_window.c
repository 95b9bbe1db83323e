/* The sliding window over event counters.
 *
 *   first        next - COUNTER_WINDOW              next
 *     |  final         | bit set: seen or missing    |  expected
 *
 * A counter at or after `next` moves the window; the skipped counters count as lost. A counter
 * inside of the window is late if its bit is clear, and then no longer lost; else it is a
 * duplicate. A counter before the window is stale: too late to close its gap. Two stale counters
 * that follow each other restart the stream: the sender numbers its events from 0 again. Distances
 * are those of 32-bit serial numbers, so counters may wrap.
 *
 * The bit set is allocated at the first gap; until then all counters from `first` on were seen.
 * Cost: O(1) per event, O(gap) bits for a gap, at most COUNTER_WINDOW. */
#include "network/counter_window.h"

#include <string.h>

#define WORDS (COUNTER_WINDOW / 64)

/* Maximum distance of two stale counters that restart a stream. */
#define RESTART_DISTANCE 1024u

static bool is_counter_seen(const struct counter_window *window, uint32_t counter)
{
    uint32_t at = counter % COUNTER_WINDOW;
    return !window->seen || window->seen[at / 64] >> at % 64 & 1;
}

static void set_counter_seen(struct counter_window *window, uint32_t counter, bool is_set)
{
    uint32_t at = counter % COUNTER_WINDOW;
    uint64_t bit = UINT64_C(1) << at % 64;
    if (window->seen && is_set)
        window->seen[at / 64] |= bit;
    else if (window->seen)
        window->seen[at / 64] &= ~bit;
}

/* Allocates the bit set, in which all counters from `first` to `next` are set. */
static void start_recording_bits(struct counter_window *window, const struct alloc *alloc)
{
    if (window->seen)
        return;
    window->seen = alloc_zero(alloc, WORDS, sizeof *window->seen);
    uint32_t n = window->next - window->first;
    for (uint32_t i = 1; window->seen && i <= (n < COUNTER_WINDOW ? n : COUNTER_WINDOW); i++)
        set_counter_seen(window, window->next - i, true);
}

static void restart_window(struct counter_window *window, uint32_t counter)
{
    window->is_started = true;
    window->has_stale = false;
    window->first = counter;
    window->before += counter;
    window->next = counter + 1;
    if (window->seen)
        memset(window->seen, 0, WORDS * sizeof *window->seen);
    set_counter_seen(window, counter, true);
}

static void skip_lost_counters(struct counter_window *window, const struct alloc *alloc, uint32_t n)
{
    start_recording_bits(window, alloc);
    window->lost += n;
    if (n >= COUNTER_WINDOW && window->seen)
        memset(window->seen, 0, WORDS * sizeof *window->seen);
    for (uint32_t i = 0; n < COUNTER_WINDOW && i < n; i++)
        set_counter_seen(window, window->next + i, false);
}

/* Adds a counter that is `back` before `next`, inside of the window. */
static enum counter_result add_earlier_counter(struct counter_window *window,
                                               const struct alloc *alloc, uint32_t counter,
                                               uint32_t back)
{
    uint32_t held = window->next - window->first;
    bool is_before_first = back > held;
    if (!is_before_first && is_counter_seen(window, counter)) {
        window->duplicates++;
        return COUNTER_DUPLICATE;
    }
    start_recording_bits(window, alloc);
    if (is_before_first) {
        window->lost += back - held - 1;
        window->before -= back - held;
        window->first = counter;
    } else {
        window->lost--;
    }
    window->late++;
    set_counter_seen(window, counter, true);
    return COUNTER_LATE;
}

/* Adds a counter that is before the window. */
static enum counter_result add_stale_counter(struct counter_window *window,
                                             const struct alloc *alloc, uint32_t counter)
{
    uint32_t skipped = counter - window->stale - 1;
    if (!window->has_stale || skipped >= RESTART_DISTANCE) {
        window->has_stale = true;
        window->stale = counter;
        window->late++;
        return COUNTER_LATE;
    }
    window->restarts++;
    window->late--;
    restart_window(window, window->stale);
    if (skipped)
        skip_lost_counters(window, alloc, skipped);
    set_counter_seen(window, counter, true);
    window->next = counter + 1;
    return COUNTER_RESTART;
}

enum counter_result counter_window_add(struct counter_window *window, const struct alloc *alloc,
                                       uint32_t counter)
{
    uint32_t ahead = counter - window->next, back = window->next - counter;
    window->any |= counter;
    if (!window->is_started) {
        restart_window(window, counter);
        return COUNTER_NEW;
    }
    if (ahead < UINT32_MAX / 2) {
        if (ahead)
            skip_lost_counters(window, alloc, ahead);
        set_counter_seen(window, counter, true);
        window->next = counter + 1;
        return COUNTER_NEW;
    }
    if (back <= COUNTER_WINDOW && back <= (uint64_t)(window->next - window->first) + window->first)
        return add_earlier_counter(window, alloc, counter, back);
    return add_stale_counter(window, alloc, counter);
}

void counter_window_free(struct counter_window *window, const struct alloc *alloc)
{
    alloc_free(alloc, window->seen, WORDS, sizeof *window->seen);
    window->seen = NULL;
}
