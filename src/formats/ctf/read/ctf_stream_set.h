/* The inputs of a trace, or of several folders found together: in which order they are merged, and
 * which of them are one stream.
 *
 * Folders whose metadata have one uuid are one trace: rotated chunks of a session, snapshots.  A
 * data stream (by its class and its number) that goes on in another file, there or in the same
 * folder, goes on with its counters; packets that an earlier file had are left out. Ownership: the
 * set holds the inputs until ctf_stream_set_merge takes them over.  Thread rule: one thread. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_STREAM_SET_H
#define TRACETTA_FORMATS_CTF_READ_CTF_STREAM_SET_H

#include "formats/ctf/read/ctf_build_index.h"

/* A lane of a stream file that was opened. */
struct ctf_opened_queue {
    struct input *in;
    const struct ctf_trace *trace; /* of it; ctf_stream_set_add fills it in */
    bool is_shared;  /* `in` is that of the first lane of its file, which reads this one too: copies
                        want packets in the order of the file */
    uint32_t lane_i; /* of the file */
    struct ctf_packet_queue queue;
    uint64_t number; /* of its data stream: as packets say, or counted in the order of names; which
                        does not order files of v1.1 */
    size_t folder, file; /* in the order of names */
};

struct ctf_stream_set {
    ttr *t;
    const ttr_read_options *options;
    size_t files;                 /* there may be at most */
    size_t chunk;                 /* of windows, see source_chunk_size */
    struct ctf_prefix_set *grown; /* what is known of metadata of several folders, while they are
                                opened; NULL: nothing */
    size_t folders;               /* opened so far */
    bool intersects; /* only the time in which all streams of a trace are active is asked for */
    struct ctf_opened_queue *opened;
    size_t n, capacity;
};

/* Adds an input (taken over, also on failure, unless it is shared). */
TTR_MUST ttr_status ctf_stream_set_add(struct ctf_stream_set *set,
                                       const struct ctf_opened_queue *opened, ttr_error *error);

/* One reader over all inputs; NULL with `error`.  The set is empty then. */
ttr_reader *ctf_stream_set_merge(struct ctf_stream_set *set, ttr_error *error);

/* Closes what is still there. */
void ctf_stream_set_free(struct ctf_stream_set *set);

#endif
