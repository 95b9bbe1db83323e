/* Fuzzes the server of `tracetta view`: heads of requests, and the answers to them. The input is a
 * head; its host and cookie do not matter for the answer, so that each path is reached. A head that
 * is accepted has a path, and each answer has a body or a status of failure. */
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>

#include "fuzz/fuzz.h"
#include "support/memory_reader.h"
#include "view/view.h"

#define EVENTS 300u

/* Makes the view of a small trace once. */
static ttr_view *make_view(void)
{
    static ttr_event events[EVENTS];
    static ttr_view *view;
    ttr_error error;
    if (view)
        return view;
    ttr *t = ttr_new(NULL);
    for (uint32_t i = 0; t && i < EVENTS; i++) {
        const char *name = i % 3 ? "read" : "write";
        events[i] = (ttr_event){.kind = TTR_KIND_SPAN,
                                .time = 1000 + i * 50,
                                .duration = i % 7 * 20,
                                .name = ttr_text_add(t, name, strlen(name)),
                                .thread = 1 + i % 2};
    }
    if (!t || !ttr_thread_name(t, 10, 11, "app", "main") ||
        !ttr_thread_name(t, 10, 12, "app", "worker"))
        fuzz_stop("no context");
    const ttr_store_options options = {.size = sizeof options, .names = ttr_view_tables()};
    const struct memory_events list = {.event = events, .n = EVENTS, .order = TTR_ORDER_TIME};
    ttr_reader *in = memory_reader(t, &list);
    ttr_store *store = ttr_store_new(t, &options, &error);
    if (!store || ttr_store_read(store, in, NULL, NULL, &error) != TTR_OK)
        fuzz_stop("no store");
    ttr_close(in);
    view = ttr_view_new(t, store, &error);
    if (!view)
        fuzz_stop("no view");
    return view;
}

static bool is_stopped(void *ctx)
{
    unsigned *left = ctx;
    return *left == 0 || --*left == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct http_head head;
    ttr_view *view = make_view();
    unsigned steps = 50; /* of SQL: a statement can run for 10 s */
    if (!http_parse_head((const char *)bytes, n, &head))
        return 0;
    if (head.target[0] != '/')
        fuzz_stop("a target without a path");
    (void)http_check(view, &head);
    char *mark = strchr(head.target, '?');
    if (mark)
        *mark = '\0';
    const struct request request = {head.target, mark ? mark + 1 : "", is_stopped, &steps};
    struct answer answer;
    view_answer(view, &request, &answer);
    if (answer.status != 200 && answer.status != 400 && answer.status != 404)
        fuzz_stop("an unexpected status");
    reply_free(&answer.body);
    return 0;
}
