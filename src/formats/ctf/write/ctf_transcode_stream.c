/* Traces, stream classes and streams of transcoded events. Each source trace becomes one trace, and
 * each source file one stream. Two streams share a stream class if their source classes are the
 * same and their common contexts and packet contexts have equal fields.
 *
 * In v1.1 the name of a file determines its section, the v1.1 term for a stream class. So a
 * stream's file name must be unused and must not match another section. */
#include "base/hash.h"
#include "base/number.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/write/ctf_pending_gaps.h"
#include "formats/ctf/write/ctf_transcode.h"

/* second key in ctf_writer.stream_of for the stream that was added last for a source file; all
 * other second keys are shape hashes */
#define LATEST UINT64_MAX

/* --- Traces and stream classes --- */

/* Returns how many ns were added to the event's time after it was read; 0 if it has no time. */
static int64_t get_event_time_shift(const struct transcode_job *job)
{
    const ttr_event *event = job->event;
    bool is_clamped = false, has_time = !(event->flags & (TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED)) &&
                                        event->kind != TTR_KIND_DEFINITION;
    int64_t time = ctf_ticks_to_ns(&job->stream->kind->timeline, event->ticks, &is_clamped);
    return has_time && !is_clamped ? (int64_t)((uint64_t)event->time - (uint64_t)time) : 0;
}

struct ctf_trace_out *ctf_transcode_get_trace(struct transcode_job *job)
{
    struct ctf_trace *source = job->schema->trace;
    const struct ctf_options *options = &job->w->options;
    const uint32_t *index = pair_map_get(&job->w->trace_of, job->event->source, 0);
    bool is_new = false;
    if (index && job->w->traces[*index]->source == source)
        return job->w->traces[*index];
    struct ctf_trace_out *trace =
        ctf_find_or_add_trace(job->out, job->event, (uintptr_t)source, CTF_TRACE_LIKE, &is_new);
    enum ctf_version version =
        options->version ? options->version : source->class->description.version;
    if (trace && is_new &&
        !ctf_trace_out_init_from_source(trace, job->out->t, options, version, source))
        return NULL;
    ttr_error ctx = {0};
    if (trace && is_new &&
        (ctf_choose_written_uuid(job->out, source, trace->description.uuid, &ctx) != TTR_OK ||
         !ctf_trace_group_add(job->w, &job->out->t->counted, trace)))
        return NULL;
    if (trace && is_new) {
        if (ctf_trace_out_shift_clocks(trace, get_event_time_shift(job)))
            output_count_loss(job->out, CTF_LOST_PROPERTY, job->event->offset);
        ctf_count_property_losses(job->out, &source->class->description, version);
    }
    return trace;
}

/* Returns the clock of the output stream: a copy of the source's clock; if the target cannot
 * express it, a nanosecond clock. Returns NULL if the source has no clock. */
static const struct ctf_clock *choose_stream_clock(const struct transcode_job *job, bool has_times)
{
    const struct ctf_description *from = &job->schema->trace->class->description;
    const struct ctf_clock *source = job->stream->class->clock;
    if (!job->trace->keeps_clocks || (!source && has_times && job->version == CTF_2))
        return ctf_trace_out_get_own_clock(job->trace);
    for (size_t i = 0; i < from->clocks_n; i++)
        if (from->clocks[i] == source)
            return job->trace->description.clocks[i];
    return NULL;
}

/* Returns true if event headers of the source have fields other than id and time. Always false in
 * v1.1. */
static bool header_has_extra_fields(const struct transcode_job *job)
{
    ttr_fields walk;
    ttr_field field;
    bool is_rich = false, is_rfc = job->schema->trace->class->description.version == CTF_RFC_1_1;
    ttr_fields_begin_group(job->out->t, job->event, TTR_GROUP_HEADER, &walk);
    while (!is_rfc && ttr_fields_next(&walk, &field)) {
        const struct type *type = fields_declared_type(&walk);
        is_rich |= type && !type->role && field.value.type != TTR_TYPE_STRUCT;
    }
    return is_rich;
}

/* Returns true if events of the class lost fields of the header or packet when they were copied
 * out of their packets. */
static bool copied_events_lose_fields(const struct transcode_job *job,
                                      const struct ctf_stream_class *source)
{
    const bool was_rfc = job->schema->trace->class->description.version == CTF_RFC_1_1;
    return !was_rfc && (type_has_user_value(source->event_header) ||
                        (!job->has_packet && type_has_user_value(source->packet_context)));
}

bool ctf_transcode_packet_has_role(const struct transcode_job *job, enum ctf_role role)
{
    return job->schema->trace->class->description.version == CTF_RFC_1_1 ||
           tsdl_has_role(job->stream->class->packet_context, role);
}

