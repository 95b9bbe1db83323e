/* Clocks of a trace that is stored in several folders, such as the chunks of a rotated session.
 * Thread rule: one thread. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_SHARED_CLOCK_H
#define TRACETTA_FORMATS_CTF_READ_CTF_SHARED_CLOCK_H

#include "formats/ctf/read/ctf_stream_set.h"

/* Sets each clock of the queues first to end - 1, which belong to one trace, to the offset that
 * the most complete metadata declare. Returns true if times changed. */
bool ctf_share_clock_offsets(struct ctf_stream_set *set, size_t first, size_t end);

#endif
