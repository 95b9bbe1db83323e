/* Builds the description of an output trace: clock, environment, stream classes, event classes.
 *
 * CTF 1.8 and 2 use LTTng's packets, which every reader knows ([] = only if present):
 * |  header         magic, uuid, stream_id, [stream_instance_id]
 * |  context        [timestamp_begin, timestamp_end], content_size, packet_size,
 * |                 [packet_seq_num], [events_discarded], [cpu_id]
 * |  event header   u16 id, u32 timestamp;  or u16 65535, u32 id, u64 timestamp
 *
 * v1.1 defines all of these as fixed structs (rfc11.h). */
#include "base/wide.h"
#include "formats/ctf/description/ctf_clock.h"
#include "formats/ctf/write/ctf_write.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#include "base/endian.h"
#include "base/hash.h"
#include "encodings/json/timeline.h"
#include "layout/layout.h"

#define NS_PER_SECOND INT64_C(1000000000)
#define RFC_HEADER_USUAL 2u

static ttr_text make_static_text(const char *text)
{
    return (ttr_text){text, strlen(text)};
}

static struct type_member make_member(const char *name, const struct type *type)
{
    return (struct type_member){
        .name = make_static_text(name), .shown = make_static_text(name), .type = type};
}

static struct type *make_type_with_role(struct ctf_trace_out *trace, unsigned bits, uint16_t role,
                                        const struct ctf_clock *clock)
{
    struct type *type = ctf_types_new_role_type(&trace->types, bits, role);
    if (type)
        type->clock = clock;
    return type;
}

/* --- Types of packets --- */

static const struct type *make_uuid_type(struct ctf_trace_out *trace)
{
    struct type *type = make_type_with_role(trace, 8, CTF_ROLE_UUID, NULL);
    if (!type)
        return NULL;
    bool is_blob = trace->description.version == CTF_2;
    type->kind = is_blob ? TYPE_BLOB : TYPE_ARRAY;
    type->count = 16;
    type->element = is_blob ? NULL : ctf_types_get_number(&trace->types, TYPE_UINT, 8, 10);
    return type;
}

static const struct type *make_packet_header_type(struct ctf_trace_out *trace)
{
    struct type *magic = make_type_with_role(trace, 32, CTF_ROLE_MAGIC, NULL);
    if (magic)
        magic->base = 16;
    const struct type_member members[] = {
        make_member("magic", magic),
        make_member("uuid", make_uuid_type(trace)),
        make_member("stream_id", make_type_with_role(trace, 32, CTF_ROLE_STREAM_CLASS_ID, NULL)),
        make_member("stream_instance_id", make_type_with_role(trace, 64, CTF_ROLE_STREAM_ID, NULL)),
    };
    return ctf_types_new_struct(&trace->types, members, trace->has_numbers ? 4 : 3);
}

static const struct type *make_packet_context(struct ctf_trace_out *trace,
                                              const struct ctf_stream_class_spec *like)
{
    const struct {
        const char *name;
        unsigned bits;
        uint16_t role;
        bool is_there;
        const struct ctf_clock *clock;
    } members[] = {
        {"timestamp_begin", 64, CTF_ROLE_TIME_BEGIN, like->has_clock, like->clock},
        {"timestamp_end", 64, CTF_ROLE_TIME_END, like->has_clock, like->clock},
        {"content_size", 64, CTF_ROLE_CONTENT_SIZE, true, NULL},
        {"packet_size", 64, CTF_ROLE_PACKET_SIZE, true, NULL},
        {"packet_seq_num", 64, CTF_ROLE_SEQUENCE, like->has_sequence, NULL},
        {"events_discarded", 64, CTF_ROLE_DISCARDED, like->has_discarded, NULL},
        {"cpu_id", 32, CTF_ROLE_CPU, like->has_cpu, NULL},
    };
    const size_t members_n = sizeof members / sizeof *members;
    uint32_t n = 0, more = like->fields ? like->fields->members_n : 0;
    struct type_member *all =
        arena_alloc(&trace->description.arena, (members_n + more) * sizeof *all);
    if (!all)
        return NULL;
    for (size_t i = 0; i < members_n; i++)
        if (members[i].is_there)
            all[n++] = make_member(
                members[i].name,
                make_type_with_role(trace, members[i].bits, members[i].role, members[i].clock));
    if (more)
        memcpy(all + n, like->fields->members, more * sizeof *all);
    return ctf_types_new_struct(&trace->types, all, n + more);
}

