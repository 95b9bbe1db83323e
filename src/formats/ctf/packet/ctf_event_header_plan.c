/* Event header plans: compiled from the event header type of a stream class, then executed for each
 * event.
 *
 * CTF 1.8.3 section 6.1, CTF 2 section 6.1 (event record header), RFC section 6.1 (header types 1
 * and 2).
 *
 * Compilation has three steps. If one of them fails, the general layout is used:
 * |  1. compile_header_parts flattens the header type into lists of numbers and padding, in the
 * order |     of the bits. |  2. add_extension_choice recognises one final variant or optional that
 * depends on the id |     ("extended" headers). |  3. compile_fixed_offset_loads looks for fixed
 * offsets: if the header is aligned to bytes, id and |     time are each within one 64-bit load,
 * and all numbers have one byte order, the plan is |     CTF_PLAN_LOADS.
 *
 * Execution (ctf_read_event_header) costs one pass over at most CTF_PARTS_MAX parts per event; the
 * inline ctf_load_event_header costs two loads. Left out: headers with more than one time after the
 * id, reversed bits, numbers over 64 bits. Those use the layout. */
#include "formats/ctf/packet/ctf_event_header_plan.h"

#include <string.h>

static bool append_plan_part(struct ctf_header_parts *parts, const struct ctf_header_part *part)
{
    if (parts->n == CTF_PARTS_MAX)
        return false;
    parts->part[parts->n++] = *part;
    return true;
}

static bool is_number_type(const struct type *type)
{
    return type->kind == TYPE_BITS || type->kind == TYPE_BOOL || type->kind == TYPE_UINT ||
           type->kind == TYPE_INT || type->kind == TYPE_FLAGS || type->kind == TYPE_FLOAT;
}

static bool add_number_part(struct ctf_header_parts *parts, const struct type *type)
{
    enum ctf_header_part_use use = type->role == CTF_ROLE_EVENT_ID ? CTF_PART_ID
                                   : type->role == CTF_ROLE_TIME   ? CTF_PART_TIME
                                                                   : CTF_PART_SKIP;
    if (type->unit ||
        (use != CTF_PART_SKIP && (type->is_reversed || type->bits > 64 || type->kind != TYPE_UINT)))
        return false;
    return append_plan_part(parts, &(struct ctf_header_part){type->bits, (uint8_t)use, type->align,
                                                             type->is_big_endian});
}

/* Appends an array of numbers without roles as one part that is skipped. Returns false for any
 * other array. */
static bool add_array_part(struct ctf_header_parts *parts, const struct type *type)
{
    const struct type *element = type->element;
    if (!is_number_type(element) || element->unit || element->role ||
        element->bits % (UINT64_C(1) << element->align))
        return false;
    if (type->count > UINT32_MAX || type->count == 0)
        return false;
    return append_plan_part(parts, &(struct ctf_header_part){element->bits * type->count,
                                                             CTF_PART_SKIP, type->align, false});
}

/* Appends the numbers of a type in order. A variant or an optional field may only be the last
 * element; *variant is set to it. Returns false if a plan cannot express the type. */
static bool append_type_parts(struct ctf_header_parts *parts, const struct type *type,
                              const struct type **variant)
{
    if (is_number_type(type))
        return add_number_part(parts, type);
    if (type->kind == TYPE_ARRAY)
        return add_array_part(parts, type);
    if ((type->kind == TYPE_VARIANT || type->kind == TYPE_OPTIONAL) && variant) {
        *variant = type;
        return true;
    }
    if (type->kind != TYPE_STRUCT)
        return false;
    if (type->align &&
        !append_plan_part(parts, &(struct ctf_header_part){0, CTF_PART_SKIP, type->align, false}))
        return false;
    for (uint32_t i = 0; i < type->members_n; i++) {
        const struct type *found = NULL;
        if (!append_type_parts(parts, type->members[i].type, variant ? &found : NULL))
            return false;
        if (found && i + 1 < type->members_n)
            return false;
        if (found)
            *variant = found;
    }
    return true;
}

