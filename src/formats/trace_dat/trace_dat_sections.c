/* Version 7: options refer to sections; one of them is the description of tracepoints. If the
 * options of the ring buffers are missing (the recorder died), sections are searched in file order.
 */
#include "base/status.h"
#include "formats/trace_dat/trace_dat.h"

/* If the header of a section is not at *offset but near and after `after`, sets *offset to where it
 * is, and reports damage. */
static ttr_status locate_section(struct trace_dat_reader *reader, uint64_t *offset, unsigned id,
                                 uint64_t after)
{
    const uint64_t declared = *offset;
    uint64_t found;
    ttr_status status = trace_dat_find_section(reader, declared, id, &found);
    if (status != TTR_OK || found == declared || found <= after)
        return status;
    *offset = found;
    return input_add_damage(reader->in, *offset, 0, "trace_dat.moved", reader->error,
                            "section %u is here, not at its declared offset %llu", id,
                            (unsigned long long)declared);
}

/* Loads the data of a section, and decompresses it if needed. Offsets of the cursor are file
 * offsets if the section is not compressed. If the section is missing, adds a note and sets
 * data->failed. */
static ttr_status load_section(struct trace_dat_reader *reader, uint64_t offset, unsigned id,
                               struct cursor *data)
{
    *data = (struct cursor){.failed = true};
    ttr_status status = trace_dat_load_at(reader, offset, TRACE_DAT_SECTION);
    if (status != TTR_OK)
        return status;
    struct cursor c = cursor_init(reader->bytes.bytes, reader->bytes.n, offset);
    unsigned found = (unsigned)tracing_data_read_number(&reader->data, &c, 2),
             flags = (unsigned)tracing_data_read_number(&reader->data, &c, 2);
    (void)cursor_skip(&c, 4);
    uint64_t size = tracing_data_read_number(&reader->data, &c, 8),
             begin = offset + TRACE_DAT_SECTION;
    if (offset >= reader->size)
        return input_add_damage(
            reader->in, reader->size, 0, "trace_dat.bad-section", reader->error,
            "section %u at byte %llu is after the end of the file; its content is missing", id,
            (unsigned long long)offset);
    if (c.failed || found != id || size > TRACE_DAT_SECTION_MAX)
        return input_add_damage(reader->in, offset, c.failed ? 0 : TRACE_DAT_SECTION,
                                "trace_dat.bad-section", reader->error,
                                "expected section %u here; its content is missing", id);
    status = trace_dat_load_at(reader, begin, size);
    if (status != TTR_OK)
        return status;
    c = cursor_init(reader->bytes.bytes, reader->bytes.n, begin);
    if (reader->bytes.n < size)
        status =
            input_add_damage(reader->in, begin, reader->bytes.n, "trace_dat.cut", reader->error,
                             "section %u has %llu bytes, of which %zu are present", id,
                             (unsigned long long)size, reader->bytes.n);
    if (status != TTR_OK || !(flags & TRACE_DAT_COMPRESSED)) {
        *data = c;
        return status;
    }
    uint64_t packed = tracing_data_read_number(&reader->data, &c, 4),
             whole = tracing_data_read_number(&reader->data, &c, 4);
    const uint8_t *from = cursor_read_bytes(&c, packed);
    const bool is_plausible = from && whole <= TRACE_DAT_SECTION_MAX;
    buffer_clear(&reader->inflated);
    size_t room = trace_dat_get_first_buffer_size((size_t)packed, (size_t)whole), got = 0;
    for (bool is_full = is_plausible; is_full;
         room = trace_dat_get_next_buffer_size(room, (size_t)whole)) {
        uint8_t *to = buffer_room(&reader->inflated, room + 1);
        if (!to)
            return fail_memory(reader->error);
        got = trace_dat_decompress(reader, from, (size_t)packed, to, room);
        is_full = got == room && room < whole;
    }
    if (got < whole || !is_plausible)
        status = input_add_damage(
            reader->in, begin, reader->bytes.n, "trace_dat.bad-compression", reader->error,
            "section %u is damaged: %s decompresses %zu bytes; the rest is missing", id,
            reader->compression, got);
    buffer_commit(&reader->inflated, got);
    if (got)
        *data = cursor_init(reader->inflated.bytes, got, begin);
    return status;
}

