/* JSON Lines and CSV contain every event with all its fields, in the order and form of
 * docs/user/json.md and RFC 4180, with exact numbers, and the ledger counts every value that is not
 * preserved exactly.
 *
 * The output is parsed character by character and compared with the event, so nothing can be
 * missing, added or misspelt. Losses are counted on the way, independently of the writer, and
 * compared after each event. usage: lines_test GENERATOR; prints TAP. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "support/corpus.h"
#include "matrix/sources.h"
#include "support/support.h"
#include "support/tap.h"
#include "support/writing.h"

enum { SEEDS = 50, SEED_EVENTS = 400, NAMES_MAX = 2000 };

static const char *const codes[] = {"text.not-utf8",   "field.bytes", "field.not-finite",
                                    "field.duplicate", "text.nul",    "switch.outgoing",
                                    "event.tag"};
enum code { NOT_UTF8, BYTES, NOT_FINITE, DUPLICATE, NUL, OUTGOING, TAG, CODES_N };

struct follow {
    ttr *t;
    ttr_writer *out;
    struct buffer text; /* output of the writer for the current event */
    const char *p, *end;
    const char *problem; /* the first error found */
    uint64_t losses[CODES_N];
    bool is_csv;
    struct buffer column; /* the current column of CSV, without its quotes */
};

/* --- Following --- */

static void refuse(struct follow *f, const char *problem)
{
    f->problem = f->problem ? f->problem : problem;
}

static void literal(struct follow *f, const char *text)
{
    size_t n = strlen(text);
    if (n > (size_t)(f->end - f->p) || memcmp(f->p, text, n) != 0)
        refuse(f, text);
    else
        f->p += n;
}

static void unsigned_number(struct follow *f, uint64_t x)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, x);
    literal(f, text);
}

static void signed_number(struct follow *f, int64_t x)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRId64, x);
    literal(f, text);
}

/* Returns the length of the UTF-8 character at p (RFC 3629 table), or 0 if it is not valid. */
static size_t character(const uint8_t *p, size_t n)
{
    size_t length = p[0] < 0x80                   ? 1
                    : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                    : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                    : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || length > n)
        return 0;
    uint8_t least = p[0] == 0xe0   ? 0xa0
                    : p[0] == 0xf0 ? 0x90
                                   : 0x80,
            most = p[0] == 0xed   ? 0x9f
                   : p[0] == 0xf4 ? 0x8f
                                  : 0xbf;
    if (length > 1 && (p[1] < least || p[1] > most))
        return 0;
    for (size_t i = 2; i < length; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    return length;
}

/* Converts a text as the writer does: each invalid byte becomes U+FFFD, in CSV also each zero
 * character. */
static void sayable(struct follow *f, ttr_text text, bool is_column, struct buffer *to)
{
    const uint8_t *p = (const uint8_t *)text.p;
    bool is_broken = false, has_nul = false;
    for (size_t i = 0, n; i < text.n; i += n ? n : 1) {
        n = character(p + i, text.n - i);
        bool is_nul = is_column && p[i] == 0;
        has_nul |= is_nul;
        is_broken |= n == 0;
        if (n == 0 || is_nul)
            buffer_add(to, "\xef\xbf\xbd", 3);
        else
            buffer_add(to, p + i, n);
    }
    f->losses[NOT_UTF8] += is_broken;
    f->losses[NUL] += has_nul;
}

static unsigned hex4(struct follow *f)
{
    unsigned x = 0;
    for (int i = 0; i < 4; i++, f->p += f->p < f->end) {
        const char *digit = f->p < f->end ? strchr("0123456789abcdef", *f->p) : NULL;
        if (!digit || !*digit) {
            refuse(f, "four hexadecimal digits");
            return 0;
        }
        x = x << 4 | (unsigned)(digit - "0123456789abcdef");
    }
    return x;
}

/* Parses the escape after a backslash. Only control characters below 0x20 need \u. */
static uint8_t escaped(struct follow *f)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *at = f->p < f->end ? strchr(from, *f->p) : NULL;
    if (at && *at) {
        f->p++;
        return (uint8_t)to[at - from];
    }
    literal(f, "u");
    unsigned x = hex4(f);
    if (x > 0x7f)
        refuse(f, "an escape of what needs none");
    return (uint8_t)x;
}

