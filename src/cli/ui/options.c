/* The parser of options (options_table.c).
 *
 * The parser accepts long options with "=" or with the value as the next word, bundled letters, and
 * options anywhere between operands. It does not accept abbreviated long options: a script with one
 * would break when a similar option is added. */
#include "cli/ui/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/formats.h>
#include <tracetta/profile.h>

#include "cli/commands/command.h"
#include "cli/commands/table_output.h"
#include "cli/ui/messages.h"
#include "cli/ui/option_sets.h"

const struct option_row *option_at(size_t i)
{
    return i < option_table_n ? &option_table[i] : NULL;
}

const char *option_group_title(unsigned group)
{
    static const char *const titles[GROUP_COUNT] = {"Options", "Which events", "Input", "General",
                                                    "With --style=babeltrace2"};
    return titles[group];
}

/* State of parsing a command line. */
struct parse {
    uint32_t verb;
    char **argv;
    int n, at, operands;
    struct settings *settings;
    const char *verb_name;
};

static const struct option_row *find_option(uint32_t verb, const char *name, size_t name_n,
                                            char letter)
{
    const struct option_row *row;
    for (size_t i = 0; (row = option_at(i)); i++) {
        bool is_it = name ? strlen(row->name) == name_n && memcmp(row->name, name, name_n) == 0
                          : row->letter == letter;
        if (is_it && row->verbs & verb)
            return row;
    }
    return NULL;
}

/* Returns the name of the i-th option; "" if another command has it; or NULL. */
static const char *option_name_at(const void *ctx, size_t i)
{
    const struct parse *parse = ctx;
    const struct option_row *row = option_at(i);
    if (!row)
        return NULL;
    return row->verbs & parse->verb ? row->name : "";
}

static bool is_listed(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *at = choices; *at; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == n && memcmp(at, value, n) == 0)
            return true;
    return false;
}

static bool is_format(const char *name, uint32_t ability)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (info.abilities & ability && strcmp(info.name, name) == 0)
            return true;
    return false;
}

/* Lists the names of the formats with an ability, for messages. */
static void list_formats(uint32_t ability, char *to, size_t size)
{
    ttr_format_info info;
    size_t n = 0;
    to[0] = '\0';
    for (size_t i = 0; ttr_format_get(i, &info) && n < size; i++)
        if (info.abilities & ability)
            n += (size_t)snprintf(to + n, size - n, "%s%s", n ? ", " : "", info.name);
}

/* Returns true if a value looks like a time: the user probably means --start or --end. */
static bool looks_like_time(const char *value)
{
    struct moment moment;
    return strchr("+-0123456789", *value) && units_parse_moment(value, &moment);
}

static bool is_profile_format(const char *name)
{
    ttr_profile_format format;
    for (size_t i = 0; ttr_profile_format_get(i, &format); i++)
        if (strcmp(format.name, name) == 0)
            return true;
    return false;
}

/* Reports that a value of --from or --to is not a format. Returns false. */
static bool refuse_format(const struct parse *parse, const struct option_row *row,
                          const char *value)
{
    char names[240];
    const bool is_read = strcmp(row->choices, "@readers") == 0;
    if (*value && looks_like_time(value)) {
        (void)report_misuse(parse->verb_name,
                            "--%s cannot be \"%s\": it expects a format; use --%s=%s for a time",
                            row->name, value, is_read ? "start" : "end", value);
        return false;
    }
    if (!is_read && is_profile_format(value)) {
        (void)report_misuse(
            parse->verb_name,
            "--to cannot be \"%s\": it is a profile; use \"tracetta flame --to=%s\"", value, value);
        return false;
    }
    list_formats(is_read ? TTR_FORMAT_READS : TTR_FORMAT_WRITES, names, sizeof names);
    (void)report_misuse(parse->verb_name, "no format \"%s\" can be %s: expected one of %s%s", value,
                        is_read ? "read" : "written", names,
                        strcmp(row->choices, "@outputs") == 0
                            ? ", or a profile: folded, speedscope, pprof, svg, firefox"
                            : "");
    return false;
}

