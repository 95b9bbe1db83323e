/* tree: shows the spans of each thread, nested by time.
 *
 * The same depth-first walk prints both views (single spans, or paths with --aggregate) as text or
 * JSON. A node has parent, first child and next sibling, so the walk needs no stack. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/input/input_list.h"
#include "cli/input/selection.h"
#include "cli/ui/json.h"
#include "cli/commands/span_paths.h"
#include "cli/commands/tree_slowest.h"
#include "cli/ui/progress.h"
#include "cli/commands/report.h"
#include "cli/ui/messages.h"

#define NONE UINT32_MAX
/* depth from which on levels are not indented further */
#define DRAWN_DEPTH 48u

/* A row of the output: a span, or a path with --aggregate. */
struct node {
    ttr_id name, thread, activity;
    uint32_t parent, first_child, next, depth;
    uint64_t count, total, self;
    int64_t begin_ns;
    bool is_partial;
};

struct forest {
    const struct call *call;
    ttr *t;
    ttr_reader *reader;
    const ttr_tree *tree;
    const ttr_tree_span *spans;
    struct paths paths;
    uint32_t shown;
    struct progress_grace grace;
    bool is_stopped; /* a signal stopped the command before all rows were printed */
    uint64_t last;   /* bit n is set: the current row at depth n is the last of its siblings */
    bool is_unix;
};

static struct node make_node(const struct forest *forest, uint32_t i)
{
    if (forest->call->set.aggregate) {
        const struct path *path = &forest->paths.path[i];
        return (struct node){.name = path->name,
                             .thread = path->thread,
                             .parent = path->parent,
                             .first_child = path->first_child,
                             .next = path->next,
                             .depth = path->depth,
                             .count = path->count,
                             .total = path->total,
                             .self = path->self};
    }
    const ttr_tree_span *span = &forest->spans[i];
    return (struct node){.name = span->name,
                         .thread = span->thread,
                         .activity = span->activity,
                         .parent = span->parent,
                         .first_child = span->first_child,
                         .next = span->next,
                         .depth = span->depth,
                         .count = 1,
                         .total = span->duration,
                         .self = span->self,
                         .begin_ns = span->begin_ns,
                         .is_partial = span->flags & TTR_EVENT_PARTIAL};
}

static bool is_node_selected(const struct forest *forest, uint32_t i)
{
    struct node node = make_node(forest, i);
    uint64_t least =
        forest->call->set.min_duration > 0 ? (uint64_t)forest->call->set.min_duration : 0;
    return node.total >= least &&
           (forest->call->set.depth == 0 || node.depth < forest->call->set.depth);
}

/* Returns the first sibling from node i on that the filters of the user select, or NONE. */
static uint32_t find_first_selected(const struct forest *forest, uint32_t i)
{
    while (i != NONE && !is_node_selected(forest, i))
        i = make_node(forest, i).next;
    return i;
}

static bool has_printed_all_rows(const struct forest *forest)
{
    return forest->is_stopped ||
           (forest->call->set.limit && forest->shown >= forest->call->set.limit);
}

/* --- Text --- */

static void print_thread(const struct forest *forest, ttr_id id)
{
    ttr_thread thread = {0};
    if (id == PATHS_ACTIVITY) {
        (void)printf("%sactivities%s\n", term_ink(&forest->call->term, INK_BOLD),
                     term_ink(&forest->call->term, INK_PLAIN));
        return;
    }
    (void)ttr_thread_get(forest->t, id, &thread);
    ttr_text process = ttr_text_get(forest->t, thread.process_name),
             name = ttr_text_get(forest->t, thread.thread_name);
    (void)printf("%s%" PRIu64 "/%" PRIu64 "%s", term_ink(&forest->call->term, INK_BOLD), thread.pid,
                 thread.tid, process.n || name.n ? " " : "");
    term_text(process);
    if (process.n && name.n)
        (void)putchar('/');
    term_text(name);
    (void)puts(term_ink(&forest->call->term, INK_PLAIN));
}

static void print_branches(const struct forest *forest, uint32_t depth)
{
    bool has_boxes = forest->call->term.has_boxes;
    for (uint32_t level = 0; level < depth && level < DRAWN_DEPTH; level++) {
        bool is_last = forest->last >> level & 1;
        bool is_own = level + 1 == depth || level + 1 == DRAWN_DEPTH;
        if (has_boxes)
            (void)fputs(is_own
                            ? (is_last ? "\xe2\x94\x94\xe2\x94\x80 " : "\xe2\x94\x9c\xe2\x94\x80 ")
                            : (is_last ? "   " : "\xe2\x94\x82  "),
                        stdout);
        else
            (void)fputs(is_own ? (is_last ? "`- " : "|- ") : (is_last ? "   " : "|  "), stdout);
    }
}

