/* Transcoding: a CTF trace that cannot be copied, because another version or byte order is asked
 * for, is encoded again under its own names. It needs no dialect: names, contexts, labels, clocks
 * and the environment are those of the source.
 *
 * Order of calls, per event:
 * |  begin_plain       collects the source stream, the packet and the output trace of the event
 * |  get_transcoded_stream         source file + shape of the common context -> output stream
 * |    choose_stream_name     chooses a file name, in v1.1 with the section and the CPU in it
 * |    make_transcoded_stream_class       makes the stream class for a new shape
 * |  start_packet_of_event      starts an output packet if the event is the first of its source
 * packet |  get_transcoded_class          source class + shape -> event class |
 * ctf_stream_append_event    encodes the items
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
struct transcode_job {
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

static const struct ctf_schema *find_ctf_schema(const struct ttr_writer *out,
                                                const ttr_event *event)
{
    const struct schema *schema = context_schema(out->t, event->schema);
    if (schema->beneath)
        schema = context_schema(out->t, schema->beneath);
    const struct ctf_schema *own = schema->format == out->format ? schema->own : NULL;
    return own && ctf_origin_of(own, event).stream ? own : NULL;
}

bool ctf_is_transcoded(const struct ttr_writer *out, const ttr_event *event)
{
    const struct ctf_writer *w = out->own;
    const struct ctf_schema *schema = find_ctf_schema(out, event);
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
static bool continues_other_file(const struct transcode_job *job)
{
    const struct ctf_reader *reader = ctf_origin_of(job->schema, job->event).reader;
    const struct ctf_lanes *lanes = reader->lanes;
    for (uint32_t i = 0; lanes && i < lanes->n; i++) {
        const struct ctf_lane *lane = &lanes->lane[reader->takes_all ? i : reader->lane];
        if (lane->kind == job->stream->kind->first && lane->has_number &&
            lane->number == job->stream->number)
            return lane->initial.is_there;
    }
    return false;
}

/* --- Traces and stream classes --- */

/* Returns the nanoseconds by which the event's time was moved since it was read; 0 if its time is
 * unknown. */
static int64_t time_shift_of_event(const struct transcode_job *job)
{
    const ttr_event *event = job->event;
    bool is_clamped = false, has_time = !(event->flags & (TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED)) &&
                                        event->kind != TTR_KIND_DEFINITION;
    int64_t time = ctf_time(&job->stream->kind->timeline, event->ticks, &is_clamped);
    return has_time && !is_clamped ? (int64_t)((uint64_t)event->time - (uint64_t)time) : 0;
}

static struct ctf_trace_out *get_transcoded_trace(struct transcode_job *job)
{
    struct ctf_trace *source = job->schema->trace;
    const struct ctf_options *options = &job->w->options;
    const uint32_t *index = pairmap_get(&job->w->trace_of, job->event->source, 0);
    bool is_new = false;
    if (index && job->w->traces[*index]->source == source)
        return job->w->traces[*index];
    struct ctf_trace_out *trace =
        ctf_find_or_add_trace(job->out, job->event, (uintptr_t)source, CTF_TRACE_LIKE, &is_new);
    enum ctf_version version =
        options->version ? options->version : source->class->description.version;
    if (trace && is_new && !ctf_trace_out_init_like(trace, job->out->t, options, version, source))
        return NULL;
    ttr_error own = {0};
    if (trace && is_new &&
        (ctf_claim_uuid(job->out, source, trace->description.uuid, &own) != TTR_OK ||
         !ctf_union_join(job->w, &job->out->t->counted, trace)))
        return NULL;
    if (trace && is_new) {
        if (ctf_trace_out_shift_clocks(trace, time_shift_of_event(job)))
            output_lost(job->out, CTF_LOST_PROPERTY, job->event->offset);
        ctf_count_property_losses(job->out, &source->class->description, version);
    }
    return trace;
}

/* Returns the output clock of the stream: the copied source clock, or the trace's own nanosecond
 * clock if the target cannot express the source's. */
static const struct ctf_clock *choose_stream_clock(const struct transcode_job *job, bool has_times)
{
    const struct ctf_description *from = &job->schema->trace->class->description;
    const struct ctf_clock *source = job->stream->class->clock;
    if (!job->trace->keeps_clocks || (!source && has_times && job->version == CTF_2))
        return ctf_trace_out_own_clock(job->trace);
    for (size_t i = 0; i < from->clocks_n; i++)
        if (from->clocks[i] == source)
            return job->trace->description.clocks[i];
    return NULL;
}

