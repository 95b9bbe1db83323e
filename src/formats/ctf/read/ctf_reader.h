/* State of the CTF reader, and the functions that the files of this folder share. ctf_read.h has
 * the types that writers use, too. Thread rule: one thread per input. Trace and trace class are
 * read-only once the inputs exist, except that decoders and layouts are compiled at first use. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_READER_H
#define TRACETTA_FORMATS_CTF_READ_CTF_READER_H

#include "base/pair_map.h"
#include "formats/ctf/description/ctf_clock.h"
#include "formats/ctf/conventions/ctf_conventions.h"
#include "formats/ctf/packet/ctf_event_header_plan.h"
#include "formats/ctf/read/ctf_read.h"
#include "formats/ctf/packet/rfc11_packet.h"
#include "layout/layout_shape.h"

#define CTF_MAGIC 0xC1FC1FC1u
#define CTF_SLOTS_MAX 32u /* packets per batch, for traces of few inputs */
/* packets per batch, for traces of hundreds of inputs, which have small windows */
#define CTF_SLOTS_SMALL 8u
#define CTF_SLOTS_MIN 4u /* packets per batch, for a thousand inputs and more */
/* files with more streams use a hash table to find a stream, others a linear search */
#define CTF_LINEAR_SEARCH_MAX 8u
/* Bounds of ctf_stream_decoder.step, log2 of bits. Inside a packet the window moves by multiples of
 * 1 << step bits, so that every type keeps its alignment. */
#define CTF_STEP_MAX 15u
#define CTF_STEP_MIN 9u /* 64 bytes, a cache line; the usual step */

/* A stream class (one kind of data stream) with its compiled layouts. */
struct ctf_stream_decoder {
    const struct ctf_stream_class *class;
    /* this decoder; RFC v1.1: for packets of the other byte order, the decoder of the metadata's
     * byte order */
    const struct ctf_stream_decoder *first;
    /* layouts of packet context and event header; NULL if the class has none */
    const struct layout *context, *header;
    /* positions of the packet context's fields if they are fixed; is_fixed is false otherwise */
    struct ctf_fixed_root head;
    /* layout of the packet context without the fields that are not printed (sizes, times, counters)
     */
    const struct layout *context_shown;
    /* RFC v1.1: layout of the event context alone; NULL until needed */
    const struct layout *rfc_context;
    struct ctf_header_plan plan;
    struct ctf_timeline timeline;
    /* log2 of bits: the window moves inside a packet by multiples of this, from CTF_STEP_MIN to
     * CTF_STEP_MAX */
    uint8_t step;
};

/* Position of a field in the common event context: a byte offset, optionally followed by a fixed
 * number of LEB128 numbers to skip. */
struct ctf_field_pos {
    /* byte offset in the event body of the field or, if skipped > 0, of the first skipped number */
    uint16_t at;
    /* size in bytes: 4 or 8 for numbers, the length for texts; 0 = the event class has no such
     * field */
    uint8_t bytes;
    uint8_t skipped; /* number of LEB128 numbers from offset `at` on that precede the field */
    bool is_big_endian, is_signed;
    bool is_leb; /* the field is a LEB128 number; `bytes` is 8 then */
};

/* Positions of the fields that identify a thread: process id, thread id, and a name of fixed size.
 */
struct ctf_thread_fields {
    struct ctf_field_pos pid, tid, name;
    /* pid or tid, name: the field's position or size differs per event, so the context must be
     * decoded */
    bool has_variable_number, has_variable_name;
};

/* Position of an event in its packet, in bits from `base`: start of header and body, end of the
 * content or window. */
struct ctf_event_place {
    const uint8_t *base;
    uint64_t header_at, body_at, end;
};

/* Decoder of an event class in one stream: all that its events have in common. */
struct ctf_event_decoder {
    ttr_event model;
    const struct layout *layout; /* layout of contexts and payload; NULL = the body has no fields */
    /* size in bits of each event body that starts at a byte boundary; 0 = sizes differ */
    uint64_t fixed;
    /* rule for the size of an event body that starts at a byte boundary */
    struct layout_shape shape;
    /* number of decoded events, without those of the fast loop, which ctf_class_entry counts */
    uint64_t events_read;
    bool has_thread, has_imports;
    bool has_variable_number, has_variable_name; /* copied from ctf_thread_fields */
    /* the class needs no packet fields, has no attributes of the CTF conventions and no clock
     * fields, so that read_usual_events can decode its events */
    bool is_usual;
    struct ctf_field_pos pid, tid, name; /* copied from ctf_thread_fields */
    /* CTF 1.8: layout of the body with hidden fields, for bodies with fields that set the clock;
     * NULL = none */
    const struct layout *times;
    /* attributes of the CTF conventions (ctf_conventions.h); NULL in other traces */
    const struct ctf_conventions_attributes *convention_attributes;
    /* schema of the event class; may be shared by all streams of the trace */
    struct ctf_schema *schema;
};

