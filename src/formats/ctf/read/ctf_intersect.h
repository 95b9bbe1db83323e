/* The time in which all streams of a trace are active: from the latest of their begins to the
 * earliest of their ends, as their packets say, or their last events where packets are known to say
 * it wrong.  Plain data. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_INTERSECT_H
#define TRACETTA_FORMATS_CTF_READ_CTF_INTERSECT_H

#include "formats/ctf/read/ctf_build_index.h"

struct ctf_intersection {
    int64_t from, to;               /* of the streams before the present one */
    struct ctf_packet_queue stream; /* the present one: begin and end of its lanes together */
    size_t streams;
    const char
        *timeless; /* the name of a file whose packets do not say when they are; NULL = none */
};

/* Adds a lane of the file of that name; those of one data stream follow each other, and the later
 * ones go on with it. */
void ctf_intersection_add(struct ctf_intersection *at, const struct ctf_packet_queue *queue,
                          bool goes_on, const char *file);

/* Whether the end of a lane's last packet is not to be believed: its tracer is known for that
 * (ctf_tracer_quirks.c). */
bool ctf_has_wrong_end(const struct ctf_trace *trace, const struct ctf_packet_queue *queue);

/* Sets the lane's end to the time of the last event of its last packet, or that packet's begin.
 * Reads `in`, an input of this lane that nobody has read before, and closes it, also on failure. */
TTR_MUST ttr_status ctf_decode_queue_end(struct input *in, struct ctf_packet_queue *queue,
                                         ttr_error *error);

/* Settles from and to, both inclusive.  TTR_E_UNSUPPORTED with the reason where there is no such
 * time, or nobody knows. */
TTR_MUST ttr_status ctf_intersection_end(struct ctf_intersection *at, const char *trace,
                                         ttr_error *error);

#endif
