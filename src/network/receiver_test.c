/* Tests of a receiver with sockets on the loopback interface: what it stores, what it counts, and
 * what it does with hostile senders. The packets are made by hand. */
#include <tracetta/network.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "formats/open.h"
#include "io/socket.h"
#include "network/receiver.h"
#include "support/files.h"
#include "support/heph_packets.h"
#include "support/receiver_scene.h"
#include "support/support.h"

#define EPOCH UINT64_C(1700000000000000000)
static char work[] = "/tmp/receiver_test.XXXXXX";

/* Appends an epoch and the events from `from` to `to` of stream 1. */
static void add_packets(struct buffer *bytes, uint32_t from, uint32_t to)
{
    heph_packets_add_epoch(bytes, EPOCH);
    for (uint32_t i = from; i < to; i++)
        heph_packets_add_event(bytes, 1, i, "work");
}

static void read_file(const char *path, struct buffer *to)
{
    uint8_t piece[4096];
    size_t n;
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be opened", path);
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        buffer_add(to, piece, n);
    (void)fclose(file);
}

static void expect_file(const char *path, const struct buffer *expected)
{
    struct buffer got;
    buffer_init(&got, alloc_default());
    read_file(path, &got);
    assert_int_equal(got.n, expected->n);
    assert_memory_equal(got.bytes, expected->bytes, got.n);
    buffer_free(&got);
}

static void check_transport(const char *address, const char *folder)
{
    struct receiver_scene scene = {.work = work, .options.output = -1};
    struct buffer bytes;
    ttr_receiver_totals totals;
    buffer_init(&bytes, alloc_default());
    add_packets(&bytes, 0, 20);
    receiver_scene_open(&scene, address, folder);
    int fd = receiver_scene_dial(&scene);
    receiver_scene_send(fd, &bytes);
    receiver_scene_await_packets(&scene, 21);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(scene.begun, 1);
    assert_int_equal(scene.ended, 1);
    assert_true(scene.last.has_epoch && scene.last.epoch_ns == EPOCH);
    assert_true(scene.last.is_complete);
    assert_string_equal(scene.last.format, "heph");
    assert_int_equal(totals.events, 20);
    assert_int_equal(totals.lost + totals.before_first + totals.duplicates + totals.garbage, 0);
    expect_file(scene.last_path, &bytes);
    buffer_free(&bytes);
}

static void packets_are_stored_as_they_came(void **state)
{
    (void)state;
    char path[80];
    check_transport("udp::0", "by-udp");
    check_transport("tcp::0", "by-tcp");
    (void)snprintf(path, sizeof path, "unix:%s/socket", work);
    check_transport(path, "by-unix");
    assert_int_not_equal(access(path + 5, F_OK), 0);
}

/* Sends events 0 to n - 1 in datagrams of one to eight packets, of which some are dropped, repeated
 * or delayed by up to 30 datagrams. The receiver must count exactly what was done. */
static void check_proxy(uint64_t seed)
{
    enum { DATAGRAMS = 600, DELAY_MAX = 30 };
    static struct {
        struct buffer bytes;
        uint64_t when;
        uint32_t events;
    } datagrams[2 * DATAGRAMS], moved;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    ttr_receiver_totals totals;
    uint64_t random = seed, dropped = 0, repeated = 0, packets = 0;
    uint32_t counter = 0;
    size_t n = 0;
    char folder[32];
    for (uint64_t i = 0; i < DATAGRAMS; i++) {
        uint64_t luck = support_random(&random) % 100;
        uint32_t events = 1 + (uint32_t)(support_random(&random) % 8);
        bool is_kept = i + 1 == DATAGRAMS || i == 0;
        unsigned copies = is_kept ? 1 : luck < 10 ? 0 : luck < 20 ? 2 : 1;
        dropped += copies == 0 ? events : 0;
        repeated += copies == 2 ? events : 0;
        for (unsigned copy = 0; copy < copies; copy++) {
            bool is_late = !is_kept && support_random(&random) % 5 == 0;
            size_t at = n++;
            buffer_init(&datagrams[at].bytes, alloc_default());
            for (uint32_t j = 0; j < events; j++)
                heph_packets_add_event(&datagrams[at].bytes, 1, counter + j, "work");
            datagrams[at].when = i + (is_late ? support_random(&random) % DELAY_MAX : 0);
            datagrams[at].events = events;
            for (; at > 0 && datagrams[at - 1].when > datagrams[at].when; at--) {
                moved = datagrams[at];
                datagrams[at] = datagrams[at - 1];
                datagrams[at - 1] = moved;
            }
        }
        counter += events;
    }
    (void)snprintf(folder, sizeof folder, "proxy-%u", (unsigned)seed);
    receiver_scene_open(&scene, "udp::0", folder);
    int fd = receiver_scene_dial(&scene);
    for (size_t i = 0; i < n; i++) {
        receiver_scene_send(fd, &datagrams[i].bytes);
        packets += datagrams[i].events;
        if (i % 20 == 19)
            receiver_scene_await_packets(&scene, packets);
        buffer_free(&datagrams[i].bytes);
    }
    receiver_scene_await_packets(&scene, packets);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.kernel_drops, 0);
    assert_int_equal(totals.lost + totals.before_first, dropped);
    assert_int_equal(totals.duplicates, repeated);
    assert_int_equal(totals.events, counter - dropped + repeated);
}