/* --- Types of event headers --- */

static const struct type_range compact_ids[] = {{0, 65534}}, extended_ids[] = {{65535, 65535}};
static const struct type_label header_labels[] = {{{"compact", 7}, compact_ids, 1},
                                                  {{"extended", 8}, extended_ids, 1}};
static const struct type_labels header_ids = {.label = header_labels, .n = 2};
static const ttr_text header_selector[] = {{"id", 2}};

/* Makes the event header type of streams without timestamps: a struct with only an id. */
static const struct type *make_id_only_header(struct ctf_trace_out *trace)
{
    const struct type_member id =
        make_member("id", make_type_with_role(trace, 32, CTF_ROLE_EVENT_ID, NULL));
    return ctf_types_new_struct(&trace->types, &id, 1);
}

static const struct type *make_event_header(struct ctf_trace_out *trace,
                                            const struct ctf_clock *clock)
{
    struct ctf_types *types = &trace->types;
    const struct type_member compact =
        make_member("timestamp", make_type_with_role(trace, 32, CTF_ROLE_TIME, clock));
    const struct type_member extended[] = {
        make_member("id", make_type_with_role(trace, 32, CTF_ROLE_EVENT_ID, NULL)),
        make_member("timestamp", make_type_with_role(trace, 64, CTF_ROLE_TIME, clock))};
    struct type_member options[] = {
        make_member("compact", ctf_types_new_struct(types, &compact, 1)),
        make_member("extended", ctf_types_new_struct(types, extended, 2))};
    for (unsigned i = 0; i < 2; i++) {
        options[i].ranges = header_labels[i].ranges;
        options[i].ranges_n = 1;
    }
    struct type *id = make_type_with_role(trace, 16, CTF_ROLE_EVENT_ID, NULL),
                *variant = ctf_types_new_struct(types, options, 2);
    if (!id || !variant)
        return NULL;
    id->labels = &header_ids;
    variant->kind = TYPE_VARIANT;
    variant->align = 0;
    variant->reference = (struct type_reference){header_selector, 1, ROOT_EVENT_HEADER};
    const struct type_member members[] = {make_member("id", id), make_member("v", variant)};
    struct type *header = ctf_types_new_struct(types, members, 2);
    if (header)
        header->minimum_align = 3;
    return header;
}

/* --- Initialization of traces --- */

/* Returns the time of tick 0 of the new clock in ns since 1970. If the ticks of the source are ns,
 * they keep their values. Otherwise tick 0 is 1970; if the first event is earlier, the start of
 * the second before it, so that ticks are not negative. */
static int64_t choose_time_base(const ttr_event *first)
{
    bool has_ticks = first->source && !(first->flags & (TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED)) &&
                     first->time >= 0;
    if (has_ticks && first->ticks <= (uint64_t)first->time)
        return first->time - (int64_t)first->ticks;
    if (first->time >= 0)
        return 0;
    return (first->time / NS_PER_SECOND -
            (first->time % NS_PER_SECOND != 0 && first->time > INT64_MIN + NS_PER_SECOND)) *
           NS_PER_SECOND;
}

static void set_time_base(struct ctf_trace_out *trace, const ttr_event *first)
{
    trace->base = choose_time_base(first);
    trace->clock->offset_s = trace->base / NS_PER_SECOND;
    trace->clock->offset_cycles = trace->base % NS_PER_SECOND;
}

static void init_own_clock(struct ctf_trace_out *trace, struct ctf_clock *clock,
                           const ttr_event *first)
{
    trace->clock = clock;
    trace->clock->id = trace->clock->name = make_static_text("time");
    trace->clock->description = make_static_text("Nanoseconds");
    set_time_base(trace, first);
}

static bool add_own_clock(struct ctf_trace_out *trace, const ttr_event *first)
{
    struct ctf_clock *clock = ctf_add_clock(&trace->description);
    if (clock)
        init_own_clock(trace, clock, first);
    return clock != NULL;
}

const struct ctf_clock *ctf_trace_out_get_own_clock(struct ctf_trace_out *trace)
{
    if (!trace->clock && !add_own_clock(trace, &(ttr_event){.time = 0}))
        trace->types.failed = true;
    return trace->clock;
}