/* Returns true if event headers have fields beside id and time, which v1.1 never has. */
static bool header_has_extra_fields(const struct transcode_job *job)
{
    ttr_fields walk;
    ttr_field field;
    bool is_rich = false, is_rfc = job->schema->trace->class->description.version == CTF_RFC_1_1;
    ttr_fields_begin_group(job->out->t, job->event, TTR_GROUP_HEADER, &walk);
    while (!is_rfc && ttr_fields_next(&walk, &field)) {
        const struct type *type = field_type(&walk);
        is_rich |= type && !type->role && field.value.type != TTR_TYPE_STRUCT;
    }
    return is_rich;
}

/* Returns true if copies of the class's events lost header or packet fields. */
static bool copy_loses_fields(const struct transcode_job *job,
                              const struct ctf_stream_class *source)
{
    const bool was_rfc = job->schema->trace->class->description.version == CTF_RFC_1_1;
    return !was_rfc && (type_is_rich(source->event_header) ||
                        (!job->has_packet && type_is_rich(source->packet_context)));
}

/* Returns true if packets of the event's stream have a field of that role; v1.1 packets always do.
 */
static bool packet_has_role(const struct transcode_job *job, enum ctf_role role)
{
    return job->schema->trace->class->description.version == CTF_RFC_1_1 ||
           tsdl_has_role(job->stream->class->packet_context, role);
}

/* Returns true if the events' only time is that of their packet, which copies have lost. */
static bool takes_time_from_packet(const struct transcode_job *job)
{
    const struct ctf_stream *stream = job->stream;
    return !stream->kind->plan.has_time && stream->class->clock &&
           (packet_has_role(job, CTF_ROLE_TIME_BEGIN) || packet_has_role(job, CTF_ROLE_TIME_END));
}

/* Returns true if the event's time is known: its own, or else that of its packet, of the event
 * before or of the clock's zero. */
static bool has_known_time(const struct transcode_job *job)
{
    return !(job->event->flags & TTR_EVENT_NO_TIME) || job->stream->class->clock;
}

/* Returns true if only the CPU is known of the event's packet. */
static bool is_packet_unknown(const struct transcode_job *job)
{
    return job->is_copy && !job->has_packet;
}

/* Returns true if the stream's packets need a CPU of their own: in v1.1 the CPU is part of the file
 * name, and unknown packets have no field for it. Otherwise the CPU is an ordinary packet field. */
static bool needs_own_cpu(const struct transcode_job *job)
{
    return job->about->has_cpu && (job->version == CTF_RFC_1_1 || is_packet_unknown(job));
}

/* Returns true if the source's common context holds only the event size, as event_size = true
 * declares it. */
static bool context_is_size_only(const struct transcode_job *job)
{
    const struct ctf_stream_class *source = job->stream->class;
    return source->rfc_has_event_size && source->event_context &&
           source->event_context->members_n == 1 &&
           source->event_context->members[0].type->bits == 16;
}

/* Returns true if the source's common context holds the event size among other fields. The context
 * is kept and only the size is recomputed. */
static bool context_has_size(const struct transcode_job *job)
{
    const struct ctf_options *options = job->trace->options;
    const struct ctf_stream_class *source = job->stream->class;
    return job->version == CTF_RFC_1_1 && source->rfc_has_event_size && source->event_context &&
           !context_is_size_only(job) && (!options->has_event_size || options->rfc_has_event_size);
}

/* Returns true if target events start with their size: if the user asked for it, or as in the
 * source. Contexts then become payload fields. */
static bool writes_event_size(const struct transcode_job *job)
{
    const struct ctf_options *options = job->trace->options;
    return job->version == CTF_RFC_1_1 && !context_has_size(job) &&
           (options->has_event_size ? options->rfc_has_event_size : context_is_size_only(job));
}

/* Returns true if the source's size fields are dropped: the target writes sizes elsewhere, or
 * writes none. */
static bool drops_payload_size(const struct transcode_job *job)
{
    return job->version == CTF_RFC_1_1 &&
           (context_is_size_only(job) ||
            (writes_event_size(job) && job->stream->class->rfc_has_event_size));
}

/* Returns the 1-based member of the context that holds the event size; 0 = none. */
static uint32_t find_size_member(const struct type *context)
{
    static const ttr_text name = {"payload_size", 12};
    const struct type_member *member = context ? type_member_named(context, name) : NULL;
    return member && member->type->kind == TYPE_UINT ? (uint32_t)(member - context->members) + 1
                                                     : 0;
}

