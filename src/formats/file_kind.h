/* Recognises common files that are not traces, for error messages. */
#ifndef TTR_FORMATS_FILE_KIND_H
#define TTR_FORMATS_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A type of file that users pass as a trace by mistake, and advice for them. */
struct file_kind {
    /* name of the type as a noun with article, such as "an ELF program or library" */
    const char *name;
    /* advice as an imperative, such as "unpack it, and name the trace in it"; NULL if there is
     * none */
    const char *advice;
};

/* Recognises a file by its first n bytes. Returns false if its type is unknown. */
bool file_kind_find(const uint8_t *bytes, size_t n, struct file_kind *kind);

#endif
