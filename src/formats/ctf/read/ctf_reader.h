/* State of the CTF reader, and the functions that its files call of each other. The part that
 * writers may use is in ctf_read.h. Thread rule: one thread per input. Trace and trace class are
 * read-only once the inputs exist, except for decoders and layouts, which are compiled at first
 * use. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_READER_H
#define TRACETTA_FORMATS_CTF_READ_CTF_READER_H

#include "base/pair_map.h"
#include "formats/ctf/description/ctf_clock.h"
#include "formats/ctf/dialect/ctf_dialect.h"
#include "formats/ctf/packet/ctf_event_header_plan.h"
#include "formats/ctf/read/ctf_read.h"
#include "formats/ctf/packet/rfc11_packet.h"
#include "layout/layout_shape.h"

#define CTF_MAGIC 0xC1FC1FC1u
#define CTF_SLOTS_MAX 32u /* packets that may have events in share one batch */
#define CTF_SLOTS_SMALL                                                                         \
    8u                   /* the same for traces of hundreds of inputs, which have small windows \
                          */
#define CTF_SLOTS_MIN 4u /* the same for traces of a thousand inputs and more */
/* streams per file up to which linear search is as fast as a hash table */
#define CTF_LINEAR_SEARCH_MAX 8u
/* log2 of bits: the window moves inside a packet by multiples of this, so that the alignment of
 * every type is kept */
#define CTF_STEP_MAX 15u
#define CTF_STEP_MIN 9u /* the usual step: one cache line */

/* A stream class with its compiled layouts. */
struct ctf_stream_decoder {
    const struct ctf_stream_class *class;
    /* itself; for RFC v1.1 packets of the foreign byte order: the decoder of the metadata's own
     * byte order */
    const struct ctf_stream_decoder *first;
    /* layouts of the packet context and of the event header; NULL = none */
    const struct layout *context, *header;
    /* decoder of a packet context with fields that have fixed offsets after a fixed packet header
     */
    struct ctf_fixed_root head;
    /* packet context without the fields that only readers need (sizes, counters) */
    const struct layout *context_shown;
    /* RFC v1.1: layout of the event context alone; NULL until needed */
    const struct layout *rfc_context;
    struct ctf_header_plan plan;
    struct ctf_timeline timeline;
    /* log2 of bits: granularity of window moves inside a packet, from CTF_STEP_MIN to CTF_STEP_MAX
     */
    uint8_t step;
};

/* Position of a number in the common event context: a fixed byte offset, or a fixed number of
 * LEB128 numbers after one. */
struct ctf_field_pos {
    uint16_t at;     /* bytes from the start of the body */
    uint8_t bytes;   /* size of the number, 4 or 8; 0 = the class has no such field */
    uint8_t skipped; /* LEB128 numbers to skip, starting at `at` */
    bool is_big_endian, is_signed;
    bool is_leb; /* the number itself is LEB128; `bytes` is 8 then */
};

/* Positions of the fields that identify a thread. The `bytes` of `name` count characters. */
struct ctf_thread_fields {
    struct ctf_field_pos pid, tid, name;
};

/* An event class as one stream uses it: everything that is equal for all its events. */
struct ctf_event_decoder {
    ttr_event model;
    const struct layout *layout; /* layout of contexts and payload; NULL = the body has no fields */
    /* bits of each body that starts at a byte boundary; 0 = differs per event */
    uint64_t fixed;
    struct layout_shape shape; /* size rule of bodies that start at a byte boundary */
    uint64_t given; /* events read so far by the general path; see ctf_class_entry.given */
    bool has_thread, has_imports;
    /* plain: its events need no values from outside of their own bytes */
    bool is_usual;
    struct ctf_field_pos pid, tid, name; /* copied from ctf_thread_fields */
    /* CTF 1.8: layout of a body in which a field advances the clock; NULL = no such field */
    const struct layout *times;
    /* attributes that our own dialect declares for its events; NULL in other traces */
    const struct ctf_dialect_attributes *said;
    struct ctf_schema *schema; /* shared by all streams of the trace, or owned by this class */
};

/* Everything that the fast loop needs for one event id, in one cache line. Each stream has its own
 * entries, so with hundreds of streams the size matters. */
struct ctf_class_entry {
    struct ctf_event_decoder *class; /* NULL until the first event of this id */
    /* rule for the end of an event, header included; only set for plain classes without threads */
    struct layout_byte_shape bytes;
    /* members of ttr_event that are equal for the class */
    ttr_id schema, name, provider, category, track;
    uint8_t kind, level, opcode, flags;
    uint64_t given; /* events read by the fast loop, in addition to ctf_event_decoder.given */
};

#define CTF_LINE 64u

_Static_assert(sizeof(struct ctf_class_entry) == CTF_LINE, "an entry is a line of the cache");

