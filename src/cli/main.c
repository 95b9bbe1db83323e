/* The command: finds the verb, reads its options, runs it, and sees that stdout arrived.  One file
 * per verb beside this one. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <tracetta/tracetta.h>

#include "cli/commands/command.h"
#include "cli/ui/help.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"

/* What went to stdout may have failed long after printf.  A reader that went away ("| head") is not
 * our failure. */
static int end_output(struct terminal *term, int outcome)
{
    bool to_pager = term->pager != 0;
    errno = 0;
    bool is_bad = fflush(stdout) != 0 || ferror(stdout);
    int reason = errno;
    term_end(term);
    bool is_told = outcome == OUTCOME_OUTPUT;
    return !is_bad || to_pager || is_told ? outcome : talk_output_failed(reason);
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
        help_command(stdout, command);
        outcome = OUTCOME_FINE;
    } else if (operands >= 0 && call.paths_n < command->operands_min) {
        outcome =
            talk_misuse(command->name, "%s %s", command->name,
                        command->verb == VERB_DUMP
                            ? "wants a process, by number or name; \"tracetta ps\" lists them"
                        : command->verb == VERB_EVENTS ? "wants one of list, register, delete"
                                                       : "wants a file (\"-\" is standard input)");
    } else if (operands >= 0 && call.paths_n > command->operands_max) {
        outcome = talk_misuse(command->name, "%s takes no \"%s\"", command->name,
                              call.path[command->operands_max]);
    } else if (operands >= 0) {
        outcome = command->run(&call);
    }
    outcome = end_output(&call.term, outcome);
    settings_free(&call.set);
    /* Ctrl-C is how these are ended, and no failure. */
    if (interrupt_came() && outcome <= OUTCOME_NO &&
        !(command->verb & (VERB_RECORD | VERB_COUNTERS))) {
        talk_note(&call, "interrupted");
        return 128 + interrupt_came();
    }
    return outcome;
}

static const char *verb_name_at(const void *own, size_t i)
{
    (void)own;
    return command_at(i) ? command_at(i)->name : NULL;
}

static int run_help(const char *name)
{
    const struct command *command = name ? command_find(name) : NULL;
    if (name && !command)
        return talk_misuse(NULL, "there is no command \"%s\"", name);
    if (command)
        help_command(stdout, command);
    else
        help_overview(stdout);
    return end_output(&(struct terminal){0}, OUTCOME_FINE);
}

/* For the build: "__man [COMMAND]", "__complete SHELL". */
static int run_hidden(const char *what, const char *of)
{
    bool is_manual = strcmp(what, "__man") == 0;
    const struct command *command = is_manual && of ? command_find(of) : NULL;
    if (is_manual && of && !command)
        return talk_misuse(NULL, "there is no command \"%s\"", of);
    if (is_manual)
        manual_print(stdout, command);
    else if (!of || !complete_print(stdout, of))
        return talk_misuse(NULL, "__complete wants bash, zsh or fish");
    return end_output(&(struct terminal){0}, OUTCOME_FINE);
}

/* A closed descriptor would go to the next file that is opened, and what is said would end up in
 * there.  What fills its place is open the wrong way round, so that using it still fails. */
static void fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(OUTCOME_OUTPUT);
}

/* Merging many files needs as many descriptors; nothing here minds large ones. */
static void raise_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* A word that is no verb: a file to look at, or a slip. */
static int run_other(char **argv, int n)
{
    const char *word = argv[0];
    if (word[0] == '-' || strpbrk(word, "./") || access(word, F_OK) == 0)
        return run_command(command_find("info"), argv, n);
    const char *near = talk_nearest(word, verb_name_at, NULL);
    if (near)
        return talk_misuse(NULL, "unknown command \"%s\" (did you mean %s?)", word, near);
    return talk_misuse(NULL, "\"%s\" is an unknown command, and no file", word);
}

int main(int argc, char **argv)
{
    fill_standard();
    raise_open_files();
    interrupt_init();
    if (argc < 2) {
        help_overview(stderr);
        return OUTCOME_MISUSE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        (void)printf("tracetta %s\n", ttr_version());
        return end_output(&(struct terminal){0}, OUTCOME_FINE);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return run_help(NULL);
    if (strcmp(word, "help") == 0)
        return run_help(argc > 2 ? argv[2] : NULL);
    if (strcmp(word, "__man") == 0 || strcmp(word, "__complete") == 0)
        return run_hidden(word, argc > 2 ? argv[2] : NULL);
    const struct command *command = command_find(word);
    return command ? run_command(command, argv + 2, argc - 2) : run_other(argv + 1, argc - 1);
}
