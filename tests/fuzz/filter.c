/* Fuzzes filters and the options of formats. The input is lines of text, a zero byte, and events
 * (event_input.h). A filter and its inverse select each event exactly once. Format options that are
 * not valid are refused with an error, never otherwise. */
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/formats.h>

#include "fuzz/event_input.h"
#include "model/context.h"

#define LINES_MAX 24u

struct lines {
    char *text;
    const char *list[LINES_MAX + 1];
    size_t n;
};

/* Splits the text before the first zero byte into lines, and leaves the rest in *from. */
static void split_lines(struct lines *lines, struct fuzz_bytes *from)
{
    const size_t n = (size_t)(from->end - from->p);
    const uint8_t *zero = n ? memchr(from->p, 0, n) : NULL;
    const size_t text_n = zero ? (size_t)(zero - from->p) : n;
    *lines = (struct lines){.text = malloc(text_n + 1)};
    if (!lines->text)
        fuzz_stop("memory runs out");
    if (text_n)
        memcpy(lines->text, from->p, text_n);
    lines->text[text_n] = '\0';
    from->p += text_n + (zero != NULL);
    for (char *at = lines->text; *at && lines->n < LINES_MAX;) {
        char *end = at + strcspn(at, "\n");
        lines->list[lines->n++] = at;
        if (!*end)
            break;
        *end = '\0';
        at = end + 1;
    }
}

/* Returns the lines that begin with a letter, without it. The caller frees the list. */
static const char **select_lines(const struct lines *lines, char letter)
{
    const char **list = calloc(LINES_MAX + 1, sizeof *list);
    size_t n = 0;
    if (!list)
        fuzz_stop("memory runs out");
    for (size_t i = 0; i < lines->n; i++)
        if (lines->list[i][0] == letter)
            list[n++] = lines->list[i] + 1;
    if (n)
        return list;
    free(list);
    return NULL;
}

/* Returns the number of selected instants, which are never passed for another reason; SIZE_MAX if
 * the filter is refused. */
static size_t count_selected(ttr *t, const struct fuzz_events *events, const ttr_filter *filter)
{
    ttr_error error = {0};
    ttr_batch batch;
    size_t n = 0;
    ttr_reader *in = ttr_filter_new(fuzz_events_read(t, events), filter, &error);
    if (!in && (error.status != TTR_E_MISUSE || !error.text[0]))
        fuzz_stop("a filter is refused without reason");
    while (in && ttr_read(in, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            n += ttr_batch_at(&batch, i)->kind == TTR_KIND_INSTANT;
    ttr_close(in);
    return in ? n : SIZE_MAX;
}

static void check_filter(ttr *t, const struct fuzz_events *events, const struct lines *lines,
                         struct fuzz_bytes *from)
{
    ttr_filter filter;
    size_t instants = 0;
    ttr_filter_init(&filter);
    const char **lists[] = {select_lines(lines, 'n'), select_lines(lines, 'x'),
                            select_lines(lines, 'c'), select_lines(lines, 'p'),
                            select_lines(lines, 't'), select_lines(lines, 'P'),
                            select_lines(lines, 'C')};
    filter.names = lists[0];
    filter.not_names = lists[1];
    filter.categories = lists[2];
    filter.providers = lists[3];
    filter.threads = lists[4];
    filter.processes = lists[5];
    filter.cpus = lists[6];
    if (fuzz_u8(from) & 1) {
        filter.from_ns = (int64_t)fuzz_u64(from);
        filter.to_ns = (int64_t)fuzz_u64(from);
    }
    filter.min_level = fuzz_u8(from) & 7;
    for (size_t i = 0; i < events->n; i++)
        instants += events->event[i].kind == TTR_KIND_INSTANT;
    const size_t selected = count_selected(t, events, &filter);
    filter.invert = true;
    const size_t others = count_selected(t, events, &filter);
    if ((selected == SIZE_MAX) != (others == SIZE_MAX) ||
        (selected != SIZE_MAX && selected + others != instants))
        fuzz_stop("a filter and its inverse do not select each event once");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
}

/* Creates writers and opens a reader with all lines that begin with 'o' as format options. */
static void check_options(ttr *t, const struct lines *lines)
{
    static const char input[] = "\x10\x00\x04\x46\x78\x54\x16"; /* magic number of FXT */
    ttr_format_info info;
    const char **options = select_lines(lines, 'o');
    ttr_error error;
    for (size_t i = 0; options && ttr_format_get(i, &info); i++) {
        error = (ttr_error){0};
        ttr_writer *writer = ttr_create(
            t, NULL, info.name,
            &(ttr_write_options){.size = sizeof(ttr_write_options), .format_options = options},
            &error);
        if (!writer && !error.text[0])
            fuzz_stop("a writer is refused without reason");
        ttr_writer_abort(writer);
    }
    error = (ttr_error){0};
    ttr_reader *reader = ttr_open_memory(
        t, input, sizeof input, "input",
        &(ttr_read_options){.size = sizeof(ttr_read_options), .format_options = options}, &error);
    if (!reader && !error.text[0])
        fuzz_stop("a reader is refused without reason");
    ttr_close(reader);
    free(options);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct support_heap heap;
    struct fuzz_bytes from = {bytes, bytes + n};
    static struct fuzz_events events;
    struct lines lines;
    ttr *t = fuzz_context(&heap);
    if (context_add_source(t, "here", "test") == UINT16_MAX)
        fuzz_stop("memory runs out");
    split_lines(&lines, &from);
    struct fuzz_bytes numbers = from;
    fuzz_events_make(&events, t, &from);
    check_filter(t, &events, &lines, &numbers);
    check_options(t, &lines);
    fuzz_events_free(&events);
    free(lines.text);
    fuzz_context_free(t, &heap, n, 0);
    return 0;
}
