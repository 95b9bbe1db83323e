/* Parser of field declarations, and compiler of plans.
 *
 * Declarations are stored consecutively; the members of a struct follow it. A damaged declaration
 * ends the metadata, since the position of the next declaration is unknown. Fields before the
 * damage are decoded. */
#include <string.h>

#include "encodings/event_header/event_header_parts.h"

static ttr_text read_string_at(const struct event_header_metadata *metadata, uint32_t at)
{
    const uint8_t *begin = metadata->p + at, *zero = memchr(begin, 0, metadata->n - at);
    return (ttr_text){(const char *)begin, zero ? (size_t)(zero - begin) : SIZE_MAX};
}

uint32_t event_header_read_event_name(const struct event_header_metadata *metadata, ttr_text *name)
{
    *name = metadata->n ? read_string_at(metadata, 0) : (ttr_text){"", SIZE_MAX};
    if (name->n != SIZE_MAX)
        return (uint32_t)name->n + 1;
    *name = (ttr_text){(const char *)metadata->p, metadata->n};
    return UINT32_MAX;
}

static uint16_t read_metadata_u16(struct cursor *c, bool is_big_endian)
{
    return is_big_endian ? cursor_u16be(c) : cursor_u16le(c);
}

/* Derives value size, character size and format from a field's encoding. Returns NULL, or a static
 * description of the damage. */
static const char *derive_value_form(struct event_header_step *step)
{
    static const uint8_t bytes[EVENT_HEADER_ENCODINGS] = {[EVENT_HEADER_VALUE8] = 1,
                                                          [EVENT_HEADER_VALUE16] = 2,
                                                          [EVENT_HEADER_VALUE32] = 4,
                                                          [EVENT_HEADER_VALUE64] = 8,
                                                          [EVENT_HEADER_VALUE128] = 16};
    static const uint8_t units[EVENT_HEADER_ENCODINGS] = {
        [EVENT_HEADER_ZSTRING8] = 1, [EVENT_HEADER_ZSTRING16] = 2, [EVENT_HEADER_ZSTRING32] = 4,
        [EVENT_HEADER_STRING8] = 1,  [EVENT_HEADER_STRING16] = 2,  [EVENT_HEADER_STRING32] = 4,
        [EVENT_HEADER_BINARY] = 1};
    if (step->encoding == 0)
        return "field has encoding 0, which is invalid";
    if (step->encoding >= EVENT_HEADER_ENCODINGS)
        return "field has an unknown encoding (14 to 31 are reserved)";
    if (step->encoding == EVENT_HEADER_STRUCT && step->format == 0)
        return "struct has no fields";
    if (step->array == ARRAY_FIXED && step->count == 0)
        return "array has the fixed length 0";
    step->members = step->encoding == EVENT_HEADER_STRUCT ? step->format : 0;
    step->bytes = bytes[step->encoding];
    step->unit = units[step->encoding];
    bool is_of_any_size =
        step->encoding == EVENT_HEADER_STRING8 || step->encoding == EVENT_HEADER_BINARY;
    if (!step->members && !is_of_any_size)
        step->meaning =
            (uint8_t)event_header_get_effective_format(step->encoding, step->format, step->bytes);
    return NULL;
}

const char *event_header_parse_field(const struct event_header_metadata *metadata, uint32_t at,
                                     struct event_header_step *step)
{
    ttr_text name = read_string_at(metadata, at);
    if (name.n == SIZE_MAX)
        return "name of a field has no terminating zero";
    *step = (struct event_header_step){.name = event_header_strip_attributes(name), .at = at};
    struct cursor c = cursor_init(metadata->p + at, metadata->n - at, at);
    (void)cursor_skip(&c, name.n + 1);
    unsigned encoding = cursor_u8(&c),
             format = encoding & EVENT_HEADER_HAS_FORMAT ? cursor_u8(&c) : 0;
    step->tag = format & EVENT_HEADER_HAS_TAG ? read_metadata_u16(&c, metadata->is_big_endian) : 0;
    step->count =
        encoding & EVENT_HEADER_FIXED_ARRAY ? read_metadata_u16(&c, metadata->is_big_endian) : 0;
    step->encoding = encoding & EVENT_HEADER_ENCODING;
    step->format = format & EVENT_HEADER_FORMAT;
    step->array = encoding & EVENT_HEADER_FIXED_ARRAY     ? ARRAY_FIXED
                  : encoding & EVENT_HEADER_COUNTED_ARRAY ? ARRAY_COUNTED
                                                          : ARRAY_NONE;
    step->next = (uint32_t)c.offset;
    if ((encoding & EVENT_HEADER_FIXED_ARRAY) && (encoding & EVENT_HEADER_COUNTED_ARRAY))
        return "array has both a fixed and a counted length";
    if (c.failed)
        return "declaration of a field is truncated";
    return derive_value_form(step);
}

/* A struct in which `left` members are still to be compiled. */
struct unfinished_struct {
    uint32_t left;
    uint32_t index; /* index of the struct among the fields of the plan */
};

