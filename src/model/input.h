/* Format reader: the interface between a format and the library: a window over the bytes, a batch
 * to fill, and diagnostics.
 *
 * Order of calls: input_new calls the format's `open`. For each batch the format's `next` runs:
 *
 *   while in->n < in->batch:
 *       if the window holds a complete record:  input_add_event(in), fill it
 *       else if in->n > 0:                      return TTR_OK      (end of the batch)
 *       else:                                   input_fill(in, offset, need, error)
 *
 *   file:    |.........[window.offset ............ + window.n)........|
 *   events:             payload -^          payload -^
 *
 * Damage is reported by input_add_damage; TTR_OK then means to continue after it. Other findings
 * use input_add_diagnostic. Names that change between events use input_add_name_change.
 *
 * Invariants: payload pointers of a batch are in the window, or in memory that lives as long as the
 * reader. Therefore input_fill moves the window only while the batch is empty (in->n == 0). A
 * failure after events is kept and returned by the next read. Nothing is read after TTR_END.
 *
 * Cost: the events of a batch are allocated at the first read and freed at the end, unless the
 * caller supplies a buffer (reader_set_buffer). Left out: order between inputs;
 * pipeline/order/merge.c does that. */
#ifndef TRACETTA_MODEL_INPUT_H
#define TRACETTA_MODEL_INPUT_H

#include "base/buffer.h"
#include "io/source.h"
#include "model/context.h"
#include "model/format.h"
#include "model/diagnostics.h"
#include "model/reader.h"
#include "model/pending_names.h"

#define INPUT_BATCH_SIZE 256u /* events per batch, unless many inputs are open */
/* bytes; lowest record size limit that a user may set, since ordinary records reach this size */
#define INPUT_RECORD_MIN 65536u
/* events; lower bound of the batch size, which is reduced if many inputs are open */
#define INPUT_BATCH_MIN 16u

struct input {
    struct ttr_reader base;
    const struct format *format;
    void *ctx; /* state of the format's reader, format->reader->state_size bytes */
    struct source *source;
    struct window window; /* bytes of the file in memory, set by input_fill */
    struct diagnostics notes;
    uint64_t size;     /* size of the input in bytes, if the format knows it; 0 = ask the source */
    ttr_event *events; /* buffer of `batch` events; NULL before the first `next` */
    uint32_t batch;    /* capacity of `events`; fixed after the first read */
    uint32_t n;        /* number of events in the batch so far */
    /* if reader->stops: time without the user's offset from which the caller needs no events; else
     * INT64_MAX */
    int64_t until;
    bool is_stopped; /* `next` stopped early: the next event is at `stopped_at` >= `until` */
    int64_t stopped_at;
    /* buffer for events supplied by the caller; NULL = the input allocates one */
    ttr_event *caller_events;
    struct pending_names
        *renames;   /* queue of a merging reader for name changes; NULL = names apply at once */
    uint16_t id;    /* ttr_event.source */
    uint32_t flags; /* TTR_READ_* */
    uint64_t max_record;
    int64_t time_offset;
    uint64_t events_total, lost, lost_packets, gaps;
    uint64_t packets;    /* packets read so far; counted by the format */
    uint64_t duplicates; /* duplicate packets skipped; counted by the format */
    bool shares_file;    /* another input reads the same file and reports its size */
    bool has_times;
    /* times of the first and last event read; valid if has_times, only for inputs in time order */
    int64_t first, last;
    /* file offset of the last event, UINT64_MAX at the end of the input; for progress reports */
    uint64_t position;
    /* status that the next read returns, because events preceded it in this batch */
    ttr_status pending;
    ttr_error *pending_error; /* error that belongs to `pending`; NULL = the status has no text */
    const char *version;      /* version of the format for the report; a static text, or NULL */
    ttr_clock *clocks;        /* clocks for the report, added by input_add_clock */
    size_t clocks_n, clocks_capacity;
    struct buffer description; /* result of ttr_reader_metadata */
    char **format_options;     /* copies of the format's options, terminated by NULL */
    size_t format_options_n;
};

/* Moves the window to file offset `offset`, with at least `need` bytes if the input has them. Call
 * only while in->n == 0. A corrupt compressed stream is reported as damage, and the input then ends
 * there. */
TTR_MUST ttr_status input_fill(struct input *in, uint64_t offset, size_t need, ttr_error *error);

/* Reports a corrupt compressed stream as damage. For formats that read the source before their
 * first input_fill. */
TTR_MUST ttr_status input_add_stream_damage(struct input *in, const ttr_error *broken,
                                            ttr_error *error);

/* Zeroes an event with vector stores. Compilers emit a string instruction for an assignment, which
 * costs as much as decoding the event. */
static inline void input_clear_event(ttr_event *event)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    _Static_assert(sizeof(ttr_event) == 8 * sizeof(lanes), "an event is eight vectors");
    lanes *part = (lanes *)event;
    const lanes zero = {0, 0};
    part[0] = zero, part[1] = zero, part[2] = zero, part[3] = zero;
    part[4] = zero, part[5] = zero, part[6] = zero, part[7] = zero;
}

/* Adds an event to the batch and returns it, zeroed except for `source`. The caller has checked
 * in->n < in->batch. */
static inline ttr_event *input_add_event(struct input *in)
{
    ttr_event *event = &in->events[in->n++];
    input_clear_event(event);
    event->source = in->id;
    return event;
}

/* Adds a clock to the report. Returns its index, or SIZE_MAX if memory runs out. */
TTR_MUST size_t input_add_clock(struct input *in, const ttr_clock *clock);

/* Records that a clock counts from the Unix epoch, if that becomes known after it was added. */
void input_set_clock_reference(struct input *in, size_t index);

/* Returns the value of a format option such as "layout", or NULL if it is not set. */
const char *input_get_option(const struct input *in, const char *key);

/* Reports damage: `bytes` bytes from file offset `offset` on cannot be decoded. Returns TTR_OK to
 * continue after them, or an error in strict mode. Adjacent ranges with the same code are merged.
 */
TTR_MUST ttr_status input_add_damage(struct input *in, uint64_t offset, uint64_t bytes,
                                     const char *code, ttr_error *error, const char *format, ...)
    TTR_PRINTF(6, 7);

/* Adds a diagnostic that is not damage. Only the first of each code is formatted; others are
 * counted, which is cheap. */
void input_add_diagnostic(struct input *in, ttr_severity severity, uint64_t offset,
                          const char *code, const char *format, ...) TTR_PRINTF(5, 6);

/* Changes the name of a thread or process from `time` on (without the user's offset). Call only
 * while the batch is empty or holds only the event that changes the name. Returns false if memory
 * runs out. */
TTR_MUST bool input_add_name_change(struct input *in, const struct rename *what, int64_t time);

/* Frees the events and the window of an input that has ended. Its report stays valid. */
void input_free_buffers(struct input *in);

/* Creates an input over a source and opens it with a format. Owns the source, even on failure. */
TTR_MUST struct input *input_new(ttr *t, struct source *source, const struct format *format,
                                 const char *path, const ttr_read_options *options,
                                 ttr_error *error);

#endif
