/* A CTF trace being read: one `ctf_trace` shared by the inputs of its stream files, which are
 * merged by time.
 *
 * Each stream file is an input of its own (own window, notes, batches), so that one bad stream
 * never silences another and messages name file and offset.  Packets are taken apart by compiled
 * layouts (layout/layout.h): packet header and context when a packet begins, the event header by a
 * plan for the usual shapes, else by its layout; the rest of an event is only measured until
 * somebody asks.
 *
 * With TTR_READ_DEFINITIONS an input gives, besides its events, what a writer needs to copy packets
 * as they are: CTF_DEFINITION_STREAM  once, first, also for a file without packets: payload empty
 *   CTF_DEFINITION_PACKET  behind the last event of every undamaged packet: payload = the whole
 * packet as stored (header, content, padding; compressed or enciphered where it is), `link` = how
 * many events of it were given, `time` = that of the last Events then carry TTR_EVENT_RAW, payload
 * = their bytes from the byte their header begins in, and lie inside the payload of the packet's
 * definition to come (unless the packet is compressed).  All carry a schema whose `ctx` is a struct
 * ctf_schema. A packet larger than CTF_COPY_MAX has no definition: its events are all there is.
 * Ownership: the trace is freed with the last of its inputs, its class with the last of its traces.
 */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_READ_H
#define TRACETTA_FORMATS_CTF_READ_CTF_READ_H

#include "formats/ctf/description/ctf_description.h"
#include "formats/ctf/packet/ctf_packet_header.h"
#include "formats/ctf/packet/rfc11_packet.h"
#include "io/folder.h"
#include "model/input.h"
#include "layout/layout.h"

/* ttr_event.tag of definitions. */
enum ctf_definition {
    CTF_DEFINITION_STREAM = 1,
    CTF_DEFINITION_PACKET = 2,
    CTF_DEFINITION_EVENT =
        3 /* an event that is none but belongs to the others; counts as one of its packet */
};

#define CTF_COPY_MAX (UINT64_C(256) << 20)

/* What is known to be wrong with what a tracer wrote (ctf_tracer_quirks.c). */
struct ctf_quirks {
    bool event_after_packet;  /* the last events of a packet may be later than its end */
    bool event_before_packet; /* the first events of a packet may be earlier than its begin */
    bool crash_leaves_end_zero;
};

struct ctf_stream_decoder;

/* What the metadata say, and what was made of it to read by.  Traces of one context that have the
 * very same metadata share it. */
struct ctf_trace_class {
    struct offer offer; /* to others, see ctf_trace_publish_class */
    uint32_t users;     /* traces that hold it */
    bool is_offered;
    bool rounds_times; /* option time=double */
    bool hides_mapped; /* option mapped=hidden */
    struct ctf_description description;
    uint8_t *metadata; /* the metadata file as stored, for copies */
    size_t metadata_n;
    bool has_bad_metadata;    /* it is damaged: nobody copies it as it is */
    bool is_dialect;          /* it speaks as our own writer does (ctf_dialect.h) */
    bool has_magic, has_uuid; /* packets begin with the magic; and say whose they are */
    uint8_t magic[4];         /* as packets begin */
    char version[8];          /* "1.8" */
    struct ctf_quirks quirks;
    const struct layout *packet_header; /* NULL where packets have none */
    struct ctf_fixed_root head;         /* the same where it lies at fixed places */
    struct ctf_stream_decoder *
        *kinds; /* of description.streams, made ready when first met; NULL before */
    size_t kinds_capacity;
    const struct ctf_stream_decoder *latest; /* of them, to be made ready; NULL = none */
};

