/* State while a trace is being opened, shared by the code for metadata (ctf_open_metadata.c) and
 * for stream files (ctf_open.c). Thread rule: one thread. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_OPEN_H
#define TRACETTA_FORMATS_CTF_READ_CTF_OPEN_H

#include "formats/ctf/read/ctf_stream_set.h"
#include "model/diagnostics.h"

struct ctf_opening {
    ttr *t;
    struct ctf_stream_set *set;
    struct ctf_trace *trace;
    const char *only;
    const ttr_read_options *options;
    /* values of the format options, without the prefix "ctf."; copies_n strings */
    char **copies;
    size_t copies_n;
    /* diagnostics of the metadata parser, kept until an input exists that can report them */
    struct diagnostics notes;
    char path[1024]; /* path of the metadata file */
    /* size in bytes of the metadata file in the folder, even if the trace uses longer metadata of
     * another folder */
    size_t metadata_n;
    struct source_options source_options; /* options with which stream files are opened */
    size_t files;
    /* first input of the trace, which reports the stored diagnostics */
    struct input *first;
    /* `first` is an input without events, which represents the metadata file */
    bool is_metadata;
    /* true if the metadata in the folder are a prefix of longer metadata in another folder */
    bool is_part;
    /* path of longer metadata that are used instead; NULL = the metadata in the folder are used */
    const char *longer;
    size_t unreadable; /* number of stream files that cannot be opened */
    ttr_error reason;  /* error of the first stream file that cannot be opened */
};

/* Finds, parses and compiles the metadata of the trace. Uses longer metadata if those of the trace
 * are a prefix of them. */
TTR_MUST ttr_status ctf_find_metadata(struct ctf_opening *opening, ttr_error *error);

/* Stores a diagnostic until an input exists that can report it. */
void ctf_opening_add_diagnostic(struct ctf_opening *opening, ttr_severity severity, uint64_t offset,
                                const char *code, const char *format, ...) TTR_PRINTF(5, 6);

/* Returns the first stored diagnostic that reports damaged metadata; NULL if there is none. */
const ttr_diagnostic *ctf_opening_find_damage(const struct ctf_opening *opening);

/* Moves the stored diagnostics to the first input. */
void ctf_opening_report_diagnostics(const struct ctf_opening *opening);

/* Reads a metadata file at any path into new memory. The buffer has space for one byte more than
 * *n. */
TTR_MUST ttr_status ctf_read_metadata_file(ttr *t, const char *path, uint8_t **bytes, size_t *n,
                                           ttr_error *error);

#endif
