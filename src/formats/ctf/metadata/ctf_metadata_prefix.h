/* Metadata that was extended while recording: finds, among folders opened together, metadata files
 * that are a prefix of another folder's.
 *
 * A tracer keeps appending declarations while it records. A rotated or dumped part of the trace has
 * the metadata of that time, possibly truncated if the tracer was stopped during a write. All
 * folders of one trace are read with the longest metadata that starts with their own. Metadata that
 * differ in any other way are unrelated. CTF 1.8 and 2 only: texts are compared without their
 * packets, and RFC v1.1 has no UUID.
 *
 * Memory: the metadata that are not a prefix of others, each until its ownership passes to the
 * first trace that uses it. Ownership: the caller frees the result; the folders may be closed
 * before. Thread rule: one thread. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_CTF_METADATA_PREFIX_H
#define TRACETTA_FORMATS_CTF_METADATA_CTF_METADATA_PREFIX_H

#include "formats/ctf/read/ctf_reader.h"
#include "model/format.h"

struct ctf_prefix_set;

/* Compares the metadata of the folders, and the additional metadata file `further` (NULL if none).
 * Returns NULL with `error` if memory runs out or `further` cannot be read. Unreadable metadata of
 * the folders are reported later, when the folders are opened. */
struct ctf_prefix_set *ctf_prefix_set_new(ttr *t, const struct found_folders *found,
                                          const char *further, ttr_error *error);
void ctf_prefix_set_free(struct ctf_prefix_set *set);

/* Reports whether the metadata of a folder is a proper prefix of another folder's. */
bool ctf_prefix_has_longer_metadata(const struct ctf_prefix_set *set, size_t folder);

/* Passes the bytes of the folder's metadata to a trace without metadata, so that the file is not
 * read again. Returns false if the bytes are not in memory. */
bool ctf_prefix_move_metadata(struct ctf_prefix_set *set, size_t folder, struct ctf_trace *trace);

/* Passes the bytes of the longer metadata to the trace. Returns false if the bytes are not in
 * memory. */
bool ctf_prefix_move_longer_metadata(struct ctf_prefix_set *set, size_t folder,
                                     struct ctf_trace *trace);

/* Makes a trace use the trace class that was parsed from the same metadata before, if that caused
 * no diagnostics. Returns false if there is none. `*bytes`: size of the metadata. */
bool ctf_prefix_share_class(const struct ctf_prefix_set *set, size_t folder,
                            struct ctf_trace *trace, size_t *bytes);

/* Store the trace class that was parsed, so that other traces can share it: from the metadata of
 * the folder itself, or from the longer metadata of which the folder has a prefix. `parsed` is NULL
 * if the metadata are invalid; has_notes: the parser reported diagnostics. */
void ctf_prefix_store_class(struct ctf_prefix_set *set, size_t folder, struct ctf_trace *parsed,
                            bool has_notes);
void ctf_prefix_store_class_of_longer(struct ctf_prefix_set *set, size_t folder,
                                      struct ctf_trace *parsed, bool has_notes);

/* Returns the trace with the parsed longer metadata, borrowed; NULL if not parsed. `*is_bad`: the
 * metadata is invalid. */
struct ctf_trace *ctf_prefix_get_longer_class(const struct ctf_prefix_set *set, size_t folder,
                                              bool *is_bad);

/* Records that a folder's metadata was parsed without diagnostics, so that identical metadata of
 * other folders need not be parsed. */
void ctf_prefix_mark_undamaged(struct ctf_prefix_set *set, size_t folder);

/* Returns the path of the file with the longer metadata. It is valid as long as the set. */
const char *ctf_prefix_get_longer_path(const struct ctf_prefix_set *set, size_t folder);

#endif
