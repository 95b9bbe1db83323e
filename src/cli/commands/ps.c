/* ps and dump: show processes that can be recorded: programs with trace points, and .NET processes
 * as the system and their runtimes report them. */
#include <inttypes.h>
#include <string.h>

#include <tracetta/collect.h>
#include <tracetta/event.h>
#include <tracetta/record.h>

#include "cli/commands/command.h"
#include "cli/dotnet/dotnet_choice.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"

/* ms; a working runtime answers at once, unless all processors are busy */
#define ANSWER_MS 3000u
#define TRACEABLES_MAX 1024u

/* A process and what its runtime reported. */
struct found {
    ttr_dotnet_process process;
    ttr_dotnet *target;
    ttr_dotnet_info info;
    bool has_info;
    bool is_silent; /* the runtime did not answer in time */
    size_t variables;
};

static const char *get_state_text(const struct found *found)
{
    if (found->process.state == TTR_DOTNET_DENIED)
        return "no permission";
    return found->is_silent ? "no answer" : "ready";
}

static const char *get_runtime_text(const struct found *found)
{
    return found->has_info && found->info.runtime[0] ? found->info.runtime : found->process.runtime;
}

/* Requests the environment of a process. Reports a failure and returns false. */
static bool request_environment(struct found *found)
{
    ttr_error error;
    if (!found->target || found->is_silent) {
        report_failure_text(found->process.name, "its environment cannot be read: %s",
                            get_state_text(found));
        return false;
    }
    ttr_status status = ttr_dotnet_environment(found->target, &found->variables, &error);
    if (status != TTR_OK)
        report_failure_text(found->process.name, "%s%s", error.text,
                            status == TTR_E_UNSUPPORTED ? " (.NET 5 and later do)" : "");
    return status == TTR_OK;
}

/* Requests the description of a process. Not supported before .NET 5, which is not an error. */
static void request_process_info(struct found *found)
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

static void write_environment_json(struct json *json, const struct found *found)
{
    const char *variable;
    json_open(json, "environment", '{');
    for (size_t i = 0; found->target && (variable = ttr_dotnet_variable(found->target, i)); i++) {
        size_t n = strcspn(variable, "=");
        ttr_value value = {.type = TTR_TYPE_TEXT,
                           .text = {variable + n + (variable[n] == '='),
                                    strlen(variable + n + (variable[n] == '='))}};
        json_write_member(json, (ttr_text){variable, n}, &value);
    }
    json_close(json, '}');
}

static void write_process_json(struct json *json, const struct found *found, bool wants_environment)
{
    const ttr_dotnet_process *process = &found->process;
    json_open(json, NULL, '{');
    json_write_uint(json, "pid", process->pid);
    json_write_uint(json, "inner_pid", process->inner_pid);
    json_write_string(json, "name", process->name);
    json_write_string(json, "command",
                      found->has_info && found->info.command[0] ? found->info.command
                                                                : process->command);
    json_write_uint(json, "uid", process->uid);
    json_write_string(json, "user", format_user_name(process->uid));
    json_write_string(json, "state", get_state_text(found));
    json_write_string(json, "socket", process->socket);
    json_write_string(json, "runtime", get_runtime_text(found));
    if (found->has_info) {
        json_write_string(json, "os", found->info.os);
        json_write_string(json, "arch", found->info.arch);
        json_write_string(json, "assembly", found->info.assembly);
        json_write_string(json, "rid", found->info.rid);
    }
    if (wants_environment)
        write_environment_json(json, found);
    json_close(json, '}');
}

static void print_escaped_text(const char *text)
{
    term_text((ttr_text){text, strlen(text)});
}

