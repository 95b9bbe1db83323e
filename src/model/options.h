/* "key=value" options of formats, for readers and writers alike. */
#ifndef TRACETTA_MODEL_OPTIONS_H
#define TRACETTA_MODEL_OPTIONS_H

#include "base/alloc.h"
#include "model/format.h"

struct options_list {
    const struct alloc *alloc;
    const char *const *given; /* NULL at the end, or NULL */
    const struct format *format;
    bool for_writing;
};

/* Copies the options that are this format's own, with NULL at the end, which `n` counts too: copies
 * can be given again.  One that names another format ("heph.layout=auto" for fxt) is passed over,
 * an unknown key is TTR_E_MISUSE and says which there are. */
TTR_MUST ttr_status options_copy(const struct options_list *list, char ***copies, size_t *n,
                                 ttr_error *error);

void options_free(const struct alloc *alloc, char **copies, size_t n);

/* The value of a key, or NULL. */
const char *options_get(char *const *copies, size_t n, const char *key);

#endif
