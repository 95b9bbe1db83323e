/* trace_pipe_raw as a format: what it is called, what it can do.  The reader's parts are in
 * trace_pipe_raw.h. */
#include "formats/trace_pipe_raw/trace_pipe_raw.h"

static const ttr_option_info options[] = {
    {"formats", "PATH",
     "what events are: tracefs' events folder, format texts, or a perf.data or trace.dat 6 of the "
     "same boot",
     false},
    {"page-size", "BYTES", "of a page (or sub-buffer) of the ring buffer; 4096 unless given",
     false},
    {"cpu", "N", "whose events these are; else what the path says behind \"cpu\"", false},
};

static const struct format_reader reader = {
    .order = TTR_ORDER_TIME,
    .bid = trace_pipe_raw_bid,
    .state_size = sizeof(struct trace_pipe_raw_reader),
    .open = trace_pipe_raw_open,
    .next = trace_pipe_raw_next,
    .close = trace_pipe_raw_close,
};

static const struct format_description description = {
    .describe = trace_pipe_raw_describe,
};

const struct format format_trace_pipe_raw = {
    .name = "trace_pipe_raw",
    .title = "Linux ring-buffer pages",
    .extensions = "",
    .spec = "kernel 3 to 6",
    .reader = &reader,
    .description = &description,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
