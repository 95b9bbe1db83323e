/* What the metadata of a CTF trace says, whichever of the three languages it is written in: the RFC
 * of 2010 (v1.1), TSDL (CTF 1.8) or JSON (CTF 2).  Parsers fill it, the reader and the writer of
 * streams work from it, printers turn it back into each language.
 *
 * Ownership: everything lies in the arena of the description and lives as long.  More metadata may
 * be added later (live traces): classes are appended, never moved or changed.  Thread rule: one
 * thread while metadata is added, read-only otherwise. */
#ifndef TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_DESCRIPTION_H
#define TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_DESCRIPTION_H

#include <tracetta/report.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/pairmap.h"
#include "model/type.h"

struct layout;

enum ctf_version { CTF_UNKNOWN = 0, CTF_RFC_1_1 = 11, CTF_1_8 = 18, CTF_2 = 20 };

/* What a field means to the reader (type.role). */
enum ctf_role {
    CTF_ROLE_NONE = 0,
    /* packet header */
    CTF_ROLE_MAGIC,
    CTF_ROLE_UUID, /* 16 bytes: the metadata's */
    CTF_ROLE_STREAM_CLASS_ID,
    CTF_ROLE_STREAM_ID, /* of the data stream ("stream_instance_id") */
    /* packet context */
    CTF_ROLE_PACKET_SIZE, /* bits; RFC: bytes (sizes_in_bytes) */
    CTF_ROLE_CONTENT_SIZE,
    CTF_ROLE_TIME_BEGIN,
    CTF_ROLE_TIME_END,
    CTF_ROLE_DISCARDED, /* snapshot of the counter of discarded events */
    CTF_ROLE_SEQUENCE,  /* packet sequence number */
    CTF_ROLE_CPU,       /* by name "cpu_id": also shown as a field */
    /* event header */
    CTF_ROLE_EVENT_ID,
    CTF_ROLE_TIME, /* updates the clock, wherever it stands */
    CTF_ROLE_COUNT,
    /* in traces that speak our dialect (ctf_dialect.h) */
    CTF_ROLE_ATTRIBUTE = 64, /* + enum ctf_attribute */
    CTF_ROLE_HIDDEN = 127    /* a length that is nobody's business */
};

struct ctf_clock {
    ttr_text id; /* how metadata refers to it (TSDL: name; CTF 2: id) */
    ttr_text name, ns, uid, description;
    uint64_t frequency;    /* Hz, never 0 */
    int64_t offset_s;      /* seconds and */
    int64_t offset_cycles; /* cycles from the origin to the clock's zero */
    uint64_t precision;    /* cycles */
    bool has_precision, has_uuid, is_absolute;
    bool is_unix;                                /* the origin is the Unix epoch */
    ttr_text origin_name, origin_ns, origin_uid; /* CTF 2: another origin */
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
    size_t number;          /* among all classes of the description, in their order */
    ttr_text name, ns, uid; /* name: as stored, "" = none */
    ttr_text emf_uri;
    int64_t log_level;
    bool has_log_level;
    const struct ctf_stream_class *stream;
    const struct type *context; /* specific context; NULL = none */
    const struct type *payload; /* NULL = none */
    ttr_text attributes;        /* CTF 2: JSON text of attributes, kept for copies; "" = none */
    uint64_t offset;            /* where the metadata declares it, for messages */
    /* The reader's, made when the first such event is met. */
    struct layout *layout;
    struct layout *times; /* CTF 1.8: the same with what is mapped to the clock, where there is
                             such; else NULL */
    ttr_id name_id, provider_id;
    const struct ctf_spots *spots; /* where its threads lie, once looked for */
    bool is_turned;                /* ctf_dialect_prepare was here */
};

struct ctf_stream_class {
    uint64_t id;
    ttr_text name, ns, uid;                                           /* RFC: the section's name */
    const struct type *packet_context, *event_header, *event_context; /* NULL = none */
    const struct ctf_clock *clock;                                    /* NULL = none */
    struct ctf_event_class **events;
    size_t events_n, events_capacity;
    struct pairmap events_by_id; /* (id, 0) to index in events */
    ttr_text attributes;
    uint64_t offset;
    /* RFC v1.1 */
    uint8_t rfc_header;      /* 1 or 2: header type; 0 = event_header describes it */
    bool rfc_has_no_time;    /* the times in its headers mean nothing */
    bool rfc_has_event_size; /* context { event_size = true; }: a first-level unsigned member
                              * payload_size of event_context (alone there, a u16, unless
                              * context_type gives more): bytes from the end of the context, rounded
                              * up to a byte, to the end of the payload, alignment in front of the
                              * payload included */
};

/* RFC v1.1: how basic types are aligned where they do not say so themselves. */
enum ctf_alignment {
    CTF_ALIGN_UNKNOWN = 0, /* nowhere recorded: probe (decision 15) */
    CTF_ALIGN_PACKED,
    CTF_ALIGN_NATURAL_64,
    CTF_ALIGN_NATURAL_32
};

