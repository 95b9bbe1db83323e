/* Index of a stream file, built before its first event is read: packets assigned to queues, and
 * entry points to start reading in the middle.
 *
 * A packet queue is the list of packets that one input reads: packets of one data stream that do
 * not overlap in time. Nearly all files have one queue. If a tracer stores packets of several
 * streams in one file, or packets that overlap, each queue gets its own input over the same file.
 * So each input is in order, which the merge needs.
 *
 * |  packets in file order:  A0  A1  B0  A2  B1      (A, B: stream; A2 begins before A1 ends)
 * |  queue 0 (A): A0 A1      queue 1 (B): B0 B1      queue 2 (A): A2
 *
 * Order of calls: ctf_build_index when the input is opened; ctf_index_after_unsized_packet if a
 * later file continues the stream; ctf_queue_contains_first_packet and ctf_mark_duplicates when
 * files of one stream are compared; ctf_find_entry_point and ctf_verify_entry_point when reading
 * starts; ctf_check_index after the last event. Ownership: the inputs of a file share the index;
 * the last one frees it. Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_BUILD_INDEX_H
#define TRACETTA_FORMATS_CTF_READ_CTF_BUILD_INDEX_H

#include "base/pair_map.h"
#include "formats/ctf/read/ctf_reader.h"

#define CTF_QUEUES_MAX 16u
/* maximum number of entry points per file; in files with more packets, only every second, fourth,
 * ... packet has one */
#define CTF_ENTRY_POINTS_MAX 4096u

/* Begin and end time, sequence number and size of a packet, which identify it in its stream. Values
 * that the packet does not declare are 0. */
struct ctf_identity {
    uint64_t begin, end, sequence, size;
};

struct ctf_packet_queue {
    const struct ctf_stream_decoder *kind; /* stream decoder; NULL = the file has no valid packet */
    uint64_t number;                       /* stream instance id */
    bool has_number, has_begin;
    /* time range of all packets of the queue, ns; valid if has_begin */
    int64_t begin, end;
    int64_t last_begin;       /* begin time of the last packet, ns; valid if has_begin */
    bool is_in_order;         /* no packet begins before the previous one ends */
    struct ctf_counters last; /* counters after the last packet of the queue */
    /* index in the file of the last packet with events; UINT64_MAX = none */
    uint64_t last_with_events;
    /* begin, end, sequence number and size of the first packet that has a begin time */
    struct ctf_identity first;
    /* counters at the end of the previous file of the same data stream; unset if there is none */
    struct ctf_counters initial;
    /* Packets that another file of the stream contains, too, with a state: CTF_DUPLICATE_SKIP (the
     * other file's copy is read), or CTF_DUPLICATE_REPLACES plus an index into `replaced` (this
     * copy is read, because the other one is damaged). NULL = none. */
    struct pair_map *duplicates;
    struct ctf_counters *replaced; /* counters before each packet that replaces a damaged one */
    size_t replaced_n, replaced_capacity;
};

#define CTF_DUPLICATE_SKIP 1u
#define CTF_DUPLICATE_REPLACES 2u

/* A packet at which reading can start. */
struct ctf_entry_point {
    uint64_t offset;
    /* packet index at which reading must start so that no queue misses its last packet with events
     * before this one; the index of this packet if there is none */
    uint64_t oldest_needed : 63;
    bool is_empty : 1;      /* the packet has no events */
    uint64_t previous_size; /* size of the previous packet in bytes; 0 = there is none */
    /* ns; latest end of all earlier packets, or the begin of this packet if that is later */
    int64_t before;
};

struct ctf_file_index {
    const struct alloc *alloc;
    uint32_t users;
    /* array of queues; allocated for one queue, then for CTF_QUEUES_MAX */
    struct ctf_packet_queue *queue;
    uint32_t n, capacity; /* number of queues, at least 1 */
    /* number of indexed packets; the index ends at the first invalid packet header */
    uint64_t packets;
    /* queue index of each packet; NULL = all packets belong to queue 0 */
    uint8_t *queue_of;
    size_t queue_of_capacity;
    struct ctf_entry_point *entry_points; /* in file order; element i describes packet i * stride */
    size_t entry_points_n, entry_points_capacity;
    uint64_t stride; /* packets per entry point: packet i has one if i is divisible by this */
    int64_t end;     /* latest end of all packets so far, ns */
    bool has_times;  /* every packet declares begin and end times */
    /* file offset of a packet without a declared size, at which the index ends; UINT64_MAX = none
     */
    uint64_t unsized_at;
    /* the file also contains packets with the UUID of another trace, which `packets` does not count
     */
    bool has_foreign_packets;
    bool is_whole;   /* the index covers the file up to its end */
    bool is_indexed; /* built from the tracer's index file, not from packet headers */
    /* at least one impossible packet size was replaced (ctf_size_repair.c) */
    bool has_repaired_sizes;
    /* the tracer's index file was compared with all headers, and differences were reported */
    bool is_checked;
};

/* Builds the index of the reader's file, from the trace's index file if that is plausible.
 * Otherwise reads the headers of all packets, and reports how the index file differs from them. A
 * file without random access (compressed) gets one queue that is not in order. Returns NULL with
 * `error` on failure. */
