/* State of opening a trace, shared by its two parts: metadata (ctf_open_metadata.c) and stream
 * files (ctf_open.c). Thread rule: one thread. */
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
    char **copies; /* format options without the prefix "ctf." */
    size_t copies_n;
    struct diagnostics notes; /* diagnostics of parsers, until there is an input to report them */
    char path[1024];          /* path of the metadata file */
    /* size of the folder's own metadata; the class may be parsed from another file */
    size_t metadata_n;
    struct source_options how;
    size_t files;
    struct input *first; /* first input of the trace; reports the diagnostics */
    bool is_metadata;    /* `first` is the placeholder of the metadata file */
    bool is_part;        /* longer metadata of another folder start with these */
    const char *longer;  /* path of the longer metadata that are used; NULL: the trace's own */
    size_t unreadable;   /* stream files that cannot be opened */
    ttr_error reason;    /* error of the first of them */
};

/* Finds, parses and compiles the metadata of the trace, or longer metadata that start with them. */
TTR_MUST ttr_status ctf_find_metadata(struct ctf_opening *opening, ttr_error *error);

/* Stores a diagnostic until there is an input. */
void ctf_opening_note(struct ctf_opening *opening, ttr_severity severity, uint64_t offset,
                      const char *code, const char *format, ...) TTR_PRINTF(5, 6);

/* Returns the first damage of the metadata, or NULL. */
const ttr_diagnostic *ctf_opening_damage(const struct ctf_opening *opening);

/* Passes the stored diagnostics to the first input. */
void ctf_opening_report(const struct ctf_opening *opening);

/* Reads a metadata file outside of a folder: n bytes, with room for one more. */
TTR_MUST ttr_status ctf_read_metadata_file(ttr *t, const char *path, uint8_t **bytes, size_t *n,
                                           ttr_error *error);

#endif