/* Sets *offset_s and *offset_cycles to the clock's offset plus `ns`. Returns false if `ns` is not
 * a whole number of ticks, or the offset overflows. */
static bool shift_clock_offset(const struct ctf_clock *clock, int64_t ns, int64_t *offset_s,
                               int64_t *offset_cycles)
{
    int64_t s = ns / NS_PER_SECOND - (ns % NS_PER_SECOND < 0),
            rest = ns % NS_PER_SECOND + (ns % NS_PER_SECOND < 0 ? NS_PER_SECOND : 0);
    uint64_t frequency = clock->frequency, whole = frequency / (uint64_t)NS_PER_SECOND,
             part = frequency % (uint64_t)NS_PER_SECOND;
    uint64_t cycles = whole * (uint64_t)rest +
                      (uint64_t)((uint128)part * (uint64_t)rest / (uint64_t)NS_PER_SECOND);
    const bool is_whole = (uint64_t)((uint128)part * (uint64_t)rest % (uint64_t)NS_PER_SECOND) == 0;
    if (!is_whole || frequency > INT64_MAX / 2 ||
        __builtin_add_overflow(clock->offset_s, s, offset_s) ||
        __builtin_add_overflow(clock->offset_cycles, (int64_t)cycles, offset_cycles))
        return false;
    if (*offset_cycles < (int64_t)frequency || *offset_s == INT64_MAX)
        return true;
    *offset_cycles -= (int64_t)frequency;
    ++*offset_s;
    return true;
}

/* Returns the earliest time in ns that a clock of the source can express (tick 0), plus `moved`.
 * If the source has no clock, its ticks are ns since 1970. */
static int64_t find_earliest_time(const struct ctf_description *from, int64_t moved)
{
    int64_t earliest = from->clocks_n ? INT64_MAX : 0;
    bool is_clamped = false;
    for (size_t i = 0; i < from->clocks_n; i++) {
        struct ctf_timeline line;
        ctf_timeline_init(&line, from->clocks[i]);
        int64_t zero = ctf_ticks_to_ns(&line, 0, &is_clamped);
        earliest = zero < earliest ? zero : earliest;
    }
    return add_saturated(earliest, moved, &is_clamped);
}

/* Returns true if the offsets of all clocks can be increased by `ns`. */
static bool can_shift_clocks(const struct ctf_trace_out *trace, int64_t ns)
{
    const struct ctf_description *description = &trace->description;
    int64_t s, cycles;
    for (size_t i = 0; i < description->clocks_n; i++)
        if (!shift_clock_offset(description->clocks[i], ns, &s, &cycles))
            return false;
    return true;
}

/* Returns true if `ns` nanoseconds are a whole number of ticks of each clock. */
static bool is_integer_ticks(const struct ctf_description *description, int64_t ns)
{
    int64_t s, cycles;
    for (size_t i = 0; i < description->clocks_n; i++)
        if (!shift_clock_offset(&(struct ctf_clock){.frequency = description->clocks[i]->frequency},
                                ns, &s, &cycles))
            return false;
    return true;
}

bool ctf_trace_out_shift_clocks(struct ctf_trace_out *trace, int64_t ns)
{
    struct ctf_description *description = &trace->description;
    const bool may_move = !trace->keeps_clocks || can_shift_clocks(trace, ns);
    if (ns == 0 || (!may_move && is_integer_ticks(description, ns)))
        /* the clocks stay as they are; the ticks of events include the shift */
        return false;
    trace->moved = ns;
    for (size_t i = 0; i < description->clocks_n && trace->keeps_clocks && may_move; i++)
        (void)shift_clock_offset(description->clocks[i], ns, &description->clocks[i]->offset_s,
                                 &description->clocks[i]->offset_cycles);
    const ttr_event first = {.time = find_earliest_time(&trace->source->class->description, ns)};
    if (!trace->keeps_clocks)
        set_time_base(trace, &first);
    if (may_move)
        return false;
    trace->keeps_clocks = false;
    description->clocks_n = 1;
    *description->clocks[0] =
        /* change the first clock instead of adding one, because types of v1.1 refer to it */
        (struct ctf_clock){.frequency = (uint64_t)NS_PER_SECOND};
    init_own_clock(trace, description->clocks[0], &first);
    trace->has_unix_time =
        /* the first event sets this again; is_unix of the source's clocks was copied */
        false;
    return true;
}

