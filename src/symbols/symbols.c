/* Functions and lines at addresses: finds the files that contain them.
 *
 * Files are searched for a binary in this order:
 *   1. the file at the binary's path, below the prefix, unless its build id differs
 *   2. debug information in that file itself
 *   3. debug information by build id, below the folder of debug information
 *   4. debug information by debug link: next to the binary, in .debug there, and below the folder
 *   5. debuginfod servers, by build id, for data that is still missing
 *
 * Steps 3 and 4 are also tried if the binary is missing: build id and CRC-32 prove that it is the
 * right file. babeltrace2 (is_exact) does not do that, and finds nothing for a binary if it could
 * not check its build id.
 *
 * Several binaries can share a file. Each binary is searched for once. */
#include <tracetta/debug_info.h>
#include <tracetta/symbols.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/regular_file.h"
#include "symbols/debuginfod.h"
#include "symbols/demangle.h"
#include "symbols/error.h"
#include "symbols/symbol_file.h"
#include "symbols/symbol_list.h"

#define DEBUG_FOLDER "/usr/lib/debug"
#define TEXTS 3
#define REPORTED_MAX 4096u
#define PROBLEMS 4u /* number of TTR_SYMBOLS_... problems, plus one for 0 = none */
#define FLAGS_ALL                                                                  \
    (TTR_SYMBOLS_FULL_PATHS | TTR_SYMBOLS_LIKE_BABELTRACE2 | TTR_SYMBOLS_NO_MMAP | \
     TTR_SYMBOLS_LISTS)

/* A binary of the trace and the files found for it. */
struct binary {
    char *path;               /* path of the binary below the prefix */
    struct symbol_file *file; /* the file of the binary itself; NULL = missing, or its build id
                               * differs */
    /* file with DWARF data, or else with symbols, of the binary; NULL = none */
    struct symbol_file *debug;
    unsigned problem; /* enum ttr_symbols_problem; 0 = none */
    bool is_searched;
};

struct ttr_symbols {
    ttr_symbols_options options;
    struct symbol_rules rules;
    struct symbol_lists *lists; /* lists of the kernel and of JIT compilers; NULL = not requested */
    struct debuginfod *servers; /* debuginfod servers; NULL = none */
    struct binary *binary;
    size_t binaries_n;
    struct symbol_file **shared; /* all open files; several binaries may share one */
    size_t shared_n, shared_room;
    char *text[TEXTS];     /* texts of the last result */
    char *first[PROBLEMS]; /* path of the first binary with each problem */
    char **reported;       /* sorted paths of the binaries that had a problem */
    size_t reported_n, reported_room, count[PROBLEMS];
};

/* --- Paths --- */

/* Returns folder and name joined by one slash. Returns NULL if memory runs out. */
static char *join_path(const char *folder, const char *name)
{
    char *path = NULL;
    size_t n = strlen(folder);
    while (n > 0 && folder[n - 1] == '/')
        n--;
    name += strspn(name, "/");
    return asprintf(&path, "%.*s/%s", (int)n, folder, name) < 0 ? NULL : path;
}

/* Returns the last component of a path, or the complete path if it ends with a slash. */
static const char *get_path_last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Returns the folder of a path. Returns NULL if memory runs out. */
static char *get_path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* --- Files --- */

/* Opens a file, or returns the open one with the same path. */
static struct symbol_file *open_symbol_file(ttr_symbols *symbols, const char *path,
                                            bool *is_damaged)
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

/* Opens a file with debug information. Returns NULL if it has none. */
static struct symbol_file *open_debug_file(ttr_symbols *symbols, const char *path)
{
    bool is_damaged;
    struct symbol_file *file = open_symbol_file(symbols, path, &is_damaged);
    return file && symbol_file_dwarf(file) ? file : NULL;
}

/* Returns true if a regular file has a checksum. Returns false also if it is cancelled. */
static bool file_has_crc(const struct symbol_rules *rules, const char *path, uint32_t wanted)
{
    static const size_t size = 65536;
    struct stat about;
    uLong crc = crc32(0, NULL, 0);
    ssize_t n = -1;
    int file = regular_file_open(path, &about);
    unsigned char *bytes = file >= 0 ? malloc(size) : NULL;
    while (bytes && !symbol_rules_is_cancelled(rules) && (n = read(file, bytes, size)) > 0)
        crc = crc32(crc, bytes, (uInt)n);
    free(bytes);
    if (file >= 0)
        (void)close(file);
    return n == 0 && crc == wanted;
}

