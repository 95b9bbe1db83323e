/* Text output, one event per line, for reading and grep:
 * |  [2022-04-21 10:11:12.123456789] (+0.000001234) PROVIDER:CATEGORY NAME KIND PID/TID
 * |      (PROCESS/THREAD) cpu=1 dur=0.000001500 {...}              (one line in the output)
 *
 * For speed, the date is formatted once per second, names are escaped once, and printf is not used.
 * Left out: storage details (ticks, offsets, sequence numbers, tracks), definitions, and reading.
 */
#include "base/status.h"
#include "encodings/json/emit.h"
#include "encodings/json/timeline.h"
#include "formats/text/text_color.h"
#include "formats/text/text_fields.h"
#include "model/activity.h"
#include "model/output.h"

/* maximum number of bytes of a line without names and fields: words and colours, and numbers */
#define LINE_TEXT 512
#define LINE_NUMBERS (16 * NUMBER_MAX + 2 * ACTIVITY_TEXT_MAX)

enum time_style { TIME_AUTO, TIME_ISO, TIME_SECONDS, TIME_NS, TIME_DELTA };

struct text {
    struct text_cache texts;
    /* fields of the current event; NULL if fields are not printed */
    ttr_field_buffer *fields;
    enum time_style style;
    bool with_names, with_numbers, with_color, has_last;
    int64_t last_time;
    int64_t second;  /* Unix second of which `prefix` contains the text */
    size_t prefix_n; /* length of `prefix` in bytes; 0 if it is not valid */
    char prefix[NUMBER_MAX + 1];
};

/* Names of an event, escaped for the terminal. */
struct names {
    ttr_text provider, category, name, process, thread, source;
    ttr_thread known;
};

/* Sets *choice to the index of the option's value in a NULL-terminated list of words. Sets 0, the
 * default, if the option is not set. */
static ttr_status parse_choice(const struct ttr_writer *out, const char *key,
                               const char *const *words, unsigned *choice, ttr_error *error)
{
    const char *value = output_option(out, key);
    *choice = 0;
    for (unsigned i = 0; value && words[i]; i++) {
        if (strcmp(words[i], value) != 0)
            continue;
        *choice = i;
        return TTR_OK;
    }
    return value ? fail(error, TTR_E_MISUSE, NO_OFFSET,
                        "option text.%s=%s: unknown value; tracetta formats lists the values", key,
                        value)
                 : TTR_OK;
}

static ttr_status text_create(struct ttr_writer *out, ttr_error *error)
{
    static const char *const styles[] = {"auto", "iso", "seconds", "ns", "delta", NULL};
    static const char *const answers[] = {"yes", "no", NULL}, *const refusals[] = {"no", "yes",
                                                                                   NULL};
    struct text *ctx = out->ctx;
    unsigned style, fields, names, numbers;
    text_cache_init(&ctx->texts, &out->t->counted, text_append_escaped);
    ttr_status status = parse_choice(out, "time", styles, &style, error);
    if (status == TTR_OK)
        status = parse_choice(out, "fields", answers, &fields, error);
    if (status == TTR_OK)
        status = parse_choice(out, "names", answers, &names, error);
    if (status == TTR_OK)
        status = parse_choice(out, "numbers", refusals, &numbers, error);
    if (status != TTR_OK)
        return status;
    ctx->style = (enum time_style)style;
    ctx->with_names = names == 0;
    ctx->with_numbers = numbers == 1;
    ctx->with_color = (out->flags & TTR_WRITE_COLOR) != 0;
    ctx->fields = fields == 0 ? ttr_field_buffer_new(out->t) : NULL;
    return fields == 0 && !ctx->fields ? fail_memory(error) : TTR_OK;
}

/* Formats the start of a time up to the decimal point, such as "[2022-04-21 10:11:12.". Removes
 * the nine digits and the Z that number_format_iso appends. */
static void format_time_prefix(struct text *ctx, int64_t second, int64_t time)
{
    ctx->second = second;
    ctx->prefix[0] = '[';
    ctx->prefix_n = 1 + number_format_iso(ctx->prefix + 1, time) - 10;
    char *divider = memchr(ctx->prefix, 'T', ctx->prefix_n);
    if (divider)
        *divider = ' ';
}

