/* Connects to a .NET runtime. */
#include "cli/dotnet/runtime_connect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/command.h"
#include "cli/dotnet/dotnet_choice.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"

#define SLICE_MS 100u
#define ASK_MS 1000u

static int fail_with(const struct reach *reach, const char *what, const ttr_error *error)
{
    talk_error(reach->call, what, error);
    return OUTCOME_INPUT;
}

static int find_process(struct reach *reach, const char *word)
{
    ttr_error error;
    ttr_dotnet_process process = {.size = sizeof process};
    reach->list = ttr_dotnet_find(&error);
    if (!reach->list)
        return fail_with(reach, "/proc", &error);
    int outcome = dotnet_choose(reach->list, word, &process);
    if (outcome != OUTCOME_FINE)
        return outcome;
    (void)snprintf(reach->what, sizeof reach->what, "process %" PRIu64 " (%.200s)", process.pid,
                   process.name);
    reach->target = ttr_dotnet_at(process.socket, &error);
    return reach->target ? OUTCOME_FINE : fail_with(reach, reach->what, &error);
}

/* Uses the socket of the started program itself if its runtime does not connect to ours (.NET Core
 * 3). */
static bool find_old_runtime(struct reach *reach)
{
    ttr_error error;
    ttr_dotnet_process process = {.size = sizeof process};
    ttr_dotnet_info info = {.size = sizeof info};
    ttr_dotnet_list *list = ttr_dotnet_find(&error);
    for (size_t i = 0; list && !reach->target && ttr_dotnet_list_at(list, i, &process); i++) {
        if (process.state != TTR_DOTNET_READY || !launch_holds(&reach->launch, process.pid))
            continue;
        ttr_dotnet *target = ttr_dotnet_at(process.socket, &error);
        if (!target)
            continue;
        ttr_dotnet_limit(target, ASK_MS);
        if (ttr_dotnet_about(target, &info, &error) == TTR_E_UNSUPPORTED)
            reach->target = target;
        else
            ttr_dotnet_free(target);
    }
    ttr_dotnet_list_free(list);
    if (reach->target)
        talk_note(reach->call, "this runtime cannot wait for its recorder (.NET 5 and later can): "
                               "what happened before now is not recorded");
    return reach->target != NULL;
}

/* Waits until a runtime connects to our socket. */
static int await_runtime(struct reach *reach)
{
    ttr_error error;
    char how[80];
    for (;;) {
        ttr_status status = ttr_dotnet_await(reach->waiting, SLICE_MS, &error);
        if (status == TTR_OK) {
            reach->target = reach->waiting;
            reach->waiting = NULL;
            return OUTCOME_FINE;
        }
        if (interrupt_came()) {
            talk_note(reach->call, "interrupted before a runtime was there");
            return OUTCOME_NO;
        }
        if (!reach->launch.pid)
            continue;
        if (launch_has_ended(&reach->launch)) {
            talk_failure(reach->what, "%s before a .NET runtime started in it",
                         launch_how(&reach->launch, how, sizeof how));
            return OUTCOME_INPUT;
        }
        if (find_old_runtime(reach))
            return OUTCOME_FINE;
    }
}

static int open_port(struct reach *reach)
{
    ttr_error error;
    reach->waiting = ttr_dotnet_listen(reach->port, &error);
    if (!reach->waiting)
        return fail_with(reach, reach->port, &error);
    ttr_dotnet_wake(reach->waiting, interrupt_wait_fd());
    reach->is_early = true;
    return OUTCOME_FINE;
}

static int launch_program(struct reach *reach)
{
    const struct call *call = reach->call;
    const char *folder = getenv("TMPDIR");
    char variable[REACH_PATH + 64];
    (void)snprintf(reach->port, sizeof reach->port, "%s/tracetta-%d.socket",
                   folder && folder[0] ? folder : "/tmp", (int)getpid());
    (void)snprintf(reach->what, sizeof reach->what, "%.300s", call->path[0]);
    int outcome = open_port(reach);
    if (outcome != OUTCOME_FINE)
        return outcome;
    (void)snprintf(variable, sizeof variable, "DOTNET_DiagnosticPorts=%s,suspend", reach->port);
    if (!launch_start(&reach->launch, call->path, call->paths_n, variable, reach->takes_stdout)) {
        talk_failure(call->path[0], "cannot be run: %s", strerror(errno));
        return OUTCOME_INPUT;
    }
    return await_runtime(reach);
}

