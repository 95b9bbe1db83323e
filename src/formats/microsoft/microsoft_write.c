/* Writer of perf-decode's JSON, one object per event:
 * |  { "n": "PROVIDER:EVENT", fields, "meta": { "time", "cpu", "pid", "tid", "id", "version",
 * |    "level", "keyword", "opcode", "tag", "activity", "relatedActivity" } }
 *
 * Members without a value are omitted. Field names keep their attributes, and get ";tag=0x1"
 * appended if they have a tag. Left out, as in perf-decode: definitions, objects, gaps, records of
 * perf.data other than samples, fields of the container. Also left out: the array that perf-decode
 * puts around the events of a file; reading. */
#include <string.h>

#include "base/json_writer.h"
#include "base/number.h"
#include "base/status.h"
#include "encodings/json/emit.h"
#include "encodings/json/timeline.h"
#include "formats/microsoft/microsoft.h"
#include "model/output.h"

struct microsoft {
    struct field_json fields;
    struct buffer name; /* temporary buffer for a field name with its tag */
    bool has_tags;
};

static const ttr_loss losses[] = {FIELD_JSON_LOSS_ROWS};

static ttr_status read_yes_no_option(const struct ttr_writer *out, const char *key, bool *answer,
                                     ttr_error *error)
{
    const char *value = output_option(out, key);
    *answer = !value || strcmp(value, "yes") == 0;
    if (*answer || strcmp(value, "no") == 0)
        return TTR_OK;
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "%s=%s: expected yes or no", key, value);
}

static ttr_status microsoft_create(struct ttr_writer *out, ttr_error *error)
{
    struct microsoft *ctx = out->ctx;
    field_json_init(&ctx->fields, out->t, &out->buffer);
    buffer_init(&ctx->name, &out->t->counted);
    ttr_status status = read_yes_no_option(out, "blanks", &ctx->fields.spaced, error);
    return status == TTR_OK ? read_yes_no_option(out, "tags", &ctx->has_tags, error) : status;
}

/* --- Fields of an event --- */

static bool is_text_equal(ttr_text name, const char *what)
{
    return name.n == strlen(what) && memcmp(name.p, what, name.n) == 0;
}

/* Writes the name of a field with its attributes and tag. The name "meta" becomes "meta#2",
 * because the last member of each object has the name "meta". */
static void add_name(struct microsoft *ctx, const ttr_field *field,
                     const struct event_header_describe_stored_field *item)
{
    char tag[NUMBER_MAX] = ";tag=0x";
    ttr_field named = *field;
    size_t n = 7;
    if (item->name.n)
        named.name = item->name;
    bool is_taken = field->depth == 0 && is_text_equal(named.name, "meta");
    bool is_same =
        named.name.n == field->name.n && memcmp(named.name.p, field->name.p, named.name.n) == 0;
    uint16_t tag_number = ctx->has_tags ? item->tag : 0;
    if (tag_number == 0 && !is_taken && is_same) {
        field_json_append_field_name(&ctx->fields, field);
        return;
    }
    buffer_clear(&ctx->name);
    buffer_add(&ctx->name, named.name.p, named.name.n);
    for (int shift = 12; shift >= 0 && tag_number; shift -= 4)
        if (n > 7 || tag_number >> shift)
            tag[n++] = "0123456789ABCDEF"[tag_number >> shift & 15];
    buffer_add(&ctx->name, tag, tag_number ? n : 0);
    buffer_add(&ctx->name, "#2", is_taken ? 2 : 0);
    named.name = (ttr_text){(const char *)ctx->name.bytes, ctx->name.n};
    named.name_id = 0;
    field_json_append_field_name(&ctx->fields, &named);
}

static void add_field(struct microsoft *ctx, const ttr_fields *fields, const ttr_field *field)
{
    struct field_json *json = &ctx->fields;
    struct event_header_describe_stored_field item;
    while (json->depth > field->depth)
        field_json_close_value(json);
    bool is_known = event_header_describe_stored_field(fields, &item);
    if (!is_known)
        item = (struct event_header_describe_stored_field){.name = {"", 0}};
    if (json->objects[json->depth])
        add_name(ctx, field, &item);
    else
        field_json_append_separator(json);
    if (field->value.type == TTR_TYPE_ARRAY || field->value.type == TTR_TYPE_STRUCT)
        field_json_open_value(json, &field->value);
    else if (item.encoding)
        microsoft_add_item(json->to, &item, &field->value);
    else
        microsoft_add_value(json->to, json->t, &field->value);
}

