/* Salvage: what is left of a stream where a packet or an event in it is damaged.
 *
 * Packets that begin with the magic number are found again by it: a candidate counts when its
 * header and context can be taken apart (with the uuid of the trace where packets have one).
 * Without a magic number nothing behind the damage can be trusted, but for what ctf_size_repair.c
 * finds. */
#include "formats/ctf/read/ctf_resync.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_build_index.h"

#define SEARCH_BYTES ((size_t)16 << 10)

bool ctf_is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

/* Looks through the bytes of the window from *at on, up to where a candidate would not be whole;
 * *at is where the search goes on. */
static ttr_status search_window(struct ctf_reader *reader, uint64_t *at, bool *is_found)
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

ttr_status ctf_report_bad_event(struct ctf_reader *reader, const char *code, const char *what)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct window *window = &reader->in->window;
    uint64_t from = ctf_queue_ref(reader, reader->bits.at),
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
    if (reader->is_unpacked) { /* places in what was unpacked are none of the file: they may lie
                                  behind all that is stored */
        from = from < end ? from : end;
        from = from < file_end ? from : file_end;
    }
    const uint64_t next = packet->offset + packet->size / 8,
                   sooner = reader->is_unpacked ? next : ctf_next_packet_offset(reader, from, next);
    if (sooner < next || reader->frame.is_resized) {
        reader->is_size_told = true;
        end = sooner < end ? sooner : end;
    } else if (end > file_end && file_end >= from) {
        reader->is_cut_told = true;
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
    if (frame->packet.size == UINT64_MAX) { /* nothing says where it ends */
        reader->is_lost = true;
        return TTR_OK;
    }
    reader->next += n;
    reader->usual = n;
    if (reader->queue) /* the first lane's input tells */
        return TTR_OK;
    return input_add_damage(reader->in, from, n, frame->code, reader->error,
                            "%s: %s; its %llu bytes are skipped", reader->file, frame->text,
                            (unsigned long long)n);
}
