/* record: events of a live .NET process into a file; for those of the kernel see record_perf.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/tracetta.h>

#include "command.h"
#include "dotnet.h"
#include "interrupt.h"
#include "launch.h"
#include "progress.h"
#include "record_perf.h"
#include "recording.h"
#include "talk.h"

#define SLICE_MS 100u
#define ASK_MS 1000u
#define PATH_ROOM 4352u

/* Everything of one recording. */
struct job {
    struct call *call;
    struct recording recording;
    struct launch launch;
    ttr_dotnet_list *list;
    ttr_dotnet *target, *waiting; /* waiting: our socket, until somebody comes */
    ttr_dotnet_providers *providers;
    ttr_dotnet_wish wish;
    bool is_early;                /* the runtime may wait for us at its start */
    char what[320], port[PATH_ROOM], output[PATH_ROOM];
};

/* --- What to record --- */

/* "name,name" */
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
        status = ttr_dotnet_providers_add_clr(job->providers, set->clr_events, set->clr_level, error);
    for (size_t i = 0; i < set->profiles.n && status == TTR_OK; i++)
        status = add_profiles(job, set->profiles.list[i], error);
    if (status == TTR_OK && !set->sources.n && !set->clr_events && !set->profiles.n)
        status = add_profiles(job, "dotnet-common,dotnet-sampled-thread-time", error);
    return status;
}

/* "false", "true", or keywords in hexadecimal. */
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

static int read_wish(struct job *job)
{
    const struct settings *set = &job->call->set;
    ttr_error error;
    job->providers = ttr_dotnet_providers_new();
    if (!job->providers) {
        talk_failure("record", "no memory");
        return OUTCOME_OUTPUT;
    }
    if (choose_events(job, &error) != TTR_OK)
        return talk_misuse("record", "%s", error.text);
    job->wish = (ttr_dotnet_wish){.size = sizeof job->wish, .providers = job->providers, .buffer_mb = (uint32_t)set->buffer_mb};
    if (set->buffer_mb > 65536)
        return talk_misuse("record", "--buffersize is in MB: at most 65536");
    if (!parse_rundown(job, set->rundown, &job->wish.rundown))
        return talk_misuse("record", "--rundown cannot be \"%s\": it wants false, true, or keywords in hexadecimal", set->rundown);
    if (set->duration && !dotnet_parse_duration(set->duration, &job->recording.limit_ns))
        return talk_misuse("record", "--duration cannot be \"%s\": it wants 30s, 5min, or dd:hh:mm:ss", set->duration);
    if (!stopping_read(&job->recording.stopping, set))
        return talk_misuse("record", "a stopping event wants its provider, then its name, then FIELD:VALUE");
    if (set->no_stacks)
        job->wish.flags |= TTR_DOTNET_NO_STACKS;
    if (set->record_format && strcmp(set->record_format, "netperf") == 0)
        job->wish.flags |= TTR_DOTNET_NETPERF;
    if (set->buffering && strcmp(set->buffering, "block") == 0)
        job->wish.flags |= TTR_DOTNET_BLOCK;
    return OUTCOME_FINE;
}

/* --- From which process --- */

static int fail_with(const struct job *job, const char *what, const ttr_error *error)
{
    talk_error(job->call, what, error);
    return OUTCOME_INPUT;
}

static int find_process(struct job *job, const char *word)
{
    ttr_error error;
    ttr_dotnet_process process = {.size = sizeof process};
    job->list = ttr_dotnet_find(&error);
    if (!job->list)
        return fail_with(job, "/proc", &error);
    int outcome = dotnet_choose(job->list, word, &process);
    if (outcome != OUTCOME_FINE)
        return outcome;
    (void)snprintf(job->what, sizeof job->what, "process %" PRIu64 " (%.200s)", process.pid, process.name);
    job->target = ttr_dotnet_at(process.socket, &error);
    return job->target ? OUTCOME_FINE : fail_with(job, job->what, &error);
}

/* Where a program that was started serves a socket itself and knows nothing of ours, that one is taken (.NET Core 3). */
static bool find_old_runtime(struct job *job)
{
    ttr_error error;
    ttr_dotnet_process process = {.size = sizeof process};
    ttr_dotnet_info info = {.size = sizeof info};
    ttr_dotnet_list *list = ttr_dotnet_find(&error);
    for (size_t i = 0; list && !job->target && ttr_dotnet_list_at(list, i, &process); i++) {
        if (process.state != TTR_DOTNET_READY || !launch_holds(&job->launch, process.pid))
            continue;
        ttr_dotnet *target = ttr_dotnet_at(process.socket, &error);
        if (!target)
            continue;
        ttr_dotnet_limit(target, ASK_MS);
        if (ttr_dotnet_about(target, &info, &error) == TTR_E_UNSUPPORTED)
            job->target = target;
        else
            ttr_dotnet_free(target);
    }
    ttr_dotnet_list_free(list);
    if (job->target)
        talk_note(job->call, "this runtime cannot wait for its recorder (.NET 5 and later can): what happened before now is not recorded");
    return job->target != NULL;
}

