/* Damage to one part of a trace: every event of all other parts is unchanged, and what is missing
 * is reported with its offset.
 *
 * Small traces of each version, six blocks of five events each, are damaged at each byte: contents,
 * sizes, tags and names. In recorded traces 512 bytes of each block are zeroed. TTR_CORPUS is the
 * folder of recorded traces. */
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/fields.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "support/corpus.h"
#include "formats/nettrace/nettrace.h"
#include "support/hexa.h"
#include "support/support.h"
#include "support/writing.h"

enum { BLOCKS = 6, EVENTS = 5, TEXT_MAX = 40000 };

/* --- Small traces, as text of golden vectors --- */

struct script {
    char text[TEXT_MAX];
    size_t n;
    unsigned version;
};

static void append_line(struct script *script, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append_line(struct script *script, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(script->text + script->n, TEXT_MAX - script->n, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && (size_t)n < TEXT_MAX - script->n);
    script->n += (size_t)n;
}

static void append_block_begin(struct script *script, const char *object, unsigned kind,
                               const char *label)
{
    static const unsigned versions[] = {0, 0, 0, 1, 2, 2};
    if (script->version >= 6)
        append_line(script, "u32le @%s_end-@%s+%u\n@%s\n", label, label, kind << 24, label);
    else
        append_line(script,
                    "%s 01 u32le %u u32le %u str32le \"%s\" 06\nu32le @%s_end-@%s pad 4\n@%s\n",
                    script->version >= 4 ? "05 05" : "04 04", versions[script->version],
                    versions[script->version], object, label, label, label);
}

static void append_block_end(struct script *script, const char *label)
{
    append_line(script, "@%s_end\n%s", label, script->version >= 6 ? "" : "06\n");
}

#define DATE                                                                                     \
    "u16le 2024 u16le 2 u16le 4 u16le 29 u16le 23 u16le 59 u16le 58 u16le 999 u64le 1000 u64le " \
    "1000000000\n"
#define NO_GUIDS "zeros 32"

static void append_file_head(struct script *script)
{
    unsigned version = script->version;
    if (version >= 6) {
        append_line(script, "str \"Nettrace\" u32le 0 u32le 6 u32le 0\n");
        append_block_begin(script, "Trace", NETTRACE_BLOCK_TRACE, "trace");
        append_line(script, DATE "u32le 8 u32le 0\n");
        append_block_end(script, "trace");
        return;
    }
    append_line(script, "%s str32le \"!FastSerialization.1\"\n",
                version >= 4 ? "str \"Nettrace\"" : "");
    if (version < 3)
        append_line(
            script,
            "04 04 01 u32le %u u32le 0 str32le \"Microsoft.DotNet.Runtime.EventPipeFile\" 06 u32le "
            "0 " DATE,
            version);
    else
        append_line(script,
                    "%s 01 u32le %u u32le 0 str32le \"Trace\" 06 " DATE
                    "u32le 8 u32le 4321 u32le 4 u32le 1000000 06\n",
                    version >= 4 ? "05 05" : "04 04", version >= 4 ? 4 : 3);
}

/* Appends metadata of event Demo/7 "Tick" with one 32-bit field. */
static void append_metadata(struct script *script)
{
    unsigned version = script->version;
    if (version >= 6) {
        append_block_begin(script, "", NETTRACE_BLOCK_METADATA, "meta");
        append_line(script,
                    "u16le 0 u16le @row_end-@row @row varint 1 varint 4 str \"Demo\" varint 7 "
                    "varint 4 str \"Tick\"\n"
                    "u16le 1 u16le 3 varint 1 str \"v\" u8 9 u16le 0 @row_end\n");
        append_block_end(script, "meta");
        append_block_begin(script, "", NETTRACE_BLOCK_THREADS, "threads");
        append_line(script, "u16le 6 varint 1 u8 2 varint 4321 u8 3 varint 99\n");
        append_block_end(script, "threads");
        return;
    }
    if (version < 4) {
        const char *provider = version == 1 ? "23 0D 3C E1 BC CC 4E 12 93 1B D9 CC 2E EE 27 E4"
                                            : "utf16le \"Demo\" u16le 0";
        if (version == 3)
            append_block_begin(script, "EventBlock", 0, "meta");
        append_line(script,
                    "@metaevent u32le @metaevent_end-@metaevent_size @metaevent_size u32le 0 u32le "
                    "5 u64le 1500 " NO_GUIDS " u32le @said_end-@said\n@said\n");
        append_line(script,
                    version == 3
                        ? "u32le 1 %s u32le 7 utf16le \"Tick\" u16le 0 u64le 0 u32le 0 u32le 4\n"
                        : "%s u32le 7 u32le 1 u32le 42 u32le 7 utf16le \"Tick\" u16le 0 u64le 3 "
                          "u32le 1 u32le 2\n",
                    provider);
        append_line(script,
                    "u32le 1 u32le 9 utf16le \"v\" u16le 0 @said_end u32le 0 @metaevent_end\n");
        if (version == 3)
            append_line(script, "pad 4\n"), append_block_end(script, "meta");
        return;
    }
    append_block_begin(script, "MetadataBlock", 0, "meta");
    append_line(
        script,
        "u16le 20 u16le 1 u64le 0 u64le 0\nCF varint 0 varint 4294967295 varint 0 varint "
        "4294967295 varint 0 varint 0 varint 0\n"
        "varint %u u32le 1 utf16le \"Demo\" u16le 0 u32le 7 utf16le \"Tick\" u16le 0 u64le 0 u32le "
        "0 u32le 4\n"
        "u32le 1 u32le 9 utf16le \"v\" u16le 0\n%s",
        version == 5 ? 62 : 56, version == 5 ? "u32le 1 u8 1 u8 10\n" : "");
    append_block_end(script, "meta");
}

static void append_stacks(struct script *script, const char *label)
{
    append_block_begin(script, "StackBlock", NETTRACE_BLOCK_STACKS, label);
    append_line(script,
                "u32le 1 u32le 2 u32le 8 u64le 0x1000 u32le 16 u64le 0x2000 u64le 0x3000\n");
    append_block_end(script, label);
}

static void append_point(struct script *script, unsigned sequence, const char *label)
{
    append_block_begin(script, "SPBlock", NETTRACE_BLOCK_POINT, label);
    if (script->version >= 6)
        append_line(script, "u64le 9000 u32le 0 u32le 1 varint 1 varint %u\n", sequence);
    else
        append_line(script, "u64le 9000 u32le 1 u64le 99 u32le %u\n", sequence);
    append_block_end(script, label);
}

static void append_event(struct script *script, unsigned number)
{
    unsigned thread = script->version >= 6 ? 1 : 99, i = number % EVENTS;
    if (script->version < 4)
        append_line(script,
                    "u32le 68 u32le %s u32le 99 u64le %u " NO_GUIDS
                    " u32le 4 u32le %u u32le 8 u64le 0x1000\n",
                    script->version == 3 ? "1" : "@metaevent", 2000 + 10 * number, 100 + number);
    else if (i == 0)
        append_line(
            script,
            "8F varint 1 varint %u varint %u varint 2 varint %u varint 1 varint %u varint 4 u32le "
            "%u\n",
            number, thread, thread, 2000 + 10 * number, 100 + number);
    else if (i == 3) /* an event with other flags */
        append_line(script, "0A varint 0 varint %u varint 2 varint 2 varint 10 u32le %u\n", thread,
                    100 + number);
    else
        append_line(script, "00 varint 10 u32le %u\n", 100 + number);
}

static void append_event_block(struct script *script, unsigned block)
{
    char label[16];
    (void)snprintf(label, sizeof label, "events%u", block);
    unsigned first = block * EVENTS;
    if (script->version >= 3)
        append_block_begin(script, "EventBlock", NETTRACE_BLOCK_EVENTS, label);
    if (script->version >= 4)
        append_line(script, "u16le 20 u16le 1 u64le %u u64le %u\n", 2000 + 10 * first,
                    2000 + 10 * (first + EVENTS - 1));
    for (unsigned i = 0; i < EVENTS; i++)
        append_event(script, first + i);
    if (script->version >= 3)
        append_block_end(script, label);
}

/* Returns the bytes of a small trace. */
static struct hexa make_trace(unsigned version)
{
    static struct script script;
    struct hexa hexa;
    char message[200], label[16];
    script.version = version;
    script.n = 0;
    append_file_head(&script);
    append_metadata(&script);
    for (unsigned block = 0; block < BLOCKS; block++) {
        if (version >= 4 && block % 2 == 0)
            (void)snprintf(label, sizeof label, "stacks%u", block), append_stacks(&script, label);
        append_event_block(&script, block);
        if (version >= 4 && block % 2 == 1)
            (void)snprintf(label, sizeof label, "point%u", block),
                append_point(&script, (block + 1) * EVENTS, label);
    }
    if (version < 3)
        append_line(&script, "@end 06 01 @table u32le 1 u32le @end u32le @table\n");
    else
        append_line(&script, version >= 6 ? "u32le 0\n" : "01\n");
    if (!hexa_parse(script.text, script.n, &hexa, message, sizeof message))
        fail_msg("version %u: %s", version, message);
    return hexa;
}

/* --- Results of reading --- */

struct seen {
    uint64_t *at; /* pairs, sorted by offset: offset of an event, hash of its contents */
    size_t n, capacity;
    uint64_t *reported; /* pairs: start and end of a range reported as damaged or odd */
    size_t reported_n;
    uint64_t lost;   /* events lost by sequence numbers */
    uint64_t *parts; /* triples of chunks: start, end, kind */
    size_t parts_n;
};

static uint64_t *grow_list(uint64_t *list, size_t words)
{
    uint64_t *grown = realloc(list, (words + 8) * sizeof *list * 2);
    if (!grown)
        abort();
    return grown;
}

static uint64_t hash_event(const ttr *t, const ttr_event *event)
{
    uint64_t addresses[8] = {0}, hash = hash_pair(event->ticks, event->keyword);
    ttr_fields fields;
    ttr_field field;
    ttr_text name = ttr_text_get(t, event->name);
    ttr_thread thread = {0};
    (void)ttr_thread_get(t, event->thread, &thread);
    hash = hash_pair(hash_pair(hash, thread.tid), hash_bytes(name.p, name.n));
    uint32_t frames = ttr_event_frames(t, event, addresses, 8);
    hash =
        hash_pair(hash_pair(hash, frames), hash_bytes((const char *)addresses, sizeof addresses));
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        bool is_text = field.value.type == TTR_TYPE_TEXT || field.value.type == TTR_TYPE_BYTES;
        hash = hash_pair(hash, is_text ? hash_bytes(field.value.text.p, field.value.text.n)
                                       : field.value.v.u);
    }
    return hash;
}

