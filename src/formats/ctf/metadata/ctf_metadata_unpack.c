/* Metadata files: detection of the language, and extraction of the text from packets of CTF 1.8 and
 * 2 (CTF 1.8.3 section 7.1; CTF2-PMETA-1.0).
 *
 *   [0]  magic u32 75D11D57    [4]  uuid[16]              [20] checksum u32
 *   [24] content bits u32      [28] packet bits u32       [32] compression u8
 *   [33] encryption u8         [34] checksum scheme u8    [35] major u8    [36] minor u8
 *   CTF 2:                     [37] 3 bytes               [40] header bits u32 (352)
 *
 * The byte order of each packet is that of its magic number. A packet may end anywhere, even inside
 * a word of the text.
 *
 * Accepted although the specifications do not allow it: version 2 with the short header; a last
 * packet without padding; packets of both byte orders (reported); a file that ends inside a packet
 * after the first header (reported), since a tracer may be stopped between two packets.
 *
 * Two passes: the first one counts the text, so that padding needs no memory (parsers limit their
 * memory by the bytes allocated here). Left out: compressed, encrypted and checksummed packets,
 * which no known writer makes. */
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/status.h"
#include "formats/ctf/description/ctf_description.h"
#include "formats/ctf/packet/rfc11_packet.h"

#define RFC_MAGIC 0xc1fc1fc1u
#define PACKET_MAGIC 0x75d11d57u
#define HEADER_BYTES 37u
#define MAJOR_AT 35u
#define LONG_HEADER_BYTES 44u
#define LONG_HEADER_BITS 352u

/* Returns true if the first four bytes are `magic` in either byte order. */
static bool begins_with_magic(const uint8_t *bytes, size_t n, uint32_t magic)
{
    return n >= 4 && (load_u32le(bytes) == magic || load_u32be(bytes) == magic);
}

