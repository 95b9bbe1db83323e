/* Calls of functions as zones: link a program that is compiled with -finstrument-functions with
 * libtracetta-functions.
 *
 * The compiler calls the two hooks below at the start and the end of each function.  A hash table
 * with open addressing finds the trace points of a function by its address; they are made at the
 * first call.  The name comes from the symbol table of the file (static functions too), else it is
 * "FILE+0xOFFSET", which addr2line resolves with the debug information of a stripped file.
 *
 * Nothing here allocates or locks, because the first call of a function may be in a signal handler.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/trace.h>

#define FUNCTION_CATEGORIES(X) X(functions, "functions", "calls of functions")
TTR_CATEGORIES_DECLARE(FUNCTION_CATEGORIES);
TTR_CATEGORIES_DEFINE(FUNCTION_CATEGORIES);

#define FUNCTIONS_MAX 16384u /* a power of 2; calls of more functions are not recorded */
#define NAME_MAX_BYTES 96u
#define UNINSTRUMENTED __attribute__((no_instrument_function))

enum function_state { FUNCTION_NEW, FUNCTION_READY };

struct function {
    void *address;  /* atomic; NULL = free */
    uint32_t state; /* atomic, enum function_state */
    ttr_trace_site begin, end;
    char name[NAME_MAX_BYTES];
};
static struct function functions[FUNCTIONS_MAX];

/* --- Names --- */

/* Copies the name of the function at `offset` in an ELF file. Returns false if it has none. */
UNINSTRUMENTED static bool search_symbols(const uint8_t *file, size_t size, uint64_t offset,
                                          char *name)
{
    const ElfW(Ehdr) *head = (const void *)file;
    if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shentsize != sizeof(ElfW(Shdr)) || head->e_shoff > size ||
        (size - head->e_shoff) / sizeof(ElfW(Shdr)) < head->e_shnum)
        return false;
    const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *table = &sections[i];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= head->e_shnum)
            continue;
        const ElfW(Shdr) *texts = &sections[table->sh_link];
        if (table->sh_offset > size || table->sh_size > size - table->sh_offset ||
            texts->sh_offset > size || texts->sh_size > size - texts->sh_offset)
            return false;
        const ElfW(Sym) *symbol = (const void *)(file + table->sh_offset);
        for (size_t k = 0; k < table->sh_size / sizeof *symbol; k++, symbol++) {
            if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || offset < symbol->st_value ||
                offset - symbol->st_value >= symbol->st_size || symbol->st_name >= texts->sh_size)
                continue;
            const char *text = (const char *)file + texts->sh_offset + symbol->st_name;
            const size_t n = strnlen(text, texts->sh_size - symbol->st_name);
            (void)snprintf(name, NAME_MAX_BYTES, "%.*s", (int)n, text);
            return n > 0;
        }
    }
    return false;
}

UNINSTRUMENTED static bool search_file(const char *path, uint64_t offset, char *name)
{
    struct stat about;
    bool is_found = false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &about) == 0 && about.st_size > 0) {
        const size_t size = (size_t)about.st_size;
        void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            is_found = search_symbols(file, size, offset, name);
            (void)munmap(file, size);
        }
    }
    close(fd);
    return is_found;
}

UNINSTRUMENTED static void find_name(void *address, char *name)
{
    Dl_info about;
    struct link_map *map = NULL;
    (void)snprintf(name, NAME_MAX_BYTES, "%p", address);
    if (!dladdr1(address, &about, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return;
    const uint64_t offset = (uint64_t)((uintptr_t)address - map->l_addr);
    const char *path = map->l_name[0] ? map->l_name : "/proc/self/exe";
    if (search_file(path, offset, name))
        return;
    const char *slash = about.dli_fname ? strrchr(about.dli_fname, '/') : NULL;
    if (about.dli_sname && about.dli_saddr == address)
        (void)snprintf(name, NAME_MAX_BYTES, "%s", about.dli_sname);
    else
        (void)snprintf(name, NAME_MAX_BYTES, "%.60s+%#llx",
                       slash             ? slash + 1
                       : about.dli_fname ? about.dli_fname
                                         : "?",
                       (unsigned long long)offset);
}

/* --- Trace points --- */

UNINSTRUMENTED static void make_points(struct function *function)
{
    const struct ttr_trace_site site = {
        .category = &ttr_trace_categories[ttr_trace_category_functions],
        .name = function->name,
        .level = TTR_TRACE_VERBOSE,
        .enabled = &ttr_trace_enabled[ttr_trace_category_functions]};
    find_name(function->address, function->name);
    function->begin = function->end = site;
    function->begin.type = TTR_TRACE_BEGIN;
    function->end.type = TTR_TRACE_END;
    __atomic_store_n(&function->state, FUNCTION_READY, __ATOMIC_RELEASE);
}

/* Returns the trace points of a function; NULL while another thread makes them, and if the table is
 * full. */
UNINSTRUMENTED static struct function *find_function(void *address)
{
    size_t slot = (uintptr_t)address / 16 * UINT64_C(0x9e3779b97f4a7c15) >> 50;
    for (unsigned tries = 0; tries < FUNCTIONS_MAX; tries++) {
        struct function *function = &functions[(slot + tries) % FUNCTIONS_MAX];
        void *owner = __atomic_load_n(&function->address, __ATOMIC_ACQUIRE);
        if (!owner && __atomic_compare_exchange_n(&function->address, &owner, address, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            make_points(function);
            return function;
        }
        if (owner == address)
            return __atomic_load_n(&function->state, __ATOMIC_ACQUIRE) == FUNCTION_READY ? function
                                                                                         : NULL;
    }
    return NULL;
}

UNINSTRUMENTED static bool is_recorded(void)
{
    return ttr_trace_is_enabled(&ttr_trace_enabled[ttr_trace_category_functions],
                                TTR_TRACE_VERBOSE);
}

UNINSTRUMENTED TTR_TRACE_API_ void __cyg_profile_func_enter(void *function, void *caller);
UNINSTRUMENTED TTR_TRACE_API_ void __cyg_profile_func_exit(void *function, void *caller);

/* Both hooks keep errno: the program may read it next. */
void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if (!is_recorded())
        return;
    const int reason = errno;
    const uint64_t now = ttr_trace_now();
    struct function *found = find_function(function);
    if (found)
        ttr_trace_write(&found->begin, NULL, now, NULL, 0, NULL);
    errno = reason;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)caller;
    if (!is_recorded())
        return;
    const int reason = errno;
    const uint64_t now = ttr_trace_now();
    struct function *found = find_function(function);
    if (found)
        ttr_trace_write(&found->end, NULL, now, NULL, 0, NULL);
    errno = reason;
}
