/* Event kinds: one per recorded attribute (struct perf_event_attr), found by the ids of samples.
 *
 * Each kernel version appended fields to attributes: missing fields are 0, unknown fields are
 * ignored. The flags are a C bit field, so big-endian machines store them from the highest bit
 * (PERF-ORDER-2). A single kind needs no ids. The offset of the id is the same in all samples of a
 * trace: first (IDENTIFIER), or after the parts that precede ID (PERF-FILE-3). */
#include "encodings/tracepoint/tracepoints.h"
#include "formats/perf/perf.h"
#include "model/type.h"

/* Returns the 64-bit word with its bits in reverse order. */
static uint64_t reverse_bits(uint64_t x)
{
    uint64_t y = 0;
    for (unsigned i = 0; i < 64; i++)
        y |= (x >> i & 1) << (63 - i);
    return y;
}

/* Returns the attribute's flags in little-endian bit order. Since the reversal also swaps the two
 * bits of precise_ip, swaps them back. */
static uint64_t load_attr_flags(uint64_t word, bool is_big)
{
    if (!is_big)
        return word;
    uint64_t flags = reverse_bits(word), precise = flags >> PERF_FLAG_PRECISE & 3;
    precise = (precise & 1) << 1 | precise >> 1;
    return (flags & ~((uint64_t)3 << PERF_FLAG_PRECISE)) | precise << PERF_FLAG_PRECISE;
}

static uint64_t load_attr_number(const struct cursor *attr, uint32_t at, uint32_t bytes,
                                 bool is_big)
{
    struct cursor c = *attr;
    (void)cursor_skip(&c, at);
    const uint8_t *p = cursor_read_bytes(&c, bytes);
    return !p ? 0 : bytes == 4 ? perf_u32(p, is_big) : perf_u64(p, is_big);
}

static struct perf_request parse_attr(const struct cursor *attr, bool is_big)
{
    return (struct perf_request){
        .type = (uint32_t)load_attr_number(attr, PERF_ATTR_TYPE, 4, is_big),
        .config = load_attr_number(attr, PERF_ATTR_CONFIG, 8, is_big),
        .period = load_attr_number(attr, PERF_ATTR_PERIOD, 8, is_big),
        .sample_type = load_attr_number(attr, PERF_ATTR_SAMPLE_TYPE, 8, is_big),
        .read_format = load_attr_number(attr, PERF_ATTR_READ_FORMAT, 8, is_big),
        .flags = load_attr_flags(load_attr_number(attr, PERF_ATTR_FLAGS, 8, is_big), is_big),
        .bp_type = (uint32_t)load_attr_number(attr, PERF_ATTR_BP_TYPE, 4, is_big),
        .config1 = load_attr_number(attr, PERF_ATTR_CONFIG1, 8, is_big),
        .config2 = load_attr_number(attr, PERF_ATTR_CONFIG2, 8, is_big),
        .branch_type = load_attr_number(attr, PERF_ATTR_BRANCH_TYPE, 8, is_big),
        .regs_user = load_attr_number(attr, PERF_ATTR_REGS_USER, 8, is_big),
        .clockid = (int32_t)(uint32_t)load_attr_number(attr, PERF_ATTR_CLOCKID, 4, is_big),
        .regs_intr = load_attr_number(attr, PERF_ATTR_REGS_INTR, 8, is_big),
    };
}

/* Returns the offset of an eight-byte value, and advances *at to the next value. Returns 0 if
 * samples do not have this value. */
static uint16_t advance_sample_offset(const struct perf_kind *kind, uint32_t bit, uint16_t *at)
{
    if (!(kind->request.sample_type & bit))
        return 0;
    *at = (uint16_t)(*at + 8);
    return (uint16_t)(*at - 8);
}

static void add_fixed_field(struct perf_kind *kind, const char *name, uint16_t at, bool is_pointer)
{
    if (at)
        kind->plain[kind->plain_n++] = (struct perf_fixed_field){
            name, ttr_text_add(kind->trace->t, name, strlen(name)), at, is_pointer};
}

