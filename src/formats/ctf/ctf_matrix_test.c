/* Random events written as CTF, in each of its three versions, and read again are the events that
 * were written: their JSON Lines are the same, field by field, wherever the ledger tells of no
 * loss.  Events are as odd as they come: names of any bytes, keywords, nested arrays without end,
 * arrays of nothing, numbers of any width, long texts, times before 1970 and at the end of all
 * time; and more shapes of them than there may be classes.  What is written as 1.8 babeltrace2
 * opens too, where it is there, and prints every event. usage: ctf_test GENERATOR; speaks TAP. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracetta/read.h>
#include <tracetta/write.h>

#include "base/buffer.h"
#include "matrix/odd_fields.h"
#include "matrix/sources.h"
#include "support/tap.h"
#include "support/writing.h"

enum { SEEDS_PEER = 5, CLASSES_MAX = 4300, LINE_SHOWN = 700 };

/* --- Events --- */

/* One event, with odd names and fields beside those that all tests of writers have; with a context
 * it has nothing else. */
static void make_odd(struct odd *m, ttr *t, int64_t time)
{
    bool has_context = odd_below(&m->seed, 4) == 0;
    if (has_context)
        ttr_event_begin(m->b, TTR_KIND_INSTANT, time, "", "in context");
    else
        sources_make_event(m->b, &m->seed, time);
    ttr_event *event = ttr_event_attributes(m->b);
    ttr_text name = odd_name(&m->seed);
    m->budget = ODD_BUDGET;
    event->time = time;
    event->flags &= (uint8_t)~TTR_EVENT_NO_TIME;
    if (odd_below(&m->seed, 3) == 0)
        event->name = ttr_text_add(t, name.p, name.n);
    if (odd_below(&m->seed, 9) == 0)
        event->category = ttr_text_add(t, name.p, name.n);
    if (event->kind == TTR_KIND_BLOB)
        return;
    for (uint64_t n = has_context ? 1 + odd_below(&m->seed, 3) : 0; n > 0; n--)
        odd_put(m, odd_name(&m->seed), 0, TTR_GROUP_CONTEXT);
    for (uint64_t n = odd_below(&m->seed, 5); n > 0; n--)
        odd_put(m, odd_name(&m->seed), 0, TTR_GROUP_PAYLOAD);
}

/* One of many names with some of many fields: nearly each such event is of another shape. */
static void make_shapeless(struct odd *m, int64_t time)
{
    char name[24];
    (void)snprintf(name, sizeof name, "name %u", (unsigned)odd_below(&m->seed, 300));
    ttr_event_begin(m->b, (ttr_kind)(TTR_KIND_INSTANT + odd_below(&m->seed, 10)), time,
                    odd_below(&m->seed, 2) ? "one" : "other", name);
    ttr_event_set_thread(m->b, 1, odd_below(&m->seed, 3));
    ttr_event_attributes(m->b)->level = (uint8_t)odd_below(&m->seed, 8);
    odd_put_shape(m, 2 + odd_below(&m->seed, 5));
}

/* --- Writing --- */

struct lines {
    struct buffer text;
    bool *is_lossy;
    size_t n;
};

static uint64_t lost(ttr_writer *out)
{
    const ttr_loss *losses;
    uint64_t sum = 0;
    for (size_t n = ttr_losses(out, &losses); n > 0; n--)
        sum += losses[n - 1].count;
    return sum;
}

/* Writes events as JSON Lines and as CTF. */
static bool write_both(const struct odd_trial *trial, const char *folder, struct lines *lines)
{
    ttr *t = ttr_new(NULL);
    struct odd m = {.b = ttr_builder_new(t), .seed = trial->seed, .is_short = trial->is_shapeless};
    const char *const options[] = {trial->version, NULL};
    const ttr_write_options how = {.size = sizeof how, .format_options = options};
    ttr_writer *json = ttr_create_push(t, writing_to_buffer, &lines->text, "jsonl", NULL, NULL),
               *out = ttr_create(t, folder, "ctf", &how, NULL);
    ttr_error error = {.text = ""};
    ttr_batch batch;
    bool ok = out && json;
    int64_t time = trial->from;
    for (unsigned i = 0; i < trial->events && ok; i++) {
        time += 1 + (int64_t)odd_below(&m.seed, odd_below(&m.seed, 50) ? 1000 : UINT64_C(1) << 34);
        if (trial->is_shapeless)
            make_shapeless(&m, time);
        else
            make_odd(&m, t, time);
        uint64_t before = lost(out);
        ok = ttr_event_build(m.b, &batch, &error) == TTR_OK &&
             ttr_write(json, &batch, &error) == TTR_OK && ttr_write(out, &batch, &error) == TTR_OK;
        lines->is_lossy[lines->n++] = ok && lost(out) != before;
    }
    ok = json && ttr_finish(json, NULL) == TTR_OK && ok;
    ok = out && ttr_finish(out, ok ? &error : NULL) == TTR_OK && ok;
    if (!ok)
        printf("# not written: %s\n", error.text);
    ttr_builder_free(m.b);
    ttr_free(t);
    return ok;
}

static bool read_back(const char *folder, struct lines *lines)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {.text = ""};
    ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_STRICT};
    ttr_reader *in = ttr_open(t, folder, &options, &error);
    ttr_writer *json = ttr_create_push(t, writing_to_buffer, &lines->text, "jsonl", NULL, NULL);
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    while (in && json && (status = ttr_read(in, &batch, &error)) == TTR_OK &&
           ttr_write(json, &batch, NULL) == TTR_OK)
        lines->n += batch.n;
    bool ok = json && ttr_finish(json, NULL) == TTR_OK && status == TTR_END;
    if (!ok)
        printf("# not read: %s\n", error.text);
    ttr_close(in);
    ttr_free(t);
    return ok;
}

