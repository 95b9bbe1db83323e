/* counters: shows EventCounters and meters of a live .NET process, or of a program that it starts.
 *
 * The events of a session without rundown are read like a trace. Counters are selected by
 * "PROVIDER" or "PROVIDER[NAME,NAME]". Each provider name may be an EventSource or a meter, so both
 * are requested. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/collect.h>
#include <tracetta/tracetta.h>

#include "cli/commands/command.h"
#include "cli/commands/counter_table.h"
#include "cli/dotnet/dotnet_choice.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/dotnet/runtime_connect.h"
#include "cli/ui/messages.h"

#define SLICE_MS 100u
/* ns; a requested stop is abandoned if no data arrive for this time */
#define SILENCE_NS UINT64_C(10000000000)
#define METERS "System.Diagnostics.Metrics"
#define METERS_KEYWORD 2u /* keyword for values per interval */
#define LEVEL_INFORMATIONAL 4u
#define TEXT_ROOM 8192u

struct watch {
    struct call *call;
    ttr *t;
    struct runtime_connection runtime_connection;
    ttr_dotnet_providers *providers;
    ttr_dotnet_session *session;
    struct counter_table table;
    uint64_t begin_ns, limit_ns, heard_ns;
    bool is_stopping;
};

/* --- What to ask for --- */

static ttr_status add_meters(struct watch *watch, const char *names, uint64_t seconds,
                             ttr_error *error)
{
    char arguments[TEXT_ROOM];
    (void)snprintf(arguments, sizeof arguments,
                   "SessionId=SHARED;Metrics=%s;RefreshInterval=%" PRIu64
                   ";MaxTimeSeries=1000;MaxHistograms=20;ClientId=tracetta-%d",
                   names, seconds, (int)getpid());
    const ttr_dotnet_provider meters = {.name = METERS,
                                        .keywords = METERS_KEYWORD,
                                        .level = LEVEL_INFORMATIONAL,
                                        .arguments = arguments};
    return ttr_dotnet_providers_add_provider(watch->providers, &meters, error);
}

static ttr_status add_event_source(struct watch *watch, const char *name, uint64_t seconds,
                                   ttr_error *error)
{
    char arguments[64];
    (void)snprintf(arguments, sizeof arguments, "EventCounterIntervalSec=%" PRIu64, seconds);
    const ttr_dotnet_provider source = {
        .name = name, .level = LEVEL_INFORMATIONAL, .arguments = arguments};
    return ttr_dotnet_providers_add_provider(watch->providers, &source, error);
}

/* Requests each provider of the list "A,B[x,y]", as an EventSource and as a meter. The names in
 * brackets only select which counters are shown. */
static int choose_counters(struct watch *watch, const char *list, uint64_t seconds)
{
    ttr_error error;
    char meters[TEXT_ROOM / 2] = "";
    ttr_status status = TTR_OK;
    size_t used = 0;
    for (const char *at = list; status == TTR_OK && *at;) {
        char name[512];
        size_t n = counter_item_length(at), name_n = strcspn(at, "[,");
        (void)snprintf(name, sizeof name, "%.*s", (int)(name_n < n ? name_n : n), at);
        status = add_event_source(watch, name, seconds, &error);
        used +=
            (size_t)snprintf(meters + used, sizeof meters - used, "%s%s", used ? "," : "", name);
        if (used >= sizeof meters)
            return report_misuse("counters", "--counters names too many");
        at += n + (at[n] == ',');
    }
    if (status == TTR_OK)
        status = add_meters(watch, meters, seconds, &error);
    return status == TTR_OK ? OUTCOME_FINE : report_misuse("counters", "%s", error.text);
}

/* --- The stream --- */

static bool has_reached_limit(const struct watch *watch)
{
    return interrupt_was_received() ||
           (watch->limit_ns && progress_now() - watch->begin_ns >= watch->limit_ns);
}

/* Implements ttr_pull: reads from the session, and requests its end after Ctrl-C or the time limit.
 * Returns 0 at the end of the stream. */
static int64_t read_session_bytes(void *ctx, void *to, size_t n)
{
    struct watch *watch = ctx;
    ttr_error error;
    for (;;) {
        size_t got;
        if (!watch->is_stopping && has_reached_limit(watch)) {
            watch->is_stopping = true;
            watch->heard_ns = progress_now();
            ttr_dotnet_set_wake_fd(watch->runtime_connection.target, -1);
            if (ttr_dotnet_stop(watch->session, &error) != TTR_OK)
                return 0;
        }
        ttr_status status = ttr_dotnet_read(watch->session, to, n, SLICE_MS, &got, &error);
        if (status == TTR_OK) {
            watch->heard_ns = progress_now();
            return (int64_t)got;
        }
        bool is_hopeless = watch->is_stopping && progress_now() - watch->heard_ns > SILENCE_NS;
        if (status != TTR_AGAIN || is_hopeless)
            return 0;
    }
}

