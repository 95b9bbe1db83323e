/* k-way merge of readers by time.
 *
 * A priority queue (input_queue.h) has the input with the earliest next event.  Events of equal
 * time come in the order of the inputs.  There are four ways to merge; prepare_merge selects one at
 * the first batch:
 *
 *   batch_merge.h  5 or more inputs that can be read up to a time: window by window
 *   select         all inputs keep their events in one shared array (reader_set_buffer): a batch is
 * a list of indices, nothing is copied.  For two inputs without a queue, free of branches. copy
 * events are copied to the output array, payloads are not one by one     if order does not matter
 * (ttr_reader_allow_stream_order): input after input
 *
 * Invariant: an input is read again only after the batch with its last events was consumed.
 * Payloads of a batch point into buffers of the inputs, so a batch ends where any input's batch
 * ends.
 *
 * Events lose TTR_EVENT_RAW and definitions are omitted, since tables of different inputs would
 * mix. They are kept if the format of all inputs separates their tables (struct format,
 * `per_source_format`).
 *
 * Cost: at most log2(inputs) comparisons per event; one if consecutive events are of one input. If
 * more than one input is not ordered, ttr_merge passes all inputs to one sorter (sort.h), so that
 * memory does not grow with their number. */
#include "base/self_zones.h"
#include "base/status.h"
#include "model/context.h"
#include "model/input.h"
#include "model/reader.h"
#include "model/pending_names.h"
#include "pipeline/order/input_queue.h"
#include "pipeline/order/radix_sort.h"
#include "pipeline/order/batch_merge.h"
#include "pipeline/order/sort.h"

#define BATCH 256u
/* Events per batch of batch_merge. So few that events which the sort has just read are still in the
 * L1 cache. */
#define WINDOW_BATCH 128u

/* Number of events that all inputs buffer together.  Few inputs: 256 KiB, to stay in the L2 cache.
 * Hundreds: more, since switching inputs costs more than cache misses; at most 4 MiB. */
#define EVENTS_MIN 2048u
#define EVENTS_EACH 64u
#define EVENTS_MAX 32768u

/* Alignment of the event array: a cache line. */
#define LINE ((uintptr_t)64)

/* Copy mode: state of an input, from which events are copied to the output array. */
struct copied_input {
    ttr_batch batch;
    uint32_t at; /* index of the next event in `batch` */
};

/* Select mode: state of an input with events in the shared array: index of the next event, and
 * index after the last event. Both are INPUT_OVER at the end of the input. */
struct shared_input {
    uint32_t at, end;
};

#define INPUT_OVER UINT32_MAX

struct merger {
    ttr_reader base;
    ttr_reader **in;
    ttr_reader **by_report; /* the readers of `in`, ordered for reports (group_readers_by_trace) */
    struct copied_input *copied; /* copy mode: states of the inputs; else NULL */
    struct shared_input *shared; /* select mode: states of the inputs; else NULL */
    size_t n;
    struct input_queue queue;
    size_t
        /* number of the input to read next, because its next event is unknown; n = none. Each input
         * is read in turn at the start */
        dry;
    /* inputs are read one after another without merging: `dry` is the current one, the members
     * below are unused */
    bool is_one_by_one;
    bool is_ready;    /* prepare_merge has selected the mode */
    bool has_windows; /* batch_merge.h merges the inputs; the members above are unused */
    struct batch_merge windows;
    bool is_filled; /* every input was read once */
    ttr_event *out; /* output events: BATCH events in copy mode, the shared array in select mode */
    void *memory;   /* allocated memory that contains the aligned array `out` of `events` events */
    size_t events;
    uint32_t pick[BATCH];
    /* queue of name changes, which apply when their time is reached */
    struct pending_names renames;
    ttr_batch rest;    /* rest of a batch that was split at a name change, for the next read */
    ttr_status ending; /* TTR_END, or the status of the first input that failed */
    ttr_error ending_error;
};

static void merger_close(ttr_reader *base)
{
    struct merger *merger = (struct merger *)base;
    const struct alloc *alloc = &base->t->counted;
    close_readers(merger->in, merger->n);
    input_queue_free(&merger->queue);
    pending_names_free(&merger->renames);
    if (merger->has_windows)
        batch_merge_free(&merger->windows);
    alloc_free(alloc, merger->copied, merger->n, sizeof *merger->copied);
    alloc_free(alloc, merger->shared, merger->n, sizeof *merger->shared);
    alloc_free(alloc, merger->memory, merger->events, sizeof *merger->out);
    group_readers_by_trace_free(alloc, merger->by_report, merger->in, merger->n);
    alloc_free(alloc, merger->in, merger->n, sizeof(ttr_reader *));
    alloc_free(alloc, merger, 1, sizeof *merger);
}

