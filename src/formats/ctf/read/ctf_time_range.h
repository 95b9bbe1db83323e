/* Time ranges: which packets of a file are read.
 *
 * Begin and end times in packet headers show where to start and stop reading. These times may be
 * wrong, so they are verified with two decoded events: the first event of the first packet to read,
 * and the first event of the first packet after the range. If the events of a stream are in order,
 * no event of the range is missed even if headers are wrong. The headers are trusted without this
 * check if the first event cannot be decoded alone. That is so for compressed or encrypted content,
 * and for event headers that need fields of the packet. Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_TIME_RANGE_H
#define TRACETTA_FORMATS_CTF_READ_CTF_TIME_RANGE_H

#include "formats/ctf/read/ctf_reader.h"

/* Returns the number of bytes that packet header, packet context and the first event header
 * occupy. */
uint64_t ctf_count_first_event_bytes(const struct ctf_frame *frame);

/* Decodes the clock value of a packet's first event. `bits`: the available bytes of the packet.
 * Returns false if it cannot be decoded without other parts of the packet. */
bool ctf_decode_first_ticks(const struct ctf_reader *reader, const struct ctf_frame *frame,
                            const struct bits *bits, uint64_t *ticks);

/* Moves the reader to the start of the requested range or shortly before; to the start of the file
 * if the index proves to be wrong. */
void ctf_seek_range_start(struct ctf_reader *reader);

/* Returns true if the packet's declared times overlap the range. Other packets are read only
 * because their events may be outside of their declared times. */
bool ctf_packet_overlaps_range(const struct ctf_reader *reader, const struct ctf_packet *packet);

/* Returns true if this packet and all later ones are after the range, judged by its begin time
 * and, if possible, by the time of its first event. `bits`: the available bytes of the packet.
 * First events may be earlier than the packet's begin time, but not earlier than the end time of
 * the packet before. */
bool ctf_packet_is_after_range(const struct ctf_reader *reader, const struct ctf_frame *frame,
                               const struct bits *bits);

#endif