/* Sets *is to true if the flags of a ring buffer's section show that its pages are compressed. */
static ttr_status is_section_compressed(struct trace_dat_reader *reader, uint64_t offset, bool *is)
{
    uint8_t head[4];
    size_t got;
    ttr_status status = trace_dat_read_at(reader, offset, head, sizeof head, &got);
    struct cursor c = cursor_init(head, got, offset);
    (void)cursor_skip(&c, 2);
    *is = (tracing_data_read_number(&reader->data, &c, 2) & TRACE_DAT_COMPRESSED) != 0;
    return status;
}

static ttr_status parse_buffer_option(struct trace_dat_reader *reader, struct cursor c)
{
    struct trace_dat_cpu_buffer cpu_buffer = {0};
    uint64_t place = c.offset, offset = tracing_data_read_number(&reader->data, &c, 8);
    ttr_text name = trace_dat_read_string(&c), clock = trace_dat_read_string(&c);
    uint64_t pages = tracing_data_read_number(&reader->data, &c, 4),
             cpus = tracing_data_read_number(&reader->data, &c, 4);
    if (c.failed || cpus > TRACE_DAT_CPUS_MAX)
        return input_add_damage(reader->in, place, 0, "trace_dat.no-table", reader->error,
                                "the table of a buffer is incomplete; its events are missing");
    reader->options.has_buffers = true;
    trace_dat_widen_buffer_column(reader, name);
    if (name.n == 0 || !reader->options.clock[0])
        trace_dat_parse_clock(reader, clock);
    ttr_status status = locate_section(reader, &offset, TRACE_DAT_BUFFER, 0);
    if (status == TTR_OK)
        status = is_section_compressed(reader, offset, &cpu_buffer.is_compressed);
    cpu_buffer.page_bytes = (uint32_t)pages;
    for (uint64_t i = 0; i < cpus && status == TTR_OK; i++) {
        cpu_buffer.cpu = (uint32_t)tracing_data_read_number(&reader->data, &c, 4);
        cpu_buffer.at = tracing_data_read_number(&reader->data, &c, 8);
        cpu_buffer.left = tracing_data_read_number(&reader->data, &c, 8);
        if (c.failed)
            return input_add_damage(reader->in, place, 0, "trace_dat.no-table", reader->error,
                                    "the table of a buffer ends after %llu of %llu CPUs",
                                    (unsigned long long)i, (unsigned long long)cpus);
        if (name.n == 0 && cpu_buffer.cpu >= reader->options.table_cpus)
            reader->options.table_cpus = cpu_buffer.cpu + 1;
        status = trace_dat_add_cpu_buffer(reader, &cpu_buffer, name);
    }
    return status;
}

static ttr_status parse_option(struct trace_dat_reader *reader, unsigned option, struct cursor part)
{
    if (option == TRACE_DAT_BUFFER)
        return parse_buffer_option(reader, part);
    if (option == TRACE_DAT_BUFFER_TEXT) {
        reader->options.has_buffers = true;
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, part.offset, "trace_dat.latency",
                             "the trace of a latency tracer: it is text, without events");
        return TTR_OK;
    }
    if (option >= TRACE_DAT_HEADER_INFO && option <= TRACE_DAT_CMDLINES) {
        uint64_t offset = tracing_data_read_number(&reader->data, &part, 8);
        reader->options.section[option] = part.failed ? 0 : offset;
        return TTR_OK;
    }
    return trace_dat_parse_option(reader, option, part);
}

/* Header of a section as stored in the file. */
struct section_head {
    size_t n; /* number of bytes of the header that the file contains */
    uint64_t id, size;
    /* offset of the section's name in the section of strings; 0 for the first name or none */
    uint64_t description;
};

static ttr_status read_section_head(struct trace_dat_reader *reader, uint64_t offset,
                                    struct section_head *head)
{
    uint8_t bytes[TRACE_DAT_SECTION];
    ttr_status status = trace_dat_read_at(reader, offset, bytes, sizeof bytes, &head->n);
    struct cursor c = cursor_init(bytes, head->n, offset);
    head->id = tracing_data_read_number(&reader->data, &c, 2);
    (void)cursor_skip(&c, 2);
    head->description = tracing_data_read_number(&reader->data, &c, 4);
    head->size = tracing_data_read_number(&reader->data, &c, 8);
    return status;
}

