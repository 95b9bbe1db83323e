/* Damage that the campaigns apply to FXT traces. */
#include "campaigns/campaign.h"

static const struct campaign campaigns[] = {
    {.name = "fxt",
     .format = "fxt",
     .mutate = {.size_at = 0,
                .size_bytes = 8,
                .shift = 4,
                .bits = 12,
                .magic = {0x10, 0x00, 0x04, 0x46, 0x78, 0x54, 0x16, 0x00},
                .magic_n = 8},
     .vectors = {"fxt/vectors"}},
};

const struct format_campaigns campaigns_of_fxt = {
    .campaigns = campaigns,
    .campaigns_n = sizeof campaigns / sizeof *campaigns,
};
