/* assert: checks assertions about traces, for scripts and continuous integration. Each is a
 * statement in SQL; violations are values, or the rows of a statement that must return none. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/assertion.h"
#include "cli/commands/query_session.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"

#define ROWS_SHOWN 10u /* violations of a statement that are printed */

/* An assertion and what became of it. */
struct check {
    struct assertion assertion;
    bool holds;
    uint64_t rows; /* violations of a statement */
    char *text;    /* the value, or the first violations, a line each */
};

struct work {
    struct call *call;
    struct query_library library;
    struct query_session session;
    size_t paths_n; /* operands that are inputs; they come first */
    struct check *checks;
    size_t checks_n;
};

/* --- Operands --- */

static bool is_input(const char *operand)
{
    return strcmp(operand, "-") == 0 || strstr(operand, "://") || access(operand, F_OK) == 0;
}

static int report_assertion(const struct call *call, const char *text, const char *reason,
                            unsigned offset)
{
    report_failure_text("assert", "%s", reason);
    term_excerpt(&call->term, text, offset);
    return OUTCOME_MISUSE;
}

/* Separates inputs from assertions. */
static int parse_operands(struct work *work)
{
    struct call *call = work->call;
    while (work->paths_n < call->paths_n && is_input(call->path[work->paths_n]))
        work->paths_n++;
    if (work->paths_n == 0)
        return report_misuse("assert", "%s: no such file: expected a trace before the assertions",
                             call->path[0]);
    const size_t n = call->paths_n - work->paths_n;
    if (n == 0)
        return report_misuse("assert",
                             "expected an assertion after the trace: 'p99(frame) < 16ms'");
    work->checks = calloc(n, sizeof *work->checks);
    if (!work->checks) {
        report_failure_text("assert", "out of memory");
        return OUTCOME_INPUT;
    }
    work->checks_n = n;
    for (size_t i = 0; i < work->checks_n; i++) {
        const char *text = call->path[work->paths_n + i], *reason;
        unsigned offset;
        if (!assertion_parse(text, &work->checks[i].assertion, &reason, &offset))
            return report_assertion(call, text, reason, offset);
    }
    return OUTCOME_FINE;
}

/* --- Checking --- */

/* Prints the values of the current row: "name=frame, dur=17000000". */
static void print_row(const struct query_library *library, ttr_result *result, FILE *to)
{
    for (size_t i = 0; i < library->columns(result); i++) {
        const bool is_null = library->type(result, i) == TTR_TYPE_NULL;
        const char *name = library->name(result, i);
        (void)fputs(i ? ", " : "", to);
        term_text_to(to, (ttr_text){name, strlen(name)});
        (void)fputc('=', to);
        term_text_to(to, is_null ? (ttr_text){"NULL", 4} : library->get_text(result, i));
    }
}

static ttr_status read_violations(const struct query_library *library, struct check *check,
                                  ttr_result *result, FILE *to, ttr_error *error)
{
    ttr_status status;
    while ((status = library->step(result, error)) == TTR_OK) {
        if (check->rows++ >= ROWS_SHOWN)
            continue;
        (void)fputs(check->rows > 1 ? "\n" : "", to);
        print_row(library, result, to);
    }
    check->holds = status == TTR_END && check->rows == 0;
    return status;
}

static ttr_status read_value(const struct query_library *library, struct check *check,
                             ttr_result *result, FILE *to, ttr_error *error)
{
    ttr_status status = library->step(result, error);
    if (status != TTR_OK)
        return status;
    check->holds = library->get_int(result, 1) != 0;
    if (library->type(result, 0) == TTR_TYPE_NULL)
        (void)fputs("no complete span has this name", to);
    else if (check->assertion.is_duration)
        (void)fputs(units_duration((uint64_t)library->get_real(result, 0)).s, to);
    else
        (void)fprintf(to, "%" PRId64, library->get_int(result, 0));
    return TTR_END;
}

static int test_assertion(struct work *work, struct check *check)
{
    const struct query_library *library = &work->library;
    ttr_error error = {0};
    const char *rest;
    size_t n;
    ttr_result *result = library->prepare(work->session.query, check->assertion.sql, &rest, &error);
    if (!result)
        return query_session_report_sql(&work->session, check->assertion.sql, &error);
    rest = query_session_skip_blank(rest);
    if (*rest) {
        library->free(result);
        return report_assertion(work->call, check->assertion.text,
                                "an assertion is one statement: write others as arguments of "
                                "their own",
                                (unsigned)(rest - check->assertion.sql));
    }
    FILE *to = open_memstream(&check->text, &n);
    ttr_status status = TTR_E_NOMEM;
    if (to) {
        status = check->assertion.is_statement ? read_violations(library, check, result, to, &error)
                                               : read_value(library, check, result, to, &error);
        (void)fclose(to);
    }
    library->free(result);
    if (status == TTR_END || status == TTR_AGAIN)
        return OUTCOME_FINE;
    report_failure_text("assert", "%s: %s", check->assertion.text,
                        status == TTR_E_NOMEM ? "out of memory" : error.text);
    return OUTCOME_MISUSE;
}

/* --- Results --- */

static const char *describe_violation(const struct check *check, char number[80])
{
    if (!check->assertion.is_statement)
        return check->text ? check->text : "";
    (void)snprintf(number, 80, "%" PRIu64 " row%s", check->rows, check->rows == 1 ? "" : "s");
    return number;
}

