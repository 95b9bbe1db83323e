/* Description of a CTF trace: everything that its metadata declares, independent of the metadata
 * language. The languages are the RFC of 2010 (v1.1), TSDL (CTF 1.8) and JSON (CTF 2). Parsers fill
 * a description, readers and writers of streams use it, printers convert it to each language.
 *
 * |  text -> tsdl_parse   -> description -> tsdl_print  -> text
 * |          ctf2_parse          |          ctf2_print
 * |          rfc11_parse         |          rfc11_print
 * |                              v
 * |                 layouts, event header plans
 *
 * Ownership: all objects are in the description's arena and live as long as the description. More
 * metadata may be added later (live traces): classes are appended, never moved or changed. Thread
 * rule: one thread while metadata is added, read-only afterwards. */
#ifndef TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_DESCRIPTION_H
#define TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_DESCRIPTION_H

#include <tracetta/report.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/pair_map.h"
#include "model/type.h"

struct layout;

enum ctf_version { CTF_UNKNOWN = 0, CTF_RFC_1_1 = 11, CTF_1_8 = 18, CTF_2 = 20 };

/* Meaning of a field for the reader of packets and events; stored in type.role. */
enum ctf_role {
    CTF_ROLE_NONE = 0,
    /* fields of the packet header */
    CTF_ROLE_MAGIC,
    /* UUID of the trace, 16 bytes; must equal the UUID of the metadata */
    CTF_ROLE_UUID,
    CTF_ROLE_STREAM_CLASS_ID,
    CTF_ROLE_STREAM_ID, /* number of the data stream ("stream_instance_id") */
    /* fields of the packet context */
    CTF_ROLE_PACKET_SIZE, /* size of the packet in bits; RFC: in bytes (sizes_in_bytes) */
    CTF_ROLE_CONTENT_SIZE,
    CTF_ROLE_TIME_BEGIN,
    CTF_ROLE_TIME_END,
    CTF_ROLE_DISCARDED, /* counter of discarded events, up to the end of the packet */
    CTF_ROLE_SEQUENCE,  /* sequence number of the packet */
    CTF_ROLE_CPU,       /* CPU of the packet: field named "cpu_id"; also printed as a field */
    /* fields of the event header */
    CTF_ROLE_EVENT_ID,
    CTF_ROLE_TIME, /* field mapped to the clock, in any structure of a packet or event */
    CTF_ROLE_COUNT,
    /* fields of traces that tracetta wrote by the CTF conventions (ctf_conventions.h) */
    CTF_ROLE_ATTRIBUTE = 64, /* first role of event attributes; enum ctf_attribute is added to it */
    CTF_ROLE_HIDDEN = 127    /* length of a sequence; never printed as a field */
};

struct ctf_clock {
    ttr_text id; /* name by which field types refer to the clock (TSDL: name; CTF 2: id) */
    ttr_text name, ns, uid, description;
    uint64_t frequency; /* ticks per second (Hz), never 0 */
    /* seconds from the origin to tick 0; the clock offset is the sum of this and offset_cycles */
    int64_t offset_s;
    int64_t offset_cycles; /* cycles from the origin to tick 0, added to offset_s */
    uint64_t precision;    /* uncertainty in cycles; valid if has_precision */
    bool has_precision, has_uuid, is_absolute;
    bool is_unix; /* true if the origin is the Unix epoch */
    /* CTF 2: the origin, if it is not the Unix epoch */
    ttr_text origin_name, origin_ns, origin_uid;
    uint8_t uuid[16];
    bool has_accuracy;
    uint64_t accuracy;
};

struct ctf_environment {
    ttr_text name;
    bool is_number;
    int64_t number;
    ttr_text text;
};

struct ctf_stream_class;

struct ctf_event_class {
    uint64_t id;
    /* index of the class among all event classes of the description, in order of declaration */
    size_t number;
    /* name: as in the metadata; all three are "" if not declared */
    ttr_text name, ns, uid;
    ttr_text emf_uri;
    int64_t log_level;
    bool has_log_level;
    const struct ctf_stream_class *stream;
    const struct type
        *context; /* type of the context that only this event class has; NULL if it has none */
    const struct type *payload; /* type of the payload; NULL if the class declares none */
    /* CTF 2: user attributes as JSON text, kept for copies; "" if the class has no attributes */
    ttr_text attributes;
    uint64_t offset; /* byte offset of the declaration in the metadata, for error messages */
    /* layout of contexts and payload; NULL until the reader reads the first event of the class */
    struct layout *layout;
    /* CTF 1.8: layout of the fields that are mapped to the clock; NULL if no field is */
    struct layout *times;
    ttr_id name_id, provider_id;
    const struct ctf_thread_fields
        *thread_fields; /* fields that contain the thread; NULL until needed */
    /* true if ctf_conventions_prepare has already replaced the types of this class */
    bool are_conventions_prepared;
};

