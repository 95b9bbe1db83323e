/* flame: writes a profile, of sampled stacks or nested spans, as a file for other tools. */
#include <string.h>

#include <tracetta/advanced.h>

#include "cli/commands/convert.h"
#include "cli/input/input_list.h"
#include "cli/input/output_check.h"
#include "cli/commands/profiles.h"
#include "cli/ui/progress.h"
#include "cli/commands/report.h"
#include "cli/ui/messages.h"

static const ttr_profile_format *find_profile_format(const char *name, ttr_profile_format *format)
{
    for (size_t i = 0; ttr_profile_format_get(i, format); i++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

/* Returns the TTR_PROFILE_* flags for a format, after applying the user's options. */
static uint32_t get_reading_flags(const struct call *call, const ttr_profile_format *format)
{
    uint32_t flags = format->flags | get_profile_flags(call);
    if (call->set.by_thread)
        flags &= ~TTR_PROFILE_MERGED;
    if (call->set.merged)
        flags |= TTR_PROFILE_MERGED;
    if (call->set.states)
        flags |= TTR_PROFILE_STATES;
    return flags;
}

static const char *make_title(const struct call *call)
{
    const char *slash = call->paths_n == 1 ? strrchr(call->path[0], '/') : NULL;
    return slash && slash[1] ? slash + 1 : inputs_get_name(call);
}

/* Warns if the format does not hold the deepest frames. */
static void report_cut_stacks(const struct call *call, const ttr_profile *profile,
                              const ttr_profile_format *format)
{
    const ttr_profile_node *nodes;
    const uint32_t n = ttr_profile_nodes(profile, &nodes);
    uint64_t deeper = 0;
    for (uint32_t i = 0; i < n && format->depth_max; i++)
        deeper += nodes[i].depth >= format->depth_max;
    if (deeper)
        print_note(call,
                   "warning: stacks are cut to %u frames: the weight of %s deeper frame%s is "
                   "added to the last one",
                   format->depth_max, units_count(deeper).s, deeper == 1 ? "" : "s");
}

/* Writes the file. A signal ends that half a second later. */
static ttr_status write_profile(const struct call *call, const struct profiling *profiling,
                                const char *format, ttr_error *error)
{
    struct progress_grace grace = {0};
    const uint32_t flags = call->set.overwrite ? TTR_WRITE_OVERWRITE : 0;
    ttr_progress_set(profiling->inputs.t, progress_grace_step, &grace);
    const ttr_status status = ttr_profile_write(profiling->profile, call->set.output, format,
                                                make_title(call), flags, error);
    ttr_progress_set(profiling->inputs.t, NULL, NULL);
    return status;
}

static int write_profile_file(const struct call *call, const struct profiling *profiling,
                              const ttr_profile_format *format)
{
    ttr_error error = {0};
    const ttr_profile *profile = profiling->profile;
    const char *path = call->set.output, *name = strcmp(path, "-") == 0 ? "standard output" : path;
    const ttr_status status = write_profile(call, profiling, format->name, &error);
    if (status != TTR_OK && status != TTR_AGAIN)
        return report_profile_failure(call, name, &error);
    report_cut_stacks(call, profile, format);
    if (status == TTR_AGAIN) {
        print_note(call, "%s: interrupted: stacks are missing, or the file is missing", name);
        return OUTCOME_FINE;
    }
    const ttr_profile_frame *frames;
    const ttr_profile_thread *lanes;
    const char *what = ttr_profile_is_of_spans(profile) ? "span" : "sample";
    uint32_t lanes_n = ttr_profile_threads(profile, &lanes);
    const uint64_t count = ttr_profile_count(profile);
    const uint32_t frames_n = ttr_profile_frames(profile, &frames);
    print_note(call, "%s: %s %s%s on %s thread%s, %s different frame%s", name, units_count(count).s,
               what, count == 1 ? "" : "s", units_count(lanes_n).s, lanes_n == 1 ? "" : "s",
               units_count(frames_n).s, frames_n == 1 ? "" : "s");
    return OUTCOME_FINE;
}

int run_flame(struct call *call)
{
    ttr_profile_format format;
    const char *name = call->set.to;
    struct profiling profiling;
    if (!call->set.output)
        return report_misuse(call->command->name,
                             "no output: use -o OUTPUT (\"-\" is standard output)");
    if (!name)
        name = guess_profile_format(call->set.output, false);
    if (!name)
        return report_misuse(call->command->name,
                             "the suffix of \"%s\" does not name a profile format: use --to=FORMAT",
                             call->set.output);
    if (call->set.by_thread && call->set.merged)
        return report_misuse(call->command->name, "--threads and --merge exclude each other");
    if (!find_profile_format(name, &format))
        return report_misuse(call->command->name, "no profile can be written as \"%s\"", name);
    int outcome = check_output_path(call, call->set.output, name);
    if (outcome == OUTCOME_FINE)
        outcome = open_profiling(&profiling, call, get_reading_flags(call, &format));
    if (outcome != OUTCOME_FINE)
        return outcome;
    outcome = profiling.outcome;
    bool is_refused = outcome == OUTCOME_NO && call->set.strict;
    if (profiling.profile && !is_refused && profiling_has_events(call, &profiling, &outcome)) {
        int written = write_profile_file(call, &profiling, &format);
        outcome = written != OUTCOME_FINE   ? written
                  : outcome == OUTCOME_FINE ? OUTCOME_FINE
                                            : OUTCOME_OUTPUT;
    }
    return close_profiling(call, &profiling, outcome);
}