/* --- Comparing --- */

/* The line from p on without the track, which is the stream file's in CTF. */
static void next_line(const char **p, const char *end, struct buffer *to)
{
    static const char track[] = ",\"track\":";
    const char *line = *p, *stop = memchr(line, '\n', (size_t)(end - line));
    stop = stop ? stop : end;
    const char *at = memmem(line, (size_t)(stop - line), track, sizeof track - 1);
    buffer_clear(to);
    buffer_add(to, line, (size_t)((at ? at : stop) - line));
    for (at = at ? at + 1 : stop; at < stop && *at != ',';)
        at++;
    buffer_add(to, at, (size_t)(stop - at));
    *p = stop < end ? stop + 1 : end;
}

static bool is_same(const struct buffer *a, const struct buffer *b)
{
    return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

static void show(const char *what, const struct buffer *line)
{
    printf("# %s %.*s\n", what, (int)(line->n < LINE_SHOWN ? line->n : LINE_SHOWN),
           (const char *)line->bytes);
}

static bool compare(const struct lines *source, const struct lines *copy)
{
    struct buffer a, b;
    buffer_init(&a, alloc_default());
    buffer_init(&b, alloc_default());
    const char *p = (const char *)source->text.bytes, *p_end = p + source->text.n,
               *q = (const char *)copy->text.bytes, *q_end = q + copy->text.n;
    unsigned different = 0, lossy = 0;
    for (size_t i = 0; i < source->n && p < p_end && q < q_end; i++) {
        next_line(&p, p_end, &a);
        next_line(&q, q_end, &b);
        lossy += source->is_lossy[i];
        if (source->is_lossy[i] || is_same(&a, &b) || ++different > 1)
            continue;
        printf("# event %zu\n", i);
        show("written", &a);
        show("read   ", &b);
    }
    if (source->n != copy->n || different || lossy == source->n)
        printf("# %zu events written, %u of them lossy, %zu read, %u different\n", source->n, lossy,
               copy->n, different);
    buffer_free(&a);
    buffer_free(&b);
    return source->n == copy->n && different == 0 && lossy < source->n;
}

/* --- Trials --- */

static bool count_of(const char *format, const char *folder, unsigned long *count)
{
    char command[300];
    (void)snprintf(command, sizeof command, format, folder, folder);
    FILE *pipe = popen(command, "r");
    bool ok = pipe && fscanf(pipe, "%lu", count) == 1;
    return pipe && pclose(pipe) == 0 && ok;
}

/* babeltrace2 opens it without a word but of gaps, and prints all events; true also where it is not
 * there. */
static bool peer_agrees(const struct odd_trial *trial, const char *folder, size_t events)
{
    unsigned long lines = 0;
    char peer[160];
    const char *named = getenv("TTR_BABELTRACE2");
    (void)snprintf(peer, sizeof peer, "%s", named ? named : "babeltrace2");
    char command[300];
    (void)snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", peer);
    bool is_asked = strcmp(trial->version, "version=1.8") == 0 &&
                    (trial->is_shapeless || trial->seed <= SEEDS_PEER);
    if (!is_asked || system(command) != 0)
        return true;
    (void)snprintf(
        command, sizeof command,
        "%s --clock-seconds %%s 2>%%s.said | grep -a '^\\[' | grep -avc ' tracetta:names: '", peer);
    bool ok = count_of(command, folder, &lines) && lines == events;
    unsigned long said = 1;
    ok =
        count_of("grep -Eavc 'Tracer (may have )?discarded' <%s.said; rm %s.said", folder, &said) &&
        said == 0 && ok;
    if (!ok)
        printf("# babeltrace2 prints %lu of %zu events and says %lu lines more\n", lines, events,
               said);
    return ok;
}

/* Event classes of a trace in text, in packets or not, or in JSON. */
static bool has_few_classes(const struct odd_trial *trial, const char *folder)
{
    unsigned long classes = 0;
    const char *command = strcmp(trial->version, "version=2") == 0
                              ? "grep -ac '\"event-record-class\"' %s/metadata"
                              : "grep -ac 'event {$' %s/metadata";
    bool ok = count_of(command, folder, &classes) && classes > 1000 && classes <= CLASSES_MAX;
    if (!ok)
        printf("# %lu classes\n", classes);
    return ok;
}

static bool begin(struct lines *lines, size_t events)
{
    buffer_init(&lines->text, alloc_default());
    lines->n = 0;
    lines->is_lossy = calloc(events, sizeof *lines->is_lossy);
    return lines->is_lossy != NULL;
}

static void end(struct lines *lines)
{
    buffer_free(&lines->text);
    free(lines->is_lossy);
}

static bool run(const struct odd_trial *trial)
{
    struct lines source, copy;
    char command[100], folder[] = "/tmp/tracetta-matrix-XXXXXX";
    bool ok = mkdtemp(folder) && rmdir(folder) == 0, has_room = begin(&source, trial->events);
    ok = begin(&copy, trial->events) && has_room && ok;
    ok = ok && write_both(trial, folder, &source) && read_back(folder, &copy) &&
         compare(&source, &copy);
    ok = ok && (!trial->is_shapeless || has_few_classes(trial, folder)) &&
         peer_agrees(trial, folder, source.n);
    if (!ok)
        printf("# %s, seed %" PRIu64 "\n", trial->version, trial->seed);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    ok = system(command) == 0 && ok;
    end(&source);
    end(&copy);
    return ok;
}

int main(void)
{
    odd_try("version=1.1", true, run); /* which has no times before the zero of a clock that nobody
                                          knows, and tells of that */
    odd_try("version=1.8", false, run);
    odd_try("version=2", false, run);
    return tap_end();
}
