/* Round trip: events written as Heph read back as the documented rules require, and the ledger
 * counts exactly the losses.
 *
 * This test implements the rules of src/formats/heph/README.md independently. For each event of the
 * source it predicts the spans that must be read and the count of each loss. Both are compared
 * exactly, so an undeclared difference fails, and so does a declared loss that did not happen.
 * Spans are compared as sorted lines of text; stream counters by reading in strict mode. usage:
 * heph_test GENERATOR; prints TAP. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/formats.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "formats/heph/heph_format.h"
#include "support/corpus.h"
#include "matrix/sources.h"
#include "support/tap.h"
#include "support/writing.h"

enum { CODES = 48, LEVELS = 40, TEXT_MAX = 65535, SEEDS = 50, SEED_EVENTS = 400 };

struct tally {
    const char *code;
    uint64_t count;
};

struct lines {
    struct buffer *line;
    size_t n, capacity;
};

/* A begin that waits for its end. Its slot decides when it is written if no end comes. */
struct open_begin {
    ttr_event event;
    struct buffer attributes;
    uint64_t opened; /* 0 if the slot is free */
};

/* The names that a thread's events contained last. */
struct last_names {
    ttr_id process_name, thread_name;
};

struct matrix {
    ttr *t;
    ttr_writer *out;
    struct buffer bytes;
    struct lines expected, found;
    struct tally tallies[CODES];
    uint64_t *streams; /* streams that have events */
    size_t streams_n, streams_capacity;
    struct open_begin *open;
    size_t open_n, open_capacity, *free_slots, free_n, free_capacity;
    struct last_names *last_names; /* by thread */
    size_t told_n;
    uint64_t opened, epoch, lost, gaps;
    bool has_epoch, is_heph;
};

static void *grown(void *items, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return items;
    *capacity = need * 2 + 64;
    items = realloc(items, *capacity * size);
    if (!items)
        abort();
    return items;
}

static struct buffer *new_line(struct lines *lines)
{
    lines->line = grown(lines->line, &lines->capacity, lines->n + 1, sizeof *lines->line);
    buffer_init(&lines->line[lines->n], alloc_default());
    return &lines->line[lines->n++];
}

static void append_format(struct buffer *to, const char *format, ...) TTR_PRINTF(2, 3);

static void append_format(struct buffer *to, const char *format, ...)
{
    char text[200];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    buffer_add(to, text, (size_t)n);
}

static void count_many(struct matrix *m, const char *code, uint64_t n)
{
    size_t i = 0;
    while (m->tallies[i].code && strcmp(m->tallies[i].code, code) != 0)
        i++;
    m->tallies[i].code = code;
    m->tallies[i].count += n;
}

static void count(struct matrix *m, const char *code)
{
    count_many(m, code, 1);
}

/* --- Values --- */

static size_t cut_at_character(const char *p, size_t n, size_t most)
{
    if (n <= most)
        return n;
    size_t end = most;
    for (size_t back = 0; back < 3 && end > 0 && ((uint8_t)p[end] & 0xc0) == 0x80; back++)
        end--;
    return end;
}

static void append_text(struct matrix *m, struct buffer *to, ttr_text text)
{
    size_t n = cut_at_character(text.p, text.n, TEXT_MAX);
    if (m && n < text.n)
        count(m, "field.long-text");
    append_format(to, "%zu'", n);
    buffer_add(to, text.p, n);
    append_format(to, "'");
}

static void put_hex_text(struct matrix *m, struct buffer *to, ttr_text bytes)
{
    size_t most = (TEXT_MAX - 2) / 2, n = bytes.n < most ? bytes.n : most;
    if (n < bytes.n)
        count(m, "field.long-text");
    append_format(to, "%zu'0x", 2 * n + 2);
    for (size_t i = 0; i < n; i++)
        append_format(to, "%02x", (uint8_t)bytes.p[i]);
    append_format(to, "'");
}

