/* Decoders of event classes, created when the first event of a class is met in a stream. A decoder
 * contains everything that is equal for all events of the class, so that the event loops only copy
 * it. Streams are in ctf_stream.c, field access in ctf_event_fields.c, thread fields in
 * ctf_event_thread.c. */
#include <string.h>
#include <strings.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_build_index.h"

#define FIRST_IDS 4u
#define DENSE_IDS 65536u /* smaller ids use an array by id; larger ones are found by index only */

/* Maps LTTng log levels: 0 to 7 are those of syslog, 8 to 14 are debug levels of rising detail. */
static uint8_t ttr_level_of_lttng(const struct ctf_event_class *event)
{
    static const uint8_t levels[] = {TTR_LEVEL_FATAL, TTR_LEVEL_FATAL,   TTR_LEVEL_FATAL,
                                     TTR_LEVEL_ERROR, TTR_LEVEL_WARNING, TTR_LEVEL_INFO,
                                     TTR_LEVEL_INFO};
    if (!event->has_log_level || event->log_level < 0)
        return TTR_LEVEL_NONE;
    return event->log_level < (int64_t)sizeof levels ? levels[event->log_level] : TTR_LEVEL_DEBUG;
}

/* --- Finding streams --- */

/* Keys of the hash table of streams. A key is an address plus one of these numbers, which are
 * smaller than the structures, so keys of different kinds never collide. */
enum stream_key {
    /* its decoder plus the packet's stream number; 1 more if packets have no number */
    KEY_PACKET = 0,
    KEY_FIRST = 2, /* decoder of the first byte order plus stream number; the stream met first */
    KEY_TRACK = 4, /* its class plus the track of its events */
    KEY_CLASS = 5  /* its class; the stream met first */
};

static struct ctf_stream *lookup_stream(const struct ctf_reader *reader, const void *of,
                                        unsigned key, uint64_t number)
{
    const uint32_t *found = pairmap_get(&reader->stream_of, (uintptr_t)of + key, number);
    return found ? reader->streams[*found] : NULL;
}

static bool put_if_absent(struct pairmap *map, uint64_t a, uint64_t b, uint32_t value)
{
    return pairmap_get(map, a, b) || pairmap_put(map, a, b, value);
}

/* Adds the i-th stream to the hash table. */
static bool index_stream(struct ctf_reader *reader, uint32_t i)
{
    const struct ctf_stream *stream = reader->streams[i];
    const uintptr_t kind = (uintptr_t)stream->kind, class = (uintptr_t)stream->class,
                    first = stream->kind ? (uintptr_t)stream->kind->first : 0;
    struct pairmap *map = &reader->stream_of;
    return pairmap_put(map, kind + KEY_PACKET + stream->has_number,
                       stream->has_number ? stream->number : 0, i) &&
           put_if_absent(map, first + KEY_FIRST + stream->has_number, stream->number, i) &&
           pairmap_put(map, class + KEY_TRACK, stream->track, i) &&
           put_if_absent(map, class + KEY_CLASS, 0, i);
}

/* Adds the last stream to the hash table. The table is built when a file has more than
 * CTF_LINEAR_SEARCH_MAX streams. */
static bool index_last_stream(struct ctf_reader *reader)
{
    bool is_fine = true;
    const size_t n = reader->streams_n;
    for (size_t i = n == CTF_FEW_STREAMS + 1 ? 0 : n - 1; n > CTF_FEW_STREAMS && i < n && is_fine;
         i++)
        is_fine = index_stream(reader, (uint32_t)i);
    return is_fine;
}

/* Returns the stream of an event by class and track. If the track was changed, returns any stream
 * of the class. */
