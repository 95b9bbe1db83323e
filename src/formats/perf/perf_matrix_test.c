/* Round trip of random events through perf.data, in both byte orders, compressed and not. Events
 * written without a reported loss must read back with the same JSON Lines; events with a loss must
 * not. Lost thread names are exempt: they become COMM records.  usage: matrix_perf GENERATOR;
 * output is TAP. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "matrix/sources.h"
#include "support/support.h"
#include "support/tap.h"
#include "support/writing.h"

enum { SEEDS = 10, EVENTS = 500, LINE_SHOWN = 700, DEPTH = 10 };

static uint64_t random_below(uint64_t *seed, uint64_t n)
{
    return support_random(seed) % n;
}

/* --- Events --- */

static ttr_text random_name(uint64_t *seed)
{
    static const ttr_text names[] = {
        {"", 0},    {"a", 1},    {"name", 4},     {"ttr.kind", 8},           {"a b", 3},
        {"a;b", 3}, {"n\0l", 3}, {"\xff\xfe", 2}, {"gr\xc3\xbc\xc3\x9f", 6}, {"time", 4},
        {"n", 1},   {"meta", 4}, {"0", 1}};
    return names[random_below(seed, random_below(seed, 4) ? 5 : sizeof names / sizeof *names)];
}

static ttr_value random_scalar(uint64_t *seed)
{
    static const ttr_text texts[] = {{"", 0},         {"text", 4},     {"a\0b", 3},
                                     {"\xff\x80", 2}, {"\n\t\"\\", 4}, {"\xf0\x9f\x90\x9d", 4}};
    static const double floats[] = {0.0, -0.0, 0.1, 1e300, -1.5, 65504};
    static const uint8_t widths[] = {0, 8, 16, 32, 64};
    uint64_t r = support_random(seed), x = r >> (r & 63);
    ttr_value value = {.bits = widths[r >> 16 & 3], .text = {"", 0}, .v.u = x};
    unsigned unused = value.bits ? 64u - value.bits : 0;
    switch (r >> 8 & 7) {
    case 0:
        return (ttr_value){.type = TTR_TYPE_NULL, .text = {"", 0}};
    case 1:
        return (ttr_value){.type = TTR_TYPE_BOOL, .v.u = x & 1, .text = {"", 0}};
    case 2:
        return (ttr_value){.type = TTR_TYPE_FLOAT,
                           .v.f = floats[x % 6],
                           .bits = (uint8_t)(x % 6 ? 0 : 32),
                           .text = {"", 0}};
    case 3:
        return (ttr_value){.type = TTR_TYPE_TEXT, .text = texts[r >> 20 & 3]};
    case 4:
        return (ttr_value){.type = TTR_TYPE_BYTES, .text = texts[r >> 20 & 3]};
    case 5:
        value.type = TTR_TYPE_INT;
        value.v.s = (int64_t)(x << unused) >> unused;
        return value;
    default:
        value.type = TTR_TYPE_UINT;
        value.v.u = x << unused >> unused;
        value.base = r >> 24 & 1 ? 16 : 0;
        return value;
    }
}

/* Adds a random field with its members; most arrays have elements of equal shape. */
static void add_random_field(ttr_builder *b, uint64_t *seed, ttr_text name, unsigned depth,
                             unsigned group)
{
    uint64_t r = support_random(seed);
    bool is_deep = depth < DEPTH && (r & 7) == 0, is_array = r >> 3 & 1, is_alike = r >> 4 & 3;
    ttr_field field = {.name = name,
                       .depth = (uint16_t)depth,
                       .group = (uint8_t)group,
                       .value = random_scalar(seed)};
    if (is_deep)
        field.value = (ttr_value){.type = is_array ? TTR_TYPE_ARRAY : TTR_TYPE_STRUCT,
                                  .count = (uint32_t)(r >> 8 & 3),
                                  .text = {"", 0}};
    ttr_add_field(b, &field);
    for (uint64_t i = 0, again = *seed; is_deep && i < field.value.count; i++) {
        if (is_array && is_alike)
            *seed = again;
        add_random_field(b, seed, is_array ? (ttr_text){"", 0} : random_name(seed), depth + 1,
                         group);
    }
}

