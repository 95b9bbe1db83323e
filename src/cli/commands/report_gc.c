/* report gc: lists the collections of .NET's garbage collector, with the pauses that they caused.
 *
 * A pause lasts from GCSuspendEEBegin to GCRestartEEEnd of one thread. It is added to the
 * collection that started in it, else to the one in progress (a background collection pauses
 * twice). Pauses for other reasons are summed separately. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands/reports.h"
#include "cli/ui/messages.h"

/* terminal width in columns from which on the promoted bytes are printed */
#define WIDE_COLUMNS 96
#define GENERATIONS 4u /* generations 0 to 2; index 3 is for all other numbers */

/* True for the suspension reasons of collections: SuspendForGC, SuspendForGCPrep. */
#define IS_FOR_GC(reason) ((reason) == 1 || (reason) == 6)

struct collection {
    uint64_t pid, number, generation;
    ttr_id reason, type;
    int64_t begin_ns;
    /* duration in ns, pause in ns, heap size after the collection in bytes, promoted bytes */
    uint64_t duration, pause, heap, promoted;
    bool is_over;
};

/* A pause that a thread has requested. If a second thread requests a pause meanwhile, that pause
 * starts after the first. */
struct pausing {
    int64_t begin_ns;
    uint64_t reason;
    size_t first; /* number of collections when the pause started */
    bool is_on;
};

struct gc {
    struct collection *row;
    size_t n, room;
    struct pausing *thread; /* pauses that threads have requested, indexed by thread id */
    size_t threads_room;
    /* pauses for collections: number, total and longest time in ns */
    uint64_t pauses, pause, longest;
    uint64_t other_pauses, other_pause;
    uint64_t allocated, ticks; /* sum and number of GCAllocationTick events */
};

