/* The boxes of a window: what a row shows between two times, on so many pixels.
 *
 * Slices of one row do not overlap (rows.c).  So if the next block starts within a pixel, a block
 * has no slice longer than a pixel: it, and all blocks that start in the same pixel,
 * become one box without reading their slices.  Only other blocks are read: slices of at least a
 * pixel get a box of their own, shorter ones fold into the box of their pixel.  A folded box has
 * the name of its longest slice.
 *
 * Cost: per pixel a search in the starts of blocks, or 32 slices. */
#include <string.h>

#include "view/view.h"

/* slices shorter than this share a box: it shows as much as one pixel, and moves less */
#define FOLD_PIXELS 2
#define PIXEL_MAX ((int64_t)1 << 60) /* ns; sums with times of a window do not overflow */
#define SCALE 65535.0

/* A box that may still grow. */
struct open_box {
    int64_t from, to, edge; /* edge: end of the pixel in which it starts */
    float longest;
    uint32_t name;
    uint64_t n;
    float low, high;
};

struct painter {
    const struct view_data *view;
    const struct view_row *row;
    struct view_window *window;
    struct reply *out;
    int64_t pixel; /* width in ns of a box for several short slices */
    struct open_box box;
    uint32_t boxes;
    bool is_counter;
};

static uint16_t scale(const struct view_window *window, int64_t time)
{
    if (time <= window->from)
        return 0;
    if (time >= window->to)
        return (uint16_t)SCALE;
    const double x = (double)(time - window->from) * SCALE / (double)(window->to - window->from);
    return (uint16_t)x;
}

static void flush_box(struct painter *painter)
{
    struct open_box *box = &painter->box;
    if (box->n == 0)
        return;
    const uint16_t x = scale(painter->window, box->from), end = scale(painter->window, box->to);
    if (painter->is_counter) {
        const struct view_counter_box made = {x, (uint16_t)(end - x), box->low, box->high};
        reply_append(painter->out, &made, sizeof made);
    } else {
        uint32_t folded = 0;
        while (box->n >> (folded + 1))
            folded++;
        const struct view_box made = {x, (uint16_t)(end - x),
                                      (box->name & VIEW_NAMES_MAX) | folded << 24};
        reply_append(painter->out, &made, sizeof made);
    }
    painter->boxes++;
    box->n = 0;
}

/* Returns the end of the pixel that contains a time. */
static int64_t get_pixel_end(const struct painter *painter, int64_t time)
{
    const int64_t from = painter->window->from;
    if (time < from)
        return from;
    return from + ((time - from) / painter->pixel + 1) * painter->pixel;
}

static void open_box(struct painter *painter, int64_t from)
{
    painter->box = (struct open_box){
        .from = from, .to = from, .edge = get_pixel_end(painter, from), .longest = -1};
}

/* Adds slices that end at `to` and of which the longest is known. */
static void add_slices_to_pixel(struct painter *painter, int64_t from, int64_t to, uint64_t n,
                                const union view_summary *summary)
{
    if (painter->box.n > 0 && from >= painter->box.edge)
        flush_box(painter);
    if (painter->box.n == 0)
        open_box(painter, from);
    struct open_box *box = &painter->box;
    if (painter->is_counter) {
        box->low = box->n == 0 || summary->low < box->low ? summary->low : box->low;
        box->high = box->n == 0 || summary->high > box->high ? summary->high : box->high;
    } else if (summary->length > box->longest) {
        box->longest = summary->length;
        box->name = summary->name;
    }
    box->to = to > box->to ? to : box->to;
    box->n += n;
}

static void add_item(struct painter *painter, uint64_t i)
{
    int64_t start, length;
    const struct view_row *row = painter->row;
    const uint32_t name = painter->view->names[row->first + i];
    view_item(painter->view, row, i, &start, &length);
    if (painter->is_counter) { /* a value holds until the next one */
        int64_t next = painter->view->end, unused;
        if (i + 1 < row->n)
            view_item(painter->view, row, i + 1, &next, &unused);
        length = next - start;
    }
    if (start >= painter->window->to || (start + length < painter->window->from) ||
        (start + length == painter->window->from && length > 0))
        return;
    union view_summary summary;
    if (painter->is_counter) {
        float value;
        memcpy(&value, &name, sizeof value);
        summary.low = value;
        summary.high = value;
    } else {
        summary.length = (float)length;
        summary.name = name;
    }
    if (length >= painter->pixel)
        flush_box(painter);
    add_slices_to_pixel(painter, start, start + length, 1, &summary);
    if (length >= painter->pixel)
        flush_box(painter);
}