static struct ctf_stream *stream_of_event(const struct ctf_reader *reader,
                                          const struct ctf_stream_class *class, ttr_id track)
{
    struct ctf_stream *found = reader->stream;
    if (found && found->class == class && found->track == track)
        return found;
    if (reader->streams_n > CTF_FEW_STREAMS) {
        found = lookup_stream(reader, class, KEY_TRACK, track);
        return found ? found : lookup_stream(reader, class, KEY_CLASS, 0);
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

/* Position of one event for reading its fields. */
struct event_view {
    const struct ctf_reader *reader;
    const struct ctf_packet *packet;
    const struct ctf_kind *kind;
    struct bits header; /* start of the event header */
};

/* Returns the layout of a root before the event body, and its position in *bits. Returns NULL if
 * there is none. */
static const struct layout *find_earlier_root(const struct event_view *view, enum type_root root,
                                              struct bits *bits)
{
    const struct ctf_packet *packet = view->packet;
    *bits = bits_over(view->reader->heads.bytes + packet->head_at, 0, (uint64_t)packet->head_n * 8);
    if (root == ROOT_PACKET_HEADER)
        return view->reader->trace->class->packet_header;
    if (root == ROOT_PACKET_CONTEXT) {
        bits->at = packet->context_bit;
        return view->kind->context;
    }
    *bits = view->header;
    return root == ROOT_EVENT_HEADER ? view->kind->header : NULL;
}

/* Fills the import slots of a layout with values from earlier roots. Recursive, because those roots
 * may have imports of even earlier ones. */
static void fill_imports(const struct event_view *view, const struct layout *layout,
                         struct layout_run *run)
{
    uint32_t n;
    const struct layout_import *import = layout_imports(layout, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct layout_run outer = {.value = 0};
        const struct layout *before = find_earlier_root(view, import[i].from.root, &outer.bits);
        uint64_t value = 0;
        run->slots[import[i].slot] = 0;
        if (!before || before == layout)
            continue;
        fill_imports(view, before, &outer);
        if (layout_evaluate(before, &outer, &import[i].from, &value))
            run->slots[import[i].slot] = value;
    }
}

void ctf_import(struct ctf_reader *reader, const struct layout *layout, const struct bits *header,
                struct layout_run *run)
{
    struct event_view view = {reader, &reader->packets[reader->slot], reader->stream->kind,
                              *header};
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

/* Returns the start of an event, in bytes from its packet's base. Uses file offsets, since the
 * payload may be a copy; but v1.1 uses addresses, since unpacked content has no file offsets. */
static uint64_t event_offset_in_packet(const struct ctf_reader *reader,
                                       const struct ctf_packet *packet, const ttr_event *event)
{
    if (reader->trace->class->description.version == CTF_RFC_1_1)
        return (uint64_t)(event->payload - packet->base);
    return event->offset - packet->offset - packet->base_bit / 8;
}

static struct event_view view_of_event(const struct ctf_origin *origin, const ttr_event *event,
                                       uint64_t *from)
{
    const struct ctf_reader *reader = origin->reader;
    const struct ctf_packet *packet = &reader->packets[event->part % reader->slots_most];
    *from = event_offset_in_packet(reader, packet, event) * 8;
    uint64_t end = *from + (uint64_t)event->payload_size * 8;
    struct bits header = bits_over(packet->base, *from + ctf_header_bit(event),
                                   end < packet->content_end ? end : packet->content_end);
    return (struct event_view){reader, packet, origin->stream->kind, header};
}

/* Implements layout_schema.place: finds the body of an event. */
static void place_event_body(const struct layout_schema *base, const ttr_event *event,
                             struct layout_run *run)
{
    const struct ctf_schema *schema = (const struct ctf_schema *)base;
    const struct ctf_origin origin = ctf_origin_of(schema, event);
    if (!origin.stream) {
        run->bits = (struct bits){.failed = true};
        return;
    }
    const struct ctf_packet *packet =
        &origin.reader->packets[event->part % origin.reader->slots_most];
    uint64_t from = event_offset_in_packet(origin.reader, packet, event) * 8,
             end = from + (uint64_t)event->payload_size * 8;
    /* Assigned member by member: a struct assignment would be compiled to vector copies of freshly
     * written parts, which stall on store forwarding. */
    run->bits.base = packet->base;
    run->bits.at = from + ctf_body_bit(event);
    run->bits.end = end < packet->content_end ? end : packet->content_end;
    run->bits.failed = from > packet->content_end; /* the event is not from this packet */
    if (!schema->has_imports || run->bits.failed)
        return;
    struct event_view view = view_of_event(&origin, event, &from);
    fill_imports(&view, base->layout, run);
}

/* Implements layout_schema.place_group: finds the packet context or the event header of an
 * event.
 */
static const struct layout *place_event_group(const struct layout_schema *base,
                                              const ttr_event *event, ttr_group group,
                                              struct layout_run *run)
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
    struct event_view view = view_of_event(&origin, event, &from);
    if (from > view.packet->content_end)
        return NULL;
    const struct layout *layout = find_earlier_root(
        &view, group == TTR_GROUP_PACKET ? ROOT_PACKET_CONTEXT : ROOT_EVENT_HEADER, &run->bits);
    if (layout && group == TTR_GROUP_PACKET)
        layout = origin.stream->kind->context_shown;
    if (layout)
        fill_imports(&view, layout, run);
    return layout;
}

/* Returns a nonzero number that is unique per packet of a file: its offset + 1. */
static uint64_t packet_number_of_event(const struct layout_schema *base, const ttr_event *event)
{
    const struct ctf_reader *reader = ctf_origin_of((const struct ctf_schema *)base, event).reader;
    return reader && event->part < reader->slots_most && reader->packets
               ? reader->packets[event->part].offset + 1
               : 0;
}

/* Where a type can end: it may have no bits; at a byte boundary; inside a byte. */
enum { ENDS_NOWHERE = 1u, ENDS_AT_BYTE = 2u, ENDS_INSIDE = 4u };

/* Returns the possible ends of a type as a set. In a sequence of types the last one counts; if it
 * may be empty, the one before it counts too. */
static unsigned possible_ends(const struct type *type)
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
            ends = (ends & ~(unsigned)ENDS_NOWHERE) | possible_ends(type->members[i - 1].type);
        return ends;
    case TYPE_ARRAY:
        return type->count ? possible_ends(type->element) : ends;
    case TYPE_SEQUENCE:
        return (type->has_inline_length ? possible_ends(type->length_type) : ends) |
               possible_ends(type->element);
    case TYPE_OPTIONAL:
        return ends | possible_ends(type->element);
    case TYPE_VARIANT:
        for (uint32_t i = 0; i < type->members_n; i++)
            ends |= possible_ends(type->members[i].type);
        return ends;
    default:
        return ENDS_AT_BYTE;
    }
}

