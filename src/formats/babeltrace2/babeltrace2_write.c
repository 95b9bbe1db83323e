/* The line up to the fields:
 *   [HH:MM:SS.nnnnnnnnn] (+s.nnnnnnnnn) HOST:PROCNAME:(VPID) NAME: { ... }, { ... }
 * What stands between the times and the fields is the same for all events of a class, and is made
 * once a class.  The time of a second is made once a second. Left out: gaps (that program tells of
 * them on standard error, as the command does), definitions, and reading. */
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "formats/babeltrace2/babeltrace2_walk.h"
#include "model/type.h"

#define NS_PER_S INT64_C(1000000000)
#define TIMES_ROOM 256

enum time_style { TIME_WALL, TIME_SECONDS, TIME_CYCLES };

/* Attributes of the trace and the class that are printed before the name, in order. */
enum shown {
    SHOW_TRACE = 1u << 0,
    SHOW_HOSTNAME = 1u << 1,
    SHOW_DOMAIN = 1u << 2,
    SHOW_PROCNAME = 1u << 3,
    SHOW_VPID = 1u << 4,
    SHOW_LOGLEVEL = 1u << 5,
    SHOW_EMF = 1u << 6,
    SHOW_ALL = (1u << 7) - 1,
    SHOW_DEFAULT = SHOW_HOSTNAME | SHOW_PROCNAME | SHOW_VPID
};

struct babeltrace2 {
    struct arena arena;
    struct babeltrace2_class *classes; /* by schema */
    size_t classes_n;
    struct buffer head; /* of an event that has no class */
    enum time_style style;
    struct babeltrace2_cache cache;
    unsigned shown;
    bool is_gmt, with_date, with_delta, has_last;
    bool has_usual_times;         /* "[HH:MM:SS.nnnnnnnnn] (+s.nnnnnnnnn) " */
    int64_t last_time, second_ns; /* the latter: when the second of `prefix` begins */
    uint64_t last_cycles;
    size_t prefix_n; /* 0: none yet */
    char prefix[64]; /* with the bracket before it */
};

/* Whether a list "a,b,c" has a word. */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == n && memcmp(at, word, n) == 0)
            return true;
    return false;
}

/* `usual` are those of `known` that there is a use for, for the message. */
static ttr_status check_words(const char *key, const char *list, const char *const *known,
                              const char *usual, ttr_error *error)
{
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t n = strcspn(at, ","), i = 0;
        while (known[i] && (strlen(known[i]) != n || memcmp(known[i], at, n) != 0))
            i++;
        if (!known[i])
            return fail(error, TTR_E_MISUSE, NO_OFFSET,
                        "option %s=%s of babeltrace2: expected some of %s, not \"%.*s\"", key, list,
                        usual, (int)n, at);
    }
    return TTR_OK;
}

static ttr_status read_names(const struct ttr_writer *out, struct babeltrace2_names *names,
                             ttr_error *error)
{
    static const char *const known[] = {"all",     "none", "payload", "arg",    "args",
                                        "context", "ctx",  "scope",   "header", NULL};
    const char *list = output_option(out, "names");
    *names = (struct babeltrace2_names){.payload = true, .context = true};
    if (!list)
        return TTR_OK;
    bool is_all = has_word(list, "all");
    names->payload =
        is_all || has_word(list, "payload") || has_word(list, "arg") || has_word(list, "args");
    names->context = is_all || has_word(list, "context") || has_word(list, "ctx");
    names->scope = is_all || has_word(list, "scope");
    names->header = is_all || has_word(list, "header");
    return check_words("names", list, known, "payload, context, scope and header, or all or none",
                       error);
}

static ttr_status read_shown(const struct ttr_writer *out, unsigned *shown, ttr_error *error)
{
    static const char *const known[] = {"trace",
                                        "trace:hostname",
                                        "trace:domain",
                                        "trace:procname",
                                        "trace:vpid",
                                        "loglevel",
                                        "emf",
                                        "all",
                                        "none",
                                        "callsite",
                                        NULL};
    const char *list = output_option(out, "fields");
    *shown = list ? 0 : SHOW_DEFAULT;
    for (unsigned i = 0; list && i < 7; i++)
        if (has_word(list, known[i]) || has_word(list, "all"))
            *shown |= 1u << i;
    static const char usual[] = "trace, trace:hostname, trace:domain, trace:procname, trace:vpid, "
                                "loglevel and emf, or all or none";
    return list ? check_words("fields", list, known, usual, error) : TTR_OK;
}

