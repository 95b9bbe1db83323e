/* Ordering of events: a k-way merge of runs by (ticks, position), with a binary heap.
 *
 * Order of calls: nettrace_scan.c fills runs (nettrace_run_new(), nettrace_run_enqueue()). A
 * sequence point, a sorted event or the end of the trace calls nettrace_order_flush_until(limit).
 * Then nettrace_order_emit() is called until everything up to the limit is in batches.
 *
 *   heap          chain                     run: cached or encoded headers
 *   [t=10] -----> run --> run --> run       e10 e12 e15
 *   [t=11] -----> run                       e11
 *   [t=14] -----> run --> run               e14 e14 e20
 *
 * A chain is a list of runs of one capture thread, each of which starts at or after the end of the
 * one before. So the heap has about one entry per thread, not per run.
 *
 * emit_turn() emits from the first chain until another chain, a gap or the limit comes first: only
 * the two children of the root can come next. Most turns emit many events per heap operation.
 *
 * Invariants: a run in the heap has at least one waiting event, and run->at is its decoded header.
 * Pointers in runs and heap are valid for the current window; nettrace_order_rebase_pointers()
 * adjusts them when it moves. The window keeps bytes from order->keep_from on.
 *
 * Events of equal ticks are emitted in file order (NET-ORDER-2). Events that are older than one
 * already emitted break the format's promise: they are emitted at once, with a note (NET-ORDER-5).
 *
 * Cost: O(log threads) per turn, plus one header decode for events that are not in the ring of
 * cached headers. No allocation per event.
 *
 * Left out: sorting inside a thread. Where time goes back inside a block a new run starts, and the
 * merge does the rest. */
#include <stdlib.h>

#include "base/status.h"
#include "formats/nettrace/nettrace.h"
#include "model/activity.h"

void nettrace_order_init(struct nettrace_order *order)
{
    order->free = NETTRACE_NONE;
    order->hold = UINT64_MAX;
}

void nettrace_order_free(struct nettrace_reader *reader)
{
    struct nettrace_order *order = &reader->order;
    const struct alloc *alloc = &reader->t->counted;
    alloc_free(alloc, order->runs, order->runs_capacity, sizeof *order->runs);
    alloc_free(alloc, order->heap, order->heap_capacity, sizeof *order->heap);
    alloc_free(alloc, order->seen, NETTRACE_SEEN_MAX, sizeof *order->seen);
    alloc_free(alloc, order->gaps, order->gaps_capacity, sizeof *order->gaps);
}

struct nettrace_run *nettrace_run_new(struct nettrace_reader *reader,
                                      const struct nettrace_header *header)
{
    struct nettrace_order *order = &reader->order;
    uint32_t index = order->free;
    if (index != NETTRACE_NONE) {
        order->free = order->runs[index].next;
    } else {
        if (!alloc_reserve(&reader->t->counted, (void **)&order->runs, &order->runs_capacity,
                           (size_t)order->runs_n + 1, sizeof *order->runs))
            return NULL;
        index = order->runs_n++;
    }
    struct nettrace_run *run = &order->runs[index];
    run->at = *header;
    run->track = run->thread = 0;
    run->next = NETTRACE_NONE;
    run->stamp = ++order->stamp;
    run->seen = run->seen_end = order->seen_n;
    order->runs_used++;
    return run;
}

static bool is_before(const struct nettrace_head *a, const struct nettrace_head *b)
{
    return a->ticks != b->ticks ? a->ticks < b->ticks : a->place < b->place;
}

/* Replaces the root of the heap. The entry is passed as scalars: copying a struct that was just
 * stored member by member would wait for the stores (failed store forwarding). */
