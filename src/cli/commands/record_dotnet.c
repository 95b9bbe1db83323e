/* record dotnet: writes events of a live .NET process to a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/collect.h>

#include "cli/commands/command.h"
#include "cli/dotnet/dotnet_choice.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/dotnet/runtime_connect.h"
#include "cli/dotnet/recording.h"
#include "cli/ui/messages.h"

/* The state of one recording. */
struct job {
    struct call *call;
    struct recording recording;
    struct runtime_connection runtime_connection;
    ttr_dotnet_providers *providers;
    ttr_dotnet_config wish;
    char output[REACH_PATH];
};

/* --- Options --- */

/* Enables each profile of a comma-separated list. */
static ttr_status add_profiles(struct job *job, const char *names, ttr_error *error)
{
    ttr_status status = TTR_OK;
    while (status == TTR_OK && *names) {
        char name[64];
        size_t n = strcspn(names, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)n, names);
        status = ttr_dotnet_providers_add_profile(job->providers, name, error);
        names += n + (names[n] == ',');
    }
    return status;
}

static ttr_status choose_events(struct job *job, ttr_error *error)
{
    const struct settings *set = &job->call->set;
    ttr_status status = TTR_OK;
    for (size_t i = 0; i < set->sources.n && status == TTR_OK; i++)
        status = ttr_dotnet_providers_add(job->providers, set->sources.list[i], error);
    if (status == TTR_OK && set->clr_events)
        status =
            ttr_dotnet_providers_add_clr(job->providers, set->clr_events, set->clr_level, error);
    for (size_t i = 0; i < set->profiles.n && status == TTR_OK; i++)
        status = add_profiles(job, set->profiles.list[i], error);
    if (status == TTR_OK && !set->sources.n && !set->clr_events && !set->profiles.n)
        status = add_profiles(job, "dotnet-common,dotnet-sampled-thread-time", error);
    return status;
}

/* Parses the value of --rundown: "false", "true", or keywords in hexadecimal. */
static bool parse_rundown(const struct job *job, const char *text, uint64_t *rundown)
{
    char *end;
    *rundown = ttr_dotnet_providers_rundown(job->providers);
    if (!text || strcmp(text, "true") == 0)
        return true;
    *rundown = 0;
    if (strcmp(text, "false") == 0)
        return true;
    errno = 0;
    *rundown = strtoull(text, &end, 16);
    return !*end && end != text && text[0] != '-' && errno == 0;
}

static int read_options(struct job *job)
{
    const struct settings *set = &job->call->set;
    ttr_error error;
    job->providers = ttr_dotnet_providers_new();
    if (!job->providers) {
        report_failure_text(job->call->command->name, "out of memory");
        return OUTCOME_OUTPUT;
    }
    if (choose_events(job, &error) != TTR_OK)
        return report_misuse(job->call->command->name, "%s", error.text);
    job->wish = (ttr_dotnet_config){.size = sizeof job->wish,
                                    .providers = job->providers,
                                    .buffer_mb = (uint32_t)set->buffer_mb};
    if (set->buffer_mb > 65536)
        return report_misuse(job->call->command->name, "--buffersize is in MB: at most 65536");
    if (!parse_rundown(job, set->rundown, &job->wish.rundown))
        return report_misuse(
            job->call->command->name,
            "--rundown cannot be \"%s\": expected false, true, or keywords in hexadecimal",
            set->rundown);
    if (set->duration && !dotnet_parse_duration(set->duration, &job->recording.limit_ns))
        return report_misuse(
            job->call->command->name,
            "--duration cannot be \"%s\": expected 30s, 5min, or dd:hh:mm:ss, up to 292 years",
            set->duration);
    if (!stop_condition_parse(&job->recording.stopping, set))
        return report_misuse(
            job->call->command->name,
            "a stopping event expects its provider, then its name, then FIELD:VALUE");
    if (set->no_stacks)
        job->wish.flags |= TTR_DOTNET_NO_STACKS;
    if (set->record_format && strcmp(set->record_format, "netperf") == 0)
        job->wish.flags |= TTR_DOTNET_NETPERF;
    if (set->buffering && strcmp(set->buffering, "block") == 0)
        job->wish.flags |= TTR_DOTNET_BLOCK;
    return OUTCOME_FINE;
}

