/* CSV by RFC 4180, for spreadsheets and databases: a header line, then one line per event. The
 * columns are those of "tracetta.events/1" (docs/user/json.md), in a fixed order. One column
 * contains the fields as JSON, because their names differ between events.
 *
 * Left out: properties without a column (see `losses`), storage details, definitions, and reading.
 */
#include "base/status.h"
#include "base/utf.h"
#include "encodings/json/field_json.h"
#include "encodings/json/emit.h"
#include "model/output.h"

#define LINE_TEXT 256
#define LINE_NUMBERS (14 * NUMBER_MAX)

enum csv_loss { CSV_NUL = FIELD_JSON_LOSSES, CSV_OUTGOING, CSV_TAG, CSV_CONTEXT, CSV_LOSSES };

static const ttr_loss losses[CSV_LOSSES] = {
    FIELD_JSON_LOSS_ROWS,
    [CSV_NUL] = {.code = "text.nul",
                 .what = "names with NUL characters",
                 .rule = "get U+FFFD for each"},
    [CSV_OUTGOING] = {.code = "switch.outgoing",
                      .what = "threads that leave a CPU, and their state",
                      .rule = "are left out",
                      .kind = TTR_LOSS_DROPPED},
    [CSV_TAG] = {.code = "event.tag",
                 .what = "types of objects, blobs and other events",
                 .rule = "are left out",
                 .kind = TTR_LOSS_DROPPED},
    [CSV_CONTEXT] = {.code = "field.context",
                     .what = "fields of an event's context",
                     .rule = "become fields of the payload"},
};

static const char header[] = "time_ns,kind,provider,category,name,pid,tid,cpu,dur_ns,id,level,"
                             "process,thread,track,source,flags,"
                             "keyword,opcode,activity,related,event_id,event_version,fields";

struct csv {
    struct text_cache texts;
    struct buffer scratch; /* fields of the event as JSON without quotes */
    struct field_json fields;
    const char *line_end;
    bool has_begun;
};

/* Names of an event, escaped for CSV. */
struct names {
    ttr_text provider, category, name, process, thread, source;
    ttr_thread known;
};

/* Returns true if the text needs no quotes: only RFC 4180 TEXTDATA or characters beyond ASCII, and
 * no blank at either end. */
static bool needs_no_quotes(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < 0x20 || p[i] == '"' || p[i] == ',' || p[i] == 0x7f)
            return false;
    return n == 0 || (p[0] != ' ' && p[n - 1] != ' ');
}

/* Flags that csv_escape returns: the text contained bytes that are not UTF-8, or NUL characters. */
#define HAS_BROKEN 1u
#define HAS_NUL 2u

/* Returns true if a spreadsheet may evaluate the text as a formula. */
static bool looks_like_formula(const uint8_t *p, size_t n)
{
    return n > 0 && (p[0] == '=' || p[0] == '+' || p[0] == '-' || p[0] == '@' || p[0] == '\t' ||
                     p[0] == '\r');
}

/* Appends a string as a CSV field, with an apostrophe in front if `is_text` is true. Returns flags
 * for the kinds of characters that it replaced by U+FFFD. */
static size_t escape_cell(struct buffer *to, const void *bytes, size_t n, bool is_text)
{
    const uint8_t *p = bytes;
    size_t found = 0;
    bool quoted = is_text || !needs_no_quotes(p, n);
    if (quoted)
        buffer_add_byte(to, '"');
    if (is_text)
        buffer_add_byte(to, '\'');
    for (size_t i = 0, length; i < n; i += length) {
        size_t character = utf8_char_length(p + i, n - i);
        length = character ? character : 1;
        found |= (character == 0 ? HAS_BROKEN : 0) | (p[i] == 0 ? HAS_NUL : 0);
        if (p[i] == '"')
            buffer_add_byte(to, '"');
        if (character == 0 || p[i] == 0)
            buffer_add(to, "\xef\xbf\xbd", 3); /* U+FFFD */
        else
            buffer_add(to, p + i, length);
    }
    if (quoted)
        buffer_add_byte(to, '"');
    return found;
}

static size_t csv_escape(struct buffer *to, const void *bytes, size_t n)
{
    return escape_cell(to, bytes, n, false);
}

/* Like csv_escape, but makes spreadsheets show text that they would otherwise evaluate as a
 * formula. */
static size_t csv_escape_formula(struct buffer *to, const void *bytes, size_t n)
{
    return escape_cell(to, bytes, n, looks_like_formula(bytes, n));
}

/* Appends JSON as a quoted field. Doubles the quotes; JSON contains no line breaks or other control
 * characters. */
static void add_quoted_json(struct buffer *to, const struct buffer *scratch)
{
    const size_t n = scratch->n;
    const uint8_t *json = scratch->bytes;
    char *at = n < SIZE_MAX / 4 ? (char *)buffer_room(to, n * 2 + 2) : NULL, *start = at;
    if (!at) {
        to->failed = true;
        return;
    }
    *at++ = '"';
    for (size_t i = 0; i < n; i++) {
        *at = '"';
        at += json[i] == '"';
        *at++ = (char)json[i];
    }
    *at++ = '"';
    buffer_commit(to, (size_t)(at - start));
}

