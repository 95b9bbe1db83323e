/* Input: the functions that format readers call, and the batches, reports and limits that all of
 * them share. */
#include "model/input.h"

#include <stdio.h>
#include <string.h>

#include "base/clock_math.h"
#include "base/self_zones.h"
#include "base/status.h"
#include "model/options.h"

/* Updates the meaning of the source's times: the same for all of its clocks, else unknown. */
static void update_source_clock(struct input *in)
{
    bool is_anchored = in->clocks[0].is_anchored;
    struct source_entry *source = &in->base.t->sources[in->id];
    source->clock = is_anchored ? SOURCE_UNIX_TIME : SOURCE_OWN_TIME;
    for (size_t i = 1; i < in->clocks_n; i++)
        if (in->clocks[i].is_anchored != is_anchored)
            source->clock = SOURCE_UNKNOWN;
}

void input_set_clock_reference(struct input *in, size_t index)
{
    in->clocks[index].is_anchored = true;
    update_source_clock(in);
}

size_t input_add_clock(struct input *in, const ttr_clock *clock)
{
    const struct alloc *alloc = &in->base.t->counted;
    if (in->clocks_n ==
        /* starts with one clock: most inputs have no more, and there may be thousands of inputs */
        in->clocks_capacity) {
        const size_t more = in->clocks_n ? 2 * in->clocks_n : 1;
        ttr_clock *clocks =
            alloc_resize(alloc, in->clocks, in->clocks_capacity, more, sizeof *clocks);
        if (!clocks)
            return SIZE_MAX;
        in->clocks = clocks;
        in->clocks_capacity = more;
    }
    in->clocks[in->clocks_n] = *clock;
    in->clocks[in->clocks_n].offset_ns = in->time_offset;
    in->clocks_n++;
    update_source_clock(in);
    return in->clocks_n - 1;
}

const char *input_get_option(const struct input *in, const char *key)
{
    return options_get(in->format_options, in->format_options_n, key);
}

/* Returns a byte range clipped to the input, since offsets computed from corrupt data may exceed
 * it. For NO_OFFSET returns a range without an offset. */
static ttr_region clip_region(const struct input *in, uint64_t offset, uint64_t bytes,
                              const char *code)
{
    if (offset == NO_OFFSET)
        return (ttr_region){.offset = NO_OFFSET, .code = code};
    uint64_t end = in->size ? in->size : in->source ? source_end_offset(in->source) : UINT64_MAX;
    offset = offset < end ? offset : end;
    return (ttr_region){
        .offset = offset, .bytes = bytes < end - offset ? bytes : end - offset, .code = code};
}

ttr_status input_add_damage(struct input *in, uint64_t offset, uint64_t bytes, const char *code,
                            ttr_error *error, const char *format, ...)
{
    va_list values;
    const ttr_region region = clip_region(in, offset, bytes, code);
    va_start(values, format);
    diagnostics_add(&in->notes, TTR_SEVERITY_DAMAGE, &region, format, values);
    va_end(values);
    if (!(in->flags & TTR_READ_STRICT))
        return TTR_OK;
    char text[DIAGNOSTICS_TEXT_MAX];
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return fail(error, TTR_E_MALFORMED, region.offset, "%s (%s)", text, code);
}

void input_add_diagnostic(struct input *in, ttr_severity severity, uint64_t offset,
                          const char *code, const char *format, ...)
{
    va_list values;
    const ttr_region region = clip_region(in, offset, 0, code);
    va_start(values, format);
    diagnostics_add(&in->notes, severity, &region, format, values);
    va_end(values);
}

ttr_status input_add_stream_damage(struct input *in, const ttr_error *broken, ttr_error *error)
{
    return input_add_damage(in, broken->offset, 0, "input.compression", error, "%s", broken->text);
}

ttr_status input_fill(struct input *in, uint64_t offset, size_t need, ttr_error *error)
{
    ttr_error ctx;
    ttr_status status = source_fill(in->source, offset, need, &in->window, &ctx);
    if (status == TTR_E_MALFORMED || status == TTR_E_TRUNCATED)
        return input_add_stream_damage(in, &ctx, error);
    if (status != TTR_OK && error)
        *error = ctx;
    return status;
}

static void shift_event_times(struct input *in)
{
    for (uint32_t i = 0; i < in->n; i++) {
        bool clamped = false;
        in->events[i].time = add_saturated(in->events[i].time, in->time_offset, &clamped);
        if (clamped)
            in->events[i].flags |= TTR_EVENT_CLAMPED;
    }
}

