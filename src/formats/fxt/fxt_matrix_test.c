/* Round trip: events written as FXT read back equal, except for exactly the losses that the writer
 * counts.
 *
 * Each event is written as a batch of its own, so the ledger shows its losses. Then the trace is
 * read again, and both events are compared. The test fails on a difference that no counted loss
 * allows, and on a loss without a difference. Sources: all events of generate_fxt (unsorted and
 * sorted), recorded Heph traces, and random events. usage: fxt_test GENERATOR; prints TAP. */
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
#include "support/tap.h"
#include "support/writing.h"

/* Properties in which two events can differ, as flags. */
enum {
    TIME = 1,
    TICKS = 2,
    DURATION = 4,
    LEVEL = 8,
    OPCODE = 16,
    KEYWORD = 32,
    ACTIVITY = 64,
    SEQUENCE = 128,
    CPU = 256,
    TAG = 512,
    THREAD = 1024,
    CATEGORY = 2048,
    NAME = 4096,
    LINK = 8192,
    BACKWARD = 1 << 14,
    PARTIAL = 1 << 15,
    NO_TIME = 1 << 16,
    FIELDS_FEWER = 1 << 17,
    FIELD_NAME = 1 << 18,
    FIELD_VALUE = 1 << 19,
    FIELD_TYPE = 1 << 20,
    NESTED = 1 << 21,
    PROVIDER = 1 << 22,
    KIND = 1 << 23
};

static const char *const difference_names[] = {
    "time",       "ticks",       "duration",   "level",   "opcode",   "keyword",
    "activity",   "sequence",    "cpu",        "tag",     "thread",   "category",
    "name",       "link",        "backward",   "partial", "no time",  "fewer fields",
    "field name", "field value", "field type", "nested",  "provider", "kind"};

/* The differences that each loss of the writer allows. */
static const struct {
    const char *code;
    uint32_t allows;
} rules[] = {{"time.negative", TIME},
             {"time.place", TIME | NO_TIME},
             {"time.unknown", NO_TIME},
             {"clock.ticks", TICKS},
             {"span.end", DURATION},
             {"span.backward", BACKWARD},
             {"attribute.level", LEVEL},
             {"attribute.opcode", OPCODE},
             {"attribute.keyword", KEYWORD},
             {"attribute.activity", ACTIVITY},
             {"attribute.sequence", SEQUENCE},
             {"attribute.cpu", CPU},
             {"switch.cpu", CPU},
             {"switch.state", TAG},
             {"thread.none", THREAD},
             {"thread.koid", THREAD},
             {"thread.place", THREAD},
             {"category.place", CATEGORY},
             {"name.place", NAME},
             {"field.count", FIELDS_FEWER},
             {"field.room", FIELDS_FEWER},
             {"field.place", FIELDS_FEWER | FIELD_VALUE | NESTED},
             {"field.nested", NESTED},
             {"text.length", FIELD_VALUE | FIELD_NAME | NAME | CATEGORY | PROVIDER},
             {"blob.type", TAG},
             {"sample.frames", FIELDS_FEWER},
             {"gap.count", LINK},
             {"object.id", LINK | FIELD_VALUE},
             {"event.id", LINK},
             {"event.partial", PARTIAL}};

enum { RULES = sizeof rules / sizeof *rules, FIELDS_MAX = 600 };

struct field {
    char name[64];
    uint8_t type, hint;
    uint64_t bits;
    char *bytes; /* copy of a text or of bytes */
    size_t n;
};

/* A copy of an event that outlives its batch. */
struct copy {
    ttr_event event;
    ttr_thread thread, outgoing;
    uint8_t has_thread;
    uint64_t allowed[RULES]; /* by rule: how often the loss was counted for this event */
    struct field *fields;
    size_t fields_n;
    bool is_nested;
};

struct trace {
    ttr *t;
    struct copy *copies;
    size_t n, capacity;
    struct buffer bytes; /* the written trace */
    unsigned complaints;
};

static void *grown(void *items, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return items;
    *capacity = need * 2 + 64;
    items = realloc(items, *capacity * size);
    if (!items)
        abort();
    return items;
}

/* --- Copies --- */

static void take_value(const ttr_value *value, struct field *to)
{
    to->type = value->type;
    to->hint =
        value->hint == TTR_DISPLAY_POINTER || value->hint == TTR_DISPLAY_KOID ? value->hint : 0;
    to->bits = value->v.u;
    if (value->type != TTR_TYPE_TEXT && value->type != TTR_TYPE_BYTES)
        return;
    to->bits = 0;
    to->n = value->text.n;
    to->bytes = malloc(to->n + 1);
    if (!to->bytes)
        abort();
    if (to->n)
        memcpy(to->bytes, value->text.p, to->n);
}