static void print_node(struct forest *forest, const struct node *node)
{
    const struct terminal *term = &forest->call->term;
    if (node->depth > 0 && node->depth <= 64) {
        uint64_t bit = UINT64_C(1) << (node->depth - 1);
        bool is_last = find_first_selected(forest, node->next) == NONE;
        forest->last = is_last ? forest->last | bit : forest->last & ~bit;
    }
    (void)printf("%9s %9s  ", units_duration(node->total).s, units_duration(node->self).s);
    if (forest->call->set.aggregate)
        (void)printf("%10s  ", units_count(node->count).s);
    else if (forest->call->set.verbose)
        (void)printf("%s  ", units_time(node->begin_ns, forest->is_unix).s);
    (void)fputs(term_ink(term, INK_DIM), stdout);
    print_branches(forest, node->depth);
    (void)fputs(term_ink(term, INK_PLAIN), stdout);
    ttr_text name = ttr_text_get(forest->t, node->name);
    term_text(name.n ? name : (ttr_text){"(no name)", 9});
    if (node->activity) {
        (void)fputs("  ", stdout);
        term_text(ttr_text_get(forest->t, node->activity));
    }
    if (node->depth > DRAWN_DEPTH)
        (void)printf(" (level %" PRIu32 ")", node->depth);
    (void)puts(node->is_partial ? " (unfinished)" : "");
}

/* --- JSON: a flat list of rows; "parent" is a row number, so any depth is possible --- */

static void write_node_json(const struct forest *forest, struct json *json, const struct node *node,
                            const uint32_t *row_of)
{
    ttr_thread thread = {0};
    (void)ttr_thread_get(forest->t, node->thread, &thread);
    json_open(json, NULL, '{');
    json_write_int(json, "parent", node->parent == NONE ? -1 : (int64_t)row_of[node->parent]);
    json_write_uint(json, "depth", node->depth);
    json_write_text(json, "name", ttr_text_get(forest->t, node->name));
    json_write_uint(json, "pid", thread.pid);
    json_write_uint(json, "tid", thread.tid);
    if (forest->call->set.aggregate) {
        json_write_uint(json, "count", node->count);
        json_write_uint(json, "total_ns", node->total);
    } else {
        json_write_time(json, "begin_ns", node->begin_ns);
        json_write_uint(json, "dur_ns", node->total);
    }
    json_write_uint(json, "self_ns", node->self);
    if (node->activity)
        json_write_text(json, "activity", ttr_text_get(forest->t, node->activity));
    json_close(json, '}');
}

/* --- The walk --- */

/* The output of a walk: JSON, or text if `json` is NULL. */
struct drawing {
    struct forest *forest;
    struct json *json;
    uint32_t *row_of; /* number of the printed row of each node */
};

static void draw_node(struct drawing *drawing, uint32_t i)
{
    drawing->forest->is_stopped = !progress_grace_step(&drawing->forest->grace);
    struct node node = make_node(drawing->forest, i);
    if (drawing->json) {
        drawing->row_of[i] = drawing->forest->shown;
        write_node_json(drawing->forest, drawing->json, &node, drawing->row_of);
    } else {
        print_node(drawing->forest, &node);
    }
    drawing->forest->shown++;
}

/* Prints a list of siblings and all their descendants, depth first. */
static void draw_subtree(struct drawing *drawing, uint32_t root)
{
    struct forest *forest = drawing->forest;
    uint32_t i = find_first_selected(forest, root);
    if (i != NONE && !drawing->json && !has_printed_all_rows(forest))
        print_thread(forest,
                     make_node(forest, i).activity ? PATHS_ACTIVITY : make_node(forest, i).thread);
    while (i != NONE && !has_printed_all_rows(forest)) {
        draw_node(drawing, i);
        uint32_t next = find_first_selected(forest, make_node(forest, i).first_child);
        while (next == NONE && i != NONE) {
            struct node node = make_node(forest, i);
            next = find_first_selected(forest, node.next);
            i = node.parent;
        }
        i = next;
    }
}

/* Prints the tree of each thread. With --aggregate, a path is the first root of a thread if no
 * other path has it as next sibling. */
