/* Adding fields to events: views with a schema of their own, whose walk gives the fields of the one
 * beneath and what was added among them.
 *
 * What was added to an event is kept in a table of its batch, to which ttr_event.stack points.  It
 * comes behind the last field of its group, so the walk looks one field ahead there.  Who keeps
 * events longer (sorting) copies their fields, these among them.  What was stored as a record is
 * not that any more: events are not raw, and definitions are left out, so that no writer copies the
 * bytes. */
#include "pipeline/field_injector.h"

#include <string.h>

#include "base/status.h"
#include "model/context.h"
#include "model/reader.h"

#define INNER_STATE 72u /* words of ttr_fields.state that the walk beneath has */

/* What was added to one event. */
struct added {
    const ttr_field *field;
    uint32_t n;
    uint32_t stack; /* ttr_event.stack of the event beneath */
};

/* The schema of events of another one to which something was added. */
struct outer_schema {
    const struct annotator *annotator;
    const struct field_ops *ops; /* of the schema beneath; may be NULL */
    const void *ctx;
};

struct annotator {
    ttr_reader base;
    ttr_reader *in;
    struct annotate_how how;
    ttr_event *event; /* of the batch */
    struct added *added;
    size_t event_room, added_room;
    uint32_t added_n;
    ttr_id *over; /* schema by that beneath, 0 = none yet */
    size_t over_n;
    struct outer_schema **outer; /* made, to be freed */
    size_t outer_n, outer_room;
};

/* The walk's own part of ttr_fields.state. */
struct outer_walk {
    const struct outer_schema *schema;
    struct added left;         /* still to be given */
    ttr_field held;            /* of the walk beneath, to be given behind what was added */
    bool is_reached, has_held; /* is_reached: what was added is being given */
    bool gave_added;
};

_Static_assert(INNER_STATE * sizeof(uint64_t) + sizeof(struct outer_walk) <=
                   sizeof(((ttr_fields *)0)->state),
               "both walks fit");

/* --- The walk --- */

static struct outer_walk *outer_of(ttr_fields *fields)
{
    return (struct outer_walk *)(void *)(fields->state + INNER_STATE);
}

static void outer_begin(ttr_fields *fields)
{
    const struct outer_schema *schema = fields->ctx;
    const struct annotator *annotator = schema->annotator;
    struct outer_walk *walk = outer_of(fields);
    uint32_t i = fields->event->stack;
    walk->schema = schema;
    walk->left = i && i <= annotator->added_n ? annotator->added[i - 1] : (struct added){.n = 0};
    walk->is_reached = walk->has_held = walk->gave_added = false;
    fields->ctx = schema->ctx;
    if (schema->ops)
        schema->ops->begin(fields);
}

static void outer_begin_group(ttr_fields *fields, ttr_group group)
{
    const struct outer_schema *schema = fields->ctx;
    fields->ops = schema->ops && schema->ops->begin_group ? schema->ops : NULL;
    fields->ctx = schema->ctx;
    if (fields->ops)
        schema->ops->begin_group(fields, group);
}

/* The place of a group in an event. */
static unsigned rank_of(uint8_t group)
{
    static const uint8_t ranks[] = {[TTR_GROUP_PACKET] = 0,
                                    [TTR_GROUP_HEADER] = 1,
                                    [TTR_GROUP_COMMON] = 2,
                                    [TTR_GROUP_CONTEXT] = 3,
                                    [TTR_GROUP_PAYLOAD] = 4};
    return group < sizeof ranks ? ranks[group] : 4;
}

/* Gives the next of what was added; the place for it is where the walk beneath comes to a later
 * group, or ends. */
static bool next_added(ttr_fields *fields, struct outer_walk *walk, ttr_field *field)
{
    if (!walk->is_reached) {
        const struct field_ops *ops = walk->schema->ops;
        bool has_more = ops && ops->next(fields, field);
        if (has_more && rank_of(field->group) <= rank_of(walk->left.field->group))
            return true;
        walk->is_reached = true;
        walk->has_held = has_more;
        if (has_more)
            walk->held = *field;
    }
    *field = *walk->left.field++;
    walk->left.n--;
    walk->gave_added = true;
    return true;
}

