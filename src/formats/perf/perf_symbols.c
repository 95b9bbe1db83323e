/* Code symbols: file mappings (MMAP, MMAP2), build ids of files, kernel functions (KSYMBOL), and
 * inheritance of memory by new processes (FORK). Used with TTR_READ_SYMBOLS only.
 *
 * Mappings of pid -1 are the kernel and its modules, valid in all processes; they are stored for
 * process 0, which has no user memory. Executable memory without a file belongs to a runtime,
 * which may have written its symbols to /tmp/perf-PID.map (PERF-SYMBOL-2). */
#include <stdio.h>

#include "base/status.h"
#include "formats/perf/perf.h"

#define PROT_RUN 4u
/* size of the fixed part of a BUILD_ID record: header, i32 pid, 24 bytes of id; the path follows */
#define BUILD_ID_RECORD 36u

/* Returns the process index of a pid; UINT32_MAX if memory runs out. */
static uint32_t find_process_index(struct perf_trace *trace, uint32_t pid)
{
    bool is_kernel = pid == PERF_NO_PROCESS;
    ttr_id thread = perf_find_thread(trace, is_kernel ? 0 : pid, is_kernel ? 0 : pid);
    if (!thread)
        return UINT32_MAX;
    uint32_t process = trace->t->threads[thread].process;
    if (is_kernel)
        trace->t->sources[trace->source].kernel = process + 1;
    return process;
}

static ttr_text file_name_of_path(ttr_text path)
{
    for (size_t i = path.n; i-- > 0;)
        if (path.p[i] == '/' && i + 1 < path.n)
            return (ttr_text){path.p + i + 1, path.n - i - 1};
    return path;
}

static bool text_begins_with(ttr_text text, const char *word)
{
    return text.n >= strlen(word) && memcmp(text.p, word, strlen(word)) == 0;
}

/* Returns true if a mapping has no file, so that the process itself filled the memory. */
static bool is_anonymous_memory(ttr_text path)
{
    return path.n == 0 || text_begins_with(path, "//anon") || text_begins_with(path, "[anon") ||
           text_begins_with(path, "/memfd:") || text_begins_with(path, "/dev/zero");
}

/* Returns true if memory without a file has a name that is useful to print. A runtime provides the
 * symbols of such memory. */
static bool is_named_memory(ttr_text path)
{
    return text_begins_with(path, "/memfd:") || text_begins_with(path, "[anon");
}

static bool add_mapping(struct perf_trace *trace, uint32_t pid, struct symbol_range *range,
                        ttr_text path)
{
    struct symbols *symbols = &trace->t->symbols;
    char made[40];
    ttr_text told = path;
    if (pid != PERF_NO_PROCESS && is_anonymous_memory(path)) {
        path = (ttr_text){made, (size_t)snprintf(made, sizeof made, "/tmp/perf-%u.map", pid)};
        range->offset = range->start;
    } else if (pid == PERF_NO_PROCESS) {
        range->offset = 0; /* memory without a file has no meaningful file offset */
    }
    ttr_text name = pid == PERF_NO_PROCESS && text_begins_with(path, "[kernel.kallsyms]")
                        ? (ttr_text){path.p, 17}
                        : file_name_of_path(is_named_memory(told) ? told : path);
    ttr_id path_id = ttr_text_add(trace->t, path.p, path.n),
           name_id = ttr_text_add(trace->t, name.p, name.n);
    range->process = find_process_index(trace, pid);
    if (!path_id || !name_id || range->process == UINT32_MAX)
        return false;
    range->module = symbols_add_module(symbols, range->process, path_id);
    if (!range->module)
        return false;
    symbols_set_module_name(symbols, range->module, name_id);
    symbols_set_module_path(symbols, range->module, trace->source, path_id);
    return symbols_add(symbols, SYMBOL_MAPPING, range);
}

static bool add_mapping_record(struct perf_trace *trace, const struct perf_view *record,
                               ttr_text path, int64_t time)
{
    const uint8_t *p = record->p;
    bool is_big = trace->is_big, is_second = record->type == PERF_MMAP2;
    struct symbol_range range = {.start = perf_u64(p + 16, is_big),
                                 .size = perf_u64(p + 24, is_big),
                                 .offset = perf_u64(p + 32, is_big),
                                 .from = time};
    uint32_t pid = perf_u32(p + 8, is_big);
    bool is_run =
        is_second ? perf_u32(p + 64, is_big) & PROT_RUN : !(record->misc & PERF_MISC_MMAP_DATA);
    bool is_kernel = pid == PERF_NO_PROCESS;
    if (is_kernel ? path.n == 0 : !is_run)
        return true;
    if (!add_mapping(trace, pid, &range, path))
        return false;
    const uint32_t n = is_second && record->misc & PERF_MISC_BUILD_ID && path.n
                           ? perf_mapping_build_id_size(p)
                           : 0;
    if (n == 0)
        return true;
    ttr_id path_id = ttr_text_add(trace->t, path.p, path.n);
    ttr_id id = ttr_text_add(trace->t, p + 44, n);
    return path_id && symbols_set_build_id(&trace->t->symbols, trace->source, path_id, id);
}

