/* Recovery from damage: searches for the next packet, skips unreadable events, and reports both.
 * All state is in struct ctf_reader. Thread rule: that of the reader.
 *
 * Order of calls: ctf_correct_packet_size after each parsed packet header; ctf_search_packet if no
 * valid packet header is found; ctf_report_bad_event after an event that cannot be decoded;
 * ctf_next_packet_offset when a packet ends. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_RESYNC_H
#define TRACETTA_FORMATS_CTF_READ_CTF_RESYNC_H

#include "formats/ctf/read/ctf_reader.h"

/* bytes that a candidate needs: enough for packet header and packet context */
#define CTF_CANDIDATE_BYTES ((size_t)4096)
/* Returns true if all n bytes are zero. */
bool ctf_is_all_zero(const uint8_t *bytes, size_t n);

/* Returns the first magic number in [begin, end), or NULL. */
const uint8_t *ctf_find_magic(const struct ctf_trace *trace, const uint8_t *begin,
                              const uint8_t *end);

/* Sets *is_one to true if the n bytes at p start with a valid packet header of this trace. Returns
 * an error only if the header cannot be checked because memory runs out or the metadata cannot be
 * compiled. */
TTR_MUST ttr_status ctf_is_packet_at(const struct ctf_reader *reader, const uint8_t *p, size_t n,
                                     bool *is_one);

/* Searches for a packet from file offset `from` on. Sets reader->next to its offset; to the end of
 * the input if there is none. Sets *is_zero to true if all skipped bytes are zero. The batch must
 * be empty, because the window moves. */
TTR_MUST ttr_status ctf_search_packet(struct ctf_reader *reader, uint64_t from, bool *is_zero);

/* Reports the rest of the packet as damage, from the event at reader->bits.at on. If the end of
 * the packet is unknown, only sets is_lost: the damage is reported after ctf_search_packet has
 * found its end. Returns an error only in strict mode. */
TTR_MUST ttr_status ctf_report_bad_event(struct ctf_reader *reader, const char *code,
                                         const char *what);

/* Skips a packet of another trace and reports it. */
TTR_MUST ttr_status ctf_skip_foreign_packet(struct ctf_reader *reader);

/* --- Verification of packet sizes (ctf_size_repair.c) --- */

/* Returns the file offset of the packet after the current one. `from`: end of the bytes that were
 * read; `next`: end of the packet by its size. Returns `next`, unless no packet starts there and
 * one starts between `from` and `next`. Does not search if the index pass found a packet at
 * `next`. */
uint64_t ctf_next_packet_offset(const struct ctf_reader *reader, uint64_t from, uint64_t next);

/* A packet with a size that must be verified. */
struct ctf_size_question {
    uint64_t offset;
    /* size in bytes of the packet before it; 0 if there is none */
    uint64_t previous_size;
    /* frame of the packet that starts at the declared end; NULL if not parsed yet */
    const struct ctf_frame *next;
    /* result of parsing the header of the packet that is verified */
    enum ctf_framing framing;
};

/* Repairs an impossible packet size by searching for the next packet. Returns the result of
 * parsing the packet with the new size. Returns CTF_FRAME_BAD if no better size is found. */
enum ctf_framing ctf_correct_packet_size(struct ctf_reader *reader,
                                         const struct ctf_size_question *sized,
                                         struct ctf_frame *frame);

/* --- Lost events and packets (ctf_discarded.c) --- */

/* Emits gap events for events and packets that were lost since the previous packet, as the
 * counters of the two packets show. */
void ctf_emit_gaps(struct ctf_reader *reader);

#endif