static bool outer_next(ttr_fields *fields, ttr_field *field)
{
    struct outer_walk *walk = outer_of(fields);
    const struct field_ops *ops = walk->schema->ops;
    if (walk->left.n > 0)
        return next_added(fields, walk, field);
    walk->gave_added = false;
    if (!walk->has_held)
        return ops && ops->next(fields, field);
    walk->has_held = false;
    *field = walk->held;
    return true;
}

static const struct type *outer_type(const ttr_fields *fields)
{
    const struct outer_walk *walk =
        (const struct outer_walk *)(const void *)(fields->state + INNER_STATE);
    const struct field_ops *ops = walk->schema->ops;
    return ops && ops->type && !walk->gave_added ? ops->type(fields) : NULL;
}

static bool outer_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                        ttr_text *label)
{
    const struct outer_walk *walk =
        (const struct outer_walk *)(const void *)(fields->state + INNER_STATE);
    if (walk->schema->ops && walk->schema->ops->label)
        return walk->schema->ops->label(fields, value, i, label);
    *label = value->text;
    return i == 0;
}

static bool outer_goes_on(const ttr_fields *fields, const ttr_value *text)
{
    const struct outer_walk *walk =
        (const struct outer_walk *)(const void *)(fields->state + INNER_STATE);
    const struct field_ops *ops = walk->schema->ops;
    return ops && ops->goes_on && !walk->gave_added && ops->goes_on(fields, text);
}

static uint64_t outer_packet(const void *ctx, const ttr_event *event)
{
    const struct outer_schema *schema = ctx;
    return schema->ops && schema->ops->packet ? schema->ops->packet(schema->ctx, event) : 0;
}

static uint32_t outer_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                             uint32_t room)
{
    const struct outer_schema *schema = ctx;
    const struct annotator *annotator = schema->annotator;
    ttr_event beneath = *event;
    beneath.stack =
        event->stack <= annotator->added_n ? annotator->added[event->stack - 1].stack : 0;
    return beneath.stack && schema->ops && schema->ops->frames
               ? schema->ops->frames(schema->ctx, &beneath, addresses, room)
               : 0;
}

static const struct field_ops outer_ops = {.begin = outer_begin,
                                           .next = outer_next,
                                           .begin_group = outer_begin_group,
                                           .packet = outer_packet,
                                           .label = outer_label,
                                           .frames = outer_frames,
                                           .type = outer_type,
                                           .goes_on = outer_goes_on};

/* --- The reader --- */

static void annotator_close(ttr_reader *base)
{
    struct annotator *annotator = (struct annotator *)base;
    const struct alloc *alloc = &base->t->counted;
    for (size_t i = 0; i < annotator->over_n; i++)
        if (annotator->over[i])
            context_drop_schema(base->t, annotator->over[i]);
    for (size_t i = 0; i < annotator->outer_n; i++)
        alloc_free(alloc, annotator->outer[i], 1, sizeof **annotator->outer);
    alloc_free(alloc, annotator->outer, annotator->outer_room, sizeof *annotator->outer);
    alloc_free(alloc, annotator->over, annotator->over_n, sizeof *annotator->over);
    alloc_free(alloc, annotator->added, annotator->added_room, sizeof *annotator->added);
    alloc_free(alloc, annotator->event, annotator->event_room, sizeof *annotator->event);
    annotator->how.close(annotator->how.ctx);
    ttr_close(annotator->in);
    alloc_free(alloc, annotator, 1, sizeof *annotator);
}

/* Makes the schema that stands on another one; 0 when memory is out. */
static ttr_id make_schema(struct annotator *annotator, ttr_id beneath)
{
    ttr *t = annotator->base.t;
    const struct alloc *alloc = &t->counted;
    struct schema schema = *context_schema(t, beneath);
    if (!alloc_reserve(alloc, (void **)&annotator->outer, &annotator->outer_room,
                       annotator->outer_n + 1, sizeof *annotator->outer))
        return 0;
    struct outer_schema *outer = alloc_zero(alloc, 1, sizeof *outer);
    if (!outer)
        return 0;
    annotator->outer[annotator->outer_n++] = outer;
    *outer = (struct outer_schema){annotator, schema.ops, schema.ctx};
    return context_add_schema(t, &(struct schema){.ops = &outer_ops,
                                                  .ctx = outer,
                                                  .event_class = schema.event_class,
                                                  .beneath = beneath,
                                                  .has_number = schema.has_number,
                                                  .number = schema.number,
                                                  .version = schema.version,
                                                  .has_texts = schema.has_texts});
}

