/* See memory_reader.h. */
#include "support/memory_reader.h"

#include "model/format.h"
#include "model/event_copy.h"
#include "model/reader.h"
#include "support/support.h"

struct memory_reader {
    ttr_reader base;
    struct memory_events events;
    size_t at;
    uint64_t seed;
    ttr_event *batch; /* a copy, freed by the next read */
    uint32_t *pick;
    uint8_t **payloads;
    size_t batch_n;
    ttr_event *lent;
};

static unsigned open_readers;

static void *take(size_t size)
{
    void *block = alloc_resize(alloc_default(), NULL, 0, size, 1);
    assert_non_null(block);
    return block;
}

static void drop(void *block)
{
    alloc_free(alloc_default(), block, 1, 1);
}

static void drop_batch(struct memory_reader *reader)
{
    for (size_t i = 0; i < reader->batch_n; i++)
        drop(reader->payloads[i]);
    drop(reader->payloads);
    if (reader->batch != reader->lent)
        drop(reader->batch);
    drop(reader->pick);
    reader->payloads = NULL;
    reader->batch = NULL;
    reader->pick = NULL;
    reader->batch_n = 0;
}

static void copy_event(struct memory_reader *reader, size_t i, const ttr_event *event)
{
    ttr_event *copy = &reader->batch[i];
    *copy = *event;
    reader->payloads[i] = NULL;
    if (event->payload) {
        reader->payloads[i] = take(event->payload_size);
        memcpy(reader->payloads[i], event->payload, event->payload_size);
        copy->payload = reader->payloads[i];
        copy->activity =
            event->activity ? copy->payload + (event->activity - event->payload) : NULL;
        copy->related = event->related ? copy->payload + (event->related - event->payload) : NULL;
    }
}

static ttr_status next(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct memory_reader *reader = (struct memory_reader *)base;
    size_t left = reader->events.n - reader->at,
           max = reader->events.batch_max ? reader->events.batch_max : 256;
    drop_batch(reader);
    if (left == 0) {
        if (reader->events.ending == TTR_OK)
            return TTR_END;
        if (error)
            error->status = reader->events.ending;
        return reader->events.ending;
    }
    size_t n = reader->seed ? 1 + support_random(&reader->seed) % max : max;
    n = n < left ? n : left;
    bool picks = reader->seed && !reader->lent && support_random(&reader->seed) % 2;
    reader->batch = reader->lent ? reader->lent : take((n + 1) * sizeof *reader->batch);
    reader->payloads = take((n + 1) * sizeof *reader->payloads);
    reader->batch_n = n + picks;
    /* With a pick, the first event of the batch must be ignored. */
    if (picks) {
        copy_event(reader, 0, &reader->events.event[0]);
        reader->pick = take(n * sizeof *reader->pick);
        for (uint32_t i = 0; i < n; i++)
            reader->pick[i] = i + 1;
    }
    for (size_t i = 0; i < n; i++)
        copy_event(reader, i + picks, &reader->events.event[reader->at + i]);
    reader->at += n;
    *batch = (ttr_batch){.event = reader->batch, .pick = reader->pick, .n = (uint32_t)n};
    return TTR_OK;
}

static void close_reader(ttr_reader *base)
{
    drop_batch((struct memory_reader *)base);
    drop(base);
    open_readers--;
}

static bool report(ttr_reader *base, size_t index, ttr_report *to)
{
    struct memory_reader *reader = (struct memory_reader *)base;
    if (index > 0)
        return false;
    to->format = "memory";
    to->events = reader->at;
    to->order = base->order;
    return true;
}

static uint32_t lend(ttr_reader *base, ttr_event *events)
{
    struct memory_reader *reader = (struct memory_reader *)base;
    if (!reader->events.lends)
        return 0;
    if (events)
        reader->lent = events;
    return reader->events.batch_max ? (uint32_t)reader->events.batch_max : 256;
}

ttr_reader *memory_reader(ttr *t, const struct memory_events *events)
{
    static const struct reader_ops ops = {
        .next = next, .close = close_reader, .report = report, .set_buffer = lend};
    static const struct format told_apart = {.name = "memory"};
    struct memory_reader *reader = take(sizeof *reader);
    *reader = (struct memory_reader){.base = {.t = t, .ops = &ops, .order = events->order},
                                     .events = *events,
                                     .seed = events->seed};
    if (events->lends)
        reader->base.per_source_format = &told_apart;
    open_readers++;
    return &reader->base;
}

unsigned memory_readers_open(void)
{
    return open_readers;
}

