/* The shell of query; see the header.
 *
 * A statement ends with ";", also over several lines. Tables and columns that a statement names for
 * the first time are read from the trace then. Ctrl-C ends the statement, or drops the line that is
 * being typed. */
#include "cli/commands/query_shell.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/commands/query_work.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/line_editor.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

struct shell {
    struct query_work *work;
    struct line_editor *editor;
    char *text; /* statements that are being typed */
    size_t text_n, text_capacity;
    bool has_timer, is_warned;
    int outcome;
};

static const char *const modes[] = {"table", "csv", "tsv", "json", "jsonl", "markdown", NULL};

/* --- Completion --- */

static const char *const words[] = {"SELECT",       "FROM",         "WHERE",
                                    "GROUP BY",     "ORDER BY",     "LIMIT",
                                    "HAVING",       "JOIN",         "LEFT JOIN",
                                    "USING",        "DISTINCT",     "BETWEEN",
                                    "GLOB",         "LIKE",         "IS NULL",
                                    "NOT",          "CASE",         "WHEN",
                                    "WITH",         "UNION",        "EXPLAIN QUERY PLAN",
                                    "OVER",         "PARTITION BY", "DESC",
                                    "count(",       "sum(",         "avg(",
                                    "min(",         "max(",         "percentile(",
                                    "median(",      "lag(",         "lead(",
                                    "row_number()", "coalesce(",    "substr(",
                                    "round(",       "extract_arg(", ".tables",
                                    ".schema",      ".timer",       ".mode",
                                    ".help",        ".quit"};

/* Returns true if a name is also an earlier one: columns of tables often have equal names. */
static bool is_repeated(const struct query_session *session, size_t at, const char *name)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(query_session_known_name(session, i), name) == 0)
            return true;
    return false;
}

/* Completes the names of tables and columns of all schemas, words of SQL, and commands. */
static char *complete_word(void *ctx, const char *prefix, size_t i)
{
    const struct shell *shell = ctx;
    const size_t n = strlen(prefix);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strncasecmp(words[k], prefix, n) == 0 && i-- == 0)
            return strdup(words[k]);
    for (size_t k = 0; k < shell->work->schemas_n; k++) {
        const struct query_session *session = &shell->work->schemas[k].session;
        const char *name;
        for (size_t at = 0; session->store && (name = query_session_known_name(session, at)); at++)
            if (strncasecmp(name, prefix, n) == 0 && !is_repeated(session, at, name) && i-- == 0)
                return strdup(name);
    }
    return NULL;
}

/* --- Commands --- */

static int print_help(struct shell *shell, const char *argument)
{
    (void)shell;
    (void)argument;
    (void)puts("SELECT ...;        runs a statement, which may have several lines\n"
               ".tables            lists the tables\n"
               ".schema [TABLE]    lists the columns of a table, or of all\n"
               ".mode MODE         prints rows as table, csv, tsv, json, jsonl or markdown\n"
               ".timer on|off      prints the time of each statement\n"
               ".help              prints this help\n"
               ".quit              ends the shell; so does Ctrl-D. Ctrl-C ends a statement");
    return OUTCOME_FINE;
}

static int list_tables(struct shell *shell, const char *argument)
{
    ttr_store_table table;
    (void)argument;
    const int outcome = query_work_reopen_if_needed(shell->work, "");
    for (size_t k = 0; outcome == OUTCOME_FINE && k < shell->work->schemas_n; k++) {
        const struct query_schema *schema = &shell->work->schemas[k];
        for (size_t i = 0; ttr_store_table_at(schema->session.store, i, &table); i++)
            if (!table.is_class || table.rows)
                (void)printf("%s%s%s%*s  %s\n", schema->name ? schema->name : "",
                             schema->name ? "." : "", table.name,
                             strlen(table.name) < 24 ? (int)(24 - strlen(table.name)) : 0, "",
                             table.description);
    }
    return outcome;
}

static void print_columns(const ttr_store *store, size_t i, const ttr_store_table *table)
{
    static const char *const types[] = {"INTEGER", "REAL", "TEXT"};
    ttr_store_column column;
    (void)printf("%s: %s\n", table->name, table->description);
    for (size_t k = 0; ttr_store_column_at(store, i, k, &column); k++)
        (void)printf("    %-16s %-8s %s\n", column.name, types[column.type], column.description);
}

