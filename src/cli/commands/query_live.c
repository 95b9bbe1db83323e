/* query --every: answers again and again while the input is read; see the header.
 *
 * Without --window an answer is over all events so far, from one store.  With --window=W it is over
 * the events of the last W: a store begins at each answer, events are added to all stores, and the
 * oldest one answers and is freed once it has W.  So memory is that of W / --every stores.
 *
 *     --every=1s --window=3s      store 1  |--------->|
 *                                 store 2      |--------->|
 *                                 store 3          |--------->|
 *                                 answers      1   1   1   2   3 */
#include "cli/commands/query_live.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands/query_work.h"
#include "cli/commands/table_output.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

#define STORES_MAX 64u

struct live_query {
    struct call *call;
    const char *sql;
    struct query_work work;
    struct query_session *session; /* that of `work` */
    ttr_store *stores[STORES_MAX]; /* the oldest one first */
    size_t stores_n, stores_max;
    uint64_t due_ns;     /* progress_now of the next answer */
    uint64_t answers;    /* number of answers so far */
    bool has_new_events; /* events came after the last answer */
    int outcome;         /* of the latest answer */
};

static bool add_store(struct live_query *live, ttr_error *error)
{
    ttr_store_options options = query_session_options(live->session);
    options.memory /= live->stores_max;
    ttr_store *store = ttr_store_new(live->session->inputs.t, &options, error);
    if (store)
        live->stores[live->stores_n++] = store;
    return store != NULL;
}

static void drop_oldest_store(struct live_query *live)
{
    ttr_store_free(live->stores[0]);
    live->stores_n--;
    memmove(live->stores, live->stores + 1, live->stores_n * sizeof *live->stores);
    live->session->store = NULL;
}

/* Separates answers: tables by a blank line, on a terminal by clearing it. */
static void print_separator(const struct live_query *live)
{
    const char *format = live->call->set.format;
    const bool is_table = !format || strcmp(format, "table") == 0;
    if (is_table && live->call->term.out_is_tty)
        (void)fputs("\x1b[H\x1b[J", stdout);
    else if (live->answers > 0 && (is_table || strcmp(format, "markdown") == 0))
        (void)putchar('\n');
}

/* Returns true for an error about a table or column, which the first event with it will add. */
static bool may_come_later(const ttr_error *error)
{
    return strstr(error->text, "no such table") || strstr(error->text, "no such column");
}

/* Runs the statement over the oldest store. A table of events or its column may be missing until
 * the first event comes: `is_last` reports that, otherwise the statement runs again later. */
static int print_answer(struct live_query *live, bool is_last)
{
    ttr_error error = {0};
    struct query_session *session = live->session;
    int outcome = OUTCOME_FINE;
    session->store = live->stores[0];
    if (ttr_store_update(session->store, session->inputs.reader, is_last, &error) != TTR_OK)
        return inputs_report_failure(live->call, inputs_get_name(live->call), &error);
    outcome = query_session_make_query(session);
    if (outcome != OUTCOME_FINE)
        return outcome;
    live->work.query = session->query;
    ttr_result *result = session->library->prepare(session->query, live->sql, NULL, &error);
    if (result || is_last || !may_come_later(&error)) {
        session->library->free(result);
        print_separator(live);
        live->work.has_no_heads = live->answers++ > 0;
        outcome = query_work_run(&live->work, live->sql);
        (void)fflush(stdout);
    }
    session->library->free_query(session->query);
    session->query = live->work.query = NULL;
    live->has_new_events = false;
    return ferror(stdout) ? OUTCOME_OUTPUT : outcome;
}

/* Moves the time of the next answer to the first multiple of --every after now. */
static void skip_due_times(struct live_query *live)
{
    const uint64_t every = (uint64_t)live->call->set.every, now = progress_now();
    if (now >= live->due_ns)
        live->due_ns += ((now - live->due_ns) / every + 1) * every;
}

/* Prints the answer that is due, and starts the next store. */
static int answer_if_due(struct live_query *live)
{
    ttr_error error = {0};
    if (progress_now() < live->due_ns)
        return OUTCOME_FINE;
    const int outcome = print_answer(live, false);
    skip_due_times(live);
    if (outcome != OUTCOME_FINE || live->call->set.window == 0)
        return outcome;
    if (live->stores_n == live->stores_max)
        drop_oldest_store(live);
    return add_store(live, &error)
               ? OUTCOME_FINE
               : inputs_report_failure(live->call, inputs_get_name(live->call), &error);
}

