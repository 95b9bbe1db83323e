/* Events made by hand: attributes in a view, fields in the packed encoding. */
#include <string.h>

#include <tracetta/write.h>

#include "base/status.h"
#include "model/packed.h"

struct ttr_builder {
    ttr *t;
    ttr_event event;
    struct buffer fields;
    bool is_begun; /* and not ended */
    bool failed;   /* a string or thread found no memory */
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

static ttr_id intern_text(ttr_builder *builder, const char *text)
{
    uint32_t id = text ? intern_add(&builder->t->strings, text, strlen(text)) : 0;
    builder->failed |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

void ttr_event_begin(ttr_builder *builder, ttr_kind kind, int64_t time, const char *category, const char *name)
{
    buffer_clear(&builder->fields);
    builder->fields.failed = builder->failed = false;
    builder->is_begun = true;
    builder->event = (ttr_event){.kind = (uint8_t)kind, .time = time, .schema = SCHEMA_PACKED};
    builder->event.category = intern_text(builder, category);
    builder->event.name = intern_text(builder, name);
}

ttr_event *ttr_event_edit(ttr_builder *builder)
{
    return &builder->event;
}

void ttr_on_thread(ttr_builder *builder, uint64_t pid, uint64_t tid)
{
    bool has_source = builder->event.source < builder->t->sources_n; /* callers may set any */
    builder->event.thread = has_source ? context_thread(builder->t, builder->event.source, pid, tid) : 0;
    builder->failed |= builder->event.thread == 0;
}

void ttr_on_provider(ttr_builder *builder, const char *provider)
{
    builder->event.provider = intern_text(builder, provider);
}

void ttr_put_field(ttr_builder *builder, const ttr_field *field)
{
    packed_add(builder->t, &builder->fields, field);
}

static void put(ttr_builder *builder, const char *name, const ttr_value *value)
{
    ttr_put_field(builder, &(ttr_field){.name = {name, name ? strlen(name) : 0}, .value = *value});
}

void ttr_put_null(ttr_builder *builder, const char *name)
{
    put(builder, name, &(ttr_value){.type = TTR_TYPE_NULL});
}

void ttr_put_bool(ttr_builder *builder, const char *name, bool value)
{
    put(builder, name, &(ttr_value){.type = TTR_TYPE_BOOL, .v.u = value});
}

void ttr_put_uint(ttr_builder *builder, const char *name, uint64_t value)
{
    put(builder, name, &(ttr_value){.type = TTR_TYPE_UINT, .v.u = value});
}

void ttr_put_int(ttr_builder *builder, const char *name, int64_t value)
{
    put(builder, name, &(ttr_value){.type = TTR_TYPE_INT, .v.s = value});
}

void ttr_put_float(ttr_builder *builder, const char *name, double value)
{
    put(builder, name, &(ttr_value){.type = TTR_TYPE_FLOAT, .v.f = value});
}

void ttr_put_text(ttr_builder *builder, const char *name, const char *value)
{
    if (value)
        put(builder, name, &(ttr_value){.type = TTR_TYPE_TEXT, .text = {value, strlen(value)}});
    else
        ttr_put_null(builder, name);
}

void ttr_put_bytes(ttr_builder *builder, const char *name, const void *bytes, size_t n)
{
    put(builder, name, &(ttr_value){.type = TTR_TYPE_BYTES, .text = {bytes, n}});
}

ttr_status ttr_event_take(ttr_builder *builder, ttr_batch *batch, ttr_error *error)
{
    if (!builder->is_begun)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "no event was begun: ttr_event_begin comes first, once for each event");
    builder->is_begun = false;
    /* No fields need a place too: walking them must not begin at NULL. */
    if (builder->failed || !buffer_room(&builder->fields, 0) || builder->fields.n > UINT32_MAX)
        return fail_memory(error);
    builder->event.payload = builder->fields.bytes;
    builder->event.payload_size = (uint32_t)builder->fields.n;
    *batch = (ttr_batch){.event = &builder->event, .n = 1};
    return TTR_OK;
}

ttr_status ttr_event_end(ttr_builder *builder, ttr_writer *writer, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status = ttr_event_take(builder, &batch, error);
    return status == TTR_OK ? ttr_write(writer, &batch, error) : status;
}

bool ttr_thread_name(ttr *t, uint64_t pid, uint64_t tid, const char *process_name, const char *thread_name)
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
