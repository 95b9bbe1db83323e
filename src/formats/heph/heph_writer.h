/* State and functions of the Heph writer (heph_write.c). */
#ifndef TRACETTA_FORMATS_HEPH_WRITER_H
#define TRACETTA_FORMATS_HEPH_WRITER_H

#include "formats/heph/heph_pairs.h"
#include "formats/heph/heph_encode.h"

struct heph_writer {
    uint64_t epoch;
    /* true after the epoch was chosen; an epoch packet was then written unless the epoch is 0 */
    bool has_epoch;
    bool
        is_copying_source; /* true if packets of one source are copied together with its metadata */
    bool is_old;           /* true if the copied source has the layout without substreams */
    uint16_t copied;       /* id of the copied source */
    uint32_t spare_streams;
    uint32_t *counters; /* next counter of each stream, by stream index */
    size_t counters_n, counters_capacity;
    struct pair_map streams; /* maps (stream, 0) to an index in `counters` */
    struct pair_map owners; /* maps (stream, 0) to the source of the process that uses the stream */
    struct pair_map
        spare; /* maps (pid, source) to the process's stream, if that differs from the pid */
    struct pair_map written_thread_names,
        written_process_names; /* maps (thread, 0) to the name that was last written */
    struct heph_pairs pairs;
    struct buffer path;
    bool is_out_of_memory;
};

ttr_status heph_writer_create(struct ttr_writer *out, ttr_error *error);
ttr_status heph_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status heph_writer_finish(struct ttr_writer *out, ttr_error *error);
void heph_writer_free(struct ttr_writer *out);

#endif
