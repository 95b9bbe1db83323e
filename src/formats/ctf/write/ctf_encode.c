/* Encoder for events of any format: each source becomes a trace, with one stream file per CPU and
 * one for events without a CPU.
 *
 * Times in a file must not decrease, so the pipeline sorts events before they arrive here.
 * Properties that CTF cannot express are written as fields by the rules of ctf_conventions.h.
 * Metadata are written last, when all classes are known. */
#include "base/hash.h"
#include "base/number.h"
#include "base/status.h"
#include "encodings/json/timeline.h"
#include "formats/ctf/read/ctf_name_order.h"
#include "formats/ctf/write/ctf_pending_gaps.h"

/* events of more CPUs than this are written to the file for events without CPU, with the CPU as a
 * field */
#define CPUS_MAX 64u

/* Limits of the number of event classes in a stream, since inputs may have random names or fields.
 * From NAMES_MAX classes on, a new event name is stored as a field, not as a new class. From
 * CLASSES_MAX classes on, events with new field types are written as lists (ctf_flatten_list.c). */
#define NAMES_MAX 2048u
#define CLASSES_MAX 4096u

/* --- Output traces and streams --- */

/* Returns the path of the event's trace; without the file extension if the trace is a file. */
static ttr_text get_trace_path(const struct ttr_writer *out, const ttr_event *event)
{
    const struct source_entry *source =
        &out->t->sources[event->source < out->t->sources_n ? event->source : 0];
    ttr_text path = ttr_text_get(out->t, source->trace_path);
    bool is_folder = source->format && strcmp(source->format, out->format->name) == 0;
    for (size_t n = path.n; !is_folder && n > 1 && path.p[n - 1] != '/'; n--)
        if (path.p[n - 1] == '.' && path.p[n - 2] != '/')
            return (ttr_text){path.p, n - 1};
    return path;
}

/* Returns the source id that represents the trace of the event: the first of the inputs that share
 * an environment. */
static uint16_t find_representative_source(const struct ttr_writer *out, const ttr_event *event)
{
    const ttr *t = out->t;
    uint16_t shares = event->source < t->sources_n ? t->sources[event->source].shares : 0;
    return shares ? shares : event->source;
}

struct ctf_trace_out *ctf_find_or_add_trace(struct ttr_writer *out, const ttr_event *event,
                                            uint64_t identity, enum ctf_trace_kind kind,
                                            bool *is_new)
{
    struct ctf_writer *w = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    const uint32_t *known = pair_map_get(&w->trace_of, identity, kind);
    uint32_t index = known ? *known : (uint32_t)w->traces_n;
    *is_new = !known;
    if (!pair_map_put(&w->trace_of, event->source, 0, index))
        return NULL;
    if (known)
        return w->traces[index];
    if (!alloc_reserve(alloc, (void **)&w->traces, &w->traces_capacity, w->traces_n + 1,
                       sizeof *w->traces))
        return NULL;
    struct ctf_trace_out *trace = alloc_zero(alloc, 1, sizeof *trace);
    if (!trace)
        return NULL;
    w->traces[w->traces_n++] = trace;
    bool is_made = pair_map_put(&w->trace_of, identity, kind, index);
    return is_made && ctf_output_dir_init(&trace->home, w, alloc, get_trace_path(out, event))
               ? trace
               : NULL;
}

/* Returns the CTF trace from which the event was read; NULL if its format is not CTF. */
static const struct ctf_trace *find_ctf_source(const struct ttr_writer *out, const ttr_event *event)
{
    const struct schema *schema = context_schema(out->t, event->schema);
    /* events from the sort stage have a new schema, which refers to the reader's schema */
    if (schema->base_schema)
        schema = context_schema(out->t, schema->base_schema);
    const struct ctf_schema *ctx = schema->format == out->format ? schema->ctx : NULL;
    return ctx ? ctx->trace : NULL;
}

/* Returns the output trace of the event's source; the first call adds a trace that follows the CTF
 * conventions. Returns NULL if memory runs out. */
