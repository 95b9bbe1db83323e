/* Opening of a perf.data file or pipe: header, attributes, features.
 *
 *   file   header, attributes with their ids, records, table of features.  Features (names, clock,
 *          formats of tracepoints) are needed to decode the records that precede them, so they are
 *          read first.  An input that can be read only once is kept in memory (up to 256 MiB).
 *   pipe   sixteen bytes, then records.
 *
 * If the recorder was killed, the size of the records is 0: they extend to the end of the file, and
 * there are no features (PERF-FILE-4). A file that was left open by a recorder of this project has
 * feature bit 0 set, and its table of features follows where the records end by the header
 * (PERF-FILE-6). */
#include "base/status.h"
#include "formats/perf/perf.h"

/* maximum number of bytes that are buffered if the input can be read only once */
#define KEPT_BYTES_MAX ((uint64_t)256 << 20)
/* maximum size in bytes of the attribute section, and of the ids of one attribute */
#define ATTRS_MAX ((uint64_t)64 << 20)
#define ROUND_SEARCH_MAX ((uint64_t)16 << 20) /* bytes that are searched for a FINISHED_ROUND */

#define FILE_SIZE_MAX \
    ((uint64_t)1 << 48) /* a larger section must be damage: no file has this size */

struct file_section {
    uint64_t offset, size;
    uint64_t declared_at; /* file offset of this {offset, size} pair, for diagnostics */
};

/* Returns the file offset at which to report damage of a section: the section's own if any of its
 * bytes were read, else that of the {offset, size} pair. */
static uint64_t find_damage_offset(const struct file_section *section, size_t got)
{
    return got ? section->offset : section->declared_at;
}

/* Appends a section of a compressed input to `to`. Decompresses the input a second time, and
 * starts again from its beginning if the section precedes the current offset. */
static ttr_status load_section_again(struct perf_reader *reader, const struct file_section *section,
                                     struct buffer *to)
{
    struct window window;
    ttr_error broken;
    if (section->offset < reader->again_at) {
        source_close(reader->again);
        reader->again = source_reopen(reader->in->source);
    }
    reader->again_at = section->offset;
    if (!reader->again || section->size > KEPT_BYTES_MAX)
        return TTR_OK;
    ttr_status status =
        source_fill(reader->again, section->offset, (size_t)section->size, &window, &broken);
    if (status == TTR_E_NOMEM)
        return fail_memory(reader->error);
    if (status == TTR_OK)
        buffer_add(to, window.bytes, section->size < window.n ? (size_t)section->size : window.n);
    return to->failed ? fail_memory(reader->error)
                      /* the reader of records reports errors of decompression */
                      : TTR_OK;
}

/* Appends the bytes of a section to `to`; fewer bytes if the file ends within the section. */
static ttr_status load_section(struct perf_reader *reader, const struct file_section *section,
                               struct buffer *to)
{
    const struct window *window = &reader->in->window;
    bool is_seekable = source_is_seekable(reader->in->source);
    uint64_t n = section->size;
    buffer_clear(to);
    if (section->offset >= window->offset && section->offset - window->offset <= window->n) {
        uint64_t skip = section->offset - window->offset, there = window->n - skip;
        if (there >= n || (!is_seekable && !reader->again)) {
            buffer_add(to, window->bytes + skip, (size_t)(n < there ? n : there));
            return to->failed ? fail_memory(reader->error) : TTR_OK;
        }
    }
    if (!is_seekable)
        return reader->again ? load_section_again(reader, section, to) : TTR_OK;
    /* a damaged size must not cause a huge allocation: it cannot exceed the file size */
    uint64_t size = source_disk_size(reader->in->source);
    if (section->offset >= size)
        return TTR_OK;
    n = n < size - section->offset ? n : size - section->offset;
    uint8_t *at = buffer_room(to, (size_t)n);
    if (!at)
        return fail_memory(reader->error);
    int64_t got = source_peek_at(reader->in->source, section->offset, at, (size_t)n, reader->error);
    if (got < 0)
        return reader->error->status;
    buffer_commit(to, (size_t)got);
    return TTR_OK;
}

