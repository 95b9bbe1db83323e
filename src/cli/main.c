/* The program: finds the command, parses its options, runs it, and checks that all output was
 * written. Each command is a file in commands/. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/tracetta.h>

#include "cli/commands/command.h"
#include "cli/commands/synonyms.h"
#include "cli/ui/help.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"

/* Flushes stdout and reports write errors that were not checked before. A reader that closed the
 * pipe ("| head") is not an error. Returns the outcome. */
static int close_stdout(struct terminal *term, int outcome)
{
    bool to_pager = term->pager != 0;
    errno = 0;
    bool is_bad = fflush(stdout) != 0 || ferror(stdout);
    int reason = errno;
    term_end(term);
    bool is_reported = outcome == OUTCOME_OUTPUT;
    return !is_bad || to_pager || is_reported ? outcome : report_output_error(reason);
}

/* Returns true if a word names a file rather than a process: the file exists, and no process has
 * this name. */
static bool is_data_file(const char *word)
{
    struct stat about;
    const size_t n = strlen(word);
    const bool is_number = n > 0 && strspn(word, "0123456789") == n;
    const bool is_program = n > 4 && strcmp(word + n - 4, ".dll") == 0;
    return !is_number && !is_program && stat(word, &about) == 0 && S_ISREG(about.st_mode) &&
           access(word, X_OK) != 0;
}

/* Reports operands that the command cannot use. Returns OUTCOME_FINE if it can use all. */
static int check_operands(const struct call *call)
{
    const struct command *command = call->command;
    const char *use = command->verb == VERB_DUMP       ? "tracetta cat"
                      : command->verb == VERB_COUNTERS ? "tracetta report counters"
                      : command->verb == VERB_PS       ? "tracetta info"
                                                       : NULL;
    if (call->paths_n < command->operands_min)
        return report_misuse(command->name, "%s expects %s", command->name,
                             command->expected ? command->expected
                                               : "a file (\"-\" is standard input)");
    if (call->paths_n > command->operands_max)
        return report_misuse(command->name, "%s accepts %zu file, and \"%s\" is one more",
                             command->name, command->operands_max,
                             call->path[command->operands_max]);
    if (use && call->paths_n > 0 && !call->set.has_separator && is_data_file(call->path[0]))
        return report_misuse(command->name, "%s is a file: %s expects a process; use \"%s %s\"",
                             call->path[0], command->name, use, call->path[0]);
    return OUTCOME_FINE;
}

static int run_command(const struct command *command, char **argv, int n)
{
    struct call call = {.command = command};
    int operands = options_parse(command->verb, argv, n, &call.set);
    int outcome = OUTCOME_MISUSE;
    call.path = argv;
    call.paths_n = operands > 0 ? (size_t)operands : 0;
    if (operands >= 0)
        term_init(&call.term, &call.set);
    if (operands >= 0 && call.set.help) {
        print_command_help(stdout, command);
        outcome = OUTCOME_FINE;
    } else if (operands >= 0) {
        outcome = check_operands(&call);
        outcome = outcome == OUTCOME_FINE ? command->run(&call) : outcome;
    }
    outcome = close_stdout(&call.term, outcome);
    settings_free(&call.set);
    /* Ctrl-C is the usual end of recording and watching, not an interruption. */
    const uint32_t lasting = VERB_RECORD_DOTNET | VERB_RECORD_PERF | VERB_RECORD | VERB_COUNTERS |
                             VERB_LISTEN | VERB_VIEW;
    if (interrupt_was_received() && outcome <= OUTCOME_NO && !(command->verb & lasting)) {
        print_note(&call, "interrupted");
        return 128 + interrupt_was_received();
    }
    return outcome;
}

static const char *verb_name_at(const void *ctx, size_t i)
{
    (void)ctx;
    return get_command(i) ? get_command(i)->name : NULL;
}

/* Reports that a word is not a command, and suggests the one that was probably meant. */
static int refuse_word(const char *word)
{
    const struct synonym *synonym = find_synonym(word);
    const char *near = print_nearest_word(word, verb_name_at, NULL);
    if (synonym)
        return report_misuse(NULL, "unknown command \"%s\": use %s, as in: %s", word,
                             synonym->command, synonym->example);
    if (near)
        return report_misuse(NULL, "unknown command \"%s\" (did you mean %s?)", word, near);
    return report_misuse(NULL, "\"%s\" is neither a command nor a file", word);
}

/* Prints the help of the command that n words name, or explains a diagnostic code. */
static int run_help(const char *const *words, int n)
{
    if (n > 0 && strchr(words[0], '.') && print_code_help(stdout, words[0]))
        return close_stdout(&(struct terminal){0}, OUTCOME_FINE);
    const struct command *pair = n > 1 ? find_command_pair(words[0], words[1]) : NULL;
    const struct command *command = pair ? pair : n > 0 ? find_command(words[0]) : NULL;
    if (n > 0 && !command && !command_is_group(words[0]))
        return refuse_word(words[0]);
    if (command)
        print_command_help(stdout, command);
    else if (n > 0)
        print_group_help(stdout, words[0]);
    else
        print_help_overview(stdout);
    return close_stdout(&(struct terminal){0}, OUTCOME_FINE);
}

