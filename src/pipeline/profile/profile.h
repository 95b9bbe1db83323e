/* How a profile is made: what is met while reading, and what becomes of it when names are known.
 *
 *   profile.c        samples; reading, and what the public functions give
 *   profile_tree.c   the tree of what is met: places (addresses, names) called by each other;
 *                    when which node was seen, in a few bytes per change
 *   profile_spans.c  a span forest as such a tree
 *   profile_names.c   at the end: addresses become names, and places of one name one frame */
#ifndef TRACETTA_PIPELINE_PROFILE_PROFILE_H
#define TRACETTA_PIPELINE_PROFILE_PROFILE_H

#include <tracetta/analyse.h>
#include <tracetta/profile.h>
#include <tracetta/read.h>

#include "base/buffer.h"
#include "base/key_map.h"
#include "base/pair_map.h"

#define PROFILE_NONE TTR_PROFILE_NONE

/* What a frame of a stack is before names are known. */
enum place_kind { PLACE_ADDRESS, PLACE_MANAGED, PLACE_NAME, PLACE_STATE };

struct profile_place {
    uint64_t address;
    int64_t first_ns; /* when it was met first: code at an address may change */
    ttr_id thread;    /* some thread of its process */
    ttr_id name;      /* of kinds NAME and STATE */
    uint8_t kind;     /* enum place_kind; MANAGED: code of a runtime that names all of its own */
};

/* A place as called by another one. */
struct profile_met {
    uint32_t parent, place, lane;
    uint64_t self, count;
};

/* Beside a ttr_profile_thread: where its thread is. */
struct profile_state {
    uint32_t leaf;      /* of the sample before, PROFILE_NONE = there was none */
    int64_t time;       /* of that */
    struct buffer line; /* see profile_tree.c */
    int64_t line_time;
    uint32_t line_node;
};

struct ttr_profile {
    ttr *t;
    const struct alloc *alloc;
    uint32_t flags; /* TTR_PROFILE_* */
    ttr_profile_unit unit;
    bool has_samples, is_of_spans;
    uint64_t weight, count;
    ttr_profile_thread *lane;
    struct profile_state *state;
    size_t lanes_n, lane_room, state_room;
    struct pair_map lane_of; /* (thread, 0) */

    struct profile_place *place;
    size_t places_n, place_room;
    struct pair_map place_of;
    struct profile_met *met;
    size_t met_n, met_room;
    struct pair_map met_of;
    struct key_map stack_of; /* hash of a whole stack to its node */
    uint64_t *address;       /* of the stack in hand */
    size_t address_room;
    ttr_symbolizer locate; /* may be NULL */
    void *locate_user_data;
    ttr_id sampler, states[3];      /* names of the .NET sampler, and of what a thread was doing */
    ttr_id universal;               /* the provider of samples of whole machines */
    ttr_id runtime, allocations[3]; /* the provider whose allocations are samples too, and what they
                                       are called */

    ttr_profile_frame *frame;
    size_t frames_n, frame_room;
    ttr_profile_node *node;
    size_t nodes_n, node_room;
    uint32_t *renumber; /* from what was met to nodes; for time lines */
    size_t renumber_n;
};

/* --- profile_tree.c --- */

/* The lane of a thread; SIZE_MAX when memory is out. */
size_t profile_lane(struct ttr_profile *profile, ttr_id thread);

/* The place of an address, or of a name; PROFILE_NONE when memory is out. */
uint32_t profile_place(struct ttr_profile *profile, const struct profile_place *place);

/* A place called by a node, or by nobody (PROFILE_NONE), on a lane; PROFILE_NONE when memory is
 * out. */
uint32_t profile_call(struct ttr_profile *profile, uint32_t parent, uint32_t place, uint32_t lane);

/* --- profile_spans.c --- */

TTR_MUST bool profile_add_forest(struct ttr_profile *profile, const ttr_tree *tree);

/* --- profile_names.c --- */

/* Makes frames and nodes of all that was met, and forgets that. */
TTR_MUST bool profile_finish(struct ttr_profile *profile);

/* --- profile_tree.c: time lines --- */

/* From this time on the lane is in a node, or nowhere (PROFILE_NONE); times do not go back. Without
 * TTR_PROFILE_TIMELINE nothing is kept. */
TTR_MUST bool profile_line_put(struct ttr_profile *profile, size_t lane, int64_t time,
                               uint32_t met);

struct profile_line {
    const struct ttr_profile *profile;
    const uint8_t *at, *end;
    int64_t time;
    uint32_t node; /* PROFILE_NONE = nowhere */
};

void profile_line_begin(struct profile_line *line, const struct ttr_profile *profile, size_t lane);

/* Gives the next change in time and node; false at the end. */
bool profile_line_next(struct profile_line *line);

#endif