static struct file_section read_section(struct perf_cursor *at)
{
    struct file_section section = {.declared_at = at->c.offset};
    section.offset = perf_read_u64(at);
    section.size = perf_read_u64(at);
    return section;
}

/* Adjusts the offset of a section after the records if they have lost bytes or have additional
 * ones. */
static void move_section(const struct perf_reader *reader, struct file_section *section)
{
    if (section->offset >= reader->declared_end)
        section->offset += reader->tail_moved;
}

/* Stores the mask of damaged features as an attribute, so that the writer can leave these features
 * out of a copy. */
static bool store_bad_parts(const struct perf_reader *reader, uint64_t bad)
{
    const ttr_value value = {.type = TTR_TYPE_UINT, .v.u = bad};
    return !bad || context_add_attribute(reader->trace->t, reader->in->id, PERF_BAD_PARTS, &value);
}

/* --- Attributes and their ids --- */

static ttr_status read_attr_ids(struct perf_reader *reader, struct perf_kind *kind,
                                const struct file_section *ids, struct buffer *bytes)
{
    ttr_status status =
        ids->size && ids->size <= ATTRS_MAX ? load_section(reader, ids, bytes) : TTR_OK;
    if (status != TTR_OK || ids->size == 0)
        return status;
    size_t got = ids->size <= ATTRS_MAX ? bytes->n : 0;
    for (size_t i = 0; i + 8 <= got; i += 8)
        if (!perf_add_id_of_kind(reader->trace, kind,
                                 perf_u64(bytes->bytes + i, reader->trace->is_big)))
            return fail_memory(reader->error);
    if (got < ids->size)
        return input_add_damage(
            reader->in, find_damage_offset(ids, got), 0, "perf.bad-ids", reader->error,
            "an event has %llu bytes of ids at byte %llu, of which %zu are "
            "present; samples with other ids have no known event",
            (unsigned long long)ids->size, (unsigned long long)ids->offset, got);
    return TTR_OK;
}

static ttr_status read_attrs(struct perf_reader *reader, const struct file_section *attrs,
                             uint64_t entry)
{
    const struct alloc *alloc = &reader->trace->t->counted;
    struct buffer bytes, ids;
    if (entry < PERF_ATTR_VER0 + PERF_SECTION_BYTES || entry > UINT16_MAX ||
        attrs->size > ATTRS_MAX)
        return input_add_damage(reader->in, PERF_AT_ATTR_SIZE, 0, "perf.bad-attrs", reader->error,
                                "%llu bytes of attributes of %llu bytes each are impossible; the "
                                "layout of samples is unknown",
                                (unsigned long long)attrs->size, (unsigned long long)entry);
    buffer_init(&bytes, alloc);
    buffer_init(&ids, alloc);
    ttr_status status = load_section(reader, attrs, &bytes);
    struct perf_cursor at = {cursor_init(bytes.bytes, bytes.n, attrs->offset),
                             reader->trace->is_big};
    while (status == TTR_OK && cursor_left(&at.c) >= entry &&
           reader->trace->kinds_n < PERF_KINDS_MAX) {
        struct cursor attr = perf_read_attribute_bytes(&at, entry - PERF_SECTION_BYTES);
        struct file_section section = read_section(&at);
        move_section(reader, &section);
        struct perf_kind *kind = perf_add_event_kind(reader->trace, attr);
        status = kind ? read_attr_ids(reader, kind, &section, &ids) : fail_memory(reader->error);
    }
    if (status == TTR_OK && (bytes.n < attrs->size || cursor_left(&at.c) >= entry))
        status = input_add_damage(
            reader->in, find_damage_offset(attrs, bytes.n), 0, "perf.bad-attrs", reader->error,
            "of %llu bytes of attributes at byte %llu only %zu are present",
            (unsigned long long)attrs->size, (unsigned long long)attrs->offset, bytes.n);
    buffer_free(&bytes);
    buffer_free(&ids);
    return status;
}

/* --- Table of features --- */

