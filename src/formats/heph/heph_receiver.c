/* Metadata packets that "tracetta listen" adds to a file: where the streams ended in the previous
 * file, so that a gap between two files is found in the second one, and what the receiver lost. */
#include "formats/heph/heph.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

/* Adds the last counters of the previous file, as if the reader had read their events. */
static ttr_status add_counters_of_previous_file(struct input *in, struct cursor value,
                                                ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    while (cursor_left(&value) >= 8) {
        const uint32_t stream = cursor_u32be(&value), counter = cursor_u32be(&value);
        const uint32_t index = heph_add_stream(in, stream);
        if (index == UINT32_MAX || !heph_counters_add(&reader->counters, index, counter))
            return fail_memory(error);
    }
    return TTR_OK;
}

/* Adds a gap event and an attribute of the trace. The gap has no number of events, because the
 * counters of the streams contain them. */
static ttr_status add_gap_with_cause(struct input *in, const char *attribute, uint64_t n,
                                     const char *cause, ttr_error *error)
{
    const struct heph_reader *reader = in->ctx;
    char name[80];
    if (n == 0)
        return TTR_OK;
    const int name_n = snprintf(name, sizeof name, "%llu %s", (unsigned long long)n, cause);
    const ttr_value value = {.type = TTR_TYPE_UINT, .v.u = n};
    const uint32_t id = intern_add(&in->base.t->strings, name, (size_t)name_n);
    if (id == UINT32_MAX || !context_add_attribute(in->base.t, in->id, attribute, &value))
        return fail_memory(error);
    ttr_event *event = input_add_event(in);
    event->kind = TTR_KIND_GAP;
    event->flags = TTR_EVENT_NO_TIME;
    event->time = reader->time;
    event->name = id;
    event->offset = reader->offset;
    return TTR_OK;
}

static ttr_status add_losses_of_receiver(struct input *in, struct cursor value, ttr_error *error)
{
    const uint64_t kernel = cursor_u64be(&value), packets = cursor_u64be(&value);
    if (value.failed)
        return TTR_OK;
    ttr_status status = add_gap_with_cause(in, "network.kernel_drops", kernel,
                                           "datagrams were dropped by the kernel", error);
    if (status == TTR_OK)
        status = add_gap_with_cause(in, "network.dropped_packets", packets,
                                    "packets were dropped by a full queue", error);
    return status;
}

ttr_status heph_use_receiver_option(struct input *in, ttr_text name, struct cursor value,
                                    bool *is_known, ttr_error *error)
{
    const bool is_counters = name.n == sizeof HEPH_OPTION_COUNTERS - 1 &&
                             memcmp(name.p, HEPH_OPTION_COUNTERS, name.n) == 0;
    const bool is_losses =
        name.n == sizeof HEPH_OPTION_LOSSES - 1 && memcmp(name.p, HEPH_OPTION_LOSSES, name.n) == 0;
    *is_known = is_counters || is_losses;
    if (is_counters)
        return add_counters_of_previous_file(in, value, error);
    return is_losses ? add_losses_of_receiver(in, value, error) : TTR_OK;
}