static void losses_of_a_bad_network_are_counted_exactly(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= support_rounds(3, 50); seed++)
        check_proxy(seed);
}

static void new_epoch_of_a_peer_is_another_source(void **state)
{
    (void)state;
    static const char *const transports[] = {"udp::0", "tcp::0"};
    for (size_t i = 0; i < 2; i++) {
        struct receiver_scene scene = {.work = work, .options.output = -1};
        struct buffer bytes;
        ttr_receiver_totals totals;
        buffer_init(&bytes, alloc_default());
        receiver_scene_open(&scene, transports[i], i ? "restart-tcp" : "restart-udp");
        int fd = receiver_scene_dial(&scene);
        add_packets(&bytes, 0, 10);
        heph_packets_add_epoch(&bytes, EPOCH + 5);
        heph_packets_add_event(&bytes, 1, 0, "work");
        receiver_scene_send(fd, &bytes);
        receiver_scene_await_packets(&scene, 13);
        (void)close(fd);
        receiver_scene_close(&scene, &totals);
        assert_int_equal(totals.sources, 2);
        assert_int_equal(scene.ended, 2);
        assert_int_equal(totals.duplicates + totals.lost, 0);
        assert_int_equal(files_count(scene.folder), 2);
        buffer_free(&bytes);
    }
}

static void sender_that_restarts_too_often_is_blocked(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options = {.output = -1, .sessions_max = 5}};
    struct buffer bytes;
    ttr_receiver_totals totals = {.size = sizeof totals};
    buffer_init(&bytes, alloc_default());
    receiver_scene_open(&scene, "udp::0", "blocked");
    int fd = receiver_scene_dial(&scene), other = receiver_scene_dial(&scene);
    for (uint64_t i = 0; i < 100; i++) {
        buffer_clear(&bytes);
        heph_packets_add_epoch(&bytes, EPOCH + i);
        receiver_scene_send(fd, &bytes);
        receiver_scene_step(&scene, 5);
    }
    buffer_clear(&bytes);
    add_packets(&bytes, 0, 10);
    receiver_scene_send(other, &bytes);
    receiver_scene_await_packets(&scene, 5 + 11);
    (void)close(fd);
    (void)close(other);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(files_count(scene.folder), 5 + 1);
    assert_int_equal(totals.refused_packets, 95);
    assert_int_equal(totals.refused, 1);
    assert_int_equal(scene.refused, 1);
    assert_int_equal(totals.events, 10);
    buffer_free(&bytes);
}

/* Each sender of a datagram has a port of its own. */
static void senders_of_many_ports_are_limited_together(void **state)
{
    (void)state;
    static const char *const transports[] = {"udp::0", "tcp::0"};
    for (size_t k = 0; k < 2; k++) {
        struct receiver_scene scene = {.work = work, .options = {.output = -1, .begun_max = 5}};
        struct buffer bytes;
        ttr_receiver_totals totals = {.size = sizeof totals};
        buffer_init(&bytes, alloc_default());
        receiver_scene_open(&scene, transports[k], k ? "ports-tcp" : "ports-udp");
        for (uint64_t i = 0; i < 20; i++) {
            buffer_clear(&bytes);
            heph_packets_add_epoch(&bytes, EPOCH + i);
            int fd = receiver_scene_dial(&scene);
            receiver_scene_send(fd, &bytes);
            receiver_scene_step(&scene, 5);
            receiver_scene_step(&scene, 5);
            (void)close(fd);
            receiver_scene_step(&scene, 5);
        }
        receiver_scene_close(&scene, &totals);
        assert_int_equal(files_count(scene.folder), 5);
        assert_int_equal(totals.sources, 5);
        assert_int_equal(totals.refused_packets, 15);
        assert_int_equal(totals.refused, 15);
        assert_non_null(strstr(scene.reason, "too many senders"));
        buffer_free(&bytes);
    }
}

