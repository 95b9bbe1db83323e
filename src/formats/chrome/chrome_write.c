/* The Chrome JSON writer ("Trace Event Format" of chrome://tracing, also read by Perfetto,
 * speedscope and others). A file is one object:
 *
 *   {"displayTimeUnit":"ns","traceEvents":[
 *   ...
 *   ],"otherData":{"tracetta.base_ns":"...","tracetta.provider":"...","tracetta.lost":{...}}}
 *
 * Times are microseconds with exactly three decimals, so nanoseconds are exact. They are relative
 * to a base that keeps them small, because viewers store them as doubles.  chrome_finish always
 * closes the JSON. Left out: reading, definitions, and repair. Partly overlapping spans and begins
 * without an end are written unchanged. */
#include <tracetta/meaning.h>

#include "base/json_writer.h"
#include "encodings/json/timeline.h"
#include "formats/chrome/chrome.h"
#include "model/activity.h"

/* maximum number of bytes of a blob that are written */
#define BLOB_BYTES_MAX 4096

/* How events of one kind are written. */
struct kind_format {
    /* value of the member "ph"; 0 if another function writes events of this kind */
    char phase;
    /* index of the loss that each event of this kind causes; 0 if it causes none */
    uint8_t loss;
    bool has_id;
    const char *name; /* name that is written for events without a name */
    const char *extra;
};

static const struct kind_format shapes[TTR_KIND_COUNT] = {
    [TTR_KIND_NONE] = {'i', 0, false, "", ",\"s\":\"t\""},
    [TTR_KIND_INSTANT] = {'i', 0, false, "", ",\"s\":\"t\""},
    [TTR_KIND_BEGIN] = {'B', 0, false, "", ""},
    [TTR_KIND_END] = {'E', 0, false, "", ""},
    [TTR_KIND_SPAN] = {'X', 0, false, "", ""},
    [TTR_KIND_COUNTER] = {'C', 0, false, "", ""},
    [TTR_KIND_ASYNC_BEGIN] = {'b', 0, true, "", ""},
    [TTR_KIND_ASYNC_STEP] = {'n', 0, true, "", ""},
    [TTR_KIND_ASYNC_END] = {'e', 0, true, "", ""},
    [TTR_KIND_FLOW_BEGIN] = {'s', 0, true, "", ""},
    [TTR_KIND_FLOW_STEP] = {'t', 0, true, "", ""},
    [TTR_KIND_FLOW_END] = {'f', 0, true, "", ",\"bp\":\"e\""},
    [TTR_KIND_SWITCH] = {0, 0, false, "", ""},
    [TTR_KIND_WAKE] = {'i', CHROME_WAKE, false, "wake", ",\"s\":\"t\""},
    [TTR_KIND_SAMPLE] = {'i', CHROME_SAMPLE, false, "sample", ",\"s\":\"t\""},
    [TTR_KIND_LOG] = {'i', CHROME_LOG, false, "log", ",\"s\":\"t\""},
    [TTR_KIND_BLOB] = {'i', CHROME_BLOB, false, "blob", ",\"s\":\"t\""},
    [TTR_KIND_OBJECT] = {'i', CHROME_OBJECT, false, "object", ",\"s\":\"p\""},
    [TTR_KIND_GAP] = {'i', CHROME_GAP, false, "lost events", ",\"s\":\"g\""},
    [TTR_KIND_DEFINITION] = {0, 0, false, "", ""},
};

