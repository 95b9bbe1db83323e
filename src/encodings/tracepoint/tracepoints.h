/* Registry and decoder of Linux tracepoints. tracefs `format` files declare the fields of each
 * tracepoint; raw records are decoded by them into events with fields, names and texts. perf.data,
 * trace.dat and ring buffer pages all contain such records; each container describes through a
 * `struct tracepoint_container` how to find the record of an event.
 *
 * Order of calls:
 *
 *   tracepoints_new        once per trace
 *   tracepoints_add        once per `format` file; tracing_data.h does it for trace-cmd headers
 *   tracepoints_add_kallsyms   if the trace has them: kernel symbols, printk formats, thread names
 *   tracepoints_begin_batch      before each batch of events
 *   tracepoint_decode        once per event; tracepoint_decode_record for ring buffer records
 *   tracepoint_print       on demand: the text by the tracepoint's print format
 *   tracepoints_free       after the last event of the trace was used
 *
 * Implemented by:
 *
 *   tracepoint_format.c    parser of `format` files
 *   tracepoints.c          registry by id; sets name, schema and kind of an event
 *   tracepoint_fields.c    field operations of the schema
 *   tracepoint_print.h     print formats, compiled and run
 *   tracepoint_names.c     kernel symbols, printk formats, thread names
 *
 * A tracepoint with `eventheader_flags` as its first own field follows the EventHeader convention;
 * its events are decoded by event_header.h. Tracepoints of the .NET runtime go to
 * clr_user_events.h.
 *
 * Ownership: the reader owns `struct tracepoints`; texts passed in are copied. Thread rule: that of
 * the context. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINTS_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINTS_H

#include "base/buffer.h"
#include "model/context.h"

struct format;
struct tracepoints; /* all tracepoints of one trace, by id */
struct tracepoint;  /* one tracepoint: name, system, field locations, print format */

/* Record of an event as the kernel stored it: common fields, then the fields of the tracepoint. The
 * container owns the bytes. `p` is NULL if the event has no record. */
struct tracepoint_raw {
    const uint8_t *p;
    size_t n;
};

/* Functions and properties of a container of records (perf.data, trace.dat, ring buffer pages).
 * Each has one constant. */
struct tracepoint_container {
    struct tracepoint_raw (*raw)(const void *ctx, const ttr_event *event);
    /* Sets `field` to field number i of those that the container adds before the tracepoint's
     * fields (ip, period ...), in group TTR_GROUP_COMMON. `field` is zeroed. Array elements follow
     * their array. Returns false after the last field. NULL if the container adds none. */
    bool (*extra)(const void *ctx, const ttr_event *event, uint32_t i, ttr_field *field);
    uint32_t (*frames)(const void *ctx, const ttr_event *event, uint64_t *addresses,
                       uint32_t room); /* returns the callchain, as field_ops.frames; may be NULL */
    /* up to so many bytes of any value may follow a record, since the ring buffer rounds sizes
     * up */
    uint8_t padding;
};

struct tracepoints_spec {
    ttr *t;
    const struct format *format; /* the container's format, of which the events are raw records */
    const struct tracepoint_container *container;
    const void *ctx; /* passed to the container's functions */
    uint16_t source; /* source number of the events */
    /* byte order and size of `long` of the traced machine */
    bool is_big_endian;
    uint8_t long_bytes;
};

TTR_MUST struct tracepoints *tracepoints_new(
    const struct tracepoints_spec *spec); /* returns NULL if out of memory */
void tracepoints_free(struct tracepoints *all);

/* Starts a batch of events: reuses the memory of the texts decoded for the previous batch, so that
 * fields of that batch become invalid. */
void tracepoints_begin_batch(struct tracepoints *all);

/* Adds a tracepoint from the text of tracefs events/SYSTEM/NAME/format. Replaces an earlier
 * tracepoint with the same id. If the text is malformed, returns TTR_E_MALFORMED with line and
 * reason; other tracepoints are not affected. If the id could be read, events of the tracepoint
 * have raw bytes. Any other failure means that memory is exhausted. */
