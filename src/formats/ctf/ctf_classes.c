/* The description of a trace being written: trace, clock, stream classes, event classes.
 *
 * CTF 1.8 and 2 have packets like LTTng's: header { magic, uuid, stream_id, stream_instance_id }, context { timestamp_begin, timestamp_end,
 * content_size, packet_size, packet_seq_num, events_discarded[, cpu_id] }, and events with LTTng's large header: 16 bits of id and 32 of
 * time, or the escape 65535, 32 bits of id and 64 of time.  The RFC has all of these as fixed structs (rfc11.h). */
#include "formats/ctf/ctf_write.h"

#include "base/hash.h"
#include "encodings/timeline.h"

#define NS_PER_SECOND INT64_C(1000000000)

static ttr_text text(const char *text)
{
    return (ttr_text){text, strlen(text)};
}

static struct type_member member(const char *name, const struct type *type)
{
    return (struct type_member){.name = text(name), .shown = text(name), .type = type};
}

static struct type *special(struct ctf_trace_out *trace, unsigned bits, uint16_t role, bool has_clock)
{
    struct type *type = ctf_types_special(&trace->types, bits, role);
    if (type && has_clock)
        type->clock = trace->clock;
    return type;
}

/* --- Packets --- */

static const struct type *uuid_type(struct ctf_trace_out *trace)
{
    struct type *type = special(trace, 8, CTF_ROLE_UUID, false);
    if (!type)
        return NULL;
    bool is_blob = trace->description.version == CTF_2;
    type->kind = is_blob ? TYPE_BLOB : TYPE_ARRAY;
    type->count = 16;
    type->element = is_blob ? NULL : ctf_types_number(&trace->types, TYPE_UINT, 8, 10);
    return type;
}

static const struct type *packet_header(struct ctf_trace_out *trace)
{
    struct type *magic = special(trace, 32, CTF_ROLE_MAGIC, false);
    if (magic)
        magic->base = 16;
    const struct type_member members[] = {
        member("magic", magic),
        member("uuid", uuid_type(trace)),
        member("stream_id", special(trace, 32, CTF_ROLE_STREAM_CLASS_ID, false)),
        member("stream_instance_id", special(trace, 64, CTF_ROLE_STREAM_ID, false)),
    };
    return ctf_types_struct(&trace->types, members, 4);
}

static const struct type *packet_context(struct ctf_trace_out *trace, bool has_cpu)
{
    const struct type_member members[] = {
        member("timestamp_begin", special(trace, 64, CTF_ROLE_TIME_BEGIN, true)),
        member("timestamp_end", special(trace, 64, CTF_ROLE_TIME_END, true)),
        member("content_size", special(trace, 64, CTF_ROLE_CONTENT_SIZE, false)),
        member("packet_size", special(trace, 64, CTF_ROLE_PACKET_SIZE, false)),
        member("packet_seq_num", special(trace, 64, CTF_ROLE_SEQUENCE, false)),
        member("events_discarded", special(trace, 64, CTF_ROLE_DISCARDED, false)),
        member("cpu_id", special(trace, 32, CTF_ROLE_CPU, false)),
    };
    return ctf_types_struct(&trace->types, members, has_cpu ? 7 : 6);
}

/* --- Headers of events --- */

static const struct type_range compact_ids[] = {{0, 65534}}, extended_ids[] = {{65535, 65535}};
static const struct type_label header_labels[] = {{{"compact", 7}, compact_ids, 1}, {{"extended", 8}, extended_ids, 1}};
static const struct type_labels header_ids = {header_labels, 2, false};
static const ttr_text header_selector[] = {{"id", 2}};

static const struct type *event_header(struct ctf_trace_out *trace)
{
    struct ctf_types *types = &trace->types;
    const struct type_member compact = member("timestamp", special(trace, 32, CTF_ROLE_TIME, true));
    const struct type_member extended[] = {member("id", special(trace, 32, CTF_ROLE_EVENT_ID, false)),
                                           member("timestamp", special(trace, 64, CTF_ROLE_TIME, true))};
    struct type_member options[] = {member("compact", ctf_types_struct(types, &compact, 1)),
                                    member("extended", ctf_types_struct(types, extended, 2))};
    for (unsigned i = 0; i < 2; i++) {
        options[i].ranges = header_labels[i].ranges;
        options[i].ranges_n = 1;
    }
    struct type *id = special(trace, 16, CTF_ROLE_EVENT_ID, false), *variant = ctf_types_struct(types, options, 2);
    if (!id || !variant)
        return NULL;
    id->labels = &header_ids;
    variant->kind = TYPE_VARIANT;
    variant->align = 0;
    variant->reference = (struct type_reference){header_selector, 1, ROOT_EVENT_HEADER};
    const struct type_member members[] = {member("id", id), member("v", variant)};
    struct type *header = ctf_types_struct(types, members, 2);
    if (header)
        header->minimum_align = 3;
    return header;
}

