/* The library's own encoding of fields: what builders make, and what events become when they must outlive their batch (sorting).
 * Every field is a 16-byte head [type u8 | hint u8 | bits u8 | depth u8 | name id u32 | count or length u32 | text id u32]
 * followed by 8 bytes of value (scalars) or its bytes (TEXT, BYTES; padded to 8).  Memory only, host byte order. */
#ifndef TRACETTA_MODEL_PACKED_H
#define TRACETTA_MODEL_PACKED_H

#include "base/buffer.h"
#include "model/context.h"

extern const struct field_ops packed_field_ops;

/* Appends a field; its name is interned.  The buffer's failed flag tells of memory. */
void packed_add(ttr *t, struct buffer *to, const ttr_field *field);

/* Appends all fields of an event, and makes `copy` an event of its own whose payload is at the returned offset of the buffer
 * (set copy->payload when the buffer no longer moves).  `activity` and `related` are dropped where not NULL only by formats that
 * have none; they are copied before the fields otherwise. */
size_t packed_copy(ttr *t, struct buffer *to, const ttr_event *event, ttr_event *copy);

#endif
