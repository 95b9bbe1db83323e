/* FXT to FXT without sorting is a copy, byte by byte; and events of other origin can be put into it
 * without disturbing it. usage: copy_test GENERATOR; speaks TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/read.h>
#include <tracetta/write.h>

#include "base/buffer.h"
#include "support/tap.h"
#include "support/writing.h"

static void read_file(const char *path, struct buffer *bytes)
{
    uint8_t part[65536];
    FILE *file = fopen(path, "rb");
    buffer_init(bytes, alloc_default());
    for (size_t n; file && (n = fread(part, 1, sizeof part, file)) > 0;)
        buffer_add(bytes, part, n);
    if (file)
        (void)fclose(file);
}

static bool write_foreign(ttr_builder *b, ttr_writer *out, int64_t time)
{
    ttr_event_begin(b, TTR_KIND_INSTANT, time, "foreign", "hello");
    ttr_event_set_provider(b, "guest");
    ttr_event_set_thread(b, 77, 78);
    ttr_add_text(b, "text", "value");
    return ttr_event_end(b, out, NULL) == TTR_OK;
}

/* Copies, with an event of our own before every 16th batch but the first where asked; how many of
 * these in *foreign. */
static bool copy(const struct buffer *from, struct buffer *to, uint64_t *foreign)
{
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_DEFINITIONS};
    ttr_reader *in = ttr_open_memory(t, from->bytes, from->n, "original", &options, NULL);
    ttr_writer *out = ttr_create_push(t, writing_to_buffer, to, "fxt", NULL, NULL);
    ttr_builder *b = ttr_builder_new(t);
    ttr_batch batch;
    bool ok = in && out && b;
    for (uint64_t i = 0; ok && ttr_read(in, &batch, NULL) == TTR_OK; i++) {
        if (foreign && i % 16 == 15 && ++*foreign)
            ok = write_foreign(b, out, (int64_t)i);
        ok = ok && ttr_write(out, &batch, NULL) == TTR_OK;
    }
    ok = out && ttr_finish(out, NULL) == TTR_OK && ok;
    ttr_builder_free(b);
    ttr_close(in);
    ttr_free(t);
    return ok;
}

/* What is in a trace: a sum over all that events say of themselves, foreign ones apart. */
struct content {
    uint64_t events, foreign, sum;
    bool is_clean;
};

static uint64_t text_sum(const ttr *t, ttr_id id)
{
    ttr_text text = ttr_text_get(t, id);
    uint64_t sum = text.n;
    for (size_t i = 0; i < text.n; i++)
        sum = sum * 31 + (uint8_t)text.p[i];
    return sum;
}

static bool is_foreign(const ttr *t, const ttr_event *event)
{
    ttr_thread thread = {0};
    ttr_field field;
    ttr_text name = ttr_text_get(t, event->name);
    return event->kind == TTR_KIND_INSTANT && name.n == 5 && memcmp(name.p, "hello", 5) == 0 &&
           ttr_thread_get(t, event->thread, &thread) && thread.pid == 77 && thread.tid == 78 &&
           ttr_field_find(t, event, "text", &field) && field.value.text.n == 5;
}

static struct content look(const struct buffer *bytes)
{
    struct content content = {0};
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_STRICT};
    ttr_reader *in = ttr_open_memory(t, bytes->bytes, bytes->n, "copy", &options, NULL);
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    while (in && (status = ttr_read(in, &batch, NULL)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *e = ttr_batch_at(&batch, i);
            ttr_thread thread = {0};
            if (is_foreign(t, e)) {
                content.foreign++;
                continue;
            }
            (void)ttr_thread_get(t, e->thread, &thread);
            content.events++;
            if (e->flags & TTR_EVENT_NO_TIME)
                continue;
            content.sum += (uint64_t)e->time + 3 * e->ticks + 5 * text_sum(t, e->name) +
                           7 * text_sum(t, e->category) + 11 * text_sum(t, e->provider) +
                           13 * thread.tid + e->kind;
        }
    content.is_clean = status == TTR_END;
    ttr_close(in);
    ttr_free(t);
    return content;
}

static bool is_identical(const struct buffer *original)
{
    struct buffer copied;
    buffer_init(&copied, alloc_default());
    bool ok = copy(original, &copied, NULL) && copied.n == original->n &&
              memcmp(copied.bytes, original->bytes, copied.n) == 0;
    buffer_free(&copied);
    return ok;
}

static bool is_undisturbed(const struct buffer *original)
{
    struct buffer copied;
    uint64_t foreign = 0;
    buffer_init(&copied, alloc_default());
    bool ok = copy(original, &copied, &foreign);
    struct content before = look(original), after = look(&copied);
    if (before.events != after.events || before.sum != after.sum || after.foreign != foreign ||
        !after.is_clean)
        printf("# %llu events became %llu and %llu of %llu foreign ones\n",
               (unsigned long long)before.events, (unsigned long long)after.events,
               (unsigned long long)after.foreign, (unsigned long long)foreign);
    ok = ok && foreign && before.events == after.events && before.sum == after.sum &&
         after.foreign == foreign && after.is_clean;
    buffer_free(&copied);
    return ok;
}

/* Without its provider record the trace gives no section to come back to. */
static void drop_provider(struct buffer *bytes)
{
    memmove(bytes->bytes + 8, bytes->bytes + 8 + 24,
            bytes->n - 8 - 24); /* header and "generator" in two words */
    bytes->n -= 24;
}

static void check(const char *generator, const char *options, bool has_provider)
{
    char command[512], path[] = "/tmp/tracetta-copy-XXXXXX";
    int file = mkstemp(path);
    struct buffer original;
    (void)snprintf(command, sizeof command, "'%s' %s %s", generator, options, path);
    bool ok = file >= 0 && system(command) == 0;
    read_file(path, &original);
    if (!has_provider)
        drop_provider(&original);
    (void)tap_case(ok && is_identical(&original), "a copy is identical: generate_fxt %s", options);
    (void)tap_case(is_undisturbed(&original),
                   "events of other origin do not disturb a copy: generate_fxt %s", options);
    buffer_free(&original);
    (void)remove(path);
}

int main(void)
{
    const char *generator = getenv("TTR_GENERATE_FXT");
    if (!generator)
        return 2;
    check(generator, "--events 30000 --seed 1", true);
    check(generator, "--events 30000 --seed 2 --big-endian", true);
    check(generator, "--events 30000 --seed 3 --mix everything", true);
    check(generator, "--events 30000 --seed 4 --mix everything --big-endian", true);
    check(generator, "--events 30000 --seed 5", false);
    return tap_end();
}