static struct ctf_trace_out *add_encoded_trace(struct ttr_writer *out, const ttr_event *event)
{
    const struct ctf_writer *w = out->ctx;
    bool is_new = false;
    struct ctf_trace_out *trace = ctf_find_or_add_trace(
        out, event, find_representative_source(out, event), CTF_TRACE_OF_ANY, &is_new);
    const struct ctf_trace *source = find_ctf_source(out, event);
    enum ctf_version version = w->options.version ? w->options.version
                               : source           ? source->class->description.version
                                                  : CTF_1_8;
    if (!trace || !is_new)
        return trace;
    trace->like = source;
    if (!ctf_trace_out_init(trace, out->t, &w->options, version, event))
        return NULL;
    const struct ctf_stream_class *section = source && source->class->description.streams_n
                                                 ? source->class->description.streams[0]
                                                 : NULL;
    trace->source_header_type = section ? section->rfc_header : 0;
    trace->source_has_event_size = section && section->rfc_has_event_size;
    return trace;
}

static struct ctf_trace_out *get_encoded_trace(struct ttr_writer *out, const ttr_event *event)
{
    struct ctf_writer *w = out->ctx;
    const uint32_t *index = pair_map_get(&w->trace_of, event->source, 0);
    return index ? w->traces[*index] : add_encoded_trace(out, event);
}

/* Returns the trace's stream class for packets with or without a CPU; the first call adds the
 * class. Returns NULL if memory runs out. */
static struct ctf_stream_class_out *get_stream_class(struct ctf_trace_out *trace, bool has_cpu)
{
    for (size_t i = 0; i < trace->kinds_n; i++)
        if (trace->kinds[i]->has_cpu == has_cpu)
            return trace->kinds[i];
    const struct ctf_stream_class_spec like = {
        .name = {has_cpu ? "cpu" : "events", has_cpu ? 3 : 6},
        .id = trace->kinds_n,
        .has_cpu = has_cpu,
        .has_clock = true,
        .has_time = true,
        .has_sequence = true,
        .has_discarded = true,
        .clock = trace->clock,
        .rfc_header = trace->source_header_type,
        .rfc_has_event_size = trace->source_has_event_size};
    return ctf_trace_out_add_stream_class(trace, &like);
}

struct ctf_stream_out *ctf_add_stream_file(struct ctf_writer *w, const struct alloc *alloc,
                                           struct ctf_trace_out *trace,
                                           struct ctf_stream_class_out *kind, ttr_text name)
{
    if (!alloc_reserve(alloc, (void **)&w->streams, &w->streams_capacity, w->streams_n + 1,
                       sizeof *w->streams))
        return NULL;
    struct ctf_stream_out *stream = alloc_zero(alloc, 1, sizeof *stream);
    if (!stream)
        return NULL;
    w->streams[w->streams_n++] = stream;
    *stream = (struct ctf_stream_out){
        .trace = trace, .kind = kind, .number = trace->streams_n++, .name_size = name.n + 1};
    buffer_init(&stream->packet, alloc);
    ctf_index_out_init(&stream->index, alloc);
    buffer_init(&stream->head, alloc);
    stream->name = alloc_zero(alloc, stream->name_size, 1);
    if (stream->name)
        memcpy(stream->name, name.p, name.n);
    return stream->name ? stream : NULL;
}

static struct ctf_stream_out *add_encoded_stream(struct ttr_writer *out,
                                                 struct ctf_trace_out *trace, bool has_cpu,
                                                 uint32_t cpu)
{
    char name[8 + NUMBER_MAX] = "events";
    size_t n = has_cpu ? 4 + number_format_u64(name + 4, cpu) : 6;
    if (has_cpu)
        memcpy(name, "cpu_", 4);
    struct ctf_stream_class_out *kind = get_stream_class(trace, has_cpu);
    struct ctf_stream_out *stream =
        kind ? ctf_add_stream_file(out->ctx, &out->t->counted, trace, kind, (ttr_text){name, n})
             : NULL;
    if (stream) {
        stream->has_cpu = has_cpu;
        stream->cpu = cpu;
    }
    return stream;
}

