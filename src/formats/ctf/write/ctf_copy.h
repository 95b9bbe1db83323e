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
 * |    ctf_copy_save_borrowed_bytes          at the end of a batch: saves the bytes of unfinished
 * packets |  ctf_copy_finish          last packet, index |  ctf_copy_trace_finish    losses that no
 * packet could report
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

/* Position of an event of the open packet that the filter kept. at, end: bit offsets in the packet;
 * ticks: time of the event. */
struct ctf_kept {
    uint64_t at, end, ticks;
    const struct ctf_event_class *event;
    /* true if the event is a gap, or names a thread (ctf_conventions.h), so it is not counted as a
     * written event */
    bool is_uncounted;
};

/* Buffers for an open packet, reused by later packets. */
struct ctf_packet_buffers {
    /* bytes of the packet, from byte offset ctf_open_packet.event_bytes_at to the end of the last
     * kept event */
    struct buffer event_bytes;
    struct ctf_kept *kept;
    size_t kept_capacity;
};

/* Counters of a data stream that is copied; several files may contain the stream. */
struct ctf_stream_copy {
    int64_t shift; /* sequence number in the source minus that in the copy */
    bool is_begun; /* true if at least one packet was written */
    /* number of events and packets that the source reports as missing after the last written packet
     */
    uint64_t events, packets;
};

/* State of the copy of a trace. */
struct ctf_trace_copy {
    struct ctf_trace *source;
    const struct ctf_options *options;
    struct ctf_output_dir home;
    uint8_t uuid[16]; /* UUID of the copy: that of the source, or a new one */
    /* true if the trace cannot be copied, so its events are transcoded */
    bool is_refused;
    /* cache of the packet filter: maps (type, 0) to log2 of the type's largest alignment in bits,
     * and (event class, KEY_ORDERS) to a set of byte orders */
    struct pair_map aligns;
    /* maps (stream class, stream number) to the index in `streams` */
    struct pair_map stream_of;
    struct ctf_stream_copy *streams;
    size_t streams_n, streams_capacity;
    struct bit_offsets places;
    /* buffers that no open packet uses; the next packet of any file uses them */
    struct ctf_packet_buffers spare;
};

/* The packet to which the events that arrive belong. It is open until its definition arrives,
 * after its last event. */
struct ctf_open_packet {
    bool is_open;
    /* copy of the reader's description of the packet; its pointers may be dangling, because the
     * reader may have freed the bytes */
    struct ctf_packet about;
    const struct ctf_stream_decoder *kind;
    uint64_t number; /* stream number of the packet */
    /* bytes of packet header and packet context, with the UUID of the copy */
    struct buffer head;
    /* byte offset in `head` of the UUID if it was replaced; UINT64_MAX if not */
    uint64_t uuid_at;
    struct ctf_packet_buffers room;
    /* byte offset in the packet of the first byte in `room.event_bytes`; a multiple of
     * EVENT_BYTES_ALIGN */
    uint64_t event_bytes_at;
    size_t kept_n;      /* number of events in room.kept */
    size_t uncounted_n; /* number of events in room.kept with is_uncounted */
    /* file offset of the source packet that reports the gap in gap_events and gap_packets */
    uint64_t gap_at;
    uint64_t gap_events, gap_packets;
    /* range of bytes in the current batch that must still be copied to room.event_bytes; NULL
     * if there are no such bytes */
    const uint8_t *from, *to;
    uint64_t from_at; /* byte offset of `from` in the packet */
};

/* LTTng index of a source stream file. It is copied if all its entries match the copied packets. */
struct ctf_source_index {
    struct folder *folder;
    const struct folder_file *file; /* the index file; NULL if the source has none */
    /* true if the header is valid, and all entries that were compared match the written packets */
    bool fits;
    uint32_t entry_bytes, compared;
    uint64_t at; /* index of the next entry to compare */
};

/* State of the copy of a stream file. */
struct ctf_file_copy {
    struct ctf_trace_copy *trace;
    char *name;
    size_t name_size;
    struct sink *sink;
    struct ctf_open_packet packet;
    uint64_t offset; /* number of bytes written to the file */
    /* true if a packet was written that differs from its source packet */
    bool is_changed;
    /* true if the last packet declares no size, so readers extend it to the end of the file;
     * another packet must not follow */
    bool is_ended;
    /* name of the first file if the copy of the stream continues in more files
     * (ctf_copy_next_file); NULL if it is one file */
    const char *first_name;
    uint64_t part; /* number of files that were started after the first */
    /* true if the file is in the writer's list of files that may refer to bytes of the batch
     * (ctf_copy_save_borrowed_bytes) */
    bool is_dirty;
    struct ctf_file_copy *next_dirty;
    /* the new index, with an entry for each written packet */
    struct ctf_index_out index;
    /* bit i is set if packets do not contain the i-th number of an index entry, so that it is not
     * compared */
    uint32_t unnumbered;
    struct ctf_source_index old_index;
};

/* --- Several files per stream (ctf_copy_part.c) --- */

/* Prepares the file for the next packet. If a packet must not follow in the current file
 * (is_ended), finishes it and creates another one, with the name of the first and a number. */
TTR_MUST ttr_status ctf_copy_next_file(struct ctf_file_copy *file, struct ttr_writer *out,
                                       ttr_error *error);

