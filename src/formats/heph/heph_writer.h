/* The writer's state and its functions, see heph_write.c. */
#ifndef TRACETTA_FORMATS_HEPH_WRITER_H
#define TRACETTA_FORMATS_HEPH_WRITER_H

#include "formats/heph/heph_pairs.h"
#include "formats/heph/heph_put.h"

struct heph_writer {
    uint64_t epoch;
    bool has_epoch;  /* it is settled, and written unless 0 */
    bool is_copying; /* packets of one source are copied with its metadata */
    bool is_old;     /* it has the layout without substreams */
    uint16_t copied; /* that source */
    uint32_t spare_streams;
    uint32_t *counters; /* next counter by stream */
    size_t counters_n, counters_capacity;
    struct pairmap streams; /* (stream, 0) to index in counters */
    struct pairmap owners;  /* (stream, 0) to the source whose process it is */
    struct pairmap spare;   /* (pid, source) to its stream where that is another number */
    struct pairmap told_threads, told_processes; /* (thread, 0) to the name that was written last */
    struct heph_pairs pairs;
    struct buffer path;
    bool is_out_of_memory;
};

ttr_status heph_create(struct ttr_writer *out, ttr_error *error);
ttr_status heph_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status heph_finish(struct ttr_writer *out, ttr_error *error);
void heph_drop(struct ttr_writer *out);

#endif
