/* What to do where a stream is not as it should be: search for the next packet, leave out what
 * cannot be read, and tell. State and thread rule are the reader's. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_RESYNC_H
#define TRACETTA_FORMATS_CTF_READ_CTF_RESYNC_H

#include "formats/ctf/read/ctf_reader.h"

#define CTF_CANDIDATE_BYTES                                                                      \
    ((size_t)4096) /* header and context of what may be a packet are looked for in so many bytes \
                    */

/* Whether n bytes are all zero. */
bool ctf_is_zero(const uint8_t *bytes, size_t n);

/* The first place between the two where the magic number stands; NULL = none. */
const uint8_t *ctf_find_magic(const struct ctf_trace *trace, const uint8_t *begin,
                              const uint8_t *end);

/* Whether a packet begins at p; TTR_E_* only where that cannot be found out. */
TTR_MUST ttr_status ctf_is_packet_at(const struct ctf_reader *reader, const uint8_t *p, size_t n,
                                     bool *is_one);

/* Looks for a packet from `from` on and puts reader->next there, or at the end of the input.
 * *is_zero: all bytes from reader->next as it was up to there are zero.  The batch must be empty.
 */
TTR_MUST ttr_status ctf_search_packet(struct ctf_reader *reader, uint64_t from, bool *is_zero);

/* The event at reader->bits.at cannot be read: tells so, with the bytes up to the end of its
 * packet, or prepares a search for the next packet where that is unknown.  The status of strict
 * mode. */
TTR_MUST ttr_status ctf_report_bad_event(struct ctf_reader *reader, const char *code,
                                         const char *what);

/* Passes over a packet of another trace. */
TTR_MUST ttr_status ctf_skip_foreign_packet(struct ctf_reader *reader);

/* --- ctf_size_repair.c --- */

/* Where to go on behind the present packet, which was read up to `from` and ends at `next` by its
 * own word: there, unless no packet begins there, or not even the file goes so far, and one begins
 * between the two.  Only what nobody looked at before is looked at. */
uint64_t ctf_next_packet_offset(const struct ctf_reader *reader, uint64_t from, uint64_t next);

/* A packet whose size is in question. */
struct ctf_size_question {
    uint64_t offset;
    uint64_t usual;               /* bytes of the packet before it; 0 = there is none */
    const struct ctf_frame *next; /* what is known to stand behind it; NULL: nothing is known */
    enum ctf_framing framing;     /* what it was framed as */
};

/* Corrects the size of a packet that was framed where it cannot be: by where the next one begins.
 * What it is framed as then: for its size alone it is none only where no better one is found. */
enum ctf_framing ctf_correct_size(struct ctf_reader *reader, const struct ctf_size_question *sized,
                                  struct ctf_frame *frame);

/* --- ctf_discarded.c --- */

/* Adds what the counters of the packet just entered say is missing since the one before. */
void ctf_emit_gaps(struct ctf_reader *reader);

#endif
