/* What a verb is: a row of the table in commands.c, run with what the user asked for.
 *
 * Help, man pages and completions are made from that table and from the table of options; nothing
 * is said twice. Ownership: a call borrows everything from main until the command ends. */
#ifndef TRACETTA_CLI_COMMANDS_COMMAND_H
#define TRACETTA_CLI_COMMANDS_COMMAND_H

#include <stdint.h>

#include "cli/ui/options.h"
#include "cli/ui/term.h"

/* Exit statuses, the same for every verb. */
enum outcome {
    OUTCOME_FINE = 0,
    OUTCOME_NO = 1, /* damaged, different, lossy under --strict */
    OUTCOME_MISUSE = 2,
    OUTCOME_INPUT = 3, /* unreadable or not a trace */
    OUTCOME_OUTPUT = 4 /* failed or partial */
};

/* One bit per verb: says which options it takes. */
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
    VERB_RECORD = 1u << 10,
    VERB_COUNTERS = 1u << 11,
    VERB_FLAME = 1u << 12,
    VERB_REPORT = 1u << 13,
    VERB_EVENTS = 1u << 14,
    VERB_DUMP = 1u << 15
};

struct call {
    const struct command *command;
    struct settings set;
    struct terminal term;
    char **path; /* operands */
    size_t paths_n;
};

struct command {
    const char *name;
    enum verb verb;
    const char *operands; /* "FILE..." */
    size_t operands_min, operands_max;
    const char *summary;         /* half a line */
    const char *about;           /* paragraphs, separated by blank lines */
    const char *const *examples; /* command and what it does, alternating; NULL at the end */
    int (*run)(struct call *call);
};

/* The i-th verb, or NULL past the end. */
const struct command *command_at(size_t i);

/* The verb of that name, or NULL. */
const struct command *command_find(const char *name);

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
int run_record(struct call *call);
int run_counters(struct call *call);
int run_events(struct call *call);

#endif
