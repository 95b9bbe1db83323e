/* From runs to batches: a merge of chains by (ticks, place), each event decoded again where it is given.
 *
 * Events that come behind their time (a file that breaks its promise) are given at once, and told. */
#include <stdlib.h>

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
    alloc_free(alloc, order->gaps, order->gaps_capacity, sizeof *order->gaps);
}

struct nettrace_run *nettrace_run_new(struct nettrace_reader *reader, const struct nettrace_header *header)
{
    struct nettrace_order *order = &reader->order;
    uint32_t index = order->free;
    if (index != NETTRACE_NONE) {
        order->free = order->runs[index].next;
    } else {
        if (!alloc_reserve(&reader->t->counted, (void **)&order->runs, &order->runs_capacity, (size_t)order->runs_n + 1, sizeof *order->runs))
            return NULL;
        index = order->runs_n++;
    }
    struct nettrace_run *run = &order->runs[index];
    run->at = *header;
    run->type = NULL;
    run->track = run->thread = 0;
    run->next = NETTRACE_NONE;
    run->stamp = ++order->stamp;
    order->runs_used++;
    return run;
}

static bool is_before(const struct nettrace_head *a, const struct nettrace_head *b)
{
    return a->ticks != b->ticks ? a->ticks < b->ticks : a->place < b->place;
}

static void sift_down(struct nettrace_head *heap, uint32_t n, struct nettrace_head head)
{
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

/* The run that ends last of those a capture thread has waiting, where that is before `ticks`. */
static struct nettrace_run *tail_of(struct nettrace_reader *reader, const struct nettrace_capture *capture, uint64_t ticks)
{
    struct nettrace_order *order = &reader->order;
    if (capture->tail == NETTRACE_NONE)
        return NULL;
    struct nettrace_run *tail = &order->runs[capture->tail];
    return tail->stamp == capture->tail_stamp && tail->next == NETTRACE_NONE && tail->last <= ticks ? tail : NULL;
}

bool nettrace_run_add(struct nettrace_reader *reader, struct nettrace_run *run, uint64_t first_ticks)
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
    if (!alloc_reserve(&reader->t->counted, (void **)&order->heap, &order->heap_capacity, (size_t)order->heap_n + 1, sizeof *order->heap))
        return false;
    if (run->hold < order->hold)
        order->hold = run->hold;
    sift_up(order->heap, order->heap_n++, (struct nettrace_head){first_ticks, run->at.start, index});
    return true;
}

static int by_from(const void *one, const void *other)
{
    const struct nettrace_gap *a = one, *b = other;
    return a->from != b->from ? (a->from < b->from ? -1 : 1) : a->offset < b->offset ? -1 : a->offset > b->offset;
}

void nettrace_order_release(struct nettrace_reader *reader, uint64_t limit)
{
    struct nettrace_order *order = &reader->order;
    order->limit = limit;
    order->is_giving = true;
    if (order->gaps_n > 1)
        qsort(order->gaps, order->gaps_n, sizeof *order->gaps, by_from);
}

static uint64_t hold_of(const struct nettrace_order *order)
{
    uint64_t hold = UINT64_MAX;
    for (uint32_t i = 0; i < order->heap_n; i++)
        for (uint32_t run = order->heap[i].run; run != NETTRACE_NONE; run = order->runs[run].next)
            hold = order->runs[run].hold < hold ? order->runs[run].hold : hold;
    return hold;
}

static void move(const uint8_t **p, const struct window *before, const struct window *after)
{
    if (*p)
        *p = after->bytes + (before->offset + (uint64_t)(*p - before->bytes) - after->offset);
}

void nettrace_order_move(struct nettrace_order *order, const struct window *before, const struct window *after)
{
    for (uint32_t i = 0; i < order->heap_n; i++) {
        move(&order->heap[i].place, before, after);
        for (uint32_t index = order->heap[i].run; index != NETTRACE_NONE; index = order->runs[index].next) {
            struct nettrace_run *run = &order->runs[index];
            move(&run->at.start, before, after);
            move(&run->at.payload, before, after);
            move(&run->at.next, before, after);
            move(&run->at.activity, before, after);
            move(&run->at.related, before, after);
            move(&run->origin, before, after);
            move(&run->end, before, after);
        }
    }
}

