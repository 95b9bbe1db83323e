/* Metadata files of RFC v1.1: ordinary packets that contain metadata text in strings that end
 * with zero bytes (section 7).
 *
 * The contents are joined in order without the zeros, so a string may continue in the next packet.
 * Segments (struct ctf_piece) map the text to file offsets; text that was compressed or encrypted
 * maps to the start of its packet's content. If the file ends inside a packet, the text ends after
 * its last complete entry. Damaged packets are reported and skipped; it is an error if no text is
 * left. */
#include <stdio.h>

#include "base/endian.h"
#include "base/status.h"
#include "formats/ctf/packet/rfc11_packet.h"

#define TEXT_MAX (UINT64_C(256) << 20) /* maximum length of a metadata text in bytes */

struct unpacking {
    struct ctf_description *description;
    const uint8_t *bytes;
    size_t n;
    const char *file;
    struct rfc11_unpack_options how;
    struct buffer text, pieces, unpacked;
    size_t packets;
    enum rfc11_fault fault; /* error in the first packet header, if no packet is valid */
    size_t complete_n;      /* length of the text that ends with the last complete string */
    bool is_cut;            /* true if the last packet is incomplete */
};

static void add_unpack_diagnostic(const struct unpacking *u, ttr_severity severity, uint64_t offset,
                                  const char *code, const char *what)
{
    char text[240];
    if (!u->description->note)
        return;
    (void)snprintf(text, sizeof text, "packet %zu of the metadata: %s", u->packets, what);
    u->description->note(u->description->note_ctx, severity, offset, code, text);
}

/* Returns the offset of the next magic number, from `at` on; n if there is none. */
static size_t find_magic(const uint8_t *bytes, size_t n, size_t at)
{
    for (; n - at >= RFC11_HEADER; at++)
        if (load_u32le(bytes + at) == RFC11_MAGIC || load_u32be(bytes + at) == RFC11_MAGIC)
            return at;
    return n;
}

/* Appends the strings in a packet's content, without their zero bytes. `step`: by how many bytes
 * the file offset advances per content byte: 1, or 0 if the content was decompressed or
 * decrypted. */
static void append_text_without_zeros(struct unpacking *u, const uint8_t *p, size_t n,
                                      uint64_t offset, unsigned step)
{
    size_t at = 0;
    while (at < n) {
        size_t begin = at;
        while (at < n && p[at])
            at++;
        if (at > begin) {
            struct ctf_piece piece = {
                .at = u->text.n, .offset = offset + begin * step, .is_unpacked = step == 0};
            buffer_add(&u->pieces, &piece, sizeof piece);
            buffer_add(&u->text, p + begin, at - begin);
        }
        if (at < n)
            u->complete_n = u->text.n;
        while (at < n && !p[at])
            at++;
    }
}

static void check_checksum(const struct unpacking *u, const struct rfc11_packet *packet, size_t at,
                           size_t content)
{
    uint32_t checksum;
    if (!rfc11_compute_checksum(packet->checksum_scheme, u->bytes + at + RFC11_HEADER,
                                content - RFC11_HEADER, &checksum))
        add_unpack_diagnostic(u, TTR_SEVERITY_ODD, at + 47, "ctf.unknown-checksum",
                              "its checksum scheme is none of 0 to 3, so nothing was checked");
    else if (checksum != packet->checksum && packet->checksum_scheme == RFC11_CHECKSUM_NONE)
        add_unpack_diagnostic(u, TTR_SEVERITY_ODD, at + 16, "ctf.checksum-without-scheme",
                              "it has a checksum but no scheme for it");
    else if (checksum != packet->checksum)
        add_unpack_diagnostic(u, TTR_SEVERITY_DAMAGE, at + RFC11_HEADER, "ctf.checksum",
                              "its content does not have the checksum of its header");
}

/* Returns true if a packet belongs to the trace: its session id and byte order are those of the
 * first packet. Stores both if it is the first one. */
static bool is_packet_of_trace(struct unpacking *u, const struct rfc11_packet *packet, size_t at)
{
    struct ctf_description *d = u->description;
    if (!d->has_session_id) {
        d->session_id = packet->session_id;
        d->has_session_id = d->has_byte_order = true;
        d->is_big_endian = packet->is_big_endian;
    }
    if (packet->is_big_endian != d->is_big_endian)
        add_unpack_diagnostic(u, TTR_SEVERITY_DAMAGE, at, "ctf.byte-order",
                              "its byte order is not that of the packets before");
    if (packet->session_id != d->session_id)
        add_unpack_diagnostic(u, TTR_SEVERITY_DAMAGE, at + 4, "ctf.session-id",
                              "its session_id is not that of the packets before");
    return packet->session_id == d->session_id;
}

