/* External merge sort of events in bounded memory.
 *
 * Phases
 *   collect  copy events with their fields into memory, up to a budget (struct sort_limits)
 *   spill    sort them (radix sort of small keys) and append them to a temporary file as a run
 *   merge    at the end of the input, merge all runs (sorted_runs.h)
 * An input that fits into memory is sorted there; no file is made.
 *
 * With an index of the order (order_index.h) the input need not be read to its end.  The index has
 * the minimum time of all later events, the floor.  Collected events below the floor are final and
 * are returned at once; the others stay in memory.  If too many stay, they are spilled; when the
 * floor exceeds the last time of all runs, the runs are merged and returned, and collecting starts
 * again.
 *
 *                  all input read, or enough events below the floor
 *     collecting --------------------------------------------------> returning memory
 *      |  ^   ^                                                           |
 *      |  |   +----------------------- all returned ----------------------+
 *      |  +------------------------------------------------------+
 *      +--- budget full: spill; floor above all runs ---> returning runs
 *
 * Invariants
 *   - Events are ordered by (time, rank of the input, position); ttr_event.part has the rank.
 *   - Equal keys keep the order of the input: the radix sort is stable, and runs are numbered.
 *   - Every time of the runs is at most spilled_until; no later event is below returned_until.
 *
 * Cost: per event one copy, the passes of the radix sort, and if spilled one write and one read per
 * level of the merge (128 runs per level).  Memory: see sort_limits_default.
 *
 * Left out: definitions, since the tables of a format are valid only in its order.  For the same
 * reason events lose TTR_EVENT_RAW and keep their decoded fields.  If an input fails, its events so
 * far are returned in order, then the error. */
#include "pipeline/order/sort.h"

#include "base/pair_map.h"
#include "base/self_zones.h"
#include "base/status.h"
#include "base/packed_words.h"
#include "model/context.h"
#include "model/event_copy.h"
#include "model/input.h"
#include "model/reader.h"
#include "model/pending_names.h"
#include "pipeline/order/order_index.h"
#include "pipeline/order/radix_sort.h"
#include "pipeline/order/sorted_runs.h"

#define BATCH 256u
/* inputs; at this number limits are divided by MANY_SHARE */
#define MANY_INPUTS_MIN 1024u
#define MANY_SHARE 4u
/* number of collected events at which the sorter first searches for final ones */
#define FIRST_CHECK ((size_t)1024)
/* when memory is full, events are spilled unless 1 / READY_SHARE_MIN of them are final */
#define READY_SHARE_MIN 8u

/* Batches between two calls of the progress callback, so that Ctrl-C takes effect within
 * milliseconds. */
#define BATCHES_PER_PROGRESS 16u

const struct sort_limits sort_limits_default = {.run_events = 32768,
                                                .run_bytes = (size_t)3584 * 1024,
                                                .fan_in = 128,
                                                .read_bytes = (size_t)32 * 1024};

/* Events in memory. Buffers are reused after a spill. */
struct collected {
    ttr_event *event;
    size_t *payload_at; /* offsets of the payloads of the events in `bytes` */
    struct order_key *key, *spare;
    size_t n, event_room, at_room, key_room, spare_room;
    struct buffer bytes;
};

/* States of a sorter: collecting events, returning events from memory, returning events from the
 * runs on disk. */
enum state { COLLECTING, RETURNING_HELD, RETURNING_RUNS };

