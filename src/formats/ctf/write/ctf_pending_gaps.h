/* Pending gaps: events and packets that a CTF source lost, until the counters of a written packet
 * report them. Used when events are transcoded (ctf_transcode.c); ctf_discarded_write.c explains
 * how readers derive gaps from counters.
 *
 * Order of calls: ctf_pending_gaps_add per gap event; ctf_pending_gaps_start_stream for the first
 * packet of a stream; ctf_pending_gaps_store_counters for each packet; ctf_pending_gaps_finish at
 * the end.  Ownership and thread rule: those of the writer. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_PENDING_GAPS_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_PENDING_GAPS_H

#include "formats/ctf/write/ctf_write.h"

/* Events and packets of a source that were lost before its next packet. Gap events add to these
 * counts; the counters of the next packet report them. */
struct ctf_pending_gaps {
    uint64_t events, packets;
    /* number of gaps without a recorded count of lost events */
    uint64_t unknown;
    uint64_t ticks; /* start time in ticks of the first gap of known size; valid if has_ticks */
    bool has_ticks;
    /* nanoseconds; begin: start of the last added gap; events_end, packets_end: end of the gap of
     * events and of the gap of packets */
    int64_t begin;
    int64_t events_end, packets_end;
    /* several gaps were added up, so the times above do not describe one gap */
    bool has_mixed_times;
    struct ctf_stream_out
        /* transcoding: output stream that the source's last packet was written to; NULL = none */
        *stream;
};

/* Parameters of ctf_pending_gaps_start_stream: the first packet of a transcoded stream. */
struct ctf_first_packet {
    const struct ctf_packet *about; /* the packet as the source records it */
    /* the packet's counters continue those of an earlier source file of the same data stream */
    bool is_continuation;
};

/* Returns the pending gaps of a source; zeros at the first call for a source. Returns NULL if
 * memory runs out. */
struct ctf_pending_gaps *ctf_pending_gaps_get(struct ttr_writer *out, uint16_t source);

/* Returns true if the gaps include a known number of events or packets. */
bool ctf_pending_gaps_have_count(const struct ctf_pending_gaps *missing);

/* Returns true if the stream's packets have a counter for the missing events or for the missing
 * packets. */
bool ctf_pending_gaps_fit_counters(const struct ctf_pending_gaps *missing,
                                   const struct ctf_stream_out *stream);

/* Returns true if the last packet of this source was written to another output stream with the same
 * source stream class and number. That stream's counters then report the gaps. */
bool ctf_pending_gaps_are_in_other_stream(const struct ctf_pending_gaps *missing,
                                          const struct ctf_stream_out *stream);

/* Adds a gap event to the pending gaps of its source. */
TTR_MUST ttr_status ctf_pending_gaps_add(struct ttr_writer *out, const ttr_event *event,
                                         ttr_error *error);

/* Sets the first counters of a new stream. Returns true if readers can detect the missing events
 * only if an empty packet comes first; the caller must write that packet. */
bool ctf_pending_gaps_start_stream(struct ttr_writer *out, struct ctf_stream_out *stream,
                                   const struct ctf_first_packet *first,
                                   struct ctf_pending_gaps *missing);

/* Times of the packets before and after a gap, in ticks of the stream. */
struct ctf_gap_times {
    uint64_t before; /* end time of the packet before the gap */
    /* start and end time of the packet that reports the gap by its counters; end 0: the packet ends
     * at its last event */
    uint64_t begin, end;
    bool is_alone; /* the packet that reports the gap has no events */
};

/* Computes packet times from which readers derive the start and end of the pending gap. `ticks`:
 * time of the next event, which was copied without its packet. Returns false if no packet times
 * express that gap. */
bool ctf_pending_gaps_find_times(const struct ctf_pending_gaps *missing,
                                 const struct ctf_stream_out *stream, uint64_t ticks,
                                 struct ctf_gap_times *place);

/* Adds the pending gaps to the counters of the open packet and clears them. Counts a loss for gaps
 * that the packet has no counter for. */
void ctf_pending_gaps_store_counters(struct ttr_writer *out, struct ctf_stream_out *stream,
                                     struct ctf_pending_gaps *missing, uint64_t offset);

/* Appends to each stream with pending gaps an empty packet that reports them. Called before the
 * streams are finished. Counts gaps of sources without an output stream as lost. */
TTR_MUST ttr_status ctf_pending_gaps_finish(struct ttr_writer *out, ttr_error *error);

#endif
