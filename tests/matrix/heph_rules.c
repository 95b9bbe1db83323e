/* The rules by which the Heph writer stores events and counts losses, independent of its code. */
#include "matrix/heph_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/formats.h>

enum { LEVELS = 40, TEXT_MAX = 65535 };

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

struct buffer *heph_rules_add_line(struct heph_lines *lines)
{
    lines->line = grown(lines->line, &lines->capacity, lines->n + 1, sizeof *lines->line);
    buffer_init(&lines->line[lines->n], alloc_default());
    return &lines->line[lines->n++];
}

void heph_rules_append(struct buffer *to, const char *format, ...)
{
    char text[200];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    buffer_add(to, text, (size_t)n);
}

static void count_many(struct heph_matrix *m, const char *code, uint64_t n)
{
    size_t i = 0;
    while (m->tallies[i].code && strcmp(m->tallies[i].code, code) != 0)
        i++;
    m->tallies[i].code = code;
    m->tallies[i].count += n;
}

static void count(struct heph_matrix *m, const char *code)
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

void heph_rules_append_text(struct heph_matrix *m, struct buffer *to, ttr_text text)
{
    size_t n = cut_at_character(text.p, text.n, TEXT_MAX);
    if (m && n < text.n)
        count(m, "field.long-text");
    heph_rules_append(to, "%zu'", n);
    buffer_add(to, text.p, n);
    heph_rules_append(to, "'");
}

static void put_hex_text(struct heph_matrix *m, struct buffer *to, ttr_text bytes)
{
    size_t most = (TEXT_MAX - 2) / 2, n = bytes.n < most ? bytes.n : most;
    if (n < bytes.n)
        count(m, "field.long-text");
    heph_rules_append(to, "%zu'0x", 2 * n + 2);
    for (size_t i = 0; i < n; i++)
        heph_rules_append(to, "%02x", (uint8_t)bytes.p[i]);
    heph_rules_append(to, "'");
}

