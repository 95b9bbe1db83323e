/* The list of formats, generated from formats.list by the build. */
#ifndef TRACETTA_FORMATS_TABLE_H
#define TRACETTA_FORMATS_TABLE_H

#include "model/format.h"

/* Returns format number `i` in the list of formats; NULL if there are fewer formats. */
const struct format *format_at(size_t i);

#endif
