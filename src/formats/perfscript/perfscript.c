/* Text output byte-identical to that of `perf script`, or of `trace-cmd report`, for scripts that
 * parse it.
 *
 *   perf        %16s %5d [%03d] %12s: EVENT: TEXT         comm, tid, CPU, time
 *               The time is in s.us by the clock of the trace, truncated. With a callchain the comm
 *               is not padded, and a line per address and an empty line follow.
 *   trace-cmd   %16s-%-5d [%03d] %5d.%06d: %-21s TEXT     comm, tid, CPU, rounded time, event
 *
 * perf pads event names to the width of the longest name in the trace, if the trace declares it.
 * Columns for which a sample has no data are omitted. perf cannot record events of other formats
 * and fields of EventHeader; their text is the fields as name=value.
 *
 * Left out: gaps (except for trace-cmd), definitions and objects, which those programs do not print
 * by default; reading. */
#include "base/status.h"
#include "base/utf.h"
#include "encodings/perf_data/perf_layout.h"
#include "encodings/json/emit.h"
#include "encodings/tracepoint/tracepoints.h"
#include "formats/perfscript/perfscript.h"

#define NS_PER_S UINT64_C(1000000000)
/* maximum size in bytes of the columns of a line, without names */
#define HEAD_ROOM 128u
#define COMM_WIDTH 16u
/* width of trace-cmd's column for the event name, without the colon */
#define NAME_WIDTH 20u
#define WIDTH_MAX 1024u

struct perfscript_line_attributes {
    uint32_t width; /* width of the column for event names, in characters */
    bool is_known, has_reads;
    bool has_ticks; /* true if times are printed as plain numbers */
    /* width of trace-cmd's column for buffer names; 0 if the trace has only the main buffer */
    uint32_t instance_width;
};

struct perfscript {
    bool is_trace_cmd;
    struct pair_map names; /* thread names that trace-cmd takes from events */
    bool is_begun;         /* true if trace-cmd's lines about CPUs were printed */
    /* true if the next text continues the line of a gap (trace-cmd only) */
    bool continues_line;
    bool has_escaped_controls; /* true if control characters are escaped as "\x1b" */
    /* buffer for lines in which control characters are escaped */
    struct buffer escaped;
    /* line attributes of each source, indexed by source number */
    struct perfscript_line_attributes *lines;
    size_t lines_n, lines_capacity;
    /* used if memory for `lines` is out */
    struct perfscript_line_attributes spare;
    struct perfscript_counters counters;
};

static ttr_status perfscript_create(struct ttr_writer *out, ttr_error *error)
{
    struct perfscript *writer = out->ctx;
    const char *lines = output_option(out, "lines"), *controls = output_option(out, "controls");
    buffer_init(&writer->escaped, out->buffer.alloc);
    perfscript_counters_init(&writer->counters, out->buffer.alloc);
    pair_map_init(&writer->names, out->buffer.alloc);
    writer->has_escaped_controls = controls && strcmp(controls, "shown") == 0;
    if (controls && !writer->has_escaped_controls && strcmp(controls, "raw") != 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "controls=%s: expected raw or shown", controls);
    writer->is_trace_cmd = lines && strcmp(lines, "trace-cmd") == 0;
    if (!lines || writer->is_trace_cmd || strcmp(lines, "perf") == 0)
        return TTR_OK;
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "lines=%s: expected perf or trace-cmd", lines);
}

/* --- Columns before the event name --- */

/* Returns the thread to print for an event. For switches and wake-ups this is `link`, the thread
 * on which the event occurred. */
static ttr_id get_printed_thread(const ttr_event *event)
{
    bool is_linked = (event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_WAKE) &&
                     event->link && event->link <= UINT32_MAX;
    return is_linked ? (ttr_id)event->link : event->thread;
}

static uint32_t get_printed_cpu(const ttr_event *event)
{
    return event->kind == TTR_KIND_WAKE && event->link ? event->tag : event->cpu;
}

static char *emit_spaces(char *at, size_t n)
{
    memset(at, ' ', n);
    return at + n;
}

static char *emit_right_aligned(char *at, ttr_text text, size_t width)
{
    if (text.n < width)
        at = emit_spaces(at, width - text.n);
    return emit_piece(at, text);
}