static struct ctf_stream_out *get_encoded_stream(struct ttr_writer *out,
                                                 struct ctf_trace_out *trace,
                                                 const ttr_event *event)
{
    struct ctf_writer *w = out->ctx;
    uint32_t *index = pair_map_get(&w->trace_of, event->source, 0);
    uint64_t place = index ? *index : 0,
             cpu = event->flags & TTR_EVENT_HAS_CPU ? event->cpu + UINT64_C(1) : 0;
    index = pair_map_get(&w->stream_of, place, cpu);
    if (!index && trace->streams_n > CPUS_MAX) {
        cpu = 0;
        index = pair_map_get(&w->stream_of, place, 0);
    }
    if (index)
        return w->streams[*index];
    struct ctf_stream_out *stream = add_encoded_stream(out, trace, cpu != 0, (uint32_t)(cpu - 1));
    return stream && pair_map_put(&w->stream_of, place, cpu, (uint32_t)(w->streams_n - 1)) ? stream
                                                                                           : NULL;
}

/* --- Names of threads --- */

/* Returns the entry of `id` in a table of struct ctf_written_names. Extends the table with zeros
 * if it has no entry for `id`. Returns NULL if memory runs out. */
static uint32_t *get_written_name_entry(uint32_t **table, size_t *n, const struct alloc *alloc,
                                        uint32_t id)
{
    size_t before = *n;
    if (id >= before && !alloc_reserve(alloc, (void **)table, n, (size_t)id + 1, sizeof **table))
        return NULL;
    memset(*table + before, 0, (*n - before) * sizeof **table);
    return &(*table)[id];
}

/* Appends an event with the names of a thread and its process, unless they are unknown or were
 * written before. */
static ttr_status write_thread_names(struct ttr_writer *out, struct ctf_stream_out *stream,
                                     ttr_id id, uint64_t ticks, ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    struct ctf_trace_out *trace = stream->trace;
    const struct alloc *alloc = &out->t->counted;
    const struct ctf_items_config what = {
        .out = out, .version = trace->description.version, .has_conventions = true};
    ttr_thread thread;
    if (!ttr_thread_get(out->t, id, &thread))
        return TTR_OK;
    ttr_id *written_names = get_written_name_entry(&trace->written_names.thread,
                                                   &trace->written_names.threads_n, alloc, id);
    ttr_id *process =
        get_written_name_entry(&trace->written_names.process, &trace->written_names.processes_n,
                               alloc, out->t->threads[id].process);
    uint32_t *change = get_written_name_entry(&trace->written_names.change,
                                              &trace->written_names.changes_n, alloc, id);
    if (!written_names || !process || !change)
        return fail_memory(error);
    *change = out->t->name_change_count + 1;
    bool has_thread = thread.thread_name && *written_names != thread.thread_name + 1,
         has_process = thread.process_name && *process != thread.process_name + 1;
    *written_names = thread.thread_name + 1;
    if (!has_thread && !has_process)
        return TTR_OK;
    *process = thread.process_name + 1;
    ctf_items_clear(&w->items);
    ctf_items_add_constant(&w->items, CTF_ATTRIBUTE_KIND, CTF_KIND_NAMES, (ttr_text){"names", 5});
    ctf_items_add_thread(&w->items, &thread, CTF_ATTRIBUTE_PID);
    w->items.context_n = what.version == CTF_RFC_1_1 ? 0 : w->items.n;
    if (has_process)
        ctf_items_add_text(&w->items, "process", ttr_text_get(out->t, thread.process_name));
    if (has_thread)
        ctf_items_add_text(&w->items, "thread", ttr_text_get(out->t, thread.thread_name));
    ctf_items_complete(&w->items, &what, 0);
    const struct ctf_class_key key = {
        .name = {"names", 5}, .is_unnamed = true, .identity = UINT64_MAX};
    const struct ctf_event_class *class =
        w->items.failed ? NULL : ctf_get_event_class(trace, stream->kind, &w->items, &key);
    return class ? ctf_stream_append_event(stream, out, class, &w->items, ticks, error)
                 : fail_memory(error);
}

/* --- Writing of events --- */

/* Returns the event's time in ticks of the stream. Uses the time of the stream's last event if
 * that is later, and counts a loss then. */
static uint64_t event_to_stream_ticks(struct ttr_writer *out, struct ctf_stream_out *stream,
                                      const ttr_event *event)
{
    uint64_t ticks = (uint64_t)event->time - (uint64_t)stream->trace->base;
    stream->trace->has_unix_time |= context_has_unix_time(out->t, event);
    if (event->time < stream->trace->base || ticks < stream->last) {
        ticks = stream->last;
        output_count_loss(out, CTF_LOST_BACKWARD, event->offset);
    }
    if (event->source && event->ticks != ticks && !(event->flags & TTR_EVENT_NO_TIME))
        output_count_loss(out, CTF_LOST_TICKS, event->offset);
    return ticks;
}