/* Appends a scalar as the attribute value that the writer must produce. */
static void append_scalar(struct heph_matrix *m, struct buffer *to, const ttr_value *value)
{
    ttr_thread thread;
    if (value->type != TTR_TYPE_BYTES && value->type != TTR_TYPE_NULL && value->hint)
        count(m, "field.hint");
    switch (value->type) {
    case TTR_TYPE_NULL:
        count(m, "field.null");
        heph_rules_append(to, "4'null'");
        break;
    case TTR_TYPE_BOOL:
        count(m, "field.bool");
        heph_rules_append(to, "u%" PRIu64, value->v.u);
        break;
    case TTR_TYPE_INT:
        heph_rules_append(to, "i%" PRId64, value->v.s);
        break;
    case TTR_TYPE_FLOAT:
        heph_rules_append(to, "f%016" PRIx64, value->v.u);
        break;
    case TTR_TYPE_TEXT:
        heph_rules_append_text(m, to, value->text);
        break;
    case TTR_TYPE_BYTES:
        count(m, "field.bytes");
        put_hex_text(m, to, value->text);
        break;
    default:
        heph_rules_append(to, "u%" PRIu64,
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

static void put_array(struct heph_matrix *m, struct buffer *to, ttr_fields *elements, uint32_t n)
{
    ttr_field field;
    heph_rules_append(to, "[");
    for (uint32_t i = 0; i < n && ttr_fields_next(elements, &field); i++) {
        heph_rules_append(to, i ? "," : "");
        append_scalar(m, to, &field.value);
    }
    heph_rules_append(to, "]");
}

static void put_field(struct heph_matrix *m, struct buffer *to, ttr_fields *fields,
                      const ttr_field *field, struct open_container *levels)
{
    struct open_container *ctx = &levels[field->depth], *outer = field->depth ? ctx - 1 : NULL;
    char number[16];
    ttr_text name = field->name;
    if (outer && outer->is_array)
        name = (ttr_text){number, (size_t)snprintf(number, sizeof number, "%u", outer->index++)};
    struct buffer path;
    buffer_init(&path, alloc_default());
    heph_rules_append(&path, "%s%s", outer ? outer->path : "", outer && outer->path[0] ? "." : "");
    buffer_add(&path, name.p, name.n);
    bool is_array = field->value.type == TTR_TYPE_ARRAY;
    *ctx = (struct open_container){.is_array = is_array};
    (void)snprintf(ctx->path, sizeof ctx->path, "%.*s", (int)(path.n < 300 ? path.n : 300),
                   path.n ? (const char *)path.bytes : "");
    if (stored_type_letter(&field->value) || (is_array && is_plain(*fields, field->value.count))) {
        heph_rules_append(to, " ");
        heph_rules_append_text(m, to, (ttr_text){path.n ? (const char *)path.bytes : "", path.n});
        heph_rules_append(to, "=");
        if (is_array)
            put_array(m, to, fields, field->value.count);
        else
            append_scalar(m, to, &field->value);
    } else {
        count(m, is_array ? "field.mixed-array" : "field.struct");
    }
    buffer_free(&path);
}

static void put_fields(struct heph_matrix *m, struct buffer *to, const ttr_event *event)
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
    heph_rules_append(to, " %zu'%s'=u%" PRIu64, strlen(name), name, value);
}

static void put_string(struct heph_matrix *m, struct buffer *to, const char *name, ttr_text value)
{
    heph_rules_append(to, " %zu'%s'=", strlen(name), name);
    heph_rules_append_text(m, to, value);
}

static void put_id(struct heph_matrix *m, struct buffer *to, const char *name, const uint8_t *id)
{
    if (!id)
        return;
    heph_rules_append(to, " %zu'%s'=", strlen(name), name);
    put_hex_text(m, to, (ttr_text){(const char *)id, 16});
}

static void put_parts(struct heph_matrix *m, struct buffer *to, const ttr_event *event)
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

static void put_kind(struct heph_matrix *m, struct buffer *to, const ttr_event *event)
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

static void put_names(struct heph_matrix *m, struct buffer *to, const ttr_event *event,
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
    struct heph_last_names *last_names = &m->last_names[event->thread];
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

void heph_rules_append_span(struct buffer *line, int64_t time, uint64_t duration)
{
    heph_rules_append(line, "%" PRId64 " +%" PRIu64 " ", time, duration);
}

/* Streams that replace other process ids start here; which of them is used is not specified. */
void heph_rules_append_place(struct buffer *line, const ttr_thread *thread)
{
    if (thread->pid >= UINT32_C(0x80000000))
        heph_rules_append(line, "high/%" PRIu64 " ", thread->tid);
    else
        heph_rules_append(line, "%" PRIu64 "/%" PRIu64 " ", thread->pid, thread->tid);
}

/* Events lost before the first event of a stream do not show in its counters. */
static void expect_missing(struct heph_matrix *m, const ttr_event *event, uint64_t pid)
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
static void expect(struct heph_matrix *m, const ttr_event *event, uint64_t duration,
                   const struct buffer *attributes)
{
    struct buffer *line = heph_rules_add_line(&m->expected);
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
    heph_rules_append_span(line, time, duration);
    heph_rules_append_place(line, &thread);
    heph_rules_append_text(m, line,
                           event->kind == TTR_KIND_GAP && !event->name
                               ? (ttr_text){"gap", 3}
                               : ttr_text_get(m->t, event->name));
    buffer_add(line, attributes->bytes, attributes->n);
    if (thread.pid > UINT32_MAX) {
        put_number(line, "pid", thread.pid);
        count(m, "thread.pid");
    }
    put_names(m, line, event, &thread);
}

static void expect_one(struct heph_matrix *m, const ttr_event *event)
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

static void expect_begin(struct heph_matrix *m, const ttr_event *event)
{
    size_t slot = m->free_n ? m->free_slots[--m->free_n] : m->open_n++;
    m->open = grown(m->open, &m->open_capacity, m->open_n, sizeof *m->open);
    m->open[slot] = (struct heph_open_begin){.event = *event, .opened = ++m->opened};
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

static void expect_end(struct heph_matrix *m, const ttr_event *end)
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
    struct heph_open_begin *begin = &m->open[slot];
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

void heph_rules_expect_unfinished(struct heph_matrix *m)
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
static void predict_epoch(struct heph_matrix *m, const ttr_event *event)
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

void heph_rules_expect_event(struct heph_matrix *m, const ttr_event *event)
{
    predict_epoch(m, event);
    if (event->kind == TTR_KIND_BEGIN || event->kind == TTR_KIND_ASYNC_BEGIN)
        expect_begin(m, event);
    else if (event->kind == TTR_KIND_END || event->kind == TTR_KIND_ASYNC_END)
        expect_end(m, event);
    else
        expect_one(m, event);
}
