/* Reader and writer of the little format: see little.h. */
#include "support/little.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "base/status.h"
#include "io/folder.h"
#include "model/input.h"
#include "model/output.h"

#define DURATION_MAX 1000

uint8_t *little_record(uint8_t *to, uint64_t time, uint64_t duration, uint64_t value)
{
    store_u64le(to, time);
    store_u64le(to + 8, duration);
    store_u64le(to + 16, value);
    return to + LITTLE_RECORD;
}

/* --- Fields --- */

static void begin_fields(ttr_fields *fields)
{
    fields->state[0] = 0;
}

static bool next_field(ttr_fields *fields, ttr_field *field)
{
    if (fields->state[0]++ || fields->event->kind == TTR_KIND_DEFINITION)
        return false;
    field_clear(field);
    field->name = (ttr_text){"value", 5};
    field->value.type = TTR_TYPE_UINT;
    field->value.v.u = load_u64le(fields->event->payload + 16);
    return true;
}

static const struct field_ops field_ops = {.begin = begin_fields, .next = next_field};

/* --- A file --- */

struct stream {
    uint64_t at;
    int64_t from, to;
    bool has_range, is_over;
    ttr_id schema, thread, name;
};

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static ttr_status stream_open(struct input *in, ttr_error *error)
{
    struct stream *stream = in->ctx;
    ttr *t = in->base.t;
    const char *name = name_of(ttr_text_get(t, t->sources[in->id].path).p);
    stream->schema =
        context_add_schema(t, &(struct schema){.ops = &field_ops, .format = &format_little});
    stream->thread = context_thread(t, in->id, 1, in->id);
    stream->name = ttr_text_add(t, name, strlen(name));
    return stream->schema && stream->thread ? TTR_OK : fail_memory(error);
}

static void stream_range(struct input *in, int64_t from_ns, int64_t to_ns)
{
    struct stream *stream = in->ctx;
    *stream = (struct stream){.schema = stream->schema,
                              .thread = stream->thread,
                              .name = stream->name,
                              .has_range = true,
                              .from = from_ns,
                              .to = to_ns};
}

static int64_t time_at(struct input *in, uint64_t record)
{
    uint8_t bytes[8];
    bool is_there = source_peek_at(in->source, LITTLE_HEAD + record * LITTLE_RECORD, bytes,
                                   sizeof bytes, NULL) == sizeof bytes;
    return is_there ? (int64_t)load_u64le(bytes) : INT64_MAX;
}

