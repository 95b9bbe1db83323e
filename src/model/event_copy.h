/* The library's own encoding of fields: what builders make, and what events become when they must
 * outlive their batch (sorting). Every field is a 16-byte head [type u8 | hint u8 | bits u8 | depth
 * u8 | name id u32 | count or length u32 | text id u32] followed by 8 bytes of value (scalars) or
 * its bytes (TEXT, BYTES; padded to 8).  Between them stands, where bit 7 of the type is set,
 * [group u8 | base u8 | choices u8 | flags u8 | names u32], the ids of a labelled value's names, 4
 * bytes each, padded to 8, and a pointer to the declared type of what was chosen among several.
 * Elements without names that differ in their values only stand together: one head with bit 6 of
 * the type set, whose count says how many they are, and the values in as many bytes (1, 2, 4 or 8)
 * as `bits` asks for, padded to 8.  Copies have these, not what builders make.
 * Memory only, host byte order. */
#ifndef TRACETTA_MODEL_EVENT_COPY_H
#define TRACETTA_MODEL_EVENT_COPY_H

#include "base/buffer.h"
#include "model/context.h"

#define EVENT_COPY_DEPTH_MAX 255u /* what the depth of a field has room for */

extern const struct field_ops event_copy_field_ops;

/* Appends a field; its name is interned, and of the names of an enumerated value the first.  The
 * buffer's failed flag tells of memory. */
void event_copy_add_field(ttr *t, struct buffer *to, const ttr_field *field);

/* Appends an event that is to outlive its batch: first the 16 bytes of `activity` and `related`
 * where they are not NULL, then, where `stack` is not 0, the count of its frames and the frames, 8
 * bytes each, then, where the copy's schema has it (has_packet), the size of the fields of its
 * packet in 8 bytes and these fields, then all of its own.  `copy` becomes an event whose payload
 * is at the returned offset of the buffer; its pointers only tell what is there until
 * event_copy_settle puts them right. */
size_t event_copy_add(ttr *t, struct buffer *to, const ttr_event *event, ttr_event *copy);

/* The fields of its packet that a copy holds, as bytes: the same where packets say the same; none
 * where it holds none. */
struct event_copy_packet {
    const uint8_t *bytes;
    size_t n;
    size_t at; /* in the payload */
};

struct event_copy_packet event_copy_find_packet(const ttr *t, const ttr_event *copy);

/* Points a copy to its payload, wherever that has come to rest. */
static inline void event_copy_settle(ttr_event *copy, const uint8_t *payload)
{
    copy->payload = copy->payload_size ? payload : NULL;
    copy->related = copy->related ? payload + (copy->activity ? 16 : 0) : NULL;
    copy->activity = copy->activity ? payload : NULL;
}

#endif
