/* Stamps of files, to find out later whether a file has changed. */
#ifndef TRACETTA_CLI_INPUT_FILE_STAMP_H
#define TRACETTA_CLI_INPUT_FILE_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

struct file_stamp; /* stamps of files, and of folders with all files below */

/* Records the stamps of n paths. Returns NULL if memory is exhausted. */
struct file_stamp *file_stamp_record(char *const *path, size_t n);

/* Returns true if no file has changed or was replaced since; with `with_folders`, if also none was
 * added or removed. */
bool file_stamp_equals(const struct file_stamp *print, bool with_folders);

/* Prints a line for each file: path, device, inode, size and times. Returns the size of all files;
 * *latest is the time of the latest change. */
uint64_t file_stamp_print(const struct file_stamp *print, FILE *to, struct timespec *latest);

void file_stamp_free(struct file_stamp *print);

#endif
