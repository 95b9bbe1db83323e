/* recover: copies a damaged trace without the damage.
 *
 * The library does the work (ttr_recover). This file has the arguments and messages, and writes the
 * sidecar: a list of the damage, in a file next to each output. The sidecar is written to a
 * temporary file first. An input is never an output. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/recover.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "cli/commands/convert.h"
#include "cli/commands/copy_report.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/commands/report.h"
#include "cli/input/pipe_input.h"
#include "cli/input/output_check.h"
#include "cli/ui/messages.h"

#define SIDECAR ".damage.json"

/* The file next to an output that lists its damage. */
struct sidecar {
    /* paths of the sidecar and of its temporary version; NULL = not requested */
    char *path, *temporary;
};

/* State of one run of the command. */
struct recovery {
    const struct call *call;
    struct call ctx;        /* copy of `call`, with the paths of the current trace */
    char *path;             /* input path of the current trace */
    struct inputs inputs;   /* inputs that are pipes */
    struct sidecar sidecar; /* list of damage of the current trace */
    struct progress progress;
    ttr_writer *writer; /* writer that the progress display observes, or NULL */
    bool is_shown;      /* the progress display is on */
    int outcome;        /* outcome of the current trace */
    int worst;          /* worst outcome of all traces so far */
    size_t failed;
    bool ends_early; /* damage extends to the end of a file */
};

/* Returns true if the output is a file or folder, not a pipe or device. Such an output can be read
 * again and can have a sidecar. */
static bool keeps_existing_output(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 &&
           (stat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

/* Returns a path without trailing slashes, followed by a suffix, as a new string. */
static char *join_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), size;
    while (n > 1 && path[n - 1] == '/')
        n--;
    size = n + strlen(suffix) + 1;
    char *joined = malloc(size);
    if (joined)
        (void)snprintf(joined, size, "%.*s%s", (int)n, path, suffix);
    return joined;
}

/* Sets the path of the sidecar. Reports an error if the file exists, unless --overwrite is
 * given. */
static int choose_sidecar_path(const struct call *call, struct sidecar *sidecar)
{
    struct stat about;
    *sidecar = (struct sidecar){0};
    if (call->set.no_sidecar || !keeps_existing_output(call->set.output))
        return OUTCOME_FINE;
    sidecar->path = join_suffix(call->set.output, SIDECAR);
    sidecar->temporary = join_suffix(call->set.output, SIDECAR ".new");
    if (!sidecar->path || !sidecar->temporary) {
        report_failure_text(call->set.output, "out of memory");
        return OUTCOME_OUTPUT;
    }
    if (call->set.overwrite || stat(sidecar->path, &about) != 0)
        return OUTCOME_FINE;
    report_failure_text(sidecar->path,
                        "exists already; --overwrite (-f) replaces it, --no-sidecar does without");
    return OUTCOME_OUTPUT;
}

static void print_sidecar(FILE *to, const struct call *call, ttr_reader *reader,
                          const struct findings *found)
{
    struct json json = {.to = to};
    ttr_report report = {.size = sizeof report};
    bool has_report = ttr_reader_report(reader, 0, &report);
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.damage/1");
    json_write_string(&json, "input", call->path[0]);
    json_write_string(&json, "output", call->set.output);
    json_write_string(&json, "format", has_report ? report.format : "");
    json_write_uint(&json, "bytes", found->bytes);
    json_open(&json, "damage", '{');
    json_write_uint(&json, "regions", found->damage_regions);
    json_write_uint(&json, "bytes", found->damage_bytes);
    json_close(&json, '}');
    write_regions_json(&json, reader);
    json_close(&json, '}');
}

/* Writes the sidecar. If there was no damage, removes the sidecar of an earlier recovery
 * instead. */