static inline int64_t time_of(const struct nettrace_reader *reader, uint64_t ticks, uint8_t *flags)
{
    bool clamped = false;
    int64_t since = (int64_t)(ticks - reader->sync_ticks), time;
    if (NETTRACE_UNLIKELY((since < 0) != (ticks < reader->sync_ticks))) { /* more than 63 bits away */
        *flags |= TTR_EVENT_CLAMPED;
        return since < 0 ? INT64_MAX : INT64_MIN;
    }
    if (reader->clock.whole == 1 && !reader->clock.rest) {
        if (NETTRACE_LIKELY(!__builtin_add_overflow(reader->sync_ns, since, &time)))
            return time;
    }
    time = clockmath_add(reader->sync_ns, clockmath_ns_signed(&reader->clock, since, &clamped), &clamped);
    *flags |= clamped ? TTR_EVENT_CLAMPED : 0;
    return time;
}

int64_t nettrace_time_of(const struct nettrace_reader *reader, uint64_t ticks, uint8_t *flags)
{
    return time_of(reader, ticks, flags);
}

/* Looks up the threads that the header refers to where they are others than before; false when memory is out. */
static bool resolve(struct nettrace_reader *reader, struct nettrace_run *run)
{
    const struct nettrace_header *h = &run->at;
    if (!run->track || run->capture_id != h->capture) {
        size_t who = nettrace_capture(reader, h->capture);
        run->track = who == SIZE_MAX ? 0 : reader->threads.capture[who].track;
        run->capture_id = h->capture;
    }
    if (!run->thread || run->thread_id != h->thread) {
        run->thread = nettrace_thread(reader, h->thread);
        run->thread_id = h->thread;
    }
    return run->track && run->thread;
}

/* Gives the event a run stands at; false when memory is out. */
static inline bool give(struct nettrace_reader *reader, struct nettrace_run *run)
{
    const struct nettrace_header *h = &run->at;
    struct nettrace_order *order = &reader->order;
    bool is_same = run->track && run->capture_id == h->capture && run->thread_id == h->thread;
    if (NETTRACE_UNLIKELY(!is_same) && !resolve(reader, run))
        return false;
    if (!run->type || run->type->number != h->metadata)
        run->type = nettrace_type_of(&reader->types, h->metadata);
    struct nettrace_type *type = run->type;
    if (NETTRACE_UNLIKELY(!type))
        return true; /* told when it was scanned */
    type->given++;
    ttr_event *event = input_event(reader->in);
    event->time = time_of(reader, h->ticks, &event->flags);
    event->ticks = h->ticks;
    event->payload = h->payload;
    event->payload_size = h->payload_size;
    event->schema = type->schema;
    event->name = type->name;
    event->provider = type->provider;
    event->track = run->track;
    event->thread = run->thread;
    event->offset = reader->in->window.offset + (uint64_t)(h->start - reader->in->window.bytes);
    event->keyword = type->keyword;
    event->activity = h->activity;
    event->related = h->related;
    event->stack = h->stack;
    event->sequence = h->sequence;
    event->kind = type->kind;
    event->level = type->level;
    event->opcode = type->opcode;
    event->part = h->labels;
    event->cpu = h->cpu;
    event->flags |= h->cpu != UINT32_MAX ? TTR_EVENT_HAS_CPU : 0;
    if (NETTRACE_UNLIKELY(h->labels))
        nettrace_labels_apply(reader, event);
    if (NETTRACE_UNLIKELY(event->opcode))
        activity_mark(reader->t, event, type->task);
    if (NETTRACE_UNLIKELY(h->ticks < order->given && order->has_given && !reader->gives_blocks))
        input_note(reader->in, TTR_NOTE_ODD, event->offset, "nettrace.late",
                   "an event is older than those before a sequence point or a sorted event that it stands behind; it is given late");
    order->given = h->ticks;
    order->has_given = true;
    return true;
}

