/* Opening of a trace.dat, and the merge of the events of all CPU buffers by time. */
#include "base/clock_math.h"
#include "base/status.h"
#include "base/wide.h"
#include "formats/trace_dat/trace_dat.h"

/* --- Decoding of events --- */

static struct tracepoint_raw get_event_record(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static const struct tracepoint_container container = {.raw = get_event_record, .padding = 3};

/* Converts ticks to nanoseconds by means of the option TSC2NSEC. Without this option, ticks
 * already are nanoseconds. */
static int64_t convert_tsc_to_ns(const struct trace_dat_reader *reader, uint64_t ticks,
                                 bool *clamped)
{
    uint128 ns = ticks;
    if (reader->options.multiplier)
        ns = ns * reader->options.multiplier >> reader->options.shift;
    *clamped |= ns > INT64_MAX;
    return add_saturated(ns > INT64_MAX ? INT64_MAX : (int64_t)ns, reader->options.add_ns, clamped);
}

static void set_event_origin(struct trace_dat_reader *reader,
                             const struct trace_dat_cpu_buffer *cpu_buffer, ttr_event *event)
{
    bool clamped = false;
    event->ticks = cpu_buffer->event.time;
    event->time = convert_tsc_to_ns(reader, cpu_buffer->event.time, &clamped);
    event->flags = TTR_EVENT_HAS_CPU | (clamped ? TTR_EVENT_CLAMPED : 0);
    event->cpu = cpu_buffer->cpu;
    event->track = cpu_buffer->track;
    event->offset = cpu_buffer->offset;
    if (!cpu_buffer->is_compressed && cpu_buffer->event.p)
        event->offset += (uint64_t)(cpu_buffer->event.p - cpu_buffer->buffer);
}

/* Emits the next event of a CPU buffer. Returns false if memory is exhausted. */
static bool emit_next_event(struct trace_dat_reader *reader,
                            struct trace_dat_cpu_buffer *cpu_buffer)
{
    struct input *in = reader->in;
    ttr_event *event = input_add_event(in);
    set_event_origin(reader, cpu_buffer, event);
    if (cpu_buffer->event.time < reader->last)
        input_add_diagnostic(in, TTR_SEVERITY_ODD, event->offset, "trace_dat.backward",
                             "the time of an event of CPU %u is before that of the one before it",
                             cpu_buffer->cpu);
    reader->last = cpu_buffer->event.time;
    if (cpu_buffer->is_gap) {
        event->kind = TTR_KIND_GAP;
        event->link = cpu_buffer->page.lost;
        reader->page_lost += cpu_buffer->page.lost;
        return true;
    }
    struct tracepoint_raw raw = {cpu_buffer->event.p, cpu_buffer->event.n};
    uint32_t id;
    const char *why;
    if (!tracepoint_decode_record(reader->data.all, raw, event, &id, &why))
        return false;
    if (tracepoints_is_plausible(reader->data.all, raw))
        ring_buffer_confirm_event(&cpu_buffer->page);
    if (why)
        input_add_diagnostic(in, TTR_SEVERITY_ODD, event->offset, "trace_dat.event",
                             "an event of number %u: %s; the fields that fit are emitted", id, why);
    return true;
}

/* --- Merge: binary heap of CPU buffers by the time of their next event; equal times by CPU --- */

static bool has_earlier_event(const struct trace_dat_reader *reader, uint32_t a, uint32_t b)
{
    uint64_t x = reader->cpu_buffer[a].event.time, y = reader->cpu_buffer[b].event.time;
    return x < y || (x == y && a < b);
}

static void heap_sift_down(struct trace_dat_reader *reader)
{
    uint32_t *heap = reader->heap, moved = heap[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < reader->heap_n; at = child) {
        if (child + 1 < reader->heap_n && has_earlier_event(reader, heap[child + 1], heap[child]))
            child++;
        if (!has_earlier_event(reader, heap[child], moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void heap_add_cpu_buffer(struct trace_dat_reader *reader, uint32_t cpu_buffer)
{
    size_t at = reader->heap_n++;
    for (; at > 0 && has_earlier_event(reader, cpu_buffer, reader->heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        reader->heap[at] = reader->heap[(at - 1) / 2];
    reader->heap[at] = cpu_buffer;
}

/* Refills all CPU buffers that have no event in memory, and adds those that then have one to the
 * heap. */
static ttr_status refill_cpu_buffers(struct trace_dat_reader *reader)
{
    for (uint32_t i = 0; i < reader->cpu_buffers_n; i++) {
        bool has_event;
        if (!reader->cpu_buffer[i].needs_refill)
            continue;
        ttr_status status = trace_dat_refill_cpu_buffer(reader, &reader->cpu_buffer[i], &has_event);
        if (status != TTR_OK)
            return status;
        if (has_event)
            heap_add_cpu_buffer(reader, i);
    }
    return TTR_OK;
}

/* Emits one gap for the lost events that the kernel counted, but that no page records: dropped
 * events, events overwritten after the last page, and pages that record a loss without its count.
 */
static void emit_final_gap(struct trace_dat_reader *reader)
{
    uint64_t rest =
        reader->kernel_lost > reader->page_lost ? reader->kernel_lost - reader->page_lost : 0;
    bool clamped = false;
    reader->kernel_lost = 0;
    if (rest == 0)
        return;
    ttr_event *event = input_add_event(reader->in);
    event->kind = TTR_KIND_GAP;
    event->flags = TTR_EVENT_NO_TIME;
    event->ticks = reader->last;
    event->time = convert_tsc_to_ns(reader, reader->last, &clamped);
    event->link = rest;
    event->offset = reader->size;
}

ttr_status trace_dat_read_batch(struct input *in, ttr_error *error)
{
    struct trace_dat_reader *reader = in->ctx;
    reader->error = error;
    tracepoints_begin_batch(reader->data.all);
    ttr_status status = refill_cpu_buffers(reader);
    if (status != TTR_OK)
        return status;
    while (in->n < in->batch && reader->heap_n) {
        struct trace_dat_cpu_buffer *cpu_buffer = &reader->cpu_buffer[reader->heap[0]];
        if (!emit_next_event(reader, cpu_buffer))
            return fail_memory(error);
        if (trace_dat_advance_to_next_event(reader, cpu_buffer)) {
            heap_sift_down(reader);
            continue;
        }
        reader->heap[0] = reader->heap[--reader->heap_n];
        if (reader->heap_n)
            heap_sift_down(reader);
        /* the refill may overwrite the page to which events in the batch point, so end the
         * batch first */
        break;
    }
    if (in->n)
        return TTR_OK;
    emit_final_gap(reader);
    if (in->n)
        return TTR_OK;
    /* this sets the final size of the input */
    status = input_fill(in, reader->size, 0, error);
    return status == TTR_OK ? TTR_END : status;
}

/* --- Opening of a file --- */

static void report_odd_format(void *ctx, uint64_t offset, const char *what)
{
    struct trace_dat_reader *reader = ctx;
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "trace_dat.format", "%s", what);
}

static bool is_clock_in_ns(const char *clock)
{
    static const char *const names[] = {"",     "local", "global", "uptime",
                                        "perf", "boot",  "tai",    "tsc2nsec"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(clock, names[i]) == 0)
            return true;
    return strncmp(clock, "mono", 4) == 0;
}

static ttr_status add_trace_clock(struct trace_dat_reader *reader)
{
    struct trace_dat_options *options = &reader->options;
    if (!options->multiplier && !is_clock_in_ns(options->clock))
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_REMARK, 0, "trace_dat.clock",
            "the clock \"%s\" does not count nanoseconds; its ticks are read as nanoseconds",
            options->clock);
    if (options->is_guest)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_REMARK, 0, "trace_dat.guest",
            "the trace of a guest that has the offset to the clock of its host: times are "
            "those of the guest");
    uint128 frequency = options->multiplier
                            ? ((uint128)1000000000 << options->shift) / options->multiplier
                            : 1000000000;
    ttr_clock clock = {.name = options->clock[0] ? options->clock : "local",
                       .is_anchored = options->has_unix_times,
                       .anchor_ns = options->add_ns,
                       .frequency = frequency > INT64_MAX ? INT64_MAX : (uint64_t)frequency};
    return input_add_clock(reader->in, &clock) == SIZE_MAX ? fail_memory(reader->error) : TTR_OK;
}

/* Returns true if trace-cmd prints times of this clock as plain numbers, not as seconds. */
static bool has_tick_clock(const struct trace_dat_options *options)
{
    return !options->multiplier &&
           (!is_clock_in_ns(options->clock) || strcmp(options->clock, "boot") == 0);
}

static ttr_status add_trace_attributes(struct trace_dat_reader *reader)
{
    if (has_tick_clock(&reader->options) &&
        !context_add_attribute(reader->t, reader->in->id, "trace.has_ticks",
                               &(ttr_value){.type = TTR_TYPE_BOOL, .v.u = 1}))
        return fail_memory(reader->error);
    /* trace-cmd prints this number of CPUs, and the buffer's name in each line if there are
     * several buffers */
    const uint32_t most_cpus = reader->options.cpus > reader->options.table_cpus
                                   ? reader->options.cpus
                                   : reader->options.table_cpus;
    struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"page_size", reader->data.page_bytes},
                   {"long_size", reader->data.long_bytes},
                   {"cpus", reader->options.cpus},
                   {"trace.cpus", most_cpus},
                   {"trace.instance_width", reader->options.instance_width}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value &&
            !context_add_attribute(reader->t, reader->in->id, numbers[i].name,
                                   &(ttr_value){.type = TTR_TYPE_UINT, .v.u = numbers[i].value}))
            return fail_memory(reader->error);
    ttr_text compression = {reader->compression, strlen(reader->compression)};
    if (compression.n &&
        !context_add_attribute(reader->t, reader->in->id, "compression",
                               &(ttr_value){.type = TTR_TYPE_TEXT, .text = compression}))
        return fail_memory(reader->error);
    return TTR_OK;
}

static ttr_status read_file_head(struct trace_dat_reader *reader)
{
    struct input *in = reader->in;
    ttr_status status = trace_dat_load_at(reader, 0, 64);
    if (status != TTR_OK)
        return status;
    struct cursor c = cursor_init(reader->bytes.bytes, reader->bytes.n, 0);
    bool is_fine = tracing_data_parse_head(&reader->data, &c);
    const char *version = reader->data.version;
    if (!is_fine)
        return fail(reader->error, TTR_E_UNSUPPORTED, c.offset,
                    "expected the header of a trace.dat: version, byte order, size of a long, size "
                    "of a page");
    bool is_7 = strcmp(version, "7") == 0;
    if (!is_7 && strcmp(version, "6") != 0)
        return fail(reader->error, TTR_E_UNSUPPORTED, TRACING_DATA_MAGIC_BYTES,
                    "a trace.dat of version \"%s\"; versions 6 and 7 are known", version);
    in->version = is_7 ? "7" : "6";
    reader->data.all =
        tracepoints_new(&(struct tracepoints_spec){.t = reader->t,
                                                   .format = &format_trace_dat,
                                                   .container = &container,
                                                   .ctx = reader,
                                                   .source = in->id,
                                                   .is_big_endian = reader->data.is_big_endian,
                                                   .long_bytes = reader->data.long_bytes});
    if (!reader->data.all)
        return fail_memory(reader->error);
    return is_7 ? trace_dat_read_version_7(reader) : trace_dat_read_version_6(reader);
}

ttr_status trace_dat_open(struct input *in, ttr_error *error)
{
    struct trace_dat_reader *reader = in->ctx;
    reader->in = in;
    reader->t = in->base.t;
    reader->error = error;
    reader->data.odd = report_odd_format;
    reader->data.ctx = reader;
    spill_init(&reader->spill, reader->t->max_temporary);
    buffer_init(&reader->bytes, &reader->t->counted);
    buffer_init(&reader->inflated, &reader->t->counted);
    ttr_status status = trace_dat_make_seekable(reader);
    if (status == TTR_OK)
        status = read_file_head(reader);
    if (status == TTR_OK)
        status = add_trace_clock(reader);
    if (status == TTR_OK)
        status = add_trace_attributes(reader);
    if (status == TTR_OK && reader->cpu_buffers_n) {
        reader->heap = alloc_zero(&reader->t->counted, reader->cpu_buffers_n, sizeof *reader->heap);
        status = reader->heap ? TTR_OK : fail_memory(error);
    }
    return status;
}

bool trace_dat_describe(struct input *in, size_t i, struct event_class *about, uint64_t *events)
{
    const struct trace_dat_reader *reader = in->ctx;
    return reader->data.all && tracepoints_describe_class(reader->data.all, i, about, events);
}

void trace_dat_close(struct input *in)
{
    struct trace_dat_reader *reader = in->ctx;
    const struct alloc *alloc = &in->base.t->counted;
    if (!reader->in)
        return;
    for (size_t i = 0; i < reader->cpu_buffers_n; i++)
        alloc_free(alloc, reader->cpu_buffer[i].buffer, reader->cpu_buffer[i].capacity, 1);
    alloc_free(alloc, reader->heap, reader->heap ? reader->cpu_buffers_n : 0, sizeof *reader->heap);
    alloc_free(alloc, reader->cpu_buffer, reader->cpu_buffers_capacity, sizeof *reader->cpu_buffer);
    buffer_free(&reader->bytes);
    buffer_free(&reader->inflated);
    tracepoints_free(reader->data.all);
    spill_close(&reader->spill);
}