/* A parsed packet header and packet context. */
struct ctf_frame {
    struct ctf_packet packet;
    struct ctf_stream_decoder *kind;
    uint64_t number; /* stream instance id */
    bool has_number;
    uint64_t head; /* size of packet header and context, in bits */
    uint64_t context_bit;
    unsigned discarded_width, sequence_width;
    uint64_t ticks; /* clock after the packet context, if one of its fields advanced the clock */
    bool has_ticks;
    bool is_whole_file; /* the packet declares no size: it ends with the file */
    /* the declared content size has byte granularity, so up to 7 padding bits may follow the last
     * event */
    bool is_rounded;
    /* the tracer never stored the sizes: the content ends where the events end */
    bool is_unfinished;
    bool has_unset_size; /* the same, but the content size is stored */
    bool is_resized; /* the declared packet size is impossible; packet.size is the repaired one */
    uint64_t declared_size;    /* declared packet size in bits, if is_resized */
    uint64_t declared_content; /* declared content size in bits */
    bool is_size_wrong;        /* the declared size cannot be a packet's */
    bool is_overfull;          /* the declared content is larger than the packet */
    /* the declared content is smaller than the header; it is read like an unfinished packet */
    bool is_underfull;
    struct rfc11_packet rfc; /* RFC v1.1: the fixed packet header */
    bool is_foreign;         /* the uuid is that of another trace */
    const char *code;        /* diagnostic code if the frame is bad; `text` describes the damage */
    char text[160];
};

/* Returns true if the packet does not declare the end of its content, so that an event header of
 * zeros ends it. */
static inline bool ctf_ends_with_zeros(const struct ctf_frame *frame)
{
    return frame->is_unfinished || frame->is_overfull;
}

enum ctf_framing {
    CTF_FRAME_OK,
    CTF_FRAME_SHORT,   /* the header continues after the available bytes */
    CTF_FRAME_BAD,     /* not a packet; no size can be derived */
    CTF_FRAME_FOREIGN, /* packet of another trace; its size is valid */
    CTF_FRAME_FAILED   /* out of memory, or the description cannot be compiled; see the error */
};

/* Reason why reading events of a packet stopped. */
enum ctf_stop_reason {
    CTF_STOP_FULL,    /* the batch is full */
    CTF_STOP_EDGE,    /* reader->bits.end is reached */
    CTF_STOP_UNKNOWN, /* no event class has this id */
    CTF_STOP_CLASS,   /* the class cannot be compiled; reader->why has the reason */
    CTF_STOP_ZERO,    /* an event of zero bits */
    CTF_STOP_NAMES,   /* a thread gets its name next and the batch is not empty */
    CTF_STOP_BAD,     /* a field has an impossible value; reader->run has the details */
    CTF_STOP_FAILED
};

struct ctf_file_index;

struct ctf_reader {
    /* Members used by each call are first: with many inputs, the cache has lost them between calls.
     */
    struct input *in;
    struct ctf_trace *trace;
    struct ctf_stream *stream; /* stream of the current packet */
    ttr_error *error;
    uint64_t offset; /* file offset of bits.base */
    /* `at`: earliest start of the next event; `end`: end of the content or of the window */
    struct bits bits;
    uint64_t content_end;   /* bits after bits.base */
    uint64_t next;          /* file offset of the next packet */
    uint64_t previous_size; /* size of the previous packet in bytes; 0 = none yet */
    /* for reads up to a time limit: offset where the last one started, and twice the bytes that
     * most of them consume */
    uint64_t last_read_from, stride;
    uint64_t ticks;
    int64_t time;     /* time of the last event, ns */
    uint64_t given;   /* events read from the current packet */
    int64_t from, to; /* requested time range, ns */
    /* end time of the last packet that has events; INT64_MIN before the first */
    int64_t packet_end;
    uint64_t wanted; /* index of the first packet to read; earlier ones only update counters */
    uint32_t slot;   /* index of the current packet in `packets` */
    uint32_t slots_n;
    ttr_status status;      /* status of CTF_STOP_FAILED */
    bool is_eventless;      /* the trace has no stream files, so there are no events */
    bool is_unpacked;       /* RFC v1.1: `bits` points into `unpacked` instead of the window */
    bool is_inside;         /* reading is inside a packet */
    bool is_stream_defined; /* the definition of the stream was emitted */
    bool is_damaged;        /* the current packet has damage */
    /* the only fault of the packet is content that cannot be decoded; copies keep it as stored */
    bool is_sealed;
    bool is_copied; /* the packet definition has still to be emitted */
    /* the consumer re-encodes all packets, so no packet has to be kept in the window */
    bool is_encoded;
    bool is_over; /* the file ends at `next`; this was checked */
    bool is_lost; /* no packet starts at `next`; frame.code and frame.text have the reason */
    bool is_size_reported; /* the wrong size of the current packet was reported */
    bool is_cut_reported;  /* the truncated last packet was reported */
    /* from this offset to the end of the file, as far as searched, no packet starts; 0 = not known
     */
    uint64_t no_packet_after;
    /* report a file that ends inside padding: the last packet belongs to this input */
    bool reports_cut;
    bool is_in_order;                  /* packets of the file do not overlap in time */
    bool is_foreign;                   /* packets with the uuid of another trace were read */
    bool has_cpu;                      /* RFC v1.1: the file name contains the cpu */
    struct ctf_file_index *file_index; /* index of the file, shared by its inputs; may be NULL */
    struct buffer heads;
    struct ctf_packet *packets; /* slots_max elements; NULL before the first packet */
    uint32_t slots_max;         /* a power of two from CTF_SLOTS_MIN to CTF_SLOTS_MAX */
    struct layout_cursor run;