/* Returns true if readers return events of `a` before events of `b` that have the same time.
 * Readers order streams by class id and number; in v1.1, sections may have equal ids, so they are
 * ordered by file name. */
static bool is_stream_read_before(const struct ctf_stream_out *a, const struct ctf_stream_out *b)
{
    if (a->kind->class->id != b->kind->class->id)
        return a->kind->class->id < b->kind->class->id;
    if (a->trace->description.version == CTF_RFC_1_1)
        return ctf_compare_names(a->name, b->name) < 0;
    return a->trace->has_numbers ? a->number < b->number : strcmp(a->name, b->name) < 0;
}

void ctf_count_reordered(struct ttr_writer *out, const struct ctf_stream_out *stream,
                         const ttr_event *event)
{
    struct ctf_writer *w = out->ctx;
    bool is_same_time = w->latest && event->time == w->now && w->latest->trace == stream->trace;
    if (is_same_time && is_stream_read_before(stream, w->latest)) {
        output_count_loss(out, CTF_LOST_ORDER, event->offset);
        return;
    }
    w->now = event->time;
    w->latest = stream;
}

/* An event to be written: its items and its event class. */
struct encoded_event {
    const struct ctf_items *items;
    const struct ctf_event_class *class; /* class of the event; NULL if memory runs out */
};

/* Converts w->items, which are the items of `event`, to a list of (name, value) entries. The last
 * attribute must be the event name. */
static struct encoded_event convert_event_to_list(struct ttr_writer *out,
                                                  struct ctf_stream_out *stream,
                                                  const ttr_event *event)
{
    struct ctf_writer *w = out->ctx;
    const struct ctf_class_key key = {
        .name = {"listed", 6}, .is_unnamed = true, .identity = UINT64_MAX - 1};
    uint8_t level =
        /* a level above FATAL is an attribute in w->items already */
        event->level <= TTR_LEVEL_FATAL ? event->level : 0;
    /* list entries store only numbers, so the labels are lost */
    for (size_t i = 0; i < w->items.n; i++) {
        const unsigned hint = w->items.field[i].value.hint;
        if (hint == CTF_ITEM_LABELLED || hint == CTF_ITEM_FLAGS)
            output_count_loss(out, CTF_LOST_LABEL, event->offset);
    }
    uint32_t number, version;
    if (ttr_event_number(out->t, event, &number, &version))
        output_count_loss(out, CTF_LOST_NUMBER, event->offset);
    bool is_listed = ctf_field_list_build(&w->listing, out->t, &w->items, level,
                                          stream->trace->description.version == CTF_RFC_1_1);
    return (struct encoded_event){
        &w->listing.items,
        is_listed ? ctf_get_event_class(stream->trace, stream->kind, &w->listing.items, &key)
                  : NULL};
}

/* Returns the event class for w->items. Adds a class if the stream has fewer than `most`. Returns
 * NULL if it has that many, or memory runs out. */
static const struct ctf_event_class *find_class_below_limit(struct ctf_writer *w,
                                                            struct ctf_stream_out *stream,
                                                            const struct ctf_class_key *key,
                                                            size_t most)
{
    const struct ctf_event_class *known = ctf_find_event_class(stream->kind, &w->items, key);
    if (known || stream->kind->class->events_n + stream->kind->refused_n >= most)
        return known;
    return ctf_get_event_class(stream->trace, stream->kind, &w->items, key);
}

