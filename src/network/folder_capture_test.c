/* Tests of a receiver of frames: files, exact losses, rotation and limits. The contents are not of
 * CTF: a receiver does not decode them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "network/file_frame.h"
#include "network/receiver.h"
#include "support/files.h"
#include "support/receiver_scene.h"
#include "support/support.h"

#define EVENTS 7u /* per packet */

static char work[] = "/tmp/folder_capture_test.XXXXXX";

/* Returns packet `number` of a file; its content is its number as text. */
static struct buffer make_packet(uint32_t file, uint32_t number, uint64_t session)
{
    char name[16], content[16];
    struct buffer frame;
    buffer_init(&frame, alloc_default());
    (void)snprintf(content, sizeof content, "%u,", number);
    (void)snprintf(name, sizeof name, "ust/ch_%u", file);
    file_frame_write(&frame, &(struct file_frame){.session = session,
                                                  .format = "ctf",
                                                  .file = file,
                                                  .number = number,
                                                  .events = EVENTS,
                                                  .events_before = (uint64_t)EVENTS * number,
                                                  .name = name,
                                                  .name_n = strlen(name),
                                                  .content = (const uint8_t *)content,
                                                  .content_n = strlen(content)});
    return frame;
}

/* Returns part `number` of `parts` of the file "ust/metadata": "part 0,". */
static struct buffer make_part(uint32_t number, uint32_t parts)
{
    char content[16];
    struct buffer frame;
    buffer_init(&frame, alloc_default());
    (void)snprintf(content, sizeof content, "part %u,", number);
    file_frame_write(&frame, &(struct file_frame){.session = 1,
                                                  .format = "ctf",
                                                  .file = 99,
                                                  .number = number,
                                                  .parts = parts,
                                                  .name = "ust/metadata",
                                                  .name_n = 12,
                                                  .content = (const uint8_t *)content,
                                                  .content_n = strlen(content)});
    return frame;
}

static void send_frame(int fd, struct buffer frame)
{
    receiver_scene_send(fd, &frame);
    buffer_free(&frame);
}

/* Fails unless a file of the last source has this content. */
static void expect_content(const struct receiver_scene *scene, const char *name,
                           const char *content)
{
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/%s", scene->last_path, name);
    files_expect(path, content);
}

static void check_transport(const char *address, const char *folder)
{
    struct receiver_scene scene = {.work = work, .options.output = -1};
    ttr_receiver_totals totals;
    receiver_scene_open(&scene, address, folder);
    int fd = receiver_scene_dial(&scene);
    send_frame(fd, make_packet(1, 0, 1)); /* metadata may come late */
    send_frame(fd, make_part(1, 2));
    send_frame(fd, make_part(0, 2));
    send_frame(fd, make_part(1, 2)); /* repeated */
    send_frame(fd, make_packet(2, 0, 1));
    send_frame(fd, make_packet(1, 1, 1));
    receiver_scene_await_packets(&scene, 6);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.events, 3 * EVENTS);
    assert_int_equal(totals.lost + totals.before_first + totals.garbage + totals.duplicates, 0);
    assert_string_equal(scene.last.format, "ctf");
    assert_true(scene.last.is_complete);
    expect_content(&scene, "ust/metadata", "part 0,part 1,");
    expect_content(&scene, "ust/ch_1", "0,1,");
    expect_content(&scene, "ust/ch_2", "0,");
}

static void frames_are_stored_in_the_files_that_they_name(void **state)
{
    (void)state;
    char path[80];
    check_transport("udp::0", "by-udp");
    check_transport("tcp::0", "by-tcp");
    (void)snprintf(path, sizeof path, "unix:%s/socket", work);
    check_transport(path, "by-unix");
}

static void missing_part_makes_the_source_incomplete(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    ttr_receiver_totals totals;
    char path[4200];
    receiver_scene_open(&scene, "udp::0", "part");
    int fd = receiver_scene_dial(&scene);
    send_frame(fd, make_part(0, 2));
    send_frame(fd, make_packet(1, 0, 1));
    receiver_scene_await_packets(&scene, 2);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_false(scene.last.is_complete);
    (void)snprintf(path, sizeof path, "%s/ust/metadata", scene.last_path);
    assert_int_not_equal(access(path, F_OK), 0);
    expect_content(&scene, "ust/ch_1", "0,");
}

/* Sends packets in an order that a bad network makes of them. The receiver must count exactly what
 * was done. */
