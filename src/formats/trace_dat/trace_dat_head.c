/* The header of version 6: description of tracepoints, options, and a table of CPUs per buffer. */
#include "base/status.h"
#include "formats/trace_dat/trace_dat.h"

#define FIRST_LOAD ((uint64_t)1 << 20)
#define DESCRIPTION_MAX \
    (64 * FIRST_LOAD) /* number of bytes in which the end of the description is searched for */

/* A ring buffer other than the main one. Its table of CPUs is at file offset `offset`. */
struct other_buffer {
    uint64_t offset;
    char name[64];
};

struct instances {
    struct other_buffer item[64];
    size_t n;
};

static ttr_status report_cut_head(struct trace_dat_reader *reader, const char *where)
{
    return input_add_damage(reader->in, reader->size, 0, "trace_dat.cut", reader->error,
                            "the file ends inside %s: its events cannot be found", where);
}

/* Texts that follow the number of CPUs where the header of a ring buffer starts. */
static const char *const header_marks[] = {"options  ", "flyrecord", "latency  "};

static bool is_header_mark(const uint8_t *p, const char *mark)
{
    return p && memcmp(p, mark, TRACE_DAT_MARK) == 0;
}

/* Returns true if the header of a ring buffer starts at the cursor. */
static bool is_buffer_header(struct cursor c)
{
    const uint8_t *mark = cursor_skip(&c, 4) ? cursor_read_bytes(&c, TRACE_DAT_MARK) : NULL;
    bool is_mark = false;
    for (unsigned i = 0; i < sizeof header_marks / sizeof *header_marks; i++)
        is_mark |= is_header_mark(mark, header_marks[i]);
    return is_mark;
}

/* Loads the start of the file up to the end of the description of tracepoints. Sets *end to the
 * offset of that end, or to 0 if the description is damaged or the file ends earlier. */
static ttr_status load_description(struct trace_dat_reader *reader, uint64_t *end)
{
    struct tracing_data probe = {.odd = reader->data.odd, .ctx = reader->data.ctx};
    for (uint64_t n = FIRST_LOAD;; n *= 4) {
        ttr_status status = trace_dat_load_at(reader, 0, n);
        if (status != TTR_OK)
            return status;
        struct cursor c = cursor_init(reader->bytes.bytes, reader->bytes.n, 0);
        if (tracing_data_parse_head(&probe, &c) && !c.failed)
            status = tracing_data_parse(&probe, &c, reader->error);
        *end = !c.failed && is_buffer_header(c) ? c.offset : 0;
        if (status != TTR_OK || *end || n >= reader->size || n >= DESCRIPTION_MAX)
            return status;
    }
}

/* Returns the offset of the first header of a ring buffer that is not before `from`; 0 if none was
 * found. */
static uint64_t find_buffer_header(const struct trace_dat_reader *reader, uint64_t from)
{
    const uint8_t *p = reader->bytes.bytes;
    for (unsigned i = 0; i < sizeof header_marks / sizeof *header_marks; i++) {
        const uint8_t *found =
            memmem(p + from, reader->bytes.n - (size_t)from, header_marks[i], TRACE_DAT_MARK);
        if (found && (uint64_t)(found - p) >= from + 4)
            return (uint64_t)(found - p) - 4;
    }
    return 0;
}

/* Parses the loaded description, which is damaged if *end is 0. Then sets *end to the offset of the
 * header of the main buffer, or leaves 0 if there is none. */
static ttr_status parse_description(struct trace_dat_reader *reader, struct cursor *c,
                                    uint64_t *end)
{
    struct tracing_data *data = &reader->data;
    data->is_complete = *end == 0;
    data->end = *end == 0 ? find_buffer_header(reader, c->offset) : 0;
    ttr_status status = tracing_data_parse(data, c, reader->error);
    if (status != TTR_OK || *end)
        return status;
    const uint64_t parsed_to = c->offset;
    *end = c->failed || !is_buffer_header(*c) ? find_buffer_header(reader, parsed_to) : parsed_to;
    if (*end == 0 && c->failed)
        return report_cut_head(reader, "the description of its events");
    if (*end == 0) /* the header of the main buffer is damaged */
        *end = parsed_to;
    if (*end > parsed_to) {
        data->damage_at = data->damage_end > data->damage_at ? data->damage_at : parsed_to;
        data->damage_end = *end;
    }
    if (data->damage_end == data->damage_at)
        return TTR_OK;
    return input_add_damage(
        reader->in, data->damage_at, data->damage_end - data->damage_at, "trace_dat.bad-formats",
        reader->error,
        "the description of the events is damaged here; events without a format are read as raw "
        "bytes");
}

