/* The data of a report: the trace, reduced so that the file has at most 5 MB.
 *
 * Parts of fixed size come first: the tracks with the most items, tables, the flame graph.  The
 * boxes get the bytes that are left: all rows are painted once, over the whole trace; the width is
 * halved until the compressed boxes fit, then counters are left out, then the last rows.  Names are
 * those that tracks, boxes and the flame graph use. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "view/view.h"

#define FILE_BYTES 4900000u
#define PAGE_BYTES 100000u /* size of the style and scripts of the page, in bytes */
#define NAME_BYTES 400000u
#define BOX_BYTES_MIN 500000u /* compressed; base64 makes them a third larger */
#define BOX_BYTES_MAX (3u << 20)
#define TRACKS_MAX 10000u
#define WIDTH_FIRST 8192u
#define WIDTH_LAST 512u

static const struct {
    const char *title, *sql;
} tables[] = {
    {"Slices", "SELECT name, count(*) AS count, sum(max(dur, 0)) AS total, sum(self_dur) AS self, "
               "avg(dur) AS average, percentile(dur, 99) AS p99, max(dur) AS max "
               "FROM slice GROUP BY name ORDER BY total DESC LIMIT 300"},
    {"Longest", "SELECT ts, name, dur, thread_name AS thread FROM slice "
                "ORDER BY slice.dur DESC LIMIT 100"},
    {"Scheduling",
     "SELECT thread.name AS thread, tid, count(*) AS count, sum(max(dur, 0)) AS running, "
     "max(dur) AS longest FROM sched JOIN thread USING (utid) WHERE tid <> 0 "
     "GROUP BY utid ORDER BY running DESC LIMIT 300"},
    {"Threads", "SELECT thread.name AS thread, tid, process.name AS process, pid "
                "FROM thread LEFT JOIN process USING (upid) ORDER BY pid, tid LIMIT 500"},
    {"Losses", "SELECT ts, dur, count, unit FROM loss ORDER BY ts LIMIT 300"},
    {"Inputs", "SELECT path, format FROM source"},
};

/* The part of a trace that fits into a report. */
struct reduction {
    const struct view_data *data;
    uint8_t *has_track; /* per track: 1 if the report contains it */
    size_t tracks_n;
    uint32_t *rows;
    size_t rows_n;
    uint32_t width;
    bool has_counters;
    struct reply boxes;  /* boxes as the page reads them */
    struct reply packed; /* compressed boxes */
    uint8_t *has_name;   /* per name id: 1 or 2 if the report uses the name */
    size_t names_left;   /* used names that did not fit */
};

static void append_base64(struct reply *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const uint32_t three = (uint32_t)bytes[i] << 16 |
                               (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                               (i + 2 < n ? bytes[i + 2] : 0);
        char text[4];
        for (size_t k = 0; k < 4; k++)
            text[k] = k <= n - i ? digits[three >> (18 - 6 * k) & 63] : '=';
        reply_append(out, text, 4);
    }
}

/* --- Tracks --- */

static int compare_items(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a > *b ? -1 : *a < *b;
}

/* Keeps the tracks with the most items. Returns false if memory is exhausted. */
static bool choose_tracks(struct reduction *reduction)
{
    const struct view_data *data = reduction->data;
    uint64_t least = 0, *items = malloc((data->tracks_n + 1) * sizeof *items);
    if (!items)
        return false;
    for (size_t i = 0; i < data->tracks_n; i++)
        items[i] = data->tracks[i].items;
    qsort(items, data->tracks_n, sizeof *items, compare_items);
    if (data->tracks_n > TRACKS_MAX)
        least = items[TRACKS_MAX - 1];
    free(items);
    for (size_t i = 0; i < data->tracks_n && reduction->tracks_n < TRACKS_MAX; i++) {
        reduction->has_track[i] = data->tracks[i].items >= least;
        reduction->tracks_n += reduction->has_track[i];
    }
    return true;
}

static void append_tracks(const struct reduction *reduction, struct reply *out)
{
    const char *comma = "";
    reply_append(out, "[", 1);
    for (size_t i = 0; i < reduction->data->tracks_n; i++) {
        if (!reduction->has_track[i])
            continue;
        reply_print(out, "%s", comma);
        view_append_track(&reduction->data->tracks[i], out);
        comma = ",";
    }
    reply_append(out, "]", 1);
}

/* --- Boxes --- */

