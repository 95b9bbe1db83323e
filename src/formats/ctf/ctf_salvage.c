/* Salvage: what is left of a stream where a packet or an event in it is damaged.
 *
 * Packets that begin with the magic number are found again by it: a candidate counts when its header and context can be taken apart (with
 * the uuid of the trace where packets have one).  Without a magic number nothing behind the damage can be trusted. */
#include "formats/ctf/ctf_salvage.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/ctf_scan.h"

#define SEARCH_BYTES ((size_t)16 << 10)
#define PEEK_NEAR ((size_t)8 << 10)
#define PEEK_BYTES ((size_t)64 << 10)
#define PEEK_HEAD ((size_t)1024)
#define CANDIDATE_BYTES ((size_t)4096) /* header and context of a candidate are looked for in so many bytes */

bool ctf_is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

/* Whether a packet begins at p; TTR_E_* only where that cannot be found out. */
static ttr_status is_packet(const struct ctf_reader *reader, const uint8_t *p, size_t n, bool *is_one)
{
    struct ctf_frame frame;
    struct bits bits = bits_over(p, 0, (uint64_t)n * 8);
    enum ctf_framing framing = ctf_frame_packet(reader->trace, reader->section, &bits, &frame, reader->error);
    *is_one = framing == CTF_FRAMED && (!frame.is_foreign || reader->is_foreign || reader->trace->has_foreign);
    return framing == CTF_FRAME_FAILED ? reader->error->status : TTR_OK;
}

/* Where the next packet may begin: by the magic number, of the RFC in either byte order where packets have both. */
const uint8_t *ctf_find_magic(const struct ctf_trace *trace, const uint8_t *begin, const uint8_t *end)
{
    const uint8_t *magic = trace->class->magic, reversed[] = {magic[3], magic[2], magic[1], magic[0]};
    const uint8_t *p = memmem(begin, (size_t)(end - begin), magic, sizeof trace->class->magic);
    if (!trace->other_order)
        return p;
    const uint8_t *before = p ? p + sizeof reversed - 1 : end, *q = memmem(begin, (size_t)(before - begin), reversed, sizeof reversed);
    return q ? q : p;
}

/* Looks through the bytes of the window from *at on, up to where a candidate would not be whole; *at is where the search goes on. */
static ttr_status search_window(struct ctf_reader *reader, uint64_t *at, bool *is_found)
{
    const struct window *window = &reader->in->window;
    const uint8_t *begin = window->bytes + (*at - window->offset), *end = window->bytes + window->n;
    const uint8_t *last = window->at_end || (size_t)(end - begin) < CANDIDATE_BYTES ? end : end - CANDIDATE_BYTES;
    while (begin < last) {
        const uint8_t *p = ctf_find_magic(reader->trace, begin, end);
        if (!p || p >= last)
            break;
        ttr_status status = is_packet(reader, p, (size_t)(end - p), is_found);
        begin = p + (*is_found ? 0 : 1);
        if (status != TTR_OK || *is_found) {
            *at = window->offset + (uint64_t)(begin - window->bytes);
            return status;
        }
    }
    *at = window->offset + (uint64_t)(last - window->bytes);
    return TTR_OK;
}

ttr_status ctf_search(struct ctf_reader *reader, uint64_t from, bool *is_zero)
{
    struct input *in = reader->in;
    const bool has_magic = reader->trace->class->has_magic;
    uint64_t at = from, seen = reader->next;
    bool is_found = false;
    *is_zero = true;
    for (;;) {
        ttr_status status = input_fill(in, seen, SEARCH_BYTES, reader->error);
        if (status != TTR_OK)
            return status;
        const struct window *window = &in->window;
        uint64_t end = window->offset + window->n;
        if (has_magic && at < end)
            status = search_window(reader, &at, &is_found);
        else
            at = end;
        uint64_t passed = is_found || at < end ? at : end;
        *is_zero = *is_zero && ctf_is_zero(window->bytes, (size_t)(passed - window->offset));
        if (status != TTR_OK || is_found || window->at_end || window->n == 0) {
            reader->next = is_found ? at : end;
            return status;
        }
        seen = passed;
    }
}

/* --- Wrong sizes --- */

/* Whether a packet may begin at an offset. */
static bool has_magic_at(const struct ctf_reader *reader, uint64_t offset)
{
    uint8_t bytes[sizeof reader->trace->class->magic];
    ttr_error error;
    return source_peek_at(reader->in->source, offset, bytes, sizeof bytes, &error) == (int64_t)sizeof bytes &&
           ctf_find_magic(reader->trace, bytes, bytes + sizeof bytes) == bytes;
}

/* The first packet that begins in some bytes, but not in the last of them where more come behind; NULL: none. */
static const uint8_t *find_among(const struct ctf_reader *reader, const uint8_t *bytes, size_t n, size_t look)
{
    const uint8_t *const end = bytes + n, *p = bytes;
    while (p < bytes + look && (p = ctf_find_magic(reader->trace, p, end)) && p < bytes + look) {
        bool is_one = false;
        if (is_packet(reader, p, (size_t)(end - p), &is_one) == TTR_OK && is_one)
            return p;
        p++;
    }
    return NULL;
}

