/* Fuzzes live reading: the input defines the bytes that a relay daemon sends. Reading must end,
 * release all resources, use memory in proportion to the input, and return events in order unless
 * it reports late events.
 *
 * Most bytes of a conversation are zero, so the input is run-length coded: [0] options, then
 * repeatedly a count n u8, n bytes, and a count of zeros / 16 u8. If both counts are 0, the
 * connection is lost and made again. Options: bits 0-3: the bytes arrive in pieces of 1 << that
 * (15: as large as possible); bit 4: lost connections stay lost; bit 5: only lists the sessions;
 * bit 6: strict; bit 7: a time range with an end. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "formats/ctf/live/ctf_live.h"
#include "fuzz/fuzz.h"

#define BYTES_MAX ((size_t)128 << 10)
#define CALLS_MAX 200000u

struct daemon {
    struct buffer bytes; /* all bytes that the daemon sends */
    size_t at, connections;
    size_t piece;
    size_t cut; /* offset from which on bytes are sent on the second connection */
    const struct alloc *alloc;
    int ends[3]; /* the daemon's ends of the connections */
};

static void cook(struct daemon *daemon, const uint8_t *recipe, size_t n)
{
    size_t at = 1;
    while (at < n && daemon->bytes.n < BYTES_MAX) {
        size_t literal = recipe[at] < n - at - 1 ? recipe[at] : n - at - 1;
        buffer_add(&daemon->bytes, recipe + at + 1, literal);
        at += 1 + literal;
        size_t zeros = at < n ? recipe[at++] : 0;
        buffer_add_zeros(&daemon->bytes, zeros * 16);
        if (literal == 0 && zeros == 0)
            daemon->cut = daemon->bytes.n;
    }
}

/* Returns a connection on which the daemon has sent its bytes up to the cut and closed its end. */
static struct socket *dial(void *ctx, ttr_error *error)
{
    struct daemon *daemon = ctx;
    int pair[2];
    size_t end = daemon->connections == 0 && daemon->cut ? daemon->cut : daemon->bytes.n;
    if (daemon->connections == 2 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        /* such an error is not retried, unlike a lost connection */
        error->status = TTR_E_UNSUPPORTED;
        return NULL;
    }
    daemon->ends[daemon->connections++] = pair[1];
    size_t least = daemon->bytes.n / 128; /* the overhead of each piece */
    while (daemon->at < end) {
        size_t piece = daemon->piece > least ? daemon->piece : least;
        piece = end - daemon->at < piece ? end - daemon->at : piece;
        if (send(pair[1], daemon->bytes.bytes + daemon->at, piece, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            break;
        daemon->at += piece;
    }
    (void)shutdown(pair[1], SHUT_WR);
    return socket_adopt(daemon->alloc, pair[0], error);
}

static bool says_late(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        for (size_t k = 0; k < report.notes_n; k++)
            if (strcmp(report.notes[k].code, "live.late") == 0)
                return true;
    return false;
}

static void touch(ttr *t, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        continue;
}

static void read_all(ttr *t, ttr_reader *reader)
{
    int64_t last = INT64_MIN;
    bool is_ordered = true;
    ttr_batch batch;
    unsigned calls = 0;
    ttr_status status = TTR_OK;
    while (status == TTR_OK || status == TTR_AGAIN) {
        status = ttr_read(reader, &batch, NULL);
        for (uint32_t i = 0; status == TTR_OK && i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            is_ordered = is_ordered && event->time >= last;
            last = event->time;
            touch(t, event);
        }
        if (++calls > CALLS_MAX)
            fuzz_stop("reading does not end");
    }
    if (!is_ordered && !says_late(reader))
        fuzz_stop("events are out of order");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct support_heap heap;
    uint8_t knobs = n ? bytes[0] : 0;
    ttr *t = fuzz_context(&heap);
    struct daemon daemon = {.piece = (knobs & 15) == 15 ? 32768 : (size_t)1 << (knobs & 15),
                            .alloc = alloc_default()};
    buffer_init(&daemon.bytes, alloc_default());
    cook(&daemon, bytes, n);
    struct live_config how = {.dial = dial,
                              .dial_ctx = &daemon,
                              .reconnect_ms = knobs & 16 ? 0 : 1000,
                              .limit_ms = 1000,
                              .poll_ms = LIVE_NO_POLL,
                              .patience_ms = 50};
    ttr_read_options options = {.size = sizeof options, .flags = knobs & 64 ? TTR_READ_STRICT : 0};
    ttr_reader *reader = ctf_open_live_with(
        t, knobs & 32 ? "net://here" : "net://here/host/raton/auto", &how, &options, NULL);
    if (reader && knobs & 128)
        reader_set_range(reader, INT64_MIN, 60);
    if (reader)
        read_all(t, reader);
    ttr_close(reader);
    fuzz_context_free(t, &heap, daemon.bytes.n, 0);
    for (size_t i = 0; i < daemon.connections; i++)
        (void)close(daemon.ends[i]);
    buffer_free(&daemon.bytes);
    return 0;
}
