/* Lines written by several threads, each of which reads the trace by itself.
 *
 * A line takes longer to write than its event takes to be read, and an event that one processor has
 * read costs another one more than reading it anew: so nothing but text goes from thread to thread.
 * Each of the other threads has a context, a reader and a writer of its own, and so reads just what
 * the caller's thread reads; each batch is written by whoever comes to it first. Ownership: what is
 * made here is the writer's.  Thread rule: the caller's thread alone calls; `open` is called on
 * others. */
#ifndef TRACETTA_MODEL_PARALLEL_WRITER_H
#define TRACETTA_MODEL_PARALLEL_WRITER_H

#include "model/output.h"

/* How another thread reads the same. */
struct reader_reopener {
    ttr_reader *(*open)(void *ctx, ttr *t);
    void *ctx;
};

/* Starts `threads` others (1 or more) for an output of which nothing was written and whose format
 * has `pass`; false when memory or threads are out. */
bool parallel_writer_start(struct ttr_writer *out, unsigned threads,
                           const struct reader_reopener *again);

/* Writes a batch in its turn: by then maybe some before it are not handed over. */
TTR_MUST ttr_status parallel_writer_write(struct ttr_writer *out, const ttr_batch *batch,
                                          ttr_error *error);

/* Hands over all that was given; nothing to do where nothing is shared. */
TTR_MUST ttr_status parallel_writer_flush(struct ttr_writer *out, ttr_error *error);

/* Ends the threads and frees; nothing to do where nothing is shared. */
void parallel_writer_stop(struct ttr_writer *out);

#endif
