/* Events that .NET's runtime (10 and later) writes to tracepoints of user_events: EventPipe's
 * events, one tracepoint for many of them.
 *
 *   tracepoint   u8 version (1) | u16 event_id | __rel_loc u8[] extension | __rel_loc u8[] payload
 *   extension    parts one behind another: a label, and what belongs to it
 *     1          u32 bytes, metadata: u32 id, z16 name, i64 keywords, u32 version, u32 level,
 * fields (clr_metadata.h), then maybe i32 bytes, u8 kind, so many bytes ... (kind 1: u8 opcode,
 * kind 2: fields of the second kind) 2, 3       16 bytes: activity, related activity
 *
 * A process sends the metadata of an event once; events of the runtime itself have none, and are
 * known by clr_events.h where the name of the tracepoint has that of their provider in it, its
 * dashes and points as underscores (OC_DotNet_Microsoft_Windows_DotNETRuntime_1234). Ownership: as
 * of event_headers.  Thread rule: that of the context. */
#ifndef TRACETTA_ENCODINGS_DOTNET_CLR_USER_EVENTS_H
#define TRACETTA_ENCODINGS_DOTNET_CLR_USER_EVENTS_H

#include "encodings/event_header/event_header.h"

#define CLR_USER_EVENTS_MOST 16384u /* types of events; others are given as they are */

struct clr_user_events; /* of one trace */
struct clr_user_kind;   /* events of one tracepoint */

/* Where the fields of such a tracepoint stand in what is stored, in bytes. */
struct clr_user_places {
    uint32_t id, extension, payload;
    bool is_big_endian; /* of the traced machine */
    uint8_t long_bytes;
};

/* NULL when memory is out. */
struct clr_user_events *clr_user_events_new(const struct event_headers_spec *spec);
void clr_user_events_free(struct clr_user_events *all);

/* A batch begins: see event_headers_batch. */
void clr_user_events_batch(struct clr_user_events *all);

/* Events of the tracepoint called `name`; NULL when memory is out. */
struct clr_user_kind *clr_user_events_kind(struct clr_user_events *all, ttr_text name,
                                           const struct clr_user_places *places, const void *owner);

/* As event_header_owner. */
const void *clr_user_owner(const struct schema *schema);

/* As event_header_take; the thread of the event is set. */
TTR_MUST bool clr_user_take(struct clr_user_kind *kind, struct event_header_raw raw,
                            ttr_event *event, const char **why);

#endif