static void print_text(const struct work *work)
{
    const struct terminal *term = &work->call->term;
    char number[80];
    for (size_t i = 0; i < work->checks_n; i++) {
        const struct check *check = &work->checks[i];
        (void)printf("%s%s%s  ", term_ink(term, check->holds ? INK_GREEN : INK_RED),
                     check->holds ? "ok      " : "violated", term_ink(term, INK_PLAIN));
        term_text((ttr_text){check->assertion.text, strlen(check->assertion.text)});
        (void)printf(": %s\n", describe_violation(check, number));
        for (const char *line = check->text; check->rows && line && *line;) {
            const int n = (int)strcspn(line, "\n");
            (void)printf("          %.*s\n", n, line);
            line += n + (line[n] != 0);
        }
        if (check->rows > ROWS_SHOWN)
            (void)printf("          ... %" PRIu64 " more\n", check->rows - ROWS_SHOWN);
    }
}

static void print_json(const struct work *work)
{
    struct json json = {.to = stdout};
    char number[80];
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.assert/1");
    json_open(&json, "assertions", '[');
    for (size_t i = 0; i < work->checks_n; i++) {
        const struct check *check = &work->checks[i];
        json_open(&json, NULL, '{');
        json_write_string(&json, "assertion", check->assertion.text);
        json_write_bool(&json, "holds", check->holds);
        json_write_string(&json, "found", describe_violation(check, number));
        if (check->rows)
            json_write_string(&json, "violations", check->text ? check->text : "");
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

/* Returns true if XML 1.0 (2.2) has a character of UTF-8: no control but tab and line feed, and
 * neither U+FFFE nor U+FFFF. */
static bool is_xml_character(const unsigned char *p, size_t length)
{
    const bool is_control = *p < 0x20 && *p != '\n' && *p != '\t';
    return length > 0 && !is_control &&
           !(length == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe);
}

static void print_xml_text(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = strlen(text), length;
    for (; n > 0; p += length, n -= length) {
        length = json_character_length(p, n);
        if (!is_xml_character(p, length)) {
            (void)fputs("\xef\xbf\xbd", stdout);
            length = length ? length : 1;
        } else if (strchr("<>&\"", *p)) {
            (void)printf("&#%d;", *p);
        } else {
            (void)fwrite(p, 1, length, stdout);
        }
    }
}

/* Prints a test suite with a case per assertion, as JUnit's XML that CI servers read. */
static void print_junit(const struct work *work)
{
    char number[80];
    size_t failures = 0;
    for (size_t i = 0; i < work->checks_n; i++)
        failures += !work->checks[i].holds;
    (void)printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
    print_xml_text(work->call->path[0]);
    (void)printf("\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n", work->checks_n, failures);
    for (size_t i = 0; i < work->checks_n; i++) {
        const struct check *check = &work->checks[i];
        (void)fputs("  <testcase classname=\"tracetta\" name=\"", stdout);
        print_xml_text(check->assertion.text);
        (void)fputs(check->holds ? "\"/>\n" : "\">\n    <failure message=\"", stdout);
        if (check->holds)
            continue;
        print_xml_text(describe_violation(check, number));
        (void)fputs("\">", stdout);
        print_xml_text(check->text ? check->text : "");
        (void)fputs("</failure>\n  </testcase>\n", stdout);
    }
    (void)puts("</testsuite>");
}

static int print_checks(const struct work *work)
{
    const char *format = work->call->set.format ? work->call->set.format : "text";
    if (strcmp(format, "json") == 0)
        print_json(work);
    else if (strcmp(format, "junit") == 0)
        print_junit(work);
    else
        print_text(work);
    for (size_t i = 0; i < work->checks_n; i++)
        if (!work->checks[i].holds)
            return OUTCOME_NO;
    return OUTCOME_FINE;
}

static int check_all(struct work *work)
{
    int outcome = load_query_library(work->call, &work->library);
    if (outcome != OUTCOME_FINE)
        return outcome;
    query_session_begin(&work->session, work->call, &work->library, work->call->path,
                        work->paths_n);
    for (size_t i = 0; i < work->checks_n; i++)
        query_session_want(&work->session, work->checks[i].assertion.sql);
    outcome = query_session_open(&work->session);
    for (size_t i = 0; outcome == OUTCOME_FINE && i < work->checks_n; i++)
        outcome = test_assertion(work, &work->checks[i]);
    if (outcome == OUTCOME_FINE && interrupt_was_received())
        outcome = OUTCOME_NO;
    else if (outcome == OUTCOME_FINE)
        outcome = print_checks(work);
    outcome = query_session_warn(&work->session, outcome);
    query_session_close(&work->session);
    return outcome;
}

/* --explain: prints the statement of each assertion. */
static void print_statements(const struct work *work)
{
    for (size_t i = 0; i < work->checks_n; i++) {
        (void)fputs("-- ", stdout);
        term_lines(&work->call->term, work->checks[i].assertion.text, "\n");
        term_lines(&work->call->term, work->checks[i].assertion.sql, ";\n");
    }
}

int run_assert(struct call *call)
{
    struct work work = {.call = call};
    int outcome = parse_operands(&work);
    if (outcome == OUTCOME_FINE && call->set.explain)
        print_statements(&work);
    else if (outcome == OUTCOME_FINE)
        outcome = check_all(&work);
    for (size_t i = 0; i < work.checks_n; i++)
        free(work.checks[i].text);
    free(work.checks);
    return outcome;
}
