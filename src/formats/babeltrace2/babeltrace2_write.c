/* Lines as babeltrace2 prints them, up to the fields, and the options of that program:
 *
 *   [HH:MM:SS.nnnnnnnnn] (+s.nnnnnnnnn) HOST:PROCNAME:(VPID) NAME: { ... }, { ... }
 *
 * The text from the times to the fields is the same for all events of a class, and is cached per
 * class; the time of day is formatted once per second. Left out: gaps (babeltrace2 and the command
 * report them on standard error), definitions, reading. */
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "formats/babeltrace2/babeltrace2_output.h"
#include "model/type.h"

#define NS_PER_S INT64_C(1000000000)
#define TIMES_ROOM 256

enum time_style { TIME_WALL, TIME_SECONDS, TIME_CYCLES };

/* Attributes of the trace and of the event class that can be printed before the event's name, in
 * this order. */
enum printed_attribute {
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
    /* state of each event class, indexed by schema id */
    struct babeltrace2_class *classes;
    size_t classes_n;
    struct buffer head; /* temporary buffer for an event without a class */
    enum time_style style;
    struct babeltrace2_cache cache;
    unsigned printed_attribute;
    bool is_gmt, with_date, with_delta, has_last;
    /* true if times have the form "[HH:MM:SS.nnnnnnnnn] (+s.nnnnnnnnn) " */
    bool has_usual_times;
    int64_t last_time,
        /* second_ns: start, in ns, of the second of which `prefix` contains the text */
        second_ns;
    uint64_t last_cycles;
    size_t prefix_n; /* length of `prefix` in bytes; 0 if `prefix` is not set */
    /* cached text of the second of the last event, beginning with "[" */
    char prefix[64];
};

/* Returns true if a list "a,b,c" contains a word. */
static bool contains_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == n && memcmp(at, word, n) == 0)
            return true;
    return false;
}

/* Returns an error if a word of the list is not in `known`. The error names the words of
 * `usual`. */
static ttr_status check_list_words(const char *key, const char *list, const char *const *known,
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

static ttr_status read_names_option(const struct ttr_writer *out, struct babeltrace2_names *names,
                                    ttr_error *error)
{
    static const char *const known[] = {"all",     "none", "payload", "arg",    "args",
                                        "context", "ctx",  "scope",   "header", NULL};
    const char *list = output_option(out, "names");
    *names = (struct babeltrace2_names){.payload = true, .context = true};
    if (!list)
        return TTR_OK;
    bool is_all = contains_word(list, "all");
    names->payload = is_all || contains_word(list, "payload") || contains_word(list, "arg") ||
                     contains_word(list, "args");
    names->context = is_all || contains_word(list, "context") || contains_word(list, "ctx");
    names->scope = is_all || contains_word(list, "scope");
    names->header = is_all || contains_word(list, "header");
    return check_list_words("names", list, known,
                            "payload, context, scope and header, or all or none", error);
}

static ttr_status read_fields_option(const struct ttr_writer *out, unsigned *printed_attribute,
                                     ttr_error *error)
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
    *printed_attribute = list ? 0 : SHOW_DEFAULT;
    for (unsigned i = 0; list && i < 7; i++)
        if (contains_word(list, known[i]) || contains_word(list, "all"))
            *printed_attribute |= 1u << i;
    static const char usual[] = "trace, trace:hostname, trace:domain, trace:procname, trace:vpid, "
                                "loglevel and emf, or all or none";
    return list ? check_list_words("fields", list, known, usual, error) : TTR_OK;
}

static ttr_status read_bool_option(const struct ttr_writer *out, const char *key, bool otherwise,
                                   bool *answer, ttr_error *error)
{
    const char *value = output_option(out, key);
    *answer = value ? strcmp(value, "yes") == 0 : otherwise;
    if (!value || *answer || strcmp(value, "no") == 0)
        return TTR_OK;
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "option %s=%s of babeltrace2: expected yes or no",
                key, value);
}