static int write_sidecar(const struct sidecar *sidecar, const struct call *call, ttr_reader *reader)
{
    struct findings found = sum_findings(reader);
    if (!sidecar->path)
        return OUTCOME_FINE;
    if (found.damage_regions == 0) {
        (void)unlink(sidecar->path);
        return OUTCOME_FINE;
    }
    /* "x": fails for an existing file, which may belong to another program */
    FILE *to = fopen(sidecar->temporary, "wx");
    bool is_fine = to != NULL;
    if (to) {
        print_sidecar(to, call, reader, &found);
        is_fine = !ferror(to);
        is_fine = fclose(to) == 0 && is_fine;
    }
    if (is_fine && rename(sidecar->temporary, sidecar->path) == 0)
        return OUTCOME_FINE;
    if (!to && errno == EEXIST)
        report_failure_text(sidecar->temporary,
                            "exists already: remove it, or do without by --no-sidecar");
    else
        (void)report_unwritable_output(to ? sidecar->path : sidecar->temporary, errno);
    if (to)
        (void)unlink(sidecar->temporary);
    return OUTCOME_OUTPUT;
}

static void free_sidecar(struct sidecar *sidecar)
{
    free(sidecar->path);
    free(sidecar->temporary);
    *sidecar = (struct sidecar){0};
}

/* --- Messages --- */

static void report_copied_trace(const struct call *call, const struct findings *found,
                                uint64_t kept)
{
    const char *output = strcmp(call->set.output, "-") == 0 ? "standard output" : call->set.output;
    print_note(call, "%s: kept %s; %s damaged place%s (%s)", output, units_events(kept).s,
               units_count(found->damage_regions).s, found->damage_regions == 1 ? "" : "s",
               units_size(found->damage_bytes).s);
}

/* Prints the summary for all traces of a directory. */
static void report_total_result(const struct call *call, const ttr_recover_result *total,
                                size_t failed)
{
    const size_t n = total->traces, made = total->begun - failed;
    print_note(call, "%s: %s trace%s, kept %s; %s damaged place%s (%s)", call->set.output,
               units_count(made).s, made == 1 ? "" : "s", units_events(total->events).s,
               units_count(total->damage_regions).s, total->damage_regions == 1 ? "" : "s",
               units_size(total->damage_bytes).s);
    if (total->begun < n)
        print_note(call, "warning: this is not of all: %s of the traces of %s %s not begun",
                   units_count(n - total->begun).s, call->path[0],
                   n - total->begun == 1 ? "was" : "were");
    if (failed)
        report_failure_text(call->path[0], "%s of its traces could not be recovered",
                            units_count(failed).s);
}

/* Warns if the output is named like a compressed file, because copies are not compressed. */
static void warn_about_compression(const struct call *call, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    const char *output = call->set.output;
    const bool is_packed = ttr_reader_report(reader, 0, &report) && *report.compression &&
                           !convert_is_folder(report.format);
    if (strcmp(output, "-") == 0 || !keeps_existing_output(output) ||
        convert_is_folder(report.format))
        return;
    if (get_stdout_batch_size(output, strlen(output)) < strlen(output))
        print_note(call, "%s: warning: it is not compressed, whatever its name says", output);
    else if (is_packed)
        print_note(call, "%s: not compressed, as %s is", output, call->path[0]);
}

