/* A flame graph as one SVG file: the outermost frames at the bottom, as wide as their weight;
 * siblings by weight, heaviest first.
 *
 * Everything can be seen without the script, which adds: a click zooms into a frame, a click on the
 * lowest row or Escape goes back, Ctrl-F or "/" searches by regular expression and says how much of
 * the whole was found.  Frames narrower than MIN_WIDTH are left out, and so are rows beyond
 * ROWS_MAX, so that the file stays one that a browser opens. */
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/status.h"
#include "base/utf.h"
#include "pipeline/order/radix_sort.h"
#include "profiles/profiles.h"

#define MARGIN 10
#define WIDTH 1200.0
#define INNER (WIDTH - 2 * MARGIN)
#define ROW 17
#define TOP 44     /* above the highest row: the title */
#define BOTTOM 30  /* below the lowest: what the pointer is on */
#define LETTER 6.7 /* width of one, about */
#define MIN_WIDTH 0.2
#define ROWS_MAX 1000u

static const char style[] =
    "<style>text{font:11px Verdana,Helvetica,sans-serif;fill:#111}.f{cursor:pointer}.f:hover "
    "rect{stroke:#111;stroke-width:.7}"
    ".f text{pointer-events:none}.title{font-size:16px;text-anchor:middle}.hit "
    "rect{fill:#b45ae8}.past{opacity:.45}.gone{display:none}"
    ".act{cursor:pointer;fill:#36c}@media(prefers-color-scheme:dark){#back{fill:#1b1b1f}#all>text{"
    "fill:#ddd}.act{fill:#8af}}</style>\n";

/* Each frame is <g class="f" x="left, of one" w="width, of one" r="row"> with its rectangle, its
 * text and its title. */
static const char script[] =
    "<script><![CDATA[\n"
    "(function () {\n"
    "var svg = document.documentElement, all = [].slice.call(svg.querySelectorAll('.f')), inner = "
    "+svg.dataset.inner, left = +svg.dataset.margin;\n"
    "var info = document.getElementById('info'), found = document.getElementById('found'), reset = "
    "document.getElementById('reset');\n"
    "var num = function (g, name) { return +g.dataset[name]; }, title = function (g) { return "
    "g.querySelector('title').textContent; };\n"
    "var label = function (g) { var t = title(g); return t.slice(0, t.lastIndexOf(' (')); };\n"
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
    "re.test(label(g)); g.classList.toggle('hit', hit); return hit; });\n"
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
    uint32_t *first, *next; /* children by weight; first[nodes_n] is the first of the roots */
    double *x;              /* of nodes: from the left, in weights */
    uint64_t total;
    uint32_t rows;
};

/* --- Text --- */

/* Text for XML: what it forbids or discourages, control characters and bytes that are no UTF-8,
 * becomes U+FFFD. */
static void put_text(struct buffer *to, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n;) {
        size_t length = p[i] < 0x80 ? 1 : utf8_character(p + i, n - i);
        if (length == 0 || (utf8_control(p + i, n - i) && p[i] != '\t' && p[i] != '\n'))
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

/* A number with `digits` behind the point. */
static void put_number(struct buffer *to, double x, unsigned digits)
{
    char text[NUMBER_MAX];
    uint64_t scale = 1;
    for (unsigned i = 0; i < digits; i++)
        scale *= 10;
    uint64_t whole = (uint64_t)(x * (double)scale + 0.5);
    buffer_add(to, text, number_put_u64(text, whole / scale));
    if (digits) {
        number_put_digits(text, whole % scale, digits);
        buffer_add_byte(to, '.');
        buffer_add(to, text, digits);
    }
}

static void put_attribute(struct buffer *to, const char *name, double x, unsigned digits)
{
    buffer_add_byte(to, ' ');
    buffer_add_text(to, name);
    buffer_add_text(to, "=\"");
    put_number(to, x, digits);
    buffer_add_byte(to, '"');
}

/* "12.3 ms, 45.6 %" or "123 samples, 45.6 %". */
static void put_weight(const struct graph *graph, uint64_t weight)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{" s", 1e9}, {" ms", 1e6}, {" us", 1e3}, {" ns", 1}};
    struct buffer *to = &graph->out->to;
    if (ttr_profile_get_unit(graph->out->profile) == TTR_PROFILE_COUNT) {
        put_number(to, (double)weight, 0);
        buffer_add_text(to, weight == 1 ? " sample, " : " samples, ");
    } else {
        size_t i = 0;
        while (i < 3 && (double)weight < units[i].ns)
            i++;
        put_number(to, (double)weight / units[i].ns, i < 3 ? 2 : 0);
        buffer_add_text(to, units[i].name);
        buffer_add_text(to, ", ");
    }
    put_number(to, graph->total ? 100.0 * (double)weight / (double)graph->total : 0, 2);
    buffer_add_text(to, " %");
}

