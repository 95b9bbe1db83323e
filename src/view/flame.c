/* The flame graph of a range: time of slices by their path of names, over the chosen threads.
 *
 * The rows of a thread are walked together, outermost first: the slices of depth d + 1 inside of a
 * slice of depth d are the next ones of their row.  Cost: one step per slice in the range. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

#define NODES_MAX 20000u
#define TRACKS_BYTES 16384u /* maximum length of the list of tracks in a query */
#define SLICES_MAX 50000000u
#define SLOTS 65536u /* size of the hash table; at most a third is in use */

/* A path of names. */
struct flame_node {
    uint32_t name, parent;
    int64_t total; /* ns inside of the requested range */
    uint64_t count;
};

struct flame {
    const struct view_data *view;
    const struct request *request;
    /* nodes[0] is the root; nodes[NODES_MAX] counts paths that no node is left for */
    struct flame_node *nodes;
    size_t nodes_n;
    uint32_t slots[SLOTS]; /* index of a node; 0 = free */
    uint64_t slices;
    int64_t from, to;
    uint64_t next[VIEW_DEPTH_MAX]; /* next item of each row of the thread */
    bool is_cut;
};

/* Finds the node of a name below another one by a hash table, or adds it. Returns NODES_MAX if
 * there are too many. */
static uint32_t find_child(struct flame *flame, uint32_t parent, uint32_t name)
{
    if (parent == NODES_MAX)
        return NODES_MAX;
    uint32_t at = (parent * 0x9e3779b1u ^ name * 0x85ebca6bu) % SLOTS;
    for (; flame->slots[at]; at = (at + 1) % SLOTS) {
        const struct flame_node *node = &flame->nodes[flame->slots[at]];
        if (node->parent == parent && node->name == name)
            return flame->slots[at];
    }
    if (flame->nodes_n >= NODES_MAX) {
        flame->is_cut = true;
        return NODES_MAX;
    }
    const uint32_t added = (uint32_t)flame->nodes_n++;
    flame->nodes[added] = (struct flame_node){.name = name, .parent = parent};
    flame->slots[at] = added;
    return added;
}

static bool is_cancelled(const struct request *request)
{
    return request->is_cancelled && request->is_cancelled(request->ctx);
}

/* Adds the slices of one depth that start before `end`, with those inside of them. */
static void add_depth(struct flame *flame, const struct view_track *track, uint32_t depth,
                      int64_t end, uint32_t parent)
{
    /* An explicit stack instead of recursion: paths can be 512 deep. */
    struct level {
        int64_t end;
        uint32_t node;
    } stack[VIEW_DEPTH_MAX + 1];
    uint32_t at = depth;
    stack[at] = (struct level){end, parent};
    while (flame->slices < SLICES_MAX) {
        const struct view_row *row =
            at < track->rows ? &flame->view->rows[track->first_row + at] : NULL;
        int64_t start = 0, length = 0;
        const bool is_inside =
            row && flame->next[at] < row->n &&
            (view_item(flame->view, row, flame->next[at], &start, &length), start < stack[at].end);
        if (!is_inside) {
            if (at == depth)
                return;
            at--;
            continue;
        }
        const uint32_t name = flame->view->names[row->first + flame->next[at]++];
        const int64_t low = start > flame->from ? start : flame->from;
        const int64_t high = start + length < flame->to ? start + length : flame->to;
        if (high < low || (high == low && length > 0))
            continue;
        const uint32_t node = find_child(flame, stack[at].node, name);
        if (__builtin_add_overflow(flame->nodes[node].total, high - low, &flame->nodes[node].total))
            flame->nodes[node].total = INT64_MAX;
        flame->nodes[node].count++;
        if (++flame->slices >= SLICES_MAX ||
            (flame->slices % 65536 == 0 && is_cancelled(flame->request))) {
            flame->is_cut = true;
            return;
        }
        at++;
        stack[at] = (struct level){high, node};
    }
}

static void add_thread(struct flame *flame, const struct view_track *track)
{
    for (uint32_t i = 0; i < track->rows && i < VIEW_DEPTH_MAX; i++) {
        const struct view_row *row = &flame->view->rows[track->first_row + i];
        flame->next[i] = view_find_block(flame->view, row, flame->from) * VIEW_BLOCK;
        int64_t start, length;
        for (; flame->next[i] < row->n; flame->next[i]++) {
            view_item(flame->view, row, flame->next[i], &start, &length);
            if (start + length > flame->from)
                break;
        }
    }
    add_depth(flame, track, 0, flame->to, 0);
}

/* Appends nodes as arrays [name, parent, total, count]; parents come before their children. */
static void append_nodes(const struct flame *flame, struct reply *out)
{
    reply_print(out, "{\"cut\":%s,\"nodes\":[", flame->is_cut ? "true" : "false");
    for (size_t i = 1; i < flame->nodes_n; i++) {
        const struct flame_node *node = &flame->nodes[i];
        reply_print(out, "%s[%u,%u,", i > 1 ? "," : "", node->name, node->parent);
        reply_json_int(out, node->total);
        reply_append(out, ",", 1);
        reply_json_int(out, (int64_t)node->count);
        reply_append(out, "]", 1);
    }
    reply_append(out, "]}", 2);
}

void view_answer_flame(const struct view_data *view, const struct request *request,
                       struct answer *answer)
{
    char tracks[TRACKS_BYTES] = "";
    struct flame *flame = calloc(1, sizeof *flame);
    if (flame)
        flame->nodes = calloc(NODES_MAX + 1, sizeof *flame->nodes);
    if (!flame || !flame->nodes || !request_int(request, "a", &flame->from) ||
        !request_int(request, "z", &flame->to)) {
        answer->status = 400;
        reply_append(&answer->body, "{\"cut\":false,\"nodes\":[]}", 24);
    } else {
        const bool has_list = request_text(request, "tracks", tracks, sizeof tracks) && tracks[0];
        flame->view = view;
        flame->request = request;
        flame->nodes_n = 1;
        for (size_t i = 0; i < view->tracks_n; i++) {
            char number[24];
            const int n = snprintf(number, sizeof number, ",%zu,", i);
            if (view->tracks[i].kind == VIEW_THREAD && n > 0 &&
                (!has_list || strstr(tracks, number)))
                add_thread(flame, &view->tracks[i]);
        }
        append_nodes(flame, &answer->body);
    }
    if (flame)
        free(flame->nodes);
    free(flame);
}