TTR_MUST ttr_status tracepoints_add(struct tracepoints *all, ttr_text system, ttr_text format,
                                    ttr_error *error);

/* Add the tables to which print formats refer: kernel symbols (lines "address type name [module]")
 * and printk formats (lines "address : text"). tracepoints_add_comms adds thread names (lines "pid
 * name") to the context. All return false if memory is exhausted. */
TTR_MUST bool tracepoints_add_kallsyms(struct tracepoints *all, ttr_text lines);
TTR_MUST bool tracepoints_add_printk(struct tracepoints *all, ttr_text lines);
TTR_MUST bool tracepoints_add_comms(struct tracepoints *all, ttr_text lines);

/* Returns the tracepoint with an id; NULL if there is none. */
const struct tracepoint *tracepoints_find(const struct tracepoints *all, uint32_t id);

/* Returns true if `raw` may be a record; used to resynchronize after damage. The record must be
 * long enough for a known tracepoint. If no tracepoints are known, its thread must have had events
 * before. */
bool tracepoints_is_plausible(const struct tracepoints *all, struct tracepoint_raw raw);

/* Return the system and name that the kernel uses, such as "sched" and "sched_switch". Events of
 * EventHeader tracepoints have other names. */
ttr_text tracepoint_get_system(const struct tracepoint *tp);
ttr_text tracepoint_get_name(const struct tracepoint *tp);

/* Reads the common fields type (tracepoint id) and pid, at the offsets that the format files
 * declare. Returns false if the record is too short. */
bool tracepoint_read_common(const struct tracepoints *all, struct tracepoint_raw raw, uint32_t *id,
                            int32_t *pid);

/* Decodes a record into an event: sets name, provider (the system, or the EventHeader provider),
 * kind and schema, and for EventHeader also level, keyword, opcode, tag and activity ids. The
 * container has set payload, body, time, cpu, thread and source before. If `tp` is NULL, the id is
 * unknown and raw bytes are shown. Returns false if out of memory. Sets `*why` to a static text if
 * the record is damaged (and the flag TTR_EVENT_PARTIAL), else to NULL. */
TTR_MUST bool tracepoint_decode(struct tracepoints *all, const struct tracepoint *tp,
                                struct tracepoint_raw raw, ttr_event *event, const char **why);

/* Compiles what the events of a tracepoint need; tracepoint_decode() does it at the first event.
 * Returns false if memory is exhausted. */
TTR_MUST bool tracepoint_prepare_decoding(const struct tracepoint *tp);

/* Decodes a ring buffer record, in which the common fields identify tracepoint and thread. Works
 * like tracepoint_decode(), but also sets payload and thread of the event, and sets `*id` to the
 * tracepoint id. */
TTR_MUST bool tracepoint_decode_record(struct tracepoints *all, struct tracepoint_raw raw,
                                       ttr_event *event, uint32_t *id, const char **why);

/* Implements format_description.describe: describes event class i, with field types and number of
 * events. The classes are those of tracepoints, then those of EventHeader. Returns false after the
 * last one. */
bool tracepoints_describe(struct tracepoints *all, size_t i, struct event_class *description,
                          uint64_t *events);

/* Returns the tracepoint's fields, without the common ones, as a struct type. Returns NULL if
 * memory is exhausted, or if the format file is malformed. */
const struct type *tracepoint_fields_type(const struct tracepoint *tp);

/* Describes event classes like tracepoints_describe(), but only those of EventHeader. */
bool tracepoints_describe_headers(struct tracepoints *all, size_t i,
                                  struct event_class *description, uint64_t *events);

/* Returns the tracepoint of an event of any reader. Returns NULL if the event has no tracepoint, or
 * is a copy without its record (made by sorting). */
const struct tracepoint *tracepoint_get_from_event(const ttr *t, const ttr_event *event);

/* Appends the text of an event by its print format, without a newline. If the format cannot be
 * evaluated, appends "[FAILED TO PARSE]" and the fields by name, as perf does. Returns false if the
 * event has no tracepoint, or the format file is malformed. */
bool tracepoint_print(const ttr *t, const ttr_event *event, struct buffer *to);

#endif
