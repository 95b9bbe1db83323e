/* Exact sorting in bounded memory: events are collected with their fields until a budget is full, ordered by a radix sort over
 * small keys, and either given at once or written as a run to a temporary file (runs.h) and merged at the end.
 *
 * Definitions are dropped: tables of a format lose their meaning out of order.  For the same reason events lose their raw
 * records and keep their fields only.  An input that fails half way still gives what it gave, in order; the failure comes
 * after it. */
#include "pipeline/sort.h"

#include "base/pairmap.h"
#include "base/status.h"
#include "model/context.h"
#include "model/packed.h"
#include "model/input.h"
#include "model/reader.h"
#include "model/renames.h"
#include "pipeline/order.h"
#include "pipeline/runs.h"

#define BATCH 256u
#define MANY_INPUTS 1024u /* reports */
#define MANY_SHARE 4u

/* About 4,096 events: often enough for Ctrl-C to be felt at once. */
#define BATCHES_PER_PROGRESS 16u

const struct sort_limits sort_limits_default = {.run_events = 32768, .run_bytes = (size_t)3584 * 1024, .fan_in = 128,
                                                .read_bytes = (size_t)32 * 1024};

/* Events in memory, with room that is kept from run to run. */
struct collected {
    ttr_event *event;
    size_t *payload_at; /* in `bytes` */
    struct order_key *key, *spare;
    size_t n, event_room, at_room, key_room, spare_room;
    struct buffer bytes;
};

struct sorter {
    ttr_reader base;
    struct sort_limits limits;
    ttr_reader **in;
    ttr_reader **told;     /* the same for reports (group_readers) */
    size_t in_n, reading;  /* reading: the reader being read */
    ttr_batch batch;       /* of it */
    uint32_t batch_at;
    uint64_t batches;
    bool is_collected, is_spilled;
    struct collected held;
    size_t given;          /* of what is held */
    int64_t from_ns, to_ns; /* events outside of it are not kept */
    struct runs runs;
    ttr_event out[BATCH];
    struct renames renames; /* of inputs */
    ttr_batch rest;        /* what is to be given next, behind a name */
    ttr_status ending;     /* of the first input that failed */
    ttr_error ending_error;
};

void close_readers(ttr_reader *const *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ttr_close(in[i]);
}

uint32_t reports_of_readers(ttr_reader *const *in, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (in[i]->reports == 0 || in[i]->reports > UINT32_MAX - sum)
            return 0;
        sum += in[i]->reports;
    }
    return sum;
}

/* The first reader of the same trace as the i-th; itself where it has several inputs. */
static bool find_first(struct pairmap *firsts, ttr_reader *reader, uint32_t i, uint32_t *first)
{
    const struct input *in = reader->reports == 1 ? reader_input(reader, 0) : NULL;
    *first = i;
    if (!in)
        return true;
    const struct source_entry *entry = &reader->t->sources[in->id];
    const uint16_t trace = entry->shares ? entry->shares : in->id;
    const uint32_t *known = pairmap_get(firsts, trace, 0);
    if (known)
        *first = *known;
    return known || pairmap_put(firsts, trace, 0, i);
}

/* Puts readers into their groups; begin: room for n numbers. */
static void put_in_groups(ttr_reader **grouped, ttr_reader *const *in, const uint32_t *first, uint32_t *begin, size_t n)
{
    for (size_t i = 0; i < n; i++)
        begin[first[i]]++;
    for (size_t i = 0, at = 0; i < n; i++) {
        const uint32_t members = begin[i];
        begin[i] = (uint32_t)at;
        at += members;
    }
    for (size_t i = 0; i < n; i++)
        grouped[begin[first[i]]++] = in[i];
}

