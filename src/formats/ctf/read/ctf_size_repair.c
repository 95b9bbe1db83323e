/* Packets whose header says a wrong size: where the next one begins tells what is right.
 *
 * A size is believed that leads to another packet or to the end of the file, or that is as large as
 * the packet before.  Else the next packet is looked for: by its magic number, or, in streams
 * without one, by headers that follow each other by their sizes.  Behind the content, as far as the
 * header says where that ends; within it only what comes behind this packet by time or number, for
 * an event may hold what looks like a packet. */
#include "formats/ctf/read/ctf_resync.h"

#include "formats/ctf/read/ctf_build_index.h"

#define PEEK_NEAR ((size_t)8 << 10)
#define PEEK_BYTES ((size_t)64 << 10)
#define PEEK_HEAD ((size_t)1024)
#define CHAIN 3u /* headers that must follow each other where there is no magic number ... */
#define CHAIN_HEAD                                                                               \
    ((uint64_t)64) /* ... of at least so many bits: smaller ones follow each other by chance ... \
                    */
#define CHAIN_MOST                                                                 \
    ((uint64_t)16 << 20) /* ... looked for in so many bytes: each may be the first \
                          */

ttr_status ctf_is_packet_at(const struct ctf_reader *reader, const uint8_t *p, size_t n,
                            bool *is_one)
{
    struct ctf_frame frame;
    struct bits bits = bits_init(p, 0, (uint64_t)n * 8);
    enum ctf_framing framing =
        ctf_frame_packet(reader->trace, reader->section, &bits, &frame, reader->error);
    *is_one = framing == CTF_FRAME_OK &&
              (!frame.is_foreign || reader->is_foreign || reader->trace->has_foreign);
    return framing == CTF_FRAME_FAILED ? reader->error->status : TTR_OK;
}

/* Where the next packet may begin: by the magic number, of the RFC in either byte order where
 * packets have both. */
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

/* Whether the magic number stands at an offset. */
static bool has_magic_at(const struct ctf_reader *reader, uint64_t offset)
{
    uint8_t bytes[sizeof reader->trace->class->magic];
    ttr_error error;
    return source_peek_at(reader->in->source, offset, bytes, sizeof bytes, &error) ==
               (int64_t)sizeof bytes &&
           ctf_find_magic(reader->trace, bytes, bytes + sizeof bytes) == bytes;
}

static bool is_of_one_stream(const struct ctf_frame *a, const struct ctf_frame *b)
{
    return a->kind->first == b->kind->first && a->has_number == b->has_number &&
           a->number == b->number;
}

/* Whether a packet comes behind another one by time or number. */
static bool comes_behind(const struct ctf_frame *frame, const struct ctf_frame *before)
{
    const struct ctf_packet *packet = &frame->packet, *last = &before->packet;
    if (!is_of_one_stream(frame, before))
        return false;
    if (packet->has_begin && last->has_begin && last->has_end &&
        (last->end > last->begin || packet->begin > last->begin))
        return packet->begin >= last->end;
    return packet->has_sequence && last->has_sequence && packet->sequence == last->sequence + 1;
}

/* Whether a packet of this trace that says its size begins at an offset: takes it apart. */
static bool stands_at(const struct ctf_reader *reader, uint64_t offset, struct ctf_frame *frame)
{
    uint8_t bytes[PEEK_HEAD];
    ttr_error error;
    const int64_t n = source_peek_at(reader->in->source, offset, bytes, sizeof bytes, &error);
    const struct bits bits = bits_init(bytes, 0, n > 0 ? (uint64_t)n * 8 : 0);
    *frame = (struct ctf_frame){.number = 0};
    return n > 0 &&
           ctf_frame_packet(reader->trace, reader->section, &bits, frame, &error) == CTF_FRAME_OK &&
           !frame->is_foreign && frame->packet.size != UINT64_MAX;
}

/* --- Without a magic number --- */

/* Whether what stands somewhere can be a packet behind another, by all that a header says. */
static bool can_follow(const struct ctf_frame *frame, const struct ctf_frame *before)
{
    const struct ctf_packet *packet = &frame->packet, *last = &before->packet;
    if (ctf_ends_with_zeros(frame) || frame->has_unset_size || frame->head < CHAIN_HEAD ||
        !is_of_one_stream(frame, before))
        return false;
    if (packet->has_begin && packet->has_end && packet->end < packet->begin)
        return false;
    return !packet->has_begin || !last->has_begin || packet->begin >= last->begin;
}

