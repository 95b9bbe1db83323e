/* FXT as a format: what it is called, what it can do.  The reader's parts are in fxt_read.h. */
#include "formats/fxt/fxt_read.h"

const struct format format_fxt = {
    .name = "fxt",
    .title = "Fuchsia trace format",
    .extensions = "fxt ftf",
    .spec = "Fuchsia trace format, 2021 text and the records added until 2026",
    .abilities = TTR_FORMAT_READS,
    .order = TTR_ORDER_NONE,
    .bid = fxt_bid,
    .refuse = fxt_refuse,
    .reader_size = sizeof(struct fxt_reader),
    .open = fxt_open,
    .next = fxt_next,
    .close = fxt_close,
};
