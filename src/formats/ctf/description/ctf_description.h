/* Description of a CTF trace: what its metadata declares, independent of the metadata language. The
 * languages are the RFC of 2010 (v1.1), TSDL (CTF 1.8) and JSON (CTF 2). Parsers fill a
 * description, readers and writers of streams use it, printers convert it to each language.
 *
 *   text -> tsdl_parse, ctf2_parse, rfc11_parse -> description -> tsdl_print, ctf2_print,
 * rfc11_print
 *                                                       |
 *                                               layouts, event header plans
 *
 * Ownership: all parts are in the description's arena and live as long as it. More metadata may be
 * added later (live traces): classes are appended, never moved or changed. Thread rule: one thread
 * while metadata is added, read-only afterwards. */
#ifndef TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_DESCRIPTION_H
#define TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_DESCRIPTION_H

#include <tracetta/read.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/pair_map.h"
#include "model/type.h"

struct layout;

enum ctf_version { CTF_UNKNOWN = 0, CTF_RFC_1_1 = 11, CTF_1_8 = 18, CTF_2 = 20 };

/* Meaning of a field for the reader (type.role). */
enum ctf_role {
    CTF_ROLE_NONE = 0,
    /* packet header */
    CTF_ROLE_MAGIC,
    CTF_ROLE_UUID, /* 16 bytes; must equal the UUID of the metadata */
    CTF_ROLE_STREAM_CLASS_ID,
    CTF_ROLE_STREAM_ID, /* number of the data stream ("stream_instance_id") */
    /* packet context */
    CTF_ROLE_PACKET_SIZE, /* bits; RFC: bytes (sizes_in_bytes) */
    CTF_ROLE_CONTENT_SIZE,
    CTF_ROLE_TIME_BEGIN,
    CTF_ROLE_TIME_END,
    CTF_ROLE_DISCARDED, /* value of the counter of discarded events at the end of the packet */
    CTF_ROLE_SEQUENCE,  /* packet sequence number */
    CTF_ROLE_CPU,       /* field named "cpu_id"; also shown as a field */
    /* event header */
    CTF_ROLE_EVENT_ID,
    CTF_ROLE_TIME, /* updates the clock, in any part of an event or packet */
    CTF_ROLE_COUNT,
    /* in traces of tracetta's dialect (ctf_dialect.h) */
    CTF_ROLE_ATTRIBUTE = 64, /* + enum ctf_attribute */
    CTF_ROLE_HIDDEN = 127    /* a length that readers do not see */
};

struct ctf_clock {
    ttr_text id; /* name by which fields refer to the clock (TSDL: name; CTF 2: id) */
    ttr_text name, ns, uid, description;
    uint64_t frequency;    /* Hz, never 0 */
    int64_t offset_s;      /* seconds from the origin to tick 0, to which offset_cycles is added */
    int64_t offset_cycles; /* cycles from the origin to tick 0, in addition to offset_s */
    uint64_t precision;    /* uncertainty, in cycles */
    bool has_precision, has_uuid, is_absolute;
    bool is_unix;                                /* the origin is the Unix epoch */
    ttr_text origin_name, origin_ns, origin_uid; /* CTF 2: an origin other than the Unix epoch */
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
    /* index among all event classes of the description, in order of declaration */
    size_t number;
    ttr_text name, ns, uid; /* name: as in the metadata; "" if there is none */
    ttr_text emf_uri;
    int64_t log_level;
    bool has_log_level;
    const struct ctf_stream_class *stream;
    const struct type *context; /* specific context; NULL if there is none */
    const struct type *payload; /* NULL if there is none */
    /* CTF 2: JSON text of the attributes, kept for copying; "" if it has none */
    ttr_text attributes;
    uint64_t offset; /* byte offset of the declaration in the metadata, for messages */
    /* Set by the reader when it reads the first event of the class. */
    struct layout *layout;
    /* CTF 1.8: layout that keeps the fields mapped to the clock; NULL if it has none */
    struct layout *times;
    ttr_id name_id, provider_id;
    const struct ctf_thread_fields *spots; /* offsets of the thread fields; NULL until looked up */
    bool is_dialect_prepared;              /* ctf_dialect_prepare has replaced its types */
};

struct ctf_stream_class {
    uint64_t id;
    /* name: in the RFC, that of the section */
    ttr_text name, ns, uid;
    const struct type *packet_context, *event_header, *event_context; /* NULL if there is none */
    const struct ctf_clock *clock;                                    /* NULL if there is none */
    struct ctf_event_class **events;
    size_t events_n, events_capacity;
    struct pair_map events_by_id; /* (id, 0) to an index into `events` */
    ttr_text attributes;
    uint64_t offset;
    /* RFC v1.1 */
    uint8_t rfc_header;   /* 1 or 2: header type; 0 = event_header describes it */
    bool rfc_has_no_time; /* the times in event headers are undefined */
    /* context { event_size = true; }: an unsigned member payload_size in the first level of
     * event_context (a u16 and the only member, unless context_type declares others). It counts
     * bytes from the end of the context, rounded up to a byte, to the end of the payload, including
     * the padding before the payload. */
    bool rfc_has_event_size;
};

/* RFC v1.1: default alignment of basic types. */
enum ctf_alignment {
    CTF_ALIGN_UNKNOWN = 0, /* not recorded: found by probing (decision 15) */
    CTF_ALIGN_PACKED,
    CTF_ALIGN_NATURAL_64,
    CTF_ALIGN_NATURAL_32
};