static ttr_status read_feature(struct perf_reader *reader, unsigned feature,
                               const struct file_section *section)
{
    struct buffer bytes;
    if (feature > PERF_FEATURE_PMU_CAPS ||
        (section->size > PERF_SECTION_MAX && !perf_is_used_feature(feature)))
        return TTR_OK;
    if (section->size > PERF_SECTION_MAX)
        return input_add_damage(
            reader->in, section->declared_at, 0, "perf.bad-feature", reader->error,
            "feature %u has %llu bytes at byte %llu, more than the limit of 256 "
            "MiB; it is not read",
            feature, (unsigned long long)section->size, (unsigned long long)section->offset);
    buffer_init(&bytes, &reader->trace->t->counted);
    ttr_status status = load_section(reader, section, &bytes);
    if (status == TTR_OK && bytes.n < section->size)
        status = input_add_damage(
            reader->in, find_damage_offset(section, bytes.n), 0, "perf.bad-feature", reader->error,
            "feature %u has %llu bytes at byte %llu, of which %zu are present", feature,
            (unsigned long long)section->size, (unsigned long long)section->offset, bytes.n);
    struct perf_cursor at = {cursor_init(bytes.bytes, bytes.n, section->offset),
                             reader->trace->is_big};
    if (status == TTR_OK && bytes.n)
        status = perf_parse_feature(reader, feature, &at);
    buffer_free(&bytes);
    return status;
}

/* Returns true if bit i of the feature bit map is set. perf_unswap_feature_words() detects swapped
 * halves by HOSTNAME, since every recorder sets that bit. */
static bool is_feature_present(const uint64_t *words, unsigned i)
{
    return words[i / 64] >> (i % 64) & 1;
}

static void swap_word_halves(uint64_t *words)
{
    for (size_t i = 0; i < PERF_FEATURES_MAX / 64; i++)
        words[i] = words[i] >> 32 | words[i] << 32;
}

bool perf_unswap_feature_words(uint64_t *words)
{
    if (is_feature_present(words, PERF_FEATURE_HOSTNAME))
        return false;
    swap_word_halves(words);
    if (is_feature_present(words, PERF_FEATURE_HOSTNAME))
        return true;
    swap_word_halves(words);
    return false;
}

/* Reads the table of features, which follows the records. It has one section for each set bit, in
 * ascending order. */
static ttr_status load_feature_table(struct perf_reader *reader, const struct file_section *section,
                                     struct buffer *table)
{
    ttr_status status = load_section(reader, section, table);
    if (status != TTR_OK || table->n >= section->size)
        return status;
    if (section->offset < FILE_SIZE_MAX)
        return input_add_damage(
            reader->in, find_damage_offset(section, table->n), 0, "perf.no-features", reader->error,
            "the file ends before its features, which contain the names of events "
            "and of the host, and the date; events are named by their "
            "attributes, and times are those of the recorder's clock");
    return input_add_damage(
        reader->in, section->declared_at, 16, "perf.bad-size", reader->error,
        "records that end at byte %llu are impossible: their size is damaged; records are read up "
        "to the end of the file, and events are named by their attributes",
        (unsigned long long)section->offset);
}

/* Adds a note that explains what missing or damaged features cause. */
static void add_note_about_lost_features(struct perf_reader *reader, uint64_t bad)
{
    const bool lacks_names = bad >> PERF_FEATURE_EVENT_DESC & 1,
               lacks_date = bad >> PERF_FEATURE_CLOCK_DATA & 1,
               lacks_formats = bad >> PERF_FEATURE_TRACING_DATA & 1;
    if (lacks_names || lacks_date || lacks_formats)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, NO_OFFSET, "perf.lost-features",
            "lost with damaged features:%s%s%s%s%s",
            lacks_names ? " names of events (they are named by their attributes)" : "",
            lacks_names && (lacks_formats || lacks_date) ? "," : "",
            lacks_formats ? " formats of tracepoints (their fields stay undecoded)" : "",
            lacks_formats && lacks_date ? "," : "",
            lacks_date ? " date of the clock (times are not wall-clock times)" : "");
}

