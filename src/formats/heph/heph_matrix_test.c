/* Round trip: events written as Heph read back as the documented rules require, and the ledger
 * counts exactly the losses.
 *
 * The rules of src/formats/heph/README.md are implemented independently in
 * tests/matrix/heph_rules.c. They predict the spans that must be read and the count of each loss.
 * Both are compared exactly, so an undeclared difference fails, and so does a declared loss that
 * did not happen. Spans are compared as sorted lines of text; stream counters by reading in strict
 * mode. usage: heph_test GENERATOR; prints TAP. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/formats.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "formats/heph/heph_format.h"
#include "support/corpus.h"
#include "matrix/heph_rules.h"
#include "matrix/sources.h"
#include "support/tap.h"
#include "support/writing.h"

enum { SEEDS = 50, SEED_EVENTS = 400 };

static bool write_one(struct heph_matrix *m, const ttr_event *event)
{
    ttr_batch batch = {.event = event, .n = 1};
    heph_rules_expect_event(m, event);
    if (event->kind == TTR_KIND_GAP && event->link <= INT32_MAX)
        m->lost += event->link;
    m->gaps += event->kind == TTR_KIND_GAP;
    return ttr_write(m->out, &batch, NULL) == TTR_OK;
}

/* --- Reading again --- */

static void put_found_value(struct buffer *to, const ttr_value *value)
{
    if (value->type == TTR_TYPE_TEXT)
        heph_rules_append_text(NULL, to, value->text);
    else if (value->type == TTR_TYPE_INT)
        heph_rules_append(to, "i%" PRId64, value->v.s);
    else
        heph_rules_append(to,
                          value->type == TTR_TYPE_FLOAT  ? "f%016" PRIx64
                          : value->type == TTR_TYPE_UINT ? "u%" PRIu64
                                                         : "?%" PRIu64,
                          value->v.u);
}

static void find_loss(struct heph_matrix *m, const ttr *t, const ttr_event *event)
{
    struct buffer *line = heph_rules_add_line(&m->found);
    ttr_thread thread = {0};
    ttr_fields fields;
    ttr_field field;
    (void)ttr_thread_get(t, event->thread, &thread);
    heph_rules_append_span(line, event->time, event->duration);
    heph_rules_append_place(line, &thread);
    heph_rules_append_text(NULL, line, ttr_text_get(t, event->name));
    /* all attributes, also those that the reader makes members of the event */
    ttr_event all = *event;
    all.body = HEPH_EVENT_HEADER + (uint32_t)ttr_text_get(t, event->name).n;
    ttr_fields_begin(t, &all, &fields);
    while (ttr_fields_next(&fields, &field)) {
        heph_rules_append(line, " ");
        heph_rules_append_text(NULL, line, field.name);
        heph_rules_append(line, field.value.type == TTR_TYPE_ARRAY ? "=[" : "=");
        if (field.value.type != TTR_TYPE_ARRAY) {
            put_found_value(line, &field.value);
            continue;
        }
        for (uint32_t n = field.value.count, i = 0; i < n && ttr_fields_next(&fields, &field);
             i++) {
            heph_rules_append(line, i ? "," : "");
            put_found_value(line, &field.value);
        }
        heph_rules_append(line, "]");
    }
}

