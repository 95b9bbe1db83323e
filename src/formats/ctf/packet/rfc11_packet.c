/* Packet headers, checksums, compression and encryption of RFC v1.1, for reading and writing (RFC
 * section 5).
 *
 * Stages of reading a packet; each is skipped if its scheme is 0 (none):
 *
 * |  bytes -> rfc11_read_header    48 bytes in the byte order that the magic number shows
 * |        -> rfc11_compute_checksum       over the content as stored; the caller compares it
 * |        -> decrypt_content      the first 16 bytes are the IV, AES-256 in counter mode
 * |        -> inflate_member       one gzip or bzip2 member, in steps of 64 KiB
 *
 * Invariants: sizes in a header are not trusted; decompressed content grows in steps and stops at
 * `how->max`. After rfc11_unpack_content the output has the header as stored, then the content, so
 * bit offsets are still measured from the start of the packet. Without compression and encryption
 * the content is read in place and not copied.
 *
 * Left out: assignment of packets to stream classes, and lost packets; see
 * src/formats/ctf/read/rfc11_read.h. */
#include "formats/ctf/packet/rfc11_packet.h"

#include <nettle/aes.h>
#include <nettle/ctr.h>
#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <string.h>
#include <zlib.h>

#include "base/cursor.h"
#include "base/sanitizer.h"
#include "io/decoder.h"

#define STEP (64u << 10) /* bytes that a decoder appends per call */

enum rfc11_fault rfc11_read_header(const uint8_t *bytes, size_t n, struct rfc11_packet *packet)
{
    *packet = (struct rfc11_packet){0};
    if (n < RFC11_HEADER)
        return RFC11_SHORT;
    bool is_big = load_u32be(bytes) == RFC11_MAGIC;
    if (!is_big && load_u32le(bytes) != RFC11_MAGIC)
        return RFC11_NO_MAGIC;
    struct cursor c = cursor_init(bytes, RFC11_HEADER, 0);
    uint32_t words[6];
    for (size_t i = 0; i < 6; i++)
        words[i] = is_big ? cursor_u32be(&c) : cursor_u32le(&c);
    packet->is_big_endian = is_big;
    packet->session_id = words[1];
    packet->content_size = words[2];
    packet->packet_size = words[3];
    packet->checksum = words[4];
    packet->section_packet_count = words[5];
    packet->timestamp_begin = is_big ? cursor_u64be(&c) : cursor_u64le(&c);
    packet->timestamp_end = is_big ? cursor_u64be(&c) : cursor_u64le(&c);
    packet->events_discarded = is_big ? cursor_u32be(&c) : cursor_u32le(&c);
    packet->section_packet_count_bits = cursor_u8(&c);
    packet->compression_scheme = cursor_u8(&c);
    packet->encryption_scheme = cursor_u8(&c);
    packet->checksum_scheme = cursor_u8(&c);
    if (packet->content_size < RFC11_HEADER)
        return RFC11_SMALL;
    return packet->packet_size < packet->content_size ? RFC11_OVERFULL : RFC11_FINE;
}

static void store_ordered_u32(uint8_t *to, uint32_t x, bool is_big)
{
    if (is_big)
        store_u32be(to, x);
    else
        store_u32le(to, x);
}

static void store_ordered_u64(uint8_t *to, uint64_t x, bool is_big)
{
    if (is_big)
        store_u64be(to, x);
    else
        store_u64le(to, x);
}

void rfc11_write_header(const struct rfc11_packet *packet, uint8_t to[RFC11_HEADER])
{
    bool is_big = packet->is_big_endian;
    store_ordered_u32(to, RFC11_MAGIC, is_big);
    store_ordered_u32(to + 4, packet->session_id, is_big);
    store_ordered_u32(to + 8, packet->content_size, is_big);
    store_ordered_u32(to + 12, packet->packet_size, is_big);
    store_ordered_u32(to + 16, packet->checksum, is_big);
    store_ordered_u32(to + 20, packet->section_packet_count, is_big);
    store_ordered_u64(to + 24, packet->timestamp_begin, is_big);
    store_ordered_u64(to + 32, packet->timestamp_end, is_big);
    store_ordered_u32(to + 40, packet->events_discarded, is_big);
    to[44] = packet->section_packet_count_bits;
    to[45] = packet->compression_scheme;
    to[46] = packet->encryption_scheme;
    to[47] = packet->checksum_scheme;
}

const char *rfc11_fault_text(enum rfc11_fault fault)
{
    static const char *const texts[] = {
        [RFC11_FINE] = "fine",
        [RFC11_SHORT] = "fewer than the 48 bytes of a packet header are left",
        [RFC11_NO_MAGIC] =
            "no packet begins here: expected the magic number 0xC1FC1FC1 in either byte order",
        [RFC11_SMALL] = "content_size is less than the 48 bytes of the header, which it counts",
        [RFC11_OVERFULL] =
            "packet_size is less than content_size; both count bytes from the packet's start",
    };
    return texts[fault];
}

