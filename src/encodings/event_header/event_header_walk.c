/* Iterator over the values of a payload. It is driven by a compiled plan, or directly by the
 * metadata. It stops at the first value that the payload is too short for. */
#include <string.h>

#include "base/find_zero.h"
#include "encodings/event_header/event_header_parts.h"

void event_header_walk_begin(struct event_header_walk *walk, const struct event_header_plan *plan,
                             const struct event_header_parts *parts)
{
    ttr_text name;
    walk->plan = plan;
    walk->metadata =
        (struct event_header_metadata){parts->metadata, parts->metadata_n, parts->is_big_endian};
    walk->data = parts->payload;
    walk->at = 0;
    walk->end = plan ? plan->steps : parts->metadata_n;
    walk->elements = 0;
    walk->spins = EVENT_HEADER_SPINS + (uint64_t)cursor_left(&parts->payload);
    walk->levels = 0;
    walk->is_element = false;
    walk->why = NULL;
    walk->level[0] = (struct event_header_level){.members = UINT32_MAX};
    if (!plan && parts->metadata)
        walk->at = event_header_event_name(&walk->metadata, &name);
    if (walk->at > walk->end)
        walk->at = walk->end;
}

static enum event_header_place stop(struct event_header_walk *walk, const char *why)
{
    walk->why = why;
    walk->at = walk->end;
    walk->elements = 0;
    walk->levels = 0;
    return PLACE_END;
}

static uint16_t take_u16(struct event_header_walk *walk)
{
    return walk->metadata.is_big_endian ? cursor_u16be(&walk->data) : cursor_u16le(&walk->data);
}

/* Returns the bytes before a zero character of 2 or 4 bytes, or before the end of the data. */
static uint32_t wide_length(const uint8_t *p, size_t n, unsigned unit)
{
    size_t at = 0;
    while (n - at >= unit && (unit == 2 ? load_u16le(p + at) : load_u32le(p + at)) != 0)
        at += unit;
    return (uint32_t)at;
}

static enum event_header_place give_zstring(struct event_header_walk *walk, unsigned unit)
{
    size_t left = cursor_left(&walk->data);
    const uint8_t *p = walk->data.p;
    if (unit == 1) {
        const uint8_t *zero = left ? find_zero(p, p, walk->data.end) : NULL;
        walk->value_n = (uint32_t)(zero ? (size_t)(zero - p) : left);
    } else {
        walk->value_n = wide_length(p, left, unit);
    }
    bool is_ended = left - walk->value_n >= unit;
    walk->value = cursor_take(&walk->data, walk->value_n);
    if (!is_ended) {
        (void)stop(walk, "a string has no end");
        return walk->value_n ? PLACE_VALUE : PLACE_END;
    }
    (void)cursor_skip(&walk->data, unit);
    return PLACE_VALUE;
}

/* Reads one value of the current step; stops the iteration if it is truncated. */
static inline enum event_header_place give_value(struct event_header_walk *walk)
{
    const struct event_header_step *step = walk->step;
    if (step->bytes) {
        walk->value_n = step->bytes;
        walk->value = cursor_take(&walk->data, step->bytes);
    } else if (step->encoding < EVENT_HEADER_STRING8) {
        return give_zstring(walk, step->unit);
    } else {
        struct cursor before = walk->data;
        walk->value_n = (uint32_t)take_u16(walk) * step->unit;
        walk->value = walk->data.failed ? NULL : cursor_take(&walk->data, walk->value_n);
        if (!walk->value)
            walk->data = before;
    }
    return walk->value ? PLACE_VALUE : stop(walk, "the payload ends before its fields do");
}

/* --- Structs and arrays of structs: a stack of levels --- */

/* Skips the member declarations of an empty array of structs. */
static void pass_members(struct event_header_walk *walk)
{
    uint8_t direct;
    walk->at = walk->plan
                   ? walk->step->behind
                   : event_header_pass(&walk->metadata, walk->at, walk->step->members, &direct);
}

