/* Streams that come one after another, instead of all by time: copies need the memory of one stream
 * then, and their events are not put in order.
 *
 * Only copied packets may come so: what is re-encoded depends on the order of all events. */
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/write/ctf_copy.h"

/* Whether the packets of a trace go to the output as they are. */
static bool is_copied(const struct ctf_writer *w, const struct ctf_trace *trace)
{
    const enum ctf_version from = trace->class->description.version;
    const bool is_same = !w->options.version || w->options.version == from;
    return from != CTF_UNKNOWN && ctf_can_copy(trace, &w->options) &&
           (is_same || ctf_can_describe(trace, &w->options));
}

/* Returns whether all inputs are copied and each has a stream file of its own. Sets which inputs
 * are re-encoded: these need not hold whole packets. */
bool ctf_writer_accepts_stream_order(struct ttr_writer *out, ttr_reader *in)
{
    const struct ctf_writer *w = out->ctx;
    const struct input *input;
    const struct ctf_trace *last = NULL;
    bool takes = true, may_copy = false;
    size_t i = 0;
    for (; (input = reader_input(in, i)); i++) {
        if (input->format != &format_ctf) /* stands for a trace that cannot be read: no events */
            continue;
        struct ctf_reader *reader = input->ctx;
        if (reader->trace && reader->trace != last)
            may_copy = is_copied(w, reader->trace);
        last = reader->trace;
        reader->is_encoded = last && !may_copy;
        const bool is_alone = !(reader->file_index && reader->file_index->n > 1);
        takes = takes && last && is_alone && may_copy && input->flags & TTR_READ_DEFINITIONS;
    }
    return takes && i > 1;
}
