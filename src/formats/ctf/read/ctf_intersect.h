/* Time in which all streams of a trace are active: from the latest begin to the earliest end of the
 * streams. Uses the packets' times, or the last events' for tracers with packet ends that are known
 * to be wrong. Plain data. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_INTERSECT_H
#define TRACETTA_FORMATS_CTF_READ_CTF_INTERSECT_H

#include "formats/ctf/read/ctf_build_index.h"

struct ctf_intersection {
    int64_t from, to;               /* intersection of the finished streams, ns, both inclusive */
    struct ctf_packet_queue stream; /* current stream: begin and end of all its packet queues */
    size_t streams;
    const char
        *file_without_times; /* name of a file with packets that have no times; NULL = none */
};

/* Adds a packet queue of the file. Queues of one data stream must follow each other; `goes_on`
 * marks all but the first. */
void ctf_intersection_add(struct ctf_intersection *at, const struct ctf_packet_queue *queue,
                          bool goes_on, const char *file);

/* Returns true if the end of the queue's last packet is unreliable, because its tracer has a known
 * fault (ctf_tracer_quirks.c). */
bool ctf_has_wrong_end(const struct ctf_trace *trace, const struct ctf_packet_queue *queue);

/* Sets the queue's end to the time of the last event of its last packet, or to that packet's begin.
 * `in` must be a fresh input of this queue; it is always closed. */
TTR_MUST ttr_status ctf_decode_queue_end(struct input *in, struct ctf_packet_queue *queue,
                                         ttr_error *error);

/* Finishes from and to. Returns TTR_E_UNSUPPORTED with a reason if there is no common time or it is
 * unknown. */
TTR_MUST ttr_status ctf_intersection_end(struct ctf_intersection *at, const char *trace,
                                         ttr_error *error);

#endif
