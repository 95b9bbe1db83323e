/* Functions of the reader that only RFC v1.1 needs: packet headers, and content that may be
 * compressed, encrypted and checksummed (src/formats/ctf/rfc-v1.1.md, decisions 7 to 9, 25 to 27,
 * 30). */
#include "formats/ctf/read/rfc11_read.h"

#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "base/number.h"
#include "base/status.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "model/options.h"

static ttr_status read_alignment_option(struct ctf_trace *trace, const char *value,
                                        ttr_error *error)
{
    static const char *const words[] = {[CTF_ALIGN_PACKED] = "packed",
                                        [CTF_ALIGN_NATURAL_64] = "natural",
                                        [CTF_ALIGN_NATURAL_32] = "natural-32"};
    for (unsigned i = CTF_ALIGN_PACKED; value && i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i]) == 0)
            trace->assumed_alignment = (enum ctf_alignment)i;
    return !value || trace->assumed_alignment
               ? TTR_OK
               : fail(error, TTR_E_MISUSE, NO_OFFSET,
                      "option assume-alignment=%s of ctf: expected packed, natural or natural-32",
                      value);
}

ttr_status rfc11_read_options(struct ctf_trace *trace, char *const *options, size_t n,
                              ttr_error *error)
{
    const char *file = options_get(options, n, "key"),
               *variable = options_get(options, n, "key-env");
    const char *most = options_get(options, n, "unpacked-max");
    ttr_status status = TTR_OK;
    if (file)
        status = rfc11_read_key_file(file, trace->key, error);
    else if (variable)
        status = rfc11_read_key_variable(variable, trace->key, error);
    trace->has_key = (file || variable) && status == TTR_OK;
    if (status == TTR_OK && most &&
        (!number_parse_u64(most, strlen(most), &trace->unpacked_max) ||
         trace->unpacked_max < RFC11_HEADER))
        status = fail(error, TTR_E_MISUSE, NO_OFFSET,
                      "option unpacked-max=%s of ctf: expected a number of bytes from %u", most,
                      RFC11_HEADER);
    return status == TTR_OK
               ? read_alignment_option(trace, options_get(options, n, "assume-alignment"), error)
               : status;
}

void rfc11_assign_stream_class(struct ctf_reader *reader)
{
    reader->section = rfc11_find_section_of_file(&reader->trace->class->description, reader->file,
                                                 &reader->has_cpu, &reader->cpu);
    store_u32le(reader->cpu_bytes, reader->cpu);
}

/* Packet context with one field: the CPU number of the file name, which other versions store in
 * each packet. */
static const struct type cpu_number = {
    .kind = TYPE_UINT, .bits = 32, .align = 3, .role = CTF_ROLE_CPU};
static const struct type_member cpu_member = {
    .name = {"cpu_id", 6}, .shown = {"cpu_id", 6}, .type = &cpu_number};
static const struct type cpu_context = {
    .kind = TYPE_STRUCT, .align = 3, .members = &cpu_member, .members_n = 1};

ttr_status rfc11_compile_cpu_context(struct ctf_trace *trace, ttr_error *error)
{
    const struct layout_spec spec = {.t = trace->t,
                                     .arena = &trace->class->description.arena,
                                     .root = {[ROOT_PACKET_CONTEXT] = &cpu_context},
                                     .shown_roles = UINT64_C(1) << CTF_ROLE_CPU};
    trace->cpu_context = &cpu_context;
    trace->cpu = layout_compile(&spec, error);
    return trace->cpu ? TTR_OK : TTR_E_NOMEM;
}

/* --- Headers --- */

static enum ctf_framing reject_packet_header(struct ctf_frame *frame, const char *code,
                                             const char *text)
{
    frame->code = code;
    (void)snprintf(frame->text, sizeof frame->text, "%s", text);
    return CTF_FRAME_BAD;
}

