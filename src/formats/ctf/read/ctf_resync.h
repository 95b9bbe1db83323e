/* Recovery from damage: search for the next packet, skip unreadable events, and report both. Owns
 * no state; all state is the reader's. Thread rule: that of the reader.
 *
 * Order of calls: ctf_correct_size after each parsed header; ctf_search_packet after a header that
 * is no packet's; ctf_report_bad_event after an event that cannot be decoded;
 * ctf_next_packet_offset when a packet ends. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_RESYNC_H
#define TRACETTA_FORMATS_CTF_READ_CTF_RESYNC_H

#include "formats/ctf/read/ctf_reader.h"

/* bytes in which header and context of a candidate packet must fit */
#define CTF_CANDIDATE_BYTES ((size_t)4096)
/* Returns true if all n bytes are zero. */
bool ctf_is_zero(const uint8_t *bytes, size_t n);

/* Returns the first magic number in [begin, end), or NULL. */
const uint8_t *ctf_find_magic(const struct ctf_trace *trace, const uint8_t *begin,
                              const uint8_t *end);

/* Sets *is_one if a valid packet header of this trace is at p. Returns an error only if the test
 * itself fails. */
TTR_MUST ttr_status ctf_is_packet_at(const struct ctf_reader *reader, const uint8_t *p, size_t n,
                                     bool *is_one);

/* Searches for a packet from `from` on, and sets reader->next to it or to the end of the input.
 * Sets *is_zero if all skipped bytes are zero. The batch must be empty. */
TTR_MUST ttr_status ctf_search_packet(struct ctf_reader *reader, uint64_t from, bool *is_zero);

/* Reports the event at reader->bits.at as damage, with the bytes to the end of its packet. If that
 * end is unknown, prepares ctf_search_packet instead. Returns an error only in strict mode. */
TTR_MUST ttr_status ctf_report_bad_event(struct ctf_reader *reader, const char *code,
                                         const char *what);

/* Skips a packet of another trace and reports it. */
TTR_MUST ttr_status ctf_skip_foreign_packet(struct ctf_reader *reader);

/* --- ctf_size_repair.c --- */

/* Returns the offset at which reading continues after the current packet, which was read up to
 * `from` and by its size ends at `next`. Returns `next`, unless no packet starts there (or the file
 * ends earlier) and a packet starts between the two. Does nothing if the index pass already
 * verified the size. */
uint64_t ctf_next_packet_offset(const struct ctf_reader *reader, uint64_t from, uint64_t next);

/* A packet with a size that must be verified. */
struct ctf_size_question {
    uint64_t offset;
    uint64_t previous_size;       /* size of the previous packet, bytes; 0 = there is none */
    const struct ctf_frame *next; /* frame at the packet's declared end; NULL: not parsed yet */
    enum ctf_framing framing;     /* result of parsing the packet's header */
};

/* Repairs an impossible packet size by finding the next packet. Returns the new framing. A packet
 * that is only bad by its size stays bad if no better size is found. */
enum ctf_framing ctf_correct_size(struct ctf_reader *reader, const struct ctf_size_question *sized,
                                  struct ctf_frame *frame);

/* --- ctf_discarded.c --- */

/* Emits gaps for what the current packet's counters report as lost since the previous packet. */
void ctf_emit_gaps(struct ctf_reader *reader);

#endif
