/* Opens and creates traces: selects the format for a path, bytes or callbacks, and makes its reader
 * or writer. */
#include <string.h>
#include <sys/stat.h>

#include "base/self_zones.h"
#include "base/status.h"
#include "formats/open.h"
#include "formats/table.h"
#include "model/input.h"
#include "model/output.h"

#define READ_FLAGS                                                                    \
    (TTR_READ_STRICT | TTR_READ_NO_MMAP | TTR_READ_DEFINITIONS | TTR_READ_UNORDERED | \
     TTR_READ_SYMBOLS | TTR_READ_ENCRYPTED | TTR_READ_FOLLOW_LINKS)
#define WRITE_FLAGS (TTR_WRITE_OVERWRITE | TTR_WRITE_STRICT | TTR_WRITE_COLOR | TTR_WRITE_TERMINAL)

bool ttr_format_get(size_t i, ttr_format_info *info)
{
    const struct format *format = format_at(i);
    if (!format)
        return false;
    const bool writes_folder = format->writer && format->writer->writes_folder;
    const char *input_options = format->reader ? format->reader->input_options : NULL;
    *info = (ttr_format_info){format->name,
                              format->title,
                              format->extensions,
                              format->spec,
                              get_format_abilities(format),
                              format->writer ? format->writer->ordered_kinds : 0,
                              writes_folder ? format->folder->main_file : NULL,
                              input_options ? input_options : ""};
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
    if (!format || !format->writer)
        return 0;
    for (size_t i = 0; i < format->writer->losses_n && i < room; i++)
        losses[i] = format->writer->losses[i];
    return format->writer->losses_n;
}

/* Opens a source in the format that the options name, or detects the format. Consumes the source,
 * also on failure. */
static ttr_reader *open_source(ttr *t, struct source *source, const char *path,
                               const ttr_read_options *options, ttr_error *error)
{
    const struct format *format;
    ttr_error broken = {0};
    if (!source)
        return NULL;
    ttr_status status = options && options->from
                            ? find_readable_format(options->from, &format, error)
                            : detect_format(t, source, path, &format, &broken, error);
    if (status == TTR_OK && format->folder && !format->folder->reads_alone)
        status = fail_without_folder(format, path, error);
    if (status != TTR_OK) {
        source_close(source);
        return NULL;
    }
    ttr_read_options ctx;
    struct input *in =
        input_new(t, source, format, path, select_reader_options(format, options, &ctx), error);
    if (!in || broken.status == TTR_OK || input_add_stream_damage(in, &broken, error) == TTR_OK)
        return in ? &in->base : NULL;
    ttr_close(&in->base);
    return NULL;
}

static bool check_struct_size(size_t given, size_t known, const char *name, ttr_error *error)
{
    if (given >= known)
        return true;
    (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "%s.size is %zu, expected %zu: set it to sizeof(%s)",
               name, given, known, name);
    return false;
}

/* Returns true if `known` contains all flags of `given`. Otherwise fails: unknown flags may belong
 * to a later version of the library, and must not be ignored. */
static bool check_flags(uint32_t given, uint32_t known, const char *name, ttr_error *error)
{
    if (!(given & ~known))
        return true;
    (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
               "%s.flags has 0x%x, which this library does not know", name,
               (unsigned)(given & ~known));
    return false;
}

static bool format_has_option(const struct format *format, const char *key, size_t n)
{
    for (size_t i = 0; i < format->options_n; i++)
        if (strlen(format->options[i].key) == n && memcmp(format->options[i].key, key, n) == 0)
            return true;
    return false;
}

/* Returns true if any format has the option "FORMAT.key=value". A reader ignores options of other
 * formats, but a mistyped option must be an error. */
static bool is_option_known(const char *option)
{
    const size_t n = strcspn(option, ".=");
    if (option[n] != '.')
        return true;
    for (size_t i = 0; format_at(i); i++) {
        const char *key = option + n + 1;
        if (strlen(format_at(i)->name) == n && memcmp(format_at(i)->name, option, n) == 0)
            return format_has_option(format_at(i), key, strcspn(key, "="));
    }
    return false;
}

