/* Copying of nettrace to nettrace: byte ranges of the input (chunks) are written unchanged if all
 * their events arrive. Blocks with events that a filter removed are rebuilt.
 *
 * Order of calls: nettrace_copy_init() at the file head; then in the order of the reader,
 * nettrace_copy_add_chunk() for each definition event and nettrace_copy_mark_event() for each
 * event; nettrace_copy_finish().
 *
 *   reader    chunk A | chunk B | events of A and B, by time | chunk C (link: after A and B)
 *   copy      hold A    hold B    set marks                    write A, write B, hold C
 *   marks     one bit per byte of the source; set if an event that arrived starts there
 *
 * The reader emits a chunk before its events, and events in order of time, not of the file. So a
 * chunk is held until the `link` of a later chunk shows that all its events were emitted. Chunks
 * are written in file order: stacks, metadata and threads stay before the events that refer to
 * them.
 *
 * Sequence numbers: if events are left out, the numbers of later events of the same capture thread
 * are reduced by their count. So a jump in the numbers of the copy means that the source has lost
 * events.
 *
 * Memory: the bytes between two sequence points, plus an eighth of that for the marks. */
#ifndef TRACETTA_NETTRACE_COPY_H
#define TRACETTA_NETTRACE_COPY_H

#include "formats/nettrace/nettrace.h"
#include "formats/nettrace/nettrace_bytes.h"

/* A chunk that was not written yet, because more of its events may arrive. */
struct nettrace_held {
    struct nettrace_chunk chunk;
    size_t at; /* offset of the chunk in nettrace_copy.bytes */
};

struct nettrace_copy {
    unsigned version;
    uint16_t source;
    /* bytes of waiting chunks; those before `bytes_first` were written */
    struct buffer bytes;
    size_t bytes_first;
    struct nettrace_held *held; /* waiting chunks, from index held_first on */
    size_t held_first, held_n, held_capacity;
    /* bit set with a bit per byte of the source, which is set if an event that starts at that byte
     * has arrived */
    uint64_t *marks;
    size_t mark_words, marks_capacity;
    uint64_t marks_from; /* offset in the source of the byte with the first bit */
    /* maps (capture thread, 0) to the number of its events that were removed so far */
    struct pair_map dropped;
    /* V1, V2: maps (offset of metadata in the source, 0) to their offset in the output */
    struct pair_map moved;
    uint64_t end_before, end_now; /* V1, V2: source and output offset of the end mark */
    bool has_trace, has_end;
};

/* --- Copy of chunks (nettrace_copy.c) --- */

/* Starts a copy. Called at the file head of `source`. */
void nettrace_copy_init(struct nettrace_copy *copy, const struct alloc *alloc,
                        const struct nettrace_reader *reader, uint16_t source);
void nettrace_copy_free(struct nettrace_copy *copy, const struct alloc *alloc);

/* Adds the next chunk, which the reader returns as a definition event. Writes earlier chunks if
 * all their events were returned. */
TTR_MUST ttr_status nettrace_copy_add_chunk(struct nettrace_copy *copy, struct ttr_writer *out,
                                            const ttr_event *event, ttr_error *error);

/* Marks an event as arrived, so that it is written with its chunk. Does nothing if it is in no
 * chunk. */
static inline void nettrace_copy_mark_event(struct nettrace_copy *copy, const ttr_event *event)
{
    uint64_t bit = event->offset - copy->marks_from;
    if (bit / 64 < copy->mark_words)
        copy->marks[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Writes all waiting chunks, and an end mark if the source has none. */
TTR_MUST ttr_status nettrace_copy_finish(struct nettrace_copy *copy, struct ttr_writer *out,
                                         ttr_error *error);

static inline bool nettrace_copy_has_event(const struct nettrace_copy *copy, uint64_t offset)
{
    uint64_t bit = offset - copy->marks_from;
    return bit / 64 < copy->mark_words && copy->marks[bit / 64] >> bit % 64 & 1;
}

/* --- Blocks with removed events (nettrace_rebuild.c) --- */

/* Writes a block with only the events that arrived. Returns false if memory runs out. */
TTR_MUST bool nettrace_rebuild_events(struct nettrace_copy *copy, struct ttr_writer *out,
                                      const struct nettrace_chunk *chunk, const uint8_t *bytes);

/* V1, V2: writes only the events that arrived, and replaces metadata numbers, which are offsets,
 * by the new ones. Returns false if memory runs out. */
TTR_MUST bool nettrace_rebuild_flat(struct nettrace_copy *copy, struct ttr_writer *out,
                                    const struct nettrace_chunk *chunk, const uint8_t *bytes);

/* V4, V5: writes those metadata of a block that contain at least a provider and an event id. `c`
 * is at the block's header. */
void nettrace_rebuild_metadata(struct nettrace_copy *copy, struct ttr_writer *out,
                               const struct nettrace_chunk *chunk, struct cursor *c);

/* Writes a sequence point or a block of ended threads. Reduces sequence numbers by the number of
 * removed events. */
void nettrace_rebuild_sequence_point(struct nettrace_copy *copy, struct ttr_writer *out,
                                     const struct nettrace_chunk *chunk, const uint8_t *bytes);

/* --- Damaged chunks (nettrace_repair.c) --- */

/* Writes the complete rows of a damaged chunk, which must not be a block of events. */
void nettrace_repair_chunk(struct nettrace_copy *copy, struct ttr_writer *out,
                           const struct nettrace_chunk *chunk, const uint8_t *bytes);

#endif
