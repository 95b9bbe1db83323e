/* What is at an address: finding the files.
 *
 * A binary is looked for at its path.  One with another build id is not it.  Debug information is
 * looked for in the binary itself, by its build id below the folder of debug information, and by
 * its debug link: beside it, in .debug there, and below that folder.  The two last are tried even
 * where the binary is missing, since they prove what they are; babeltrace2 (is_exact) does not, and
 * tells nothing at all of a binary whose build id it could not check.  Where the user asked for
 * that, servers are asked by build id for what is still missing. */
#include "cli/input/symbols.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/input/debuginfod.h"
#include "cli/input/symbol_file.h"
#include "cli/ui/messages.h"

#define DEBUG_FOLDER "/usr/lib/debug"
#define TEXTS 3
#define TOLD_MAX 4096u

/* A binary of the trace, by its number. */
struct binary {
    char *path;                /* here */
    struct symbol_file *file;  /* NULL = missing, or not the one */
    struct symbol_file *debug; /* has its DWARF, or at least its symbols; NULL = none */
    enum symbols_trouble trouble;
    bool is_looked_for;
};

struct symbols {
    struct symbols_options options;
    struct symbol_rules rules;
    struct binary *binary;
    size_t binaries_n;
    struct symbol_file **shared; /* files, of which binaries may have the same */
    size_t shared_n, shared_room;
    char *text[TEXTS]; /* of the answer */
    char *first[SYMBOLS_TROUBLES];
    char **told; /* paths that had a trouble, in order */
    size_t told_n, told_room, count[SYMBOLS_TROUBLES];
};

struct symbols *symbols_new(const struct symbols_options *options)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);
    if (!symbols)
        return NULL;
    symbols->options = *options;
    symbols->rules =
        (struct symbol_rules){.is_exact = options->is_exact, .no_mmap = options->no_mmap};
    return symbols;
}

void symbols_free(struct symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->binaries_n; i++)
        free(symbols->binary[i].path);
    for (size_t i = 0; i < symbols->shared_n; i++)
        symbol_file_close(symbols->shared[i]);
    for (size_t i = 0; i < symbols->told_n; i++)
        free(symbols->told[i]);
    for (size_t i = 0; i < TEXTS; i++)
        free(symbols->text[i]);
    for (size_t i = 0; i < SYMBOLS_TROUBLES; i++)
        free(symbols->first[i]);
    free(symbols->binary);
    free(symbols->shared);
    free(symbols->told);
    free(symbols);
}

/* --- Paths --- */

/* Folder and name with one slash between them; NULL when memory is out. */
static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    size_t n = strlen(folder);
    while (n > 0 && folder[n - 1] == '/')
        n--;
    name += strspn(name, "/");
    return asprintf(&path, "%.*s/%s", (int)n, folder, name) < 0 ? NULL : path;
}

/* The last part of a path; all of one that ends with a slash. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The folder of a path; NULL when memory is out. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* --- Files --- */

/* Opens a file, or gives it once more. */
static struct symbol_file *open_file(struct symbols *symbols, const char *path, bool *is_damaged)
{
    *is_damaged = false;
    for (size_t i = 0; path && i < symbols->shared_n; i++)
        if (strcmp(symbol_file_path(symbols->shared[i]), path) == 0)
            return symbols->shared[i];
    struct symbol_file *file = path ? symbol_file_open(path, &symbols->rules, is_damaged) : NULL;
    if (!file)
        return NULL;
    if (symbols->shared_n == symbols->shared_room) {
        size_t room = symbols->shared_room ? symbols->shared_room * 2 : 16;
        struct symbol_file **shared =
            reallocarray(symbols->shared, room, sizeof(struct symbol_file *));
        if (!shared) {
            symbol_file_close(file);
            return NULL;
        }
        symbols->shared = shared;
        symbols->shared_room = room;
    }
    symbols->shared[symbols->shared_n++] = file;
    return file;
}

