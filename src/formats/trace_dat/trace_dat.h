/* The trace.dat reader: its parts, what they share, and the functions that each of them offers.
 * trace_dat_format.h draws the bytes.
 *
 *   trace_dat_read.c      opening; the loop that merges the events of all CPUs by time
 *   trace_dat_head.c      version 6: one header, tables of CPUs
 *   trace_dat_sections.c  version 7: sections, found by options; salvage if the options are missing
 *   trace_dat_options.c   contents of options, common to both versions
 *   trace_dat_lanes.c     a lane: the pages of one CPU in one buffer, one after the other
 *   trace_dat_bytes.c     reading at any offset; decompression
 *
 * A trace has one or several buffers (trace-cmd calls the others instances).  The ring buffer pages
 * of a CPU in a buffer are contiguous in the file, so the events of different CPUs have to be
 * merged:
 *
 *   lane CPU 0  | page: time, events | page | page ...      one decoded event ahead  -+
 *   lane CPU 1  | page | page ...                                                     +- heap ->
 * batch lane CPU 2  | u32 chunks | u32 packed, u32 unpacked, zstd | ...                  -+
 *
 * Order of calls: trace_dat_open finds the version, reads the description of the tracepoints and
 * adds a lane per CPU (trace_dat_lane_add).  trace_dat_next emits the earliest event and advances
 * its lane by trace_dat_lane_next.  That returns false at the end of a page buffer, and the lane is
 * then stuck.  Reading more pages may overwrite events of the batch, so trace_dat_lane_continue
 * does it only while the batch is empty.
 *
 * Algorithm: k-way merge by a binary heap of lanes, O(log lanes) per event.  Memory: 256 KiB per
 * lane, at most 8 MiB for all.
 *
 * Invariants: every lane is in the heap, stuck, or at its end; events point into the buffer of
 * their lane until the batch is consumed.
 *
 * The whole file must be readable at any offset, so the input of a pipe or a compressed file is
 * first stored in a temporary file.  Left out: writing; times of a guest as those of its host. */
#ifndef TRACETTA_TRACE_DAT_H
#define TRACETTA_TRACE_DAT_H

#include "base/pair_map.h"
#include "base/spill.h"
#include "encodings/tracepoint/ring_buffer.h"
#include "encodings/tracepoint/tracing_data.h"
#include "formats/trace_dat/trace_dat_format.h"
#include "model/input.h"

extern const struct format format_trace_dat;

/* The ring buffer pages of one CPU in one buffer, and the next event in them. */
struct trace_dat_lane {
    uint64_t at, left; /* file offset and size of the bytes that were not read yet */
    uint32_t chunks;   /* compressed chunks that were not read yet */
    uint32_t cpu, page_bytes;
    ttr_id track;
    bool is_compressed, is_begun; /* is_begun: the count of chunks was read */
    uint8_t *buffer;              /* pages that are in memory, uncompressed */
    /* of `buffer`: allocated bytes, bytes in use, offset of the next page */
    size_t capacity, n, next;
    /* file offset of `buffer`, or of the chunk that it was decompressed from */
    uint64_t offset;
    struct ring_buffer_page page; /* the current page */
    /* the next event; if is_gap, the time and number of lost events */
    struct ring_buffer_event event;
    bool is_gap;   /* a gap before the current page is next */
    bool is_stuck; /* no event in memory: trace_dat_lane_continue must read on */
};

/* Contents of options, of both versions. */
struct trace_dat_options {
    int64_t add_ns; /* nanoseconds added to times */
    bool is_dated;  /* times with add_ns are Unix times */
    /* of TSC2NSEC: ns = ticks * multiplier >> shift; 0 = ticks are nanoseconds */
    uint32_t multiplier, shift;
    uint32_t cpus;    /* CPUCOUNT; 0 if the option is missing */
    bool has_clock;   /* TRACECLOCK is present */
    bool is_guest;    /* TIME_SHIFT is present: the trace of a virtual machine */
    bool has_buffers; /* version 7: a BUFFER option is present */
    char clock[32];
    /* version 7: file offsets of sections by their number; 0 = missing */
    uint64_t section[TRACE_DAT_BUFFER_TEXT + 1];
};

