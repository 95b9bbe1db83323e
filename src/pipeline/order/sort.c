/* Exact sorting in bounded memory: events are collected with their fields until a budget is full,
 * ordered by a radix sort over small keys, and either given at once or written as a run to a
 * temporary file (sorted_runs.h) and merged at the end.
 *
 * Definitions are dropped: tables of a format lose their meaning out of order.  For the same reason
 * events lose their raw records and keep their fields only.  An input that fails half way still
 * gives what it gave, in order; the failure comes after it.
 *
 * Where it is known how early events may still come (order_index.h), all that is earlier is given
 * at once; the rest waits in memory.  When too much of it waits, all goes to runs, until everything
 * in them is earlier than what is still to come: then these are merged and given, and sorting
 * begins anew. */
#include "pipeline/order/sort.h"

#include "base/pair_map.h"
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
#define MANY_INPUTS 1024u /* reports */
#define MANY_SHARE 4u
#define LOOK_FIRST ((size_t)1024) /* events that wait before it is looked what may go */
#define LEAST_SHARE 8u /* of what waits, that is worth to be given where there is no more room */

/* About 4,096 events: often enough for Ctrl-C to be felt at once. */
#define BATCHES_PER_PROGRESS 16u

const struct sort_limits sort_limits_default = {.run_events = 32768,
                                                .run_bytes = (size_t)3584 * 1024,
                                                .fan_in = 128,
                                                .read_bytes = (size_t)32 * 1024};

/* Events in memory, with room that is kept from run to run. */
struct collected {
    ttr_event *event;
    size_t *payload_at; /* in `bytes` */
    struct order_key *key, *spare;
    size_t n, event_room, at_room, key_room, spare_room;
    struct buffer bytes;
};

/* What it does. */
enum doing { COLLECTS, GIVES_HELD, GIVES_RUNS };