/* Opens a file that may hold debug information; NULL unless it does. */
static struct symbol_file *open_debug(struct symbols *symbols, const char *path)
{
    bool is_damaged;
    struct symbol_file *file = open_file(symbols, path, &is_damaged);
    return file && symbol_file_dwarf(file) ? file : NULL;
}

static bool has_crc(const char *path, uint32_t wanted)
{
    static const size_t size = 65536;
    struct stat about;
    uLong crc = crc32(0, NULL, 0);
    ssize_t n = -1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_file = file >= 0 && fstat(file, &about) == 0 &&
                   S_ISREG(about.st_mode); /* the trace may name what never ends */
    unsigned char *bytes = is_file ? malloc(size) : NULL;
    while (bytes && (n = read(file, bytes, size)) > 0)
        crc = crc32(crc, bytes, (uInt)n);
    free(bytes);
    if (file >= 0)
        (void)close(file);
    return n == 0 && crc == wanted;
}

/* The file DEBUG/.build-id/ab/cdef.debug. */
static struct symbol_file *find_by_build_id(struct symbols *symbols, const ttr_binary *binary)
{
    const unsigned char *id = (const unsigned char *)binary->build_id.p;
    const char *folder = symbols->options.folder ? symbols->options.folder : DEBUG_FOLDER;
    char name[2 * 64 + 32];
    size_t n = 0;
    if (binary->build_id.n == 0 || binary->build_id.n > 64)
        return NULL;
    n += (size_t)snprintf(name, sizeof name, ".build-id/%02x/", id[0]);
    for (size_t i = 1; i < binary->build_id.n; i++)
        n += (size_t)snprintf(name + n, sizeof name - n, "%02x", id[i]);
    (void)snprintf(name + n, sizeof name - n, ".debug");
    char *path = join(folder, name);
    struct symbol_file *file = open_debug(symbols, path);
    free(path);
    return file;
}

static struct symbol_file *find_linked(struct symbols *symbols, const char *folder,
                                       const ttr_binary *binary)
{
    char *path = folder ? join(folder, binary->debug_link.p) : NULL;
    struct symbol_file *file =
        path && has_crc(path, binary->debug_link_crc) ? open_debug(symbols, path) : NULL;
    free(path);
    return file;
}

/* The file of the debug link: beside the binary, in .debug there, or below the folder of debug
 * information. */
static struct symbol_file *find_by_link(struct symbols *symbols, const ttr_binary *binary,
                                        const char *path)
{
    if (binary->debug_link.n == 0 || strlen(binary->debug_link.p) != binary->debug_link.n)
        return NULL;
    const char *all = symbols->options.folder ? symbols->options.folder : DEBUG_FOLDER;
    char *beside = folder_of(path), *traced = folder_of(binary->path.p);
    char *below = beside ? join(beside, ".debug") : NULL,
         *mirror = beside ? join(all, beside) : NULL, *own = traced ? join(all, traced) : NULL;
    const char *const folders[] = {beside, below, mirror, own};
    struct symbol_file *file = NULL;
    for (size_t i = 0; !file && i < sizeof folders / sizeof *folders; i++)
        file = find_linked(symbols, folders[i], binary);
    free(beside);
    free(traced);
    free(below);
    free(mirror);
    free(own);
    return file;
}

/* --- Binaries --- */

/* Counts a trouble, but (of the first TOLD_MAX) not twice for one path. */
static void count_trouble(struct symbols *symbols, enum symbols_trouble trouble, const char *path)
{
    size_t low = 0, high = symbols->told_n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(symbols->told[middle], path);
        if (order == 0)
            return;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (symbols->count[trouble]++ == 0)
        symbols->first[trouble] = strdup(path);
    if (symbols->told_n == TOLD_MAX)
        return;
    if (symbols->told_n == symbols->told_room) {
        size_t room = symbols->told_room ? symbols->told_room * 2 : 16;
        char **told = reallocarray(symbols->told, room, sizeof *told);
        if (!told)
            return;
        symbols->told = told;
        symbols->told_room = room;
    }
    char *copy = strdup(path);
    if (!copy)
        return;
    memmove(symbols->told + low + 1, symbols->told + low,
            (symbols->told_n++ - low) * sizeof *symbols->told);
    symbols->told[low] = copy;
}