    const char *file;                       /* path below the trace folder */
    const struct ctf_stream_class *section; /* RFC v1.1: stream class of all packets in the file */
    uint32_t cpu;
    /* `cpu` in little-endian, as if it were stored in packets; 12 bytes are padding for wide loads
     */
    uint8_t cpu_bytes[16];
    struct buffer unpacked;
    uint64_t number;       /* index of the file among the files of its trace */
    uint32_t queue;        /* index of the packet queue that this input reads */
    bool reads_all_queues; /* reads all packet queues, in file order */
    uint64_t packet_i;     /* index of the packet at `next` */
    bool is_entered_late;  /* reading started after the first packet */
    struct ctf_stream **streams;
    size_t streams_n, streams_capacity;
    /* index into `streams` by stream id, used above CTF_LINEAR_SEARCH_MAX; see ctf_event_class.c */
    struct pair_map stream_of;
    struct ctf_frame frame; /* header of the current packet */
    size_t need;            /* bytes the window should have after its start */
    uint64_t bad_id;        /* event id of CTF_STOP_UNKNOWN and CTF_STOP_CLASS */
    char why[120];          /* reason of CTF_STOP_CLASS */
    uint64_t last_pid, last_tid;
    ttr_id last_thread;
};

extern const struct format format_ctf;

/* Returns the file offset of a bit of the current packet. For unpacked content it is at most the
 * end of the stored packet. */
static inline uint64_t ctf_file_offset_of_bit(const struct ctf_reader *reader, uint64_t bit)
{
    uint64_t place = reader->offset + bit / 8, end = reader->offset + reader->frame.packet.size / 8;
    return reader->is_unpacked && place > end ? end : place;
}

/* Name and largest size of the file that describes the stream files of its folder. */
#define CTF_METADATA "metadata"
#define CTF_METADATA_MAX (UINT64_C(256) << 20)

/* --- ctf_trace.c --- */

/* Returns a trace without metadata, with one reference owned by the caller. Owns `folder` (NULL =
 * none) afterwards, also on failure. */
struct ctf_trace *ctf_trace_new(ttr *t, struct folder *folder, ttr_error *error);

/* Publishes the class of a complete trace, so that other traces of the library context can share
 * it. */
void ctf_trace_publish_class(struct ctf_trace *trace);

/* Replaces the class of a trace by a published one with the same metadata and options. Returns
 * false if there is none. */
bool ctf_trace_use_published_class(struct ctf_trace *trace);

/* Replaces the class of a trace by that of another one, and releases its own. */
void ctf_trace_set_class(struct ctf_trace *trace, struct ctf_trace_class *class);

/* Parses unpacked metadata into the description. May be called again when a live trace gets more
 * metadata. */
TTR_MUST ttr_status ctf_trace_parse(struct ctf_trace *trace, enum ctf_version version,
                                    const struct ctf_text *text, ttr_error *error);

/* Adds an input to the trace as the reader of stream file `name`, which has index `number`. */
void ctf_trace_add_input(struct ctf_trace *trace, struct input *in, const char *name,
                         uint64_t number);

/* Registers a reader under the source id of its events, from its first stream until it is closed.
 * Returns false if memory is out. */
TTR_MUST bool ctf_trace_register_reader(struct ctf_trace *trace, const struct ctf_reader *reader);
void ctf_trace_unregister_reader(struct ctf_trace *trace, const struct ctf_reader *reader);

/* Compiles the packet header of a complete description. */
TTR_MUST ttr_status ctf_trace_compile(struct ctf_trace *trace, ttr_error *error);

/* Returns the stream class with its layouts, compiled at first use. Returns NULL with `error` on
 * failure. */
struct ctf_stream_decoder *ctf_stream_decoder_of(struct ctf_trace *trace,
                                                 const struct ctf_stream_class *class,
                                                 ttr_error *error);

/* --- ctf_packet.c --- */

/* Parses the packet header and context at bits->base. bits->end is the end of the available bytes.
 */
