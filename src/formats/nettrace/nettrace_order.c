/* Ordering of events: a k-way merge of sorted runs by (ticks, position), with a binary heap. A
 * sorted run is a sequence of events of one block with ascending times.
 *
 * Order of calls: nettrace_scan.c fills runs (nettrace_run_new(), nettrace_run_enqueue()). A
 * sequence point, a sorted event or the end of the trace calls nettrace_order_flush_until(limit).
 * Then nettrace_emit_ordered_events() is called until everything up to the limit is in batches.
 *
 *   heap          chain                     run: cached or encoded headers
 *   [t=10] -----> run --> run --> run       e10 e12 e15
 *   [t=11] -----> run                       e11
 *   [t=14] -----> run --> run               e14 e14 e20
 *
 * A chain is a list of runs of one capture thread, each of which starts at or after the end of the
 * one before. So the heap has about one entry per thread, not per run.
 *
 * emit_until_next_chain() emits events of the chain at the root of the heap until another chain, a
 * gap or the limit comes first. Only the two children of the root can come next. Most calls emit
 * many events per heap operation.
 *
 * Invariants: a run in the heap has at least one waiting event, and run->at is its decoded header.
 * Pointers in runs and heap are valid for the current window; nettrace_order_rebase_pointers()
 * adjusts them when it moves. The window keeps bytes from order->keep_from on.
 *
 * Events of equal ticks are emitted in file order (NET-ORDER-2). Events that are older than one
 * already emitted break the format's promise: they are emitted at once, with a note (NET-ORDER-5).
 *
 * Cost: O(log threads) per call of emit_until_next_chain(), plus one header decode for events that
 * are not in the ring of cached headers. No allocation per event.
 *
 * Left out: sorting inside a thread. If time goes back inside a block, a new run starts, and the
 * merge puts its events in order. */
#include <stdlib.h>

#include "base/status.h"
#include "formats/nettrace/nettrace.h"
#include "model/activity.h"

void nettrace_order_init(struct nettrace_order *order)
{
    order->free = NETTRACE_NONE;
    order->keep_from = UINT64_MAX;
}

void nettrace_order_free(struct nettrace_reader *reader)
{
    struct nettrace_order *order = &reader->order;
    const struct alloc *alloc = &reader->t->counted;
    alloc_free(alloc, order->runs, order->runs_capacity, sizeof *order->runs);
    alloc_free(alloc, order->heap, order->heap_capacity, sizeof *order->heap);
    alloc_free(alloc, order->cached, NETTRACE_CACHED_MAX, sizeof *order->cached);
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
    run->cached = run->cached_end = order->cached_n;
    order->runs_used++;
    return run;
}

void nettrace_run_discard(struct nettrace_order *order, struct nettrace_run *run)
{
    run->next = order->free;
    run->stamp = 0;
    order->free = (uint32_t)(run - order->runs);
    order->runs_used--;
}

static bool is_entry_before(const struct nettrace_heap_entry *a,
                            const struct nettrace_heap_entry *b)
{
    return a->ticks != b->ticks ? a->ticks < b->ticks : a->place < b->place;
}

/* Replaces the root of the heap and restores the heap order. The members of the entry are
 * parameters: copying a struct right after its members were stored would stall (failed store
 * forwarding). */
