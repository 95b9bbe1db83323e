/* The live reader: options, opening, and the merge of the inputs by time (see ctf_live.h). */
#include "formats/ctf/live/ctf_live.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "model/options.h"

/* ms that the merge waits for a stream without data; four periods of the session's live timer if
 * that is longer */
#define FEED_WAIT_MS 20u      /* longest wait for a packet of a feed */
#define FEED_PATIENCE_MS 100u /* silence after which a stream of a feed delays no others */
#define PATIENCE_MS 2000u

/* --- Merge of the inputs --- */

/* Returns true if the next event of `a` is returned before that of `b`. For equal times, the order
 * of live->inputs decides. */
static bool is_next_event_before(const struct live_input *a, const struct live_input *b)
{
    int64_t time_a = ttr_batch_at(&a->batch, a->at)->time,
            time_b = ttr_batch_at(&b->batch, b->at)->time;
    return time_a != time_b ? time_a < time_b : a->heap < b->heap;
}

static void sift_heap_down(struct live_reader *live, size_t i)
{
    struct live_input **heap = live->heap, *input = heap[i];
    for (size_t child; (child = 2 * i + 1) < live->heap_n; i = child) {
        if (child + 1 < live->heap_n && is_next_event_before(heap[child + 1], heap[child]))
            child++;
        if (!is_next_event_before(heap[child], input))
            break;
        heap[i] = heap[child];
    }
    heap[i] = input;
}

/* Builds the heap of the inputs that have decoded events. Returns the time in ns up to which
 * events may be returned: no other input can still have an earlier event. */
static int64_t build_input_heap(struct live_reader *live)
{
    int64_t bound =
        live_client_may_get_streams(&live->client) && !live->has_failed ? INT64_MIN : INT64_MAX;
    live->heap_n = 0;
    for (size_t i = 0; i < live->inputs_n; i++) {
        struct live_input *input = live->inputs[i];
        input->heap = i;
        if (input->at < input->batch.n) {
            live->heap[live->heap_n++] = input;
            continue;
        }
        if (input->quiet_ms > live->patience_ms)
            continue;
        int64_t horizon = input->has_horizon ? input->horizon : INT64_MIN;
        bound = horizon < bound ? horizon : bound;
    }
    for (size_t i = live->heap_n / 2; i-- > 0;)
        sift_heap_down(live, i);
    return bound;
}

/* Copies an event to live->out[n]. A gap that is earlier than an event already returned is moved to
 * the time of that event. */
static void emit_live_event(struct live_reader *live, const ttr_event *event, uint32_t n)
{
    ttr_event *out = &live->out[n];
    *out = *event;
    if (event->time >= live->returned_until) {
        live->returned_until = event->time;
    } else if (event->kind == TTR_KIND_GAP) {
        uint64_t shift = (uint64_t)live->returned_until - (uint64_t)event->time;
        out->time = live->returned_until;
        out->duration -= shift < out->duration ? shift : out->duration;
    } else {
        live_add_diagnostic(
            live, TTR_SEVERITY_ODD, "live.late",
            "an event arrived after later events had been returned: its stream had been "
            "silent too long");
    }
}

/* Copies events to live->out in order, up to the smallest horizon. Stops when the batch of an input
 * is used up, because reading the next one would invalidate its events. Returns the number of
 * events. Sets *is_past_range if all further events are after the time range. */
static uint32_t merge_live_inputs(struct live_reader *live, bool *is_past_range)
{
    int64_t bound = build_input_heap(live);
    uint32_t n = 0;
    while (live->heap_n && n < LIVE_BATCH) {
        struct live_input *input = live->heap[0];
        const ttr_event *event = ttr_batch_at(&input->batch, input->at);
        if (event->time > bound)
            break;
        emit_live_event(live, event, n++);
        if (++input->at == input->batch.n)
            return n;
        sift_heap_down(live, 0);
    }
    int64_t next =
        live->heap_n ? ttr_batch_at(&live->heap[0]->batch, live->heap[0]->at)->time : INT64_MAX;
    next = next < bound ? next : bound;
    *is_past_range = live->to != INT64_MAX && next >= live->to && live->inputs_n;
    return n;
}

/* --- Reading of events --- */

/* Ends all streams after the client failed. The failure is returned after the last event. */
static void end_streams_after_failure(struct live_reader *live, const ttr_error *reason)
{
    live->has_failed = true;
    live->failure = *reason;
    for (size_t i = 0; i < live->client.streams_n; i++) {
        struct live_stream *stream = live->client.streams[i];
        stream->is_gone |= !stream->is_over;
        stream->is_over = true;
    }
}