/* Whether the file has the build id that the trace tells of. */
static bool is_the_one(const struct symbol_file *file, const ttr_binary *binary)
{
    const void *id;
    size_t n = symbol_file_build_id(file, &id);
    return binary->build_id.n == 0 ||
           (n == binary->build_id.n && memcmp(id, binary->build_id.p, n) == 0);
}

/* What the file says of itself, where the trace does not. */
static void complete(const struct symbol_file *file, ttr_binary *binary)
{
    const void *id;
    size_t id_n = symbol_file_build_id(file, &id);
    uint32_t crc;
    const char *link = symbol_file_link(file, &crc);
    if (binary->build_id.n == 0 && id_n > 0)
        binary->build_id = (ttr_text){id, id_n};
    if (binary->debug_link.n == 0 && link) {
        binary->debug_link = (ttr_text){link, strlen(link)};
        binary->debug_link_crc = crc;
    }
}

/* A file from a server, which must be what was asked for. */
static struct symbol_file *fetch(struct symbols *symbols, ttr_text build_id, bool is_program)
{
    bool is_damaged;
    char *path = symbols->options.servers
                     ? debuginfod_fetch(symbols->options.servers, build_id, is_program)
                     : NULL;
    struct symbol_file *file = open_file(symbols, path, &is_damaged);
    free(path);
    if (file && !is_the_one(file, &(ttr_binary){.build_id = build_id}))
        file = NULL;
    return file;
}

/* Looks for debug information in a file of its own. */
static struct symbol_file *find_debug(struct symbols *symbols, const struct binary *found,
                                      const ttr_binary *told)
{
    ttr_binary binary = *told;
    bool is_exact = symbols->options.is_exact;
    if (found->file && !is_exact)
        complete(found->file, &binary);
    else if (!found->file && is_exact && told->build_id.n)
        return NULL;
    struct symbol_file *file = find_by_build_id(symbols, &binary);
    if (!file)
        file = find_by_link(symbols, &binary, found->path);
    return file ? file : fetch(symbols, binary.build_id, false);
}

static void look_for(struct symbols *symbols, struct binary *found, const ttr_binary *binary)
{
    bool is_damaged = false;
    found->is_looked_for = true;
    found->path = symbols->options.prefix ? join(symbols->options.prefix, binary->path.p)
                                          : strdup(binary->path.p);
    if (!found->path)
        return;
    found->file = open_file(symbols, found->path, &is_damaged);
    if (!found->file)
        found->trouble = is_damaged ? SYMBOLS_DAMAGED : SYMBOLS_MISSING;
    else if (!is_the_one(found->file, binary))
        found->trouble = SYMBOLS_OTHER;
    if (found->trouble != SYMBOLS_FINE)
        found->file = NULL;
    if (!found->file && binary->has_offsets) /* only the program knows where its parts lie */
        found->file = fetch(symbols, binary->build_id, true);
    if (found->file && symbol_file_dwarf(found->file))
        found->debug = found->file;
    if (!found->debug)
        found->debug = find_debug(symbols, found, binary);
    if (!found->file && !found->debug)
        found->file = fetch(symbols, binary->build_id, true);
    if (found->trouble != SYMBOLS_FINE && !found->debug && !found->file)
        count_trouble(symbols, found->trouble, found->path);
}