static inline void sift_down(struct nettrace_head *heap, uint32_t n, uint64_t ticks,
                             const uint8_t *place, uint32_t run)
{
    const struct nettrace_head head = {ticks, place, run};
    uint32_t at = 0;
    for (uint32_t child = 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && is_before(&heap[child + 1], &heap[child]);
        if (!is_before(&heap[child], &head))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = head;
}

static void sift_up(struct nettrace_head *heap, uint32_t at, struct nettrace_head head)
{
    for (; at > 0 && is_before(&head, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = head;
}

/* Returns the waiting run of a capture thread that ends last, if it ends at or before `ticks`; else
 * NULL. */
static struct nettrace_run *tail_of(struct nettrace_reader *reader,
                                    const struct nettrace_capture *capture, uint64_t ticks)
{
    struct nettrace_order *order = &reader->order;
    if (capture->tail == NETTRACE_NONE)
        return NULL;
    struct nettrace_run *tail = &order->runs[capture->tail];
    return tail->stamp == capture->tail_stamp && tail->next == NETTRACE_NONE && tail->last <= ticks
               ? tail
               : NULL;
}

bool nettrace_run_add(struct nettrace_reader *reader, struct nettrace_run *run,
                      uint64_t first_ticks)
{
    struct nettrace_order *order = &reader->order;
    uint32_t index = (uint32_t)(run - order->runs);
    size_t who = nettrace_capture(reader, run->at.capture);
    if (who == SIZE_MAX)
        return false;
    struct nettrace_capture *capture = &reader->threads.capture[who];
    struct nettrace_run *tail = tail_of(reader, capture, first_ticks);
    capture->tail = index;
    capture->tail_stamp = run->stamp;
    if (tail) {
        tail->next = index;
        return true;
    }
    if (!alloc_reserve(&reader->t->counted, (void **)&order->heap, &order->heap_capacity,
                       (size_t)order->heap_n + 1, sizeof *order->heap))
        return false;
    if (run->hold < order->hold)
        order->hold = run->hold;
    sift_up(order->heap, order->heap_n++,
            (struct nettrace_head){first_ticks, run->at.start, index});
    return true;
}

static int by_from(const void *one, const void *other)
{
    const struct nettrace_gap *a = one, *b = other;
    return a->from != b->from      ? (a->from < b->from ? -1 : 1)
           : a->offset < b->offset ? -1
                                   : a->offset > b->offset;
}

void nettrace_order_release(struct nettrace_reader *reader, uint64_t limit)
{
    struct nettrace_order *order = &reader->order;
    order->limit = limit;
    order->is_giving = true;
    if (order->gaps_n > 1)
        qsort(order->gaps, order->gaps_n, sizeof *order->gaps, by_from);
}

/* Updates what waiting runs still need: bytes of the window and cached headers. A run that has
 * waited for almost the complete ring gives up its cached headers, so that other runs can use the
 * ring. */
static void settle(struct nettrace_order *order)
{
    uint32_t most = 0;
    order->hold = UINT64_MAX;
    for (uint32_t i = 0; i < order->heap_n; i++)
        for (uint32_t index = order->heap[i].run; index != NETTRACE_NONE;
             index = order->runs[index].next) {
            struct nettrace_run *run = &order->runs[index];
            order->hold = run->hold < order->hold ? run->hold : order->hold;
            uint32_t seen = run->seen != run->seen_end ? order->seen_n - run->seen : 0;
            if (seen > NETTRACE_SEEN_MAX - NETTRACE_SEEN_MAX / 8)
                run->seen = run->seen_end;
            else
                most = seen > most ? seen : most;
        }
    order->seen_least = order->seen_n - most;
}

static void move(const uint8_t **p, const struct window *before, const struct window *after)
{
    if (*p)
        *p = after->bytes + (before->offset + (uint64_t)(*p - before->bytes) - after->offset);
}

void nettrace_order_move(struct nettrace_order *order, const struct window *before,
                         const struct window *after)
{
    for (uint32_t i = 0; i < order->heap_n; i++) {
        move(&order->heap[i].place, before, after);
        for (uint32_t index = order->heap[i].run; index != NETTRACE_NONE;
             index = order->runs[index].next) {
            struct nettrace_run *run = &order->runs[index];
            move(&run->at.start, before, after);
            move(&run->at.payload, before, after);
            move(&run->at.next, before, after);
            move(&run->at.activity, before, after);
            move(&run->at.related, before, after);
            move(&run->span.origin, before, after);
            move(&run->span.end, before, after);
            move(&run->span.calm, before, after);
        }
    }
}

int64_t nettrace_time_of(const struct nettrace_reader *reader, uint64_t ticks, uint8_t *flags)
{
    bool clamped = false;
    int64_t since = (int64_t)(ticks - reader->sync_ticks);
    if (NETTRACE_UNLIKELY((since < 0) !=
                          (ticks < reader->sync_ticks))) { /* more than 63 bits apart */
        *flags |= TTR_EVENT_CLAMPED;
        return since < 0 ? INT64_MAX : INT64_MIN;
    }
    int64_t time = clockmath_add(reader->sync_ns,
                                 clockmath_ns_signed(&reader->clock, since, &clamped), &clamped);
    *flags |= clamped ? TTR_EVENT_CLAMPED : 0;
    return time;
}

/* Fast path for a clock of nanoseconds and times from its zero on for some decades. */
static inline int64_t time_of(const struct nettrace_reader *reader, uint64_t ticks, uint8_t *flags)
{
    uint64_t since = ticks - reader->sync_ticks;
    if (NETTRACE_LIKELY(since < reader->plain_ticks))
        return reader->sync_ns + (int64_t)since;
    return nettrace_time_of(reader, ticks, flags);
}

/* Looks up track and thread of a run if its header names other ones than before. Returns false if
 * memory is exhausted. */
static bool resolve(struct nettrace_reader *reader, struct nettrace_run *run, uint64_t capture,
                    uint64_t thread)
{
    if (!run->track || run->capture_id != capture) {
        size_t who = nettrace_capture(reader, capture);
        run->track = who == SIZE_MAX ? 0 : reader->threads.capture[who].track;
        run->capture_id = capture;
    }
    if (!run->thread || run->thread_id != thread) {
        run->thread = nettrace_thread(reader, thread);
        run->thread_id = thread;
    }
    return run->track && run->thread;
}

static void note_late(const struct nettrace_reader *reader, const ttr_event *event)
{
    if (!reader->gives_blocks)
        input_note(reader->in, TTR_NOTE_ODD, event->offset, "nettrace.late",
                   "an event is older than those before a sequence point or a sorted event that it "
                   "stands behind; it is given late");
}

/* Reports an event without metadata. This is certain only when it is emitted: until then metadata
 * may follow. */
static ttr_status note_unknown(const struct nettrace_reader *reader,
                               const struct nettrace_header *h)
{
    const struct window *window = &reader->in->window;
    return input_damage(reader->in, window->offset + (uint64_t)(h->start - window->bytes),
                        (uint64_t)(h->next - h->start), "nettrace.no-metadata", reader->error,
                        "an event of metadata %u, which are not defined; it is lost", h->metadata);
}

/* Copies the members that all events of a type share, in vectors of 16 bytes, and clears others. */
static inline void copy_alike(ttr_event *event, const ttr_event *like)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    _Static_assert(offsetof(ttr_event, duration) == 16 && offsetof(ttr_event, schema) == 48 &&
                       offsetof(ttr_event, cpu) == 112,
                   "members lie so");
    lanes *to = (lanes *)event;
    const lanes *from = (const lanes *)like;
    to[1] = (lanes){0, 0}; /* duration, link */
    to[3] = from[3];       /* schema, name, provider, category */
    to[7] = from[7];       /* source, tag, kind, level, opcode, part */
    event->keyword = like->keyword;
    event->body = 0;
}

/* Fills a batch event from a decoded header. */
static NETTRACE_INLINE void show(struct nettrace_reader *reader, const struct nettrace_run *run,
                                 const struct nettrace_type *type, const struct nettrace_header *h,
                                 ttr_event *event, bool is_v6)
{
    const struct window *window = &reader->in->window;
    uint8_t flags = h->cpu != UINT32_MAX ? TTR_EVENT_HAS_CPU : 0;
    copy_alike(event, &type->like);
    event->time = time_of(reader, h->ticks, &flags);
    event->ticks = h->ticks;
    event->payload = h->payload;
    event->payload_size = h->payload_size;
    event->track = run->track;
    event->thread = run->thread;
    event->offset = window->offset + (uint64_t)(h->start - window->bytes);
    event->activity = h->activity;
    event->related = h->related;
    event->stack = h->stack;
    event->sequence = h->sequence;
    event->cpu = h->cpu;
    event->flags = flags;
    if (is_v6 && NETTRACE_UNLIKELY(h->labels)) {
        event->part = h->labels;
        nettrace_labels_apply(reader, event);
    }
    if (NETTRACE_UNLIKELY(event->opcode))
        nettrace_span_mark(reader, event, type);
}

static void give_gap(struct nettrace_reader *reader)
{
    struct nettrace_order *order = &reader->order;
    const struct nettrace_gap *gap = &order->gaps[order->gaps_given++];
    uint64_t from = order->has_given && gap->from < order->given ? order->given : gap->from;
    uint8_t flags = 0;
    ttr_event *event = input_event(reader->in);
    event->time = nettrace_time_of(reader, from, &flags);
    int64_t to = nettrace_time_of(reader, gap->to, &flags);
    event->ticks = from;
    event->flags = flags;
    event->kind = TTR_KIND_GAP;
    event->duration = to > event->time ? (uint64_t)to - (uint64_t)event->time : 0;
    event->link = gap->count;
    event->track = gap->track;
    event->offset = gap->offset;
    event->tag = TTR_GAP_EVENTS;
}

/* Returns the ticks up to which the first chain may be emitted before another chain, a gap or the
 * limit comes first. */
static uint64_t turn_of(const struct nettrace_order *order)
{
    uint64_t turn = order->limit;
    for (uint32_t i = 1; i < 3 && i < order->heap_n; i++)
        turn =
            order->heap[i].ticks <= turn ? order->heap[i].ticks - (order->heap[i].ticks > 0) : turn;
    if (order->gaps_given < order->gaps_n && order->gaps[order->gaps_given].from <= turn)
        turn = order->gaps[order->gaps_given].from;
    return turn;
}

/* Emission from the first chain until another one comes first. */
struct turn {
    struct nettrace_reader *reader;
    uint64_t last;           /* limit: later events are not part of this turn */
    ttr_event *event, *stop; /* next free event of the batch; end of the batch */
};

enum run_state { RUN_WAITS, RUN_IS_OVER, RUN_FAILS };

/* Moves a run to its next event, from the cached header if there is one. Returns false at the end
 * of the run. */
static NETTRACE_INLINE bool next_event(const struct nettrace_order *order, struct nettrace_run *run,
                                       bool is_v6)
{
    struct nettrace_header *h = &run->at;
    if (NETTRACE_UNLIKELY(run->seen == run->seen_end))
        return h->next < run->span.end && nettrace_header_next(h, &run->span, is_v6);
    const struct nettrace_seen *seen = &order->seen[run->seen++ % NETTRACE_SEEN_MAX];
    if (NETTRACE_UNLIKELY(seen->flags & NETTRACE_TELLS_THREAD))
        return nettrace_header_next(h, &run->span, is_v6);
    h->start = h->next;
    h->ticks = seen->ticks;
    h->metadata = seen->metadata;
    h->stack = seen->stack;
    h->sequence += seen->metadata != 0;
    h->payload_size = seen->payload_size;
    h->payload = h->start + seen->payload_at;
    h->next = h->payload + seen->payload_size;
    h->flags = seen->flags;
    if (seen->flags & NETTRACE_HAS_ACTIVITY)
        h->activity = seen->activity_at ? h->start + seen->activity_at : NULL;
    if (seen->flags & NETTRACE_HAS_RELATED)
        h->related = seen->related_at ? h->start + seen->related_at : NULL;
    return true;
}

/* Emits events of one run. Inlined, so that the header stays in registers. */
static NETTRACE_INLINE enum run_state give_run(struct turn *turn, struct nettrace_run *run,
                                               bool is_v6)
{
    struct nettrace_reader *reader = turn->reader;
    struct nettrace_header *h = &run->at;
    ttr_event *event = turn->event;
    uint64_t given = reader->order.given;
    enum run_state state = RUN_WAITS;
    do {
        bool is_other = h->flags & NETTRACE_TELLS_THREAD || !run->track;
        if (NETTRACE_UNLIKELY(is_other) && !resolve(reader, run, h->capture, h->thread)) {
            reader->failed = fail_memory(reader->error);
            return RUN_FAILS;
        }
        struct nettrace_type *type = nettrace_type_of(&reader->types, h->metadata);
        if (NETTRACE_UNLIKELY(!type)) {
            reader->failed = note_unknown(reader, h);
            if (reader->failed != TTR_OK)
                return RUN_FAILS;
        } else {
            type->given++;
            show(reader, run, type, h, event, is_v6);
            if (NETTRACE_UNLIKELY(h->ticks < given))
                note_late(reader, event);
            given = h->ticks;
            event++;
        }
        if (NETTRACE_UNLIKELY(!next_event(&reader->order, run, is_v6)))
            state = RUN_IS_OVER;
    } while (NETTRACE_LIKELY(state == RUN_WAITS) && h->ticks <= turn->last && event < turn->stop);
    reader->order.given = given;
    turn->event = event;
    return state;
}

/* Frees a finished run. Returns the next run of its chain. */
static uint32_t next_run(struct nettrace_order *order, uint32_t index)
{
    struct nettrace_run *run = &order->runs[index];
    uint32_t next = run->next;
    run->next = order->free;
    run->stamp = 0;
    order->free = index;
    order->runs_used--;
    return next;
}

/* Emits events of the first chain for one turn, then restores the heap. Returns false on failure.
 */
static NETTRACE_INLINE bool give_turn(struct nettrace_reader *reader, bool is_v6)
{
    struct nettrace_order *order = &reader->order;
    struct input *in = reader->in;
    struct turn turn = {.reader = reader,
                        .last = turn_of(order),
                        .event = in->events + in->n,
                        .stop = in->events + in->batch};
    uint32_t index = order->heap[0].run;
    enum run_state state;
    do {
        state = give_run(&turn, &order->runs[index], is_v6);
        if (state == RUN_IS_OVER)
            index = next_run(order, index);
    } while (state == RUN_IS_OVER && index != NETTRACE_NONE &&
             order->runs[index].at.ticks <= turn.last && turn.event < turn.stop);
    order->has_given |= turn.event > in->events + in->n;
    in->n = (uint32_t)(turn.event - in->events);
    const struct nettrace_head *last = &order->heap[order->heap_n - 1];
    if (index != NETTRACE_NONE)
        sift_down(order->heap, order->heap_n, order->runs[index].at.ticks,
                  order->runs[index].at.start, index);
    else if (--order->heap_n > 0)
        sift_down(order->heap, order->heap_n, last->ticks, last->place, last->run);
    return state != RUN_FAILS;
}

/* True if a gap starts before `ticks`. After the last event all remaining gaps are due. */
static bool has_gap(const struct nettrace_order *order, uint64_t ticks)
{
    bool is_last = order->heap_n == 0 && order->limit == UINT64_MAX;
    return order->gaps_given < order->gaps_n &&
           (is_last || order->gaps[order->gaps_given].from < ticks);
}

/* Removes emitted gaps; gaps after the limit keep waiting. */
static void stop_giving(struct nettrace_order *order)
{
    size_t left = order->gaps_n - order->gaps_given;
    if (left && order->gaps_given)
        memmove(order->gaps, order->gaps + order->gaps_given, left * sizeof *order->gaps);
    order->gaps_n = left;
    order->gaps_given = 0;
    order->is_giving = false;
    settle(order);
}

bool nettrace_order_give(struct nettrace_reader *reader)
{
    struct nettrace_order *order = &reader->order;
    struct input *in = reader->in;
    bool is_v6 = reader->version >= NETTRACE_V6;
    while (in->n < in->batch) {
        uint64_t first = order->heap_n ? order->heap[0].ticks : UINT64_MAX;
        first = first < order->limit ? first : order->limit;
        if (has_gap(order, first)) {
            give_gap(reader);
            continue;
        }
        if (order->heap_n == 0 || order->heap[0].ticks > order->limit) {
            stop_giving(order);
            return true;
        }
        if (!(is_v6 ? give_turn(reader, true) : give_turn(reader, false)))
            return false;
    }
    return true;
}
