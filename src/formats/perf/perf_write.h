/* The perf.data writer: its files and their shared types.
 *
 *   perf_write.c    options, choice of copy or encoding per output, losses
 *   perf_copy.c     copies records of a perf.data, and corrects its header if records are missing
 *   perf_encode.c   encodes all other events as samples of user_events
 *
 * The first event decides. If it is the header of a perf.data, the output is a copy of that trace.
 * Otherwise events are encoded: as a file if the header can be overwritten at the end, else in the
 * form for pipes. perf accepts the formats of tracepoints only once, before the first record, so
 * records of a pipe are held back until the end. */
#ifndef TRACETTA_PERF_WRITE_H
#define TRACETTA_PERF_WRITE_H

#include "base/key_map.h"
#include "base/pair_map.h"
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

/* State of the writer while it copies a perf.data. */
struct perf_copy {
    uint16_t source;
    bool is_big, is_file, is_killed;
    /* true if the recorder did not close the file, but wrote all that a reader needs before the
     * records (encodings/perf_data/perf_data_write.h) */
    bool is_open;
    /* head: bytes before the records, tail: bytes after them, both as read */
    struct buffer head, tail;
    /* offset and size of the records according to the header of the input */
    uint64_t data_at, data_bytes;
    uint64_t written; /* number of bytes of records that were written so far */
};

struct perf_writer {
    bool is_copying, is_encoding, is_out_of_memory;
    bool is_big;
    int zstd_level;
    struct perf_copy copy;
    struct perf_data_writer put;
    struct tracing_writer tracing;
    struct tracing_machine machine;
    struct event_header_writer header;
    /* maps a hash of (provider, level, keyword, sample_type) to an index in `kind` */
    struct key_map kinds;
    struct key_map
        names; /* maps the hash of (tracepoint name, sample_type) to an index in `kind` */
    struct key_map tracepoints; /* maps the hash of a tracepoint name to its number */
    uint32_t tracepoints_n;
    uint64_t *kind; /* for each event kind: sample_type | tracepoint number << 32 */
    size_t kinds_n, kinds_capacity;
    /* maps (thread, 0) or (process, 1) to the text id of the name last written */
    struct pair_map written_names;
    struct buffer event; /* EventHeader bytes of the current event */
    uint64_t *chain;
    size_t chain_capacity;
    int64_t base; /* time of the source, in ns, that is stored as 0 */
    uint64_t newest, round_bytes;
    bool is_disordered;
};

/* --- perf_copy.c: copy of a perf.data --- */

/* Returns true if the first event is the header of a perf.data, so that the trace is copied. Then
 * prepares the copy. */
bool perf_begin_copy_if_possible(struct ttr_writer *out, const ttr_event *event);
ttr_status perf_copy_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error);
ttr_status perf_copy_end(struct ttr_writer *out, ttr_error *error);

/* --- perf_encode.c: encoding of other events --- */

TTR_MUST ttr_status perf_encode_begin(struct ttr_writer *out, const ttr_event *first,
                                      ttr_error *error);
void perf_encode_event(struct ttr_writer *out, const ttr_event *event);
ttr_status perf_encode_end(struct ttr_writer *out, ttr_error *error);

/* --- perf_write.c: entry points of the writer --- */

ttr_status perf_write_create(struct ttr_writer *out, ttr_error *error);
ttr_status perf_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status perf_write_finish(struct ttr_writer *out, ttr_error *error);
void perf_write_drop(struct ttr_writer *out);

#endif
