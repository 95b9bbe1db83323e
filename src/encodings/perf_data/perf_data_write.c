/* Writer of a perf.data file's header, attributes, marks and feature sections. The records are in
 * perf_data_write_record.c; perf_data_write.h describes the file. */
#include "encodings/perf_data/perf_data_write.h"

#include "encodings/perf_data/perf_bytes.h"
#include "encodings/perf_data/perf_zstd.h"

#define ATTR_ENTRY (PERF_ATTR_VER7 + PERF_SECTION_BYTES)
#define BUILD_ID_ROOM 20u
/* bytes of the fixed part of a BUILD_ID record: header, pid, length of the id, id and padding */
#define BUILD_ID_FIXED 36u
/* value of PERF_EVENT_UPDATE__NAME: the record contains the name of an event */
#define UPDATE_NAME 2u
#define CARRIER_HEAD (PERF_RECORD_HEADER + 8u)

/* --- Creation of a writer --- */

bool perf_data_writer_new(struct perf_data_writer *writer, const struct perf_data_writer_spec *spec)
{
    *writer = (struct perf_data_writer){.spec = *spec};
    buffer_init(&writer->ids, spec->alloc);
    buffer_init(&writer->names, spec->alloc);
    buffer_init(&writer->plain, spec->alloc);
    for (size_t i = 0; i < PERF_WRITER_FEATURES; i++)
        buffer_init(&writer->feature[i], spec->alloc);
    if (!spec->zstd_level)
        return true;
    writer->zstd = perf_zstd_new(spec->alloc, spec->zstd_level);
    return writer->zstd != NULL;
}

void perf_data_writer_free(struct perf_data_writer *writer)
{
    perf_zstd_free(writer->zstd);
    for (size_t i = 0; i < PERF_WRITER_FEATURES && writer->spec.alloc; i++)
        buffer_free(&writer->feature[i]);
    if (!writer->spec.alloc)
        return;
    buffer_free(&writer->plain);
    buffer_free(&writer->names);
    buffer_free(&writer->ids);
    alloc_free(writer->spec.alloc, writer->events, writer->events_capacity, sizeof *writer->events);
}

/* Returns attribute flags in the order in which the file stores them. Compilers for big-endian
 * machines allocate bit fields from the most significant bit on. */
static uint64_t arrange_attr_flags(uint64_t flags, bool is_big)
{
    uint64_t placed = 0;
    for (unsigned i = 0; i < 64 && is_big; i++)
        placed |= (flags >> i & 1) << (63 - i);
    return is_big ? placed : flags;
}

void perf_attr_serialize(const struct perf_attr *attr, bool is_big_endian,
                         uint8_t to[PERF_ATTR_VER7])
{
    bool is_big = is_big_endian;
    memset(to, 0, PERF_ATTR_VER7);
    perf_store_u32(to + PERF_ATTR_TYPE, is_big, attr->type);
    perf_store_u32(to + PERF_ATTR_SIZE, is_big, PERF_ATTR_VER7);
    perf_store_u64(to + PERF_ATTR_CONFIG, is_big, attr->config);
    perf_store_u64(to + PERF_ATTR_PERIOD, is_big, attr->period);
    perf_store_u64(to + PERF_ATTR_SAMPLE_TYPE, is_big, attr->sample_type);
    perf_store_u64(to + PERF_ATTR_READ_FORMAT, is_big, attr->read_format);
    perf_store_u64(to + PERF_ATTR_FLAGS, is_big, arrange_attr_flags(attr->flags, is_big));
    perf_store_u32(to + PERF_ATTR_WAKEUP, is_big, attr->wakeup);
    perf_store_u32(to + PERF_ATTR_CLOCKID, is_big, (uint32_t)attr->clockid);
    perf_store_u16(to + PERF_ATTR_MAX_STACK, is_big, attr->max_stack);
}

/* --- Description of the trace as records, for pipes --- */

/* Appends bytes that are not in the data section, and advances the file offset. */
static void append_bytes_outside_data(struct perf_data_writer *writer, const void *bytes, size_t n)
{
    buffer_add(writer->spec.to, bytes, n);
    writer->at += n;
}