static bool check_choice(const struct parse *parse, const struct option_row *row, const char *value)
{
    if (!row->choices || strcmp(row->choices, "@file") == 0)
        return true;
    if (row->choices[0] != '@') {
        if (is_listed(row->choices, value))
            return true;
        if (strcmp(row->name, "to") == 0 && *value && looks_like_time(value))
            return refuse_format(parse, row, value);
        (void)report_misuse(parse->verb_name, "--%s cannot be \"%s\": expected one of %s",
                            row->name, value, row->choices);
        return false;
    }
    if (strcmp(row->choices, "@outputs") == 0 &&
        (is_profile_format(value) || find_table_format(value, NULL)))
        return true;
    const bool is_read = strcmp(row->choices, "@readers") == 0;
    return is_format(value, is_read ? TTR_FORMAT_READS : TTR_FORMAT_WRITES) ||
           refuse_format(parse, row, value);
}

bool words_add(struct words *words, const char *value)
{
    const char **list = realloc(words->list, (words->n + 2) * sizeof *list);
    if (!list)
        return false;
    list[words->n++] = value;
    list[words->n] = NULL;
    words->list = list;
    return true;
}

static bool parse_size(const char *value, uint64_t *bytes)
{
    const bool is_read = units_parse_size(value, bytes);
    errno = is_read ? EINVAL : errno;
    return is_read && *bytes > 0;
}

static bool parse_period(const char *value, int64_t *ns)
{
    const bool is_read = value[0] != '-' && units_parse_duration(value, ns);
    errno = is_read ? EINVAL : errno;
    return is_read && *ns > 0;
}

/* Stores an option's value in the settings. Returns false with errno (see units.h) if it cannot be
 * parsed. */
static bool store_option_value(struct settings *settings, const struct option_row *row,
                               const char *value)
{
    void *to = (char *)settings + row->at;
    switch (row->type) {
    case OPTION_FLAG:
        *(bool *)to = true;
        return true;
    case OPTION_TEXT:
    case OPTION_MAYBE:
        *(const char **)to = value;
        return true;
    case OPTION_WORDS:
        return words_add(to, value);
    case OPTION_COUNT:
        return units_parse_count(value, to);
    case OPTION_SIZE:
        return parse_size(value, to);
    case OPTION_DURATION:
        return value[0] != '-' && units_parse_duration(value, to);
    case OPTION_PERIOD:
        return parse_period(value, to);
    case OPTION_NANOSECONDS:
        return units_parse_nanoseconds(value, to);
    case OPTION_SECONDS:
        return units_parse_seconds(value, to);
    case OPTION_TIME:
        *(struct moment *)to = (struct moment){.kind = MOMENT_NONE};
        if (!units_parse_moment(value, to))
            ((struct moment *)to)->kind = MOMENT_UNREAD;
        ((struct moment *)to)->text = value;
        ((struct moment *)to)->option = row->name;
        return true;
    default:
        if (!units_parse_moment(value, to))
            return false;
        ((struct moment *)to)->option = row->name;
        return true;
    }
}

static bool set_option(const struct parse *parse, const struct option_row *row, const char *value)
{
    static const char *const expected[] = {
        [OPTION_COUNT] = "a number from 1 to 18446744073709551615, like 100, 20k or 1M",
        [OPTION_SIZE] = "a size like 64MiB",
        [OPTION_DURATION] = "a duration like 250us",
        [OPTION_PERIOD] = "a duration above 0, like 250us",
        [OPTION_NANOSECONDS] = "whole nanoseconds like -500, or a duration like 1.5us",
        [OPTION_MOMENT] = "a time like +2s, -1s, 12:30, 12.5s or 2026-11-21T01:32:51",
        [OPTION_SECONDS] = "seconds like 3 or -0.5, or a duration like 250us"};
    if (!value[0] && row->choices &&
        (strcmp(row->choices, "@file") == 0 || strcmp(row->choices, "@profiles") == 0)) {
        (void)report_misuse(parse->verb_name, "--%s cannot be empty: expected %s", row->name,
                            row->value);
        return false;
    }
    if (row->type == OPTION_TEXT && !check_choice(parse, row, value))
        return false;
    if (store_option_value(parse->settings, row, value))
        return true;
    if (row->type == OPTION_WORDS)
        (void)report_misuse(parse->verb_name, "out of memory");
    else if (errno == ERANGE)
        (void)report_misuse(parse->verb_name, "--%s=%s is too large%s", row->name, value,
                            row->type == OPTION_COUNT || row->type == OPTION_SIZE
                                ? ": at most 18446744073709551615"
                                : ": at most 9223372036854775807 ns, 292 years");
    else
        (void)report_misuse(parse->verb_name, "--%s cannot be \"%s\": expected %s", row->name,
                            value, expected[row->type]);
    return false;
}

