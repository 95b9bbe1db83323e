/* Streams and event classes as they are met: what is the same for all events of a class in one
 * stream is found once and copied into each of them; and what an event's fields need to be walked.
 */
#include <string.h>
#include <strings.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_build_index.h"

#define FIRST_IDS 4u
#define DENSE_IDS 65536u /* ids below have a table; all are in that of indices */

/* LTTng's levels: those of syslog, then ever finer debugging. */
static uint8_t level_of(const struct ctf_event_class *event)
{
    static const uint8_t levels[] = {TTR_LEVEL_FATAL, TTR_LEVEL_FATAL,   TTR_LEVEL_FATAL,
                                     TTR_LEVEL_ERROR, TTR_LEVEL_WARNING, TTR_LEVEL_INFO,
                                     TTR_LEVEL_INFO};
    if (!event->has_log_level || event->log_level < 0)
        return TTR_LEVEL_NONE;
    return event->log_level < (int64_t)sizeof levels ? levels[event->log_level] : TTR_LEVEL_DEBUG;
}

/* --- Finding streams --- */

/* What a reader of many streams finds one by, beside a number: a stream class, as it is in the
 * description or made ready, which is as far from the next as there are ways. */
enum way {
    WAY_PACKET = 0, /* its kind; what packets say, where they say it: one more */
    WAY_FIRST = 2,  /* its kind's first, the same; that of them which was met first */
    WAY_TRACK = 4,  /* its class; the track of its events */
    WAY_CLASS = 5   /* its class; that which was met first */
};

static struct ctf_stream *find_stream(const struct ctf_reader *reader, const void *of, unsigned way,
                                      uint64_t number)
{
    const uint32_t *found = pair_map_get(&reader->stream_of, (uintptr_t)of + way, number);
    return found ? reader->streams[*found] : NULL;
}

static bool put_first(struct pair_map *map, uint64_t a, uint64_t b, uint32_t value)
{
    return pair_map_get(map, a, b) || pair_map_put(map, a, b, value);
}

/* Lets the i-th stream be found. */
static bool index_stream(struct ctf_reader *reader, uint32_t i)
{
    const struct ctf_stream *stream = reader->streams[i];
    const uintptr_t kind = (uintptr_t)stream->kind, class = (uintptr_t)stream->class,
                    first = stream->kind ? (uintptr_t)stream->kind->first : 0;
    struct pair_map *map = &reader->stream_of;
    return pair_map_put(map, kind + WAY_PACKET + stream->has_number,
                        stream->has_number ? stream->number : 0, i) &&
           put_first(map, first + WAY_FIRST + stream->has_number, stream->number, i) &&
           pair_map_put(map, class + WAY_TRACK, stream->track, i) &&
           put_first(map, class + WAY_CLASS, 0, i);
}

/* Has the stream that was added last found as the others are, which are looked at one by one while
 * they are few. */
static bool index_last(struct ctf_reader *reader)
{
    bool is_fine = true;
    const size_t n = reader->streams_n;
    for (size_t i = n == CTF_LINEAR_SEARCH_MAX + 1 ? 0 : n - 1;
         n > CTF_LINEAR_SEARCH_MAX && i < n && is_fine; i++)
        is_fine = index_stream(reader, (uint32_t)i);
    return is_fine;
}

/* The stream of an event by its class and its track; one of the class where the track is another.
 */
static struct ctf_stream *stream_of_event(const struct ctf_reader *reader,
                                          const struct ctf_stream_class *class, ttr_id track)
{
    struct ctf_stream *found = reader->stream;
    if (found && found->class == class && found->track == track)
        return found;
    if (reader->streams_n > CTF_LINEAR_SEARCH_MAX) {
        found = find_stream(reader, class, WAY_TRACK, track);
        return found ? found : find_stream(reader, class, WAY_CLASS, 0);
    }
    found = NULL;
    for (size_t i = 0; i < reader->streams_n; i++) {
        struct ctf_stream *stream = reader->streams[i];
        if (stream->class == class && (!found || stream->track == track))
            found = stream;
    }
    return found;
}

/* --- Fields --- */

/* A packet, and the event in it that is looked at. */
struct view {
    const struct ctf_reader *reader;
    const struct ctf_packet *packet;
    const struct ctf_stream_decoder *kind;
    struct bits header; /* where the event's begins */
};

/* The layout of a root that stands before bodies, and where that begins; NULL when there is none.
 */
