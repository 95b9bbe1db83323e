/* The span forest while it is built: what tree.c and tree_activities.c share. */
#ifndef TRACETTA_PIPELINE_SPANS_TREE_FOREST_H
#define TRACETTA_PIPELINE_SPANS_TREE_FOREST_H

#include "pipeline/spans/span_stream.h"

#include <tracetta/analyse.h>

/* What is known of a span only while the forest is built. */
struct tree_side {
    uint32_t lane; /* TTR_TREE_NONE: of an activity */
    uint32_t at;   /* of an activity: its record */
    bool is_pair;
};

struct tree_lane {
    size_t number; /* of open_lane_of */
    int64_t last_end;
    uint32_t last; /* the newest unclaimed span */
};

/* What an activity's begin says of it: ids as texts. */
struct tree_activity {
    ttr_id ctx, related;
};

struct ttr_tree {
    ttr *t;
    const struct alloc *alloc;
    ttr_tree_span *span;
    struct tree_side *side;
    uint32_t n;
    size_t span_room, side_room;
    struct tree_lane *lane;
    size_t lanes_n, lane_room;
    uint32_t *lane_by_number; /* plus 1 */
    size_t numbers_n;
    uint32_t *root;
    size_t roots_n, root_room;
    struct tree_activity *activity;
    size_t activities_n, activity_room;
    uint64_t overlaps;
    bool is_disordered;
    struct span_stream stream;
};

/* Keeps what a begin says of its activity, and gives the number for span_stream_add; 0 when memory
 * is out. */
uint32_t tree_keep_activity(struct ttr_tree *tree, const ttr_event *event);

/* Nests the spans of activities by their ids, as one more chain of roots, for which there is room.
 * `keys` and `spare` have room for all spans.  False when memory is out. */
TTR_MUST bool tree_nest_activities(struct ttr_tree *tree, struct order_key *keys,
                                   struct order_key *spare);

#endif