static void write_frame_u32(struct perf_data_writer *writer, uint32_t x)
{
    perf_append_u32(writer->spec.to, writer->spec.is_big_endian, x);
    writer->at += 4;
}

static void write_frame_u64(struct perf_data_writer *writer, uint64_t x)
{
    perf_append_u64(writer->spec.to, writer->spec.is_big_endian, x);
    writer->at += 8;
}

static void write_record_header(struct perf_data_writer *writer, uint32_t type, size_t size)
{
    uint8_t header[PERF_RECORD_HEADER] = {0};
    perf_store_u32(header, writer->spec.is_big_endian, type);
    perf_store_u16(header + 6, writer->spec.is_big_endian, (uint16_t)size);
    append_bytes_outside_data(writer, header, sizeof header);
}

static uint64_t get_event_id(const struct perf_data_writer *writer,
                             const struct perf_data_writer_event *event, size_t i)
{
    uint64_t id;
    memcpy(&id, writer->ids.bytes + event->ids_at + i * sizeof id, sizeof id);
    return id;
}

static void write_event_ids(struct perf_data_writer *writer,
                            const struct perf_data_writer_event *event)
{
    for (size_t i = 0; i < event->ids_n; i++)
        write_frame_u64(writer, get_event_id(writer, event, i));
}

/* Writes two records for an event: attribute and name. Drops ids that exceed the maximum record
 * size. */
static void write_event_records(struct perf_data_writer *writer,
                                const struct perf_data_writer_event *event)
{
    struct perf_data_writer_event limited = *event;
    size_t room = (PERF_RECORD_BYTES_MAX - PERF_RECORD_HEADER - PERF_ATTR_VER7) / 8;
    if (limited.ids_n > room)
        limited.ids_n = room;
    write_record_header(writer, PERF_HEADER_ATTR,
                        PERF_RECORD_HEADER + PERF_ATTR_VER7 + 8 * limited.ids_n);
    append_bytes_outside_data(writer, event->attr, PERF_ATTR_VER7);
    write_event_ids(writer, &limited);
    if (!event->name_n || !event->ids_n)
        return;
    size_t padded = perf_padded_size(event->name_n, 8);
    write_record_header(writer, PERF_EVENT_UPDATE, PERF_RECORD_HEADER + 16 + padded);
    write_frame_u64(writer, UPDATE_NAME);
    write_frame_u64(writer, get_event_id(writer, event, 0));
    append_bytes_outside_data(writer, writer->names.bytes + event->name_at, event->name_n);
    append_bytes_outside_data(writer, "\0\0\0\0\0\0\0", padded - event->name_n);
}

static void write_feature_record(struct perf_data_writer *writer, enum perf_feature feature)
{
    const struct buffer *section = &writer->feature[feature];
    size_t size = PERF_RECORD_HEADER + 8 + section->n;
    if (!section->n || size > PERF_RECORD_BYTES_MAX)
        return;
    write_record_header(writer, PERF_HEADER_FEATURE, size);
    write_frame_u64(writer, feature);
    append_bytes_outside_data(writer, section->bytes, section->n);
}

static void write_tracing_record(struct perf_data_writer *writer)
{
    const struct buffer *section = &writer->feature[PERF_FEATURE_TRACING_DATA];
    size_t padding = (8 - section->n % 8) % 8;
    if (!section->n)
        return;
    write_record_header(writer, PERF_HEADER_TRACING_DATA, PERF_RECORD_HEADER + 4);
    write_frame_u32(writer, (uint32_t)(section->n + padding));
    append_bytes_outside_data(writer, section->bytes, section->n);
    append_bytes_outside_data(writer, "\0\0\0\0\0\0\0", padding);
}

static void write_build_ids(struct perf_data_writer *writer)
{
    const struct buffer *section = &writer->feature[PERF_FEATURE_BUILD_ID];
    if (section->n > writer->build_ids_written)
        append_bytes_outside_data(writer, section->bytes + writer->build_ids_written,
                                  section->n - writer->build_ids_written);
    writer->build_ids_written = section->n;
}

static bool is_written_at_once(const struct perf_data_writer *writer)
{
    return writer->spec.is_pipe && writer->has_begun;
}