static ttr_status add_other_buffer(struct trace_dat_reader *reader, struct instances *instances,
                                   struct cursor c)
{
    const struct cursor option = c;
    uint64_t place = tracing_data_read_number(&reader->data, &c, 8);
    ttr_text name = trace_dat_read_string(&c);
    if (c.failed || instances->n == sizeof instances->item / sizeof *instances->item)
        return input_add_damage(reader->in, option.offset, cursor_left(&option),
                                "trace_dat.instance", reader->error, "%s; its events are not read",
                                c.failed ? "the offset or name of a buffer is cut off"
                                         : "a buffer after the 64 that can be read");
    trace_dat_widen_buffer_column(reader, name);
    struct other_buffer *instance = &instances->item[instances->n++];
    *instance = (struct other_buffer){.offset = place};
    memcpy(instance->name, name.p,
           name.n < sizeof instance->name ? name.n : sizeof instance->name - 1);
    return TTR_OK;
}

/* Parses options until option 0, which ends them. */
static ttr_status parse_options(struct trace_dat_reader *reader, struct cursor *c,
                                struct instances *instances)
{
    for (;;) {
        unsigned option = (unsigned)tracing_data_read_number(&reader->data, c, 2);
        if (option == TRACE_DAT_DONE || c->failed)
            return TTR_OK;
        uint64_t n = tracing_data_read_number(&reader->data, c, 4);
        struct cursor part = cursor_slice(c, n);
        if (c->failed)
            return TTR_OK;
        ttr_status status = option == TRACE_DAT_BUFFER
                                ? add_other_buffer(reader, instances, part)
                                : trace_dat_parse_option(reader, option, part);
        if (status != TTR_OK)
            return status;
    }
}

/* Parses the table of CPUs after "flyrecord", and adds a CPU buffer for each entry. */
static ttr_status parse_cpu_table(struct trace_dat_reader *reader, struct cursor *c, uint32_t cpus,
                                  const char *buffer)
{
    ttr_status status = TTR_OK;
    for (uint32_t cpu = 0; cpu < cpus && status == TTR_OK; cpu++) {
        struct trace_dat_cpu_buffer cpu_buffer = {.cpu = cpu,
                                                  .page_bytes = reader->data.page_bytes};
        cpu_buffer.at = tracing_data_read_number(&reader->data, c, 8);
        cpu_buffer.left = tracing_data_read_number(&reader->data, c, 8);
        if (c->failed)
            return report_cut_head(reader, "its table of CPUs");
        status = trace_dat_add_cpu_buffer(reader, &cpu_buffer, (ttr_text){buffer, strlen(buffer)});
    }
    return status;
}

/* Searches for the mark of the table of CPUs after damaged options, which start at the cursor
 * `options`. Moves *c after the mark, or leaves it unchanged if there is none. */
static ttr_status find_table_after_options(struct trace_dat_reader *reader, struct cursor options,
                                           struct cursor *c, const uint8_t **mark)
{
    const size_t left = cursor_left(&options);
    const uint8_t *found = left ? memmem(options.p, left, "flyrecord", TRACE_DAT_MARK) : NULL;
    if (!found)
        return TTR_OK;
    *mark = found;
    *c = options;
    (void)cursor_skip(c, (size_t)(found - options.p) + TRACE_DAT_MARK);
    return input_add_damage(reader->in, options.offset, (uint64_t)(found - options.p),
                            "trace_dat.bad-option", reader->error,
                            "the options are damaged; their complete part is used");
}

/* Parses the header of a ring buffer: options if present, then the table of CPUs. Sets *cpus to the
 * size of the main table. */