static bool add_environment(struct ctf_trace_out *trace, const char *name, const char *value,
                            int64_t number)
{
    struct ctf_environment *entry = ctf_add_environment(&trace->description);
    if (!entry)
        return false;
    *entry = (struct ctf_environment){.name = make_static_text(name),
                                      .is_number = !value,
                                      .number = number,
                                      .text = make_static_text(value ? value : "")};
    return true;
}

static bool make_environment(struct ctf_trace_out *trace)
{
    return add_environment(trace, "tracer_name", CTF_CONVENTIONS_TRACER, 0) &&
           add_environment(trace, "tracetta_conventions", NULL, CTF_CONVENTIONS_VERSION);
}

static void init_trace_out(struct ctf_trace_out *trace, ttr *t, const struct ctf_options *options,
                           enum ctf_version version)
{
    struct ctf_description *description = &trace->description;
    const struct ctf_trace *like = trace->like;
    *trace = (struct ctf_trace_out){.options = &trace->ctx, .ctx = *options, .home = trace->home};
    if (like)
        ctf_options_inherit(&trace->ctx, like, version);
    options = &trace->ctx;
    ctf_description_init(description, &t->counted);
    description->version = version;
    description->minor = version == CTF_1_8 ? 8 : version == CTF_RFC_1_1;
    description->is_big_endian = options->is_big_endian;
    description->has_byte_order = true;
    description->alignment = !options->rfc_is_natural       ? CTF_ALIGN_PACKED
                             : options->rfc_has_short_words ? CTF_ALIGN_NATURAL_32
                                                            : CTF_ALIGN_NATURAL_64;
    description->name = description->ns = description->uid = description->attributes =
        make_static_text("");
    ctf_types_init(&trace->types, t, description);
    trace->types.is_natural = version == CTF_RFC_1_1 && options->rfc_is_natural;
}

static bool make_packet_header(struct ctf_trace_out *trace)
{
    struct ctf_description *description = &trace->description;
    if (description->version == CTF_RFC_1_1)
        return rfc11_make_packet_header(description);
    description->packet_header = make_packet_header_type(trace);
    return description->packet_header && !trace->types.failed;
}

bool ctf_trace_out_init(struct ctf_trace_out *trace, ttr *t, const struct ctf_options *options,
                        enum ctf_version version, const ttr_event *first)
{
    init_trace_out(trace, t, options, version);
    trace->has_conventions = trace->types.has_conventions = trace->has_numbers = true;
    trace->has_unix_time = context_has_unix_time(t, first);
    return add_own_clock(trace, first) && make_environment(trace) && make_packet_header(trace);
}

ttr_status ctf_trace_out_check_options(struct ctf_trace_out *trace,
                                       const struct ctf_options *options, ttr_error *error)
{
    ttr_status status = trace->is_suited
                            ? TTR_OK
                            : ctf_options_check_version(options, trace->description.version, error);
    trace->is_suited = status == TTR_OK;
    return status;
}

/* --- Properties of the source --- */

static bool copy_text_to_arena(struct ctf_trace_out *trace, ttr_text *text)
{
    const char *ctx = arena_copy(&trace->description.arena, text->n ? text->p : "", text->n);
    *text = (ttr_text){ctx ? ctx : "", ctx ? text->n : 0};
    return ctx != NULL;
}

static bool copy_clock(struct ctf_trace_out *trace, const struct ctf_clock *from)
{
    struct ctf_clock *clock = ctf_add_clock(&trace->description);
    if (!clock)
        return false;
    *clock = *from;
    ttr_text *const texts[] = {&clock->id,        &clock->name,        &clock->ns,
                               &clock->uid,       &clock->description, &clock->origin_name,
                               &clock->origin_ns, &clock->origin_uid};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!copy_text_to_arena(trace, texts[i]))
            return false;
    return true;
}

/* Copies a name to the arena. Replaces characters by underscores that TSDL and v1.1 do not allow
 * in identifiers. */
static bool copy_identifier_to_arena(struct ctf_trace_out *trace, ttr_text *name)
{
    char *ctx = arena_alloc(&trace->description.arena, name->n + 1);
    if (!ctx)
        return false;
    for (size_t i = 0; i < name->n; i++) {
        char c = name->p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'),
             is_digit = c >= '0' && c <= '9' && i > 0;
        ctx[i] = is_letter || is_digit ? c : '_';
    }
    if (name->n == 0)
        ctx[0] = '_';
    *name = (ttr_text){ctx, name->n ? name->n : 1};
    return true;
}