static const struct layout *stand_before(const struct view *view, enum type_root root,
                                         struct bits *bits)
{
    const struct ctf_packet *packet = view->packet;
    *bits = bits_init(view->reader->heads.bytes + packet->head_at, 0, (uint64_t)packet->head_n * 8);
    if (root == ROOT_PACKET_HEADER)
        return view->reader->trace->class->packet_header;
    if (root == ROOT_PACKET_CONTEXT) {
        bits->at = packet->context_bit;
        return view->kind->context;
    }
    *bits = view->header;
    return root == ROOT_EVENT_HEADER ? view->kind->header : NULL;
}

/* Fills the slots that a layout needs from the roots before it; those may need others, which stand
 * before them. */
static void fill_imports(const struct view *view, const struct layout *layout,
                         struct layout_cursor *run)
{
    uint32_t n;
    const struct layout_import *import = layout_imports(layout, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct layout_cursor outer = {.value = 0};
        const struct layout *before = stand_before(view, import[i].from.root, &outer.bits);
        uint64_t value = 0;
        run->slots[import[i].slot] = 0;
        if (!before || before == layout)
            continue;
        fill_imports(view, before, &outer);
        if (layout_evaluate_reference(before, &outer, &import[i].from, &value))
            run->slots[import[i].slot] = value;
    }
}

void ctf_fill_imports(struct ctf_reader *reader, const struct layout *layout,
                      const struct bits *header, struct layout_cursor *run)
{
    struct view view = {reader, &reader->packets[reader->slot], reader->stream->kind, *header};
    fill_imports(&view, layout, run);
}

struct ctf_origin ctf_origin_of(const struct ctf_schema *schema, const ttr_event *event)
{
    const struct ctf_trace *trace = schema->trace;
    if (schema->reader)
        return (struct ctf_origin){schema->reader, schema->stream};
    struct ctf_origin origin = {.reader =
                                    (size_t)event->source - trace->readers_from < trace->readers_n
                                        ? trace->readers[event->source - trace->readers_from]
                                        : NULL};
    if (origin.reader)
        origin.stream = stream_of_event(origin.reader, schema->event->stream, event->track);
    return origin;
}

/* Where an event begins, in bytes from its packet's base.  Its payload may be a copy, but for the
 * RFC's: what was unpacked has no places in the file. */
static uint64_t place_of(const struct ctf_reader *reader, const struct ctf_packet *packet,
                         const ttr_event *event)
{
    if (reader->trace->class->description.version == CTF_RFC_1_1)
        return (uint64_t)(event->payload - packet->base);
    return event->offset - packet->offset - packet->base_bit / 8;
}

static struct view view_of(const struct ctf_origin *origin, const ttr_event *event, uint64_t *from)
{
    const struct ctf_reader *reader = origin->reader;
    const struct ctf_packet *packet = &reader->packets[event->part % reader->slots_most];
    *from = place_of(reader, packet, event) * 8;
    uint64_t end = *from + (uint64_t)event->payload_size * 8;
    struct bits header = bits_init(packet->base, *from + ctf_header_bit(event),
                                   end < packet->content_end ? end : packet->content_end);
    return (struct view){reader, packet, origin->stream->kind, header};
}

/* Where the body of an event stands. */
static void place_body(const struct layout_schema *base, const ttr_event *event,
                       struct layout_cursor *run)
{
    const struct ctf_schema *schema = (const struct ctf_schema *)base;
    const struct ctf_origin origin = ctf_origin_of(schema, event);
    if (!origin.stream) {
        run->bits = (struct bits){.failed = true};
        return;
    }
    const struct ctf_packet *packet =
        &origin.reader->packets[event->part % origin.reader->slots_most];
    uint64_t from = place_of(origin.reader, packet, event) * 8,
             end = from + (uint64_t)event->payload_size * 8;
    /* One by one: a struct made on the stack is copied by vectors, which wait until its parts have
     * reached the cache. */
    run->bits.base = packet->base;
    run->bits.at = from + ctf_body_bit(event);
    run->bits.end = end < packet->content_end ? end : packet->content_end;
    run->bits.failed = from > packet->content_end; /* it is not that packet's */
    if (!schema->has_imports || run->bits.failed)
        return;
    struct view view = view_of(&origin, event, &from);
    fill_imports(&view, base->layout, run);
}

