/* session: controls recordings that "record" runs (tracetta/session.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/event.h>
#include <tracetta/session.h>

#include "cli/commands/command.h"
#include "cli/commands/record_output.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"

#define SESSIONS_MAX 256u

static const char *const modes[] = {"streaming", "circular", "oneshot"};

static void print_text(const char *text)
{
    term_text((ttr_text){text, strlen(text)});
}

/* Reports an error of a session. Returns the outcome. */
static int report_session_error(const struct call *call, ttr_status status, const ttr_error *error)
{
    report_error(call, "session", error);
    return status == TTR_E_MISUSE ? OUTCOME_MISUSE : OUTCOME_INPUT;
}

/* Opens the session that the operand names, or the only one. Returns NULL after a message. */
static ttr_session *open_session(struct call *call, int *outcome)
{
    ttr_error error;
    uint64_t pid = 0;
    char *end = NULL;
    if (call->paths_n > 1) {
        pid = strtoull(call->path[1], &end, 10);
        if (pid == 0 || *end) {
            *outcome =
                report_misuse("session", "\"%s\" is not the number of a process", call->path[1]);
            return NULL;
        }
    }
    ttr_session *session = ttr_session_open(pid, &error);
    if (!session)
        *outcome = report_session_error(call, error.status, &error);
    return session;
}

/* --- list and stats --- */

static void put_info(struct json *json, const ttr_session_info *info)
{
    const ttr_manager_stats *stats = &info->stats;
    json_write_uint(json, "pid", info->pid);
    json_write_string(json, "output", info->output);
    json_write_string(json, "mode", modes[info->mode]);
    json_write_uint(json, "buffer_bytes", info->buffer_bytes);
    json_write_string(json, "categories", info->categories);
    json_write_uint(json, "connected", stats->connected);
    json_write_uint(json, "programs", stats->programs);
    json_write_uint(json, "events", stats->events);
    json_write_uint(json, "dropped", stats->dropped);
    json_write_uint(json, "overwritten_bytes", stats->overwritten);
    json_write_uint(json, "unwritten_bytes", stats->unwritten);
    json_write_uint(json, "invalid_bytes", stats->invalid);
    json_write_uint(json, "bytes", stats->bytes);
    json_write_uint(json, "refused", stats->refused);
    json_write_uint(json, "expelled", stats->expelled);
}

static void print_row(const ttr_session_info *info)
{
    (void)printf("%8" PRIu64 "  %-9s  %8" PRIu32 "  %12" PRIu64 "  %12" PRIu64 "  ", info->pid,
                 modes[info->mode], info->stats.connected, info->stats.events, info->stats.dropped);
    print_text(info->output);
    (void)putchar('\n');
}

static int list_sessions(struct call *call)
{
    uint64_t pids[SESSIONS_MAX];
    struct json json = {.to = stdout};
    const size_t found = ttr_session_find(pids, SESSIONS_MAX),
                 n = found < SESSIONS_MAX ? found : SESSIONS_MAX;
    if (call->set.json) {
        json_open(&json, NULL, '{');
        json_write_string(&json, "schema", "tracetta.sessions/1");
        json_open(&json, "sessions", '[');
    } else if (n) {
        (void)printf("%s%8s  %-9s  %8s  %12s  %12s  OUTPUT%s\n", term_ink(&call->term, INK_BOLD),
                     "PID", "MODE", "PROGRAMS", "EVENTS", "DROPPED",
                     term_ink(&call->term, INK_PLAIN));
    }
    for (size_t i = 0; i < n; i++) {
        ttr_session_info info;
        ttr_session *session = ttr_session_open(pids[i], NULL);
        if (session && ttr_session_get_info(session, &info, NULL) == TTR_OK) {
            if (call->set.json) {
                json_open(&json, NULL, '{');
                put_info(&json, &info);
                json_close(&json, '}');
            } else {
                print_row(&info);
            }
        }
        ttr_session_close(session);
    }
    if (call->set.json) {
        json_close(&json, ']');
        json_close(&json, '}');
    } else if (n == 0) {
        print_note(call, "no \"tracetta record\" of this user is running");
    }
    return n ? OUTCOME_FINE : OUTCOME_NO;
}

static void print_info(const ttr_session_info *info)
{
    const ttr_manager_stats *stats = &info->stats;
    (void)fputs("output       ", stdout);
    print_text(info->output);
    (void)printf("\nmode         %s, %s per thread\ncategories   ", modes[info->mode],
                 units_size(info->buffer_bytes).s);
    print_text(info->categories[0] ? info->categories : "all");
    (void)printf("\nprograms     %" PRIu32 " connected, %" PRIu32 " in all\n", stats->connected,
                 stats->programs);
    (void)printf("events       %s written, %s dropped\n", units_count(stats->events).s,
                 units_count(stats->dropped).s);
    (void)printf("archive      %s\n", units_size(stats->bytes).s);
    if (stats->overwritten)
        (void)printf("overwritten  %s\n", units_size(stats->overwritten).s);
    if (stats->unwritten)
        (void)printf("unwritten    %s\n", units_size(stats->unwritten).s);
    if (stats->invalid || stats->expelled || stats->refused)
        (void)printf("invalid      %s; %" PRIu32 " program(s) disconnected, %" PRIu32
                     " connection(s) refused\n",
                     units_size(stats->invalid).s, stats->expelled, stats->refused);
}

