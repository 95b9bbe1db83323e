/* The Heph reader: its state and the internal functions of its files.  heph_format.h has drawings
 * of the byte layout. */
#ifndef TRACETTA_FORMATS_HEPH_H
#define TRACETTA_FORMATS_HEPH_H

#include "base/cursor.h"
#include "formats/heph/heph_counters.h"
#include "formats/heph/heph_format.h"
#include "model/input.h"

/* number of entries of the cache of descriptions and of the cache of threads; powers of two */
#define HEPH_NAME_SLOTS 1024u
#define HEPH_THREAD_SLOTS 256u

/* Meaning of an event, derived from its description, which the Heph runtime is known to write. */
enum heph_description_kind {
    HEPH_ANY = 0,
    HEPH_RUNTIME, /* an event that only traces of the runtime contain */
    /* the attribute "worker_threads" contains the number of worker threads; streams with higher
     * numbers are synchronous actors */
    HEPH_BUILDING,
    HEPH_RUN /* the attributes "id" and "name" belong to the actor that ran */
};

/* Entry of the cache of descriptions. A lookup compares the length, then the first and last eight
 * bytes, and only then the text. */
struct heph_name {
    uint64_t first, last;
    const char *p;
    uint32_t n;
    ttr_id id;
    uint8_t meaning;
};

/* Entry of the cache that maps (stream, substream) to a thread. */
struct heph_thread {
    uint64_t substream;
    uint32_t stream;
    uint32_t index; /* index of the stream in counters.streams */
    ttr_id thread;  /* id of the thread; 0 if the entry is unused */
};

struct heph_reader {
    const struct heph_layout *layout;
    uint64_t offset; /* file offset of the next packet, in bytes */
    uint64_t max_packet;
    uint64_t epoch; /* Unix time in ns at time 0 of the trace; 0 until it is known */
    bool has_epoch;
    bool is_pipe; /* true if input may arrive slowly and can be read only once */
    /* number of bytes of the input that are examined to determine its layout */
    size_t probe_bytes;
    bool is_epoch_given; /* true if the option epoch is set, so that epoch packets are ignored */
    /* file offset up to which heph_open has already examined epoch packets */
    uint64_t epochs_until;
    int64_t time; /* time of the last event in ns, which gap events get */
    /* schema: id of the schema for flat arrays; nested: id of the schema for nested arrays */
    ttr_id schema, nested;
    /* true if it is unknown where the next packet starts: the next read searches for it from
     * `offset` on */
    bool is_lost;
    uint64_t lost_from; /* file offset in bytes at which the damage starts */
    /* copy of an epoch packet of which the frame was corrected */
    uint8_t repaired[HEPH_EPOCH_PACKET];
    /* true during a search if the last packet may be truncated by the end of the input */
    bool is_torn;
    /* file offset up to which all bytes from `offset` on are zero */
    uint64_t zeros_until;
    /* during a search in an oversized packet: large_until is the packet's end according to its
     * size field, large_size the value of that field; both are 0 otherwise */
    uint64_t large_until;
    uint32_t large_size;
    /* true if another trace starts at `offset`: gaps are emitted, then the counters are cleared */
    bool is_restart;
    bool is_out_of_memory;
    bool has_substreams; /* true if at least one event has a substream other than 0 */
    bool is_runtime;     /* true if the Heph runtime wrote the trace */
    uint64_t workers;    /* number of worker threads; 0 if unknown */
    uint64_t
        /* number of bytes and packets that searches have examined so far; heph_resync.c limits
         * it */
        work;
    uint64_t events;
    size_t gaps_emitted; /* number of streams for which gap events were emitted */
    /* true if the notes about late and duplicate events were emitted */
    bool are_notes_emitted;
    struct heph_counters counters;
    struct heph_name names[HEPH_NAME_SLOTS];
    struct heph_thread threads[HEPH_THREAD_SLOTS];
};

extern const struct format format_heph;

/* --- heph_bid.c: detection and layout --- */
unsigned heph_bid(const struct peek *peek);

/* Returns the layout of event headers that has this name; NULL if there is none. "auto" selects
 * the layout in which the events in the window are valid. */
const struct heph_layout *heph_find_layout(const char *name, const struct window *window,
                                           uint64_t max_packet);

/* Returns how many bytes of the input must be loaded before "auto" can select a layout; 0 if
 * enough are loaded. Sets *used to the number of bytes on which the selection depends. */
uint64_t heph_find_probe_end(const struct window *window, uint64_t max_packet, size_t *used);

/* --- heph_packet.c: validation of packets --- */

/* Returns true if a magic number and a size that is valid for this type of packet are at `p`
 * (HEPH_FRAME_SIZE bytes). */
bool heph_is_valid_frame(const uint8_t *p, const struct heph_layout *layout, uint64_t max_packet);

/* Returns the value of a packet's size field, in bytes. */
uint32_t heph_load_packet_size(const uint8_t *p);