static void check_losses(uint64_t seed)
{
    enum { PACKETS = 500, DELAY_MAX = 20 };
    struct receiver_scene scene = {.work = work, .options.output = -1};
    ttr_receiver_totals totals = {0};
    uint64_t random = seed, dropped = 0, repeated = 0, sent = 0;
    static uint32_t when[PACKETS];
    static uint8_t copies[PACKETS];
    char folder[32];
    for (uint32_t i = 0; i < PACKETS; i++) {
        const uint64_t luck = support_random(&random) % 10;
        const bool is_kept = i == 0 || i + 1 == PACKETS;
        copies[i] = is_kept ? 1 : luck == 0 ? 0 : luck == 1 ? 2 : 1;
        when[i] = i + (is_kept || luck < 7 ? 0 : (uint32_t)(support_random(&random) % DELAY_MAX));
        dropped += copies[i] == 0;
        repeated += copies[i] == 2;
    }
    (void)snprintf(folder, sizeof folder, "losses-%u", (unsigned)seed);
    receiver_scene_open(&scene, "udp::0", folder);
    int fd = receiver_scene_dial(&scene);
    send_frame(fd, make_part(0, 1));
    for (uint32_t now = 0; now < PACKETS + DELAY_MAX; now++)
        for (uint32_t i = now < DELAY_MAX ? 0 : now - DELAY_MAX; i <= now && i < PACKETS; i++)
            for (unsigned copy = 0; when[i] == now && copy < copies[i]; copy++) {
                send_frame(fd, make_packet(1, i, 1));
                receiver_scene_step(&scene, 0);
                sent++;
            }
    /* duplicates are not packets of the file */
    for (unsigned i = 0; i < 1000 && totals.events < EVENTS * (sent - repeated); i++) {
        receiver_scene_step(&scene, 5);
        totals.size = sizeof totals;
        ttr_receiver_sum(scene.receiver, &totals);
    }
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.kernel_drops, 0);
    assert_int_equal(totals.lost_packets, dropped);
    assert_int_equal(totals.lost, EVENTS * dropped);
    assert_int_equal(totals.duplicates, repeated);
    assert_int_equal(totals.events, EVENTS * (PACKETS - dropped));
}

static void events_of_lost_packets_are_counted_exactly(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= support_rounds(3, 50); seed++)
        check_losses(seed);
}

static void each_rotated_folder_has_the_metadata(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options = {.output = -1, .rotate_bytes = 14}};
    ttr_receiver_totals totals;
    receiver_scene_open(&scene, "tcp::0", "rotate");
    int fd = receiver_scene_dial(&scene);
    send_frame(fd, make_part(0, 1)); /* 7 bytes */
    for (uint32_t i = 0; i < 6; i++)
        send_frame(fd, make_packet(1, i, 1)); /* 2 bytes */
    receiver_scene_await_packets(&scene, 7);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(scene.last.files, 2);
    expect_content(&scene, "ust/metadata", "part 0,");
    expect_content(&scene, "ust/ch_1", "3,4,5,");
    *strrchr(scene.last_path, '.') = '\0'; /* the folder before ".0002" */
    expect_content(&scene, "ust/metadata", "part 0,");
    expect_content(&scene, "ust/ch_1", "0,1,2,");
}

static void each_rotated_folder_has_its_losses(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options = {.output = -1, .rotate_bytes = 14}};
    ttr_receiver_totals totals;
    receiver_scene_open(&scene, "udp::0", "losses");
    int fd = receiver_scene_dial(&scene);
    send_frame(fd, make_part(0, 1)); /* 7 bytes */
    for (uint32_t i = 0; i < 6; i++) {
        scene.receiver->ended.kernel_drops += i % 2; /* 2 before the rotation, 1 after it */
        send_frame(fd, make_packet(1, i, 1));        /* 2 bytes */
        receiver_scene_await_packets(&scene, 2 + i);
    }
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    expect_content(&scene, "ust/.losses", "kernel_drops 1\ndropped_packets 0\n");
    *strrchr(scene.last_path, '.') = '\0'; /* the folder before ".0002" */
    expect_content(&scene, "ust/.losses", "kernel_drops 2\ndropped_packets 0\n");
}

static void folder_without_losses_has_no_file_of_them(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    ttr_receiver_totals totals;
    struct stat about;
    receiver_scene_open(&scene, "udp::0", "no-losses");
    int fd = receiver_scene_dial(&scene);
    scene.receiver->ended.kernel_drops = 9; /* before the source began */
    send_frame(fd, make_part(0, 1));
    send_frame(fd, make_packet(1, 0, 1));
    receiver_scene_await_packets(&scene, 2);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/ust/.losses", scene.last_path);
    assert_int_not_equal(stat(path, &about), 0);
}

static void restarted_sender_gets_another_folder(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    ttr_receiver_totals totals;
    receiver_scene_open(&scene, "udp::0", "restart");
    int fd = receiver_scene_dial(&scene);
    send_frame(fd, make_packet(1, 5, 1));
    send_frame(fd, make_packet(1, 0, 2));
    receiver_scene_await_packets(&scene, 2);
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.sources, 2);
    assert_int_equal(files_count(scene.folder), 2);
    assert_int_equal(totals.before_first, 5 * EVENTS);
    assert_int_equal(totals.lost, 0);
}

