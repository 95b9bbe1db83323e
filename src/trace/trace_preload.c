/* Calls of libc as events, without a change of the program: LD_PRELOAD=libtracetta-preload.so.
 *
 *   heap    instants malloc, calloc, realloc, free
 *   locks   zones of pthread_mutex_lock that had to wait, and of condition waits
 *   io      zones of read, write, poll
 *
 * The functions of this file replace those of libc and call them.  The allocator is called by the
 * names that glibc has for replacements, because dlsym itself may allocate.  A flag per thread
 * keeps calls that the recording makes from being recorded. */
#undef _FORTIFY_SOURCE /* its inline functions would collide with the functions of this file */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/trace.h>

#define PRELOAD_CATEGORIES(X)            \
    X(heap, "heap", "calls of malloc")   \
    X(locks, "locks", "waits for locks") \
    X(io, "io", "reads, writes, polls")
TTR_CATEGORIES_DECLARE(PRELOAD_CATEGORIES);
TTR_CATEGORIES_DEFINE(PRELOAD_CATEGORIES);

static __thread bool is_recording __attribute__((tls_model("initial-exec")));

/* Returns true if an event of a category is to be recorded; then end_event follows. */
static bool begin_event(const volatile uint8_t *enabled)
{
    if (*enabled < TTR_TRACE_INFORMATION || is_recording || ttr_trace_thread.depth ||
        ttr_trace_is_inside)
        return false;
    is_recording = true;
    return true;
}

/* Ends an event. `reason`: the errno of the call, which recording may have changed. */
static void end_event(int reason)
{
    is_recording = false;
    errno = reason;
}

#define ENABLED(category) (&ttr_trace_enabled[ttr_trace_category_##category])

/* --- Heap --- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);

TTR_TRACE_API_ void *malloc(size_t size)
{
    void *block = __libc_malloc(size);
    if (begin_event(ENABLED(heap))) {
        const int reason = errno;
        TTR_INSTANT(heap, "malloc", TTR_ARG("bytes", size), TTR_ARG("block", block));
        end_event(reason);
    }
    return block;
}

TTR_TRACE_API_ void *calloc(size_t n, size_t size)
{
    void *block = __libc_calloc(n, size);
    if (begin_event(ENABLED(heap))) {
        const int reason = errno;
        TTR_INSTANT(heap, "calloc", TTR_ARG("bytes", n * size), TTR_ARG("block", block));
        end_event(reason);
    }
    return block;
}

TTR_TRACE_API_ void *realloc(void *old, size_t size)
{
    const uintptr_t before = (uintptr_t)old;
    void *block = __libc_realloc(old, size);
    if (begin_event(ENABLED(heap))) {
        const int reason = errno;
        TTR_INSTANT(heap, "realloc", TTR_ARG("bytes", size), TTR_ARG("block", block),
                    TTR_ARG("old", (const void *)before));
        end_event(reason);
    }
    return block;
}

TTR_TRACE_API_ void free(void *block)
{
    if (block && begin_event(ENABLED(heap))) {
        const int reason = errno;
        TTR_INSTANT(heap, "free", TTR_ARG("block", block));
        end_event(reason);
    }
    __libc_free(block);
}

/* --- Functions that dlsym finds --- */

#define REAL(name) (__extension__(__typeof__(&name)) find_real(&real_##name, #name))

static void *real_pthread_mutex_lock, *real_pthread_cond_wait, *real_pthread_cond_timedwait,
    *real_read, *real_write, *real_poll;

static void *find_real(void **known, const char *name)
{
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return found;
}

/* --- Locks --- */

/* A mutex that is free is acquired without an event. */
TTR_TRACE_API_ int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (*ENABLED(locks) < TTR_TRACE_INFORMATION || is_recording || ttr_trace_thread.depth ||
        ttr_trace_is_inside)
        return REAL(pthread_mutex_lock)(mutex);
    const int tried = pthread_mutex_trylock(mutex);
    if (tried != EBUSY) /* EOWNERDEAD acquires a robust mutex, too */
        return tried;
    is_recording = true;
    int status;
    {
        TTR_ZONE(locks, "mutex wait", TTR_ARG("mutex", (const void *)mutex));
        status = REAL(pthread_mutex_lock)(mutex);
    }
    end_event(errno);
    return status;
}

TTR_TRACE_API_ int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!begin_event(ENABLED(locks)))
        return REAL(pthread_cond_wait)(condition, mutex);
    int status;
    {
        TTR_ZONE(locks, "condition wait", TTR_ARG("condition", (const void *)condition));
        end_event(errno);
        status = REAL(pthread_cond_wait)(condition, mutex);
    }
    return status;
}

TTR_TRACE_API_ int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                          const struct timespec *until)
{
    if (!begin_event(ENABLED(locks)))
        return REAL(pthread_cond_timedwait)(condition, mutex, until);
    int status;
    {
        TTR_ZONE(locks, "condition wait", TTR_ARG("condition", (const void *)condition));
        end_event(errno);
        status = REAL(pthread_cond_timedwait)(condition, mutex, until);
    }
    return status;
}

/* --- Input and output --- */

TTR_TRACE_API_ ssize_t read(int fd, void *bytes, size_t n)
{
    if (!begin_event(ENABLED(io)))
        return REAL(read)(fd, bytes, n);
    ssize_t got;
    int reason;
    {
        TTR_ZONE(io, "read", TTR_ARG("fd", fd), TTR_ARG("bytes", n));
        got = REAL(read)(fd, bytes, n);
        reason = errno;
    }
    end_event(reason);
    return got;
}

TTR_TRACE_API_ ssize_t write(int fd, const void *bytes, size_t n)
{
    if (!begin_event(ENABLED(io)))
        return REAL(write)(fd, bytes, n);
    ssize_t written;
    int reason;
    {
        TTR_ZONE(io, "write", TTR_ARG("fd", fd), TTR_ARG("bytes", n));
        written = REAL(write)(fd, bytes, n);
        reason = errno;
    }
    end_event(reason);
    return written;
}

TTR_TRACE_API_ int poll(struct pollfd *list, nfds_t n, int limit_ms)
{
    if (!begin_event(ENABLED(io)))
        return REAL(poll)(list, n, limit_ms);
    int ready;
    int reason;
    {
        TTR_ZONE(io, "poll", TTR_ARG("descriptors", (uint64_t)n), TTR_ARG("limit_ms", limit_ms));
        ready = REAL(poll)(list, n, limit_ms);
        reason = errno;
    }
    end_event(reason);
    return ready;
}
