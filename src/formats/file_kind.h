/* Recognises common files that are not traces, for error messages. */
#ifndef TTR_FORMATS_FILE_KIND_H
#define TTR_FORMATS_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A type of file and advice for users who passed such a file as a trace. */
struct file_kind {
    const char *name;   /* noun with its article, such as "an ELF program or library" */
    const char *advice; /* imperative, such as "unpack it, and name the trace in it"; NULL = none */
};

/* Recognises a file by its first n bytes. Returns false if its type is unknown. */
bool file_kind_find(const uint8_t *bytes, size_t n, struct file_kind *kind);

#endif
