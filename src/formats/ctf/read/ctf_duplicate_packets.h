/* Duplicate packets: one packet stored in two files, as in overlapping snapshots. Decides which
 * copy is read.
 *
 * The index pass compares headers only, so it treats the copies as equal. If their bytes differ, at
 * least one is damaged; both are then decoded separately. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_DUPLICATE_PACKETS_H
#define TRACETTA_FORMATS_CTF_READ_CTF_DUPLICATE_PACKETS_H

#include "formats/ctf/read/ctf_reader.h"

/* pairs decoded per trace; after that the first copy is read, which is reported once */
#define CTF_DECODED_DUPLICATES_MAX 256u
#define CTF_DUPLICATE_BYTES_MAX ((uint64_t)16 << 20) /* larger packets are not decoded either */

/* One copy of a packet. */
struct ctf_packet_copy {
    struct ctf_reader *reader; /* reader of its file */
    uint64_t offset;
};

/* Returns true if the second copy must be read instead of the first: they differ, the first is
 * damaged and the second is not. */
bool ctf_second_copy_is_better(const struct ctf_packet_copy *first,
                               const struct ctf_packet_copy *second, uint64_t size_bytes);

#endif
