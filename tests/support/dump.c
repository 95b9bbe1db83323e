/* The canonical dump. Threads are written as a mark and a number first: their process may become
 * known later, and the moment depends on where batches end. */
#include "support/dump.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#define THREAD_MARK '\1'
#define LONG_BYTES 64u
#define LONG_TEXT 1000u

static void add_format(struct buffer *to, const char *format, ...) TTR_PRINTF(2, 3);

static void add_format(struct buffer *to, const char *format, ...)
{
    char text[400];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    buffer_add(to, text, n > 0 ? (size_t)n : 0);
}

/* Appends the length and hash of a long text. */
static void add_long(struct buffer *to, ttr_text text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.n; i++)
        hash = (hash ^ (unsigned char)text.p[i]) * UINT64_C(0x100000001b3);
    add_format(to, "..%zu:%016" PRIx64, text.n, hash);
}

static void add_quoted(struct buffer *to, ttr_text text)
{
    size_t shown = text.n > LONG_TEXT ? 16 : text.n;
    buffer_add_byte(to, '"');
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c == '"' || c == '\\')
            add_format(to, "\\%c", c);
        else if (c == '\n')
            add_format(to, "\\n");
        else if (c < 0x20 || c >= 0x7f)
            add_format(to, "\\x%02x", c);
        else
            buffer_add_byte(to, c);
    }
    if (shown < text.n)
        add_long(to, text);
    buffer_add_byte(to, '"');
}

static bool is_plain(ttr_text text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        bool is_word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!is_word && !memchr("_.:/<>-*+", c, 9))
            return false;
    }
    return text.n > 0 && text.n <= LONG_TEXT;
}

static void add_text(struct buffer *to, ttr_text text)
{
    if (is_plain(text))
        buffer_add(to, text.p, text.n);
    else
        add_quoted(to, text);
}

static void add_number(struct buffer *to, const ttr_value *value)
{
    const char *letter = value->type == TTR_TYPE_INT ? "i" : "u";
    bool is_whole = value->bits == 0 || value->bits == 64;
    if (value->hint == TTR_DISPLAY_POINTER)
        add_format(to, "0x%" PRIx64, value->v.u);
    else if (value->hint == TTR_DISPLAY_KOID)
        add_format(to, "koid %" PRIu64, value->v.u);
    else if (value->type == TTR_TYPE_INT && is_whole)
        add_format(to, "%" PRId64, value->v.s);
    else if (value->type == TTR_TYPE_INT)
        add_format(to, "%" PRId64 "%s%u", value->v.s, letter, value->bits);
    else if (is_whole)
        add_format(to, "%" PRIu64 "%s", value->v.u, letter);
    else
        add_format(to, "%" PRIu64 "%s%u", value->v.u, letter, value->bits);
}

/* Appends the first label of a number or of flags. */
static void add_label(struct buffer *to, const ttr_value *value)
{
    if ((value->hint != TTR_DISPLAY_ENUM && value->hint != TTR_DISPLAY_FLAGS) || value->count == 0)
        return;
    buffer_add_byte(to, ':');
    add_text(to, value->text);
}

static void add_float(struct buffer *to, double x)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.15g", x);
    if (strtod(text, NULL) != x)
        (void)snprintf(text, sizeof text, "%.17g", x);
    buffer_add_text(to, text);
    buffer_add_text(to, strpbrk(text, ".en") ? "" : ".0");
}

/* Appends the first bytes, the length and the hash of bytes. */
static void add_bytes(struct buffer *to, const ttr_value *value)
{
    size_t n = value->text.n, shown = n > LONG_BYTES ? 16 : n;
    buffer_add_text(to, value->hint == TTR_DISPLAY_RAW ? "raw'" : "x'");
    for (size_t i = 0; i < shown; i++)
        add_format(to, "%02x", (unsigned char)value->text.p[i]);
    if (shown < n)
        add_long(to, value->text);
    buffer_add_byte(to, '\'');
}

static void add_scalar(struct buffer *to, const ttr_value *value)
{
    switch (value->type) {
    case TTR_TYPE_NULL:
        add_format(to, "null");
        break;
    case TTR_TYPE_BOOL:
        add_format(to, "%s", value->v.u ? "true" : "false");
        break;
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        add_number(to, value);
        add_label(to, value);
        break;
    case TTR_TYPE_FLOAT:
        add_float(to, value->v.f);
        break;
    case TTR_TYPE_TEXT:
        add_quoted(to, value->text);
        break;
    default:
        add_bytes(to, value);
    }
}