static void copy_packet_header(const struct rfc11_packet *rfc, bool has_time,
                               struct ctf_frame *frame)
{
    frame->packet.has_begin = frame->packet.has_end = has_time;
    frame->packet.size = (uint64_t)rfc->packet_size * 8;
    frame->packet.content = (uint64_t)rfc->content_size * 8;
    frame->packet.begin = rfc->timestamp_begin;
    frame->packet.end = rfc->timestamp_end;
    frame->packet.sequence = rfc->section_packet_count;
    frame->packet.discarded = rfc->events_discarded;
    frame->packet.has_sequence = frame->packet.has_discarded = true;
    frame->sequence_width = rfc->section_packet_count_bits && rfc->section_packet_count_bits < 32
                                ? rfc->section_packet_count_bits
                                : 32;
    frame->discarded_width = 32;
    frame->head = frame->context_bit = RFC11_HEADER_BITS;
}

/* Checks the sizes that a packet declares. If one is impossible, sets the flag for it; the content
 * then ends after the last event. */
static void check_packet_sizes(const struct rfc11_packet *rfc, struct ctf_frame *frame)
{
    frame->declared_content = frame->packet.content;
    frame->is_size_wrong = rfc->packet_size < RFC11_HEADER;
    frame->is_unfinished = rfc->content_size < RFC11_HEADER;
    frame->is_underfull = rfc->content_size != 0 && frame->is_unfinished;
    frame->is_overfull = rfc->content_size > rfc->packet_size;
    if (ctf_ends_with_zeros(frame))
        frame->packet.content = frame->packet.size;
}

enum ctf_framing rfc11_parse_header_and_context(struct ctf_trace *trace,
                                                const struct ctf_stream_class *section,
                                                const struct bits *bits, struct ctf_frame *frame,
                                                ttr_error *error)
{
    struct rfc11_packet *rfc = &frame->rfc;
    size_t n = (size_t)(bits->end / 8);
    *frame = (struct ctf_frame){.number = 0};
    enum rfc11_fault fault = rfc11_read_header(bits->base, n, rfc);
    if (fault == RFC11_SHORT && n >= 4 && load_u32le(bits->base) != RFC11_MAGIC &&
        load_u32be(bits->base) != RFC11_MAGIC)
        fault = RFC11_NO_MAGIC;
    if (fault == RFC11_SHORT)
        return CTF_FRAME_SHORT;
    if (fault == RFC11_NO_MAGIC)
        return reject_packet_header(frame, "ctf.bad-magic", rfc11_fault_text(fault));
    copy_packet_header(rfc, !section || !section->rfc_has_no_time, frame);
    frame->is_foreign = rfc11_is_foreign_packet(&trace->class->description, rfc);
    if (!section)
        return reject_packet_header(frame, "ctf.no-section",
                                    "the file matches no section of the metadata");
    frame->kind = rfc11_get_stream_decoder(trace, section, rfc->is_big_endian, error);
    if (!frame->kind)
        return CTF_FRAME_FAILED;
    check_packet_sizes(rfc, frame);
    return frame->is_size_wrong
               ? reject_packet_header(
                     frame, "ctf.bad-size",
                     "packet_size is less than the 48 bytes of the header, which it includes")
               : CTF_FRAME_OK;
}

/* --- Contents --- */

static bool is_compressed_or_encrypted(const struct rfc11_packet *rfc)
{
    return rfc->compression_scheme != RFC11_COMPRESSION_NONE ||
           rfc->encryption_scheme != RFC11_ENCRYPTION_NONE;
}

#define CHECK_BYTES_MAX ((uint64_t)1 << 20)
#define CONTENT_SIZE_AT 8u
#define CONTENT_SIZE_BYTES 4u

/* Returns how many bytes of the packet are needed to find the real end of the content: all, but at
 * most CHECK_BYTES_MAX after the declared end. */
static uint64_t content_bytes_to_check(const struct ctf_frame *frame)
{
    const uint64_t content = frame->packet.content / 8, size = frame->packet.size / 8;
    return size > content && size - content > CHECK_BYTES_MAX ? content + CHECK_BYTES_MAX : size;
}

uint64_t rfc11_count_bytes_to_enter(const struct ctf_frame *frame, bool *wants_empty_batch)
{
    const struct rfc11_packet *rfc = &frame->rfc;
    *wants_empty_batch = is_compressed_or_encrypted(rfc);
    return is_compressed_or_encrypted(rfc) || rfc->checksum_scheme != RFC11_CHECKSUM_NONE
               ? content_bytes_to_check(frame)
               : RFC11_HEADER;
}

