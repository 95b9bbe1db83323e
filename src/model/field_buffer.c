/* Field buffer: returns the fields of an event as an array. Decoded fields of each schema stay in
 * memory between events (field cache), so that only values are written. */
#include "model/context.h"

#define SPARE_FIELDS 64u /* fields per call, for events without cached fields */
/* initial capacity per schema, doubled when events have more fields */
#define CACHED_FIELDS_INITIAL 16u
#define CACHED_FIELDS_MAX 1024u
/* limit in bytes for the cached fields of all schemas together */
#define CACHED_BYTES_MAX (4u << 20)

struct ttr_field_buffer {
    const ttr *t;
    struct alloc alloc;
    struct field_cache *held; /* field caches, indexed by schema id */
    size_t held_n;
    size_t bytes; /* size of all field caches */
    ttr_fields fields;
    ttr_field spare[SPARE_FIELDS];
};

ttr_field_buffer *ttr_field_buffer_new(const ttr *t)
{
    ttr_field_buffer *buffer = alloc_zero(&t->counted, 1, sizeof *buffer);
    if (buffer) {
        buffer->t = t;
        buffer->alloc = t->counted;
    }
    return buffer;
}

void ttr_field_buffer_free(ttr_field_buffer *buffer)
{
    if (!buffer)
        return;
    const struct alloc alloc = buffer->alloc;
    for (size_t i = 0; i < buffer->held_n; i++)
        alloc_free(&alloc, buffer->held[i].field, buffer->held[i].n, sizeof *buffer->held[i].field);
    alloc_free(&alloc, buffer->held, buffer->held_n, sizeof *buffer->held);
    alloc_free(&alloc, buffer, 1, sizeof *buffer);
}

/* Doubles the capacity of a schema's field cache, within the limits. */
static void grow_cache(ttr_field_buffer *buffer, struct field_cache *held)
{
    const uint32_t n = held->n ? held->n * 2 : CACHED_FIELDS_INITIAL;
    const size_t more = (n - held->n) * sizeof *held->field;
    ttr_field *field = NULL;
    if (n <= CACHED_FIELDS_MAX && more <= CACHED_BYTES_MAX - buffer->bytes)
        field = alloc_resize(&buffer->alloc, held->field, held->n, n, sizeof *field);
    if (!field)
        return;
    *held = (struct field_cache){.field = field, .n = n};
    buffer->bytes += more;
}

/* Returns the field cache of a schema. Returns NULL if memory runs out. */
static struct field_cache *get_schema_cache(ttr_field_buffer *buffer, ttr_id schema)
{
    const size_t n = buffer->t->schemas_n;
    if (schema >= buffer->held_n) {
        struct field_cache *held =
            schema < n ? alloc_resize(&buffer->alloc, buffer->held, buffer->held_n, n, sizeof *held)
                       : NULL;
        if (!held)
            return NULL;
        memset(held + buffer->held_n, 0, (n - buffer->held_n) * sizeof *held);
        buffer->held = held;
        buffer->held_n = n;
    }
    if (buffer->held[schema].n == 0)
        grow_cache(buffer, &buffer->held[schema]);
    return buffer->held[schema].n ? &buffer->held[schema] : NULL;
}

/* Returns the next fields of an iteration in `buffer->spare`, for events without
 * cached fields. */
static __attribute__((noinline)) uint32_t read_more_fields(ttr_field_buffer *buffer,
                                                           const ttr_field **field)
{
    ttr_fields *fields = &buffer->fields;
    const struct field_ops *ops = fields->ops;
    ttr_field *spare = buffer->spare;
    uint32_t n = 0;
    *field = spare;
    if (!ops)
        return 0;
    if (ops->decode_batch)
        return ops->decode_batch(fields, spare, SPARE_FIELDS);
    while (n < SPARE_FIELDS && ops->next(fields, &spare[n]))
        if (field_has_labels(&spare[n++].value))
            break;
    return n;
}

/* Decodes an event's fields into the cache of its schema and returns their number. Returns 0 if the
 * caller must iterate over the fields instead. */
static __attribute__((noinline)) uint32_t cache_fields(ttr_field_buffer *buffer,
                                                       const ttr_field **field)
{
    const struct field_ops *ops = buffer->fields.ops;
    struct field_cache *held = get_schema_cache(buffer, buffer->fields.event->schema);
    *field = held ? held->field : NULL;
    return held ? ops->decode_cached(&buffer->fields, held) : 0;
}

uint32_t ttr_event_fields(ttr_field_buffer *buffer, const ttr_event *event, const ttr_field **field)
{
    uint32_t n = 0;
    if (__builtin_expect(event->schema < buffer->held_n && buffer->held[event->schema].n, 1)) {
        const struct schema *schema = &buffer->t->schemas[event->schema];
        struct field_cache *held = &buffer->held[event->schema];
        fields_begin_with_schema(&buffer->fields, schema, event);
        *field = held->field;
        n = schema->ops->decode_cached(&buffer->fields, held);
    } else {
        const struct schema *schema = context_schema(buffer->t, event->schema);
        fields_begin_with_schema(&buffer->fields, schema, event);
        if (schema->ops && schema->ops->decode_cached)
            n = cache_fields(buffer, field);
    }
    return __builtin_expect(n > 0, 1) ? n : read_more_fields(buffer, field);
}

uint32_t ttr_event_fields_next(ttr_field_buffer *buffer, const ttr_field **field)
{
    const struct field_ops *ops = buffer->fields.ops;
    if (__builtin_expect(!ops, 1))
        return 0;
    struct field_cache *held =
        ops->decode_cached ? get_schema_cache(buffer, buffer->fields.event->schema) : NULL;
    if (held && held->is_full)
        grow_cache(buffer, held);
    return read_more_fields(buffer, field);
}

bool ttr_event_label(const ttr_field_buffer *buffer, const ttr_value *value, uint32_t i,
                     ttr_text *label)
{
    return ttr_fields_label(&buffer->fields, value, i, label);
}

const ttr_fields *field_buffer_iter(const ttr_field_buffer *buffer)
{
    return &buffer->fields;
}
