/* Iterator over the values of a payload, which follows a compiled plan or the metadata. Stops at
 * the first value that does not fit in the payload. */
#include <string.h>

#include "base/find_zero.h"
#include "encodings/event_header/event_header_parts.h"

void event_header_iter_begin(struct event_header_iter *iter, const struct event_header_plan *plan,
                             const struct event_header_parts *parts)
{
    ttr_text name;
    iter->plan = plan;
    iter->metadata =
        (struct event_header_metadata){parts->metadata, parts->metadata_n, parts->is_big_endian};
    iter->data = parts->payload;
    iter->at = 0;
    iter->end = plan ? plan->steps : parts->metadata_n;
    iter->elements = 0;
    iter->element_budget = EVENT_HEADER_EMPTY_ELEMENTS_MAX + (uint64_t)cursor_left(&parts->payload);
    iter->levels = 0;
    iter->is_element = false;
    iter->why = NULL;
    iter->level[0] = (struct event_header_level){.members = UINT32_MAX};
    if (!plan && parts->metadata)
        iter->at = event_header_read_event_name(&iter->metadata, &name);
    if (iter->at > iter->end)
        iter->at = iter->end;
}

static enum event_header_iter_result stop_iteration(struct event_header_iter *iter, const char *why)
{
    iter->why = why;
    iter->at = iter->end;
    iter->elements = 0;
    iter->levels = 0;
    return EVENT_HEADER_ITER_END;
}

static uint16_t read_payload_u16(struct event_header_iter *iter)
{
    return iter->metadata.is_big_endian ? cursor_u16be(&iter->data) : cursor_u16le(&iter->data);
}

/* Returns the number of bytes before the first zero character of `unit` bytes (2 or 4); `n` if
 * there is none. */
static uint32_t get_wide_string_length(const uint8_t *p, size_t n, unsigned unit)
{
    size_t at = 0;
    while (n - at >= unit && (unit == 2 ? load_u16le(p + at) : load_u32le(p + at)) != 0)
        at += unit;
    return (uint32_t)at;
}

static enum event_header_iter_result read_zstring(struct event_header_iter *iter, unsigned unit)
{
    size_t left = cursor_left(&iter->data);
    const uint8_t *p = iter->data.p;
    if (unit == 1) {
        const uint8_t *zero = left ? find_zero(p, p, iter->data.end) : NULL;
        iter->value_n = (uint32_t)(zero ? (size_t)(zero - p) : left);
    } else {
        iter->value_n = get_wide_string_length(p, left, unit);
    }
    bool is_ended = left - iter->value_n >= unit;
    iter->value = cursor_read_bytes(&iter->data, iter->value_n);
    if (!is_ended) {
        (void)stop_iteration(iter, "string has no end");
        return iter->value_n ? EVENT_HEADER_ITER_VALUE : EVENT_HEADER_ITER_END;
    }
    (void)cursor_skip(&iter->data, unit);
    return EVENT_HEADER_ITER_VALUE;
}

/* Reads one value of the current field. Ends the iteration if the value is cut off. */
static inline enum event_header_iter_result read_value(struct event_header_iter *iter)
{
    const struct event_header_step *step = iter->step;
    if (step->bytes) {
        iter->value_n = step->bytes;
        iter->value = cursor_read_bytes(&iter->data, step->bytes);
    } else if (step->encoding < EVENT_HEADER_STRING8) {
        return read_zstring(iter, step->unit);
    } else {
        struct cursor before = iter->data;
        iter->value_n = (uint32_t)read_payload_u16(iter) * step->unit;
        iter->value = iter->data.failed ? NULL : cursor_read_bytes(&iter->data, iter->value_n);
        if (!iter->value)
            iter->data = before;
    }
    return iter->value ? EVENT_HEADER_ITER_VALUE
                       : stop_iteration(iter, "payload ends before its last field");
}

/* --- Structs and arrays of structs, by a stack of levels --- */

/* Skips the declarations of the members of an array of structs that is empty. */
static void skip_members(struct event_header_iter *iter)
{
    uint8_t members_found;
    iter->at = iter->plan ? iter->step->after_members
                          : event_header_skip_fields(&iter->metadata, iter->at, iter->step->members,
                                                     &members_found);
}

static enum event_header_iter_result start_struct(struct event_header_iter *iter, uint32_t elements)
{
    const struct event_header_level *outer = &iter->level[iter->levels];
    if (iter->levels == EVENT_HEADER_DEPTH_MAX)
        return stop_iteration(iter, "structs are nested more than 8 deep");
    uint8_t members_found = iter->step->members_found;
    if (!iter->plan)
        (void)event_header_skip_fields(&iter->metadata, iter->at, iter->step->members,
                                       &members_found);
    bool is_array = iter->step->array != ARRAY_NONE;
    iter->level[++iter->levels] =
        (struct event_header_level){.first = iter->at,
                                    .elements = elements,
                                    .members_declared = iter->step->members,
                                    .members_found = members_found,
                                    .depth = (uint8_t)(outer->depth + 1 + is_array),
                                    .is_array = is_array};
    return EVENT_HEADER_ITER_STRUCT;
}

