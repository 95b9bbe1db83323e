/* Copy of CTF packets: the bytes of a packet are written unchanged if all its events arrive;
 * otherwise the packet is rebuilt from the events that are left.
 *
 * Conditions: the reader emits definitions (TTR_READ_DEFINITIONS), and the target has the same
 * bits: the same version, or CTF 1.8 and CTF 2 if the metadata can be printed in the other
 * language.
 *
 * Order of calls, per trace and per file:
 * |  ctf_copy_trace_begin     writes the metadata; may refuse the trace: it is transcoded then
 * |  ctf_copy_begin           creates the stream file, opens the source's index
 * |    ctf_copy_event         per event: keeps its bit range; per packet definition, which
 * |                           follows the packet's last event: writes or rebuilds the packet
 * |    ctf_copy_save          at the end of a batch: saves the bytes of unfinished packets
 * |  ctf_copy_finish          last packet, index
 * |  ctf_copy_trace_finish    losses that no packet could report
 *
 * A packet without a definition (damaged, or larger than CTF_COPY_MAX) is always rebuilt. How:
 * ctf_filter_packet.c. Invariant: an event is copied or transcoded as a trace, never mixed within
 * one. Cost: one append per event and one write per packet; rebuilding moves the bits of each
 * event. Memory: the part of the open packet up to its last kept event, per file with an open
 * packet.
 *
 * Ownership: a copied trace retains the reader's trace, so the reader may be closed before the
 * writer ends. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_COPY_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_COPY_H

#include "formats/ctf/read/ctf_reader.h"
#include "formats/ctf/write/ctf_write.h"
#include "layout/bit_offsets.h"

/* An event of the open packet that is kept; bit offsets from the start of its packet. */
struct ctf_kept {
    uint64_t at, end, ticks;
    const struct ctf_event_class *event;
    /* a gap, or an event that names a thread (ctf_dialect.h): not counted as an event of the packet
     */
    bool is_uncounted;
};

/* Buffers of an open packet. */
struct ctf_packet_buffers {
    struct buffer image; /* bytes of the packet from `image_at` up to the last kept event */
    struct ctf_kept *kept;
    size_t kept_capacity;
};

/* A data stream that is copied, in one file or several. */
struct ctf_stream_copy {
    int64_t shift;            /* difference of packet sequence numbers: source minus copy */
    bool is_begun;            /* at least one packet was written */
    uint64_t events, packets; /* known to be missing after the last written packet */
};

/* A trace that is copied. */
struct ctf_trace_copy {
    struct ctf_trace *source;
    const struct ctf_options *options;
    struct ctf_output_dir home;
    uint8_t uuid[16]; /* UUID of the copy: the source's or a changed one */
    bool is_refused;  /* it cannot be copied: its events are transcoded */
    /* type -> log2 of its largest alignment; event class -> byte orders in it (ctf_filter_packet.c)
     */
    struct pair_map aligns;
    struct pair_map stream_of; /* (stream class, stream number) -> index in `streams` */
    struct ctf_stream_copy *streams;
    size_t streams_n, streams_capacity;
    struct bit_offsets places;
    /* buffers of the file whose packet ended last; the next file reuses them, so files in sequence
     * need the memory of one */
    struct ctf_packet_buffers spare;
};

/* The open packet: some of its events arrived, its definition did not. */
struct ctf_open_packet {
    bool is_open;
    struct ctf_packet about; /* numbers only: its pointers belong to the reader */
    const struct ctf_stream_decoder *kind;
    uint64_t number;    /* number of the data stream */
    struct buffer head; /* bytes of header and context, with the UUID of the copy if that changes */
    uint64_t uuid_at;   /* byte offset in `head` of the inserted UUID; UINT64_MAX = none */
    struct ctf_packet_buffers room;
    uint64_t image_at; /* bytes; offset of `room.image` in the packet, a multiple of 4,096 */
    size_t kept_n, uncounted_n; /* uncounted_n: kept entries with is_uncounted */
    uint64_t gap_at;            /* source offset of the packet whose counters report the last gap */
    uint64_t gap_events, gap_packets;
    /* borrowed bytes of the current batch that are not in the image yet */
    const uint8_t *from, *to;
    uint64_t from_at; /* bytes; offset of `from` in the packet */
};

/* The index file of a source stream. */
struct ctf_source_index {
    struct folder *folder;
    const struct folder_file *file; /* NULL = the source has none */
    /* it is valid and all entries compared so far match the packets */
    bool fits;
    uint32_t entry_bytes, compared;
    uint64_t at; /* bytes; file offset of the next entry to compare */
};

/* A stream file that is copied. */
struct ctf_file_copy {
    struct ctf_trace_copy *trace;
    char *name;
    size_t name_size;
    struct sink *sink;
    struct ctf_open_packet packet;
    uint64_t offset; /* bytes written */
    bool is_changed; /* at least one packet differs from the source */
    /* its last packet has no size, so it extends to the end of the file: none may follow */
    bool is_ended;
    /* name of the first file if the copy needed several; NULL = it has one */
    const char *first_name;
    uint64_t part; /* number of files after the first */
    bool is_dirty; /* it has bytes of the batch that ctf_copy_save must save */
    struct ctf_file_copy *next_dirty;
    struct ctf_index_out index; /* index entries of the written packets */
    uint32_t unnumbered;        /* bit i: packets do not record the i-th number of index entries */
    struct ctf_source_index old_index;
};