static bool make_transcoded_stream_class(struct transcode_job *job, struct ctf_kind_out **kind)
{
    const struct ctf_items *items = &job->w->items, *packet = &job->w->packet_items;
    struct ctf_types *types = &job->trace->types;
    const struct ctf_stream_class *source = job->stream->class;
    bool is_rfc = job->version == CTF_RFC_1_1,
         has_time = job->stream->kind->plan.has_time || (is_rfc && source->clock);
    const unsigned flags = needs_own_cpu(job) | job->about->has_sequence * 2u |
                           job->about->has_discarded * 4u | job->about->has_begin * 8u |
                           has_time * 16u;
    struct ctf_kind_like like = {
        .name = is_rfc ? (ttr_text){job->name, job->section_n} : source->name,
        .id = source->id <= UINT32_MAX ? source->id : job->trace->kinds_n,
        .likeness = hash_pair(
            hash_pair(hash_pair(source->id, items->common_shape), packet->payload_shape), flags),
        .has_cpu = needs_own_cpu(job),
        .has_sequence = job->about->has_sequence,
        .has_discarded = job->about->has_discarded,
        .has_clock = is_rfc || source->clock || job->about->has_begin,
        .has_time = has_time,
        .clock = choose_stream_clock(job, has_time || job->about->has_begin),
        .rfc_header = source->rfc_header,
        .rfc_has_event_size = context_is_size_only(job)};
    if (packet->n && !is_rfc)
        like.fields = ctf_types_get_root(types, ROOT_PACKET_CONTEXT, packet, 0, packet->n,
                                         packet->payload_shape);
    if (!writes_event_size(job) &&
        (items->common_n || (source->event_context && !source->rfc_has_event_size)))
        like.common = ctf_types_get_root(types, ROOT_COMMON_CONTEXT, items, 0, items->common_n,
                                         items->common_shape);
    const uint32_t size = context_has_size(job) ? find_size_member(like.common) : 0;
    like.rfc_has_event_size |= size != 0;
    *kind = types->failed ? NULL : ctf_trace_add_kind(job->trace, &like);
    if (!*kind)
        return false;
    (*kind)->size_member = size;
    (*kind)->source = job->stream->kind;
    (*kind)->packet_shape = packet->payload_shape;
    (*kind)->loses_header =
        job->is_copy ? copy_loses_fields(job, source) : header_has_extra_fields(job);
    return true;
}

/* Returns a key of the source's stream classes. All v1.1 sections of one id and clock have the same
 * key: elsewhere they are one class with several files. */
static uint64_t source_stream_class_key(const struct transcode_job *job)
{
    const struct ctf_kind *own = job->stream->kind;
    bool is_rfc = job->schema->trace->class->description.version == CTF_RFC_1_1;
    return is_rfc ? hash_pair(own->class->id, (uintptr_t)own->class->clock) : (uintptr_t)own;
}

/* Returns the key of streams that can share a stream class, without the section name. */
static uint64_t stream_class_key(const struct transcode_job *job)
{
    const uint64_t shapes =
        hash_pair(job->w->items.common_shape, job->w->packet_items.payload_shape);
    return hash_pair(hash_pair(source_stream_class_key(job), shapes), needs_own_cpu(job));
}

/* Returns the same key with the section name. */
static uint64_t named_stream_class_key(const struct transcode_job *job)
{
    return hash_pair(stream_class_key(job),
                     job->version == CTF_RFC_1_1 ? hash_bytes(job->name, job->section_n) : 0);
}

/* Returns the stream class for the current name; NULL = none yet. */
static struct ctf_kind_out *find_transcoded_stream_class(const struct transcode_job *job)
{
    return ctf_given_kind(job->w, job->trace, named_stream_class_key(job));
}

/* Counters of changed names and added lengths, at one moment. */
struct changes {
    uint64_t renamed, lengths;
};

static struct changes current_changes(const struct transcode_job *job)
{
    const struct ctf_types *types = &job->trace->types;
    return (struct changes){types->renamed, types->lengths};
}

/* Counts a loss for each change since `before`. */
static void count_type_changes(const struct transcode_job *job, struct changes before)
{
    const struct changes now = current_changes(job);
    for (; before.renamed < now.renamed; before.renamed++)
        output_lost(job->out, CTF_LOST_NAME, job->event->offset);
    for (; before.lengths < now.lengths; before.lengths++)
        output_lost(job->out, CTF_LOST_LENGTH, job->event->offset);
}

static struct ctf_kind_out *get_transcoded_stream_class(struct transcode_job *job)
{
    struct ctf_kind_out *kind = find_transcoded_stream_class(job);
    const struct changes before = current_changes(job);
    if (kind)
        return kind;
    bool is_made = make_transcoded_stream_class(job, &kind) &&
                   ctf_give_kind(job->w, job->trace, named_stream_class_key(job));
    count_type_changes(job, before);
    return is_made ? kind : NULL;
}

