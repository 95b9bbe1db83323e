/* Transcoding: a CTF trace that cannot be copied, because another version or byte order is asked
 * for, is encoded again under its own names. It needs no dialect: names, contexts, labels, clocks
 * and the environment are those of the source.
 *
 * Order of calls, per event:
 * |  begin_plain       collects the source stream, the packet and the output trace of the event
 * |  stream_of         source file + shape of the common context -> output stream
 * |    name_stream     chooses a file name, in v1.1 with the section and the CPU in it
 * |    make_kind       makes the stream class for a new shape
 * |  enter_packet      starts an output packet if the event is the first of its source packet
 * |  class_of          source class + shape -> event class
 * |  ctf_stream_put    encodes the items
 *
 * Mapping: a source file becomes an output file, and each packet becomes one packet with its times,
 * counters and CPU. Packets above packet_size are split:
 *
 * |  source file   | packet 0: e e e | packet 1: e e e e e e            |
 * |  output file   | packet 0: e e e | packet 1: e e e e | packet 2: e e |
 *
 * Variants and optional fields: each combination that occurs is a shape and gets a class of its
 * own. A common context that changes its shape cannot be shared by classes, so it gets another
 * stream.
 *
 * Gaps are not events in CTF: they become counters of the next packet (ctf_discarded_write.c).
 *
 * Events of a sorted or filtered stream may be copies without their packet (`is_copy`). Fields of
 * their packet are known only if the copy holds them (`has_packet`).
 *
 * Invariants: times of a stream never decrease; one shape in a stream is always one class. Cost: a
 * lookup of the stream and of the class per event, one pass over its fields. Left out: fields of
 * event headers beside id and time (counted as CTF_LOST_PACKET). */
#include "base/hash.h"
#include "base/number.h"
#include "base/status.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/write/ctf_write.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"
#include "model/event_copy.h"

#define NAME_MOST 256u

#define LATEST \
    UINT64_MAX /* key in place of a shape: the stream that was added last for a source file */

/* An event of a CTF source, with everything that its transcoding needs. */
struct plain {
    struct ttr_writer *out;
    struct ctf_writer *w;
    const ttr_event *event;
    const struct ctf_schema *schema;
    const struct ctf_stream *stream;
    const struct ctf_packet *about; /* the event's packet */
    /* stand-in packet for an event that was copied out of its packet */
    struct ctf_packet unknown;
    bool is_copy;
    bool has_packet;      /* true if the copy holds the fields of its packet */
    uint64_t packet_says; /* hash of these fields */
    struct ctf_trace_out *trace;
    enum ctf_version version;
    char name[NAME_MOST]; /* file name of a new stream */
    size_t name_n, section_n;
};

static const struct ctf_schema *own_schema(const struct ttr_writer *out, const ttr_event *event)
{
    const struct schema *schema = context_schema(out->t, event->schema);
    if (schema->beneath)
        schema = context_schema(out->t, schema->beneath);
    const struct ctf_schema *own = schema->format == out->format ? schema->own : NULL;
    return own && ctf_origin_of(own, event).stream ? own : NULL;
}

bool ctf_is_plain(const struct ttr_writer *out, const ttr_event *event)
{
    const struct ctf_writer *w = out->own;
    const struct ctf_schema *schema = own_schema(out, event);
    if (schema)
        return !schema->trace->class->is_dialect;
    const struct source_entry *source =
        &out->t->sources[event->source < out->t->sources_n ? event->source : 0];
    if (event->kind != TTR_KIND_GAP || !source->format ||
        strcmp(source->format, out->format->name) != 0)
        return false;
    const uint32_t *index = pairmap_get(&w->trace_of, event->source, 0);
    return !index || !w->traces[*index]->is_dialect;
}

/* --- Files that continue another file --- */

/* Returns true if the reader treats the stream's first packet as a continuation of another file. */
static bool goes_on(const struct plain *plain)
{
    const struct ctf_reader *reader = ctf_origin_of(plain->schema, plain->event).reader;
    const struct ctf_lanes *lanes = reader->lanes;
    for (uint32_t i = 0; lanes && i < lanes->n; i++) {
        const struct ctf_lane *lane = &lanes->lane[reader->takes_all ? i : reader->lane];
        if (lane->kind == plain->stream->kind->first && lane->has_number &&
            lane->number == plain->stream->number)
            return lane->initial.is_there;
    }
    return false;
}

/* --- Traces and stream classes --- */

/* Returns the nanoseconds by which the event's time was moved since it was read; 0 if its time is
 * unknown. */
static int64_t moved_by(const struct plain *plain)
{
    const ttr_event *event = plain->event;
    bool is_clamped = false, has_time = !(event->flags & (TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED)) &&
                                        event->kind != TTR_KIND_DEFINITION;
    int64_t time = ctf_time(&plain->stream->kind->timeline, event->ticks, &is_clamped);
    return has_time && !is_clamped ? (int64_t)((uint64_t)event->time - (uint64_t)time) : 0;
}