/* Returns the index of the first record that may overlap the range, by binary search. */
static uint64_t find_from(struct input *in)
{
    const struct stream *stream = in->ctx;
    uint64_t low = 0, high = source_disk_size(in->source) / LITTLE_RECORD;
    if (!stream->has_range || !source_is_seekable(in->source) || stream->from < DURATION_MAX)
        return 0;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (time_at(in, middle) < stream->from - DURATION_MAX)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_event(struct input *in, const uint8_t *bytes, uint32_t size, uint8_t kind)
{
    struct stream *stream = in->ctx;
    ttr_event *event = input_add_event(in);
    event->kind = kind;
    event->flags = TTR_EVENT_RAW;
    event->payload = bytes;
    event->payload_size = size;
    event->offset = stream->at;
    event->schema = stream->schema;
    event->name = stream->name;
    event->thread = stream->thread;
    stream->at += size;
}

/* Decodes the record at the start of the window, at stream->at. */
static ttr_status decode_record(struct input *in, const uint8_t *bytes, ttr_error *error)
{
    struct stream *stream = in->ctx;
    int64_t time = (int64_t)load_u64le(bytes);
    uint64_t duration = load_u64le(bytes + 8);
    if (load_u64le(bytes + 16) == UINT64_MAX) {
        stream->at += LITTLE_RECORD;
        return input_add_damage(in, stream->at - LITTLE_RECORD, LITTLE_RECORD, "little.bad-value",
                                error, "a value of all ones");
    }
    stream->is_over = stream->has_range && time >= stream->to;
    if (stream->is_over)
        return TTR_OK;
    add_event(in, bytes, LITTLE_RECORD, duration ? TTR_KIND_SPAN : TTR_KIND_INSTANT);
    in->events[in->n - 1].time = time;
    in->events[in->n - 1].ticks = (uint64_t)time;
    in->events[in->n - 1].duration = duration;
    return TTR_OK;
}

static ttr_status read_head(struct input *in, ttr_error *error)
{
    struct stream *stream = in->ctx;
    ttr_status status = input_fill(in, 0, LITTLE_HEAD, error);
    if (status != TTR_OK)
        return status;
    if (in->window.n < LITTLE_HEAD || memcmp(in->window.bytes, LITTLE_MAGIC, LITTLE_HEAD) != 0)
        return fail(error, TTR_E_MALFORMED, 0, "does not begin with LITTLE");
    if (in->flags & TTR_READ_DEFINITIONS)
        add_event(in, in->window.bytes, LITTLE_HEAD, TTR_KIND_DEFINITION);
    stream->at = LITTLE_HEAD + find_from(in) * LITTLE_RECORD;
    return TTR_OK;
}

static ttr_status stream_next(struct input *in, ttr_error *error)
{
    struct stream *stream = in->ctx;
    ttr_status status = stream->at == 0 ? read_head(in, error) : TTR_OK;
    if (status != TTR_OK || in->n)
        return status;
    while (!stream->is_over && in->n == 0) {
        status = input_fill(in, stream->at, LITTLE_RECORD, error);
        if (status != TTR_OK)
            return status;
        if (in->window.n < LITTLE_RECORD)
            return TTR_END;
        while (!stream->is_over && in->n < in->batch &&
               in->window.offset + in->window.n - stream->at >= LITTLE_RECORD) {
            status = decode_record(in, in->window.bytes + (stream->at - in->window.offset), error);
            if (status != TTR_OK)
                return status;
        }
    }
    return in->n ? TTR_OK : TTR_END;
}

static void stream_close(struct input *in)
{
    const struct stream *stream = in->ctx;
    context_drop_schema(in->base.t, stream->schema);
}

/* --- The folder --- */

static unsigned little_bid(const struct peek *peek)
{
    if (peek->n >= sizeof LITTLE_MAIN_FILE - 1 &&
        memcmp(peek->bytes, LITTLE_MAIN_FILE, sizeof LITTLE_MAIN_FILE - 1) == 0)
        return 8 * (sizeof LITTLE_MAIN_FILE - 1);
    return memcmp(peek->bytes, LITTLE_MAGIC, LITTLE_HEAD) == 0 ? 8 * LITTLE_HEAD : 0;
}

static const struct format_reader stream_reader = {
    .order = TTR_ORDER_TIME,
    .bid = little_bid,
    .state_size = sizeof(struct stream),
    .open = stream_open,
    .next = stream_next,
    .close = stream_close,
    .range = stream_range,
};

static const struct format format_stream = {
    .name = "little",
    .reader = &stream_reader,
};

static bool is_stream(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".bin") == 0 && !strchr(name, '/');
}

/* Returns the reader of one file; NULL with `error`. */
static ttr_reader *open_stream(ttr *t, struct folder *folder, const struct folder_file *file,
                               const struct source_options *how, const ttr_read_options *options,
                               ttr_error *error)
{
    char path[PATH_MAX];
    folder_file_path(folder, file, path, sizeof path);
    struct source *source = folder_open_file(folder, file, how, error);
    struct input *in = source ? input_new(t, source, &format_stream, path, options, error) : NULL;
    if (!in)
        return NULL;
    in->base.per_source_format = &format_little;
    return &in->base;
}

static ttr_reader *open_folder(ttr *t, struct folder *folder, const char *only,
                               const ttr_read_options *options, ttr_error *error)
{
    ttr_reader **readers, *merged = NULL;
    size_t n = 0, files = 0;
    const struct folder_file *file;
    struct source_options how = {.no_mmap = options && options->flags & TTR_READ_NO_MMAP};
    for (size_t i = 0; (file = folder_get_file(folder, i)); i++)
        files += only ? strcmp(only, file->name) == 0 : is_stream(file->name);
    readers = alloc_zero(&t->counted, files, sizeof(ttr_reader *));
    bool is_fine = readers || fail_memory(error) == TTR_OK;
    for (size_t i = 0; is_fine && (file = folder_get_file(folder, i)); i++) {
        if (only ? strcmp(only, file->name) != 0 : !is_stream(file->name))
            continue;
        how.chunk = source_chunk_size(files);
        readers[n] = open_stream(t, folder, file, &how, options, error);
        is_fine = readers[n] != NULL;
        n += is_fine;
    }
    if (is_fine)
        merged = ttr_merge(t, readers, n, error);
    for (size_t i = 0; !is_fine && i < n; i++)
        ttr_close(readers[i]);
    alloc_free(&t->counted, readers, files, sizeof(ttr_reader *));
    folder_close(folder);
    return merged;
}

/* --- Writing --- */

enum { FILES_MAX = 1000 };

struct writing {
    struct {
        ttr_id thread;
        uint16_t source; /* source of the records that are copied; else 0 */
        struct sink *sink;
    } file[FILES_MAX];
    size_t n;
};

static const ttr_loss losses[] = {
    {.code = "little.fields",
     .what = "fields but \"value\"",
     .rule = "are left out",
     .kind = TTR_LOSS_DROPPED},
};

