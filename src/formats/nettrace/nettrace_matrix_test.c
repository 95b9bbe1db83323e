/* Random events written as V4, V5 and V6 and read back: canonical dumps are equal if the ledger has
 * no loss, and differ if it has one. Events are as odd as possible (odd_fields.h): names of any
 * bytes, nested arrays, integers of any width, all kinds, times before 1970 and at the end of the
 * range, more shapes than most programs have. Sequence numbers and ticks that the reader adds are
 * ignored. Gaps are compared by their count of events. Usage: nettrace_test; output is TAP. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "support/dump.h"
#include "matrix/odd_fields.h"
#include "matrix/sources.h"
#include "support/tap.h"
#include "support/writing.h"

#define EARLIER (INT64_C(1) << 40)

enum { LINE_SHOWN = 700 };

/* Events as dump lines, and parts that these do not show: context fields, integers as text. */
struct story {
    struct dump dump;
    struct buffer marks;
};

/* Events written, and the losses counted for each. */
struct source {
    struct story story;
    struct buffer bytes;
    const char **loss; /* code of the first loss counted for each event; NULL if none */
    uint64_t missing;  /* sum of events in gaps, without gaps that the ledger counts as dropped */
};

/* --- Events --- */

static void write_odd_event(struct odd *odd, ttr *t, int64_t time)
{
    static const uint8_t opcodes[] = {0, 0, 0, 9, 240};
    static const uint8_t activities[2][16] = {{9, 8, 7}, {1}};
    sources_make_event(odd->b, &odd->seed, time);
    ttr_event *event = ttr_event_attributes(odd->b);
    ttr_text name = odd_name(&odd->seed);
    bool is_early = odd_below(&odd->seed, 40) == 0, is_plain = odd_below(&odd->seed, 3) != 0,
         is_first = odd->budget == 0;
    if (is_first) /* V4 and V5 store one process, the one of most events */
        ttr_event_set_thread(odd->b, 1, 1);
    odd->budget = ODD_BUDGET;
    event->time = is_early && time > INT64_MIN + EARLIER
                      ? time - EARLIER
                      : time; /* before 1970 for an event from 1970 on */
    if (event->kind == TTR_KIND_INSTANT)
        event->opcode = opcodes[odd_below(&odd->seed, sizeof opcodes)];
    if (is_plain && event->kind != TTR_KIND_BLOB && event->kind != TTR_KIND_GAP) {
        event->kind = TTR_KIND_INSTANT; /* other events would be losses */
        event->category = 0;
        event->link = event->tag = 0;
        ttr_event_set_thread(odd->b, 1, 1 + odd_below(&odd->seed, 9));
    }
    if (odd_below(&odd->seed, 3) == 0)
        event->name = ttr_text_add(t, name.p, name.n);
    if (odd_below(&odd->seed, 9) == 0)
        event->related = activities[odd_below(&odd->seed, 2)];
    if (event->kind == TTR_KIND_BLOB || event->kind == TTR_KIND_GAP)
        return;
    for (uint64_t n = odd_below(&odd->seed, 9) == 0 ? 1 : 0; n > 0; n--)
        odd_put(odd, odd_name(&odd->seed), 0, TTR_GROUP_CONTEXT);
    for (uint64_t n = odd_below(&odd->seed, is_plain ? 2 : 5); n > 0; n--)
        odd_put(odd, odd_name(&odd->seed), 0, TTR_GROUP_PAYLOAD);
}

/* Instants with different fields: most have no loss. */
static void write_unique_shape(struct odd *odd, int64_t time)
{
    char name[24];
    (void)snprintf(name, sizeof name, "name %u", (unsigned)odd_below(&odd->seed, 300));
    ttr_event_begin(odd->b, TTR_KIND_INSTANT, time, "", name);
    ttr_event_set_provider(odd->b, odd_below(&odd->seed, 2) ? "one" : "other");
    ttr_event_set_thread(odd->b, 1, 1 + odd_below(&odd->seed, 3));
    ttr_event_attributes(odd->b)->level = (uint8_t)odd_below(&odd->seed, 7);
    odd_put_shape(odd, odd_below(&odd->seed, 5));
}

/* --- Writing and reading --- */

/* Copy of the ledger at one moment. */
struct ledger {
    ttr_loss loss[64];
    size_t n;
};

static void copy_ledger(ttr_writer *out, struct ledger *ledger)
{
    const ttr_loss *losses;
    ledger->n = ttr_losses(out, &losses);
    for (size_t i = 0; i < ledger->n && i < 64; i++)
        ledger->loss[i] = losses[i];
}

static uint64_t loss_count(const struct ledger *ledger, const char *code)
{
    for (size_t i = 0; i < ledger->n; i++)
        if (strcmp(ledger->loss[i].code, code) == 0)
            return ledger->loss[i].count;
    return 0;
}

