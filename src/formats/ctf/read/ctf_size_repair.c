/* Repair of packet sizes: a packet with an impossible size ends where the next packet starts.
 *
 * A declared size is accepted if it
 * |  - leads to another packet or to the end of the file, or
 * |  - equals the size of the previous packet (tracers use fixed sub-buffers).
 * Otherwise the next packet is searched.
 *
 * |  | header | content      | padding   | header | ...
 * |  ^offset  ^head          ^inner      ^found = real end
 * |           `- 1. only packets later by time or number (an event may contain a whole packet)
 * |                           `- 2. any packet
 *
 * With a magic number, a candidate is a magic number with a valid header. Without one, it is a
 * chain: CHAIN headers that follow each other by their sizes, numbers and times; two are enough at
 * the end of the file. Headers below CHAIN_HEAD bits match by chance, so they are never
 * candidates.
 *
 * The other direction is checked too: a size can be too large and hide a packet in the padding.
 * padding_hides_packet tests for a packet at the previous packet's size; size_skips_next_packet
 * tests for a hole in the packet numbers.
 *
 * Order of calls: ctf_correct_packet_size after each header is parsed (index pass and reading);
 * ctf_next_packet_offset after a packet was read, for inputs with an index that is incomplete.
 *
 * Invariants: the window is never moved (all reads go through source_peek_at);
 * frame->declared_size keeps the declared size. Cost: one header at the declared end for each
 * packet with a size that changes; otherwise a search of the bytes to the next packet, at most
 * CHAIN_BYTES_MAX without a magic number. reader->no_packet_after makes failed searches of one
 * file linear in total.
 *
 * Left out: inputs without random access; their declared sizes are used. */
#include "formats/ctf/read/ctf_resync.h"

#include "formats/ctf/read/ctf_build_index.h"

#define PEEK_NEAR ((size_t)8 << 10)
#define PEEK_BYTES ((size_t)64 << 10)
#define PEEK_HEAD ((size_t)1024)
/* without magic numbers, this many packet headers must follow each other as their sizes state */
#define CHAIN 3u
/* bits; smaller packet headers are not accepted, because they match by chance */
#define CHAIN_HEAD ((uint64_t)64)
/* bytes that are searched for a chain of packet headers; limited, because every byte is a
 * candidate */
#define CHAIN_BYTES_MAX ((uint64_t)16 << 20)
ttr_status ctf_is_packet_at(const struct ctf_reader *reader, const uint8_t *p, size_t n,
                            bool *is_one)
{
    struct ctf_frame frame;
    struct bits bits = bits_init(p, 0, (uint64_t)n * 8);
    enum ctf_framing framing =
        ctf_parse_header_and_context(reader->trace, reader->section, &bits, &frame, reader->error);
    *is_one = framing == CTF_FRAME_OK &&
              (!frame.is_foreign || reader->is_foreign || reader->trace->has_foreign);
    return framing == CTF_FRAME_FAILED ? reader->error->status : TTR_OK;
}

/* Returns the first magic number in the range, or NULL. In RFC v1.1 traces that have packets of
 * both byte orders, finds both forms. */
const uint8_t *ctf_find_magic(const struct ctf_trace *trace, const uint8_t *begin,
                              const uint8_t *end)
{
    const uint8_t *magic = trace->class->magic,
                  reversed[] = {magic[3], magic[2], magic[1], magic[0]};
    const uint8_t *p = memmem(begin, (size_t)(end - begin), magic, sizeof trace->class->magic);
    if (!trace->other_order)
        return p;
    const uint8_t *before = p ? p + sizeof reversed - 1 : end,
                  *q = memmem(begin, (size_t)(before - begin), reversed, sizeof reversed);
    return q ? q : p;
}

/* Returns true if a magic number is at the file offset. */
static bool has_magic_at(const struct ctf_reader *reader, uint64_t offset)
{
    uint8_t bytes[sizeof reader->trace->class->magic];
    ttr_error error;
    return source_peek_at(reader->in->source, offset, bytes, sizeof bytes, &error) ==
               (int64_t)sizeof bytes &&
           ctf_find_magic(reader->trace, bytes, bytes + sizeof bytes) == bytes;
}