/* Warm colours, one for each module (name, where there is none); states are grey. */
static void put_color(const struct graph *graph, const ttr_profile_frame *frame)
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
    buffer_add(to, hue, number_put_u64(hue, hash % 48 + 8));
    buffer_add_byte(to, ',');
    buffer_add(to, hue, number_put_u64(hue, 72 + (hash >> 16) % 24));
    buffer_add_text(to, "%,");
    buffer_add(to, hue, number_put_u64(hue, 58 + (hash >> 32) % 12));
    buffer_add_text(to, "%)");
}

/* --- Layout --- */

/* Chains siblings by weight, heaviest first. */
static bool order_children(struct graph *graph)
{
    const struct profile_out *out = graph->out;
    size_t n = out->nodes_n, room = 2 * n;
    struct order_key *keys = alloc_zero(out->alloc, room, sizeof *keys);
    if (!keys)
        return false;
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (struct order_key){.rank = out->node[i].total, .index = i};
    order_keys(keys, keys + n, n);
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

static bool is_shown(const struct graph *graph, uint32_t node)
{
    const ttr_profile_node *about = &graph->out->node[node];
    return about->depth + 1 < ROWS_MAX &&
           (double)about->total * INNER >= MIN_WIDTH * (double)graph->total && about->total;
}

/* Places a chain of siblings side by side from x on. */
static void place(struct graph *graph, uint32_t first, double x)
{
    for (uint32_t at = first; at != TTR_PROFILE_NONE; at = graph->next[at]) {
        const ttr_profile_node *node = &graph->out->node[at];
        graph->x[at] = x;
        x += (double)node->total;
        if (is_shown(graph, at) && node->depth + 2 > graph->rows)
            graph->rows = node->depth + 2;
    }
}

static void lay_out(struct graph *graph)
{
    place(graph, graph->first[graph->out->nodes_n], 0);
    for (uint32_t i = 0; i < graph->out->nodes_n; i++)
        place(graph, graph->first[i], graph->x[i]);
}

/* --- Drawing --- */

struct box {
    double x, width; /* of the whole */
    uint32_t row;    /* 0 = the lowest */
    uint64_t weight;
    ttr_text name;
    const ttr_profile_frame *frame; /* NULL = the whole */
};

static void put_box(const struct graph *graph, const struct box *box)
{
    struct buffer *to = &graph->out->to;
    double pixels = box->width * INNER, left = MARGIN + box->x * INNER,
           top = TOP + (double)(graph->rows - 1 - box->row) * ROW;
    size_t room = pixels > 6 + 3 * LETTER ? (size_t)((pixels - 6) / LETTER) : 0;
    buffer_add_text(to, "<g class=\"f\"");
    put_attribute(to, "data-x", box->x, 8);
    put_attribute(to, "data-w", box->width, 8);
    put_attribute(to, "data-r", box->row, 0);
    buffer_add_text(to, "><title>");
    put_text(to, box->name.p, box->name.n);
    buffer_add_text(to, " (");
    put_weight(graph, box->weight);
    buffer_add_text(to, ")</title><rect");
    put_attribute(to, "x", left, 2);
    put_attribute(to, "y", top, 0);
    put_attribute(to, "width", pixels, 2);
    put_attribute(to, "height", ROW - 1, 0);
    buffer_add_text(to, " rx=\"1\" fill=\"");
    if (box->frame)
        put_color(graph, box->frame);
    else
        buffer_add_text(to, "#d8d0c8");
    buffer_add_text(to, "\"/><text");
    put_attribute(to, "x", left + 3, 2);
    put_attribute(to, "y", top + 12, 0);
    buffer_add_byte(to, '>');
    if (room) {
        put_text(to, box->name.p,
                 box->name.n <= room ? box->name.n : utf8_cut(box->name.p, box->name.n, room - 2));
        buffer_add_text(to, box->name.n <= room ? "" : "..");
    }
    buffer_add_text(to, "</text></g>\n");
}

static ttr_status put_boxes(const struct graph *graph, ttr_error *error)
{
    const struct profile_out *out = graph->out;
    ttr_status status = TTR_OK;
    double total = graph->total ? (double)graph->total : 1;
    put_box(graph, &(struct box){.width = 1, .weight = graph->total, .name = {"all", 3}});
    for (uint32_t i = 0; i < out->nodes_n && status == TTR_OK; i++) {
        const ttr_profile_node *node = &out->node[i];
        if (!is_shown(graph, i))
            continue;
        put_box(graph, &(struct box){.x = graph->x[i] / total,
                                     .width = (double)node->total / total,
                                     .row = node->depth + 1,
                                     .weight = node->total,
                                     .name = profile_frame_text(out, node->frame),
                                     .frame = &out->frame[node->frame]});
        status = profile_drain(graph->out, error);
    }
    return status;
}

static void put_head(const struct graph *graph)
{
    struct buffer *to = &graph->out->to;
    double height = TOP + (double)graph->rows * ROW + BOTTOM;
    buffer_add_text(
        to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "version=\"1.1\" width=\"100%\" viewBox=\"0 0 1200 ");
    put_number(to, height, 0);
    buffer_add_text(to, "\"");
    put_attribute(to, "data-inner", INNER, 0);
    put_attribute(to, "data-margin", MARGIN, 0);
    buffer_add_text(to, ">\n");
    buffer_add_text(to, style);
    buffer_add_text(to, "<g id=\"all\"><rect id=\"back\" width=\"100%\" height=\"100%\" "
                        "fill=\"#fdfbf7\"/>\n<text class=\"title\" x=\"600\" y=\"24\">");
    put_text(to, graph->out->title, strlen(graph->out->title));
    buffer_add_text(to, "</text>\n<text id=\"info\" x=\"10\"");
    put_attribute(to, "y", height - 12, 0);
    buffer_add_text(to, "> </text>\n<text id=\"found\" x=\"1190\" text-anchor=\"end\"");
    put_attribute(to, "y", height - 12, 0);
    buffer_add_text(to, "> </text>\n<g id=\"buttons\" class=\"gone\"><text id=\"reset\" "
                        "class=\"act gone\" x=\"10\" y=\"24\">Reset zoom</text>"
                        "<text id=\"search\" class=\"act\" x=\"1190\" y=\"24\" "
                        "text-anchor=\"end\">Search</text></g>\n");
}

static ttr_status draw(struct graph *graph, ttr_error *error)
{
    lay_out(graph);
    put_head(graph);
    ttr_status status = put_boxes(graph, error);
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
        graph.total += out->node[i].parent == TTR_PROFILE_NONE ? out->node[i].total : 0;
    graph.first = alloc_zero(out->alloc, n, sizeof *graph.first);
    graph.next = alloc_zero(out->alloc, n, sizeof *graph.next);
    graph.x = alloc_zero(out->alloc, n, sizeof *graph.x);
    bool is_fine = graph.first && graph.next && graph.x && order_children(&graph);
    ttr_status status = is_fine ? draw(&graph, error) : fail_memory(error);
    alloc_free(out->alloc, graph.first, n, sizeof *graph.first);
    alloc_free(out->alloc, graph.next, n, sizeof *graph.next);
    alloc_free(out->alloc, graph.x, n, sizeof *graph.x);
    return status;
}

const struct profile_writer profile_svg = {
    .about = {"svg", "a flame graph to look at in a browser, with search and zoom", "svg",
              TTR_PROFILE_MERGED},
    .write = write_svg,
};