/* Appends a number padded to `width` characters: with zeros or spaces on the left, or with spaces
 * on the right if `with` is '-'. */
static char *emit_padded_number(char *at, uint64_t x, unsigned width, char with)
{
    char text[NUMBER_MAX];
    size_t n = number_format_u64(text, x);
    for (size_t i = n; i < width && with != '-'; i++)
        *at++ = with;
    memcpy(at, text, n);
    at += n;
    for (size_t i = n; i < width && with == '-'; i++)
        *at++ = ' ';
    return at;
}

/* Appends a thread id. Appends -1 for a thread that has exited, as the kernel does. */
static char *emit_tid(char *at, uint64_t tid, bool is_left)
{
    if (tid <= INT32_MAX || tid > UINT32_MAX)
        return emit_padded_number(at, tid, 5, is_left ? '-' : ' ');
    char text[NUMBER_MAX], *end = emit_i64(text, (int32_t)(uint32_t)tid);
    size_t n = (size_t)(end - text), blanks = n < 5 ? 5 - n : 0;
    if (!is_left)
        at = emit_spaces(at, blanks);
    at = emit_piece(at, (ttr_text){text, n});
    return is_left ? emit_spaces(at, blanks) : at;
}

/* Returns the name to print for a thread. The idle thread, and threads without a name, get the
 * same placeholder as in the imitated program; `room` may be used to store it. */
static ttr_text get_printed_name(const struct ttr_writer *out, const ttr_thread *thread,
                                 uint16_t source, char *room)
{
    const struct perfscript *writer = out->ctx;
    if (thread->tid == 0)
        return writer->is_trace_cmd ? (ttr_text){"<idle>", 6} : (ttr_text){"swapper", 7};
    ttr_text name = ttr_text_get(out->t, thread->thread_name);
    if (name.n)
        return name;
    if (writer->is_trace_cmd) {
        const uint32_t *learnt = pair_map_get(&writer->names, thread->tid, source);
        return learnt ? ttr_text_get(out->t, *learnt) : (ttr_text){"<...>", 5};
    }
    bool is_gone = thread->tid > INT32_MAX && thread->tid <= UINT32_MAX;
    char *end = emit_i64(emit_constant(room, ":"),
                         is_gone ? (int32_t)(uint32_t)thread->tid : (int64_t)thread->tid);
    return (ttr_text){room, (size_t)(end - room)};
}

static bool is_perf_event(const struct ttr_writer *out, const ttr_event *event)
{
    ttr_source source;
    return ttr_source_get(out->t, event->source, &source) && strcmp(source.format, "perf") == 0;
}

/* Returns the time to print in ns. perf prints the raw time of the trace; trace-cmd adds
 * offsets. */
static uint64_t get_printed_time(const struct ttr_writer *out, const ttr_event *event)
{
    const struct perfscript *writer = out->ctx;
    bool is_own = !writer->is_trace_cmd &&
                  (tracepoint_get_from_event(out->t, event) || is_perf_event(out, event));
    return is_own ? event->ticks : event->time < 0 ? 0 : (uint64_t)event->time;
}

static char *emit_time(char *at, const struct perfscript *writer, uint64_t ns)
{
    ns += writer->is_trace_cmd ? 500 : 0;
    at = emit_padded_number(at, ns / NS_PER_S, 5, ' ');
    *at++ = '.';
    number_format_digits(at, ns % NS_PER_S / 1000, 6);
    return emit_constant(at + 6, ": ");
}

static char *emit_cpu(char *at, const ttr_event *event)
{
    if (!(event->flags & TTR_EVENT_HAS_CPU))
        return at;
    at = emit_padded_number(emit_constant(at, "["), get_printed_cpu(event), 3, '0');
    return emit_constant(at, "] ");
}

/* Returns the entry of `lines` for a source; the entry `spare` if memory runs out. */
static struct perfscript_line_attributes *find_line_attributes(struct ttr_writer *out,
                                                               uint16_t source)
{
    struct perfscript *writer = out->ctx;
    if (source < writer->lines_n)
        return &writer->lines[source];
    writer->spare.is_known = false;
    if (!alloc_reserve(out->buffer.alloc, (void **)&writer->lines, &writer->lines_capacity,
                       source + 1u, sizeof *writer->lines))
        return &writer->spare;
    memset(writer->lines + writer->lines_n, 0,
           (source + 1u - writer->lines_n) * sizeof *writer->lines);
    writer->lines_n = source + 1u;
    return &writer->lines[source];
}

