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
/* maximum number of entry points per file; if a file has more packets, only every second, fourth,
 * ... packet gets one */
#define CTF_ENTRY_POINTS_MAX 4096u

/* Begin and end time, sequence number and size of a packet, which identify it in its stream. Values
 * that the packet does not declare are 0. */
struct ctf_identity {
    uint64_t begin, end, sequence, size;
};

struct ctf_packet_queue {
    /* decoder of the stream; NULL if the file has no valid packet */
    const struct ctf_stream_decoder *kind;
    uint64_t number; /* stream instance id of the packets */
    bool has_number, has_begin;
    /* begin, end: time range in ns of all packets of the queue; valid if has_begin */
    int64_t begin, end;
    int64_t last_begin; /* begin time of the last packet, ns; valid if has_begin */
    bool is_in_order;   /* true if no packet begins before the previous one ends */
    /* counters (discarded events, packet number) after the last packet of the queue */
    struct ctf_counters last;
    /* index in the file of the last packet of the queue with events; UINT64_MAX if there is none */
    uint64_t last_with_events;
    /* identity of the first packet that has a begin time */
    struct ctf_identity first;
    /* counters at the end of the previous file of the same data stream; unset if there is none */
    struct ctf_counters initial;
    /* Duplicates: packets that another file of the stream contains, too. Maps each to
     * CTF_DUPLICATE_SKIP (the copy in the other file is read), or to CTF_DUPLICATE_REPLACES plus
     * an index into `replaced` (this copy is read, because the other is damaged). NULL if the
     * queue has none. */
    struct pair_map *duplicates;
    /* counters before each packet of this queue that replaces a damaged copy */
    struct ctf_counters *replaced;
    size_t replaced_n, replaced_capacity;
};

#define CTF_DUPLICATE_SKIP 1u
#define CTF_DUPLICATE_REPLACES 2u

/* A packet at which reading can start. */
struct ctf_entry_point {
    uint64_t offset;
    /* index of the first packet that must be read to start here, so that each queue has its last
     * packet with events before this one; if no queue has any, the index of this packet */
    uint64_t oldest_needed : 63;
    bool is_empty : 1; /* true if the packet has no events */
    /* size in bytes of the packet before this one; 0 if this is the first */
    uint64_t previous_size;
    /* ns; latest end time of all earlier packets, or the begin time of this packet if that is
     * later */
    int64_t before;
};

struct ctf_file_index {
    const struct alloc *alloc;
    uint32_t users;
    /* array of queues; first allocated for one queue, then for CTF_QUEUES_MAX */
    struct ctf_packet_queue *queue;
    uint32_t n, capacity; /* number of queues, at least 1 */
    /* number of indexed packets; the index ends at the first invalid packet header */
    uint64_t packets;
    /* index of the queue of each packet; NULL if all packets belong to queue 0 */
    uint8_t *queue_of;
    size_t queue_of_capacity;
    /* entry points in file order; element i is for packet i * stride */
    struct ctf_entry_point *entry_points;
    size_t entry_points_n, entry_points_capacity;
    uint64_t stride; /* number of packets per entry point */
    int64_t end;     /* latest end time in ns of all packets so far */
    bool has_times;  /* true if every packet declares begin and end times */
    /* file offset of the first packet that declares no size, before which the index ends;
     * UINT64_MAX if all declare one */
    uint64_t unsized_at;
    /* true if the file also contains packets with the UUID of another trace, which `packets` does
     * not count */
    bool has_foreign_packets;
    bool is_whole; /* true if the index contains all packets of the file */
    /* true if the index was built from the tracer's index file, not from packet headers */
    bool is_indexed;
    /* true if at least one impossible packet size was replaced (ctf_size_repair.c) */
    bool has_repaired_sizes;
    /* true if the tracer's index file was compared with all headers, and differences were reported
     */
    bool is_checked;
};

/* Builds the index of the reader's file. Uses the trace's index file if that is plausible. If not,
 * reads the headers of all packets, and reports how the index file differs from them. A compressed
 * file, which has no random access, gets one queue that is not in order. Returns NULL with `error`
 * on failure. */
struct ctf_file_index *ctf_build_index(struct ctf_reader *reader, ttr_error *error);

/* Searches for packets after a packet that declares no size, by their magic number. Adds the
 * counters and times of those that belong to the first queue's stream and begin after all earlier
 * packets, because a file that continues the stream needs these. Does nothing if the index covers
 * all packets. Returns false if memory runs out. */
TTR_MUST bool ctf_index_after_unsized_packet(struct ctf_reader *reader);

/* Returns true if queue `i` of the reader's file contains the first packet of `queue`, which is in
 * another file: the files are overlapping snapshots. Reads packet headers from the last entry
 * point before that packet on. Does not find the packet if it follows damage. */
bool ctf_queue_contains_first_packet(struct ctf_reader *reader, uint32_t i,
                                     const struct ctf_packet_queue *queue);

/* Refers to a packet queue of a file: reader of the file, and index of the queue. */
struct ctf_queue_ref {
    struct ctf_reader *reader;
    uint32_t queue;
};

/* Marks each packet of queue `here` that queue `first` also contains as a duplicate, so that only
 * the copy in `first` is read. If that copy is damaged and the one in `here` is valid, the one in
 * `here` is read instead. Returns false if memory runs out. */
TTR_MUST bool ctf_mark_duplicates(const struct ctf_queue_ref *first,
                                  const struct ctf_queue_ref *here);

/* Returns 0 if only this file contains the packet; otherwise CTF_DUPLICATE_SKIP, or
 * CTF_DUPLICATE_REPLACES plus an index into queue->replaced. */
uint32_t ctf_get_duplicate_state(const struct ctf_packet_queue *queue,
                                 const struct ctf_packet *packet);

/* Returns the index of the queue that packet `i` belongs to. */
static inline uint32_t ctf_get_packet_queue(const struct ctf_file_index *file_index, uint64_t i)
{
    return file_index->queue_of && i < file_index->packets ? file_index->queue_of[i] : 0;
}

/* Skips packets of other streams. *i is the index of such a packet. Returns the last entry point
 * before the next packet of the queue's stream, and sets *i to its packet index. Returns NULL if
 * no entry point follows *i. */
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

/* Returns entry point `i`; sets *packet and *wanted as ctf_find_entry_point does. */
const struct ctf_entry_point *ctf_get_entry_point(const struct ctf_file_index *file_index, size_t i,
                                                  uint64_t *packet, uint64_t *wanted);

/* If the index was built from an index file, verifies the result of ctf_find_entry_point by packet
 * headers. Returns false if packet *wanted does not begin before `from`; then reading must start
 * earlier. Moves the entry point to packet *wanted if the header before that is invalid or not
 * adjacent. */
bool ctf_verify_entry_point(struct ctf_reader *reader, int64_t from,
                            const struct ctf_entry_point **mark, uint64_t *packet,
                            uint64_t *wanted);

/* Compares the tracer's index file with the headers of all packets, and reports differences. Only
 * for an index that was built from that file; further calls do nothing. */
void ctf_check_index(struct ctf_reader *reader);

/* Drops a reference to the index and frees it if that was the last; NULL is allowed. */
void ctf_file_index_unref(struct ctf_file_index *file_index);

#endif
