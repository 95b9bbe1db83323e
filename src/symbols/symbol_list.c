/* Lists of functions in text files.
 *
 *   /proc/kallsyms       address type name [module]
 *   /tmp/perf-PID.map    start size name
 *
 * /proc/kallsyms describes the running kernel, so it is only used if that has the build id in the
 * trace. A map is read if it is a regular file of the user or of root, since anybody can create
 * files in /tmp. Bytes, lines and their lengths are limited. The kernel may be loaded at another
 * address than during recording. Therefore addresses are relative to the symbol that the path in
 * the trace names ("[kernel.kallsyms]_text"). */
#include "symbols/symbol_list.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"

#define KERNEL "[kernel.kallsyms]"
#define MAP "/tmp/perf-"
#define MAP_END ".map"
#define LINES_MAX 4000000u
#define LINE_SIZE 4096 /* longer lines are cut */
#define LIST_BYTES_MAX ((size_t)256 << 20)
#define LINES_PER_CHECK 1024u

struct entry {
    uint64_t start, size; /* address range of the function; size 0 = up to the next function */
    char *name;
};

struct list {
    char *path;
    struct entry *entry;
    size_t n, room;
    bool is_kernel;
    /* the name looked up last by find_symbol_address, and its address */
    char *base_name;
    uint64_t base;
};

struct symbol_lists {
    const struct symbol_rules *rules;
    struct list *list;
    size_t n;
    char *answer;
};

struct symbol_lists *symbol_lists_new(const struct symbol_rules *rules)
{
    struct symbol_lists *lists = calloc(1, sizeof *lists);
    if (lists)
        lists->rules = rules;
    return lists;
}

void symbol_lists_free(struct symbol_lists *lists)
{
    for (size_t i = 0; lists && i < lists->n; i++) {
        for (size_t k = 0; k < lists->list[i].n; k++)
            free(lists->list[i].entry[k].name);
        free(lists->list[i].entry);
        free(lists->list[i].path);
        free(lists->list[i].base_name);
    }
    if (lists)
        free(lists->list);
    if (lists)
        free(lists->answer);
    free(lists);
}

/* Returns true for "/tmp/perf-PID.map", with digits only, so that a trace cannot name other files.
 */
static bool is_map_path(const char *path)
{
    if (strncmp(path, MAP, strlen(MAP)) != 0)
        return false;
    const char *pid = path + strlen(MAP);
    const size_t digits_n = strspn(pid, "0123456789");
    return digits_n > 0 && strcmp(pid + digits_n, MAP_END) == 0;
}

bool symbol_lists_covers(const ttr_binary *binary)
{
    return strncmp(binary->path.p, KERNEL, strlen(KERNEL)) == 0 || is_map_path(binary->path.p);
}

/* Returns true if the running kernel has this build id in its notes. */
static bool is_running_kernel(ttr_text build_id)
{
    unsigned char notes[4096];
    FILE *file = fopen("/sys/kernel/notes", "rb");
    size_t n = file ? fread(notes, 1, sizeof notes, file) : 0;
    if (file)
        (void)fclose(file);
    for (size_t at = 0; n - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr head;
        memcpy(&head, notes + at, sizeof head);
        at += sizeof head;
        size_t name = (head.n_namesz + 3u) & ~(size_t)3, about = (head.n_descsz + 3u) & ~(size_t)3;
        if (name > n - at || about > n - at - name)
            return false;
        bool is_id = head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
                     memcmp(notes + at, "GNU", 4) == 0;
        if (is_id)
            return head.n_descsz == build_id.n &&
                   memcmp(notes + at + name, build_id.p, build_id.n) == 0;
        at += name + about;
    }
    return false;
}

static bool add_function(struct list *list, uint64_t start, uint64_t size, const char *name)
{
    if (list->n == list->room) {
        size_t room = list->room ? list->room * 2 : 1024;
        struct entry *entry = reallocarray(list->entry, room, sizeof *entry);
        if (!entry)
            return false;
        list->entry = entry;
        list->room = room;
    }
    char *copy = strdup(name);
    if (copy)
        list->entry[list->n++] = (struct entry){start, size, copy};
    return copy;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

static void read_kernel_line(struct list *list, const char *line)
{
    uint64_t address;
    char type, name[512];
    if (sscanf(line, "%" SCNx64 " %c %511s", &address, &type, name) == 3 && address &&
        strchr("tTwW", type))
        (void)add_function(list, address, 0, name);
}

static void read_map_line(struct list *list, const char *line)
{
    uint64_t start, size;
    int at = 0;
    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &size, &at) == 2 && at > 0 && size > 0)
        (void)add_function(list, start, size, line + at);
}

