/* EventHeader decoder: tracepoints, the cache of compiled plans, and the decoding of event headers.
 * Field values are decoded later, on access (event_header_fields.c). Public description:
 * event_header.h. */
#include "encodings/event_header/event_header.h"

#include <string.h>

#include "base/hash.h"
#include "encodings/event_header/event_header_parts.h"
#include "model/activity.h"

struct event_header_decoder *event_header_decoder_new(const struct event_header_decoder_spec *spec)
{
    const struct alloc *alloc = &spec->t->counted;
    struct event_header_decoder *all = alloc_zero(alloc, 1, sizeof *all);
    if (!all)
        return NULL;
    all->spec = *spec;
    arena_init(&all->arena, alloc);
    arena_init(&all->scratch, alloc);
    pair_map_init(&all->kinds, alloc);
    pair_map_init(&all->plans, alloc);
    return all;
}

void event_header_decoder_free(struct event_header_decoder *all)
{
    if (!all)
        return;
    const struct alloc *alloc = &all->spec.t->counted;
    for (size_t i = 0; i < all->kinds_n; i++)
        context_drop_schema(all->spec.t, all->kind[i]->schema);
    for (size_t i = 0; i < all->plans_n; i++)
        context_drop_schema(all->spec.t, all->plan[i]->schema);
    alloc_free(alloc, all->kind, all->kinds_capacity, sizeof *all->kind);
    alloc_free(alloc, all->plan, all->plans_capacity, sizeof *all->plan);
    pair_map_free(&all->kinds);
    pair_map_free(&all->plans);
    arena_free(&all->arena);
    arena_free(&all->scratch);
    alloc_free(alloc, all, 1, sizeof *all);
}

void event_header_begin_batch(struct event_header_decoder *all)
{
    arena_reset(&all->scratch);
}

/* --- Tracepoints and schemas of their events --- */

static ttr_id add_schema(const struct event_header_decoder *all,
                         const struct event_header_schema_data *ctx)
{
    return context_add_schema(
        all->spec.t,
        &(struct schema){.ops = &event_header_field_ops, .ctx = ctx, .format = all->spec.format});
}

static bool intern_text(const struct event_header_decoder *all, ttr_text text, ttr_id *id)
{
    *id = intern_add(&all->spec.t->strings, text.p, text.n);
    return *id != UINT32_MAX;
}

static struct event_header_tracepoint *create_tracepoint(struct event_header_decoder *all,
                                                         ttr_id name, uint32_t skip)
{
    struct event_header_tracepoint *kind = arena_alloc(&all->arena, sizeof *kind);
    if (!kind || !alloc_reserve(&all->spec.t->counted, (void **)&all->kind, &all->kinds_capacity,
                                all->kinds_n + 1, sizeof *all->kind))
        return NULL;
    *kind = (struct event_header_tracepoint){
        .all = all, .tracepoint = name, .skip = skip, .index = (uint32_t)all->kinds_n};
    kind->is_named = event_header_parse_name(ttr_text_get(all->spec.t, name), &kind->name);
    if (!kind->is_named)
        kind->name = (struct event_header_name){.provider = {"", 0}};
    kind->own_without_plan = (struct event_header_schema_data){.kind = kind};
    if (!intern_text(all, kind->name.provider, &kind->provider))
        return NULL;
    kind->schema = add_schema(all, &kind->own_without_plan);
    if (!kind->schema)
        return NULL;
    all->kind[all->kinds_n++] = kind;
    return pair_map_put(&all->kinds, name, skip, kind->index) ? kind : NULL;
}

struct event_header_tracepoint *event_header_add_tracepoint(struct event_header_decoder *all,
                                                            ttr_text name, uint32_t skip,
                                                            const void *owner)
{
    ttr_id id;
    if (!intern_text(all, name, &id))
        return NULL;
    const uint32_t *index = pair_map_get(&all->kinds, id, skip);
    struct event_header_tracepoint *kind =
        index ? all->kind[*index] : create_tracepoint(all, id, skip);
    if (kind && !index)
        kind->owner = owner;
    return kind;
}

const void *event_header_schema_owner(const struct schema *schema)
{
    const struct event_header_schema_data *ctx = schema->ctx;
    return schema->ops == &event_header_field_ops && ctx ? ctx->kind->owner : NULL;
}

/* --- Header and extensions of one event --- */

static void parse_extension(struct event_header_parts *parts, uint16_t kind, struct cursor content)
{
    size_t n = cursor_left(&content);
    if (kind == 0)
        parts->why = "extension has kind 0, which is invalid";
    if (kind == EVENT_HEADER_METADATA && parts->metadata)
        parts->why = "metadata occur twice";
    if (kind == EVENT_HEADER_ACTIVITY && parts->activity)
        parts->why = "activity ids occur twice";
    if (kind == EVENT_HEADER_ACTIVITY && n != 16 && n != 32)
        parts->why = "activity id has neither 16 nor 32 bytes";
    if (parts->why)
        return;
    if (kind == EVENT_HEADER_METADATA) {
        parts->metadata = content.p;
        parts->metadata_n = (uint32_t)n;
    } else if (kind == EVENT_HEADER_ACTIVITY) {
        parts->activity = cursor_read_bytes(&content, 16);
        parts->related = n == 32 ? cursor_read_bytes(&content, 16) : NULL;
    }
}