enum ctf_framing ctf_frame_packet(struct ctf_trace *trace, const struct ctf_stream_class *section,
                                  const struct bits *bits, struct ctf_frame *frame,
                                  ttr_error *error);

/* --- ctf_stream.c --- */

/* Returns the stream of a packet, added if it is new. Returns NULL if memory is out. */
struct ctf_stream *ctf_get_stream(struct ctf_reader *reader, const struct ctf_frame *frame);

/* Unregisters the reader and frees its streams with the schemas that they own. */
void ctf_free_streams(struct ctf_reader *reader);

/* --- ctf_event_class.c --- */

/* Returns the decoder of an event id in the current stream. Returns NULL if the id is not declared
 * (*error is untouched) or compiling failed (`error` is set). */
struct ctf_event_decoder *ctf_event_decoder_of(struct ctf_reader *reader, uint64_t id,
                                               ttr_error *error);

/* Fills the properties of an event class that the metadata declare. */
void ctf_describe_class(const struct ctf_trace *trace, const struct ctf_event_class *event,
                        struct event_class *about);

/* --- ctf_event_thread.c --- */

/* Returns the thread of the event with the complete body at `body`, registered if it is new.
 * Returns 0 if memory is out. The class must have thread fields. */
ttr_id ctf_find_thread(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                       const uint8_t *body);

/* --- ctf_event_fields.c --- */

/* Fills the imported slots of a layout from the packet and from the event header at `header`. */
void ctf_fill_imports(struct ctf_reader *reader, const struct layout *layout,
                      const struct bits *header, struct layout_cursor *run);

/* Computes the bit range of an event in its packet. The end is rounded up to a byte if the next
 * event is byte-aligned. */
void ctf_event_bit_range(const struct ctf_schema *schema, const ttr_event *event, uint64_t *from,
                         uint64_t *to);

/* ttr_event.body of CTF: the low 29 bits are the bit offset of the body, the high 3 bits are the
 * bit of that byte in which the header starts. */
#define CTF_BODY_MASK 0x1fffffffu

static inline uint64_t ctf_body_bit(const ttr_event *event)
{
    return event->body & CTF_BODY_MASK;
}

static inline uint64_t ctf_header_bit(const ttr_event *event)
{
    return event->body >> 29;
}

/* Returns the counters of the current stream, shared by its decoders of both byte orders. */
static inline struct ctf_counters *ctf_counters_of(const struct ctf_stream *stream)
{
    return &stream->first->before;
}

/* Returns the number of window bytes from a file offset on; 0 if the offset is outside. */
static inline uint64_t ctf_bytes_from(const struct ctf_reader *reader, uint64_t offset)
{
    const struct window *window = &reader->in->window;
    return offset < window->offset || offset - window->offset > window->n
               ? 0
               : window->offset + window->n - offset;
}

/* --- ctf_discarded.c --- */

/* Updates the stream's counters with those of a packet that was read or skipped. */
void ctf_update_counters(struct ctf_counters *before, const struct ctf_packet *packet);

/* --- ctf_events.c --- */

/* Reports to the merge that no event before `time` (ns) is left; INT64_MAX = no event at all. */
static inline void ctf_stop_before(struct input *in, int64_t time)
{
    in->is_stopped = true;
    in->stopped_at = time;
}

/* Appends events of the current packet to the batch. Returns why it stopped. */
enum ctf_stop_reason ctf_read_events(struct ctf_reader *reader);

/* --- ctf_read.c --- */
ttr_status ctf_open(struct input *in, ttr_error *error);
ttr_status ctf_next(struct input *in, ttr_error *error);
void ctf_close(struct input *in);
void ctf_set_range(struct input *in, int64_t from_ns, int64_t to_ns);
uint32_t ctf_event_kinds(struct input *in);

/* --- ctf_open.c --- */
ttr_reader *ctf_open_folder(ttr *t, struct folder *folder, const char *only,
                            const ttr_read_options *options, ttr_error *error);

/* --- ctf_describe_event_class.c --- */

/* Implement the members of struct format with these names. */
bool ctf_describe_event_class(struct input *in, size_t i, struct event_class *about,
                              uint64_t *events);
ttr_status ctf_print_description(struct input *in, const char *language, struct buffer *to,
                                 ttr_error *error);

ttr_reader *ctf_open_folders(ttr *t, const struct found_folders *found,
                             const ttr_read_options *options, ttr_error *error);

/* --- ctf_tracer_quirks.c --- */
void ctf_find_quirks(struct ctf_trace *trace);

/* --- ctf_bid.c --- */
unsigned ctf_bid(const struct peek *peek);
bool ctf_is_stream_file(const struct file_prefix *metadata, const struct file_prefix *file);

/* --- ctf_diagnostics.c --- */
extern const ttr_diagnostic_info ctf_diagnostics[];

#endif