/* Appends a scalar as the attribute value that the writer must produce. */
static void append_scalar(struct matrix *m, struct buffer *to, const ttr_value *value)
{
    ttr_thread thread;
    if (value->type != TTR_TYPE_BYTES && value->type != TTR_TYPE_NULL && value->hint)
        count(m, "field.hint");
    switch (value->type) {
    case TTR_TYPE_NULL:
        count(m, "field.null");
        append_format(to, "4'null'");
        break;
    case TTR_TYPE_BOOL:
        count(m, "field.bool");
        append_format(to, "u%" PRIu64, value->v.u);
        break;
    case TTR_TYPE_INT:
        append_format(to, "i%" PRId64, value->v.s);
        break;
    case TTR_TYPE_FLOAT:
        append_format(to, "f%016" PRIx64, value->v.u);
        break;
    case TTR_TYPE_TEXT:
        append_text(m, to, value->text);
        break;
    case TTR_TYPE_BYTES:
        count(m, "field.bytes");
        put_hex_text(m, to, value->text);
        break;
    default:
        append_format(to, "u%" PRIu64,
                      value->hint == TTR_DISPLAY_THREAD &&
                              ttr_thread_get(m->t, (ttr_id)value->v.u, &thread)
                          ? thread.tid
                          : value->v.u);
    }
}

/* Returns the Heph type of a value as a letter: null and bytes are strings, booleans numbers; 0 for
 * arrays and structs. */
static char stored_type_letter(const ttr_value *value)
{
    return value->type < TTR_TYPE_ARRAY ? "tuuiftt"[value->type] : '\0';
}

static bool is_plain(ttr_fields elements, uint32_t n)
{
    ttr_field field;
    char first = 0;
    for (uint32_t i = 0; i < n && ttr_fields_next(&elements, &field); i++) {
        char ctx = stored_type_letter(&field.value);
        if (!ctx || (first && ctx != first))
            return false;
        first = ctx;
    }
    return true;
}

struct open_container {
    char path[400];
    unsigned index;
    bool is_array;
};

static void put_array(struct matrix *m, struct buffer *to, ttr_fields *elements, uint32_t n)
{
    ttr_field field;
    append_format(to, "[");
    for (uint32_t i = 0; i < n && ttr_fields_next(elements, &field); i++) {
        append_format(to, i ? "," : "");
        append_scalar(m, to, &field.value);
    }
    append_format(to, "]");
}

static void put_field(struct matrix *m, struct buffer *to, ttr_fields *fields,
                      const ttr_field *field, struct open_container *levels)
{
    struct open_container *ctx = &levels[field->depth], *outer = field->depth ? ctx - 1 : NULL;
    char number[16];
    ttr_text name = field->name;
    if (outer && outer->is_array)
        name = (ttr_text){number, (size_t)snprintf(number, sizeof number, "%u", outer->index++)};
    struct buffer path;
    buffer_init(&path, alloc_default());
    append_format(&path, "%s%s", outer ? outer->path : "", outer && outer->path[0] ? "." : "");
    buffer_add(&path, name.p, name.n);
    bool is_array = field->value.type == TTR_TYPE_ARRAY;
    *ctx = (struct open_container){.is_array = is_array};
    (void)snprintf(ctx->path, sizeof ctx->path, "%.*s", (int)(path.n < 300 ? path.n : 300),
                   path.n ? (const char *)path.bytes : "");
    if (stored_type_letter(&field->value) || (is_array && is_plain(*fields, field->value.count))) {
        append_format(to, " ");
        append_text(m, to, (ttr_text){path.n ? (const char *)path.bytes : "", path.n});
        append_format(to, "=");
        if (is_array)
            put_array(m, to, fields, field->value.count);
        else
            append_scalar(m, to, &field->value);
    } else {
        count(m, is_array ? "field.mixed-array" : "field.struct");
    }
    buffer_free(&path);
}

