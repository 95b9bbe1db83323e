/* Packets of RFC v1.1: a header of 48 bytes, and content that may be compressed, encrypted and
 * protected by a checksum.
 *
 * |  [0..3]   magic 0xC1FC1FC1      [4..7]   session_id          [8..11]  content_size
 * |  [12..15] packet_size           [16..19] checksum            [20..23] section_packet_count
 * |  [24..31] timestamp_begin       [32..39] timestamp_end       [40..43] events_discarded
 * |  [44]     section_packet_count_bits      [45] compression_scheme
 * |  [46]     encryption_scheme              [47] checksum_scheme
 *
 * Numbers are in the writer's byte order, which the magic number shows. Sizes are in bytes from the
 * first byte of the header: the content is [48, content_size), padding follows up to packet_size. A
 * writer compresses, then encrypts, then computes the checksum over the content as stored. The
 * header is never encrypted. A "section" is the RFC's name for a stream class. (RFC section 5;
 * src/formats/ctf/rfc-v1.1.md lists the decisions for points that the text leaves open.)
 *
 * Ownership: plain data; buffers are the caller's. */
#ifndef TRACETTA_FORMATS_CTF_PACKET_RFC11_PACKET_H
#define TRACETTA_FORMATS_CTF_PACKET_RFC11_PACKET_H

#include "base/buffer.h"
#include "formats/ctf/description/ctf_description.h"

#define RFC11_MAGIC 0xC1FC1FC1u
#define RFC11_HEADER 48u
#define RFC11_HEADER_BITS UINT64_C(384)
#define RFC11_KEY 32u /* bytes of a key, for AES-256 */
/* bytes of the initialization vector at the start of encrypted content */
#define RFC11_IV 16u
/* bytes; default size limit of an unpacked packet */
#define RFC11_UNPACKED_MAX (UINT64_C(1) << 30)

enum rfc11_compression { RFC11_COMPRESSION_NONE = 0, RFC11_BZIP2 = 1, RFC11_GZIP = 2 };
enum rfc11_encryption { RFC11_ENCRYPTION_NONE = 0, RFC11_AES = 1 };
enum rfc11_compute_checksum {
    RFC11_CHECKSUM_NONE = 0,
    RFC11_MD5 = 1,
    RFC11_SHA1 = 2,
    RFC11_CRC32 = 3
};

struct rfc11_packet {
    uint32_t session_id, content_size, packet_size, checksum, section_packet_count;
    uint64_t timestamp_begin, timestamp_end;
    uint32_t events_discarded;
    uint8_t section_packet_count_bits, compression_scheme, encryption_scheme, checksum_scheme;
    bool is_big_endian;
};

/* Faults of a packet header; a header has the first one that applies. */
enum rfc11_fault {
    RFC11_FINE = 0,
    RFC11_SHORT, /* fewer than 48 bytes are available */
    RFC11_NO_MAGIC,
    RFC11_SMALL,   /* content_size is below 48 bytes, the size of the header */
    RFC11_OVERFULL /* packet_size is below content_size */
};

/* Parses the header at `bytes`; n bytes are available. Fills all members of `packet`, unless it
 * returns RFC11_SHORT or RFC11_NO_MAGIC. */
enum rfc11_fault rfc11_read_header(const uint8_t *bytes, size_t n, struct rfc11_packet *packet);

/* Encodes the header into 48 bytes. */
void rfc11_write_header(const struct rfc11_packet *packet, uint8_t to[RFC11_HEADER]);

/* Returns a constant sentence that describes the fault and states the expected value. */
const char *rfc11_fault_text(enum rfc11_fault fault);

/* Returns the number of packets that are missing between two packets of a section with the packet
 * counts `before` and `now`. Counts wrap modulo 2^bits; if `bits` is 0 or above 32, modulo 2^32. */
uint32_t rfc11_count_lost_packets(uint32_t before, uint32_t now, uint8_t bits);

/* Computes the checksum of n bytes of content as stored: CRC-32 as in zlib, or the first four bytes
 * of the digest as a big-endian number. Returns false for an undefined scheme. */
bool rfc11_compute_checksum(uint8_t scheme, const uint8_t *content, size_t n, uint32_t *checksum);

/* Encrypts or decrypts with AES-256 in counter mode (both are the same operation). The counter
 * starts at `iv`, a big-endian number of 128 bits. `to` may equal `from`. */
void rfc11_encrypt_or_decrypt(const uint8_t key[RFC11_KEY], const uint8_t iv[RFC11_IV],
                              const uint8_t *from, size_t n, uint8_t *to);

