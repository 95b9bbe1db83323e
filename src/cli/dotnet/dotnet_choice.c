/* Finds .NET processes by pid or name. */
#include "cli/dotnet/dotnet_choice.h"

#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/command.h"
#include "cli/ui/messages.h"

static bool is_number_text(const char *word)
{
    return word[0] && !word[strspn(word, "0123456789")];
}

bool dotnet_process_matches(const char *word, const ttr_dotnet_process *process)
{
    char pid[32];
    size_t n = strlen(process->name);
    (void)snprintf(pid, sizeof pid, "%" PRIu64, process->pid);
    if (process->state == TTR_DOTNET_STALE)
        return false;
    if (is_number_text(word))
        return strcmp(word, pid) == 0;
    return strncmp(word, process->name, n) == 0 && (!word[n] || strcmp(word + n, ".dll") == 0);
}

int dotnet_report_no_match(const char *word)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%.32s", word);
    if (!is_number_text(word))
        report_failure_text(word, "no .NET process has this name; \"tracetta ps\" lists them");
    else if (access(path, F_OK) != 0)
        report_failure_text(word, "no such process exists");
    else
        report_failure_text(
            word, "this process has no visible diagnostic socket: it is not a .NET "
                  "process (3.0 or later), it runs with "
                  "DOTNET_EnableDiagnostics=0, or its TMPDIR is another one that only its "
                  "user and root can read");
    return OUTCOME_INPUT;
}

static int report_several_matches(const ttr_dotnet_list *list, const char *word)
{
    ttr_dotnet_process process = {.size = sizeof process};
    report_failure_text(word, "several .NET processes have this name; say which by its number:");
    for (size_t i = 0; ttr_dotnet_list_at(list, i, &process); i++)
        if (dotnet_process_matches(word, &process))
            (void)fprintf(stderr, "    %" PRIu64 "\n", process.pid);
    return OUTCOME_INPUT;
}

int dotnet_choose_process(const ttr_dotnet_list *list, const char *word,
                          ttr_dotnet_process *process)
{
    size_t n = 0;
    ttr_dotnet_process one = {.size = sizeof one};
    for (size_t i = 0; ttr_dotnet_list_at(list, i, &one); i++) {
        if (!dotnet_process_matches(word, &one))
            continue;
        *process = one;
        n++;
    }
    if (n == 0)
        return dotnet_report_no_match(word);
    if (n > 1)
        return report_several_matches(list, word);
    if (process->state != TTR_DOTNET_DENIED)
        return OUTCOME_FINE;
    report_failure_text(word, "no permission to use %s: run as %s%s", process->socket,
                        process->uid ? format_user_name(process->uid) : "root",
                        process->uid ? ", or as root" : "");
    return OUTCOME_INPUT;
}

const char *format_user_name(uint32_t uid)
{
    const struct passwd *user = getpwuid(uid);
    return user ? user->pw_name : "its user";
}

bool dotnet_parse_duration(const char *text, uint64_t *ns)
{
    static const uint64_t factors[] = {24, 60, 60};
    int64_t whole;
    if (!strchr(text, ':')) {
        if (!units_parse_seconds(text, &whole) || whole <= 0)
            return false;
        *ns = (uint64_t)whole;
        return true;
    }
    uint64_t seconds = 0, part;
    size_t parts = 1;
    for (const char *at = text; *at; at++)
        parts += *at == ':';
    for (size_t i = 4 - (parts <= 4 ? parts : 4); parts <= 4 && i < 4; i++) {
        char digits[16];
        size_t n = strcspn(text, ":");
        (void)snprintf(digits, sizeof digits, "%.*s", (int)n, text);
        if (n == 0 || n > 5 || !units_parse_count(digits, &part))
            return false;
        seconds = (i ? seconds * factors[i - 1] : 0) + part;
        text += n + (text[n] == ':');
    }
    *ns = seconds * 1000000000;
    return parts <= 4 && seconds > 0;
}