static void record_event(struct seen *seen, const ttr *t, const ttr_event *event)
{
    if (event->kind == TTR_KIND_DEFINITION) {
        if (seen->parts_n % 64 == 0)
            seen->parts = grow_list(seen->parts, 3 * (seen->parts_n + 64));
        uint64_t *part = &seen->parts[3 * seen->parts_n++];
        part[0] = event->offset, part[1] = event->offset + event->payload_size,
        part[2] = event->tag;
    } else if (event->kind != TTR_KIND_GAP) {
        if (seen->n == seen->capacity)
            seen->at = grow_list(seen->at, 2 * (seen->capacity = seen->capacity * 2 + 64));
        seen->at[2 * seen->n] = event->offset;
        seen->at[2 * seen->n++ + 1] = hash_event(t, event);
    }
}

static int by_offset(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

static void record_reported_range(struct seen *seen, uint64_t begin, uint64_t bytes)
{
    if (seen->reported_n % 64 == 0)
        seen->reported = grow_list(seen->reported, 2 * (seen->reported_n + 64));
    seen->reported[2 * seen->reported_n] = begin;
    seen->reported[2 * seen->reported_n++ + 1] = begin + bytes;
}

static void read_damaged_trace(struct seen *seen, const uint8_t *bytes, size_t n, uint32_t flags)
{
    ttr_error error = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options, .from = "nettrace", .flags = flags};
    ttr_reader *reader = ttr_open_memory(t, bytes, n, "trace", &options, &error);
    seen->n = seen->reported_n = seen->parts_n = 0;
    if (!reader)
        fail_msg("%s", error.text);
    ttr_status status;
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            record_event(seen, t, ttr_batch_at(&batch, i));
    if (status != TTR_END)
        fail_msg("%s", error.text);
    if (seen->n)
        qsort(seen->at, seen->n, 2 * sizeof *seen->at, by_offset);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    seen->lost = report.lost;
    for (size_t i = 0; i < report.regions_n; i++)
        record_reported_range(seen, report.regions[i].offset, report.regions[i].bytes);
    for (size_t i = 0; i < report.notes_n; i++)
        if (report.notes[i].severity != TTR_SEVERITY_REMARK)
            record_reported_range(seen, report.notes[i].first_offset, 0);
    ttr_close(reader);
    ttr_free(t);
}