struct sorter {
    ttr_reader base;
    struct sort_limits limits;
    ttr_reader **in;
    ttr_reader **by_report; /* the readers of `in`, ordered for reports (group_readers_by_trace) */
    size_t in_n, reading;   /* number of inputs, and index of the input that is read */
    ttr_batch batch;        /* last batch of the input that is read; its events from `batch_at` on
                             * are not collected yet */
    uint32_t batch_at;
    uint64_t batches;
    enum state state;
    /* is_collected: all inputs are read to their ends; is_spilled: runs exist */
    bool is_collected, is_spilled;
    struct collected collected_events;
    /* indices in sorted order: next event to return, and end of the final events */
    size_t returned, ready;
    /* order index with the minimum time of unread events; NULL = none */
    const ttr_order_index *known;
    uint64_t events_read;   /* events read so far, without definitions */
    size_t check_at;        /* number of collected events at which the sorter next searches for
                             * final ones */
    int64_t spilled_until;  /* maximum time in ns of all events in runs */
    int64_t returned_until; /* time in ns: according to the order index, no unread event is earlier
                             * */
    /* second set of buffers, for the events that stay in memory while others are returned */
    struct collected kept;
    /* time range in ns, set by reader_set_range; events outside of it are dropped */
    int64_t from_ns, to_ns;
    struct runs runs;
    ttr_event out[BATCH];
    /* queue of name changes, which apply when their time is reached */
    struct pending_names renames;
    /* Rest of a batch for the next read. A batch is split where a thread changes its name, so that
     * events before have the old name. */
    ttr_batch rest;
    ttr_status ending; /* TTR_END, or the status of the first input that failed */
    ttr_error ending_error;
};

void close_readers(ttr_reader *const *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ttr_close(in[i]);
}

uint32_t count_reader_reports(ttr_reader *const *in, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (in[i]->reports == 0 || in[i]->reports > UINT32_MAX - sum)
            return 0;
        sum += in[i]->reports;
    }
    return sum;
}

/* Sets *first to the index of the first reader of the same trace as reader i. A reader with several
 * inputs shares its trace with no other. Returns false if memory is exhausted. */
static bool find_group(struct pair_map *firsts, ttr_reader *reader, uint32_t i, uint32_t *first)
{
    const struct input *in = reader->reports == 1 ? reader_get_input(reader, 0) : NULL;
    *first = i;
    if (!in)
        return true;
    const struct source_entry *entry = &reader->t->sources[in->id];
    const uint16_t trace = entry->shares ? entry->shares : in->id;
    const uint32_t *known = pair_map_get(firsts, trace, 0);
    if (known)
        *first = *known;
    return known || pair_map_put(firsts, trace, 0, i);
}

/* Writes the readers to `grouped`, so that readers of one trace are adjacent. `start` is scratch
 * space for n numbers, initially 0. */
static void write_groups(ttr_reader **grouped, ttr_reader *const *in, const uint32_t *first,
                         uint32_t *start, size_t n)
{
    for (size_t i = 0; i < n; i++)
        start[first[i]]++;
    for (size_t i = 0, at = 0; i < n; i++) {
        const uint32_t members = start[i];
        start[i] = (uint32_t)at;
        at += members;
    }
    for (size_t i = 0; i < n; i++)
        grouped[start[first[i]]++] = in[i];
}

ttr_reader **group_readers_by_trace(const struct alloc *alloc, ttr_reader **in, size_t n)
{
    struct pair_map firsts;
    bool is_grouped = true, is_fine = true;
    uint32_t *first = alloc_zero(alloc, n, sizeof *first),
             *start = alloc_zero(alloc, n, sizeof *start);
    ttr_reader **grouped = NULL;
    pair_map_init(&firsts, alloc);
    is_fine = first && start;
    for (size_t i = 0; i < n && is_fine; i++) {
        is_fine = find_group(&firsts, in[i], (uint32_t)i, &first[i]);
        is_grouped = is_grouped && is_fine && (first[i] == i || first[i] == first[i - 1]);
    }
    if (is_fine)
        grouped = is_grouped ? in : alloc_zero(alloc, n, sizeof(ttr_reader *));
    if (grouped && !is_grouped)
        write_groups(grouped, in, first, start, n);
    pair_map_free(&firsts);
    alloc_free(alloc, first, n, sizeof *first);
    alloc_free(alloc, start, n, sizeof *start);
    return grouped;
}

void group_readers_by_trace_free(const struct alloc *alloc, ttr_reader **grouped,
                                 ttr_reader *const *in, size_t n)
{
    if (grouped && grouped != in)
        alloc_free(alloc, grouped, n, sizeof(ttr_reader *));
}

/* Returns the reader that has report *index of the list, and sets *index to the number of the
 * report within that reader. */
static ttr_reader *find_reader_of_report(ttr_reader *const *in, size_t n, size_t *index)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; i < n; i++) {
        size_t ctx = in[i]->reports;
        if (ctx == 0)
            while (ctx <= *index && ttr_reader_report(in[i], ctx, &report))
                ctx++;
        if (*index < ctx)
            return in[i];
        *index -= ctx;
    }
    return NULL;
}