static bool is_same_stream(const struct ctf_frame *a, const struct ctf_frame *b)
{
    return a->kind->first == b->kind->first && a->has_number == b->has_number &&
           a->number == b->number;
}

/* Returns true if `frame` is a packet of the same stream as `before` and later: by its begin time,
 * or because it has the next packet number. */
static bool is_later_packet(const struct ctf_frame *frame, const struct ctf_frame *before)
{
    const struct ctf_packet *packet = &frame->packet, *last = &before->packet;
    if (!is_same_stream(frame, before))
        return false;
    if (packet->has_begin && last->has_begin && last->has_end &&
        (last->end > last->begin || packet->begin > last->begin))
        return packet->begin >= last->end;
    return packet->has_sequence && last->has_sequence && packet->sequence == last->sequence + 1;
}

/* Parses the packet header at a file offset. Returns true if it is valid, of this trace, and
 * declares a size. */
static bool parse_packet_at(const struct ctf_reader *reader, uint64_t offset,
                            struct ctf_frame *frame)
{
    uint8_t bytes[PEEK_HEAD];
    ttr_error error;
    const int64_t n = source_peek_at(reader->in->source, offset, bytes, sizeof bytes, &error);
    const struct bits bits = bits_init(bytes, 0, n > 0 ? (uint64_t)n * 8 : 0);
    *frame = (struct ctf_frame){.number = 0};
    return n > 0 &&
           ctf_parse_header_and_context(reader->trace, reader->section, &bits, frame, &error) ==
               CTF_FRAME_OK &&
           !frame->is_foreign && frame->packet.size != UINT64_MAX;
}

/* --- Packets that have no magic number --- */

/* Returns true if all header fields of `frame` are plausible for the packet after `before`. */
static bool is_plausible_successor(const struct ctf_frame *frame, const struct ctf_frame *before)
{
    const struct ctf_packet *packet = &frame->packet, *last = &before->packet;
    if (ctf_ends_with_zeros(frame) || frame->has_unset_size || frame->head < CHAIN_HEAD ||
        !is_same_stream(frame, before))
        return false;
    if (packet->has_begin && packet->has_end && packet->end < packet->begin)
        return false;
    return !packet->has_begin || !last->has_begin || packet->begin >= last->begin;
}

/* Returns true if `frame` has the next packet number after `before`, and its begin is not earlier
 * (if both have times). */
static bool has_next_packet_number(const struct ctf_frame *frame, const struct ctf_frame *before)
{
    const struct ctf_packet *packet = &frame->packet, *last = &before->packet;
    return is_same_stream(frame, before) && packet->has_sequence && last->has_sequence &&
           packet->sequence == last->sequence + 1 &&
           (!packet->has_begin || !last->has_begin || packet->begin >= last->begin);
}

/* Returns true if CHAIN valid packets follow each other from the offset on; if the file ends
 * before, two suffice. `before`: packet before the first one. */
static bool is_packet_chain(const struct ctf_reader *reader, uint64_t offset,
                            const struct ctf_frame *before)
{
    struct ctf_frame frame[2] = {*before};
    const uint64_t end = source_end_offset(reader->in->source);
    for (unsigned i = 0; i < CHAIN; i++) {
        struct ctf_frame *next = &frame[(i + 1) & 1];
        if (!parse_packet_at(reader, offset, next) ||
            !is_plausible_successor(next, &frame[i & 1]) || next->packet.size / 8 > end - offset)
            return false;
        offset += next->packet.size / 8;
        if (offset == end)
            return i > 0; /* one header is not enough, since it may match by chance */
    }
    return true;
}

/* Returns true if the packet header `frame`, at file offset `offset`, is that of the packet after
 * `before`: it has the next packet number, or a chain of packets starts with it. */
