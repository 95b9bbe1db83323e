/* Reads profiles of the inputs, and reports failures. */
#include "cli/commands/profiles.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "cli/ui/progress.h"
#include "cli/commands/report.h"
#include "cli/input/symbolizer.h"
#include "cli/ui/messages.h"

const char *guess_profile_format(const char *path, bool wants_two)
{
    ttr_profile_format format;
    const char *best = NULL;
    size_t n = strlen(path), best_n = 0;
    for (size_t i = 0; ttr_profile_format_get(i, &format); i++)
        for (const char *at = format.suffixes; *at; at += strspn(at, " ")) {
            size_t word_n = strcspn(at, " ");
            bool ends = n > word_n + 1 && path[n - word_n - 1] == '.' &&
                        strncasecmp(path + n - word_n, at, word_n) == 0;
            bool is_allowed = !wants_two || memchr(at, '.', word_n);
            if (ends && is_allowed && word_n > best_n) {
                best = format.name;
                best_n = word_n;
            }
            at += word_n;
        }
    return best;
}

uint32_t get_profile_flags(const struct call *call)
{
    const char *of = call->set.profile_of;
    const uint32_t managed = call->set.state ? TTR_PROFILE_MANAGED : 0;
    if (!of)
        return managed;
    return managed | (strcmp(of, "spans") == 0 ? TTR_PROFILE_SPANS : TTR_PROFILE_SAMPLES);
}

/* Returns the pattern of the events with the stacks of the profile; NULL if they are those of
 * samples or spans. */
static const char *get_event_pattern(const struct call *call)
{
    const char *of = call->set.profile_of;
    return of && strcmp(of, "samples") != 0 && strcmp(of, "spans") != 0 ? of : NULL;
}

/* Creates a symbolizer, which finds functions that the trace does not name. If the user names
 * servers, the symbol library is loaded at once, else when first used. */
static int make_symbolizer(const struct call *call, struct symbolizer **symbolizer)
{
    const ttr_symbols_options options = {.servers = call->set.profile_debuginfod,
                                         .flags = TTR_SYMBOLS_LISTS |
                                                  (call->set.no_mmap ? TTR_SYMBOLS_NO_MMAP : 0)};
    if (options.servers)
        return symbolizer_new(symbolizer, call, "--debuginfod", &options);
    *symbolizer = symbolizer_new_lazy(call, &options);
    return OUTCOME_FINE;
}

int open_profiling(struct profiling *profiling, const struct call *call, uint32_t flags)
{
    struct progress progress;
    ttr_error error = {0};
    *profiling = (struct profiling){0};
    struct symbolizer *symbolizer;
    if (call->set.weight && !get_event_pattern(call))
        return report_misuse(call->command->name,
                             "--weight is for stacks of events: name them by --of=EVENT");
    int outcome = make_symbolizer(call, &symbolizer);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_open(&profiling->inputs, call, TTR_READ_SYMBOLS);
    if (outcome != OUTCOME_FINE) {
        symbolizer_free(symbolizer);
        return outcome;
    }
    progress_begin(&progress, call, profiling->inputs.t, profiling->inputs.reader,
                   call->command->name);
    const ttr_profile_options options = {.size = sizeof options,
                                         .flags = flags,
                                         .progress = progress_step,
                                         .user_data = &progress,
                                         .of = get_event_pattern(call),
                                         .weight = call->set.weight,
                                         .locate = symbolizer ? symbolizer_locate : NULL,
                                         .locate_user_data = symbolizer};
    profiling->profile =
        ttr_profile_new(profiling->inputs.t, profiling->inputs.reader, &options, &error);
    progress_end(&progress);
    symbolizer_free(symbolizer);
    if (error.status != TTR_OK && error.status != TTR_AGAIN)
        profiling->outcome = inputs_report_failure(call, inputs_get_name(call), &error);
    return OUTCOME_FINE;
}

int close_profiling(const struct call *call, struct profiling *profiling, int outcome)
{
    if (profiling->profile)
        outcome = warn_about_findings(call, profiling->inputs.reader, outcome);
    ttr_profile_free(profiling->profile);
    inputs_close(&profiling->inputs);
    return outcome;
}

bool profiling_has_events(const struct call *call, const struct profiling *profiling, int *outcome)
{
    const char *of = call->set.profile_of;
    if (ttr_profile_count(profiling->profile))
        return true;
    report_failure_text(inputs_get_name(call), "nothing to show: no %s%s%s",
                        get_event_pattern(call) ? "events with stacks and the name " : "",
                        of ? of : "samples with stacks, and no spans",
                        of ? "; leave out --of to use what there is" : "");
    *outcome = OUTCOME_NO;
    return false;
}

int report_profile_failure(const struct call *call, const char *name, const ttr_error *error)
{
    if (error->status == TTR_E_IO &&
        /* EPIPE is not an error: the reader of the pipe has enough */
        error->sys == EPIPE)
        return OUTCOME_FINE;
    if (error->sys == EEXIST)
        report_failure_text(name, "exists already; --overwrite (-f) replaces it");
    else
        report_error(call, name, error);
    return OUTCOME_OUTPUT;
}
