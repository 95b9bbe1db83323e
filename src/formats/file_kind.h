/* Names the kind of a file that is not a trace, for error messages. */
#ifndef TTR_FORMATS_FILE_KIND_H
#define TTR_FORMATS_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kind of file, and what a user can do with such a file. */
struct file_kind {
    const char *name;   /* "an ELF program or library" */
    const char *advice; /* "unpack it, and name the trace in it", or NULL */
};

/* Finds the kind of a file by its first n bytes.  Returns false if it is not known. */
bool file_kind_find(const uint8_t *bytes, size_t n, struct file_kind *kind);

#endif
