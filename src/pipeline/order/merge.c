/* Merging on one time line: a queue (input_queue.h) knows which input has the next event.
 *
 * A batch has one array of views: where all inputs can be told to keep theirs in one (they are
 * files, mostly), it only picks; else views are copied.  Payloads never are: an input is read again
 * only when the batch that points to its payloads was used up, so a batch ends where any input's
 * own does.  Raw records lose that name, and definitions are left out: two inputs have two sets of
 * tables, and a copy of both would mix them up.  Not so where the format of all inputs tells them
 * apart. */
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
#define BATCH_OF_WINDOW \
    128u /* which were asked for together: no more than the nearest cache has room for */

/* Events that inputs hold together where they are many: few inputs 256 KiB, to be found in the
 * nearer caches when their turn comes; hundreds more, since entering an input anew for a few events
 * costs more than fetching them from farther off; but 4 MiB at most. */
#define EVENTS_LEAST 2048u
#define EVENTS_EACH 64u
#define EVENTS_MOST 32768u

/* Views lie at whole lines of the cache. */
#define LINE ((uintptr_t)64)

/* An input that is copied from. */
struct lane {
    ttr_batch batch;
    uint32_t at; /* next event of the batch */
};

/* An input that is picked from: its events not yet given, by their place in the array; both
 * ROW_OVER where there will be no more. */
struct row {
    uint32_t at, end;
};

#define ROW_OVER UINT32_MAX

struct merger {
    ttr_reader base;
    ttr_reader **in;
    ttr_reader **told; /* the same for reports (group_readers) */
    struct lane *lane; /* copies; else NULL */
    struct row *row;   /* picks; else NULL */
    size_t n;
    struct input_queue queue;
    size_t
        dry; /* the input to be read before anything else; at first one after the other, n = none */
    bool is_scattered; /* inputs are read one after another: `dry` is read; what is below is not
                          used */
    bool is_ready;     /* it is known whether views are copied */
    bool has_windows;  /* many inputs that can be read up to a time; then the members above are not
                          used */
    struct batch_merge windows;
    bool is_filled; /* all were read once */
    ttr_event *out; /* copies: room for BATCH; picks: all that the inputs hold */
    void
        *memory; /* where that begins, `events` of them; it is moved to a whole line of the cache */
    size_t events;
    uint32_t pick[BATCH];
    struct pending_names renames; /* of inputs */
    ttr_batch rest;               /* what is to be given next, behind a name */
    ttr_status ending;            /* of the first input that failed */
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
    alloc_free(alloc, merger->lane, merger->n, sizeof *merger->lane);
    alloc_free(alloc, merger->row, merger->n, sizeof *merger->row);
    alloc_free(alloc, merger->memory, merger->events, sizeof *merger->out);
    group_free(alloc, merger->told, merger->in, merger->n);
    alloc_free(alloc, merger->in, merger->n, sizeof(ttr_reader *));
    alloc_free(alloc, merger, 1, sizeof *merger);
}

/* How many events the inputs keep in an array lent to them; 0 where one of them does not. */
static size_t events_to_lend(const struct merger *merger)
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

static void merger_crowd(ttr_reader *base, uint32_t batch)
{
    struct merger *merger = (struct merger *)base;
    for (size_t i = 0; i < merger->n; i++)
        reader_set_batch_size(merger->in[i], batch / (uint32_t)merger->n);
}

static uint32_t events_at_hand(size_t n)
{
    if (n >= EVENTS_MOST / EVENTS_EACH)
        return EVENTS_MOST;
    uint32_t wanted = (uint32_t)n * EVENTS_EACH;
    return wanted < EVENTS_LEAST ? EVENTS_LEAST : wanted;
}

/* Decides between picking and copying: not before all is known of the inputs. */
static ttr_status get_ready(struct merger *merger, ttr_error *error)
{
    const struct alloc *alloc = &merger->base.t->counted;
    if (merger->n > EVENTS_LEAST / BATCH)
        merger_crowd(&merger->base, events_at_hand(merger->n));
    merger->has_windows = batch_merge_can(merger->in, merger->n);
    merger->is_ready = merger->has_windows;
    if (merger->has_windows)
        return batch_merge_init(&merger->windows, alloc, merger->in, merger->n, BATCH_OF_WINDOW)
                   ? TTR_OK
                   : fail_memory(error);
    size_t lent = events_to_lend(merger);
    merger->events = (lent ? lent : BATCH) + 1;
    merger->memory = alloc_zero(alloc, merger->events, sizeof *merger->out);
    if (lent)
        merger->row = alloc_zero(alloc, merger->n, sizeof *merger->row);
    else
        merger->lane = alloc_zero(alloc, merger->n, sizeof *merger->lane);
    if (!merger->memory || (merger->n && !merger->row && !merger->lane))
        return fail_memory(error);
    merger->out = (ttr_event *)(((uintptr_t)merger->memory + LINE - 1) & ~(LINE - 1));
    ttr_event *at = merger->out;
    for (size_t i = 0; lent && i < merger->n; i++)
        at += reader_set_buffer(merger->in[i], at);
    merger->is_ready = true;
    return TTR_OK;
}

