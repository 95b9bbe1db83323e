/* A packet that goes to its file while it is made, for one that holds an event larger than memory
 * should: what is filled in at its end is written anew there. */
#include "formats/ctf/write/ctf_write.h"

#include "base/status.h"

#define KEPT 8u /* bytes: bits that come next may lie in the last of those that are there */

ttr_status ctf_flow_begin(struct ctf_stream_out *stream, struct ttr_writer *out, size_t head,
                          ttr_error *error)
{
    if (stream->flow)
        return TTR_OK;
    if (!stream->sink)
        stream->sink = ctf_add_file(stream->trace->home.folder, out, "", stream->name, "", error);
    if (!stream->sink)
        return error ? error->status : TTR_E_IO;
    stream->flow = alloc_zero(&out->t->counted, 1, sizeof *stream->flow);
    if (!stream->flow)
        return fail_memory(error);
    stream->flow->stream = stream;
    stream->flow->head = head;
    rfc11_sum_begin(&stream->flow->sum, stream->trace->options->packing.checksum);
    return TTR_OK;
}

static void hand_over(struct ctf_flow *flow, const uint8_t *bytes, size_t n)
{
    const size_t head = flow->bytes >= flow->head ? 0 : flow->head - (size_t)flow->bytes,
                 skip = n < head ? n : head;
    if (flow->status != TTR_OK || n == 0)
        return;
    hash_run_add(&flow->hash, bytes + skip, n - skip);
    rfc11_sum_add(&flow->sum, bytes + skip, n - skip);
    flow->status = sink_write(flow->stream->sink, bytes, n, &flow->error);
    flow->bytes += n;
}

void ctf_flow_relieve(void *own, struct bitput *put)
{
    if (put->to->failed || put->to->n <= KEPT)
        return;
    const size_t n = put->to->n - KEPT;
    hand_over(own, put->to->bytes, n);
    bitput_taken(put, n);
}

ttr_status ctf_flow_rest(struct ctf_flow *flow, ttr_error *error)
{
    struct buffer *packet = &flow->stream->packet;
    hand_over(flow, packet->bytes, packet->n);
    buffer_clear(packet);
    if (flow->status != TTR_OK && error)
        *error = flow->error;
    return flow->status;
}

void ctf_flow_free(struct ctf_stream_out *stream, const struct alloc *alloc)
{
    alloc_free(alloc, stream->flow, 1, sizeof *stream->flow);
    stream->flow = NULL;
}
