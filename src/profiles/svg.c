/* Flame graph as an interactive SVG file. Outermost frames are at the bottom, widths are
 * proportional to weights, siblings are sorted by weight.
 *
 * The graph is complete without JavaScript. The script adds zoom by click (Escape or the bottom row
 * resets it) and search by regular expression (Ctrl-F or "/"), with the matched share of the total.
 * Frames narrower than MIN_WIDTH pixels and rows above ROWS_MAX are left out, so that browsers can
 * open the file. */
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/saturate.h"
#include "base/status.h"
#include "base/utf.h"
#include "pipeline/order/radix_sort.h"
#include "profiles/profiles.h"

#define MARGIN 10
#define WIDTH 1200.0
#define INNER (WIDTH - 2 * MARGIN)
#define ROW 17
#define TOP 44     /* pixels above the highest row, for the title */
#define BOTTOM 30  /* pixels below the lowest row, for the hovered frame's details */
#define LETTER 6.7 /* average width of a character in pixels at 11px Verdana */
#define MIN_WIDTH 0.2
#define ROWS_MAX 1000u
#define LABEL_MAX 200u /* bytes; no box shows a longer label */

static const char style[] =
    "<style>text{font:11px Verdana,Helvetica,sans-serif;fill:#111}.f{cursor:pointer}.f:hover "
    "rect{stroke:#111;stroke-width:.7}"
    ".f text{pointer-events:none}.title{font-size:16px;text-anchor:middle}.hit "
    "rect{fill:#b45ae8}.past{opacity:.45}.gone{display:none}"
    ".act{cursor:pointer;fill:#36c}@media(prefers-color-scheme:dark){#back{fill:#1b1b1f}#all>text{"
    "fill:#ddd}.act{fill:#8af}}</style>\n";

/* The script expects each frame as <g class="f" data-x data-w data-r data-n> with a rect, a text
 * and a title; x and w are fractions of the total width, r is the row, n is the short label. */
static const char script[] =
    "<script><![CDATA[\n"
    "(function () {\n"
    "var svg = document.documentElement, all = [].slice.call(svg.querySelectorAll('.f')), inner = "
    "+svg.dataset.inner, left = +svg.dataset.margin;\n"
    "var info = document.getElementById('info'), found = document.getElementById('found'), reset = "
    "document.getElementById('reset');\n"
    "var num = function (g, name) { return +g.dataset[name]; }, title = function (g) { return "
    "g.querySelector('title').textContent; };\n"
    "var label = function (g) { return g.dataset.n; };\n"
    "function place(g, x, w) {\n"
    "  var rect = g.querySelector('rect'), text = g.querySelector('text'), px = w * inner, name = "
    "label(g), room = Math.floor((px - 6) / 6.7);\n"
    "  rect.setAttribute('x', left + x * inner); rect.setAttribute('width', Math.max(px, 0));\n"
    "  text.setAttribute('x', left + x * inner + 3);\n"
    "  text.textContent = room < 3 ? '' : name.length <= room ? name : name.slice(0, room - 2) + "
    "'..';\n"
    "}\n"
    "function zoom(to) {\n"
    "  var x = num(to, 'x'), w = num(to, 'w'), row = num(to, 'r'), e = 1e-7;\n"
    "  all.forEach(function (g) {\n"
    "    var gx = num(g, 'x'), gw = num(g, 'w'), below = num(g, 'r') < row && gx <= x + e && gx + "
    "gw >= x + w - e;\n"
    "    var inside = num(g, 'r') >= row && gx >= x - e && gx + gw <= x + w + e;\n"
    "    g.classList.toggle('past', below); g.classList.toggle('gone', !below && !inside);\n"
    "    if (below) place(g, 0, 1); else if (inside) place(g, (gx - x) / w, gw / w);\n"
    "  });\n"
    "  reset.classList.toggle('gone', row === 0);\n"
    "}\n"
    "function search(ask) {\n"
    "  var term = ask ? prompt('Search (regular expression):', '') : '', re, sum = 0, end = -1;\n"
    "  if (term === null) return;\n"
    "  try { re = term && new RegExp(term, 'i'); } catch (e) { found.textContent = 'not a regular "
    "expression'; return; }\n"
    "  var hits = all.filter(function (g) { var hit = !!re && num(g, 'r') > 0 && "
    "re.test(title(g)); g.classList.toggle('hit', hit); return hit; });\n"
    "  hits.sort(function (a, b) { return num(a, 'x') - num(b, 'x') || num(a, 'r') - num(b, 'r'); "
    "});\n"
    "  hits.forEach(function (g) { if (num(g, 'x') >= end - 1e-9) { sum += num(g, 'w'); end = "
    "num(g, 'x') + num(g, 'w'); } });\n"
    "  found.textContent = re ? hits.length + ' found: ' + (100 * sum).toFixed(2) + ' %' : '';\n"
    "}\n"
    "all.forEach(function (g) {\n"
    "  g.addEventListener('click', function () { zoom(g); });\n"
    "  g.addEventListener('mouseover', function () { info.textContent = title(g); });\n"
    "  g.addEventListener('mouseout', function () { info.textContent = ''; });\n"
    "});\n"
    "reset.addEventListener('click', function () { zoom(all[0]); });\n"
    "document.getElementById('search').addEventListener('click', function () { search(true); });\n"
    "window.addEventListener('keydown', function (e) {\n"
    "  if (e.key === '/' || (e.ctrlKey && e.key === 'f')) { e.preventDefault(); search(true); }\n"
    "  if (e.key === 'Escape') { zoom(all[0]); search(false); }\n"
    "});\n"
    "document.getElementById('buttons').classList.remove('gone');\n"
    "}());\n"
    "]]></script>\n";

