/* Golden vectors of formats with traces of many files: each folder NAME of vectors has a FILE.hexa
 * for each file of the trace; a plus in its name is a slash. The file of the format's main file
 * ("metadata.hexa") also has title, ids, status, offset and damage of the complete trace, and after
 * its "---" the dump. Called from cmocka tests, like vectors.h. The reader gets the format option
 * key-env=TTR_VECTOR_KEY, the key 000102...1f in hexadecimal, unless the folder's name ends with
 * "-without-key" or the format has no such option. */
#ifndef TRACETTA_TESTS_SUPPORT_VECTORS_FILES_H
#define TRACETTA_TESTS_SUPPORT_VECTORS_FILES_H

/* Checks dump, damage and end against those of the main file, for folders with names that start
 * with `prefix`. */
void vectors_files_read_as_written(const char *folder, const char *prefix, const char *format,
                                   const char *main_file);

/* Checks that with TTR_READ_DEFINITIONS the definitions together are the bytes of the stream, for
 * traces with one file next to the main file and without damage. */
void vectors_files_give_every_byte(const char *folder, const char *prefix, const char *format,
                                   const char *main_file);

/* Checks that every prefix of every file reads without a crash. If a trace has one stream, its
 * prefixes must yield its first events, unless the folder's name ends with "-whole": such traces
 * mean something else if their end is missing. */
void vectors_files_read_when_cut(const char *folder, const char *prefix, const char *format,
                                 const char *main_file);

/* Changes some bytes of one file, `rounds` times for each trace. Checks that reading ends within
 * its limits and without a crash. */
void vectors_files_read_when_changed(const char *folder, const char *prefix, const char *format,
                                     const char *main_file, unsigned rounds);

/* Checks that reading succeeds or ends with TTR_E_NOMEM, without leaks, if the 1st, 2nd, ...
 * allocation fails. */
void vectors_files_read_without_memory(const char *folder, const char *prefix, const char *format,
                                       const char *main_file);

/* Checks that in strict mode damage is a failure, and that undamaged traces read the same. */
void vectors_files_refused_when_strict(const char *folder, const char *prefix, const char *format,
                                       const char *main_file);

#endif
