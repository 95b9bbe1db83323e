/* Functions that the files on event classes share: decoders (ctf_event_class.c), streams
 * (ctf_stream.c, ctf_stream_index.c), fields (ctf_event_fields.c), threads (ctf_event_thread.c).
 * Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_EVENT_CLASS_H
#define TRACETTA_FORMATS_CTF_READ_CTF_EVENT_CLASS_H

#include "formats/ctf/read/ctf_reader.h"

/* Registers a schema of the reader's trace, with the description `about` of its event class (NULL =
 * none). Returns false if memory is out. */
TTR_MUST bool ctf_register_schema(struct ctf_reader *reader, struct ctf_schema *schema,
                                  const struct event_class *about);

/* Returns the stream of an event by class and track. If the track was changed, returns any stream
 * of the class; NULL if there is none. */
struct ctf_stream *ctf_stream_of_event(const struct ctf_reader *reader,
                                       const struct ctf_stream_class *class, ttr_id track);

/* Returns the existing stream of a packet, or NULL. */
struct ctf_stream *ctf_find_known_stream(const struct ctf_reader *reader,
                                         const struct ctf_frame *frame);

/* Returns the stream that has the same number in the other byte order (RFC v1.1), or the stream
 * itself. */
struct ctf_stream *ctf_find_first_stream(const struct ctf_reader *reader,
                                         struct ctf_stream *stream);

/* Adds the last stream to the hash table. The table is built when a file has more than
 * CTF_LINEAR_SEARCH_MAX streams. Returns false if memory is out. */
TTR_MUST bool ctf_index_last_stream(struct ctf_reader *reader);

/* Implements layout_schema.place: finds the body of an event. */
void ctf_place_event_body(const struct layout_schema *base, const ttr_event *event,
                          struct layout_cursor *run);

/* Implements layout_schema.locate_group: finds the packet context or the event header of an event.
 */
const struct layout *ctf_place_event_group(const struct layout_schema *base, const ttr_event *event,
                                           ttr_group group, struct layout_cursor *run);

/* Implements layout_schema.packet: returns a nonzero number that is unique per packet of a file,
 * its offset + 1. */
uint64_t ctf_packet_number_of_event(const struct layout_schema *base, const ttr_event *event);

/* Returns true if events of a class may end inside a byte. */
bool ctf_may_end_inside(const struct ctf_stream_class *stream, const struct ctf_event_class *event);

/* Finds the pid, tid and name fields of an event class. The result is cached in the class. Returns
 * NULL if memory is out. */
const struct ctf_thread_fields *ctf_find_thread_fields(struct ctf_trace *trace,
                                                       struct ctf_event_class *event);

#endif
