/* Files of tables: one file for one table, a folder or a database for several.
 *
 * Output has a temporary name next to the final one until it is complete. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table_files/arrow.h"
#include "table_files/parquet.h"
#include "table_files/sqlite_file.h"

#define PATH_BYTES 4096u

typedef ttr_status (*write_function)(ttr_query *query, const char *sql, FILE *to, ttr_error *error);

static ttr_status report_path_error(ttr_error *error, const char *path)
{
    const int sys = errno;
    (void)table_files_fail(error, TTR_E_IO, "%s: %s", path, strerror(sys));
    error->sys = sys;
    return TTR_E_IO;
}

static ttr_status write_file(ttr_query *query, const char *sql, const char *path,
                             write_function write, ttr_error *error)
{
    if (strcmp(path, "-") == 0) {
        const ttr_status written = write(query, sql, stdout, error);
        return written != TTR_OK || fflush(stdout) == 0 ? written : report_path_error(error, path);
    }
    FILE *to = fopen(path, "wxbe");
    if (!to)
        return report_path_error(error, path);
    ttr_status status = write(query, sql, to, error);
    if (fclose(to) != 0 && status == TTR_OK)
        status = report_path_error(error, path);
    return status;
}

static write_function get_writer(const ttr_query_output *output)
{
    return strcmp(output->format, "parquet") == 0 ? parquet_write : arrow_write;
}

static const char *get_suffix(const ttr_query_output *output)
{
    return strcmp(output->format, "parquet") == 0 ? ".parquet" : ".arrow";
}

/* Appends to a path. Returns false if it becomes too long. */
static bool join_path(char to[PATH_BYTES], const char *a, const char *b, const char *c)
{
    const int n = snprintf(to, PATH_BYTES, "%s%s%s", a, b, c);
    return n > 0 && n < (int)PATH_BYTES;
}

/* Writes a table per file into a folder. */
static ttr_status write_folder(ttr_query *query, const ttr_query_table *tables, size_t n,
                               const ttr_query_output *output, ttr_error *error)
{
    char path[PATH_BYTES], name[PATH_BYTES];
    ttr_status status =
        mkdir(output->path, 0777) == 0 ? TTR_OK : report_path_error(error, output->path);
    for (size_t i = 0; status == TTR_OK && i < n; i++) {
        const bool is_name = tables[i].name[0] && !strchr(tables[i].name, '/');
        if (!is_name || !join_path(name, "/", tables[i].name, get_suffix(output)) ||
            !join_path(path, output->path, name, ""))
            return table_files_fail(error, TTR_E_MISUSE, "\"%s\" is not a name of a file",
                                    tables[i].name);
        status = write_file(query, tables[i].sql, path, get_writer(output), error);
    }
    return status;
}

static void remove_partial(const char *path, const ttr_query_table *tables, size_t n,
                           const char *suffix)
{
    char file[PATH_BYTES], name[PATH_BYTES];
    for (size_t i = 0; i < n; i++)
        if (join_path(name, "/", tables[i].name, suffix) && join_path(file, path, name, ""))
            (void)unlink(file);
    if (rmdir(path) != 0)
        (void)unlink(path);
}

/* --- Replacing --- */

static bool has_suffix(const char *name, const char *suffix)
{
    const size_t n = strlen(name), suffix_n = strlen(suffix);
    return n > suffix_n && strcmp(name + n - suffix_n, suffix) == 0;
}

/* Looks for a file that is not a table of this format, which would be lost if the folder were
 * replaced. Changes nothing. */
static ttr_status check_old_folder(const char *path, const char *suffix, ttr_error *error)
{
    const struct dirent *entry;
    struct stat about;
    ttr_status status = TTR_OK;
    DIR *folder = access(path, R_OK | W_OK | X_OK) == 0 ? opendir(path) : NULL;
    if (!folder)
        return report_path_error(error, path);
    /* POSIX only requires that no other thread uses this stream. */
    /* cppcheck-suppress readdirCalled */
    while (status == TTR_OK && (errno = 0, entry = readdir(folder))) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (!has_suffix(name, suffix) ||
            fstatat(dirfd(folder), name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(about.st_mode))
            status = table_files_fail(error, TTR_E_IO,
                                      "%s: the folder is not replaced, because \"%s\" in it is not "
                                      "a file of a table (%s)",
                                      path, name, suffix);
    }
    if (status == TTR_OK && errno)
        status = report_path_error(error, path);
    (void)closedir(folder);
    return status;
}

/* Checks that the output can be created, or may be replaced. Changes nothing. */
static ttr_status check_output(const ttr_query_output *output, ttr_error *error)
{
    const char *path = output->path;
    const bool is_folder = output->flags & TTR_QUERY_FOLDER;
    struct stat about;
    if (lstat(path, &about) != 0)
        return errno == ENOENT ? TTR_OK : report_path_error(error, path);
    if (S_ISLNK(about.st_mode))
        return table_files_fail(error, TTR_E_IO,
                                "%s: a symbolic link is not replaced: name its "
                                "target",
                                path);
    if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return table_files_fail(error, TTR_E_IO,
                                "%s: not a regular file: %s is not written to devices and pipes",
                                path, output->format);
    if (is_folder && !S_ISDIR(about.st_mode))
        return table_files_fail(error, TTR_E_IO, "%s: a file: several tables need a folder", path);
    if (!is_folder && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return report_path_error(error, path);
    }
    if (!(output->flags & TTR_WRITE_OVERWRITE)) {
        errno = EEXIST;
        return report_path_error(error, path);
    }
    return is_folder ? check_old_folder(path, get_suffix(output), error) : TTR_OK;
}

