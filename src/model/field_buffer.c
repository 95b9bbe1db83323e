/* Fields that stay where they are from one event of a schema to the next. */
#include "model/context.h"

#define SPARE_FIELDS 64u /* of one call if they are not held */
#define HELD_FIELDS \
    16u /* room for those of a schema at first, doubled where its events have more */
#define HELD_FIELDS_MOST 1024u
#define HELD_BYTES_MOST (4u << 20) /* of all schemas */

struct ttr_field_buffer {
    const ttr *t;
    struct alloc alloc;
    struct field_cache *held; /* by schema; never more than there are */
    size_t held_n;
    size_t bytes; /* of fields in `held` */
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

/* Makes more room for the fields of a schema, where it may have more. */
static void widen(ttr_field_buffer *buffer, struct field_cache *held)
{
    const uint32_t n = held->n ? held->n * 2 : HELD_FIELDS;
    const size_t more = (n - held->n) * sizeof *held->field;
    ttr_field *field = NULL;
    if (n <= HELD_FIELDS_MOST && more <= HELD_BYTES_MOST - buffer->bytes)
        field = alloc_resize(&buffer->alloc, held->field, held->n, n, sizeof *field);
    if (!field)
        return;
    *held = (struct field_cache){.field = field, .n = n};
    buffer->bytes += more;
}

/* Returns the fields of a schema, NULL if there is no memory for them. */
static struct field_cache *held_of(ttr_field_buffer *buffer, ttr_id schema)
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
        widen(buffer, &buffer->held[schema]);
    return buffer->held[schema].n ? &buffer->held[schema] : NULL;
}

static bool has_several_names(const ttr_value *value)
{
    return value->count > 1 &&
           (value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS);
}

/* Returns the next fields of a walk, in `spare`. */
static __attribute__((noinline)) uint32_t walk_on(ttr_field_buffer *buffer, const ttr_field **field)
{
    ttr_fields *fields = &buffer->fields;
    const struct field_ops *ops = fields->ops;
    ttr_field *spare = buffer->spare;
    uint32_t n = 0;
    *field = spare;
    if (!ops)
        return 0;
    if (ops->take)
        return ops->take(fields, spare, SPARE_FIELDS);
    while (n < SPARE_FIELDS && ops->next(fields, &spare[n]))
        if (has_several_names(&spare[n++].value))
            break;
    return n;
}

/* Holds the fields of an event whose walk begins; 0: the walk is to return them. */
static __attribute__((noinline)) uint32_t hold_first(ttr_field_buffer *buffer,
                                                     const ttr_field **field)
{
    const struct field_ops *ops = buffer->fields.ops;
    struct field_cache *held =
        ops && ops->hold ? held_of(buffer, buffer->fields.event->schema) : NULL;
    *field = held ? held->field : NULL;
    return held ? ops->hold(&buffer->fields, held) : 0;
}

uint32_t ttr_event_fields(ttr_field_buffer *buffer, const ttr_event *event, const ttr_field **field)
{
    const struct schema *schema = context_schema(buffer->t, event->schema);
    uint32_t n;
    fields_begin_with_schema(&buffer->fields, schema, event);
    if (__builtin_expect(event->schema < buffer->held_n && buffer->held[event->schema].n, 1)) {
        struct field_cache *held = &buffer->held[event->schema];
        *field = held->field;
        n = schema->ops->hold(&buffer->fields, held);
    } else {
        n = hold_first(buffer, field);
    }
    return __builtin_expect(n > 0, 1) ? n : walk_on(buffer, field);
}

uint32_t ttr_event_fields_next(ttr_field_buffer *buffer, const ttr_field **field)
{
    const struct field_ops *ops = buffer->fields.ops;
    if (__builtin_expect(!ops, 1))
        return 0;
    struct field_cache *held = ops->hold ? held_of(buffer, buffer->fields.event->schema) : NULL;
    if (held && held->is_full)
        widen(buffer, held);
    return walk_on(buffer, field);
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
