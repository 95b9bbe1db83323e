/* What the files that open traces share: which format is it, and where are its parts. */
#ifndef TRACETTA_FORMATS_OPEN_H
#define TRACETTA_FORMATS_OPEN_H

#include "io/folder.h"
#include "model/format.h"

/* Levels of a trace's folder that are listed below it: "index/". */
#define OPEN_FOLDER_DEPTH 1u

/* --- detect.c --- */

/* The format of a name, or NULL. */
const struct format *format_find(const char *name);

/* Returns the TTR_FORMAT_* that hold for a format. */
uint32_t format_abilities(const struct format *format);

/* Names of all formats with an ability, for messages. */
void format_names(uint32_t ability, char *to, size_t size);

/* The format that can read, by name; TTR_E_MISUSE where there is none. */
TTR_MUST ttr_status find_reader(const char *name, const struct format **format, ttr_error *error);

/* Lets the formats bid for the first bytes of a source.  A source tells a failure once: what came
 * while looking is left in `broken` (status TTR_OK = none), also where a format was found. */
TTR_MUST ttr_status detect_format(ttr *t, struct source *source, const char *path,
                                  const struct format **format, ttr_error *broken,
                                  ttr_error *error);

/* What a format bids for the first bytes of a source; a failure to read is the status. */
TTR_MUST ttr_status detect_bid(ttr *t, struct source *source, const char *path,
                               const struct format *format, unsigned *bid, ttr_error *error);

/* The options by which traces of a format are read: those given, or `own` where they say less of
 * it. */
const ttr_read_options *options_of(const struct format *format, const ttr_read_options *options,
                                   ttr_read_options *own);

/* --- open_folder.c --- */

/* The format whose anchor an option stands in for; NULL = there is no such option. */
const struct format *format_anchored(const ttr_read_options *options);

/* The format whose trace a folder is: its anchor is there, and bids (or `from` names the format);
 * or it is there, bids for nothing, another file begins as a part of such a trace, and an option
 * stands in for it.  NULL in *format where it is none; a failure to look is the status. */
TTR_MUST ttr_status folder_format(ttr *t, const char *path, const ttr_read_options *options,
                                  const struct format **format, ttr_error *error);

/* Opens a folder as a trace of the format; `only` one of its files where that is not NULL. */
ttr_reader *open_folder(ttr *t, const char *path, const char *only, const struct format *format,
                        const ttr_read_options *options, ttr_error *error);

/* A regular file that is a folder's anchor, or one of its files: is_one is set and the folder
 * opened.  Else is_one is not set and all is left as it is. */
ttr_reader *open_anchored(ttr *t, const char *path, const ttr_read_options *options, bool *is_one,
                          ttr_error *error);

/* Opens a folder at hand (in memory) as the trace it is; taken over, also on failure. */
ttr_reader *open_folder_of(ttr *t, struct folder *folder, const ttr_read_options *options,
                           ttr_error *error);

/* Why one file alone is no trace of this format, though it bids for it. */
ttr_status refuse_alone(const struct format *format, const char *path, ttr_error *error);

/* --- unreadable.c --- */

/* What stands for a trace that cannot be read, without events, with the reason as damage. */
ttr_reader *open_unreadable(ttr *t, const char *path, const ttr_error *reason, ttr_error *error);

/* --- open_directory.c --- */

/* Opens all traces below a directory, merged by time.  Returns NULL with `error` if none can be
 * read.  open_file opens one file (ttr_open). */
typedef ttr_reader *(*open_file_function)(ttr *t, const char *path, const ttr_read_options *options,
                                          ttr_error *error);
ttr_reader *open_directory(ttr *t, const char *path, const ttr_read_options *options,
                           open_file_function open_file, ttr_error *error);

#endif