/* Returns the value of an option: the text after "=" or after the letter, or the next word. Returns
 * NULL if it is missing. */
static const char *find_value(struct parse *parse, const struct option_row *row,
                              const char *attached)
{
    if (attached)
        return attached;
    if (parse->at + 1 < parse->n)
        return parse->argv[++parse->at];
    (void)report_misuse(parse->verb_name, "--%s needs a value: %s", row->name, row->value);
    return NULL;
}

/* Options that users of other tools try, and what to use instead. */
static const struct {
    uint32_t verbs;
    const char *name, *use;
} substitutes[] = {
    {VERB_CAT, "json", "--format=jsonl"},
    {VERB_CAT, "to", "--end=TIME, --format=FORMAT, or \"tracetta convert --to=FORMAT\""},
    {VERB_STAT | VERB_TREE | VERB_REPORT | VERB_INFO | VERB_CHECK, "format", "--json"},
    {VERB_STAT | VERB_TREE | VERB_REPORT | VERB_INFO | VERB_CHECK, "to", "--json, or --end=TIME"},
    {VERB_CONVERT | VERB_MERGE | VERB_FLAME, "format", "--to=FORMAT"},
    {VERB_CONVERT, "limit", "--end=TIME"},
    {DOTNET, "pid", "\"tracetta record dotnet PID\", or \"record perf\" for the kernel"},
    {DOTNET | PERF, "dotnet", "\"tracetta record dotnet\""},
    {DOTNET | PERF, "perf", "\"tracetta record perf\""},
    {VERB_QUERY, "where", "WHERE in the statement"},
    {MANY, "since", "--start=TIME"},
    {MANY, "until", "--end=TIME"},
    {VERB_DIFF | VERB_ASSERT, "json", "--format=json"},
    {MANY & ~VERB_CAT, "begin", "--start=TIME"},
    {MANY & ~VERB_CAT, "timerange", "--start=TIME and --end=TIME"},
};

/* Reports an unknown option, and suggests a similar one or the command that has it. Returns
 * false. */
static bool refuse_unknown(const struct parse *parse, const char *name)
{
    const struct option_row *row;
    const char *near = print_nearest_word(name, option_name_at, parse);
    for (size_t i = 0; i < sizeof substitutes / sizeof *substitutes; i++)
        if (substitutes[i].verbs & parse->verb && strcmp(substitutes[i].name, name) == 0) {
            (void)report_misuse(parse->verb_name, "unknown option --%s: use %s", name,
                                substitutes[i].use);
            return false;
        }
    for (size_t i = 0; !near && (row = option_at(i)); i++)
        for (size_t k = 0; get_command(k) && strcmp(row->name, name) == 0; k++)
            if (get_command(k)->verb & row->verbs) {
                (void)report_misuse(parse->verb_name,
                                    "unknown option --%s: it is an option of \"tracetta %s\"", name,
                                    get_command(k)->name);
                return false;
            }
    (void)report_misuse(parse->verb_name, "unknown option --%s%s%s%s", name,
                        near ? " (did you mean --" : "", near ? near : "", near ? "?)" : "");
    return false;
}