static ttr_status little_create(struct ttr_writer *out, ttr_error *error)
{
    const char *wish = output_option(out, "wish");
    return wish && strcmp(wish, "no") == 0 ? fail(error, TTR_E_MISUSE, NO_OFFSET, "no is no wish")
                                           : TTR_OK;
}

/* Returns the file of an event, and creates it for the first event; NULL with `error`. */
static struct sink *file_of(struct ttr_writer *out, const ttr_event *event, bool is_own,
                            ttr_error *error)
{
    struct writing *writing = out->ctx;
    char name[PATH_MAX];
    ttr_thread thread = {.tid = 0};
    uint16_t source = is_own ? event->source : 0;
    for (size_t i = 0; i < writing->n; i++)
        if (writing->file[i].thread == event->thread && writing->file[i].source == source)
            return writing->file[i].sink;
    if (writing->n == FILES_MAX) {
        (void)fail(error, TTR_E_LIMIT, event->offset, "too many threads");
        return NULL;
    }
    (void)ttr_thread_get(out->t, event->thread, &thread);
    if (is_own)
        (void)snprintf(name, sizeof name, "%s",
                       name_of(ttr_text_get(out->t, out->t->sources[source].path).p));
    else
        (void)snprintf(name, sizeof name, "%llu.bin", (unsigned long long)thread.tid);
    struct sink *sink = folder_create_file(out->folder, name, error);
    if (!sink)
        return NULL;
    writing->file[writing->n].thread = event->thread;
    writing->file[writing->n].source = source;
    writing->file[writing->n++].sink = sink;
    bool has_head = event->kind == TTR_KIND_DEFINITION;
    return has_head || sink_write(sink, LITTLE_MAGIC, LITTLE_HEAD, error) == TTR_OK ? sink : NULL;
}

/* Returns true if the head of the record's file was read before it, so that a copy is complete. */
static bool is_copied(const struct writing *writing, uint16_t source)
{
    for (size_t i = 0; i < writing->n; i++)
        if (writing->file[i].source == source)
            return true;
    return false;
}

static ttr_status write_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    uint8_t bytes[LITTLE_RECORD];
    ttr_field field;
    bool is_own = output_is_own_raw(out, event) &&
                  (event->kind == TTR_KIND_DEFINITION || is_copied(out->ctx, event->source));
    if (event->kind == TTR_KIND_DEFINITION && !is_own)
        return TTR_OK;
    struct sink *sink = file_of(out, event, is_own, error);
    if (!sink)
        return error->status;
    out->events += event->kind != TTR_KIND_DEFINITION;
    if (is_own)
        return sink_write(sink, event->payload, event->payload_size, error);
    bool has_value =
        ttr_field_find(out->t, event, "value", &field) && field.value.type == TTR_TYPE_UINT;
    if (!has_value)
        output_count_loss(out, 0, event->offset);
    (void)little_record(bytes, (uint64_t)event->time,
                        event->duration < DURATION_MAX ? event->duration : DURATION_MAX,
                        has_value ? field.value.v.u : 0);
    return sink_write(sink, bytes, sizeof bytes, error);
}

static ttr_status little_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        ttr_status status = write_event(out, ttr_batch_at(batch, i), error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

static ttr_status little_finish(struct ttr_writer *out, ttr_error *error)
{
    struct writing *writing = out->ctx;
    struct sink *main_file = folder_create_file(out->folder, "little.txt", error);
    ttr_status status =
        !main_file ? error->status
                   : sink_write(main_file, LITTLE_MAIN_FILE, sizeof LITTLE_MAIN_FILE - 1, error);
    if (main_file && status == TTR_OK)
        status = sink_finish(main_file, error);
    while (writing->n > 0 && status == TTR_OK)
        status = sink_finish(writing->file[--writing->n].sink, error);
    return status;
}

static const ttr_option_info option_list[] = {
    {.key = "wish", .values = "yes|no", .text = "a wish", .for_writing = true}};

static const struct format_folder folder = {
    .main_file = "little.txt",
    .open = open_folder,
};

static const struct format_writer writer = {
    .losses = losses,
    .losses_n = sizeof losses / sizeof *losses,
    .writes_folder = true,
    .ordered_kinds = READER_ANY_KIND,
    .state_size = sizeof(struct writing),
    .create = little_create,
    .write = little_write,
    .finish = little_finish,
};

const struct format format_little = {
    .name = "little",
    .title = "a folder format of the tests",
    .extensions = "little",
    .spec = "tests/little.h",
    .reader = &stream_reader,
    .folder = &folder,
    .writer = &writer,
    .options = option_list,
    .options_n = sizeof option_list / sizeof *option_list,
};
