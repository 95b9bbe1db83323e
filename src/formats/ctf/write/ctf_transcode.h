/* State of the transcoder, shared by its two files: ctf_transcode.c converts packets and events,
 * ctf_transcode_stream.c finds or makes their traces, stream classes and streams.
 *
 * Ownership: a transcode_job is valid while one event is written; the reader or the writer owns
 * everything that it points to. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_TRANSCODE_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_TRANSCODE_H

#include "formats/ctf/write/ctf_write.h"

/* bytes of a stream file name with its zero */
#define CTF_STREAM_NAME_MAX 256u

/* An event of a CTF source and the data needed to transcode it. */
struct transcode_job {
    struct ttr_writer *out;
    struct ctf_writer *w;
    const ttr_event *event;
    const struct ctf_schema *schema;
    const struct ctf_stream *stream;
    const struct ctf_packet *about; /* packet of the event; &unknown if is_copy */
    /* zeroed replacement for the packet of an event that was copied out of it */
    struct ctf_packet unknown;
    bool is_copy;
    bool has_packet;             /* the copied event holds the fields of its packet */
    uint64_t packet_fields_hash; /* hash of the fields of the packet; valid if has_packet */
    struct ctf_trace_out *trace;
    enum ctf_version version;
    /* file name of a new stream; section_n bytes of it are the section name (v1.1) */
    char name[CTF_STREAM_NAME_MAX];
    size_t name_n, section_n;
};

/* Counters of struct ctf_types at one moment: changed names and added length fields. */
struct ctf_type_changes {
    uint64_t renamed, lengths;
};

/* Returns the output trace of the event's source; starts it at first use. Returns NULL if memory
 * runs out. */
struct ctf_trace_out *ctf_transcode_get_trace(struct transcode_job *job);

/* Returns true if packets of the event's source stream have a field of the role. In v1.1 all
 * packets have all roles. */
bool ctf_transcode_packet_has_role(const struct transcode_job *job, enum ctf_role role);

/* Returns true if the event's only time is that of its packet, and the packet is not available
 * because the event was copied out of it. */
bool ctf_transcode_has_only_packet_time(const struct transcode_job *job);

/* Returns true if the event's time is known: recorded in the event, or derived from its packet,
 * from the previous event or from the clock's zero. */
bool ctf_transcode_has_known_time(const struct transcode_job *job);

/* Returns true if target events start with their size, by option or as in the source. Contexts are
 * then moved to the payload. */
bool ctf_transcode_writes_event_size(const struct transcode_job *job);

/* Returns true if the source's event size fields are dropped, because the target stores sizes
 * elsewhere or not at all. */
bool ctf_transcode_drops_payload_size(const struct transcode_job *job);

/* Returns the current number of changed names and added length fields of the trace. */
struct ctf_type_changes ctf_transcode_get_changes(const struct transcode_job *job);

/* Counts a loss for each changed name and added length field since `before`. */
void ctf_transcode_count_changes(const struct transcode_job *job, struct ctf_type_changes before);

/* Returns the output stream of the event; adds it at first use. Returns NULL if memory runs out. */
struct ctf_stream_out *ctf_transcode_get_stream(struct transcode_job *job);

/* Returns the output stream for a packet without events; NULL if the packet is not written. A
 * packet is not written if no earlier packet shows its stream class, or if its own fields are
 * unknown and it has no gap to report. */
struct ctf_stream_out *ctf_transcode_find_empty_packet_stream(const struct transcode_job *job);

#endif
