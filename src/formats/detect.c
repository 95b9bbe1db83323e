/* Format detection. Each format inspects the first bytes of an input and returns a bid: the number
 * of bits that it verified. The highest bid wins; a tie is an error that names both formats. File
 * suffixes and the order of formats have no influence. */
#include <stdio.h>
#include <string.h>

#include "base/self_zones.h"
#include "base/status.h"
#include "formats/file_kind.h"
#include "formats/open.h"
#include "formats/table.h"
#include "model/context.h"

#define PEEK_BYTES ((size_t)64 * 1024)
#define PEEK_PADDING ((size_t)64)
/* A bid of this many bits is certain enough: no more bytes are read, since a pipe may pause after
 * the first ones. */
#define SURE_BITS 64u
/* Pause of a pipe in milliseconds after which its format is decided by the bytes that have
 * arrived. */
#define PAUSE_MS 50u

const ttr_read_options *select_reader_options(const struct format *format,
                                              const ttr_read_options *options,
                                              ttr_read_options *ctx)
{
    if (!options)
        return NULL;
    const bool is_of_target = !options->copied_to || strcmp(options->copied_to, format->name) == 0;
    /* Writers of the same format need definitions to copy entire packets. A time offset would
     * change the packets, so they are not copied then. */
    if (is_of_target && options->time_offset == 0)
        return options;
    *ctx = *options;
    ctx->flags &= ~TTR_READ_DEFINITIONS;
    return ctx;
}

const struct format *format_find(const char *name)
{
    for (size_t i = 0; format_at(i); i++)
        if (strcmp(format_at(i)->name, name) == 0)
            return format_at(i);
    return NULL;
}

uint32_t get_format_abilities(const struct format *format)
{
    const struct format_writer *writer = format->writer;
    return (format->reader ? TTR_FORMAT_READS : 0) | (writer ? TTR_FORMAT_WRITES : 0) |
           (writer && writer->is_text ? TTR_FORMAT_TEXT : 0) |
           (writer && writer->ordered_kinds ? TTR_FORMAT_ORDERED : 0) |
           (writer && writer->wants_symbols ? TTR_FORMAT_SYMBOLS : 0) |
           (writer && writer->stores_stacks_as_fields ? TTR_FORMAT_STACK_FIELDS : 0) |
           (format->reader && format->reader->has_stacks ? TTR_FORMAT_STACKS : 0) |
           (format->reader && format->reader->has_late_symbols ? TTR_FORMAT_LATE_SYMBOLS : 0) |
           (format->transfer && format->transfer->rebase ? TTR_FORMAT_PACKETS : 0) |
           (format->folder ? TTR_FORMAT_FOLDER : 0) |
           (format->hints && format->hints->is_general ? TTR_FORMAT_GENERAL : 0);
}

void list_format_names(uint32_t ability, char *to, size_t size)
{
    size_t n = 0;
    to[0] = '\0';
    for (size_t i = 0; format_at(i) && n < size; i++)
        if (get_format_abilities(format_at(i)) & ability)
            n += (size_t)snprintf(to + n, size - n, "%s%s", n ? ", " : "", format_at(i)->name);
}

/* Fails with an error that describes the first bytes of the input and how to read it. */
static ttr_status fail_unknown(const struct peek *peek, ttr_error *error)
{
    char names[128], begin[3 * 4 + 1] = "";
    struct file_kind kind = {0};
    list_format_names(TTR_FORMAT_READS, names, sizeof names);
    if (file_kind_find(peek->bytes, peek->n, &kind) && kind.advice)
        return fail(error, TTR_E_UNSUPPORTED, 0, "not a trace: this is %s; %s", kind.name,
                    kind.advice);
    for (size_t i = 0; i < 4 && i < peek->n; i++)
        (void)snprintf(begin + 3 * i, 4, " %02x", peek->bytes[i]);
    const ttr_status status =
        kind.name ? fail(error, TTR_E_UNSUPPORTED, 0,
                         "not a trace of a known format (%s): it looks like %s; use "
                         "ttr_read_options.from = FORMAT to read it anyway",
                         names, kind.name)
                  : fail(error, TTR_E_UNSUPPORTED, 0,
                         "not a trace of a known format (%s): it starts with%s; use "
                         "ttr_read_options.from = FORMAT to read it anyway",
                         names, begin);
    return error_set_option(error, status, "from");
}

static ttr_status fail_without_bid(const struct peek *peek, ttr_error *error)
{
    for (size_t i = 0; format_at(i); i++) {
        const struct format_reader *reader = format_at(i)->reader;
        const char *reason = reader && reader->refuse ? reader->refuse(peek) : NULL;
        if (reason)
            return error_set_option(error, fail(error, TTR_E_UNSUPPORTED, 0, "%s", reason),
                                    strstr(reason, "ttr_read_options.from") ? "from" : "");
    }
    char names[128];
    list_format_names(TTR_FORMAT_READS, names, sizeof names);
    if (peek->n == 0)
        return fail(error, TTR_E_UNSUPPORTED, 0,
                    "file is empty: expected a trace of a known format (%s)", names);
    return fail_unknown(peek, error);
}