static void reconnection_with_the_same_epoch_resumes_its_source(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    struct buffer bytes, expected;
    ttr_receiver_totals totals;
    buffer_init(&bytes, alloc_default());
    buffer_init(&expected, alloc_default());
    receiver_scene_open(&scene, "tcp::0", "resume");
    int fd = receiver_scene_dial(&scene);
    add_packets(&bytes, 0, 10);
    buffer_add(&expected, bytes.bytes, bytes.n);
    receiver_scene_send(fd, &bytes);
    receiver_scene_await_packets(&scene, 11);
    (void)close(fd);
    receiver_scene_step(&scene, 20);
    fd = receiver_scene_dial(&scene);
    buffer_clear(&bytes);
    add_packets(&bytes, 5, 15); /* 5 to 9 are repeated */
    receiver_scene_send(fd, &bytes);
    receiver_scene_await_packets(&scene, 11 + 6);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    heph_packets_add_epoch(&expected, EPOCH);
    for (uint32_t i = 10; i < 15; i++)
        heph_packets_add_event(&expected, 1, i, "work");
    assert_int_equal(totals.sources, 1);
    assert_int_equal(scene.last.resumed, 1);
    assert_int_equal(totals.lost, 0);
    assert_int_equal(totals.events, 15);
    expect_file(scene.last_path, &expected);
    buffer_free(&bytes);
    buffer_free(&expected);
}

/* Two senders of one epoch: the first one has nothing to send while the second one connects. */
static void silent_sender_keeps_its_connection_beside_another_of_its_epoch(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    struct buffer bytes, events;
    ttr_receiver_totals totals;
    buffer_init(&bytes, alloc_default());
    buffer_init(&events, alloc_default());
    receiver_scene_open(&scene, "tcp::0", "silent-beside");
    add_packets(&bytes, 0, 10);
    int first = receiver_scene_dial(&scene);
    receiver_scene_send(first, &bytes);
    receiver_scene_await_packets(&scene, 11);
    scene.receiver->sources[0]->heard_ms -= 5000;
    int second = receiver_scene_dial(&scene);
    receiver_scene_send(second, &bytes);
    receiver_scene_await_packets(&scene, 22);
    for (uint32_t i = 10; i < 15; i++)
        heph_packets_add_event(&events, 1, i, "work");
    receiver_scene_send(first, &events);
    receiver_scene_await_packets(&scene, 27);
    (void)close(first);
    (void)close(second);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.sources, 2);
    assert_int_equal(totals.events, 25);
    assert_int_equal(totals.lost, 0);
    buffer_free(&bytes);
    buffer_free(&events);
}

/* Sends bytes over a new connection, which then ends; `packets`: sum after it. */
static void send_and_hang_up(struct receiver_scene *scene, const struct buffer *bytes,
                             uint64_t packets)
{
    int fd = receiver_scene_dial(scene);
    receiver_scene_send(fd, bytes);
    receiver_scene_await_packets(scene, packets);
    (void)close(fd);
    receiver_scene_step(scene, 20);
}

static void later_sender_of_the_same_epoch_is_another_source(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    struct buffer bytes;
    ttr_receiver_totals totals;
    buffer_init(&bytes, alloc_default());
    receiver_scene_open(&scene, "tcp::0", "later");
    add_packets(&bytes, 0, 10);
    send_and_hang_up(&scene, &bytes, 11);
    buffer_clear(&bytes);
    heph_packets_add_epoch(&bytes, EPOCH);
    for (uint32_t i = 0; i < 10; i++)
        heph_packets_add_event(&bytes, 1, i, "other");
    send_and_hang_up(&scene, &bytes, 11 + 11);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.sources, 2);
    assert_int_equal(totals.events, 20);
    assert_int_equal(totals.lost, 0);
    expect_file(scene.last_path, &bytes);
    buffer_free(&bytes);
}

