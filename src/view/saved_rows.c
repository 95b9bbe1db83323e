/* Rows of a view as parts of a saved store (store.h), so that a trace that was shown before is
 * drawn without its tables.
 *
 * Order of calls: view_list_parts() names the arrays of rows.c, which the store saves as they are;
 * view_load_data() reads them back.
 *
 * The part "view" has 64-bit numbers: layout, start, end, and the counts of tracks, names and
 * exact blocks; the overview; 10 numbers per track; the number of items of each row.  Rows follow
 * each other, so that their offsets in the arrays are computed.
 *
 * Nothing that is read is trusted: sizes are compared before memory is allocated, and each number
 * that is an index or a time is checked.  The items of a row must be ordered, not overlap, and end
 * before the end of the trace: the answers to the page depend on it.  Cost: 12.7 bytes and about
 * 1 ns per item. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

#define LAYOUT 1 /* to be raised when the parts change */
#define HEAD_NUMBERS (6u + VIEW_OVERVIEW)
#define TRACK_NUMBERS 10u
#define HEAD_MAX ((int64_t)256 << 20)
#define ITEMS_MAX ((uint64_t)1 << 40)
#define TIME_MAX ((int64_t)1 << 62)

/* --- Saving --- */

static void append_number(struct reply *out, int64_t number)
{
    reply_append(out, &number, sizeof number);
}

static void append_head(const struct view_data *data, struct reply *out)
{
    const int64_t numbers[] = {LAYOUT,
                               data->start,
                               data->end,
                               (int64_t)data->tracks_n,
                               (int64_t)data->texts_n,
                               (int64_t)data->wides_n};
    reply_append(out, numbers, sizeof numbers);
    for (size_t i = 0; i < VIEW_OVERVIEW; i++)
        append_number(out, data->overview[i]);
    for (size_t i = 0; i < data->tracks_n; i++) {
        const struct view_track *track = &data->tracks[i];
        const int64_t about[TRACK_NUMBERS] = {track->rows,
                                              track->label,
                                              track->group,
                                              (int64_t)track->id,
                                              (int64_t)track->items,
                                              (int64_t)track->deeper,
                                              track->pid,
                                              track->tid,
                                              track->utid,
                                              track->kind};
        reply_append(out, about, sizeof about);
    }
    for (size_t i = 0; i < data->rows_n; i++)
        append_number(out, (int64_t)data->rows[i].n);
}

size_t view_list_parts(struct view_data *data, ttr_store_part *parts)
{
    reply_free(&data->saved_head);
    append_head(data, &data->saved_head);
    if (data->saved_head.failed || data->saved_head.n > (size_t)HEAD_MAX)
        return 0;
    const size_t items = (size_t)data->items_n, blocks = (size_t)data->blocks_n;
    const ttr_store_part listed[TTR_VIEW_PARTS] = {
        {"view", data->saved_head.p, data->saved_head.n},
        {"view.offsets", data->offsets, items * sizeof *data->offsets},
        {"view.lengths", data->lengths, items * sizeof *data->lengths},
        {"view.names", data->names, items * sizeof *data->names},
        {"view.starts", data->block_starts, blocks * sizeof *data->block_starts},
        {"view.summaries", data->block_summaries, blocks * sizeof *data->block_summaries},
        {"view.exact", data->block_wides, blocks * sizeof *data->block_wides},
        {"view.nodes", data->nodes, (size_t)data->nodes_n * sizeof *data->nodes},
        {"view.exact_times", data->wides, data->wides_n * sizeof *data->wides},
        {"view.texts", data->texts, data->texts_n * sizeof *data->texts},
        {"view.text_bytes", data->text_bytes.p, data->text_bytes.n},
    };
    memcpy(parts, listed, sizeof listed);
    return TTR_VIEW_PARTS;
}

/* --- Loading --- */

struct saved_rows {
    const ttr_store *store;
    const int64_t *numbers; /* next number of the head */
    size_t left;            /* numbers of the head */
    bool is_valid;
    ttr_status status; /* valid if is_valid is false */
};

static void stop_loading(struct saved_rows *from, ttr_status status)
{
    if (from->is_valid)
        from->status = status;
    from->is_valid = false;
}

/* Stops loading unless a condition holds. */
static void expect(struct saved_rows *from, bool condition)
{
    if (!condition)
        stop_loading(from, TTR_E_MALFORMED);
}

/* Reads a part of n items. Returns NULL if it is missing, damaged or of another size. */
static void *load_array(struct saved_rows *from, const char *name, uint64_t n, size_t size)
{
    const int64_t bytes = ttr_store_part_size(from->store, name);
    expect(from, bytes >= 0 && (uint64_t)bytes % size == 0 && (uint64_t)bytes / size == n);
    void *array = from->is_valid ? malloc((size_t)bytes + size) : NULL;
    if (from->is_valid && !array)
        stop_loading(from, TTR_E_NOMEM);
    if (array)
        expect(from, ttr_store_part_read(from->store, name, array, (size_t)bytes, NULL) == TTR_OK);
    return array;
}

