/* The live reader: options, opening, and the merge of lanes in the order of time (see ctf_live.h).
 */
#include "formats/ctf/live/ctf_live.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "model/options.h"

#define PATIENCE_MS 2000u /* minimum; four periods of the live timer are used if longer */

/* --- Giving in order --- */

/* Compares the next events of two lanes. For equal times, the order of live->lanes decides. */
static bool is_lane_before(const struct live_lane *a, const struct live_lane *b)
{
    int64_t time_a = ttr_batch_at(&a->batch, a->at)->time,
            time_b = ttr_batch_at(&b->batch, b->at)->time;
    return time_a != time_b ? time_a < time_b : a->heap < b->heap;
}

static void sift_lane_down(struct live_reader *live, size_t i)
{
    struct live_lane **heap = live->heap, *queue = heap[i];
    for (size_t child; (child = 2 * i + 1) < live->heap_n; i = child) {
        if (child + 1 < live->heap_n && is_lane_before(heap[child + 1], heap[child]))
            child++;
        if (!is_lane_before(heap[child], queue))
            break;
        heap[i] = heap[child];
    }
    heap[i] = queue;
}

/* Builds the heap of lanes with events. Returns the time up to which all events are known. */
static int64_t build_lane_heap(struct live_reader *live)
{
    int64_t bound =
        live_client_may_get_streams(&live->client) && !live->has_failed ? INT64_MIN : INT64_MAX;
    live->heap_n = 0;
    for (size_t i = 0; i < live->lanes_n; i++) {
        struct live_lane *queue = live->file_index[i];
        queue->heap = i;
        if (queue->at < queue->batch.n) {
            live->heap[live->heap_n++] = queue;
            continue;
        }
        if (queue->quiet_ms > live->patience_ms)
            continue;
        int64_t horizon = queue->has_horizon ? queue->horizon : INT64_MIN;
        bound = horizon < bound ? horizon : bound;
    }
    for (size_t i = live->heap_n / 2; i-- > 0;)
        sift_lane_down(live, i);
    return bound;
}

/* Writes an event to the output at index n. The time of a gap may be earlier than events already
 * returned; it is then moved to the latest of these. */
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
        live_note(live, TTR_SEVERITY_ODD, "live.late",
                  "an event arrived after later events had been returned: its stream had been "
                  "silent too long");
    }
}

/* Returns events up to the horizon, and stops at a lane that must be refilled, because refilling
 * would invalidate its events. */
static uint32_t merge_lanes(struct live_reader *live, bool *is_past_range)
{
    int64_t bound = build_lane_heap(live);
    uint32_t n = 0;
    while (live->heap_n && n < LIVE_BATCH) {
        struct live_lane *queue = live->heap[0];
        const ttr_event *event = ttr_batch_at(&queue->batch, queue->at);
        if (event->time > bound)
            break;
        emit_live_event(live, event, n++);
        if (++queue->at == queue->batch.n)
            return n;
        sift_lane_down(live, 0);
    }
    int64_t next =
        live->heap_n ? ttr_batch_at(&live->heap[0]->batch, live->heap[0]->at)->time : INT64_MAX;
    next = next < bound ? next : bound;
    *is_past_range = live->to != INT64_MAX && next >= live->to && live->lanes_n;
    return n;
}

/* --- Reading --- */

/* Ends all streams after the client failed; the failure is reported after the last event. */
static void end_after_failure(struct live_reader *live, const ttr_error *reason)
{
    live->has_failed = true;
    live->failure = *reason;
    for (size_t i = 0; i < live->client.streams_n; i++) {
        struct live_stream *stream = live->client.streams[i];
        stream->is_gone |= !stream->is_over;
        stream->is_over = true;
    }
}

static void note_live_counts(struct live_reader *live)
{
    const struct live_client *client = &live->client;
    for (; live->reconnections_noted < client->reconnections; live->reconnections_noted++)
        live_note(live, TTR_SEVERITY_REMARK, "live.reconnected",
                  "the connection to %s was lost and made again", live->tcp.url.daemon);
    for (; live->refused_noted < client->packets_refused; live->refused_noted++)
        live_note(live, TTR_SEVERITY_ODD, "live.packet-refused",
                  "the relay daemon announced a packet but could not send it");
}

static ttr_status step_live_client(struct live_reader *live)
{
    ttr_error ctx = {0};
    if (live->has_failed || live->client.phase == LIVE_OVER)
        return TTR_END;
    ttr_status status = live_client_step(&live->client, &ctx);
    if (status != TTR_OK && status != TTR_AGAIN && status != TTR_END)
        end_after_failure(live, &ctx);
    return status == TTR_OK || status == TTR_AGAIN ? status : TTR_OK;
}

static ttr_status end(struct live_reader *live, ttr_error *error)
{
    if (live->client.is_session_gone)
        live_note(live, TTR_SEVERITY_ODD, "live.session-gone",
                  "the session was no longer there when the connection was made again");
    if (!live->has_failed)
        return TTR_END;
    *error = live->failure;
    (void)snprintf(error->format, sizeof error->format, "%s", format_ctf.name);
    return error->status;
}

