/* The files of a zip archive, for tests that read corpora: stored and deflated ones, no encryption,
 * below 4 GiB. The archive is in memory; a file's bytes are the callee's for the time of the call.
 */
#ifndef TRACETTA_TESTS_SUPPORT_ZIP_H
#define TRACETTA_TESTS_SUPPORT_ZIP_H

#include <stdbool.h>
#include <stddef.h>

/* Called for each file; false ends it. */
typedef bool (*zip_see)(void *ctx, const char *name, const char *bytes, size_t n);

/* Gives all files of the archive at `path`; how many there were, or -1 where it cannot be read. */
int zip_each(const char *path, zip_see see, void *ctx);

#endif
