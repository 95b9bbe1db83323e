/* Events of any format as events of EventHeader (event_header_format.h): for writers of containers
 * that hold them.
 *
 * An event of EventHeader keeps its bytes.  Of others: the provider, its characters but letters,
 * digits, '_', '-' and '.' being '_', the level and the keyword are in the name of the tracepoint;
 * fields of all groups are fields, in their order.  What is no instant has its kind, duration and
 * link as the fields "ttr.kind", "ttr.duration_ns", "ttr.link" behind them.
 *
 *   null            string of no characters, format unsigned      text      counted string of UTF-8
 *   bool            value8, boolean                               bytes     binary
 *   uint, int       value of the stored width; hexadecimal ones so          struct    struct
 *   float           value32 or value64                            array     counted array, where
 * all elements are alike, else a struct of "0", "1", ... a thread        its tid, as a pid where it
 * fits
 *
 * Ownership: a put has buffers of its own until event_header_put_free.  Thread rule: that of the
 * context. */
#ifndef TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_WRITE_H
#define TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_WRITE_H

#include "base/buffer.h"
#include "encodings/event_header/event_header.h"

/* A format that writes such events has these losses first in its table: EVENT_HEADER_LOSS_ROWS. */
enum event_header_loss {
    EVENT_HEADER_LOSS_PROVIDER, /* characters that names of tracepoints should not have */
    EVENT_HEADER_LOSS_NOBODY,   /* no provider */
    EVENT_HEADER_LOSS_LEVEL,    /* none, or trace */
    EVENT_HEADER_LOSS_NAME,     /* ';' or a zero in the name of an event or field */
    EVENT_HEADER_LOSS_KIND,     /* no instant */
    EVENT_HEADER_LOSS_LABEL,    /* names of numbers */
    EVENT_HEADER_LOSS_CONTEXT,  /* fields of the context */
    EVENT_HEADER_LOSS_ARRAY,    /* arrays of unlike elements */
    EVENT_HEADER_LOSS_EMPTY,    /* structs of no fields */
    EVENT_HEADER_LOSS_CUT,      /* what is too long or too deep */
    EVENT_HEADER_LOSSES
};

#define EVENT_HEADER_LOSS_ROWS                                                                    \
    {.code = "provider.characters",                                                               \
     .what = "providers with characters that tracepoints should not have in their names",         \
     .rule = "have '_' for each"},                                                                \
        {.code = "provider.none",                                                                 \
         .what = "events without a provider",                                                     \
         .rule = "get the provider \"tracetta\""},                                                \
        {.code = "event.level",                                                                   \
         .what = "events without a level, or of level trace",                                     \
         .rule = "get level 4, information, or 6, which is told beside"},                         \
        {.code = "name.characters",                                                               \
         .what = "names of events and fields with ';' or a zero",                                 \
         .rule = "have '_' for each"},                                                            \
        {.code = "event.kind",                                                                    \
         .what = "events that are no instants",                                                   \
         .rule = "have their kind, duration and link as fields"},                                 \
        {.code = "field.labels",                                                                  \
         .what = "names of enumerated values",                                                    \
         .rule = "are left out; numbers stay",                                                    \
         .kind = TTR_LOSS_DROPPED},                                                               \
        {.code = "field.context",                                                                 \
         .what = "fields of the context",                                                         \
         .rule = "become fields among the others"},                                               \
        {.code = "field.array", .what = "arrays of unlike elements", .rule = "become structs"},   \
        {.code = "field.empty", .what = "structs of no fields", .rule = "become null"},           \
    {                                                                                             \
        .code = "field.long",                                                                     \
        .what = "texts, arrays and structs past 65,535 bytes, as many elements, 127 fields or 8 " \
                "levels, and what does not fit into the event",                                   \
        .rule = "are cut", .kind = TTR_LOSS_DROPPED                                               \
    }

struct event_header_put {
    const ttr *t;
    bool is_big_endian;
    size_t most; /* bytes of an event; what does not fit is left out */
    struct buffer metadata, payload;
    ttr_field *field; /* the outermost ones under way, with what they hold */
    size_t fields_n, capacity;
    size_t least; /* bytes of payload that the last of these takes at least */
    bool is_cut;  /* more of it came than an event has room for */
    unsigned depth;
    ttr_id asked; /* the provider of the event before, and whether it has another name in those of
                     tracepoints */
    bool is_renamed;
    uint64_t losses[EVENT_HEADER_LOSSES];
    uint64_t lost_any;
};

void event_header_put_init(struct event_header_put *put, const ttr *t, const struct alloc *alloc);
void event_header_put_free(struct event_header_put *put);

/* Writes the name of the tracepoint that an event is of, and a zero; gives its length. */
size_t event_header_put_name(struct event_header_put *put, const ttr_event *event,
                             char to[EVENT_HEADER_NAME_MAX]);

/* What an event is to say of itself, beside its fields. */
struct event_header_says {
    uint8_t opcode;
    const uint8_t *activity, *related; /* 16 bytes, NULL = none */
};

/* What it says itself. */
struct event_header_says event_header_says(const ttr_event *event);

/* Appends an event, from its header on.  `says` NULL: what it says itself, and one of EventHeader
 * is copied.  The failed flag of the buffer tells of memory. */
void event_header_put_event(struct event_header_put *put, const ttr_event *event,
                            const struct event_header_says *says, struct buffer *to);

#endif
