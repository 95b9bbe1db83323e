/* Opening and creating: which format is it, and who reads or writes it.
 *
 * Formats bid with the number of bits they verified, so that bids of formats that know nothing of each other compare.  A tie is an
 * error that names both; nothing is ever decided by a file's suffix or by the order of the list. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "formats/table.h"
#include "model/input.h"
#include "model/output.h"

#define PEEK_BYTES ((size_t)64 * 1024)
#define PEEK_PADDING ((size_t)64)

static const struct format *format_find(const char *name)
{
    for (size_t i = 0; format_at(i); i++)
        if (strcmp(format_at(i)->name, name) == 0)
            return format_at(i);
    return NULL;
}

bool ttr_format_get(size_t i, ttr_format_info *info)
{
    const struct format *format = format_at(i);
    if (!format)
        return false;
    *info = (ttr_format_info){format->name, format->title, format->extensions, format->spec, format->abilities};
    return true;
}

bool ttr_format_option(size_t i, size_t j, ttr_option_info *info)
{
    const struct format *format = format_at(i);
    if (!format || j >= format->options_n)
        return false;
    *info = format->options[j];
    return true;
}

size_t ttr_format_losses(const char *name, ttr_loss *losses, size_t room)
{
    const struct format *format = format_find(name);
    if (!format)
        return 0;
    for (size_t i = 0; i < format->losses_n && i < room; i++)
        losses[i] = format->losses[i];
    return format->losses_n;
}

/* Names of all formats with an ability, for messages. */
static void list_names(uint32_t ability, char *to, size_t size)
{
    size_t n = 0;
    to[0] = '\0';
    for (size_t i = 0; format_at(i) && n < size; i++)
        if (format_at(i)->abilities & ability)
            n += (size_t)snprintf(to + n, size - n, "%s%s", n ? ", " : "", format_at(i)->name);
}

static ttr_status nobody_bids(const struct peek *peek, ttr_error *error)
{
    for (size_t i = 0; format_at(i); i++) {
        const char *reason = format_at(i)->refuse ? format_at(i)->refuse(peek) : NULL;
        if (reason)
            return fail(error, TTR_E_UNSUPPORTED, 0, "%s", reason);
    }
    char names[128];
    list_names(TTR_FORMAT_READS, names, sizeof names);
    if (peek->n == 0)
        return fail(error, TTR_E_UNSUPPORTED, 0, "the file is empty, so it is no trace (known formats: %s)", names);
    char begin[3 * 4 + 1] = "";
    for (size_t i = 0; i < 4 && i < peek->n; i++)
        (void)snprintf(begin + 3 * i, 4, " %02x", peek->bytes[i]);
    return fail(error, TTR_E_UNSUPPORTED, 0,
                "not a trace of a known format (%s): it begins with%s; --from FORMAT reads it all the same", names, begin);
}

/* The one format with the highest bid. */
static ttr_status choose(const struct peek *peek, const struct format **winner, ttr_error *error)
{
    unsigned best = 0;
    const struct format *tied = NULL;
    *winner = NULL;
    for (size_t i = 0; format_at(i); i++) {
        const struct format *format = format_at(i);
        unsigned bid = format->bid ? format->bid(peek) : 0;
        if (bid == 0 || bid < best)
            continue;
        tied = bid == best ? *winner : NULL;
        best = bid;
        *winner = format;
    }
    if (!*winner)
        return nobody_bids(peek, error);
    if (tied)
        return fail(error, TTR_E_UNSUPPORTED, 0, "could be %s or %s: say which with --from", tied->name, (*winner)->name);
    return TTR_OK;
}

/* An input on its way to a reader. */
struct opening {
    ttr *t;
    struct source *source;
    const char *path;
    const struct format *format;
    ttr_error broken; /* a source tells a failure once: this one came while looking; status TTR_OK = none */
};

static bool is_broken(ttr_status status)
{
    return status == TTR_E_TRUNCATED || status == TTR_E_MALFORMED;
}

/* Looks at the first bytes (copied, so that they can be padded) and lets the formats bid. */
static ttr_status detect(struct opening *opening, ttr_error *error)
{
    ttr *t = opening->t;
    struct window window;
    ttr_status status = source_fill(opening->source, 0, PEEK_BYTES, &window, &opening->broken);
    if (status != TTR_OK && error)
        *error = opening->broken;
    if (status != TTR_OK && !is_broken(status))
        return status;
    size_t n = window.n < PEEK_BYTES ? window.n : PEEK_BYTES;
    uint8_t *bytes = alloc_zero(&t->counted, n + PEEK_PADDING, 1);
    if (!bytes)
        return fail_memory(error);
    if (n)
        memcpy(bytes, window.bytes, n);
    struct peek peek = {.bytes = bytes, .n = n, .is_whole = window.at_end && n == window.n, .path = opening->path};
    ttr_error chosen = {0};
    ttr_status choice = choose(&peek, &opening->format, &chosen);
    alloc_free(&t->counted, bytes, n + PEEK_PADDING, 1);
    if (choice != TTR_OK && status == TTR_OK && error)
        *error = chosen;
    return choice != TTR_OK && status != TTR_OK ? status : choice;
}