static struct ctf_trace_out *trace_of(struct plain *plain)
{
    struct ctf_trace *source = plain->schema->trace;
    const struct ctf_options *options = &plain->w->options;
    const uint32_t *index = pairmap_get(&plain->w->trace_of, plain->event->source, 0);
    bool is_new = false;
    if (index && plain->w->traces[*index]->source == source)
        return plain->w->traces[*index];
    struct ctf_trace_out *trace =
        ctf_add_trace(plain->out, plain->event, (uintptr_t)source, CTF_TRACE_LIKE, &is_new);
    enum ctf_version version =
        options->version ? options->version : source->class->description.version;
    if (trace && is_new && !ctf_trace_begin_like(trace, plain->out->t, options, version, source))
        return NULL;
    ttr_error own = {0};
    if (trace && is_new &&
        (ctf_claim_uuid(plain->out, source, trace->description.uuid, &own) != TTR_OK ||
         !ctf_union_join(plain->w, &plain->out->t->counted, trace)))
        return NULL;
    if (trace && is_new) {
        if (ctf_trace_move(trace, moved_by(plain)))
            output_lost(plain->out, CTF_LOST_ABOUT, plain->event->offset);
        ctf_count_about(plain->out, &source->class->description, version);
    }
    return trace;
}

/* Returns the output clock of the stream: the copied source clock, or the trace's own nanosecond
 * clock if the target cannot express the source's. */
static const struct ctf_clock *clock_of(const struct plain *plain, bool has_times)
{
    const struct ctf_description *from = &plain->schema->trace->class->description;
    const struct ctf_clock *source = plain->stream->class->clock;
    if (!plain->trace->keeps_clocks || (!source && has_times && plain->version == CTF_2))
        return ctf_trace_clock(plain->trace);
    for (size_t i = 0; i < from->clocks_n; i++)
        if (from->clocks[i] == source)
            return plain->trace->description.clocks[i];
    return NULL;
}

/* Returns true if event headers have fields beside id and time, which v1.1 never has. */
static bool has_rich_header(const struct plain *plain)
{
    ttr_fields walk;
    ttr_field field;
    bool is_rich = false, is_rfc = plain->schema->trace->class->description.version == CTF_RFC_1_1;
    ttr_fields_begin_group(plain->out->t, plain->event, TTR_GROUP_HEADER, &walk);
    while (!is_rfc && ttr_fields_next(&walk, &field)) {
        const struct type *type = field_type(&walk);
        is_rich |= type && !type->role && field.value.type != TTR_TYPE_STRUCT;
    }
    return is_rich;
}

/* Returns true if copies of the class's events lost header or packet fields. */
static bool loses_parts(const struct plain *plain, const struct ctf_stream_class *source)
{
    const bool was_rfc = plain->schema->trace->class->description.version == CTF_RFC_1_1;
    return !was_rfc && (type_is_rich(source->event_header) ||
                        (!plain->has_packet && type_is_rich(source->packet_context)));
}

/* Returns true if packets of the event's stream have a field of that role; v1.1 packets always do.
 */
static bool has_counter(const struct plain *plain, enum ctf_role role)
{
    return plain->schema->trace->class->description.version == CTF_RFC_1_1 ||
           tsdl_has_role(plain->stream->class->packet_context, role);
}

/* Returns true if the events' only time is that of their packet, which copies have lost. */
static bool has_time_of_packet(const struct plain *plain)
{
    const struct ctf_stream *stream = plain->stream;
    return !stream->kind->plan.has_time && stream->class->clock &&
           (has_counter(plain, CTF_ROLE_TIME_BEGIN) || has_counter(plain, CTF_ROLE_TIME_END));
}

/* Returns true if the event's time is known: its own, or else that of its packet, of the event
 * before or of the clock's zero. */
static bool has_known_time(const struct plain *plain)
{
    return !(plain->event->flags & TTR_EVENT_NO_TIME) || plain->stream->class->clock;
}

/* Returns true if only the CPU is known of the event's packet. */
static bool has_lost_packet(const struct plain *plain)
{
    return plain->is_copy && !plain->has_packet;
}

/* Returns true if the stream's packets need a CPU of their own: in v1.1 the CPU is part of the file
 * name, and unknown packets have no field for it. Otherwise the CPU is an ordinary packet field. */
static bool has_own_cpu(const struct plain *plain)
{
    return plain->about->has_cpu && (plain->version == CTF_RFC_1_1 || has_lost_packet(plain));
}

/* Returns true if the source's common context holds only the event size, as event_size = true
 * declares it. */