static inline void replace_heap_root(struct nettrace_heap_entry *heap, uint32_t n, uint64_t ticks,
                                     const uint8_t *place, uint32_t run)
{
    const struct nettrace_heap_entry head = {ticks, place, run};
    uint32_t at = 0;
    for (uint32_t child = 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && is_entry_before(&heap[child + 1], &heap[child]);
        if (!is_entry_before(&heap[child], &head))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = head;
}

static void sift_up(struct nettrace_heap_entry *heap, uint32_t at, struct nettrace_heap_entry head)
{
    for (; at > 0 && is_entry_before(&head, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = head;
}

/* Returns the last run of a capture thread if it ends at or before `ticks`, so that a run from
 * `ticks` on can be appended to it. Otherwise returns NULL. */
static struct nettrace_run *find_chain_tail(struct nettrace_reader *reader,
                                            const struct nettrace_capture_thread *capture,
                                            uint64_t ticks)
{
    struct nettrace_order *order = &reader->order;
    if (capture->tail == NETTRACE_NONE)
        return NULL;
    struct nettrace_run *tail = &order->runs[capture->tail];
    return tail->stamp == capture->tail_stamp && tail->next == NETTRACE_NONE && tail->last <= ticks
               ? tail
               : NULL;
}

bool nettrace_run_enqueue(struct nettrace_reader *reader, struct nettrace_run *run,
                          uint64_t first_ticks)
{
    struct nettrace_order *order = &reader->order;
    uint32_t index = (uint32_t)(run - order->runs);
    size_t thread_index = nettrace_get_capture_thread_index(reader, run->at.capture);
    if (thread_index == SIZE_MAX)
        return false;
    struct nettrace_capture_thread *capture = &reader->threads.capture[thread_index];
    struct nettrace_run *tail = find_chain_tail(reader, capture, first_ticks);
    capture->tail = index;
    capture->tail_stamp = run->stamp;
    if (tail) {
        tail->next = index;
        return true;
    }
    if (!alloc_reserve(&reader->t->counted, (void **)&order->heap, &order->heap_capacity,
                       (size_t)order->heap_n + 1, sizeof *order->heap))
        return false;
    if (run->keep_from < order->keep_from)
        order->keep_from = run->keep_from;
    sift_up(order->heap, order->heap_n++,
            (struct nettrace_heap_entry){first_ticks, run->at.start, index});
    return true;
}

static int compare_gap_starts(const void *one, const void *other)
{
    const struct nettrace_gap *a = one, *b = other;
    return a->from != b->from      ? (a->from < b->from ? -1 : 1)
           : a->offset < b->offset ? -1
                                   : a->offset > b->offset;
}

void nettrace_order_flush_until(struct nettrace_reader *reader, uint64_t limit)
{
    struct nettrace_order *order = &reader->order;
    order->limit = limit;
    order->is_emitting = true;
    if (order->gaps_n > 1)
        qsort(order->gaps, order->gaps_n, sizeof *order->gaps, compare_gap_starts);
}

/* Computes which bytes of the window and which cached headers are still needed by runs in the
 * queue. If a run has waited so long that the ring of cached headers is nearly full, drops its
 * headers to free the ring. */
static void release_unneeded_windows(struct nettrace_order *order)
{
    uint32_t most = 0;
    order->keep_from = UINT64_MAX;
    for (uint32_t i = 0; i < order->heap_n; i++)
        for (uint32_t index = order->heap[i].run; index != NETTRACE_NONE;
             index = order->runs[index].next) {
            struct nettrace_run *run = &order->runs[index];
            order->keep_from =
                run->keep_from < order->keep_from ? run->keep_from : order->keep_from;
            uint32_t cached = run->cached != run->cached_end ? order->cached_n - run->cached : 0;
            if (cached > NETTRACE_CACHED_MAX - NETTRACE_CACHED_MAX / 8)
                run->cached = run->cached_end;
            else
                most = cached > most ? cached : most;
        }
    order->cached_first_needed = order->cached_n - most;
}

static void rebase_pointer(const uint8_t **p, const struct window *before,
                           const struct window *after)
{
    if (*p)
        *p = after->bytes +
             (int64_t)(before->offset + (uint64_t)(*p - before->bytes) - after->offset);
}

void nettrace_order_rebase_pointers(struct nettrace_order *order, const struct window *before,
                                    const struct window *after)
{
    for (uint32_t i = 0; i < order->heap_n; i++) {
        rebase_pointer(&order->heap[i].place, before, after);
        for (uint32_t index = order->heap[i].run; index != NETTRACE_NONE;
             index = order->runs[index].next) {
            struct nettrace_run *run = &order->runs[index];
            rebase_pointer(&run->at.start, before, after);
            rebase_pointer(&run->at.payload, before, after);
            rebase_pointer(&run->at.next, before, after);
            rebase_pointer(&run->at.activity, before, after);
            rebase_pointer(&run->at.related, before, after);
            rebase_pointer(&run->span.origin, before, after);
            rebase_pointer(&run->span.end, before, after);
            rebase_pointer(&run->span.safe_end, before, after);
        }
    }
}

int64_t nettrace_ticks_to_ns(const struct nettrace_reader *reader, uint64_t ticks, uint8_t *flags)
{
    bool clamped = false;
    int64_t since = (int64_t)(ticks - reader->sync_ticks);
    /* the subtraction overflowed, since its result has the wrong sign */
    if (NETTRACE_UNLIKELY((since < 0) != (ticks < reader->sync_ticks))) {
        *flags |= TTR_EVENT_CLAMPED;
        return since < 0 ? INT64_MAX : INT64_MIN;
    }
    int64_t time = add_saturated(reader->sync_ns,
                                 signed_ticks_to_ns(&reader->clock, since, &clamped), &clamped);
    *flags |= clamped ? TTR_EVENT_CLAMPED : 0;
    return time;
}

/* Fast path for clocks in nanoseconds, and ticks from zero to some decades: adds an offset. */
static inline int64_t fast_ticks_to_ns(const struct nettrace_reader *reader, uint64_t ticks,
                                       uint8_t *flags)
{
    uint64_t since = ticks - reader->sync_ticks;
    if (NETTRACE_LIKELY(since < reader->unscaled_ticks))
        return reader->sync_ns + (int64_t)since;
    return nettrace_ticks_to_ns(reader, ticks, flags);
}

/* Looks up track and thread of a run again if the header has other thread numbers. Returns false
 * if memory runs out. */
static bool find_threads_of_run(struct nettrace_reader *reader, struct nettrace_run *run,
                                uint64_t capture, uint64_t thread)
{
    if (!run->track || run->capture_id != capture) {
        size_t thread_index = nettrace_get_capture_thread_index(reader, capture);
        run->track = thread_index == SIZE_MAX ? 0 : reader->threads.capture[thread_index].track;
        run->capture_id = capture;
    }
    if (!run->thread || run->thread_id != thread) {
        run->thread = nettrace_get_thread(reader, thread);
        run->thread_id = thread;
    }
    return run->track && run->thread;
}

static void report_late_event(const struct nettrace_reader *reader, const ttr_event *event)
{
    if (!reader->emits_blocks)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, event->offset, "nettrace.late",
            "an event is older than a sequence point or sorted event before it; it is out "
            "of order");
}

/* Reports an event without metadata. Called when the event is returned, since its metadata may
 * follow it in the file. */
static ttr_status report_undefined_metadata(const struct nettrace_reader *reader,
                                            const struct nettrace_header *h)
{
    const struct window *window = &reader->in->window;
    return input_add_damage(reader->in, window->offset + (uint64_t)(h->start - window->bytes),
                            (uint64_t)(h->next - h->start), "nettrace.no-metadata", reader->error,
                            "an event with metadata %u, which are not defined; it is lost",
                            h->metadata);
}

/* Copies the members that all events of a type have in common, and sets the others to 0, 16 bytes
 * at a time. */
static inline void copy_template(ttr_event *event, const ttr_event *from_template)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    _Static_assert(offsetof(ttr_event, duration) == 16 && offsetof(ttr_event, schema) == 48 &&
                       offsetof(ttr_event, cpu) == 112,
                   "layout of ttr_event");
    lanes *to = (lanes *)event;
    const lanes *from = (const lanes *)from_template;
    to[1] = (lanes){0, 0}; /* members duration and link */
    to[3] = from[3];       /* members schema, name, provider and category */
    to[7] = from[7];       /* members source, tag, kind, level, opcode and part */
    event->keyword = from_template->keyword;
    event->body = 0;
}

/* Fills an event of the batch from a decoded header. */
static NETTRACE_INLINE void fill_event(struct nettrace_reader *reader,
                                       const struct nettrace_run *run, struct nettrace_type *type,
                                       const struct nettrace_header *h, ttr_event *event,
                                       bool is_v6)
{
    const struct window *window = &reader->in->window;
    uint8_t flags = h->cpu != UINT32_MAX ? TTR_EVENT_HAS_CPU : 0;
    copy_template(event, &type->template);
    event->time = fast_ticks_to_ns(reader, h->ticks, &flags);
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
        nettrace_override_by_labels(type, event);
    }
    if (NETTRACE_UNLIKELY(event->opcode))
        nettrace_mark_span(reader, event, type);
}

