/* Recovery of events after damage within a packet (ctf_salvage.c). Thread rule: that of the reader.
 */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_SALVAGE_H
#define TRACETTA_FORMATS_CTF_READ_CTF_SALVAGE_H

#include "formats/ctf/read/ctf_reader.h"

/* State of the reader before a call of ctf_read_events. */
struct ctf_read_mark {
    uint32_t n; /* events in the batch */
    uint64_t ticks;
    int64_t time; /* ns */
};

/* Called after ctf_read_events. If the events that it added or the bytes after them are damaged,
 * and undamaged events follow, removes the damaged events from the batch, reports them, moves the
 * reader to the next undamaged event, and sets *stop to CTF_STOP_FULL. Otherwise changes nothing.
 * Returns an error only in strict mode. */
TTR_MUST ttr_status ctf_skip_damaged_events(struct ctf_reader *reader,
                                            const struct ctf_read_mark *mark,
                                            enum ctf_stop_reason *stop);

#endif
