/* Progress display: bytes read from all input files, as stored on disk. */
#include "cli/ui/progress.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "cli/commands/command.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/json.h"

#define FIRST_NS UINT64_C(1000000000)
#define TTY_STEP_NS UINT64_C(200000000)
#define JSON_STEP_NS UINT64_C(500000000)
#define GRACE_NS UINT64_C(500000000)

struct position {
    uint64_t used, size, events; /* size 0 = unknown */
};

uint64_t progress_now(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct position find_position(ttr_reader *reader)
{
    struct position sum = {0};
    bool is_known = true;
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        is_known = is_known && (report.disk_size > 0 || report.shares_file);
        sum.used += report.disk_used;
        sum.size += report.disk_size;
        sum.events += report.events;
    }
    sum.size = is_known && sum.used <= sum.size ? sum.size : 0;
    return sum;
}

/* Returns the fraction of the work that is done: of bytes read, or of events written when all are
 * read. Returns 0 if unknown. */
static double find_part(const struct progress *progress, const struct position *at)
{
    if (progress->read_all_ns && at->events)
        return (double)progress->written / (double)at->events;
    return at->size ? (double)at->used / (double)at->size : 0;
}

static void show_json(const struct progress *progress, const struct position *at, double seconds)
{
    struct json json = {.to = stderr, .is_flat = true};
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.progress/1");
    json_write_string(&json, "what", progress->what);
    json_write_uint(&json, "bytes", at->used);
    if (at->size)
        json_write_uint(&json, "total_bytes", at->size);
    json_write_uint(&json, "events", at->events);
    if (progress->written)
        json_write_uint(&json, "written", progress->written);
    json_write_float(&json, "seconds", seconds);
    json_close(&json, '}');
}

/* Prints the progress line. A sorter reads everything before it returns events, so the rate of
 * events counts from then on. */
static void show_progress_line(const struct progress *progress, const struct position *at,
                               double seconds)
{
    double part = find_part(progress, at);
    bool is_all_read = at->size && at->used == at->size;
    (void)fprintf(stderr, "\r%s ", is_all_read && progress->written ? "writing" : progress->what);
    if (is_all_read && !progress->written) {
        (void)fprintf(stderr, "%s read, working\x1b[K", units_size(at->used).s);
        return;
    }
    uint64_t events = is_all_read ? progress->written : at->events;
    if (part > 0)
        (void)fprintf(stderr, "%3.0f %%  ", 100 * part);
    (void)fprintf(stderr, "%s  %s events/s", units_size(at->used).s,
                  units_count((uint64_t)((double)events / seconds)).s);
    if (part > 0 && part <= 1)
        (void)fprintf(stderr, "  %s left",
                      units_duration((uint64_t)(seconds / part * (1 - part)) * 1000000000).s);
    (void)fputs("\x1b[K", stderr);
}

bool progress_step(void *ctx)
{
    struct progress *progress = ctx;
    if (interrupt_was_received())
        return false;
    /* Reading the clock costs as much as an event, so only every 16th call does it. */
    if (!progress->is_on || ++progress->calls % 16 != 0)
        return true;
    uint64_t now = progress_now();
    if (now < progress->next_ns)
        return true;
    struct position at = find_position(progress->reader);
    if (!progress->read_all_ns && progress->written && at.size && at.used == at.size) {
        progress->read_all_ns = now;
        progress->next_ns = now + TTY_STEP_NS;
        return true;
    }
    double seconds =
        (double)(now - (progress->read_all_ns && !progress->is_json ? progress->read_all_ns
                                                                    : progress->begin_ns)) /
        1e9;
    if (progress->is_json)
        show_json(progress, &at, seconds);
    else
        show_progress_line(progress, &at, seconds);
    progress->is_shown = !progress->is_json;
    progress->next_ns = now + (progress->is_json ? JSON_STEP_NS : TTY_STEP_NS);
    return true;
}

void progress_begin(struct progress *progress, const struct call *call, ttr *t, ttr_reader *reader,
                    const char *what)
{
    const char *how = call->set.progress ? call->set.progress : "auto";
    *progress = (struct progress){
        .call = call, .t = t, .reader = reader, .what = what, .begin_ns = progress_now()};
    progress->is_json = strcmp(how, "json") == 0;
    /* Progress and output are not mixed on the same terminal. */
    bool is_free = call->term.error_is_tty && !call->term.pager &&
                   (!call->term.out_is_tty || call->command->verb != VERB_CAT);
    progress->is_on =
        progress->is_json || (strcmp(how, "auto") == 0 && is_free && !call->set.quiet);
    progress->next_ns = progress->begin_ns + (progress->is_json ? JSON_STEP_NS : FIRST_NS);
    ttr_progress_set(t, progress_step, progress);
}

bool progress_grace_step(void *ctx)
{
    struct progress_grace *grace = ctx;
    if (!interrupt_was_received())
        return true;
    const uint64_t now = progress_now();
    if (!grace->end_ns)
        grace->end_ns = now + GRACE_NS;
    return now < grace->end_ns;
}

void progress_end(struct progress *progress)
{
    if (progress->is_shown)
        (void)fputs("\r\x1b[K", stderr);
    progress->is_shown = false;
    ttr_progress_set(progress->t, NULL, NULL);
}
