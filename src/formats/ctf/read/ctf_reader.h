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
/* packets with events in a batch, if the trace has few inputs */
#define CTF_SLOTS_MAX 32u
/* packets with events in a batch, if the trace has hundreds of inputs and thus small windows */
#define CTF_SLOTS_SMALL 8u
/* packets with events in a batch, if the trace has a thousand inputs or more */
#define CTF_SLOTS_MIN 4u
/* files with more streams use a hash table to find a stream, others a linear search */
#define CTF_LINEAR_SEARCH_MAX 8u
/* Limits of ctf_stream_decoder.step. Inside a packet, the window moves by multiples of 1 << step
 * bits, so that every type keeps its alignment. */
#define CTF_STEP_MAX 15u
/* 512 bits, a cache line; sufficient for all usual alignments */
#define CTF_STEP_MIN 9u

/* A stream class (one kind of data stream) with its compiled layouts. */
struct ctf_stream_decoder {
    const struct ctf_stream_class *class;
    /* this decoder; in RFC v1.1, if this one is for packets of the other byte order, the decoder
     * for the byte order of the metadata */
    const struct ctf_stream_decoder *first;
    /* layouts of packet context and event header; NULL if the stream class has none */
    const struct layout *context, *header;
    /* offsets of the packet context's fields; is_fixed is false if they vary */
    struct ctf_fixed_root head;
    /* layout of the packet context without the fields that are not printed (sizes, times, counters)
     */
    const struct layout *context_shown;
    /* RFC v1.1: layout of the event context alone; NULL until needed */
    const struct layout *rfc_context;
    struct ctf_header_plan plan;
    struct ctf_timeline timeline;
    /* inside a packet, the window moves by multiples of 1 << step bits; from CTF_STEP_MIN to
     * CTF_STEP_MAX */
    uint8_t step;
};

/* Position of a field in the common event context: a byte offset, optionally followed by a fixed
 * number of LEB128 numbers to skip. */
struct ctf_field_pos {
    /* byte offset in the event body: of the field or, if skipped > 0, of the first number to skip
     */
    uint16_t at;
    /* size in bytes: 4 or 8 for numbers, the length of a text; 0 if the class does not have the
     * field */
    uint8_t bytes;
    uint8_t skipped; /* number of LEB128 numbers between offset `at` and the field */
    bool is_big_endian, is_signed;
    bool is_leb; /* true if the field is a LEB128 number; then `bytes` is 8 */
};

/* Positions of the fields that identify a thread: process id, thread id, and a name of fixed size.
 */
struct ctf_thread_fields {
    struct ctf_field_pos pid, tid, name;
    /* position or size of a field differs per event, so the context must be decoded: of pid or
     * tid; of the name */
    bool has_variable_number, has_variable_name;
};

/* Position of an event in its packet. Offsets are in bits from `base`: of header and body, and of
 * the end of the content or window. */
struct ctf_event_place {
    const uint8_t *base;
    uint64_t header_at, body_at, end;
};

/* Decoder of an event class in one stream: everything that is equal for all events of the class. */
struct ctf_event_decoder {
    ttr_event model;
    /* layout of contexts and payload; NULL if the body has no fields */
    const struct layout *layout;
    /* size in bits of event bodies that start at a byte boundary; 0 if sizes differ */
    uint64_t fixed;
    /* rule for the size of an event body that starts at a byte boundary */
    struct layout_shape shape;
    /* number of events read, without those that the fast loop read (ctf_class_entry counts them) */
    uint64_t events_read;
    bool has_thread, has_imports;
    bool has_variable_number, has_variable_name; /* copied from ctf_thread_fields */
    /* read_usual_events can decode the events: they need no fields of the packet, have no
     * attributes of the CTF conventions, and do not set the clock */
    bool is_usual;
    struct ctf_field_pos pid, tid, name; /* copied from ctf_thread_fields */
    /* CTF 1.8: layout of the body including hidden fields, if fields of the body set the clock;
     * else NULL */
    const struct layout *times;
    /* attributes of the CTF conventions (ctf_conventions.h); NULL if the trace does not follow
     * them */
    const struct ctf_conventions_attributes *convention_attributes;
    /* schema of the event class; may be shared by all streams of the trace */
    struct ctf_schema *schema;
};

