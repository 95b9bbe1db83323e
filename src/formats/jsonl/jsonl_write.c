/* JSON Lines: one event per line, schema "tracetta.events/1" (docs/user/json.md), for scripts, jq
 * and column stores. The order of keys is fixed; keys without a value are omitted, except those
 * that every line has.
 *
 * For speed, names are escaped once (text cache), and the texts of recent event names and threads
 * are kept. Memory for a line without its fields is reserved once. Left out: storage details
 * (ticks, offsets, sequence numbers), definitions, and reading. */
#include "base/endian.h"
#include "base/json_writer.h"
#include "base/status.h"
#include "encodings/json/field_json.h"
#include "encodings/json/emit.h"
#include "encodings/json/timeline.h"
#include "model/output.h"

/* maximum size in bytes of the keys, braces, kind, level and flags of a line; names and fields are
 * not counted */
#define LINE_TEXT 640
/* maximum size in bytes of all numbers of a line */
#define LINE_NUMBERS (16 * NUMBER_MAX)

#define TITLES ((size_t)64)
#define THREAD_TEXTS ((size_t)64)
#define TITLE_MAX ((size_t)240)

/* Cached text of a line from kind to name: "kind":...,"provider":...,"category":...,"name":"...".
 */
struct title {
    ttr_id provider, category, name;
    uint8_t kind;
    uint8_t n; /* length of `text` in bytes; 0 if the entry is empty */
    /* number of strings in `text` with invalid UTF-8, which count as losses for each event */
    uint8_t changed;
    char text[TITLE_MAX];
};

/* Cached text of a line about its thread: "pid":...,"tid":..., and, if known,
 * "process":...,"thread":.... */
struct thread_text {
    ttr_id thread;
    ttr_thread known;
    /* number of strings in `text` with invalid UTF-8, which count as losses for each event */
    uint8_t changed;
    bool is_kept;
    /* number of bytes of `text` before the names of the thread; the level is written after these
     * bytes */
    size_t ids_n;
    /* text, with at least TEXT_CACHE_PADDING readable bytes after its end */
    struct buffer text;
};

/* maximum size in bytes of a time in ISO 8601, including its key */
#define TIME_TEXT ((size_t)64)

struct jsonl {
    struct field_json fields, context;
    /* context fields of the event as JSON, kept until the payload fields are written */
    struct buffer context_text;
    /* cached starts of lines, indexed by a hash of name and kind */
    struct title titles[TITLES];
    /* cached texts of threads, indexed by a hash of the thread */
    struct thread_text thread_texts[THREAD_TEXTS];
    uint64_t second;  /* Unix second of which `second_text` contains the digits */
    uint8_t second_n; /* length of second_text in bytes; 0 if it is not valid */
    char second_text[TEXT_CACHE_PADDING];
    /* option times=string: true if times are written as JSON strings */
    bool has_text_times;
};

static const ttr_loss losses[] = {FIELD_JSON_LOSS_ROWS};

static ttr_status jsonl_create(struct ttr_writer *out, ttr_error *error)
{
    struct jsonl *ctx = out->ctx;
    const char *times = output_option(out, "times");
    ctx->has_text_times = times && strcmp(times, "string") == 0;
    if (times && !ctx->has_text_times && strcmp(times, "number") != 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "option jsonl.times cannot be \"%s\": expected number or string", times);
    field_json_init(&ctx->fields, out->t, &out->buffer);
    buffer_init(&ctx->context_text, out->buffer.alloc);
    field_json_init(&ctx->context, out->t, &ctx->context_text);
    for (size_t i = 0; i < THREAD_TEXTS; i++)
        buffer_init(&ctx->thread_texts[i].text, out->buffer.alloc);
    return TTR_OK;
}

/* Appends a key and an escaped string. Returns 1 if the string has invalid UTF-8, which the caller
 * counts as a loss; else 0. */
static uint8_t add_string(struct ttr_writer *out, struct buffer *to, const char *key, ttr_id id)
{
    struct jsonl *ctx = out->ctx;
    const struct text_piece *piece = text_cache_get(&ctx->fields.texts, out->t, id);
    buffer_add_text(to, key);
    buffer_add(to, piece->text.p, piece->text.n);
    buffer_add_byte(to, '"');
    return piece->changed > 0;
}