static bool has_size_alone(const struct plain *plain)
{
    const struct ctf_stream_class *source = plain->stream->class;
    return source->rfc_has_event_size && source->event_context &&
           source->event_context->members_n == 1 &&
           source->event_context->members[0].type->bits == 16;
}

/* Returns true if the source's common context holds the event size among other fields. The context
 * is kept and only the size is recomputed. */
static bool has_sized_context(const struct plain *plain)
{
    const struct ctf_options *options = plain->trace->options;
    const struct ctf_stream_class *source = plain->stream->class;
    return plain->version == CTF_RFC_1_1 && source->rfc_has_event_size && source->event_context &&
           !has_size_alone(plain) && (!options->has_event_size || options->rfc_has_event_size);
}

/* Returns true if target events start with their size: if the user asked for it, or as in the
 * source. Contexts then become payload fields. */
static bool stores_size(const struct plain *plain)
{
    const struct ctf_options *options = plain->trace->options;
    return plain->version == CTF_RFC_1_1 && !has_sized_context(plain) &&
           (options->has_event_size ? options->rfc_has_event_size : has_size_alone(plain));
}

/* Returns true if the source's size fields are dropped: the target writes sizes elsewhere, or
 * writes none. */
static bool drops_size(const struct plain *plain)
{
    return plain->version == CTF_RFC_1_1 &&
           (has_size_alone(plain) ||
            (stores_size(plain) && plain->stream->class->rfc_has_event_size));
}

/* Returns the 1-based member of the context that holds the event size; 0 = none. */
static uint32_t size_member(const struct type *context)
{
    static const ttr_text name = {"payload_size", 12};
    const struct type_member *member = context ? type_member_named(context, name) : NULL;
    return member && member->type->kind == TYPE_UINT ? (uint32_t)(member - context->members) + 1
                                                     : 0;
}

static bool make_kind(struct plain *plain, struct ctf_kind_out **kind)
{
    const struct ctf_items *items = &plain->w->items, *packet = &plain->w->packet_items;
    struct ctf_types *types = &plain->trace->types;
    const struct ctf_stream_class *source = plain->stream->class;
    bool is_rfc = plain->version == CTF_RFC_1_1,
         has_time = plain->stream->kind->plan.has_time || (is_rfc && source->clock);
    const unsigned flags = has_own_cpu(plain) | plain->about->has_sequence * 2u |
                           plain->about->has_discarded * 4u | plain->about->has_begin * 8u |
                           has_time * 16u;
    struct ctf_kind_like like = {
        .name = is_rfc ? (ttr_text){plain->name, plain->section_n} : source->name,
        .id = source->id <= UINT32_MAX ? source->id : plain->trace->kinds_n,
        .likeness = hash_pair(
            hash_pair(hash_pair(source->id, items->common_shape), packet->payload_shape), flags),
        .has_cpu = has_own_cpu(plain),
        .has_sequence = plain->about->has_sequence,
        .has_discarded = plain->about->has_discarded,
        .has_clock = is_rfc || source->clock || plain->about->has_begin,
        .has_time = has_time,
        .clock = clock_of(plain, has_time || plain->about->has_begin),
        .rfc_header = source->rfc_header,
        .rfc_has_event_size = has_size_alone(plain)};
    if (packet->n && !is_rfc)
        like.fields =
            ctf_types_root(types, ROOT_PACKET_CONTEXT, packet, 0, packet->n, packet->payload_shape);
    if (!stores_size(plain) &&
        (items->common_n || (source->event_context && !source->rfc_has_event_size)))
        like.common = ctf_types_root(types, ROOT_COMMON_CONTEXT, items, 0, items->common_n,
                                     items->common_shape);
    const uint32_t size = has_sized_context(plain) ? size_member(like.common) : 0;
    like.rfc_has_event_size |= size != 0;
    *kind = types->failed ? NULL : ctf_trace_add_kind(plain->trace, &like);
    if (!*kind)
        return false;
    (*kind)->size_member = size;
    (*kind)->source = plain->stream->kind;
    (*kind)->packet_shape = packet->payload_shape;
    (*kind)->loses_header = plain->is_copy ? loses_parts(plain, source) : has_rich_header(plain);
    return true;
}

/* Returns a key of the source's stream classes. All v1.1 sections of one id and clock have the same
 * key: elsewhere they are one class with several files. */
static uint64_t source_of(const struct plain *plain)
{
    const struct ctf_kind *own = plain->stream->kind;
    bool is_rfc = plain->schema->trace->class->description.version == CTF_RFC_1_1;
    return is_rfc ? hash_pair(own->class->id, (uintptr_t)own->class->clock) : (uintptr_t)own;
}