/* Data that the fast loop needs for one event id, in one cache line. Each stream has an array of
 * entries, so with hundreds of streams the size matters. */
struct ctf_class_entry {
    /* decoder of the event class; NULL until the first event of this id */
    struct ctf_event_decoder *class;
    /* rule for the size of an event with its header; set only for classes that the fast loop reads
     */
    struct layout_byte_shape bytes;
    /* ttr_event members that have one value for all events of the class */
    ttr_id schema, name, provider, category, track;
    uint8_t kind, level, opcode, flags;
    uint64_t events_read; /* events decoded by the fast loop; ctf_event_decoder counts the others */
};

#define CTF_LINE 64u

_Static_assert(sizeof(struct ctf_class_entry) == CTF_LINE, "an entry is a line of the cache");

/* Result of parsing a packet header and packet context: values, and faults found in them. */
struct ctf_frame {
    struct ctf_packet packet;
    struct ctf_stream_decoder *kind;
    uint64_t number; /* stream instance id */
    bool has_number;
    uint64_t head; /* size of packet header and context together, in bits */
    uint64_t context_bit;
    unsigned discarded_width, sequence_width;
    /* clock value set by a field of the packet context; valid if has_ticks */
    uint64_t ticks;
    bool has_ticks;
    bool is_whole_file; /* the packet declares no size, so it extends to the end of the file */
    /* the declared content size is in bytes, so up to 7 padding bits may follow the last event */
    bool is_rounded;
    /* the sizes were never stored, as after a crash; the content ends after the last event */
    bool is_unfinished;
    bool has_unset_size; /* the content size was stored, but not the packet size */
    bool is_resized; /* the declared packet size is impossible; packet.size is the repaired one */
    uint64_t declared_size;    /* declared packet size in bits, if is_resized */
    uint64_t declared_content; /* declared content size in bits */
    bool is_size_wrong;        /* the declared packet size is impossible */
    bool is_overfull;          /* the declared content is larger than the packet */
    /* the declared content is smaller than the header; the packet is read as if is_unfinished */
    bool is_underfull;
    struct rfc11_packet rfc; /* RFC v1.1: the 48-byte packet header */
    bool is_foreign;         /* the packet has the UUID of another trace */
    bool has_bad_magic;      /* the magic number is damaged, but the UUID is that of the trace */
    /* the magic number is wrong and the header has no UUID, but the other members are valid: the
     * packet that follows may prove that only the magic number is damaged (ctf_correct_packet_size)
     */
    bool has_doubtful_magic;
    bool has_bad_uuid;     /* the UUID is damaged: it is nearly that of the trace */
    bool has_bad_class_id; /* the id of the stream class is damaged; the trace has one class */
    /* diagnostic code of CTF_FRAME_BAD and CTF_FRAME_FOREIGN; `text` describes the fault */
    const char *code;
    char text[160];
};

/* Returns true if the end of the content is unknown, so that an event header of zeros ends it. */
static inline bool ctf_ends_with_zeros(const struct ctf_frame *frame)
{
    return frame->is_unfinished || frame->is_overfull;
}

enum ctf_framing {
    CTF_FRAME_OK,
    CTF_FRAME_SHORT,   /* the header continues after the available bytes */
    CTF_FRAME_BAD,     /* not a packet header of this trace; the size of the packet is unknown */
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
    /* the event has no bits, so the loop would not end; or unwritten (zero) bytes follow */
    CTF_STOP_ZERO,
    /* the next record names a thread; the batch must be returned before the name applies */
    CTF_STOP_NAMES,
    CTF_STOP_BAD, /* a length or selector in the event is invalid */
    CTF_STOP_FAILED
};

struct ctf_file_index;

/* The stream class of the event class that was described last. */
struct ctf_described {
    size_t stream;   /* index of the stream class */
    size_t first;    /* number of event classes of the streams before it */
    size_t events_n; /* number of event classes in the description then */
};

#define CTF_CLOCKS_MAX 4u

