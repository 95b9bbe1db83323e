/* Runs on disk.  A record is the 128-byte view and the payload padded to 8; pointers inside the view are only told from NULL.
 * Buffers are filled at the beginning of a batch only, because filling moves the bytes that the batch before pointed to. */
#include "pipeline/runs.h"

#include <string.h>

#include "base/status.h"
#include "model/packed.h"

#define OUT_BYTES ((size_t)128 * 1024)
#define NO_CURSOR UINT32_MAX
#define COLLAPSE_ROOM 64u

void runs_init(struct runs *runs, const struct alloc *alloc, size_t fan_in, size_t read_bytes)
{
    *runs = (struct runs){.alloc = alloc, .fan_in = fan_in, .read_bytes = read_bytes, .dry = NO_CURSOR};
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
    buffer_free(&runs->out);
    spill_close(&runs->spill);
}

static size_t padded(uint32_t size)
{
    return ((size_t)size + 7) & ~(size_t)7;
}

static ttr_status flush(struct runs *runs, ttr_error *error)
{
    if (runs->out.failed)
        return fail_memory(error);
    ttr_status status = spill_append(&runs->spill, runs->out.bytes, runs->out.n, error);
    buffer_clear(&runs->out);
    return status;
}

ttr_status runs_begin(struct runs *runs, ttr_error *error)
{
    if (!alloc_reserve(runs->alloc, (void **)&runs->run, &runs->capacity, runs->n + 1, sizeof *runs->run))
        return fail_memory(error);
    runs->run[runs->n++] = (struct run){.at = runs->spill.end};
    return TTR_OK;
}

ttr_status runs_add(struct runs *runs, const ttr_event *event, ttr_error *error)
{
    buffer_add(&runs->out, event, sizeof *event);
    if (event->payload_size)
        buffer_add(&runs->out, event->payload, event->payload_size);
    buffer_add_zeros(&runs->out, padded(event->payload_size) - event->payload_size);
    return runs->out.n >= OUT_BYTES || runs->out.failed ? flush(runs, error) : TTR_OK;
}

/* The size of the record at the head of a cursor; 0 when it is not whole in the buffer. */
static size_t head_size(const struct run_cursor *cursor)
{
    ttr_event event;
    size_t have = cursor->n - cursor->head;
    if (have < sizeof event)
        return 0;
    memcpy(&event, cursor->bytes + cursor->head, sizeof event);
    size_t size = sizeof event + padded(event.payload_size);
    return have >= size ? size : 0;
}

/* How large the buffer must be for the record at its head, which is not whole in it. */
static size_t size_wanted(const struct runs *runs, const struct run_cursor *cursor)
{
    ttr_event event;
    if (cursor->n - cursor->head < sizeof event)
        return runs->read_bytes;
    memcpy(&event, cursor->bytes + cursor->head, sizeof event);
    size_t size = sizeof event + padded(event.payload_size);
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
        ttr_status status = spill_read(&runs->spill, cursor->at, cursor->bytes + cursor->n, more, error);
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
    if (x->time != y->time)
        return x->time < y->time;
    return x->rank != y->rank ? x->rank < y->rank : a < b;
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

static void take_key(struct run_cursor *cursor)
{
    ttr_event event;
    memcpy(&event, cursor->bytes + cursor->head, sizeof event);
    cursor->time = event.time;
    cursor->rank = event.part;
}

static ttr_status open_cursors(struct runs *runs, size_t first, ttr_error *error)
{
    size_t n = runs->n - first;
    if (!alloc_reserve(runs->alloc, (void **)&runs->cursor, &runs->cursors_capacity, n, sizeof *runs->cursor) ||
        !alloc_reserve(runs->alloc, (void **)&runs->heap, &runs->heap_capacity, n, sizeof *runs->heap))
        return fail_memory(error);
    for (size_t i = 0; i < n; i++) {
        struct run_cursor *cursor = &runs->cursor[i];
        *cursor = (struct run_cursor){.at = runs->run[first + i].at, .end = runs->run[first + i].end};
        runs->cursors_n = i + 1;
        ttr_status status = fill(runs, cursor, error);
        if (status != TTR_OK)
            return status;
        if (head_size(cursor) == 0)
            continue;
        take_key(cursor);
        push(runs, (uint32_t)i);
    }
    return TTR_OK;
}

/* Gives the event at the head of a cursor, its pointers turned to where the bytes are now. */
static void take_event(const struct run_cursor *cursor, ttr_event *event)
{
    memcpy(event, cursor->bytes + cursor->head, sizeof *event);
    packed_settle(event, cursor->bytes + cursor->head + sizeof *event);
}

ttr_status runs_next(struct runs *runs, ttr_event *events, uint32_t room, uint32_t *n, ttr_error *error)
{
    *n = 0;
    if (runs->dry != NO_CURSOR) {
        ttr_status status = fill(runs, &runs->cursor[runs->dry], error);
        if (status != TTR_OK)
            return status;
        take_key(&runs->cursor[runs->dry]);
        push(runs, runs->dry);
        runs->dry = NO_CURSOR;
    }
    while (*n < room && runs->heap_n > 0) {
        struct run_cursor *cursor = &runs->cursor[runs->heap[0]];
        take_event(cursor, &events[(*n)++]);
        cursor->head += head_size(cursor);
        if (head_size(cursor)) {
            take_key(cursor);
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
    }
    return TTR_OK;
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
    ttr_status status = open_cursors(runs, first, error);
    if (status == TTR_OK)
        status = copy_merged(runs, error);
    close_cursors(runs);
    if (status != TTR_OK)
        return status;
    for (size_t i = first; i < runs->n; i++)
        spill_forget(&runs->spill, runs->run[i].at, runs->run[i].end - runs->run[i].at);
    runs->run[first] = (struct run){.at = at, .end = runs->spill.end, .level = runs->run[first].level + 1};
    runs->n = first + 1;
    return TTR_OK;
}

ttr_status runs_end(struct runs *runs, ttr_error *error)
{
    ttr_status status = flush(runs, error);
    runs->run[runs->n - 1].end = runs->spill.end;
    /* Levels only fall along the list, so one look back tells whether the last fan_in runs are of one level. */
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
        ttr_status status = collapse(runs, runs->n - (spare < runs->fan_in ? spare : runs->fan_in), error);
        if (status != TTR_OK)
            return status;
    }
    buffer_free(&runs->out);
    buffer_init(&runs->out, runs->alloc);
    return open_cursors(runs, 0, error);
}
