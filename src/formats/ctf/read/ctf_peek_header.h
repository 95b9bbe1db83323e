/* Reads packet headers at any offset of a stream file, without moving the window of the reader.
 *
 * Ownership: each ctf_peek_begin needs a ctf_peek_end. Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_PEEK_HEADER_H
#define TRACETTA_FORMATS_CTF_READ_CTF_PEEK_HEADER_H

#include "formats/ctf/read/ctf_reader.h"

#define CTF_PEEK_SIZE ((size_t)256) /* bytes of the first read; most packet headers are smaller */

struct ctf_header_peek {
    struct ctf_reader *reader;
    const struct alloc *alloc;
    /* buffer with the bytes of the file from offset `from` on; NULL if memory runs out */
    uint8_t *bytes;
    size_t room, n;
    uint64_t from;
    /* true if the last packet was small, so one read may serve several headers */
    bool has_small_packets;
};

/* Starts reading of packet headers. Returns false if memory runs out. */
bool ctf_peek_begin(struct ctf_header_peek *peek, struct ctf_reader *reader);

/* Parses the packet header at a file offset. Returns CTF_FRAME_SHORT if the file ends first. */
enum ctf_framing ctf_peek_header(struct ctf_header_peek *peek, uint64_t offset,
                                 struct ctf_frame *frame, ttr_error *error);

/* Returns up to `wanted` bytes at a file offset; fewer at the end of the file or if memory runs
 * out. The bytes are valid until the next call. */
struct bits ctf_peek_bytes(struct ctf_header_peek *peek, uint64_t offset, uint64_t wanted);

/* Shrinks the buffer to its initial size if one large or invalid header enlarged it. */
void ctf_peek_shrink(struct ctf_header_peek *peek);

void ctf_peek_end(struct ctf_header_peek *peek);

#endif
