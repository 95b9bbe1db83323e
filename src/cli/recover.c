/* recover: a copy of a damaged trace without the damage.
 *
 * The input is only read.  Every good record is copied byte for byte, so that recovering a recovered file changes nothing. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert.h"
#include "progress.h"
#include "report.h"
#include "talk.h"

/* The file beside an output that lists what was skipped. */
struct sidecar {
    char *path, *temporary; /* NULL when none is wanted */
};

static bool is_regular_target(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && (stat(path, &about) != 0 || S_ISREG(about.st_mode));
}

static char *join(const char *path, const char *suffix)
{
    size_t n = strlen(path) + strlen(suffix) + 1;
    char *joined = malloc(n);
    if (joined)
        (void)snprintf(joined, n, "%s%s", path, suffix);
    return joined;
}

/* Decides where the list goes; refuses to replace one without --overwrite. */
static int plan_sidecar(const struct call *call, struct sidecar *sidecar)
{
    struct stat about;
    *sidecar = (struct sidecar){0};
    if (call->set.no_sidecar || !is_regular_target(call->set.output))
        return OUTCOME_FINE;
    sidecar->path = join(call->set.output, ".damage.json");
    sidecar->temporary = join(call->set.output, ".damage.json.new");
    if (!sidecar->path || !sidecar->temporary) {
        talk_failure(call->set.output, "out of memory");
        return OUTCOME_OUTPUT;
    }
    if (call->set.overwrite || stat(sidecar->path, &about) != 0)
        return OUTCOME_FINE;
    talk_failure(sidecar->path, "exists already; --overwrite (-f) replaces it, --no-sidecar does without");
    return OUTCOME_OUTPUT;
}

static void put_sidecar(FILE *to, ttr_reader *reader, const ttr_report *report, const char *output)
{
    struct json json = {.to = to};
    json_open(&json, NULL, '{');
    json_string(&json, "schema", "tracetta.damage/1");
    json_text(&json, "input", report->path);
    json_string(&json, "output", output);
    json_string(&json, "format", report->format);
    json_uint(&json, "bytes", report->bytes);
    json_open(&json, "damage", '{');
    json_uint(&json, "regions", report->damage_regions);
    json_uint(&json, "bytes", report->damage_bytes);
    json_close(&json, '}');
    report_json_regions(&json, reader);
    json_close(&json, '}');
}

/* Writes the list, or removes that of an earlier recovery when there is nothing to list. */
static int write_sidecar(const struct sidecar *sidecar, const struct call *call, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    if (!sidecar->path || !ttr_reader_report(reader, 0, &report))
        return OUTCOME_FINE;
    if (report.damage_regions == 0) {
        (void)unlink(sidecar->path);
        return OUTCOME_FINE;
    }
    FILE *to = fopen(sidecar->temporary, "wx"); /* who knows whose it is */
    bool is_fine = to != NULL;
    if (to) {
        put_sidecar(to, reader, &report, call->set.output);
        is_fine = !ferror(to);
        is_fine = fclose(to) == 0 && is_fine;
    }
    if (is_fine && rename(sidecar->temporary, sidecar->path) == 0)
        return OUTCOME_FINE;
    talk_failure(to ? sidecar->path : sidecar->temporary, "cannot write: %s", strerror(errno));
    if (to)
        (void)unlink(sidecar->temporary);
    return OUTCOME_OUTPUT;
}