static void emit_gap(struct nettrace_reader *reader)
{
    struct nettrace_order *order = &reader->order;
    const struct nettrace_gap *gap = &order->gaps[order->gaps_emitted++];
    uint64_t from = order->has_emitted && gap->from < order->emitted ? order->emitted : gap->from;
    uint8_t flags = 0;
    ttr_event *event = input_add_event(reader->in);
    event->time = nettrace_ticks_to_ns(reader, from, &flags);
    int64_t to = nettrace_ticks_to_ns(reader, gap->to, &flags);
    event->ticks = from;
    event->flags = flags;
    event->kind = TTR_KIND_GAP;
    event->duration = to > event->time ? (uint64_t)to - (uint64_t)event->time : 0;
    event->link = gap->count;
    event->track = gap->track;
    event->offset = gap->offset;
    event->tag = TTR_GAP_EVENTS;
}

/* Returns up to which ticks events of the chain at the heap's root come before those of all other
 * chains, all gaps, and the limit. */
static uint64_t find_next_chain_ticks(const struct nettrace_order *order)
{
    uint64_t last = order->limit;
    for (uint32_t i = 1; i < 3 && i < order->heap_n; i++)
        last =
            order->heap[i].ticks <= last ? order->heap[i].ticks - (order->heap[i].ticks > 0) : last;
    if (order->gaps_emitted < order->gaps_n && order->gaps[order->gaps_emitted].from <= last)
        last = order->gaps[order->gaps_emitted].from;
    return last;
}