/* Flattens arrays and structs to dotted names, as the writer documents; frames of samples remain a
 * list of addresses. */
static void take_fields(ttr *t, const ttr_event *event, struct copy *copy)
{
    static struct field found[FIELDS_MAX];
    char path[16][64];
    unsigned index[16] = {0};
    bool is_array[16] = {false};
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field) && copy->fields_n < FIELDS_MAX) {
        struct field *to = &found[copy->fields_n];
        unsigned depth = field.depth;
        char *name = path[depth];
        const char *outer = depth ? path[depth - 1] : "";
        char full[128];
        *to = (struct field){.type = 0};
        if (depth && is_array[depth - 1])
            (void)snprintf(full, sizeof full, "%.40s.%u", outer, index[depth - 1]++);
        else if (depth)
            (void)snprintf(full, sizeof full, "%.40s.%.*s", outer,
                           (int)(field.name.n < 20 ? field.name.n : 20), field.name.p);
        else
            (void)snprintf(full, sizeof full, "%.*s", (int)(field.name.n < 60 ? field.name.n : 60),
                           field.name.n ? field.name.p : "");
        memcpy(name, full, 64);
        memcpy(to->name, name, 64);
        index[depth] = 0;
        is_array[depth] = field.value.type == TTR_TYPE_ARRAY;
        if (field.value.type == TTR_TYPE_ARRAY || field.value.type == TTR_TYPE_STRUCT) {
            copy->is_nested |= event->kind != TTR_KIND_SAMPLE;
            continue;
        }
        take_value(&field.value, to);
        copy->fields_n++;
    }
    copy->fields = malloc((copy->fields_n + 1) * sizeof *copy->fields);
    if (!copy->fields)
        abort();
    memcpy(copy->fields, found, copy->fields_n * sizeof *found);
}

static struct copy *take(struct trace *trace, const ttr_event *event)
{
    trace->copies = grown(trace->copies, &trace->capacity, trace->n + 1, sizeof *trace->copies);
    struct copy *copy = &trace->copies[trace->n++];
    *copy = (struct copy){.event = *event};
    copy->has_thread = ttr_thread_get(trace->t, event->thread, &copy->thread);
    if (event->kind == TTR_KIND_SWITCH)
        (void)ttr_thread_get(trace->t, (ttr_id)event->link, &copy->outgoing);
    take_fields(trace->t, event, copy);
    return copy;
}

static void forget(struct trace *trace)
{
    for (size_t i = 0; i < trace->n; i++) {
        for (size_t f = 0; f < trace->copies[i].fields_n; f++)
            free(trace->copies[i].fields[f].bytes);
        free(trace->copies[i].fields);
    }
    free(trace->copies);
    buffer_free(&trace->bytes);
    ttr_free(trace->t);
}

/* --- Comparing --- */

static bool is_same_text(const ttr *a, ttr_id a_id, const ttr *b, ttr_id b_id)
{
    ttr_text x = ttr_text_get(a, a_id), y = ttr_text_get(b, b_id);
    return x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
}

static bool is_same_thread(const ttr_thread *a, const ttr_thread *b)
{
    return a->tid == b->tid && a->tid_known == b->tid_known &&
           (!a->pid_known || (b->pid_known && a->pid == b->pid));
}

static uint32_t compare_fields(const struct copy *a, const struct copy *b)
{
    uint32_t differences =
        (a->fields_n > b->fields_n ? FIELDS_FEWER : 0u) | (a->is_nested ? NESTED : 0u);
    size_t n = a->fields_n < b->fields_n ? a->fields_n : b->fields_n;
    if (a->fields_n < b->fields_n)
        return differences | FIELD_NAME;
    for (size_t i = 0; i < n; i++) {
        const struct field *x = &a->fields[i], *y = &b->fields[i];
        /* a field before the last was lost */
        if (strcmp(x->name, y->name) != 0)
            return differences | (differences & FIELDS_FEWER ? 0 : FIELD_NAME);
        if (x->type != y->type || x->hint != y->hint)
            differences |= FIELD_TYPE;
        if (x->bits != y->bits || x->n != y->n || (x->n && memcmp(x->bytes, y->bytes, x->n) != 0))
            differences |= FIELD_VALUE;
    }
    return differences;
}

