/* Field injector: returns copies of events with a schema that wraps the original schema.
 *
 * The wrapping schema's field iterator returns the original fields, and inserts the added fields
 * after the last field of their group (enum ttr_group). It reads one field ahead to find the end of
 * the group. ttr_event.stack of a copy is the index of its added fields in a table of the batch.
 * Stages that keep events longer (sorting) copy all fields, including the added ones. Events lose
 * TTR_EVENT_RAW and definitions are omitted, so that no writer copies the original record. */
#include "pipeline/field_injector.h"

#include <string.h>

#include "base/self_zones.h"
#include "base/status.h"
#include "model/context.h"
#include "model/reader.h"

/* words of ttr_fields.state that the iterator of the wrapped schema may use */
#define INNER_STATE 72u

/* The fields added to one event. */
struct added {
    const ttr_field *field;
    uint32_t n;
    uint32_t stack; /* ttr_event.stack of the original event */
};

/* A schema for events with added fields; it wraps the schema of the original events. */
struct outer_schema {
    const struct field_injector *field_injector;
    const struct field_ops *ops; /* functions of the wrapped schema; may be NULL */
    const void *ctx;
};

struct field_injector {
    ttr_reader base;
    ttr_reader *in;
    struct field_injector_options how;
    ttr_event *event; /* events of the output batch */
    struct added *added;
    size_t event_room, added_room;
    uint32_t added_n;
    ttr_id *over; /* indexed by id of a wrapped schema: id of its wrapping schema; 0 = none yet */
    size_t over_n;
    struct outer_schema **outer; /* all wrapping schemas; freed when the stage is closed */
    size_t outer_n, outer_room;
};

/* State of an iteration over the fields of an event, in ttr_fields.state. */
struct outer_iter {
    const struct outer_schema *schema;
    struct added left; /* added fields not yet returned */
    /* next field of the original iterator, returned after the added fields; valid if has_held */
    ttr_field held;
    /* is_reached: the group of the added fields has ended; has_held: `held` is valid */
    bool is_reached, has_held;
    bool gave_added;
};

_Static_assert(INNER_STATE * sizeof(uint64_t) + sizeof(struct outer_iter) <=
                   sizeof(((ttr_fields *)0)->state),
               "both walks fit");

/* --- Field iterator --- */

static struct outer_iter *get_outer_iter(ttr_fields *fields)
{
    return (struct outer_iter *)(void *)(fields->state + INNER_STATE);
}

static void begin_outer_fields(ttr_fields *fields)
{
    const struct outer_schema *schema = fields->ctx;
    const struct field_injector *field_injector = schema->field_injector;
    struct outer_iter *iter = get_outer_iter(fields);
    uint32_t i = fields->event->stack;
    iter->schema = schema;
    iter->left =
        i && i <= field_injector->added_n ? field_injector->added[i - 1] : (struct added){.n = 0};
    iter->is_reached = iter->has_held = iter->gave_added = false;
    fields->ctx = schema->ctx;
    if (schema->ops)
        schema->ops->begin(fields);
}

static void begin_outer_group(ttr_fields *fields, ttr_group group)
{
    const struct outer_schema *schema = fields->ctx;
    fields->ops = schema->ops && schema->ops->begin_group ? schema->ops : NULL;
    fields->ctx = schema->ctx;
    if (fields->ops)
        schema->ops->begin_group(fields, group);
}

/* Returns the position of a field group (enum ttr_group) within an event. */
static unsigned get_group_position(uint8_t group)
{
    static const uint8_t ranks[] = {[TTR_GROUP_PACKET] = 0,
                                    [TTR_GROUP_HEADER] = 1,
                                    [TTR_GROUP_COMMON] = 2,
                                    [TTR_GROUP_CONTEXT] = 3,
                                    [TTR_GROUP_PAYLOAD] = 4};
    return group < sizeof ranks ? ranks[group] : 4;
}

/* Returns the next field while added fields are pending: an original one up to the end of the added
 * fields' group, then the added ones. Returns false when all are returned. */
static bool read_next_added_field(ttr_fields *fields, struct outer_iter *iter, ttr_field *field)
{
    if (!iter->is_reached) {
        const struct field_ops *ops = iter->schema->ops;
        bool has_more = ops && ops->next(fields, field);
        if (has_more &&
            get_group_position(field->group) <= get_group_position(iter->left.field->group))
            return true;
        iter->is_reached = true;
        iter->has_held = has_more;
        if (has_more)
            iter->held = *field;
    }
    *field = *iter->left.field++;
    iter->left.n--;
    iter->gave_added = true;
    return true;
}

