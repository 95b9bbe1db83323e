/* Capture threads with their sequence counters, threads of events, and lost events.
 *
 * Each capture thread numbers its events:
 *
 *   event           lost = (number - number of the previous event - 1) mod 2^32
 *   sequence point  lost = (number - last number seen) mod 2^32
 *
 * A thread that is seen for the first time has lost nothing; in V6 it starts at 1, because it is
 * declared before. Before V6 a jump to 1 means that the OS reused the thread id. A counter that
 * goes back (lost above 2^31) is not a loss. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

ttr_id nettrace_get_thread_without_tid(struct nettrace_reader *reader, uint64_t index, uint64_t pid)
{
    struct pair_map *map = &reader->threads.unnumbered;
    const uint32_t *known = pair_map_get(map, index, pid);
    if (known)
        return *known;
    ttr_id thread = context_add_unnumbered_thread(reader->t, reader->in->id, pid);
    return thread && pair_map_put(map, index, pid, thread) ? thread : 0;
}

/* V6: returns the thread at an index of the thread table. If the index was never declared, it is a
 * thread without a tid. */
static ttr_id find_or_add_thread(struct nettrace_reader *reader, uint64_t index)
{
    const uint32_t *known = pair_map_get(&reader->threads.by_index, index, 0);
    return known ? *known : nettrace_get_thread_without_tid(reader, index, reader->pid);
}

static void reset_sequence_counters(struct nettrace_reader *reader, uint64_t id)
{
    const uint32_t *known = pair_map_get(&reader->threads.by_id, id, 0);
    if (known)
        reader->threads.capture[*known].is_known = false;
}

void nettrace_thread_remove(struct nettrace_reader *reader, uint64_t index)
{
    reset_sequence_counters(reader, find_or_add_thread(reader, index));
    memset(reader->threads.cache, 0, sizeof reader->threads.cache);
    (void)pair_map_remove(&reader->threads.by_index, index, 0);
}

void nettrace_threads_reset(struct nettrace_reader *reader)
{
    struct nettrace_threads *threads = &reader->threads;
    for (size_t i = 0; i < threads->capture_n; i++)
        threads->capture[i].is_known = false;
    memset(threads->cache, 0, sizeof threads->cache);
    pair_map_free(&threads->by_index);
    pair_map_init(&threads->by_index, &reader->t->counted);
}

size_t nettrace_get_capture_thread_index(struct nettrace_reader *reader, uint64_t id)
{
    struct nettrace_threads *threads = &reader->threads;
    uint64_t number = id;
    if (reader->version >= NETTRACE_V6) {
        id = find_or_add_thread(reader, id);
        if (!id)
            return SIZE_MAX;
        number = reader->t->threads[id].tid_known ? reader->t->threads[id].tid : number;
    }
    const uint32_t *known = pair_map_get(&threads->by_id, id, 0);
    if (known)
        return *known;
    struct nettrace_capture_thread capture = {.id = id, .tail = NETTRACE_NONE};
    capture.track =
        context_add_track(reader->t, &(ttr_track){.number = number, .source = reader->in->id});
    if (!capture.track || threads->capture_n >= UINT32_MAX ||
        !alloc_reserve(&reader->t->counted, (void **)&threads->capture, &threads->capture_capacity,
                       threads->capture_n + 1, sizeof *threads->capture) ||
        !pair_map_put(&threads->by_id, id, 0, (uint32_t)threads->capture_n))
        return SIZE_MAX;
    threads->capture[threads->capture_n] = capture;
    return threads->capture_n++;
}

bool nettrace_thread_define(struct nettrace_reader *reader, uint64_t index, ttr_id thread)
{
    memset(reader->threads.cache, 0, sizeof reader->threads.cache);
    if (!pair_map_put(&reader->threads.by_index, index, 0, thread))
        return false;
    size_t which = nettrace_get_capture_thread_index(reader, index);
    if (which == SIZE_MAX)
        return false;
    struct nettrace_capture_thread *capture = &reader->threads.capture[which];
    if (!capture->is_known) {
        capture->is_known = true;
        capture->sequence = 0;
    }
    return true;
}

static bool queue_gap(struct nettrace_reader *reader, const struct nettrace_gap *gap)
{
    struct nettrace_order *order = &reader->order;
    /* if the queue is full, extend the last gap in it */
    if (order->gaps_n >= NETTRACE_GAPS_MAX) {
        struct nettrace_gap *last = &order->gaps[order->gaps_n - 1];
        last->count += gap->count;
        last->to = gap->to > last->to ? gap->to : last->to;
        return true;
    }
    if (!alloc_reserve(&reader->t->counted, (void **)&order->gaps, &order->gaps_capacity,
                       order->gaps_n + 1, sizeof *order->gaps))
        return false;
    order->gaps[order->gaps_n++] = *gap;
    return true;
}

bool nettrace_update_sequence(struct nettrace_reader *reader, size_t index,
                              const struct nettrace_header *header, bool is_point)
{
    struct nettrace_capture_thread *capture = &reader->threads.capture[index];
    uint32_t lost = header->sequence - capture->sequence - !is_point;
    bool is_known =
        capture->is_known && (reader->version >= NETTRACE_V6 ||
                              (capture->sequence != 0 && (header->sequence != 1 || is_point)));
    struct nettrace_gap gap = {
        .from = capture->ticks,
        .to = header->ticks,
        .count = lost,
        .track = capture->track,
        .offset = header->start ? reader->in->window.offset +
                                      (uint64_t)(header->start - reader->in->window.bytes)
                                : reader->at};
    if (gap.from > gap.to || !capture->ticks) /* the gap starts at an unknown time, since no earlier
                                                 event of this thread is known */
        gap.from = gap.to;
    if (is_known && lost > INT32_MAX && is_point)
        /* the sequence point is older than the last event, so it does not prove that events were
         * lost */
        return true;
    capture->is_known = true;
    capture->sequence = header->sequence;
    if (is_point && !is_known)
        return true;
    capture->ticks = header->ticks;
    return !is_known || lost == 0 || lost > INT32_MAX || queue_gap(reader, &gap);
}

ttr_id nettrace_get_thread(struct nettrace_reader *reader, uint64_t tid)
{
    size_t slot = (size_t)((tid * UINT64_C(0x9e3779b97f4a7c15)) >> 56) % NETTRACE_THREAD_CACHE;
    if (reader->threads.cache[slot].thread && reader->threads.cache[slot].tid == tid)
        return reader->threads.cache[slot].thread;
    ttr_id thread = reader->version < NETTRACE_V6
                        ? context_thread(reader->t, reader->in->id, reader->pid, tid)
                        : find_or_add_thread(reader, tid);
    reader->threads.cache[slot].tid = tid;
    reader->threads.cache[slot].thread = thread;
    return thread;
}