/* Paints and compresses the rows. Returns false if memory is exhausted. */
static bool pack_rows(struct reduction *reduction)
{
    const struct view_data *data = reduction->data;
    struct reply *packed = &reduction->packed;
    struct view_window window = {
        .from = 0, .to = data->end > 0 ? data->end : 1, .width = reduction->width};
    reduction->boxes.n = 0;
    view_append_window(data, reduction->rows, reduction->rows_n, &window, &reduction->boxes);
    uLongf size = compressBound((uLong)reduction->boxes.n);
    packed->n = 0;
    if (packed->capacity < size) {
        reply_free(packed);
        packed->p = malloc(size);
        packed->capacity = packed->p ? size : 0;
    }
    const bool is_fine = packed->p && !reduction->boxes.failed &&
                         compress2((Bytef *)packed->p, &size, (const Bytef *)reduction->boxes.p,
                                   (uLong)reduction->boxes.n, 6) == Z_OK;
    packed->n = is_fine ? (size_t)size : 0;
    return is_fine;
}

static void list_rows(struct reduction *reduction, bool has_counters)
{
    const struct view_data *data = reduction->data;
    reduction->has_counters = has_counters;
    reduction->rows_n = 0;
    for (size_t i = 0; i < data->rows_n; i++)
        if (reduction->has_track[data->rows[i].track] &&
            (has_counters || data->tracks[data->rows[i].track].kind != VIEW_COUNTER))
            reduction->rows[reduction->rows_n++] = (uint32_t)i;
}

/* Chooses the largest width in pixels at which the rows fit into `bytes`. Returns false if memory
 * is exhausted. */
static bool reduce(struct reduction *reduction, size_t bytes)
{
    reduction->width = WIDTH_FIRST;
    list_rows(reduction, true);
    for (;;) {
        if (!pack_rows(reduction))
            return false;
        if (reduction->packed.n <= bytes || reduction->rows_n <= 1)
            return true;
        if (reduction->width > WIDTH_LAST)
            reduction->width /= 2;
        else if (reduction->has_counters)
            list_rows(reduction, false);
        else
            reduction->rows_n -= reduction->rows_n / 4 + 1;
    }
}

/* --- Names --- */

static void mark_name(struct reduction *reduction, uint32_t name)
{
    if (name < reduction->data->texts_n)
        reduction->has_name[name] = 1;
}

static void mark_names_of_boxes(struct reduction *reduction)
{
    const struct view_data *data = reduction->data;
    const char *at = reduction->boxes.p + 16 + 8 * reduction->rows_n;
    for (size_t i = 0; i < reduction->rows_n; i++) {
        const struct view_row *row = &data->rows[reduction->rows[i]];
        const bool is_counter = data->tracks[row->track].kind == VIEW_COUNTER;
        uint32_t n;
        memcpy(&n, reduction->boxes.p + 16 + 4 * (reduction->rows_n + i), sizeof n);
        for (; n > 0;
             n--, at += is_counter ? sizeof(struct view_counter_box) : sizeof(struct view_box)) {
            struct view_box box;
            memcpy(&box, at, sizeof box);
            if (!is_counter)
                mark_name(reduction, box.name_and_folded & VIEW_NAMES_MAX);
        }
    }
}

/* Marks the names of a flame graph: the first number of each array "[name,parent,total,count]". */
static void mark_names_of_flame(struct reduction *reduction, const struct reply *flame)
{
    for (size_t i = 0; i + 1 < flame->n; i++)
        if (flame->p[i] == '[' && flame->p[i + 1] != '[')
            mark_name(reduction, (uint32_t)strtoul(flame->p + i + 1, NULL, 10));
}

/* Appends the marked names by their ids, those of tracks first, up to NAME_BYTES. */
static void append_names(struct reduction *reduction, struct reply *out)
{
    const struct view_data *data = reduction->data;
    const size_t begin = out->n;
    const char *comma = "";
    for (size_t i = 0; i < data->tracks_n; i++)
        if (reduction->has_track[i]) {
            reduction->has_name[data->tracks[i].label] = 2;
            reduction->has_name[data->tracks[i].group] = 2;
        }
    reply_append(out, "{", 1);
    for (uint8_t mark = 2; mark > 0; mark--)
        for (size_t i = 0; i < data->texts_n; i++) {
            if (reduction->has_name[i] != mark)
                continue;
            if (out->n - begin > NAME_BYTES) {
                reduction->names_left++;
                continue;
            }
            const ttr_text name = view_name(data, (uint32_t)i);
            reply_print(out, "%s\"%zu\":", comma, i);
            reply_json_text(out, name.p, name.n);
            comma = ",";
        }
    reply_append(out, "}", 1);
}

