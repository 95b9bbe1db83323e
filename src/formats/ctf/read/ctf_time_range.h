/* Ranges of time: which packets are read for them.
 *
 * Packets say when they begin and end, and by that word a file is entered and left; but the word is
 * held against the first event of the packet that would be the first to be read, and of the one
 * that would be the first not to be: as long as the events of a stream are in order, no event of a
 * range is missed then, whatever its packet says.  Where the first event does not lie behind a
 * header as it is stored (compressed, enciphered, headers that need what the packet says), the
 * packet's word stands. Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_TIME_RANGE_H
#define TRACETTA_FORMATS_CTF_READ_CTF_TIME_RANGE_H

#include "formats/ctf/read/ctf_reader.h"

/* Bytes from a packet's begin on in which its first event is seen. */
uint64_t ctf_first_event_bytes(const struct ctf_frame *frame);

/* The clock at the first event of a packet, of whose bytes `bits` are those at hand; false where
 * that is not seen. */
bool ctf_decode_first_ticks(const struct ctf_reader *reader, const struct ctf_frame *frame,
                            const struct bits *bits, uint64_t *ticks);

/* Enters the file where the range begins, or shortly before; at its begin where the index was wrong
 * of it. */
void ctf_enter_range(struct ctf_reader *reader);

/* Whether a packet is in the range by its own word: of others only events that are outside of their
 * packet are looked for. */
bool ctf_packet_meets_range(const struct ctf_reader *reader, const struct ctf_packet *packet);

/* Whether a packet and all behind it begin too late; `bits`: its bytes at hand.  Its first events
 * may be earlier than it says, but not than the end of the one before that has some. */
bool ctf_is_after_range(const struct ctf_reader *reader, const struct ctf_frame *frame,
                        const struct bits *bits);

#endif