bool ctf_transcode_has_only_packet_time(const struct transcode_job *job)
{
    const struct ctf_stream *stream = job->stream;
    return !stream->kind->plan.has_time && stream->class->clock &&
           (ctf_transcode_packet_has_role(job, CTF_ROLE_TIME_BEGIN) ||
            ctf_transcode_packet_has_role(job, CTF_ROLE_TIME_END));
}

bool ctf_transcode_has_known_time(const struct transcode_job *job)
{
    return !(job->event->flags & TTR_EVENT_NO_TIME) || job->stream->class->clock;
}

/* Returns true if nothing but the CPU is known of the event's packet, because the event was copied
 * without packet fields. */
static bool is_packet_unknown(const struct transcode_job *job)
{
    return job->is_copy && !job->has_packet;
}

/* Returns true if the writer must store the CPU itself: in v1.1, in the file name; and if nothing
 * else is known of the packet. Otherwise the CPU is copied like all fields of the packet
 * context. */
static bool must_write_cpu(const struct transcode_job *job)
{
    return job->about->has_cpu && (job->version == CTF_RFC_1_1 || is_packet_unknown(job));
}

/* Returns true if the common context of the source consists only of the u16 event size, which
 * writers of v1.1 add if the option event-size is set. */
static bool context_has_only_size(const struct transcode_job *job)
{
    const struct ctf_stream_class *source = job->stream->class;
    return source->rfc_has_event_size && source->event_context &&
           source->event_context->members_n == 1 &&
           source->event_context->members[0].type->bits == 16;
}

/* Returns true if the common context of target events has the event size and other members. The
 * packet writer then computes the size. */
static bool context_has_size(const struct transcode_job *job)
{
    const struct ctf_options *options = job->trace->options;
    const struct ctf_stream_class *source = job->stream->class;
    return job->version == CTF_RFC_1_1 && source->rfc_has_event_size && source->event_context &&
           !context_has_only_size(job) && (!options->has_event_size || options->rfc_has_event_size);
}

bool ctf_transcode_writes_event_size(const struct transcode_job *job)
{
    const struct ctf_options *options = job->trace->options;
    return job->version == CTF_RFC_1_1 && !context_has_size(job) &&
           (options->has_event_size ? options->rfc_has_event_size : context_has_only_size(job));
}

bool ctf_transcode_drops_payload_size(const struct transcode_job *job)
{
    return job->version == CTF_RFC_1_1 &&
           (context_has_only_size(job) ||
            (ctf_transcode_writes_event_size(job) && job->stream->class->rfc_has_event_size));
}

/* Returns the 1-based index of the member payload_size of a context; 0 if there is none. */
static uint32_t find_size_member(const struct type *context)
{
    static const ttr_text name = {"payload_size", 12};
    const struct type_member *member = context ? type_find_member(context, name) : NULL;
    return member && member->type->kind == TYPE_UINT ? (uint32_t)(member - context->members) + 1
                                                     : 0;
}

static bool make_transcoded_stream_class(struct transcode_job *job,
                                         struct ctf_stream_class_out **kind)
{
    const struct ctf_items *items = &job->w->items, *packet = &job->w->packet_items;
    struct ctf_types *types = &job->trace->types;
    const struct ctf_stream_class *source = job->stream->class;
    bool is_rfc = job->version == CTF_RFC_1_1,
         has_time = job->stream->kind->plan.has_time || (is_rfc && source->clock);
    const unsigned flags = must_write_cpu(job) | job->about->has_sequence * 2u |
                           job->about->has_discarded * 4u | job->about->has_begin * 8u |
                           has_time * 16u;
    struct ctf_stream_class_spec like = {
        .name = is_rfc ? (ttr_text){job->name, job->section_n} : source->name,
        .id = source->id <= UINT32_MAX ? source->id : job->trace->kinds_n,
        .likeness = hash_pair(
            hash_pair(hash_pair(source->id, items->common_shape), packet->payload_shape), flags),
        .has_cpu = must_write_cpu(job),
        .has_sequence = job->about->has_sequence,
        .has_discarded = job->about->has_discarded,
        .has_clock = is_rfc || source->clock || job->about->has_begin,
        .has_time = has_time,
        .clock = choose_stream_clock(job, has_time || job->about->has_begin),
        .rfc_header = source->rfc_header,
        .rfc_has_event_size = context_has_only_size(job)};
    if (packet->n && !is_rfc)
        like.fields = ctf_types_get_root(types, ROOT_PACKET_CONTEXT, packet, 0, packet->n,
                                         packet->payload_shape);
    if (!ctf_transcode_writes_event_size(job) &&
        (items->common_n || (source->event_context && !source->rfc_has_event_size)))
        like.common = ctf_types_get_root(types, ROOT_COMMON_CONTEXT, items, 0, items->common_n,
                                         items->common_shape);
    const uint32_t size = context_has_size(job) ? find_size_member(like.common) : 0;
    like.rfc_has_event_size |= size != 0;
    *kind = types->failed ? NULL : ctf_trace_out_add_stream_class(job->trace, &like);
    if (!*kind)
        return false;
    (*kind)->size_member = size;
    (*kind)->source = job->stream->kind;
    (*kind)->packet_shape = packet->payload_shape;
    (*kind)->loses_header =
        job->is_copy ? copied_events_lose_fields(job, source) : header_has_extra_fields(job);
    return true;
}