/* --- Declaration of events, feature sections and format files --- */

void perf_data_writer_add_event(struct perf_data_writer *writer, const uint8_t attr[PERF_ATTR_VER7],
                                ttr_text name, const uint64_t *ids, size_t n)
{
    void *events = writer->events;
    if (!alloc_reserve(writer->spec.alloc, &events, &writer->events_capacity, writer->events_n + 1,
                       sizeof *writer->events)) {
        writer->is_out_of_memory = true;
        return;
    }
    writer->events = events;
    struct perf_data_writer_event *event = &writer->events[writer->events_n];
    *event = (struct perf_data_writer_event){
        .ids_at = writer->ids.n, .ids_n = n, .name_at = writer->names.n, .name_n = name.n};
    memcpy(event->attr, attr, PERF_ATTR_VER7);
    perf_store_u32(event->attr + PERF_ATTR_SIZE, writer->spec.is_big_endian, PERF_ATTR_VER7);
    buffer_add(&writer->ids, ids, n * sizeof *ids);
    buffer_add(&writer->names, name.p, name.n);
    if (perf_data_writer_failed(writer))
        return;
    writer->events_n++;
    writer->is_late = writer->has_begun;
    if (is_written_at_once(writer)) {
        perf_data_writer_flush(writer);
        write_event_records(writer, event);
        writer->events_written = writer->events_n;
    }
}

/* Called when a feature section was set. For pipes, writes it as a record. */
static void write_pipe_feature(struct perf_data_writer *writer, enum perf_feature feature)
{
    if (writer->feature[feature].failed)
        writer->is_out_of_memory = true;
    else if (is_written_at_once(writer))
        write_feature_record(writer, feature);
}

void perf_data_writer_set_feature(struct perf_data_writer *writer, enum perf_feature feature,
                                  const void *bytes, size_t n)
{
    buffer_clear(&writer->feature[feature]);
    buffer_add(&writer->feature[feature], bytes, n);
    write_pipe_feature(writer, feature);
}

void perf_data_writer_set_feature_text(struct perf_data_writer *writer, enum perf_feature feature,
                                       ttr_text text)
{
    buffer_clear(&writer->feature[feature]);
    perf_append_text(&writer->feature[feature], writer->spec.is_big_endian, text.p, text.n);
    write_pipe_feature(writer, feature);
}

void perf_data_writer_set_feature_texts(struct perf_data_writer *writer, enum perf_feature feature,
                                        const ttr_text *texts, uint32_t n)
{
    buffer_clear(&writer->feature[feature]);
    perf_append_u32(&writer->feature[feature], writer->spec.is_big_endian, n);
    for (uint32_t i = 0; i < n; i++)
        perf_append_text(&writer->feature[feature], writer->spec.is_big_endian, texts[i].p,
                         texts[i].n);
    write_pipe_feature(writer, feature);
}

void perf_data_writer_set_feature_cpus(struct perf_data_writer *writer, uint32_t available,
                                       uint32_t online)
{
    struct buffer *section = &writer->feature[PERF_FEATURE_NRCPUS];
    buffer_clear(section);
    perf_append_u32(section, writer->spec.is_big_endian, available);
    perf_append_u32(section, writer->spec.is_big_endian, online);
    write_pipe_feature(writer, PERF_FEATURE_NRCPUS);
}

void perf_data_writer_set_feature_clock(struct perf_data_writer *writer, uint32_t clockid,
                                        uint64_t wall_ns, uint64_t clock_ns)
{
    struct buffer *section = &writer->feature[PERF_FEATURE_CLOCK_DATA];
    bool is_big = writer->spec.is_big_endian;
    buffer_clear(section);
    perf_append_u32(section, is_big, 1);
    perf_append_u32(section, is_big, clockid);
    perf_append_u64(section, is_big, wall_ns);
    perf_append_u64(section, is_big, clock_ns);
    write_pipe_feature(writer, PERF_FEATURE_CLOCK_DATA);
}