static bool is_successor_at(const struct ctf_reader *reader, uint64_t offset,
                            const struct ctf_frame *frame, const struct ctf_frame *before)
{
    if (frame->is_foreign || frame->packet.size == UINT64_MAX ||
        (frame->head < CHAIN_HEAD && !frame->is_size_wrong))
        return false;
    return has_next_packet_number(frame, before) ||
           (!frame->is_size_wrong && is_plausible_successor(frame, before) &&
            is_packet_chain(reader, offset, before));
}

/* Parses the packet header in `bits`, which is at file offset `offset`. Returns true if it is that
 * of the packet after `before`. */
static bool is_successor_in_bytes(const struct ctf_reader *reader, uint64_t offset,
                                  const struct bits *bits, const struct ctf_frame *before)
{
    struct ctf_frame frame;
    ttr_error error;
    const enum ctf_framing framing =
        ctf_parse_header_and_context(reader->trace, reader->section, bits, &frame, &error);
    return (framing == CTF_FRAME_OK || (framing == CTF_FRAME_BAD && frame.is_size_wrong)) &&
           is_successor_at(reader, offset, &frame, before);
}

/* Returns true if only the magic number of the packet at the file offset is damaged: its size
 * leads to the next packet of the stream, or to the end of the file. */
static bool is_packet_without_magic(const struct ctf_reader *reader, uint64_t offset,
                                    const struct ctf_frame *frame)
{
    const uint64_t size = frame->packet.size / 8,
                   room = source_end_offset(reader->in->source) - offset;
    struct ctf_frame next;
    if (!frame->has_doubtful_magic || frame->packet.size == UINT64_MAX || frame->is_whole_file ||
        ctf_ends_with_zeros(frame) || frame->has_unset_size || frame->head < CHAIN_HEAD)
        return false;
    return size == room || (size < room && parse_packet_at(reader, offset + size, &next) &&
                            is_plausible_successor(&next, frame));
}

/* --- Search for the next packet --- */

/* Returns true if the packet at p has an impossible size, but is later than `before` by its time
 * or number. Returns false if `before` is NULL. */
static bool is_successor_with_bad_size(const struct ctf_reader *reader, const uint8_t *p,
                                       const uint8_t *end, const struct ctf_frame *before)
{
    struct ctf_frame frame;
    ttr_error error;
    const struct bits bits = bits_init(p, 0, (uint64_t)(end - p) * 8);
    return before &&
           ctf_parse_header_and_context(reader->trace, reader->section, &bits, &frame, &error) ==
               CTF_FRAME_BAD &&
           frame.is_size_wrong && !frame.is_foreign && is_later_packet(&frame, before);
}

/* Bytes of a file that are searched for a packet. It must start in the first `starts_n` bytes; the
 * others are for the rest of its header. */
struct search_bytes {
    const uint8_t *bytes;
    size_t n, starts_n;
    uint64_t offset;
    /* the packet that precedes the searched one; NULL: accept any packet */
    const struct ctf_frame *before;
};

static const uint8_t *search_packet_magic(const struct ctf_reader *reader,
                                          const struct search_bytes *bytes_in)
{
    const uint8_t *const end = bytes_in->bytes + bytes_in->n, *p = bytes_in->bytes;
    while (p < bytes_in->bytes + bytes_in->starts_n &&
           (p = ctf_find_magic(reader->trace, p, end)) &&
           p < bytes_in->bytes + bytes_in->starts_n) {
        bool is_one = false;
        if ((ctf_is_packet_at(reader, p, (size_t)(end - p), &is_one) == TTR_OK && is_one) ||
            is_successor_with_bad_size(reader, p, end, bytes_in->before))
            return p;
        p++;
    }
    return NULL;
}

static const uint8_t *search_packet_chain(const struct ctf_reader *reader,
                                          const struct search_bytes *bytes_in)
{
    for (size_t i = 0; bytes_in->before && i < bytes_in->starts_n; i++) {
        const struct bits bits = bits_init(bytes_in->bytes + i, 0, (uint64_t)(bytes_in->n - i) * 8);
        if (is_successor_in_bytes(reader, bytes_in->offset + i, &bits, bytes_in->before))
            return bytes_in->bytes + i;
    }
    return NULL;
}