/* The available bytes of a packet's content. */
struct stored_content {
    const uint8_t *packet;
    uint64_t offset; /* file offset of the content's first byte */
    size_t n;
    /* number of available bytes from the start of the content; limited by content_bytes_to_check */
    size_t room;
    bool is_cut; /* true if the file ends inside the content */
};

static struct stored_content find_stored_content(const struct ctf_reader *reader)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct window *window = &reader->in->window;
    uint64_t left = window->offset + window->n - packet->offset, whole = packet->content / 8;
    struct stored_content content = {
        .packet = packet->base, .offset = packet->offset + RFC11_HEADER, .is_cut = left < whole};
    content.n = (size_t)((content.is_cut ? left : whole) - RFC11_HEADER);
    const uint64_t room = content_bytes_to_check(&reader->frame);
    content.room = (size_t)((room < left ? room : left) - RFC11_HEADER);
    return content;
}

static ttr_status report_content_size(struct ctf_reader *reader, const char *how, uint64_t end)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    reader->is_damaged = true;
    return input_add_damage(
        reader->in, packet->offset + CONTENT_SIZE_AT, CONTENT_SIZE_BYTES, "ctf.bad-size",
        reader->error,
        "%s: the packet at byte %llu declares that its content ends at byte %u of it: "
        "read up to byte %llu, %s",
        reader->file, (unsigned long long)packet->offset, reader->frame.rfc.content_size,
        (unsigned long long)end, how);
}

/* Sets the content size to n bytes, as the checksum or the end of the compressed data proves, and
 * reports the wrong declared size. */
static ttr_status correct_content_size(struct ctf_reader *reader, struct stored_content *content,
                                       size_t n, const char *how)
{
    struct ctf_packet *packet = &reader->packets[reader->slot];
    content->n = n;
    content->is_cut = false;
    packet->content = packet->content_end = reader->content_end = reader->frame.packet.content =
        (uint64_t)(n + RFC11_HEADER) * 8;
    reader->frame.is_overfull = reader->frame.is_underfull = reader->frame.is_unfinished = false;
    return report_content_size(reader, how, n + RFC11_HEADER);
}

static ttr_status verify_content_checksum(struct ctf_reader *reader, struct stored_content *content)
{
    const struct rfc11_packet *rfc = &reader->frame.rfc;
    uint32_t checksum;
    if (rfc->checksum_scheme == RFC11_CHECKSUM_NONE) {
        if (rfc->checksum)
            input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, content->offset - RFC11_HEADER,
                                 "ctf.checksum-without-scheme",
                                 "a packet of %s has a checksum, but no scheme for it",
                                 reader->file);
        return TTR_OK;
    }
    if (content->is_cut &&
        /* the content is cut off, so its checksum cannot be verified */
        content->room == content->n)
        return TTR_OK;
    if (!rfc11_compute_checksum(rfc->checksum_scheme, content->packet + RFC11_HEADER, content->n,
                                &checksum)) {
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, content->offset - RFC11_HEADER, "ctf.unknown-checksum",
            "a packet of %s has checksum scheme %u; RFC v1.1 defines 0 to 3, so nothing was "
            "checked",
            reader->file, rfc->checksum_scheme);
        return TTR_OK;
    }
    if (checksum == rfc->checksum)
        return TTR_OK;
    const size_t n = rfc11_find_content_end(rfc->checksum_scheme, content->packet + RFC11_HEADER,
                                            content->room, rfc->checksum);
    if (n)
        return correct_content_size(reader, content, n, "since the bytes before have its checksum");
    reader->is_damaged = true;
    return input_add_damage(
        reader->in, content->offset, content->n, "ctf.checksum", reader->error,
        "%s: the content of the packet at byte %llu has the checksum 0x%08x, its "
        "header declares 0x%08x; read anyway",
        reader->file, (unsigned long long)(content->offset - RFC11_HEADER), checksum,
        rfc->checksum);
}

