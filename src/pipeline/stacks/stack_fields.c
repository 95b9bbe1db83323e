/* ttr_stack_fields: a reader that adds the call stack of an event to its fields.
 *
 * Some formats store stacks outside of the fields of an event (nettrace, samples and tracepoints of
 * perf.data). The formats of TTR_FORMAT_STACK_FIELDS store fields only. Events with a stack get the
 * arrays callstack_kernel and callstack_user of addresses, innermost first, as LTTng's contexts of
 * these names; they replace the field "frames" of samples. They are the last fields of the payload,
 * since babeltrace2 2.0 cannot read arrays in a context of an event class. Symbols come as object
 * events (stack_symbols.c).
 *
 * Events are changed in the buffer of the input. A changed event has a schema that wraps its
 * original schema, and ttr_event.stack is the index of its stack in a table of the batch. */
#include <string.h>

#include "base/status.h"
#include "model/context.h"
#include "model/reader.h"
#include "pipeline/stacks/stacks.h"

/* words of ttr_fields.state that the iterator of the wrapped schema may use; the largest has 74 */
#define INNER_STATE 80u

/* Kernels of 64-bit machines are in the upper half of the address space. */
#define KERNEL_FIRST (UINT64_C(1) << 63)

enum array { ARRAY_KERNEL, ARRAY_USER, ARRAYS };

static const ttr_text array_names[ARRAYS] = {{"callstack_kernel", 16}, {"callstack_user", 14}};

/* The stack of an event of the batch. */
struct event_stack {
    ttr_event original; /* the event before it was changed: readers keep numbers in `stack` */
    size_t first;       /* index of its first address in stack_stage.address */
    uint32_t n[ARRAYS];
};

/* A schema for events with arrays; it wraps the schema of the original events. */
struct stack_schema {
    const struct stack_stage *stage;
    const struct field_ops *ops; /* functions of the wrapped schema; may be NULL */
    const void *ctx;
    const void *start; /* start of the fields, as in struct schema */
    uint64_t start_with;
    ttr_id id;
};

struct stack_stage {
    ttr_reader base;
    ttr_reader *in;
    ttr_batch batch;   /* current batch of `in` */
    uint32_t first;    /* events of `batch` from here to `at` are changed, and not returned yet */
    uint32_t at;       /* next event of `batch` to change */
    size_t symbols_at; /* object events before this one were returned */
    struct stack_symbols symbols;
    struct event_stack *stack; /* stacks of the batch */
    size_t stacks_n, stacks_capacity;
    uint64_t *address; /* addresses of all stacks of the batch */
    size_t addresses_n, addresses_capacity;
    struct stack_schema **schema; /* indexed by id of a wrapped schema; NULL = none yet */
    size_t schemas_n;
};

/* --- Fields --- */

/* State of an iteration over the fields of an event, in ttr_fields.state. */
struct stack_iter {
    const struct stack_schema *schema;
    const uint64_t *address; /* next address to return */
    uint32_t n[ARRAYS];
    uint32_t left;  /* elements of the current array */
    uint8_t array;  /* next array to return; ARRAYS = none is left */
    bool has_ended; /* all original fields were returned */
    bool is_hidden; /* the fields of depth > 0 belong to the field that the arrays replace */
};

_Static_assert(INNER_STATE * sizeof(uint64_t) + sizeof(struct stack_iter) <=
                   sizeof(((ttr_fields *)0)->state),
               "both iterators fit");

static struct stack_iter *get_iter(ttr_fields *fields)
{
    return (struct stack_iter *)(void *)(fields->state + INNER_STATE);
}

static const struct event_stack *get_stack(const struct stack_stage *stage, const ttr_event *event)
{
    return event->stack && event->stack <= stage->stacks_n ? &stage->stack[event->stack - 1] : NULL;
}