/* Answers while the input is waited for. An error ends the wait. */
static void note_wait(void *ctx, bool is_waiting)
{
    struct live_query *live = ctx;
    if (!is_waiting || live->outcome != OUTCOME_FINE)
        return;
    live->outcome = answer_if_due(live);
    if (live->outcome != OUTCOME_FINE)
        interrupt_after(1);
}

/* Reads the input and answers, up to an error, the end or Ctrl-C. Returns the status of reading. */
static ttr_status read_events(struct live_query *live, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status = TTR_OK;
    while ((status == TTR_OK || status == TTR_AGAIN) && live->outcome == OUTCOME_FINE &&
           !interrupt_was_received()) {
        status = ttr_read(live->session->inputs.reader, &batch, error);
        for (size_t i = 0; status == TTR_OK && i < live->stores_n; i++)
            status = ttr_store_add(live->stores[i], &batch, error);
        live->has_new_events |= status == TTR_OK && batch.n > 0;
        if ((status == TTR_OK || status == TTR_AGAIN) && live->outcome == OUTCOME_FINE)
            live->outcome = answer_if_due(live);
    }
    return status;
}

/* Answers until the end of the input, and a last time at its end. */
static int answer_until_end(struct live_query *live)
{
    ttr_error error = {0};
    live->due_ns = progress_now() + (uint64_t)live->call->set.every;
    inputs_note_waits(&live->session->inputs, note_wait, live);
    const ttr_status status = read_events(live, &error);
    inputs_note_waits(&live->session->inputs, NULL, NULL);
    interrupt_after(0);
    if (interrupt_was_received())
        interrupt_clear();
    if (live->outcome == OUTCOME_FINE && (live->has_new_events || live->answers == 0))
        live->outcome = print_answer(live, true);
    if (status == TTR_OK || status == TTR_AGAIN || status == TTR_END ||
        live->outcome != OUTCOME_FINE)
        return live->outcome;
    return inputs_report_failure(live->call, inputs_get_name(live->call), &error);
}

/* Checks options that --every excludes. Returns OUTCOME_FINE, or the outcome after reporting. */
static int check_options(const struct live_query *live)
{
    const struct settings *set = &live->call->set;
    if (!live->sql)
        return report_misuse("query", "--every needs a statement");
    if (set->interactive || set->serve)
        return report_misuse("query", "--every and %s exclude each other",
                             set->serve ? "--serve" : "--interactive");
    if (set->output || find_table_format(set->format, NULL))
        return report_misuse("query", "--every prints its answers: use table, csv, tsv, json, "
                                      "jsonl or markdown");
    if (set->window > 0 &&
        (set->window < set->every || set->window / set->every >= (int64_t)STORES_MAX))
        return report_misuse("query", "--window must be 1 to %u times --every", STORES_MAX - 1);
    return OUTCOME_FINE;
}

int run_query_live(struct call *call, const char *sql)
{
    struct live_query live = {.call = call, .sql = sql};
    const int64_t every = call->set.every;
    ttr_error error = {0};
    int outcome = check_options(&live);
    if (outcome != OUTCOME_FINE)
        return outcome;
    live.stores_max = call->set.window > 0 ? (size_t)((call->set.window + every - 1) / every) : 1;
    outcome = query_work_begin(&live.work, call, true);
    live.session = &live.work.schemas[0].session;
    if (outcome == OUTCOME_FINE && live.work.schemas[0].name)
        outcome = report_misuse("query", "--every reads inputs without names");
    if (outcome == OUTCOME_FINE) {
        query_work_want(&live.work, sql);
        outcome = query_session_open_inputs(live.session);
    }
    if (outcome == OUTCOME_FINE && !add_store(&live, &error))
        outcome = inputs_report_failure(call, inputs_get_name(call), &error);
    if (outcome == OUTCOME_FINE)
        outcome = query_work_warn(&live.work, answer_until_end(&live));
    while (live.stores_n > 1)
        ttr_store_free(live.stores[--live.stores_n]);
    live.session->store = live.stores_n ? live.stores[0] : NULL;
    query_work_close(&live.work);
    return outcome;
}
