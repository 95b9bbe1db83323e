/* Encoder that turns events of any format into EventHeader events (event_header_format.h), for
 * writers of formats that contain tracepoints.
 *
 * An event that was read as EventHeader keeps its bytes. For all others the name of the tracepoint
 * carries provider, level and keyword. Characters of the provider other than letters, digits and
 * '_' become '_'. Fields of all groups become payload fields in their original order. Events that
 * are not instants get the additional fields "ttr.kind", "ttr.duration_ns" and "ttr.link".
 *
 *   null        STRING8 of length 0, format unsigned
 *   bool        VALUE8, format boolean
 *   uint, int   VALUE8..VALUE64 of the stored width; hexadecimal format is kept
 *   float       VALUE32 or VALUE64, format float
 *   text        STRING8 (UTF-8)
 *   bytes       BINARY
 *   struct      struct
 *   array       counted array if all elements have the same type, else a struct with the members
 *               "0", "1", ...
 *   thread      its tid, format pid if it fits into 31 bits
 *
 * Ownership: event_header_writer owns its buffers until event_header_writer_free. Thread rule: that
 * of the context. */
#ifndef TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_WRITE_H
#define TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_WRITE_H

#include "base/buffer.h"
#include "encodings/event_header/event_header.h"

/* Losses of the encoder. The loss table of each format that uses it must begin with
 * EVENT_HEADER_LOSS_ROWS, since these numbers are indexes of that table. */
enum event_header_loss {
    /* provider names with characters that tracepoint names must not contain */
    EVENT_HEADER_LOSS_PROVIDER,
    EVENT_HEADER_LOSS_NO_PROVIDER, /* events that have no provider */
    EVENT_HEADER_LOSS_LEVEL,       /* events without a level, or with the level trace */
    EVENT_HEADER_LOSS_NAME,        /* names of events and fields that contain ';' or NUL */
    EVENT_HEADER_LOSS_KIND,        /* events that are not instants */
    EVENT_HEADER_LOSS_LABEL,       /* labels of enumerated values, which are not written */
    EVENT_HEADER_LOSS_CONTEXT,     /* context fields, which become payload fields */
    EVENT_HEADER_LOSS_ARRAY,       /* arrays in which elements have different types */
    EVENT_HEADER_LOSS_EMPTY,       /* structs that have no members */
    EVENT_HEADER_LOSS_CUT,         /* values that are too long or nested too deeply */
    EVENT_HEADER_LOSSES
};

#define EVENT_HEADER_LOSS_ROWS                                                              \
    {.code = "provider.characters",                                                         \
     .what = "providers with characters that tracepoint names must not contain",            \
     .rule = "have '_' for each"},                                                          \
        {.code = "provider.none",                                                           \
         .what = "events without a provider",                                               \
         .rule = "get the provider \"tracetta\""},                                          \
        {.code = "event.level",                                                             \
         .what = "events without a level, or of level trace",                               \
         .rule = "get level 4 (information) or 6 (trace)"},                                 \
        {.code = "name.characters",                                                         \
         .what = "names of events and fields with ';' or NUL",                              \
         .rule = "have '_' for each"},                                                      \
        {.code = "event.kind",                                                              \
         .what = "events that are not instants",                                            \
         .rule = "get fields for kind, duration and link"},                                 \
        {.code = "field.labels",                                                            \
         .what = "names of enumerated values",                                              \
         .rule = "are left out; the numbers stay",                                          \
         .kind = TTR_LOSS_DROPPED},                                                         \
        {.code = "field.context",                                                           \
         .what = "fields of an event's context",                                            \
         .rule = "become fields of the payload"},                                           \
        {.code = "field.array",                                                             \
         .what = "arrays with elements of different types",                                 \
         .rule = "become structs"},                                                         \
        {.code = "field.empty", .what = "structs without fields", .rule = "become null"},   \
    {                                                                                       \
        .code = "field.long",                                                               \
        .what = "texts, arrays and structs over 65,535 bytes or elements, 127 fields or 8 " \
                "levels, or larger than the event",                                         \
        .rule = "are cut", .kind = TTR_LOSS_DROPPED                                         \
    }

struct event_header_writer {
    const ttr *t;
    bool is_big_endian;
    /* maximum event size in bytes; fields that do not fit are dropped and counted as CUT */
    size_t most;
    struct buffer metadata, payload;
    /* the current top-level field and its members, in depth-first order */
    ttr_field *field;
    size_t fields_n, capacity;
    /* bytes that the current top-level field needs in the payload at least */
    size_t least;
    /* true if the current top-level field will not fit, so its other members are ignored */
    bool is_cut;
    unsigned depth;
    /* last provider for which is_renamed was computed: whether its name must be changed */
    ttr_id cached_provider;
    bool is_renamed;
    uint64_t losses[EVENT_HEADER_LOSSES];
    uint64_t losses_total;
};

void event_header_writer_init(struct event_header_writer *writer, const ttr *t,
                              const struct alloc *alloc);
void event_header_writer_free(struct event_header_writer *writer);

/* Writes the name of the event's tracepoint with a zero at its end. Returns the length without the
 * zero. */
size_t event_header_write_tracepoint_name(struct event_header_writer *writer,
                                          const ttr_event *event, char to[EVENT_HEADER_NAME_MAX]);

/* Opcode and activity ids to store in the header of an event. */
struct event_header_ids {
    uint8_t opcode;
    const uint8_t *activity, *related; /* ids of 16 bytes; NULL if the event has none */
};

/* Appends an event with its header. If `ids` is NULL, copies an event that was read as EventHeader
 * byte by byte, and encodes any other event with its own ids. If memory runs out, sets to->failed.
 */
void event_header_write_event(struct event_header_writer *writer, const ttr_event *event,
                              const struct event_header_ids *ids, struct buffer *to);

#endif