static const char *loss_since(ttr_writer *out, const struct ledger *before)
{
    const ttr_loss *losses;
    size_t n = ttr_losses(out, &losses);
    for (size_t i = 0; i < n; i++)
        if (losses[i].count != loss_count(before, losses[i].code))
            return losses[i].code;
    return NULL;
}

static void record_events(struct story *story, const ttr *t, const ttr_batch *batch)
{
    dump_batch(&story->dump, t, batch);
    for (uint32_t i = 0; i < batch->n; i++) {
        uint32_t mark[2] = {0, 0};
        ttr_fields fields;
        ttr_field field;
        ttr_fields_begin(t, ttr_batch_at(batch, i), &fields);
        while (ttr_fields_next(&fields, &field)) {
            mark[0] += field.group != TTR_GROUP_PAYLOAD;
            mark[1] += field.value.hint == TTR_DISPLAY_DECIMAL;
        }
        if (ttr_batch_at(batch, i)->kind != TTR_KIND_GAP)
            buffer_add(&story->marks, mark, sizeof mark);
    }
}

static void story_init(struct story *story)
{
    dump_init(&story->dump);
    buffer_init(&story->marks, alloc_default());
}

static void story_free(struct story *story)
{
    dump_free(&story->dump);
    buffer_free(&story->marks);
}

static bool is_same_mark(const struct story *a, const struct story *b, size_t i)
{
    enum { MARK = 8 };
    return a->marks.n >= MARK * (i + 1) && b->marks.n >= MARK * (i + 1) &&
           memcmp(a->marks.bytes + MARK * i, b->marks.bytes + MARK * i, MARK) == 0;
}

static bool write_one(struct source *source, ttr *t, ttr_writer *out, struct odd *odd)
{
    ttr_batch batch;
    static struct ledger before;
    copy_ledger(out, &before);
    if (ttr_event_build(odd->b, &batch, NULL) != TTR_OK)
        return false;
    const ttr_event *event = ttr_batch_at(&batch, 0);
    record_events(&source->story, t, &batch);
    uint64_t missing = event->kind == TTR_KIND_GAP ? event->link : 0;
    if (ttr_write(out, &batch, NULL) != TTR_OK)
        return false;
    const char *code = loss_since(out, &before);
    source->loss[source->story.dump.events - 1] = code;
    source->missing += code && strcmp(code, "gap.unknown") == 0 ? 0 : missing;
    return true;
}

static bool write_all(const struct odd_trial *trial, struct source *source)
{
    ttr *t = ttr_new(NULL);
    struct odd odd = {
        .b = ttr_builder_new(t), .seed = trial->seed, .is_short = trial->is_shapeless};
    const char *const options[] = {trial->version, NULL};
    const ttr_write_options how = {.size = sizeof how, .format_options = options};
    ttr_writer *out = ttr_create_push(t, writing_to_buffer, &source->bytes, "nettrace", &how, NULL);
    bool ok = out != NULL;
    int64_t time = trial->from;
    for (unsigned i = 0; i < trial->events && ok; i++) {
        uint64_t step = odd_below(&odd.seed, odd_below(&odd.seed, 50) ? 1000 : UINT64_C(1) << 34);
        time += (int64_t)(step < (uint64_t)INT64_MAX - (uint64_t)time ? step : 0);
        if (trial->is_shapeless)
            write_unique_shape(&odd, time);
        else
            write_odd_event(&odd, t, time);
        ok = write_one(source, t, out, &odd);
    }
    ttr_error error = {.text = ""};
    ok = out && ttr_finish(out, &error) == TTR_OK && ok;
    if (!ok)
        printf("# not written: %s\n", error.text);
    dump_names(&source->story.dump, t);
    ttr_builder_free(odd.b);
    ttr_free(t);
    return ok;
}

static bool read_back(const struct source *source, struct story *copy)
{
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_STRICT};
    ttr_error error = {.text = ""};
    ttr_reader *in =
        ttr_open_memory(t, source->bytes.bytes, source->bytes.n, "trace", &options, &error);
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    while (in && (status = ttr_read(in, &batch, &error)) == TTR_OK)
        record_events(copy, t, &batch);
    bool ok = in && status == TTR_END;
    if (!ok)
        printf("# not read: %s\n", error.text);
    dump_names(&copy->dump, t);
    ttr_close(in);
    ttr_free(t);
    return ok;
}

/* --- Comparing --- */

struct line {
    const char *p;
    size_t n;
};

