/* Files and folders of a test: small ones made, looked at and removed. */
#ifndef TRACETTA_TESTS_SUPPORT_FILES_H
#define TRACETTA_TESTS_SUPPORT_FILES_H

#include <tracetta/advanced.h>

/* Makes a file, or replaces it. */
void files_write(const char *path, const char *text);

/* Fails the test unless a file holds this, of at most 100 bytes. */
void files_expect(const char *path, const char *text);

/* Fails the test unless a folder has this file, of this name, with all its bytes. */
void files_expect_copy(const char *folder, const ttr_file *as);

/* How many names a folder has, hidden ones too. */
int files_count(const char *folder);

/* Removes a folder and all that is in it; 0 where that went well. */
int files_remove(const char *folder);

#endif
