/* Appends the byte forms of nettrace to a buffer: integers, event headers, frames of blocks. While
 * a frame is open, the buffer must not be emptied, since the size of the frame is stored at its
 * end. */
#ifndef TRACETTA_FORMATS_NETTRACE_NETTRACE_BYTES_H
#define TRACETTA_FORMATS_NETTRACE_NETTRACE_BYTES_H

#include "formats/nettrace/nettrace_header.h"
#include "model/output.h"

static inline void nettrace_append_u16(struct buffer *to, uint16_t x)
{
    uint8_t *at = buffer_room(to, 2);
    if (at) {
        store_u16le(at, x);
        buffer_commit(to, 2);
    }
}

static inline void nettrace_append_u32(struct buffer *to, uint32_t x)
{
    uint8_t *at = buffer_room(to, 4);
    if (at) {
        store_u32le(at, x);
        buffer_commit(to, 4);
    }
}

static inline void nettrace_append_u64(struct buffer *to, uint64_t x)
{
    uint8_t *at = buffer_room(to, 8);
    if (at) {
        store_u64le(at, x);
        buffer_commit(to, 8);
    }
}

/* Encodes a varint: seven bits per byte, lowest first. Returns the end of the varint, which has at
 * most 10 bytes. */
static inline uint8_t *nettrace_encode_varint(uint8_t *to, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        *to++ = (uint8_t)(x | 0x80);
    *to++ = (uint8_t)x;
    return to;
}

void nettrace_append_varint(struct buffer *to, uint64_t x);

/* V6: appends a string: its length as a varint, then UTF-8. */
void nettrace_append_string(struct buffer *to, ttr_text text);

/* Encodes a compressed header relative to `last`, the previous header of the block; before the
 * first header, all its members are 0. Returns the end of the encoded bytes, of which there are at
 * most NETTRACE_HEADER_MAX. Copies `header` to `last`. */
uint8_t *nettrace_encode_header(uint8_t *to, struct nettrace_header *last,
                                const struct nettrace_header *header, bool is_v6);

/* A block (V6) or object (V3 to V5) that is being written. */
struct nettrace_frame {
    /* offsets in the buffer; size_at: of the size field, which is set at the end; body: of the
     * content */
    size_t size_at, body;
    unsigned version;
    uint8_t kind; /* kind of the block (enum nettrace_block_kind) */
};

/* Begin and end a block (V6) or object (V3 to V5). Before V6, only the kinds EVENTS, METADATA,
 * STACKS and POINT are possible. */
struct nettrace_frame nettrace_frame_begin(struct ttr_writer *out, unsigned version,
                                           enum nettrace_block_kind kind);
void nettrace_frame_end(struct ttr_writer *out, const struct nettrace_frame *frame);

/* Appends zeros until the size of the output is a multiple of 4 bytes. */
void nettrace_append_padding(struct ttr_writer *out);

/* Appends the start of the file, up to the Trace object. */
void nettrace_append_file_head(struct ttr_writer *out, unsigned version);

/* Appends a date as a SYSTEMTIME of Windows: eight 16-bit numbers. */
void nettrace_append_date(struct buffer *to, int64_t unix_ms);

/* Appends the end mark of a trace. */
void nettrace_append_end_mark(struct ttr_writer *out, unsigned version);

/* Clock and process that the Trace object describes. */
struct nettrace_trace_info {
    int64_t sync_ms; /* Unix time in ms at sync_ticks */
    uint64_t sync_ticks, frequency, pid;
    uint32_t pointer_bytes, processors, sampling_ns;
    bool has_pid;
};

void nettrace_append_trace(struct ttr_writer *out, unsigned version,
                           const struct nettrace_trace_info *info);

#endif