static bool copy_environment(struct ctf_trace_out *trace, const struct ctf_description *from)
{
    for (size_t i = 0; i < from->environment_n; i++) {
        struct ctf_environment *entry = ctf_add_environment(&trace->description);
        if (!entry)
            return false;
        *entry = from->environment[i];
        bool is_kept = trace->description.version == CTF_2
                           ? copy_text_to_arena(trace, &entry->name)
                           : copy_identifier_to_arena(trace, &entry->name);
        if (!is_kept || !copy_text_to_arena(trace, &entry->text))
            return false;
    }
    return true;
}

/* Returns true if the version can declare as many clocks as the source has; v1.1 has at most one.
 */
static bool can_declare_clocks(const struct ctf_description *from, enum ctf_version version)
{
    return version != CTF_RFC_1_1 || from->clocks_n < 2;
}

/* Returns true if packet headers of the source have a stream number (stream_instance_id). If not,
 * each file is a stream. */
static bool packets_have_stream_id(const struct ctf_description *from)
{
    const struct type *header = from->packet_header;
    bool is_reported = false;
    for (uint32_t i = 0; header && i < header->members_n; i++)
        is_reported |= header->members[i].type->role == CTF_ROLE_STREAM_ID;
    return is_reported;
}

/* Returns true if the source counts discarded events up to the end of each packet. */
static bool counts_discarded_to_packet_end(const struct ctf_description *from)
{
    bool counts = from->version == CTF_RFC_1_1;
    for (size_t i = 0; i < from->streams_n && !counts; i++)
        counts = tsdl_has_role(from->streams[i]->packet_context, CTF_ROLE_DISCARDED);
    return counts && ctf_counts_discarded_to_packet_end(from);
}

bool ctf_trace_out_init_from_source(struct ctf_trace_out *trace, ttr *t,
                                    const struct ctf_options *options, enum ctf_version version,
                                    struct ctf_trace *source)
{
    const struct ctf_description *from = &source->class->description;
    trace->like = source;
    init_trace_out(trace, t, options, version);
    trace->source = source;
    source->users++;
    trace->keeps_clocks = can_declare_clocks(from, version);
    trace->has_numbers = packets_have_stream_id(from);
    memcpy(trace->description.uuid, from->uuid, sizeof from->uuid);
    trace->description.has_uuid = from->has_uuid;
    trace->description.session_id =
        from->has_session_id ? from->session_id : load_u32le(from->uuid);
    trace->description.has_session_id = from->has_uuid || from->has_session_id;
    trace->description.rfc_discarded_at_end =
        version == CTF_RFC_1_1 && counts_discarded_to_packet_end(from);
    trace->description.name = from->name;
    trace->description.ns = from->ns;
    trace->description.uid = from->uid;
    if (!copy_text_to_arena(trace, &trace->description.name) ||
        !copy_text_to_arena(trace, &trace->description.ns) ||
        !copy_text_to_arena(trace, &trace->description.uid))
        return false;
    for (size_t i = 0; i < from->clocks_n && trace->keeps_clocks; i++)
        if (!copy_clock(trace, from->clocks[i]))
            return false;
    if (!trace->keeps_clocks &&
        !add_own_clock(trace, &(ttr_event){.time = find_earliest_time(from, 0)}))
        return false;
    trace->has_unix_time =
        /* the first event sets this again; is_unix of the source's clocks was copied */
        false;
    return copy_environment(trace, from) && make_packet_header(trace);
}

void ctf_trace_out_free(struct ctf_trace_out *trace, const struct alloc *alloc)
{
    for (size_t i = 0; i < trace->kinds_n; i++) {
        key_map_free(&trace->kinds[i]->events);
        alloc_free(alloc, trace->kinds[i], 1, sizeof *trace->kinds[i]);
    }
    alloc_free(alloc, trace->kinds, trace->kinds_capacity, sizeof *trace->kinds);
    alloc_free(alloc, trace->written_names.thread, trace->written_names.threads_n,
               sizeof *trace->written_names.thread);
    alloc_free(alloc, trace->written_names.process, trace->written_names.processes_n,
               sizeof *trace->written_names.process);
    alloc_free(alloc, trace->written_names.change, trace->written_names.changes_n,
               sizeof *trace->written_names.change);
    ctf_output_dir_free(&trace->home, alloc);
    ctf_trace_unref(trace->source);
    ctf_types_free(&trace->types);
    ctf_description_free(&trace->description);
}

