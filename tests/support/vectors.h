/* Runs every golden vector of a folder (tests/README.md) through the reader of a format.  To be
 * called from cmocka tests; a failure names the vector and the first line that differs.  Folders
 * are named from the root of the sources. */
#ifndef TRACETTA_TESTS_SUPPORT_VECTORS_H
#define TRACETTA_TESTS_SUPPORT_VECTORS_H

#include <stddef.h>

struct CMUnitTest;
struct hexa;

/* One vector, named from the root of the sources; hexa_free it. */
void vectors_load(struct hexa *hexa, const char *path);

/* Runs a check over each vector of a folder. */
void vectors_each(const char *folder, const char *format,
                  void (*check)(const char *path, const struct hexa *hexa, const char *format));

/* The dump is what stands behind ---, the damage and the end are those of the header lines. */
void vectors_read_as_written(const char *folder, const char *format);

/* With TTR_READ_DEFINITIONS the raw payloads together are the bytes, but for damage. */
void vectors_give_every_byte(const char *folder, const char *format);

/* Every prefix reads without a crash, names no place behind its end, and gives the first events of
 * the whole. */
void vectors_read_when_cut(const char *folder, const char *format);

/* Reading by 1, 3, 7, 64, ... bytes gives what reading at once gives. */
void vectors_read_in_pieces(const char *folder, const char *format);

/* With the 1st, 2nd, ... allocation failing, reading ends with TTR_E_NOMEM or goes well; nothing
 * leaks. */
void vectors_read_without_memory(const char *folder, const char *format);

/* In strict mode the first damage is the failure, at its offset; what has none reads the same. */
void vectors_refused_when_strict(const char *folder, const char *format);

/* Which of these a folder is for. */
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

/* The tests of a format's vectors, and others of its own. */
struct vectors_suite {
    const char *format;
    struct vectors_folder folders[6]; /* up to one without a name */
    const struct CMUnitTest *others;
    size_t others_n;
};

/* Runs all as one group, for main to end with. */
int vectors_run(const struct vectors_suite *suite);

#endif
