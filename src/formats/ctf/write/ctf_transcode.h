/* State of the transcoder, shared by its two files: ctf_transcode.c converts packets and events,
 * ctf_transcode_stream.c finds or adds their traces, stream classes and streams.
 *
 * Ownership: a transcode_job is valid while one event is written; the reader or the writer owns
 * everything that its members point to. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_TRANSCODE_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_TRANSCODE_H

#include "formats/ctf/write/ctf_write.h"

/* bytes; maximum length of a stream file name, with the zero byte at its end */
#define CTF_STREAM_NAME_MAX 256u

/* An event of a CTF source, and the data that its transcoding needs. */
struct transcode_job {
    struct ttr_writer *out;
    struct ctf_writer *w;
    const ttr_event *event;
    const struct ctf_schema *schema;
    const struct ctf_stream *stream;
    /* packet of the event in the source; &unknown if is_copy */
    const struct ctf_packet *about;
    /* used as the packet if is_copy; only the CPU and the has_ flags of counters are set */
    struct ctf_packet unknown;
    bool is_copy;
    bool has_packet;             /* is_copy is set, and the event has the fields of its packet */
    uint64_t packet_fields_hash; /* hash of the packet's fields if has_packet; otherwise 0 */
    struct ctf_trace_out *trace;
    enum ctf_version version;
    /* name, name_n: file name of a new stream; section_n: bytes of it that are the section name
     * (v1.1) */
    char name[CTF_STREAM_NAME_MAX];
    size_t name_n, section_n;
};

/* Values of two counters of struct ctf_types at some time: changed names, and added length
 * fields. */
struct ctf_type_changes {
    uint64_t renamed, lengths;
};

/* Returns the output trace of the event's source; the first call adds and initializes it. Returns
 * NULL if memory runs out. */
struct ctf_trace_out *ctf_transcode_get_trace(struct transcode_job *job);

/* Returns true if the packet context of the event's source stream has a field with the role.
 * Returns true for all v1.1 sources. */
bool ctf_transcode_packet_has_role(const struct transcode_job *job, enum ctf_role role);

/* Returns true if event headers have no timestamp, but packets have a start or end time. */
bool ctf_transcode_has_only_packet_time(const struct transcode_job *job);

/* Returns true if the event's time is known: the event records it, or it follows from its packet,
 * from the previous event or from the clock's zero. */
bool ctf_transcode_has_known_time(const struct transcode_job *job);

/* Returns true if events in the target start with a u16 size, because the option event-size is set
 * or the events of the source do. Contexts then become part of the payload. */
bool ctf_transcode_writes_event_size(const struct transcode_job *job);

/* Returns true if payload_size of the source is dropped, because v1.1 output stores event sizes
 * itself, or none. */
bool ctf_transcode_drops_payload_size(const struct transcode_job *job);

/* Returns how many names were changed and how many length fields were added in the output trace so
 * far. */
struct ctf_type_changes ctf_transcode_get_changes(const struct transcode_job *job);

/* Counts a loss for each changed name and added length field since `before`. */
void ctf_transcode_count_changes(const struct transcode_job *job, struct ctf_type_changes before);

/* Returns the output stream of the event; the first call adds it. Returns NULL if memory runs out.
 */
struct ctf_stream_out *ctf_transcode_get_stream(struct transcode_job *job);

/* Returns the output stream for a packet without events; NULL if the packet is not written: no
 * event of the source file was written before, or the packet context has fields of the source but
 * no gap is pending. */
struct ctf_stream_out *ctf_transcode_find_empty_packet_stream(const struct transcode_job *job);

#endif
