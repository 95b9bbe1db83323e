/* A golden vector of many files (vectors_files.h) as one input of the fuzz target fuzz/folder.c.
 * For each file, the main file first, then by name: [size u16le, with bit 15 set] [n u8, name]
 * [bytes]. */
#ifndef TRACETTA_TESTS_SUPPORT_HEXA_FOLDER_H
#define TRACETTA_TESTS_SUPPORT_HEXA_FOLDER_H

#include "base/buffer.h"

#define HEXA_FOLDER_NAMED 0x8000u /* flag in the size: a name follows */
#define HEXA_FOLDER_SIZE 0x7fffu

/* Appends the folder's files. Returns false with a message if the main file is missing or a file is
 * not a valid vector. */
bool hexa_folder_load(const char *path, const char *main_file, struct buffer *to, char *message,
                      size_t message_n);

#endif
