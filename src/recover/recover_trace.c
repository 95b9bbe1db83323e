/* Recovering one trace.
 *
 *   open the input --> copy all good records --> close it
 *                                                  |
 *                          +---- read the copy <---+
 *                          |          ^
 *                  clean: done        | not clean, at most TTR_RECOVER_PASSES_MAX times
 *                          |          |
 *                          +--> copy the copy onto itself
 *
 * A copy is clean if it has no damage and no duplicate packets.  It must have all events that were
 * copied; it may have more, since a record may become readable without the damage next to it.
 * Memory is needed for one reader at a time: each has a context of its own.  Left out: verifying an
 * output that cannot be read again, as a pipe or a device. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <tracetta/advanced.h>
#include <tracetta/formats.h>
#include <tracetta/recover.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/status.h"
#include "recover/recover.h"

/* State of the recovery of one trace. */
struct job {
    struct recovery *recovery;
    ttr_recover_step step;
};

/* Sums over all reports of a reader. */
struct sums {
    uint64_t events, damage_regions, damage_bytes, duplicates;
};

static struct sums sum_reports(ttr_reader *reader)
{
    struct sums sums = {0};
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        sums.events += report.events;
        sums.damage_regions += report.damage_regions;
        sums.damage_bytes += report.damage_bytes;
        sums.duplicates += report.duplicates;
    }
    return sums;
}

/* Returns true if a path can be read again: a file or folder, not a pipe or device. */
static bool can_be_read_again(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 &&
           (stat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

static void fail_recovery(struct job *job, ttr_recover_failure failure, const ttr_error *error)
{
    recover_fail(job->recovery, &job->step, failure, error);
}

static bool report_recovery_stage(struct job *job, ttr_recover_stage stage)
{
    return recover_report_step(job->recovery, &job->step, stage);
}

/* --- Copying --- */

/* Creates the missing folders of a path. The first `from` bytes of the path exist already. */
static ttr_status make_folders(struct recovery *recovery, const char *output, size_t from,
                               ttr_error *error)
{
    char *path = arena_copy(&recovery->arena, output, strlen(output));
    if (!path)
        return fail_memory(error);
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return fail_sys(error, errno, NO_OFFSET, "cannot make the folder %s", path);
        *slash = '/';
    }
    return TTR_OK;
}

static uint64_t count_events(const ttr_batch *batch)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < batch->n; i++) {
        const uint8_t kind = ttr_batch_at(batch, i)->kind;
        n += kind != TTR_KIND_DEFINITION && kind != TTR_KIND_GAP;
    }
    return n;
}

/* Removes the unused end of a buffer from a batch, because some programs refuse files that have
 * one. */
static void drop_unused_end(ttr_batch *batch)
{
    while (batch->n > 0) {
        const ttr_event *last = ttr_batch_at(batch, batch->n - 1);
        if (last->kind != TTR_KIND_DEFINITION || last->tag != TTR_DEFINITION_UNUSED)
            return;
        batch->n--;
    }
}

/* Copies all events. Returns the status of writing and sets *reading to that of reading. */
static ttr_status copy_events(struct job *job, ttr_status *reading, ttr_error *error)
{
    ttr_reader *reader = job->step.reader;
    ttr_writer *writer = job->step.writer;
    ttr_status status = TTR_OK;
    ttr_batch batch;
    do {
        *reading = ttr_read(reader, &batch, error);
        if (*reading == TTR_AGAIN) { /* a live trace has no new events: wait and continue */
            status = ttr_flush(writer, error);
        } else if (*reading == TTR_OK) {
            drop_unused_end(&batch);
            job->step.events += job->step.pass == 0 ? count_events(&batch) : 0;
            status = batch.n ? ttr_write(writer, &batch, error) : TTR_OK;
        } else {
            break;
        }
    } while (status == TTR_OK && recover_should_continue(job->recovery));
    if (*reading == TTR_AGAIN || *reading == TTR_END)
        *reading = TTR_OK;
    return status;
}

/* Returns true if the copy is kept, although reading the input failed before its end. */
static bool keeps_partial_copy(const struct job *job, const ttr_error *error)
{
    const bool is_damage = error->status == TTR_E_MALFORMED || error->status == TTR_E_TRUNCATED;
    if (is_damage && job->recovery->reading.flags & TTR_READ_STRICT)
        return false;
    return ttr_writer_events(job->step.writer) > 0 && error->status != TTR_E_MISUSE &&
           strcmp(error->format, "temporary") != 0;
}