static struct encoded_event choose_event_class(struct ttr_writer *out,
                                               struct ctf_stream_out *stream,
                                               const ttr_event *event)
{
    struct ctf_writer *w = out->ctx;
    bool is_level = event->level > 0 && event->level <= TTR_LEVEL_FATAL;
    const char *kind = ttr_kind_text(event->kind);
    struct ctf_class_key key = {.name = event->name ? ttr_text_get(out->t, event->name)
                                                    : (ttr_text){kind, strlen(kind)},
                                .is_unnamed = !event->name,
                                .identity = hash_pair(event->name, is_level ? event->level : 0),
                                .has_log_level = is_level,
                                .log_level = is_level ? ctf_log_levels[event->level] : 0};
    const struct ctf_event_class *class =
        w->items.failed ? NULL : find_class_below_limit(w, stream, &key, NAMES_MAX);
    if (class || w->items.failed || stream->trace->types.failed)
        return (struct encoded_event){&w->items, class};
    bool is_refused = ctf_is_event_class_refused(stream->kind, &w->items, &key);
    buffer_clear(&w->name);
    ctf_label_escape(&w->name, ttr_text_get(out->t, event->name));
    ctf_items_add_name(&w->items, (ttr_text){(const char *)w->name.bytes, w->name.n},
                       stream->trace->description.version == CTF_RFC_1_1);
    if (w->items.failed || w->name.failed)
        return (struct encoded_event){&w->items, NULL};
    key.name = (ttr_text){"event", 5};
    key.is_unnamed = true;
    key.identity = hash_pair(UINT32_MAX, is_level ? event->level : 0);
    class = is_refused ? NULL : find_class_below_limit(w, stream, &key, CLASSES_MAX);
    return class || stream->trace->types.failed ? (struct encoded_event){&w->items, class}
                                                : convert_event_to_list(out, stream, event);
}

static ttr_status encode_event_of_any_format(struct ttr_writer *out, const ttr_event *event,
                                             ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    struct ctf_trace_out *trace = get_encoded_trace(out, event);
    struct ctf_stream_out *stream = trace ? get_encoded_stream(out, trace, event) : NULL;
    if (!stream)
        return fail_memory(error);
    ttr_status status = ctf_trace_out_check_options(trace, &w->options, error);
    if (status != TTR_OK)
        return status;
    uint64_t ticks = event_to_stream_ticks(out, stream, event);
    ctf_count_reordered(out, stream, event);
    const struct ctf_written_names *written_names = &trace->written_names;
    bool may_be_new =
        event->thread && (event->thread >= written_names->changes_n ||
                          written_names->change[event->thread] != out->t->name_change_count + 1);
    status = may_be_new ? write_thread_names(out, stream, event->thread, ticks, error) : TTR_OK;
    if (status != TTR_OK)
        return status;
    const struct ctf_items_config what = {.out = out,
                                          .version = trace->description.version,
                                          .has_conventions = true,
                                          .has_cpu = stream->has_cpu};
    ctf_items_collect(&w->items, &what, event);
    struct encoded_event encoded_event = choose_event_class(out, stream, event);
    if (!encoded_event.class)
        return fail_memory(error);
    if (event->kind == TTR_KIND_GAP)
        stream->discarded += event->link;
    output_count_event(out, event);
    return ctf_stream_append_event(stream, out, encoded_event.class, encoded_event.items, ticks,
                                   error);
}

/* Writes the gaps of a source that were counted before its first event as one gap event of the CTF
 * conventions. They are counted first because only the first event shows whether the source is
 * transcoded. */
static ttr_status write_pending_gap(struct ttr_writer *out, const ttr_event *event,
                                    ttr_error *error)
{
    const struct ctf_writer *w = out->ctx;
    struct ctf_pending_gaps *missing =
        event->source < w->missing_n ? &w->missing[event->source] : NULL;
    if (!missing || (missing->events == 0 && missing->packets == 0 && missing->unknown == 0))
        return TTR_OK;
    ttr_event gap = {.kind = TTR_KIND_GAP,
                     .source = event->source,
                     .time = event->time,
                     .ticks = event->ticks,
                     .offset = event->offset,
                     .link = missing->events,
                     .tag = missing->packets ? TTR_GAP_PACKETS : TTR_GAP_EVENTS,
                     .sequence =
                         missing->packets < UINT32_MAX ? (uint32_t)missing->packets : UINT32_MAX};
    *missing = (struct ctf_pending_gaps){0};
    return encode_event_of_any_format(out, &gap, error);
}

ttr_status ctf_encode_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    if (ctf_is_transcoded(out, event))
        return ctf_transcode_event(out, event, error);
    ttr_status status = write_pending_gap(out, event, error);
    return status == TTR_OK ? encode_event_of_any_format(out, event, error) : status;
}

