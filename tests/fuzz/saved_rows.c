/* Fuzzes the rows of a view that are parts of a saved store (src/view/saved_rows.c). The input
 * edits the parts of a small view: 8 bytes each (part, kind of the edit, offset, value). The store
 * has valid hashes, so that the edits reach the checks of the rows. Edited rows are refused, or
 * every answer to the page can be made of them. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tracetta/advanced.h>

#include "base/endian.h"
#include "fuzz/fuzz.h"
#include "support/memory_reader.h"
#include "view/view.h"

#define EVENTS 300u
#define GAP 9000000000u
#define PARTS_BYTES ((size_t)64 << 10)

/* Parts of the view of a small trace, and a store that they are saved with. */
struct saved_parts {
    ttr *t;
    ttr_store *store;
    ttr_store_part parts[TTR_VIEW_PARTS];
    size_t n;
    uint8_t bytes[PARTS_BYTES];
    size_t offsets[TTR_VIEW_PARTS];
};

/* Two threads with nested slices; one of them has times of more than 32 bits. */
static void make_parts(struct saved_parts *saved)
{
    static ttr_event events[EVENTS];
    static const char *const names[] = {"read", "write", "parse"};
    ttr_error error;
    ttr *t = saved->t = ttr_new(NULL);
    for (uint32_t i = 0; t && i < EVENTS; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_SPAN,
                                .time = 1000 + i * 50 + (int64_t)(i > 200 ? GAP : 0),
                                .duration = i % 7 * 20 + (i == 199 ? GAP / 2 : 0),
                                .name = ttr_text_add(t, names[i % 3], strlen(names[i % 3])),
                                .thread = 1 + i % 2};
    if (!t || !ttr_thread_name(t, 10, 11, "app", "main") ||
        !ttr_thread_name(t, 10, 12, "app", "worker"))
        fuzz_stop("no context");
    const ttr_store_options options = {.size = sizeof options, .names = ttr_view_tables()};
    const struct memory_events list = {.event = events, .n = EVENTS, .order = TTR_ORDER_TIME};
    ttr_reader *in = memory_reader(t, &list);
    saved->store = ttr_store_new(t, &options, &error);
    if (!saved->store || ttr_store_read(saved->store, in, NULL, NULL, &error) != TTR_OK)
        fuzz_stop("no store");
    ttr_close(in);
    ttr_view *view = ttr_view_new(t, saved->store, &error);
    if (!view || !(saved->n = ttr_view_parts(view, saved->parts)))
        fuzz_stop("no parts");
    size_t at = 0;
    for (size_t i = 0; i < saved->n; i++) {
        ttr_store_part *part = &saved->parts[i];
        if (part->n > PARTS_BYTES - at)
            fuzz_stop("the parts are too large");
        if (part->n)
            memcpy(saved->bytes + at, part->bytes, part->n);
        saved->offsets[i] = at;
        at += part->n;
    }
    ttr_view_free(view);
}

/* Applies an edit of 8 bytes to a part. */
static void edit_part(ttr_store_part *part, uint8_t *bytes, const uint8_t *edit)
{
    const uint16_t offset = load_u16le(edit + 2);
    const uint8_t kind = edit[1];
    uint8_t value[8] = {0};
    memcpy(value, edit + 4, 4);
    if (kind & 1) /* a negative or large number */
        memset(value + 4, kind & 2 ? 0xff : 0x7f, 4);
    if (kind & 4) {
        part->n = part->n ? offset % part->n : 0;
        return;
    }
    if (part->n == 0)
        return;
    const size_t size = kind & 8 ? 1 : kind & 16 ? 8 : 4, at = offset % part->n / size * size;
    memcpy(bytes + at, value, size < part->n - at ? size : part->n - at);
}

/* Saves a store with the parts, and loads it without tables. */
static ttr_store *load_parts(const struct saved_parts *saved, const ttr_store_part *parts, ttr *t,
                             int fd)
{
    static const char *const none[] = {NULL};
    const ttr_store_save_options options = {
        .size = sizeof options, .key = {"key", 3}, .parts = parts, .parts_n = saved->n};
    const ttr_store_options wanted = {.size = sizeof wanted, .names = none};
    if (!t || fd < 0 || ttr_store_save(saved->store, fd, &options, NULL) != TTR_OK)
        fuzz_stop("the store is not saved");
    ttr_store *store = ttr_store_load(t, fd, options.key, &wanted, NULL);
    if (!store)
        fuzz_stop("the store is not loaded");
    return store;
}

static void ask_all(ttr_view *view)
{
    static const char *const requests[][2] = {
        {"/info", ""},
        {"/names", ""},
        {"/tracks", ""},
        {"/lod", "a=0&z=18000000000&w=300&r=0-1023"},
        {"/lod", "a=1000&z=9000&w=1900&r=0-1023"},
        {"/lod", "a=0&z=4611686018427387904&w=5&r=0-1023"},
        {"/search", "q=r&t=500&dir=n"},
        {"/search", "q=r&t=9000000000&dir=p"},
        {"/at", "row=0&t=7000&near=100"},
        {"/at", "row=1&t=9000000000&near=9000000000"},
        {"/flame", "a=0&z=4611686018427387904"},
        {"/query", "sql=SELECT+1"},
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        const struct request request = {.path = requests[i][0], .query = requests[i][1]};
        struct answer answer;
        view_answer(view, &request, &answer);
        if (answer.status != 200 && answer.status != 400)
            fuzz_stop("an unexpected status");
        reply_free(&answer.body);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct saved_parts saved;
    static uint8_t copy[PARTS_BYTES];
    ttr_store_part parts[TTR_VIEW_PARTS];
    ttr_error error = {0};
    if (!saved.store)
        make_parts(&saved);
    memcpy(copy, saved.bytes, sizeof copy);
    memcpy(parts, saved.parts, sizeof parts);
    for (size_t i = 0; i < saved.n; i++)
        parts[i].bytes = copy + saved.offsets[i];
    for (size_t i = 0; i + 8 <= n && i < 256; i += 8) {
        const size_t part = bytes[i] % saved.n;
        edit_part(&parts[part], copy + saved.offsets[part], bytes + i);
    }
    ttr *t = ttr_new(NULL);
    const int fd = memfd_create("store", MFD_CLOEXEC);
    ttr_store *store = load_parts(&saved, parts, t, fd);
    ttr_view *view = ttr_view_new(NULL, NULL, &error);
    if (!view)
        fuzz_stop("no view");
    const ttr_status status = ttr_view_show_saved(view, store, NULL, NULL, &error);
    if (status == TTR_OK)
        ask_all(view);
    else if (n < 8)
        fuzz_stop("rows without an edit are refused");
    else if (status != TTR_E_MALFORMED || !error.text[0])
        fuzz_stop("rows are refused without reason");
    ttr_view_free(view);
    ttr_store_free(store);
    ttr_free(t);
    (void)close(fd);
    return 0;
}
