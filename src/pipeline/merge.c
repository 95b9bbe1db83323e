/* Merging on one time line.  Of the batches at hand, all events up to the horizon can go: the horizon is the earliest of the
 * batches' last events, and nothing still unread can come before it.  They are ordered together by a radix sort over small
 * keys, which for many inputs costs a fraction of a heap or a tournament.
 *
 * Views are copied (a batch has one array), payloads are not: inputs are read again only when all is given that points to
 * them.  Raw records lose that name: two inputs have two sets of tables, and a copy of both would mix them up. */
#include "base/status.h"
#include "model/context.h"
#include "model/reader.h"
#include "pipeline/order.h"
#include "pipeline/sort.h"

#define BATCH 256u

struct lane {
    ttr_reader *reader;
    ttr_batch batch;
    uint32_t at;      /* next event of the batch */
    bool is_at_end;
};

struct merger {
    ttr_reader base;
    ttr_reader **in;
    struct lane *lane;
    size_t n;
    struct order_key *key, *spare; /* of this round; minor: the lane (ties go by it), index: the place in its batch */
    size_t keys_n, given, key_room, spare_room;
    ttr_event out[BATCH];
    ttr_status ending; /* of the first input that failed */
    ttr_error ending_error;
};

static void merger_close(ttr_reader *base)
{
    struct merger *merger = (struct merger *)base;
    const struct alloc *alloc = &base->t->counted;
    close_readers(merger->in, merger->n);
    alloc_free(alloc, merger->key, merger->key_room, sizeof *merger->key);
    alloc_free(alloc, merger->spare, merger->spare_room, sizeof *merger->spare);
    alloc_free(alloc, merger->lane, merger->n, sizeof *merger->lane);
    alloc_free(alloc, merger->in, merger->n, sizeof(ttr_reader *));
    alloc_free(alloc, merger, 1, sizeof *merger);
}

/* Reads the inputs whose batches are used up.  One that fails has ended; the failure is told when all the others have. */
static ttr_status refill(struct merger *merger)
{
    for (size_t i = 0; i < merger->n; i++) {
        struct lane *lane = &merger->lane[i];
        ttr_error own = {0};
        if (lane->is_at_end || lane->at < lane->batch.n)
            continue;
        lane->at = 0;
        ttr_status status = ttr_read(merger->in[i], &lane->batch, &own);
        if (status == TTR_OK)
            continue;
        lane->batch = (ttr_batch){0};
        if (status == TTR_AGAIN)
            return status;
        lane->is_at_end = true;
        if (status != TTR_END && merger->ending == TTR_END) {
            merger->ending = status;
            merger->ending_error = own;
        }
    }
    return TTR_OK;
}

/* The lane whose last event at hand is the earliest, by (time, lane); n when none has any. */
static size_t find_horizon(const struct merger *merger, int64_t *time)
{
    size_t earliest = merger->n;
    for (size_t i = 0; i < merger->n; i++) {
        const struct lane *lane = &merger->lane[i];
        if (lane->is_at_end)
            continue;
        int64_t last = ttr_batch_at(&lane->batch, lane->batch.n - 1)->time;
        if (earliest == merger->n || last < *time) {
            earliest = i;
            *time = last;
        }
    }
    return earliest;
}

static bool add_key(struct merger *merger, size_t lane, uint32_t at, int64_t time)
{
    const struct alloc *alloc = &merger->base.t->counted;
    size_t need = merger->keys_n + 1;
    if (!alloc_reserve(alloc, (void **)&merger->key, &merger->key_room, need, sizeof *merger->key) ||
        !alloc_reserve(alloc, (void **)&merger->spare, &merger->spare_room, need, sizeof *merger->spare))
        return false;
    merger->key[merger->keys_n++] = (struct order_key){order_time(time), (uint32_t)lane, at};
    return true;
}