/* Reports damage if the file ends before or inside the section of strings. trace-cmd writes it
 * after the last options, which are at `options_at`, so a file that lacks its end has all events.
 */
static ttr_status report_cut_strings(struct trace_dat_reader *reader, uint64_t options_at)
{
    struct section_head options, strings;
    ttr_status status = read_section_head(reader, options_at, &options);
    const uint64_t left = reader->size - options_at;
    if (status != TTR_OK || options.n < TRACE_DAT_SECTION || options.id != TRACE_DAT_DONE ||
        left - TRACE_DAT_SECTION < options.size)
        return status;
    const uint64_t at = options_at + TRACE_DAT_SECTION + options.size;
    status = read_section_head(reader, at, &strings);
    /* the section of strings may be missing if no section has a name */
    const bool is_absent = strings.n == 0 && options.description == 0;
    const bool is_complete =
        strings.n == TRACE_DAT_SECTION &&
        (strings.id != TRACE_DAT_STRINGS || strings.size <= reader->size - at - TRACE_DAT_SECTION);
    if (status != TTR_OK || is_absent || is_complete)
        return status;
    return input_add_damage(reader->in, reader->size, 0, "trace_dat.cut", reader->error,
                            "the file ends before the end of its last section, at byte %llu, which "
                            "names the sections; no event is missing",
                            (unsigned long long)at);
}

/* Parses all sections that contain options; each one ends with the offset of the next. Copies
 * their data, since parsing loads other sections. */
static ttr_status parse_option_sections(struct trace_dat_reader *reader, uint64_t offset,
                                        struct buffer *copy)
{
    uint64_t last = 0;
    for (unsigned i = 0; offset != 0; i++) {
        struct cursor c;
        uint64_t found = offset;
        ttr_status status = locate_section(reader, &found, TRACE_DAT_DONE, last);
        if (status != TTR_OK)
            return status;
        last = offset = found;
        if (i == TRACE_DAT_OPTIONS_MAX)
            return input_add_damage(reader->in, offset, 0, "trace_dat.no-end", reader->error,
                                    "options without end; what follows here is not read");
        status = load_section(reader, offset, TRACE_DAT_DONE, &c);
        if (status != TTR_OK)
            return status;
        offset = 0;
        buffer_clear(copy);
        buffer_add(copy, c.p, cursor_left(&c));
        if (copy->failed)
            return fail_memory(reader->error);
        c = cursor_init(copy->bytes, copy->n, c.offset);
        while (status == TTR_OK && cursor_left(&c) >= TRACE_DAT_OPTION_HEAD) {
            unsigned option = (unsigned)tracing_data_read_number(&reader->data, &c, 2);
            struct cursor part = cursor_slice(&c, tracing_data_read_number(&reader->data, &c, 4));
            if (c.failed)
                return input_add_damage(reader->in, c.offset, 0, "trace_dat.bad-option",
                                        reader->error, "option %u ends after its section", option);
            if (option == TRACE_DAT_DONE) {
                offset = tracing_data_read_number(&reader->data, &part, 8);
                break;
            }
            status = parse_option(reader, option, part);
        }
        if (status != TTR_OK)
            return status;
    }
    return last ? report_cut_strings(reader, last) : TTR_OK;
}

static ttr_status parse_section(struct trace_dat_reader *reader, unsigned id)
{
    struct cursor c = {0};
    uint64_t offset = reader->options.section[id];
    ttr_status status = offset ? locate_section(reader, &offset, id, 0) : TTR_OK;
    if (status == TTR_OK && offset)
        status = load_section(reader, offset, id, &c);
    if (status != TTR_OK || !offset || c.failed)
        return status;
    reader->data.is_complete = true;
    reader->data.is_resynced = false;
    reader->data.damage_at = reader->data.damage_end = 0;
    switch (id) {
    case TRACE_DAT_HEADER_INFO:
        status = tracing_data_parse_pages(&reader->data, &c);
        break;
    case TRACE_DAT_FTRACE_EVENTS:
        status = tracing_data_parse_ftrace(&reader->data, &c, reader->error);
        break;
    case TRACE_DAT_EVENT_FORMATS:
        status = tracing_data_parse_systems(&reader->data, &c, reader->error);
        break;
    case TRACE_DAT_KALLSYMS:
        status = tracing_data_parse_kallsyms(&reader->data, &c, reader->error);
        break;
    case TRACE_DAT_PRINTK:
        status = tracing_data_parse_printk(&reader->data, &c, reader->error);
        break;
    default:
        status = tracing_data_parse_comms(&reader->data, &c, reader->error);
        break;
    }
    if (status == TTR_OK && reader->data.damage_end > reader->data.damage_at)
        return input_add_damage(
            reader->in, reader->data.damage_at, 0, "trace_dat.bad-formats", reader->error,
            "the formats of section %u are damaged here; events without a format "
            "are read as raw bytes",
            id);
    if (status == TTR_OK && c.failed)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, offset, "trace_dat.short-section",
            "section %u ends before the content that it declares; complete parts are used", id);
    return status;
}