static inline uint64_t rank_of_lane(const struct lane *lane)
{
    return order_time(ttr_batch_at(&lane->batch, lane->at)->time);
}

/* The rank of an input's next event. */
static inline uint64_t rank_of(const struct merger *merger, size_t i)
{
    return merger->row ? order_time(merger->out[merger->row[i].at].time)
                       : rank_of_lane(&merger->lane[i]);
}

/* Two inputs that are picked from need no queue. */
static inline bool is_pair(const struct merger *merger)
{
    return merger->n == 2 && merger->row && merger->base.apart;
}

/* Reads the input that is dry; true in *has_more where it is not at its end.  One that fails has
 * ended; the failure is told when all the others have. */
static ttr_status read_lane(struct merger *merger, size_t lane, bool *has_more)
{
    ttr_error ctx;
    ttr_batch batch;
    ttr_status status = ttr_read(merger->in[lane], &batch, &ctx);
    *has_more = status == TTR_OK;
    if (status == TTR_OK && merger->row) {
        uint32_t at = (uint32_t)(batch.event - merger->out);
        merger->row[lane] = (struct row){at, at + batch.n};
    } else if (status == TTR_OK) {
        merger->lane[lane] = (struct lane){.batch = batch};
    } else if (status != TTR_AGAIN && merger->row) {
        merger->row[lane] = (struct row){ROW_OVER, ROW_OVER};
    }
    if (status != TTR_OK && status != TTR_AGAIN && status != TTR_END && merger->ending == TTR_END) {
        merger->ending = status;
        merger->ending_error = ctx;
    }
    return status == TTR_AGAIN ? TTR_AGAIN : TTR_OK;
}

/* Reads what must be read before the next event is known. */
static ttr_status refill(struct merger *merger)
{
    bool has_more;
    while (!merger->is_filled) {
        if (merger->dry == merger->n) {
            merger->is_filled = true;
            return TTR_OK;
        }
        if (read_lane(merger, merger->dry, &has_more) != TTR_OK)
            return TTR_AGAIN;
        if (has_more)
            input_queue_add(&merger->queue, merger->dry, rank_of(merger, merger->dry));
        merger->dry++;
    }
    if (merger->dry == merger->n)
        return TTR_OK;
    if (read_lane(merger, merger->dry, &has_more) != TTR_OK)
        return TTR_AGAIN;
    if (!is_pair(merger) && has_more)
        input_queue_move_top(&merger->queue, rank_of(merger, merger->dry));
    else if (!is_pair(merger))
        input_queue_drop_top(&merger->queue);
    merger->dry = merger->n;
    return TTR_OK;
}

/* Hundreds of inputs have more at hand than the nearer caches hold, and each is looked at for one
 * event and then not for long: what is wanted next time is asked for now. */
static inline void prefetch(const ttr_event *next)
{
    __builtin_prefetch(next->payload);
    __builtin_prefetch((const char *)next + 64);
    __builtin_prefetch(next + 1);
}

/* Copies events in order until the batch is full or an input must be read. */
static uint32_t copy_events(struct merger *merger)
{
    bool is_mixed = !merger->base.apart;
    uint32_t n = 0;
    while (n < BATCH && merger->queue.n > 0) {
        size_t top = input_queue_top(&merger->queue);
        struct lane *lane = &merger->lane[top];
        const ttr_event *event = ttr_batch_at(&lane->batch, lane->at++);
        merger->out[n] = *event;
        if (is_mixed)
            merger->out[n].flags &= (uint8_t)~TTR_EVENT_RAW;
        n += !is_mixed || event->kind != TTR_KIND_DEFINITION;
        if (lane->at == lane->batch.n) {
            merger->dry = top;
            break;
        }
        prefetch(ttr_batch_at(&lane->batch, lane->at));
        input_queue_move_top(&merger->queue, rank_of_lane(lane));
    }
    return n;
}

