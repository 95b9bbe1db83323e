/* Compression for COMPRESSED records. The records of a file together contain one zstd stream. Each
 * call flushes it, so that a reader can decompress a record if it has all earlier ones. Ownership:
 * the caller frees the stream. Thread rule: one thread at a time. */
#ifndef TRACETTA_ENCODINGS_PERF_DATA_PERF_ZSTD_H
#define TRACETTA_ENCODINGS_PERF_DATA_PERF_ZSTD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

/* bytes of uncompressed records that fit in one COMPRESSED record, even if they cannot be
 * compressed */
#define PERF_ZSTD_PIECE_MAX 61440u

struct perf_zstd;

/* Creates a stream. Returns NULL if out of memory. */
struct perf_zstd *perf_zstd_new(const struct alloc *alloc, int level);
void perf_zstd_free(struct perf_zstd *stream);

/* Compresses n <= PERF_ZSTD_PIECE_MAX bytes into `to`. Returns the compressed size; 0 if memory is
 * out or `room` is too small. */
size_t perf_zstd_compress(struct perf_zstd *stream, const void *bytes, size_t n, void *to,
                          size_t room);

#endif
