/* Interface between the files that open traces: detection of formats, and traces that are folders.
 */
#ifndef TRACETTA_FORMATS_OPEN_H
#define TRACETTA_FORMATS_OPEN_H

#include "io/folder.h"
#include "model/format.h"

/* Levels listed below a trace's folder: one, for "index/". */
#define OPEN_FOLDER_DEPTH 1u

/* --- detect.c --- */

/* Returns the format with this name; NULL if there is none. */
const struct format *format_find(const char *name);

/* Returns the TTR_FORMAT_* that hold for a format. */
uint32_t format_abilities(const struct format *format);

/* Writes the names of all formats with an ability to `to`, for messages. */
void format_names(uint32_t ability, char *to, size_t size);

/* Finds a format by name that can read. Fails with TTR_E_MISUSE if there is none. */
TTR_MUST ttr_status find_reader(const char *name, const struct format **format, ttr_error *error);

/* Lets the formats bid for the first bytes of a source. A source reports a failure only once, so a
 * failure seen here is kept in `broken` (status TTR_OK = none), even if a format was found. */
TTR_MUST ttr_status detect_format(ttr *t, struct source *source, const char *path,
                                  const struct format **format, ttr_error *broken,
                                  ttr_error *error);

/* Sets *bid to the format's bid for the first bytes of a source. Fails only if they cannot be read.
 */
TTR_MUST ttr_status detect_bid(ttr *t, struct source *source, const char *path,
                               const struct format *format, unsigned *bid, ttr_error *error);

/* Returns the options for a reader of this format: the given ones, or a copy in `ctx` without
 * TTR_READ_DEFINITIONS if the trace will not be copied. */
const ttr_read_options *options_of(const struct format *format, const ttr_read_options *options,
                                   ttr_read_options *ctx);

/* --- open_folder.c --- */

/* Returns the format for which an option replaces the anchor file of its folders; NULL = no such
 * option. */
const struct format *format_anchored(const ttr_read_options *options);

/* Finds the format of a folder that is a trace. It is one if its anchor exists and bids, or
 * options->from names the format. With an option that replaces the anchor, a useless anchor is
 * enough if another file is part of such a trace. Sets *format to NULL if the folder is not a
 * trace. Fails only if it cannot be read. */
TTR_MUST ttr_status folder_format(ttr *t, const char *path, const ttr_read_options *options,
                                  const struct format **format, ttr_error *error);

/* Opens a folder as a trace of the format. `only`: read one of its files; NULL = all. */
ttr_reader *open_folder(ttr *t, const char *path, const char *only, const struct format *format,
                        const ttr_read_options *options, ttr_error *error);

/* Opens the folder of a regular file that is its anchor or one of its parts, and sets *is_one.
 * Otherwise clears *is_one and does nothing. */
ttr_reader *open_anchored(ttr *t, const char *path, const ttr_read_options *options, bool *is_one,
                          ttr_error *error);

/* Opens a folder in memory as a trace. Consumes the folder, on failure too. */
ttr_reader *open_folder_of(ttr *t, struct folder *folder, const ttr_read_options *options,
                           ttr_error *error);

/* Fails with the reason why a single file is not a complete trace of this format, although the
 * format bids for it. */
ttr_status refuse_alone(const struct format *format, const char *path, ttr_error *error);

/* --- unreadable.c --- */

/* Returns a reader without events that represents an unreadable trace; it reports `reason` as
 * damage. */
ttr_reader *open_unreadable(ttr *t, const char *path, const ttr_error *reason, ttr_error *error);

/* --- open_directory.c --- */

/* Opens all traces below a directory, merged by time. Returns NULL with `error` if none can be
 * read. open_file opens one file (ttr_open). */
typedef ttr_reader *(*open_file_function)(ttr *t, const char *path, const ttr_read_options *options,
                                          ttr_error *error);
ttr_reader *open_directory(ttr *t, const char *path, const ttr_read_options *options,
                           open_file_function open_file, ttr_error *error);

#endif