static void count_events(struct input *in)
{
    for (uint32_t i = 0; i < in->n; i++) {
        const ttr_event *event = &in->events[i];
        if (event->kind == TTR_KIND_GAP) {
            in->gaps++;
            in->lost += event->link;
            in->lost_packets += event->tag == TTR_GAP_PACKETS ? event->sequence : 0;
        } else if (event->kind != TTR_KIND_DEFINITION) {
            in->events_total++;
        }
    }
}

static bool event_has_time(const ttr_event *event)
{
    return event->kind != TTR_KIND_GAP && event->kind != TTR_KIND_DEFINITION &&
           !(event->flags & TTR_EVENT_NO_TIME);
}

/* Records the times of the first and last event of a batch. Does nothing unless events are in time
 * order. */
static void record_event_times(struct input *in)
{
    uint32_t first = 0, last = in->n;
    if (in->base.order != TTR_ORDER_TIME)
        return;
    while (!in->has_times && first < in->n && !event_has_time(&in->events[first]))
        first++;
    if (!in->has_times && first < in->n) {
        in->has_times = true;
        in->first = in->events[first].time;
    }
    while (last > 0 && !event_has_time(&in->events[last - 1]))
        last--;
    if (last > 0)
        in->last = in->events[last - 1].time;
}

/* Stores the status that the next read returns. Memory for the error is allocated only on failure:
 * most inputs simply end. */
static void store_pending_status(struct input *in, ttr_status status, const ttr_error *error)
{
    in->pending = status;
    if (status <= TTR_AGAIN)
        return;
    in->pending_error = alloc_resize(&in->base.t->counted, NULL, 0, 1, sizeof *in->pending_error);
    if (in->pending_error)
        *in->pending_error = *error;
    else
        in->pending = TTR_E_NOMEM;
}

/* Returns the stored status and error. */
static ttr_status return_pending_status(const struct input *in, ttr_error *error)
{
    if (in->pending_error)
        *error = *in->pending_error;
    else if (in->pending == TTR_E_NOMEM)
        (void)fail_memory(error);
    return in->pending;
}

/* Counts the events of a batch. A failure after these events is stored for the next read. */
static void count_batch_events(struct input *in, ttr_status status, const ttr_error *error)
{
    in->position = in->events[in->n - 1].offset;
    record_event_times(in);
    if (status != TTR_OK)
        store_pending_status(in, status, error);
    count_events(in);
}

/* Sets the format's name in an error, except for errors that the format did not cause (memory,
 * I/O). */
static void set_error_format(const struct input *in, ttr_status status, ttr_error *error)
{
    if (status > TTR_AGAIN && !error->format[0])
        (void)snprintf(error->format, sizeof error->format, "%s", in->format->name);
}

/* Frees the event buffer at the end of the input. Thousands of inputs may follow in the same merge
 * and need the memory. */
static void free_event_buffer(struct input *in)
{
    if (in->caller_events)
        return;
    alloc_free(&in->base.t->counted, in->events, in->batch, sizeof *in->events);
    in->events = NULL;
}

static ttr_status input_read_batch(ttr_reader *reader, ttr_batch *batch, ttr_error *error)
{
    SELF_ZONE(read, "read batch");
    struct input *in = (struct input *)reader;
    if (in->pending != TTR_OK) {
        in->position = UINT64_MAX;
        if (in->pending == TTR_END)
            free_event_buffer(in);
        return return_pending_status(in, error);
    }
    in->n = 0;
    /* Allocated at the first read: a merge may supply a buffer after opening all inputs. */
    if (!in->events)
        in->events = in->caller_events
                         ? in->caller_events
                         : alloc_zero(&reader->t->counted, in->batch, sizeof *in->events);
    if (!in->events)
        return fail_memory(error);
    ttr_status status = in->format->reader->next(in, error);
    set_error_format(in, status, error);
    if (status != TTR_OK && in->n == 0) {
        in->position = UINT64_MAX;
        if (status == TTR_END)
            free_event_buffer(in);
        return status;
    }
    if (in->time_offset)
        shift_event_times(in);
    count_batch_events(in, status, error);
    *batch = (ttr_batch){.event = in->events, .n = in->n};
    return TTR_OK;
}

/* Returns true if the format can stop before a given time. Not supported if the caller wants
 * definitions or the user shifts times. */
static bool can_read_until(const struct input *in)
{
    return in->format->reader->stops && in->base.order == TTR_ORDER_TIME &&
           !(in->flags & TTR_READ_DEFINITIONS) && !in->time_offset;
}