/* Whether a packet is the next one of its stream by number, and by time where both have one. */
static bool is_next(const struct ctf_frame *frame, const struct ctf_frame *before)
{
    const struct ctf_packet *packet = &frame->packet, *last = &before->packet;
    return is_of_one_stream(frame, before) && packet->has_sequence && last->has_sequence &&
           packet->sequence == last->sequence + 1 &&
           (!packet->has_begin || !last->has_begin || packet->begin >= last->begin);
}

/* Whether packets follow each other from an offset on, some of them, or two up to the end of the
 * file. */
static bool is_chain(const struct ctf_reader *reader, uint64_t offset,
                     const struct ctf_frame *before)
{
    struct ctf_frame frame[2] = {*before};
    const uint64_t end = source_end_offset(reader->in->source);
    for (unsigned i = 0; i < CHAIN; i++) {
        struct ctf_frame *next = &frame[(i + 1) & 1];
        if (!stands_at(reader, offset, next) || !can_follow(next, &frame[i & 1]) ||
            next->packet.size / 8 > end - offset)
            return false;
        offset += next->packet.size / 8;
        if (offset == end)
            return i > 0; /* one alone may be so by chance */
    }
    return true;
}

/* Whether what stands at an offset follows by itself, or by what follows it. */
static bool is_link(const struct ctf_reader *reader, uint64_t offset, const struct ctf_frame *frame,
                    const struct ctf_frame *before)
{
    if (frame->is_foreign || frame->packet.size == UINT64_MAX ||
        (frame->head < CHAIN_HEAD && !frame->is_size_wrong))
        return false;
    return is_next(frame, before) ||
           (!frame->is_size_wrong && can_follow(frame, before) && is_chain(reader, offset, before));
}

/* The same of bytes at hand. */
static bool is_link_among(const struct ctf_reader *reader, uint64_t offset, const struct bits *bits,
                          const struct ctf_frame *before)
{
    struct ctf_frame frame;
    ttr_error error;
    const enum ctf_framing framing =
        ctf_frame_packet(reader->trace, reader->section, bits, &frame, &error);
    return (framing == CTF_FRAME_OK || (framing == CTF_FRAME_BAD && frame.is_size_wrong)) &&
           is_link(reader, offset, &frame, before);
}

/* --- Looking for the next packet --- */

/* Whether a packet begins there whose size cannot be, but which comes behind the one before. */
static bool is_wrong_packet(const struct ctf_reader *reader, const uint8_t *p, const uint8_t *end,
                            const struct ctf_frame *before)
{
    struct ctf_frame frame;
    ttr_error error;
    const struct bits bits = bits_init(p, 0, (uint64_t)(end - p) * 8);
    return before &&
           ctf_frame_packet(reader->trace, reader->section, &bits, &frame, &error) ==
               CTF_FRAME_BAD &&
           frame.is_size_wrong && !frame.is_foreign && comes_behind(&frame, before);
}

/* Bytes of the file that are looked through: a packet may begin in the first of them, not in the
 * last where more come behind. */
struct among {
    const uint8_t *bytes;
    size_t n, look;
    uint64_t offset;
    const struct ctf_frame *before; /* the packet that another one is to follow; NULL: any */
};

static const uint8_t *find_by_magic(const struct ctf_reader *reader, const struct among *among)
{
    const uint8_t *const end = among->bytes + among->n, *p = among->bytes;
    while (p < among->bytes + among->look && (p = ctf_find_magic(reader->trace, p, end)) &&
           p < among->bytes + among->look) {
        bool is_one = false;
        if ((ctf_is_packet_at(reader, p, (size_t)(end - p), &is_one) == TTR_OK && is_one) ||
            is_wrong_packet(reader, p, end, among->before))
            return p;
        p++;
    }
    return NULL;
}

static const uint8_t *find_by_chain(const struct ctf_reader *reader, const struct among *among)
{
    for (size_t i = 0; among->before && i < among->look; i++) {
        const struct bits bits = bits_init(among->bytes + i, 0, (uint64_t)(among->n - i) * 8);
        if (is_link_among(reader, among->offset + i, &bits, among->before))
            return among->bytes + i;
    }
    return NULL;
}

/* The first packet of the file that begins between two offsets, without moving the window, which
 * cannot go back; `to`: there is none. */
