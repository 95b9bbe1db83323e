/* A golden vector of many files (vectors_files.h) as one input of the fuzz target of such traces
 * (fuzz/folder.c): for each file, that of the anchor first, then by name, [size u16le, with bit 15]
 * [n u8, name] [bytes]. */
#ifndef TRACETTA_TESTS_SUPPORT_HEXA_FOLDER_H
#define TRACETTA_TESTS_SUPPORT_HEXA_FOLDER_H

#include "base/buffer.h"

#define HEXA_FOLDER_NAMED 0x8000u /* a name stands behind the size */
#define HEXA_FOLDER_SIZE 0x7fffu

/* Appends the folder's files; false with a message where it has no anchor or one of its files is no
 * vector. */
bool hexa_folder_load(const char *path, const char *anchor, struct buffer *to, char *message,
                      size_t message_n);

#endif