static bool check_options(const char *const *given, ttr_error *error)
{
    for (; given && *given; given++)
        if (!is_option_known(*given)) {
            (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                       "no format has an option \"%s\": ttr_format_option gives those there are",
                       *given);
            return false;
        }
    return true;
}

static bool check_copied_to(const ttr_read_options *options, ttr_error *error)
{
    if (!options->copied_to || !(options->flags & TTR_READ_DEFINITIONS) ||
        format_find(options->copied_to))
        return true;
    (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
               "ttr_read_options.copied_to is \"%s\", which is not a format", options->copied_to);
    return false;
}

/* Checks the options of a reader, and converts them to options of a source. If one is invalid,
 * sets `error` and returns false. */
static bool convert_read_options(const ttr *t, const ttr_read_options *options,
                                 struct source_options *how, ttr_error *error)
{
    *how = (struct source_options){.no_mmap = options && options->flags & TTR_READ_NO_MMAP,
                                   .can_pull = options ? options->can_pull : NULL,
                                   .shared = t->descriptor_pool};
    return !options ||
           (check_struct_size(options->size, sizeof *options, "ttr_read_options", error) &&
            check_flags(options->flags, READ_FLAGS, "ttr_read_options", error) &&
            check_options(options->format_options, error) && check_copied_to(options, error));
}

/* Returns true if a blank-separated list of words contains the word of `n` bytes at `word`. */
static bool is_word_in_list(const char *list, const char *word, size_t n)
{
    for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, word, n) == 0 && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

/* Returns the format that reads URLs with the scheme of `path`; NULL if `path` is not a URL of any
 * format. */
static const struct format *find_format_of_url(const char *path)
{
    size_t n = strcspn(path, ":");
    if (n == 0 || strncmp(path + n, "://", 3) != 0)
        return NULL;
    for (size_t i = 0; format_at(i); i++)
        if (format_at(i)->url && is_word_in_list(format_at(i)->url->schemes, path, n))
            return format_at(i);
    return NULL;
}

/* Opens a URL with the format of its scheme. Fails if the options name another format. */
static ttr_reader *open_url(ttr *t, const char *url, const struct format *format,
                            const ttr_read_options *options, ttr_error *error)
{
    ttr_read_options ctx;
    if (!options || !options->from || strcmp(options->from, format->name) == 0)
        return format->url->open(t, url, select_reader_options(format, options, &ctx), error);
    (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "%s is read as %s, not as %s", url, format->name,
               options->from);
    return NULL;
}

ttr_reader *ttr_open(ttr *t, const char *path, const ttr_read_options *options, ttr_error *error)
{
    SELF_ZONE(read, "open trace");
    struct source_options how;
    struct stat about;
    const struct format *format;
    bool is_one = false;
    if (!t || !path) {
        (void)fail_null(error, "ttr_open", t ? "path" : "context");
        return NULL;
    }
    if (!convert_read_options(t, options, &how, error))
        return NULL;
    const struct format *of_url = find_format_of_url(path);
    if (of_url)
        return open_url(t, path, of_url, options, error);
    bool is_there = strcmp(path, "-") != 0 && *path && stat(path, &about) == 0;
    if (is_there && S_ISDIR(about.st_mode)) {
        if (find_folder_format(t, path, options, &format, error) != TTR_OK)
            return NULL;
        return format ? open_folder(t, path, NULL, format, options, error)
                      : open_directory(t, path, options, ttr_open, error);
    }
    ttr_reader *reader = is_there && S_ISREG(about.st_mode)
                             ? open_folder_of_file(t, path, options, &is_one, error)
                             : NULL;
    if (is_one)
        return reader;
    return open_source(t, source_open(&t->counted, path, &how, error), path, options, error);
}

