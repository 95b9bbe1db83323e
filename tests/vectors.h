/* Runs every golden vector of a folder (tests/README.md) through the reader of a format.  To be called from cmocka tests; a
 * failure names the vector and the first line that differs.  Folders are named from the root of the sources. */
#ifndef TRACETTA_TESTS_VECTORS_H
#define TRACETTA_TESTS_VECTORS_H

/* The dump is what stands behind ---, the damage and the end are those of the header lines. */
void vectors_read_as_written(const char *folder, const char *format);

/* With TTR_READ_DEFINITIONS the raw payloads together are the bytes, but for damage. */
void vectors_give_every_byte(const char *folder, const char *format);

/* Every prefix reads without a crash, names no place behind its end, and gives the first events of the whole. */
void vectors_read_when_cut(const char *folder, const char *format);

/* Reading by 1, 3, 7, 64, ... bytes gives what reading at once gives. */
void vectors_read_in_pieces(const char *folder, const char *format);

/* With the 1st, 2nd, ... allocation failing, reading ends with TTR_E_NOMEM or goes well; nothing leaks. */
void vectors_read_without_memory(const char *folder, const char *format);

/* In strict mode the first damage is the failure, at its offset; what has none reads the same. */
void vectors_refused_when_strict(const char *folder, const char *format);

#endif