/* Adds the field for the period: stored in each sample, or constant in the attribute. Adds none
 * for tracepoints that record every event, since their period is always 1. */
static void add_period_field(struct perf_kind *kind, uint16_t at)
{
    const struct perf_request *request = &kind->request;
    bool is_fixed = !(request->flags >> PERF_FLAG_FREQ & 1),
         is_each = request->type == PERF_TYPE_TRACEPOINT_EVENT && request->period == 1 && is_fixed;
    kind->has_fixed_period = !at && is_fixed && !is_each && request->period > 0;
    if (kind->has_fixed_period)
        at = PERF_RECORD_HEADER;
    add_fixed_field(kind, "period", is_each ? 0 : at, false);
}

static void set_sample_layout(struct perf_kind *kind)
{
    uint16_t at = PERF_RECORD_HEADER;
    uint16_t identifier = advance_sample_offset(kind, PERF_SAMPLE_HAS_IDENTIFIER, &at);
    kind->ip_at = advance_sample_offset(kind, PERF_SAMPLE_HAS_IP, &at);
    kind->tid_at = advance_sample_offset(kind, PERF_SAMPLE_HAS_TID, &at);
    kind->time_at = advance_sample_offset(kind, PERF_SAMPLE_HAS_TIME, &at);
    uint16_t addr = advance_sample_offset(kind, PERF_SAMPLE_HAS_ADDR, &at),
             id = advance_sample_offset(kind, PERF_SAMPLE_HAS_ID, &at);
    (void)advance_sample_offset(kind, PERF_SAMPLE_HAS_STREAM_ID, &at);
    kind->cpu_at = advance_sample_offset(kind, PERF_SAMPLE_HAS_CPU, &at);
    uint16_t period = advance_sample_offset(kind, PERF_SAMPLE_HAS_PERIOD, &at);
    kind->id_at = identifier ? identifier : id;
    kind->parts_at = at;
    add_fixed_field(kind, "ip", kind->ip_at, true);
    add_fixed_field(kind, "addr", addr, true);
    add_period_field(kind, period);
    const uint32_t before = PERF_SAMPLE_HAS_READ | PERF_SAMPLE_HAS_CALLCHAIN,
                   plain = PERF_SAMPLE_HAS_BRANCH_STACK - 1;
    if (kind->request.sample_type & PERF_SAMPLE_HAS_RAW && !(kind->request.sample_type & before))
        kind->raw_at = at;
    kind->has_parts = (kind->request.sample_type &
                       (before | ~(uint64_t)(plain | PERF_SAMPLE_HAS_IDENTIFIER))) != 0;
}

/* Returns the distance in bytes from a sample_id value to the end of the record, and advances
 * *back. Returns 0 if the value is absent. */
static uint8_t advance_trailer_distance(const struct perf_kind *kind, uint32_t bit, uint8_t *back)
{
    if (!(kind->request.sample_type & bit))
        return 0;
    *back = (uint8_t)(*back + 8);
    return *back;
}

static void set_trailer_layout(struct perf_kind *kind)
{
    uint8_t back = 0;
    if (!(kind->request.flags >> PERF_FLAG_SAMPLE_ID_ALL & 1))
        return;
    uint8_t identifier = advance_trailer_distance(kind, PERF_SAMPLE_HAS_IDENTIFIER, &back);
    kind->cpu_back = advance_trailer_distance(kind, PERF_SAMPLE_HAS_CPU, &back);
    (void)advance_trailer_distance(kind, PERF_SAMPLE_HAS_STREAM_ID, &back);
    uint8_t id = advance_trailer_distance(kind, PERF_SAMPLE_HAS_ID, &back);
    kind->id_back = identifier ? identifier : id;
    kind->time_back = advance_trailer_distance(kind, PERF_SAMPLE_HAS_TIME, &back);
    kind->tid_back = advance_trailer_distance(kind, PERF_SAMPLE_HAS_TID, &back);
    kind->back = back;
}