/* --- Traces --- */

/* The time of tick 0: so that ticks stay what they are in the source, where they are nanoseconds; else 0, or the second before the first
 * event where that is negative.  The RFC can say where its zero is only for clocks of Unix time. */
static int64_t base_of(const ttr_event *first, enum ctf_version version)
{
    bool has_ticks = first->source && !(first->flags & (TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED)) && first->time >= 0;
    if (version == CTF_RFC_1_1 && !time_is_unix(first->time))
        return 0;
    if (has_ticks && first->ticks <= (uint64_t)first->time)
        return first->time - (int64_t)first->ticks;
    if (first->time >= 0)
        return 0;
    return (first->time / NS_PER_SECOND - (first->time % NS_PER_SECOND != 0 && first->time > INT64_MIN + NS_PER_SECOND)) * NS_PER_SECOND;
}

static bool make_clock(struct ctf_trace_out *trace, const ttr_event *first)
{
    trace->clock = ctf_add_clock(&trace->description);
    if (!trace->clock)
        return false;
    trace->clock->id = trace->clock->name = text("time");
    trace->clock->description = text("Nanoseconds");
    trace->has_unix_time = time_is_unix(first->time);
    trace->base = base_of(first, trace->description.version);
    trace->clock->offset_s = trace->base / NS_PER_SECOND;
    trace->clock->offset_cycles = trace->base % NS_PER_SECOND;
    return true;
}

static bool add_environment(struct ctf_trace_out *trace, const char *name, const char *value, int64_t number)
{
    struct ctf_environment *entry = ctf_add_environment(&trace->description);
    if (!entry)
        return false;
    *entry = (struct ctf_environment){.name = text(name), .is_number = !value, .number = number, .text = text(value ? value : "")};
    return true;
}

static bool make_environment(struct ctf_trace_out *trace)
{
    return add_environment(trace, "tracer_name", CTF_DIALECT_TRACER, 0) &&
           add_environment(trace, "tracetta_dialect", NULL, CTF_DIALECT_VERSION);
}

bool ctf_trace_begin(struct ctf_trace_out *trace, ttr *t, const struct ctf_options *options, enum ctf_version version,
                     const ttr_event *first)
{
    struct ctf_description *description = &trace->description;
    *trace = (struct ctf_trace_out){.options = options, .is_dialect = true};
    ctf_description_init(description, &t->counted);
    description->version = version;
    description->minor = version == CTF_1_8 ? 8 : version == CTF_RFC_1_1;
    description->is_big_endian = options->is_big_endian;
    description->has_byte_order = true;
    description->alignment = options->rfc_is_natural ? CTF_ALIGN_NATURAL_64 : CTF_ALIGN_PACKED;
    description->name = description->ns = description->uid = description->attributes = text("");
    ctf_types_init(&trace->types, t, description);
    trace->types.is_natural = version == CTF_RFC_1_1 && options->rfc_is_natural;
    if (!make_clock(trace, first) || !make_environment(trace))
        return false;
    if (version == CTF_RFC_1_1)
        return rfc11_make_packet_header(description);
    description->packet_header = packet_header(trace);
    return description->packet_header && !trace->types.failed;
}

void ctf_trace_end(struct ctf_trace_out *trace, const struct alloc *alloc)
{
    for (size_t i = 0; i < trace->kinds_n; i++) {
        keymap_free(&trace->kinds[i]->events);
        alloc_free(alloc, trace->kinds[i], 1, sizeof *trace->kinds[i]);
    }
    alloc_free(alloc, trace->kinds, trace->kinds_capacity, sizeof *trace->kinds);
    alloc_free(alloc, trace->told.thread, trace->told.threads_n, sizeof *trace->told.thread);
    alloc_free(alloc, trace->told.process, trace->told.processes_n, sizeof *trace->told.process);
    alloc_free(alloc, trace->folder, trace->folder_size, 1);
    ctf_types_free(&trace->types);
    ctf_description_free(&trace->description);
}

