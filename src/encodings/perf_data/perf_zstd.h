/* The zstd stream of COMPRESSED records: pieces are packed one by one, each whole for itself when
 * read in order. Ownership: a stream is freed by who made it.  Thread rule: one thread at a time.
 */
#ifndef TRACETTA_ENCODINGS_PERF_DATA_PERF_ZSTD_H
#define TRACETTA_ENCODINGS_PERF_DATA_PERF_ZSTD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

#define PERF_ZSTD_PIECE \
    61440u /* most bytes of a piece: packed, in the worst case, it still has room in a record */

struct perf_zstd;

/* NULL when memory is out. */
struct perf_zstd *perf_zstd_new(const struct alloc *alloc, int level);
void perf_zstd_free(struct perf_zstd *stream);

/* Packs n <= PERF_ZSTD_PIECE bytes into `to`: how many these are, 0 when that failed (memory is
 * out, or there was no room). */
size_t perf_zstd_pack(struct perf_zstd *stream, const void *bytes, size_t n, void *to, size_t room);

#endif