/* Appends all fields, with braces around the elements of arrays and structs. */
static void add_fields(struct buffer *to, const ttr *t, const ttr_event *event)
{
    struct {
        uint32_t left;
        char close;
    } open[8] = {{UINT32_MAX, '}'}};
    uint32_t depth = 0;
    bool is_first = true;
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(t, event, &fields);
    add_format(to, " {");
    while (ttr_fields_next(&fields, &field)) {
        for (; depth > field.depth; depth--)
            buffer_add_byte(to, (uint8_t)open[depth].close);
        buffer_add_text(to, is_first ? "" : ", ");
        is_first = false;
        if (field.depth == 0 || open[depth].close == '}') {
            add_text(to, field.name);
            buffer_add_byte(to, '=');
        }
        bool is_nest = field.value.type == TTR_TYPE_ARRAY || field.value.type == TTR_TYPE_STRUCT;
        if (!is_nest || depth >= 7) {
            add_scalar(to, &field.value);
            continue;
        }
        depth++;
        open[depth].close = field.value.type == TTR_TYPE_ARRAY ? ']' : '}';
        buffer_add_byte(to, field.value.type == TTR_TYPE_ARRAY ? '[' : '{');
        is_first = true;
        if (field.value.count == 0) {
            buffer_add_byte(to, (uint8_t)open[depth--].close);
            is_first = false;
        }
    }
    for (; depth > 0; depth--)
        buffer_add_byte(to, (uint8_t)open[depth].close);
    buffer_add_byte(to, '}');
}

static void add_flags(struct buffer *to, uint8_t flags)
{
    static const struct {
        uint8_t flag;
        const char *name;
    } names[] = {{TTR_EVENT_CLAMPED, "clamped"},
                 {TTR_EVENT_BACKWARD, "backward"},
                 {TTR_EVENT_PARTIAL, "partial"},
                 {TTR_EVENT_NO_TIME, "no_time"}};
    const char *before = " flags=";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(flags & names[i].flag))
            continue;
        add_format(to, "%s%s", before, names[i].name);
        before = "|";
    }
}

static void add_named(struct buffer *to, const ttr *t, const char *key, ttr_id id)
{
    if (!id)
        return;
    add_format(to, " %s=", key);
    add_text(to, ttr_text_get(t, id));
}

static void add_thread(struct buffer *to, const char *key, uint64_t id)
{
    if (id)
        add_format(to, " %s=%c%" PRIu64 "%c", key, THREAD_MARK, id, THREAD_MARK);
}

static void add_bytes16(struct buffer *to, const char *key, const uint8_t *bytes)
{
    if (!bytes)
        return;
    add_format(to, " %s=", key);
    for (int i = 0; i < 16; i++)
        add_format(to, "%02x", bytes[i]);
}

static bool has_id(const ttr_event *event)
{
    bool is_linked = event->kind >= TTR_KIND_ASYNC_BEGIN && event->kind <= TTR_KIND_FLOW_END;
    return is_linked || event->kind == TTR_KIND_COUNTER || event->kind == TTR_KIND_OBJECT ||
           event->kind == TTR_KIND_GAP;
}

static void add_event(struct buffer *to, const ttr *t, const ttr_event *event)
{
    add_format(to, "%s time=%" PRId64, ttr_kind_text(event->kind), event->time);
    if (event->ticks != (uint64_t)event->time && !(event->flags & TTR_EVENT_NO_TIME))
        add_format(to, " ticks=%" PRIu64, event->ticks);
    if (event->kind == TTR_KIND_SPAN)
        add_format(to, " dur=%" PRIu64, event->duration);
    if (has_id(event))
        add_format(to, " id=%" PRIu64, event->link);
    add_named(to, t, "provider", event->provider);
    add_named(to, t, "cat", event->category);
    add_format(to, " name=");
    add_text(to, ttr_text_get(t, event->name));
    add_thread(to, "thread", event->thread);
    if (event->kind == TTR_KIND_SWITCH)
        add_thread(to, "from", event->link);
    if (event->flags & TTR_EVENT_HAS_CPU)
        add_format(to, " cpu=%u", event->cpu);
    if (event->level)
        add_format(to, " level=%u", event->level);
    if (event->opcode)
        add_format(to, " opcode=%u", event->opcode);
    if (event->tag)
        add_format(to, " tag=%u", event->tag);
    if (event->keyword)
        add_format(to, " keyword=0x%" PRIx64, event->keyword);
    if (event->sequence)
        add_format(to, " seq=%u", event->sequence);
    add_bytes16(to, "activity", event->activity);
    add_bytes16(to, "related", event->related);
    add_flags(to, event->flags);
    add_fields(to, t, event);
    buffer_add_byte(to, '\n');
}

