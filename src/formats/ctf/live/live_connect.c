/* TCP connections to a relay daemon, and the steps until a session is attached or all sessions are
 * listed. */
#include "base/status.h"
#include "formats/ctf/live/ctf_live.h"

#define ANSWER_MS 10000u /* default of the ms to wait for an answer (live_link.h) */
#define DIAL_MS 5000u
#define OPEN_MS 30000u /* ms; opening fails if the session is not attached by then */
#define POLL_MS 100u

static bool should_continue(void *ctx)
{
    return context_should_continue(ctx);
}

static struct socket *dial_tcp(void *ctx, ttr_error *error)
{
    const struct live_tcp *tcp = ctx;
    struct socket_target target = {.host = tcp->url.daemon,
                                   .port = tcp->url.port,
                                   .family = tcp->url.family,
                                   .limit_ms = DIAL_MS,
                                   .goes_on = should_continue,
                                   .ctx = tcp->t};
    return socket_connect(&tcp->t->counted, &target, error);
}

void live_init_client(struct live_client *client, struct live_tcp *tcp,
                      const struct live_config *how, live_list list, void *list_ctx)
{
    const struct live_options options = {
        .dial = how->dial ? how->dial : dial_tcp,
        .dial_ctx = how->dial ? how->dial_ctx : tcp,
        .list = list,
        .list_ctx = list_ctx,
        .seek = how->seek ? how->seek : LIVE_SEEK_BEGIN,
        .reconnect_ms = how->reconnect_ms,
        .limit_ms = how->limit_ms ? how->limit_ms : ANSWER_MS,
        .poll_ms = how->poll_ms == LIVE_NO_POLL ? 0
                   : how->poll_ms               ? how->poll_ms
                                                : POLL_MS,
    };
    live_client_init(client, &tcp->t->counted, &tcp->url, &options);
}

ttr_status live_run_until_attached(struct live_client *client, const ttr *t, ttr_error *error)
{
    uint64_t deadline = socket_now_ms() + OPEN_MS;
    while (client->phase < LIVE_RUNNING) {
        ttr_status status = live_client_step(client, error);
        if (status != TTR_OK && status != TTR_AGAIN)
            return status == TTR_END ? TTR_OK : status;
        if (!context_should_continue(t))
            return fail(error, TTR_AGAIN, NO_OFFSET, "opening %s was ended on request",
                        client->url.daemon);
        if (socket_now_ms() >= deadline)
            return fail(error, TTR_E_IO, NO_OFFSET, "%s takes more than %u s to let us attach",
                        client->url.daemon, OPEN_MS / 1000);
        if (status == TTR_AGAIN)
            live_client_wait(client, LIVE_SLICE_MS);
    }
    return TTR_OK;
}
