/* Translates assertions to SQL:
 *
 *     FUNCTION(NAME) OPERATOR NUMBER[UNIT]      p99(frame) < 16ms      count('GC*') <= 3
 *
 * NAME is a glob of names of spans and instants, quoted if it has other characters than letters,
 * digits and "_.:*?-". */
#include "cli/commands/assertion.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/ui/units.h"

#define NAME_BYTES 512u

/* The parts of an assertion that are parsed one after another. */
struct scan {
    const char *begin, *p;
    const char *reason;
};

static bool refuse(struct scan *scan, const char *reason)
{
    scan->reason = scan->reason ? scan->reason : reason;
    return false;
}

static void skip_spaces(struct scan *scan)
{
    scan->p += strspn(scan->p, " \t\r\n");
}

/* Parses FUNCTION and writes the aggregate of SQL. */
static bool parse_function(struct scan *scan, char *aggregate, size_t size, bool *is_duration)
{
    static const struct {
        const char *name, *sql;
        bool is_duration;
    } functions[] = {{"count", "count(*)", false},
                     {"total", "total(dur)", true},
                     {"sum", "total(dur)", true},
                     {"self", "total(self_dur)", true},
                     {"min", "min(dur)", true},
                     {"max", "max(dur)", true},
                     {"avg", "avg(dur)", true},
                     {"mean", "avg(dur)", true},
                     {"median", "percentile(dur, 50)", true}};
    const size_t n = strcspn(scan->p, "( \t");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == n && strncasecmp(scan->p, functions[i].name, n) == 0) {
            (void)snprintf(aggregate, size, "%s", functions[i].sql);
            *is_duration = functions[i].is_duration;
            scan->p += n;
            return true;
        }
    char *end;
    const double percent = tolower((unsigned char)*scan->p) == 'p' ? strtod(scan->p + 1, &end) : -1;
    if (!(percent >= 0 && percent <= 100) || end != scan->p + n || n < 2)
        return refuse(scan,
                      "expected count, total, self, min, max, avg, median or p0 to p100, or a "
                      "statement that begins with SELECT or WITH");
    (void)snprintf(aggregate, size, "percentile(dur, %.*s)", (int)(n - 1), scan->p + 1);
    *is_duration = true;
    scan->p += n;
    return true;
}

/* Copies NAME as the inside of a text of SQL. */
static bool parse_name(struct scan *scan, char name[NAME_BYTES])
{
    const char quote = *scan->p == '\'' || *scan->p == '"' ? *scan->p++ : 0;
    size_t n = 0;
    while (*scan->p && (quote ? *scan->p != quote
                              : isalnum((unsigned char)*scan->p) || strchr("_.:*?-", *scan->p))) {
        if (n + 3 > NAME_BYTES)
            return refuse(scan, "the name is longer than 500 bytes");
        if (*scan->p == '\'')
            name[n++] = '\'';
        name[n++] = *scan->p++;
    }
    name[n] = '\0';
    if (quote && *scan->p++ != quote) {
        scan->p--;
        return refuse(scan, "the quote has no end");
    }
    return n > 0 || refuse(scan, "expected a name of spans, as in p99(frame); quote other "
                                 "characters than letters and digits");
}

static bool parse_character(struct scan *scan, char c, const char *reason)
{
    skip_spaces(scan);
    if (*scan->p != c)
        return refuse(scan, reason);
    scan->p++;
    skip_spaces(scan);
    return true;
}

static bool parse_operator(struct scan *scan, char sign[3])
{
    static const char *const signs[] = {"<=", ">=", "==", "!=", "<>", "<", ">", "="};
    skip_spaces(scan);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(scan->p, signs[i], strlen(signs[i])) == 0) {
            (void)snprintf(sign, 3, "%s", signs[i]);
            scan->p += strlen(signs[i]);
            skip_spaces(scan);
            return true;
        }
    return refuse(scan, "expected <, <=, >, >=, = or !=");
}

/* Parses the number: a count, or a duration, which without a unit is in ns. */
static bool parse_number(struct scan *scan, bool is_duration, int64_t *number)
{
    uint64_t count = 0;
    /* units_parse_count is for limits, which are never 0. */
    const bool is_zero = !is_duration && strcmp(scan->p, "0") == 0;
    const bool is_number =
        is_duration ? units_parse_duration(scan->p, number)
                    : is_zero || (units_parse_count(scan->p, &count) && count <= INT64_MAX);
    if (!is_duration)
        *number = (int64_t)count;
    return is_number ||
           refuse(scan, is_duration ? "expected a duration at the end: 16ms, 2.5s, 800us"
                                    : "expected a number at the end: 12, 20k");
}

static bool parse(struct scan *scan, struct assertion *assertion)
{
    char aggregate[64], name[NAME_BYTES], sign[3];
    int64_t number;
    skip_spaces(scan);
    if (!parse_function(scan, aggregate, sizeof aggregate, &assertion->is_duration) ||
        !parse_character(scan, '(', "expected \"(\"") || !parse_name(scan, name) ||
        !parse_character(scan, ')', "expected \")\"") || !parse_operator(scan, sign) ||
        !parse_number(scan, assertion->is_duration, &number))
        return false;
    /* A duration of spans that do not exist is NULL, and never as asserted; total() is 0 then. */
    const char *value = assertion->is_duration ? "CASE WHEN n > 0 THEN value END" : "value";
    (void)snprintf(assertion->sql, sizeof assertion->sql,
                   "SELECT %s, ifnull(%s %s %" PRId64 ", 0) AS holds FROM (SELECT %s AS value, "
                   "count(*) AS n FROM slice WHERE name GLOB '%s' AND dur >= 0)",
                   value, value, sign, number, aggregate, name);
    return true;
}

bool assertion_parse(const char *text, struct assertion *assertion, const char **reason,
                     unsigned *offset)
{
    struct scan scan = {.begin = text, .p = text};
    const char *word = text + strspn(text, " \t\r\n");
    *assertion = (struct assertion){.text = text};
    if (strncasecmp(word, "select", 6) == 0 || strncasecmp(word, "with", 4) == 0 ||
        strncasecmp(word, "values", 6) == 0) {
        assertion->is_statement = true;
        if (snprintf(assertion->sql, sizeof assertion->sql, "%s", text) <
            (int)sizeof assertion->sql)
            return true;
        (void)refuse(&scan, "the statement is longer than 4 KB");
    } else if (parse(&scan, assertion)) {
        return true;
    }
    *reason = scan.reason;
    *offset = (unsigned)(scan.p - text);
    return false;
}
