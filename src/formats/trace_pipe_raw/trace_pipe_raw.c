/* Registration of trace_pipe_raw: its name, its tables of functions, and its detection.
 *
 * Pages have no magic. A page is accepted if its events have exactly the total size that the page
 * header declares. */
#include "formats/trace_pipe_raw/trace_pipe_raw.h"

#define BID_BITS_PER_PAGE 12u
#define BID_BITS_MAX 24u /* lower than for any format with a magic number */
/* size in bytes of the common fields, with which each event starts */
#define COMMON_BYTES 8u

/* Checks a page by iterating over its events. Returns false if the bytes cannot be a page. */
static bool is_plausible_page(const struct ring_buffer_layout *layout, const uint8_t *bytes,
                              uint64_t *last)
{
    struct ring_buffer_page page;
    struct ring_buffer_event event;
    enum ring_buffer_step step;
    unsigned events = 0;
    if (!ring_buffer_begin_page(layout, bytes, TRACE_PIPE_RAW_PAGE, false, &page) ||
        page.time < *last)
        return false;
    while ((step = ring_buffer_next_event(&page, &event)) == RING_BUFFER_EVENT &&
           event.n >= COMMON_BYTES)
        events++;
    *last = page.time;
    return step == RING_BUFFER_END && events > 0;
}

static unsigned trace_pipe_raw_bid(const struct peek *peek)
{
    static const struct ring_buffer_layout layouts[] = {
        {false, 8, 16}, {true, 8, 16}, {false, 4, 12}, {true, 4, 12}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        uint64_t last = 1;
        unsigned bits = 0;
        for (size_t at = 0; peek->n - at >= TRACE_PIPE_RAW_PAGE && bits < BID_BITS_MAX;
             at += TRACE_PIPE_RAW_PAGE) {
            if (!is_plausible_page(&layouts[i], peek->bytes + at, &last)) {
                bits = 0;
                break;
            }
            bits += BID_BITS_PER_PAGE;
        }
        if (bits)
            return bits;
    }
    return 0;
}

static const ttr_option_info options[] = {
    {"formats", "PATH",
     "what events are: tracefs' events folder, format texts, or a perf.data or trace.dat 6 of the "
     "same boot",
     false},
    {"page-size", "BYTES", "of a page (or sub-buffer) of the ring buffer; 4096 unless given",
     false},
    {"cpu", "N", "set the CPU of the events; default: the number after \"cpu\" in the path", false},
};

static const struct format_reader reader = {
    .order = TTR_ORDER_TIME,
    .bid = trace_pipe_raw_bid,
    .state_size = sizeof(struct trace_pipe_raw_reader),
    .open = trace_pipe_raw_open,
    .next = trace_pipe_raw_read_batch,
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
    .diagnostics = trace_pipe_raw_diagnostics,
    .reader = &reader,
    .description = &description,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
