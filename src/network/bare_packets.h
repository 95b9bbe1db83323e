/* Packets of other senders that come in datagrams without frames: a packet of CTF 1.8 or 2 per
 * datagram, as barectf or a few lines of any language send it, and the metadata in datagrams or as
 * a file that is known before. Each packet is wrapped in a frame (file_frame.h), so that files,
 * losses and limits are those of frames.
 *
 * Packets that arrive before the metadata are held. Metadata may come as several packets: they are
 * kept in order of arrival and parsed after each one; a repeated packet moves to the end until that
 * succeeds, since a late receiver may hear the last ones first. */
#ifndef TRACETTA_NETWORK_BARE_PACKETS_H
#define TRACETTA_NETWORK_BARE_PACKETS_H

#include "base/buffer.h"
#include "model/format.h"

#define BARE_STREAMS_MAX 256u
#define BARE_PIECES_MAX 256u            /* maximum number of datagrams with metadata */
#define BARE_MAIN_MAX ((size_t)4 << 20) /* maximum size of the metadata in bytes */
#define BARE_ATTEMPTS_MAX 1024u         /* maximum number of attempts to parse the metadata */

struct bare_stream {
    uint64_t class_id, number;
    uint32_t packets; /* number of the next packet, if the sender does not number them */
};

struct bare_packets {
    const struct alloc *alloc;
    const struct format *format;
    uint64_t session;   /* session number of the frames */
    void *trace;        /* state of format->bare; NULL = the metadata are unknown */
    bool is_main_given; /* the caller supplied the metadata; received metadata are ignored */
    struct buffer main; /* metadata received so far */
    uint32_t pieces[BARE_PIECES_MAX]; /* sizes of the datagrams in `main` */
    uint32_t pieces_n, attempts;
    struct buffer held; /* datagrams that wait for the metadata, each after its size (32 bits) */
    size_t held_max;
    struct bare_stream *streams;
    size_t streams_n, streams_capacity;
};

/* Counts of one datagram. */
struct bare_result {
    uint64_t garbage;      /* number of bytes that belong to no packet */
    uint64_t dropped;      /* packets that could not be held */
    bool has_main_changed; /* the first frame replaces the metadata */
};

/* Returns the format of a datagram with a packet or metadata; NULL if it is none. */
const struct format *bare_packets_recognise(const uint8_t *bytes, size_t n);

/* Parses metadata that are known before. Returns NULL with `error` if they are invalid. */
const struct format *bare_packets_check_main(const uint8_t *bytes, size_t n, ttr_error *error);

/* Returns the state of a source, or NULL if memory runs out. `main`: metadata that are known
 * before; NULL = they will arrive. `held_max`: bytes that may wait for them. */
struct bare_packets *bare_packets_new(const struct alloc *alloc, const struct format *format,
                                      const struct buffer *main, size_t held_max);

void bare_packets_free(struct bare_packets *bare);

/* Appends the frames of a datagram to `frames`, and of those that waited for the metadata. Sets
 * frames->failed if memory runs out. */
struct bare_result bare_packets_add(struct bare_packets *bare, const uint8_t *bytes, size_t n,
                                    struct buffer *frames);

#endif
