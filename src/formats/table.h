/* The list of formats, generated from formats.list by the build. */
#ifndef TRACETTA_FORMATS_TABLE_H
#define TRACETTA_FORMATS_TABLE_H

#include "model/format.h"

/* Returns the i-th format; NULL if i is out of range. */
const struct format *format_at(size_t i);

#endif
