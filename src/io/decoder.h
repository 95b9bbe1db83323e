/* The compression formats that can be read: how to recognise a member, and how to decode it. A
 * member is the output of one run of a compressor (a gzip member, a zstd or lz4 frame, a bzip2 or
 * xz stream); a file may contain several. Threads: one thread at a time per state. */
#ifndef TRACETTA_IO_DECODER_H
#define TRACETTA_IO_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODER_MAGIC_MAX 10 /* longest magic number, in bytes */

enum decode_result {
    DECODE_CONTINUE,   /* the decoder needs more input or more output room */
    DECODE_MEMBER_END, /* the member is complete and all of its output was returned */
    DECODE_DAMAGED,
    DECODE_TOO_LARGE, /* the data needs more memory than the limit in decoder.c */
    DECODE_NO_MEMORY
};

/* Input and output of a step. The step advances the pointers and reduces the counts. */
struct decode_io {
    const uint8_t *in;
    size_t in_n;
    uint8_t *out;
    size_t out_n;
    const char *reason; /* the library's message if the data are damaged; constant text */
};

struct decoder {
    const char *name;
    size_t state_size;
    /* Starts decoding a member. `state` is zeroed, or has decoded another member before. Returns
     * false if memory runs out. */
    bool (*begin)(void *state);
    enum decode_result (*step)(void *state, struct decode_io *io);
    void (*end)(void *state); /* frees what the state owns; a zeroed state is allowed */
};

enum decoder_match {
    DECODER_NO,
    DECODER_MAYBE /* all bytes given match; more bytes are needed to decide */,
    DECODER_YES
};

/* Returns whether a member of this decoder starts with these bytes; reads at most
 * DECODER_MAGIC_MAX. */
enum decoder_match decoder_match(const struct decoder *decoder, const uint8_t *bytes, size_t n);

/* Returns the decoder for the member that starts with these bytes, or NULL. `*match` is
 * DECODER_MAYBE if more bytes could change the result. */
const struct decoder *decoder_detect(const uint8_t *bytes, size_t n, enum decoder_match *match);

#endif