/* --- Names of files --- */

/* Returns true if v1.1 readers would assign this file, and all earlier ones, to the intended
 * sections: they use the file name alone. */
static bool is_section_unambiguous(const struct transcode_job *job)
{
    const struct ctf_file_given file = {
        {job->name, job->name_n}, job->section_n, find_transcoded_stream_class(job)};
    if (ctf_given_is_other(job->w, job->trace, &file))
        return false;
    return file.kind ||
           !ctf_given_has_files(job->w, job->trace, (ttr_text){job->name, job->section_n});
}

/* Returns true if the file name is free and leads to the right section. */
static bool is_stream_name_free(const struct transcode_job *job)
{
    return !ctf_is_given(job->w, job->trace, (ttr_text){job->name, job->name_n}) &&
           (job->version != CTF_RFC_1_1 || is_section_unambiguous(job));
}

/* Returns the size of the section name in a v1.1 file name, which ends with _CPU or -CPU. */
static size_t section_name_size(const char *file, size_t n)
{
    size_t digits = n;
    while (digits > 0 && file[digits - 1] >= '0' && file[digits - 1] <= '9')
        digits--;
    bool has_tail =
        digits > 1 && digits < n && (file[digits - 1] == '_' || file[digits - 1] == '-');
    return has_tail ? digits - 1 : n;
}

/* Completes the file name after its first `base` bytes: -NUMBER if above 1, then _CPU. */
static void build_stream_name(struct transcode_job *job, size_t base, uint64_t number, bool has_cpu)
{
    job->section_n = job->name_n = base;
    if (number > 1) {
        job->name[base] = '-';
        job->section_n = job->name_n = base + 1 + number_put_u64(job->name + base + 1, number);
    }
    if (has_cpu) {
        job->name[job->name_n++] = '_';
        job->name_n += number_put_u64(job->name + job->name_n, job->about->cpu);
    }
    job->name[job->name_n] = '\0';
}

/* Returns the key of streams that share a search for free numbers: a number that is taken for one
 * is taken for the others. */
static uint64_t name_number_key(const struct transcode_job *job, size_t base, bool has_cpu)
{
    const uint64_t name = hash_bytes(job->name, base);
    if (job->version != CTF_RFC_1_1)
        return name;
    return hash_pair(hash_pair(name, stream_class_key(job)),
                     has_cpu ? job->about->cpu + UINT64_C(1) : 0);
}

/* Chooses a free file name: the source's, with a number if that is taken. v1.1 readers find section
 * and CPU in it. Live streams have paths; only the last component is used, because readers do not
 * search sub-folders. Returns false if memory runs out. */
static bool choose_stream_name(struct transcode_job *job)
{
    const char *path = job->stream->file, *slash = strrchr(path, '/'),
               *file = slash && slash[1] ? slash + 1 : path;
    bool has_cpu = job->version == CTF_RFC_1_1 && job->about->has_cpu;
    size_t n = strlen(file) < NAME_MOST - 3 * NUMBER_MAX ? strlen(file)
                                                         : NAME_MOST - 3 * NUMBER_MAX,
           base = has_cpu ? section_name_size(file, n) : n;
    memcpy(job->name, file, base);
    const uint64_t key = name_number_key(job, base, has_cpu);
    uint32_t number = ctf_given_number(job->w, job->trace, key);
    do
        build_stream_name(job, base, ++number, has_cpu);
    while (!is_stream_name_free(job));
    return ctf_give_number(job->w, job->trace, key, number);
}

/* --- Streams --- */

static struct ctf_stream_out *add_transcoded_stream(struct transcode_job *job)
{
    ctf_items_collect(
        &job->w->packet_items,
        &(struct ctf_items_for){.out = job->out, .version = job->version, .is_packet = true},
        job->event);
    bool is_named = choose_stream_name(job);
    struct ctf_kind_out *kind =
        !is_named || job->w->packet_items.failed ? NULL : get_transcoded_stream_class(job);
    if (!kind)
        return NULL;
    const ttr_text name = {job->name, job->name_n};
    struct ctf_stream_out *stream =
        ctf_add_stream_file(job->w, &job->out->t->counted, job->trace, kind, name);
    if (!stream || !ctf_give_file(job->w, job->trace, kind, name))
        return NULL;
    if (job->stream->has_number)
        stream->number = job->stream->number;
    return stream;
}

