/* Command names of other tools, and the commands that replace them here. */
#ifndef TRACETTA_CLI_COMMANDS_SYNONYMS_H
#define TRACETTA_CLI_COMMANDS_SYNONYMS_H

/* A word that is not a command, and the command to use for it. */
struct synonym {
    const char *word;    /* word that a user may type, such as "grep" */
    const char *command; /* command to use instead, such as "cat" */
    const char *example; /* "tracetta cat --name='net*' trace.fxt" */
};

/* Returns the entry of a word, or NULL. */
const struct synonym *find_synonym(const char *word);

#endif
