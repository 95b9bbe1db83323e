/* Scenes of a receiver and its senders. */
#include "support/receiver_scene.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "io/socket.h"
#include "support/support.h"

static void on_source(void *user_data, ttr_source_stage stage, const ttr_received *received)
{
    struct receiver_scene *scene = user_data;
    scene->begun += stage == TTR_SOURCE_BEGUN;
    scene->refused += stage == TTR_SOURCE_REFUSED;
    if (stage == TTR_SOURCE_REFUSED)
        scene->reason = received->reason;
    if (stage != TTR_SOURCE_ENDED)
        return;
    scene->ended++;
    scene->last = *received;
    (void)snprintf(scene->last_path, sizeof scene->last_path, "%s", received->path);
}

void receiver_scene_open(struct receiver_scene *scene, const char *address, const char *folder)
{
    ttr_error error = {0};
    (void)snprintf(scene->address[0], sizeof scene->address[0], "%s", address);
    scene->addresses[0] = scene->address[0];
    scene->options.size = sizeof scene->options;
    scene->options.addresses = scene->addresses;
    scene->options.addresses_n = 1;
    scene->options.wake_fd = -1;
    scene->options.source = on_source;
    scene->options.user_data = scene;
    if (folder)
        (void)snprintf(scene->folder, sizeof scene->folder, "%s/%s", scene->work, folder);
    scene->options.folder = folder ? scene->folder : NULL;
    scene->receiver = ttr_receiver_open(&scene->options, &error);
    if (!scene->receiver)
        fail_msg("%s: %s", address, error.text);
    assert_null(ttr_receiver_address(scene->receiver, 1));
}

void receiver_scene_step(struct receiver_scene *scene, unsigned limit_ms)
{
    ttr_error error = {0};
    if (ttr_receiver_step(scene->receiver, limit_ms, &error) != TTR_OK)
        fail_msg("%s", error.text);
}

void receiver_scene_close(struct receiver_scene *scene, ttr_receiver_totals *totals)
{
    ttr_error error = {0};
    totals->size = sizeof *totals;
    if (ttr_receiver_close(scene->receiver, totals, &error) != TTR_OK)
        fail_msg("%s", error.text);
}

void receiver_scene_await_packets(struct receiver_scene *scene, uint64_t packets)
{
    ttr_receiver_totals totals = {.size = sizeof totals};
    uint64_t end_ms = socket_now_ms() + SCENE_PATIENCE_MS;
    while (totals.packets < packets && socket_now_ms() < end_ms) {
        receiver_scene_step(scene, 20);
        ttr_receiver_sum(scene->receiver, &totals);
    }
    assert_int_equal(totals.packets, packets);
}

int receiver_scene_dial(const struct receiver_scene *scene)
{
    const char *text = ttr_receiver_address(scene->receiver, 0);
    int fd, type = strncmp(text, "udp", 3) == 0 ? SOCK_DGRAM : SOCK_STREAM;
    if (strncmp(text, "unix:", 5) == 0) {
        struct sockaddr_un name = {.sun_family = AF_UNIX};
        (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", text + 5);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
        return fd;
    }
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    name.sin_port = htons((uint16_t)strtoul(strrchr(text, ':') + 1, NULL, 10));
    fd = socket(AF_INET, type, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    return fd;
}

void receiver_scene_send(int fd, const struct buffer *bytes)
{
    assert_int_equal(send(fd, bytes->bytes, bytes->n, MSG_NOSIGNAL), bytes->n);
}