/* Sets the content to zero bytes, because it cannot be decoded. */
static void set_empty_content(struct ctf_reader *reader)
{
    struct ctf_packet *packet = &reader->packets[reader->slot];
    reader->content_end = packet->content_end = packet->content = reader->bits.at;
}

/* Makes the reader decode the buffer `unpacked` instead of the stored content. */
static void set_unpacked_content(struct ctf_reader *reader)
{
    struct ctf_packet *packet = &reader->packets[reader->slot];
    packet->base = reader->unpacked.bytes;
    packet->content_end = reader->content_end = (uint64_t)reader->unpacked.n * 8;
    reader->bits.base = packet->base;
    reader->is_unpacked = true;
}

static ttr_status report_lost_content(struct ctf_reader *reader,
                                      const struct stored_content *content, const char *code,
                                      const char *why)
{
    reader->is_damaged = true;
    return input_add_damage(reader->in, content->offset, content->n, code, reader->error,
                            "%s: the content of the packet at byte %llu: %s", reader->file,
                            (unsigned long long)(content->offset - RFC11_HEADER), why);
}

/* Unpacks content that is longer than the packet declares into reader->unpacked. Returns its real
 * size in bytes; 0 if unpacking fails. */
static size_t unpack_past_content_end(struct ctf_reader *reader,
                                      const struct stored_content *content,
                                      struct rfc11_packet *rfc,
                                      const struct rfc11_unpack_options *how)
{
    struct rfc11_unpack_options all = *how;
    struct buffer unpacked;
    buffer_init(&unpacked, reader->unpacked.alloc);
    rfc->content_size = (uint32_t)(content->room + RFC11_HEADER);
    if (rfc11_unpack_content(rfc, content->packet, &all, &unpacked) != RFC11_UNPACKED) {
        buffer_free(&unpacked);
        return 0;
    }
    buffer_free(&reader->unpacked);
    reader->unpacked = unpacked;
    return content->room - (size_t)all.unused;
}

static ttr_status decode_packet_content(struct ctf_reader *reader, struct stored_content *content)
{
    const struct ctf_trace *trace = reader->trace;
    struct rfc11_packet rfc = reader->frame.rfc;
    struct rfc11_unpack_options how = {.key = {trace->has_key ? trace->key : NULL},
                                       .max = trace->unpacked_max};
    rfc.content_size = (uint32_t)(content->n + RFC11_HEADER);
    enum rfc11_content result =
        rfc11_unpack_content(&rfc, content->packet, &how, &reader->unpacked);
    const size_t n = result == RFC11_DAMAGED && how.is_short && content->room > content->n
                         ? unpack_past_content_end(reader, content, &rfc, &how)
                         : 0;
    if (n) {
        const ttr_status status =
            correct_content_size(reader, content, n, "where its compressed data end");
        set_unpacked_content(reader);
        return status;
    }
    if (result == RFC11_UNPACKED || result == RFC11_DAMAGED || result == RFC11_TOO_LARGE)
        set_unpacked_content(reader);
    else
        set_empty_content(reader);
    if (how.unused)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, content->offset, "ctf.after-compressed",
                             "%llu bytes follow the compressed content of a packet of %s",
                             (unsigned long long)how.unused, reader->file);
    reader->is_sealed = (reader->in->flags & TTR_READ_ENCRYPTED) && !reader->is_damaged &&
                        (result == RFC11_NO_KEY || result == RFC11_TOO_LARGE);
    switch (result) {
    case RFC11_PLAIN:
    case RFC11_UNPACKED:
        return TTR_OK;
    case RFC11_NO_KEY:
        return error_set_option(
            reader->error,
            report_lost_content(reader, content, "ctf.no-key",
                                "it is encrypted: specify its key with " RFC11_KEY_ADVICE),
            RFC11_KEY_OPTION);
    case RFC11_UNKNOWN:
        return report_lost_content(reader, content, "ctf.unknown-scheme",
                                   "RFC v1.1 does not define its compression or encryption scheme");
    case RFC11_DAMAGED:
        return report_lost_content(reader, content, "ctf.unpack", how.reason);
    case RFC11_TOO_LARGE:
        return error_set_option(
            reader->error,
            report_lost_content(reader, content, "ctf.unpacked-max",
                                "it exceeds the limit of format option unpacked-max"),
            "ctf.unpacked-max");
    case RFC11_NO_MEMORY:
        break;
    }
    return fail_memory(reader->error);
}

