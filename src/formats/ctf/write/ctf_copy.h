/* Copying CTF to CTF: packets whose events all arrive are written as they are; those that lost some
 * are made anew of what is left.
 *
 * A stream file is copied when its definition was given (TTR_READ_DEFINITIONS) and the target says
 * events by the same bits: the same version, or CTF 1.8 and 2, where the description of one can be
 * printed in the other language.  Metadata go out first, then each packet behind its last event.  A
 * packet without a definition (damaged, or too large) is made anew of its events. Made anew: the
 * same header and context with new sizes, times and number; each event with its own bits, at a
 * place where its alignments hold, or moved value by value (layout/bit_offsets.h). Ownership: a
 * copied trace holds the trace of the reader, which may be closed before the writer ends. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_COPY_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_COPY_H

#include "formats/ctf/read/ctf_reader.h"
#include "formats/ctf/write/ctf_write.h"
#include "layout/bit_offsets.h"

/* An event that stays, in bits from the begin of its packet. */
struct ctf_kept {
    uint64_t at, end, ticks;
    const struct ctf_event_class *event;
    bool is_none; /* a gap, or what names a thread (ctf_dialect.h): nobody counts it as an event */
};

/* What a packet whose events come is kept in. */
struct ctf_room {
    struct buffer image; /* the packet from `image_at` on, as far as events stay */
    struct ctf_kept *kept;
    size_t kept_capacity;
};

/* A stream that is copied, in one file or several. */
struct ctf_stream_copy {
    int64_t shift;            /* what its packets' numbers are less than in the source */
    bool is_begun;            /* packets of it were written */
    uint64_t events, packets; /* known to be missing behind the last of these */
};

/* A trace that is copied. */
struct ctf_trace_copy {
    struct ctf_trace *source;
    const struct ctf_options *options;
    struct ctf_home home;
    uint8_t uuid[16];      /* of the copy, where there is one: the source's or another */
    bool is_refused;       /* its events must be encoded anew */
    struct pairmap aligns; /* type to log2 of the largest alignment inside; event class to the byte
                              orders inside (ctf_filter_packet.c) */
    struct pairmap stream_of; /* (stream class, stream) to the index in `streams` */
    struct ctf_stream_copy *streams;
    size_t streams_n, streams_capacity;
    struct places places;
    struct ctf_room spare; /* of the file whose packet ended last: files that come one after another
                              take no more than one does */
};

/* A packet whose events come. */
struct ctf_copied {
    bool is_open;
    struct ctf_packet about; /* numbers only: its pointers are the reader's */
    const struct ctf_kind *kind;
    uint64_t number;    /* of its stream */
    struct buffer head; /* header and context, with the trace's uuid where the copy needs that */
    uint64_t uuid_at;   /* where that was put into the head; bytes, UINT64_MAX = nowhere */
    struct ctf_room room;
    uint64_t image_at;      /* bytes, a multiple of 4,096 */
    size_t kept_n, nones_n; /* nones_n: of those kept, the ones that are no events */
    uint64_t gap_at; /* where the packet begins in the source that the gap given last is told by */
    uint64_t gap_events, gap_packets;
    const uint8_t *from, *to; /* events of the present batch that are not in the image yet */
    uint64_t from_at;         /* where `from` is in the packet; bytes */
};

/* The index of the source's file. */
struct ctf_index_old {
    struct folder *folder;
    const struct folder_file *file; /* NULL = there is none */
    bool fits;                      /* it is one, and its entries so far are those of the packets */
    uint32_t entry_bytes, compared;
    uint64_t at; /* entries held against those of the packets */
};

/* A stream file that is copied. */
struct ctf_file_copy {
    struct ctf_trace_copy *trace;
    char *name;
    size_t name_size;
    struct sink *sink;
    struct ctf_copied packet;
    uint64_t offset;        /* bytes written */
    bool is_changed;        /* not all packets are as they were */
    bool is_ended;          /* its last packet does not tell where it ends: none may follow */
    const char *first_name; /* of the first file of several; NULL = there is one */
    uint64_t part;          /* how many files were begun behind the first */
    bool is_dirty;          /* has events that are not in the image yet */
    struct ctf_file_copy *next_dirty;
    struct ctf_index_out index; /* of what was written */
    uint32_t unnumbered; /* bit i: what packets do not say is the i-th number of its entries */
    struct ctf_index_old old_index;
};

/* --- ctf_copy_part.c --- */

/* Called before a packet is written.  If none may follow in this file, the copy continues in
 * another file, named after it. */