bool get_reader_report(ttr_reader *const *in, size_t n, size_t index, ttr_report *report)
{
    ttr_reader *reader = find_reader_of_report(in, n, &index);
    return reader && ttr_reader_report(reader, index, report);
}

struct input *get_reader_input(ttr_reader *const *in, size_t n, size_t index)
{
    ttr_reader *reader = find_reader_of_report(in, n, &index);
    return reader ? reader_get_input(reader, index) : NULL;
}

static void free_collected(const struct alloc *alloc, struct collected *collected_events)
{
    alloc_free(alloc, collected_events->event, collected_events->event_room,
               sizeof *collected_events->event);
    alloc_free(alloc, collected_events->payload_at, collected_events->at_room,
               sizeof *collected_events->payload_at);
    alloc_free(alloc, collected_events->key, collected_events->key_room,
               sizeof *collected_events->key);
    alloc_free(alloc, collected_events->spare, collected_events->spare_room,
               sizeof *collected_events->spare);
    buffer_free(&collected_events->bytes);
    *collected_events = (struct collected){0};
    buffer_init(&collected_events->bytes, alloc);
}

static void sorter_close(ttr_reader *base)
{
    struct sorter *sorter = (struct sorter *)base;
    const struct alloc *alloc = &base->t->counted;
    close_readers(sorter->in, sorter->in_n);
    free_collected(alloc, &sorter->collected_events);
    free_collected(alloc, &sorter->kept);
    runs_free(&sorter->runs);
    pending_names_free(&sorter->renames);
    group_readers_by_trace_free(alloc, sorter->by_report, sorter->in, sorter->in_n);
    alloc_free(alloc, sorter->in, sorter->in_n, sizeof(ttr_reader *));
    alloc_free(alloc, sorter, 1, sizeof *sorter);
}

static bool reserve_collected(const struct alloc *alloc, struct collected *collected_events,
                              size_t need)
{
    return alloc_reserve(alloc, (void **)&collected_events->event, &collected_events->event_room,
                         need, sizeof *collected_events->event) &&
           alloc_reserve(alloc, (void **)&collected_events->payload_at, &collected_events->at_room,
                         need, sizeof *collected_events->payload_at) &&
           alloc_reserve(alloc, (void **)&collected_events->key, &collected_events->key_room, need,
                         sizeof *collected_events->key) &&
           alloc_reserve(alloc, (void **)&collected_events->spare, &collected_events->spare_room,
                         need, sizeof *collected_events->spare);
}

/* Returns the rank of a source (source_entry.rank), by which events of equal time are ordered. */
static size_t get_source_rank(const ttr *t, uint16_t source)
{
    return source < t->sources_n ? t->sources[source].rank : source;
}

static ttr_status collect_event(struct sorter *sorter, const ttr_event *event, ttr_error *error)
{
    struct collected *collected_events = &sorter->collected_events;
    if (sorter->known && event->time < sorter->returned_until)
        return fail(error, TTR_E_IO, event->offset,
                    "the input is not what it was when it was looked how it is ordered");
    if (!reserve_collected(&sorter->base.t->counted, collected_events, collected_events->n + 1))
        return fail_memory(error);
    ttr_event *copy = &collected_events->event[collected_events->n];
    collected_events->payload_at[collected_events->n] =
        event_copy_add(sorter->base.t, &collected_events->bytes, event, copy);
    if (collected_events->bytes.failed)
        return fail_memory(error);
    copy->part = (uint32_t)(sorter->in_n > 1 ? sorter->reading
                                             : get_source_rank(sorter->base.t, event->source));
    collected_events->key[collected_events->n] =
        (struct order_key){order_time(event->time), copy->part, (uint32_t)collected_events->n};
    collected_events->n++;
    return TTR_OK;
}

/* Sorts the collected events and sets their payload pointers. The pointers stay valid, because the
 * buffer no longer grows. */
static void sort_collected(struct collected *collected_events)
{
    radix_sort_keys(collected_events->key, collected_events->spare, collected_events->n);
    for (size_t i = 0; i < collected_events->n; i++)
        if (collected_events->event[i].payload_size)
            event_copy_set_pointers(&collected_events->event[i],
                                    collected_events->bytes.bytes +
                                        collected_events->payload_at[i]);
}

