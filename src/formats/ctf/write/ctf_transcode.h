/* State of the transcoder, shared by its two files: ctf_transcode.c converts packets and events,
 * ctf_transcode_stream.c finds or adds their traces, stream classes and streams.
 *
 * Ownership: a transcode_job is valid while one event is written; the reader or the writer owns
 * everything that its members point to. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_TRANSCODE_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_TRANSCODE_H

#include "formats/ctf/write/ctf_write.h"

/* bytes; maximum of a stream file name, with its terminating zero */
#define CTF_STREAM_NAME_MAX 256u

/* An event of a CTF source and the data needed to transcode it. */
struct transcode_job {
    struct ttr_writer *out;
    struct ctf_writer *w;
    const ttr_event *event;
    const struct ctf_schema *schema;
    const struct ctf_stream *stream;
    const struct ctf_packet *about; /* source packet of the event; &unknown if is_copy */
    /* replaces the packet if is_copy; only the CPU and the has_ flags of counters are set */
    struct ctf_packet unknown;
    bool is_copy;
    bool has_packet;             /* is_copy, and the event includes the fields of its packet */
    uint64_t packet_fields_hash; /* hash of the packet's fields if has_packet; otherwise 0 */
    struct ctf_trace_out *trace;
    enum ctf_version version;
    /* name, name_n: file name of a new stream; section_n: number of its bytes that are the section
     * name (v1.1) */
    char name[CTF_STREAM_NAME_MAX];
    size_t name_n, section_n;
};

/* Snapshot of the counters of struct ctf_types: changed names and added length fields. */
struct ctf_type_changes {
    uint64_t renamed, lengths;
};

/* Returns the output trace of the event's source; adds and initializes the trace at the first call.
 * Returns NULL if memory runs out. */
struct ctf_trace_out *ctf_transcode_get_trace(struct transcode_job *job);

/* Returns true if the packet context of the event's source stream has a field with the role.
 * Returns true for all v1.1 sources. */
bool ctf_transcode_packet_has_role(const struct transcode_job *job, enum ctf_role role);

/* Returns true if event headers have no timestamp, but packets of the stream have start or end
 * times. */
bool ctf_transcode_has_only_packet_time(const struct transcode_job *job);

/* Returns true if the event's time is known: recorded in the event, or derived from its packet,
 * from the previous event or from the clock's zero. */
bool ctf_transcode_has_known_time(const struct transcode_job *job);

/* Returns true if target events start with a u16 size, because the option event-size is set, or
 * because the source's events do. Contexts are then moved to the payload. */
bool ctf_transcode_writes_event_size(const struct transcode_job *job);

/* Returns true if the source's field payload_size is dropped, because v1.1 output stores event
 * sizes itself or not at all. */
bool ctf_transcode_drops_payload_size(const struct transcode_job *job);

/* Returns the numbers of changed names and added length fields of the output trace so far. */
struct ctf_type_changes ctf_transcode_get_changes(const struct transcode_job *job);

/* Counts a loss for each changed name and added length field since `before`. */
void ctf_transcode_count_changes(const struct transcode_job *job, struct ctf_type_changes before);

/* Returns the output stream of the event; adds the stream at the first call. Returns NULL if memory
 * runs out. */
struct ctf_stream_out *ctf_transcode_get_stream(struct transcode_job *job);

/* Returns the output stream for a packet without events; NULL if the packet is not written. That is
 * so if no event of the source file was written before, or if the packet context has fields of the
 * source but no gap is pending. */
struct ctf_stream_out *ctf_transcode_find_empty_packet_stream(const struct transcode_job *job);

#endif