/* Copies all events of the reader to the writer. Returns false after reporting a failure. */
static bool copy_reader_to_writer(struct job *job)
{
    ttr_recover_step *step = &job->step;
    ttr_error error = {0};
    ttr_status reading = TTR_OK;
    (void)ttr_writer_allow_stream_order(step->writer, step->reader);
    (void)report_recovery_stage(job, TTR_RECOVER_COPYING);
    ttr_status writing = copy_events(job, &reading, &error);
    step->is_partial = writing == TTR_OK && reading != TTR_OK && keeps_partial_copy(job, &error);
    step->error = reading != TTR_OK ? &error : NULL;
    (void)report_recovery_stage(job, TTR_RECOVER_READ);
    step->error = NULL;
    const struct sums sums = sum_reports(step->reader);
    if (writing != TTR_OK)
        fail_recovery(job, TTR_RECOVER_OUTPUT, &error);
    else if (reading != TTR_OK && !step->is_partial)
        fail_recovery(job, TTR_RECOVER_READING, &error);
    else if (sums.events == 0 && sums.damage_regions && step->pass == 0) {
        (void)fail(&error, TTR_E_MALFORMED, NO_OFFSET, "nothing in it can be used");
        fail_recovery(job, TTR_RECOVER_EMPTY, &error);
    } else if (ttr_writer_end(step->writer, &error) != TTR_OK)
        fail_recovery(job, TTR_RECOVER_OUTPUT, &error);
    else
        return true;
    return false;
}

/* Creates a writer for the format of the trace and copies all events to it. The caller ends the
 * writer. Returns false after reporting a failure. */
static bool copy_to_output(struct job *job, uint32_t flags)
{
    ttr_recover_step *step = &job->step;
    ttr_error error = {0};
    ttr_report report = {.size = sizeof report};
    ttr_write_options writing = job->recovery->writing;
    if (!ttr_reader_report(step->reader, 0, &report) || !recover_can_write(report.format)) {
        (void)fail(&error, TTR_E_UNSUPPORTED, NO_OFFSET,
                   "format %s cannot be written, so it cannot be recovered", report.format);
        (void)strncpy(error.format, report.format ? report.format : "", sizeof error.format - 1);
        fail_recovery(job, TTR_RECOVER_FORMAT, &error);
        return false;
    }
    writing.flags |= flags;
    step->writer = ttr_create(step->t, step->output, report.format, &writing, &error);
    if (!step->writer) {
        fail_recovery(job, TTR_RECOVER_OUTPUT, &error);
        return false;
    }
    return copy_reader_to_writer(job);
}

static void close_step(ttr_recover_step *step)
{
    ttr_writer_abort(step->writer);
    ttr_close(step->reader);
    ttr_free(step->t);
    step->writer = NULL;
    step->reader = NULL;
    step->t = NULL;
}

/* --- Verifying --- */

/* Returns true if an option of the input must not be used for reading its copy. The option is
 * "KEY=VALUE" or "FORMAT.KEY=VALUE". */
static bool is_input_only_option(const char *option)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++) {
        const size_t n = strlen(info.name);
        const char *key =
            strncmp(option, info.name, n) == 0 && option[n] == '.' ? option + n + 1 : option;
        const size_t key_n = strcspn(key, "=");
        size_t word_n;
        for (const char *word = info.input_options; *word; word += word_n + (word[word_n] == ' ')) {
            word_n = strcspn(word, " ");
            if (word_n == key_n && memcmp(word, key, key_n) == 0)
                return true;
        }
    }
    return false;
}

/* Opens the copy with the options that are valid for it. */
static bool open_copy(struct job *job, uint32_t flags, ttr_error *error)
{
    struct recovery *recovery = job->recovery;
    ttr_read_options reading = recovery->reading;
    const char *const *given = reading.format_options;
    size_t n = 0, kept = 0;
    while (given && given[n])
        n++;
    const char **list = alloc_zero(&recovery->alloc, n + 1, sizeof *list);
    job->step.t = list ? ttr_new(recovery->options->context) : NULL;
    for (size_t i = 0; list && i < n; i++)
        if (!is_input_only_option(given[i]))
            list[kept++] = given[i];
    reading.flags |= flags;
    reading.time_offset = 0;
    reading.format_options = list;
    if (job->step.t)
        job->step.reader = ttr_open(job->step.t, job->step.output, &reading, error);
    else
        (void)fail_memory(error);
    alloc_free(&recovery->alloc, list, n + 1, sizeof *list);
    return job->step.reader != NULL;
}

