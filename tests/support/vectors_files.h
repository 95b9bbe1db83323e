/* Golden vectors of formats whose traces are many files: each folder NAME of vectors holds a
 * FILE.hexa for each file of the trace; a plus in its name stands for a slash. The one of the
 * format's anchor ("metadata.hexa") also has title, ids, status, offset and damage of the whole,
 * and behind its --- the dump. To be called from cmocka tests, as vectors.h.  The reader is given
 * the format option key-env=TTR_VECTOR_KEY, whose value is 000102...1f in hexadecimal, unless the
 * folder's name ends with "-without-key" (or the format has no such option). */
#ifndef TRACETTA_TESTS_SUPPORT_VECTORS_FILES_H
#define TRACETTA_TESTS_SUPPORT_VECTORS_FILES_H

/* The dump, the damage and the end are those of the anchor.  Runs the folders whose names begin
 * with `prefix`. */
void vectors_files_read_as_written(const char *folder, const char *prefix, const char *format,
                                   const char *anchor);

/* With TTR_READ_DEFINITIONS the definitions together are the bytes of the stream, where there is
 * one file beside the anchor and no damage. */
void vectors_files_give_every_byte(const char *folder, const char *prefix, const char *format,
                                   const char *anchor);

/* Every prefix of every file reads without a crash; the prefixes of the file of a trace that has
 * one stream give its first events, unless the folder's name ends with "-whole": then the end of a
 * trace changes what its begin means. */
void vectors_files_read_when_cut(const char *folder, const char *prefix, const char *format,
                                 const char *anchor);

/* With some bytes of one file changed, `rounds` times for each trace, reading ends within bounds
 * and without a crash. */
void vectors_files_read_when_changed(const char *folder, const char *prefix, const char *format,
                                     const char *anchor, unsigned rounds);

/* With the 1st, 2nd, ... allocation failing, reading ends with TTR_E_NOMEM or goes well; nothing
 * leaks. */
void vectors_files_read_without_memory(const char *folder, const char *prefix, const char *format,
                                       const char *anchor);

/* In strict mode damage is a failure; what has none reads the same. */
void vectors_files_refused_when_strict(const char *folder, const char *prefix, const char *format,
                                       const char *anchor);

#endif