TTR_MUST ttr_status ctf_copy_part(struct ctf_file_copy *file, struct ttr_writer *out,
                                  ttr_error *error);

/* Finishes the file that is open, and writes its index. */
TTR_MUST ttr_status ctf_copy_end_part(struct ctf_file_copy *file, struct ttr_writer *out,
                                      ttr_error *error);

/* Returns whether an index is written in the end: else nothing is kept of the packets. */
bool ctf_copy_keeps_index(const struct ctf_file_copy *file);

/* Writes the entries of the index that wait, if they are many. */
TTR_MUST ttr_status ctf_copy_settle_index(struct ctf_file_copy *file, struct ttr_writer *out,
                                          ttr_error *error);

/* --- ctf_copy.c --- */

/* Begins a file by its definition.  The trace becomes refused where it cannot be copied; nothing is
 * written then. */
TTR_MUST ttr_status ctf_copy_begin(struct ctf_file_copy *file, struct ctf_trace_copy *trace,
                                   struct ttr_writer *out, const struct ctf_stream *stream,
                                   ttr_error *error);

/* Takes an event of the file, or the definition of a packet. */
TTR_MUST ttr_status ctf_copy_event(struct ctf_file_copy *file, struct ttr_writer *out,
                                   const ttr_event *event, ttr_error *error);

/* Keeps what the batch that is over has of packets that are not. */
TTR_MUST ttr_status ctf_copy_save(struct ctf_file_copy *file, ttr_error *error);

/* Ends the file. */
TTR_MUST ttr_status ctf_copy_finish(struct ctf_file_copy *file, struct ttr_writer *out,
                                    ttr_error *error);

/* Behind the ends of a trace's files: tells what is missing where no packet is left to tell it. */
void ctf_copy_trace_finish(const struct ctf_trace_copy *copy, struct ttr_writer *out);

void ctf_copy_free(struct ctf_file_copy *file, const struct alloc *alloc);

/* Whether packets of a trace can go to the output with the bytes they have. */
bool ctf_may_copy(const struct ctf_trace *trace, const struct ctf_options *options);

/* Whether the target's language has words for all that the trace's metadata say: where not, its
 * events are encoded anew. */
bool ctf_can_describe(const struct ctf_trace *trace, const struct ctf_options *options);

/* Makes a trace to copy: writes its metadata. */
TTR_MUST ttr_status ctf_copy_trace_begin(struct ctf_trace_copy *copy, struct ctf_trace *trace,
                                         const struct ctf_options *options, struct ttr_writer *out,
                                         ttr_error *error);
void ctf_copy_trace_free(struct ctf_trace_copy *copy, const struct alloc *alloc);

/* --- ctf_filter_packet.c --- */

/* A packet may have the uuid of another trace in CTF 1.8, not in CTF 2: puts the right one into the
 * head where the copy becomes CTF 2.  So it does where the copy has another uuid than the source.
 */
void ctf_adopt(struct ctf_file_copy *file);

/* Writes the packet with the events that stay; nothing where there are none. */
TTR_MUST ttr_status ctf_rebuild(struct ctf_file_copy *file, struct ttr_writer *out,
                                ttr_error *error);

/* Writes a packet as it is, but for its number where others before it are gone, and for the uuid of
 * another trace (ctf_adopt). */
TTR_MUST ttr_status ctf_write_packet(struct ctf_file_copy *file, struct ttr_writer *out,
                                     const uint8_t *bytes, size_t n, ttr_error *error);

/* The packet's stream; NULL when memory is out. */
struct ctf_stream_copy *ctf_stream_copy_of(struct ctf_file_copy *file);

/* --- ctf_index_keep.c --- */

/* Looks for the index of a file of the source. */
TTR_MUST ttr_status ctf_index_old_begin(struct ctf_index_old *old, struct folder *folder,
                                        const char *name, const struct alloc *alloc,
                                        ttr_error *error);

/* Holds its next entries against those of packets; unnumbered: bit i = packets do not say the i-th
 * number. */
TTR_MUST ttr_status ctf_index_old_compare(struct ctf_index_old *old, const struct buffer *entries,
                                          uint32_t unnumbered, ttr_error *error);

/* Whether it is that of the packets that were met, and of no others. */
bool ctf_index_old_is_kept(const struct ctf_index_old *old);

/* Copies its bytes and ends the file; takes it over, NULL with `error` told is fine. */
TTR_MUST ttr_status ctf_index_old_copy(const struct ctf_index_old *old, struct sink *to,
                                       ttr_error *error);

#endif
