/* Notes for MemorySanitizer, which does not see what libraries write that were compiled without it.
 * In all other builds they do nothing. */
#ifndef TRACETTA_BASE_SANITIZER_H
#define TRACETTA_BASE_SANITIZER_H

#include <stddef.h>

#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#define TRACETTA_HAS_MSAN 1
#include <sanitizer/msan_interface.h>
#endif
#endif

/* Declares that a library has written these bytes. */
static inline void sanitizer_mark_written(const void *bytes, size_t n)
{
#ifdef TRACETTA_HAS_MSAN
    __msan_unpoison(bytes, n);
#else
    (void)bytes;
    (void)n;
#endif
}

#endif
