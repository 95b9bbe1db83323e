/* Threads of events: finds the pid, tid and name fields in the common event context, once per event
 * class, and registers the thread of each event.
 *
 * Fields at a fixed position, in events that start at a byte boundary, are loaded directly. If a
 * string or sequence precedes a field, or its size is unusual, the context is decoded field by
 * field. */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_event_class.h"

/* Decodes the LEB128 number at p. The number is complete, since the caller has verified the
 * body. */
static uint64_t load_leb128(const uint8_t *p, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (;; p++) {
        if (shift < 64)
            value |= (uint64_t)(*p & 0x7f) << shift;
        shift += 7;
        if (!(*p & 0x80))
            break;
    }
    return is_signed && shift < 64 && (*p & 0x40) ? value | UINT64_MAX << shift : value;
}

static uint64_t load_context_field(const struct ctf_field_pos *pos, const uint8_t *body)
{
    const uint8_t *p = body + pos->at;
    for (unsigned i = 0; i < pos->skipped; i++)
        while (*p++ & 0x80)
            continue;
    if (pos->is_leb)
        return load_leb128(p, pos->is_signed);
    if (pos->bytes == 8)
        return pos->is_big_endian ? load_u64be(p) : load_u64le(p);
    uint32_t value = pos->is_big_endian ? load_u32be(p) : load_u32le(p);
    return pos->is_signed ? (uint64_t)(int64_t)(int32_t)value : value;
}

static const char *const pid_names[] = {"_vpid",     "vpid",     "_pid", "pid",
                                        "_perf_pid", "perf_pid", NULL};
static const char *const tid_names[] = {"_vtid",     "vtid",     "_tid", "tid",
                                        "_perf_tid", "perf_tid", NULL};
static const char *const thread_names[] = {"_procname", "procname", "_perf_comm", "perf_comm",
                                           NULL};

/* A context field that was found by name; `rank` is the index of the name in its list of names. */
struct ranked_value {
    ttr_value value;
    size_t rank;
    bool is_set;
};

struct context_values {
    struct ranked_value pid, tid, name;
};

/* Stores the value of a field in `kept` if the list contains the field's name, and no earlier name
 * of the list was found before. */
static void store_field_if_preferred(struct ranked_value *kept, const char *const *names,
                                     const ttr_field *field)
{
    const ttr_value *value = &field->value;
    bool is_text = value->type == TTR_TYPE_TEXT,
         is_number = value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT;
    if (names == thread_names ? !is_text : !is_number)
        return;
    for (size_t i = 0; names[i] && (!kept->is_set || i < kept->rank); i++)
        if (strlen(names[i]) == field->name.n &&
            memcmp(names[i], field->name.p, field->name.n) == 0)
            *kept = (struct ranked_value){.value = *value, .rank = i, .is_set = true};
}

/* Decodes the common context of an event and finds its pid, tid and name. */
static void decode_context(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                           const struct ctf_event_place *place, struct context_values *found)
{
    struct layout_iter iter;
    struct bits body = bits_init(place->base, place->body_at, place->end),
                header = bits_init(place->base, place->header_at, place->end);
    ttr_field field;
    const struct type *type;
    *found = (struct context_values){.pid = {.is_set = false}};
    layout_iter_begin(&iter, class->layout, &body, &reader->trace->scratch);
    if (class->has_imports)
        ctf_load_values_before_body(reader, class->layout, &header, &iter.run);
    while (layout_iter_next(&iter, &field, &type) && field.group == TTR_GROUP_COMMON) {
        if (field.depth > 0)
            continue;
        store_field_if_preferred(&found->pid, pid_names, &field);
        store_field_if_preferred(&found->tid, tid_names, &field);
        store_field_if_preferred(&found->name, thread_names, &field);
    }
}

/* Sets the name of a thread that has no name yet. Returns false if memory runs out. */
static bool name_unnamed_thread(ttr *t, ttr_id id, ttr_text text)
{
    ttr_thread thread;
    if (!ttr_thread_get(t, id, &thread) || thread.thread_name)
        return true;
    uint32_t name = intern_add(&t->strings, text.p, text.n);
    if (name && name != UINT32_MAX)
        context_name_thread(t, id, name);
    return name != UINT32_MAX;
}

/* Sets the name of a thread that has no name yet to the value of the event's name field, such as
 * LTTng's procname. Returns false if memory runs out. */
static bool set_thread_name(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                            const uint8_t *body, ttr_id id)
{
    if (!class->name.bytes)
        return true;
    const uint8_t *p = body + class->name.at, *zero = memchr(p, 0, class->name.bytes);
    ttr_text text = {(const char *)p, zero ? (size_t)(zero - p) : class->name.bytes};
    return name_unnamed_thread(reader->trace->t, id, text);
}

/* Registers the thread with this pid and tid, of which one may be unknown (NULL). Returns 0 if
 * both are unknown or memory runs out. */
static ttr_id register_thread(struct ctf_reader *reader, const uint64_t *pid, const uint64_t *tid)
{
    ttr *t = reader->trace->t;
    uint16_t source = reader->trace->thread_source;
    if (pid && tid)
        return context_thread(t, source, *pid, *tid);
    if (tid)
        return context_thread_by_tid(t, source, *tid);
    return pid ? context_process_thread(t, source, *pid) : 0;
}

