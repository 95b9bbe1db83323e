/* The Heph reader: its state and the internal functions of its files.  heph_format.h has drawings
 * of the byte layout. */
#ifndef TRACETTA_FORMATS_HEPH_H
#define TRACETTA_FORMATS_HEPH_H

#include "base/cursor.h"
#include "formats/heph/heph_counters.h"
#include "formats/heph/heph_format.h"
#include "model/input.h"

#define HEPH_NAME_SLOTS \
    1024u /* number of slots of the description cache and of the thread cache; powers of two */
#define HEPH_THREAD_SLOTS 256u

/* Meaning of an event, derived from a description that the Heph runtime is known to write. */
enum heph_description_kind {
    HEPH_ANY = 0,
    HEPH_RUNTIME, /* the description occurs only in traces that the runtime wrote */
    /* attribute "worker_threads" is the number of worker threads; streams with higher numbers are
     * synchronous actors */
    HEPH_BUILDING,
    HEPH_RUN /* attributes "id" and "name" are those of the actor that ran */
};

/* Entry of the cache of descriptions. A lookup compares length, first and last eight bytes before
 * the text. */
struct heph_name {
    uint64_t first, last;
    const char *p;
    uint32_t n;
    ttr_id id;
    uint8_t meaning;
};

/* Entry of the cache of threads, which maps (stream, substream) to a thread. */
struct heph_thread {
    uint64_t substream;
    uint32_t stream;
    uint32_t index; /* index of the stream in counters.streams */
    ttr_id thread;  /* thread id; 0 if the entry is unused */
};

struct heph_reader {
    const struct heph_layout *layout;
    uint64_t offset; /* file offset of the next packet */
    uint64_t max_packet;
    uint64_t epoch; /* Unix time in ns at time 0 of the trace; 0 until it is known */
    bool has_epoch;
    bool is_pipe; /* waiting for more input may take long, and reading it again is impossible */
    size_t probe_bytes;  /* bytes of the input that decide its layout */
    bool is_epoch_given; /* true if the option epoch is set, so that epoch packets are ignored */
    /* file offset up to which heph_open has already examined the epoch packets */
    uint64_t epochs_until;
    int64_t time; /* time of the last event in ns; gap events get it */
    /* schema: of events with flat arrays; nested: of events with nested arrays */
    ttr_id schema, nested;
    /* true if no packet is known to start at `offset`: the next read searches for one */
    bool is_lost;
    uint64_t lost_from; /* file offset at which the damage starts */
    /* copy of an epoch packet with a corrected frame */
    uint8_t repaired[HEPH_EPOCH_PACKET];
    /* true during a search if the end of the input may have truncated the last packet */
    bool is_torn;
    uint64_t zeros_until; /* file offset up to which the bytes from `offset` on are zero */
    /* large_until: during a search in an oversized packet, the end that its size field implies;
     * large_size: that size; 0 if no such search */
    uint64_t large_until;
    uint32_t large_size;
    /* true if another trace starts at `offset`: emit the gaps, then clear the counters */
    bool is_restart;
    bool is_out_of_memory;
    bool has_substreams; /* at least one event has a substream other than 0 */
    bool is_runtime;     /* the Heph runtime wrote the trace */
    uint64_t workers;    /* number of worker threads; 0 if unknown */
    uint64_t
        work; /* number of bytes and packets that searches have examined; heph_resync.c limits it */
    uint64_t events;
    size_t gaps_emitted;    /* number of streams of which gap events were emitted */
    bool are_notes_emitted; /* the notes about late and duplicate events were emitted */
    struct heph_counters counters;
    struct heph_name names[HEPH_NAME_SLOTS];
    struct heph_thread threads[HEPH_THREAD_SLOTS];
};

extern const struct format format_heph;

/* --- heph_bid.c: detection and layout --- */
unsigned heph_bid(const struct peek *peek);

/* Returns the layout of event headers with this name; NULL if the name is unknown. "auto" selects
 * the layout that fits the events in the window. */
const struct heph_layout *heph_find_layout(const char *name, const struct window *window,
                                           uint64_t max_packet);

/* Returns the number of bytes of the input that must be in the window before "auto" can select a
 * layout; 0 if the window has enough. *used is the number of bytes that decide. */
uint64_t heph_find_probe_end(const struct window *window, uint64_t max_packet, size_t *used);

/* --- heph_packet.c: validation of packets --- */

/* Returns true if the first HEPH_FRAME_SIZE bytes at `p` are a magic number and a size that is
 * valid for its type of packet. */
bool heph_is_valid_frame(const uint8_t *p, const struct heph_layout *layout, uint64_t max_packet);

