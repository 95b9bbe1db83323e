/* State of the CTF reader, and the functions that the files of this folder share. ctf_read.h has
 * what writers use of the reader. Thread rule: one thread per input. Trace and trace class are
 * read-only once the inputs exist, except that decoders and layouts are compiled at first use. */
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
#define CTF_SLOTS_MAX 32u /* most packets in one batch, for traces of few inputs */
/* most packets in one batch, for traces of hundreds of inputs, which have small windows */
#define CTF_SLOTS_SMALL 8u
#define CTF_SLOTS_MIN 4u /* most packets in one batch, for a thousand inputs and more */
/* streams per file up to which linear search is as fast as a hash table */
#define CTF_LINEAR_SEARCH_MAX 8u
/* log2 of bits. The window moves inside a packet in multiples of this, so that every type keeps its
 * alignment. */
#define CTF_STEP_MAX 15u
#define CTF_STEP_MIN 9u /* the default granularity: one cache line */

/* A stream class (one kind of data stream) with its compiled layouts. */
struct ctf_stream_decoder {
    const struct ctf_stream_class *class;
    /* this decoder; for RFC v1.1 packets of the foreign byte order: the decoder of the metadata's
     * own byte order */
    const struct ctf_stream_decoder *first;
    /* layouts of packet context and event header; NULL if the class has none */
    const struct layout *context, *header;
    /* fast decoder for packet contexts with fixed offsets; is_fixed is false for all others */
    struct ctf_fixed_root head;
    /* layout of the packet context without the fields that only the reader uses (sizes, counters)
     */
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
    /* offset of the number (or of the first skipped number) in the event body, in bytes */
    uint16_t at;
    /* size of the number in bytes, 4 or 8; 0 = the event class has no such field */
    uint8_t bytes;
    uint8_t skipped; /* LEB128 numbers to skip, from offset `at`, to reach the number */
    bool is_big_endian, is_signed;
    bool is_leb; /* the number itself is LEB128 encoded; `bytes` is 8 then */
};

/* Positions of the fields that identify a thread. In `name`, `bytes` is a length in characters. */
struct ctf_thread_fields {
    struct ctf_field_pos pid, tid, name;
    /* a pid or tid, or the name, must be decoded in each event */
    bool has_variable_number, has_variable_name;
};

/* Position of an event in its packet, in bits from `base`. */
struct ctf_event_place {
    const uint8_t *base;
    uint64_t header_at, body_at, end;
};

/* Everything that is equal for all events of one event class in one stream. */
struct ctf_event_decoder {
    ttr_event model;
    const struct layout *layout; /* layout of contexts and payload; NULL = the body has no fields */
    /* size of an event body that starts at a byte boundary, in bits; 0 = sizes differ */
    uint64_t fixed;
    struct layout_shape shape; /* size rule of event bodies that start at a byte boundary */
    /* events decoded so far by the general path; ctf_class_entry counts those of the fast loop */
    uint64_t events_read;
    bool has_thread, has_imports;
    bool has_variable_number, has_variable_name; /* copied from ctf_thread_fields */
    /* its events can be decoded from their own bytes alone (no thread, no packet fields) */
    bool is_usual;
    struct ctf_field_pos pid, tid, name; /* copied from ctf_thread_fields */
    /* CTF 1.8: layout of a body in which a field advances the clock; NULL = no such field */
    const struct layout *times;
    /* event attributes declared by traces that our own writer wrote; NULL in other traces */
    const struct ctf_dialect_attributes *dialect_attributes;
    /* schema of the event class; owned by the class, unless all streams of the trace share it */
    struct ctf_schema *schema;
};

/* Everything that the fast loop needs for one event id, in one cache line. Each stream has its own
 * entries, so with hundreds of streams the size matters. */