/* Returns the key of streams that can share a stream class, without the section name. */
static uint64_t likeness_of(const struct plain *plain)
{
    const uint64_t shapes =
        hash_pair(plain->w->items.common_shape, plain->w->packet_items.payload_shape);
    return hash_pair(hash_pair(source_of(plain), shapes), has_own_cpu(plain));
}

/* Returns the same key with the section name. */
static uint64_t kind_key_of(const struct plain *plain)
{
    return hash_pair(likeness_of(plain),
                     plain->version == CTF_RFC_1_1 ? hash_bytes(plain->name, plain->section_n) : 0);
}

/* Returns the stream class for the current name; NULL = none yet. */
static struct ctf_kind_out *find_kind(const struct plain *plain)
{
    return ctf_given_kind(plain->w, plain->trace, kind_key_of(plain));
}

/* Counters of changed names and added lengths, at one moment. */
struct changes {
    uint64_t renamed, lengths;
};

static struct changes changes_of(const struct plain *plain)
{
    const struct ctf_types *types = &plain->trace->types;
    return (struct changes){types->renamed, types->lengths};
}

/* Counts a loss for each change since `before`. */
static void count_changes(const struct plain *plain, struct changes before)
{
    const struct changes now = changes_of(plain);
    for (; before.renamed < now.renamed; before.renamed++)
        output_lost(plain->out, CTF_LOST_NAME, plain->event->offset);
    for (; before.lengths < now.lengths; before.lengths++)
        output_lost(plain->out, CTF_LOST_LENGTH, plain->event->offset);
}

static struct ctf_kind_out *kind_of(struct plain *plain)
{
    struct ctf_kind_out *kind = find_kind(plain);
    const struct changes before = changes_of(plain);
    if (kind)
        return kind;
    bool is_made =
        make_kind(plain, &kind) && ctf_give_kind(plain->w, plain->trace, kind_key_of(plain));
    count_changes(plain, before);
    return is_made ? kind : NULL;
}

/* --- Names of files --- */

/* Returns true if v1.1 readers would assign this file, and all earlier ones, to the intended
 * sections: they use the file name alone. */
static bool tells_section(const struct plain *plain)
{
    const struct ctf_file_given file = {
        {plain->name, plain->name_n}, plain->section_n, find_kind(plain)};
    if (ctf_given_is_other(plain->w, plain->trace, &file))
        return false;
    return file.kind ||
           !ctf_given_has_files(plain->w, plain->trace, (ttr_text){plain->name, plain->section_n});
}

/* Returns true if the file name is free and leads to the right section. */
static bool is_free(const struct plain *plain)
{
    return !ctf_is_given(plain->w, plain->trace, (ttr_text){plain->name, plain->name_n}) &&
           (plain->version != CTF_RFC_1_1 || tells_section(plain));
}

/* Returns the size of the section name in a v1.1 file name, which ends with _CPU or -CPU. */
static size_t section_size(const char *file, size_t n)
{
    size_t digits = n;
    while (digits > 0 && file[digits - 1] >= '0' && file[digits - 1] <= '9')
        digits--;
    bool has_tail =
        digits > 1 && digits < n && (file[digits - 1] == '_' || file[digits - 1] == '-');
    return has_tail ? digits - 1 : n;
}

/* Completes the file name after its first `base` bytes: -NUMBER if above 1, then _CPU. */
static void put_name(struct plain *plain, size_t base, uint64_t number, bool has_cpu)
{
    plain->section_n = plain->name_n = base;
    if (number > 1) {
        plain->name[base] = '-';
        plain->section_n = plain->name_n =
            base + 1 + number_put_u64(plain->name + base + 1, number);
    }
    if (has_cpu) {
        plain->name[plain->name_n++] = '_';
        plain->name_n += number_put_u64(plain->name + plain->name_n, plain->about->cpu);
    }
    plain->name[plain->name_n] = '\0';
}

/* Returns the key of streams that share a search for free numbers: a number that is taken for one
 * is taken for the others. */
static uint64_t number_key_of(const struct plain *plain, size_t base, bool has_cpu)
{
    const uint64_t name = hash_bytes(plain->name, base);
    if (plain->version != CTF_RFC_1_1)
        return name;
    return hash_pair(hash_pair(name, likeness_of(plain)),
                     has_cpu ? plain->about->cpu + UINT64_C(1) : 0);
}

/* Chooses a free file name: the source's, with a number if that is taken. v1.1 readers find section
 * and CPU in it. Live streams have paths; only the last component is used, because readers do not
 * search sub-folders. Returns false if memory runs out. */
