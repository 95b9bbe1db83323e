/* JSON Lines: one event a line, schema "tracetta.events/1" (docs/json.md), for scripts, jq and column stores.  Keys always come in
 * the same order; a key without a value is left out.  Names are escaped once (text cache) and a line is written into room asked
 * for once, except for its fields.
 * Left out: how the trace was stored (ticks, offsets, sequence numbers), definitions, and reading. */
#include "base/jsontext.h"
#include "encodings/field_json.h"
#include "encodings/put.h"
#include "model/output.h"

/* Of a line: keys, braces, kind, level and flags together, and its numbers. */
#define LINE_TEXT 640
#define LINE_NUMBERS (16 * NUMBER_MAX)

struct jsonl {
    struct field_json fields, context;
    struct buffer context_text; /* of an event, until its payload is written */
};

static const ttr_loss losses[] = {FIELD_JSON_LOSS_ROWS};

/* The strings of an event in the order of the schema. */
struct strings {
    ttr_text provider, category, name, process, thread, source;
    ttr_thread known;
    bool has_thread;
};

static ttr_status jsonl_create(struct ttr_writer *out, ttr_error *error)
{
    struct jsonl *own = out->own;
    (void)error;
    field_json_init(&own->fields, out->t, &out->buffer);
    buffer_init(&own->context_text, out->buffer.alloc);
    field_json_init(&own->context, out->t, &own->context_text);
    return TTR_OK;
}

static ttr_text look_up(struct ttr_writer *out, ttr_id id, uint64_t offset)
{
    struct jsonl *own = out->own;
    const struct text_piece *piece = text_cache_get(&own->fields.texts, out->t, id);
    if (piece->changed)
        output_lost(out, FIELD_JSON_TEXT, offset);
    return piece->text;
}

static void gather(struct ttr_writer *out, const ttr_event *event, struct strings *s)
{
    s->has_thread = ttr_thread_get(out->t, event->thread, &s->known);
    s->provider = look_up(out, event->provider, event->offset);
    s->category = look_up(out, event->category, event->offset);
    s->name = look_up(out, event->name, event->offset);
    s->process = look_up(out, s->has_thread ? s->known.process_name : 0, event->offset);
    s->thread = look_up(out, s->has_thread ? s->known.thread_name : 0, event->offset);
    s->source = look_up(out, context_told_path(out->t, event->source), event->offset);
}

static char *put_string(char *at, const char *key, ttr_text value)
{
    at = put_text(at, key);
    at = put_piece(at, value);
    return put_text(at, "\"");
}

static bool has_id(unsigned kind)
{
    return (kind >= TTR_KIND_ASYNC_BEGIN && kind <= TTR_KIND_FLOW_END) || kind == TTR_KIND_COUNTER ||
           kind == TTR_KIND_OBJECT || kind == TTR_KIND_GAP;
}

static const char *tag_text(const ttr_event *event)
{
    static const char *const states[] = {"new", "running", "suspended", "blocked", "dying", "dead"};
    static const char *const objects[] = {"other", "process", "thread", "pointer", "module", "mapping"};
    if (event->kind == TTR_KIND_SWITCH && event->tag < sizeof states / sizeof *states)
        return states[event->tag];
    if (event->kind == TTR_KIND_OBJECT && event->tag < sizeof objects / sizeof *objects)
        return objects[event->tag];
    return NULL;
}

static char *put_tag(char *at, const ttr_event *event)
{
    const char *text = tag_text(event);
    if (event->kind == TTR_KIND_GAP && event->tag == TTR_GAP_PACKETS)
        return put_u64(put_text(at, ",\"packets\":"), event->sequence);
    if (!text && event->tag == 0 && event->kind != TTR_KIND_BLOB)
        return at;
    at = put_text(at, ",\"tag\":");
    if (!text)
        return put_u64(at, event->tag);
    at = put_text(at, "\"");
    at = put_text(at, text);
    return put_text(at, "\"");
}

/* A key that every line has: null where there is nothing to tell. */
static char *put_always(char *at, const char *key, bool is_known, uint64_t value)
{
    at = put_text(at, key);
    return is_known ? put_u64(at, value) : put_text(at, "null");
}

static char *put_outgoing(char *at, const ttr *t, const ttr_event *event)
{
    ttr_thread from;
    bool is_thread = event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_WAKE;
    if (!is_thread || event->link > UINT32_MAX || !ttr_thread_get(t, (ttr_id)event->link, &from))
        return at;
    if (from.pid_known)
        at = put_u64(put_text(at, ",\"from_pid\":"), from.pid);
    if (from.tid_known)
        at = put_u64(put_text(at, ",\"from_tid\":"), from.tid);
    return at;
}

static char *put_numbers(char *at, const ttr *t, const ttr_event *event, const struct strings *s)
{
    at = put_always(at, ",\"pid\":", s->has_thread && s->known.pid_known, s->known.pid);
    at = put_always(at, ",\"tid\":", s->has_thread && s->known.tid_known, s->known.tid);
    at = put_always(at, ",\"cpu\":", event->flags & TTR_EVENT_HAS_CPU, event->cpu);
    bool has_length = event->kind == TTR_KIND_SPAN || (event->kind == TTR_KIND_GAP && event->duration);
    at = put_always(at, ",\"dur_ns\":", has_length, event->duration);
    if (has_id(event->kind))
        at = put_u64(put_text(at, ",\"id\":"), event->link);
    at = put_outgoing(at, t, event);
    return put_tag(at, event);
}

