/* Registration of perf.data: its name, its tables of functions, and its detection.
 *
 * perf_bid() checks the magic in either byte order, and that the header size is the one of a file
 * or of a pipe. */
#include "formats/perf/perf.h"
#include "formats/perf/perf_write.h"

static bool has_magic(const struct peek *peek, const char *magic)
{
    return peek->n >= 8 && memcmp(peek->bytes, magic, 8) == 0;
}

static unsigned perf_bid(const struct peek *peek)
{
    bool is_big = has_magic(peek, PERF_MAGIC_BIG);
    if (!is_big && !has_magic(peek, PERF_MAGIC))
        return 0;
    if (peek->n < PERF_PIPE_HEADER_BYTES)
        return 64;
    uint64_t size = perf_u64(peek->bytes + PERF_AT_HEADER_SIZE, is_big);
    return size == PERF_PIPE_HEADER_BYTES || size == PERF_HEADER_BYTES ? 128 : 64;
}

static const char *explain_unsupported_file(const struct peek *peek)
{
    return has_magic(peek, "PERFFILE")
               ? "a perf.data of Linux before 2.6.33, in a layout that perf gave up"
               : NULL;
}

static const ttr_option_info options[] = {
    {"byte-order", "little|big",
     "byte order of the file; by default little, and that of the original in a copy", true},
    {"zstd", "1..19", "compress the records at this level, unless the output is a copy", true},
};

static const struct format_reader reader = {
    .order = TTR_ORDER_TIME,
    .bid = perf_bid,
    .refuse = explain_unsupported_file,
    .has_stacks = true,
    .state_size = sizeof(struct perf_reader),
    .open = perf_open,
    .next = perf_read_batch,
    .close = perf_close,
};

static const struct format_folder folder = {
    .main_file = "data",
    .open = perf_open_folder,
    .reads_alone = true,
};

static const struct format_description description = {
    .describe = perf_describe,
};

static const struct format_writer writer = {
    .losses = perf_losses,
    .losses_n = PERF_LOSSES,
    .ordered_kinds = READER_ANY_KIND,
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
    .diagnostics = perf_diagnostics,
    .reader = &reader,
    .folder = &folder,
    .description = &description,
    .writer = &writer,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
