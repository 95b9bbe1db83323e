/* State of the transcoder that its files share: ctf_transcode.c converts packets and events,
 * ctf_transcode_stream.c finds or makes their traces, stream classes and streams.
 *
 * Ownership: a job lives while one event is written; everything that it points to belongs to the
 * reader or the writer. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_TRANSCODE_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_TRANSCODE_H

#include "formats/ctf/write/ctf_write.h"

#define CTF_STREAM_NAME_MAX 256u /* bytes of a stream's file name, with its zero */

/* An event of a CTF source, with everything that its transcoding needs. */
struct transcode_job {
    struct ttr_writer *out;
    struct ctf_writer *w;
    const ttr_event *event;
    const struct ctf_schema *schema;
    const struct ctf_stream *stream;
    const struct ctf_packet *about; /* the event's packet */
    /* stand-in packet for an event that was copied out of its packet */
    struct ctf_packet unknown;
    bool is_copy;
    bool has_packet;             /* true if the copy holds the fields of its packet */
    uint64_t packet_fields_hash; /* hash of these fields */
    struct ctf_trace_out *trace;
    enum ctf_version version;
    char name[CTF_STREAM_NAME_MAX]; /* file name of a new stream */
    size_t name_n, section_n;
};

/* Counters of changed names and added lengths, at one moment. */
struct ctf_type_changes {
    uint64_t renamed, lengths;
};

/* Returns the output trace of the event's source; starts it at first use. NULL if memory runs out.
 */
struct ctf_trace_out *ctf_transcode_get_trace(struct transcode_job *job);

/* Returns true if packets of the event's stream have a field of that role; v1.1 packets always do.
 */
bool ctf_transcode_packet_has_role(const struct transcode_job *job, enum ctf_role role);

/* Returns true if the events' only time is that of their packet, which copies have lost. */
bool ctf_transcode_takes_time_from_packet(const struct transcode_job *job);

/* Returns true if the event's time is known: its own, or else that of its packet, of the event
 * before or of the clock's zero. */
bool ctf_transcode_has_known_time(const struct transcode_job *job);

/* Returns true if target events start with their size: if the user asked for it, or as in the
 * source. Contexts then become payload fields. */
bool ctf_transcode_writes_event_size(const struct transcode_job *job);

/* Returns true if the source's size fields are dropped: the target writes sizes elsewhere, or
 * writes none. */
bool ctf_transcode_drops_payload_size(const struct transcode_job *job);

/* Returns the current counters of the trace's types. */
struct ctf_type_changes ctf_transcode_current_changes(const struct transcode_job *job);

/* Counts a loss for each change since `before`. */
void ctf_transcode_count_changes(const struct transcode_job *job, struct ctf_type_changes before);

/* Returns the output stream of the event; adds it at first use. NULL if memory runs out. */
struct ctf_stream_out *ctf_transcode_get_stream(struct transcode_job *job);

/* Returns the stream for a packet without events; NULL if no earlier packet shows its class. A
 * packet whose own fields are unknown is only written if it has to report a gap. */
struct ctf_stream_out *ctf_transcode_find_empty_packet_stream(const struct transcode_job *job);

#endif