static ttr_status read_time_style(const struct ttr_writer *out, enum time_style *style,
                                  ttr_error *error)
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
    struct babeltrace2 *writer = out->ctx;
    arena_init(&writer->arena, &out->t->counted);
    buffer_init(&writer->head, &out->t->counted);
    writer->cache.arena = &writer->arena;
    writer->cache.with_color = (out->flags & TTR_WRITE_COLOR) != 0;
    writer->cache.hides_escapes = writer->cache.with_color && out->flags & TTR_WRITE_TERMINAL;
    writer->cache.fields = ttr_field_buffer_new(out->t);
    if (!writer->cache.fields)
        return fail_memory(error);
    ttr_status status = read_names_option(out, &writer->cache.names, error);
    if (status == TTR_OK)
        status = read_fields_option(out, &writer->printed_attribute, error);
    if (status == TTR_OK)
        status = read_time_style(out, &writer->style, error);
    if (status == TTR_OK)
        status = read_bool_option(out, "gmt", false, &writer->is_gmt, error);
    if (status == TTR_OK)
        status = read_bool_option(out, "date", false, &writer->with_date, error);
    if (status == TTR_OK)
        status = read_bool_option(out, "delta", true, &writer->with_delta, error);
    writer->has_usual_times = writer->style == TIME_WALL && writer->with_delta &&
                              !writer->cache.names.header && !writer->cache.with_color;
    return status;
}

/* --- Time of an event --- */

/* Caches the text of a second, such as "[2026-11-21 10:11:12.", for the events in this second. */
static void make_second_prefix(struct babeltrace2 *writer, int64_t second)
{
    struct tm parts = {0};
    time_t time = (time_t)second;
    writer->second_ns = second * NS_PER_S;
    writer->prefix_n = 0;
    if (!(writer->is_gmt ? gmtime_r(&time, &parts) : localtime_r(&time, &parts)))
        return;
    writer->prefix_n = strftime(writer->prefix, sizeof writer->prefix,
                                writer->with_date ? "[%Y-%m-%d %H:%M:%S." : "[%H:%M:%S.", &parts);
}

static char *emit_wall_time(char *at, struct babeltrace2 *writer, int64_t time)
{
    int64_t second = time / NS_PER_S;
    if (time >= 0 && writer->style == TIME_WALL &&
        (writer->prefix_n == 0 || writer->second_ns != second * NS_PER_S))
        make_second_prefix(writer, second);
    if (time >= 0 && writer->style == TIME_WALL && writer->prefix_n) {
        memcpy(at, writer->prefix + 1, writer->prefix_n - 1);
        at += writer->prefix_n - 1;
    } else {
        /* print negative times in seconds, as babeltrace2 does */
        at = emit_constant(at, time < 0 ? "-" : "");
        at = emit_constant(emit_u64(at, time < 0 ? (uint64_t)-second : (uint64_t)second), ".");
    }
    int64_t part = time - second * NS_PER_S;
    number_format_9_digits(at, (uint32_t)(part < 0 ? -part : part));
    return at + 9;
}

static char *emit_padded_number(char *at, uint64_t x, unsigned digits)
{
    char number[NUMBER_MAX];
    size_t n = number_format_u64(number, x);
    for (; digits > n; digits--)
        *at++ = '0';
    memcpy(at, number, n);
    return at + n;
}

static char *emit_time_delta(char *at, const struct babeltrace2 *writer, const ttr_event *event)
{
    if (writer->style == TIME_CYCLES && !writer->has_last)
        return emit_constant(at, "+????????????");
    if (writer->style == TIME_CYCLES)
        return emit_padded_number(emit_constant(at, "+"), event->ticks - writer->last_cycles, 12);
    if (!writer->has_last)
        return emit_constant(at, "+?.?????????");
    uint64_t delta = (uint64_t)event->time - (uint64_t)writer->last_time;
    if (delta < (uint64_t)NS_PER_S) {
        at = emit_constant(at, "+0.");
    } else {
        at = emit_constant(emit_u64(emit_constant(at, "+"), delta / (uint64_t)NS_PER_S), ".");
        delta %= (uint64_t)NS_PER_S;
    }
    number_format_9_digits(at, (uint32_t)delta);
    return at + 9;
}

static char *emit_scope_name(char *at, const struct babeltrace2 *writer, const char *name)
{
    if (writer->cache.with_color)
        return emit_constant(emit_constant(emit_constant(at, COLOR_SCOPE), name), COLOR_OFF " = ");
    return emit_constant(emit_constant(at, name), " = ");
}

/* Stores the time of an event: the time difference of the next event is relative to it. */
static void store_time_for_next_delta(struct babeltrace2 *writer, const ttr_event *event)
{
    writer->last_time = event->time;
    writer->last_cycles = event->ticks;
    writer->has_last = true;
}