/* --- Recovery of a trace without BUFFER options (TRACE-DAT-SALVAGE) --- */

#define SALVAGED_SECTIONS_MAX 4096u /* maximum number of sections that are examined */

/* Adds the compressed pages at file offset `at` as the CPU buffer of the next CPU. Sets *end to
 * the offset after the pages; to 0 if no compressed pages are at `at`. */
static ttr_status add_compressed_pages_as_cpu_buffer(struct trace_dat_reader *reader,
                                                     struct trace_dat_cpu_buffer *cpu_buffer,
                                                     uint64_t at, uint64_t *end)
{
    uint8_t bytes[TRACE_DAT_CHUNK_HEAD];
    size_t got;
    ttr_status status = trace_dat_read_at(reader, at, bytes, 4, &got);
    struct cursor c = cursor_init(bytes, got, at);
    uint64_t chunks = tracing_data_read_number(&reader->data, &c, 4), next = at + 4;
    for (uint64_t i = 0; i < chunks && next < reader->size && status == TTR_OK; i++) {
        status = trace_dat_read_at(reader, next, bytes, sizeof bytes, &got);
        c = cursor_init(bytes, got, next);
        next += TRACE_DAT_CHUNK_HEAD + tracing_data_read_number(&reader->data, &c, 4);
    }
    cpu_buffer->at = at;
    cpu_buffer->left = (next < reader->size ? next : reader->size) - at;
    *end = chunks && got ? next : 0;
    if (status != TTR_OK || !*end || cpu_buffer->left <= 4)
        return status;
    /* the size that trace-cmd stores does not include the count itself */
    cpu_buffer->left -= 4;
    return trace_dat_add_cpu_buffer(reader, cpu_buffer, (ttr_text){"", 0});
}

/* Adds uncompressed pages of all CPUs as CPU buffers. The CPU buffers are contiguous; each is
 * aligned to the page size. If a page starts before the end time of the previous page, it is the
 * first page of the next CPU. */
static ttr_status add_uncompressed_pages(struct trace_dat_reader *reader,
                                         struct trace_dat_cpu_buffer *cpu_buffer, uint64_t at,
                                         uint64_t end)
{
    const struct ring_buffer_layout layout = {reader->data.is_big_endian, reader->data.commit_bytes,
                                              reader->data.page_data};
    uint64_t before = 0;
    cpu_buffer->at = at;
    for (uint64_t next = at; next < end; next += cpu_buffer->page_bytes) {
        struct ring_buffer_page page;
        ttr_status status = trace_dat_load_at(reader, next, cpu_buffer->page_bytes);
        if (status == TTR_OK &&
            !ring_buffer_begin_page(&layout, reader->bytes.bytes, reader->bytes.n, true, &page))
            continue;
        if (status == TTR_OK && page.time < before) {
            cpu_buffer->left = next - cpu_buffer->at;
            status = trace_dat_add_cpu_buffer(reader, cpu_buffer, (ttr_text){"", 0});
            cpu_buffer->at = next;
            cpu_buffer->cpu++;
        }
        if (status != TTR_OK)
            return status;
        struct ring_buffer_event event;
        while (ring_buffer_next_event(&page, &event) == RING_BUFFER_EVENT) {
        }
        before = page.time;
    }
    cpu_buffer->left = end - cpu_buffer->at;
    return trace_dat_add_cpu_buffer(reader, cpu_buffer, (ttr_text){"", 0});
}