struct ctf_description {
    const struct alloc *alloc;
    struct arena arena;
    enum ctf_version version;
    uint32_t minor;     /* of TSDL (8), of CTF 2 (0); what the metadata says */
    bool is_big_endian; /* native byte order */
    bool has_byte_order, has_uuid;
    uint8_t uuid[16];
    ttr_text name, ns, uid; /* CTF 2: of the trace class */
    const struct type
        *packet_header; /* NULL = none.  The RFC's fixed one is a type too (rfc11 makes it) */
    struct ctf_environment *environment;
    size_t environment_n, environment_capacity;
    struct ctf_clock **clocks;
    size_t clocks_n, clocks_capacity;
    struct ctf_stream_class **streams;
    size_t streams_n, streams_capacity;
    size_t events_n; /* of all of them */
    ttr_text attributes;
    enum ctf_alignment alignment; /* RFC only: as recorded; rfc11_set_alignment (rfc11.h) once it
                                     was found by probing */
    bool has_session_id;          /* RFC only: the metadata stood in packets */
    uint32_t session_id;
    bool rfc_discarded_at_end; /* RFC only: events_discarded stands for the end of its packet, as in
                                  CTF 1.8 */
    bool has_unescaped; /* CTF 1.8: strings in the text that are not written as strings are */
    bool is_rc7;        /* CTF 2 in the dialect of the release candidate */
    /* Remarks of a parser; may be NULL.  offset: in the metadata file. */
    void (*note)(void *own, ttr_severity severity, uint64_t offset, const char *code,
                 const char *text);
    void *note_own;
    void *
        parser; /* of the language: what it must remember when more metadata comes (in the arena) */
};

/* Whether counters of discarded events stand for the end of their packet, not for its begin. */
static inline bool ctf_counts_to_end(const struct ctf_description *description)
{
    return description->version != CTF_RFC_1_1 || description->rfc_discarded_at_end;
}

void ctf_description_init(struct ctf_description *description, const struct alloc *alloc);
void ctf_description_free(struct ctf_description *description);

/* Zeroed parts in the arena, added to the description; NULL when memory is out. */
struct ctf_clock *ctf_add_clock(struct ctf_description *description);
struct ctf_stream_class *ctf_add_stream(struct ctf_description *description);
struct ctf_event_class *ctf_add_event(struct ctf_description *description,
                                      struct ctf_stream_class *stream, uint64_t id);
struct ctf_environment *ctf_add_environment(struct ctf_description *description);

/* By id; NULL when there is none. */
struct ctf_stream_class *ctf_find_stream(const struct ctf_description *description, uint64_t id);
struct ctf_event_class *ctf_find_event(const struct ctf_stream_class *stream, uint64_t id);
const struct ctf_environment *ctf_find_environment(const struct ctf_description *description,
                                                   const char *name);

/* Plain metadata text: what is left when packets, checksums and padding are taken away. */
struct ctf_text {
    const char *p; /* followed by a zero byte that does not count */
    size_t n;
    const char *file; /* for messages */
    /* Pieces of the text and where they stood in the file, ascending; NULL: the text is the file.
     */
    const struct ctf_piece {
        size_t at;
        uint64_t offset;
        bool is_unpacked; /* it was compressed or enciphered: all of it has the one offset */
    } * piece;
    size_t pieces_n;
    bool is_part; /* another text of the same trace begins with this one: it may end anywhere */
};

/* Offset in the file of a place in the text; line and column there (from 1; a column counts bytes).
 */
uint64_t ctf_text_offset(const struct ctf_text *text, size_t at);
void ctf_text_place(const struct ctf_text *text, size_t at, unsigned *line, unsigned *column);

/* Fails with file, line, column, the line's text and a caret under the place. */
TTR_MUST ttr_status ctf_text_fail(const struct ctf_text *text, size_t at, ttr_error *error,
                                  const char *format, ...) TTR_PRINTF(4, 5);

/* The three languages.  Each reads a whole text, or more of it later (whole declarations), into the
 * description.  RFC: the caller has set is_big_endian from the packets' magic. */
TTR_MUST ttr_status tsdl_parse(struct ctf_description *description, const struct ctf_text *text,
                               ttr_error *error);
TTR_MUST ttr_status ctf2_parse(struct ctf_description *description, const struct ctf_text *text,
                               ttr_error *error);
TTR_MUST ttr_status rfc11_parse(struct ctf_description *description, const struct ctf_text *text,
                                ttr_error *error);

/* And back into text: appended to `to`.  A description that its language cannot say is
 * TTR_E_UNSUPPORTED and tells what. */
TTR_MUST ttr_status tsdl_print(const struct ctf_description *description, struct buffer *to,
                               ttr_error *error);
TTR_MUST ttr_status ctf2_print(const struct ctf_description *description, struct buffer *to,
                               ttr_error *error);
TTR_MUST ttr_status rfc11_print(const struct ctf_description *description, struct buffer *to,
                                ttr_error *error);

/* ctf2_print for people, which says v1.1 too: sizes of its packets are fields that mean nothing,
 * lengths are members before their sequence (NAME_length), bitfields have no unit.  The packets
 * themselves cannot be read by it. */
TTR_MUST ttr_status ctf2_show(const struct ctf_description *description, struct buffer *to,
                              ttr_error *error);

/* Which language a metadata file is in, by its first bytes; `is_packetised` where it stands in
 * packets. */
enum ctf_version ctf_sniff(const uint8_t *bytes, size_t n, bool *is_packetised);

/* Takes packets away (37- and 44-byte headers, either byte order; RFC: 48-byte headers, with what
 * checksum, compression and cypher say): the text lies in the description's arena.  Plain text
 * passes as it is.  text->file is the caller's.  What packets say of the byte order goes into the
 * description. */
struct ctf_key {
    const uint8_t *bytes; /* 32, for AES-256; NULL = none */
};
TTR_MUST ttr_status ctf_unpack_metadata(struct ctf_description *description, const uint8_t *bytes,
                                        size_t n, const struct ctf_key *key, struct ctf_text *text,
                                        ttr_error *error);

#endif
