/* Runs on disk.  A record is what differs between the 128-byte view and that of the event before it
 * in its run, and the payload, both as packed_words.h packs them; pointers inside the view are only
 * told from NULL.
 *
 *     [0..3] bytes behind this | view ^ the one before | payload
 *
 * Buffers are filled at the beginning of a batch only, because filling moves the bytes that the
 * batch before pointed to. */
#include "pipeline/order/sorted_runs.h"

#include <string.h>

#include "base/status.h"
#include "base/packed_words.h"
#include "model/event_copy.h"

#define OUT_BYTES ((size_t)128 * 1024)
#define OUT_MOST (8 * OUT_BYTES)
#define GIVEN_BYTES \
    ((size_t)64 * 1024) /* what payloads of one call may take, but for one that is larger */
#define PREFIX ((size_t)4)
#define NO_CURSOR UINT32_MAX
#define COLLAPSE_ROOM 64u

void runs_init(struct runs *runs, const struct alloc *alloc, size_t fan_in, size_t read_bytes)
{
    *runs =
        (struct runs){.alloc = alloc, .fan_in = fan_in, .read_bytes = read_bytes, .dry = NO_CURSOR};
    spill_init(&runs->spill);
    buffer_init(&runs->out, alloc);
}

static void close_cursors(struct runs *runs)
{
    for (size_t i = 0; i < runs->cursors_n; i++)
        alloc_free(runs->alloc, runs->cursor[i].bytes, runs->cursor[i].capacity, 1);
    runs->cursors_n = runs->heap_n = 0;
    runs->dry = NO_CURSOR;
}

void runs_free(struct runs *runs)
{
    close_cursors(runs);
    alloc_free(runs->alloc, runs->cursor, runs->cursors_capacity, sizeof *runs->cursor);
    alloc_free(runs->alloc, runs->heap, runs->heap_capacity, sizeof *runs->heap);
    alloc_free(runs->alloc, runs->run, runs->capacity, sizeof *runs->run);
    alloc_free(runs->alloc, runs->given, runs->given_room, 1);
    buffer_free(&runs->out);
    spill_close(&runs->spill);
}

static ttr_status flush(struct runs *runs, ttr_error *error)
{
    if (runs->out.failed)
        return fail_memory(error);
    ttr_status status = spill_append(&runs->spill, runs->out.bytes, runs->out.n, error);
    buffer_clear(&runs->out);
    if (runs->out.capacity > OUT_MOST) /* one large event is no reason to keep its room */
        buffer_free(&runs->out);
    return status;
}

ttr_status runs_begin(struct runs *runs, ttr_error *error)
{
    if (!alloc_reserve(runs->alloc, (void **)&runs->run, &runs->capacity, runs->n + 1,
                       sizeof *runs->run))
        return fail_memory(error);
    runs->run[runs->n++] = (struct run){.at = runs->spill.end};
    runs->last = (ttr_event){0};
    return TTR_OK;
}

/* What two views differ in, and back again; by words, of which there is no padding between. */
static void differ(const ttr_event *a, const ttr_event *b, ttr_event *to)
{
    uint64_t x[sizeof *a / 8], y[sizeof *a / 8];
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] ^= y[i];
    memcpy(to, x, sizeof x);
}

ttr_status runs_add(struct runs *runs, const ttr_event *event, ttr_error *error)
{
    struct buffer *out = &runs->out;
    const size_t at = out->n;
    ttr_event kept = *event, different;
    kept.payload = NULL;
    differ(&kept, &runs->last, &different);
    runs->last = kept;
    buffer_add_zeros(out, PREFIX);
    packed_words_append(out, &different, sizeof different);
    if (event->payload_size)
        packed_words_append(out, event->payload, event->payload_size);
    out->failed |= out->n - at - PREFIX > UINT32_MAX;
    if (!out->failed)
        store_u32le(out->bytes + at, (uint32_t)(out->n - at - PREFIX));
    return out->n >= OUT_BYTES || out->failed ? flush(runs, error) : TTR_OK;
}

/* The size of the record at the head of a cursor by its own word; that of its first bytes where
 * these are not there. */
static size_t size_said(const struct run_cursor *cursor)
{
    return cursor->n - cursor->head < PREFIX ? PREFIX
                                             : PREFIX + load_u32le(cursor->bytes + cursor->head);
}

/* The size of the record at the head of a cursor; 0 when it is not whole in the buffer. */
static size_t head_size(const struct run_cursor *cursor)
{
    const size_t have = cursor->n - cursor->head;
    return have >= PREFIX && have >= size_said(cursor) ? size_said(cursor) : 0;
}