static bool class_has_clock(const struct event_class *event_class)
{
    return !event_class || event_class->has_clock;
}

/* Stores the time of a batch that is not printed: that of its last event with a time, to which the
 * next time difference is relative. */
static void babeltrace2_skip_batch(struct ttr_writer *out, const ttr_batch *batch)
{
    for (uint32_t i = batch->n; i > 0; i--) {
        const ttr_event *event = ttr_batch_at(batch, i - 1);
        if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP ||
            !class_has_clock(context_schema(out->t, event->schema)->event_class))
            continue;
        store_time_for_next_delta(out->ctx, event);
        return;
    }
}

/* Appends the times of an event in the most frequent case, the same second as the previous event.
 * Returns NULL in all other cases. */
static inline char *emit_usual_times(char *at, struct babeltrace2 *writer, const ttr_event *event)
{
    const uint64_t part = (uint64_t)event->time - (uint64_t)writer->second_ns,
                   delta = (uint64_t)event->time - (uint64_t)writer->last_time;
    if (!writer->has_usual_times || !writer->has_last || writer->prefix_n == 0 ||
        part >= (uint64_t)NS_PER_S || delta >= (uint64_t)NS_PER_S)
        return NULL;
    /* copy the entire array, which is faster, then advance by prefix_n bytes */
    memcpy(at, writer->prefix, sizeof writer->prefix);
    at += writer->prefix_n;
    number_format_9_digits(at, (uint32_t)part);
    at = emit_constant(at + 9, "] (+0.");
    number_format_9_digits(at, (uint32_t)delta);
    store_time_for_next_delta(writer, event);
    return emit_constant(at + 9, ") ");
}

static char *emit_times(char *at, struct babeltrace2 *writer, const ttr_event *event)
{
    bool is_named = writer->cache.names.header;
    at = is_named ? emit_scope_name(at, writer, "timestamp") : emit_constant(at, "[");
    at = emit_constant(at, writer->cache.with_color ? COLOR_TIME : "");
    at = writer->style == TIME_CYCLES ? emit_padded_number(at, event->ticks, 20)
                                      : emit_wall_time(at, writer, event->time);
    at = emit_constant(at, writer->cache.with_color ? COLOR_OFF : "");
    at = emit_constant(at, is_named ? "" : "] ");
    if (writer->with_delta && is_named)
        at = emit_time_delta(emit_scope_name(emit_constant(at, ", "), writer, "delta"), writer,
                             event);
    else if (writer->with_delta)
        at = emit_constant(emit_time_delta(emit_constant(at, "("), writer, event), ") ");
    store_time_for_next_delta(writer, event);
    return at;
}

/* --- Text that is the same for all events of a class --- */

static bool find_source_attribute(const ttr *t, uint16_t source, const char *name, ttr_value *value)
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

struct line_head {
    struct babeltrace2 *writer;
    struct buffer *to;
    bool starts_line, has_any;
};

/* Appends the separator that precedes an attribute, and the attribute's name if names are
 * printed. */
static void begin_attribute(struct line_head *head, const char *name)
{
    char text[64];
    if (!head->starts_line)
        buffer_add(head->to, ", ", 2);
    if (head->writer->cache.names.header)
        buffer_add(head->to, text, (size_t)(emit_scope_name(text, head->writer, name) - text));
    else if (head->has_any)
        buffer_add_byte(head->to, ':');
    head->has_any = true;
}

static void add_number(struct buffer *to, int64_t x)
{
    char text[NUMBER_MAX + 2];
    buffer_add(to, text,
               (size_t)(emit_constant(emit_i64(emit_constant(text, "("), x), ")") - text));
}

/* Appends a name from the trace, with invisible characters escaped. */
static void add_trace_name_part(struct line_head *head, ttr_text text)
{
    struct visible_text visible = {.rest_n = 0};
    if (head->writer->cache.hides_escapes)
        visible_text_append(&visible, head->to, text.p, text.n, false);
    else
        buffer_add(head->to, text.p, text.n);
}