static bool read_outer_field(ttr_fields *fields, ttr_field *field)
{
    struct outer_iter *iter = get_outer_iter(fields);
    const struct field_ops *ops = iter->schema->ops;
    if (iter->left.n > 0)
        return read_next_added_field(fields, iter, field);
    iter->gave_added = false;
    if (!iter->has_held)
        return ops && ops->next(fields, field);
    iter->has_held = false;
    *field = iter->held;
    return true;
}

static const struct type *get_outer_type(const ttr_fields *fields)
{
    const struct outer_iter *iter =
        (const struct outer_iter *)(const void *)(fields->state + INNER_STATE);
    const struct field_ops *ops = iter->schema->ops;
    return ops && ops->type && !iter->gave_added ? ops->type(fields) : NULL;
}

static bool get_outer_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                            ttr_text *label)
{
    const struct outer_iter *iter =
        (const struct outer_iter *)(const void *)(fields->state + INNER_STATE);
    if (iter->schema->ops && iter->schema->ops->label)
        return iter->schema->ops->label(fields, value, i, label);
    *label = value->text;
    return i == 0;
}

static bool outer_text_has_bytes_after_end(const ttr_fields *fields, const ttr_value *text)
{
    const struct outer_iter *iter =
        (const struct outer_iter *)(const void *)(fields->state + INNER_STATE);
    const struct field_ops *ops = iter->schema->ops;
    return ops && ops->has_bytes_after_end && !iter->gave_added &&
           ops->has_bytes_after_end(fields, text);
}

static uint64_t get_outer_packet(const void *ctx, const ttr_event *event)
{
    const struct outer_schema *schema = ctx;
    return schema->ops && schema->ops->packet ? schema->ops->packet(schema->ctx, event) : 0;
}

static uint32_t copy_outer_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                                  uint32_t room)
{
    const struct outer_schema *schema = ctx;
    const struct field_injector *field_injector = schema->field_injector;
    ttr_event base_schema_id = *event;
    base_schema_id.stack =
        event->stack <= field_injector->added_n ? field_injector->added[event->stack - 1].stack : 0;
    return base_schema_id.stack && schema->ops && schema->ops->frames
               ? schema->ops->frames(schema->ctx, &base_schema_id, addresses, room)
               : 0;
}

static const struct field_ops outer_ops = {.begin = begin_outer_fields,
                                           .next = read_outer_field,
                                           .begin_group = begin_outer_group,
                                           .packet = get_outer_packet,
                                           .label = get_outer_label,
                                           .frames = copy_outer_frames,
                                           .type = get_outer_type,
                                           .has_bytes_after_end = outer_text_has_bytes_after_end};

/* --- Reader --- */

static void injector_close(ttr_reader *base)
{
    struct field_injector *field_injector = (struct field_injector *)base;
    const struct alloc *alloc = &base->t->counted;
    for (size_t i = 0; i < field_injector->over_n; i++)
        if (field_injector->over[i])
            context_drop_schema(base->t, field_injector->over[i]);
    for (size_t i = 0; i < field_injector->outer_n; i++)
        alloc_free(alloc, field_injector->outer[i], 1, sizeof **field_injector->outer);
    alloc_free(alloc, field_injector->outer, field_injector->outer_room,
               sizeof *field_injector->outer);
    alloc_free(alloc, field_injector->over, field_injector->over_n, sizeof *field_injector->over);
    alloc_free(alloc, field_injector->added, field_injector->added_room,
               sizeof *field_injector->added);
    alloc_free(alloc, field_injector->event, field_injector->event_room,
               sizeof *field_injector->event);
    field_injector->how.close(field_injector->how.ctx);
    ttr_close(field_injector->in);
    alloc_free(alloc, field_injector, 1, sizeof *field_injector);
}

/* Returns the id of a new schema that wraps another one; 0 if memory runs out. */
static ttr_id create_wrapping_schema(struct field_injector *field_injector, ttr_id base_schema_id)
{
    ttr *t = field_injector->base.t;
    const struct alloc *alloc = &t->counted;
    struct schema schema = *context_schema(t, base_schema_id);
    if (!alloc_reserve(alloc, (void **)&field_injector->outer, &field_injector->outer_room,
                       field_injector->outer_n + 1, sizeof *field_injector->outer))
        return 0;
    struct outer_schema *outer = alloc_zero(alloc, 1, sizeof *outer);
    if (!outer)
        return 0;
    field_injector->outer[field_injector->outer_n++] = outer;
    *outer = (struct outer_schema){field_injector, schema.ops, schema.ctx};
    return context_add_schema(t, &(struct schema){.ops = &outer_ops,
                                                  .ctx = outer,
                                                  .event_class = schema.event_class,
                                                  .base_schema = base_schema_id,
                                                  .has_number = schema.has_number,
                                                  .number = schema.number,
                                                  .version = schema.version,
                                                  .has_texts = schema.has_texts});
}