static void begin_fields(ttr_fields *fields)
{
    const struct stack_schema *schema = fields->ctx;
    const struct event_stack *stack = get_stack(schema->stage, fields->event);
    struct stack_iter *iter = get_iter(fields);
    *iter = (struct stack_iter){.schema = schema, .array = ARRAYS};
    if (stack) {
        iter->address = schema->stage->address + stack->first;
        memcpy(iter->n, stack->n, sizeof iter->n);
        iter->array = stack->n[ARRAY_KERNEL] ? ARRAY_KERNEL : ARRAY_USER;
        fields->event = &stack->original;
    }
    fields->ctx = schema->ctx;
    if (schema->start) {
        fields->state[0] = (uintptr_t)schema->start;
        fields->state[1] = schema->start_with;
    } else if (schema->ops) {
        schema->ops->begin(fields);
    }
}

/* Returns the next array or element. */
static void read_next_array_field(struct stack_iter *iter, ttr_field *field)
{
    if (iter->left) {
        iter->left--;
        *field = (ttr_field){
            .name = {"", 0},
            .depth = 1,
            .group = TTR_GROUP_PAYLOAD,
            .value = {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_POINTER, .v.u = *iter->address++}};
        return;
    }
    iter->left = iter->n[iter->array];
    *field = (ttr_field){.name = array_names[iter->array],
                         .group = TTR_GROUP_PAYLOAD,
                         .value = {.type = TTR_TYPE_ARRAY, .count = iter->left}};
    iter->array++;
}

static bool is_frames_field(const ttr_field *field)
{
    return field->value.type == TTR_TYPE_ARRAY && field->name.n == 6 &&
           memcmp(field->name.p, "frames", 6) == 0;
}

/* Returns the next original field that is not hidden. */
static bool read_next_original_field(ttr_fields *fields, struct stack_iter *iter, ttr_field *field)
{
    const struct field_ops *ops = iter->schema->ops;
    while (ops && ops->next(fields, field)) {
        if (field->depth == 0)
            iter->is_hidden = is_frames_field(field);
        if (!iter->is_hidden)
            return true;
    }
    return false;
}

static bool read_next_field(ttr_fields *fields, ttr_field *field)
{
    struct stack_iter *iter = get_iter(fields);
    if (!iter->has_ended && read_next_original_field(fields, iter, field))
        return true;
    iter->has_ended = true;
    /* an array of user addresses is left out if it is empty and there are others */
    if (!iter->left && iter->array == ARRAY_USER && iter->n[ARRAY_KERNEL] && !iter->n[ARRAY_USER])
        iter->array = ARRAYS;
    if (!iter->left && iter->array == ARRAYS)
        return false;
    read_next_array_field(iter, field);
    return true;
}

static bool get_label(const ttr_fields *fields, const ttr_value *value, uint32_t i, ttr_text *label)
{
    const struct stack_iter *iter = (const void *)(fields->state + INNER_STATE);
    if (iter->schema->ops && iter->schema->ops->label)
        return iter->schema->ops->label(fields, value, i, label);
    *label = value->text;
    return i == 0;
}

static const uint64_t *get_addresses(const void *ctx, const ttr_event *event, uint32_t *n)
{
    const struct stack_schema *schema = ctx;
    const struct event_stack *stack = get_stack(schema->stage, event);
    *n = stack ? stack->n[ARRAY_KERNEL] + stack->n[ARRAY_USER] : 0;
    return stack ? schema->stage->address + stack->first : NULL;
}

static uint32_t copy_addresses(const void *ctx, const ttr_event *event, uint64_t *addresses,
                               uint32_t room)
{
    uint32_t n;
    const uint64_t *from = get_addresses(ctx, event, &n);
    if (n && room)
        memcpy(addresses, from, (n < room ? n : room) * sizeof *addresses);
    return n;
}

static const struct field_ops stack_ops = {.begin = begin_fields,
                                           .next = read_next_field,
                                           .label = get_label,
                                           .frames = copy_addresses,
                                           .stack = get_addresses};

/* --- Events --- */

/* Returns the schema that wraps that of an event, created if it is new. Returns NULL if memory runs
 * out. */
