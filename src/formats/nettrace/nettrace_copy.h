/* Copying nettrace to nettrace: pieces whose events all arrive are written as they are; blocks that
 * lost some are made anew of what is left.
 *
 * Pieces come before their events (nettrace_pieces.c), events in order of time, each known by its
 * offset: it sets a bit.  A piece is kept until all its events were given, then written: in the
 * order of the file, so that stacks, metadata and threads stand where events find them. Where
 * events are left out, those behind them are counted anew: a hole that is left is one that was
 * there. Memory: the bytes between two sequence points. */
#ifndef TRACETTA_NETTRACE_COPY_H
#define TRACETTA_NETTRACE_COPY_H

#include "formats/nettrace/nettrace.h"
#include "formats/nettrace/nettrace_put.h"

/* A piece that waits for its events. */
struct nettrace_held {
    struct nettrace_piece piece;
    size_t at; /* in `bytes` */
};

struct nettrace_copy {
    unsigned version;
    uint16_t source;
    struct buffer bytes; /* of the pieces held, and before `bytes_begin` of those gone */
    size_t bytes_begin;
    struct nettrace_held *held; /* from held_begin on */
    size_t held_begin, held_n, held_capacity;
    uint64_t *kept; /* a bit a byte of the source: an event that arrived begins there */
    size_t kept_words, kept_capacity;
    uint64_t kept_from;           /* where the first bit stands */
    struct pairmap dropped;       /* (capture thread, 0) to how many of its events were left out */
    struct pairmap moved;         /* V1, V2: (offset of metadata, 0) to where they stand now */
    uint64_t end_before, end_now; /* V1, V2: of the end mark */
    bool has_trace, has_end;
};

/* --- nettrace_copy.c --- */

/* Begins with the head of a trace, which tells the reader. */
void nettrace_copy_begin(struct nettrace_copy *copy, const struct alloc *alloc,
                         const struct nettrace_reader *reader, uint16_t source);
void nettrace_copy_free(struct nettrace_copy *copy, const struct alloc *alloc);

/* Takes a piece. */
TTR_MUST ttr_status nettrace_copy_piece(struct nettrace_copy *copy, struct ttr_writer *out,
                                        const ttr_event *event, ttr_error *error);

/* An event of the trace arrives. */
static inline void nettrace_copy_event(struct nettrace_copy *copy, const ttr_event *event)
{
    uint64_t bit = event->offset - copy->kept_from;
    if (bit / 64 < copy->kept_words)
        copy->kept[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Writes what is left. */
TTR_MUST ttr_status nettrace_copy_finish(struct nettrace_copy *copy, struct ttr_writer *out,
                                         ttr_error *error);

static inline bool nettrace_copy_keeps(const struct nettrace_copy *copy, uint64_t offset)
{
    uint64_t bit = offset - copy->kept_from;
    return bit / 64 < copy->kept_words && copy->kept[bit / 64] >> bit % 64 & 1;
}

/* --- nettrace_rebuild.c --- */

/* Writes a block of events with those that arrived; false when memory is out. */
TTR_MUST bool nettrace_rebuild_events(struct nettrace_copy *copy, struct ttr_writer *out,
                                      const struct nettrace_piece *piece, const uint8_t *bytes);

/* V1, V2: the same, of events without a block. */
TTR_MUST bool nettrace_rebuild_flat(struct nettrace_copy *copy, struct ttr_writer *out,
                                    const struct nettrace_piece *piece, const uint8_t *bytes);

/* V4, V5: writes those metadata of a block that tell at least what they are of; `c` stands at the
 * block's head. */
void nettrace_rebuild_metadata(struct nettrace_copy *copy, struct ttr_writer *out,
                               struct cursor *c);

/* Writes a sequence point, or threads that are gone, with what is counted now. */
void nettrace_rebuild_point(struct nettrace_copy *copy, struct ttr_writer *out,
                            const struct nettrace_piece *piece, const uint8_t *bytes);

/* --- nettrace_repair.c --- */

/* Writes what is whole of a piece that is not, other than events. */
void nettrace_repair(struct nettrace_copy *copy, struct ttr_writer *out,
                     const struct nettrace_piece *piece, const uint8_t *bytes);

#endif
