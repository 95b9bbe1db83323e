/* Reads processes from /proc and the kernel from kallsyms and modules. Process names are untrusted;
 * every copy is bounded. */
#include "perf_events/tasks.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "perf_events/tracing_files.h"

#define TASK_PATH_SIZE 4097u

enum {
    EXECUTABLE = 5,
    PRIVATE = 2
}; /* values of PROT_READ | PROT_EXEC and of MAP_PRIVATE in
    * MMAP2 records */

static bool read_task_file(struct tasks *tasks, const char *format, uint64_t pid, uint64_t tid)
{
    char path[96];
    int n = snprintf(path, sizeof path, "/proc/%" PRIu64, pid);
    if (tid)
        n += snprintf(path + n, sizeof path - (size_t)n, "/task/%" PRIu64, tid);
    (void)snprintf(path + n, sizeof path - (size_t)n, "/%s", format);
    return tracing_files_read_path(path, &tasks->text);
}

/* Returns the pid of the parent: field 4 of /proc/PID/stat. The name in parentheses may contain
 * spaces, so the search starts at the last ')'. */
static uint32_t read_parent_pid(struct tasks *tasks, uint64_t pid)
{
    if (!read_task_file(tasks, "stat", pid, 0))
        return 0;
    const char *end = strrchr((const char *)tasks->text.bytes, ')');
    return end && strlen(end) > 4 ? (uint32_t)strtoul(end + 4, NULL, 10) : 0;
}

static void write_thread(struct tasks *tasks, uint64_t pid, uint64_t tid, uint32_t parent)
{
    const struct perf_sample about = {.pid = (uint32_t)pid, .tid = (uint32_t)tid, .id = tasks->id};
    uint32_t parent_id = tid == pid ? parent : (uint32_t)pid;
    perf_data_writer_add_task(tasks->put, tasks->sample_type, &about, parent_id, parent_id);
    if (!read_task_file(tasks, "comm", pid, tid))
        return;
    const char *name = (const char *)tasks->text.bytes;
    perf_data_writer_add_comm(tasks->put, tasks->sample_type, &about,
                              (ttr_text){name, strcspn(name, "\n")}, false);
    tasks->threads_n++;
}

/* Writes an MMAP2 record of a mapping, with the build id of the file if it has one. */
static void write_mapping(struct tasks *tasks, const struct perf_sample *about,
                          struct perf_mapping *mapping, const struct build_id *id)
{
    mapping->build_id = id->n ? id->bytes : NULL;
    mapping->build_id_n = id->n;
    perf_data_writer_add_mapping(tasks->put, tasks->sample_type, about, mapping);
}

static struct build_id get_mapped_file_build_id(struct tasks *tasks,
                                                const struct perf_mapping *mapping)
{
    char path[TASK_PATH_SIZE];
    if (mapping->path.n >= sizeof path || !mapping->inode)
        return (struct build_id){.n = 0};
    memcpy(path, mapping->path.p, mapping->path.n);
    path[mapping->path.n] = '\0';
    return build_ids_find(tasks->build_ids, mapping->pid, path, mapping->inode);
}

/* Parses a line of /proc/PID/maps, "START-END rwxp OFFSET MAJOR:MINOR INODE   PATH", and writes a
 * record if the mapping is executable. Returns the next line, NULL after the last. */
static const char *write_maps_line(struct tasks *tasks, const char *line, uint64_t pid)
{
    const char *end = strchr(line, '\n');
    const struct perf_sample about = {.pid = (uint32_t)pid, .tid = (uint32_t)pid, .id = tasks->id};
    struct perf_mapping mapping = {
        .pid = (uint32_t)pid, .tid = (uint32_t)pid, .prot = EXECUTABLE, .flags = PRIVATE};
    uint64_t last;
    char access[8] = "";
    int path_at = 0;
    if (!end)
        return NULL;
    int n = sscanf(line,
                   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 "%n",
                   &mapping.start, &last, access, &mapping.offset, &mapping.major, &mapping.minor,
                   &mapping.inode, &path_at);
    if (n < 7 || access[2] != 'x' || last < mapping.start)
        return end + 1;
    const char *path = line + path_at;
    path += strspn(path, " ");
    mapping.size = last - mapping.start;
    mapping.path = path < end ? (ttr_text){path, (size_t)(end - path)} : (ttr_text){"//anon", 6};
    const struct build_id id = get_mapped_file_build_id(tasks, &mapping);
    write_mapping(tasks, &about, &mapping, &id);
    return end + 1;
}

