/* Files of tables: one file for one table, a folder or a database for several.
 *
 * Output has a temporary name next to the final one until it is complete. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table_files/arrow.h"
#include "table_files/parquet.h"
#include "table_files/sqlite_file.h"

#define PATH_BYTES 4096u

typedef ttr_status (*write_function)(ttr_query *query, const char *sql, FILE *to, ttr_error *error);

static ttr_status fail_path(ttr_error *error, const char *path)
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
        return written != TTR_OK || fflush(stdout) == 0 ? written : fail_path(error, path);
    }
    FILE *to = fopen(path, "wxbe");
    if (!to)
        return fail_path(error, path);
    ttr_status status = write(query, sql, to, error);
    if (fclose(to) != 0 && status == TTR_OK)
        status = fail_path(error, path);
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
    ttr_status status = mkdir(output->path, 0777) == 0 ? TTR_OK : fail_path(error, output->path);
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

static bool has_suffix(const char *name, const char *suffix)
{
    const size_t n = strlen(name), suffix_n = strlen(suffix);
    return n > suffix_n && strcmp(name + n - suffix_n, suffix) == 0;
}

/* Removes a folder of tables. Returns false with errno, and removes nothing, if it has other files
 * too. */
static bool remove_old_folder(const char *path, const char *suffix)
{
    const struct dirent *entry;
    DIR *folder = opendir(path);
    bool has_others = false;
    if (!folder)
        return false;
    /* POSIX only requires that no other thread uses this stream. */
    /* cppcheck-suppress readdirCalled */
    while ((entry = readdir(folder)))
        has_others |= strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                      !has_suffix(entry->d_name, suffix);
    rewinddir(folder);
    /* cppcheck-suppress readdirCalled */
    while (!has_others && (entry = readdir(folder)))
        if (has_suffix(entry->d_name, suffix))
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    (void)closedir(folder);
    if (has_others)
        errno = ENOTEMPTY;
    return !has_others && rmdir(path) == 0;
}

/* Renames the complete output. An existing one is replaced only if that was asked for. */
static ttr_status rename_output(const char *partial, const ttr_query_output *output,
                                ttr_error *error)
{
    const char *path = output->path;
    struct stat about;
    const bool exists = lstat(path, &about) == 0;
    if (exists && !(output->flags & TTR_WRITE_OVERWRITE)) {
        errno = EEXIST;
        return fail_path(error, path);
    }
    if (exists && S_ISDIR(about.st_mode) && output->flags & TTR_QUERY_FOLDER &&
        !remove_old_folder(path, get_suffix(output)))
        return fail_path(error, path);
    return rename(partial, path) == 0 ? TTR_OK : fail_path(error, path);
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

ttr_status ttr_query_write(ttr_query *query, const ttr_query_table *tables, size_t n,
                           const ttr_query_output *output, ttr_error *error)
{
    char path[PATH_BYTES], number[32];
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
    (void)snprintf(number, sizeof number, ".partial-%ld", (long)getpid());
    if (!join_path(path, output->path, number, ""))
        return table_files_fail(error, TTR_E_IO, "%s: the path is too long", output->path);
    partial.path = path;
    ttr_status status = write_partial(query, tables, n, &partial, error);
    if (status == TTR_OK)
        status = rename_output(path, output, error);
    if (status != TTR_OK)
        remove_partial(path, tables, n, get_suffix(output));
    return status;
}