void perf_data_writer_add_build_id(struct perf_data_writer *writer, uint32_t pid, uint16_t cpumode,
                                   const uint8_t *id, size_t n, ttr_text path)
{
    struct buffer *section = &writer->feature[PERF_FEATURE_BUILD_ID];
    bool is_big = writer->spec.is_big_endian;
    uint8_t fixed[BUILD_ID_FIXED] = {0};
    size_t path_n = path.n < 4096 ? path.n : 4096,
           padded = perf_padded_size(path_n, PERF_TEXT_ALIGN),
           id_n = n < BUILD_ID_ROOM ? n : BUILD_ID_ROOM;
    perf_store_u32(fixed, is_big, PERF_HEADER_BUILD_ID);
    perf_store_u16(fixed + 4, is_big, (uint16_t)(cpumode | PERF_MISC_BUILD_ID_SIZE));
    perf_store_u16(fixed + 6, is_big, (uint16_t)(BUILD_ID_FIXED + padded));
    perf_store_u32(fixed + 8, is_big, pid);
    memcpy(fixed + 12, id, id_n);
    fixed[12 + BUILD_ID_ROOM] = (uint8_t)id_n;
    buffer_add(section, fixed, sizeof fixed);
    buffer_add(section, path.p, path_n);
    buffer_add_zeros(section, padded - path_n);
    if (section->failed)
        writer->is_out_of_memory = true;
    else if (is_written_at_once(writer))
        write_build_ids(writer);
}

void perf_data_writer_set_tracing_data(struct perf_data_writer *writer, const void *bytes, size_t n)
{
    struct buffer *section = &writer->feature[PERF_FEATURE_TRACING_DATA];
    buffer_clear(section);
    buffer_add(section, bytes, n);
    writer->is_late |= writer->has_begun;
    if (section->failed)
        writer->is_out_of_memory = true;
    else if (is_written_at_once(writer))
        write_tracing_record(writer);
}

/* --- Start of the file --- */

static void write_pipe_start(struct perf_data_writer *writer)
{
    uint8_t header[PERF_PIPE_HEADER_BYTES];
    memcpy(header, writer->spec.is_big_endian ? PERF_MAGIC_BIG : PERF_MAGIC, 8);
    perf_store_u64(header + PERF_AT_HEADER_SIZE, writer->spec.is_big_endian, sizeof header);
    append_bytes_outside_data(writer, header, sizeof header);
    for (size_t i = 0; i < writer->events_n; i++)
        write_event_records(writer, &writer->events[i]);
    writer->events_written = writer->events_n;
    write_tracing_record(writer);
    write_build_ids(writer);
    for (unsigned i = PERF_FEATURE_HOSTNAME; i < PERF_WRITER_FEATURES; i++)
        write_feature_record(writer, (enum perf_feature)i);
}

/* Writes the ids of all events, and after them the attributes, which refer to them. */
static void write_attrs(struct perf_data_writer *writer)
{
    uint64_t ids_at = writer->at;
    for (size_t i = 0; i < writer->events_n; i++)
        write_event_ids(writer, &writer->events[i]);
    writer->attrs_at = writer->at;
    for (size_t i = 0; i < writer->events_n; i++) {
        const struct perf_data_writer_event *event = &writer->events[i];
        append_bytes_outside_data(writer, event->attr, PERF_ATTR_VER7);
        write_frame_u64(writer, ids_at);
        write_frame_u64(writer, 8 * event->ids_n);
        ids_at += 8 * event->ids_n;
    }
    writer->attrs_bytes = writer->at - writer->attrs_at;
    writer->events_written = writer->events_n;
}

/* Sets the feature section COMPRESSED. A reader needs it before the first COMPRESSED record,
 * because the compression ratio determines the size of its buffer. */
static void fill_compressed_section(struct perf_data_writer *writer)
{
    struct buffer *section = &writer->feature[PERF_FEATURE_COMPRESSED];
    bool is_big = writer->spec.is_big_endian;
    uint64_t ratio = writer->data_bytes ? writer->plain_bytes / writer->data_bytes : 1;
    if (!writer->zstd)
        return;
    buffer_clear(section);
    perf_append_u32(section, is_big, 1);
    perf_append_u32(section, is_big, PERF_COMPRESSION_ZSTD);
    perf_append_u32(section, is_big, (uint32_t)writer->spec.zstd_level);
    perf_append_u32(section, is_big, (uint32_t)ratio);
    perf_append_u32(section, is_big, PERF_ZSTD_PIECE_MAX);
}