static uint64_t get_table_size(const uint64_t *words)
{
    uint64_t size = 0;
    for (unsigned i = 0; i < PERF_FEATURES_MAX; i++)
        size += is_feature_present(words, i) ? PERF_SECTION_BYTES : 0;
    return size;
}

/* If the table of features is near but not where the records end by the header, sets
 * reader->tail_moved, ends the records at the table, and reports damage. */
static ttr_status locate_feature_table(struct perf_reader *reader, const uint64_t *words,
                                       uint64_t declared)
{
    const uint64_t begin = declared > PERF_TABLE_MOVED_MAX ? declared - PERF_TABLE_MOVED_MAX : 0,
                   size = get_table_size(words);
    const struct file_section around = {.offset = begin,
                                        .size = declared - begin + size + PERF_TABLE_MOVED_MAX};
    struct buffer bytes;
    if (size == 0 || declared >= FILE_SIZE_MAX)
        return TTR_OK;
    buffer_init(&bytes, &reader->trace->t->counted);
    ttr_status status = load_section(reader, &around, &bytes);
    const struct perf_bytes_at there = {bytes.bytes, bytes.n, begin};
    const uint64_t found = perf_find_feature_table(&there, declared, size, reader->trace->is_big);
    buffer_free(&bytes);
    if (status != TTR_OK || found == declared)
        return status;
    reader->declared_end = declared;
    reader->tail_moved = found - declared; /* modulo 2^64 */
    reader->end = found;
    return input_add_damage(reader->in, found, 0, "perf.moved", reader->error,
                            "the table of features is here, not at its declared offset %llu: bytes "
                            "of the file are %s",
                            (unsigned long long)declared, found < declared ? "missing" : "added");
}

static ttr_status read_features(struct perf_reader *reader, uint64_t *words, uint64_t table_at)
{
    struct buffer table;
    struct file_section section = {
        .offset = table_at, .size = get_table_size(words), .declared_at = PERF_AT_DATA};
    uint64_t bad = 0;
    move_section(reader, &section);
    buffer_init(&table, &reader->trace->t->counted);
    ttr_status status = load_feature_table(reader, &section, &table);
    struct perf_cursor at = {cursor_init(table.bytes, table.n, section.offset),
                             reader->trace->is_big};
    for (unsigned i = 0; i < PERF_FEATURES_MAX && status == TTR_OK; i++) {
        if (!is_feature_present(words, i))
            continue;
        /* this entry covers the header of a marker record, not a feature: the file was not closed
         */
        if (i == PERF_FEATURE_RESERVED) {
            (void)read_section(&at);
            continue;
        }
        bool has_entry = cursor_left(&at.c) >= PERF_SECTION_BYTES;
        uint64_t regions = reader->in->notes.damage_regions;
        section = has_entry ? read_section(&at) : (struct file_section){0};
        move_section(reader, &section);
        status = has_entry ? read_feature(reader, i, &section) : TTR_OK;
        if (!has_entry || reader->in->notes.damage_regions > regions)
            bad |= i < 64 ? (uint64_t)1 << i : PERF_BAD_OTHERS;
    }
    buffer_free(&table);
    add_note_about_lost_features(reader, bad);
    return status == TTR_OK && !store_bad_parts(reader, bad) ? fail_memory(reader->error) : status;
}

/* --- Can records be sorted? --- */

/* Searches the first ROUND_SEARCH_MAX bytes of records for FINISHED_ROUND. If the file ends
 * earlier, also sets *is_found, since all of its records can then be sorted at once. */