/* Opens the debug information with a binary's build id: DEBUG/.build-id/ab/cdef.debug. Returns NULL
 * if there is none. */
static struct symbol_file *find_debug_file_by_build_id(ttr_symbols *symbols,
                                                       const ttr_binary *binary)
{
    const unsigned char *id = (const unsigned char *)binary->build_id.p;
    const char *folder =
        symbols->options.debug_folder ? symbols->options.debug_folder : DEBUG_FOLDER;
    char name[2 * 64 + 32];
    size_t n = 0;
    if (binary->build_id.n == 0 || binary->build_id.n > 64)
        return NULL;
    n += (size_t)snprintf(name, sizeof name, ".build-id/%02x/", id[0]);
    for (size_t i = 1; i < binary->build_id.n; i++)
        n += (size_t)snprintf(name + n, sizeof name - n, "%02x", id[i]);
    (void)snprintf(name + n, sizeof name - n, ".debug");
    char *path = join_path(folder, name);
    struct symbol_file *file = open_debug_file(symbols, path);
    free(path);
    return file;
}

static struct symbol_file *find_linked_debug_file(ttr_symbols *symbols, const char *folder,
                                                  const ttr_binary *binary)
{
    char *path = folder ? join_path(folder, binary->debug_link.p) : NULL;
    struct symbol_file *file = path && file_has_crc(&symbols->rules, path, binary->debug_link_crc)
                                   ? open_debug_file(symbols, path)
                                   : NULL;
    free(path);
    return file;
}

/* Finds the file that the debug link names: next to the binary, in .debug there, or below the
 * folder of debug information. */
static struct symbol_file *find_debug_file_by_link(ttr_symbols *symbols, const ttr_binary *binary,
                                                   const char *path)
{
    if (binary->debug_link.n == 0 || strlen(binary->debug_link.p) != binary->debug_link.n)
        return NULL;
    const char *all = symbols->options.debug_folder ? symbols->options.debug_folder : DEBUG_FOLDER;
    char *beside = get_path_folder(path), *traced = get_path_folder(binary->path.p);
    char *below = beside ? join_path(beside, ".debug") : NULL,
         *mirror = beside ? join_path(all, beside) : NULL,
         *ctx = traced ? join_path(all, traced) : NULL;
    const char *const folders[] = {beside, below, mirror, ctx};
    struct symbol_file *file = NULL;
    for (size_t i = 0; !file && i < sizeof folders / sizeof *folders; i++)
        file = find_linked_debug_file(symbols, folders[i], binary);
    free(beside);
    free(traced);
    free(below);
    free(mirror);
    free(ctx);
    return file;
}

/* --- Binaries --- */

/* Counts a problem of a binary. Each path counts once, up to REPORTED_MAX paths. */
static void count_problem(ttr_symbols *symbols, unsigned problem, const char *path)
{
    size_t low = 0, high = symbols->reported_n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(symbols->reported[middle], path);
        if (order == 0)
            return;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (symbols->count[problem]++ == 0)
        symbols->first[problem] = strdup(path);
    if (symbols->reported_n == REPORTED_MAX)
        return;
    if (symbols->reported_n == symbols->reported_room) {
        size_t room = symbols->reported_room ? symbols->reported_room * 2 : 16;
        char **grown = reallocarray(symbols->reported, room, sizeof *grown);
        if (!grown)
            return;
        symbols->reported = grown;
        symbols->reported_room = room;
    }
    char *copy = strdup(path);
    if (!copy)
        return;
    memmove(symbols->reported + low + 1, symbols->reported + low,
            (symbols->reported_n++ - low) * sizeof *symbols->reported);
    symbols->reported[low] = copy;
}

/* Returns true if the file has the build id that the trace records, or if the trace records
 * none. */
static bool has_build_id(const struct symbol_file *file, const ttr_binary *binary)
{
    const void *id;
    size_t n = symbol_file_build_id(file, &id);
    return binary->build_id.n == 0 ||
           (n == binary->build_id.n && memcmp(id, binary->build_id.p, n) == 0);
}

/* Fills in build id and debug link from the binary's file if the trace does not record them. */
static void add_from_file(const struct symbol_file *file, ttr_binary *binary)
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

