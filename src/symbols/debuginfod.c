/* Files from debuginfod servers; see the header and debuginfod_find_debuginfo(3). */
#include "symbols/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbols/error.h"

#define LIBRARY "libdebuginfod.so.1"
/* s; time limit without progress of any server; DEBUGINFOD_TIMEOUT overrides it */
#define SILENCE_S 20
#define ID_MAX 64u
/* limit of a file in bytes; DEBUGINFOD_MAXSIZE overrides it */
#define SIZE_MAX_BYTES (INT64_C(2) << 30)

typedef int (*find_function)(void *client, const unsigned char *build_id, int n, char **path);
typedef int (*watch_function)(void *client, long done, long all);

struct debuginfod {
    const ttr_symbols_options *options;
    void *library, *client;
    find_function find_debuginfo, find_executable;
    /* time limit without progress, and time of the last progress, in ns */
    uint64_t limit_ns, heard_ns;
    long done;              /* bytes of the current file received so far */
    int64_t size_max_bytes; /* limit of a file */
    bool is_too_large;      /* the current file exceeds it */
    bool has_failed;        /* a server failed: no further requests are sent */
};

/* Assigns the address of a function. ISO C has no other conversion from dlsym's object pointer to a
 * function pointer. */
#define FIND(to, library, name) (*(void **)(void *)&(to) = dlsym(library, name))

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static bool is_cancelled(const struct debuginfod *servers)
{
    const ttr_symbols_options *options = servers->options;
    return options->progress && !options->progress(options->user_data);
}

/* Returns the user data of a client handle. libdebuginfod passes only the handle to progress
 * callbacks. */
static struct debuginfod *get_client_user_data(void *client)
{
    void *(*ctx)(void *);
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD), *owner = NULL;
    if (library && FIND(ctx, library, "debuginfod_get_user_data"))
        owner = ctx(client);
    if (library)
        (void)dlclose(library);
    return owner;
}

/* Progress callback of the library, called about once per second. A result other than 0 cancels the
 * request. */
static int report_progress(void *client, long done, long all)
{
    struct debuginfod *servers = get_client_user_data(client);
    if (!servers)
        return 0;
    if (done != servers->done)
        servers->heard_ns = now_ns();
    servers->done = done;
    servers->is_too_large |= done > servers->size_max_bytes || all > servers->size_max_bytes;
    return servers->is_too_large || is_cancelled(servers) ||
           now_ns() - servers->heard_ns > servers->limit_ns;
}

static int64_t get_file_size_max(void)
{
    const char *text = getenv("DEBUGINFOD_MAXSIZE");
    const long long bytes = text ? strtoll(text, NULL, 10) : 0;
    return bytes > 0 ? bytes : SIZE_MAX_BYTES;
}

static uint64_t get_timeout_ns(void)
{
    const char *text = getenv("DEBUGINFOD_TIMEOUT");
    long seconds = text ? strtol(text, NULL, 10) : 0;
    return (uint64_t)(seconds > 0 ? seconds : SILENCE_S) * UINT64_C(1000000000);
}

static bool start_client(struct debuginfod *servers)
{
    void *(*begin_client)(void);
    void (*set_own)(void *, void *), (*set_watch)(void *, watch_function);
    if (!FIND(begin_client, servers->library, "debuginfod_begin") ||
        !FIND(servers->find_debuginfo, servers->library, "debuginfod_find_debuginfo") ||
        !FIND(servers->find_executable, servers->library, "debuginfod_find_executable") ||
        !FIND(set_own, servers->library, "debuginfod_set_user_data") ||
        !FIND(set_watch, servers->library, "debuginfod_set_progressfn"))
        return false;
    servers->client = begin_client();
    if (!servers->client)
        return false;
    set_own(servers->client, servers);
    set_watch(servers->client, report_progress);
    return true;
}

struct debuginfod *debuginfod_new(const ttr_symbols_options *options, ttr_error *error)
{
    const char *urls = options->servers, *known = getenv("DEBUGINFOD_URLS");
    if (!urls[0] && (!known || !known[0])) {
        symbols_fail(
            error, TTR_E_MISUSE,
            "no servers to ask: ttr_symbols_options.servers and DEBUGINFOD_URLS are empty");
        return NULL;
    }
    struct debuginfod *servers = calloc(1, sizeof *servers);
    if (!servers || (urls[0] && setenv("DEBUGINFOD_URLS", urls, 1) != 0)) {
        symbols_fail(error, TTR_E_NOMEM, "out of memory");
        free(servers);
        return NULL;
    }
    servers->options = options;
    servers->limit_ns = get_timeout_ns();
    servers->size_max_bytes = get_file_size_max();
    servers->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (servers->library && start_client(servers))
        return servers;
    const char *reason = servers->library ? "it is too old" : dlerror();
    symbols_fail(error, TTR_E_UNSUPPORTED,
                 "needs " LIBRARY
                 " of elfutils (package libdebuginfod1, or elfutils-debuginfod-client): %s",
                 reason ? reason : "it cannot be loaded");
    debuginfod_free(servers);
    return NULL;
}

void debuginfod_free(struct debuginfod *servers)
{
    void (*end)(void *);
    if (!servers)
        return;
    if (servers->client && FIND(end, servers->library, "debuginfod_end"))
        end(servers->client);
    if (servers->library)
        (void)dlclose(servers->library);
    free(servers);
}

static void report_large_file(const struct debuginfod *servers)
{
    const ttr_symbols_options *options = servers->options;
    char *text = NULL;
    if (options->warn &&
        asprintf(&text,
                 "debug information from %s exceeds %lld bytes and is not used: "
                 "DEBUGINFOD_MAXSIZE raises the limit",
                 getenv("DEBUGINFOD_URLS"), (long long)servers->size_max_bytes) >= 0)
        options->warn(options->user_data, text);
    free(text);
}

/* Reports a failure of the servers, once. A file that no server has is not a failure. */
static void report_failure(struct debuginfod *servers, int failure)
{
    const ttr_symbols_options *options = servers->options;
    bool is_too_long = now_ns() - servers->heard_ns > servers->limit_ns;
    char *text = NULL;
    if (failure == -ENOENT || servers->has_failed)
        return;
    servers->has_failed = true;
    if (is_cancelled(servers) || !options->warn ||
        asprintf(&text,
                 "debug information cannot be fetched from %s: %s; no further requests are sent",
                 getenv("DEBUGINFOD_URLS"), is_too_long ? "no answer" : strerror(-failure)) < 0)
        return;
    options->warn(options->user_data, text);
    free(text);
}

char *debuginfod_fetch(struct debuginfod *servers, ttr_text build_id, bool is_program)
{
    char *path = NULL;
    if (servers->has_failed || build_id.n == 0 || build_id.n > ID_MAX)
        return NULL;
    servers->heard_ns = now_ns();
    servers->done = 0;
    servers->is_too_large = false;
    find_function find = is_program ? servers->find_executable : servers->find_debuginfo;
    int fd = find(servers->client, (const unsigned char *)build_id.p, (int)build_id.n, &path);
    struct stat about; /* an answer may be complete before report_progress is called */
    if (fd >= 0)
        servers->is_too_large = fstat(fd, &about) != 0 || about.st_size > servers->size_max_bytes;
    if (fd >= 0)
        (void)close(fd);
    if (fd >= 0 && !servers->is_too_large)
        return path;
    if (servers->is_too_large || fd == -EFBIG)
        report_large_file(servers);
    else
        report_failure(servers, fd);
    free(path);
    return NULL;
}