static void add_fields(struct microsoft *ctx, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    bool is_event_printed_by_perf_decode = true;
    ttr_fields_begin(ctx->fields.t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.depth == 0)
            is_event_printed_by_perf_decode = field.group == TTR_GROUP_PAYLOAD;
        if (is_event_printed_by_perf_decode)
            add_field(ctx, &fields, &field);
    }
    while (ctx->fields.depth > 0)
        field_json_close_value(&ctx->fields);
}

/* --- Object around the fields --- */

/* State while the "meta" object is written. Its member names are unique, so duplicates are not
 * searched for. */
struct meta {
    char *at;
    bool spaced, has_any;
};

#define META_ROOM (16 * NUMBER_MAX + 512)

static void add_key(struct meta *meta, const char *name)
{
    if (meta->has_any)
        *meta->at++ = ',';
    if (meta->spaced)
        *meta->at++ = ' ';
    meta->has_any = true;
    *meta->at++ = '"';
    meta->at = emit_constant(meta->at, name);
    meta->at = emit_constant(meta->at, meta->spaced ? "\": " : "\":");
}

static void add_number(struct meta *meta, const char *name, uint64_t x)
{
    add_key(meta, name);
    meta->at = emit_u64(meta->at, x);
}

static void add_nonzero_number(struct meta *meta, const char *name, uint64_t x)
{
    if (x)
        add_number(meta, name, x);
}

static void add_nonzero_hex(struct meta *meta, const char *name, uint64_t x)
{
    int shift = 60;
    if (!x)
        return;
    add_key(meta, name);
    meta->at = emit_constant(meta->at, "\"0x");
    while (x >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        *meta->at++ = "0123456789ABCDEF"[x >> shift & 15];
    *meta->at++ = '"';
}

static void add_nonzero_uuid(struct meta *meta, const char *name, const uint8_t *bytes)
{
    if (!bytes)
        return;
    add_key(meta, name);
    *meta->at++ = '"';
    meta->at = event_header_write_uuid(meta->at, bytes);
    *meta->at++ = '"';
}

static void add_time(struct meta *meta, int64_t time, bool is_unix)
{
    const int64_t remainder = time % 1000000000;
    const int64_t s = time / 1000000000 - (remainder < 0),
                  nanoseconds = remainder < 0 ? remainder + 1000000000 : remainder;
    add_key(meta, "time");
    if (is_unix)
        *meta->at++ = '"';
    meta->at = is_unix ? microsoft_emit_time(meta->at, s) : emit_i64(meta->at, s);
    *meta->at++ = '.';
    number_format_9_digits(meta->at, (uint32_t)nanoseconds);
    meta->at = emit_constant(meta->at + 9, is_unix ? "Z\"" : "");
}

/* Returns the thread on which an event occurred. For switches and wake-ups, this is the event's
 * second thread (link). */
static ttr_id get_event_thread(const ttr_event *event)
{
    bool is_other = event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_WAKE;
    return is_other && event->link && event->link <= UINT32_MAX ? (ttr_id)event->link
                                                                : event->thread;
}

/* Converts a level of this library to EventHeader's scale. */
static unsigned convert_level(unsigned level)
{
    static const uint8_t levels[] = {0, 6, 5, 4, 3, 2, 1};
    return level < sizeof levels ? levels[level] : 0;
}

static void add_meta_object(struct field_json *json, const ttr_event *event)
{
    struct event_header_get_stored_header head;
    ttr_thread thread;
    if (!event_header_get_stored_header(json->t, event, &head))
        head = (struct event_header_get_stored_header){
            .level = (uint8_t)convert_level(event->level), .opcode = event->opcode};
    field_json_append_constant_name(json, "meta");
    char *begin = (char *)buffer_room(json->to, META_ROOM);
    if (!begin)
        return;
    struct meta meta = {.at = begin, .spaced = json->spaced};
    *meta.at++ = '{';
    if (!(event->flags & TTR_EVENT_NO_TIME))
        add_time(&meta, event->time, context_has_unix_time(json->t, event));
    if (event->flags & TTR_EVENT_HAS_CPU)
        add_number(&meta, "cpu", event->cpu);
    if (ttr_thread_get(json->t, get_event_thread(event), &thread)) {
        if (thread.pid_known)
            add_number(&meta, "pid", thread.pid);
        if (thread.tid_known)
            add_number(&meta, "tid", thread.tid);
    }
    add_nonzero_number(&meta, "id", head.id);
    add_nonzero_number(&meta, "version", head.version);
    add_nonzero_number(&meta, "level", head.level);
    add_nonzero_hex(&meta, "keyword", event->keyword);
    add_nonzero_number(&meta, "opcode", head.opcode);
    add_nonzero_hex(&meta, "tag", head.tag);
    add_nonzero_uuid(&meta, "activity", event->activity);
    add_nonzero_uuid(&meta, "relatedActivity", event->related);
    meta.at = emit_constant(meta.at, meta.spaced ? " }" : "}");
    buffer_commit(json->to, (size_t)(meta.at - begin));
}

static void write_event(struct ttr_writer *out, const ttr_event *event)
{
    struct microsoft *ctx = out->ctx;
    struct field_json *json = &ctx->fields;
    ttr_text provider = ttr_text_get(out->t, event->provider),
             name = ttr_text_get(out->t, event->name);
    if (event->kind == TTR_KIND_SAMPLE && provider.n == 0) {
        /* perf-decode prints a name such as "cpu-clock" instead of the provider */
        provider = name;
        name.n = 0;
    }
    buffer_add_byte(&out->buffer, '{');
    field_json_begin(json);
    field_json_append_constant_name(json, "n");
    buffer_add_byte(&out->buffer, '"');
    microsoft_add_text(&out->buffer, provider.p, provider.n);
    buffer_add_byte(&out->buffer, ':');
    microsoft_add_text(&out->buffer, name.p, name.n);
    buffer_add_byte(&out->buffer, '"');
    if (!microsoft_add_tracepoint(json, event))
        add_fields(ctx, event);
    add_meta_object(json, event);
    buffer_add_text(&out->buffer, json->spaced ? " }\n" : "}\n");
    field_json_report_losses(json, out, event->offset);
    output_count_event(out, event);
}

/* Returns true if perf-decode prints the event. It does not print records of perf.data other than
 * samples, which have no provider. */
static bool is_event_printed_by_perf_decode(const ttr *t, const ttr_event *event)
{
    ttr_source source;
    if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP ||
        event->kind == TTR_KIND_OBJECT)
        return false;
    bool is_record = !event->provider && event->kind != TTR_KIND_SAMPLE;
    return !is_record || !ttr_source_get(t, event->source, &source) ||
           strcmp(source.format, "perf") != 0;
}

