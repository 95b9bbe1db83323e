/* ttr_summarize: counts events per kind and the time range. Counts threads, names and providers
 * that have events. Memory grows with the number of ids, not of events. */
#include <string.h>

#include <tracetta/analyse.h>
#include <tracetta/tracetta.h>

#include "base/saturate.h"
#include "base/self_zones.h"
#include "base/status.h"
#include "model/context.h"
#include "model/reader.h"
#include "pipeline/read_loop.h"

/* A set of ids: one flag per id, and the number of flags that are set. */
struct seen {
    bool *is_seen;
    size_t n;
    uint32_t count;
};

/* Time of the previous event of a source. */
struct before {
    int64_t time;
    bool is_there;
};

struct summing {
    const ttr *t;
    const struct alloc *alloc;
    ttr_summary *summary;
    struct seen threads, processes, names, providers;
    struct before *before; /* indexed by source if sources are read one by one; else one entry for
                            * all */
    size_t before_n;
    bool is_stream_order, is_out_of_memory;
};

static void mark_seen(struct summing *summing, struct seen *seen, size_t id)
{
    size_t before = seen->n;
    if (id >= before) {
        if (!alloc_reserve(summing->alloc, (void **)&seen->is_seen, &seen->n, id + 1,
                           sizeof *seen->is_seen)) {
            summing->is_out_of_memory = true;
            return;
        }
        memset(seen->is_seen + before, 0, (seen->n - before) * sizeof *seen->is_seen);
    }
    seen->count += !seen->is_seen[id];
    seen->is_seen[id] = true;
}

static int64_t get_event_end(const ttr_event *event)
{
    return event->kind == TTR_KIND_SPAN ? saturate_end_ns(event->time, event->duration)
                                        : event->time;
}

static void check_event_order(struct summing *summing, const ttr_event *event)
{
    const size_t i = summing->is_stream_order ? event->source : 0, had = summing->before_n;
    if (i >= had) {
        if (!alloc_reserve(summing->alloc, (void **)&summing->before, &summing->before_n, i + 1,
                           sizeof *summing->before)) {
            summing->is_out_of_memory = true;
            return;
        }
        memset(summing->before + had, 0, (summing->before_n - had) * sizeof *summing->before);
    }
    struct before *before = &summing->before[i];
    summing->summary->backward += before->is_there && event->time < before->time;
    *before = (struct before){.time = event->time, .is_there = true};
}

static void extend_time_range(struct summing *summing, const ttr_event *event)
{
    ttr_summary *summary = summing->summary;
    int64_t end = get_event_end(event);
    summary->begin_ns =
        !summary->has_times || event->time < summary->begin_ns ? event->time : summary->begin_ns;
    summary->end_ns = !summary->has_times || end > summary->end_ns ? end : summary->end_ns;
    summary->has_times = true;
    check_event_order(summing, event);
}

static void summarise_event(struct summing *summing, const ttr_event *event)
{
    if (event->flags & TTR_EVENT_ADDED)
        return;
    summing->summary->kinds[event->kind < TTR_KIND_COUNT ? event->kind : TTR_KIND_NONE]++;
    if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP)
        return;
    summing->summary->events++;
    if (!(event->flags & TTR_EVENT_NO_TIME))
        extend_time_range(summing, event);
    if (event->name)
        mark_seen(summing, &summing->names, event->name);
    if (event->provider)
        mark_seen(summing, &summing->providers, event->provider);
    if (event->thread && event->thread < summing->t->threads_n) {
        const struct thread *thread = &summing->t->threads[event->thread];
        mark_seen(summing, &summing->processes, thread->process);
        if (thread->tid_known)
            mark_seen(summing, &summing->threads, event->thread);
    }
}

static ttr_status summarise_batch(void *ctx, const ttr_batch *batch, ttr_error *error)
{
    struct summing *summing = ctx;
    for (uint32_t i = 0; i < batch->n; i++)
        summarise_event(summing, ttr_batch_at(batch, i));
    return summing->is_out_of_memory ? fail_memory(error) : TTR_OK;
}

ttr_status ttr_summarize(ttr *t, ttr_reader *in, ttr_summary *summary, ttr_progress progress,
                         void *ctx, ttr_error *error)
{
    SELF_ZONE(order, "summarize");
    if (!t || !in || !summary)
        return fail_null(error, "ttr_summarize", !t ? "context" : in ? "summary" : "reader");
    struct summing summing = {.t = t,
                              .alloc = &t->counted,
                              .summary = summary,
                              .is_stream_order = reader_allow_stream_order(in)};
    const struct read_loop read_loop = {
        .on_batch = summarise_batch, .ctx = &summing, .progress = progress, .progress_ctx = ctx};
    struct seen *all[] = {&summing.threads, &summing.processes, &summing.names, &summing.providers};
    *summary = (ttr_summary){0};
    ttr_status status = read_all_batches(in, &read_loop, error);
    summary->threads = summing.threads.count;
    summary->processes = summing.processes.count;
    summary->names = summing.names.count;
    summary->providers = summing.providers.count;
    alloc_free(&t->counted, summing.before, summing.before_n, sizeof *summing.before);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        alloc_free(&t->counted, all[i]->is_seen, all[i]->n, sizeof *all[i]->is_seen);
    return status;
}
