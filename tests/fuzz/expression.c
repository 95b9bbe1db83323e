/* Fuzzes conditions on events. The input is a text, a zero byte, and events (event_input.h). For
 * all events at once and one by one an expression has the same truth, and a filter by it and its
 * inverse select each event exactly once. What is refused has an error at a byte of the text. */
#include <stdlib.h>

#include "expression/expression.h"
#include "fuzz/event_input.h"
#include "model/context.h"

#define TEXT_MAX 4096u

/* Copies the bytes before the first zero byte. The caller frees the text. */
static char *split_text(struct fuzz_bytes *from)
{
    const size_t n = (size_t)(from->end - from->p);
    const uint8_t *zero = n ? memchr(from->p, 0, n) : NULL;
    const size_t whole_n = zero ? (size_t)(zero - from->p) : n;
    const size_t text_n = whole_n < TEXT_MAX ? whole_n : TEXT_MAX;
    char *text = malloc(text_n + 1);
    if (!text)
        fuzz_stop("memory runs out");
    if (text_n)
        memcpy(text, from->p, text_n);
    text[text_n] = '\0';
    from->p += whole_n + (zero != NULL);
    return text;
}

static void check_one_by_one(ttr *t, const char *text, const struct fuzz_events *events,
                             const uint8_t *expected)
{
    ttr_error error = {0};
    struct expression *expression = expression_new(t, text, &error);
    if (!expression)
        fuzz_stop("an expression is refused the second time");
    for (uint32_t i = 0; i < events->n; i++) {
        uint8_t truth;
        if (expression_select(expression, events->event, &i, 1, &truth, &error) != TTR_OK)
            fuzz_stop("an event fails by itself");
        if (truth != expected[i])
            fuzz_stop("an event has another truth by itself");
    }
    expression_free(expression);
}

static size_t count_selected(ttr *t, const struct fuzz_events *events, const ttr_filter *filter)
{
    ttr_error error = {0};
    ttr_batch batch;
    size_t n = 0;
    ttr_reader *in = ttr_filter_new(fuzz_events_read(t, events), filter, &error);
    while (in && ttr_read(in, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            n += ttr_batch_at(&batch, i)->kind != TTR_KIND_DEFINITION;
    ttr_close(in);
    return n;
}

static void check_filter(ttr *t, const char *text, const struct fuzz_events *events)
{
    ttr_filter filter;
    size_t all = 0;
    ttr_filter_init(&filter);
    filter.where = text;
    for (size_t i = 0; i < events->n; i++)
        all += events->event[i].kind != TTR_KIND_DEFINITION;
    const size_t selected = count_selected(t, events, &filter);
    filter.invert = true;
    if (selected + count_selected(t, events, &filter) != all)
        fuzz_stop("a condition and its inverse do not select each event once");
}

static void check_expression(ttr *t, const char *text, const struct fuzz_events *events)
{
    uint32_t rows[EVENTS_MAX];
    uint8_t truth[EVENTS_MAX];
    ttr_error error = {0};
    struct expression *expression = expression_new(t, text, &error);
    if (!expression) {
        if (error.status != TTR_E_MISUSE || error.offset > strlen(text) || !error.text[0])
            fuzz_stop("an expression is refused without reason");
        return;
    }
    for (uint32_t i = 0; i < EVENTS_MAX; i++)
        rows[i] = i;
    const ttr_status status =
        expression_select(expression, events->event, rows, (uint32_t)events->n, truth, &error);
    expression_free(expression);
    if (status == TTR_E_LIMIT)
        return; /* a text became too long */
    if (status != TTR_OK)
        fuzz_stop("an expression fails");
    check_one_by_one(t, text, events, truth);
    check_filter(t, text, events);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct support_heap heap;
    struct fuzz_bytes from = {bytes, bytes + n};
    static struct fuzz_events events;
    ttr *t = fuzz_context(&heap);
    if (context_add_source(t, "here", "test") == UINT16_MAX)
        fuzz_stop("memory runs out");
    char *text = split_text(&from);
    fuzz_events_make(&events, t, &from);
    check_expression(t, text, &events);
    fuzz_events_free(&events);
    free(text);
    fuzz_context_free(t, &heap, n, 4u << 20);
    return 0;
}