static void give_gap(struct nettrace_reader *reader)
{
    struct nettrace_order *order = &reader->order;
    const struct nettrace_gap *gap = &order->gaps[order->gaps_given++];
    uint64_t from = order->has_given && gap->from < order->given ? order->given : gap->from;
    uint8_t flags = 0;
    ttr_event *event = input_event(reader->in);
    event->time = time_of(reader, from, &flags);
    int64_t to = time_of(reader, gap->to, &flags);
    event->ticks = from;
    event->flags = flags;
    event->kind = TTR_KIND_GAP;
    event->duration = to > event->time ? (uint64_t)to - (uint64_t)event->time : 0;
    event->link = gap->count;
    event->track = gap->track;
    event->offset = gap->offset;
    event->tag = TTR_GAP_EVENTS;
}

/* Moves a run to its next event: one of the same run, or the first of the next in its chain, whose index takes its place; false at the end. */
static inline bool step(struct nettrace_order *order, uint32_t *index, bool is_v6)
{
    struct nettrace_run *run = &order->runs[*index];
    if (NETTRACE_LIKELY(run->at.next < run->end) &&
        NETTRACE_LIKELY(nettrace_header_next(&run->at, run->origin, run->end, (enum nettrace_codec)run->codec, is_v6)))
        return true;
    uint32_t next = run->next;
    run->next = order->free;
    run->stamp = 0;
    order->free = *index;
    order->runs_used--;
    *index = next;
    return next != NETTRACE_NONE;
}

/* The time up to which the first run may go on before anything else has its turn. */
static uint64_t turn_of(const struct nettrace_order *order)
{
    uint64_t turn = order->limit;
    for (uint32_t i = 1; i < 3 && i < order->heap_n; i++)
        turn = order->heap[i].ticks <= turn ? order->heap[i].ticks - (order->heap[i].ticks > 0) : turn;
    if (order->gaps_given < order->gaps_n && order->gaps[order->gaps_given].from <= turn)
        turn = order->gaps[order->gaps_given].from;
    return turn;
}

/* Gives events of the first run while it is its turn; false when memory is out. */
static NETTRACE_INLINE bool give_turn(struct nettrace_reader *reader, bool is_v6)
{
    struct nettrace_order *order = &reader->order;
    struct input *in = reader->in;
    uint64_t turn = turn_of(order);
    uint32_t index = order->heap[0].run;
    bool goes_on;
    do {
        if (!give(reader, &order->runs[index]))
            return false;
        goes_on = step(order, &index, is_v6);
    } while (goes_on && order->runs[index].at.ticks <= turn && in->n < in->batch);
    if (goes_on)
        sift_down(order->heap, order->heap_n, (struct nettrace_head){order->runs[index].at.ticks, order->runs[index].at.start, index});
    else if (--order->heap_n > 0)
        sift_down(order->heap, order->heap_n, order->heap[order->heap_n]);
    return true;
}

/* Whether a gap begins before what comes next; behind everything else all of them do. */
static bool has_gap(const struct nettrace_order *order, uint64_t ticks)
{
    bool is_last = order->heap_n == 0 && order->limit == UINT64_MAX;
    return order->gaps_given < order->gaps_n && (is_last || order->gaps[order->gaps_given].from < ticks);
}

/* Forgets gaps that were given; those later than the limit wait. */
static void stop_giving(struct nettrace_order *order)
{
    size_t left = order->gaps_n - order->gaps_given;
    if (left && order->gaps_given)
        memmove(order->gaps, order->gaps + order->gaps_given, left * sizeof *order->gaps);
    order->gaps_n = left;
    order->gaps_given = 0;
    order->is_giving = false;
    order->hold = hold_of(order);
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