static void json_write_string(struct follow *f, ttr_text text)
{
    struct buffer expected, found;
    buffer_init(&expected, alloc_default());
    buffer_init(&found, alloc_default());
    sayable(f, text, false, &expected);
    literal(f, "\"");
    while (!f->problem && f->p < f->end && *f->p != '"') {
        uint8_t byte = (uint8_t)*f->p++;
        if (byte < 0x20)
            refuse(f, "an escape");
        buffer_add_byte(&found, byte == '\\' ? escaped(f) : byte);
    }
    literal(f, "\"");
    if (found.n != expected.n || (found.n && memcmp(found.bytes, expected.bytes, found.n) != 0))
        refuse(f, "another string");
    buffer_free(&expected);
    buffer_free(&found);
}

/* --- Fields --- */

static void float_number(struct follow *f, double x)
{
    char *end = NULL;
    if (!isfinite(x)) {
        f->losses[NOT_FINITE]++;
        literal(f, isnan(x) ? "\"NaN\"" : x < 0 ? "\"-Infinity\"" : "\"Infinity\"");
        return;
    }
    double found = strtod(f->p, &end);
    if (end == f->p || memcmp(&found, &x, sizeof x) != 0)
        refuse(f, "another float");
    f->p = end > f->p ? end : f->p;
}

static void hex_string(struct follow *f, ttr_text bytes)
{
    char pair[3];
    f->losses[BYTES]++;
    literal(f, "\"0x");
    for (size_t i = 0; i < bytes.n; i++) {
        (void)snprintf(pair, sizeof pair, "%02x", (uint8_t)bytes.p[i]);
        literal(f, pair);
    }
    literal(f, "\"");
}

static void scalar(struct follow *f, const ttr_value *value)
{
    ttr_thread thread;
    switch (value->type) {
    case TTR_TYPE_NULL:
        literal(f, "null");
        break;
    case TTR_TYPE_BOOL:
        literal(f, value->v.u ? "true" : "false");
        break;
    case TTR_TYPE_INT:
        signed_number(f, value->v.s);
        break;
    case TTR_TYPE_FLOAT:
        float_number(f, value->v.f);
        break;
    case TTR_TYPE_TEXT:
        json_write_string(f, value->text);
        break;
    case TTR_TYPE_BYTES:
        hex_string(f, value->text);
        break;
    default:
        unsigned_number(f, value->hint == TTR_DISPLAY_THREAD &&
                                   ttr_thread_get(f->t, (ttr_id)value->v.u, &thread)
                               ? thread.tid
                               : value->v.u);
    }
}

/* The member names of one object so far; a name must not occur twice. */
struct names {
    struct buffer name[NAMES_MAX];
    size_t n;
};

static bool is_given(const struct names *names, const struct buffer *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (names->name[i].n == name->n &&
            (name->n == 0 || memcmp(names->name[i].bytes, name->bytes, name->n) == 0))
            return true;
    return false;
}

static void member_name(struct follow *f, struct names *names, ttr_text given)
{
    struct buffer *name = &names->name[names->n];
    char number[16];
    buffer_init(name, alloc_default());
    sayable(f, given, false, name);
    size_t n = name->n;
    f->losses[DUPLICATE] += is_given(names, name);
    for (unsigned i = 2; is_given(names, name); i++) {
        name->n = n;
        buffer_add(name, number, (size_t)snprintf(number, sizeof number, "#%u", i));
    }
    names->n += names->n + 1 < NAMES_MAX;
    uint64_t after = f->losses[NOT_UTF8];
    json_write_string(f, (ttr_text){name->n ? (const char *)name->bytes : "", name->n});
    f->losses[NOT_UTF8] = after;
    literal(f, ":");
}