static void print_process_row(const struct call *call, const struct found *found)
{
    const ttr_dotnet_process *process = &found->process;
    const char *variable, *runtime = get_runtime_text(found);
    char about[64], plain[64];
    (void)snprintf(about, sizeof about, "%s%s%s", runtime[0] ? runtime : "-",
                   found->has_info && found->info.arch[0] ? " " : "",
                   found->has_info ? found->info.arch : "");
    (void)printf("%8" PRIu64 "  %-10s %-14s %-16s ", process->pid, format_user_name(process->uid),
                 get_state_text(found), term_plain(about, plain, sizeof plain));
    print_escaped_text(process->name);
    (void)fputs("  ", stdout);
    print_escaped_text(found->has_info && found->info.command[0] ? found->info.command
                                                                 : process->command);
    (void)putchar('\n');
    for (size_t i = 0; call->set.environment && found->target &&
                       (variable = ttr_dotnet_variable(found->target, i));
         i++) {
        (void)fputs("          ", stdout);
        print_escaped_text(variable);
        (void)putchar('\n');
    }
}

static void print_detail_line(const char *key, const char *text)
{
    if (!text[0])
        return;
    (void)printf("%-9s ", key);
    print_escaped_text(text);
    (void)putchar('\n');
}

/* Prints all known properties of a process, one per line. */
static void print_process_details(const struct call *call, const struct found *found, size_t place)
{
    const ttr_dotnet_process *process = &found->process;
    const char *variable, *key = "env";
    char pid[24], inner[24];
    (void)snprintf(pid, sizeof pid, "%" PRIu64, process->pid);
    (void)snprintf(inner, sizeof inner, "%" PRIu64, process->inner_pid);
    (void)fputs(place ? "\n" : "", stdout);
    (void)fputs(term_ink(&call->term, INK_BOLD), stdout);
    print_detail_line("process", process->name);
    (void)fputs(term_ink(&call->term, INK_PLAIN), stdout);
    print_detail_line("pid", pid);
    if (process->inner_pid != process->pid)
        print_detail_line("its pid", inner);
    print_detail_line("user", format_user_name(process->uid));
    print_detail_line("state", get_state_text(found));
    print_detail_line("command", found->has_info && found->info.command[0] ? found->info.command
                                                                           : process->command);
    print_detail_line("runtime", get_runtime_text(found));
    if (found->has_info) {
        print_detail_line("assembly", found->info.assembly);
        print_detail_line("system", found->info.os);
        print_detail_line("arch", found->info.arch);
        print_detail_line("rid", found->info.rid);
    }
    print_detail_line("socket", process->socket);
    for (size_t i = 0; found->target && (variable = ttr_dotnet_variable(found->target, i));
         i++, key = "")
        print_detail_line(key, variable);
}

/* Returns true if an operand selects the process, or there are no operands. seen[i] counts the
 * processes that operand i selects. */
static bool is_process_selected(const struct call *call, const ttr_dotnet_process *process,
                                size_t *seen)
{
    bool is_meant = call->paths_n == 0;
    for (size_t i = 0; i < call->paths_n; i++) {
        bool is_this = dotnet_process_matches(call->path[i], process);
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
        if (!is_process_selected(call, &found.process, seen))
            continue;
        request_process_info(&found);
        if (call->set.environment && !request_environment(&found))
            *outcome = OUTCOME_INPUT;
        if (!json && shown == 0 && call->command->verb != VERB_DUMP)
            (void)printf("%s%8s  %-10s %-14s %-16s %s%s\n", term_ink(&call->term, INK_BOLD), "PID",
                         "USER", "STATE", "RUNTIME", "NAME  COMMAND",
                         term_ink(&call->term, INK_PLAIN));
        if (json)
            write_process_json(json, &found, call->set.environment);
        else if (call->command->verb == VERB_DUMP)
            print_process_details(call, &found, shown);
        else
            print_process_row(call, &found);
        shown++;
        ttr_dotnet_free(found.target);
        found = (struct found){.process = {.size = sizeof found.process}};
    }
    return shown;
}

/* --- Programs with trace points --- */

