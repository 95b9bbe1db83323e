/* What is known of a stream file before its first event is read: its packets, dealt into lanes, and
 * marks to enter it in the middle.
 *
 * A lane is what one input reads: packets of one data stream that follow each other in time. Nearly
 * all files are one lane.  Where tracers put packets of several streams into one file, or packets
 * that overlap in time, each lane gets an input of its own over the same file, so that what is
 * merged always is in order. Ownership: `ctf_file_index` is shared by the inputs of a file and
 * freed with the last.  Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_BUILD_INDEX_H
#define TRACETTA_FORMATS_CTF_READ_CTF_BUILD_INDEX_H

#include "base/pair_map.h"
#include "formats/ctf/read/ctf_reader.h"

#define CTF_QUEUES_MAX 16u
#define CTF_ENTRY_POINTS_MAX \
    4096u /* of a file; where there are more packets, every second, fourth, ... has one */

/* What tells a packet from others of its stream; what is not there is 0. */
struct ctf_identity {
    uint64_t begin, end, sequence, size;
};

struct ctf_packet_queue {
    const struct ctf_stream_decoder *kind; /* NULL = no packet could be taken apart */
    uint64_t number;                       /* of its data stream */
    bool has_number, has_begin;
    int64_t begin, end;          /* of all its packets, where packets have times */
    int64_t last_begin;          /* of its last packet */
    bool is_in_order;            /* no packet begins before the one before it ends */
    struct ctf_counters last;    /* counters behind its last packet */
    uint64_t last_full;          /* its last packet that has events; UINT64_MAX = none */
    struct ctf_identity first;   /* its first packet that says when it begins */
    struct ctf_counters initial; /* counters of its stream's packets in another file before this */
    struct pair_map *had; /* packets that other files give: CTF_DUPLICATE_SKIP; of those that this
                           * one gives in place of a damaged one in another file,
                           * CTF_DUPLICATE_REPLACES and its place in `taken`.  NULL = none */
    struct ctf_counters *taken; /* counters before each of the latter */
    size_t taken_n, taken_capacity;
};

#define CTF_DUPLICATE_SKIP 1u
#define CTF_DUPLICATE_REPLACES 2u

/* A packet to enter the file at. */
struct ctf_entry_point {
    uint64_t offset;
    uint64_t oldest : 63; /* the first packet before it that has events and that none with events
                             follows in its lane before it; itself = none */
    bool is_empty : 1;    /* the packet has no events */
    uint64_t usual;       /* size of the packet before it, in bytes; 0 = there is none */
    int64_t before;       /* all packets before it end before or at this time, and it begins then or
                             earlier */
};

struct ctf_file_index {
    const struct alloc *alloc;
    uint32_t users;
    struct ctf_packet_queue *queue; /* room for one, then for CTF_QUEUES_MAX */
    uint32_t n, capacity;           /* n: at least 1 */
    uint64_t packets;               /* looked at: up to the first that cannot be taken apart */
    uint8_t *of;                    /* the lane of each packet, NULL = all are of the first */
    size_t of_capacity;
    struct ctf_entry_point *mark; /* ascending; the i-th is that of packet i * stride */
    size_t marks_n, marks_capacity;
    uint64_t stride;  /* packets between marks */
    int64_t end;      /* the latest of all packets so far */
    bool has_times;   /* every packet says when it begins and ends */
    uint64_t open_at; /* where a packet is that tells no size, so that those behind it were not
                         looked at; UINT64_MAX = nowhere */
    bool has_others;  /* packets of other traces stand between, which are not counted */
    bool is_whole;   /* looked at up to the end: nothing stands behind that could be searched for */
    bool is_indexed; /* what is said here is the index's word, but for some packets */
    bool has_corrected; /* packets have other sizes than they say */
    bool is_checked;    /* all of that was held against headers, and what is wrong was told */
};

/* Looks at the headers of all packets, and tells where the file's index says otherwise; where that
 * can be right it is taken, and few headers are looked at.  A file that cannot be looked at ahead
 * (compressed) is one lane that is not in order.  NULL with `error` when that fails. */
struct ctf_file_index *ctf_build_index(struct ctf_reader *reader, ttr_error *error);