static void write_process(struct tasks *tasks, uint64_t pid)
{
    char path[64];
    uint64_t tid;
    uint32_t parent = read_parent_pid(tasks, pid);
    const struct dirent *entry;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/task", pid);
    DIR *folder = opendir(path);
    while (folder && (entry = readdir(folder)))
        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &tid))
            write_thread(tasks, pid, tid, parent);
    if (folder)
        (void)closedir(folder);
    const char *line =
        read_task_file(tasks, "maps", pid, 0) ? (const char *)tasks->text.bytes : NULL;
    while (line && *line)
        line = write_maps_line(tasks, line, pid);
}

void tasks_write_processes(struct tasks *tasks, uint64_t pid)
{
    if (pid) {
        write_process(tasks, pid);
        return;
    }
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &pid))
            write_process(tasks, pid);
    if (folder)
        (void)closedir(folder);
}

/* --- The kernel --- */

static void write_kernel_mapping(struct tasks *tasks, uint64_t start, uint64_t size,
                                 const char *path, const struct build_id *id)
{
    const struct perf_sample about = {.pid = UINT32_MAX, .id = tasks->id};
    struct perf_mapping mapping = {.pid = UINT32_MAX,
                                   .prot = EXECUTABLE,
                                   .start = start,
                                   .size = size,
                                   .offset = start,
                                   .path = {path, strlen(path)},
                                   .is_kernel = true};
    write_mapping(tasks, &about, &mapping, id);
}

/* Lines have the form "NAME SIZE USERS DEPENDENCIES STATE ADDRESS". ADDRESS is 0 without
 * permission. */
static void write_module_mappings(struct tasks *tasks)
{
    if (!tracing_files_read_path("/proc/modules", &tasks->text))
        return;
    for (const char *line = (const char *)tasks->text.bytes, *end; (end = strchr(line, '\n'));
         line = end + 1) {
        char name[64], path[80];
        uint64_t size, start;
        if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &start) != 3 ||
            !start)
            continue;
        (void)snprintf(path, sizeof path, "[%s]", name);
        const struct build_id id = build_ids_get_kernel(tasks->build_ids, name);
        write_kernel_mapping(tasks, start, size, path, &id);
    }
}

/* Reads the addresses of _text and _etext from /proc/kallsyms. Returns false if they are missing or
 * hidden. */
static bool find_kernel_text(uint64_t *start, uint64_t *end)
{
    FILE *symbols = fopen("/proc/kallsyms", "re");
    char line[512];
    *start = *end = 0;
    while (symbols && !*end && fgets(line, sizeof line, symbols)) {
        const char *name = strrchr(line, ' ');
        if (name && strcmp(name, " _text\n") == 0)
            *start = strtoull(line, NULL, 16);
        else if (name && strcmp(name, " _etext\n") == 0)
            *end = strtoull(line, NULL, 16);
    }
    if (symbols)
        (void)fclose(symbols);
    return *start && *end > *start;
}

void tasks_write_kernel_mappings(struct tasks *tasks)
{
    uint64_t start, end;
    if (!find_kernel_text(&start, &end))
        return;
    const struct build_id id = build_ids_get_kernel(tasks->build_ids, NULL);
    write_kernel_mapping(tasks, start, end - start, "[kernel.kallsyms]_text", &id);
    write_module_mappings(tasks);
}