/* Returns the size in events of an array that holds the buffers of all inputs. Returns 0 if an
 * input cannot use a caller's buffer. */
static size_t count_shared_events(const struct merger *merger)
{
    size_t n = 0;
    for (size_t i = 0; i < merger->n; i++) {
        uint32_t more = reader_set_buffer(merger->in[i], NULL);
        if (more == 0)
            return 0;
        n += more;
    }
    return n <= UINT32_MAX ? n : 0;
}

static void merger_set_batch_size(ttr_reader *base, uint32_t batch)
{
    struct merger *merger = (struct merger *)base;
    for (size_t i = 0; i < merger->n; i++)
        reader_set_batch_size(merger->in[i], batch / (uint32_t)merger->n);
}

static uint32_t count_shared_buffer_size(size_t n)
{
    if (n >= EVENTS_MAX / EVENTS_EACH)
        return EVENTS_MAX;
    uint32_t wanted = (uint32_t)n * EVENTS_EACH;
    return wanted < EVENTS_MIN ? EVENTS_MIN : wanted;
}

/* Selects the mode of merging. Called at the first read, when the properties of the inputs are
 * final. */
static ttr_status prepare_merge(struct merger *merger, ttr_error *error)
{
    const struct alloc *alloc = &merger->base.t->counted;
    if (merger->n > EVENTS_MIN / BATCH)
        merger_set_batch_size(&merger->base, count_shared_buffer_size(merger->n));
    merger->has_windows = batch_merge_is_possible(merger->in, merger->n);
    merger->is_ready = merger->has_windows;
    if (merger->has_windows)
        return batch_merge_init(&merger->windows, alloc, merger->in, merger->n, WINDOW_BATCH)
                   ? TTR_OK
                   : fail_memory(error);
    size_t lent = count_shared_events(merger);
    merger->events = (lent ? lent : BATCH) + 1;
    merger->memory = alloc_zero(alloc, merger->events, sizeof *merger->out);
    if (lent)
        merger->shared = alloc_zero(alloc, merger->n, sizeof *merger->shared);
    else
        merger->copied = alloc_zero(alloc, merger->n, sizeof *merger->copied);
    if (!merger->memory || (merger->n && !merger->shared && !merger->copied))
        return fail_memory(error);
    merger->out = (ttr_event *)(((uintptr_t)merger->memory + LINE - 1) & ~(LINE - 1));
    ttr_event *at = merger->out;
    for (size_t i = 0; lent && i < merger->n; i++)
        at += reader_set_buffer(merger->in[i], at);
    merger->is_ready = true;
    return TTR_OK;
}

static inline uint64_t compare_copied_next_events(const struct copied_input *copied)
{
    return order_time(ttr_batch_at(&copied->batch, copied->at)->time);
}

/* Returns the rank of the next event of an input. */
static inline uint64_t next_event_rank(const struct merger *merger, size_t i)
{
    return merger->shared ? order_time(merger->out[merger->shared[i].at].time)
                          : compare_copied_next_events(&merger->copied[i]);
}

/* Returns true if pick_events_from_two, the branch-free loop for two inputs, applies. */
static inline bool can_pick_from_two(const struct merger *merger)
{
    return merger->n == 2 && merger->shared && merger->base.per_source_format;
}

/* Reads the next batch of an input; *has_more is false at its end.  An input that fails counts as
 * ended; its error is returned after the other inputs have ended. */
static ttr_status read_input(struct merger *merger, size_t input, bool *has_more)
{
    ttr_error ctx;
    ttr_batch batch;
    ttr_status status = ttr_read(merger->in[input], &batch, &ctx);
    *has_more = status == TTR_OK;
    if (status == TTR_OK && merger->shared) {
        uint32_t at = (uint32_t)(batch.event - merger->out);
        merger->shared[input] = (struct shared_input){at, at + batch.n};
    } else if (status == TTR_OK) {
        merger->copied[input] = (struct copied_input){.batch = batch};
    } else if (status != TTR_AGAIN && merger->shared) {
        merger->shared[input] = (struct shared_input){INPUT_OVER, INPUT_OVER};
    }
    if (status != TTR_OK && status != TTR_AGAIN && status != TTR_END && merger->ending == TTR_END) {
        merger->ending = status;
        merger->ending_error = ctx;
    }
    return status == TTR_AGAIN ? TTR_AGAIN : TTR_OK;
}

