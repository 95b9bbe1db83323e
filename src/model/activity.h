/* Activities: work that begins and ends with an event each, which name it by 16 bytes.
 *
 * Formats without kinds of events of their own say so by the opcode (1 = start, 2 = stop).  Such an
 * event becomes the begin or the end of an async span, whose link is made of the activity's id.
 * Where an event has none, its span begins and ends on its thread, and is known by its task: what
 * begin and end are called without "Start" and "Stop", "Begin" and "End".  .NET writes paths as
 * ids: the third activity in the second one of all is
 * //2/3/.
 * Thread rule: as for the context. */
#ifndef TRACETTA_MODEL_ACTIVITY_H
#define TRACETTA_MODEL_ACTIVITY_H

#include <tracetta/event.h>

#define ACTIVITY_START 1u
#define ACTIVITY_STOP 2u
#define ACTIVITY_TEXT_MAX 80u /* bytes of an id as text */

/* Whether an event begins or ends an activity. */
static inline bool activity_is_start_or_stop(const ttr_event *event)
{
    return (event->kind == TTR_KIND_ASYNC_BEGIN || event->kind == TTR_KIND_ASYNC_END) &&
           (event->opcode == ACTIVITY_START || event->opcode == ACTIVITY_STOP);
}

/* The opcode that a name stands for: it ends with "Start" or "Stop"; 0 = neither. */
uint8_t activity_opcode_of_name(ttr_text name);

/* The task of a start or stop event of that name, added to the texts when new; 0 when memory is
 * out. */
ttr_id activity_task_of_name(ttr *t, ttr_id name);

/* Makes an instant with the opcode of a start or stop what it means. */
void activity_make_span(const ttr *t, ttr_event *event, ttr_id task);

/* What a begin or end is called as a span: an activity by its task, all others by their name. */
ttr_id activity_span_name(const ttr *t, const ttr_event *event);

/* Puts an id as text: a path where it is one of the process, else a GUID as hexadecimal digits;
 * gives its length. */
size_t activity_format_id(char *to, const uint8_t *id, uint64_t pid);

/* The length of a path without its last part; 0 where the text is no path, or has no more than one
 * part. */
size_t activity_parent_length(ttr_text path);

#endif