static uint32_t count_parts_with_use(const struct ctf_header_parts *parts,
                                     enum ctf_header_part_use use)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < parts->n; i++)
        n += parts->part[i].use == use;
    return n;
}

/* Returns true if the event id in the header is the selector of the variant. */
static bool is_selected_by_event_id(const struct type *variant, const struct type *header)
{
    const struct type_reference *reference = &variant->reference;
    if (reference->root != ROOT_EVENT_HEADER || reference->names_n != 1)
        return false;
    const struct type_member *member = type_find_member(header, reference->names[0]);
    return member && member->type->role == CTF_ROLE_EVENT_ID;
}

/* Sets plan->escape to the smallest id in `range`, which announces the extended header. Returns
 * false unless all greater ids do so, too, and the extended header has an id. */
static bool set_escape_id(struct ctf_header_plan *plan, const struct type_range *range)
{
    for (uint32_t i = 0; i < plan->first.n; i++) {
        const struct ctf_header_part *part = &plan->first.part[i];
        if (part->use == CTF_PART_ID && range->high < UINT64_MAX >> (64 - part->bits))
            return false;
    }
    plan->escape = range->low;
    return count_parts_with_use(&plan->extended, CTF_PART_ID) == 1;
}

/* Adds a variant of two options to the plan: ids below `escape` select the option without an id,
 * all others the option with the full id. Returns false for any other variant. */
static bool add_extension_options(struct ctf_header_plan *plan, const struct type *variant)
{
    const struct type_member *option = variant->members;
    struct ctf_header_parts parts[2] = {{.n = 0}, {.n = 0}};
    if (variant->members_n != 2 || !append_type_parts(&parts[0], option[0].type, NULL) ||
        !append_type_parts(&parts[1], option[1].type, NULL))
        return false;
    unsigned extended = count_parts_with_use(&parts[1], CTF_PART_ID) != 0, usual = 1 - extended;
    const struct type_member *low = &option[usual], *high = &option[extended];
    if (count_parts_with_use(&parts[usual], CTF_PART_ID) != 0 || low->ranges_n != 1 ||
        high->ranges_n != 1 || low->ranges->low != 0 || low->ranges->high == UINT64_MAX ||
        low->ranges->high + 1 != high->ranges->low)
        return false;
    plan->otherwise = parts[usual];
    plan->extended = parts[extended];
    return set_escape_id(plan, high->ranges);
}

/* Adds the variant or optional field at the end of a header to the plan. Returns false if a plan
 * cannot express it. */
static bool add_extension_choice(struct ctf_header_plan *plan, const struct type *choice)
{
    if (choice->kind == TYPE_VARIANT)
        return add_extension_options(plan, choice);
    return choice->ranges_n == 1 && append_type_parts(&plan->extended, choice->element, NULL) &&
           set_escape_id(plan, choice->ranges);
}

static bool compile_header_parts(struct ctf_header_plan *plan, const struct type *header)
{
    const struct type *variant = NULL;
    if (!append_type_parts(&plan->first, header, &variant) ||
        count_parts_with_use(&plan->first, CTF_PART_ID) > 1)
        return false;
    if (!variant)
        return true;
    return count_parts_with_use(&plan->first, CTF_PART_ID) == 1 &&
           is_selected_by_event_id(variant, header) && add_extension_choice(plan, variant);
}

/* --- Loads at fixed offsets --- */

/* Computes how to extract the number at bit `at`: the byte offset of a load of eight bytes, and a
 * shift and mask for its result. Returns false if the number does not fit in eight bytes. */
static bool compute_number_load(const struct ctf_header_part *part, uint64_t at, uint64_t *mask,
                                uint32_t *byte, uint8_t *shift)
{
    unsigned skip = at & 7;
    if (skip + part->bits > 64 || at > UINT16_MAX)
        return false;
    *byte = (uint32_t)(at >> 3);
    *mask = UINT64_MAX >> (64 - part->bits);
    *shift = (uint8_t)(part->is_big_endian ? 64 - skip - part->bits : skip);
    return true;
}

