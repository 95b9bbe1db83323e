/* RFC v1.1: functions on descriptions that readers and writers of its streams need in addition to
 * ctf_description.h. src/formats/ctf/rfc-v1.1.md defines the language.
 *
 * Ownership: all data are in the description's arena. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_H
#define TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_H

#include "formats/ctf/description/ctf_description.h"

/* Limits of the values in a printed enum. Its map lists every single value of a range, so a
 * declaration of a few characters could become huge. A printed map may have RFC11_LABELS_MIN
 * values, or RFC11_LABELS_EACH per label of the source if that is more. */
#define RFC11_LABELS_MIN 65536u
#define RFC11_LABELS_EACH 4u /* printed values per label of the source */

#define RFC11_ID_EXTENDED_1 \
    31u /* id in an event header of type 1 that means: extended id and time follow */
#define RFC11_ID_EXTENDED_2 \
    65535u /* id in an event header of type 2 that means: extended id and time follow */
/* maximum number of fields in a struct, including the fields of nested structs and arrays */
#define RFC11_FIELDS_MAX 65536u

/* Returns true if all values of the labels can be printed without exceeding the limits above. */
bool rfc11_can_list_labels(const struct type_labels *labels);

/* Sets the alignment of all types that do not declare one, and of the fixed headers (4.1.2, 6.1).
 * May be called again until layouts are compiled, so that a caller can try several values. If it
 * is CTF_ALIGN_UNKNOWN, these types are packed. */
void rfc11_set_alignment(struct ctf_description *description, enum ctf_alignment alignment);

/* Sets the packet header of the description to the type of the header of 48 bytes that RFC v1.1
 * fixes. Called by rfc11_parse. Returns false if memory runs out. */
TTR_MUST bool rfc11_make_packet_header(struct ctf_description *description);

/* Sets the event header of a stream class by its rfc_header. Also sets an event context with the
 * payload size if the class has rfc_has_event_size and no context. rfc11_parse calls this function.
 * Returns false if memory runs out. */
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

/* Returns true if a text is certainly plain RFC v1.1 metadata: blanks and comments, then a block
 * of the language. Returns false for text that starts with the comment "CTF 1.8" of TSDL. */
bool rfc11_is_text(const uint8_t *bytes, size_t n);

#endif
