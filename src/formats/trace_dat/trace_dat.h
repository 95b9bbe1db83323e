/* The trace.dat reader: shared types, and the functions that its files offer to each other.
 * trace_dat_format.h has the byte layout.
 *
 *   trace_dat_read.c         opening; the loop that merges the events of all CPUs by time
 *   trace_dat_head.c         version 6: one header, tables of CPUs
 *   trace_dat_sections.c     version 7: sections, found by options, or in file order if the
 *                            options are missing
 *   trace_dat_options.c      contents of options, common to both versions
 *   trace_dat_cpu_buffers.c  CPU buffers: reads pages, returns their events one by one
 *   trace_dat_chunks.c       CPU buffers: compressed chunks of pages
 *   trace_dat_relocate.c     parts that are not at their declared offsets, since bytes are missing
 *   trace_dat_bytes.c        reading at any offset; decompression
 *
 * A trace has one or several ring buffers (trace-cmd calls all except the main one instances). A
 * ring buffer has one CPU buffer per CPU: pages that are contiguous in the file. So the events of
 * all CPU buffers have to be merged:
 *
 *   CPU buffer 0  | page: time, events | page | page ...           one decoded event --.
 *   CPU buffer 1  | page | page ...                                one decoded event --+- heap
 *   CPU buffer 2  | u32 chunks | u32 packed, u32 unpacked, zstd |  one decoded event --'
 *
 * Order of calls: trace_dat_open() finds the version, reads the description of the tracepoints and
 * adds the CPU buffers (trace_dat_add_cpu_buffer()). trace_dat_read_batch() emits the earliest
 * event, and advances its CPU buffer by trace_dat_advance_to_next_event(). If that returns false,
 * the pages in memory have no more events, and the CPU buffer needs a refill. Reading pages may
 * overwrite events of the batch, so trace_dat_refill_cpu_buffer() is called only while the batch is
 * empty.
 *
 * Algorithm: k-way merge by a binary heap, O(log n) per event for n CPU buffers. Memory: 256 KiB
 * per CPU buffer, at most 8 MiB in all.
 *
 * Invariants: each CPU buffer is in the heap, needs a refill, or is at its end. Events point into
 * the memory of their CPU buffer until the batch is consumed.
 *
 * The complete file must be readable at any offset, so the input of a pipe or a compressed file is
 * first stored in a temporary file. Left out: writing; conversion of a guest's times to those of
 * the host. */
#ifndef TRACETTA_TRACE_DAT_H
#define TRACETTA_TRACE_DAT_H

#include "base/pair_map.h"
#include "base/spill.h"
#include "encodings/tracepoint/ring_buffer.h"
#include "encodings/tracepoint/tracing_data.h"
#include "formats/trace_dat/trace_dat_format.h"
#include "model/input.h"

extern const struct format format_trace_dat;

/* The pages of one CPU in one ring buffer ("CPU buffer"), and the next event in them. */
struct trace_dat_cpu_buffer {
    uint64_t at, left; /* file offset, and number, of the bytes that are not read yet */
    uint64_t declared; /* file offset of its first byte, as declared */
    uint64_t missing;  /* number of declared bytes that are after the end of the file */
    /* sum of the bytes by which the pages were found before their declared offsets */
    uint64_t moved_back;
    uint32_t chunks; /* number of compressed chunks that are not read yet */
    uint32_t cpu, page_bytes;
    ttr_id track;
    /* has_chunk_count: true if the number of chunks was read */
    bool is_compressed, has_chunk_count;
    uint8_t *buffer; /* uncompressed pages that are in memory */
    /* capacity: allocated size of `buffer` in bytes; n: number of bytes in use; next: offset of
     * the next page */
    size_t capacity, n, next;
    /* file offset of the pages in `buffer`, or of the chunk from which they were decompressed */
    uint64_t offset;
    struct ring_buffer_page page; /* page from which events are being read */
    /* next event of this CPU buffer; if is_gap, only its time is valid */
    struct ring_buffer_event event;
    /* true if the next event is a gap that precedes the current page; `page.lost` is the number of
     * lost events */
    bool is_gap;
    bool needs_refill; /* true if no event is left in memory: call trace_dat_refill_cpu_buffer() */
};

