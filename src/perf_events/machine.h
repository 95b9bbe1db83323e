/* What a perf.data says of the machine, of the formats of its events, and of the clock. */
#ifndef TRACETTA_PERF_EVENTS_MACHINE_H
#define TRACETTA_PERF_EVENTS_MACHINE_H

#include "perf_events/chosen.h"
#include "encodings/perf_data/perf_data_write.h"

/* Sets the feature sections; false with `error` where the format of a tracepoint cannot be read. */
TTR_MUST bool machine_tell(struct perf_put *put, const ttr_perf_wish *wish, ttr_error *error);

#endif
