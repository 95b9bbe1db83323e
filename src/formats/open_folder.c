/* Traces that are folders. A folder is recognised by its main file, a file that describes the other
 * files (CTF: metadata). A path to the main file or to another file of the folder opens the folder.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "formats/open.h"
#include "formats/table.h"
#include "model/context.h"

static bool is_regular_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* Joins the path of a folder and a file name. Returns false if the result has more than PATH_MAX
 * bytes. */
static bool join_path(char path[static PATH_MAX], const char *folder, const char *name)
{
    size_t n = strlen(folder);
    int written =
        snprintf(path, PATH_MAX, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
    return written > 0 && written < PATH_MAX;
}

static ttr_status detect_path_bid(ttr *t, const char *path, const struct format *format,
                                  unsigned *bid, ttr_error *error)
{
    ttr_error ctx = {0};
    struct source *source = source_open(&t->counted, path, NULL, &ctx);
    if (!source && error)
        *error = ctx;
    ttr_status status = source ? detect_bid(t, source, path, format, bid, error) : ctx.status;
    source_close(source);
    return status;
}

/* Returns true if `option` replaces the main file in folders of this format. */
static bool is_main_file_option(const struct format *format, const char *option)
{
    size_t n = strlen(format->name), key_n = strlen(format->folder->main_file_option);
    if (strncmp(option, format->name, n) == 0 && option[n] == '.')
        option += n + 1;
    return strncmp(option, format->folder->main_file_option, key_n) == 0 && option[key_n] == '=';
}

const struct format *find_format_with_file_option(const ttr_read_options *options)
{
    const char *const *given = options ? options->format_options : NULL;
    for (; given && *given; given++)
        for (size_t i = 0; format_at(i); i++)
            if (format_at(i)->folder && format_at(i)->folder->main_file_option &&
                is_main_file_option(format_at(i), *given))
                return format_at(i);
    return NULL;
}

/* Sets *has to true if the folder contains a file with the main file's name, and another file for
 * which the format bids. */
static ttr_status check_folder_has_parts(ttr *t, const char *path, const struct format *format,
                                         bool *has, ttr_error *error)
{
    char name[PATH_MAX];
    const struct folder_file *file;
    ttr_status status = TTR_OK;
    *has = false;
    if (!join_path(name, path, format->folder->main_file) || !is_regular_file(name))
        return TTR_OK;
    struct folder *folder = folder_open(&t->counted, t->descriptor_pool, path, 0, false, error);
    if (!folder)
        return error ? error->status : TTR_E_IO;
    for (size_t i = 0; status == TTR_OK && !*has && (file = folder_get_file(folder, i)); i++) {
        unsigned bid = 0;
        if (strcmp(file->name, format->folder->main_file) == 0)
            continue;
        folder_file_path(folder, file, name, sizeof name);
        status = detect_path_bid(t, name, format, &bid, NULL);
        *has = bid > 0;
        /* a file that cannot be read is not a reason to treat the folder as a trace */
        status = status == TTR_E_NOMEM ? fail_memory(error) : TTR_OK;
    }
    folder_close(folder);
    return status;
}

/* Finds the format that bids for the first bytes of the folder's main file. */
static ttr_status find_format_by_main_file(ttr *t, const char *path, const char *from,
                                           const struct format **format, ttr_error *error)
{
    char main_file[PATH_MAX];
    unsigned best = 0;
    *format = NULL;
    for (size_t i = 0; format_at(i); i++) {
        const struct format *each = format_at(i);
        unsigned bid = 1;
        if (!each->folder || !join_path(main_file, path, each->folder->main_file) ||
            !is_regular_file(main_file) || (from && strcmp(from, each->name) != 0))
            continue;
        ttr_status status = from ? TTR_OK : detect_path_bid(t, main_file, each, &bid, error);
        if (status != TTR_OK)
            return status;
        if (bid > 0 && bid == best)
            return error_set_option(
                error,
                fail(error, TTR_E_UNSUPPORTED, 0,
                     "the folder %s could be a trace of %s or %s: say which with "
                     "ttr_read_options.from",
                     path, (*format)->name, each->name),
                "from");
        *format = bid > best ? each : *format;
        best = bid > best ? bid : best;
    }
    return TTR_OK;
}

ttr_status find_folder_format(ttr *t, const char *path, const ttr_read_options *options,
                              const struct format **format, ttr_error *error)
{
    bool has = false;
    const struct format *anchored = find_format_with_file_option(options);
    ttr_status status =
        find_format_by_main_file(t, path, options ? options->from : NULL, format, error);
    if (status != TTR_OK || *format || !anchored ||
        (options->from && strcmp(options->from, anchored->name) != 0))
        return status;
    status = check_folder_has_parts(t, path, anchored, &has, error);
    *format = has ? anchored : NULL;
    return status;
}

ttr_reader *open_folder(ttr *t, const char *path, const char *only, const struct format *format,
                        const ttr_read_options *options, ttr_error *error)
{
    ttr_read_options ctx;
    struct folder *folder = folder_open(&t->counted, t->descriptor_pool, path, OPEN_FOLDER_DEPTH,
                                        options && options->flags & TTR_READ_FOLLOW_LINKS, error);
    return folder ? format->folder->open(t, folder, only,
                                         select_reader_options(format, options, &ctx), error)
                  : NULL;
}

/* Returns the format of the trace to which a file belongs: the main file is in the same folder, or
 * an option replaces it. Returns NULL if the file belongs to no trace; the caller then reports the
 * error of opening the file alone. */
static const struct format *find_format_with_main_file_beside(ttr *t, const char *path,
                                                              const char *folder,
                                                              const ttr_read_options *options)
{
    char main_file[PATH_MAX];
    const char *from = options ? options->from : NULL;
    const struct format *format = NULL, *given = find_format_with_file_option(options);
    ttr_error broken;
    size_t anchors = 0;
    for (size_t i = 0; format_at(i); i++)
        anchors += format_at(i)->folder &&
                   join_path(main_file, folder, format_at(i)->folder->main_file) &&
                   is_regular_file(main_file);
    if (!anchors && !given)
        return NULL;
    struct source *source = from ? NULL : source_open(&t->counted, path, NULL, NULL);
    if (from)
        format = format_find(from);
    else if (source && detect_format(t, source, path, &format, &broken, NULL) != TTR_OK)
        format = NULL;
    source_close(source);
    bool is_beside = format && format->folder &&
                     join_path(main_file, folder, format->folder->main_file) &&
                     is_regular_file(main_file);
    return is_beside || (format && format == given) ? format : NULL;
}

ttr_reader *open_folder_of_file(ttr *t, const char *path, const ttr_read_options *options,
                                bool *is_one, ttr_error *error)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const struct format *format = NULL;
    *is_one = false;
    if (snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1,
                 slash ? path : ".") >= PATH_MAX)
        return NULL;
    *is_one = find_folder_format(t, folder, options, &format, error) != TTR_OK;
    if (*is_one)
        return NULL;
    bool is_main_file = format && strcmp(format->folder->main_file, name) == 0;
    if (!is_main_file)
        format = find_format_with_main_file_beside(t, path, folder, options);
    *is_one = format != NULL;
    return format ? open_folder(t, folder, is_main_file ? NULL : name, format, options, error)
                  : NULL;
}

