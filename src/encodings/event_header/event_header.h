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

struct event_header_decoder;    /* decoder of the EventHeader events of one trace */
struct event_header_tracepoint; /* one tracepoint of the trace */

/* Bytes of an event as the container stored them; borrowed from the container. */
struct event_header_raw {
    const uint8_t *p;
    size_t n;
};

struct event_header_decoder_spec {
    ttr *t;
    const struct format *format; /* the container's format, of which the events are raw records */
    /* passed to the callbacks below */
    const void *ctx;
    /* Returns the stored bytes of an event; event->payload identifies them. */
    struct event_header_raw (*raw)(const void *ctx, const ttr_event *event);
    /* Sets `field` to field number i of those that the container adds before the payload (CPU,
     * period ...). Returns false after the last. NULL if the container adds no fields. */
    bool (*extra)(const void *ctx, const ttr_event *event, uint32_t i, ttr_field *field);
    uint32_t (*frames)(const void *ctx, const ttr_event *event, uint64_t *addresses,
                       uint32_t room); /* returns the callchain, as field_ops.frames; may be NULL */
    /* the container may append up to so many bytes, of any value, to an event */
    uint8_t padding;
};

/* Creates a decoder. Returns NULL if out of memory. */
struct event_header_decoder *event_header_decoder_new(const struct event_header_decoder_spec *spec);

/* Frees the decoder with its tracepoints and plans. Fields of the events that it decoded cannot be
 * read any more. NULL is allowed. */
void event_header_decoder_free(struct event_header_decoder *all);

/* Starts a batch of events: reuses the memory of the texts decoded for the previous batch, so that
 * fields of that batch become invalid. */
void event_header_begin_batch(struct event_header_decoder *all);

/* Adds the tracepoint `name`, or returns it if it was added before. The EventHeader is `skip` bytes
 * after the start of the stored bytes. `owner` is returned by event_header_schema_owner(), and may
 * be NULL. Returns NULL if memory is exhausted. */
struct event_header_tracepoint *event_header_add_tracepoint(struct event_header_decoder *all,
                                                            ttr_text name, uint32_t skip,
                                                            const void *owner);

/* Implements format_description.describe. An event class consists of the events of one tracepoint
 * with equal metadata. Sets name, provider and field types in `description`, and the number of
 * events in `events`. Returns false if fewer than i + 1 classes have been found. */
bool event_header_describe(struct event_header_decoder *all, size_t i,
                           struct event_class *description, uint64_t *events);

/* Returns the `owner` of the tracepoint to which a schema belongs. Returns NULL if the schema is
 * not one of EventHeader. */
const void *event_header_schema_owner(const struct schema *schema);

/* Decodes the header of one event: fills name, provider, kind, level, keyword, opcode, tag,
 * activity ids and schema. An activity start or stop becomes the begin or end of an async span.
 * Returns false if out of memory. If the event is damaged, sets `*why` to a static text and the
 * flag TTR_EVENT_PARTIAL; the undecodable bytes are in the field "undecoded". Otherwise sets `*why`
 * to NULL. */
TTR_MUST bool event_header_decode(struct event_header_tracepoint *kind, struct event_header_raw raw,
                                  ttr_event *event, const char **why);

/* --- Names of tracepoints: PROVIDER_L<level>K<keyword>[<options>] --- */

struct event_header_name {
    ttr_text provider, options; /* options as written, for example "Gmsft"; empty if none */
    ttr_text group;             /* value of option G (provider group); empty if none */
    /* suffix after '.', by which the kernel distinguishes events of one name with different fields;
     * empty if none */
    ttr_text shape;
    uint64_t keyword;
    uint8_t level;
};

/* Splits a tracepoint name into provider, level, keyword and options. Returns false if it does not
 * follow the convention of EventHeader. */
bool event_header_parse_name(ttr_text text, struct event_header_name *name);

/* --- Stored form of a field, for writers that print values in their own style --- */

struct event_header_item {
    ttr_text name; /* name including attributes, as stored; empty if the field has no name */
    /* value as stored; for strings without length prefix and terminating zero */
    const uint8_t *p;
    uint32_t n;
    uint16_t tag; /* tag chosen by the provider, 0 = none */
    /* enum event_header_encoding; 0 for fields that are not in the payload (fields of the
     * container, undecoded bytes) */
    uint8_t encoding;
    uint8_t format; /* enum event_header_format as stored; 0 selects the default of the encoding */
    bool is_big_endian;
    bool is_element; /* an element of an array, so it has no name */
};

/* Describes how the last field of ttr_fields_next() is stored. Returns false if `fields` does not
 * iterate over an EventHeader event. */
bool event_header_item(const ttr_fields *fields, struct event_header_item *item);

/* Header of an event as stored. event_header_head() returns false if the event is not an
 * EventHeader event, or is a copy without raw bytes (made by sorting). */
struct event_header_head {
    uint16_t id, tag;
    uint8_t flags, version, opcode, level;
};
bool event_header_head(const ttr *t, const ttr_event *event, struct event_header_head *head);

/* Returns the format of a value of `n` bytes: the declared format if it allows that size, else the
 * default of the encoding. EVENT_HEADER_DEFAULT means that the value is null. */
enum event_header_format event_header_effective_format(unsigned encoding, unsigned format,
                                                       size_t n);

/* Returns the symbolic name of a Linux error number, "ENOENT" for 2, or NULL if it has none. */
const char *event_header_get_errno_name(uint32_t number);

/* Writes a UUID as 36 characters ("01020304-0506-0708-0910-111213141516"), without a terminating
 * zero. Returns the end of the text. */
char *event_header_write_uuid(char *to, const uint8_t *bytes);

#endif