/* Two senders of one epoch are cut off, and come back in reverse order. */
static void senders_that_name_their_ports_resume_their_own_sources(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    struct buffer bytes;
    ttr_receiver_totals totals;
    uint16_t port[2];
    buffer_init(&bytes, alloc_default());
    receiver_scene_open(&scene, "tcp::0", "ports");
    for (uint32_t i = 0; i < 2; i++) {
        buffer_clear(&bytes);
        heph_packets_add_epoch(&bytes, EPOCH);
        for (uint32_t k = 0; k < 10 + i; k++)
            heph_packets_add_event(&bytes, 1, k, i ? "one" : "zero");
        send_and_hang_up(&scene, &bytes, 11 + i * 12);
        port[i] = address_port(&scene.receiver->sources[i]->address);
        scene.receiver->sources[0]->received.epoch_ns = EPOCH + 1; /* do not resume it yet */
    }
    scene.receiver->sources[0]->received.epoch_ns = EPOCH;
    for (uint32_t i = 2; i-- > 0;) {
        buffer_clear(&bytes);
        format_find("heph")->transfer->write_ports(&bytes, &port[i], 1);
        heph_packets_add_epoch(&bytes, EPOCH);
        for (uint32_t k = 5; k < 20; k++)
            heph_packets_add_event(&bytes, 1, k, i ? "one" : "zero");
        send_and_hang_up(&scene, &bytes, 11 + 12 + (i ? 1 + 9 : 2 + 9 + 10));
    }
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.sources, 2);
    assert_int_equal(totals.events, 40);
    assert_int_equal(totals.lost, 0);
    assert_int_equal(scene.last.resumed, 1);
    buffer_free(&bytes);
}

/* bytes of the packet with the counters of one stream */
#define COUNTERS_BYTES (8u + 2u + 17u + 8u)

static void each_rotated_file_starts_with_the_epoch(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options = {.output = -1, .rotate_bytes = 300}};
    struct buffer bytes, got, head;
    ttr_receiver_totals totals;
    uint32_t events = 0;
    buffer_init(&bytes, alloc_default());
    buffer_init(&got, alloc_default());
    buffer_init(&head, alloc_default());
    heph_packets_add_epoch(&head, EPOCH);
    receiver_scene_open(&scene, "udp::0", "rotate");
    int fd = receiver_scene_dial(&scene);
    add_packets(&bytes, 0, 20);
    receiver_scene_send(fd, &bytes);
    receiver_scene_await_packets(&scene, 21);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(scene.last.files, 4); /* (300 - 23) / 46 = 6 events per file */
    assert_int_equal(files_count(scene.folder), 4);
    DIR *folder = opendir(scene.folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[400];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", scene.folder, entry->d_name);
        buffer_clear(&got);
        read_file(path, &got);
        assert_in_range(got.n, head.n + 46, 300 + COUNTERS_BYTES);
        assert_memory_equal(got.bytes, head.bytes, head.n);
        if ((got.n - head.n) % 46) /* the file continues another one */
            got.n -= COUNTERS_BYTES;
        assert_int_equal((got.n - head.n) % 46, 0);
        events += (uint32_t)(got.n - head.n) / 46;
    }
    (void)closedir(folder);
    assert_int_equal(events, 20);
    buffer_free(&bytes);
    buffer_free(&got);
    buffer_free(&head);
}

/* Returns the sums of the reports of all files of a folder, and the number of gap events. */
static ttr_report sum_reports(const char *path, unsigned *named_gaps)
{
    ttr_batch batch;
    ttr_report sum = {.size = sizeof sum}, report = {.size = sizeof report};
    ttr_error error = {0};
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open(t, path, NULL, &error);
    if (!reader)
        fail_msg("%s: %s", path, error.text);
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            *named_gaps +=
                ttr_batch_at(&batch, i)->kind == TTR_KIND_GAP && ttr_batch_at(&batch, i)->name != 0;
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        sum.events += report.events;
        sum.lost += report.lost;
        sum.notes_n += report.notes_n;
    }
    ttr_close(reader);
    ttr_free(t);
    return sum;
}

