/* LTTng's index of a stream file, `index/NAME.idx`: offset and context of each packet. An index can
 * be stale or wrong. So each entry that is used is compared with the stream file, and differences
 * are reported (ctf_build_index.c).
 *
 * |  header   [0..3] magic 0xC1F1DCC1 | [4..7] major 1 | [8..11] minor | [12..15] bytes per entry
 * |  entry    u64 offset (bytes) | packet_size | content_size (bits) | timestamp_begin |
 * |           timestamp_end | events_discarded | stream_id                            56 bytes
 * |  minor 1  ... | stream_instance_id | packet_seq_num                               72 bytes
 *
 * All numbers are big-endian. Ownership: the index owns its byte source until ctf_index_close. */
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
    uint64_t at, n; /* at: number of entries read so far; n: number of entries in the file */
    uint32_t entry_bytes;
    /* true if the minor version is 1 or later: stream_instance_id and packet_seq_num are present */
    bool has_instance;
};

struct ctf_index_entry {
    uint64_t offset, size, content, begin, end, discarded, stream_id, instance, sequence;
};

/* Opens the index of a stream file. Returns false if the index does not exist or is invalid; sets
 * *is_odd if it is invalid. */
bool ctf_index_open(struct ctf_index *index, const struct ctf_trace *trace, const char *file,
                    bool *is_odd);

/* Reads the next entry. Returns false at the end of the index or after a read error. */
bool ctf_index_next(struct ctf_index *index, struct ctf_index_entry *entry);

void ctf_index_close(struct ctf_index *index);

/* --- Comparison with packets (ctf_index_check.c) --- */

/* State while the entries of an index are compared with the packets of its stream file, in file
 * order. Functions on it do nothing if the file has no index. */
struct ctf_index_check {
    struct ctf_reader *reader;
    struct ctf_index index;
    /* is_there: the file has an index; is_taken: `entry` was read from the index, but not compared
     * yet */
    bool is_there, is_taken;
    struct ctf_index_entry entry;
    uint64_t packets; /* number of packets compared so far */
};

/* Returns true if all numbers of the entry agree with the packet at `offset`. */
bool ctf_index_entry_matches(const struct ctf_index *index, const struct ctf_index_entry *entry,
                             uint64_t offset, const struct ctf_frame *frame);

/* Starts the comparison: opens the index of the reader's file, if there is one, and reports it if
 * it is invalid. The caller closes it by ctf_index_close(&check->index). */
void ctf_index_check_init(struct ctf_index_check *check, struct ctf_reader *reader);

/* Compares the next entry with a packet and reports a difference. */
void ctf_index_check_packet(struct ctf_index_check *check, uint64_t offset,
                            const struct ctf_frame *frame);

/* Copies the next entry to *entry without consuming it. Returns false if there are no more. */
bool ctf_index_check_peek(struct ctf_index_check *check, struct ctf_index_entry *entry);

/* Reports that the stream file has no packet at the offset of the next entry. */
void ctf_index_check_missing_packet(struct ctf_index_check *check);

/* Called after the last packet. Reports that the index has more or fewer entries than the file has
 * packets. is_whole: all packets of the file were compared; otherwise the numbers are not
 * compared. */
void ctf_index_check_finish(struct ctf_index_check *check, bool is_whole);

#endif
