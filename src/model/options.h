/* "key=value" options of a format, for readers and writers. */
#ifndef TRACETTA_MODEL_OPTIONS_H
#define TRACETTA_MODEL_OPTIONS_H

#include "base/alloc.h"
#include "model/format.h"

struct options_list {
    const struct alloc *alloc;
    /* texts "key=value" or "FORMAT.key=value", terminated by NULL; or NULL */
    const char *const *given;
    const struct format *format;
    bool for_writing;
};

/* Copies the options of this format; skips those that name other formats ("heph.layout=auto" for
 * fxt). `copies` ends with NULL, which `n` counts. Returns TTR_E_MISUSE for an unknown key. */
TTR_MUST ttr_status options_copy(const struct options_list *list, char ***copies, size_t *n,
                                 ttr_error *error);

void options_free(const struct alloc *alloc, char **copies, size_t n);

/* Returns the value of a key, or NULL. */
const char *options_get(char *const *copies, size_t n, const char *key);

#endif
