/* Heph packets made by hand from the specification, for tests of the network. */
#ifndef TRACETTA_TESTS_SUPPORT_HEPH_PACKETS_H
#define TRACETTA_TESTS_SUPPORT_HEPH_PACKETS_H

#include "base/buffer.h"

/* Appends a metadata packet "epoch". */
void heph_packets_add_epoch(struct buffer *to, uint64_t epoch_ns);

/* Appends an event from `counter` to `counter` + 1 ns, with a description and no attributes. */
void heph_packets_add_event(struct buffer *to, uint32_t stream, uint32_t counter,
                            const char *description);

#endif
