/* Profiles as files: one file of this folder and one line of its table (profiles.c) for each
 * format.
 *
 * A format appends to a buffer and hands it over now and then; the core opens the target, and puts
 * it in place when all went well. */
#ifndef TRACETTA_PROFILES_PROFILES_H
#define TRACETTA_PROFILES_PROFILES_H

#include <tracetta/profile.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "base/jsontext.h"

struct sink;

struct profile_out {
    const struct ttr_profile *profile;
    const ttr *t;
    const struct alloc *alloc;
    const ttr_profile_frame *frame;
    const ttr_profile_node *node;
    const ttr_profile_lane *lane;
    uint32_t frames_n, nodes_n, lanes_n;
    const char *title;
    struct buffer to;
    struct sink *sink;
    uint32_t *path;     /* room for the deepest stack */
    uint32_t depth_max; /* frames of that */
};

struct profile_writer {
    ttr_profile_format about;
    ttr_status (*write)(struct profile_out *out, ttr_error *error);
};

extern const struct profile_writer profile_folded, profile_speedscope, profile_pprof, profile_svg,
    profile_firefox;

/* Hands what was appended to the target, when it is much. */
TTR_MUST ttr_status profile_drain(struct profile_out *out, ttr_error *error);

/* Frames of a node from the outermost to its own in out->path: how many. */
uint32_t profile_path(const struct profile_out *out, uint32_t node);

/* Appends what a lane is called: "name (tid)", and its process: "name (pid)". */
void profile_thread_text(const struct profile_out *out, const ttr_profile_lane *lane,
                         struct buffer *to);
void profile_process_text(const struct profile_out *out, const ttr_profile_lane *lane,
                          struct buffer *to);

/* The same as a JSON string. */
void profile_json_thread(const struct profile_out *out, const ttr_profile_lane *lane,
                         struct json *json);
void profile_json_process(const struct profile_out *out, const ttr_profile_lane *lane,
                          struct json *json);

/* Name of a frame. */
static inline ttr_text profile_frame_text(const struct profile_out *out, uint32_t frame)
{
    return ttr_text_get(out->t, out->frame[frame].name);
}

#endif