static char *put_level(char *at, const ttr_event *event)
{
    static const char *const levels[] = {"", "trace", "debug", "info", "warning", "error", "fatal"};
    if (event->level == TTR_LEVEL_NONE || event->level >= sizeof levels / sizeof *levels)
        return at;
    at = put_text(at, ",\"level\":\"");
    at = put_text(at, levels[event->level]);
    return put_text(at, "\"");
}

static char *put_flags(char *at, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *text;
    } names[] = {{TTR_EVENT_CLAMPED, "\"clamped\""}, {TTR_EVENT_BACKWARD, "\"backward\""}, {TTR_EVENT_PARTIAL, "\"partial\""},
                 {TTR_EVENT_NO_TIME, "\"no_time\""}};
    unsigned told = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(flags & names[i].flag))
            continue;
        at = put_text(at, told++ ? "," : ",\"flags\":[");
        at = put_text(at, names[i].text);
    }
    return told ? put_text(at, "]") : at;
}

static char *put_bytes16(char *at, const char *key, const uint8_t *bytes)
{
    if (!bytes)
        return at;
    at = put_text(at, key);
    for (size_t i = 0; i < 16; i++) {
        *at++ = "0123456789abcdef"[bytes[i] >> 4];
        *at++ = "0123456789abcdef"[bytes[i] & 15];
    }
    return put_text(at, "\"");
}

/* What only some formats have. */
static char *put_rare(char *at, const ttr_event *event)
{
    if (event->keyword)
        at = put_u64(put_text(at, ",\"keyword\":"), event->keyword);
    if (event->opcode)
        at = put_u64(put_text(at, ",\"opcode\":"), event->opcode);
    at = put_bytes16(at, ",\"activity\":\"", event->activity);
    return put_bytes16(at, ",\"related\":\"", event->related);
}

static char *put_origin(char *at, const ttr *t, const ttr_event *event, const struct strings *s)
{
    ttr_track track;
    if (s->process.n)
        at = put_string(at, ",\"process\":\"", s->process);
    if (s->thread.n)
        at = put_string(at, ",\"thread\":\"", s->thread);
    if (ttr_track_get(t, event->track, &track))
        at = put_u64(put_text(at, ",\"track\":"), track.number);
    return s->source.n ? put_string(at, ",\"source\":\"", s->source) : at;
}

static void write_head(struct ttr_writer *out, const ttr_event *event, const struct strings *s)
{
    size_t room = LINE_TEXT + LINE_NUMBERS + s->provider.n + s->category.n + s->name.n + s->process.n + s->thread.n + s->source.n;
    char *begin = (char *)buffer_room(&out->buffer, room), *at = begin;
    if (!begin)
        return;
    at = put_i64(put_text(at, "{\"time_ns\":"), event->time);
    at = put_text(at, ",\"kind\":\"");
    at = put_text(at, ttr_kind_text(event->kind));
    at = put_string(at, "\",\"provider\":\"", s->provider);
    at = put_string(at, ",\"category\":\"", s->category);
    at = put_string(at, ",\"name\":\"", s->name);
    at = put_numbers(at, out->t, event, s);
    at = put_level(at, event);
    at = put_origin(at, out->t, event, s);
    at = put_flags(at, event->flags);
    at = put_rare(at, event);
    at = put_text(at, ",\"fields\":{");
    buffer_filled(&out->buffer, (size_t)(at - begin));
}

static void write_event(struct ttr_writer *out, const ttr_event *event)
{
    struct jsonl *own = out->own;
    struct strings strings;
    gather(out, event, &strings);
    write_head(out, event, &strings);
    field_json_begin(&own->fields);
    field_json_begin(&own->context);
    if (field_json_parts(&own->fields, &own->context, event)) {
        buffer_add_text(&out->buffer, "},\"context\":{");
        buffer_add(&out->buffer, own->context_text.bytes, own->context_text.n);
        out->buffer.failed |= own->context_text.failed;
        buffer_clear(&own->context_text);
        field_json_tell(&own->context, out, event->offset);
    }
    buffer_add(&out->buffer, "}}\n", 3);
    field_json_tell(&own->fields, out, event->offset);
    output_wrote(out, event);
}

static ttr_status jsonl_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    const struct jsonl *own = out->own;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->kind == TTR_KIND_DEFINITION)
            continue;
        write_event(out, event);
        out->buffer.failed |= own->fields.texts.failed | own->context.texts.failed;
        ttr_status status = output_drain(out, error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

static ttr_status jsonl_finish(struct ttr_writer *out, ttr_error *error)
{
    return output_drain(out, error);
}

static void jsonl_drop(struct ttr_writer *out)
{
    struct jsonl *own = out->own;
    field_json_free(&own->fields);
    field_json_free(&own->context);
    buffer_free(&own->context_text);
}

const struct format format_jsonl = {
    .name = "jsonl",
    .title = "JSON Lines: one event a line",
    .extensions = "jsonl ndjson",
    .spec = "schema tracetta.events/1 (docs/json.md)",
    .abilities = TTR_FORMAT_WRITES | TTR_FORMAT_TEXT,
    .losses = losses,
    .losses_n = sizeof losses / sizeof *losses,
    .writer_size = sizeof(struct jsonl),
    .create = jsonl_create,
    .write = jsonl_write,
    .finish = jsonl_finish,
    .drop = jsonl_drop,
};