/* Removes a folder of tables; it stays if it has other files too. */
static void remove_old_folder(const char *path, const char *suffix)
{
    const struct dirent *entry;
    DIR *folder = opendir(path);
    /* POSIX only requires that no other thread uses this stream. */
    /* cppcheck-suppress readdirCalled */
    while (folder && (entry = readdir(folder)))
        if (has_suffix(entry->d_name, suffix))
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        (void)closedir(folder);
    (void)rmdir(path);
}

/* Replaces a folder. The old one is removed only after the new one has its name. */
static ttr_status replace_folder(const char *partial, const ttr_query_output *output,
                                 ttr_error *error)
{
    char old[PATH_BYTES], number[32];
    (void)snprintf(number, sizeof number, ".old-%ld", (long)getpid());
    if (!join_path(old, output->path, number, ""))
        return table_files_fail(error, TTR_E_IO, "%s: the path is too long", output->path);
    if (rename(output->path, old) != 0)
        return report_path_error(error, output->path);
    if (rename(partial, output->path) != 0) {
        const ttr_status status = report_path_error(error, output->path);
        (void)rename(old, output->path);
        return status;
    }
    remove_old_folder(old, get_suffix(output));
    return TTR_OK;
}

/* Renames the complete output. An existing one is replaced only if that was asked for. */
static ttr_status rename_output(const char *partial, const ttr_query_output *output,
                                ttr_error *error)
{
    struct stat about;
    const ttr_status status = check_output(output, error);
    if (status != TTR_OK)
        return status;
    if (output->flags & TTR_QUERY_FOLDER && lstat(output->path, &about) == 0)
        return replace_folder(partial, output, error);
    return rename(partial, output->path) == 0 ? TTR_OK : report_path_error(error, output->path);
}

static ttr_status write_partial(ttr_query *query, const ttr_query_table *tables, size_t n,
                                const ttr_query_output *output, ttr_error *error)
{
    if (strcmp(output->format, "sqlite") == 0)
        return sqlite_file_write(query, tables, n, output->path, error);
    if (strcmp(output->format, "parquet") != 0 && strcmp(output->format, "arrow") != 0)
        return table_files_fail(error, TTR_E_UNSUPPORTED,
                                "\"%s\" is not a format of tables: use parquet, arrow or sqlite",
                                output->format);
    return output->flags & TTR_QUERY_FOLDER
               ? write_folder(query, tables, n, output, error)
               : write_file(query, tables[0].sql, output->path, get_writer(output), error);
}

/* Returns the path of a folder without the slashes at its end; `to` has room for it. A path that is
 * too long is returned unchanged. */
static const char *remove_slashes(const char *path, char to[PATH_BYTES])
{
    size_t n = strlen(path);
    if (n >= PATH_BYTES)
        return path;
    while (n > 1 && path[n - 1] == '/')
        n--;
    memcpy(to, path, n);
    to[n] = '\0';
    return to;
}

bool ttr_query_temporary_path(const ttr_query_output *output, char *path, size_t size)
{
    size_t n = strlen(output->path);
    while (output->flags & TTR_QUERY_FOLDER && n > 1 && output->path[n - 1] == '/')
        n--;
    if (n >= size || strcmp(output->path, "-") == 0)
        return false;
    const int length =
        snprintf(path, size, "%.*s.partial-%ld", (int)n, output->path, (long)getpid());
    return length > 0 && (size_t)length < size;
}

ttr_status ttr_query_write(ttr_query *query, const ttr_query_table *tables, size_t n,
                           const ttr_query_output *output, ttr_error *error)
{
    char path[PATH_BYTES], final_path[PATH_BYTES];
    ttr_error local = {0};
    ttr_query_output partial = *output;
    error = error ? error : &local;
    const bool is_folder = output->flags & TTR_QUERY_FOLDER,
               is_sqlite = strcmp(output->format, "sqlite") == 0;
    if (n == 0 || (n > 1 && !is_folder && !is_sqlite))
        return table_files_fail(error, TTR_E_MISUSE, "several tables need a folder");
    if (strcmp(output->path, "-") == 0)
        return is_folder || is_sqlite
                   ? table_files_fail(error, TTR_E_MISUSE,
                                      "%s cannot be written to standard output", output->format)
                   : write_partial(query, tables, n, output, error);
    ttr_query_output final = *output;
    final.path = is_folder ? remove_slashes(output->path, final_path) : output->path;
    if (!ttr_query_temporary_path(output, path, sizeof path))
        return table_files_fail(error, TTR_E_IO, "%s: the path is too long", output->path);
    partial.path = path;
    ttr_status status = check_output(&final, error);
    if (status != TTR_OK)
        return status;
    status = write_partial(query, tables, n, &partial, error);
    if (status == TTR_OK)
        status = rename_output(path, &final, error);
    if (status != TTR_OK)
        remove_partial(path, tables, n, get_suffix(output));
    return status;
}