/* Events 12 to 16 are lost between the first and the second file. */
static void gap_across_a_rotation_is_counted_once(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options = {.output = -1, .rotate_bytes = 600}};
    struct buffer bytes;
    ttr_receiver_totals totals;
    unsigned gaps = 0;
    buffer_init(&bytes, alloc_default());
    receiver_scene_open(&scene, "udp::0", "rotated-gap");
    int fd = receiver_scene_dial(&scene);
    add_packets(&bytes, 0, 12); /* 23 + 12 * 46 = 575 bytes */
    receiver_scene_send(fd, &bytes);
    receiver_scene_await_packets(&scene, 13);
    buffer_clear(&bytes);
    for (uint32_t i = 17; i < 29; i++)
        heph_packets_add_event(&bytes, 1, i, "work");
    receiver_scene_send(fd, &bytes);
    receiver_scene_await_packets(&scene, 25);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.lost, 5);
    assert_int_equal(scene.last.files, 2);
    ttr_report sum = sum_reports(scene.folder, &gaps);
    assert_int_equal(sum.events, 24);
    assert_int_equal(sum.lost, 5);
    assert_int_equal(sum.notes_n, 0);
    assert_int_equal(gaps, 0);
    buffer_free(&bytes);
}

/* Datagrams fill the kernel's buffer while the receiver does not read. */
static void drops_of_the_kernel_are_counted_and_in_the_file(void **state)
{
    (void)state;
    enum { DATAGRAMS = 15000, EVENTS = 30 };
    struct receiver_scene scene = {.work = work, .options.output = -1};
    struct buffer bytes;
    ttr_receiver_totals totals = {.size = sizeof totals};
    unsigned gaps = 0;
    uint64_t before;
    uint32_t counter = 0;
    buffer_init(&bytes, alloc_default());
    receiver_scene_open(&scene, "udp::0", "kernel-drops");
    int fd = receiver_scene_dial(&scene);
    heph_packets_add_epoch(&bytes, EPOCH);
    receiver_scene_send(fd, &bytes);
    receiver_scene_await_packets(&scene, 1);
    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        buffer_clear(&bytes);
        for (uint32_t j = 0; j < EVENTS; j++)
            heph_packets_add_event(&bytes, 1, counter++, "work");
        receiver_scene_send(fd, &bytes);
    }
    do {
        before = totals.events;
        receiver_scene_step(&scene, 10);
        ttr_receiver_sum(scene.receiver, &totals);
    } while (totals.events > before);
    buffer_clear(&bytes);
    for (uint32_t j = 0; j < EVENTS; j++)
        heph_packets_add_event(&bytes, 1, counter++, "work");
    receiver_scene_send(fd, &bytes);
    receiver_scene_await_packets(&scene, totals.packets + EVENTS);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    if (totals.kernel_drops == 0) {
        buffer_free(&bytes);
        skip(); /* the kernel's buffer has room for all */
    }
    assert_int_equal(totals.lost, totals.kernel_drops * EVENTS);
    assert_int_equal(totals.events + totals.lost, counter);
    ttr_report sum = sum_reports(scene.folder, &gaps);
    assert_int_equal(sum.lost, totals.lost);
    assert_int_equal(gaps, 1);
    buffer_free(&bytes);
}

static uint64_t count_events(const char *path, int64_t *first_ns, int64_t *last_ns)
{
    uint64_t events = 0;
    ttr_batch batch;
    ttr_error error = {0};
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_sort(ttr_open(t, path, NULL, &error), &error);
    if (!reader)
        fail_msg("%s: %s", path, error.text);
    ttr_status status;
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind != TTR_KIND_SPAN)
                fail_msg("event %u has kind %u", i, event->kind);
            *first_ns = events++ ? *first_ns : event->time;
            *last_ns = event->time;
        }
    assert_int_equal(status, TTR_END);
    ttr_close(reader);
    ttr_free(t);
    return events;
}

static void merged_trace_has_all_sources_on_one_clock(void **state)
{
    (void)state;
    char path[64];
    struct buffer one, two;
    ttr_receiver_totals totals;
    int64_t first_ns = 0, last_ns = 0;
    (void)snprintf(path, sizeof path, "%s/merged.heph", work);
    struct receiver_scene scene = {
        .work = work, .options.output = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600)};
    buffer_init(&one, alloc_default());
    buffer_init(&two, alloc_default());
    receiver_scene_open(&scene, "udp::0", NULL);
    int fd = receiver_scene_dial(&scene), fd2 = receiver_scene_dial(&scene);
    add_packets(&one, 0, 10);
    for (uint32_t i = 0; i < 10; i++) /* the epoch of the second source comes last */
        heph_packets_add_event(&two, 1, i, "work");
    heph_packets_add_epoch(&two, EPOCH + 1000000);
    receiver_scene_send(fd, &one);
    receiver_scene_send(fd2, &two);
    receiver_scene_await_packets(&scene, 22);
    (void)close(fd);
    (void)close(fd2);
    receiver_scene_close(&scene, &totals);
    (void)close(scene.options.output);
    assert_int_equal(totals.sources, 2);
    assert_int_equal(count_events(path, &first_ns, &last_ns), 20);
    assert_int_equal(first_ns, EPOCH);
    assert_int_equal(last_ns, EPOCH + 1000000 + 9);
    buffer_free(&one);
    buffer_free(&two);
}

