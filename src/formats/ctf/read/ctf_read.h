/* Reader of CTF traces. A `ctf_trace` is shared by the inputs of its stream files, which are merged
 * by time.
 *
 * Each stream file is an input with its own window, diagnostics and batches. So damage in one file
 * does not affect the others, and messages name file and offset. Compiled layouts (layout/layout.h)
 * decode the packet header and context. Event headers of common forms are decoded by a plan
 * (ctf_event_header_plan.h), all others by a layout. For the rest of an event only its size is
 * computed, until a caller asks for its fields.
 *
 * With TTR_READ_DEFINITIONS an input also emits the events that a writer needs to copy packets
 * unchanged:
 *
 * |  CTF_DEFINITION_STREAM  once, first, also for a file without packets; the payload is empty
 * |  CTF_DEFINITION_PACKET  after the last event of each undamaged packet:
 * |                         payload = the packet as stored (header, content, padding; compressed or
 * |                                   encrypted if the file is), link = its number of events,
 * |                         time = that of its last event
 *
 * Events then have TTR_EVENT_RAW: their payload is the stored event from the first byte of its
 * header. The payload points into the payload of the packet definition that follows (unless the
 * packet is compressed). The `ctx` of each schema is a struct ctf_schema. A packet larger than
 * CTF_COPY_MAX gets no definition. Ownership: the last input frees the trace; the last trace frees
 * its class. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_READ_H
#define TRACETTA_FORMATS_CTF_READ_CTF_READ_H

#include "formats/ctf/description/ctf_description.h"
#include "formats/ctf/packet/ctf_packet_header.h"
#include "formats/ctf/packet/rfc11_packet.h"
#include "io/folder.h"
#include "model/input.h"
#include "layout/layout.h"

/* Values of ttr_event.tag in definition events, by which a copy of a trace is written. */
enum ctf_definition {
    CTF_DEFINITION_STREAM = 1,
    CTF_DEFINITION_PACKET = 2,
    /* a record of the CTF conventions that names a thread; the packet's event count includes it */
    CTF_DEFINITION_EVENT = 3
};

#define CTF_COPY_MAX (UINT64_C(256) << 20)

/* Known faults of the tracer that wrote the trace (ctf_tracer_quirks.c). */
struct ctf_quirks {
    /* true if the last events of a packet may be later than the packet's end time */
    bool event_after_packet;
    /* true if the first events of a packet may be earlier than the packet's begin time */
    bool event_before_packet;
    bool crash_leaves_end_zero;
};

struct ctf_stream_decoder;

/* Parsed metadata and everything that is compiled from them. All traces of a library context that
 * have equal metadata share one class. */
struct ctf_trace_class {
    /* entry in the library context's list of shared objects (ctf_trace_publish_class); must be the
     * first member */
    struct offer offer;
    uint32_t users; /* number of traces that refer to the class */
    bool is_offered;
    /* true if the option time=double is set: convert times with rounding errors, as babeltrace2
     * does */
    bool rounds_times;
    /* true if the option mapped=hidden is set: do not return fields that are mapped to the clock */
    bool hides_mapped;
    struct ctf_description description;
    /* content of the metadata file, which copies of the trace contain unchanged */
    uint8_t *metadata;
    size_t metadata_n;
    /* true if the metadata are damaged, so copies of the trace get new metadata */
    bool has_bad_metadata;
    /* true if tracetta wrote the trace, by the CTF conventions (ctf_conventions.h) */
    bool has_conventions;
    /* packets start with the magic number; packet headers contain the trace UUID */
    bool has_magic, has_uuid;
    uint8_t magic[4]; /* the magic number in the byte order of the packets */
    char version[8];  /* version of the format as text, such as "1.8" */
    struct ctf_quirks quirks;
    const struct layout *packet_header; /* layout of packet headers; NULL if packets have none */
    /* offsets of the packet header's fields; is_fixed is false if they vary */
    struct ctf_fixed_root head;
    /* decoder of each stream class, by index in description.streams; NULL until its first packet */
    struct ctf_stream_decoder **kinds;
    size_t kinds_capacity;
    /* the stream decoder that was compiled last; NULL if there is none */
    const struct ctf_stream_decoder *latest;
};

struct ctf_trace {
    ttr *t;
    struct ctf_trace_class *class;
    uint32_t users; /* number of inputs and writers that refer to the trace */
    /* number of duplicate packets that differ and were decoded (ctf_duplicate_packets.h) */
    uint32_t decoded_duplicates;
    /* true if some duplicates that differ were not decoded, because of a limit; this was reported
     */
    bool has_undecoded_duplicates;
    /* true if at least one packet is damaged in both files that contain it */
    bool has_damaged_duplicates;
    struct folder *folder;       /* trace folder; NULL for live traces */
    struct packet_losses losses; /* losses of the receiver that stored the trace */
    ttr_id loss_names[2];        /* names of the gap events of `losses`; 0 = no such loss */
    const struct format *format;
    /* reader of each source id, minus `readers_from`; NULL if the source is not of this trace, or
     * was closed */
    const struct ctf_reader **readers;
    size_t readers_n;
    uint16_t readers_from;
    struct arena scratch; /* memory for decoding fields; freed at each new batch */
    /* memory for streams and event decoders of all inputs; shared, so that it covers few pages */
    struct arena class_arena;
    /* schema of each event class, by its number, which all streams use; NULL until an event of the
     * class is read, or if each stream has a schema of its own */
    struct ctf_schema **schemas;
    size_t schemas_n;
    /* RFC v1.1: type of a packet context with one field, the CPU number of the file name */
    const struct type *cpu_context;
    const struct layout *cpu; /* layout compiled from cpu_context */
    /* id of the first input; the same in all traces that were opened together */
    uint32_t group;
    /* true if at least one stream has packets without begin time, so `begin` and `end` are invalid
     */
    bool lacks_times;
    int64_t begin, end;     /* earliest begin and latest end of all packets, in ns */
    uint16_t thread_source; /* source id under which the threads of all streams are registered */
    uint8_t key[32];        /* RFC v1.1: AES key of encrypted packets */
    bool has_key;
    /* RFC v1.1: alignment to assume if the metadata do not record it; UNKNOWN = find it by probing
     */
    enum ctf_alignment assumed_alignment;
    /* RFC v1.1: size limit of an unpacked packet, in bytes; 0 = 1 GiB */
    uint64_t unpacked_max;
    /* RFC v1.1: the same metadata, parsed for packets of the other byte order; NULL until needed */
    struct ctf_trace *other_order;
    /* RFC v1.1: header of the first packet, which copies use as a template */
    struct rfc11_packet first;
    bool has_first;
    /* true if packets with another UUID were read; RFC v1.1: also with another byte order or
     * session id */
    bool has_foreign;
};