/* The data of one event id that the fast loop needs, in one cache line. Each stream has an array
 * of entries, so their size matters if there are hundreds of streams. */
struct ctf_class_entry {
    /* decoder of the event class; NULL before the first event with this id */
    struct ctf_event_decoder *class;
    /* rule for the size of an event, including its header; only set if the fast loop can read the
     * class */
    struct layout_byte_shape bytes;
    /* members of ttr_event that are equal in all events of the class */
    ttr_id schema, name, provider, category, track;
    uint8_t kind, level, opcode, flags;
    /* number of events that the fast loop read; ctf_event_decoder counts all others */
    uint64_t events_read;
};

#define CTF_LINE 64u

_Static_assert(sizeof(struct ctf_class_entry) == CTF_LINE, "an entry is a line of the cache");

/* Result of parsing a packet header and packet context: values, and faults found in them. */
struct ctf_frame {
    struct ctf_packet packet;
    struct ctf_stream_decoder *kind;
    uint64_t number; /* stream instance id of the packet */
    bool has_number;
    uint64_t head; /* size in bits of packet header and packet context together */
    uint64_t context_bit;
    unsigned discarded_width, sequence_width;
    /* clock value from a field of the packet context; valid if has_ticks */
    uint64_t ticks;
    bool has_ticks;
    /* true if the packet declares no size, so it ends at the end of the file */
    bool is_whole_file;
    /* true if the content size was rounded up to bytes, so up to 7 unused bits may follow the last
     * event */
    bool is_rounded;
    /* true if the tracer did not write the sizes, as after a crash; the content ends after the
     * last event */
    bool is_unfinished;
    /* true if the tracer wrote the content size, but not the packet size */
    bool has_unset_size;
    /* true if the declared packet size is impossible; packet.size has the size by which it was
     * replaced */
    bool is_resized;
    /* packet size in bits that the packet declares; valid if is_resized */
    uint64_t declared_size;
    uint64_t declared_content; /* content size in bits that the packet declares */
    bool is_size_wrong;        /* true if the declared packet size is impossible */
    bool is_overfull;          /* true if the declared content is larger than the packet */
    /* true if the declared content is smaller than the packet header, so it is ignored, as in an
     * unfinished packet */
    bool is_underfull;
    struct rfc11_packet rfc; /* RFC v1.1: values of the packet header of 48 bytes */
    bool is_foreign;         /* true if the packet has the UUID of another trace */
    /* true if the magic number is damaged, but the UUID is that of the trace */
    bool has_bad_magic;
    /* true if the magic number is wrong and the header has no UUID, but all other members are
     * valid. The next packet may prove that only the magic number is damaged
     * (ctf_correct_packet_size) */
    bool has_doubtful_magic;
    bool has_bad_uuid; /* true if the UUID has damage: it is nearly that of the trace */
    /* true if the id of the stream class has damage; it is nearly that of the only class */
    bool has_bad_class_id;
    /* diagnostic code if the result is CTF_FRAME_BAD or CTF_FRAME_FOREIGN; `text` describes the
     * fault */
    const char *code;
    char text[160];
};

/* Returns true if the end of the content is unknown. Then an event header of zero bytes ends it. */
static inline bool ctf_ends_with_zeros(const struct ctf_frame *frame)
{
    return frame->is_unfinished || frame->is_overfull;
}

enum ctf_framing {
    CTF_FRAME_OK,
    CTF_FRAME_SHORT,   /* the available bytes end inside the header */
    CTF_FRAME_BAD,     /* the bytes are not a packet header of this trace */
    CTF_FRAME_FOREIGN, /* the packet belongs to another trace; its size is valid */
    /* memory runs out, or the metadata cannot be compiled into layouts; `error` is set */
    CTF_FRAME_FAILED
};

