/* Decoder of events that the .NET runtime (10 and later) writes to user_events tracepoints. One
 * tracepoint carries many kinds of EventPipe events.
 *
 *   record      u8 version (1) | u16 event_id | __rel_loc u8[] extension | __rel_loc u8[] payload
 *   extension   parts in sequence, each a u8 label followed by its data:
 *     label 1   u32 size, metadata: u32 id | z16 name | i64 keywords | u32 version | u32 level
 *               | fields (clr_metadata.h) | optional parts: i32 size, u8 kind, data
 *               (kind 1: u8 opcode, kind 2: fields of the second kind)
 *     label 2   activity id, 16 bytes
 *     label 3   related activity id, 16 bytes
 *
 * A process transmits the metadata of an event once, with its first occurrence. The runtime's own
 * events have no metadata; the table in clr_events.h describes them. They are recognized by the
 * tracepoint's name, which contains the provider's name with '-' and '.' replaced by '_'
 * (OC_DotNet_Microsoft_Windows_DotNETRuntime_1234).
 *
 * Order of calls: clr_user_decoder_new once per trace, clr_user_add_tracepoint once per tracepoint,
 * clr_user_begin_batch per batch, clr_user_decode per event, clr_user_decoder_free at the end.
 * tracepoints.c does all of this.
 *
 * Ownership: tracepoints and types belong to clr_user_decoder. Thread rule: that of the context. */
#ifndef TRACETTA_ENCODINGS_DOTNET_CLR_USER_EVENTS_H
#define TRACETTA_ENCODINGS_DOTNET_CLR_USER_EVENTS_H

#include "encodings/event_header/event_header.h"

/* maximum number of event types; events of more types have raw bytes instead of fields */
#define CLR_USER_TYPES_MAX 16384u

struct clr_user_decoder; /* decoder of all events of one trace */
/* one tracepoint of the trace; its events may have many types */
struct clr_user_tracepoint;

/* Byte offsets in a record of the fields of the tracepoint. */
struct clr_user_offsets {
    uint32_t id, extension, payload;
    bool is_big_endian; /* byte order of the traced machine */
    uint8_t long_bytes;
};

/* Creates a decoder. Returns NULL if out of memory. */
struct clr_user_decoder *clr_user_decoder_new(const struct event_header_decoder_spec *spec);
void clr_user_decoder_free(struct clr_user_decoder *all);

/* Starts a batch of events: frees the texts decoded for the previous batch. */
void clr_user_begin_batch(struct clr_user_decoder *all);

/* Adds the tracepoint `name`. clr_user_schema_owner() will return `owner`. Returns NULL if memory
 * is out. */
struct clr_user_tracepoint *clr_user_add_tracepoint(struct clr_user_decoder *all, ttr_text name,
                                                    const struct clr_user_offsets *places,
                                                    const void *owner);

/* Returns the `owner` of the tracepoint that has this schema; NULL if the schema was not made by
 * this decoder. */
const void *clr_user_schema_owner(const struct schema *schema);

/* Decodes an event. Sets `*why` as event_header_decode() does. event->thread must be set, because
 * metadata are stored per process. Returns false if memory runs out. */
TTR_MUST bool clr_user_decode(struct clr_user_tracepoint *kind, struct event_header_raw raw,
                              ttr_event *event, const char **why);

#endif