struct ctf_class_entry {
    struct ctf_event_decoder *class; /* decoder; NULL until the first event of this id */
    /* rule for the end of an event, header included; only set for classes that the fast loop reads
     */
    struct layout_byte_shape bytes;
    /* ttr_event members that have one value for all events of the class */
    ttr_id schema, name, provider, category, track;
    uint8_t kind, level, opcode, flags;
    uint64_t events_read; /* events decoded by the fast loop; ctf_event_decoder counts the others */
};

#define CTF_LINE 64u

_Static_assert(sizeof(struct ctf_class_entry) == CTF_LINE, "an entry is a line of the cache");

/* A parsed packet header and packet context, with the faults found in them. */
struct ctf_frame {
    struct ctf_packet packet;
    struct ctf_stream_decoder *kind;
    uint64_t number; /* stream instance id */
    bool has_number;
    uint64_t head; /* size of packet header and context together, in bits */
    uint64_t context_bit;
    unsigned discarded_width, sequence_width;
    /* clock value after the packet context; valid if has_ticks: a context field advanced the clock
     */
    uint64_t ticks;
    bool has_ticks;
    bool is_whole_file; /* the packet declares no size: it ends with the file */
    /* the declared content size has byte granularity, so up to 7 padding bits may follow the last
     * event */
    bool is_rounded;
    /* the tracer never stored the sizes; the content ends after the last event */
    bool is_unfinished;
    bool has_unset_size; /* the tracer stored the content size but not the packet size */
    bool is_resized; /* the declared packet size is impossible; packet.size is the repaired one */
    uint64_t declared_size;    /* declared packet size in bits, if is_resized */
    uint64_t declared_content; /* declared content size in bits */
    bool is_size_wrong;        /* the declared packet size is impossible */
    bool is_overfull;          /* the declared content is larger than the packet */
    /* the declared content is smaller than the header; it is read like an unfinished packet */
    bool is_underfull;
    struct rfc11_packet rfc; /* RFC v1.1: the 48-byte packet header */
    bool is_foreign;         /* the packet has the UUID of another trace */
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
    /* out of memory, or the metadata cannot be compiled into layouts; `error` is set */
    CTF_FRAME_FAILED
};

/* Reasons why ctf_read_events returned. */
enum ctf_stop_reason {
    CTF_STOP_FULL,    /* the batch is full */
    CTF_STOP_EDGE,    /* the end of the content or of the window is reached (reader->bits.end) */
    CTF_STOP_UNKNOWN, /* the metadata declare no event class with this id */
    /* the event class cannot be compiled into a layout; reader->why has the reason */
    CTF_STOP_CLASS,
    CTF_STOP_ZERO,  /* an event of zero bits, which would repeat forever */
    CTF_STOP_NAMES, /* the next event names a thread; the batch must be emitted first */
    CTF_STOP_BAD,   /* a field has an invalid value; reader->run describes it */
    CTF_STOP_FAILED
};

struct ctf_file_index;