static int check_operands(const struct call *call)
{
    if (call->set.clr_level && !call->set.clr_events)
        return report_misuse(call->command->name,
                             "--clreventlevel is the level of --clrevents, which is not given");
    return runtime_check_operands(call, call->command->name);
}

/* --- The recording --- */

/* Returns the path of --output. Without it, returns a name with the time, such as
 * "app_20261121_103000.nettrace". */
static const char *choose_output_path(struct job *job)
{
    const struct call *call = job->call;
    const char *word = call->paths_n ? call->path[0] : "dotnet", *slash = strrchr(word, '/');
    char moment[32];
    time_t now = time(NULL);
    struct tm parts;
    if (call->set.output)
        return call->set.output;
    (void)strftime(moment, sizeof moment, "%Y%m%d_%H%M%S", localtime_r(&now, &parts));
    (void)snprintf(job->output, sizeof job->output, "%.200s_%s.%s", slash ? slash + 1 : word,
                   moment, job->wish.flags & TTR_DOTNET_NETPERF ? "netperf" : "nettrace");
    return job->output;
}

static void report_ignored_options(const struct job *job)
{
    ttr_dotnet_report report = {.size = sizeof report};
    ttr_dotnet_session_report(job->recording.session, &report);
    if (report.ignored & TTR_DOTNET_NO_STACKS)
        print_note(job->call, "this runtime cannot leave stacks out");
    if (report.ignored & TTR_DOTNET_BLOCK)
        print_note(job->call,
                   "this runtime cannot wait when its buffer is full: it loses events then");
    if (report.rundown != job->wish.rundown &&
        (job->call->set.rundown || report.rundown != TTR_DOTNET_RUNDOWN))
        print_note(job->call, "this runtime cannot choose the rundown: it writes all of it");
}

static int record_runtime(struct job *job)
{
    ttr_error error;
    struct recording *recording = &job->recording;
    ttr_dotnet_set_wake_fd(job->runtime_connection.target, interrupt_get_wake_fd());
    recording->target = job->runtime_connection.target;
    recording->launch = job->runtime_connection.launch.pid ? &job->runtime_connection.launch : NULL;
    recording->what = job->runtime_connection.what;
    recording->session =
        ttr_dotnet_session_start(job->runtime_connection.target, &job->wish, &error);
    if (!recording->session) {
        if (error.status == TTR_AGAIN)
            print_note(job->call, "interrupted before the recording began");
        else
            report_error(job->call, job->runtime_connection.what, &error);
        return error.status == TTR_AGAIN ? OUTCOME_NO : OUTCOME_INPUT;
    }
    if (!job->call->set.output)
        print_note(job->call, "recording into %s", recording->path);
    report_ignored_options(job);
    /* A failure is ignored: the recording continues. */
    (void)runtime_resume(&job->runtime_connection);
    if (job->call->term.error_is_tty)
        print_note(job->call, "recording %s; Ctrl-C%s stops", job->runtime_connection.what,
                   recording->launch ? "" : " or Enter");
    return recording_run(recording);
}

int run_record_dotnet(struct call *call)
{
    struct job job = {.call = call,
                      .recording = {.call = call, .fd = -1},
                      .runtime_connection = {.call = call, .verb = call->command->name}};
    int outcome = check_operands(call);
    if (outcome == OUTCOME_FINE)
        outcome = read_options(&job);
    if (outcome == OUTCOME_FINE)
        outcome = recording_open(&job.recording, choose_output_path(&job), call->set.overwrite);
    job.runtime_connection.takes_stdout =
        outcome == OUTCOME_FINE && strcmp(job.recording.path, "-") == 0;
    if (outcome == OUTCOME_FINE)
        outcome = runtime_connect(&job.runtime_connection);
    if (outcome == OUTCOME_FINE)
        outcome = record_runtime(&job);
    ttr_dotnet_close(job.recording.session);
    recording_discard(&job.recording);
    runtime_disconnect(&job.runtime_connection);
    ttr_dotnet_providers_free(job.providers);
    return outcome;
}
