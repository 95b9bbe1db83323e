/* Profiles: where time went, by stacks of frames.
 *
 * A profile is made of samples (stacks taken now and then), or of spans that nest, whichever a
 * trace has.  It is a tree of frames per thread, or one of all threads together, and can be written
 * as files that other tools open. Ownership: a profile is the caller's until freed; what it gives
 * is borrowed from it.  Thread rule as in event.h. */
#ifndef TRACETTA_PROFILE_H
#define TRACETTA_PROFILE_H

#include "read.h"
#include "write.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_profile ttr_profile;

#define TTR_PROFILE_NONE UINT32_MAX

#define TTR_PROFILE_SAMPLES \
    1u /* of samples alone; with neither of both: of samples, of spans where there are none */
#define TTR_PROFILE_SPANS 2u  /* of spans alone */
#define TTR_PROFILE_MERGED 4u /* all threads together */
#define TTR_PROFILE_TIMELINE \
    8u /* keep when which stack was seen, which costs some bytes a sample; not when merged */
#define TTR_PROFILE_STATES                                                              \
    16u /* below the innermost frame, what the thread was doing where the trace says so \
           ("CPU_TIME") */

typedef struct ttr_profile_options {
    size_t size;           /* sizeof(ttr_profile_options) */
    uint32_t flags;        /* TTR_PROFILE_* */
    ttr_progress progress; /* may be NULL */
    void *ctx;
    ttr_symbolizer locate; /* asked for functions in files that were mapped, whose names the trace
                           does not tell; NULL = nobody is */
    void *locate_user_data;
} ttr_profile_options;

/* What weights count. */
typedef enum ttr_profile_unit {
    TTR_PROFILE_COUNT = 0, /* samples, or what each stands for where it says so (field "period") */
    TTR_PROFILE_NS = 1
} ttr_profile_unit;

/* A function, a span's name, a state; each once. */
typedef struct ttr_profile_frame {
    ttr_id name;          /* as shown: "module!function(arguments)" */
    ttr_id module;        /* 0 = unknown */
    uint64_t self, total; /* total: calls of itself counted once */
    bool is_state;        /* see TTR_PROFILE_STATES */
} ttr_profile_frame;

/* A frame as called by its parent.  Parents stand before their children. */
typedef struct ttr_profile_node {
    uint32_t parent, first_child,
        next; /* TTR_PROFILE_NONE = none; siblings in the order they were met */
    uint32_t frame;
    uint32_t lane;
    uint32_t depth; /* 0 = outermost */
    uint64_t self, total;
    uint64_t count; /* samples (spans) that ended here */
} ttr_profile_node;

/* A thread. */
typedef struct ttr_profile_thread {
    ttr_id thread;          /* 0 = unknown, or of a merged profile */
    uint32_t first_root;    /* node, TTR_PROFILE_NONE = it has only samples without stacks */
    uint64_t count, weight; /* of its samples */
    int64_t first_ns, last_ns;
} ttr_profile_thread;

/* Reads to the end (the reader should have been opened with TTR_READ_SYMBOLS).  A sample of the
 * .NET SampleProfiler weighs the time to the next of its thread, another one 1 or its period; the
 * first of all decides.  Memory grows with distinct stacks (and spans, 72 bytes each).  Ended early
 * by `progress` it gives what there is, and error->status is TTR_AGAIN; where reading fails
 * half-way it gives that too, and `error` says why. NULL only when memory is out. */
TTR_API ttr_profile *ttr_profile_new(ttr *t, ttr_reader *in, const ttr_profile_options *options,
                                     ttr_error *error);
TTR_API void ttr_profile_free(ttr_profile *profile);

/* What its weights count. */
TTR_API ttr_profile_unit ttr_profile_get_unit(const ttr_profile *profile);

/* Whether it is made of spans. */
TTR_API bool ttr_profile_is_of_spans(const ttr_profile *profile);

/* Frames, nodes, and threads in the order they were met: how many there are. */
TTR_API uint32_t ttr_profile_frames(const ttr_profile *profile, const ttr_profile_frame **frames);
TTR_API uint32_t ttr_profile_nodes(const ttr_profile *profile, const ttr_profile_node **nodes);
TTR_API uint32_t ttr_profile_threads(const ttr_profile *profile, const ttr_profile_thread **lanes);

/* Sum of all weights, and number of samples. */
TTR_API uint64_t ttr_profile_weight(const ttr_profile *profile);
TTR_API uint64_t ttr_profile_count(const ttr_profile *profile);

/* --- Files --- */

typedef struct ttr_profile_format {
    const char *name, *title, *suffixes; /* "folded", one line, "folded txt"; static */
    uint32_t flags; /* TTR_PROFILE_* that a profile for it should be made with */
} ttr_profile_format;

/* Gives the i-th format that profiles can be written in; false past the end. */
TTR_API bool ttr_profile_format_get(size_t i, ttr_profile_format *format);

/* Writes a file of a format: any path, "-" is standard output; `title` is what the profile is
 * called; flags are TTR_WRITE_OVERWRITE or 0. */
TTR_API TTR_MUST ttr_status ttr_profile_write(const ttr_profile *profile, const char *path,
                                              const char *format, const char *title, uint32_t flags,
                                              ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