static void add_trace_name(struct line_head *head, const ttr *t, uint16_t source)
{
    ttr_value name = {.text = {"", 0}}, place = {.text = {"", 0}}, path;
    char text[64];
    if (!(head->writer->printed_attribute & SHOW_TRACE))
        return;
    bool has_place = find_source_attribute(t, source, "trace.place", &place),
         has_path = find_source_attribute(t, source, "trace.path", &path);
    /* babeltrace2 names traces by host and path, even if CTF 2 metadata contains a name. */
    if (!find_source_attribute(t, source, "hostname", &name) || name.type != TTR_TYPE_TEXT)
        name.text = (ttr_text){"", 0};
    if (!name.text.n && !has_place && !has_path)
        return;
    if (!head->starts_line)
        buffer_add(head->to, ", ", 2);
    if (head->writer->cache.names.header)
        buffer_add(head->to, text, (size_t)(emit_scope_name(text, head->writer, "trace") - text));
    add_trace_name_part(head, name.text);
    if (name.text.n && place.text.n)
        buffer_add_byte(head->to, '/');
    add_trace_name_part(head, place.text);
    if (head->writer->cache.names.header)
        buffer_add(head->to, ", ", 2);
}

static void add_trace_environment(struct line_head *head, const ttr *t, uint16_t source)
{
    static const struct {
        enum printed_attribute bit;
        const char *attribute, *name;
    } rows[] = {{SHOW_HOSTNAME, "hostname", "trace:hostname"},
                {SHOW_DOMAIN, "domain", "trace:domain"},
                {SHOW_PROCNAME, "procname", "trace:procname"},
                {SHOW_VPID, "vpid", "trace:vpid"}};
    ttr_value value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!(head->writer->printed_attribute & rows[i].bit) ||
            !find_source_attribute(t, source, rows[i].attribute, &value))
            continue;
        bool is_text = value.type == TTR_TYPE_TEXT;
        if (is_text == (rows[i].bit == SHOW_VPID))
            continue;
        begin_attribute(head, rows[i].name);
        if (is_text)
            add_trace_name_part(head, value.text);
        else
            add_number(head->to, value.v.s);
    }
}

static void add_class_attributes(struct line_head *head, const struct event_class *event_class)
{
    static const char *const levels[] = {
        "EMERG",        "ALERT",      "CRIT",           "ERR",           "WARNING",
        "NOTICE",       "INFO",       "DEBUG_SYSTEM",   "DEBUG_PROGRAM", "DEBUG_PROCESS",
        "DEBUG_MODULE", "DEBUG_UNIT", "DEBUG_FUNCTION", "DEBUG_LINE",    "DEBUG"};
    if (!event_class)
        return;
    if (head->writer->printed_attribute & SHOW_LOGLEVEL && event_class->has_log_level &&
        event_class->log_level >= 0 && event_class->log_level < 15) {
        begin_attribute(head, "loglevel");
        buffer_add_text(head->to, "TRACE_");
        buffer_add_text(head->to, levels[event_class->log_level]);
        buffer_add_byte(head->to, ' ');
        add_number(head->to, event_class->log_level);
    }
    if (head->writer->printed_attribute & SHOW_EMF && event_class->emf_uri.n) {
        begin_attribute(head, "model.emf.uri");
        add_trace_name_part(head, event_class->emf_uri);
    }
}

static void make_line_head(struct babeltrace2 *writer, const ttr *t, const ttr_event *event,
                           struct buffer *to)
{
    const struct event_class *event_class = context_schema(t, event->schema)->event_class;
    struct line_head head = {.writer = writer,
                             .to = to,
                             .starts_line = !writer->cache.names.header ||
                                            (event_class && !event_class->has_clock)};
    ttr_text name = ttr_text_get(t, event->name);
    add_trace_name(&head, t, event->source);
    add_trace_environment(&head, t, event->source);
    add_class_attributes(&head, event_class);
    if (head.has_any && !writer->cache.names.header)
        buffer_add_byte(to, ' ');
    if (!head.starts_line)
        buffer_add(to, ", ", 2);
    if (writer->cache.names.header)
        buffer_add_text(to,
                        writer->cache.with_color ? COLOR_SCOPE "name" COLOR_OFF " = " : "name = ");
    if (writer->cache.with_color)
        buffer_add_text(to, name.n ? COLOR_EVENT : COLOR_UNKNOWN);
    if (name.n)
        add_trace_name_part(&head, name);
    else
        buffer_add_text(to, "<unknown>");
    if (writer->cache.with_color)
        buffer_add_text(to, COLOR_OFF);
    buffer_add_text(to, writer->cache.names.header ? ", " : ": ");
}

/* Returns the state of the class of a schema. Enlarges the array if needed. Returns NULL if memory
 * is out. */
