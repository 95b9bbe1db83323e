/* The tracepoints of one trace, and decoding of their records into events. A tracepoint that is
 * replaced is not freed before the table, because events of the current batch may refer to it. */
#include "encodings/tracepoint/tracepoints.h"

#include "base/status.h"
#include "encodings/tracepoint/tracepoint_print.h"
#include "model/event_copy.h"

#define COMMON_TYPE_BYTES 2u
#define COMMON_PID_OFFSET 4u
#define COMMON_PID_BYTES 4u

static bool add_tracepoint_schema(struct tracepoints *all, struct tracepoint *tp)
{
    const struct schema schema = {
        .ops = &tracepoint_field_ops, .ctx = tp, .format = all->spec.format};
    tp->schema = context_add_schema(all->spec.t, &schema);
    return tp->schema != 0;
}

struct tracepoints *tracepoints_new(const struct tracepoints_spec *spec)
{
    const struct alloc *alloc = &spec->t->counted;
    struct tracepoints *all = alloc_zero(alloc, 1, sizeof *all);
    if (!all)
        return NULL;
    all->spec = *spec;
    all->alloc = all->names.alloc = alloc;
    arena_init(&all->arena, alloc);
    all->unknown = (struct tracepoint){
        .all = all, .system = {"", 0}, .name = {"", 0}, .print = {"", 0}, .is_broken = true};
    if (add_tracepoint_schema(all, &all->unknown))
        return all;
    tracepoints_free(all);
    return NULL;
}

void tracepoints_free(struct tracepoints *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->kinds_n; i++)
        context_drop_schema(all->spec.t, all->kind[i]->schema);
    context_drop_schema(all->spec.t, all->unknown.schema);
    event_header_decoder_free(all->headers);
    clr_user_decoder_free(all->clr);
    tracepoint_names_free(&all->names);
    alloc_free(all->alloc, all->kind, all->kinds_capacity, sizeof *all->kind);
    alloc_free(all->alloc, all->dense, all->dense_n, sizeof *all->dense);
    arena_free(&all->arena);
    alloc_free(all->alloc, all, 1, sizeof *all);
}

void tracepoints_begin_batch(struct tracepoints *all)
{
    if (all->headers)
        event_header_begin_batch(all->headers);
    if (all->clr)
        clr_user_begin_batch(all->clr);
}

/* --- Decoders of EventHeader and .NET tracepoints --- */

static struct event_header_raw get_event_header_record(const void *ctx, const ttr_event *event)
{
    const struct tracepoints_spec *spec = &((const struct tracepoints *)ctx)->spec;
    struct tracepoint_raw raw = spec->container->raw(spec->ctx, event);
    return (struct event_header_raw){raw.p, raw.n};
}

static bool get_event_header_extra(const void *ctx, const ttr_event *event, uint32_t i,
                                   ttr_field *field)
{
    const struct tracepoints_spec *spec = &((const struct tracepoints *)ctx)->spec;
    return spec->container->extra && spec->container->extra(spec->ctx, event, i, field);
}

static uint32_t copy_event_header_frames(const void *ctx, const ttr_event *event,
                                         uint64_t *addresses, uint32_t room)
{
    const struct tracepoints_spec *spec = &((const struct tracepoints *)ctx)->spec;
    return spec->container->frames ? spec->container->frames(spec->ctx, event, addresses, room) : 0;
}

static bool is_event_header(const struct tracepoint *tp)
{
    static const char first[] = "eventheader_flags";
    const struct tracepoint_field *field =
        tp->common_n < tp->fields_n ? &tp->field[tp->common_n] : NULL;
    return field && field->name.n == sizeof first - 1 &&
           memcmp(field->name.p, first, sizeof first - 1) == 0;
}

static struct event_header_decoder_spec make_header_spec(struct tracepoints *all)
{
    return (struct event_header_decoder_spec){
        .t = all->spec.t,
        .format = all->spec.format,
        .ctx = all,
        .raw = get_event_header_record,
        .extra = all->spec.container->extra ? get_event_header_extra : NULL,
        .frames = copy_event_header_frames,
        .padding = all->spec.container->padding};
}

/* Returns true if the fields of the tracepoint, without the common ones, are those that the .NET
 * runtime declares. */