static ttr_status append_packet_content(struct unpacking *u, const struct rfc11_packet *packet,
                                        size_t at, ttr_error *error)
{
    switch (rfc11_unpack_content(packet, u->bytes + at, &u->how, &u->unpacked)) {
    case RFC11_PLAIN:
        append_text_without_zeros(u, u->bytes + at + RFC11_HEADER,
                                  packet->content_size - RFC11_HEADER, at + RFC11_HEADER, 1);
        break;
    case RFC11_NO_KEY:
        (void)fail(error, TTR_E_UNSUPPORTED, at + 46,
                   "%s: the metadata is encrypted: specify its key with " RFC11_KEY_ADVICE,
                   u->file);
        return error_set_option(error, TTR_E_UNSUPPORTED, RFC11_KEY_OPTION);
    case RFC11_UNKNOWN:
        return fail(
            error, TTR_E_UNSUPPORTED, at + 45,
            "%s: packet %zu has compression %u and cypher %u; RFC v1.1 defines 0 to 2 and 0 to 1",
            u->file, u->packets, packet->compression_scheme, packet->encryption_scheme);
    case RFC11_NO_MEMORY:
        return fail_memory(error);
    case RFC11_TOO_LARGE:
        return fail(error, TTR_E_LIMIT, at, "%s: packet %zu unpacks to more than %llu bytes",
                    u->file, u->packets, (unsigned long long)u->how.max);
    case RFC11_DAMAGED:
        add_unpack_diagnostic(u, TTR_SEVERITY_DAMAGE, at + RFC11_HEADER, "ctf.unpack",
                              u->how.reason); /* fall through */
    case RFC11_UNPACKED:
        append_text_without_zeros(u, u->unpacked.bytes + RFC11_HEADER, u->unpacked.n - RFC11_HEADER,
                                  at + RFC11_HEADER, 0);
        break;
    }
    if (u->text.failed || u->pieces.failed)
        return fail_memory(error);
    return u->text.n > TEXT_MAX
               ? fail(error, TTR_E_LIMIT, at, "%s: more than %llu bytes of metadata text", u->file,
                      (unsigned long long)TEXT_MAX)
               : TTR_OK;
}

static ttr_status append_metadata_packet(struct unpacking *u, size_t *at, ttr_error *error)
{
    struct rfc11_packet packet;
    size_t here = *at, left = u->n - here;
    enum rfc11_fault fault = rfc11_read_header(u->bytes + here, left, &packet);
    if (fault != RFC11_FINE) {
        u->fault = u->fault ? u->fault : fault;
        add_unpack_diagnostic(u, TTR_SEVERITY_DAMAGE, here, "ctf.packet-header",
                              rfc11_fault_text(fault));
        *at = fault == RFC11_SHORT ? u->n : find_magic(u->bytes, u->n, here + 1);
        return TTR_OK;
    }
    *at = packet.packet_size < left ? here + packet.packet_size : u->n;
    if (packet.content_size > left) {
        add_unpack_diagnostic(u, TTR_SEVERITY_DAMAGE, u->n, "ctf.cut", "the file ends inside it");
        u->is_cut = true;
        packet.content_size = (uint32_t)left;
    }
    if (!is_packet_of_trace(u, &packet, here))
        return TTR_OK;
    check_checksum(u, &packet, here, packet.content_size);
    return append_packet_content(u, &packet, here, error);
}

/* Copies the text and its segments to the description's arena. */
static ttr_status copy_text_to_arena(struct unpacking *u, struct ctf_text *text, ttr_error *error)
{
    struct arena *arena = &u->description->arena;
    const char *p = arena_copy(arena, u->text.n ? u->text.bytes : (const uint8_t *)"", u->text.n);
    struct ctf_piece *pieces = arena_alloc(arena, u->pieces.n + 1);
    if (!p || !pieces)
        return fail_memory(error);
    if (u->pieces.n)
        memcpy(pieces, u->pieces.bytes, u->pieces.n);
    *text = (struct ctf_text){.p = p,
                              .n = u->text.n,
                              .file = u->file,
                              .piece = pieces,
                              .pieces_n = u->pieces.n / sizeof *pieces};
    return TTR_OK;
}

ttr_status rfc11_unpack_metadata(struct ctf_description *description, const uint8_t *bytes,
                                 size_t n, const struct ctf_key *key, struct ctf_text *text,
                                 ttr_error *error)
{
    struct unpacking u = {.description = description,
                          .bytes = bytes,
                          .n = n,
                          .file = text->file,
                          .how = {.max = TEXT_MAX}};
    if (key)
        u.how.key = *key;
    buffer_init(&u.text, description->alloc);
    buffer_init(&u.pieces, description->alloc);
    buffer_init(&u.unpacked, description->alloc);
    ttr_status status = TTR_OK;
    for (size_t at = 0; at < n && status == TTR_OK; u.packets++)
        status = append_metadata_packet(&u, &at, error);
    if (status == TTR_OK && !description->has_session_id)
        status = fail(error, TTR_E_MALFORMED, 0, "%s: no whole metadata packet: %s", text->file,
                      rfc11_fault_text(u.fault ? u.fault : RFC11_NO_MAGIC));
    if (u.is_cut && u.complete_n)
        /* drop the incomplete last string, which could only cause a syntax error */
        u.text.n = u.complete_n;
    if (status == TTR_OK)
        status = copy_text_to_arena(&u, text, error);
    buffer_free(&u.text);
    buffer_free(&u.pieces);
    buffer_free(&u.unpacked);
    return status;
}