uint32_t rfc11_count_lost_packets(uint32_t before, uint32_t now, uint8_t bits)
{
    uint32_t mask = bits == 0 || bits >= 32 ? UINT32_MAX : (UINT32_C(1) << bits) - 1;
    return (now - before - 1) & mask;
}

bool rfc11_compute_checksum(uint8_t scheme, const uint8_t *content, size_t n, uint32_t *checksum)
{
    uint8_t digest[4] = {0};
    struct md5_ctx md5;
    struct sha1_ctx sha1;
    if (scheme == RFC11_MD5) {
        md5_init(&md5);
        md5_update(&md5, n, content);
        md5_digest(&md5, sizeof digest, digest);
    } else if (scheme == RFC11_SHA1) {
        sha1_init(&sha1);
        sha1_update(&sha1, n, content);
        sha1_digest(&sha1, sizeof digest, digest);
    }
    *checksum = scheme == RFC11_CRC32 ? (uint32_t)crc32_z(0, content, n) : load_u32be(digest);
    return scheme <= RFC11_CRC32;
}

/* Limits of rfc11_find_content_end, in bytes of content. MD5 and SHA-1: DIGESTS_MAX, because each
 * byte needs a new digest. CRC-32: SUMS_MAX. */
#define DIGESTS_MAX ((size_t)64 << 10)
#define SUMS_MAX ((size_t)4 << 20)

static size_t find_md5_prefix(const uint8_t *content, size_t n, uint32_t checksum)
{
    struct md5_ctx md5, end;
    uint8_t digest[4];
    md5_init(&md5);
    for (size_t i = 0; i < n && i < DIGESTS_MAX; i++) {
        md5_update(&md5, 1, content + i);
        end = md5;
        md5_digest(&end, sizeof digest, digest);
        sanitizer_mark_written(digest, sizeof digest);
        if (load_u32be(digest) == checksum)
            return i + 1;
    }
    return 0;
}

static size_t find_sha1_prefix(const uint8_t *content, size_t n, uint32_t checksum)
{
    struct sha1_ctx sha1, end;
    uint8_t digest[4];
    sha1_init(&sha1);
    for (size_t i = 0; i < n && i < DIGESTS_MAX; i++) {
        sha1_update(&sha1, 1, content + i);
        end = sha1;
        sha1_digest(&end, sizeof digest, digest);
        sanitizer_mark_written(digest, sizeof digest);
        if (load_u32be(digest) == checksum)
            return i + 1;
    }
    return 0;
}

static size_t find_crc32_prefix(const uint8_t *content, size_t n, uint32_t checksum)
{
    unsigned long crc = 0;
    for (size_t i = 0; i < n && i < SUMS_MAX; i++)
        if ((crc = crc32_z(crc, content + i, 1)) == checksum)
            return i + 1;
    return 0;
}

size_t rfc11_find_content_end(uint8_t scheme, const uint8_t *content, size_t n, uint32_t checksum)
{
    switch (scheme) {
    case RFC11_MD5:
        return find_md5_prefix(content, n, checksum);
    case RFC11_SHA1:
        return find_sha1_prefix(content, n, checksum);
    case RFC11_CRC32:
        return find_crc32_prefix(content, n, checksum);
    default:
        return 0;
    }
}

void rfc11_encrypt_or_decrypt(const uint8_t key[RFC11_KEY], const uint8_t iv[RFC11_IV],
                              const uint8_t *from, size_t n, uint8_t *to)
{
    struct aes256_ctx aes;
    uint8_t counter[RFC11_IV];
    memcpy(counter, iv, sizeof counter);
    aes256_set_encrypt_key(&aes, key);
    ctr_crypt(&aes, (nettle_cipher_func *)aes256_encrypt, sizeof counter, counter, n, to, from);
    sanitizer_mark_written(to, n);
    explicit_bzero(&aes, sizeof aes);
}

/* Decompresses one gzip or bzip2 member, and appends the result to `to` until it has how->max
 * bytes. */
static enum rfc11_content inflate_member(const struct decoder *decoder, void *state,
                                         struct decode_io *io, struct rfc11_unpack_options *how,
                                         struct buffer *to)
{
    if (!decoder->begin(state))
        return RFC11_NO_MEMORY;
    while (true) {
        size_t before = io->in_n,
               step = how->max - to->n < STEP ? (size_t)(how->max - to->n) : STEP;
        uint8_t spare = 0, *room = buffer_room(to, step);
        if (!room)
            return RFC11_NO_MEMORY;
        /* at the limit, the decoder gets one spare byte of output, to find out whether the member
         * ends exactly there */
        io->out = step ? room : &spare;
        io->out_n = step ? step : 1;
        size_t asked = io->out_n;
        enum decode_result result = decoder->step(state, io);
        size_t got = asked - io->out_n;
        sanitizer_mark_written(step ? room : &spare, got);
        if (!step && got)
            return RFC11_TOO_LARGE;
        buffer_commit(to, got);
        if (result == DECODE_MEMBER_END)
            return RFC11_UNPACKED;
        if (result != DECODE_CONTINUE)
            return result == DECODE_NO_MEMORY   ? RFC11_NO_MEMORY
                   : result == DECODE_TOO_LARGE ? RFC11_TOO_LARGE
                                                : RFC11_DAMAGED;
        how->is_short = !got && io->in_n == before;
        if (how->is_short)
            return RFC11_DAMAGED;
    }
}