/* Writes the first n sorted events to the temporary file as a run. */
static ttr_status add_sorted_run(struct sorter *sorter, size_t n, ttr_error *error)
{
    const struct collected *collected_events = &sorter->collected_events;
    ttr_status status =
        runs_begin(&sorter->runs, &collected_events->event[collected_events->key[0].index], error);
    for (size_t i = 0; i < n && status == TTR_OK; i++)
        status = runs_add(&sorter->runs, &collected_events->event[collected_events->key[i].index],
                          error);
    return status == TTR_OK ? runs_finish(&sorter->runs, error) : status;
}

static ttr_status spill_collected(struct sorter *sorter, ttr_error *error)
{
    struct collected *collected_events = &sorter->collected_events;
    sort_collected(collected_events);
    ttr_status status = add_sorted_run(sorter, collected_events->n, error);
    const int64_t last =
        collected_events->event[collected_events->key[collected_events->n - 1].index].time;
    sorter->spilled_until =
        !sorter->is_spilled || last > sorter->spilled_until ? last : sorter->spilled_until;
    collected_events->n = 0;
    buffer_clear(&collected_events->bytes);
    sorter->is_spilled = true;
    return status;
}

/* Returns true if an event is in the requested time range. A filter passes objects and gaps at any
 * time, so they always are. */
static bool is_in_time_range(const struct sorter *sorter, const ttr_event *event)
{
    return event->kind == TTR_KIND_OBJECT || event->kind == TTR_KIND_GAP ||
           event_is_in_range(event, sorter->from_ns, sorter->to_ns);
}

