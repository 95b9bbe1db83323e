/* The reader's own state and the functions between its files; what writers may know too is in
 * ctf_read.h. Thread rule: one input, one thread; the trace and its class are read-only once its
 * inputs are made, but for kinds and layouts made at first use, which is never ahead (struct
 * format). */
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
#define CTF_SLOTS_MAX 32u  /* packets a batch may have events of */
#define CTF_SLOTS_SMALL 8u /* the same where hundreds of inputs have small windows */
#define CTF_SLOTS_MIN 4u   /* and where a thousand have smaller ones */
#define CTF_LINEAR_SEARCH_MAX                                                 \
    8u /* in a file: so many are looked through as fast as they are looked up \
        */
#define CTF_STEP_MAX                                                                         \
    15u /* log2 of bits: window bases keep a distance from their packet's start in which all \
           alignments hold */
#define CTF_STEP_MIN 9u /* the same of a line of the cache: what nearly all traces do with */

/* A stream class made ready. */
struct ctf_stream_decoder {
    const struct ctf_stream_class *class;
    const struct ctf_stream_decoder *first; /* itself; for RFC packets of the other byte order than
                                     the metadata: the metadata's own */
    const struct layout *context, *header;  /* of packets, of events; NULL = none */
    struct ctf_fixed_root
        head; /* the context behind a fixed packet header, where it lies at fixed places */
    const struct layout *context_shown; /* the same without what only readers need */
    const struct layout *rfc_context;   /* RFC: of events, alone; NULL = not needed yet */
    struct ctf_header_plan plan;
    struct ctf_timeline timeline;
    uint8_t step; /* log2 of bits: where windows may begin in packets */
};

/* A number of the common context that lies at a fixed place, or behind LEB128 numbers that begin at
 * one. */
struct ctf_field_pos {
    uint16_t at;     /* bytes from where the body begins */
    uint8_t bytes;   /* 4 or 8; 0 = none */
    uint8_t skipped; /* LEB128 numbers before it, from `at` on */
    bool is_big_endian, is_signed;
    bool is_leb; /* it is one itself; `bytes` is 8 */
};

/* Those of threads: `name` has `bytes` of characters. */
struct ctf_thread_fields {
    struct ctf_field_pos pid, tid, name;
};

/* An event class as met in one stream: what is the same for all its events. */
struct ctf_event_decoder {
    ttr_event model;
    const struct layout *layout; /* of contexts and payload; NULL = none */
    uint64_t fixed;              /* bits of every body that begins at a byte; 0 = to be measured */
    struct layout_shape shape;   /* of bodies that begin at a byte */
    uint64_t given;              /* events */
    bool has_thread, has_imports;
    bool is_usual;                       /* its events need nothing but their bytes */
    struct ctf_field_pos pid, tid, name; /* see ctf_thread_fields */
    const struct layout
        *times; /* CTF 1.8: of a body that moves the clock, to find what does; else NULL */
    const struct ctf_dialect_attributes
        *said; /* in our own dialect: what its events say of themselves; else NULL */
    struct ctf_schema *schema; /* shared with those of other streams, or its own */
};

/* The class of an id, with all that finding its plain events and making their views needs, in one
 * line of the cache: of hundreds of streams each has its own. */
struct ctf_class_entry {
    struct ctf_event_decoder *class; /* NULL: not met yet */
    struct layout_byte_shape bytes; /* where events end, with their headers, of classes whose events
                                  are usual and belong to no thread; others have none */
    ttr_id schema, name, provider, category, track; /* of views */
    uint8_t kind, level, opcode, flags;
    uint64_t given; /* plain events, beside those that the class has counted */
};

#define CTF_LINE 64u

_Static_assert(sizeof(struct ctf_class_entry) == CTF_LINE, "an entry is a line of the cache");

