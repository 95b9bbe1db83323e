/* Reading of ring buffer pages and their events; options of the format. */
#include "base/clock_math.h"
#include "base/number.h"
#include "base/status.h"
#include "formats/trace_pipe_raw/trace_pipe_raw.h"

/* --- Events --- */

static ttr_event *add_page_event(struct trace_pipe_raw_reader *reader, uint64_t time,
                                 const uint8_t *p)
{
    ttr_event *event = input_add_event(reader->in);
    event->ticks = time;
    event->time = time > INT64_MAX ? INT64_MAX : (int64_t)time;
    event->flags = time > INT64_MAX ? TTR_EVENT_CLAMPED : 0;
    event->track = reader->track;
    event->offset = reader->in->window.offset + (uint64_t)(p - reader->in->window.bytes);
    if (reader->has_cpu) {
        event->cpu = reader->cpu;
        event->flags |= TTR_EVENT_HAS_CPU;
    }
    return event;
}

static bool emit_page_event(struct trace_pipe_raw_reader *reader,
                            const struct ring_buffer_event *record)
{
    struct tracepoint_raw raw = {record->p, record->n};
    ttr_event *event = add_page_event(reader, record->time, record->p);
    uint32_t id;
    const char *why;
    if (!tracepoint_decode_record(reader->data.all, raw, event, &id, &why))
        return false;
    if (tracepoints_is_plausible(reader->data.all, raw))
        ring_buffer_confirm_event(&reader->page);
    if (why)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, event->offset, "trace_pipe_raw.event",
                             "an event of number %u: %s; use formats=PATH to describe events", id,
                             why);
    return true;
}

/* --- Pages --- */

/* Starts to read the page at reader->at, which is in memory. Returns TTR_END after the last
 * page. */
static ttr_status begin_raw_page(struct trace_pipe_raw_reader *reader)
{
    struct input *in = reader->in;
    struct ring_buffer_layout layout = {reader->data.is_big_endian, reader->data.commit_bytes,
                                        reader->data.page_data};
    const uint8_t *bytes = in->window.bytes + (reader->at - in->window.offset);
    size_t left = in->window.n - (size_t)(reader->at - in->window.offset),
           n = left < reader->page_bytes ? left : reader->page_bytes;
    uint64_t at = reader->at;
    if (n == 0)
        return TTR_END;
    reader->at += n;
    if (!ring_buffer_begin_page(&layout, bytes, n, n < reader->page_bytes, &reader->page))
        return input_add_damage(
            in, at, n, "trace_pipe_raw.bad-page", reader->error,
            "a page declares more bytes than a page has; reading continues with the next");
    reader->is_in_page = true;
    if (reader->page.is_lossy) {
        ttr_event *gap = add_page_event(reader, reader->page.time, bytes);
        gap->kind = TTR_KIND_GAP;
        gap->link = reader->page.lost;
    }
    return TTR_OK;
}

static bool has_complete_page(const struct trace_pipe_raw_reader *reader)
{
    const struct window *window = &reader->in->window;
    uint64_t skip = reader->at - window->offset;
    return skip <= window->n && window->n - skip >= reader->page_bytes;
}

/* Emits events of the current page until the batch is full or the page ends. Returns false if
 * memory runs out. */
static bool emit_page_events(struct trace_pipe_raw_reader *reader, bool *is_damaged)
{
    struct input *in = reader->in;
    while (in->n < in->batch) {
        struct ring_buffer_event record;
        enum ring_buffer_step step = ring_buffer_next_event(&reader->page, &record);
        if (step == RING_BUFFER_EVENT) {
            if (!emit_page_event(reader, &record))
                return false;
            continue;
        }
        *is_damaged = step == RING_BUFFER_DAMAGED;
        reader->is_in_page = *is_damaged;
        return true;
    }
    return true;
}

static bool is_plausible_event(const void *ctx, const uint8_t *p, size_t n)
{
    const struct trace_pipe_raw_reader *reader = ctx;
    return tracepoints_is_plausible(reader->data.all, (struct tracepoint_raw){p, n});
}

/* Searches for the next event after an event that extends beyond its page, possibly because a size
 * earlier in the page is damaged. Continues at the next plausible event, or with the next page. */
static ttr_status find_next_event_in_page(struct trace_pipe_raw_reader *reader)
{
    struct input *in = reader->in;
    const uint8_t *from = reader->page.sure;
    uint64_t offset = in->window.offset + (uint64_t)(from - in->window.bytes);
    reader->is_in_page = ring_buffer_resync(&reader->page, is_plausible_event, reader);
    uint64_t end = reader->is_in_page
                       ? in->window.offset + (uint64_t)(reader->page.p - in->window.bytes)
                       : reader->at;
    return input_add_damage(
        in, offset, end - offset, "trace_pipe_raw.bad-event", reader->error,
        "an event is damaged; reading continues with the next plausible event or page");
}

ttr_status trace_pipe_raw_read_batch(struct input *in, ttr_error *error)
{
    struct trace_pipe_raw_reader *reader = in->ctx;
    reader->error = error;
    tracepoints_begin_batch(reader->data.all);
    for (;;) {
        bool is_damaged = false;
        ttr_status status = TTR_OK;
        if (reader->is_in_page && !emit_page_events(reader, &is_damaged))
            return fail_memory(error);
        if (is_damaged)
            status = find_next_event_in_page(reader);
        if (status != TTR_OK || in->n == in->batch)
            return status;
        if (reader->is_in_page)
            continue;
        if (in->n && !has_complete_page(reader))
            return TTR_OK;
        if (!has_complete_page(reader))
            status = input_fill(in, reader->at, reader->page_bytes, error);
        if (status == TTR_OK)
            status = begin_raw_page(reader);
        if (status != TTR_OK)
            return in->n && status == TTR_END ? TTR_OK : status;
    }
}