static struct babeltrace2_class *add_class_state(struct babeltrace2 *writer, ttr_id schema)
{
    size_t n = writer->classes_n ? writer->classes_n : 64;
    while (n <= schema)
        n *= 2;
    if (n > writer->classes_n) {
        struct babeltrace2_class *classes = alloc_resize(writer->arena.alloc, writer->classes,
                                                         writer->classes_n, n, sizeof *classes);
        if (!classes)
            return NULL;
        memset(classes + writer->classes_n, 0, (n - writer->classes_n) * sizeof *classes);
        writer->classes = classes;
        writer->classes_n = n;
    }
    return &writer->classes[schema];
}

/* Makes the text of a line from the host name to the event name. Caches the text if the schema has
 * an event class; otherwise *head is valid only for this event. Returns false if memory runs out.
 */
static bool make_class_head(struct babeltrace2 *writer, const ttr *t, const ttr_event *event,
                            struct babeltrace2_class **of_class, ttr_text *head)
{
    buffer_clear(&writer->head);
    make_line_head(writer, t, event, &writer->head);
    const size_t n = writer->head.n;
    buffer_add_zeros(&writer->head,
                     /* emit_in_blocks() may copy BLOCK bytes more than the text has */
                     BLOCK);
    *head = (ttr_text){(const char *)writer->head.bytes, n};
    *of_class = NULL;
    if (writer->head.failed || !context_schema(t, event->schema)->event_class)
        return !writer->head.failed;
    *of_class = add_class_state(writer, event->schema);
    if (!*of_class)
        return false;
    head->p = arena_copy(&writer->arena, writer->head.bytes, writer->head.n);
    (*of_class)->head = *head;
    return head->p != NULL;
}

static bool write_event_line(struct ttr_writer *out, const ttr_event *event)
{
    struct babeltrace2 *writer = out->ctx;
    const struct schema *schema = context_schema(out->t, event->schema);
    const struct event_class *event_class = schema->event_class;
    struct babeltrace2_class *of_class =
        event_class && event->schema < writer->classes_n ? &writer->classes[event->schema] : NULL;
    ttr_text head = {NULL, 0};
    if (of_class)
        head = of_class->head;
    if (!head.p && !make_class_head(writer, out->t, event, &of_class, &head))
        return false;
    char *begin = (char *)buffer_room(&out->buffer, TIMES_ROOM + head.n + BLOCK), *at = begin;
    if (!begin)
        return false;
    if (class_has_clock(event_class)) {
        char *following = emit_usual_times(at, writer, event);
        at = following ? following : emit_times(at, writer, event);
    }
    at = emit_in_blocks(at, head.p, head.n);
    buffer_commit(&out->buffer, (size_t)(at - begin));
    if (!of_class || !of_class->plan ||
        !babeltrace2_run_plan(&out->buffer, schema, event, of_class->plan, &writer->cache))
        babeltrace2_add_parts(out, event, of_class, &writer->cache,
                              babeltrace2_count_event_of_class);
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
        ttr_status status =
            write_event_line(out, event) ? output_drain(out, error) : fail_memory(error);
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

static void babeltrace2_free_writer(struct ttr_writer *out)
{
    struct babeltrace2 *writer = out->ctx;
    if (writer->classes)
        alloc_free(writer->arena.alloc, writer->classes, writer->classes_n,
                   sizeof *writer->classes);
    buffer_free(&writer->head);
    ttr_field_buffer_free(writer->cache.fields);
    arena_free(&writer->arena);
}

static const ttr_option_info options[] = {
    {"time", "wall|seconds|cycles", "how times are shown", true},
    {"gmt", "no|yes", "wall time in UTC instead of the local zone", true},
    {"date", "no|yes", "wall time with its date", true},
    {"delta", "yes|no", "show the time since the event before", true},
    {"names", "payload,context|LIST",
     "which names are shown: of payload, context, scope, header; all, none", true},
    {"fields", "trace:hostname,trace:procname,trace:vpid|LIST",
     "select what precedes the name: also trace, trace:domain, loglevel, emf; all, none", true},
};

static const char *const no_options[] = {NULL};

/* options that produce the times of babeltrace2, in double precision, and hide clock fields as it
 * does */
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
    .pass = babeltrace2_skip_batch,
    .finish = babeltrace2_finish,
    .drop = babeltrace2_free_writer,
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
