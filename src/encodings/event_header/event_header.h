/* Decoder of EventHeader events (byte layout: event_header_format.h). perf.data, trace.dat and raw
 * ring buffer pages all carry such events; each of these containers supplies the bytes of an event
 * and the name of its tracepoint, and this decoder does the rest.
 *
 * Order of calls:
 *
 *   event_header_decoder_new      once per trace
 *   event_header_add_tracepoint     once per tracepoint
 *   event_header_begin_batch    before each batch of events
 *   event_header_decode      once per event; fills the event and sets its schema
 *   ttr_fields_begin       on demand; the operations of the schema decode the payload
 *   event_header_decoder_free     after the last event of the trace was used
 *
 * Every event carries its own metadata (field names and types), and nearly all events of a
 * tracepoint carry the same. The decoder therefore compiles each distinct metadata block once into
 * a plan: a flat list of steps, one per field (as protobuf parsers precompile a message
 * descriptor). Plans are found by a hash of the metadata; the last plan of a tracepoint is tried
 * first, so an event usually costs one memcmp of its metadata.
 *
 * Invariants: a plan never changes after it was compiled, and it is compared byte by byte with the
 * metadata before use, so a hash collision cannot select a wrong plan. Interpreting metadata
 * directly yields the same fields as a plan (event_header_test.c compares both on random payloads).
 *
 * Cost: memory is bounded by EVENT_HEADER_PLANS_MAX and EVENT_HEADER_PLAN_BYTES_MAX. Metadata that
 * arrive after the limit are interpreted from the event on each access, which is slower but yields
 * the same fields. Decoding an event allocates nothing, except scratch texts that are reused per
 * batch.
 *
 * Left out: writing (event_header_write.h), and the lookup of tracepoints in the container.
 *
 * Ownership: every event_header_tracepoint belongs to its decoder. Thread rule: that of the ttr
 * context.
 */
#ifndef TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_H
#define TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_H

#include "encodings/event_header/event_header_format.h"
#include "model/context.h"
#include "model/format.h"

#define EVENT_HEADER_PLANS_MAX 16384u
#define EVENT_HEADER_PLAN_BYTES_MAX ((size_t)16 << 20)

struct event_header_decoder; /* decoder of all EventHeader events of one trace */
/* one tracepoint of the trace; its events may have different metadata */
struct event_header_tracepoint;

/* Stored bytes of an event. The container (perf.data, trace.dat ...) owns them. */
struct event_header_raw {
    const uint8_t *p;
    size_t n;
};

struct event_header_decoder_spec {
    ttr *t;
    /* format of the container; events are its raw records */
    const struct format *format;
    /* first argument of the callbacks below */
    const void *ctx;
    /* Returns the stored bytes of an event; event->payload shows which. */
    struct event_header_raw (*raw)(const void *ctx, const ttr_event *event);
    /* Sets `field` to field number i of those that the container adds before the payload (CPU,
     * period ...). Returns false if there are fewer. NULL if the container adds no fields. */
    bool (*extra)(const void *ctx, const ttr_event *event, uint32_t i, ttr_field *field);
    uint32_t (*frames)(const void *ctx, const ttr_event *event, uint64_t *addresses,
                       /* returns the callchain like field_ops.frames; may be NULL */
                       uint32_t room);
    /* number of bytes, of any value, that the container may append to an event */
    uint8_t padding;
};

/* Creates a decoder. Returns NULL if out of memory. */
struct event_header_decoder *event_header_decoder_new(const struct event_header_decoder_spec *spec);

/* Frees the decoder with its tracepoints and plans. After that, fields of its events cannot be
 * read. `all` may be NULL. */
void event_header_decoder_free(struct event_header_decoder *all);

/* Starts a batch of events. Fields of the previous batch become invalid, because the memory of
 * their texts is used again. */
void event_header_begin_batch(struct event_header_decoder *all);

/* Adds the tracepoint `name`; returns it if it was added before. `skip`: offset of the EventHeader
 * in the stored bytes. `owner`: data for event_header_schema_owner(), may be NULL. Returns NULL if
 * memory runs out. */
