/* Packets of RFC v1.1: the 48 bytes each begins with, and what may have been done to the content
 * behind them.
 *
 *   [0..3] magic 0xC1FC1FC1 | [4..7] session_id | [8..11] content_size | [12..15] packet_size |
 * [16..19] checksum [20..23] section_packet_count | [24..31] timestamp_begin | [32..39]
 * timestamp_end | [40..43] events_discarded [44] section_packet_count_bits | [45]
 * compression_scheme | [46] encryption_scheme | [47] checksum_scheme
 *
 * Numbers are in the writer's byte order, which the magic shows.  Sizes are bytes and count from
 * the first byte of the header; the content is [48, content_size), padding follows up to
 * packet_size.  A writer compresses, then enciphers, then takes the checksum, over the content as
 * stored; the header is always plain.  (RFC 5; docs/formats/ctf-rfc-v1.1.md gives the decisions
 * where the text is silent.) Ownership: plain data; buffers are the caller's. */
#ifndef TRACETTA_FORMATS_CTF_PACKET_RFC11_PACKET_H
#define TRACETTA_FORMATS_CTF_PACKET_RFC11_PACKET_H

#include "base/buffer.h"
#include "formats/ctf/description/ctf_description.h"

#define RFC11_MAGIC 0xC1FC1FC1u
#define RFC11_HEADER 48u
#define RFC11_HEADER_BITS UINT64_C(384)
#define RFC11_KEY 32u                          /* AES-256 */
#define RFC11_IV 16u                           /* the first bytes of an enciphered content */
#define RFC11_UNPACKED_MAX (UINT64_C(1) << 30) /* of a packet, unless the caller says otherwise */

enum rfc11_compression { RFC11_COMPRESSION_NONE = 0, RFC11_BZIP2 = 1, RFC11_GZIP = 2 };
enum rfc11_encryption { RFC11_ENCRYPTION_NONE = 0, RFC11_AES = 1 };
enum rfc11_checksum { RFC11_CHECKSUM_NONE = 0, RFC11_MD5 = 1, RFC11_SHA1 = 2, RFC11_CRC32 = 3 };

struct rfc11_packet {
    uint32_t session_id, content_size, packet_size, checksum, section_packet_count;
    uint64_t timestamp_begin, timestamp_end;
    uint32_t events_discarded;
    uint8_t section_packet_count_bits, compression_scheme, encryption_scheme, checksum_scheme;
    bool is_big_endian;
};

/* What is wrong with a header. */
enum rfc11_fault {
    RFC11_FINE = 0,
    RFC11_SHORT, /* fewer than 48 bytes */
    RFC11_NO_MAGIC,
    RFC11_SMALL,   /* content_size is below 48 */
    RFC11_OVERFULL /* packet_size is below content_size */
};

/* Reads the header at `bytes`.  The numbers are all there unless it is RFC11_SHORT or
 * RFC11_NO_MAGIC. */
enum rfc11_fault rfc11_read_header(const uint8_t *bytes, size_t n, struct rfc11_packet *packet);

/* Writes the 48 bytes. */
void rfc11_write_header(const struct rfc11_packet *packet, uint8_t to[RFC11_HEADER]);

/* One sentence with what was expected; constant text. */
const char *rfc11_fault_text(enum rfc11_fault fault);

/* Packets missing between two counts of a section: counts wrap modulo 2^bits; bits of 0 or beyond
 * 32 mean 32. */
uint32_t rfc11_packets_lost(uint32_t before, uint32_t now, uint8_t bits);

/* The checksum field for content as stored: CRC-32 as in zlib, or the first four bytes of the
 * digest as a big-endian number.  False for a scheme that nobody defined. */
bool rfc11_checksum(uint8_t scheme, const uint8_t *content, size_t n, uint32_t *checksum);

/* AES-256 in counter mode, where deciphering is enciphering; the counter begins with `iv`, a
 * big-endian number of 128 bits.  `to` may be `from`. */