static enum rfc11_content inflate_content(uint8_t scheme, const uint8_t *bytes, size_t n,
                                          struct rfc11_unpack_options *how, struct buffer *to)
{
    static const char *const names[] = {[RFC11_BZIP2] = "bzip2", [RFC11_GZIP] = "gzip"};
    enum decoder_match match;
    if (n == 0)
        return RFC11_UNPACKED;
    const struct decoder *decoder = decoder_detect(bytes, n, &match);
    if (!decoder || strcmp(decoder->name, names[scheme]) != 0) {
        how->is_short = match == DECODER_MAYBE;
        how->reason = scheme == RFC11_GZIP ? "the content is not a gzip member"
                                           : "the content is not a bzip2 stream";
        return RFC11_DAMAGED;
    }
    void *state = alloc_zero(to->alloc, 1, decoder->state_size);
    if (!state)
        return RFC11_NO_MEMORY;
    struct decode_io io = {.in = bytes, .in_n = n, .reason = "the compressed data are damaged"};
    enum rfc11_content result = inflate_member(decoder, state, &io, how, to);
    decoder->end(state);
    alloc_free(to->alloc, state, 1, decoder->state_size);
    how->reason = how->is_short ? "the content ends before the compressed data do" : io.reason;
    how->unused = result == RFC11_UNPACKED ? io.in_n : 0;
    return result;
}

/* Decrypts n bytes of content and appends the result to `to`. */
static enum rfc11_content decrypt_content(const uint8_t *bytes, size_t n,
                                          struct rfc11_unpack_options *how, struct buffer *to)
{
    if (n < RFC11_IV) {
        how->is_short = true;
        how->reason = "the enciphered content is shorter than its initial counter of 16 bytes";
        return RFC11_DAMAGED;
    }
    uint8_t *room = buffer_room(to, n - RFC11_IV);
    if (!room)
        return RFC11_NO_MEMORY;
    rfc11_encrypt_or_decrypt(how->key.bytes, bytes, bytes + RFC11_IV, n - RFC11_IV, room);
    buffer_commit(to, n - RFC11_IV);
    return RFC11_UNPACKED;
}

static enum rfc11_content unpack_content(const struct rfc11_packet *packet, const uint8_t *content,
                                         size_t n, struct rfc11_unpack_options *how,
                                         struct buffer *to)
{
    if (packet->encryption_scheme == RFC11_ENCRYPTION_NONE)
        return inflate_content(packet->compression_scheme, content, n, how, to);
    if (packet->compression_scheme == RFC11_COMPRESSION_NONE)
        return n > how->max - RFC11_HEADER ? RFC11_TOO_LARGE : decrypt_content(content, n, how, to);
    struct buffer compressed;
    buffer_init(&compressed, to->alloc);
    enum rfc11_content result = decrypt_content(content, n, how, &compressed);
    if (result == RFC11_UNPACKED)
        result =
            inflate_content(packet->compression_scheme, compressed.bytes, compressed.n, how, to);
    buffer_free(&compressed);
    return result;
}

enum rfc11_content rfc11_unpack_content(const struct rfc11_packet *packet, const uint8_t *bytes,
                                        struct rfc11_unpack_options *how, struct buffer *to)
{
    how->reason = NULL;
    how->is_short = false;
    how->unused = 0;
    if (how->max < RFC11_HEADER)
        how->max = RFC11_UNPACKED_MAX;
    buffer_clear(to);
    if (packet->compression_scheme > RFC11_GZIP || packet->encryption_scheme > RFC11_AES)
        return RFC11_UNKNOWN;
    if (packet->compression_scheme == RFC11_COMPRESSION_NONE &&
        packet->encryption_scheme == RFC11_ENCRYPTION_NONE)
        return RFC11_PLAIN;
    if (packet->encryption_scheme == RFC11_AES && !how->key.bytes)
        return RFC11_NO_KEY;
    buffer_add(to, bytes, RFC11_HEADER);
    return to->failed ? RFC11_NO_MEMORY
                      : unpack_content(packet, bytes + RFC11_HEADER,
                                       packet->content_size - RFC11_HEADER, how, to);
}