/* How large the buffer must be for the record at its head, which is not whole in it. */
static size_t size_wanted(const struct runs *runs, const struct run_cursor *cursor)
{
    const size_t size = size_said(cursor);
    return size > runs->read_bytes ? size : runs->read_bytes;
}

/* Brings more of the run into the buffer, until its first record is whole. */
static ttr_status fill(struct runs *runs, struct run_cursor *cursor, ttr_error *error)
{
    while (head_size(cursor) == 0 && cursor->at < cursor->end) {
        size_t wanted = size_wanted(runs, cursor);
        if (wanted > cursor->capacity) {
            uint8_t *bytes = alloc_resize(runs->alloc, cursor->bytes, cursor->capacity, wanted, 1);
            if (!bytes)
                return fail_memory(error);
            cursor->bytes = bytes;
            cursor->capacity = wanted;
        }
        memmove(cursor->bytes, cursor->bytes + cursor->head, cursor->n - cursor->head);
        cursor->n -= cursor->head;
        cursor->head = 0;
        size_t room = cursor->capacity - cursor->n;
        size_t more = cursor->end - cursor->at < room ? (size_t)(cursor->end - cursor->at) : room;
        ttr_status status =
            spill_read(&runs->spill, cursor->at, cursor->bytes + cursor->n, more, error);
        if (status != TTR_OK)
            return status;
        cursor->n += more;
        cursor->at += more;
    }
    return TTR_OK;
}

static bool is_before(const struct runs *runs, uint32_t a, uint32_t b)
{
    const struct run_cursor *x = &runs->cursor[a], *y = &runs->cursor[b];
    if (x->event.time != y->event.time)
        return x->event.time < y->event.time;
    return x->event.part != y->event.part ? x->event.part < y->event.part : a < b;
}

