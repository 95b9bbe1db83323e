/* Event copies: the library's own encoding of events in memory, for events that outlive their batch
 * (sorting) and for built events.
 *
 * A copy's payload:
 *
 *   | activity 16 | related 16 | n u64, n frames u64 | size u64, packet fields | fields ... |
 *     if present    if present   if it has a stack     if schema.has_packet   ^ event.body
 *
 * Each field starts with a head of 16 bytes:
 *
 *   | type u8 | display u8 | bits u8 | depth u8 | name id u32 | count or length u32 | text id u32 |
 *   | group u8 | base u8 | choices u8 | flags u8 | labels u32 | label ids | type pointer |
 *   | value: 8 bytes (scalars), or the bytes of a TEXT or BYTES, padded to 8 |
 *
 * Large data that events share is stored once, in the strings of the context. A text that is such a
 * string (text id) has no bytes if bit 5 of the type is set. The stack and the packet fields can be
 * replaced by the id of a string with their bytes (u64); bit 63 of their size is then set. Without
 * that, a small input could make many copies of one large text.
 *
 * The second line exists if bit 7 of the type is set: ids of all labels of an enumerated value, 4
 * bytes each, padded to 8, and a pointer to the declared type if it was chosen among several.
 * Consecutive unnamed elements that differ only in their values share one head with bit 6 of the
 * type set. Its count is the number of elements; each value has 1, 2, 4 or 8 bytes, by `bits`; the
 * row is padded to 8. Copies use such rows, built events do not.
 *
 * Order of calls: event_copy_add (sorting) or event_copy_add_field (builder) appends to a buffer;
 * when the buffer no longer moves, event_copy_set_pointers sets the copy's pointers. The copy's
 * schema (context_copy_schema) makes ttr_fields read it like any payload.
 *
 * Invariants: every field starts at a multiple of 8 bytes. Names are interned in the same context.
 * A type pointer is valid as long as the schema's event class.
 *
 * Cost: 24 bytes per scalar field, 1 to 8 per element of a row. Left out: use in files; the byte
 * order is that of the host. */
#ifndef TRACETTA_MODEL_EVENT_COPY_H
#define TRACETTA_MODEL_EVENT_COPY_H

#include "base/buffer.h"
#include "model/context.h"

#define EVENT_COPY_DEPTH_MAX 255u /* largest depth of a field */

extern const struct field_ops event_copy_field_ops;

/* Appends a field. Interns its name, and the first label of an enumerated value. Failure sets
 * to->failed. */
void event_copy_add_field(ttr *t, struct buffer *to, const ttr_field *field);

/* Appends a copy of an event to the buffer, in the encoding above. Sets *copy to the event; its
 * payload starts at the returned offset. Its payload pointers are not NULL if the data exists, but
 * not valid until event_copy_set_pointers sets them. */
size_t event_copy_add(ttr *t, struct buffer *to, const ttr_event *event, ttr_event *copy);

/* Encoded packet fields of a copied event, in its payload or in a string of the context. Equal
 * packets have equal bytes. n is 0 if the copy has no packet fields. */
struct event_copy_packet {
    const uint8_t *bytes;
    size_t n;
};

struct event_copy_packet event_copy_find_packet(const ttr *t, const ttr_event *copy);

/* Sets a copy's pointers to the final address of its payload. */
static inline void event_copy_set_pointers(ttr_event *copy, const uint8_t *payload)
{
    copy->payload = copy->payload_size ? payload : NULL;
    copy->related = copy->related ? payload + (copy->activity ? 16 : 0) : NULL;
    copy->activity = copy->activity ? payload : NULL;
}

#endif