struct ctf_file_index *ctf_build_index(struct ctf_reader *reader, ttr_error *error);

/* Searches by magic number for packets after a packet that declares no size. Of packets of the
 * first queue's stream that begin after all earlier packets, adds counters and times to the queue,
 * because a file that continues the stream needs these. Does nothing if the index covers all
 * packets. Returns false if memory is out. */
TTR_MUST bool ctf_index_after_unsized_packet(struct ctf_reader *reader);

/* Returns true if queue `i` of the reader's file contains the first packet of `queue`, a queue of
 * another file (overlapping snapshots). Reads packet headers, starting at the last entry point
 * before that packet. Does not find a packet that follows damage. */
bool ctf_queue_contains_first_packet(struct ctf_reader *reader, uint32_t i,
                                     const struct ctf_packet_queue *queue);

/* Refers to a packet queue of a file: reader of the file, and index of the queue. */
struct ctf_queue_ref {
    struct ctf_reader *reader;
    uint32_t queue;
};

/* Marks each packet of queue `here` that queue `first` also contains as a duplicate, so that it is
 * not read from `here`. If the packet is damaged in `first` and valid in `here`, it is read from
 * `here` instead. Returns false if memory is out. */
TTR_MUST bool ctf_mark_duplicates(const struct ctf_queue_ref *first,
                                  const struct ctf_queue_ref *here);

/* Returns 0 if only this file contains the packet. Otherwise returns CTF_DUPLICATE_SKIP, or
 * CTF_DUPLICATE_REPLACES plus an index into queue->replaced. */
uint32_t ctf_get_duplicate_state(const struct ctf_packet_queue *queue,
                                 const struct ctf_packet *packet);

/* Returns the index of the queue that packet `i` belongs to. */
static inline uint32_t ctf_get_packet_queue(const struct ctf_file_index *file_index, uint64_t i)
{
    return file_index->queue_of && i < file_index->packets ? file_index->queue_of[i] : 0;
}

/* Finds a later entry point for a reader of `queue` that is at packet *i of another stream. Returns
 * the last entry point that does not skip packets of the queue's stream, and sets *i to its packet
 * index. Returns NULL if there is none after *i. */
const struct ctf_entry_point *ctf_skip_other_queues(const struct ctf_file_index *file_index,
                                                    uint32_t queue, uint64_t *i);

/* Returns true if the packet contains no events. */
static inline bool ctf_packet_is_empty(const struct ctf_frame *frame)
{
    return frame->packet.content <= frame->head;
}

/* Returns true if the packet belongs to the data stream of the queue. */
static inline bool ctf_queue_accepts_packet(const struct ctf_packet_queue *queue,
                                            const struct ctf_frame *frame)
{
    return queue->kind == frame->kind->first && queue->has_number == frame->has_number &&
           queue->number == frame->number;
}

/* Returns the queue that packet `i` was assigned to. For a packet that is not indexed, returns the
 * first queue of its stream. Returns NULL if no queue has this stream. */
struct ctf_packet_queue *ctf_find_queue(const struct ctf_file_index *file_index, uint64_t i,
                                        const struct ctf_frame *frame);

/* Returns the entry point to read a time range that starts at `from`, and sets *packet to its
 * packet index. Sets *wanted to the index of the first packet with events to read; only the
 * counters of the packets in between are needed. Returns NULL and leaves *wanted unchanged if
 * reading must start at the beginning.
 *
 * A packet is skipped if it ends before `from`, and the next packet with events of its queue also
 * begins before `from`. So a wrong end time alone never hides events; only the order of packets
 * within a stream is relied on. The last packet of a file with one queue has no successor. It is
 * skipped if `from` is later than its end by more than the average packet duration. Later events
 * are reported when the packet is read (ctf.late-event). */
const struct ctf_entry_point *ctf_find_entry_point(const struct ctf_file_index *file_index,
                                                   int64_t from, uint64_t *packet,
                                                   uint64_t *wanted);

/* Returns entry point `i` for reading; sets *packet and *wanted as ctf_find_entry_point does. */
const struct ctf_entry_point *ctf_get_entry_point(const struct ctf_file_index *file_index, size_t i,
                                                  uint64_t *packet, uint64_t *wanted);

/* Verifies the result of ctf_find_entry_point by packet headers if the index was built from an
 * index file. Returns false if packet *wanted does not begin before `from`; then reading must start
 * earlier. Moves the entry point to packet *wanted if the header before that is invalid or not
 * adjacent. */
bool ctf_verify_entry_point(struct ctf_reader *reader, int64_t from,
                            const struct ctf_entry_point **mark, uint64_t *packet,
                            uint64_t *wanted);

/* Compares the tracer's index file with the headers of all packets, and reports differences. Does
 * nothing if the index was not built from that file, or after the first call. */
void ctf_check_index(struct ctf_reader *reader);

/* Drops a reference; NULL is allowed. */
void ctf_file_index_unref(struct ctf_file_index *file_index);

#endif