/* A packet's header and context taken apart. */
struct ctf_frame {
    struct ctf_packet packet;
    struct ctf_stream_decoder *kind;
    uint64_t number; /* of the data stream */
    bool has_number;
    uint64_t head; /* bits of header and context */
    uint64_t context_bit;
    unsigned discarded_width, sequence_width;
    uint64_t ticks; /* of the clock behind the context, where a field without a name of its own
                       moved it */
    bool has_ticks;
    bool is_whole_file;  /* no size at all */
    bool is_rounded;     /* nothing tells a content that ends inside a byte */
    bool is_unfinished;  /* a size that a tracer writes last: the content ends where events do */
    bool has_unset_size; /* as before, but that of the content is there */
    bool is_resized; /* the packet says another size, which cannot be: packet.size is what it seems
                        to have ... */
    uint64_t said_size;        /* ... and this what it says, in bits */
    uint64_t declared_content; /* bits that the content has by the packet's own word */
    bool is_size_wrong;        /* the size cannot be that of a packet */
    bool is_overfull;          /* the content claims more than the packet ... */
    bool is_underfull; /* ... or less than the header: it ends where events do, as in packets that
                          are unfinished, which say nothing */
    struct rfc11_packet rfc; /* RFC: the header */
    bool is_foreign;         /* the uuid is that of another trace */
    const char *code;        /* what is wrong, where it is */
    char text[160];
};

/* Whether the packet does not tell where its content ends, so that a header of zeros does. */
static inline bool ctf_ends_with_zeros(const struct ctf_frame *frame)
{
    return frame->is_unfinished || frame->is_overfull;
}

enum ctf_framing {
    CTF_FRAME_OK,
    CTF_FRAME_SHORT,   /* goes on behind the bytes given */
    CTF_FRAME_BAD,     /* nothing follows from it */
    CTF_FRAME_FOREIGN, /* of another trace: its size is known */
    CTF_FRAME_FAILED   /* no memory, or the description cannot be compiled: the error tells */
};

/* Why the events of a packet stopped. */
enum ctf_stop_reason {
    CTF_STOP_FULL,    /* the batch is */
    CTF_STOP_EDGE,    /* at reader->bits.end */
    CTF_STOP_UNKNOWN, /* an id that no event class has */
    CTF_STOP_CLASS,   /* the class cannot be compiled: reader->why tells */
    CTF_STOP_ZERO,    /* an event without any bits */
    CTF_STOP_NAMES,   /* before a thread gets a name; the batch is not empty */
    CTF_STOP_BAD,     /* a field that cannot be: reader->run tells */
    CTF_STOP_FAILED
};

struct ctf_file_index;

struct ctf_reader {
    /* What every entry into the input looks at stands together: it has left the caches each time.
     */
    struct input *in;
    struct ctf_trace *trace;
    struct ctf_stream *stream; /* of the present packet */
    ttr_error *error;
    uint64_t offset;  /* of bits.base in the file */
    struct bits bits; /* at: where the next event may begin; end: of the content or of the window */
    uint64_t content_end;         /* in bits from bits.base */
    uint64_t next;                /* offset of the next packet */
    uint64_t usual;               /* size of the packet before, in bytes; 0 = none yet */
    uint64_t looked_from, stride; /* reading up to times: where that began, and twice the bytes that
                                     take most of them */
    uint64_t ticks;
    int64_t time;       /* of the last event */
    uint64_t given;     /* events of the present packet */
    int64_t from, to;   /* what is asked for */
    int64_t packet_end; /* of the packet before that has events; INT64_MIN before the first */
    uint64_t wanted;    /* packets before this one are not asked for */
    uint32_t slot;      /* the present one */
    uint32_t slots_n;
    ttr_status status; /* of CTF_STOP_FAILED */
    bool is_nothing;   /* the trace has no stream files: there are no events */
    bool is_unpacked;  /* RFC: the bits are those of `unpacked`, not of the window */
    bool is_inside;    /* a packet */
    bool is_told;      /* the stream's definition was given */
    bool is_damaged;   /* the present packet */
    bool is_sealed; /* its content cannot be opened, which is all that is wrong with it: copies have
                       it as it is */
    bool is_copied; /* its definition is still to be given */
    bool is_encoded; /* who asked for definitions encodes all packets anew: none is held as a whole
                      */
    bool is_over;    /* nothing stands at `next`, which was looked for there */
    bool is_lost;    /* no packet begins at `next`: frame.code and text tell why */
    bool is_size_told;       /* that of the present packet is wrong */
    bool is_cut_told;        /* that the file ends inside a packet */
    uint64_t no_packet_from; /* no other packet begins from there to the end of the file, as far as
                                was looked for one; 0 = not known */
    bool tells_cut;   /* where the file ends in its padding, as the last one was one of those read
                         here */
    bool is_in_order; /* packets follow each other in time */
    bool is_foreign;  /* packets that were taken had the uuid of another trace */
    bool has_cpu;     /* RFC: the file's name says so */
    struct ctf_file_index *file_index; /* of the file; may be NULL */
    struct buffer heads;
    struct ctf_packet *packets; /* slots_most of them; NULL before the first */
    uint32_t slots_most;        /* CTF_SLOTS_MIN to CTF_SLOTS_MAX, a power of two */
    struct layout_cursor run;

