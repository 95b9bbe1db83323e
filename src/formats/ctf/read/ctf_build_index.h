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
 * Order of calls: ctf_build_index when the input is opened; ctf_index_unsized_rest if a later file
 * continues the stream; ctf_queue_contains and ctf_mark_duplicates when files of one stream are
 * compared; ctf_find_entry and ctf_verify_entry when reading starts; ctf_check_index after the last
 * event. Ownership: the inputs of a file share the index; the last one frees it. Thread rule: that
 * of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_BUILD_INDEX_H
#define TRACETTA_FORMATS_CTF_READ_CTF_BUILD_INDEX_H

#include "base/pair_map.h"
#include "formats/ctf/read/ctf_reader.h"

#define CTF_QUEUES_MAX 16u
#define CTF_ENTRY_POINTS_MAX \
    4096u /* per file; with more packets, only every second, fourth, ... has one */

/* Values that identify a packet among the packets of its stream; values that are not stored are 0.
 */
struct ctf_identity {
    uint64_t begin, end, sequence, size;
};

struct ctf_packet_queue {
    const struct ctf_stream_decoder *kind; /* stream decoder; NULL = the file has no valid packet */
    uint64_t number;                       /* stream instance id */
    bool has_number, has_begin;
    int64_t begin, end;          /* time range of all its packets, ns; valid if has_begin */
    int64_t last_begin;          /* begin of its last packet, ns */
    bool is_in_order;            /* no packet begins before the previous one ends */
    struct ctf_counters last;    /* counters after its last packet */
    uint64_t last_with_events;   /* index of its last packet with events; UINT64_MAX = none */
    struct ctf_identity first;   /* its first packet that has a begin time */
    struct ctf_counters initial; /* counters of the stream at the end of an earlier file */
    /* state of packets that other files contain too: CTF_DUPLICATE_SKIP (another file provides
     * it), or CTF_DUPLICATE_REPLACES plus an index into `replaced` (this file provides it for a
     * damaged one). NULL = none */
    struct pair_map *duplicates;
    struct ctf_counters *replaced; /* counters before each packet that replaces a damaged one */
    size_t replaced_n, replaced_capacity;
};

#define CTF_DUPLICATE_SKIP 1u
#define CTF_DUPLICATE_REPLACES 2u

/* A packet at which reading can start. */
struct ctf_entry_point {
    uint64_t offset;
    /* index of the first earlier packet that may be needed: with events, and the last such packet
     * of its queue; its own index if there is none */
    uint64_t oldest_needed : 63;
    bool is_empty : 1;      /* the packet has no events */
    uint64_t previous_size; /* size of the previous packet in bytes; 0 = there is none */
    /* ns: all earlier packets end at or before this time, and this one begins at or before it */
    int64_t before;
};

struct ctf_file_index {
    const struct alloc *alloc;
    uint32_t users;
    struct ctf_packet_queue *queue; /* allocated for one, then for CTF_QUEUES_MAX */
    uint32_t n, capacity;           /* number of queues, at least 1 */
    uint64_t packets;               /* packets indexed: all before the first bad one */
    uint8_t *of;                    /* queue of each packet; NULL = all belong to queue 0 */
    size_t of_capacity;
    struct ctf_entry_point *entry_points; /* ascending; element i is the packet i * stride */
    size_t entry_points_n, entry_points_capacity;
    uint64_t stride; /* packets between entry points */
    int64_t end;     /* latest end of all packets so far, ns */
    bool has_times;  /* each packet has begin and end */
    /* file offset of a packet without a size, which ends the index pass; UINT64_MAX = none */
    uint64_t unsized_at;
    bool has_foreign_packets; /* packets of other traces are in between; they are not counted */
    bool is_whole;   /* the pass reached the end of the file, so there are no unknown packets */
    bool is_indexed; /* built from the index file; only some packet headers were read */
    bool has_repaired_sizes; /* the sizes of some packets were repaired */
    /* the index file was compared with all headers, and differences were reported */
    bool is_checked;
};

/* Builds the index of the reader's file. Uses the trace's index file if it is plausible, else reads
 * the headers of all packets and reports how the index file differs. A file without random access
 * (compressed) gets one queue that is not in order. Returns NULL with `error` on failure. */
struct ctf_file_index *ctf_build_index(struct ctf_reader *reader, ttr_error *error);

