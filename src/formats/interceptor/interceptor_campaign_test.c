/* Damage that the campaigns apply to files of the test interceptor. */
#include "campaigns/campaign.h"

static const struct campaign campaigns[] = {
    {.name = "interceptor",
     .format = "interceptor",
     .mutate = {.size_at = 0,
                .size_bytes = 4,
                .bits = 32,
                .magic = {0x28, 0, 0, 0, 'P', '_', 'L', '5'},
                .magic_n = 8},
     .vectors = {"interceptor/vectors"},
     .traces = {"eventheader/linuxtracepoints/EventHeaderInterceptorLE64.dat"}},
};

static const struct campaign_middle middles[] = {
    {"eventheader/linuxtracepoints/EventHeaderInterceptorLE64.dat", "interceptor", 0,
     "\xff\xff\xff\xff", 4},
    {"eventheader/linuxtracepoints/EventHeaderInterceptorLE64.dat", "interceptor", 0,
     "\x00\x00\x00\x00", 4},
};

const struct format_campaigns campaigns_of_interceptor = {
    .campaigns = campaigns,
    .campaigns_n = sizeof campaigns / sizeof *campaigns,
    .middles = middles,
    .middles_n = sizeof middles / sizeof *middles,
};