static ttr_status search_round_end(struct perf_reader *reader, bool *is_found)
{
    uint8_t header[12];
    uint64_t at = reader->at;
    bool is_big = reader->trace->is_big;
    *is_found = true;
    for (;;) {
        if (at >= reader->end)
            return TTR_OK;
        struct buffer bytes;
        buffer_init(&bytes, &reader->trace->t->counted);
        uint64_t left = reader->end - at;
        ttr_status status = load_section(
            reader, &(struct file_section){.offset = at, .size = left < 65536 ? left : 65536},
            &bytes);
        size_t i = 0;
        while (status == TTR_OK && bytes.n - i >= sizeof header) {
            uint32_t type = perf_u32(bytes.bytes + i, is_big),
                     size = perf_u16(bytes.bytes + i + 6, is_big);
            if (type == PERF_FINISHED_ROUND || size < PERF_RECORD_HEADER || size > bytes.n - i)
                break;
            i += size;
        }
        bool is_round = bytes.n - i >= sizeof header &&
                        perf_u32(bytes.bytes + i, is_big) == PERF_FINISHED_ROUND;
        buffer_free(&bytes);
        at += i;
        if (status != TTR_OK || is_round || i == 0)
            return status;
        if (at - reader->at > ROUND_SEARCH_MAX) {
            *is_found = false;
            return TTR_OK;
        }
    }
}

ttr_status perf_decide_sorting(struct perf_reader *reader)
{
    bool is_found = true;
    ttr_status status = TTR_OK;
    if (reader->in->flags & TTR_READ_DEFINITIONS)
        is_found = false;
    else if (!reader->trace->is_pipe && !reader->again)
        status = search_round_end(reader, &is_found);
    reader->sorts = is_found;
    if (!is_found)
        reader->in->base.order = TTR_ORDER_NONE;
    return status;
}

/* --- Header of a file --- */

/* Ensures that the features, which follow the records, can be read first. Opens an unseekable
 * input a second time; if that is impossible, keeps its bytes up to `end` in memory. */
static ttr_status make_tail_readable(struct perf_reader *reader, uint64_t end)
{
    struct input *in = reader->in;
    if (source_is_seekable(in->source))
        return TTR_OK;
    reader->again = source_reopen(in->source);
    if (reader->again)
        return TTR_OK;
    uint64_t need = end < KEPT_BYTES_MAX ? end : KEPT_BYTES_MAX;
    ttr_status status = input_fill(in, 0, (size_t)need, reader->error);
    if (status == TTR_OK && end > KEPT_BYTES_MAX && in->window.n >= KEPT_BYTES_MAX)
        input_add_diagnostic(
            in, TTR_SEVERITY_ODD, NO_OFFSET, "perf.far-features",
            "the names of events follow their records, too far to be kept in memory; "
            "decompress the input to a file to read them");
    return status;
}

/* Reads the features of a file. Adds a note if they are incomplete because the recorder was
 * killed. */
static ttr_status read_file_tail(struct perf_reader *reader, uint64_t *words, uint64_t table_at,
                                 bool is_killed)
{
    bool is_open = is_feature_present(words, PERF_FEATURE_RESERVED);
    if (is_open)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, PERF_AT_FEATURES, "perf.killed",
                             "the recorder did not close the file; records are read up to its end");
    else if (is_killed)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, PERF_AT_DATA + 8, "perf.killed",
            "the recorder did not close the file; records are read up to its end, and "
            "events are named by their attributes");
    return is_open || !is_killed ? read_features(reader, words, table_at) : TTR_OK;
}

static ttr_status open_file_format(struct perf_reader *reader, struct perf_cursor *at)
{
    uint64_t words[PERF_FEATURES_MAX / 64], entry = perf_read_u64(at);
    struct file_section attrs = read_section(at), data = read_section(at);
    (void)read_section(at);
    for (size_t i = 0; i < PERF_FEATURES_MAX / 64; i++)
        words[i] = perf_read_u64(at);
    (void)perf_unswap_feature_words(words);
    bool is_killed = data.size == 0, is_open = is_feature_present(words, PERF_FEATURE_RESERVED);
    if (data.offset < PERF_HEADER_BYTES) {
        ttr_status refused = input_add_damage(
            reader->in, PERF_AT_DATA, 8, "perf.bad-place", reader->error,
            "records that start inside the header, at byte %llu, are impossible; they "
            "are read from its end on",
            (unsigned long long)data.offset);
        if (refused != TTR_OK)
            return refused;
        data = (struct file_section){.offset = PERF_HEADER_BYTES};
        is_killed = true;
    }
    reader->at = reader->data_at = data.offset;
    uint64_t data_end = data.size > UINT64_MAX - data.offset ? UINT64_MAX : data.offset + data.size;
    reader->end = is_killed || is_open || data_end >= FILE_SIZE_MAX ? UINT64_MAX : data_end;
    ttr_status status =
        make_tail_readable(reader, reader->end > KEPT_BYTES_MAX ? reader->end : KEPT_BYTES_MAX);
    if (status == TTR_OK && !is_killed && !is_open)
        status = locate_feature_table(reader, words, data_end);
    move_section(reader, &attrs);
    if (status == TTR_OK)
        status = read_attrs(reader, &attrs, entry);
    /* a moved table is one damaged region; attributes are complete nevertheless */
    if (status == TTR_OK && reader->in->notes.damage_regions > (reader->tail_moved != 0) &&
        !store_bad_parts(reader, PERF_BAD_OTHERS))
        status = fail_memory(reader->error);
    return status == TTR_OK ? read_file_tail(reader, words, data_end, is_killed) : status;
}

