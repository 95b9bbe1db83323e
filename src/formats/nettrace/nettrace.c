/* nettrace as a format: what it is called, what it can do.  The reader's parts are in nettrace.h.
 */
#include "formats/nettrace/nettrace_writer.h"

static const ttr_option_info options[] = {
    {"order", "time|block",
     "give events in order of time (default), or those of each block as soon as it is there: for "
     "live traces",
     false},
    {"version", "4|5|6", "version to write, instead of that of a nettrace trace, or 6", true},
};

static const struct format_reader reader = {
    .order = TTR_ORDER_TIME,
    .bid = nettrace_bid,
    .refuse = nettrace_refuse,
    .state_size = sizeof(struct nettrace_reader),
    .open = nettrace_open,
    .next = nettrace_next,
    .close = nettrace_close,
    .range = nettrace_range,
};

static const struct format_description description = {
    .describe = nettrace_describe,
};

static const struct format_writer writer = {
    .losses = nettrace_losses,
    .losses_n = NETTRACE_LOSSES,
    .wants_order = true,
    .state_size = sizeof(struct nettrace_writer),
    .create = nettrace_create,
    .write = nettrace_write,
    .finish = nettrace_finish,
    .drop = nettrace_drop,
};

const struct format format_nettrace = {
    .name = "nettrace",
    .title = ".NET EventPipe",
    .extensions = "nettrace netperf",
    .spec = "NetPerf 1 to 3, Nettrace 4 to 6",
    .reader = &reader,
    .description = &description,
    .writer = &writer,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