static unsigned get_format_bid(const struct format *format, const struct peek *peek)
{
    return format->reader && format->reader->bid ? format->reader->bid(peek) : 0;
}

/* Sets *winner to the format with the highest bid. Fails if no format bids, or if two formats have
 * the same highest bid. */
static ttr_status choose_format(const struct peek *peek, const struct format **winner,
                                ttr_error *error)
{
    unsigned best = 0;
    const struct format *tied = NULL;
    *winner = NULL;
    for (size_t i = 0; format_at(i); i++) {
        const struct format *format = format_at(i);
        unsigned bid = get_format_bid(format, peek);
        if (bid == 0 || bid < best)
            continue;
        tied = bid == best ? *winner : NULL;
        best = bid;
        *winner = format;
    }
    if (!*winner)
        return fail_without_bid(peek, error);
    if (!tied)
        return TTR_OK;
    const ttr_status status =
        fail(error, TTR_E_UNSUPPORTED, 0, "could be %s or %s: say which with ttr_read_options.from",
             tied->name, (*winner)->name);
    return error_set_option(error, status, "from");
}

/* First bytes of a source, with zeros after them so that formats may read beyond the end. */
struct first_bytes {
    const struct alloc *alloc;
    uint8_t *bytes;
    struct peek peek;
};

static void first_bytes_free(struct first_bytes *first)
{
    alloc_free(first->alloc, first->bytes, first->peek.n + PEEK_PADDING, 1);
}

/* Reads at least `need` bytes from the start of a source, unless it is shorter. If damage follows
 * soon after them, stores the error in `broken` and still returns TTR_OK, because detection may
 * not need the damaged bytes. */
static ttr_status read_first_bytes(ttr *t, struct source *source, size_t need,
                                   struct first_bytes *first, ttr_error *broken)
{
    struct window window;
    *broken = (ttr_error){.status = TTR_OK};
    ttr_status status = source_fill(source, 0, need, &window, broken);
    if (status != TTR_OK && status != TTR_E_TRUNCATED && status != TTR_E_MALFORMED)
        return status;
    size_t n = window.n < PEEK_BYTES ? window.n : PEEK_BYTES;
    first->alloc = &t->counted;
    first->bytes = alloc_zero(first->alloc, n + PEEK_PADDING, 1);
    if (!first->bytes)
        return fail_memory(broken);
    if (n)
        memcpy(first->bytes, window.bytes, n);
    first->peek =
        (struct peek){.bytes = first->bytes, .n = n, .is_whole = window.at_end && n == window.n};
    return TTR_OK;
}

static ttr_status copy_error(const ttr_error *reason, ttr_error *error)
{
    if (error)
        *error = *reason;
    return reason->status;
}

ttr_status detect_format(ttr *t, struct source *source, const char *path,
                         const struct format **format, ttr_error *broken, ttr_error *error)
{
    SELF_ZONE(read, "detect format");
    struct first_bytes first;
    ttr_error chosen;
    ttr_status status;
    size_t need = source_is_seekable(source) ? PEEK_BYTES : 1;
    for (bool is_sure = false; !is_sure; need = first.peek.n + 1) {
        chosen = (ttr_error){0};
        status = read_first_bytes(t, source, need, &first, broken);
        if (status != TTR_OK)
            return copy_error(broken, error);
        first.peek.path = path;
        status = choose_format(&first.peek, format, &chosen);
        is_sure = first.peek.n < need || first.peek.n >= PEEK_BYTES || first.peek.is_whole ||
                  (status == TTR_OK && (get_format_bid(*format, &first.peek) >= SURE_BITS ||
                                        source_is_paused(source, PAUSE_MS)));
        first_bytes_free(&first);
    }
    if (status == TTR_OK)
        return TTR_OK;
    return copy_error(broken->status != TTR_OK ? broken : &chosen, error);
}

ttr_status detect_bid(ttr *t, struct source *source, const char *path, const struct format *format,
                      unsigned *bid, ttr_error *error)
{
    struct first_bytes first;
    ttr_error broken;
    *bid = 0;
    if (read_first_bytes(t, source, PEEK_BYTES, &first, &broken) != TTR_OK)
        return copy_error(&broken, error);
    first.peek.path = path;
    *bid = get_format_bid(format, &first.peek);
    first_bytes_free(&first);
    return TTR_OK;
}

ttr_status find_readable_format(const char *name, const struct format **format, ttr_error *error)
{
    char names[128];
    *format = format_find(name);
    if (*format && (*format)->reader)
        return TTR_OK;
    list_format_names(TTR_FORMAT_READS, names, sizeof names);
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "no reader for format \"%s\": there are %s", name,
                names);
}