/* Returns the line attributes of a source: the width of event names, and if samples have counter
 * values. */
static const struct perfscript_line_attributes *get_line_attributes(struct ttr_writer *out,
                                                                    uint16_t source)
{
    struct perfscript_line_attributes *lines = find_line_attributes(out, source);
    ttr_attribute attribute;
    if (lines->is_known)
        return lines;
    *lines = (struct perfscript_line_attributes){.is_known = true};
    for (size_t i = 0; ttr_source_attribute(out->t, source, i, &attribute); i++) {
        const uint32_t width =
            attribute.value.v.u > WIDTH_MAX ? WIDTH_MAX : (uint32_t)attribute.value.v.u;
        if (attribute.name.n == 17 && memcmp(attribute.name.p, "trace.event_width", 17) == 0)
            lines->width = width;
        if (attribute.name.n == 20 && memcmp(attribute.name.p, "trace.instance_width", 20) == 0)
            lines->instance_width = width;
        lines->has_ticks |=
            attribute.name.n == 15 && memcmp(attribute.name.p, "trace.has_ticks", 15) == 0;
        lines->has_reads |=
            attribute.name.n == 15 && memcmp(attribute.name.p, "trace.has_reads", 15) == 0;
    }
    return lines;
}

/* --- What only trace-cmd prints --- */

/* Appends "cpus=N" for each trace of trace-cmd, which is how its report begins. */
static void append_lines_with_cpu_number(struct ttr_writer *out)
{
    struct perfscript *writer = out->ctx;
    ttr_source source;
    ttr_attribute attribute;
    if (!writer->is_trace_cmd || writer->is_begun)
        return;
    writer->is_begun = true;
    for (uint16_t i = 1; ttr_source_get(out->t, i, &source); i++)
        for (size_t k = 0; ttr_source_attribute(out->t, i, k, &attribute); k++)
            if (attribute.name.n == 10 && memcmp(attribute.name.p, "trace.cpus", 10) == 0) {
                char text[NUMBER_MAX + 8];
                char *end = emit_u64(emit_constant(text, "cpus="), attribute.value.v.u);
                *end++ = '\n';
                buffer_add(&out->buffer, text, (size_t)(end - text));
            }
}

/* Appends the name of the event's ring buffer and a colon if the trace has several buffers; spaces
 * for the main buffer. */
static void append_buffer_name(struct ttr_writer *out, const ttr_event *event)
{
    struct perfscript *writer = out->ctx;
    const size_t width = get_line_attributes(out, event->source)->instance_width;
    const bool is_continued = writer->continues_line;
    ttr_track track;
    writer->continues_line = event->kind == TTR_KIND_GAP;
    if (!writer->is_trace_cmd || width == 0 || is_continued)
        return;
    ttr_text name = ttr_track_get(out->t, event->track, &track) ? ttr_text_get(out->t, track.name)
                                                                : (ttr_text){"", 0};
    char *begin = (char *)buffer_room(&out->buffer, width + name.n + 2);
    if (!begin)
        return;
    char *at = emit_constant(emit_right_aligned(begin, name, width), name.n ? ": " : "  ");
    buffer_commit(&out->buffer, (size_t)(at - begin));
}

/* --- Columns, continued --- */

/* Appends the columns that precede the event name. */
static void add_line_columns(struct ttr_writer *out, const ttr_event *event, bool has_chain)
{
    const struct perfscript *writer = out->ctx;
    ttr_thread thread;
    char room[NUMBER_MAX + 1];
    bool has_thread = ttr_thread_get(out->t, get_printed_thread(event), &thread);
    ttr_text comm =
        has_thread ? get_printed_name(out, &thread, event->source, room) : (ttr_text){"", 0};
    char *begin = (char *)buffer_room(&out->buffer, HEAD_ROOM + comm.n), *at = begin;
    if (!begin)
        return;
    if (has_thread) {
        at = emit_right_aligned(at, comm, has_chain && !writer->is_trace_cmd ? 0 : COMM_WIDTH);
        *at++ = writer->is_trace_cmd ? '-' : ' ';
        at = emit_tid(at, thread.tid, writer->is_trace_cmd);
        *at++ = ' ';
    }
    at = emit_cpu(at, event);
    if (writer->is_trace_cmd && get_line_attributes(out, event->source)->has_ticks)
        at = emit_constant(emit_padded_number(at[-1] == ' ' ? at - 1 : at, event->ticks, 12, ' '),
                           ": ");
    else if (!(event->flags & TTR_EVENT_NO_TIME))
        at = emit_time(at, writer, get_printed_time(out, event));
    buffer_commit(&out->buffer, (size_t)(at - begin));
}

