/* Files of one source in a folder. Packets are appended in place, so that a killed receiver leaves
 * at most one torn packet at the end of the last file. */
#ifndef TRACETTA_NETWORK_CAPTURE_H
#define TRACETTA_NETWORK_CAPTURE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

#define CAPTURE_STEM_MAX 128u

struct capture {
    bool is_folder;    /* each part is a folder; the caller creates the files in it */
    int fd;            /* -1 = no file is open */
    uint64_t size;     /* bytes in the file */
    uint64_t begun_ms; /* socket_now_ms of its creation */
    unsigned part;     /* number of the file, from 1 */
    const char *folder, *extension;
    char stem[CAPTURE_STEM_MAX]; /* name without number and extension */
    char path[PATH_MAX];
};

/* Selects the names of a source: "FOLDER/0001-udp-127.0.0.1-40000.heph", for the first number from
 * *number on that is not in use. `folder` and `extension` are borrowed; an empty extension has no
 * dot. Opens no file. */
void capture_init(struct capture *capture, const char *folder, const char *peer,
                  const char *extension);

/* Creates the first file, with the first number from *number on that is not in use, and advances
 * *number. */
TTR_MUST ttr_status capture_create(struct capture *capture, unsigned *number, ttr_error *error);

/* Ends the file and creates the next one: "0001-udp-127.0.0.1-40000.0002.heph". */
TTR_MUST ttr_status capture_rotate(struct capture *capture, ttr_error *error);

/* Appends bytes. On failure *written is the number of bytes that the file has got. */
TTR_MUST ttr_status capture_append(struct capture *capture, const uint8_t *bytes, size_t n,
                                   size_t *written, ttr_error *error);

/* Removes the last bytes of the file, after a failed append. */
void capture_truncate(struct capture *capture, uint64_t size);

TTR_MUST ttr_status capture_close(struct capture *capture, ttr_error *error);

#endif