static ttr_status show_programs(struct call *call, ttr_session *session, struct json *json,
                                ttr_error *error)
{
    ttr_manager_program program;
    ttr_status status;
    for (size_t i = 0; (status = ttr_session_program_at(session, i, &program, error)) == TTR_OK;
         i++) {
        if (call->set.json) {
            json_open(json, NULL, '{');
            json_write_uint(json, "pid", program.pid);
            json_write_string(json, "name", program.name);
            json_write_uint(json, "threads", program.threads);
            json_write_uint(json, "dropped", program.dropped);
            json_close(json, '}');
            continue;
        }
        (void)printf("program      %" PRIu64 " ", program.pid);
        print_text(program.name);
        (void)printf(", %" PRIu32 " thread(s), %" PRIu64 " dropped\n", program.threads,
                     program.dropped);
    }
    return status;
}

static ttr_status show_stats(struct call *call, ttr_session *session, ttr_error *error)
{
    struct json json = {.to = stdout};
    ttr_session_info info;
    ttr_status status = ttr_session_get_info(session, &info, error);
    if (status != TTR_OK)
        return status;
    if (!call->set.json) {
        print_info(&info);
        return show_programs(call, session, &json, error);
    }
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.session/1");
    put_info(&json, &info);
    json_open(&json, "connected_programs", '[');
    status = show_programs(call, session, &json, error);
    json_close(&json, ']');
    json_close(&json, '}');
    return status;
}

/* --- categories --- */

/* Sends the values of --category, joined by commas. */
static ttr_status set_categories(const struct call *call, ttr_session *session, ttr_error *error)
{
    char filter[1024] = "";
    const struct words *words = &call->set.categories;
    for (size_t i = 0, at = 0; i < words->n && at < sizeof filter; i++)
        at +=
            (size_t)snprintf(filter + at, sizeof filter - at, "%s%s", i ? "," : "", words->list[i]);
    return words->n ? ttr_session_set_categories(session, filter, error) : TTR_OK;
}

static ttr_status show_categories(struct call *call, ttr_session *session, ttr_error *error)
{
    struct json json = {.to = stdout};
    ttr_session_category category;
    ttr_status status = set_categories(call, session, error);
    if (status != TTR_OK)
        return status;
    if (call->set.json) {
        json_open(&json, NULL, '{');
        json_write_string(&json, "schema", "tracetta.session-categories/1");
        json_open(&json, "categories", '[');
    }
    for (size_t i = 0; (status = ttr_session_category_at(session, i, &category, error)) == TTR_OK;
         i++) {
        if (call->set.json) {
            json_open(&json, NULL, '{');
            json_write_uint(&json, "pid", category.pid);
            json_write_string(&json, "name", category.name);
            json_write_uint(&json, "level", category.level);
            json_close(&json, '}');
            continue;
        }
        (void)printf("%8" PRIu64 "  ", category.pid);
        if (category.level)
            (void)printf("level %u   ", category.level);
        else
            (void)fputs("disabled  ", stdout);
        print_text(category.name);
        (void)putchar('\n');
    }
    if (call->set.json) {
        json_close(&json, ']');
        json_close(&json, '}');
    }
    return status;
}

/* --- mode --- */

static ttr_status show_mode(struct call *call, ttr_session *session, ttr_error *error)
{
    struct json json = {.to = stdout};
    ttr_session_info info;
    ttr_status status = TTR_OK;
    if (call->set.ring_mode)
        status = ttr_session_set_mode(session, record_parse_mode(call->set.ring_mode), error);
    if (status == TTR_OK)
        status = ttr_session_get_info(session, &info, error);
    if (status != TTR_OK)
        return status;
    if (!call->set.json) {
        (void)puts(modes[info.mode]);
        return status;
    }
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.session-mode/1");
    json_write_string(&json, "mode", modes[info.mode]);
    json_close(&json, '}');
    return status;
}

/* --- The command --- */

static ttr_status take_snapshot(struct call *call, ttr_session *session, ttr_error *error)
{
    (void)call;
    return ttr_session_snapshot(session, error);
}

static ttr_status stop_session(struct call *call, ttr_session *session, ttr_error *error)
{
    (void)call;
    return ttr_session_stop(session, error);
}

int run_session(struct call *call)
{
    static const struct {
        const char *word;
        ttr_status (*run)(struct call *call, ttr_session *session, ttr_error *error);
    } actions[] = {{"categories", show_categories},
                   {"mode", show_mode},
                   {"snapshot", take_snapshot},
                   {"stats", show_stats},
                   {"stop", stop_session}};
    int outcome = OUTCOME_FINE;
    ttr_error error;
    const char *word = call->path[0];
    if (call->set.categories.n && strcmp(word, "categories") != 0)
        return report_misuse("session", "--category is an option of \"session categories\"");
    if (call->set.ring_mode && strcmp(word, "mode") != 0)
        return report_misuse("session", "--mode is an option of \"session mode\"");
    if (strcmp(word, "list") == 0)
        return list_sessions(call);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(word, actions[i].word) != 0)
            continue;
        ttr_session *session = open_session(call, &outcome);
        const ttr_status status = session ? actions[i].run(call, session, &error) : TTR_OK;
        if (status != TTR_OK && status != TTR_END)
            outcome = report_session_error(call, status, &error);
        ttr_session_close(session);
        return outcome;
    }
    return report_misuse(
        "session",
        "unknown action \"%s\": expected list, categories, mode, snapshot, stats or stop", word);
}
