/* Set of the inputs of a trace or of several folders. Determines the order in which inputs are
 * merged, and which files continue the stream of another file.
 *
 * Purpose: the merge must emit events in the same order as babeltrace2, and a data stream stored in
 * several files (rotated chunks, snapshots) must look like one stream.
 *
 * Order of calls: ctf_stream_set_add for each packet queue of each file, in any order; then
 * ctf_stream_set_merge, once; ctf_stream_set_free in any case.
 *
 * Steps of ctf_stream_set_merge:
 * |  1. Sort the inputs by trace UUID, stream class, stream number, first begin time, folder,
 * |     file. Traces without UUID are last, by host and folder. The position in this order
 * |     breaks ties between events of equal time.
 * |  2. Link files of one stream, which are adjacent after sorting. Folders with one UUID are
 * |     one trace, and its class and number identify a stream. Counters continue from file to
 * |     file. Packets that an earlier file contains too are marked as duplicates.
 * |  3. Optionally limit each trace to the time in which all its streams are active.
 * |  4. Pass all readers to the k-way merge (ttr_merge).
 *
 * Invariant: within a stream, files are compared only with earlier files that overlap in time, so n
 * files without overlap cost n comparisons. Cost: O(n log n) for the sort, plus the headers of
 * overlapping packets.
 *
 * Left out: files that overlap without common packets. Such files share a stream number only by
 * accident, so both keep their packets and counters. Ownership: the set owns the inputs until
 * ctf_stream_set_merge. Thread rule: one thread. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_STREAM_SET_H
#define TRACETTA_FORMATS_CTF_READ_CTF_STREAM_SET_H

#include "formats/ctf/read/ctf_build_index.h"

/* A packet queue of a stream file, and the input that reads it. */
struct ctf_opened_queue {
    struct input *in;
    const struct ctf_trace *trace; /* trace that `in` belongs to; set by ctf_stream_set_add */
    /* true if the input also reads the file's other queues, because copies need packets in file
     * order; it belongs to the first queue */
    bool is_shared;
    uint32_t queue_i; /* index of the queue among the queues of the file */
    struct ctf_packet_queue queue;
    /* stream instance id; if packets have none, the index of the file by name, which the merge
     * order of v1.1 does not use */
    uint64_t number;
    /* index of the folder among all folders, and of the file in its folder, both in name order */
    size_t folder, file;
};

struct ctf_stream_set {
    ttr *t;
    const ttr_read_options *options;
    size_t files; /* maximum number of stream files that will be opened */
    size_t chunk; /* window size of each input in bytes (source_chunk_size) */
    /* result of comparing the metadata of the folders, while they are opened; NULL if they were
     * not compared */
    struct ctf_prefix_set *prefix_set;
    size_t folders;  /* number of folders opened so far */
    bool intersects; /* limit each trace to the time in which all its streams are active */
    struct ctf_opened_queue *opened;
    size_t n, capacity;
};

/* Adds an input to the set. The set becomes owner of the input, even on failure, unless
 * opened->is_shared. */
TTR_MUST ttr_status ctf_stream_set_add(struct ctf_stream_set *set,
                                       const struct ctf_opened_queue *opened, ttr_error *error);

/* Merges all inputs into one reader; the set is empty afterwards. Returns NULL with `error` on
 * failure. */
ttr_reader *ctf_stream_set_merge(struct ctf_stream_set *set, ttr_error *error);

/* Closes the inputs that were not merged, and frees the set's memory. */
void ctf_stream_set_free(struct ctf_stream_set *set);

#endif
