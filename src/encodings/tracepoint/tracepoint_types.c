/* Types of the fields that tracepoints and EventHeader metadata declare, for
 * format_description.describe. Left out: names of values, which only print formats contain, and
 * the character sets of EventHeader strings. */
#include "encodings/event_header/event_header_parts.h"
#include "encodings/tracepoint/tracepoint.h"
#include "model/type.h"

static struct type *copy_type(struct arena *arena, struct type type)
{
    struct type *made = arena_alloc(arena, sizeof *made);
    if (made)
        *made = type;
    return made;
}

/* --- Fields of tracepoints --- */

static const struct type *make_field_type(const struct tracepoint *tp,
                                          const struct tracepoint_field *field)
{
    static const uint8_t kinds[] = {
        [TRACEPOINT_UINT] = TYPE_UINT,  [TRACEPOINT_INT] = TYPE_INT,
        [TRACEPOINT_BOOL] = TYPE_BOOL,  [TRACEPOINT_POINTER] = TYPE_UINT,
        [TRACEPOINT_TEXT] = TYPE_TEXT,  [TRACEPOINT_BYTES] = TYPE_BLOB,
        [TRACEPOINT_ARRAY] = TYPE_ARRAY};
    struct arena *arena = &tp->all->arena;
    bool is_here = field->place == TRACEPOINT_HERE;
    struct type type = {.kind = kinds[field->shape],
                        .is_big_endian = tp->all->spec.is_big_endian,
                        .bits = field->size * 8,
                        .count = field->size,
                        .has_inline_length = !is_here};
    if (field->shape == TRACEPOINT_POINTER) {
        type.hint = TTR_DISPLAY_POINTER;
        type.base = 16;
    } else if (field->shape == TRACEPOINT_TEXT) {
        type.bits = 8;
        type.kind = is_here ? TYPE_TEXT : TYPE_STRING;
        type.has_inline_length = false;
    } else if (field->shape == TRACEPOINT_ARRAY) {
        type.kind = is_here ? TYPE_ARRAY : TYPE_SEQUENCE;
        type.count = field->element ? field->size / field->element : 0;
        type.element =
            copy_type(arena, (struct type){.kind = field->is_signed ? TYPE_INT : TYPE_UINT,
                                           .bits = field->element * 8u,
                                           .is_big_endian = type.is_big_endian});
        if (!type.element)
            return NULL;
    }
    return copy_type(arena, type);
}

static const struct type *make_payload_type(const struct tracepoint *tp)
{
    struct arena *arena = &tp->all->arena;
    uint32_t n = tp->fields_n - tp->common_n;
    struct type_member *members = arena_alloc(arena, (n + (size_t)1) * sizeof *members);
    for (uint32_t i = 0; members && i < n; i++) {
        const struct tracepoint_field *field = &tp->field[tp->common_n + i];
        members[i] = (struct type_member){.name = field->name, .type = make_field_type(tp, field)};
        members = members[i].type ? members : NULL;
    }
    return members
               ? copy_type(arena,
                           (struct type){.kind = TYPE_STRUCT, .members = members, .members_n = n})
               : NULL;
}

const struct type *tracepoint_make_fields_type(const struct tracepoint *tp)
{
    if (tp->lazy && !tp->lazy->type && !tp->is_broken)
        tp->lazy->type = make_payload_type(tp);
    return tp->lazy ? tp->lazy->type : NULL;
}

/* --- Fields of EventHeader events, by a compiled plan --- */