static void free_reading(struct seen *seen)
{
    free(seen->at);
    free(seen->reported);
    free(seen->parts);
}

static bool is_reported(const struct seen *seen, uint64_t begin, uint64_t end)
{
    for (size_t i = 0; i < seen->reported_n; i++)
        if (seen->reported[2 * i] <= end && seen->reported[2 * i + 1] >= begin)
            return true;
    return false;
}

/* Returns a message if reading a trace with damage in chunk `part` broke an expectation; NULL if
 * all hold. */
static const char *find_violation(const struct seen *whole, const struct seen *seen,
                                  const uint64_t *part, bool can_change_other_blocks)
{
    size_t j = 0, missing = 0;
    for (size_t i = 0; i < whole->n; i++) {
        uint64_t offset = whole->at[2 * i];
        while (j < seen->n && seen->at[2 * j] < offset)
            j++;
        bool is_there = j < seen->n && seen->at[2 * j] == offset,
             is_same = is_there && seen->at[2 * j + 1] == whole->at[2 * i + 1];
        bool is_inside = offset >= part[0] && offset < part[1];
        missing += !is_there;
        if (!is_same && !is_inside && !can_change_other_blocks)
            return is_there ? "an event elsewhere was changed" : "an event elsewhere is missing";
    }
    for (size_t i = 0; i < seen->n && !can_change_other_blocks; i++) {
        uint64_t offset = seen->at[2 * i];
        const uint64_t *found =
            bsearch(&offset, whole->at, whole->n, 2 * sizeof *whole->at, by_offset);
        if (!found && (offset < part[0] || offset >= part[1]))
            return "there is an event elsewhere that was not";
    }
    return missing && !seen->lost &&
                   !is_reported(seen, can_change_other_blocks ? 0 : part[0],
                                can_change_other_blocks ? UINT64_MAX : part[1])
               ? "an event is missing, and it is not reported"
               : NULL;
}