/* --- Stream classes of a trace --- */

static bool make_stream_class_types(struct ctf_trace_out *trace, struct ctf_stream_class_out *kind,
                                    const struct ctf_stream_class_spec *like)
{
    struct ctf_stream_class *class = kind->class;
    if (trace->description.version == CTF_RFC_1_1) {
        const struct ctf_options *options = trace->options;
        class->rfc_header = options->rfc_header ? options->rfc_header
                            : like->rfc_header  ? like->rfc_header
                                                : RFC_HEADER_USUAL;
        class->rfc_has_event_size =
            options->has_event_size ? options->rfc_has_event_size : like->rfc_has_event_size;
        class->rfc_has_no_time = !kind->has_time;
        return rfc11_make_event_header(&trace->description, class);
    }
    class->packet_context = make_packet_context(trace, like);
    class->event_header =
        kind->has_time ? make_event_header(trace, class->clock) : make_id_only_header(trace);
    return class->packet_context && class->event_header && !trace->types.failed;
}

/* Returns the id of a new stream class: that of the same class in another folder of the trace; if
 * there is none, the requested id; if that is in use, the lowest id above all others. */
static uint64_t choose_stream_class_id(const struct ctf_trace_out *trace,
                                       const struct ctf_stream_class_spec *like)
{
    uint64_t above = 0, id = like->id;
    bool is_taken =
        !ctf_trace_group_find_id(trace, CTF_GROUP_STREAM_CLASSES, like->likeness, &id) &&
        ctf_trace_group_uses_id(trace, CTF_GROUP_STREAM_CLASSES, id);
    for (size_t i = 0; i + 1 < trace->kinds_n; i++) {
        uint64_t other = trace->kinds[i]->class->id;
        is_taken |= other == id;
        above = other >= above ? other + 1 : above;
    }
    while (is_taken && ctf_trace_group_uses_id(trace, CTF_GROUP_STREAM_CLASSES, above))
        above++;
    return is_taken ? above : id;
}

struct ctf_stream_class_out *ctf_trace_out_add_stream_class(
    struct ctf_trace_out *trace, const struct ctf_stream_class_spec *like)
{
    const struct alloc *alloc = trace->description.alloc;
    if (!alloc_reserve(alloc, (void **)&trace->kinds, &trace->kinds_capacity, trace->kinds_n + 1,
                       sizeof *trace->kinds))
        return NULL;
    struct ctf_stream_class_out *kind = alloc_zero(alloc, 1, sizeof *kind);
    if (!kind)
        return NULL;
    key_map_init(&kind->events, alloc);
    kind->has_cpu = like->has_cpu;
    kind->has_clock = like->has_clock;
    kind->has_time = like->has_time;
    kind->has_sequence = like->has_sequence;
    kind->has_discarded = like->has_discarded;
    kind->fields = like->fields;
    trace->kinds[trace->kinds_n++] = kind;
    kind->class = ctf_add_stream(&trace->description);
    const char *ctx = arena_copy(&trace->description.arena, like->name.p, like->name.n);
    if (!kind->class || !ctx)
        return NULL;
    kind->class->id = trace->description.version == CTF_RFC_1_1
                          ? like->id
                          /* sections of v1.1 may have equal ids, because names identify them */
                          : choose_stream_class_id(trace, like);
    kind->class->name = (ttr_text){ctx, like->name.n};
    kind->class->ns = kind->class->uid = kind->class->attributes = make_static_text("");
    kind->class->clock = like->clock;
    kind->class->event_context = like->common;
    return ctf_trace_group_set_id(trace, CTF_GROUP_STREAM_CLASSES, like->likeness,
                                  kind->class->id) &&
                   make_stream_class_types(trace, kind, like)
               ? kind
               : NULL;
}

/* --- Event classes of a stream class --- */

/* marks entries of ctf_stream_class_out.events for which readers would reject any class */
#define REFUSED UINT32_MAX