static ttr_status input_read_until(ttr_reader *reader, struct reader_partial_read *some,
                                   ttr_error *error)
{
    SELF_ZONE(read, "read until");
    struct input *in = (struct input *)reader;
    if (!some)
        return can_read_until(in) ? TTR_OK : TTR_E_UNSUPPORTED;
    if (in->pending != TTR_OK) {
        in->position = UINT64_MAX;
        return return_pending_status(in, error);
    }
    in->events = in->caller_events = some->events;
    in->batch = some->room;
    in->until = some->until;
    in->is_stopped = false;
    in->n = 0;
    ttr_status status = in->format->reader->next(in, error);
    set_error_format(in, status, error);
    some->n = in->n;
    some->is_stopped = in->is_stopped && status == TTR_OK;
    some->next = in->stopped_at;
    if (in->n == 0) {
        in->position = status == TTR_OK ? in->position : UINT64_MAX;
        return status;
    }
    count_batch_events(in, status, error);
    return TTR_OK;
}

/* Frees the events of the last batch, unless the caller supplied the buffer. */
static void free_events(struct input *in)
{
    if (!in->caller_events)
        alloc_free(&in->base.t->counted, in->events, in->batch, sizeof *in->events);
    in->events = NULL;
}

bool input_add_name_change(struct input *in, const struct rename *what, int64_t time)
{
    ttr *t = in->base.t;
    bool is_clamped = false;
    if (in->renames)
        return pending_names_add(in->renames, what,
                                 add_saturated(time, in->time_offset, &is_clamped),
                                 t->sources[in->id].merge_position);
    name_change_apply(t, what);
    return true;
}

void input_free_buffers(struct input *in)
{
    free_events(in);
    source_free_window(in->source);
}

static void input_close(ttr_reader *reader)
{
    struct input *in = (struct input *)reader;
    const struct alloc *alloc = &in->base.t->counted;
    free_events(in);
    if (in->ctx)
        in->format->reader->close(in);
    source_close(in->source);
    diagnostics_free(&in->notes);
    options_free(alloc, in->format_options, in->format_options_n);
    buffer_free(&in->description);
    alloc_free(alloc, in->clocks, in->clocks_capacity, sizeof *in->clocks);
    alloc_free(alloc, in->ctx, 1, in->format->reader->state_size);
    alloc_free(alloc, in->pending_error, 1, sizeof *in->pending_error);
    alloc_free(alloc, in, 1, sizeof *in);
}

/* Sets the path and number of the input's trace in its report. */
static void fill_trace_report(const struct input *in, ttr_report *report)
{
    const ttr *t = in->base.t;
    ttr_attribute attribute;
    report->source = in->id;
    report->trace = t->sources[in->id].shares ? t->sources[in->id].shares : in->id;
    report->trace_path = report->path;
    for (size_t i = 0; ttr_source_attribute(t, report->trace, i, &attribute); i++)
        if (attribute.name.n == strlen("trace.path") &&
            memcmp(attribute.name.p, "trace.path", attribute.name.n) == 0)
            report->trace_path = attribute.value.text;
}

static bool input_get_report(ttr_reader *reader, size_t index, ttr_report *report)
{
    struct input *in = (struct input *)reader;
    if (index > 0)
        return false;
    report->format = in->format->name;
    report->version = in->version ? in->version : "";
    report->compression = source_compression(in->source);
    report->path = ttr_text_get(reader->t, reader->t->sources[in->id].path);
    const uint64_t following = in->window.offset + in->window.n,
                   end = source_end_offset(in->source);
    report->bytes = in->window.n == 0 && end < following ? end
                                                         /* a corrupt offset may have moved the read
                                                          * window past the end of the file */
                                                         : following;
    report->disk_size = source_disk_size(in->source);
    report->disk_used = source_disk_bytes_read(in->source);
    report->shares_file = in->shares_file;
    if (in->shares_file)
        report->bytes = report->disk_size = report->disk_used = 0;
    /* A mapped file has one window, the complete file. The offset of the last event is therefore
     * the progress. */
    if (!*report->compression && in->position < report->disk_used)
        report->disk_used = in->position;
    report->events = in->events_total;
    report->lost = in->lost;
    report->lost_packets = in->lost_packets;
    report->gaps = in->gaps;
    report->packets = in->packets;
    report->duplicates = in->duplicates;
    report->has_times = in->has_times;
    report->first_ns = in->first;
    report->last_ns = in->last;
    report->damage_regions = in->notes.damage_regions;
    report->damage_bytes = in->notes.damage_bytes;
    report->notes = in->notes.note;
    report->notes_n = in->notes.n;
    report->regions = in->notes.region;
    report->regions_n = in->notes.regions_n;
    report->clocks = in->clocks;
    report->clocks_n = in->clocks_n;
    report->order = reader->order;
    fill_trace_report(in, report);
    return true;
}

