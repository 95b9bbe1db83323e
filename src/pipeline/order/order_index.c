/* Suffix minima of event times.
 *
 *   1. While reading, floor[i] is the minimum time of the events in block i.
 *   2. At the end, a pass from the last block to the first makes floor[i] the minimum of block i
 * and all later ones.
 *
 * A block has one event at first.  If there are more than 65,536 blocks, pairs of neighbours are
 * joined and the block size doubles, so memory is at most 512 KiB.  The floor of a larger block is
 * lower or equal: sorting stays correct but holds events back longer. */
#include "pipeline/order/order_index.h"

#include "base/status.h"
#include "model/context.h"
#include "pipeline/read_loop.h"

#define BLOCKS_MAX ((size_t)65536)

struct ttr_order_index {
    const struct alloc *alloc;
    int64_t *floor; /* by block: minimum time in ns; after ttr_order_index_find that of all later
                     * blocks, too */
    size_t n, capacity;
    unsigned shift; /* a block has 1 << shift events */
    uint64_t events;
    /* an event is earlier than its predecessor, or has the same time and a lower source rank */
    bool has_disorder;
    int64_t last; /* time of the previous event in ns */
    uint16_t last_source;
};

/* Joins blocks in pairs, which halves their number. */
static void join_blocks(ttr_order_index *disorder)
{
    for (size_t i = 0; i < disorder->n; i++) {
        const int64_t ctx = disorder->floor[i];
        int64_t *to = &disorder->floor[i / 2];
        *to = i % 2 && *to < ctx ? *to : ctx;
    }
    disorder->n = (disorder->n + 1) / 2;
    disorder->shift++;
}

static bool index_event(ttr_order_index *disorder, const ttr_event *event)
{
    if (disorder->events >> disorder->shift == BLOCKS_MAX)
        join_blocks(disorder);
    const size_t block = (size_t)(disorder->events >> disorder->shift);
    if (block == disorder->n) {
        if (!alloc_reserve(disorder->alloc, (void **)&disorder->floor, &disorder->capacity,
                           block + 1, sizeof *disorder->floor))
            return false;
        disorder->floor[disorder->n++] = event->time;
    }
    if (event->time < disorder->floor[block])
        disorder->floor[block] = event->time;
    const bool is_ordered =
        event->time > disorder->last ||
        (event->time == disorder->last && event->source >= disorder->last_source);
    disorder->has_disorder |= disorder->events > 0 && !is_ordered;
    disorder->last = event->time;
    disorder->last_source = event->source;
    disorder->events++;
    return true;
}

static ttr_status index_batch(void *ctx, const ttr_batch *batch, ttr_error *error)
{
    bool is_fine = true;
    for (uint32_t i = 0; i < batch->n && is_fine; i++)
        is_fine = ttr_batch_at(batch, i)->kind == TTR_KIND_DEFINITION ||
                  index_event(ctx, ttr_batch_at(batch, i));
    return is_fine ? TTR_OK : fail_memory(error);
}

/* Makes each floor the minimum over its own and all later blocks. */
static void compute_suffix_minima(ttr_order_index *disorder)
{
    for (size_t i = disorder->n; i-- > 1;)
        if (disorder->floor[i] < disorder->floor[i - 1])
            disorder->floor[i - 1] = disorder->floor[i];
}

ttr_order_index *ttr_order_index_find(ttr *t, ttr_reader *in, ttr_progress progress, void *ctx,
                                      ttr_error *error)
{
    ttr_order_index *disorder = alloc_zero(&t->counted, 1, sizeof *disorder);
    const struct read_loop read_loop = {
        .on_batch = index_batch, .ctx = disorder, .progress = progress, .progress_ctx = ctx};
    ttr_error failed = {0};
    if (!disorder) {
        (void)fail_memory(error);
        return NULL;
    }
    disorder->alloc = &t->counted;
    ttr_status status = read_all_batches(in, &read_loop, &failed);
    if (status == TTR_AGAIN || status == TTR_E_NOMEM) {
        ttr_order_index_free(disorder);
        if (error)
            *error = failed;
        return NULL;
    }
    compute_suffix_minima(disorder);
    return disorder;
}

bool ttr_order_index_has_disorder(const ttr_order_index *disorder)
{
    return disorder->has_disorder;
}

void ttr_order_index_free(ttr_order_index *disorder)
{
    if (!disorder)
        return;
    alloc_free(disorder->alloc, disorder->floor, disorder->capacity, sizeof *disorder->floor);
    alloc_free(disorder->alloc, disorder, 1, sizeof *disorder);
}

int64_t order_index_floor(const ttr_order_index *disorder, uint64_t taken)
{
    return taken < disorder->events ? disorder->floor[taken >> disorder->shift] : INT64_MIN;
}
