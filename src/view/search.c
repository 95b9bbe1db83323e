/* Search: slices with a text in their name, their number, and the next or previous one; and the
 * slice at a time.
 *
 * Names are matched once; then one pass over the name ids counts, at about 1 ns per slice. */
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

#define TEXT_MAX 256u
#define LISTED_MAX 2000u /* maximum number of names in the answer */

struct found {
    uint64_t count;
    uint32_t row;  /* row of the hit */
    uint64_t item; /* number of the hit in its row */
    int64_t start, length;
    uint32_t name;
    bool is_any;
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Returns true if a name contains the text, without regard to the case of ASCII letters. */
static bool contains_text_ignoring_case(ttr_text name, const char *text, size_t n)
{
    for (size_t i = 0; i + n <= name.n; i++) {
        size_t k = 0;
        while (k < n && lower(name.p[i + k]) == text[k])
            k++;
        if (k == n)
            return true;
    }
    return false;
}

/* Hits are ordered by start, then by row, then by their number in the row: hits of equal start are
 * visited one after the other. */
struct position {
    int64_t time, row, item;
};

static bool is_before(const struct position *a, const struct position *b)
{
    return a->time != b->time ? a->time < b->time
           : a->row != b->row ? a->row < b->row
                              : a->item < b->item;
}

/* Keeps an item as the hit if it is beyond `from` and nearer than the hit so far. Returns true if
 * it is beyond `from`. */
static bool offer_hit(const struct view_data *view, const struct position *item,
                      const struct position *from, bool is_backward, struct found *found)
{
    const struct view_row *row = &view->rows[item->row];
    const uint64_t i = (uint64_t)item->item;
    int64_t start, length;
    view_item(view, row, i, &start, &length);
    const struct position at = {start, item->row, item->item},
                          best = {found->start, found->row, (int64_t)found->item};
    if (!(is_backward ? is_before(&at, from) : is_before(from, &at)))
        return false;
    if (!found->is_any || (is_backward ? is_before(&best, &at) : is_before(&at, &best)))
        *found = (struct found){.count = found->count,
                                .row = (uint32_t)item->row,
                                .item = i,
                                .start = start,
                                .length = length,
                                .name = view->names[row->first + i],
                                .is_any = true};
    return true;
}

/* Finds the hit of a row that is nearest to a position, other than the one at the position itself.
 */
static void find_in_row(const struct view_data *view, uint32_t r, const uint8_t *marks,
                        const struct position *from, bool is_backward, struct found *found)
{
    const struct view_row *row = &view->rows[r];
    const uint32_t *names = view->names + row->first;
    uint64_t i = view_find_block(view, row, from->time);
    if (is_backward) {
        i = (i + 1) * VIEW_BLOCK < row->n ? (i + 1) * VIEW_BLOCK : row->n;
        while (i-- > 0)
            if (marks[names[i]] &&
                offer_hit(view, &(struct position){0, r, (int64_t)i}, from, true, found))
                return;
        return;
    }
    /* Several blocks can start at one time, if their items have no length. */
    while (i > 0 && view->block_starts[row->first_block + i] >= from->time)
        i--;
    for (i *= VIEW_BLOCK; i < row->n; i++)
        if (marks[names[i]] &&
            offer_hit(view, &(struct position){0, r, (int64_t)i}, from, false, found))
            return;
}

static void append_found(const struct view_data *view, const struct found *found,
                         const uint8_t *marks, struct reply *out)
{
    size_t listed = 0;
    reply_append(out, "{\"count\":", 9);
    reply_json_int(out, (int64_t)found->count);
    if (found->is_any) {
        reply_print(out, ",\"row\":%u,\"name\":%u,\"start\":", found->row, found->name);
        reply_json_int(out, found->start);
        reply_append(out, ",\"length\":", 10);
        reply_json_int(out, found->length);
        reply_append(out, ",\"item\":", 8);
        reply_json_int(out, (int64_t)found->item);
    }
    reply_append(out, ",\"names\":[", 10);
    for (size_t i = 0; i < view->texts_n && listed < LISTED_MAX; i++)
        if (marks[i])
            reply_print(out, "%s%zu", listed++ ? "," : "", i);
    reply_append(out, "]}", 2);
}

void view_answer_search(const struct view_data *view, const struct request *request,
                        struct answer *answer)
{
    char text[TEXT_MAX], direction[8] = "";
    struct position from = {.time = -1, .row = -1, .item = -1};
    struct found found = {0};
    uint8_t *marks = calloc(view->texts_n + 1, 1);
    (void)request_int(request, "t", &from.time);
    (void)request_int(request, "row", &from.row);
    (void)request_int(request, "item", &from.item);
    (void)request_text(request, "dir", direction, sizeof direction);
    if (!marks || !request_text(request, "q", text, sizeof text) || !text[0]) {
        free(marks);
        answer->status = 400;
        reply_append(&answer->body, "{\"count\":0,\"names\":[]}", 22);
        return;
    }
    const size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        text[i] = lower(text[i]);
    for (size_t i = 0; i < view->texts_n; i++)
        marks[i] = contains_text_ignoring_case(view_name(view, (uint32_t)i), text, n);
    for (uint32_t r = 0; r < view->rows_n; r++) {
        const struct view_row *row = &view->rows[r];
        if (view->tracks[row->track].kind == VIEW_COUNTER)
            continue;
        for (uint64_t i = 0; i < row->n; i++)
            found.count += marks[view->names[row->first + i]];
        find_in_row(view, r, marks, &from, direction[0] == 'p', &found);
    }
    append_found(view, &found, marks, &answer->body);
    free(marks);
}

/* Finds the item of a row that covers a time, or the nearest one at most `near` away. */
static bool find_item(const struct view_data *view, const struct view_row *row, int64_t time,
                      int64_t near, uint64_t *found)
{
    const bool is_counter = view->tracks[row->track].kind == VIEW_COUNTER;
    uint64_t i = view_find_block(view, row, time) * VIEW_BLOCK;
    int64_t best = INT64_MAX, start, length;
    i = i >= VIEW_BLOCK ? i - VIEW_BLOCK : 0;
    for (; i < row->n; i++) {
        view_item(view, row, i, &start, &length);
        if (start > time && start - time > near)
            break;
        const int64_t end = start + length;
        const int64_t distance = start > time               ? start - time
                                 : is_counter || end > time ? 0
                                                            : time - end;
        if (distance <= best) {
            best = distance;
            *found = i;
        }
    }
    return best <= near;
}

void view_answer_item(const struct view_data *view, const struct request *request,
                      struct answer *answer)
{
    int64_t row, time, near = 0, start, length;
    uint64_t i = 0;
    (void)request_int(request, "near", &near);
    if (!request_int(request, "row", &row) || !request_int(request, "t", &time) || row < 0 ||
        (uint64_t)row >= view->rows_n || time < -((int64_t)1 << 62) || near < 0) {
        answer->status = 400;
        reply_append(&answer->body, "null", 4);
        return;
    }
    const struct view_row *on = &view->rows[row];
    if (on->n == 0 || !find_item(view, on, time, near, &i)) {
        reply_append(&answer->body, "null", 4);
        return;
    }
    view_item(view, on, i, &start, &length);
    reply_print(&answer->body, "{\"row\":%u,\"name\":%u,\"start\":", (unsigned)row,
                view->names[on->first + i]);
    reply_json_int(&answer->body, start);
    reply_append(&answer->body, ",\"length\":", 10);
    reply_json_int(&answer->body, length);
    reply_append(&answer->body, ",\"item\":", 8);
    reply_json_int(&answer->body, (int64_t)i);
    reply_append(&answer->body, "}", 1);
}
