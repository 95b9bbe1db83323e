/* State and helpers of passes over packet headers: the index pass (ctf_build_index.c) and the
 * comparison of files (ctf_duplicate_index.c). Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_INDEX_PASS_H
#define TRACETTA_FORMATS_CTF_READ_CTF_INDEX_PASS_H

#include "formats/ctf/packet/ctf_index.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/read/ctf_peek_header.h"

/* State while the packet headers of a file are read in order. */
struct ctf_index_pass {
    struct ctf_reader *reader;
    struct ctf_file_index *file_index;
    struct ctf_header_peek peek;
    uint64_t at; /* file offset of the current packet */
    /* size in bytes of the packet before the current one; 0 if there is none */
    uint64_t previous_size;
    uint64_t prefetched_to;       /* file offset up to which headers were prefetched */
    struct ctf_index_check check; /* comparison of packets with the tracer's index file */
};

/* Converts the begin and end of a packet to ns. Returns false if it has no begin. */
bool ctf_get_packet_times(const struct ctf_frame *frame, int64_t *begin, int64_t *end);

/* Returns the values that identify a packet in its stream. */
struct ctf_identity ctf_get_packet_identity(const struct ctf_packet *packet);

#endif
