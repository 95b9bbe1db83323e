/* Runs every golden vector of a folder (tests/README.md) through the reader of a format. Called
 * from cmocka tests; a failure prints the vector and the first line that differs. Folders are
 * relative to the root of the sources. */
#ifndef TRACETTA_TESTS_SUPPORT_VECTORS_H
#define TRACETTA_TESTS_SUPPORT_VECTORS_H

#include <stddef.h>

struct CMUnitTest;
struct hexa;

/* Loads one vector, relative to the root of the sources; the caller frees it with hexa_free. */
void vectors_load(struct hexa *hexa, const char *path);

/* Runs a check over each vector of a folder. */
void vectors_each(const char *folder, const char *format,
                  void (*check)(const char *path, const struct hexa *hexa, const char *format));

/* Checks that the dump equals the text after "---", and damage and end equal the header lines. */
void vectors_read_as_written(const char *folder, const char *format);

/* Checks that with TTR_READ_DEFINITIONS the raw payloads together are the input, except for damage.
 */
void vectors_give_every_byte(const char *folder, const char *format);

/* Checks that every prefix reads without a crash, reports no offset after its end, and yields the
 * first events of the complete vector. */
void vectors_read_when_cut(const char *folder, const char *format);

/* Checks that input in pieces of 1, 3, 7, 64, ... bytes reads like input in memory. */
void vectors_read_in_pieces(const char *folder, const char *format);

/* Checks that reading succeeds or ends with TTR_E_NOMEM, without leaks, if the 1st, 2nd, ...
 * allocation fails. */
void vectors_read_without_memory(const char *folder, const char *format);

/* Checks that in strict mode the first damage is a failure, at its offset, and that undamaged
 * vectors read the same. */
void vectors_refused_when_strict(const char *folder, const char *format);

/* The checks that apply to a folder. */
enum {
    VECTORS_AS_WRITTEN = 1,
    VECTORS_EVERY_BYTE = 2,
    VECTORS_CUT = 4,
    VECTORS_IN_PIECES = 8,
    VECTORS_WITHOUT_MEMORY = 16,
    VECTORS_STRICT = 32,
    VECTORS_USUAL =
        VECTORS_AS_WRITTEN | VECTORS_IN_PIECES | VECTORS_WITHOUT_MEMORY | VECTORS_STRICT,
    VECTORS_ALL = VECTORS_USUAL | VECTORS_EVERY_BYTE | VECTORS_CUT
};

struct vectors_folder {
    const char *name; /* below the folder of the format */
    unsigned ways;
};

/* The tests of a format's vectors, and further tests of that format. */
struct vectors_suite {
    const char *format;
    struct vectors_folder folders[6]; /* the first one without a name ends the list */
    const struct CMUnitTest *others;
    size_t others_n;
};

/* Runs all tests as one cmocka group; main returns the result. */
int vectors_run(const struct vectors_suite *suite);

#endif
