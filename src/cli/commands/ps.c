/* ps and dump: show .NET processes, as the system and their runtimes report them. */
#include <inttypes.h>
#include <string.h>

#include <tracetta/collect.h>
#include <tracetta/event.h>

#include "cli/commands/command.h"
#include "cli/dotnet/dotnet_choice.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"

/* ms; a working runtime answers at once, unless all processors are busy */
#define ANSWER_MS 3000u

/* A process and what its runtime reported. */
struct found {
    ttr_dotnet_process process;
    ttr_dotnet *target;
    ttr_dotnet_info info;
    bool has_info;
    bool is_silent; /* the runtime did not answer in time */
    size_t variables;
};

static const char *state_of(const struct found *found)
{
    if (found->process.state == TTR_DOTNET_DENIED)
        return "no permission";
    return found->is_silent ? "no answer" : "ready";
}

static const char *runtime_of(const struct found *found)
{
    return found->has_info && found->info.runtime[0] ? found->info.runtime : found->process.runtime;
}

/* Requests the environment of a process. Reports a failure and returns false. */
static bool request_environment(struct found *found)
{
    ttr_error error;
    if (!found->target || found->is_silent) {
        message_failure(found->process.name, "its environment cannot be read: %s", state_of(found));
        return false;
    }
    ttr_status status = ttr_dotnet_environment(found->target, &found->variables, &error);
    if (status != TTR_OK)
        message_failure(found->process.name, "%s%s", error.text,
                        status == TTR_E_UNSUPPORTED ? " (.NET 5 and later do)" : "");
    return status == TTR_OK;
}

/* Requests the description of a process. Not supported before .NET 5, which is not an error. */
static void request_description(struct found *found)
{
    ttr_error error;
    found->info.size = sizeof found->info;
    if (found->process.state != TTR_DOTNET_READY)
        return;
    found->target = ttr_dotnet_new(found->process.socket, &error);
    found->is_silent = !found->target;
    if (!found->target)
        return;
    ttr_dotnet_set_timeout(found->target, ANSWER_MS);
    ttr_status status = ttr_dotnet_info_get(found->target, &found->info, &error);
    found->has_info = status == TTR_OK;
    found->is_silent = status != TTR_OK && status != TTR_E_UNSUPPORTED;
}

static void put_json_environment(struct json *json, const struct found *found)
{
    const char *variable;
    json_open(json, "environment", '{');
    for (size_t i = 0; found->target && (variable = ttr_dotnet_variable(found->target, i)); i++) {
        size_t n = strcspn(variable, "=");
        ttr_value value = {.type = TTR_TYPE_TEXT,
                           .text = {variable + n + (variable[n] == '='),
                                    strlen(variable + n + (variable[n] == '='))}};
        json_member(json, (ttr_text){variable, n}, &value);
    }
    json_close(json, '}');
}

static void put_json(struct json *json, const struct found *found, bool wants_environment)
{
    const ttr_dotnet_process *process = &found->process;
    json_open(json, NULL, '{');
    json_uint(json, "pid", process->pid);
    json_uint(json, "inner_pid", process->inner_pid);
    json_write_string(json, "name", process->name);
    json_write_string(json, "command",
                      found->has_info && found->info.command[0] ? found->info.command
                                                                : process->command);
    json_uint(json, "uid", process->uid);
    json_write_string(json, "user", dotnet_user(process->uid));
    json_write_string(json, "state", state_of(found));
    json_write_string(json, "socket", process->socket);
    json_write_string(json, "runtime", runtime_of(found));
    if (found->has_info) {
        json_write_string(json, "os", found->info.os);
        json_write_string(json, "arch", found->info.arch);
        json_write_string(json, "assembly", found->info.assembly);
        json_write_string(json, "rid", found->info.rid);
    }
    if (wants_environment)
        put_json_environment(json, found);
    json_close(json, '}');
}

static void print_text(const char *text)
{
    term_text((ttr_text){text, strlen(text)});
}

static void print_row(const struct call *call, const struct found *found)
{
    const ttr_dotnet_process *process = &found->process;
    const char *variable, *runtime = runtime_of(found);
    char about[64], plain[64];
    (void)snprintf(about, sizeof about, "%s%s%s", runtime[0] ? runtime : "-",
                   found->has_info && found->info.arch[0] ? " " : "",
                   found->has_info ? found->info.arch : "");
    (void)printf("%8" PRIu64 "  %-10s %-14s %-16s ", process->pid, dotnet_user(process->uid),
                 state_of(found), term_plain(about, plain, sizeof plain));
    print_text(process->name);
    (void)fputs("  ", stdout);
    print_text(found->has_info && found->info.command[0] ? found->info.command : process->command);
    (void)putchar('\n');
    for (size_t i = 0; call->set.environment && found->target &&
                       (variable = ttr_dotnet_variable(found->target, i));
         i++) {
        (void)fputs("          ", stdout);
        print_text(variable);
        (void)putchar('\n');
    }
}

static void print_line(const char *key, const char *text)
{
    if (!text[0])
        return;
    (void)printf("%-9s ", key);
    print_text(text);
    (void)putchar('\n');
}

