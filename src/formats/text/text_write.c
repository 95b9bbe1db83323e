/* Text output, one event per line, for reading and grep:
 * |  [2022-04-21 10:11:12.123456789] (+0.000001234) PROVIDER:CATEGORY NAME KIND PID/TID
 * |      (PROCESS/THREAD) cpu=1 dur=0.000001500 {...}              (one line in the output)
 *
 * For speed, the date is formatted once per second, names are escaped once, and printf is not used.
 * Left out: storage details (ticks, offsets, sequence numbers, tracks), definitions, and reading.
 */
#include "base/status.h"
#include "encodings/json/append.h"
#include "encodings/json/timeline.h"
#include "formats/text/text_color.h"
#include "formats/text/text_fields.h"
#include "model/activity.h"
#include "model/output.h"

/* upper bounds in bytes for a line without names and fields: words and colours; numbers */
#define LINE_TEXT 512
#define LINE_NUMBERS (16 * NUMBER_MAX + 2 * ACTIVITY_TEXT_MAX)

enum time_style { TIME_AUTO, TIME_ISO, TIME_SECONDS, TIME_NS, TIME_DELTA };

struct text {
    struct text_cache texts;
    ttr_field_buffer *fields; /* NULL if fields are not shown */
    enum time_style style;
    bool with_names, with_numbers, with_color, has_last;
    int64_t last_time;
    int64_t second;  /* the second that `prefix` was made for */
    size_t prefix_n; /* bytes; 0: not made yet */
    char prefix[NUMBER_MAX + 1];
};

/* The escaped names of an event. */
struct names {
    ttr_text provider, category, name, process, thread, source;
    ttr_thread known;
};

/* Sets *choice to the index of the option's value in a NULL-terminated list; 0, the default, if the
 * option is not set. */
static ttr_status read_choice(const struct ttr_writer *out, const char *key,
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
    struct text *own = out->own;
    unsigned style, fields, names, numbers;
    text_cache_init(&own->texts, &out->t->counted, text_escape);
    ttr_status status = read_choice(out, "time", styles, &style, error);
    if (status == TTR_OK)
        status = read_choice(out, "fields", answers, &fields, error);
    if (status == TTR_OK)
        status = read_choice(out, "names", answers, &names, error);
    if (status == TTR_OK)
        status = read_choice(out, "numbers", refusals, &numbers, error);
    if (status != TTR_OK)
        return status;
    own->style = (enum time_style)style;
    own->with_names = names == 0;
    own->with_numbers = numbers == 1;
    own->with_color = (out->flags & TTR_WRITE_COLOR) != 0;
    own->fields = fields == 0 ? ttr_field_buffer_new(out->t) : NULL;
    return fields == 0 && !own->fields ? fail_memory(error) : TTR_OK;
}

/* Formats the part of a time before its fraction: "[2022-04-21 10:11:12.". number_put_iso ends with
 * nine digits and a Z. */
static void make_prefix(struct text *own, int64_t second, int64_t time)
{
    own->second = second;
    own->prefix[0] = '[';
    own->prefix_n = 1 + number_put_iso(own->prefix + 1, time) - 10;
    char *divider = memchr(own->prefix, 'T', own->prefix_n);
    if (divider)
        *divider = ' ';
}

static char *put_iso(char *at, struct text *own, int64_t time)
{
    int64_t second = time / 1000000000 - (time % 1000000000 < 0), part = time % 1000000000;
    if (own->prefix_n == 0 || own->second != second)
        make_prefix(own, second, time);
    memcpy(at, own->prefix, own->prefix_n);
    at += own->prefix_n;
    number_put_nine(at, (uint32_t)(part < 0 ? part + 1000000000 : part));
    return at + 9;
}

static char *put_time(char *at, struct text *own, int64_t time)
{
    if (own->style == TIME_ISO)
        return put_text(put_iso(at, own, time), "] ");
    at = put_text(at, "[");
    if (own->style == TIME_NS)
        at = put_i64(at, time);
    else
        at = put_seconds(put_text(at, time < 0 ? "-" : ""), time_distance(time, 0));
    return put_text(at, "] ");
}

static char *put_delta(char *at, const struct text *own, int64_t time)
{
    int64_t last = own->has_last ? own->last_time : time;
    at = put_text(at, time < last ? "(-" : "(+");
    return put_text(put_seconds(at, time_distance(time, last)), ") ");
}

/* Returns true if the event has a time to show. Events without a time use the time of the event
 * before them. The first known time also selects the style of times. */
static bool choose_time_style(struct text *own, const ttr_event *event)
{
    bool has_time = own->has_last || !(event->flags & TTR_EVENT_NO_TIME);
    if (has_time && own->style == TIME_AUTO)
        own->style = time_is_unix(event->time) ? TIME_ISO : TIME_SECONDS;
    return has_time;
}