/* Merges the summaries of blocks [b, end) into one, by nodes where it can. */
static union view_summary summarise(const struct painter *painter, uint64_t b, uint64_t end)
{
    const struct view_row *row = painter->row;
    const union view_summary *blocks = painter->view->block_summaries + row->first_block;
    const union view_summary *nodes = painter->view->nodes + row->first_node;
    union view_summary sum = blocks[b];
    while (b < end) {
        const bool is_node = b % VIEW_BLOCK == 0 && end - b >= VIEW_BLOCK;
        const union view_summary *one = is_node ? &nodes[b / VIEW_BLOCK] : &blocks[b];
        if (painter->is_counter) {
            sum.low = one->low < sum.low ? one->low : sum.low;
            sum.high = one->high > sum.high ? one->high : sum.high;
        } else if (one->length > sum.length) {
            sum = *one;
        }
        b += is_node ? VIEW_BLOCK : 1;
    }
    return sum;
}

/* Returns the first block from b on that starts at or after a time, by galloping. */
static uint64_t find_first_block_from(const int64_t *starts, uint64_t b, uint64_t blocks,
                                      int64_t time)
{
    uint64_t step = 1, low = b;
    while (low + step < blocks && starts[low + step] < time) {
        low += step;
        step *= 2;
    }
    uint64_t high = low + step < blocks ? low + step : blocks;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (starts[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void paint(struct painter *painter)
{
    const struct view_row *row = painter->row;
    const int64_t *starts = painter->view->block_starts + row->first_block;
    uint64_t b = view_find_block(painter->view, row, painter->window->from);
    while (b < row->blocks && starts[b] < painter->window->to) {
        const int64_t edge = get_pixel_end(painter, starts[b]);
        uint64_t next = find_first_block_from(starts, b, row->blocks, edge);
        /* Only the last block can reach beyond the pixel. */
        if (next > b && starts[next] - starts[next - 1] > painter->pixel)
            next--;
        if (next > b && starts[next] - starts[b] >= 0 && starts[next] > painter->window->from) {
            const union view_summary summary = summarise(painter, b, next);
            const uint64_t last = next * VIEW_BLOCK < row->n ? next * VIEW_BLOCK : row->n;
            add_slices_to_pixel(painter, starts[b], starts[next], last - b * VIEW_BLOCK, &summary);
            b = next;
            continue;
        }
        painter->window->opened++;
        for (uint64_t i = b * VIEW_BLOCK; i < (b + 1) * VIEW_BLOCK && i < row->n; i++)
            add_item(painter, i);
        b++;
    }
    flush_box(painter);
}

static uint32_t paint_row(const struct view_data *view, const struct view_row *row,
                          struct view_window *window, struct reply *out, bool is_counter)
{
    const int64_t range = window->to - window->from;
    struct painter painter = {
        .view = view, .row = row, .window = window, .out = out, .is_counter = is_counter};
    painter.pixel = range / (window->width ? window->width : 1);
    painter.pixel = painter.pixel > PIXEL_MAX / FOLD_PIXELS ? PIXEL_MAX
                    : painter.pixel > 0                     ? painter.pixel * FOLD_PIXELS
                                                            : 1;
    paint(&painter);
    return painter.boxes;
}

uint32_t view_window_slices(const struct view_data *view, const struct view_row *row,
                            struct view_window *window, struct reply *out)
{
    return paint_row(view, row, window, out, false);
}

uint32_t view_window_counter(const struct view_data *view, const struct view_row *row,
                             struct view_window *window, struct reply *out)
{
    return paint_row(view, row, window, out, true);
}