/* Where the context of its packet stands, or its own header. */
static const struct layout *locate_group(const struct layout_schema *base, const ttr_event *event,
                                         ttr_group group, struct layout_cursor *run)
{
    const struct ctf_schema *schema = (const struct ctf_schema *)base;
    uint64_t from;
    if (!event->payload_size || !schema->event ||
        (group != TTR_GROUP_PACKET && group != TTR_GROUP_HEADER))
        return NULL;
    const struct ctf_origin origin = ctf_origin_of(schema, event);
    if (!origin.stream)
        return NULL;
    if (group == TTR_GROUP_PACKET && origin.reader->has_cpu) {
        run->bits = (struct bits){.base = origin.reader->cpu_bytes, .end = 32};
        return schema->trace->cpu;
    }
    struct view view = view_of(&origin, event, &from);
    if (from > view.packet->content_end)
        return NULL;
    const struct layout *layout = stand_before(
        &view, group == TTR_GROUP_PACKET ? ROOT_PACKET_CONTEXT : ROOT_EVENT_HEADER, &run->bits);
    if (layout && group == TTR_GROUP_PACKET)
        layout = origin.stream->kind->context_shown;
    if (layout)
        fill_imports(&view, layout, run);
    return layout;
}

/* Packets are told apart by where they stand in their file. */
static uint64_t packet_number(const struct layout_schema *base, const ttr_event *event)
{
    const struct ctf_reader *reader = ctf_origin_of((const struct ctf_schema *)base, event).reader;
    return reader && event->part < reader->slots_most && reader->packets
               ? reader->packets[event->part].offset + 1
               : 0;
}

/* Where something may end: nowhere of its own, for it has no bits; at a byte; inside one. */
enum { ENDS_NOWHERE = 1u, ENDS_AT_BYTE = 2u, ENDS_INSIDE = 4u };

/* Of a row of types what stands last counts; where that may have no bits, what stands before it
 * does. */
static unsigned ends_of(const struct type *type)
{
    unsigned ends = ENDS_NOWHERE;
    switch (type->kind) {
    case TYPE_BITS:
    case TYPE_BOOL:
    case TYPE_UINT:
    case TYPE_INT:
    case TYPE_FLAGS:
    case TYPE_FLOAT:
    case TYPE_NULL:
        return type->bits % 8 || type->align < 3 ? ENDS_INSIDE : ENDS_AT_BYTE;
    case TYPE_STRUCT:
        for (uint32_t i = type->members_n; i > 0 && (ends & ENDS_NOWHERE); i--)
            ends = (ends & ~(unsigned)ENDS_NOWHERE) | ends_of(type->members[i - 1].type);
        return ends;
    case TYPE_ARRAY:
        return type->count ? ends_of(type->element) : ends;
    case TYPE_SEQUENCE:
        return (type->has_inline_length ? ends_of(type->length_type) : ends) |
               ends_of(type->element);
    case TYPE_OPTIONAL:
        return ends | ends_of(type->element);
    case TYPE_VARIANT:
        for (uint32_t i = 0; i < type->members_n; i++)
            ends |= ends_of(type->members[i].type);
        return ends;
    default:
        return ENDS_AT_BYTE;
    }
}

/* Whether events of a class may end inside a byte. */
static bool may_end_inside(const struct ctf_stream_class *stream,
                           const struct ctf_event_class *event)
{
    const struct type *const parts[] = {event->payload, event->context, stream->event_context,
                                        stream->event_header};
    unsigned ends = ENDS_NOWHERE;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && (ends & ENDS_NOWHERE); i++)
        if (parts[i])
            ends = (ends & ~(unsigned)ENDS_NOWHERE) | ends_of(parts[i]);
    return ends & ENDS_INSIDE;
}

void ctf_event_bit_range(const struct ctf_schema *schema, const ttr_event *event, uint64_t *from,
                         uint64_t *to)
{
    const struct ctf_packet *packet = &schema->reader->packets[event->part];
    uint64_t first = packet->base_bit + place_of(schema->reader, packet, event) * 8;
    struct layout_cursor run = {.has_cut_text = false};
    *from = first + ctf_header_bit(event);
    *to = first + (uint64_t)event->payload_size * 8;
    if (!schema->ends_inside)
        return;
    place_body(&schema->base, event, &run);
    if (!schema->base.layout)
        *to = first + ctf_body_bit(event);
    else if (layout_find_record_end(schema->base.layout, &run) == LAYOUT_OK)
        *to = packet->base_bit + run.bits.at;
}

/* --- Threads --- */

/* LEB128; the body was measured, so that it has an end. */
static uint64_t load_leb(const uint8_t *p, bool is_signed)
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

