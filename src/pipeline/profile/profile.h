/* Construction of a profile.
 *
 *   profile.c        reads samples; public functions
 *   profile_tree.c   tree of frames (addresses or names) under their callers; timelines
 *   profile_spans.c  converts a span forest to such a tree
 *   profile_names.c  at the end: resolves addresses to names, joins frames with equal names
 *
 * Before names are resolved, a frame is called a place. The samples of one thread are a lane.
 *
 * Order of calls: profile_get_lane, then profile_find_or_add_place and profile_find_or_add_call per
 * frame of each sample, then profile_finish. Names are resolved last, because traces record symbols
 * at their end.
 *
 * Invariants: a parent has a lower number than its children; a place exists once per caller and
 * lane. Cost: one hash lookup for a stack that was seen before, one per frame for a new one. */
#ifndef TRACETTA_PIPELINE_PROFILE_PROFILE_H
#define TRACETTA_PIPELINE_PROFILE_PROFILE_H

#include <tracetta/analyse.h>
#include <tracetta/debug_info.h>
#include <tracetta/profile.h>

#include "base/buffer.h"
#include "base/key_map.h"
#include "base/pair_map.h"

#define PROFILE_NONE TTR_PROFILE_NONE

/* Kinds of a frame before names are resolved: an address, or already a name. */
enum place_kind { PLACE_ADDRESS, PLACE_MANAGED, PLACE_NAME, PLACE_STATE };

struct profile_place {
    uint64_t address;
    /* time in ns of the first sample with this frame; the code at an address can change later */
    int64_t first_ns;
    ttr_id thread; /* a thread of the process that executed the frame */
    ttr_id name;   /* string id for PLACE_NAME and PLACE_STATE */
    /* enum place_kind; PLACE_MANAGED: an address of managed code, in which the runtime names all
     * functions */
    uint8_t kind;
};

/* A frame below a specific caller, a tree node before names are resolved. `parent` is the index of
 * the caller's profile_met. */
struct profile_met {
    uint32_t parent, place, lane;
    uint64_t self, count;
};

/* State of a ttr_profile_thread during construction. */
struct profile_state {
    uint32_t leaf;      /* node of the thread's previous sample; PROFILE_NONE = no sample yet */
    int64_t time;       /* time in ns of that sample */
    struct buffer line; /* encoded timeline; see profile_tree.c */
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
    /* key: (thread id, 0); value: index in `lane` */
    struct pair_map lane_of;

    struct profile_place *place;
    size_t places_n, place_room;
    struct pair_map place_of;
    struct profile_met *met;
    size_t met_n, met_room;
    struct pair_map met_of;
    struct key_map stack_of; /* hash of a stack -> its node */
    uint64_t *address;       /* buffer for the current stack */
    size_t address_room;
    ttr_progress progress; /* false ends the search for names; may be NULL */
    void *progress_ctx;
    const char *of, *weight_field; /* options of the same names in ttr_profile_options */
    ttr_symbolizer locate;         /* asks the program for functions by address; may be NULL */
    void *locate_own;
    ttr_id sampler, states[3]; /* string ids: name of the .NET sampler, names of thread states */
    /* string id of the provider that samples the complete machine (record-trace) */
    ttr_id universal;
    /* string ids: the provider of allocation events that count as samples, and their names */
    ttr_id runtime, allocations[3];

    ttr_profile_frame *frame;
    size_t frames_n, frame_room;
    ttr_profile_node *node;
    size_t nodes_n, node_room;
    uint32_t *renumber; /* numbers of the nodes for timelines, indexed like `met` */
    size_t renumber_n;
};

/* --- profile_tree.c --- */

/* Returns the index in `lane` of a thread, added if it is new. Returns SIZE_MAX if memory runs
 * out. */
size_t profile_get_lane(struct ttr_profile *profile, ttr_id thread);

/* Returns the index of a frame (profile_find_or_add_place), added if it is new. Returns
 * PROFILE_NONE if memory runs out. */
uint32_t profile_find_or_add_place(struct ttr_profile *profile, const struct profile_place *place);

/* Returns the index of a frame called by `parent` (PROFILE_NONE = outermost) on the thread of
 * `lane`, added if it is new. Returns PROFILE_NONE if memory runs out. */
uint32_t profile_find_or_add_call(struct ttr_profile *profile, uint32_t parent, uint32_t place,
                                  uint32_t lane);

/* --- profile_spans.c --- */

TTR_MUST bool profile_add_forest(struct ttr_profile *profile, const ttr_tree *tree);

/* --- profile_names.c --- */

/* Resolves the collected addresses to names and builds the public frames and nodes. Frees the
 * collected data. Returns false if memory runs out. */
TTR_MUST bool profile_finish(struct ttr_profile *profile);

/* --- Timelines (profile_tree.c) --- */

/* Appends to a thread's timeline: from `time` (ns, not decreasing) on the thread is in node `met`;
 * PROFILE_NONE = idle. Does nothing without TTR_PROFILE_TIMELINE. */
TTR_MUST bool profile_timeline_append(struct ttr_profile *profile, size_t lane, int64_t time,
                                      uint32_t met);

struct profile_timeline {
    const struct ttr_profile *profile;
    const uint8_t *at, *end;
    int64_t time;
    uint32_t node; /* PROFILE_NONE = idle */
};

void profile_timeline_begin(struct profile_timeline *line, const struct ttr_profile *profile,
                            size_t lane);

/* Decodes the next change of a timeline: time and node. Returns false after the last. */
bool profile_timeline_next(struct profile_timeline *line);

#endif