/* Returns the next number of the head, which must be at most `most`. */
static int64_t read_number(struct saved_rows *from, int64_t least, int64_t most)
{
    expect(from, from->left > 0 && *from->numbers >= least && *from->numbers <= most);
    if (!from->is_valid)
        return least;
    from->left--;
    return *from->numbers++;
}

static void parse_track(struct saved_rows *from, struct view_data *data, struct view_track *track)
{
    const int64_t names = (int64_t)data->texts_n - 1;
    track->first_row = (uint32_t)data->rows_n;
    track->rows = (uint32_t)read_number(from, 1, VIEW_DEPTH_MAX);
    track->label = (uint32_t)read_number(from, 0, names);
    track->group = (uint32_t)read_number(from, 0, names);
    track->id = (uint64_t)read_number(from, INT64_MIN, INT64_MAX);
    track->items = (uint64_t)read_number(from, 0, INT64_MAX);
    track->deeper = (uint64_t)read_number(from, 0, INT64_MAX);
    track->pid = read_number(from, INT64_MIN, INT64_MAX);
    track->tid = read_number(from, INT64_MIN, INT64_MAX);
    track->utid = (uint32_t)read_number(from, 0, UINT32_MAX);
    track->kind = (uint8_t)read_number(from, VIEW_THREAD, VIEW_COUNTER);
    expect(from, track->rows <= from->left && data->rows_n <= UINT32_MAX - VIEW_DEPTH_MAX);
    if (from->is_valid)
        data->rows_n += track->rows;
}

static void parse_rows(struct saved_rows *from, struct view_data *data)
{
    expect(from, from->left == data->rows_n);
    data->rows = from->is_valid ? calloc(data->rows_n + 1, sizeof *data->rows) : NULL;
    if (!data->rows)
        stop_loading(from, TTR_E_NOMEM);
    size_t r = 0;
    for (size_t i = 0; from->is_valid && i < data->tracks_n; i++)
        for (uint32_t depth = 0; depth < data->tracks[i].rows; depth++) {
            const int64_t n = read_number(from, 0, (int64_t)ITEMS_MAX);
            view_place_row(data, &data->rows[r++], (uint64_t)n, (uint32_t)i, depth);
            expect(from, data->items_n <= ITEMS_MAX);
        }
}

/* Reads tracks and rows, and counts the items of the arrays. */
static void parse_head(struct saved_rows *from, struct view_data *data)
{
    (void)read_number(from, LAYOUT, LAYOUT);
    data->start = read_number(from, INT64_MIN, INT64_MAX);
    data->end = read_number(from, 0, TIME_MAX);
    data->tracks_n = (size_t)read_number(from, 0, INT32_MAX);
    data->texts_n = data->texts_capacity = (size_t)read_number(from, 1, VIEW_NAMES_MAX);
    data->wides_n = data->wides_capacity = (size_t)read_number(from, 0, UINT32_MAX);
    for (size_t i = 0; i < VIEW_OVERVIEW; i++)
        data->overview[i] = (uint32_t)read_number(from, 0, UINT32_MAX);
    expect(from, data->tracks_n <= from->left / TRACK_NUMBERS);
    data->tracks = from->is_valid ? calloc(data->tracks_n + 1, sizeof *data->tracks) : NULL;
    if (!data->tracks)
        stop_loading(from, TTR_E_NOMEM);
    for (size_t i = 0; from->is_valid && i < data->tracks_n; i++)
        parse_track(from, data, &data->tracks[i]);
    parse_rows(from, data);
}

static void load_head(struct saved_rows *from, struct view_data *data)
{
    const int64_t bytes = ttr_store_part_size(from->store, "view");
    expect(from, bytes >= 0 && bytes <= HEAD_MAX);
    int64_t *head = load_array(from, "view", bytes < 0 ? 0 : (uint64_t)bytes / 8, sizeof *head);
    from->numbers = head;
    from->left = from->is_valid ? (size_t)bytes / 8 : 0;
    parse_head(from, data);
    free(head);
}