/* Lets the cursor at the top sink to where it belongs. */
static void sift_down(struct runs *runs)
{
    uint32_t *heap = runs->heap, cursor = heap[0];
    size_t at = 0;
    for (size_t child = 1; child < runs->heap_n; child = 2 * at + 1) {
        if (child + 1 < runs->heap_n && is_before(runs, heap[child + 1], heap[child]))
            child++;
        if (!is_before(runs, heap[child], cursor))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = cursor;
}

static void push(struct runs *runs, uint32_t cursor)
{
    size_t at = runs->heap_n++;
    for (; at > 0 && is_before(runs, cursor, runs->heap[(at - 1) / 2]); at = (at - 1) / 2)
        runs->heap[at] = runs->heap[(at - 1) / 2];
    runs->heap[at] = cursor;
}

/* Takes the view at the head of a cursor apart, where it is whole; what it differs from is that
 * before. */
static ttr_status take_view(struct run_cursor *cursor, ttr_error *error)
{
    ttr_event different;
    cursor->size = head_size(cursor);
    if (cursor->size == 0)
        return TTR_OK;
    cursor->packed = cursor_init(cursor->bytes + cursor->head + PREFIX, cursor->size - PREFIX, 0);
    if (!packed_words_read(&cursor->packed, (uint8_t *)&different, sizeof different))
        return spill_fail_corrupted(error);
    differ(&different, &cursor->event, &cursor->event);
    return TTR_OK;
}

static ttr_status open_cursors(struct runs *runs, size_t first, ttr_error *error)
{
    size_t n = runs->n - first;
    if (!alloc_reserve(runs->alloc, (void **)&runs->cursor, &runs->cursors_capacity, n,
                       sizeof *runs->cursor) ||
        !alloc_reserve(runs->alloc, (void **)&runs->heap, &runs->heap_capacity, n,
                       sizeof *runs->heap))
        return fail_memory(error);
    for (size_t i = 0; i < n; i++) {
        struct run_cursor *cursor = &runs->cursor[i];
        *cursor =
            (struct run_cursor){.at = runs->run[first + i].at, .end = runs->run[first + i].end};
        runs->cursors_n = i + 1;
        ttr_status status = fill(runs, cursor, error);
        if (status == TTR_OK)
            status = take_view(cursor, error);
        if (status != TTR_OK)
            return status;
        if (cursor->size)
            push(runs, (uint32_t)i);
    }
    return TTR_OK;
}

/* Whether there is room for a payload among those given; the first of a call is given whatever its
 * size. */
static bool has_room(struct runs *runs, size_t size, ttr_status *status, ttr_error *error)
{
    if (size <= runs->given_room - runs->given_n)
        return true;
    if (runs->given_n)
        return false;
    const size_t room = size > GIVEN_BYTES ? size : GIVEN_BYTES;
    uint8_t *given = alloc_resize(runs->alloc, runs->given, runs->given_room, room, 1);
    *status = given ? TTR_OK : fail_memory(error);
    if (!given)
        return false;
    runs->given = given;
    runs->given_room = room;
    return true;
}

/* Gives the event at the head of a cursor, its payload among those given. */
static ttr_status take_event(struct runs *runs, struct run_cursor *cursor, ttr_event *event,
                             ttr_error *error)
{
    *event = cursor->event;
    if (event->payload_size) {
        uint8_t *payload = runs->given + runs->given_n;
        if (!packed_words_read(&cursor->packed, payload, event->payload_size))
            return spill_fail_corrupted(error);
        event_copy_settle(event, payload);
    }
    runs->given_n += packed_words_padded_size(event->payload_size);
    cursor->head += cursor->size;
    return take_view(cursor, error);
}

/* Fills the cursor that had no whole event any more. */
static ttr_status refill(struct runs *runs, ttr_error *error)
{
    if (runs->dry == NO_CURSOR)
        return TTR_OK;
    struct run_cursor *cursor = &runs->cursor[runs->dry];
    ttr_status status = fill(runs, cursor, error);
    if (status == TTR_OK)
        status = take_view(cursor, error);
    if (status == TTR_OK && cursor->size == 0)
        status = spill_fail_corrupted(error);
    if (status != TTR_OK)
        return status;
    push(runs, runs->dry);
    runs->dry = NO_CURSOR;
    return TTR_OK;
}

ttr_status runs_next(struct runs *runs, ttr_event *events, uint32_t room, uint32_t *n,
                     ttr_error *error)
{
    *n = 0;
    runs->given_n = 0;
    ttr_status status = refill(runs, error);
    while (status == TTR_OK && *n < room && runs->heap_n > 0) {
        struct run_cursor *cursor = &runs->cursor[runs->heap[0]];
        if (!has_room(runs, packed_words_padded_size(cursor->event.payload_size), &status, error))
            break;
        status = take_event(runs, cursor, &events[(*n)++], error);
        if (cursor->size) {
            sift_down(runs);
            continue;
        }
        uint32_t emptied = runs->heap[0];
        runs->heap[0] = runs->heap[--runs->heap_n];
        if (runs->heap_n)
            sift_down(runs);
        if (cursor->head < cursor->n || cursor->at < cursor->end) {
            runs->dry = emptied;
            break;
        }
        alloc_free(runs->alloc, cursor->bytes, cursor->capacity, 1);
        cursor->bytes = NULL;
        cursor->capacity = cursor->n = cursor->head = 0;
    }
    return status;
}

static ttr_status copy_merged(struct runs *runs, ttr_error *error)
{
    ttr_event events[COLLAPSE_ROOM];
    uint32_t n = 0;
    do {
        ttr_status status = runs_next(runs, events, COLLAPSE_ROOM, &n, error);
        for (uint32_t i = 0; i < n && status == TTR_OK; i++)
            status = runs_add(runs, &events[i], error);
        if (status != TTR_OK)
            return status;
    } while (n > 0);
    return flush(runs, error);
}

/* Makes one run of those from `first` on. */
static ttr_status collapse(struct runs *runs, size_t first, ttr_error *error)
{
    uint64_t at = runs->spill.end;
    runs->last = (ttr_event){0};
    ttr_status status = open_cursors(runs, first, error);
    if (status == TTR_OK)
        status = copy_merged(runs, error);
    close_cursors(runs);
    if (status != TTR_OK)
        return status;
    for (size_t i = first; i < runs->n; i++)
        spill_punch_hole(&runs->spill, runs->run[i].at, runs->run[i].end - runs->run[i].at);
    runs->run[first] =
        (struct run){.at = at, .end = runs->spill.end, .level = runs->run[first].level + 1};
    runs->n = first + 1;
    return TTR_OK;
}

ttr_status runs_end(struct runs *runs, ttr_error *error)
{
    ttr_status status = flush(runs, error);
    runs->run[runs->n - 1].end = runs->spill.end;
    /* Levels only fall along the list, so one look back tells whether the last fan_in runs are of
     * one level. */
    while (status == TTR_OK && runs->n >= runs->fan_in &&
           runs->run[runs->n - runs->fan_in].level == runs->run[runs->n - 1].level)
        status = collapse(runs, runs->n - runs->fan_in, error);
    return status;
}

ttr_status runs_open(struct runs *runs, ttr_error *error)
{
    while (runs->n > runs->fan_in) {
        /* As few as needed, and the smallest: those at the end. */
        size_t spare = runs->n - runs->fan_in + 1;
        ttr_status status =
            collapse(runs, runs->n - (spare < runs->fan_in ? spare : runs->fan_in), error);
        if (status != TTR_OK)
            return status;
    }
    buffer_free(&runs->out);
    buffer_init(&runs->out, runs->alloc);
    return open_cursors(runs, 0, error);
}
