/* Runs on disk.  A record has the difference (XOR) of the 128-byte event to its predecessor in the
 * run, and the payload.  Both are packed by packed_words.h, which omits zero bytes.
 *
 *     +----------------+-------------------------------+----------------+
 *     | size of the    | packed event XOR predecessor  | packed payload |
 *     | rest, u32 LE   |                               |                |
 *     +----------------+-------------------------------+----------------+
 *     0                4
 *
 * Pointers are stored as NULL or not NULL only.  Read buffers are filled only at the start of a
 * batch, because filling moves the bytes to which events of the previous batch point. */
#include "pipeline/order/sorted_runs.h"

#include <string.h>

#include "base/status.h"
#include "base/packed_words.h"
#include "model/context.h"
#include "model/event_copy.h"

#define OUT_BYTES ((size_t)128 * 1024)
#define OUT_MAX (8 * OUT_BYTES)
/* bytes; limit of the payloads returned per call, except for a single larger payload */
#define PAYLOAD_BYTES ((size_t)64 * 1024)
#define PREFIX ((size_t)4)
#define NO_CURSOR UINT32_MAX
#define MERGE_BATCH 64u

void runs_init(struct runs *runs, ttr *t, size_t fan_in, size_t read_bytes)
{
    const struct alloc *alloc = &t->counted;
    *runs =
        (struct runs){.alloc = alloc, .fan_in = fan_in, .read_bytes = read_bytes, .dry = NO_CURSOR};
    spill_init(&runs->spill, t->max_temporary);
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
    alloc_free(runs->alloc, runs->payloads, runs->payloads_room, 1);
    buffer_free(&runs->out);
    spill_close(&runs->spill);
}

static ttr_status flush_runs(struct runs *runs, ttr_error *error)
{
    if (runs->out.failed)
        return fail_memory(error);
    ttr_status status = spill_append(&runs->spill, runs->out.bytes, runs->out.n, error);
    buffer_clear(&runs->out);
    /* frees a buffer that a large event has enlarged */
    if (runs->out.capacity > OUT_MAX)
        buffer_free(&runs->out);
    return status;
}

/* Returns true if an event is not before the last one of the last run, which is at the end of the
 * file. Equal keys keep the order of the input. */
static bool can_continue_run(const struct runs *runs, const ttr_event *first)
{
    const ttr_event *last = &runs->last;
    return runs->n > 0 && runs->run[runs->n - 1].end == runs->spill.end &&
           (first->time > last->time || (first->time == last->time && first->part >= last->part));
}

ttr_status runs_begin(struct runs *runs, const ttr_event *first, ttr_error *error)
{
    if (can_continue_run(runs, first))
        return TTR_OK;
    if (!alloc_reserve(runs->alloc, (void **)&runs->run, &runs->capacity, runs->n + 1,
                       sizeof *runs->run))
        return fail_memory(error);
    runs->run[runs->n++] = (struct run){.at = runs->spill.end};
    runs->last = (ttr_event){0};
    return TTR_OK;
}

/* Computes the XOR of two events, 8 bytes at a time; ttr_event has no padding. A second XOR with
 * the same event restores the first. */
static void xor_events(const ttr_event *a, const ttr_event *b, ttr_event *to)
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
    ttr_event kept = *event, difference;
    kept.payload = NULL;
    xor_events(&kept, &runs->last, &difference);
    runs->last = kept;
    buffer_add_zeros(out, PREFIX);
    packed_words_append(out, &difference, sizeof difference);
    if (event->payload_size)
        packed_words_append(out, event->payload, event->payload_size);
    out->failed |= out->n - at - PREFIX > UINT32_MAX;
    if (!out->failed)
        store_u32le(out->bytes + at, (uint32_t)(out->n - at - PREFIX));
    return out->n >= OUT_BYTES || out->failed ? flush_runs(runs, error) : TTR_OK;
}

/* Returns the size of a cursor's next record, as stored before it. Returns PREFIX if that number is
 * not in the buffer yet. */
