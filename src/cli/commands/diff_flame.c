/* Difference flame graph; see the header.
 *
 * A node is a path of names from an outermost span on. The own time of a node has the width of the
 * greater of both traces, so that paths of one trace only are visible; a box is as wide as its own
 * time and its children. Red: more time after, blue: less; the stronger, the greater its part. */
#include "cli/commands/diff_flame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/input/output_check.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"

#define WIDTH 1200.0
#define MARGIN 10.0
#define ROW 17
#define TOP 56
#define WIDTH_MIN 0.3 /* pixels; narrower boxes are left out */
#define DEPTH_MAX 200u
#define NODES_MAX 4000000u
#define LETTER 6.7 /* pixels of a character */

struct node {
    char *name;
    uint32_t parent, first_child, next;
    uint32_t depth;
    double self[2];  /* own time in ns: before, after */
    double total[2]; /* with that of its children */
    double weight;   /* width in ns */
};

struct graph {
    struct node *nodes; /* node 0 is the root */
    uint32_t n, capacity;
    uint32_t *slots; /* hash table by parent and name: node + 1 */
    uint32_t slots_n;
};

static double get_greater(double a, double b)
{
    return a > b ? a : b;
}

/* --- Paths --- */

static uint32_t hash_name(uint32_t parent, const char *name)
{
    uint32_t hash = 2166136261u ^ parent * 2654435761u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/* Returns the slot of a path, or the free slot for it. */
static uint32_t *find_slot(const struct graph *graph, uint32_t parent, const char *name)
{
    uint32_t at = hash_name(parent, name) & (graph->slots_n - 1);
    while (graph->slots[at] && (graph->nodes[graph->slots[at] - 1].parent != parent ||
                                strcmp(graph->nodes[graph->slots[at] - 1].name, name) != 0))
        at = (at + 1) & (graph->slots_n - 1);
    return &graph->slots[at];
}

/* Makes room for a node. Returns false if memory is exhausted. */
static bool grow_graph(struct graph *graph)
{
    const uint32_t capacity = graph->capacity ? 2 * graph->capacity : 1024;
    struct node *grown = realloc(graph->nodes, capacity * sizeof *grown);
    uint32_t *slots = grown ? calloc((size_t)2 * capacity, sizeof *slots) : NULL;
    if (grown)
        graph->nodes = grown;
    if (!slots)
        return false;
    free(graph->slots);
    graph->capacity = capacity;
    graph->slots = slots;
    graph->slots_n = 2 * capacity;
    for (uint32_t i = 1; i < graph->n; i++)
        *find_slot(graph, graph->nodes[i].parent, graph->nodes[i].name) = i + 1;
    return true;
}

/* Returns the node of a path, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t find_or_add_node(struct graph *graph, uint32_t parent, const char *name)
{
    if (graph->n == graph->capacity && (graph->n >= NODES_MAX || !grow_graph(graph)))
        return UINT32_MAX;
    uint32_t *slot = graph->n ? find_slot(graph, parent, name) : NULL;
    if (slot && *slot)
        return *slot - 1;
    struct node *node = &graph->nodes[graph->n];
    *node = (struct node){.name = strdup(name), .parent = parent};
    if (!node->name)
        return UINT32_MAX;
    if (slot) {
        *slot = graph->n + 1;
        node->depth = graph->nodes[parent].depth + 1;
    }
    return graph->n++;
}

/* Nodes of the slices of a trace, indexed by id. */
struct slice_nodes {
    uint32_t *node;
    size_t n;
};

static bool keep_node(struct slice_nodes *of, size_t id, uint32_t node)
{
    if (id >= of->n) {
        const size_t n = 2 * id + 1024;
        uint32_t *grown = realloc(of->node, n * sizeof *grown);
        if (!grown)
            return false;
        memset(grown + of->n, 0, (n - of->n) * sizeof *grown);
        of->node = grown;
        of->n = n;
    }
    of->node[id] = node;
    return true;
}

/* Adds the slices of a trace. Slices are in order of their start, so that a parent is known. */
static int add_side(struct graph *graph, const struct query_library *library,
                    struct query_session *session, int side)
{
    ttr_error error = {0};
    ttr_status status = TTR_E_NOMEM;
    struct slice_nodes of = {0};
    ttr_result *result = library->prepare(session->query, DIFF_FLAME_SQL, NULL, &error);
    while (result && (status = library->step(result, &error)) == TTR_OK) {
        const size_t id = (size_t)library->get_int(result, 0);
        const size_t outer = (size_t)library->get_int(result, 1);
        const uint32_t parent =
            library->type(result, 1) != TTR_TYPE_NULL && outer < of.n ? of.node[outer] : 0;
        const uint32_t node = graph->nodes[parent].depth >= DEPTH_MAX
                                  ? parent
                                  : find_or_add_node(graph, parent, library->get_text(result, 2).p);
        if (node == UINT32_MAX || !keep_node(&of, id, node)) {
            status = TTR_E_NOMEM;
            break;
        }
        graph->nodes[node].self[side] += library->get_real(result, 3);
    }
    if (result)
        library->free(result);
    free(of.node);
    if (status == TTR_END || status == TTR_AGAIN)
        return OUTCOME_FINE;
    report_failure_text("diff", "%s", error.text[0] ? error.text : "out of memory");
    return OUTCOME_INPUT;
}

/* Sums times upwards and links children; a child has a greater index than its parent. */
static void sum_up(struct graph *graph)
{
    for (uint32_t i = graph->n; i-- > 0;) {
        struct node *node = &graph->nodes[i];
        node->weight += get_greater(node->self[0], node->self[1]);
        for (int side = 0; side < 2; side++)
            node->total[side] += node->self[side];
        if (i == 0)
            break;
        struct node *parent = &graph->nodes[node->parent];
        parent->weight += node->weight;
        parent->total[0] += node->total[0];
        parent->total[1] += node->total[1];
        node->next = parent->first_child;
        parent->first_child = i;
    }
}

/* --- SVG --- */

/* Prints a text in XML; control characters as "?". */
static void print_escaped(FILE *to, const char *text, size_t max)
{
    for (size_t i = 0; text[i] && i < max; i++) {
        const unsigned char c = (unsigned char)text[i];
        const char *entity = c == '<'                ? "&lt;"
                             : c == '>'              ? "&gt;"
                             : c == '&'              ? "&amp;"
                             : c == '"'              ? "&quot;"
                             : c < 0x20 || c == 0x7f ? "?"
                                                     : NULL;
        if (entity)
            (void)fputs(entity, to);
        else
            (void)fputc(c, to);
    }
}

/* Returns the length of a text that has at most `max` bytes, cut before a character. */
static size_t cut_text(const char *text, size_t max)
{
    size_t n = strlen(text);
    if (n <= max)
        return n;
    for (n = max; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
        ;
    return n;
}

/* Formats a change in percent. */
static void format_change(const double total[2], char *text, size_t size)
{
    if (total[0] > 0)
        (void)snprintf(text, size, "%+.1f %%", 100 * (total[1] - total[0]) / total[0]);
    else
        (void)snprintf(text, size, "%s", total[1] > 0 ? "new" : "no time");
}

static void print_box(FILE *to, const struct node *node, double x, double width, double y)
{
    char change[64];
    const double greater = get_greater(node->total[0], node->total[1]);
    const double part = greater > 0 ? (node->total[1] - node->total[0]) / greater : 0;
    /* white to red, white to blue */
    const int pale = 245 - (int)((part < 0 ? -part : part) * 170);
    const int red = part >= 0 ? 245 : pale, blue = part <= 0 ? 245 : pale;
    const size_t room = width > 20 ? (size_t)((width - 6) / LETTER) : 0;
    format_change(node->total, change, sizeof change);
    (void)fprintf(to, "<g><title>");
    print_escaped(to, node->name, cut_text(node->name, 300));
    (void)fprintf(to, ": %s before, %s after (%s)</title>",
                  units_duration((uint64_t)node->total[0]).s,
                  units_duration((uint64_t)node->total[1]).s, change);
    (void)fprintf(to,
                  "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" "
                  "fill=\"rgb(%d,%d,%d)\"/>",
                  x, y, width, ROW - 1, red, pale, blue);
    if (room >= 3) {
        (void)fprintf(to, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + 12);
        print_escaped(to, node->name, cut_text(node->name, room));
        (void)fputs("</text>", to);
    }
    (void)fputs("</g>\n", to);
}

/* Prints the boxes from the root on, without recursion: a child starts where its sibling ended. */
static void print_boxes(FILE *to, const struct graph *graph, double *starts, uint32_t depth_max)
{
    const double scale =
        graph->nodes[0].weight > 0 ? (WIDTH - 2 * MARGIN) / graph->nodes[0].weight : 0;
    uint32_t at = 0;
    starts[0] = MARGIN;
    for (;;) {
        const struct node *node = &graph->nodes[at];
        const double width = node->weight * scale;
        const bool is_visible = width >= WIDTH_MIN;
        if (is_visible)
            print_box(to, node, starts[node->depth], width, TOP + (depth_max - node->depth) * ROW);
        if (is_visible && node->first_child) {
            starts[node->depth + 1] = starts[node->depth];
            at = node->first_child;
            continue;
        }
        starts[node->depth] += width;
        while (at && !graph->nodes[at].next) {
            at = graph->nodes[at].parent;
            starts[graph->nodes[at].depth] += graph->nodes[at].weight * scale;
        }
        if (!at)
            return;
        at = graph->nodes[at].next;
    }
}

static void print_graph(FILE *to, const struct call *call, const struct graph *graph)
{
    double starts[DEPTH_MAX + 2];
    uint32_t depth_max = 0;
    const struct node *root = &graph->nodes[0];
    const double scale = root->weight > 0 ? (WIDTH - 2 * MARGIN) / root->weight : 0;
    char change[64];
    for (uint32_t i = 0; i < graph->n; i++)
        if (graph->nodes[i].depth > depth_max && graph->nodes[i].weight * scale >= WIDTH_MIN)
            depth_max = graph->nodes[i].depth;
    const double height = TOP + (depth_max + 1) * ROW + MARGIN;
    format_change(root->total, change, sizeof change);
    (void)fprintf(to,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                  "viewBox=\"0 0 %.0f %.0f\">\n"
                  "<style>text{font:11px Verdana,Helvetica,sans-serif;fill:#111}"
                  "rect{stroke:#fff;stroke-width:.5}g:hover rect{stroke:#111}</style>\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"%.0f\" "
                  "y=\"20\" style=\"font-size:15px\">",
                  WIDTH, height, WIDTH, height, MARGIN);
    print_escaped(to, call->path[0], 400);
    (void)fputs(" to ", to);
    print_escaped(to, call->path[1], 400);
    (void)fprintf(to,
                  ": %s</text>\n<text x=\"%.0f\" y=\"40\">red: more time after; blue: less; width: "
                  "the greater of both. Point at a box for its times.</text>\n",
                  change, MARGIN);
    print_boxes(to, graph, starts, depth_max);
    (void)fputs("</svg>\n", to);
}

/* Writes a temporary file and renames it to the output path. */
static int write_graph_file(const struct call *call, const struct graph *graph, const char *path)
{
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, "%s.%d.tmp", path, (int)getpid()) >=
        (int)sizeof temporary)
        return report_unwritable_output(path, ENAMETOOLONG);
    FILE *to = fopen(temporary, "wbxe");
    if (!to)
        return report_unwritable_output(path, errno);
    print_graph(to, call, graph);
    const bool has_failed = ferror(to) != 0;
    const int reason = errno;
    if (fclose(to) == 0 && !has_failed && rename(temporary, path) == 0)
        return OUTCOME_FINE;
    const int late_reason = errno;
    (void)unlink(temporary);
    return report_unwritable_output(path, has_failed ? reason : late_reason);
}

static int write_graph(const struct call *call, const struct graph *graph)
{
    const char *path = call->set.output;
    if (path && strcmp(path, "-") != 0)
        return write_graph_file(call, graph, path);
    print_graph(stdout, call, graph);
    return OUTCOME_FINE;
}

int write_diff_flame(const struct call *call, const struct query_library *library,
                     struct query_session sessions[2])
{
    struct graph graph = {0};
    int outcome = find_or_add_node(&graph, 0, "all") == 0 ? OUTCOME_FINE : OUTCOME_INPUT;
    for (int side = 0; side < 2 && outcome == OUTCOME_FINE; side++)
        outcome = add_side(&graph, library, &sessions[side], side);
    if (outcome == OUTCOME_FINE && !interrupt_was_received()) {
        sum_up(&graph);
        outcome = write_graph(call, &graph);
    }
    for (uint32_t i = 0; i < graph.n; i++)
        free(graph.nodes[i].name);
    free(graph.nodes);
    free(graph.slots);
    return outcome;
}