/* Moves events away from process 0: its threads always have names in perf.data (swapper). */
static void avoid_process_zero(ttr_builder *b, ttr *t, uint64_t *seed)
{
    ttr_thread thread;
    if (ttr_thread_get(t, ttr_event_attributes(b)->thread, &thread) && (uint32_t)thread.pid == 0)
        ttr_event_set_thread(b, 1 + random_below(seed, 3), random_below(seed, 512));
}

static void build_random_event(ttr_builder *b, ttr *t, uint64_t *seed, int64_t time)
{
    sources_make_event(b, seed, time);
    avoid_process_zero(b, t, seed);
    ttr_event *event = ttr_event_attributes(b);
    ttr_text name = random_name(seed);
    event->time = time;
    if (random_below(seed, 3) == 0)
        event->name = ttr_text_add(t, name.p, name.n);
    if (random_below(seed, 8))
        event->category = 0;
    if (random_below(seed, 6))
        event->kind = TTR_KIND_INSTANT;
    if (random_below(seed, 9))
        event->level = (uint8_t)(TTR_LEVEL_TRACE + random_below(seed, 6));
    if (random_below(seed, 19) == 0)
        event->provider = 0;
    if (event->kind == TTR_KIND_BLOB)
        return;
    for (uint64_t n = random_below(seed, 5); n > 0; n--)
        add_random_field(b, seed, random_name(seed), 0,
                         random_below(seed, 19) ? TTR_GROUP_PAYLOAD : TTR_GROUP_CONTEXT);
}

/* --- Writing and reading --- */

struct lines {
    struct buffer text;
    bool *is_lossy;
    char (*what)[200]; /* codes of the losses */
    size_t n;
};

/* Returns the number of losses so far except thread names; lists the new ones in `what`. */
static uint64_t count_new_losses(ttr_writer *out, uint64_t *before, char *what, size_t size)
{
    const ttr_loss *losses;
    uint64_t sum = 0;
    size_t n = ttr_losses(out, &losses);
    for (size_t i = 0; i < n; i++) {
        bool is_name = strcmp(losses[i].code, "thread.name") == 0;
        if (!is_name && losses[i].count != before[i])
            (void)snprintf(what + strlen(what), size - strlen(what), " %s", losses[i].code);
        sum += is_name ? 0 : losses[i].count;
        before[i] = losses[i].count;
    }
    return sum;
}

struct trial {
    const char *options[3];
    uint64_t seed;
    int64_t from;
    char path[64];
};

static bool write_both(const struct trial *trial, struct lines *lines)
{
    ttr *t = ttr_new(NULL);
    ttr_builder *b = ttr_builder_new(t);
    const ttr_write_options how = {
        .size = sizeof how, .flags = TTR_WRITE_OVERWRITE, .format_options = trial->options};
    ttr_writer *json = ttr_create_push(t, writing_to_buffer, &lines->text, "jsonl", NULL, NULL);
    ttr_error error = {.text = ""};
    ttr_writer *out = ttr_create(t, trial->path, "perf", &how, &error);
    uint64_t seed = trial->seed, before[64] = {0}, sum = 0;
    ttr_batch batch;
    bool ok = out && json;
    int64_t time = trial->from;
    for (unsigned i = 0; i < EVENTS && ok; i++) {
        time +=
            1 + (int64_t)random_below(&seed, random_below(&seed, 50) ? 1000 : UINT64_C(1) << 30);
        build_random_event(b, t, &seed, time);
        ok = ttr_event_build(b, &batch, &error) == TTR_OK &&
             ttr_write(json, &batch, &error) == TTR_OK && ttr_write(out, &batch, &error) == TTR_OK;
        lines->what[lines->n][0] = '\0';
        uint64_t now = count_new_losses(out, before, lines->what[lines->n], sizeof lines->what[0]);
        lines->is_lossy[lines->n++] = now != sum;
        sum = now;
    }
    ok = json && ttr_finish(json, NULL) == TTR_OK && ok;
    ok = out && ttr_finish(out, ok ? &error : NULL) == TTR_OK && ok;
    if (!ok)
        printf("# not written: %s\n", error.text);
    ttr_builder_free(b);
    ttr_free(t);
    return ok;
}

