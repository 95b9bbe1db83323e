/* Iteration over the fields of any event, by the functions of its schema; names of field types and
 * event kinds. */
#include <string.h>

#include "model/context.h"

void ttr_fields_begin(const ttr *t, const ttr_event *event, ttr_fields *fields)
{
    fields_begin_with_schema(fields, context_schema(t, event->schema), event);
}

void ttr_fields_begin_group(const ttr *t, const ttr_event *event, ttr_group group,
                            ttr_fields *fields)
{
    const struct schema *schema = context_schema(t, event->schema);
    fields->event = event;
    fields->ops = schema->ops && schema->ops->begin_group ? schema->ops : NULL;
    fields->ctx = schema->ctx;
    if (fields->ops)
        schema->ops->begin_group(fields, group);
}

bool ttr_fields_next(ttr_fields *fields, ttr_field *field)
{
    const struct field_ops *ops = fields->ops;
    return ops && ops->next(fields, field);
}

bool ttr_fields_label(const ttr_fields *fields, const ttr_value *value, uint32_t i, ttr_text *label)
{
    const struct field_ops *ops = fields->ops;
    if (value->hint != TTR_DISPLAY_ENUM && value->hint != TTR_DISPLAY_FLAGS)
        return false;
    if (i >= value->count)
        return false;
    if (i > 0 && ops && ops->label)
        return ops->label(fields, value, i, label);
    /* the first label is in the value itself, which the caller may still have after the iteration
     * moved on */
    *label = value->text;
    return i == 0;
}

/* Addresses of a stack, as far as there is room for them. */
struct frames {
    uint64_t *address;
    uint32_t n, room;
};

static void add_frame(struct frames *frames, uint64_t address)
{
    if (frames->n < frames->room)
        frames->address[frames->n] = address;
    frames->n++;
}

static int get_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Adds the addresses in a text, "0x4011d6 0x7f3a21". */
static void add_frames_of_text(struct frames *frames, ttr_text text)
{
    for (size_t i = 0; i + 2 < text.n; i++) {
        uint64_t address = 0;
        const bool is_number = text.p[i] == '0' && text.p[i + 1] == 'x';
        for (i += 2; is_number && i < text.n && get_hex_digit(text.p[i]) >= 0; i++)
            address = address << 4 | (uint64_t)get_hex_digit(text.p[i]);
        if (is_number)
            add_frame(frames, address);
        while (i < text.n && text.p[i] != ' ')
            i++;
    }
}

/* Returns true if a field is a part of the event's stack: of samples the field "frames", else one
 * of the contexts of LTTng. Kernel addresses precede the others, as in LTTng's traces. A second
 * field of the same name is the stack at the end of a span, and no part. `*seen` has a bit per
 * name. */
static bool is_stack_field(const ttr_event *event, const ttr_field *field, unsigned *seen)
{
    static const ttr_text names[] = {
        {"callstack_kernel", 16}, {"callstack_user", 14}, {"frames", 6}};
    const size_t n = event->kind == TTR_KIND_SAMPLE ? 3 : 2;
    for (size_t i = 0; i < n; i++)
        if (field->name.n == names[i].n && memcmp(field->name.p, names[i].p, names[i].n) == 0) {
            const bool is_first = !(*seen >> i & 1);
            *seen |= 1u << i;
            return is_first;
        }
    return false;
}

/* Returns the addresses of an event's stack, stored in its fields. */
static uint32_t read_frames_field(const ttr *t, const ttr_event *event, uint64_t *addresses,
                                  uint32_t room)
{
    ttr_fields fields;
    ttr_field field;
    struct frames frames = {.address = addresses, .room = room};
    bool is_inside = false;
    unsigned seen = 0;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.depth == 0)
            is_inside = is_stack_field(event, &field, &seen);
        if (is_inside && field.depth == 1 && field.value.type == TTR_TYPE_UINT)
            add_frame(&frames, field.value.v.u);
        else if (is_inside && field.depth == 0 && field.value.type == TTR_TYPE_TEXT)
            add_frames_of_text(&frames, field.value.text);
    }
    return frames.n;
}

