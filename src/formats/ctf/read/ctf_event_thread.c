/* Threads of events: finds the pid, tid and name fields in the common event context, once per event
 * class, and registers the thread of each event. */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_event_class.h"

/* Decodes a LEB128 number at p. The caller has verified that the body is complete. */
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

/* Sets the name of a thread that has no name yet from the event's name field (such as LTTng's
 * procname). Returns false if memory is out. */
static bool set_thread_name(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                            const uint8_t *body, ttr_id id)
{
    ttr *t = reader->trace->t;
    ttr_thread thread;
    if (!class->name.bytes || !ttr_thread_get(t, id, &thread) || thread.thread_name)
        return true;
    const uint8_t *p = body + class->name.at, *zero = memchr(p, 0, class->name.bytes);
    uint32_t name = intern_add(&t->strings, p, zero ? (size_t)(zero - p) : class->name.bytes);
    if (name == UINT32_MAX)
        return false;
    if (name)
        context_name_thread(t, id, name);
    return true;
}

ttr_id ctf_find_thread(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                       const uint8_t *body)
{
    ttr *t = reader->trace->t;
    uint16_t source = reader->trace->thread_source;
    uint64_t pid = class->pid.bytes ? load_context_field(&class->pid, body) : 0,
             tid = class->tid.bytes ? load_context_field(&class->tid, body) : 0;
    if (reader->last_thread && pid == reader->last_pid && tid == reader->last_tid)
        return reader->last_thread;
    ttr_id id;
    if (!class->tid.bytes)
        id = context_process_thread(t, source, pid);
    else
        id = class->pid.bytes ? context_thread(t, source, pid, tid)
                              : context_thread_by_tid(t, source, tid);
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

/* Sets pos->at and pos->skipped for a member of the common context: a fixed byte offset, optionally
 * followed by LEB128 numbers to skip. Returns the type of the member; NULL if it has no such
 * position. */
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

/* Returns the position of the context member with the first of the names that exists and is a
 * number or text of a supported size. Returns zeros if there is none. */
static struct ctf_field_pos find_context_field(const struct layout *layout,
                                               const struct type *context, const char *const *names)
{
    for (; *names; names++) {
        struct ctf_field_pos pos = {0};
        const struct type *type =
            find_member_start(layout, context, (ttr_text){*names, strlen(*names)}, &pos);
        if (!type)
            continue;
        pos.is_big_endian = type->is_big_endian;
        pos.is_signed = type->kind == TYPE_INT || type->kind == TYPE_VAR_INT;
        pos.is_leb = is_leb128_type(type);
        if ((type->kind == TYPE_INT || type->kind == TYPE_UINT) &&
            (type->bits == 32 || type->bits == 64) && !type->is_reversed)
            pos.bytes = (uint8_t)(type->bits / 8);
        if (pos.is_leb)
            pos.bytes = 8;
        if (type->kind == TYPE_TEXT && type->count && type->count < 256 && !pos.skipped)
            pos.bytes = (uint8_t)type->count;
        if (pos.bytes)
            return pos;
    }
    return (struct ctf_field_pos){0};
}

const struct ctf_thread_fields *ctf_find_thread_fields(struct ctf_trace *trace,
                                                       struct ctf_event_class *event)
{
    static const char *const pids[] = {"_vpid",     "vpid",     "_pid", "pid",
                                       "_perf_pid", "perf_pid", NULL};
    static const char *const tids[] = {"_vtid",     "vtid",     "_tid", "tid",
                                       "_perf_tid", "perf_tid", NULL};
    static const char *const names[] = {"_procname", "procname", "_perf_comm", "perf_comm", NULL};
    struct ctf_thread_fields *thread_fields =
        event->thread_fields ? NULL
                             : arena_alloc(&trace->class->description.arena, sizeof *thread_fields);
    if (!thread_fields)
        return event->thread_fields;
    const struct type *context = event->stream->event_context;
    *thread_fields = (struct ctf_thread_fields){find_context_field(event->layout, context, pids),
                                                find_context_field(event->layout, context, tids),
                                                find_context_field(event->layout, context, names)};
    if (thread_fields->name.is_leb)
        thread_fields->name.bytes = 0;
    if (thread_fields->pid.bytes != 4 && thread_fields->pid.bytes != 8)
        thread_fields->pid.bytes = 0;
    if (thread_fields->tid.bytes != 4 && thread_fields->tid.bytes != 8)
        thread_fields->tid.bytes = 0;
    return event->thread_fields = thread_fields;
}
