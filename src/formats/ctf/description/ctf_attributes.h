/* What is known of the trace and its streams beside the events: attributes of sources, clocks of
 * reports.  No state of its own. */
#ifndef TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_ATTRIBUTES_H
#define TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_ATTRIBUTES_H

#include "formats/ctf/read/ctf_build_index.h"

/* Tells them of an input that has joined its trace; false when memory is out. */
TTR_MUST bool ctf_add_attributes(struct input *in, const struct ctf_trace *trace,
                                 const struct ctf_lane *lane, uint64_t number);

/* The same of the input that stands for a trace without stream files. */
TTR_MUST bool ctf_add_attributes_alone(struct input *in, const struct ctf_trace *trace);

/* The same of one that tells what is wrong with the metadata, and is no stream ("trace.metadata").
 */
TTR_MUST bool ctf_add_attributes_of_metadata(struct input *in, const struct ctf_trace *trace);

/* Tells of a trace that has an input which other metadata it is read by ("trace.longer_metadata");
 * of NULL nothing.  False when memory is out. */
TTR_MUST bool ctf_add_longer(const struct ctf_trace *trace, const char *path);

/* The host that a trace is of, as its environment tells; may be empty.  babeltrace2 names traces
 * so, also those that CTF 2 gives a name. */
ttr_text ctf_trace_host(const struct ctf_description *description);

/* Tells where the trace lies, of the input that tells of the trace; of others and of "" nothing.
 * False when memory is out. */
TTR_MUST bool ctf_add_place(struct input *in, const char *place);

/* Tells in the same way which part of the trace is given: from and to, both inclusive, as its
 * clocks say. */
TTR_MUST bool ctf_add_range(struct input *in, int64_t from, int64_t to);

#endif