/* Values of the options that versions 6 and 7 have in common. */
struct trace_dat_options {
    int64_t add_ns; /* number of nanoseconds that is added to each time */
    /* true if times are nanoseconds since 1970 after add_ns was added */
    bool has_unix_times;
    /* values of option TSC2NSEC: ns = ticks * multiplier >> shift; 0 if ticks already are
     * nanoseconds */
    uint32_t multiplier, shift;
    uint32_t cpus; /* value of option CPUCOUNT; 0 if the option is missing */
    /* number of entries in the CPU table of the main buffer, including unused ones */
    uint32_t table_cpus;
    /* length of the longest name of another buffer, in bytes; 0 if there is none */
    uint32_t instance_width;
    bool has_clock; /* true if the option TRACECLOCK is present */
    /* true if the option TIME_SHIFT is present, which shows that the trace is from a virtual
     * machine */
    bool is_guest;
    bool has_buffers; /* true if a BUFFER option is present (version 7) */
    char clock[32];
    /* file offset of each section of version 7, indexed by section number; 0 if missing */
    uint64_t section[TRACE_DAT_BUFFER_TEXT + 1];
};

struct trace_dat_reader {
    struct input *in;
    ttr *t;
    ttr_error *error;
    struct spill spill;
    uint64_t size; /* size of the file in bytes */
    struct tracing_data data;
    struct trace_dat_options options;
    /* bytes: part of the file that is being parsed; inflated: decompressed section */
    struct buffer bytes, inflated;
    struct trace_dat_cpu_buffer *cpu_buffer;
    size_t cpu_buffers_n, cpu_buffers_capacity;
    /* total size in the file of all CPU buffers, in bytes */
    uint64_t cpu_buffers_bytes;
    /* binary heap, ordered by event time, of the indices of CPU buffers that have an event in
     * memory */
    uint32_t *heap;
    size_t heap_n;
    char compression[16]; /* name of the compression: "none", "zlib" or "zstd" */
    uint64_t last;        /* time of the last emitted event, in ticks */
    /* number of lost events according to the statistics of all ring buffers */
    uint64_t kernel_lost;
    /* number of lost events that pages contain and that were emitted as gaps */
    uint64_t page_lost;
    unsigned failed_searches; /* number of searches for moved parts of the file without success */
};

/* Makes the printed column of buffer names at least as wide as this name of a buffer. The main
 * buffer has no name. */
static inline void trace_dat_widen_buffer_column(struct trace_dat_reader *reader, ttr_text name)
{
    if (name.n > reader->options.instance_width)
        reader->options.instance_width = name.n < UINT16_MAX ? (uint32_t)name.n : UINT16_MAX;
}

/* --- trace_dat_read.c: entry points of the reader --- */

ttr_status trace_dat_open(struct input *in, ttr_error *error);
ttr_status trace_dat_read_batch(struct input *in, ttr_error *error);
void trace_dat_close(struct input *in);
bool trace_dat_describe(struct input *in, size_t i, struct event_class *about,
                        uint64_t *events); /* implements format_description.describe */

/* --- trace_dat_bytes.c: reading at any offset --- */

/* Makes the file readable at any offset (by copying it if needed), and sets reader->size. */
TTR_MUST ttr_status trace_dat_make_seekable(struct trace_dat_reader *reader);

/* Copies up to `n` bytes at a file offset to `to`. *got is less than `n` only at the end of the
 * file. */
TTR_MUST ttr_status trace_dat_read_at(struct trace_dat_reader *reader, uint64_t offset, void *to,
                                      size_t n, size_t *got);

/* Loads up to `n` bytes at a file offset into reader->bytes; fewer only at the end of the file. */
TTR_MUST ttr_status trace_dat_load_at(struct trace_dat_reader *reader, uint64_t offset, uint64_t n);

/* Makes room for `n` bytes of pages. */
TTR_MUST ttr_status trace_dat_reserve_pages(struct trace_dat_reader *reader,
                                            struct trace_dat_cpu_buffer *cpu_buffer, size_t n);

/* Sizes of the buffer for data that declares `whole` bytes. trace_dat_get_first_buffer_size: as
 * much as usual data needs; trace_dat_get_next_buffer_size: more, after decompression has filled
 * `size` bytes. A file can declare any size, so memory grows with the data that is there. */
size_t trace_dat_get_first_buffer_size(size_t packed, size_t whole);
size_t trace_dat_get_next_buffer_size(size_t size, size_t whole);