static bool is_clr_tracepoint(const struct tracepoint *tp)
{
    static const struct {
        const char *name;
        uint32_t size;
    } fields[] = {{"version", 1}, {"event_id", 2}, {"extension", 4}, {"payload", 4}};
    for (uint32_t i = 0; i < 4; i++) {
        const struct tracepoint_field *field =
            tp->common_n + i < tp->fields_n ? &tp->field[tp->common_n + i] : NULL;
        if (!field || field->size != fields[i].size || field->name.n != strlen(fields[i].name) ||
            memcmp(field->name.p, fields[i].name, field->name.n) != 0 ||
            (i > 1 && field->place != TRACEPOINT_REL_LOC))
            return false;
    }
    return true;
}

/* Sets the .NET decoder of a tracepoint that the runtime writes. Returns false if memory runs out.
 */
static bool attach_clr_decoder(struct tracepoints *all, struct tracepoint *tp)
{
    const struct event_header_decoder_spec spec = make_header_spec(all);
    if (!is_clr_tracepoint(tp))
        return true;
    const struct tracepoint_field *ctx = &tp->field[tp->common_n];
    const struct clr_user_offsets places = {.id = ctx[1].offset,
                                            .extension = ctx[2].offset,
                                            .payload = ctx[3].offset,
                                            .is_big_endian = all->spec.is_big_endian,
                                            .long_bytes = all->spec.long_bytes};
    if (!all->clr)
        all->clr = clr_user_decoder_new(&spec);
    if (all->clr)
        tp->clr = clr_user_add_tracepoint(all->clr, tp->name, &places, tp);
    return tp->clr != NULL;
}

/* Sets the decoder for EventHeader or .NET if the tracepoint has the fields of such events.
 * Returns false if memory runs out. */
static bool attach_event_header_decoder(struct tracepoints *all, struct tracepoint *tp)
{
    const struct event_header_decoder_spec spec = make_header_spec(all);
    if (!is_event_header(tp))
        return attach_clr_decoder(all, tp);
    if (!all->headers)
        all->headers = event_header_decoder_new(&spec);
    if (all->headers)
        tp->header =
            event_header_add_tracepoint(all->headers, tp->name, tp->field[tp->common_n].offset, tp);
    return tp->header != NULL;
}

/* --- Addition of a tracepoint --- */

static bool store_tracepoint_by_id(struct tracepoints *all, struct tracepoint *tp)
{
    if (tp->id >= all->dense_n) {
        size_t n = all->dense_n ? all->dense_n : 1024;
        while (n <= tp->id)
            n *= 2;
        struct tracepoint **dense =
            alloc_resize(all->alloc, all->dense, all->dense_n, n, sizeof *dense);
        if (!dense)
            return false;
        memset(dense + all->dense_n, 0, (n - all->dense_n) * sizeof *dense);
        all->dense = dense;
        all->dense_n = n;
    }
    all->dense[tp->id] = tp;
    return true;
}

/* Interns the names of a tracepoint, of its system and of its fields. Returns false if memory is
 * out. */
static bool intern_names(struct tracepoints *all, struct tracepoint *tp)
{
    ttr *t = all->spec.t;
    struct tracepoint_field *field =
        arena_alloc(&all->arena, (tp->fields_n + (size_t)1) * sizeof *field);
    tp->name_id = ttr_text_add(t, tp->name.p, tp->name.n);
    tp->provider_id = ttr_text_add(t, tp->system.p, tp->system.n);
    bool is_fine =
        field && (tp->name_id || tp->name.n == 0) && (tp->provider_id || tp->system.n == 0);
    for (uint32_t i = 0; i < tp->fields_n && is_fine; i++) {
        field[i] = tp->field[i];
        field[i].name_id = ttr_text_add(t, field[i].name.p, field[i].name.n);
        is_fine = field[i].name_id != 0;
    }
    tp->field = field;
    return is_fine;
}

static const struct tracepoint_field *find_common_field(const struct tracepoint *tp,
                                                        const char *name)
{
    for (uint32_t i = 0; i < tp->common_n; i++)
        if (tp->field[i].name.n == strlen(name) &&
            memcmp(tp->field[i].name.p, name, tp->field[i].name.n) == 0)
            return &tp->field[i];
    return NULL;
}