/* Checks the members of an object or elements of an array, at most `count`, recursively. */
static void members(struct follow *f, ttr_fields *fields, uint64_t count, bool is_object)
{
    ttr_field field;
    struct names *names = calloc(1, sizeof *names);
    if (!names)
        abort();
    literal(f, is_object ? "{" : "[");
    for (uint64_t i = 0; i < count && !f->problem && ttr_fields_next(fields, &field); i++) {
        if (i)
            literal(f, ",");
        if (is_object)
            member_name(f, names, field.name);
        if (field.value.type == TTR_TYPE_ARRAY || field.value.type == TTR_TYPE_STRUCT)
            members(f, fields, field.value.count, field.value.type == TTR_TYPE_STRUCT);
        else
            scalar(f, &field.value);
    }
    literal(f, is_object ? "}" : "]");
    for (size_t i = 0; i < names->n; i++)
        buffer_free(&names->name[i]);
    free(names);
}

static void all_fields(struct follow *f, const ttr_event *event)
{
    ttr_fields fields;
    ttr_fields_begin(f->t, event, &fields);
    members(f, &fields, UINT64_MAX, true);
}

/* --- JSON Lines --- */

static void string_key(struct follow *f, const char *key, ttr_id id)
{
    literal(f, key);
    json_write_string(f, ttr_text_get(f->t, id));
}

static void number_key(struct follow *f, bool is_there, const char *key, uint64_t x)
{
    if (is_there) {
        literal(f, key);
        unsigned_number(f, x);
    }
}

static bool has_id(unsigned kind)
{
    return kind == TTR_KIND_COUNTER ||
           (kind >= TTR_KIND_ASYNC_BEGIN && kind <= TTR_KIND_FLOW_END) || kind == TTR_KIND_OBJECT ||
           kind == TTR_KIND_GAP;
}

static const char *level_text(unsigned level)
{
    static const char *const levels[] = {"", "trace", "debug", "info", "warning", "error", "fatal"};
    return level < 7 ? levels[level] : "";
}

static void tag(struct follow *f, const ttr_event *event)
{
    static const char *const states[] = {"new",   "running", "suspended",       "blocked",
                                         "dying", "dead",    "uninterruptible", "preempted"};
    static const char *const objects[] = {"other",   "process", "thread",
                                          "pointer", "module",  "mapping"};
    bool is_switch = event->kind == TTR_KIND_SWITCH, is_object = event->kind == TTR_KIND_OBJECT;
    if ((is_switch && event->tag < 8) || (is_object && event->tag < 6)) {
        literal(f, ",\"tag\":\"");
        literal(f, is_switch ? states[event->tag] : objects[event->tag]);
        literal(f, "\"");
    } else {
        number_key(f, event->tag || event->kind == TTR_KIND_BLOB, ",\"tag\":", event->tag);
    }
}

static const char *flags_text(unsigned flags, bool is_csv, char to[80])
{
    static const struct {
        unsigned flag;
        const char *name;
    } names[] = {{TTR_EVENT_CLAMPED, "clamped"},
                 {TTR_EVENT_BACKWARD, "backward"},
                 {TTR_EVENT_PARTIAL, "partial"},
                 {TTR_EVENT_NO_TIME, "no_time"}};
    size_t n = 0;
    to[0] = '\0';
    for (size_t i = 0; i < 4; i++)
        if (flags & names[i].flag)
            n += (size_t)snprintf(to + n, 80 - n, is_csv ? "%s%s" : "%s\"%s\"",
                                  n ? is_csv ? " " : "," : "", names[i].name);
    return to;
}

static void id16(struct follow *f, const char *key, const uint8_t *id)
{
    char pair[3];
    if (!id)
        return;
    literal(f, key);
    for (size_t i = 0; i < 16; i++) {
        (void)snprintf(pair, sizeof pair, "%02x", id[i]);
        literal(f, pair);
    }
    literal(f, "\"");
}

static void number_or_null(struct follow *f, bool is_known, const char *key, uint64_t value)
{
    number_key(f, is_known, key, value);
    if (is_known)
        return;
    literal(f, key);
    literal(f, "null");
}

