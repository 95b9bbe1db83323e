/* Heph as a format: what it is called, what it can do, its options. */
#include "formats/heph/heph.h"

static const ttr_option_info options[] = {
    {"layout", "auto|0.1|pre-substream", "layout of the events; auto tells today's from that of before March 2021", false},
    {"epoch", "NS", "Unix time of the trace's zero in ns, instead of what the trace says", false},
};

const struct format format_heph = {
    .name = "heph",
    .title = "Heph trace format",
    .extensions = "trace heph",
    .spec = "Trace Format 0.1.0, and the layout before substreams",
    .abilities = TTR_FORMAT_READS,
    .order = TTR_ORDER_NONE,
    .bid = heph_bid,
    .reader_size = sizeof(struct heph_reader),
    .open = heph_open,
    .next = heph_next,
    .close = heph_close,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
