/* A format's reader as its folder sees it: a window over the bytes, a batch to fill, notes to
 * leave.
 *
 * The pattern of `next`: decode records from the window while whole ones are there; when fewer
 * bytes are left than the record needs, end the batch if it has events, else input_fill.  Payload
 * pointers must lie in the window (or live as long as the reader), and input_fill is only called
 * while the batch is empty. */
#ifndef TRACETTA_MODEL_INPUT_H
#define TRACETTA_MODEL_INPUT_H

#include "base/buffer.h"
#include "io/source.h"
#include "model/context.h"
#include "model/format.h"
#include "model/diagnostics.h"
#include "model/reader.h"
#include "model/pending_names.h"

#define INPUT_BATCH_SIZE 256u /* events of a batch */
#define INPUT_RECORD_MIN \
    65536u /* bytes: what a limit of records cannot go below, since usual ones have as many */
#define INPUT_BATCH_MIN 16u /* the same where many inputs are read at once */

struct input {
    struct ttr_reader base;
    const struct format *format;
    void *ctx; /* the format's state, format->reader->state_size bytes */
    struct source *source;
    struct window window; /* what input_fill gave */
    struct diagnostics notes;
    uint64_t size; /* bytes of the input, where the format found them out; 0 = it is for the source
                      to say */
    ttr_event *events; /* room for `batch` of them; NULL before the first `next` */
    uint32_t batch;    /* most events of a batch; does not change once reading has begun */
    uint32_t n;        /* in the batch so far */
    int64_t until; /* formats that stop: no event at this time or later is wanted, before the user's
                      offset; else INT64_MAX */
    bool is_stopped; /* the next event is at `stopped_at`, which is not before that */
    int64_t stopped_at;
    ttr_event *lent; /* room for events that a caller lent; NULL: it is the input's own */
    struct pending_names
        *renames;   /* where names told between events wait; NULL: they hold at once */
    uint16_t id;    /* ttr_event.source */
    uint32_t flags; /* TTR_READ_* */
    uint64_t max_record;
    int64_t time_offset;
    uint64_t events_total, lost, lost_packets, gaps;
    uint64_t packets;    /* read so far; the format counts them */
    uint64_t duplicates; /* packets that were left out; the format counts them */
    bool shares_file;    /* an input before it reads the same file, whose bytes count there */
    bool has_times;
    int64_t first, last; /* of an ordered input: times of the first and last event given */
    uint64_t position;   /* of the last event given, UINT64_MAX behind the last: for progress */
    ttr_status pending;  /* failure met behind the events of the batch just given */
    ttr_error *pending_error; /* what it was; NULL: nothing but its status is known */
    const char *version;      /* for the report; static, or NULL */
    ttr_clock *clocks;        /* for the report; the format fills them with input_add_clock */
    size_t clocks_n, clocks_capacity;
    struct buffer description; /* of ttr_reader_metadata */
    char **format_options;     /* copies, NULL at the end */
    size_t format_options_n;
};

/* Makes the window begin at `offset` with at least `need` bytes where the input has them.  Only
 * while in->n == 0.  A compressed stream that is broken is damage, and the input ends where it
 * breaks. */
TTR_MUST ttr_status input_fill(struct input *in, uint64_t offset, size_t need, ttr_error *error);

/* Notes that damage, of which the source told; for who reads the source before the format does. */
TTR_MUST ttr_status input_add_stream_damage(struct input *in, const ttr_error *broken,
                                            ttr_error *error);

/* Zeroes an event by whole vectors: compilers make a string instruction of a plain assignment,
 * which costs as much as decoding. */
static inline void input_clear_event(ttr_event *event)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    _Static_assert(sizeof(ttr_event) == 8 * sizeof(lanes), "an event is eight vectors");
    lanes *part = (lanes *)event;
    const lanes zero = {0, 0};
    part[0] = zero, part[1] = zero, part[2] = zero, part[3] = zero;
    part[4] = zero, part[5] = zero, part[6] = zero, part[7] = zero;
}

/* The next event of the batch, zeroed but for `source`; the caller checks in->n < in->batch before.
 */
static inline ttr_event *input_add_event(struct input *in)
{
    ttr_event *event = &in->events[in->n++];
    input_clear_event(event);
    event->source = in->id;
    return event;
}

/* Adds a clock and gives its index; SIZE_MAX when memory is out. */
TTR_MUST size_t input_add_clock(struct input *in, const ttr_clock *clock);

/* The value of a format option ("layout"), or NULL. */
const char *input_option(const struct input *in, const char *key);

/* Damage: `bytes` from `offset` are not decoded.  TTR_OK to go on (adjacent ranges of one code grow
 * together), or the strict mode's error. */
TTR_MUST ttr_status input_add_damage(struct input *in, uint64_t offset, uint64_t bytes,
                                     const char *code, ttr_error *error, const char *format, ...)
    TTR_PRINTF(6, 7);

/* A remark or an oddity; cheap when the code was noted before. */
void input_add_diagnostic(struct input *in, ttr_severity severity, uint64_t offset,
                          const char *code, const char *format, ...) TTR_PRINTF(5, 6);

/* Names a thread or a process from an event on, whose time is before the user's offset.  What comes
 * before that must be given: the batch is empty, but for the event itself.  False when memory is
 * out. */
TTR_MUST bool input_add_name_change(struct input *in, const struct rename *what, int64_t time);

/* Frees what is at hand of an input that has ended: its events, and its bytes. */
void input_free_buffers(struct input *in);

/* Makes an input over a source (taken over, also on failure) for a format. */
TTR_MUST struct input *input_new(ttr *t, struct source *source, const struct format *format,
                                 const char *path, const ttr_read_options *options,
                                 ttr_error *error);

#endif