struct graph {
    struct profile_out *out;
    /* child lists, heaviest first: first child of each node (first[nodes_n]: of the root), and next
     * sibling */
    uint32_t *first, *next;
    double *x; /* left edge of each node, in units of weight */
    uint64_t total;
    uint32_t rows;
};

/* --- Text --- */

/* Appends text for XML. Control characters and invalid UTF-8, which XML 1.0 forbids, become U+FFFD.
 */
static void append_xml_text(struct buffer *to, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n;) {
        size_t length = p[i] < 0x80 ? 1 : utf8_char_length(p + i, n - i);
        if (length == 0 || (utf8_control_length(p + i, n - i) && p[i] != '\t' && p[i] != '\n'))
            buffer_add(to, "\xef\xbf\xbd", 3);
        else if (p[i] == '<' || p[i] == '>' || p[i] == '&' || p[i] == '"')
            buffer_add_text(to, p[i] == '<'   ? "&lt;"
                                : p[i] == '>' ? "&gt;"
                                : p[i] == '&' ? "&amp;"
                                              : "&quot;");
        else
            buffer_add(to, p + i, length);
        i += length ? length : 1;
    }
}

/* Appends a non-negative number with `digits` decimal places. A number too large for 64 bits is
 * limited. */
static void append_decimal(struct buffer *to, double x, unsigned digits)
{
    char text[NUMBER_MAX];
    uint64_t scale = 1;
    for (unsigned i = 0; i < digits; i++)
        scale *= 10;
    const double scaled = x * (double)scale + 0.5;
    uint64_t whole = scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
    buffer_add(to, text, number_format_u64(text, whole / scale));
    if (digits) {
        number_format_digits(text, whole % scale, digits);
        buffer_add_byte(to, '.');
        buffer_add(to, text, digits);
    }
}

static void append_attribute(struct buffer *to, const char *name, double x, unsigned digits)
{
    buffer_add_byte(to, ' ');
    buffer_add_text(to, name);
    buffer_add_text(to, "=\"");
    append_decimal(to, x, digits);
    buffer_add_byte(to, '"');
}

/* Appends the weight and its share of the total: "12.3 ms, 45.6 %" or "123 samples, 45.6 %". */
static void append_weight_text(const struct graph *graph, uint64_t weight)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{" s", 1e9}, {" ms", 1e6}, {" us", 1e3}, {" ns", 1}};
    struct buffer *to = &graph->out->to;
    if (ttr_profile_get_unit(graph->out->profile) == TTR_PROFILE_COUNT) {
        append_decimal(to, (double)weight, 0);
        buffer_add_text(to, weight == 1 ? " sample, " : " samples, ");
    } else {
        size_t i = 0;
        while (i < 3 && (double)weight < units[i].ns)
            i++;
        append_decimal(to, (double)weight / units[i].ns, i < 3 ? 2 : 0);
        buffer_add_text(to, units[i].name);
        buffer_add_text(to, ", ");
    }
    append_decimal(to, graph->total ? 100.0 * (double)weight / (double)graph->total : 0, 2);
    buffer_add_text(to, " %");
}

/* Appends a colour: warm, from a hash of the module (or the name if the module is unknown), or grey
 * for states. */
static void append_frame_color(const struct graph *graph, const ttr_profile_frame *frame)
{
    char hue[NUMBER_MAX];
    struct buffer *to = &graph->out->to;
    if (frame->is_state) {
        buffer_add_text(to, "#b8b8c4");
        return;
    }
    ttr_text text = ttr_text_get(graph->out->t, frame->module ? frame->module : frame->name);
    uint64_t hash = hash_pair(hash_bytes(text.p, text.n), 0);
    buffer_add_text(to, "hsl(");
    buffer_add(to, hue, number_format_u64(hue, hash % 48 + 8));
    buffer_add_byte(to, ',');
    buffer_add(to, hue, number_format_u64(hue, 72 + (hash >> 16) % 24));
    buffer_add_text(to, "%,");
    buffer_add(to, hue, number_format_u64(hue, 58 + (hash >> 32) % 12));
    buffer_add_text(to, "%)");
}

