/* Registration of trace.dat: its name, its tables of functions, and its bid.  trace_dat.h describes
 * the reader. */
#include "formats/trace_dat/trace_dat.h"

/* Detects the format by the magic, and by the bytes after the version if they are a valid byte
 * order and size of `long`. */
static unsigned trace_dat_bid(const struct peek *peek)
{
    struct tracing_data data = {0};
    struct cursor c = cursor_init(peek->bytes, peek->n, 0);
    return tracing_data_parse_head(&data, &c) ? 8 * TRACING_DATA_MAGIC_BYTES + 16 : 0;
}

static const struct format_reader reader = {
    .order = TTR_ORDER_TIME,
    .bid = trace_dat_bid,
    .state_size = sizeof(struct trace_dat_reader),
    .open = trace_dat_open,
    .next = trace_dat_read_batch,
    .close = trace_dat_close,
};

static const struct format_description description = {
    .describe = trace_dat_describe,
};

const struct format format_trace_dat = {
    .name = "trace_dat",
    .title = "trace-cmd",
    .extensions = "dat",
    .spec = "6, 7",
    .diagnostics = trace_dat_diagnostics,
    .reader = &reader,
    .description = &description,
};