/* Sets the feature section EVENT_DESC to attribute, name and ids of each event. */
static void fill_event_desc_section(struct perf_data_writer *writer)
{
    struct buffer *section = &writer->feature[PERF_FEATURE_EVENT_DESC];
    bool is_big = writer->spec.is_big_endian;
    buffer_clear(section);
    if (!writer->events_n)
        return;
    perf_append_u32(section, is_big, (uint32_t)writer->events_n);
    perf_append_u32(section, is_big, PERF_ATTR_VER7);
    for (size_t i = 0; i < writer->events_n; i++) {
        const struct perf_data_writer_event *event = &writer->events[i];
        buffer_add(section, event->attr, PERF_ATTR_VER7);
        perf_append_u32(section, is_big, (uint32_t)event->ids_n);
        perf_append_text(section, is_big, writer->names.bytes + event->name_at, event->name_n);
        for (size_t k = 0; k < event->ids_n; k++)
            perf_append_u64(section, is_big, get_event_id(writer, event, k));
    }
    writer->is_out_of_memory |= section->failed;
}

static void write_early_sections(struct perf_data_writer *writer)
{
    for (unsigned i = 0; i < PERF_WRITER_FEATURES; i++) {
        writer->early_sections[i] = (struct perf_section){writer->at, writer->feature[i].n};
        append_bytes_outside_data(writer, writer->feature[i].bytes, writer->feature[i].n);
    }
}

void perf_data_writer_begin(struct perf_data_writer *writer)
{
    static const uint8_t header[PERF_HEADER_BYTES];
    size_t header_at = writer->spec.to->n;
    fill_compressed_section(writer);
    writer->has_begun = true;
    if (writer->spec.is_pipe) {
        write_pipe_start(writer);
        return;
    }
    append_bytes_outside_data(writer, header, sizeof header);
    if (writer->events_n)
        write_attrs(writer);
    if (writer->spec.is_live) {
        fill_event_desc_section(writer);
        write_early_sections(writer);
    }
    writer->data_at = writer->at;
    if (!perf_data_writer_failed(writer))
        perf_data_writer_store_header(writer, writer->spec.to->bytes + header_at);
    perf_data_writer_mark_readable(writer);
}

/* --- Marks of a live file, between the records --- */

/* Starts a carrier record: an EVENT_TYPE record, which readers skip, for `n` bytes of data (a
 * multiple of 8). */
static void begin_carrier_record(struct perf_data_writer *writer, size_t n)
{
    write_record_header(writer, PERF_HEADER_EVENT_TYPE, CARRIER_HEAD + n);
    write_frame_u64(writer, UINT64_MAX);
    writer->data_bytes += CARRIER_HEAD + n;
    writer->plain_bytes += CARRIER_HEAD + n;
}

static void write_carried_feature(struct perf_data_writer *writer, enum perf_feature feature)
{
    const struct buffer *section = &writer->feature[feature];
    size_t padded = perf_padded_size(section->n, 8);
    begin_carrier_record(writer, padded);
    writer->early_sections[feature] = (struct perf_section){writer->at, section->n};
    append_bytes_outside_data(writer, section->bytes, section->n);
    append_bytes_outside_data(writer, "\0\0\0\0\0\0\0", padded - section->n);
}

/* Writes the events and formats that were declared since the last mark, in carrier records. */
static void write_late_declarations(struct perf_data_writer *writer)
{
    size_t attrs = writer->events_n * ATTR_ENTRY + writer->ids.n;
    const struct buffer *names = &writer->feature[PERF_FEATURE_EVENT_DESC],
                        *formats = &writer->feature[PERF_FEATURE_TRACING_DATA];
    writer->is_late = false;
    if (attrs > PERF_CARRIED_BYTES_MAX || formats->n > PERF_CARRIED_BYTES_MAX)
        /* checked before fill_event_desc_section(), which is slow if there are many events */
        return;
    fill_event_desc_section(writer);
    if (names->n > PERF_CARRIED_BYTES_MAX || perf_data_writer_failed(writer))
        return;
    begin_carrier_record(writer, attrs);
    write_attrs(writer);
    write_carried_feature(writer, PERF_FEATURE_EVENT_DESC);
    if (formats->n)
        write_carried_feature(writer, PERF_FEATURE_TRACING_DATA);
}

