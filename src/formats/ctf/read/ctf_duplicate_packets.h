/* One packet in two files, as overlapping snapshots have it: which of both is read where they
 * differ.
 *
 * Who only looks at headers takes them for the same.  Where their bytes differ one of them is
 * damaged, or both are: each is read by itself. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_DUPLICATE_PACKETS_H
#define TRACETTA_FORMATS_CTF_READ_CTF_DUPLICATE_PACKETS_H

#include "formats/ctf/read/ctf_reader.h"

#define CTF_DECODED_DUPLICATES_MAX                                                              \
    256u /* of a trace that are read by themselves; behind them the first is taken, and that is \
            told once */
#define CTF_DUPLICATE_BYTES_MAX ((uint64_t)16 << 20) /* so are packets that are larger */

/* Where one stands. */
struct ctf_packet_copy {
    struct ctf_reader *reader; /* of the file */
    uint64_t offset;
};

/* Whether the second is to be read in place of the first: they differ, the first has damage and the
 * second none. */
bool ctf_second_copy_is_better(const struct ctf_packet_copy *first,
                               const struct ctf_packet_copy *second, uint64_t size_bytes);

#endif