/* --- Layout --- */

/* Builds the child lists. Sorts all nodes by weight, then prepends each to the list of its parent,
 * lightest first. Returns false if memory is exhausted. */
static bool order_children(struct graph *graph)
{
    const struct profile_out *out = graph->out;
    size_t n = out->nodes_n, room = 2 * n;
    struct order_key *keys = alloc_zero(out->alloc, room, sizeof *keys);
    if (!keys)
        return false;
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (struct order_key){.rank = out->node[i].total, .index = i};
    radix_sort_keys(keys, keys + n, n);
    for (size_t i = 0; i <= n; i++)
        graph->first[i] = TTR_PROFILE_NONE;
    for (size_t i = 0; i < n; i++) {
        uint32_t at = keys[i].index, parent = out->node[at].parent;
        uint32_t *first = &graph->first[parent == TTR_PROFILE_NONE ? n : parent];
        graph->next[at] = *first;
        *first = at;
    }
    alloc_free(out->alloc, keys, room, sizeof *keys);
    return true;
}

static bool is_node_visible(const struct graph *graph, uint32_t node)
{
    const ttr_profile_node *about = &graph->out->node[node];
    return about->depth + 1 < ROWS_MAX &&
           (double)about->total * INNER >= MIN_WIDTH * (double)graph->total && about->total;
}

/* Assigns horizontal positions to siblings and their descendants, from x on. */
static void assign_sibling_positions(struct graph *graph, uint32_t first, double x)
{
    for (uint32_t at = first; at != TTR_PROFILE_NONE; at = graph->next[at]) {
        const ttr_profile_node *node = &graph->out->node[at];
        graph->x[at] = x;
        x += (double)node->total;
        if (is_node_visible(graph, at) && node->depth + 2 > graph->rows)
            graph->rows = node->depth + 2;
    }
}

static void assign_all_positions(struct graph *graph)
{
    assign_sibling_positions(graph, graph->first[graph->out->nodes_n], 0);
    for (uint32_t i = 0; i < graph->out->nodes_n; i++)
        assign_sibling_positions(graph, graph->first[i], graph->x[i]);
}

/* --- Drawing --- */

struct box {
    double x, width; /* fractions of the total width */
    uint32_t row;    /* 0 is the lowest */
    uint64_t weight;
    ttr_text name;
    const ttr_profile_frame *frame; /* NULL for the root */
};

/* Appends the label of a box, truncated to `room` characters. */
static void append_label(struct buffer *to, ttr_text label, size_t room)
{
    if (room == 0)
        return;
    append_xml_text(to, label.p,
                    label.n <= room ? label.n : utf8_truncated_length(label.p, label.n, room - 2));
    buffer_add_text(to, label.n <= room ? "" : "..");
}

static void append_frame_box(const struct graph *graph, const struct box *box)
{
    struct buffer *to = &graph->out->to;
    char short_name[LABEL_MAX];
    double pixels = box->width * INNER, left = MARGIN + box->x * INNER,
           top = TOP + (double)(graph->rows - 1 - box->row) * ROW;
    size_t room = pixels > 6 + 3 * LETTER ? (size_t)((pixels - 6) / LETTER) : 0;
    const size_t n = ttr_profile_label(box->name, short_name, sizeof short_name);
    /* names of spans are not names of functions */
    const ttr_text label = ttr_profile_is_of_spans(graph->out->profile)
                               ? box->name
                               : (ttr_text){short_name, utf8_truncated_length(short_name, n, n)};
    buffer_add_text(to, "<g class=\"f\"");
    append_attribute(to, "data-x", box->x, 8);
    append_attribute(to, "data-w", box->width, 8);
    append_attribute(to, "data-r", box->row, 0);
    buffer_add_text(to, " data-n=\"");
    append_xml_text(to, label.p, label.n);
    buffer_add_text(to, "\"><title>");
    append_weight_text(graph, box->weight);
    buffer_add_text(to, ": ");
    append_xml_text(to, box->name.p, box->name.n);
    buffer_add_text(to, "</title><rect");
    append_attribute(to, "x", left, 2);
    append_attribute(to, "y", top, 0);
    append_attribute(to, "width", pixels, 2);
    append_attribute(to, "height", ROW - 1, 0);
    buffer_add_text(to, " rx=\"1\" fill=\"");
    if (box->frame)
        append_frame_color(graph, box->frame);
    else
        buffer_add_text(to, "#d8d0c8");
    buffer_add_text(to, "\"/><text");
    append_attribute(to, "x", left + 3, 2);
    append_attribute(to, "y", top + 12, 0);
    buffer_add_byte(to, '>');
    append_label(to, label, room);
    buffer_add_text(to, "</text></g>\n");
}

