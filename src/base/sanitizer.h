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

/* Disables checks of memcmp and the like in this thread, because the library that is called next
 * passes them bytes that it has written itself. */
static inline void sanitizer_enter_library(void)
{
#ifdef TRACETTA_HAS_MSAN
    __msan_scoped_disable_interceptor_checks();
#endif
}

/* Enables these checks again. */
static inline void sanitizer_leave_library(void)
{
#ifdef TRACETTA_HAS_MSAN
    __msan_scoped_enable_interceptor_checks();
#endif
}

#endif
