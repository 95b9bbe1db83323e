/* Registers the Perfetto protobuf format: its losses, the first packets, and the order of spans
 * within a batch.
 *
 * Times are on Perfetto's boot time clock. If the source has Unix times, the file starts with a
 * clock snapshot that maps boot time 0 to one hour before the first event. So numbers stay small,
 * and readers can show wall-clock time. Left out: reading, compression, and Perfetto's other data
 * sources. */
#include "base/status.h"
#include "formats/perfetto/perfetto.h"
#include "model/reader.h"

#define SECOND INT64_C(1000000000)
#define CHUNK 256
/* Number of events after which the writer compares the names of threads again. Readers accept
 * descriptors with new names anywhere in the file. */
#define ROUND_EVENTS 4096

static const ttr_loss losses[LOSS_COUNT] = {
    [LOSS_TEXT] = {.code = "text.not-utf8",
                   .what = "strings with invalid UTF-8",
                   .rule = "get U+FFFD for each invalid byte"},
    [LOSS_BYTES] = {.code = "field.bytes",
                    .what = "byte fields",
                    .rule = "become strings of hexadecimal digits"},
    [LOSS_NULL] = {.code = "field.null",
                   .what = "null fields",
                   .rule = "become the string \"null\""},
    [LOSS_DUPLICATE] = {.code = "field.duplicate",
                        .what = "duplicate field names in one event",
                        .rule = "get a number: name, name#2"},
    [LOSS_DEEP] = {.code = "field.deep",
                   .what = "fields nested more than 32 levels deep",
                   .rule = "are left out",
                   .kind = TTR_LOSS_DROPPED},
    [LOSS_CONTEXT] = {.code = "field.context",
                      .what = "fields of an event's context",
                      .rule = "become fields of the payload"},
    [LOSS_TIME] = {.code = "time.before-zero",
                   .what = "times before the start of the trace",
                   .rule = "become 0"},
    [LOSS_THREAD_ID] = {.code = "thread.id",
                        .what = "process and thread ids that are duplicate or above 2^31-1",
                        .rule = "become other ids, with the real one in the name"},
    [LOSS_SPAN] = {.code = "span.overlap",
                   .what = "spans that overlap others of their thread",
                   .rule = "are moved to a track next to their thread"},
    [LOSS_SPAN_END] = {.code = "span.no-begin",
                       .what = "ends of spans that have no begin",
                       .rule = "are left out",
                       .kind = TTR_LOSS_DROPPED},
    [LOSS_FLOW] = {.code = "flow.no-span",
                   .what = "begins of flows outside of spans, ends without a begin",
                   .rule = "are left out",
                   .kind = TTR_LOSS_DROPPED},
    [LOSS_FLOW_ATTRIBUTE] = {.code = "flow.attribute",
                             .what = "fields and attributes of flow events",
                             .rule = "are left out",
                             .kind = TTR_LOSS_DROPPED},
    [LOSS_COUNTER_VALUE] = {.code = "counter.value",
                            .what = "counter values that are booleans or above 2^63-1",
                            .rule = "become 0 and 1, or floats"},
    [LOSS_COUNTER_FIELD] = {.code = "counter.field",
                            .what = "fields of counters other than numbers",
                            .rule = "are left out",
                            .kind = TTR_LOSS_DROPPED},
    [LOSS_COUNTER_EMPTY] = {.code = "counter.empty",
                            .what = "counters without a number",
                            .rule = "become instants"},
    [LOSS_COUNTER_ATTRIBUTE] = {.code = "counter.attribute",
                                .what = "levels and flags of counter values; threads, providers "
                                        "and categories other than the first",
                                .rule = "are left out",
                                .kind = TTR_LOSS_DROPPED},
    [LOSS_SCHED_ATTRIBUTE] =
        {.code = "sched.attribute",
         .what = "fields and attributes of switches and wake-ups, except priorities",
         .rule = "are left out",
         .kind = TTR_LOSS_DROPPED},
    [LOSS_SCHED_STATE] = {.code = "sched.state",
                          .what = "thread states new, dying and unknown",
                          .rule = "become runnable or waiting"},
    [LOSS_SCHED_NO_CPU] = {.code = "sched.no-cpu",
                           .what = "switches and wake-ups without a CPU",
                           .rule = "become instants"},
    [LOSS_SAMPLE_ATTRIBUTE] = {.code = "sample.attribute",
                               .what = "fields and attributes of samples, except frames",
                               .rule = "are left out",
                               .kind = TTR_LOSS_DROPPED},
    [LOSS_SAMPLE_EMPTY] = {.code = "sample.empty",
                           .what = "samples without frames",
                           .rule = "become instants"},
    [LOSS_BLOB] = {.code = "blob.rest",
                   .what = "bytes of blobs after the first 4096",
                   .rule = "are left out",
                   .kind = TTR_LOSS_DROPPED},
    [LOSS_OBJECT] = {.code = "object.instant",
                     .what = "objects other than processes, threads, modules and mappings",
                     .rule = "become instants on track \"objects\""},
    [LOSS_GAP] = {.code = "gap.instant",
                  .what = "gaps",
                  .rule = "become instants on track \"lost events\""},
    [LOSS_NO_TIME] = {.code = "event.no-time",
                      .what = "events without a time, except samples and names",
                      .rule = "are left out",
                      .kind = TTR_LOSS_DROPPED},
    [LOSS_KIND] = {.code = "kind.other",
                   .what = "events of unknown kind",
                   .rule = "become instants"},
};

