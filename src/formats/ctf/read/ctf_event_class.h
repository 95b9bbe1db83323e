/* Functions for event classes and their streams, shared by ctf_event_class.c (decoders),
 * ctf_stream.c, ctf_stream_index.c, ctf_event_fields.c and ctf_event_thread.c. Thread rule: that of
 * the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_EVENT_CLASS_H
#define TRACETTA_FORMATS_CTF_READ_CTF_EVENT_CLASS_H

#include "formats/ctf/read/ctf_reader.h"

/* Registers a schema in the library context. `about` describes the event class; may be NULL.
 * Returns false if memory runs out. */
TTR_MUST bool ctf_register_schema(struct ctf_reader *reader, struct ctf_schema *schema,
                                  const struct event_class *about);

/* Returns the stream of an event by stream class and track. If no stream has that track, returns
 * any stream of the class; NULL if there is none. */
struct ctf_stream *ctf_find_stream_of_event(const struct ctf_reader *reader,
                                            const struct ctf_stream_class *class, ttr_id track);

/* Returns the stream that the packet belongs to, or NULL if it has not been added yet. */
struct ctf_stream *ctf_find_known_stream(const struct ctf_reader *reader,
                                         const struct ctf_frame *frame);

/* Returns the stream with the same stream number that was added for the other byte order (RFC
 * v1.1). Returns `stream` if there is none. */
struct ctf_stream *ctf_find_stream_of_other_order(const struct ctf_reader *reader,
                                                  struct ctf_stream *stream);

/* Adds the last element of reader->streams to the hash table. Builds the table when there are more
 * than CTF_LINEAR_SEARCH_MAX streams. Returns false if memory runs out. */
TTR_MUST bool ctf_add_last_stream_to_index(struct ctf_reader *reader);

/* Implements layout_schema.place: sets `run` to the start of the event's body, which follows the
 * event header. */
void ctf_locate_event_body(const struct layout_schema *base, const ttr_event *event,
                           struct layout_cursor *run);

/* Implements layout_schema.locate_group: sets `run` to the packet context or the event header of an
 * event, and returns its layout. */
const struct layout *ctf_locate_event_group(const struct layout_schema *base,
                                            const ttr_event *event, ttr_group group,
                                            struct layout_cursor *run);

/* Implements layout_schema.packet: returns a nonzero number that is unique per packet of a file
 * (file offset of the packet + 1). */
uint64_t ctf_get_event_packet_number(const struct layout_schema *base, const ttr_event *event);

/* Returns true if events of the class may end inside a byte. */
bool ctf_event_may_end_inside_byte(const struct ctf_stream_class *stream,
                                   const struct ctf_event_class *event);

/* Returns where the pid, tid and name fields of an event class are; computed once and stored in
 * `event`. Returns NULL if memory runs out. */
const struct ctf_thread_fields *ctf_find_thread_fields(struct ctf_trace *trace,
                                                       struct ctf_event_class *event);

#endif
