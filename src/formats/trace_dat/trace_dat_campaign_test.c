/* Mutation campaigns for trace.dat. The size of an event is in 5 bits of the 4 bytes before it. */
#include "campaigns/campaign.h"

static const struct campaign campaigns[] = {
    {.name = "trace_dat",
     .format = "trace_dat",
     .mutate = {.size_at = SIZE_MAX - 3,
                .size_bytes = 4,
                .bits = 5,
                .magic = {0x10, 0, 0, 0, 0, 0, 0, 0},
                .magic_n = 8},
     .vectors = {"trace_dat/vectors/version-6.hexa", "trace_dat/vectors/version-7.hexa",
                 "trace_dat/vectors/instance-6.hexa", "trace_dat/vectors/big-endian-32.hexa"},
     .traces = {"eventheader/eventheader-vm/eh-tracecmd.dat",
                "eventheader/tracecmd-vm/vm-v7-date.dat"},
     .are_events_records = true},
};

static const struct campaign_middle middles[] = {
    {"eventheader/tracecmd-vm/vm-v6.dat", "trace_dat", 0, NULL, 0},
    {"eventheader/tracecmd-vm/vm-v7-none.dat", "trace_dat", 0, NULL, 0},
};

const struct format_campaigns campaigns_of_trace_dat = {
    .campaigns = campaigns,
    .campaigns_n = sizeof campaigns / sizeof *campaigns,
    .middles = middles,
    .middles_n = sizeof middles / sizeof *middles,
};