static ttr_status read_answer(const struct ttr_writer *out, const char *key, bool otherwise,
                              bool *answer, ttr_error *error)
{
    const char *value = output_option(out, key);
    *answer = value ? strcmp(value, "yes") == 0 : otherwise;
    if (!value || *answer || strcmp(value, "no") == 0)
        return TTR_OK;
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "option %s=%s of babeltrace2: expected yes or no",
                key, value);
}

static ttr_status read_style(const struct ttr_writer *out, enum time_style *style, ttr_error *error)
{
    static const char *const words[] = {"wall", "seconds", "cycles"};
    const char *value = output_option(out, "time");
    *style = TIME_WALL;
    for (unsigned i = 0; value && i < 3; i++)
        if (strcmp(value, words[i]) == 0) {
            *style = (enum time_style)i;
            return TTR_OK;
        }
    return value ? fail(error, TTR_E_MISUSE, NO_OFFSET,
                        "option time=%s of babeltrace2: expected wall, seconds or cycles", value)
                 : TTR_OK;
}

static ttr_status babeltrace2_create(struct ttr_writer *out, ttr_error *error)
{
    struct babeltrace2 *own = out->own;
    arena_init(&own->arena, &out->t->counted);
    buffer_init(&own->head, &out->t->counted);
    own->cache.arena = &own->arena;
    own->cache.with_color = (out->flags & TTR_WRITE_COLOR) != 0;
    own->cache.fields = ttr_field_buffer_new(out->t);
    if (!own->cache.fields)
        return fail_memory(error);
    ttr_status status = read_names(out, &own->cache.names, error);
    if (status == TTR_OK)
        status = read_shown(out, &own->shown, error);
    if (status == TTR_OK)
        status = read_style(out, &own->style, error);
    if (status == TTR_OK)
        status = read_answer(out, "gmt", false, &own->is_gmt, error);
    if (status == TTR_OK)
        status = read_answer(out, "date", false, &own->with_date, error);
    if (status == TTR_OK)
        status = read_answer(out, "delta", true, &own->with_delta, error);
    own->has_usual_times = own->style == TIME_WALL && own->with_delta && !own->cache.names.header &&
                           !own->cache.with_color;
    return status;
}

/* --- Times --- */

/* "[2026-11-21 10:11:12." of a second. */
static void make_prefix(struct babeltrace2 *own, int64_t second)
{
    struct tm parts = {0};
    time_t time = (time_t)second;
    own->second_ns = second * NS_PER_S;
    own->prefix_n = 0;
    if (!(own->is_gmt ? gmtime_r(&time, &parts) : localtime_r(&time, &parts)))
        return;
    own->prefix_n = strftime(own->prefix, sizeof own->prefix,
                             own->with_date ? "[%Y-%m-%d %H:%M:%S." : "[%H:%M:%S.", &parts);
}

static char *put_wall(char *at, struct babeltrace2 *own, int64_t time)
{
    int64_t second = time / NS_PER_S;
    if (time >= 0 && own->style == TIME_WALL &&
        (own->prefix_n == 0 || own->second_ns != second * NS_PER_S))
        make_prefix(own, second);
    if (time >= 0 && own->style == TIME_WALL && own->prefix_n) {
        memcpy(at, own->prefix + 1, own->prefix_n - 1);
        at += own->prefix_n - 1;
    } else {
        /* There is no time of day before the epoch. */
        at = put_text(at, time < 0 ? "-" : "");
        at = put_text(put_u64(at, time < 0 ? (uint64_t)-second : (uint64_t)second), ".");
    }
    int64_t part = time - second * NS_PER_S;
    number_put_nine(at, (uint32_t)(part < 0 ? -part : part));
    return at + 9;
}

static char *put_padded(char *at, uint64_t x, unsigned digits)
{
    char number[NUMBER_MAX];
    size_t n = number_put_u64(number, x);
    for (; digits > n; digits--)
        *at++ = '0';
    memcpy(at, number, n);
    return at + n;
}

static char *put_delta(char *at, const struct babeltrace2 *own, const ttr_event *event)
{
    if (own->style == TIME_CYCLES && !own->has_last)
        return put_text(at, "+????????????");
    if (own->style == TIME_CYCLES)
        return put_padded(put_text(at, "+"), event->ticks - own->last_cycles, 12);
    if (!own->has_last)
        return put_text(at, "+?.?????????");
    uint64_t delta = (uint64_t)event->time - (uint64_t)own->last_time;
    if (delta < (uint64_t)NS_PER_S) {
        at = put_text(at, "+0.");
    } else {
        at = put_text(put_u64(put_text(at, "+"), delta / (uint64_t)NS_PER_S), ".");
        delta %= (uint64_t)NS_PER_S;
    }
    number_put_nine(at, (uint32_t)delta);
    return at + 9;
}