static ttr_status live_next(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct live_reader *live = (struct live_reader *)base;
    uint64_t deadline = socket_now_ms() + LIVE_SLICE_MS;
    for (;;) {
        bool is_past_range = false;
        ttr_status moved = step_live_client(live), status = live_feed_lanes(live, error);
        if (status != TTR_OK)
            return status;
        note_live_counts(live);
        uint32_t n = merge_lanes(live, &is_past_range);
        *batch = (ttr_batch){.event = live->out, .n = n};
        if (n)
            return TTR_OK;
        if (is_past_range || (moved == TTR_END && live->lanes_n == 0))
            return end(live, error);
        uint64_t now = socket_now_ms();
        if (now >= deadline || !context_should_continue(base->t))
            return TTR_AGAIN;
        unsigned limit = deadline - now < live->client.poll_ms ? (unsigned)(deadline - now)
                                                               : live->client.poll_ms;
        if (moved == TTR_AGAIN)
            live_client_wait(&live->client, limit);
    }
}

static void live_close(ttr_reader *base)
{
    struct live_reader *live = (struct live_reader *)base;
    const struct alloc *alloc = &base->t->counted;
    while (live->lanes_n)
        live_close_lane(live, live->file_index[live->lanes_n - 1]);
    for (size_t i = 0; i < live->client.traces_n; i++)
        live_free_source(live, live->client.traces[i]);
    live_client_free(&live->client);
    diagnostics_free(&live->notes);
    alloc_free(alloc, live->file_index, live->lanes_capacity, sizeof *live->file_index);
    alloc_free(alloc, live->heap, live->heap_capacity, sizeof *live->heap);
    if (live->path)
        alloc_free(alloc, live->path, strlen(live->path) + 1, 1);
    alloc_free(alloc, live, 1, sizeof *live);
}

static void live_range(ttr_reader *base, int64_t from_ns, int64_t to_ns)
{
    struct live_reader *live = (struct live_reader *)base;
    live->from = from_ns > live->from ? from_ns : live->from;
    live->to = to_ns < live->to ? to_ns : live->to;
}

/* Fills the report entry for data without an open stream: totals of closed streams and of the
 * connection. */
static void report_rest(const struct live_reader *live, ttr_report *report)
{
    report->format = format_ctf.name;
    report->version = report->compression = "";
    for (size_t i = 0; i < live->lanes_n && !*report->version; i++)
        report->version = live->file_index[i]->source->ctf->class->version;
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

/* Reports the open streams first, then one entry for the rest if there is any. */
static bool live_report(ttr_reader *base, size_t index, ttr_report *report)
{
    const struct live_reader *live = (struct live_reader *)base;
    size_t inputs = 0;
    for (size_t i = 0; i < live->lanes_n; i++) {
        struct input *in = live->file_index[i]->in;
        if (in && inputs++ == index)
            return in->base.ops->report(&in->base, 0, report);
    }
    if (index > inputs || (inputs && !live->bytes && !live->gaps && !live->notes.n))
        return false;
    report_rest(live, report);
    return true;
}

static struct diagnostics *live_notes(ttr_reader *base)
{
    return &((struct live_reader *)base)->notes;
}

/* --- Opening --- */

static const struct reader_ops live_ops = {.next = live_next,
                                           .close = live_close,
                                           .range = live_range,
                                           .report = live_report,
                                           .notes = live_notes};

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

static ttr_reader *open_session(ttr *t, const char *path, const struct live_url *url,
                                const struct live_config *how, const ttr_read_options *options,
                                ttr_error *error)
{
    struct live_reader *live = alloc_zero(&t->counted, 1, sizeof *live);
    if (!live) {
        (void)fail_memory(error);
        return NULL;
    }
    live->base = (ttr_reader){.t = t, .ops = &live_ops, .order = TTR_ORDER_TIME};
    live->tcp = (struct live_tcp){t, *url};
    live->from = live->returned_until = INT64_MIN;
    live->to = INT64_MAX;
    live->options = (ttr_read_options){.size = sizeof live->options};
    if (options) {
        /* Packets cannot be copied unchanged, because the metadata keeps growing. */
        live->options.flags = options->flags & ~TTR_READ_DEFINITIONS;
        live->options.max_record = options->max_record;
        live->options.time_offset = options->time_offset;
    }
    diagnostics_init(&live->notes, &t->counted);
    live_init_client(&live->client, &live->tcp, how, NULL, NULL);
    if (init_live_reader(live, path, how, error) == TTR_OK)
        return &live->base;
    live_close(&live->base);
    return NULL;
}

ttr_reader *ctf_open_live_with(ttr *t, const char *path, const struct live_config *how,
                               const ttr_read_options *options, ttr_error *error)
{
    struct live_url url;
    ttr_error ctx = {0};
    ttr_reader *reader = NULL;
    if (live_url_parse(path, &url, &ctx) == TTR_OK)
        reader = url.has_session ? open_session(t, path, &url, how, options, &ctx)
                                 : live_open_list(t, path, &url, how, &ctx);
    if (!reader && error) {
        *error = ctx;
        (void)snprintf(error->format, sizeof error->format, "%s", format_ctf.name);
    }
    return reader;
}

/* --- Options --- */

/* Parses seconds such as "2.5" into milliseconds. */
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

/* Rejects options of files that have no effect on live traces. If they were ignored, they would
 * only seem to work. */
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