ttr_reader **group_readers(const struct alloc *alloc, ttr_reader **in, size_t n)
{
    struct pairmap firsts;
    bool is_grouped = true, is_fine = true;
    uint32_t *first = alloc_zero(alloc, n, sizeof *first), *begin = alloc_zero(alloc, n, sizeof *begin);
    ttr_reader **grouped = NULL;
    pairmap_init(&firsts, alloc);
    is_fine = first && begin;
    for (size_t i = 0; i < n && is_fine; i++) {
        is_fine = find_first(&firsts, in[i], (uint32_t)i, &first[i]);
        is_grouped = is_grouped && is_fine && (first[i] == i || first[i] == first[i - 1]);
    }
    if (is_fine)
        grouped = is_grouped ? in : alloc_zero(alloc, n, sizeof(ttr_reader *));
    if (grouped && !is_grouped)
        put_in_groups(grouped, in, first, begin, n);
    pairmap_free(&firsts);
    alloc_free(alloc, first, n, sizeof *first);
    alloc_free(alloc, begin, n, sizeof *begin);
    return grouped;
}

void group_free(const struct alloc *alloc, ttr_reader **grouped, ttr_reader *const *in, size_t n)
{
    if (grouped && grouped != in)
        alloc_free(alloc, grouped, n, sizeof(ttr_reader *));
}

/* The reader that has the report; *index becomes that within it. */
static ttr_reader *reader_of_report(ttr_reader *const *in, size_t n, size_t *index)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; i < n; i++) {
        size_t own = in[i]->reports;
        if (own == 0)
            while (own <= *index && ttr_reader_report(in[i], own, &report))
                own++;
        if (*index < own)
            return in[i];
        *index -= own;
    }
    return NULL;
}

bool report_of_readers(ttr_reader *const *in, size_t n, size_t index, ttr_report *report)
{
    ttr_reader *reader = reader_of_report(in, n, &index);
    return reader && ttr_reader_report(reader, index, report);
}

struct input *input_of_readers(ttr_reader *const *in, size_t n, size_t index)
{
    ttr_reader *reader = reader_of_report(in, n, &index);
    return reader ? reader_input(reader, index) : NULL;
}

static void release_held(struct sorter *sorter)
{
    struct collected *held = &sorter->held;
    const struct alloc *alloc = &sorter->base.t->counted;
    alloc_free(alloc, held->event, held->event_room, sizeof *held->event);
    alloc_free(alloc, held->payload_at, held->at_room, sizeof *held->payload_at);
    alloc_free(alloc, held->key, held->key_room, sizeof *held->key);
    alloc_free(alloc, held->spare, held->spare_room, sizeof *held->spare);
    buffer_free(&held->bytes);
    *held = (struct collected){0};
    buffer_init(&held->bytes, alloc);
}

static void sorter_close(ttr_reader *base)
{
    struct sorter *sorter = (struct sorter *)base;
    const struct alloc *alloc = &base->t->counted;
    close_readers(sorter->in, sorter->in_n);
    release_held(sorter);
    runs_free(&sorter->runs);
    renames_free(&sorter->renames);
    group_free(alloc, sorter->told, sorter->in, sorter->in_n);
    alloc_free(alloc, sorter->in, sorter->in_n, sizeof(ttr_reader *));
    alloc_free(alloc, sorter, 1, sizeof *sorter);
}

static ttr_status collect(struct sorter *sorter, const ttr_event *event, ttr_error *error)
{
    struct collected *held = &sorter->held;
    const struct alloc *alloc = &sorter->base.t->counted;
    size_t need = held->n + 1;
    if (!alloc_reserve(alloc, (void **)&held->event, &held->event_room, need, sizeof *held->event) ||
        !alloc_reserve(alloc, (void **)&held->payload_at, &held->at_room, need, sizeof *held->payload_at) ||
        !alloc_reserve(alloc, (void **)&held->key, &held->key_room, need, sizeof *held->key) ||
        !alloc_reserve(alloc, (void **)&held->spare, &held->spare_room, need, sizeof *held->spare))
        return fail_memory(error);
    ttr_event *copy = &held->event[held->n];
    held->payload_at[held->n] = packed_copy(sorter->base.t, &held->bytes, event, copy);
    if (held->bytes.failed)
        return fail_memory(error);
    copy->part = (uint32_t)(sorter->in_n > 1 ? sorter->reading : event->source);
    held->key[held->n] = (struct order_key){order_time(event->time), copy->part, (uint32_t)held->n};
    held->n++;
    return TTR_OK;
}

/* Orders what is held and turns its pointers to where the bytes have come to rest. */
static void order_held(struct collected *held)
{
    order_keys(held->key, held->spare, held->n);
    for (size_t i = 0; i < held->n; i++)
        if (held->event[i].payload_size)
            packed_settle(&held->event[i], held->bytes.bytes + held->payload_at[i]);
}

