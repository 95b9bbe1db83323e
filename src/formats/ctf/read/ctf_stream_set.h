/* Set of inputs of a trace or of several folders: their merge order, and which of them continue
 * each other.
 *
 * Purpose: `merge(inputs)` must produce the same order as babeltrace2, and a data stream stored in
 * several files (rotated chunks, snapshots) must look like one stream.
 *
 * Order of calls: ctf_stream_set_add for each packet queue of each file, in any order; then
 * ctf_stream_set_merge, once; ctf_stream_set_free in any case.
 *
 * What ctf_stream_set_merge does:
 * |  1. Sort the inputs by trace uuid, stream class, stream number, first begin time, folder,
 * |     file. Traces without uuid are last, by host and folder. The position in this order
 * |     breaks ties between events of equal time.
 * |  2. Link files of one stream. They are adjacent after sorting: folders with one uuid are
 * |     one trace, and a stream is its class and number. Counters continue from file to file.
 * |     Packets that an earlier file contains too are marked as duplicates.
 * |  3. Optionally limit each trace to the time in which all its streams are active.
 * |  4. Give all readers to the k-way merge of model/.
 *
 * Invariant: within a stream, files are compared only with earlier files that overlap in time, so
 * n files without overlap cost n comparisons. Cost: O(n log n) for the sort, plus the headers of
 * overlapping packets.
 *
 * Left out: files that overlap without common packets. They only share a stream number by
 * accident, so both keep their packets and counters. Ownership: the set owns the inputs until
 * ctf_stream_set_merge. Thread rule: one thread. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_STREAM_SET_H
#define TRACETTA_FORMATS_CTF_READ_CTF_STREAM_SET_H

#include "formats/ctf/read/ctf_build_index.h"

/* An opened packet queue of a stream file. */
struct ctf_opened_queue {
    struct input *in;
    const struct ctf_trace *trace; /* trace of `in`; set by ctf_stream_set_add */
    /* `in` belongs to the file's first queue and reads this queue too, because copies need packets
     * in file order */
    bool is_shared;
    uint32_t queue_i; /* index of the queue in the file */
    struct ctf_packet_queue queue;
    /* stream instance id; if packets have none, the index of the file in name order (not used for
     * the order of v1.1 files) */
    uint64_t number;
    size_t folder, file; /* indices in name order */
};

struct ctf_stream_set {
    ttr *t;
    const ttr_read_options *options;
    size_t files; /* upper limit of stream files */
    size_t chunk; /* window size in bytes; see source_chunk_size */
    /* comparison of the folders' metadata while they are opened; NULL = none */
    struct ctf_prefix_set *grown;
    size_t folders;  /* folders opened so far */
    bool intersects; /* limit each trace to the time in which all its streams are active */
    struct ctf_opened_queue *opened;
    size_t n, capacity;
};

/* Adds an input. Owns it afterwards, also on failure, unless it is shared. */
TTR_MUST ttr_status ctf_stream_set_add(struct ctf_stream_set *set,
                                       const struct ctf_opened_queue *opened, ttr_error *error);

/* Returns one reader over all inputs, or NULL with `error`. The set is empty afterwards. */
ttr_reader *ctf_stream_set_merge(struct ctf_stream_set *set, ttr_error *error);

/* Closes the inputs that were not merged. */
void ctf_stream_set_free(struct ctf_stream_set *set);

#endif
