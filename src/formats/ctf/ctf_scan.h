/* What is known of a stream file before its first event is read: its packets, dealt into lanes.
 *
 * A lane is what one input reads: packets of one data stream that follow each other in time.  Nearly all files are one lane.  Where tracers
 * put packets of several streams into one file, or packets that overlap in time, each lane gets an input of its own over the
 * same file, so that what is merged always is in order.
 * Ownership: `ctf_lanes` is shared by the inputs of a file and freed with the last.  Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_SCAN_H
#define TRACETTA_FORMATS_CTF_SCAN_H

#include "formats/ctf/ctf_reader.h"

#define CTF_LANES 16u

struct ctf_lane {
    const struct ctf_kind *kind; /* NULL = no packet could be taken apart */
    uint64_t number;             /* of its data stream */
    bool has_number, has_begin;
    int64_t begin, end;          /* of all its packets, where packets have times */
    bool is_in_order;            /* no packet begins before the one before it ends */
};

struct ctf_lanes {
    const struct alloc *alloc;
    uint32_t users;
    struct ctf_lane lane[CTF_LANES];
    uint32_t n;                  /* at least 1 */
    uint64_t packets;            /* looked at: up to the first that cannot be taken apart */
    uint8_t *of;                 /* the lane of each packet, NULL = all are of the first */
    size_t of_capacity;
};

/* Looks at the headers of all packets.  A file that cannot be looked at ahead (compressed) is one lane that is not in order.
 * NULL with `error` when that fails. */
struct ctf_lanes *ctf_scan(struct ctf_reader *reader, ttr_error *error);

/* The lane of the i-th packet. */
static inline uint32_t ctf_lane_of(const struct ctf_lanes *lanes, uint64_t i)
{
    return lanes->of && i < lanes->packets ? lanes->of[i] : 0;
}

/* Lets go of them; NULL is fine. */
void ctf_lanes_release(struct ctf_lanes *lanes);

#endif
