/* The consumers of a damaged trace. Each opens the trace in a context of its own, as a command
 * does, so that a failure belongs to one consumer. Writers write into a buffer or, those of
 * folders, into nothing. */
#include "campaigns/consumers.h"

#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/analyse.h>
#include <tracetta/fields.h>
#include <tracetta/formats.h>
#include <tracetta/meaning.h>
#include <tracetta/profile.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "support/support.h"
#include "support/writing.h"

#define FRAMES_MAX 64u

/* Reads all events and drops them. */
static bool drain(ttr_reader *in, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status = error->status == TTR_OK && in ? TTR_OK : TTR_E_MISUSE;
    while (status == TTR_OK)
        status = ttr_read(in, &batch, error);
    ttr_close(in);
    return status == TTR_END;
}

/* Looks up the symbols of all stacks. */
static bool look_up_symbols(ttr *t, ttr_reader *in, ttr_error *error)
{
    ttr_batch batch;
    ttr_symbol symbol;
    uint64_t frames[FRAMES_MAX];
    ttr_status status;
    while ((status = ttr_read(in, &batch, error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            const uint32_t n = ttr_event_frames(t, event, frames, FRAMES_MAX);
            for (uint32_t k = 0; k < n && k < FRAMES_MAX; k++)
                (void)ttr_symbol_get(t, event->thread, frames[k], event->time, &symbol);
        }
    ttr_close(in);
    return status == TTR_END;
}

static bool summarize(ttr *t, ttr_reader *in, ttr_error *error)
{
    ttr_summary summary;
    const bool is_good = ttr_summarize(t, in, &summary, NULL, NULL, error) == TTR_OK;
    ttr_close(in);
    return is_good;
}

static bool count_statistics(ttr *t, ttr_reader *in, ttr_error *error)
{
    ttr_stat *stat = ttr_stat_new(t, in, NULL, NULL, error);
    ttr_close(in);
    ttr_stat_free(stat);
    return stat != NULL;
}

static bool build_tree(ttr *t, ttr_reader *in, ttr_error *error)
{
    ttr_tree *tree = ttr_tree_new(t, in, NULL, NULL, error);
    ttr_close(in);
    ttr_tree_free(tree);
    return tree != NULL;
}

static bool build_profile(ttr *t, ttr_reader *in, ttr_error *error)
{
    ttr_profile_format format;
    const ttr_profile_options options = {.size = sizeof options};
    ttr_profile *profile = ttr_profile_new(t, in, &options, error);
    ttr_close(in);
    bool is_good = profile != NULL;
    for (size_t i = 0; is_good && ttr_profile_format_get(i, &format); i++)
        is_good = ttr_profile_write(profile, "/dev/null", format.name, "title", 0, error) == TTR_OK;
    ttr_profile_free(profile);
    return is_good;
}

static bool interpret(ttr *t, ttr_reader *in, ttr_error *error)
{
    (void)t;
    return drain(ttr_interpret(in, NULL, error), error);
}

static bool sort_and_pair(ttr *t, ttr_reader *in, ttr_error *error)
{
    (void)t;
    return drain(ttr_pair_spans(ttr_sort(in, error), error), error);
}

static const struct {
    const char *name;
    bool (*run)(ttr *t, ttr_reader *in, ttr_error *error);
} analyses[] = {{"symbols", look_up_symbols},     {"summary", summarize},
                {"statistics", count_statistics}, {"tree", build_tree},
                {"profile", build_profile},       {"meaning", interpret},
                {"sort and pair", sort_and_pair}};

#define ANALYSES_N (sizeof analyses / sizeof *analyses)

/* Copies information on the i-th format that can be written. Returns false after the last. */
static bool find_writer(size_t i, ttr_format_info *info)
{
    for (size_t k = 0; ttr_format_get(k, info); k++)
        if (info->abilities & TTR_FORMAT_WRITES && i-- == 0)
            return true;
    return false;
}

size_t consumers_count(void)
{
    ttr_format_info info;
    size_t n = 0;
    while (find_writer(n, &info))
        n++;
    return ANALYSES_N + n;
}

/* Writes the events in another format. Losses are no failures. */
static bool write_events(ttr *t, ttr_reader *in, const ttr_format_info *info, ttr_error *error)
{
    struct buffer to;
    ttr_batch batch;
    buffer_init(&to, alloc_default());
    if (info->abilities & TTR_FORMAT_ORDERED)
        in = ttr_sort(in, error);
    ttr_writer *writer = info->abilities & TTR_FORMAT_FOLDER
                             ? ttr_create(t, NULL, info->name, NULL, error)
                             : ttr_create_push(t, writing_to_buffer, &to, info->name, NULL, error);
    ttr_status status = writer ? TTR_OK : TTR_E_MISUSE;
    while (status == TTR_OK && (status = ttr_read(in, &batch, error)) == TTR_OK)
        status = ttr_write(writer, &batch, error);
    if (status == TTR_END)
        status = ttr_finish(writer, error);
    else
        ttr_writer_abort(writer);
    ttr_close(in);
    buffer_free(&to);
    return status == TTR_OK;
}

static ttr_reader *open_input(ttr *t, const struct consumer_input *input, ttr_error *error)
{
    const ttr_read_options options = {
        .size = sizeof options, .from = input->format, .flags = TTR_READ_SYMBOLS};
    return input->bytes ? ttr_open_memory(t, input->bytes, input->n, "bytes", &options, error)
                        : ttr_open_files(t, "trace", input->files, input->files_n, &options, error);
}

const char *consumers_run(size_t i, const struct consumer_input *input)
{
    static ttr_format_info info;
    ttr_error error = {0};
    ttr *t = ttr_new(NULL);
    ttr_reader *in = open_input(t, input, &error);
    const char *failed = NULL;
    if (in && i < ANALYSES_N)
        failed = analyses[i].run(t, in, &error) ? NULL : analyses[i].name;
    else if (in && find_writer(i - ANALYSES_N, &info))
        failed = write_events(t, in, &info, &error) ? NULL : info.name;
    if (failed)
        (void)printf("# %s: %s\n", failed, error.text);
    ttr_free(t);
    return failed;
}

const char *consumers_run_trial(unsigned trial, bool are_all, const struct consumer_input *input)
{
    const size_t n = consumers_count();
    const char *failed = NULL;
    for (size_t i = are_all ? 0 : trial % n; i < n; i += are_all ? 1 : n) {
        const char *name = consumers_run(i, input);
        failed = name ? name : failed;
    }
    return failed;
}