struct trace_dat_reader {
    struct input *in;
    ttr *t;
    ttr_error *error;
    struct spill spill;
    uint64_t size; /* file size in bytes */
    struct tracing_data data;
    struct trace_dat_options options;
    struct buffer bytes,
        /* `bytes`: a part of the file that is being parsed; `inflated`: a decompressed section */
        inflated;
    struct trace_dat_lane *lane;
    size_t lanes_n, lanes_capacity;
    uint64_t lanes_bytes; /* bytes of the file in all lanes */
    uint32_t *heap;       /* indices of lanes that have an event, a binary heap by its time */
    size_t heap_n;
    char compression[16]; /* "none", "zlib", "zstd" */
    uint64_t last;        /* ticks of the event emitted last */
    uint64_t kernel_lost; /* events lost according to the statistics of all buffers */
    uint64_t page_lost;   /* events lost according to pages; those are already emitted as gaps */
};

/* --- trace_dat_read.c --- */

ttr_status trace_dat_open(struct input *in, ttr_error *error);
ttr_status trace_dat_next(struct input *in, ttr_error *error);
void trace_dat_close(struct input *in);
bool trace_dat_describe(struct input *in, size_t i, struct event_class *about,
                        uint64_t *events); /* implements format_description.describe */

/* --- trace_dat_bytes.c --- */

/* Makes the whole file readable at any offset, and sets reader->size. */
TTR_MUST ttr_status trace_dat_make_seekable(struct trace_dat_reader *reader);

/* Copies up to n bytes at a file offset.  *got is less than n only at the end of the file. */
TTR_MUST ttr_status trace_dat_read_at(struct trace_dat_reader *reader, uint64_t offset, void *to,
                                      size_t n, size_t *got);

/* Loads up to n bytes at a file offset into reader->bytes; fewer at the end of the file. */
TTR_MUST ttr_status trace_dat_load_at(struct trace_dat_reader *reader, uint64_t offset, uint64_t n);

/* Decompresses to exactly `to_n` bytes and returns the number produced.  It is less if the input is
 * cut or damaged: zlib emits everything before the damage, zstd only complete blocks of up to 128
 * KiB. */
size_t trace_dat_inflate(const struct trace_dat_reader *reader, const void *from, size_t from_n,
                         void *to, size_t to_n);

/* --- trace_dat_head.c --- */

TTR_MUST ttr_status trace_dat_read_version_6(struct trace_dat_reader *reader);

/* --- trace_dat_sections.c --- */

TTR_MUST ttr_status trace_dat_read_version_7(struct trace_dat_reader *reader);

/* --- trace_dat_options.c --- */

/* Parses an option that both versions have; the cursor is at its data. */
TTR_MUST ttr_status trace_dat_parse_option(struct trace_dat_reader *reader, unsigned option,
                                           struct cursor c);

/* Sets the clock from the text of trace_clock: the name in brackets, or the complete text. */
void trace_dat_parse_clock(struct trace_dat_reader *reader, ttr_text text);

/* Reads characters up to a zero byte or the end of the cursor. */
ttr_text trace_dat_read_string(struct cursor *c);

/* --- trace_dat_lanes.c --- */

/* Adds a lane for the pages of a CPU in a buffer; "" is the main buffer.  Reads no page yet. */
TTR_MUST ttr_status trace_dat_lane_add(struct trace_dat_reader *reader,
                                       const struct trace_dat_lane *lane, ttr_text buffer);

/* Advances to the next event in memory.  Returns false, and sets is_stuck, if there is none. */
bool trace_dat_lane_next(struct trace_dat_reader *reader, struct trace_dat_lane *lane);

/* Continues a stuck lane: reads pages and reports damage.  Call it only while the batch is empty.
 * *has_event is false if the lane is at its end. */
TTR_MUST ttr_status trace_dat_lane_continue(struct trace_dat_reader *reader,
                                            struct trace_dat_lane *lane, bool *has_event);

#endif
