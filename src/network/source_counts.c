/* Counts of a source: its streams with their windows, and the sums of all sources. Also the first
 * failure of a receiver, which the other files report. */
#include "network/receiver.h"

void receiver_fail(struct ttr_receiver *receiver, ttr_status status, const ttr_error *error)
{
    if (receiver->status != TTR_OK)
        return;
    receiver->status = status;
    receiver->error = *error;
}

uint32_t source_find_stream(struct source *source, uint32_t id)
{
    struct ttr_receiver *receiver = source->receiver;
    const uint32_t *known = pair_map_get(&source->stream_index, id, 0);
    void *list = source->streams;
    if (known)
        return *known;
    source->received.is_complete &= source->streams_n < RECEIVER_SOURCE_STREAMS;
    if (source->streams_n >= RECEIVER_SOURCE_STREAMS)
        return UINT32_MAX;
    bool has_room = alloc_reserve(&receiver->alloc, &list, &source->streams_capacity,
                                  source->streams_n + 1, sizeof *source->streams);
    source->streams = list;
    if (!has_room || !pair_map_put(&source->stream_index, id, 0, (uint32_t)source->streams_n))
        return UINT32_MAX;
    source->streams[source->streams_n] =
        (struct source_stream){.id = id, .merged_id = receiver->merged_streams++};
    return (uint32_t)source->streams_n++;
}

void source_update_counts(struct source *source)
{
    ttr_received *received = &source->received;
    received->lost = received->before_first = received->late = received->duplicates = 0;
    for (size_t i = 0; i < source->streams_n; i++) {
        const struct counter_window *window = &source->streams[i].window;
        received->is_complete &= window->restarts == 0;
        if (!window->any) /* the sender does not number its events */
            continue;
        received->lost += window->lost;
        received->before_first += window->before;
        received->late += window->late;
        received->duplicates += window->duplicates;
    }
    if (source->is_stream)
        received->garbage = source->framer.garbage;
}

void source_sum(const struct source *source, ttr_receiver_totals *totals)
{
    const ttr_received *received = &source->received;
    totals->bytes += received->bytes;
    totals->packets += received->packets;
    totals->events += received->events;
    totals->lost += received->lost;
    totals->before_first += received->before_first;
    totals->late += received->late;
    totals->duplicates += received->duplicates;
    totals->dropped += received->dropped;
    totals->dropped_events += received->dropped_events;
    totals->garbage += received->garbage;
}