struct ctf_trace {
    ttr *t;
    struct ctf_trace_class *class;
    uint32_t users; /* inputs that hold it */
    uint32_t twins; /* packets in two files that differ, of which it was found out which is whole
                       (ctf_duplicate_packets.h) */
    bool has_unread_twins;  /* there are more, which is told */
    bool has_damaged_twins; /* two files have a packet that is whole in neither */
    struct folder *folder;  /* may be NULL (live) */
    const struct format *format;
    const struct ctf_reader **readers; /* by the source of their events, from `readers_from` on;
                                          NULL: none of the trace's, or closed */
    size_t readers_n;
    uint16_t readers_from;
    struct arena scratch; /* of fields being walked */
    struct arena met; /* streams and classes of events as its inputs met them: side by side, to be
                         found in few pages */
    struct ctf_schema **schemas; /* of event classes by their numbers, those of all streams; NULL
                                    where one was not met, or each stream has its own */
    size_t schemas_n;
    const struct type *cpu_context; /* RFC: what the names of files tell, as fields of packets */
    const struct layout *cpu;       /* the same, compiled */
    uint32_t group;                 /* traces opened together have the same */
    bool lacks_times;               /* not all streams tell when packets begin; else these are: */
    int64_t begin, end;             /* of all packets */
    uint16_t thread_source;         /* threads of all its streams are those of one source */
    uint8_t key[32];                /* RFC: of enciphered packets */
    bool has_key;
    enum ctf_alignment assumed_alignment; /* RFC: where none is recorded; UNKNOWN: it is probed */
    uint64_t unpacked_max;                /* RFC: bytes that a packet may unpack to; 0 = 1 GiB */
    struct ctf_trace *other_order; /* RFC: the same metadata for packets of the other byte order;
                                      NULL = none was met */
    struct rfc11_packet
        first; /* RFC: the header of a packet, where there is one: the others are stored as it is */
    bool has_first;
    bool has_foreign; /* packets were seen that are not as the metadata's: of another trace; RFC: or
                         byte order */
};

/* A data stream as far as one file has it. */
struct ctf_stream {
    struct ctf_trace *trace;
    const struct ctf_stream_class *class;
    const struct ctf_stream_decoder *kind;
    struct ctf_stream *first; /* itself; of RFC packets of the other byte order than those met
                                 first: what those are of */
    uint64_t number;          /* as packets say; where they do not: of the file */
    bool has_number;
    const char *file; /* its name below the folder, where it is written */
    ttr_id track;
    struct ctf_schema *schema; /* of definitions */
    /* The reader's: event classes as met, and the packet before. */
    struct ctf_class_entry *by_id; /* at a line of the cache */
    void *by_id_memory;            /* where that is */
    bool has_extended;             /* classes were met whose ids only extended headers have */
    struct ctf_event_decoder **by_index;
    size_t by_id_n, by_index_n;
    struct ctf_counters {
        bool is_there;
        bool has_sequence, has_discarded, has_end;
        uint64_t sequence, discarded, end;
    } before;
    bool is_entered_late; /* reading began behind its first packet */
    int64_t time; /* ns: of its last event, once another stream's packet came behind it; INT64_MIN:
                     none */
};

/* What ttr_event.schema's `ctx` points to: an event class.  All streams of a trace share it, so
 * that it stays in the caches where they are hundreds; unless events are to be copied with their
 * packets, or what is shown of these differs (RFC). */
struct ctf_schema {
    struct layout_schema base;
    struct ctf_trace *trace;
    const struct ctf_event_class *event; /* NULL in the schema of definitions */
    ttr_id id;
    bool has_imports;          /* its fields need values of the packet or the header */
    bool ends_inside;          /* events may end inside a byte */
    struct ctf_stream *stream; /* this and the reader: NULL where it is shared, see ctf_origin_of */
    const struct ctf_reader *reader;
};

/* Where an event comes from, as its source and track tell, which have to be as they were given; of
 * one whose input was closed nothing. */
struct ctf_origin {
    const struct ctf_reader *reader;
    struct ctf_stream *stream;
};

struct ctf_origin ctf_origin_of(const struct ctf_schema *schema, const ttr_event *event);

/* A packet whose events are in the batch; ttr_event.part is its index. */
struct ctf_packet {
    uint64_t offset;        /* in the file */
    uint64_t size, content; /* bits, as stored */
    uint64_t sequence, discarded;
    uint64_t begin, end; /* ticks, whole */
    bool has_sequence, has_discarded, has_begin, has_end;
    uint32_t cpu;
    bool has_cpu;
    uint8_t sequence_bits; /* of its field; 0 = 64 */
    const uint8_t *base; /* a multiple of 1 << kind->step bits behind its start, in the window or in
                            unpacked memory; bits count from here */
    uint64_t base_bit;   /* of that place in the packet */
    uint64_t content_end;     /* in bits from base */
    uint64_t first_bit;       /* of its first event, from the packet's start */
    uint32_t head_at, head_n; /* a copy of its header and context: bytes of the reader's `heads` */
    uint64_t context_bit;     /* where the context begins in it */
};

/* The number of a packet that is so many numbers before the one it has, as its field can say it. */
static inline uint64_t ctf_sequence_before(const struct ctf_packet *packet, int64_t shift)
{
    return (packet->sequence - (uint64_t)shift) &
           (UINT64_MAX >> (packet->sequence_bits ? 64 - packet->sequence_bits : 0));
}

/* Lets go of a trace; the last input frees it. */
void ctf_trace_unref(struct ctf_trace *trace);

#endif
