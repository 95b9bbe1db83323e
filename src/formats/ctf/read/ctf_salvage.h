/* Recovery of events after damage within a packet (ctf_salvage.c, ctf_false_wrap.c). Thread rule:
 * that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_SALVAGE_H
#define TRACETTA_FORMATS_CTF_READ_CTF_SALVAGE_H

#include "formats/ctf/read/ctf_reader.h"

/* Called after ctf_read_events. `before`: number of events in the batch before that call. If there
 * is damage in or after the events that it added, and undamaged events follow: removes and reports
 * the damaged events, moves the reader to the next undamaged event, and sets *stop to
 * CTF_STOP_FULL. Otherwise changes nothing. Returns an error only in strict mode. */
TTR_MUST ttr_status ctf_skip_damaged_events(struct ctf_reader *reader, uint32_t before,
                                            enum ctf_stop_reason *stop);

/* Called when a batch inside a packet is complete: stores the clock before its last events. */
void ctf_store_clocks(struct ctf_reader *reader);

/* --- Shared by ctf_salvage.c and ctf_false_wrap.c --- */

/* Returns the clock before event `i` of the batch. `first`: index of the packet's first event. */
static inline uint64_t ctf_clock_before_event(const struct ctf_reader *reader, uint32_t first,
                                              uint32_t i)
{
    return i > first ? reader->in->events[i - 1].ticks : reader->clocks.ticks[0];
}

/* Searches the events from index `before` on for a timestamp with one damaged bit, which makes all
 * later events late by the range of the timestamp field. If there is one, corrects and reports it,
 * and sets *stop to CTF_STOP_FULL, so that the later events are read again. Otherwise changes
 * nothing. Returns an error only in strict mode. */
TTR_MUST ttr_status ctf_undo_false_wrap(struct ctf_reader *reader, uint32_t before,
                                        enum ctf_stop_reason *stop);

#endif