static ttr_status microsoft_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    const struct microsoft *ctx = out->ctx;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (!is_event_printed_by_perf_decode(out->t, event))
            continue;
        write_event(out, event);
        out->buffer.failed |= ctx->fields.texts.failed || ctx->name.failed;
        ttr_status status = output_drain(out, error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

static ttr_status microsoft_finish(struct ttr_writer *out, ttr_error *error)
{
    return output_drain(out, error);
}

static void microsoft_free_writer(struct ttr_writer *out)
{
    struct microsoft *ctx = out->ctx;
    field_json_free(&ctx->fields);
    buffer_free(&ctx->name);
}

static const ttr_option_info options[] = {
    {"blanks", "yes|no", "write blanks inside brackets and after ':' and ','", true},
    {"tags", "yes|no", "append tags to the names of fields", true},
};

static const char *const no_options[] = {NULL};

static const ttr_style_info styles[] = {
    {.name = "microsoft",
     .format = "microsoft",
     .writing_options = no_options,
     .reading_options = no_options},
};

static const struct format_hints hints = {
    .warnings = "",
    .styles = styles,
    .styles_n = sizeof styles / sizeof *styles,
};

static const struct format_writer writer = {
    .is_text = true,
    .losses = losses,
    .losses_n = sizeof losses / sizeof *losses,
    .state_size = sizeof(struct microsoft),
    .create = microsoft_create,
    .write = microsoft_write,
    .finish = microsoft_finish,
    .drop = microsoft_free_writer,
};

const struct format format_microsoft = {
    .name = "microsoft",
    .title = "JSON objects as perf-decode prints them",
    .extensions = "",
    .spec = "src/formats/microsoft/README.md",
    .writer = &writer,
    .hints = &hints,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