/* Copies namespace, UID and EMF URI of an event class to the arena. */
static bool copy_class_names(struct ctf_trace_out *trace, struct ctf_event_class *class,
                             const struct ctf_event_class *like)
{
    class->ns = like->ns;
    class->uid = like->uid;
    class->emf_uri = like->emf_uri;
    return copy_text_to_arena(trace, &class->ns) && copy_text_to_arena(trace, &class->uid) &&
           copy_text_to_arena(trace, &class->emf_uri);
}

/* The two types of an event class: specific context and payload. */
struct class_roots {
    const struct type *context, *payload; /* NULL if the class has none */
};

/* Arguments of add_event_class about the new class. */
struct class_like {
    const struct ctf_class_key *key;
    struct class_roots roots;
    uint64_t likeness; /* hash of the class that is equal in all folders of a trace */
};

/* Returns the id of a new event class: that of the same class in another folder of the trace; if
 * there is none, that of the source; if that is in use, an id that neither the source nor the
 * output uses. */
static uint64_t choose_event_class_id(const struct ctf_trace_out *trace,
                                      const struct ctf_stream_class *class,
                                      const struct class_like *what)
{
    if (!what->key->like)
        return class->events_n;
    const struct ctf_stream_class *source = what->key->like->stream;
    uint64_t ctx = what->key->like->id, above = source->events_n + class->events_n,
             id = ctx <= UINT32_MAX ? ctx : above, known;
    if (ctf_trace_group_find_id(trace, class->id, what->likeness, &known) &&
        !ctf_find_event(class, known))
        return known;
    for (; ctf_find_event(class, id) || (id != ctx && ctf_find_event(source, id)) ||
           ctf_trace_group_uses_id(trace, class->id, id);
         above++)
        id = above;
    return id;
}

/* Returns true if values of the type have no bits. Readers reject arrays of such elements, because
 * even a damaged length would fit in the packet. */
static bool is_type_empty(const struct type *type)
{
    if (type->kind == TYPE_ARRAY)
        return type->count == 0 || is_type_empty(type->element);
    if (type->kind != TYPE_STRUCT)
        return false;
    for (uint32_t i = 0; i < type->members_n; i++)
        if (!is_type_empty(type->members[i].type))
            return false;
    return true;
}

static bool has_empty_elements(const struct type *type)
{
    bool is_list = type->kind == TYPE_ARRAY || type->kind == TYPE_SEQUENCE;
    if (is_list && (is_type_empty(type->element) || has_empty_elements(type->element)))
        return true;
    for (uint32_t i = 0; type->kind == TYPE_STRUCT && i < type->members_n; i++)
        if (has_empty_elements(type->members[i].type))
            return true;
    return false;
}

static bool has_sequences(const struct type *type)
{
    if (type->kind == TYPE_SEQUENCE)
        return true;
    if (type->kind == TYPE_ARRAY)
        return has_sequences(type->element);
    for (uint32_t i = 0; type->kind == TYPE_STRUCT && i < type->members_n; i++)
        if (has_sequences(type->members[i].type))
            return true;
    return false;
}

/* Returns true if our reader accepts events of these types. Compiles their layout, which checks
 * all limits. */
static bool is_class_readable(struct ctf_trace_out *trace, const struct ctf_stream_class *stream,
                              const struct class_roots *roots)
{
    struct arena arena;
    ttr_error error = {.status = TTR_OK};
    const struct layout_spec spec = {
        .t = trace->types.t,
        .arena = &arena,
        .root = {[ROOT_COMMON_CONTEXT] = stream->event_context,
                 [ROOT_SPECIFIC_CONTEXT] = roots->context,
                 [ROOT_PAYLOAD] = roots->payload},
        .outer = {[ROOT_PACKET_HEADER] = trace->description.packet_header,
                  [ROOT_PACKET_CONTEXT] = stream->packet_context,
                  [ROOT_EVENT_HEADER] = stream->event_header},
    };
    /* babeltrace2 2.0 crashes if the specific context of CTF 1.8 contains a sequence */
    if (trace->description.version == CTF_1_8 && roots->context && has_sequences(roots->context))
        return false;
    if ((roots->context && has_empty_elements(roots->context)) ||
        (roots->payload && has_empty_elements(roots->payload)))
        return false;
    arena_init(&arena, trace->description.alloc);
    bool is_fine = layout_compile(&spec, &error) != NULL;
    trace->types.failed |= error.status == TTR_E_NOMEM;
    arena_free(&arena);
    return is_fine;
}

