/* Where traces of one output live.  A single one is the output folder itself.  Several have folders in it, called as their sources are
 * relative to each other; that is known only at the end, so all but the first are written under a number and then renamed. */
#include <stdio.h>

#include "formats/ctf/ctf_copy.h"

#include "base/number.h"
#include "base/status.h"

#define NAME_MOST 1024u

bool ctf_home_begin(struct ctf_home *home, struct ctf_writer *w, const struct alloc *alloc, ttr_text path)
{
    char digits[NUMBER_MAX];
    static const char prefix[] = ".trace-";
    size_t n = w->homes_n ? number_put_u64(digits, w->homes_n + 1) : 0;
    *home = (struct ctf_home){.folder_size = sizeof prefix + n + 1, .path_size = path.n + 1};
    home->folder = alloc_zero(alloc, home->folder_size, 1);
    home->path = alloc_zero(alloc, home->path_size, 1);
    if (!home->folder || !home->path || !alloc_reserve(alloc, (void **)&w->homes, &w->homes_capacity, w->homes_n + 1, sizeof *w->homes))
        return false;
    if (path.n)
        memcpy(home->path, path.p, path.n);
    if (n) {
        memcpy(home->folder, prefix, sizeof prefix - 1);
        memcpy(home->folder + sizeof prefix - 1, digits, n);
        home->folder[sizeof prefix - 1 + n] = '/';
    }
    w->homes[w->homes_n++] = home;
    return true;
}

void ctf_home_free(struct ctf_home *home, const struct alloc *alloc)
{
    alloc_free(alloc, home->folder, home->folder_size, 1);
    alloc_free(alloc, home->path, home->path_size, 1);
}

/* Bytes of the folders that all paths begin with. */
static size_t common_part(const struct ctf_writer *w)
{
    const char *first = w->homes[0]->path;
    size_t common = strlen(first);
    for (size_t i = 1; i < w->homes_n; i++) {
        size_t n = 0;
        while (n < common && first[n] == w->homes[i]->path[n])
            n++;
        bool is_whole = n == common && (w->homes[i]->path[n] == '/' || !w->homes[i]->path[n]) && (!first[n] || first[n] == '/');
        while (!is_whole && n > 0 && first[n - 1] != '/')
            n--;
        common = n;
    }
    return common;
}

/* Appends a name to a text of NAME_MOST bytes, with what no name of a folder may begin with replaced. */
static void put_name(char *to, const char *from)
{
    size_t n = 0;
    while (*from == '/')
        from++;
    for (; *from && n + 32 < NAME_MOST; from++) {
        bool is_first = n == 0 || to[n - 1] == '/';
        if (is_first && *from == '/')
            continue;
        to[n++] = is_first && *from == '.' ? '_' : *from;
    }
    while (n > 0 && to[n - 1] == '/')
        n--;
    to[n] = '\0';
}

static bool is_taken(char (*names)[NAME_MOST], size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(names[i]), own = strlen(name), shorter = length < own ? length : own;
        bool is_inside = memcmp(names[i], name, shorter) == 0 && (length == own || (length < own ? name[length] : names[i][own]) == '/');
        if (is_inside)
            return true;
    }
    return false;
}

/* Names the i-th home: none is another's, or inside of it. */
static void name_home(const struct ctf_writer *w, char (*names)[NAME_MOST], size_t i, size_t common)
{
    const char *path = w->homes[i]->path, *base = strrchr(path, '/');
    char *name = names[i];
    put_name(name, path + common);
    if (!*name)
        put_name(name, base ? base + 1 : path);
    if (!*name)
        memcpy(name, "trace", sizeof "trace");
    size_t n = strlen(name);
    for (uint64_t number = 2; is_taken(names, i, name); number++) {
        name[n] = '-';
        name[n + 1 + number_put_u64(name + n + 1, number)] = '\0';
    }
}

#define FIRST ".trace-1"

/* Moves the files of the trace that is the output folder itself into one like the others'. */
static ttr_status move_first(struct ttr_writer *out, ttr_error *error)
{
    const struct ctf_writer *w = out->own;
    char to[NAME_MOST];
    ttr_status status = TTR_OK;
    for (size_t i = 0; i < w->copies_n + w->streams_n + 2 && status == TTR_OK; i++) {
        const struct ctf_home *home = i < w->copies_n ? &w->copies[i]->trace->home
                                      : i < w->copies_n + w->streams_n ? &w->streams[i - w->copies_n]->trace->home : w->homes[0];
        const char *file = i < w->copies_n ? w->copies[i]->name : i < w->copies_n + w->streams_n ? w->streams[i - w->copies_n]->name
                           : i == w->copies_n + w->streams_n ? "index" : "metadata";
        if (home != w->homes[0] || !file)
            continue;
        (void)snprintf(to, sizeof to, FIRST "/%s", file);
        status = folder_move(out->folder, file, to, error);
    }
    return status;
}

ttr_status ctf_homes_settle(struct ttr_writer *out, ttr_error *error)
{
    struct ctf_writer *w = out->own;
    const struct alloc *alloc = &out->t->counted;
    if (w->homes_n < 2)
        return TTR_OK;
    char (*names)[NAME_MOST] = alloc_zero(alloc, w->homes_n, sizeof *names);
    if (!names)
        return fail_memory(error);
    size_t common = common_part(w);
    ttr_status status = TTR_OK;
    for (size_t i = 0; i < w->homes_n; i++)
        name_home(w, names, i, common);
    status = move_first(out, error);
    for (size_t i = 0; i < w->homes_n && status == TTR_OK; i++) {
        char *folder = w->homes[i]->folder;
        if (i)
            folder[strlen(folder) - 1] = '\0';
        status = folder_move(out->folder, i ? folder : FIRST, names[i], error);
    }
    alloc_free(alloc, names, w->homes_n, sizeof *names);
    return status;
}