static void report_connection_changes(struct live_reader *live)
{
    const struct live_client *client = &live->client;
    for (; live->reconnections_noted < client->reconnections; live->reconnections_noted++)
        live_add_diagnostic(live, TTR_SEVERITY_REMARK, "live.reconnected",
                            "the connection to %s was lost and made again", live->tcp.url.daemon);
    for (; live->refused_noted < client->packets_refused; live->refused_noted++)
        live_add_diagnostic(live, TTR_SEVERITY_ODD, "live.packet-refused",
                            "the relay daemon announced a packet but could not send it");
}

static ttr_status step_live_client(struct live_reader *live)
{
    ttr_error ctx = {0};
    if (live->has_failed || live->client.phase == LIVE_OVER)
        return TTR_END;
    ttr_status status = live_client_step(&live->client, &ctx);
    if (status != TTR_OK && status != TTR_AGAIN && status != TTR_END)
        end_streams_after_failure(live, &ctx);
    return status == TTR_OK || status == TTR_AGAIN ? status : TTR_OK;
}

static ttr_status finish_session(struct live_reader *live, ttr_error *error)
{
    if (live->client.is_session_gone)
        live_add_diagnostic(live, TTR_SEVERITY_ODD, "live.session-gone",
                            "the session was no longer there when the connection was made again");
    if (!live->has_failed)
        return TTR_END;
    *error = live->failure;
    (void)snprintf(error->format, sizeof error->format, "%s", format_ctf.name);
    return error->status;
}

static ttr_status live_read_batch(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct live_reader *live = (struct live_reader *)base;
    uint64_t deadline = socket_now_ms() + LIVE_SLICE_MS;
    for (;;) {
        bool is_past_range = false;
        ttr_status moved = live->feed.peek
                               ? live_step_feed(live, live->has_unflushed ? 0 : FEED_WAIT_MS, error)
                               : step_live_client(live);
        if (live->feed.peek && moved != TTR_OK && moved != TTR_AGAIN)
            return moved;
        ttr_status status = live_update_inputs(live, error);
        if (status != TTR_OK)
            return status;
        report_connection_changes(live);
        uint32_t n = merge_live_inputs(live, &is_past_range);
        *batch = (ttr_batch){.event = live->out, .n = n};
        /* callers print what they have at TTR_AGAIN, so that comes before each wait for a packet */
        const bool is_flush = live->feed.peek && !n && moved == TTR_AGAIN && live->has_unflushed;
        live->has_unflushed = n > 0 || (live->has_unflushed && !is_flush);
        if (n || is_flush)
            return n ? TTR_OK : TTR_AGAIN;
        if (is_past_range || (moved == TTR_END && live->inputs_n == 0))
            return finish_session(live, error);
        uint64_t now = socket_now_ms();
        if (now >= deadline || !context_should_continue(base->t))
            return TTR_AGAIN;
        unsigned limit = deadline - now < live->client.poll_ms ? (unsigned)(deadline - now)
                                                               : live->client.poll_ms;
        if (moved == TTR_AGAIN && !live->feed.peek)
            live_client_wait(&live->client, limit);
    }
}

static void live_close(ttr_reader *base)
{
    struct live_reader *live = (struct live_reader *)base;
    const struct alloc *alloc = &base->t->counted;
    while (live->inputs_n)
        live_close_input(live, live->inputs[live->inputs_n - 1]);
    for (size_t i = 0; i < live->client.traces_n; i++)
        live_free_source(live, live->client.traces[i]);
    live_client_free(&live->client);
    diagnostics_free(&live->notes);
    alloc_free(alloc, live->inputs, live->inputs_capacity, sizeof *live->inputs);
    alloc_free(alloc, live->heap, live->heap_capacity, sizeof *live->heap);
    if (live->path)
        alloc_free(alloc, live->path, strlen(live->path) + 1, 1);
    alloc_free(alloc, live, 1, sizeof *live);
}

static void live_set_range(ttr_reader *base, int64_t from_ns, int64_t to_ns)
{
    struct live_reader *live = (struct live_reader *)base;
    live->from = from_ns > live->from ? from_ns : live->from;
    live->to = to_ns < live->to ? to_ns : live->to;
}