static ttr_status parse_buffer_header(struct trace_dat_reader *reader, struct cursor *c,
                                      uint32_t *cpus, const char *name, struct instances *instances)
{
    const uint8_t *mark = cursor_read_bytes(c, TRACE_DAT_MARK);
    const struct cursor options = *c;
    ttr_status status = TTR_OK;
    if (is_header_mark(mark, "options  ")) {
        status = parse_options(reader, c, instances);
        mark = cursor_read_bytes(c, TRACE_DAT_MARK);
        if (status == TTR_OK && !is_header_mark(mark, "flyrecord") &&
            !is_header_mark(mark, "latency  "))
            status = find_table_after_options(reader, options, c, &mark);
    }
    uint32_t stored = *cpus;
    if (reader->options.cpus)
        *cpus = reader->options.cpus;
    if (status != TTR_OK)
        return status;
    if (c->failed)
        return report_cut_head(reader, "its options");
    if (is_header_mark(mark, "latency  ")) {
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_REMARK, c->offset, "trace_dat.latency",
            "the trace of a latency tracer: from here on it is text, without events");
        return TTR_OK;
    }
    if (!is_header_mark(mark, "flyrecord"))
        return input_add_damage(
            reader->in, c->offset - TRACE_DAT_MARK, TRACE_DAT_MARK, "trace_dat.no-table",
            reader->error,
            "expected \"options\", \"flyrecord\" or \"latency\" here: the offsets "
            "of the events are unknown");
    if (*cpus > TRACE_DAT_CPUS_MAX)
        return input_add_damage(reader->in, c->offset, 0, "trace_dat.no-table", reader->error,
                                "a machine of %u CPUs is impossible", *cpus);
    status = parse_cpu_table(reader, c, *cpus, name);
    /* skip unused entries, which trace-cmd adds for readers without the option CPUCOUNT */
    if (stored < *cpus)
        (void)cursor_skip(c, 16);
    return status;
}

/* Loads the bytes from file offset `offset` on, where the header of a ring buffer starts. */
static ttr_status load_buffer_header(struct trace_dat_reader *reader, uint64_t offset,
                                     struct cursor *c)
{
    ttr_status status = trace_dat_load_at(reader, offset, FIRST_LOAD * 64);
    *c = cursor_init(reader->bytes.bytes, reader->bytes.n, offset);
    return status;
}

/* Loads the header of a ring buffer other than the main one, which has no number of CPUs. If no
 * header is at its offset, uses the one that is at most TRACE_DAT_MOVED_MAX bytes before it, and
 * reports that. */
static ttr_status load_other_header(struct trace_dat_reader *reader, uint64_t offset,
                                    struct cursor *c)
{
    const uint64_t begin = offset > TRACE_DAT_MOVED_MAX ? offset - TRACE_DAT_MOVED_MAX : 0;
    ttr_status status = load_buffer_header(reader, begin, c);
    const struct cursor from = *c;
    const uint8_t *found = NULL;
    if (status != TTR_OK)
        return status;
    if (cursor_skip(c, offset - begin) && cursor_left(c) >= TRACE_DAT_MARK)
        for (unsigned i = 0; i < sizeof header_marks / sizeof *header_marks; i++) {
            if (is_header_mark(c->p, header_marks[i]))
                return TTR_OK;
            const uint8_t *mark =
                memmem(from.p, offset - begin + TRACE_DAT_MARK, header_marks[i], TRACE_DAT_MARK);
            found = mark && (!found || mark < found) ? mark : found;
        }
    if (!found)
        return load_buffer_header(reader, offset, c);
    *c = from;
    (void)cursor_skip(c, (size_t)(found - from.p));
    return input_add_damage(reader->in, c->offset, 0, "trace_dat.moved", reader->error,
                            "the header of a buffer is here, not at its declared offset %llu",
                            (unsigned long long)offset);
}

static ttr_status parse_clock_text(struct trace_dat_reader *reader, struct cursor *c)
{
    uint64_t n = tracing_data_read_number(&reader->data, c, 8);
    struct cursor part = cursor_slice(c, n);
    if (!c->failed && n)
        trace_dat_parse_clock(reader, trace_dat_read_string(&part));
    return TTR_OK;
}

ttr_status trace_dat_read_version_6(struct trace_dat_reader *reader)
{
    uint64_t end;
    struct instances instances = {.n = 0};
    ttr_status status = load_description(reader, &end);
    if (status != TTR_OK)
        return status;
    struct cursor c = cursor_init(reader->bytes.bytes, reader->bytes.n, 0);
    if (!tracing_data_parse_head(&reader->data, &c))
        return report_cut_head(reader, "its first words");
    status = parse_description(reader, &c, &end);
    if (status != TTR_OK || end == 0)
        return status;
    status = load_buffer_header(reader, end, &c);
    if (status != TTR_OK)
        return status;
    uint32_t cpus = (uint32_t)tracing_data_read_number(&reader->data, &c, 4);
    status = parse_buffer_header(reader, &c, &cpus, "", &instances);
    reader->options.table_cpus = cpus;
    if (status == TTR_OK && reader->options.has_clock && !c.failed)
        status = parse_clock_text(reader, &c);
    for (size_t i = 0; i < instances.n && status == TTR_OK; i++) {
        status = load_other_header(reader, instances.item[i].offset, &c);
        struct instances none = {.n = 0};
        if (status == TTR_OK)
            status = parse_buffer_header(reader, &c, &cpus, instances.item[i].name, &none);
    }
    return status;
}
