/* The data streams of one stream file. A stream is added at its first packet, and freed with the
 * reader. */
#include <string.h>
#include <strings.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/read/ctf_event_class.h"

/* Returns the file name that an uncompressed copy of the stream file gets: without the suffix of
 * the compression, unless another file of the trace has that name. Returns NULL if memory is
 * out. */
static const char *make_uncompressed_file_name(const struct ctf_reader *reader)
{
    static const char *const suffixes[] = {".gz", ".zst", ".lz4", ".bz2", ".xz"};
    const size_t n = strlen(reader->file);
    size_t bare = n;
    if (!*source_compression(reader->in->source))
        return reader->file;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && bare == n; i++)
        if (n > strlen(suffixes[i]) &&
            strcasecmp(reader->file + n - strlen(suffixes[i]), suffixes[i]) == 0)
            bare = n - strlen(suffixes[i]);
    const char *name = bare < n && reader->file[bare - 1] != '/'
                           ? arena_copy(&reader->trace->class_arena, reader->file, bare)
                           : reader->file;
    return name && reader->trace->folder && folder_find_file(reader->trace->folder, name)
               ? reader->file
               : name;
}

static struct ctf_stream *make_stream(struct ctf_reader *reader, const struct ctf_frame *frame)
{
    ttr *t = reader->trace->t;
    struct ctf_stream *stream = arena_alloc(&reader->trace->class_arena, sizeof *stream);
    struct ctf_schema *schema = arena_alloc(&reader->trace->class_arena, sizeof *schema);
    uint32_t name = intern_add(&t->strings, reader->file, strlen(reader->file));
    const char *file = make_uncompressed_file_name(reader);
    if (!stream || !schema || !file || name == UINT32_MAX)
        return NULL;
    *stream = (struct ctf_stream){.trace = reader->trace,
                                  .class = frame->kind ? frame->kind->class : NULL,
                                  .kind = frame->kind,
                                  .file = file,
                                  .number = frame->has_number ? frame->number : reader->number,
                                  .has_number = frame->has_number,
                                  .schema = schema,
                                  .is_entered_late = reader->is_entered_late,
                                  .time = INT64_MIN};
    *schema = (struct ctf_schema){.base = {.place = ctf_locate_event_body},
                                  .trace = reader->trace,
                                  .stream = stream,
                                  .reader = reader};
    const struct ctf_packet_queue *queue =
        reader->file_index && frame->kind
            ? ctf_find_queue(reader->file_index, reader->packet_i, frame)
            : NULL;
    if (queue)
        stream->before = queue->initial;
    stream->first = ctf_find_stream_of_other_order(reader, stream);
    stream->track = stream->first->track;
    if (stream->first == stream)
        stream->track = context_add_track(
            t, &(ttr_track){.number = stream->number, .name = name, .source = reader->in->id});
    return stream->track && ctf_trace_register_reader(reader->trace, reader) &&
                   ctf_register_schema(reader, schema, NULL)
               ? stream
               : NULL;
}

struct ctf_stream *ctf_get_stream(struct ctf_reader *reader, const struct ctf_frame *frame)
{
    struct ctf_stream *stream = ctf_find_known_stream(reader, frame);
    if (stream)
        return stream;
    if (!alloc_reserve(&reader->trace->t->counted, (void **)&reader->streams,
                       &reader->streams_capacity, reader->streams_n + 1,
                       sizeof(struct ctf_stream *)))
        return NULL;
    stream = make_stream(reader, frame);
    if (!stream)
        return NULL;
    reader->streams[reader->streams_n++] = stream;
    return ctf_add_last_stream_to_index(reader) ? stream : NULL;
}

void ctf_free_streams(struct ctf_reader *reader)
{
    ttr *t = reader->trace->t;
    const struct alloc *alloc = &t->counted;
    ctf_trace_unregister_reader(reader->trace, reader);
    for (size_t i = 0; i < reader->streams_n; i++) {
        struct ctf_stream *stream = reader->streams[i];
        context_drop_schema(t, stream->schema->id);
        for (size_t k = 0; k < stream->by_index_n; k++)
            if (stream->by_index[k] && stream->by_index[k]->schema->reader)
                context_drop_schema(t, stream->by_index[k]->schema->id);
        alloc_free(alloc, stream->by_id_memory, stream->by_id_n + 1, sizeof *stream->by_id);
        alloc_free(alloc, stream->by_index, stream->by_index_n, sizeof *stream->by_index);
    }
    alloc_free(alloc, reader->streams, reader->streams_capacity, sizeof(struct ctf_stream *));
    pair_map_free(&reader->stream_of);
}