/* Returns true if an operand is the number or name of the program, or there are no operands. */
static bool is_traceable_wanted(const struct call *call, const ttr_traceable *program, size_t *seen)
{
    char pid[24];
    bool is_meant = call->paths_n == 0;
    (void)snprintf(pid, sizeof pid, "%" PRIu64, program->pid);
    for (size_t i = 0; i < call->paths_n; i++) {
        const bool is_this =
            strcmp(call->path[i], pid) == 0 || strcmp(call->path[i], program->name) == 0;
        seen[i] += is_this;
        is_meant |= is_this;
    }
    return is_meant;
}

static void show_traceable(const struct call *call, const ttr_traceable *program, struct json *json,
                           bool is_first)
{
    const char *state = program->is_recorded ? "recorded" : "ready";
    if (json) {
        json_open(json, NULL, '{');
        json_write_uint(json, "pid", program->pid);
        json_write_string(json, "name", program->name);
        json_write_string(json, "state", state);
        json_write_uint(json, "modules", program->modules);
        json_close(json, '}');
        return;
    }
    if (is_first)
        (void)printf("%s%8s  %-10s TRACE POINTS%s\n", term_ink(&call->term, INK_BOLD), "PID",
                     "STATE", term_ink(&call->term, INK_PLAIN));
    (void)printf("%8" PRIu64 "  %-10s ", program->pid, state);
    print_escaped_text(program->name);
    (void)putchar('\n');
}

/* Prints the selected programs and returns their number. */
static size_t show_traceables(const struct call *call, struct json *json, size_t *seen)
{
    ttr_traceable list[TRACEABLES_MAX];
    size_t shown = 0;
    const size_t found = ttr_traceable_find(list, TRACEABLES_MAX);
    for (size_t i = 0; i < found && i < TRACEABLES_MAX; i++)
        if (is_traceable_wanted(call, &list[i], seen)) {
            show_traceable(call, &list[i], json, shown == 0);
            shown++;
        }
    if (found > TRACEABLES_MAX && !json)
        print_note(call, "%zu more programs with trace points are not shown",
                   found - TRACEABLES_MAX);
    return shown;
}

/* --- Sockets without a process --- */

/* Prints a diagnostics socket that has no process. Its name may contain any characters. */
static void print_stale_socket(const ttr_dotnet_process *process)
{
    (void)printf("%8" PRIu64 "  %-10s %-14s ", process->pid, format_user_name(process->uid),
                 "gone");
    print_escaped_text(process->socket);
    (void)putchar('\n');
}

static void show_stale_sockets(const struct call *call, const ttr_dotnet_list *list,
                               struct json *json)
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
            print_stale_socket(&process);
    }
    if (stale && !json && !call->set.verbose)
        print_note(call, "%zu socket(s) of processes that are gone; --verbose lists them", stale);
}

int run_ps(struct call *call)
{
    ttr_error error;
    struct json json = {.to = stdout}, *to = call->set.json ? &json : NULL;
    size_t seen[64] = {0}, words = call->paths_n < 64 ? call->paths_n : 64;
    call->paths_n = words;
    ttr_dotnet_list *list = ttr_dotnet_list_new(&error);
    if (!list) {
        report_error(call, "/proc", &error);
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
        show_stale_sockets(call, list, to);
    if (to) {
        json_close(to, ']');
        json_open(to, "trace_points", '[');
    }
    if (call->command->verb == VERB_PS && !call->set.environment)
        shown += show_traceables(call, to, seen);
    if (to) {
        json_close(to, ']');
        json_close(to, '}');
    } else if (shown == 0 && words == 0) {
        print_note(call, "no .NET process and no program with trace points can be seen");
    }
    for (size_t i = 0; i < words; i++)
        if (!seen[i])
            outcome = dotnet_report_no_match(call->path[i]);
    ttr_dotnet_list_free(list);
    return outcome;
}

int run_dump(struct call *call)
{
    call->set.environment = true;
    return run_ps(call);
}