static void full_queue_drops_the_oldest_packets_and_counts_them(void **state)
{
    (void)state;
    enum { DATAGRAMS = 200, EVENTS = 20 };
    int pipe_fds[2];
    struct buffer bytes;
    ttr_receiver_totals totals = {.size = sizeof totals};
    assert_int_equal(pipe(pipe_fds), 0);
    (void)fcntl(pipe_fds[1], F_SETPIPE_SZ, 4096);
    struct receiver_scene scene = {.work = work,
                                   .options = {.output = pipe_fds[1], .queue_bytes = 10000}};
    buffer_init(&bytes, alloc_default());
    receiver_scene_open(&scene, "udp::0", NULL);
    int fd = receiver_scene_dial(&scene);
    heph_packets_add_epoch(&bytes, EPOCH);
    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        for (uint32_t j = 0; j < EVENTS; j++)
            heph_packets_add_event(&bytes, 1, i * EVENTS + j, "work");
        receiver_scene_send(fd, &bytes);
        buffer_clear(&bytes);
        receiver_scene_await_packets(&scene, 1 + (i + 1) * EVENTS);
    }
    ttr_receiver_sum(scene.receiver, &totals);
    assert_int_equal(totals.lost, 0); /* all have arrived: the network lost none */
    assert_int_equal(totals.kernel_drops, 0);
    /* the pipe, the prepared bytes and the queue hold the others, of 46 bytes each */
    uint64_t kept = DATAGRAMS * EVENTS - totals.dropped_events;
    assert_in_range(kept, 10000 / 46, (4096 + 32768 + 10000 + 3 * 46) / 46);
    (void)close(pipe_fds[0]); /* the receiver fails to write the rest */
    (void)close(fd);
    assert_int_equal(ttr_receiver_close(scene.receiver, NULL, NULL), TTR_E_IO);
    (void)close(pipe_fds[1]);
    buffer_free(&bytes);
}

static void full_disk_keeps_complete_packets(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = open("/dev/full", O_WRONLY)};
    struct buffer bytes;
    ttr_error error = {0};
    ttr_status status = TTR_OK;
    if (scene.options.output < 0)
        skip();
    buffer_init(&bytes, alloc_default());
    add_packets(&bytes, 0, 10);
    receiver_scene_open(&scene, "udp::0", NULL);
    int fd = receiver_scene_dial(&scene);
    receiver_scene_send(fd, &bytes);
    for (unsigned i = 0; i < 100 && status == TTR_OK; i++)
        status = ttr_receiver_step(scene.receiver, 100, &error);
    assert_int_equal(status, TTR_E_IO);
    assert_int_equal(error.sys, ENOSPC);
    assert_int_equal(ttr_receiver_step(scene.receiver, 100, &error), TTR_E_IO);
    assert_int_equal(ttr_receiver_close(scene.receiver, NULL, &error), TTR_E_IO);
    (void)close(fd);
    (void)close(scene.options.output);
    buffer_free(&bytes);
}

/* Sends what the n-th hostile sender of a kind sends. */
static void send_hostile(unsigned kind, int fd, uint64_t *random)
{
    struct buffer bytes;
    buffer_init(&bytes, alloc_default());
    switch (kind) {
    case 0: /* random bytes */
        for (unsigned i = 0; i < 1000; i++)
            buffer_add_byte(&bytes, (uint8_t)support_random(random));
        break;
    case 1: /* a packet of 4 GiB */
        buffer_add(&bytes, "\xC1\xFC\x1F\xB7\xFF\xFF\xFF\xFFxxxxxxxxxxxxxxxx", 24);
        buffer_add_zeros(&bytes, 1000);
        break;
    case 2: /* lying counters */
        for (unsigned i = 0; i < 20; i++)
            heph_packets_add_event(&bytes, 1, (uint32_t)support_random(random), "lie");
        break;
    case 3: /* another stream in each packet */
        for (unsigned i = 0; i < 20; i++)
            heph_packets_add_event(&bytes, (uint32_t)support_random(random), 0, "");
        break;
    case 4: /* a magic number in each string, and a torn packet */
        for (unsigned i = 0; i < 5; i++)
            heph_packets_add_event(&bytes, 1, i, "\xC1\xFC\x1F\xB7\x01\x02");
        bytes.n -= 3;
        break;
    default: /* the start of a packet, and then silence */
        buffer_add(&bytes, "\xC1\xFC\x1F\xB7\x01", 5);
        break;
    }
    (void)send(fd, bytes.bytes, bytes.n, MSG_NOSIGNAL | MSG_DONTWAIT);
    buffer_free(&bytes);
}

