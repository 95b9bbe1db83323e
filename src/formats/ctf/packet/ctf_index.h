/* LTTng's index of a stream file, `index/NAME.idx`: where packets lie and what their contexts say.
 * It can be stale or wrong, so nothing of it is believed that was not held against the stream file
 * where it matters, and what is wrong of it is told (ctf_build_index.c).
 *
 *   [0..3] magic 0xC1F1DCC1 | [4..7] major 1 | [8..11] minor | [12..15] bytes of an entry: 56, or
 * 72 from minor 1 on an entry: u64 offset (bytes) | packet_size | content_size (bits) |
 * timestamp_begin | timestamp_end | events_discarded | stream_id from minor 1 on:
 * stream_instance_id | packet_seq_num All numbers are big-endian.  Ownership: the index holds its
 * source until ctf_index_close. */
#ifndef TRACETTA_FORMATS_CTF_PACKET_CTF_INDEX_H
#define TRACETTA_FORMATS_CTF_PACKET_CTF_INDEX_H

#include "formats/ctf/read/ctf_reader.h"

#define CTF_INDEX_MAGIC 0xC1F1DCC1u
#define CTF_INDEX_HEADER 16u
#define CTF_INDEX_ENTRY_0 56u
#define CTF_INDEX_ENTRY_1 72u

struct ctf_index {
    struct source *source;
    struct window window;
    uint64_t at, n; /* entries read, entries there are */
    uint32_t entry_bytes;
    bool has_instance; /* minor 1: number of the stream and of the packet */
};

struct ctf_index_entry {
    uint64_t offset, size, content, begin, end, discarded, stream_id, instance, sequence;
};

/* Opens the index of a stream file; false where there is none.  *is_odd: there is one, but it is
 * not what it should be. */
bool ctf_index_open(struct ctf_index *index, const struct ctf_trace *trace, const char *file,
                    bool *is_odd);

/* Gives the next entry; false at the end, or where it cannot be read. */
bool ctf_index_next(struct ctf_index *index, struct ctf_index_entry *entry);

void ctf_index_close(struct ctf_index *index);

/* --- ctf_index_check.c --- */

/* An index, or none, beside the packets of its file, which are met in order. */
struct ctf_index_check {
    struct ctf_reader *reader;
    struct ctf_index index;
    bool is_there, is_taken; /* is_taken: `entry` is that of the next packet */
    struct ctf_index_entry entry;
    uint64_t packets; /* met */
};

/* Whether an entry is as the packet at an offset says. */
bool ctf_index_fits(const struct ctf_index *index, const struct ctf_index_entry *entry,
                    uint64_t offset, const struct ctf_frame *frame);

/* Opens the index of the reader's file, if it has one; closed by ctf_index_close(&check->index). */
void ctf_index_check_begin(struct ctf_index_check *check, struct ctf_reader *reader);

/* Holds the next entry against a packet; without one nothing is done. */
void ctf_index_check_packet(struct ctf_index_check *check, uint64_t offset,
                            const struct ctf_frame *frame);

/* The next entry, which stays the next; false where none is left. */
bool ctf_index_check_peek(struct ctf_index_check *check, struct ctf_index_entry *entry);

/* Tells that no packet is where the next entry says. */
void ctf_index_check_nothing(struct ctf_index_check *check);

/* Tells where there are more packets than entries, or fewer, once all packets are known. */
void ctf_index_check_end(struct ctf_index_check *check, bool is_whole);

#endif