/* Returns a key of the source's stream class. It is equal for v1.1 sections with the same id and
 * clock, because in other versions they become one class with several files. */
static uint64_t hash_source_stream_class(const struct transcode_job *job)
{
    const struct ctf_stream_decoder *ctx = job->stream->kind;
    bool is_rfc = job->schema->trace->class->description.version == CTF_RFC_1_1;
    return is_rfc ? hash_pair(ctx->class->id, (uintptr_t)ctx->class->clock) : (uintptr_t)ctx;
}

/* Returns a key that is equal for streams that may share a stream class; not for v1.1. */
static uint64_t hash_stream_class(const struct transcode_job *job)
{
    const uint64_t shapes =
        hash_pair(job->w->items.common_shape, job->w->packet_items.payload_shape);
    return hash_pair(hash_pair(hash_source_stream_class(job), shapes), must_write_cpu(job));
}

/* Returns a key that is equal for streams that may share a stream class; in v1.1, section names
 * must be equal, too. */
static uint64_t hash_named_stream_class(const struct transcode_job *job)
{
    return hash_pair(hash_stream_class(job),
                     job->version == CTF_RFC_1_1 ? hash_bytes(job->name, job->section_n) : 0);
}

/* Returns the existing stream class that the stream named job->name can use; NULL if there is none.
 */
static struct ctf_stream_class_out *find_transcoded_stream_class(const struct transcode_job *job)
{
    return ctf_find_similar_class(job->w, job->trace, hash_named_stream_class(job));
}

struct ctf_type_changes ctf_transcode_get_changes(const struct transcode_job *job)
{
    const struct ctf_types *types = &job->trace->types;
    return (struct ctf_type_changes){types->renamed, types->lengths};
}

void ctf_transcode_count_changes(const struct transcode_job *job, struct ctf_type_changes before)
{
    const struct ctf_type_changes now = ctf_transcode_get_changes(job);
    for (; before.renamed < now.renamed; before.renamed++)
        output_count_loss(job->out, CTF_LOST_NAME, job->event->offset);
    for (; before.lengths < now.lengths; before.lengths++)
        output_count_loss(job->out, CTF_LOST_LENGTH, job->event->offset);
}

static struct ctf_stream_class_out *get_transcoded_stream_class(struct transcode_job *job)
{
    struct ctf_stream_class_out *kind = find_transcoded_stream_class(job);
    const struct ctf_type_changes before = ctf_transcode_get_changes(job);
    if (kind)
        return kind;
    bool is_made = make_transcoded_stream_class(job, &kind) &&
                   ctf_record_similar_class(job->w, job->trace, hash_named_stream_class(job));
    ctf_transcode_count_changes(job, before);
    return is_made ? kind : NULL;
}

/* --- Names of stream files --- */

/* Returns true if readers of v1.1, which know only file names, will assign this file and all
 * earlier files to the right sections. */
static bool is_section_unambiguous(const struct transcode_job *job)
{
    const struct ctf_file_candidate file = {
        {job->name, job->name_n}, job->section_n, find_transcoded_stream_class(job)};
    if (ctf_is_file_of_other_section(job->w, job->trace, &file))
        return false;
    return file.kind ||
           !ctf_section_has_files(job->w, job->trace, (ttr_text){job->name, job->section_n});
}

/* Returns true if no other file has the name and, in v1.1, it matches the intended section. */
static bool is_stream_name_free(const struct transcode_job *job)
{
    return !ctf_is_file_name_used(job->w, job->trace, (ttr_text){job->name, job->name_n}) &&
           (job->version != CTF_RFC_1_1 || is_section_unambiguous(job));
}

/* Returns the length of a v1.1 file name without its suffix _CPU or -CPU. */
static size_t find_section_name_size(const char *file, size_t n)
{
    size_t digits = n;
    while (digits > 0 && file[digits - 1] >= '0' && file[digits - 1] <= '9')
        digits--;
    bool has_tail =
        digits > 1 && digits < n && (file[digits - 1] == '_' || file[digits - 1] == '-');
    return has_tail ? digits - 1 : n;
}