static bool name_stream(struct plain *plain)
{
    const char *path = plain->stream->file, *slash = strrchr(path, '/'),
               *file = slash && slash[1] ? slash + 1 : path;
    bool has_cpu = plain->version == CTF_RFC_1_1 && plain->about->has_cpu;
    size_t n = strlen(file) < NAME_MOST - 3 * NUMBER_MAX ? strlen(file)
                                                         : NAME_MOST - 3 * NUMBER_MAX,
           base = has_cpu ? section_size(file, n) : n;
    memcpy(plain->name, file, base);
    const uint64_t key = number_key_of(plain, base, has_cpu);
    uint32_t number = ctf_given_number(plain->w, plain->trace, key);
    do
        put_name(plain, base, ++number, has_cpu);
    while (!is_free(plain));
    return ctf_give_number(plain->w, plain->trace, key, number);
}

/* --- Streams --- */

static struct ctf_stream_out *add_stream(struct plain *plain)
{
    ctf_items_collect(
        &plain->w->packet_items,
        &(struct ctf_items_for){.out = plain->out, .version = plain->version, .is_packet = true},
        plain->event);
    bool is_named = name_stream(plain);
    struct ctf_kind_out *kind = !is_named || plain->w->packet_items.failed ? NULL : kind_of(plain);
    if (!kind)
        return NULL;
    const ttr_text name = {plain->name, plain->name_n};
    struct ctf_stream_out *stream =
        ctf_stream_add(plain->w, &plain->out->t->counted, plain->trace, kind, name);
    if (!stream || !ctf_give_file(plain->w, plain->trace, kind, name))
        return NULL;
    if (plain->stream->has_number)
        stream->number = plain->stream->number;
    return stream;
}

static struct ctf_stream_out *stream_of(struct plain *plain)
{
    struct ctf_writer *w = plain->w;
    const struct ctf_packet *about = plain->about;
    uint64_t source = hash_pair((uintptr_t)plain->stream->first, 1),
             place = w->items.common_shape + about->has_cpu;
    if ((plain->version == CTF_RFC_1_1 || has_lost_packet(plain)) && about->has_cpu)
        place = hash_pair(place, about->cpu);
    const uint32_t *index = pairmap_get(&w->stream_of, source, place);
    if (index)
        return w->streams[*index];
    struct ctf_stream_out *stream = add_stream(plain);
    uint32_t own = (uint32_t)(w->streams_n - 1);
    return stream && pairmap_put(&w->stream_of, source, place, own) &&
                   pairmap_put(&w->stream_of, source, LATEST, own)
               ? stream
               : NULL;
}

/* Returns the stream for a packet without events; NULL if no earlier packet shows its class. A
 * packet whose own fields are unknown is only written if it has to report a gap. */
static struct ctf_stream_out *stream_of_empty(const struct plain *plain)
{
    const struct ctf_writer *w = plain->w;
    const uint16_t source = plain->event->source;
    const uint32_t *index =
        pairmap_get(&w->stream_of, hash_pair((uintptr_t)plain->stream->first, 1), LATEST);
    const bool is_needed = source < w->missing_n && ctf_missing_is_known(&w->missing[source]);
    return index && (is_needed || !w->streams[*index]->kind->fields) ? w->streams[*index] : NULL;
}

/* --- Time --- */

/* Converts ticks of the source clock to ticks of the target clock. */
static uint64_t convert(const struct plain *plain, const struct ctf_timeline *line, uint64_t ticks)
{
    bool is_clamped = false;
    if (plain->trace->keeps_clocks)
        return ticks;
    int64_t time =
        (int64_t)((uint64_t)ctf_time(line, ticks, &is_clamped) + (uint64_t)plain->trace->moved);
    plain->trace->has_unix_time |= line->is_anchored;
    return time < plain->trace->base ? 0 : (uint64_t)time - (uint64_t)plain->trace->base;
}

static uint64_t ticks_of(const struct plain *plain)
{
    const struct ctf_timeline *line = &plain->stream->kind->timeline;
    const ttr_event *event = plain->event;
    bool is_clamped = false;
    int64_t time = (int64_t)((uint64_t)event->time - (uint64_t)plain->trace->moved);
    uint64_t ticks =
        ctf_time(line, event->ticks, &is_clamped) == time ? event->ticks : ctf_ticks_at(line, time);
    return convert(plain, line, ticks);
}

/* Converts a time of the event's packet to target ticks, moved by as much as the event. */
static uint64_t packet_ticks(const struct plain *plain, uint64_t ticks)
{
    const struct ctf_timeline *line = &plain->stream->kind->timeline;
    const ttr_event *event = plain->event;
    bool has_time = !(event->flags & TTR_EVENT_NO_TIME) && event->kind != TTR_KIND_DEFINITION;
    uint64_t moved = has_time ? ticks_of(plain) - convert(plain, line, event->ticks) : 0;
    return convert(plain, line, ticks) + moved;
}

/* --- Packets and events --- */

/* Returns true if the gap can be reported by an empty packet with number 0, which ends where the
 * gap does. The source had such a packet too. */
