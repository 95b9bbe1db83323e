/* Names for files and folders that are not complete yet. They are hidden and in the target's
 * folder, so that a rename within one file system completes them. */
#ifndef TRACETTA_IO_TEMPORARY_PATH_H
#define TRACETTA_IO_TEMPORARY_PATH_H

#include <stddef.h>

#define TEMPORARY_SUFFIX_MAX                                                          \
    (sizeof "..XXXXXX")         /* maximum number of bytes added to the target's path \
                                 */
#define TEMPORARY_TRIES_MAX 100 /* names to try before giving up */

/* Writes the path ".NAME.XXXXXX" in the folder of `target` to `to`, which has room for the target,
 * a zero and TEMPORARY_SUFFIX_MAX. Each call returns another name. */
void temporary_path(char *to, size_t size, const char *target);

#endif
