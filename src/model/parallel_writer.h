/* Parallel writer: lines formatted by several threads, each of which reads the trace itself.
 *
 * Formatting a line costs more than decoding its event, and an event decoded on one processor is
 * more expensive to read on another than to decode again. So only text is passed between threads.
 * Each helper thread has a context, a reader and a writer of its own and reads the same batches as
 * the caller; a batch is formatted by the first thread that reaches it.
 *
 * Ownership: all objects belong to the writer. Thread rule: call from the caller's thread only;
 * `open` is called on the helper threads. */
#ifndef TRACETTA_MODEL_PARALLEL_WRITER_H
#define TRACETTA_MODEL_PARALLEL_WRITER_H

#include "model/output.h"

/* Callback that opens the same trace again, for a helper thread with context `t`. */
struct reader_reopener {
    ttr_reader *(*open)(void *ctx, ttr *t);
    void *ctx;
};

/* Starts `threads` >= 1 helper threads. Call before anything is written; the format must have
 * `pass`. Returns false if memory or threads run out. */
bool parallel_writer_start(struct ttr_writer *out, unsigned threads,
                           const struct reader_reopener *again);

/* Writes a batch: formats it unless a helper thread does, then writes all texts that are ready to
 * the sink, in order. The text of this batch may be written by a later call. */
TTR_MUST ttr_status parallel_writer_write(struct ttr_writer *out, const ttr_batch *batch,
                                          ttr_error *error);

/* Waits for all batches and writes their texts. Does nothing without helper threads. */
TTR_MUST ttr_status parallel_writer_flush(struct ttr_writer *out, ttr_error *error);

/* Stops the helper threads and frees their objects. Does nothing without helper threads. */
void parallel_writer_stop(struct ttr_writer *out);

#endif