/* Reads each input that has no event left in memory. */
static ttr_status refill_empty_inputs(struct merger *merger)
{
    bool has_more;
    while (!merger->is_filled) {
        if (merger->dry == merger->n) {
            merger->is_filled = true;
            return TTR_OK;
        }
        if (read_input(merger, merger->dry, &has_more) != TTR_OK)
            return TTR_AGAIN;
        if (has_more)
            input_queue_add(&merger->queue, merger->dry, next_event_rank(merger, merger->dry));
        merger->dry++;
    }
    if (merger->dry == merger->n)
        return TTR_OK;
    if (read_input(merger, merger->dry, &has_more) != TTR_OK)
        return TTR_AGAIN;
    if (!can_pick_from_two(merger) && has_more)
        input_queue_move_top(&merger->queue, next_event_rank(merger, merger->dry));
    else if (!can_pick_from_two(merger))
        input_queue_drop_top(&merger->queue);
    merger->dry = merger->n;
    return TTR_OK;
}

/* Prefetches the event that an input will return next. Hundreds of inputs are visited for one event
 * at a time, and their events exceed the L2 cache. */
static inline void prefetch_event(const ttr_event *next)
{
    __builtin_prefetch(next->payload);
    __builtin_prefetch((const char *)next + 64);
    __builtin_prefetch(next + 1);
}

/* Copies events in order until the batch is full or an input must be read. */
static uint32_t copy_events(struct merger *merger)
{
    bool is_mixed = !merger->base.per_source_format;
    uint32_t n = 0;
    while (n < BATCH && merger->queue.n > 0) {
        size_t top = input_queue_top(&merger->queue);
        struct copied_input *copied = &merger->copied[top];
        const ttr_event *event = ttr_batch_at(&copied->batch, copied->at++);
        merger->out[n] = *event;
        if (is_mixed)
            merger->out[n].flags &= (uint8_t)~TTR_EVENT_RAW;
        n += !is_mixed || event->kind != TTR_KIND_DEFINITION;
        if (copied->at == copied->batch.n) {
            merger->dry = top;
            break;
        }
        prefetch_event(ttr_batch_at(&copied->batch, copied->at));
        input_queue_move_top(&merger->queue, compare_copied_next_events(copied));
    }
    return n;
}

/* Clears TTR_EVENT_RAW. Returns false for a definition: merges of different formats or traces omit
 * definitions. */
static inline bool clear_raw_flag(ttr_event *event)
{
    event->flags &= (uint8_t)~TTR_EVENT_RAW;
    return event->kind != TTR_KIND_DEFINITION;
}

/* Selects events in order until the batch is full or an input must be read. Each step selects all
 * events of one input that precede those of the other inputs. */
static uint32_t pick_events(struct merger *merger)
{
    struct input_queue *queue = &merger->queue;
    const bool is_mixed = !merger->base.per_source_format;
    ttr_event *const events = merger->out;
    uint32_t *pick = merger->pick, n = 0;
    while (n < BATCH && queue->n > 0) {
        size_t top = input_queue_top(queue);
        struct shared_input *shared = &merger->shared[top];
        const uint64_t limit = input_queue_next_rank(queue);
        const uint32_t end = shared->end;
        uint32_t at = shared->at;
        uint64_t rank;
        do {
            pick[n] = at;
            n += is_mixed ? clear_raw_flag(&events[at]) : 1;
            if (++at == end) {
                merger->dry = top;
                return n;
            }
            rank = order_time(events[at].time);
        } while (rank < limit && n < BATCH);
        shared->at = at;
        prefetch_event(&events[at]);
        input_queue_move_top(queue, rank);
    }
    return n;
}

/* Does the same as pick_events for two inputs with unpredictably alternating events. The loop has
 * no branch per event. */
static uint32_t pick_events_from_two(struct merger *merger)
{
    const ttr_event *const events = merger->out;
    struct shared_input first = merger->shared[0], second = merger->shared[1];
    uint32_t *const pick = merger->pick, n = 0;
    while (n < BATCH && first.at < first.end && second.at < second.end) {
        const uint32_t is_second = events[second.at].time < events[first.at].time;
        pick[n++] = first.at ^ ((first.at ^ second.at) & (0 - is_second));
        first.at += 1 - is_second;
        second.at += is_second;
    }
    while (n < BATCH && second.at == INPUT_OVER && first.at < first.end)
        pick[n++] = first.at++;
    while (n < BATCH && first.at == INPUT_OVER && second.at < second.end)
        pick[n++] = second.at++;
    merger->shared[0] = first;
    merger->shared[1] = second;
    if (first.at == first.end && first.at != INPUT_OVER)
        merger->dry = 0;
    else if (second.at == second.end && second.at != INPUT_OVER)
        merger->dry = 1;
    return n;
}