/* Returns the file offset of the first packet in [from, to) that may follow `before`; `to` if
 * there is none. Uses source_peek_at, since the window cannot move back. */
static uint64_t search_packet(const struct ctf_reader *reader, uint64_t from, uint64_t to,
                              const struct ctf_frame *before)
{
    const struct alloc *alloc = &reader->trace->t->counted;
    uint8_t *bytes = alloc_resize(alloc, NULL, 0, PEEK_BYTES, 1);
    uint64_t found = to;
    ttr_error error;
    for (uint64_t at = from; bytes && at < to && found == to;) {
        /* read few bytes first, since the next packet is usually close */
        const size_t wanted = at == from ? PEEK_NEAR : PEEK_BYTES;
        const int64_t got = source_peek_at(reader->in->source, at, bytes, wanted, &error);
        const size_t n = got > 0 ? (size_t)got : 0,
                     previous_size = n < wanted ? n : n - CTF_CANDIDATE_BYTES,
                     starts_n = to - at < previous_size ? (size_t)(to - at) : previous_size;
        const struct search_bytes bytes_in = {
            .bytes = bytes, .n = n, .starts_n = starts_n, .offset = at, .before = before};
        const uint8_t *p = reader->trace->class->has_magic ? search_packet_magic(reader, &bytes_in)
                                                           : search_packet_chain(reader, &bytes_in);
        found = p ? at + (uint64_t)(p - bytes) : to;
        at = n ? at + starts_n : to;
    }
    alloc_free(alloc, bytes, bytes ? PEEK_BYTES : 0, 1);
    return found;
}

uint64_t ctf_next_packet_offset(const struct ctf_reader *reader, uint64_t from, uint64_t next)
{
    const struct source *source = reader->in->source;
    const struct ctf_file_index *file_index = reader->file_index;
    if (!file_index || !reader->trace->class->has_magic || !source_is_seekable(source))
        return next;
    const uint64_t end = source_end_offset(source), to = next < end ? next : end;
    const bool is_known = !file_index->is_indexed && reader->packet_i + 1 < file_index->packets;
    if (from >= to || next == end || (next < end && (is_known || has_magic_at(reader, next))))
        return next;
    const uint64_t found = search_packet(reader, from, to, NULL);
    return found < to ? found : next;
}

/* --- Verification and repair of sizes --- */

/* Returns true if a packet starts inside the padding, at the distance of the previous packet's
 * size. If the packet is the first of the file, uses the size of the next packet, and stores it in
 * *previous_size. */
static bool padding_hides_packet(const struct ctf_reader *reader, uint64_t offset,
                                 uint64_t *previous_size, const struct ctf_frame *frame)
{
    const uint64_t size = frame->packet.size / 8, content = (frame->packet.content + 7) / 8,
                   head = (frame->head + 7) / 8;
    struct ctf_frame next;
    if (!reader->trace->class->has_magic || size < content || size - content < head ||
        *previous_size == size)
        return false;
    if (*previous_size == 0 && offset + size < source_end_offset(reader->in->source) &&
        parse_packet_at(reader, offset + size, &next))
        *previous_size = next.packet.size / 8;
    return *previous_size && *previous_size >= content && *previous_size < size &&
           size - *previous_size >= head && has_magic_at(reader, offset + *previous_size) &&
           parse_packet_at(reader, offset + *previous_size, &next);
}

/* Returns true if `next`, the packet at the declared end, proves that the declared size is
 * right. */
static bool next_packet_confirms_size(const struct ctf_reader *reader, uint64_t offset,
                                      const struct ctf_frame *frame, const struct ctf_frame *next)
{
    const bool is_packet =
        !next->is_size_wrong && !next->is_foreign && next->packet.size != UINT64_MAX;
    if (reader->trace->class->has_magic)
        return is_packet;
    const bool is_sure =
        frame->is_overfull || (frame->packet.has_sequence && frame->head >= CHAIN_HEAD);
    return is_successor_at(reader, offset, next, frame) ||
           (!is_sure && is_packet && is_plausible_successor(next, frame));
}

