/* What reading a trace of RFC v1.1 needs beyond what all dialects share: its packet header, files
 * that belong to sections, contents that are checked and unpacked, an alignment that may have to be
 * found out, events that are passed over by their size. State and thread rule are the reader's. */
#ifndef TRACETTA_FORMATS_CTF_READ_RFC11_READ_H
#define TRACETTA_FORMATS_CTF_READ_RFC11_READ_H

#include "formats/ctf/read/ctf_reader.h"

#define RFC11_ASSUMES "format option ctf.assume-alignment=packed, natural or natural-32"

/* Fills trace->key, limits and what is assumed from the options key, key-env, unpacked-max and
 * assume-alignment. */
TTR_MUST ttr_status rfc11_read_options(struct ctf_trace *trace, char *const *options, size_t n,
                                       ttr_error *error);

/* Before plain-text metadata is parsed: the byte order of the first stream file that begins with a
 * packet. */
TTR_MUST ttr_status rfc11_find_byte_order(struct ctf_trace *trace, ttr_error *error);

/* After the metadata was parsed: where it records no alignment, the one by which the first packet
 * with events can be decoded (decision 15); told by description->note. */
TTR_MUST ttr_status rfc11_find_alignment(struct ctf_trace *trace, ttr_error *error);

/* Makes ready what the names of files tell as fields of packets. */
TTR_MUST ttr_status rfc11_compile_cpu_context(struct ctf_trace *trace, ttr_error *error);

/* Finds the section of the reader's file by its name, with the cpu. */
void rfc11_assign_section(struct ctf_reader *reader);

/* ctf_frame_packet of this dialect. */
enum ctf_framing rfc11_frame_packet(struct ctf_trace *trace, const struct ctf_stream_class *section,
                                    const struct bits *bits, struct ctf_frame *frame,
                                    ttr_error *error);

/* --- Packets that are not as the metadata's (rfc11_foreign.c) --- */

/* The same metadata for packets of the other byte order, made when first asked for and owned by the
 * trace; NULL with `error`. */
struct ctf_trace *rfc11_trace_in_other_order(struct ctf_trace *trace, ttr_error *error);

/* A section of the trace as the other one has it. */
const struct ctf_stream_class *rfc11_section_in(const struct ctf_trace *other,
                                                const struct ctf_trace *trace,
                                                const struct ctf_stream_class *section);

/* ctf_stream_decoder_of for a packet of this byte order. */
struct ctf_stream_decoder *rfc11_stream_decoder_of(struct ctf_trace *trace,
                                                   const struct ctf_stream_class *section,
                                                   bool is_big_endian, ttr_error *error);

/* Whether a packet is of another byte order or session than the metadata. */
bool rfc11_is_foreign(const struct ctf_description *description, const struct rfc11_packet *packet);

/* Tells so of the packet that was entered. */
TTR_MUST ttr_status rfc11_report_foreign(struct ctf_reader *reader);

/* --- Contents --- */

/* Bytes of the packet that must be in the window when it is entered, and whether the batch must be
 * empty then. */
uint64_t rfc11_bytes_to_enter(const struct ctf_frame *frame, bool *wants_empty_batch);

/* The packet was entered: checks and unpacks its content; reader->bits and content_end are those of
 * the unpacked one, without events where it cannot be had. */
TTR_MUST ttr_status rfc11_enter_packet(struct ctf_reader *reader);

/* The packet is left: its last event must not be later than it says. */
void rfc11_leave_packet(const struct ctf_reader *reader);

enum rfc11_skip_result {
    RFC11_SKIPPED,    /* reader->bits stand behind the event, reader->status tells */
    RFC11_IS_CUT,     /* the window ends before the event may */
    RFC11_NOT_SKIPPED /* no size says where the event ends */
};

/* Where the payload ends of the event whose context begins at run->bits, by its payload_size; 0
 * when it cannot be said.  `context`: the layout of the context alone. */
uint64_t rfc11_payload_end(const struct layout *context, struct layout_cursor *run);

/* Passes over the event at reader->bits, which cannot be read, by its payload_size. */
enum rfc11_skip_result rfc11_skip_event(struct ctf_reader *reader, const char *code,
                                        const char *what);

#endif
