/* Fuzzes the reader of a format with traces that are folders (FORMAT "ctf", MAIN_FILE "metadata").
 * Reads a trace in memory at once and through small windows, touches every field and part, and
 * writes it as the same format, discarding the output. Aborts if the two reads differ, or if memory
 * or events exceed their share of the input size.
 *
 * The input is a list of files, each [u16le size][bytes]; the last one may be shorter. In order:
 * the main file, the stream "s0", its index "index/s0.idx", then streams "s1", "s2", ... If bit 15
 * of the size is set, a name follows, [u8 n][name]: golden vectors become inputs in this form
 * (hexa_folder.h), with the key that decrypts them. The last byte has options: bit 7 reads
 * definitions, bit 6 restricts the time range, from (bit 5: up to) 3 << the other bits. Without a
 * range, bit 7 or 5 also writes the trace. */
#include <stdio.h>
#include <stdlib.h>

#include "support/dump.h"
#include "formats/open.h"
#include "formats/table.h"
#include "fuzz/fuzz.h"
#include "support/hexa_folder.h"
#include "model/context.h"
#include "model/reader.h"

#ifndef FORMAT
#define FORMAT "ctf"
#define MAIN_FILE "metadata"
#endif

#define FILES_MAX 12u
#define NAME_MAX_N 40u
#define KEY_VARIABLE "TTR_FUZZ_KEY"
/* upper limit per packet, so that a few bytes cannot become many events */
#define UNPACKED_MAX "1024"

struct files {
    char name[FILES_MAX][NAME_MAX_N];
    ttr_file file[FILES_MAX];
    size_t n;
};

/* Copies the name of the i-th file: the one stored at `bytes`, or the default for its position.
 * Returns the bytes consumed. */
static size_t take_name(char *name, size_t i, bool is_named, const uint8_t *bytes, size_t n)
{
    static const char *const first[] = {MAIN_FILE, "s0", "index/s0.idx"};
    if (is_named && n) {
        const size_t ctx = bytes[0] < n - 1 ? bytes[0] : n - 1;
        (void)snprintf(name, NAME_MAX_N, "%.*s", (int)ctx, (const char *)bytes + 1);
        return 1 + ctx;
    }
    if (i < 3)
        (void)snprintf(name, NAME_MAX_N, "%s", first[i]);
    else
        (void)snprintf(name, NAME_MAX_N, "s%zu", i - 2);
    return 0;
}

static void split(struct files *files, const uint8_t *bytes, size_t n)
{
    for (files->n = 0; n >= 2 && files->n < FILES_MAX; files->n++) {
        const size_t word = (size_t)bytes[0] | (size_t)bytes[1] << 8;
        const size_t head = 2 + take_name(files->name[files->n], files->n, word & HEXA_FOLDER_NAMED,
                                          bytes + 2, n - 2);
        bytes += head;
        n -= head;
        const size_t size = (word & HEXA_FOLDER_SIZE) < n ? word & HEXA_FOLDER_SIZE : n;
        files->file[files->n] = (ttr_file){files->name[files->n], bytes, size};
        bytes += size;
        n -= size;
    }
}

static bool is_same(const ttr_field *a, const ttr_field *b)
{
    const ttr_value *x = &a->value, *y = &b->value;
    return a->name.n == b->name.n && a->depth == b->depth && a->group == b->group &&
           a->choices == b->choices && x->v.u == y->v.u && x->type == y->type &&
           x->hint == y->hint && x->count == y->count && x->text.n == y->text.n &&
           (x->text.n == 0 || memcmp(x->text.p, y->text.p, x->text.n) == 0);
}

/* Checks that a field buffer returns the same fields as an iterator. */
static void compare_fields(ttr *t, ttr_field_buffer *buffer, const ttr_event *event)
{
    ttr_fields one;
    ttr_field field;
    const ttr_field *many;
    ttr_fields_begin(t, event, &one);
    for (uint32_t n = ttr_event_fields(buffer, event, &many); n > 0;
         n = ttr_event_fields_next(buffer, &many))
        for (uint32_t i = 0; i < n; i++)
            if (!ttr_fields_next(&one, &field) || !is_same(&field, &many[i]))
                fuzz_stop("buffered fields differ from those one by one");
    if (ttr_fields_next(&one, &field))
        fuzz_stop("buffered fields are fewer than those one by one");
}

