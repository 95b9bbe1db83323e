/* Mutation campaigns for perf.data: samples, and which bytes of a record are its size.
 *
 * Files and pipes record their own end, so vectors cannot be concatenated. */
#include "campaigns/campaign.h"

static const struct campaign campaigns[] = {
    {.name = "perf",
     .format = "perf",
     .mutate = {.size_at = 6,
                .size_bytes = 2,
                .bits = 16,
                .magic = {9, 0, 0, 0, 2, 0, 32, 0},
                .magic_n = 8},
     .vectors = {"perf/vectors/records.hexa", "perf/vectors/parts.hexa",
                 "perf/vectors-whole/file.hexa", "perf/vectors-whole/no-id.hexa",
                 "perf/vectors-packed/packed.hexa"},
     .traces = {"eventheader/made-here/pipe-openat.data",
                "eventheader/made-here/single-noid.data"}},
};

static const struct campaign_middle middles[] = {
    {"eventheader/eventheader-vm/eh-perf.data", "perf", 0, "\xff\xff\xff\xff\xff\xff\xff\xff", 8},
    {"eventheader/eventheader-vm/eh-perf.data", "perf", 6, "\x00\x00", 2},
    {"eventheader/made-here/pipe-openat.data", "perf", 6, "\xff\xff", 2},
};

const struct format_campaigns campaigns_of_perf = {
    .campaigns = campaigns,
    .campaigns_n = sizeof campaigns / sizeof *campaigns,
    .middles = middles,
    .middles_n = sizeof middles / sizeof *middles,
};
