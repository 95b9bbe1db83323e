/* Plausibility of records, and resynchronization after damage.
 *
 * The size of a kernel record is a multiple of 8; that of a tool record may not be, since some
 * versions of perf forgot the padding. An offset is accepted if three records with known types and
 * possible sizes follow each other there, or fewer that end exactly at the end of the input
 * (PERF-BAD-1). */
#include "base/status.h"
#include "formats/perf/perf.h"

#define BLOCK ((size_t)256 * 1024)
#define CHAIN 3u
#define LOOK ((size_t)CHAIN * (PERF_RECORD_BYTES_MAX + 1))

/* Minimum size in bytes of a record, by type; 0 for unknown types. */
static const uint8_t record_size_min[] = {[PERF_MMAP] = 48,
                                          [PERF_LOST] = 24,
                                          [PERF_COMM] = 24,
                                          [PERF_EXIT] = 32,
                                          [PERF_THROTTLE] = 32,
                                          [PERF_UNTHROTTLE] = 32,
                                          [PERF_FORK] = 32,
                                          [PERF_READ] = 24,
                                          [PERF_SAMPLE] = 8,
                                          [PERF_MMAP2] = 72,
                                          [PERF_AUX] = 32,
                                          [PERF_ITRACE_START] = 16,
                                          [PERF_LOST_SAMPLES] = 16,
                                          [PERF_SWITCH] = 8,
                                          [PERF_SWITCH_CPU_WIDE] = 16,
                                          [PERF_NAMESPACES] = 24,
                                          [PERF_KSYMBOL] = 24,
                                          [PERF_BPF_EVENT] = 24,
                                          [PERF_CGROUP] = 16,
                                          [PERF_TEXT_POKE] = 24,
                                          [PERF_AUX_OUTPUT_HW_ID] = 16,
                                          [PERF_HEADER_ATTR] = 72,
                                          [PERF_HEADER_EVENT_TYPE] = 24,
                                          [PERF_HEADER_TRACING_DATA] = 12,
                                          [PERF_HEADER_BUILD_ID] = 36,
                                          [PERF_FINISHED_ROUND] = 8,
                                          [PERF_ID_INDEX] = 16,
                                          [PERF_AUXTRACE_INFO] = 16,
                                          [PERF_AUXTRACE] = 48,
                                          [PERF_AUXTRACE_ERROR] = 8,
                                          [PERF_THREAD_MAP] = 16,
                                          [PERF_CPU_MAP] = 8,
                                          [PERF_STAT_CONFIG] = 16,
                                          [PERF_STAT] = 8,
                                          [PERF_STAT_ROUND] = 8,
                                          [PERF_EVENT_UPDATE] = 24,
                                          [PERF_TIME_CONV] = 8,
                                          [PERF_HEADER_FEATURE] = 16,
                                          [PERF_COMPRESSED] = 8,
                                          [PERF_FINISHED_INIT] = 8,
                                          [PERF_COMPRESSED2] = 16,
                                          [PERF_COMPRESSED2 + 1] = 8};

/* newer kernels may write types up to this number; their records are skipped by size */
#define TYPES_MAX 256u

bool perf_is_plausible_record(const uint8_t *header, bool is_big)
{
    uint32_t type = perf_u32(header, is_big), size = perf_u16(header + 6, is_big);
    bool is_known = type < sizeof record_size_min && record_size_min[type];
    if (type == 0 || type >= TYPES_MAX ||
        size < (is_known ? record_size_min[type] : PERF_RECORD_HEADER))
        return false;
    return type >= PERF_TOOL_FIRST ? type != PERF_HEADER_TRACING_DATA || size <= 16 : size % 8 == 0;
}

bool perf_is_known_type(uint32_t type)
{
    return type < sizeof record_size_min && record_size_min[type];
}

/* number of bytes by which newer kernels may extend a record of fixed size */
#define EXTENSION_MAX 512u

/* Returns the maximum size in bytes of a record that is found after damage. Most records of the
 * kernel have a fixed size, or end with a path. */
static uint32_t get_size_limit(uint32_t type)
{
    switch (type) {
    case PERF_LOST:
    case PERF_COMM:
    case PERF_EXIT:
    case PERF_THROTTLE:
    case PERF_UNTHROTTLE:
    case PERF_FORK:
    case PERF_AUX:
    case PERF_ITRACE_START:
    case PERF_LOST_SAMPLES:
    case PERF_SWITCH:
    case PERF_SWITCH_CPU_WIDE:
    case PERF_AUX_OUTPUT_HW_ID:
    case PERF_FINISHED_ROUND:
    case PERF_TIME_CONV:
    case PERF_FINISHED_INIT:
        return record_size_min[type] + EXTENSION_MAX;
    case PERF_MMAP:
    case PERF_MMAP2:
    case PERF_CGROUP:
        return record_size_min[type] + 4096 + EXTENSION_MAX; /* PATH_MAX of Linux */
    default:
        return UINT16_MAX;
    }
}

/* Returns true if a chain of plausible records begins at the start of the span. */
static bool is_record_chain(const struct perf_span *span, bool is_end, bool is_big)
{
    size_t at = 0;
    for (unsigned i = 0; i < CHAIN; i++) {
        if (span->n - at < PERF_RECORD_HEADER)
            return is_end && at == span->n && i > 0;
        if (!perf_is_plausible_record(span->p + at, is_big) ||
            !perf_is_known_type(perf_u32(span->p + at, is_big)))
            return false;
        uint32_t type = perf_u32(span->p + at, is_big), size = perf_u16(span->p + at + 6, is_big);
        if (size > get_size_limit(type))
            return false;
        if (size > span->n - at)
            return !is_end && i > 0;
        if (type == PERF_HEADER_TRACING_DATA || type == PERF_AUXTRACE)
            return true;
        at += size;
    }
    return true;
}

size_t perf_find_record(const struct perf_span *span, size_t from, bool is_end, bool is_big)
{
    for (size_t at = from; at + PERF_RECORD_HEADER <= span->n; at++) {
        struct perf_span rest = {span->p + at, span->n - at};
        if (perf_is_plausible_record(rest.p, is_big) && is_record_chain(&rest, is_end, is_big))
            return at;
    }
    return span->n;
}

ttr_status perf_resync(struct perf_reader *reader, uint64_t *offset)
{
    for (uint64_t from = reader->at;;) {
        struct perf_span span;
        ttr_status status = perf_load_bytes(reader, from, BLOCK + LOOK, &span);
        if (status != TTR_OK)
            return status;
        uint64_t left = reader->end - from;
        span.n = left < span.n ? (size_t)left : span.n;
        bool is_end = span.n < BLOCK + LOOK;
        /* use a fixed size: the result must not depend on the number of bytes in memory */
        span.n = is_end ? span.n : BLOCK + LOOK;
        size_t found = perf_find_record(&span, from == reader->at, is_end, reader->trace->is_big);
        if (is_end || found < BLOCK) {
            *offset = from + found;
            return TTR_OK;
        }
        from += BLOCK;
    }
}