/* The first packet of the file that begins between two offsets, without moving the window, which cannot go back; `to`: there is none. */
static uint64_t find_packet(const struct ctf_reader *reader, uint64_t from, uint64_t to)
{
    const struct alloc *alloc = &reader->trace->t->counted;
    uint8_t *bytes = alloc_resize(alloc, NULL, 0, PEEK_BYTES, 1);
    uint64_t found = to;
    ttr_error error;
    for (uint64_t at = from; bytes && at < to && found == to;) {
        const size_t wanted = at == from ? PEEK_NEAR : PEEK_BYTES; /* mostly it is near */
        const int64_t got = source_peek_at(reader->in->source, at, bytes, wanted, &error);
        const size_t n = got > 0 ? (size_t)got : 0, usual = n < wanted ? n : n - CANDIDATE_BYTES, look = to - at < usual ? (size_t)(to - at) : usual;
        const uint8_t *p = find_among(reader, bytes, n, look);
        found = p ? at + (uint64_t)(p - bytes) : to;
        at = n ? at + look : to;
    }
    alloc_free(alloc, bytes, bytes ? PEEK_BYTES : 0, 1);
    return found;
}

/* Whether a packet begins at an offset: *size is what it says of itself. */
static bool stands_at(const struct ctf_reader *reader, uint64_t offset, uint64_t *size)
{
    uint8_t bytes[PEEK_HEAD];
    struct ctf_frame frame;
    ttr_error error;
    const int64_t n = source_peek_at(reader->in->source, offset, bytes, sizeof bytes, &error);
    const struct bits bits = bits_over(bytes, 0, n > 0 ? (uint64_t)n * 8 : 0);
    if (n <= 0 || ctf_frame_packet(reader->trace, reader->section, &bits, &frame, &error) != CTF_FRAMED || frame.is_foreign || frame.packet.size == UINT64_MAX)
        return false;
    *size = frame.packet.size / 8;
    return true;
}

void ctf_correct_size(const struct ctf_reader *reader, uint64_t offset, uint64_t usual, struct ctf_frame *frame)
{
    const uint64_t size = frame->packet.size / 8, content = (frame->packet.content + 7) / 8, head = (frame->head + 7) / 8;
    uint64_t unused;
    if (!reader->trace->class->has_magic || !source_is_seekable(reader->in->source) || frame->packet.size == UINT64_MAX || size < content || size - content < head)
        return;
    if (usual == size || (usual == 0 && !stands_at(reader, offset + size, &usual)))
        return;
    if (usual < content || usual >= size || size - usual < head || !has_magic_at(reader, offset + usual) || !stands_at(reader, offset + usual, &unused))
        return;
    frame->said_size = size;
    frame->packet.size = usual * 8;
}

uint64_t ctf_go_on(const struct ctf_reader *reader, uint64_t from, uint64_t next)
{
    const struct source *source = reader->in->source;
    const struct ctf_lanes *lanes = reader->lanes;
    if (!lanes || !reader->trace->class->has_magic || !source_is_seekable(source))
        return next;
    const uint64_t end = source_end(source), to = next < end ? next : end;
    const bool is_known = !lanes->is_indexed && reader->packet_i + 1 < lanes->packets;
    if (from >= to || next == end || (next < end && (is_known || has_magic_at(reader, next))))
        return next;
    const uint64_t found = find_packet(reader, from, to);
    return found < to ? found : next;
}

ttr_status ctf_lose_event(struct ctf_reader *reader, const char *code, const char *what)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct window *window = &reader->in->window;
    uint64_t from = ctf_place(reader, reader->bits.at), end = packet->offset + (packet->content + 7) / 8;
    reader->is_damaged = true;
    if (packet->size == UINT64_MAX) {
        reader->is_lost = true;
        reader->frame.code = code;
        (void)snprintf(reader->frame.text, sizeof reader->frame.text, "%s", what);
        return TTR_OK;
    }
    const struct source *source = reader->in->source;
    uint64_t file_end = source_is_seekable(source) ? source_disk_size(source) : UINT64_MAX;
    file_end = window->at_end ? window->offset + window->n : file_end;
    const uint64_t next = packet->offset + packet->size / 8, sooner = reader->is_unpacked ? next : ctf_go_on(reader, from, next);
    if (sooner < next || reader->frame.said_size) {
        reader->is_size_told = true;
        end = sooner < end ? sooner : end;
    } else if (end > file_end && file_end >= from) {
        reader->is_cut_told = true;
        end = file_end;
    }
    return input_damage(reader->in, from, end - from, code, reader->error, "%s: %s (id %llu); %llu bytes of the packet at byte %llu are skipped",
                        reader->file, what, (unsigned long long)reader->bad_id, (unsigned long long)(end - from),
                        (unsigned long long)packet->offset);
}

ttr_status ctf_pass_foreign(struct ctf_reader *reader)
{
    const struct ctf_frame *frame = &reader->frame;
    uint64_t from = reader->next, n = frame->packet.size / 8;
    if (frame->packet.size == UINT64_MAX) { /* nothing says where it ends */
        reader->is_lost = true;
        return TTR_OK;
    }
    reader->next += n;
    reader->usual = n;
    if (reader->lane) /* the first lane's input tells */
        return TTR_OK;
    return input_damage(reader->in, from, n, frame->code, reader->error, "%s: %s; its %llu bytes are skipped", reader->file, frame->text,
                        (unsigned long long)n);
}