/* Fetches a file from a debuginfod server and checks its build id. */
static struct symbol_file *fetch_file(ttr_symbols *symbols, ttr_text build_id, bool is_program)
{
    bool is_damaged;
    char *path = symbols->servers ? debuginfod_fetch(symbols->servers, build_id, is_program) : NULL;
    struct symbol_file *file = open_symbol_file(symbols, path, &is_damaged);
    free(path);
    if (file && !has_build_id(file, &(ttr_binary){.build_id = build_id}))
        file = NULL;
    return file;
}

/* Finds separate debug information for a binary (steps 3 to 5 of the search). Returns NULL if there
 * is none. */
static struct symbol_file *find_debug_file(ttr_symbols *symbols, const struct binary *found,
                                           const ttr_binary *recorded)
{
    ttr_binary binary = *recorded;
    bool is_exact = symbols->rules.is_exact;
    if (found->file && !is_exact)
        add_from_file(found->file, &binary);
    else if (!found->file && is_exact && recorded->build_id.n)
        return NULL;
    struct symbol_file *file = find_debug_file_by_build_id(symbols, &binary);
    if (!file)
        file = find_debug_file_by_link(symbols, &binary, found->path);
    return file ? file : fetch_file(symbols, binary.build_id, false);
}

static void find_files_of_binary(ttr_symbols *symbols, struct binary *found,
                                 const ttr_binary *binary)
{
    bool is_damaged = false;
    found->is_searched = true;
    found->path = symbols->options.prefix ? join_path(symbols->options.prefix, binary->path.p)
                                          : strdup(binary->path.p);
    if (!found->path)
        return;
    found->file = open_symbol_file(symbols, found->path, &is_damaged);
    if (!found->file)
        found->problem = is_damaged ? TTR_SYMBOLS_NO_PROGRAM : TTR_SYMBOLS_MISSING;
    else if (!has_build_id(found->file, binary))
        found->problem = TTR_SYMBOLS_OTHER;
    if (found->problem != 0)
        found->file = NULL;
    /* converting file offsets requires the program headers of the binary */
    if (!found->file && binary->has_offsets)
        found->file = fetch_file(symbols, binary->build_id, true);
    if (found->file && symbol_file_dwarf(found->file))
        found->debug = found->file;
    if (!found->debug)
        found->debug = find_debug_file(symbols, found, binary);
    if (!found->file && !found->debug)
        found->file = fetch_file(symbols, binary->build_id, true);
    if (found->problem != 0 && !found->debug && !found->file)
        count_problem(symbols, found->problem, found->path);
}

static struct binary *find_binary(ttr_symbols *symbols, const ttr_binary *binary)
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
    if (!found->is_searched)
        find_files_of_binary(symbols, found, binary);
    return found;
}

/* --- Answers --- */

static void find_symbols(const ttr_symbols *symbols, const struct binary *binary, uint64_t address,
                         struct dwarf_found *found)
{
    *found = (struct dwarf_found){NULL, 0, NULL, 0};
    bool may_ask_elf = !binary->debug || !symbols->rules.is_exact;
    if (binary->debug && symbol_file_dwarf(binary->debug))
        dwarf_index_find(symbol_file_dwarf(binary->debug), address, found);
    if (!found->function && may_ask_elf &&
        /* a symbol table that was stripped from the binary is in the separate file */
        binary->debug)
        found->function = symbol_file_function(binary->debug, address, &found->function_low);
    if (!found->function && may_ask_elf && binary->file)
        found->function = symbol_file_function(binary->file, address, &found->function_low);
}

/* Sets text i of the result; a negative length means that memory ran out. */
static void set_result_text(ttr_symbols *symbols, size_t i, int length, ttr_text *to)
{
    if (length < 0)
        symbols->text[i] = NULL;
    *to =
        (ttr_text){symbols->text[i] ? symbols->text[i] : "", symbols->text[i] ? (size_t)length : 0};
}

/* Sets the name of a function with the offset of the address in it. babeltrace2 does not demangle.
 */
static void set_function(ttr_symbols *symbols, const struct dwarf_found *found, uint64_t address,
                         ttr_location *place)
{
    char *plain = symbols->rules.is_exact ? NULL : symbols_demangle(found->function);
    set_result_text(symbols, 1,
                    asprintf(&symbols->text[1], "%s+%#" PRIx64, plain ? plain : found->function,
                             address - found->function_low),
                    &place->function);
    free(plain);
}

