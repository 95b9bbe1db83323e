/* Steps of reading a stream file, shared by the states between packets (ctf_read.c) and inside one
 * (ctf_read_packet.c). Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_READ_STEP_H
#define TRACETTA_FORMATS_CTF_READ_CTF_READ_STEP_H

#include "formats/ctf/read/ctf_reader.h"

/* Result of a step. */
enum ctf_step {
    STEP_GO,
    STEP_HOLD, /* the window must move, but events are pending */
    STEP_END,
    STEP_FAILED /* see reader->status */
};

/* Stores a status in the reader and returns the step that it means. */
static inline enum ctf_step ctf_step_from_status(struct ctf_reader *reader, ttr_status status)
{
    reader->status = status;
    return status == TTR_OK ? STEP_GO : STEP_FAILED;
}

/* Returns true for traces of RFC v1.1. */
static inline bool ctf_is_rfc(const struct ctf_reader *reader)
{
    return reader->trace->class->description.version == CTF_RFC_1_1;
}

/* --- ctf_read_packet.c --- */

/* Advances to the next packet. `offset` is the start of the current one and `from` the first byte
 * of it that was not read. Only the input that owns the packet (`is_mine`) reports a wrong size. */
enum ctf_step ctf_advance_to_next_packet(struct ctf_reader *reader, const struct ctf_packet *packet,
                                         uint64_t offset, uint64_t from, bool is_mine);

/* Records the end time of a packet of this input, with or without reading it. */
void ctf_record_packet_end(struct ctf_reader *reader, const struct ctf_stream_decoder *kind,
                           const struct ctf_packet *packet);

/* Moves the window inside the packet to the start of the next event. Fails the packet if one event
 * is larger than max_record. */
enum ctf_step ctf_move_window(struct ctf_reader *reader);

/* Reads events of the current packet until the batch is full or the packet ends. */
enum ctf_step ctf_read_packet_events(struct ctf_reader *reader);

#endif
