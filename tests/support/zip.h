/* Reads the files of a zip archive, for tests that read corpora: stored and deflated files, no
 * encryption, below 4 GiB. A file's bytes are valid during the callback only. */
#ifndef TRACETTA_TESTS_SUPPORT_ZIP_H
#define TRACETTA_TESTS_SUPPORT_ZIP_H

#include <stdbool.h>
#include <stddef.h>

/* Called for each file; returns false to stop. */
typedef bool (*zip_see)(void *ctx, const char *name, const char *bytes, size_t n);

/* Calls `see` for all files of the archive at `path`. Returns their number, or -1 if it cannot be
 * read. */
int zip_each(const char *path, zip_see see, void *ctx);

#endif