struct ctf_description {
    const struct alloc *alloc;
    struct arena arena;
    enum ctf_version version;
    uint32_t minor;     /* minor version that the metadata declares: 8 for TSDL, 0 for CTF 2 */
    bool is_big_endian; /* native byte order */
    bool has_byte_order, has_uuid;
    uint8_t uuid[16];
    ttr_text name, ns, uid; /* CTF 2: of the trace class */
    const struct type
        *packet_header; /* NULL if there is none; rfc11 makes a type of the RFC's fixed header */
    struct ctf_environment *environment;
    size_t environment_n, environment_capacity;
    struct ctf_clock **clocks;
    size_t clocks_n, clocks_capacity;
    struct ctf_stream_class **streams;
    size_t streams_n, streams_capacity;
    size_t events_n; /* event classes in all stream classes */
    ttr_text attributes;
    /* RFC only: as recorded, or set by rfc11_set_alignment (rfc11.h) after probing */
    enum ctf_alignment alignment;
    bool has_session_id; /* RFC only: the metadata was in packets */
    uint32_t session_id;
    /* RFC only: events_discarded is the count at the end of its packet, as in CTF 1.8 */
    bool rfc_discarded_at_end;
    bool has_unescaped; /* CTF 1.8: the text has strings with unescaped quotes or backslashes */
    bool is_rc7;        /* CTF 2 as in the release candidate 7 */
    /* Receives diagnostics of a parser; may be NULL. `offset` is in the metadata file. */
    void (*note)(void *ctx, ttr_severity severity, uint64_t offset, const char *code,
                 const char *text);
    void *note_ctx;
    void *parser; /* state of the language's parser for later metadata; in the arena */
};

/* Reports whether counters of discarded events are valid at the end of their packet. If not, they
 * are valid at its start. */
static inline bool ctf_discarded_is_at_end(const struct ctf_description *description)
{
    return description->version != CTF_RFC_1_1 || description->rfc_discarded_at_end;
}

void ctf_description_init(struct ctf_description *description, const struct alloc *alloc);
void ctf_description_free(struct ctf_description *description);

/* Add a zeroed part to the description, in its arena. Return NULL if memory is out. */
struct ctf_clock *ctf_add_clock(struct ctf_description *description);
struct ctf_stream_class *ctf_add_stream(struct ctf_description *description);
struct ctf_event_class *ctf_add_event(struct ctf_description *description,
                                      struct ctf_stream_class *stream, uint64_t id);
struct ctf_environment *ctf_add_environment(struct ctf_description *description);

/* Find a part by id or name; NULL if there is none. */
struct ctf_stream_class *ctf_find_stream(const struct ctf_description *description, uint64_t id);
struct ctf_event_class *ctf_find_event(const struct ctf_stream_class *stream, uint64_t id);
const struct ctf_environment *ctf_find_environment(const struct ctf_description *description,
                                                   const char *name);

/* Metadata as plain text, without packet headers, checksums and padding. */
struct ctf_text {
    const char *p; /* followed by a zero byte that `n` does not count */
    size_t n;
    const char *file; /* name for messages */
    /* Mapping from text to file offsets, in ascending order; NULL if the text is the file. */
    const struct ctf_piece {
        size_t at;
        uint64_t offset;
        /* it was compressed or encrypted: the complete piece maps to one offset */
        bool is_unpacked;
    } * piece;
    size_t pieces_n;
    bool is_part; /* another metadata file of the trace continues this one: it may end anywhere */
};

/* Convert an index into the text to the offset in the file, or to line and column (from 1; columns
 * count bytes). */
uint64_t ctf_text_offset(const struct ctf_text *text, size_t at);
void ctf_text_line_column(const struct ctf_text *text, size_t at, unsigned *line, unsigned *column);

/* Fails with file, line, column, the line's text and a caret below position `at`. */
TTR_MUST ttr_status ctf_fail_at_text(const struct ctf_text *text, size_t at, ttr_error *error,
                                     const char *format, ...) TTR_PRINTF(4, 5);

/* Parse a complete text, or additional complete declarations later, into the description. For the
 * RFC, the caller sets is_big_endian from the packets' magic first. */
TTR_MUST ttr_status tsdl_parse(struct ctf_description *description, const struct ctf_text *text,
                               ttr_error *error);
TTR_MUST ttr_status ctf2_parse(struct ctf_description *description, const struct ctf_text *text,
                               ttr_error *error);
TTR_MUST ttr_status rfc11_parse(struct ctf_description *description, const struct ctf_text *text,
                                ttr_error *error);

/* Append the description as text of a language to `to`. Fail with TTR_E_UNSUPPORTED and the reason
 * if the language cannot express the description. */
TTR_MUST ttr_status tsdl_print(const struct ctf_description *description, struct buffer *to,
                               ttr_error *error);
TTR_MUST ttr_status ctf2_print(const struct ctf_description *description, struct buffer *to,
                               ttr_error *error);
TTR_MUST ttr_status rfc11_print(const struct ctf_description *description, struct buffer *to,
                                ttr_error *error);

/* Prints like ctf2_print, for display only: RFC v1.1 is also accepted. Sizes of its packets become
 * fields without a role, lengths become members before their sequence (NAME_length), bitfields have
 * no unit. A reader cannot decode the packets with this text. */
TTR_MUST ttr_status ctf2_show(const struct ctf_description *description, struct buffer *to,
                              ttr_error *error);

/* Detects the language of a metadata file from its first bytes. Sets `is_packetised` if the text is
 * in packets. */
enum ctf_version ctf_detect_metadata_language(const uint8_t *bytes, size_t n, bool *is_packetised);

/* Key of encrypted metadata packets (RFC v1.1 only). */
struct ctf_key {
    const uint8_t *bytes; /* 32 bytes for AES-256; NULL if there is none */
};
TTR_MUST ttr_status ctf_unpack_metadata(struct ctf_description *description, const uint8_t *bytes,
                                        size_t n, const struct ctf_key *key, struct ctf_text *text,
                                        ttr_error *error);

#endif
