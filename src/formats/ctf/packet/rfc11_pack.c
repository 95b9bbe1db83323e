/* Encoder for packets of RFC v1.1: applies compression, encryption, checksum and padding, in this
 * order (RFC section 5). */
#define ZLIB_CONST
#include <bzlib.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <zlib.h>

#include "base/sanitizer.h"
#include "base/status.h"
#include "formats/ctf/packet/rfc11_packet.h"

#define BZIP2_BLOCK 9 /* compression level of bzip2: block size in units of 100 kB */
/* windowBits of deflateInit2 (zlib.h): 15 = largest window, + 16 = gzip wrapper */
#define GZIP_WINDOW (15 + 16)
#define GZIP_MEMORY 8

static ttr_status fail_packet_size(ttr_error *error, uint64_t n)
{
    return fail(error, TTR_E_LIMIT, NO_OFFSET,
                "a packet of %llu bytes does not fit in the 32-bit sizes of its header",
                (unsigned long long)n);
}

/* Appends the compressed content as one gzip member without name and time, so that equal contents
 * produce equal bytes. */
static ttr_status append_gzip_member(const uint8_t *content, size_t n, struct buffer *to,
                                     ttr_error *error)
{
    z_stream z = {.next_in = content, .avail_in = (uInt)n};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return fail_memory(error);
    size_t most = deflateBound(&z, (uLong)n);
    uint8_t *room = most <= UINT32_MAX ? buffer_room(to, most) : NULL;
    z.next_out = room;
    z.avail_out = (uInt)most;
    bool is_done = room && deflate(&z, Z_FINISH) == Z_STREAM_END;
    sanitizer_mark_written(room, is_done ? z.total_out : 0);
    buffer_commit(to, is_done ? z.total_out : 0);
    (void)deflateEnd(&z);
    return is_done             ? TTR_OK
           : most > UINT32_MAX ? fail_packet_size(error, most)
                               : fail_memory(error);
}

static ttr_status append_bzip2_member(const uint8_t *content, size_t n, struct buffer *to,
                                      ttr_error *error)
{
    /* bzip2 enlarges incompressible data by at most 1 % and 600 bytes (manual,
     * BZ2_bzBuffToBuffCompress) */
    uint64_t most = (uint64_t)n + n / 100 + 601;
    if (most > UINT32_MAX)
        return fail_packet_size(error, most);
    uint8_t *room = buffer_room(to, most);
    unsigned got = (unsigned)most;
    char *from;
    /* memcpy removes the const: the parameter of bzip2 is not const, but the input is not changed
     */
    memcpy(&from, &content, sizeof from);
    if (!room ||
        BZ2_bzBuffToBuffCompress((char *)room, &got, from, (unsigned)n, BZIP2_BLOCK, 0, 0) != BZ_OK)
        return fail_memory(error);
    sanitizer_mark_written(room, got);
    buffer_commit(to, got);
    return TTR_OK;
}

static ttr_status append_encoded_content(const uint8_t *content, size_t n, uint8_t compression,
                                         struct buffer *to, ttr_error *error)
{
    switch (compression) {
    case RFC11_BZIP2:
        return append_bzip2_member(content, n, to, error);
    case RFC11_GZIP:
        return append_gzip_member(content, n, to, error);
    default:
        buffer_add(to, content, n);
        return to->failed ? fail_memory(error) : TTR_OK;
    }
}

static ttr_status check_pack_options(const struct rfc11_pack_options *how, size_t n,
                                     ttr_error *error)
{
    if (how->compression > RFC11_GZIP || how->encryption > RFC11_AES || how->checksum > RFC11_CRC32)
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                    "RFC v1.1 has compressions 0 to 2, cyphers 0 to 1 and checksums 0 to 3");
    if (how->encryption == RFC11_AES && !how->key.bytes)
        return error_set_option(
            error,
            fail(error, TTR_E_MISUSE, NO_OFFSET, "enciphering needs a key: " RFC11_KEY_ADVICE),
            RFC11_KEY_OPTION);
    return n > UINT32_MAX ? fail_packet_size(error, n) : TTR_OK;
}

/* Computes the packet size: the content size rounded up to a multiple of `align`; 0 = not rounded.
 * Returns false if it exceeds 32 bits. */
static bool round_up_packet_size(uint64_t content_size, uint32_t align, uint64_t *packet_size)
{
    uint32_t multiple = align ? align : 1;
    *packet_size = (content_size + multiple - 1) / multiple * multiple;
    return *packet_size <= UINT32_MAX;
}

/* Encrypts the content after the header at `begin`, computes its checksum, and pads the packet. */
static ttr_status encrypt_and_pad_packet(struct rfc11_packet *packet, size_t begin,
                                         const struct rfc11_pack_options *how, struct buffer *to,
                                         ttr_error *error)
{
    uint64_t packet_size;
    size_t content_size = to->n - begin;
    if (!round_up_packet_size(content_size, how->align, &packet_size))
        return fail_packet_size(error, content_size);
    buffer_add_zeros(to, (size_t)(packet_size - content_size));
    if (to->failed)
        return fail_memory(error);
    uint8_t *content = to->bytes + begin + RFC11_HEADER;
    size_t n = content_size - RFC11_HEADER;
    if (how->encryption == RFC11_AES)
        rfc11_encrypt_or_decrypt(how->key.bytes, content, content + RFC11_IV, n - RFC11_IV,
                                 content + RFC11_IV);
    (void)rfc11_compute_checksum(how->checksum, content, n, &packet->checksum);
    packet->content_size = (uint32_t)content_size;
    packet->packet_size = (uint32_t)packet_size;
    packet->compression_scheme = how->compression;
    packet->encryption_scheme = how->encryption;
    packet->checksum_scheme = how->checksum;
    rfc11_write_header(packet, to->bytes + begin);
    return TTR_OK;
}

ttr_status rfc11_append_packet(struct rfc11_packet *packet, const uint8_t *content, size_t n,
                               const struct rfc11_pack_options *how, struct buffer *to,
                               ttr_error *error)
{
    size_t begin = to->n;
    ttr_status status = check_pack_options(how, n, error);
    if (status != TTR_OK)
        return status;
    buffer_add_zeros(to, RFC11_HEADER);
    if (how->encryption == RFC11_AES)
        buffer_add(to, how->iv, RFC11_IV);
    status = append_encoded_content(content, n, how->compression, to, error);
    if (status == TTR_OK)
        status = encrypt_and_pad_packet(packet, begin, how, to, error);
    if (status != TTR_OK)
        to->n = begin;
    return status;
}

ttr_status rfc11_make_random_iv(uint8_t iv[RFC11_IV], ttr_error *error)
{
    ssize_t got;
    do
        got = getrandom(iv, RFC11_IV, 0);
    while (got < 0 && errno == EINTR);
    return got == RFC11_IV
               ? TTR_OK
               : fail_sys(error, errno, NO_OFFSET, "no random bytes for an initial counter");
}
