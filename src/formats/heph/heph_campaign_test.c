/* Damage that the campaigns apply to Heph traces. */
#include "campaigns/campaign.h"

static const struct campaign campaigns[] = {
    {.name = "heph",
     .format = "heph",
     .mutate = {.size_at = 4,
                .size_bytes = 4,
                .is_big_endian = true,
                .bits = 32,
                .magic = {0xC1, 0xFC, 0x1F, 0xB7, 0, 0, 0, 0x2A},
                .magic_n = 8},
     .vectors = {"heph/vectors", "heph/vectors-whole", "heph/vectors-file"},
     .traces = {"heph/heph-head-example7.trace", "heph/heph-0.4.0-example8.trace"}},
};

static const struct campaign_target targets[] = {
    {"heph/heph-head-alltypes.trace", MUTATE_FLIP_1, 99.9},
    {"heph/heph-head-alltypes.trace", MUTATE_ZERO_512, 99.7},
    {"heph/heph-head-alltypes.trace", MUTATE_CUT, 99.7},
};

const struct format_campaigns campaigns_of_heph = {
    .campaigns = campaigns,
    .campaigns_n = sizeof campaigns / sizeof *campaigns,
    .targets = targets,
    .targets_n = sizeof targets / sizeof *targets,
};
