/* perf.data as a format: what it is called, what it can do.  The reader's parts are in perf.h. */
#include "formats/perf/perf.h"
#include "formats/perf/perf_write.h"

static const ttr_option_info options[] = {
    {"byte-order", "little|big",
     "byte order of the file; by default little, and that of the original in a copy", true},
    {"zstd", "1..19", "compress the records of what is no copy, at this level", true},
};

static const struct format_reader reader = {
    .order = TTR_ORDER_TIME,
    .bid = perf_bid,
    .refuse = perf_refuse,
    .state_size = sizeof(struct perf_reader),
    .open = perf_open,
    .next = perf_next,
    .close = perf_close,
};

static const struct format_folder folder = {
    .anchor = "data",
    .open = perf_open_folder,
    .reads_alone = true,
};

static const struct format_description description = {
    .describe = perf_describe,
};

static const struct format_writer writer = {
    .losses = perf_losses,
    .losses_n = PERF_LOSSES,
    .wants_order = true,
    .state_size = sizeof(struct perf_writer),
    .create = perf_write_create,
    .write = perf_write,
    .finish = perf_write_finish,
    .drop = perf_write_drop,
};

const struct format format_perf = {
    .name = "perf",
    .title = "perf.data of Linux's perf",
    .extensions = "data",
    .spec = "perf 2.6.33 and later: files, pipes and folders",
    .reader = &reader,
    .folder = &folder,
    .description = &description,
    .writer = &writer,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