static void print_all_trees(struct drawing *drawing)
{
    const struct forest *forest = drawing->forest;
    const uint32_t *roots;
    uint32_t n = ttr_tree_roots(forest->tree, &roots);
    if (!forest->call->set.aggregate) {
        for (uint32_t i = 0; i < n; i++)
            draw_subtree(drawing, roots[i]);
        return;
    }
    const struct paths *paths = &forest->paths;
    uint8_t *is_next = calloc((size_t)paths->n + 1, 1);
    for (uint32_t i = 0; is_next && i < paths->n; i++)
        if (paths->path[i].next != PATHS_NONE)
            is_next[paths->path[i].next] = 1;
    for (uint32_t i = 0; is_next && i < paths->n; i++)
        if (paths->path[i].parent == PATHS_NONE && !is_next[i])
            draw_subtree(drawing, i);
    free(is_next);
}

static bool show_forest(struct forest *forest, uint32_t nodes)
{
    struct json json = {.to = stdout,
                        .has_text_times = call_has_text_times(forest->call),
                        .is_unix = forest->is_unix};
    struct drawing drawing = {.forest = forest, .json = forest->call->set.json ? &json : NULL};
    if (!drawing.json) {
        (void)printf("%s%9s %9s  %s%s\n", term_ink(&forest->call->term, INK_BOLD), "duration",
                     "self", forest->call->set.aggregate ? "     count  name" : "name",
                     term_ink(&forest->call->term, INK_PLAIN));
        print_all_trees(&drawing);
        return true;
    }
    struct findings findings = sum_findings(forest->reader);
    drawing.row_of = calloc((size_t)nodes + 1, sizeof *drawing.row_of);
    if (!drawing.row_of)
        return false;
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.tree/1");
    json_write_bool(&json, "aggregate", forest->call->set.aggregate);
    json_write_uint(&json, "overlaps", ttr_tree_overlaps(forest->tree));
    write_damage_json(&json, &findings);
    json_open(&json, "rows", '[');
    print_all_trees(&drawing);
    json_close(&json, ']');
    json_close(&json, '}');
    free(drawing.row_of);
    return true;
}

static int show_tree(struct call *call, const struct inputs *inputs, const ttr_tree *tree)
{
    struct forest forest = {.call = call, .t = inputs->t, .reader = inputs->reader, .tree = tree};
    uint32_t nodes = ttr_tree_spans(tree, &forest.spans);
    bool is_fine = true;
    forest.is_unix = sum_findings(inputs->reader).is_anchored;
    if (call->set.aggregate) {
        is_fine = span_paths_build(&forest.paths, tree);
        nodes = forest.paths.n;
    }
    is_fine = is_fine && show_forest(&forest, nodes);
    span_paths_free(&forest.paths);
    if (!is_fine) {
        report_failure_text(inputs_get_name(call), "out of memory");
        return OUTCOME_INPUT;
    }
    if (has_printed_all_rows(&forest) && forest.shown < nodes)
        print_note(call, "stopped after %s row%s", units_count(forest.shown).s,
                   forest.shown == 1 ? "" : "s");
    if (ttr_tree_overlaps(tree))
        print_note(call, "%s pairs of spans overlap without nesting",
                   units_count(ttr_tree_overlaps(tree)).s);
    return OUTCOME_FINE;
}

int run_tree(struct call *call)
{
    struct inputs inputs;
    struct progress progress;
    ttr_error error = {0};
    int outcome = inputs_open(&inputs, call, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    progress_begin(&progress, call, inputs.t, inputs.reader, "tree");
    ttr_tree *tree = ttr_tree_new(inputs.t, inputs.reader, progress_step, &progress, &error);
    progress_end(&progress);
    if (tree) {
        term_page(&call->term, &call->set);
        const ttr_tree_span *spans;
        outcome = call->set.slowest ? print_slowest_spans(call, inputs.t, tree,
                                                          sum_findings(inputs.reader).is_anchored)
                                    : show_tree(call, &inputs, tree);
        outcome = selection_check_matches(call, ttr_tree_spans(tree, &spans) > 0, outcome);
        outcome = warn_about_findings(call, inputs.reader, outcome);
    }
    if (error.status != TTR_OK && error.status != TTR_AGAIN)
        outcome = inputs_report_failure(call, inputs_get_name(call), &error);
    ttr_tree_free(tree);
    inputs_close(&inputs);
    return outcome;
}