static ttr_status perfetto_create(struct ttr_writer *out, ttr_error *error)
{
    struct perfetto *p = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    p->out = out;
    p->to = &out->buffer;
    p->flags = SEQUENCE_CLEARED | SEQUENCE_NEEDED;
    buffer_init(&p->interned, alloc);
    buffer_init(&p->scratch, alloc);
    key_map_init(&p->name_counts, alloc);
    p->base = INT64_MAX; /* INT64_MAX until an event with a time arrives */
    perfetto_init_interning(p);
    perfetto_init_tracks(p);
    perfetto_init_async(p);
    perfetto_init_sched(p);
    return perfetto_init_frames(p) && perfetto_intern_attribute_keys(p) ? TTR_OK
                                                                        : fail_memory(error);
}

/* --- First packets of the file --- */

static void add_clock(struct perfetto *p, unsigned clock, int64_t time)
{
    size_t mark = protobuf_begin_message(p->to, SNAPSHOT_CLOCKS);
    protobuf_write_u64(p->to, CLOCK_ID, clock);
    protobuf_write_i64(p->to, CLOCK_TIMESTAMP, time);
    protobuf_end_message(p->to, mark);
}

static void begin_sequence(struct perfetto *p)
{
    if (p->is_begun)
        return;
    p->is_begun = true;
    size_t packet = perfetto_begin_packet(p);
    protobuf_write_bool(p->to, PACKET_FIRST_ON_SEQUENCE, true);
    perfetto_end_packet(p, packet);
}

/* Sets the Unix time that is time 0 in the output, based on the first event with a time. */
static void choose_time_base(struct perfetto *p, const ttr_event *event)
{
    int64_t first = event->time;
    p->has_base = true;
    p->base = 0;
    if (first < 3600 * SECOND || !context_has_unix_time(p->out->t, event))
        return;
    p->base = first - first % SECOND - 3600 * SECOND;
    size_t packet = perfetto_begin_packet(p);
    size_t snapshot = protobuf_begin_message(p->to, PACKET_CLOCK_SNAPSHOT);
    add_clock(p, CLOCK_BOOTTIME_NUMBER, 0);
    add_clock(p, CLOCK_REALTIME_NUMBER, p->base);
    protobuf_write_u64(p->to, SNAPSHOT_PRIMARY, CLOCK_BOOTTIME_NUMBER);
    protobuf_end_message(p->to, snapshot);
    perfetto_end_packet(p, packet);
}

static bool event_has_time(const ttr_event *event)
{
    return event->kind != TTR_KIND_DEFINITION && !(event->flags & TTR_EVENT_NO_TIME);
}

/* --- Order within a batch --- */

/* Key by which the events in a chunk of the batch are sorted. */
struct sort_key {
    int64_t time;
    uint32_t index;
};

static bool is_sorted_by_time(const struct sort_key *keys, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (keys[i].time < keys[i - 1].time)
            return false;
    return true;
}

/* Merges the sorted ranges [0, middle) and [middle, to) of keys. Events with the same time keep
 * their order. */
