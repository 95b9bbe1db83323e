/* Time ranges: the choice of packets to read.
 *
 * A file is entered and left by the begin and end times in packet headers. These times may be
 * wrong, so they are verified by two decoded events: the first event of the first packet to read,
 * and that of the first packet after the range. If the events of a stream are in order, no event of
 * the range is missed, whatever the headers declare. The headers are trusted without this check if
 * the first event cannot be decoded alone: compressed or encrypted content, and event headers that
 * import fields of the packet. Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_TIME_RANGE_H
#define TRACETTA_FORMATS_CTF_READ_CTF_TIME_RANGE_H

#include "formats/ctf/read/ctf_reader.h"

/* Returns how many bytes from the packet's start contain its first event header. */
uint64_t ctf_first_event_bytes(const struct ctf_frame *frame);

/* Decodes the clock value of a packet's first event from `bits`, the available bytes of the packet.
 * Returns false if that is not possible. */
bool ctf_decode_first_ticks(const struct ctf_reader *reader, const struct ctf_frame *frame,
                            const struct bits *bits, uint64_t *ticks);

/* Moves the reader to the start of its range, or shortly before. Starts at the beginning of the
 * file if the index turns out to be wrong. */
void ctf_enter_range(struct ctf_reader *reader);

/* Returns true if the packet's own times overlap the range. Other packets are only read for events
 * outside of their packet's times. */
bool ctf_packet_meets_range(const struct ctf_reader *reader, const struct ctf_packet *packet);

/* Returns true if the packet and all later ones are after the range. `bits`: its available bytes.
 * Its first events may be earlier than its begin, but not than the previous packet's end. */
bool ctf_is_after_range(const struct ctf_reader *reader, const struct ctf_frame *frame,
                        const struct bits *bits);

#endif