static void locate_in_file(ttr_symbols *symbols, const ttr_binary *recorded, uint64_t address,
                           ttr_location *place)
{
    const struct binary *binary = find_binary(symbols, recorded);
    bool has_full_paths = symbols->options.flags & TTR_SYMBOLS_FULL_PATHS;
    struct dwarf_found found;
    for (size_t i = 0; i < TEXTS; i++) {
        free(symbols->text[i]);
        symbols->text[i] = NULL;
    }
    if (!binary || !binary->path ||
        (symbols->rules.is_exact && recorded->build_id.n && !binary->file))
        return;
    if (recorded->has_offsets && binary->file)
        address = symbol_file_address(binary->file, address);
    const char *name = has_full_paths ? binary->path : get_path_last_component(binary->path);
    set_result_text(
        symbols, 0,
        asprintf(&symbols->text[0], "%s%c%#" PRIx64, name, recorded->is_pic ? '+' : '@', address),
        &place->binary);
    find_symbols(symbols, binary, address, &found);
    if (found.function)
        set_function(symbols, &found, address, place);
    if (found.source)
        set_result_text(
            symbols, 2,
            asprintf(&symbols->text[2], "%s:%" PRIu64,
                     has_full_paths ? found.source : get_path_last_component(found.source),
                     found.line),
            &place->source);
}

/* --- The interface --- */

void ttr_symbols_free(ttr_symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->binaries_n; i++)
        free(symbols->binary[i].path);
    for (size_t i = 0; i < symbols->shared_n; i++)
        symbol_file_close(symbols->shared[i]);
    for (size_t i = 0; i < symbols->reported_n; i++)
        free(symbols->reported[i]);
    for (size_t i = 0; i < TEXTS; i++)
        free(symbols->text[i]);
    for (size_t i = 0; i < PROBLEMS; i++)
        free(symbols->first[i]);
    symbol_lists_free(symbols->lists);
    debuginfod_free(symbols->servers);
    free(symbols->binary);
    free(symbols->shared);
    free(symbols->reported);
    free(symbols);
}

ttr_symbols *ttr_symbols_new(const ttr_symbols_options *options, ttr_error *error)
{
    static const ttr_symbols_options defaults = {.size = sizeof defaults};
    options = options ? options : &defaults;
    if (options->size != sizeof *options || options->flags & ~FLAGS_ALL) {
        symbols_fail(error, TTR_E_MISUSE, "a ttr_symbols_options wants its size, and known flags");
        return NULL;
    }
    const bool has_lists = options->flags & TTR_SYMBOLS_LISTS;
    ttr_symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols && has_lists)
        symbols->lists = symbol_lists_new(&symbols->rules);
    if (!symbols || (has_lists && !symbols->lists)) {
        symbols_fail(error, TTR_E_NOMEM, "out of memory");
        free(symbols);
        return NULL;
    }
    symbols->options = *options;
    symbols->rules.is_exact = options->flags & TTR_SYMBOLS_LIKE_BABELTRACE2;
    symbols->rules.no_mmap = options->flags & TTR_SYMBOLS_NO_MMAP;
    symbols->rules.progress = options->progress;
    symbols->rules.user_data = options->user_data;
    if (!options->servers || (symbols->servers = debuginfod_new(&symbols->options, error)))
        return symbols;
    ttr_symbols_free(symbols);
    return NULL;
}

void ttr_symbols_locate(void *symbols, const ttr_binary *binary, uint64_t address,
                        ttr_location *place)
{
    ttr_symbols *ctx = symbols;
    if (symbol_rules_is_cancelled(&ctx->rules))
        return;
    if (ctx->lists && symbol_lists_covers(binary))
        symbol_lists_locate(ctx->lists, binary, address, place);
    else
        locate_in_file(ctx, binary, address, place);
}

size_t ttr_symbols_problems(const ttr_symbols *symbols, ttr_symbols_problem problem,
                            const char **first)
{
    const bool is_known = problem > 0 && problem < PROBLEMS;
    *first = is_known && symbols->first[problem] ? symbols->first[problem] : "";
    return is_known ? symbols->count[problem] : 0;
}