/* Returns true if events of a class may end inside a byte. */
static bool may_end_inside(const struct ctf_stream_class *stream,
                           const struct ctf_event_class *event)
{
    const struct type *const parts[] = {event->payload, event->context, stream->event_context,
                                        stream->event_header};
    unsigned ends = ENDS_NOWHERE;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && (ends & ENDS_NOWHERE); i++)
        if (parts[i])
            ends = (ends & ~(unsigned)ENDS_NOWHERE) | possible_ends(parts[i]);
    return ends & ENDS_INSIDE;
}

void ctf_event_bits(const struct ctf_schema *schema, const ttr_event *event, uint64_t *from,
                    uint64_t *to)
{
    const struct ctf_packet *packet = &schema->reader->packets[event->part];
    uint64_t first = packet->base_bit + event_offset_in_packet(schema->reader, packet, event) * 8;
    struct layout_run run = {.has_cut_text = false};
    *from = first + ctf_header_bit(event);
    *to = first + (uint64_t)event->payload_size * 8;
    if (!schema->ends_inside)
        return;
    place_event_body(&schema->base, event, &run);
    if (!schema->base.layout)
        *to = first + ctf_body_bit(event);
    else if (layout_measure(schema->base.layout, &run) == LAYOUT_FINE)
        *to = packet->base_bit + run.bits.at;
}

/* --- Threads --- */

/* Decodes a LEB128 number. It is terminated, because the body was measured before. */
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