struct ctf_reader {
    /* Members used by each call come first, since with many inputs they are not in the cache. */
    struct input *in;
    struct ctf_trace *trace;
    struct ctf_stream *stream; /* stream of the current packet */
    ttr_error *error;
    uint64_t offset; /* file offset of bits.base */
    /* `at`: end of the last event; `end`: end of the content or of the window */
    struct bits bits;
    uint64_t content_end;   /* end of the packet's content, in bits from bits.base */
    uint64_t next;          /* file offset of the next packet */
    uint64_t previous_size; /* size of the previous packet in bytes; 0 = none yet */
    /* for reads up to a time limit: offset at which the last read started, and twice the number of
     * bytes that most reads consume */
    uint64_t last_read_from, stride;
    uint64_t ticks;
    int64_t time;         /* time of the last event, ns */
    uint64_t events_read; /* events decoded from the current packet */
    int64_t from, to;     /* requested time range in ns, both inclusive */
    /* end time of the last packet that has events; INT64_MIN before the first */
    int64_t packet_end;
    /* index of the first packet with events to emit; of earlier packets, only the counters are read
     */
    uint64_t wanted;
    uint32_t slot; /* index of the current packet in `packets` */
    uint32_t slots_n;
    ttr_status status;      /* error of a read that returned CTF_STOP_FAILED */
    bool is_eventless;      /* the trace has no stream files, so there are no events */
    bool is_unpacked;       /* RFC v1.1: `bits` points into `unpacked` instead of the window */
    bool is_inside;         /* bits.at is inside a packet, not between packets */
    bool is_stream_defined; /* the event CTF_DEFINITION_STREAM was emitted */
    bool is_damaged;        /* the current packet has damage */
    /* the packet's only fault is that its content cannot be decoded; copies store the packet
     * unchanged */
    bool is_sealed;
    /* the event CTF_DEFINITION_PACKET of the current packet has still to be emitted */
    bool is_copied;
    /* the caller re-encodes all packets, so no packet has to stay complete in the window */
    bool is_encoded;
    bool is_over; /* the file was found to end at `next` */
    bool is_lost; /* no packet starts at `next`; frame.code and frame.text have the reason */
    bool is_size_reported; /* the wrong size of the current packet was reported */
    bool is_cut_reported;  /* a last packet that the end of the file cuts off was reported */
    /* no packet starts from this offset up to the end of the searched bytes; 0 = not searched */
    uint64_t no_packet_after;
    /* this input reports a file that ends inside the padding of its last packet */
    bool reports_cut;
    bool is_in_order; /* packets of the file do not overlap in time */
    bool is_foreign;  /* packets with the uuid of another trace were read */
    /* RFC v1.1: the file name contains the cpu number, which is in `cpu` */
    bool has_cpu;
    /* index of the file, shared by the inputs of that file; may be NULL */
    struct ctf_file_index *file_index;
    struct buffer heads;
    /* packets with events in the batch: slots_max elements; NULL before the first packet */
    struct ctf_packet *packets;
    uint32_t slots_max; /* a power of two from CTF_SLOTS_MIN to CTF_SLOTS_MAX */
    struct layout_cursor run;

