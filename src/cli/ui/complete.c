/* Completion scripts for bash, zsh and fish: commands, their options, and values that are lists. */
#include <string.h>

#include <tracetta/collect.h>
#include <tracetta/formats.h>
#include <tracetta/profile.h>

#include "cli/ui/help.h"

/* Prints the possible values of an option, separated by blanks. Prints nothing if any text is
 * possible. */
static void write_choices(FILE *to, const char *choices)
{
    ttr_format_info info;
    if (!choices || strcmp(choices, "@file") == 0)
        return;
    if (choices[0] != '@') {
        for (; *choices; choices++)
            (void)fputc(*choices == '|' ? ' ' : *choices, to);
        return;
    }
    if (strcmp(choices, "@kinds") == 0) {
        for (unsigned kind = TTR_KIND_INSTANT; kind < TTR_KIND_DEFINITION; kind++)
            (void)fprintf(to, "%s ", ttr_kind_text(kind));
        return;
    }
    const char *profile, *text;
    if (strcmp(choices, "@profiles") == 0) {
        for (size_t i = 0; ttr_dotnet_profile(i, &profile, &text); i++)
            (void)fprintf(to, "%s ", profile);
        return;
    }
    ttr_profile_format profile_format;
    for (size_t i = 0;
         strcmp(choices, "@outputs") == 0 && ttr_profile_format_get(i, &profile_format); i++)
        (void)fprintf(to, "%s ", profile_format.name);
    if (strcmp(choices, "@outputs") == 0)
        (void)fputs("parquet arrow sqlite ", to);
    uint32_t ability = strcmp(choices, "@readers") == 0 ? TTR_FORMAT_READS : TTR_FORMAT_WRITES;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (info.abilities & ability)
            (void)fprintf(to, "%s ", info.name);
}

/* Prints text inside single quotes of a shell. */
static void write_quoted(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            (void)fputs("'\\''", to);
        else
            (void)fputc(*text, to);
    }
}

/* Prints the first word of each command once; commands that share it are neighbours in the table.
 */
static void write_first_words(FILE *to)
{
    const char *before = "";
    for (size_t i = 0; get_command(i); i++) {
        const char *name = get_command(i)->name;
        const size_t n = strcspn(name, " ");
        if (strncmp(before, name, n) != 0 || (before[n] != ' ' && before[n] != '\0'))
            (void)fprintf(to, "%.*s ", (int)n, name);
        before = name;
    }
}

/* Calls `put` for each command of two words, with its first and second word. */
static void write_second_words(FILE *to,
                               void (*put)(FILE *to, const char *group, int n, const char *word))
{
    for (size_t i = 0; get_command(i); i++) {
        const char *name = get_command(i)->name, *space = strchr(name, ' ');
        if (space)
            put(to, name, (int)(space - name), space + 1);
    }
}

static void write_bash_second_word(FILE *to, const char *group, int n, const char *word)
{
    (void)fprintf(to, "    [ \"${COMP_WORDS[1]}\" = %.*s ] && words+=\" %s\"\n", n, group, word);
}

static void write_fish_second_word(FILE *to, const char *group, int n, const char *word)
{
    (void)fprintf(to,
                  "complete -c tracetta -f -n '__fish_seen_subcommand_from %.*s; and not "
                  "__fish_seen_subcommand_from %s' -a %s\n",
                  n, group, word, word);
}

/* Prints the shell pattern for an option: command and option name, since several commands may have
 * an option of this name. */
static void write_bash_pattern(FILE *to, const struct option_row *row)
{
    bool is_first = true;
    (void)fputs("    ", to);
    for (size_t i = 0; get_command(i); i++) {
        if (!(row->verbs & get_command(i)->verb))
            continue;
        (void)fprintf(to, "%s%s--%s", is_first ? "" : "|", command_word(get_command(i)).s,
                      row->name);
        is_first = false;
    }
    (void)fputs(") words=\"", to);
}

static void write_bash_completion(FILE *to)
{
    const struct option_row *row;
    (void)fputs(
        "# bash completion of tracetta\n_tracetta()\n{\n    local word=${COMP_WORDS[COMP_CWORD]} "
        "option=${COMP_WORDS[COMP_CWORD-1]} "
        "verb=${COMP_WORDS[1]} words=\n    COMPREPLY=()\n"
        "    [ $COMP_CWORD -gt 2 ] && [ \"$verb\" = record ] && verb=record-${COMP_WORDS[2]}\n"
        "    [ \"$word\" = = ] && word=\n"
        "    [ \"$option\" = = ] && option=${COMP_WORDS[COMP_CWORD-2]}\n    case $verb$option in\n",
        to);
    for (size_t i = 0; (row = option_at(i)); i++) {
        if (!row->choices || strcmp(row->choices, "@file") == 0)
            continue;
        write_bash_pattern(to, row);
        write_choices(to, row->choices);
        (void)fputs("\" ;;\n", to);
    }
    (void)fputs("    esac\n    if [ -n \"$words\" ]; then\n        mapfile -t COMPREPLY < "
                "<(compgen -W \"$words\" -- \"$word\")\n        return\n    fi\n"
                "    case $verb in\n",
                to);
    for (size_t i = 0; get_command(i); i++) {
        (void)fprintf(to, "    %s) words=\"", command_word(get_command(i)).s);
        for (size_t j = 0; (row = option_at(j)); j++)
            if (row->verbs & get_command(i)->verb)
                (void)fprintf(to, "--%s%s ", row->name, option_wants_value(row) ? "=" : "");
        (void)fputs("\" ;;\n", to);
    }
    (void)fputs("    help) words=\"", to);
    write_first_words(to);
    (void)fputs("\" ;;\n    esac\n    [ \"$COMP_CWORD\" = 1 ] && words=\"help --version --help ",
                to);
    write_first_words(to);
    (void)fputs("\"\n    if [ \"$COMP_CWORD\" = 2 ]; then\n", to);
    write_second_words(to, write_bash_second_word);
    (void)fputs(
        "    fi\n    if [[ $word == -* || $COMP_CWORD = 1 || $verb = help || $verb = record ]]; "
        "then\n"
        "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n    fi\n"
        "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n    return 0\n}\n"
        "complete -o default -F _tracetta tracetta\n",
        to);
}

