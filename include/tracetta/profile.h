/* Profiles: time or counts by call stack, as a tree of frames per thread.
 *
 * A profile is built from stack samples, or from nested spans if the trace has no samples.
 * ttr_profile_write writes it for other tools.  The caller frees the profile; arrays are borrowed
 * from it.  Other conventions as in tracetta.h. */
#ifndef TRACETTA_PROFILE_H
#define TRACETTA_PROFILE_H

#include "debug_info.h"
#include "tracetta.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_profile ttr_profile;

#define TTR_PROFILE_NONE UINT32_MAX

/* Flags.  SAMPLES, SPANS: build the profile only from these; with neither, from samples, or from
 * spans if it has no samples.  MERGED: one tree of all threads.  TIMELINE: keep the time of each
 * sample, some bytes per sample; not with MERGED.  STATES: add the thread's state ("CPU_TIME")
 * below the innermost frame, if the trace records it.  MANAGED: only samples taken in managed code,
 * of traces that record that. */
#define TTR_PROFILE_SAMPLES 1u
#define TTR_PROFILE_SPANS 2u
#define TTR_PROFILE_MERGED 4u
#define TTR_PROFILE_TIMELINE 8u
#define TTR_PROFILE_STATES 16u
#define TTR_PROFILE_MANAGED 32u

typedef struct ttr_profile_options {
    size_t size;
    uint32_t flags;        /* TTR_PROFILE_* */
    ttr_progress progress; /* may be NULL */
    void *user_data;
    /* finds functions of mapped files that the trace does not name; may be NULL */
    ttr_symbolizer locate;
    void *locate_user_data;
    /* glob pattern of event names: build the profile from the stacks of these events instead of
     * samples.  A context switch has the stack of the outgoing thread, and its weight is the time
     * until that thread runs again (off-CPU time); without a name it is a "switch".  NULL = samples
     * or spans */
    const char *of;
    /* with `of`: name of the numeric field that is the weight of an event; NULL = 1 per event */
    const char *weight;
} ttr_profile_options;

/* Unit of all weights. */
typedef enum ttr_profile_unit {
    TTR_PROFILE_COUNT = 0, /* samples, or the sum of their field "period" */
    TTR_PROFILE_NS = 1
} ttr_profile_unit;

/* A function, span name or state.  Each occurs once. */
typedef struct ttr_profile_frame {
    ttr_id name;          /* a string for display, "module!function(arguments)" */
    ttr_id module;        /* a string; 0 = unknown */
    uint64_t self, total; /* weights; recursive calls count once in `total` */
    bool is_state;        /* see TTR_PROFILE_STATES */
} ttr_profile_frame;

/* A frame under a specific caller.  Parents precede their children. */
typedef struct ttr_profile_node {
    uint32_t parent, first_child,
        next; /* indices of nodes, TTR_PROFILE_NONE = none; siblings in order of first occurrence */
    uint32_t frame;
    uint32_t lane;
    uint32_t depth; /* 0 = outermost */
    uint64_t self, total;
    uint64_t count; /* samples or spans that ended here */
} ttr_profile_node;

/* A thread of the profile. */
typedef struct ttr_profile_thread {
    ttr_id thread;          /* 0 = unknown, or a merged profile */
    uint32_t first_root;    /* index of a node; TTR_PROFILE_NONE if no sample has a stack */
    uint64_t count, weight; /* of its samples */
    int64_t first_ns, last_ns;
} ttr_profile_thread;

/* Builds a profile; open the reader with TTR_READ_SYMBOLS.  The weight of a sample is 1 or its
 * field "period".  The .NET SampleProfiler is an exception: the weight is the time to the thread's
 * next sample. Sums of weights stop at UINT64_MAX. The first sample decides for all.  Memory grows
 * with the number of distinct stacks, and by 72 bytes per span.  If `progress` stops it
 * (error->status TTR_AGAIN) or reading fails
 * (`error`), the profile so far is returned. Returns NULL only if memory is exhausted. */
TTR_API ttr_profile *ttr_profile_new(ttr *t, ttr_reader *in, const ttr_profile_options *options,
                                     ttr_error *error);
TTR_API void ttr_profile_free(ttr_profile *profile);

/* Returns the unit of the weights. */
TTR_API ttr_profile_unit ttr_profile_get_unit(const ttr_profile *profile);

/* Returns true if the profile is built from spans. */
TTR_API bool ttr_profile_is_of_spans(const ttr_profile *profile);

/* Return the number of frames, nodes and threads, and the array of them.  Threads are in order of
 * first occurrence. */
TTR_API uint32_t ttr_profile_frames(const ttr_profile *profile, const ttr_profile_frame **frames);
TTR_API uint32_t ttr_profile_nodes(const ttr_profile *profile, const ttr_profile_node **nodes);
TTR_API uint32_t ttr_profile_threads(const ttr_profile *profile, const ttr_profile_thread **lanes);

/* Return the sum of all weights, and the number of samples. */
TTR_API uint64_t ttr_profile_weight(const ttr_profile *profile);
TTR_API uint64_t ttr_profile_count(const ttr_profile *profile);

/* Writes the short form of a frame's name for narrow places, "Class.Method", without module,
 * namespaces, arguments and template arguments.  Writes at most `room` bytes and returns their
 * number.  A name without a class is kept as it is. */
TTR_API size_t ttr_profile_label(ttr_text name, char *to, size_t room);

/* --- Files --- */

typedef struct ttr_profile_format {
    /* "folded"; one line of help; file extensions "folded txt"; static */
    const char *name, *title, *suffixes;
    uint32_t flags; /* TTR_PROFILE_* with which to build a profile for this format */
    /* stacks are cut to so many frames, and weights of deeper frames added to the last one, because
     * files would grow with the square of the depth; 0 = not */
    uint32_t depth_max;
} ttr_profile_format;

/* Copies the i-th format for profiles; returns false after the last. */
TTR_API bool ttr_profile_format_get(size_t i, ttr_profile_format *format);

/* Writes the profile to a path, or to stdout for "-".  `title` is the profile's name in the file;
 * flags: TTR_WRITE_OVERWRITE or 0.  Returns TTR_AGAIN if the progress callback of the context
 * (ttr_progress_set) stopped it: folded, pprof and speedscope then have the stacks so far, other
 * formats are not written. */
TTR_API TTR_MUST ttr_status ttr_profile_write(const ttr_profile *profile, const char *path,
                                              const char *format, const char *title, uint32_t flags,
                                              ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