static uint64_t load_spot(const struct ctf_field_pos *spot, const uint8_t *body)
{
    const uint8_t *p = body + spot->at;
    for (unsigned i = 0; i < spot->skipped; i++)
        while (*p++ & 0x80)
            continue;
    if (spot->is_leb)
        return load_leb(p, spot->is_signed);
    if (spot->bytes == 8)
        return spot->is_big_endian ? load_u64be(p) : load_u64le(p);
    uint32_t value = spot->is_big_endian ? load_u32be(p) : load_u32le(p);
    return spot->is_signed ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* A name that tracers keep in a field of fixed size becomes that of a thread that has none. */
static bool name_thread(struct ctf_reader *reader, const struct ctf_event_decoder *class,
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
    uint64_t pid = class->pid.bytes ? load_spot(&class->pid, body) : 0,
             tid = class->tid.bytes ? load_spot(&class->tid, body) : 0;
    if (reader->last_thread && pid == reader->last_pid && tid == reader->last_tid)
        return reader->last_thread;
    ttr_id id;
    if (!class->tid.bytes)
        id = context_process_thread(t, source, pid);
    else
        id = class->pid.bytes ? context_thread(t, source, pid, tid)
                              : context_thread_by_tid(t, source, tid);
    if (!id || !name_thread(reader, class, body, id))
        return 0;
    reader->last_pid = pid;
    reader->last_tid = tid;
    reader->last_thread = id;
    return id;
}

static bool is_leb(const struct type *type)
{
    return type->kind == TYPE_VAR_UINT || type->kind == TYPE_VAR_INT;
}

/* Where a member of the common context begins: at a fixed place of whole bytes, or behind LEB128
 * numbers that begin at one. */
static const struct type *find_begin(const struct layout *layout, const struct type *context,
                                     ttr_text name, struct ctf_field_pos *spot)
{
    struct layout_member_position found;
    const struct type_member *member =
        context && context->kind == TYPE_STRUCT ? type_find_member(context, name) : NULL;
    const struct type *type = member ? member->type : NULL;
    if (!type)
        return NULL;
    while (member > context->members && is_leb(member[-1].type) && member->type->align <= 3 &&
           !member->type->unit && spot->skipped < UINT8_MAX) {
        spot->skipped++;
        member--;
    }
    if (!layout_locate_member(layout, ROOT_COMMON_CONTEXT, member->name, &found) ||
        (found.bit & 7) || found.bit / 8 > UINT16_MAX)
        return NULL;
    spot->at = (uint16_t)(found.bit / 8);
    return type;
}

/* Where a number or text of the common context lies. */
static struct ctf_field_pos find_spot(const struct layout *layout, const struct type *context,
                                      const char *const *names)
{
    for (; *names; names++) {
        struct ctf_field_pos spot = {0};
        const struct type *type =
            find_begin(layout, context, (ttr_text){*names, strlen(*names)}, &spot);
        if (!type)
            continue;
        spot.is_big_endian = type->is_big_endian;
        spot.is_signed = type->kind == TYPE_INT || type->kind == TYPE_VAR_INT;
        spot.is_leb = is_leb(type);
        if ((type->kind == TYPE_INT || type->kind == TYPE_UINT) &&
            (type->bits == 32 || type->bits == 64) && !type->is_reversed)
            spot.bytes = (uint8_t)(type->bits / 8);
        if (spot.is_leb)
            spot.bytes = 8;
        if (type->kind == TYPE_TEXT && type->count && type->count < 256 && !spot.skipped)
            spot.bytes = (uint8_t)type->count;
        if (spot.bytes)
            return spot;
    }
    return (struct ctf_field_pos){0};
}

/* Finds where threads lie, once in a class of traces; NULL when memory is out. */
static const struct ctf_thread_fields *find_threads(struct ctf_trace *trace,
                                                    struct ctf_event_class *event)
{
    static const char *const pids[] = {"_vpid",     "vpid",     "_pid", "pid",
                                       "_perf_pid", "perf_pid", NULL};
    static const char *const tids[] = {"_vtid",     "vtid",     "_tid", "tid",
                                       "_perf_tid", "perf_tid", NULL};
    static const char *const names[] = {"_procname", "procname", "_perf_comm", "perf_comm", NULL};
    struct ctf_thread_fields *spots =
        event->spots ? NULL : arena_alloc(&trace->class->description.arena, sizeof *spots);
    if (!spots)
        return event->spots;
    const struct type *context = event->stream->event_context;
    *spots = (struct ctf_thread_fields){find_spot(event->layout, context, pids),
                                        find_spot(event->layout, context, tids),
                                        find_spot(event->layout, context, names)};
    if (spots->name.is_leb)
        spots->name.bytes = 0;
    if (spots->pid.bytes != 4 && spots->pid.bytes != 8)
        spots->pid.bytes = 0;
    if (spots->tid.bytes != 4 && spots->tid.bytes != 8)
        spots->tid.bytes = 0;
    return event->spots = spots;
}

/* --- Event classes --- */

/* Compiles what stands behind the header of an event, once in a class of traces. */
static bool compile_body(struct ctf_trace *trace, struct ctf_event_class *event, ttr_error *error)
{
    const struct ctf_stream_class *stream = event->stream;
    struct layout_spec spec = {
        .t = trace->t,
        .arena = &trace->class->description.arena,
        .root = {[ROOT_COMMON_CONTEXT] = stream->event_context,
                 [ROOT_SPECIFIC_CONTEXT] = event->context,
                 [ROOT_PAYLOAD] = event->payload},
        .outer = {[ROOT_PACKET_HEADER] = trace->class->description.packet_header,
                  [ROOT_PACKET_CONTEXT] = stream->packet_context,
                  [ROOT_EVENT_HEADER] = stream->event_header},
        .shown_roles = UINT64_C(1) << CTF_ROLE_CPU |
                       (trace->class->hides_mapped ? 0 : UINT64_C(1) << CTF_ROLE_TIME),
    };
    if (event->layout || (!stream->event_context && !event->context && !event->payload))
        return true;
    event->layout = layout_compile(&spec, error);
    spec.shows_hidden = true;
    if (event->layout &&
        (ctf_type_updates_clock(stream->event_context) || ctf_type_updates_clock(event->context) ||
         ctf_type_updates_clock(event->payload)))
        return (event->times = layout_compile(&spec, error)) != NULL;
    return event->layout != NULL;
}

/* The name, and the provider that LTTng puts before a colon in it. */
static bool intern_names(struct ctf_trace *trace, struct ctf_event_class *event, ttr_error *error)
{
    struct intern *strings = &trace->t->strings;
    const char *colon = event->name.n ? memchr(event->name.p, ':', event->name.n) : NULL;
    uint32_t name = intern_add(strings, event->name.p ? event->name.p : "", event->name.n);
    uint32_t provider =
        colon ? intern_add(strings, event->name.p, (size_t)(colon - event->name.p)) : 0;
    if (name == UINT32_MAX || provider == UINT32_MAX) {
        (void)fail_memory(error);
        return false;
    }
    event->name_id = name;
    event->provider_id = provider;
    return true;
}

/* The packet context where it has members for people, or none at all: one of nothing but sizes and
 * times is not shown as a part of events, not even as an empty one. */
static const struct type *shown_context(const struct type *context)
{
    if (context && context->members_n == 0)
        return context;
    for (uint32_t i = 0; context && i < context->members_n; i++) {
        unsigned role = context->members[i].type->role;
        if (role == CTF_ROLE_NONE || role == CTF_ROLE_CPU)
            return context;
    }
    return NULL;
}

void ctf_describe_class(const struct ctf_trace *trace, const struct ctf_event_class *event,
                        struct event_class *about)
{
    const struct ctf_stream_class *stream = event->stream;
    *about = (struct event_class){
        .name = event->name.p ? event->name : (ttr_text){"", 0},
        .id = event->id,
        .stream_id = stream->id,
        .stream_name = stream->name.p ? stream->name : (ttr_text){"", 0},
        .level = level_of(event),
        .root = {trace->class->description.packet_header, shown_context(stream->packet_context),
                 stream->event_header, stream->event_context, event->context, event->payload},
        .has_log_level = event->has_log_level,
        .has_clock = stream->clock != NULL,
        .log_level = event->log_level,
        .emf_uri = event->emf_uri.p ? event->emf_uri : (ttr_text){"", 0},
    };
}

static const struct event_class *describe(struct ctf_reader *reader,
                                          const struct ctf_event_class *event)
{
    struct event_class *about = arena_alloc(&reader->trace->met, sizeof *about);
    if (about)
        ctf_describe_class(reader->trace, event, about);
    if (about && reader->has_cpu)
        about->root[ROOT_PACKET_CONTEXT] = reader->trace->cpu_context;
    return about;
}

static bool add_schema(struct ctf_reader *reader, struct ctf_schema *schema,
                       const struct event_class *about)
{
    const void *start = schema->base.layout ? layout_iter_start(schema->base.layout) : NULL;
    bool is_listed =
        schema->event && reader->trace->class->is_dialect && ctf_is_listed_class(schema->event);
    schema->id = context_add_schema(
        reader->trace->t,
        &(struct schema){.ops = is_listed ? &ctf_listed_field_ops : &layout_field_ops,
                         .ctx = schema,
                         .start = start,
                         .start_with = layout_iter_start_flags(&schema->base),
                         .format = reader->trace->format,
                         .event_class = is_listed ? NULL : about});
    return schema->id != 0;
}

/* A class of our own dialect says more than others. */
static bool take_dialect(struct ctf_reader *reader, const struct ctf_event_class *event,
                         struct ctf_event_decoder *class, ttr_error *error)
{
    const struct ctf_trace *trace = reader->trace;
    struct ctf_dialect_attributes *said =
        trace->class->is_dialect ? arena_alloc(&reader->trace->met, sizeof *said) : NULL;
    if (!trace->class->is_dialect)
        return true;
    if (!said) {
        (void)fail_memory(error);
        return false;
    }
    if (ctf_dialect_find_attributes(&trace->class->description, trace->t, event, said, error) !=
        TTR_OK)
        return false;
    class->said = said;
    class->has_thread = false;
    class->model.kind = said->kind;
    class->model.level = said->level;
    class->model.name = said->name;
    class->model.category = said->category;
    class->model.provider = said->provider;
    if (said->has_number)
        context_set_event_number(trace->t, class->schema->id, said->number, said->version);
    return true;
}

/* Whether streams share the schemas of their events. */
static bool shares_schemas(const struct ctf_reader *reader)
{
    return reader->trace->class->description.version != CTF_RFC_1_1 && !reader->has_cpu &&
           !(reader->in->flags & TTR_READ_DEFINITIONS);
}

/* The place of the schema that streams share; NULL when memory is out. */
static struct ctf_schema **shared_place(struct ctf_trace *trace,
                                        const struct ctf_event_class *event)
{
    const size_t had = trace->schemas_n;
    if (!alloc_reserve(&trace->t->counted, (void **)&trace->schemas, &trace->schemas_n,
                       event->number + 1, sizeof(struct ctf_schema *)))
        return NULL;
    for (size_t i = had; i < trace->schemas_n; i++)
        trace->schemas[i] = NULL;
    return &trace->schemas[event->number];
}

/* The schema of a class in the present stream; NULL when memory is out. */
static struct ctf_schema *schema_of(struct ctf_reader *reader, struct ctf_event_class *event)
{
    const bool is_shared = shares_schemas(reader);
    struct ctf_schema **place = is_shared ? shared_place(reader->trace, event) : NULL;
    if (is_shared && (!place || *place))
        return place ? *place : NULL;
    struct ctf_schema *schema = arena_alloc(&reader->trace->met, sizeof *schema);
    const struct event_class *about = describe(reader, event);
    if (!schema || !about)
        return NULL;
    *schema = (struct ctf_schema){.base = {.layout = event->layout,
                                           .scratch = &reader->trace->scratch,
                                           .place = place_body,
                                           .locate_group = locate_group,
                                           .packet = packet_number},
                                  .trace = reader->trace,
                                  .event = event,
                                  .ends_inside = may_end_inside(reader->stream->kind->class, event),
                                  .stream = is_shared ? NULL : reader->stream,
                                  .reader = is_shared ? NULL : reader};
    if (event->layout) {
        uint32_t imports;
        (void)layout_imports(event->layout, &imports);
        schema->has_imports = imports > 0;
        schema->base.is_in_payload = !imports && layout_is_byte_aligned(event->layout);
        schema->base.body_mask = CTF_BODY_MASK;
    }
    if (!add_schema(reader, schema, about))
        return NULL;
    if (is_shared)
        *place = schema;
    return schema;
}

static struct ctf_event_decoder *make_class(struct ctf_reader *reader,
                                            struct ctf_event_class *event, ttr_error *error)
{
    struct ctf_stream *stream = reader->stream;
    if (!compile_body(reader->trace, event, error) || !intern_names(reader->trace, event, error))
        return NULL;
    struct ctf_event_decoder *class = arena_alloc(&reader->trace->met, sizeof *class);
    const struct ctf_thread_fields *spots =
        event->layout ? find_threads(reader->trace, event) : NULL;
    struct ctf_schema *schema =
        class && (spots || !event->layout) ? schema_of(reader, event) : NULL;
    if (!schema) {
        (void)fail_memory(error);
        return NULL;
    }
    *class = (struct ctf_event_decoder){.layout = event->layout,
                                        .times = event->times,
                                        .schema = schema,
                                        .has_imports = schema->has_imports};
    if (class->layout) {
        class->fixed = layout_fixed_record_bits(class->layout);
        class->pid = spots->pid;
        class->tid = spots->tid;
        class->name = spots->name;
        class->has_thread = spots->pid.bytes || spots->tid.bytes;
    }
    class->shape = layout_get_shape(class->layout);
    class->model = (ttr_event){
        .kind = TTR_KIND_INSTANT,
        .source = reader->in->id,
        .schema = schema->id,
        .name = event->name_id,
        .provider = event->provider_id,
        .track = stream->track,
        .level = level_of(event),
        .flags = reader->in->flags & TTR_READ_DEFINITIONS ? TTR_EVENT_RAW : 0,
    };
    if (!take_dialect(reader, event, class, error))
        return NULL;
    class->is_usual = !class->has_imports && !class->said && !class->times;
    return class;
}

/* Makes room for an index, and for an id. */
static bool reserve_index(const struct alloc *alloc, struct ctf_stream *stream, size_t need)
{
    size_t before = stream->by_index_n;
    if (!alloc_reserve(alloc, (void **)&stream->by_index, &stream->by_index_n, need,
                       sizeof *stream->by_index))
        return false;
    if (stream->by_index_n > before)
        memset(stream->by_index + before, 0,
               (stream->by_index_n - before) * sizeof *stream->by_index);
    return true;
}

static bool reserve_id(struct ctf_trace *trace, struct ctf_stream *stream, size_t need)
{
    const struct alloc *alloc = &trace->t->counted;
    const size_t had = stream->by_id_n, doubled = 2 * had > FIRST_IDS ? 2 * had : FIRST_IDS,
                 n = need > doubled ? need : doubled;
    if (need <= had)
        return true;
    void *memory = alloc_resize(alloc, NULL, 0, n + 1, sizeof *stream->by_id);
    if (!memory)
        return false;
    struct ctf_class_entry *by_id =
        (struct ctf_class_entry *)(((uintptr_t)memory + CTF_LINE - 1) & ~(uintptr_t)(CTF_LINE - 1));
    for (size_t i = 0; i < n; i++)
        by_id[i] = i < had ? stream->by_id[i]
                           : (struct ctf_class_entry){
                                 .bytes = {.rest = LAYOUT_BYTE_SHAPE_NONE, .no_text = UINT32_MAX}};
    alloc_free(alloc, stream->by_id_memory, had + 1, sizeof *stream->by_id);
    stream->by_id_memory = memory;
    stream->by_id = by_id;
    stream->by_id_n = n;
    return true;
}

/* The shape of whole events, whose headers have a fixed size. */
static struct layout_byte_shape bytes_of(const struct ctf_stream *stream,
                                         const struct ctf_event_decoder *class)
{
    struct layout_shape shape = class->shape;
    shape.first += stream->kind->plan.loads.bits;
    return layout_shape_to_bytes(&shape);
}

/* Keeps a class by its id. */
static void enter(struct ctf_stream *stream, size_t id, struct ctf_event_decoder *class)
{
    struct ctf_class_entry *entry = &stream->by_id[id];
    entry->class = class;
    if (!class)
        return;
    const ttr_event *model = &class->model;
    entry->schema = model->schema;
    entry->name = model->name;
    entry->provider = model->provider;
    entry->category = model->category;
    entry->track = model->track;
    entry->kind = model->kind;
    entry->level = model->level;
    entry->opcode = model->opcode;
    entry->flags = model->flags;
    if (class->is_usual && !class->has_thread)
        entry->bytes = bytes_of(stream, class);
    stream->has_extended |= id >= stream->kind->plan.escape;
}

struct ctf_event_decoder *ctf_event_decoder_of(struct ctf_reader *reader, uint64_t id,
                                               ttr_error *error)
{
    struct ctf_stream *stream = reader->stream;
    const struct alloc *alloc = &reader->trace->t->counted;
    const uint32_t *found = pair_map_get(&stream->class->events_by_id, id, 0);
    if (!found)
        return NULL;
    uint32_t index = *found;
    if (!reserve_index(alloc, stream, (size_t)index + 1) ||
        (id < DENSE_IDS && !reserve_id(reader->trace, stream, (size_t)id + 1))) {
        (void)fail_memory(error);
        return NULL;
    }
    if (!stream->by_index[index])
        stream->by_index[index] = make_class(reader, stream->class->events[index], error);
    if (id < DENSE_IDS)
        enter(stream, id, stream->by_index[index]);
    return stream->by_index[index];
}

/* --- Streams --- */

/* The stream that a new one goes on in another byte order; itself where it does not. */
static struct ctf_stream *first_of(const struct ctf_reader *reader, struct ctf_stream *stream)
{
    if (reader->streams_n > CTF_LINEAR_SEARCH_MAX && stream->kind) {
        const struct ctf_stream *other = find_stream(
            reader, stream->kind->first, WAY_FIRST + stream->has_number, stream->number);
        return other ? other->first : stream;
    }
    for (size_t i = 0; i < reader->streams_n && stream->kind; i++) {
        struct ctf_stream *other = reader->streams[i];
        if (other->kind && other->kind->first == stream->kind->first &&
            other->has_number == stream->has_number && other->number == stream->number)
            return other->first;
    }
    return stream;
}

/* What a stream's file is called where it is written, which is not compressed: the reader's name
 * without the suffix of its compression, unless another file of the folder is called so.  NULL when
 * memory is out. */
static const char *written_name(const struct ctf_reader *reader)
{
    static const char *const suffixes[] = {".gz", ".zst", ".lz4", ".bz2", ".xz"};
    const size_t n = strlen(reader->file);
    size_t bare = n;
    if (!*source_compression(reader->in->source))
        return reader->file;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && bare == n; i++)
        if (n > strlen(suffixes[i]) &&
            strcasecmp(reader->file + n - strlen(suffixes[i]), suffixes[i]) == 0)
            bare = n - strlen(suffixes[i]);
    const char *name = bare < n && reader->file[bare - 1] != '/'
                           ? arena_copy(&reader->trace->met, reader->file, bare)
                           : reader->file;
    return name && reader->trace->folder && folder_find_file(reader->trace->folder, name)
               ? reader->file
               : name;
}

