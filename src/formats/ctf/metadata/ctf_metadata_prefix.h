/* Metadata that grew: of folders that are opened together, whose metadata begin those of another
 * one and end there.
 *
 * A tracer that records on declares more and more; what was rotated away or dumped before has the
 * metadata of its time, or less where it was stopped while it wrote them.  Folders of one trace are
 * read by the longest that begin with their own.  Metadata that differ otherwise are not akin.
 * CTF 1.8 and 2; texts are compared as they are without their packets.  RFC v1.1 has no uuid, so
 * that no folders are one trace. Memory: the metadata that no others begin with, each until it is
 * taken by the first that is read by it. Ownership: the caller frees, while the folders are still
 * there or not.  Thread rule: one thread. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_CTF_METADATA_PREFIX_H
#define TRACETTA_FORMATS_CTF_METADATA_CTF_METADATA_PREFIX_H

#include "formats/ctf/read/ctf_reader.h"
#include "model/format.h"

struct ctf_grown;

/* Compares the metadata of folders, and those of a file of another folder (its path; NULL: none);
 * NULL with `error` when memory is out or that cannot be read.  Folders' own that cannot be read
 * are left to who opens them. */
struct ctf_grown *ctf_grown_new(ttr *t, const struct folders_found *found, const char *further,
                                ttr_error *error);
void ctf_grown_free(struct ctf_grown *grown);

/* Whether metadata of another folder begin with those of the folder-th and go on. */
bool ctf_grown_has_more(const struct ctf_grown *grown, size_t folder);

/* Gives the metadata of a folder as stored to a trace that has none, without reading them again;
 * false where they are not at hand. */
bool ctf_grown_lend(struct ctf_grown *grown, size_t folder, struct ctf_trace *trace);

/* Gives the longer ones; false where they are not at hand. */
bool ctf_grown_lend_longer(struct ctf_grown *grown, size_t folder, struct ctf_trace *trace);

/* Lets a trace have the class that its folder is read by, where that was made before and nothing is
 * to be told of its metadata; *bytes: their size. */
bool ctf_grown_share(const struct ctf_grown *grown, size_t folder, struct ctf_trace *trace,
                     size_t *bytes);

/* Keeps what was made of the metadata of a folder (NULL: they are bad), or of the longer ones;
 * has_notes: there is something to tell of them. */
void ctf_grown_keep(struct ctf_grown *grown, size_t folder, struct ctf_trace *made, bool has_notes);
void ctf_grown_keep_longer(struct ctf_grown *grown, size_t folder, struct ctf_trace *made,
                           bool has_notes);

/* What was made of the longer metadata, borrowed; NULL where nothing was made of them: *is_bad
 * where they are no use. */
struct ctf_trace *ctf_grown_longer(const struct ctf_grown *grown, size_t folder, bool *is_bad);

/* Nothing is to be told of a folder's metadata: others with the very same ones need not be parsed
 * to know that. */
void ctf_grown_keep_quiet(struct ctf_grown *grown, size_t folder);

/* The file with the longer metadata; as long as `grown`. */
const char *ctf_grown_path(const struct ctf_grown *grown, size_t folder);

#endif