static void count_text_losses(struct ttr_writer *out, const ttr_event *event, unsigned n)
{
    while (n-- > 0)
        output_count_loss(out, FIELD_JSON_TEXT, event->offset);
}

/* Writes a key that every line has, and its value, or null if the value is unknown. Returns the
 * end of the written text. */
static inline char *emit_number_or_null(char *at, const char *key, bool is_known, uint64_t value)
{
    at = emit_constant(at, key);
    return is_known ? emit_u64(at, value) : emit_constant(at, "null");
}

static void format_thread(struct ttr_writer *out, struct thread_text *thread_text)
{
    const ttr_thread *known = &thread_text->known;
    struct buffer *text = &thread_text->text;
    buffer_clear(text);
    char *begin = (char *)buffer_room(text, LINE_TEXT), *at = begin;
    thread_text->changed = 0;
    if (begin) {
        at = emit_number_or_null(at, ",\"pid\":", known->pid_known, known->pid);
        at = emit_number_or_null(at, ",\"tid\":", known->tid_known, known->tid);
        buffer_commit(text, (size_t)(at - begin));
    }
    thread_text->ids_n = text->n;
    if (known->process_name)
        thread_text->changed = add_string(out, text, ",\"process\":\"", known->process_name);
    if (known->thread_name)
        thread_text->changed =
            (uint8_t)(thread_text->changed +
                      add_string(out, text, ",\"thread\":\"", known->thread_name));
    thread_text->is_kept = buffer_room(text, TEXT_CACHE_PADDING) != NULL;
    out->buffer.failed |= !thread_text->is_kept;
}

static inline bool is_same_thread(const ttr_thread *a, const ttr_thread *b)
{
    return a->pid == b->pid && a->tid == b->tid && a->process_name == b->process_name &&
           a->thread_name == b->thread_name && a->pid_known == b->pid_known &&
           a->tid_known == b->tid_known;
}

static const struct thread_text *get_thread_text(struct ttr_writer *out, const ttr_event *event)
{
    struct jsonl *ctx = out->ctx;
    struct thread_text *thread_text = &ctx->thread_texts[event->thread % THREAD_TEXTS];
    ttr_thread known = {.pid_known = false};
    (void)ttr_thread_get(out->t, event->thread, &known);
    if (!thread_text->is_kept || thread_text->thread != event->thread ||
        !is_same_thread(&thread_text->known, &known)) {
        thread_text->thread = event->thread;
        thread_text->known = known;
        format_thread(out, thread_text);
    }
    count_text_losses(out, event, thread_text->changed);
    return thread_text;
}

/* Appends kind and names of an event. Copies the text to the cache entry `title` if it is short
 * enough. */
static void add_new_title(struct ttr_writer *out, const ttr_event *event, struct title *title)
{
    struct buffer *to = &out->buffer;
    size_t begin = to->n;
    buffer_add_text(to, ",\"kind\":\"");
    buffer_add_text(to, ttr_kind_text(event->kind));
    unsigned changed = add_string(out, to, "\",\"provider\":\"", event->provider);
    changed += add_string(out, to, ",\"category\":\"", event->category);
    changed += add_string(out, to, ",\"name\":\"", event->name);
    count_text_losses(out, event, changed);
    size_t n = to->n - begin;
    title->n = 0;
    if (to->failed || n > TITLE_MAX)
        return;
    *title = (struct title){.provider = event->provider,
                            .category = event->category,
                            .name = event->name,
                            .kind = event->kind,
                            .n = (uint8_t)n,
                            .changed = (uint8_t)changed};
    memcpy(title->text, to->bytes + begin, n);
}

static inline bool is_title_of_event(const struct title *title, const ttr_event *event)
{
    return title->n && title->name == event->name && title->kind == event->kind &&
           title->provider == event->provider && title->category == event->category;
}

static bool has_kind_id(unsigned kind)
{
    return (kind >= TTR_KIND_ASYNC_BEGIN && kind <= TTR_KIND_FLOW_END) ||
           kind == TTR_KIND_COUNTER || kind == TTR_KIND_OBJECT || kind == TTR_KIND_GAP;
}