/* --- Name and text of an event --- */

static void add_padded_name(struct ttr_writer *out, ttr_text system, ttr_text name, size_t width)
{
    const struct perfscript *writer = out->ctx;
    size_t n = name.n + (system.n ? system.n + 1 : 0);
    char *begin = (char *)buffer_room(&out->buffer, n + width + 4), *at = begin;
    if (!begin)
        return;
    if (!writer->is_trace_cmd && n < width)
        at = emit_spaces(at, width - n);
    if (system.n)
        at = emit_constant(emit_piece(at, system), ":");
    at = emit_constant(emit_piece(at, name), ":");
    if (writer->is_trace_cmd && n < width)
        at = emit_spaces(at, width - n);
    *at++ = ' ';
    buffer_commit(&out->buffer, (size_t)(at - begin));
}

/* Appends the name of an event, with its system if the program prints it: "sched:sched_switch". */
static void add_event_name(struct ttr_writer *out, const ttr_event *event,
                           const struct tracepoint *tp)
{
    const struct perfscript *writer = out->ctx;
    ttr_text system = tp ? tracepoint_get_system(tp) : ttr_text_get(out->t, event->provider);
    ttr_text name = tp ? tracepoint_get_name(tp) : ttr_text_get(out->t, event->name);
    if (writer->is_trace_cmd)
        add_padded_name(out, (ttr_text){"", 0}, name, NAME_WIDTH);
    else
        add_padded_name(out, system, name, get_line_attributes(out, event->source)->width);
}

static void add_value(struct buffer *to, const ttr_value *value)
{
    char text[NUMBER_MAX], *at = text;
    switch (value->type) {
    case TTR_TYPE_BOOL:
    case TTR_TYPE_UINT:
        at = value->hint == TTR_DISPLAY_POINTER ? emit_hex(at, value->v.u)
                                                : emit_u64(at, value->v.u);
        break;
    case TTR_TYPE_INT:
        at = emit_i64(at, value->v.s);
        break;
    case TTR_TYPE_FLOAT:
        at += number_format_double(at, value->v.f);
        break;
    case TTR_TYPE_TEXT:
        buffer_add(to, value->text.p, value->text.n);
        break;
    case TTR_TYPE_BYTES:
        for (size_t i = 0; i < value->text.n; i++) {
            char digits[2] = {"0123456789abcdef"[(uint8_t)value->text.p[i] >> 4],
                              "0123456789abcdef"[value->text.p[i] & 15]};
            buffer_add(to, digits, 2);
        }
        break;
    default:
        break;
    }
    buffer_add(to, text, (size_t)(at - text));
}

/* Appends fields as name=value. Elements of arrays and members of structs have no name. */
static void add_fields_as_text(struct ttr_writer *out, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    bool is_first = true;
    ttr_fields_begin(out->t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.group != TTR_GROUP_PAYLOAD)
            continue;
        if (!is_first)
            buffer_add_byte(&out->buffer, ' ');
        is_first = false;
        buffer_add(&out->buffer, field.name.p, field.name.n);
        if (field.name.n)
            buffer_add_byte(&out->buffer, '=');
        add_value(&out->buffer, &field.value);
    }
}

/* --- Text of samples --- */

/* Appends the text of a sample without a tracepoint: period, and address or callchain. */
static void add_sample_text(struct ttr_writer *out, const ttr_event *event,
                            const struct perfscript_counter *counter)
{
    ttr_field period;
    if (counter)
        period.value.v.u = counter->period;
    else if (!ttr_field_find(out->t, event, "period", &period) ||
             period.value.type != TTR_TYPE_UINT)
        return;
    char *at = (char *)buffer_room(&out->buffer, HEAD_ROOM);
    if (at)
        buffer_commit(
            &out->buffer,
            (size_t)(emit_constant(emit_padded_number(at, period.value.v.u, 10, ' '), " ") - at));
}

