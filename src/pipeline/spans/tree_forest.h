/* State of the span forest during construction, shared by tree.c and tree_activities.c. */
#ifndef TRACETTA_PIPELINE_SPANS_TREE_FOREST_H
#define TRACETTA_PIPELINE_SPANS_TREE_FOREST_H

#include "pipeline/spans/span_stream.h"

#include <tracetta/analyse.h>

/* Data of a span that is only needed during construction. */
struct tree_side {
    uint32_t lane; /* index of its lane; TTR_TREE_NONE: an activity */
    uint32_t at;   /* of an activity: index of its tree_activity */
    bool is_pair;
};

struct tree_lane {
    size_t number; /* lane number from open_lane_of */
    int64_t last_end;
    uint32_t last; /* the newest unclaimed span of the lane */
};

/* Ids of an activity as strings, recorded by its begin: its own, and that of the related activity.
 */
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
    uint32_t *lane_by_number; /* by lane number: index of the lane plus 1 */
    size_t numbers_n;
    uint32_t *root;
    size_t roots_n, root_room;
    struct tree_activity *activity;
    size_t activities_n, activity_room;
    uint64_t overlaps;
    bool is_disordered;
    struct span_stream stream;
};

/* Stores the ids of an activity's begin and returns its number for span_stream_add; 0 if memory is
 * exhausted. */
uint32_t tree_add_activity(struct ttr_tree *tree, const ttr_event *event);

/* Builds the lists of activity spans, nested by their ids, as one more list of roots, for which
 * space exists. `keys` and `spare` are scratch space for all spans. Returns false if memory runs
 * out. */
TTR_MUST bool tree_nest_activities(struct ttr_tree *tree, struct order_key *keys,
                                   struct order_key *spare);

#endif