/* Prints all known properties of a process, one per line. */
static void print_all(const struct call *call, const struct found *found, size_t place)
{
    const ttr_dotnet_process *process = &found->process;
    const char *variable, *key = "env";
    char pid[24], inner[24];
    (void)snprintf(pid, sizeof pid, "%" PRIu64, process->pid);
    (void)snprintf(inner, sizeof inner, "%" PRIu64, process->inner_pid);
    (void)fputs(place ? "\n" : "", stdout);
    (void)fputs(term_ink(&call->term, INK_BOLD), stdout);
    print_line("process", process->name);
    (void)fputs(term_ink(&call->term, INK_PLAIN), stdout);
    print_line("pid", pid);
    if (process->inner_pid != process->pid)
        print_line("its pid", inner);
    print_line("user", dotnet_user(process->uid));
    print_line("state", state_of(found));
    print_line("command",
               found->has_info && found->info.command[0] ? found->info.command : process->command);
    print_line("runtime", runtime_of(found));
    if (found->has_info) {
        print_line("assembly", found->info.assembly);
        print_line("system", found->info.os);
        print_line("arch", found->info.arch);
        print_line("rid", found->info.rid);
    }
    print_line("socket", process->socket);
    for (size_t i = 0; found->target && (variable = ttr_dotnet_variable(found->target, i));
         i++, key = "")
        print_line(key, variable);
}

/* Returns true if an operand selects the process, or there are no operands. seen[i] counts the
 * processes that operand i selects. */
static bool is_wanted(const struct call *call, const ttr_dotnet_process *process, size_t *seen)
{
    bool is_meant = call->paths_n == 0;
    for (size_t i = 0; i < call->paths_n; i++) {
        bool is_this = dotnet_matches(call->path[i], process);
        seen[i] += is_this;
        is_meant |= is_this;
    }
    return is_meant && process->state != TTR_DOTNET_STALE;
}

/* Prints the selected processes and returns their number. Sets *outcome if one could not be
 * read. */
static size_t show_processes(const struct call *call, const ttr_dotnet_list *list,
                             struct json *json, size_t *seen, int *outcome)
{
    size_t shown = 0;
    struct found found = {.process = {.size = sizeof found.process}};
    for (size_t i = 0; ttr_dotnet_list_at(list, i, &found.process); i++) {
        if (!is_wanted(call, &found.process, seen))
            continue;
        request_description(&found);
        if (call->set.environment && !request_environment(&found))
            *outcome = OUTCOME_INPUT;
        if (!json && shown == 0 && call->command->verb != VERB_DUMP)
            (void)printf("%s%8s  %-10s %-14s %-16s %s%s\n", term_ink(&call->term, INK_BOLD), "PID",
                         "USER", "STATE", "RUNTIME", "NAME  COMMAND",
                         term_ink(&call->term, INK_PLAIN));
        if (json)
            put_json(json, &found, call->set.environment);
        else if (call->command->verb == VERB_DUMP)
            print_all(call, &found, shown);
        else
            print_row(call, &found);
        shown++;
        ttr_dotnet_free(found.target);
        found = (struct found){.process = {.size = sizeof found.process}};
    }
    return shown;
}

/* Prints a diagnostics socket that has no process. Its name may contain any characters. */
static void print_stale(const ttr_dotnet_process *process)
{
    (void)printf("%8" PRIu64 "  %-10s %-14s ", process->pid, dotnet_user(process->uid), "gone");
    print_text(process->socket);
    (void)putchar('\n');
}

static void show_stale(const struct call *call, const ttr_dotnet_list *list, struct json *json)
{
    size_t stale = 0;
    ttr_dotnet_process process = {.size = sizeof process};
    for (size_t i = 0; ttr_dotnet_list_at(list, i, &process); i++) {
        if (process.state != TTR_DOTNET_STALE)
            continue;
        stale++;
        if (json)
            json_write_string(json, NULL, process.socket);
        else if (call->set.verbose)
            print_stale(&process);
    }
    if (stale && !json && !call->set.verbose)
        message_note(call, "%zu socket(s) of processes that are gone; --verbose lists them", stale);
}

int run_ps(struct call *call)
{
    ttr_error error;
    struct json json = {.to = stdout}, *to = call->set.json ? &json : NULL;
    size_t seen[64] = {0}, words = call->paths_n < 64 ? call->paths_n : 64;
    call->paths_n = words;
    ttr_dotnet_list *list = ttr_dotnet_list_new(&error);
    if (!list) {
        message_error(call, "/proc", &error);
        return OUTCOME_INPUT;
    }
    if (to) {
        json_open(to, NULL, '{');
        json_write_string(to, "schema", "tracetta.ps/1");
        json_open(to, "processes", '[');
    }
    int outcome = OUTCOME_FINE;
    size_t shown = show_processes(call, list, to, seen, &outcome);
    if (to) {
        json_close(to, ']');
        json_open(to, "stale", '[');
    }
    if (words == 0)
        show_stale(call, list, to);
    if (to) {
        json_close(to, ']');
        json_close(to, '}');
    } else if (shown == 0 && words == 0) {
        message_note(call, "no .NET process can be seen");
    }
    for (size_t i = 0; i < words; i++)
        if (!seen[i])
            outcome = dotnet_report_none(call->path[i]);
    ttr_dotnet_list_free(list);
    return outcome;
}

int run_dump(struct call *call)
{
    call->set.environment = true;
    return run_ps(call);
}
