/* Internal interface of the files that detect formats and open traces in files, folders and
 * directories. */
#ifndef TRACETTA_FORMATS_OPEN_H
#define TRACETTA_FORMATS_OPEN_H

#include "io/folder.h"
#include "model/format.h"

/* number of folder levels below a trace's folder that are listed: one, for "index/" */
#define OPEN_FOLDER_DEPTH 1u

/* --- detect.c: formats by name and by content --- */

/* Returns the format with this name; NULL if there is none. */
const struct format *format_find(const char *name);

/* Returns what a format can do (read, write, ...) as TTR_FORMAT_* flags. */
uint32_t get_format_abilities(const struct format *format);

/* Writes the names of all formats with a certain ability to `to`, for error messages. */
void list_format_names(uint32_t ability, char *to, size_t size);

/* Sets *format to the format with this name. Fails with TTR_E_MISUSE if there is none or if it
 * cannot be read. */
TTR_MUST ttr_status find_readable_format(const char *name, const struct format **format,
                                         ttr_error *error);

/* Selects the format with the highest bid for the first bytes of a source. A source reports a read
 * error only once, so such an error is stored in `broken` even if a format was found; `broken` has
 * status TTR_OK if no error occurred. */
TTR_MUST ttr_status detect_format(ttr *t, struct source *source, const char *path,
                                  const struct format **format, ttr_error *broken,
                                  ttr_error *error);

/* Sets *bid to the format's bid for the first bytes of a source. Fails only if the bytes cannot be
 * read. */
TTR_MUST ttr_status detect_bid(ttr *t, struct source *source, const char *path,
                               const struct format *format, unsigned *bid, ttr_error *error);

/* Returns the options for a reader of this format: `options`, or a copy of them in *ctx without
 * TTR_READ_DEFINITIONS if the output format differs, so that packets cannot be copied. */
const ttr_read_options *select_reader_options(const struct format *format,
                                              const ttr_read_options *options,
                                              ttr_read_options *ctx);

/* --- open_folder.c: traces that are folders --- */

/* Returns the format of which a given option replaces the main file; NULL if no such option is
 * given. */
const struct format *find_format_with_file_option(const ttr_read_options *options);

/* Finds the format of a folder that is a trace: its main file exists and the format bids for it,
 * or options->from names the format. If an option replaces the main file, the folder's own main
 * file need not be valid, but another file must be part of such a trace. Sets *format to NULL if
 * the folder is not a trace. Fails only if the folder cannot be read. */
TTR_MUST ttr_status find_folder_format(ttr *t, const char *path, const ttr_read_options *options,
                                       const struct format **format, ttr_error *error);

/* Opens a folder as a trace of this format. If `only` is not NULL, reads only the file with this
 * name. */
ttr_reader *open_folder(ttr *t, const char *path, const char *only, const struct format *format,
                        const ttr_read_options *options, ttr_error *error);

/* If the file at `path` is part of a trace that is a folder (the main file or another one), opens
 * that folder and sets *is_one to true. Otherwise sets *is_one to false and returns NULL. */
ttr_reader *open_folder_of_file(ttr *t, const char *path, const ttr_read_options *options,
                                bool *is_one, ttr_error *error);

/* Opens a folder that is in memory as a trace. Consumes the folder, also on failure. */
ttr_reader *open_memory_folder(ttr *t, struct folder *folder, const ttr_read_options *options,
                               ttr_error *error);

/* Fails with an error that explains why the format cannot read this file without its folder. */
ttr_status fail_without_folder(const struct format *format, const char *path, ttr_error *error);

/* --- unreadable.c: reader of an unreadable trace --- */

/* Returns a reader that takes the place of a trace that cannot be read. It has no events, and
 * reports `reason` as damage. */
ttr_reader *open_unreadable(ttr *t, const char *path, const ttr_error *reason, ttr_error *error);

/* --- open_directory.c: all traces below a directory --- */

/* Opens all traces below a directory, and merges them by time. If no trace can be read, fills
 * `error` and returns NULL. The callback open_file opens one file, as ttr_open does. */
typedef ttr_reader *(*open_file_function)(ttr *t, const char *path, const ttr_read_options *options,
                                          ttr_error *error);
ttr_reader *open_directory(ttr *t, const char *path, const ttr_read_options *options,
                           open_file_function open_file, ttr_error *error);

#endif