    const char *file;                       /* its name below the folder */
    const struct ctf_stream_class *section; /* RFC: the class of all its packets */
    uint32_t cpu;
    uint8_t cpu_bytes[16]; /* the same as if it stood in packets, little-endian; 12 are room for
                              reading */
    struct buffer unpacked;
    uint64_t number;       /* of the file among the files of its trace */
    uint32_t queue;        /* that is read here */
    bool reads_all_queues; /* all lanes, in the order of the file */
    uint64_t packet_i;     /* of the packet at `next` */
    bool is_entered_late;  /* reading began behind the first packet */
    struct ctf_stream **streams;
    size_t streams_n, streams_capacity;
    struct pair_map stream_of; /* their indices, where they are more than CTF_LINEAR_SEARCH_MAX:
                                  ctf_event_class.c */
    struct ctf_frame frame;    /* of the present packet */
    size_t need;               /* bytes the window should hold from where it begins */
    uint64_t bad_id;           /* of CTF_STOP_UNKNOWN and CTF_STOP_CLASS */
    char why[120];             /* of CTF_STOP_CLASS */
    uint64_t last_pid, last_tid;
    ttr_id last_thread;
};

extern const struct format format_ctf;

/* The place in the file of a bit of the present packet; in one that was unpacked the nearest there
 * is. */
static inline uint64_t ctf_queue_ref(const struct ctf_reader *reader, uint64_t bit)
{
    uint64_t place = reader->offset + bit / 8, end = reader->offset + reader->frame.packet.size / 8;
    return reader->is_unpacked && place > end ? end : place;
}

/* The file that tells how the others of its folder are read, and how large it may be. */
#define CTF_METADATA "metadata"
#define CTF_METADATA_MAX (UINT64_C(256) << 20)

/* --- ctf_trace.c --- */

/* Makes a trace without metadata, held by its maker; the folder (NULL = none) is taken over, also
 * on failure. */
struct ctf_trace *ctf_trace_new(ttr *t, struct folder *folder, ttr_error *error);

/* Offers the class of a trace, which is ready, to others of the context. */
void ctf_trace_publish_class(struct ctf_trace *trace);

/* Lets a trace that has nothing but its metadata and options have the class of another one with the
 * same; false where none is offered. */
bool ctf_trace_use_published_class(struct ctf_trace *trace);

/* Lets a trace have a class that another one has instead of its own. */
void ctf_trace_set_class(struct ctf_trace *trace, struct ctf_trace_class *class);

/* Reads metadata without packets into the description: all of it, or more of it later. */
TTR_MUST ttr_status ctf_trace_parse(struct ctf_trace *trace, enum ctf_version version,
                                    const struct ctf_text *text, ttr_error *error);