static void honest_sender_loses_nothing_beside_16_hostile_ones(void **state)
{
    (void)state;
    enum { HOSTILE = 16, ROUNDS = 60, EVENTS = 20 };
    static const char *const transports[] = {"udp::0", "tcp::0"};
    for (size_t way = 0; way < 2; way++) {
        struct receiver_scene scene = {.work = work, .options.output = -1};
        struct buffer bytes, sent;
        ttr_receiver_totals totals;
        uint64_t random = 42, found = 0;
        int hostile[HOSTILE];
        buffer_init(&bytes, alloc_default());
        buffer_init(&sent, alloc_default());
        receiver_scene_open(&scene, transports[way], way ? "hostile-tcp" : "hostile-udp");
        for (unsigned i = 0; i < HOSTILE; i++)
            hostile[i] = receiver_scene_dial(&scene);
        int honest = receiver_scene_dial(&scene);
        heph_packets_add_epoch(&bytes, EPOCH);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            for (unsigned i = 0; i < HOSTILE; i++)
                send_hostile((i + round) % 6, hostile[i], &random);
            for (uint32_t j = 0; j < EVENTS; j++)
                heph_packets_add_event(&bytes, 1, round * EVENTS + j, "work");
            receiver_scene_send(honest, &bytes);
            buffer_add(&sent, bytes.bytes, bytes.n);
            buffer_clear(&bytes);
            for (unsigned i = 0; i < 4; i++)
                receiver_scene_step(&scene, 5);
        }
        (void)close(honest);
        for (unsigned i = 0; i < HOSTILE; i++)
            (void)close(hostile[i]);
        receiver_scene_close(&scene, &totals);
        assert_true(totals.garbage > 0);
        DIR *folder = opendir(scene.folder);
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            char path[400];
            struct buffer got;
            buffer_init(&got, alloc_default());
            (void)snprintf(path, sizeof path, "%s/%s", scene.folder, entry->d_name);
            if (entry->d_name[0] != '.')
                read_file(path, &got);
            found += got.n == sent.n && memcmp(got.bytes, sent.bytes, sent.n) == 0;
            buffer_free(&got);
        }
        (void)closedir(folder);
        assert_int_equal(found, 1);
        buffer_free(&bytes);
        buffer_free(&sent);
    }
}

static void senders_above_the_limit_are_refused(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options = {.output = -1, .sources_max = 2}};
    struct buffer bytes;
    ttr_receiver_totals totals;
    int fds[4];
    buffer_init(&bytes, alloc_default());
    add_packets(&bytes, 0, 1);
    receiver_scene_open(&scene, "tcp::0", "refused");
    for (unsigned i = 0; i < 4; i++) {
        fds[i] = receiver_scene_dial(&scene);
        receiver_scene_send(fds[i], &bytes);
        receiver_scene_step(&scene, 100);
    }
    receiver_scene_await_packets(&scene, 4);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.refused, 2);
    assert_int_equal(scene.refused, 2);
    for (unsigned i = 0; i < 4; i++)
        (void)close(fds[i]);
    buffer_free(&bytes);
}

static void silent_connection_is_cut_off(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options = {.output = -1, .idle_ms = 50}};
    ttr_receiver_totals totals = {.size = sizeof totals};
    uint64_t end_ms = socket_now_ms() + SCENE_PATIENCE_MS;
    receiver_scene_open(&scene, "tcp::0", "silent");
    int fd = receiver_scene_dial(&scene);
    while (totals.cut_off == 0 && socket_now_ms() < end_ms) {
        receiver_scene_step(&scene, 20);
        ttr_receiver_sum(scene.receiver, &totals);
    }
    char byte;
    assert_int_equal(totals.cut_off, 1);
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
}