/* Reports a failed step of the recovery and returns the outcome. */
static int report_failure(const struct call *call, const ttr_recover_step *step)
{
    const struct copy_loop copy_loop = {.call = call, .path = step->output};
    const ttr_error *error = step->error;
    char ctx[MESSAGE_TEXT_MAX];
    switch (step->failure) {
    case TTR_RECOVER_OPENING:
        return inputs_report_failure(call, step->input, error);
    case TTR_RECOVER_FORMAT:
        report_failure_text(
            step->input,
            "format %s cannot be written, so it cannot be recovered; \"tracetta convert\" "
            "to another format keeps what can be read",
            error->format);
        return OUTCOME_MISUSE;
    case TTR_RECOVER_EMPTY:
        report_failure_text(step->input, "nothing in it can be used");
        return OUTCOME_INPUT;
    case TTR_RECOVER_OUTPUT:
        return copy_loop_output_failed(&copy_loop, error);
    case TTR_RECOVER_FOLDER:
        if (error->status == TTR_E_MISUSE)
            return report_misuse("recover",
                                 "\"%s\" is a directory of traces: they go to a folder, -o FOLDER",
                                 step->input);
        report_error(call, step->output, error);
        return OUTCOME_OUTPUT;
    case TTR_RECOVER_CHECK:
        report_failure_text(step->output,
                            "cannot be read after recovery: %s; the input is as it was",
                            message_error_text(error, ctx));
        return OUTCOME_OUTPUT;
    case TTR_RECOVER_NOT_CLEAN:
        report_failure_text(step->output,
                            "is not clean after recovery: %" PRIu64 " damaged places, %" PRIu64
                            " of %" PRIu64 " events read; the input is as it was",
                            step->found_damage, step->found_events, step->events);
        return OUTCOME_OUTPUT;
    case TTR_RECOVER_READING: /* was reported when it happened */
    case TTR_RECOVER_NO_FAILURE:
        break;
    }
    return OUTCOME_INPUT;
}

/* Reports that, and why, the copy is recovered once more. */
static void report_next_pass(const struct call *call, const ttr_recover_step *step)
{
    if (step->found_damage)
        print_note(call, "%s: %s places read as damaged now that others are gone; once more",
                   step->output, units_count(step->found_damage).s);
    else
        print_note(
            call,
            "%s: packets stand in it twice (%s), as can be seen now that damage is gone; once more",
            step->output, units_count(step->found_duplicates).s);
}

/* --- Steps --- */

static ttr_reader *open_input(void *user_data, ttr *t, const char *path,
                              const ttr_read_options *options, ttr_error *error)
{
    struct recovery *recovery = user_data;
    struct inputs *inputs = &recovery->inputs;
    while (inputs->streams_n > 0) /* closes the pipes of an input that was closed */
        stream_close(&inputs->stream[--inputs->streams_n]);
    inputs->t = t;
    return inputs_open_path(inputs, path, options, error);
}

static bool step_progress(void *user_data)
{
    struct recovery *recovery = user_data;
    if (!recovery->is_shown)
        return !interrupt_was_received();
    if (recovery->writer)
        recovery->progress.written = ttr_writer_events(recovery->writer);
    return progress_step(&recovery->progress);
}

static void end_progress(struct recovery *recovery)
{
    if (recovery->is_shown)
        progress_end(&recovery->progress);
    recovery->is_shown = false;
    recovery->writer = NULL;
}

static void begin_progress(struct recovery *recovery, const ttr_recover_step *step,
                           const char *what)
{
    progress_begin(&recovery->progress, &recovery->ctx, step->t, step->reader, what);
    recovery->writer = step->writer;
    recovery->is_shown = true;
}

/* Called when a trace is open: checks the paths of its output and sidecar. */
static bool begin_trace(struct recovery *recovery, const ttr_recover_step *step)
{
    const struct call *call = recovery->call;
    recovery->ctx = *call;
    recovery->path = (char *)(uintptr_t)step->input; /* the string is not modified */
    recovery->ctx.path = &recovery->path;
    recovery->ctx.set.output = (char *)(uintptr_t)step->output;
    const bool is_several = step->input != call->path[0]; /* the input is a directory of traces */
    int outcome = OUTCOME_FINE;
    if (is_several) /* a symbolic link in the output folder may lead to any input */
        outcome = check_output_path(call, step->output, NULL);
    if (outcome == OUTCOME_FINE && is_several)
        outcome = check_output_path(&recovery->ctx, step->output, NULL);
    if (outcome == OUTCOME_FINE)
        outcome = choose_sidecar_path(&recovery->ctx, &recovery->sidecar);
    if (outcome == OUTCOME_FINE)
        outcome = check_output_path(&recovery->ctx, recovery->sidecar.path, NULL);
    recovery->outcome = outcome;
    return outcome == OUTCOME_FINE;
}

