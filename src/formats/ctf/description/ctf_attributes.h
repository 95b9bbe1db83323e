/* Attributes of traces and streams for reports (names, UUID, environment, clocks). An attribute is
 * a name with a value, such as "trace.uuid". The functions keep no state. */
#ifndef TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_ATTRIBUTES_H
#define TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_ATTRIBUTES_H

#include "formats/ctf/read/ctf_build_index.h"

/* Adds the attributes of a stream to its input. `number` is the number of the stream. The input
 * must already be part of its trace. Returns false if memory runs out. */
TTR_MUST bool ctf_add_stream_attributes(struct input *in, const struct ctf_trace *trace,
                                        const struct ctf_packet_queue *queue, uint64_t number);

/* Adds the attributes of an input that represents a trace without stream files. Returns false if
 * memory runs out. */
TTR_MUST bool ctf_add_trace_only_attributes(struct input *in, const struct ctf_trace *trace);

/* Adds the attributes of an input that only carries diagnostics of the metadata ("trace.metadata").
 * Returns false if memory runs out. */
TTR_MUST bool ctf_add_metadata_attributes(struct input *in, const struct ctf_trace *trace);

/* Adds the attribute "trace.longer_metadata": path of the longer copy of the metadata that the
 * reader uses for the trace. Does nothing if `path` is NULL. Returns false if memory runs out. */
TTR_MUST bool ctf_add_longer_metadata_attribute(const struct ctf_trace *trace, const char *path);

/* Returns the host name in the environment of the trace; may be empty. babeltrace2 prints it as
 * the name of the trace, even if a CTF 2 trace declares a name. */
ttr_text ctf_trace_host(const struct ctf_description *description);

/* Adds the location of the trace (attribute "trace.place"). Does nothing if `place` is empty, or if
 * another input already has the attributes of the trace. Returns false if memory runs out. */
TTR_MUST bool ctf_add_location_attribute(struct input *in, const char *place);

/* Adds the selected time range, both ends inclusive, in ns of the trace's clocks. Does nothing if
 * another input already has the attributes of the trace. Returns false if memory runs out. */
TTR_MUST bool ctf_add_range_attributes(struct input *in, int64_t from, int64_t to);

#endif