static ttr_id find_wrapping_schema(struct field_injector *field_injector, ttr_id base_schema_id)
{
    size_t before = field_injector->over_n;
    if (base_schema_id >= before) {
        if (!alloc_reserve(&field_injector->base.t->counted, (void **)&field_injector->over,
                           &field_injector->over_n, (size_t)base_schema_id + 1,
                           sizeof *field_injector->over))
            return 0;
        memset(field_injector->over + before, 0,
               (field_injector->over_n - before) * sizeof *field_injector->over);
    }
    if (!field_injector->over[base_schema_id])
        field_injector->over[base_schema_id] =
            create_wrapping_schema(field_injector, base_schema_id);
    return field_injector->over[base_schema_id];
}

/* Adds the fields to an event of the batch.  Returns false if memory is exhausted. */
static bool add_fields_to_event(struct field_injector *field_injector, ttr_event *event)
{
    struct added added = {.stack = event->stack};
    event->flags &= (uint8_t)~TTR_EVENT_RAW;
    size_t n = field_injector->how.add(field_injector->how.ctx, event, &added.field);
    if (n == 0)
        return true;
    if (n > UINT32_MAX) /* true also for the error value FIELD_INJECTOR_FAILED */
        return false;
    added.n = (uint32_t)n;
    ttr_id schema = find_wrapping_schema(field_injector, event->schema);
    field_injector->added[field_injector->added_n++] = added;
    event->stack = field_injector->added_n;
    event->schema = schema;
    return schema != 0;
}

static bool reserve_events(struct field_injector *field_injector, uint32_t n)
{
    const struct alloc *alloc = &field_injector->base.t->counted;
    return alloc_reserve(alloc, (void **)&field_injector->event, &field_injector->event_room, n,
                         sizeof *field_injector->event) &&
           alloc_reserve(alloc, (void **)&field_injector->added, &field_injector->added_room, n,
                         sizeof *field_injector->added);
}

static ttr_status injector_read_batch(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    SELF_ZONE(order, "inject fields");
    struct field_injector *field_injector = (struct field_injector *)base;
    ttr_batch all;
    uint32_t n = 0;
    field_injector->added_n = 0;
    field_injector->how.refresh(field_injector->how.ctx);
    while (n == 0) {
        ttr_status status = ttr_read(field_injector->in, &all, error);
        if (status != TTR_OK)
            return status;
        if (!reserve_events(field_injector, all.n))
            return fail_memory(error);
        for (uint32_t i = 0; i < all.n; i++) {
            const ttr_event *event = ttr_batch_at(&all, i);
            if (event->kind == TTR_KIND_DEFINITION)
                continue;
            field_injector->event[n] = *event;
            if (!add_fields_to_event(field_injector, &field_injector->event[n]))
                return fail_memory(error);
            n++;
        }
    }
    *batch = (ttr_batch){.event = field_injector->event, .n = n};
    return TTR_OK;
}

static bool injector_get_report(ttr_reader *base, size_t index, ttr_report *report)
{
    return ttr_reader_report(((struct field_injector *)base)->in, index, report);
}

static void injector_assign_ranks(ttr_reader *base, uint32_t *next)
{
    reader_assign_ranks(((struct field_injector *)base)->in, next);
}

static struct input *injector_get_input(ttr_reader *base, size_t index)
{
    return reader_get_input(((struct field_injector *)base)->in, index);
}

static void injector_set_batch_size(ttr_reader *base, uint32_t batch)
{
    reader_set_batch_size(((struct field_injector *)base)->in, batch);
}

static struct diagnostics *injector_get_diagnostics(ttr_reader *base)
{
    return reader_get_diagnostics(((struct field_injector *)base)->in);
}

/* A time range is not passed on to `in`: events outside of the range may determine the fields that
 * are added to events inside. */
ttr_reader *field_injector_new(ttr_reader *in, const struct field_injector_options *how,
                               ttr_error *error)
{
    static const struct reader_ops ops = {.next = injector_read_batch,
                                          .close = injector_close,
                                          .set_batch_size = injector_set_batch_size,
                                          .report = injector_get_report,
                                          .rank = injector_assign_ranks,
                                          .input = injector_get_input,
                                          .notes = injector_get_diagnostics};
    struct field_injector *field_injector = alloc_zero(&in->t->counted, 1, sizeof *field_injector);
    if (!field_injector) {
        how->close(how->ctx);
        ttr_close(in);
        (void)fail_memory(error);
        return NULL;
    }
    field_injector->base =
        (ttr_reader){.t = in->t, .ops = &ops, .order = in->order, .reports = in->reports};
    field_injector->in = in;
    field_injector->how = *how;
    return &field_injector->base;
}