static struct ctf_stream *make_stream(struct ctf_reader *reader, const struct ctf_frame *frame)
{
    ttr *t = reader->trace->t;
    struct ctf_stream *stream = arena_alloc(&reader->trace->met, sizeof *stream);
    struct ctf_schema *schema = arena_alloc(&reader->trace->met, sizeof *schema);
    uint32_t name = intern_add(&t->strings, reader->file, strlen(reader->file));
    const char *file = written_name(reader);
    if (!stream || !schema || !file || name == UINT32_MAX)
        return NULL;
    *stream = (struct ctf_stream){.trace = reader->trace,
                                  .class = frame->kind ? frame->kind->class : NULL,
                                  .kind = frame->kind,
                                  .file = file,
                                  .number = frame->has_number ? frame->number : reader->number,
                                  .has_number = frame->has_number,
                                  .schema = schema,
                                  .is_entered_late = reader->is_entered_late,
                                  .time = INT64_MIN};
    *schema = (struct ctf_schema){
        .base = {.place = place_body}, .trace = reader->trace, .stream = stream, .reader = reader};
    const struct ctf_packet_queue *queue =
        reader->file_index && frame->kind
            ? ctf_find_queue(reader->file_index, reader->packet_i, frame)
            : NULL;
    if (queue)
        stream->before = queue->initial;
    stream->first = first_of(reader, stream);
    stream->track = stream->first->track;
    if (stream->first == stream)
        stream->track = context_add_track(
            t, &(ttr_track){.number = stream->number, .name = name, .source = reader->in->id});
    return stream->track && ctf_trace_register_reader(reader->trace, reader) &&
                   add_schema(reader, schema, NULL)
               ? stream
               : NULL;
}

