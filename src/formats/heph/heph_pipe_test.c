/* Heph from a pipe: each event is returned before more bytes are read, and an epoch that comes
 * after the first event applies only to the events after it. */
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/endian.h"
#include "support/hexa.h"
#include "support/support.h"
#include "support/vectors.h"

/* A pipe that delivers one packet per read. */
struct packet_pipe {
    const uint8_t *bytes;
    size_t n, at;
    uint64_t events_sent;
    const uint64_t *events_returned;
    bool was_late; /* a read came before all sent events were returned */
};

static int64_t pull_packet(void *ctx, void *to, size_t n)
{
    struct packet_pipe *pipe = ctx;
    pipe->was_late = pipe->was_late || pipe->events_sent != *pipe->events_returned;
    if (pipe->at == pipe->n)
        return 0;
    const uint8_t *packet = pipe->bytes + pipe->at;
    const size_t size = load_u32be(packet + 4);
    assert_true(size <= n);
    memcpy(to, packet, size);
    pipe->at += size;
    pipe->events_sent += packet[0] == 0xc1;
    return (int64_t)size;
}

/* Reads a vector packet by packet and checks the times of its events and the codes of its notes. */
static void check_pipe(const char *vector, const int64_t *times, size_t n, const char *note)
{
    struct hexa hexa;
    ttr_error error = {0};
    ttr_batch batch;
    ttr_status status;
    uint64_t returned = 0;
    vectors_load(&hexa, vector);
    ttr *t = ttr_new(NULL);
    struct packet_pipe pipe = {.bytes = hexa.bytes, .n = hexa.n, .events_returned = &returned};
    ttr_reader *reader = ttr_open_pull(t, pull_packet, &pipe, "pipe", NULL, &error);
    if (!reader)
        fail_msg("%s: %s", vector, error.text);
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            assert_true(returned < n);
            assert_int_equal(ttr_batch_at(&batch, i)->time, times[returned]);
            returned++;
        }
    assert_int_equal(status, TTR_END);
    assert_int_equal(returned, n);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_int_equal(report.notes_n, note ? 1 : 0);
    if (note)
        assert_string_equal(report.notes[0].code, note);
    assert_false(pipe.was_late);
    ttr_close(reader);
    ttr_free(t);
    hexa_free(&hexa);
}

static void event_of_pipe_is_returned_before_more_is_read(void **state)
{
    (void)state;
    check_pipe("tests/cli/traces/small_heph.hexa",
               (const int64_t[]){1700000000000001000, 1700000000000002000, 1700000000000004000}, 3,
               NULL);
}

static void event_without_epoch_is_returned_before_more_is_read(void **state)
{
    (void)state;
    check_pipe("src/formats/heph/vectors/no-epoch.hexa", (const int64_t[]){1, 2}, 2, NULL);
}

static void late_epoch_of_pipe_applies_to_later_events(void **state)
{
    (void)state;
    check_pipe("src/formats/heph/vectors-file/epoch-last.hexa", (const int64_t[]){1}, 1,
               "heph.late-epoch");
    check_pipe("src/formats/heph/vectors-file/two-epochs.hexa", (const int64_t[]){1001, 2002}, 2,
               "heph.late-epoch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_of_pipe_is_returned_before_more_is_read),
        cmocka_unit_test(event_without_epoch_is_returned_before_more_is_read),
        cmocka_unit_test(late_epoch_of_pipe_applies_to_later_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
