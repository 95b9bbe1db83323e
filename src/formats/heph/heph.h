/* What the files of this folder share: the reader's state and the functions between them.
 * heph_format.h draws the bytes. */
#ifndef TRACETTA_FORMATS_HEPH_H
#define TRACETTA_FORMATS_HEPH_H

#include "base/cursor.h"
#include "formats/heph/heph_counters.h"
#include "formats/heph/heph_format.h"
#include "model/input.h"

#define HEPH_NAMES 1024u /* slots of the description cache; powers of two */
#define HEPH_THREADS 256u

/* What a description of the Heph runtime tells us. */
enum heph_meaning {
    HEPH_ANY = 0,
    HEPH_RUNTIME,  /* only the runtime writes it */
    HEPH_BUILDING, /* its attribute "worker_threads" tells workers from synchronous actors */
    HEPH_RUN       /* its attributes "id" and "name" name the actor that ran */
};

/* A description met before: equal length, first and last eight bytes are checked before the text
 * is. */
struct heph_name {
    uint64_t first, last;
    const char *p;
    uint32_t n;
    ttr_id id;
    uint8_t meaning;
};

/* A (stream, substream) met before. */
struct heph_thread {
    uint64_t substream;
    uint32_t stream;
    uint32_t index; /* in the counters' streams */
    ttr_id thread;  /* 0: free slot */
};

struct heph_reader {
    const struct heph_layout *layout;
    uint64_t offset; /* of the next packet */
    uint64_t max_packet;
    uint64_t epoch; /* 0 while unknown */
    bool has_epoch;
    bool is_epoch_given;   /* by option: packets do not change it */
    uint64_t epochs_until; /* epoch packets before this offset were weighed at opening */
    int64_t time;          /* of the last event, for gaps */
    ttr_id schema, nested; /* how fields are walked: as stored, and with arrays in arrays */
    bool is_lost;          /* `offset` is no packet boundary: look for one */
    uint64_t lost_from;    /* where the search began */
    /* an epoch packet whose frame was damaged, as it should be */
    uint8_t repaired[HEPH_EPOCH_PACKET];
    bool is_torn;         /* while lost: the input may end inside a packet */
    uint64_t zeros_until; /* up to there nothing was written */
    uint64_t large_until; /* while lost: up to there goes a packet larger than allowed, as its
                             `large_size` says; 0 = none */
    uint32_t large_size;
    bool is_restart; /* another trace begins at `offset`: settle the counters before */
    bool is_out_of_memory;
    bool has_substreams; /* some event has a substream other than 0 */
    bool is_runtime;     /* the Heph runtime wrote it */
    uint64_t workers;    /* worker threads, 0 = unknown */
    uint64_t work;       /* what searching has cost so far, see heph_resync.c */
    uint64_t events;
    size_t gaps_told; /* streams whose losses were given as events */
    bool is_told;     /* the notes about the counters were left */
    struct heph_counters counters;
    struct heph_name names[HEPH_NAMES];
    struct heph_thread threads[HEPH_THREADS];
};

extern const struct format format_heph;

/* --- heph_bid.c --- */
unsigned heph_bid(const struct peek *peek);

/* The layout by name ("auto" looks at the events in the window); NULL for a name that is none. */
const struct heph_layout *heph_layout_named(const char *name, const struct window *window,
                                            uint64_t max_packet);

/* --- heph_packet.c: is it a packet --- */

/* True where at least HEPH_FRAME bytes at p begin with a magic and a size that fits its kind. */
bool heph_is_frame(const uint8_t *p, const struct heph_layout *layout, uint64_t max_packet);

/* Size of a packet as its frame says. */
uint32_t heph_size(const uint8_t *p);

/* True where a whole packet's content fills its size exactly; a frame that fits is the caller's to
 * check. */
bool heph_is_exact(const uint8_t *packet, uint32_t size, const struct heph_layout *layout);

/* The same for the reading of arrays in arrays, which the original writer makes by mistake. */
bool heph_is_nested(const uint8_t *packet, uint32_t size, const struct heph_layout *layout);

/* True for a metadata packet that sets the epoch, with its value. */
bool heph_is_epoch(const uint8_t *packet, uint32_t size, uint64_t *epoch);

/* Moves the window to reader->offset with `need` bytes if the input has them. */
TTR_MUST ttr_status heph_fill(struct input *in, uint64_t need, ttr_error *error);

/* --- heph_epoch.c --- */

/* Finds the epoch for the events from the beginning of the trace. */
TTR_MUST ttr_status heph_find_epoch(struct input *in, ttr_error *error);

/* Weighs an epoch packet met while reading. */
TTR_MUST ttr_status heph_meet_epoch(struct input *in, uint64_t epoch, ttr_error *error);

/* --- heph_event.c --- */

/* Adds the event of a packet to the batch; `size` bytes of it are there, at least header and
 * description.  `schema` says how its fields are walked.  NULL when memory is out. */
ttr_event *heph_add_event(struct input *in, const uint8_t *packet, uint32_t size, ttr_id schema);

/* Adds bytes that carry no event, from reader->offset, when they are wanted. */
void heph_add_definition(struct input *in, const uint8_t *bytes, size_t n, ttr_id name);

/* --- heph_names.c --- */

/* What a description means. */
enum heph_meaning heph_meaning_of(const uint8_t *p, size_t n);

/* Learns names from an event whose description means something; false when memory is out. */
TTR_MUST bool heph_learn(struct input *in, const ttr_event *event, enum heph_meaning meaning);

/* Names a stream that is new, if the runtime wrote the trace. */
TTR_MUST bool heph_name_stream(struct input *in, uint32_t stream);

/* --- heph_fields.c --- */
extern const struct field_ops heph_field_ops, heph_nested_ops;

/* --- heph_resync.c --- */

/* The packet at reader->offset is bad: gives what can be saved of it and goes on behind. */
TTR_MUST ttr_status heph_recover(struct input *in, ttr_error *error);

/* Passes over room that was not written, up to zeros_until; copies get its bytes.  The batch has
 * room. */
void heph_pass_zeros(struct input *in);

/* Looks for the next packet from reader->offset on. */
TTR_MUST ttr_status heph_search(struct input *in, ttr_error *error);

/* --- heph_read.c --- */
ttr_status heph_open(struct input *in, ttr_error *error);
ttr_status heph_next(struct input *in, ttr_error *error);
void heph_close(struct input *in);

#endif
