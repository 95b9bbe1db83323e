/* Registration of FXT as a format: its name and options, its reader (fxt_read.h) and its writer
 * (fxt_write.h). */
#include "formats/fxt/fxt_read.h"
#include "formats/fxt/fxt_write.h"

static const ttr_option_info options[] = {
    {.key = "anchor",
     .values = "yes|no",
     .text = "write the Unix time of each provider's clock (magic-trace's extension)",
     .for_writing = true},
};

static const struct format_reader reader = {
    .order = TTR_ORDER_NONE,
    .bid = fxt_bid,
    .refuse = fxt_explain_refusal,
    .state_size = sizeof(struct fxt_reader),
    .open = fxt_reader_open,
    .next = fxt_read_batch,
    .close = fxt_reader_close,
    .range = fxt_set_range,
};

static const struct format_writer writer = {
    .losses = fxt_losses,
    .losses_n = FXT_LOSSES,
    .stores_stacks_as_fields = true,
    .state_size = sizeof(struct fxt_writer),
    .create = fxt_writer_create,
    .write = fxt_writer_write,
    .finish = fxt_writer_finish,
    .drop = fxt_writer_free,
};

static const struct format_hints hints = {.is_general = true, .warnings = ""};

const struct format format_fxt = {
    .name = "fxt",
    .title = "Fuchsia trace format",
    .extensions = "fxt ftf",
    .spec = "Fuchsia trace format, 2021 text and the records added until 2026",
    .diagnostics = fxt_diagnostics,
    .reader = &reader,
    .writer = &writer,
    .hints = &hints,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
