/* Events of Linux tracepoints: what tracefs `format` files say of their kinds, and the fields,
 * names and texts of raw records by that. Several containers hold such records (perf.data,
 * trace.dat, ring buffers); each tells by a `struct tracepoint_container` where.
 *
 *   tracepoint_format.c  the text of a `format` file becomes a table of fields
 *   tracepoints.c        all kinds of one trace by their numbers; an event gets its name, schema
 * and kind tracepoint_fields.c  the walk over the fields of an event tracepoint_roles.c   switches,
 * wake-ups, names of threads tracepoint_print.h   print formats: an event as the text that the
 * kernel means tracepoint_names.c   what print formats refer to: kernel symbols, texts, names of
 * threads
 *
 * Tracepoints whose first own field is called `eventheader_flags` are those of EventHeader: their
 * events have names and fields of their own (event_header.h). Ownership: `struct tracepoints`
 * belongs to the reader and ends with it; texts given to it are copied.  Thread rule: that of the
 * context. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINTS_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINTS_H

#include "base/buffer.h"
#include "model/context.h"

struct format;
struct tracepoints; /* all kinds of tracepoint events of one trace, by their number */
struct tracepoint;  /* one kind: name, system, fields with places, print format */

/* Raw data of an event: the common fields first, then the event's own, as the kernel stored them.
 * p NULL: it has none. */
struct tracepoint_raw {
    const uint8_t *p;
    size_t n;
};

/* How events of a container hold it, and what else it knows of them.  Constant, one a container. */
struct tracepoint_container {
    struct tracepoint_raw (*raw)(const void *own, const ttr_event *event);
    /* The i-th field the container itself knows (ip, period, ...): given before those of the
     * tracepoint; the field is cleared before; its group is TTR_GROUP_COMMON.  False past the last.
     * Arrays are followed by their elements.  NULL: none. */
    bool (*extra)(const void *own, const ttr_event *event, uint32_t i, ttr_field *field);
    uint32_t (*frames)(const void *own, const ttr_event *event, uint64_t *addresses,
                       uint32_t room); /* as field_ops.frames; NULL */
    uint8_t padding; /* bytes behind raw data, at most, that may hold anything: the ring buffer
                        rounds sizes up */
};

struct tracepoints_spec {
    ttr *t;
    const struct format *format; /* whose raw records the events are */
    const struct tracepoint_container *container;
    const void *own;    /* of the container's functions */
    uint16_t source;    /* of the events */
    bool is_big_endian; /* of the traced machine, never the host's; likewise the size of its `long`
                         */
    uint8_t long_bytes;
};

TTR_MUST struct tracepoints *tracepoints_new(
    const struct tracepoints_spec *spec); /* NULL: memory is out */
void tracepoints_free(struct tracepoints *all);

/* A batch begins: nobody looks any more at what the events before it gave.  Texts of events are
 * kept until then. */
void tracepoints_batch(struct tracepoints *all);

/* Takes the text of a `format` file (tracefs events/SYSTEM/NAME/format); one of a number that is
 * there replaces it.  A text that cannot be understood poisons its own kind only: TTR_E_MALFORMED
 * with line and reason; where its number could be read its events have their raw bytes.  Other
 * failures: memory is out. */
TTR_MUST ttr_status tracepoints_add(struct tracepoints *all, ttr_text system, ttr_text format,
                                    ttr_error *error);

/* What print formats refer to: kernel symbols ("address type name [module]" lines), printk formats
 * ("address : text" lines); and names of threads ("pid name" lines), which the context gets.  False
 * when memory is out. */
TTR_MUST bool tracepoints_kallsyms(struct tracepoints *all, ttr_text lines);
TTR_MUST bool tracepoints_printk(struct tracepoints *all, ttr_text lines);
TTR_MUST bool tracepoints_comms(struct tracepoints *all, ttr_text lines);

/* The kind of a number, or of a name; NULL = none. */
const struct tracepoint *tracepoints_find(const struct tracepoints *all, uint32_t id);
const struct tracepoint *tracepoints_find_name(const struct tracepoints *all, ttr_text system,
                                               ttr_text name);

/* Whether raw data may be an event's, for who searches behind damage: its kind is known and has no
 * more bytes, or where no kinds are known, its thread had events before. */
bool tracepoints_may_be_event(const struct tracepoints *all, struct tracepoint_raw raw);

/* "sched" and "sched_switch": as the kernel calls it, whatever its events are called. */
ttr_text tracepoint_system(const struct tracepoint *tp);
ttr_text tracepoint_name(const struct tracepoint *tp);

/* The common fields' type (number of the kind) and pid, by the places that formats tell; false
 * where the record is shorter. */
bool tracepoint_common(const struct tracepoints *all, struct tracepoint_raw raw, uint32_t *id,
                       int32_t *pid);

/* Fills what raw data say of an event: name, provider (kernel: the system; EventHeader: the
 * provider), kind, schema, and of EventHeader level, keyword, opcode, tag, activity, related.
 * payload, body, time, cpu, thread, source are the container's, set before.  Switches and wake-ups
 * get the thread that they are about; the one the event happened on is in `link` then, and of
 * wake-ups its CPU in `tag`. `tp` NULL: the number is unknown, raw bytes are shown.  False when
 * memory is out; what is wrong with the event itself is in `*why` (static text, NULL = nothing) for
 * the container's note, the event then having TTR_EVENT_PARTIAL. */
TTR_MUST bool tracepoint_take(struct tracepoints *all, const struct tracepoint *tp,
                              struct tracepoint_raw raw, ttr_event *event, const char **why);

/* Makes what events of a kind need; tracepoint_take does it for the first one.  False when memory
 * is out. */
TTR_MUST bool tracepoint_prepare(const struct tracepoint *tp);

/* The same of a record of a ring buffer, which says all of it by its common fields: the event gets
 * payload and thread too, and `*id` is the number of its kind. */
TTR_MUST bool tracepoint_take_record(struct tracepoints *all, struct tracepoint_raw raw,
                                     ttr_event *event, uint32_t *id, const char **why);

/* The i-th class of events met so far: kinds, then those of EventHeader by their metadata; with the
 * types of their fields, and how many there were; false past the last.  As format.describe. */
bool tracepoints_describe(struct tracepoints *all, size_t i, struct event_class *about,
                          uint64_t *events);

/* The type of the fields that are a kind's own; NULL when memory is out, or its format was not
 * understood. */
const struct type *tracepoint_fields_type(const struct tracepoint *tp);

/* The same of those of EventHeader alone. */
bool tracepoints_describe_headers(struct tracepoints *all, size_t i, struct event_class *about,
                                  uint64_t *events);

/* The kind of an event of any reader; NULL: it is no tracepoint's, or was copied (sorting). */
const struct tracepoint *tracepoint_of(const ttr *t, const ttr_event *event);

/* Appends the text that the kind's print format gives for an event, without a line's end; "[FAILED
 * TO PARSE]" and the fields by name where the format cannot be evaluated, as perf has it.  False:
 * the event is no tracepoint's, or its kind was not understood. */
bool tracepoint_print(const ttr *t, const ttr_event *event, struct buffer *to);

/* Why the print format of a prepared kind cannot be evaluated, and the word that is about; false
 * where it can. */
bool tracepoint_print_error(const struct tracepoint *tp, ttr_text *why, ttr_text *what);

#endif
