/* A folder of `perf record --threads`: the file `data` is a complete perf.data. The recorder's
 * threads write their records to data.0, data.1, ..., which have no header and use the attributes
 * of `data`. All these files are merged by time. Any other file in such a folder is a separate
 * trace. */
#include <stdio.h>

#include "base/status.h"
#include "formats/perf/perf.h"
#include "io/folder.h"

#define MAIN_FILE "data"
#define PARTS_MAX 65536u

static bool is_data_file_name(const char *name)
{
    size_t n = strlen(MAIN_FILE ".");
    return strncmp(name, MAIN_FILE ".", n) == 0 && name[n] &&
           strspn(name + n, "0123456789") == strlen(name + n);
}

/* Opens a file data.N without parsing it. join_trace() later attaches it to the trace of the file
 * `data`. */
static ttr_status open_data_file(struct input *in, ttr_error *error)
{
    struct perf_reader *reader = in->ctx;
    (void)error;
    reader->in = in;
    in->version = "part of a folder";
    return TTR_OK;
}

static const struct format_reader part_reader = {
    .order = TTR_ORDER_TIME,
    .state_size = sizeof(struct perf_reader),
    .open = open_data_file,
    .next = perf_read_batch,
    .close = perf_close,
};

static const struct format format_part = {
    .name = "perf",
    .title = "records of a perf.data folder",
    .extensions = "",
    .spec = "",
    .reader = &part_reader,
};

/* Arguments that all inputs of a folder have in common. */
struct folder_opening {
    ttr *t;
    struct folder *folder;
    const ttr_read_options *options;
    struct source_options how;
    ttr_error *error;
};

static struct input *open_folder_input(const struct folder_opening *opening,
                                       const struct folder_file *file, const struct format *format)
{
    char path[1024];
    folder_file_path(opening->folder, file, path, sizeof path);
    struct source *source = folder_open_file(opening->folder, file, &opening->how, opening->error);
    return source ? input_new(opening->t, source, format, path, opening->options, opening->error)
                  : NULL;
}

static struct input *join_trace(const struct folder_opening *opening,
                                const struct folder_file *file, struct perf_trace *trace)
{
    struct input *in = open_folder_input(opening, file, &format_part);
    struct perf_reader *reader = in ? in->ctx : NULL;
    if (!in)
        return NULL;
    reader->trace = trace;
    reader->end = UINT64_MAX;
    reader->error = opening->error ? opening->error : &reader->own_error;
    trace->users++;
    trace->running++;
    context_share_attributes(opening->t, in->id, trace->source);
    if (perf_decide_sorting(reader) == TTR_OK)
        return in;
    ttr_close(&in->base);
    return NULL;
}

static size_t count_data_files(const struct folder *folder)
{
    const struct folder_file *file;
    size_t n = 0;
    for (size_t i = 0; (file = folder_get_file(folder, i)) != NULL; i++)
        n += is_data_file_name(file->name);
    return n < PARTS_MAX ? n : PARTS_MAX;
}

/* Opens data.0, data.1, ... and stores their readers after in[0]. Returns false if a file cannot
 * be opened. */
static bool open_data_files(const struct folder_opening *opening, ttr_reader **in, size_t room,
                            size_t *n)
{
    const struct folder_file *file;
    const struct perf_reader *main = ((struct input *)in[0])->ctx;
    for (size_t i = 0; *n < room && (file = folder_get_file(opening->folder, i)) != NULL; i++) {
        if (!is_data_file_name(file->name))
            continue;
        struct input *part = join_trace(opening, file, main->trace);
        if (!part)
            return false;
        in[(*n)++] = &part->base;
    }
    return true;
}

/* Opens `data` and all files data.N, and returns a reader that merges them. */
static ttr_reader *open_merged_files(const struct folder_opening *opening,
                                     const struct folder_file *main_file)
{
    const struct alloc *alloc = &opening->t->counted;
    size_t parts = count_data_files(opening->folder), n = 1;
    ttr_reader **in = alloc_zero(alloc, parts + 1, sizeof(ttr_reader *)), *reader = NULL;
    if (!in) {
        (void)fail_memory(opening->error);
        return NULL;
    }
    struct input *first = open_folder_input(opening, main_file, &format_perf);
    in[0] = first ? &first->base : NULL;
    bool is_fine =
        first &&
        (parts == 0 || (context_name_trace(opening->t, first->id, folder_path(opening->folder)) &&
                        open_data_files(opening, in, parts + 1, &n)));
    if (is_fine)
        reader = parts == 0 ? in[0] : ttr_merge(opening->t, in, n, opening->error);
    for (size_t i = 0; !is_fine && i < n; i++)
        ttr_close(in[i]);
    alloc_free(alloc, in, parts + 1, sizeof(ttr_reader *));
    return reader;
}

ttr_reader *perf_open_folder(ttr *t, struct folder *folder, const char *only,
                             const ttr_read_options *options, ttr_error *error)
{
    ttr_read_options ctx = options ? *options : (ttr_read_options){.size = sizeof ctx};
    struct folder_opening opening = {.t = t, .folder = folder, .options = &ctx, .error = error};
    const struct folder_file *file =
        folder_find_file(folder, only && !is_data_file_name(only) ? only : MAIN_FILE);
    ttr_reader *reader = NULL;
    opening.how.no_mmap = ctx.flags & TTR_READ_NO_MMAP;
    size_t parts = only && !is_data_file_name(only) ? 0 : count_data_files(folder);
    if (parts) {
        opening.how.chunk = source_chunk_size(parts + 1);
        /* a merged trace has no file order, so its records cannot be copied one by one */
        ctx.flags &= ~TTR_READ_DEFINITIONS;
    }
    if (!file)
        (void)fail(error, TTR_E_UNSUPPORTED, NO_OFFSET, "%s has no file \"%s\"",
                   folder_path(folder), only ? only : MAIN_FILE);
    else if (parts == 0)
        reader = (ttr_reader *)open_folder_input(&opening, file, &format_perf);
    else
        reader = open_merged_files(&opening, file);
    folder_close(folder);
    return reader;
}