/* Finishes the open file and writes its index. */
TTR_MUST ttr_status ctf_copy_finish_file(struct ctf_file_copy *file, struct ttr_writer *out,
                                         ttr_error *error);

/* Returns true if an index will be written for the file: the option index=yes is set, or the source
 * has an index and index=no is not set. */
bool ctf_copy_keeps_index(const struct ctf_file_copy *file);

/* Writes the buffered index entries if ctf_index_out_is_full returns true. */
TTR_MUST ttr_status ctf_copy_flush_index(struct ctf_file_copy *file, struct ttr_writer *out,
                                         ttr_error *error);

/* --- Copy of events and packets (ctf_copy.c) --- */

/* Starts the copy of a stream file. If the trace cannot be copied (is_refused), only initializes
 * `file`. */
TTR_MUST ttr_status ctf_copy_begin(struct ctf_file_copy *file, struct ctf_trace_copy *trace,
                                   struct ttr_writer *out, const struct ctf_stream *stream,
                                   ttr_error *error);

/* Adds an event or gap to the open packet; if `event` is the definition of a packet, writes the
 * packet. */
TTR_MUST ttr_status ctf_copy_event(struct ctf_file_copy *file, struct ttr_writer *out,
                                   const ttr_event *event, ttr_error *error);

/* Copies the bytes of the batch to which the open packet refers. Called before the batch becomes
 * invalid. */
TTR_MUST ttr_status ctf_copy_save_borrowed_bytes(struct ctf_file_copy *file, ttr_error *error);

/* Writes the last packet, which is rebuilt if its definition has not arrived, and finishes the
 * file. */
TTR_MUST ttr_status ctf_copy_finish(struct ctf_file_copy *file, struct ttr_writer *out,
                                    ttr_error *error);

/* Counts as lost the gaps after the last packet of each stream, because no packet follows that can
 * report them. Called after all files of the trace are finished. */
void ctf_copy_trace_finish(const struct ctf_trace_copy *copy, struct ttr_writer *out);

void ctf_copy_free(struct ctf_file_copy *file, const struct alloc *alloc);

/* Returns true if the version and the options allow that the trace's packets are written
 * unchanged. */
bool ctf_can_copy(const struct ctf_trace *trace, const struct ctf_options *options);

/* Returns true if the metadata language of the target version can express the trace's description.
 * If not, the trace must be transcoded. */
bool ctf_can_express_description(const struct ctf_trace *trace, const struct ctf_options *options);

/* Starts the copy of a trace and writes its metadata. Sets is_refused if the trace must be
 * transcoded instead. */
TTR_MUST ttr_status ctf_copy_trace_begin(struct ctf_trace_copy *copy, struct ctf_trace *trace,
                                         const struct ctf_options *options, struct ttr_writer *out,
                                         ttr_error *error);
void ctf_copy_trace_free(struct ctf_trace_copy *copy, const struct alloc *alloc);

/* --- Rebuilding of packets (ctf_filter_packet.c) --- */

/* Replaces the UUID in `head` of the open packet by that of the copy. Only if the copy has another
 * UUID than the source, or CTF 1.8 is copied to CTF 2: readers of CTF 1.8 accept packets with a
 * wrong UUID, readers of CTF 2 do not. */
void ctf_set_packet_uuid(struct ctf_file_copy *file);

/* Rebuilds the open packet from its kept events and writes it. Writes nothing if there are no kept
 * events. */
TTR_MUST ttr_status ctf_filter_packet(struct ctf_file_copy *file, struct ttr_writer *out,
                                      ttr_error *error);

/* Writes the bytes of a packet unchanged, with two exceptions: the sequence number, if earlier
 * packets were dropped, and the UUID (ctf_set_packet_uuid). */
TTR_MUST ttr_status ctf_write_packet(struct ctf_file_copy *file, struct ttr_writer *out,
                                     const uint8_t *bytes, size_t n, ttr_error *error);

/* Returns the counters of the open packet's data stream; the first call adds them. Returns NULL if
 * memory runs out. */
struct ctf_stream_copy *ctf_get_stream_copy(struct ctf_file_copy *file);

/* --- Index of the source (ctf_index_keep.c) --- */

/* Opens the index of a source stream file. Sets old->file to NULL if there is none, and old->fits
 * to false if its header is not valid. */
TTR_MUST ttr_status ctf_source_index_open(struct ctf_source_index *old, struct folder *folder,
                                          const char *name, const struct alloc *alloc,
                                          ttr_error *error);

/* Compares the next entries of the source's index with `entries`, those of the written packets.
 * Sets old->fits to false if they differ. Bit i of `unnumbered`: the i-th number of entries is not
 * compared. */
TTR_MUST ttr_status ctf_source_index_compare(struct ctf_source_index *old,
                                             const struct buffer *entries, uint32_t unnumbered,
                                             ttr_error *error);

/* Returns true if the source's index has the same entries as the written packets. */
bool ctf_source_index_matches(const struct ctf_source_index *old);

/* Copies the source's index to `to` and finishes that file. Consumes `to`; if it is NULL, `error`
 * already has the reason. */
TTR_MUST ttr_status ctf_source_index_copy(const struct ctf_source_index *old, struct sink *to,
                                          ttr_error *error);

#endif