ttr_id ctf_find_thread_in_context(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                                  const struct ctf_event_place *place)
{
    struct context_values found;
    decode_context(reader, class, place, &found);
    ttr_id id = register_thread(reader, found.pid.is_set ? &found.pid.value.v.u : NULL,
                                found.tid.is_set ? &found.tid.value.v.u : NULL);
    if (id && found.name.is_set &&
        !name_unnamed_thread(reader->trace->t, id, found.name.value.text))
        return 0;
    return id;
}

bool ctf_name_thread_from_context(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                                  const struct ctf_event_place *place, ttr_id id)
{
    struct context_values found;
    if (!id || reader->trace->t->threads[id].name)
        return true;
    decode_context(reader, class, place, &found);
    return !found.name.is_set || name_unnamed_thread(reader->trace->t, id, found.name.value.text);
}

ttr_id ctf_find_thread(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                       const uint8_t *body)
{
    uint64_t pid = class->pid.bytes ? load_context_field(&class->pid, body) : 0,
             tid = class->tid.bytes ? load_context_field(&class->tid, body) : 0;
    if (reader->last_thread && pid == reader->last_pid && tid == reader->last_tid)
        return reader->last_thread;
    ttr_id id =
        register_thread(reader, class->pid.bytes ? &pid : NULL, class->tid.bytes ? &tid : NULL);
    if (!id || !set_thread_name(reader, class, body, id))
        return 0;
    reader->last_pid = pid;
    reader->last_tid = tid;
    reader->last_thread = id;
    return id;
}

static bool is_leb128_type(const struct type *type)
{
    return type->kind == TYPE_VAR_UINT || type->kind == TYPE_VAR_INT;
}

/* Sets pos->at and pos->skipped to the position of a member of the common context: a fixed byte
 * offset and a number of LEB128 numbers to skip there. Returns the type of the member; NULL if its
 * position has another form. */
static const struct type *find_member_start(const struct layout *layout, const struct type *context,
                                            ttr_text name, struct ctf_field_pos *pos)
{
    struct layout_member_position found;
    const struct type_member *member =
        context && context->kind == TYPE_STRUCT ? type_find_member(context, name) : NULL;
    const struct type *type = member ? member->type : NULL;
    if (!type)
        return NULL;
    while (member > context->members && is_leb128_type(member[-1].type) &&
           member->type->align <= 3 && !member->type->unit && pos->skipped < UINT8_MAX) {
        pos->skipped++;
        member--;
    }
    if (!layout_locate_member(layout, ROOT_COMMON_CONTEXT, member->name, &found) ||
        (found.bit & 7) || found.bit / 8 > UINT16_MAX)
        return NULL;
    pos->at = (uint16_t)(found.bit / 8);
    return type;
}

/* Returns true if a member of this type can be a thread name (is_name) or a pid or tid. */
static bool may_identify_thread(const struct type *type, bool is_name)
{
    return is_name ? type->kind == TYPE_TEXT || type->kind == TYPE_STRING
                   : type->kind == TYPE_INT || type->kind == TYPE_UINT || is_leb128_type(type);
}

/* Returns the position of the context field with the first of `names` that exists and has a
 * suitable type; zeros if none does. Sets `is_variable` if its position or size differs per
 * event. */
static struct ctf_field_pos find_context_field(const struct layout *layout,
                                               const struct type *context, const char *const *names,
                                               bool *is_variable)
{
    const bool is_name = names == thread_names;
    for (; context && context->kind == TYPE_STRUCT && *names; names++) {
        struct ctf_field_pos pos = {0};
        const ttr_text name = {*names, strlen(*names)};
        const struct type_member *member = type_find_member(context, name);
        if (!member || !may_identify_thread(member->type, is_name))
            continue;
        const struct type *type = find_member_start(layout, context, name, &pos);
        *is_variable = !type;
        if (!type)
            break;
        pos.is_big_endian = type->is_big_endian;
        pos.is_signed = type->kind == TYPE_INT || type->kind == TYPE_VAR_INT;
        pos.is_leb = is_leb128_type(type);
        if ((type->kind == TYPE_INT || type->kind == TYPE_UINT) &&
            (type->bits == 32 || type->bits == 64) && !type->is_reversed)
            pos.bytes = (uint8_t)(type->bits / 8);
        if (pos.is_leb)
            pos.bytes = 8;
        if (type->kind == TYPE_TEXT && type->count && type->count < 256 &&
            type->encoding <= ENCODING_NONE && !pos.skipped)
            pos.bytes = (uint8_t)type->count;
        *is_variable = !pos.bytes;
        return pos;
    }
    return (struct ctf_field_pos){0};
}

const struct ctf_thread_fields *ctf_find_thread_fields(struct ctf_trace *trace,
                                                       struct ctf_event_class *event)
{
    struct ctf_thread_fields *thread_fields =
        event->thread_fields ? NULL
                             : arena_alloc(&trace->class->description.arena, sizeof *thread_fields);
    if (!thread_fields)
        return event->thread_fields;
    const struct type *context = event->stream->event_context;
    bool is_pid_variable = false, is_tid_variable = false, is_name_variable = false;
    *thread_fields = (struct ctf_thread_fields){
        .pid = find_context_field(event->layout, context, pid_names, &is_pid_variable),
        .tid = find_context_field(event->layout, context, tid_names, &is_tid_variable),
        .name = find_context_field(event->layout, context, thread_names, &is_name_variable)};
    thread_fields->has_variable_number = is_pid_variable || is_tid_variable;
    thread_fields->has_variable_name = is_name_variable;
    return event->thread_fields = thread_fields;
}
