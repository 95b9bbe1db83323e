/* Reads packet headers through a buffer. The bytes read for one header also serve the next ones,
 * since headers of small packets are close to each other. */
#include "formats/ctf/read/ctf_peek_header.h"

#include "base/status.h"

#define PEEK_MAX ((size_t)1 << 20)
/* bytes per read if packets are small, so that one read returns many headers */
#define PEEK_DENSE ((size_t)32 << 10)
#define DENSE_PACKET ((uint64_t)2048)

bool ctf_peek_begin(struct ctf_header_peek *peek, struct ctf_reader *reader)
{
    *peek = (struct ctf_header_peek){
        .reader = reader, .alloc = &reader->trace->t->counted, .room = CTF_PEEK_SIZE};
    peek->bytes = alloc_zero(peek->alloc, CTF_PEEK_SIZE, 1);
    return peek->bytes != NULL;
}

/* Enlarges the buffer to `room` bytes and keeps its content. Returns false if memory runs out. */
static bool grow_peek_buffer(struct ctf_header_peek *peek, size_t room)
{
    uint8_t *larger = alloc_resize(peek->alloc, peek->bytes, peek->room, room, 1);
    if (!larger)
        return false;
    peek->bytes = larger;
    peek->room = room;
    return true;
}

/* Bytes of the file that are in the buffer, from the requested offset on. */
struct loaded_bytes {
    struct bits bits;
    bool is_end; /* true if the file ends after these bytes */
    /* true if the buffer is full; it must be enlarged to read more bytes */
    bool is_all;
};

/* Sets `to` to the bytes at `offset`: at least CTF_PEEK_SIZE bytes, or all up to the end of the
 * file. Reads the file if the buffer has fewer. If `wants_all`, fills the buffer. Returns false on
 * a read error. */
static bool load_header_bytes(struct ctf_header_peek *peek, uint64_t offset, bool wants_all,
                              struct loaded_bytes *to, ttr_error *error)
{
    const uint64_t loaded_to = peek->from + peek->n;
    size_t wanted = peek->room < PEEK_DENSE ? peek->room : CTF_PEEK_SIZE;
    *to = (struct loaded_bytes){.is_end = false};
    if (wants_all || offset < peek->from || offset > loaded_to ||
        loaded_to - offset < CTF_PEEK_SIZE) {
        /* if memory runs out, the buffer stays small, and reading is only slower */
        if (peek->has_small_packets &&
            (peek->room >= PEEK_DENSE || grow_peek_buffer(peek, PEEK_DENSE)))
            wanted = PEEK_DENSE;
        wanted = wants_all ? peek->room : wanted;
        const int64_t n =
            source_peek_at(peek->reader->in->source, offset, peek->bytes, wanted, error);
        peek->from = offset;
        peek->n = n > 0 ? (size_t)n : 0;
        to->is_end = peek->n < wanted;
        to->is_all = wanted == peek->room;
        if (n < 0)
            return false;
    }
    to->bits =
        bits_init(peek->bytes + (offset - peek->from), 0, (peek->from + peek->n - offset) * 8);
    return true;
}

enum ctf_framing ctf_peek_header(struct ctf_header_peek *peek, uint64_t offset,
                                 struct ctf_frame *frame, ttr_error *error)
{
    for (bool wants_all = false;; wants_all = true) {
        struct loaded_bytes at;
        if (!load_header_bytes(peek, offset, wants_all, &at, error))
            return CTF_FRAME_FAILED;
        enum ctf_framing framing =
            at.bits.end ? ctf_parse_header_and_context(peek->reader->trace, peek->reader->section,
                                                       &at.bits, frame, error)
                        : CTF_FRAME_SHORT;
        peek->has_small_packets = framing == CTF_FRAME_OK && frame->packet.size / 8 <= DENSE_PACKET;
        if (framing != CTF_FRAME_SHORT || at.is_end || (at.is_all && peek->room >= PEEK_MAX))
            return framing;
        if (at.is_all && !grow_peek_buffer(peek, peek->room * 4)) {
            (void)fail_memory(error);
            return CTF_FRAME_FAILED;
        }
    }
}

struct bits ctf_peek_bytes(struct ctf_header_peek *peek, uint64_t offset, uint64_t wanted)
{
    struct loaded_bytes at;
    ttr_error error;
    bool is_there = load_header_bytes(peek, offset, false, &at, &error);
    if (is_there && at.bits.end / 8 < wanted && !at.is_end && wanted <= PEEK_MAX &&
        (peek->room >= wanted || grow_peek_buffer(peek, (size_t)wanted)))
        is_there = load_header_bytes(peek, offset, true, &at, &error);
    return is_there ? at.bits : bits_init(peek->bytes, 0, 0);
}

void ctf_peek_shrink(struct ctf_header_peek *peek)
{
    uint8_t *smaller = peek->room > PEEK_DENSE
                           ? alloc_resize(peek->alloc, peek->bytes, peek->room, CTF_PEEK_SIZE, 1)
                           : NULL;
    if (!smaller)
        return;
    peek->bytes = smaller;
    peek->room = CTF_PEEK_SIZE;
    peek->n = 0;
}

void ctf_peek_end(struct ctf_header_peek *peek)
{
    if (peek->bytes)
        alloc_free(peek->alloc, peek->bytes, peek->room, 1);
    peek->bytes = NULL;
}