uint32_t ttr_event_frames(const ttr *t, const ttr_event *event, uint64_t *addresses, uint32_t room)
{
    const struct schema *schema = context_schema(t, event->schema);
    if (event->stack && schema->ops && schema->ops->frames)
        return schema->ops->frames(schema->ctx, event, addresses, room);
    return read_frames_field(t, event, addresses, room);
}

const uint64_t *ttr_event_stack(const ttr *t, const ttr_event *event, uint32_t *n)
{
    const struct schema *schema = context_schema(t, event->schema);
    *n = 0;
    return event->stack && schema->ops && schema->ops->stack
               ? schema->ops->stack(schema->ctx, event, n)
               : NULL;
}

bool ttr_field_find(const ttr *t, const ttr_event *event, const char *name, ttr_field *field)
{
    ttr_fields fields;
    size_t n = strlen(name);
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, field))
        if (field->depth == 0 && field->name.n == n && memcmp(field->name.p, name, n) == 0)
            return true;
    return false;
}

const char *ttr_kind_text(unsigned kind)
{
    static const char *const names[TTR_KIND_COUNT] = {
        [TTR_KIND_NONE] = "none",
        [TTR_KIND_INSTANT] = "instant",
        [TTR_KIND_BEGIN] = "begin",
        [TTR_KIND_END] = "end",
        [TTR_KIND_SPAN] = "span",
        [TTR_KIND_COUNTER] = "counter",
        [TTR_KIND_ASYNC_BEGIN] = "async_begin",
        [TTR_KIND_ASYNC_STEP] = "async_step",
        [TTR_KIND_ASYNC_END] = "async_end",
        [TTR_KIND_FLOW_BEGIN] = "flow_begin",
        [TTR_KIND_FLOW_STEP] = "flow_step",
        [TTR_KIND_FLOW_END] = "flow_end",
        [TTR_KIND_SWITCH] = "switch",
        [TTR_KIND_WAKE] = "wake",
        [TTR_KIND_SAMPLE] = "sample",
        [TTR_KIND_LOG] = "log",
        [TTR_KIND_BLOB] = "blob",
        [TTR_KIND_OBJECT] = "object",
        [TTR_KIND_GAP] = "gap",
        [TTR_KIND_DEFINITION] = "definition",
    };
    return kind < TTR_KIND_COUNT ? names[kind] : "none";
}

const char *ttr_thread_state_text(unsigned state)
{
    static const char *const names[] = {
        [TTR_THREAD_NEW] = "new",
        [TTR_THREAD_RUNNING] = "running",
        [TTR_THREAD_SUSPENDED] = "suspended",
        [TTR_THREAD_BLOCKED] = "blocked",
        [TTR_THREAD_DYING] = "dying",
        [TTR_THREAD_DEAD] = "dead",
        [TTR_THREAD_UNINTERRUPTIBLE] = "uninterruptible",
        [TTR_THREAD_PREEMPTED] = "preempted",
    };
    return state < sizeof names / sizeof *names ? names[state] : NULL;
}

const char *ttr_type_text(unsigned type)
{
    static const char *const names[TTR_TYPE_COUNT] = {
        [TTR_TYPE_NULL] = "null",   [TTR_TYPE_BOOL] = "bool",   [TTR_TYPE_UINT] = "uint",
        [TTR_TYPE_INT] = "int",     [TTR_TYPE_FLOAT] = "float", [TTR_TYPE_TEXT] = "text",
        [TTR_TYPE_BYTES] = "bytes", [TTR_TYPE_ARRAY] = "array", [TTR_TYPE_STRUCT] = "struct",
    };
    return type < TTR_TYPE_COUNT ? names[type] : "unknown";
}

const char *ttr_version(void)
{
    return TTR_VERSION_TEXT;
}