static void begin_copy(struct recovery *recovery, const ttr_recover_step *step)
{
    ttr_report report = {.size = sizeof report};
    if (step->pass == 0 && ttr_reader_report(step->reader, 0, &report))
        inputs_warn_about_idle(&recovery->ctx, step->reader, report.format, 0);
    interrupt_set_temporary_path(ttr_writer_temporary_path(step->writer));
    begin_progress(recovery, step, recovery->call->command->name);
}

/* Called when copying ends: ends the progress display, and reports an error. */
static void end_copy(struct recovery *recovery, const ttr_recover_step *step)
{
    end_progress(recovery);
    if (step->error)
        recovery->outcome = inputs_report_failure(&recovery->ctx, step->input, step->error);
}

/* Called when a copy is complete: writes the sidecar and prints the summary. */
static bool finish_trace(struct recovery *recovery, const ttr_recover_step *step)
{
    const struct call *call = &recovery->ctx;
    struct copy_loop copy_loop = {.call = call, .out = step->writer};
    struct findings found = sum_findings(step->reader);
    interrupt_set_temporary_path(NULL);
    copy_loop_report_losses(&copy_loop);
    if (step->is_partial && strcmp(step->output, "-") != 0)
        report_failure_text(step->output,
                            "holds only what came before the failure (%" PRIu64 " events)",
                            ttr_writer_events(step->writer));
    report_copied_trace(call, &found, step->events);
    warn_about_compression(call, step->reader);
    recovery->ends_early = recovery->ends_early || is_cut_at_end(step->reader);
    if (is_cut_at_end(step->reader))
        print_note(call, "%s: damage reaches the end of a file, so more may be missing",
                   step->input);
    report_interruption(call, step->reader);
    recovery->outcome = write_sidecar(&recovery->sidecar, call, step->reader);
    if (recovery->outcome != OUTCOME_FINE)
        return false;
    if (found.damage_regions || step->is_partial)
        recovery->outcome = OUTCOME_NO;
    return true;
}

static void end_trace(struct recovery *recovery)
{
    end_progress(recovery);
    interrupt_set_temporary_path(NULL);
    free_sidecar(&recovery->sidecar);
    recovery->failed += recovery->outcome > OUTCOME_NO;
    if (recovery->outcome > recovery->worst)
        recovery->worst = recovery->outcome;
    recovery->outcome = OUTCOME_FINE;
}

static bool handle_step(void *user_data, const ttr_recover_step *step)
{
    struct recovery *recovery = user_data;
    switch (step->stage) {
    case TTR_RECOVER_INPUT:
        inputs_warn_about_opened(recovery->call, step->input, step->reader);
        break;
    case TTR_RECOVER_TRACE:
        end_trace(recovery);
        return begin_trace(recovery, step);
    case TTR_RECOVER_COPYING:
        begin_copy(recovery, step);
        break;
    case TTR_RECOVER_READ:
        end_copy(recovery, step);
        break;
    case TTR_RECOVER_COPIED:
        return finish_trace(recovery, step);
    case TTR_RECOVER_VERIFYING:
        interrupt_set_temporary_path(NULL);
        begin_progress(recovery, step, "verifying");
        break;
    case TTR_RECOVER_CHECKED:
        end_progress(recovery);
        break;
    case TTR_RECOVER_AGAIN:
        report_next_pass(recovery->call, step);
        break;
    case TTR_RECOVER_VERIFIED:
        print_note(recovery->call, "%s: %s", step->output,
                   step->is_complete ? "verified, clean" : "not verified to the end");
        break;
    case TTR_RECOVER_FAILED:
        if (step->failure == TTR_RECOVER_OPENING)
            end_trace(recovery);
        if (step->failure != TTR_RECOVER_READING) /* a failed read was reported when it happened */
            recovery->outcome = report_failure(recovery->call, step);
        break;
    }
    return true;
}