/* Reads the copy to its end. Stores the damage that it has in the step. */
static ttr_status read_copy(struct job *job, ttr_error *error)
{
    ttr_recover_step *step = &job->step;
    ttr_batch batch;
    ttr_status status = open_copy(job, 0, error) ? TTR_OK : error->status;
    if (status == TTR_OK) {
        /* stream order needs memory for only one stream at a time */
        (void)ttr_reader_allow_stream_order(step->reader);
        (void)report_recovery_stage(job, TTR_RECOVER_VERIFYING);
        do
            status = ttr_read(step->reader, &batch, error);
        while ((status == TTR_OK || status == TTR_AGAIN) && recover_should_continue(job->recovery));
        const struct sums sums = sum_reports(step->reader);
        step->is_complete = status == TTR_END;
        step->found_events = sums.events;
        step->found_damage = sums.damage_regions;
        step->found_duplicates = sums.duplicates;
        (void)report_recovery_stage(job, TTR_RECOVER_CHECKED);
    }
    close_step(step);
    return status == TTR_END || status == TTR_AGAIN ? TTR_OK : status;
}

/* Returns true if the copy has damage that copying it once more would remove. */
static bool should_recopy(const ttr_recover_step *step)
{
    return step->found_damage || (step->is_complete && step->found_duplicates);
}

/* Copies the copy onto itself, which leaves out its damage. Sets *events to the number of
 * events. */
static bool recopy_output(struct job *job, uint64_t *events)
{
    ttr_error error = {0};
    bool is_fine = open_copy(job, TTR_READ_DEFINITIONS, &error);
    if (is_fine)
        is_fine = copy_to_output(job, TTR_WRITE_OVERWRITE);
    else
        fail_recovery(job, TTR_RECOVER_CHECK, &error);
    if (is_fine)
        *events = sum_reports(job->step.reader).events;
    close_step(&job->step);
    return is_fine;
}

static void verify_output(struct job *job)
{
    ttr_recover_step *step = &job->step;
    ttr_error error = {0};
    uint64_t events = step->events;
    ttr_status status = read_copy(job, &error);
    while (status == TTR_OK && should_recopy(step) && step->pass < TTR_RECOVER_PASSES_MAX) {
        step->pass++;
        (void)report_recovery_stage(job, TTR_RECOVER_AGAIN);
        if (!recopy_output(job, &events))
            return;
        status = read_copy(job, &error);
    }
    if (status != TTR_OK) {
        fail_recovery(job, TTR_RECOVER_CHECK, &error);
    } else if (!step->is_complete || (step->found_damage == 0 && step->found_events >= events)) {
        (void)report_recovery_stage(job, TTR_RECOVER_VERIFIED);
    } else {
        step->events = events;
        (void)fail(&error, TTR_E_MALFORMED, NO_OFFSET,
                   "the copy is not clean: %llu damaged places, %llu of %llu events read",
                   (unsigned long long)step->found_damage, (unsigned long long)step->found_events,
                   (unsigned long long)events);
        fail_recovery(job, TTR_RECOVER_NOT_CLEAN, &error);
    }
}

void recover_trace(struct recovery *recovery, const struct recover_entry *place, const char *base,
                   ttr *t, ttr_reader *reader)
{
    struct job job = {
        .recovery = recovery,
        .step = {.input = place->path, .output = place->output, .t = t, .reader = reader}};
    ttr_error error = {0};
    ttr_recover_result *result = &recovery->result;
    bool is_fine = report_recovery_stage(&job, TTR_RECOVER_TRACE);
    if (!is_fine)
        result->failed++;
    if (is_fine && base && make_folders(recovery, place->output, 1, &error) != TTR_OK) {
        fail_recovery(&job, TTR_RECOVER_OUTPUT, &error);
        is_fine = false;
    }
    is_fine = is_fine && copy_to_output(&job, 0);
    if (is_fine) {
        const struct sums sums = sum_reports(reader);
        result->events += job.step.events;
        result->damage_regions += sums.damage_regions;
        result->damage_bytes += sums.damage_bytes;
        is_fine = report_recovery_stage(&job, TTR_RECOVER_COPIED);
        result->failed += !is_fine;
    }
    close_step(&job.step);
    if (is_fine && can_be_read_again(place->output))
        verify_output(&job);
}
