/* Headers of packets, taken from a stream file wherever they stand, while the window of what is
 * read stays as it is.
 *
 * Ownership: what begins has to be ended.  Thread rule: as the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_PEEK_HEADER_H
#define TRACETTA_FORMATS_CTF_READ_CTF_PEEK_HEADER_H

#include "formats/ctf/read/ctf_reader.h"

#define CTF_PEEK_SIZE ((size_t)256) /* bytes that are asked for: most headers are smaller */

struct ctf_header_peek {
    struct ctf_reader *reader;
    const struct alloc *alloc;
    uint8_t *bytes; /* at hand: n of the file from `from` on; NULL: memory was out */
    size_t room, n;
    uint64_t from;
    bool is_dense; /* the last packet was small: the next ones are soon to be asked for */
};

/* False when memory is out. */
bool ctf_peek_begin(struct ctf_header_peek *look, struct ctf_reader *reader);

/* Takes apart the packet at an offset; CTF_FRAME_SHORT at the end of the file. */
enum ctf_framing ctf_peek_header(struct ctf_header_peek *look, uint64_t offset,
                                 struct ctf_frame *frame, ttr_error *error);

/* The bytes from there on that are at hand, as many as are wanted if the file and the memory have
 * them; until the next look. */
struct bits ctf_peek_bytes(struct ctf_header_peek *look, uint64_t offset, uint64_t wanted);

/* Gives back the room that looking for a header took where there is none. */
void ctf_peek_shrink(struct ctf_header_peek *look);

void ctf_peek_end(struct ctf_header_peek *look);

#endif
