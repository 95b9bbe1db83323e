/* Asking debuginfod servers; see the header and debuginfod_find_debuginfo(3). */
#include "cli/input/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/ui/messages.h"

#define LIBRARY "libdebuginfod.so.1"
#define SILENCE_S 20 /* of all servers, unless DEBUGINFOD_TIMEOUT says otherwise */
#define ID_MAX 64u

typedef int (*find_function)(void *client, const unsigned char *build_id, int n, char **path);
typedef int (*watch_function)(void *client, long done, long all);

struct debuginfod {
    const struct call *call;
    void *library, *client;
    find_function find_debuginfo, find_executable;
    uint64_t limit_ns, heard_ns;
    long done;      /* of the file that comes */
    bool is_silent; /* nobody answers, which was told */
};

/* What a function of the library has for its name; ISO C has no other way from an object to a
 * function. */
#define FIND(to, library, name) (*(void **)(void *)&(to) = dlsym(library, name))

static struct debuginfod *owner_of(void *client)
{
    void *(*own)(void *);
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD), *owner = NULL;
    if (library && FIND(own, library, "debuginfod_get_user_data"))
        owner = own(client);
    if (library)
        (void)dlclose(library);
    return owner;
}

/* Called by the library about each second while it waits: not 0 to give up. */
static int watch(void *client, long done, long all)
{
    struct debuginfod *servers = owner_of(client);
    (void)all;
    if (!servers)
        return interrupt_came();
    if (done != servers->done)
        servers->heard_ns = progress_now();
    servers->done = done;
    return interrupt_came() || progress_now() - servers->heard_ns > servers->limit_ns;
}

static uint64_t silence_ns(void)
{
    const char *text = getenv("DEBUGINFOD_TIMEOUT");
    long seconds = text ? strtol(text, NULL, 10) : 0;
    return (uint64_t)(seconds > 0 ? seconds : SILENCE_S) * UINT64_C(1000000000);
}

static bool begin(struct debuginfod *servers)
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
    set_watch(servers->client, watch);
    return true;
}

struct debuginfod *debuginfod_new(const struct call *call, const char *urls)
{
    const char *known = getenv("DEBUGINFOD_URLS");
    if (!urls[0] && (!known || !known[0])) {
        (void)talk_misuse(NULL, "--debuginfod needs a server: --debuginfod=URL, or "
                                "DEBUGINFOD_URLS in the environment");
        return NULL;
    }
    struct debuginfod *servers = calloc(1, sizeof *servers);
    if (!servers || (urls[0] && setenv("DEBUGINFOD_URLS", urls, 1) != 0)) {
        talk_failure("--debuginfod", "no memory");
        free(servers);
        return NULL;
    }
    servers->call = call;
    servers->limit_ns = silence_ns();
    servers->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (servers->library && begin(servers))
        return servers;
    const char *reason = servers->library ? "it is too old" : dlerror();
    talk_failure("--debuginfod",
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

/* That nobody has it is no failure; whatever else is, will be one for all the other files too. */
static void tell_failure(struct debuginfod *servers, int failure)
{
    bool is_too_long = progress_now() - servers->heard_ns > servers->limit_ns;
    if (failure == -ENOENT || servers->is_silent)
        return;
    servers->is_silent = true;
    if (interrupt_came())
        return;
    talk_note(servers->call,
              "warning: debug information cannot be fetched from %s: %s; nobody is asked any more",
              getenv("DEBUGINFOD_URLS"), is_too_long ? "no answer" : strerror(-failure));
}

char *debuginfod_fetch(struct debuginfod *servers, ttr_text build_id, bool is_program)
{
    char *path = NULL;
    if (servers->is_silent || build_id.n == 0 || build_id.n > ID_MAX)
        return NULL;
    servers->heard_ns = progress_now();
    servers->done = 0;
    find_function find = is_program ? servers->find_executable : servers->find_debuginfo;
    int fd = find(servers->client, (const unsigned char *)build_id.p, (int)build_id.n, &path);
    if (fd >= 0) {
        (void)close(fd);
        return path;
    }
    tell_failure(servers, fd);
    free(path);
    return NULL;
}