static bool compute_part_loads(struct ctf_header_plan *plan, struct ctf_header_loads *loads,
                               const struct ctf_header_parts *parts, bool *has_order)
{
    uint64_t at = loads->bits;
    for (uint32_t i = 0; i < parts->n; i++) {
        const struct ctf_header_part *part = &parts->part[i];
        uint64_t unit = UINT64_C(1) << part->align;
        if (part->align > plan->align)
            return false;
        at = (at + unit - 1) & ~(unit - 1);
        if (part->use != CTF_PART_SKIP && *has_order && part->is_big_endian != plan->is_big_endian)
            return false;
        if (part->use != CTF_PART_SKIP) {
            plan->is_big_endian = part->is_big_endian;
            *has_order = true;
        }
        if (part->use == CTF_PART_ID &&
            !compute_number_load(part, at, &loads->id_mask, &loads->id_at, &loads->id_shift))
            return false;
        if (part->use == CTF_PART_TIME &&
            !compute_number_load(part, at, &loads->time_mask, &loads->time_at, &loads->time_shift))
            return false;
        /* for a time of 64 bits, which cannot wrap, mask + 1 is 0 */
        if (part->use == CTF_PART_TIME)
            loads->time_step = loads->time_mask + 1;
        at += part->bits;
    }
    loads->bits = (uint32_t)at;
    return at <= UINT16_MAX;
}

/* Computes the loads of a header that consists of plan->first and `rest`. Returns false if the
 * header cannot be read by two loads, for example because an offset is not fixed. */
static bool compile_loads(struct ctf_header_plan *plan, struct ctf_header_loads *loads,
                          const struct ctf_header_parts *rest, bool *has_order)
{
    *loads = (struct ctf_header_loads){.bits = 0};
    if (!compute_part_loads(plan, loads, &plan->first, has_order) ||
        !compute_part_loads(plan, loads, rest, has_order))
        return false;
    const uint32_t last = loads->id_at > loads->time_at ? loads->id_at : loads->time_at,
                   bytes = (loads->bits + 7) / 8;
    loads->room = last + 8 > bytes ? last + 8 : bytes;
    return true;
}

/* Returns true if the last timestamp of an extended header determines the clock without the first
 * one: there is only one, or the last is 64 bits wide. */
static bool is_last_time_sufficient(const struct ctf_header_plan *plan)
{
    const uint32_t times = count_parts_with_use(&plan->extended, CTF_PART_TIME);
    return count_parts_with_use(&plan->first, CTF_PART_TIME) + times <= 1 ||
           (times == 1 && plan->wide.time_mask == UINT64_MAX);
}

/* Compiles a header into loads if its id and times are at fixed offsets. Returns false if the
 * header needs the slower list of parts. */
static bool compile_fixed_offset_loads(struct ctf_header_plan *plan)
{
    bool has_order = false;
    if (plan->align < 3 ||
        count_parts_with_use(&plan->first, CTF_PART_TIME) +
                count_parts_with_use(&plan->otherwise, CTF_PART_TIME) >
            1 ||
        !compile_loads(plan, &plan->loads, &plan->otherwise, &has_order))
        return false;
    plan->has_wide = plan->extended.n &&
                     compile_loads(plan, &plan->wide, &plan->extended, &has_order) &&
                     is_last_time_sufficient(plan) && plan->wide.bits >= plan->loads.bits &&
                     (plan->wide.bits - plan->loads.bits) / 8 < CTF_WIDER_MAX;
    if (plan->has_wide && plan->wide.room > plan->loads.room)
        plan->loads.room = plan->wide.room;
    return true;
}

bool ctf_type_updates_clock(const struct type *type)
{
    if (!type)
        return false;
    if (type->role == CTF_ROLE_TIME)
        return true;
    for (uint32_t i = 0; i < type->members_n; i++)
        if (ctf_type_updates_clock(type->members[i].type))
            return true;
    return ctf_type_updates_clock(type->element);
}

