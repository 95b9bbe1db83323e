/* Packets of RFC v1.1 that differ from the metadata in byte order or session id
 * (src/formats/ctf/rfc-v1.1.md, decisions 7 and 8). Both are damage, which strict mode refuses;
 * otherwise the packets are read.
 *
 * "Native" byte order (4.1.3) is that of the packet, and all types and layouts depend on it. So the
 * metadata are parsed again, for the other byte order, into a second struct ctf_trace without
 * streams. */
#include "base/status.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "formats/ctf/read/rfc11_read.h"

/* Byte offsets of fields in the packet header. */
#define MAGIC_AT 0u
#define SESSION_AT 4u
#define NUMBER_BYTES 4u

/* Parses the metadata of `trace` again, for the other byte order, into `other`. Fails only if
 * memory runs out, because the same metadata were parsed before. */
static ttr_status parse_in_other_order(struct ctf_trace *other, const struct ctf_trace *trace,
                                       ttr_error *error)
{
    struct ctf_description *description = &other->class->description;
    const struct ctf_description *ctx = &trace->class->description;
    const struct ctf_key key = {trace->has_key ? trace->key : NULL};
    struct ctf_text text = {.file = "metadata"};
    ttr_status status = ctf_unpack_metadata(description, trace->class->metadata,
                                            trace->class->metadata_n, &key, &text, error);
    description->is_big_endian = !ctx->is_big_endian;
    description->has_byte_order = true;
    if (status == TTR_OK)
        status = ctf_trace_parse(other, ctx->version, &text, error);
    if (status != TTR_OK)
        return status;
    if (ctx->alignment != CTF_ALIGN_UNKNOWN)
        rfc11_set_alignment(description, ctx->alignment);
    for (size_t i = 0; i < description->streams_n && i < ctx->streams_n; i++)
        description->streams[i]->clock = ctx->streams[i]->clock;
    return TTR_OK;
}

struct ctf_trace *rfc11_trace_in_other_order(struct ctf_trace *trace, ttr_error *error)
{
    struct ctf_trace *other = trace->other_order ? NULL : ctf_trace_new(trace->t, NULL, error);
    if (!other)
        return trace->other_order;
    other->class->rounds_times = trace->class->rounds_times;
    if (parse_in_other_order(other, trace, error) != TTR_OK) {
        ctf_trace_unref(other);
        return NULL;
    }
    return trace->other_order = other;
}

const struct ctf_stream_class *rfc11_find_stream_class_in(const struct ctf_trace *other,
                                                          const struct ctf_trace *trace,
                                                          const struct ctf_stream_class *section)
{
    size_t i = 0;
    while (i < trace->class->description.streams_n &&
           trace->class->description.streams[i] != section)
        i++;
    return i < other->class->description.streams_n ? other->class->description.streams[i] : NULL;
}

struct ctf_stream_decoder *rfc11_get_stream_decoder(struct ctf_trace *trace,
                                                    const struct ctf_stream_class *section,
                                                    bool is_big_endian, ttr_error *error)
{
    struct ctf_stream_decoder *ctx = ctf_get_stream_decoder(trace, section, error);
    if (!ctx || is_big_endian == trace->class->description.is_big_endian)
        return ctx;
    struct ctf_trace *other = rfc11_trace_in_other_order(trace, error);
    const struct ctf_stream_class *class =
        other ? rfc11_find_stream_class_in(other, trace, section) : NULL;
    struct ctf_stream_decoder *kind = class ? ctf_get_stream_decoder(other, class, error) : NULL;
    if (kind)
        kind->first = ctx;
    return kind;
}

bool rfc11_is_foreign_packet(const struct ctf_description *description,
                             const struct rfc11_packet *packet)
{
    return packet->is_big_endian != description->is_big_endian ||
           (description->has_session_id && packet->session_id != description->session_id);
}

static const char *get_byte_order_name(bool is_big_endian)
{
    return is_big_endian ? "big" : "little";
}

ttr_status rfc11_report_foreign_packet(struct ctf_reader *reader)
{
    const struct ctf_description *description = &reader->trace->class->description;
    const struct rfc11_packet *packet = &reader->frame.rfc;
    const uint64_t at = reader->packets[reader->slot].offset;
    ttr_status status = TTR_OK;
    if (packet->is_big_endian != description->is_big_endian)
        status = input_add_damage(
            reader->in, at + MAGIC_AT, NUMBER_BYTES, "ctf.byte-order", reader->error,
            "%s: the packet at byte %llu is %s-endian, expected %s-endian as the "
            "metadata; read as declared; put packets of another machine "
            "next to its own metadata",
            reader->file, (unsigned long long)at, get_byte_order_name(packet->is_big_endian),
            get_byte_order_name(description->is_big_endian));
    if (status == TTR_OK && description->has_session_id &&
        packet->session_id != description->session_id)
        status = input_add_damage(
            reader->in, at + SESSION_AT, NUMBER_BYTES, "ctf.session-id", reader->error,
            "%s: the packet at byte %llu has session_id %u, expected %u as the metadata; "
            "read with this metadata; if its "
            "events make no sense, put it next to the metadata of its own session",
            reader->file, (unsigned long long)at, packet->session_id, description->session_id);
    return status;
}
