/* The reader of trace_pipe_raw: ring buffer pages of one CPU as read from tracefs
 * (per_cpu/cpuN/trace_pipe_raw), one after the other. Pages do not describe their events.
 *
 *   trace_pipe_raw_read.c     options, pages and their events
 *   trace_pipe_raw_formats.c  the option `formats`: formats of events, read from another file */
#ifndef TRACETTA_TRACE_PIPE_RAW_H
#define TRACETTA_TRACE_PIPE_RAW_H

#include "encodings/tracepoint/ring_buffer.h"
#include "encodings/tracepoint/tracing_data.h"
#include "model/input.h"

/* default page size in bytes; the option page-size overrides it */
#define TRACE_PIPE_RAW_PAGE 4096u
#define TRACE_PIPE_RAW_PAGE_MAX (1u << 24)

struct trace_pipe_raw_reader {
    struct input *in;
    ttr *t;
    ttr_error *error;
    struct tracing_data data; /* tracepoints, byte order, and layout of pages */
    uint32_t page_bytes, cpu;
    /* is_in_page: true if `page` has events that are not emitted yet */
    bool has_cpu, is_in_page;
    ttr_id track;
    uint64_t at; /* file offset of the next page, in bytes */
    struct ring_buffer_page page;
};

extern const struct format format_trace_pipe_raw;

/* --- trace_pipe_raw_read.c: entry points of the reader --- */

ttr_status trace_pipe_raw_open(struct input *in, ttr_error *error);
ttr_status trace_pipe_raw_read_batch(struct input *in, ttr_error *error);
void trace_pipe_raw_close(struct input *in);
bool trace_pipe_raw_describe(struct input *in, size_t i, struct event_class *about,
                             uint64_t *events); /* implements format_description.describe */

/* --- trace_pipe_raw_formats.c: the option `formats` --- */

/* Reads the formats of events from the file or directory of the option `formats`. Uses the byte
 * order found there, and then creates `data.all`. */
TTR_MUST ttr_status trace_pipe_raw_read_formats(struct trace_pipe_raw_reader *reader,
                                                const char *path);

/* Creates `data.all`, which contains the tracepoints. Returns false if memory runs out. */
TTR_MUST bool trace_pipe_raw_create_tracepoints(struct trace_pipe_raw_reader *reader);

/* --- trace_pipe_raw_diagnostics.c: table of diagnostic codes --- */
extern const ttr_diagnostic_info trace_pipe_raw_diagnostics[];

#endif
