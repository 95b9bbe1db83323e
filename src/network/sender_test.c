/* Tests of a sender: a child process sends, this process receives on the loopback interface. */
#include <tracetta/network.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/socket.h"
#include "network/sender.h"
#include "support/files.h"
#include "support/heph_packets.h"
#include "support/support.h"

#define PATIENCE_MS 60000u

static char work[] = "/tmp/sender_test.XXXXXX";

struct scene {
    ttr_receiver *receiver;
    char folder[64];
    char path[4096]; /* file of the last source */
    char address[128];
};

static void on_source(void *user_data, ttr_source_stage stage, const ttr_received *received)
{
    struct scene *scene = user_data;
    if (stage == TTR_SOURCE_ENDED)
        (void)snprintf(scene->path, sizeof scene->path, "%s", received->path);
}

static void scene_open(struct scene *scene, const char *address, const char *folder)
{
    ttr_error error = {0};
    const char *const addresses[] = {address};
    (void)snprintf(scene->folder, sizeof scene->folder, "%s/%s", work, folder);
    const ttr_receiver_options options = {.size = sizeof options,
                                          .addresses = addresses,
                                          .addresses_n = 1,
                                          .folder = scene->folder,
                                          .output = -1,
                                          .wake_fd = -1,
                                          .source = on_source,
                                          .user_data = scene};
    scene->receiver = ttr_receiver_open(&options, &error);
    if (!scene->receiver)
        fail_msg("%s: %s", address, error.text);
    (void)snprintf(scene->address, sizeof scene->address, "%s",
                   ttr_receiver_address(scene->receiver, 0));
}

/* Receives until `packets` packets have arrived. */
static void await_packets(struct scene *scene, uint64_t packets)
{
    ttr_receiver_totals totals = {.size = sizeof totals};
    uint64_t end_ms = socket_now_ms() + PATIENCE_MS;
    while (totals.packets < packets && socket_now_ms() < end_ms) {
        assert_int_equal(ttr_receiver_step(scene->receiver, 20, NULL), TTR_OK);
        ttr_receiver_sum(scene->receiver, &totals);
    }
    assert_true(totals.packets >= packets);
}

static void scene_close(struct scene *scene, ttr_receiver_totals *totals)
{
    totals->size = sizeof *totals;
    assert_int_equal(ttr_receiver_close(scene->receiver, totals, NULL), TTR_OK);
}

/* Sends in a child process, in pieces of 1000 bytes. The child exits with the status. */
static pid_t start_sending(const struct buffer *bytes, const ttr_sender_options *options)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    (void)close_range(3, ~0u, 0); /* the receiver's sockets are not the sender's */
    ttr_error error = {0};
    ttr_sender *sender = ttr_sender_open(options, &error);
    ttr_status status = sender ? TTR_OK : error.status;
    for (size_t at = 0; at < bytes->n && status == TTR_OK; at += 1000)
        status = ttr_sender_write(sender, bytes->bytes + at,
                                  bytes->n - at < 1000 ? bytes->n - at : 1000, &error);
    ttr_status closed = ttr_sender_close(sender, status == TTR_OK, NULL, &error);
    _exit((int)(status == TTR_OK ? closed : status));
}