/* Sets job->name to its first `base` bytes and a suffix: -NUMBER if `number` is above 1, then _CPU
 * if has_cpu. Sets name_n and section_n. */
static void build_stream_name(struct transcode_job *job, size_t base, uint64_t number, bool has_cpu)
{
    job->section_n = job->name_n = base;
    if (number > 1) {
        job->name[base] = '-';
        job->section_n = job->name_n = base + 1 + number_format_u64(job->name + base + 1, number);
    }
    if (has_cpu) {
        job->name[job->name_n++] = '_';
        job->name_n += number_format_u64(job->name + job->name_n, job->about->cpu);
    }
    job->name[job->name_n] = '\0';
}

/* Returns the key for ctf_find_last_name_number: it is equal for file names that differ only in
 * their number. */
static uint64_t hash_numbered_name(const struct transcode_job *job, size_t base, bool has_cpu)
{
    const uint64_t name = hash_bytes(job->name, base);
    if (job->version != CTF_RFC_1_1)
        return name;
    return hash_pair(hash_pair(name, hash_stream_class(job)),
                     has_cpu ? job->about->cpu + UINT64_C(1) : 0);
}

/* Sets job->name to an unused file name: that of the source, with a number appended if needed; in
 * v1.1 with section and CPU. Of a path (live streams), uses only the last component, because
 * readers do not search sub-folders. Returns false if memory runs out. */
static bool choose_stream_name(struct transcode_job *job)
{
    const char *path = job->stream->file, *slash = strrchr(path, '/'),
               *file = slash && slash[1] ? slash + 1 : path;
    bool has_cpu = job->version == CTF_RFC_1_1 && job->about->has_cpu;
    size_t n = strlen(file) < CTF_STREAM_NAME_MAX - 3 * NUMBER_MAX
                   ? strlen(file)
                   : CTF_STREAM_NAME_MAX - 3 * NUMBER_MAX,
           base = has_cpu ? find_section_name_size(file, n) : n;
    memcpy(job->name, file, base);
    const uint64_t key = hash_numbered_name(job, base, has_cpu);
    uint32_t number = ctf_find_last_name_number(job->w, job->trace, key);
    do
        build_stream_name(job, base, ++number, has_cpu);
    while (!is_stream_name_free(job));
    return ctf_record_name_number(job->w, job->trace, key, number);
}

/* --- Output streams --- */

static struct ctf_stream_out *add_transcoded_stream(struct transcode_job *job)
{
    ctf_items_collect(
        &job->w->packet_items,
        &(struct ctf_items_config){.out = job->out, .version = job->version, .is_packet = true},
        job->event);
    bool is_named = choose_stream_name(job);
    struct ctf_stream_class_out *kind =
        !is_named || job->w->packet_items.failed ? NULL : get_transcoded_stream_class(job);
    if (!kind)
        return NULL;
    const ttr_text name = {job->name, job->name_n};
    struct ctf_stream_out *stream =
        ctf_add_stream_file(job->w, &job->out->t->counted, job->trace, kind, name);
    if (!stream || !ctf_record_file_name(job->w, job->trace, kind, name))
        return NULL;
    if (job->stream->has_number)
        stream->number = job->stream->number;
    return stream;
}

struct ctf_stream_out *ctf_transcode_get_stream(struct transcode_job *job)
{
    struct ctf_writer *w = job->w;
    const struct ctf_packet *about = job->about;
    uint64_t source = hash_pair((uintptr_t)job->stream->first, 1),
             place = w->items.common_shape + about->has_cpu;
    if ((job->version == CTF_RFC_1_1 || is_packet_unknown(job)) && about->has_cpu)
        place = hash_pair(place, about->cpu);
    const uint32_t *index = pair_map_get(&w->stream_of, source, place);
    if (index)
        return w->streams[*index];
    struct ctf_stream_out *stream = add_transcoded_stream(job);
    uint32_t ctx = (uint32_t)(w->streams_n - 1);
    return stream && pair_map_put(&w->stream_of, source, place, ctx) &&
                   pair_map_put(&w->stream_of, source, LATEST, ctx)
               ? stream
               : NULL;
}

struct ctf_stream_out *ctf_transcode_find_empty_packet_stream(const struct transcode_job *job)
{
    const struct ctf_writer *w = job->w;
    const uint16_t source = job->event->source;
    const uint32_t *index =
        pair_map_get(&w->stream_of, hash_pair((uintptr_t)job->stream->first, 1), LATEST);
    const bool is_needed =
        source < w->missing_n && ctf_pending_gaps_have_count(&w->missing[source]);
    return index && (is_needed || !w->streams[*index]->kind->fields) ? w->streams[*index] : NULL;
}