/* Clock of a packet before its last events: where reading may have to continue after damage. */
struct ctf_clock_history {
    /* ticks before the first event of the batch that belongs to the packet, before the event that
     * precedes this one, and so on; n of them are valid, from 1 to CTF_CLOCKS_MAX */
    uint64_t ticks[CTF_CLOCKS_MAX];
    uint32_t n;
    /* number of events of the batch that remain, because reading restarted after them; so each
     * restart is later than the one before */
    uint32_t kept;
};

struct ctf_reader {
    struct ctf_described described;
    /* Members that each call uses come first: with many inputs, the others are rarely in the cache.
     */
    struct input *in;
    struct ctf_trace *trace;
    struct ctf_stream *stream; /* stream of the current packet */
    ttr_error *error;
    uint64_t offset; /* file offset of bits.base */
    /* `at`: end of the last event; `end`: end of the content or of the window */
    struct bits bits;
    uint64_t content_end;    /* end of the packet's content, in bits from bits.base */
    uint64_t next;           /* file offset of the next packet */
    uint64_t previous_size;  /* size of the previous packet in bytes; 0 = none yet */
    uint64_t last_read_from; /* file offset where the last read up to a time limit began */
    /* of reads up to a time limit: if the window has fewer bytes left, it is moved before the read
     */
    uint64_t stride;
    uint64_t ticks;
    int64_t time;         /* time of the last event, ns */
    uint64_t events_read; /* events decoded from the current packet */
    int64_t from, to;     /* requested time range in ns, both inclusive */
    /* ns; end time of the last packet with events; INT64_MIN before the first */
    int64_t packet_end;
    /* index of the first packet to emit events of; of earlier packets, only the counters are read
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
    /* the content cannot be unpacked (no key, or too large) but is not damaged, so copies contain
     * the packet unchanged */
    bool is_sealed;
    /* the definition event of the current packet must be emitted next */
    bool is_copied;
    /* the writer encodes all events again, so packets need not be complete in the window */
    bool is_encoded;
    bool is_over; /* the file ends at `next` */
    bool is_lost; /* no packet starts at `next`; frame.code and frame.text give the reason */
    bool is_size_reported; /* the wrong size of the current packet was reported */
    bool is_cut_reported;  /* the truncated last packet of the file was reported */
    /* file offset after which a search for the next packet failed; 0 = no search failed */
    uint64_t no_packet_after;
    /* this input reports it if the file ends inside the padding of the last packet */
    bool reports_cut;
    bool is_in_order; /* no packet of this input begins before the previous one ends */
    bool is_foreign;  /* packets with the UUID of another trace were read */
    /* RFC v1.1: the file name contains the cpu number, which is in `cpu` */
    bool has_cpu;
    /* index of the file, shared by the inputs of that file; may be NULL */
    struct ctf_file_index *file_index;
    struct buffer heads;
    /* packets of the events in the batch: slots_max elements; NULL before the first packet */
    struct ctf_packet *packets;
    uint32_t slots_max; /* a power of two from CTF_SLOTS_MIN to CTF_SLOTS_MAX */
    struct layout_cursor run;

    /* name of the stream file, relative to the trace folder */
    const char *file;
    const struct ctf_stream_class *section; /* RFC v1.1: stream class of all packets in the file */
    uint32_t cpu;
    /* `cpu` as a little-endian packet field of 4 bytes; 12 bytes of padding follow for wide loads
     */
    uint8_t cpu_bytes[16];
    struct buffer unpacked;
    uint64_t number; /* index of the file among the files of its trace */
    /* index of the packet queue of this input; unused if reads_all_queues */
    uint32_t queue;
    bool reads_all_queues; /* this input reads the packets of all queues, in file order */
    uint64_t packet_i;     /* index in the file of the packet at `next` */
    bool is_entered_late;  /* reading started at a later packet than the first of the file */
    struct ctf_stream **streams;
    size_t streams_n, streams_capacity;
    /* map of stream identity to index in `streams`; used above CTF_LINEAR_SEARCH_MAX streams
     * (ctf_stream_index.c) */
    struct pair_map stream_of;
    struct ctf_frame frame; /* header of the current packet */
    struct ctf_clock_history clocks;
    uint64_t bad_id; /* event id, for CTF_STOP_UNKNOWN and CTF_STOP_CLASS */
    char why[120];   /* why the class cannot be compiled, for CTF_STOP_CLASS */
    uint64_t last_pid, last_tid;
    ttr_id last_thread;
};

