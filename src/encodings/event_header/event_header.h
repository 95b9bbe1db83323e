/* Events of the EventHeader convention (event_header_format.h), in whatever container they were
 * recorded: perf.data, trace.dat, pages of a ring buffer.  The container finds the bytes of an
 * event and the name of its tracepoint, all else is here.
 *
 * Metadata come with each event, and are the same in most: each is compiled once for its tracepoint
 * into a plan, a list of steps.  Plans are limited (EVENT_HEADER_PLANS, EVENT_HEADER_PLAN_BYTES);
 * metadata that come behind the limit are walked where they stand in their event, by the same code,
 * at each asking. Ownership: kinds belong to the event_headers they are of.  Thread rule: that of
 * the context. */
#ifndef TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_H
#define TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_H

#include "encodings/event_header/event_header_format.h"
#include "model/context.h"
#include "model/format.h"

#define EVENT_HEADER_PLANS 16384u
#define EVENT_HEADER_PLAN_BYTES ((size_t)16 << 20)

struct event_headers;     /* of one trace */
struct event_header_kind; /* events of one tracepoint */

/* What the container stored of an event. */
struct event_header_raw {
    const uint8_t *p;
    size_t n;
};

struct event_headers_spec {
    ttr *t;
    const struct format *format; /* whose raw records the events are */
    const void *own;             /* of the container */
    /* Gives the bytes of an event, from its payload. */
    struct event_header_raw (*raw)(const void *own, const ttr_event *event);
    /* The i-th field that the container itself knows, before those of the payload; false past the
     * last.  NULL: none. */
    bool (*extra)(const void *own, const ttr_event *event, uint32_t i, ttr_field *field);
    uint32_t (*frames)(const void *own, const ttr_event *event, uint64_t *addresses,
                       uint32_t room); /* as field_ops.frames; NULL */
    uint8_t padding;                   /* bytes behind an event, at most, that may hold anything */
};

/* NULL when memory is out. */
struct event_headers *event_headers_new(const struct event_headers_spec *spec);

/* Frees it; events of it have no fields any more.  NULL is fine. */
void event_headers_free(struct event_headers *all);

/* A batch begins: nobody looks any more at what the events before it gave. */
void event_headers_batch(struct event_headers *all);

/* Events of the tracepoint called `name`, whose header stands `skip` bytes into what is stored; the
 * same for the same.  `owner` is the container's own, NULL = none.  NULL when memory is out. */
struct event_header_kind *event_headers_kind(struct event_headers *all, ttr_text name,
                                             uint32_t skip, const void *owner);

/* The i-th class of events met so far: those of a tracepoint with the same metadata, by their name
 * and provider, with the types of their fields, and how many there were; false past the last.  As
 * format.describe. */
bool event_headers_describe(struct event_headers *all, size_t i, struct event_class *about,
                            uint64_t *events);

/* The owner of the kind that events of a schema are of; NULL where they are none of EventHeader. */
const void *event_header_owner(const struct schema *schema);

/* Fills what an event says of itself: name, provider, kind (an activity that starts or stops is the
 * begin or end of an async span), level, keyword, opcode, tag, activity, related, schema; the rest
 * is the container's. False when memory is out.  What is wrong with it is in `*why`, static, NULL =
 * nothing; it then has TTR_EVENT_PARTIAL, and what could not be decoded is in its field
 * "undecoded". */
TTR_MUST bool event_header_take(struct event_header_kind *kind, struct event_header_raw raw,
                                ttr_event *event, const char **why);

/* --- The name of a tracepoint --- */

struct event_header_name {
    ttr_text provider, options; /* options: "Gmsft", "" = none */
    ttr_text group;             /* option G, "" = none */
    ttr_text shape;             /* what stands behind the '.' that the kernel adds, "" = none */
    uint64_t keyword;
    uint8_t level;
};

/* Takes a name apart; false where it is not made like those of EventHeader. */
bool event_header_name_take(ttr_text text, struct event_header_name *name);

/* --- How a field was stored, for writers that spell values in their own way --- */

struct event_header_item {
    ttr_text name;    /* as stored, with its attributes; "" = has none */
    const uint8_t *p; /* its bytes: strings without their length or zero */
    uint32_t n;
    uint16_t tag;     /* the provider's own */
    uint8_t encoding; /* enum event_header_encoding; 0: it is no field of the payload (a part of
                         what was not decoded, a container's) */
    uint8_t format;   /* enum event_header_format as stored */
    bool is_big_endian;
    bool is_element; /* of an array: it has no name */
};

/* Gives how the field was stored that ttr_fields_next gave just now; false where the walk is over
 * no event of EventHeader. */
bool event_header_item(const ttr_fields *fields, struct event_header_item *item);

/* What an event says of itself, as it stands there; false where it is none of EventHeader, or was
 * copied (sorting). */
struct event_header_head {
    uint16_t id, tag;
    uint8_t flags, version, opcode, level;
};
bool event_header_head(const ttr *t, const ttr_event *event, struct event_header_head *head);

/* How a value of so many bytes is to be understood: its format where that suits it, else the
 * default of its encoding; EVENT_HEADER_DEFAULT: it is null. */
enum event_header_format event_header_meaning(unsigned encoding, unsigned format, size_t n);

/* "ENOENT" of 2; NULL where there is none. */
const char *event_header_errno(uint32_t number);

/* "01020304-0506-0708-0910-111213141516": 36 bytes. */
char *event_header_put_uuid(char *to, const uint8_t *bytes);

#endif