static bool parse_long(struct parse *parse, const char *word)
{
    size_t name_n = strcspn(word, "=");
    const struct option_row *row = find_option(parse->verb, word, name_n, 0);
    const char *attached = word[name_n] == '=' ? word + name_n + 1 : NULL;
    if (!row) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)name_n, word);
        return refuse_unknown(parse, name);
    }
    if (row->type == OPTION_FLAG && attached) {
        (void)report_misuse(parse->verb_name, "--%s takes no value", row->name);
        return false;
    }
    if (!option_wants_value(row) && !attached)
        attached = "";
    const char *value = find_value(parse, row, attached);
    return value && set_option(parse, row, value);
}

static bool parse_letters(struct parse *parse, const char *letters)
{
    for (; *letters; letters++) {
        const struct option_row *row = find_option(parse->verb, NULL, 0, *letters);
        if (!row) {
            row = find_option(EVERY, NULL, 0, *letters);
            (void)report_misuse(parse->verb_name, "unknown option -%c%s%s%s", *letters,
                                row ? ": this command has no --" : "", row ? row->name : "", "");
            return false;
        }
        if (row->type != OPTION_FLAG) {
            const char *value = find_value(parse, row, letters[1] ? letters + 1 : NULL);
            return value && set_option(parse, row, value);
        }
        if (!set_option(parse, row, ""))
            return false;
    }
    return true;
}

static const char *name_of_verb(uint32_t verb)
{
    for (size_t i = 0; get_command(i); i++)
        if (get_command(i)->verb == verb)
            return get_command(i)->name;
    return NULL;
}

/* Records the position of "--", after which all words are operands. Returns true. */
static bool mark_dashes(const struct parse *parse)
{
    parse->settings->has_separator = true;
    parse->settings->before_separator = (size_t)parse->operands;
    return true;
}

int options_parse(uint32_t verb, char **argv, int n, struct settings *settings)
{
    struct parse parse = {
        .verb = verb, .argv = argv, .n = n, .settings = settings, .verb_name = name_of_verb(verb)};
    bool options_ended = false;
    for (; parse.at < n; parse.at++) {
        char *word = argv[parse.at];
        bool is_fine = true;
        if (options_ended || word[0] != '-' || word[1] == '\0')
            argv[parse.operands++] = word;
        else if (strcmp(word, "--") == 0)
            options_ended = mark_dashes(&parse);
        else if (word[1] == '-')
            is_fine = parse_long(&parse, word + 2);
        else
            is_fine = parse_letters(&parse, word + 1);
        if (!is_fine)
            return -1;
    }
    return parse.operands;
}

/* Returns true if any command has an option with this name or letter that needs a value (or, with
 * wants_value false, that needs none). */
static bool has_option(const char *name, size_t name_n, char letter, bool wants_value)
{
    const struct option_row *row;
    for (size_t i = 0; (row = option_at(i)); i++) {
        bool is_it = name ? strlen(row->name) == name_n && memcmp(row->name, name, name_n) == 0
                          : row->letter == letter;
        if (is_it && option_wants_value(row) == wants_value)
            return true;
    }
    return false;
}

size_t option_words(const char *word, const char *next)
{
    if (word[0] != '-' || word[1] == '\0')
        return 1; /* not an option */
    const char *name = word[1] == '-' ? word + 2 : NULL;
    const size_t name_n = name ? strcspn(name, "=") : 0;
    const char letter = name ? '\0' : word[strlen(word) - 1];
    if (!next || (name && name[name_n] == '=') || !has_option(name, name_n, letter, true))
        return 1;
    /* a letter that is a flag in one command and has a value in another */
    return has_option(name, name_n, letter, false) && find_command(next) ? 1 : 2;
}

void settings_free(struct settings *settings)
{
    for (const struct option_row *row = option_table; row < option_table + option_table_n; row++) {
        if (row->type != OPTION_WORDS)
            continue;
        struct words *words = (struct words *)(void *)((char *)settings + row->at);
        free(words->list);
        *words = (struct words){0};
    }
}
