/* Fuzzes the reader of a format whose traces are folders (-DFORMAT="ctf", -DANCHOR="metadata"): reads a trace in memory at once and
 * through small windows, touches every field and part, and stops when the two ways differ or memory or events grow out of proportion.
 *
 * The input is a list of files, each [u16le size][bytes], the last one as far as it goes: the anchor, the stream "s0", its index
 * "index/s0.idx", then streams "s1", "s2", ...  The flags come from the last byte. */
#include <stdio.h>

#include "dump.h"
#include "formats/open.h"
#include "formats/table.h"
#include "fuzz.h"
#include "model/context.h"

#ifndef FORMAT
#define FORMAT "ctf"
#define ANCHOR "metadata"
#endif

#define FILES_MAX 8u
#define TAKEN_MAX 9u

struct files {
    char name[FILES_MAX][16];
    ttr_file file[FILES_MAX];
    size_t n;
};

static void split(struct files *files, const uint8_t *bytes, size_t n)
{
    static const char *const first[] = {ANCHOR, "s0", "index/s0.idx"};
    for (files->n = 0; n >= 2 && files->n < FILES_MAX; files->n++) {
        size_t size = (size_t)bytes[0] | (size_t)bytes[1] << 8;
        size = size < n - 2 ? size : n - 2;
        if (files->n < 3)
            (void)snprintf(files->name[files->n], sizeof files->name[0], "%s", first[files->n]);
        else
            (void)snprintf(files->name[files->n], sizeof files->name[0], "s%zu", files->n - 2);
        files->file[files->n] = (ttr_file){files->name[files->n], bytes + 2, size};
        bytes += 2 + size;
        n -= 2 + size;
    }
}

static bool is_same(const ttr_field *a, const ttr_field *b)
{
    const ttr_value *x = &a->value, *y = &b->value;
    return a->name.n == b->name.n && a->depth == b->depth && a->group == b->group && a->choices == b->choices && x->v.u == y->v.u &&
           x->type == y->type && x->hint == y->hint && x->count == y->count && x->text.n == y->text.n &&
           (x->text.n == 0 || memcmp(x->text.p, y->text.p, x->text.n) == 0);
}

/* Fields taken `room` at a time are those that come one by one. */
static void compare_walks(ttr_fields *one, ttr_fields *many, uint32_t room)
{
    ttr_field field, taken[TAKEN_MAX];
    for (uint32_t n; (n = ttr_fields_take(many, taken, room)) > 0;)
        for (uint32_t i = 0; i < n; i++)
            if (!ttr_fields_next(one, &field) || !is_same(&field, &taken[i]))
                fuzz_stop("fields taken at once differ from those one by one");
    if (ttr_fields_next(one, &field))
        fuzz_stop("fields taken at once are fewer than those one by one");
}

/* Walks all fields in two ways, and what dumps do not show. */
static void touch_groups(ttr *t, ttr_reader *reader)
{
    ttr_batch batch;
    ttr_error error;
    ttr_fields one, many;
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            ttr_fields_begin(t, event, &one);
            ttr_fields_begin(t, event, &many);
            compare_walks(&one, &many, 1 + i % TAKEN_MAX);
            for (unsigned group = TTR_GROUP_PACKET; group <= TTR_GROUP_HEADER; group++) {
                ttr_fields_begin_group(t, event, (ttr_group)group, &one);
                ttr_fields_begin_group(t, event, (ttr_group)group, &many);
                compare_walks(&one, &many, TAKEN_MAX);
            }
        }
}

static ttr_reader *open_with(ttr *t, const struct files *files, uint32_t flags, size_t chunk, ttr_error *error)
{
    ttr_read_options options = {.size = sizeof options, .flags = flags};
    struct folder *folder = folder_open_memory(&t->counted, "fuzz", files->file, files->n, error);
    if (!folder)
        return NULL;
    folder_limit_windows(folder, chunk);
    return format_find(FORMAT)->open_folder(t, folder, NULL, &options, error);
}

static void read_all(const struct files *files, size_t n, uint32_t flags, size_t chunk, struct dump *dump)
{
    struct support_heap heap;
    ttr *t = fuzz_context(&heap);
    dump_init(dump);
    ttr_reader *reader = open_with(t, files, flags, chunk, &dump->error);
    if (reader) {
        dump_events(dump, t, reader);
        dump_report(dump, reader);
    }
    ttr_close(reader);
    reader = chunk ? open_with(t, files, flags, chunk, &dump->error) : NULL;
    if (reader)
        touch_groups(t, reader);
    ttr_close(reader);
    /* An event may take a bit. */
    if (dump->events > 64 + 8 * (uint64_t)n)
        fuzz_stop("more events than the input can hold");
    fuzz_context_free(t, &heap, n, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    uint32_t flags = n && bytes[n - 1] & 0x80 ? TTR_READ_DEFINITIONS : 0;
    struct files files;
    struct dump one, two;
    split(&files, bytes, n);
    if (files.n == 0)
        return 0;
    read_all(&files, n, flags, 0, &one);
    read_all(&files, n, flags, 64, &two);
    if (one.text.n != two.text.n || (one.text.n && memcmp(one.text.bytes, two.text.bytes, one.text.n) != 0))
        fuzz_stop("reading through small windows differs from reading at once");
    dump_free(&one);
    dump_free(&two);
    return 0;
}
