/* The slowest single spans of a trace; see the header. */
#include "cli/commands/tree_slowest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui/json.h"
#include "cli/ui/messages.h"

#define PATH_DEPTH_MAX 64u /* spans around one that are printed */

/* Source of the printed spans. */
struct slowest {
    const struct call *call;
    const ttr *t;
    const ttr_tree_span *spans;
    bool is_unix;
};

/* Orders spans by descending duration, then by time. */
static int compare_spans(const void *left, const void *right, void *ctx)
{
    const ttr_tree_span *spans = ctx;
    uint32_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    if (spans[a].duration != spans[b].duration)
        return spans[a].duration > spans[b].duration ? -1 : 1;
    if (spans[a].begin_ns != spans[b].begin_ns)
        return spans[a].begin_ns < spans[b].begin_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Stores the spans from the root to a span; returns their number. */
static size_t find_path(const struct slowest *slowest, uint32_t span, uint32_t path[PATH_DEPTH_MAX])
{
    size_t n = 0;
    for (uint32_t i = span; i != TTR_TREE_NONE && n < PATH_DEPTH_MAX; i = slowest->spans[i].parent)
        path[n++] = i;
    for (size_t i = 0; i < n / 2; i++) {
        const uint32_t swapped = path[i];
        path[i] = path[n - 1 - i];
        path[n - 1 - i] = swapped;
    }
    return n;
}

static void print_span(const struct slowest *slowest, uint32_t index)
{
    const ttr_tree_span *span = &slowest->spans[index];
    uint32_t path[PATH_DEPTH_MAX];
    ttr_thread thread = {0};
    const size_t n = find_path(slowest, index, path);
    (void)ttr_thread_get(slowest->t, span->thread, &thread);
    (void)printf("%9s %9s  %s  %" PRIu64 "/%" PRIu64 "  ", units_duration(span->duration).s,
                 units_duration(span->self).s, units_time(span->begin_ns, slowest->is_unix).s,
                 thread.pid, thread.tid);
    for (size_t i = 0; i < n; i++) {
        (void)fputs(i ? " > " : "", stdout);
        term_text(ttr_text_get(slowest->t, slowest->spans[path[i]].name));
    }
    (void)puts(span->flags & TTR_EVENT_PARTIAL ? " (unfinished)" : "");
}

static void write_span_json(const struct slowest *slowest, struct json *json, uint32_t index)
{
    const ttr_tree_span *span = &slowest->spans[index];
    uint32_t path[PATH_DEPTH_MAX];
    ttr_thread thread = {0};
    const size_t n = find_path(slowest, index, path);
    (void)ttr_thread_get(slowest->t, span->thread, &thread);
    json_open(json, NULL, '{');
    json_write_text(json, "name", ttr_text_get(slowest->t, span->name));
    json_write_time(json, "begin_ns", span->begin_ns);
    json_write_uint(json, "dur_ns", span->duration);
    json_write_uint(json, "self_ns", span->self);
    json_write_uint(json, "pid", thread.pid);
    json_write_uint(json, "tid", thread.tid);
    json_open(json, "path", '[');
    for (size_t i = 0; i < n; i++)
        json_write_text(json, NULL, ttr_text_get(slowest->t, slowest->spans[path[i]].name));
    json_close(json, ']');
    json_close(json, '}');
}

int print_slowest_spans(const struct call *call, const ttr *t, const ttr_tree *tree, bool is_unix)
{
    struct slowest slowest = {.call = call, .t = t, .is_unix = is_unix};
    const uint32_t all = ttr_tree_spans(tree, &slowest.spans);
    const uint32_t n = call->set.slowest < all ? (uint32_t)call->set.slowest : all;
    struct json json = {
        .to = stdout, .has_text_times = call_has_text_times(call), .is_unix = is_unix};
    uint32_t *order = malloc(((size_t)all + 1) * sizeof *order);
    if (!order) {
        report_failure_text("tree", "out of memory");
        return OUTCOME_INPUT;
    }
    for (uint32_t i = 0; i < all; i++)
        order[i] = i;
    void *ctx;
    memcpy(&ctx, &slowest.spans, sizeof ctx); /* qsort_r has no const */
    qsort_r(order, all, sizeof *order, compare_spans, ctx);
    if (call->set.json) {
        json_open(&json, NULL, '{');
        json_write_string(&json, "schema", "tracetta.slowest/1");
        json_open(&json, "rows", '[');
    } else {
        (void)printf("%s%9s %9s  start, process/thread, path%s\n", term_ink(&call->term, INK_BOLD),
                     "duration", "self", term_ink(&call->term, INK_PLAIN));
    }
    for (uint32_t i = 0; i < n; i++) {
        if (call->set.json)
            write_span_json(&slowest, &json, order[i]);
        else
            print_span(&slowest, order[i]);
    }
    if (call->set.json) {
        json_close(&json, ']');
        json_close(&json, '}');
    }
    free(order);
    return OUTCOME_FINE;
}
