/* Golden vectors: annotated text to bytes.  tests/README.md describes the syntax.
 *
 * Ownership: hexa_load and hexa_parse fill a struct whose memory is the caller's to give back with
 * hexa_free, also after a failure.  Thread rule: plain data. */
#ifndef TRACETTA_TESTS_SUPPORT_HEXA_H
#define TRACETTA_TESTS_SUPPORT_HEXA_H

#include <stdbool.h>

#include <tracetta/error.h>

#define HEXA_NO_OFFSET UINT64_MAX

struct hexa_label {
    char *name;
    uint64_t offset;
};

struct hexa {
    uint8_t *bytes;
    size_t n;
    struct hexa_label *labels;
    size_t labels_n;
    char **ids; /* specification sentences that the vector covers */
    size_t ids_n;
    char *title;         /* "" when not given */
    char *status;        /* how reading ends ("malformed"), "" when not given: to the end */
    uint64_t offset;     /* where, HEXA_NO_OFFSET when not given */
    uint64_t damage;     /* how many damages are noted and skipped, 0 when not given */
    uint64_t max_record; /* reading is asked to pass over larger records, 0 when not given */
    char *expect;        /* the text after the line "---", NULL without such a line */
};

/* Assembles a file.  False with the place and the reason in `message`. */
TTR_MUST bool hexa_load(const char *path, struct hexa *out, char *message, size_t message_size);

/* The same for text in memory. */
TTR_MUST bool hexa_parse(const char *text, size_t n, struct hexa *out, char *message,
                         size_t message_size);

/* The offset of a label, or HEXA_NO_OFFSET. */
uint64_t hexa_label(const struct hexa *hexa, const char *name);

void hexa_free(struct hexa *hexa);

#endif