static void add_symbol_offset(struct ttr_writer *out, const ttr_event *event)
{
    uint64_t address;
    if (ttr_event_frames(out->t, event, &address, 1) == 0)
        return;
    buffer_add_byte(&out->buffer, ' ');
    perfscript_add_code(out, event, get_printed_thread(event), address);
}

/* Appends the text of an event. Adds no line feed for trace-cmd if the text ends with one. */
static void add_event_text(struct ttr_writer *out, const ttr_event *event,
                           const struct tracepoint *tp)
{
    const struct perfscript *writer = out->ctx;
    if (writer->is_trace_cmd && tp && perfscript_add_sched(out, event, tracepoint_get_name(tp)))
        return;
    if (!tp || !tracepoint_print(out->t, event, &out->buffer))
        add_fields_as_text(out, event);
    if (writer->is_trace_cmd && out->buffer.n && out->buffer.bytes[out->buffer.n - 1] == '\n')
        out->buffer.n--;
}

/* Appends the line of an event. `counter` is NULL unless the line is for one of several counters
 * of a sample. */
static void add_event_line(struct ttr_writer *out, const ttr_event *event,
                           const struct perfscript_counter *counter)
{
    struct perfscript *writer = out->ctx;
    bool is_sample = event->kind == TTR_KIND_SAMPLE;
    const struct tracepoint *tp = is_sample ? NULL : tracepoint_get_from_event(out->t, event);
    if (writer->is_trace_cmd && tp &&
        !perfscript_record_thread_name(&writer->names, out->t, event, tracepoint_get_name(tp)))
        out->buffer.failed = true;
    bool has_chain = event->stack > (is_sample ? PERF_STACK_IP : 0) && !writer->is_trace_cmd;
    add_line_columns(out, event, has_chain);
    if (is_sample && !writer->is_trace_cmd)
        add_sample_text(out, event, counter);
    if (counter)
        add_padded_name(out, (ttr_text){"", 0}, counter->event,
                        get_line_attributes(out, event->source)->width);
    else
        add_event_name(out, event, tp);
    if (!is_sample)
        add_event_text(out, event, tp);
    if (has_chain)
        perfscript_add_chain(out, event, get_printed_thread(event));
    else if (is_sample && !writer->is_trace_cmd)
        add_symbol_offset(out, event);
    buffer_add_byte(&out->buffer, '\n');
}

/* Appends "CPU:0 [5 EVENTS DROPPED]" for lost events, as trace-cmd does. */
static void add_dropped_line(struct ttr_writer *out, const ttr_event *event)
{
    char *at = (char *)buffer_room(&out->buffer, HEAD_ROOM), *begin = at;
    if (!at)
        return;
    at = emit_constant(emit_u64(emit_constant(at, "CPU:"), event->cpu), " [");
    if (event->link)
        at = emit_constant(emit_u64(at, event->link), " ");
    at = emit_constant(at, "EVENTS DROPPED]\n");
    buffer_commit(&out->buffer, (size_t)(at - begin));
}

/* Writes an event. A sample with counter values becomes one line for each counter of which the
 * value has increased. */
static void write_perfscript_event(struct ttr_writer *out, const ttr_event *event)
{
    struct perfscript *writer = out->ctx;
    struct perfscript_counter counter;
    ttr_fields fields;
    append_buffer_name(out, event);
    if (event->kind == TTR_KIND_GAP) {
        add_dropped_line(out, event);
    } else if (writer->is_trace_cmd || !get_line_attributes(out, event->source)->has_reads ||
               !perfscript_counters_begin(out, event, &fields)) {
        add_event_line(out, event, NULL);
    } else {
        while (perfscript_counters_next(&writer->counters, &fields, &counter))
            if (counter.period)
                add_event_line(out, event, &counter);
        out->buffer.failed |= writer->counters.is_out_of_memory;
    }
    output_count_event(out, event);
}

/* --- Escaping of control characters --- */

/* Returns the length in bytes of the control character at p; 0 if it is another character,
 *  or \t. */
static size_t count_control_character_bytes(const uint8_t *p, size_t n)
{
    return *p == '\n' || *p == '\t' ? 0 : utf8_control_length(p, n);
}