ttr_reader *open_memory_folder(ttr *t, struct folder *folder, const ttr_read_options *options,
                               ttr_error *error)
{
    const char *from = options ? options->from : NULL;
    const struct format *best = NULL;
    ttr_read_options ctx;
    unsigned best_bid = 0;
    ttr_status status = TTR_OK;
    for (size_t i = 0; format_at(i) && status == TTR_OK; i++) {
        const struct format *each = format_at(i);
        const struct folder_file *main_file =
            each->folder ? folder_find_file(folder, each->folder->main_file) : NULL;
        unsigned bid = 1;
        if (!main_file || (from && strcmp(from, each->name) != 0))
            continue;
        struct source *source = folder_open_file(folder, main_file, NULL, error);
        status = !source ? TTR_E_NOMEM
                 : from  ? TTR_OK
                         : detect_bid(t, source, main_file->name, each, &bid, error);
        source_close(source);
        best = bid > best_bid ? each : best;
        best_bid = bid > best_bid ? bid : best_bid;
    }
    if (!best)
        best = find_format_with_file_option(options);
    if (status == TTR_OK && best)
        return best->folder->open(t, folder, NULL, select_reader_options(best, options, &ctx),
                                  error);
    if (status == TTR_OK)
        (void)fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                   "%s is not a trace: none of its files describes the others",
                   folder_path(folder));
    folder_close(folder);
    return NULL;
}

ttr_status fail_without_folder(const struct format *format, const char *path, ttr_error *error)
{
    char other[64] = "";
    if (format->folder->main_file_option)
        (void)snprintf(other, sizeof other, ", or such a file by --option=%s.%s=FILE", format->name,
                       format->folder->main_file_option);
    ttr_status status = fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                             "%s alone is no %s trace: that is a folder in which a file \"%s\" "
                             "describes the others; name the folder%s",
                             path, format->name, format->folder->main_file, other);
    if (error)
        (void)snprintf(error->format, sizeof error->format, "%s", format->name);
    return status;
}