/* Takes all events up to the horizon into this round. */
static ttr_status begin_round(struct merger *merger, ttr_error *error)
{
    ttr_status status = refill(merger);
    if (status != TTR_OK)
        return status;
    int64_t horizon = INT64_MAX;
    size_t last = find_horizon(merger, &horizon);
    merger->keys_n = merger->given = 0;
    for (size_t i = 0; i < merger->n; i++) {
        struct lane *lane = &merger->lane[i];
        for (; lane->at < lane->batch.n; lane->at++) {
            int64_t time = ttr_batch_at(&lane->batch, lane->at)->time;
            /* The lane of the horizon goes whole, so that there is always progress, even were a reader's order a lie. */
            if (i != last && (time > horizon || (time == horizon && i > last)))
                break;
            if (!add_key(merger, i, lane->at, time))
                return fail_memory(error);
        }
    }
    order_keys(merger->key, merger->spare, merger->keys_n);
    return TTR_OK;
}

/* Copies what is left of the round; definitions belong to one input's tables and are dropped. */
static uint32_t give(struct merger *merger)
{
    uint32_t n = 0;
    for (; n < BATCH && merger->given < merger->keys_n; merger->given++) {
        const struct order_key *key = &merger->key[merger->given];
        const ttr_event *event = ttr_batch_at(&merger->lane[key->minor].batch, key->index);
        if (event->kind == TTR_KIND_DEFINITION)
            continue;
        merger->out[n] = *event;
        merger->out[n++].flags &= (uint8_t)~TTR_EVENT_RAW;
    }
    return n;
}

static bool has_more(const struct merger *merger)
{
    for (size_t i = 0; i < merger->n; i++)
        if (!merger->lane[i].is_at_end)
            return true;
    return false;
}

static ttr_status merger_next(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct merger *merger = (struct merger *)base;
    uint32_t n = give(merger);
    while (n == 0 && has_more(merger)) {
        ttr_status status = begin_round(merger, error);
        if (status != TTR_OK)
            return status;
        n = give(merger);
    }
    *batch = (ttr_batch){.event = merger->out, .n = n};
    if (n > 0)
        return TTR_OK;
    if (merger->ending != TTR_END && error)
        *error = merger->ending_error;
    return merger->ending;
}

static bool merger_report(ttr_reader *base, size_t index, ttr_report *report)
{
    struct merger *merger = (struct merger *)base;
    return report_of_readers(merger->in, merger->n, index, report);
}

static void merger_range(ttr_reader *base, int64_t from_ns, int64_t to_ns)
{
    struct merger *merger = (struct merger *)base;
    for (size_t i = 0; i < merger->n; i++)
        reader_range(merger->in[i], from_ns, to_ns);
}

static struct notes *merger_notes(ttr_reader *base)
{
    struct merger *merger = (struct merger *)base;
    return merger->n ? reader_notes(merger->in[0]) : NULL;
}

static ttr_reader *merge_ordered(ttr *t, ttr_reader *const *in, size_t n, ttr_error *error)
{
    static const struct reader_ops ops = {
        .next = merger_next, .close = merger_close, .range = merger_range, .report = merger_report, .notes = merger_notes};
    struct merger *merger = alloc_zero(&t->counted, 1, sizeof *merger);
    ttr_reader **list = alloc_zero(&t->counted, n, sizeof(ttr_reader *));
    struct lane *lane = alloc_zero(&t->counted, n, sizeof *lane);
    if (!merger || !list || !lane) {
        close_readers(in, n);
        alloc_free(&t->counted, lane, n, sizeof *lane);
        alloc_free(&t->counted, list, n, sizeof(ttr_reader *));
        alloc_free(&t->counted, merger, 1, sizeof *merger);
        (void)fail_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        list[i] = in[i];
    merger->base = (ttr_reader){.t = t, .ops = &ops, .order = TTR_ORDER_TIME};
    merger->in = list;
    merger->lane = lane;
    merger->n = n;
    merger->ending = TTR_END;
    return &merger->base;
}

/* More than one input out of order: all go through one sorter, so that memory does not grow with their number. */
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
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "readers of another context cannot be merged: ids mean something else there");
        return NULL;
    }
    if (unordered > 1)
        return sort_readers(t, in, n, &sort_limits_default, error);
    if (unordered == 1)
        in[at] = ttr_sort(in[at], error);
    if (n == 0 || in[at])
        return merge_ordered(t, in, n, error);
    close_readers(in, n);
    return NULL;
}