static void parse_extensions(struct event_header_parts *parts)
{
    uint16_t kind = EVENT_HEADER_CHAIN;
    while (kind & EVENT_HEADER_CHAIN && !parts->why) {
        struct cursor before = parts->payload, content;
        uint16_t n =
            parts->is_big_endian ? cursor_u16be(&parts->payload) : cursor_u16le(&parts->payload);
        kind = parts->is_big_endian ? cursor_u16be(&parts->payload) : cursor_u16le(&parts->payload);
        content = cursor_slice(&parts->payload, n);
        if (parts->payload.failed)
            parts->why = "extension is truncated";
        else
            parse_extension(parts, kind & EVENT_HEADER_KIND, content);
        if (parts->why)
            parts->payload = before;
    }
}

bool event_header_parse_header(struct event_header_raw raw, uint32_t skip,
                               struct event_header_parts *parts)
{
    struct cursor c = cursor_init(raw.p, raw.n, 0);
    (void)cursor_skip(&c, skip);
    *parts = (struct event_header_parts){.payload = c};
    const uint8_t *head = cursor_read_bytes(&c, EVENT_HEADER_BYTES);
    if (!head || parts->payload.failed)
        return false;
    parts->flags = head[0];
    parts->version = head[1];
    parts->is_big_endian = !(head[0] & EVENT_HEADER_LITTLE_ENDIAN);
    parts->id = parts->is_big_endian ? load_u16be(head + 2) : load_u16le(head + 2);
    parts->tag = parts->is_big_endian ? load_u16be(head + 4) : load_u16le(head + 4);
    parts->opcode = head[6];
    parts->level = head[7];
    parts->payload = c;
    if (head[0] & ~EVENT_HEADER_FLAGS)
        parts->why = "unknown flags are set";
    else if (head[0] & EVENT_HEADER_EXTENSION)
        parse_extensions(parts);
    return true;
}

/* --- Cache of compiled plans by the hash of the metadata --- */

static bool is_plan_for_metadata(const struct event_header_plan *plan,
                                 const struct event_header_parts *parts)
{
    return plan && plan->bytes_n == parts->metadata_n &&
           plan->is_big_endian == parts->is_big_endian &&
           memcmp(plan->bytes, parts->metadata, plan->bytes_n) == 0;
}

static struct event_header_plan *create_plan(struct event_header_tracepoint *kind,
                                             const struct event_header_parts *parts)
{
    struct event_header_decoder *all = kind->all;
    struct event_header_plan *plan = arena_alloc(&all->arena, sizeof *plan);
    struct event_header_schema_data *ctx = arena_alloc(&all->arena, sizeof *ctx);
    uint8_t *bytes = (uint8_t *)arena_copy(&all->arena, parts->metadata, parts->metadata_n);
    ttr_text name;
    uint64_t *events = arena_alloc(&all->arena, sizeof *events);
    if (!plan || !ctx || !bytes || !events)
        return NULL;
    *events = 0;
    *plan = (struct event_header_plan){.kind = kind,
                                       .bytes = bytes,
                                       .bytes_n = parts->metadata_n,
                                       .is_big_endian = parts->is_big_endian,
                                       .events = events};
    *ctx = (struct event_header_schema_data){kind, plan};
    uint32_t first = event_header_read_event_name(
        &(struct event_header_metadata){bytes, parts->metadata_n, parts->is_big_endian}, &name);
    if (!event_header_compile_plan(all, plan, first < plan->bytes_n ? first : plan->bytes_n))
        return NULL;
    if (first == UINT32_MAX)
        plan->why = "name of the event has no terminating zero";
    plan->schema = intern_text(all, event_header_strip_attributes(name), &plan->name)
                       ? add_schema(all, ctx)
                       : 0;
    return plan->schema ? plan : NULL;
}

/* Compiles an event's metadata and adds the plan to the cache. `*plan` is NULL if the cache is
 * full. Returns false if memory is exhausted. */
static bool store_plan(struct event_header_tracepoint *kind, const struct event_header_parts *parts,
                       uint64_t hash, const struct event_header_plan **plan)
{
    struct event_header_decoder *all = kind->all;
    size_t before = all->arena.total;
    *plan = NULL;
    if (all->plans_n == EVENT_HEADER_PLANS_MAX || all->plan_bytes > EVENT_HEADER_PLAN_BYTES_MAX)
        return true;
    struct event_header_plan *made = create_plan(kind, parts);
    if (!made || !alloc_reserve(&all->spec.t->counted, (void **)&all->plan, &all->plans_capacity,
                                all->plans_n + 1, sizeof *all->plan))
        return false;
    all->plan_bytes += all->arena.total - before;
    all->plan[all->plans_n] = made;
    *plan = made;
    return pair_map_put(&all->plans, hash, kind->index * UINT64_C(2) + parts->is_big_endian,
                        (uint32_t)all->plans_n++);
}