struct cursor perf_read_attribute_bytes(struct perf_cursor *at, uint64_t room)
{
    struct cursor attr = cursor_slice(&at->c, room), c = attr;
    (void)cursor_skip(&c, PERF_ATTR_SIZE);
    const uint8_t *size = cursor_read_bytes(&c, 4);
    uint32_t n = size ? perf_u32(size, at->is_big) : 0;
    n = n < PERF_ATTR_VER0 ? PERF_ATTR_VER0 : n;
    if (n < cursor_left(&attr))
        attr.end = attr.p + n;
    return attr;
}

struct perf_kind *perf_add_event_kind(struct perf_trace *trace, struct cursor attr)
{
    char name[256];
    struct perf_kind *kind = arena_alloc(&trace->arena, sizeof *kind);
    if (!kind || !alloc_reserve(&trace->t->counted, (void **)&trace->kind, &trace->kinds_capacity,
                                trace->kinds_n + 1, sizeof(struct perf_kind *)))
        return NULL;
    *kind = (struct perf_kind){.trace = trace,
                               .request = parse_attr(&attr, trace->is_big),
                               .index = (uint32_t)trace->kinds_n};
    set_sample_layout(kind);
    set_trailer_layout(kind);
    size_t n = perf_format_event_name(&kind->request, name, sizeof name);
    kind->schema = context_add_schema(
        trace->t,
        &(struct schema){.ops = &perf_sample_field_ops, .ctx = kind, .format = trace->format});
    if (!kind->schema || !perf_set_event_name(trace, kind, (ttr_text){name, n}))
        return NULL;
    trace->has_mixed_times |= trace->kinds_n > 0 && trace->time_at != kind->time_at;
    trace->time_at = kind->time_at;
    trace->kind[trace->kinds_n++] = kind;
    perf_set_tracepoint_of_kind(trace, kind);
    return kind;
}

bool perf_add_id_of_kind(struct perf_trace *trace, struct perf_kind *kind, uint64_t id)
{
    trace->ids[id % PERF_ID_CACHE].kind = NULL;
    return pair_map_put(&trace->by_id, id, 0, kind->index);
}

struct perf_kind *perf_find_kind_by_id(struct perf_trace *trace, uint64_t id)
{
    const uint32_t *known = pair_map_get(&trace->by_id, id, 0);
    size_t slot = (size_t)(id % PERF_ID_CACHE);
    if (!known)
        return NULL;
    trace->ids[slot].id = id;
    trace->ids[slot].kind = trace->kind[*known];
    return trace->kind[*known];
}

struct perf_kind *perf_find_record_kind(struct perf_trace *trace, const struct perf_view *record)
{
    struct perf_kind *first = trace->kinds_n ? trace->kind[0] : NULL;
    if (!first || trace->kinds_n == 1 || !first->id_back ||
        record->size < PERF_RECORD_HEADER + (uint32_t)first->back)
        return first;
    uint64_t id = perf_u64(record->p + record->size - first->id_back, trace->is_big);
    struct perf_kind *kind = id ? perf_find_kind_by_id(trace, id) : NULL;
    return kind ? kind
                /* id 0 means that perf made the record itself; it belongs to the first kind */
                : first;
}

bool perf_set_event_name(struct perf_trace *trace, struct perf_kind *kind, ttr_text name)
{
    const char *colon = kind->request.type == PERF_TYPE_TRACEPOINT_EVENT && name.n
                            ? memchr(name.p, ':', name.n)
                            : NULL;
    kind->provider = 0;
    kind->whole = ttr_text_add(trace->t, name.p, name.n);
    if (colon) {
        size_t n = (size_t)(colon - name.p);
        kind->provider = ttr_text_add(trace->t, name.p, n);
        name = (ttr_text){colon + 1, name.n - n - 1};
    }
    kind->name = ttr_text_add(trace->t, name.p, name.n);
    return (kind->name || name.n == 0) && (kind->whole || (name.n == 0 && !colon)) &&
           (!colon || kind->provider || colon == name.p);
}

