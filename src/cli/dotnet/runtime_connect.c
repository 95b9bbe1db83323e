/* Connects to a .NET runtime; runtime_connect.h describes the ways. */
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

static int report_connect_error(const struct runtime_connection *runtime_connection,
                                const char *what, const ttr_error *error)
{
    report_error(runtime_connection->call, what, error);
    return OUTCOME_INPUT;
}

static int find_process(struct runtime_connection *runtime_connection, const char *word)
{
    ttr_error error;
    ttr_dotnet_process process = {.size = sizeof process};
    runtime_connection->list = ttr_dotnet_list_new(&error);
    if (!runtime_connection->list)
        return report_connect_error(runtime_connection, "/proc", &error);
    int outcome = dotnet_choose_process(runtime_connection->list, word, &process);
    if (outcome != OUTCOME_FINE)
        return outcome;
    (void)snprintf(runtime_connection->what, sizeof runtime_connection->what,
                   "process %" PRIu64 " (%.200s)", process.pid, process.name);
    runtime_connection->target = ttr_dotnet_new(process.socket, &error);
    return runtime_connection->target
               ? OUTCOME_FINE
               : report_connect_error(runtime_connection, runtime_connection->what, &error);
}

/* Connects to the diagnostics socket of the started program, for runtimes that do not connect to
 * the tool's socket (.NET Core 3). */
static bool find_old_runtime(struct runtime_connection *runtime_connection)
{
    ttr_error error;
    ttr_dotnet_process process = {.size = sizeof process};
    ttr_dotnet_info info = {.size = sizeof info};
    ttr_dotnet_list *list = ttr_dotnet_list_new(&error);
    for (size_t i = 0; list && !runtime_connection->target && ttr_dotnet_list_at(list, i, &process);
         i++) {
        if (process.state != TTR_DOTNET_READY ||
            !launch_includes_process(&runtime_connection->launch, process.pid))
            continue;
        ttr_dotnet *target = ttr_dotnet_new(process.socket, &error);
        if (!target)
            continue;
        ttr_dotnet_set_timeout(target, ASK_MS);
        if (ttr_dotnet_info_get(target, &info, &error) == TTR_E_UNSUPPORTED)
            runtime_connection->target = target;
        else
            ttr_dotnet_free(target);
    }
    ttr_dotnet_list_free(list);
    if (runtime_connection->target)
        print_note(runtime_connection->call,
                   "this runtime cannot wait for its recorder (.NET 5 and later can): "
                   "what happened before now is not recorded");
    return runtime_connection->target != NULL;
}

/* Waits until a runtime connects to the tool's socket. Returns the outcome. */
static int await_runtime(struct runtime_connection *runtime_connection)
{
    ttr_error error;
    char how[80];
    for (;;) {
        ttr_status status = ttr_dotnet_wait(runtime_connection->waiting, SLICE_MS, &error);
        if (status == TTR_OK) {
            runtime_connection->target = runtime_connection->waiting;
            runtime_connection->waiting = NULL;
            return OUTCOME_FINE;
        }
        if (interrupt_was_received()) {
            print_note(runtime_connection->call, "interrupted before a runtime was there");
            return OUTCOME_NO;
        }
        if (!runtime_connection->launch.pid)
            continue;
        if (launch_has_ended(&runtime_connection->launch)) {
            report_failure_text(runtime_connection->what, "%s before a .NET runtime started in it",
                                launch_format_status(&runtime_connection->launch, how, sizeof how));
            return OUTCOME_INPUT;
        }
        if (find_old_runtime(runtime_connection))
            return OUTCOME_FINE;
    }
}

static int open_port(struct runtime_connection *runtime_connection)
{
    ttr_error error;
    runtime_connection->waiting = ttr_dotnet_listen(runtime_connection->port, &error);
    if (!runtime_connection->waiting)
        return report_connect_error(runtime_connection, runtime_connection->port, &error);
    ttr_dotnet_set_wake_fd(runtime_connection->waiting, interrupt_get_wake_fd());
    runtime_connection->is_early = true;
    return OUTCOME_FINE;
}

static int launch_program(struct runtime_connection *runtime_connection)
{
    const struct call *call = runtime_connection->call;
    const char *folder = getenv("TMPDIR");
    char variable[REACH_PATH + 64];
    (void)snprintf(runtime_connection->port, sizeof runtime_connection->port,
                   "%s/tracetta-%d.socket", folder && folder[0] ? folder : "/tmp", (int)getpid());
    (void)snprintf(runtime_connection->what, sizeof runtime_connection->what, "%.300s",
                   call->path[0]);
    int outcome = open_port(runtime_connection);
    if (outcome != OUTCOME_FINE)
        return outcome;
    (void)snprintf(variable, sizeof variable, "DOTNET_DiagnosticPorts=%s,suspend",
                   runtime_connection->port);
    if (!launch_start(&runtime_connection->launch, call->path, call->paths_n, variable,
                      runtime_connection->takes_stdout)) {
        report_failure_text(call->path[0], "cannot be run: %s", strerror(errno));
        return OUTCOME_INPUT;
    }
    return await_runtime(runtime_connection);
}

