/* Names of events without a stored name, as perf prints them: by type and config, with the excluded
 * modes after a colon. */
#include <stdarg.h>
#include <stdio.h>

#include "formats/perf/perf.h"

static const char *const hardware[] = {"cycles",
                                       "instructions",
                                       "cache-references",
                                       "cache-misses",
                                       "branches",
                                       "branch-misses",
                                       "bus-cycles",
                                       "stalled-cycles-frontend",
                                       "stalled-cycles-backend",
                                       "ref-cycles"};
static const char *const software[] = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
static const char *const cache[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                    "iTLB",      "branch",    "node"};
static const char *const cache_operation[] = {"load", "store", "prefetch"};
static const char *const cache_operations[] = {"loads", "stores", "prefetches"};

struct text {
    char *to;
    size_t n, size;
};

static void append_formatted(struct text *text, const char *format, ...) TTR_PRINTF(2, 3);
static void append_formatted(struct text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int n = vsnprintf(text->to + text->n, text->size - text->n, format, values);
    va_end(values);
    text->n += n > 0 ? (size_t)n : 0;
    text->n = text->n < text->size ? text->n : text->size - 1;
}

static bool has_attr_flag(const struct perf_request *request, unsigned flag)
{
    return request->flags >> flag & 1;
}

/* Appends the modifier "H" (host) or "G" (guest). perf excludes guests by default if another
 * modifier is set, so this case is not printed. */
static void append_guest_modifiers(struct text *text, const struct perf_request *request,
                                   bool has_others)
{
    bool no_host = has_attr_flag(request, PERF_FLAG_EXCLUDE_HOST),
         no_guest = has_attr_flag(request, PERF_FLAG_EXCLUDE_GUEST);
    if ((!no_host && no_guest != has_others) || (no_host && no_guest))
        return;
    append_formatted(text, "%s%s%s", has_others ? "" : ":", no_host ? "" : "H",
                     no_guest ? "" : "G");
}

/* Appends the modifiers of an event: "u" if only user mode is counted, one "p" per level of
 * precise_ip, "H" for host, "G" for guest. */
static void append_modifiers(struct text *text, const struct perf_request *request)
{
    static const struct {
        unsigned flag;
        char letter;
    } modes[] = {{PERF_FLAG_EXCLUDE_KERNEL, 'k'},
                 {PERF_FLAG_EXCLUDE_USER, 'u'},
                 {PERF_FLAG_EXCLUDE_HV, 'h'}};
    unsigned excluded = 0, precise = request->flags >> PERF_FLAG_PRECISE & 3;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        excluded += has_attr_flag(request, modes[i].flag);
    bool has_any = excluded > 0 || precise > 0;
    if (has_any)
        append_formatted(text, ":");
    for (size_t i = 0; excluded && i < sizeof modes / sizeof *modes; i++)
        if (!has_attr_flag(request, modes[i].flag))
            append_formatted(text, "%c", modes[i].letter);
    while (precise-- > 0)
        append_formatted(text, "p");
    append_guest_modifiers(text, request, has_any);
}

static void append_cache_event(struct text *text, uint64_t config)
{
    uint64_t which = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16 & 0xff;
    if (which >= sizeof cache / sizeof *cache || operation > 2 || result > 1)
        append_formatted(text, "unknown cache event %#llx", (unsigned long long)config);
    else if (result)
        append_formatted(text, "%s-%s-misses", cache[which], cache_operation[operation]);
    else
        append_formatted(text, "%s-%s", cache[which], cache_operations[operation]);
}

static void append_breakpoint(struct text *text, const struct perf_request *request)
{
    append_formatted(text, "mem:%#llx:", (unsigned long long)request->config1);
    append_formatted(text, "%s%s%s", request->bp_type & 1 ? "r" : "",
                     request->bp_type & 2 ? "w" : "", request->bp_type & 4 ? "x" : "");
}

size_t perf_format_event_name(const struct perf_request *request, char *to, size_t size)
{
    struct text text = {to, 0, size};
    /* on CPUs with several kinds of cores, the upper half of config identifies the PMU */
    uint64_t config = request->config & UINT32_MAX;
    switch (request->type) {
    case PERF_TYPE_HARDWARE_EVENT:
        append_formatted(&text, "%s",
                         config < sizeof hardware / sizeof *hardware ? hardware[config]
                                                                     : "unknown-hardware");
        break;
    case PERF_TYPE_SOFTWARE_EVENT:
        append_formatted(&text, "%s",
                         config < sizeof software / sizeof *software ? software[config]
                                                                     : "unknown-software");
        break;
    case PERF_TYPE_TRACEPOINT_EVENT:
        append_formatted(&text, "tracepoint %llu", (unsigned long long)request->config);
        return text.n;
    case PERF_TYPE_HW_CACHE_EVENT:
        append_cache_event(&text, config);
        break;
    case PERF_TYPE_RAW_EVENT:
        append_formatted(&text, "raw %#llx", (unsigned long long)request->config);
        break;
    case PERF_TYPE_BREAKPOINT_EVENT:
        append_breakpoint(&text, request);
        break;
    default:
        append_formatted(&text, "pmu %u config %#llx", request->type,
                         (unsigned long long)request->config);
        return text.n;
    }
    append_modifiers(&text, request);
    return text.n;
}
