/* Finding out where a reader is out of order: the earliest time of each piece of so many events,
 * then, from the end on, of all pieces behind.
 *
 * Pieces begin as single events; whenever there are too many, two become one, so that memory is
 * bounded whatever the size of the input, and what is said stays true: it is only said for fewer
 * places. */
#include "pipeline/order/order_index.h"

#include "base/status.h"
#include "model/context.h"
#include "pipeline/read_loop.h"

#define PIECES ((size_t)65536)

struct ttr_order_index {
    const struct alloc *alloc;
    int64_t *floor; /* by piece */
    size_t n, capacity;
    unsigned shift; /* 1 << shift events are a piece */
    uint64_t events;
    bool is_there; /* some event is out of order */
    int64_t last;  /* of the event before */
    uint16_t last_source;
};

/* Two pieces become one. */
static void halve(ttr_order_index *disorder)
{
    for (size_t i = 0; i < disorder->n; i++) {
        const int64_t ctx = disorder->floor[i];
        int64_t *to = &disorder->floor[i / 2];
        *to = i % 2 && *to < ctx ? *to : ctx;
    }
    disorder->n = (disorder->n + 1) / 2;
    disorder->shift++;
}

static bool take(ttr_order_index *disorder, const ttr_event *event)
{
    if (disorder->events >> disorder->shift == PIECES)
        halve(disorder);
    const size_t piece = (size_t)(disorder->events >> disorder->shift);
    if (piece == disorder->n) {
        if (!alloc_reserve(disorder->alloc, (void **)&disorder->floor, &disorder->capacity,
                           piece + 1, sizeof *disorder->floor))
            return false;
        disorder->floor[disorder->n++] = event->time;
    }
    if (event->time < disorder->floor[piece])
        disorder->floor[piece] = event->time;
    const bool is_behind = event->time > disorder->last || (event->time == disorder->last &&
                                                            event->source >= disorder->last_source);
    disorder->is_there |= disorder->events > 0 && !is_behind;
    disorder->last = event->time;
    disorder->last_source = event->source;
    disorder->events++;
    return true;
}

static ttr_status take_batch(void *ctx, const ttr_batch *batch, ttr_error *error)
{
    bool is_fine = true;
    for (uint32_t i = 0; i < batch->n && is_fine; i++)
        is_fine = ttr_batch_at(batch, i)->kind == TTR_KIND_DEFINITION ||
                  take(ctx, ttr_batch_at(batch, i));
    return is_fine ? TTR_OK : fail_memory(error);
}

/* How early events behind a piece are is said of the piece, too. */
static void settle(ttr_order_index *disorder)
{
    for (size_t i = disorder->n; i-- > 1;)
        if (disorder->floor[i] < disorder->floor[i - 1])
            disorder->floor[i - 1] = disorder->floor[i];
}

ttr_order_index *ttr_order_index_find(ttr *t, ttr_reader *in, ttr_progress progress, void *ctx,
                                      ttr_error *error)
{
    ttr_order_index *disorder = alloc_zero(&t->counted, 1, sizeof *disorder);
    const struct walk walk = {
        .take = take_batch, .ctx = disorder, .progress = progress, .progress_ctx = ctx};
    ttr_error failed = {0};
    if (!disorder) {
        (void)fail_memory(error);
        return NULL;
    }
    disorder->alloc = &t->counted;
    ttr_status status = walk_events(in, &walk, &failed);
    if (status == TTR_AGAIN || status == TTR_E_NOMEM) {
        ttr_order_index_free(disorder);
        if (error)
            *error = failed;
        return NULL;
    }
    settle(disorder);
    return disorder;
}

bool ttr_order_index_has_disorder(const ttr_order_index *disorder)
{
    return disorder->is_there;
}

void ttr_order_index_free(ttr_order_index *disorder)
{
    if (!disorder)
        return;
    alloc_free(disorder->alloc, disorder->floor, disorder->capacity, sizeof *disorder->floor);
    alloc_free(disorder->alloc, disorder, 1, sizeof *disorder);
}

int64_t disorder_floor(const ttr_order_index *disorder, uint64_t taken)
{
    return taken < disorder->events ? disorder->floor[taken >> disorder->shift] : INT64_MIN;
}
