/* Bytes of nettrace as they are written: numbers, headers of events, frames of blocks.  All append
 * to the writer's buffer, which is not handed over while a block is open. */
#ifndef TRACETTA_NETTRACE_PUT_H
#define TRACETTA_NETTRACE_PUT_H

#include "formats/nettrace/nettrace_header.h"
#include "model/output.h"

static inline void nettrace_put_u16(struct buffer *to, uint16_t x)
{
    uint8_t *at = buffer_room(to, 2);
    if (at) {
        store_u16le(at, x);
        buffer_filled(to, 2);
    }
}

static inline void nettrace_put_u32(struct buffer *to, uint32_t x)
{
    uint8_t *at = buffer_room(to, 4);
    if (at) {
        store_u32le(at, x);
        buffer_filled(to, 4);
    }
}

static inline void nettrace_put_u64(struct buffer *to, uint64_t x)
{
    uint8_t *at = buffer_room(to, 8);
    if (at) {
        store_u64le(at, x);
        buffer_filled(to, 8);
    }
}

/* Seven bits a byte, the lowest first; gives the place behind it, at most 10 bytes on. */
static inline uint8_t *nettrace_varint_to(uint8_t *to, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        *to++ = (uint8_t)(x | 0x80);
    *to++ = (uint8_t)x;
    return to;
}

void nettrace_put_varint(struct buffer *to, uint64_t x);

/* V6: length, then UTF-8. */
void nettrace_put_string(struct buffer *to, ttr_text text);

/* Encodes a compressed header behind `last`, the one before it in the block (zeros in the first);
 * gives the place behind it, at most NETTRACE_HEADER_MAX bytes on.  `last` becomes `header`. */
uint8_t *nettrace_put_header(uint8_t *to, struct nettrace_header *last,
                             const struct nettrace_header *header, bool is_v6);

/* A block that is open: of V6 by its kind, before by its name. */
struct nettrace_frame {
    size_t size_at, body; /* in the buffer */
    unsigned version;
    uint8_t kind; /* NETTRACE_BLOCK_* */
};

/* Begins and ends a block (V6) or object (V3 to V5).  kind: EVENTS, METADATA, STACKS, POINT, and in
 * V6 any. */
struct nettrace_frame nettrace_frame_begin(struct ttr_writer *out, unsigned version,
                                           enum nettrace_block_kind kind);
void nettrace_frame_end(struct ttr_writer *out, const struct nettrace_frame *frame);

/* Appends zeros up to a multiple of 4 of the output. */
void nettrace_put_padding(struct ttr_writer *out);

/* What stands before the first block. */
void nettrace_put_head(struct ttr_writer *out, unsigned version);

/* A date in eight numbers of 16 bits, in whole milliseconds. */
void nettrace_put_date(struct buffer *to, int64_t unix_ms);

/* The mark of the end. */
void nettrace_put_end(struct ttr_writer *out, unsigned version);

/* What Trace says of the clock and the process. */
struct nettrace_about {
    int64_t sync_ms; /* since 1970 */
    uint64_t sync_ticks, frequency, pid;
    uint32_t pointer_bytes, processors, sampling_ns;
    bool has_pid;
};

void nettrace_put_trace(struct ttr_writer *out, unsigned version,
                        const struct nettrace_about *about);

#endif