static ttr_status spill_held(struct sorter *sorter, ttr_error *error)
{
    struct collected *held = &sorter->held;
    order_held(held);
    ttr_status status = runs_begin(&sorter->runs, error);
    for (size_t i = 0; i < held->n && status == TTR_OK; i++)
        status = runs_add(&sorter->runs, &held->event[held->key[i].index], error);
    if (status == TTR_OK)
        status = runs_end(&sorter->runs, error);
    held->n = 0;
    buffer_clear(&held->bytes);
    sorter->is_spilled = true;
    return status;
}

/* Objects and gaps are asked for whatever their time. */
static bool is_kept(const struct sorter *sorter, const ttr_event *event)
{
    if (event->kind == TTR_KIND_DEFINITION)
        return false;
    return event->kind == TTR_KIND_OBJECT || event->kind == TTR_KIND_GAP || is_in_range(event, sorter->from_ns, sorter->to_ns);
}

static ttr_status collect_batch(struct sorter *sorter, ttr_error *error)
{
    const struct sort_limits *limits = &sorter->limits;
    while (sorter->batch_at < sorter->batch.n) {
        const ttr_event *event = ttr_batch_at(&sorter->batch, sorter->batch_at++);
        if (!is_kept(sorter, event))
            continue;
        ttr_status status = collect(sorter, event, error);
        if (status == TTR_OK && (sorter->held.n >= limits->run_events || sorter->held.bytes.n >= limits->run_bytes))
            status = spill_held(sorter, error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

/* Whoever watches may end all inputs where they are. */
static void ask_for_end(struct sorter *sorter)
{
    if (++sorter->batches % BATCHES_PER_PROGRESS == 0 && !context_goes_on(sorter->base.t))
        sorter->reading = sorter->in_n;
}

/* Reads all inputs to their ends, one after the other. */
static ttr_status collect_all(struct sorter *sorter, ttr_error *error)
{
    while (sorter->reading < sorter->in_n) {
        ttr_status status = collect_batch(sorter, error);
        if (status != TTR_OK)
            return status;
        ask_for_end(sorter);
        if (sorter->reading == sorter->in_n)
            break;
        ttr_error own = {0};
        sorter->batch_at = 0;
        status = ttr_read(sorter->in[sorter->reading], &sorter->batch, &own);
        if (status == TTR_OK)
            continue;
        sorter->batch.n = 0;
        if (status == TTR_AGAIN)
            return status;
        if (status != TTR_END && sorter->ending == TTR_END) {
            sorter->ending = status;
            sorter->ending_error = own;
        }
        sorter->reading++;
    }
    return TTR_OK;
}

static ttr_status finish_collecting(struct sorter *sorter, ttr_error *error)
{
    ttr_status status = collect_all(sorter, error);
    if (status != TTR_OK)
        return status;
    sorter->is_collected = true;
    if (!sorter->is_spilled) {
        order_held(&sorter->held);
        return TTR_OK;
    }
    if (sorter->held.n)
        status = spill_held(sorter, error);
    release_held(sorter);
    return status == TTR_OK ? runs_open(&sorter->runs, error) : status;
}

static uint32_t give_held(struct sorter *sorter)
{
    const struct collected *held = &sorter->held;
    uint32_t n = 0;
    while (n < BATCH && sorter->given < held->n)
        sorter->out[n++] = held->event[held->key[sorter->given++].index];
    return n;
}

static ttr_status next_ordered(struct sorter *sorter, ttr_batch *batch, ttr_error *error)
{
    ttr_status status = TTR_OK;
    uint32_t n = 0;
    if (!sorter->is_collected)
        status = finish_collecting(sorter, error);
    if (status == TTR_OK && sorter->is_spilled)
        status = runs_next(&sorter->runs, sorter->out, BATCH, &n, error);
    else if (status == TTR_OK)
        n = give_held(sorter);
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

/* Names hold from their place in the order on. */
static ttr_status sorter_next(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct sorter *sorter = (struct sorter *)base;
    ttr_status status = TTR_OK;
    if (sorter->rest.n)
        *batch = sorter->rest;
    else
        status = next_ordered(sorter, batch, error);
    if (status == TTR_OK)
        renames_cut(&sorter->renames, batch, &sorter->rest);
    else if (status != TTR_AGAIN)
        renames_apply_all(&sorter->renames);
    return status;
}

/* Whoever merges it with others applies names, then. */
static void sorter_renames(ttr_reader *base, struct renames *renames, uint32_t lane)
{
    struct sorter *sorter = (struct sorter *)base;
    for (size_t i = 0; i < sorter->in_n; i++)
        reader_renames(sorter->in[i], renames, lane);
}

static bool sorter_report(ttr_reader *base, size_t index, ttr_report *report)
{
    struct sorter *sorter = (struct sorter *)base;
    return report_of_readers(sorter->told, sorter->in_n, index, report);
}

static struct input *sorter_input(ttr_reader *base, size_t index)
{
    const struct sorter *sorter = (struct sorter *)base;
    return input_of_readers(sorter->told, sorter->in_n, index);
}

static void sorter_range(ttr_reader *base, int64_t from_ns, int64_t to_ns)
{
    struct sorter *sorter = (struct sorter *)base;
    sorter->from_ns = from_ns;
    sorter->to_ns = to_ns;
    for (size_t i = 0; i < sorter->in_n; i++)
        reader_range(sorter->in[i], from_ns, to_ns);
}

static struct notes *sorter_notes(ttr_reader *base)
{
    struct sorter *sorter = (struct sorter *)base;
    return sorter->in_n ? reader_notes(sorter->in[0]) : NULL;
}

/* Many inputs take room of their own: with them runs are shorter, and so are the buffers that they are merged with. */
static struct sort_limits limits_for(const struct sort_limits *limits, uint32_t inputs)
{
    struct sort_limits own = *limits;
    if (inputs < MANY_INPUTS)
        return own;
    own.run_events = own.run_events / MANY_SHARE + 1;
    own.run_bytes = own.run_bytes / MANY_SHARE + 1;
    own.read_bytes = own.read_bytes / MANY_SHARE + 1;
    return own;
}

ttr_reader *sort_readers(ttr *t, ttr_reader *const *in, size_t n, const struct sort_limits *limits, ttr_error *error)
{
    static const struct reader_ops ops = {
        .next = sorter_next, .close = sorter_close, .range = sorter_range, .renames = sorter_renames, .report = sorter_report,
        .input = sorter_input, .notes = sorter_notes};
    struct sorter *sorter = alloc_zero(&t->counted, 1, sizeof *sorter);
    ttr_reader **list = alloc_zero(&t->counted, n, sizeof(ttr_reader *)), **told = NULL;
    for (size_t i = 0; list && i < n; i++)
        list[i] = in[i];
    told = list ? group_readers(&t->counted, list, n) : NULL;
    if (!sorter || !told) {
        close_readers(in, n);
        group_free(&t->counted, told, list, n);
        alloc_free(&t->counted, list, n, sizeof(ttr_reader *));
        alloc_free(&t->counted, sorter, 1, sizeof *sorter);
        (void)fail_memory(error);
        return NULL;
    }
    sorter->base = (ttr_reader){.t = t, .ops = &ops, .order = TTR_ORDER_TIME, .reports = reports_of_readers(list, n)};
    sorter->limits = limits_for(limits, sorter->base.reports);
    sorter->in = list;
    sorter->told = told;
    sorter->in_n = n;
    sorter->from_ns = INT64_MIN;
    sorter->to_ns = INT64_MAX;
    sorter->ending = TTR_END;
    renames_init(&sorter->renames, t);
    for (size_t i = 0; i < n; i++)
        reader_renames(list[i], &sorter->renames, (uint32_t)i);
    runs_init(&sorter->runs, &t->counted, sorter->limits.fan_in, sorter->limits.read_bytes);
    buffer_init(&sorter->held.bytes, &t->counted);
    return &sorter->base;
}

ttr_reader *ttr_sort(ttr_reader *in, ttr_error *error)
{
    if (!in)
        return NULL;
    return in->order == TTR_ORDER_TIME ? in : sort_readers(in->t, &in, 1, &sort_limits_default, error);
}
