/* State and functions of the Heph writer (heph_write.c). */
#ifndef TRACETTA_FORMATS_HEPH_WRITER_H
#define TRACETTA_FORMATS_HEPH_WRITER_H

#include "formats/heph/heph_pairs.h"
#include "formats/heph/heph_encode.h"

struct heph_writer {
    uint64_t epoch;
    /* true after the epoch was chosen; then an epoch packet was written unless the epoch is 0 */
    bool has_epoch;
    bool
        /* true if packets of one source are copied in order, with their metadata */
        is_copying_source;
    bool is_old;     /* true if the copied source uses the layout without substreams */
    uint16_t copied; /* id of the copied source */
    uint32_t spare_streams;
    uint32_t *counters; /* next counter of each stream, by stream index */
    size_t counters_n, counters_capacity;
    struct pair_map streams; /* maps (stream, 0) to an index in `counters` */
    /* maps (stream, 0) to the source of the process for which the stream is used */
    struct pair_map owners;
    struct pair_map
        /* maps (pid, source) to the process's stream, if the stream is not the pid */
        spare;
    struct pair_map written_thread_names,
        /* maps (thread, 0) to the name of its process that was written last */
        written_process_names;
    struct heph_pairs pairs;
    struct buffer path;
    bool is_out_of_memory;
};

ttr_status heph_writer_create(struct ttr_writer *out, ttr_error *error);
ttr_status heph_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status heph_writer_finish(struct ttr_writer *out, ttr_error *error);
void heph_writer_free(struct ttr_writer *out);

#endif
