/* Functions of the reader for RFC v1.1: packet headers, stream classes of files, verification and
 * decompression of content, undeclared alignment, skipping of events by their stored size. State
 * and thread rule are the reader's. */
#ifndef TRACETTA_FORMATS_CTF_READ_RFC11_READ_H
#define TRACETTA_FORMATS_CTF_READ_RFC11_READ_H

#include "formats/ctf/read/ctf_reader.h"

#define RFC11_ASSUMES "format option ctf.assume-alignment=packed, natural or natural-32"

/* Parses the options key, key-env, unpacked-max and assume-alignment and stores them in the trace.
 */
TTR_MUST ttr_status rfc11_read_options(struct ctf_trace *trace, char *const *options, size_t n,
                                       ttr_error *error);

/* Determines the byte order, which plain-text metadata do not record, from the first stream file
 * with a packet. Called before parsing. */
TTR_MUST ttr_status rfc11_find_byte_order(struct ctf_trace *trace, ttr_error *error);

/* If the metadata declare no alignment, determines it by decoding the first packets with events
 * (decision 15). Reports the result by description->note. Called after parsing. */
TTR_MUST ttr_status rfc11_find_alignment(struct ctf_trace *trace, ttr_error *error);

/* Compiles the type of a packet context with one field: the CPU number of the file name. */
TTR_MUST ttr_status rfc11_compile_cpu_context(struct ctf_trace *trace, ttr_error *error);

/* Sets the reader's stream class and CPU number, which the name of its file contains. */
void rfc11_assign_stream_class(struct ctf_reader *reader);

/* Implements ctf_parse_header_and_context for RFC v1.1. */
enum ctf_framing rfc11_parse_header_and_context(struct ctf_trace *trace,
                                                const struct ctf_stream_class *section,
                                                const struct bits *bits, struct ctf_frame *frame,
                                                ttr_error *error);

/* --- Packets that contradict the metadata (rfc11_foreign.c) --- */

/* Returns a trace by which packets of the other byte order are decoded. The first call parses the
 * same metadata for it. `trace` owns the result. Returns NULL with `error` on failure. */
struct ctf_trace *rfc11_trace_in_other_order(struct ctf_trace *trace, ttr_error *error);

/* Returns the stream class of `other` that corresponds to `section`, a stream class of `trace`. */
const struct ctf_stream_class *rfc11_find_stream_class_in(const struct ctf_trace *other,
                                                          const struct ctf_trace *trace,
                                                          const struct ctf_stream_class *section);

/* Like ctf_get_stream_decoder, but for packets of the given byte order. */
struct ctf_stream_decoder *rfc11_get_stream_decoder(struct ctf_trace *trace,
                                                    const struct ctf_stream_class *section,
                                                    bool is_big_endian, ttr_error *error);

/* Returns true if a packet differs from the metadata in byte order or session id. */
bool rfc11_is_foreign_packet(const struct ctf_description *description,
                             const struct rfc11_packet *packet);

/* Reports that the current packet differs from the metadata in byte order or session id. */
TTR_MUST ttr_status rfc11_report_foreign_packet(struct ctf_reader *reader);

/* --- Content of packets --- */

/* Returns how many bytes the window must contain before rfc11_enter_packet is called. Sets
 * *wants_empty_batch if the batch must be empty, because its events point into the buffer
 * `unpacked`, which is used again. */
uint64_t rfc11_count_bytes_to_enter(const struct ctf_frame *frame, bool *wants_empty_batch);

/* Verifies, decrypts and decompresses the content of the current packet. Sets reader->bits and
 * reader->content_end to the unpacked content; to no content if it is unreadable. */
TTR_MUST ttr_status rfc11_enter_packet(struct ctf_reader *reader);

/* Reports a packet in which the last event is later than the packet's end time. */
void rfc11_report_late_event(const struct ctf_reader *reader);

enum rfc11_skip_result {
    /* the event was skipped: reader->bits.at is after it; reader->status has the result of
     * reporting it */
    RFC11_SKIPPED,
    RFC11_IS_CUT, /* the window ends before the end of the event */
    /* the event cannot be skipped, because it does not store its size */
    RFC11_NOT_SKIPPED
};

/* Returns the bit offset of the end of the payload: the end of the event context at run->bits,
 * plus the member payload_size. Returns 0 if it cannot be computed. `context`: layout of the event
 * context alone. */
uint64_t rfc11_find_payload_end(const struct layout *context, struct layout_cursor *run);

/* Skips the event at reader->bits.at, which cannot be decoded, by its member payload_size, and
 * reports it. */
enum rfc11_skip_result rfc11_skip_event(struct ctf_reader *reader, const char *code,
                                        const char *what);

#endif
