/* Reads profiles of the inputs, and reports what can go wrong. */
#include "cli/commands/profiles.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "cli/input/debuginfod.h"
#include "cli/ui/progress.h"
#include "cli/commands/report.h"
#include "cli/input/symbol_text.h"
#include "cli/input/symbols.h"
#include "cli/ui/messages.h"

const char *profiles_guess(const char *path, bool wants_two)
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

uint32_t profiles_flags(const struct call *call)
{
    const char *of = call->set.profile_of;
    if (!of)
        return 0;
    return strcmp(of, "spans") == 0 ? TTR_PROFILE_SPANS : TTR_PROFILE_SAMPLES;
}

/* The symbolizers, for functions that the trace does not name. */
struct locators {
    struct symbols *symbols;
    struct symbol_texts *texts;
};

static void locate(void *own, const ttr_binary *binary, uint64_t address, ttr_place *place)
{
    const struct locators *locators = own;
    if (symbol_texts_knows(binary))
        symbol_texts_locate(locators->texts, binary, address, place);
    else
        symbols_locate(locators->symbols, binary, address, place);
}

static struct locators locators_new(const struct call *call, struct debuginfod *servers)
{
    return (struct locators){symbols_new(&(struct symbols_options){
                                 .call = call, .no_mmap = call->set.no_mmap, .servers = servers}),
                             symbol_texts_new()};
}

int profiles_open(struct profiling *profiling, const struct call *call, uint32_t flags)
{
    struct progress progress;
    ttr_error error = {0};
    *profiling = (struct profiling){0};
    const char *urls = call->set.profile_debuginfod;
    struct debuginfod *servers = urls ? debuginfod_new(call, urls) : NULL;
    int outcome =
        urls && !servers ? OUTCOME_MISUSE : inputs_open(&profiling->inputs, call, TTR_READ_SYMBOLS);
    if (outcome != OUTCOME_FINE) {
        debuginfod_free(servers);
        return outcome;
    }
    progress_begin(&progress, call, profiling->inputs.t, profiling->inputs.reader,
                   call->command->name);
    struct locators locators = locators_new(call, servers);
    const ttr_profile_options options = {.size = sizeof options,
                                         .flags = flags,
                                         .progress = progress_step,
                                         .own = &progress,
                                         .locate =
                                             locators.symbols && locators.texts ? locate : NULL,
                                         .locate_own = &locators};
    profiling->profile =
        ttr_profile_new(profiling->inputs.t, profiling->inputs.reader, &options, &error);
    progress_end(&progress);
    symbols_free(locators.symbols);
    symbol_texts_free(locators.texts);
    debuginfod_free(servers);
    if (error.status != TTR_OK && error.status != TTR_AGAIN)
        profiling->outcome = inputs_failed(call, inputs_name(call), &error);
    return OUTCOME_FINE;
}

int profiles_close(const struct call *call, struct profiling *profiling, int outcome)
{
    if (profiling->profile)
        outcome = report_warn(call, profiling->inputs.reader, outcome);
    ttr_profile_free(profiling->profile);
    inputs_close(&profiling->inputs);
    return outcome;
}

bool profiles_has_any(const struct call *call, const struct profiling *profiling, int *outcome)
{
    const char *of = call->set.profile_of;
    if (ttr_profile_count(profiling->profile))
        return true;
    talk_failure(inputs_name(call), "nothing to show: no %s%s",
                 of ? of : "samples with stacks, and no spans",
                 of ? "; leave out --of to use what there is" : "");
    *outcome = OUTCOME_NO;
    return false;
}

int profiles_output_failed(const struct call *call, const char *name, const ttr_error *error)
{
    if (error->status == TTR_E_IO &&
        error->sys == EPIPE) /* a reader that closed the pipe is not an error */
        return OUTCOME_FINE;
    if (error->sys == EEXIST)
        talk_failure(name, "exists already; --overwrite (-f) replaces it");
    else
        talk_error(call, name, error);
    return OUTCOME_OUTPUT;
}