void dump_init(struct dump *dump)
{
    *dump = (struct dump){.status = TTR_OK};
    buffer_init(&dump->text, alloc_default());
    buffer_init(&dump->raw, alloc_default());
}

void dump_free(struct dump *dump)
{
    buffer_free(&dump->text);
    buffer_free(&dump->raw);
}

/* Checks that a definition has no fields and that reading them is harmless. */
static void check_definition(const ttr *t, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(t, event, &fields);
    if (ttr_fields_next(&fields, &field))
        abort();
}

void dump_batch(struct dump *dump, const ttr *t, const ttr_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        dump->events++;
        if (event->kind != TTR_KIND_DEFINITION)
            add_event(&dump->text, t, event);
        else
            check_definition(t, event);
        if (event->flags & TTR_EVENT_RAW)
            buffer_add(&dump->raw, event->payload, event->payload_size);
    }
    dump->events_n = dump->text.n;
}

void dump_events(struct dump *dump, ttr *t, ttr_reader *reader)
{
    ttr_batch batch;
    const uint32_t kinds = ttr_reader_kinds(reader);
    while ((dump->status = ttr_read(reader, &batch, &dump->error)) == TTR_OK) {
        dump_batch(dump, t, &batch);
        for (uint32_t i = 0; i < batch.n; i++)
            if (!(kinds >> ttr_batch_at(&batch, i)->kind & 1))
                abort(); /* the reader has declared that it returns no such event */
    }
}

static int compare_notes(const void *a, const void *b)
{
    const ttr_diagnostic *x = a, *y = b;
    return strcmp(x->code, y->code);
}

void dump_report(struct dump *dump, ttr_reader *reader)
{
    static const char *const severities[] = {[TTR_SEVERITY_REMARK] = "remark",
                                             [TTR_SEVERITY_ODD] = "note",
                                             [TTR_SEVERITY_DAMAGE] = "damage"};
    struct buffer *to = &dump->text;
    ttr_report report = {.size = sizeof report};
    if (ttr_reader_report(reader, 0, &report)) {
        ttr_diagnostic notes[64];
        size_t n = report.notes_n < 64 ? report.notes_n : 64;
        if (n)
            memcpy(notes, report.notes, n * sizeof *notes);
        qsort(notes, n, sizeof *notes, compare_notes);
        for (size_t i = 0; i < n; i++)
            add_format(to, "%s %s %" PRIu64 "\n", severities[notes[i].severity], notes[i].code,
                       notes[i].count);
        for (size_t i = 0; i < report.regions_n; i++)
            add_format(to, "at %" PRIu64 "+%" PRIu64 "\n", report.regions[i].offset,
                       report.regions[i].bytes);
        if (report.lost || report.gaps)
            add_format(to, "lost %" PRIu64 " in %" PRIu64 "\n", report.lost, report.gaps);
    }
    if (dump->status != TTR_END)
        add_format(to, "error %s offset=%" PRId64 "\n", ttr_status_text(dump->status),
                   (int64_t)dump->error.offset);
}

static void add_thread_name(struct buffer *to, const ttr *t, ttr_id id)
{
    ttr_thread thread = {0};
    bool is_known = ttr_thread_get(t, id, &thread);
    if (is_known && thread.pid_known)
        add_format(to, "%" PRIu64 "/", thread.pid);
    else
        buffer_add_text(to, "?/");
    if (is_known && thread.tid_known)
        add_format(to, "%" PRIu64, thread.tid);
    else
        buffer_add_text(to, "*");
}

void dump_names(struct dump *dump, const ttr *t)
{
    struct buffer named;
    buffer_init(&named, alloc_default());
    for (size_t i = 0; i < dump->text.n; i++) {
        if (dump->text.bytes[i] != THREAD_MARK) {
            buffer_add_byte(&named, dump->text.bytes[i]);
            continue;
        }
        ttr_id id = 0;
        while (dump->text.bytes[++i] != THREAD_MARK)
            id = id * 10 + (ttr_id)(dump->text.bytes[i] - '0');
        add_thread_name(&named, t, id);
    }
    buffer_free(&dump->text);
    dump->text = named;
}