/* A connection that sends one byte at a time never completes a packet within the idle time. */
static void slow_connection_is_cut_off(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options = {.output = -1, .idle_ms = 100}};
    struct buffer bytes, one;
    ttr_receiver_totals totals = {.size = sizeof totals};
    buffer_init(&bytes, alloc_default());
    add_packets(&bytes, 0, 10);
    receiver_scene_open(&scene, "tcp::0", "slow");
    int fd = receiver_scene_dial(&scene);
    for (size_t i = 0; i < bytes.n && totals.cut_off == 0; i++) {
        buffer_init(&one, alloc_default());
        buffer_add(&one, bytes.bytes + i, 1);
        receiver_scene_send(fd, &one);
        buffer_free(&one);
        receiver_scene_step(&scene, 10);
        ttr_receiver_sum(scene.receiver, &totals);
        (void)poll(NULL, 0, 5);
    }
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.cut_off, 1);
    buffer_free(&bytes);
}

static void other_format_is_stored_as_a_stream(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    struct buffer bytes;
    ttr_receiver_totals totals = {.size = sizeof totals};
    buffer_init(&bytes, alloc_default());
    /* the magic record of FXT, and initialization records (1,000,000 ticks per second) */
    buffer_add(&bytes, "\x10\x00\x04\x46\x78\x54\x16\x00", 8);
    for (unsigned i = 0; i < 10; i++)
        buffer_add(&bytes, "\x21\0\0\0\0\0\0\0\x40\x42\x0F\0\0\0\0\0", 16);
    receiver_scene_open(&scene, "tcp::0", "stream");
    int fd = receiver_scene_dial(&scene);
    receiver_scene_send(fd, &bytes);
    (void)close(fd);
    for (unsigned i = 0; i < 100 && scene.ended == 0; i++)
        receiver_scene_step(&scene, 100);
    assert_int_equal(scene.ended, 1);
    assert_string_equal(scene.last.format, "fxt");
    assert_false(scene.last.is_packets);
    assert_non_null(strstr(scene.last_path, ".fxt"));
    expect_file(scene.last_path, &bytes);
    receiver_scene_close(&scene, &totals);
    buffer_free(&bytes);
}

static void wrong_options_are_misuse(void **state)
{
    (void)state;
    const char *addresses[] = {"udp:nonsense"};
    ttr_error error = {0};
    ttr_receiver_options options = {.size = sizeof options, .output = -1, .wake_fd = -1};
    assert_null(ttr_receiver_open(&options, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    options.addresses = addresses;
    options.addresses_n = 1;
    options.folder = work;
    assert_null(ttr_receiver_open(&options, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_int_equal(ttr_receiver_close(NULL, NULL, NULL), TTR_OK);
}

static int begin(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
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
        cmocka_unit_test(packets_are_stored_as_they_came),
        cmocka_unit_test(losses_of_a_bad_network_are_counted_exactly),
        cmocka_unit_test(new_epoch_of_a_peer_is_another_source),
        cmocka_unit_test(sender_that_restarts_too_often_is_blocked),
        cmocka_unit_test(senders_of_many_ports_are_limited_together),
        cmocka_unit_test(reconnection_with_the_same_epoch_resumes_its_source),
        cmocka_unit_test(silent_sender_keeps_its_connection_beside_another_of_its_epoch),
        cmocka_unit_test(later_sender_of_the_same_epoch_is_another_source),
        cmocka_unit_test(senders_that_name_their_ports_resume_their_own_sources),
        cmocka_unit_test(each_rotated_file_starts_with_the_epoch),
        cmocka_unit_test(gap_across_a_rotation_is_counted_once),
        cmocka_unit_test(drops_of_the_kernel_are_counted_and_in_the_file),
        cmocka_unit_test(merged_trace_has_all_sources_on_one_clock),
        cmocka_unit_test(full_queue_drops_the_oldest_packets_and_counts_them),
        cmocka_unit_test(full_disk_keeps_complete_packets),
        cmocka_unit_test(honest_sender_loses_nothing_beside_16_hostile_ones),
        cmocka_unit_test(senders_above_the_limit_are_refused),
        cmocka_unit_test(silent_connection_is_cut_off),
        cmocka_unit_test(slow_connection_is_cut_off),
        cmocka_unit_test(other_format_is_stored_as_a_stream),
        cmocka_unit_test(wrong_options_are_misuse),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
