/* nettrace as a format: what it is called, what it can do.  The reader's parts are in nettrace.h. */
#include "formats/nettrace/nettrace.h"

static const ttr_option_info options[] = {
    {"order", "time|block", "give events in order of time (default), or those of each block as soon as it is there: for live traces", false},
};

const struct format format_nettrace = {
    .name = "nettrace",
    .title = ".NET EventPipe",
    .extensions = "nettrace netperf",
    .spec = "NetPerf 1 to 3, Nettrace 4 to 6",
    .abilities = TTR_FORMAT_READS,
    .order = TTR_ORDER_TIME,
    .bid = nettrace_bid,
    .refuse = nettrace_refuse,
    .reader_size = sizeof(struct nettrace_reader),
    .open = nettrace_open,
    .next = nettrace_next_with_symbols,
    .close = nettrace_close,
    .describe = nettrace_describe,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