static void put_fields(struct matrix *m, struct buffer *to, const ttr_event *event)
{
    static struct open_container levels[LEVELS];
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(m->t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        put_field(m, to, &fields, &field, levels);
}

/* --- Parts of events --- */

static void put_number(struct buffer *to, const char *name, uint64_t value)
{
    append_format(to, " %zu'%s'=u%" PRIu64, strlen(name), name, value);
}

static void put_string(struct matrix *m, struct buffer *to, const char *name, ttr_text value)
{
    append_format(to, " %zu'%s'=", strlen(name), name);
    append_text(m, to, value);
}

static void put_id(struct matrix *m, struct buffer *to, const char *name, const uint8_t *id)
{
    if (!id)
        return;
    append_format(to, " %zu'%s'=", strlen(name), name);
    put_hex_text(m, to, (ttr_text){(const char *)id, 16});
}

static void put_parts(struct matrix *m, struct buffer *to, const ttr_event *event)
{
    if (event->category) {
        put_string(m, to, "category", ttr_text_get(m->t, event->category));
        count(m, "event.category");
    }
    if (event->provider) {
        put_string(m, to, "provider", ttr_text_get(m->t, event->provider));
        count(m, "event.provider");
    }
    if (event->flags & TTR_EVENT_HAS_CPU) {
        put_number(to, "cpu", event->cpu);
        count(m, "event.cpu");
    }
    if (event->level) {
        put_number(to, "level", event->level);
        count(m, "event.level");
    }
    put_id(m, to, "activity", event->activity);
    put_id(m, to, "related", event->related);
    if (event->keyword)
        put_number(to, "keyword", event->keyword);
    if (event->opcode)
        put_number(to, "opcode", event->opcode);
    if (event->activity || event->related || event->keyword || event->opcode)
        count(m, "event.activity");
    if (event->flags & TTR_EVENT_PARTIAL)
        count(m, "event.partial");
    if (event->flags & (TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED))
        count(m, "time.mark");
}

static const char *kind_code(unsigned kind)
{
    static const char *const codes[TTR_KIND_COUNT] = {
        "kind.instant", "kind.instant",   "kind.unmatched",  "kind.unmatched", "",
        "kind.counter", "kind.unmatched", "kind.async-step", "kind.unmatched", "kind.flow",
        "kind.flow",    "kind.flow",      "kind.switch",     "kind.wake",      "kind.sample",
        "kind.log",     "kind.blob",      "kind.object",     "kind.gap",       ""};
    return codes[kind];
}

static void put_kind(struct matrix *m, struct buffer *to, const ttr_event *event)
{
    ttr_thread outgoing;
    const char *kind = ttr_kind_text(event->kind);
    put_string(m, to, "kind", (ttr_text){kind, strlen(kind)});
    bool is_switch = event->kind == TTR_KIND_SWITCH,
         is_thread = is_switch || event->kind == TTR_KIND_WAKE;
    if (is_thread && event->link && ttr_thread_get(m->t, (ttr_id)event->link, &outgoing)) {
        put_number(to, is_switch ? "outgoing_pid" : "waker_pid", outgoing.pid);
        put_number(to, is_switch ? "outgoing_tid" : "waker_tid", outgoing.tid);
    } else if (!is_thread && event->link) {
        put_number(to, event->kind == TTR_KIND_GAP ? "lost" : "id", event->link);
    }
    if (event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_BLOB ||
        event->kind == TTR_KIND_OBJECT)
        put_number(to,
                   event->kind == TTR_KIND_SWITCH ? "state"
                   : event->kind == TTR_KIND_BLOB ? "type"
                                                  : "object",
                   event->tag);
    count(m, kind_code(event->kind));
    if (event->link && event->kind == TTR_KIND_INSTANT)
        count(m, "event.id");
}

static void put_names(struct matrix *m, struct buffer *to, const ttr_event *event,
                      const ttr_thread *thread)
{
    if (m->is_heph || (!thread->process_name && !thread->thread_name))
        return;
    if (event->thread >= m->told_n) {
        size_t before = m->told_n;
        m->last_names =
            grown(m->last_names, &m->told_n, (size_t)event->thread + 1, sizeof *m->last_names);
        memset(m->last_names + before, 0, (m->told_n - before) * sizeof *m->last_names);
    }
    struct last_names *last_names = &m->last_names[event->thread];
    const bool is_process =
        thread->process_name && thread->process_name != last_names->process_name;
    const bool is_thread = thread->thread_name && thread->thread_name != last_names->thread_name;
    if (is_process || is_thread)
        count(m, "thread.name");
    if (is_process) {
        last_names->process_name = thread->process_name;
        put_string(m, to, "process", ttr_text_get(m->t, thread->process_name));
    }
    if (is_thread) {
        last_names->thread_name = thread->thread_name;
        put_string(m, to, "thread", ttr_text_get(m->t, thread->thread_name));
    }
}

/* --- Complete spans --- */

static void put_span(struct buffer *line, int64_t time, uint64_t duration)
{
    append_format(line, "%" PRId64 " +%" PRIu64 " ", time, duration);
}

/* Streams that replace other process ids start here; which of them is used is not specified. */
static void put_place(struct buffer *line, const ttr_thread *thread)
{
    if (thread->pid >= UINT32_C(0x80000000))
        append_format(line, "high/%" PRIu64 " ", thread->tid);
    else
        append_format(line, "%" PRIu64 "/%" PRIu64 " ", thread->pid, thread->tid);
}

/* Events lost before the first event of a stream do not show in its counters. */
static void expect_missing(struct matrix *m, const ttr_event *event, uint64_t pid)
{
    size_t i = 0;
    while (i < m->streams_n && m->streams[i] != pid)
        i++;
    if (event->kind == TTR_KIND_GAP && event->link &&
        (i == m->streams_n || event->link > INT32_MAX))
        count_many(m, "events.missing", event->link);
    if (i < m->streams_n)
        return;
    m->streams = grown(m->streams, &m->streams_capacity, m->streams_n + 1, sizeof *m->streams);
    m->streams[m->streams_n++] = pid;
}

/* Expects a span for this event with these attributes. */
static void expect(struct matrix *m, const ttr_event *event, uint64_t duration,
                   const struct buffer *attributes)
{
    struct buffer *line = new_line(&m->expected);
    ttr_thread thread = {0};
    ttr_track track;
    if (!ttr_thread_get(m->t, event->thread, &thread) && event->kind == TTR_KIND_GAP &&
        ttr_track_get(m->t, event->track, &track))
        thread.pid = track.number;
    if (!thread.pid_known || !thread.tid_known)
        count(m, "thread.unknown");
    expect_missing(m, event, thread.pid);
    int64_t time = event->time;
    if (time < 0 || (uint64_t)time < m->epoch) {
        time = (int64_t)m->epoch;
        count(m, "time.range");
    }
    uint64_t room = UINT64_MAX - ((uint64_t)time - m->epoch);
    if (duration > room) {
        duration = room;
        count(m, "time.range");
    }
    put_span(line, time, duration);
    put_place(line, &thread);
    append_text(m, line,
                event->kind == TTR_KIND_GAP && !event->name ? (ttr_text){"gap", 3}
                                                            : ttr_text_get(m->t, event->name));
    buffer_add(line, attributes->bytes, attributes->n);
    if (thread.pid > UINT32_MAX) {
        put_number(line, "pid", thread.pid);
        count(m, "thread.pid");
    }
    put_names(m, line, event, &thread);
}

static void expect_one(struct matrix *m, const ttr_event *event)
{
    struct buffer attributes;
    const bool is_restored = event->kind == TTR_KIND_INSTANT || event->kind == TTR_KIND_SAMPLE ||
                             event->kind == TTR_KIND_OBJECT || event->kind == TTR_KIND_SWITCH ||
                             event->kind == TTR_KIND_WAKE;
    buffer_init(&attributes, alloc_default());
    if (is_restored) {
        put_kind(m, &attributes, event);
        put_parts(m, &attributes, event);
    }
    put_fields(m, &attributes, event);
    if (event->flags & TTR_EVENT_BACKWARD)
        count(m, "span.backward");
    if (event->kind != TTR_KIND_SPAN && !is_restored)
        put_kind(m, &attributes, event);
    if (event->kind == TTR_KIND_SPAN && event->link) {
        put_number(&attributes, "id", event->link);
        count(m, "event.id");
    }
    if (!is_restored)
        put_parts(m, &attributes, event);
    expect(m, event, event->kind == TTR_KIND_SPAN ? event->duration : 0, &attributes);
    buffer_free(&attributes);
}

static void expect_begin(struct matrix *m, const ttr_event *event)
{
    size_t slot = m->free_n ? m->free_slots[--m->free_n] : m->open_n++;
    m->open = grown(m->open, &m->open_capacity, m->open_n, sizeof *m->open);
    m->open[slot] = (struct open_begin){.event = *event, .opened = ++m->opened};
    buffer_init(&m->open[slot].attributes, alloc_default());
    put_fields(m, &m->open[slot].attributes, event);
    put_parts(m, &m->open[slot].attributes, event);
}

static bool belong_together(const ttr_event *begin, const ttr_event *end)
{
    if (end->kind == TTR_KIND_END)
        return begin->kind == TTR_KIND_BEGIN && begin->thread == end->thread;
    return begin->kind == TTR_KIND_ASYNC_BEGIN && begin->link == end->link &&
           begin->category == end->category && begin->source == end->source;
}

/* Returns whether an end has values that its begin lacks; besides fields it has no attributes of
 * its own. */
static bool end_has_other_values(const ttr_event *begin, const ttr_event *end)
{
    return (end->name && end->name != begin->name) ||
           (end->category && end->category != begin->category) ||
           (end->provider && end->provider != begin->provider) ||
           (end->flags & TTR_EVENT_HAS_CPU &&
            (!(begin->flags & TTR_EVENT_HAS_CPU) || begin->cpu != end->cpu)) ||
           (end->level && end->level != begin->level) ||
           (end->keyword && end->keyword != begin->keyword) ||
           (end->opcode && end->opcode != begin->opcode) || end->activity || end->related ||
           (end->link && end->kind == TTR_KIND_END && end->link != begin->link) ||
           end->flags & (TTR_EVENT_PARTIAL | TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED);
}

static void expect_end(struct matrix *m, const ttr_event *end)
{
    size_t slot = SIZE_MAX;
    for (size_t i = 0; i < m->open_n; i++)
        if (m->open[i].opened && belong_together(&m->open[i].event, end) &&
            (slot == SIZE_MAX || m->open[i].opened > m->open[slot].opened))
            slot = i;
    if (slot == SIZE_MAX) {
        expect_one(m, end);
        return;
    }
    struct open_begin *begin = &m->open[slot];
    bool is_backward = end->time < begin->event.time, is_async = end->kind == TTR_KIND_ASYNC_END;
    if (is_backward)
        count(m, "span.backward");
    put_fields(m, &begin->attributes, end);
    if (is_async) {
        put_string(m, &begin->attributes, "kind", (ttr_text){"async", 5});
        put_number(&begin->attributes, "id", begin->event.link);
    } else if (begin->event.link) {
        put_number(&begin->attributes, "id", begin->event.link);
        count(m, "event.id");
    }
    if (end_has_other_values(&begin->event, end))
        count(m, "pair.end");
    count(m, is_async ? "kind.async" : "kind.pair");
    expect(m, &begin->event, is_backward ? 0 : (uint64_t)end->time - (uint64_t)begin->event.time,
           &begin->attributes);
    buffer_free(&begin->attributes);
    begin->opened = 0;
    m->free_slots = grown(m->free_slots, &m->free_capacity, m->free_n + 1, sizeof *m->free_slots);
    m->free_slots[m->free_n++] = slot;
}

static void expect_unfinished(struct matrix *m)
{
    for (size_t i = 0; i < m->open_n; i++) {
        if (!m->open[i].opened)
            continue;
        put_kind(m, &m->open[i].attributes, &m->open[i].event);
        expect(m, &m->open[i].event, 0, &m->open[i].attributes);
        buffer_free(&m->open[i].attributes);
    }
}

/* Predicts the epoch: that of the source, or one hour before the first event with a Unix time. */
static void predict_epoch(struct matrix *m, const ttr_event *event)
{
    ttr_source source;
    if (m->has_epoch)
        return;
    m->has_epoch = true;
    m->is_heph = ttr_source_get(m->t, event->source, &source) && source.format &&
                 strcmp(source.format, "heph") == 0;
    if (m->is_heph)
        m->epoch = (uint64_t)event->time - event->ticks;
    else if (event->time > INT64_C(100000000000000000))
        m->epoch = (uint64_t)event->time - UINT64_C(3600000000000);
}

static bool write_one(struct matrix *m, const ttr_event *event)
{
    ttr_batch batch = {.event = event, .n = 1};
    predict_epoch(m, event);
    if (event->kind == TTR_KIND_BEGIN || event->kind == TTR_KIND_ASYNC_BEGIN)
        expect_begin(m, event);
    else if (event->kind == TTR_KIND_END || event->kind == TTR_KIND_ASYNC_END)
        expect_end(m, event);
    else
        expect_one(m, event);
    if (event->kind == TTR_KIND_GAP && event->link <= INT32_MAX)
        m->lost += event->link;
    m->gaps += event->kind == TTR_KIND_GAP;
    return ttr_write(m->out, &batch, NULL) == TTR_OK;
}

/* --- Reading again --- */

static void put_found_value(struct buffer *to, const ttr_value *value)
{
    if (value->type == TTR_TYPE_TEXT)
        append_text(NULL, to, value->text);
    else if (value->type == TTR_TYPE_INT)
        append_format(to, "i%" PRId64, value->v.s);
    else
        append_format(to,
                      value->type == TTR_TYPE_FLOAT  ? "f%016" PRIx64
                      : value->type == TTR_TYPE_UINT ? "u%" PRIu64
                                                     : "?%" PRIu64,
                      value->v.u);
}

static void find_loss(struct matrix *m, const ttr *t, const ttr_event *event)
{
    struct buffer *line = new_line(&m->found);
    ttr_thread thread = {0};
    ttr_fields fields;
    ttr_field field;
    (void)ttr_thread_get(t, event->thread, &thread);
    put_span(line, event->time, event->duration);
    put_place(line, &thread);
    append_text(NULL, line, ttr_text_get(t, event->name));
    /* all attributes, also those that the reader makes members of the event */
    ttr_event all = *event;
    all.body = HEPH_EVENT_HEADER + (uint32_t)ttr_text_get(t, event->name).n;
    ttr_fields_begin(t, &all, &fields);
    while (ttr_fields_next(&fields, &field)) {
        append_format(line, " ");
        append_text(NULL, line, field.name);
        append_format(line, field.value.type == TTR_TYPE_ARRAY ? "=[" : "=");
        if (field.value.type != TTR_TYPE_ARRAY) {
            put_found_value(line, &field.value);
            continue;
        }
        for (uint32_t n = field.value.count, i = 0; i < n && ttr_fields_next(&fields, &field);
             i++) {
            append_format(line, i ? "," : "");
            put_found_value(line, &field.value);
        }
        append_format(line, "]");
    }
}

static bool read_back(struct matrix *m)
{
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_STRICT, .from = "heph"};
    ttr_error error = {.text = ""};
    ttr_batch batch;
    ttr_report report = {.size = sizeof report};
    ttr_status status = TTR_E_IO;
    ttr_reader *in = ttr_open_memory(t, m->bytes.bytes, m->bytes.n, "back", &options, &error);
    while (in && (status = ttr_read(in, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            if (ttr_batch_at(&batch, i)->kind != TTR_KIND_GAP)
                find_loss(m, t, ttr_batch_at(&batch, i));
    bool ok = status == TTR_END || (!in && m->expected.n == 0);
    if (!ok)
        printf("# what was written cannot be read: %s\n", error.text);
    /* Gaps before the first event of a stream are invisible, and a single event between two wide
     * gaps counts as a damaged counter. */
    if (in && ttr_reader_report(in, 0, &report) && report.lost > m->lost + m->gaps) {
        printf("# %" PRIu64 " events are missing, by the source only %" PRIu64 "\n", report.lost,
               m->lost);
        ok = false;
    }
    ttr_close(in);
    ttr_free(t);
    return ok;
}

/* --- Comparing --- */

static int compare_lines(const void *a, const void *b)
{
    const struct buffer *x = a, *y = b;
    int order = memcmp(x->bytes, y->bytes, x->n < y->n ? x->n : y->n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

static void complain(const char *what, const struct buffer *line)
{
    printf("# %s %.*s\n", what, (int)(line->n < 500 ? line->n : 500), (const char *)line->bytes);
}

static bool compare_spans(struct matrix *m)
{
    unsigned complaints = 0;
    size_t i = 0, j = 0;
    if (m->expected.n)
        qsort(m->expected.line, m->expected.n, sizeof *m->expected.line, compare_lines);
    if (m->found.n)
        qsort(m->found.line, m->found.n, sizeof *m->found.line, compare_lines);
    while ((i < m->expected.n || j < m->found.n) && complaints < 6) {
        int order = i == m->expected.n ? 1
                    : j == m->found.n  ? -1
                                       : compare_lines(&m->expected.line[i], &m->found.line[j]);
        if (order < 0 && ++complaints)
            complain("expected", &m->expected.line[i]);
        if (order > 0 && ++complaints)
            complain("found   ", &m->found.line[j]);
        i += order <= 0;
        j += order >= 0;
    }
    return complaints == 0;
}

static uint64_t tallied(const struct matrix *m, const char *code)
{
    for (size_t i = 0; m->tallies[i].code; i++)
        if (strcmp(m->tallies[i].code, code) == 0)
            return m->tallies[i].count;
    return 0;
}

/* Checks in both directions: each loss in the ledger was predicted with the same count, and vice
 * versa. */
static bool compare_ledger(struct matrix *m)
{
    ttr_loss all[CODES] = {{.code = NULL}};
    const ttr_loss *losses;
    size_t n = ttr_losses(m->out, &losses), all_n = ttr_format_losses("heph", all, CODES);
    uint64_t sum = 0, expected = 0;
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        sum += losses[i].count;
    for (size_t i = 0; m->tallies[i].code; i++)
        expected += m->tallies[i].count;
    for (size_t i = 0; i < all_n; i++) {
        uint64_t last_names = 0;
        for (size_t j = 0; j < n; j++)
            last_names += strcmp(losses[j].code, all[i].code) == 0 ? losses[j].count : 0;
        if (last_names == tallied(m, all[i].code))
            continue;
        printf("# %s: %" PRIu64 " declared, %" PRIu64 " happened\n", all[i].code, last_names,
               tallied(m, all[i].code));
        ok = false;
    }
    if (ok && sum != expected)
        printf("# %" PRIu64 " losses declared, %" PRIu64 " happened\n", sum, expected);
    return ok && sum == expected;
}

static void drop_lines(struct lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        buffer_free(&lines->line[i]);
    free(lines->line);
}

/* --- Sources --- */

static void begin(struct matrix *m)
{
    *m = (struct matrix){.t = ttr_new(NULL)};
    buffer_init(&m->bytes, alloc_default());
    m->out = ttr_create_push(m->t, writing_to_buffer, &m->bytes, "heph", NULL, NULL);
}

/* Unfinished begins are counted by ttr_finish, which frees the writer, so the ledger was compared
 * before. */
static bool end(struct matrix *m, bool ok)
{
    if (m->open_n > m->free_n)
        expect_unfinished(m);
    ok = ttr_finish(m->out, NULL) == TTR_OK && ok && read_back(m) && compare_spans(m);
    drop_lines(&m->expected);
    drop_lines(&m->found);
    buffer_free(&m->bytes);
    free(m->open);
    free(m->streams);
    free(m->free_slots);
    free(m->last_names);
    ttr_free(m->t);
    return ok;
}

static bool from_builder(uint64_t seed, unsigned n, int64_t base)
{
    struct matrix m;
    begin(&m);
    ttr_builder *b = ttr_builder_new(m.t);
    ttr_batch batch;
    bool ok = ttr_thread_name(m.t, 1, 5, "process one", "thread five");
    for (unsigned i = 0; i < n && ok; i++) {
        sources_make_event(b, &seed, base + i);
        ok = ttr_event_build(b, &batch, NULL) == TTR_OK && write_one(&m, ttr_batch_at(&batch, 0));
    }
    ok = ok && compare_ledger(&m);
    ttr_builder_free(b);
    return end(&m, ok);
}

static bool convert(const char *path, bool sorted)
{
    struct matrix m;
    begin(&m);
    ttr_error error = {.text = ""};
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    ttr_reader *in = ttr_open(m.t, path, NULL, &error);
    if (in && sorted)
        in = ttr_sort(in, &error);
    bool ok = in != NULL;
    while (ok && (status = ttr_read(in, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            ok = ok && write_one(&m, ttr_batch_at(&batch, i));
    ok = ok && status == TTR_END && compare_ledger(&m);
    if (!ok)
        printf("# %s: %s\n", path, error.text);
    ttr_close(in);
    return end(&m, ok);
}

static bool from_generator(const char *generator, const char *options, bool sorted)
{
    char path[64];
    bool ok = sources_generate(generator, options, path) && convert(path, sorted);
    (void)remove(path);
    return ok;
}

static bool from_seeds(int64_t base)
{
    bool ok = true;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        bool is_good = from_builder(seed * 1000, SEED_EVENTS, base);
        if (!is_good)
            printf("# seed %" PRIu64 "\n", seed);
        ok = ok && is_good;
        if (!ok)
            break;
    }
    return ok;
}

static void say(bool ok, const char *what)
{
    (void)tap_case(ok, "%s comes back from heph as the declared rules say", what);
}

static void from_corpus(const char *folder, const char *name, bool sorted)
{
    char path[1024], what[200];
    (void)snprintf(what, sizeof what, "%s%s", name, sorted ? ", sorted," : "");
    if (corpus_has(folder, name, path, sizeof path))
        say(convert(path, sorted), what);
    else
        tap_skip(what, "%s is missing: set TTR_CORPUS", path);
}

int main(void)
{
    const char *generator = getenv("TTR_GENERATE_FXT");
    if (!generator)
        return 2;
    say(from_seeds(1000), "what programs made by hand, from zero on,");
    say(from_seeds(INT64_C(1700000000000000000)), "what programs made by hand, by Unix time,");
    say(from_builder(7, 5000, 0), "a long one");
    say(from_generator(generator, "--events 10000 --seed 1 --mix everything", false),
        "everything FXT has");
    say(from_generator(generator, "--events 10000 --seed 2 --mix everything", true),
        "everything, sorted,");
    say(from_generator(generator, "--events 20000 --seed 3", false), "a busy system");
    from_corpus("heph", "heph-head-alltypes.trace", false);
    from_corpus("heph", "heph-head-alltypes.trace", true);
    from_corpus("heph", "heph-head-redis-app.trace", true);
    from_corpus("fxt", "magic-trace-2022.fxt", false);
    return tap_end();
}
