/* Metadata that grew: finds, among folders opened together, metadata files that are a prefix of
 * another folder's.
 *
 * A tracer keeps appending declarations while it records. A rotated or dumped part of the trace has
 * the metadata of its time, or less if the tracer was stopped during a write. All folders of one
 * trace are read with the longest metadata that starts with their own. Metadata that differ in any
 * other way are unrelated. CTF 1.8 and 2 only: texts are compared without their packets, and RFC
 * v1.1 has no UUID.
 *
 * Memory: the metadata that are not a prefix of others, each until the first trace that uses it
 * takes it over. Ownership: the caller frees the result; the folders may be closed before. Thread
 * rule: one thread. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_CTF_METADATA_PREFIX_H
#define TRACETTA_FORMATS_CTF_METADATA_CTF_METADATA_PREFIX_H

#include "formats/ctf/read/ctf_reader.h"
#include "model/format.h"

struct ctf_prefix_set;

/* Compares the metadata of the folders, and those of a file in another folder (`further`; NULL if
 * there is none). Returns NULL with `error` if memory is out or that file cannot be read.
 * Unreadable metadata of the folders themselves are reported when they are opened. */
struct ctf_prefix_set *ctf_prefix_set_new(ttr *t, const struct found_folders *found,
                                          const char *further, ttr_error *error);
void ctf_prefix_set_free(struct ctf_prefix_set *set);

/* Reports whether the metadata of a folder is a proper prefix of another folder's. */
bool ctf_prefix_is_extended(const struct ctf_prefix_set *set, size_t folder);

/* Passes the folder's metadata, as stored, to a trace that has none, so that it is not read again.
 * Returns false if it is not in memory. */
bool ctf_prefix_pass_metadata(struct ctf_prefix_set *set, size_t folder, struct ctf_trace *trace);

/* Passes the longer metadata to the trace. Returns false if it is not in memory. */
bool ctf_prefix_pass_longer_metadata(struct ctf_prefix_set *set, size_t folder,
                                     struct ctf_trace *trace);

/* Lets a trace share the parsed class of its folder's metadata, if there is one and it has no
 * diagnostics. `*bytes`: size of the metadata. */
bool ctf_prefix_share_class(const struct ctf_prefix_set *set, size_t folder,
                            struct ctf_trace *trace, size_t *bytes);

/* Store the parsed metadata of a folder, or of the longer text, for other traces. `made` is NULL if
 * the metadata is invalid; has_notes: there are diagnostics. */
void ctf_prefix_keep_class(struct ctf_prefix_set *set, size_t folder, struct ctf_trace *parsed,
                           bool has_notes);
void ctf_prefix_keep_longer_class(struct ctf_prefix_set *set, size_t folder,
                                  struct ctf_trace *parsed, bool has_notes);

/* Returns the parsed longer metadata, borrowed; NULL if there is none. `*is_bad`: it is invalid. */
struct ctf_trace *ctf_prefix_longer_class(const struct ctf_prefix_set *set, size_t folder,
                                          bool *is_bad);

/* Records that a folder's metadata has no diagnostics. Identical metadata need not be parsed again
 * to know that. */
void ctf_prefix_keep_without_notes(struct ctf_prefix_set *set, size_t folder);

/* Returns the path of the file with the longer metadata; lives as long as `grown`. */
const char *ctf_prefix_longer_path(const struct ctf_prefix_set *set, size_t folder);

#endif
