/* RFC v1.1 as a description: what the reader and the writer of streams need besides
 * ctf_description.h.  docs/formats/ctf-rfc-v1.1.md is the dialect.
 *
 * Ownership: everything lies in the description's arena. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_H
#define TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_H

#include "formats/ctf/description/ctf_description.h"

/* Maps tell ranges value by value: so many always have room, more where the source lists nearly as
 * many.  What is written then grows with what was read, not with a range that somebody wrote in a
 * few letters. */
#define RFC11_LABELS_MIN 65536u
#define RFC11_LABELS_EACH 4u /* values of one entry of the source */

#define RFC11_ID_EXTENDED_1 31u    /* an id in a type 1 header that says: an extension follows */
#define RFC11_ID_EXTENDED_2 65535u /* the same in a type 2 header */
#define RFC11_FIELDS_MAX 65536u    /* of a struct, with those of the structs and arrays inside */

/* Whether a map can list them. */
bool rfc11_lists_labels(const struct type_labels *labels);

/* Gives every type that states no alignment of its own that of `alignment`, and the fixed headers
 * theirs (4.1.2, 6.1).  May be called again with another one, before layouts are compiled: that is
 * how probing goes.  RFC11 descriptions of unknown alignment are packed until then. */
void rfc11_set_alignment(struct ctf_description *description, enum ctf_alignment alignment);

/* Makes the description's packet_header: the fixed 48 bytes.  False when memory is out. rfc11_parse
 * has done so. */
TTR_MUST bool rfc11_make_packet_header(struct ctf_description *description);

/* Makes event_header and, where rfc_has_event_size and there is none yet, event_context of a stream
 * class by its rfc_header.  False when memory is out.  rfc11_parse has done so. */
TTR_MUST bool rfc11_make_event_header(struct ctf_description *description,
                                      struct ctf_stream_class *stream);

/* Whether a stream file may be one of a section: it is called S, S_N or S-N. */
bool rfc11_names_section(ttr_text section, const char *file, bool *has_cpu, uint32_t *cpu);

/* The section of a stream file: that with the longest name S of which the file is called S, S_N or
 * S-N; N is the cpu.  NULL when no section's is. */
const struct ctf_stream_class *rfc11_section_of_file(const struct ctf_description *description,
                                                     const char *file, bool *has_cpu,
                                                     uint32_t *cpu);

/* True for text that can only be plain RFC v1.1 metadata: blanks and comments, then a block of the
 * language.  Not for what begins as TSDL must, with the comment "CTF 1.8". */
bool rfc11_is_text(const uint8_t *bytes, size_t n);

#endif