static uint32_t compare_numbers(const ttr_event *x, const ttr_event *y)
{
    uint32_t differences = 0;
    bool has_no_time = x->flags & y->flags & TTR_EVENT_NO_TIME;
    bool is_scheduling = x->kind == TTR_KIND_SWITCH || x->kind == TTR_KIND_WAKE;
    differences |= x->time != y->time && !has_no_time ? TIME : 0u;
    differences |= x->source && x->ticks != y->ticks && !((x->flags | y->flags) & TTR_EVENT_NO_TIME)
                       ? TICKS
                       : 0u;
    differences |= x->duration != y->duration ? DURATION : 0u;
    differences |= x->level != y->level ? LEVEL : 0u;
    differences |=
        x->opcode != y->opcode && !is_scheduling && x->kind != TTR_KIND_BLOB ? OPCODE : 0u;
    differences |= x->keyword != y->keyword ? KEYWORD : 0u;
    differences |= !x->activity != !y->activity || !x->related != !y->related ? ACTIVITY : 0u;
    differences |= x->sequence != y->sequence ? SEQUENCE : 0u;
    differences |= ((x->flags ^ y->flags) & TTR_EVENT_HAS_CPU) || x->cpu != y->cpu ? CPU : 0u;
    differences |=
        x->tag != y->tag && (x->kind == TTR_KIND_SWITCH || x->kind >= TTR_KIND_BLOB) ? TAG : 0u;
    differences |= x->link != y->link && x->kind != TTR_KIND_SWITCH ? LINK : 0u;
    differences |= (x->flags ^ y->flags) & TTR_EVENT_BACKWARD ? BACKWARD : 0u;
    differences |= (x->flags ^ y->flags) & TTR_EVENT_PARTIAL ? PARTIAL : 0u;
    differences |= (x->flags ^ y->flags) & TTR_EVENT_NO_TIME ? NO_TIME : 0u;
    return differences;
}

static uint32_t compare(const ttr *a, const struct copy *x, const ttr *b, const struct copy *y)
{
    if (x->event.kind != y->event.kind)
        return KIND;
    uint32_t differences = compare_numbers(&x->event, &y->event) | compare_fields(x, y);
    bool is_same_outgoing =
        x->event.kind != TTR_KIND_SWITCH || is_same_thread(&x->outgoing, &y->outgoing);
    if (x->has_thread != y->has_thread || !is_same_thread(&x->thread, &y->thread) ||
        !is_same_outgoing)
        differences |= THREAD;
    differences |= is_same_text(a, x->event.name, b, y->event.name) ? 0u : NAME;
    differences |= is_same_text(a, x->event.category, b, y->event.category) ? 0u : CATEGORY;
    differences |= is_same_text(a, x->event.provider, b, y->event.provider) ? 0u : PROVIDER;
    return differences;
}

static void complain(struct trace *trace, const struct copy *copy, const char *what,
                     const char *which)
{
    if (trace->complaints++ < 20)
        printf("# %s at offset %" PRIu64 ", time %" PRId64 ": %s: %s\n",
               ttr_kind_text(copy->event.kind), copy->event.offset, copy->event.time, what, which);
}

static void judge(struct trace *trace, const struct copy *copy, uint32_t differences)
{
    uint32_t allowed = 0;
    for (size_t i = 0; i < RULES; i++) {
        if (!copy->allowed[i])
            continue;
        allowed |= rules[i].allows;
        /* A later record in the same batch may contain the process of the koid. */
        if (!(rules[i].allows & differences) && strcmp(rules[i].code, "thread.koid") != 0)
            complain(trace, copy, "declared, but not lost", rules[i].code);
    }
    for (unsigned bit = 0; bit < sizeof difference_names / sizeof *difference_names; bit++)
        if (differences >> bit & ~allowed >> bit & 1)
            complain(trace, copy, "lost, but not declared", difference_names[bit]);
}

/* --- Writing and reading again --- */

static void count_losses(ttr_writer *out, uint64_t counts[RULES])
{
    const ttr_loss *losses;
    size_t n = ttr_losses(out, &losses);
    memset(counts, 0, RULES * sizeof *counts);
    for (size_t i = 0; i < n; i++) {
        size_t rule = 0;
        while (rule < RULES && strcmp(rules[rule].code, losses[i].code) != 0)
            rule++;
        if (rule == RULES)
            abort(); /* the test has no rule for this loss */
        counts[rule] = losses[i].count;
    }
}

static bool write_one(struct trace *trace, ttr_writer *out, const ttr_event *event)
{
    uint64_t before[RULES], after[RULES];
    ttr_batch batch = {.event = event, .n = 1};
    struct copy *copy = take(trace, event);
    count_losses(out, before);
    bool ok = ttr_write(out, &batch, NULL) == TTR_OK;
    count_losses(out, after);
    for (size_t i = 0; i < RULES; i++)
        copy->allowed[i] = after[i] - before[i];
    return ok;
}

/* Returns whether the event is a name that the writer added because the source named the thread
 * otherwise. */
static bool is_added_name(const ttr_event *event, const struct copy *expected)
{
    bool is_name = event->kind == TTR_KIND_OBJECT &&
                   (event->tag == TTR_OBJECT_PROCESS || event->tag == TTR_OBJECT_THREAD);
    return is_name && (!expected || expected->event.kind != TTR_KIND_OBJECT ||
                       expected->event.link != event->link || expected->event.tag != event->tag);
}

