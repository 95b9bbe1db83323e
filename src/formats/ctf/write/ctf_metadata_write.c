/* Writes the metadata file of a trace: as plain text, or as packets with this header:
 *
 * |  CTF 1.8, 2    [0..3] magic 0x75D11D57 | [4..19] UUID | [20..23] checksum |
 * |                [24..27] content size, bits | [28..31] packet size, bits |
 * |                [32] compression | [33] encryption | [34] checksum scheme |
 * |                [35] major | [36] minor
 * |  CTF 2 adds    [37..39] reserved | [40..43] header size, bits          (CTF2-PMETA-1.0) */
#include "base/status.h"
#include "formats/ctf/write/ctf_write.h"

#define METADATA_MAGIC 0x75D11D57u
#define HEAD_18 37u
#define HEAD_2 44u
#define PACKET_CONTENT 4000u /* bytes of text per metadata packet */

ttr_status ctf_print_metadata(const struct ctf_description *description, enum ctf_version version,
                              struct buffer *to, ttr_error *error)
{
    switch (version) {
    case CTF_RFC_1_1:
        return rfc11_print(description, to, error);
    case CTF_2:
        return ctf2_print(description, to, error);
    default:
        return tsdl_print(description, to, error);
    }
}

/* Appends a metadata packet of CTF 1.8 or 2 with `n` bytes of text. */
static void add_metadata_packet(const struct ctf_description *description, bool is_2,
                                const uint8_t *text, size_t n, struct buffer *to)
{
    unsigned head = is_2 ? HEAD_2 : HEAD_18;
    struct bit_writer put = bit_writer_init(to);
    void (*number)(struct bit_writer *, uint64_t, unsigned) =
        description->is_big_endian ? bit_writer_add_be : bit_writer_add_le;
    number(&put, METADATA_MAGIC, 32);
    bit_writer_add_bytes(&put, description->uuid, 16);
    number(&put, 0, 32);
    number(&put, (head + n) * 8, 32);
    number(&put, (head + n) * 8, 32);
    bit_writer_add_zeros(&put, 24);
    number(&put, is_2 ? 2 : 1, 8);
    number(&put, is_2 ? 0 : 8, 8);
    if (is_2) {
        bit_writer_add_zeros(&put, 24);
        number(&put, (uint64_t)HEAD_2 * 8, 32);
    }
    bit_writer_add_bytes(&put, text, n);
}

/* Returns the index after the string literal that starts at `at`. */
static size_t find_string_end(const struct buffer *text, size_t at)
{
    for (at++; at < text->n && text->bytes[at] != '"'; at++)
        at += text->bytes[at] == '\\';
    return at < text->n ? at + 1 : text->n;
}

/* Returns the index after the next block in braces, from `at` on, and after the newlines that
 * follow it. */
static size_t find_block_end(const struct buffer *text, size_t at)
{
    size_t depth = 0;
    bool is_end = false;
    while (at < text->n && !is_end) {
        const uint8_t c = text->bytes[at];
        depth += c == '{';
        is_end = c == '}' && --depth == 0;
        at = c == '"' ? find_string_end(text, at) : at + 1;
    }
    while (at < text->n && text->bytes[at] == '\n')
        at++;
    return at;
}

/* Appends v1.1 metadata as one packet. Each block in braces is an entry that ends with a zero byte
 * (RFC v1.1, 7). */
static ttr_status add_rfc_metadata_packet(const struct ctf_metadata *metadata,
                                          const struct buffer *text, struct buffer *to,
                                          ttr_error *error)
{
    struct buffer entries;
    struct rfc11_pack_options packing = metadata->options->packing;
    struct rfc11_packet packet = {.session_id = metadata->description->session_id,
                                  .section_packet_count_bits = 32,
                                  .is_big_endian = metadata->description->is_big_endian};
    ttr_status status = packing.encryption ? rfc11_make_random_iv(packing.iv, error) : TTR_OK;
    buffer_init(&entries, text->alloc);
    for (size_t at = 0, end; at < text->n; at = end) {
        end = find_block_end(text, at);
        buffer_add(&entries, text->bytes + at, end - at);
        buffer_add_byte(&entries, 0);
    }
    if (text->failed || entries.failed)
        status = fail_memory(error);
    if (status == TTR_OK)
        status = rfc11_append_packet(&packet, entries.bytes, entries.n, &packing, to, error);
    buffer_free(&entries);
    return status;
}

ttr_status ctf_write_metadata(const struct ctf_metadata *metadata, struct buffer *text,
                              struct ttr_writer *out, ttr_error *error)
{
    struct buffer packets, *file = text;
    ttr_status status = TTR_OK;
    enum ctf_version version = metadata->version;
    buffer_init(&packets, &out->t->counted);
    if (version == CTF_RFC_1_1 && !metadata->options->is_text_metadata) {
        status = add_rfc_metadata_packet(metadata, text, &packets, error);
        file = &packets;
    } else if (version != CTF_RFC_1_1 && metadata->options->is_packetised) {
        for (size_t at = 0; at < text->n; at += PACKET_CONTENT)
            add_metadata_packet(metadata->description, version == CTF_2, text->bytes + at,
                                text->n - at < PACKET_CONTENT ? text->n - at : PACKET_CONTENT,
                                &packets);
        packets.failed |= text->failed;
        file = &packets;
    }
    if (status == TTR_OK)
        status = ctf_write_file(ctf_create_file(metadata->folder, out, "", "metadata", "", error),
                                file, error);
    buffer_free(&packets);
    return status;
}