static struct ctf_stream_out *get_transcoded_stream(struct transcode_job *job)
{
    struct ctf_writer *w = job->w;
    const struct ctf_packet *about = job->about;
    uint64_t source = hash_pair((uintptr_t)job->stream->first, 1),
             place = w->items.common_shape + about->has_cpu;
    if ((job->version == CTF_RFC_1_1 || is_packet_unknown(job)) && about->has_cpu)
        place = hash_pair(place, about->cpu);
    const uint32_t *index = pairmap_get(&w->stream_of, source, place);
    if (index)
        return w->streams[*index];
    struct ctf_stream_out *stream = add_transcoded_stream(job);
    uint32_t own = (uint32_t)(w->streams_n - 1);
    return stream && pairmap_put(&w->stream_of, source, place, own) &&
                   pairmap_put(&w->stream_of, source, LATEST, own)
               ? stream
               : NULL;
}

/* Returns the stream for a packet without events; NULL if no earlier packet shows its class. A
 * packet whose own fields are unknown is only written if it has to report a gap. */
static struct ctf_stream_out *find_stream_for_empty_packet(const struct transcode_job *job)
{
    const struct ctf_writer *w = job->w;
    const uint16_t source = job->event->source;
    const uint32_t *index =
        pairmap_get(&w->stream_of, hash_pair((uintptr_t)job->stream->first, 1), LATEST);
    const bool is_needed =
        source < w->missing_n && ctf_pending_gaps_have_count(&w->missing[source]);
    return index && (is_needed || !w->streams[*index]->kind->fields) ? w->streams[*index] : NULL;
}

/* --- Time --- */

/* Converts ticks of the source clock to ticks of the target clock. */
static uint64_t convert_ticks(const struct transcode_job *job, const struct ctf_timeline *line,
                              uint64_t ticks)
{
    bool is_clamped = false;
    if (job->trace->keeps_clocks)
        return ticks;
    int64_t time =
        (int64_t)((uint64_t)ctf_time(line, ticks, &is_clamped) + (uint64_t)job->trace->moved);
    job->trace->has_unix_time |= line->is_anchored;
    return time < job->trace->base ? 0 : (uint64_t)time - (uint64_t)job->trace->base;
}

static uint64_t event_to_target_ticks(const struct transcode_job *job)
{
    const struct ctf_timeline *line = &job->stream->kind->timeline;
    const ttr_event *event = job->event;
    bool is_clamped = false;
    int64_t time = (int64_t)((uint64_t)event->time - (uint64_t)job->trace->moved);
    uint64_t ticks =
        ctf_time(line, event->ticks, &is_clamped) == time ? event->ticks : ctf_ticks_at(line, time);
    return convert_ticks(job, line, ticks);
}

/* Converts a time of the event's packet to target ticks, moved by as much as the event. */
static uint64_t convert_packet_ticks(const struct transcode_job *job, uint64_t ticks)
{
    const struct ctf_timeline *line = &job->stream->kind->timeline;
    const ttr_event *event = job->event;
    bool has_time = !(event->flags & TTR_EVENT_NO_TIME) && event->kind != TTR_KIND_DEFINITION;
    uint64_t moved =
        has_time ? event_to_target_ticks(job) - convert_ticks(job, line, event->ticks) : 0;
    return convert_ticks(job, line, ticks) + moved;
}

/* --- Packets and events --- */

/* Returns true if the gap can be reported by an empty packet with number 0, which ends where the
 * gap does. The source had such a packet too. */
static bool can_lead_report_gap(const struct ctf_pending_gaps *missing,
                                const struct ctf_stream_out *stream, uint64_t begin,
                                struct ctf_gap_place *place)
{
    const bool is_first =
        stream->sequence == 0 && stream->discarded == 0 &&
        (stream->trace->description.version == CTF_RFC_1_1 || stream->kind->has_sequence);
    return is_first && missing->events && !missing->packets &&
           ctf_pending_gaps_place(missing, stream, begin, place) && place->is_alone;
}

/* Writes an empty packet before the first one: it ends where the first gap of known size starts, or
 * covers that gap. */
static ttr_status write_lead_packet(const struct transcode_job *job, struct ctf_stream_out *stream,
                                    const struct ctf_items *items, uint64_t begin, ttr_error *error)
{
    struct ctf_pending_gaps *missing = &job->w->missing[job->event->source];
    uint64_t at = missing->has_ticks ? convert_packet_ticks(job, missing->ticks) : begin;
    struct ctf_gap_place place;
    const bool is_told = can_lead_report_gap(missing, stream, begin, &place);
    stream->cpu = job->about->cpu;
    ttr_status status =
        ctf_stream_start_packet(stream, job->out, items, at < begin ? at : begin, error);
    if (is_told) {
        stream->end = place.end;
        ctf_pending_gaps_store_counters(job->out, stream, missing, job->event->offset);
    }
    return status;
}

