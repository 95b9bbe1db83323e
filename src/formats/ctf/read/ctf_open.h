/* A trace that is being opened: what its two parts share, the metadata (ctf_open_metadata.c) and
 * the stream files (ctf_open.c).
 *
 * Thread rule: one thread. */
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
    char **copies; /* of the options that are ours */
    size_t copies_n;
    struct diagnostics notes; /* of parsers: there is no input yet */
    char path[1024];          /* of the metadata */
    size_t metadata_n;        /* its bytes; those of the class may be of another file */
    struct source_options how;
    size_t files;
    struct input *first; /* of the trace, where notes go */
    bool is_metadata;    /* the latter stands for the metadata */
    bool is_part;        /* those of another folder begin with them and go on */
    const char *longer;  /* the file of these, where the trace is read by them; NULL: by its own */
    size_t unreadable;   /* files that cannot be read */
    ttr_error reason;    /* why the first of them cannot */
};

/* Finds what the trace is read by: its metadata, or longer ones that begin with them. */
TTR_MUST ttr_status ctf_find_metadata(struct ctf_opening *opening, ttr_error *error);

/* Keeps a note until there is an input that can tell it. */
void ctf_opening_note(struct ctf_opening *opening, ttr_severity severity, uint64_t offset,
                      const char *code, const char *format, ...) TTR_PRINTF(5, 6);

/* The first damage of the metadata; NULL where there is none. */
const ttr_diagnostic *ctf_opening_damage(const struct ctf_opening *opening);

/* Tells what was kept. */
void ctf_opening_report(const struct ctf_opening *opening);

/* Reads a file of metadata that need not be in a folder: n bytes, and room for one more. */
TTR_MUST ttr_status ctf_read_metadata_file(ttr *t, const char *path, uint8_t **bytes, size_t *n,
                                           ttr_error *error);

#endif