static void json_line(struct follow *f, const ttr_event *e)
{
    ttr_thread thread = {0}, from;
    ttr_track track;
    char flags[80];
    (void)ttr_thread_get(f->t, e->thread, &thread);
    literal(f, "{\"time_ns\":");
    signed_number(f, e->time);
    literal(f, ",\"kind\":\"");
    literal(f, ttr_kind_text(e->kind));
    string_key(f, "\",\"provider\":", e->provider);
    string_key(f, ",\"category\":", e->category);
    string_key(f, ",\"name\":", e->name);
    number_or_null(f, thread.pid_known, ",\"pid\":", thread.pid);
    number_or_null(f, thread.tid_known, ",\"tid\":", thread.tid);
    number_or_null(f, e->flags & TTR_EVENT_HAS_CPU, ",\"cpu\":", e->cpu);
    number_or_null(f, e->kind == TTR_KIND_SPAN, ",\"dur_ns\":", e->duration);
    number_key(f, has_id(e->kind), ",\"id\":", e->link);
    if (e->kind == TTR_KIND_SWITCH && ttr_thread_get(f->t, (ttr_id)e->link, &from)) {
        number_key(f, from.pid_known, ",\"from_pid\":", from.pid);
        number_key(f, from.tid_known, ",\"from_tid\":", from.tid);
    }
    tag(f, e);
    if (level_text(e->level)[0]) {
        literal(f, ",\"level\":\"");
        literal(f, level_text(e->level));
        literal(f, "\"");
    }
    if (ttr_text_get(f->t, thread.process_name).n)
        string_key(f, ",\"process\":", thread.process_name);
    if (ttr_text_get(f->t, thread.thread_name).n)
        string_key(f, ",\"thread\":", thread.thread_name);
    if (ttr_track_get(f->t, e->track, &track))
        number_key(f, true, ",\"track\":", track.number);
    if (flags_text(e->flags, false, flags)[0]) {
        literal(f, ",\"flags\":[");
        literal(f, flags);
        literal(f, "]");
    }
    number_key(f, e->keyword, ",\"keyword\":", e->keyword);
    number_key(f, e->opcode, ",\"opcode\":", e->opcode);
    id16(f, ",\"activity\":\"", e->activity);
    id16(f, ",\"related\":\"", e->related);
    literal(f, ",\"fields\":");
    all_fields(f, e);
    literal(f, "}\n");
}

/* --- CSV --- */

/* Parses the next column and its separator: TEXTDATA, or a quoted column with doubled quotes. */
static void take_column(struct follow *f, const char *behind)
{
    buffer_clear(&f->column);
    bool is_quoted = f->p < f->end && *f->p == '"';
    f->p += is_quoted;
    while (f->p < f->end) {
        bool is_quote = *f->p == '"';
        if (is_quoted && is_quote && f->p + 1 < f->end && f->p[1] == '"')
            f->p++;
        else if (is_quoted ? is_quote : strchr(",\r\n", *f->p) != NULL)
            break;
        else if (is_quote)
            refuse(f, "a quote outside of quotes");
        buffer_add_byte(&f->column, (uint8_t)*f->p++);
    }
    if (is_quoted)
        literal(f, "\"");
    literal(f, behind);
}

static void column_text(struct follow *f, const void *p, size_t n)
{
    take_column(f, ",");
    if (f->column.n != n || (n && memcmp(f->column.bytes, p, n) != 0))
        refuse(f, "another column");
}

static void column_id(struct follow *f, ttr_id id)
{
    struct buffer expected;
    buffer_init(&expected, alloc_default());
    sayable(f, ttr_text_get(f->t, id), true, &expected);
    column_text(f, expected.bytes, expected.n);
    buffer_free(&expected);
}

static void column_number(struct follow *f, bool is_there, uint64_t x)
{
    char text[32];
    int n = is_there ? snprintf(text, sizeof text, "%" PRIu64, x) : 0;
    column_text(f, text, (size_t)n);
}

static void count_left_out(struct follow *f, const ttr_event *e)
{
    f->losses[OUTGOING] += e->kind == TTR_KIND_SWITCH;
    f->losses[TAG] += e->kind != TTR_KIND_SWITCH &&
                      (e->tag || e->kind == TTR_KIND_BLOB || e->kind == TTR_KIND_OBJECT);
}