/* Reasons why ctf_read_events stops. */
enum ctf_stop_reason {
    CTF_STOP_FULL, /* the batch has no space for more events */
    /* reader->bits.end is reached, the end of the content or of the window */
    CTF_STOP_EDGE,
    CTF_STOP_UNKNOWN, /* an event has an id that the metadata do not declare */
    /* an event has a class that cannot be compiled into a layout; reader->why has the reason */
    CTF_STOP_CLASS,
    /* unwritten (zero) bytes follow, or the next event has no bits, so that reading would never
     * end */
    CTF_STOP_ZERO,
    /* the next record names a thread; the batch must be returned before, so that its events keep
     * the old name */
    CTF_STOP_NAMES,
    CTF_STOP_BAD, /* an event contains an invalid length or selector */
    CTF_STOP_FAILED
};

struct ctf_file_index;

/* Position in the list of event classes: the stream class of the event class that was described
 * last. */
struct ctf_described {
    size_t stream;   /* index of the stream class in the description */
    size_t first;    /* number of event classes in all stream classes before it */
    size_t events_n; /* number of event classes in the description at that time */
};

#define CTF_CLOCKS_MAX 4u

/* The clock before each of the last events of a packet, to which reading may have to return after
 * damage. */
struct ctf_clock_history {
    /* ticks of the clock before the packet's first event in this batch, before the event that
     * precedes it, and so on. The first n elements are valid; n is from 1 to CTF_CLOCKS_MAX */
    uint64_t ticks[CTF_CLOCKS_MAX];
    uint32_t n;
    /* number of events in the batch before the position at which reading was restarted last; the
     * next restart must be later */
    uint32_t kept;
};

struct ctf_reader {
    struct ctf_described described;
    /* Members that every call uses are first, because with many inputs the others are rarely in
     * the CPU cache. */
    struct input *in;
    struct ctf_trace *trace;
    struct ctf_stream *stream; /* stream of the current packet */
    ttr_error *error;
    uint64_t offset; /* file offset of the byte at bits.base */
    /* at: end of the last event; end: end of the content or of the window */
    struct bits bits;
    /* bit offset from bits.base of the end of the packet's content */
    uint64_t content_end;
    uint64_t next; /* file offset of the next packet */
    /* size in bytes of the packet before the current one; 0 if there is none */
    uint64_t previous_size;
    /* file offset at which the last read up to a time limit began */
    uint64_t last_read_from;
    /* reads up to a time limit first move the window if it has fewer bytes left than this */
    uint64_t stride;
    uint64_t ticks;
    int64_t time;         /* time in ns of the last event */
    uint64_t events_read; /* number of events read from the current packet */
    /* time range in ns that the caller requested; both ends inclusive */
    int64_t from, to;
    /* ns; end time of the last packet of this input's queue; INT64_MIN before the first */
    int64_t packet_end;
    /* index of the first packet with events to return; only the counters of earlier packets are
     * read */
    uint64_t wanted;
    uint32_t slot; /* index of the current packet in `packets` */
    uint32_t slots_n;
    ttr_status status; /* error of a read that returned CTF_STOP_FAILED */
    /* true if the input is for a trace without stream files, so it has no events */
    bool is_eventless;
    /* RFC v1.1: `bits` points into the buffer `unpacked`, not into the window */
    bool is_unpacked;
    bool is_inside;         /* true if the reader is inside a packet, not between two packets */
    bool is_stream_defined; /* true if the definition event of the stream was emitted */
    bool is_damaged;        /* true if the current packet has damage */
    /* true if the content cannot be unpacked, because the key is missing or it is too large; it is
     * not damaged, so copies contain the packet unchanged */
    bool is_sealed;
    /* true if the definition event of the current packet must be emitted next */
    bool is_copied;
    /* true if a writer encodes all events of the input again, so packets need not be in the window
     * completely */
    bool is_encoded;
    bool is_over; /* true if the file ends at `next` */
    /* true if no packet is at `next`; frame.code and frame.text have the reason */
    bool is_lost;
    /* true if a wrong size of the current packet was reported already */
    bool is_size_reported;
    /* true if the incomplete last packet of the file was reported already */
    bool is_cut_reported;
    /* a search for a packet after this file offset failed; 0 if no search has failed */
    uint64_t no_packet_after;
    /* true if this input reports a file that ends inside the padding of its last packet */
    bool reports_cut;
    /* true if all packets of this input are in order: none begins before the previous one ends */
    bool is_in_order;
    bool is_foreign; /* true if packets with the UUID of another trace were read */
    /* RFC v1.1: the file name contains the CPU number, which is stored in `cpu` */
    bool has_cpu;
    /* index of the file, which all inputs of that file share; may be NULL */
    struct ctf_file_index *file_index;
    struct buffer heads;
    /* array of slots_max packets, to which the events of the batch belong; NULL before the first
     * packet */
    struct ctf_packet *packets;
    /* size of `packets`: a power of two from CTF_SLOTS_MIN to CTF_SLOTS_MAX */
    uint32_t slots_max;
    struct layout_cursor run;

