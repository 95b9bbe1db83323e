/* Features: sections of a file (or records of a pipe) that describe the machine and the events.
 *
 * Names of events, the clock and the formats of tracepoints are needed to read the trace; host,
 * kernel, CPU and command become attributes. Left out: topologies of CPUs, memory and caches, PMU
 * capabilities, groups, BPF programs. */
#include <stdio.h>

#include "base/status.h"
#include "formats/perf/perf.h"

/* Reads a text: u32 size, then that number of characters, padded with zeros. */
static ttr_text read_feature_text(struct perf_cursor *at)
{
    uint32_t n = perf_read_u32(at);
    const char *p = (const char *)cursor_read_bytes(&at->c, n);
    const char *zero = p && n ? memchr(p, 0, n) : NULL;
    return (ttr_text){p ? p : "", zero ? (size_t)(zero - p) : p ? n : 0};
}

static bool add_text_attribute(const struct perf_reader *reader, const char *name, ttr_text text)
{
    return context_add_attribute(reader->trace->t, reader->in->id, name,
                                 &(ttr_value){.type = TTR_TYPE_TEXT, .text = text});
}

static bool add_number_attribute(const struct perf_reader *reader, const char *name,
                                 uint64_t number)
{
    return context_add_attribute(reader->trace->t, reader->in->id, name,
                                 &(ttr_value){.type = TTR_TYPE_UINT, .v.u = number});
}

/* Adds the recorded command as an attribute; spaces separate its arguments. */
static bool parse_command(const struct perf_reader *reader, struct perf_cursor *at)
{
    struct buffer text;
    buffer_init(&text, &reader->trace->t->counted);
    uint32_t n = perf_read_u32(at);
    for (uint32_t i = 0; i < n && !at->c.failed; i++) {
        ttr_text word = read_feature_text(at);
        if (i)
            buffer_add_byte(&text, ' ');
        buffer_add(&text, word.p, word.n);
    }
    bool is_fine = !text.failed &&
                   add_text_attribute(reader, "command",
                                      (ttr_text){text.n ? (const char *)text.bytes : "", text.n});
    buffer_free(&text);
    return is_fine;
}

/* Returns the event kind that entry number `i` of EVENT_DESC describes: by the ids of the entry,
 * or by `i` if the entry has no ids. */
static struct perf_kind *find_described_kind(struct perf_trace *trace, uint32_t i,
                                             const struct perf_cursor *ids, uint32_t ids_n)
{
    struct perf_cursor at = *ids;
    for (uint32_t k = 0; k < ids_n && !at.c.failed; k++) {
        struct perf_kind *kind = perf_find_kind_by_id(trace, perf_read_u64(&at));
        if (kind)
            return kind;
    }
    return i < trace->kinds_n ? trace->kind[i] : NULL;
}

/* Parses EVENT_DESC: u32 n, u32 bytes of an attribute, n x {attribute, u32 ids, text, ids}. */
static ttr_status parse_event_desc(struct perf_reader *reader, struct perf_cursor *at)
{
    struct perf_trace *trace = reader->trace;
    uint32_t n = perf_read_u32(at), bytes = perf_read_u32(at);
    bool has_kinds = trace->kinds_n > 0;
    for (uint32_t i = 0; i < n && i < PERF_KINDS_MAX; i++) {
        struct cursor attr = perf_read_attribute_bytes(at, bytes);
        uint32_t ids_n = perf_read_u32(at);
        ttr_text name = read_feature_text(at);
        struct perf_cursor ids = {cursor_slice(&at->c, (uint64_t)ids_n * 8), at->is_big};
        if (at->c.failed)
            return input_add_damage(reader->in, at->c.offset, 0, "perf.bad-feature", reader->error,
                                    "the descriptions of events end inside the one of event %u", i);
        struct perf_kind *kind = has_kinds ? find_described_kind(trace, i, &ids, ids_n)
                                           : perf_add_event_kind(trace, attr);
        bool is_fine = !kind ? has_kinds : perf_set_event_name(trace, kind, name);
        while (is_fine && kind && !has_kinds && cursor_left(&ids.c) >= 8)
            is_fine = perf_add_id_of_kind(trace, kind, perf_read_u64(&ids));
        if (!is_fine)
            return fail_memory(reader->error);
    }
    return TTR_OK;
}