uint32_t event_header_skip_fields(const struct event_header_metadata *metadata, uint32_t at,
                                  unsigned members, uint8_t *members_found)
{
    struct event_header_step step;
    uint32_t left[EVENT_HEADER_DEPTH_MAX + 1] = {members};
    unsigned depth = 0;
    *members_found = 0;
    while (at < metadata->n) {
        while (left[depth] == 0 && depth > 0)
            depth--;
        if (left[depth] == 0 || event_header_parse_field(metadata, at, &step))
            break;
        left[depth]--;
        *members_found = (uint8_t)(*members_found + (depth == 0));
        at = step.next;
        if (step.members && depth < EVENT_HEADER_DEPTH_MAX)
            left[++depth] = step.members;
    }
    return at;
}

/* --- Compiler of plans --- */

struct plan_compiler {
    struct event_header_decoder *all;
    struct event_header_metadata metadata;
    struct event_header_step *steps;
    uint32_t n;
    /* stack of the structs that are not complete */
    struct unfinished_struct open[EVENT_HEADER_DEPTH_MAX];
    unsigned depth;
    const char *why;
};

static void close_finished_structs(struct plan_compiler *compiler, bool is_end)
{
    while (compiler->depth > 0 && (is_end || compiler->open[compiler->depth - 1].left == 0))
        compiler->steps[compiler->open[--compiler->depth].index].after_members = compiler->n;
}

/* Compiles the declaration at `*at`, and sets `*at` to the next one. If the declaration is
 * damaged, returns false and sets compiler->why. */
static bool compile_field(struct plan_compiler *compiler, uint32_t *at)
{
    struct event_header_step *step = &compiler->steps[compiler->n];
    compiler->why = event_header_parse_field(&compiler->metadata, *at, step);
    if (!compiler->why && step->members && compiler->depth == EVENT_HEADER_DEPTH_MAX)
        compiler->why = "structs are nested more than 8 deep";
    if (compiler->why)
        return false;
    *at = step->next;
    step->next = compiler->n + 1;
    if (compiler->depth > 0) {
        struct unfinished_struct *open = &compiler->open[compiler->depth - 1];
        open->left--;
        compiler->steps[open->index].members_found++;
    }
    if (step->members)
        compiler->open[compiler->depth++] =
            (struct unfinished_struct){.left = step->members, .index = compiler->n};
    compiler->n++;
    close_finished_structs(compiler, false);
    return true;
}

/* Returns the size in bytes of the payload if it is constant; EVENT_HEADER_VARIES if there are
 * strings or arrays of variable size. */
static uint32_t compute_fixed_size(const struct plan_compiler *compiler)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < compiler->n; i++) {
        const struct event_header_step *step = &compiler->steps[i];
        if (step->array == ARRAY_COUNTED || step->unit || (step->members && step->array))
            return EVENT_HEADER_VARIES;
        size += (uint64_t)step->bytes * (step->array ? step->count : 1u);
    }
    return size < EVENT_HEADER_VARIES ? (uint32_t)size : EVENT_HEADER_VARIES;
}

/* Allocates steps for all fields from `at` on and for one damaged field. Counts the fields first,
 * because an array in the arena cannot grow. */
static bool allocate_steps(struct plan_compiler *compiler, uint32_t at)
{
    size_t n = 1;
    struct event_header_step step;
    while (at < compiler->metadata.n && !event_header_parse_field(&compiler->metadata, at, &step)) {
        at = step.next;
        n++;
    }
    compiler->steps = arena_alloc(&compiler->all->arena, n * sizeof *compiler->steps);
    return compiler->steps != NULL;
}

static bool intern_step_names(struct plan_compiler *compiler)
{
    for (uint32_t i = 0; i < compiler->n; i++) {
        struct event_header_step *step = &compiler->steps[i];
        uint32_t id = intern_add(&compiler->all->spec.t->strings, step->name.p, step->name.n);
        if (id == UINT32_MAX)
            return false;
        step->name_id = id;
        step->name = ttr_text_get(compiler->all->spec.t, id);
    }
    return true;
}

bool event_header_compile_plan(struct event_header_decoder *all, struct event_header_plan *plan,
                               uint32_t first)
{
    struct plan_compiler compiler = {.all = all,
                                     .metadata = {plan->bytes, plan->bytes_n, plan->is_big_endian}};
    uint32_t at = first;
    if (!allocate_steps(&compiler, at))
        return false;
    while (at < plan->bytes_n && compile_field(&compiler, &at))
        continue;
    close_finished_structs(&compiler, true);
    plan->step = compiler.steps;
    plan->steps = compiler.n;
    plan->why = compiler.why;
    plan->has_attributes = plan->bytes_n && memchr(plan->bytes, ';', plan->bytes_n);
    plan->size = compute_fixed_size(&compiler);
    for (uint32_t i = 0; i < plan->steps; i++)
        plan->has_struct_arrays |= plan->step[i].members && plan->step[i].array;
    return intern_step_names(&compiler);
}
