/* Building events from scratch, to write them or to pass them on.
 *
 *     ttr_builder *b = ttr_builder_new(t);
 *     ttr_event_begin(b, TTR_KIND_SPAN, start_ns, "work", "step");
 *     ttr_event_attributes(b)->duration = 1000;
 *     ttr_event_set_thread(b, pid, tid);
 *     ttr_add_uint(b, "number", 7);
 *     ttr_status status = ttr_event_end(b, writer, &error);
 *     ttr_builder_free(b);
 *
 * Conventions as in tracetta.h. */
#ifndef TRACETTA_BUILD_H
#define TRACETTA_BUILD_H

#include "tracetta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Builds one event at a time and reuses its memory. */
typedef struct ttr_builder ttr_builder;

/* Returns NULL if memory is exhausted. */
TTR_API ttr_builder *ttr_builder_new(ttr *t);

/* Frees a builder. */
TTR_API void ttr_builder_free(ttr_builder *builder);

/* Starts an event at a time in ns.  Drops an event that was started but not ended. */
TTR_API void ttr_event_begin(ttr_builder *builder, ttr_kind kind, int64_t time,
                             const char *category, const char *name);

/* Returns the event under construction, to set any attribute (duration, link, cpu, ...), or to copy
 * all attributes of another event.  Valid until ttr_event_end.  The builder itself sets payload,
 * payload_size, body, schema, stack, part and TTR_EVENT_RAW.  The bytes of `activity` and `related`
 * must stay valid until the end of the event. */
TTR_API ttr_event *ttr_event_attributes(ttr_builder *builder);

/* Set the thread of the event, and its provider (NULL: none).  The thread belongs to the event's
 * `source` (0 by default); an unknown source is TTR_E_MISUSE at the end of the event. */
TTR_API void ttr_event_set_thread(ttr_builder *builder, uint64_t pid, uint64_t tid);
TTR_API void ttr_event_set_provider(ttr_builder *builder, const char *provider);

/* Append a field.  Text and bytes are copied.  A NULL text appends a null value; a NULL name means
 * "". */
TTR_API void ttr_add_null(ttr_builder *builder, const char *name);
TTR_API void ttr_add_bool(ttr_builder *builder, const char *name, bool value);
TTR_API void ttr_add_uint(ttr_builder *builder, const char *name, uint64_t value);
TTR_API void ttr_add_int(ttr_builder *builder, const char *name, int64_t value);
TTR_API void ttr_add_float(ttr_builder *builder, const char *name, double value);
TTR_API void ttr_add_text(ttr_builder *builder, const char *name, const char *value);
TTR_API void ttr_add_bytes(ttr_builder *builder, const char *name, const void *bytes, size_t n);

/* Appends a field of any type.  The `count` children of an ARRAY or STRUCT must follow, one level
 * deeper; this is not checked.  An invalid type, display, group or id, and NULL bytes, are
 * TTR_E_MISUSE at the end of the event; more than 255 levels are TTR_E_LIMIT. */
TTR_API void ttr_add_field(ttr_builder *builder, const ttr_field *field);

/* Ends the event and writes it; returns the status of ttr_write.  TTR_E_MISUSE if no event was
 * started or part of it was invalid: the event is dropped, the writer can be used further. */
TTR_API TTR_MUST ttr_status ttr_event_end(ttr_builder *builder, ttr_writer *writer,
                                          ttr_error *error);

/* Ends the event and returns it as a batch of one, borrowed until the builder's next event.
 * TTR_E_NOMEM if memory was exhausted, TTR_E_MISUSE as for ttr_event_end. */
TTR_API TTR_MUST ttr_status ttr_event_build(ttr_builder *builder, ttr_batch *batch,
                                            ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
