/* Footprints: what the system says of files, by which it is known later whether any of them was
 * written to. */
#ifndef TRACETTA_CLI_INPUT_FILE_STAMP_H
#define TRACETTA_CLI_INPUT_FILE_STAMP_H

#include <stdbool.h>
#include <stddef.h>

struct footprint; /* of files and folders, with all that is below */

/* NULL when memory is out. */
struct footprint *footprint_take(char *const *path, size_t n);

/* Whether none of the files was written to or replaced since; `with_folders`: and none came or
 * went. */
bool footprint_is_same(const struct footprint *print, bool with_folders);

void footprint_free(struct footprint *print);

#endif