/* Looks for packets behind one that tells no size, by their magic number: those of the first lane's
 * stream that begin where all before them have ended. Their counters and times become the lane's,
 * for files that go on with it.  Packets are not looked for where all are known; false when memory
 * is out. */
TTR_MUST bool ctf_index_unsized_rest(struct ctf_reader *reader);

/* Whether the i-th lane of the reader's file has the first packet of a lane of another file, as
 * overlapping snapshots have; by the headers from the last mark before it on.  What cannot be
 * looked at is not found: reading tells of it. */
bool ctf_queue_contains(struct ctf_reader *reader, uint32_t i,
                        const struct ctf_packet_queue *queue);

/* A lane of a file. */
struct ctf_queue_ref {
    struct ctf_reader *reader;
    uint32_t queue;
};

/* Adds the packets of a lane that are not before one of another file to those that are known there
 * as had; where that one has a packet whole which is damaged in the first, it gives it, and the
 * first has it no more. */
TTR_MUST bool ctf_mark_duplicates(const struct ctf_queue_ref *first,
                                  const struct ctf_queue_ref *here);

/* What is known of a packet of a lane that other files have too: CTF_DUPLICATE_SKIP,
 * CTF_DUPLICATE_REPLACES and on, or 0.
 */
uint32_t ctf_duplicate_state(const struct ctf_packet_queue *queue, const struct ctf_packet *packet);

/* The lane of the i-th packet. */
static inline uint32_t ctf_queue_of_packet(const struct ctf_file_index *file_index, uint64_t i)
{
    return file_index->of && i < file_index->packets ? file_index->of[i] : 0;
}

/* Where reading a lane goes on behind packets of others: at the next mark, if there is one, that
 * lies not behind the next packet of the lane's stream, or the last packet. NULL: with the next
 * packet, which is the i-th; else *i is that of the mark. */
const struct ctf_entry_point *ctf_skip_other_queues(const struct ctf_file_index *file_index,
                                                    uint32_t queue, uint64_t *i);

/* Whether a packet has no events. */
static inline bool ctf_packet_is_empty(const struct ctf_frame *frame)
{
    return frame->packet.content <= frame->head;
}

/* Whether a packet is of the data stream of a lane. */
static inline bool ctf_queue_accepts(const struct ctf_packet_queue *queue,
                                     const struct ctf_frame *frame)
{
    return queue->kind == frame->kind->first && queue->has_number == frame->has_number &&
           queue->number == frame->number;
}

/* The lane of a packet of the file, which is the i-th; behind those that were looked at the first
 * of its stream.  NULL: there is none. */
struct ctf_packet_queue *ctf_find_queue(const struct ctf_file_index *file_index, uint64_t i,
                                        const struct ctf_frame *frame);

/* The mark to enter the file at where events from a time on are asked for, whose packet it gives;
 * NULL = the beginning.  *wanted is untouched then, else the first packet to take; those between
 * are passed over, so that counters are known.
 *
 * A packet is left out where it ends before that time and the next one of its lane that has events
 * begins before it: so the word of no single header is believed of events, which may be later than
 * the end that their packet tells; only that a stream's events are in order.  The last packet of a
 * file of one lane is left out where the time is farther behind its end than packets are long: what
 * is later is told where it is read (ctf.late-event). */
const struct ctf_entry_point *ctf_find_entry(const struct ctf_file_index *file_index, int64_t from,
                                             uint64_t *packet, uint64_t *wanted);

/* The same for the i-th mark, with *wanted in any case. */
const struct ctf_entry_point *ctf_entry_at(const struct ctf_file_index *file_index, size_t i,
                                           uint64_t *packet, uint64_t *wanted);

/* Whether what ctf_find_entry gave is so by headers, too, where it was an index's word: the first
 * packet to take begins before the range, so that no packet before it has events there.  Where the
 * file is entered is moved to that packet unless its header is right behind the one of the packet
 * before it. */
bool ctf_verify_entry(struct ctf_reader *reader, int64_t from, const struct ctf_entry_point **mark,
                      uint64_t *packet, uint64_t *wanted);

/* Holds the entries of an index that was taken against all packets, once, and tells what is wrong.
 */
void ctf_check_index(struct ctf_reader *reader);

/* Lets go of them; NULL is fine. */
void ctf_file_index_unref(struct ctf_file_index *file_index);

#endif