ttr_reader *ttr_open_memory(ttr *t, const void *bytes, size_t n, const char *name,
                            const ttr_read_options *options, ttr_error *error)
{
    struct source_options how;
    if (!t || (!bytes && n) || !name) {
        (void)fail_null(error, "ttr_open_memory", !t ? "context" : name ? "memory" : "name");
        return NULL;
    }
    if (!convert_read_options(t, options, &how, error))
        return NULL;
    return open_source(t, source_open_memory(&t->counted, bytes, n, &how, error), name, options,
                       error);
}

ttr_reader *ttr_open_files(ttr *t, const char *name, const ttr_file *files, size_t n,
                           const ttr_read_options *options, ttr_error *error)
{
    struct source_options how;
    const struct format *format;
    if (!convert_read_options(t, options, &how, error))
        return NULL;
    if (options && options->from && find_readable_format(options->from, &format, error) != TTR_OK)
        return NULL;
    struct folder *folder = folder_open_memory(&t->counted, name, files, n, error);
    return folder ? open_memory_folder(t, folder, options, error) : NULL;
}

ttr_reader *ttr_open_pull(ttr *t, ttr_pull pull, void *ctx, const char *name,
                          const ttr_read_options *options, ttr_error *error)
{
    struct source_options how;
    if (!convert_read_options(t, options, &how, error))
        return NULL;
    return open_source(t, source_open_callback(&t->counted, pull, ctx, &how, error), name, options,
                       error);
}

static const struct format *find_writer(const char *name, const ttr_write_options *options,
                                        ttr_error *error)
{
    char names[128];
    if (options &&
        (!check_struct_size(options->size, sizeof *options, "ttr_write_options", error) ||
         !check_flags(options->flags, WRITE_FLAGS, "ttr_write_options", error) ||
         !check_options(options->format_options, error)))
        return NULL;
    const struct format *format = format_find(name);
    if (format && format->writer)
        return format;
    list_format_names(TTR_FORMAT_WRITES, names, sizeof names);
    (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "no writer for format \"%s\": there are %s", name,
               names);
    return NULL;
}

static ttr_status refuse_stream(const struct format *format, ttr_error *error)
{
    return fail(
        error, TTR_E_MISUSE, NO_OFFSET,
        "a %s trace is a folder of files, not one stream of bytes: name a folder to be made",
        format->name);
}

static int64_t discard_bytes(void *ctx, const void *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    return (int64_t)n;
}

ttr_writer *ttr_create(ttr *t, const char *path, const char *format_name,
                       const ttr_write_options *options, ttr_error *error)
{
    SELF_ZONE(write, "create output");
    if (!t || !format_name) {
        (void)fail_null(error, "ttr_create", t ? "format" : "context");
        return NULL;
    }
    const struct format *format = find_writer(format_name, options, error);
    if (!format)
        return NULL;
    bool overwrite = options && options->flags & TTR_WRITE_OVERWRITE;
    struct output_target target = {.sink = NULL};
    if (format->writer->writes_folder && path &&
        (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0))
        (void)refuse_stream(format, error);
    else if (format->writer->writes_folder)
        target.folder =
            path ? folder_create(&t->counted,
                                 &(struct folder_output_options){
                                     path,
                                     {format->folder->main_file, format->writer->is_part},
                                     overwrite,
                                     t->descriptor_pool},
                                 error)
                 : folder_create_dry_run(&t->counted, error);
    else
        target.sink = path ? sink_open(&t->counted, path, overwrite, error)
                           : sink_open_callback(&t->counted, discard_bytes, NULL, error);
    return target.sink || target.folder ? output_new(t, target, format, options, error) : NULL;
}

ttr_writer *ttr_create_push(ttr *t, ttr_push push, void *ctx, const char *format_name,
                            const ttr_write_options *options, ttr_error *error)
{
    const struct format *format = find_writer(format_name, options, error);
    if (!format)
        return NULL;
    if (format->writer->writes_folder) {
        (void)refuse_stream(format, error);
        return NULL;
    }
    struct sink *sink = sink_open_callback(&t->counted, push, ctx, error);
    return sink ? output_new(t, (struct output_target){.sink = sink}, format, options, error)
                : NULL;
}