/* Reads the events back, without the COMM records that name threads. */
static bool read_back(const char *path, struct lines *lines)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {.text = ""};
    const ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_STRICT};
    ttr_reader *in = ttr_open(t, path, &options, &error);
    ttr_writer *json = ttr_create_push(t, writing_to_buffer, &lines->text, "jsonl", NULL, NULL);
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    bool ok = in && json;
    while (ok && (status = ttr_read(in, &batch, &error)) == TTR_OK) {
        for (uint32_t i = 0; i < batch.n && ok; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            bool is_name = event->kind == TTR_KIND_OBJECT && event->tag == TTR_OBJECT_THREAD;
            ttr_batch one = {.event = event, .n = 1};
            ok = is_name || ttr_write(json, &one, &error) == TTR_OK;
            lines->n += !is_name;
        }
    }
    ok = ok && ttr_finish(json, NULL) == TTR_OK && status == TTR_END;
    if (!ok)
        printf("# not read: %s\n", error.text);
    ttr_close(in);
    ttr_free(t);
    return ok;
}

/* --- Comparing --- */

static ttr_text next_line(const char **p, const char *end)
{
    const char *line = *p, *stop = memchr(line, '\n', (size_t)(end - line));
    stop = stop ? stop : end;
    *p = stop < end ? stop + 1 : end;
    return (ttr_text){line, (size_t)(stop - line)};
}

static void print_line(const char *what, ttr_text line)
{
    printf("# %s %.*s\n", what, (int)(line.n < LINE_SHOWN ? line.n : LINE_SHOWN), line.p);
}

static bool compare_lines(const struct lines *source, const struct lines *copy)
{
    const char *p = (const char *)source->text.bytes, *p_end = p + source->text.n,
               *q = (const char *)copy->text.bytes, *q_end = q + copy->text.n;
    unsigned wrong = 0, lossy = 0;
    for (size_t i = 0; i < source->n && p < p_end && q < q_end; i++) {
        ttr_text a = next_line(&p, p_end), b = next_line(&q, q_end);
        bool is_same = a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
        lossy += source->is_lossy[i];
        if (source->is_lossy[i] != is_same || ++wrong > 1)
            continue;
        printf("# event %zu, %s%s\n", i,
               is_same ? "nothing is lost but told:" : "lost but not told", source->what[i]);
        print_line("written", a);
        print_line("read   ", b);
    }
    if (source->n != copy->n || wrong || lossy > source->n * 3 / 4)
        printf("# %zu events written, %u of them lossy, %zu read, %u wrong\n", source->n, lossy,
               copy->n, wrong);
    return source->n == copy->n && wrong == 0 && lossy <= source->n * 3 / 4;
}

/* --- Trials --- */

static bool lines_init(struct lines *lines)
{
    *lines = (struct lines){.is_lossy = calloc(EVENTS, sizeof *lines->is_lossy),
                            .what = calloc(EVENTS, sizeof *lines->what)};
    buffer_init(&lines->text, alloc_default());
    return lines->is_lossy && lines->what;
}

static void lines_free(struct lines *lines)
{
    buffer_free(&lines->text);
    free(lines->is_lossy);
    free(lines->what);
}

static bool run_trial(struct trial *trial)
{
    struct lines source, copy;
    (void)snprintf(trial->path, sizeof trial->path, "/tmp/tracetta-matrix-XXXXXX");
    int file = mkstemp(trial->path);
    bool has_room = lines_init(&source),
         ok = lines_init(&copy) && has_room && file >= 0 && close(file) == 0;
    ok = ok && write_both(trial, &source) && read_back(trial->path, &copy) &&
         compare_lines(&source, &copy);
    if (!ok)
        printf("# seed %" PRIu64 "\n", trial->seed);
    (void)remove(trial->path);
    lines_free(&source);
    lines_free(&copy);
    return ok;
}

int main(void)
{
    static const int64_t froms[] = {1000, INT64_C(1700000000000000000), INT64_C(5000000000000)};
    static const struct {
        const char *what, *options[3];
    } ways[] = {{"random events come back", {NULL}},
                {"random events come back from the other byte order", {"byte-order=big", NULL}},
                {"random events come back compressed", {"zstd=3", NULL}},
                {"random events come back compressed, in the other byte order",
                 {"byte-order=big", "zstd=1", NULL}}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool fine = true;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct trial trial = {.seed = seed, .from = froms[seed % 3]};
            memcpy(trial.options, ways[i].options, sizeof trial.options);
            fine = run_trial(&trial) && fine;
        }
        (void)tap_case(fine, "%s", ways[i].what);
    }
    return tap_end();
}