static enum event_header_place open_struct(struct event_header_walk *walk, uint32_t elements)
{
    const struct event_header_level *outer = &walk->level[walk->levels];
    if (walk->levels == EVENT_HEADER_DEPTH)
        return stop(walk, "structs inside one another, more than 8");
    uint8_t direct = walk->step->direct;
    if (!walk->plan)
        (void)event_header_pass(&walk->metadata, walk->at, walk->step->members, &direct);
    bool is_array = walk->step->array != ARRAY_NONE;
    walk->level[++walk->levels] =
        (struct event_header_level){.first = walk->at,
                                    .elements = elements,
                                    .announced = walk->step->members,
                                    .direct = direct,
                                    .depth = (uint8_t)(outer->depth + 1 + is_array),
                                    .is_array = is_array};
    return PLACE_STRUCT;
}

/* Starts the next element of the innermost array of structs. Returns false, and closes the level,
 * if no elements remain. */
static bool next_struct(struct event_header_walk *walk)
{
    struct event_header_level *level = &walk->level[walk->levels];
    if (level->elements == 0) {
        walk->levels--;
        return false;
    }
    if (walk->spins-- == 0)
        return !stop(walk, "more structs than anybody writes");
    level->elements--;
    level->members = level->announced;
    walk->at = level->first;
    walk->count = level->direct;
    walk->depth = (uint8_t)(level->depth - 1);
    walk->is_element = true;
    return true;
}

/* --- Fields of the current level --- */

static const char *fetch(struct event_header_walk *walk)
{
    if (walk->plan) {
        walk->step = &walk->plan->step[walk->at];
        walk->at = walk->step->next;
        return NULL;
    }
    const char *why = event_header_step_make(&walk->metadata, walk->at, &walk->loose);
    walk->step = &walk->loose;
    walk->at = walk->loose.next;
    return why;
}

static enum event_header_place begin_array(struct event_header_walk *walk)
{
    const struct event_header_step *step = walk->step;
    if (step->array == ARRAY_COUNTED && cursor_left(&walk->data) < 2)
        return stop(walk, "the payload ends before its fields do");
    walk->count = step->array == ARRAY_FIXED ? step->count : take_u16(walk);
    if (!step->members) {
        walk->elements = walk->count;
        return PLACE_ARRAY;
    }
    if (walk->count == 0) {
        pass_members(walk);
        return PLACE_ARRAY;
    }
    return open_struct(walk, walk->count) == PLACE_STRUCT ? PLACE_ARRAY : PLACE_END;
}

static enum event_header_place next_field(struct event_header_walk *walk)
{
    struct event_header_level *level = &walk->level[walk->levels];
    const char *why = fetch(walk);
    if (why)
        return stop(walk, why);
    level->members--;
    walk->depth = level->depth;
    walk->is_element = false;
    if (walk->step->array)
        return begin_array(walk);
    if (!walk->step->members)
        return give_value(walk);
    if (open_struct(walk, 0) != PLACE_STRUCT)
        return PLACE_END;
    level = &walk->level[walk->levels];
    level->members = level->announced;
    walk->count = level->direct;
    return PLACE_STRUCT;
}

/* Returns true if damage cut the metadata short. A struct with missing members is an error then;
 * metadata that simply end early are allowed to omit members. */
static bool is_broken_off(const struct event_header_walk *walk)
{
    return walk->plan && walk->plan->why;
}

enum event_header_place event_header_walk_next(struct event_header_walk *walk)
{
    if (walk->elements) {
        walk->elements--;
        walk->depth = (uint8_t)(walk->level[walk->levels].depth + 1);
        walk->is_element = true;
        return give_value(walk);
    }
    while (walk->levels > 0) {
        const struct event_header_level *level = &walk->level[walk->levels];
        if (level->members > 0 && (walk->at != walk->end || is_broken_off(walk)))
            break;
        if (next_struct(walk))
            return walk->why ? PLACE_END : PLACE_STRUCT;
    }
    if (walk->at != walk->end)
        return next_field(walk);
    return stop(walk, !walk->why && is_broken_off(walk) ? walk->plan->why : walk->why);
}

bool event_header_fits(const struct event_header_plan *plan, struct cursor payload)
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
            if (!event_header_next_value(step, plan->is_big_endian, &payload, &p, &size))
                return false;
    }
    return !payload.failed;
}
