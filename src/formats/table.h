/* The list of formats. */
#ifndef TRACETTA_FORMATS_TABLE_H
#define TRACETTA_FORMATS_TABLE_H

#include "model/format.h"

/* The i-th format, NULL past the end. */
const struct format *format_at(size_t i);

/* Opens all traces of a directory, merged by time; NULL with `error` when there is none or one cannot be read. */
ttr_reader *open_directory(ttr *t, const char *path, const ttr_read_options *options, ttr_error *error);

#endif