void memory_event_fields(ttr *t, ttr_event *event, unsigned fields)
{
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    for (unsigned i = 0; i < fields; i++) {
        char name = (char)('a' + i);
        event_copy_add_field(
            t, &buffer,
            &(ttr_field){.name = {&name, 1},
                         .value = {.type = TTR_TYPE_UINT, .v.u = event->offset + i}});
    }
    assert_false(buffer.failed);
    if (buffer.n) {
        uint8_t *payload = take(buffer.n);
        memcpy(payload, buffer.bytes, buffer.n);
        event->payload = payload;
        event->payload_size = (uint32_t)buffer.n;
        event->schema = SCHEMA_EVENT_COPY;
    }
    buffer_free(&buffer);
}

void memory_events_free(ttr_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        union {
            const uint8_t *borrowed;
            void *ctx;
        } payload = {.borrowed = events[i].payload};
        drop(payload.ctx);
        events[i].payload = NULL;
    }
}

size_t memory_read_all(ttr_reader *reader, ttr_event *to, size_t room)
{
    ttr_batch batch;
    ttr_error error = {0};
    ttr_status status;
    size_t n = 0;
    int64_t last = INT64_MIN;
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK) {
        assert_true(batch.n > 0);
        for (uint32_t i = 0; i < batch.n; i++) {
            assert_true(n < room);
            to[n] = *ttr_batch_at(&batch, i);
            if (reader->order == TTR_ORDER_TIME)
                assert_true(to[n].time >= last);
            last = to[n++].time;
        }
    }
    if (status != TTR_END)
        fail_msg("%s", error.text);
    return n;
}

void memory_random_events(ttr *t, ttr_event *events, size_t n, uint64_t seed, int64_t span)
{
    static const uint8_t kinds[] = {TTR_KIND_INSTANT,     TTR_KIND_SPAN,     TTR_KIND_BEGIN,
                                    TTR_KIND_END,         TTR_KIND_COUNTER,  TTR_KIND_LOG,
                                    TTR_KIND_ASYNC_BEGIN, TTR_KIND_ASYNC_END};
    static const char *const names[] = {"net.read", "net.write", "disk", "", "poll"};
    static const char *const categories[] = {"io", "io,net", "", "sched"};
    for (size_t i = 0; i < n; i++) {
        ttr_event *event = &events[i];
        uint64_t r = support_random(&seed);
        const char *name = names[r % 5], *category = categories[(r >> 8) % 4];
        *event = (ttr_event){.kind = kinds[(r >> 16) % 8],
                             .time = (int64_t)((r >> 32) % (uint64_t)span),
                             .offset = i,
                             .link = (r >> 20) % 3,
                             .level = (uint8_t)((r >> 24) % 7)};
        event->name = ttr_text_add(t, name, strlen(name));
        event->category = ttr_text_add(t, category, strlen(category));
        event->provider = ttr_text_add(t, i % 3 ? "p" : "q", 1);
        event->thread =
            (r >> 28) % 4 ? context_thread(t, 0, 100 + (r >> 28) % 2, 1000 + (r >> 28) % 4) : 0;
        event->duration =
            event->kind == TTR_KIND_SPAN ? support_random(&seed) % (uint64_t)span / 4 : 0;
        memory_event_fields(t, event, (unsigned)(r >> 26) % 4);
    }
}

void memory_fail_each(bool (*scenario)(ttr *t, const ttr_event *events, size_t n), size_t n)
{
    bool is_through = false;
    ttr_event *events = take(n * sizeof *events);
    for (size_t fail_at = 1; !is_through; fail_at++) {
        struct support_heap heap;
        support_heap_init(&heap, 0);
        ttr *t = ttr_new(&(ttr_options){
            .size = sizeof(ttr_options), .resize = heap.alloc.resize, .user_data = heap.alloc.ctx});
        memory_random_events(t, events, n, 7, 1000);
        heap.fail_at = heap.requests + fail_at;
        is_through = scenario(t, events, n);
        assert_int_equal(is_through, heap.requests < heap.fail_at);
        assert_int_equal(memory_readers_open(), 0);
        memory_events_free(events, n);
        ttr_free(t);
        support_heap_check(&heap);
    }
    drop(events);
}

bool memory_reads_through(ttr_reader *reader, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status = reader ? TTR_OK : error->status;
    while (status == TTR_OK)
        status = ttr_read(reader, &batch, error);
    ttr_close(reader);
    assert_true(status == TTR_END || status == TTR_E_NOMEM);
    return status == TTR_END;
}

bool memory_has_fields(ttr *t, const ttr_event *event, unsigned fields)
{
    ttr_fields walk;
    ttr_field field;
    unsigned n = 0;
    ttr_fields_begin(t, event, &walk);
    while (ttr_fields_next(&walk, &field)) {
        if (field.name.n != 1 || field.name.p[0] != (char)('a' + n) ||
            field.value.v.u != event->offset + n)
            return false;
        n++;
    }
    return n == fields;
}
