/* Resynchronization: finds the next packet after damage.
 *
 * Algorithm: scan for the magic number. A candidate is accepted if its packet header and context
 * can be parsed, and its UUID (if packets have one) is that of the trace. Each window is searched
 * up to CTF_CANDIDATE_BYTES before its end, so that the header of every candidate is complete. The
 * remaining bytes are searched with the next window.
 *
 * |  ...events | damage | magic? (no: header impossible) | magic, header, context -> reader->next
 * |            `- reported as one region of damage -----'
 *
 * Invariant: damage before reader->next is reported exactly once, by the input of the file's first
 * packet queue. Cost: one memmem over the damaged bytes, and one header parse per candidate.
 *
 * Left out: streams without a magic number. Nothing after the damage can be trusted there, except
 * for packets that ctf_size_repair.c finds. */
#include "formats/ctf/read/ctf_resync.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_build_index.h"

#define SEARCH_BYTES ((size_t)16 << 10)

bool ctf_is_all_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

/* Searches the window for a packet, from file offset *at on. If there is one, sets *is_found, and
 * *at to its offset. If not, sets *at to the offset from which to search the next window. */
static ttr_status search_window_for_packet(struct ctf_reader *reader, uint64_t *at, bool *is_found)
{
    const struct window *window = &reader->in->window;
    const uint8_t *begin = window->bytes + (*at - window->offset), *end = window->bytes + window->n;
    const uint8_t *last = window->at_end || (size_t)(end - begin) < CTF_CANDIDATE_BYTES
                              ? end
                              : end - CTF_CANDIDATE_BYTES;
    while (begin < last) {
        const uint8_t *p = ctf_find_magic(reader->trace, begin, end);
        if (!p || p >= last)
            break;
        ttr_status status = ctf_is_packet_at(reader, p, (size_t)(end - p), is_found);
        begin = p + (*is_found ? 0 : 1);
        if (status != TTR_OK || *is_found) {
            *at = window->offset + (uint64_t)(begin - window->bytes);
            return status;
        }
    }
    *at = window->offset + (uint64_t)(last - window->bytes);
    return TTR_OK;
}

ttr_status ctf_search_packet(struct ctf_reader *reader, uint64_t from, bool *is_zero)
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
            status = search_window_for_packet(reader, &at, &is_found);
        else
            at = end;
        uint64_t passed = is_found || at < end ? at : end;
        *is_zero = *is_zero && ctf_is_all_zero(window->bytes, (size_t)(passed - window->offset));
        if (status != TTR_OK || is_found || window->at_end || window->n == 0) {
            reader->next = is_found ? at : end;
            return status;
        }
        seen = passed;
    }
}

ttr_status ctf_report_bad_event(struct ctf_reader *reader, const char *code, const char *what)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct window *window = &reader->in->window;
    uint64_t from = ctf_file_offset_of_bit(reader, reader->bits.at),
             end = packet->offset + (packet->content + 7) / 8;
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
    /* bits of unpacked content have no file offsets: limit the range to the packet in the file */
    if (reader->is_unpacked) {
        from = from < end ? from : end;
        from = from < file_end ? from : file_end;
    }
    const uint64_t next = packet->offset + packet->size / 8,
                   sooner = reader->is_unpacked ? next : ctf_next_packet_offset(reader, from, next);
    if (sooner < next || reader->frame.is_resized) {
        reader->is_size_reported = true;
        end = sooner < end ? sooner : end;
    } else if (end > file_end && file_end >= from) {
        reader->is_cut_reported = true;
        end = file_end;
    }
    const uint64_t lost =
        reader->is_unpacked ? (reader->content_end - reader->bits.at + 7) / 8 : end - from;
    return input_add_damage(reader->in, from, end - from, code, reader->error,
                            "%s: %s (id %llu); %llu byte%s of %sthe packet at byte %llu %s skipped",
                            reader->file, what, (unsigned long long)reader->bad_id,
                            (unsigned long long)lost, lost == 1 ? "" : "s",
                            reader->is_unpacked ? "what was unpacked of " : "",
                            (unsigned long long)packet->offset, lost == 1 ? "is" : "are");
}

ttr_status ctf_skip_foreign_packet(struct ctf_reader *reader)
{
    const struct ctf_frame *frame = &reader->frame;
    uint64_t from = reader->next, n = frame->packet.size / 8;
    /* the packet declares no size, so its end is found by searching the next packet */
    if (frame->packet.size == UINT64_MAX) {
        reader->is_lost = true;
        return TTR_OK;
    }
    reader->next += n;
    reader->previous_size = n;
    if (reader->queue) /* only the input of the first queue reports damage between packets */
        return TTR_OK;
    return input_add_damage(reader->in, from, n, frame->code, reader->error,
                            "%s: %s; its %llu bytes are skipped", reader->file, frame->text,
                            (unsigned long long)n);
}