static ttr_status read_file_header(struct perf_reader *reader, const struct perf_span *span)
{
    struct input *in = reader->in;
    bool is_big = span->n >= 8 && memcmp(span->p, PERF_MAGIC_BIG, 8) == 0;
    if (!is_big && (span->n < 8 || memcmp(span->p, PERF_MAGIC, 8) != 0))
        return fail(reader->error, TTR_E_UNSUPPORTED, 0,
                    "expected \"" PERF_MAGIC "\" or \"" PERF_MAGIC_BIG
                    "\" at the start of a perf.data");
    reader->trace = perf_trace_new(in, is_big);
    if (!reader->trace)
        return fail_memory(reader->error);
    struct perf_cursor at = {cursor_init(span->p, span->n, 0), is_big};
    (void)cursor_skip(&at.c, 8);
    uint64_t size = perf_read_u64(&at);
    reader->trace->is_pipe = !at.c.failed && size == PERF_PIPE_HEADER_BYTES;
    in->version = reader->trace->is_pipe ? is_big ? "pipe, big-endian" : "pipe"
                  : is_big               ? "big-endian"
                                         : "";
    reader->at = reader->data_at = PERF_PIPE_HEADER_BYTES;
    reader->end = UINT64_MAX;
    if (reader->trace->is_pipe)
        return TTR_OK;
    if (span->n < PERF_HEADER_BYTES) {
        reader->is_over = true;
        return input_add_damage(in, 0, span->n, "perf.cut", reader->error,
                                "the file ends inside its header");
    }
    if (size != PERF_HEADER_BYTES)
        input_add_diagnostic(in, TTR_SEVERITY_ODD, PERF_AT_HEADER_SIZE, "perf.bad-head",
                             "a header of %llu bytes; the %u known ones are read",
                             (unsigned long long)size, PERF_HEADER_BYTES);
    return open_file_format(reader, &at);
}

ttr_status perf_open(struct input *in, ttr_error *error)
{
    struct perf_reader *reader = in->ctx;
    struct perf_span span;
    reader->in = in;
    reader->error = error ? error : &reader->own_error;
    ttr_status status = perf_load_bytes(reader, 0, PERF_HEADER_BYTES, &span);
    if (status == TTR_OK)
        status = read_file_header(reader, &span);
    if (status == TTR_OK && !reader->is_over)
        status = perf_decide_sorting(reader);
    source_close(reader->again);
    reader->again = NULL;
    if (reader->is_over) {
        /* the header is incomplete, so the tail cannot be emitted */
        reader->is_tail = true;
    } else if (status == TTR_OK && in->flags & TTR_READ_DEFINITIONS) {
        reader->pass_tag = PERF_TAG_HEAD;
        reader->pass_end = reader->at;
        reader->at = 0;
    }
    reader->order.base[0] = reader->at;
    return status;
}

void perf_close(struct input *in)
{
    struct perf_reader *reader = in->ctx;
    if (!reader->in)
        return;
    source_close(reader->again);
    perf_free_queue(reader);
    perf_free_unpacked_bytes(reader);
    perf_trace_free(reader->trace);
}
