/* A live session for tests: a small trace, a relay daemon that serves it, and the events that a
 * reader returned. */
#ifndef TRACETTA_TESTS_SUPPORT_LIVE_SCENE_H
#define TRACETTA_TESTS_SUPPORT_LIVE_SCENE_H

#include "formats/ctf/live/ctf_live.h"
#include "support/live_relay.h"

enum { SCENE_EVENTS = 256 };

/* --- A trace: one clock of nanoseconds, one stream class, one event class "ev" of id 0 with a
 * number v --- */

extern const char scene_metadata[];
extern const size_t scene_metadata_n;

/* Returns the complete metadata in one piece, for trace 1. */
struct relay_metadata scene_whole_metadata(void);

struct scene_packet {
    uint8_t bytes[512];
    size_t n;
};

/* Makes a packet from `begin` to `end`, with events at times begin, begin + step, ... up to `end`
 * (step 0: no events). The field of each event is its time. */
struct relay_step scene_make(struct scene_packet *packet, uint64_t seq, uint64_t begin,
                             uint64_t end, uint64_t step, uint32_t id);

/* Two streams with packets that overlap in time. */
struct scene_pair {
    struct scene_packet packet[6];
    struct relay_step a[3], b[3];
    struct relay_stream streams[2];
    struct relay_metadata metadata;
};

#define SCENE_PAIR_TIMES "10 15 20 30 30 30 45 46 50 56 60 61 71 90"

void scene_make_pair(struct scene_pair *pair);

/* --- Reading it --- */

struct seen {
    int64_t time[SCENE_EVENTS];
    uint8_t kind[SCENE_EVENTS];
    ttr_id name[SCENE_EVENTS];
    size_t n;
    ttr_status status;
    ttr_error error;
    uint64_t gaps, lost, damage, events; /* counts from the reader's reports */
    char notes[1024];                    /* "code=count code=count " */
};

struct scene {
    struct relay relay;
    struct live_config how;
    ttr_read_options options;
    int64_t to;
    char url[200];
    ttr *t;
};

/* Prepares a daemon that serves these streams, and options with short time-outs. */
struct scene scene_of(const struct relay_stream *streams, size_t n,
                      const struct relay_metadata *metadata, size_t metadata_n);
struct scene scene_of_pair(const struct scene_pair *pair);

/* Starts the daemon and opens the session; NULL with `error`. scene_close ends both. */
ttr_reader *scene_open(struct scene *scene, ttr_error *error);
void scene_close(struct scene *scene, ttr_reader *reader);

/* Reads until the end, a failure, or at least that many events. */
void scene_read_some(ttr_reader *reader, struct seen *seen, size_t most);

/* Opens, reads the complete session, stores the reports, and closes. */
struct seen scene_read(struct scene *scene);

/* Fails the test unless the events have these times: "10 20 -30", where the time of a gap is
 * negated. */
void scene_assert_times(const struct seen *seen, const char *expected);

/* Fails the test unless the reader reported this note ("live.late=1"). */
void scene_assert_note(const struct seen *seen, const char *note);

#endif
