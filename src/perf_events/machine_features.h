/* Feature sections of a perf.data file: machine, command line, clock and tracepoint formats. */
#ifndef TRACETTA_PERF_EVENTS_MACHINE_FEATURES_H
#define TRACETTA_PERF_EVENTS_MACHINE_FEATURES_H

#include "perf_events/event_set.h"
#include "encodings/perf_data/perf_data_write.h"

/* Adds these feature sections to the file. Returns false if a tracepoint format cannot be read or
 * memory is exhausted. */
TTR_MUST bool machine_add_features(struct perf_data_writer *put, const ttr_perf_config *wish,
                                   ttr_error *error);

#endif