/* Connects or listens at the diagnostics port given as "PATH", "PATH,listen" or "PATH,connect". */
static int use_port(struct runtime_connection *runtime_connection)
{
    ttr_error error;
    const char *text = runtime_connection->call->set.port, *comma = strrchr(text, ',');
    bool connects = comma && strcmp(comma, ",connect") == 0;
    if (comma && !connects && strcmp(comma, ",listen") != 0)
        return report_misuse(
            runtime_connection->verb,
            "--diagnostic-port cannot be \"%s\": expected PATH, PATH,listen or PATH,connect", text);
    (void)snprintf(runtime_connection->port, sizeof runtime_connection->port, "%.*s",
                   (int)(comma ? comma - text : (int)strlen(text)), text);
    (void)snprintf(runtime_connection->what, sizeof runtime_connection->what,
                   "the runtime of %.280s", runtime_connection->port);
    if (connects) {
        runtime_connection->is_early = true;
        runtime_connection->target = ttr_dotnet_new(runtime_connection->port, &error);
        return runtime_connection->target
                   ? OUTCOME_FINE
                   : report_connect_error(runtime_connection, runtime_connection->port, &error);
    }
    int outcome = open_port(runtime_connection);
    if (outcome != OUTCOME_FINE)
        return outcome;
    print_note(runtime_connection->call,
               "waiting for a runtime: start it with DOTNET_DiagnosticPorts=%s",
               runtime_connection->port);
    return await_runtime(runtime_connection);
}

int runtime_connect(struct runtime_connection *runtime_connection)
{
    const struct call *call = runtime_connection->call;
    if (call->set.port)
        return use_port(runtime_connection);
    return call->set.has_separator && call->set.before_separator == 0
               ? launch_program(runtime_connection)
               : find_process(runtime_connection, call->path[0]);
}

int runtime_check_operands(const struct call *call, const char *verb)
{
    const struct settings *set = &call->set;
    bool launches = set->has_separator && set->before_separator == 0 && call->paths_n > 0;
    if (set->port && call->paths_n)
        return report_misuse(verb, "--diagnostic-port selects the process: leave out \"%s\"",
                             call->path[0]);
    if (set->port && (!set->port[0] || set->port[0] == ','))
        return report_misuse(
            verb, "--diagnostic-port cannot be \"%s\": expected the path of a socket", set->port);
    if (!set->port && call->paths_n == 0)
        return report_misuse(verb,
                             "%s expects a process, by number or name, or \"--\" and a command; "
                             "\"tracetta ps\" lists processes",
                             verb);
    if (!launches && call->paths_n > 1)
        return report_misuse(verb, "%s expects one process; a command to start comes after \"--\"",
                             verb);
    return OUTCOME_FINE;
}

int runtime_resume(struct runtime_connection *runtime_connection)
{
    ttr_error error;
    ttr_status status = runtime_connection->call->set.no_resume
                            ? TTR_OK
                            : ttr_dotnet_resume(runtime_connection->target, &error);
    bool is_told = runtime_connection->is_early && status != TTR_OK &&
                   status != TTR_E_UNSUPPORTED && status != TTR_AGAIN;
    return is_told ? report_connect_error(runtime_connection, runtime_connection->what, &error)
                   : OUTCOME_FINE;
}

void runtime_disconnect(struct runtime_connection *runtime_connection)
{
    char how[80];
    if (runtime_connection->target && ttr_dotnet_other_count(runtime_connection->target))
        print_note(runtime_connection->call,
                   "%zu more runtime(s) came to the same socket and were let go on",
                   ttr_dotnet_other_count(runtime_connection->target));
    bool was_running =
        runtime_connection->launch.pid && !launch_has_ended(&runtime_connection->launch);
    launch_end(&runtime_connection->launch);
    if (runtime_connection->launch.pid && !was_running && runtime_connection->launch.status != 0)
        print_note(runtime_connection->call, "%s %s", runtime_connection->call->path[0],
                   launch_format_status(&runtime_connection->launch, how, sizeof how));
    ttr_dotnet_free(runtime_connection->target);
    ttr_dotnet_free(runtime_connection->waiting);
    ttr_dotnet_list_free(runtime_connection->list);
}
