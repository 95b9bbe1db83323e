/* Event builder: creates events from calls of the application. Attributes are stored in `event`,
 * fields in the encoding of event_copy.h. */
#include <stdio.h>
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "base/status.h"
#include "model/event_copy.h"

struct ttr_builder {
    ttr *t;
    ttr_event event;
    struct buffer fields;
    bool is_begun; /* between ttr_event_begin and ttr_event_build */
    bool failed;   /* memory ran out for a string or thread */
    /* status of the first misuse; ttr_event_build returns it, because the functions before it have
     * no result */
    ttr_status refused;
    char why[160];
};

ttr_builder *ttr_builder_new(ttr *t)
{
    ttr_builder *builder = alloc_zero(&t->counted, 1, sizeof *builder);
    if (builder) {
        builder->t = t;
        buffer_init(&builder->fields, &t->counted);
    }
    return builder;
}

void ttr_builder_free(ttr_builder *builder)
{
    if (!builder)
        return;
    const struct alloc *alloc = &builder->t->counted;
    buffer_free(&builder->fields);
    alloc_free(alloc, builder, 1, sizeof *builder);
}

/* Stores the first misuse and its reason; ignores later ones. */
static void record_misuse(ttr_builder *builder, ttr_status status, const char *why)
{
    if (builder->refused != TTR_OK)
        return;
    builder->refused = status;
    (void)snprintf(builder->why, sizeof builder->why, "%s", why);
}