static int show_counters(struct watch *watch, ttr_reader *reader)
{
    ttr_error error;
    ttr_batch batch;
    ttr_status status;
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK || status == TTR_AGAIN) {
        for (uint32_t i = 0; status == TTR_OK && i < batch.n; i++)
            counter_table_add(&watch->table, watch->t, ttr_batch_at(&batch, i));
        counter_table_flush(&watch->table);
    }
    if (status == TTR_END)
        return OUTCOME_FINE;
    report_error(watch->call, watch->runtime_connection.what, &error);
    return OUTCOME_INPUT;
}

static int begin_session(struct watch *watch)
{
    ttr_error error;
    const ttr_dotnet_config wish = {
        .size = sizeof wish, .providers = watch->providers, .buffer_mb = 10};
    ttr_dotnet_set_wake_fd(watch->runtime_connection.target, interrupt_get_wake_fd());
    watch->session = ttr_dotnet_session_start(watch->runtime_connection.target, &wish, &error);
    if (watch->session)
        return runtime_resume(&watch->runtime_connection);
    if (error.status == TTR_AGAIN)
        return OUTCOME_NO;
    report_error(watch->call, watch->runtime_connection.what, &error);
    return OUTCOME_INPUT;
}

static int watch_counters(struct watch *watch)
{
    ttr_error error;
    static const char *const at_once[] = {"nettrace.order=block", NULL};
    const ttr_read_options options = {
        .size = sizeof options, .from = "nettrace", .format_options = at_once};
    int outcome = begin_session(watch);
    if (outcome != OUTCOME_FINE)
        return outcome;
    watch->begin_ns = progress_now();
    ttr_reader *reader = ttr_open_pull(watch->t, read_session_bytes, watch,
                                       watch->runtime_connection.what, &options, &error);
    if (!reader) {
        report_error(watch->call, watch->runtime_connection.what, &error);
        return OUTCOME_INPUT;
    }
    counter_table_write_head(&watch->table);
    outcome = show_counters(watch, reader);
    counter_table_end(&watch->table);
    ttr_close(reader);
    if (outcome == OUTCOME_FINE && !watch->is_stopping)
        print_note(watch->call, "%s has ended", watch->runtime_connection.what);
    if (outcome == OUTCOME_FINE && watch->table.rows_seen == 0)
        print_note(watch->call, "no counter of this name said anything");
    return outcome;
}

int run_counters(struct call *call)
{
    const struct settings *set = &call->set;
    struct watch watch = {
        .call = call,
        .runtime_connection = {.call = call, .verb = "counters", .takes_stdout = true},
        .t = ttr_new(NULL),
        .providers = ttr_dotnet_providers_new()};
    uint64_t seconds = set->refresh ? set->refresh : 1;
    int outcome =
        watch.t && watch.providers ? runtime_check_operands(call, "counters") : OUTCOME_OUTPUT;
    if (set->duration && !dotnet_parse_duration(set->duration, &watch.limit_ns))
        outcome = report_misuse(
            "counters",
            "--duration cannot be \"%s\": expected 30s, 5min, or dd:hh:mm:ss, up to 292 years",
            set->duration);
    if (outcome == OUTCOME_FINE && set->counters && !set->counters[strspn(set->counters, ",")])
        outcome = report_misuse(
            "counters",
            "--counters is empty: expected PROVIDER or PROVIDER[NAME,NAME], separated by commas");
    if (outcome == OUTCOME_FINE)
        outcome =
            choose_counters(&watch, set->counters ? set->counters : "System.Runtime", seconds);
    if (outcome == OUTCOME_FINE)
        outcome = runtime_connect(&watch.runtime_connection);
    if (outcome == OUTCOME_FINE)
        outcome = counter_table_init(&watch.table, call, set->counters,
                                     watch.runtime_connection.what, seconds);
    if (outcome == OUTCOME_FINE)
        outcome = watch_counters(&watch);
    int written = counter_table_free(&watch.table);
    outcome = outcome == OUTCOME_FINE ? written : outcome;
    ttr_dotnet_close(watch.session);
    runtime_disconnect(&watch.runtime_connection);
    ttr_dotnet_providers_free(watch.providers);
    ttr_free(watch.t);
    return outcome;
}
