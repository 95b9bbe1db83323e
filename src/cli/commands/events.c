/* events: lists the tracepoints of the running kernel, and registers or deletes user events. */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include <tracetta/event.h>
#include <tracetta/tracepoints.h>

#include "cli/commands/command.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"

static void write_users_json(struct json *json, unsigned users)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
        {TTR_USED_BY_FTRACE, "ftrace"}, {TTR_USED_BY_PERF, "perf"}, {TTR_USED_BY_OTHERS, "others"}};
    json_open(json, "users", '[');
    for (size_t i = 0; i < 3; i++)
        if (users & names[i].bit)
            json_write_string(json, NULL, names[i].name);
    json_close(json, ']');
}

static void write_event_json(struct json *json, const ttr_kernel_event *event)
{
    char keyword[32];
    (void)snprintf(keyword, sizeof keyword, "0x%" PRIx64, event->keyword);
    json_open(json, NULL, '{');
    json_write_string(json, "system", event->system);
    json_write_string(json, "name", event->name);
    json_write_bool(json, "enabled", event->is_enabled);
    if (event->is_user_event)
        write_users_json(json, event->users);
    if (event->is_event_header) {
        json_write_string(json, "provider", event->provider);
        json_write_uint(json, "level", event->level);
        json_write_string(json, "keyword", keyword);
        json_write_string(json, "group", event->group);
    }
    json_close(json, '}');
}

static void print_event(const struct call *call, const ttr_kernel_event *event)
{
    (void)printf("%s%s:", event->is_enabled ? term_ink(&call->term, INK_BOLD) : "", event->system);
    term_text((ttr_text){event->name, strlen(event->name)});
    (void)fputs(event->is_enabled ? term_ink(&call->term, INK_PLAIN) : "", stdout);
    if (event->is_event_header) {
        (void)fputs("  provider ", stdout);
        term_text((ttr_text){event->provider, strlen(event->provider)});
        (void)printf("  level %u  keyword 0x%" PRIx64 "%s%s", event->level, event->keyword,
                     event->group[0] ? "  group " : "", event->group);
    }
    if (event->is_enabled)
        (void)fputs("  enabled", stdout);
    if (event->users)
        (void)printf("  used by%s%s%s", event->users & TTR_USED_BY_FTRACE ? " ftrace" : "",
                     event->users & TTR_USED_BY_PERF ? " perf" : "",
                     event->users & TTR_USED_BY_OTHERS ? " others" : "");
    (void)putchar('\n');
}

/* Returns true if one of the patterns matches "system:name", the system or the name of the
 * tracepoint. */
static bool is_event_selected(const struct call *call, const ttr_kernel_event *event)
{
    char full[768];
    (void)snprintf(full, sizeof full, "%s:%s", event->system, event->name);
    for (size_t i = 1; i < call->paths_n; i++)
        if (fnmatch(call->path[i], full, 0) == 0 || fnmatch(call->path[i], event->name, 0) == 0 ||
            fnmatch(call->path[i], event->system, 0) == 0)
            return true;
    return call->paths_n == 1;
}

static int list_events(struct call *call)
{
    ttr_error error;
    struct json json = {.to = stdout};
    ttr_kernel_event event = {.size = sizeof event};
    ttr_kernel_events *events = ttr_kernel_events_list(call->set.tracefs, &error);
    if (!events) {
        report_error(call, "tracefs", &error);
        return OUTCOME_INPUT;
    }
    if (call->set.json) {
        json_open(&json, NULL, '{');
        json_write_string(&json, "schema", "tracetta.tracepoints/1");
        json_write_bool(&json, "user_events", ttr_kernel_events_has_user_events(events));
        json_open(&json, "events", '[');
    }
    size_t shown = 0;
    for (size_t i = 0; ttr_kernel_events_at(events, i, &event); i++) {
        if (!is_event_selected(call, &event))
            continue;
        if (call->set.json)
            write_event_json(&json, &event);
        else
            print_event(call, &event);
        shown++;
    }
    if (call->set.json) {
        json_close(&json, ']');
        json_close(&json, '}');
    }
    if (!ttr_kernel_events_has_user_events(events) && (call->paths_n == 1 || shown == 0))
        print_note(call, "this kernel has no user_events (Linux 6.4 and later built with "
                         "CONFIG_USER_EVENTS do)");
    ttr_kernel_events_free(events);
    if (shown == 0 && call->paths_n > 1)
        print_note(call, "no tracepoint has such a name");
    return shown || call->paths_n == 1 ? OUTCOME_FINE : OUTCOME_NO;
}

/* Calls `change` for each operand, also after a failure. Returns the outcome. */
static int visit_kernel_events(struct call *call, const char *verb,
                               ttr_status (*change)(const char *tracefs, const char *name,
                                                    ttr_error *error))
{
    int outcome = OUTCOME_FINE;
    if (call->paths_n < 2)
        return report_misuse("events", "\"events %s\" needs names of user events", verb);
    for (size_t i = 1; i < call->paths_n; i++) {
        ttr_error error;
        ttr_status status = change(call->set.tracefs, call->path[i], &error);
        if (status == TTR_OK)
            continue;
        report_error(call, "user_events", &error);
        if (outcome != OUTCOME_OUTPUT)
            outcome = status == TTR_E_MISUSE ? OUTCOME_MISUSE : OUTCOME_OUTPUT;
    }
    return outcome;
}

int run_events(struct call *call)
{
    const char *word = call->path[0];
    if (strcmp(word, "list") == 0)
        return list_events(call);
    if (strcmp(word, "register") == 0)
        return visit_kernel_events(call, word, ttr_kernel_events_register);
    if (strcmp(word, "delete") == 0)
        return visit_kernel_events(call, word, ttr_kernel_events_delete);
    return report_misuse("events", "unknown action \"%s\": expected list, register or delete",
                         word);
}