ttr_status rfc11_enter_packet(struct ctf_reader *reader)
{
    struct ctf_packet *packet = &reader->packets[reader->slot];
    struct stored_content content = find_stored_content(reader);
    packet->has_cpu = reader->has_cpu;
    packet->cpu = reader->cpu;
    ttr_status status = reader->frame.is_foreign ? rfc11_report_foreign_packet(reader) : TTR_OK;
    if (status == TTR_OK)
        status = verify_content_checksum(reader, &content);
    if (status == TTR_OK && is_compressed_or_encrypted(&reader->frame.rfc))
        status = decode_packet_content(reader, &content);
    if (status != TTR_OK || !ctf_ends_with_zeros(&reader->frame))
        return status;
    return report_content_size(reader, "the last event", packet->size / 8);
}

void rfc11_report_late_event(const struct ctf_reader *reader)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    if (reader->events_read && reader->ticks > packet->end)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.late-event",
                             "an event of %s is later than its packet's timestamp_end",
                             reader->file);
}

/* --- Unreadable events --- */

/* Returns the layout of the event context alone, compiled at first use; NULL with `error` on
 * failure. */
static const struct layout *compile_event_context(struct ctf_trace *trace,
                                                  struct ctf_stream_decoder *kind, ttr_error *error)
{
    struct layout_spec spec = {.t = trace->t,
                               .arena = &trace->class->description.arena,
                               .shows_hidden = true,
                               .root = {[ROOT_COMMON_CONTEXT] = kind->class->event_context}};
    if (!kind->rfc_context)
        kind->rfc_context = layout_compile(&spec, error);
    return kind->rfc_context;
}

uint64_t rfc11_find_payload_end(const struct layout *context, struct layout_cursor *run)
{
    static const ttr_text name = {"payload_size", 12};
    const struct type_reference reference = {
        .names = &name, .names_n = 1, .root = ROOT_COMMON_CONTEXT};
    struct layout_cursor begin = *run;
    uint64_t size;
    if (layout_find_record_end(context, run) != LAYOUT_OK ||
        !layout_evaluate_reference(context, &begin, &reference, &size))
        return 0;
    uint64_t first = (run->bits.at + 7) & ~UINT64_C(7);
    return size > (UINT64_MAX - first) / 8 ? 0 : first + size * 8;
}

enum rfc11_skip_result rfc11_skip_event(struct ctf_reader *reader, const char *code,
                                        const char *what)
{
    struct ctf_stream_decoder *kind = rfc11_get_stream_decoder(
        reader->trace, reader->section, reader->frame.rfc.is_big_endian, reader->error);
    struct ctf_event_header header = {.ticks = reader->ticks};
    struct bits bits = reader->bits;
    bool is_content = bits.end == reader->content_end;
    if (!kind || !kind->class->rfc_has_event_size)
        return RFC11_NOT_SKIPPED;
    const struct layout *context = compile_event_context(reader->trace, kind, reader->error);
    if (!context)
        return RFC11_NOT_SKIPPED;
    ctf_read_event_header(&kind->plan, &bits, reader->run.slots, &header);
    struct layout_cursor run = {.bits = bits};
    uint64_t end = header.end == LAYOUT_OK ? rfc11_find_payload_end(context, &run) : 0;
    if (end == 0 || end > bits.end)
        return is_content || reader->in->window.at_end ? RFC11_NOT_SKIPPED : RFC11_IS_CUT;
    uint64_t mask = (UINT64_C(1) << kind->plan.align) - 1;
    uint64_t from = ctf_file_offset_of_bit(reader, (reader->bits.at + mask) & ~mask),
             following = ctf_file_offset_of_bit(reader, end);
    reader->is_damaged = true;
    reader->bits.at = end;
    reader->ticks = header.ticks;
    reader->status = input_add_damage(reader->in, from, following - from, code, reader->error,
                                      "%s: %s (id %llu); skipped by its payload_size", reader->file,
                                      what, (unsigned long long)header.id);
    return RFC11_SKIPPED;
}