/* Runs the hidden commands of the build: "__man [COMMAND]", "__complete SHELL". */
static int run_hidden_command(const char *what, const char *of)
{
    bool is_manual = strcmp(what, "__man") == 0;
    const struct command *command = is_manual && of ? find_command(of) : NULL;
    if (is_manual && of && !command)
        return refuse_word(of);
    if (is_manual)
        print_manual(stdout, command);
    else if (!of || !print_completion(stdout, of))
        return report_misuse(NULL, "__complete expects bash, zsh or fish");
    return close_stdout(&(struct terminal){0}, OUTCOME_FINE);
}

/* Opens /dev/null for each standard descriptor that is closed. Otherwise the next file would get
 * its number, and messages would be written to that file. The access mode is the wrong one, so that
 * using the descriptor fails. */
static void reopen_closed_stdio(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(OUTCOME_OUTPUT);
}

/* Raises the limit of open files to its maximum: merging needs a descriptor per file. */
static void raise_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Runs without a command: shows the files, or reports a misspelt command. */
static int run_on_files(char **argv, int n, int first)
{
    const char *word = first < n ? argv[first] : "-";
    if (strpbrk(word, "-./") || access(word, F_OK) == 0)
        return run_command(find_command("info"), argv, n);
    return refuse_word(word);
}

/* Returns the index of the first word, from `at` on, that is neither an option nor the value of an
 * option. */
static int find_word(char **argv, int n, int at)
{
    while (at < n && argv[at][0] == '-' && argv[at][1] && strcmp(argv[at], "--") != 0)
        at += (int)option_words(argv[at], at + 1 < n ? argv[at + 1] : NULL);
    return at < n ? at : n;
}

/* Removes a word from argv, so that the options before and after it form one list. Returns the new
 * number of words. */
static int remove_word(char **argv, int n, int at)
{
    memmove(argv + at, argv + at + 1, (size_t)(n - at - 1) * sizeof *argv);
    return n - 1;
}

static bool has_word(char **argv, int n, const char *word)
{
    for (int i = 0; i < n && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

/* Returns true if the option --attach is among the words. */
static bool has_attach(char **argv, int n)
{
    static const char option[] = "--attach";
    for (int i = 0; i < n && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], option, sizeof option - 1) == 0)
            return true;
    return false;
}

/* Reports that the second word of a command ("record ...") is missing, or prints the help of its
 * group. */
static int refuse_group(const char *group, char **argv, int n, int at)
{
    if (has_word(argv, n, "--help") || has_word(argv, n, "-h"))
        return run_help(&group, 1);
    for (size_t i = 0; get_command(i); i++) {
        const char *space = strchr(get_command(i)->name, ' ');
        char option[32];
        (void)snprintf(option, sizeof option, "--%s", space ? space + 1 : "");
        if (space && has_word(argv, n, option))
            return report_misuse(get_command(i)->name, "%s is a command: use \"tracetta %s\"",
                                 option, get_command(i)->name);
    }
    if (at < n && strcmp(argv[at], "--") != 0)
        return report_misuse(group,
                             "%s cannot record \"%s\": use \"tracetta record -- COMMAND\" for "
                             "trace points, \"tracetta record dotnet PID\" or \"tracetta record "
                             "perf -- COMMAND\"",
                             group, argv[at]);
    return report_misuse(group,
                         "%s expects \"--\" and a command with trace points, \"tracetta record "
                         "dotnet\" for a .NET process, or \"tracetta record perf\" for events of "
                         "the kernel",
                         group);
}

/* Finds the command among argv[0 .. n) and runs it. */
static int run_command_line(char **argv, int n)
{
    const int at = find_word(argv, n, 0);
    const char *word = at < n ? argv[at] : "";
    const bool is_group = command_is_group(word);
    const struct command *command = find_command(word);
    if (strcmp(word, "help") == 0)
        return run_help((const char *const *)argv + at + 1, n - at - 1);
    if (strncmp(word, "__", 2) == 0 && at == 0)
        return run_hidden_command(word, n > 1 ? argv[1] : NULL);
    if (has_word(argv, at, "--version") || has_word(argv, at, "-V")) {
        (void)printf("tracetta %s\n", ttr_version());
        return close_stdout(&(struct terminal){0}, OUTCOME_FINE);
    }
    if (!command && !is_group && (has_word(argv, n, "--help") || has_word(argv, n, "-h")))
        return run_help((const char *const *)argv + at, at < n && find_synonym(word) ? 1 : 0);
    if (!command && !is_group)
        return run_on_files(argv, n, at);
    n = remove_word(argv, n, at);
    if (!is_group)
        return run_command(command, argv, n);
    const int second = find_word(argv, n, at);
    /* "record -- COMMAND" and "record --attach" are the command that has the name of the group. */
    if (command && ((second < n && strcmp(argv[second], "--") == 0) || has_attach(argv, n)))
        return run_command(command, argv, n);
    command = second < n ? find_command_pair(word, argv[second]) : NULL;
    return command ? run_command(command, argv, remove_word(argv, n, second))
                   : refuse_group(word, argv, n, second);
}

int main(int argc, char **argv)
{
    reopen_closed_stdio();
    raise_open_files();
    interrupt_init();
    if (argc < 2) {
        print_help_overview(stderr);
        return OUTCOME_MISUSE;
    }
    return run_command_line(argv + 1, argc - 1);
}