/* --- ctf_copy_next_file.c --- */

/* Called before each packet. If none may follow in this file, finishes it and continues in a new
 * file, whose name is derived from the first. */
TTR_MUST ttr_status ctf_copy_next_file(struct ctf_file_copy *file, struct ttr_writer *out,
                                       ttr_error *error);

/* Finishes the open file and writes its index. */
TTR_MUST ttr_status ctf_copy_finish_file(struct ctf_file_copy *file, struct ttr_writer *out,
                                         ttr_error *error);

/* Returns true if an index will be written; otherwise no entries are kept. */
bool ctf_copy_keeps_index(const struct ctf_file_copy *file);

/* Writes the buffered index entries if there are many. */
TTR_MUST ttr_status ctf_copy_flush_index(struct ctf_file_copy *file, struct ttr_writer *out,
                                         ttr_error *error);

/* --- ctf_copy.c --- */

/* Starts the copy of a stream file. Sets is_refused of the trace, and writes nothing, if it cannot
 * be copied. */
TTR_MUST ttr_status ctf_copy_begin(struct ctf_file_copy *file, struct ctf_trace_copy *trace,
                                   struct ttr_writer *out, const struct ctf_stream *stream,
                                   ttr_error *error);

/* Handles an event of the file, a gap or the definition of a packet. */
TTR_MUST ttr_status ctf_copy_event(struct ctf_file_copy *file, struct ttr_writer *out,
                                   const ttr_event *event, ttr_error *error);

/* Copies the borrowed bytes of unfinished packets, before the batch becomes invalid. */
TTR_MUST ttr_status ctf_copy_save(struct ctf_file_copy *file, ttr_error *error);

/* Writes the last packet and finishes the file. */
TTR_MUST ttr_status ctf_copy_finish(struct ctf_file_copy *file, struct ttr_writer *out,
                                    ttr_error *error);

/* Counts the gaps that no packet was left to report, after all files of the trace are finished. */
void ctf_copy_trace_finish(const struct ctf_trace_copy *copy, struct ttr_writer *out);

void ctf_copy_free(struct ctf_file_copy *file, const struct alloc *alloc);

/* Returns true if the options allow the packets to be written unchanged. */
bool ctf_can_copy(const struct ctf_trace *trace, const struct ctf_options *options);

/* Returns true if the target's metadata language can express the trace's description. If not, the
 * trace is transcoded. */
bool ctf_can_describe(const struct ctf_trace *trace, const struct ctf_options *options);

/* Starts the copy of a trace and writes its metadata. Sets is_refused if it has to be transcoded.
 */
TTR_MUST ttr_status ctf_copy_trace_begin(struct ctf_trace_copy *copy, struct ctf_trace *trace,
                                         const struct ctf_options *options, struct ttr_writer *out,
                                         ttr_error *error);
void ctf_copy_trace_free(struct ctf_trace_copy *copy, const struct alloc *alloc);

/* --- ctf_filter_packet.c --- */

/* Inserts the UUID of the copy into the packet header if the source's packets have another one. CTF
 * 1.8 allows that, CTF 2 does not; it also applies if the UUID policy changed the UUID. */
void ctf_set_packet_uuid(struct ctf_file_copy *file);

/* Rebuilds the packet from the events that are left and writes it; writes nothing if there are
 * none. */
TTR_MUST ttr_status ctf_filter_packet(struct ctf_file_copy *file, struct ttr_writer *out,
                                      ttr_error *error);

/* Writes a packet unchanged, apart from its sequence number if earlier packets were dropped, and
 * its UUID (ctf_set_packet_uuid). */
TTR_MUST ttr_status ctf_write_packet(struct ctf_file_copy *file, struct ttr_writer *out,
                                     const uint8_t *bytes, size_t n, ttr_error *error);

/* Returns the copied data stream of the open packet; NULL if memory runs out. */
struct ctf_stream_copy *ctf_stream_copy_of(struct ctf_file_copy *file);

/* --- ctf_index_keep.c --- */

/* Opens the index of a source file, if it exists and is valid. */
TTR_MUST ttr_status ctf_source_index_open(struct ctf_source_index *old, struct folder *folder,
                                          const char *name, const struct alloc *alloc,
                                          ttr_error *error);

/* Compares its next entries with those of the written packets. `unnumbered`: bit i = packets do not
 * record the i-th number, so it is not compared. */
TTR_MUST ttr_status ctf_source_index_compare(struct ctf_source_index *old,
                                             const struct buffer *entries, uint32_t unnumbered,
                                             ttr_error *error);

/* Returns true if its entries are exactly those of the written packets. */
bool ctf_source_index_matches(const struct ctf_source_index *old);

/* Copies the index to `to` and finishes that file. Consumes `to`; NULL means that `error` is
 * already filled. */
TTR_MUST ttr_status ctf_source_index_copy(const struct ctf_source_index *old, struct sink *to,
                                          ttr_error *error);

#endif