/* Only the last event counts once it is decided how times are shown. */
static void text_pass(struct ttr_writer *out, const ttr_batch *batch)
{
    struct text *own = out->own;
    uint32_t i = own->has_last ? batch->n : 0;
    while (i > 1 && ttr_batch_at(batch, i - 1)->kind == TTR_KIND_DEFINITION)
        i--;
    for (i -= i > 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->kind == TTR_KIND_DEFINITION)
            continue;
        own->has_last = choose_time_style(own, event);
        own->last_time = event->time;
    }
}

static char *put_times(char *at, struct text *own, const ttr_event *event)
{
    const bool has_time = choose_time_style(own, event);
    if (own->with_color)
        at = put_text(at, COLOR_TIME);
    if (own->style != TIME_DELTA)
        at = has_time ? put_time(at, own, event->time) : put_text(at, "[no time] ");
    at = put_delta(at, own, event->time);
    own->last_time = event->time;
    own->has_last = has_time;
    return own->with_color ? put_text(at, COLOR_OFF) : at;
}

static char *put_names(char *at, const struct text *own, const struct names *names)
{
    at = put_piece(at, names->provider);
    if (names->provider.n || names->category.n)
        at = put_text(at, ":");
    at =
        names->provider.n || names->category.n ? put_piece(at, names->category) : put_text(at, "-");
    at = put_text(at, own->with_color ? " " COLOR_NAME : " ");
    at = names->name.n ? put_piece(at, names->name) : put_text(at, "-");
    return put_text(at, own->with_color ? COLOR_OFF " " : " ");
}

static char *put_kind(char *at, const struct text *own, unsigned kind)
{
    static const char *const colors[TTR_KIND_COUNT] = {
        COLOR_MOMENT,  COLOR_MOMENT, COLOR_SPAN,    COLOR_SPAN,    COLOR_SPAN,
        COLOR_COUNTER, COLOR_LINKED, COLOR_LINKED,  COLOR_LINKED,  COLOR_LINKED,
        COLOR_LINKED,  COLOR_LINKED, COLOR_COUNTER, COLOR_COUNTER, COLOR_MOMENT,
        COLOR_MOMENT,  COLOR_MOMENT, COLOR_MOMENT,  COLOR_BAD,     COLOR_MOMENT,
    };
    if (own->with_color)
        at = put_text(at, colors[kind < TTR_KIND_COUNT ? kind : 0]);
    at = put_text(at, ttr_kind_text(kind));
    return put_text(at, own->with_color ? COLOR_OFF " " : " ");
}

static char *put_ids(char *at, const ttr_thread *thread)
{
    at = thread->pid_known ? put_u64(at, thread->pid) : put_text(at, "-");
    at = put_text(at, "/");
    return thread->tid_known ? put_u64(at, thread->tid) : put_text(at, "-");
}

static char *put_thread(char *at, const struct names *names)
{
    at = put_ids(at, &names->known);
    if (!names->process.n && !names->thread.n)
        return at;
    at = put_piece(put_text(at, " ("), names->process);
    at = put_piece(put_text(at, "/"), names->thread);
    return put_text(at, ")");
}

static bool has_shown_id(const ttr_event *event)
{
    bool is_linked = event->kind >= TTR_KIND_ASYNC_BEGIN && event->kind <= TTR_KIND_FLOW_END;
    return is_linked || event->kind == TTR_KIND_OBJECT ||
           (event->kind == TTR_KIND_COUNTER && event->link);
}

/* Returns true for processes and threads, whose id is a pid or tid and therefore decimal. */
static bool has_decimal_id(const ttr_event *event)
{
    return event->kind == TTR_KIND_OBJECT &&
           (event->tag == TTR_OBJECT_PROCESS || event->tag == TTR_OBJECT_THREAD);
}

static char *put_tag(char *at, const ttr_event *event)
{
    static const char *const states[] = {"new", "running", "suspended", "blocked", "dying", "dead"};
    static const char *const objects[] = {"other",   "process", "thread",
                                          "pointer", "module",  "mapping"};
    if (event->kind == TTR_KIND_SWITCH && event->tag < sizeof states / sizeof *states)
        return put_text(put_text(at, " state="), states[event->tag]);
    if (event->kind == TTR_KIND_OBJECT && event->tag < sizeof objects / sizeof *objects)
        return put_text(put_text(at, " object="), objects[event->tag]);
    if (event->kind == TTR_KIND_GAP && event->tag == TTR_GAP_PACKETS)
        return event->sequence ? put_u64(put_text(at, " packets="), event->sequence)
                               : put_text(at, " packets=unknown");
    return event->tag ? put_u64(put_text(at, " tag="), event->tag) : at;
}

