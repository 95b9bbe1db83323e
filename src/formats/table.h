/* The list of formats. */
#ifndef TRACETTA_FORMATS_TABLE_H
#define TRACETTA_FORMATS_TABLE_H

#include "model/format.h"

/* The i-th format, NULL past the end. */
const struct format *format_at(size_t i);

#endif
