/* Registration of Heph as a format: its name, options, reader and writer. */
#include "formats/heph/heph.h"
#include "formats/heph/heph_writer.h"

static const ttr_option_info options[] = {
    {"layout", "auto|0.1|pre-substream",
     "layout of the events; auto detects files from before March 2021", false},
    {"epoch", "NS", "Unix time at time 0 of the trace, in ns, instead of the recorded one", false},
    {"epoch", "NS",
     "Unix time that the times written are relative to, instead of one chosen by the first event",
     true},
};

/* Spans are complete: begins and ends do not occur. heph_restore.c restores the other kinds. */
static uint32_t get_event_kinds(struct input *in)
{
    (void)in;
    return 1u << TTR_KIND_SPAN | 1u << TTR_KIND_INSTANT | 1u << TTR_KIND_SAMPLE |
           1u << TTR_KIND_OBJECT | 1u << TTR_KIND_SWITCH | 1u << TTR_KIND_WAKE |
           1u << TTR_KIND_GAP | 1u << TTR_KIND_DEFINITION;
}

static const struct format_reader reader = {
    .order = TTR_ORDER_NONE,
    .bid = heph_bid,
    .state_size = sizeof(struct heph_reader),
    .open = heph_open,
    .next = heph_read_batch,
    .close = heph_close,
    .kinds = get_event_kinds,
};

static const struct format_writer writer = {
    .losses = heph_losses,
    .losses_n = HEPH_LOSSES,
    .stores_stacks_as_fields = true,
    .state_size = sizeof(struct heph_writer),
    .create = heph_writer_create,
    .write = heph_write,
    .finish = heph_writer_finish,
    .drop = heph_writer_free,
};

const struct format format_heph = {
    .name = "heph",
    .title = "Heph trace format",
    .extensions = "trace heph",
    .spec = "Trace Format 0.1.0, and the layout before substreams",
    .diagnostics = heph_diagnostics,
    .reader = &reader,
    .writer = &writer,
    .transfer = &heph_transfer,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