static const char *get_tag_text(const ttr_event *event)
{
    static const char *const objects[] = {"other",   "process", "thread",
                                          "pointer", "module",  "mapping"};
    if (event->kind == TTR_KIND_SWITCH)
        return ttr_thread_state_text(event->tag);
    if (event->kind == TTR_KIND_OBJECT && event->tag < sizeof objects / sizeof *objects)
        return objects[event->tag];
    return NULL;
}

static char *emit_event_tag(char *at, const ttr_event *event)
{
    const char *text = get_tag_text(event);
    if (event->kind == TTR_KIND_GAP && event->tag == TTR_GAP_PACKETS)
        return emit_u64(emit_constant(at, ",\"packets\":"), event->sequence);
    if (!text && event->tag == 0 && event->kind != TTR_KIND_BLOB)
        return at;
    at = emit_constant(at, ",\"tag\":");
    if (!text)
        return emit_u64(at, event->tag);
    at = emit_constant(at, "\"");
    at = emit_constant(at, text);
    return emit_constant(at, "\"");
}

static char *emit_outgoing_thread(char *at, const ttr *t, const ttr_event *event)
{
    ttr_thread from;
    bool is_thread = event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_WAKE;
    if (!is_thread || event->link > UINT32_MAX || !ttr_thread_get(t, (ttr_id)event->link, &from))
        return at;
    if (from.pid_known)
        at = emit_u64(emit_constant(at, ",\"from_pid\":"), from.pid);
    if (from.tid_known)
        at = emit_u64(emit_constant(at, ",\"from_tid\":"), from.tid);
    return at;
}

static char *emit_event_numbers(char *at, const ttr *t, const ttr_event *event)
{
    at = emit_number_or_null(at, ",\"cpu\":", event->flags & TTR_EVENT_HAS_CPU, event->cpu);
    bool has_length =
        event->kind == TTR_KIND_SPAN || (event->kind == TTR_KIND_GAP && event->duration);
    at = emit_number_or_null(at, ",\"dur_ns\":", has_length, event->duration);
    if (has_kind_id(event->kind))
        at = emit_u64(emit_constant(at, ",\"id\":"), event->link);
    at = emit_outgoing_thread(at, t, event);
    return emit_event_tag(at, event);
}

static char *emit_level(char *at, const ttr_event *event)
{
#define LEVEL(text)           \
    {                         \
        sizeof text - 1, text \
    }
    static const struct {
        uint8_t n;
        char text[23];
    } levels[] = {LEVEL(""),
                  LEVEL(",\"level\":\"trace\""),
                  LEVEL(",\"level\":\"debug\""),
                  LEVEL(",\"level\":\"info\""),
                  LEVEL(",\"level\":\"warning\""),
                  LEVEL(",\"level\":\"error\""),
                  LEVEL(",\"level\":\"fatal\"")};
#undef LEVEL
    if (event->level >= sizeof levels / sizeof *levels)
        return at;
    memcpy(at, levels[event->level].text, sizeof levels->text);
    return at + levels[event->level].n;
}

static char *emit_flags(char *at, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *text;
    } names[] = {{TTR_EVENT_CLAMPED, "\"clamped\""},
                 {TTR_EVENT_BACKWARD, "\"backward\""},
                 {TTR_EVENT_PARTIAL, "\"partial\""},
                 {TTR_EVENT_NO_TIME, "\"no_time\""}};
    unsigned told = 0;
    if (!(flags & (TTR_EVENT_CLAMPED | TTR_EVENT_BACKWARD | TTR_EVENT_PARTIAL | TTR_EVENT_NO_TIME)))
        return at;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(flags & names[i].flag))
            continue;
        at = emit_constant(at, told++ ? "," : ",\"flags\":[");
        at = emit_constant(at, names[i].text);
    }
    return told ? emit_constant(at, "]") : at;
}

/* Writes the four bytes of `x`, lowest first, as eight hexadecimal digits, which are computed at
 * once in a 64-bit word. Returns the end of the written text. */