static ttr_status csv_create(struct ttr_writer *out, ttr_error *error)
{
    struct csv *ctx = out->ctx;
    const char *end = output_option(out, "eol"), *formulas = output_option(out, "formulas");
    const bool is_quoted = formulas && strcmp(formulas, "quoted") == 0;
    text_cache_init(&ctx->texts, &out->t->counted, is_quoted ? csv_escape_formula : csv_escape);
    buffer_init(&ctx->scratch, &out->t->counted);
    field_json_init(&ctx->fields, out->t, &ctx->scratch);
    ctx->line_end = end && strcmp(end, "lf") == 0 ? "\n" : "\r\n";
    if (end && strcmp(end, "lf") != 0 && strcmp(end, "crlf") != 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "option csv.eol=%s: unknown value; expected crlf or lf", end);
    if (formulas && !is_quoted && strcmp(formulas, "raw") != 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "option csv.formulas=%s: unknown value; expected raw or quoted", formulas);
    return TTR_OK;
}

static void write_header_once(struct ttr_writer *out)
{
    struct csv *ctx = out->ctx;
    if (ctx->has_begun)
        return;
    ctx->has_begun = true;
    buffer_add_text(&out->buffer, header);
    buffer_add_text(&out->buffer, ctx->line_end);
}

static ttr_text look_up_text(struct ttr_writer *out, ttr_id id, uint64_t offset)
{
    struct csv *ctx = out->ctx;
    const struct text_piece *piece = text_cache_get(&ctx->texts, out->t, id);
    if (piece->changed & HAS_BROKEN)
        output_count_loss(out, FIELD_JSON_TEXT, offset);
    if (piece->changed & HAS_NUL)
        output_count_loss(out, CSV_NUL, offset);
    return piece->text;
}

static void look_up_event_names(struct ttr_writer *out, const ttr_event *event, struct names *names)
{
    uint64_t offset = event->offset;
    names->known = (ttr_thread){0};
    (void)ttr_thread_get(out->t, event->thread,
                         /* if the thread is unknown, names->known remains zero, so the columns of
                          * the thread are empty */
                         &names->known);
    names->provider = look_up_text(out, event->provider, offset);
    names->category = look_up_text(out, event->category, offset);
    names->name = look_up_text(out, event->name, offset);
    names->process = look_up_text(out, names->known.process_name, offset);
    names->thread = look_up_text(out, names->known.thread_name, offset);
    names->source = look_up_text(out, context_displayed_path(out->t, event->source), offset);
}

static char *emit_comma_text(char *at, ttr_text piece)
{
    *at = ',';
    return emit_piece(at + 1, piece);
}

/* Writes a comma, and the number if it is known. Returns the end of the written text. */
static char *emit_comma_u64(char *at, bool is_known, uint64_t x)
{
    *at++ = ',';
    return is_known ? emit_u64(at, x) : at;
}

static bool has_kind_with_id(unsigned kind)
{
    return (kind >= TTR_KIND_ASYNC_BEGIN && kind <= TTR_KIND_FLOW_END) ||
           kind == TTR_KIND_COUNTER || kind == TTR_KIND_OBJECT || kind == TTR_KIND_GAP;
}

static char *emit_level(char *at, const ttr_event *event)
{
    static const char *const levels[] = {"", "trace", "debug", "info", "warning", "error", "fatal"};
    *at++ = ',';
    return event->level < sizeof levels / sizeof *levels ? emit_constant(at, levels[event->level])
                                                         : at;
}

static char *emit_flags(char *at, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *text;
    } names[] = {{TTR_EVENT_CLAMPED, "clamped"},
                 {TTR_EVENT_BACKWARD, "backward"},
                 {TTR_EVENT_PARTIAL, "partial"},
                 {TTR_EVENT_NO_TIME, "no_time"}};
    char before = ',';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(flags & names[i].flag))
            continue;
        *at++ = before;
        at = emit_constant(at, names[i].text);
        before = ' ';
    }
    return before == ',' ? emit_constant(at, ",") : at;
}

static char *emit_activity_id(char *at, const uint8_t *bytes)
{
    static const char digits[] = "0123456789abcdef";
    *at++ = ',';
    for (size_t i = 0; bytes && i < 16; i++) {
        *at++ = digits[bytes[i] >> 4];
        *at++ = digits[bytes[i] & 15];
    }
    return at;
}

/* Writes the columns that only some trace formats have values for. Returns the end of the written
 * text. */