void rfc11_cipher(const uint8_t key[RFC11_KEY], const uint8_t iv[RFC11_IV], const uint8_t *from,
                  size_t n, uint8_t *to);

/* What became of a content. */
enum rfc11_content {
    RFC11_PLAIN,    /* stored as it is: read it in place */
    RFC11_UNPACKED, /* `to` holds the header as stored and the content behind it, so that bits still
                       count from the packet */
    RFC11_NO_KEY,   /* enciphered, and no key is known */
    RFC11_UNKNOWN,  /* a scheme that nobody defined */
    RFC11_DAMAGED,  /* does not unpack: `to` holds what came out before */
    RFC11_TOO_LARGE, /* the same, because of `max` */
    RFC11_NO_MEMORY
};

struct rfc11_unpacking {
    struct ctf_key key;
    uint64_t max;       /* most bytes of header and content together; 0 = RFC11_UNPACKED_MAX */
    const char *reason; /* out: why it is damaged; constant text */
    bool is_short;      /* out: the content ends before the compressed data do */
    uint64_t unused;    /* out: bytes of content behind the end of the compressed member */
};

/* Deciphers and inflates the content of the packet whose `packet->content_size` bytes stand at
 * `bytes`; `to` is emptied before. */
enum rfc11_content rfc11_unpack(const struct rfc11_packet *packet, const uint8_t *bytes,
                                struct rfc11_unpacking *how, struct buffer *to);

/* How many of the n bytes from the content's begin on have a checksum; 0 where none have, or the
 * scheme is none.  For contents whose size is wrong. */
size_t rfc11_find_checksum(uint8_t scheme, const uint8_t *content, size_t n, uint32_t checksum);

/* How a writer stores contents. */
struct rfc11_packing {
    uint8_t compression, encryption, checksum; /* schemes */
    struct ctf_key key;                        /* with RFC11_AES */
    uint8_t iv[RFC11_IV]; /* with RFC11_AES: never the same twice with one key (rfc11_make_iv) */
    uint32_t align;       /* packets are padded to a multiple of so many bytes; 0 = 1 */
};

/* Appends a packet with this content to `to`.  Fills in schemes, sizes and checksum of `packet`;
 * the rest is the caller's. TTR_E_LIMIT when a size does not fit in 32 bits, TTR_E_UNSUPPORTED for
 * a scheme that nobody defined, TTR_E_MISUSE without a key. */
TTR_MUST ttr_status rfc11_pack(struct rfc11_packet *packet, const uint8_t *content, size_t n,
                               const struct rfc11_packing *how, struct buffer *to,
                               ttr_error *error);

/* Sixteen random bytes of the system. */
TTR_MUST ttr_status rfc11_make_iv(uint8_t iv[RFC11_IV], ttr_error *error);

/* What helps where a key is missing; and the option that failures with it name (see ttr_error). */
#define RFC11_KEY_ADVICE "format option key=FILE or format option key-env=NAME"
#define RFC11_KEY_OPTION "ctf.key"

/* A key as people store it: 32 bytes, or 64 hexadecimal digits with blanks around them.  False when
 * it is neither. */
bool rfc11_parse_key(const uint8_t *bytes, size_t n, uint8_t key[RFC11_KEY]);

/* A key from a file, or from an environment variable (64 digits there).  Messages never show the
 * key. */
TTR_MUST ttr_status rfc11_read_key_file(const char *path, uint8_t key[RFC11_KEY], ttr_error *error);
TTR_MUST ttr_status rfc11_read_key_variable(const char *name, uint8_t key[RFC11_KEY],
                                            ttr_error *error);

/* The text of a metadata file in packets: contents in order, zero bytes left out
 * (ctf_unpack_metadata).  text->file is the caller's.  Also sets byte order and session id of the
 * description. */
TTR_MUST ttr_status rfc11_unpack_metadata(struct ctf_description *description, const uint8_t *bytes,
                                          size_t n, const struct ctf_key *key,
                                          struct ctf_text *text, ttr_error *error);

#endif