static bool reserve_items(void **items, size_t *room, size_t need, size_t size)
{
    if (need <= *room)
        return true;
    size_t more = need * 2 + 64;
    void *grown = reallocarray(*items, more, size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

static struct pausing *find_or_add_pause(struct gc *gc, ttr_id thread)
{
    size_t before = gc->threads_room;
    if (!reserve_items((void **)&gc->thread, &gc->threads_room, (size_t)thread + 1,
                       sizeof *gc->thread))
        return NULL;
    if (gc->threads_room > before)
        memset(gc->thread + before, 0, (gc->threads_room - before) * sizeof *gc->thread);
    return &gc->thread[thread];
}

/* Returns the latest collection of a process: that with a number, or the one in progress. Returns
 * NULL if there is none among the last 64. */
static struct collection *find_collection(struct gc *gc, uint64_t pid, bool by_number,
                                          uint64_t number)
{
    for (size_t i = gc->n; i-- > 0 && gc->n - i < 64;) {
        struct collection *row = &gc->row[i];
        if (row->pid == pid && (by_number ? row->number == number : !row->is_over))
            return row;
    }
    return NULL;
}

static bool start_collection(struct event_report *event_report, const ttr_event *event,
                             uint64_t pid)
{
    struct gc *gc = event_report->ctx;
    if (!reserve_items((void **)&gc->row, &gc->room, gc->n + 1, sizeof *gc->row))
        return false;
    gc->row[gc->n++] =
        (struct collection){.pid = pid,
                            .number = get_event_number(event_report, event, "Count"),
                            .begin_ns = event->time,
                            .generation = get_event_number(event_report, event, "Depth"),
                            .reason = get_event_text(event_report, event, "Reason"),
                            .type = get_event_text(event_report, event, "Type")};
    return true;
}

static void end_collection(struct event_report *event_report, const ttr_event *event, uint64_t pid)
{
    struct collection *row = find_collection(event_report->ctx, pid, true,
                                             get_event_number(event_report, event, "Count"));
    if (!row)
        return;
    row->is_over = true;
    row->duration =
        event->time > row->begin_ns ? (uint64_t)event->time - (uint64_t)row->begin_ns : 0;
}

/* Stores heap size and promoted bytes, which the runtime records right after a collection. */
static void store_heap(struct event_report *event_report, const ttr_event *event, uint64_t pid)
{
    static const char *const sizes[] = {"GenerationSize0", "GenerationSize1", "GenerationSize2",
                                        "GenerationSize3", "GenerationSize4"};
    static const char *const promoted[] = {"TotalPromotedSize0", "TotalPromotedSize1",
                                           "TotalPromotedSize2", "TotalPromotedSize3",
                                           "TotalPromotedSize4"};
    struct gc *gc = event_report->ctx;
    struct collection *row = NULL;
    for (size_t i = gc->n; i-- > 0 && !row && gc->n - i < 64;)
        row = gc->row[i].pid == pid && gc->row[i].is_over ? &gc->row[i] : NULL;
    if (!row || row->heap)
        return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        row->heap += get_event_number(event_report, event, sizes[i]);
        row->promoted += get_event_number(event_report, event, promoted[i]);
    }
}

static void end_pause(struct gc *gc, struct pausing *pausing, uint64_t pid, int64_t time)
{
    uint64_t pause = time > pausing->begin_ns ? (uint64_t)time - (uint64_t)pausing->begin_ns : 0;
    struct collection *row = NULL;
    if (!pausing->is_on)
        return;
    pausing->is_on = false;
    if (!IS_FOR_GC(pausing->reason)) {
        gc->other_pauses++;
        gc->other_pause += pause;
        return;
    }
    gc->pauses++;
    gc->pause += pause;
    gc->longest = pause > gc->longest ? pause : gc->longest;
    for (size_t i = gc->n; i-- > pausing->first && !row;)
        row = gc->row[i].pid == pid ? &gc->row[i] : NULL;
    row = row ? row : find_collection(gc, pid, false, 0);
    if (row)
        row->pause += pause;
}

static bool add_gc_event(struct event_report *event_report, const ttr_event *event)
{
    struct gc *gc = event_report->ctx;
    ttr_thread thread = {0};
    if (strncmp(ttr_text_get(event_report->inputs.t, event->name).p, "GC", 2) != 0)
        return true;
    (void)ttr_thread_get(event_report->inputs.t, event->thread, &thread);
    struct pausing *pausing = find_or_add_pause(gc, event->thread);
    if (!pausing)
        return false;
    if (is_event_named(event_report, event, "GCAllocationTick")) {
        uint64_t wide = get_event_number(event_report, event, "AllocationAmount64");
        gc->allocated += wide ? wide : get_event_number(event_report, event, "AllocationAmount");
        gc->ticks++;
    } else if (is_event_named(event_report, event, "GCSuspendEEBegin")) {
        *pausing = (struct pausing){.begin_ns = event->time,
                                    .reason = get_event_number(event_report, event, "Reason"),
                                    .first = gc->n,
                                    .is_on = true};
    } else if (is_event_named(event_report, event, "GCRestartEEEnd")) {
        end_pause(gc, pausing, thread.pid, event->time);
    } else if (is_event_named(event_report, event, "GCStart")) {
        return start_collection(event_report, event, thread.pid);
    } else if (is_event_named(event_report, event, "GCEnd")) {
        end_collection(event_report, event, thread.pid);
    } else if (is_event_named(event_report, event, "GCHeapStats")) {
        store_heap(event_report, event, thread.pid);
    }
    return true;
}

static void write_generations_json(struct event_report *event_report, const struct gc *gc)
{
    json_open(&event_report->json, "generations", '[');
    for (unsigned generation = 0; generation < GENERATIONS; generation++) {
        uint64_t count = 0, pause = 0;
        for (size_t i = 0; i < gc->n; i++) {
            bool is_it = gc->row[i].generation == generation ||
                         (generation == GENERATIONS - 1 && gc->row[i].generation > generation);
            count += is_it;
            pause += is_it ? gc->row[i].pause : 0;
        }
        if (count == 0)
            continue;
        json_open(&event_report->json, NULL, '{');
        json_write_uint(&event_report->json, "generation", generation);
        json_write_uint(&event_report->json, "count", count);
        json_write_uint(&event_report->json, "pause_ns", pause);
        json_close(&event_report->json, '}');
    }
    json_close(&event_report->json, ']');
}

static void write_collections_json(struct event_report *event_report, const struct gc *gc,
                                   size_t rows)
{
    struct json *json = &event_report->json;
    json_write_uint(json, "collections", gc->n);
    json_write_uint(json, "pauses", gc->pauses);
    json_write_uint(json, "pause_ns", gc->pause);
    json_write_uint(json, "longest_pause_ns", gc->longest);
    json_write_uint(json, "other_pauses", gc->other_pauses);
    json_write_uint(json, "other_pause_ns", gc->other_pause);
    json_write_uint(json, "allocated_bytes", gc->allocated);
    write_generations_json(event_report, gc);
    json_open(json, "rows", '[');
    for (size_t i = 0; i < rows; i++) {
        const struct collection *row = &gc->row[i];
        json_open(json, NULL, '{');
        json_write_uint(json, "pid", row->pid);
        json_write_uint(json, "number", row->number);
        json_write_uint(json, "generation", row->generation);
        json_write_text(json, "type", ttr_text_get(event_report->inputs.t, row->type));
        json_write_text(json, "reason", ttr_text_get(event_report->inputs.t, row->reason));
        json_write_time(json, "begin_ns", row->begin_ns);
        json_write_uint(json, "dur_ns", row->duration);
        json_write_uint(json, "pause_ns", row->pause);
        json_write_uint(json, "heap_bytes", row->heap);
        json_write_uint(json, "promoted_bytes", row->promoted);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Prints the rows. Type and reason vary in length, so they are the last columns. */
static void print_collection_rows(const struct event_report *event_report, const struct gc *gc,
                                  size_t rows)
{
    const struct terminal *term = &event_report->call->term;
    const bool is_wide = event_report->call->set.verbose || term->width >= WIDE_COLUMNS;
    (void)printf("%s%5s %3s %10s %8s %8s %9s%s  %s%s\n", term_ink(term, INK_BOLD), "GC", "gen",
                 "begin", "duration", "pause", "heap", is_wide ? "  promoted" : "", "type reason",
                 term_ink(term, INK_PLAIN));
    for (size_t i = 0; i < rows; i++) {
        const struct collection *row = &gc->row[i];
        const int64_t since = row->begin_ns - gc->row[0].begin_ns;
        (void)printf("%5llu %3llu +%9s %8s %8s %9s", (unsigned long long)row->number,
                     (unsigned long long)row->generation,
                     units_duration(since > 0 ? (uint64_t)since : 0).s,
                     row->is_over ? units_duration(row->duration).s : "-",
                     units_duration(row->pause).s, units_size(row->heap).s);
        if (is_wide)
            (void)printf(" %9s", units_size(row->promoted).s);
        (void)fputs("  ", stdout);
        term_text(ttr_text_get(event_report->inputs.t, row->type));
        (void)putchar(' ');
        term_text(ttr_text_get(event_report->inputs.t, row->reason));
        (void)putchar('\n');
    }
}

static void print_collections(const struct event_report *event_report, const struct gc *gc,
                              size_t rows)
{
    print_collection_rows(event_report, gc, rows);
    (void)printf("%s collection%s; %s pause%s of %s in all, the longest %s", units_count(gc->n).s,
                 gc->n == 1 ? "" : "s", units_count(gc->pauses).s, gc->pauses == 1 ? "" : "s",
                 units_duration(gc->pause).s, units_duration(gc->longest).s);
    if (gc->other_pauses)
        (void)printf("; %s pause%s for other reasons, %s", units_count(gc->other_pauses).s,
                     gc->other_pauses == 1 ? "" : "s", units_duration(gc->other_pause).s);
    if (gc->ticks)
        (void)printf("; %s allocated, by the sum of %s GCAllocationTick events",
                     units_size(gc->allocated).s, units_count(gc->ticks).s);
    (void)putchar('\n');
}

static void show_collections(struct event_report *event_report)
{
    const struct gc *gc = event_report->ctx;
    size_t rows = get_report_row_limit(event_report, gc->n);
    if (event_report->call->set.json)
        write_collections_json(event_report, gc, rows);
    else
        print_collections(event_report, gc, rows);
    if (rows < gc->n)
        print_note(event_report->call, "%zu more rows", gc->n - rows);
    if (gc->n == 0 && gc->pauses == 0)
        print_note(event_report->call,
                   "no events of a garbage collector: record with the keyword GC (0x1)");
}

int report_gc(struct call *call)
{
    struct gc gc = {0};
    struct event_report event_report = {.call = call,
                                        .ctx = &gc,
                                        .add = add_gc_event,
                                        .show = show_collections,
                                        .schema = "tracetta.gc/1"};
    int outcome = run_event_report(&event_report);
    free(gc.row);
    free(gc.thread);
    return outcome;
}
