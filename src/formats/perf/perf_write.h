/* The parts of the perf.data writer.
 *
 *   perf_write.c    which of both ways an event goes; options, begin and end, losses
 *   perf_copy.c     records of a perf.data as they are, and its head again if records are missing
 *   perf_encode.c   all other events: samples of user_events that hold EventHeader, threads and
 *                   mappings
 *
 * The first event decides: where the head of a perf.data comes first, the output is a copy of that
 * file or pipe.  Else it is made: as a file where the head can be written anew in the end; for a
 * pipe where it cannot, whose records are held until the formats of all tracepoints are known,
 * since perf takes those only once. */
#ifndef TRACETTA_PERF_WRITE_H
#define TRACETTA_PERF_WRITE_H

#include "base/keymap.h"
#include "base/pairmap.h"
#include "encodings/event_header/event_header_write.h"
#include "encodings/perf_data/perf_data_write.h"
#include "encodings/tracepoint/tracing_data_write.h"
#include "formats/perf/perf.h"
#include "model/output.h"

enum perf_loss {
    PERF_LOSS_CATEGORY = EVENT_HEADER_LOSSES,
    PERF_LOSS_NUMBER,
    PERF_LOSS_TIME,
    PERF_LOSS_MARK,
    PERF_LOSS_THREAD,
    PERF_LOSS_NAME,
    PERF_LOSS_CONTENT,
    PERF_LOSS_STACK,
    PERF_LOSS_MAPPING,
    PERF_LOSS_GAP,
    PERF_LOSS_TRACEPOINTS,
    PERF_LOSS_FOREIGN,
    PERF_LOSSES
};
extern const ttr_loss perf_losses[PERF_LOSSES];

/* A copy of a perf.data under way. */
struct perf_copy {
    uint16_t source;
    bool is_big, is_file, is_killed;
    bool is_open;                 /* not ended, but with what a reader needs before the records
                                     (encodings/perf_data/perf_data_write.h) */
    struct buffer head, tail;     /* as they came */
    uint64_t data_at, data_bytes; /* as the head says */
    uint64_t written;             /* bytes of records */
};

struct perf_writer {
    bool is_copying, is_encoding, is_out_of_memory;
    bool is_big;
    int zstd_level;
    struct perf_copy copy;
    struct perf_put put;
    struct tracing_put tracing;
    struct tracing_machine machine;
    struct event_header_put header;
    struct keymap kinds;       /* hash of what tells kinds apart, to index */
    struct keymap names;       /* hash of a tracepoint's name and what its samples have, to index */
    struct keymap tracepoints; /* hash of a tracepoint's name, to its number */
    uint32_t tracepoints_n;
    uint64_t *kind; /* by index: sample_type, tracepoint << 32 */
    size_t kinds_n, kinds_capacity;
    struct pairmap
        told; /* (thread, 0) to the string that it was told to be called, (process, 1) the same */
    struct buffer event; /* of EventHeader */
    uint64_t *chain;
    size_t chain_capacity;
    int64_t base; /* the time that is stored as 0 */
    uint64_t newest, round_bytes;
    bool is_disordered;
};

/* --- perf_copy.c --- */

/* True where the event begins a copy. */
bool perf_copy_begins(struct ttr_writer *out, const ttr_event *event);
ttr_status perf_copy_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error);
ttr_status perf_copy_end(struct ttr_writer *out, ttr_error *error);

/* --- perf_encode.c --- */

TTR_MUST ttr_status perf_encode_begin(struct ttr_writer *out, const ttr_event *first,
                                      ttr_error *error);
void perf_encode(struct ttr_writer *out, const ttr_event *event);
ttr_status perf_encode_end(struct ttr_writer *out, ttr_error *error);

/* --- perf_write.c --- */

ttr_status perf_write_create(struct ttr_writer *out, ttr_error *error);
ttr_status perf_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status perf_write_finish(struct ttr_writer *out, ttr_error *error);
void perf_write_drop(struct ttr_writer *out);

#endif