/* Fills the report entry for closed streams and for the connection. */
static void report_closed_streams(const struct live_reader *live, ttr_report *report)
{
    report->format = format_ctf.name;
    report->version = report->compression = "";
    for (size_t i = 0; i < live->inputs_n && !*report->version; i++)
        report->version = live->inputs[i]->source->ctf->class->version;
    report->path = report->trace_path =
        ttr_text_get(live->base.t, live->base.t->sources[live->id].path);
    report->source = report->trace = live->id;
    report->bytes = live->bytes;
    report->events = live->events;
    report->lost = live->lost;
    report->lost_packets = live->lost_packets;
    report->gaps = live->gaps;
    report->packets = live->packets;
    report->damage_regions = live->notes.damage_regions;
    report->damage_bytes = live->notes.damage_bytes;
    report->notes = live->notes.note;
    report->notes_n = live->notes.n;
    report->regions = live->notes.region;
    report->regions_n = live->notes.regions_n;
    report->order = live->base.order;
}

/* Returns report number `index`: one per open stream, then one for closed streams and the
 * connection, if there is anything to report. */
static bool live_get_report(ttr_reader *base, size_t index, ttr_report *report)
{
    const struct live_reader *live = (struct live_reader *)base;
    size_t inputs = 0;
    for (size_t i = 0; i < live->inputs_n; i++) {
        struct input *in = live->inputs[i]->in;
        if (in && inputs++ == index)
            return in->base.ops->report(&in->base, 0, report);
    }
    if (index > inputs || (inputs && !live->bytes && !live->gaps && !live->notes.n))
        return false;
    report_closed_streams(live, report);
    return true;
}

static struct diagnostics *live_get_diagnostics(ttr_reader *base)
{
    return &((struct live_reader *)base)->notes;
}

/* --- Opening of a session --- */

static const struct reader_ops live_ops = {.next = live_read_batch,
                                           .close = live_close,
                                           .range = live_set_range,
                                           .report = live_get_report,
                                           .notes = live_get_diagnostics};

static ttr_status init_live_reader(struct live_reader *live, const char *path,
                                   const struct live_config *how, ttr_error *error)
{
    ttr *t = live->base.t;
    size_t size = strlen(path) + 1;
    live->path = alloc_zero(&t->counted, size, 1);
    live->id = live->path ? context_add_source(t, path, format_ctf.name) : UINT16_MAX;
    if (live->id == UINT16_MAX)
        return fail_memory(error);
    memcpy(live->path, path, size);
    ttr_status status = live_run_until_attached(&live->client, t, error);
    if (status != TTR_OK)
        return status;
    unsigned period = live->client.session.timer_us / 1000;
    unsigned usual =
        period > PATIENCE_MS / 4 ? period < UINT32_MAX / 4 ? 4 * period : UINT32_MAX : PATIENCE_MS;
    live->patience_ms = how->patience_ms ? how->patience_ms : usual;
    return live_add_session(t, live->id, path, &live->client.session) ? TTR_OK : fail_memory(error);
}

static void init_reader_base(struct live_reader *live, ttr *t, const ttr_read_options *options)
{
    live->base = (ttr_reader){.t = t, .ops = &live_ops, .order = TTR_ORDER_TIME};
    live->from = live->returned_until = INT64_MIN;
    live->to = INT64_MAX;
    live->options = (ttr_read_options){.size = sizeof live->options};
    if (options) {
        /* packets cannot be copied unchanged, because the metadata grow during the session */
        live->options.flags = options->flags & ~TTR_READ_DEFINITIONS;
        live->options.max_record = options->max_record;
        live->options.time_offset = options->time_offset;
    }
    diagnostics_init(&live->notes, &t->counted);
}

static ttr_reader *open_session(ttr *t, const char *path, const struct live_url *url,
                                const struct live_config *how, const ttr_read_options *options,
                                ttr_error *error)
{
    struct live_reader *live = alloc_zero(&t->counted, 1, sizeof *live);
    if (!live) {
        (void)fail_memory(error);
        return NULL;
    }
    init_reader_base(live, t, options);
    live->tcp = (struct live_tcp){t, *url};
    live_init_client(&live->client, &live->tcp, how, NULL, NULL);
    if (init_live_reader(live, path, how, error) == TTR_OK)
        return &live->base;
    live_close(&live->base);
    return NULL;
}