static bool is_told_by_lead(const struct ctf_missing *missing, const struct ctf_stream_out *stream,
                            uint64_t begin, struct ctf_gap_place *place)
{
    const bool is_first =
        stream->sequence == 0 && stream->discarded == 0 &&
        (stream->trace->description.version == CTF_RFC_1_1 || stream->kind->has_sequence);
    return is_first && missing->events && !missing->packets &&
           ctf_missing_place(missing, stream, begin, place) && place->is_alone;
}

/* Writes an empty packet before the first one: it ends where the first gap of known size starts, or
 * covers that gap. */
static ttr_status enter_lead(const struct plain *plain, struct ctf_stream_out *stream,
                             const struct ctf_items *items, uint64_t begin, ttr_error *error)
{
    struct ctf_missing *missing = &plain->w->missing[plain->event->source];
    uint64_t at = missing->has_ticks ? packet_ticks(plain, missing->ticks) : begin;
    struct ctf_gap_place place;
    const bool is_told = is_told_by_lead(missing, stream, begin, &place);
    stream->cpu = plain->about->cpu;
    ttr_status status = ctf_stream_enter(stream, plain->out, items, at < begin ? at : begin, error);
    if (is_told) {
        stream->end = place.end;
        ctf_missing_settle(plain->out, stream, missing, plain->event->offset);
    }
    return status;
}

static bool has_length(const struct ctf_packet *about)
{
    return about->has_begin && about->has_end && about->end > about->begin;
}

/* Places the gap before a packet-less event. The packet before ends at the gap's start; an empty
 * packet reports the gap if it ends before the event. Sets *begin to the start of the event's
 * packet. */
static ttr_status place_gap(const struct plain *plain, struct ctf_stream_out *stream,
                            const struct ctf_items *items, uint64_t *begin, ttr_error *error)
{
    struct ctf_missing *missing = &plain->w->missing[plain->event->source];
    struct ctf_gap_place place;
    if (!plain->is_copy || !ctf_missing_is_told(missing, stream))
        return TTR_OK;
    if (!has_known_time(plain) || !ctf_missing_place(missing, stream, ticks_of(plain), &place)) {
        output_lost_many(plain->out, CTF_LOST_WHEN, missing->events > 0, plain->event->offset);
        return TTR_OK;
    }
    if (stream->is_open)
        stream->end = place.before;
    stream->gap_end = place.is_alone ? 0 : place.end;
    *begin = place.is_alone ? *begin : place.begin;
    if (!place.is_alone)
        return TTR_OK;
    ttr_status status = ctf_stream_enter(stream, plain->out, items, place.begin, error);
    stream->end = place.end;
    ctf_missing_settle(plain->out, stream, missing, plain->event->offset);
    return status;
}

/* Returns true if the gap before a packet ends where the packet starts, so an empty packet must
 * report it. Applies from v1.1 to versions whose counters are valid at the end of a packet. */
static bool ends_before(const struct plain *plain, const struct ctf_stream_out *stream,
                        const struct ctf_missing *missing)
{
    const bool was_to_end = ctf_counts_to_end(&plain->schema->trace->class->description),
               is_to_end = ctf_counts_to_end(&plain->trace->description);
    return !was_to_end && is_to_end && missing->events && stream->kind->has_discarded &&
           has_length(plain->about);
}

/* Starts the output packet, after an empty one if a gap requires that. `items`: fields of the
 * packet itself; NULL = none. */
static ttr_status enter_counted(struct plain *plain, struct ctf_stream_out *stream,
                                const struct ctf_items *items, ttr_error *error)
{
    const ttr_event *event = plain->event;
    const struct ctf_packet *about = plain->about;
    const bool is_empty = event->kind == TTR_KIND_DEFINITION, is_first = stream->packet_at == 0;
    const struct ctf_first what = {.about = about, .goes_on = is_first && goes_on(plain)};
    struct ctf_missing *missing = ctf_missing_of(plain->out, event->source);
    ttr_status status = TTR_OK;
    if (!missing)
        return fail_memory(error);
    const uint64_t before =
        stream->last > stream->end ? stream->last : stream->end; /* end of the packet before */
    uint64_t first = is_empty || !has_known_time(plain) ? before : ticks_of(plain);
    uint64_t begin = about->has_begin ? packet_ticks(plain, about->begin) : first;
    const bool is_beside = is_first &&
                           /* another output file of the same source reports the gap */
                           ctf_missing_is_beside(missing, stream);
    if (is_first && ctf_missing_begin(plain->out, stream, &what, missing))
        status = enter_lead(plain, stream, items, begin, error);
    if (status == TTR_OK && !is_beside && ends_before(plain, stream, missing)) {
        status = ctf_stream_enter(stream, plain->out, items, begin, error);
        ctf_missing_settle(plain->out, stream, missing, event->offset);
    }
    stream->gap_end = 0;
    if (status == TTR_OK && !is_beside)
        status = place_gap(plain, stream, items, &begin, error);
    if (status == TTR_OK)
        status = is_empty ? ctf_stream_enter_empty(stream, plain->out, &begin, error)
                          : ctf_stream_enter(stream, plain->out, items, begin, error);
    if (!is_beside)
        ctf_missing_settle(plain->out, stream, missing, event->offset);
    missing->stream = stream;
    return status;
}