static void write_zsh_option(FILE *to, const struct option_row *row)
{
    (void)fprintf(to, "            '%s--%s%s[", row->type == OPTION_WORDS ? "*" : "", row->name,
                  option_wants_value(row) ? "=" : "");
    for (const char *text = row->text; *text; text++) {
        if (*text == '[' || *text == ']' || *text == ':')
            (void)fputc('\\', to);
        if (*text == '\'')
            (void)fputs("'\\'", to);
        (void)fputc(*text, to);
    }
    (void)fputc(']', to);
    if (option_wants_value(row)) {
        (void)fputs(": :", to);
        if (row->choices && strcmp(row->choices, "@file") == 0) {
            (void)fputs("_files", to);
        } else if (row->choices) {
            (void)fputc('(', to);
            write_choices(to, row->choices);
            (void)fputc(')', to);
        }
    }
    (void)fputs("' \\\n", to);
}

static void write_zsh_completion(FILE *to)
{
    const struct option_row *row;
    (void)fputs("#compdef tracetta\n_tracetta()\n{\n    local -a verbs=(\n", to);
    for (size_t i = 0; get_command(i); i++) {
        (void)fprintf(to, "        '%.*s:", (int)strcspn(get_command(i)->name, " "),
                      get_command(i)->name);
        write_quoted(to, get_command(i)->summary);
        (void)fputs("'\n", to);
    }
    (void)fputs(
        "        'help:explain a command'\n    )\n    if (( CURRENT == 2 )); then\n        "
        "_describe command verbs\n        _files\n        return\n    fi\n"
        "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
        "    if [[ $verb == record ]]; then\n"
        "        if (( CURRENT == 2 )); then\n            compadd dotnet perf\n            return\n"
        "        fi\n        verb=record-$words[2]\n        shift words\n        (( CURRENT-- ))\n"
        "    fi\n    case $verb in\n",
        to);
    for (size_t i = 0; get_command(i); i++) {
        (void)fprintf(to, "    %s)\n        _arguments -s \\\n", command_word(get_command(i)).s);
        for (size_t j = 0; (row = option_at(j)); j++)
            if (row->verbs & get_command(i)->verb)
                write_zsh_option(to, row);
        (void)fputs("            '*: :_files' ;;\n", to);
    }
    (void)fputs(
        "    help) _describe command verbs ;;\n    *) _files ;;\n    esac\n}\n_tracetta \"$@\"\n",
        to);
}

static void write_fish_completion(FILE *to)
{
    const struct option_row *row;
    (void)fputs("# fish completion of tracetta\n", to);
    for (size_t i = 0; get_command(i); i++) {
        (void)fprintf(to, "complete -c tracetta -n __fish_use_subcommand -a %.*s -d '",
                      (int)strcspn(get_command(i)->name, " "), get_command(i)->name);
        write_quoted(to, get_command(i)->summary);
        (void)fputs("'\n", to);
    }
    write_second_words(to, write_fish_second_word);
    for (size_t j = 0; (row = option_at(j)); j++) {
        (void)fputs("complete -c tracetta -n '__fish_seen_subcommand_from", to);
        for (size_t i = 0; get_command(i); i++)
            if (row->verbs & get_command(i)->verb) {
                const char *space = strchr(get_command(i)->name, ' ');
                (void)fprintf(to, " %s", space ? space + 1 : get_command(i)->name);
            }
        (void)fprintf(to, "' -l %s", row->name);
        if (row->letter)
            (void)fprintf(to, " -s %c", row->letter);
        if (option_wants_value(row))
            (void)fputs(row->choices && strcmp(row->choices, "@file") == 0 ? " -r" : " -x", to);
        if (row->choices && strcmp(row->choices, "@file") != 0) {
            (void)fputs(" -a '", to);
            write_choices(to, row->choices);
            (void)fputc('\'', to);
        }
        (void)fputs(" -d '", to);
        write_quoted(to, row->text);
        (void)fputs("'\n", to);
    }
}

bool print_completion(FILE *to, const char *shell)
{
    static const struct {
        const char *shell;
        void (*put)(FILE *to);
    } shells[] = {{"bash", write_bash_completion},
                  {"zsh", write_zsh_completion},
                  {"fish", write_fish_completion}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].shell, shell) != 0)
            continue;
        shells[i].put(to);
        return true;
    }
    return false;
}