static char *emit_iso_time(char *at, struct text *ctx, int64_t time)
{
    int64_t second = time / 1000000000 - (time % 1000000000 < 0), part = time % 1000000000;
    if (ctx->prefix_n == 0 || ctx->second != second)
        format_time_prefix(ctx, second, time);
    memcpy(at, ctx->prefix, ctx->prefix_n);
    at += ctx->prefix_n;
    number_format_9_digits(at, (uint32_t)(part < 0 ? part + 1000000000 : part));
    return at + 9;
}

static char *emit_time(char *at, struct text *ctx, int64_t time)
{
    if (ctx->style == TIME_ISO)
        return emit_constant(emit_iso_time(at, ctx, time), "] ");
    at = emit_constant(at, "[");
    if (ctx->style == TIME_NS)
        at = emit_i64(at, time);
    else
        at = emit_seconds(emit_constant(at, time < 0 ? "-" : ""), time_distance(time, 0));
    return emit_constant(at, "] ");
}

static char *emit_time_difference(char *at, const struct text *ctx, int64_t time)
{
    int64_t last = ctx->has_last ? ctx->last_time : time;
    at = emit_constant(at, time < last ? "(-" : "(+");
    return emit_constant(emit_seconds(at, time_distance(time, last)), ") ");
}

/* Returns true if a time can be printed: that of the event, or that of the previous event if this
 * one has none. The first known time determines the style of all times. */
static bool choose_time_style(const ttr *t, struct text *ctx, const ttr_event *event)
{
    bool has_time = ctx->has_last || !(event->flags & TTR_EVENT_NO_TIME);
    if (has_time && ctx->style == TIME_AUTO)
        ctx->style = context_has_unix_time(t, event) ? TIME_ISO : TIME_SECONDS;
    return has_time;
}

/* Skips events that are not printed. Only the last event matters once the style of times is
 * chosen, because the next time difference refers to it. */
static void text_skip_batch(struct ttr_writer *out, const ttr_batch *batch)
{
    struct text *ctx = out->ctx;
    uint32_t i = ctx->has_last ? batch->n : 0;
    while (i > 1 && ttr_batch_at(batch, i - 1)->kind == TTR_KIND_DEFINITION)
        i--;
    for (i -= i > 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->kind == TTR_KIND_DEFINITION)
            continue;
        ctx->has_last = choose_time_style(out->t, ctx, event);
        ctx->last_time = event->time;
    }
}

static char *emit_times(const ttr *t, char *at, struct text *ctx, const ttr_event *event)
{
    const bool has_time = choose_time_style(t, ctx, event);
    if (ctx->with_color)
        at = emit_constant(at, COLOR_TIME);
    if (ctx->style != TIME_DELTA)
        at = has_time ? emit_time(at, ctx, event->time) : emit_constant(at, "[no time] ");
    at = emit_time_difference(at, ctx, event->time);
    ctx->last_time = event->time;
    ctx->has_last = has_time;
    return ctx->with_color ? emit_constant(at, COLOR_OFF) : at;
}

static char *emit_names(char *at, const struct text *ctx, const struct names *names)
{
    at = emit_piece(at, names->provider);
    if (names->provider.n || names->category.n)
        at = emit_constant(at, ":");
    at = names->provider.n || names->category.n ? emit_piece(at, names->category)
                                                : emit_constant(at, "-");
    at = emit_constant(at, ctx->with_color ? " " COLOR_NAME : " ");
    at = names->name.n ? emit_piece(at, names->name) : emit_constant(at, "-");
    return emit_constant(at, ctx->with_color ? COLOR_OFF " " : " ");
}

static char *emit_event_kind(char *at, const struct text *ctx, unsigned kind)
{
    static const char *const colors[TTR_KIND_COUNT] = {
        COLOR_MOMENT,  COLOR_MOMENT, COLOR_SPAN,    COLOR_SPAN,    COLOR_SPAN,
        COLOR_COUNTER, COLOR_LINKED, COLOR_LINKED,  COLOR_LINKED,  COLOR_LINKED,
        COLOR_LINKED,  COLOR_LINKED, COLOR_COUNTER, COLOR_COUNTER, COLOR_MOMENT,
        COLOR_MOMENT,  COLOR_MOMENT, COLOR_MOMENT,  COLOR_BAD,     COLOR_MOMENT,
    };
    if (ctx->with_color)
        at = emit_constant(at, colors[kind < TTR_KIND_COUNT ? kind : 0]);
    at = emit_constant(at, ttr_kind_text(kind));
    return emit_constant(at, ctx->with_color ? COLOR_OFF " " : " ");
}