/* Returns true if the open packet must end before a packet-less event, so that the counters of the
 * next packet report the gap in the right place. */
static bool has_gap_before(const struct plain *plain, const struct ctf_stream_out *stream)
{
    const uint16_t source = plain->event->source;
    const struct ctf_missing *missing =
        plain->is_copy && source < plain->w->missing_n ? &plain->w->missing[source] : NULL;
    return missing && (ctf_missing_is_told(missing, stream) ||
                       (stream->gap_end && ticks_of(plain) > stream->gap_end));
}

/* Returns true if a packet-less event takes its time from a packet that starts at another tick than
 * the open one. */
static bool is_of_another_time(const struct plain *plain, const struct ctf_stream_out *stream)
{
    return plain->is_copy && !stream->kind->has_time && has_time_of_packet(plain) &&
           ticks_of(plain) != stream->begin;
}

/* Returns true if the fields of a packet-less event's packet differ from those of the open packet.
 */
static bool is_of_another_packet(const struct plain *plain, const struct ctf_stream_out *stream)
{
    return plain->has_packet && plain->packet_says != stream->packet_says;
}

/* Starts the output packet of the event's source packet, unless it is open already. */
static ttr_status enter_packet(struct plain *plain, struct ctf_stream_out *stream, ttr_error *error)
{
    const struct ctf_packet *about = plain->about;
    struct ctf_items *items = &plain->w->packet_items;
    const struct ctf_items_for what = {
        .out = plain->out, .version = plain->version, .is_packet = true};
    if (stream->packet_at == about->offset + 1 && !has_gap_before(plain, stream) &&
        !is_of_another_time(plain, stream) && !is_of_another_packet(plain, stream))
        return TTR_OK;
    ctf_items_collect(items, &what, plain->event);
    bool is_alike = items->payload_shape == stream->kind->packet_shape;
    if (items->n && (plain->version == CTF_RFC_1_1 || !is_alike))
        output_lost(plain->out, CTF_LOST_PACKET, about->offset);
    if (items->failed)
        return fail_memory(error);
    ttr_status status = enter_counted(plain, stream, is_alike ? items : NULL, error);
    if (status != TTR_OK)
        return status;
    stream->source = plain->event->source;
    stream->packet_at = about->offset + 1;
    stream->packet_says = plain->packet_says;
    stream->cpu = about->cpu;
    stream->end = about->has_end ? packet_ticks(plain, about->end) : stream->gap_end;
    return TTR_OK;
}

/* Returns a hash of an event class that is equal in all folders of a trace. */
static uint64_t likeness_of_class(const struct ctf_event_class *source)
{
    return hash_pair(hash_pair(hash_bytes(source->name.p, source->name.n), source->id),
                     (uint64_t)source->log_level);
}

/* Returns a hash that identifies the source's event class. In v1.1 it ignores the section: several
 * sections may become one stream class. */
static uint64_t identity_of(const struct plain *plain)
{
    const struct ctf_event_class *source = plain->schema->event;
    return plain->schema->trace->class->description.version != CTF_RFC_1_1
               ? (uintptr_t)source
               : likeness_of_class(source);
}

static const struct ctf_event_class *class_of(struct plain *plain, struct ctf_stream_out *stream)
{
    const struct ctf_event_class *source = plain->schema->event;
    const struct ctf_class_key key = {.name = source->name,
                                      .like = source,
                                      .identity = identity_of(plain),
                                      .likeness = likeness_of_class(source),
                                      .has_log_level = source->has_log_level,
                                      .log_level = source->log_level};
    const struct ctf_event_class *known =
        ctf_trace_find_class(stream->kind, &plain->w->items, &key);
    if (known)
        return known;
    const struct changes before = changes_of(plain);
    known = ctf_trace_class(plain->trace, stream->kind, &plain->w->items, &key);
    count_changes(plain, before);
    return known;
}

/* Collects what is known of an event or a packet definition that has a schema. Returns false if
 * memory runs out. */