/* Parses CLOCK_DATA: one instant in wall-clock time and in trace time, in ns. */
static bool parse_clock_data(const struct perf_reader *reader, struct perf_cursor *at)
{
    struct perf_trace *trace = reader->trace;
    uint32_t version = perf_read_u32(at), clock = perf_read_u32(at);
    uint64_t wall = perf_read_u64(at), ticks = perf_read_u64(at);
    if (at->c.failed || version != 1 || wall > INT64_MAX || ticks > INT64_MAX)
        return true;
    trace->is_anchored = true;
    trace->anchor_ticks = ticks;
    trace->anchor_wall = (int64_t)wall;
    trace->anchor_ns = (int64_t)wall - (int64_t)ticks;
    return add_number_attribute(reader, "clock", clock);
}

/* Parses PMU_MAPPINGS: u32 n, n x {u32 type, text}. */
static bool parse_pmu_mappings(const struct perf_reader *reader, struct perf_cursor *at)
{
    uint32_t n = perf_read_u32(at);
    struct buffer text;
    char number[16];
    buffer_init(&text, &reader->trace->t->counted);
    for (uint32_t i = 0; i < n && !at->c.failed; i++) {
        (void)snprintf(number, sizeof number, "%s%u:", i ? " " : "", perf_read_u32(at));
        buffer_add_text(&text, number);
        ttr_text name = read_feature_text(at);
        buffer_add(&text, name.p, name.n);
    }
    bool is_fine = !text.failed &&
                   add_text_attribute(reader, "pmus",
                                      (ttr_text){text.n ? (const char *)text.bytes : "", text.n});
    buffer_free(&text);
    return is_fine;
}

static bool parse_cpus(const struct perf_reader *reader, struct perf_cursor *at)
{
    uint32_t available = perf_read_u32(at), online = perf_read_u32(at);
    return add_number_attribute(reader, "cpus_available", available) &&
           add_number_attribute(reader, "cpus_online", online);
}

static const char *const texts[] = {
    [PERF_FEATURE_HOSTNAME] = "hostname",    [PERF_FEATURE_OSRELEASE] = "os_release",
    [PERF_FEATURE_VERSION] = "perf_version", [PERF_FEATURE_ARCH] = "arch",
    [PERF_FEATURE_CPUDESC] = "cpu",          [PERF_FEATURE_CPUID] = "cpu_id"};
#define TEXTS_N (sizeof texts / sizeof *texts)

static bool parse_attribute_feature(const struct perf_reader *reader, unsigned feature,
                                    struct perf_cursor *at)
{
    if (feature < TEXTS_N && texts[feature])
        return add_text_attribute(reader, texts[feature], read_feature_text(at));
    switch (feature) {
    case PERF_FEATURE_NRCPUS:
        return parse_cpus(reader, at);
    case PERF_FEATURE_TOTAL_MEM:
        return add_number_attribute(reader, "memory_kib", perf_read_u64(at));
    case PERF_FEATURE_CMDLINE:
        return parse_command(reader, at);
    case PERF_FEATURE_PMU_MAPPINGS:
        return parse_pmu_mappings(reader, at);
    case PERF_FEATURE_CLOCKID:
        return add_number_attribute(reader, "clock_resolution_ns", perf_read_u64(at));
    case PERF_FEATURE_CLOCK_DATA:
        return parse_clock_data(reader, at);
    default:
        return true;
    }
}

bool perf_is_used_feature(unsigned feature)
{
    switch (feature) {
    case PERF_FEATURE_TRACING_DATA:
    case PERF_FEATURE_BUILD_ID:
    case PERF_FEATURE_NRCPUS:
    case PERF_FEATURE_TOTAL_MEM:
    case PERF_FEATURE_CMDLINE:
    case PERF_FEATURE_EVENT_DESC:
    case PERF_FEATURE_PMU_MAPPINGS:
    case PERF_FEATURE_CLOCKID:
    case PERF_FEATURE_CLOCK_DATA:
        return true;
    default:
        return feature < TEXTS_N && texts[feature];
    }
}

ttr_status perf_parse_feature(struct perf_reader *reader, unsigned feature, struct perf_cursor *at)
{
    if (feature == PERF_FEATURE_EVENT_DESC)
        return parse_event_desc(reader, at);
    if (feature == PERF_FEATURE_TRACING_DATA)
        return perf_parse_tracing_data(reader, at);
    if (feature == PERF_FEATURE_BUILD_ID)
        return reader->in->flags & TTR_READ_SYMBOLS ? perf_parse_build_ids(reader, at) : TTR_OK;
    return parse_attribute_feature(reader, feature, at) ? TTR_OK : fail_memory(reader->error);
}
