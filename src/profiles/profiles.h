/* Profile files: interface between profiles.c and the files of the output formats.
 *
 * A format appends to out->to and calls profile_flush_if_full regularly. profiles.c opens the
 * target file, writes the remaining bytes, and renames the file to its target only on success. A
 * new format is one file and one line in the table of profiles.c. */
#ifndef TRACETTA_PROFILES_PROFILES_H
#define TRACETTA_PROFILES_PROFILES_H

#include <tracetta/profile.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "base/json_writer.h"

struct sink;

struct profile_out {
    const struct ttr_profile *profile;
    const ttr *t;
    const struct alloc *alloc;
    const ttr_profile_frame *frame;
    const ttr_profile_node *node;
    const ttr_profile_thread *lane;
    uint32_t frames_n, nodes_n, lanes_n;
    const char *title;
    struct buffer to;
    struct sink *sink;
    uint32_t *path;     /* buffer for profile_stack_frames, depth_max entries */
    uint32_t depth_max; /* number of frames of the deepest stack */
    /* if stacks were too deep (depth.c): the node that represents each node of the profile, and the
     * nodes that `node` points to; else NULL */
    uint32_t *shallow;
    ttr_profile_node *copied_nodes;
    uint32_t all_nodes_n; /* number of entries of both */
    uint32_t calls;       /* number of calls of profile_flush_if_full */
    bool is_stopped;      /* the progress callback ended the work */
    bool can_stop;        /* copy of profile_writer.can_stop */
};

/* Number of frames to which formats cut stacks if they repeat all frames of each stack. */
#define PROFILE_STACK_MAX 512u

struct profile_writer {
    ttr_profile_format about;
    /* `write` ends the file properly, with fewer stacks, when out->is_stopped becomes true */
    bool can_stop;
    ttr_status (*write)(struct profile_out *out, ttr_error *error);
};

extern const struct profile_writer profile_folded, profile_speedscope, profile_pprof, profile_svg,
    profile_firefox;

/* Writes out->to to the target if it exceeds 256 KiB. Fails on write errors and if memory was
 * exhausted since the last call. Polls the progress callback of the context: if that ends the work,
 * sets out->is_stopped, or fails with TTR_AGAIN if the format cannot stop. */
TTR_MUST ttr_status profile_flush_if_full(struct profile_out *out, ttr_error *error);

/* Stores the frames of a node's stack in out->path, outermost first, and returns their number. The
 * next call overwrites them. */
uint32_t profile_stack_frames(const struct profile_out *out, uint32_t node);

/* profile_limit_depth cuts stacks to `depth_max` frames (0 = no limit) and sets out->depth_max.
 * Returns false if memory runs out. profile_free_depth frees its memory, also after a failure. */
TTR_MUST bool profile_limit_depth(struct profile_out *out, uint32_t depth_max);
void profile_free_depth(struct profile_out *out);

/* Returns the node of out->node that represents a node of the profile's timeline. */
static inline uint32_t profile_shallow_node(const struct profile_out *out, uint32_t node)
{
    return out->shallow && node != TTR_PROFILE_NONE ? out->shallow[node] : node;
}

/* Append the label of a thread, "name (tid)", and of its process, "name (pid)". */
void profile_thread_text(const struct profile_out *out, const ttr_profile_thread *lane,
                         struct buffer *to);
void profile_process_text(const struct profile_out *out, const ttr_profile_thread *lane,
                          struct buffer *to);

/* Write the label of a thread and of its process as JSON strings. */
void profile_json_thread(const struct profile_out *out, const ttr_profile_thread *lane,
                         struct json *json);
void profile_json_process(const struct profile_out *out, const ttr_profile_thread *lane,
                          struct json *json);

/* Returns the name of a frame. */
static inline ttr_text profile_frame_text(const struct profile_out *out, uint32_t frame)
{
    return ttr_text_get(out->t, out->frame[frame].name);
}

#endif