static int wait_for(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void make_trace(struct buffer *bytes, uint32_t events)
{
    buffer_init(bytes, alloc_default());
    heph_packets_add_epoch(bytes, UINT64_C(1700000000000000000));
    for (uint32_t i = 0; i < events; i++)
        heph_packets_add_event(bytes, 1, i, "work");
}

static void expect_file(const char *path, const struct buffer *expected)
{
    static uint8_t got[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be opened", path);
    size_t n = fread(got, 1, sizeof got, file);
    (void)fclose(file);
    assert_int_equal(n, expected->n);
    assert_memory_equal(got, expected->bytes, n);
}

static void sent_trace_arrives_unchanged_by_each_transport(void **state)
{
    (void)state;
    char path[80];
    (void)snprintf(path, sizeof path, "unix:%s/socket", work);
    const char *const addresses[] = {"udp::0", "tcp::0", path};
    for (size_t i = 0; i < 3; i++) {
        struct scene scene;
        struct buffer bytes;
        char folder[16];
        ttr_receiver_totals totals;
        (void)snprintf(folder, sizeof folder, "way-%zu", i);
        make_trace(&bytes, 1000);
        scene_open(&scene, addresses[i], folder);
        const ttr_sender_options options = {.size = sizeof options, .address = scene.address};
        pid_t child = start_sending(&bytes, &options);
        await_packets(&scene, 1001);
        assert_int_equal(wait_for(child), TTR_OK);
        scene_close(&scene, &totals);
        assert_int_equal(totals.events, 1000);
        assert_int_equal(totals.lost + totals.garbage + totals.duplicates, 0);
        expect_file(scene.path, &bytes);
        buffer_free(&bytes);
    }
}

static void lost_connection_is_made_again_and_nothing_is_lost(void **state)
{
    (void)state;
    struct scene scene, second;
    struct buffer bytes;
    ttr_receiver_totals totals;
    make_trace(&bytes, 2000);
    scene_open(&scene, "tcp::0", "first");
    const ttr_sender_options options = {
        .size = sizeof options, .address = scene.address, .events_per_second = 2000};
    pid_t child = start_sending(&bytes, &options);
    await_packets(&scene, 300);
    scene_close(&scene, &totals);
    assert_in_range(totals.events, 299, 1999);
    scene_open(&second, scene.address, "second");
    await_packets(&second, 2001);
    assert_int_equal(wait_for(child), TTR_OK);
    scene_close(&second, &totals);
    assert_int_equal(totals.events, 2000);
    assert_int_equal(totals.lost, 0);
    buffer_free(&bytes);
}

static void rate_limits_the_events_per_second(void **state)
{
    (void)state;
    struct scene scene;
    struct buffer bytes;
    ttr_receiver_totals totals;
    make_trace(&bytes, 200);
    scene_open(&scene, "udp::0", "rate");
    const ttr_sender_options options = {
        .size = sizeof options, .address = scene.address, .events_per_second = 1000};
    uint64_t begin_ms = socket_now_ms();
    pid_t child = start_sending(&bytes, &options);
    await_packets(&scene, 201);
    assert_true(socket_now_ms() - begin_ms >= 190);
    assert_int_equal(wait_for(child), TTR_OK);
    scene_close(&scene, &totals);
    buffer_free(&bytes);
}

static void format_with_tables_cannot_be_sent_by_udp(void **state)
{
    (void)state;
    ttr_error error = {0};
    uint8_t bytes[128] = {0x10, 0x00, 0x04, 0x46, 0x78, 0x54, 0x16, 0x00};
    const ttr_sender_options options = {.size = sizeof options, .address = "udp::9"};
    ttr_sender *sender = ttr_sender_open(&options, &error);
    assert_non_null(sender);
    assert_int_equal(ttr_sender_write(sender, bytes, sizeof bytes, &error), TTR_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "tcp:"));
    (void)ttr_sender_close(sender, false, NULL, NULL);
}

static void peer_that_does_not_answer_is_an_error(void **state)
{
    (void)state;
    struct buffer bytes;
    ttr_error error = {0};
    char address[80];
    make_trace(&bytes, 10);
    (void)snprintf(address, sizeof address, "unix:%s/absent", work);
    const ttr_sender_options options = {
        .size = sizeof options, .address = address, .reconnect_ms = 1};
    ttr_sender *sender = ttr_sender_open(&options, &error);
    assert_non_null(sender);
    assert_int_equal(ttr_sender_write(sender, bytes.bytes, bytes.n, &error), TTR_E_IO);
    (void)ttr_sender_close(sender, false, NULL, NULL);
    buffer_free(&bytes);
}

static void packet_above_the_limit_of_udp_is_counted(void **state)
{
    (void)state;
    static char text[65520];
    struct buffer bytes;
    ttr_sent sent = {.size = sizeof sent};
    memset(text, 'x', sizeof text - 1);
    make_trace(&bytes, 10);
    heph_packets_add_event(&bytes, 1, 10, text);
    const ttr_sender_options options = {.size = sizeof options, .address = "udp::9"};
    ttr_sender *sender = ttr_sender_open(&options, NULL);
    assert_non_null(sender);
    assert_int_equal(ttr_sender_write(sender, bytes.bytes, bytes.n, NULL), TTR_OK);
    assert_int_equal(ttr_sender_flush(sender, NULL), TTR_OK);
    assert_int_equal(ttr_sender_close(sender, true, &sent, NULL), TTR_OK);
    assert_int_equal(sent.oversized, 1);
    assert_int_equal(sent.events, 10);
    buffer_free(&bytes);
}

static void packet_above_16_mib_is_counted_by_a_connection(void **state)
{
    (void)state;
    static uint8_t bytes[(16u << 20) + 1];
    const struct framed_packet packet = {.bytes = bytes, .n = sizeof bytes};
    ttr_sent sent = {.size = sizeof sent};
    const ttr_sender_options options = {.size = sizeof options, .address = "tcp::9"};
    ttr_sender *sender = ttr_sender_open(&options, NULL);
    assert_non_null(sender);
    assert_int_equal(sender_send_packet(sender, &packet, NULL), TTR_OK);
    assert_int_equal(sender->batch.n, 0);
    assert_int_equal(ttr_sender_close(sender, false, &sent, NULL), TTR_OK);
    assert_int_equal(sent.oversized, 1);
    assert_int_equal(sent.packets, 0);
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(work) ? 0 : 1;
}

static int end(void **state)
{
    (void)state;
    return files_remove(work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sent_trace_arrives_unchanged_by_each_transport),
        cmocka_unit_test(lost_connection_is_made_again_and_nothing_is_lost),
        cmocka_unit_test(rate_limits_the_events_per_second),
        cmocka_unit_test(format_with_tables_cannot_be_sent_by_udp),
        cmocka_unit_test(peer_that_does_not_answer_is_an_error),
        cmocka_unit_test(packet_above_the_limit_of_udp_is_counted),
        cmocka_unit_test(packet_above_16_mib_is_counted_by_a_connection),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