/* Waits until a runtime comes to our socket. */
static int await_runtime(struct job *job)
{
    ttr_error error;
    char how[80];
    for (;;) {
        ttr_status status = ttr_dotnet_await(job->waiting, SLICE_MS, &error);
        if (status == TTR_OK) {
            job->target = job->waiting;
            job->waiting = NULL;
            return OUTCOME_FINE;
        }
        if (interrupt_came()) {
            talk_note(job->call, "interrupted before a runtime was there");
            return OUTCOME_NO;
        }
        if (!job->launch.pid)
            continue;
        if (launch_has_ended(&job->launch)) {
            talk_failure(job->what, "%s before a .NET runtime started in it", launch_how(&job->launch, how, sizeof how));
            return OUTCOME_INPUT;
        }
        if (find_old_runtime(job))
            return OUTCOME_FINE;
    }
}

static int open_port(struct job *job)
{
    ttr_error error;
    job->waiting = ttr_dotnet_listen(job->port, &error);
    if (!job->waiting)
        return fail_with(job, job->port, &error);
    ttr_dotnet_wake(job->waiting, interrupt_wait_fd());
    job->is_early = true;
    return OUTCOME_FINE;
}

static int launch_program(struct job *job)
{
    const struct call *call = job->call;
    const char *folder = getenv("TMPDIR");
    char variable[PATH_ROOM + 64];
    (void)snprintf(job->port, sizeof job->port, "%s/tracetta-%d.socket", folder && folder[0] ? folder : "/tmp", (int)getpid());
    (void)snprintf(job->what, sizeof job->what, "%.300s", call->path[0]);
    int outcome = open_port(job);
    if (outcome != OUTCOME_FINE)
        return outcome;
    (void)snprintf(variable, sizeof variable, "DOTNET_DiagnosticPorts=%s,suspend", job->port);
    if (!launch_start(&job->launch, call->path, call->paths_n, variable, strcmp(job->recording.path, "-") == 0)) {
        talk_failure(call->path[0], "cannot be run: %s", strerror(errno));
        return OUTCOME_INPUT;
    }
    job->recording.launch = &job->launch;
    return await_runtime(job);
}

/* "PATH", "PATH,listen" or "PATH,connect" */
static int use_port(struct job *job)
{
    ttr_error error;
    const char *text = job->call->set.port, *comma = strrchr(text, ',');
    bool connects = comma && strcmp(comma, ",connect") == 0;
    if (comma && !connects && strcmp(comma, ",listen") != 0)
        return talk_misuse("record", "--diagnostic-port cannot be \"%s\": it wants PATH, PATH,listen or PATH,connect", text);
    (void)snprintf(job->port, sizeof job->port, "%.*s", (int)(comma ? comma - text : (int)strlen(text)), text);
    (void)snprintf(job->what, sizeof job->what, "the runtime of %.280s", job->port);
    if (connects) {
        job->is_early = true;
        job->target = ttr_dotnet_at(job->port, &error);
        return job->target ? OUTCOME_FINE : fail_with(job, job->port, &error);
    }
    int outcome = open_port(job);
    if (outcome != OUTCOME_FINE)
        return outcome;
    talk_note(job->call, "waiting for a runtime: start it with DOTNET_DiagnosticPorts=%s", job->port);
    return await_runtime(job);
}

static int check_words(const struct call *call)
{
    const struct settings *set = &call->set;
    bool launches = set->has_dashes && set->before_dashes == 0 && call->paths_n > 0;
    if (!set->dotnet)
        return talk_misuse("record", "what is to be recorded? --dotnet: a .NET process; --perf: events of the kernel");
    if (set->events.n || set->system_wide || set->pid || set->call_stacks || set->frequency || set->user_only || set->snapshot || set->zstd || set->max_size)
        return talk_misuse("record", "--event, --all-cpus, --pid, --stacks, --frequency, --user, --snapshot, --zstd and --max-size are for --perf");
    if (set->port && call->paths_n)
        return talk_misuse("record", "--diagnostic-port says which process; \"%s\" is one too many", call->path[0]);
    if (!set->port && call->paths_n == 0)
        return talk_misuse("record", "record wants a process, by number or name, or \"--\" and a command; \"tracetta ps\" lists processes");
    if (!launches && call->paths_n > 1)
        return talk_misuse("record", "record takes one process; a command to start stands behind \"--\"");
    return OUTCOME_FINE;
}