static ttr_id schema_over(struct annotator *annotator, ttr_id beneath)
{
    size_t before = annotator->over_n;
    if (beneath >= before) {
        if (!alloc_reserve(&annotator->base.t->counted, (void **)&annotator->over,
                           &annotator->over_n, (size_t)beneath + 1, sizeof *annotator->over))
            return 0;
        memset(annotator->over + before, 0, (annotator->over_n - before) * sizeof *annotator->over);
    }
    if (!annotator->over[beneath])
        annotator->over[beneath] = make_schema(annotator, beneath);
    return annotator->over[beneath];
}

/* Adds what there is to add to an event of the batch; false when memory is out. */
static bool annotate(struct annotator *annotator, ttr_event *event)
{
    struct added added = {.stack = event->stack};
    event->flags &= (uint8_t)~TTR_EVENT_RAW;
    size_t n = annotator->how.add(annotator->how.ctx, event, &added.field);
    if (n == 0)
        return true;
    if (n > UINT32_MAX) /* ANNOTATE_FAILED among them */
        return false;
    added.n = (uint32_t)n;
    ttr_id schema = schema_over(annotator, event->schema);
    annotator->added[annotator->added_n++] = added;
    event->stack = annotator->added_n;
    event->schema = schema;
    return schema != 0;
}

static bool make_room(struct annotator *annotator, uint32_t n)
{
    const struct alloc *alloc = &annotator->base.t->counted;
    return alloc_reserve(alloc, (void **)&annotator->event, &annotator->event_room, n,
                         sizeof *annotator->event) &&
           alloc_reserve(alloc, (void **)&annotator->added, &annotator->added_room, n,
                         sizeof *annotator->added);
}

static ttr_status annotator_next(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct annotator *annotator = (struct annotator *)base;
    ttr_batch all;
    uint32_t n = 0;
    annotator->added_n = 0;
    annotator->how.refresh(annotator->how.ctx);
    while (n == 0) {
        ttr_status status = ttr_read(annotator->in, &all, error);
        if (status != TTR_OK)
            return status;
        if (!make_room(annotator, all.n))
            return fail_memory(error);
        for (uint32_t i = 0; i < all.n; i++) {
            const ttr_event *event = ttr_batch_at(&all, i);
            if (event->kind == TTR_KIND_DEFINITION)
                continue;
            annotator->event[n] = *event;
            if (!annotate(annotator, &annotator->event[n]))
                return fail_memory(error);
            n++;
        }
    }
    *batch = (ttr_batch){.event = annotator->event, .n = n};
    return TTR_OK;
}

static bool annotator_report(ttr_reader *base, size_t index, ttr_report *report)
{
    return ttr_reader_report(((struct annotator *)base)->in, index, report);
}

static void annotator_rank(ttr_reader *base, uint32_t *next)
{
    reader_assign_ranks(((struct annotator *)base)->in, next);
}

static struct input *annotator_input(ttr_reader *base, size_t index)
{
    return reader_input(((struct annotator *)base)->in, index);
}

static void annotator_crowd(ttr_reader *base, uint32_t batch)
{
    reader_set_batch_size(((struct annotator *)base)->in, batch);
}

static struct diagnostics *annotator_notes(ttr_reader *base)
{
    return reader_diagnostics(((struct annotator *)base)->in);
}

/* Ranges are not passed on: what is outside of them may tell what to add to the events inside. */
ttr_reader *annotate_new(ttr_reader *in, const struct annotate_how *how, ttr_error *error)
{
    static const struct reader_ops ops = {.next = annotator_next,
                                          .close = annotator_close,
                                          .set_batch_size = annotator_crowd,
                                          .report = annotator_report,
                                          .rank = annotator_rank,
                                          .input = annotator_input,
                                          .notes = annotator_notes};
    struct annotator *annotator = alloc_zero(&in->t->counted, 1, sizeof *annotator);
    if (!annotator) {
        how->close(how->ctx);
        ttr_close(in);
        (void)fail_memory(error);
        return NULL;
    }
    annotator->base =
        (ttr_reader){.t = in->t, .ops = &ops, .order = in->order, .reports = in->reports};
    annotator->in = in;
    annotator->how = *how;
    return &annotator->base;
}
