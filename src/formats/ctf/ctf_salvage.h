/* What to do where a stream is not as it should be: search for the next packet, leave out what cannot be read, and tell.
 * State and thread rule are the reader's. */
#ifndef TRACETTA_FORMATS_CTF_SALVAGE_H
#define TRACETTA_FORMATS_CTF_SALVAGE_H

#include "formats/ctf/ctf_reader.h"

/* Whether n bytes are all zero. */
bool ctf_is_zero(const uint8_t *bytes, size_t n);

/* The first place between the two where the magic number stands; NULL = none. */
const uint8_t *ctf_find_magic(const struct ctf_trace *trace, const uint8_t *begin, const uint8_t *end);

/* Looks for a packet from `from` on and puts reader->next there, or at the end of the input.  *is_zero: all bytes from reader->next as it
 * was up to there are zero.  The batch must be empty. */
TTR_MUST ttr_status ctf_search(struct ctf_reader *reader, uint64_t from, bool *is_zero);

/* The event at reader->bits.at cannot be read: tells so, with the bytes up to the end of its packet, or prepares a search for the next
 * packet where that is unknown.  The status of strict mode. */
TTR_MUST ttr_status ctf_lose_event(struct ctf_reader *reader, const char *code, const char *what);

/* Where to go on behind the present packet, which was read up to `from` and ends at `next` by its own word: there, unless no packet begins there, or not even
 * the file goes so far, and one begins between the two.  Only what nobody looked at before is looked at. */
uint64_t ctf_go_on(const struct ctf_reader *reader, uint64_t from, uint64_t next);

/* Whether another packet is hidden in the padding of the one at an offset: where that would end if it were as large as the one before it, of `usual` bytes
 * (0 = there is none), or as the first one's next, which it is not.  Its size is corrected then. */
void ctf_correct_size(const struct ctf_reader *reader, uint64_t offset, uint64_t usual, struct ctf_frame *frame);

/* Passes over a packet of another trace. */
TTR_MUST ttr_status ctf_pass_foreign(struct ctf_reader *reader);

/* --- ctf_gaps.c --- */

/* Adds what the counters of the packet just entered say is missing since the one before. */
void ctf_give_gaps(struct ctf_reader *reader);

#endif