/* Reads the output again: it must be clean and hold as many events. */
static int verify(const struct call *call, uint64_t events)
{
    struct inputs again;
    struct progress progress;
    ttr_batch batch;
    ttr_error error = {0};
    ttr_status status;
    if (!is_regular_target(call->set.output))
        return OUTCOME_FINE;
    int outcome = inputs_open_one(&again, call, call->set.output, 0);
    if (outcome != OUTCOME_FINE)
        return OUTCOME_OUTPUT;
    progress_begin(&progress, call, again.t, again.reader, "verifying");
    do {
        status = ttr_read(again.reader, &batch, &error);
    } while ((status == TTR_OK || status == TTR_AGAIN) && progress_step(&progress));
    progress_end(&progress);
    struct findings found = report_sum(again.reader);
    inputs_close(&again);
    if (status == TTR_OK || (status == TTR_END && found.damage_regions == 0 && found.events == events)) {
        talk_note(call, "%s: %s", call->set.output, status == TTR_OK ? "not verified to the end" : "verified, clean");
        return OUTCOME_FINE;
    }
    talk_failure(call->set.output, "is not clean after recovery: %" PRIu64 " damaged places, %" PRIu64 " of %" PRIu64
                 " events read; the input is as it was", found.damage_regions, found.events, events);
    return OUTCOME_OUTPUT;
}

static void tell(const struct call *call, const struct findings *found)
{
    talk_note(call, "%s: kept %s events, skipped %s damaged place%s (%s)", call->set.output, units_count(found->events).s,
              units_count(found->damage_regions).s, found->damage_regions == 1 ? "" : "s", units_size(found->damage_bytes).s);
}

/* Everything after the copy itself. */
static int conclude(const struct call *call, struct inputs *inputs, const struct sidecar *sidecar, bool is_cut)
{
    struct findings found = report_sum(inputs->reader);
    tell(call, &found);
    int outcome = write_sidecar(sidecar, call, inputs->reader);
    if (outcome == OUTCOME_FINE)
        outcome = verify(call, found.events);
    return outcome == OUTCOME_FINE && (found.damage_regions || is_cut) ? OUTCOME_NO : outcome;
}

static int copy(const struct call *call, struct inputs *inputs, const struct sidecar *sidecar)
{
    ttr_report report = {.size = sizeof report};
    bool has_report = ttr_reader_report(inputs->reader, 0, &report);
    struct pump pump = {.call = call, .t = inputs->t, .in = inputs->reader, .path = call->set.output};
    if (!has_report || !convert_writes(report.format)) {
        talk_failure(call->path[0], "format %s cannot be written, so it cannot be recovered", has_report ? report.format : "");
        return OUTCOME_OUTPUT;
    }
    int outcome = pump_open(&pump, report.format, 0);
    if (outcome == OUTCOME_FINE)
        outcome = pump_run(&pump);
    /* What can be read before a fatal failure is just what this verb is asked for. */
    bool is_cut = pump.is_partial;
    struct findings found = report_sum(inputs->reader);
    if (outcome == OUTCOME_FINE && found.events == 0 && found.damage_regions) {
        talk_failure(call->path[0], "nothing in it can be used");
        outcome = OUTCOME_INPUT;
    }
    outcome = pump_end(&pump, outcome);
    return outcome == OUTCOME_FINE || is_cut ? conclude(call, inputs, sidecar, is_cut) : outcome;
}

int run_recover(struct call *call)
{
    struct inputs inputs;
    struct sidecar sidecar = {0};
    struct stat about;
    if (!call->set.output)
        return talk_misuse("recover", "where to? -o OUTPUT");
    if (stat(call->path[0], &about) == 0 && S_ISDIR(about.st_mode))
        return talk_misuse("recover", "\"%s\" is a directory: recover its files one by one", call->path[0]);
    int outcome = convert_check_output(call, call->set.output);
    if (outcome == OUTCOME_FINE)
        outcome = plan_sidecar(call, &sidecar);
    if (outcome == OUTCOME_FINE)
        outcome = convert_check_output(call, sidecar.path);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_open_one(&inputs, call, call->path[0], TTR_READ_DEFINITIONS);
    if (outcome == OUTCOME_FINE) {
        outcome = copy(call, &inputs, &sidecar);
        inputs_close(&inputs);
    }
    free(sidecar.path);
    free(sidecar.temporary);
    return outcome;
}