/* Sets `*plan` to the cached plan for an event's metadata; compiles a plan if there is none. Sets
 * it to NULL if the cache is full, or contains other metadata with the same hash. Returns false if
 * memory runs out. */
static bool find_or_compile_plan(struct event_header_tracepoint *kind,
                                 const struct event_header_parts *parts,
                                 const struct event_header_plan **plan)
{
    const struct event_header_decoder *all = kind->all;
    *plan = kind->last;
    if (is_plan_for_metadata(kind->last, parts))
        return true;
    uint64_t hash = hash_bytes(parts->metadata, parts->metadata_n);
    const uint32_t *index =
        pair_map_get(&all->plans, hash, kind->index * UINT64_C(2) + parts->is_big_endian);
    if (!index) {
        if (!store_plan(kind, parts, hash, plan))
            return false;
    } else {
        *plan = is_plan_for_metadata(all->plan[*index], parts) ? all->plan[*index] : NULL;
    }
    kind->last = *plan ? *plan : kind->last;
    return true;
}

/* Returns NULL if the payload contains all declared fields, else a constant text that describes
 * the damage. Iterates over the fields only if faster checks do not decide. */
static const char *check_payload(const struct event_header_plan *plan,
                                 const struct event_header_parts *parts)
{
    struct event_header_iter iter;
    bool is_fixed = plan && plan->size != EVENT_HEADER_VARIES && !plan->why;
    if (is_fixed ? plan->size <= cursor_left(&parts->payload)
                 : plan && event_header_payload_fits(plan, parts->payload))
        return NULL;
    event_header_iter_begin(&iter, plan, parts);
    while (event_header_iter_next(&iter) != EVENT_HEADER_ITER_END)
        continue;
    return iter.why;
}

static uint8_t convert_level(unsigned level)
{
    static const uint8_t levels[] = {TTR_LEVEL_NONE,    TTR_LEVEL_FATAL, TTR_LEVEL_ERROR,
                                     TTR_LEVEL_WARNING, TTR_LEVEL_INFO,  TTR_LEVEL_DEBUG};
    return level < sizeof levels ? levels[level] : TTR_LEVEL_TRACE;
}

/* Sets name and schema of an event that has no plan. */
static bool set_name_without_plan(const struct event_header_tracepoint *kind,
                                  const struct event_header_parts *parts, ttr_event *event,
                                  const char **why)
{
    ttr_text name;
    struct event_header_metadata metadata = {parts->metadata, parts->metadata_n,
                                             parts->is_big_endian};
    event->schema = kind->schema;
    event->name = kind->tracepoint;
    if (!parts->metadata)
        return true;
    if (event_header_read_event_name(&metadata, &name) == UINT32_MAX)
        *why = "name of the event has no terminating zero";
    return intern_text(kind->all, event_header_strip_attributes(name), &event->name);
}

static const char *check_tracepoint_name(const struct event_header_tracepoint *kind,
                                         const struct event_header_parts *parts)
{
    if (!kind->is_named)
        return "name of the tracepoint does not have the form PROVIDER_L4K1";
    return kind->name.level == parts->level ? NULL
                                            : "level differs from the one in the tracepoint's name";
}

/* If the event starts or stops an activity, turns it into the begin or end of an async span.
 * Returns false if memory runs out. */
static bool convert_activity_to_span(const struct event_header_tracepoint *kind, ttr_event *event)
{
    if (!event->activity ||
        (event->opcode != EVENT_HEADER_START && event->opcode != EVENT_HEADER_STOP))
        return true;
    ttr_id task = activity_task_of_name(kind->all->spec.t, event->name);
    activity_make_span(kind->all->spec.t, event, task);
    return task || !event->name;
}

bool event_header_decode(struct event_header_tracepoint *kind, struct event_header_raw raw,
                         ttr_event *event, const char **why)
{
    struct event_header_parts parts;
    const struct event_header_plan *plan = NULL;
    event->kind = TTR_KIND_INSTANT;
    event->provider = kind->provider;
    event->name = kind->tracepoint;
    event->schema = kind->schema;
    *why = "event is shorter than an EventHeader";
    event->flags |= TTR_EVENT_PARTIAL;
    if (!event_header_parse_header(raw, kind->skip, &parts))
        return true;
    event->level = convert_level(parts.level);
    event->keyword = kind->name.keyword;
    event->opcode = parts.opcode;
    event->tag = parts.tag;
    event->activity = parts.activity;
    event->related = parts.related;
    *why = parts.why;
    if (parts.why)
        return true;
    if (parts.metadata && !find_or_compile_plan(kind, &parts, &plan))
        return false;
    const char *trouble = plan || parts.metadata ? check_payload(plan, &parts) : NULL;
    if (plan) {
        event->name = plan->name;
        ++*plan->events;
        event->schema = plan->schema;
        *why = plan->why;
    } else if (!set_name_without_plan(kind, &parts, event, why)) {
        return false;
    }
    if (!*why)
        *why = trouble ? trouble : check_tracepoint_name(kind, &parts);
    if (!*why)
        event->flags &= (uint8_t)~TTR_EVENT_PARTIAL;
    return convert_activity_to_span(kind, event);
}