static size_t get_stored_size(const struct run_cursor *cursor)
{
    return cursor->n - cursor->head < PREFIX ? PREFIX
                                             : PREFIX + load_u32le(cursor->bytes + cursor->head);
}

/* Returns the size of a cursor's next record, or 0 if the record is not completely in the
 * buffer. */
static size_t get_head_record_size(const struct run_cursor *cursor)
{
    const size_t have = cursor->n - cursor->head;
    return have >= PREFIX && have >= get_stored_size(cursor) ? get_stored_size(cursor) : 0;
}

/* Returns the buffer size that a cursor needs for its next record. */
static size_t get_needed_size(const struct runs *runs, const struct run_cursor *cursor)
{
    const size_t size = get_stored_size(cursor);
    return size > runs->read_bytes ? size : runs->read_bytes;
}

/* Reads bytes of a run until the buffer contains a complete record. */
static ttr_status fill_cursor(struct runs *runs, struct run_cursor *cursor, ttr_error *error)
{
    while (get_head_record_size(cursor) == 0 && cursor->at < cursor->end) {
        size_t wanted = get_needed_size(runs, cursor);
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

static bool is_cursor_before(const struct runs *runs, uint32_t a, uint32_t b)
{
    const struct run_cursor *x = &runs->cursor[a], *y = &runs->cursor[b];
    if (x->event.time != y->event.time)
        return x->event.time < y->event.time;
    return x->event.part != y->event.part ? x->event.part < y->event.part : a < b;
}

/* Restores the heap order after the key of the top cursor has increased. */
static void sift_down_top(struct runs *runs)
{
    uint32_t *heap = runs->heap, cursor = heap[0];
    size_t at = 0;
    for (size_t child = 1; child < runs->heap_n; child = 2 * at + 1) {
        if (child + 1 < runs->heap_n && is_cursor_before(runs, heap[child + 1], heap[child]))
            child++;
        if (!is_cursor_before(runs, heap[child], cursor))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = cursor;
}

static void push_cursor(struct runs *runs, uint32_t cursor)
{
    size_t at = runs->heap_n++;
    for (; at > 0 && is_cursor_before(runs, cursor, runs->heap[(at - 1) / 2]); at = (at - 1) / 2)
        runs->heap[at] = runs->heap[(at - 1) / 2];
    runs->heap[at] = cursor;
}

/* Decodes the next event of a cursor, if it is complete, from the difference to its predecessor. */
static ttr_status decode_head(struct run_cursor *cursor, ttr_error *error)
{
    ttr_event difference;
    cursor->size = get_head_record_size(cursor);
    if (cursor->size == 0)
        return TTR_OK;
    cursor->packed = cursor_init(cursor->bytes + cursor->head + PREFIX, cursor->size - PREFIX, 0);
    if (!packed_words_read(&cursor->packed, (uint8_t *)&difference, sizeof difference))
        return spill_fail_corrupted(error);
    xor_events(&difference, &cursor->event, &cursor->event);
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
        ttr_status status = fill_cursor(runs, cursor, error);
        if (status == TTR_OK)
            status = decode_head(cursor, error);
        if (status != TTR_OK)
            return status;
        if (cursor->size)
            push_cursor(runs, (uint32_t)i);
    }
    return TTR_OK;
}

/* Returns true if a payload of `size` bytes fits in the payload buffer. The buffer grows only for
 * the first payload of a call. */
static bool has_payload_space(struct runs *runs, size_t size, ttr_status *status, ttr_error *error)
{
    if (size <= runs->payloads_room - runs->payloads_n)
        return true;
    if (runs->payloads_n)
        return false;
    const size_t room = size > PAYLOAD_BYTES ? size : PAYLOAD_BYTES;
    uint8_t *payloads = alloc_resize(runs->alloc, runs->payloads, runs->payloads_room, room, 1);
    *status = payloads ? TTR_OK : fail_memory(error);
    if (!payloads)
        return false;
    runs->payloads = payloads;
    runs->payloads_room = room;
    return true;
}

/* Returns a cursor's event, with the payload copied to the payload buffer, and moves the cursor to
 * the next event. */
static ttr_status pop_event(struct runs *runs, struct run_cursor *cursor, ttr_event *event,
                            ttr_error *error)
{
    *event = cursor->event;
    if (event->payload_size) {
        uint8_t *payload = runs->payloads + runs->payloads_n;
        if (!packed_words_read(&cursor->packed, payload, event->payload_size))
            return spill_fail_corrupted(error);
        event_copy_set_pointers(event, payload);
    }
    runs->payloads_n += packed_words_padded_size(event->payload_size);
    cursor->head += cursor->size;
    return decode_head(cursor, error);
}

/* Reads more of the run that has no complete event in its buffer, if there is one. */
static ttr_status refill_empty_cursor(struct runs *runs, ttr_error *error)
{
    if (runs->dry == NO_CURSOR)
        return TTR_OK;
    struct run_cursor *cursor = &runs->cursor[runs->dry];
    ttr_status status = fill_cursor(runs, cursor, error);
    if (status == TTR_OK)
        status = decode_head(cursor, error);
    if (status == TTR_OK && cursor->size == 0)
        status = spill_fail_corrupted(error);
    if (status != TTR_OK)
        return status;
    push_cursor(runs, runs->dry);
    runs->dry = NO_CURSOR;
    return TTR_OK;
}

ttr_status runs_read_events(struct runs *runs, ttr_event *events, uint32_t room, uint32_t *n,
                            ttr_error *error)
{
    *n = 0;
    runs->payloads_n = 0;
    ttr_status status = refill_empty_cursor(runs, error);
    while (status == TTR_OK && *n < room && runs->heap_n > 0) {
        struct run_cursor *cursor = &runs->cursor[runs->heap[0]];
        if (!has_payload_space(runs, packed_words_padded_size(cursor->event.payload_size), &status,
                               error))
            break;
        status = pop_event(runs, cursor, &events[(*n)++], error);
        if (cursor->size) {
            sift_down_top(runs);
            continue;
        }
        uint32_t emptied = runs->heap[0];
        runs->heap[0] = runs->heap[--runs->heap_n];
        if (runs->heap_n)
            sift_down_top(runs);
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
    ttr_event events[MERGE_BATCH];
    uint32_t n = 0;
    do {
        ttr_status status = runs_read_events(runs, events, MERGE_BATCH, &n, error);
        for (uint32_t i = 0; i < n && status == TTR_OK; i++)
            status = runs_add(runs, &events[i], error);
        if (status != TTR_OK)
            return status;
    } while (n > 0);
    return flush_runs(runs, error);
}

/* Merges the runs from index `first` on into one. */
static ttr_status merge_runs_from(struct runs *runs, size_t first, ttr_error *error)
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

ttr_status runs_finish(struct runs *runs, ttr_error *error)
{
    ttr_status status = flush_runs(runs, error);
    runs->run[runs->n - 1].end = runs->spill.end;
    /* Levels never rise along the list. So if the first and last of fan_in runs have the same
     * level, all of them do. */
    while (status == TTR_OK && runs->n >= runs->fan_in &&
           runs->run[runs->n - runs->fan_in].level == runs->run[runs->n - 1].level)
        status = merge_runs_from(runs, runs->n - runs->fan_in, error);
    return status;
}

ttr_status runs_open(struct runs *runs, ttr_error *error)
{
    while (runs->n > runs->fan_in) {
        /* Merges only as many runs as necessary: the smallest, which are at the end of the list. */
        size_t spare = runs->n - runs->fan_in + 1;
        ttr_status status =
            merge_runs_from(runs, runs->n - (spare < runs->fan_in ? spare : runs->fan_in), error);
        if (status != TTR_OK)
            return status;
    }
    buffer_free(&runs->out);
    buffer_init(&runs->out, runs->alloc);
    return open_cursors(runs, 0, error);
}