static bool packet_has_duration(const struct ctf_packet *about)
{
    return about->has_begin && about->has_end && about->end > about->begin;
}

/* Places the gap before a packet-less event. The packet before ends at the gap's start; an empty
 * packet reports the gap if it ends before the event. Sets *begin to the start of the event's
 * packet. */
static ttr_status place_gap_before_event(const struct transcode_job *job,
                                         struct ctf_stream_out *stream,
                                         const struct ctf_items *items, uint64_t *begin,
                                         ttr_error *error)
{
    struct ctf_pending_gaps *missing = &job->w->missing[job->event->source];
    struct ctf_gap_place place;
    if (!job->is_copy || !ctf_pending_gaps_fit_counters(missing, stream))
        return TTR_OK;
    if (!has_known_time(job) ||
        !ctf_pending_gaps_place(missing, stream, event_to_target_ticks(job), &place)) {
        output_lost_many(job->out, CTF_LOST_GAP_TIME, missing->events > 0, job->event->offset);
        return TTR_OK;
    }
    if (stream->is_open)
        stream->end = place.before;
    stream->gap_end = place.is_alone ? 0 : place.end;
    *begin = place.is_alone ? *begin : place.begin;
    if (!place.is_alone)
        return TTR_OK;
    ttr_status status = ctf_stream_start_packet(stream, job->out, items, place.begin, error);
    stream->end = place.end;
    ctf_pending_gaps_store_counters(job->out, stream, missing, job->event->offset);
    return status;
}

/* Returns true if the gap before a packet ends where the packet starts, so an empty packet must
 * report it. Applies from v1.1 to versions whose counters are valid at the end of a packet. */
static bool needs_empty_gap_packet(const struct transcode_job *job,
                                   const struct ctf_stream_out *stream,
                                   const struct ctf_pending_gaps *missing)
{
    const bool was_to_end = ctf_counts_to_end(&job->schema->trace->class->description),
               is_to_end = ctf_counts_to_end(&job->trace->description);
    return !was_to_end && is_to_end && missing->events && stream->kind->has_discarded &&
           packet_has_duration(job->about);
}

/* Starts the output packet, after an empty one if a gap requires that. `items`: fields of the
 * packet itself; NULL = none. */
static ttr_status start_packet_with_counters(struct transcode_job *job,
                                             struct ctf_stream_out *stream,
                                             const struct ctf_items *items, ttr_error *error)
{
    const ttr_event *event = job->event;
    const struct ctf_packet *about = job->about;
    const bool is_empty = event->kind == TTR_KIND_DEFINITION, is_first = stream->packet_at == 0;
    const struct ctf_first_packet what = {.about = about,
                                          .goes_on = is_first && continues_other_file(job)};
    struct ctf_pending_gaps *missing = ctf_pending_gaps_of_source(job->out, event->source);
    ttr_status status = TTR_OK;
    if (!missing)
        return fail_memory(error);
    const uint64_t before =
        stream->last > stream->end ? stream->last : stream->end; /* end of the packet before */
    uint64_t first = is_empty || !has_known_time(job) ? before : event_to_target_ticks(job);
    uint64_t begin = about->has_begin ? convert_packet_ticks(job, about->begin) : first;
    const bool is_beside = is_first &&
                           /* another output file of the same source reports the gap */
                           ctf_pending_gaps_are_in_other_stream(missing, stream);
    if (is_first && ctf_pending_gaps_start_stream(job->out, stream, &what, missing))
        status = write_lead_packet(job, stream, items, begin, error);
    if (status == TTR_OK && !is_beside && needs_empty_gap_packet(job, stream, missing)) {
        status = ctf_stream_start_packet(stream, job->out, items, begin, error);
        ctf_pending_gaps_store_counters(job->out, stream, missing, event->offset);
    }
    stream->gap_end = 0;
    if (status == TTR_OK && !is_beside)
        status = place_gap_before_event(job, stream, items, &begin, error);
    if (status == TTR_OK)
        status = is_empty ? ctf_stream_start_empty_packet(stream, job->out, &begin, error)
                          : ctf_stream_start_packet(stream, job->out, items, begin, error);
    if (!is_beside)
        ctf_pending_gaps_store_counters(job->out, stream, missing, event->offset);
    missing->stream = stream;
    return status;
}

/* Returns true if the open packet must end before a packet-less event, so that the counters of the
 * next packet report the gap in the right place. */