void perf_data_writer_mark_readable(struct perf_data_writer *writer)
{
    size_t size = PERF_RECORD_HEADER + 8;
    if (!writer->spec.is_live || writer->spec.is_pipe || writer->has_ended)
        return;
    perf_data_writer_flush(writer);
    if (writer->is_late)
        write_late_declarations(writer);
    writer->marked_bytes = writer->data_bytes;
    for (unsigned i = 0; i < PERF_WRITER_FEATURES; i++)
        size += writer->early_sections[i].n ? PERF_SECTION_BYTES : 0;
    write_record_header(writer, PERF_HEADER_EVENT_TYPE, size);
    write_frame_u64(writer, UINT64_MAX);
    for (unsigned i = 0; i < PERF_WRITER_FEATURES; i++) {
        if (!writer->early_sections[i].n)
            continue;
        write_frame_u64(writer, writer->early_sections[i].at);
        write_frame_u64(writer, writer->early_sections[i].n);
    }
    writer->data_bytes += size;
    writer->plain_bytes += size;
}

/* --- End of the file --- */

static void write_features(struct perf_data_writer *writer)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < PERF_WRITER_FEATURES; i++)
        count += writer->feature[i].n > 0;
    uint64_t at = writer->at + count * PERF_SECTION_BYTES;
    for (unsigned i = 0; i < PERF_WRITER_FEATURES; i++) {
        if (!writer->feature[i].n)
            continue;
        write_frame_u64(writer, at);
        write_frame_u64(writer, writer->feature[i].n);
        at += writer->feature[i].n;
    }
    for (unsigned i = 0; i < PERF_WRITER_FEATURES; i++)
        append_bytes_outside_data(writer, writer->feature[i].bytes, writer->feature[i].n);
}

void perf_data_writer_write_end(struct perf_data_writer *writer)
{
    perf_data_writer_flush(writer);
    if (writer->spec.is_pipe)
        return;
    fill_compressed_section(writer);
    fill_event_desc_section(writer);
    if (perf_data_writer_failed(writer))
        return;
    writer->has_ended = true;
    write_features(writer);
    if (writer->events_written < writer->events_n)
        write_attrs(writer);
}

static void store_section_entry(uint8_t *to, bool is_big, uint64_t at, uint64_t n)
{
    perf_store_u64(to, is_big, at);
    perf_store_u64(to + 8, is_big, n);
}

void perf_data_writer_store_header(const struct perf_data_writer *writer,
                                   uint8_t to[PERF_HEADER_BYTES])
{
    bool is_big = writer->spec.is_big_endian, is_open = writer->spec.is_live && !writer->has_ended;
    uint64_t features = is_open ? UINT64_C(1) << PERF_FEATURE_RESERVED : 0,
             data_bytes = is_open ? writer->marked_bytes : writer->data_bytes;
    for (unsigned i = 0; i < PERF_WRITER_FEATURES; i++)
        features |= (uint64_t)(is_open ? writer->early_sections[i].n > 0
                                       : writer->has_ended && writer->feature[i].n > 0)
                    << i;
    memset(to, 0, PERF_HEADER_BYTES);
    memcpy(to, is_big ? PERF_MAGIC_BIG : PERF_MAGIC, 8);
    perf_store_u64(to + PERF_AT_HEADER_SIZE, is_big, PERF_HEADER_BYTES);
    perf_store_u64(to + PERF_AT_ATTR_SIZE, is_big, ATTR_ENTRY);
    store_section_entry(to + PERF_AT_ATTRS, is_big, writer->attrs_at, writer->attrs_bytes);
    store_section_entry(to + PERF_AT_DATA, is_big, writer->data_at, data_bytes);
    perf_store_u64(to + PERF_AT_FEATURES, is_big, features);
}