/* Starts the next element of the innermost array of structs. Returns false and leaves the array if
 * it has no more elements. */
static bool next_struct_element(struct event_header_iter *iter)
{
    struct event_header_level *level = &iter->level[iter->levels];
    if (level->elements == 0) {
        iter->levels--;
        return false;
    }
    if (iter->element_budget-- == 0)
        return !stop_iteration(iter, "more than 4096 structs without data");
    level->elements--;
    level->members = level->members_declared;
    iter->at = level->first;
    iter->count = level->members_found;
    iter->depth = (uint8_t)(level->depth - 1);
    iter->is_element = true;
    return true;
}

/* --- Fields of the innermost level --- */

static const char *parse_or_load_field_step(struct event_header_iter *iter)
{
    if (iter->plan) {
        iter->step = &iter->plan->step[iter->at];
        iter->at = iter->step->next;
        return NULL;
    }
    const char *why = event_header_parse_field(&iter->metadata, iter->at, &iter->direct_step);
    iter->step = &iter->direct_step;
    iter->at = iter->direct_step.next;
    return why;
}

static enum event_header_iter_result start_array(struct event_header_iter *iter)
{
    const struct event_header_step *step = iter->step;
    if (step->array == ARRAY_COUNTED && cursor_left(&iter->data) < 2)
        return stop_iteration(iter, "payload ends before its last field");
    iter->count = step->array == ARRAY_FIXED ? step->count : read_payload_u16(iter);
    if (!step->members) {
        iter->elements = iter->count;
        return EVENT_HEADER_ITER_ARRAY;
    }
    if (iter->count == 0) {
        skip_members(iter);
        return EVENT_HEADER_ITER_ARRAY;
    }
    return start_struct(iter, iter->count) == EVENT_HEADER_ITER_STRUCT ? EVENT_HEADER_ITER_ARRAY
                                                                       : EVENT_HEADER_ITER_END;
}

static enum event_header_iter_result next_field(struct event_header_iter *iter)
{
    struct event_header_level *level = &iter->level[iter->levels];
    const char *why = parse_or_load_field_step(iter);
    if (why)
        return stop_iteration(iter, why);
    level->members--;
    iter->depth = level->depth;
    iter->is_element = false;
    if (iter->step->array)
        return start_array(iter);
    if (!iter->step->members)
        return read_value(iter);
    if (start_struct(iter, 0) != EVENT_HEADER_ITER_STRUCT)
        return EVENT_HEADER_ITER_END;
    level = &iter->level[iter->levels];
    level->members = level->members_declared;
    iter->count = level->members_found;
    return EVENT_HEADER_ITER_STRUCT;
}

/* Returns true if the metadata end with damage, such as a struct with missing members. If they end
 * between top-level fields, they are complete. */
static bool is_metadata_damaged(const struct event_header_iter *iter)
{
    return iter->plan && iter->plan->why;
}

enum event_header_iter_result event_header_iter_next(struct event_header_iter *iter)
{
    if (iter->elements) {
        iter->elements--;
        iter->depth = (uint8_t)(iter->level[iter->levels].depth + 1);
        iter->is_element = true;
        return read_value(iter);
    }
    while (iter->levels > 0) {
        const struct event_header_level *level = &iter->level[iter->levels];
        if (level->members > 0 && (iter->at != iter->end || is_metadata_damaged(iter)))
            break;
        if (next_struct_element(iter))
            return iter->why ? EVENT_HEADER_ITER_END : EVENT_HEADER_ITER_STRUCT;
    }
    if (iter->at != iter->end)
        return next_field(iter);
    return stop_iteration(iter,
                          !iter->why && is_metadata_damaged(iter) ? iter->plan->why : iter->why);
}

bool event_header_payload_fits(const struct event_header_plan *plan, struct cursor payload)
{
    const uint8_t *p;
    uint32_t size;
    if (plan->why || plan->has_struct_arrays)
        return false;
    for (const struct event_header_step *step = plan->step, *end = step + plan->steps; step < end;
         step++) {
        uint32_t n = step->array == ARRAY_NONE ? 1 : step->count;
        if (step->array == ARRAY_COUNTED)
            n = plan->is_big_endian ? cursor_u16be(&payload) : cursor_u16le(&payload);
        if (step->bytes)
            (void)cursor_skip(&payload, (uint64_t)n * step->bytes);
        for (; !step->bytes && !step->members && n > 0; n--)
            if (!event_header_read_value(step, plan->is_big_endian, &payload, &p, &size))
                return false;
    }
    return !payload.failed;
}