static char *put_attributes(char *at, const ttr *t, const ttr_event *event)
{
    ttr_thread from;
    if (event->flags & TTR_EVENT_HAS_CPU)
        at = put_u64(put_text(at, " cpu="), event->cpu);
    if (event->kind == TTR_KIND_SPAN || (event->kind == TTR_KIND_GAP && event->duration))
        at = put_seconds(put_text(at, " dur="), event->duration);
    if (has_shown_id(event) && !has_decimal_id(event))
        at = put_hex(put_text(at, " id="), event->link);
    else if (has_shown_id(event))
        at = put_u64(put_text(at, " id="), event->link);
    if (event->kind == TTR_KIND_GAP && event->tag != TTR_GAP_PACKETS)
        at = event->link ? put_u64(put_text(at, " lost="), event->link)
                         : put_text(at, " lost=unknown");
    bool is_thread = event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_WAKE;
    if (is_thread && event->link <= UINT32_MAX && ttr_thread_get(t, (ttr_id)event->link, &from))
        at = put_ids(put_text(at, " from="), &from);
    return put_tag(at, event);
}

static char *put_activity(char *at, const char *key, const uint8_t *id, uint64_t pid)
{
    if (!id)
        return at;
    at = put_text(at, key);
    return at + activity_text(at, id, pid);
}

static char *put_rare_attributes(char *at, const ttr_event *event, uint64_t pid)
{
    static const char *const levels[] = {"none",    "trace", "debug", "info",
                                         "warning", "error", "fatal"};
    if (event->level && event->level < sizeof levels / sizeof *levels)
        at = put_text(put_text(at, " level="), levels[event->level]);
    if (event->flags & TTR_EVENT_CLAMPED)
        at = put_text(at, " clamped");
    if (event->flags & TTR_EVENT_BACKWARD)
        at = put_text(at, " backward");
    if (event->flags & TTR_EVENT_PARTIAL)
        at = put_text(at, " partial");
    if (event->flags & TTR_EVENT_NO_TIME)
        at = put_text(at, " no_time");
    if (event->keyword)
        at = put_hex(put_text(at, " keyword="), event->keyword);
    if (event->opcode)
        at = put_u64(put_text(at, " opcode="), event->opcode);
    at = put_activity(at, " activity=", event->activity, pid);
    return put_activity(at, " related=", event->related, pid);
}

/* " event=80/1" */
static char *put_number(char *at, const ttr *t, const ttr_event *event)
{
    uint32_t number, version;
    if (!ttr_event_number(t, event, &number, &version))
        return at;
    at = put_u64(put_text(at, " event="), number);
    return put_u64(put_text(at, "/"), version);
}

static void look_up_names(struct ttr_writer *out, const ttr_event *event, struct names *names)
{
    struct text *own = out->own;
    names->known = (ttr_thread){0};
    (void)ttr_thread_get(out->t, event->thread,
                         &names->known); /* on failure `known` stays zeroed: no thread is shown */
    names->provider = text_cache_get(&own->texts, out->t, event->provider)->text;
    names->category = text_cache_get(&own->texts, out->t, event->category)->text;
    names->name = text_cache_get(&own->texts, out->t, event->name)->text;
    names->process =
        text_cache_get(&own->texts, out->t, own->with_names ? names->known.process_name : 0)->text;
    names->thread =
        text_cache_get(&own->texts, out->t, own->with_names ? names->known.thread_name : 0)->text;
    names->source =
        text_cache_get(&own->texts, out->t, context_told_path(out->t, event->source))->text;
}

static void write_event(struct ttr_writer *out, const ttr_event *event)
{
    struct text *own = out->own;
    struct names names;
    look_up_names(out, event, &names);
    size_t room = LINE_TEXT + LINE_NUMBERS + names.provider.n + names.category.n + names.name.n +
                  names.process.n + names.thread.n + names.source.n;
    char *begin = (char *)buffer_room(&out->buffer, room), *at = begin;
    if (!begin)
        return;
    at = put_times(at, own, event);
    at = put_names(at, own, &names);
    at = put_kind(at, own, event->kind);
    at = put_thread(at, &names);
    at = put_attributes(at, out->t, event);
    at = put_rare_attributes(at, event, names.known.pid);
    if (own->with_numbers)
        at = put_number(at, out->t, event);
    if (names.source.n)
        at = put_piece(put_text(at, " source="), names.source);
    buffer_filled(&out->buffer, (size_t)(at - begin));
    if (own->fields)
        text_add_fields(out, &own->texts, own->fields, event, own->with_color);
    buffer_add_byte(&out->buffer, '\n');
    out->buffer.failed |= own->texts.failed;
    output_wrote(out, event);
}

static ttr_status text_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    return output_each(out, batch, write_event, error);
}

static ttr_status text_finish(struct ttr_writer *out, ttr_error *error)
{
    return output_drain(out, error);
}

static void text_drop(struct ttr_writer *out)
{
    struct text *own = out->own;
    text_cache_free(&own->texts);
    ttr_field_buffer_free(own->fields);
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
    .pass = text_pass,
    .finish = text_finish,
    .drop = text_drop,
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