/* Returns true if `next`, the packet at the declared end, does not have the next packet number,
 * but a packet in the padding has it. Sets *size to the size up to that packet. */
static bool size_skips_next_packet(const struct ctf_reader *reader, uint64_t offset,
                                   const struct ctf_frame *frame, const struct ctf_frame *next,
                                   uint64_t *size)
{
    const uint64_t content = (frame->packet.content + 7) / 8, head = (frame->head + 7) / 8;
    struct ctf_frame hidden;
    if (*size < content || *size - content < head || !frame->packet.has_sequence ||
        next->packet.sequence <= frame->packet.sequence + 1 || !is_same_stream(next, frame))
        return false;
    const uint64_t found = search_packet(reader, offset + content, offset + *size, frame);
    if (found == offset + *size ||
        !(parse_packet_at(reader, found, &hidden) || hidden.is_size_wrong) ||
        !has_next_packet_number(&hidden, frame))
        return false;
    *size = found - offset;
    return true;
}

enum size_verdict { SIZE_IS_WRONG, SIZE_IS_RIGHT, SIZE_SKIPS_PACKET };

/* Compares the declared size with the packet at the declared end. Reduces *size if the padding
 * contains a packet. */
static enum size_verdict classify_packet_size(const struct ctf_reader *reader,
                                              const struct ctf_size_question *sized,
                                              const struct ctf_frame *frame, uint64_t *size)
{
    const uint64_t offset = sized->offset, end = source_end_offset(reader->in->source);
    struct ctf_frame looked;
    const struct ctf_frame *next = sized->next;
    if (*size >= end - offset)
        return *size == end - offset ? SIZE_IS_RIGHT : SIZE_IS_WRONG;
    if (!next) {
        if (!parse_packet_at(reader, offset + *size, &looked) && !looked.is_size_wrong &&
            !is_packet_without_magic(reader, offset + *size, &looked))
            return SIZE_IS_WRONG;
        next = &looked;
    }
    if (!next_packet_confirms_size(reader, offset + *size, frame, next))
        return SIZE_IS_WRONG;
    return size_skips_next_packet(reader, offset, frame, next, size) ? SIZE_SKIPS_PACKET
                                                                     : SIZE_IS_RIGHT;
}

/* Returns true if a packet of the stream of `frame` that is later than `frame` starts at the file
 * offset. */
static bool is_later_packet_at(const struct ctf_reader *reader, uint64_t offset,
                               const struct ctf_frame *frame)
{
    struct ctf_frame next;
    return (parse_packet_at(reader, offset, &next) || next.is_size_wrong) &&
           is_later_packet(&next, frame);
}

/* Returns the file offset up to which the next packet is searched: the declared end; an offset
 * after it if the declared size is impossible or packets have no magic number. */
static uint64_t find_search_end(const struct ctf_reader *reader, uint64_t offset,
                                const struct ctf_frame *frame)
{
    const uint64_t end = source_end_offset(reader->in->source), room = end - offset,
                   size = frame->packet.size / 8;
    struct ctf_frame next;
    if (frame->is_size_wrong || frame->is_overfull || size > room)
        return reader->trace->class->has_magic || room < CHAIN_BYTES_MAX ? end
                                                                         : offset + CHAIN_BYTES_MAX;
    if (reader->trace->class->has_magic ||
        (parse_packet_at(reader, offset + size, &next) && is_plausible_successor(&next, frame)))
        return offset + size;
    return room < CHAIN_BYTES_MAX ? end : offset + CHAIN_BYTES_MAX;
}

/* Returns the file offset of the next packet; `to` if there is none before that offset. Up to
 * `inner`, the declared end of the content, accepts only later packets of the stream, because
 * events may contain bytes that look like a packet. */