static bool begin(struct plain *plain, struct ttr_writer *out, const ttr_event *event)
{
    plain->out = out;
    plain->w = out->own;
    plain->event = event;
    plain->schema = own_schema(out, event);
    const struct ctf_origin origin = ctf_origin_of(plain->schema, event);
    plain->stream = origin.stream;
    plain->is_copy = context_schema(out->t, event->schema)->ops == &packed_field_ops;
    const struct packed_part packet =
        plain->is_copy ? packed_packet(out->t, event) : (struct packed_part){.n = 0};
    plain->has_packet = packet.n != 0;
    plain->packet_says = plain->has_packet ? hash_bytes(packet.bytes, packet.n) : 0;
    plain->unknown = (struct ctf_packet){
        .cpu = event->cpu,
        .has_cpu = event->flags & TTR_EVENT_HAS_CPU,
        .has_sequence = plain->is_copy && has_counter(plain, CTF_ROLE_SEQUENCE),
        .has_discarded = plain->is_copy && has_counter(plain, CTF_ROLE_DISCARDED)};
    plain->about = plain->is_copy ? &plain->unknown : &origin.reader->packets[event->part];
    plain->trace = trace_of(plain);
    plain->version = plain->trace ? plain->trace->description.version : CTF_UNKNOWN;
    return plain->trace != NULL;
}

ttr_status ctf_plain_packet(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct plain plain;
    const struct ctf_schema *schema = own_schema(out, event);
    if (event->link || !schema || schema->trace->class->is_dialect)
        return TTR_OK;
    if (!begin(&plain, out, event))
        return fail_memory(error);
    ttr_status status = ctf_trace_suits(plain.trace, &plain.w->options, error);
    struct ctf_stream_out *stream = status == TTR_OK ? stream_of_empty(&plain) : NULL;
    if (status != TTR_OK)
        return status;
    return stream ? enter_packet(&plain, stream, error) : TTR_OK;
}

/* Counts properties of an event that v1.1 cannot express: thread names. */
static void count_rfc_losses(const struct plain *plain)
{
    const ttr_event *event = plain->event;
    ttr_thread thread;
    if (plain->version != CTF_RFC_1_1)
        return;
    if (event->thread && ttr_thread_get(plain->out->t, event->thread, &thread) &&
        thread.thread_name)
        output_lost(plain->out, CTF_LOST_THREAD, event->offset);
}

/* Returns true if these ticks are read back as exactly the event's time. */
static bool tells_time(const struct plain *plain, uint64_t ticks)
{
    const struct ctf_trace_out *trace = plain->trace;
    bool is_clamped = false;
    const uint64_t begin = (uint64_t)(trace->keeps_clocks ? trace->moved : trace->base);
    const uint64_t ns = trace->keeps_clocks
                            ? (uint64_t)ctf_time(&plain->stream->kind->timeline, ticks, &is_clamped)
                            : ticks;
    return is_clamped || (int64_t)(begin + ns) == plain->event->time;
}

/* Returns the event's ticks in the open packet and counts losses of time and header fields. */
static uint64_t settle_ticks(const struct plain *plain, const struct ctf_stream_out *stream)
{
    const ttr_event *event = plain->event;
    bool has_time = !(event->flags & TTR_EVENT_NO_TIME);
    uint64_t ticks = has_known_time(plain) ? ticks_of(plain) : stream->last;
    count_rfc_losses(plain);
    if (!has_time && has_time_of_packet(plain) && stream->kind->has_time)
        output_lost(plain->out, CTF_LOST_MARK, event->offset);
    if (has_time && ticks != event->ticks)
        output_lost(plain->out, CTF_LOST_TICKS, event->offset);
    if (has_time && stream->kind->has_time && !tells_time(plain, ticks))
        output_lost(plain->out, CTF_LOST_TIME, event->offset);
    if (stream->kind->loses_header)
        output_lost(plain->out, CTF_LOST_PACKET, event->offset);
    return ticks;
}

ttr_status ctf_plain_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct plain plain;
    if (!own_schema(out, event))
        return ctf_missing_add(out, event, error);
    if (!begin(&plain, out, event))
        return fail_memory(error);
    ttr_status status = ctf_trace_suits(plain.trace, &plain.w->options, error);
    if (status != TTR_OK)
        return status;
    struct ctf_items *items = &plain.w->items;
    const struct ctf_items_for what = {.out = out,
                                       .version = plain.version,
                                       .has_no_common = stores_size(&plain),
                                       .drops_size = drops_size(&plain)};
    ctf_items_collect(items, &what, event);
    struct ctf_stream_out *stream = items->failed ? NULL : stream_of(&plain);
    if (!stream)
        return fail_memory(error);
    status = enter_packet(&plain, stream, error);
    if (status != TTR_OK)
        return status;
    ctf_watch_order(out, stream, event);
    const struct ctf_event_class *class = class_of(&plain, stream);
    out->events++;
    return class ? ctf_stream_put(stream, out, class, items, settle_ticks(&plain, stream), error)
                 : fail_memory(error);
}