struct ctf_stream_class {
    uint64_t id;
    /* name: in RFC v1.1 the name of the section, which is its term for a stream class */
    ttr_text name, ns, uid;
    /* types of these structures; NULL if not declared */
    const struct type *packet_context, *event_header, *event_context;
    const struct ctf_clock *clock; /* default clock; NULL if there is none */
    struct ctf_event_class **events;
    size_t events_n, events_capacity;
    struct pair_map events_by_id; /* maps (id, 0) to an index in `events` */
    /* maps the addresses of (payload, context) to the index in `events` of a class that has the
     * layout of these types */
    struct pair_map *layouts;
    ttr_text attributes;
    uint64_t offset;
    /* the next three members are used for RFC v1.1 only */
    uint8_t rfc_header;   /* event header type 1 or 2; 0 = event_header describes the header */
    bool rfc_has_no_time; /* true if event headers contain no valid time */
    /* The metadata declare `context { event_size = true; }`. Then the event context has an unsigned
     * member payload_size in its first level (a u16 and the only member, unless context_type
     * declares others). It counts bytes from the end of the context, rounded up to a byte, to the
     * end of the payload, including the padding before the payload. */
    bool rfc_has_event_size;
};

/* RFC v1.1: default alignment of basic types. */
enum ctf_alignment {
    CTF_ALIGN_UNKNOWN =
        /* the metadata declare no alignment; it is found by trying (decision 15 in
         * src/formats/ctf/rfc-v1.1.md) */
    0,
    CTF_ALIGN_PACKED,
    CTF_ALIGN_NATURAL_64,
    CTF_ALIGN_NATURAL_32
};

struct ctf_description {
    const struct alloc *alloc;
    struct arena arena;
    enum ctf_version version;
    /* minor version of the format in the metadata: 8 for TSDL, 0 for CTF 2 */
    uint32_t minor;
    bool is_big_endian; /* default byte order of types */
    bool has_byte_order, has_uuid;
    uint8_t uuid[16];
    ttr_text name, ns, uid; /* CTF 2: name, namespace and unique id of the trace class */
    /* NULL if packets have no header; for RFC v1.1, a type that describes the fixed header */
    const struct type *packet_header;
    struct ctf_environment *environment;
    size_t environment_n, environment_capacity;
    struct ctf_clock **clocks;
    size_t clocks_n, clocks_capacity;
    struct ctf_stream_class **streams;
    size_t streams_n, streams_capacity;
    /* maps (stream class id, 0) to an index into `streams`, for the first `indexed_n` streams */
    struct pair_map streams_by_id;
    size_t indexed_n;
    size_t events_n; /* number of event classes in all stream classes */
    ttr_text attributes;
    /* RFC only: default alignment, as declared or as rfc11_set_alignment (rfc11.h) set it after
     * probing */
    enum ctf_alignment alignment;
    bool has_session_id; /* RFC only: the metadata was in packets, so session_id is valid */
    uint32_t session_id;
    /* RFC only: the counter events_discarded counts up to the end of its packet, as in CTF 1.8 */
    bool rfc_discarded_at_end;
    bool has_unescaped; /* CTF 1.8: some strings in the text have unescaped quotes or backslashes */
    /* true if the metadata follow release candidate 7 of the CTF 2 specification */
    bool is_rc7;
    /* called for each diagnostic of a parser; may be NULL. `offset` is a byte offset in the
     * metadata file. */
    void (*note)(void *ctx, ttr_severity severity, uint64_t offset, const char *code,
                 const char *text);
    void *note_ctx;
    /* state of the parser, for metadata that are added later; allocated in the arena */
    void *parser;
};

/* Reports whether counters of discarded events count up to the end of their packet. If not, they
 * count up to its start. */
static inline bool ctf_counts_discarded_to_packet_end(const struct ctf_description *description)
{
    return description->version != CTF_RFC_1_1 || description->rfc_discarded_at_end;
}