/* Returns the number of collected events before time `floor`. The events are sorted. */
static size_t count_ready(const struct collected *collected_events, int64_t floor)
{
    size_t low = 0, high = collected_events->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (collected_events->key[middle].rank < order_time(floor))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Switches to returning events if enough collected events are final: more than half, or more than
 * an eighth if memory is full. */
static void return_collected_if_final(struct sorter *sorter, int64_t floor, bool is_full)
{
    struct collected *collected_events = &sorter->collected_events;
    sort_collected(collected_events);
    const size_t ready = count_ready(collected_events, floor);
    sorter->check_at = 2 * collected_events->n;
    if (ready < (is_full ? collected_events->n / READY_SHARE_MIN + 1 : collected_events->n / 2 + 1))
        return;
    sorter->ready = ready;
    sorter->returned_until = floor;
    sorter->state = RETURNING_HELD;
}

/* If all runs end before time `floor`, starts to merge and return them together with the final
 * events in memory. */
static ttr_status finish_runs_if_full(struct sorter *sorter, int64_t floor, ttr_error *error)
{
    if (floor <= sorter->spilled_until)
        return TTR_OK;
    sort_collected(&sorter->collected_events);
    sorter->returned = count_ready(&sorter->collected_events, floor);
    sorter->returned_until = floor;
    sorter->state = RETURNING_RUNS;
    ttr_status status = sorter->returned ? add_sorted_run(sorter, sorter->returned, error) : TTR_OK;
    return status == TTR_OK ? runs_open(&sorter->runs, error) : status;
}

/* Decides after a collected event whether to continue collecting, to return final events, or to
 * spill. */
static ttr_status decide_next_state(struct sorter *sorter, ttr_error *error)
{
    const struct sort_limits *limits = &sorter->limits;
    const struct collected *collected_events = &sorter->collected_events;
    const bool is_full =
        collected_events->n >= limits->run_events || collected_events->bytes.n >= limits->run_bytes;
    if (sorter->known &&
        (is_full || (!sorter->is_spilled && collected_events->n >= sorter->check_at))) {
        const int64_t floor = order_index_floor(sorter->known, sorter->events_read);
        ttr_status status = TTR_OK;
        if (sorter->is_spilled)
            status = finish_runs_if_full(sorter, floor, error);
        else
            return_collected_if_final(sorter, floor, is_full);
        if (status != TTR_OK || sorter->state != COLLECTING)
            return status;
    }
    return is_full ? spill_collected(sorter, error) : TTR_OK;
}

static ttr_status collect_batch(struct sorter *sorter, ttr_error *error)
{
    while (sorter->batch_at < sorter->batch.n && sorter->state == COLLECTING) {
        const ttr_event *event = ttr_batch_at(&sorter->batch, sorter->batch_at++);
        if (event->kind == TTR_KIND_DEFINITION)
            continue;
        sorter->events_read++;
        if (!is_in_time_range(sorter, event))
            continue;
        ttr_status status = collect_event(sorter, event, error);
        if (status == TTR_OK)
            status = decide_next_state(sorter, error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

/* Calls the progress callback. If it cancels, the inputs count as ended. */
static void poll_progress(struct sorter *sorter)
{
    if (++sorter->batches % BATCHES_PER_PROGRESS == 0 && !context_should_continue(sorter->base.t))
        sorter->reading = sorter->in_n;
}

/* Reads the inputs one by one until all have ended or events can be returned. */
static ttr_status collect_until_ready(struct sorter *sorter, ttr_error *error)
{
    while (sorter->reading < sorter->in_n) {
        ttr_status status = collect_batch(sorter, error);
        if (status != TTR_OK || sorter->state != COLLECTING)
            return status;
        poll_progress(sorter);
        if (sorter->reading == sorter->in_n)
            break;
        ttr_error ctx = {0};
        sorter->batch_at = 0;
        status = ttr_read(sorter->in[sorter->reading], &sorter->batch, &ctx);
        if (status == TTR_OK)
            continue;
        sorter->batch.n = 0;
        if (status == TTR_AGAIN)
            return status;
        if (status != TTR_END && sorter->ending == TTR_END) {
            sorter->ending = status;
            sorter->ending_error = ctx;
        }
        sorter->reading++;
    }
    return TTR_OK;
}

/* Collects events until some can be returned. At the end of the inputs, all can be returned. */
static ttr_status collect_until_batch(struct sorter *sorter, ttr_error *error)
{
    ttr_status status = collect_until_ready(sorter, error);
    if (status != TTR_OK || sorter->state != COLLECTING)
        return status;
    sorter->is_collected = true;
    if (!sorter->is_spilled) {
        sort_collected(&sorter->collected_events);
        sorter->ready = sorter->collected_events.n;
        sorter->state = RETURNING_HELD;
        return TTR_OK;
    }
    if (sorter->collected_events.n)
        status = spill_collected(sorter, error);
    free_collected(&sorter->base.t->counted, &sorter->collected_events);
    sorter->state = RETURNING_RUNS;
    return status == TTR_OK ? runs_open(&sorter->runs, error) : status;
}

/* Drops the returned events and moves the others to the start of the buffers. */
static ttr_status drop_returned_events(struct sorter *sorter, ttr_error *error)
{
    struct collected *collected_events = &sorter->collected_events, *kept = &sorter->kept;
    if (!reserve_collected(&sorter->base.t->counted, kept, collected_events->n - sorter->returned))
        return fail_memory(error);
    buffer_clear(&kept->bytes);
    kept->n = 0;
    for (size_t i = sorter->returned; i < collected_events->n; i++) {
        const ttr_event *event = &collected_events->event[collected_events->key[i].index];
        kept->key[kept->n] = (struct order_key){collected_events->key[i].rank,
                                                collected_events->key[i].minor, (uint32_t)kept->n};
        kept->payload_at[kept->n] = kept->bytes.n;
        kept->event[kept->n++] = *event;
        buffer_add(&kept->bytes, event->payload, event->payload_size);
        buffer_add_zeros(&kept->bytes,
                         packed_words_padded_size(event->payload_size) - event->payload_size);
    }
    const struct collected left = *collected_events;
    *collected_events = *kept;
    *kept = left;
    return collected_events->bytes.failed ? fail_memory(error) : TTR_OK;
}

/* Starts to collect again after all final events were returned. */
static ttr_status restart_collecting(struct sorter *sorter, ttr_error *error)
{
    const ttr_status status = drop_returned_events(sorter, error);
    if (sorter->state == RETURNING_RUNS) {
        runs_free(&sorter->runs);
        runs_init(&sorter->runs, sorter->base.t, sorter->limits.fan_in, sorter->limits.read_bytes);
        sorter->is_spilled = false;
    }
    sorter->returned = sorter->ready = 0;
    sorter->check_at =
        2 * sorter->collected_events.n > FIRST_CHECK ? 2 * sorter->collected_events.n : FIRST_CHECK;
    sorter->state = COLLECTING;
    return status;
}

static uint32_t copy_returned_events(struct sorter *sorter)
{
    const struct collected *collected_events = &sorter->collected_events;
    uint32_t n = 0;
    while (n < BATCH && sorter->returned < sorter->ready)
        sorter->out[n++] = collected_events->event[collected_events->key[sorter->returned++].index];
    return n;
}

static ttr_status return_sorted_batch(struct sorter *sorter, ttr_batch *batch, ttr_error *error)
{
    ttr_status status = TTR_OK;
    uint32_t n = 0;
    while (status == TTR_OK && n == 0) {
        if (sorter->state == RETURNING_HELD)
            n = copy_returned_events(sorter);
        else if (sorter->state == RETURNING_RUNS)
            status = runs_read_events(&sorter->runs, sorter->out, BATCH, &n, error);
        if (status != TTR_OK || n > 0 || (sorter->is_collected && sorter->state != COLLECTING))
            break;
        if (sorter->state != COLLECTING)
            status = restart_collecting(sorter, error);
        if (status == TTR_OK)
            status = collect_until_batch(sorter, error);
    }
    if (status != TTR_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        sorter->out[i].part = 0;
    *batch = (ttr_batch){.event = sorter->out, .n = n};
    if (n > 0)
        return TTR_OK;
    if (sorter->ending != TTR_END && error)
        *error = sorter->ending_error;
    return sorter->ending;
}

uint64_t count_temporary_bytes(const ttr_reader *reader)
{
    return ((const struct sorter *)reader)->runs.spill.end;
}

/* Implements reader_ops.next. Splits batches at name changes, so that a name applies only to later
 * events. */
static ttr_status sorter_read_batch(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    SELF_ZONE(order, "sort batch");
    struct sorter *sorter = (struct sorter *)base;
    ttr_status status = TTR_OK;
    if (sorter->rest.n)
        *batch = sorter->rest;
    else
        status = return_sorted_batch(sorter, batch, error);
    if (status == TTR_OK)
        pending_names_split_batch(&sorter->renames, batch, &sorter->rest);
    else if (status != TTR_AGAIN)
        pending_names_apply_all(&sorter->renames);
    return status;
}

static void sorter_assign_ranks(ttr_reader *base, uint32_t *next)
{
    struct sorter *sorter = (struct sorter *)base;
    for (size_t i = 0; i < sorter->in_n; i++)
        reader_assign_ranks(sorter->in[i], next);
}

/* Implements reader_ops.renames: the inputs queue their name changes for the merging reader that
 * reads this sorter. */
static void sorter_set_pending_names(ttr_reader *base, struct pending_names *renames,
                                     uint32_t merge_position)
{
    struct sorter *sorter = (struct sorter *)base;
    for (size_t i = 0; i < sorter->in_n; i++)
        reader_set_pending_names(sorter->in[i], renames, merge_position);
}

static bool sorter_get_report(ttr_reader *base, size_t index, ttr_report *report)
{
    struct sorter *sorter = (struct sorter *)base;
    return get_reader_report(sorter->by_report, sorter->in_n, index, report);
}

static struct input *sorter_get_input(ttr_reader *base, size_t index)
{
    const struct sorter *sorter = (struct sorter *)base;
    return get_reader_input(sorter->by_report, sorter->in_n, index);
}

static void sorter_set_range(ttr_reader *base, int64_t from_ns, int64_t to_ns)
{
    struct sorter *sorter = (struct sorter *)base;
    sorter->from_ns = from_ns;
    sorter->to_ns = to_ns;
    for (size_t i = 0; i < sorter->in_n; i++)
        reader_set_range(sorter->in[i], from_ns, to_ns);
}

static struct diagnostics *sorter_get_diagnostics(ttr_reader *base)
{
    struct sorter *sorter = (struct sorter *)base;
    return sorter->in_n ? reader_get_diagnostics(sorter->in[0]) : NULL;
}

/* Returns the memory limits for a number of inputs. Many inputs need memory for their own buffers,
 * so runs and read buffers are smaller. */
static struct sort_limits compute_limits_for_inputs(const struct sort_limits *limits,
                                                    uint32_t inputs)
{
    struct sort_limits ctx = *limits;
    if (inputs < MANY_INPUTS_MIN)
        return ctx;
    ctx.run_events = ctx.run_events / MANY_SHARE + 1;
    ctx.run_bytes = ctx.run_bytes / MANY_SHARE + 1;
    ctx.read_bytes = ctx.read_bytes / MANY_SHARE + 1;
    return ctx;
}

ttr_reader *sort_readers(ttr *t, ttr_reader *const *in, size_t n, const struct sort_limits *limits,
                         ttr_error *error)
{
    static const struct reader_ops ops = {.next = sorter_read_batch,
                                          .close = sorter_close,
                                          .range = sorter_set_range,
                                          .renames = sorter_set_pending_names,
                                          .rank = sorter_assign_ranks,
                                          .report = sorter_get_report,
                                          .input = sorter_get_input,
                                          .notes = sorter_get_diagnostics};
    struct sorter *sorter = alloc_zero(&t->counted, 1, sizeof *sorter);
    ttr_reader **list = alloc_zero(&t->counted, n, sizeof(ttr_reader *)), **by_report = NULL;
    for (size_t i = 0; list && i < n; i++)
        list[i] = in[i];
    by_report = list ? group_readers_by_trace(&t->counted, list, n) : NULL;
    if (!sorter || !by_report) {
        close_readers(in, n);
        group_readers_by_trace_free(&t->counted, by_report, list, n);
        alloc_free(&t->counted, list, n, sizeof(ttr_reader *));
        alloc_free(&t->counted, sorter, 1, sizeof *sorter);
        (void)fail_memory(error);
        return NULL;
    }
    sorter->base = (ttr_reader){
        .t = t, .ops = &ops, .order = TTR_ORDER_TIME, .reports = count_reader_reports(list, n)};
    sorter->limits = compute_limits_for_inputs(limits, sorter->base.reports);
    sorter->in = list;
    sorter->by_report = by_report;
    sorter->in_n = n;
    sorter->from_ns = INT64_MIN;
    sorter->to_ns = INT64_MAX;
    sorter->ending = TTR_END;
    pending_names_init(&sorter->renames, t);
    if (n == 1)
        reader_assign_ranks(list[0], &(uint32_t){0});
    for (size_t i = 0; i < n; i++)
        reader_set_pending_names(list[i], &sorter->renames, (uint32_t)i);
    runs_init(&sorter->runs, t, sorter->limits.fan_in, sorter->limits.read_bytes);
    buffer_init(&sorter->collected_events.bytes, &t->counted);
    buffer_init(&sorter->kept.bytes, &t->counted);
    sorter->check_at = FIRST_CHECK;
    sorter->returned_until = INT64_MIN;
    return &sorter->base;
}

ttr_reader *ttr_sort(ttr_reader *in, ttr_error *error)
{
    if (!in)
        return NULL;
    return in->order == TTR_ORDER_TIME ? in
                                       : sort_readers(in->t, &in, 1, &sort_limits_default, error);
}

ttr_reader *sort_with_index(ttr_reader *in, const ttr_order_index *known,
                            const struct sort_limits *limits, ttr_error *error)
{
    /* Events that stay are moved to a second set of buffers, so each set has half of the memory. */
    const struct sort_limits half = {.run_events = limits->run_events / 2 + 1,
                                     .run_bytes = limits->run_bytes / 2 + 1,
                                     .fan_in = limits->fan_in,
                                     .read_bytes = limits->read_bytes};
    ttr_reader *reader = sort_readers(in->t, &in, 1, &half, error);
    if (reader)
        ((struct sorter *)reader)->known = known;
    return reader;
}

ttr_reader *ttr_sort_indexed(ttr_reader *in, const ttr_order_index *known, ttr_error *error)
{
    if (!in)
        return NULL;
    return known && !ttr_order_index_has_disorder(known)
               ? in
               : sort_with_index(in, known, &sort_limits_default, error);
}
