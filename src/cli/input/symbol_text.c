/* Functions that a text names.
 *
 *   /proc/kallsyms       address type name [module]: of the kernel that runs now, which must be the
 * one of the trace by its build id; it may lie elsewhere, so addresses are those behind the symbol
 * that the trace names ("[kernel.kallsyms]_text") /tmp/perf-PID.map    start size name: where the
 * code of a runtime lay */
#include "cli/input/symbol_text.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL "[kernel.kallsyms]"
#define MAP "/tmp/perf-"
#define LINES_MAX 4000000u

struct entry {
    uint64_t start, size; /* size 0: up to the next */
    char *name;
};

struct list {
    char *path;
    struct entry *entry;
    size_t n, room;
    bool is_kernel;
};

struct symbol_texts {
    struct list *list;
    size_t n;
    char *answer;
};

struct symbol_texts *symbol_texts_new(void)
{
    return calloc(1, sizeof(struct symbol_texts));
}

void symbol_texts_free(struct symbol_texts *texts)
{
    for (size_t i = 0; texts && i < texts->n; i++) {
        for (size_t k = 0; k < texts->list[i].n; k++)
            free(texts->list[i].entry[k].name);
        free(texts->list[i].entry);
        free(texts->list[i].path);
    }
    if (texts)
        free(texts->list);
    if (texts)
        free(texts->answer);
    free(texts);
}

bool symbol_texts_knows(const ttr_binary *binary)
{
    return strncmp(binary->path.p, KERNEL, strlen(KERNEL)) == 0 ||
           strncmp(binary->path.p, MAP, strlen(MAP)) == 0;
}

/* Whether the kernel that runs has a build id: one of its notes. */
static bool is_running(ttr_text build_id)
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

static bool add(struct list *list, uint64_t start, uint64_t size, const char *name)
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

static int compare(const void *a, const void *b)
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
        (void)add(list, address, 0, name);
}

static void read_map_line(struct list *list, const char *line)
{
    uint64_t start, size;
    int at = 0;
    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &size, &at) == 2 && at > 0 && size > 0)
        (void)add(list, start, size, line + at);
}

static void read_list(struct list *list)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    FILE *file = fopen(list->is_kernel ? "/proc/kallsyms" : list->path, "re");
    for (size_t i = 0; file && i < LINES_MAX && (n = getline(&line, &room, file)) >= 0; i++) {
        if (n > 0 && line[n - 1] == '\n')
            line[n - 1] = '\0';
        if (list->is_kernel)
            read_kernel_line(list, line);
        else
            read_map_line(list, line);
    }
    free(line);
    if (file)
        (void)fclose(file);
    if (list->n)
        qsort(list->entry, list->n, sizeof *list->entry, compare);
}

static const struct list *list_of(struct symbol_texts *texts, const ttr_binary *binary)
{
    for (size_t i = 0; i < texts->n; i++)
        if (strcmp(texts->list[i].path, binary->path.p) == 0)
            return &texts->list[i];
    struct list *grown = reallocarray(texts->list, texts->n + 1, sizeof *grown);
    if (!grown)
        return NULL;
    texts->list = grown;
    struct list *list = &grown[texts->n];
    *list = (struct list){.path = strdup(binary->path.p), .is_kernel = binary->path.p[0] == '['};
    if (!list->path)
        return NULL;
    texts->n++;
    if (!list->is_kernel || is_running(binary->build_id))
        read_list(list);
    return list;
}

/* The symbol of that name; 0 = there is none. */
static uint64_t address_named(const struct list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->entry[i].name, name) == 0)
            return list->entry[i].start;
    return 0;
}

static const struct entry *entry_at(const struct list *list, uint64_t address)
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

void symbol_texts_locate(void *own, const ttr_binary *binary, uint64_t address, ttr_place *place)
{
    struct symbol_texts *texts = own;
    const struct list *list = list_of(texts, binary);
    if (!list || list->n == 0)
        return;
    if (list->is_kernel) {
        uint64_t begin = address_named(list, binary->path.p + strlen(KERNEL));
        if (begin == 0)
            return;
        address += begin;
    }
    const struct entry *entry = entry_at(list, address);
    free(texts->answer);
    texts->answer = NULL;
    int n =
        entry ? asprintf(&texts->answer, "%s+%#" PRIx64, entry->name, address - entry->start) : -1;
    if (n < 0)
        texts->answer = NULL;
    else
        place->function = (ttr_text){texts->answer, (size_t)n};
}
