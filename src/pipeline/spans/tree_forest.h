/* State of the span forest during construction, shared by tree.c and tree_activities.c. */
#ifndef TRACETTA_PIPELINE_SPANS_TREE_FOREST_H
#define TRACETTA_PIPELINE_SPANS_TREE_FOREST_H

#include "pipeline/spans/span_stream.h"

#include <tracetta/analyse.h>

/* Construction data of a span; freed when the forest is complete. */
struct tree_side {
    uint32_t lane; /* index in `lane` of the span's thread or track; TTR_TREE_NONE: an activity */
    uint32_t at;   /* stamp for spans with equal times (nesting.h); for an activity: index of its
                    * tree_activity */
    bool is_pair;
};

struct tree_lane {
    size_t number; /* thread or track, as numbered by open_spans_get_lane */
    int64_t last_end;
    uint32_t last; /* the most recent unclaimed span */
};

/* Ids of an activity as string ids: its id, and that of the related activity. Recorded by its
 * begin. */
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
    uint32_t *lane_by_number; /* by open_spans_get_lane: index in `lane`, plus 1 */
    size_t numbers_n;
    uint32_t *root;
    size_t roots_n, root_room;
    struct tree_activity *activity;
    size_t activities_n, activity_room;
    uint64_t overlaps;
    bool is_disordered;
    struct span_stream stream;
};

/* Stores the activity ids of a begin. Returns the activity's number for span_stream_add; 0 if
 * memory is exhausted. */
uint32_t tree_add_activity(struct ttr_tree *tree, const ttr_event *event);

/* Nests activity spans by their ids and appends their roots as one more list, for which space
 * exists. `keys` and `spare` are scratch space for all spans. Returns false if memory runs out. */
TTR_MUST bool tree_nest_activities(struct ttr_tree *tree, struct order_key *keys,
                                   struct order_key *spare);

#endif