/* Escapes control characters in the lines from `begin` on, so that terminals ignore them. */
static void escape_controls(struct ttr_writer *out, size_t begin)
{
    struct perfscript *writer = out->ctx;
    const uint8_t *p = out->buffer.bytes + begin;
    size_t n = out->buffer.failed ? 0 : out->buffer.n - begin, at = 0;
    while (at < n && !count_control_character_bytes(p + at, n - at))
        at++;
    if (at == n)
        return;
    buffer_clear(&writer->escaped);
    buffer_add(&writer->escaped, p + at, n - at);
    out->buffer.n = begin + at;
    out->buffer.failed |= writer->escaped.failed;
    n = writer->escaped.failed ? 0 : writer->escaped.n;
    for (at = 0; at < n;) {
        p = writer->escaped.bytes + at;
        size_t control = count_control_character_bytes(p, n - at);
        const uint8_t last = control == 2 ? p[1] : *p;
        const char text[] = {'\\', 'x', "0123456789abcdef"[last >> 4],
                             "0123456789abcdef"[last & 15]};
        buffer_add(&out->buffer, control ? (const void *)text : p, control ? sizeof text : 1);
        at += control ? control : 1;
    }
}

/* Returns true if the imitated program prints the event by default. perf script prints only
 * samples. */
static bool is_printed_event(const struct ttr_writer *out, const ttr_event *event)
{
    const struct perfscript *writer = out->ctx;
    if (event->kind == TTR_KIND_GAP)
        return writer->is_trace_cmd && event->flags & TTR_EVENT_HAS_CPU &&
               !is_perf_event(out, event);
    if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_OBJECT)
        return false;
    return event->kind == TTR_KIND_SAMPLE || event->provider || !is_perf_event(out, event);
}

static ttr_status perfscript_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    const struct perfscript *writer = out->ctx;
    append_lines_with_cpu_number(out);
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (!is_printed_event(out, event))
            continue;
        size_t begin = out->buffer.n;
        write_perfscript_event(out, event);
        if (writer->has_escaped_controls)
            escape_controls(out, begin);
        ttr_status status = output_drain(out, error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

static ttr_status perfscript_finish(struct ttr_writer *out, ttr_error *error)
{
    append_lines_with_cpu_number(out);
    return output_drain(out, error);
}

static void perfscript_free_writer(struct ttr_writer *out)
{
    struct perfscript *writer = out->ctx;
    if (!writer->escaped.alloc)
        return;
    buffer_free(&writer->escaped);
    alloc_free(writer->escaped.alloc, writer->lines, writer->lines_capacity, sizeof *writer->lines);
    perfscript_counters_free(&writer->counters);
    pair_map_free(&writer->names);
}

static const ttr_option_info options[] = {
    {"lines", "perf|trace-cmd", "print as perf script or as trace-cmd report", true},
    {"controls", "raw|shown", "control characters as they are, or as \\x1b", true},
};

static const char *const no_options[] = {NULL};
static const char *const perf_lines[] = {"perfscript.lines=perf", NULL};
static const char *const trace_cmd_lines[] = {"perfscript.lines=trace-cmd", NULL};

static const ttr_style_info styles[] = {
    {.name = "perf",
     .format = "perfscript",
     .writing_options = perf_lines,
     .reading_options = no_options,
     .shown_option = "perfscript.controls=shown",
     .read_flags = TTR_READ_SYMBOLS},
    {.name = "trace-cmd",
     .format = "perfscript",
     .writing_options = trace_cmd_lines,
     .reading_options = no_options,
     .shown_option = "perfscript.controls=shown",
     .read_flags = TTR_READ_SYMBOLS},
};

static const struct format_hints hints = {
    .warnings = "",
    .styles = styles,
    .styles_n = sizeof styles / sizeof *styles,
};

static const struct format_writer writer = {
    .is_text = true,
    .state_size = sizeof(struct perfscript),
    .create = perfscript_create,
    .write = perfscript_write,
    .finish = perfscript_finish,
    .drop = perfscript_free_writer,
};

const struct format format_perfscript = {
    .name = "perfscript",
    .title = "text as perf script prints it",
    .extensions = "",
    .spec = "src/formats/perfscript/README.md",
    .writer = &writer,
    .hints = &hints,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
