/* Damage campaigns for nettrace. A trace has an end mark, so vectors cannot be concatenated: each
 * version is a campaign of its own. */
#include "campaigns/campaign.h"

/* Planted bytes look like the start of an object, or of a V6 block. The changed size is that of an
 * event; from V4 on it has no fixed offset, so the first byte of the event's header is changed
 * instead. */
#define OBJECT_OLD                                                                                 \
    {                                                                                              \
        .size_at = 0, .size_bytes = 4, .bits = 32, .magic = {4, 4, 1, 2, 0, 0, 0, 2}, .magic_n = 8 \
    }
#define OBJECT                                                                                    \
    {                                                                                             \
        .size_at = 0, .size_bytes = 1, .bits = 8, .magic = {5, 5, 1, 2, 0, 0, 0, 2}, .magic_n = 8 \
    }
#define BLOCK                                                                                     \
    {                                                                                             \
        .size_at = 0, .size_bytes = 1, .bits = 8, .magic = {8, 0, 0, 2, 0, 0, 0, 0}, .magic_n = 8 \
    }

static const struct campaign campaigns[] = {
    {.name = "nettrace-v1",
     .format = "nettrace",
     .mutate = OBJECT_OLD,
     .vectors = {"nettrace/vectors/v1.hexa"},
     .are_events_records = true,
     .is_cut_at_each_byte = true},
    {.name = "nettrace-v2",
     .format = "nettrace",
     .mutate = OBJECT_OLD,
     .vectors = {"nettrace/vectors/v2.hexa"},
     .are_events_records = true,
     .is_cut_at_each_byte = true},
    {.name = "nettrace-v3",
     .format = "nettrace",
     .mutate = OBJECT_OLD,
     .vectors = {"nettrace/vectors/v3.hexa"},
     .traces = {"nettrace/eventpipe-dotnetcore2.1-linux-x64-tracelogging.netperf.xz"},
     .are_events_records = true,
     .is_cut_at_each_byte = true},
    {.name = "nettrace-v4",
     .format = "nettrace",
     .mutate = OBJECT,
     .vectors = {"nettrace/vectors/stacks.hexa", "nettrace/vectors/events.hexa",
                 "nettrace/vectors/spans.hexa", "nettrace/vectors/symbols.hexa",
                 "nettrace/vectors/types.hexa", "nettrace/vectors-whole/order.hexa"},
     .traces = {"nettrace/recorded/c3.nettrace.xz"},
     .are_events_records = true,
     .is_cut_at_each_byte = true},
    {.name = "nettrace-v5",
     .format = "nettrace",
     .mutate = OBJECT,
     .vectors = {"nettrace/vectors/nested.hexa"},
     .are_events_records = true,
     .is_cut_at_each_byte = true},
    {.name = "nettrace-v6",
     .format = "nettrace",
     .mutate = BLOCK,
     .vectors = {"nettrace/vectors/v6.hexa", "nettrace/vectors/v6-types.hexa",
                 "nettrace/vectors/v6-universal.hexa", "nettrace/vectors-whole/v6-points.hexa"},
     .traces = {"nettrace/v6/v6_plain.nettrace", "nettrace/v6/v6_minimal.nettrace"},
     .are_events_records = true,
     .is_cut_at_each_byte = true},
};

const struct format_campaigns campaigns_of_nettrace = {
    .campaigns = campaigns,
    .campaigns_n = sizeof campaigns / sizeof *campaigns,
};