static char *emit_thread_ids(char *at, const ttr_thread *thread)
{
    at = thread->pid_known ? emit_u64(at, thread->pid) : emit_constant(at, "-");
    at = emit_constant(at, "/");
    return thread->tid_known ? emit_u64(at, thread->tid) : emit_constant(at, "-");
}

static char *emit_thread(char *at, const struct names *names)
{
    at = emit_thread_ids(at, &names->known);
    if (!names->process.n && !names->thread.n)
        return at;
    at = emit_piece(emit_constant(at, " ("), names->process);
    at = emit_piece(emit_constant(at, "/"), names->thread);
    return emit_constant(at, ")");
}

static bool is_id_printed(const ttr_event *event)
{
    bool is_linked = event->kind >= TTR_KIND_ASYNC_BEGIN && event->kind <= TTR_KIND_FLOW_END;
    return is_linked || event->kind == TTR_KIND_OBJECT ||
           (event->kind == TTR_KIND_COUNTER && event->link);
}

/* Returns true for process and thread objects, because their ids are pids and tids, which are
 * printed in decimal. */
static bool has_decimal_id(const ttr_event *event)
{
    return event->kind == TTR_KIND_OBJECT &&
           (event->tag == TTR_OBJECT_PROCESS || event->tag == TTR_OBJECT_THREAD);
}

static char *emit_event_tag(char *at, const ttr_event *event)
{
    static const char *const objects[] = {"other",   "process", "thread",
                                          "pointer", "module",  "mapping"};
    const char *state = event->kind == TTR_KIND_SWITCH ? ttr_thread_state_text(event->tag) : NULL;
    if (state)
        return emit_constant(emit_constant(at, " state="), state);
    if (event->kind == TTR_KIND_OBJECT && event->tag < sizeof objects / sizeof *objects)
        return emit_constant(emit_constant(at, " object="), objects[event->tag]);
    if (event->kind == TTR_KIND_GAP && event->tag == TTR_GAP_PACKETS)
        return event->sequence ? emit_u64(emit_constant(at, " packets="), event->sequence)
                               : emit_constant(at, " packets=unknown");
    return event->tag ? emit_u64(emit_constant(at, " tag="), event->tag) : at;
}

static char *emit_attributes(char *at, const ttr *t, const ttr_event *event)
{
    ttr_thread from;
    if (event->flags & TTR_EVENT_HAS_CPU)
        at = emit_u64(emit_constant(at, " cpu="), event->cpu);
    if (event->kind == TTR_KIND_SPAN || (event->kind == TTR_KIND_GAP && event->duration))
        at = emit_seconds(emit_constant(at, " dur="), event->duration);
    if (is_id_printed(event) && !has_decimal_id(event))
        at = emit_hex(emit_constant(at, " id="), event->link);
    else if (is_id_printed(event))
        at = emit_u64(emit_constant(at, " id="), event->link);
    if (event->kind == TTR_KIND_GAP && event->tag != TTR_GAP_PACKETS)
        at = event->link ? emit_u64(emit_constant(at, " lost="), event->link)
                         : emit_constant(at, " lost=unknown");
    bool is_thread = event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_WAKE;
    if (is_thread && event->link <= UINT32_MAX && ttr_thread_get(t, (ttr_id)event->link, &from))
        at = emit_thread_ids(emit_constant(at, " from="), &from);
    return emit_event_tag(at, event);
}

static char *emit_activity(char *at, const char *key, const uint8_t *id, uint64_t pid)
{
    if (!id)
        return at;
    at = emit_constant(at, key);
    return at + activity_format_id(at, id, pid);
}

static char *emit_rare_attributes(char *at, const ttr_event *event, uint64_t pid)
{
    static const char *const levels[] = {"none",    "trace", "debug", "info",
                                         "warning", "error", "fatal"};
    if (event->level && event->level < sizeof levels / sizeof *levels)
        at = emit_constant(emit_constant(at, " level="), levels[event->level]);
    if (event->flags & TTR_EVENT_CLAMPED)
        at = emit_constant(at, " clamped");
    if (event->flags & TTR_EVENT_BACKWARD)
        at = emit_constant(at, " backward");
    if (event->flags & TTR_EVENT_PARTIAL)
        at = emit_constant(at, " partial");
    if (event->flags & TTR_EVENT_NO_TIME)
        at = emit_constant(at, " no_time");
    if (event->keyword)
        at = emit_hex(emit_constant(at, " keyword="), event->keyword);
    if (event->opcode)
        at = emit_u64(emit_constant(at, " opcode="), event->opcode);
    at = emit_activity(at, " activity=", event->activity, pid);
    return emit_activity(at, " related=", event->related, pid);
}