static ttr_status salvage_buffer_section(struct trace_dat_reader *reader, uint64_t at,
                                         bool is_compressed)
{
    struct trace_dat_cpu_buffer cpu_buffer = {.page_bytes = reader->data.page_bytes,
                                              .is_compressed = is_compressed};
    uint64_t page = cpu_buffer.page_bytes, end = reader->size;
    ttr_status status = TTR_OK;
    if (page < 64 || page > TRACE_DAT_PAGE_MAX)
        return TTR_OK;
    at = (at + page - 1) / page * page;
    input_add_diagnostic(
        reader->in, TTR_SEVERITY_ODD, at, "trace_dat.guessed-cpus",
        "the options with the CPUs of these events are missing: the CPUs are numbered from "
        "0, in the order of the file");
    if (!is_compressed)
        return at < end ? add_uncompressed_pages(reader, &cpu_buffer, at, end) : TTR_OK;
    for (; at < end && status == TTR_OK && cpu_buffer.cpu < TRACE_DAT_CPUS_MAX; cpu_buffer.cpu++) {
        uint64_t stop;
        status = add_compressed_pages_as_cpu_buffer(reader, &cpu_buffer, at, &stop);
        at = stop ? (stop + page - 1) / page * page : end;
    }
    return status;
}

/* Goes through the sections in file order, and stores the offsets of those to which no option
 * refers. Sets *events to the offset of the data of the events section, if the file has one. */
static ttr_status find_section_offsets(struct trace_dat_reader *reader, uint64_t at,
                                       uint64_t *events, bool *is_compressed)
{
    for (unsigned i = 0; i < SALVAGED_SECTIONS_MAX && at < reader->size; i++) {
        uint8_t head[TRACE_DAT_SECTION];
        size_t got;
        ttr_status status = trace_dat_read_at(reader, at, head, sizeof head, &got);
        struct cursor c = cursor_init(head, got, at);
        unsigned id = (unsigned)tracing_data_read_number(&reader->data, &c, 2),
                 flags = (unsigned)tracing_data_read_number(&reader->data, &c, 2);
        (void)cursor_skip(&c, 4);
        uint64_t size = tracing_data_read_number(&reader->data, &c, 8);
        if (status != TTR_OK)
            return status;
        if (c.failed || id > TRACE_DAT_BUFFER_TEXT || size > reader->size) {
            uint64_t found = at;
            status = locate_section(reader, &found, TRACE_DAT_BUFFER, 0);
            if (status != TTR_OK || found == at)
                return status;
            at = found;
            continue;
        }
        at += TRACE_DAT_SECTION;
        if (id == TRACE_DAT_BUFFER) {
            *events = at;
            *is_compressed = (flags & TRACE_DAT_COMPRESSED) != 0;
            return TTR_OK;
        }
        if (id >= TRACE_DAT_HEADER_INFO && id <= TRACE_DAT_CMDLINES && !reader->options.section[id])
            reader->options.section[id] = at - TRACE_DAT_SECTION;
        at += size;
    }
    return TTR_OK;
}

ttr_status trace_dat_read_version_7(struct trace_dat_reader *reader)
{
    struct buffer copy;
    ttr_status status = trace_dat_load_at(reader, 0, 1024);
    if (status != TTR_OK)
        return status;
    struct cursor c = cursor_init(reader->bytes.bytes, reader->bytes.n, 0);
    if (!tracing_data_parse_head(&reader->data, &c))
        c.failed = true;
    ttr_text name = trace_dat_read_string(&c);
    (void)trace_dat_read_string(&c);
    memcpy(reader->compression, name.p,
           name.n < sizeof reader->compression ? name.n : sizeof reader->compression - 1);
    uint64_t offset = tracing_data_read_number(&reader->data, &c, 8);
    if (c.failed)
        return input_add_damage(reader->in, 0, reader->size, "trace_dat.cut", reader->error,
                                "the file ends inside its header");
    buffer_init(&copy, &reader->t->counted);
    uint64_t sections = c.offset;
    status = parse_option_sections(reader, offset, &copy);
    buffer_free(&copy);
    uint64_t events = 0;
    bool is_compressed = false, has_options = reader->cpu_buffers_n || reader->options.has_buffers;
    if (status == TTR_OK && !has_options)
        status = find_section_offsets(reader, sections, &events, &is_compressed);
    for (unsigned id = TRACE_DAT_HEADER_INFO; id <= TRACE_DAT_CMDLINES && status == TTR_OK; id++)
        status = parse_section(reader, id);
    return status == TTR_OK && events ? salvage_buffer_section(reader, events, is_compressed)
                                      : status;
}