static char *put_scope_name(char *at, const struct babeltrace2 *own, const char *name)
{
    if (own->cache.with_color)
        return put_text(put_text(put_text(at, COLOR_SCOPE), name), COLOR_OFF " = ");
    return put_text(put_text(at, name), " = ");
}

/* What the time since the event before is told from. */
static void keep_time(struct babeltrace2 *own, const ttr_event *event)
{
    own->last_time = event->time;
    own->last_cycles = event->ticks;
    own->has_last = true;
}

static bool has_clock(const struct event_class *event_class)
{
    return !event_class || event_class->has_clock;
}

/* Only the last event with a time counts. */
static void babeltrace2_pass(struct ttr_writer *out, const ttr_batch *batch)
{
    for (uint32_t i = batch->n; i > 0; i--) {
        const ttr_event *event = ttr_batch_at(batch, i - 1);
        if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP ||
            !has_clock(context_schema(out->t, event->schema)->event_class))
            continue;
        keep_time(out->own, event);
        return;
    }
}

/* Times within a second of the one before and in the same as that, as nearly all are; NULL where
 * they are not. */
static inline char *put_usual_times(char *at, struct babeltrace2 *own, const ttr_event *event)
{
    const uint64_t part = (uint64_t)event->time - (uint64_t)own->second_ns,
                   delta = (uint64_t)event->time - (uint64_t)own->last_time;
    if (!own->has_usual_times || !own->has_last || own->prefix_n == 0 ||
        part >= (uint64_t)NS_PER_S || delta >= (uint64_t)NS_PER_S)
        return NULL;
    memcpy(at, own->prefix, sizeof own->prefix); /* of which prefix_n bytes count */
    at += own->prefix_n;
    number_put_nine(at, (uint32_t)part);
    at = put_text(at + 9, "] (+0.");
    number_put_nine(at, (uint32_t)delta);
    keep_time(own, event);
    return put_text(at + 9, ") ");
}

static char *put_times(char *at, struct babeltrace2 *own, const ttr_event *event)
{
    bool is_named = own->cache.names.header;
    at = is_named ? put_scope_name(at, own, "timestamp") : put_text(at, "[");
    at = put_text(at, own->cache.with_color ? COLOR_TIME : "");
    at = own->style == TIME_CYCLES ? put_padded(at, event->ticks, 20)
                                   : put_wall(at, own, event->time);
    at = put_text(at, own->cache.with_color ? COLOR_OFF : "");
    at = put_text(at, is_named ? "" : "] ");
    if (own->with_delta && is_named)
        at = put_delta(put_scope_name(put_text(at, ", "), own, "delta"), own, event);
    else if (own->with_delta)
        at = put_text(put_delta(put_text(at, "("), own, event), ") ");
    keep_time(own, event);
    return at;
}

/* --- What is the same for all events of a class --- */

static bool find_attribute(const ttr *t, uint16_t source, const char *name, ttr_value *value)
{
    ttr_attribute attribute;
    size_t n = strlen(name);
    for (size_t i = 0; ttr_source_attribute(t, source, i, &attribute); i++)
        if (attribute.name.n == n && memcmp(attribute.name.p, name, n) == 0) {
            *value = attribute.value;
            return true;
        }
    return false;
}

struct head {
    struct babeltrace2 *own;
    struct buffer *to;
    bool starts_line, has_any;
};

/* Begins an attribute: its name where names are wanted, else what divides it from the one before.
 */
static void begin_attribute(struct head *head, const char *name)
{
    char text[64];
    if (!head->starts_line)
        buffer_add(head->to, ", ", 2);
    if (head->own->cache.names.header)
        buffer_add(head->to, text, (size_t)(put_scope_name(text, head->own, name) - text));
    else if (head->has_any)
        buffer_add_byte(head->to, ':');
    head->has_any = true;
}

static void add_number(struct buffer *to, int64_t x)
{
    char text[NUMBER_MAX + 2];
    buffer_add(to, text, (size_t)(put_text(put_i64(put_text(text, "("), x), ")") - text));
}