extern const struct format format_ctf;

/* Returns the file offset of the byte that contains a bit of the current packet. Bits of unpacked
 * content have no file offset, so the result is at most the end of the stored packet. */
static inline uint64_t ctf_file_offset_of_bit(const struct ctf_reader *reader, uint64_t bit)
{
    uint64_t place = reader->offset + bit / 8, end = reader->offset + reader->frame.packet.size / 8;
    return reader->is_unpacked && place > end ? end : place;
}

/* Name and maximum size in bytes of the metadata file of a trace folder. */
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

/* Adds the reader to trace->readers, or removes it, by the source id of its events. A reader is
 * registered from its first stream until it is closed. ctf_trace_register_reader returns false if
 * memory is out. */
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

/* Parses the packet header and context at bits->base into `frame`. Bytes up to bits->end may be
 * used. */
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

/* Like ctf_find_thread, for an event with a pid or tid that has no fixed position, or that starts
 * inside a byte: decodes the context. Returns 0 if the context has neither. */
ttr_id ctf_find_thread_in_context(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                                  const struct ctf_event_place *place);

/* Sets the name of thread `id`, if it has no name yet, from a name field without fixed position.
 * Returns false if memory is out. */
TTR_MUST bool ctf_name_thread_from_context(struct ctf_reader *reader,
                                           const struct ctf_event_decoder *class,
                                           const struct ctf_event_place *place, ttr_id id);

/* --- Fields from outside of an event body (ctf_event_fields.c) --- */

/* Sets the slots of `run` to the values that the layout needs from the packet and from the event
 * header at `header`, such as lengths. */
void ctf_fill_earlier_values(struct ctf_reader *reader, const struct layout *layout,
                             const struct bits *header, struct layout_cursor *run);

/* Computes the range of an event, in bits from the packet's start. The end is rounded up to a byte
 * if events always end at a byte boundary. */
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

/* Returns the counters of a stream. Streams that differ only in byte order share them. */
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

/* Informs the merge that the next event of this input is at `time` (ns) or later; INT64_MAX = there
 * are no more events. */
static inline void ctf_report_next_event_time(struct input *in, int64_t time)
{
    in->is_stopped = true;
    in->stopped_at = time;
}

/* Decodes events of the current packet and appends them to the batch. Returns the reason why it
 * stopped. */
enum ctf_stop_reason ctf_read_events(struct ctf_reader *reader);

/* Decodes the event at bit `at` without emitting it. `ticks`: clock before, then after the event.
 * Returns the end of the event, or UINT64_MAX if it cannot be decoded. */
uint64_t ctf_probe_event(struct ctf_reader *reader, uint64_t at, uint64_t *ticks);

/* Returns the index of the first event of the batch that belongs to the current packet. */
static inline uint32_t ctf_first_event_of_packet(const struct ctf_reader *reader)
{
    const uint32_t n = reader->in->n;
    return n > reader->events_read ? n - (uint32_t)reader->events_read : 0;
}

/* Returns the position of an event of the batch, in bits from reader->bits.base. */
static inline uint64_t ctf_bit_of_event(const struct ctf_reader *reader, uint32_t i)
{
    const ttr_event *event = &reader->in->events[i];
    return (event->offset - reader->offset) * 8 + (event->body >> 29);
}

/* Position and clock from which to read again. */
struct ctf_restart {
    uint32_t kept; /* number of events of the batch that remain */
    uint64_t bit;  /* bits from reader->bits.base */
    uint64_t ticks;
};

/* Removes the later events from the batch, and continues reading at the position. */
void ctf_read_again_from(struct ctf_reader *reader, const struct ctf_restart *at);

/* --- Members of struct format_reader (ctf_read.c) --- */
ttr_status ctf_open(struct input *in, ttr_error *error);
ttr_status ctf_read_batch(struct input *in, ttr_error *error);
void ctf_close(struct input *in);
void ctf_set_range(struct input *in, int64_t from_ns, int64_t to_ns);
uint32_t ctf_get_event_kinds(struct input *in);

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
void ctf_detect_tracer_quirks(struct ctf_trace *trace);

/* --- Recognition of files (ctf_bid.c) --- */
unsigned ctf_bid(const struct peek *peek);
bool ctf_is_stream_file(const struct file_prefix *metadata, const struct file_prefix *file);

/* --- ctf_diagnostics.c --- */
extern const ttr_diagnostic_info ctf_diagnostics[];

#endif