static const struct stack_schema *get_wrapping_schema(struct stack_stage *stage, ttr_id inner)
{
    ttr *t = stage->base.t;
    const size_t before = stage->schemas_n;
    if (inner >= before) {
        if (!alloc_reserve(&t->counted, (void **)&stage->schema, &stage->schemas_n,
                           (size_t)inner + 1, sizeof(struct stack_schema *)))
            return NULL;
        memset(stage->schema + before, 0, (stage->schemas_n - before) * sizeof *stage->schema);
    }
    if (stage->schema[inner])
        return stage->schema[inner];
    const struct schema from = *context_schema(t, inner);
    struct stack_schema *schema = alloc_zero(&t->counted, 1, sizeof *schema);
    if (!schema)
        return NULL;
    *schema = (struct stack_schema){.stage = stage,
                                    .ops = from.ops,
                                    .ctx = from.ctx,
                                    .start = from.start,
                                    .start_with = from.start_with};
    schema->id = context_add_schema(t, &(struct schema){.ops = &stack_ops,
                                                        .ctx = schema,
                                                        .base_schema = inner,
                                                        .class_name = from.class_name,
                                                        .has_number = from.has_number,
                                                        .number = from.number,
                                                        .version = from.version,
                                                        .has_texts = from.has_texts});
    if (!schema->id) {
        alloc_free(&t->counted, schema, 1, sizeof *schema);
        return NULL;
    }
    return stage->schema[inner] = schema;
}

/* Appends the addresses of an event's stack to those of the batch. Sets *n to their number. Returns
 * false if memory runs out. */
static bool append_addresses(struct stack_stage *stage, const ttr_event *event, uint32_t *n)
{
    ttr *t = stage->base.t;
    const size_t room = stage->addresses_capacity - stage->addresses_n;
    *n = ttr_event_frames(t, event, stage->address ? stage->address + stage->addresses_n : NULL,
                          room < UINT32_MAX ? (uint32_t)room : UINT32_MAX);
    if (*n <= room && stage->address)
        return true;
    /* one more, so that an empty stack has an address in memory, too */
    if (!alloc_reserve(&t->counted, (void **)&stage->address, &stage->addresses_capacity,
                       stage->addresses_n + *n + 1, sizeof *stage->address))
        return false;
    (void)ttr_event_frames(t, event, stage->address + stage->addresses_n, *n);
    return true;
}

/* Changes an event with a stack. Returns false if memory runs out. */
static bool change_event(struct stack_stage *stage, ttr_event *event)
{
    uint32_t n;
    if (!append_addresses(stage, event, &n))
        return false;
    if (n == 0 && event->kind != TTR_KIND_SAMPLE)
        return true;
    const uint64_t *address = stage->address + stage->addresses_n;
    const struct stack_schema *schema = get_wrapping_schema(stage, event->schema);
    if (!schema ||
        !alloc_reserve(&stage->base.t->counted, (void **)&stage->stack, &stage->stacks_capacity,
                       stage->stacks_n + 1, sizeof *stage->stack) ||
        !stack_symbols_add(&stage->symbols, event, address, n))
        return false;
    uint32_t kernel_n = 0;
    while (kernel_n < n && address[kernel_n] >= KERNEL_FIRST)
        kernel_n++;
    stage->stack[stage->stacks_n++] = (struct event_stack){
        .original = *event, .first = stage->addresses_n, .n = {kernel_n, n - kernel_n}};
    stage->addresses_n += n;
    event->stack = (uint32_t)stage->stacks_n;
    event->schema = schema->id;
    event->flags &= (uint8_t)~TTR_EVENT_RAW;
    return true;
}

/* Returns an event of the input's batch. The buffer belongs to a reader of this library, which
 * lets stages change events until the next read (reader.h). */
static ttr_event *get_writable_event(const ttr_batch *batch, uint32_t i)
{
    return (ttr_event *)(uintptr_t)ttr_batch_at(batch, i);
}

/* Returns the events of the input's batch from `first` up to an index. */
static ttr_batch cut_events(struct stack_stage *stage, uint32_t end)
{
    const ttr_batch *all = &stage->batch;
    const uint32_t first = stage->first;
    stage->first = end;
    return (ttr_batch){.event = all->pick ? all->event : all->event + first,
                       .pick = all->pick ? all->pick + first : NULL,
                       .n = end - first};
}