static void add_trace(struct head *head, const ttr *t, uint16_t source)
{
    ttr_value name = {.text = {"", 0}}, place = {.text = {"", 0}}, path;
    char text[64];
    if (!(head->own->shown & SHOW_TRACE))
        return;
    bool has_place = find_attribute(t, source, "trace.place", &place),
         has_path = find_attribute(t, source, "trace.path", &path);
    /* By what that program names traces: not by the name that CTF 2 may give. */
    if (!find_attribute(t, source, "hostname", &name) || name.type != TTR_TYPE_TEXT)
        name.text = (ttr_text){"", 0};
    if (!name.text.n && !has_place && !has_path)
        return;
    if (!head->starts_line)
        buffer_add(head->to, ", ", 2);
    if (head->own->cache.names.header)
        buffer_add(head->to, text, (size_t)(put_scope_name(text, head->own, "trace") - text));
    buffer_add(head->to, name.text.p, name.text.n);
    if (name.text.n && place.text.n)
        buffer_add_byte(head->to, '/');
    buffer_add(head->to, place.text.p, place.text.n);
    if (head->own->cache.names.header)
        buffer_add(head->to, ", ", 2);
}

static void add_environment(struct head *head, const ttr *t, uint16_t source)
{
    static const struct {
        enum shown bit;
        const char *attribute, *name;
    } rows[] = {{SHOW_HOSTNAME, "hostname", "trace:hostname"},
                {SHOW_DOMAIN, "domain", "trace:domain"},
                {SHOW_PROCNAME, "procname", "trace:procname"},
                {SHOW_VPID, "vpid", "trace:vpid"}};
    ttr_value value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!(head->own->shown & rows[i].bit) ||
            !find_attribute(t, source, rows[i].attribute, &value))
            continue;
        bool is_text = value.type == TTR_TYPE_TEXT;
        if (is_text == (rows[i].bit == SHOW_VPID))
            continue;
        begin_attribute(head, rows[i].name);
        if (is_text)
            buffer_add(head->to, value.text.p, value.text.n);
        else
            add_number(head->to, value.v.s);
    }
}

static void add_class(struct head *head, const struct event_class *event_class)
{
    static const char *const levels[] = {
        "EMERG",        "ALERT",      "CRIT",           "ERR",           "WARNING",
        "NOTICE",       "INFO",       "DEBUG_SYSTEM",   "DEBUG_PROGRAM", "DEBUG_PROCESS",
        "DEBUG_MODULE", "DEBUG_UNIT", "DEBUG_FUNCTION", "DEBUG_LINE",    "DEBUG"};
    if (!event_class)
        return;
    if (head->own->shown & SHOW_LOGLEVEL && event_class->has_log_level &&
        event_class->log_level >= 0 && event_class->log_level < 15) {
        begin_attribute(head, "loglevel");
        buffer_add_text(head->to, "TRACE_");
        buffer_add_text(head->to, levels[event_class->log_level]);
        buffer_add_byte(head->to, ' ');
        add_number(head->to, event_class->log_level);
    }
    if (head->own->shown & SHOW_EMF && event_class->emf_uri.n) {
        begin_attribute(head, "model.emf.uri");
        buffer_add(head->to, event_class->emf_uri.p, event_class->emf_uri.n);
    }
}

static void make_head(struct babeltrace2 *own, const ttr *t, const ttr_event *event,
                      struct buffer *to)
{
    const struct event_class *event_class = context_schema(t, event->schema)->event_class;
    struct head head = {.own = own,
                        .to = to,
                        .starts_line =
                            !own->cache.names.header || (event_class && !event_class->has_clock)};
    ttr_text name = ttr_text_get(t, event->name);
    add_trace(&head, t, event->source);
    add_environment(&head, t, event->source);
    add_class(&head, event_class);
    if (head.has_any && !own->cache.names.header)
        buffer_add_byte(to, ' ');
    if (!head.starts_line)
        buffer_add(to, ", ", 2);
    if (own->cache.names.header)
        buffer_add_text(to, own->cache.with_color ? COLOR_SCOPE "name" COLOR_OFF " = " : "name = ");
    if (own->cache.with_color)
        buffer_add_text(to, name.n ? COLOR_EVENT : COLOR_UNKNOWN);
    if (name.n)
        buffer_add(to, name.p, name.n);
    else
        buffer_add_text(to, "<unknown>");
    if (own->cache.with_color)
        buffer_add_text(to, COLOR_OFF);
    buffer_add_text(to, own->cache.names.header ? ", " : ": ");
}

/* Makes room for what is kept of a schema; NULL when memory is out. */
static struct babeltrace2_class *add_class_of(struct babeltrace2 *own, ttr_id schema)
{
    size_t n = own->classes_n ? own->classes_n : 64;
    while (n <= schema)
        n *= 2;
    if (n > own->classes_n) {
        struct babeltrace2_class *classes =
            alloc_resize(own->arena.alloc, own->classes, own->classes_n, n, sizeof *classes);
        if (!classes)
            return NULL;
        memset(classes + own->classes_n, 0, (n - own->classes_n) * sizeof *classes);
        own->classes = classes;
        own->classes_n = n;
    }
    return &own->classes[schema];
}