bool perf_describe(struct input *in, size_t i, struct event_class *about, uint64_t *events)
{
    const struct perf_reader *reader = in->ctx;
    const struct perf_trace *trace = reader->trace;
    if (!trace || (i >= trace->kinds_n && !trace->tracepoints))
        return false;
    if (i >= trace->kinds_n)
        return tracepoints_describe_header_class(trace->tracepoints, i - trace->kinds_n, about,
                                                 events);
    const struct perf_kind *kind = trace->kind[i];
    *about = (struct event_class){.name = ttr_text_get(trace->t, kind->name),
                                  .id = kind->request.config,
                                  .stream_id = kind->request.type,
                                  .stream_name = ttr_text_get(trace->t, kind->provider),
                                  .emf_uri = {"", 0}};
    about->root[ROOT_PAYLOAD] =
        kind->tracepoint ? tracepoint_make_fields_type(kind->tracepoint) : NULL;
    *events = kind->samples;
    return true;
}

static const char *const record_names[] = {
    [PERF_MMAP] = "mmap",
    [PERF_LOST] = "lost",
    [PERF_COMM] = "comm",
    [PERF_EXIT] = "exit",
    [PERF_THROTTLE] = "throttle",
    [PERF_UNTHROTTLE] = "unthrottle",
    [PERF_FORK] = "fork",
    [PERF_READ] = "read",
    [PERF_MMAP2] = "mmap2",
    [PERF_AUX] = "aux",
    [PERF_ITRACE_START] = "itrace_start",
    [PERF_LOST_SAMPLES] = "lost_samples",
    [PERF_SWITCH] = "switch",
    [PERF_SWITCH_CPU_WIDE] = "switch_cpu_wide",
    [PERF_NAMESPACES] = "namespaces",
    [PERF_KSYMBOL] = "ksymbol",
    [PERF_BPF_EVENT] = "bpf_event",
    [PERF_CGROUP] = "cgroup",
    [PERF_TEXT_POKE] = "text_poke",
    [PERF_AUX_OUTPUT_HW_ID] = "aux_output_hw_id",
};

static bool intern_record_names(struct perf_trace *trace)
{
    for (size_t i = 0; i < sizeof record_names / sizeof *record_names; i++) {
        if (!record_names[i])
            continue;
        trace->record_name[i] = ttr_text_add(trace->t, record_names[i], strlen(record_names[i]));
        if (!trace->record_name[i])
            return false;
    }
    return true;
}

struct perf_trace *perf_trace_new(struct input *in, bool is_big)
{
    ttr *t = in->base.t;
    struct perf_trace *trace = alloc_zero(&t->counted, 1, sizeof *trace);
    if (!trace)
        return NULL;
    trace->t = t;
    trace->format = in->format;
    trace->users = trace->running = 1;
    trace->source = in->id;
    trace->is_big = is_big;
    pair_map_init(&trace->by_id, &t->counted);
    arena_init(&trace->arena, &t->counted);
    trace->record_schema = context_add_schema(
        t, &(struct schema){.ops = &perf_record_field_ops, .ctx = trace, .format = in->format});
    if (trace->record_schema && intern_record_names(trace))
        return trace;
    perf_trace_free(trace);
    return NULL;
}

void perf_trace_free(struct perf_trace *trace)
{
    if (!trace || --trace->users > 0)
        return;
    ttr *t = trace->t;
    for (size_t i = 0; i < trace->kinds_n; i++)
        context_drop_schema(t, trace->kind[i]->schema);
    context_drop_schema(t, trace->record_schema);
    tracepoints_free(trace->tracepoints);
    alloc_free(&t->counted, trace->kind, trace->kinds_capacity, sizeof(struct perf_kind *));
    pair_map_free(&trace->by_id);
    arena_free(&trace->arena);
    alloc_free(&t->counted, trace, 1, sizeof *trace);
}
