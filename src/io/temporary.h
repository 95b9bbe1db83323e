/* Names for what is not whole yet: hidden, beside the target, so that a rename within one file
 * system puts it in place. */
#ifndef TRACETTA_IO_TEMPORARY_H
#define TRACETTA_IO_TEMPORARY_H

#include <stddef.h>

#define TEMPORARY_MORE \
    (sizeof "..XXXXXX")     /* bytes that a temporary name has more than its target, at most */
#define TEMPORARY_TRIES 100 /* names to try before giving up */

/* Writes ".NAME.XXXXXX" beside `target` into `to`, which has room for the target, its zero and
 * TEMPORARY_MORE; another one at every call. */
void temporary_name(char *to, size_t size, const char *target);

#endif