/* State of emit_until_next_chain(), which returns events of the chain at the heap's root until
 * another chain comes first. */
struct chain_output {
    struct nettrace_reader *reader;
    uint64_t last; /* largest ticks that may be returned now */
    /* event: next free event of the batch; stop: end of the batch */
    ttr_event *event, *stop;
};

enum run_state { RUN_WAITS, RUN_IS_OVER, RUN_FAILS };

/* Advances a run to its next event; uses the cached header if there is one. Returns false at the
 * end of the run. */
static NETTRACE_INLINE bool advance_run(const struct nettrace_order *order,
                                        struct nettrace_run *run, bool is_v6)
{
    struct nettrace_header *h = &run->at;
    if (NETTRACE_UNLIKELY(run->cached == run->cached_end))
        return h->next < run->span.end && nettrace_decode_header(h, &run->span, is_v6);
    const struct nettrace_cached_header *cached =
        &order->cached[run->cached++ % NETTRACE_CACHED_MAX];
    if (NETTRACE_UNLIKELY(cached->flags & NETTRACE_HAS_ANY_THREAD))
        return nettrace_decode_header(h, &run->span, is_v6);
    h->start = h->next;
    h->ticks = cached->ticks;
    h->metadata = cached->metadata;
    h->stack = cached->stack;
    h->sequence += cached->metadata != 0;
    h->payload_size = cached->payload_size;
    h->payload = h->start + cached->payload_at;
    h->next = h->payload + cached->payload_size;
    h->flags = cached->flags;
    if (cached->flags & NETTRACE_HAS_ACTIVITY)
        h->activity = cached->activity_at ? h->start + cached->activity_at : NULL;
    if (cached->flags & NETTRACE_HAS_RELATED)
        h->related = cached->related_at ? h->start + cached->related_at : NULL;
    return true;
}

/* Returns waiting events of a run up to chain->last. Inline, so that the header stays in
 * registers. */
static NETTRACE_INLINE enum run_state emit_run(struct chain_output *chain, struct nettrace_run *run,
                                               bool is_v6)
{
    struct nettrace_reader *reader = chain->reader;
    struct nettrace_header *h = &run->at;
    ttr_event *event = chain->event;
    uint64_t emitted = reader->order.emitted;
    enum run_state state = RUN_WAITS;
    do {
        bool is_other = h->flags & NETTRACE_HAS_ANY_THREAD || !run->track;
        if (NETTRACE_UNLIKELY(is_other) &&
            !find_threads_of_run(reader, run, h->capture, h->thread)) {
            reader->failed = fail_memory(reader->error);
            return RUN_FAILS;
        }
        struct nettrace_type *type = nettrace_find_type(&reader->types, h->metadata);
        if (NETTRACE_UNLIKELY(!type)) {
            reader->failed = report_undefined_metadata(reader, h);
            if (reader->failed != TTR_OK)
                return RUN_FAILS;
        } else {
            type->events_emitted++;
            fill_event(reader, run, type, h, event, is_v6);
            if (NETTRACE_UNLIKELY(h->ticks < emitted))
                report_late_event(reader, event);
            emitted = h->ticks;
            event++;
        }
        if (NETTRACE_UNLIKELY(!advance_run(&reader->order, run, is_v6)))
            state = RUN_IS_OVER;
    } while (NETTRACE_LIKELY(state == RUN_WAITS) && h->ticks <= chain->last && event < chain->stop);
    reader->order.emitted = emitted;
    chain->event = event;
    return state;
}