/* Makes the types of an event class. A context or payload of the source that is an empty struct
 * becomes an empty struct, not NULL. */
static struct class_roots make_class_types(struct ctf_trace_out *trace,
                                           const struct ctf_items *items,
                                           const struct ctf_class_key *key)
{
    struct ctf_types *types = &trace->types;
    struct class_roots roots = {NULL, NULL};
    bool has_context = key->like && key->like->context && trace->description.version != CTF_RFC_1_1;
    bool has_payload = !key->like || key->like->payload;
    if (has_context || items->context_n > items->common_n)
        roots.context = ctf_types_get_root(types, ROOT_SPECIFIC_CONTEXT, items, items->common_n,
                                           items->context_n, items->context_shape);
    if (has_payload || items->n > items->context_n)
        roots.payload = ctf_types_get_root(types, ROOT_PAYLOAD, items, items->context_n, items->n,
                                           items->payload_shape);
    return roots;
}

static const struct ctf_event_class *add_event_class(struct ctf_trace_out *trace,
                                                     struct ctf_stream_class_out *kind,
                                                     const struct class_like *what)
{
    struct ctf_types *types = &trace->types;
    const struct ctf_class_key *key = what->key;
    struct ctf_event_class *class = ctf_add_event(&trace->description, kind->class,
                                                  choose_event_class_id(trace, kind->class, what));
    if (!class || !ctf_trace_group_set_id(trace, kind->class->id, what->likeness, class->id))
        return NULL;
    buffer_clear(&types->name);
    if (key->is_unnamed)
        buffer_add_text(&types->name, CTF_CONVENTIONS_UNNAMED);
    if (trace->has_conventions && !key->is_unnamed)
        ctf_label_escape(&types->name, key->name);
    else
        buffer_add(&types->name, key->name.p, key->name.n);
    const char *name = types->name.failed ? NULL
                                          : arena_copy(&trace->description.arena, types->name.bytes,
                                                       types->name.n);
    if (!name)
        return NULL;
    class->name = (ttr_text){name, types->name.n};
    class->ns = class->uid = class->emf_uri = class->attributes = make_static_text("");
    if (key->like && !copy_class_names(trace, class, key->like))
        return NULL;
    class->log_level = key->log_level;
    class->has_log_level = key->has_log_level;
    class->context = what->roots.context;
    class->payload = what->roots.payload;
    return class;
}

static uint64_t hash_event_class(const struct ctf_items *items, const struct ctf_class_key *key)
{
    return hash_pair(hash_pair(items->context_shape, items->payload_shape), key->identity);
}

const struct ctf_event_class *ctf_find_event_class(const struct ctf_stream_class_out *kind,
                                                   const struct ctf_items *items,
                                                   const struct ctf_class_key *key)
{
    const uint32_t *known = key_map_get(&kind->events, hash_event_class(items, key));
    return known && *known != REFUSED ? kind->class->events[*known] : NULL;
}

bool ctf_is_event_class_refused(const struct ctf_stream_class_out *kind,
                                const struct ctf_items *items, const struct ctf_class_key *key)
{
    const uint32_t *known = key_map_get(&kind->events, hash_event_class(items, key));
    return known && *known == REFUSED;
}

const struct ctf_event_class *ctf_get_event_class(struct ctf_trace_out *trace,
                                                  struct ctf_stream_class_out *kind,
                                                  const struct ctf_items *items,
                                                  const struct ctf_class_key *key)
{
    const struct ctf_event_class *known = ctf_find_event_class(kind, items, key);
    if (known || ctf_is_event_class_refused(kind, items, key))
        return known;
    const struct class_like what = {
        key, make_class_types(trace, items, key),
        hash_pair(hash_pair(items->context_shape, items->payload_shape), key->likeness)};
    if (!trace->types.failed && trace->has_conventions &&
        !is_class_readable(trace, kind->class, &what.roots)) {
        trace->types.failed |= !key_map_put(&kind->events, hash_event_class(items, key), REFUSED);
        kind->refused_n++;
        return NULL;
    }
    const struct ctf_event_class *class =
        trace->types.failed ? NULL : add_event_class(trace, kind, &what);
    return class && key_map_put(&kind->events, hash_event_class(items, key),
                                (uint32_t)(kind->class->events_n - 1))
               ? class
               : NULL;
}