/* Makes an input one of the trace's: the stream file `name`, which is the number-th. */
void ctf_trace_add_input(struct ctf_trace *trace, struct input *in, const char *name,
                         uint64_t number);

/* The reader of a trace by the source of its events, from its first stream to its end; false when
 * memory is out. */
TTR_MUST bool ctf_trace_register_reader(struct ctf_trace *trace, const struct ctf_reader *reader);
void ctf_trace_unregister_reader(struct ctf_trace *trace, const struct ctf_reader *reader);

/* Makes the packet header ready, once the description is there. */
TTR_MUST ttr_status ctf_trace_compile(struct ctf_trace *trace, ttr_error *error);

/* The stream class made ready; NULL with `error`. */
struct ctf_stream_decoder *ctf_stream_decoder_of(struct ctf_trace *trace,
                                                 const struct ctf_stream_class *class,
                                                 ttr_error *error);

/* --- ctf_packet.c --- */

/* Takes apart the packet that begins at bits->base; bits->end is where the bytes at hand end. */
enum ctf_framing ctf_frame_packet(struct ctf_trace *trace, const struct ctf_stream_class *section,
                                  const struct bits *bits, struct ctf_frame *frame,
                                  ttr_error *error);

/* --- ctf_event_class.c --- */

/* The stream of a packet, added when new; NULL when memory is out. */
struct ctf_stream *ctf_get_stream(struct ctf_reader *reader, const struct ctf_frame *frame);

/* The event class of an id as met in the present stream.  NULL: there is none (*error untouched),
 * or `error` tells. */
struct ctf_event_decoder *ctf_event_decoder_of(struct ctf_reader *reader, uint64_t id,
                                               ttr_error *error);

/* What is known beforehand of an event class. */
void ctf_describe_class(const struct ctf_trace *trace, const struct ctf_event_class *event,
                        struct event_class *about);

/* The thread that wrote the event whose body, of a class that has threads and whole, is at `body`;
 * 0 when memory is out. */
ttr_id ctf_find_thread(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                       const uint8_t *body);

/* Fills the slots of a layout that come from outside, in the present packet; `header`: where the
 * event's header begins. */
void ctf_fill_imports(struct ctf_reader *reader, const struct layout *layout,
                      const struct bits *header, struct layout_cursor *run);

/* Where an event begins and ends in its packet; bits.  Up to a whole byte where the next one begins
 * at one anyway. */
void ctf_event_bit_range(const struct ctf_schema *schema, const ttr_event *event, uint64_t *from,
                         uint64_t *to);

/* ttr_event.body of CTF: where the body begins, and where in its first byte the header does; bits.
 */
#define CTF_BODY_MASK 0x1fffffffu

static inline uint64_t ctf_body_bit(const ttr_event *event)
{
    return event->body & CTF_BODY_MASK;
}

static inline uint64_t ctf_header_bit(const ttr_event *event)
{
    return event->body >> 29;
}

/* Counters of the present stream. */
static inline struct ctf_counters *ctf_counters_of(const struct ctf_stream *stream)
{
    return &stream->first->before;
}

/* Bytes of the window from a place in the file on. */
static inline uint64_t ctf_bytes_from(const struct ctf_reader *reader, uint64_t offset)
{
    const struct window *window = &reader->in->window;
    return offset < window->offset || offset - window->offset > window->n
               ? 0
               : window->offset + window->n - offset;
}

/* Forgets the reader and the schemas that are its streams' own. */
void ctf_free_streams(struct ctf_reader *reader);

/* --- ctf_discarded.c --- */

/* Counters go on behind a packet. */
void ctf_update_counters(struct ctf_counters *before, const struct ctf_packet *packet);

/* --- ctf_events.c --- */

/* The next event is not before the time up to which they are wanted; INT64_MAX: there is none. */
static inline void ctf_stop_before(struct input *in, int64_t time)
{
    in->is_stopped = true;
    in->stopped_at = time;
}

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

/* For struct format: see there. */
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

#endif