static inline char *emit_four_hex_bytes(char *at, uint32_t x)
{
    const uint64_t each = 0x0101010101010101u;
    uint64_t lanes = (x | (uint64_t)x << 16) & 0x0000ffff0000ffffu;
    lanes = (lanes | lanes << 8) & 0x00ff00ff00ff00ffu;
    lanes = ((lanes & 0x000f000f000f000fu) << 8) | (lanes >> 4 & 0x000f000f000f000fu);
    uint64_t letters = (lanes + each * (0x80 - 10)) >> 7 & each;
    store_u64le(at, lanes + each * '0' + letters * ('a' - '0' - 10));
    return at + 8;
}

static inline char *emit_activity_id(char *at, const char *key, const uint8_t *bytes)
{
    if (!bytes)
        return at;
    at = emit_constant(at, key);
    for (size_t i = 0; i < 16; i += 4)
        at = emit_four_hex_bytes(at, load_u32le(bytes + i));
    return emit_constant(at, "\"");
}

/* Writes the keys that only some trace formats have values for. Returns the end of the written
 * text. */
static char *emit_rare_keys(char *at, const ttr *t, const ttr_event *event)
{
    uint32_t number, version;
    if (event->keyword)
        at = emit_u64(emit_constant(at, ",\"keyword\":"), event->keyword);
    if (event->opcode)
        at = emit_u64(emit_constant(at, ",\"opcode\":"), event->opcode);
    at = emit_activity_id(at, ",\"activity\":\"", event->activity);
    at = emit_activity_id(at, ",\"related\":\"", event->related);
    if (!ttr_event_number(t, event, &number, &version))
        return at;
    at = emit_u64(emit_constant(at, ",\"event_id\":"), number);
    return emit_u64(emit_constant(at, ",\"event_version\":"), version);
}

static char *emit_track_key(char *at, const ttr *t, const ttr_event *event)
{
    ttr_track track;
    if (!ttr_track_get(t, event->track, &track))
        return at;
    return emit_u64(emit_constant(at, ",\"track\":"), track.number);
}

/* Writes a time as a number. Caches the digits of the seconds, because they are often the same for
 * consecutive events. Returns the end of the written text. */
static char *emit_time(struct jsonl *ctx, char *at, int64_t time)
{
    const uint64_t nano = 1000000000;
    if (time < (int64_t)nano)
        return emit_i64(at, time);
    uint64_t second = (uint64_t)time / nano;
    if (second != ctx->second || !ctx->second_n) {
        char digits[NUMBER_MAX];
        ctx->second = second;
        ctx->second_n = (uint8_t)number_format_u64(digits, second);
        memcpy(ctx->second_text, digits, sizeof ctx->second_text);
    }
    at = emit_cached_piece(at, (ttr_text){ctx->second_text, ctx->second_n});
    number_format_9_digits(at, (uint32_t)((uint64_t)time % nano));
    return at + 9;
}

/* Writes the time as a string, because JSON readers may round large numbers. If the time counts
 * from the Unix epoch, adds it in ISO 8601: "165...","time":"2022-04-21T10:11:12.123456789Z".
 * Returns the end. */
static char *emit_time_string(const ttr *t, char *at, const ttr_event *event)
{
    int64_t time = event->time;
    at = emit_constant(emit_i64(emit_constant(at, "\""), time), "\"");
    if (!context_has_unix_time(t, event))
        return at;
    at = emit_constant(at, ",\"time\":\"");
    return emit_constant(at + number_format_iso(at, time), "\"");
}

/* Writes the start of a line: time, kind and names of the event. */
static void write_title(struct ttr_writer *out, const ttr_event *event)
{
    struct jsonl *ctx = out->ctx;
    struct title *title = &ctx->titles[(event->name ^ event->kind) % TITLES];
    char *begin =
        (char *)buffer_room(&out->buffer, sizeof "{\"time_ns\":" + (size_t)2 * NUMBER_MAX +
                                              TIME_TEXT + TITLE_MAX + TEXT_CACHE_PADDING);
    if (!begin)
        return;
    bool is_kept = is_title_of_event(title, event);
    char *at = emit_constant(begin, "{\"time_ns\":");
    at =
        ctx->has_text_times ? emit_time_string(out->t, at, event) : emit_time(ctx, at, event->time);
    if (is_kept)
        at = emit_cached_piece(at, (ttr_text){title->text, title->n});
    buffer_commit(&out->buffer, (size_t)(at - begin));
    if (is_kept)
        count_text_losses(out, event, title->changed);
    else
        add_new_title(out, event, title);
}