    /* name of the stream file, relative to the trace folder */
    const char *file;
    const struct ctf_stream_class *section; /* RFC v1.1: stream class of all packets in the file */
    uint32_t cpu;
    /* the CPU number as a little-endian packet field of 4 bytes, and 12 bytes of padding, because
     * loads are wider */
    uint8_t cpu_bytes[16];
    struct buffer unpacked;
    uint64_t number; /* index of the file among the files of its trace */
    /* index of the packet queue that this input reads; unused if reads_all_queues */
    uint32_t queue;
    /* true if this input reads the packets of all queues of the file, in file order */
    bool reads_all_queues;
    uint64_t packet_i; /* index in the file of the packet at offset `next` */
    /* true if reading did not start at the first packet of the file */
    bool is_entered_late;
    struct ctf_stream **streams;
    size_t streams_n, streams_capacity;
    /* maps the identity of a stream to its index in `streams`; used if there are more than
     * CTF_LINEAR_SEARCH_MAX streams (ctf_stream_index.c) */
    struct pair_map stream_of;
    struct ctf_frame frame; /* header of the current packet */
    struct ctf_clock_history clocks;
    /* CTF_STOP_UNKNOWN, CTF_STOP_CLASS: event id of the event that was not read */
    uint64_t bad_id;
    char why[120]; /* CTF_STOP_CLASS: why the event class cannot be compiled */
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

/* Returns a trace without metadata; the caller owns one reference. The trace becomes owner of
 * `folder` (may be NULL). On failure, frees `folder` and returns NULL. */
struct ctf_trace *ctf_trace_new(ttr *t, struct folder *folder, ttr_error *error);

/* Publishes the class of a trace with complete metadata, so that other traces of the library
 * context can share the class. */
void ctf_trace_publish_class(struct ctf_trace *trace);

/* Withdraws the published class of a trace, because it was changed and does not match its metadata
 * any more. */
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
 * registered when it has a stream, until it is closed. ctf_trace_register_reader returns false if
 * memory runs out. */
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

/* Parses the packet header and context at bits->base into `frame`, using the bytes up to
 * bits->end. */
enum ctf_framing ctf_parse_header_and_context(struct ctf_trace *trace,
                                              const struct ctf_stream_class *section,
                                              const struct bits *bits, struct ctf_frame *frame,
                                              ttr_error *error);

/* --- Streams (ctf_stream.c) --- */

/* Returns the stream of a packet. Adds the stream to the reader if it is new. Returns NULL if
 * memory runs out. */
struct ctf_stream *ctf_get_stream(struct ctf_reader *reader, const struct ctf_frame *frame);

/* Unregisters the reader, and frees its streams and their own schemas. */
void ctf_free_streams(struct ctf_reader *reader);

/* --- Event classes (ctf_event_class.c) --- */

/* Returns the decoder of an event id in the current stream. Returns NULL if the id is not
 * declared; `error` is then unchanged. Returns NULL with `error` if the class cannot be
 * compiled. */
struct ctf_event_decoder *ctf_get_event_decoder(struct ctf_reader *reader, uint64_t id,
                                                ttr_error *error);

/* Copies what the metadata declare of an event class (name, log level, ...) to `about`. */
void ctf_describe_declared_class(const struct ctf_trace *trace, const struct ctf_event_class *event,
                                 struct event_class *about);

/* --- Threads (ctf_event_thread.c) --- */

/* Returns the id of the thread that the event belongs to, registered if it is new. `body` is the
 * complete body of the event; the class must have thread fields. Returns 0 if memory runs out. */
ttr_id ctf_find_thread(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                       const uint8_t *body);

/* Like ctf_find_thread, but decodes the context. For classes with a pid or tid that has no fixed
 * position, and for events that start inside a byte. Returns 0 if the context has neither pid nor
 * tid. */
ttr_id ctf_find_thread_in_context(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                                  const struct ctf_event_place *place);

/* Sets the name of thread `id`, if it has none yet, to the value of a name field that has no fixed
 * position. Returns false if memory runs out. */
TTR_MUST bool ctf_name_thread_from_context(struct ctf_reader *reader,
                                           const struct ctf_event_decoder *class,
                                           const struct ctf_event_place *place, ttr_id id);

/* --- Fields that precede an event body (ctf_event_fields.c) --- */

/* Sets the slots of `run` (saved numbers of a layout, such as lengths) that the body of an event
 * refers to, from the packet and from the event header at `header`. */
void ctf_load_values_before_body(struct ctf_reader *reader, const struct layout *layout,
                                 const struct bits *header, struct layout_cursor *run);

/* Computes the bit range of an event, from the packet's start. Rounds the end up to a byte if all
 * events of the class end at a byte boundary. */
void ctf_compute_event_bit_range(const struct ctf_schema *schema, const ttr_event *event,
                                 uint64_t *from, uint64_t *to);

/* Format of ttr_event.body in CTF events. The low 29 bits are the bit offset of the body in its
 * packet. The high 3 bits are the bit number within a byte at which the event header starts. */
#define CTF_BODY_MASK 0x1fffffffu

static inline uint64_t ctf_event_body_bit(const ttr_event *event)
{
    return event->body & CTF_BODY_MASK;
}

static inline uint64_t ctf_event_header_bit(const ttr_event *event)
{
    return event->body >> 29;
}

/* Returns the counters of lost events of a stream. Streams that differ only in byte order have the
 * same counters. */
static inline struct ctf_counters *ctf_get_counters(const struct ctf_stream *stream)
{
    return &stream->first->before;
}

/* Returns how many bytes of the window are at or after a file offset; 0 if the offset is outside
 * of the window. */
static inline uint64_t ctf_window_bytes_from(const struct ctf_reader *reader, uint64_t offset)
{
    const struct window *window = &reader->in->window;
    return offset < window->offset || offset - window->offset > window->n
               ? 0
               : window->offset + window->n - offset;
}

/* --- Counters of lost events (ctf_discarded.c) --- */

/* Sets the counters of a stream to those that a packet declares, which was read or skipped. */
void ctf_update_counters(struct ctf_counters *before, const struct ctf_packet *packet);

/* --- Events (ctf_events.c) --- */

/* Informs the merge that the next event of this input is at `time` (ns) or later; INT64_MAX if no
 * more events follow. */
static inline void ctf_report_next_event_time(struct input *in, int64_t time)
{
    in->is_stopped = true;
    in->stopped_at = time;
}

/* Decodes events of the current packet and appends them to the batch. Returns the reason why it
 * stops. */
enum ctf_stop_reason ctf_read_events(struct ctf_reader *reader);

/* Decodes the event at bit `at` without adding it to the batch. `ticks`: in: clock before the
 * event, out: after it. Returns the end of the event; UINT64_MAX if it cannot be decoded. */
uint64_t ctf_decode_event_without_emitting(struct ctf_reader *reader, uint64_t at, uint64_t *ticks);

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

/* Position and clock at which reading is restarted. */
struct ctf_restart {
    uint32_t kept; /* number of events that remain in the batch */
    uint64_t bit;  /* bit offset from reader->bits.base */
    uint64_t ticks;
};

/* Removes events from the batch except the first at->kept, and continues reading at the position
 * `at`. */
void ctf_restart_reading_at(struct ctf_reader *reader, const struct ctf_restart *at);

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

/* --- Known faults of tracers (ctf_tracer_quirks.c) --- */
void ctf_detect_tracer_quirks(struct ctf_trace *trace);

/* --- Recognition of file formats (ctf_bid.c) --- */
unsigned ctf_bid(const struct peek *peek);
bool ctf_is_stream_file(const struct file_prefix *metadata, const struct file_prefix *file);

/* --- Diagnostic codes (ctf_diagnostics.c) --- */
extern const ttr_diagnostic_info ctf_diagnostics[];

#endif
