/* The option `formats`: event formats from the events directory of tracefs, from a file of format
 * texts, or from the tracepoint description within a perf.data or trace.dat. */
#include <sys/stat.h>

#include "base/status.h"
#include "formats/trace_pipe_raw/trace_pipe_raw.h"
#include "io/folder.h"

#define FORMAT_MAX ((uint64_t)1 << 20) /* maximum size in bytes of a format file */
/* maximum size in bytes of a trace, or of a file with several format texts */
#define FILE_MAX ((uint64_t)1 << 28)
#define FOLDERS 3u /* maximum directory depth below `events`: SYSTEM/NAME/format */

static struct tracepoint_raw get_event_record(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static const struct tracepoint_container container = {.raw = get_event_record, .padding = 3};

bool trace_pipe_raw_create_tracepoints(struct trace_pipe_raw_reader *reader)
{
    struct tracing_data *data = &reader->data;
    data->all = tracepoints_new(&(struct tracepoints_spec){.t = reader->t,
                                                           .format = &format_trace_pipe_raw,
                                                           .container = &container,
                                                           .ctx = reader,
                                                           .source = reader->in->id,
                                                           .is_big_endian = data->is_big_endian,
                                                           .long_bytes = data->long_bytes});
    return data->all != NULL;
}

static ttr_status add_format_text(struct trace_pipe_raw_reader *reader, ttr_text system,
                                  ttr_text format)
{
    ttr_error why;
    ttr_status status = tracepoints_add(reader->data.all, system, format, &why);
    if (status == TTR_E_MALFORMED) {
        reader->data.odd(reader->data.ctx, 0, why.text);
        return TTR_OK;
    }
    if (status != TTR_OK && reader->error)
        *reader->error = why;
    return status;
}

/* Returns the name of the directory two levels above a file, such as "sched" for
 * "sched/sched_switch/format". Returns "" if the path has too few levels. */
static ttr_text get_system_name(const char *name)
{
    const char *end = strrchr(name, '/');
    if (!end)
        return (ttr_text){"", 0};
    while (end > name && end[-1] != '/')
        end--;
    if (end == name)
        return (ttr_text){"", 0};
    const char *begin = --end;
    while (begin > name && begin[-1] != '/')
        begin--;
    return (ttr_text){begin, (size_t)(end - begin)};
}

static ttr_status read_events_folder(struct trace_pipe_raw_reader *reader, const char *path)
{
    const struct alloc *alloc = &reader->t->counted;
    struct folder *folder =
        folder_open(alloc, reader->t->descriptor_pool, path, FOLDERS, false, reader->error);
    const struct folder_file *file;
    ttr_status status = folder ? TTR_OK : TTR_E_IO;
    for (size_t i = 0; status == TTR_OK && (file = folder_get_file(folder, i)) != NULL; i++) {
        const char *name = strrchr(file->name, '/');
        uint8_t *bytes;
        size_t n;
        if (strcmp(name ? name + 1 : file->name, "format") != 0)
            continue;
        status = folder_read_file(folder, file, FORMAT_MAX, &bytes, &n, reader->error);
        if (status != TTR_OK)
            break;
        status = add_format_text(reader, get_system_name(file->name),
                                 (ttr_text){(const char *)bytes, n});
        alloc_free(alloc, bytes, n + 1, 1);
    }
    folder_close(folder);
    return status;
}

/* Parses several format texts in one file. Each one starts with a line "name: ". */
static ttr_status parse_format_texts(struct trace_pipe_raw_reader *reader, ttr_text all)
{
    static const char begin[] = "\nname: ";
    ttr_status status = TTR_OK;
    while (status == TTR_OK && all.n) {
        const char *next = memmem(all.p, all.n, begin, sizeof begin - 1);
        size_t n = next ? (size_t)(next + 1 - all.p) : all.n;
        if (n >= sizeof begin - 2 && memcmp(all.p, begin + 1, sizeof begin - 2) == 0)
            status = add_format_text(reader, (ttr_text){"", 0}, (ttr_text){all.p, n});
        all.p += n;
        all.n -= n;
    }
    return status;
}

static ttr_status parse_formats_bytes(struct trace_pipe_raw_reader *reader, const uint8_t *bytes,
                                      size_t n, const char *path)
{
    const uint8_t *magic =
        n ? memmem(bytes, n, TRACING_DATA_MAGIC, TRACING_DATA_MAGIC_BYTES) : NULL;
    struct tracing_data probe = {.odd = reader->data.odd, .ctx = reader->data.ctx};
    struct cursor c = cursor_init(magic, magic ? n - (size_t)(magic - bytes) : 0, 0);
    if (!magic || !tracing_data_parse_head(&probe, &c))
        return trace_pipe_raw_create_tracepoints(reader)
                   ? parse_format_texts(reader, (ttr_text){(const char *)bytes, n})
                   : fail_memory(reader->error);
    reader->data = probe;
    if (!trace_pipe_raw_create_tracepoints(reader))
        return fail_memory(reader->error);
    ttr_status status = tracing_data_parse(&reader->data, &c, reader->error);
    if (status == TTR_OK && c.failed)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, NO_OFFSET, "trace_pipe_raw.formats",
                             "%s: its description of tracepoints is incomplete", path);
    return status;
}

static ttr_status read_formats_file(struct trace_pipe_raw_reader *reader, const char *path)
{
    struct window window;
    const struct alloc *alloc = &reader->t->counted;
    struct source *source = source_open(alloc, path, NULL, reader->error);
    if (!source)
        return TTR_E_IO;
    ttr_status status = source_fill(source, 0, FILE_MAX, &window, reader->error);
    if (status == TTR_OK)
        status = parse_formats_bytes(reader, window.bytes, window.n, path);
    source_close(source);
    return status;
}

ttr_status trace_pipe_raw_read_formats(struct trace_pipe_raw_reader *reader, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return read_formats_file(reader, path);
    return trace_pipe_raw_create_tracepoints(reader) ? read_events_folder(reader, path)
                                                     : fail_memory(reader->error);
}
