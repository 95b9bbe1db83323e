/* An unlinked temporary file in $TMPDIR, or in /tmp, for data that exceeds memory.
 *
 * Purpose: external sorting writes its sorted runs here, and readers that need random access copy a
 * pipe here.
 *
 * Order of calls: spill_init creates no file; the first spill_append does. Then spill_append and
 * spill_read in any order, spill_punch_hole for ranges that are not needed any more, spill_close.
 *
 *   file   | run 1 | (hole: forgotten) | run 3 | <- end, next append
 *
 * Method: open with O_TMPFILE, so the file never has a name and disappears with the process, also
 * on kill -9. On file systems without O_TMPFILE (NFS, overlayfs of old kernels) it is created with
 * mkostemp and unlinked at once. Reads and writes use pread and pwrite with explicit offsets, so
 * no file position needs restoring.
 *
 * Errors: all failures are TTR_E_IO, or TTR_E_LIMIT for the size limit, with `format` set to
 * "temporary". The command thus reports a problem of TMPDIR, not of an input file. A full disk is
 * reported by the append that meets it, with the size reached and the advice to set TMPDIR.
 *
 * Invariants: bytes in [0, end) were written; nothing is ever overwritten. Cost: one system call
 * per append and per read, so callers append large blocks.
 *
 * Left out: encryption; compression, which callers do before (base/packed_words.h); checksums:
 * callers that decode what they read report corruption with spill_fail_corrupted. */
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/status.h"

static const char *temporary_folder(void)
{
    const char *ctx = getenv("TMPDIR");
    return ctx && ctx[0] ? ctx : "/tmp";
}

/* Sets error->format to "temporary", so that the command does not blame an input for the
 * failure. */
static ttr_status mark_file_as_temporary(ttr_error *error)
{
    if (error)
        (void)snprintf(error->format, sizeof error->format, "temporary");
    return TTR_E_IO;
}

/* Sets the limit of a new file if the caller set none: a tenth of the free space remains for
 * others.
 */
static void limit_to_free_space(struct spill *spill)
{
    struct statvfs about;
    if (spill->size_max || fstatvfs(spill->file, &about) != 0)
        return;
    const uint64_t block = about.f_frsize, blocks = about.f_bavail;
    spill->size_max = block && blocks / 10 * 9 <= UINT64_MAX / block ? blocks / 10 * 9 * block : 0;
}

static ttr_status create_file(struct spill *spill, ttr_error *error)
{
    char path[4096];
    spill->file = open(temporary_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spill->file >= 0)
        return TTR_OK;
    /* This file system does not support O_TMPFILE: a named file is created and unlinked at once. */
    if (snprintf(path, sizeof path, "%s/tracetta-XXXXXX", temporary_folder()) >= (int)sizeof path) {
        (void)fail_sys(error, ENAMETOOLONG, NO_OFFSET,
                       "cannot create a temporary file: the path in TMPDIR is too long");
        return mark_file_as_temporary(error);
    }
    spill->file = mkostemp(path, O_CLOEXEC);
    if (spill->file < 0) {
        (void)fail_sys(error, errno, NO_OFFSET,
                       "cannot create a temporary file in %s; set TMPDIR to a writable folder",
                       temporary_folder());
        return mark_file_as_temporary(error);
    }
    (void)unlink(path);
    return TTR_OK;
}

ttr_status spill_append(struct spill *spill, const void *bytes, size_t n, ttr_error *error)
{
    const unsigned char *from = bytes;
    if (spill->file < 0) {
        ttr_status status = create_file(spill, error);
        if (status != TTR_OK)
            return status;
        limit_to_free_space(spill);
    }
    if (spill->size_max && (spill->end > spill->size_max || n > spill->size_max - spill->end)) {
        (void)fail(error, TTR_E_LIMIT, NO_OFFSET,
                   "the temporary file in %s would exceed its limit of %llu bytes; set TMPDIR to a "
                   "folder with more room, or raise ttr_options.max_temporary",
                   temporary_folder(), (unsigned long long)spill->size_max);
        (void)mark_file_as_temporary(error);
        if (error)
            (void)snprintf(error->option, sizeof error->option, "max_temporary");
        return TTR_E_LIMIT;
    }
    while (n > 0) {
        ssize_t done = pwrite(spill->file, from, n, (off_t)spill->end);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            (void)fail_sys(error, done < 0 ? errno : ENOSPC, NO_OFFSET,
                           "the temporary file in %s cannot grow past %llu bytes; set TMPDIR to a "
                           "folder with room",
                           temporary_folder(), (unsigned long long)spill->end);
            return mark_file_as_temporary(error);
        }
        from += done;
        n -= (size_t)done;
        spill->end += (uint64_t)done;
    }
    return TTR_OK;
}

ttr_status spill_fail_corrupted(ttr_error *error)
{
    (void)fail_sys(error, EIO, NO_OFFSET,
                   "the temporary file is corrupted: it contains other bytes than were written");
    return mark_file_as_temporary(error);
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
                           "cannot read the temporary file");
            return mark_file_as_temporary(error);
        }
        into += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return TTR_OK;
}

void spill_punch_hole(const struct spill *spill, uint64_t at, uint64_t n)
{
    /* If this fails, the space is freed when the file is closed. */
    (void)fallocate(spill->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)n);
}

void spill_close(struct spill *spill)
{
    if (spill->file >= 0)
        (void)close(spill->file);
    spill->file = -1;
}
