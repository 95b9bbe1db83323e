/* Presents the sessions of a relay daemon as a trace: one event per session, all with the time of
 * the request.
 * |  object   name = the session's URL, link = its id;
 * |           fields host, session, timer_us, streams, viewers, format */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <tracetta/build.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/status.h"
#include "formats/ctf/live/ctf_live.h"

struct listing {
    struct ttr_reader base;
    struct live_client client;
    struct live_tcp tcp;
    ttr_builder *builder;
    struct buffer events;   /* array of all events (ttr_event) */
    struct buffer payloads; /* encoded fields of all events */
    size_t at;              /* number of events that were already returned */
    uint16_t id;
    int64_t time;
};

static void append_text_field(ttr_builder *builder, const char *name, ttr_text text)
{
    ttr_add_field(builder, &(ttr_field){.name = {name, strlen(name)},
                                        .value = {.type = TTR_TYPE_TEXT, .text = text}});
}

bool live_add_session(ttr *t, uint16_t source, const char *url, const struct live_session *session)
{
    char text[4 * LIVE_URL_PART];
    int n = snprintf(text, sizeof text, "%s (timer = %u, %u stream(s), %u client(s) connected)",
                     url, session->timer_us, session->streams, session->viewers);
    ttr_value value = {.type = TTR_TYPE_TEXT,
                       .text = {text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1}};
    return context_add_attribute(t, source, "live.session", &value);
}

/* Appends an event for a session. event.offset holds the offset of its payload until all payloads
 * are encoded, because their buffer may move. */
static bool append_session_event(struct listing *listing, const ttr_event *made)
{
    ttr_event event = *made;
    event.offset = listing->payloads.n;
    buffer_add(&listing->payloads, made->payload, made->payload_size);
    buffer_add(&listing->events, &event, sizeof event);
    return !listing->payloads.failed && !listing->events.failed;
}

static bool add_session_event(void *ctx, const struct live_session *session)
{
    struct listing *listing = ctx;
    ttr_builder *builder = listing->builder;
    char url[3 * LIVE_URL_PART];
    ttr_batch batch;
    live_format_session_url(&listing->tcp.url, session->host, session->name, url, sizeof url);
    if (!live_add_session(listing->base.t, listing->id, url, session))
        return false;
    ttr_event_begin(builder, TTR_KIND_OBJECT, listing->time, NULL, url);
    append_text_field(builder, "host", session->host);
    append_text_field(builder, "session", session->name);
    ttr_add_uint(builder, "timer_us", session->timer_us);
    ttr_add_uint(builder, "streams", session->streams);
    ttr_add_uint(builder, "viewers", session->viewers);
    ttr_add_text(builder, "format", session->is_ctf2 ? "CTF 2" : "CTF 1.8");
    ttr_event *event = ttr_event_attributes(builder);
    event->link = session->id;
    event->source = listing->id;
    return ttr_event_build(builder, &batch, NULL) == TTR_OK &&
           append_session_event(listing, batch.event);
}

static ttr_status listing_read_batch(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct listing *listing = (struct listing *)base;
    size_t n = listing->events.n / sizeof(ttr_event) - listing->at;
    (void)error;
    if (n == 0)
        return TTR_END;
    ttr_event *event = (ttr_event *)(void *)listing->events.bytes + listing->at;
    n = n < LIVE_BATCH ? n : LIVE_BATCH;
    for (size_t i = 0; i < n; i++) {
        event[i].payload = listing->payloads.bytes + event[i].offset;
        event[i].offset = listing->at + i;
    }
    listing->at += n;
    *batch = (ttr_batch){.event = event, .n = (uint32_t)n};
    return TTR_OK;
}

static void listing_close(ttr_reader *base)
{
    struct listing *listing = (struct listing *)base;
    live_client_free(&listing->client);
    ttr_builder_free(listing->builder);
    buffer_free(&listing->events);
    buffer_free(&listing->payloads);
    alloc_free(&base->t->counted, listing, 1, sizeof *listing);
}

static bool listing_get_report(ttr_reader *base, size_t index, ttr_report *report)
{
    static const ttr_clock clock = {
        .name = "time of day", .frequency = 1000000000, .is_anchored = true};
    struct listing *listing = (struct listing *)base;
    if (index > 0)
        return false;
    report->format = format_ctf.name;
    report->version = "live sessions";
    report->compression = "";
    report->source = report->trace = listing->id;
    report->path = report->trace_path = ttr_text_get(base->t, base->t->sources[listing->id].path);
    report->bytes = listing->client.bytes + listing->client.link.received;
    report->events = listing->at;
    report->clocks = &clock;
    report->clocks_n = 1;
    report->order = base->order;
    return true;
}

static const struct reader_ops listing_ops = {
    .next = listing_read_batch, .close = listing_close, .report = listing_get_report};

static ttr_status init_listing(struct listing *listing, const char *path, ttr_error *error)
{
    ttr *t = listing->base.t;
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    listing->time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    listing->builder = ttr_builder_new(t);
    listing->id = context_add_source(t, path, format_ctf.name);
    if (!listing->builder || listing->id == UINT16_MAX)
        return fail_memory(error);
    return live_run_until_attached(&listing->client, t, error);
}

ttr_reader *live_open_list(ttr *t, const char *path, const struct live_url *url,
                           const struct live_config *how, ttr_error *error)
{
    struct listing *listing = alloc_zero(&t->counted, 1, sizeof *listing);
    if (!listing) {
        (void)fail_memory(error);
        return NULL;
    }
    listing->base = (ttr_reader){.t = t, .ops = &listing_ops, .order = TTR_ORDER_TIME};
    listing->tcp = (struct live_tcp){t, *url};
    buffer_init(&listing->events, &t->counted);
    buffer_init(&listing->payloads, &t->counted);
    live_init_client(&listing->client, &listing->tcp, how, add_session_event, listing);
    if (init_listing(listing, path, error) == TTR_OK)
        return &listing->base;
    listing_close(&listing->base);
    return NULL;
}