/* Damaged stacks, metadata, threads and sequence points may change events of other blocks. */
static bool can_change_other_blocks(uint64_t kind)
{
    return kind != NETTRACE_CHUNK_EVENTS && kind != NETTRACE_CHUNK_FLAT;
}

/* V1 and V2 have no blocks: each event is a part. */
static void find_part(const struct seen *whole, size_t at, uint64_t *part)
{
    for (size_t i = 0; i < whole->parts_n; i++)
        if (at >= whole->parts[3 * i] && at < whole->parts[3 * i + 1])
            memcpy(part, &whole->parts[3 * i], 3 * sizeof *part);
    bool has_events = false;
    for (size_t i = 0; i < whole->n; i++)
        has_events |= whole->at[2 * i] >= part[0] && whole->at[2 * i] < part[1];
    if (part[2] == NETTRACE_CHUNK_EVENTS && !has_events)
        part[2] = NETTRACE_CHUNK_METADATA;
    for (size_t i = 0; part[2] == NETTRACE_CHUNK_FLAT && i < whole->n; i++) {
        uint64_t begin = whole->at[2 * i], end = i + 1 < whole->n ? whole->at[2 * i + 2] : part[1];
        if (at >= begin && at < end)
            part[0] = begin, part[1] = end;
    }
    if (part[2] == NETTRACE_CHUNK_FLAT && whole->n && at < whole->at[0])
        part[2] = NETTRACE_CHUNK_METADATA;
}