void ctf_description_init(struct ctf_description *description, const struct alloc *alloc);
void ctf_description_free(struct ctf_description *description);

/* Add a zeroed object to the description; the arena owns it. Return NULL if memory runs out. */
struct ctf_clock *ctf_add_clock(struct ctf_description *description);
struct ctf_stream_class *ctf_add_stream(struct ctf_description *description);
struct ctf_event_class *ctf_add_event(struct ctf_description *description,
                                      struct ctf_stream_class *stream, uint64_t id);
struct ctf_environment *ctf_add_environment(struct ctf_description *description);

/* Find an object by id or name. Return NULL if there is none. */
struct ctf_stream_class *ctf_find_stream(const struct ctf_description *description, uint64_t id);
struct ctf_event_class *ctf_find_event(const struct ctf_stream_class *stream, uint64_t id);
const struct ctf_environment *ctf_find_environment(const struct ctf_description *description,
                                                   const char *name);

/* Text of the metadata, without the packets that may contain it in the file. */
struct ctf_text {
    const char *p; /* the text; a zero byte follows its n bytes */
    size_t n;
    const char *file; /* name of the metadata file, for error messages */
    /* Segments of the text in ascending order. Each maps a range of the text to its offset in the
     * file. NULL if the file contains nothing but the text. */
    const struct ctf_piece {
        size_t at;
        uint64_t offset;
        /* true if the segment was compressed or encrypted, so all of it maps to one file offset */
        bool is_unpacked;
    } * piece;
    size_t pieces_n;
    /* true if the trace has more metadata files, so this text may end inside a declaration */
    bool is_part;
};

/* Convert a position in the text to a file offset, or to line and column. Both count from 1;
 * columns count bytes. */
uint64_t ctf_compute_text_offset(const struct ctf_text *text, size_t at);
void ctf_text_line_column(const struct ctf_text *text, size_t at, unsigned *line, unsigned *column);

/* Sets an error that contains file, line, column, the line's text and a caret below position `at`,
 * and returns its status. */
TTR_MUST ttr_status ctf_fail_at_text(const struct ctf_text *text, size_t at, ttr_error *error,
                                     const char *format, ...) TTR_PRINTF(4, 5);

/* Parse a metadata text into the description. Further calls add complete declarations. For the RFC,
 * the caller first sets is_big_endian from the magic number of packets. */
TTR_MUST ttr_status tsdl_parse(struct ctf_description *description, const struct ctf_text *text,
                               ttr_error *error);
TTR_MUST ttr_status ctf2_parse(struct ctf_description *description, const struct ctf_text *text,
                               ttr_error *error);
TTR_MUST ttr_status rfc11_parse(struct ctf_description *description, const struct ctf_text *text,
                                ttr_error *error);

/* Append the description to `to` as text of the language. Fail with TTR_E_UNSUPPORTED and the
 * reason if the language cannot express the description. */
TTR_MUST ttr_status tsdl_print(const struct ctf_description *description, struct buffer *to,
                               ttr_error *error);
TTR_MUST ttr_status ctf2_print(const struct ctf_description *description, struct buffer *to,
                               ttr_error *error);
TTR_MUST ttr_status rfc11_print(const struct ctf_description *description, struct buffer *to,
                                ttr_error *error);

/* Like ctf2_print, but for display only. It also accepts RFC v1.1: its packet sizes become fields
 * without a role, its lengths become members (NAME_length) before their sequence, its bitfields
 * lose their unit. A reader could not decode packets by this text. */
TTR_MUST ttr_status ctf2_print_indented(const struct ctf_description *description,
                                        struct buffer *to, ttr_error *error);

/* Detects the language of a metadata file from its first n bytes. Sets *is_packetised to whether
 * the text is in packets. */
enum ctf_version ctf_detect_metadata_language(const uint8_t *bytes, size_t n, bool *is_packetised);

/* Key of encrypted metadata packets (RFC v1.1 only). */
struct ctf_key {
    const uint8_t *bytes; /* the key, 32 bytes for AES-256; NULL if there is none */
};
TTR_MUST ttr_status ctf_unpack_metadata(struct ctf_description *description, const uint8_t *bytes,
                                        size_t n, const struct ctf_key *key, struct ctf_text *text,
                                        ttr_error *error);

#endif