static ttr_status find_reader(const char *name, const struct format **format, ttr_error *error)
{
    char names[128];
    *format = format_find(name);
    if (*format && (*format)->abilities & TTR_FORMAT_READS)
        return TTR_OK;
    list_names(TTR_FORMAT_READS, names, sizeof names);
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "no reader for format \"%s\": there are %s", name, names);
}

/* The source is taken over, also on failure. */
static ttr_reader *open_source(ttr *t, struct source *source, const char *path, const ttr_read_options *options,
                               ttr_error *error)
{
    struct opening opening = {.t = t, .source = source, .path = path};
    if (!source)
        return NULL;
    ttr_status status = options && options->from ? find_reader(options->from, &opening.format, error) : detect(&opening, error);
    if (status != TTR_OK) {
        source_close(source);
        return NULL;
    }
    struct input *in = input_new(t, source, opening.format, path, options, error);
    if (!in || !is_broken(opening.broken.status) || input_broken(in, &opening.broken, error) == TTR_OK)
        return in ? &in->base : NULL;
    ttr_close(&in->base);
    return NULL;
}

static bool knows_size(size_t given, size_t known, const char *name, ttr_error *error)
{
    if (given >= known)
        return true;
    (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "%s.size is %zu, expected %zu: set it to sizeof(%s)", name, given, known, name);
    return false;
}

/* What the source is to do; false where the options are not what the header says. */
static bool take_options(const ttr_read_options *options, struct source_options *how, ttr_error *error)
{
    *how = (struct source_options){.no_mmap = options && options->flags & TTR_READ_NO_MMAP};
    return !options || knows_size(options->size, sizeof *options, "ttr_read_options", error);
}

ttr_reader *ttr_open(ttr *t, const char *path, const ttr_read_options *options, ttr_error *error)
{
    struct source_options how;
    struct stat about;
    if (!take_options(options, &how, error))
        return NULL;
    if (strcmp(path, "-") != 0 && *path && stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return open_directory(t, path, options, error);
    return open_source(t, source_open(&t->counted, path, &how, error), path, options, error);
}

ttr_reader *ttr_open_memory(ttr *t, const void *bytes, size_t n, const char *name, const ttr_read_options *options,
                            ttr_error *error)
{
    struct source_options how;
    if (!take_options(options, &how, error))
        return NULL;
    return open_source(t, source_open_memory(&t->counted, bytes, n, &how, error), name, options, error);
}

ttr_reader *ttr_open_pull(ttr *t, ttr_pull pull, void *own, const char *name, const ttr_read_options *options,
                          ttr_error *error)
{
    struct source_options how;
    if (!take_options(options, &how, error))
        return NULL;
    return open_source(t, source_open_pull(&t->counted, pull, own, &how, error), name, options, error);
}

static const struct format *find_writer(const char *name, const ttr_write_options *options, ttr_error *error)
{
    char names[128];
    if (options && !knows_size(options->size, sizeof *options, "ttr_write_options", error))
        return NULL;
    const struct format *format = format_find(name);
    if (format && format->abilities & TTR_FORMAT_WRITES)
        return format;
    list_names(TTR_FORMAT_WRITES, names, sizeof names);
    (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "no writer for format \"%s\": there are %s", name, names);
    return NULL;
}

ttr_writer *ttr_create(ttr *t, const char *path, const char *format_name, const ttr_write_options *options, ttr_error *error)
{
    const struct format *format = find_writer(format_name, options, error);
    if (!format)
        return NULL;
    struct sink *sink = sink_open(&t->counted, path, options && options->flags & TTR_WRITE_OVERWRITE, error);
    return sink ? output_new(t, sink, format, options, error) : NULL;
}

ttr_writer *ttr_create_push(ttr *t, ttr_push push, void *own, const char *format_name, const ttr_write_options *options,
                            ttr_error *error)
{
    const struct format *format = find_writer(format_name, options, error);
    if (!format)
        return NULL;
    struct sink *sink = sink_open_push(&t->counted, push, own, error);
    return sink ? output_new(t, sink, format, options, error) : NULL;
}