/* --- End of all streams --- */

/* Returns the stream that contains the trace's last event in reading order; NULL if the trace has
 * no streams. */
static struct ctf_stream_out *find_last_stream(const struct ctf_writer *w,
                                               const struct ctf_trace_out *trace)
{
    struct ctf_stream_out *last = NULL;
    for (size_t i = 0; i < w->streams_n; i++) {
        struct ctf_stream_out *stream = w->streams[i];
        if (stream->trace == trace &&
            (!last || stream->last > last->last ||
             (stream->last == last->last && is_stream_read_before(last, stream))))
            last = stream;
    }
    return last;
}

/* Writes the names of threads that became known after the last event of the thread, as events at
 * the end of each trace. */
static ttr_status write_final_names(struct ttr_writer *out, ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    ttr_status status = TTR_OK;
    for (size_t i = 0; i < w->traces_n; i++) {
        const struct ctf_written_names *written_names = &w->traces[i]->written_names;
        struct ctf_stream_out *stream =
            written_names->threads_n ? find_last_stream(w, w->traces[i]) : NULL;
        for (size_t id = 1; stream && id < written_names->threads_n && status == TTR_OK; id++)
            if (written_names->thread[id])
                status = write_thread_names(out, stream, (ttr_id)id, stream->last, error);
    }
    return status;
}

static ttr_status write_trace_metadata(const struct ctf_trace_out *trace, struct ttr_writer *out,
                                       ttr_error *error)
{
    struct buffer text;
    buffer_init(&text, &out->t->counted);
    ttr_status status =
        ctf_print_metadata(&trace->description, trace->description.version, &text, error);
    if (status == TTR_OK)
        status = ctf_write_metadata(&(struct ctf_metadata){&trace->description,
                                                           trace->description.version,
                                                           trace->options, trace->home.folder},
                                    &text, out, error);
    buffer_free(&text);
    return status;
}

ttr_status ctf_encode_finish(struct ttr_writer *out, bool needs_trace, ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    ttr_status status = write_final_names(out, error);
    if (status == TTR_OK)
        status = ctf_pending_gaps_finish(out, error);
    for (size_t i = 0; i < w->streams_n && status == TTR_OK; i++)
        status = ctf_stream_finish(w->streams[i], out, error);
    if (status == TTR_OK && needs_trace && w->traces_n == 0 &&
        !add_encoded_trace(out, &(ttr_event){.kind = TTR_KIND_NONE}))
        status = fail_memory(error);
    if (status == TTR_OK && !ctf_trace_groups_complete(w, &out->t->counted))
        status = fail_memory(error);
    for (size_t i = 0; i < w->traces_n && status == TTR_OK; i++) {
        struct ctf_trace_out *trace = w->traces[i];
        if (trace->clock && !trace->keeps_clocks)
            trace->clock->is_unix = trace->clock->is_absolute = trace->has_unix_time;
        status = ctf_trace_out_check_options(trace, &w->options, error);
        if (status == TTR_OK)
            status = write_trace_metadata(trace, out, error);
    }
    return status;
}

void ctf_encode_free(struct ctf_writer *w, const struct alloc *alloc)
{
    for (size_t i = 0; i < w->streams_n; i++) {
        ctf_stream_free(w->streams[i], alloc);
        alloc_free(alloc, w->streams[i], 1, sizeof *w->streams[i]);
    }
    for (size_t i = 0; i < w->traces_n; i++) {
        ctf_trace_out_free(w->traces[i], alloc);
        alloc_free(alloc, w->traces[i], 1, sizeof *w->traces[i]);
    }
    alloc_free(alloc, w->streams, w->streams_capacity, sizeof *w->streams);
    alloc_free(alloc, w->traces, w->traces_capacity, sizeof *w->traces);
    ctf_trace_groups_free(w, alloc);
    pair_map_free(&w->trace_of);
    pair_map_free(&w->stream_of);
    key_map_free(&w->names_in_use);
    alloc_free(alloc, w->missing, w->missing_n, sizeof *w->missing);
    ctf_items_free(&w->items);
    ctf_items_free(&w->packet_items);
    ctf_field_list_free(&w->listing);
    buffer_free(&w->name);
}
