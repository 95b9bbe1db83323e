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

/* Events and packets that a source has lost since the last written packet. Gap events add to these
 * counts; the counters of the next packet report them. */
struct ctf_pending_gaps {
    uint64_t events, packets;
    /* number of gaps for which the source states no number of lost events */
    uint64_t unknown;
    /* time in ticks at which the first gap with a known number starts; valid if has_ticks */
    uint64_t ticks;
    bool has_ticks;
    /* ns; begin: start of the gap that was added last; events_end, packets_end: end of the gap of
     * events, and of the gap of packets */
    int64_t begin;
    int64_t events_end, packets_end;
    /* true if several gaps were added together, so the times above are not those of one gap */
    bool has_mixed_times;
    struct ctf_stream_out
        /* transcoding: output stream of the source's last packet; NULL if there is none */
        *stream;
};

/* Facts for ctf_pending_gaps_start_stream about the first packet of a transcoded stream. */
struct ctf_first_packet {
    const struct ctf_packet *about; /* the packet of the source */
    /* true if the packet's counters continue those of an earlier source file of the same data
     * stream */
    bool is_continuation;
};

/* Returns the pending gaps of a source, which are zero at first. Returns NULL if memory runs out.
 */
struct ctf_pending_gaps *ctf_pending_gaps_get(struct ttr_writer *out, uint16_t source);

/* Returns true if the gaps include a known number of events or packets. */
bool ctf_pending_gaps_have_count(const struct ctf_pending_gaps *missing);

/* Returns true if the stream's packets have a counter that can report the missing events or
 * packets. */
bool ctf_pending_gaps_have_counters(const struct ctf_pending_gaps *missing,
                                    const struct ctf_stream_out *stream);

/* Returns true if the last packet of this source was written to another output stream of the same
 * data stream (stream class and number of the source). Then the counters of that stream report the
 * gaps. */
bool ctf_pending_gaps_are_in_other_stream(const struct ctf_pending_gaps *missing,
                                          const struct ctf_stream_out *stream);

/* Adds a gap event to the pending gaps of its source. */
TTR_MUST ttr_status ctf_pending_gaps_add(struct ttr_writer *out, const ttr_event *event,
                                         ttr_error *error);

/* Sets the first counters of a new stream. Returns true if the caller must write an empty packet
 * first, because readers cannot detect the missing events otherwise. */
bool ctf_pending_gaps_start_stream(struct ttr_writer *out, struct ctf_stream_out *stream,
                                   const struct ctf_first_packet *first,
                                   struct ctf_pending_gaps *missing);

/* Times of the packets around a gap, in ticks of the stream. */
struct ctf_gap_times {
    uint64_t before; /* end time of the packet before the gap */
    /* begin, end: times of the packet that reports the gap by its counters; if `end` is 0, it ends
     * at its last event */
    uint64_t begin, end;
    bool is_alone; /* true if the packet that reports the gap has no events */
};

/* Computes the packet times from which readers will derive the start and end of the pending gap.
 * `ticks`: time of the next event, which was copied without its packet. Returns false if no packet
 * times can express the gap. */
bool ctf_pending_gaps_find_times(const struct ctf_pending_gaps *missing,
                                 const struct ctf_stream_out *stream, uint64_t ticks,
                                 struct ctf_gap_times *place);

/* Adds the pending gaps to the counters of the open packet, and sets them to zero. Counts a loss
 * for gaps that have no counter in the packet. */
void ctf_pending_gaps_store_counters(struct ttr_writer *out, struct ctf_stream_out *stream,
                                     struct ctf_pending_gaps *missing, uint64_t offset);

/* Appends an empty packet, which reports the gaps, to each stream with pending gaps. Counts the
 * gaps of sources without an output stream as lost. Called before the streams are finished. */
TTR_MUST ttr_status ctf_pending_gaps_finish(struct ttr_writer *out, ttr_error *error);

#endif