/* Returns true if an input may have more events. */
static bool has_more_events(const struct merger *merger)
{
    return can_pick_from_two(merger) ? merger->dry != merger->n : merger->queue.n > 0;
}

static ttr_status read_from_windows(struct merger *merger, ttr_batch *batch, ttr_error *error)
{
    ttr_status status = batch_merge_next(&merger->windows, batch);
    if (status != TTR_OK || batch->n > 0)
        return status;
    *error = merger->windows.ending_error;
    return merger->windows.ending;
}

/* Returns the next batch, reading the inputs one after another. Frees an input's buffers at its
 * end. */
static ttr_status read_unmerged_batch(struct merger *merger, ttr_batch *batch, ttr_error *error)
{
    ttr_error ctx;
    for (; merger->dry < merger->n; merger->dry++) {
        ttr_status status = ttr_read(merger->in[merger->dry], batch, &ctx);
        if (status == TTR_OK || status == TTR_AGAIN)
            return status;
        if (status != TTR_END && merger->ending == TTR_END) {
            merger->ending = status;
            merger->ending_error = ctx;
        }
        reader_free_buffers(merger->in[merger->dry]);
    }
    *error = merger->ending_error;
    return merger->ending;
}

/* Returns the next batch in time order. */
static ttr_status read_ordered_batch(struct merger *merger, ttr_batch *batch, ttr_error *error)
{
    uint32_t n = 0;
    ttr_status status = merger->is_ready ? TTR_OK : prepare_merge(merger, error);
    if (status != TTR_OK)
        return status;
    if (merger->has_windows)
        return read_from_windows(merger, batch, error);
    do {
        status = refill_empty_inputs(merger);
        if (status != TTR_OK)
            return status;
        n = can_pick_from_two(merger) ? pick_events_from_two(merger)
            : merger->shared          ? pick_events(merger)
                                      : copy_events(merger);
    } while (n == 0 && has_more_events(merger));
    *batch =
        (ttr_batch){.event = merger->out, .pick = merger->shared ? merger->pick : NULL, .n = n};
    if (n > 0)
        return TTR_OK;
    *error = merger->ending_error;
    return merger->ending;
}

/* Implements reader_ops.next. Splits batches at name changes, so that a name applies only to later
 * events. If inputs are read one after another, names are applied at the end instead. */
static ttr_status merger_read_batch(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    SELF_ZONE(order, "merge batch");
    struct merger *merger = (struct merger *)base;
    ttr_status status = TTR_OK;
    if (merger->rest.n)
        *batch = merger->rest;
    else
        status = merger->is_one_by_one ? read_unmerged_batch(merger, batch, error)
                                       : read_ordered_batch(merger, batch, error);
    if (status == TTR_OK && !merger->is_one_by_one)
        pending_names_split_batch(&merger->renames, batch, &merger->rest);
    else if (status != TTR_OK && status != TTR_AGAIN)
        pending_names_apply_all(&merger->renames);
    return status;
}

static void merger_assign_ranks(ttr_reader *base, uint32_t *next)
{
    struct merger *merger = (struct merger *)base;
    for (size_t i = 0; i < merger->n; i++)
        reader_assign_ranks(merger->in[i], next);
}

static bool merger_get_report(ttr_reader *base, size_t index, ttr_report *report)
{
    struct merger *merger = (struct merger *)base;
    /* shortcut for the common case that each input has one report */
    if (base->reports == merger->n)
        return index < merger->n && ttr_reader_report(merger->by_report[index], 0, report);
    return get_reader_report(merger->by_report, merger->n, index, report);
}

static struct input *merger_get_input(ttr_reader *base, size_t index)
{
    const struct merger *merger = (struct merger *)base;
    if (base->reports == merger->n)
        return index < merger->n ? reader_get_input(merger->by_report[index], 0) : NULL;
    return get_reader_input(merger->by_report, merger->n, index);
}

static void merger_set_range(ttr_reader *base, int64_t from_ns, int64_t to_ns)
{
    struct merger *merger = (struct merger *)base;
    for (size_t i = 0; i < merger->n; i++)
        reader_set_range(merger->in[i], from_ns, to_ns);
}