ttr_reader *ctf_open_feed(ttr *t, const char *path, const struct packet_feed *feed,
                          const ttr_read_options *options, ttr_error *error)
{
    const struct live_config how = {.patience_ms = FEED_PATIENCE_MS};
    const size_t size = strlen(path) + 1;
    struct live_reader *live = alloc_zero(&t->counted, 1, sizeof *live);
    if (!live) {
        (void)fail_memory(error);
        return NULL;
    }
    init_reader_base(live, t, options);
    live->tcp.t = t;
    live->feed = *feed;
    live->patience_ms = FEED_PATIENCE_MS;
    live_init_client(&live->client, &live->tcp, &how, NULL, NULL);
    live->client.phase = LIVE_RUNNING;
    live->path = alloc_zero(&t->counted, size, 1);
    live->id = live->path ? context_add_source(t, path, format_ctf.name) : UINT16_MAX;
    if (live->id != UINT16_MAX) {
        memcpy(live->path, path, size);
        return &live->base;
    }
    (void)fail_memory(error);
    live_close(&live->base);
    return NULL;
}

ttr_reader *ctf_open_live_with(ttr *t, const char *path, const struct live_config *how,
                               const ttr_read_options *options, ttr_error *error)
{
    struct live_url url;
    ttr_error ctx = {0};
    ttr_reader *reader = NULL;
    if (live_parse_url(path, &url, &ctx) == TTR_OK)
        reader = url.has_session ? open_session(t, path, &url, how, options, &ctx)
                                 : live_open_list(t, path, &url, how, &ctx);
    if (!reader && error) {
        *error = ctx;
        (void)snprintf(error->format, sizeof error->format, "%s", format_ctf.name);
    }
    return reader;
}

/* --- Options of live traces --- */

/* Parses an option with seconds, such as "2.5", into milliseconds. Leaves *ms unchanged if it is
 * not set. */
static ttr_status parse_seconds_option(char *const *copies, size_t n, const char *key, unsigned *ms,
                                       ttr_error *error)
{
    const char *text = options_get(copies, n, key);
    double seconds;
    if (!text)
        return TTR_OK;
    if (!number_parse_double(text, strlen(text), &seconds) || !(seconds >= 0 && seconds <= 1e6))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "option %s=%s of ctf: expected seconds from 0 to 1000000", key, text);
    *ms = (unsigned)(seconds * 1000);
    return TTR_OK;
}

static ttr_status parse_live_options(char *const *copies, size_t n, struct live_config *how,
                                     ttr_error *error)
{
    const char *start = options_get(copies, n, "live-start");
    bool is_now = start && strcmp(start, "now") == 0;
    if (start && !is_now && strcmp(start, "begin") != 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "option live-start=%s of ctf: expected begin or now", start);
    how->seek = is_now ? LIVE_SEEK_NOW : LIVE_SEEK_BEGIN;
    how->reconnect_ms = LIVE_RECONNECT_MS;
    ttr_status status =
        parse_seconds_option(copies, n, "live-reconnect", &how->reconnect_ms, error);
    if (status == TTR_OK)
        status = parse_seconds_option(copies, n, "live-poll", &how->poll_ms, error);
    return status == TTR_OK
               ? parse_seconds_option(copies, n, "live-patience", &how->patience_ms, error)
               : status;
}

ttr_status ctf_check_live_options(char *const *copies, size_t n, ttr_error *error)
{
    struct live_config how = {.dial = NULL};
    return parse_live_options(copies, n, &how, error);
}

/* Fails with TTR_E_MISUSE if an option is set that applies only to files. */
static ttr_status reject_file_options(char *const *copies, size_t n, ttr_error *error)
{
    if (options_get(copies, n, "metadata"))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "metadata: those of a live trace grow with it and come from its daemon only");
    const char *intersects = options_get(copies, n, "stream-intersection");
    if (intersects && strcmp(intersects, "yes") == 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "stream-intersection: when all streams of a live trace are active is not known "
                    "before its end");
    return TTR_OK;
}

ttr_reader *ctf_open_live(ttr *t, const char *url, const ttr_read_options *options,
                          ttr_error *error)
{
    struct live_config how = {.dial = NULL};
    struct options_list list = {&t->counted, options ? options->format_options : NULL, &format_ctf,
                                false};
    char **copies = NULL;
    size_t n = 0;
    ttr_status status = options_copy(&list, &copies, &n, error);
    if (status == TTR_OK)
        status = parse_live_options(copies, n, &how, error);
    if (status == TTR_OK)
        status = reject_file_options(copies, n, error);
    options_free(&t->counted, copies, n);
    return status == TTR_OK ? ctf_open_live_with(t, url, &how, options, error) : NULL;
}