/* Makes the head of an event, kept where its schema is that of one class; false when memory is out.
 */
static bool make_head_of(struct babeltrace2 *own, const ttr *t, const ttr_event *event,
                         struct babeltrace2_class **of_class, ttr_text *head)
{
    buffer_clear(&own->head);
    make_head(own, t, event, &own->head);
    const size_t n = own->head.n;
    buffer_add_zeros(&own->head, BLOCK); /* to be read with the last block */
    *head = (ttr_text){(const char *)own->head.bytes, n};
    *of_class = NULL;
    if (own->head.failed || !context_schema(t, event->schema)->event_class)
        return !own->head.failed;
    *of_class = add_class_of(own, event->schema);
    if (!*of_class)
        return false;
    head->p = arena_copy(&own->arena, own->head.bytes, own->head.n);
    (*of_class)->head = *head;
    return head->p != NULL;
}

static bool write_event(struct ttr_writer *out, const ttr_event *event)
{
    struct babeltrace2 *own = out->own;
    const struct schema *schema = context_schema(out->t, event->schema);
    const struct event_class *event_class = schema->event_class;
    struct babeltrace2_class *of_class =
        event_class && event->schema < own->classes_n ? &own->classes[event->schema] : NULL;
    ttr_text head = {NULL, 0};
    if (of_class)
        head = of_class->head;
    if (!head.p && !make_head_of(own, out->t, event, &of_class, &head))
        return false;
    char *begin = (char *)buffer_room(&out->buffer, TIMES_ROOM + head.n + BLOCK), *at = begin;
    if (!begin)
        return false;
    if (has_clock(event_class)) {
        char *behind = put_usual_times(at, own, event);
        at = behind ? behind : put_times(at, own, event);
    }
    at = put_blocks(at, head.p, head.n);
    buffer_filled(&out->buffer, (size_t)(at - begin));
    if (!of_class || !of_class->plan ||
        !babeltrace2_follow(&out->buffer, schema, event, of_class->plan, &own->cache))
        babeltrace2_add_parts(out, event, of_class, &own->cache, babeltrace2_meet);
    out->events++;
    return true;
}

static ttr_status babeltrace2_write(struct ttr_writer *out, const ttr_batch *batch,
                                    ttr_error *error)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP)
            continue;
        ttr_status status = write_event(out, event) ? output_drain(out, error) : fail_memory(error);
        status = output_event_status(out, event, status, error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

static ttr_status babeltrace2_finish(struct ttr_writer *out, ttr_error *error)
{
    return output_drain(out, error);
}

static void babeltrace2_drop(struct ttr_writer *out)
{
    struct babeltrace2 *own = out->own;
    if (own->classes)
        alloc_free(own->arena.alloc, own->classes, own->classes_n, sizeof *own->classes);
    buffer_free(&own->head);
    ttr_field_buffer_free(own->cache.fields);
    arena_free(&own->arena);
}

static const ttr_option_info options[] = {
    {"time", "wall|seconds|cycles", "how times are shown", true},
    {"gmt", "no|yes", "wall time in UTC instead of the local zone", true},
    {"date", "no|yes", "wall time with its date", true},
    {"delta", "yes|no", "show the time since the event before", true},
    {"names", "payload,context|LIST",
     "which names are shown: of payload, context, scope, header; all, none", true},
    {"fields", "trace:hostname,trace:procname,trace:vpid|LIST",
     "what stands before the name: also trace, trace:domain, loglevel, emf; all, none", true},
};

static const char *const no_options[] = {NULL};

/* babeltrace2 computes times in double precision, and does not print fields that are clocks. */
static const char *const reading_options[] = {"ctf.mapped=hidden", "ctf.time=double", NULL};

static const ttr_style_info styles[] = {
    {.name = "babeltrace2",
     .format = "babeltrace2",
     .writing_options = no_options,
     .reading_options = reading_options},
};

static const struct format_hints hints = {
    .warnings = "",
    .styles = styles,
    .styles_n = sizeof styles / sizeof *styles,
};

static const struct format_writer writer = {
    .is_text = true,
    .state_size = sizeof(struct babeltrace2),
    .create = babeltrace2_create,
    .write = babeltrace2_write,
    .pass = babeltrace2_pass,
    .finish = babeltrace2_finish,
    .drop = babeltrace2_drop,
};

const struct format format_babeltrace2 = {
    .name = "babeltrace2",
    .title = "text as babeltrace2 prints it",
    .extensions = "",
    .spec = "src/formats/babeltrace2/README.md",
    .writer = &writer,
    .hints = &hints,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
