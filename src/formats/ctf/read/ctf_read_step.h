/* State machine of reading a stream file: the states between packets are in ctf_read.c, those
 * inside a packet in ctf_read_packet.c. Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_READ_STEP_H
#define TRACETTA_FORMATS_CTF_READ_CTF_READ_STEP_H

#include "formats/ctf/read/ctf_reader.h"

/* Result of one step of the state machine. */
enum ctf_step {
    STEP_GO,
    /* the window must move, so the events in the batch, which point into it, must be returned
     * first */
    STEP_HOLD,
    STEP_END,
    STEP_FAILED /* the step failed; reader->status has the error */
};

/* Stores a status in the reader. Returns STEP_GO for TTR_OK, else STEP_FAILED. */
static inline enum ctf_step ctf_step_from_status(struct ctf_reader *reader, ttr_status status)
{
    reader->status = status;
    return status == TTR_OK ? STEP_GO : STEP_FAILED;
}

/* Returns true if the reader's trace has the format RFC v1.1. */
static inline bool ctf_reader_is_rfc11(const struct ctf_reader *reader)
{
    return reader->trace->class->description.version == CTF_RFC_1_1;
}

/* --- State inside a packet (ctf_read_packet.c) --- */

/* Moves the reader to the next packet. `offset`: start of the current packet; `from`: end of the
 * bytes that were read of it. is_mine: this input reads the packet's queue, so it reports a wrong
 * packet size. */
enum ctf_step ctf_advance_to_next_packet(struct ctf_reader *reader, const struct ctf_packet *packet,
                                         uint64_t offset, uint64_t from, bool is_mine);

/* Stores the end time of a packet of this input's queue in reader->packet_end. Called for skipped
 * packets, too. */
void ctf_record_packet_end(struct ctf_reader *reader, const struct ctf_stream_decoder *kind,
                           const struct ctf_packet *packet);

/* Moves the window to the start of the next event of the current packet. If the event is larger
 * than the option max_record, reports the rest of the packet as damage and leaves the packet. */
enum ctf_step ctf_move_window(struct ctf_reader *reader);

/* Reads events of the current packet until the batch is full or the packet ends. */
enum ctf_step ctf_read_packet_events(struct ctf_reader *reader);

#endif
