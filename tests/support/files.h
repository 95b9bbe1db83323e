/* Files and folders of tests: functions to write, check and remove them. */
#ifndef TRACETTA_TESTS_SUPPORT_FILES_H
#define TRACETTA_TESTS_SUPPORT_FILES_H

#include <tracetta/advanced.h>

/* Writes a file, replacing an existing one. */
void files_write(const char *path, const char *text);

/* Fails the test unless a file has this content, of at most 100 bytes. */
void files_expect(const char *path, const char *text);

/* Fails the test unless a folder has a file of the same name with the same bytes. */
void files_expect_copy(const char *folder, const ttr_file *as);

/* Returns the number of entries of a folder, including hidden ones. */
int files_count(const char *folder);

/* Removes a folder with its content. Returns 0 on success. */
int files_remove(const char *folder);

#endif
