/* Known faults of tracers, by tracer name and version in the trace's environment:
 *
 * |  LTTng-UST before 2.11                          events later than the end of their packet
 * |  LTTng modules before 2.9.13, 2.10.0 to 2.10.9  the same
 * |  barectf before 2.3.1                           events earlier than the begin of their packet
 * |  LTTng after a crash                            packets with an end of 0 */
#include <string.h>

#include "formats/ctf/read/ctf_reader.h"

struct tracer_version {
    int64_t major, minor, patch;
};

/* A known fault of a tracer, in versions from `from` up to, but not including, `fixed`. */
struct tracer_fault {
    const char *tracer;
    struct tracer_version from, fixed;
    bool after, before, zero;
};

static const struct tracer_fault tracer_faults[] = {
    {"lttng-ust", {0, 0, 0}, {2, 11, 0}, .after = true},
    {"lttng-modules", {0, 0, 0}, {2, 9, 13}, .after = true},
    {"lttng-modules", {2, 10, 0}, {2, 10, 10}, .after = true},
    {"barectf", {0, 0, 0}, {2, 3, 1}, .before = true},
    {"lttng-ust", {0, 0, 0}, {INT64_MAX, 0, 0}, .zero = true},
    {"lttng-modules", {0, 0, 0}, {INT64_MAX, 0, 0}, .zero = true},
};

static bool is_version_before(const struct tracer_version *a, const struct tracer_version *b)
{
    if (a->major != b->major)
        return a->major < b->major;
    return a->minor != b->minor ? a->minor < b->minor : a->patch < b->patch;
}

static int64_t get_environment_number(const struct ctf_description *description, const char *name)
{
    const struct ctf_environment *entry = ctf_find_environment(description, name);
    return entry && entry->is_number ? entry->number : 0;
}

void ctf_detect_tracer_quirks(struct ctf_trace *trace)
{
    const struct ctf_description *description = &trace->class->description;
    const struct ctf_environment *tracer = ctf_find_environment(description, "tracer_name");
    const struct ctf_environment *major = ctf_find_environment(description, "tracer_major");
    if (!tracer || tracer->is_number || !major || !major->is_number)
        return;
    struct tracer_version version = {major->number,
                                     get_environment_number(description, "tracer_minor"),
                                     get_environment_number(description, "tracer_patch")};
    if (!ctf_find_environment(description, "tracer_patch"))
        version.patch = get_environment_number(description, "tracer_patchlevel");
    for (size_t i = 0; i < sizeof tracer_faults / sizeof *tracer_faults; i++) {
        const struct tracer_fault *known = &tracer_faults[i];
        if (tracer->text.n != strlen(known->tracer) ||
            memcmp(tracer->text.p, known->tracer, tracer->text.n) != 0 ||
            is_version_before(&version, &known->from) ||
            !is_version_before(&version, &known->fixed))
            continue;
        trace->class->quirks.event_after_packet |= known->after;
        trace->class->quirks.event_before_packet |= known->before;
        trace->class->quirks.crash_leaves_end_zero |= known->zero;
    }
}