/* Writes number and version of an event, such as " event=80/1". Returns the end of the written
 * text. */
static char *emit_event_number(char *at, const ttr *t, const ttr_event *event)
{
    uint32_t number, version;
    if (!ttr_event_number(t, event, &number, &version))
        return at;
    at = emit_u64(emit_constant(at, " event="), number);
    return emit_u64(emit_constant(at, "/"), version);
}

static void find_names_of_event(struct ttr_writer *out, const ttr_event *event, struct names *names)
{
    struct text *ctx = out->ctx;
    names->known = (ttr_thread){0};
    (void)ttr_thread_get(out->t, event->thread,
                         /* if the thread is unknown, names->known remains zero, so no thread is
                          * printed */
                         &names->known);
    names->provider = text_cache_get(&ctx->texts, out->t, event->provider)->text;
    names->category = text_cache_get(&ctx->texts, out->t, event->category)->text;
    names->name = text_cache_get(&ctx->texts, out->t, event->name)->text;
    names->process =
        text_cache_get(&ctx->texts, out->t, ctx->with_names ? names->known.process_name : 0)->text;
    names->thread =
        text_cache_get(&ctx->texts, out->t, ctx->with_names ? names->known.thread_name : 0)->text;
    names->source =
        text_cache_get(&ctx->texts, out->t, context_displayed_path(out->t, event->source))->text;
}

static void write_event(struct ttr_writer *out, const ttr_event *event)
{
    struct text *ctx = out->ctx;
    struct names names;
    find_names_of_event(out, event, &names);
    size_t room = LINE_TEXT + LINE_NUMBERS + names.provider.n + names.category.n + names.name.n +
                  names.process.n + names.thread.n + names.source.n;
    char *begin = (char *)buffer_room(&out->buffer, room), *at = begin;
    if (!begin)
        return;
    at = emit_times(out->t, at, ctx, event);
    at = emit_names(at, ctx, &names);
    at = emit_event_kind(at, ctx, event->kind);
    at = emit_thread(at, &names);
    at = emit_attributes(at, out->t, event);
    at = emit_rare_attributes(at, event, names.known.pid);
    if (ctx->with_numbers)
        at = emit_event_number(at, out->t, event);
    if (names.source.n)
        at = emit_piece(emit_constant(at, " source="), names.source);
    buffer_commit(&out->buffer, (size_t)(at - begin));
    if (ctx->fields)
        text_add_fields(out, &ctx->texts, ctx->fields, event, ctx->with_color);
    buffer_add_byte(&out->buffer, '\n');
    out->buffer.failed |= ctx->texts.failed;
    output_count_event(out, event);
}

static ttr_status text_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    return output_write_each_event(out, batch, write_event, error);
}

static ttr_status text_finish(struct ttr_writer *out, ttr_error *error)
{
    return output_drain(out, error);
}

static void text_free_writer(struct ttr_writer *out)
{
    struct text *ctx = out->ctx;
    text_cache_free(&ctx->texts);
    ttr_field_buffer_free(ctx->fields);
}

static const ttr_option_info options[] = {
    {"time", "auto|iso|seconds|ns|delta",
     "style of times; auto: iso if the clock is anchored, else seconds", true},
    {"fields", "yes|no", "show fields", true},
    {"names", "yes|no", "show names of processes and threads", true},
    {"numbers", "no|yes", "show the number and version that events have (nettrace)", true},
};

static const struct format_writer writer = {
    .is_text = true,
    .state_size = sizeof(struct text),
    .create = text_create,
    .write = text_write,
    .pass = text_skip_batch,
    .finish = text_finish,
    .drop = text_free_writer,
};

const struct format format_text = {
    .name = "text",
    .title = "readable text, one event per line",
    .extensions = "txt",
    .spec = "src/formats/text/README.md",
    .writer = &writer,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