static ttr_batch cut_symbols(struct stack_stage *stage)
{
    const ttr_batch batch = stack_symbols_batch(&stage->symbols, stage->symbols_at);
    stage->symbols_at += batch.n;
    if (stage->symbols_at == stage->symbols.n)
        stage->symbols_at = stage->symbols.n = 0;
    return batch;
}

static ttr_status stack_stage_read(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct stack_stage *stage = (struct stack_stage *)base;
    if (!stage->symbols.n && stage->first == stage->batch.n) {
        stage->first = stage->at = stage->batch.n = 0;
        stage->stacks_n = stage->addresses_n = 0;
        const ttr_status status = ttr_read(stage->in, &stage->batch, error);
        if (status != TTR_OK) {
            stage->batch.n = 0;
            return status;
        }
    }
    for (; stage->at < stage->batch.n && !stage->symbols.n; stage->at++) {
        ttr_event *event = get_writable_event(&stage->batch, stage->at);
        if ((event->stack || event->kind == TTR_KIND_SAMPLE) && !change_event(stage, event))
            return fail_memory(error);
    }
    /* the event that needs the symbols is the last one before `at`, and comes after them */
    const uint32_t end = stage->at - (stage->symbols.n > 0);
    *batch = end > stage->first ? cut_events(stage, end) : cut_symbols(stage);
    return TTR_OK;
}

/* --- Reader --- */

static void stack_stage_close(ttr_reader *base)
{
    struct stack_stage *stage = (struct stack_stage *)base;
    const struct alloc *alloc = &base->t->counted;
    for (size_t i = 0; i < stage->schemas_n; i++) {
        if (!stage->schema[i])
            continue;
        context_drop_schema(base->t, stage->schema[i]->id);
        alloc_free(alloc, stage->schema[i], 1, sizeof *stage->schema[i]);
    }
    stack_symbols_free(&stage->symbols);
    alloc_free(alloc, stage->schema, stage->schemas_n, sizeof *stage->schema);
    alloc_free(alloc, stage->stack, stage->stacks_capacity, sizeof *stage->stack);
    alloc_free(alloc, stage->address, stage->addresses_capacity, sizeof *stage->address);
    ttr_close(stage->in);
    alloc_free(alloc, stage, 1, sizeof *stage);
}

static bool stack_stage_get_report(ttr_reader *base, size_t index, ttr_report *report)
{
    return ttr_reader_report(((struct stack_stage *)base)->in, index, report);
}

static void stack_stage_assign_ranks(ttr_reader *base, uint32_t *next)
{
    reader_assign_ranks(((struct stack_stage *)base)->in, next);
}

static struct input *stack_stage_get_input(ttr_reader *base, size_t index)
{
    return reader_get_input(((struct stack_stage *)base)->in, index);
}

static void stack_stage_set_batch_size(ttr_reader *base, uint32_t batch)
{
    reader_set_batch_size(((struct stack_stage *)base)->in, batch);
}

static struct diagnostics *stack_stage_get_diagnostics(ttr_reader *base)
{
    return reader_get_diagnostics(((struct stack_stage *)base)->in);
}

ttr_reader *ttr_stack_fields(ttr_reader *in, ttr_error *error)
{
    static const struct reader_ops ops = {.next = stack_stage_read,
                                          .close = stack_stage_close,
                                          .set_batch_size = stack_stage_set_batch_size,
                                          .report = stack_stage_get_report,
                                          .rank = stack_stage_assign_ranks,
                                          .input = stack_stage_get_input,
                                          .notes = stack_stage_get_diagnostics};
    if (!in)
        return NULL;
    struct stack_stage *stage = alloc_zero(&in->t->counted, 1, sizeof *stage);
    if (!stage) {
        ttr_close(in);
        (void)fail_memory(error);
        return NULL;
    }
    stage->base = (ttr_reader){.t = in->t, .ops = &ops, .order = in->order, .reports = in->reports};
    stage->in = in;
    stack_symbols_init(&stage->symbols, in->t);
    return &stage->base;
}