/* Whether an event counts among those of inputs that know nothing of each other. */
static inline bool take_mixed(ttr_event *event)
{
    event->flags &= (uint8_t)~TTR_EVENT_RAW;
    return event->kind != TTR_KIND_DEFINITION;
}

/* Picks events in order until the batch is full or an input must be read: as many of one input as
 * come before those of all others, and then of the next. */
static uint32_t pick_events(struct merger *merger)
{
    struct input_queue *queue = &merger->queue;
    const bool is_mixed = !merger->base.apart;
    ttr_event *const events = merger->out;
    uint32_t *pick = merger->pick, n = 0;
    while (n < BATCH && queue->n > 0) {
        size_t top = input_queue_top(queue);
        struct row *row = &merger->row[top];
        const uint64_t limit = input_queue_limit(queue);
        const uint32_t end = row->end;
        uint32_t at = row->at;
        uint64_t rank;
        do {
            pick[n] = at;
            n += is_mixed ? take_mixed(&events[at]) : 1;
            if (++at == end) {
                merger->dry = top;
                return n;
            }
            rank = order_time(events[at].time);
        } while (rank < limit && n < BATCH);
        row->at = at;
        prefetch(&events[at]);
        input_queue_move_top(queue, rank);
    }
    return n;
}

/* The same for two inputs, of which nobody guesses whose turn it is: without a choice for each
 * event. */
static uint32_t pick_of_pair(struct merger *merger)
{
    const ttr_event *const events = merger->out;
    struct row first = merger->row[0], second = merger->row[1];
    uint32_t *const pick = merger->pick, n = 0;
    while (n < BATCH && first.at < first.end && second.at < second.end) {
        const uint32_t is_second = events[second.at].time < events[first.at].time;
        pick[n++] = first.at ^ ((first.at ^ second.at) & (0 - is_second));
        first.at += 1 - is_second;
        second.at += is_second;
    }
    while (n < BATCH && second.at == ROW_OVER && first.at < first.end)
        pick[n++] = first.at++;
    while (n < BATCH && first.at == ROW_OVER && second.at < second.end)
        pick[n++] = second.at++;
    merger->row[0] = first;
    merger->row[1] = second;
    if (first.at == first.end && first.at != ROW_OVER)
        merger->dry = 0;
    else if (second.at == second.end && second.at != ROW_OVER)
        merger->dry = 1;
    return n;
}

/* Whether there may be more events. */
static bool has_more_events(const struct merger *merger)
{
    return is_pair(merger) ? merger->dry != merger->n : merger->queue.n > 0;
}

static ttr_status next_of_windows(struct merger *merger, ttr_batch *batch, ttr_error *error)
{
    ttr_status status = batch_merge_next(&merger->windows, batch);
    if (status != TTR_OK || batch->n > 0)
        return status;
    *error = merger->windows.ending_error;
    return merger->windows.ending;
}

/* All of an input, then all of the next, whose memory is free again before. */
static ttr_status next_scattered(struct merger *merger, ttr_batch *batch, ttr_error *error)
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

/* The next events in order. */
static ttr_status next_ordered(struct merger *merger, ttr_batch *batch, ttr_error *error)
{
    uint32_t n = 0;
    ttr_status status = merger->is_ready ? TTR_OK : get_ready(merger, error);
    if (status != TTR_OK)
        return status;
    if (merger->has_windows)
        return next_of_windows(merger, batch, error);
    do {
        status = refill(merger);
        if (status != TTR_OK)
            return status;
        n = is_pair(merger) ? pick_of_pair(merger)
            : merger->row   ? pick_events(merger)
                            : copy_events(merger);
    } while (n == 0 && has_more_events(merger));
    *batch = (ttr_batch){.event = merger->out, .pick = merger->row ? merger->pick : NULL, .n = n};
    if (n > 0)
        return TTR_OK;
    *error = merger->ending_error;
    return merger->ending;
}

/* Names hold from their place in the order on; read one after another, inputs give none, and what
 * they told holds when all is read. */
static ttr_status merger_next(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct merger *merger = (struct merger *)base;
    ttr_status status = TTR_OK;
    if (merger->rest.n)
        *batch = merger->rest;
    else
        status = merger->is_scattered ? next_scattered(merger, batch, error)
                                      : next_ordered(merger, batch, error);
    if (status == TTR_OK && !merger->is_scattered)
        pending_names_split_batch(&merger->renames, batch, &merger->rest);
    else if (status != TTR_OK && status != TTR_AGAIN)
        pending_names_apply_all(&merger->renames);
    return status;
}

