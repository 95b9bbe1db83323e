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
struct tracepoints; /* all tracepoints of a trace, by id */
/* one tracepoint, with its name, system, field locations and print format */
struct tracepoint;

/* Record of an event as the kernel stored it: the common fields, then the fields of the
 * tracepoint. The container owns the bytes. `p` is NULL if the event has no record. */
struct tracepoint_raw {
    const uint8_t *p;
    size_t n;
};

/* How to access records in a container (perf.data, trace.dat, ring buffer pages). Each container
 * has one constant of this type. */
struct tracepoint_container {
    struct tracepoint_raw (*raw)(const void *ctx, const ttr_event *event);
    /* Sets `field`, which is zeroed, to field number i of those that the container adds before the
     * tracepoint's fields (ip, period ...), in group TTR_GROUP_COMMON. The elements of an array
     * follow it. Returns false if there are fewer fields. NULL if the container adds none. */
    bool (*extra)(const void *ctx, const ttr_event *event, uint32_t i, ttr_field *field);
    uint32_t (*frames)(const void *ctx, const ttr_event *event, uint64_t *addresses,
                       uint32_t room); /* returns the callchain, as field_ops.frames; may be NULL */
    /* maximum number of bytes, of any value, after a record, since the ring buffer rounds sizes up
     */
    uint8_t padding;
};

struct tracepoints_spec {
    ttr *t;
    /* format of the container; events are its raw records */
    const struct format *format;
    const struct tracepoint_container *container;
    const void *ctx; /* first argument of the container's functions */
    uint16_t source; /* source id of the events */
    /* byte order of the traced machine, and size of its `long` */
    bool is_big_endian;
    uint8_t long_bytes;
};

TTR_MUST struct tracepoints *tracepoints_new(
    const struct tracepoints_spec *spec); /* returns NULL if out of memory */
void tracepoints_free(struct tracepoints *all);

/* Starts a batch of events. Fields of the previous batch become invalid, because the memory of
 * their texts is used again. */
void tracepoints_begin_batch(struct tracepoints *all);

/* Adds a tracepoint from the text of tracefs events/SYSTEM/NAME/format. Replaces an earlier
 * tracepoint with the same id. If the text is malformed, returns TTR_E_MALFORMED with line and
 * reason, and does not affect other tracepoints; if the text has a valid id, its events have raw
 * bytes. Any other failure means that memory runs out. */
TTR_MUST ttr_status tracepoints_add(struct tracepoints *all, ttr_text system, ttr_text format,
                                    ttr_error *error);

/* Add the tables to which print formats refer: kernel symbols (lines "address type name [module]")
 * and printk formats (lines "address : text"). tracepoints_add_comms adds the names of threads
 * (lines "pid name") to the library context. All return false if memory runs out. */
TTR_MUST bool tracepoints_add_kallsyms(struct tracepoints *all, ttr_text lines);
TTR_MUST bool tracepoints_add_printk(struct tracepoints *all, ttr_text lines);
TTR_MUST bool tracepoints_add_comms(struct tracepoints *all, ttr_text lines);

/* Returns the tracepoint with that id; NULL if there is none. */
const struct tracepoint *tracepoints_find(const struct tracepoints *all, uint32_t id);

/* Returns true if `raw` may be a record, to find the next one after damage. If its tracepoint is
 * known, it must be long enough. If no tracepoints are known, its thread must have had events. */
bool tracepoints_is_plausible(const struct tracepoints *all, struct tracepoint_raw raw);

/* Return the names of system and tracepoint in the kernel, such as "sched" and "sched_switch". The
 * names of EventHeader events are different. */
ttr_text tracepoint_get_system(const struct tracepoint *tp);
ttr_text tracepoint_get_name(const struct tracepoint *tp);

/* Reads the common fields type (which is the tracepoint id) and pid, at the offsets in the format
 * files. Returns false if the record is too short. */
bool tracepoint_read_common(const struct tracepoints *all, struct tracepoint_raw raw, uint32_t *id,
                            int32_t *pid);

/* Decodes a record into an event: sets name, provider (the system, or the EventHeader provider),
 * kind and schema; for EventHeader also level, keyword, opcode, tag and activity ids. The
 * container has set payload, body, time, cpu, thread and source. If `tp` is NULL, because the id
 * is unknown, the event has raw bytes. If the record is damaged, sets `*why` to a constant text
 * and the flag TTR_EVENT_PARTIAL; else sets `*why` to NULL. Returns false if memory runs out. */
TTR_MUST bool tracepoint_decode(struct tracepoints *all, const struct tracepoint *tp,
                                struct tracepoint_raw raw, ttr_event *event, const char **why);

/* Compiles what decoding the events of a tracepoint needs. tracepoint_decode() calls this at the
 * first event. Returns false if memory runs out. */
TTR_MUST bool tracepoint_prepare_decoding(const struct tracepoint *tp);

/* Decodes a ring buffer record, in which the common fields identify tracepoint and thread. Like
 * tracepoint_decode(), but also sets payload and thread of the event, and sets `*id` to the
 * tracepoint id. */
TTR_MUST bool tracepoint_decode_record(struct tracepoints *all, struct tracepoint_raw raw,
                                       ttr_event *event, uint32_t *id, const char **why);

/* Implements format_description.describe: describes event class i, with its field types and number
 * of events. The classes of tracepoints come first, then those of EventHeader. Returns false if
 * there are fewer. */
bool tracepoints_describe_class(struct tracepoints *all, size_t i, struct event_class *description,
                                uint64_t *events);

/* Returns the fields of the tracepoint, without the common ones, as a struct type. Returns NULL if
 * memory runs out, or the format file is malformed. */
const struct type *tracepoint_make_fields_type(const struct tracepoint *tp);

/* Describes event classes like tracepoints_describe_class(), but only those of EventHeader. */
bool tracepoints_describe_header_class(struct tracepoints *all, size_t i,
                                       struct event_class *description, uint64_t *events);

/* Returns the tracepoint of an event of any reader. Returns NULL if it has none, or is a copy
 * without its record, as the sort stage makes. */
const struct tracepoint *tracepoint_get_from_event(const ttr *t, const ttr_event *event);

/* Appends the text of an event by its print format, without a newline. If the format cannot be
 * evaluated, appends "[FAILED TO PARSE]" and the fields with their names, as perf does. Returns
 * false if the event has no tracepoint, or the format file is malformed. */
bool tracepoint_print(const ttr *t, const ttr_event *event, struct buffer *to);

#endif