/* KSYMBOL: u64 address, u32 bytes, u16 type, u16 flags (1 = unregistered), name. */
static bool add_kernel_symbol(struct perf_trace *trace, const struct perf_view *record,
                              ttr_text name, int64_t time)
{
    struct symbol_range range = {.start = perf_u64(record->p + 8, trace->is_big),
                                 .size = perf_u32(record->p + 16, trace->is_big),
                                 .from = time};
    range.process = find_process_index(trace, PERF_NO_PROCESS);
    range.name = ttr_text_add(trace->t, name.p, name.n);
    if (range.process == UINT32_MAX || (!range.name && name.n))
        return false;
    return perf_u16(record->p + 22, trace->is_big) & 1 ||
           symbols_add(&trace->t->symbols, SYMBOL_FUNCTION, &range);
}

static bool add_fork_record(struct perf_trace *trace, const struct perf_view *record, int64_t time)
{
    uint32_t child = perf_u32(record->p + 8, trace->is_big),
             parent = perf_u32(record->p + 12, trace->is_big);
    uint32_t process = find_process_index(trace, child), from = find_process_index(trace, parent);
    if (process == UINT32_MAX || from == UINT32_MAX)
        return false;
    if (process != from) {
        trace->t->processes[process].parent = from + 1;
        trace->t->processes[process].forked = time;
    }
    return true;
}

bool perf_add_symbol_record(struct perf_trace *trace, const struct perf_view *record, uint32_t end,
                            int64_t time)
{
    uint32_t at = record->type == PERF_MMAP ? 40 : record->type == PERF_MMAP2 ? 72 : 24;
    const char *p = (const char *)record->p + at;
    ttr_text text = at < end ? (ttr_text){p, strnlen(p, end - at)} : (ttr_text){"", 0};
    switch (record->type) {
    case PERF_MMAP:
    case PERF_MMAP2:
        return add_mapping_record(trace, record, text, time);
    case PERF_KSYMBOL:
        return add_kernel_symbol(trace, record, text, time);
    case PERF_FORK:
        return add_fork_record(trace, record, time);
    default:
        return true;
    }
}

/* Stores the build id of a file path. Mappings of the kernel append the name of their first symbol
 * to the path, so also stores the id for those paths. */
static bool add_build_id(struct perf_trace *trace, ttr_text path, ttr_id build_id)
{
    static const char *const kernels[] = {"[kernel.kallsyms]_text", "[kernel.kallsyms]_stext"};
    bool is_kernel = path.n == 17 && text_begins_with(path, "[kernel.kallsyms]");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (is_kernel)
            path = (ttr_text){kernels[i], strlen(kernels[i])};
        ttr_id path_id = ttr_text_add(trace->t, path.p, path.n);
        if (!path_id || !symbols_set_build_id(&trace->t->symbols, trace->source, path_id, build_id))
            return false;
    }
    return true;
}

bool perf_add_build_id_record(struct perf_trace *trace, const struct perf_view *record)
{
    const char *path = (const char *)record->p + BUILD_ID_RECORD;
    if (record->size <= BUILD_ID_RECORD || *path == '\0')
        return true;
    const uint8_t *id = record->p + PERF_RECORD_HEADER + 4;
    uint32_t n =
        record->misc & PERF_MISC_BUILD_ID_SIZE && id[PERF_BUILD_ID_BYTES] < PERF_BUILD_ID_BYTES
            ? id[PERF_BUILD_ID_BYTES]
            : PERF_BUILD_ID_BYTES;
    ttr_id build_id = ttr_text_add(trace->t, id, n);
    return (build_id || n == 0) &&
           add_build_id(trace, (ttr_text){path, strnlen(path, record->size - BUILD_ID_RECORD)},
                        build_id);
}

ttr_status perf_parse_build_ids(struct perf_reader *reader, struct perf_cursor *at)
{
    while (cursor_left(&at->c) >= PERF_RECORD_HEADER) {
        const uint8_t *p = at->c.p;
        struct perf_view record = {.p = p,
                                   .size = perf_u16(p + 6, at->is_big),
                                   .misc = perf_u16(p + 4, at->is_big),
                                   .offset = at->c.offset};
        if (record.size < PERF_RECORD_HEADER || !cursor_skip(&at->c, record.size))
            return TTR_OK;
        if (!perf_add_build_id_record(reader->trace, &record))
            return fail_memory(reader->error);
    }
    return TTR_OK;
}