static bool read_back(struct heph_matrix *m)
{
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_STRICT, .from = "heph"};
    ttr_error error = {.text = ""};
    ttr_batch batch;
    ttr_report report = {.size = sizeof report};
    ttr_status status = TTR_E_IO;
    ttr_reader *in = ttr_open_memory(t, m->bytes.bytes, m->bytes.n, "back", &options, &error);
    while (in && (status = ttr_read(in, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            if (ttr_batch_at(&batch, i)->kind != TTR_KIND_GAP)
                find_loss(m, t, ttr_batch_at(&batch, i));
    bool ok = status == TTR_END || (!in && m->expected.n == 0);
    if (!ok)
        printf("# what was written cannot be read: %s\n", error.text);
    /* Gaps before the first event of a stream are invisible, and a single event between two wide
     * gaps counts as a damaged counter. */
    if (in && ttr_reader_report(in, 0, &report) && report.lost > m->lost + m->gaps) {
        printf("# %" PRIu64 " events are missing, by the source only %" PRIu64 "\n", report.lost,
               m->lost);
        ok = false;
    }
    ttr_close(in);
    ttr_free(t);
    return ok;
}

/* --- Comparing --- */

static int compare_lines(const void *a, const void *b)
{
    const struct buffer *x = a, *y = b;
    int order = memcmp(x->bytes, y->bytes, x->n < y->n ? x->n : y->n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

static void complain(const char *what, const struct buffer *line)
{
    printf("# %s %.*s\n", what, (int)(line->n < 500 ? line->n : 500), (const char *)line->bytes);
}

static bool compare_spans(struct heph_matrix *m)
{
    unsigned complaints = 0;
    size_t i = 0, j = 0;
    if (m->expected.n)
        qsort(m->expected.line, m->expected.n, sizeof *m->expected.line, compare_lines);
    if (m->found.n)
        qsort(m->found.line, m->found.n, sizeof *m->found.line, compare_lines);
    while ((i < m->expected.n || j < m->found.n) && complaints < 6) {
        int order = i == m->expected.n ? 1
                    : j == m->found.n  ? -1
                                       : compare_lines(&m->expected.line[i], &m->found.line[j]);
        if (order < 0 && ++complaints)
            complain("expected", &m->expected.line[i]);
        if (order > 0 && ++complaints)
            complain("found   ", &m->found.line[j]);
        i += order <= 0;
        j += order >= 0;
    }
    return complaints == 0;
}

static uint64_t tallied(const struct heph_matrix *m, const char *code)
{
    for (size_t i = 0; m->tallies[i].code; i++)
        if (strcmp(m->tallies[i].code, code) == 0)
            return m->tallies[i].count;
    return 0;
}

/* Checks in both directions: each loss in the ledger was predicted with the same count, and vice
 * versa. */
static bool compare_ledger(struct heph_matrix *m)
{
    ttr_loss all[CODES] = {{.code = NULL}};
    const ttr_loss *losses;
    size_t n = ttr_losses(m->out, &losses), all_n = ttr_format_losses("heph", all, CODES);
    uint64_t sum = 0, expected = 0;
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        sum += losses[i].count;
    for (size_t i = 0; m->tallies[i].code; i++)
        expected += m->tallies[i].count;
    for (size_t i = 0; i < all_n; i++) {
        uint64_t last_names = 0;
        for (size_t j = 0; j < n; j++)
            last_names += strcmp(losses[j].code, all[i].code) == 0 ? losses[j].count : 0;
        if (last_names == tallied(m, all[i].code))
            continue;
        printf("# %s: %" PRIu64 " declared, %" PRIu64 " happened\n", all[i].code, last_names,
               tallied(m, all[i].code));
        ok = false;
    }
    if (ok && sum != expected)
        printf("# %" PRIu64 " losses declared, %" PRIu64 " happened\n", sum, expected);
    return ok && sum == expected;
}

static void drop_lines(struct heph_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        buffer_free(&lines->line[i]);
    free(lines->line);
}

/* --- Sources --- */

static void begin(struct heph_matrix *m)
{
    *m = (struct heph_matrix){.t = ttr_new(NULL)};
    buffer_init(&m->bytes, alloc_default());
    m->out = ttr_create_push(m->t, writing_to_buffer, &m->bytes, "heph", NULL, NULL);
}

/* Unfinished begins are counted by ttr_finish, which frees the writer, so the ledger was compared
 * before. */
static bool end(struct heph_matrix *m, bool ok)
{
    if (m->open_n > m->free_n)
        heph_rules_expect_unfinished(m);
    ok = ttr_finish(m->out, NULL) == TTR_OK && ok && read_back(m) && compare_spans(m);
    drop_lines(&m->expected);
    drop_lines(&m->found);
    buffer_free(&m->bytes);
    free(m->open);
    free(m->streams);
    free(m->free_slots);
    free(m->last_names);
    ttr_free(m->t);
    return ok;
}

static bool from_builder(uint64_t seed, unsigned n, int64_t base)
{
    struct heph_matrix m;
    begin(&m);
    ttr_builder *b = ttr_builder_new(m.t);
    ttr_batch batch;
    bool ok = ttr_thread_name(m.t, 1, 5, "process one", "thread five");
    for (unsigned i = 0; i < n && ok; i++) {
        sources_make_event(b, &seed, base + i);
        ok = ttr_event_build(b, &batch, NULL) == TTR_OK && write_one(&m, ttr_batch_at(&batch, 0));
    }
    ok = ok && compare_ledger(&m);
    ttr_builder_free(b);
    return end(&m, ok);
}

static bool convert(const char *path, bool sorted)
{
    struct heph_matrix m;
    begin(&m);
    ttr_error error = {.text = ""};
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    ttr_reader *in = ttr_open(m.t, path, NULL, &error);
    if (in && sorted)
        in = ttr_sort(in, &error);
    bool ok = in != NULL;
    while (ok && (status = ttr_read(in, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            ok = ok && write_one(&m, ttr_batch_at(&batch, i));
    ok = ok && status == TTR_END && compare_ledger(&m);
    if (!ok)
        printf("# %s: %s\n", path, error.text);
    ttr_close(in);
    return end(&m, ok);
}

static bool from_generator(const char *generator, const char *options, bool sorted)
{
    char path[64];
    bool ok = sources_generate(generator, options, path) && convert(path, sorted);
    (void)remove(path);
    return ok;
}

static bool from_seeds(int64_t base)
{
    bool ok = true;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        bool is_good = from_builder(seed * 1000, SEED_EVENTS, base);
        if (!is_good)
            printf("# seed %" PRIu64 "\n", seed);
        ok = ok && is_good;
        if (!ok)
            break;
    }
    return ok;
}

static void say(bool ok, const char *what)
{
    (void)tap_case(ok, "%s comes back from heph as the declared rules say", what);
}

static void from_corpus(const char *folder, const char *name, bool sorted)
{
    char path[1024], what[200];
    (void)snprintf(what, sizeof what, "%s%s", name, sorted ? ", sorted," : "");
    if (corpus_has(folder, name, path, sizeof path))
        say(convert(path, sorted), what);
    else
        tap_skip(what, "%s is missing: set TTR_CORPUS", path);
}

int main(void)
{
    const char *generator = getenv("TTR_GENERATE_FXT");
    if (!generator)
        return 2;
    say(from_seeds(1000), "what programs made by hand, from zero on,");
    say(from_seeds(INT64_C(1700000000000000000)), "what programs made by hand, by Unix time,");
    say(from_builder(7, 5000, 0), "a long one");
    say(from_generator(generator, "--events 10000 --seed 1 --mix everything", false),
        "everything FXT has");
    say(from_generator(generator, "--events 10000 --seed 2 --mix everything", true),
        "everything, sorted,");
    say(from_generator(generator, "--events 20000 --seed 3", false), "a busy system");
    from_corpus("heph", "heph-head-alltypes.trace", false);
    from_corpus("heph", "heph-head-alltypes.trace", true);
    from_corpus("heph", "heph-head-redis-app.trace", true);
    from_corpus("fxt", "magic-trace-2022.fxt", false);
    return tap_end();
}