/* Searches for packets after one that declares no size, by magic number. Accepts packets of the
 * first queue's stream that begin after all earlier ones. Updates the queue's counters and times,
 * for files that continue the stream. Does nothing if all packets are known. Returns false if
 * memory is out. */
TTR_MUST bool ctf_index_unsized_rest(struct ctf_reader *reader);

/* Returns true if queue `i` of the reader's file contains the first packet of `lane`, a queue of
 * another file (overlapping snapshots). Reads headers from the last entry point before that packet
 * on. A packet after damage is not found. */
bool ctf_queue_contains(struct ctf_reader *reader, uint32_t i,
                        const struct ctf_packet_queue *queue);

/* A packet queue of a file. */
struct ctf_queue_ref {
    struct ctf_reader *reader;
    uint32_t queue;
};

/* Marks the packets of `here` that `first` contains too as duplicates, which are not read from
 * `here`. If a packet is damaged in `first` and valid in `here`, the roles are exchanged. Returns
 * false if memory is out. */
TTR_MUST bool ctf_mark_duplicates(const struct ctf_queue_ref *first,
                                  const struct ctf_queue_ref *here);

/* Returns the state of a packet that other files contain too: CTF_DUPLICATE_SKIP,
 * CTF_DUPLICATE_REPLACES and above, or 0 for all others. */
uint32_t ctf_duplicate_state(const struct ctf_packet_queue *queue, const struct ctf_packet *packet);

/* Returns the queue of packet `i`. */
static inline uint32_t ctf_queue_of_packet(const struct ctf_file_index *file_index, uint64_t i)
{
    return file_index->of && i < file_index->packets ? file_index->of[i] : 0;
}

/* Returns the entry point to continue at after packets of other queues: the last one before the
 * next packet of this queue's stream. Sets *i to its packet. Returns NULL if there is none; reading
 * continues with packet *i then. */
const struct ctf_entry_point *ctf_skip_other_queues(const struct ctf_file_index *file_index,
                                                    uint32_t queue, uint64_t *i);

/* Returns true if the packet has no events. */
static inline bool ctf_packet_is_empty(const struct ctf_frame *frame)
{
    return frame->packet.content <= frame->head;
}

/* Returns true if the packet belongs to the data stream of the queue. */
static inline bool ctf_queue_accepts(const struct ctf_packet_queue *queue,
                                     const struct ctf_frame *frame)
{
    return queue->kind == frame->kind->first && queue->has_number == frame->has_number &&
           queue->number == frame->number;
}

/* Returns the queue of packet `i`. After the indexed packets it is the first queue of the packet's
 * stream. Returns NULL if there is none. */
struct ctf_packet_queue *ctf_find_queue(const struct ctf_file_index *file_index, uint64_t i,
                                        const struct ctf_frame *frame);

/* Returns the entry point for a range that starts at `from`, with its packet index. Sets *wanted to
 * the first packet to read; the packets in between are skipped but their counters are recorded.
 * Returns NULL and leaves *wanted unchanged if reading must start at the beginning.
 *
 * A packet is skipped if it ends before `from` and the next packet with events of its queue begins
 * before `from` too. So the declared end of a packet alone never hides events; only their order
 * within a stream is relied on. The last packet of a file with one queue has no successor. It is
 * skipped if `from` is later than its end by more than the average length of packets; later events
 * are reported when it is read (ctf.late-event). */
const struct ctf_entry_point *ctf_find_entry(const struct ctf_file_index *file_index, int64_t from,
                                             uint64_t *packet, uint64_t *wanted);

/* Does the same for entry point `i`; always sets *wanted. */
const struct ctf_entry_point *ctf_entry_at(const struct ctf_file_index *file_index, size_t i,
                                           uint64_t *packet, uint64_t *wanted);

/* Checks the result of ctf_find_entry against packet headers if the index came from an index file.
 * Returns false if the first wanted packet does not begin before the range; reading must start
 * earlier then. Moves the entry point to that packet unless the header before it is valid and
 * adjacent. */
bool ctf_verify_entry(struct ctf_reader *reader, int64_t from, const struct ctf_entry_point **mark,
                      uint64_t *packet, uint64_t *wanted);

/* Compares the accepted index file with all packets, once, and reports differences. */
void ctf_check_index(struct ctf_reader *reader);

/* Drops a reference; NULL is allowed. */
void ctf_file_index_unref(struct ctf_file_index *file_index);

#endif