/* --- Stream classes --- */

static bool make_roots(struct ctf_trace_out *trace, struct ctf_kind_out *kind)
{
    struct ctf_stream_class *class = kind->class;
    if (trace->description.version == CTF_RFC_1_1) {
        class->rfc_header = trace->options->rfc_header;
        class->rfc_has_event_size = trace->options->rfc_has_event_size;
        return rfc11_make_event_header(&trace->description, class);
    }
    class->packet_context = packet_context(trace, kind->has_cpu);
    class->event_header = event_header(trace);
    return class->packet_context && class->event_header && !trace->types.failed;
}

struct ctf_kind_out *ctf_trace_add_kind(struct ctf_trace_out *trace, ttr_text name, bool has_cpu, const struct type *common)
{
    const struct alloc *alloc = trace->description.alloc;
    if (!alloc_reserve(alloc, (void **)&trace->kinds, &trace->kinds_capacity, trace->kinds_n + 1, sizeof *trace->kinds))
        return NULL;
    struct ctf_kind_out *kind = alloc_zero(alloc, 1, sizeof *kind);
    if (!kind)
        return NULL;
    keymap_init(&kind->events, alloc);
    kind->has_cpu = has_cpu;
    trace->kinds[trace->kinds_n++] = kind;
    kind->class = ctf_add_stream(&trace->description);
    const char *own = arena_copy(&trace->description.arena, name.p, name.n);
    if (!kind->class || !own)
        return NULL;
    kind->class->id = trace->kinds_n - 1;
    kind->class->name = (ttr_text){own, name.n};
    kind->class->ns = kind->class->uid = kind->class->attributes = text("");
    kind->class->clock = trace->clock;
    kind->class->event_context = common;
    return make_roots(trace, kind) ? kind : NULL;
}

/* --- Event classes --- */

static const struct ctf_event_class *add_class(struct ctf_trace_out *trace, struct ctf_kind_out *kind, const struct ctf_items *items,
                                               const struct ctf_class_key *key)
{
    struct ctf_types *types = &trace->types;
    struct ctf_event_class *class = ctf_add_event(&trace->description, kind->class, kind->class->events_n);
    if (!class)
        return NULL;
    buffer_clear(&types->name);
    if (key->is_unnamed)
        buffer_add_text(&types->name, CTF_DIALECT_UNNAMED);
    if (trace->is_dialect && !key->is_unnamed)
        ctf_label_escape(&types->name, key->name);
    else
        buffer_add(&types->name, key->name.p, key->name.n);
    const char *name = types->name.failed ? NULL : arena_copy(&trace->description.arena, types->name.bytes, types->name.n);
    if (!name)
        return NULL;
    class->name = (ttr_text){name, types->name.n};
    class->ns = class->uid = class->emf_uri = class->attributes = text("");
    class->log_level = key->log_level;
    class->has_log_level = key->has_log_level;
    if (items->context_n > items->common_n)
        class->context = ctf_types_root(types, ROOT_SPECIFIC_CONTEXT, items, items->common_n, items->context_n, items->context_shape);
    class->payload = ctf_types_root(types, ROOT_PAYLOAD, items, items->context_n, items->n, items->payload_shape);
    return types->failed ? NULL : class;
}

static uint64_t hash_of(const struct ctf_items *items, const struct ctf_class_key *key)
{
    return hash_pair(hash_pair(items->context_shape, items->payload_shape), key->identity);
}

const struct ctf_event_class *ctf_trace_find_class(const struct ctf_kind_out *kind, const struct ctf_items *items,
                                                   const struct ctf_class_key *key)
{
    const uint32_t *known = keymap_get(&kind->events, hash_of(items, key));
    return known ? kind->class->events[*known] : NULL;
}

const struct ctf_event_class *ctf_trace_class(struct ctf_trace_out *trace, struct ctf_kind_out *kind, const struct ctf_items *items,
                                              const struct ctf_class_key *key)
{
    const struct ctf_event_class *known = ctf_trace_find_class(kind, items, key);
    if (known)
        return known;
    const struct ctf_event_class *class = add_class(trace, kind, items, key);
    return class && keymap_put(&kind->events, hash_of(items, key), (uint32_t)class->id) ? class : NULL;
}