/* Frees a run when all its events were returned. Returns the index of the next run in its chain. */
static uint32_t free_finished_run(struct nettrace_order *order, uint32_t index)
{
    struct nettrace_run *run = &order->runs[index];
    uint32_t next = run->next;
    nettrace_run_discard(order, run);
    return next;
}

/* Returns events of the chain at the heap's root until another chain, a gap or the limit comes
 * first. Then restores the heap order. Returns false on failure. */
static NETTRACE_INLINE bool emit_until_next_chain(struct nettrace_reader *reader, bool is_v6)
{
    struct nettrace_order *order = &reader->order;
    struct input *in = reader->in;
    struct chain_output chain = {.reader = reader,
                                 .last = find_next_chain_ticks(order),
                                 .event = in->events + in->n,
                                 .stop = in->events + in->batch};
    uint32_t index = order->heap[0].run;
    enum run_state state;
    do {
        state = emit_run(&chain, &order->runs[index], is_v6);
        if (state == RUN_IS_OVER)
            index = free_finished_run(order, index);
    } while (state == RUN_IS_OVER && index != NETTRACE_NONE &&
             order->runs[index].at.ticks <= chain.last && chain.event < chain.stop);
    order->has_emitted |= chain.event > in->events + in->n;
    in->n = (uint32_t)(chain.event - in->events);
    const struct nettrace_heap_entry *last = &order->heap[order->heap_n - 1];
    if (index != NETTRACE_NONE)
        replace_heap_root(order->heap, order->heap_n, order->runs[index].at.ticks,
                          order->runs[index].at.start, index);
    else if (--order->heap_n > 0)
        replace_heap_root(order->heap, order->heap_n, last->ticks, last->place, last->run);
    return state != RUN_FAILS;
}

/* Returns true if a gap must be returned before an event with these ticks. After the last event of
 * the trace, returns true for all remaining gaps. */
static bool is_gap_due(const struct nettrace_order *order, uint64_t ticks)
{
    bool is_last = order->heap_n == 0 && order->limit == UINT64_MAX;
    return order->gaps_emitted < order->gaps_n &&
           (is_last || order->gaps[order->gaps_emitted].from < ticks);
}

/* Called when all events up to the limit were returned. Removes returned gaps from the queue. */
static void finish_emitting(struct nettrace_order *order)
{
    size_t left = order->gaps_n - order->gaps_emitted;
    if (left && order->gaps_emitted)
        memmove(order->gaps, order->gaps + order->gaps_emitted, left * sizeof *order->gaps);
    order->gaps_n = left;
    order->gaps_emitted = 0;
    order->is_emitting = false;
    release_unneeded_windows(order);
}

bool nettrace_emit_ordered_events(struct nettrace_reader *reader)
{
    struct nettrace_order *order = &reader->order;
    struct input *in = reader->in;
    bool is_v6 = reader->version >= NETTRACE_V6;
    while (in->n < in->batch) {
        uint64_t first = order->heap_n ? order->heap[0].ticks : UINT64_MAX;
        first = first < order->limit ? first : order->limit;
        if (is_gap_due(order, first)) {
            emit_gap(reader);
            continue;
        }
        if (order->heap_n == 0 || order->heap[0].ticks > order->limit) {
            finish_emitting(order);
            return true;
        }
        if (!(is_v6 ? emit_until_next_chain(reader, true) : emit_until_next_chain(reader, false)))
            return false;
    }
    return true;
}