static unsigned check_byte(unsigned version, const struct seen *whole, struct seen *seen,
                           const struct hexa *hexa, size_t at)
{
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    unsigned wrong = 0;
    uint64_t part[3] = {0, 0, NETTRACE_CHUNK_TRAILING};
    find_part(whole, at, part);
    if (part[2] == NETTRACE_CHUNK_FILE_HEAD || part[2] == NETTRACE_CHUNK_TRACE ||
        part[2] == NETTRACE_CHUNK_TRAILING)
        return 0;
    uint8_t *bytes = malloc(hexa->n);
    if (!bytes)
        abort();
    for (unsigned i = 0; i <= sizeof masks; i++) {
        memcpy(bytes, hexa->bytes, hexa->n);
        bytes[at] = i < sizeof masks ? bytes[at] ^ masks[i] : 0;
        read_damaged_trace(seen, bytes, hexa->n, 0);
        const char *what = find_violation(whole, seen, part, can_change_other_blocks(part[2]));
        if (what)
            print_message("# V%u: byte %zu of %zu is %02x, was %02x (chunk of kind %u at %u): %s\n",
                          version, at, hexa->n, bytes[at], hexa->bytes[at], (unsigned)part[2],
                          (unsigned)part[0], what);
        wrong += what != NULL;
    }
    free(bytes);
    return wrong;
}

static unsigned check_version(unsigned version)
{
    struct seen whole = {0}, seen = {0};
    struct hexa hexa = make_trace(version);
    read_damaged_trace(&whole, hexa.bytes, hexa.n, TTR_READ_DEFINITIONS | TTR_READ_STRICT);
    assert_int_equal(whole.n, BLOCKS * EVENTS);
    assert_int_equal(whole.reported_n, 0);
    unsigned wrong = 0;
    for (size_t at = 0; at < hexa.n; at++)
        wrong += check_byte(version, &whole, &seen, &hexa, at);
    free_reading(&whole);
    free_reading(&seen);
    hexa_free(&hexa);
    return wrong;
}

static void damaged_byte_loses_only_its_block_and_is_reported(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (unsigned version = 1; version <= 6; version++)
        wrong += check_version(version);
    assert_int_equal(wrong, 0);
}

/* --- Recorded traces --- */

/* Loads a recorded trace, copied or converted to another version. Returns false if the file does
 * not exist. */
static bool load_recorded(const char *name, const char *option, struct buffer *to)
{
    char path[600];
    const char *const options[] = {option, NULL};
    ttr_batch batch;
    ttr_error error = {0};
    bool is_there = corpus_find("nettrace", name, path, sizeof path);
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = is_there ? ttr_open(t, path,
                                             &(ttr_read_options){.size = sizeof(ttr_read_options),
                                                                 .flags = TTR_READ_DEFINITIONS},
                                             &error)
                                  : NULL;
    buffer_init(to, alloc_default());
    if (reader) {
        ttr_writer *writer =
            ttr_create_push(t, writing_to_buffer, to, "nettrace",
                            &(ttr_write_options){.size = sizeof(ttr_write_options),
                                                 .format_options = option ? options : NULL},
                            &error);
        while (ttr_read(reader, &batch, &error) == TTR_OK)
            assert_int_equal(ttr_write(writer, &batch, &error), TTR_OK);
        assert_int_equal(ttr_finish(writer, &error), TTR_OK);
    }
    ttr_close(reader);
    ttr_free(t);
    return reader != NULL;
}

enum damage { HARM_SIZE, HARM_TAG, HARM_MIDDLE, HARM_ALL, HARM_CUT_OUT, HARMS };