    /* name of the stream file, relative to the trace folder */
    const char *file;
    const struct ctf_stream_class *section; /* RFC v1.1: stream class of all packets in the file */
    uint32_t cpu;
    /* `cpu` in little-endian, in the form of a packet field. The other 12 bytes are padding for
     * wide loads. */
    uint8_t cpu_bytes[16];
    struct buffer unpacked;
    uint64_t number; /* index of the file among the files of its trace */
    /* index of the packet queue that this input reads; unused if reads_all_queues */
    uint32_t queue;
    bool reads_all_queues; /* this input reads the packets of all queues, in file order */
    uint64_t packet_i;     /* index in the file of the packet at `next` */
    bool is_entered_late;  /* reading started at a later packet than the first of the file */
    struct ctf_stream **streams;
    size_t streams_n, streams_capacity;
    /* id of each stream -> index into `streams`; used above CTF_LINEAR_SEARCH_MAX streams
     * (ctf_stream_index.c) */
    struct pair_map stream_of;
    struct ctf_frame frame; /* header of the current packet */
    size_t need;            /* bytes that the window should contain after its start */
    uint64_t bad_id;        /* event id, for CTF_STOP_UNKNOWN and CTF_STOP_CLASS */
    char why[120];          /* why the class cannot be compiled, for CTF_STOP_CLASS */
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

/* Name and size limit of the file that describes the stream files of its folder. */
#define CTF_METADATA "metadata"
#define CTF_METADATA_MAX (UINT64_C(256) << 20)

/* --- Trace and trace class (ctf_trace.c) --- */

/* Returns a trace without metadata, with one reference owned by the caller. The trace owns `folder`
 * (NULL = none) afterwards; on failure `folder` is freed too. */
struct ctf_trace *ctf_trace_new(ttr *t, struct folder *folder, ttr_error *error);

/* Publishes the class of a trace with complete metadata, so that other traces of the library
 * context can share the class. */
void ctf_trace_publish_class(struct ctf_trace *trace);

/* Ends that: the class was changed, so it does not belong to its metadata any more. */
void ctf_trace_retract_class(const struct ctf_trace *trace);

/* Replaces the class of a trace by a published class with equal metadata and options. Returns false
 * if there is none. */
bool ctf_trace_use_published_class(struct ctf_trace *trace);

/* Replaces the class of a trace by `class`, and drops the reference to the previous class. */
void ctf_trace_set_class(struct ctf_trace *trace, struct ctf_trace_class *class);

/* Parses unpacked metadata into the description. May be called again when a live trace gets more
 * metadata. */
TTR_MUST ttr_status ctf_trace_parse(struct ctf_trace *trace, enum ctf_version version,
                                    const struct ctf_text *text, ttr_error *error);

/* Adds an input to the trace. The input reads stream file `name`, which is file `number` of the
 * trace. */
void ctf_trace_add_input(struct ctf_trace *trace, struct input *in, const char *name,
                         uint64_t number);

/* Makes the reader known to the trace under the source id of its events, and the reverse. A reader
 * is registered from its first stream until it is closed. Registering returns false if memory is
 * out. */
TTR_MUST bool ctf_trace_register_reader(struct ctf_trace *trace, const struct ctf_reader *reader);
void ctf_trace_unregister_reader(struct ctf_trace *trace, const struct ctf_reader *reader);

/* Compiles the layout of the packet header. The metadata must be complete. */
TTR_MUST ttr_status ctf_trace_compile(struct ctf_trace *trace, ttr_error *error);

/* Returns the decoder of a stream class, compiled at first use. Returns NULL with `error` on
 * failure. */
struct ctf_stream_decoder *ctf_get_stream_decoder(struct ctf_trace *trace,
                                                  const struct ctf_stream_class *class,
                                                  ttr_error *error);

/* --- Packet framing (ctf_packet.c) --- */

/* Parses the packet header and context at bits->base into `frame`. Available are the bytes up to
 * bits->end. */
enum ctf_framing ctf_frame_packet(struct ctf_trace *trace, const struct ctf_stream_class *section,
                                  const struct bits *bits, struct ctf_frame *frame,
                                  ttr_error *error);

/* --- Streams (ctf_stream.c) --- */

/* Returns the stream of a packet. Adds the stream to the reader if it is new. Returns NULL if
 * memory is out. */
struct ctf_stream *ctf_get_stream(struct ctf_reader *reader, const struct ctf_frame *frame);

/* Unregisters the reader, and frees its streams and the schemas that they own. */
void ctf_free_streams(struct ctf_reader *reader);

/* --- Event classes (ctf_event_class.c) --- */

/* Returns the decoder of an event id in the current stream. Returns NULL if the id is not declared
 * (*error is untouched) or compiling failed (`error` is set). */
struct ctf_event_decoder *ctf_get_event_decoder(struct ctf_reader *reader, uint64_t id,
                                                ttr_error *error);

/* Copies the declared properties of an event class (name, log level, ...) from the metadata to
 * `about`. */
void ctf_describe_declared_class(const struct ctf_trace *trace, const struct ctf_event_class *event,
                                 struct event_class *about);

/* --- Threads (ctf_event_thread.c) --- */

/* Returns the id of the thread that the event belongs to, registered if it is new. `body` is the
 * complete body of the event; the class must have thread fields. Returns 0 if memory is out. */
ttr_id ctf_find_thread(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                       const uint8_t *body);

/* The same for an event of which the pid or tid has no fixed position, or that starts inside a
 * byte: decodes the context. Returns 0 if the context lacks both, too. */
ttr_id ctf_find_thread_in_context(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                                  const struct ctf_event_place *place);

/* Names the event's thread, if it has no name yet, by a name field without fixed position. Returns
 * false if memory is out. */
TTR_MUST bool ctf_name_thread_from_context(struct ctf_reader *reader,
                                           const struct ctf_event_decoder *class,
                                           const struct ctf_event_place *place, ttr_id id);

/* --- Fields from outside of an event body (ctf_event_fields.c) --- */

/* Fills the slots that a layout imports: fields of the packet, and of the event header at `header`.
 */
void ctf_fill_earlier_values(struct ctf_reader *reader, const struct layout *layout,
                             const struct bits *header, struct layout_cursor *run);

/* Computes the bit range of an event in its packet. The end is rounded up to a byte if the next
 * event is byte-aligned. */
void ctf_compute_event_bit_range(const struct ctf_schema *schema, const ttr_event *event,
                                 uint64_t *from, uint64_t *to);

/* ttr_event.body of CTF events. The low 29 bits are the bit offset of the body in its packet. The
 * high 3 bits are the bit, within its byte, at which the event header starts. */
#define CTF_BODY_MASK 0x1fffffffu

static inline uint64_t ctf_event_body_bit(const ttr_event *event)
{
    return event->body & CTF_BODY_MASK;
}

static inline uint64_t ctf_event_header_bit(const ttr_event *event)
{
    return event->body >> 29;
}

/* Returns the counters of the current stream. Streams that differ only in byte order share them. */
static inline struct ctf_counters *ctf_get_counters(const struct ctf_stream *stream)
{
    return &stream->first->before;
}

/* Returns how many bytes the window contains from a file offset on; 0 if the offset is outside of
 * the window. */
static inline uint64_t ctf_window_bytes_from(const struct ctf_reader *reader, uint64_t offset)
{
    const struct window *window = &reader->in->window;
    return offset < window->offset || offset - window->offset > window->n
               ? 0
               : window->offset + window->n - offset;
}

/* --- Counters of lost events (ctf_discarded.c) --- */

/* Sets the stream's counters to those of a packet that was read or skipped. */
void ctf_update_counters(struct ctf_counters *before, const struct ctf_packet *packet);

/* --- Events (ctf_events.c) --- */

/* Informs the merge that this input has no more events before `time` (ns); INT64_MAX = no more
 * events at all. */
static inline void ctf_stop_before(struct input *in, int64_t time)
{
    in->is_stopped = true;
    in->stopped_at = time;
}

/* Decodes events of the current packet and appends them to the batch. Returns the reason why it
 * stopped. */
enum ctf_stop_reason ctf_read_events(struct ctf_reader *reader);

/* --- Members of struct format_reader (ctf_read.c) --- */
ttr_status ctf_open(struct input *in, ttr_error *error);
ttr_status ctf_next(struct input *in, ttr_error *error);
void ctf_close(struct input *in);
void ctf_set_range(struct input *in, int64_t from_ns, int64_t to_ns);
uint32_t ctf_event_kinds(struct input *in);

/* --- Members of struct format_folder (ctf_open.c) --- */
ttr_reader *ctf_open_folder(ttr *t, struct folder *folder, const char *only,
                            const ttr_read_options *options, ttr_error *error);

/* --- Members of struct format_description (ctf_describe_event_class.c) --- */

bool ctf_describe_event_class(struct input *in, size_t i, struct event_class *about,
                              uint64_t *events);
ttr_status ctf_print_description(struct input *in, const char *language, struct buffer *to,
                                 ttr_error *error);

ttr_reader *ctf_open_folders(ttr *t, const struct found_folders *found,
                             const ttr_read_options *options, ttr_error *error);

/* --- Faults of tracers (ctf_tracer_quirks.c) --- */
void ctf_find_quirks(struct ctf_trace *trace);

/* --- Recognition of files (ctf_bid.c) --- */
unsigned ctf_bid(const struct peek *peek);
bool ctf_is_stream_file(const struct file_prefix *metadata, const struct file_prefix *file);

/* --- ctf_diagnostics.c --- */
extern const ttr_diagnostic_info ctf_diagnostics[];

#endif