static bool is_gap_before_event(const struct transcode_job *job,
                                const struct ctf_stream_out *stream)
{
    const uint16_t source = job->event->source;
    const struct ctf_pending_gaps *missing =
        job->is_copy && source < job->w->missing_n ? &job->w->missing[source] : NULL;
    return missing && (ctf_pending_gaps_fit_counters(missing, stream) ||
                       (stream->gap_end && event_to_target_ticks(job) > stream->gap_end));
}

/* Returns true if a packet-less event takes its time from a packet that starts at another tick than
 * the open one. */
static bool has_other_packet_time(const struct transcode_job *job,
                                  const struct ctf_stream_out *stream)
{
    return job->is_copy && !stream->kind->has_time && takes_time_from_packet(job) &&
           event_to_target_ticks(job) != stream->begin;
}

/* Returns true if the fields of a packet-less event's packet differ from those of the open packet.
 */
static bool is_in_other_packet(const struct transcode_job *job, const struct ctf_stream_out *stream)
{
    return job->has_packet && job->packet_says != stream->packet_says;
}

/* Starts the output packet of the event's source packet, unless it is open already. */
static ttr_status start_packet_of_event(struct transcode_job *job, struct ctf_stream_out *stream,
                                        ttr_error *error)
{
    const struct ctf_packet *about = job->about;
    struct ctf_items *items = &job->w->packet_items;
    const struct ctf_items_for what = {.out = job->out, .version = job->version, .is_packet = true};
    if (stream->packet_at == about->offset + 1 && !is_gap_before_event(job, stream) &&
        !has_other_packet_time(job, stream) && !is_in_other_packet(job, stream))
        return TTR_OK;
    ctf_items_collect(items, &what, job->event);
    bool is_alike = items->payload_shape == stream->kind->packet_shape;
    if (items->n && (job->version == CTF_RFC_1_1 || !is_alike))
        output_lost(job->out, CTF_LOST_PACKET, about->offset);
    if (items->failed)
        return fail_memory(error);
    ttr_status status = start_packet_with_counters(job, stream, is_alike ? items : NULL, error);
    if (status != TTR_OK)
        return status;
    stream->source = job->event->source;
    stream->packet_at = about->offset + 1;
    stream->packet_says = job->packet_says;
    stream->cpu = about->cpu;
    stream->end = about->has_end ? convert_packet_ticks(job, about->end) : stream->gap_end;
    return TTR_OK;
}

/* Returns a hash of an event class that is equal in all folders of a trace. */
static uint64_t event_class_likeness(const struct ctf_event_class *source)
{
    return hash_pair(hash_pair(hash_bytes(source->name.p, source->name.n), source->id),
                     (uint64_t)source->log_level);
}

/* Returns a hash that identifies the source's event class. In v1.1 it ignores the section: several
 * sections may become one stream class. */
static uint64_t event_class_identity(const struct transcode_job *job)
{
    const struct ctf_event_class *source = job->schema->event;
    return job->schema->trace->class->description.version != CTF_RFC_1_1
               ? (uintptr_t)source
               : event_class_likeness(source);
}

static const struct ctf_event_class *get_transcoded_class(struct transcode_job *job,
                                                          struct ctf_stream_out *stream)
{
    const struct ctf_event_class *source = job->schema->event;
    const struct ctf_class_key key = {.name = source->name,
                                      .like = source,
                                      .identity = event_class_identity(job),
                                      .likeness = event_class_likeness(source),
                                      .has_log_level = source->has_log_level,
                                      .log_level = source->log_level};
    const struct ctf_event_class *known = ctf_find_event_class(stream->kind, &job->w->items, &key);
    if (known)
        return known;
    const struct changes before = current_changes(job);
    known = ctf_trace_class(job->trace, stream->kind, &job->w->items, &key);
    count_type_changes(job, before);
    return known;
}

/* Collects what is known of an event or a packet definition that has a schema. Returns false if
 * memory runs out. */
