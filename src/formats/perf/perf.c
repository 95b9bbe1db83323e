/* perf.data as a format: what it is called, what it can do.  The reader's parts are in perf.h. */
#include "formats/perf/perf.h"

const struct format format_perf = {
    .name = "perf",
    .title = "perf.data of Linux's perf",
    .extensions = "data",
    .spec = "perf 2.6.33 and later: files, pipes and folders",
    .abilities = TTR_FORMAT_READS,
    .order = TTR_ORDER_TIME,
    .bid = perf_bid,
    .refuse = perf_refuse,
    .reader_size = sizeof(struct perf_reader),
    .open = perf_open,
    .next = perf_next,
    .close = perf_close,
    .describe = perf_describe,
    .anchor = "data",
    .open_folder = perf_open_folder,
    .reads_alone = true,
};