struct event_header_tracepoint *event_header_add_tracepoint(struct event_header_decoder *all,
                                                            ttr_text name, uint32_t skip,
                                                            const void *owner);

/* Implements format_description.describe. All events of one tracepoint with equal metadata form an
 * event class. Sets name, provider and field types in `description`, and their number in `events`.
 * Returns false if fewer than i + 1 classes were found so far. */
bool event_header_describe_class(struct event_header_decoder *all, size_t i,
                                 struct event_class *description, uint64_t *events);

/* Returns the `owner` of the tracepoint that has this schema; NULL if the schema is not of
 * EventHeader events. */
const void *event_header_schema_owner(const struct schema *schema);

/* Decodes the header of one event: sets name, provider, kind, level, keyword, opcode, tag,
 * activity ids and schema. The start or stop of an activity becomes the begin or end of an async
 * span. If the event is damaged, sets `*why` to a constant text and the flag TTR_EVENT_PARTIAL;
 * the bytes that cannot be decoded become the field "undecoded". Otherwise sets `*why` to NULL.
 * Returns false if memory runs out. */
TTR_MUST bool event_header_decode(struct event_header_tracepoint *kind, struct event_header_raw raw,
                                  ttr_event *event, const char **why);

/* --- Names of tracepoints: PROVIDER_L<level>K<keyword>[<options>] --- */

struct event_header_name {
    /* options: as written, such as "Gmsft"; empty if there is none */
    ttr_text provider, options;
    ttr_text group; /* provider group (option G); empty if it has none */
    /* suffix after '.' by which the kernel distinguishes events that have one name but different
     * fields; empty if none */
    ttr_text shape;
    uint64_t keyword;
    uint8_t level;
};

/* Splits the name of a tracepoint into provider, level, keyword and options. Returns false if it
 * is not a name that EventHeader prescribes. */
bool event_header_parse_name(ttr_text text, struct event_header_name *name);

/* --- Stored form of fields, for writers that print values in their own style --- */

struct event_header_describe_stored_field {
    ttr_text name; /* name as stored, with attributes; empty if the field has no name */
    /* value as stored; strings without their length prefix and without the zero at their end */
    const uint8_t *p;
    uint32_t n;
    uint16_t tag; /* tag that the provider has assigned; 0 if none */
    /* enum event_header_encoding; 0 for a field that is not in the payload (of the container, or
     * undecoded bytes) */
    uint8_t encoding;
    /* stored enum event_header_format; 0 for the default of the encoding */
    uint8_t format;
    bool is_big_endian;
    bool is_element; /* true if the field is an array element, so it has no name */
};

/* Describes how the field that ttr_fields_next() returned last is stored. Returns false if
 * `fields` are not those of an EventHeader event. */
bool event_header_describe_stored_field(const ttr_fields *fields,
                                        struct event_header_describe_stored_field *item);

/* Header of an event as stored. event_header_get_stored_header() returns false if the event is not
 * an EventHeader event, or is a copy without raw bytes, as the sort stage makes. */
struct event_header_get_stored_header {
    uint16_t id, tag;
    uint8_t flags, version, opcode, level;
};
bool event_header_get_stored_header(const ttr *t, const ttr_event *event,
                                    struct event_header_get_stored_header *head);

/* Returns the format of a value of `n` bytes: the declared format if values of that size can have
 * it, else the default of the encoding. EVENT_HEADER_DEFAULT means that the value is null. */
enum event_header_format event_header_get_effective_format(unsigned encoding, unsigned format,
                                                           size_t n);

/* Returns the symbolic name of a Linux error number, "ENOENT" for 2, or NULL if it has none. */
const char *event_header_get_errno_name(uint32_t number);

/* Writes a UUID as 36 characters ("01020304-0506-0708-0910-111213141516"), without a terminating
 * zero. Returns the end of the text. */
char *event_header_write_uuid(char *to, const uint8_t *bytes);

#endif
