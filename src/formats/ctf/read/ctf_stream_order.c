/* Decides whether a copy may write one stream after the other, instead of merging their events by
 * time. Then only one stream is in memory, and no events are sorted.
 *
 * This is possible only if packets are copied unchanged; re-encoding depends on the order of all
 * events. */
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/write/ctf_copy.h"

/* Returns true if the packets of a trace are copied to the output unchanged. */
static bool is_copied_unchanged(const struct ctf_writer *w, const struct ctf_trace *trace)
{
    const enum ctf_version from = trace->class->description.version;
    const bool is_same = !w->options.version || w->options.version == from;
    return from != CTF_UNKNOWN && ctf_can_copy(trace, &w->options) &&
           (is_same || ctf_can_express_description(trace, &w->options));
}

/* Implements struct format_writer.can_use_stream_order. Returns true if there are several inputs,
 * all are copied, and no two inputs share a stream file. Sets is_encoded in inputs that must be
 * encoded again, so that their packets need not be in the window completely. */
bool ctf_writer_accepts_stream_order(struct ttr_writer *out, ttr_reader *in)
{
    const struct ctf_writer *w = out->ctx;
    const struct input *input;
    const struct ctf_trace *last = NULL;
    bool takes = true, may_copy = false;
    size_t i = 0;
    for (; (input = reader_get_input(in, i)); i++) {
        /* an input without events, in place of an unreadable trace */
        if (input->format != &format_ctf)
            continue;
        struct ctf_reader *reader = input->ctx;
        if (reader->trace && reader->trace != last)
            may_copy = is_copied_unchanged(w, reader->trace);
        last = reader->trace;
        reader->is_encoded = last && !may_copy;
        const bool is_alone = !(reader->file_index && reader->file_index->n > 1);
        takes = takes && last && is_alone && may_copy && input->flags & TTR_READ_DEFINITIONS;
    }
    return takes && i > 1;
}