static struct binary *find_binary(struct symbols *symbols, const ttr_binary *binary)
{
    size_t before = symbols->binaries_n;
    if (binary->number >= before) {
        size_t n = (size_t)binary->number * 2 + 16;
        struct binary *grown = reallocarray(symbols->binary, n, sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + before, 0, (n - before) * sizeof *grown);
        symbols->binary = grown;
        symbols->binaries_n = n;
    }
    struct binary *found = &symbols->binary[binary->number];
    if (!found->is_looked_for)
        look_for(symbols, found, binary);
    return found;
}

/* --- Answers --- */

static void find_symbols(const struct symbols *symbols, const struct binary *binary,
                         uint64_t address, struct dwarf_found *found)
{
    *found = (struct dwarf_found){NULL, 0, NULL, 0};
    bool may_ask_elf = !binary->debug || !symbols->options.is_exact;
    if (binary->debug && symbol_file_dwarf(binary->debug))
        dwarf_index_find(symbol_file_dwarf(binary->debug), address, found);
    if (!found->function && may_ask_elf && binary->debug) /* what was stripped from the binary */
        found->function = symbol_file_function(binary->debug, address, &found->function_low);
    if (!found->function && may_ask_elf && binary->file)
        found->function = symbol_file_function(binary->file, address, &found->function_low);
}

/* Keeps a text for the answer. */
static void answer(struct symbols *symbols, size_t i, int length, ttr_text *to)
{
    if (length < 0)
        symbols->text[i] = NULL;
    *to =
        (ttr_text){symbols->text[i] ? symbols->text[i] : "", symbols->text[i] ? (size_t)length : 0};
}

void symbols_locate(void *own, const ttr_binary *told, uint64_t address, ttr_place *place)
{
    struct symbols *symbols = own;
    const struct binary *binary = find_binary(symbols, told);
    bool is_whole = symbols->options.has_full_paths;
    struct dwarf_found found;
    for (size_t i = 0; i < TEXTS; i++) {
        free(symbols->text[i]);
        symbols->text[i] = NULL;
    }
    if (!binary || !binary->path ||
        (symbols->options.is_exact && told->build_id.n && !binary->file))
        return;
    if (told->has_offsets && binary->file)
        address = symbol_file_address(binary->file, address);
    const char *name = is_whole ? binary->path : last_part(binary->path);
    answer(symbols, 0,
           asprintf(&symbols->text[0], "%s%c%#" PRIx64, name, told->is_pic ? '+' : '@', address),
           &place->binary);
    find_symbols(symbols, binary, address, &found);
    if (found.function)
        answer(symbols, 1,
               asprintf(&symbols->text[1], "%s+%#" PRIx64, found.function,
                        address - found.function_low),
               &place->function);
    if (found.source)
        answer(symbols, 2,
               asprintf(&symbols->text[2], "%s:%" PRIu64,
                        is_whole ? found.source : last_part(found.source), found.line),
               &place->source);
}

/* --- Troubles --- */

size_t symbols_count(const struct symbols *symbols, enum symbols_trouble trouble,
                     const char **first)
{
    *first = symbols->first[trouble] ? symbols->first[trouble] : "";
    return symbols->count[trouble];
}

void symbols_tell(const struct symbols *symbols)
{
    static const char *const texts[SYMBOLS_TROUBLES] = {
        [SYMBOLS_MISSING] = "not here, so that functions and lines in them are unknown: "
                            "--debug-info-target-prefix says below which folder they are",
        [SYMBOLS_OTHER] = "not those that were traced (their build ids differ), so that functions "
                          "and lines in them are unknown",
        [SYMBOLS_DAMAGED] =
            "no programs or libraries, so that functions and lines in them are unknown",
    };
    for (unsigned i = SYMBOLS_FINE + 1; i < SYMBOLS_TROUBLES; i++) {
        const char *first;
        size_t n = symbols_count(symbols, (enum symbols_trouble)i, &first);
        if (n)
            talk_note(symbols->options.call,
                      "warning: of the binaries in the trace %zu %s %s; the first is %s", n,
                      n == 1 ? "is" : "are", texts[i], first);
    }
}
