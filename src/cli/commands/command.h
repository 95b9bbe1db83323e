/* Commands: the table of their names, help texts and functions, and the arguments of one call.
 *
 * Help, man pages and completions are generated from this table and the table of options.
 * Ownership: a call borrows everything from main until the command ends. */
#ifndef TRACETTA_CLI_COMMANDS_COMMAND_H
#define TRACETTA_CLI_COMMANDS_COMMAND_H

#include <stdint.h>
#include <stdio.h>

#include "cli/ui/options.h"
#include "cli/ui/term.h"

/* Exit statuses, the same for every command. */
enum outcome {
    OUTCOME_FINE = 0,
    OUTCOME_NO = 1, /* no match, damage, a difference, or a lossy conversion under --strict */
    OUTCOME_MISUSE = 2,
    OUTCOME_INPUT = 3, /* an input is unreadable or not a trace */
    OUTCOME_OUTPUT = 4 /* writing the output failed, or the output is incomplete */
};

/* One bit per command. The table of options has a set of these bits per option. */
enum verb {
    VERB_INFO = 1u << 0,
    VERB_CAT = 1u << 1,
    VERB_CONVERT = 1u << 2,
    VERB_MERGE = 1u << 3,
    VERB_STAT = 1u << 4,
    VERB_TREE = 1u << 5,
    VERB_CHECK = 1u << 6,
    VERB_RECOVER = 1u << 7,
    VERB_FORMATS = 1u << 8,
    VERB_PS = 1u << 9,
    VERB_RECORD_DOTNET = 1u << 10,
    VERB_COUNTERS = 1u << 11,
    VERB_FLAME = 1u << 12,
    VERB_REPORT = 1u << 13,
    VERB_EVENTS = 1u << 14,
    VERB_DUMP = 1u << 15,
    VERB_RECORD_PERF = 1u << 16,
    VERB_RECORD = 1u << 17,
    VERB_QUERY = 1u << 18,
    VERB_LISTEN = 1u << 19,
    VERB_SEND = 1u << 20,
    VERB_DIFF = 1u << 22,
    VERB_ASSERT = 1u << 23,
    VERB_SESSION = 1u << 24,
    VERB_VIEW = 1u << 26
};

struct call {
    const struct command *command;
    struct settings set;
    struct terminal term;
    FILE *notes; /* second output for notes, written even with --quiet; NULL = none */
    char **path; /* operands of the command, such as paths of inputs */
    size_t paths_n;
};

/* Returns true with --json-times=string. */
static inline bool call_has_text_times(const struct call *call)
{
    return call->set.json_times && call->set.json_times[0] == 's';
}

struct command {
    const char *name; /* one word ("info"), or two ("record perf") */
    enum verb verb;
    const char *operands; /* "FILE..." */
    size_t operands_min, operands_max;
    const char *expected;        /* the operand that a command needs, for the error message; NULL =
                                  * "a file" */
    const char *summary;         /* summary for the list of commands, at most half a line */
    const char *about;           /* text of the help page: paragraphs separated by blank lines */
    const char *const *examples; /* alternating command lines and explanations; NULL at the end */
    int (*run)(struct call *call);
};

/* Returns the i-th command, or NULL after the last. */
const struct command *get_command(size_t i);

/* Returns the command with a name, or NULL. "record-perf" is another spelling of "record perf". */
const struct command *find_command(const char *name);

/* Returns true for the first word of commands with two words ("record"). */
bool command_is_group(const char *word);

/* Returns the command with a name of two words, or NULL. */
const struct command *find_command_pair(const char *first, const char *second);

/* Returns the name in one word, as man pages and completions need it: "record-perf".  It is valid
 * until the end of the statement that uses it. */
struct command_word {
    char s[32];
};
struct command_word command_word(const struct command *command);

int run_info(struct call *call);
int run_cat(struct call *call);
int run_convert(struct call *call);
int run_merge(struct call *call);
int run_stat(struct call *call);
int run_tree(struct call *call);
int run_flame(struct call *call);
int run_report(struct call *call);
int run_check(struct call *call);
int run_recover(struct call *call);
int run_formats(struct call *call);
int run_ps(struct call *call);
int run_dump(struct call *call);
int run_record_dotnet(struct call *call);
int run_record_perf(struct call *call);
int run_record(struct call *call);
int run_session(struct call *call);
int run_query(struct call *call);
int run_counters(struct call *call);
int run_events(struct call *call);
int run_listen(struct call *call);
int run_send(struct call *call);
int run_view(struct call *call);
int run_diff(struct call *call);
int run_assert(struct call *call);

#endif