static bool merger_allow_stream_order(ttr_reader *base)
{
    struct merger *merger = (struct merger *)base;
    merger->is_one_by_one = base->per_source_format != NULL;
    for (size_t i = 0; i < merger->n && merger->is_one_by_one; i++)
        (void)reader_allow_stream_order(merger->in[i]);
    return merger->is_one_by_one;
}

static uint32_t merger_get_kinds(ttr_reader *base)
{
    const struct merger *merger = (struct merger *)base;
    uint32_t kinds = 0;
    for (size_t i = 0; i < merger->n; i++)
        kinds |= reader_get_kinds(merger->in[i]);
    return kinds;
}

static struct diagnostics *merger_get_diagnostics(ttr_reader *base)
{
    struct merger *merger = (struct merger *)base;
    return merger->n ? reader_get_diagnostics(merger->in[0]) : NULL;
}

/* Returns the format of all inputs if they have the same and its writer keeps sources separate
 * (reader.per_source_format). Otherwise returns NULL. */
static const struct format *get_common_per_source_format(ttr_reader *const *in, size_t n)
{
    const struct format *apart = n ? in[0]->per_source_format : NULL;
    for (size_t i = 1; i < n; i++)
        apart = in[i]->per_source_format == apart ? apart : NULL;
    return apart;
}

static ttr_reader *merge_ordered(ttr *t, ttr_reader *const *in, size_t n, ttr_error *error)
{
    static const struct reader_ops ops = {.next = merger_read_batch,
                                          .close = merger_close,
                                          .range = merger_set_range,
                                          .set_batch_size = merger_set_batch_size,
                                          .allow_stream_order = merger_allow_stream_order,
                                          .kinds = merger_get_kinds,
                                          .rank = merger_assign_ranks,
                                          .report = merger_get_report,
                                          .input = merger_get_input,
                                          .notes = merger_get_diagnostics};
    struct merger *merger = alloc_zero(&t->counted, 1, sizeof *merger);
    ttr_reader **list = alloc_zero(&t->counted, n, sizeof(ttr_reader *)), **by_report = NULL;
    for (size_t i = 0; list && i < n; i++)
        list[i] = in[i];
    by_report = list ? group_readers_by_trace(&t->counted, list, n) : NULL;
    if (!merger || !by_report || !input_queue_init(&merger->queue, &t->counted, n)) {
        close_readers(in, n);
        group_readers_by_trace_free(&t->counted, by_report, list, n);
        if (merger)
            input_queue_free(&merger->queue);
        alloc_free(&t->counted, list, n, sizeof(ttr_reader *));
        alloc_free(&t->counted, merger, 1, sizeof *merger);
        (void)fail_memory(error);
        return NULL;
    }
    merger->base = (ttr_reader){
        .t = t, .ops = &ops, .order = TTR_ORDER_TIME, .reports = count_reader_reports(list, n)};
    merger->in = list;
    merger->by_report = by_report;
    merger->n = n;
    merger->ending = TTR_END;
    merger->base.per_source_format = get_common_per_source_format(in, n);
    pending_names_init(&merger->renames, t);
    for (size_t i = 0; i < n; i++)
        reader_set_pending_names(list[i], &merger->renames, (uint32_t)i);
    return &merger->base;
}

/* Inputs that are not in time order are sorted. If there are several, one sorter reads all inputs,
 * so that memory does not grow with their number. */
ttr_reader *ttr_merge(ttr *t, ttr_reader **in, size_t n, ttr_error *error)
{
    size_t unordered = 0, at = 0, strange = 0;
    if (!t || (!in && n)) {
        (void)fail_null(error, "ttr_merge", t ? "array of readers" : "context");
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (!in[i]) {
            close_readers(in, n);
            return NULL;
        }
        strange += in[i]->t != t;
        unordered += in[i]->order != TTR_ORDER_TIME;
        at = in[i]->order != TTR_ORDER_TIME ? i : at;
    }
    if (strange) {
        close_readers(in, n);
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "readers of another context cannot be merged: ids mean something else there");
        return NULL;
    }
    if (unordered > 1)
        return sort_readers(t, in, n, &sort_limits_default, error);
    if (unordered == 1)
        in[at] = ttr_sort(in[at], error);
    if (n == 1 && in[0] && in[0]->per_source_format)
        return in[0];
    if (n == 0 || in[at])
        return merge_ordered(t, in, n, error);
    close_readers(in, n);
    return NULL;
}
