/* Mutation campaigns for ring buffer pages. The size of an event is in 5 bits of the 4 bytes
 * before it. */
#include "campaigns/campaign.h"

static const struct campaign campaigns[] = {
    {.name = "trace_pipe_raw",
     .format = "trace_pipe_raw",
     .mutate = {.size_at = SIZE_MAX - 3,
                .size_bytes = 4,
                .bits = 5,
                .magic = {0x20, 0, 0, 0, 0, 0, 0, 0},
                .magic_n = 8},
     .vectors = {"trace_pipe_raw/vectors"},
     .traces = {"eventheader/eventheader-vm/eh-trace_pipe_raw-cpu1.bin"},
     .are_events_records = true},
};

static const struct campaign_middle middles[] = {
    {"eventheader/eventheader-vm/eh-trace_pipe_raw-cpu1.bin", "trace_pipe_raw", 0, NULL, 0},
};

const struct format_campaigns campaigns_of_trace_pipe_raw = {
    .campaigns = campaigns,
    .campaigns_n = sizeof campaigns / sizeof *campaigns,
    .middles = middles,
    .middles_n = sizeof middles / sizeof *middles,
};