bool ctf_body_updates_clock(const struct ctf_stream_class *stream)
{
    bool has_time = ctf_type_updates_clock(stream->event_context);
    for (size_t i = 0; i < stream->events_n && !has_time; i++)
        has_time = ctf_type_updates_clock(stream->events[i]->context) ||
                   ctf_type_updates_clock(stream->events[i]->payload);
    return has_time;
}

void ctf_header_plan_init(struct ctf_header_plan *plan, const struct ctf_stream_class *stream,
                          const struct layout *layout)
{
    const struct type *header = stream->event_header;
    *plan = (struct ctf_header_plan){
        .escape = UINT64_MAX, .layout = layout, .kind = CTF_PLAN_LAYOUT, .has_time = true};
    plan->only_id = stream->events_n == 1 ? stream->events[0]->id : 0;
    if (header) {
        plan->align = header->align;
        plan->has_time = ctf_type_updates_clock(header) || ctf_body_updates_clock(stream);
        if (!compile_header_parts(plan, header))
            return;
    } else {
        plan->has_time = ctf_body_updates_clock(stream);
    }
    if (count_parts_with_use(&plan->first, CTF_PART_ID))
        plan->only_id = 0;
    plan->kind = compile_fixed_offset_loads(plan) ? CTF_PLAN_LOADS : CTF_PLAN_PARTS;
}

/* --- Reading of event headers --- */

static void read_header_parts(const struct ctf_header_parts *parts, struct bits *bits,
                              struct ctf_event_header *header)
{
    for (uint32_t i = 0; i < parts->n && !bits->failed; i++) {
        const struct ctf_header_part *part = &parts->part[i];
        bits_align(bits, part->align);
        if (part->use == CTF_PART_SKIP) {
            bits_skip(bits, part->bits);
            continue;
        }
        unsigned width = (unsigned)part->bits;
        uint64_t value =
            part->is_big_endian ? bits_read_be(bits, width) : bits_read_le(bits, width);
        if (bits->failed)
            break;
        if (part->use == CTF_PART_ID)
            header->id = value;
        else
            header->ticks = ctf_clock_extend(header->ticks, value, width);
    }
}

void ctf_update_clock_from_fields(const struct layout *layout, struct bits *bits,
                                  const uint64_t *slots, struct ctf_event_header *header)
{
    struct layout_iter walk;
    const struct type *type;
    ttr_field field;
    layout_iter_begin(&walk, layout, bits, NULL);
    /* copy the values of earlier fields; the last slot belongs to the iterator and is kept */
    memcpy(walk.run.slots, slots, LAYOUT_SLOTS_MAX * sizeof *slots);
    while (layout_iter_next(&walk, &field, &type)) {
        if (type->role == CTF_ROLE_EVENT_ID)
            header->id = field.value.v.u;
        if (type->role == CTF_ROLE_TIME) {
            unsigned width =
                type->kind == TYPE_VAR_UINT ? 7 * layout_iter_leb128_size(&walk) : type->bits;
            header->ticks = ctf_clock_extend(header->ticks, field.value.v.u,
                                             width >= 1 && width < 64 ? width : 64);
        }
    }
    header->end = walk.end;
    *bits = walk.run.bits;
}

void ctf_read_event_header(const struct ctf_header_plan *plan, struct bits *bits,
                           const uint64_t *slots, struct ctf_event_header *header)
{
    header->id = plan->only_id;
    header->end = LAYOUT_OK;
    if (plan->kind == CTF_PLAN_LAYOUT) {
        ctf_update_clock_from_fields(plan->layout, bits, slots, header);
        return;
    }
    bits_align(bits, plan->align);
    read_header_parts(&plan->first, bits, header);
    if (header->id >= plan->escape)
        read_header_parts(&plan->extended, bits, header);
    else
        read_header_parts(&plan->otherwise, bits, header);
    if (bits->failed)
        header->end = LAYOUT_TRUNCATED;
}