/* The part of a data stream that one file contains. */
struct ctf_stream {
    struct ctf_trace *trace;
    const struct ctf_stream_class *class;
    const struct ctf_stream_decoder *kind;
    /* the stream that has the track and counters, usually this one. In RFC v1.1, packets in the
     * other byte order form a stream of their own, which uses those of the stream in the byte
     * order of the metadata */
    struct ctf_stream *first;
    /* stream instance id; the index of the file if packets have no such id */
    uint64_t number;
    bool has_number;
    const char *file; /* file name relative to the trace folder; NULL if unknown */
    ttr_id track;
    struct ctf_schema *schema; /* schema of the definition events of this stream */
    /* The members from here on are private to the reader: decoders of event classes, and counters
     * of the packet before the current one. */
    /* array of entries by event id, aligned to a cache line */
    struct ctf_class_entry *by_id;
    void *by_id_memory; /* allocated block that contains the aligned array by_id */
    /* true if an event id is so large that its event headers have the extended form */
    bool has_extended;
    struct ctf_event_decoder **by_index;
    size_t by_id_n, by_index_n;
    struct ctf_counters {
        bool is_there;
        bool has_sequence, has_discarded, has_end;
        uint64_t sequence, discarded, end;
    } before;
    /* true if reading did not start at the first packet of the file */
    bool is_entered_late;
    /* ns; time of the last event of this stream if another stream's packet follows; INT64_MIN if
     * unknown */
    int64_t time;
};

/* An event class as the schema of its events. All streams of a trace share the schema, so that it
 * stays in the CPU cache. Each stream has a schema of its own if packets are copied, or if the
 * printed fields differ per stream (RFC v1.1). */
struct ctf_schema {
    struct layout_schema base;
    struct ctf_trace *trace;
    const struct ctf_event_class *event; /* event class; NULL in the schema of definitions */
    ttr_id id;
    /* true if the body cannot be decoded without fields of the packet or event header, such as
     * lengths */
    bool has_imports;
    bool ends_inside; /* true if events may end inside a byte */
    /* stream and reader of the events; both NULL if several streams share the schema.
     * ctf_find_event_origin then finds them for each event */
    struct ctf_stream *stream;
    const struct ctf_reader *reader;
};

/* Reader and stream of an event, found by the event's source and track. Both are NULL after the
 * input was closed. The caller must not have changed source and track. */
struct ctf_origin {
    const struct ctf_reader *reader;
    struct ctf_stream *stream;
};

struct ctf_origin ctf_find_event_origin(const struct ctf_schema *schema, const ttr_event *event);

/* A packet with events in the current batch. ttr_event.part is the index of the packet in
 * reader->packets. */
struct ctf_packet {
    uint64_t offset;        /* file offset of the packet */
    uint64_t size, content; /* declared sizes of packet and content, bits */
    uint64_t sequence, discarded;
    /* begin and end time in ticks of the clock, extended to 64 bits; valid if has_begin and
     * has_end */
    uint64_t begin, end;
    bool has_sequence, has_discarded, has_begin, has_end;
    uint32_t cpu;
    bool has_cpu;
    uint8_t sequence_bits; /* width of the sequence field in bits; 0 = 64 */
    /* address in the window or in unpacked memory, to which bit offsets refer; its distance from
     * the packet's start is a multiple of 1 << kind->step bits */
    const uint8_t *base;
    uint64_t base_bit;    /* distance in bits from the packet's start to `base` */
    uint64_t content_end; /* bit offset from `base` of the end of the content */
    uint64_t first_bit;   /* bit offset of the first event from the packet's start */
    /* head_at, head_n: where reader->heads contains the bytes of packet header and context */
    uint32_t head_at, head_n;
    uint64_t context_bit; /* bit offset of the packet context within these bytes */
};

/* Returns the packet's sequence number minus `shift`, wrapped to the width of its field. */
static inline uint64_t ctf_shift_sequence(const struct ctf_packet *packet, int64_t shift)
{
    return (packet->sequence - (uint64_t)shift) &
           (UINT64_MAX >> (packet->sequence_bits ? 64 - packet->sequence_bits : 0));
}

/* Drops a reference to the trace, and frees the trace if that was the last. */
void ctf_trace_unref(struct ctf_trace *trace);

#endif