static bool register_tracepoint(struct tracepoints *all, struct tracepoint *tp)
{
    struct tracepoint_lazy *lazy = arena_alloc(&all->arena, sizeof *lazy);
    if (!lazy || !intern_names(all, tp) ||
        !alloc_reserve(all->alloc, (void **)&all->kind, &all->kinds_capacity, all->kinds_n + 1,
                       sizeof *all->kind) ||
        !add_tracepoint_schema(all, tp))
        return false;
    *lazy = (struct tracepoint_lazy){.program = NULL, .look = NULL};
    tp->lazy = lazy;
    all->kind[all->kinds_n++] = tp;
    tp->is_bprint = tracepoint_is_bprint(tp);
    if (!attach_event_header_decoder(all, tp))
        return false;
    if (!all->type || !all->pid) {
        all->type = find_common_field(tp, "common_type");
        all->pid = find_common_field(tp, "common_pid");
    }
    return store_tracepoint_by_id(all, tp);
}

ttr_status tracepoints_add(struct tracepoints *all, ttr_text system, ttr_text format,
                           ttr_error *error)
{
    struct tracepoint_parse_error complaint;
    struct tracepoint *tp = arena_alloc(&all->arena, sizeof *tp);
    char *copy = arena_copy(&all->arena, format.p, format.n),
         *system_copy = arena_copy(&all->arena, system.p, system.n);
    if (!tp || !copy || !system_copy)
        return fail_memory(error);
    *tp = (struct tracepoint){.all = all,
                              .system = {system_copy, system.n},
                              .name = {"", 0},
                              .print = {"", 0},
                              .id = UINT32_MAX};
    tp->is_broken = !tracepoint_parse(tp, &all->arena, (ttr_text){copy, format.n},
                                      all->spec.long_bytes, &complaint);
    if (tp->is_broken && !complaint.why)
        return fail_memory(error);
    if (tp->id != UINT32_MAX && !register_tracepoint(all, tp))
        return fail_memory(error);
    if (!tp->is_broken)
        return TTR_OK;
    (void)fail(error, TTR_E_MALFORMED, NO_OFFSET, "tracepoint %.*s:%.*s: line %u of its format: %s",
               (int)system.n, system_copy, (int)tp->name.n, tp->name.p, complaint.line,
               complaint.why);
    if (error)
        error->line = complaint.line;
    return TTR_E_MALFORMED;
}

/* --- Lookup by id --- */

const struct tracepoint *tracepoints_find(const struct tracepoints *all, uint32_t id)
{
    return id < all->dense_n ? all->dense[id] : NULL;
}

ttr_text tracepoint_get_system(const struct tracepoint *tp)
{
    return tp->system;
}

ttr_text tracepoint_get_name(const struct tracepoint *tp)
{
    return tp->name;
}

static bool read_common_number(const struct tracepoints *all, const struct tracepoint_field *field,
                               struct tracepoint_raw raw, uint64_t *x)
{
    if (field->offset > raw.n || field->size > raw.n - field->offset)
        return false;
    *x = tracepoint_load_integer(raw.p + field->offset, field->size, all->spec.is_big_endian);
    return true;
}

bool tracepoint_read_common(const struct tracepoints *all, struct tracepoint_raw raw, uint32_t *id,
                            int32_t *pid)
{
    static const struct tracepoint_field usual_type = {.size = COMMON_TYPE_BYTES};
    static const struct tracepoint_field usual_pid = {.offset = COMMON_PID_OFFSET,
                                                      .size = COMMON_PID_BYTES};
    uint64_t type_number = 0, pid_number = 0;
    bool is_fine =
        read_common_number(all, all->type ? all->type : &usual_type, raw, &type_number) &&
        read_common_number(all, all->pid ? all->pid : &usual_pid, raw, &pid_number);
    *id = (uint32_t)type_number;
    *pid = (int32_t)(uint32_t)pid_number;
    return is_fine;
}