static int print_schema(struct shell *shell, const char *argument)
{
    ttr_store_table table;
    bool is_found = *argument == '\0';
    /* An event of this name is read for its fields. */
    const int outcome = query_work_reopen_if_needed(shell->work, argument);
    const ttr_store *store = shell->work->schemas[0].session.store;
    for (size_t i = 0; outcome == OUTCOME_FINE && ttr_store_table_at(store, i, &table); i++)
        if (*argument ? strcasecmp(table.name, argument) == 0 && (!table.is_class || table.rows)
                      : !table.is_class) {
            print_columns(store, i, &table);
            is_found = true;
        }
    if (outcome == OUTCOME_FINE && !is_found)
        report_failure_text("query", "no such table: %s (\".tables\" lists them)", argument);
    return outcome == OUTCOME_FINE && !is_found ? OUTCOME_MISUSE : outcome;
}

static int set_timer(struct shell *shell, const char *argument)
{
    const bool is_on = strcmp(argument, "on") == 0;
    if (!is_on && strcmp(argument, "off") != 0) {
        report_failure_text("query", ".timer: expected \"on\" or \"off\"");
        return OUTCOME_MISUSE;
    }
    shell->has_timer = is_on;
    return OUTCOME_FINE;
}

static int set_mode(struct shell *shell, const char *argument)
{
    for (size_t i = 0; modes[i]; i++)
        if (strcmp(modes[i], argument) == 0) {
            shell->work->call->set.format = modes[i];
            return OUTCOME_FINE;
        }
    report_failure_text("query", ".mode: expected table, csv, tsv, json, jsonl or markdown");
    return OUTCOME_MISUSE;
}

/* Runs a line that starts with ".". Returns false to quit. */
static bool run_command(struct shell *shell, char *line)
{
    static const struct {
        const char *name;
        int (*run)(struct shell *shell, const char *argument);
    } commands[] = {{".help", print_help},
                    {".tables", list_tables},
                    {".schema", print_schema},
                    {".timer", set_timer},
                    {".mode", set_mode}};
    const char *name = strtok_r(line, " \t\r;", &line), *argument = strtok_r(NULL, " \t\r;", &line);
    if (!name || strcmp(name, ".quit") == 0 || strcmp(name, ".exit") == 0)
        return false;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0) {
            const int outcome = commands[i].run(shell, argument ? argument : "");
            shell->outcome = shell->outcome == OUTCOME_FINE ? outcome : shell->outcome;
            return true;
        }
    report_failure_text("query", "no such command: %s (\".help\" lists them)", name);
    shell->outcome = OUTCOME_MISUSE;
    return true;
}

/* --- Statements --- */

/* Returns true if a text ends after a complete statement: with ";" outside of quotes and comments.
 */
static bool is_complete(const char *text)
{
    bool is_end = false;
    while (*text) {
        const char c = *text;
        const char end = c == '[' ? ']' : c;
        if (c == '\'' || c == '"' || c == '`' || c == '[') {
            is_end = false;
            text = strchr(text + 1, end);
            if (!text)
                return false;
            text++;
        } else if (c == '-' && text[1] == '-') {
            text += strcspn(text, "\n");
        } else if (c == '/' && text[1] == '*') {
            text = strstr(text + 2, "*/");
            if (!text)
                return false;
            text += 2;
        } else {
            is_end = c == ';' || (is_end && strchr(" \t\r\n", c));
            text++;
        }
    }
    return is_end;
}

/* Warns of damage once, when the trace has been read. */
static void warn_once(struct shell *shell)
{
    if (shell->is_warned || !shell->work->query)
        return;
    shell->is_warned = true;
    const int outcome = query_work_warn(shell->work, OUTCOME_FINE);
    if (shell->outcome == OUTCOME_FINE)
        shell->outcome = outcome;
}