static struct type make_step_type(const struct event_header_step *step, bool is_big_endian)
{
    struct type type = {.kind = TYPE_UINT,
                        .bits = step->bytes * 8u,
                        .is_big_endian = is_big_endian || step->meaning == EVENT_HEADER_PORT};
    if (step->unit)
        return (struct type){.kind = step->encoding == EVENT_HEADER_BINARY   ? TYPE_BLOB
                                     : step->encoding < EVENT_HEADER_STRING8 ? TYPE_STRING
                                                                             : TYPE_TEXT,
                             .bits = step->unit * 8u,
                             .has_inline_length = step->encoding >= EVENT_HEADER_STRING8};
    switch (step->meaning) {
    case EVENT_HEADER_SIGNED:
    case EVENT_HEADER_PID:
    case EVENT_HEADER_ERRNO:
        type.kind = TYPE_INT;
        break;
    case EVENT_HEADER_HEX:
        type.base = 16;
        break;
    case EVENT_HEADER_FLOAT:
        type.kind = TYPE_FLOAT;
        break;
    case EVENT_HEADER_BOOLEAN:
        type.kind = TYPE_BOOL;
        break;
    case EVENT_HEADER_HEX_BYTES:
        type = (struct type){.kind = TYPE_BLOB, .count = step->bytes};
        break;
    case EVENT_HEADER_UNSIGNED:
    case EVENT_HEADER_PORT:
        break;
    default:
        type = (struct type){.kind = TYPE_TEXT, .bits = 8, .count = step->bytes};
        break; /* values that are decoded to text, such as times and addresses */
    }
    return type;
}

static const struct type *make_struct_type(struct arena *arena,
                                           const struct event_header_plan *plan, uint32_t at,
                                           uint32_t end, unsigned depth)
{
    struct type_member *members = arena_alloc(arena, (end - at + (size_t)1) * sizeof *members);
    uint32_t n = 0;
    while (members && at < end) {
        const struct event_header_step *step = &plan->step[at];
        struct type value = make_step_type(step, plan->is_big_endian);
        const struct type *type =
            step->members && depth < EVENT_HEADER_DEPTH_MAX
                ? make_struct_type(arena, plan, at + 1, step->after_members, depth + 1)
                : copy_type(arena, value);
        if (type && step->array)
            type =
                copy_type(arena, (struct type){.kind = step->array == ARRAY_FIXED ? TYPE_ARRAY
                                                                                  : TYPE_SEQUENCE,
                                               .count = step->count,
                                               .element = type,
                                               .has_inline_length = step->array == ARRAY_COUNTED});
        at = step->members ? step->after_members : at + 1;
        members[n++] = (struct type_member){.name = step->name, .type = type};
        members = type ? members : NULL;
    }
    return members
               ? copy_type(arena,
                           (struct type){.kind = TYPE_STRUCT, .members = members, .members_n = n})
               : NULL;
}

bool event_header_describe_class(struct event_header_decoder *all, size_t i,
                                 struct event_class *description, uint64_t *events)
{
    if (!all || i >= all->plans_n)
        return false;
    struct event_header_plan *plan = all->plan[i];
    const struct event_header_tracepoint *kind = plan->kind;
    if (!plan->type)
        plan->type = make_struct_type(&all->arena, plan, 0, plan->steps, 0);
    *description = (struct event_class){.name = ttr_text_get(all->spec.t, plan->name),
                                        .id = i,
                                        .stream_id = kind->provider,
                                        .stream_name = kind->name.provider,
                                        .emf_uri = {"", 0}};
    description->root[ROOT_PAYLOAD] = plan->type;
    *events = *plan->events;
    return true;
}

bool tracepoints_describe_header_class(struct tracepoints *all, size_t i,
                                       struct event_class *description, uint64_t *events)
{
    return event_header_describe_class(all->headers, i, description, events);
}

bool tracepoints_describe_class(struct tracepoints *all, size_t i, struct event_class *description,
                                uint64_t *events)
{
    for (size_t k = 0; k < all->kinds_n; k++) {
        const struct tracepoint *tp = all->kind[k];
        if (tp->lazy->events == 0 || i-- > 0)
            continue;
        *description = (struct event_class){.name = tp->name,
                                            .id = tp->id,
                                            .stream_id = tp->provider_id,
                                            .stream_name = tp->system,
                                            .emf_uri = {"", 0}};
        description->root[ROOT_PAYLOAD] = tracepoint_make_fields_type(tp);
        *events = tp->lazy->events;
        return true;
    }
    return event_header_describe_class(all->headers, i, description, events);
}
