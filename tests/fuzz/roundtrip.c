/* Fuzzes reading one format (-DFORMAT="fxt") and writing all: what is sorted and written again must
 * read back without damage, and the same once more when that is written again; each other format
 * must take the events, and what comes out as JSON must be JSON. Memory of reader, sorting and
 * writer together is limited by the size of the input. */
#include <stdio.h>

#include <tracetta/write.h>

#include "support/dump.h"
#include "fuzz/fuzz.h"
#include "support/json_check.h"

#ifndef FORMAT
#define FORMAT "fxt"
#endif

/* Sorting reserves room for a run before it knows how much it will be. */
#define SORT_ALLOWANCE ((size_t)48 << 20)

struct conversion {
    const uint8_t *bytes;
    size_t n;
    const char *from, *to;
    uint32_t read_flags;
    bool sorted;
    struct buffer output;
    uint64_t damage;   /* regions of the input */
    ttr_status status; /* TTR_END when all of it was written */
};

static void tell(const struct conversion *c, const char *what, const char *detail)
{
    char text[700];
    (void)snprintf(text, sizeof text, "%s to %s: %s %s", c->from, c->to, what, detail);
    fuzz_stop(text);
}

/* In Heph a gap is a hole in the counters, which only a later event can show: each writing tells it
 * by one more span. */
static ttr_reader *arranged(ttr_reader *reader, ttr_error *error)
{
    ttr_filter filter;
    ttr_filter_init(&filter);
    filter.kinds = ~(UINT32_C(1) << TTR_KIND_GAP);
    reader = ttr_sort(reader, error);
    return reader && strcmp(FORMAT, "heph") == 0 ? ttr_filter_new(reader, &filter, error) : reader;
}

static ttr_status run(ttr *t, struct conversion *c, ttr_error *error)
{
    ttr_read_options options = {.size = sizeof options, .from = c->from, .flags = c->read_flags};
    ttr_batch batch;
    ttr_reader *reader = ttr_open_memory(t, c->bytes, c->n, "fuzz", &options, error);
    if (reader && c->sorted)
        reader = arranged(reader, error);
    ttr_writer *writer =
        reader ? ttr_create_push(t, fuzz_push, &c->output, c->to, NULL, error) : NULL;
    ttr_status status = writer ? TTR_OK : TTR_E_UNSUPPORTED;
    while (status == TTR_OK && (status = ttr_read(reader, &batch, error)) == TTR_OK)
        status = ttr_write(writer, &batch, error);
    ttr_report report = {.size = sizeof report};
    c->damage = reader && ttr_reader_report(reader, 0, &report) ? report.damage_regions : 0;
    ttr_status finished = writer ? ttr_finish(writer, error) : status;
    ttr_close(reader);
    return finished == TTR_OK || status != TTR_END ? status : finished;
}

static void convert(struct conversion *c)
{
    struct support_heap heap;
    ttr_error error = {0};
    ttr *t = fuzz_context(&heap);
    buffer_init(&c->output, alloc_default());
    c->status = run(t, c, &error);
    bool is_refused = c->status == TTR_E_UNSUPPORTED && c->output.n == 0;
    if (c->status != TTR_END && c->status != TTR_E_IO && !is_refused)
        tell(c, ttr_status_text(c->status), error.text);
    fuzz_context_free(t, &heap, c->n, c->sorted ? SORT_ALLOWANCE : 0);
}

/* What was written must be whole; gives its events sorted. */
static void read_back(const struct conversion *c, struct dump *dump)
{
    struct support_heap heap;
    ttr *t = fuzz_context(&heap);
    ttr_read_options options = {.size = sizeof options, .from = c->to, .flags = TTR_READ_STRICT};
    dump_init(dump);
    ttr_reader *reader =
        ttr_open_memory(t, c->output.bytes, c->output.n, "back", &options, &dump->error);
    if (reader)
        reader = ttr_sort(reader, &dump->error);
    if (!reader)
        tell(c, "cannot be opened again:", dump->error.text);
    dump_events(dump, t, reader);
    dump_names(dump, t);
    if (dump->status != TTR_END)
        tell(c, "cannot be read again:", dump->error.text);
    ttr_close(reader);
    fuzz_context_free(t, &heap, c->output.n, SORT_ALLOWANCE);
}

/* Offsets move when a trace is written anew; nothing else may. */
static void check_same(const struct conversion *c, const struct dump *one, const struct dump *two)
{
    if (one->text.n == two->text.n &&
        (one->text.n == 0 || memcmp(one->text.bytes, two->text.bytes, one->text.n) == 0))
        return;
    (void)fprintf(stderr, "--- once\n%.*s--- twice\n%.*s", (int)one->text.n,
                  (const char *)one->text.bytes, (int)two->text.n, (const char *)two->text.bytes);
    tell(c, "written twice, it says something else", "");
}

/* Sorted and written, the events are all there; written once more, they are the same. */
static void check_again(const uint8_t *bytes, size_t n)
{
    struct conversion once = {.bytes = bytes, .n = n, .from = FORMAT, .to = FORMAT, .sorted = true},
                      twice;
    struct dump first, second;
    convert(&once);
    if (once.status == TTR_END && once.output.n) {
        read_back(&once, &first);
        twice = (struct conversion){.bytes = once.output.bytes,
                                    .n = once.output.n,
                                    .from = FORMAT,
                                    .to = FORMAT,
                                    .sorted = true};
        convert(&twice);
        read_back(&twice, &second);
        check_same(&twice, &first, &second);
        dump_free(&first);
        dump_free(&second);
        buffer_free(&twice.output);
    }
    buffer_free(&once.output);
}

static void check_json(const struct conversion *c)
{
    const char *p = (const char *)c->output.bytes, *end = p ? p + c->output.n : p;
    if (c->status != TTR_END)
        return;
    if (strcmp(c->to, "chrome") == 0 && !json_check(p, c->output.n))
        tell(c, "is no JSON", "");
    while (strcmp(c->to, "jsonl") == 0 && p < end) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        if (!line_end || !json_check(p, (size_t)(line_end - p)))
            tell(c, "has a line that is no JSON", "");
        p = line_end + 1;
    }
}

/* A copy of what is left of a damaged trace may put bytes side by side that could be read in two
 * ways. */
static bool must_be_whole(const struct conversion *c)
{
    bool is_trace =
        strcmp(c->to, "fxt") == 0 || strcmp(c->to, "heph") == 0 || strcmp(c->to, "nettrace") == 0;
    return is_trace && c->status == TTR_END && c->output.n &&
           (c->damage == 0 || strcmp(c->from, c->to) != 0);
}

static void check_other(const uint8_t *bytes, size_t n, const char *to, uint32_t flags)
{
    struct conversion c = {.bytes = bytes, .n = n, .from = FORMAT, .to = to, .read_flags = flags};
    struct dump dump;
    convert(&c);
    check_json(&c);
    if (must_be_whole(&c)) {
        read_back(&c, &dump);
        dump_free(&dump);
    }
    buffer_free(&c.output);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const formats[] = {"fxt",    "heph",  "nettrace", "perfetto",
                                          "chrome", "jsonl", "text",     "csv"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        check_other(bytes, n, formats[i], 0);
    check_other(bytes, n, FORMAT, TTR_READ_DEFINITIONS);
    check_again(bytes, n);
    return 0;
}
