/* RFC v1.1: functions on descriptions that readers and writers of its streams need in addition to
 * ctf_description.h. src/formats/ctf/rfc-v1.1.md defines the language.
 *
 * Ownership: all data are in the description's arena. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_H
#define TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_H

#include "formats/ctf/description/ctf_description.h"

/* A map of an enum lists every single value of a range. So a printed map may have at most
 * RFC11_LABELS_MIN values, or RFC11_LABELS_EACH per entry of the source. This keeps the output
 * proportional to the input, even if the source declares a huge range in a few characters. */
#define RFC11_LABELS_MIN 65536u
#define RFC11_LABELS_EACH 4u /* limit of printed values per entry of the source */

#define RFC11_ID_EXTENDED_1 \
    31u /* id of a type 1 header that is followed by the extended id and time */
#define RFC11_ID_EXTENDED_2 \
    65535u /* id of a type 2 header that is followed by the extended id and time */
/* limit of fields of a struct, including the fields of nested structs and arrays */
#define RFC11_FIELDS_MAX 65536u

/* Reports whether a printed map may list all values of the labels, by the limits above. */
bool rfc11_can_list_labels(const struct type_labels *labels);

/* Sets the alignment of all types that do not declare one, and of the fixed headers (4.1.2, 6.1).
 * May be called again with another value until layouts are compiled; the prober tries several
 * values this way. While the alignment is CTF_ALIGN_UNKNOWN, these types are packed. */
void rfc11_set_alignment(struct ctf_description *description, enum ctf_alignment alignment);

/* Sets packet_header of the description to the type of the fixed 48 bytes. rfc11_parse calls this
 * function. Returns false if memory is out. */
TTR_MUST bool rfc11_make_packet_header(struct ctf_description *description);

/* Sets the event header of a stream class by its rfc_header. Also sets an event context with the
 * payload size if the class has rfc_has_event_size and no context. rfc11_parse calls this function.
 * Returns false if memory is out. */
TTR_MUST bool rfc11_make_event_header(struct ctf_description *description,
                                      struct ctf_stream_class *stream);

/* Reports whether a stream file may belong to a section S by its name: S, S_N or S-N, where N is
 * the CPU. */
bool rfc11_is_file_of_section(ttr_text section, const char *file, bool *has_cpu, uint32_t *cpu);

/* Returns the section of a stream file: the section with the longest name S for which the file is
 * named S, S_N or S-N, where N is the CPU. Returns NULL if no section matches. */
const struct ctf_stream_class *rfc11_find_section_of_file(const struct ctf_description *description,
                                                          const char *file, bool *has_cpu,
                                                          uint32_t *cpu);

/* Reports whether a text can only be plain RFC v1.1 metadata: blanks and comments, then a block of
 * the language. Returns false for text that starts with TSDL's comment "CTF 1.8". */
bool rfc11_is_text(const uint8_t *bytes, size_t n);

#endif
