/* Attributes of the trace and its streams: names, UUID, environment and clocks, as shown in
 * reports. Keeps no state of its own. */
#ifndef TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_ATTRIBUTES_H
#define TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_ATTRIBUTES_H

#include "formats/ctf/read/ctf_build_index.h"

/* Adds the attributes of an input that has joined its trace. Returns false if memory is out. */
TTR_MUST bool ctf_add_attributes(struct input *in, const struct ctf_trace *trace,
                                 const struct ctf_packet_queue *queue, uint64_t number);

/* Adds the attributes of an input that represents a trace without stream files. Returns false if
 * memory is out. */
TTR_MUST bool ctf_add_trace_only_attributes(struct input *in, const struct ctf_trace *trace);

/* Adds the attributes of an input that only carries diagnostics of the metadata ("trace.metadata").
 * Returns false if memory is out. */
TTR_MUST bool ctf_add_metadata_attributes(struct input *in, const struct ctf_trace *trace);

/* Adds "trace.longer_metadata": the path of the other metadata file that the trace is read by. Does
 * nothing for NULL. Returns false if memory is out. */
TTR_MUST bool ctf_add_longer_metadata_attribute(const struct ctf_trace *trace, const char *path);

/* Returns the host name in the trace's environment; may be empty. babeltrace2 names traces by it,
 * even CTF 2 traces that declare a name. */
ttr_text ctf_trace_host(const struct ctf_description *description);

/* Adds the trace's location ("trace.place") if `in` is the input that carries the trace's
 * attributes and `place` is not empty. Returns false if memory is out. */
TTR_MUST bool ctf_add_location_attribute(struct input *in, const char *place);

/* Adds the selected time range, inclusive, in times of the trace's clocks, under the same
 * condition. Returns false if memory is out. */
TTR_MUST bool ctf_add_range_attributes(struct input *in, int64_t from, int64_t to);

#endif
