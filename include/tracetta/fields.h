/* Decoding many fields fast; labels, packet and header fields, stacks.
 *
 * ttr_fields_next (tracetta.h) decodes one field per call.  A ttr_field_buffer decodes all fields
 * of an event at once and caches what the events of a class share: use it to read every field of
 * millions of events. */
#ifndef TRACETTA_FIELDS_H
#define TRACETTA_FIELDS_H

#include "tracetta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts an iteration over TTR_GROUP_PACKET or TTR_GROUP_HEADER fields, which ttr_fields_begin
 * omits.  It is empty if the format has no such part.  Events that a stage has copied (ttr_sort)
 * have no header fields.  They keep packet fields only if the packet has others than sizes, times,
 * counters and the CPU. */
TTR_API void ttr_fields_begin_group(const ttr *t, const ttr_event *event, ttr_group group,
                                    ttr_fields *fields);

/* Gets the i-th label of the value that ttr_fields_next returned last, 0 <= i < value->count, with
 * display ENUM or FLAGS.  Returns false if there is none. */
TTR_API bool ttr_fields_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                              ttr_text *label);

/* A buffer for the fields of one event.  Free it before its context. */
typedef struct ttr_field_buffer ttr_field_buffer;

/* Returns NULL if memory is exhausted. */
TTR_API ttr_field_buffer *ttr_field_buffer_new(const ttr *t);

/* Frees the buffer and the fields in it. */
TTR_API void ttr_field_buffer_free(ttr_field_buffer *buffer);

/* Decode the fields of an event in stored order into the buffer.  ttr_event_fields returns their
 * number (0 = no fields) and sets *field to the first.  Events with many elements or labels need
 * further calls: repeat ttr_event_fields_next until it returns 0.  The fields are read-only and
 * borrowed until the next call; the event must still be valid.  Never fail. */
TTR_API uint32_t ttr_event_fields(ttr_field_buffer *buffer, const ttr_event *event,
                                  const ttr_field **field);
TTR_API uint32_t ttr_event_fields_next(ttr_field_buffer *buffer, const ttr_field **field);

/* As ttr_fields_label, for a value of the last ttr_event_fields or ttr_event_fields_next. */
TTR_API bool ttr_event_label(const ttr_field_buffer *buffer, const ttr_value *value, uint32_t i,
                             ttr_text *label);

/* Copies the return addresses of an event's stack, innermost first, at most `room` of them.
 * Returns the number of addresses in the stack; 0 if the event has none.  An event has a stack if
 * event->stack is not 0, if it is a TTR_KIND_SAMPLE, or if it has a field callstack_kernel or
 * callstack_user, which ttr_stack_fields and LTTng write. */
TTR_API uint32_t ttr_event_frames(const ttr *t, const ttr_event *event, uint64_t *addresses,
                                  uint32_t room);

/* Returns the stack without copying, `*n` addresses borrowed as long as the event.  Returns NULL if
 * the event has no stack, or if the addresses are not stored as 64-bit numbers in native byte
 * order: use ttr_event_frames then. */
TTR_API const uint64_t *ttr_event_stack(const ttr *t, const ttr_event *event, uint32_t *n);

/* Gets the priorities of the two threads of a TTR_KIND_SWITCH from its fields.  Those of Linux are
 * the kernel's numbers, also for LTTng, which stores others: 100 to 139 are nice -20 to 19. Returns
 * false, and 0 for both, if the event does not record both. */
TTR_API bool ttr_switch_priorities(const ttr *t, const ttr_event *event, int64_t *outgoing,
                                   int64_t *incoming);

/* Gets the number of the event class at its provider, and the version of its fields (.NET: event id
 * and version).  Returns false, and 0 for both, if the format has none. */
TTR_API bool ttr_event_number(const ttr *t, const ttr_event *event, uint32_t *number,
                              uint32_t *version);

#ifdef __cplusplus
}
#endif
#endif