static bool next_line(const char **at, const char *end, struct line *line)
{
    if (*at >= end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    *line = (struct line){*at, (size_t)((stop ? stop : end) - *at)};
    *at = stop ? stop + 1 : end;
    return true;
}

/* Returns the position of " key=" before the fields; NULL if absent. */
static const char *find_key(const struct line *line, const char *key)
{
    const char *fields = memmem(line->p, line->n, " {", 2);
    return memmem(line->p, fields ? (size_t)(fields - line->p) : line->n, key, strlen(key));
}

static struct line remove_key(const struct line *line, const char *key, struct buffer *to)
{
    const char *at = find_key(line, key), *end = line->p + line->n;
    buffer_clear(to);
    if (!at)
        return *line;
    const char *following = memchr(at + 1, ' ', (size_t)(end - at - 1));
    buffer_add(to, line->p, (size_t)(at - line->p));
    buffer_add(to, following ? following : end, following ? (size_t)(end - following) : 0);
    return (struct line){(const char *)to->bytes, to->n};
}

/* Removes parts that the reader adds: ticks, and sequence numbers if `other` has none. */
static struct line normalize_line(const struct line *line, const struct line *other,
                                  struct buffer room[2])
{
    struct line normalize_line = remove_key(line, " ticks=", &room[0]);
    return find_key(other, " seq=") ? normalize_line
                                    : remove_key(&normalize_line, " seq=", &room[1]);
}

static bool is_gap(const struct line *line)
{
    return line->n > 4 && memcmp(line->p, "gap ", 4) == 0;
}

static uint64_t id_of(const struct line *line)
{
    const char *at = find_key(line, " id=");
    return at ? strtoull(at + 4, NULL, 10) : 0;
}

static void print_line(const char *what, const struct line *line)
{
    printf("# %s %.*s\n", what, (int)(line->n < LINE_SHOWN ? line->n : LINE_SHOWN), line->p);
}

struct comparing {
    const char *p, *p_end, *q, *q_end;
    struct buffer room[4];
    uint64_t missing;
    size_t at;
    unsigned different, lossy, events;
};

static bool next_line_pair(struct comparing *c, struct line *source, struct line *copy)
{
    bool has_source, has_copy;
    while ((has_source = next_line(&c->p, c->p_end, source)) && is_gap(source))
        c->at++;
    while ((has_copy = next_line(&c->q, c->q_end, copy)) && is_gap(copy))
        c->missing += id_of(copy);
    if (has_source != has_copy) {
        print_line(has_source ? "not read" : "not written", has_source ? source : copy);
        c->different++;
    }
    return has_source && has_copy;
}

static bool compare_stories(const struct source *source, const struct story *copy)
{
    struct comparing c = {.p = (const char *)source->story.dump.text.bytes,
                          .q = (const char *)copy->dump.text.bytes};
    struct line a, b;
    c.p_end = c.p + source->story.dump.text.n;
    c.q_end = c.q + copy->dump.text.n;
    for (size_t i = 0; i < 4; i++)
        buffer_init(&c.room[i], alloc_default());
    for (; next_line_pair(&c, &a, &b); c.at++) {
        const struct line x = normalize_line(&a, &b, c.room),
                          y = normalize_line(&b, &a, c.room + 2);
        bool is_same = x.n == y.n && memcmp(x.p, y.p, x.n) == 0 &&
                       is_same_mark(&source->story, copy, c.events),
             is_lossy = source->loss[c.at] != NULL;
        c.lossy += is_lossy;
        c.events++;
        if (is_same != is_lossy || ++c.different > 1)
            continue;
        printf("# event %zu: %s %s\n", c.at, is_lossy ? source->loss[c.at] : "no loss",
               is_lossy ? "was counted, but nothing changed" : "was counted, but it changed");
        print_line("written", &a);
        print_line("read   ", &b);
    }
    for (size_t i = 0; i < 4; i++)
        buffer_free(&c.room[i]);
    bool ok = c.different == 0 && c.missing == source->missing &&
              c.lossy < c.events - c.events / 8; /* some events must be without loss */
    if (!ok)
        printf("# %u events, %u of them lossy, %u different; %" PRIu64 " missing, %" PRIu64
               " read as missing\n",
               c.events, c.lossy, c.different, source->missing, c.missing);
    return ok;
}

/* --- Trials --- */

static bool run_trial(const struct odd_trial *trial)
{
    struct source source = {.loss = calloc(trial->events, sizeof *source.loss)};
    struct story copy;
    story_init(&source.story);
    story_init(&copy);
    buffer_init(&source.bytes, alloc_default());
    bool ok = source.loss && write_all(trial, &source) && read_back(&source, &copy) &&
              compare_stories(&source, &copy);
    if (!ok)
        printf("# %s, seed %" PRIu64 "\n", trial->version, trial->seed);
    story_free(&source.story);
    story_free(&copy);
    buffer_free(&source.bytes);
    free(source.loss);
    return ok;
}

int main(void)
{
    static const char *const versions[] = {"version=4", "version=5", "version=6"};
    for (size_t i = 0; i < 3; i++)
        odd_try(versions[i], false, run_trial);
    return tap_end();
}
