/* The compressions we read, one table row each: how a member begins, and how its bytes are turned
 * into ours. A member is what one run of the compressor wrote (a gzip member, a zstd or lz4 frame,
 * a bzip2 or xz stream); files may hold several one after another.  Thread rule: a state is used by
 * one thread at a time. */
#ifndef TRACETTA_IO_DECODER_H
#define TRACETTA_IO_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODER_MAGIC_MAX 10 /* bytes that settle what an input is */

enum decode_result {
    DECODE_GOING,      /* wants more input or more room */
    DECODE_MEMBER_END, /* the member is complete and all of it was given out */
    DECODE_DAMAGED,
    DECODE_TOO_LARGE, /* asks for more memory than we give */
    DECODE_NO_MEMORY
};

/* One step's input and room; a step moves the pointers over what it used. */
struct decode_io {
    const uint8_t *in;
    size_t in_n;
    uint8_t *out;
    size_t out_n;
    const char *reason; /* why it is damaged, in the decoder's words; constant text */
};

struct decoder {
    const char *name;
    size_t state_size;
    bool (*begin)(void *state); /* a new member, on a zeroed state or after another member; false:
                                   no memory */
    enum decode_result (*step)(void *state, struct decode_io *io);
    void (*end)(void *state); /* also on a zeroed state */
};

enum decoder_match {
    DECODER_NO,
    DECODER_MAYBE /* so far, but more bytes are needed */,
    DECODER_YES
};

/* Whether a member of this kind begins with these bytes; n up to DECODER_MAGIC_MAX is looked at. */
enum decoder_match decoder_match(const struct decoder *decoder, const uint8_t *bytes, size_t n);

/* The decoder whose member begins here, or NULL; `*match` says whether more bytes could change
 * that. */
const struct decoder *decoder_find(const uint8_t *bytes, size_t n, enum decoder_match *match);

#endif