/* Reads all fields in both ways, and the attributes that a dump does not contain. */
static void touch_groups(ttr *t, ttr_reader *reader)
{
    ttr_batch batch;
    ttr_error error;
    ttr_fields fields;
    ttr_field field;
    ttr_field_buffer *buffer = ttr_field_buffer_new(t);
    while (buffer && ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            compare_fields(t, buffer, event);
            for (unsigned group = TTR_GROUP_PACKET; group <= TTR_GROUP_HEADER; group++) {
                ttr_fields_begin_group(t, event, (ttr_group)group, &fields);
                while (ttr_fields_next(&fields, &field))
                    ;
            }
        }
    ttr_field_buffer_free(buffer);
}

static ttr_reader *open_with(ttr *t, const struct files *files, uint8_t knobs, size_t chunk,
                             ttr_error *error)
{
    const uint32_t flags = knobs & 0x80 ? TTR_READ_DEFINITIONS : 0;
    const int64_t time = INT64_C(3) << (knobs & 31);
    static const char *const with_key[] = {"key-env=" KEY_VARIABLE, "unpacked-max=" UNPACKED_MAX,
                                           NULL};
    ttr_read_options options = {.size = sizeof options, .flags = flags, .format_options = with_key};
    struct folder *folder = folder_open_memory(&t->counted, "fuzz", files->file, files->n, error);
    if (!folder)
        return NULL;
    folder_limit_windows(folder, chunk);
    ttr_reader *reader = format_find(FORMAT)->folder->open(t, folder, NULL, &options, error);
    if (reader && knobs & 0x40)
        reader_set_range(reader, knobs & 0x20 ? INT64_MIN : time, knobs & 0x20 ? time : INT64_MAX);
    return reader;
}

/* Copies the trace byte by byte (with definitions) or re-encodes it, discarding the output. The
 * writer may refuse. */
static void write_all(ttr *t, ttr_reader *reader)
{
    ttr_batch batch;
    ttr_error error;
    ttr_status status = TTR_OK;
    ttr_writer *writer = ttr_create(t, NULL, FORMAT, NULL, &error);
    if (!writer)
        fuzz_stop(error.text);
    while (status == TTR_OK && ttr_read(reader, &batch, &error) == TTR_OK)
        status = ttr_write(writer, &batch, &error);
    if (ttr_finish(writer, &error) == TTR_OK && status != TTR_OK)
        fuzz_stop("a failure of the writer did not stick");
}

static void read_all(const struct files *files, size_t n, uint8_t knobs, size_t chunk,
                     struct dump *dump)
{
    struct support_heap heap;
    ttr *t = fuzz_context(&heap);
    dump_init(dump);
    ttr_reader *reader = open_with(t, files, knobs, chunk, &dump->error);
    if (reader) {
        dump_events(dump, t, reader);
        dump_report(dump, reader);
    }
    ttr_close(reader);
    reader = chunk ? open_with(t, files, knobs, chunk, &dump->error) : NULL;
    if (reader)
        touch_groups(t, reader);
    ttr_close(reader);
    const bool is_written =
        /* only for some inputs: writing takes ten times as long as reading */
        !(knobs & 0x40) && knobs & 0xa0;
    reader = chunk && is_written ? open_with(t, files, knobs, chunk, &dump->error) : NULL;
    if (reader)
        write_all(t, reader);
    ttr_close(reader);
    /* An event may have a size of one bit. */
    if (dump->events > 64 + 8 * (uint64_t)n)
        fuzz_stop("more events than the input can hold");
    fuzz_context_free(t, &heap, n, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const uint8_t knobs = n ? bytes[n - 1] : 0;
    struct files files;
    struct dump one, two;
    (void)setenv(KEY_VARIABLE, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
                 1);
    split(&files, bytes, n);
    if (files.n == 0)
        return 0;
    read_all(&files, n, knobs, 0, &one);
    read_all(&files, n, knobs, 64, &two);
    if (one.text.n != two.text.n ||
        (one.text.n && memcmp(one.text.bytes, two.text.bytes, one.text.n) != 0))
        fuzz_stop("reading through small windows differs from reading at once");
    dump_free(&one);
    dump_free(&two);
    return 0;
}