/* Decompresses up to `to_n` bytes and returns their number. It is less than `to_n` if the input is
 * truncated or damaged: zlib emits all bytes before the damage, zstd only complete blocks of up to
 * 128 KiB. */
size_t trace_dat_decompress(const struct trace_dat_reader *reader, const void *from, size_t from_n,
                            void *to, size_t to_n);

/* --- trace_dat_head.c: version 6 --- */

TTR_MUST ttr_status trace_dat_read_version_6(struct trace_dat_reader *reader);

/* --- trace_dat_sections.c: version 7 --- */

TTR_MUST ttr_status trace_dat_read_version_7(struct trace_dat_reader *reader);

/* --- trace_dat_relocate.c: parts that are not at their declared offsets --- */

/* maximum number of bytes by which a part of the file may be moved */
#define TRACE_DAT_MOVED_MAX 4096

/* maximum of trace_dat_reader.failed_searches, after which nothing is searched */
#define TRACE_DAT_SEARCHES_MAX 1000u

/* Searches for a page near its declared file offset. Sets *found to the offset of the page; to
 * `declared` if a page is there, if the next page is at its declared offset, or if no page was
 * found. Overwrites reader->bytes. */
TTR_MUST ttr_status trace_dat_find_page(struct trace_dat_reader *reader, uint64_t declared,
                                        uint32_t page_bytes, uint64_t *found);

/* Searches for the header of a section of version 7 near its declared file offset. Sets *found to
 * its offset; to `declared` if it is there, or if none was found. Overwrites reader->bytes. */
TTR_MUST ttr_status trace_dat_find_section(struct trace_dat_reader *reader, uint64_t declared,
                                           unsigned id, uint64_t *found);

/* maximum of trace_dat_cpu_buffer.moved_back, so that no bytes are read as pages many times */
#define TRACE_DAT_MOVED_BACK_MAX 65536u

/* Moves a CPU buffer, which is at file offset `declared`, to `found`, and reports it. `unread` is
 * the number of its bytes from `declared` on. */
TTR_MUST ttr_status trace_dat_move_cpu_buffer(struct trace_dat_reader *reader,
                                              struct trace_dat_cpu_buffer *cpu_buffer,
                                              uint64_t declared, uint64_t unread, uint64_t found);

/* --- trace_dat_options.c: contents of options --- */

/* Parses an option that versions 6 and 7 have in common. The cursor is at the data of the
 * option. */
TTR_MUST ttr_status trace_dat_parse_option(struct trace_dat_reader *reader, unsigned option,
                                           struct cursor c);

/* Sets the clock from the content of the file trace_clock: the name in brackets, or the entire
 * text if it has no brackets. */
void trace_dat_parse_clock(struct trace_dat_reader *reader, ttr_text text);

/* Reads characters up to a zero byte or the end of the cursor, and returns them. */
ttr_text trace_dat_read_string(struct cursor *c);

/* --- trace_dat_cpu_buffers.c: pages and their events --- */

/* Adds a CPU's part of a ring buffer, of which the name is `buffer` ("" for the main one). Does
 * not read pages yet. */
TTR_MUST ttr_status trace_dat_add_cpu_buffer(struct trace_dat_reader *reader,
                                             const struct trace_dat_cpu_buffer *cpu_buffer,
                                             ttr_text buffer);

/* Advances to the next event in memory. If no event remains there, sets needs_refill and returns
 * false. */
bool trace_dat_advance_to_next_event(struct trace_dat_reader *reader,
                                     struct trace_dat_cpu_buffer *cpu_buffer);

/* Reads pages of a CPU buffer until it has an event, and reports damage. Sets *has_event to false
 * at the end of the CPU buffer. Call it only while the batch is empty. */
TTR_MUST ttr_status trace_dat_refill_cpu_buffer(struct trace_dat_reader *reader,
                                                struct trace_dat_cpu_buffer *cpu_buffer,
                                                bool *has_event);

/* --- trace_dat_chunks.c: compressed pages --- */

/* Reads and decompresses the next chunk of a CPU buffer. Reports damage. */
TTR_MUST ttr_status trace_dat_read_chunk(struct trace_dat_reader *reader,
                                         struct trace_dat_cpu_buffer *cpu_buffer);

/* --- trace_dat_diagnostics.c: table of diagnostic codes --- */
extern const ttr_diagnostic_info trace_dat_diagnostics[];

#endif