static bool init_transcode_job(struct transcode_job *job, struct ttr_writer *out,
                               const ttr_event *event)
{
    job->out = out;
    job->w = out->own;
    job->event = event;
    job->schema = find_ctf_schema(out, event);
    const struct ctf_origin origin = ctf_origin_of(job->schema, event);
    job->stream = origin.stream;
    job->is_copy = context_schema(out->t, event->schema)->ops == &packed_field_ops;
    const struct packed_part packet =
        job->is_copy ? packed_packet(out->t, event) : (struct packed_part){.n = 0};
    job->has_packet = packet.n != 0;
    job->packet_says = job->has_packet ? hash_bytes(packet.bytes, packet.n) : 0;
    job->unknown = (struct ctf_packet){
        .cpu = event->cpu,
        .has_cpu = event->flags & TTR_EVENT_HAS_CPU,
        .has_sequence = job->is_copy && packet_has_role(job, CTF_ROLE_SEQUENCE),
        .has_discarded = job->is_copy && packet_has_role(job, CTF_ROLE_DISCARDED)};
    job->about = job->is_copy ? &job->unknown : &origin.reader->packets[event->part];
    job->trace = get_transcoded_trace(job);
    job->version = job->trace ? job->trace->description.version : CTF_UNKNOWN;
    return job->trace != NULL;
}

ttr_status ctf_transcode_packet(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct transcode_job job;
    const struct ctf_schema *schema = find_ctf_schema(out, event);
    if (event->link || !schema || schema->trace->class->is_dialect)
        return TTR_OK;
    if (!init_transcode_job(&job, out, event))
        return fail_memory(error);
    ttr_status status = ctf_trace_out_check_options(job.trace, &job.w->options, error);
    struct ctf_stream_out *stream = status == TTR_OK ? find_stream_for_empty_packet(&job) : NULL;
    if (status != TTR_OK)
        return status;
    return stream ? start_packet_of_event(&job, stream, error) : TTR_OK;
}

/* Counts properties of an event that v1.1 cannot express: thread names. */
static void count_rfc_losses(const struct transcode_job *job)
{
    const ttr_event *event = job->event;
    ttr_thread thread;
    if (job->version != CTF_RFC_1_1)
        return;
    if (event->thread && ttr_thread_get(job->out->t, event->thread, &thread) && thread.thread_name)
        output_lost(job->out, CTF_LOST_THREAD, event->offset);
}

/* Returns true if these ticks are read back as exactly the event's time. */
static bool is_time_exact(const struct transcode_job *job, uint64_t ticks)
{
    const struct ctf_trace_out *trace = job->trace;
    bool is_clamped = false;
    const uint64_t begin = (uint64_t)(trace->keeps_clocks ? trace->moved : trace->base);
    const uint64_t ns = trace->keeps_clocks
                            ? (uint64_t)ctf_time(&job->stream->kind->timeline, ticks, &is_clamped)
                            : ticks;
    return is_clamped || (int64_t)(begin + ns) == job->event->time;
}

/* Returns the event's ticks in the open packet and counts losses of time and header fields. */
static uint64_t finalize_event_ticks(const struct transcode_job *job,
                                     const struct ctf_stream_out *stream)
{
    const ttr_event *event = job->event;
    bool has_time = !(event->flags & TTR_EVENT_NO_TIME);
    uint64_t ticks = has_known_time(job) ? event_to_target_ticks(job) : stream->last;
    count_rfc_losses(job);
    if (!has_time && takes_time_from_packet(job) && stream->kind->has_time)
        output_lost(job->out, CTF_LOST_PACKET_TIME, event->offset);
    if (has_time && ticks != event->ticks)
        output_lost(job->out, CTF_LOST_TICKS, event->offset);
    if (has_time && stream->kind->has_time && !is_time_exact(job, ticks))
        output_lost(job->out, CTF_LOST_TIME, event->offset);
    if (stream->kind->loses_header)
        output_lost(job->out, CTF_LOST_PACKET, event->offset);
    return ticks;
}

ttr_status ctf_transcode_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct transcode_job job;
    if (!find_ctf_schema(out, event))
        return ctf_pending_gaps_add(out, event, error);
    if (!init_transcode_job(&job, out, event))
        return fail_memory(error);
    ttr_status status = ctf_trace_out_check_options(job.trace, &job.w->options, error);
    if (status != TTR_OK)
        return status;
    struct ctf_items *items = &job.w->items;
    const struct ctf_items_for what = {.out = out,
                                       .version = job.version,
                                       .has_no_common = writes_event_size(&job),
                                       .drops_size = drops_payload_size(&job)};
    ctf_items_collect(items, &what, event);
    struct ctf_stream_out *stream = items->failed ? NULL : get_transcoded_stream(&job);
    if (!stream)
        return fail_memory(error);
    status = start_packet_of_event(&job, stream, error);
    if (status != TTR_OK)
        return status;
    ctf_count_reordered(out, stream, event);
    const struct ctf_event_class *class = get_transcoded_class(&job, stream);
    out->events++;
    return class ? ctf_stream_append_event(stream, out, class, items,
                                           finalize_event_ticks(&job, stream), error)
                 : fail_memory(error);
}
