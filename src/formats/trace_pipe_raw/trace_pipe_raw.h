/* The parts of the reader of trace_pipe_raw: pages of a CPU's ring buffer as tracefs gives them
 * (per_cpu/cpuN/trace_pipe_raw), one behind another.
 *
 *   trace_pipe_raw_read.c     pages and their events
 *   trace_pipe_raw_formats.c  the formats of events, which pages alone do not have */
#ifndef TRACETTA_TRACE_PIPE_RAW_H
#define TRACETTA_TRACE_PIPE_RAW_H

#include "encodings/tracepoint/ring_buffer.h"
#include "encodings/tracepoint/tracing_data.h"
#include "model/input.h"

#define TRACE_PIPE_RAW_PAGE 4096u /* bytes of a page, unless told otherwise */
#define TRACE_PIPE_RAW_PAGE_MAX (1u << 24)

struct trace_pipe_raw_reader {
    struct input *in;
    ttr *t;
    ttr_error *error;
    struct tracing_data data; /* tracepoints, byte order, layout of pages */
    uint32_t page_bytes, cpu;
    bool has_cpu, is_walking; /* is_walking: a page is under way */
    ttr_id track;
    uint64_t at; /* of the next page */
    struct ring_buffer_page page;
};

extern const struct format format_trace_pipe_raw;

/* --- trace_pipe_raw_read.c --- */

ttr_status trace_pipe_raw_open(struct input *in, ttr_error *error);
ttr_status trace_pipe_raw_next(struct input *in, ttr_error *error);
void trace_pipe_raw_close(struct input *in);
bool trace_pipe_raw_describe(struct input *in, size_t i, struct event_class *about,
                             uint64_t *events); /* format_description.describe */

/* --- trace_pipe_raw_formats.c --- */

/* Takes what is said of events by a file or directory: see the option `formats`.  Before it `all`
 * is made, with the byte order found there. */
TTR_MUST ttr_status trace_pipe_raw_formats(struct trace_pipe_raw_reader *reader, const char *path);

/* Makes `all`; false when memory is out. */
TTR_MUST bool trace_pipe_raw_begin_formats(struct trace_pipe_raw_reader *reader);

#endif