static char *emit_rare_columns(char *at, const ttr *t, const ttr_event *event)
{
    uint32_t number, version;
    bool has_number = ttr_event_number(t, event, &number, &version);
    at = emit_comma_u64(at, event->keyword != 0, event->keyword);
    at = emit_comma_u64(at, event->opcode != 0, event->opcode);
    at = emit_activity_id(at, event->activity);
    at = emit_activity_id(at, event->related);
    at = emit_comma_u64(at, has_number, number);
    return emit_comma_u64(at, has_number, version);
}

static void count_losses(struct ttr_writer *out, const ttr_event *event)
{
    bool has_own_tag = event->kind == TTR_KIND_BLOB || event->kind == TTR_KIND_OBJECT;
    if (event->kind == TTR_KIND_SWITCH)
        output_count_loss(out, CSV_OUTGOING, event->offset);
    else if (event->tag || has_own_tag)
        output_count_loss(out, CSV_TAG, event->offset);
}

static void write_event_columns(struct ttr_writer *out, const ttr_event *event,
                                const struct names *names)
{
    size_t room = LINE_TEXT + LINE_NUMBERS + names->provider.n + names->category.n + names->name.n +
                  names->process.n + names->thread.n + names->source.n;
    char *start = (char *)buffer_room(&out->buffer, room), *at = start;
    ttr_track track = {0};
    if (!start)
        return;
    bool has_track = ttr_track_get(out->t, event->track, &track);
    at = emit_constant(emit_i64(at, event->time), ",");
    at = emit_constant(at, ttr_kind_text(event->kind));
    at = emit_comma_text(at, names->provider);
    at = emit_comma_text(at, names->category);
    at = emit_comma_text(at, names->name);
    at = emit_comma_u64(at, names->known.pid_known, names->known.pid);
    at = emit_comma_u64(at, names->known.tid_known, names->known.tid);
    at = emit_comma_u64(at, event->flags & TTR_EVENT_HAS_CPU, event->cpu);
    at = emit_comma_u64(
        at, event->kind == TTR_KIND_SPAN || (event->kind == TTR_KIND_GAP && event->duration),
        event->duration);
    at = emit_comma_u64(at, has_kind_with_id(event->kind), event->link);
    at = emit_level(at, event);
    at = emit_comma_text(at, names->process);
    at = emit_comma_text(at, names->thread);
    at = emit_comma_u64(at, has_track, track.number);
    at = emit_comma_text(at, names->source);
    at = emit_flags(at, event->flags);
    at = emit_rare_columns(at, out->t, event);
    *at++ = ',';
    buffer_commit(&out->buffer, (size_t)(at - start));
}

static void write_fields_column(struct ttr_writer *out, const ttr_event *event)
{
    struct csv *ctx = out->ctx;
    buffer_clear(&ctx->scratch);
    buffer_add_byte(&ctx->scratch, '{');
    field_json_begin(&ctx->fields);
    field_json_append_fields(&ctx->fields, event);
    buffer_add_byte(&ctx->scratch, '}');
    field_json_report_losses(&ctx->fields, out, event->offset);
    for (; ctx->fields.contexts > 0; ctx->fields.contexts--)
        output_count_loss(out, CSV_CONTEXT, event->offset);
    if (ctx->scratch.n == 2)
        buffer_add_text(&out->buffer, "{}");
    else
        add_quoted_json(&out->buffer, &ctx->scratch);
    out->buffer.failed |= ctx->scratch.failed;
}

static void write_event(struct ttr_writer *out, const ttr_event *event)
{
    const struct csv *ctx = out->ctx;
    struct names names;
    look_up_event_names(out, event, &names);
    write_event_columns(out, event, &names);
    write_fields_column(out, event);
    buffer_add_text(&out->buffer, ctx->line_end);
    count_losses(out, event);
    out->buffer.failed |= ctx->texts.failed;
    output_count_event(out, event);
}

static ttr_status csv_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    write_header_once(out);
    return output_write_each_event(out, batch, write_event, error);
}

static ttr_status csv_finish(struct ttr_writer *out, ttr_error *error)
{
    write_header_once(out);
    return output_drain(out, error);
}

static void csv_free_writer(struct ttr_writer *out)
{
    struct csv *ctx = out->ctx;
    text_cache_free(&ctx->texts);
    field_json_free(&ctx->fields);
    buffer_free(&ctx->scratch);
}

static const ttr_option_info options[] = {
    {"eol", "crlf|lf", "line ends; RFC 4180 requires crlf", true},
    {"formulas", "raw|quoted",
     "quoted: an apostrophe precedes texts that begin with =, +, -, @, tab or CR, which "
     "spreadsheets "
     "evaluate",
     true},
};

static const struct format_writer writer = {
    .is_text = true,
    .losses = losses,
    .losses_n = CSV_LOSSES,
    .state_size = sizeof(struct csv),
    .create = csv_create,
    .write = csv_write,
    .finish = csv_finish,
    .drop = csv_free_writer,
};

const struct format format_csv = {
    .name = "csv",
    .title = "CSV: a header line, one event per line",
    .extensions = "csv",
    .spec = "RFC 4180",
    .writer = &writer,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