static const ttr_loss losses[CHROME_LOSSES] = {
    FIELD_JSON_LOSS_ROWS,
    [CHROME_POINTER] = {.code = "field.pointer",
                        .what = "pointers",
                        .rule = "become strings of hexadecimal digits"},
    [CHROME_CONTEXT] = {.code = "field.context",
                        .what = "fields of an event's context",
                        .rule = "become fields of the payload"},
    [CHROME_PROVIDER] = {.code = "event.provider",
                         .what = "providers other than the first",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [CHROME_DETAIL] = {.code = "event.detail",
                       .what = "keywords, opcodes, activity ids, event numbers of providers",
                       .rule = "are left out",
                       .kind = TTR_LOSS_DROPPED},
    [CHROME_NO_THREAD] = {.code = "event.no-thread",
                          .what = "unknown processes and threads",
                          .rule = "get number 0"},
    [CHROME_WIDE_ID] = {.code = "thread.wide-id",
                        .what = "process and thread ids above 2^31-1",
                        .rule = "become other ids, with the real one in the name"},
    [CHROME_SAME_PID] = {.code = "process.same-pid",
                         .what = "processes of different inputs with the same pid",
                         .rule = "become one process"},
    [CHROME_RENAMED] = {.code = "thread.renamed",
                        .what = "names of threads and processes that change",
                        .rule = "are replaced by the last name"},
    [CHROME_SPAN_END] = {.code = "span.no-begin",
                         .what = "ends of spans that have no begin",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [CHROME_NO_TIME] = {.code = "event.no-time",
                        .what = "events without a time, except names",
                        .rule = "are left out",
                        .kind = TTR_LOSS_DROPPED},
    [CHROME_COUNTER_EMPTY] = {.code = "counter.empty",
                              .what = "counters without a number",
                              .rule = "become instants"},
    [CHROME_COUNTER_VALUE] = {.code = "counter.value",
                              .what = "fields of counters other than numbers",
                              .rule = "are left out",
                              .kind = TTR_LOSS_DROPPED},
    [CHROME_COUNTER_ATTRIBUTE] = {.code = "counter.attribute",
                                  .what = "CPU, level and flags of counters",
                                  .rule = "are left out",
                                  .kind = TTR_LOSS_DROPPED},
    [CHROME_SWITCH] = {.code = "switch.slice",
                       .what = "context switches",
                       .rule = "become slices on a thread per CPU, named by the running thread"},
    [CHROME_WAKE] = {.code = "wake.instant", .what = "wake-ups", .rule = "become instants"},
    [CHROME_SAMPLE] = {.code = "sample.instant",
                       .what = "stack samples",
                       .rule = "become instants with the stack in their args"},
    [CHROME_LOG] = {.code = "log.instant",
                    .what = "log messages",
                    .rule = "become instants with the message in their args"},
    [CHROME_BLOB] = {.code = "blob.instant",
                     .what = "blobs",
                     .rule = "become instants with hexadecimal digits in their args"},
    [CHROME_BLOB_CUT] = {.code = "blob.cut",
                         .what = "bytes of blobs after the first 4096",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [CHROME_OBJECT] = {.code = "object.instant",
                       .what = "objects other than processes and threads",
                       .rule = "become instants"},
    [CHROME_GAP] = {.code = "gap.instant",
                    .what = "gaps",
                    .rule = "become instants \"lost events\""},
};

static ttr_status chrome_create(struct ttr_writer *out, ttr_error *error)
{
    struct chrome *ctx = out->ctx;
    (void)error;
    field_json_init(&ctx->fields, out->t, &out->buffer);
    /* JavaScript rounds integers above 2^53, which pointers may exceed */
    ctx->fields.hex_pointers = true;
    pair_map_init(&ctx->pids, &out->t->counted);
    pair_map_init(&ctx->cpu_index, &out->t->counted);
    pair_map_init(&ctx->renumbered, &out->t->counted);
    ctx->batch = 1; /* number 0 means that the names of a thread were never compared */
    return TTR_OK;
}

static void write_array_start(struct ttr_writer *out)
{
    struct chrome *ctx = out->ctx;
    if (!ctx->has_begun)
        buffer_add_text(&out->buffer, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    ctx->has_begun = true;
}

/* Chooses the time in ns that is written as 0: for Unix times, the second of the first event with
 * a time; else 0. */
static void choose_time_base(const ttr *t, struct chrome *ctx, const ttr_event *event)
{
    if (event->flags & TTR_EVENT_NO_TIME)
        return;
    ctx->has_base = true;
    int64_t part = event->time % 1000000000, second = event->time - part;
    if (part < 0 && second >= INT64_MIN + 1000000000)
        second -= 1000000000;
    ctx->base_ns = context_has_unix_time(t, event) ? second : 0;
}

/* Returns the scope of an instant from its field "scope" (thread, process or global), as a member
 * of the line. Returns `otherwise` if the event has no such field. */
static const char *get_instant_scope(const ttr *t, const ttr_event *event, const char *otherwise)
{
    static const struct {
        const char *word, *text;
    } scopes[] = {
        {"thread", ",\"s\":\"t\""}, {"process", ",\"s\":\"p\""}, {"global", ",\"s\":\"g\""}};
    ttr_field field;
    if (event->payload_size <= event->body || !ttr_field_find(t, event, "scope", &field) ||
        field.value.type != TTR_TYPE_TEXT)
        return otherwise;
    ttr_text text = field.value.text;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if ((text.n == 1 || text.n == strlen(scopes[i].word)) &&
            memcmp(text.p, scopes[i].word, text.n) == 0)
            return scopes[i].text;
    return otherwise;
}

static void add_blob_args(struct ttr_writer *out, const ttr_event *event)
{
    struct chrome *ctx = out->ctx;
    ttr_field data;
    chrome_add_number(ctx, "type", event->tag);
    if (ttr_field_find(out->t, event, "data", &data) && data.value.type == TTR_TYPE_BYTES)
        chrome_add_number(ctx, "size", data.value.text.n);
    ctx->fields.bytes_max = BLOB_BYTES_MAX;
    field_json_append_fields(&ctx->fields, event);
    ctx->fields.bytes_max = SIZE_MAX;
    for (; ctx->fields.bytes_cut > 0; ctx->fields.bytes_cut--)
        output_count_loss(out, CHROME_BLOB_CUT, event->offset);
}

static void add_object_args(struct ttr_writer *out, const ttr_event *event)
{
    static const char *const objects[] = {"other",   "process", "thread",
                                          "pointer", "module",  "mapping"};
    struct chrome *ctx = out->ctx;
    char id[NUMBER_MAX + 1];
    if (event->tag < sizeof objects / sizeof *objects)
        chrome_add_text(ctx, "object", objects[event->tag]);
    else
        chrome_add_number(ctx, "object", event->tag);
    id[number_format_hex(id, event->link)] = '\0';
    chrome_add_text(ctx, "id", id);
}

static void add_event_args(struct ttr_writer *out, const ttr_event *event)
{
    struct chrome *ctx = out->ctx;
    if (event->kind == TTR_KIND_COUNTER) {
        chrome_add_series(out, event);
        return;
    }
    if (event->kind == TTR_KIND_BLOB) {
        add_blob_args(out, event);
    } else {
        if (event->kind == TTR_KIND_GAP)
            chrome_add_number(ctx, "count", event->link);
        if (event->kind == TTR_KIND_OBJECT)
            add_object_args(out, event);
        field_json_append_fields(&ctx->fields, event);
    }
    if (event->level || (event->flags & ~TTR_EVENT_RAW))
        chrome_add_attributes(ctx, event);
}

/* Returns true for the end of a flow that ttr_interpret found: it precedes the span that it leads
 * to. Ends that a trace records are in their span. */
static bool binds_to_next_span(const ttr *t, const ttr_event *event)
{
    ttr_event original;
    return (event->flags & TTR_EVENT_ADDED) || ttr_event_original(t, event, &original);
}

/* Appends members that only events of some kinds have. `room` is memory for texts that are not
 * constant. */
static void add_extra_members(struct chrome_line *line, const ttr *t, const ttr_event *event,
                              char *room)
{
    const struct kind_format *kind_format = &shapes[event->kind < TTR_KIND_COUNT ? event->kind : 0];
    char *at = room;
    line->extra = event->kind == TTR_KIND_INSTANT ? get_instant_scope(t, event, kind_format->extra)
                                                  : kind_format->extra;
    if (event->kind == TTR_KIND_FLOW_END && binds_to_next_span(t, event))
        line->extra = "";
    line->extra_n = strlen(line->extra);
    if (event->kind == TTR_KIND_SPAN)
        at = emit_microseconds(emit_constant(at, ",\"dur\":"), event->duration);
    else if (kind_format->has_id || (event->kind == TTR_KIND_COUNTER && event->link))
        at = emit_constant(emit_hex(emit_constant(at, ",\"id\":\""), event->link), "\"");
    else
        return;
    at = emit_piece(at, (ttr_text){line->extra, line->extra_n});
    line->extra = room;
    line->extra_n = (size_t)(at - room);
}

/* Returns the thread of an event, after writing its names if they have changed; NULL if memory is
 * out. */
static struct chrome_thread *find_event_thread(struct ttr_writer *out, const ttr_event *event)
{
    struct chrome *ctx = out->ctx;
    struct chrome_thread *track =
        event->thread == 0 && event->track ? chrome_find_track(out, event->track) : NULL;
    bool is_known =
        event->thread < ctx->threads_n && ctx->threads[event->thread].batch == ctx->batch;
    if (track)
        return track;
    if (!is_known)
        chrome_write_changed_names(out, event->thread, event->offset);
    if (out->buffer.failed)
        return NULL;
    struct chrome_thread *thread =
        &ctx->threads[event->thread < ctx->threads_n ? event->thread : 0];
    if (thread->ids_n == 0) /* the entry is new, with an id that no other thread has */
        thread = ctx->threads;
    if (thread->is_guess && event->kind != TTR_KIND_GAP)
        output_count_loss(out, CHROME_NO_THREAD, event->offset);
    return thread;
}

/* Updates the number of open spans of a thread. Returns false for an end without a begin. */
static bool count_open_span(struct ttr_writer *out, struct chrome_thread *thread,
                            const ttr_event *event)
{
    if (event->kind == TTR_KIND_END && thread->open_n == 0) {
        output_count_loss(out, CHROME_SPAN_END, event->offset);
        return false;
    }
    thread->open_n += event->kind == TTR_KIND_BEGIN;
    thread->open_n -= event->kind == TTR_KIND_END;
    return true;
}

static void write_simple_event(struct ttr_writer *out, const ttr_event *event,
                               const struct kind_format *kind_format)
{
    struct chrome *ctx = out->ctx;
    char extra[3 * NUMBER_MAX];
    struct chrome_thread *thread = find_event_thread(out, event);
    if (!thread || !count_open_span(out, thread, event))
        return;
    struct chrome_line line = {
        .phase = kind_format->phase, .ids = thread->ids, .ids_n = thread->ids_n};
    line.time_ns = chrome_get_line_time(ctx, event);
    if (event->kind == TTR_KIND_BEGIN || event->kind == TTR_KIND_END)
        line.rank = chrome_count_line_rank(&thread->rank, line.time_ns);
    line.category = chrome_get_json_string(out, event->category, "", event->offset);
    line.name = chrome_get_json_string(out, activity_span_name(out->t, event), kind_format->name,
                                       event->offset);
    add_extra_members(&line, out->t, event, extra);
    chrome_begin_line(out, &line);
    add_event_args(out, event);
    chrome_end_line(out);
    if (kind_format->loss)
        output_count_loss(out, kind_format->loss, event->offset);
}

/* Writes a counter. Writes an instant if the event has no number, since viewers draw a counter
 * without a value as 0. */
static void write_counter(struct ttr_writer *out, const ttr_event *event)
{
    ttr_event instant = *event;
    if (chrome_has_series(out->t, event)) {
        write_simple_event(out, event, &shapes[TTR_KIND_COUNTER]);
        return;
    }
    instant.kind = TTR_KIND_INSTANT;
    output_count_loss(out, CHROME_COUNTER_EMPTY, event->offset);
    write_simple_event(out, &instant, &shapes[TTR_KIND_INSTANT]);
}

static bool is_name_object(const ttr_event *event)
{
    return event->kind == TTR_KIND_OBJECT &&
           (event->tag == TTR_OBJECT_PROCESS || event->tag == TTR_OBJECT_THREAD);
}

static void write_event(struct ttr_writer *out, const ttr_event *event)
{
    struct chrome *ctx = out->ctx;
    if (!ctx->has_base)
        choose_time_base(out->t, ctx, event);
    if (!ctx->has_provider) {
        ctx->has_provider = true;
        ctx->provider = event->provider;
    }
    if (event->provider != ctx->provider)
        output_count_loss(out, CHROME_PROVIDER, event->offset);
    uint32_t number, version;
    if (event->keyword || event->opcode || event->activity || event->related ||
        ttr_event_number(out->t, event, &number, &version))
        output_count_loss(out, CHROME_DETAIL, event->offset);
    if (is_name_object(event))
        chrome_write_name_object(out, event);
    else if (event->flags & TTR_EVENT_NO_TIME)
        output_count_loss(out, CHROME_NO_TIME, event->offset);
    else if (event->kind == TTR_KIND_SWITCH)
        chrome_write_switch(out, event);
    else if (event->kind == TTR_KIND_COUNTER)
        write_counter(out, event);
    else
        write_simple_event(out, event, &shapes[event->kind < TTR_KIND_COUNT ? event->kind : 0]);
    field_json_report_losses(&ctx->fields, out, event->offset);
    for (; ctx->fields.pointers > 0; ctx->fields.pointers--)
        output_count_loss(out, CHROME_POINTER, event->offset);
    for (; ctx->fields.contexts > 0; ctx->fields.contexts--)
        output_count_loss(out, CHROME_CONTEXT, event->offset);
    out->buffer.failed |= ctx->fields.texts.failed;
    output_count_event(out, event);
}

static ttr_status chrome_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    struct chrome *ctx = out->ctx;
    ctx->batch++;
    write_array_start(out);
    return output_write_each_event(out, batch, write_event, error);
}

static void write_losses(struct ttr_writer *out)
{
    struct json json;
    json_init(&json, &out->buffer);
    json_begin_object(&json);
    for (size_t i = 0; i < CHROME_LOSSES; i++) {
        if (out->ledger[i].count == 0)
            continue;
        json_write_key(&json, out->ledger[i].code);
        json_write_u64(&json, out->ledger[i].count);
    }
    json_end_object(&json);
}

static ttr_status chrome_finish(struct ttr_writer *out, ttr_error *error)
{
    struct chrome *ctx = out->ctx;
    char number[NUMBER_MAX];
    write_array_start(out);
    chrome_write_all_changed_names(out);
    field_json_report_losses(&ctx->fields, out, 0);
    out->buffer.failed |= ctx->fields.texts.failed;
    buffer_add_text(&out->buffer, "\n],\"otherData\":{\"tracetta.base_ns\":\"");
    buffer_add(&out->buffer, number, number_format_i64(number, ctx->base_ns));
    if (ctx->provider) {
        ttr_text provider = ttr_text_get(out->t, ctx->provider);
        buffer_add_text(&out->buffer, "\",\"tracetta.provider\":\"");
        (void)json_append_escaped(&out->buffer, provider.p, provider.n);
    }
    buffer_add_text(&out->buffer, "\",\"tracetta.lost\":");
    write_losses(out);
    buffer_add_text(&out->buffer, "}}\n");
    return output_drain(out, error);
}

static void chrome_free_writer(struct ttr_writer *out)
{
    struct chrome *ctx = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    field_json_free(&ctx->fields);
    pair_map_free(&ctx->pids);
    pair_map_free(&ctx->cpu_index);
    pair_map_free(&ctx->renumbered);
    alloc_free(alloc, ctx->cpus, ctx->cpus_capacity, sizeof *ctx->cpus);
    alloc_free(alloc, ctx->tracks, ctx->tracks_n, sizeof *ctx->tracks);
    alloc_free(alloc, ctx->threads, ctx->threads_n, sizeof *ctx->threads);
    alloc_free(alloc, ctx->processes, ctx->processes_n, sizeof *ctx->processes);
}

static const struct format_writer writer = {
    .losses = losses,
    .losses_n = CHROME_LOSSES,
    .ordered_kinds = 1u << TTR_KIND_BEGIN | 1u << TTR_KIND_END,
    .state_size = sizeof(struct chrome),
    .create = chrome_create,
    .write = chrome_write,
    .finish = chrome_finish,
    .drop = chrome_free_writer,
};

const struct format format_chrome = {
    .name = "chrome",
    .title = "Chrome JSON for Perfetto, speedscope and other viewers",
    .extensions = "json",
    .spec = "Trace Event Format, JSON object form",
    .writer = &writer,
};