struct sorter {
    ttr_reader base;
    struct sort_limits limits;
    ttr_reader **in;
    ttr_reader **told;    /* the same for reports (group_readers) */
    size_t in_n, reading; /* reading: the reader being read */
    ttr_batch batch;      /* of it */
    uint32_t batch_at;
    uint64_t batches;
    enum doing doing;
    bool is_collected, is_spilled; /* all is read; there are runs */
    struct collected held;
    size_t given, ready;          /* of what is held, in order */
    const ttr_order_index *known; /* NULL = it is not */
    uint64_t taken;               /* events of the input, definitions left out */
    size_t look_at;               /* so many held: it is looked what may go */
    int64_t spilled_until;        /* no event in the runs is later */
    int64_t given_until;          /* nothing that comes is earlier, by what is known */
    struct collected kept;        /* room for what stays */
    int64_t from_ns, to_ns;       /* events outside of it are not kept */
    struct runs runs;
    ttr_event out[BATCH];
    struct pending_names renames; /* of inputs */
    ttr_batch rest;               /* what is to be given next, behind a name */
    ttr_status ending;            /* of the first input that failed */
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
static bool find_first(struct pair_map *firsts, ttr_reader *reader, uint32_t i, uint32_t *first)
{
    const struct input *in = reader->reports == 1 ? reader_input(reader, 0) : NULL;
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

/* Puts readers into their groups; begin: room for n numbers. */
static void put_in_groups(ttr_reader **grouped, ttr_reader *const *in, const uint32_t *first,
                          uint32_t *begin, size_t n)
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
    struct pair_map firsts;
    bool is_grouped = true, is_fine = true;
    uint32_t *first = alloc_zero(alloc, n, sizeof *first),
             *begin = alloc_zero(alloc, n, sizeof *begin);
    ttr_reader **grouped = NULL;
    pair_map_init(&firsts, alloc);
    is_fine = first && begin;
    for (size_t i = 0; i < n && is_fine; i++) {
        is_fine = find_first(&firsts, in[i], (uint32_t)i, &first[i]);
        is_grouped = is_grouped && is_fine && (first[i] == i || first[i] == first[i - 1]);
    }
    if (is_fine)
        grouped = is_grouped ? in : alloc_zero(alloc, n, sizeof(ttr_reader *));
    if (grouped && !is_grouped)
        put_in_groups(grouped, in, first, begin, n);
    pair_map_free(&firsts);
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

static void release(const struct alloc *alloc, struct collected *held)
{
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
    release(alloc, &sorter->held);
    release(alloc, &sorter->kept);
    runs_free(&sorter->runs);
    pending_names_free(&sorter->renames);
    group_free(alloc, sorter->told, sorter->in, sorter->in_n);
    alloc_free(alloc, sorter->in, sorter->in_n, sizeof(ttr_reader *));
    alloc_free(alloc, sorter, 1, sizeof *sorter);
}

static bool reserve(const struct alloc *alloc, struct collected *held, size_t need)
{
    return alloc_reserve(alloc, (void **)&held->event, &held->event_room, need,
                         sizeof *held->event) &&
           alloc_reserve(alloc, (void **)&held->payload_at, &held->at_room, need,
                         sizeof *held->payload_at) &&
           alloc_reserve(alloc, (void **)&held->key, &held->key_room, need, sizeof *held->key) &&
           alloc_reserve(alloc, (void **)&held->spare, &held->spare_room, need,
                         sizeof *held->spare);
}

/* What is at one time comes as a merge gives it. */
static size_t rank_of(const ttr *t, uint16_t source)
{
    return source < t->sources_n ? t->sources[source].rank : source;
}

static ttr_status collect(struct sorter *sorter, const ttr_event *event, ttr_error *error)
{
    struct collected *held = &sorter->held;
    if (sorter->known && event->time < sorter->given_until)
        return fail(error, TTR_E_IO, event->offset,
                    "the input is not what it was when it was looked how it is ordered");
    if (!reserve(&sorter->base.t->counted, held, held->n + 1))
        return fail_memory(error);
    ttr_event *copy = &held->event[held->n];
    held->payload_at[held->n] = event_copy_add(sorter->base.t, &held->bytes, event, copy);
    if (held->bytes.failed)
        return fail_memory(error);
    copy->part =
        (uint32_t)(sorter->in_n > 1 ? sorter->reading : rank_of(sorter->base.t, event->source));
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
            event_copy_settle(&held->event[i], held->bytes.bytes + held->payload_at[i]);
}

/* Makes a run of the first n events that are held in order. */
static ttr_status add_run(struct sorter *sorter, size_t n, ttr_error *error)
{
    const struct collected *held = &sorter->held;
    ttr_status status = runs_begin(&sorter->runs, error);
    for (size_t i = 0; i < n && status == TTR_OK; i++)
        status = runs_add(&sorter->runs, &held->event[held->key[i].index], error);
    return status == TTR_OK ? runs_end(&sorter->runs, error) : status;
}

static ttr_status spill_held(struct sorter *sorter, ttr_error *error)
{
    struct collected *held = &sorter->held;
    order_held(held);
    ttr_status status = add_run(sorter, held->n, error);
    const int64_t last = held->event[held->key[held->n - 1].index].time;
    sorter->spilled_until =
        !sorter->is_spilled || last > sorter->spilled_until ? last : sorter->spilled_until;
    held->n = 0;
    buffer_clear(&held->bytes);
    sorter->is_spilled = true;
    return status;
}

/* Objects and gaps are asked for whatever their time. */
static bool is_kept(const struct sorter *sorter, const ttr_event *event)
{
    return event->kind == TTR_KIND_OBJECT || event->kind == TTR_KIND_GAP ||
           event_is_in_range(event, sorter->from_ns, sorter->to_ns);
}

/* How many of the events that are held, in order, are earlier than all that are still to come. */
static size_t count_ready(const struct collected *held, int64_t floor)
{
    size_t low = 0, high = held->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (held->key[middle].rank < order_time(floor))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Looks whether something of what waits in memory may go: half of it, or less where there is no
 * more room. */
static void look_at_held(struct sorter *sorter, int64_t floor, bool is_full)
{
    struct collected *held = &sorter->held;
    order_held(held);
    const size_t ready = count_ready(held, floor);
    sorter->look_at = 2 * held->n;
    if (ready < (is_full ? held->n / LEAST_SHARE + 1 : held->n / 2 + 1))
        return;
    sorter->ready = ready;
    sorter->given_until = floor;
    sorter->doing = GIVES_HELD;
}

/* Merges the runs and what is held that may go with them, where all in them is earlier than what is
 * still to come. */
static ttr_status look_at_runs(struct sorter *sorter, int64_t floor, ttr_error *error)
{
    if (floor <= sorter->spilled_until)
        return TTR_OK;
    order_held(&sorter->held);
    sorter->given = count_ready(&sorter->held, floor);
    sorter->given_until = floor;
    sorter->doing = GIVES_RUNS;
    ttr_status status = sorter->given ? add_run(sorter, sorter->given, error) : TTR_OK;
    return status == TTR_OK ? runs_open(&sorter->runs, error) : status;
}

/* What is to be done when one more event is held. */
static ttr_status settle(struct sorter *sorter, ttr_error *error)
{
    const struct sort_limits *limits = &sorter->limits;
    const struct collected *held = &sorter->held;
    const bool is_full = held->n >= limits->run_events || held->bytes.n >= limits->run_bytes;
    if (sorter->known && (is_full || (!sorter->is_spilled && held->n >= sorter->look_at))) {
        const int64_t floor = disorder_floor(sorter->known, sorter->taken);
        ttr_status status = TTR_OK;
        if (sorter->is_spilled)
            status = look_at_runs(sorter, floor, error);
        else
            look_at_held(sorter, floor, is_full);
        if (status != TTR_OK || sorter->doing != COLLECTS)
            return status;
    }
    return is_full ? spill_held(sorter, error) : TTR_OK;
}

static ttr_status collect_batch(struct sorter *sorter, ttr_error *error)
{
    while (sorter->batch_at < sorter->batch.n && sorter->doing == COLLECTS) {
        const ttr_event *event = ttr_batch_at(&sorter->batch, sorter->batch_at++);
        if (event->kind == TTR_KIND_DEFINITION)
            continue;
        sorter->taken++;
        if (!is_kept(sorter, event))
            continue;
        ttr_status status = collect(sorter, event, error);
        if (status == TTR_OK)
            status = settle(sorter, error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

/* Whoever watches may end all inputs where they are. */
static void ask_for_end(struct sorter *sorter)
{
    if (++sorter->batches % BATCHES_PER_PROGRESS == 0 && !context_should_continue(sorter->base.t))
        sorter->reading = sorter->in_n;
}

/* Reads all inputs to their ends, one after the other, or until something can be given. */
static ttr_status collect_all(struct sorter *sorter, ttr_error *error)
{
    while (sorter->reading < sorter->in_n) {
        ttr_status status = collect_batch(sorter, error);
        if (status != TTR_OK || sorter->doing != COLLECTS)
            return status;
        ask_for_end(sorter);
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

/* Collects until something can be given; at the end of all inputs that is the rest. */
static ttr_status collect_more(struct sorter *sorter, ttr_error *error)
{
    ttr_status status = collect_all(sorter, error);
    if (status != TTR_OK || sorter->doing != COLLECTS)
        return status;
    sorter->is_collected = true;
    if (!sorter->is_spilled) {
        order_held(&sorter->held);
        sorter->ready = sorter->held.n;
        sorter->doing = GIVES_HELD;
        return TTR_OK;
    }
    if (sorter->held.n)
        status = spill_held(sorter, error);
    release(&sorter->base.t->counted, &sorter->held);
    sorter->doing = GIVES_RUNS;
    return status == TTR_OK ? runs_open(&sorter->runs, error) : status;
}

/* Leaves what was given, and moves the rest to the front. */
static ttr_status drop_given(struct sorter *sorter, ttr_error *error)
{
    struct collected *held = &sorter->held, *kept = &sorter->kept;
    if (!reserve(&sorter->base.t->counted, kept, held->n - sorter->given))
        return fail_memory(error);
    buffer_clear(&kept->bytes);
    kept->n = 0;
    for (size_t i = sorter->given; i < held->n; i++) {
        const ttr_event *event = &held->event[held->key[i].index];
        kept->key[kept->n] =
            (struct order_key){held->key[i].rank, held->key[i].minor, (uint32_t)kept->n};
        kept->payload_at[kept->n] = kept->bytes.n;
        kept->event[kept->n++] = *event;
        buffer_add(&kept->bytes, event->payload, event->payload_size);
        buffer_add_zeros(&kept->bytes,
                         packed_words_padded_size(event->payload_size) - event->payload_size);
    }
    const struct collected left = *held;
    *held = *kept;
    *kept = left;
    return held->bytes.failed ? fail_memory(error) : TTR_OK;
}

/* Goes on to sort behind what was given. */
static ttr_status begin_anew(struct sorter *sorter, ttr_error *error)
{
    const ttr_status status = drop_given(sorter, error);
    if (sorter->doing == GIVES_RUNS) {
        runs_free(&sorter->runs);
        runs_init(&sorter->runs, &sorter->base.t->counted, sorter->limits.fan_in,
                  sorter->limits.read_bytes);
        sorter->is_spilled = false;
    }
    sorter->given = sorter->ready = 0;
    sorter->look_at = 2 * sorter->held.n > LOOK_FIRST ? 2 * sorter->held.n : LOOK_FIRST;
    sorter->doing = COLLECTS;
    return status;
}

static uint32_t give_held(struct sorter *sorter)
{
    const struct collected *held = &sorter->held;
    uint32_t n = 0;
    while (n < BATCH && sorter->given < sorter->ready)
        sorter->out[n++] = held->event[held->key[sorter->given++].index];
    return n;
}

static ttr_status next_ordered(struct sorter *sorter, ttr_batch *batch, ttr_error *error)
{
    ttr_status status = TTR_OK;
    uint32_t n = 0;
    while (status == TTR_OK && n == 0) {
        if (sorter->doing == GIVES_HELD)
            n = give_held(sorter);
        else if (sorter->doing == GIVES_RUNS)
            status = runs_next(&sorter->runs, sorter->out, BATCH, &n, error);
        if (status != TTR_OK || n > 0 || (sorter->is_collected && sorter->doing != COLLECTS))
            break;
        if (sorter->doing != COLLECTS)
            status = begin_anew(sorter, error);
        if (status == TTR_OK)
            status = collect_more(sorter, error);
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
        pending_names_split_batch(&sorter->renames, batch, &sorter->rest);
    else if (status != TTR_AGAIN)
        pending_names_apply_all(&sorter->renames);
    return status;
}

static void sorter_rank(ttr_reader *base, uint32_t *next)
{
    struct sorter *sorter = (struct sorter *)base;
    for (size_t i = 0; i < sorter->in_n; i++)
        reader_assign_ranks(sorter->in[i], next);
}

/* Whoever merges it with others applies names, then. */
static void sorter_renames(ttr_reader *base, struct pending_names *renames, uint32_t lane)
{
    struct sorter *sorter = (struct sorter *)base;
    for (size_t i = 0; i < sorter->in_n; i++)
        reader_set_pending_names(sorter->in[i], renames, lane);
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
        reader_set_range(sorter->in[i], from_ns, to_ns);
}

static struct diagnostics *sorter_notes(ttr_reader *base)
{
    struct sorter *sorter = (struct sorter *)base;
    return sorter->in_n ? reader_diagnostics(sorter->in[0]) : NULL;
}

/* Many inputs take room of their own: with them runs are shorter, and so are the buffers that they
 * are merged with. */
static struct sort_limits limits_for(const struct sort_limits *limits, uint32_t inputs)
{
    struct sort_limits ctx = *limits;
    if (inputs < MANY_INPUTS)
        return ctx;
    ctx.run_events = ctx.run_events / MANY_SHARE + 1;
    ctx.run_bytes = ctx.run_bytes / MANY_SHARE + 1;
    ctx.read_bytes = ctx.read_bytes / MANY_SHARE + 1;
    return ctx;
}

ttr_reader *sort_readers(ttr *t, ttr_reader *const *in, size_t n, const struct sort_limits *limits,
                         ttr_error *error)
{
    static const struct reader_ops ops = {.next = sorter_next,
                                          .close = sorter_close,
                                          .range = sorter_range,
                                          .renames = sorter_renames,
                                          .rank = sorter_rank,
                                          .report = sorter_report,
                                          .input = sorter_input,
                                          .notes = sorter_notes};
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
    sorter->base = (ttr_reader){
        .t = t, .ops = &ops, .order = TTR_ORDER_TIME, .reports = reports_of_readers(list, n)};
    sorter->limits = limits_for(limits, sorter->base.reports);
    sorter->in = list;
    sorter->told = told;
    sorter->in_n = n;
    sorter->from_ns = INT64_MIN;
    sorter->to_ns = INT64_MAX;
    sorter->ending = TTR_END;
    pending_names_init(&sorter->renames, t);
    if (n == 1)
        reader_assign_ranks(list[0], &(uint32_t){0});
    for (size_t i = 0; i < n; i++)
        reader_set_pending_names(list[i], &sorter->renames, (uint32_t)i);
    runs_init(&sorter->runs, &t->counted, sorter->limits.fan_in, sorter->limits.read_bytes);
    buffer_init(&sorter->held.bytes, &t->counted);
    buffer_init(&sorter->kept.bytes, &t->counted);
    sorter->look_at = LOOK_FIRST;
    sorter->given_until = INT64_MIN;
    return &sorter->base;
}

ttr_reader *ttr_sort(ttr_reader *in, ttr_error *error)
{
    if (!in)
        return NULL;
    return in->order == TTR_ORDER_TIME ? in
                                       : sort_readers(in->t, &in, 1, &sort_limits_default, error);
}

ttr_reader *sort_known(ttr_reader *in, const ttr_order_index *known,
                       const struct sort_limits *limits, ttr_error *error)
{
    /* What stays when others go is moved, for which there is to be room, too. */
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
               : sort_known(in, known, &sort_limits_default, error);
}
