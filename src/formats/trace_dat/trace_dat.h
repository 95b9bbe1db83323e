/* The parts of the reader of trace.dat: what they share, and what each of them offers.
 *
 *   trace_dat_read.c     opening, and events of all CPUs by time
 *   trace_dat_head.c     version 6: one head
 *   trace_dat_sections.c version 7: sections
 *   trace_dat_options.c  what options say, of both
 *   trace_dat_lanes.c    pages of one CPU, one behind another
 *   trace_dat_bytes.c    bytes of anywhere in the file, also where it came through a pipe;
 * decompression
 *
 * The file is read all over the place.  What is no plain file (a pipe, a compressed file) is kept
 * in a temporary file while it is read. */
#ifndef TRACETTA_TRACE_DAT_H
#define TRACETTA_TRACE_DAT_H

#include "base/pairmap.h"
#include "base/spill.h"
#include "encodings/tracepoint/ring_buffer.h"
#include "encodings/tracepoint/tracing_data.h"
#include "formats/trace_dat/trace_dat_format.h"
#include "model/input.h"

extern const struct format format_trace_dat;

/* One CPU's pages of one buffer. */
struct trace_dat_lane {
    uint64_t at, left; /* bytes of the file that were not read yet */
    uint32_t chunks;   /* compressed ones that were not read yet */
    uint32_t cpu, page_bytes;
    ttr_id track;
    bool is_compressed, is_begun; /* is_begun: the count of chunks was read */
    uint8_t *buffer;              /* pages */
    size_t capacity, n, next;     /* of the buffer: room, bytes in it, where the next page begins */
    uint64_t offset;              /* in the file, of the buffer or of the chunk it came from */
    struct ring_buffer_page page; /* under way */
    struct ring_buffer_event event; /* the next one, or where the gap is */
    bool is_gap;                    /* the gap before the page comes next */
    bool is_stuck;                  /* it goes on with trace_dat_lane_go */
};

/* Options of both versions. */
struct trace_dat_said {
    int64_t add_ns;             /* to times */
    bool is_dated;              /* that makes them Unix times */
    uint32_t multiplier, shift; /* of TSC2NSEC; 0 = ticks are nanoseconds */
    uint32_t cpus;              /* CPUCOUNT; 0 = was not there */
    bool has_clock;             /* TRACECLOCK was there */
    bool is_guest;              /* TIME_SHIFT was there */
    bool has_buffers;           /* 7: a buffer was named */
    char clock[32];
    uint64_t section[TRACE_DAT_BUFFER_TEXT + 1]; /* 7: offsets, 0 = none */
};

struct trace_dat_reader {
    struct input *in;
    ttr *t;
    ttr_error *error;
    struct spill spill;
    uint64_t size; /* bytes of the file */
    struct tracing_data data;
    struct trace_dat_said said;
    struct buffer bytes,
        inflated; /* what is looked at: a part of the file, a section without compression */
    struct trace_dat_lane *lane;
    size_t lanes_n, lanes_capacity;
    uint64_t lanes_bytes; /* of the file, in all of them */
    uint32_t *heap;       /* lanes that have an event, by its time */
    size_t heap_n;
    char compression[16]; /* "none", "zlib", "zstd" */
    uint64_t last;        /* ticks of the event given last */
    uint64_t kernel_lost; /* events that the statistics of all buffers say were lost */
    uint64_t told_lost;   /* events that pages said were lost before them */
};

/* --- trace_dat_read.c --- */

ttr_status trace_dat_open(struct input *in, ttr_error *error);
ttr_status trace_dat_next(struct input *in, ttr_error *error);
void trace_dat_close(struct input *in);
bool trace_dat_describe(struct input *in, size_t i, struct event_class *about,
                        uint64_t *events); /* format_description.describe */

/* --- trace_dat_bytes.c --- */

/* Makes all of the file readable at once, and learns its size. */
TTR_MUST ttr_status trace_dat_hold(struct trace_dat_reader *reader);

/* Copies up to n bytes from a place; `*got` < n only at the end of the file. */
TTR_MUST ttr_status trace_dat_copy(struct trace_dat_reader *reader, uint64_t offset, void *to,
                                   size_t n, size_t *got);

/* Puts up to n bytes from a place into reader->bytes, fewer at the end of the file. */
TTR_MUST ttr_status trace_dat_load(struct trace_dat_reader *reader, uint64_t offset, uint64_t n);

/* Decompresses into `to`, which has room for exactly as many bytes as come out, and gives how many
 * did: fewer where what is compressed is cut or damaged (zlib gives what stands before, zstd whole
 * blocks of up to 128 KiB). */
size_t trace_dat_inflate(const struct trace_dat_reader *reader, const void *from, size_t from_n,
                         void *to, size_t to_n);

/* --- trace_dat_head.c --- */

TTR_MUST ttr_status trace_dat_head6(struct trace_dat_reader *reader);

/* --- trace_dat_sections.c --- */

TTR_MUST ttr_status trace_dat_head7(struct trace_dat_reader *reader);

/* --- trace_dat_options.c --- */

/* What is the same in both versions; the cursor is over the option's data. */
TTR_MUST ttr_status trace_dat_option(struct trace_dat_reader *reader, unsigned option,
                                     struct cursor c);

/* The clock of the text of trace_clock: the one in brackets, or all of it. */
void trace_dat_clock(struct trace_dat_reader *reader, ttr_text text);

/* Characters up to a zero or the end. */
ttr_text trace_dat_string(struct cursor *c);

/* --- trace_dat_lanes.c --- */

/* Adds a CPU's pages of a buffer ("" = the main one), which are looked at later. */
TTR_MUST ttr_status trace_dat_lane_add(struct trace_dat_reader *reader,
                                       const struct trace_dat_lane *lane, ttr_text buffer);

/* Steps to the next event; false when there is none at hand: is_stuck. */
bool trace_dat_lane_next(struct trace_dat_reader *reader, struct trace_dat_lane *lane);

/* Goes on where a lane was stuck, while nothing is in the batch: reads pages, tells of damage.
 * `*has_event` false: it is over. */
TTR_MUST ttr_status trace_dat_lane_go(struct trace_dat_reader *reader, struct trace_dat_lane *lane,
                                      bool *has_event);

#endif