static struct input *input_get_from_reader(ttr_reader *reader, size_t index)
{
    return index == 0 ? (struct input *)reader : NULL;
}

static struct diagnostics *input_get_diagnostics(ttr_reader *reader)
{
    return &((struct input *)reader)->notes;
}

/* Passes a time range to the format, converted to times without the user's offset. A bound that
 * would overflow is ignored. */
static void input_set_range(ttr_reader *reader, int64_t from_ns, int64_t to_ns)
{
    struct input *in = (struct input *)reader;
    int64_t from = from_ns, to = to_ns;
    if (__builtin_sub_overflow(from_ns, in->time_offset, &from) || from_ns == INT64_MIN)
        from = INT64_MIN;
    if (__builtin_sub_overflow(to_ns, in->time_offset, &to) || to_ns == INT64_MAX)
        to = INT64_MAX;
    if (in->format->reader->range)
        in->format->reader->range(in, from, to);
}

static void input_set_batch_size(ttr_reader *reader, uint32_t batch)
{
    struct input *in = (struct input *)reader;
    batch = batch < INPUT_BATCH_MIN ? INPUT_BATCH_MIN : batch;
    in->batch = batch < in->batch ? batch : in->batch;
}

static uint32_t input_get_kinds(ttr_reader *reader)
{
    struct input *in = (struct input *)reader;
    return in->format->reader->kinds ? in->format->reader->kinds(in) : READER_ANY_KIND;
}

static uint32_t input_set_buffer(ttr_reader *reader, ttr_event *events)
{
    struct input *in = (struct input *)reader;
    if (events)
        in->caller_events = events;
    return in->batch;
}

static void input_assign_rank(ttr_reader *reader, uint32_t *next)
{
    const struct input *in = (const struct input *)reader;
    in->base.t->sources[in->id].rank = (*next)++;
}

static void input_set_pending_names(ttr_reader *reader, struct pending_names *renames,
                                    uint32_t merge_position)
{
    struct input *in = (struct input *)reader;
    in->renames = renames;
    reader->t->sources[in->id].merge_position = merge_position;
}

static const struct reader_ops input_ops = {.next = input_read_batch,
                                            .close = input_close,
                                            .range = input_set_range,
                                            .set_batch_size = input_set_batch_size,
                                            .set_buffer = input_set_buffer,
                                            .kinds = input_get_kinds,
                                            .read_until = input_read_until,
                                            .renames = input_set_pending_names,
                                            .rank = input_assign_rank,
                                            .report = input_get_report,
                                            .input = input_get_from_reader,
                                            .notes = input_get_diagnostics};

static ttr_status init_input(struct input *in, const char *path, const ttr_read_options *options,
                             ttr_error *error)
{
    ttr *t = in->base.t;
    in->ctx = alloc_zero(&t->counted, 1, in->format->reader->state_size);
    in->id = context_add_source(t, path, in->format->name);
    if (!in->ctx || in->id == UINT16_MAX)
        return fail_memory(error);
    if (!options)
        return TTR_OK;
    in->flags = options->flags;
    if (options->max_record)
        in->max_record =
            options->max_record > INPUT_RECORD_MIN ? options->max_record : INPUT_RECORD_MIN;
    in->time_offset = options->time_offset;
    return options_copy(
        &(struct options_list){&t->counted, options->format_options, in->format, false},
        &in->format_options, &in->format_options_n, error);
}

struct input *input_new(ttr *t, struct source *source, const struct format *format,
                        const char *path, const ttr_read_options *options, ttr_error *error)
{
    struct input *in = alloc_zero(&t->counted, 1, sizeof *in);
    if (!in) {
        source_close(source);
        (void)fail_memory(error);
        return NULL;
    }
    in->base =
        (ttr_reader){.t = t, .ops = &input_ops, .order = format->reader->order, .reports = 1};
    in->format = format;
    in->source = source;
    in->batch = INPUT_BATCH_SIZE;
    in->until = INT64_MAX;
    in->max_record = UINT32_MAX;
    diagnostics_init(&in->notes, &t->counted);
    buffer_init(&in->description, &t->counted);
    ttr_status status = init_input(in, path, options, error);
    if (status == TTR_OK)
        status = format->reader->open(in, error);
    if (status == TTR_OK)
        return in;
    if (error)
        (void)snprintf(error->format, sizeof error->format, "%s", format->name);
    input_close(&in->base);
    return NULL;
}
