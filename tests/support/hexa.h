/* Golden vectors: converts annotated text to bytes. tests/README.md describes the syntax.
 *
 * Ownership: the caller frees a struct filled by hexa_load or hexa_parse with hexa_free, also after
 * a failure. Thread rule: plain data. */
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
    char *title;         /* "" = not given */
    char *status;        /* status that reading ends with ("malformed"); "" = reads to the end */
    uint64_t offset;     /* offset of that failure, in bytes; HEXA_NO_OFFSET = not given */
    uint64_t damage;     /* number of damaged regions that are noted and skipped */
    uint64_t max_record; /* reader option: larger records are skipped; 0 = not given */
    char *expect;        /* the text after the line "---"; NULL = without such a line */
};

/* Assembles a file. Returns false with position and reason in `message`. */
TTR_MUST bool hexa_load(const char *path, struct hexa *out, char *message, size_t message_size);

/* Assembles text in memory. */
TTR_MUST bool hexa_parse(const char *text, size_t n, struct hexa *out, char *message,
                         size_t message_size);

/* Returns the offset of a label, or HEXA_NO_OFFSET. */
uint64_t hexa_label(const struct hexa *hexa, const char *name);

void hexa_free(struct hexa *hexa);

#endif