static void compare_all(struct trace *trace, struct trace *back)
{
    size_t i = 0;
    for (size_t j = 0; j < back->n; j++) {
        const struct copy *expected = i < trace->n ? &trace->copies[i] : NULL;
        if (is_added_name(&back->copies[j].event, expected))
            continue;
        if (!expected) {
            complain(trace, &back->copies[j], "came from nowhere", "");
            continue;
        }
        judge(trace, expected, compare(trace->t, expected, back->t, &back->copies[j]));
        i++;
    }
    if (i != trace->n)
        complain(trace, &trace->copies[i], "lost, but not declared", "the event itself");
}

static bool read_back(struct trace *trace)
{
    struct trace back = {.t = ttr_new(NULL)};
    ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_STRICT};
    ttr_reader *in =
        ttr_open_memory(back.t, trace->bytes.bytes, trace->bytes.n, "back", &options, NULL);
    ttr_error error = {.text = ""};
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    while (in && (status = ttr_read(in, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            (void)take(&back, ttr_batch_at(&batch, i));
    if (status != TTR_END)
        printf("# what was written cannot be read: %s\n", error.text);
    compare_all(trace, &back);
    ttr_close(in);
    forget(&back);
    return status == TTR_END && trace->complaints == 0;
}

static bool convert(const char *path, bool sorted)
{
    struct trace trace = {.t = ttr_new(NULL), .bytes = {.alloc = alloc_default()}};
    ttr_error error = {.text = ""};
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    ttr_reader *in = ttr_open(trace.t, path, NULL, &error);
    if (in && sorted)
        in = ttr_sort(in, &error);
    ttr_writer *out = ttr_create_push(trace.t, writing_to_buffer, &trace.bytes, "fxt", NULL, NULL);
    bool ok = in && out;
    while (ok && (status = ttr_read(in, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            ok = ok && write_one(&trace, out, ttr_batch_at(&batch, i));
    ok = out && ttr_finish(out, &error) == TTR_OK && status == TTR_END && ok;
    if (!ok)
        printf("# %s: %s\n", path, error.text);
    ok = ok && read_back(&trace);
    ttr_close(in);
    forget(&trace);
    return ok;
}

/* --- Sources --- */

static bool from_builder(uint64_t seed)
{
    struct trace trace = {.t = ttr_new(NULL), .bytes = {.alloc = alloc_default()}};
    ttr_builder *b = ttr_builder_new(trace.t);
    ttr_writer *out = ttr_create_push(trace.t, writing_to_buffer, &trace.bytes, "fxt", NULL, NULL);
    ttr_batch batch;
    bool ok = ttr_thread_name(trace.t, 1, 5, "process one", "thread five");
    for (unsigned i = 0; i < 20000 && ok; i++) {
        sources_make_event(b, &seed, 1000 + i);
        ok = ttr_event_build(b, &batch, NULL) == TTR_OK &&
             write_one(&trace, out, ttr_batch_at(&batch, 0));
    }
    ok = ttr_finish(out, NULL) == TTR_OK && ok && read_back(&trace);
    ttr_builder_free(b);
    forget(&trace);
    return ok;
}

static bool from_generator(const char *generator, const char *options, bool sorted)
{
    char path[64];
    bool ok = sources_generate(generator, options, path) && convert(path, sorted);
    (void)remove(path);
    return ok;
}

static void say(bool ok, const char *what)
{
    (void)tap_case(ok, "%s comes back from fxt, minus exactly the declared losses", what);
}

static void from_corpus(const char *folder, const char *name)
{
    char path[1024];
    if (corpus_has(folder, name, path, sizeof path))
        say(convert(path, false), name);
    else
        tap_skip(name, "%s is missing: set TTR_CORPUS", path);
}

int main(void)
{
    const char *generator = getenv("TTR_GENERATE_FXT");
    if (!generator)
        return 2;
    say(from_generator(generator, "--events 20000 --seed 1 --mix everything", false),
        "everything FXT has");
    say(from_generator(generator, "--events 20000 --seed 2 --mix everything --big-endian", false),
        "everything, big-endian,");
    say(from_generator(generator, "--events 20000 --seed 3 --mix everything", true),
        "everything, sorted,");
    say(from_generator(generator, "--events 20000 --seed 4", false), "a busy system");
    say(from_builder(5), "what a program made by hand");
    for (uint64_t seed = 6; seed < 12; seed++)
        say(from_builder(seed), "what a program made by hand, otherwise,");
    from_corpus("heph", "heph-head-alltypes.trace");
    from_corpus("heph", "heph-head-redis-app.trace");
    from_corpus("fxt", "magic-trace-2022.fxt");
    return tap_end();
}