/* Result of decrypting and decompressing the content of a packet. */
enum rfc11_content {
    /* the content is neither encrypted nor compressed; `to` stays empty, so the caller reads the
     * packet itself */
    RFC11_PLAIN,
    /* `to` contains the stored header, then the unpacked content, so bit offsets still count from
     * the start of the packet */
    RFC11_UNPACKED,
    RFC11_NO_KEY,  /* the content is encrypted, and the key is missing */
    RFC11_UNKNOWN, /* the packet has an undefined compression or encryption scheme */
    /* the content cannot be unpacked; `to` contains the output up to the error */
    RFC11_DAMAGED,
    /* the content is larger than `max`; `to` contains the output up to the limit */
    RFC11_TOO_LARGE,
    RFC11_NO_MEMORY
};

struct rfc11_unpack_options {
    struct ctf_key key;
    /* bytes; limit of header and unpacked content together; 0 = RFC11_UNPACKED_MAX */
    uint64_t max;
    /* out: reason if the result is RFC11_DAMAGED, constant text; else NULL */
    const char *reason;
    bool is_short;   /* out: the content ends before the compressed data do */
    uint64_t unused; /* out: number of bytes of content after the end of the compressed data */
};

/* Decrypts and decompresses the content of the packet at `bytes`, which has packet->content_size
 * bytes, into `to`. Clears `to` first. */
enum rfc11_content rfc11_unpack_content(const struct rfc11_packet *packet, const uint8_t *bytes,
                                        struct rfc11_unpack_options *how, struct buffer *to);

/* Returns the length in bytes of the shortest prefix of `content` that has this checksum. Returns 0
 * if there is none within the search limit, or the scheme is RFC11_CHECKSUM_NONE. Used to repair
 * packets with a wrong content_size. */
size_t rfc11_find_content_end(uint8_t scheme, const uint8_t *content, size_t n, uint32_t checksum);

/* Options of rfc11_append_packet for compression, encryption, checksum and padding. */
struct rfc11_pack_options {
    uint8_t compression, encryption, checksum; /* scheme numbers as in the header */
    struct ctf_key key;                        /* key for RFC11_AES; NULL if there is none */
    /* for RFC11_AES: initialization vector, which must be unique per key (rfc11_make_random_iv) */
    uint8_t iv[RFC11_IV];
    /* the packet size is padded to a multiple of this many bytes; 0 = no padding */
    uint32_t align;
};

/* Appends to `to` a packet with n bytes of content. Sets schemes, sizes and checksum in `packet`;
 * the caller sets the other members. Fails with TTR_E_LIMIT if a size exceeds 32 bits,
 * TTR_E_UNSUPPORTED for an undefined scheme, TTR_E_MISUSE if the key is missing. */
TTR_MUST ttr_status rfc11_append_packet(struct rfc11_packet *packet, const uint8_t *content,
                                        size_t n, const struct rfc11_pack_options *how,
                                        struct buffer *to, ttr_error *error);

/* Fills an initialization vector with random bytes from the kernel. */
TTR_MUST ttr_status rfc11_make_random_iv(uint8_t iv[RFC11_IV], ttr_error *error);

/* Texts for errors about a missing key: advice to the user, and name of the option (ttr_error). */
#define RFC11_KEY_ADVICE "format option key=FILE or format option key-env=NAME"
#define RFC11_KEY_OPTION "ctf.key"

/* Parses a key in the form of a key file: 32 bytes, or 64 hexadecimal digits with blanks around
 * them. Returns false for any other form. */
bool rfc11_parse_key(const uint8_t *bytes, size_t n, uint8_t key[RFC11_KEY]);

/* Read a key from a file, or from an environment variable (64 hexadecimal digits). Messages never
 * contain the key. */
TTR_MUST ttr_status rfc11_read_key_file(const char *path, uint8_t key[RFC11_KEY], ttr_error *error);
TTR_MUST ttr_status rfc11_read_key_variable(const char *name, uint8_t key[RFC11_KEY],
                                            ttr_error *error);

/* Extracts the text of packetised metadata: the contents of all packets in order, without zero
 * bytes (see ctf_unpack_metadata). The caller sets text->file. Sets the byte order and session id
 * of the description. */
TTR_MUST ttr_status rfc11_unpack_metadata(struct ctf_description *description, const uint8_t *bytes,
                                          size_t n, const struct ctf_key *key,
                                          struct ctf_text *text, ttr_error *error);

#endif