/* Opens a list for reading. Returns NULL if there is none, or it is of another user. */
static FILE *open_list(const struct list *list)
{
    struct stat about;
    int fd = regular_file_open(list->is_kernel ? "/proc/kallsyms" : list->path, &about);
    if (fd < 0)
        return NULL;
    FILE *file = regular_file_is_trusted(&about) ? fdopen(fd, "r") : NULL;
    if (!file)
        (void)close(fd);
    return file;
}

/* Reads a line, without its end, and cuts it to LINE_SIZE. Returns the number of bytes read; 0 =
 * end of the file. */
static size_t read_line(FILE *file, char line[LINE_SIZE])
{
    size_t n = 0, all = 0;
    int c;
    while ((c = getc_unlocked(file)) != EOF && ++all && c != '\n' && all < LIST_BYTES_MAX)
        if (n < LINE_SIZE - 1)
            line[n++] = (char)c;
    line[n] = '\0';
    return all;
}

static void read_list(const struct symbol_lists *lists, struct list *list)
{
    char line[LINE_SIZE];
    size_t bytes = 0, n;
    FILE *file = open_list(list);
    for (size_t i = 0; file && i < LINES_MAX && bytes < LIST_BYTES_MAX; i++, bytes += n) {
        if ((i % LINES_PER_CHECK == 0 && symbol_rules_is_cancelled(lists->rules)) ||
            (n = read_line(file, line)) == 0)
            break;
        if (list->is_kernel)
            read_kernel_line(list, line);
        else
            read_map_line(list, line);
    }
    if (file)
        (void)fclose(file);
    if (list->n)
        qsort(list->entry, list->n, sizeof *list->entry, compare_addresses);
}

static struct list *select_list(struct symbol_lists *lists, const ttr_binary *binary)
{
    for (size_t i = 0; i < lists->n; i++)
        if (strcmp(lists->list[i].path, binary->path.p) == 0)
            return &lists->list[i];
    struct list *grown = reallocarray(lists->list, lists->n + 1, sizeof *grown);
    if (!grown)
        return NULL;
    lists->list = grown;
    struct list *list = &grown[lists->n];
    *list = (struct list){.path = strdup(binary->path.p), .is_kernel = binary->path.p[0] == '['};
    if (!list->path)
        return NULL;
    lists->n++;
    if (!list->is_kernel || is_running_kernel(binary->build_id))
        read_list(lists, list);
    return list;
}

/* Returns the address of the function with a name, or 0 if the list lacks it. */
static uint64_t find_symbol_address(struct list *list, const char *name)
{
    if (list->base_name && strcmp(list->base_name, name) == 0)
        return list->base;
    free(list->base_name);
    list->base_name = strdup(name);
    list->base = 0;
    for (size_t i = 0; i < list->n && list->base == 0; i++)
        if (strcmp(list->entry[i].name, name) == 0)
            list->base = list->entry[i].start;
    return list->base;
}

static const struct entry *find_entry(const struct list *list, uint64_t address)
{
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->entry[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct entry *entry = low ? &list->entry[low - 1] : NULL;
    return entry && (entry->size == 0 || address - entry->start < entry->size) ? entry : NULL;
}

void symbol_lists_locate(void *ctx, const ttr_binary *binary, uint64_t address, ttr_location *place)
{
    struct symbol_lists *lists = ctx;
    struct list *list = select_list(lists, binary);
    if (!list || list->n == 0)
        return;
    if (list->is_kernel) {
        uint64_t begin = find_symbol_address(list, binary->path.p + strlen(KERNEL));
        if (begin == 0)
            return;
        address += begin;
    }
    const struct entry *entry = find_entry(list, address);
    free(lists->answer);
    lists->answer = NULL;
    int n =
        entry ? asprintf(&lists->answer, "%s+%#" PRIx64, entry->name, address - entry->start) : -1;
    if (n < 0)
        lists->answer = NULL;
    else
        place->function = (ttr_text){lists->answer, (size_t)n};
}
