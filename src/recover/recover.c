/* Recovery of traces: the public function, and the loop over the traces of a directory. */
#include "recover/recover.h"

#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/formats.h>
#include <tracetta/recover.h>
#include <tracetta/tracetta.h>

#include "base/status.h"

bool recover_report_step(const struct recovery *recovery, ttr_recover_step *step,
                         ttr_recover_stage stage)
{
    const ttr_recover_options *options = recovery->options;
    step->stage = stage;
    return !options->step || options->step(options->user_data, step);
}

void recover_fail(struct recovery *recovery, ttr_recover_step *step, ttr_recover_failure failure,
                  const ttr_error *error)
{
    recovery->result.failed++;
    if (recovery->status == TTR_OK) {
        recovery->status = error->status;
        recovery->error = *error;
    }
    step->failure = failure;
    step->error = error;
    (void)recover_report_step(recovery, step, TTR_RECOVER_FAILED);
    step->error = NULL;
}

bool recover_should_continue(struct recovery *recovery)
{
    const ttr_recover_options *options = recovery->options;
    recovery->is_ended =
        recovery->is_ended || (options->progress && !options->progress(options->user_data));
    return !recovery->is_ended;
}

bool recover_can_write(const char *format)
{
    ttr_format_info info;
    for (size_t i = 0; format && ttr_format_get(i, &info); i++)
        if (strcmp(info.name, format) == 0)
            return info.abilities & TTR_FORMAT_WRITES;
    return false;
}

/* Opens a trace with the caller's options, and with the option that names longer metadata, if the
 * trace has such metadata. */
static ttr_reader *open_with_options(const struct recovery *recovery, ttr *t,
                                     const struct recover_entry *place, ttr_error *error)
{
    const ttr_recover_options *options = recovery->options;
    ttr_read_options reading = recovery->reading;
    const char *const *given = reading.format_options;
    size_t n = 0;
    while (given && given[n])
        n++;
    const char **list = alloc_zero(&recovery->alloc, n + 2, sizeof *list);
    if (!list) {
        (void)fail_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        list[i] = given[i];
    list[n] = place->longer;
    reading.flags |= TTR_READ_DEFINITIONS;
    reading.format_options = list;
    ttr_reader *reader = options->open
                             ? options->open(options->user_data, t, place->path, &reading, error)
                             : ttr_open(t, place->path, &reading, error);
    alloc_free(&recovery->alloc, list, n + 2, sizeof *list);
    return reader;
}

/* Opens an input in a new context. Reports a failure and returns NULL. */
static ttr_reader *open_input(struct recovery *recovery, const struct recover_entry *place, ttr **t)
{
    ttr_error error = {0};
    ttr_recover_step step = {.input = place->path, .output = place->output};
    *t = ttr_new(recovery->options->context);
    ttr_reader *reader = *t ? open_with_options(recovery, *t, place, &error) : NULL;
    if (reader)
        return reader;
    if (!*t)
        (void)fail_memory(&error);
    recover_fail(recovery, &step, TTR_RECOVER_OPENING, &error);
    ttr_free(*t);
    return NULL;
}

/* Recovers each trace of a list, until all are done or the caller cancels. */
static void recover_entries(struct recovery *recovery, const char *output,
                            const struct recover_entries *places)
{
    for (size_t i = 0; i < places->n && recover_should_continue(recovery); i++) {
        ttr *t;
        recovery->result.begun++;
        ttr_reader *reader = open_input(recovery, &places->list[i], &t);
        if (reader)
            recover_trace(recovery, &places->list[i], output, t, reader);
    }
}

/* Recovers each trace of a directory. First closes `reader`, which reads all traces of the
 * directory. */
static void recover_directory(struct recovery *recovery, const struct recover_entry *place, ttr *t,
                              ttr_reader *reader)
{
    struct recover_entries places = {0};
    ttr_error error = {0};
    ttr_recover_step step = {.input = place->path, .output = place->output};
    ttr_status status = TTR_OK;
    if (!recover_list(recovery, t, reader, &places) ||
        !recover_assign_outputs(recovery, place->path, place->output, &places))
        status = fail_memory(&error);
    recovery->result.is_directory = true;
    recovery->result.traces = places.n;
    ttr_close(reader);
    ttr_free(t);
    if (status == TTR_OK)
        status = recover_check_folder(recovery, place->output, &places, &error);
    if (status == TTR_OK)
        recover_entries(recovery, place->output, &places);
    else
        recover_fail(recovery, &step, TTR_RECOVER_FOLDER, &error);
    alloc_free(&recovery->alloc, places.list, places.room, sizeof *places.list);
}

static void recover_input(struct recovery *recovery, const char *input, const char *output)
{
    const struct recover_entry place = {.path = input, .output = output};
    ttr *t;
    ttr_reader *reader = open_input(recovery, &place, &t);
    if (!reader)
        return;
    ttr_recover_step step = {.input = input, .output = output, .t = t, .reader = reader};
    (void)recover_report_step(recovery, &step, TTR_RECOVER_INPUT);
    if (!recover_is_single_trace(input, reader)) {
        recover_directory(recovery, &place, t, reader);
        return;
    }
    recovery->result.traces = recovery->result.begun = 1;
    recover_trace(recovery, &place, NULL, t, reader);
}

ttr_status ttr_recover(const char *input, const char *output, const ttr_recover_options *options,
                       ttr_recover_result *result, ttr_error *error)
{
    static const ttr_recover_options defaults = {.size = sizeof defaults};
    options = options ? options : &defaults;
    if (!input || !output || options->size != sizeof *options ||
        (result && result->size != sizeof *result))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "ttr_recover wants two paths, and its structs with their sizes");
    struct recovery recovery = {.options = options,
                                .reading = {.size = sizeof recovery.reading},
                                .writing = {.size = sizeof recovery.writing},
                                .result = {.size = sizeof recovery.result},
                                .alloc = *alloc_default()};
    if (options->reading)
        recovery.reading = *options->reading;
    if (options->writing)
        recovery.writing = *options->writing;
    if (options->context && options->context->resize)
        recovery.alloc =
            (struct alloc){.resize = options->context->resize, .ctx = options->context->user_data};
    arena_init(&recovery.arena, &recovery.alloc);
    recover_input(&recovery, input, output);
    arena_free(&recovery.arena);
    if (result)
        *result = recovery.result;
    if (recovery.status != TTR_OK && error)
        *error = recovery.error;
    if (recovery.status != TTR_OK)
        return recovery.status;
    return recovery.is_ended ? TTR_AGAIN : TTR_OK;
}
