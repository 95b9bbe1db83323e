/* Profile output: the table of formats, the target file, and functions for labels and stacks. */
#include "profiles/profiles.h"

#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "io/sink.h"
#include "model/context.h"
#include "pipeline/profile/profile.h"

#define DRAIN_BYTES_MIN ((size_t)256 * 1024)
#define CALLS_PER_PROGRESS 64u

static const struct profile_writer *const profile_formats[] = {
    &profile_folded, &profile_speedscope, &profile_pprof, &profile_svg, &profile_firefox};

bool ttr_profile_format_get(size_t i, ttr_profile_format *format)
{
    if (i >= sizeof profile_formats / sizeof profile_formats[0])
        return false;
    *format = profile_formats[i]->about;
    return true;
}

static ttr_status flush_buffer(struct profile_out *out, ttr_error *error)
{
    if (out->to.failed)
        return fail_memory(error);
    ttr_status status = sink_write(out->sink, out->to.bytes, out->to.n, error);
    buffer_clear(&out->to);
    return status;
}

ttr_status profile_flush_if_full(struct profile_out *out, ttr_error *error)
{
    if (!out->is_stopped && ++out->calls % CALLS_PER_PROGRESS == 0)
        out->is_stopped = !context_should_continue(out->t);
    if (out->is_stopped && !out->can_stop)
        return fail(error, TTR_AGAIN, NO_OFFSET, "ended early on request");
    return out->to.n < DRAIN_BYTES_MIN && !out->to.failed ? TTR_OK : flush_buffer(out, error);
}

uint32_t profile_stack_frames(const struct profile_out *out, uint32_t node)
{
    uint32_t n = node == TTR_PROFILE_NONE ? 0 : out->node[node].depth + 1;
    for (uint32_t i = n; i-- > 0; node = out->node[node].parent)
        out->path[i] = out->node[node].frame;
    return n;
}

static void append_name_and_number(struct buffer *to, const char *default_name, ttr_text name,
                                   uint64_t number)
{
    char digits[NUMBER_MAX];
    if (name.n)
        buffer_add(to, name.p, name.n);
    else
        buffer_add_text(to, default_name);
    buffer_add(to, " (", 2);
    buffer_add(to, digits, number_format_u64(digits, number));
    buffer_add_byte(to, ')');
}

void profile_thread_text(const struct profile_out *out, const ttr_profile_thread *lane,
                         struct buffer *to)
{
    ttr_thread thread;
    if (!lane->thread || !ttr_thread_get(out->t, lane->thread, &thread))
        buffer_add_text(to, "All threads");
    else if (!thread.tid_known)
        buffer_add_text(to, "The process");
    else
        append_name_and_number(to, "Thread", ttr_text_get(out->t, thread.thread_name), thread.tid);
}

void profile_process_text(const struct profile_out *out, const ttr_profile_thread *lane,
                          struct buffer *to)
{
    ttr_thread thread;
    if (!lane->thread || !ttr_thread_get(out->t, lane->thread, &thread))
        buffer_add_text(to, "All processes");
    else
        append_name_and_number(to, "Process", ttr_text_get(out->t, thread.process_name),
                               thread.pid);
}

/* Writes a label as a JSON string. `append_label` appends the text of the label to a buffer. */
static void write_label_as_json(const struct profile_out *out, const ttr_profile_thread *lane,
                                struct json *json,
                                void (*append_label)(const struct profile_out *,
                                                     const ttr_profile_thread *, struct buffer *))
{
    struct buffer text;
    buffer_init(&text, out->alloc);
    append_label(out, lane, &text);
    json_write_text(json, text.bytes, text.n);
    json->to->failed |= text.failed;
    buffer_free(&text);
}

void profile_json_thread(const struct profile_out *out, const ttr_profile_thread *lane,
                         struct json *json)
{
    write_label_as_json(out, lane, json, profile_thread_text);
}

void profile_json_process(const struct profile_out *out, const ttr_profile_thread *lane,
                          struct json *json)
{
    write_label_as_json(out, lane, json, profile_process_text);
}

static const struct profile_writer *find_profile_format(const char *name)
{
    for (size_t i = 0; i < sizeof profile_formats / sizeof profile_formats[0]; i++)
        if (strcmp(profile_formats[i]->about.name, name) == 0)
            return profile_formats[i];
    return NULL;
}

static ttr_status write_with_format(struct profile_out *out, const struct profile_writer *writer,
                                    ttr_error *error)
{
    const bool is_limited = profile_limit_depth(out, writer->about.depth_max);
    out->path = is_limited ? alloc_zero(out->alloc, out->depth_max, sizeof *out->path) : NULL;
    out->can_stop = writer->can_stop;
    ttr_status status = out->path ? writer->write(out, error) : fail_memory(error);
    if (status == TTR_OK)
        status = flush_buffer(out, error);
    alloc_free(out->alloc, out->path, out->depth_max, sizeof *out->path);
    profile_free_depth(out);
    buffer_free(&out->to);
    return status;
}

ttr_status ttr_profile_write(const ttr_profile *profile, const char *path, const char *format,
                             const char *title, uint32_t flags, ttr_error *error)
{
    if (!profile || !format)
        return fail_null(error, "ttr_profile_write", profile ? "format" : "profile");
    const struct profile_writer *writer = find_profile_format(format);
    if (!writer)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "unknown profile format \"%s\"; ttr_profile_format_get lists them", format);
    struct profile_out out = {
        .profile = profile, .t = profile->t, .alloc = profile->alloc, .title = title ? title : ""};
    out.frames_n = ttr_profile_frames(profile, &out.frame);
    out.nodes_n = ttr_profile_nodes(profile, &out.node);
    out.lanes_n = ttr_profile_threads(profile, &out.lane);
    buffer_init(&out.to, out.alloc);
    out.sink = sink_open(out.alloc, path, flags & TTR_WRITE_OVERWRITE, error);
    if (!out.sink)
        return error ? error->status : TTR_E_IO;
    ttr_status status = write_with_format(&out, writer, error);
    if (status != TTR_OK) {
        sink_abandon(out.sink);
        return status;
    }
    status = sink_finish(out.sink, error);
    return status == TTR_OK && out.is_stopped
               ? fail(error, TTR_AGAIN, NO_OFFSET, "ended early on request")
               : status;
}