/* Uses the port of "PATH", "PATH,listen" or "PATH,connect". */
static int use_port(struct reach *reach)
{
    ttr_error error;
    const char *text = reach->call->set.port, *comma = strrchr(text, ',');
    bool connects = comma && strcmp(comma, ",connect") == 0;
    if (comma && !connects && strcmp(comma, ",listen") != 0)
        return talk_misuse(
            reach->verb,
            "--diagnostic-port cannot be \"%s\": expected PATH, PATH,listen or PATH,connect", text);
    (void)snprintf(reach->port, sizeof reach->port, "%.*s",
                   (int)(comma ? comma - text : (int)strlen(text)), text);
    (void)snprintf(reach->what, sizeof reach->what, "the runtime of %.280s", reach->port);
    if (connects) {
        reach->is_early = true;
        reach->target = ttr_dotnet_at(reach->port, &error);
        return reach->target ? OUTCOME_FINE : fail_with(reach, reach->port, &error);
    }
    int outcome = open_port(reach);
    if (outcome != OUTCOME_FINE)
        return outcome;
    talk_note(reach->call, "waiting for a runtime: start it with DOTNET_DiagnosticPorts=%s",
              reach->port);
    return await_runtime(reach);
}

int reach_target(struct reach *reach)
{
    const struct call *call = reach->call;
    if (call->set.port)
        return use_port(reach);
    return call->set.has_dashes && call->set.before_dashes == 0
               ? launch_program(reach)
               : find_process(reach, call->path[0]);
}

int reach_check_words(const struct call *call, const char *verb)
{
    const struct settings *set = &call->set;
    bool launches = set->has_dashes && set->before_dashes == 0 && call->paths_n > 0;
    if (set->port && call->paths_n)
        return talk_misuse(verb, "--diagnostic-port selects the process: leave out \"%s\"",
                           call->path[0]);
    if (set->port && (!set->port[0] || set->port[0] == ','))
        return talk_misuse(
            verb, "--diagnostic-port cannot be \"%s\": expected the path of a socket", set->port);
    if (!set->port && call->paths_n == 0)
        return talk_misuse(verb,
                           "%s expects a process, by number or name, or \"--\" and a command; "
                           "\"tracetta ps\" lists processes",
                           verb);
    if (!launches && call->paths_n > 1)
        return talk_misuse(verb, "%s expects one process; a command to start comes after \"--\"",
                           verb);
    return OUTCOME_FINE;
}

int reach_resume(struct reach *reach)
{
    ttr_error error;
    ttr_status status =
        reach->call->set.no_resume ? TTR_OK : ttr_dotnet_resume(reach->target, &error);
    bool is_told =
        reach->is_early && status != TTR_OK && status != TTR_E_UNSUPPORTED && status != TTR_AGAIN;
    return is_told ? fail_with(reach, reach->what, &error) : OUTCOME_FINE;
}

void reach_end(struct reach *reach)
{
    char how[80];
    if (reach->target && ttr_dotnet_others(reach->target))
        talk_note(reach->call, "%zu more runtime(s) came to the same socket and were let go on",
                  ttr_dotnet_others(reach->target));
    bool was_running = reach->launch.pid && !launch_has_ended(&reach->launch);
    launch_end(&reach->launch);
    if (reach->launch.pid && !was_running && reach->launch.status != 0)
        talk_note(reach->call, "%s %s", reach->call->path[0],
                  launch_how(&reach->launch, how, sizeof how));
    ttr_dotnet_free(reach->target);
    ttr_dotnet_free(reach->waiting);
    ttr_dotnet_list_free(reach->list);
}
