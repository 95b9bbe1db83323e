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

uint32_t remote_find_stream(struct remote *remote, uint32_t id)
{
    struct ttr_receiver *receiver = remote->receiver;
    const uint32_t *known = pair_map_get(&remote->stream_index, id, 0);
    void *list = remote->streams;
    if (known)
        return *known;
    remote->is_counted &= remote->streams_n < RECEIVER_SOURCE_STREAMS;
    if (remote->streams_n >= RECEIVER_SOURCE_STREAMS)
        return UINT32_MAX;
    bool has_room = alloc_reserve(&receiver->alloc, &list, &remote->streams_capacity,
                                  remote->streams_n + 1, sizeof *remote->streams);
    remote->streams = list;
    if (!has_room || !pair_map_put(&remote->stream_index, id, 0, (uint32_t)remote->streams_n))
        return UINT32_MAX;
    remote->streams[remote->streams_n] =
        (struct remote_stream){.id = id, .merged_id = receiver->merged_streams++};
    return (uint32_t)remote->streams_n++;
}

/* Adds the events of a packet that is not a duplicate. */
static void count_events(struct remote_stream *stream, const struct packet_facts *facts)
{
    const uint64_t first = facts->events_before, end = first + facts->events;
    if (!stream->has_events || first < stream->events_first)
        stream->events_first = first;
    if (!stream->has_events || end > stream->events_end)
        stream->events_end = end;
    stream->has_events = true;
    stream->events_seen += facts->events;
}

enum counter_result remote_count_packet(struct remote *remote, const struct packet_facts *facts)
{
    const uint32_t at = remote_find_stream(remote, facts->stream);
    if (at == UINT32_MAX)
        return COUNTER_NEW;
    struct remote_stream *stream = &remote->streams[at];
    enum counter_result result =
        counter_window_add(&stream->window, &remote->receiver->alloc, facts->counter);
    if (facts->has_events_before && result != COUNTER_DUPLICATE)
        count_events(stream, facts);
    return result;
}

void remote_uncount_duplicate(struct remote *remote, const struct packet_facts *facts)
{
    const uint32_t at = remote_find_stream(remote, facts->stream);
    if (at != UINT32_MAX)
        remote->streams[at].window.duplicates--;
}

/* Adds the losses of a stream of packets with several events. */
static void add_event_losses(const struct remote_stream *stream, ttr_received *received)
{
    const uint64_t expected = stream->events_end - stream->events_first;
    received->lost_packets += stream->window.lost;
    received->lost += expected > stream->events_seen ? expected - stream->events_seen : 0;
    received->before_first += stream->events_first;
}

void remote_update_counts(struct remote *remote)
{
    ttr_received *received = &remote->received;
    received->lost = received->before_first = received->late = received->duplicates = 0;
    received->lost_packets = 0;
    received->is_complete = remote->is_counted && (!remote_sends_file_frames(remote) ||
                                                   folder_capture_is_complete(&remote->parts));
    for (size_t i = 0; i < remote->streams_n; i++) {
        const struct counter_window *window = &remote->streams[i].window;
        received->is_complete &= window->restarts == 0;
        if (!window->any && !remote->streams[i].has_events)
            continue; /* the sender does not number its events */
        if (remote->streams[i].has_events) {
            add_event_losses(&remote->streams[i], received);
        } else {
            received->lost += window->lost;
            received->before_first += window->before;
        }
        received->late += window->late;
        received->duplicates += window->duplicates;
    }
    if (remote->is_stream)
        received->garbage = remote->framer.garbage;
}

void remote_add_to_totals(const struct remote *remote, ttr_receiver_totals *totals)
{
    const ttr_received *received = &remote->received;
    totals->bytes += received->bytes;
    totals->packets += received->packets;
    totals->events += received->events;
    totals->uncounted_packets += received->uncounted_packets;
    totals->lost += received->lost;
    totals->lost_packets += received->lost_packets;
    totals->before_first += received->before_first;
    totals->late += received->late;
    totals->duplicates += received->duplicates;
    totals->dropped += received->dropped;
    totals->dropped_events += received->dropped_events;
    totals->garbage += received->garbage;
}

void remote_report(struct remote *remote, ttr_source_stage stage)
{
    const ttr_receiver_options *options = &remote->receiver->options;
    remote_update_counts(remote);
    if (options->source)
        options->source(options->user_data, stage, &remote->received);
}