bool tracepoints_is_plausible(const struct tracepoints *all, struct tracepoint_raw raw)
{
    uint32_t id;
    int32_t pid;
    if (!tracepoint_read_common(all, raw, &id, &pid) || pid < 0)
        return false;
    uint32_t slot = (uint32_t)pid % TRACEPOINTS_RECENT;
    const struct tracepoint *tp = tracepoints_find(all, id);
    return all->kinds_n ? tp && raw.n >= tp->fixed_bytes
                        : all->recent[slot].thread && all->recent[slot].pid == pid;
}

/* --- Decoding of records --- */

bool tracepoint_prepare_decoding(const struct tracepoint *tp)
{
    if (!tp->lazy || tp->lazy->look || tp->is_broken)
        return true;
    tp->lazy->program = tracepoint_compile(tp, &tp->all->arena);
    tp->lazy->look = tp->lazy->program
                         ? tracepoint_derive_displays(tp, tp->lazy->program, &tp->all->arena)
                         : NULL;
    return tp->lazy->look != NULL;
}

/* Returns true if all DATA_LOC and REL_LOC fields refer to bytes in the record. */
static bool are_locations_valid(const struct tracepoint *tp, struct tracepoint_raw raw)
{
    const uint8_t *p;
    size_t n;
    for (uint32_t i = tp->common_n; i < tp->fields_n; i++)
        if (tp->field[i].place >= TRACEPOINT_DATA_LOC &&
            !tracepoint_locate_bytes(&tp->field[i], tp->all->spec.is_big_endian, raw, &p, &n))
            return false;
    return true;
}

bool tracepoint_decode(struct tracepoints *all, const struct tracepoint *tp,
                       struct tracepoint_raw raw, ttr_event *event, const char **why)
{
    *why = NULL;
    if (tp && tp->lazy && !tp->lazy->look && !tracepoint_prepare_decoding(tp))
        return false;
    if (tp && tp->header)
        return event_header_decode(tp->header, (struct event_header_raw){raw.p, raw.n}, event, why);
    if (tp && tp->clr)
        return clr_user_decode(tp->clr, (struct event_header_raw){raw.p, raw.n}, event, why);
    if (!tp) {
        tp = &all->unknown;
        *why = "tracepoint with this id is unknown";
    }
    if (tp->lazy)
        tp->lazy->events++;
    event->name = tp->name_id;
    event->provider = tp->provider_id;
    event->schema = tp->schema;
    event->kind = TTR_KIND_INSTANT;
    if (raw.n < tp->fixed_bytes)
        *why = "record is shorter than its format";
    else if (tp->has_places && !are_locations_valid(tp, raw))
        *why = "field is outside of the record";
    if (*why)
        event->flags |= TTR_EVENT_PARTIAL;
    return !tp->is_bprint || tracepoint_prepare_bprint(tp, raw);
}

static ttr_id find_recent_thread(struct tracepoints *all, int32_t pid)
{
    uint32_t slot = (uint32_t)pid % TRACEPOINTS_RECENT;
    if (all->recent[slot].thread == 0 || all->recent[slot].pid != pid) {
        all->recent[slot].thread =
            context_thread_by_tid(all->spec.t, all->spec.source, (uint64_t)(int64_t)pid);
        all->recent[slot].pid = pid;
    }
    return all->recent[slot].thread;
}

bool tracepoint_decode_record(struct tracepoints *all, struct tracepoint_raw raw, ttr_event *event,
                              uint32_t *id, const char **why)
{
    int32_t pid;
    bool is_known = tracepoint_read_common(all, raw, id, &pid);
    event->payload = raw.p;
    event->payload_size = (uint32_t)raw.n;
    event->thread = is_known ? find_recent_thread(all, pid) : 0;
    if (is_known && !event->thread)
        return false;
    return tracepoint_decode(all, is_known ? tracepoints_find(all, *id) : NULL, raw, event, why);
}

const struct tracepoint *tracepoint_get_from_event(const ttr *t, const ttr_event *event)
{
    for (const struct schema *schema = context_schema(t, event->schema);;
         schema = context_schema(t, schema->base_schema)) {
        if (schema->ops == &tracepoint_field_ops)
            return schema->ctx;
        if (event_header_schema_owner(schema))
            return event_header_schema_owner(schema);
        if (clr_user_schema_owner(schema))
            return clr_user_schema_owner(schema);
        if (!schema->base_schema || schema->ops == &event_copy_field_ops)
            return NULL;
    }
}