static bool begins_with(const uint8_t *bytes, size_t n, const char *word)
{
    size_t word_n = strlen(word);
    return n >= word_n && memcmp(bytes, word, word_n) == 0;
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Detects the language of a text by its first word. */
static enum ctf_version detect_text_language(const uint8_t *bytes, size_t n)
{
    static const char *const rfc_words[] = {
        "/*", "//", "trace", "type ", "type\n", "type{", "abstract_type", "section", "event"};
    if (begins_with(bytes, n, "/* CTF"))
        return CTF_1_8;
    size_t at = 0;
    while (at < n && is_blank(bytes[at]))
        at++;
    if (at < n && (bytes[at] == 0x1e || bytes[at] == '{'))
        return CTF_2;
    for (size_t i = 0; i < sizeof rfc_words / sizeof *rfc_words; i++)
        if (begins_with(bytes + at, n - at, rfc_words[i]))
            return CTF_RFC_1_1;
    return CTF_UNKNOWN;
}

enum ctf_version ctf_detect_metadata_language(const uint8_t *bytes, size_t n, bool *is_packetised)
{
    *is_packetised = true;
    if (begins_with_magic(bytes, n, RFC_MAGIC))
        return CTF_RFC_1_1;
    if (begins_with_magic(bytes, n, PACKET_MAGIC))
        return n < HEADER_BYTES       ? CTF_UNKNOWN
               : bytes[MAJOR_AT] == 1 ? CTF_1_8
               : bytes[MAJOR_AT] == 2 ? CTF_2
                                      : CTF_UNKNOWN;
    *is_packetised = false;
    return detect_text_language(bytes, n);
}

struct unpacking {
    struct ctf_description *description;
    const char *file;
    ttr_error *error;
    struct cursor in;
    char *text;
    size_t text_n;
    struct ctf_piece *pieces; /* packets that contain text */
    size_t pieces_n;
    size_t packets;
    uint8_t uuid[16];   /* UUID of the trace, as in the first packet */
    bool is_big_endian; /* byte order of the first packet */
    bool is_mixed;
    uint64_t
        /* file offset of the first packet with a byte order different from the first one */
        mixed_at;
    bool is_cut;
    uint64_t cut_at; /* file offset of the last packet, if it is cut off */
    uint8_t major;
};

/* Values of a packet header. */
struct header {
    uint64_t offset;
    uint32_t bytes, content_bits, packet_bits;
    uint8_t uuid[16], schemes[3], major, minor;
    bool is_big_endian;
};

static uint32_t read_u32(struct cursor *c, bool is_big_endian)
{
    return is_big_endian ? cursor_u32be(c) : cursor_u32le(c);
}

/* Parses the packet header at the cursor, and advances the cursor to the end of the header. */
static ttr_status read_packet_header(struct unpacking *u, struct header *header)
{
    struct cursor *in = &u->in;
    header->offset = in->offset;
    size_t left = cursor_left(in);
    if (!begins_with_magic(in->p, left, PACKET_MAGIC))
        return fail(u->error, TTR_E_MALFORMED, in->offset,
                    "%s: expected the magic number 75D11D57 of a metadata packet at byte %llu",
                    u->file, (unsigned long long)in->offset);
    bool is_big_endian = header->is_big_endian = cursor_u32le(in) != PACKET_MAGIC;
    memcpy(header->uuid, cursor_read_bytes(in, 16), 16);
    (void)cursor_skip(in, 4);
    header->content_bits = read_u32(in, is_big_endian);
    header->packet_bits = read_u32(in, is_big_endian);
    for (size_t i = 0; i < 3; i++)
        header->schemes[i] = cursor_u8(in);
    header->major = cursor_u8(in);
    header->minor = cursor_u8(in);
    header->bytes = HEADER_BYTES;
    struct cursor rest = *in;
    if (header->major == 2 && cursor_skip(&rest, 3) &&
        read_u32(&rest, is_big_endian) == LONG_HEADER_BITS && !rest.failed) {
        header->bytes = LONG_HEADER_BYTES;
        *in = rest;
    }
    return TTR_OK;
}

static ttr_status check_packet_sizes(const struct unpacking *u, const struct header *header)
{
    const unsigned long long at = header->offset;
    if (header->schemes[0] || header->schemes[1] || header->schemes[2])
        return fail(u->error, TTR_E_UNSUPPORTED, at,
                    "%s: the metadata packet at byte %llu is compressed, encrypted or checked "
                    "(schemes %u, %u, %u)",
                    u->file, at, header->schemes[0], header->schemes[1], header->schemes[2]);
    if (header->major != u->major)
        return fail(u->error, TTR_E_MALFORMED, at,
                    "%s: the metadata packet at byte %llu is of version %u.%u, not %u", u->file, at,
                    header->major, header->minor, u->major);
    if (u->packets && memcmp(header->uuid, u->uuid, 16) != 0)
        return fail(u->error, TTR_E_MALFORMED, at,
                    "%s: the metadata packet at byte %llu has another UUID than the first", u->file,
                    at);
    if (header->content_bits % 8 || header->packet_bits % 8 ||
        header->content_bits / 8 < header->bytes || header->packet_bits < header->content_bits)
        return fail(u->error, TTR_E_MALFORMED, at,
                    "%s: the metadata packet at byte %llu has a content of %u bits in %u: expected "
                    "whole bytes, %u or more for its header",
                    u->file, at, header->content_bits, header->packet_bits, header->bytes);
    return TTR_OK;
}

/* Returns true if only blanks follow, such as a newline that a text editor added at the end of the
 * file. */
static bool is_rest_blank(const struct cursor *c)
{
    for (size_t i = 0; i < cursor_left(c); i++)
        if (!is_blank(c->p[i]))
            return false;
    return true;
}

static void report_cut_metadata_packet(struct unpacking *u, uint64_t at)
{
    u->is_cut = true;
    u->cut_at = at;
}

/* Parses the next packet header and advances the cursor to the packet's content. Sets the sizes of
 * content and padding in bytes. */
static ttr_status start_metadata_packet(struct unpacking *u, size_t *content, size_t *padding)
{
    struct header header = {0};
    *content = *padding = 0;
    if (cursor_left(&u->in) < HEADER_BYTES) {
        if (!is_rest_blank(&u->in))
            report_cut_metadata_packet(u, u->in.offset);
        (void)cursor_skip(&u->in, cursor_left(&u->in));
        return TTR_OK;
    }
    ttr_status status = read_packet_header(u, &header);
    if (status == TTR_OK)
        status = check_packet_sizes(u, &header);
    if (status != TTR_OK)
        return status;
    if (u->packets == 0) {
        memcpy(u->uuid, header.uuid, 16);
        u->is_big_endian = header.is_big_endian;
    } else if (header.is_big_endian != u->is_big_endian && !u->is_mixed) {
        u->is_mixed = true;
        u->mixed_at = header.offset;
    }
    u->packets++;
    *content = header.content_bits / 8 - header.bytes;
    if (*content > cursor_left(&u->in)) {
        report_cut_metadata_packet(u, header.offset);
        *content = cursor_left(&u->in);
    }
    *padding = (header.packet_bits - header.content_bits) / 8;
    return TTR_OK;
}

/* Reads all packets. If u->text is allocated, copies their text; else only counts the text bytes
 * and the packets that contain any. */
static ttr_status copy_or_measure_metadata_packets(struct unpacking *u)
{
    size_t content, padding;
    u->packets = u->text_n = u->pieces_n = 0;
    while (cursor_left(&u->in) > 0) {
        ttr_status status = start_metadata_packet(u, &content, &padding);
        if (status != TTR_OK)
            return status;
        if (u->text && content) {
            u->pieces[u->pieces_n] = (struct ctf_piece){.at = u->text_n, .offset = u->in.offset};
            memcpy(u->text + u->text_n, cursor_read_bytes(&u->in, content), content);
        } else {
            (void)cursor_skip(&u->in, content);
        }
        u->text_n += content;
        u->pieces_n += content > 0;
        (void)cursor_skip(&u->in, padding < cursor_left(&u->in) ? padding : cursor_left(&u->in));
    }
    return TTR_OK;
}

/* Stores the packets' byte order in the description, unless earlier metadata (live traces) set it.
 */
static void store_byte_order(const struct unpacking *u)
{
    struct ctf_description *description = u->description;
    char text[160];
    if (!description->has_byte_order) {
        description->has_byte_order = true;
        description->is_big_endian = u->is_big_endian;
    }
    if (!u->is_mixed || !description->note)
        return;
    (void)snprintf(text, sizeof text,
                   "the metadata packet at byte %llu has another byte order than the first: each "
                   "is read in its own",
                   (unsigned long long)u->mixed_at);
    description->note(description->note_ctx, TTR_SEVERITY_ODD, u->mixed_at,
                      "ctf.metadata-byte-order", text);
}

static void report_cut_metadata(const struct unpacking *u, size_t n)
{
    const struct ctf_description *description = u->description;
    char text[160];
    if (!u->is_cut || !description->note)
        return;
    (void)snprintf(text, sizeof text,
                   "the metadata end at byte %zu, inside their packet at byte %llu: what it has of "
                   "its text is used",
                   n, (unsigned long long)u->cut_at);
    description->note(description->note_ctx, TTR_SEVERITY_DAMAGE, u->cut_at, "ctf.cut", text);
}

static ttr_status unpack_metadata_packets(struct unpacking *u, struct ctf_text *text)
{
    const struct cursor begin = u->in;
    ttr_status status = copy_or_measure_metadata_packets(u);
    if (status != TTR_OK)
        return status;
    u->text = arena_alloc(&u->description->arena, u->text_n + 1);
    u->pieces = arena_alloc(&u->description->arena, (u->pieces_n + 1) * sizeof *u->pieces);
    if (!u->text || !u->pieces)
        return fail_memory(u->error);
    u->in = begin;
    status = copy_or_measure_metadata_packets(u);
    u->text[u->text_n] = 0;
    store_byte_order(u);
    report_cut_metadata(u, cursor_left(&begin));
    *text = (struct ctf_text){
        .p = u->text, .n = u->text_n, .file = u->file, .piece = u->pieces, .pieces_n = u->pieces_n};
    return status;
}

/* Reports the error for a file that starts like a packet but has an unknown version. */
static ttr_status fail_unknown_packet_version(const struct unpacking *u, size_t n)
{
    const uint8_t *bytes = u->in.p;
    if (n < HEADER_BYTES)
        return fail(u->error, TTR_E_TRUNCATED, 0,
                    "%s ends at byte %zu, inside the header of its first metadata packet, which "
                    "has %u bytes",
                    u->file, n, HEADER_BYTES);
    return fail(u->error, TTR_E_UNSUPPORTED, 0,
                "%s: the metadata packet at byte 0 is of version %u.%u: expected 1.8 or 2.0",
                u->file, bytes[MAJOR_AT], bytes[MAJOR_AT + 1]);
}

ttr_status ctf_unpack_metadata(struct ctf_description *description, const uint8_t *bytes, size_t n,
                               const struct ctf_key *key, struct ctf_text *text, ttr_error *error)
{
    bool is_packetised;
    enum ctf_version version = ctf_detect_metadata_language(bytes, n, &is_packetised);
    struct unpacking u = {.description = description,
                          .file = text->file,
                          .error = error,
                          .in = cursor_init(bytes, n, 0)};
    if (version == CTF_RFC_1_1 && is_packetised)
        return rfc11_unpack_metadata(description, bytes, n, key, text, error);
    if (version == CTF_UNKNOWN && is_packetised)
        return fail_unknown_packet_version(&u, n);
    if (is_packetised) {
        u.major = version == CTF_2 ? 2 : 1;
        return unpack_metadata_packets(&u, text);
    }
    char *copy = arena_copy(&description->arena, bytes, n);
    if (!copy)
        return fail_memory(error);
    *text = (struct ctf_text){.p = copy, .n = n, .file = u.file};
    return TTR_OK;
}