static uint64_t find_next_packet(struct ctf_reader *reader, uint64_t offset, uint64_t inner,
                                 uint64_t to, const struct ctf_frame *frame)
{
    const uint64_t head = (frame->head + 7) / 8;
    if (reader->no_packet_after && offset >= reader->no_packet_after)
        return to;
    const uint64_t within = inner < to ? inner : to;
    uint64_t found = search_packet(reader, offset + head, within, frame);
    if (found < within && is_later_packet_at(reader, found, frame))
        return found;
    found = inner < to ? search_packet(reader, inner, to, frame) : to;
    if (found == to &&
        (to == source_end_offset(reader->in->source) || !reader->trace->class->has_magic))
        reader->no_packet_after = offset;
    return found;
}

/* Returns the file offset of the packet's real end: the start of the next packet; the end of the
 * file if none follows; 0 if it cannot be found. */
static uint64_t find_repaired_end(struct ctf_reader *reader, uint64_t offset,
                                  const struct ctf_frame *frame)
{
    const uint64_t end = source_end_offset(reader->in->source), room = end - offset,
                   head = (frame->head + 7) / 8, content = (frame->declared_content + 7) / 8;
    const bool is_content = content >= head && content <= room;
    const uint64_t to = find_search_end(reader, offset, frame);
    if (head > room)
        return 0;
    const uint64_t found =
        find_next_packet(reader, offset, offset + (is_content ? content : head), to, frame);
    if (found < to)
        return found;
    return (frame->is_size_wrong || frame->is_overfull) && to == end && is_content ? end : 0;
}

/* Sets the packet size to `size` bytes, and updates the end of the content and the flags that
 * depend on the size. */
static void set_repaired_size(struct ctf_frame *frame, uint64_t size)
{
    const uint64_t content = frame->declared_content;
    frame->is_resized = true;
    frame->declared_size = frame->packet.size;
    frame->packet.size = size * 8;
    frame->is_overfull = content > size * 8;
    frame->is_unfinished |= content < frame->head;
    frame->packet.content = ctf_ends_with_zeros(frame) ? size * 8 : content;
    frame->is_size_wrong = false;
}

/* Returns true if the header was parsed and declares a size that can be verified, even if it is
 * impossible. */
static bool has_size_to_verify(const struct ctf_size_question *sized, const struct ctf_frame *frame)
{
    const bool is_framed =
        sized->framing == CTF_FRAME_OK || (sized->framing == CTF_FRAME_BAD && frame->is_size_wrong);
    return is_framed && frame->packet.size != UINT64_MAX && !frame->is_foreign;
}

enum ctf_framing ctf_correct_packet_size(struct ctf_reader *reader,
                                         const struct ctf_size_question *sized,
                                         struct ctf_frame *frame)
{
    if (source_is_seekable(reader->in->source) && sized->framing == CTF_FRAME_BAD &&
        is_packet_without_magic(reader, sized->offset, frame)) {
        frame->has_bad_magic = true;
        return CTF_FRAME_OK;
    }
    if (!source_is_seekable(reader->in->source) || !has_size_to_verify(sized, frame))
        return sized->framing;
    const bool is_small = frame->is_size_wrong || frame->is_overfull;
    uint64_t previous_size = sized->previous_size, size = frame->packet.size / 8;
    enum size_verdict verdict = SIZE_IS_WRONG;
    if (!is_small && padding_hides_packet(reader, sized->offset, &previous_size, frame)) {
        set_repaired_size(frame, previous_size);
        return CTF_FRAME_OK;
    }
    if (!is_small && size == previous_size)
        return CTF_FRAME_OK;
    if (!frame->is_size_wrong)
        verdict = classify_packet_size(reader, sized, frame, &size);
    if (verdict == SIZE_IS_RIGHT)
        return CTF_FRAME_OK;
    const uint64_t end = verdict == SIZE_SKIPS_PACKET
                             ? sized->offset + size
                             : find_repaired_end(reader, sized->offset, frame);
    if (end <= sized->offset)
        return sized->framing;
    set_repaired_size(frame, end - sized->offset);
    return CTF_FRAME_OK;
}
