/* The nettrace entry of the table of formats: name, options, detection.
 *
 * Detection: the magic "Nettrace" or, before V4, the header of the FastSerialization library with
 * the name of the first object. */
#include "formats/nettrace/nettrace_writer.h"
#include "formats/nettrace/nettrace.h"

#define HEAD_BYTES (4 + NETTRACE_SERIALIZATION_BYTES)

static bool is_serialization(const uint8_t *p, size_t n)
{
    return n >= HEAD_BYTES && load_u32le(p) == NETTRACE_SERIALIZATION_BYTES &&
           memcmp(p + 4, NETTRACE_SERIALIZATION, NETTRACE_SERIALIZATION_BYTES) == 0;
}

/* FastSerialization also stores files that are not traces, so the name of the first object
 * decides. */
static bool is_netperf(const uint8_t *p, size_t n)
{
    static const char *const names[] = {"Trace", "Microsoft.DotNet.Runtime.EventPipeFile"};
    if (n < 15)
        return false;
    uint32_t size = load_u32le(p + 11);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (size == strlen(names[i]) && n - 15 >= size && memcmp(p + 15, names[i], size) == 0)
            return true;
    return false;
}

static unsigned nettrace_detect(const struct peek *peek)
{
    const uint8_t *p = peek->bytes;
    if (peek->n >= NETTRACE_MAGIC_BYTES && memcmp(p, NETTRACE_MAGIC, NETTRACE_MAGIC_BYTES) == 0)
        return 64;
    if (!is_serialization(p, peek->n))
        return 0;
    return is_netperf(p + HEAD_BYTES, peek->n - HEAD_BYTES) ? 255 : 0;
}

static const char *explain_unsupported_version(const struct peek *peek)
{
    if (is_serialization(peek->bytes, peek->n))
        return "a FastSerialization file, but not an EventPipe trace (perhaps an .etlx or "
               ".gcdump): use the .nettrace that it was made from";
    return NULL;
}

static const ttr_option_info options[] = {
    {"order", "time|block",
     "emit events in order of time (default), or each block at once, for live traces", false},
    {"version", "4|5|6", "write this version; default: that of a nettrace source, else 6", true},
};

static const struct format_reader reader = {
    .order = TTR_ORDER_TIME,
    .bid = nettrace_detect,
    .refuse = explain_unsupported_version,
    .state_size = sizeof(struct nettrace_reader),
    .open = nettrace_reader_open,
    .next = nettrace_read_batch,
    .close = nettrace_reader_close,
    .has_stacks = true,
    .has_late_symbols = true,
    .range = nettrace_set_range,
};

static const struct format_description description = {
    .describe = nettrace_describe_type,
};

static const struct format_writer writer = {
    .losses = nettrace_losses,
    .losses_n = NETTRACE_LOSSES,
    .ordered_kinds = READER_ANY_KIND,
    .wants_symbols = true,
    .state_size = sizeof(struct nettrace_writer),
    .create = nettrace_writer_create,
    .write = nettrace_writer_write,
    .finish = nettrace_writer_finish,
    .drop = nettrace_writer_free,
};

const struct format format_nettrace = {
    .name = "nettrace",
    .title = ".NET EventPipe",
    .extensions = "nettrace netperf",
    .spec = "NetPerf 1 to 3, Nettrace 4 to 6",
    .diagnostics = nettrace_diagnostics,
    .reader = &reader,
    .description = &description,
    .writer = &writer,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