static void merger_rank(ttr_reader *base, uint32_t *next)
{
    struct merger *merger = (struct merger *)base;
    for (size_t i = 0; i < merger->n; i++)
        reader_assign_ranks(merger->in[i], next);
}

static bool merger_report(ttr_reader *base, size_t index, ttr_report *report)
{
    struct merger *merger = (struct merger *)base;
    if (base->reports == merger->n) /* one each */
        return index < merger->n && ttr_reader_report(merger->told[index], 0, report);
    return report_of_readers(merger->told, merger->n, index, report);
}

static struct input *merger_input(ttr_reader *base, size_t index)
{
    const struct merger *merger = (struct merger *)base;
    if (base->reports == merger->n)
        return index < merger->n ? reader_input(merger->told[index], 0) : NULL;
    return input_of_readers(merger->told, merger->n, index);
}

static void merger_range(ttr_reader *base, int64_t from_ns, int64_t to_ns)
{
    struct merger *merger = (struct merger *)base;
    for (size_t i = 0; i < merger->n; i++)
        reader_set_range(merger->in[i], from_ns, to_ns);
}

static bool merger_scatter(ttr_reader *base)
{
    struct merger *merger = (struct merger *)base;
    merger->is_scattered = base->apart != NULL;
    for (size_t i = 0; i < merger->n && merger->is_scattered; i++)
        (void)reader_allow_stream_order(merger->in[i]);
    return merger->is_scattered;
}

static uint32_t merger_kinds(ttr_reader *base)
{
    const struct merger *merger = (struct merger *)base;
    uint32_t kinds = 0;
    for (size_t i = 0; i < merger->n; i++)
        kinds |= reader_kinds(merger->in[i]);
    return kinds;
}

static struct diagnostics *merger_notes(ttr_reader *base)
{
    struct merger *merger = (struct merger *)base;
    return merger->n ? reader_diagnostics(merger->in[0]) : NULL;
}

/* The format that tells all inputs apart, or NULL. */
static const struct format *apart_of(ttr_reader *const *in, size_t n)
{
    const struct format *apart = n ? in[0]->apart : NULL;
    for (size_t i = 1; i < n; i++)
        apart = in[i]->apart == apart ? apart : NULL;
    return apart;
}

static ttr_reader *merge_ordered(ttr *t, ttr_reader *const *in, size_t n, ttr_error *error)
{
    static const struct reader_ops ops = {.next = merger_next,
                                          .close = merger_close,
                                          .range = merger_range,
                                          .set_batch_size = merger_crowd,
                                          .allow_stream_order = merger_scatter,
                                          .kinds = merger_kinds,
                                          .rank = merger_rank,
                                          .report = merger_report,
                                          .input = merger_input,
                                          .notes = merger_notes};
    struct merger *merger = alloc_zero(&t->counted, 1, sizeof *merger);
    ttr_reader **list = alloc_zero(&t->counted, n, sizeof(ttr_reader *)), **told = NULL;
    for (size_t i = 0; list && i < n; i++)
        list[i] = in[i];
    told = list ? group_readers(&t->counted, list, n) : NULL;
    if (!merger || !told || !input_queue_init(&merger->queue, &t->counted, n)) {
        close_readers(in, n);
        group_free(&t->counted, told, list, n);
        if (merger)
            input_queue_free(&merger->queue);
        alloc_free(&t->counted, list, n, sizeof(ttr_reader *));
        alloc_free(&t->counted, merger, 1, sizeof *merger);
        (void)fail_memory(error);
        return NULL;
    }
    merger->base = (ttr_reader){
        .t = t, .ops = &ops, .order = TTR_ORDER_TIME, .reports = reports_of_readers(list, n)};
    merger->in = list;
    merger->told = told;
    merger->n = n;
    merger->ending = TTR_END;
    merger->base.apart = apart_of(in, n);
    pending_names_init(&merger->renames, t);
    for (size_t i = 0; i < n; i++)
        reader_set_pending_names(list[i], &merger->renames, (uint32_t)i);
    return &merger->base;
}

/* More than one input out of order: all go through one sorter, so that memory does not grow with
 * their number. */
ttr_reader *ttr_merge(ttr *t, ttr_reader **in, size_t n, ttr_error *error)
{
    size_t unordered = 0, at = 0, strange = 0;
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
    if (n == 1 && in[0] && in[0]->apart)
        return in[0];
    if (n == 0 || in[at])
        return merge_ordered(t, in, n, error);
    close_readers(in, n);
    return NULL;
}
