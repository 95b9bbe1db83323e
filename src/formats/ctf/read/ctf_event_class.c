/* Decoders of event classes, created when a stream contains the first event of a class. A decoder
 * contains everything that is equal for all events of the class, so that the event loops only copy
 * it. Streams are created in ctf_stream.c, fields are found in ctf_event_fields.c, thread fields in
 * ctf_event_thread.c. */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_event_class.h"

#define FIRST_IDS 4u
/* event ids below this are looked up in the array stream->by_id, larger ones in a hash map */
#define DENSE_IDS 65536u

/* Converts the LTTng log level of an event class to a TTR_LEVEL. 0 to 7 are the levels of syslog,
 * 8 to 14 are debug levels with increasing detail. */
static uint8_t level_from_lttng(const struct ctf_event_class *event)
{
    static const uint8_t levels[] = {TTR_LEVEL_FATAL, TTR_LEVEL_FATAL,   TTR_LEVEL_FATAL,
                                     TTR_LEVEL_ERROR, TTR_LEVEL_WARNING, TTR_LEVEL_INFO,
                                     TTR_LEVEL_INFO};
    if (!event->has_log_level || event->log_level < 0)
        return TTR_LEVEL_NONE;
    return event->log_level < (int64_t)sizeof levels ? levels[event->log_level] : TTR_LEVEL_DEBUG;
}

/* Copies the layout of another class of the stream that has the same types. Returns false if there
 * is none; then registers the class, so that later ones can copy its layout. */
static bool share_layout(const struct ctf_stream_class *stream, struct ctf_event_class *event,
                         uint32_t index, bool *is_out_of_memory)
{
    const uint64_t payload = (uintptr_t)event->payload, context = (uintptr_t)event->context;
    const uint32_t *known = pair_map_get(stream->layouts, payload, context);
    *is_out_of_memory = !known && !pair_map_put(stream->layouts, payload, context, index);
    if (!known)
        return false;
    event->layout = stream->events[*known]->layout;
    event->times = stream->events[*known]->times;
    return event->layout != NULL;
}

/* Compiles the layout of event contexts and payload, and caches it in the event class, which has
 * this index in its stream class. Returns false with `error` on failure. */
static bool compile_event_body(struct ctf_trace *trace, const struct ctf_stream_class *stream,
                               uint32_t index, ttr_error *error)
{
    struct ctf_event_class *event = stream->events[index];
    bool is_out_of_memory;
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
    if (share_layout(stream, event, index, &is_out_of_memory))
        return true;
    if (is_out_of_memory)
        return fail_memory(error) == TTR_OK;
    event->layout = layout_compile(&spec, error);
    spec.shows_hidden = true;
    if (event->layout &&
        (ctf_type_updates_clock(stream->event_context) || ctf_type_updates_clock(event->context) ||
         ctf_type_updates_clock(event->payload)))
        return (event->times = layout_compile(&spec, error)) != NULL;
    return event->layout != NULL;
}

/* Interns the name and the provider of an event. LTTng event names have the form PROVIDER:NAME. */
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

/* Returns the packet context if it is printed: it has fields other than sizes and times, or no
 * fields at all. Otherwise returns NULL. */
static const struct type *select_printed_context(const struct type *context)
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

