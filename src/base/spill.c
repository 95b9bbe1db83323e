/* Unlinked temporary files in $TMPDIR, or /tmp.  Sorting and formats that cannot be read from a
 * pipe use them. Left out: encryption, and compression: who has much to write packs it before
 * (words.h). */
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/status.h"

static const char *folder(void)
{
    const char *own = getenv("TMPDIR");
    return own && own[0] ? own : "/tmp";
}

/* So that whoever tells the user knows that no input is at fault. */
static ttr_status blame_file(ttr_error *error)
{
    if (error)
        (void)snprintf(error->format, sizeof error->format, "temporary");
    return TTR_E_IO;
}

static ttr_status open_file(struct spill *spill, ttr_error *error)
{
    char path[4096];
    spill->file = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spill->file >= 0)
        return TTR_OK;
    /* Not every file system has files without names. */
    if (snprintf(path, sizeof path, "%s/tracetta-XXXXXX", folder()) >= (int)sizeof path) {
        (void)fail_sys(error, ENAMETOOLONG, NO_OFFSET, "no temporary file in TMPDIR");
        return blame_file(error);
    }
    spill->file = mkostemp(path, O_CLOEXEC);
    if (spill->file < 0) {
        (void)fail_sys(error, errno, NO_OFFSET,
                       "no temporary file in %s; set TMPDIR to a folder that can be written",
                       folder());
        return blame_file(error);
    }
    (void)unlink(path);
    return TTR_OK;
}

ttr_status spill_append(struct spill *spill, const void *bytes, size_t n, ttr_error *error)
{
    const unsigned char *from = bytes;
    if (spill->file < 0) {
        ttr_status status = open_file(spill, error);
        if (status != TTR_OK)
            return status;
    }
    while (n > 0) {
        ssize_t done = pwrite(spill->file, from, n, (off_t)spill->end);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            (void)fail_sys(error, done < 0 ? errno : ENOSPC, NO_OFFSET,
                           "the temporary file in %s cannot grow past %llu bytes; set TMPDIR to a "
                           "folder with room",
                           folder(), (unsigned long long)spill->end);
            return blame_file(error);
        }
        from += done;
        n -= (size_t)done;
        spill->end += (uint64_t)done;
    }
    return TTR_OK;
}

ttr_status spill_damaged(ttr_error *error)
{
    (void)fail_sys(error, EIO, NO_OFFSET,
                   "the temporary file does not hold what was written to it");
    return blame_file(error);
}

ttr_status spill_read(const struct spill *spill, uint64_t at, void *to, size_t n, ttr_error *error)
{
    unsigned char *into = to;
    while (n > 0) {
        ssize_t done = pread(spill->file, into, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            (void)fail_sys(error, done < 0 ? errno : EIO, NO_OFFSET,
                           "the temporary file cannot be read back");
            return blame_file(error);
        }
        into += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return TTR_OK;
}

void spill_forget(const struct spill *spill, uint64_t at, uint64_t n)
{
    /* A help only: where it fails the space comes back at the close. */
    (void)fallocate(spill->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)n);
}

void spill_close(struct spill *spill)
{
    if (spill->file >= 0)
        (void)close(spill->file);
    spill->file = -1;
}