static void run_text(struct shell *shell)
{
    const char *sql = query_session_skip_blank(shell->text);
    const uint64_t begin = progress_now();
    if (*sql) {
        int outcome = query_work_reopen_if_needed(shell->work, sql);
        warn_once(shell);
        if (outcome == OUTCOME_FINE && !interrupt_was_received())
            outcome = query_work_run(shell->work, sql);
        if (!line_editor_is_interactive(shell->editor) && outcome != OUTCOME_FINE)
            shell->outcome = outcome;
        if (interrupt_was_received() == SIGINT)
            (void)fputs("tracetta: the statement was interrupted\n", stderr);
        if (shell->has_timer)
            (void)fprintf(stderr, "time: %s\n", units_duration(progress_now() - begin).s);
    }
    shell->text_n = 0;
}

/* Appends a line to the text. Returns false if it becomes too long. */
static bool append_line(struct shell *shell, const char *line)
{
    const size_t n = strlen(line), need = shell->text_n + n + 2;
    if (need > QUERY_SQL_MAX)
        return false;
    if (need > shell->text_capacity) {
        char *grown = realloc(shell->text, 2 * need);
        if (!grown)
            return false;
        shell->text = grown;
        shell->text_capacity = 2 * need;
    }
    memcpy(shell->text + shell->text_n, line, n);
    shell->text_n += n;
    shell->text[shell->text_n++] = '\n';
    shell->text[shell->text_n] = '\0';
    return true;
}

/* Handles one line. Returns false to quit. */
static bool handle_line(struct shell *shell, char *line)
{
    const char *begin = line + strspn(line, " \t");
    if (shell->text_n == 0 && *begin == '.') {
        line_editor_remember(shell->editor, line);
        return run_command(shell, line);
    }
    if (shell->text_n == 0 && *begin == '\0')
        return true;
    if (!append_line(shell, line)) {
        report_failure_text("query", "the statement is larger than 16 MiB");
        shell->outcome = OUTCOME_MISUSE;
        return false;
    }
    /* Only such a line can complete a statement: others need not read the text before them. */
    const bool can_end = strchr(line, ';') || strstr(line, "*/");
    if (can_end && is_complete(shell->text)) {
        shell->text[shell->text_n - 1] = '\0';
        line_editor_remember(shell->editor, shell->text);
        run_text(shell);
    }
    return true;
}

static void read_lines(struct shell *shell)
{
    bool goes_on = true, is_interrupted = false;
    while (goes_on) {
        char *line = line_editor_read(shell->editor, shell->text_n ? "     ...> " : "tracetta> ",
                                      &is_interrupted);
        const int stop = interrupt_was_received();
        if (line && !stop)
            goes_on = handle_line(shell, line);
        else if (is_interrupted || stop)
            shell->text_n = 0; /* drops what was typed */
        else
            goes_on = false;
        free(line);
        const int signal = interrupt_was_received();
        if (signal && (signal != SIGINT || !line_editor_is_interactive(shell->editor)))
            return;
        if (signal) {
            (void)putchar('\n');
            interrupt_clear();
        }
        if (fflush(stdout) != 0)
            return; /* the reader of the answers has ended */
    }
    if (shell->text_n)
        run_text(shell); /* the last statement needs no ";" */
}

/* Makes the path of the history, and its folder. Returns false if there is none. */
static bool find_history(char path[PATH_MAX])
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = base && base[0] == '/' ? snprintf(path, PATH_MAX, "%s/tracetta/history", base)
            : home && home[0] == '/'
                ? snprintf(path, PATH_MAX, "%s/.local/state/tracetta/history", home)
                : -1;
    if (n <= 0 || n >= PATH_MAX)
        return false;
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    return true;
}

int run_query_shell(struct query_work *work)
{
    char history[PATH_MAX];
    struct shell shell = {.work = work};
    shell.editor = line_editor_new(find_history(history) ? history : NULL, complete_word, &shell);
    if (!shell.editor) {
        report_failure_text("query", "out of memory");
        return OUTCOME_INPUT;
    }
    if (line_editor_is_interactive(shell.editor)) {
        query_work_want(work, QUERY_USUAL_COLUMNS);
        shell.outcome = query_work_open(work);
        warn_once(&shell);
        if (shell.outcome < OUTCOME_MISUSE)
            (void)puts("Type a statement that ends with \";\", or \".help\".");
    }
    if (shell.outcome < OUTCOME_MISUSE && !interrupt_was_received())
        read_lines(&shell);
    warn_once(&shell);
    line_editor_free(shell.editor);
    free(shell.text);
    return shell.outcome;
}