void ctf_describe_declared_class(const struct ctf_trace *trace, const struct ctf_event_class *event,
                                 struct event_class *about)
{
    const struct ctf_stream_class *stream = event->stream;
    *about = (struct event_class){
        .name = event->name.p ? event->name : (ttr_text){"", 0},
        .id = event->id,
        .stream_id = stream->id,
        .stream_name = stream->name.p ? stream->name : (ttr_text){"", 0},
        .level = level_from_lttng(event),
        .root = {trace->class->description.packet_header,
                 select_printed_context(stream->packet_context), stream->event_header,
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
    struct event_class *about = arena_alloc(&reader->trace->class_arena, sizeof *about);
    if (about)
        ctf_describe_declared_class(reader->trace, event, about);
    if (about && reader->has_cpu)
        about->root[ROOT_PACKET_CONTEXT] = reader->trace->cpu_context;
    return about;
}

bool ctf_register_schema(struct ctf_reader *reader, struct ctf_schema *schema,
                         const struct event_class *about)
{
    const void *start = schema->base.layout ? layout_get_iter_program(schema->base.layout) : NULL;
    bool is_listed = schema->event && reader->trace->class->has_conventions &&
                     ctf_is_listed_class(schema->event);
    schema->id = context_add_schema(
        reader->trace->t,
        &(struct schema){.ops = is_listed ? &ctf_listed_field_ops : &layout_field_ops,
                         .ctx = schema,
                         .start = start,
                         .start_with = layout_get_iter_flags(&schema->base),
                         .format = reader->trace->format,
                         .event_class = is_listed ? NULL : about});
    return schema->id != 0;
}

/* In traces that follow the CTF conventions, sets the attributes that an event class declares
 * (kind, level, provider, ...). Returns false with `error` on failure. */
static bool set_class_attributes(struct ctf_reader *reader, const struct ctf_event_class *event,
                                 struct ctf_event_decoder *class, ttr_error *error)
{
    const struct ctf_trace *trace = reader->trace;
    struct ctf_conventions_attributes *convention_attributes =
        trace->class->has_conventions
            ? arena_alloc(&reader->trace->class_arena, sizeof *convention_attributes)
            : NULL;
    if (!trace->class->has_conventions)
        return true;
    if (!convention_attributes) {
        (void)fail_memory(error);
        return false;
    }
    if (ctf_conventions_find_attributes(&trace->class->description, trace->t, event,
                                        convention_attributes, error) != TTR_OK)
        return false;
    class->convention_attributes = convention_attributes;
    class->has_thread = false;
    class->model.kind = convention_attributes->kind;
    class->model.level = convention_attributes->level;
    class->model.name = convention_attributes->name;
    class->model.category = convention_attributes->category;
    class->model.provider = convention_attributes->provider;
    if (convention_attributes->has_number)
        context_set_event_number(trace->t, class->schema->id, convention_attributes->number,
                                 convention_attributes->version);
    return true;
}

/* Returns true if all streams of the trace share one schema per event class. */
static bool has_shared_schemas(const struct ctf_reader *reader)
{
    return reader->trace->class->description.version != CTF_RFC_1_1 && !reader->has_cpu &&
           !(reader->in->flags & TTR_READ_DEFINITIONS);
}

/* Returns the element of trace->schemas for an event class. Returns NULL if memory runs out. */
static struct ctf_schema **find_shared_schema(struct ctf_trace *trace,
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

/* Returns the schema of an event class in the current stream. Returns NULL if memory runs out. */
static struct ctf_schema *get_event_schema(struct ctf_reader *reader, struct ctf_event_class *event)
{
    const bool is_shared = has_shared_schemas(reader);
    struct ctf_schema **place = is_shared ? find_shared_schema(reader->trace, event) : NULL;
    if (is_shared && (!place || *place))
        return place ? *place : NULL;
    struct ctf_schema *schema = arena_alloc(&reader->trace->class_arena, sizeof *schema);
    const struct event_class *about = new_class_description(reader, event);
    if (!schema || !about)
        return NULL;
    *schema = (struct ctf_schema){
        .base = {.layout = event->layout,
                 .scratch = &reader->trace->scratch,
                 .place = ctf_locate_event_body,
                 .locate_group = ctf_locate_event_group,
                 .packet = ctf_get_event_packet_number},
        .trace = reader->trace,
        .event = event,
        .ends_inside = ctf_event_may_end_inside_byte(reader->stream->kind->class, event),
        .stream = is_shared ? NULL : reader->stream,
        .reader = is_shared ? NULL : reader};
    if (event->layout) {
        uint32_t imports;
        (void)layout_imports(event->layout, &imports);
        schema->has_imports = imports > 0;
        schema->base.is_in_payload = !imports && layout_is_byte_aligned(event->layout);
        schema->base.body_mask = CTF_BODY_MASK;
    }
    if (!ctf_register_schema(reader, schema, about))
        return NULL;
    if (is_shared)
        *place = schema;
    return schema;
}

static struct ctf_event_decoder *make_event_decoder(struct ctf_reader *reader, uint32_t index,
                                                    ttr_error *error)
{
    struct ctf_stream *stream = reader->stream;
    struct ctf_event_class *event = stream->class->events[index];
    if (!compile_event_body(reader->trace, stream->class, index, error) ||
        !intern_names(reader->trace, event, error))
        return NULL;
    struct ctf_event_decoder *class = arena_alloc(&reader->trace->class_arena, sizeof *class);
    const struct ctf_thread_fields *thread_fields =
        event->layout ? ctf_find_thread_fields(reader->trace, event) : NULL;
    struct ctf_schema *schema =
        class && (thread_fields || !event->layout) ? get_event_schema(reader, event) : NULL;
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
        class->pid = thread_fields->pid;
        class->tid = thread_fields->tid;
        class->name = thread_fields->name;
        class->has_variable_number = thread_fields->has_variable_number;
        class->has_variable_name = thread_fields->has_variable_name;
        class->has_thread = thread_fields->pid.bytes || thread_fields->tid.bytes ||
                            thread_fields->has_variable_number;
    }
    class->shape = layout_get_shape(class->layout);
    class->model = (ttr_event){
        .kind = TTR_KIND_INSTANT,
        .source = reader->in->id,
        .schema = schema->id,
        .name = event->name_id,
        .provider = event->provider_id,
        .track = stream->track,
        .level = level_from_lttng(event),
        .flags = reader->in->flags & TTR_READ_DEFINITIONS ? TTR_EVENT_RAW : 0,
    };
    if (!set_class_attributes(reader, event, class, error))
        return NULL;
    class->is_usual = !class->has_imports && !class->convention_attributes && !class->times;
    return class;
}

/* Enlarges stream->by_index to at least `need` elements and sets new ones to NULL. Returns false
 * if memory runs out. */
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

/* Returns the rule that computes the size of an event, header and body together. The header must
 * have a fixed size. */
static struct layout_byte_shape get_event_size_rule(const struct ctf_stream *stream,
                                                    const struct ctf_event_decoder *class)
{
    struct layout_shape shape = class->shape;
    shape.first += stream->kind->plan.loads.bits;
    return layout_shape_to_bytes(&shape);
}

/* Sets the decoder of an event id, and copies the members that the fast loop needs to the id's
 * entry. If `class` is NULL, only clears the entry. */
static void set_class_entry(struct ctf_stream *stream, size_t id, struct ctf_event_decoder *class)
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
        entry->bytes = get_event_size_rule(stream, class);
    stream->has_extended |= id >= stream->kind->plan.escape;
}

struct ctf_event_decoder *ctf_get_event_decoder(struct ctf_reader *reader, uint64_t id,
                                                ttr_error *error)
{
    struct ctf_stream *stream = reader->stream;
    const struct alloc *alloc = &reader->trace->t->counted;
    const uint32_t *found = pair_map_get(&stream->class->events_by_id, id, 0);
    if (!found)
        return NULL;
    uint32_t index = *found;
    if (!reserve_class_index(alloc, stream, (size_t)index + 1) ||
        (id < DENSE_IDS && !reserve_class_id(reader->trace, stream, (size_t)id + 1))) {
        (void)fail_memory(error);
        return NULL;
    }
    if (!stream->by_index[index])
        stream->by_index[index] = make_event_decoder(reader, index, error);
    if (id < DENSE_IDS)
        set_class_entry(stream, id, stream->by_index[index]);
    return stream->by_index[index];
}
