/* Files of a source that sends frames: a folder per source, which is a complete trace once the
 * files in parts have arrived. Packets are appended in place, so that a killed receiver leaves at
 * most one torn packet in a file. Files in parts are written to a hidden file first and then
 * renamed. */
#ifndef TRACETTA_NETWORK_FOLDER_CAPTURE_H
#define TRACETTA_NETWORK_FOLDER_CAPTURE_H

#include "network/capture.h"
#include "network/file_frame.h"

#define FOLDER_CAPTURE_FILES_MAX 64u                /* files in parts per source */
#define FOLDER_CAPTURE_BYTES_MAX ((size_t)16 << 20) /* bytes of files in parts per source */

struct frame_part {
    uint8_t *bytes; /* NULL = the part is missing */
    size_t n;
};

/* A file that is sent in parts. */
struct part_file {
    uint32_t number;
    char name[FILE_FRAME_NAME_MAX + 1];
    struct frame_part *parts;
    uint32_t parts_n, missing_n;
    size_t bytes; /* bytes of all parts */
    bool is_fed;  /* receiver_feed.c has returned the file to a reader */
};

struct folder_capture {
    const struct alloc *alloc;
    struct part_file *files;
    size_t files_n, files_capacity;
};

void folder_capture_init(struct folder_capture *folder, const struct alloc *alloc);
void folder_capture_free(struct folder_capture *folder);

/* Creates the next folder of a source, with all complete files in parts. */
TTR_MUST ttr_status folder_capture_rotate(struct folder_capture *folder, struct capture *capture,
                                          ttr_error *error);

/* Keeps a part, and writes its file when it is complete, unless `capture` is NULL. Sets *is_refused
 * if a limit refuses it. */
TTR_MUST ttr_status folder_capture_add_part(struct folder_capture *folder, struct capture *capture,
                                            const struct file_frame *frame, bool *is_refused,
                                            ttr_error *error);

/* Forgets a file in parts, so that it can be sent again with other content. */
void folder_capture_forget(struct folder_capture *folder, uint32_t number);

/* Appends a packet to its file. A packet that cannot be written completely is removed. */
TTR_MUST ttr_status folder_capture_append(struct capture *capture, const struct file_frame *frame,
                                          ttr_error *error);

/* Replaces the file `name` in the folder of the first complete file with the last name `main_file`.
 * Does nothing if no such file is complete. The content is not part of capture->size. */
TTR_MUST ttr_status folder_capture_replace(const struct folder_capture *folder,
                                           struct capture *capture, const char *main_file,
                                           const char *name, const struct buffer *content,
                                           ttr_error *error);

/* Returns the bytes of all parts that have arrived. */
uint64_t folder_capture_bytes(const struct folder_capture *folder);

/* Returns true if a file in parts is known and all of them are complete. */
bool folder_capture_is_complete(const struct folder_capture *folder);

#endif