static uint64_t load_context_field(const struct ctf_spot *spot, const uint8_t *body)
{
    const uint8_t *p = body + spot->at;
    for (unsigned i = 0; i < spot->skipped; i++)
        while (*p++ & 0x80)
            continue;
    if (spot->is_leb)
        return load_leb128(p, spot->is_signed);
    if (spot->bytes == 8)
        return spot->is_big_endian ? load_u64be(p) : load_u64le(p);
    uint32_t value = spot->is_big_endian ? load_u32be(p) : load_u32le(p);
    return spot->is_signed ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* Names an unnamed thread by its fixed-size name field (as LTTng's procname). Returns false if
 * memory is out. */
static bool name_thread(struct ctf_reader *reader, const struct ctf_class *class,
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

bool ctf_is_last_thread(const struct ctf_reader *reader, const struct ctf_class *class,
                        const uint8_t *body)
{
    uint64_t pid = class->pid.bytes ? load_context_field(&class->pid, body) : 0,
             tid = class->tid.bytes ? load_context_field(&class->tid, body) : 0;
    return reader->last_thread && pid == reader->last_pid && tid == reader->last_tid;
}

ttr_id ctf_find_thread(struct ctf_reader *reader, const struct ctf_class *class,
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
        id = context_process(t, source, pid);
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

static bool is_leb128_type(const struct type *type)
{
    return type->kind == TYPE_VAR_UINT || type->kind == TYPE_VAR_INT;
}

/* Finds the start of a member of the common context: a fixed byte offset, or LEB128 numbers after
 * one. Returns its type, or NULL. */
static const struct type *find_member_start(const struct layout *layout, const struct type *context,
                                            ttr_text name, struct ctf_spot *spot)
{
    struct layout_spot found;
    const struct type_member *member =
        context && context->kind == TYPE_STRUCT ? type_member_named(context, name) : NULL;
    const struct type *type = member ? member->type : NULL;
    if (!type)
        return NULL;
    while (member > context->members && is_leb128_type(member[-1].type) &&
           member->type->align <= 3 && !member->type->unit && spot->skipped < UINT8_MAX) {
        spot->skipped++;
        member--;
    }
    if (!layout_find_spot(layout, ROOT_COMMON_CONTEXT, member->name, &found) || (found.bit & 7) ||
        found.bit / 8 > UINT16_MAX)
        return NULL;
    spot->at = (uint16_t)(found.bit / 8);
    return type;
}

/* Returns the position of the first member with one of the names that is a supported number or
 * text; all zero if there is none. */
static struct ctf_spot find_context_field(const struct layout *layout, const struct type *context,
                                          const char *const *names)
{
    for (; *names; names++) {
        struct ctf_spot spot = {0};
        const struct type *type =
            find_member_start(layout, context, (ttr_text){*names, strlen(*names)}, &spot);
        if (!type)
            continue;
        spot.is_big_endian = type->is_big_endian;
        spot.is_signed = type->kind == TYPE_INT || type->kind == TYPE_VAR_INT;
        spot.is_leb = is_leb128_type(type);
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
    return (struct ctf_spot){0};
}

/* Finds the pid, tid and name fields of an event class. The result is cached in the class. Returns
 * NULL if memory is out. */
static const struct ctf_spots *find_thread_fields(struct ctf_trace *trace,
                                                  struct ctf_event_class *event)
{
    static const char *const pids[] = {"_vpid",     "vpid",     "_pid", "pid",
                                       "_perf_pid", "perf_pid", NULL};
    static const char *const tids[] = {"_vtid",     "vtid",     "_tid", "tid",
                                       "_perf_tid", "perf_tid", NULL};
    static const char *const names[] = {"_procname", "procname", "_perf_comm", "perf_comm", NULL};
    struct ctf_spots *spots =
        event->spots ? NULL : arena_take(&trace->class->description.arena, sizeof *spots);
    if (!spots)
        return event->spots;
    const struct type *context = event->stream->event_context;
    *spots = (struct ctf_spots){find_context_field(event->layout, context, pids),
                                find_context_field(event->layout, context, tids),
                                find_context_field(event->layout, context, names)};
    if (spots->name.is_leb)
        spots->name.bytes = 0;
    if (spots->pid.bytes != 4 && spots->pid.bytes != 8)
        spots->pid.bytes = 0;
    if (spots->tid.bytes != 4 && spots->tid.bytes != 8)
        spots->tid.bytes = 0;
    return event->spots = spots;
}

/* --- Event classes --- */

/* Compiles the layout of contexts and payload, cached in the class. */
static bool compile_event_body(struct ctf_trace *trace, struct ctf_event_class *event,
                               ttr_error *error)
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
    if (event->layout && (ctf_moves_clock(stream->event_context) ||
                          ctf_moves_clock(event->context) || ctf_moves_clock(event->payload)))
        return (event->times = layout_compile(&spec, error)) != NULL;
    return event->layout != NULL;
}

/* Interns the event name, and the provider that LTTng puts before its first colon. */
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

/* Returns the packet context if it has fields worth printing, or no fields at all. A context of
 * only sizes and times is not printed, not even as an empty group. */
static const struct type *printed_packet_context(const struct type *context)
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
        .level = ttr_level_of_lttng(event),
        .root = {trace->class->description.packet_header,
                 printed_packet_context(stream->packet_context), stream->event_header,
                 stream->event_context, event->context, event->payload},
        .has_log_level = event->has_log_level,
        .has_clock = stream->clock != NULL,
        .log_level = event->log_level,
        .emf_uri = event->emf_uri.p ? event->emf_uri : (ttr_text){"", 0},
    };
}

static const struct event_class *new_class_description(struct ctf_reader *reader,
                                                       const struct ctf_event_class *event)
{
    struct event_class *about = arena_take(&reader->trace->met, sizeof *about);
    if (about)
        ctf_describe_class(reader->trace, event, about);
    if (about && reader->has_cpu)
        about->root[ROOT_PACKET_CONTEXT] = reader->trace->cpu_context;
    return about;
}

static bool register_schema(struct ctf_reader *reader, struct ctf_schema *schema,
                            const struct event_class *about)
{
    const void *start = schema->base.layout ? layout_start(schema->base.layout) : NULL;
    bool is_listed =
        schema->event && reader->trace->class->is_dialect && ctf_is_listed(schema->event);
    schema->id = context_add_schema(
        reader->trace->t,
        &(struct schema){.ops = is_listed ? &ctf_listed_field_ops : &layout_field_ops,
                         .own = schema,
                         .start = start,
                         .start_with = layout_start_with(&schema->base),
                         .format = reader->trace->format,
                         .event_class = is_listed ? NULL : about});
    return schema->id != 0;
}

/* Adds the attributes that our own dialect declares for an event class. */
static bool apply_dialect(struct ctf_reader *reader, const struct ctf_event_class *event,
                          struct ctf_class *class, ttr_error *error)
{
    const struct ctf_trace *trace = reader->trace;
    struct ctf_said *said =
        trace->class->is_dialect ? arena_take(&reader->trace->met, sizeof *said) : NULL;
    if (!trace->class->is_dialect)
        return true;
    if (!said) {
        (void)fail_memory(error);
        return false;
    }
    if (ctf_dialect_class(&trace->class->description, trace->t, event, said, error) != TTR_OK)
        return false;
    class->said = said;
    class->has_thread = false;
    class->model.kind = said->kind;
    class->model.level = said->level;
    class->model.name = said->name;
    class->model.category = said->category;
    class->model.provider = said->provider;
    if (said->has_number)
        context_number_schema(trace->t, class->schema->id, said->number, said->version);
    return true;
}

/* Returns true if all streams use one schema per event class. */
static bool has_shared_schemas(const struct ctf_reader *reader)
{
    return reader->trace->class->description.version != CTF_RFC_1_1 && !reader->has_cpu &&
           !(reader->in->flags & TTR_READ_DEFINITIONS);
}

/* Returns the slot of a shared schema. Returns NULL if memory is out. */
static struct ctf_schema **shared_schema_slot(struct ctf_trace *trace,
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

/* Returns the schema of an event class in the current stream. Returns NULL if memory is out. */
static struct ctf_schema *get_event_schema(struct ctf_reader *reader, struct ctf_event_class *event)
{
    const bool is_shared = has_shared_schemas(reader);
    struct ctf_schema **place = is_shared ? shared_schema_slot(reader->trace, event) : NULL;
    if (is_shared && (!place || *place))
        return place ? *place : NULL;
    struct ctf_schema *schema = arena_take(&reader->trace->met, sizeof *schema);
    const struct event_class *about = new_class_description(reader, event);
    if (!schema || !about)
        return NULL;
    *schema = (struct ctf_schema){.base = {.layout = event->layout,
                                           .scratch = &reader->trace->scratch,
                                           .place = place_event_body,
                                           .place_group = place_event_group,
                                           .packet = packet_number_of_event},
                                  .trace = reader->trace,
                                  .event = event,
                                  .ends_inside = may_end_inside(reader->stream->kind->class, event),
                                  .stream = is_shared ? NULL : reader->stream,
                                  .reader = is_shared ? NULL : reader};
    if (event->layout) {
        uint32_t imports;
        (void)layout_imports(event->layout, &imports);
        schema->has_imports = imports > 0;
        schema->base.is_in_payload = !imports && layout_is_at_any_byte(event->layout);
        schema->base.body_mask = CTF_BODY_MASK;
    }
    if (!register_schema(reader, schema, about))
        return NULL;
    if (is_shared)
        *place = schema;
    return schema;
}

static struct ctf_class *make_event_decoder(struct ctf_reader *reader,
                                            struct ctf_event_class *event, ttr_error *error)
{
    struct ctf_stream *stream = reader->stream;
    if (!compile_event_body(reader->trace, event, error) ||
        !intern_names(reader->trace, event, error))
        return NULL;
    struct ctf_class *class = arena_take(&reader->trace->met, sizeof *class);
    const struct ctf_spots *spots = event->layout ? find_thread_fields(reader->trace, event) : NULL;
    struct ctf_schema *schema =
        class && (spots || !event->layout) ? get_event_schema(reader, event) : NULL;
    if (!schema) {
        (void)fail_memory(error);
        return NULL;
    }
    *class = (struct ctf_class){.layout = event->layout,
                                .times = event->times,
                                .schema = schema,
                                .has_imports = schema->has_imports};
    if (class->layout) {
        class->fixed = layout_fixed_bits(class->layout);
        class->pid = spots->pid;
        class->tid = spots->tid;
        class->name = spots->name;
        class->has_thread = spots->pid.bytes || spots->tid.bytes;
    }
    class->shape = layout_shape_of(class->layout);
    class->model = (ttr_event){
        .kind = TTR_KIND_INSTANT,
        .source = reader->in->id,
        .schema = schema->id,
        .name = event->name_id,
        .provider = event->provider_id,
        .track = stream->track,
        .level = ttr_level_of_lttng(event),
        .flags = reader->in->flags & TTR_READ_DEFINITIONS ? TTR_EVENT_RAW : 0,
    };
    if (!apply_dialect(reader, event, class, error))
        return NULL;
    class->is_usual = !class->has_imports && !class->said && !class->times;
    return class;
}

/* Grows the table by class index, with zeroed elements. */
static bool reserve_class_index(const struct alloc *alloc, struct ctf_stream *stream, size_t need)
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

static bool reserve_class_id(struct ctf_trace *trace, struct ctf_stream *stream, size_t need)
{
    const struct alloc *alloc = &trace->t->counted;
    const size_t had = stream->by_id_n, doubled = 2 * had > FIRST_IDS ? 2 * had : FIRST_IDS,
                 n = need > doubled ? need : doubled;
    if (need <= had)
        return true;
    void *memory = alloc_resize(alloc, NULL, 0, n + 1, sizeof *stream->by_id);
    if (!memory)
        return false;
    struct ctf_entry *by_id =
        (struct ctf_entry *)(((uintptr_t)memory + CTF_LINE - 1) & ~(uintptr_t)(CTF_LINE - 1));
    for (size_t i = 0; i < n; i++)
        by_id[i] =
            i < had
                ? stream->by_id[i]
                : (struct ctf_entry){.bytes = {.rest = LAYOUT_BYTES_NONE, .no_text = UINT32_MAX}};
    alloc_free(alloc, stream->by_id_memory, had + 1, sizeof *stream->by_id);
    stream->by_id_memory = memory;
    stream->by_id = by_id;
    stream->by_id_n = n;
    return true;
}

/* Returns the size rule of complete events, for classes whose headers have a fixed size. */
static struct layout_bytes event_size_rule(const struct ctf_stream *stream,
                                           const struct ctf_class *class)
{
    struct layout_shape shape = class->shape;
    shape.first += stream->kind->plan.loads.bits;
    return layout_bytes_of(&shape);
}

/* Stores the decoder of an id, and copies the hot members to its entry. */
static void set_class_entry(struct ctf_stream *stream, size_t id, struct ctf_class *class)
{
    struct ctf_entry *entry = &stream->by_id[id];
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
        entry->bytes = event_size_rule(stream, class);
    stream->has_extended |= id >= stream->kind->plan.escape;
}

struct ctf_class *ctf_class_of(struct ctf_reader *reader, uint64_t id, ttr_error *error)
{
    struct ctf_stream *stream = reader->stream;
    const struct alloc *alloc = &reader->trace->t->counted;
    const uint32_t *found = pairmap_get(&stream->class->events_by_id, id, 0);
    if (!found)
        return NULL;
    uint32_t index = *found;
    if (!reserve_class_index(alloc, stream, (size_t)index + 1) ||
        (id < DENSE_IDS && !reserve_class_id(reader->trace, stream, (size_t)id + 1))) {
        (void)fail_memory(error);
        return NULL;
    }
    if (!stream->by_index[index])
        stream->by_index[index] = make_event_decoder(reader, stream->class->events[index], error);
    if (id < DENSE_IDS)
        set_class_entry(stream, id, stream->by_index[index]);
    return stream->by_index[index];
}

/* --- Streams --- */

/* Returns the stream that has the same number in the other byte order (RFC v1.1), or the stream
 * itself. */
static struct ctf_stream *find_first_stream(const struct ctf_reader *reader,
                                            struct ctf_stream *stream)
{
    if (reader->streams_n > CTF_FEW_STREAMS && stream->kind) {
        const struct ctf_stream *other = lookup_stream(
            reader, stream->kind->first, KEY_FIRST + stream->has_number, stream->number);
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

/* Returns the file name for uncompressed copies: without the suffix of the compression, unless
 * another file already has that name. Returns NULL if memory is out. */
static const char *uncompressed_file_name(const struct ctf_reader *reader)
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
    return name && reader->trace->folder && folder_find(reader->trace->folder, name) ? reader->file
                                                                                     : name;
}

static struct ctf_stream *make_stream(struct ctf_reader *reader, const struct ctf_frame *frame)
{
    ttr *t = reader->trace->t;
    struct ctf_stream *stream = arena_take(&reader->trace->met, sizeof *stream);
    struct ctf_schema *schema = arena_take(&reader->trace->met, sizeof *schema);
    uint32_t name = intern_add(&t->strings, reader->file, strlen(reader->file));
    const char *file = uncompressed_file_name(reader);
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
    *schema = (struct ctf_schema){.base = {.place = place_event_body},
                                  .trace = reader->trace,
                                  .stream = stream,
                                  .reader = reader};
    const struct ctf_lane *lane =
        reader->lanes && frame->kind ? ctf_find_lane(reader->lanes, reader->packet_i, frame) : NULL;
    if (lane)
        stream->before = lane->initial;
    stream->first = find_first_stream(reader, stream);
    stream->track = stream->first->track;
    if (stream->first == stream)
        stream->track = context_add_track(
            t, &(ttr_track){.number = stream->number, .name = name, .source = reader->in->id});
    return stream->track && ctf_trace_know(reader->trace, reader) &&
                   register_schema(reader, schema, NULL)
               ? stream
               : NULL;
}

/* Returns the existing stream of a packet, or NULL. */
static struct ctf_stream *find_known_stream(const struct ctf_reader *reader,
                                            const struct ctf_frame *frame)
{
    const uint64_t number = frame->has_number ? frame->number : 0;
    if (reader->streams_n > CTF_FEW_STREAMS)
        return lookup_stream(reader, frame->kind, KEY_PACKET + frame->has_number, number);
    for (size_t i = 0; i < reader->streams_n; i++) {
        struct ctf_stream *stream = reader->streams[i];
        if (stream->kind == frame->kind && stream->has_number == frame->has_number &&
            (!frame->has_number || stream->number == number))
            return stream;
    }
    return NULL;
}

struct ctf_stream *ctf_stream_of(struct ctf_reader *reader, const struct ctf_frame *frame)
{
    struct ctf_stream *stream = find_known_stream(reader, frame);
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
    return index_last_stream(reader) ? stream : NULL;
}

void ctf_drop_streams(struct ctf_reader *reader)
{
    ttr *t = reader->trace->t;
    const struct alloc *alloc = &t->counted;
    ctf_trace_forget(reader->trace, reader);
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
    pairmap_free(&reader->stream_of);
}