static void column_id16(struct follow *f, const uint8_t *id)
{
    char text[33] = "";
    for (size_t i = 0; id && i < 16; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", id[i]);
    column_text(f, text, strlen(text));
}

static void csv_line(struct follow *f, const ttr_event *e)
{
    ttr_thread thread = {0};
    ttr_track track = {0};
    char text[80];
    (void)ttr_thread_get(f->t, e->thread, &thread);
    bool has_track = ttr_track_get(f->t, e->track, &track);
    int n = snprintf(text, sizeof text, "%" PRId64, e->time);
    column_text(f, text, (size_t)n);
    column_text(f, ttr_kind_text(e->kind), strlen(ttr_kind_text(e->kind)));
    column_id(f, e->provider);
    column_id(f, e->category);
    column_id(f, e->name);
    column_number(f, thread.pid_known, thread.pid);
    column_number(f, thread.tid_known, thread.tid);
    column_number(f, e->flags & TTR_EVENT_HAS_CPU, e->cpu);
    column_number(f, e->kind == TTR_KIND_SPAN, e->duration);
    column_number(f, has_id(e->kind), e->link);
    column_text(f, level_text(e->level), strlen(level_text(e->level)));
    column_id(f, thread.process_name);
    column_id(f, thread.thread_name);
    column_number(f, has_track, track.number);
    column_text(f, "", 0);
    (void)flags_text(e->flags, true, text);
    column_text(f, text, strlen(text));
    column_number(f, e->keyword, e->keyword);
    column_number(f, e->opcode, e->opcode);
    column_id16(f, e->activity);
    column_id16(f, e->related);
    column_text(f, "", 0);
    column_text(f, "", 0);
    take_column(f, "\r\n");
    const char *p = f->p, *end = f->end;
    buffer_add_byte(&f->column, '\0'); /* strtod, which parses the numbers, needs a terminator */
    f->p = (const char *)f->column.bytes;
    f->end = f->p + f->column.n - 1;
    all_fields(f, e);
    if (f->p != f->end)
        refuse(f, "the end of the fields");
    f->p = p;
    f->end = end;
    count_left_out(f, e);
}

/* --- Each event --- */

static uint64_t declared(ttr_writer *out, const char *code)
{
    const ttr_loss *losses;
    size_t n = ttr_losses(out, &losses);
    for (size_t i = 0; i < n; i++)
        if (strcmp(losses[i].code, code) == 0)
            return losses[i].count;
    return 0;
}

/* Returns true if the ledger has exactly the losses counted here. */
static bool is_told(struct follow *f)
{
    const ttr_loss *losses;
    uint64_t sum = 0, counted = 0;
    for (size_t i = 0, n = ttr_losses(f->out, &losses); i < n; i++)
        sum += losses[i].count;
    for (size_t i = 0; i < CODES_N; i++) {
        counted += f->losses[i];
        if (declared(f->out, codes[i]) == f->losses[i])
            continue;
        printf("# %s: %" PRIu64 " declared, %" PRIu64 " happened\n", codes[i],
               declared(f->out, codes[i]), f->losses[i]);
        return false;
    }
    return sum == counted;
}

static bool write_one(struct follow *f, const ttr_event *event)
{
    ttr_batch batch = {.event = event, .n = 1};
    buffer_clear(&f->text);
    bool ok = ttr_write(f->out, &batch, NULL) == TTR_OK && ttr_flush(f->out, NULL) == TTR_OK;
    buffer_add_byte(&f->text, '\0');
    f->p = (const char *)f->text.bytes;
    f->end = f->p + f->text.n - 1;
    if (f->is_csv)
        csv_line(f, event);
    else
        json_line(f, event);
    if (f->p != f->end)
        refuse(f, "the end of the line");
    if (f->problem)
        printf("# expected %s at byte %td of %.900s\n", f->problem,
               f->p - (const char *)f->text.bytes, (const char *)f->text.bytes);
    return ok && !f->problem && is_told(f);
}

/* --- Sources --- */

/* Starts the output with an empty batch, since the header is written with the first batch. */
static bool begin(struct follow *f, bool is_csv)
{
    static const char header[] =
        "time_ns,kind,provider,category,name,pid,tid,cpu,dur_ns,id,level,process,thread,track,"
        "source,flags,"
        "keyword,opcode,activity,related,event_id,event_version,fields\r\n";
    *f = (struct follow){.t = ttr_new(NULL), .is_csv = is_csv};
    buffer_init(&f->text, alloc_default());
    buffer_init(&f->column, alloc_default());
    f->out =
        ttr_create_push(f->t, writing_to_buffer, &f->text, is_csv ? "csv" : "jsonl", NULL, NULL);
    ttr_batch none = {.n = 0};
    bool ok = ttr_write(f->out, &none, NULL) == TTR_OK && ttr_flush(f->out, NULL) == TTR_OK;
    size_t n = is_csv ? sizeof header - 1 : 0;
    return ok && f->text.n == n && (n == 0 || memcmp(f->text.bytes, header, n) == 0);
}

static bool end(struct follow *f, bool ok)
{
    buffer_clear(&f->text);
    ok = ttr_finish(f->out, NULL) == TTR_OK && f->text.n == 0 && ok;
    buffer_free(&f->text);
    buffer_free(&f->column);
    ttr_free(f->t);
    return ok;
}

static bool from_seed(uint64_t seed, bool is_csv)
{
    struct follow f;
    bool ok = begin(&f, is_csv);
    ttr_builder *b = ttr_builder_new(f.t);
    ttr_batch batch;
    ok = ttr_thread_name(f.t, 1, 5, "process, \"one\"", "thread\nfive\xff") && ok;
    for (unsigned i = 0; i < SEED_EVENTS && ok; i++) {
        sources_make_event(b, &seed, 1000 + i);
        ok = ttr_event_build(b, &batch, NULL) == TTR_OK && write_one(&f, ttr_batch_at(&batch, 0));
    }
    ttr_builder_free(b);
    return end(&f, ok);
}

static bool from_seeds(bool is_csv)
{
    bool ok = true;
    unsigned seeds = support_rounds(20, SEEDS);
    for (uint64_t seed = 1; seed <= seeds && ok; seed++)
        ok = from_seed(seed * 1000, is_csv);
    return ok;
}

static bool convert(const char *path, bool is_csv)
{
    struct follow f;
    bool ok = begin(&f, is_csv);
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    ttr_reader *in = ttr_open(f.t, path, NULL, NULL);
    while (ok && in && (status = ttr_read(in, &batch, NULL)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            ok = ok && write_one(&f, ttr_batch_at(&batch, i));
    ttr_close(in);
    return end(&f, ok && status == TTR_END);
}

static bool from_generator(const char *generator, const char *options, bool is_csv)
{
    char path[64];
    bool ok = sources_generate(generator, options, path) && convert(path, is_csv);
    (void)remove(path);
    return ok;
}

static void say(bool ok, const char *what, bool is_csv)
{
    (void)tap_case(ok, "%s stands in %s, with exactly the declared losses", what,
                   is_csv ? "csv" : "jsonl");
}

static void from_corpus(const char *folder, const char *name, bool is_csv)
{
    char path[1024];
    if (corpus_has(folder, name, path, sizeof path))
        say(convert(path, is_csv), name, is_csv);
    else
        tap_skip(name, "%s is missing: set TTR_CORPUS", path);
}

int main(void)
{
    const char *generator = getenv("TTR_GENERATE_FXT");
    if (!generator)
        return 2;
    for (int is_csv = 0; is_csv < 2; is_csv++) {
        say(from_seeds(is_csv), "what programs made by hand", is_csv);
        say(from_generator(generator, "--events 10000 --seed 1 --mix everything", is_csv),
            "everything FXT has", is_csv);
        say(from_generator(generator, "--events 10000 --seed 2", is_csv), "a busy system", is_csv);
        from_corpus("heph", "heph-head-alltypes.trace", is_csv);
        from_corpus("fxt", "magic-trace-2022.fxt", is_csv);
    }
    return tap_end();
}