static ttr_status append_all_boxes(const struct graph *graph, ttr_error *error)
{
    const struct profile_out *out = graph->out;
    ttr_status status = TTR_OK;
    double total = graph->total ? (double)graph->total : 1;
    append_frame_box(graph, &(struct box){.width = 1, .weight = graph->total, .name = {"all", 3}});
    for (uint32_t i = 0; i < out->nodes_n && status == TTR_OK; i++) {
        const ttr_profile_node *node = &out->node[i];
        if (!is_node_visible(graph, i))
            continue;
        append_frame_box(graph, &(struct box){.x = graph->x[i] / total,
                                              .width = (double)node->total / total,
                                              .row = node->depth + 1,
                                              .weight = node->total,
                                              .name = profile_frame_text(out, node->frame),
                                              .frame = &out->frame[node->frame]});
        status = profile_flush_if_full(graph->out, error);
    }
    return status;
}

/* The height is fixed, so that a browser scrolls through many rows instead of shrinking them. */
static void append_svg_head(const struct graph *graph)
{
    struct buffer *to = &graph->out->to;
    double height = TOP + (double)graph->rows * ROW + BOTTOM;
    buffer_add_text(
        to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "version=\"1.1\" width=\"100%\" viewBox=\"0 0 1200 ");
    append_decimal(to, height, 0);
    buffer_add_text(to, "\"");
    append_attribute(to, "height", height, 0);
    append_attribute(to, "data-inner", INNER, 0);
    append_attribute(to, "data-margin", MARGIN, 0);
    buffer_add_text(to, ">\n");
    buffer_add_text(to, style);
    buffer_add_text(to, "<g id=\"all\"><rect id=\"back\" width=\"100%\" height=\"100%\" "
                        "fill=\"#fdfbf7\"/>\n<text class=\"title\" x=\"600\" y=\"24\">");
    append_xml_text(to, graph->out->title, strlen(graph->out->title));
    buffer_add_text(to, "</text>\n<text id=\"info\" x=\"10\"");
    append_attribute(to, "y", height - 12, 0);
    buffer_add_text(to, "> </text>\n<text id=\"found\" x=\"1190\" text-anchor=\"end\"");
    append_attribute(to, "y", height - 12, 0);
    buffer_add_text(to, "> </text>\n<g id=\"buttons\" class=\"gone\"><text id=\"reset\" "
                        "class=\"act gone\" x=\"10\" y=\"24\">Reset zoom</text>"
                        "<text id=\"search\" class=\"act\" x=\"1190\" y=\"24\" "
                        "text-anchor=\"end\">Search</text></g>\n");
}

static ttr_status write_flame_graph(struct graph *graph, ttr_error *error)
{
    assign_all_positions(graph);
    append_svg_head(graph);
    ttr_status status = append_all_boxes(graph, error);
    buffer_add_text(&graph->out->to, "</g>\n");
    buffer_add_text(&graph->out->to, script);
    buffer_add_text(&graph->out->to, "</svg>\n");
    return status;
}

static ttr_status write_svg(struct profile_out *out, ttr_error *error)
{
    size_t n = (size_t)out->nodes_n + 1;
    struct graph graph = {.out = out, .rows = 1};
    for (uint32_t i = 0; i < out->nodes_n; i++)
        if (out->node[i].parent == TTR_PROFILE_NONE)
            graph.total = saturate_add_u64(graph.total, out->node[i].total);
    graph.first = alloc_zero(out->alloc, n, sizeof *graph.first);
    graph.next = alloc_zero(out->alloc, n, sizeof *graph.next);
    graph.x = alloc_zero(out->alloc, n, sizeof *graph.x);
    bool is_fine = graph.first && graph.next && graph.x && order_children(&graph);
    ttr_status status = is_fine ? write_flame_graph(&graph, error) : fail_memory(error);
    alloc_free(out->alloc, graph.first, n, sizeof *graph.first);
    alloc_free(out->alloc, graph.next, n, sizeof *graph.next);
    alloc_free(out->alloc, graph.x, n, sizeof *graph.x);
    return status;
}

const struct profile_writer profile_svg = {
    .about = {"svg", "a flame graph to look at in a browser, with search and zoom", "svg",
              TTR_PROFILE_MERGED, 0},
    .write = write_svg,
};
