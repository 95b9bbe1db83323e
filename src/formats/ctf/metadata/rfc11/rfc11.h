/* RFC v1.1 descriptions: what readers and writers of streams need in addition to ctf_description.h.
 * docs/formats/ctf-rfc-v1.1.md defines the dialect.
 *
 * Ownership: all data are in the description's arena. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_H
#define TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_H

#include "formats/ctf/description/ctf_description.h"

/* Maps list each value of a range. A printed map may have RFC11_LABELS_MIN values, or more if the
 * source has RFC11_LABELS_EACH times fewer entries. So the output is proportional to the input,
 * even if the source declares a huge range in a few characters. */
#define RFC11_LABELS_MIN 65536u
#define RFC11_LABELS_EACH 4u /* printed values per entry of the source */

#define RFC11_ID_EXTENDED_1 31u    /* id in a type 1 header that announces the extension */
#define RFC11_ID_EXTENDED_2 65535u /* id in a type 2 header that announces the extension */
/* limit of fields of a struct, including those of inner structs and arrays */
#define RFC11_FIELDS_MAX 65536u

/* Reports whether a map can list all values of the labels. */
bool rfc11_can_list_labels(const struct type_labels *labels);

/* Sets the alignment of all types that do not state one, and of the fixed headers (4.1.2, 6.1). May
 * be called again with another value before layouts are compiled; probing does so. Types of unknown
 * alignment are packed until then. */
void rfc11_set_alignment(struct ctf_description *description, enum ctf_alignment alignment);

/* Makes the description's packet_header, the fixed 48 bytes. Returns false if memory is out.
 * rfc11_parse calls it. */
TTR_MUST bool rfc11_make_packet_header(struct ctf_description *description);

/* Makes the event header of a stream class by its rfc_header, and its event context if
 * rfc_has_event_size and there is none. Returns false if memory is out. rfc11_parse calls it. */
TTR_MUST bool rfc11_make_event_header(struct ctf_description *description,
                                      struct ctf_stream_class *stream);

/* Reports whether a stream file may belong to a section S: it is called S, S_N or S-N, where N is
 * the CPU. */
bool rfc11_is_file_of_section(ttr_text section, const char *file, bool *has_cpu, uint32_t *cpu);

/* Returns the section of a stream file: the one with the longest name S such that the file is
 * called S, S_N or S-N, where N is the CPU. Returns NULL if there is none. */
const struct ctf_stream_class *rfc11_find_section_of_file(const struct ctf_description *description,
                                                          const char *file, bool *has_cpu,
                                                          uint32_t *cpu);

/* Reports whether a text can only be plain RFC v1.1 metadata: blanks and comments, then a block of
 * the language. False for text that starts with TSDL's comment "CTF 1.8". */
bool rfc11_is_text(const uint8_t *bytes, size_t n);

#endif
