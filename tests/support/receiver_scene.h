/* A receiver on the loopback interface, and senders by plain sockets, for tests of the network. All
 * functions fail the test if a call fails. */
#ifndef TRACETTA_TESTS_SUPPORT_RECEIVER_SCENE_H
#define TRACETTA_TESTS_SUPPORT_RECEIVER_SCENE_H

#include <tracetta/network.h>

#include "base/buffer.h"

#define SCENE_PATIENCE_MS 60000u

struct receiver_scene {
    const char *work; /* folder of the test */
    ttr_receiver *receiver;
    ttr_receiver_options options;
    char folder[64];
    char address[2][128];
    const char *addresses[2];
    unsigned begun, ended, refused;
    const char *reason;   /* of the last refusal */
    ttr_received last;    /* of the last source that ended */
    char last_path[4096]; /* last.path */
};

/* Opens a receiver for one address. `folder` is its folder below scene->work; NULL = write to
 * options.output. */
void receiver_scene_open(struct receiver_scene *scene, const char *address, const char *folder);

void receiver_scene_step(struct receiver_scene *scene, unsigned limit_ms);
void receiver_scene_close(struct receiver_scene *scene, ttr_receiver_totals *totals);

/* Receives until `packets` packets have arrived. */
void receiver_scene_await_packets(struct receiver_scene *scene, uint64_t packets);

/* Returns a socket that is connected to the receiver's address. */
int receiver_scene_dial(const struct receiver_scene *scene);

void receiver_scene_send(int fd, const struct buffer *bytes);

#endif