static void load_arrays(struct saved_rows *from, struct view_data *data)
{
    const uint64_t items = data->items_n, blocks = data->blocks_n;
    const int64_t bytes = ttr_store_part_size(from->store, "view.text_bytes");
    data->offsets = load_array(from, "view.offsets", items, sizeof *data->offsets);
    data->lengths = load_array(from, "view.lengths", items, sizeof *data->lengths);
    data->names = load_array(from, "view.names", items, sizeof *data->names);
    data->block_starts = load_array(from, "view.starts", blocks, sizeof *data->block_starts);
    data->block_summaries =
        load_array(from, "view.summaries", blocks, sizeof *data->block_summaries);
    data->block_wides = load_array(from, "view.exact", blocks, sizeof *data->block_wides);
    data->nodes = load_array(from, "view.nodes", data->nodes_n, sizeof *data->nodes);
    data->wides = load_array(from, "view.exact_times", data->wides_n, sizeof *data->wides);
    data->texts = load_array(from, "view.texts", data->texts_n, sizeof *data->texts);
    expect(from, bytes >= 0 && bytes <= UINT32_MAX);
    data->text_bytes.p = load_array(from, "view.text_bytes", bytes < 0 ? 0 : (uint64_t)bytes, 1);
    data->text_bytes.n = data->text_bytes.capacity = bytes < 0 ? 0 : (size_t)bytes;
}

/* --- Checks --- */

/* Returns true if n items with times of 32 bits are ordered and end before the next block. */
static bool are_times_valid(const uint32_t *offsets, const uint32_t *lengths, size_t n,
                            uint64_t room)
{
    bool is_wrong = (uint64_t)offsets[n - 1] + lengths[n - 1] > room;
    for (size_t i = 0; i + 1 < n; i++)
        is_wrong |= (uint64_t)offsets[i] + lengths[i] > offsets[i + 1];
    return !is_wrong;
}

static bool are_exact_times_valid(const struct view_wide *wide, size_t n, int64_t start,
                                  int64_t next)
{
    for (size_t i = 0; i < n; i++) {
        if (wide->starts[i] < start || wide->starts[i] > next || wide->lengths[i] < 0 ||
            wide->lengths[i] > next - wide->starts[i])
            return false;
        start = wide->starts[i] + wide->lengths[i];
    }
    return true;
}

static bool is_block_valid(const struct view_data *data, const struct view_row *row, uint64_t b)
{
    const uint64_t block = row->first_block + b, first = row->first + b * VIEW_BLOCK;
    const uint64_t left = row->n - b * VIEW_BLOCK;
    const size_t n = left < VIEW_BLOCK ? (size_t)left : VIEW_BLOCK;
    const int64_t start = data->block_starts[block], next = data->block_starts[block + 1];
    const uint32_t exact = data->block_wides[block];
    if (start < 0 || start > next || next > data->end || exact > data->wides_n)
        return false;
    return exact ? are_exact_times_valid(&data->wides[exact - 1], n, start, next)
                 : are_times_valid(data->offsets + first, data->lengths + first, n,
                                   (uint64_t)(next - start));
}

/* Returns true if the names of slices and of their summaries are names of the view. */
static bool are_names_valid(const struct view_data *data, const struct view_row *row)
{
    const uint32_t *names = data->names + row->first;
    uint32_t most = 0;
    if (data->tracks[row->track].kind == VIEW_COUNTER)
        return true; /* values */
    for (uint64_t i = 0; i < row->n; i++)
        most = names[i] > most ? names[i] : most;
    for (uint64_t i = 0; i < row->blocks; i++) {
        const uint32_t name = data->block_summaries[row->first_block + i].name;
        most = name > most ? name : most;
    }
    for (uint64_t i = 0; i < row->nodes; i++) {
        const uint32_t name = data->nodes[row->first_node + i].name;
        most = name > most ? name : most;
    }
    return most < data->texts_n;
}

static void check_arrays(struct saved_rows *from, const struct view_data *data)
{
    for (size_t r = 0; from->is_valid && r < data->rows_n; r++) {
        const struct view_row *row = &data->rows[r];
        expect(from, are_names_valid(data, row));
        for (uint64_t b = 0; from->is_valid && b < row->blocks; b++)
            expect(from, is_block_valid(data, row, b));
    }
    for (size_t i = 0; from->is_valid && i < data->texts_n; i++) {
        const struct view_name *name = &data->texts[i];
        expect(from, name->n <= VIEW_NAME_MAX && name->offset <= data->text_bytes.n &&
                         name->n <= data->text_bytes.n - name->offset);
    }
}

struct view_data *view_load_data(const ttr_store *store, ttr_error *error)
{
    struct saved_rows from = {.store = store, .is_valid = true};
    struct view_data *data = calloc(1, sizeof *data);
    if (data) {
        load_head(&from, data);
        load_arrays(&from, data);
        check_arrays(&from, data);
        if (from.is_valid)
            return data;
    }
    view_free_data(data);
    if (!data || from.status == TTR_E_NOMEM)
        view_error(error, TTR_E_NOMEM, "memory is exhausted");
    else
        view_error(error, TTR_E_MALFORMED, "the saved rows are missing or damaged");
    return NULL;
}