static void write_line_start(struct ttr_writer *out, const ttr_event *event)
{
    const struct thread_text *thread_text = get_thread_text(out, event);
    const char *text = (const char *)thread_text->text.bytes;
    ttr_id source = context_displayed_path(out->t, event->source);
    write_title(out, event);
    char *begin = (char *)buffer_room(&out->buffer, LINE_TEXT + LINE_NUMBERS + thread_text->text.n),
         *at = begin;
    if (!begin)
        return;
    at = emit_cached_piece(at, (ttr_text){text, thread_text->ids_n});
    at = emit_event_numbers(at, out->t, event);
    at = emit_level(at, event);
    at = emit_cached_piece(
        at, (ttr_text){text + thread_text->ids_n, thread_text->text.n - thread_text->ids_n});
    at = emit_track_key(at, out->t, event);
    buffer_commit(&out->buffer, (size_t)(at - begin));
    if (source)
        count_text_losses(out, event, add_string(out, &out->buffer, ",\"source\":\"", source));
}

static void write_line_end(struct ttr_writer *out, const ttr_event *event)
{
    char *begin = (char *)buffer_room(&out->buffer, LINE_TEXT), *at = begin;
    if (!begin)
        return;
    at = emit_flags(at, event->flags);
    at = emit_rare_keys(at, out->t, event);
    at = emit_constant(at, ",\"fields\":{");
    buffer_commit(&out->buffer, (size_t)(at - begin));
}

static void write_event(struct ttr_writer *out, const ttr_event *event)
{
    struct jsonl *ctx = out->ctx;
    write_line_start(out, event);
    write_line_end(out, event);
    field_json_begin(&ctx->fields);
    field_json_begin(&ctx->context);
    if (field_json_append_fields_and_context(&ctx->fields, &ctx->context, event)) {
        buffer_add_text(&out->buffer, "},\"context\":{");
        buffer_add(&out->buffer, ctx->context_text.bytes, ctx->context_text.n);
        out->buffer.failed |= ctx->context_text.failed;
        buffer_clear(&ctx->context_text);
        field_json_report_losses(&ctx->context, out, event->offset);
    }
    buffer_add(&out->buffer, "}}\n", 3);
    field_json_report_losses(&ctx->fields, out, event->offset);
    out->buffer.failed |= ctx->fields.texts.failed | ctx->context.texts.failed;
    output_count_event(out, event);
}

static ttr_status jsonl_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    return output_write_each_event(out, batch, write_event, error);
}

/* Called for events that are not printed. Does nothing: no line depends on earlier events. */
static void ignore_skipped_batch(struct ttr_writer *out, const ttr_batch *batch)
{
    (void)out, (void)batch;
}

static ttr_status jsonl_finish(struct ttr_writer *out, ttr_error *error)
{
    return output_drain(out, error);
}

static void jsonl_free_writer(struct ttr_writer *out)
{
    struct jsonl *ctx = out->ctx;
    field_json_free(&ctx->fields);
    field_json_free(&ctx->context);
    buffer_free(&ctx->context_text);
    for (size_t i = 0; i < THREAD_TEXTS; i++)
        buffer_free(&ctx->thread_texts[i].text);
}

static const ttr_option_info options[] = {
    {"times", "number|string",
     "write times as numbers, or as strings that jq and JavaScript keep exact, with ISO 8601",
     true},
};

static const struct format_writer writer = {
    .is_text = true,
    .losses = losses,
    .losses_n = sizeof losses / sizeof *losses,
    .state_size = sizeof(struct jsonl),
    .create = jsonl_create,
    .write = jsonl_write,
    .pass = ignore_skipped_batch,
    .finish = jsonl_finish,
    .drop = jsonl_free_writer,
};

const struct format format_jsonl = {
    .name = "jsonl",
    .title = "JSON Lines: one event per line",
    .extensions = "jsonl ndjson",
    .spec = "schema tracetta.events/1 (docs/user/json.md)",
    .writer = &writer,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