/* The stream of a packet that was met; NULL = none was. */
static struct ctf_stream *stream_met(const struct ctf_reader *reader, const struct ctf_frame *frame)
{
    const uint64_t number = frame->has_number ? frame->number : 0;
    if (reader->streams_n > CTF_LINEAR_SEARCH_MAX)
        return find_stream(reader, frame->kind, WAY_PACKET + frame->has_number, number);
    for (size_t i = 0; i < reader->streams_n; i++) {
        struct ctf_stream *stream = reader->streams[i];
        if (stream->kind == frame->kind && stream->has_number == frame->has_number &&
            (!frame->has_number || stream->number == number))
            return stream;
    }
    return NULL;
}

struct ctf_stream *ctf_get_stream(struct ctf_reader *reader, const struct ctf_frame *frame)
{
    struct ctf_stream *stream = stream_met(reader, frame);
    if (stream)
        return stream;
    if (!alloc_reserve(&reader->trace->t->counted, (void **)&reader->streams,
                       &reader->streams_capacity, reader->streams_n + 1,
                       sizeof(struct ctf_stream *)))
        return NULL;
    stream = make_stream(reader, frame);
    if (!stream)
        return NULL;
    reader->streams[reader->streams_n++] = stream;
    return index_last(reader) ? stream : NULL;
}

void ctf_free_streams(struct ctf_reader *reader)
{
    ttr *t = reader->trace->t;
    const struct alloc *alloc = &t->counted;
    ctf_trace_unregister_reader(reader->trace, reader);
    for (size_t i = 0; i < reader->streams_n; i++) {
        struct ctf_stream *stream = reader->streams[i];
        context_drop_schema(t, stream->schema->id);
        for (size_t k = 0; k < stream->by_index_n; k++)
            if (stream->by_index[k] && stream->by_index[k]->schema->reader)
                context_drop_schema(t, stream->by_index[k]->schema->id);
        alloc_free(alloc, stream->by_id_memory, stream->by_id_n + 1, sizeof *stream->by_id);
        alloc_free(alloc, stream->by_index, stream->by_index_n, sizeof *stream->by_index);
    }
    alloc_free(alloc, reader->streams, reader->streams_capacity, sizeof(struct ctf_stream *));
    pair_map_free(&reader->stream_of);
}
