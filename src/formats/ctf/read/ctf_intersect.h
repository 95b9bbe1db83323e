/* Computes the time in which all streams of a trace are active: from the latest begin to the
 * earliest end of any stream. Uses packet times. For tracers that are known to store wrong packet
 * ends, the last events are decoded instead. Plain data. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_INTERSECT_H
#define TRACETTA_FORMATS_CTF_READ_CTF_INTERSECT_H

#include "formats/ctf/read/ctf_build_index.h"

struct ctf_intersection {
    /* time range in ns that all streams before `stream` have in common; both ends inclusive */
    int64_t from, to;
    /* the current stream, with the time range of its queues so far */
    struct ctf_packet_queue stream;
    size_t streams;
    const char
        /* name of a file in which packets declare no times; NULL if there is none */
        *file_without_times;
};

/* Adds a packet queue of the file to the intersection. The queues of one data stream must be added
 * one after the other, with `goes_on` false for the first and true for all others. */
void ctf_intersection_add_queue(struct ctf_intersection *at, const struct ctf_packet_queue *queue,
                                bool goes_on, const char *file);

/* Returns true if the end time of the queue's last packet is unreliable, because of a known fault
 * of the tracer (ctf_tracer_quirks.c). */
bool ctf_queue_end_is_unreliable(const struct ctf_trace *trace,
                                 const struct ctf_packet_queue *queue);

/* Decodes the last packet of the queue and sets queue->end to the time of its last event; to the
 * begin of the packet if it has no events. `in`: an input for this queue that was not read yet.
 * Always closes it. */
TTR_MUST ttr_status ctf_decode_queue_end(struct input *in, struct ctf_packet_queue *queue,
                                         ttr_error *error);

/* Completes the last stream and the members `from` and `to`. Returns TTR_E_UNSUPPORTED with a
 * reason if the streams have no common time, or packets have no times. */
TTR_MUST ttr_status ctf_intersection_compute(struct ctf_intersection *at, const char *trace,
                                             ttr_error *error);

#endif
