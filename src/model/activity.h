/* Activities: units of work with a start event and a stop event that carry the same 16-byte id.
 *
 * Formats without event kinds mark such events by the opcode (1 = start, 2 = stop). The event then
 * becomes the begin or end of an async span; its link is a hash of the activity id. If an event
 * has no id, its span belongs to its thread and is matched by its task: the event name without
 * "Start", "Stop", "Begin" or "End". .NET encodes a path as the id: the third activity started
 * within the second one is
 *
 *   //2/3/
 *
 * Thread rule: that of the context. */
#ifndef TRACETTA_MODEL_ACTIVITY_H
#define TRACETTA_MODEL_ACTIVITY_H

#include <tracetta/event.h>

#define ACTIVITY_START 1u
#define ACTIVITY_STOP 2u
#define ACTIVITY_TEXT_MAX 80u /* size in bytes of a buffer for an id as text */

/* Returns true if an event starts or stops an activity. */
static inline bool activity_is_start_or_stop(const ttr_event *event)
{
    return (event->kind == TTR_KIND_ASYNC_BEGIN || event->kind == TTR_KIND_ASYNC_END) &&
           (event->opcode == ACTIVITY_START || event->opcode == ACTIVITY_STOP);
}

/* Returns the opcode implied by an event name: 1 if it ends with "Start", 2 if it ends with "Stop",
 * else 0. */
uint8_t activity_opcode_of_name(ttr_text name);

/* Returns, as a string id, the task of a start or stop event with this name. Returns 0 if memory
 * runs out. */
ttr_id activity_task_of_name(ttr *t, ttr_id name);

/* Changes the kind of an instant with a start or stop opcode to begin or end of an async span, and
 * sets its link. */
void activity_make_span(const ttr *t, ttr_event *event, ttr_id task);

/* Returns the name of the span that an event starts or ends: the task of an activity, else the
 * event's name. */
ttr_id activity_span_name(const ttr *t, const ttr_event *event);

/* Formats an activity id: as a path if it encodes a path of the process `pid`, else as 32
 * hexadecimal digits. Returns the length; `to` has room for ACTIVITY_TEXT_MAX bytes. */
size_t activity_format_id(char *to, const uint8_t *id, uint64_t pid);

/* Returns the length of a path without its last component, which is the path of the parent
 * activity. Returns 0 if the text is not a path or has only one component. */
size_t activity_parent_length(ttr_text path);

#endif