static void merge_sorted_ranges(const struct sort_key *in, struct sort_key *out, uint32_t middle,
                                uint32_t to)
{
    uint32_t a = 0, b = middle;
    for (uint32_t i = 0; i < to; i++)
        out[i] = a < middle && (b >= to || in[a].time <= in[b].time) ? in[a++] : in[b++];
}

static void sort_by_time(struct sort_key *keys, uint32_t n)
{
    struct sort_key other[CHUNK];
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t from = 0; from < n; from += 2 * width) {
            uint32_t left = n - from;
            uint32_t middle = width < left ? width : left, to = 2 * width < left ? 2 * width : left;
            merge_sorted_ranges(keys + from, other + from, middle, to);
        }
        memcpy(keys, other, n * sizeof *keys);
    }
}

/* Sorts spans with the same start: the span with the later end comes first. Otherwise Perfetto
 * nests the longer span inside the shorter one. */
static void sort_equal_starts(const ttr_batch *batch, struct sort_key *keys, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct sort_key sort_key = keys[i];
        const ttr_event *event = ttr_batch_at(batch, sort_key.index);
        uint32_t to = i;
        for (; event->kind == TTR_KIND_SPAN && to && keys[to - 1].time == sort_key.time; to--) {
            const ttr_event *before = ttr_batch_at(batch, keys[to - 1].index);
            if (before->kind != TTR_KIND_SPAN || before->duration >= event->duration)
                break;
            keys[to] = keys[to - 1];
        }
        keys[to] = sort_key;
    }
}

static ttr_status write_chunk(struct perfetto *p, const ttr_batch *batch, uint32_t from,
                              ttr_error *error)
{
    struct sort_key keys[CHUNK];
    uint32_t n = batch->n - from < CHUNK ? batch->n - from : CHUNK;
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (struct sort_key){ttr_batch_at(batch, from + i)->time, from + i};
    if (!is_sorted_by_time(keys, n))
        sort_by_time(keys, n);
    sort_equal_starts(batch, keys, n);
    for (uint32_t i = 0; i < n; i++) {
        const ttr_event *event = ttr_batch_at(batch, keys[i].index);
        if (event->kind == TTR_KIND_DEFINITION)
            continue;
        perfetto_write_event(p, event);
        output_count_event(p->out, event);
        ttr_status status = output_drain(p->out, error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

static ttr_status perfetto_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    struct perfetto *p = out->ctx;
    ttr_status status = TTR_OK;
    p->round = 1 + out->events / ROUND_EVENTS;
    begin_sequence(p);
    for (uint32_t i = 0; i < batch->n && !p->has_base; i++)
        if (event_has_time(ttr_batch_at(batch, i)))
            choose_time_base(p, ttr_batch_at(batch, i));
    for (uint32_t from = 0; from < batch->n && status == TTR_OK; from += CHUNK)
        status = write_chunk(p, batch, from, error);
    return status;
}

static ttr_status perfetto_finish(struct ttr_writer *out, ttr_error *error)
{
    struct perfetto *p = out->ctx;
    begin_sequence(p);
    perfetto_describe_renamed_tracks(p);
    return output_drain(out, error);
}

static void perfetto_free_writer(struct ttr_writer *out)
{
    struct perfetto *p = out->ctx;
    if (!p->out)
        return;
    perfetto_free_tracks(p);
    perfetto_free_async(p);
    perfetto_free_sched(p);
    perfetto_free_frames(p);
    perfetto_free_interning(p);
    buffer_free(&p->interned);
    buffer_free(&p->scratch);
    alloc_free(&out->t->counted, p->seen, p->seen_capacity, sizeof *p->seen);
    key_map_free(&p->name_counts);
    alloc_free(&out->t->counted, p->strings.items, p->strings.n, sizeof(struct string_use));
}

static const struct format_writer writer = {
    .losses = losses,
    .losses_n = LOSS_COUNT,
    .ordered_kinds = READER_ANY_KIND,
    .wants_symbols = true,
    .state_size = sizeof(struct perfetto),
    .create = perfetto_create,
    .write = perfetto_write,
    .finish = perfetto_finish,
    .drop = perfetto_free_writer,
};

const struct format format_perfetto = {
    .name = "perfetto",
    .title = "Perfetto protobuf",
    .extensions = "pftrace perfetto-trace perfetto",
    .spec = "TracePacket stream of the public Perfetto schema (2026)",
    .writer = &writer,
};