/* Returns the size field of a packet, in bytes. */
uint32_t heph_packet_size(const uint8_t *p);

/* Returns true if the content of a complete packet has exactly the packet's size. Does not check
 * the frame. */
bool heph_is_valid_packet(const uint8_t *packet, uint32_t size, const struct heph_layout *layout);

/* Like heph_is_valid_packet, for packets with nested arrays, which the original writer emits by
 * mistake. */
bool heph_is_valid_nested_packet(const uint8_t *packet, uint32_t size,
                                 const struct heph_layout *layout);

/* Returns true if the packet is metadata that sets the epoch, and sets *epoch. */
bool heph_parse_epoch(const uint8_t *packet, uint32_t size, uint64_t *epoch);

/* Moves the window to reader->offset and loads at least `need` bytes, or fewer if the input ends.
 */
TTR_MUST ttr_status heph_load_packet(struct input *in, uint64_t need, ttr_error *error);

/* --- heph_epoch.c: start of the clock --- */

/* Determines the epoch. Called before the first event is read. */
TTR_MUST ttr_status heph_find_epoch(struct input *in, ttr_error *error);

/* Applies an epoch packet that is found while events are read. */
TTR_MUST ttr_status heph_apply_epoch(struct input *in, uint64_t epoch, ttr_error *error);

/* --- heph_event.c: packets to events --- */

/* Adds the event of a packet to the batch. Header and description must be inside the `size` bytes.
 * `schema`: that for flat or for nested arrays. Returns NULL if out of memory. */
ttr_event *heph_add_event(struct input *in, const uint8_t *packet, uint32_t size, ttr_id schema);

/* Adds the bytes at reader->offset as an event of kind definition, if definitions are requested. */
void heph_emit_definition(struct input *in, const uint8_t *bytes, size_t n, ttr_id name);

/* --- heph_names.c: names of threads and actors --- */

/* Returns the meaning of an event with a description of `n` bytes at `p`. */
enum heph_description_kind heph_classify_name(const uint8_t *p, size_t n);

/* Sets the names of streams or actors that an event with this meaning declares. Returns false if
 * out of memory. */
TTR_MUST bool heph_learn_names(struct input *in, const ttr_event *event,
                               enum heph_description_kind meaning);

/* Sets the name of a new stream if the runtime wrote the trace. Returns false if out of memory. */
TTR_MUST bool heph_set_stream_name(struct input *in, uint32_t stream);

/* --- heph_restore.c: kinds of events of other formats --- */

/* Restores the kind of an event, and what depends on it. The first attribute must be "kind". */
void heph_restore_kind(struct input *in, ttr_event *event);

/* --- heph_fields.c: lazy decoding of attributes --- */
extern const struct field_ops heph_field_ops, heph_nested_ops;

/* --- heph_resync.c: recovery from damage --- */

/* Handles the invalid packet at reader->offset: emits its valid bytes and advances to its end. */
TTR_MUST ttr_status heph_recover_packet(struct input *in, ttr_error *error);

/* Skips zero bytes up to zeros_until. If definitions are requested, emits the zeros as definitions.
 * The batch must have room. */
void heph_skip_zeros(struct input *in);

/* Searches for the next packet from reader->offset on. */
TTR_MUST ttr_status heph_search_packet(struct input *in, ttr_error *error);

/* --- heph_read.c: entry points of the reader --- */
ttr_status heph_open(struct input *in, ttr_error *error);
ttr_status heph_read_batch(struct input *in, ttr_error *error);
void heph_close(struct input *in);

/* Returns the index in reader->counters of a stream; adds it with its track if it is new. Returns
 * UINT32_MAX if out of memory. */
TTR_MUST uint32_t heph_add_stream(struct input *in, uint32_t stream);

/* --- heph_receiver.c: metadata packets of a receiver (network.md) --- */

/* Options that "tracetta listen" writes. COUNTERS: pairs of a stream and its last counter in the
 * previous file. LOSSES: datagrams dropped by the kernel, packets and events dropped by a full
 * queue (64 bits each). */
#define HEPH_OPTION_COUNTERS "tracetta.counters"
#define HEPH_OPTION_LOSSES "tracetta.losses"
#define HEPH_OPTION_PORTS "tracetta.ports" /* on the wire only */

/* Applies the value of an option of a receiver. Sets *is_known to false for any other option. */
TTR_MUST ttr_status heph_apply_receiver_option(struct input *in, ttr_text name, struct cursor value,
                                               bool *is_known, ttr_error *error);

/* --- heph_transfer.c: packets over a network --- */
extern const struct format_transfer heph_transfer;

/* --- heph_diagnostics.c: table of diagnostic codes --- */
extern const ttr_diagnostic_info heph_diagnostics[];

#endif