static void invalid_frames_are_garbage(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    ttr_receiver_totals totals = {.size = sizeof totals};
    struct buffer frame = make_packet(1, 0, 1), escaping;
    receiver_scene_open(&scene, "udp::0", "invalid");
    int fd = receiver_scene_dial(&scene);
    frame.bytes[frame.n - 1] ^= 1;
    send_frame(fd, frame);
    buffer_init(&escaping, alloc_default());
    file_frame_write(&escaping, &(struct file_frame){.format = "ctf",
                                                     .name = "../x",
                                                     .name_n = 4,
                                                     .content = (const uint8_t *)"x",
                                                     .content_n = 1});
    send_frame(fd, escaping);
    for (unsigned i = 0; i < 1000 && totals.garbage_datagrams < 2; i++) {
        receiver_scene_step(&scene, 5);
        ttr_receiver_sum(scene.receiver, &totals);
    }
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.garbage_datagrams, 2);
    assert_int_equal(totals.sources, 0);
    assert_int_equal(files_count(scene.folder), 0);
}

static void files_in_parts_have_a_limit(void **state)
{
    (void)state;
    struct receiver_scene scene = {.work = work, .options.output = -1};
    ttr_receiver_totals totals = {.size = sizeof totals};
    struct buffer frame, content;
    receiver_scene_open(&scene, "tcp::0", "limit");
    int fd = receiver_scene_dial(&scene);
    buffer_init(&frame, alloc_default());
    buffer_init(&content, alloc_default());
    buffer_add_zeros(&content, (size_t)1 << 20);
    for (uint32_t i = 0; i < 20; i++) {
        buffer_clear(&frame);
        file_frame_write(&frame, &(struct file_frame){.session = 1,
                                                      .format = "ctf",
                                                      .number = i,
                                                      .parts = 1000,
                                                      .name = "m",
                                                      .name_n = 1,
                                                      .content = content.bytes,
                                                      .content_n = content.n});
        for (size_t at = 0; at < frame.n; at += 65536) {
            struct buffer piece = {.bytes = frame.bytes + at,
                                   .n = frame.n - at < 65536 ? frame.n - at : 65536};
            receiver_scene_send(fd, &piece);
            receiver_scene_step(&scene, 5);
        }
    }
    for (unsigned i = 0; i < 1000 && totals.garbage < 4 * frame.n; i++) {
        receiver_scene_step(&scene, 5);
        ttr_receiver_sum(scene.receiver, &totals);
    }
    (void)close(fd);
    receiver_scene_close(&scene, &totals);
    assert_int_equal(totals.garbage, 4 * frame.n);
    assert_int_equal(totals.packets, 16);
    assert_int_equal(totals.bytes, 16 * frame.n);
    buffer_free(&frame);
    buffer_free(&content);
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

static void frame_with_a_wrong_checksum_is_garbage(void **state)
{
    (void)state;
    static const char *const transports[] = {"udp::0", "tcp::0"};
    for (size_t k = 0; k < 2; k++) {
        struct receiver_scene scene = {.work = work, .options.output = -1};
        ttr_receiver_totals totals = {.size = sizeof totals};
        receiver_scene_open(&scene, transports[k], k ? "checksum-tcp" : "checksum-udp");
        int fd = receiver_scene_dial(&scene);
        send_frame(fd, make_packet(0, 0, 1));
        struct buffer bad = make_packet(0, 1, 1);
        const size_t bad_n = bad.n;
        bad.bytes[bad.n - 1] ^= 1;
        send_frame(fd, bad);
        send_frame(fd, make_packet(0, 2, 1));
        receiver_scene_await_packets(&scene, 2);
        (void)close(fd);
        receiver_scene_close(&scene, &totals);
        assert_int_equal(totals.garbage, bad_n);
        assert_int_equal(totals.packets, 2);
        assert_int_equal(totals.lost_packets, 1);
        assert_int_equal(totals.lost, EVENTS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_with_a_wrong_checksum_is_garbage),
        cmocka_unit_test(frames_are_stored_in_the_files_that_they_name),
        cmocka_unit_test(missing_part_makes_the_source_incomplete),
        cmocka_unit_test(events_of_lost_packets_are_counted_exactly),
        cmocka_unit_test(each_rotated_folder_has_the_metadata),
        cmocka_unit_test(each_rotated_folder_has_its_losses),
        cmocka_unit_test(folder_without_losses_has_no_file_of_them),
        cmocka_unit_test(restarted_sender_gets_another_folder),
        cmocka_unit_test(invalid_frames_are_garbage),
        cmocka_unit_test(files_in_parts_have_a_limit),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
