/* FXT as a format: what it is called, what it can do.  The reader's parts are in fxt_read.h, the writer's in fxt_write.h. */
#include "model/format.h"

const struct format format_fxt = {
    .name = "fxt",
    .title = "Fuchsia trace format",
    .extensions = "fxt ftf",
    .spec = "Fuchsia trace format, 2021 text and the records added until 2026",
    .order = TTR_ORDER_NONE,
};