static const char *const harms[HARMS] = {"size changed", "first byte zeroed", "512 bytes zeroed",
                                         "zeroed", "second half cut out"};

/* Damages a part; returns the new size of the trace. */
static size_t damage_part(enum damage damage, uint8_t *bytes, size_t n, const uint64_t *part,
                          bool is_v6)
{
    enum { FRAME = 26 }; /* bytes of an EventBlock's frame; its size follows */
    uint64_t middle = part[0] + (part[1] - part[0]) / 2;
    switch (damage) {
    case HARM_SIZE:
        bytes[part[0] + (is_v6 ? 1 : FRAME + 1)] ^= 0x55;
        return n;
    case HARM_TAG:
        bytes[part[0] + (is_v6 ? 3 : 0)] = 0;
        return n;
    case HARM_MIDDLE:
        memset(bytes + middle, 0, part[1] - middle < 512 ? part[1] - middle : 512);
        return n;
    case HARM_ALL:
        memset(bytes + part[0], 0, part[1] - part[0]);
        return n;
    default:
        memmove(bytes + middle, bytes + part[1], n - part[1]);
        return n - (part[1] - middle);
    }
}

/* Adds the number of removed bytes to the offsets after them, so that both readings can be
 * compared. */
static void restore_offsets(struct seen *seen, uint64_t from, uint64_t by)
{
    for (size_t i = 0; i < seen->n; i++)
        seen->at[2 * i] += seen->at[2 * i] >= from ? by : 0;
}

static unsigned check_part(const char *name, const struct buffer *trace, const struct seen *whole,
                           struct seen *seen, const uint64_t *part)
{
    unsigned wrong = 0;
    uint8_t *bytes = malloc(trace->n);
    if (!bytes)
        abort();
    for (unsigned damage = 0; damage < HARMS; damage++) {
        memcpy(bytes, trace->bytes, trace->n);
        size_t n = damage_part((enum damage)damage, bytes, trace->n, part,
                               memcmp(trace->bytes + 8, "\0\0\0", 4) == 0);
        read_damaged_trace(seen, bytes, n, 0);
        if (n < trace->n)
            restore_offsets(seen, part[1] - (trace->n - n), trace->n - n);
        const char *what = find_violation(whole, seen, part, false);
        if (what)
            print_message("# %s: %s, %u to %u: %s\n", name, harms[damage], (unsigned)part[0],
                          (unsigned)part[1], what);
        wrong += what != NULL;
    }
    free(bytes);
    return wrong;
}

static unsigned check_recorded(const char *name, const char *option)
{
    struct seen whole = {0}, seen = {0};
    struct buffer trace;
    unsigned wrong = 0, parts = 0;
    bool is_there = load_recorded(name, option, &trace);
    if (is_there)
        read_damaged_trace(&whole, trace.bytes, trace.n, TTR_READ_DEFINITIONS);
    for (size_t i = 0; i < whole.parts_n; i++)
        if (whole.parts[3 * i + 2] == NETTRACE_CHUNK_EVENTS && parts++ < 12)
            wrong += check_part(name, &trace, &whole, &seen, &whole.parts[3 * i]);
    assert_true(!is_there || parts > 1);
    free_reading(&whole);
    free_reading(&seen);
    buffer_free(&trace);
    return wrong;
}

static void damaged_recorded_block_loses_only_itself_and_is_reported(void **state)
{
    static const char *const traces[][2] = {
        {"recorded/c3.nettrace.xz", NULL},
        {"recorded/mix_default.nettrace.xz", NULL},
        {"recorded/mix_default.nettrace.xz", "version=5"},
        {"recorded/mix_default.nettrace.xz", "version=6"},
        {"eventpipe-dotnetcore5.0-win-x64-arraytypes.nettrace.xz", NULL},
    };
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        wrong += check_recorded(traces[i][0], traces[i][1]);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_byte_loses_only_its_block_and_is_reported),
        cmocka_unit_test(damaged_recorded_block_loses_only_itself_and_is_reported),
    };
    return cmocka_run_group_tests_name("nettrace_damage", tests, NULL, NULL);
}
