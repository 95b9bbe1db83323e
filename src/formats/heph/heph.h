/* The Heph reader: its state and the internal functions of its files.  heph_format.h has drawings
 * of the byte layout. */
#ifndef TRACETTA_FORMATS_HEPH_H
#define TRACETTA_FORMATS_HEPH_H

#include "base/cursor.h"
#include "formats/heph/heph_counters.h"
#include "formats/heph/heph_format.h"
#include "model/input.h"

#define HEPH_NAME_SLOTS                                                            \
    1024u /* slots of the description cache and of the thread cache; powers of two \
           */
#define HEPH_THREAD_SLOTS 256u

/* Meaning of an event whose description the Heph runtime is known to write. */
enum heph_description_kind {
    HEPH_ANY = 0,
    HEPH_RUNTIME, /* the description occurs only in traces of the runtime */
    /* attribute "worker_threads" is the number of worker threads; streams above it are synchronous
     * actors */
    HEPH_BUILDING,
    HEPH_RUN /* attributes "id" and "name" name the actor that ran */
};

/* A cached description.  Length, first and last eight bytes are compared before the text. */
struct heph_name {
    uint64_t first, last;
    const char *p;
    uint32_t n;
    ttr_id id;
    uint8_t meaning;
};

/* A cached pair of stream and substream. */
struct heph_thread {
    uint64_t substream;
    uint32_t stream;
    uint32_t index; /* index of the stream in counters.streams */
    ttr_id thread;  /* 0 if the slot is free */
};

struct heph_reader {
    const struct heph_layout *layout;
    uint64_t offset; /* file offset of the next packet */
    uint64_t max_packet;
    uint64_t epoch; /* ns since 1970 at time 0 of the trace; 0 while unknown */
    bool has_epoch;
    bool is_epoch_given;   /* set by option epoch; epoch packets are ignored */
    uint64_t epochs_until; /* file offset; epoch packets before it were examined by heph_open */
    int64_t time;          /* time of the last event in ns, used for gaps */
    ttr_id schema, nested; /* schemas of events with flat arrays, and with arrays in arrays */
    bool is_lost;          /* `offset` is not a packet boundary: search for one */
    uint64_t lost_from;    /* file offset where the search started */
    /* an epoch packet with a corrected frame */
    uint8_t repaired[HEPH_EPOCH_PACKET];
    bool is_torn;         /* during a search: the input may end inside a packet */
    uint64_t zeros_until; /* file offset; bytes from `offset` to here are zero */
    /* during a search: end offset of an oversized packet by `large_size`, its size field; 0 if none
     */
    uint64_t large_until;
    uint32_t large_size;
    /* another trace starts at `offset`: report lost events before the counters are cleared */
    bool is_restart;
    bool is_out_of_memory;
    bool has_substreams; /* true if some event has a substream other than 0 */
    bool is_runtime;     /* the trace was written by the Heph runtime */
    uint64_t workers;    /* number of worker threads; 0 if unknown */
    uint64_t work;       /* work spent on searching; limited by spend_work in heph_resync.c */
    uint64_t events;
    size_t gaps_emitted;    /* number of streams whose lost events were emitted as gaps */
    bool are_notes_emitted; /* the notes about the counters were emitted */
    struct heph_counters counters;
    struct heph_name names[HEPH_NAME_SLOTS];
    struct heph_thread threads[HEPH_THREAD_SLOTS];
};

extern const struct format format_heph;

/* --- heph_bid.c --- */
unsigned heph_bid(const struct peek *peek);

/* Returns a layout by name, NULL if the name is unknown.  "auto" chooses it by the events in the
 * window. */
const struct heph_layout *heph_find_layout(const char *name, const struct window *window,
                                           uint64_t max_packet);

/* --- heph_packet.c: validation of packets --- */

/* Returns whether the HEPH_FRAME bytes at `p` are a magic number and a size that its packet type
 * allows. */
bool heph_is_valid_frame(const uint8_t *p, const struct heph_layout *layout, uint64_t max_packet);

/* Returns the size field of a packet, in bytes. */
uint32_t heph_packet_size(const uint8_t *p);

/* Returns whether the content of a complete packet fills its size exactly.  The caller checks the
 * frame. */
bool heph_is_valid_packet(const uint8_t *packet, uint32_t size, const struct heph_layout *layout);

/* Does the same for arrays in arrays, which the original writer emits by mistake. */
bool heph_is_valid_nested_packet(const uint8_t *packet, uint32_t size,
                                 const struct heph_layout *layout);

/* Returns whether the packet is metadata that sets the epoch, and stores its value. */
bool heph_parse_epoch(const uint8_t *packet, uint32_t size, uint64_t *epoch);

/* Moves the window to reader->offset, with at least `need` bytes unless the input ends before. */
TTR_MUST ttr_status heph_load_packet(struct input *in, uint64_t need, ttr_error *error);

/* --- heph_epoch.c --- */

/* Determines the epoch before the first event is read. */
TTR_MUST ttr_status heph_find_epoch(struct input *in, ttr_error *error);

/* Applies an epoch packet that is met while reading. */
TTR_MUST ttr_status heph_apply_epoch(struct input *in, uint64_t epoch, ttr_error *error);

/* --- heph_event.c --- */

/* Adds the event of a packet to the batch. At least header and description must be in its `size`
 * bytes.  `schema` selects the field decoder.  Returns NULL if out of memory. */
ttr_event *heph_add_event(struct input *in, const uint8_t *packet, uint32_t size, ttr_id schema);

/* Adds the bytes at reader->offset as a definition, if definitions are wanted. */
void heph_emit_definition(struct input *in, const uint8_t *bytes, size_t n, ttr_id name);

/* --- heph_names.c --- */

/* Returns what a description of `n` bytes means. */
enum heph_description_kind heph_classify_description(const uint8_t *p, size_t n);

/* Learns names of streams or actors from an event with a known description. Returns false if out of
 * memory. */
TTR_MUST bool heph_learn_names(struct input *in, const ttr_event *event,
                               enum heph_description_kind meaning);

/* Names a new stream if the runtime wrote the trace. */
TTR_MUST bool heph_name_stream(struct input *in, uint32_t stream);

/* --- heph_fields.c --- */
extern const struct field_ops heph_field_ops, heph_nested_ops;

/* --- heph_resync.c --- */

/* Handles the invalid packet at reader->offset: emits what is readable and advances past it. */
TTR_MUST ttr_status heph_recover_packet(struct input *in, ttr_error *error);

/* Skips zero bytes up to zeros_until, and emits them if definitions are wanted.  The batch must
 * have room. */
void heph_skip_zeros(struct input *in);

/* Searches the next packet from reader->offset on. */
TTR_MUST ttr_status heph_search_packet(struct input *in, ttr_error *error);

/* --- heph_read.c --- */
ttr_status heph_open(struct input *in, ttr_error *error);
ttr_status heph_next(struct input *in, ttr_error *error);
void heph_close(struct input *in);

/* --- heph_diagnostics.c --- */
extern const ttr_diagnostic_info heph_diagnostics[];

#endif