/* --- Opening --- */

static ttr_status report_bad_option_value(struct trace_pipe_raw_reader *reader, const char *key,
                                          const char *value, const char *expected)
{
    return fail(reader->error, TTR_E_MISUSE, NO_OFFSET, "%s=%s: expected %s", key, value, expected);
}

/* Reads a numeric option of which the value is at most `most`. Does not change *number if the
 * option is not set. */
static ttr_status read_number_option(struct trace_pipe_raw_reader *reader, const char *key,
                                     uint64_t most, uint32_t *number, bool *is_given)
{
    const char *text = input_get_option(reader->in, key);
    uint64_t value;
    *is_given = text != NULL;
    if (!text)
        return TTR_OK;
    if (!number_parse_u64(text, strlen(text), &value) || value > most)
        return report_bad_option_value(reader, key, text, "a number that can be");
    *number = (uint32_t)value;
    return TTR_OK;
}

/* Reads the number of the CPU from the last "cpuN" in a path such as ".../cpu3/trace_pipe_raw". */
static bool parse_cpu_of_path(const char *path, uint32_t *cpu)
{
    bool is_found = false;
    for (const char *at = path; (at = strstr(at, "cpu")) != NULL;) {
        uint64_t value;
        size_t n = 0;
        at += 3;
        while (at[n] >= '0' && at[n] <= '9')
            n++;
        if (n == 0 || !number_parse_u64(at, n, &value) || value > UINT16_MAX)
            continue;
        *cpu = (uint32_t)value;
        is_found = true;
    }
    return is_found;
}

/* Finds the byte order and the size of `long`: tries all combinations, and uses the first one for
 * which the first page is valid. */
static void detect_page_layout(struct trace_pipe_raw_reader *reader)
{
    static const struct ring_buffer_layout layouts[] = {
        {false, 8, 16}, {true, 8, 16}, {false, 4, 12}, {true, 4, 12}};
    const struct window *window = &reader->in->window;
    size_t n = window->n < reader->page_bytes ? window->n : reader->page_bytes, found = 0;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct ring_buffer_page page;
        struct ring_buffer_event event;
        enum ring_buffer_step step = RING_BUFFER_DAMAGED;
        if (ring_buffer_begin_page(&layouts[i], window->bytes, n, n < reader->page_bytes, &page))
            while ((step = ring_buffer_next_event(&page, &event)) == RING_BUFFER_EVENT) {
            }
        if (step == RING_BUFFER_END) {
            found = i;
            break;
        }
    }
    reader->data.is_big_endian = layouts[found].is_big_endian;
    reader->data.commit_bytes = reader->data.long_bytes = layouts[found].commit_bytes;
    reader->data.page_data = layouts[found].data;
}

static void report_odd_format(void *ctx, uint64_t offset, const char *what)
{
    struct trace_pipe_raw_reader *reader = ctx;
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "trace_pipe_raw.format", "%s", what);
}

static ttr_status read_options(struct trace_pipe_raw_reader *reader)
{
    bool is_given;
    ttr_status status = read_number_option(reader, "page-size", TRACE_PIPE_RAW_PAGE_MAX,
                                           &reader->page_bytes, &is_given);
    if (status == TTR_OK && (reader->page_bytes < 64 || reader->page_bytes % 4 != 0))
        return report_bad_option_value(reader, "page-size",
                                       input_get_option(reader->in, "page-size"),
                                       "bytes of a page, such as 4096");
    if (status == TTR_OK)
        status = read_number_option(reader, "cpu", UINT16_MAX, &reader->cpu, &reader->has_cpu);
    if (!reader->has_cpu)
        reader->has_cpu = parse_cpu_of_path(
            ttr_text_get(reader->t, reader->t->sources[reader->in->id].path).p, &reader->cpu);
    return status;
}

ttr_status trace_pipe_raw_open(struct input *in, ttr_error *error)
{
    struct trace_pipe_raw_reader *reader = in->ctx;
    reader->in = in;
    reader->t = in->base.t;
    reader->error = error;
    reader->page_bytes = TRACE_PIPE_RAW_PAGE;
    reader->data.odd = report_odd_format;
    reader->data.ctx = reader;
    ttr_status status = read_options(reader);
    if (status == TTR_OK)
        status = input_fill(in, 0, reader->page_bytes, error);
    if (status != TTR_OK)
        return status;
    detect_page_layout(reader);
    const char *formats = input_get_option(in, "formats");
    if (formats)
        status = trace_pipe_raw_read_formats(reader, formats);
    else if (!trace_pipe_raw_create_tracepoints(reader))
        status = fail_memory(error);
    if (status != TTR_OK)
        return status;
    ttr_clock clock = {.name = "local", .frequency = 1000000000};
    reader->track =
        context_add_track(reader->t, &(ttr_track){.number = reader->cpu, .source = in->id});
    return reader->track && input_add_clock(in, &clock) != SIZE_MAX ? TTR_OK : fail_memory(error);
}

bool trace_pipe_raw_describe(struct input *in, size_t i, struct event_class *about,
                             uint64_t *events)
{
    const struct trace_pipe_raw_reader *reader = in->ctx;
    return reader->data.all && tracepoints_describe_class(reader->data.all, i, about, events);
}

void trace_pipe_raw_close(struct input *in)
{
    struct trace_pipe_raw_reader *reader = in->ctx;
    tracepoints_free(reader->data.all);
}