static int find_target(struct job *job)
{
    const struct call *call = job->call;
    if (call->set.port)
        return use_port(job);
    return call->set.has_dashes && call->set.before_dashes == 0 ? launch_program(job) : find_process(job, call->path[0]);
}

/* --- The recording --- */

/* "app_20261121_103000.nettrace" */
static const char *find_output(struct job *job)
{
    const struct call *call = job->call;
    const char *word = call->paths_n ? call->path[0] : "dotnet", *slash = strrchr(word, '/');
    char moment[32];
    time_t now = time(NULL);
    struct tm parts;
    if (call->set.output)
        return call->set.output;
    (void)strftime(moment, sizeof moment, "%Y%m%d_%H%M%S", localtime_r(&now, &parts));
    (void)snprintf(job->output, sizeof job->output, "%.200s_%s.%s", slash ? slash + 1 : word, moment,
                   job->wish.flags & TTR_DOTNET_NETPERF ? "netperf" : "nettrace");
    return job->output;
}

static void tell_ignored(const struct job *job)
{
    ttr_dotnet_report report = {.size = sizeof report};
    ttr_dotnet_session_report(job->recording.session, &report);
    if (report.ignored & TTR_DOTNET_NO_STACKS)
        talk_note(job->call, "this runtime cannot leave stacks out");
    if (report.ignored & TTR_DOTNET_BLOCK)
        talk_note(job->call, "this runtime cannot wait when its buffer is full: it loses events then");
    if (report.rundown != job->wish.rundown && (job->call->set.rundown || report.rundown != TTR_DOTNET_RUNDOWN))
        talk_note(job->call, "this runtime cannot choose the rundown: it gives all of it");
}

static int record(struct job *job)
{
    ttr_error error;
    struct recording *recording = &job->recording;
    ttr_dotnet_wake(job->target, interrupt_wait_fd());
    recording->target = job->target;
    recording->what = job->what;
    recording->session = ttr_dotnet_collect(job->target, &job->wish, &error);
    if (!recording->session) {
        if (error.status == TTR_AGAIN)
            talk_note(job->call, "interrupted before the recording began");
        else
            talk_error(job->call, job->what, &error);
        return error.status == TTR_AGAIN ? OUTCOME_NO : OUTCOME_INPUT;
    }
    if (!job->call->set.output)
        talk_note(job->call, "recording into %s", recording->path);
    tell_ignored(job);
    ttr_status status = job->call->set.no_resume ? TTR_OK : ttr_dotnet_resume(job->target, &error);
    if (job->is_early && status != TTR_OK && status != TTR_E_UNSUPPORTED && status != TTR_AGAIN)
        talk_error(job->call, job->what, &error);
    if (job->call->term.error_is_tty)
        talk_note(job->call, "recording %s; Ctrl-C%s stops", job->what, recording->launch ? "" : " or Enter");
    return recording_run(recording);
}

static void tell_end(struct job *job)
{
    char how[80];
    if (job->target && ttr_dotnet_others(job->target))
        talk_note(job->call, "%zu more runtime(s) came to the same socket and were not recorded", ttr_dotnet_others(job->target));
    bool was_running = job->launch.pid && !launch_has_ended(&job->launch);
    launch_end(&job->launch);
    if (job->launch.pid && !was_running && job->launch.status != 0)
        talk_note(job->call, "%s %s", job->call->path[0], launch_how(&job->launch, how, sizeof how));
}

int run_record(struct call *call)
{
    struct job job = {.call = call, .recording = {.call = call, .fd = -1}};
    if (call->set.perf)
        return record_perf(call);
    int outcome = check_words(call);
    if (outcome == OUTCOME_FINE)
        outcome = read_wish(&job);
    if (outcome == OUTCOME_FINE)
        outcome = recording_open(&job.recording, find_output(&job), call->set.overwrite);
    if (outcome == OUTCOME_FINE)
        outcome = find_target(&job);
    if (outcome == OUTCOME_FINE)
        outcome = record(&job);
    ttr_dotnet_close(job.recording.session);
    recording_drop(&job.recording);
    tell_end(&job);
    ttr_dotnet_free(job.target);
    ttr_dotnet_free(job.waiting);
    ttr_dotnet_providers_free(job.providers);
    ttr_dotnet_list_free(job.list);
    return outcome;
}