static ttr_id intern_text(ttr_builder *builder, const char *text)
{
    uint32_t id = text ? intern_add(&builder->t->strings, text, strlen(text)) : 0;
    builder->failed |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

/* Returns the kind, or the invalid kind UINT8_MAX if it does not fit into a byte. Truncation could
 * yield a valid kind. */
static uint8_t clamp_kind(ttr_kind kind)
{
    return (unsigned)kind <= UINT8_MAX ? (uint8_t)kind : UINT8_MAX;
}

void ttr_event_begin(ttr_builder *builder, ttr_kind kind, int64_t time, const char *category,
                     const char *name)
{
    buffer_clear(&builder->fields);
    builder->fields.failed = builder->failed = false;
    builder->is_begun = true;
    builder->refused = TTR_OK;
    builder->event = (ttr_event){.kind = clamp_kind(kind), .time = time};
    builder->event.category = intern_text(builder, category);
    builder->event.name = intern_text(builder, name);
}

ttr_event *ttr_event_attributes(ttr_builder *builder)
{
    return &builder->event;
}

void ttr_event_set_thread(ttr_builder *builder, uint64_t pid, uint64_t tid)
{
    /* the caller may have set an invalid source */
    if (builder->event.source >= builder->t->sources_n) {
        record_misuse(
            builder, TTR_E_MISUSE,
            "ttr_event_set_thread: the event's source is not a source of the context; use 0 for "
            "events that the program builds");
        return;
    }
    builder->event.thread = context_thread(builder->t, builder->event.source, pid, tid);
    builder->failed |= builder->event.thread == 0;
}

void ttr_event_set_provider(ttr_builder *builder, const char *provider)
{
    builder->event.provider = intern_text(builder, provider);
}

/* Returns the reason why a field is invalid, or NULL. Does not check that element counts match the
 * nesting depths; writers do that. */
static const char *find_field_error(const ttr_builder *builder, const ttr_field *field)
{
    const ttr_value *value = &field->value;
    const uint32_t strings = builder->t->strings.n;
    const bool has_text = value->type == TTR_TYPE_TEXT || value->type == TTR_TYPE_BYTES;
    if (value->type >= TTR_TYPE_COUNT)
        return "its type is not a ttr_type";
    if (value->hint > TTR_DISPLAY_ABSENT)
        return "its hint is not a ttr_display";
    if (field->group > TTR_GROUP_HEADER)
        return "its group is not a ttr_group";
    if (field->name_id >= strings || value->text_id >= strings)
        return "its name_id or text_id is not a string of the context";
    if ((!field->name.p && field->name.n) || (has_text && !value->text.p && value->text.n))
        return "it has bytes at NULL";
    return NULL;
}

void ttr_add_field(ttr_builder *builder, const ttr_field *field)
{
    char why[sizeof builder->why];
    const char *flaw = find_field_error(builder, field);
    const bool is_deep = !flaw && field->depth > EVENT_COPY_DEPTH_MAX;
    if (is_deep)
        flaw = "it is nested deeper than 255 levels";
    if (!flaw) {
        event_copy_add_field(builder->t, &builder->fields, field);
        return;
    }
    (void)snprintf(why, sizeof why, "field \"%.*s\": %s",
                   field->name.p ? (int)(field->name.n < 60 ? field->name.n : 60) : 0,
                   field->name.p ? field->name.p : "", flaw);
    record_misuse(builder, is_deep ? TTR_E_LIMIT : TTR_E_MISUSE, why);
}

static void add_value(ttr_builder *builder, const char *name, const ttr_value *value)
{
    ttr_add_field(builder, &(ttr_field){.name = {name, name ? strlen(name) : 0}, .value = *value});
}

void ttr_add_null(ttr_builder *builder, const char *name)
{
    add_value(builder, name, &(ttr_value){.type = TTR_TYPE_NULL});
}

void ttr_add_bool(ttr_builder *builder, const char *name, bool value)
{
    add_value(builder, name, &(ttr_value){.type = TTR_TYPE_BOOL, .v.u = value});
}

void ttr_add_uint(ttr_builder *builder, const char *name, uint64_t value)
{
    add_value(builder, name, &(ttr_value){.type = TTR_TYPE_UINT, .v.u = value});
}

void ttr_add_int(ttr_builder *builder, const char *name, int64_t value)
{
    add_value(builder, name, &(ttr_value){.type = TTR_TYPE_INT, .v.s = value});
}

void ttr_add_float(ttr_builder *builder, const char *name, double value)
{
    add_value(builder, name, &(ttr_value){.type = TTR_TYPE_FLOAT, .v.f = value});
}

void ttr_add_text(ttr_builder *builder, const char *name, const char *value)
{
    if (value)
        add_value(builder, name,
                  &(ttr_value){.type = TTR_TYPE_TEXT, .text = {value, strlen(value)}});
    else
        ttr_add_null(builder, name);
}

void ttr_add_bytes(ttr_builder *builder, const char *name, const void *bytes, size_t n)
{
    add_value(builder, name, &(ttr_value){.type = TTR_TYPE_BYTES, .text = {bytes, n}});
}

/* Sets the members of the event that a caller may not choose but may have overwritten. */
static void set_builder_members(ttr_builder *builder)
{
    ttr_event *event = &builder->event;
    event->payload = builder->fields.bytes;
    event->payload_size = (uint32_t)builder->fields.n;
    event->schema = SCHEMA_EVENT_COPY;
    event->body = event->stack = event->part = 0;
    event->flags &= (uint8_t)~TTR_EVENT_RAW;
}

ttr_status ttr_event_build(ttr_builder *builder, ttr_batch *batch, ttr_error *error)
{
    if (!builder || !batch)
        return fail_null(error, "ttr_event_build", builder ? "batch" : "builder");
    if (!builder->is_begun)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "no event was begun: call ttr_event_begin first, once per event");
    builder->is_begun = false;
    if (builder->refused != TTR_OK)
        return fail(error, builder->refused, NO_OFFSET, "%s", builder->why);
    /* An event without fields needs a payload, too: iteration starts at its address. */
    if (builder->failed || !buffer_room(&builder->fields, 0) || builder->fields.n > UINT32_MAX)
        return fail_memory(error);
    set_builder_members(builder);
    *batch = (ttr_batch){.event = &builder->event, .n = 1};
    return TTR_OK;
}

ttr_status ttr_event_end(ttr_builder *builder, ttr_writer *writer, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status = ttr_event_build(builder, &batch, error);
    return status == TTR_OK ? ttr_write(writer, &batch, error) : status;
}

bool ttr_thread_name(ttr *t, uint64_t pid, uint64_t tid, const char *process_name,
                     const char *thread_name)
{
    if (process_name) {
        uint32_t name = intern_add(&t->strings, process_name, strlen(process_name));
        if (name == UINT32_MAX || !context_name_process(t, 0, pid, name))
            return false;
    }
    if (!thread_name)
        return true;
    uint32_t name = intern_add(&t->strings, thread_name, strlen(thread_name));
    ttr_id thread = context_thread(t, 0, pid, tid);
    if (name != UINT32_MAX)
        context_name_thread(t, thread, name);
    return thread && name != UINT32_MAX;
}