/* --- All --- */

static void append_tables(ttr_view *view, struct reply *out)
{
    reply_append(out, ",\"tables\":[", 11);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        reply_print(out, i ? ",[" : "[");
        reply_json_text(out, tables[i].title, strlen(tables[i].title));
        reply_append(out, ",", 1);
        reply_json_text(out, tables[i].sql, strlen(tables[i].sql));
        reply_append(out, "]", 1);
    }
    reply_append(out, "],\"results\":{", 13);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        reply_print(out, i ? "," : "");
        reply_json_text(out, tables[i].sql, strlen(tables[i].sql));
        reply_append(out, ":", 1);
        view_append_query(view, tables[i].sql, 500, NULL, out);
    }
    reply_append(out, "}", 1);
}

/* Appends a note for the reader: the columns, rows, tracks and names that the report left out. */
static void append_note(const struct reduction *reduction, struct reply *out)
{
    const struct view_data *data = reduction->data;
    reply_print(out, ",\"note\":\"reduced: %" PRIu32 " columns%s, %zu of %zu rows",
                reduction->width, reduction->has_counters ? "" : " without counters",
                reduction->rows_n, data->rows_n);
    if (reduction->tracks_n < data->tracks_n)
        reply_print(out, ", the busiest %zu of %zu tracks", reduction->tracks_n, data->tracks_n);
    if (reduction->names_left)
        reply_print(out, ", %zu names left out", reduction->names_left);
    reply_append(out, "\"", 1);
}

/* Appends the parts after tracks and tables. Returns false if memory is exhausted. */
static bool append_reduced(struct reduction *reduction, size_t begin, struct reply *out)
{
    char range[64];
    struct answer flame = {0};
    (void)snprintf(range, sizeof range, "a=0&z=%" PRId64, reduction->data->end + 1);
    const struct request all = {.path = "/flame", .query = range};
    view_answer_flame(reduction->data, &all, &flame);
    reply_append(out, ",\"flame\":", 9);
    reply_append(out, flame.body.p, flame.body.n);
    const size_t fixed = out->n - begin + PAGE_BYTES + NAME_BYTES;
    const size_t left = fixed < FILE_BYTES ? (FILE_BYTES - fixed) / 4 * 3 : 0;
    const bool is_fine =
        !flame.body.failed && reduce(reduction, left < BOX_BYTES_MIN   ? BOX_BYTES_MIN
                                                : left > BOX_BYTES_MAX ? BOX_BYTES_MAX
                                                                       : left);
    if (is_fine) {
        mark_names_of_boxes(reduction);
        mark_names_of_flame(reduction, &flame.body);
        reply_append(out, ",\"names\":", 9);
        append_names(reduction, out);
        append_note(reduction, out);
        reply_append(out, ",\"window\":\"", 11);
        append_base64(out, (const unsigned char *)reduction->packed.p, reduction->packed.n);
        reply_append(out, "\"};\n", 4);
    }
    reply_free(&flame.body);
    return is_fine;
}

bool view_append_report(ttr_view *view, struct reply *out)
{
    const struct view_data *data = view->data;
    const size_t begin = out->n;
    struct reduction reduction = {.data = data,
                                  .rows = calloc(data->rows_n + 1, sizeof *reduction.rows),
                                  .has_track = calloc(data->tracks_n + 1, 1),
                                  .has_name = calloc(data->texts_n + 1, 1)};
    bool is_fine =
        reduction.rows && reduction.has_track && reduction.has_name && choose_tracks(&reduction);
    if (is_fine) {
        reply_print(out, "globalThis.tracettaReport = {\"info\":");
        view_append_info(data, out);
        reply_append(out, ",\"tracks\":", 10);
        append_tracks(&reduction, out);
        append_tables(view, out);
        is_fine = append_reduced(&reduction, begin, out);
    }
    reply_free(&reduction.boxes);
    reply_free(&reduction.packed);
    free(reduction.rows);
    free(reduction.has_track);
    free(reduction.has_name);
    return is_fine && !out->failed;
}