/* Prints the report of --json: docs/user/json.md has the schema. */
static void print_report(const struct recovery *recovery, const ttr_recover_result *total,
                         int outcome)
{
    const struct call *call = recovery->call;
    struct json json = {.to = stdout};
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.recover/1");
    json_write_string(&json, "input", call->path[0]);
    json_write_string(&json, "output", call->set.output);
    json_write_int(&json, "status", outcome);
    json_write_uint(&json, "traces", total->is_directory ? total->begun : 1);
    json_write_uint(&json, "failed", recovery->failed);
    json_write_uint(&json, "events", total->events);
    json_write_bool(&json, "interrupted", interrupt_was_received() != 0);
    json_write_bool(&json, "ends_early", recovery->ends_early);
    json_open(&json, "damage", '{');
    json_write_uint(&json, "regions", total->damage_regions);
    json_write_uint(&json, "bytes", total->damage_bytes);
    json_close(&json, '}');
    json_close(&json, '}');
}

static int recover_inputs(struct recovery *recovery, const ttr_read_options *reading,
                          const ttr_write_options *writing)
{
    const struct call *call = recovery->call;
    const ttr_recover_options options = {.size = sizeof options,
                                         .reading = reading,
                                         .writing = writing,
                                         .open = open_input,
                                         .sidecar_suffix = SIDECAR,
                                         .progress = step_progress,
                                         .step = handle_step,
                                         .user_data = recovery};
    ttr_recover_result total = {.size = sizeof total};
    ttr_error error;
    const ttr_status status =
        ttr_recover(call->path[0], call->set.output, &options, &total, &error);
    end_trace(recovery);
    int worst = recovery->worst;
    if (status != TTR_OK && status != TTR_AGAIN && worst == OUTCOME_FINE && total.failed == 0)
        worst = inputs_report_failure(call, call->path[0], &error);
    if (total.is_directory && (total.begun > 0 || worst == OUTCOME_FINE)) {
        report_total_result(call, &total, recovery->failed);
        if (worst == OUTCOME_INPUT && recovery->failed < total.begun)
            worst = OUTCOME_NO; /* traces that could not be copied count as damaged */
        worst = total.begun < total.traces && worst == OUTCOME_FINE ? OUTCOME_NO : worst;
    }
    const size_t copied = total.is_directory ? total.begun - recovery->failed : worst <= OUTCOME_NO;
    if (call->set.json && copied > 0)
        print_report(recovery, &total, worst);
    return worst;
}

int run_recover(struct call *call)
{
    struct recovery recovery = {.call = call, .ctx = *call};
    ttr_read_options reading = {.size = sizeof reading};
    ttr_write_options writing = {.size = sizeof writing};
    bool is_fine = true;
    if (!call->set.output)
        return report_misuse("recover", "no output: use -o OUTPUT");
    int outcome = copy_report_check(call);
    if (outcome == OUTCOME_FINE)
        outcome = check_output_path(call, call->set.output, NULL);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_fill_read_options(call, &reading);
    const char **options = NULL;
    if (outcome == OUTCOME_FINE)
        options = inputs_format_options(call, true, &is_fine);
    recovery.inputs.stream = calloc(1, sizeof *recovery.inputs.stream);
    writing.format_options = options;
    writing.flags = call->set.overwrite ? TTR_WRITE_OVERWRITE : 0;
    if (outcome == OUTCOME_FINE && (!is_fine || !recovery.inputs.stream))
        outcome = OUTCOME_MISUSE;
    if (outcome == OUTCOME_FINE)
        outcome = recover_inputs(&recovery, &reading, &writing);
    recovery.inputs.t = NULL; /* the library owns this context */
    inputs_close(&recovery.inputs);
    free(options);
    free((void *)(uintptr_t)reading.format_options);
    return outcome;
}
