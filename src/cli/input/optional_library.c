/* Libraries that the command loads on first use. A library is searched in the folder of libtracetta
 * (build folder or libdir), then where the system searches. */
#include "cli/input/optional_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *file, *install; /* install: what to install, as part of a sentence */
} libraries[] = {
    [LIBRARY_SYMBOLS] = {"libtracetta-symbols.so.0",
                         "install the package libtracetta-symbols0, or build tracetta with "
                         "elfutils: libelf-dev and libdw-dev"},
    [LIBRARY_QUERY] = {"libtracetta-query.so.0", "install the package libtracetta-query0, or build "
                                                 "tracetta with SQLite: libsqlite3-dev"},
    [LIBRARY_VIEW] = {"libtracetta-view.so.0", "install the package libtracetta-view0, or build "
                                               "tracetta with SQLite: libsqlite3-dev"},
};

/* Finds a file in the folder of libtracetta and stores its path. Returns false if the file does not
 * exist. */
static bool find_library_next_to_program(const char *file, char path[PATH_MAX])
{
    Dl_info about;
    const void *function = dlsym(RTLD_DEFAULT, "ttr_new");
    const char *slash = function && dladdr(function, &about) ? strrchr(about.dli_fname, '/') : NULL;
    if (!slash)
        return false;
    int n =
        snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - about.dli_fname), about.dli_fname, file);
    return n > 0 && n < PATH_MAX && access(path, F_OK) == 0;
}

bool load_optional_library(enum optional_library library, const struct library_function *functions,
                           size_t n, char reason[LIBRARY_REASON])
{
    char path[PATH_MAX];
    const char *file = libraries[library].file;
    void *handle =
        dlopen(find_library_next_to_program(file, path) ? path : file, RTLD_NOW | RTLD_LOCAL);
    bool is_fine = handle != NULL;
    for (size_t i = 0; is_fine && i < n; i++) {
        void *found = dlsym(handle, functions[i].name);
        /* ISO C has no cast from an object pointer to a function pointer. */
        memcpy(functions[i].to, &found, sizeof found);
        is_fine = found != NULL;
    }
    if (is_fine)
        return true;
    const char *error = dlerror();
    (void)snprintf(reason, LIBRARY_REASON, "needs %s (%s): %s", file, libraries[library].install,
                   error ? error : "it cannot be loaded");
    return false;
}