/* Returns true if the content of a complete packet fills the packet's size exactly. Does not check
 * the frame (magic number and size). */
bool heph_is_valid_packet(const uint8_t *packet, uint32_t size, const struct heph_layout *layout);

/* Like heph_is_valid_packet, but also accepts nested arrays, which the original writer emits by
 * mistake. */
bool heph_is_valid_nested_packet(const uint8_t *packet, uint32_t size,
                                 const struct heph_layout *layout);

/* Returns true if the packet is metadata with the option "epoch", and then sets *epoch to its
 * value in ns. */
bool heph_parse_epoch(const uint8_t *packet, uint32_t size, uint64_t *epoch);

/* Loads at least `need` bytes from reader->offset on, or fewer if the input ends. This may move
 * bytes in memory. */
TTR_MUST ttr_status heph_load_packet(struct input *in, uint64_t need, ttr_error *error);

/* --- heph_epoch.c: start of the clock --- */

/* Determines the epoch before the first event is read. */
TTR_MUST ttr_status heph_find_epoch(struct input *in, ttr_error *error);

/* Uses the epoch of a packet that is found among the events. */
TTR_MUST ttr_status heph_use_epoch_of_packet(struct input *in, uint64_t epoch, ttr_error *error);

/* --- heph_event.c: packets to events --- */

/* Adds the event of a packet to the batch. The caller must have checked that header and
 * description are inside the `size` bytes. `schema` is the one for flat or for nested arrays.
 * Returns NULL if memory runs out. */
ttr_event *heph_add_event(struct input *in, const uint8_t *packet, uint32_t size, ttr_id schema);

/* Adds the `n` bytes at reader->offset as a definition event. Does nothing if the caller requested
 * no definitions. */
void heph_emit_definition(struct input *in, const uint8_t *bytes, size_t n, ttr_id name);

/* --- heph_names.c: names of threads and actors --- */

/* Returns the meaning of an event of which the description has `n` bytes at `p`. */
enum heph_description_kind heph_classify_name(const uint8_t *p, size_t n);

/* Sets the names of streams or actors that an event with this meaning contains. Returns false if
 * memory runs out. */
TTR_MUST bool heph_set_names_from_event(struct input *in, const ttr_event *event,
                                        enum heph_description_kind meaning);

/* Sets the name of a new stream, if the runtime wrote the trace. Returns false if memory runs out.
 */
TTR_MUST bool heph_set_stream_name(struct input *in, uint32_t stream);

/* --- heph_restore.c: kinds of events of other formats --- */

/* Restores the kind of an event, and what depends on it. The first attribute must be "kind". */
void heph_restore_event_kind(struct input *in, ttr_event *event);

/* --- heph_fields.c: lazy decoding of attributes --- */
extern const struct field_ops heph_field_ops, heph_nested_ops;

/* --- heph_resync.c: recovery from damage --- */

/* Processes the invalid packet at reader->offset: emits its valid bytes, and advances to its
 * end. */
TTR_MUST ttr_status heph_recover_packet(struct input *in, ttr_error *error);

/* Skips zero bytes up to zeros_until. If definitions are requested, emits the zeros as
 * definitions: the batch must have room for them. */
void heph_skip_zeros(struct input *in);

/* Searches for the next valid packet from reader->offset on. */
TTR_MUST ttr_status heph_search_packet(struct input *in, ttr_error *error);

/* --- heph_read.c: entry points of the reader --- */
ttr_status heph_open(struct input *in, ttr_error *error);
ttr_status heph_read_batch(struct input *in, ttr_error *error);
void heph_close(struct input *in);

/* Returns the index of a stream in reader->counters. Adds the stream and its track if it is new.
 * Returns UINT32_MAX if memory runs out. */
TTR_MUST uint32_t heph_add_stream(struct input *in, uint32_t stream);

/* --- heph_receiver.c: metadata packets of a receiver (network.md) --- */

/* Options that "tracetta listen" writes. COUNTERS: pairs of a stream and its last counter in the
 * previous file. LOSSES: datagrams dropped by the kernel, packets and events dropped by a full
 * queue (64 bits each). */
#define HEPH_OPTION_COUNTERS "tracetta.counters"
#define HEPH_OPTION_LOSSES "tracetta.losses"
#define HEPH_OPTION_PORTS "tracetta.ports" /* on the wire only */

/* Uses the value of an option that a receiver wrote. Sets *is_known to false if it is another
 * option. */
TTR_MUST ttr_status heph_use_receiver_option(struct input *in, ttr_text name, struct cursor value,
                                             bool *is_known, ttr_error *error);

/* --- heph_transfer.c: packets over a network --- */
extern const struct format_transfer heph_transfer;

/* --- heph_diagnostics.c: table of diagnostic codes --- */
extern const ttr_diagnostic_info heph_diagnostics[];

#endif