static uint64_t find_packet(const struct ctf_reader *reader, uint64_t from, uint64_t to,
                            const struct ctf_frame *before)
{
    const struct alloc *alloc = &reader->trace->t->counted;
    uint8_t *bytes = alloc_resize(alloc, NULL, 0, PEEK_BYTES, 1);
    uint64_t found = to;
    ttr_error error;
    for (uint64_t at = from; bytes && at < to && found == to;) {
        const size_t wanted = at == from ? PEEK_NEAR : PEEK_BYTES; /* mostly it is near */
        const int64_t got = source_peek_at(reader->in->source, at, bytes, wanted, &error);
        const size_t n = got > 0 ? (size_t)got : 0,
                     usual = n < wanted ? n : n - CTF_CANDIDATE_BYTES,
                     look = to - at < usual ? (size_t)(to - at) : usual;
        const struct among among = {
            .bytes = bytes, .n = n, .look = look, .offset = at, .before = before};
        const uint8_t *p = reader->trace->class->has_magic ? find_by_magic(reader, &among)
                                                           : find_by_chain(reader, &among);
        found = p ? at + (uint64_t)(p - bytes) : to;
        at = n ? at + look : to;
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
    const uint64_t found = find_packet(reader, from, to, NULL);
    return found < to ? found : next;
}

/* --- Sizes --- */

/* Whether another packet is hidden in the padding of one: where that would end if it were as large
 * as the one before it, or as the first one's next, which it is not. */
static bool hides_usual(const struct ctf_reader *reader, uint64_t offset, uint64_t *usual,
                        const struct ctf_frame *frame)
{
    const uint64_t size = frame->packet.size / 8, content = (frame->packet.content + 7) / 8,
                   head = (frame->head + 7) / 8;
    struct ctf_frame next;
    if (!reader->trace->class->has_magic || size < content || size - content < head ||
        *usual == size)
        return false;
    if (*usual == 0 && offset + size < source_end_offset(reader->in->source) &&
        stands_at(reader, offset + size, &next))
        *usual = next.packet.size / 8;
    return *usual && *usual >= content && *usual < size && size - *usual >= head &&
           has_magic_at(reader, offset + *usual) && stands_at(reader, offset + *usual, &next);
}

/* Whether what stands behind a packet by its word says that the size is right. */
static bool confirms(const struct ctf_reader *reader, uint64_t offset,
                     const struct ctf_frame *frame, const struct ctf_frame *next)
{
    const bool is_packet =
        !next->is_size_wrong && !next->is_foreign && next->packet.size != UINT64_MAX;
    if (reader->trace->class->has_magic)
        return is_packet;
    const bool is_sure =
        frame->is_overfull || (frame->packet.has_sequence && frame->head >= CHAIN_HEAD);
    return is_link(reader, offset, next, frame) ||
           (!is_sure && is_packet && can_follow(next, frame));
}

/* Whether the packet that a size leads to is not the next one by number, which stands before it, in
 * the padding. */
static bool skips_next(const struct ctf_reader *reader, uint64_t offset,
                       const struct ctf_frame *frame, const struct ctf_frame *next, uint64_t *size)
{
    const uint64_t content = (frame->packet.content + 7) / 8, head = (frame->head + 7) / 8;
    struct ctf_frame hidden;
    if (*size < content || *size - content < head || !frame->packet.has_sequence ||
        next->packet.sequence <= frame->packet.sequence + 1 || !is_of_one_stream(next, frame))
        return false;
    const uint64_t found = find_packet(reader, offset + content, offset + *size, frame);
    if (found == offset + *size || !(stands_at(reader, found, &hidden) || hidden.is_size_wrong) ||
        !is_next(&hidden, frame))
        return false;
    *size = found - offset;
    return true;
}

enum lead { LEAD_WRONG, LEAD_RIGHT, LEAD_SKIPS };

/* Whether the size leads where a packet can end; where it skips the next one it is corrected. */
static enum lead lead_of(const struct ctf_reader *reader, const struct ctf_size_question *sized,
                         const struct ctf_frame *frame, uint64_t *size)
{
    const uint64_t offset = sized->offset, end = source_end_offset(reader->in->source);
    struct ctf_frame looked;
    const struct ctf_frame *next = sized->next;
    if (*size >= end - offset)
        return *size == end - offset ? LEAD_RIGHT : LEAD_WRONG;
    if (!next) {
        if (!stands_at(reader, offset + *size, &looked) && !looked.is_size_wrong)
            return LEAD_WRONG;
        next = &looked;
    }
    if (!confirms(reader, offset + *size, frame, next))
        return LEAD_WRONG;
    return skips_next(reader, offset, frame, next, size) ? LEAD_SKIPS : LEAD_RIGHT;
}

/* Whether what was found at an offset comes behind a packet that says to hold it. */
static bool is_behind(const struct ctf_reader *reader, uint64_t offset,
                      const struct ctf_frame *frame)
{
    struct ctf_frame next;
    return (stands_at(reader, offset, &next) || next.is_size_wrong) && comes_behind(&next, frame);
}

/* Up to where the next packet is looked for: behind what the packet says to be its end only where
 * that is out of the question, or where nothing marks it. */
static uint64_t search_end(const struct ctf_reader *reader, uint64_t offset,
                           const struct ctf_frame *frame)
{
    const uint64_t end = source_end_offset(reader->in->source), room = end - offset,
                   size = frame->packet.size / 8;
    struct ctf_frame next;
    if (frame->is_size_wrong || frame->is_overfull || size > room)
        return reader->trace->class->has_magic || room < CHAIN_MOST ? end : offset + CHAIN_MOST;
    if (reader->trace->class->has_magic ||
        (stands_at(reader, offset + size, &next) && can_follow(&next, frame)))
        return offset + size;
    return room < CHAIN_MOST ? end : offset + CHAIN_MOST;
}

/* Where the next packet begins that stands behind one; `to`: none does.  `inner`: up to where that
 * says to have its content. */
static uint64_t find_next(struct ctf_reader *reader, uint64_t offset, uint64_t inner, uint64_t to,
                          const struct ctf_frame *frame)
{
    const uint64_t head = (frame->head + 7) / 8;
    if (reader->no_packet_from && offset >= reader->no_packet_from)
        return to;
    const uint64_t within = inner < to ? inner : to;
    uint64_t found = find_packet(reader, offset + head, within, frame);
    if (found < within && is_behind(reader, found, frame))
        return found;
    found = inner < to ? find_packet(reader, inner, to, frame) : to;
    if (found == to &&
        (to == source_end_offset(reader->in->source) || !reader->trace->class->has_magic))
        reader->no_packet_from = offset;
    return found;
}

/* Where a packet ends: where the next one begins, or the file ends where nothing says that another
 * one follows; 0: nobody knows. */
static uint64_t find_end(struct ctf_reader *reader, uint64_t offset, const struct ctf_frame *frame)
{
    const uint64_t end = source_end_offset(reader->in->source), room = end - offset,
                   head = (frame->head + 7) / 8, content = (frame->declared_content + 7) / 8;
    const bool is_content = content >= head && content <= room;
    const uint64_t to = search_end(reader, offset, frame);
    if (head > room)
        return 0;
    const uint64_t found =
        find_next(reader, offset, offset + (is_content ? content : head), to, frame);
    if (found < to)
        return found;
    return (frame->is_size_wrong || frame->is_overfull) && to == end && is_content ? end : 0;
}

/* The packet ends elsewhere than it says. */
static void resize(struct ctf_frame *frame, uint64_t size)
{
    const uint64_t content = frame->declared_content;
    frame->is_resized = true;
    frame->said_size = frame->packet.size;
    frame->packet.size = size * 8;
    frame->is_overfull = content > size * 8;
    frame->is_unfinished |= content < frame->head;
    frame->packet.content = ctf_ends_with_zeros(frame) ? size * 8 : content;
    frame->is_size_wrong = false;
}

/* Whether the size of what was framed can be in question; other framings leave nothing behind. */
static bool has_size(const struct ctf_size_question *sized, const struct ctf_frame *frame)
{
    const bool is_framed =
        sized->framing == CTF_FRAME_OK || (sized->framing == CTF_FRAME_BAD && frame->is_size_wrong);
    return is_framed && frame->packet.size != UINT64_MAX && !frame->is_foreign;
}

enum ctf_framing ctf_correct_size(struct ctf_reader *reader, const struct ctf_size_question *sized,
                                  struct ctf_frame *frame)
{
    if (!source_is_seekable(reader->in->source) || !has_size(sized, frame))
        return sized->framing;
    const bool is_small = frame->is_size_wrong || frame->is_overfull;
    uint64_t usual = sized->usual, size = frame->packet.size / 8;
    enum lead lead = LEAD_WRONG;
    if (!is_small && hides_usual(reader, sized->offset, &usual, frame)) {
        resize(frame, usual);
        return CTF_FRAME_OK;
    }
    if (!is_small && size == usual)
        return CTF_FRAME_OK;
    if (!frame->is_size_wrong)
        lead = lead_of(reader, sized, frame, &size);
    if (lead == LEAD_RIGHT)
        return CTF_FRAME_OK;
    const uint64_t end =
        lead == LEAD_SKIPS ? sized->offset + size : find_end(reader, sized->offset, frame);
    if (end <= sized->offset)
        return sized->framing;
    resize(frame, end - sized->offset);
    return CTF_FRAME_OK;
}
