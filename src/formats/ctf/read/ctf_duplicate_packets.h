/* Duplicate packets: one packet stored in two files, as in overlapping snapshots. This file chooses
 * the copy that is read.
 *
 * The index pass compares headers only, so it considers the copies equal. If their bytes differ, at
 * least one copy is damaged; then both are decoded to find out which. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_DUPLICATE_PACKETS_H
#define TRACETTA_FORMATS_CTF_READ_CTF_DUPLICATE_PACKETS_H

#include "formats/ctf/read/ctf_reader.h"

/* maximum number of differing duplicates per trace that are decoded; the first copy of any further
 * one is read, and this is reported once */
#define CTF_DECODED_DUPLICATES_MAX 256u
/* bytes; of larger duplicates the first copy is read, which is reported once */
#define CTF_DUPLICATE_BYTES_MAX ((uint64_t)16 << 20)

/* One of several copies of a packet. */
struct ctf_packet_copy {
    struct ctf_reader *reader; /* reader of the file that contains the copy */
    uint64_t offset;
};

/* Returns true if the second copy must be read instead of the first: the copies differ, the first
 * is damaged and the second is not. */
bool ctf_second_copy_is_better(const struct ctf_packet_copy *first,
                               const struct ctf_packet_copy *second, uint64_t size_bytes);

#endif
